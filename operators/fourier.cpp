// The discrete Fourier transforms of complex and real lines, which a backend computes.
#include "operators/fourier.h"

#include <cmath>

namespace lamella::operators {
namespace {

void check_transform(const Tensor& self, IntArrayRef dim, int64_t normalization, bool at_least_one) {
  wrap_dims("dim", dim, self.dim());
  LAMELLA_CHECK(self.dim() || dim.empty(), argument("dim"), ": a tensor without dimensions has none to transform");
  LAMELLA_CHECK(!at_least_one || !dim.empty(), argument("dim"), ": expected at least one dimension");
  LAMELLA_CHECK(normalization >= 0 && normalization <= 2, argument("normalization"), ": expected 0, 1 or 2, got ",
                normalization);
  for (int64_t d : dim)
    LAMELLA_CHECK(self.size(d) > 0, argument("self"), ": dimension ", d, " must not be empty, got shape ",
                  shape_text(self));
}

void infer_c2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool, Output out) {
  LAMELLA_CHECK(self.is_complex(), argument("self"), ": expected a complex dtype, got ", self.dtype());
  check_transform(self, dim, normalization, false);
  out.set(self.sizes(), self.dtype());
}

void infer_r2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided, Output out) {
  LAMELLA_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, argument("self"),
                ": expected float32 or float64, got ", self.dtype());
  check_transform(self, dim, normalization, true);
  DimVector sizes(self.sizes());
  int64_t& last = sizes[wrap_dim("dim", dim.back(), self.dim())];
  if (onesided) last = last / 2 + 1;
  out.set(sizes, complex_with(self.dtype()));
  out.compute_in(self.dtype());
}

void infer_c2r(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size, Output out) {
  LAMELLA_CHECK(self.is_complex(), argument("self"), ": expected a complex dtype, got ", self.dtype());
  check_transform(self, dim, normalization, true);
  LAMELLA_CHECK(last_dim_size >= 1, argument("last_dim_size"), ": Invalid number of data points (", last_dim_size,
                ") specified; expected at least 1");
  DimVector sizes(self.sizes());
  int64_t& last = sizes[wrap_dim("dim", dim.back(), self.dim())];
  LAMELLA_CHECK(last == last_dim_size / 2 + 1, argument("self"), ": for ", last_dim_size,
                " real numbers, expected size ", last_dim_size / 2 + 1, " in dimension ", dim.back(), ", got shape ",
                shape_text(self));
  last = last_dim_size;
  out.set(sizes, real_of(self.dtype()));
  out.compute_in(self.dtype());
}

// ---- the transforms as products, for devices without a kernel ----

constexpr int64_t most_product = 64;       // lines up to this length are multiplied by a matrix
constexpr int64_t most_odd_product = 512;  // so are lines of a prime length up to this one

// Returns exp(sign 2 pi i k / n) for a tensor of int64 numbers k, which are reduced modulo n before they are rounded.
Tensor roots_of(const Tensor& k, int64_t n, double sign, ScalarType t) {
  const Tensor angle = k.remainder(n).to(kDouble) * (sign * 6.283185307179586476925 / static_cast<double>(n));
  return as(lamella::polar(lamella::ones_like(angle), angle), t);
}
Tensor count_to(int64_t n, const Tensor& like) {
  return lamella::arange(0, n, 1, TensorOptions().dtype(kLong).device(like.device()));
}
Tensor dft_matrix(int64_t n, double sign, const Tensor& like) {
  const Tensor k = count_to(n, like);
  return roots_of(k.unsqueeze(1) * k, n, sign, like.dtype());
}

Tensor transform_last(const Tensor& x, double sign);

// Bluestein's transform: n j k = (j^2 + k^2 - (j - k)^2) / 2 makes it a convolution with a chirp, by transforms whose
// length is a power of two.
Tensor chirp_transform(const Tensor& x, double sign) {
  const int64_t n = x.size(-1);
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  const Tensor k = count_to(n, x), chirp = roots_of(k * k, 2 * n, sign, x.dtype()), back = chirp.conj_physical();
  const Tensor tail = slice(back, 0, 1).flip({0});
  const Tensor around = lamella::cat({back, lamella::zeros({m - 2 * n + 1}, chirp.options()), tail}, 0);
  const Tensor wide = lamella::constant_pad_nd(x * chirp, {0, m - n}, 0);
  const Tensor both = transform_last(wide, -1) * transform_last(around, -1);
  return slice(transform_last(both, 1), -1, 0, n) * (chirp / static_cast<double>(m));
}

// The transform along the last dimension. A length a * b is split into transforms of lengths a and b (Cooley, Tukey
// 1965).
Tensor transform_last(const Tensor& x, double sign) {
  const int64_t n = x.size(-1);
  if (n == 1) return x;
  int64_t a = n <= most_product ? n : 1;
  for (int64_t d = 2; a == 1 && d <= n / 2 && d <= most_odd_product; d++)
    if (n % d == 0) a = d;
  if (a == 1 && n > most_odd_product) return chirp_transform(x, sign);
  if (a == 1 || a == n) {
    const Tensor rows = x.reshape({-1, n});
    return lamella::mm(rows, dft_matrix(n, sign, x)).reshape(x.sizes());
  }
  for (int64_t d = a; d <= most_product; d++)  // the largest factor up to most_product
    if (n % d == 0) a = d;
  const int64_t b = n / a;
  const Tensor columns = x.reshape({-1, a, b}).transpose(1, 2);
  const Tensor first =
      lamella::mm(columns.reshape({-1, a}), dft_matrix(a, sign, x)).reshape({-1, b, a}).transpose(1, 2);
  const Tensor turns = roots_of(count_to(a, x).unsqueeze(1) * count_to(b, x), n, sign, x.dtype());
  return transform_last(first * turns, sign).transpose(1, 2).reshape(x.sizes());
}

Tensor transform_along(const Tensor& x, IntArrayRef dim, double sign) {
  Tensor y = x;
  for (int64_t d : dim) y = transform_last(y.transpose(d, -1), sign).transpose(d, -1);
  return y;
}

double scale_of(IntArrayRef sizes, IntArrayRef dim, int64_t normalization) {
  double n = 1;
  for (int64_t d : dim) n *= static_cast<double>(sizes[d < 0 ? d + sizes.size() : d]);
  return normalization == unscaled ? 1 : normalization == by_root ? 1 / std::sqrt(n) : 1 / n;
}

Tensor c2c_product(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) {
  if (dim.empty() || self.numel() == 0) return self.clone();
  return (transform_along(self, dim, forward ? -1 : 1) * scale_of(self.sizes(), dim, normalization)).contiguous();
}

Tensor r2c_product(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  const Tensor whole = c2c_product(self.to(complex_with(self.dtype())), dim, normalization, true);
  return onesided ? slice(whole, dim.back(), 0, self.size(dim.back()) / 2 + 1).contiguous() : whole;
}

// The other half of the signal is the conjugates of the first; its ends are real.
Tensor c2r_product(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  const int64_t last = dim.back(), n = last_dim_size;
  const Tensor x = transform_along(self, {dim.data(), dim.size() - 1}, 1);
  const Tensor first = slice(x, last, 0, 1), ends = lamella::complex(first.real(), lamella::zeros_like(first.real()));
  const Tensor upper = slice(x, last, 1), lower = slice(x, last, 1, (n + 1) / 2).flip({last}).conj_physical();
  Tensor inner = upper;
  if (n % 2 == 0) {
    const Tensor middle = slice(x, last, n / 2).real();
    inner = lamella::cat({slice(x, last, 1, n / 2), lamella::complex(middle, lamella::zeros_like(middle))}, last);
  }
  const Tensor whole = lamella::cat({ends, inner, lower}, last);
  const Tensor y = transform_along(whole, last, 1).real();
  return (y * scale_of(y.sizes(), dim, normalization)).contiguous();
}

}  // namespace

LAMELLA_FAMILY(fourier, .category = "fft", .forms = function | out, .dims = "...~ -> ...~") {
  return {
      {.schema = "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
       .infer = shape<infer_c2c>,
       .composite = composite<c2c_product>,
       .doc = R"(The Fourier transform of a complex tensor along dimensions, divided by 1, by the root of the number of
elements of a signal, or by that number (`normalization` 0, 1, 2). Without `forward` the exponents have the other sign.

>>> lamella.ops.aten._fft_c2c(lamella.tensor([1+0j, 3]), [0], 0, True)
tensor([ 4.+0.j, -2.+0.j])
)"},
      {.schema = "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
       .infer = shape<infer_r2c>,
       .composite = composite<r2c_product>,
       .doc = R"(The Fourier transform of a real tensor. Its last dimension of `dim` has n // 2 + 1 elements with
`onesided`, since the others are conjugates of these; else n.

>>> lamella.ops.aten._fft_r2c(lamella.tensor([1., 3.]), [0], 0, True)
tensor([ 4.+0.j, -2.+0.j])
)"},
      {.schema = "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
       .infer = shape<infer_c2r>,
       .composite = composite<c2r_product>,
       .doc = R"(The inverse of a onesided `_fft_r2c`: a real tensor of `last_dim_size` elements in the last dimension
of `dim`.

>>> lamella.ops.aten._fft_c2r(lamella.tensor([4+0j, -2]), [0], 2, 2)
tensor([1., 3.])
)"},
  };
}

}  // namespace lamella::operators
