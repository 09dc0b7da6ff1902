// bmm, to which all products come down.
#include <algorithm>

#include "bank.h"

namespace bank {
namespace {

// As many columns as fit a vector; of complex numbers one.
template <class T>
struct Columns {
  typedef T type __attribute__((vector_size(64)));
};
template <>
struct Columns<std::complex<double>> {
  using type = std::complex<double>;
};

// c = a b, eight rows at once; built for several processors, of which the loader chooses.
template <class T>
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]  //
void product(int64_t m, int64_t k, int64_t n, const T* a, const T* b, T* c) {
  using V = typename Columns<T>::type;
  constexpr int64_t width = sizeof(V) / sizeof(T), height = 8;
  std::vector<T> panel(k * width);  // of b
  for (int64_t j = 0; j < n; j += width) {
    const int64_t there = std::min(width, n - j);
    for (int64_t p = 0; p < k; p++)
      for (int64_t q = 0; q < there; q++) panel[p * width + q] = b[p * n + j + q];
    for (int64_t i = 0; i < m; i += height) {
      const int64_t rows = std::min(height, m - i);
      V sums[height];
      for (V& sum : sums) sum = V{};
      for (int64_t p = 0; p < k; p++) {
        V x;
        std::memcpy(&x, &panel[p * width], sizeof x);
        for (int64_t r = 0; r < height; r++) sums[r] += a[(i + std::min(r, rows - 1)) * k + p] * x;
      }
      const T* sum = reinterpret_cast<const T*>(sums);
      for (int64_t r = 0; r < rows; r++)
        for (int64_t q = 0; q < there; q++) c[(i + r) * n + j + q] = sum[r * width + q];
    }
  }
}

// bmm(self, mat2)
lattis_status bmm_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *self = args[0].as.tensor, *mat2 = args[1].as.tensor, *out = rets[0].as.tensor;
  const int64_t batch = out->dl.shape[0], m = out->dl.shape[1], n = out->dl.shape[2], k = self->dl.shape[2];
  const auto multiply = [&](auto zero) {
    using T = decltype(zero);
    return launch(out, [=, x = View(self), y = View(mat2), to = View(out)] {
      Row a(x, code<T>), b(y, code<T>), c(to, code<T>, false);
      for (int64_t i = 0; i < batch; i++)
        product(m, k, n, a.as<T>() + i * m * k, b.as<T>() + i * k * n, c.as<T>() + i * m * n);
      return c.write();
    });
  };
  return out->dtype <= LATTIS_FLOAT32 && out->dtype >= LATTIS_FLOAT16 ? multiply(0.0f)
                                                                      : with_type(out->dtype, multiply);
}

}  // namespace

LATTIS_LIBRARY(aten, m) { m.impl("bmm", "bank", bmm_kernel); }

}  // namespace bank
