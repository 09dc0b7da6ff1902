// Distances and similarities of vectors: along a dimension, of all pairs of rows, and bilinear products of two vectors.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// ---- of two tensors, element by element along a dimension -----------------------------------------------------------

// Returns the norm, at least eps; a smaller norm keeps its gradient.
Tensor at_least(const Tensor& norm, double eps) { return lamella::where(norm < eps, norm - norm.detach() + eps, norm); }

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  LAMELLA_CHECK(eps >= 0, argument("eps"), ": must not be negative, got ", eps);
  const auto both = lamella::broadcast_tensors({x1, x2});
  core::ResultType common;
  common.add_dtype(core_dtype(x1.dtype()), x1.dim() > 0);
  common.add_dtype(core_dtype(x2.dtype()), x2.dim() > 0);
  const auto t = static_cast<ScalarType>(common.get());
  LAMELLA_CHECK(is_floating_point(t), argument("x1"),
                ": expected common dtype to be floating point, yet common dtype is ", t, "; convert one with .to(...)");
  const Tensor a = as(both[0], wide_of(t)), b = as(both[1], wide_of(t));
  const int64_t d = wrap_dim("dim", dim, a.dim());
  auto unit = [&](const Tensor& x) { return x / at_least(x.linalg_vector_norm(2, DimVector{d}, true), eps); };
  return as((unit(a) * unit(b)).sum(DimVector{d}), t);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const Tensor d = x1 - x2 + eps;
  return d.linalg_vector_norm(p, DimVector{-1}, keepdim);
}

// ---- of all pairs of rows -------------------------------------------------------------------------------------------

// In the default compute_mode, more rows than this have their Euclidean distances from a product of matrices, as in
// torch.
constexpr int64_t rows_by_difference = 25;

bool by_product(const Tensor& x1, const Tensor& x2, double p, std::string_view mode) {
  if (mode == "use_mm_for_euclid_dist") return p == 2;
  if (mode == "donot_use_mm_for_euclid_dist") return false;
  LAMELLA_CHECK_VALUE(mode == "use_mm_for_euclid_dist_if_necessary", argument("compute_mode"),
                      ": expected 'use_mm_for_euclid_dist_if_necessary', 'use_mm_for_euclid_dist' or "
                      "'donot_use_mm_for_euclid_dist', got '",
                      mode, "'");
  return p == 2 && (x1.size(-2) > rows_by_difference || x2.size(-2) > rows_by_difference);
}

void check_power(double p) {
  LAMELLA_CHECK(p >= 0, argument("p"), ": only non-negative p values have a distance, got ", p);
}

void infer_cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode, Output out) {
  for (const auto& [name, x] : {std::pair{"x1", &x1}, {"x2", &x2}}) {
    check_floating(name, x->dtype());
    LAMELLA_CHECK(x->dim() >= 2, argument(name), ": cdist only supports at least 2D tensors, got shape ",
                  shape_text(*x));
  }
  LAMELLA_CHECK(x1.size(-1) == x2.size(-1), argument("x2"), ": expected ", x1.size(-1),
                " columns, as 'x1' has, got shape ", shape_text(x2));
  LAMELLA_CHECK(x1.dtype() == x2.dtype(), argument("x2"), ": its dtype ", x2.dtype(), " is not that of x1, ",
                x1.dtype(), "; convert one with .to(...)");
  check_power(p);
  (void)by_product(x1, x2, p, compute_mode);
  DimVector sizes(IntArrayRef(x1.sizes().data(), x1.sizes().size() - 2));
  LAMELLA_CHECK(broadcast(&sizes, IntArrayRef(x2.sizes().data(), x2.sizes().size() - 2)), argument("x2"), ": shape ",
                shape_text(x2), " does not broadcast with x1 of shape ", shape_text(x1),
                " before the last two dimensions");
  sizes.push_back(x1.size(-2));
  sizes.push_back(x2.size(-2));
  out.set(sizes, x1.dtype());
}

// Returns |a - b| for all pairs of rows: |a - b|^2 = |a|^2 - 2 a b + |b|^2 is one product of matrices.
Tensor euclidean(const Tensor& a, const Tensor& b) {
  const Tensor a2 = (a * a).sum(DimVector{-1}, true), b2 = (b * b).sum(DimVector{-1}, true);
  const Tensor left = lamella::cat({a * -2, a2, lamella::ones_like(a2)}, -1);
  const Tensor right = lamella::cat({b, lamella::ones_like(b2), b2}, -1);
  return left.matmul(right.transpose(-2, -1)).clamp_min(0).sqrt();
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode) {
  const ScalarType t = wide_of(x1.dtype());
  const Tensor a = as(x1, t), b = as(x2, t);
  const Tensor made = by_product(x1, x2, p, compute_mode)
                          ? euclidean(a, b)
                          : (a.unsqueeze(-2) - b.unsqueeze(-3)).linalg_vector_norm(p, DimVector{-1});
  return as(made, x1.dtype());
}

Tensor pdist(const Tensor& self, double p) {
  LAMELLA_CHECK(self.dim() == 2, argument("self"), ": pdist only supports 2D tensors, got shape ", shape_text(self));
  check_floating("self", self.dtype());
  check_power(p);
  const int64_t n = self.size(0);
  const Tensor all = lamella::cdist(self, self, p, "donot_use_mm_for_euclid_dist");
  // The pairs of row i with the n - 1 - i later rows are at places below ends[i].
  const TensorOptions counting = self.options().dtype(kLong);
  const Tensor i = lamella::arange(n, counting), k = lamella::arange(n * (n - 1) / 2, counting);
  const Tensor ends = ((i + 1) * (2 * n - 2 - i)).floor_divide(2);
  const Tensor row = ends.searchsorted(k, false, true);
  const Tensor column = k - (row * (2 * n - 1 - row)).floor_divide(2) + row + 1;
  return all.reshape({-1}).index_select(0, row * n + column);
}

// ---- products of two vectors ----------------------------------------------------------------------------------------

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  LAMELLA_CHECK(weight.dim() == 3, argument("weight"), ": expected (out, in1, in2), got shape ", shape_text(weight));
  LAMELLA_CHECK(input1.dim() > 0 && input1.dim() == input2.dim(), argument("input2"),
                ": input dimensions do not match: got ", input1.dim(), " and ", input2.dim());
  for (int64_t d = 0; d + 1 < input1.dim(); d++)
    LAMELLA_CHECK(input1.size(d) == input2.size(d), argument("input2"), ": input batch dimensions do not match at dim ",
                  d, ": got ", input1.size(d), " and ", input2.size(d));
  LAMELLA_CHECK(input1.size(-1) == weight.size(1), argument("input1"), ": input1 size does not match weight size: got ",
                input1.size(-1), " but expected ", weight.size(1));
  LAMELLA_CHECK(input2.size(-1) == weight.size(2), argument("input2"), ": input2 size does not match weight size: got ",
                input2.size(-1), " but expected ", weight.size(2));
  LAMELLA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)), argument("bias"), ": expected ",
                weight.size(0), " numbers, one for each output, got shape ", bias.defined() ? shape_text(bias) : "");
  LAMELLA_CHECK(input1.dtype() == input2.dtype() && input1.dtype() == weight.dtype(), argument("weight"),
                ": all tensors must have the same dtype, got input1: ", input1.dtype(), ", input2: ", input2.dtype(),
                ", weight: ", weight.dtype());
  const ScalarType t = wide_of(weight.dtype());
  DimVector sizes(input1.sizes());
  sizes.back() = weight.size(0);
  const Tensor a = as(input1, t).reshape({input1.numel() / std::max<int64_t>(weight.size(1), 1), weight.size(1)});
  const Tensor b = as(input2, t).reshape({a.size(0), weight.size(2)});
  const Tensor by_first = as(weight, t).permute({1, 0, 2}).reshape({weight.size(1), weight.size(0) * weight.size(2)});
  const Tensor each = a.matmul(by_first).reshape({a.size(0), weight.size(0), weight.size(2)});
  const Tensor y = each.matmul(b.unsqueeze(-1)).reshape(sizes);
  return as(bias.defined() ? y + as(bias, t) : y, weight.dtype());
}

}  // namespace

LAMELLA_FAMILY(distance, .category = "matmul", .forms = function) {
  return {
      {.schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
       .dims = "reduce",
       .category = "reduction",
       .composite = composite<cosine_similarity>,
       .doc = R"(The cosine of the angle of the vectors along `dim`: their product, each divided by its norm or by
`eps`, whichever is larger.

>>> lamella.cosine_similarity(lamella.tensor([3., 4.]), lamella.tensor([1., 0.]), 0)
tensor(0.6000)
)"},
      {.schema = "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
       .category = "reduction",
       .composite = composite<pairwise_distance>,
       .doc = R"(The norm of order `p` of x1 - x2 + eps along the last dimension.

>>> lamella.pairwise_distance(lamella.tensor([3., 4.]), lamella.zeros(2))
tensor(5.0000)
)"},
      {.schema =
           "cdist(Tensor x1, Tensor x2, float p=2, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
       .dims = "... i d, ... j d -> ... i j",
       .infer = shape<infer_cdist>,
       .composite = composite<cdist>,
       .doc = R"(The distances of order `p` between all rows of two batches of matrices: (..., P, M) and (..., R, M)
give (..., P, R).

Args:
    compute_mode: whether Euclidean distances come from a product of matrices, which is faster and
        less exact: where there are more than 25 rows, 'use_mm_for_euclid_dist' always,
        'donot_use_mm_for_euclid_dist' never

Raises:
    RuntimeError: `p` is negative, or the columns differ

>>> lamella.cdist(lamella.tensor([[3., 4.]]), lamella.tensor([[0., 0.], [3., 3.]]))
tensor([[5., 1.]])
)"},
      {.schema = "_cdist_by_product(Tensor x1, Tensor x2, float p, str compute_mode) -> bool",
       .forms = hidden | function,
       .composite = composite<by_product>,
       .doc = "Whether cdist() computes these distances from a product of matrices, which its gradient asks too."},
      {.schema = "pdist(Tensor self, float p=2) -> Tensor",
       .dims = "i~ d -> p",
       .composite = composite<pdist>,
       .doc = R"(The distances of order `p` between the rows of a matrix, of each pair once: rows 0 and 1, 0 and 2,
up to the last two.

>>> lamella.pdist(lamella.tensor([[0.], [1.], [3.]]))
tensor([1., 3., 2.])
)"},
      {.schema = "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
       .dims = "... i, ... j, o i j, o -> ... o",
       .composite = composite<bilinear>,
       .doc = R"(The sums over i and j of input1[i] * weight[k, i, j] * input2[j], plus bias[k], along the last
dimensions.

>>> lamella.bilinear(lamella.tensor([2.]), lamella.tensor([3.]), lamella.ones(1, 1, 1))
tensor([6.])
)"},
  };
}

}  // namespace lamella::operators
