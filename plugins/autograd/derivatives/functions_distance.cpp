// The composite that the derivative of cdist calls.
#include <cmath>

#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

// Returns the gradient of cdist by its first argument. It is 0 where two rows are equal. With p = inf, every element
// whose distance is the largest gets the gradient.
Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode,
                      const Tensor& result) {
  if (_cdist_by_product(x1, x2, p, compute_mode)) {
    const Tensor ratio = where(result == 0, 0, grad / one_for_zero(result));
    return x1 * ratio.sum(DimVector{-1}, true) - ratio.matmul(x2);
  }
  const Tensor d = x1.unsqueeze(-2) - x2.unsqueeze(-3), g = grad.unsqueeze(-1), norm = result.unsqueeze(-1);
  if (p == 0) return zeros_like(d).sum(DimVector{-2});
  if (p == 1) return (d.sign() * g).sum(DimVector{-2});
  if (std::isinf(p)) return (d.sign() * where(d.abs() == norm, g, 0)).sum(DimVector{-2});
  const Tensor each = where(norm == 0, 0, g / one_for_zero(norm).pow(p - 1));
  if (p == 2) return (d * each).sum(DimVector{-2});
  const Tensor size = where(d == 0, 0, one_for_zero(d).abs().pow(p - 1));
  return (d.sign() * size * each).sum(DimVector{-2});
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<cdist_backward>(m,
                            "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, str compute_mode, Tensor "
                            "result) -> Tensor");
}

}  // namespace lamella::autograd
