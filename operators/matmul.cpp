// Matrix products. bmm is the primitive; all others but outer and addr are written over it, and have kernels where
// kernels are faster.
#include "operators/products.h"

namespace lamella::operators {
namespace {

// ---- shape rules -------------------------------------------------------------------------------------------------

// Describes the product of (…, n, k) and (…, k, m), both of `ndim` dimensions.
void infer_product(const Named& x, const Named& y, int ndim, Output& out) {
  check_ndim(x, ndim);
  check_ndim(y, ndim);
  check_dtypes(x, y);
  const IntArrayRef left = x.t.sizes(), right = y.t.sizes();
  const bool batches = ndim == 2 || left[0] == right[0];
  check_multiply(left[ndim - 1] == right[ndim - 2] && batches, x, y);
  const ScalarType t = x.t.dtype();
  if (ndim == 2)
    out.set({left[0], right[1]}, t);
  else
    out.set({left[0], left[1], right[2]}, t);
  check_sizes(y.name, out.sizes(), t);
}

void infer_mm(const Tensor& self, const Tensor& mat2, Output out) {
  infer_product({"self", self}, {"mat2", mat2}, 2, out);
}

// _int_mm takes an unsigned left operand, too, as torch's kernels for the cpu do, which quantized layers call.
void infer_int_mm(const Tensor& self, const Tensor& mat2, Output out) {
  check_ndim({"self", self}, 2);
  check_ndim({"mat2", mat2}, 2);
  check_byte_dtypes({"self", self}, {"mat2", mat2});
  check_multiply(self.size(1) == mat2.size(0), {"self", self}, {"mat2", mat2});
  out.set({self.size(0), mat2.size(1)}, kInt32);
  check_sizes("mat2", out.sizes(), kInt32);
}

void infer_bmm(const Tensor& self, const Tensor& mat2, Output out) {
  infer_product({"self", self}, {"mat2", mat2}, 3, out);
}

// Describes the product of (n, k) and (k).
void infer_matrix_vector(const Named& matrix, const Named& vec, Output& out) {
  check_ndim(matrix, 2);
  check_ndim(vec, 1);
  check_dtypes(matrix, vec);
  check_multiply(matrix.t.size(1) == vec.t.size(0), matrix, vec);
  out.set({matrix.t.size(0)}, matrix.t.dtype());
}

void infer_mv(const Tensor& self, const Tensor& vec, Output out) {
  infer_matrix_vector({"self", self}, {"vec", vec}, out);
}

void infer_vectors(const Named& x, const Named& y, Output& out) {
  check_ndim(x, 1);
  check_ndim(y, 1);
  check_dtypes(x, y);
  check_multiply(x.t.size(0) == y.t.size(0), x, y);
  out.set({}, x.t.dtype());
}

void infer_dot(const Tensor& self, const Tensor& tensor, Output out) {
  infer_vectors({"self", self}, {"tensor", tensor}, out);
}
void infer_vdot(const Tensor& self, const Tensor& other, Output out) {
  infer_vectors({"self", self}, {"other", other}, out);
}

void check_factor(const char* name, const Scalar& number, ScalarType t) {
  LAMELLA_CHECK(!number.isFloatingPoint() || !is_integral(t, true), argument(name),
                ": must be an integer beside dtype ", t, ", got ", number.toDouble());
  check_number(name, number, t);
}

// Checks the tensor that a product is added to: it has the dtype of the factors, of which `first` is one, and
// broadcasts to the product's shape. `beta` and `alpha` must fit the dtype that the sum is computed in.
void check_added(const Tensor& self, const Named& first, const Scalar& beta, const Scalar& alpha, const Output& out) {
  DimVector sizes(out.sizes());
  const bool fits =
      self.sizes().size() <= sizes.size() && broadcast(&sizes, self.sizes()) && IntArrayRef(sizes) == out.sizes();
  LAMELLA_CHECK(fits, argument("self"), ": shape ", shape_text(self), " does not broadcast to the product's ",
                shape_text(out.sizes()));
  check_dtypes(first, {"self", self});
  check_number("beta", beta, wide_of(out.dtype()));
  check_number("alpha", alpha, wide_of(out.dtype()));
}

// Returns whether a number is exactly x.
bool is(const Scalar& number, double x) {
  const lamella_value v = number.value();
  return as_double(v) == x && (v.tag != LAMELLA_COMPLEX || v.as.doubles[1] == 0);
}

void infer_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
                 Output out) {
  infer_product({"mat1", mat1}, {"mat2", mat2}, 2, out);
  check_added(self, {"mat1", mat1}, beta, alpha, out);
}
void infer_baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                   const Scalar& alpha, Output out) {
  infer_product({"batch1", batch1}, {"batch2", batch2}, 3, out);
  check_added(self, {"batch1", batch1}, beta, alpha, out);
}
void infer_addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                  const Scalar& alpha, Output out) {
  infer_product({"batch1", batch1}, {"batch2", batch2}, 3, out);
  out.set({batch1.size(1), batch2.size(2)}, batch1.dtype());
  check_added(self, {"batch1", batch1}, beta, alpha, out);
}
void infer_addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
                 Output out) {
  infer_matrix_vector({"mat", mat}, {"vec", vec}, out);
  check_added(self, {"mat", mat}, beta, alpha, out);
}
void infer_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha,
                Output out) {
  check_ndim({"vec1", vec1}, 1);
  check_ndim({"vec2", vec2}, 1);
  check_dtypes({"vec1", vec1}, {"vec2", vec2});
  const int64_t n = vec1.size(0), m = vec2.size(0);
  out.set({n, m}, vec1.dtype());
  check_factor("beta", beta, out.dtype());
  check_factor("alpha", alpha, out.dtype());
  check_added(self, {"vec1", vec1}, beta, alpha, out);
  // addr adds beta * self element by element, so the result is column-major if self has its shape and is column-major.
  if (self.dim() < 2 || is(beta, 0) || self.size(0) != n || self.size(1) != m) return;
  if (n > 1 && m > 1 && self.stride(0) > 0 && self.stride(0) < self.stride(1)) out.set_strides({1, n});
}

void infer_linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Output out) {
  LAMELLA_CHECK(input.dim() > 0, argument("input"), ": a zero-dim tensor has no features to multiply");
  LAMELLA_CHECK(weight.dim() == 1 || weight.dim() == 2, argument("weight"),
                ": expected shape (out features, in features) or (in features), got shape ", shape_text(weight));
  check_dtypes({"input", input}, {"weight", weight});
  LAMELLA_CHECK(input.size(-1) == weight.size(-1), argument("input"), ": ", input.size(-1),
                " features, the last dimension of shape ", shape_text(input), ", are not the ", weight.size(-1),
                " in features of 'weight', the last dimension of shape ", shape_text(weight),
                "; make the layer, or its weight, for ", input.size(-1), " in features, or reshape the input");
  DimVector sizes(input.sizes());
  sizes.pop_back();
  if (weight.dim() == 2) sizes.push_back(weight.size(0));
  const ScalarType t = input.dtype();
  out.set(sizes, t);
  check_sizes("weight", sizes, t);
  if (!bias.defined()) return;
  check_dtypes({"input", input}, {"bias", bias});
  const int64_t features = weight.dim() == 2 ? weight.size(0) : 1;
  const bool fits = bias.dim() == 0 || (bias.dim() == 1 && (bias.size(0) == features || bias.size(0) == 1));
  LAMELLA_CHECK(fits, argument("bias"), ": expected shape (", features, ",), got shape ", shape_text(bias));
}

// ---- composites ----------------------------------------------------------------------------------------------------

Tensor mm(const Tensor& self, const Tensor& mat2) {
  const Tensor x = self.unsqueeze(0), y = mat2.unsqueeze(0);
  return x.bmm(y).squeeze(0);
}

Tensor int_mm(const Tensor& self, const Tensor& mat2) { return self.to(kInt32).mm(mat2.to(kInt32)); }

Tensor mv(const Tensor& self, const Tensor& vec) { return self.mm(vec.unsqueeze(1)).squeeze(1); }

Tensor dot(const Tensor& self, const Tensor& tensor) { return self.unsqueeze(0).mm(tensor.unsqueeze(1)).squeeze(); }

Tensor vdot(const Tensor& self, const Tensor& other) {
  return self.is_complex() ? self.conj().dot(other) : self.dot(other);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  check_ndim({"self", self}, 1);
  check_ndim({"vec2", vec2}, 1);
  return self.unsqueeze(1) * vec2;
}

// Returns beta * self + alpha * product. With beta 0, the elements of self do not matter, NaN included. The first
// summand, self if `as_self` is set, else the product, decides the layout of the sum.
Tensor add_to(const Tensor& self, Tensor product, const Scalar& of_self, const Scalar& of_product,
              bool as_self = false) {
  const Scalar beta = factor_in(of_self, self.dtype()), alpha = factor_in(of_product, product.dtype());
  if (!is(alpha, 1)) product = product * alpha;
  if (is(beta, 0)) return product;
  const Tensor summand = is(beta, 1) ? self : self * beta;
  return as_self ? summand + product : product + summand;
}

template <auto Product>
Tensor added(const Tensor& self, const Tensor& x, const Tensor& y, const Scalar& beta, const Scalar& alpha) {
  return add_to(self, Product(x, y), beta, alpha);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  return add_to(self, vec1.outer(vec2), beta, alpha, true);
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  const Tensor product = batch1.bmm(batch2);
  return add_to(self, product.sum(0, false, product.dtype()), beta, alpha);
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor product = input.matmul(weight.t());
  return bias.defined() ? product + bias : product;
}

// Broadcasts the batches of both, then calls one bmm.
Tensor batched(const Tensor& x, const Tensor& y) {
  const IntArrayRef of_x(x.sizes().data(), x.dim() - 2), of_y(y.sizes().data(), y.dim() - 2);
  DimVector batch(of_x);
  LAMELLA_CHECK(broadcast(&batch, of_y), "shapes ", shape_text(x), " ('self') and ", shape_text(y),
                " ('other') do not broadcast");
  int64_t count = 1;
  for (int64_t n : batch) count *= n;
  auto with = [&](int64_t rows, int64_t columns) {
    DimVector all((IntArrayRef(batch)));
    all.append({rows, columns});
    return all;
  };
  auto flat = [&](const Tensor& t) {
    return t.expand(with(t.size(-2), t.size(-1))).reshape({count, t.size(-2), t.size(-1)});
  };
  return flat(x).bmm(flat(y)).view(with(x.size(-2), y.size(-1)));
}

// Multiplies batches of rows by one matrix, or one column: all rows together are one matrix, too.
Tensor folded(const Tensor& x, const Tensor& y) {
  DimVector sizes(x.sizes());
  sizes.pop_back();
  int64_t rows = 1;
  for (int64_t n : sizes) rows *= n;
  const Tensor flat = x.reshape({rows, x.size(-1)});
  if (y.dim() == 1) return flat.mv(y).view(sizes);
  sizes.push_back(y.size(1));
  return flat.mm(y).view(sizes);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const Named left{"self", self}, right{"other", other};
  const int64_t nx = self.dim(), ny = other.dim();
  for (const Named* x : {&left, &right})
    LAMELLA_CHECK(x->t.dim() > 0, argument(x->name), ": a zero-dim tensor has no matrix product; use *");
  check_dtypes(left, right);
  check_multiply(self.size(-1) == other.size(std::max<int64_t>(ny - 2, 0)), left, right);
  if (nx == 2 && ny == 2) return self.mm(other);
  if (nx == 1 && ny == 1) return self.dot(other);
  if (nx == 2 && ny == 1) return self.mv(other);
  if (nx > 2 && ny <= 2) return folded(self, other);
  if (nx > 1) return batched(self, other);
  const Tensor row = self.unsqueeze(0);
  const Tensor product = ny == 2 ? row.mm(other) : batched(row, other);
  return product.squeeze(-2);
}

}  // namespace

#define ADDED "*, Scalar beta=1, Scalar alpha=1) -> Tensor"

LAMELLA_FAMILY(matmul, .category = "matmul", .forms = everywhere | out) {
  return {
      {.schema = "mm(Tensor self, Tensor mat2) -> Tensor",
       .dims = "i k, k j -> i j",
       .infer = shape<infer_mm>,
       .composite = composite<mm>,
       .doc = R"(The product of two matrices (n, k) and (k, m).

Raises:
    RuntimeError: the shapes do not multiply or the dtypes differ

>>> lamella.mm(lamella.tensor([[1., 2.]]), lamella.tensor([[3.], [4.]]))
tensor([[11.]])
)"},
      {.schema = "_int_mm(Tensor self, Tensor mat2) -> Tensor",
       .dims = "i k, k j -> i j",
       .forms = function | out,
       .infer = shape<infer_int_mm>,
       .composite = composite<int_mm>,
       .doc = R"(The product of two matrices of int8 in int32; the left one may be uint8. Sums beyond int32 wrap.

Raises:
    RuntimeError: the shapes do not multiply, or another dtype

>>> lamella._int_mm(lamella.full((1, 2), -128, dtype=lamella.int8), lamella.full((2, 1), 127, dtype=lamella.int8))
tensor([[-32512]], dtype=lamella.int32)
)"},
      {.schema = "bmm(Tensor self, Tensor mat2) -> Tensor",
       .dims = "b i k, b k j -> b i j",
       .infer = shape<infer_bmm>,
       .doc = R"(Products of matrices, pair by pair: (b, n, k) and (b, k, m).

>>> lamella.bmm(lamella.ones(2, 1, 3), lamella.ones(2, 3, 1)).shape
lamella.Size([2, 1, 1])
)"},
      {.schema = "matmul(Tensor self, Tensor other) -> Tensor",
       .dims = "... i k, ... k j -> ... i j | k, ... k j -> ... j | ... i k, k -> ... i | k, k ->",
       .composite = composite<matmul>,
       .doc = R"(The matrix product of the last two dimensions; those before broadcast. A vector is a row on the
left, a column on the right.

>>> lamella.matmul(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))
tensor(11.)
)"},
      {.schema = "mv(Tensor self, Tensor vec) -> Tensor",
       .dims = "i k, k -> i",
       .infer = shape<infer_mv>,
       .composite = composite<mv>,
       .doc = R"(The product of a matrix (n, k) and a vector (k).

>>> lamella.mv(lamella.tensor([[1., 2.], [3., 4.]]), lamella.tensor([1., 10.]))
tensor([21., 43.])
)"},
      {.schema = "dot(Tensor self, Tensor tensor) -> Tensor",
       .dims = "k, k ->",
       .infer = shape<infer_dot>,
       .composite = composite<dot>,
       .doc = R"(The sum of the products of two vectors' elements.

>>> lamella.dot(lamella.tensor([1, 2]), lamella.tensor([3, 4]))
tensor(11)
)"},
      {.schema = "vdot(Tensor self, Tensor other) -> Tensor",
       .dims = "k, k ->",
       .infer = shape<infer_vdot>,
       .composite = composite<vdot>,
       .doc = R"(dot, with the first vector conjugated.

>>> lamella.vdot(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))
tensor(11.)
)"},
      {.schema = "outer(Tensor self, Tensor vec2) -> Tensor",
       .dims = "i, j -> i j",
       .composite = composite<outer>,
       .doc = R"(Every element of a vector times every element of another.

>>> lamella.outer(lamella.tensor([1, 2]), lamella.tensor([3, 4]))
tensor([[3, 4],
        [6, 8]])
)",
       .aliases = "ger"},
      {.schema = "addmm(Tensor self, Tensor mat1, Tensor mat2, " ADDED,
       .dims = "i j, i k, k j -> i j | j, i k, k j -> i j | , i k, k j -> i j",
       .forms = all_forms,
       .infer = shape<infer_addmm>,
       .composite = composite<added<lamella::mm>>,
       .doc = R"(beta * self + alpha * (mat1 @ mat2); self broadcasts. With beta 0, self is not read.

>>> lamella.addmm(lamella.tensor([1., 2.]), lamella.ones(2, 3), lamella.ones(3, 2))
tensor([[4., 5.],
        [4., 5.]])
)"},
      {.schema = "baddbmm(Tensor self, Tensor batch1, Tensor batch2, " ADDED,
       .dims = "b i j, b i k, b k j -> b i j | i j, b i k, b k j -> b i j | j, b i k, b k j -> b i j | , b i k, b k j "
               "-> b i j",
       .forms = all_forms,
       .infer = shape<infer_baddbmm>,
       .composite = composite<added<lamella::bmm>>,
       .doc = R"(beta * self + alpha * bmm(batch1, batch2); self broadcasts. With beta 0, self is not read.

>>> lamella.baddbmm(lamella.ones(1), lamella.ones(2, 1, 3), lamella.ones(2, 3, 1))
tensor([[[4.]],
<BLANKLINE>
        [[4.]]])
)"},
      {.schema = "addbmm(Tensor self, Tensor batch1, Tensor batch2, " ADDED,
       .dims = "i j, b i k, b k j -> i j | j, b i k, b k j -> i j | , b i k, b k j -> i j",
       .forms = all_forms,
       .infer = shape<infer_addbmm>,
       .composite = composite<addbmm>,
       .doc = R"(beta * self + alpha * the sum of bmm(batch1, batch2) over its batches.

>>> lamella.addbmm(lamella.ones(1), lamella.ones(2, 1, 3), lamella.ones(2, 3, 1))
tensor([[7.]])
)"},
      {.schema = "addmv(Tensor self, Tensor mat, Tensor vec, " ADDED,
       .dims = "i, i k, k -> i | , i k, k -> i",
       .forms = all_forms,
       .infer = shape<infer_addmv>,
       .composite = composite<added<lamella::mv>>,
       .doc = R"(beta * self + alpha * (mat @ vec); self broadcasts. With beta 0, self is not read.

>>> lamella.addmv(lamella.ones(2), lamella.ones(2, 3), lamella.ones(3))
tensor([4., 4.])
)"},
      {.schema = "addr(Tensor self, Tensor vec1, Tensor vec2, " ADDED,
       .dims = "i j, i, j -> i j | j, i, j -> i j | , i, j -> i j",
       .forms = all_forms,
       .infer = shape<infer_addr>,
       .composite = composite<addr>,
       .doc = R"(beta * self + alpha * outer(vec1, vec2); self broadcasts. With beta 0, self is not read.

>>> lamella.addr(lamella.ones(2), lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))
tensor([[4., 5.],
        [7., 9.]])
)"},
      {.schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
       .dims = "... k, o k, o -> ... o | ... k, o k, -> ... o | ... k, k, -> ... | ... k, k, o~ -> ...",
       .forms = function | hidden,
       .infer = shape<infer_linear>,
       .composite = composite<linear>,
       .doc = R"(input @ weight.T + bias: the last dimension of `input` are the in features, `weight` is (out
features, in features).

>>> lamella.ops.aten.linear(lamella.tensor([1., 2.]), lamella.ones(3, 2), lamella.tensor([0., 1., 2.]))
tensor([3., 4., 5.])
)"},
  };
}

}  // namespace lamella::operators
