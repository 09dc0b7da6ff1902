// A stable radix sort of keys with the numbers that go with them, over the whole device. A digit is 8 bits of a key.
//
// Note [Radix passes]  A pass counts each block's digits (radix_count), turns the counts into places (radix_places: one
//   block a digit), and moves the elements (radix_move), in which every warp ranks its elements by ballots, in the
//   order of memory. No atomics decide the order, so the result is the same each time. The counts of one digit lie side
//   by side, so that a digit's places are one run.
#pragma once
#include "scalars.cuh"
#include "sort.h"

template <class Key>
DEVICE u32 radix_digit(Key key, int shift) {
  return (u32)(key >> shift) & 255u;
}

template <class Key, class Place>
__global__ void __launch_bounds__(radix_threads)
    radix_count(const Key* keys, i64 n, int shift, Place* counts, i64 blocks) {
  __shared__ u32 count[256];
  count[threadIdx.x] = 0;
  __syncthreads();
  const i64 first = (i64)blockIdx.x * radix_tile;
  for (int j = 0; j < radix_each; j++) {
    const i64 i = first + j * radix_threads + threadIdx.x;
    if (i < n) atomicAdd(&count[radix_digit(keys[i], shift)], 1u);
  }
  __syncthreads();
  counts[threadIdx.x * blocks + blockIdx.x] = count[threadIdx.x];
}

// Returns the sum of the numbers of the threads before this one, of 256 threads.
template <class Place>
DEVICE Place sum_before(Place x, Place (&space)[256]) {
  space[threadIdx.x] = x;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const Place more = threadIdx.x >= step ? space[threadIdx.x - step] : Place(0);
    __syncthreads();
    space[threadIdx.x] += more;
    __syncthreads();
  }
  return space[threadIdx.x] - x;
}

// A block takes a digit. It replaces the count of each block by the sum of the counts of the blocks before, and writes
// the sum of all counts to `totals`.
template <class Place>
__global__ void __launch_bounds__(256) radix_places(Place* counts, i64 blocks, Place* totals) {
  __shared__ Place space[256];
  Place* mine = counts + blockIdx.x * blocks;
  Place before = 0;
  for (i64 i = 0; i < blocks; i += 256) {
    const Place x = i + threadIdx.x < blocks ? mine[i + threadIdx.x] : Place(0);
    const Place at = sum_before(x, space);
    if (i + threadIdx.x < blocks) mine[i + threadIdx.x] = before + at;
    before += space[255];
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// Moves the keys and `values` to their places. If `values` is null, the elements' own numbers go with the keys.
template <class Key, class Place>
__global__ void __launch_bounds__(radix_threads)
    radix_move(const Key* keys, const Place* values, Key* to_keys, Place* to_values, i64 n, int shift,
               const Place* counts, const Place* totals, i64 blocks) {
  constexpr int warps = radix_threads / 32;
  __shared__ u32 ranks[warps][256];
  __shared__ Place begins[256], space[256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int w = 0; w < warps; w++) ranks[w][threadIdx.x] = 0;
  begins[threadIdx.x] = sum_before(totals[threadIdx.x], space) + counts[threadIdx.x * blocks + blockIdx.x];
  __syncthreads();
  const i64 first = (i64)blockIdx.x * radix_tile + warp * 32 * radix_each + lane;
  Key held[radix_each];
  u32 rank[radix_each];
  for (int j = 0; j < radix_each; j++) {
    const i64 i = first + j * 32;
    const bool there = i < n;
    held[j] = there ? keys[i] : Key(0);
    const u32 digit = radix_digit(held[j], shift);
    u32 same = __ballot_sync(~0u, there);
    for (int bit = 0; bit < 8; bit++) {
      const u32 set = __ballot_sync(~0u, digit >> bit & 1u);
      same &= digit >> bit & 1u ? set : ~set;
    }
    const u32 before = __popc(same & ((1u << lane) - 1u));
    rank[j] = there ? ranks[warp][digit] + before : 0;
    __syncwarp();
    if (there && before == 0) ranks[warp][digit] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  u32 sum = 0;
  for (int w = 0; w < warps; w++) {
    const u32 mine = ranks[w][threadIdx.x];
    ranks[w][threadIdx.x] = sum;
    sum += mine;
  }
  __syncthreads();
  for (int j = 0; j < radix_each; j++) {
    const i64 i = first + j * 32;
    if (i >= n) continue;
    const u32 digit = radix_digit(held[j], shift);
    const Place to = begins[digit] + ranks[warp][digit] + rank[j];
    to_keys[to] = held[j];
    to_values[to] = values ? values[i] : (Place)i;
  }
}
