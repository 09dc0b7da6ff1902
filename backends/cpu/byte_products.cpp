// Convolutions and linear layers of bytes, whose sums are exact in int32: _int_conv and _int_linear. The products are
// those of _int_mm. oneDNN's convolutions of bytes are not used: with AVX2 or AVX-512 but without VNNI they are not
// exact.
#include <algorithm>
#include <cstring>

#include "backends/cpu/convolution.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/quantization.h"

namespace lamella::cpu {
namespace {

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

// Images are read in one of two ways: their bytes are multiplied as signed ones, or as bytes from 0 to 127.
struct Images {
  bool seven;  // all bytes are from 0 to 127, and there are loops for these
  bool flips;  // the bytes are unsigned, and 128 is subtracted from each, by inverting the highest bit
  // To be added to the sums of each channel, so that the zero point is subtracted; null if it is 0.
  const uint32_t* offsets;

  const GemmKernels& kernels() const { return seven ? byte_gemms().seven_right : byte_gemms().s8; }
  // Multiplies on the calling thread. oneDNN computes large products if the processor has AMX: see
  // docs/decisions/0032-narrow-products.md.
  lamella_status multiply(const Gemm& g, void* space) const {
    if (std::min({g.m, g.n, g.k}) >= 256 && amx_multiplies(LAMELLA_INT8) && onednn_multiply(LAMELLA_INT8, g))
      return static_cast<lamella_status>(interrupted());
    return static_cast<lamella_status>(kernels().multiply(g, space));
  }
};

// Inverts the highest bit of each byte.
void flip_signs(char* bytes, int64_t n) {
  for (int64_t k = 0; k < n; k++) bytes[k] ^= '\x80';
}

lamella_status convolve_units(const Convolution& c, const Units& u, const int64_t* tap, const Images& images,
                              int64_t begin, int64_t end) {
  const int64_t depth = c.depth();
  const GemmKernels& kernels = images.kernels();
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
      if (images.flips) flip_signs(padded.data(), c.in * c.plane);
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
                 images.offsets ? images.offsets + channel : nullptr,
                 nullptr,
                 interrupted};
    if (lamella_status st = images.multiply(g, space.data())) return st;
  }
  return LAMELLA_OK;
}

// Writes the sum of each row of the weight times a factor.
void sum_rows(const char* weights, int64_t rows, int64_t depth, uint32_t factor, uint32_t* to) {
  const auto* w = reinterpret_cast<const int8_t*>(weights);
  for (int64_t i = 0; i < rows; i++, w += depth) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; k++) sum += static_cast<uint32_t>(w[k]);
    to[i] = sum * factor;
  }
}

Status int_conv(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, int64_t groups, int64_t zero_point, const Tensor& out) {
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
  const lamella_tensor* x = input.get();
  Images images{};
  images.seven = byte_gemms().seven_right.multiply && x->flags & LAMELLA_DENSE && zero_point >= 0 && zero_point < 128 &&
                 !has_high_bit(static_cast<const char*>(x->dl.data), x->numel);
  images.flips = x->dtype == LAMELLA_UINT8 && !images.seven;
  c.filler = static_cast<char>(zero_point);
  const auto zero = static_cast<uint32_t>(zero_point) - (images.flips ? 128u : 0u);
  if (zero) {
    if (lamella_status st = sums.take(channels * 4)) return st;
    auto* offsets = reinterpret_cast<uint32_t*>(sums.data());
    sum_rows(c.weights, channels, c.depth(), -zero, offsets);
    images.offsets = offsets;
  }
  const Units u(c, threads);
  const int64_t units = u.count(c);
  const auto least = static_cast<int64_t>(3e6 * static_cast<double>(u.blocks * u.parts) / c.work()) + 1;
  lamella_status st = parallel_for(0, units, std::max(least, units / threads), [&](int64_t begin, int64_t end) {
    return convolve_units(c, u, tap, images, begin, end);
  });
  return st ? st : results.finish();
}

// ---- linear layers ----

// Writes the sum of each row of a matrix of bytes, which wraps.
lamella_status add_rows(const int8_t* matrix, int64_t rows, int64_t depth, int32_t* to) {
  return parallel_for(0, rows, grain / (depth + 1) + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < depth; k++) sum += static_cast<uint32_t>(matrix[i * depth + k]);
      to[i] = static_cast<int32_t>(sum);
    }
    return LAMELLA_OK;
  });
}

Status int_linear(const Tensor& input, const Tensor& weight, const Tensor& zero_point, const Tensor& input_scale,
                  const Tensor& scale, const Tensor& bias, const Tensor& weight_sums, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const int64_t depth = weight.size(1), columns = weight.size(0), rows = out.numel() / columns;
  const Operand x(input.get()), w(weight.get()), zeros(zero_point.get()), by(input_scale.get()), scales(scale.get()),
      biases(bias.get()), sums(weight_sums.get());
  const Result results(out.get());
  const Matrix a{static_cast<char*>(x->dl.data), rows, depth, depth, 1},
      b{static_cast<char*>(w->dl.data), depth, columns, 1, depth}, c{results.data(), rows, columns, columns, 1};
  if (lamella_status st = multiply(input.get()->dtype, a, b, c)) return st;
  if (!scale.defined() && !zero_point.defined()) return results.finish();
  const int32_t* of_w = sums.data<int32_t>();
  Space space;
  if (zeros && !of_w) {
    if (lamella_status st = space.take(columns * 4)) return st;
    auto* to = reinterpret_cast<int32_t*>(space.data());
    if (lamella_status st = add_rows(w.data<int8_t>(), columns, depth, to)) return st;
    of_w = to;
  }
  static const QuantizationLoops& loop = LAMELLA_BY_ISA(quantization)();
  const bool zero_each = zeros && zero_point.numel() == rows, by_each = by && input_scale.numel() == rows;
  lamella_status st = parallel_for(0, rows, grain / columns + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    Finish f{0, of_w, 1, scales.data<float>(), scales && scale.numel() == columns, biases.data<float>()};
    for (int64_t i = begin; i < end; i++) {
      if (zeros) f.zero = static_cast<uint32_t>(zeros.data<int32_t>()[zero_each ? i : 0]);
      if (by) f.by = by.data<float>()[by_each ? i : 0];
      loop.finish(f, columns, c.data + i * columns * 4);
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
