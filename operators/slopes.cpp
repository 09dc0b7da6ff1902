// gradient(): slopes of sampled values, by second-order differences.
//
// Note [Slopes]  Between neighbours at distances h before and k behind, the slope is that of the parabola through the
//   three values: -k / (h (h + k)) f(x - h) + (k - h) / (h k) f(x) + h / (k (h + k)) f(x + k). At an end it is the
//   difference to the neighbour (edge_order 1), or the slope of the parabola through the three values there
//   (edge_order 2). Quarteroni, Sacco and Saleri, Numerical Mathematics, chapter 10.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// The values and their points along one dimension: part(i, j) are those from place i to place j, counted from the end
// if negative.
struct Along {
  const Tensor& f;
  int64_t d;
  Tensor part(int64_t from, int64_t to) const { return slice(f, d, from, to <= 0 ? f.size(d) + to : to); }
};

// Slopes where neighbours are `h` apart.
Tensor even_slopes(const Along& at, const Tensor& f, const Scalar& h, int64_t edge_order) {
  const int64_t d = at.d, n = f.size(d);
  const Tensor inner = (at.part(2, 0) - at.part(0, -2)) / (h.toDouble() * 2);
  Tensor first, last;
  if (edge_order == 1) {
    first = (at.part(1, 2) - at.part(0, 1)) / h;
    last = (at.part(n - 1, 0) - at.part(n - 2, n - 1)) / h;
  } else {
    const double twice = h.toDouble() * 2;
    first = (at.part(1, 2) * 4 - at.part(0, 1) * 3 - at.part(2, 3)) / twice;
    last = (at.part(n - 1, 0) * 3 - at.part(n - 2, n - 1) * 4 + at.part(n - 3, n - 2)) / twice;
  }
  return lamella::cat({first, inner, last}, d);
}

// Slopes where the points are given.
Tensor slopes_at(const Along& at, const Tensor& f, const Tensor& points, int64_t edge_order) {
  const int64_t d = at.d, n = f.size(d);
  DimVector sizes(f.dim(), 1);
  sizes[d] = n - 1;
  const Tensor steps = lamella::diff(points).view(sizes);
  const auto step = [&](int64_t from, int64_t to) { return slice(steps, d, from, to); };
  const Tensor h = step(0, n - 2), k = step(1, n - 1);
  const Tensor inner = at.part(0, -2) * (-k / (h * (h + k))) + at.part(1, -1) * ((k - h) / (h * k)) +
                       at.part(2, 0) * (h / (k * (h + k)));
  const Tensor begin = step(0, 1), end = step(n - 2, n - 1);
  Tensor first, last;
  if (edge_order == 1) {
    first = (at.part(1, 2) - at.part(0, 1)) / begin;
    last = (at.part(n - 1, 0) - at.part(n - 2, n - 1)) / end;
  } else {
    const Tensor next = step(1, 2), before = step(n - 3, n - 2);
    first = at.part(0, 1) * (-(begin * 2 + next) / (begin * (begin + next))) +
            at.part(1, 2) * ((begin + next) / (begin * next)) - at.part(2, 3) * (begin / (next * (begin + next)));
    last = at.part(n - 3, n - 2) * (end / (before * (end + before))) -
           at.part(n - 2, n - 1) * ((end + before) / (before * end)) +
           at.part(n - 1, 0) * ((end * 2 + before) / (end * (end + before)));
  }
  return lamella::cat({first, inner, last}, d);
}

// Returns the dimensions as they were given, or all.
DimVector sampled_dims(const Tensor& self, std::optional<IntArrayRef> dim, int64_t edge_order) {
  LAMELLA_CHECK(edge_order == 1 || edge_order == 2, argument("edge_order"), ": expected 1 or 2, got ", edge_order);
  LAMELLA_CHECK(self.dtype() != kByte && self.dtype() != kBool, argument("self"), ": dtype ", self.dtype(),
                " has no negative differences; convert it with .to(...)");
  DimVector dims;
  if (dim) {
    wrap_dims("dim", *dim, self.dim());
    for (int64_t d : *dim) dims.push_back(wrap_dim("dim", d, self.dim()));
  } else {
    for (int64_t d = 0; d < self.dim(); d++) dims.push_back(d);
  }
  for (int64_t d : dims)
    LAMELLA_CHECK(self.dim() > 0 && self.size(d) >= edge_order + 1, argument("self"), ": dimension ", d,
                  " needs at least ", edge_order + 1, " values for edge_order ", edge_order, ", got shape ",
                  shape_text(self));
  return dims;
}

// Returns the slopes for one distance of all dimensions (`common`), or for one distance of each.
std::vector<Tensor> even_gradient(const Tensor& self, ArrayRef<Scalar> spacing, bool common,
                                  std::optional<IntArrayRef> dim, int64_t edge_order) {
  const DimVector dims = sampled_dims(self, dim, edge_order);
  LAMELLA_CHECK(spacing.size() == dims.size() || common, argument("spacing"), ": ", spacing.size(), " numbers for ",
                dims.size(), " dimensions");
  const Tensor f = is_integral(self.dtype()) ? self.to(default_dtype()) : self;
  std::vector<Tensor> all;
  for (size_t i = 0; i < dims.size(); i++)
    all.push_back(even_slopes({f, dims[i]}, f, spacing[common ? 0 : i], edge_order));
  return all;
}

std::vector<Tensor> at_points(const Tensor& self, TensorList spacing, std::optional<IntArrayRef> dim,
                              int64_t edge_order) {
  const DimVector dims = sampled_dims(self, dim, edge_order);
  LAMELLA_CHECK(spacing.size() == dims.size(), argument("spacing"), ": ", spacing.size(), " rows of points for ",
                dims.size(), " dimensions");
  const Tensor f = is_integral(self.dtype()) ? self.to(default_dtype()) : self;
  std::vector<Tensor> all;
  for (size_t i = 0; i < dims.size(); i++) {
    LAMELLA_CHECK(spacing[i].dim() == 1 && spacing[i].size(0) == self.size(dims[i]), argument("spacing"),
                  ": expected a row of ", self.size(dims[i]), " points for dimension ", dims[i], ", got shape ",
                  shape_text(spacing[i]));
    all.push_back(slopes_at({f, dims[i]}, f, spacing[i], edge_order));
  }
  return all;
}

std::optional<IntArrayRef> only(const std::optional<int64_t>& dim) {
  return dim ? std::optional(IntArrayRef(&*dim, 1)) : std::nullopt;
}

std::vector<Tensor> gradient_int(const Tensor& self, const std::optional<Scalar>& spacing, std::optional<int64_t> dim,
                                 int64_t edge_order) {
  const Scalar h = spacing.value_or(Scalar(1));
  return even_gradient(self, ArrayRef<Scalar>(&h, 1), true, only(dim), edge_order);
}
std::vector<Tensor> gradient_dims(const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order) {
  return even_gradient(self, ArrayRef<Scalar>(&spacing, 1), true, dim, edge_order);
}
std::vector<Tensor> gradient_of_dims(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return gradient_dims(self, Scalar(1), dim, edge_order);
}
std::vector<Tensor> gradient_list(const Tensor& self, const std::vector<Scalar>& spacing, std::optional<int64_t> dim,
                                  int64_t edge_order) {
  return even_gradient(self, spacing, false, only(dim), edge_order);
}
std::vector<Tensor> gradient_lists(const Tensor& self, const std::vector<Scalar>& spacing, IntArrayRef dim,
                                   int64_t edge_order) {
  return even_gradient(self, spacing, false, dim, edge_order);
}
std::vector<Tensor> gradient_points(const Tensor& self, TensorList spacing, std::optional<int64_t> dim,
                                    int64_t edge_order) {
  return at_points(self, spacing, only(dim), edge_order);
}
std::vector<Tensor> gradient_points_dims(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order) {
  return at_points(self, spacing, dim, edge_order);
}

}  // namespace

LAMELLA_FAMILY(slopes, .category = "scan", .forms = function) {
  return {
      {.schema =
           "gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_int>,
       .doc = R"(The slopes of sampled values along each dimension, or along those of `dim`: inside by the parabola
through three neighbours, at both ends by the nearest difference or parabola. Integers give the default dtype.

Args:
    spacing: the distance of neighbours, one for all dimensions or one for each; or the points of each dimension, rows
    edge_order: 1 takes two values at the ends, 2 takes three

Raises:
    RuntimeError: a dimension has too few values, or `spacing` does not fit the dimensions

>>> lamella.gradient(lamella.tensor([1., 2., 4., 7.]))[0]
tensor([1.0000, 1.5000, 2.5000, 3.0000])
)"},
      {.schema = "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_dims>},
      {.schema = "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_of_dims>},
      {.schema = "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_list>},
      {.schema = "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_lists>},
      {.schema =
           "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_points>},
      {.schema = "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
       .composite = composite<gradient_points_dims>},
  };
}

}  // namespace lamella::operators
