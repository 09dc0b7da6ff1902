// The matrix instruction of four warps of Hopper's devices, which reads its right matrix from shared memory. On other
// devices the same functions use the instruction of one warp.
//
// Note [Groups]  Four warps, which begin at a multiple of four, are a group. multiply_group adds to a 64 x 64 matrix
//   the product of a 64 x 16 and a 16 x 64 one. Both are in Tiles of 64 columns that begin at multiples of 1024 bytes:
//   the order of their chunks is the instruction's swizzle of 128 bytes. multiply_group_turned takes the left one as
//   fragments of 16 rows a warp instead; the fragments and the sums are as in Note [Fragments]. The instruction is
//   asynchronous. begin_group is called before the first instruction after sums or fragments were changed, and
//   end_group waits until all instructions are done. Both name the sums, so that the compiler writes them before and
//   reads them after. The instruction reads copies in shared memory only after show_to_groups, which each thread that
//   copied calls before the barrier.
// Note [Left of loops]  A left matrix that stays the same in every round of a loop is read from shared memory. As
//   fragments that live through the loop it was lost: the assembler of CUDA 13.0 gives their registers to other values.
#pragma once
#include "mma.cuh"

// The product of float32, by Note [Split floats], always by the instruction of one warp. multiply_group_turned computes
// four of the eight products of 64 columns, those that `half` selects. The sums of column_of_product(j, g) take the
// place of column 8 * j + g of two-byte floats.
DEVICE void multiply_group(float (&c)[8][4], const Tile<float, 64>& a, const Tile<float, 64>& b, int step) {
  const int lane = threadIdx.x % 32;
  u32 words[4];
  a.left(words, threadIdx.x / 32 % 4 * 16, step, lane);
  const SplitLeft left(words);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    u32 right[4][2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
      u32 two[4];
      b.right(two, half * 32 + j * 16, step, lane);
#pragma unroll
      for (int i = 0; i < 4; i++) right[2 * j + i / 2][i % 2] = two[i];
    }
    multiply_split(&c[half * 4], left, right);
  }
}
DEVICE void multiply_group_turned(float (&c)[4][4], const u32 (&a)[4], const Tile<float, 64>& b, int step, int half) {
  u32 right[4][2];
  b.right_turned(right, step * 8, half, threadIdx.x % 32);
  multiply_split(c, SplitLeft(a), right);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
template <int Parts>
DEVICE void name_sums(float (&c)[Parts][8][4]) {
#pragma unroll
  for (int p = 0; p < Parts; p++)
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int e = 0; e < 4; e++) asm volatile("" : "+f"(c[p][j][e])::"memory");
}
template <int Parts>
DEVICE void begin_group(float (&c)[Parts][8][4]) {
  name_sums(c);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
template <int Parts>
DEVICE void end_group(float (&c)[Parts][8][4]) {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  name_sums(c);
}
DEVICE void show_to_groups() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Returns PTX's matrix descriptor of shared memory: groups of 8 rows are 1024 bytes apart, swizzled by 128 bytes.
DEVICE u64 described(const void* at) {
  return (u64)(shared_address(at) >> 4 & 0x3fff) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
#define LAMELLA_SUMS                                                                                                    \
  "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]),             \
      "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]), "+f"(c[3][0]), "+f"(c[3][1]),         \
      "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]), "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]),         \
      "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]), "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]),         \
      "+f"(c[7][0]), "+f"(c[7][1]), "+f"(c[7][2]), "+f"(c[7][3])
#define LAMELLA_GROUP(type, name)                                                                                      \
  DEVICE void multiply_described(float (&c)[8][4], const u32 (&a)[4], u64 b, type) {                                   \
    asm volatile(                                                                                                      \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." name "." name                                                    \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "  \
        "%23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                         \
        : LAMELLA_SUMS                                                                                                 \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                           \
        : "memory");                                                                                                   \
  }                                                                                                                    \
  DEVICE void multiply_described(float (&c)[8][4], u64 a, u64 b, type) {                                               \
    asm volatile(                                                                                                      \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." name "." name                                                    \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "  \
        "%23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"                                       \
        : LAMELLA_SUMS                                                                                                 \
        : "l"(a), "l"(b)                                                                                               \
        : "memory");                                                                                                   \
  }
LAMELLA_GROUP(bfloat16, "bf16")
LAMELLA_GROUP(float16, "f16")
#undef LAMELLA_GROUP
#undef LAMELLA_SUMS
// Sums over columns 16 * step to 16 * step + 15 of both tiles, whose rows are the product's rows and columns.
template <class T>
DEVICE void multiply_group(float (&c)[8][4], const Tile<T, 64>& a, const Tile<T, 64>& b, int step) {
  multiply_described(c, described(a.data + step * 16), described(b.data + step * 16), T());
}
// Sums over rows 16 * step to 16 * step + 15 of the tile, whose columns are the product's.
template <class T>
DEVICE void multiply_group_turned(float (&c)[8][4], const u32 (&a)[4], const Tile<T, 64>& b, int step) {
  multiply_described(c, a, described(b.data + step * 16 * 64), T());
}
#else
template <int Parts>
DEVICE void begin_group(float (&)[Parts][8][4]) {}
template <int Parts>
DEVICE void end_group(float (&)[Parts][8][4]) {}
DEVICE void show_to_groups() {}
template <class T, class Load>
DEVICE void multiply_whole(float (&c)[8][4], const u32 (&a)[4], Load load) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    u32 right[4];
    load(j, right);
    multiply_warp(c[2 * j], a, right[0], right[1], T());
    multiply_warp(c[2 * j + 1], a, right[2], right[3], T());
  }
}
template <class T>
DEVICE void multiply_group(float (&c)[8][4], const Tile<T, 64>& a, const Tile<T, 64>& b, int step) {
  const int lane = threadIdx.x % 32;
  u32 left[4];
  a.left(left, threadIdx.x / 32 % 4 * 16, step, lane);
  multiply_whole<T>(c, left, [&](int j, u32(&right)[4]) { b.right(right, j * 16, step, lane); });
}
template <class T>
DEVICE void multiply_group_turned(float (&c)[8][4], const u32 (&a)[4], const Tile<T, 64>& b, int step) {
  multiply_whole<T>(c, a, [&](int j, u32(&right)[4]) { b.right_turned(right, step * 16, j, threadIdx.x % 32); });
}
#endif
