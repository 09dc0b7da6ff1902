// Running sums and products along a dimension. A block scans a line piece after piece. A long line is cut into chunks:
// one kernel computes their totals, one scans the totals, and one scans each chunk from the total of those before it.
#include "folds.cuh"
#include "layout.cuh"
#include "scan.h"

template <class A>
struct Plus {
  static DEVICE A none() { return convert<A>(0); }
  static DEVICE A join(A x, A y) { return x + y; }
};
template <class A>
struct Times {
  static DEVICE A none() { return convert<A>(1); }
  static DEVICE A join(A x, A y) { return x * y; }
};

template <class A>
DEVICE A lane_above(const A& mine, int by) {
  return exchanged(mine, [&](int32_t word) { return __shfl_up_sync(0xffffffffu, word, by); });
}

// Returns the join of the values of the threads before this one, in a block of 256. `*all` gets the join of all values.
template <class Join, class A>
DEVICE A before_mine(A mine, A* all) {
  __shared__ __align__(16) char room[9 * sizeof(A)];
  A* const warps = reinterpret_cast<A*>(room);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A so_far = mine;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const A other = lane_above(so_far, by);
    if (lane >= by) so_far = Join::join(other, so_far);
  }
  if (lane == 31) warps[warp] = so_far;
  A here = lane_above(so_far, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    A run = Join::none();
    for (int w = 0; w < 8; w++) {
      const A next = Join::join(run, warps[w]);
      warps[w] = run;
      run = next;
    }
    warps[8] = run;
  }
  __syncthreads();
  *all = warps[8];
  here = lane == 0 ? warps[warp] : Join::join(warps[warp], here);
  __syncthreads();
  return here;
}

// Elements are converted to As first. With Totals, only the join of each chunk is written, to `totals`. Else the scan
// is written; if lines have several chunks, the scan of a chunk begins with the chunk's number in `totals`.
template <class Join, class A, class As, class In, class Out, bool Totals>
__global__ void scan_lines(const char* in, char* out, A* totals, Layout at, ScanLines s) {
  const int each = 4;
  for (int64_t job = blockIdx.x; job < s.lines * s.chunks; job += gridDim.x) {
    const int64_t line = job / s.chunks, chunk = job % s.chunks;
    int64_t offsets[2];
    offsets_of<2>(at, line, offsets);
    const char* from = in + offsets[0];
    char* to = out + offsets[1];
    A carry = s.chunks > 1 && !Totals ? totals[job] : Join::none();
    const int64_t begin = chunk * s.chunk, end = begin + s.chunk < s.length ? begin + s.chunk : s.length;
    for (int64_t base = begin; base < end; base += 256 * each) {
      A mine[each], sum = Join::none();
#pragma unroll
      for (int u = 0; u < each; u++) {
        const int64_t k = base + threadIdx.x * each + u;
        if (k < end) sum = Join::join(sum, convert<A>(convert<As>(*reinterpret_cast<const In*>(from + k * s.in_step))));
        mine[u] = sum;
      }
      A all;
      const A before = Join::join(carry, before_mine<Join>(sum, &all));
      if (!Totals) {
#pragma unroll
        for (int u = 0; u < each; u++) {
          const int64_t k = base + threadIdx.x * each + u;
          if (k < end) *reinterpret_cast<Out*>(to + k * s.out_step) = convert<Out>(Join::join(before, mine[u]));
        }
      }
      carry = Join::join(carry, all);
    }
    if (Totals && threadIdx.x == 0) totals[job] = carry;
  }
}

// Replaces the totals of each line by the joins of the chunks before, a thread for each line.
template <class Join, class A>
__global__ void scan_totals(A* totals, int64_t lines, int32_t chunks) {
  for (int64_t line = thread_index(); line < lines; line += grid_threads()) {
    A run = Join::none();
    for (int32_t c = 0; c < chunks; c++) {
      const A here = totals[line * chunks + c];
      totals[line * chunks + c] = run;
      run = Join::join(run, here);
    }
  }
}

// Scans many lines that lie side by side in memory, a thread for each.
template <class Join, class A, class As, class In, class Out>
__global__ void scan_columns(const char* in, char* out, Layout at, ScanLines s) {
  for (int64_t line = thread_index(); line < s.lines; line += grid_threads()) {
    int64_t offsets[2];
    offsets_of<2>(at, line, offsets);
    A run = Join::none();
    for (int64_t k = 0; k < s.length; k++) {
      run = Join::join(run, convert<A>(convert<As>(*reinterpret_cast<const In*>(in + offsets[0] + k * s.in_step))));
      *reinterpret_cast<Out*>(out + offsets[1] + k * s.out_step) = convert<Out>(run);
    }
  }
}
