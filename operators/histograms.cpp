// Histograms: the numbers of elements, or the sums of their weights, in the bins of one dimension or of several.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

using Edges = std::vector<Tensor>;  // for each dimension of the data, in order

// The bins of one dimension. `low` and `high` are the ends of bins of one width that is far above the rounding of the
// edges; both are 0 for other bins.
struct Bins {
  Tensor edges;
  double low = 0, high = 0;
};

void check_data(const Tensor& self, const Tensor& weight, IntArrayRef rows) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), argument("self"), ": expected a floating dtype, got ",
                                self.dtype());
  if (!weight.defined()) return;
  LAMELLA_CHECK(weight.dtype() == self.dtype(), argument("weight"), ": dtype ", weight.dtype(),
                " is not that of 'self', ", self.dtype());
  LAMELLA_CHECK(weight.sizes() == rows, argument("weight"), ": expected one weight for each element, in shape ",
                shape_text(rows), ", got ", shape_text(weight));
}

// Returns the extremes of a column of the data, or 0 and 1 without data.
std::pair<double, double> range_of(const Tensor& column) {
  if (column.numel() == 0) return {0, 1};
  const auto [least, most] = lamella::aminmax(column);
  return {least.item().toDouble(), most.item().toDouble()};
}

// Returns equal bins in each dimension; without a range, between the extremes of the data.
std::vector<Bins> equal_bins(const Tensor& rows, IntArrayRef bins, std::optional<ArrayRef<double>> range) {
  const int64_t dims = rows.size(1);
  if (range)
    LAMELLA_CHECK(static_cast<int64_t>(range->size()) == 2 * dims, argument("range"), ": expected ", 2 * dims,
                  " numbers, the two ends of each dimension, got ", range->size());
  std::vector<Bins> all;
  for (int64_t d = 0; d < dims; d++) {
    LAMELLA_CHECK(bins[d] > 0, argument("bins"), ": expected a positive number, got ", bins[d]);
    auto [low, high] = range ? std::pair((*range)[2 * d], (*range)[2 * d + 1]) : range_of(rows.select(1, d));
    LAMELLA_CHECK(std::isfinite(low) && std::isfinite(high), argument("range"), ": the range from ", low, " to ", high,
                  " is not finite");
    LAMELLA_CHECK(low <= high, argument("range"), ": it begins at ", low, ", behind its end, ", high);
    if (low == high) {
      low -= 0.5;
      high += 0.5;
    }
    Bins made{lamella::linspace(low, high, bins[d] + 1, rows.options())};
    const double span = high - low, width = span / static_cast<double>(bins[d]);
    const double rounding = rows.dtype() == kDouble ? 0x1p-52 : rows.dtype() == kFloat ? 0x1p-23 : 1;
    const bool moderate = span > 1e-30 && span < 1e30;  // float32 holds such a span and its inverse
    if (moderate && width > 64 * rounding * std::max(std::fabs(low), std::fabs(high))) {
      made.low = low;
      made.high = high;
    }
    all.push_back(made);
  }
  return all;
}

// Returns the bin of each element; any bin for one that lies outside. In bins of one width, the bin by division is off
// by one at most, which its edges show.
Tensor bin_of(const Tensor& x, const Bins& b) {
  const int64_t count = b.edges.numel() - 1, last = std::max<int64_t>(count - 1, 0);
  if (b.low == b.high) return (lamella::bucketize(x, b.edges, false, true) - 1).clamp(0, last);
  const Tensor near = ((x - b.low) * (static_cast<double>(count) / (b.high - b.low))).to(kLong).clamp(0, last);
  const Tensor below = x < b.edges.index_select(0, near), above = x >= b.edges.index_select(0, near + 1);
  return (near - below.to(kLong) + above.to(kLong)).clamp(0, last);
}

void check_edges(const Tensor& self, const Tensor& edges) {
  LAMELLA_CHECK(edges.dtype() == self.dtype(), argument("bins"), ": dtype ", edges.dtype(), " is not that of 'self', ",
                self.dtype());
  LAMELLA_CHECK(edges.dim() == 1 && edges.numel() > 1, argument("bins"),
                ": expected a row of at least two edges, got shape ", shape_text(edges));
  if (!edges.is_meta())
    LAMELLA_CHECK(lamella::diff(edges).ge(0).all().item().toBool(), argument("bins"),
                  ": the edges must ascend from one to the next");
}

// Counts the rows whose element in each dimension lies in a bin. Bins contain their first edge and not their last one;
// the last bin contains both. Elements outside, and NaN, go to one more place at the end, which is left out.
Tensor in_bins(const Tensor& rows, const std::vector<Bins>& bins, const Tensor& weight, bool density) {
  const TensorOptions numbers = rows.options().dtype(kDouble);
  DimVector sizes;
  int64_t places = 1;
  Tensor at, inside;
  for (size_t d = 0; d < bins.size(); d++) {
    const Tensor &e = bins[d].edges, x = rows.select(1, static_cast<int64_t>(d)).contiguous();
    const int64_t count = e.numel() - 1;
    sizes.push_back(count);
    check_sizes("bins", sizes, kDouble);
    places *= count;
    const Tensor within = (x >= e.select(0, 0)).logical_and(x <= e.select(0, count)), bin = bin_of(x, bins[d]);
    at = d == 0 ? bin : at * count + bin;
    inside = d == 0 ? within : inside.logical_and(within);
  }
  at = lamella::where(inside, at, Scalar(places));
  const Tensor amount = weight.defined() ? weight.reshape({-1}).to(kDouble) : lamella::ones({rows.size(0)}, numbers);
  Tensor hist = slice(lamella::zeros({places + 1}, numbers).scatter_add(0, at, amount), 0, 0, places).view(sizes);
  if (!density) return hist.to(rows.dtype());
  hist = hist / hist.sum();
  for (size_t d = 0; d < bins.size(); d++) {
    DimVector along(bins.size(), 1);
    along[d] = sizes[d];
    hist = hist / lamella::diff(bins[d].edges.to(kDouble)).view(along);
  }
  return hist.to(rows.dtype());
}

// ---- of all elements ----

Tensor as_column(const Tensor& self) { return self.reshape({self.numel(), 1}); }

std::tuple<Tensor, Tensor> counted_by_edges(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                            bool density) {
  check_data(self, weight, self.sizes());
  check_edges(self, bins);
  const Tensor edges = bins.clone();
  return {in_bins(as_column(self), {{edges}}, weight, density), edges};
}

std::tuple<Tensor, Tensor> counted_elements(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                                            const Tensor& weight, bool density) {
  check_data(self, weight, self.sizes());
  const std::vector<Bins> all = equal_bins(as_column(self), {bins}, range);
  return {in_bins(as_column(self), all, weight, density), all[0].edges};
}

// ---- of points ----

// Returns the points as rows; each has a coordinate in each dimension.
Tensor as_rows(const Tensor& self, const Tensor& weight, int64_t dims) {
  LAMELLA_CHECK(self.dim() >= 2, argument("self"), ": expected points in the last of at least 2 dimensions, got shape ",
                shape_text(self));
  LAMELLA_CHECK(dims == self.size(-1), argument("bins"), ": ", dims, " dimensions of bins for points with ",
                self.size(-1), " coordinates");
  check_data(self, weight, {self.sizes().data(), static_cast<size_t>(self.dim() - 1)});
  const int64_t points = self.size(-1) ? self.numel() / self.size(-1) : 0;
  return self.reshape({points, self.size(-1)});
}

Edges edges_of(const std::vector<Bins>& bins) {
  Edges all;
  for (const Bins& b : bins) all.push_back(b.edges);
  return all;
}

std::tuple<Tensor, Edges> counted_points(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range,
                                         const Tensor& weight, bool density) {
  const Tensor rows = as_rows(self, weight, static_cast<int64_t>(bins.size()));
  const std::vector<Bins> all = equal_bins(rows, bins, range);
  return {in_bins(rows, all, weight, density), edges_of(all)};
}

std::tuple<Tensor, Edges> counted_points_alike(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                                               const Tensor& weight, bool density) {
  const DimVector all(self.dim() ? self.size(-1) : 0, bins);
  return counted_points(self, all, range, weight, density);
}

std::tuple<Tensor, Edges> counted_points_by_edges(const Tensor& self, TensorList bins,
                                                  std::optional<ArrayRef<double>> range, const Tensor& weight,
                                                  bool density) {
  LAMELLA_CHECK(!range, argument("range"), ": the edges in 'bins' are the ranges already");
  const Tensor rows = as_rows(self, weight, static_cast<int64_t>(bins.size()));
  std::vector<Bins> all;
  for (const Tensor& e : bins) {
    check_edges(self, e);
    all.push_back({e.clone()});
  }
  return {in_bins(rows, all, weight, density), edges_of(all)};
}

#define WEIGHTS "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"
#define POINT_WEIGHTS \
  "float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)"

}  // namespace

LAMELLA_FAMILY(histograms, .category = "reduction", .forms = everywhere | out) {
  return {
      {.schema = "histogram.bins_tensor(Tensor self, Tensor bins, *, " WEIGHTS,
       .composite = composite<counted_by_edges>,
       .doc = R"(The number of elements in each bin, in the dtype of `self`, and the edges of the bins. A bin contains
its first edge and not its last one; the last bin contains both. Elements outside of the bins and NaN do not count.

Args:
    bins: the edges of the bins, which ascend, or the number of equal bins
    range: the first and the last edge of equal bins; else the extremes of the data
    weight: the number that each element adds to its bin; 1 by default
    density: divides by the sum of all and by the widths, so that the integral over all bins is 1

Raises:
    NotImplementedError: the dtype is not floating
    RuntimeError: the edges do not ascend, the range is not finite, or the weights do not fit

>>> lamella.histogram(lamella.tensor([1., 2., 1.]), bins=4, range=(0., 3.)).hist
tensor([0., 2., 1., 0.])
)"},
      {.schema = "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, " WEIGHTS,
       .composite = composite<counted_elements>},
      {.schema = "histogramdd(Tensor self, int[] bins, " POINT_WEIGHTS,
       .forms = function,
       .composite = composite<counted_points>,
       .doc = R"(The number of points, whose coordinates are the last dimension, in each box of a grid, and the edges of
the bins in each dimension. See histogram().

Args:
    bins: the numbers of equal bins, the edges of the bins of each dimension, or one number for all dimensions
    range: the first and the last edge of each dimension, one dimension after the other; else the extremes of the data

>>> points = lamella.tensor([[0., 1.], [1., 0.], [1., 1.]])
>>> lamella.histogramdd(points, bins=[2, 2], weight=lamella.tensor([1., 2., 4.])).hist
tensor([[0., 1.],
        [2., 4.]])
)"},
      {.schema = "histogramdd.int_bins(Tensor self, int bins, " POINT_WEIGHTS,
       .forms = function,
       .composite = composite<counted_points_alike>},
      {.schema = "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, " POINT_WEIGHTS,
       .forms = function,
       .composite = composite<counted_points_by_edges>},
  };
}

}  // namespace lamella::operators
