// Scans: running sums and products along a dimension.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

ScalarType scanned_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? kLong : self.dtype());
}

void infer_scan(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Output out) {
  wrap_dim("dim", dim, self.dim());
  out.like(self, scanned_dtype(self, dtype));
}

// In each turn, multiplies every element by the one that lies 1, 2, 4, … places before it: log2(n) products in all.
Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const ScalarType t = scanned_dtype(self, dtype);
  Tensor y = as(as(self, t), wide_of(t));
  if (y.dim() == 0) return as(y, t).clone();
  const int64_t n = y.size(dim);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor next = y.clone(), late = slice(next, dim, step);
    late.copy_(slice(y, dim, step) * slice(y, dim, 0, n - step));
    y = next;
  }
  return n > 1 && y.dtype() == t ? y : as(y, t).clone();
}

}  // namespace

LAMELLA_FAMILY(scan, .category = "scan", .forms = all_forms, .dims = "keep") {
  return {
      {.schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_scan>,
       .doc = R"(Running sums along a dimension; integers and bools give int64. Floats are added in float64.

>>> lamella.cumsum(lamella.tensor([1., 2., 3.]), 0)
tensor([1., 3., 6.])
)"},
      {.schema = "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_scan>,
       .composite = composite<cumprod>,
       .doc = R"(Running products along a dimension; integers and bools give int64.

>>> lamella.cumprod(lamella.tensor([1., 2., 3.]), 0)
tensor([1., 2., 6.])
)"},
  };
}

}  // namespace lamella::operators
