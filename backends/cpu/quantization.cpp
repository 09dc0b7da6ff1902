// Quantization on the CPU: the walk over the blocks that share a scale.
#include "backends/cpu/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

const QuantizationLoops& quantization_loops() {
  static const QuantizationLoops& chosen = LAMELLA_BY_ISA(quantization)();
  return chosen;
}

constexpr int64_t tile = 1024;       // elements that are converted, or get a scale each, at a time
constexpr int64_t short_block = 32;  // elements below which each element of a tile gets its scale

// The scales and zero points of a tensor's blocks, in host memory.
class Blocks {
 public:
  Blocks(const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t first)
      : scale_(scale.get()), zero_(zero_point.get()), count_(scale.numel()), inner_(inner), first_(first) {}

  // Calls run(from, to, scale, zero point) for the pieces of [begin, end) that share a scale.
  template <class Run>
  void each_piece(int64_t begin, int64_t end, Run run) const {
    if (count_ == 1) return run(begin, end, scale(0), zero(0));
    for (int64_t block = (first_ + begin) / inner_; begin < end; block++) {
      const int64_t to = std::min(end, (block + 1) * inner_ - first_), k = block % count_;
      run(begin, to, scale(k), zero(k));
      begin = to;
    }
  }
  bool are_short() const { return count_ > 1 && inner_ < short_block; }
  // Returns whether a zero point is so far from 0 that 32 bits do not hold its difference from a code.
  bool are_wide(int dtype) const {
    const int64_t near = dtype == LAMELLA_INT32 ? 0 : 1 << 20;
    for (int64_t k = 0; zero_ && k < count_; k++)
      if (std::abs(int64_t{zero(k)}) > near) return true;
    return false;
  }
  // Writes the scale and the zero point of each of n elements from `begin` on.
  void spread(int64_t begin, int64_t n, float* scales, int32_t* zeros) const {
    int64_t k = (first_ + begin) / inner_ % count_, left = inner_ - (first_ + begin) % inner_;
    for (int64_t i = 0; i < n; i++) {
      scales[i] = scale(k);
      zeros[i] = zero(k);
      if (--left) continue;
      left = inner_;
      if (++k == count_) k = 0;
    }
  }

 private:
  float scale(int64_t k) const { return scale_.data<float>()[k]; }
  int32_t zero(int64_t k) const { return zero_ ? zero_.data<int32_t>()[k] : 0; }
  Operand scale_, zero_;
  int64_t count_, inner_, first_;
};

// The scale and the zero point of each element of a tile.
struct Spread {
  alignas(64) float scales[tile];
  alignas(64) int32_t zeros[tile];
};

// Calls body(begin, end) for the parts of a tensor that the threads take: of a tile each, if the elements need memory
// beside them, else as long as the threads divide it.
template <class Body>
lamella_status in_parts(int64_t numel, bool tiles, Body body) {
  return parallel_for(0, numel, grain, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t at = begin; at < end;) {
      const int64_t to = tiles ? std::min(end, at + tile) : end;
      body(at, to);
      at = to;
    }
    return LAMELLA_OK;
  });
}

Status quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low,
                int64_t high, ScalarType dtype, int64_t first, const Tensor& out) {
  const QuantizationLoops& loop = quantization_loops();
  const Operand x(self.get());
  const Result result(out.get());
  const Blocks blocks(scale, zero_point, inner, first);
  const Codes of{low, high, static_cast<int>(dtype), blocks.are_wide(static_cast<int>(dtype))};
  const int64_t from = itemsize(x.get()), to = itemsize(out.get());
  const bool narrow = self.dtype() != kFloat;
  const CastLoop cast = loops().cast[static_cast<int>(self.dtype())][LAMELLA_FLOAT32];
  const lamella_status st = in_parts(self.numel(), narrow || blocks.are_short(), [&](int64_t begin, int64_t end) {
    float converted[tile];
    if (narrow) cast(end - begin, reinterpret_cast<char*>(converted), 4, x.data() + begin * from, from);
    const float* numbers = narrow ? converted : x.data<float>() + begin;
    if (blocks.are_short()) {
      Spread s;
      blocks.spread(begin, end - begin, s.scales, s.zeros);
      return loop.quantize_each(end - begin, numbers, s.scales, s.zeros, of, result.data() + begin * to);
    }
    blocks.each_piece(begin, end, [&](int64_t b, int64_t e, float by, int32_t zero) {
      loop.quantize(e - b, numbers + (b - begin), by, zero, of, result.data() + b * to);
    });
  });
  return st ? st : result.finish();
}

Status dequantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, ScalarType dtype,
                  int64_t first, const Tensor& out) {
  const QuantizationLoops& loop = quantization_loops();
  const Operand codes(self.get());
  const Result result(out.get());
  const Blocks blocks(scale, zero_point, inner, first);
  const int held = static_cast<int>(self.dtype());
  const Codes of{0, 0, held, blocks.are_wide(held)};
  const int64_t from = itemsize(codes.get()), to = itemsize(out.get());
  const bool narrow = dtype != kFloat;
  const CastLoop cast = loops().cast[LAMELLA_FLOAT32][static_cast<int>(dtype)];
  const lamella_status st = in_parts(self.numel(), narrow || blocks.are_short(), [&](int64_t begin, int64_t end) {
    float values[tile];
    float* numbers = narrow ? values : result.data<float>() + begin;
    if (blocks.are_short()) {
      Spread s;
      blocks.spread(begin, end - begin, s.scales, s.zeros);
      loop.dequantize_each(end - begin, codes.data() + begin * from, s.scales, s.zeros, of, numbers);
    } else {
      blocks.each_piece(begin, end, [&](int64_t b, int64_t e, float by, int32_t zero) {
        loop.dequantize(e - b, codes.data() + b * from, by, zero, of, numbers + (b - begin));
      });
    }
    if (narrow) cast(end - begin, result.data() + begin * to, to, reinterpret_cast<char*>(values), 4);
  });
  return st ? st : result.finish();
}

// Quantizes sums of products: see the operator. Sums become floats in tiles, which stay in the cache.
Status requantize(const Tensor& self, const Tensor& scale, const Tensor& bias, int64_t inner, double out_scale,
                  int64_t zero_point, int64_t low, int64_t high, ScalarType dtype, const Tensor& out) {
  const QuantizationLoops& loop = quantization_loops();
  const Operand sums(self.get()), scales(scale.get()), biases(bias.get());
  const Result result(out.get());
  const auto zero = static_cast<int32_t>(zero_point);
  const bool wide = dtype == kInt32 || std::abs(zero_point) > 1 << 20;
  const Codes of{low, high, static_cast<int>(dtype), wide};
  const int64_t size = itemsize(out.get()), count = scale.numel();
  const lamella_status st = in_parts(self.numel(), true, [&](int64_t begin, int64_t end) {
    float values[tile];
    for (int64_t at = begin; at < end;) {
      const int64_t block = at / inner, k = block % count;
      const int64_t to = count == 1 ? end : std::min(end, inner == 1 ? at + count - k : (block + 1) * inner);
      if (inner == 1 && count > 1) {
        std::memcpy(values + (at - begin), sums.data<int32_t>() + at, (to - at) * 4);
        const Finish f{0, nullptr, 1, scales.data<float>() + k, true, biases ? biases.data<float>() + k : nullptr};
        loop.finish(f, to - at, reinterpret_cast<char*>(values + (at - begin)));
      } else {
        const float added = biases ? biases.data<float>()[k] : 0;
        loop.scaled(to - at, sums.data<int32_t>() + at, scales.data<float>()[k], added, values + (at - begin));
      }
      at = to;
    }
    loop.quantize(end - begin, values, static_cast<float>(out_scale), zero, of, result.data() + begin * size);
  });
  return st ? st : result.finish();
}

// Quantizes rows by their own range: see the operator.
Status quantize_rows(const Tensor& self, int64_t low, int64_t high, ScalarType dtype, bool symmetric,
                     const Tensor& codes, const Tensor& scale, const Tensor& zero_point) {
  const QuantizationLoops& loop = quantization_loops();
  const Operand x(self.get(), LAMELLA_FLOAT32);
  const Result to(codes.get()), scales(scale.get()), zeros(zero_point.get());
  const int64_t rows = scale.numel(), width = rows ? self.numel() / rows : 0, size = itemsize(codes.get());
  const auto steps = static_cast<float>(high - low);
  const Codes of{low, high, static_cast<int>(dtype), false};
  const lamella_status st = parallel_for(0, rows, grain / (width + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const float* row = x.data<float>() + i * width;
      float least, most;
      const bool numbers = loop.range(width, row, &least, &most);
      const float chosen = symmetric ? std::max(-least, most) / (steps / 2) : (most - least) / steps;
      const bool good = numbers && chosen > 0 && std::isfinite(chosen);
      const float by = good ? chosen : 1;
      int64_t zero = symmetric ? (low + high + 1) >> 1 : 0;
      if (good && !symmetric)  // the quotient is at most 0, and not below -steps but by rounding
        zero = low - static_cast<int64_t>(std::nearbyint(least / by));
      zero = std::clamp(zero, low, high);
      scales.data<float>()[i] = by;
      zeros.data<int32_t>()[i] = static_cast<int32_t>(zero);
      loop.quantize(width, row, by, static_cast<int32_t>(zero), of, to.data() + i * width * size);
    }
    return static_cast<lamella_status>(LAMELLA_OK);
  });
  if (st) return st;
  if (lamella_status failed = to.finish()) return failed;
  if (lamella_status failed = scales.finish()) return failed;
  return zeros.finish();
}

Status pack_nibbles(const Tensor& self, const Tensor& out) {
  const Operand numbers(self.get());
  const Result result(out.get());
  const auto* from = numbers.data<uint8_t>();
  auto* to = result.data<uint8_t>();
  const int64_t pairs = self.numel() / 2;
  const lamella_status st = parallel_for(0, pairs, grain, [&](int64_t begin, int64_t end) -> lamella_status {
    quantization_loops().pack(end - begin, from + 2 * begin, to + begin);
    return LAMELLA_OK;
  });
  if (self.numel() % 2) to[pairs] = from[2 * pairs] & 15;
  return st ? st : result.finish();
}

Status unpack_nibbles(const Tensor& self, IntArrayRef, ScalarType dtype, const Tensor& out) {
  const Operand bytes(self.get());
  const Result result(out.get());
  const int sign = dtype == kInt8 ? 8 : 0;
  const auto* from = bytes.data<uint8_t>();
  auto* to = result.data<uint8_t>();
  const int64_t pairs = out.numel() / 2;
  const lamella_status st = parallel_for(0, pairs, grain, [&](int64_t begin, int64_t end) -> lamella_status {
    quantization_loops().unpack(end - begin, from + begin, sign, to + 2 * begin);
    return LAMELLA_OK;
  });
  if (out.numel() % 2) to[2 * pairs] = static_cast<uint8_t>(((from[pairs] & 15) ^ sign) - sign);
  return st ? st : result.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<quantize>(m, "_quantize");
  add<dequantize>(m, "_dequantize");
  add<requantize>(m, "_requantize");
  add<quantize_rows>(m, "_quantize_rows");
  add<pack_nibbles>(m, "_pack_nibbles");
  add<unpack_nibbles>(m, "_unpack_nibbles");
}

}  // namespace lamella::cpu
