// Copies and casts, within a device and between devices.
#include "operators/copy.h"

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

void infer_copy(const Tensor& self, const Tensor& src, bool, Output out) { same_with(out, self, "src", src); }

// A copy in a new tensor of the given dtype, device and memory format.
Tensor copied(const Tensor& x, std::optional<ScalarType> dtype, const std::optional<Device>& device,
              std::optional<MemoryFormat> memory_format) {
  const Tensor to = lamella::empty_like(x, TensorOptions().dtype(dtype).device(device), memory_format);
  to.copy_(x);
  return to;
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
                ": preserve_format asks for no order; pass another");
  return lies_in(self, memory_format) ? self : self.clone(memory_format);
}

// The tensor itself where nothing changes, unless a copy is asked for.
Tensor converted(const Tensor& self, std::optional<ScalarType> dtype, const std::optional<Device>& device, bool copy,
                 std::optional<MemoryFormat> memory_format) {
  const bool same = dtype.value_or(self.dtype()) == self.dtype() && (!device || *device == self.device());
  return same && !copy && lies_in(self, memory_format) ? self : copied(self, dtype, device, memory_format);
}

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, std::nullopt, copy, memory_format);
}
Tensor to_device(const Tensor& self, const std::optional<Device>& device, std::optional<ScalarType> dtype, bool,
                 bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, device, copy, memory_format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, other.dtype(), other.device(), copy, memory_format);
}

// The first element of a tensor in host memory.
Scalar read_number(const Tensor& x) {
  const core::OwnedValue v = core::OwnedValue::adopt(core::read_number(x.get()));
  return Scalar(v);
}

Scalar item(const Tensor& self) {
  LAMELLA_CHECK(self.numel() == 1, argument("self"), ": expected one element, got shape ", shape_text(self));
  const int32_t backend = self.get()->backend;
  LAMELLA_CHECK_NOT_IMPLEMENTED(backend != core::meta_backend, argument("self"),
                                ": tensors on device 'meta' have no data");
  std::optional<Device> host;
  if (!core::is_host(backend)) host = Device(lamella_device{core::host_backend(), 0});
  const Scalar number = read_number(converted(self, std::nullopt, host, false, std::nullopt));
  LAMELLA_CHECK_KIND(LAMELLA_OVERFLOW, self.dtype() != kUInt64 || number.toLong() >= 0, argument("self"),
                     ": its uint64 is above the 63 bits that a number argument carries; use tolist()");
  return number;
}

// ---- the dispatcher's own copies ----

// Contiguous on the source's side, bytes over, then converted and laid out on the host's or, where neither is a host,
// the destination's side.
lamella_status between_devices(const core::Value* args) {
  return guarded([&]() -> lamella_status {
    const Tensor self = Tensor::borrow(args[0].as.tensor), packed = Tensor::borrow(args[1].as.tensor).contiguous();
    if (self.is_contiguous() && self.dtype() == packed.dtype() && self.numel() == packed.numel())
      return dispatcher::move_bytes(core::full(self.get()), core::full(packed.get()));
    if (core::is_host(args[1].as.tensor->backend) && self.dtype() != packed.dtype()) {  // convert here, then go over
      self.copy_(packed.to(self.dtype()));
      return LAMELLA_OK;
    }
    const Tensor landed = lamella::empty_like(packed, TensorOptions(self.device()));
    check(dispatcher::move_bytes(core::full(landed.get()), core::full(packed.get())));
    self.copy_(landed);
    return LAMELLA_OK;
  });
}

// Hands a tensor over to the dispatcher.
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
  static const dispatcher::Copying c = {copy_into, clone_of, to_device_of, between_devices};
  return c;
}

const std::vector<Declaration>& copy_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", "copy",
       method | function | dispatcher::form_between_devices, shape<infer_copy>, nullptr,
       "Copies `src` into `self`, converting the dtype and broadcasting; the devices may differ.\n\n>>> "
       "lamella.zeros(2).copy_(lamella.tensor([1, 2]))\ntensor([1., 2.])\n"},
      {"clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "copy", everywhere, shape<infer_clone>,
       composite<clone>,
       "A copy with memory of its own.\n\n>>> lamella.clone(lamella.tensor([1, 2]))\ntensor([1, 2])\n"},
      {"contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", "copy", method,
       nullptr, composite<contiguous>,
       "`self` if its elements lie in row-major order, else such a copy.\n\n>>> lamella.ones(2, "
       "3).t().contiguous().stride()\n(2, 1)\n"},
      {"to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, composite<to_dtype>,
       "`self` in another dtype or on another device; itself if nothing changes and `copy` is false.\n\n>>> "
       "lamella.tensor([1, 2]).to(lamella.float32)\ntensor([1., 2.])\n"},
      {"to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool "
       "copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, composite<to_device>, nullptr},
      {"to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, composite<to_other>, nullptr},
      {"item(Tensor self) -> Scalar", "host", method, nullptr, composite<item>,
       "The one element as a Python number.\n\nRaises:\n    RuntimeError: there is not exactly one element\n\n>>> "
       "lamella.tensor([3.5]).item()\n3.5\n"},
  };
  return *table;
}

}  // namespace lamella::operators
