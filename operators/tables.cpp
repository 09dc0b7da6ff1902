// Rows of a table with bounded norms, and bags of rows: their sums, means and largest elements.
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

constexpr double least_length = 1e-7;  // torch's number, against division by zero

// Returns the factors that scale rows down to a norm of at most `most`.
Tensor shrinking(const Tensor& lines, const Scalar& p, const Scalar& most, uint64_t kept) {
  DimVector dims;
  for (int64_t d = 0; d < lines.dim(); d++)
    if (!(kept >> d & 1)) dims.push_back(d);
  const Tensor length = lamella::linalg_vector_norm(lines, p, dims, true);
  return lamella::where(length > most, lamella::full({}, most, lines.options()) / (length + least_length), 1);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  LAMELLA_CHECK(self.is_floating_point() || self.is_complex(), argument("self"), ": expected a floating dtype, got ",
                self.dtype());
  LAMELLA_CHECK(self.dim() > 1, argument("self"), ": renorm needs at least 2 dimensions, got ", self.dim());
  LAMELLA_CHECK(!p.isComplex() && p.toDouble() > 0, argument("p"), ": expected a positive number, got ",
                p.isComplex() ? "a complex one" : std::to_string(p.toDouble()));
  LAMELLA_CHECK(!maxnorm.isComplex() && maxnorm.toDouble() >= 0, argument("maxnorm"),
                ": expected a number of at least 0, got ",
                maxnorm.isComplex() ? "a complex one" : std::to_string(maxnorm.toDouble()));
  const int64_t d = wrap_dim("dim", dim, self.dim());
  const ScalarType wide = wide_of(self.dtype());
  const Tensor lines = as(self, wide);
  return as(lines * shrinking(lines, p, maxnorm, uint64_t{1} << d), self.dtype());
}

void check_embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  LAMELLA_CHECK(self.dim() == 2, argument("self"), ": expected a matrix, got shape ", shape_text(self));
  check_floating("self", self.dtype());
  check_integral("indices", indices);
  check_apart("indices", indices, self);
  LAMELLA_CHECK(max_norm >= 0, argument("max_norm"), ": must not be negative, got ", max_norm);
  LAMELLA_CHECK(norm_type > 0, argument("norm_type"), ": must be positive, got ", norm_type);
}

const Tensor& embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  const Tensor index = std::get<0>(lamella::_unique2(indices.reshape({indices.numel()})));
  const Tensor rows = self.index_select(0, index), wide = as(rows, wide_of(self.dtype()));
  const Tensor shrunk = as(wide * shrinking(wide, norm_type, max_norm, 1), self.dtype());
  return self.index_copy_(0, index, shrunk);
}

// ---- bags -----------------------------------------------------------------------------------------------------------

enum BagMode : int64_t { bag_sum = 0, bag_mean = 1, bag_max = 2 };

using Bags = std::tuple<Tensor, Tensor, Tensor, Tensor>;

void check_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset) {
  LAMELLA_CHECK(weight.dim() == 2, argument("weight"), ": expected a matrix, one row for each index, got shape ",
                shape_text(weight));
  check_floating("weight", weight.dtype());
  check_integral("indices", indices);
  check_integral("offsets", offsets);
  LAMELLA_CHECK(indices.dim() == 1, argument("indices"), ": expected a vector, got shape ", shape_text(indices));
  LAMELLA_CHECK(offsets.dim() == 1, argument("offsets"), ": expected a vector, got shape ", shape_text(offsets));
  LAMELLA_CHECK(!include_last_offset || offsets.numel() >= 1, argument("offsets"),
                ": include_last_offset: number of offset should be at least 1");
  LAMELLA_CHECK(mode >= 0 && mode <= 2, argument("mode"), ": expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  LAMELLA_CHECK_NOT_IMPLEMENTED(!sparse, argument("sparse"), ": there are no sparse gradients");
  LAMELLA_CHECK(mode != bag_max || !scale_grad_by_freq, argument("scale_grad_by_freq"),
                ": must be False with mode 2 (max)");
  if (!per_sample_weights.defined()) return;
  LAMELLA_CHECK(mode == bag_sum, argument("per_sample_weights"), ": only goes with sums (mode 0), got mode ", mode);
  LAMELLA_CHECK(per_sample_weights.sizes() == indices.sizes(), argument("per_sample_weights"),
                ": expected one number for each index, got shape ", shape_text(per_sample_weights));
  LAMELLA_CHECK(per_sample_weights.dtype() == weight.dtype(), argument("per_sample_weights"), ": expected dtype ",
                weight.dtype(), ", got ", per_sample_weights.dtype());
}

// Returns the row of the table with the first of the largest elements of each column of each bag; -1 for an empty bag.
Tensor largest_rows(const Tensor& weight, const Tensor& index, const Tensor& bag, const Tensor& counts, int64_t bags) {
  const Tensor rows = lamella::detach(weight).index_select(0, index);
  const int64_t n = index.numel(), width = weight.size(1);
  const Tensor to = bag.unsqueeze(1).expand({n, width}), valid = counts.unsqueeze(1);
  const double least = -__builtin_inf();
  const Tensor seen = lamella::where(valid, rows, least);
  const Tensor most = lamella::full({bags, width}, least, rows.options()).scatter_reduce(0, to, seen, "amax");
  const Tensor of = most.gather(0, to);
  const Tensor equal = (seen.eq(of) | (seen.ne(seen) & of.ne(of))) & valid;
  const Tensor number = lamella::arange(n, index.options()).unsqueeze(1);
  const Tensor first = lamella::full({bags, width}, n, index.options())
                           .scatter_reduce(0, to, lamella::where(equal, number, n).expand({n, width}), "amin");
  const Tensor none = lamella::full({1}, -1, index.options());
  return lamella::cat({index, none}).index_select(0, first.reshape({-1})).reshape({bags, width});
}

Bags bags_of(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
             bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
             std::optional<int64_t> padding_idx) {
  check_bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset);
  const int64_t rows = weight.size(0), n = indices.numel(), width = weight.size(1);
  const int64_t bags = offsets.numel() - include_last_offset;
  int64_t padding = -1;
  if (padding_idx) {
    LAMELLA_CHECK(*padding_idx >= -rows && *padding_idx < rows, argument("padding_idx"), ": ", *padding_idx,
                  " is out of range for ", rows, " rows");
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  const Tensor index = as(indices, kLong), start = as(offsets, kLong);
  if (offsets.numel() > 0 && !offsets.is_meta()) {
    LAMELLA_CHECK(start.select(0, 0).item().toLong() == 0, argument("offsets"),
                  ": the first has to be 0, where the first bag begins");
    LAMELLA_CHECK(start.select(0, -1).item().toLong() <= n, argument("offsets"), ": the last must not be larger than ",
                  n, ", the number of indices");
    LAMELLA_CHECK(start.numel() < 2 || lamella::diff(start).ge(0).all().item().toBool(), argument("offsets"),
                  ": must not decrease, since each bag ends where the next one begins");
  }
  const ScalarType wide = wide_of(weight.dtype());
  const TensorOptions real = weight.options().dtype(wide);
  // The number of bags that began up to each index, less one.
  const Tensor begins = lamella::zeros({n + 1}, start.options())
                            .index_add(0, lamella::slice(start, 0, 0, bags, 1), lamella::ones({bags}, start.options()));
  const Tensor bag = bags > 0 ? lamella::slice(begins, 0, 0, n, 1).cumsum(0) - 1 : lamella::zeros({0}, start.options());
  LAMELLA_CHECK(bags > 0 || n == 0, argument("offsets"), ": ", n, " indices are in no bag");
  // After a last offset, which begins no bag, indices are ignored; the maximum, as in torch, includes them all.
  const bool ends = include_last_offset && mode != bag_max && offsets.numel() > 0;
  Tensor counts = index.ne(padding);
  if (ends)
    counts = counts & lamella::arange(0, n, 1, start.options()).lt(lamella::slice(start, 0, -1, std::nullopt, 1));
  const Tensor size = lamella::zeros({bags}, start.options()).index_add(0, bag, as(counts, kLong));
  const auto numbers = [&](const Tensor& x) { return as(x, indices.dtype()); };
  if (mode == bag_max) {
    const Tensor at = largest_rows(weight, index, bag, counts, bags);
    const Tensor taken = rows == 0 ? lamella::zeros({bags, width}, weight.options()) : weight.gather(0, at.clamp(0));
    return {lamella::where(at >= 0, taken, 0), numbers(bag), numbers(size), numbers(at)};
  }
  Tensor seen = as(lamella::embedding(weight, index, padding, scale_grad_by_freq), wide);
  if (per_sample_weights.defined()) seen = seen * as(per_sample_weights, wide).unsqueeze(1);
  if (padding >= 0 || ends) seen = lamella::where(counts.unsqueeze(1), seen, 0);
  Tensor sum = lamella::zeros({bags, width}, real).index_add(0, bag, seen);
  if (mode == bag_mean) sum = sum / as(size.clamp(1), wide).unsqueeze(1);
  return {as(sum, weight.dtype()), numbers(bag), numbers(size), numbers(size.clone())};
}

Bags embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                   int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset) {
  return bags_of(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                 std::nullopt);
}

}  // namespace

LAMELLA_FAMILY(table, .category = "indexing", .forms = function) {
  return {
      {.schema = "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
       .dims = "...~ -> ...~",
       .category = "normalization",
       .forms = all_forms,
       .composite = composite<renorm>,
       .doc = R"(Slices along a dimension whose norm of order `p` is larger than `maxnorm`, scaled to that length.

>>> lamella.renorm(lamella.tensor([[3., 4.], [0., 1.]]), 2, 0, 2.5)
tensor([[1.5000, 2.0000],
        [0.0000, 1.0000]])
)"},
      {.schema = "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
       .category = "scatter",
       .infer = shape<infer_written<check_embedding_renorm>>,
       .composite = composite<embedding_renorm>,
       .doc = R"(Scales the rows that indices name, where their norm is larger than `max_norm`, to that length, in
the table.

>>> lamella.embedding_renorm_(lamella.tensor([[3., 4.], [6., 8.]]), lamella.tensor([1]), 5., 2.)
tensor([[3., 4.],
        [3., 4.]])
)"},
      {.schema = "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
                 "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> "
                 "(Tensor, Tensor, Tensor, Tensor)",
       .composite = composite<embedding_bag>,
       .doc = R"(Rows of a table, of which those of each bag are added up (mode 0), averaged (1), or reduced to the
largest elements (2). `offsets` say where in the indices each bag begins and, with
`include_last_offset`, where the last ends. Then the bag of each index, how many count in each bag,
and the rows of the largest elements.

>>> table = lamella.tensor([[1., 2.], [3., 4.]])
>>> lamella.embedding_bag(table, lamella.tensor([0, 1, 1]), lamella.tensor([0, 2]))[0]
tensor([[4., 6.],
        [3., 4.]])
)"},
      {.schema = "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, "
                 "int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> "
                 "(Tensor, Tensor, Tensor, Tensor)",
       .composite = composite<bags_of>},
  };
}

}  // namespace lamella::operators
