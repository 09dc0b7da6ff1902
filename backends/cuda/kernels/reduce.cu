// Reductions. The reduced elements of an output are cut into parts, which do not depend on the device. The threads of a
// row or of a column of the block share a part's elements, and join their folds in a fixed order. If there are several
// parts, a second kernel joins their folds.
#include "folds.cuh"
#include "layout.cuh"
#include "reduce.h"

// Joins the folds of the threads of one row of the block; thread 0 of the row gets the result. Rows have 32 threads, or
// one row has 256.
template <class Fold>
DEVICE void join_row(typename Fold::Kept& mine) {
  typedef typename Fold::Kept Kept;
#pragma unroll
  for (int by = 16; by > 0; by /= 2) {
    const Kept other = exchanged(mine, [&](int32_t word) { return __shfl_down_sync(0xffffffffu, word, by); });
    if (threadIdx.x % 32 + by < 32) Fold::join(mine, other);
  }
  if (blockDim.x == 32) return;
  __shared__ __align__(16) char room[8 * sizeof(Kept)];
  Kept* const warps = reinterpret_cast<Kept*>(room);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < static_cast<int>(blockDim.x) / 32; w++) Fold::join(mine, warps[w]);
}

// Folds the elements k, k + by, … below `end` into four folds in turn, whose loads do not wait for each other.
template <class Fold, class In>
DEVICE void walk(typename Fold::Kept* four, const char* from, const Layout& gone, const ReductionShape& s, int64_t k, int64_t end, int64_t by) {
  for (; k < end; k += 4 * by)
#pragma unroll
    for (int u = 0; u < 4; u++) {
      const int64_t at = k + u * by;
      if (at >= end) break;
      int64_t offset = at * s.step;
      if (!s.line) offsets_of<1>(gone, at, &offset);
      Fold::add(four[u], *reinterpret_cast<const In*>(from + offset), at);
    }
}

template <class Fold, class Out, class Second>
DEVICE void finish(const typename Fold::Kept& all, const ReductionShape& s, char* out, char* second) {
  *reinterpret_cast<Out*>(out) = convert<Out>(Fold::first(all, s.length, s.parameter));
  if (second) *reinterpret_cast<Second*>(second) = convert<Second>(Fold::second(all, s.length));
}

// A row of the block reduces a part of an output: block (256, 1) or (32, up to 8), blockIdx.y is the part.
template <class Fold, class In, class Out, class Second>
__global__ void reduce_rows(const char* in, char* out, char* second, typename Fold::Kept* partial, Layout kept, Layout gone,
                            ReductionShape s) {
  typedef typename Fold::Kept Kept;
  const int width = 16 / static_cast<int>(sizeof(In));
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * blockDim.y; base < s.outputs; base += static_cast<int64_t>(gridDim.x) * blockDim.y) {
    const int64_t o = base + threadIdx.y;
    int64_t at[3] = {0, 0, 0};
    Kept four[4] = {Fold::none(), Fold::none(), Fold::none(), Fold::none()};
    if (o < s.outputs) {
      offsets_of<3>(kept, o, at);
      const char* from = in + at[0];
      int64_t i = blockIdx.y * s.part;
      const int64_t end = i + s.part < s.length ? i + s.part : s.length;
      if (s.packed) {
        const int64_t whole = end / width * width;
        for (int64_t k = i + threadIdx.x * width; k < whole; k += static_cast<int64_t>(blockDim.x) * width) {
          const Pack<In, width> p = *reinterpret_cast<const Pack<In, width>*>(from + k * static_cast<int64_t>(sizeof(In)));
#pragma unroll
          for (int v = 0; v < width; v++) Fold::add(four[v & 3], p.v[v], k + v);
        }
        i = whole > i ? whole : i;
      }
      walk<Fold, In>(four, from, gone, s, i + threadIdx.x, end, blockDim.x);
    }
    Fold::join(four[0], four[1]);
    Fold::join(four[2], four[3]);
    Fold::join(four[0], four[2]);
    join_row<Fold>(four[0]);
    if (threadIdx.x == 0 && o < s.outputs) {
      if (s.parts > 1)
        partial[o * s.parts + blockIdx.y] = four[0];
      else
        finish<Fold, Out, Second>(four[0], s, out + at[1], second ? second + at[2] : nullptr);
    }
    __syncthreads();  // before the next outputs use the block's memory
  }
}

// Reduces where neighbouring outputs read neighbouring elements of the input: block (32, 8). Each of the 32 columns of
// threads has one output; each of its eight threads reduces every eighth element of that output.
template <class Fold, class In, class Out, class Second>
__global__ void reduce_columns(const char* in, char* out, char* second, typename Fold::Kept* partial, Layout kept, Layout gone,
                               ReductionShape s) {
  typedef typename Fold::Kept Kept;
  __shared__ __align__(16) char room[256 * sizeof(Kept)];
  Kept* const all = reinterpret_cast<Kept*>(room);
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * 32; base < s.outputs; base += static_cast<int64_t>(gridDim.x) * 32) {
    const int64_t o = base + threadIdx.x;
    int64_t at[3] = {0, 0, 0};
    Kept four[4] = {Fold::none(), Fold::none(), Fold::none(), Fold::none()};
    if (o < s.outputs) {
      offsets_of<3>(kept, o, at);
      const int64_t begin = blockIdx.y * s.part, end = begin + s.part < s.length ? begin + s.part : s.length;
      walk<Fold, In>(four, in + at[0], gone, s, begin + threadIdx.y, end, 8);
    }
    Fold::join(four[0], four[1]);
    Fold::join(four[2], four[3]);
    Fold::join(four[0], four[2]);
    all[threadIdx.y * 32 + threadIdx.x] = four[0];
    __syncthreads();
    if (threadIdx.y == 0 && o < s.outputs) {
      for (int y = 1; y < 8; y++) Fold::join(four[0], all[y * 32 + threadIdx.x]);
      if (s.parts > 1)
        partial[blockIdx.y * s.outputs + o] = four[0];
      else
        finish<Fold, Out, Second>(four[0], s, out + at[1], second ? second + at[2] : nullptr);
    }
    __syncthreads();
  }
}

// Returns the number of neighbouring outputs of a thread: as many as one load reads, if their folds fit into 64 bytes.
template <class In, class Kept>
DEVICE constexpr int columns_at_once() {
  int width = 16 / static_cast<int>(sizeof(In));
  while (width > 1 && width * static_cast<int>(sizeof(Kept)) > 64) width /= 2;
  return width;
}

// Does the same by packs of neighbouring elements (s.packed); each thread has a pack of outputs. Line is s.line, known
// at compilation, since divisions of offsets take the registers that loads need. With folds of four bytes a processor
// then has room for five blocks.
template <class Fold, class In, class Out, class Second, bool Line>
__global__ void __launch_bounds__(256, Line && sizeof(typename Fold::Kept) == 4 ? 5 : 1)
    reduce_packed_columns(const char* in, char* out, char* second, typename Fold::Kept* partial, Layout kept, Layout gone, ReductionShape s) {
  typedef typename Fold::Kept Kept;
  constexpr int width = columns_at_once<In, Kept>(), columns = 32 * width;
  typedef Pack<In, width> Some;
  __shared__ __align__(16) char room[8 * columns * sizeof(Kept)];
  Kept* const all = reinterpret_cast<Kept*>(room);
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * columns; base < s.outputs; base += static_cast<int64_t>(gridDim.x) * columns) {
    const int64_t o = base + threadIdx.x * width;
    Kept folds[width];
#pragma unroll
    for (int v = 0; v < width; v++) folds[v] = Fold::none();
    if (o < s.outputs) {
      int64_t at;
      offsets_of<1>(kept, o, &at);
      const int64_t begin = blockIdx.y * s.part, end = begin + s.part < s.length ? begin + s.part : s.length;
      const char* from = in + at;
      int64_t k = begin + threadIdx.y;
      auto add = [&](const Some& some, int64_t number) {
#pragma unroll
        for (int v = 0; v < width; v++) Fold::add(folds[v], some.v[v], number);
      };
      if constexpr (Line) {
        for (; k + 24 < end; k += 32) {  // four loads at once
          Some some[4];
#pragma unroll
          for (int u = 0; u < 4; u++) some[u] = *reinterpret_cast<const Some*>(from + (k + 8 * u) * s.step);
#pragma unroll
          for (int u = 0; u < 4; u++) add(some[u], k + 8 * u);
        }
#pragma unroll 1
        for (; k < end; k += 8) add(*reinterpret_cast<const Some*>(from + k * s.step), k);
      } else {
#pragma unroll 1
        for (; k < end; k += 32) {
          Some some[4];
#pragma unroll
          for (int u = 0; u < 4; u++)
            if (const int64_t number = k + 8 * u; number < end) {
              int64_t offset;
              offsets_of<1>(gone, number, &offset);
              some[u] = *reinterpret_cast<const Some*>(from + offset);
            }
#pragma unroll
          for (int u = 0; u < 4; u++)
            if (k + 8 * u < end) add(some[u], k + 8 * u);
        }
      }
    }
#pragma unroll
    for (int v = 0; v < width; v++) all[threadIdx.y * columns + threadIdx.x * width + v] = folds[v];
    __syncthreads();
    // Each thread finishes a column; neighbouring threads have neighbouring columns.
#pragma unroll 1
    for (int c = threadIdx.y * 32 + threadIdx.x; c < columns; c += 256) {
      const int64_t own = base + c;
      if (own >= s.outputs) break;
      Kept mine = all[c];
      for (int y = 1; y < 8; y++) Fold::join(mine, all[y * columns + c]);
      if (s.parts > 1) {
        partial[blockIdx.y * s.outputs + own] = mine;
      } else {
        int64_t at[3];
        offsets_of<3>(kept, own, at);
        finish<Fold, Out, Second>(mine, s, out + at[1], second ? second + at[2] : nullptr);
      }
    }
    __syncthreads();
  }
}

// Joins the parts of columns, which lie side by side: block (32, 8), a thread for each output and every eighth part.
template <class Fold, class In, class Out, class Second>
__global__ void __launch_bounds__(256)
    join_columns(const char*, char* out, char* second, typename Fold::Kept* partial, Layout kept, Layout gone, ReductionShape s) {
  typedef typename Fold::Kept Kept;
  __shared__ __align__(16) char room[256 * sizeof(Kept)];
  Kept* const all = reinterpret_cast<Kept*>(room);
  (void)gone;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * 32; base < s.outputs; base += static_cast<int64_t>(gridDim.x) * 32) {
    const int64_t o = base + threadIdx.x;
    Kept mine = Fold::none();
    if (o < s.outputs)
#pragma unroll 4
      for (int k = threadIdx.y; k < s.parts; k += 8) Fold::join(mine, partial[k * s.outputs + o]);
    all[threadIdx.y * 32 + threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.y == 0 && o < s.outputs) {
      for (int y = 1; y < 8; y++) Fold::join(mine, all[y * 32 + threadIdx.x]);
      int64_t at[3];
      offsets_of<3>(kept, o, at);
      finish<Fold, Out, Second>(mine, s, out + at[1], second ? second + at[2] : nullptr);
    }
    __syncthreads();
  }
}

// Joins the parts of rows: block (32, up to 8), a row of the block for each output.
template <class Fold, class In, class Out, class Second>
__global__ void join_parts(const char*, char* out, char* second, typename Fold::Kept* partial, Layout kept, Layout gone,
                           ReductionShape s) {
  typedef typename Fold::Kept Kept;
  (void)gone;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * blockDim.y; base < s.outputs; base += static_cast<int64_t>(gridDim.x) * blockDim.y) {
    const int64_t o = base + threadIdx.y;
    Kept mine = Fold::none();
    if (o < s.outputs)
      for (int64_t k = threadIdx.x; k < s.parts; k += 32) Fold::join(mine, partial[o * s.parts + k]);
    join_row<Fold>(mine);
    if (threadIdx.x == 0 && o < s.outputs) {
      int64_t at[3];
      offsets_of<3>(kept, o, at);
      finish<Fold, Out, Second>(mine, s, out + at[1], second ? second + at[2] : nullptr);
    }
  }
}
