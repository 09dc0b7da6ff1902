// Statistics of samples: counts, histograms, quantiles, modes, covariances.
#include "operators/indexing.h"

#include <cmath>

#include "operators/sort.h"

namespace lamella::operators {
namespace {

// ---- counts -----------------------------------------------------------------------------------------------------

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(is_integral(self.dtype()), argument("self"), ": expected integers, got dtype ",
                                self.dtype());
  LAMELLA_CHECK(self.dim() == 1, argument("self"), ": expected one dimension, got shape ", shape_text(self));
  LAMELLA_CHECK(minlength >= 0, argument("minlength"), ": expected at least 0, got ", minlength);
  LAMELLA_CHECK(!weights.defined() || weights.sizes() == self.sizes(), argument("weights"),
                ": expected the shape of 'self', ", shape_text(self), ", got ", shape_text(weights));
  int64_t bins = minlength;
  const Tensor at = self.to(kLong);
  if (at.numel() > 0) {
    const auto [least, most] = lamella::aminmax(at);
    const int64_t negative = least.item().toLong();
    LAMELLA_CHECK(negative >= 0, argument("self"), ": expected no negative numbers, got ", negative);
    bins = std::max(bins, most.item().toLong() + 1);
  }
  if (!weights.defined()) return lamella::zeros({bins}, at.options()).scatter_add(0, at, lamella::ones_like(at));
  const ScalarType t = weights.dtype() == kFloat ? kFloat : kDouble;
  return lamella::zeros({bins}, self.options().dtype(t)).scatter_add(0, at, weights.to(t));
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), argument("self"), ": expected a floating dtype, got ",
                                self.dtype());
  LAMELLA_CHECK(bins > 0, argument("bins"), ": expected a positive number, got ", bins);
  double low = min.toDouble(), high = max.toDouble();
  const Tensor x = self.detach().reshape({self.numel()}).to(kDouble);
  if (low == high && x.numel() > 0) {
    const auto [least, most] = lamella::aminmax(x);
    low = least.item().toDouble();
    high = most.item().toDouble();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  LAMELLA_CHECK(std::isfinite(low) && std::isfinite(high), "the range of the bins, ", low, " to ", high,
                ", is not finite");
  LAMELLA_CHECK(low < high, argument("max"), ": the range from ", low, " ('min') to ", high,
                " ('max') is empty; 'min' must not be larger than 'max'");
  // Elements outside of the range, NaN too, go to one more bin at the end.
  const Tensor inside = (x >= low).logical_and(x <= high);
  const Tensor scaled = ((x - low) * (bins / (high - low))).masked_fill(inside.logical_not(), 0);
  const Tensor at = lamella::where(inside, scaled.to(kLong).clamp(0, bins - 1), Scalar(bins));
  const Tensor counts = lamella::zeros({bins + 1}, at.options()).scatter_add(0, at, lamella::ones_like(at));
  return slice(counts, 0, 0, bins).to(self.dtype());
}

// ---- ranks in the sorted row --------------------------------------------------------------------------------------

// Moves the dimension to the end; without one, all elements are one row. A zero-dim tensor is a row of one.
Tensor rows(const Tensor& self, std::optional<int64_t> dim) {
  if (!dim || self.dim() == 0) return self.reshape({self.numel()});
  return self.movedim(*dim, -1);
}

Tensor quantile_by(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation, bool skips) {
  LAMELLA_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, argument("self"),
                ": expected dtype float32 or float64, got ", self.dtype());
  LAMELLA_CHECK(q.dtype() == self.dtype(), argument("q"), ": dtype ", q.dtype(), " is not that of 'self', ",
                self.dtype());
  LAMELLA_CHECK(q.dim() <= 1, argument("q"), ": expected a number or a row, got shape ", shape_text(q));
  LAMELLA_CHECK(self.numel() > 0, argument("self"), ": an empty tensor has no quantiles, got shape ", shape_text(self));
  const bool linear = interpolation == "linear", middle = interpolation == "midpoint";
  LAMELLA_CHECK(linear || middle || interpolation == "lower" || interpolation == "higher" || interpolation == "nearest",
                argument("interpolation"), ": expected 'linear', 'lower', 'higher', 'midpoint' or 'nearest', got '",
                interpolation, "'");
  if (dim) *dim = wrap_dim("dim", *dim, self.dim());
  if (!q.is_meta() && q.numel() > 0)
    LAMELLA_CHECK((q >= 0).logical_and(q <= 1).all().item().toBool(), argument("q"),
                  ": expected numbers between 0 and 1");
  // Ranks are float64: float32 has too few digits for a long row.
  const Tensor sorted = std::get<0>(rows(self, dim).sort(-1)), points = q.reshape({q.numel()}).to(kDouble);
  Tensor last;  // the place of the largest element of each row that is not NaN
  Tensor rank;
  const int64_t n = sorted.size(-1);
  if (skips) {
    last = (sorted.eq(sorted).sum(-1, true) - 1).clamp_min(0).to(kDouble);
    rank = points * last;
  } else {
    const Tensor broken = slice(sorted, -1, n - 1, n).isnan();
    rank = lamella::where(broken, Scalar(static_cast<double>(n - 1)), points * static_cast<double>(n - 1));
  }
  if (interpolation == "lower") rank = rank.floor();
  if (interpolation == "higher") rank = rank.ceil();
  if (interpolation == "nearest") rank = rank.round();
  const Tensor below = rank.to(kLong);
  Tensor picked = sorted.gather(-1, below);
  if (linear || middle) {
    const Tensor above = sorted.gather(-1, rank.ceil().to(kLong));
    picked = middle ? lamella::lerp(picked, above, 0.5) : lamella::lerp(picked, above, (rank - below).to(self.dtype()));
  }
  picked = picked.movedim(-1, 0);
  if (keepdim && dim && self.dim() > 0) picked = picked.unsqueeze(*dim + 1);
  if (keepdim && !dim) {
    DimVector sizes(self.dim() + 1, 1);
    sizes[0] = points.numel();
    picked = picked.reshape(sizes);
  }
  return q.dim() == 0 ? picked.select(0, 0) : picked;
}

template <bool Skips>
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantile_by(self, q, dim, keepdim, interpolation, Skips);
}
template <bool Skips>
Tensor quantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  LAMELLA_CHECK(q >= 0 && q <= 1, argument("q"), ": expected a number between 0 and 1, got ", q);
  return quantile_by(self, lamella::full({}, q, self.options()), dim, keepdim, interpolation, Skips);
}

// Describes one element along a dimension, and its index.
void infer_one_along(const Tensor& self, int64_t dim, bool keepdim, Output values, Output indices) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK(!is_complex(self.dtype()), argument("self"), ": complex numbers have no order, got ", self.dtype());
  LAMELLA_CHECK_INDEX(self.dim() == 0 || self.size(d) > 0, argument("dim"), ": dimension ", d, " has no elements");
  set_picked(self, d, keepdim, values, indices);
}

// Returns the lower of the two middle elements among those that are not NaN, and its index.
std::tuple<Tensor, Tensor> nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return {self.clone(), lamella::zeros({}, self.options().dtype(kLong))};
  const int64_t d = wrap_dim("dim", dim, self.dim());
  const auto [sorted, order] = self.sort(std::optional<bool>(true), d);
  const Tensor middle = (sorted.eq(sorted).sum(d, true) - 1).clamp_min(0).floor_divide(2);
  const Tensor at = order.gather(d, middle), values = self.gather(d, at);
  if (keepdim) return {values, at};
  return {values.squeeze(d), at.squeeze(d)};
}

Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return lamella::full({}, std::nan(""), self.options());
  return std::get<0>(nanmedian_dim(self.reshape({self.numel()}), 0, false));
}

// Returns the value that occurs most often (of several, the smallest) and the index of its last occurrence.
std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return {self.clone(), lamella::zeros({}, self.options().dtype(kLong))};
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = self.size(d);
  const auto [sorted, order] = self.detach().sort(std::optional<bool>(true), d);
  DimVector sizes(self.dim(), 1);
  sizes[d] = n;
  const Tensor place = lamella::arange(0, n, 1, order.options()).view(sizes).expand(order.sizes());
  const Tensor first = lamella::zeros_like(slice(order, d, 0, 1));
  const Tensor begins = slice(sorted, d, 1, n).ne(slice(sorted, d, 0, n - 1));
  Tensor start = lamella::cat({first, lamella::where(begins, slice(place, d, 1, n), Scalar(0))}, d);
  for (int64_t step = 1; step < n; step *= 2)
    start = lamella::cat({slice(start, d, 0, step), slice(start, d, step, n).maximum(slice(start, d, 0, n - step))}, d);
  const Tensor run = place - start;  // the number of equal elements just before each place
  const Tensor at = order.gather(d, run.argmax(d, true)), values = self.gather(d, at);
  if (keepdim) return {values, at};
  return {values.squeeze(d), at.squeeze(d)};
}

// ---- covariance ---------------------------------------------------------------------------------------------------

void check_weights(const char* name, const Tensor& w, int64_t count) {
  LAMELLA_CHECK(w.dim() <= 1 && (w.dim() == 0 ? 1 : w.size(0)) == count, argument(name), ": expected ", count,
                " weights, got shape ", shape_text(w));
  if (!w.is_meta() && w.numel() > 0)
    LAMELLA_CHECK(!(w < 0).any().item().toBool(), argument(name), ": expected no negative weights");
}

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  LAMELLA_CHECK(self.dim() <= 2, argument("self"), ": expected at most 2 dimensions, got shape ", shape_text(self));
  LAMELLA_CHECK(self.dtype() != kBool, argument("self"), ": bools have no covariance; convert them with .to(...)");
  const Tensor x = self.dim() < 2 ? self.reshape({1, self.numel()}) : self;
  const int64_t count = x.size(1);
  Tensor w;
  if (fweights.defined()) {
    LAMELLA_CHECK(is_integral(fweights.dtype()), argument("fweights"), ": expected integers, got dtype ",
                  fweights.dtype());
    check_weights("fweights", fweights, count);
    w = fweights;
  }
  if (aweights.defined()) {
    LAMELLA_CHECK(is_floating_point(aweights.dtype()), argument("aweights"), ": expected a floating dtype, got ",
                  aweights.dtype());
    check_weights("aweights", aweights, count);
    w = w.defined() ? w * aweights : aweights;
  }
  if (!w.defined()) {
    const Tensor wide = is_integral(x.dtype(), true) ? x.to(default_dtype()) : x;
    const Tensor centred = wide - wide.mean(1, true);
    const double freedom = std::max<int64_t>(count - correction, 0);
    return (centred.mm(centred.t().conj()) / freedom).squeeze();
  }
  const Tensor total = w.sum(), centred = x - ((x * w).sum(1) / total).unsqueeze(1);
  const Tensor freedom =
      aweights.defined() && correction != 0 ? total - (w * aweights).sum() / total * correction : total - correction;
  const Tensor weighted = centred * w;
  return (as(centred, weighted.dtype()).mm(weighted.t().conj()) / freedom.clamp_min(0)).squeeze();
}

Tensor corrcoef(const Tensor& self) {
  const Tensor c = lamella::cov(self, 1);
  if (c.dim() == 0) return c / c;
  const Tensor d = c.diagonal();
  const Tensor spread = (is_complex(d.dtype()) ? d.real() : d).sqrt();
  const Tensor r = c / spread.unsqueeze(1) / spread.unsqueeze(0);
  if (!is_complex(r.dtype())) return r.clamp(-1, 1);
  return lamella::complex(r.real().clamp(-1, 1), r.imag().clamp(-1, 1));
}

#define QUANTILE "int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"

}  // namespace

LAMELLA_FAMILY(statistics, .category = "reduction", .forms = everywhere | out, .dims = "reduce") {
  return {
      {.schema = "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
       .dims = "i, i -> b",
       .forms = everywhere,
       .composite = composite<bincount>,
       .doc = R"(How often each integer from 0 to the largest stands in a row, or the sum of its weights.

>>> lamella.bincount(lamella.tensor([0, 2, 2]))
tensor([1, 0, 2])
)"},
      {.schema = "histc(Tensor self, SymInt bins=100, Scalar min=0, Scalar max=0) -> Tensor",
       .dims = "... -> b",
       .composite = composite<histc>,
       .doc = R"(How many elements lie in each of `bins` equal parts of the range from `min` to `max`, or of that of
the data where the two are equal. What lies outside does not count.

>>> lamella.histc(lamella.tensor([1., 2., 1.]), bins=4, min=0, max=3)
tensor([0., 2., 1., 0.])
)"},
      {.schema = "quantile(Tensor self, Tensor q, " QUANTILE,
       .dims = "",
       .composite = composite<quantile<false>>,
       .doc = R"(The elements below which the fractions `q` of the sorted elements lie, along a dimension or of all;
the results for a row of `q` are the first dimension. NaN gives NaN.

Args:
    interpolation: 'linear', 'lower', 'higher', 'midpoint' or 'nearest', for a place between two elements

>>> lamella.quantile(lamella.tensor([0., 1., 2., 3.]), 0.5)
tensor(1.5000)
)"},
      {.schema = "quantile.scalar(Tensor self, float q, " QUANTILE, .composite = composite<quantile_number<false>>},
      {.schema = "nanquantile(Tensor self, Tensor q, " QUANTILE,
       .dims = "",
       .composite = composite<quantile<true>>,
       .doc = R"(quantile() of what is not NaN.

>>> lamella.nanquantile(lamella.tensor([float('nan'), 1., 2.]), 0.5)
tensor(1.5000)
)"},
      {.schema = "nanquantile.scalar(Tensor self, float q, " QUANTILE, .composite = composite<quantile_number<true>>},
      {.schema = "nanmedian(Tensor self) -> Tensor",
       .forms = everywhere,
       .composite = composite<nanmedian>,
       .doc = R"(The median of what is not NaN, the lower of two; along a dimension with its index.

>>> lamella.nanmedian(lamella.tensor([float('nan'), 1., 2.]))
tensor(1.)
)"},
      {.schema = "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_one_along>,
       .composite = composite<nanmedian_dim>},
      {.schema = "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_one_along>,
       .composite = composite<mode>,
       .doc = R"(The most frequent element along a dimension, of several the smallest, and where it stands last.

>>> lamella.mode(lamella.tensor([3, 1, 3]))
lamella.return_types.mode(values=tensor(3), indices=tensor(2))
)"},
      {.schema = "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
       .dims = "",  // one row gives a number
       .forms = everywhere,
       .composite = composite<cov>,
       .doc = R"(The covariances of variables in rows, each with its observations in columns.

Args:
    fweights: how often each observation was made
    aweights: how much each observation counts

>>> lamella.cov(lamella.tensor([[0., 1., 2.], [2., 1., 0.]]))
tensor([[ 1., -1.],
        [-1.,  1.]])
)"},
      {.schema = "corrcoef(Tensor self) -> Tensor",
       .dims = "",  // one row gives a number
       .forms = everywhere,
       .composite = composite<corrcoef>,
       .doc = R"(Pearson's correlations of variables in rows, each with its observations in columns.

>>> lamella.corrcoef(lamella.tensor([[0., 1., 2.], [2., 1., 0.]]))
tensor([[ 1., -1.],
        [-1.,  1.]])
)"},
  };
}

}  // namespace lamella::operators
