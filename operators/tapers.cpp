// Windows that fade a signal out at both ends: Bartlett's, Blackman's, Hamming's, Hann's, Kaiser's.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// The length of a window and the number of steps between its ends. A periodic window is one step longer, and leaves out
// its last element, which equals the first of the next period.
struct Row {
  Row(int64_t length, bool periodic, std::optional<ScalarType> dtype, std::optional<Layout> layout,
      const std::optional<Device>& device, std::optional<bool> pin_memory)
      : length(length), type(dtype.value_or(default_dtype())), steps(periodic ? length : length - 1) {
    check_floating("dtype", type);
    LAMELLA_CHECK(length >= 0, argument("window_length"), ": expected at least 0, got ", length);
    options = options_of(type, layout, device, pin_memory);
  }
  // Returns the places of the elements in float64: from 0 on, where 1 is `steps` steps away.
  Tensor places() const {
    return lamella::arange(0, length, 1, TensorOptions(options).dtype(kDouble)) / static_cast<double>(steps);
  }
  // Returns a sum of cosines with whole periods along the window.
  Tensor waves(double constant, double first, double second) const {
    if (length <= 1) return lamella::ones({length}, options);
    const Tensor angle = places() * 6.283185307179586;
    Tensor y = angle.cos() * -first + constant;
    if (second != 0) y = y + (angle * 2).cos() * second;
    return y.to(type);
  }

  int64_t length;
  ScalarType type;
  int64_t steps;
  TensorOptions options;
};

#define ARGUMENTS                                                                                      \
  int64_t window_length, bool periodic, std::optional<ScalarType> dtype, std::optional<Layout> layout, \
      std::optional<Device> device, std::optional<bool> pin_memory
#define ROW Row(window_length, periodic, dtype, layout, device, pin_memory)

Tensor hann_window(ARGUMENTS) { return ROW.waves(0.5, 0.5, 0); }
Tensor blackman_window(ARGUMENTS) { return ROW.waves(0.42, 0.5, 0.08); }
Tensor bartlett_window(ARGUMENTS) {
  const Row row = ROW;
  if (window_length <= 1) return lamella::ones({window_length}, row.options);
  return (1 - (row.places() * 2 - 1).abs()).to(row.type);
}
Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta, std::optional<ScalarType> dtype,
                      std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ROW.waves(alpha, beta, 0);
}

// I0(x) is the mean of exp(x cos t) over a circle (Abramowitz, Stegun 9.6.16). The mean over n equal steps differs from
// it by Bessel functions of order n and above. The terms are divided by exp(beta), so that none overflows.
Tensor bessel_mean(const Tensor& x, double beta) {
  const int64_t steps = 16 + static_cast<int64_t>(std::ceil(beta));
  Tensor sum = lamella::zeros_like(x);
  for (int64_t k = 0; k <= steps; k++) {
    const double c = std::cos(3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(steps));
    const double share = (k == 0 || k == steps ? 0.5 : 1) / static_cast<double>(steps);
    sum = sum + (x * c - beta).exp() * share;
  }
  return sum;
}
Tensor kaiser_window(int64_t window_length, bool periodic, double beta, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  LAMELLA_CHECK(beta >= 0 && beta < 1e6, argument("beta"), ": expected a number from 0 to 1e6, got ", beta);
  const Row row = ROW;
  if (window_length <= 1) return lamella::ones({window_length}, row.options);
  const Tensor x = row.places() * 2 - 1, y = (1 - x * x).clamp(0).sqrt() * beta;
  return (bessel_mean(y, beta) / bessel_mean(lamella::full({1}, beta, y.options()), beta)).to(row.type);
}

#undef ROW
#undef ARGUMENTS
#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"

}  // namespace

LAMELLA_FAMILY(taper, .category = "creation", .forms = function) {
  return {
      {.schema = "hann_window(int window_length, bool periodic=True, " OPTIONS,
       .composite = composite<hann_window>,
       .doc = R"(Hann's window, one wave of a cosine above zero. A periodic one leaves out the last element, which is
the next period's first.

>>> lamella.hann_window(4)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
)"},
      {.schema = "hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, " OPTIONS,
       .composite = composite<hamming_window>,
       .doc = R"(Hamming's window: alpha - beta cos(2 pi i / n).

>>> lamella.hamming_window(4)
tensor([0.0800, 0.5400, 1.0000, 0.5400])
)"},
      {.schema = "blackman_window(int window_length, bool periodic=True, " OPTIONS,
       .composite = composite<blackman_window>,
       .doc = R"(Blackman's window, of two cosines.

>>> lamella.blackman_window(3, periodic=False)[1]
tensor(1.)
)"},
      {.schema = "kaiser_window(int window_length, bool periodic=True, float beta=12.0, " OPTIONS,
       .composite = composite<kaiser_window>,
       .doc =
           R"(Kaiser's window: I0(beta sqrt(1 - x^2)) / I0(beta), where x goes from -1 to 1 along the window and I0 is
the modified Bessel function of order zero.

>>> lamella.kaiser_window(3, False, 0.)
tensor([1., 1., 1.])
)"},
      {.schema = "bartlett_window(int window_length, bool periodic=True, " OPTIONS,
       .composite = composite<bartlett_window>,
       .doc = R"(Bartlett's window, a triangle.

>>> lamella.bartlett_window(4)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
)"},
  };
}

}  // namespace lamella::operators
