// Products of several matrices, powers and exponentials; vander(), linalg.vecdot() and linalg.diagonal().
#include <cmath>

#include "operators/linalg.h"

namespace lamella::operators {
namespace {

// ---- chains ----

// The order of the products of a chain with the fewest multiplications: the split of matrices i to j is cut[i][j]
// (Cormen et al., Introduction to Algorithms, 15.2).
struct ChainOrder {
  std::vector<std::vector<size_t>> cut;

  explicit ChainOrder(const std::vector<Tensor>& m) {
    const size_t n = m.size();
    std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
    cut.assign(n, std::vector<size_t>(n, 0));
    for (size_t length = 2; length <= n; length++)
      for (size_t i = 0; i + length <= n; i++) {
        const size_t j = i + length - 1;
        cost[i][j] = INFINITY;
        for (size_t k = i; k < j; k++) {
          const double all =
              cost[i][k] + cost[k + 1][j] + double(rows_in(m[i])) * double(columns_in(m[k])) * double(columns_in(m[j]));
          if (all < cost[i][j]) {
            cost[i][j] = all;
            cut[i][j] = k;
          }
        }
      }
  }
  Tensor multiply(const std::vector<Tensor>& m, size_t i, size_t j) const {
    if (i == j) return m[i];
    const size_t k = cut[i][j];
    return multiply(m, i, k).mm(multiply(m, k + 1, j));
  }
};

Tensor multi_dot(TensorList tensors) {
  LAMELLA_CHECK(tensors.size() >= 2, argument("tensors"), ": expected at least 2 tensors, got ", tensors.size());
  std::vector<Tensor> m;
  for (const Tensor& t : tensors) m.push_back(t);
  const bool row = m.front().dim() == 1, column = m.back().dim() == 1;
  if (row) m.front() = m.front().unsqueeze(0);
  if (column) m.back() = m.back().unsqueeze(-1);
  for (size_t i = 0; i < m.size(); i++) {
    LAMELLA_CHECK(m[i].dim() == 2, argument("tensors"), ": expected matrices, and vectors only at both ends; tensor ",
                  i, " has shape ", shape_text(tensors[i]));
    LAMELLA_CHECK(i == 0 || columns_in(m[i - 1]) == rows_in(m[i]), argument("tensors"), ": tensor ", i - 1, " has ",
                  columns_in(m[i - 1]), " columns, and tensor ", i, " has ", rows_in(m[i]), " rows");
    LAMELLA_CHECK(m[i].dtype() == m[0].dtype(), argument("tensors"), ": expected one dtype, got ", m[0].dtype(),
                  " and ", m[i].dtype());
  }
  Tensor x = ChainOrder(m).multiply(m, 0, m.size() - 1);
  if (row) x = x.squeeze(0);
  if (column) x = x.squeeze(-1);
  return x;
}
Tensor chain_matmul(TensorList matrices) {
  for (const Tensor& t : matrices)
    LAMELLA_CHECK(t.dim() == 2, argument("matrices"), ": expected matrices, got shape ", shape_text(t));
  if (matrices.size() == 1) return matrices[0].clone();
  return multi_dot(matrices);
}

// ---- powers ----

Tensor unit_matrices(const Tensor& a) { return lamella::eye(rows_in(a), a.options()).expand(a.sizes()); }

Tensor matrix_power(const Tensor& self, int64_t n) {
  check_square("self", self);
  if (n == 0) return unit_matrices(self).clone();
  Tensor square = n < 0 ? lamella::linalg_inv(self) : self, x;
  for (uint64_t k = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); k; k >>= 1) {
    if (k & 1) x = x.defined() ? x.matmul(square) : square;
    if (k > 1) square = square.matmul(square);
  }
  return x.get() == self.get() ? x.clone() : x;
}

// The Padé approximant of degree 13, and the largest norm for which its error is below the rounding of float64 (Higham,
// The scaling and squaring method for the matrix exponential revisited, 2005).
constexpr double pade[] = {64764752532480000,
                           32382376266240000,
                           7771770303897600,
                           1187353796428800,
                           129060195264000,
                           10559470521600,
                           670442572800,
                           33522128640,
                           1323241920,
                           40840800,
                           960960,
                           16380,
                           182,
                           1};
constexpr double pade_norm = 5.371920351148152;

Tensor matrix_exp(const Tensor& self) {
  check_square("self", self);
  check_factorable("self", self);
  if (self.numel() == 0) return self.clone();
  const Tensor norm = self.abs().sum(DimVector{-2}).amax(DimVector{-1}).detach();  // the norm of columns
  // Each matrix is halved until its norm is small; the result is squared as many times.
  const Tensor halvings = (norm / pade_norm).log2().ceil().clamp(0);
  const Tensor column = halvings.unsqueeze(-1).unsqueeze(-1);
  const Tensor a = self * as(lamella::exp2(-column), self.dtype());
  const Tensor unit = unit_matrices(self), a2 = a.matmul(a), a4 = a2.matmul(a2), a6 = a4.matmul(a2);
  const auto& b = pade;
  const Tensor odd =
      a.matmul(a6.matmul(a6 * b[13] + a4 * b[11] + a2 * b[9]) + a6 * b[7] + a4 * b[5] + a2 * b[3] + unit * b[1]);
  const Tensor even = a6.matmul(a6 * b[12] + a4 * b[10] + a2 * b[8]) + a6 * b[6] + a4 * b[4] + a2 * b[2] + unit * b[0];
  // contiguous, so that the layout is the same with and without squarings
  Tensor x = std::get<0>(lamella::_linalg_solve(even - odd, even + odd, true)).contiguous();
  if (self.is_meta()) return x;
  const double most = halvings.amax(DimVector{}).item<double>();
  for (double done = 0; done < most && std::isfinite(most); done++) x = lamella::where(column.gt(done), x.matmul(x), x);
  return lamella::where(norm.isfinite().unsqueeze(-1).unsqueeze(-1), x, std::nan(""));
}

// ---- powers of vectors, products of vectors, diagonals ----

Tensor vander(const Tensor& x, std::optional<int64_t> n_given) {
  LAMELLA_CHECK(x.dim() > 0, argument("x"), ": expected at least one dimension");
  const int64_t n = n_given.value_or(x.size(-1));
  LAMELLA_CHECK(n >= (n_given ? 1 : 0), argument("N"), ": expected a positive number of columns, got ", n);
  const Tensor base = x.dtype() == kBool ? x.to(kLong) : x.is_floating_point() || x.is_complex() ? x : x.to(kLong);
  const Tensor ones = lamella::ones(with(DimVector(x.sizes()), {1}), base.options());
  if (n <= 1) return n ? ones : ones.slice(-1, 0, 0);
  const Tensor repeated = base.unsqueeze(-1).expand(with(DimVector(x.sizes()), {n - 1}));
  return lamella::cat({ones, repeated.cumprod(-1)}, -1);
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  LAMELLA_CHECK((x.is_floating_point() || x.is_complex()) && (y.is_floating_point() || y.is_complex()),
                x.is_floating_point() || x.is_complex() ? argument("y") : argument("x"),
                ": expected floating or complex numbers, got ", x.dtype(), " and ", y.dtype());
  return ((x.is_complex() ? x.conj() : x) * y).sum(DimVector{dim});
}

Tensor linalg_diagonal(const Tensor& a, int64_t offset, int64_t dim1, int64_t dim2) {
  return a.diagonal(offset, dim1, dim2);
}
Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return self.matmul(other); }

}  // namespace

LAMELLA_FAMILY(linalg_products, .category = "linalg", .forms = function | out) {
  return {
      {.schema = "linalg_multi_dot(Tensor[] tensors) -> Tensor",
       .composite = composite<multi_dot>,
       .doc = R"(The product of two or more matrices, in the order with the fewest multiplications. The first and the
last may be vectors, a row and a column.

>>> a, b, c = lamella.ones(2, 3), lamella.ones(3, 4), lamella.ones(4)
>>> lamella.linalg.multi_dot([a, b, c])
tensor([12., 12.])
)",
       .module = "linalg"},
      {.schema = "chain_matmul(Tensor[] matrices) -> Tensor",
       .composite = composite<chain_matmul>,
       .doc = R"(linalg.multi_dot() of matrices.

>>> lamella.chain_matmul(lamella.ones(2, 3), lamella.ones(3, 1))
tensor([[3.],
        [3.]])
)"},
      {.schema = "linalg_matrix_power(Tensor self, int n) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .composite = composite<matrix_power>,
       .doc = R"(The n-th power of square matrices; of the inverse, if n is negative.

>>> lamella.linalg.matrix_power(lamella.tensor([[1., 1.], [0., 1.]]), 3)
tensor([[1., 3.],
        [0., 1.]])
)",
       .module = "linalg"},
      {.schema = "matrix_power(Tensor self, int n) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .forms = everywhere | out,
       .composite = composite<matrix_power>,
       .doc = R"(linalg.matrix_power().

>>> lamella.matrix_power(lamella.tensor([[1., 1.], [0., 1.]]), 3)
tensor([[1., 3.],
        [0., 1.]])
)"},
      {.schema = "linalg_matrix_exp(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .composite = composite<matrix_exp>,
       .doc = R"(The exponential of square matrices, by scaling, a Padé approximant, and squaring (Higham, 2005).

>>> lamella.linalg.matrix_exp(lamella.tensor([[0., 1.], [0., 0.]]))
tensor([[1., 1.],
        [0., 1.]])
)",
       .module = "linalg"},
      {.schema = "matrix_exp(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .forms = everywhere,
       .composite = composite<[](const Tensor& self) { return lamella::linalg_matrix_exp(self); }>,
       .doc = R"(linalg.matrix_exp().

>>> lamella.matrix_exp(lamella.tensor([[0., 1.], [0., 0.]]))
tensor([[1., 1.],
        [0., 1.]])
)"},
      {.schema = "linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
       .dims = "... i -> ... i k",
       .forms = function,
       .composite = composite<vander>,
       .doc =
           R"(The powers of each element from 0 to N - 1, as a last dimension; N is the number of elements unless given.

>>> lamella.linalg.vander(lamella.tensor([2, 3]), N=3)
tensor([[1, 2, 4],
        [1, 3, 9]])
)",
       .module = "linalg"},
      {.schema = "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
       .dims = "reduce",
       .composite = composite<vecdot>,
       .doc = R"(The sum of conj(x) * y along a dimension. Other dimensions broadcast.

>>> lamella.linalg.vecdot(lamella.tensor([[1., 2.], [3., 4.]]), lamella.tensor([1., 1.]))
tensor([3., 7.])
)",
       .module = "linalg"},
      {.schema = "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
       .category = "view",
       .forms = function | no_kernel_needed,
       .composite = composite<linalg_diagonal>,
       .doc = R"(A view of the diagonals of matrices.

>>> lamella.linalg.diagonal(lamella.tensor([[1, 2], [3, 4]]))
tensor([1, 4])
)",
       .module = "linalg"},
      {.schema = "linalg_matmul(Tensor self, Tensor other) -> Tensor",
       .dims = "... i k, ... k j -> ... i j | k, ... k j -> ... j | ... i k, k -> ... i | k, k ->",
       .composite = composite<linalg_matmul>,
       .doc = R"(matmul().

>>> lamella.linalg.matmul(lamella.tensor([[1., 2.], [3., 4.]]), lamella.tensor([1., 1.]))
tensor([3., 7.])
)",
       .module = "linalg"},
  };
}

}  // namespace lamella::operators
