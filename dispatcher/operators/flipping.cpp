// Elements that change places along a dimension: roll, flip, rot90.
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

// self, shifts, dims
lamella_status infer_roll(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (a[2].length ? a[1].length != a[2].length : a[1].length != 1)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %u shifts for %u dimensions ('dims')", where(f, 1).c_str(), a[1].length, a[2].length));
  for (uint32_t i = 0; i < a[2].length; i++) {
    int d;
    if (lamella_status st = wrap_dim(f, 2, a[2].as.ints[i], t->ndim(), &d)) return st;
  }
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LAMELLA_OK;
}

Var rolled(Compose& c, const Var& x, int64_t shift, int64_t dim) {
  const int64_t n = x.dim() ? x.size(static_cast<int>(dim)) : 0;
  if (n == 0) return x;
  const int64_t k = ((-shift) % n + n) % n;
  if (k == 0) return x;
  return c.op<"cat">(c.list({c.op<"slice.Tensor">(x, dim, k), c.op<"slice.Tensor">(x, dim, 0, k)}), dim);
}

lamella_status roll(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var x = c.arg(a[0]);
  if (a[2].length == 0) {
    x = rolled(c, c.op<"reshape">(x, Ints{t->numel}), a[1].as.ints[0], 0);
    x = c.op<"reshape">(x, Ints(t->sizes(), t->ndim()));
  }
  for (uint32_t i = 0; i < a[2].length; i++) x = rolled(c, x, a[1].as.ints[i], a[2].as.ints[i]);
  if (!c.status() && x.tensor()->storage == t->storage) x = c.op<"clone">(x, contiguous_format);
  return c.give(r, x);
}

lamella_status infer_flip(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lamella_status st = wrap_dims(f, 1, a[1], t->ndim(), &dims)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LAMELLA_OK;
}

lamella_status flip(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var x = c.arg(a[0]);
  for (uint32_t i = 0; i < a[1].length && t->ndim(); i++) {
    const int64_t d = a[1].as.ints[i], n = x.size(static_cast<int>(d));
    Var back = c.op<"arange.start_step">(n - 1, -1, -1, As{LAMELLA_INT64}, Absent{}, t->device());
    x = c.op<"index_select">(x, d, back);
  }
  if (!c.status() && x.tensor()->storage == t->storage) x = c.op<"clone">(x, contiguous_format);
  return c.give(r, x);
}

lamella_status flip_one(lamella_frame* f, const Value& self, int dim, Value* r) {
  Compose c(f);
  if (tensor_arg(self)->ndim() <= dim)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected at least %d dimensions, got shape %s", where(f, 0).c_str(),
                                               dim + 1, core::shape_string(tensor_arg(self)).c_str()));
  return c.give(r, c.op<"flip">(self, Ints{dim}));
}
lamella_status fliplr(lamella_frame* f, const Value* a, Value* r) { return flip_one(f, a[0], 1, r); }
lamella_status flipud(lamella_frame* f, const Value* a, Value* r) { return flip_one(f, a[0], 0, r); }

// self, k, dims
lamella_status rot90(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  uint64_t seen;
  if (a[2].length != 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected two dimensions, got %u", where(f, 2).c_str(), a[2].length));
  if (lamella_status st = wrap_dims(f, 2, a[2], t->ndim(), &seen)) return st;
  const int64_t d0 = a[2].as.ints[0], d1 = a[2].as.ints[1];
  switch ((a[1].as.i % 4 + 4) % 4) {
    case 1:
      return c.give(r, c.op<"transpose.int">(c.op<"flip">(a[0], Ints{d1}), d0, d1));
    case 2:
      return c.give(r, c.op<"flip">(a[0], Ints{d0, d1}));
    case 3:
      return c.give(r, c.op<"transpose.int">(c.op<"flip">(a[0], Ints{d0}), d0, d1));
    default:
      return c.give(r, c.op<"clone">(a[0], contiguous_format));
  }
}

}  // namespace

const std::vector<Declaration>& flipping_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", "copy", everywhere, infer_roll, roll,
       "The elements moved along dimensions, or all as one row; what leaves at the end enters at the start.\n\n>>> "
       "lamella.roll(lamella.arange(4), 1)\ntensor([3, 0, 1, 2])\n"},
      {"flip(Tensor self, int[] dims) -> Tensor", "copy", everywhere, infer_flip, flip,
       "A copy with the given dimensions reversed.\n\n>>> lamella.flip(lamella.arange(3), (0,))\ntensor([2, 1, 0])\n"},
      {"fliplr(Tensor self) -> Tensor", "copy", everywhere, nullptr, fliplr,
       "flip() of the second dimension.\n\n>>> lamella.fliplr(lamella.tensor([[1, 2]]))\ntensor([[2, 1]])\n"},
      {"flipud(Tensor self) -> Tensor", "copy", everywhere, nullptr, flipud,
       "flip() of the first dimension.\n\n>>> lamella.flipud(lamella.tensor([1, 2]))\ntensor([2, 1])\n"},
      {"rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", "copy", everywhere, nullptr, rot90,
       "A copy turned `k` times by a right angle, from the first of two dimensions to the second.\n\n>>> "
       "lamella.rot90(lamella.tensor([[1, 2]]))\ntensor([[2],\n        [1]])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
