// Bool masks, and what is not zero.
#include "dispatcher/operators/indexing.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {
namespace {

// The mask broadcasts with self and is bool; into: their common shape.
lamella_status check_mask(lamella_frame* f, const Value* a, bool to_self, Ints* into) {
  const Tensor *self = tensor_arg(a[0]), *mask = tensor_arg(a[1]);
  if (mask->dtype != LAMELLA_BOOL)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": expected a bool mask, got dtype " + core::dtype_info(mask->dtype).name);
  *into = Ints(self->sizes(), self->ndim());
  if (!broadcast(&into->count, into->data, mask->ndim(), mask->sizes()) ||
      (to_self && !std::equal(into->data, into->data + into->count, self->sizes(), self->sizes() + self->ndim())))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": shape " + core::shape_string(mask) + " does not broadcast " +
                                            (to_self ? "to " : "with ") + core::shape_string(self) + " ('self')");
  return LAMELLA_OK;
}

lamella_status check_masked_fill(lamella_frame* f, const Value* a, bool to_self) {
  Ints shape;
  if (lamella_status st = check_mask(f, a, to_self, &shape)) return st;
  return check_filling(f, 2, a[2], tensor_arg(a[0])->dtype);
}

// The number, or the zero-dim tensor in self's dtype, as where() takes it: it must not widen the result.
Value filling(Compose& c, const Value& value, DType dtype, Var* held) {
  if (value.tag == LAMELLA_TENSOR) {
    *held = c.op<"to.dtype">(value, As{dtype});
    return held->value();
  }
  if (core::can_cast(core::number_dtype(value), dtype)) return value;
  const double number = core::as_double(value);
  return dtype == LAMELLA_BOOL ? core::boolean(number != 0) : core::integer(static_cast<int64_t>(number));
}

lamella_status masked_fill(lamella_frame* f, const Value* a, Value* r) {
  if (lamella_status st = check_masked_fill(f, a, false)) return st;
  Compose c(f);
  Var held = c.nothing();
  const Value value = filling(c, a[2], tensor_arg(a[0])->dtype, &held);
  return c.give(r, a[2].tag == LAMELLA_TENSOR ? c.op<"where.self">(a[1], value, a[0])
                                              : c.op<"where.ScalarSelf">(a[1], value, a[0]));
}

lamella_status infer_masked_fill_inplace(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  return check_masked_fill(f, a, true);
}

// One pass: where() into self.
lamella_status masked_fill_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var mask = c.arg(a[1]);
  if (mask.tensor()->storage == tensor_arg(a[0])->storage) mask = c.op<"clone">(mask);
  Var held = c.nothing();
  const Value value = filling(c, a[2], tensor_arg(a[0])->dtype, &held);
  return c.give(r, a[2].tag == LAMELLA_TENSOR ? c.op<"where.self_out">(mask, value, a[0], a[0])
                                              : c.op<"where.ScalarSelf_out">(mask, value, a[0], a[0]));
}

Var index_by(Compose& c, const Var& self, const Var& mask) { return c.op<"index.Tensor">(self, c.list({mask})); }

lamella_status masked_select(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Ints shape;
  if (lamella_status st = check_mask(f, a, false, &shape)) return st;
  auto fitted = [&](const Value& v) {
    Var x = c.arg(v);
    const bool fits = x.dim() == shape.count && std::equal(shape.data, shape.data + shape.count, x.tensor()->sizes());
    return fits ? x : c.op<"expand">(x, shape);
  };
  Var self = fitted(a[0]), mask = fitted(a[1]);
  if (shape.count == 0) {
    self = c.op<"reshape">(self, Ints{1});
    mask = c.op<"reshape">(mask, Ints{1});
  }
  return c.give(r, index_by(c, self, mask));
}

lamella_status check_masked_scatter(lamella_frame* f, const Value* a) {
  Ints shape;
  if (lamella_status st = check_mask(f, a, true, &shape)) return st;
  return check_same_dtype(f, 2, tensor_arg(a[2]), tensor_arg(a[0]));
}

lamella_status masked_scatter(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *self = tensor_arg(a[0]), *source = tensor_arg(a[2]);
  Var mask = c.op<"reshape">(c.op<"expand">(a[1], Ints(self->sizes(), self->ndim())), Ints{self->numel});
  Var at = c.op<"select.int">(c.op<"nonzero">(mask), 1, 0);
  if (c.status()) return c.status();
  if (at.numel() > source->numel)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld elements for %lld places of the mask", where(f, 2).c_str(),
                                               (long long)source->numel, (long long)at.numel()));
  Var values = c.op<"slice.Tensor">(c.op<"reshape">(a[2], Ints{source->numel}), 0, 0, at.numel());
  Var copy = c.op<"clone">(a[0], contiguous_format);
  c.op<"scatter_.src">(c.op<"view">(copy, Ints{self->numel}), 0, at, values);
  return c.give(r, copy);
}

lamella_status infer_nonzero(lamella_frame*, const Value*, Meta* m) {
  m->kind = LAMELLA_META_DYNAMIC;
  return LAMELLA_OK;
}

lamella_status argwhere(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"nonzero">(a[0]));
}

// One vector of indices for each dimension; a zero-dim tensor counts as one of one.
lamella_status nonzero_by_dimension(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dim() == 0) x = c.op<"reshape">(x, Ints{1});
  return c.give(r, c.op<"unbind.int">(c.op<"nonzero">(x), 1));
}

lamella_status nonzero_as_tuple(lamella_frame* f, const Value* a, Value* r) {
  return a[1].as.i ? nonzero_by_dimension(f, a, r) : argwhere(f, a, r);
}

}  // namespace

const std::vector<Declaration>& mask_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", "indexing", everywhere, nullptr,
       masked_fill,
       "`self` with `value` where the bool mask holds.\n\n>>> lamella.masked_fill(lamella.tensor([1, 2]), "
       "lamella.tensor([True, False]), 0)\ntensor([0, 2])\n"},
      {"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", "indexing", everywhere, nullptr,
       masked_fill, nullptr},
      {"masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)", "indexing", method,
       infer_masked_fill_inplace, masked_fill_inplace,
       "masked_fill() in place.\n\n>>> lamella.tensor([1, 2]).masked_fill_(lamella.tensor([True, False]), 0)\n"
       "tensor([0, 2])\n"},
      {"masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)", "indexing", method,
       infer_masked_fill_inplace, masked_fill_inplace, nullptr},
      {"masked_select(Tensor self, Tensor mask) -> Tensor", "indexing", everywhere | out, nullptr, masked_select,
       "The elements where the bool mask holds, as one row; both broadcast.\n\n>>> "
       "lamella.masked_select(lamella.tensor([1, 2, 3]), lamella.tensor([True, False, True]))\ntensor([1, 3])\n"},
      {"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", "scatter", everywhere | inplace,
       infer_copied<check_masked_scatter>, masked_scatter,
       "`self` with the first elements of `source`, in row-major order, where the bool mask holds.\n\n>>> "
       "lamella.masked_scatter(lamella.zeros(3), lamella.tensor([True, False, True]), lamella.tensor([1., 2.]))\n"
       "tensor([1., 0., 2.])\n"},
      {"nonzero(Tensor self) -> Tensor", "indexing", everywhere, infer_nonzero, nullptr,
       "The indices of the elements that are not zero, one row for each, in row-major order; with `as_tuple` one "
       "vector for each dimension.\n\n>>> lamella.nonzero(lamella.tensor([[0, 1], [2, 0]]))\ntensor([[0, 1],\n        "
       "[1, 0]])\n"},
      {"nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor[]", "indexing", everywhere, nullptr, nonzero_as_tuple,
       nullptr},
      {"argwhere(Tensor self) -> Tensor", "indexing", everywhere, nullptr, argwhere,
       "nonzero() by numpy's name.\n\n>>> lamella.argwhere(lamella.tensor([0, 3]))\ntensor([[1]])\n"},
      {"where(Tensor condition) -> Tensor[]", "indexing", function, nullptr, nonzero_by_dimension, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
