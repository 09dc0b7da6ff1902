// Elements that change places along a dimension: roll, flip, rot90.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Returns `x`, or a copy if it shares a storage with `self`.
Tensor apart_from(const Tensor& self, const Tensor& x) {
  return x.get()->storage == self.get()->storage ? x.clone(MemoryFormat::Contiguous) : x;
}

void infer_roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, Output out) {
  LAMELLA_CHECK(shifts.size() == (dims.empty() ? 1 : dims.size()), argument("shifts"), ": ", shifts.size(),
                " shifts for ", dims.size(), " dimensions ('dims')");
  for (int64_t dim : dims) wrap_dim("dims", dim, self.dim());
  out.set(self.sizes(), self.dtype());
}

Tensor rolled(const Tensor& x, int64_t shift, int64_t dim) {
  const int64_t n = x.dim() ? x.size(dim) : 0;
  if (n == 0) return x;
  const int64_t k = ((-shift) % n + n) % n;
  if (k == 0) return x;
  return lamella::cat({lamella::slice(x, dim, k), lamella::slice(x, dim, 0, k)}, dim);
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  Tensor x = self;
  if (dims.empty()) x = rolled(x.reshape({self.numel()}), shifts[0], 0).reshape(self.sizes());
  for (size_t i = 0; i < dims.size(); i++) x = rolled(x, shifts[i], dims[i]);
  return apart_from(self, x);
}

void infer_flip(const Tensor& self, IntArrayRef dims, Output out) {
  wrap_dims("dims", dims, self.dim());
  out.set(self.sizes(), self.dtype());
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  Tensor x = self;
  for (size_t i = 0; i < dims.size() && self.dim(); i++) {
    const Tensor back = lamella::arange(x.size(dims[i]) - 1, -1, -1, self.options().dtype(kLong));
    x = x.index_select(dims[i], back);
  }
  return apart_from(self, x);
}

Tensor flip_one(const Tensor& self, int64_t dim) {
  LAMELLA_CHECK(self.dim() > dim, argument("self"), ": expected at least ", dim + 1, " dimensions, got shape ",
                shape_text(self));
  return self.flip({dim});
}
Tensor fliplr(const Tensor& self) { return flip_one(self, 1); }
Tensor flipud(const Tensor& self) { return flip_one(self, 0); }

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  LAMELLA_CHECK(dims.size() == 2, argument("dims"), ": expected two dimensions, got ", dims.size());
  wrap_dims("dims", dims, self.dim());
  const int64_t d0 = dims[0], d1 = dims[1];
  switch ((k % 4 + 4) % 4) {
    case 1:
      return self.flip({d1}).transpose(d0, d1);
    case 2:
      return self.flip({d0, d1});
    case 3:
      return self.flip({d0}).transpose(d0, d1);
    default:
      return self.clone(MemoryFormat::Contiguous);
  }
}

}  // namespace

LAMELLA_FAMILY(flipping, .category = "copy", .forms = everywhere) {
  return {
      {.schema = "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
       .dims = "keep",
       .infer = shape<infer_roll>,
       .composite = composite<roll>,
       .doc = R"(The elements moved along dimensions, or all as one row; what leaves at the end enters at the start.

>>> lamella.roll(lamella.arange(4), 1)
tensor([3, 0, 1, 2])
)"},
      {.schema = "flip(Tensor self, int[] dims) -> Tensor",
       .dims = "keep",
       .infer = shape<infer_flip>,
       .composite = composite<flip>,
       .doc = R"(A copy with the given dimensions reversed.

>>> lamella.flip(lamella.arange(3), (0,))
tensor([2, 1, 0])
)"},
      {.schema = "fliplr(Tensor self) -> Tensor",
       .dims = "a b~ ... -> a b~ ...",
       .composite = composite<fliplr>,
       .doc = R"(flip() of the second dimension.

>>> lamella.fliplr(lamella.tensor([[1, 2]]))
tensor([[2, 1]])
)"},
      {.schema = "flipud(Tensor self) -> Tensor",
       .dims = "a~ ... -> a~ ...",
       .composite = composite<flipud>,
       .doc = R"(flip() of the first dimension.

>>> lamella.flipud(lamella.tensor([1, 2]))
tensor([2, 1])
)"},
      {.schema = "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
       .composite = composite<rot90>,
       .doc = R"(A copy turned `k` times by a right angle, from the first of two dimensions to the second.

>>> lamella.rot90(lamella.tensor([[1, 2]]))
tensor([[2],
        [1]])
)"},
  };
}

}  // namespace lamella::operators
