// Convolutions and linear layers of bytes, whose sums are exact in int32: _int_conv and _int_linear. The products are
// those of _int_mm. oneDNN's convolutions of bytes are not used: with AVX2 or AVX-512 but without VNNI they are not
// exact.
#include <algorithm>
#include <cstring>

#include "backends/cpu/convolution.h"
#include "backends/cpu/matmul.h"

namespace lamella::cpu {
namespace {

int interrupted() { return api().check_interrupt(); }

// ---- convolutions ----

// How a convolution is cut into units of work: each image and group into blocks of places, and each block into parts of
// the output channels, so that few places keep all threads busy, too. Units with the same block follow each other.
struct Units {
  int64_t step, blocks, channels, parts;

  Units(const Convolution& c, int64_t threads) {
    constexpr int64_t bytes = 1 << 19;  // of a block's columns
    step = std::min(std::clamp<int64_t>(bytes / c.depth() / 32 * 32, 96, 1024), c.count);
    blocks = (c.count + step - 1) / step;
    const int64_t others = c.images * c.groups * blocks;
    const int64_t wanted = std::clamp<int64_t>((threads + others - 1) / others, 1, std::max<int64_t>(c.outs / 32, 1));
    channels = (c.outs + wanted - 1) / wanted;
    parts = (c.outs + channels - 1) / channels;
  }
  int64_t count(const Convolution& c) const { return c.images * c.groups * blocks * parts; }
};

// Writes the columns (depth, places) of the places [begin, end) of a padded image.
void gather_columns(const Convolution& c, const int64_t* tap, const int64_t* row, const char* image, int64_t begin,
                    int64_t end, char* to) {
  const int64_t width = c.places[2], first = begin / width, x = begin % width;
  for (int64_t channel = 0; channel < c.in; channel++)
    for (int64_t t = 0; t < c.taps; t++) {
      const char* from = image + channel * c.plane + tap[t];
      int64_t left = end - begin, at = x;
      for (const int64_t* r = row + first; left > 0; r++, at = 0) {
        const int64_t n = std::min(width - at, left);
        std::memcpy(to, from + *r + at, n);
        to += n;
        left -= n;
      }
    }
}

// A product of bytes on the calling thread. oneDNN computes large ones if the processor has AMX: see
// docs/decisions/0032-narrow-products.md.
lamella_status multiply_block(const Gemm& g, void* space) {
  if (std::min({g.m, g.n, g.k}) >= 256 && amx_multiplies(LAMELLA_INT8) && onednn_multiply(LAMELLA_INT8, g))
    return static_cast<lamella_status>(interrupted());
  return static_cast<lamella_status>(byte_gemms().s8.multiply(g, space));
}

// Inverts the highest bit of each byte.
void flip_signs(char* bytes, int64_t n) {
  for (int64_t k = 0; k < n; k++) bytes[k] ^= '\x80';
}

// Unsigned images are read as signed ones: inverting the highest bits subtracts 128, also from the padding. Each sum
// then lacks 128 times the sum of the channel's weights, which `offsets` adds; it is null for signed images.
lamella_status convolve_units(const Convolution& c, const Units& u, const int64_t* tap, const uint32_t* offsets,
                              int64_t begin, int64_t end) {
  const int64_t depth = c.depth();
  const GemmKernels& kernels = byte_gemms().s8;
  Space padded, columns, space;
  if (lamella_status st = take_padded(&padded, c, c.in)) return st;
  if (lamella_status st = columns.take(depth * u.step)) return st;
  if (lamella_status st = space.take(kernels.space(u.channels, u.step, depth))) return st;
  int64_t image_there = -1, block_there = -1;
  for (int64_t i = begin; i < end; i++) {
    const int64_t block = i / u.parts, item = block / u.blocks, group = item % c.groups;
    const int64_t from = block % u.blocks * u.step, n = std::min(u.step, c.count - from);
    if (item != image_there) {
      for (int64_t k = 0; k < c.in; k++) pad_channel(c, item / c.groups, group * c.in + k, padded.data() + k * c.plane);
      if (offsets) flip_signs(padded.data(), c.in * c.plane);
      image_there = item;
    }
    if (block != block_there) gather_columns(c, tap, tap + c.taps, padded.data(), from, from + n, columns.data());
    block_there = block;
    const int64_t out = i % u.parts * u.channels, channel = group * c.outs + out;
    const Gemm g{std::min(u.channels, c.outs - out),
                 n,
                 depth,
                 c.weights + channel * depth,
                 depth,
                 1,
                 columns.data(),
                 n,
                 1,
                 c.results + ((item * c.outs + out) * c.count + from) * 4,
                 c.count,
                 offsets ? offsets + channel : nullptr,
                 nullptr,
                 interrupted};
    if (lamella_status st = multiply_block(g, space.data())) return st;
  }
  return LAMELLA_OK;
}

// Writes 128 times the sum of each row of the weight.
void sum_rows(const char* weights, int64_t rows, int64_t depth, uint32_t* to) {
  const auto* w = reinterpret_cast<const int8_t*>(weights);
  for (int64_t i = 0; i < rows; i++, w += depth) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; k++) sum += static_cast<uint32_t>(w[k]);
    to[i] = sum * 128;
  }
}

Status int_conv(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  Convolution c;
  read_convolution(input.get(), weight.get(), nullptr, out.get(), stride, padding, dilation, groups, &c);
  // The composite converts to int32 for sums over nothing, and for one input channel a group, which it adds up without
  // a product of matrices.
  if (c.in == 0 || (c.in == 1 && groups > 1)) return LAMELLA_DECLINED;
  c.dtype = c.source = LAMELLA_INT8;  // bytes are only copied into the padded image
  c.size = 1;
  const Operand weights(weight.get());
  const Result results(out.get());
  c.weights = weights.data();
  c.results = results.data();
  const int64_t channels = c.groups * c.outs, threads = api().num_threads();
  Space table, sums;
  if (lamella_status st = table.take((c.taps + c.rows()) * 8)) return st;
  auto* tap = reinterpret_cast<int64_t*>(table.data());
  locate(c, tap, tap + c.taps);
  uint32_t* offsets = nullptr;
  if (input.get()->dtype == LAMELLA_UINT8) {
    if (lamella_status st = sums.take(channels * 4)) return st;
    offsets = reinterpret_cast<uint32_t*>(sums.data());
    sum_rows(c.weights, channels, c.depth(), offsets);
  }
  const Units u(c, threads);
  const int64_t units = u.count(c);
  const auto least = static_cast<int64_t>(3e6 * static_cast<double>(u.blocks * u.parts) / c.work()) + 1;
  lamella_status st =
      parallel_for(0, units, std::max(least, (units + threads - 1) / threads),
                   [&](int64_t begin, int64_t end) { return convolve_units(c, u, tap, offsets, begin, end); });
  return st ? st : results.finish();
}

// ---- linear layers ----

// Replaces the sums of a row by sum * scale + bias, which have the same size in memory.
template <bool Adds>
void dequantize(int64_t columns, char* row, const float* scales, const float* bias) {
  for (int64_t j = 0; j < columns; j++) {
    int32_t sum;
    std::memcpy(&sum, row + 4 * j, 4);
    float x = static_cast<float>(sum) * scales[j];
    if constexpr (Adds) x += bias[j];
    std::memcpy(row + 4 * j, &x, 4);
  }
}

Status int_linear(const Tensor& input, const Tensor& packed, const Tensor& scale, const Tensor& bias,
                  const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const int64_t depth = packed.size(0), columns = packed.size(1), rows = out.numel() / columns;
  const Operand x(input.get()), scales(scale.get()), biases(bias.get());
  const Result results(out.get());
  const Matrix a{static_cast<char*>(x->dl.data), rows, depth, depth, 1}, c{results.data(), rows, columns, columns, 1};
  if (lamella_status st = multiply(input.get()->dtype, a, matrix(packed.get()), c)) return st;
  if (!scale.defined()) return results.finish();
  Space repeated;
  const auto* by = scales.data<float>();
  if (scale.numel() != columns) {
    if (lamella_status st = repeated.take(columns * 4)) return st;
    auto* to = reinterpret_cast<float*>(repeated.data());
    std::fill_n(to, columns, *by);
    by = to;
  }
  lamella_status st = parallel_for(0, rows, grain / columns + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) {
      char* row = c.data + i * columns * 4;
      biases ? dequantize<true>(columns, row, by, biases.data<float>()) : dequantize<false>(columns, row, by, nullptr);
    }
    return LAMELLA_OK;
  });
  return st ? st : results.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<int_conv>(m, "_int_conv");
  add<int_linear>(m, "_int_linear");
}

}  // namespace lamella::cpu
