// Loops of quantization. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/quantization.h"

#include <cstdint>
#include <cstring>

namespace lamella::cpu::LAMELLA_ISA {
namespace {

// A sum with this number has the integer nearest to the other one, halves to the even one, in its low bits, for numbers
// below 2^22. It needs no instruction that rounds, which x86-64 lacks.
constexpr float magic = 12582912.0f;  // 1.5 * 2^23
constexpr int32_t magic_bits = 0x4B400000;

inline int32_t nearest(float x) { return __builtin_bit_cast(int32_t, x + magic) - magic_bits; }

// The quotient within [low, high], which hold the bounds less the zero point; NaN becomes low.
template <class Float>
inline Float within(Float x, Float low, Float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

// Scales and zero points of elements: one of all, or one for each.
struct One {
  float scale;
  int32_t zero;
  float scale_of(int64_t) const { return scale; }
  int32_t zero_of(int64_t) const { return zero; }
};
struct Each {
  const float* scale;
  const int32_t* zero;
  float scale_of(int64_t i) const { return scale[i]; }
  int32_t zero_of(int64_t i) const { return zero[i]; }
};

template <class Code, class By>
void quantize_run(int64_t n, const float* x, By by, const Codes& c, Code* out) {
  const auto low = static_cast<int32_t>(c.low), high = static_cast<int32_t>(c.high);
  for (int64_t i = 0; i < n; i++) {
    const int32_t zero = by.zero_of(i);
    const float q = within(x[i] / by.scale_of(i), static_cast<float>(low - zero), static_cast<float>(high - zero));
    out[i] = static_cast<Code>(nearest(q) + zero);
  }
}
// The same where float32 does not hold all integers: of 32 bits, or with far zero points.
template <class Code, class By>
void quantize_wide(int64_t n, const float* x, By by, const Codes& c, Code* out) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  for (int64_t i = 0; i < n; i++) {
    const int64_t zero = by.zero_of(i);
    const double q = within(static_cast<double>(x[i] / by.scale_of(i)), static_cast<double>(c.low - zero),
                            static_cast<double>(c.high - zero));
    const int64_t nearest = __builtin_bit_cast(int64_t, q + magic) - __builtin_bit_cast(int64_t, magic);
    out[i] = static_cast<Code>(nearest + zero);
  }
}

template <class Wide, class Code, class By>
void dequantize_run(int64_t n, const Code* codes, By by, float* out) {
  for (int64_t i = 0; i < n; i++)
    out[i] = static_cast<float>(static_cast<Wide>(codes[i]) - by.zero_of(i)) * by.scale_of(i);
}

// Calls f(pointer to integers of the dtype's type).
template <class F>
void with_codes(int dtype, void* p, F f) {
  if (dtype == LAMELLA_INT8) return f(static_cast<int8_t*>(p));
  if (dtype == LAMELLA_UINT8) return f(static_cast<uint8_t*>(p));
  if (dtype == LAMELLA_INT16) return f(static_cast<int16_t*>(p));
  f(static_cast<int32_t*>(p));
}

template <class By>
void quantize_by(int64_t n, const float* x, By by, const Codes& c, void* out) {
  with_codes(c.dtype, out, [&](auto* to) {
    if (c.wide || sizeof *to == 4)
      quantize_wide(n, x, by, c, to);
    else
      quantize_run(n, x, by, c, to);
  });
}
template <class By>
void dequantize_by(int64_t n, const void* codes, By by, const Codes& c, float* out) {
  with_codes(c.dtype, const_cast<void*>(codes), [&](const auto* from) {
    if (c.wide)
      dequantize_run<int64_t>(n, from, by, out);
    else
      dequantize_run<int32_t>(n, from, by, out);
  });
}

void quantize(int64_t n, const float* x, float scale, int32_t zero, const Codes& c, void* out) {
  quantize_by(n, x, One{scale, zero}, c, out);
}
void quantize_each(int64_t n, const float* x, const float* scale, const int32_t* zero, const Codes& c, void* out) {
  quantize_by(n, x, Each{scale, zero}, c, out);
}
void dequantize(int64_t n, const void* codes, float scale, int32_t zero, const Codes& c, float* out) {
  dequantize_by(n, codes, One{scale, zero}, c, out);
}
void dequantize_each(int64_t n, const void* codes, const float* scale, const int32_t* zero, const Codes& c,
                     float* out) {
  dequantize_by(n, codes, Each{scale, zero}, c, out);
}

template <bool Floats, bool Zero, bool Each, bool Bias>
void finish_row(const Finish& f, int64_t n, char* sums) {
  const float factor = Floats ? f.by * f.scale[0] : 1;
  for (int64_t j = 0; j < n; j++) {
    uint32_t sum;
    std::memcpy(&sum, sums + 4 * j, 4);
    if constexpr (Zero) sum -= f.zero * static_cast<uint32_t>(f.weight_sums[j]);
    if constexpr (Floats) {
      float x = static_cast<float>(static_cast<int32_t>(sum)) * (Each ? f.by * f.scale[j] : factor);
      if constexpr (Bias) x += f.bias[j];
      std::memcpy(sums + 4 * j, &x, 4);
    } else {
      std::memcpy(sums + 4 * j, &sum, 4);
    }
  }
}
template <bool Zero>
void finish_by(const Finish& f, int64_t n, char* sums) {
  if (!f.scale) return finish_row<false, Zero, false, false>(f, n, sums);
  if (f.scale_each)
    f.bias ? finish_row<true, Zero, true, true>(f, n, sums) : finish_row<true, Zero, true, false>(f, n, sums);
  else
    f.bias ? finish_row<true, Zero, false, true>(f, n, sums) : finish_row<true, Zero, false, false>(f, n, sums);
}
void finish(const Finish& f, int64_t n, char* sums) {
  f.zero ? finish_by<true>(f, n, sums) : finish_by<false>(f, n, sums);
}

void scaled(int64_t n, const int32_t* sums, float scale, float bias, float* out) {
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<float>(sums[i]) * scale + bias;
}

bool range(int64_t n, const float* x, float* least, float* most) {
  float low = 0, high = 0;
  int nans = 0;
#pragma omp simd reduction(min : low) reduction(max : high) reduction(+ : nans)
  for (int64_t i = 0; i < n; i++) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
    nans += x[i] != x[i];
  }
  *least = low;
  *most = high;
  return nans == 0;
}

void pack(int64_t n, const uint8_t* numbers, uint8_t* bytes) {
  for (int64_t i = 0; i < n; i++)
    bytes[i] = static_cast<uint8_t>((numbers[2 * i] & 15) | (numbers[2 * i + 1] & 15) << 4);
}
void unpack(int64_t n, const uint8_t* bytes, int sign, uint8_t* numbers) {
  for (int64_t i = 0; i < n; i++) {
    numbers[2 * i] = static_cast<uint8_t>(((bytes[i] & 15) ^ sign) - sign);
    numbers[2 * i + 1] = static_cast<uint8_t>(((bytes[i] >> 4) ^ sign) - sign);
  }
}

}  // namespace

const QuantizationLoops& quantization() {
  static const QuantizationLoops all = {quantize, dequantize, quantize_each, dequantize_each, finish,
                                        scaled,   range,      pack,          unpack};
  return all;
}

}  // namespace lamella::cpu::LAMELLA_ISA
