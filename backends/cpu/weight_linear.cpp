// Linear layers whose weight is integers with scales, on the CPU. A few rows are multiplied by the codes as they lie;
// for more rows blocks of the weight are converted to floats and multiplied as matrices.
#include "backends/cpu/weight_linear.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/quantization.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

const AllWeightLoops& all_loops() {
  static const AllWeightLoops& chosen = LAMELLA_BY_ISA(weight_loops)();
  return chosen;
}
const QuantizationLoops& conversions() {
  static const QuantizationLoops& chosen = LAMELLA_BY_ISA(quantization)();
  return chosen;
}

// One call, in float32.
struct Layer {
  int64_t rows, depth, features, groups;
  bool nibbles;
  const float* x;
  const char* codes;
  const float* scales;
  float* out;  // (rows, features)

  int64_t bytes() const { return nibbles ? depth / 2 : depth; }  // of a row of codes
};

lamella_status few_rows(const Layer& l, const WeightLoops& loop) {
  const int64_t row = loop.arranged(l.depth);
  Space space;
  if (lamella_status st = space.take(l.rows * row * 4)) return st;
  auto* x = reinterpret_cast<float*>(space.data());
  for (int64_t i = 0; i < l.rows; i++) loop.arrange(l.depth, l.x + i * l.depth, x + i * row);
  const FewRows f{l.rows, l.depth, l.groups, x};
  return parallel_for(0, l.features, 4 * grain / (l.depth + 1) + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    constexpr int64_t block = 256;  // rows between checks for interrupts
    for (int64_t j = begin; j < end; j += block) {
      loop.multiply(f, std::min(block, end - j), l.codes + j * l.bytes(), l.scales + j * l.groups, l.out + j,
                    l.features);
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  });
}

// Returns whether all numbers of x are finite, and so small that sums of them do not overflow; see Note [Nibbles].
bool are_moderate(const Layer& l) {
  constexpr float most = 1e30f;
  int beyond = 0;
  for (int64_t i = 0; i < l.rows * l.depth; i++) beyond += !(std::fabs(l.x[i]) <= most);
  return !beyond;
}

// Writes the values of n rows of the weight from `first` on; `unpacked` has room for their codes.
void convert_rows(const Layer& l, int64_t first, int64_t n, uint8_t* unpacked, float* to) {
  const auto* codes = reinterpret_cast<const uint8_t*>(l.codes) + first * l.bytes();
  if (l.nibbles) conversions().unpack(n * l.bytes(), codes, 8, unpacked);
  const uint8_t* from = l.nibbles ? unpacked : codes;
  const Codes of{-128, 127, LAMELLA_INT8, false};
  const int64_t size = l.depth / l.groups;
  for (int64_t g = 0; g < n * l.groups; g++)
    conversions().dequantize(size, from + g * size, l.scales[first * l.groups + g], 0, of, to + g * size);
}

lamella_status many_rows(const Layer& l) {
  constexpr int64_t block = 64;
  const int64_t blocks = (l.features + block - 1) / block;
  return parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) -> lamella_status {
    Space values, unpacked;
    if (lamella_status st = values.take(block * l.depth * 4)) return st;
    if (lamella_status st = unpacked.take(l.nibbles ? block * l.depth : 0)) return st;
    for (int64_t b = begin; b < end; b++) {
      const int64_t first = b * block, n = std::min(block, l.features - first);
      convert_rows(l, first, n, reinterpret_cast<uint8_t*>(unpacked.data()), reinterpret_cast<float*>(values.data()));
      const Matrix x{reinterpret_cast<char*>(const_cast<float*>(l.x)), l.rows, l.depth, l.depth, 1},
          w{values.data(), l.depth, n, 1, l.depth},
          out{reinterpret_cast<char*>(l.out + first), l.rows, n, l.features, 1};
      if (lamella_status st = multiply(LAMELLA_FLOAT32, x, w, out)) return st;
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  });
}

Status weight_linear(const Tensor& input, const Tensor& weight, const Tensor& scale, const Tensor& bias,
                     const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  if (input.dtype() == kDouble) return LAMELLA_DECLINED;
  const Operand x(input.get(), LAMELLA_FLOAT32), w(weight.get()), scales(scale.get()),
      biases(bias.get(), LAMELLA_FLOAT32);
  const Result to(out.get(), LAMELLA_FLOAT32);
  Layer l{};
  l.nibbles = weight.dtype() == kUInt8;
  l.features = weight.size(0);
  l.depth = weight.size(1) * (l.nibbles ? 2 : 1);
  l.rows = out.numel() / l.features;
  l.groups = scale.size(1);
  if (!l.depth) return LAMELLA_DECLINED;
  l.x = x.data<float>();
  l.codes = w.data();
  l.scales = scales.data<float>();
  l.out = to.data<float>();
  const WeightLoops& loop = l.nibbles ? all_loops().int4 : all_loops().int8;
  const bool few = l.rows <= most_rows && loop.serves(l.depth, l.groups) && are_moderate(l);
  if (lamella_status st = few ? few_rows(l, loop) : many_rows(l)) return st;
  if (biases)
    for (int64_t i = 0; i < l.rows; i++)
      for (int64_t j = 0; j < l.features; j++) l.out[i * l.features + j] += biases.data<float>()[j];
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) { add<weight_linear>(m, "_weight_linear"); }

}  // namespace lamella::cpu
