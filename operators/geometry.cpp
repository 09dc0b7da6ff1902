// Other sizes, strides and memory of a tensor in place: no element is stored, so that every device has these operators.
#include "dispatcher/operator.h"
#include "dispatcher/slots.h"
#include "dispatcher/tensors.h"
#include "operators/views.h"

namespace lamella::operators {
namespace {

const char* title(const lamella_frame* f) { return f->op->title.c_str(); }

// A result that a shape rule has described for one argument.
class Described {
 public:
  Described(lamella_frame* f, const Tensor& of) : frame_(f), args_{value(of)} {}
  Output output() { return {frame_, args_, &meta_}; }
  int ndim() const { return meta_.ndim; }
  const int64_t* sizes() const { return meta_.sizes; }
  const int64_t* strides() const { return meta_.flags & LAMELLA_META_STRIDES ? meta_.strides : nullptr; }
  int64_t offset() const { return meta_.offset; }

 private:
  lamella_frame* frame_;
  lamella_value args_[1];
  lamella_meta meta_{};
};

// Gives `self` the geometry of the view that a shape rule describes. No view is made, which layers would see.
template <auto Rule, class... Arguments>
struct InPlace {
  static const Tensor& run(lamella_frame* f, const Tensor& self, Arguments... arguments) {
    Described view(f, self);
    Rule(self, arguments..., view.output());
    check(dispatcher::restride(title(f), core::full(self.get()), view.ndim(), view.sizes(), view.strides(),
                               view.offset()));
    return self;
  }
};

// ---- other sizes ----

// Without a format the elements lie in row-major order; the preserving format takes the order of `like`, if there is
// one.
// Sizes that the tensor has already leave its strides as they are, unless a format is given.
const Tensor& resized(lamella_frame* f, const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> asked,
                      const Tensor& like) {
  check_sizes("size", size, self.dtype());
  if (!asked && std::equal(size.begin(), size.end(), self.sizes().begin(), self.sizes().end())) return self;
  const MemoryFormat format = asked.value_or(MemoryFormat::Contiguous);
  Described made(f, self);
  Output out = made.output();
  out.set(size, self.dtype());
  lay_out(out, "memory_format", format, like);
  check(dispatcher::resize(title(f), core::full(self.get()), made.ndim(), made.sizes(), made.strides()));
  return self;
}

const Tensor& resize(lamella_frame* f, const Tensor& self, IntArrayRef size,
                     std::optional<MemoryFormat> memory_format) {
  LAMELLA_CHECK(memory_format != MemoryFormat::Preserve, argument("memory_format"),
                ": expected contiguous_format or channels_last, got preserve_format; resize_as_ takes the order of a "
                "tensor");
  return resized(f, self, size, memory_format, Tensor());
}

const Tensor& resize_as(lamella_frame* f, const Tensor& self, const Tensor& the_template,
                        std::optional<MemoryFormat> memory_format) {
  return resized(f, self, the_template.sizes(), memory_format, the_template);
}

// ---- other memory ----

void take_data(const Tensor& self, const Tensor& new_data) {
  check(dispatcher::assign(core::full(self.get()), core::full(new_data.get())));
}

void check_source(const Tensor& self, const Tensor& source) {
  LAMELLA_CHECK(source.dtype() == self.dtype() && source.device() == self.device(), argument("source"), " has dtype ",
                source.dtype(), " on ", source.device(), ", 'self' ", self.dtype(), " on ", self.device(),
                "; both must be the same");
}

const Tensor& set_source(const Tensor& self, const Tensor& source) {
  check_source(self, source);
  take_data(self, source);
  return self;
}

const Tensor& set_part(lamella_frame* f, const Tensor& self, const Tensor& source, int64_t storage_offset,
                       IntArrayRef size, IntArrayRef stride) {
  check_source(self, source);
  LAMELLA_CHECK_NOT_IMPLEMENTED(!core::full(source.get())->opaque(), argument("source"),
                                " is opaque, so it has no memory of which to take a part");
  check_sizes("size", size, self.dtype());
  DimVector strides(stride);
  if (stride.empty() && !size.empty()) {
    strides = DimVector(size.size(), 0);
    core::contiguous_strides(static_cast<int>(size.size()), size.data(), strides.data());
  }
  Described part(f, source);
  infer_as_strided(source, size, strides, storage_offset, part.output());
  take_data(self, Tensor::steal(core::tensor_over(core::full(source.get())->storage, part.ndim(), part.sizes(),
                                                  part.strides(), part.offset(), core_dtype(source.dtype()))));
  return self;
}

}  // namespace

LAMELLA_FAMILY(view_in_place, .category = "view", .forms = method | dispatcher::form_geometry) {
  return {
      {.schema = "t_(Tensor(a!) self) -> Tensor(a!)",
       .composite = composite<InPlace<infer_t>::run>,
       .doc = R"(t() in place: exchanges the tensor's own sizes and strides.

>>> lamella.ones(2, 3).t_().shape
lamella.Size([3, 2])
)"},
      {.schema = "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
       .composite = composite<InPlace<infer_transpose, int64_t, int64_t>::run>,
       .doc = R"(transpose() in place: exchanges two of the tensor's own dimensions.

>>> lamella.ones(2, 3).transpose_(0, 1).shape
lamella.Size([3, 2])
)",
       .aliases = "swapdims_"},
      {.schema = "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
       .composite = composite<InPlace<infer_swapaxes, int64_t, int64_t>::run>,
       .doc = R"(transpose_() by numpy's name.

>>> lamella.ones(2, 3).swapaxes_(0, 1).shape
lamella.Size([3, 2])
)"},
      {.schema = "squeeze_(Tensor(a!) self) -> Tensor(a!)",
       .composite = composite<InPlace<infer_squeeze>::run>,
       .doc = R"(squeeze() in place: drops the tensor's own dimensions of size 1, all or those named.

>>> lamella.ones(2, 1).squeeze_().shape
lamella.Size([2])
)"},
      {.schema = "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
       .composite = composite<InPlace<infer_squeeze_dim, int64_t>::run>},
      {.schema = "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
       .composite = composite<InPlace<infer_squeeze_dims, IntArrayRef>::run>},
      {.schema = "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
       .composite = composite<InPlace<infer_unsqueeze, int64_t>::run>,
       .doc = R"(unsqueeze() in place: inserts a dimension of size 1 into the tensor itself.

>>> lamella.ones(2).unsqueeze_(0).shape
lamella.Size([1, 2])
)"},
      {.schema = "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
                 "Tensor(a!)",
       .forms = everywhere | dispatcher::form_geometry,
       .composite = composite<InPlace<infer_as_strided, IntArrayRef, IntArrayRef, std::optional<int64_t>>::run>,
       .doc = R"(as_strided() in place: gives the tensor itself the sizes, the strides and the offset (in elements).

Raises:
    RuntimeError: it would reach beyond the storage

>>> lamella.arange(4).as_strided_((2,), (2,))
tensor([0, 2])
)"},
      {.schema = "resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
       .composite = composite<resize>,
       .doc = R"(Changes the sizes of the tensor over its memory. New elements are uninitialized.

Sizes that the tensor has already change nothing, unless `memory_format` is given. A tensor that grows beyond its
memory gets new memory, into which its elements are copied in memory order. In torch
other tensors over the old memory follow to the new one; here they keep the old memory.

Raises:
    RuntimeError: the tensor requires grad, or is a view that would outgrow its base

>>> t = lamella.arange(6)
>>> t.resize_(2, 2)
tensor([[0, 1],
        [2, 3]])
>>> t.resize_(3, 2)
tensor([[0, 1],
        [2, 3],
        [4, 5]])
)"},
      {.schema = "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
       .forms = everywhere | dispatcher::form_geometry,
       .composite = composite<resize_as>,
       .doc =
           R"(Changes the sizes to those of `the_template`, as resize_() does. With `preserve_format` the order of the
dimensions in memory becomes that of `the_template`, too.

>>> lamella.arange(4).resize_as_(lamella.ones(2, 2))
tensor([[0, 1],
        [2, 3]])
)"},
      {.schema = "set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
       .composite = composite<set_source>,
       .doc = R"(Makes the tensor use the memory of `source`, with its geometry, or with an offset, sizes and strides in
elements. Sizes without strides are contiguous.

Raises:
    RuntimeError: the tensor requires grad, or the source has another dtype or device, or it would reach beyond the
        storage

>>> t, other = lamella.zeros(2), lamella.arange(4.0)
>>> t.set_(other, 1, (2,))
tensor([1., 2.])
>>> t.data_ptr() == other[1:].data_ptr()
True
)"},
      {.schema = "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] "
                 "size, SymInt[] stride=[]) -> Tensor(a!)",
       .composite = composite<set_part>},
      {.schema = "set_data(Tensor(a!) self, Tensor new_data) -> ()",
       .forms = hidden | dispatcher::form_geometry,
       .composite = composite<take_data>,
       .doc = "Gives `self` the memory, the geometry, the dtype and the device of `new_data`: self.data = new_data."},
  };
}

}  // namespace lamella::operators
