// A dtype of another package: lns16, a logarithmic number of two bytes (a sign and the binary logarithm in steps of
// 1/512), whose products are exact sums of integers. It uses the public headers alone; the library only gets its name,
// its size and two conversions. Kingsbury and Rayner, "Digital filtering using logarithmic arithmetic" (1971), describe
// such numbers.
#include <lamella/extension.h>
#include <lamella/kernel.h>

#include <cmath>

namespace lns16 {
namespace {

using lamella::Scalar;
using lamella::Status;
using lamella::Tensor;

// 0: zero. 1 to 32766: the number is 2^((code - middle) / steps). 32767: not a number. The highest bit is the sign.
constexpr int middle = 16384, steps = 512, largest = 32766, nan = 32767;

void to_float32(int64_t n, const void* from, float* to) {
  for (int64_t i = 0; i < n; i++) {
    const int bits = static_cast<const uint16_t*>(from)[i], code = bits & 0x7fff;
    const float size = code == 0     ? 0.0f
                       : code == nan ? NAN
                                     : static_cast<float>(std::exp2(static_cast<double>(code - middle) / steps));
    to[i] = bits & 0x8000 ? -size : size;
  }
}

void from_float32(int64_t n, const float* from, void* to) {
  for (int64_t i = 0; i < n; i++) {
    const double x = from[i];
    int code = 0;
    if (std::isnan(x))
      code = nan;
    else if (x != 0)
      code =
          static_cast<int>(std::fmin(std::fmax(std::nearbyint(std::log2(std::fabs(x)) * steps) + middle, 1), largest));
    static_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(code | (std::signbit(x) ? 0x8000 : 0));
  }
}

uint16_t product(uint16_t a, uint16_t b) {
  const int x = a & 0x7fff, y = b & 0x7fff, sign = (a ^ b) & 0x8000;
  const int code = x == nan || y == nan ? nan : x == 0 || y == 0 ? 0 : std::min(std::max(x + y - middle, 1), largest);
  return static_cast<uint16_t>(code | sign);
}

int32_t dtype = -1;
int64_t products = 0;

// All three tensors have the dtype; an operand whose dtype promotes to it is converted first.
Status mul(const Tensor& self, const Tensor& other, const Tensor& out) {
  LAMELLA_CHECK(self.dtype() == out.dtype() && other.dtype() == out.dtype() && int(out.dtype()) == dtype);
  const Tensor a = self.expand(out.sizes()).contiguous(), b = other.expand(out.sizes()).contiguous();
  const Tensor result = lamella::empty_like(a);
  const auto *x = static_cast<const uint16_t*>(a.data_ptr()), *y = static_cast<const uint16_t*>(b.data_ptr());
  auto* z = static_cast<uint16_t*>(result.data_ptr());
  for (int64_t i = 0; i < a.numel(); i++) z[i] = product(x[i], y[i]);
  products += a.numel();
  out.copy_(result);
  return LAMELLA_OK;
}

Status mul_number(const Tensor& self, const Scalar& other, const Tensor& out) {
  return mul(self, lamella::full({}, other, self.options()), out);
}

}  // namespace
}  // namespace lns16

extern "C" __attribute__((visibility("default"))) int64_t lns16_products(void) { return lns16::products; }

LAMELLA_LIBRARY(lns16, m) {
  using namespace lns16;
  lamella_dtype_def d{};
  d.size = sizeof d;
  d.name = "lns16";
  d.itemsize = 2;
  d.dtype_class = LAMELLA_CLASS_FLOATING;
  d.dlpack = {kDLOpaqueHandle, 16, 1};
  d.to_float32 = to_float32;
  d.from_float32 = from_float32;
  const lamella_promotion with[] = {{LAMELLA_FLOAT32, LAMELLA_FLOAT32}, {LAMELLA_FLOAT64, LAMELLA_FLOAT64}};
  d.promotions = with;
  d.num_promotions = 2;
  m.dtype(d, &dtype);
  m.impl<mul>("aten::mul.Tensor", "lns16", LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl<mul_number>("aten::mul.Scalar", "lns16", LAMELLA_KERNEL_CALLS_OPERATORS);
}
