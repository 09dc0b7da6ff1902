// Repeating dimensions and elements.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Sets the sizes of self repeated. counts: the last ones are for self's dimensions, those before them for new
// dimensions. If there are fewer, the other dimensions are not repeated.
void repeated_sizes(const Tensor& self, const char* name, IntArrayRef counts, Output& out) {
  const int64_t given = static_cast<int64_t>(counts.size()), ndim = std::max(given, self.dim());
  LAMELLA_CHECK(given <= LAMELLA_MAX_DIMS, argument(name), ": ", given, " dimensions, at most ", LAMELLA_MAX_DIMS,
                " are supported");
  DimVector sizes;
  for (int64_t d = 0; d < ndim; d++) {
    const int64_t n = d < ndim - self.dim() ? 1 : self.sizes()[d - (ndim - self.dim())];
    const int64_t k = d < ndim - given ? 1 : counts[d - (ndim - given)];
    int64_t total;
    LAMELLA_CHECK(k >= 0, argument(name), ": expected no negative count, got ", k);
    LAMELLA_CHECK(!__builtin_mul_overflow(n, k, &total), argument(name), ": the repeated sizes overflow, got ",
                  shape_text(counts), " for shape ", shape_text(self));
    sizes.push_back(total);
  }
  check_sizes(name, sizes, self.dtype());
  out.set(sizes, self.dtype());
}

void infer_repeat(const Tensor& self, IntArrayRef repeats, Output out) {
  LAMELLA_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(), argument("repeats"), ": ", repeats.size(),
                " counts for ", self.dim(), " dimensions");
  repeated_sizes(self, "repeats", repeats, out);
}
void infer_tile(const Tensor& self, IntArrayRef dims, Output out) { repeated_sizes(self, "dims", dims, out); }

Tensor repeated(const Tensor& self, const char* name, IntArrayRef given) {
  DimVector ones, full, sizes, counts;
  for (int64_t d = static_cast<int64_t>(given.size()); d < self.dim(); d++) counts.push_back(1);
  counts.append(given);
  const size_t lead = counts.size() - self.dim();
  for (size_t d = 0; d < counts.size(); d++) {
    const int64_t n = d < lead ? 1 : self.sizes()[d - lead], k = counts[d], total = n * k;
    sizes.push_back(total);
    if (k != 1 && n != 1) {  // the copies and their elements are two dimensions until view() joins them
      LAMELLA_CHECK(full.size() + (counts.size() - d) + 1 <= LAMELLA_MAX_DIMS, argument(name),
                    ": too many repeated dimensions: each counts twice, and at most ", LAMELLA_MAX_DIMS,
                    " are supported, got ", shape_text(given));
      ones.append({1, n});
      full.append({k, n});
    } else {
      ones.push_back(n);
      full.push_back(total);
    }
  }
  return self.reshape(ones).expand(full).clone(MemoryFormat::Contiguous).view(sizes);
}
Tensor repeat(const Tensor& self, IntArrayRef repeats) { return repeated(self, "repeats", repeats); }
Tensor tile(const Tensor& self, IntArrayRef dims) { return repeated(self, "dims", dims); }

void infer_repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                             std::optional<int64_t> /*output_size*/, Output out) {
  LAMELLA_CHECK(repeats >= 0, argument("repeats"), ": expected no negative count, got ", repeats);
  const int64_t d = dim ? wrap_dim("dim", *dim, self.dim()) : 0, numel = self.numel();
  DimVector sizes(dim && self.dim() ? self.sizes() : IntArrayRef(numel));
  LAMELLA_CHECK(!__builtin_mul_overflow(sizes[d], repeats, &sizes[d]), argument("repeats"),
                ": the repeated sizes overflow, got ", repeats, " for shape ", shape_text(self));
  check_sizes("repeats", sizes, self.dtype());
  out.set(sizes, self.dtype());
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> /*output_size*/) {
  const Tensor x = dim && self.dim() ? self : self.reshape({self.numel()});
  const int64_t d = !dim ? 0 : *dim < 0 ? *dim + x.dim() : *dim;
  const Tensor apart = x.unsqueeze(d + 1);
  DimVector full, sizes;
  for (int64_t k = 0; k < x.dim(); k++) {
    full.push_back(x.sizes()[k]);
    sizes.push_back(k == d ? x.sizes()[k] * repeats : x.sizes()[k]);
    if (k == d) full.push_back(repeats);
  }
  return apart.expand(full).clone(MemoryFormat::Contiguous).view(sizes);
}

void infer_counts(const Tensor& repeats, std::optional<int64_t> /*output_size*/, Output out) {
  out.dynamic();
  LAMELLA_CHECK(repeats.dim() == 1 && is_integral(repeats.dtype()), argument("repeats"),
                ": expected a vector of integers, got shape ", shape_text(repeats), " and dtype ", repeats.dtype());
}

// Returns position i repeats[i] times: the running sum of ones at the starts of the next positions.
Tensor repeat_interleave_counts(const Tensor& repeats, std::optional<int64_t> /*output_size*/) {
  const ScalarType kind = repeats.dtype() == kInt ? kInt : kLong;
  if (repeats.numel() == 0) return lamella::empty({0}, TensorOptions(kind).device(repeats.device()));
  const Tensor counts = repeats.to(kLong), ends = counts.cumsum(0);
  const int64_t least = counts.amin({0}, false).item().toLong(), n = ends.select(0, -1).item().toLong();
  LAMELLA_CHECK(least >= 0, argument("repeats"), ": expected no negative count, got ", least);
  const TensorOptions options = TensorOptions(kLong).device(repeats.device());
  const Tensor marks = lamella::zeros({n + 1}, options), ones = lamella::ones({repeats.numel()}, options);
  marks.scatter_add_(0, ends, ones);
  return slice(marks.cumsum(0), 0, 0, n).to(kind);
}

Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                                std::optional<int64_t> /*output_size*/) {
  const Tensor x = dim ? self : self.reshape({self.numel()});
  const int64_t d = dim ? wrap_dim("dim", *dim, x.dim()) : 0, n = x.dim() ? x.sizes()[d] : 0;
  Tensor counts = repeats;
  if (counts.numel() == 1 && n != 1) counts = counts.reshape({1}).expand({n});
  LAMELLA_CHECK(counts.dim() == 1 && counts.numel() == n, argument("repeats"), ": ", counts.numel(),
                " counts for dimension ", d, " of size ", n);
  return lamella::index_select(x, d, lamella::repeat_interleave(counts));
}

}  // namespace

LAMELLA_FAMILY(repeating, .category = "copy", .forms = everywhere) {
  return {
      {.schema = "repeat(Tensor self, SymInt[] repeats) -> Tensor",
       .forms = method,
       .infer = shape<infer_repeat>,
       .composite = composite<repeat>,
       .doc = R"(`self` copied so often along each dimension; counts before its own make new dimensions.

>>> lamella.tensor([1, 2]).repeat(2)
tensor([1, 2, 1, 2])
)"},
      {.schema = "tile(Tensor self, SymInt[] dims) -> Tensor",
       .infer = shape<infer_tile>,
       .composite = composite<tile>,
       .doc = R"(repeat(), with counts of one where some are missing.

>>> lamella.tile(lamella.tensor([1, 2]), (2,))
tensor([1, 2, 1, 2])
)"},
      {.schema = "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) "
                 "-> Tensor",
       .infer = shape<infer_repeat_interleave>,
       .composite = composite<repeat_interleave>,
       .doc = R"(Each position of a dimension, or each element, so often in a row.

>>> lamella.repeat_interleave(lamella.tensor([1, 2]), 2)
tensor([1, 1, 2, 2])
)"},
      {.schema = "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
                 "output_size=None) -> Tensor",
       .composite = composite<repeat_interleave_tensor>},
      {.schema = "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
       .dims = "r~ -> a",
       .forms = function,
       .infer = shape<infer_counts>,
       .composite = composite<repeat_interleave_counts>},
  };
}

}  // namespace lamella::operators
