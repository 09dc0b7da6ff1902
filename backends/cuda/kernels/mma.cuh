// The matrix instruction of a warp for two-byte floats and for float32, and the instructions that load its operands.
// Each has a second body for programs without these instructions, as in tests on a CPU.
//
// Note [Fragments]  multiply_warp adds the product of a 16 x 16 and a 16 x 8 matrix to a 16 x 8 one of floats. Lane l =
//   4 g + t holds, by PTX's m16n8k16: of the left matrix four words of two neighbours in a row, (g, 2t), (g + 8, 2t),
//   (g, 2t + 8), (g + 8, 2t + 8); of the right one two words of two neighbours in a column, (2t, g), (2t + 8, g); of
//   the sums (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). So the sums of two neighbouring products, rounded to
//   two-byte floats, are the left matrix of a next product.
// Note [Split floats]  The instruction takes float32 as TF32, which has 11 bits of the significand's 24. So a float32
//   is split into two such numbers, `high` and `low`, and a product is high * high + high * low + low * high; the
//   omitted part is below 2^-22 of it. The instruction is m16n8k8: as in Note [Fragments], with t and t + 4 in place of
//   the neighbours 2t and 2t + 1. The order of the columns that are summed over does not matter as long as both
//   operands agree: in a left matrix that is made of sums, column 2t is at t, and column 2t + 1 at t + 4.
// Note [Tiles]  A Tile is rows in shared memory. The order of a row's 16-byte chunks depends on the row: chunk c of row
//   r is at c ^ (r & 7). So the chunks of one number in eight rows lie in all banks, and load_matrices, which reads
//   eight rows at a time, meets no conflicts.
#pragma once
#include "scalars.cuh"

// The number of columns that one instruction sums over.
template <class T>
constexpr int summed_at_once = 32 / static_cast<int>(sizeof(T));

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
DEVICE void multiply_warp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, float) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE u32 shared_address(const void* at) { return static_cast<u32>(__cvta_generic_to_shared(at)); }
// Loads four 8 x 8 matrices of two-byte floats. Lane l gives the address of row l % 8 of matrix l / 8, and gets the two
// neighbours (l / 4, 2 (l % 4)) of each matrix.
DEVICE void load_matrices(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
// Loads the transposes of the matrices.
DEVICE void load_matrices_turned(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
// Begins to copy 16 bytes to shared memory, or zeros without `there`. `from` must be an address that may be read.
DEVICE void copy_later_16(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
DEVICE void copy_later_4(void* to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(there ? 4 : 0)
               : "memory");
}
// Waits for all copies that this thread began.
DEVICE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
DEVICE u32 rounded(float x, float y, bfloat16) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}
DEVICE u32 rounded(float x, float y, float16) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}
#else
// Rounds a sum towards zero, as the instruction does.
DEVICE float toward_zero(double sum) {
  const float f = (float)sum;
  return f - f == 0 && (f < 0 ? -f : f) > (sum < 0 ? -sum : sum) ? bits_as<float>(bits_as<u32>(f) - 1) : f;
}
template <class T>
DEVICE float low_of(u32 word, T) {
  return to_float(T{(u16)word});
}
template <class T>
DEVICE float high_of(u32 word, T) {
  return to_float(T{(u16)(word >> 16)});
}
template <class T>
DEVICE double product_of(u32 x, u32 y, T kind) {
  return (double)low_of(x, kind) * low_of(y, kind) + (double)high_of(x, kind) * high_of(y, kind);
}
// Multiplies as the instruction does, which ignores the last 13 bits.
DEVICE double product_of(u32 x, u32 y, float) {
  return (double)bits_as<float>(x & 0xffffe000u) * bits_as<float>(y & 0xffffe000u);
}
// The lanes of a warp exchange their words through shared memory.
template <class T>
DEVICE void multiply_warp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, T kind) {
  __shared__ u32 rooms[32][32][6];
  u32(&shown)[32][6] = rooms[threadIdx.x / 32];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const u32 mine[] = {a[0], a[1], a[2], a[3], b0, b1};
  for (int i = 0; i < 6; i++) shown[lane][i] = mine[i];
  __syncwarp();
  double all[4] = {c[0], c[1], c[2], c[3]};
  for (int p = 0; p < 4; p++) {
    const u32(&left)[6] = shown[g * 4 + p];
    for (int j = 0; j < 2; j++) {
      const u32(&right)[6] = shown[(2 * t + j) * 4 + p];
      all[j] += product_of(left[0], right[4], kind) + product_of(left[2], right[5], kind);
      all[2 + j] += product_of(left[1], right[4], kind) + product_of(left[3], right[5], kind);
    }
  }
  for (int i = 0; i < 4; i++) c[i] = toward_zero(all[i]);
  __syncwarp();  // before the next words are written
}
DEVICE const u16* row_of(const void* mine, int lane) {
  return reinterpret_cast<const u16*>(__shfl_sync(~0u, reinterpret_cast<u64>(mine), lane));
}
DEVICE void load_matrices(u32 (&r)[4], const void* row) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; i++) {
    const u16* at = row_of(row, 8 * i + lane / 4) + 2 * (lane % 4);
    r[i] = (u32)at[1] << 16 | at[0];
  }
}
DEVICE void load_matrices_turned(u32 (&r)[4], const void* row) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; i++) {
    const u16 *first = row_of(row, 8 * i + 2 * (lane % 4)), *second = row_of(row, 8 * i + 2 * (lane % 4) + 1);
    r[i] = (u32)second[lane / 4] << 16 | first[lane / 4];
  }
}
DEVICE void copy_later_16(void* to, const void* from, bool there) {
  *reinterpret_cast<Word16*>(to) = there ? *reinterpret_cast<const Word16*>(from) : Word16{0, 0};
}
DEVICE void copy_later_4(void* to, const void* from, bool there) {
  *reinterpret_cast<u32*>(to) = there ? *reinterpret_cast<const u32*>(from) : 0u;
}
DEVICE void wait_for_copies() {}
template <class T>
DEVICE u32 rounded(float x, float y, T) {
  return two(narrow<T>(x), narrow<T>(y));
}
#endif

// A float32 as two numbers of TF32: the nearest one, and the rest.
struct Split {
  u32 high, low;
};
DEVICE Split split(u32 x) {
  const u32 high = (x + 0x1000u) & 0xffffe000u;
  return {high, bits_as<u32>(bits_as<float>(x) - bits_as<float>(high))};
}
// The left fragment of float32, split.
struct SplitLeft {
  u32 high[4], low[4];
  DEVICE explicit SplitLeft(const u32 (&a)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const Split x = split(a[i]);
      high[i] = x.high, low[i] = x.low;
    }
  }
};
// Adds to four 16 x 8 matrices of sums the products of a 16 x 8 matrix and four 8 x 8 ones, given as right fragments.
DEVICE void multiply_split(float (*c)[4], const SplitLeft& a, const u32 (&b)[4][2]) {
  Split right[4][2];
#pragma unroll
  for (int k = 0; k < 4; k++)
#pragma unroll
    for (int i = 0; i < 2; i++) right[k][i] = split(b[k][i]);
  // The four sums take turns, so that no instruction waits for the one before.
#pragma unroll
  for (int k = 0; k < 4; k++) multiply_warp(c[k], a.low, right[k][0].high, right[k][1].high, float());
#pragma unroll
  for (int k = 0; k < 4; k++) multiply_warp(c[k], a.high, right[k][0].low, right[k][1].low, float());
#pragma unroll
  for (int k = 0; k < 4; k++) multiply_warp(c[k], a.high, right[k][0].high, right[k][1].high, float());
}

// Returns the place of column g of product j among 64 columns of float32.
DEVICE int column_of_product(int j, int g) { return 8 * g + (j + 4 * (g & 1)) % 8; }

// Rows in shared memory: see Note [Tiles].
template <class T, int Width>
struct Tile {
  T* data;
  static constexpr int of_chunk = 16 / static_cast<int>(sizeof(T));
  DEVICE T* chunk(int row, int c) const { return data + row * Width + ((c ^ (row & 7)) * of_chunk); }

  // Begins to copy `Rows` rows of `width` columns by all `Threads` of a block, with zeros beyond `rows` and `width`.
  template <int Rows, int Threads>
  DEVICE void fill(const T* from, i64 step, i64 first, i64 rows, i64 width) const {
    constexpr int chunks = Width / of_chunk, apart = Threads / chunks;
    const int r = threadIdx.x / chunks, c = threadIdx.x % chunks;
    const T* at = from + (first + r) * step + c * of_chunk;
    const i64 left = c * of_chunk < width ? rows - first - r : 0;
#pragma unroll
    for (int i = 0; i < Rows / apart; i++) {
      copy_later_16(chunk(r + i * apart, c), i * apart < left ? at : from, i * apart < left);
      at += apart * step;
    }
  }
  // Loads the left fragment of 16 rows from `row` on, and columns step * summed_at_once<T> and on, for one instruction.
  DEVICE void left(u32 (&r)[4], int row, int step, int lane) const {
    load_matrices(r, chunk(row + lane % 16, step * 2 + lane / 16));
  }
  // Loads two right fragments. The product sums over the instruction's columns of this tile's rows, and the rows from
  // `row` on are its columns: 8 for words 0 and 1, 8 for words 2 and 3.
  DEVICE void right(u32 (&r)[4], int row, int step, int lane) const {
    load_matrices(r, chunk(row + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
  }
  // Loads two right fragments. The product sums over 16 rows from `row` on, and the 16 columns from 16 * step on are
  // its columns.
  DEVICE void right_turned(u32 (&r)[4], int row, int step, int lane) const {
    load_matrices_turned(r, chunk(row + lane % 16, step * 2 + lane / 16));
  }
  // Loads right fragments of four products of float32, which sum over 8 rows from `row` on, in the order of Note [Split
  // floats]. Product j = 4 * half + k has the columns column_of_product(j, g) of this tile, so that a lane reads four
  // neighbours at once, and eight lanes meet no conflicts.
  DEVICE void right_turned(u32 (&r)[4][2], int row, int half, int lane) const {
    const int g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const auto four = *reinterpret_cast<const Pack<T, 4>*>(chunk(row + 2 * t + i, 2 * g + (g & 1 ^ half)));
#pragma unroll
      for (int k = 0; k < 4; k++) r[k][i] = bits_as<u32>(four.v[k]);
    }
  }
};
