// Gamma draws on the CPU: the threads share the elements in whole tiles, as in random.cpp.
#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/random.h"

namespace lamella::cpu {
namespace {

const GammaLoops& gamma_streams() {
  static const GammaLoops& chosen = LAMELLA_BY_ISA(gamma_loops)();
  return chosen;
}

// Draws for shapes of type T, whose dtype is `made`; numbers of another dtype are drawn into a buffer and converted.
template <class T>
lamella_status draw_gammas(const Operand& shapes, lamella_tensor* t, int made, const Generator& generator,
                           bool logarithm, void (*draw)(Stream, int64_t, const T*, T*, bool)) {
  uint64_t seed, offset;
  const uint64_t words = 2 * static_cast<uint64_t>(t->numel);
  if (lamella_status st = api().generator_reserve(generator.get(), device_of(t), words, &seed, &offset)) return st;
  const Result result(t);
  constexpr int64_t part = 2048;
  char* data = result.data();
  const int64_t n = t->numel, item = itemsize(t);
  const T* shape = shapes.data<T>();
  const CastLoop cast = loops().cast[made][t->dtype];
  lamella_status st = parallel_for(0, (n + part - 1) / part, 1, [&](int64_t b, int64_t e) -> lamella_status {
    alignas(64) T buffer[part];
    for (int64_t k = b; k < e; k++) {
      const int64_t m = std::min(part, n - k * part);
      const Stream here = {seed, offset / 4 + static_cast<uint64_t>(k * part / 2)};
      char* to = data + k * part * item;
      if (made == t->dtype) {
        draw(here, m, shape + k * part, reinterpret_cast<T*>(to), logarithm);
      } else {
        draw(here, m, shape + k * part, buffer, logarithm);
        cast(m, to, item, reinterpret_cast<char*>(buffer), sizeof(T));
      }
    }
    return LAMELLA_OK;
  });
  return st ? st : result.finish();
}

lamella_status draw_by_shapes(const Tensor& self, const Generator& generator, lamella_tensor* out, bool logarithm) {
  const int dtype = work_dtype(self.get());
  const Operand shapes(self.get(), dtype, is_contiguous(self.get()));
  if (dtype == LAMELLA_FLOAT64)
    return draw_gammas<double>(shapes, out, dtype, generator, logarithm, gamma_streams().gamma64);
  return draw_gammas<float>(shapes, out, dtype, generator, logarithm, gamma_streams().gamma32);
}

Status standard_gamma(const Tensor& self, const Generator& generator, const Tensor& out) {
  return draw_by_shapes(self, generator, out.get(), false);
}
Status standard_gamma_log(const Tensor& self, const Generator& generator, const Tensor& out) {
  return draw_by_shapes(self, generator, out.get(), true);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<standard_gamma>(m, "_standard_gamma");
  add<standard_gamma_log>(m, "_standard_gamma_log");
}

}  // namespace lamella::cpu
