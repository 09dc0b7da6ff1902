// Combining tensors: blocks, products of sets, combinations, powers, cross products, membership.
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return lamella::empty({1, 0});
  std::vector<Tensor> blocks, rows;
  int64_t width = 0;
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor& t = tensors[i];
    LAMELLA_CHECK(t.dim() <= 2, argument("tensors"), ": expected at most 2 dimensions, got shape ", shape_text(t),
                  " at position ", i);
    blocks.push_back(t.dim() == 2 ? t : t.reshape({1, t.numel()}));
    width += blocks.back().size(1);
  }
  int64_t before = 0;
  for (const Tensor& b : blocks) {
    const int64_t n = b.size(0), m = b.size(1);
    rows.push_back(lamella::cat(
        {lamella::zeros({n, before}, b.options()), b, lamella::zeros({n, width - before - m}, b.options())}, 1));
    before += m;
  }
  return lamella::cat(rows, 0);
}

Tensor cartesian_prod(TensorList tensors) {
  LAMELLA_CHECK(!tensors.empty(), argument("tensors"), ": expected at least one tensor");
  for (size_t i = 0; i < tensors.size(); i++)
    LAMELLA_CHECK(tensors[i].dim() == 1, argument("tensors"), ": expected vectors, got shape ", shape_text(tensors[i]),
                  " at position ", i);
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : lamella::meshgrid(tensors, "ij")) columns.push_back(grid.reshape({grid.numel()}));
  return lamella::stack(columns, 1);
}

// Returns the combinations of r elements as rows. The indices of a row's elements rise, or do not fall if
// `with_replacement` is set.
Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  LAMELLA_CHECK(self.dim() == 1, argument("self"), ": expected a vector, got shape ", shape_text(self));
  LAMELLA_CHECK(r >= 0, argument("r"), ": expected at least 0, got ", r);
  if (r == 0) return lamella::empty({0}, self.options());
  const int64_t n = self.numel();
  if (n == 0 || (!with_replacement && r > n)) return lamella::empty({0, r}, self.options());
  const Tensor row = lamella::arange(0, n, 1, self.options().dtype(kLong));
  Tensor chosen = row.unsqueeze(1);
  for (int64_t k = 1; k < r; k++) {  // appends to each combination every element that may follow its last one
    const Tensor last = slice(chosen, 1, k - 1, k);
    const Tensor at = (with_replacement ? last <= row : last < row).nonzero();
    chosen = lamella::cat({chosen.index_select(0, at.select(1, 0)), at.select(1, 1).unsqueeze(1)}, 1);
  }
  return self.index_select(0, chosen.reshape({chosen.numel()})).view({chosen.size(0), r});
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  LAMELLA_CHECK(x.dim() == 1, argument("x"), ": expected a vector, got shape ", shape_text(x));
  const int64_t n = N.value_or(x.numel());
  LAMELLA_CHECK(n >= 0, argument("N"), ": expected at least 0, got ", n);
  const Tensor base = is_integral(x.dtype(), true) ? x.to(kLong) : x;
  if (n == 0) return lamella::empty({x.numel(), 0}, base.options());
  Tensor powers = lamella::ones({x.numel(), 1}, base.options());
  if (n > 1) powers = lamella::cat({powers, base.unsqueeze(1).expand({x.numel(), n - 1}).cumprod(1)}, 1);
  return increasing ? powers : powers.flip({1});
}

Tensor cross_along(const Tensor& self, const Tensor& other, int64_t d) {
  const Tensor a1 = self.roll({-1}, {d}), a2 = self.roll({-2}, {d});
  const Tensor b1 = other.roll({-1}, {d}), b2 = other.roll({-2}, {d});
  return a1 * b2 - a2 * b1;
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  LAMELLA_CHECK(self.dim() == other.dim(), argument("other"), ": ", other.dim(), " dimensions, but 'self' has ",
                self.dim());
  const int64_t d = wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK(self.dim() > 0 && self.size(d) == 3 && other.size(d) == 3, argument("dim"),
                ": cross products are of 3 elements, got shapes ", shape_text(self), " ('self') and ",
                shape_text(other), " ('other')");
  DimVector common(self.sizes());
  LAMELLA_CHECK(broadcast(&common, other.sizes()), argument("other"), ": shape ", shape_text(other),
                " does not broadcast with ", shape_text(self), " ('self')");
  return cross_along(self.expand(common), other.expand(common), d);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return lamella::linalg_cross(self, other, *dim);
  int64_t d = 0;
  while (d < self.dim() && self.size(d) != 3) d++;
  LAMELLA_CHECK(d < self.dim(), argument("self"), ": no dimension of 3 elements in shape ", shape_text(self));
  return lamella::linalg_cross(self, other, d);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
  core::ResultType type;
  LAMELLA_CHECK(
      type.add_dtype(core_dtype(elements.dtype()), true) && type.add_dtype(core_dtype(test_elements.dtype()), true),
      argument("test_elements"), ": dtypes ", elements.dtype(), " and ", test_elements.dtype(),
      " have no common dtype");
  const auto t = static_cast<ScalarType>(type.get());
  LAMELLA_CHECK(!is_complex(t), argument("elements"), ": complex numbers have no order, got dtypes ", elements.dtype(),
                " and ", test_elements.dtype(), " ('test_elements')");
  const ScalarType wide = t == kBool ? kByte : t;
  const Tensor x = elements.to(wide), tests = test_elements.to(wide).reshape({test_elements.numel()});
  const Tensor sorted = std::get<0>(tests.sort());
  const int64_t n = sorted.numel();
  Tensor found;
  if (n == 0) {
    found = lamella::zeros(x.sizes(), x.options().dtype(kBool));
  } else {
    const Tensor place = lamella::searchsorted(sorted, x.contiguous()).clamp_max(n - 1);
    found = sorted.take(place).eq(x);
  }
  return invert ? found.logical_not() : found;
}
Tensor isin_number(const Tensor& elements, const Scalar& test_element, bool /*assume_unique*/, bool invert) {
  return invert ? elements.ne(test_element) : elements.eq(test_element);
}
Tensor isin_tests(const Scalar& element, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
  const Tensor found = test_elements.eq(element).any();
  return invert ? found.logical_not() : found;
}

}  // namespace

LAMELLA_FAMILY(combining, .category = "copy", .forms = function) {
  return {
      {.schema = "block_diag(Tensor[] tensors) -> Tensor",
       .composite = composite<block_diag>,
       .doc = R"(A matrix with the given matrices along its diagonal and zeros elsewhere; a vector is one row.

>>> lamella.block_diag(lamella.tensor([[1]]), lamella.tensor([2, 3]))
tensor([[1, 0, 0],
        [0, 2, 3]])
)"},
      {.schema = "cartesian_prod(Tensor[] tensors) -> Tensor",
       .composite = composite<cartesian_prod>,
       .doc = R"(Each choice of one element from every vector, as rows.

>>> lamella.cartesian_prod(lamella.tensor([1, 2]), lamella.tensor([3, 4]))
tensor([[1, 3],
        [1, 4],
        [2, 3],
        [2, 4]])
)"},
      {.schema = "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
       .composite = composite<combinations>,
       .doc = R"(Each choice of `r` elements of a vector in their order, as rows.

>>> lamella.combinations(lamella.tensor([1, 2, 3]))
tensor([[1, 2],
        [1, 3],
        [2, 3]])
)"},
      {.schema = "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
       .dims = "i~ -> i~ p",
       .composite = composite<vander>,
       .doc = R"(The powers of each element of a vector as a row: from N - 1 down to 0, or up.

>>> lamella.vander(lamella.tensor([1, 2, 3]))
tensor([[1, 1, 1],
        [4, 2, 1],
        [9, 3, 1]])
)"},
      {.schema = "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
       .dims = "keep",
       .forms = function | out,
       .composite = composite<linalg_cross>,
       .doc = R"(The cross products of vectors of three elements along a dimension; the others broadcast.

>>> lamella.linalg.cross(lamella.tensor([1, 0, 0]), lamella.tensor([0, 1, 0]))
tensor([0, 0, 1])
)",
       .module = "linalg"},
      {.schema = "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
       .dims = "keep",
       .forms = everywhere | out,
       .composite = composite<cross>,
       .doc = R"(linalg.cross(), without `dim` along the first dimension of three elements.

>>> lamella.cross(lamella.tensor([1, 0, 0]), lamella.tensor([0, 1, 0]))
tensor([0, 0, 1])
)"},
      {.schema = "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
                 "invert=False) -> Tensor",
       .category = "indexing",
       .forms = function | out,
       .composite = composite<isin>,
       .doc = R"(Whether each element is one of `test_elements`, or with `invert` none. NaN is none.

>>> lamella.isin(lamella.tensor([1, 2, 3]), lamella.tensor([3, 1]))
tensor([ True, False,  True])
)"},
      {.schema = "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
                 "invert=False) -> Tensor",
       .dims = "broadcast",
       .category = "indexing",
       .forms = function | out,
       .composite = composite<isin_number>},
      {.schema = "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
                 "invert=False) -> Tensor",
       .dims = "... ->",
       .category = "indexing",
       .forms = function | out,
       .composite = composite<isin_tests>},
  };
}

}  // namespace lamella::operators
