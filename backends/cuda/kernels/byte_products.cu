// Linear layers whose weight is integers, of eight bits or of four, two a byte.
#include "byte_products.h"
#include "rows.cuh"

// ---- integers by integers -------------------------------------------------------------------------------------------

// Writes the result for a sum. Sums are unsigned, since they wrap.
DEVICE void finish(const Epilogue& e, u32 sum, i64 i, i64 j, void* out, i64 at) {
  const u32 zero = (e.zeros ? (u32)e.zeros[i * e.zero_step] : 0) + (u32)e.shift;
  if (e.weight_sums) sum -= zero * (u32)e.weight_sums[j];
  if (!e.scales) {
    static_cast<i32*>(out)[at] = (i32)sum;
    return;
  }
  const float scale = e.scales[j * e.scale_step];
  float y = (float)(i32)sum * (e.row_scales ? e.row_scales[i * e.row_step] * scale : scale);
  if (e.bias) y += e.bias[j];
  static_cast<float*>(out)[at] = y;
}

// Returns sum + the products of four bytes each. The first ones are signed if `Signed`, the second ones always.
template <bool Signed>
DEVICE i32 add_products(i32 sum, u32 x, u32 w) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
  if (Signed)
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(w));
  else
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(w));
  return sum;
#else
  for (int i = 0; i < 32; i += 8) sum += (Signed ? (i32)(i8)(x >> i) : (i32)(u8)(x >> i)) * (i8)(w >> i);
  return sum;
#endif
}

// N bytes, as words of four if N is a multiple of four.
template <int N>
struct Bytes {
  static constexpr int words = N % 4 ? N : N / 4;
  u32 word[words];
  DEVICE explicit Bytes(const u8* from) {
    if constexpr (N % 4 == 0) {
      const auto some = *reinterpret_cast<const Pack<u32, words>*>(from);
#pragma unroll
      for (int i = 0; i < words; i++) word[i] = some.v[i];
    } else {
#pragma unroll
      for (int i = 0; i < words; i++) word[i] = from[i];
    }
  }
};

// A warp computes a column of the result, which is a row of the weight, for M rows of x at a time. N is the number of
// bytes of a load. The grid's second dimension shares the rows of x.
template <bool Signed, int N, int M>
__global__ void __launch_bounds__(256)
    multiply_bytes(const u8* x, const u8* weight, void* out, Epilogue e, i64 rows, i64 columns, i64 depth) {
  for (i64 first = (i64)blockIdx.y * M; first < rows; first += (i64)gridDim.y * M) {
    for (i64 j = row_of_group(); j < columns; j += row_step()) {
      i32 sums[M] = {};
      for (i64 k = threadIdx.x * N; k < depth; k += 32 * N) {
        const Bytes<N> w(weight + j * depth + k);
#pragma unroll
        for (int m = 0; m < M; m++) {
          const i64 row = first + m < rows ? first + m : rows - 1;
          const Bytes<N> some(x + row * depth + k);
#pragma unroll
          for (int i = 0; i < Bytes<N>::words; i++) sums[m] = add_products<Signed>(sums[m], some.word[i], w.word[i]);
        }
      }
#pragma unroll
      for (int m = 0; m < M; m++) {
        const u32 sum = fold_group<Add>((u32)sums[m]);
        if (threadIdx.x == 0 && first + m < rows) finish(e, sum, first + m, j, out, (first + m) * columns + j);
      }
    }
  }
}

// Writes results for sums that cuBLASLt has computed.
__global__ void __launch_bounds__(256) finish_sums(const i32* sums, void* out, Epilogue e, i64 rows, i64 columns) {
  const i64 step = grid_threads();
  for (i64 at = thread_index(); at < rows * columns; at += step)
    finish(e, (u32)sums[at], at / columns, at % columns, out, at);
}

// Writes the sum of each row of a weight.
template <int N>
__global__ void __launch_bounds__(256) sum_rows(const u8* weight, i32* out, i64 rows, i64 depth) {
  for (i64 j = row_of_group(); j < rows; j += row_step()) {
    i32 sum = 0;
    for (i64 k = threadIdx.x * N; k < depth; k += 32 * N) {
      const Bytes<N> w(weight + j * depth + k);
#pragma unroll
      for (int i = 0; i < Bytes<N>::words; i++) sum = add_products<false>(sum, N % 4 ? 1u : 0x01010101u, w.word[i]);
    }
    const u32 all = fold_group<Add>((u32)sum);
    if (threadIdx.x == 0) out[j] = (i32)all;
  }
}

// Makes uint8 into int8, or back: x - 128.
template <int N>
__global__ void __launch_bounds__(256) shift_bytes(const u8* in, u8* out, i64 packs) {
  for (i64 p = thread_index(); p < packs; p += grid_threads()) {
    Pack<u8, N> some = reinterpret_cast<const Pack<u8, N>*>(in)[p];
#pragma unroll
    for (int i = 0; i < N; i++) some.v[i] ^= 0x80;
    reinterpret_cast<Pack<u8, N>*>(out)[p] = some;
  }
}

// ---- floats by integers ---------------------------------------------------------------------------------------------

// Reads the values of eight codes, without their scale.
template <bool Nibbles>
DEVICE void read_eight(float (&w)[8], const u8* from) {
  if constexpr (Nibbles) {
    const u32 word = *reinterpret_cast<const u32*>(from);
#pragma unroll
    for (int i = 0; i < 8; i++) w[i] = (float)((i32)(word << (28 - 4 * i)) >> 28);
  } else {
    const auto some = *reinterpret_cast<const Pack<i8, 8>*>(from);
#pragma unroll
    for (int i = 0; i < 8; i++) w[i] = some.v[i];
  }
}
template <class T>
DEVICE void read_eight(float (&x)[8], const T* from) {
  constexpr int N = sizeof(T) == 2 ? 8 : 4;
#pragma unroll
  for (int at = 0; at < 8; at += N) {
    float some[N];
    widen(some, *reinterpret_cast<const Pack<T, N>*>(from + at));
#pragma unroll
    for (int i = 0; i < N; i++) x[at + i] = some[i];
  }
}

// A warp computes a column of the result, which is a row of the weight, for up to M rows of x. Each eight neighbours of
// a row of the weight share a scale. There is a row of the grid for each M rows of x.
template <class T, bool Nibbles, int M>
__global__ void __launch_bounds__(256)
    multiply_codes(const T* x, const u8* codes, const float* scales, const T* bias, T* out, i64 rows, i64 columns,
                   i64 depth, i64 group) {
  const i64 first = (i64)blockIdx.y * M, groups = depth / group;
  for (i64 j = row_of_group(); j < columns; j += row_step()) {
    const u8* row_of_codes = codes + j * (Nibbles ? depth / 2 : depth);
    float sums[M] = {};
#pragma unroll 4
    for (i64 k = threadIdx.x * 8; k < depth; k += 32 * 8) {
      float w[8];
      read_eight<Nibbles>(w, row_of_codes + (Nibbles ? k / 2 : k));
      const float scale = scales[j * groups + (groups == 1 ? 0 : (u32)k / (u32)group)];
#pragma unroll
      for (int i = 0; i < 8; i++) w[i] *= scale;  // first, so that sums overflow no earlier than the result
#pragma unroll
      for (int m = 0; m < M; m++) {
        const i64 row = first + m < rows ? first + m : rows - 1;
        float some[8];
        read_eight(some, x + row * depth + k);
#pragma unroll
        for (int i = 0; i < 8; i++) sums[m] += some[i] * w[i];
      }
    }
#pragma unroll
    for (int m = 0; m < M; m++) {
      float y = fold_group<Add>(sums[m]);
      if (bias) y += wide(bias[j]);
      if (threadIdx.x == 0 && first + m < rows) out[(first + m) * columns + j] = narrow<T>(y);
    }
  }
}

// Writes the values of a weight; each `group` neighbours share a scale.
template <class T, bool Nibbles>
__global__ void __launch_bounds__(256)
    values_of_codes(const u8* codes, const float* scales, T* out, i64 count, i64 group) {
  constexpr int N = Nibbles ? 2 : 1;
  for (i64 i = thread_index(); i * N < count; i += grid_threads()) {
    const float scale = scales[i * N / group];
    if constexpr (Nibbles) {
      const i32 low = (i32)((u32)codes[i] << 28) >> 28, high = (i32)((u32)codes[i] << 24) >> 28;
      out[2 * i] = narrow<T>((float)low * scale);
      out[2 * i + 1] = narrow<T>((float)high * (group % 2 ? scales[(2 * i + 1) / group] : scale));
    } else {
      out[i] = narrow<T>((float)(i8)codes[i] * scale);
    }
  }
}
