// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Element i of a
// reservation depends on the seed and on offset + i alone.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

struct Words {
  uint32_t w[4];
};

Words philox(uint64_t seed, uint64_t counter) {
  uint32_t c[4] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    uint32_t n[4] = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
                     static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    for (int i = 0; i < 4; i++) c[i] = n[i];
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

double unit24(uint32_t w) { return (w >> 8) * (1.0 / 16777216.0); }  // [0, 1), exact in float32
double unit53(uint32_t hi, uint32_t lo) { return ((uint64_t{hi} << 32 | lo) >> 11) * (1.0 / 9007199254740992.0); }

// Four uniform numbers from counter `block` on; double takes two words each, hence two blocks of Philox.
void uniforms(uint64_t seed, uint64_t block, bool wide, double out[4]) {
  if (!wide) {
    Words x = philox(seed, block);
    for (int i = 0; i < 4; i++) out[i] = unit24(x.w[i]);
    return;
  }
  Words x = philox(seed, block), y = philox(seed, block + 1);
  out[0] = unit53(x.w[0], x.w[1]);
  out[1] = unit53(x.w[2], x.w[3]);
  out[2] = unit53(y.w[0], y.w[1]);
  out[3] = unit53(y.w[2], y.w[3]);
}

// Box and Muller, 1958; 1 - u is in (0, 1], so the logarithm is finite.
void normals(double u[4]) {
  for (int i = 0; i < 4; i += 2) {
    double r = std::sqrt(-2 * std::log(1 - u[i])), a = 6.283185307179586 * u[i + 1];
    u[i] = r * std::cos(a);
    u[i + 1] = r * std::sin(a);
  }
}

// The largest number of a floating dtype below `end`: rounding must not reach the excluded end of a range.
double largest_below(double end, int dtype) {
  double x = end, back = end;
  for (double step = std::max(std::abs(end), 1e-300) * 1e-17; back >= end; step *= 2) {
    char rounded[8];
    x = end - step;
    loops().cast[LATTIS_FLOAT64][dtype](1, rounded, 0, reinterpret_cast<char*>(&x), 0);
    loops().cast[dtype][LATTIS_FLOAT64](1, reinterpret_cast<char*>(&back), 0, rounded, 0);
  }
  return back;
}

template <bool Normal>
lattis_status draw(lattis_frame*, const lattis_value* a, lattis_value* r) {
  lattis_tensor* t = r[0].as.tensor;
  double first = a[1].as.d, second = a[2].as.d;
  lattis_object* generator = a[3].tag == LATTIS_OBJECT ? a[3].as.object : nullptr;
  bool wide = t->dtype == LATTIS_FLOAT64;
  uint64_t seed, offset;
  if (lattis_status st = api().generator_reserve(generator, device_of(t),
                                                 static_cast<uint64_t>(t->numel) * (wide ? 2 : 1), &seed, &offset))
    return st;
  // A strided output is drawn beside and copied, so that element i is the i-th in row-major order.
  Tensor beside = Tensor::borrow(t);
  if (!is_contiguous(t)) {
    lattis_tensor* raw;
    if (lattis_status st = api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, t->dtype, device_of(t), &raw))
      return st;
    beside = Tensor::steal(raw);
  }
  auto* data = beside.data<char>();
  int64_t item = itemsize(t), n = t->numel;
  CastLoop cast = loops().cast[LATTIS_FLOAT64][t->dtype];
  const double limit = Normal || second <= first ? second : largest_below(second, t->dtype);
  uint64_t base = offset / 4, step = wide ? 2 : 1;
  lattis_status st = parallel_for(0, (n + 3) / 4, grain / 16, [&](int64_t b, int64_t e) -> lattis_status {
    for (int64_t k = b; k < e; k++) {
      double u[4];
      uniforms(seed, base + step * static_cast<uint64_t>(k), wide, u);
      if (Normal) normals(u);
      for (double& x : u) x = Normal ? first + second * x : first + (second - first) * x;
      if (!Normal)
        for (double& x : u) x = std::min(x, limit);
      cast(std::min<int64_t>(4, n - 4 * k), data + 4 * k * item, item, reinterpret_cast<char*>(u), 8);
    }
    return LATTIS_OK;
  });
  if (st || is_contiguous(t)) return st;
  return copy_into(t, beside.get());
}

}  // namespace

void register_random(Library& m) { m.impl("uniform_", "cpu", draw<false>).impl("normal_", "cpu", draw<true>); }

}  // namespace lattis::cpu
