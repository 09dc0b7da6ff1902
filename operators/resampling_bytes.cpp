// Images of bytes at other sizes, with weights in fixed point, so that any device computes the same bytes.
#include <cmath>

#include "operators/resampling.h"
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Weights as whole numbers: weight times 2^bits, in 16 bits with a sign. They are stored in float32 if all sums are
// exact there, else in float64.
struct Fixed {
  Tensor index, weight;
  int bits = 0;
};

// Joins the taps of a place that take the same element; they follow each other.
void join_taps(Taps* t) {
  const auto out = static_cast<int64_t>(t->index.size()) / t->count;
  for (int64_t i = 0; i < out; i++) {
    int64_t first = i;
    for (int64_t at = i + out; at < t->count * out; at += out) {
      if (t->index[at] != t->index[first]) {
        first = at;
        continue;
      }
      t->weight[first] += t->weight[at];
      t->weight[at] = 0;
    }
  }
}

Fixed fixed_of(Taps t, const Device& device) {
  join_taps(&t);
  double largest = 0;
  for (double w : t.weight) largest = std::max(largest, w);
  Fixed f;
  constexpr int most = 22, limit = 1 << 15;
  while (f.bits < most && std::floor(0.5 + std::ldexp(largest, f.bits + 1)) < limit) f.bits++;
  const auto count = static_cast<int64_t>(t.index.size());
  const TensorOptions host = TensorOptions().device(Device(DeviceType::CPU));
  f.index = lamella::empty({count}, host.dtype(kLong));
  f.weight = lamella::empty({count}, host.dtype(kDouble));
  const int64_t out = count / t.count;
  std::vector<double> sums(static_cast<size_t>(out));
  double widest = 0;
  for (int64_t k = 0; k < count; k++) {
    const double w = std::round(std::ldexp(t.weight[k], f.bits));
    f.index.data_ptr<int64_t>()[k] = t.index[k];
    f.weight.data_ptr<double>()[k] = w;
    widest = std::max(widest, sums[k % out] += std::abs(w));
  }
  const double exact = 1 << 24;  // float32 holds whole numbers up to here exactly
  const bool narrow = 255 * widest + std::ldexp(0.5, f.bits) < exact;
  f.index = f.index.to(device);
  f.weight = f.weight.to(device, narrow ? kFloat : kDouble);
  return f;
}

Tensor rounded(const Tensor& sums, int bits) {
  return ((sums + std::ldexp(0.5, bits)) * std::ldexp(1.0, -bits)).floor().clamp(0, 255);
}

}  // namespace

Tensor resample_bytes(const Tensor& self, const int64_t (&out)[2], const Taps& rows, const Taps& columns) {
  if (out[0] == self.size(2) && out[1] == self.size(3)) return self.clone();
  Tensor x = self;
  if (out[1] != self.size(3)) {
    const Fixed f = fixed_of(columns, self.device());
    x = rounded(lamella::_resample(as(x, f.weight.dtype()), {out[1]}, {columns.count}, f.index, f.weight), f.bits);
  }
  if (out[0] != self.size(2)) {
    const Fixed f = fixed_of(rows, self.device());
    const TensorOptions options = TensorOptions().device(self.device());
    const Tensor same = lamella::arange(0, out[1], 1, options.dtype(kLong));
    const Tensor index = lamella::cat({f.index, same}, 0);
    const Tensor weight = lamella::cat({f.weight, lamella::ones({out[1]}, options.dtype(f.weight.dtype()))}, 0);
    x = rounded(lamella::_resample(as(x, weight.dtype()), {out[0], out[1]}, {rows.count, 1}, index, weight), f.bits);
  }
  return x.to(kByte);
}

}  // namespace lamella::operators
