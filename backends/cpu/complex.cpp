// The complex numbers made of real and imaginary parts.
#include "backends/cpu/kernels.h"
#include "backends/cpu/strips.h"

namespace lamella::cpu {
namespace {

template <class F>
void interleave(int64_t n, char* const* at, const int64_t* steps) {
  constexpr int64_t part = sizeof(F);
  if (steps[0] == 2 * part && steps[1] == part && steps[2] == part) {  // no gaps: vectorized
    auto* __restrict to = reinterpret_cast<F*>(at[0]);
    const auto *re = reinterpret_cast<const F*>(at[1]), *im = reinterpret_cast<const F*>(at[2]);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
      to[2 * i] = re[i];
      to[2 * i + 1] = im[i];
    }
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    char* to = at[0] + i * steps[0];
    std::memcpy(to, at[1] + i * steps[1], part);
    std::memcpy(to + part, at[2] + i * steps[2], part);
  }
}

Status complex(const Tensor& real, const Tensor& imag, const Tensor& out) {
  Strips s(out.get());
  s.add(real.get());
  s.add(imag.get());
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* steps) -> lamella_status {
    (out.get()->dtype == LAMELLA_COMPLEX64 ? interleave<float> : interleave<double>)(n, at, steps);
    return LAMELLA_OK;
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) { add<complex>(m, "complex"); }

}  // namespace lamella::cpu
