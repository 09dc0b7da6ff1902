// Running extremes, differences of neighbours, and integrals by trapezoids.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Returns the position of each element along a dimension, in the shape of self.
Tensor positions(const Tensor& self, int64_t dim) {
  DimVector sizes(self.dim(), 1);
  sizes[dim] = self.size(dim);
  return lamella::arange(0, self.size(dim), 1, self.options().dtype(kLong)).view(sizes).expand(self.sizes());
}

void infer_running_extreme(const Tensor& self, int64_t dim, Output values, Output indices) {
  wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), argument("self"), ": complex numbers have no order, got ",
                                self.dtype());
  values.set(self.sizes(), self.dtype());
  indices.set(self.sizes(), kLong);
  indices.exact();
}

// In turn k, each element is compared with the best up to the element 2^k before it: log2(n) turns. Of equals the last
// wins, and NaN wins over all. The values are gathered, so that their gradients reach the right elements.
template <bool Max>
std::tuple<Tensor, Tensor> running_extreme(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return {self.clone(), lamella::zeros({}, self.options().dtype(kLong))};
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = self.size(d);
  Tensor best = self.detach();
  Tensor at =
      self.numel() ? positions(self, d).contiguous() : lamella::zeros(self.sizes(), self.options().dtype(kLong));
  for (int64_t step = 1; step < n; step *= 2) {
    const auto early = [&](const Tensor& x) { return slice(x, d, 0, n - step); };
    const auto late = [&](const Tensor& x) { return slice(x, d, step, n); };
    const Tensor x = early(best), y = late(best);
    const Tensor later = (Max ? x <= y : x >= y).logical_or(y.ne(y)).logical_and(x.eq(x).logical_or(y.ne(y)));
    const auto joined = [&](const Tensor& t) {
      return lamella::cat({slice(t, d, 0, step), lamella::where(later, late(t), early(t))}, d);
    };
    best = joined(best);
    at = joined(at);
  }
  return {self.gather(d, at), at};
}

// Returns the logarithms of the running sums of exponentials, with the turns of running_extreme().
Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  check_floating("self", self.dtype());
  if (self.dim() == 0) return self.clone();
  const int64_t n = self.size(d);
  Tensor y = as(self, wide_of(self.dtype()));
  for (int64_t step = 1; step < n; step *= 2)
    y = lamella::cat({slice(y, d, 0, step), lamella::logaddexp(slice(y, d, step, n), slice(y, d, 0, n - step))}, d);
  return n > 1 && y.dtype() == self.dtype() ? y : as(y, self.dtype()).clone();
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": a zero-dim tensor has no differences");
  const int64_t d = wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK(n >= 0, argument("n"), ": expected at least 0, got ", n);
  std::vector<Tensor> parts;
  for (const Tensor& t : {prepend, self, append})
    if (t.defined()) parts.push_back(t);
  Tensor x = parts.size() == 1 ? self : lamella::cat(parts, d);
  if (n == 0) return x.clone();
  for (int64_t i = 0; i < n && x.size(d) > 0; i++) {
    const int64_t length = x.size(d);
    const Tensor late = slice(x, d, 1, length), early = slice(x, d, 0, length - 1);
    x = x.dtype() == kBool ? late.logical_xor(early) : late - early;
  }
  return x;
}

// Returns the sums of neighbours times the distances between them: twice the areas of the trapezoids.
Tensor doubled_areas(const Tensor& y, const Tensor& x, int64_t d) {
  const int64_t n = y.size(d);
  Tensor width;
  if (x.dim() == 1) {
    LAMELLA_CHECK(x.size(0) == n, argument("x"), ": ", x.size(0), " points for ", n, " values along the dimension");
    DimVector sizes(y.dim(), 1);
    sizes[d] = std::max<int64_t>(n - 1, 0);
    width = lamella::diff(x, 1, 0).reshape(sizes);
  } else {
    LAMELLA_CHECK(x.dim() > 0 && x.dim() <= y.dim(), argument("x"), ": shape ", shape_text(x),
                  " gives no points for values of shape ", shape_text(y));
    Tensor points = x;
    while (points.dim() < y.dim()) points = points.unsqueeze(0);
    width = lamella::diff(points, 1, d);
  }
  return (slice(y, d, 0, n - 1) + slice(y, d, 1, n)) * width;
}

Tensor doubled_areas(const Tensor& y, const Scalar& dx, int64_t d) {
  const int64_t n = y.size(d);
  return (slice(y, d, 0, n - 1) + slice(y, d, 1, n)) * dx;
}

template <class Distance, bool Cumulative>
Tensor trapezoid(const Tensor& y, const Distance& x, int64_t dim) {
  LAMELLA_CHECK(y.dim() > 0, argument("y"), ": expected values along a dimension, got a zero-dim tensor");
  LAMELLA_CHECK(y.dtype() != kBool, argument("y"), ": bools are not integrated; convert them with .to(...)");
  const int64_t d = wrap_dim("dim", dim, y.dim());
  if (y.size(d) == 0) return Cumulative ? y.clone() : y.sum(d);
  const Tensor areas = doubled_areas(y, x, d);
  return Cumulative ? areas.cumsum(d) / 2 : areas.sum(d) / 2;
}

}  // namespace

LAMELLA_FAMILY(running, .category = "scan", .forms = everywhere | out, .dims = "keep") {
  return {
      {.schema = "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_running_extreme>,
       .composite = composite<running_extreme<true>>,
       .doc = R"(The largest element so far along a dimension, and where it stands; of equals the last. NaN wins.

>>> lamella.cummax(lamella.tensor([1, 3, 2]), 0)
lamella.return_types.cummax(values=tensor([1, 3, 3]), indices=tensor([0, 1, 1]))
)"},
      {.schema = "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_running_extreme>,
       .composite = composite<running_extreme<false>>,
       .doc = R"(The smallest element so far along a dimension, and where it stands; of equals the last. NaN wins.

>>> lamella.cummin(lamella.tensor([2, 3, 1]), 0).values
tensor([2, 2, 1])
)"},
      {.schema = "logcumsumexp(Tensor self, int dim) -> Tensor",
       .composite = composite<logcumsumexp>,
       .doc = R"(The logarithm of the running sum of exponentials along a dimension, without overflow.

>>> lamella.logcumsumexp(lamella.tensor([0., 0.]), 0)
tensor([0.0000, 0.6931])
)"},
      {.schema = "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
       .composite = composite<diff>,
       .doc = R"(The differences of neighbours along a dimension, `n` times; bools that differ give True.

Args:
    prepend, append: what is joined before and behind `self` first

>>> lamella.diff(lamella.tensor([1, 3, 2]))
tensor([ 2, -1])
)"},
      {.schema = "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
       .dims = "",
       .category = "reduction",
       .forms = function,
       .composite = composite<trapezoid<Tensor, false>>,
       .doc = R"(The integral along a dimension by trapezoids between the values `y` at points `x`, or `dx` apart.

>>> lamella.trapezoid(lamella.tensor([1., 2., 4.]))
tensor(4.5000)
)",
       .aliases = "trapz"},
      {.schema = "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
       .dims = "reduce",
       .category = "reduction",
       .forms = function,
       .composite = composite<trapezoid<Scalar, false>>},
      {.schema = "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
       .dims = "",
       .forms = function,
       .composite = composite<trapezoid<Tensor, true>>,
       .doc = R"(The integral by trapezoids from the first point to each further one, along a dimension.

>>> lamella.cumulative_trapezoid(lamella.tensor([1., 2., 4.]))
tensor([1.5000, 4.5000])
)"},
      {.schema = "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
       .forms = function,
       .composite = composite<trapezoid<Scalar, true>>},
  };
}

}  // namespace lamella::operators
