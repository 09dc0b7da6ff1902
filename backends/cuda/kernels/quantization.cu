// The kernels quantize numbers, and rows by their own range; they make codes of sums and values of codes, and put codes
// of four bits two into a byte.
#include "quantization.h"
#include "rows.cuh"

// Returns the number of the scale of an element.
DEVICE i64 block_of(const Blocks& b, i64 i) {
  if (b.count == 1) return 0;
  if (!b.is_short) return (b.first + i) / b.inner % b.count;
  const u32 block = divide((u32)(b.first + i), b.by_inner);
  return block - divide(block, b.by_count) * (u32)b.count;
}
DEVICE i64 zero_of(const Blocks& b, i64 block) { return b.zeros ? b.zeros[block] : 0; }

// Returns the code of a number. NaN becomes `low`. A quotient plus a zero point may leave 32 bits, so the sum has 64.
DEVICE i64 code_of(float x, float scale, i64 zero, i64 low, i64 high) {
  const float q = rintf(x / scale), beyond = 1e18f;
  const i64 code = (q > -beyond ? q < beyond ? (i64)q : (i64)beyond : -(i64)beyond) + zero;
  return code < low ? low : code > high ? high : code;
}

// Elements are taken N at a time, and N neighbours share a scale.
template <class T, class C, int N>
__global__ void __launch_bounds__(256) quantize(const T* in, C* out, Blocks blocks, i64 low, i64 high, i64 packs) {
  for (i64 p = thread_index(); p < packs; p += grid_threads()) {
    const i64 block = block_of(blocks, p * N), zero = zero_of(blocks, block);
    const float scale = blocks.scales[block];
    float x[N];
    widen(x, reinterpret_cast<const Pack<T, N>*>(in)[p]);
    Pack<C, N> codes;
#pragma unroll
    for (int j = 0; j < N; j++) codes.v[j] = (C)code_of(x[j], scale, zero, low, high);
    reinterpret_cast<Pack<C, N>*>(out)[p] = codes;
  }
}

template <class C, class T, int N>
__global__ void __launch_bounds__(256) dequantize(const C* in, T* out, Blocks blocks, i64 packs) {
  for (i64 p = thread_index(); p < packs; p += grid_threads()) {
    const i64 block = block_of(blocks, p * N), zero = zero_of(blocks, block);
    const float scale = blocks.scales[block];
    const Pack<C, N> codes = reinterpret_cast<const Pack<C, N>*>(in)[p];
    float y[N];
#pragma unroll
    for (int j = 0; j < N; j++) y[j] = (float)((i64)codes.v[j] - zero) * scale;
    store(out + p * N, y);
  }
}

// Writes the codes of float32(sum) * scale + bias by the result's scale and zero point. `Each` says that neighbours in
// a pack may belong to different blocks. A null bias is 0.
template <class C, int N, bool Each>
__global__ void __launch_bounds__(256)
    requantize(const i32* in, C* out, Blocks blocks, const float* bias, float to_scale, i64 zero, i64 low, i64 high,
               i64 packs) {
  for (i64 p = thread_index(); p < packs; p += grid_threads()) {
    const Pack<i32, N> sums = reinterpret_cast<const Pack<i32, N>*>(in)[p];
    i64 block = block_of(blocks, p * N);
    Pack<C, N> codes;
#pragma unroll
    for (int j = 0; j < N; j++) {
      if (Each && j) block = block_of(blocks, p * N + j);
      float y = (float)sums.v[j] * blocks.scales[block];
      if (bias) y += bias[block];
      codes.v[j] = (C)code_of(y, to_scale, zero, low, high);
    }
    reinterpret_cast<Pack<C, N>*>(out)[p] = codes;
  }
}

// Least::of() returns the smaller one; NaN wins.
struct Least {
  template <class W>
  static __device__ W of(W x, W y) {
    return x < y || x != x ? x : y;
  }
};

// Quantizes each row by its least and its greatest number, widened to contain 0. N and K: see Row.
template <class T, class C, int N, int K>
__global__ void __launch_bounds__(K ? 512 : 1024)
    quantize_rows(const T* in, C* out, float* scales, i32* zeros, i64 rows, i64 length, i64 low, i64 high,
                  bool symmetric, bool keeps) {
  float* space = row_space<float>(keeps, length);
  const float steps = (float)(high - low);
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T, N, K> row(in + r * length, length, space);
    float least = 0, most = 0;
    row.each([&](float x) {
      least = Least::of(x, least);
      most = Most::of(x, most);
    });
    least = fold_group<Least, 1>(least);
    most = fold_group<Most, 2>(most);
    const float chosen = symmetric ? Most::of(-least, most) / (steps / 2) : (most - least) / steps;
    const bool good = chosen > 0 && chosen < infinity<float>();
    const float scale = good ? chosen : 1;
    i64 zero = symmetric ? (low + high + 1) >> 1 : good ? low - (i64)rintf(least / scale) : 0;
    zero = zero < low ? low : zero > high ? high : zero;
    if (threadIdx.x == 0) scales[r] = scale, zeros[r] = (i32)zero;
    row.packs_of_row([&](i64 k, const float(&x)[N]) {
      Pack<C, N> codes;
#pragma unroll
      for (int j = 0; j < N; j++) codes.v[j] = (C)code_of(x[j], scale, zero, low, high);
      *reinterpret_cast<Pack<C, N>*>(out + r * length + k) = codes;
    });
  }
}

// ---- four bits ------------------------------------------------------------------------------------------------------

// Packs `count` numbers; the last byte of an odd number of them has 0 in its high half.
__global__ void __launch_bounds__(256) pack_nibbles(const u8* in, u8* out, i64 count) {
  for (i64 i = thread_index(); 2 * i < count; i += grid_threads()) {
    const u8 second = 2 * i + 1 < count ? in[2 * i + 1] : 0;
    out[i] = (u8)(in[2 * i] & 15 | second << 4);
  }
}
// Unpacks `count` numbers. `sign` is 8 for numbers from -8 to 7, and 0 for those from 0 to 15.
__global__ void __launch_bounds__(256) unpack_nibbles(const u8* in, u8* out, i64 count, int sign) {
  for (i64 i = thread_index(); 2 * i < count; i += grid_threads()) {
    out[2 * i] = (u8)((in[i] & 15 ^ sign) - sign);
    if (2 * i + 1 < count) out[2 * i + 1] = (u8)((in[i] >> 4 ^ sign) - sign);
  }
}
