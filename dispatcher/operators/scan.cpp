// Scans: running sums and products along a dimension.
#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {
namespace {

lamella_status infer_scan(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  const bool integral = core::dtype_class(t->dtype) <= LAMELLA_CLASS_INTEGRAL;
  fresh_like(m, t, dtype_or(a[2], integral ? static_cast<DType>(LAMELLA_INT64) : t->dtype));
  f->compute_dtype = m->dtype;
  return LAMELLA_OK;
}

// Each turn joins what lies 1, 2, 4, … places before: log2(n) products in all.
lamella_status cumprod(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const bool integral = x.dtype_class() <= LAMELLA_CLASS_INTEGRAL;
  const DType t = dtype_or(a[2], integral ? static_cast<DType>(LAMELLA_INT64) : x.dtype());
  Var y = as(c, as(c, x, t), wide_of(t));
  if (y.dim() == 0) return c.give(r, c.op<"clone">(as(c, y, t)));
  const int64_t d = a[1].as.i, n = x.size(static_cast<int>(d));
  for (int64_t step = 1; step < n && !c.status(); step *= 2) {
    Var next = c.op<"clone">(y), late = c.op<"slice.Tensor">(next, d, step);
    c.op<"copy_">(late, c.op<"slice.Tensor">(y, d, step) * c.op<"slice.Tensor">(y, d, 0, n - step));
    y = next;
  }
  return c.give(r, n > 1 && y.dtype() == t ? y : c.op<"clone">(as(c, y, t)));
}

}  // namespace

const std::vector<Declaration>& scan_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "scan", all_forms, infer_scan, nullptr,
       "Running sums along a dimension; integers and bools give int64. Floats are added in float64.\n\n"
       ">>> lamella.cumsum(lamella.tensor([1., 2., 3.]), 0)\ntensor([1., 3., 6.])\n"},
      {"cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "scan", all_forms, infer_scan, cumprod,
       "Running products along a dimension; integers and bools give int64.\n\n"
       ">>> lamella.cumprod(lamella.tensor([1., 2., 3.]), 0)\ntensor([1., 2., 6.])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
