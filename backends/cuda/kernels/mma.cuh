// The matrix instruction of a warp for two-byte floats: a 16 x 16 and a 16 x 8 matrix, added to a 16 x 8 one of floats.
//
// Note [Fragments]  Lane l = 4 g + t holds, by PTX's m16n8k16: of the left matrix four words of two neighbours in a row,
//   (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8); of the right one two words of two neighbours in a column,
//   (2t, g), (2t + 8, g); of the sums (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once
#include "scalars.cuh"

DEVICE u32 two(float16 x, float16 y) { return (u32)y.bits << 16 | x.bits; }
DEVICE u32 two(bfloat16 x, bfloat16 y) { return (u32)y.bits << 16 | x.bits; }

#ifdef __CUDA_ARCH__
DEVICE void multiply_warp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, float16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE void multiply_warp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#else
// The same by exchanges between the lanes, where there is no such instruction.
template <class T>
DEVICE float low_of(u32 word, T) {
  return to_float(T{(u16)word});
}
template <class T>
DEVICE float high_of(u32 word, T) {
  return to_float(T{(u16)(word >> 16)});
}
template <class T>
DEVICE void multiply_warp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, T kind) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  for (int p = 0; p < 8; p++) {
    const u32 upper = __shfl_sync(~0u, a[p < 4 ? 0 : 2], g * 4 + p % 4), lower = __shfl_sync(~0u, a[p < 4 ? 1 : 3], g * 4 + p % 4);
    for (int j = 0; j < 2; j++) {
      const u32 column = __shfl_sync(~0u, p < 4 ? b0 : b1, (2 * t + j) * 4 + p % 4);
      c[j] += low_of(upper, kind) * low_of(column, kind) + high_of(upper, kind) * high_of(column, kind);
      c[2 + j] += low_of(lower, kind) * low_of(column, kind) + high_of(lower, kind) * high_of(column, kind);
    }
  }
}
#endif
