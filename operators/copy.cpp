// Copies and casts, within a device and between devices; and questions that the host answers, as item().
#include "operators/copy.h"

#include <complex>

#include "dispatcher/restricted.h"
#include "dispatcher/slots.h"
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

void infer_copy(const Tensor& self, const Tensor& src, bool, Output out) { same_with(out, self, "src", src); }

// Copies into a new tensor of the given dtype, device and memory format; slots carry their states to it. An opaque
// tensor has only its slots to copy, and changes dtype and format if its layer makes opaque tensors that are like it.
Tensor copied(const Tensor& x, std::optional<ScalarType> dtype, const std::optional<Device>& device,
              std::optional<MemoryFormat> memory_format, bool non_blocking = false) {
  core::Tensor* from = core::full(x.get());
  if (from->opaque() && dtype.value_or(x.dtype()) == x.dtype() && lies_in(x, memory_format)) {
    core::TensorRef to;
    check(dispatcher::copy_opaque(from, device.value_or(x.device()).get(), &to));
    return Tensor::steal(to.take());
  }
  const Tensor to = lamella::empty_like(x, TensorOptions().dtype(dtype).device(device), memory_format);
  LAMELLA_CHECK_NOT_IMPLEMENTED(!from->opaque() || core::full(to.get())->opaque(), argument("self"),
                                " is opaque: its copy cannot have another dtype or memory format");
  to.copy_(x, non_blocking);
  if (from->opaque()) return to;
  check(dispatcher::carry(from, core::full(to.get()),
                          to.device() == x.device() ? LAMELLA_CARRY_COPY : LAMELLA_CARRY_DEVICE));
  return to;
}

// Returns the tensor itself; raises if it is opaque. A layer that keeps the values of opaque tensors has a kernel of
// its own for this operator, so that this runs on an opaque tensor only if none of its layers has one.
Tensor materialize(lamella_frame* f, const Tensor& self, bool shared) {
  if (!core::full(self.get())->opaque()) return self;
  const core::Value args[] = {value(self), value(shared)};
  check(dispatcher::refuse_opaque(*f, args));
  return self;
}

void infer_clone(const Tensor& self, std::optional<MemoryFormat> memory_format, Output out) {
  out.set(self.sizes(), self.dtype());
  lay_out(out, "memory_format", memory_format, self);
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return copied(self, std::nullopt, std::nullopt, memory_format);
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  LAMELLA_CHECK(memory_format != MemoryFormat::Preserve, argument("memory_format"),
                ": preserve_format names no order of dimensions; pass another format");
  return lies_in(self, memory_format) ? self : self.clone(memory_format);
}

// copy_ of a number: of a zero-dim tensor of the widest dtype of its class, as in torch.
const Tensor& copy_number(const Tensor& self, const Scalar& src, bool /*non_blocking*/) {
  const ScalarType t = src.isComplex()         ? kComplexDouble
                       : src.isFloatingPoint() ? kDouble
                       : src.isBoolean()       ? kBool
                                               : kLong;
  return self.copy_(lamella::full({}, src, TensorOptions(t).device(self.device())));
}

// Returns the tensor itself if nothing changes and `copy` is false.
Tensor converted(const Tensor& self, std::optional<ScalarType> dtype, const std::optional<Device>& device, bool copy,
                 std::optional<MemoryFormat> memory_format, bool non_blocking = false) {
  const bool same = dtype.value_or(self.dtype()) == self.dtype() && (!device || *device == self.device());
  return same && !copy && lies_in(self, memory_format) ? self
                                                       : copied(self, dtype, device, memory_format, non_blocking);
}

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, std::nullopt, copy, memory_format, non_blocking);
}
Tensor to_device(const Tensor& self, const std::optional<Device>& device, std::optional<ScalarType> dtype,
                 bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, device, copy, memory_format, non_blocking);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return converted(self, other.dtype(), other.device(), copy, memory_format, non_blocking);
}

// Reads the first element of a tensor in host memory.
Scalar read_number(const Tensor& x) {
  const core::OwnedValue v = core::OwnedValue::adopt(core::read_number(x.get()));
  return Scalar(v);
}

bool is_pinned(const Tensor& self, std::optional<Device>) { return core::is_pinned(self.get()->storage); }

Tensor pin_memory(const Tensor& self, std::optional<Device>) {
  LAMELLA_CHECK(core::is_host(self.get()->backend), argument("self"),
                ": only memory of the host can be pinned, not that of ", self.device());
  if (core::is_pinned(self.get()->storage)) return self;
  return lamella::empty_like(self, TensorOptions().pinned_memory(true)).copy_(self);
}

Scalar item(const Tensor& self) {
  LAMELLA_CHECK(self.numel() == 1, argument("self"), ": expected one element, got shape ", shape_text(self));
  const int32_t backend = self.get()->backend;
  LAMELLA_CHECK_NOT_IMPLEMENTED(backend != core::meta_backend, argument("self"),
                                ": tensors on device 'meta' have no data");
  std::optional<Device> host;
  if (!core::is_host(backend)) host = Device(lamella_device{core::host_backend(), 0});
  const Tensor plain = core::full(self.get())->opaque() ? lamella::_materialize(self) : self;
  if (core::full(self.get())->opaque())
    LAMELLA_CHECK(!plain.is_opaque() && plain.numel() == 1 && plain.device() == self.device(), argument("self"),
                  ": its layer must give one element in memory, on the same device, got shape ", shape_text(plain),
                  " on ", plain.device(), plain.is_opaque() ? ", opaque" : "");
  return read_number(converted(plain, std::nullopt, host, false, std::nullopt));
}

bool is_nonzero(const Tensor& self) {
  LAMELLA_CHECK(self.numel() == 1, argument("self"), ": expected one element, got shape ", shape_text(self));
  const Scalar one = self.item();
  return one.isComplex() ? one.to<std::complex<double>>() != 0.0 : one.toBool();
}

bool equal(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes() && self.eq(other).all().item().toBool();
}

// ---- the copies that the dispatcher makes ----

// Copies between devices: makes the source contiguous on its device and moves the bytes. Another dtype is converted
// before the move if the source is on a host, else on the destination; another layout is made on the destination.
lamella_status between_devices(core::Tensor* to, core::Tensor* from, bool non_blocking) {
  return guarded([&]() -> lamella_status {
    const Tensor self = Tensor::borrow(to), packed = Tensor::borrow(from).contiguous();
    non_blocking &= packed.get() == from;  // a packed copy is freed at once, so that its bytes must have moved by then
    if (self.is_contiguous() && self.dtype() == packed.dtype() && self.numel() == packed.numel())
      return dispatcher::move_bytes(core::full(self.get()), core::full(packed.get()), non_blocking);
    if (core::is_host(from->backend) && self.dtype() != packed.dtype()) {  // converts on the host, then moves
      self.copy_(packed.to(self.dtype()));
      return LAMELLA_OK;
    }
    const Tensor landed = lamella::empty_like(packed, TensorOptions(self.device()));
    check(dispatcher::move_bytes(core::full(landed.get()), core::full(packed.get()), false));
    self.copy_(landed);
    return LAMELLA_OK;
  });
}

// Returns the bytes from a tensor's first element to its last, as a tensor over its memory.
Tensor bytes_under(const Tensor& x) {
  int64_t last = 0;
  for (int64_t d = 0; d < x.dim(); d++) last += (x.size(d) - 1) * x.stride(d);
  core::Tensor* t = core::full(x.get());
  const int64_t bytes = (last + 1) * itemsize(x.dtype()), one = 1;
  return Tensor::steal(
      core::tensor_over(t->storage, 1, &bytes, &one, t->storage_offset * itemsize(x.dtype()), LAMELLA_UINT8));
}

// `there` is a copy of a tensor's memory on the host, and `tensor` is the tensor over that copy.
struct OnHost {
  Tensor bytes, there, tensor;
  explicit OnHost(const Tensor& x) : bytes(bytes_under(x)) {
    there = lamella::empty(bytes.sizes(), TensorOptions(Device(lamella_device{core::host_backend(), 0})).dtype(kByte));
    check(dispatcher::move_bytes(core::full(there.get()), core::full(bytes.get()), false));
    tensor = Tensor::steal(core::tensor_over(core::full(there.get())->storage, static_cast<int>(x.dim()),
                                             x.sizes().data(), x.strides().data(), 0, core::full(x.get())->dtype));
  }
};

// Copies within a device by way of the host. Bytes between the destination's elements are moved to the host and back
// unchanged.
lamella_status within_device(core::Tensor* to, core::Tensor* from, int64_t* bytes) {
  return guarded([&]() -> lamella_status {
    *bytes = 0;
    if (to->numel == 0) return LAMELLA_OK;
    const OnHost source(Tensor::borrow(from)), self(Tensor::borrow(to));
    self.tensor.copy_(source.tensor);
    *bytes = source.bytes.numel() + 2 * self.bytes.numel();
    return dispatcher::move_bytes(core::full(self.bytes.get()), core::full(self.there.get()), false);
  });
}

// Hands the reference to a tensor over to the dispatcher.
core::TensorRef given_away(Tensor x) { return core::TensorRef::steal(core::full(x.release())); }

lamella_status copy_into(core::Tensor* to, core::Tensor* from) {
  return guarded([&]() -> lamella_status {
    Tensor::borrow(to).copy_(Tensor::borrow(from));
    return LAMELLA_OK;
  });
}
lamella_status clone_of(core::Tensor* from, core::TensorRef* out) {
  return guarded([&]() -> lamella_status {
    *out = given_away(Tensor::borrow(from).clone());
    return LAMELLA_OK;
  });
}
lamella_status to_device_of(core::Tensor* from, lamella_device device, core::TensorRef* out) {
  return guarded([&]() -> lamella_status {
    *out = given_away(Tensor::borrow(from).to(Device(device)));
    return LAMELLA_OK;
  });
}

}  // namespace

const dispatcher::Copying& copying_by_operators() {
  static const dispatcher::Copying c = {copy_into, clone_of, to_device_of, between_devices, within_device};
  return c;
}

LAMELLA_FAMILY(copy, .category = "copy", .forms = method) {
  return {
      {.schema = "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method | function | dispatcher::form_between_devices,
       .infer = shape<infer_copy>,
       .doc = R"(Copies `src` into `self`, converting the dtype and broadcasting; the devices may differ.

>>> lamella.zeros(2).copy_(lamella.tensor([1, 2]))
tensor([1., 2.])
)"},
      {.schema = "copy_.Scalar(Tensor(a!) self, Scalar src, bool non_blocking=False) -> Tensor(a!)",
       .dims = "broadcast",
       .composite = composite<copy_number>},
      {.schema = "is_pinned(Tensor self, Device? device=None) -> bool",
       .composite = composite<is_pinned>,
       .doc = R"(Whether the elements lie in memory of the host that a device's plugin has pinned, from where and to
where copies need not block. `device` is ignored.

>>> lamella.ones(2).is_pinned()
False
)"},
      {.schema = "pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)",
       .dims = "broadcast",
       .composite = composite<pin_memory>,
       .doc = R"(`self` if its memory is pinned, else a copy in memory that the first loaded device with such an
allocator pins. `device` is ignored.

Raises:
    RuntimeError: the tensor is not on the host, or no loaded device pins memory

>>> try:
...     lamella.ones(2).pin_memory()
... except RuntimeError:
...     print("no loaded device pins memory")
no loaded device pins memory
)"},
      {.schema = "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
       .dims = "broadcast",
       .forms = everywhere | dispatcher::form_copies,
       .infer = shape<infer_clone>,
       .composite = composite<clone>,
       .doc = R"(A copy with memory of its own.

>>> lamella.clone(lamella.tensor([1, 2]))
tensor([1, 2])
)"},
      {.schema = "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
       .dims = "broadcast",
       .composite = composite<contiguous>,
       .doc = R"(`self` if its elements lie in row-major order, else such a copy.

>>> lamella.ones(2, 3).t().contiguous().stride()
(2, 1)
)"},
      {.schema = "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, "
                 "MemoryFormat? memory_format=None) -> Tensor(a)",
       .dims = "broadcast",
       .composite = composite<to_dtype>,
       .doc = R"(`self` in another dtype or on another device; itself if nothing changes and `copy` is false.

>>> lamella.tensor([1, 2]).to(lamella.float32)
tensor([1., 2.])
)"},
      {.schema = "to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool "
                 "copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
       .dims = "broadcast",
       .composite = composite<to_device>},
      {.schema = "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
                 "memory_format=None) -> Tensor(a)",
       .composite = composite<to_other>},
      {.schema = "_materialize(Tensor(a) self, *, bool shared=False) -> Tensor(a)",
       .dims = "broadcast",
       .category = "host",
       .forms = hidden,
       .composite = composite<materialize>,
       .doc = "A tensor with the values of `self` in memory: `self`, unless it is opaque; then a layer answers, or it "
              "is an error. Called before values are printed, pickled, handed to Python or exported. `shared`: the "
              "reader sees later writes to the tensor, and may write itself."},
      {.schema = "item(Tensor self) -> Scalar",
       .category = "host",
       .composite = composite<item>,
       .doc = R"(The one element as a Python number.

Raises:
    RuntimeError: there is not exactly one element

>>> lamella.tensor([3.5]).item()
3.5
)"},
      {.schema = "is_nonzero(Tensor self) -> bool",
       .category = "host",
       .forms = everywhere,
       .composite = composite<is_nonzero>,
       .doc = R"(Whether the one element is not zero.

Raises:
    RuntimeError: there is not exactly one element

>>> lamella.is_nonzero(lamella.tensor([2.0]))
True
)"},
      {.schema = "equal(Tensor self, Tensor other) -> bool",
       .category = "host",
       .forms = everywhere,
       .composite = composite<equal>,
       .doc = R"(Whether shapes and all elements are equal. NaN is not equal to NaN.

>>> lamella.equal(lamella.tensor([1, 2]), lamella.tensor([1.0, 2.0]))
True
)"},
  };
}

}  // namespace lamella::operators
