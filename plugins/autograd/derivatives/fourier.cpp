// Derivatives of Fourier transforms: the gradient of a transform is the transform with the other sign.
#include "derivatives/derivatives.h"
#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

constexpr Line transforms[] = {{"_fft_c2c", "self: _fft_c2c_backward(grad, dim, normalization, forward)"},
                               {"_fft_r2c", "self: _fft_r2c_backward(grad, self.shape, dim, normalization, onesided)"},
                               {"_fft_c2r", "self: _fft_c2r_backward(grad, dim, normalization)"}};

Tensor c2c_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization, bool forward) {
  return lamella::_fft_c2c(grad, dim, normalization, !forward);
}

// Returns x with `factor` multiplied to the elements along a dimension that have a conjugate at the other side of n.
Tensor weigh_pairs(const Tensor& x, int64_t dim, int64_t n, double factor) {
  Tensor weights = lamella::full({x.size(dim)}, factor,
                                 TensorOptions(x.device()).dtype(x.dtype() == kComplexDouble ? kDouble : kFloat));
  weights.narrow(0, 0, 1).fill_(1);
  if (n % 2 == 0) weights.narrow(0, n / 2, 1).fill_(1);
  DimVector shape(x.dim(), 1);
  shape[dim < 0 ? dim + x.dim() : dim] = x.size(dim);
  return x * weights.reshape(shape);
}

// The gradient of a real element is a sum of real parts, which the transform to a real signal is, if its pairs of
// conjugates are halved.
Tensor r2c_backward(const Tensor& grad, IntArrayRef size, IntArrayRef dim, int64_t normalization, bool onesided) {
  if (!onesided) return lamella::_fft_c2c(grad, dim, normalization, false).real();
  const int64_t last = dim.back(), n = size[last < 0 ? last + size.size() : last];
  return lamella::_fft_c2r(weigh_pairs(grad, last, n, 0.5), dim, normalization, n);
}

Tensor c2r_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization) {
  return weigh_pairs(lamella::_fft_r2c(grad, dim, normalization, true), dim.back(), grad.size(dim.back()), 2);
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<c2c_backward>(m, "_fft_c2c_backward(Tensor grad, int[] dim, int normalization, bool forward) -> Tensor");
  composite<r2c_backward>(
      m, "_fft_r2c_backward(Tensor grad, int[] size, int[] dim, int normalization, bool onesided) -> Tensor");
  composite<c2r_backward>(m, "_fft_c2r_backward(Tensor grad, int[] dim, int normalization) -> Tensor");
  add_derivatives(m, transforms);
}

}  // namespace lamella::autograd
