// The first elements of each row by selection. The key of the last one that is kept is found digit by digit, of eight
// bits each; then the elements before it are gathered, and as many of its equals as are needed.
//
// Note [Selection]  A pass counts one digit, the highest first, of the elements whose higher digits are those chosen so
//   far. The digit in which the requested number of elements is reached is chosen next. After the lowest digit the key
//   is known, and how many of its equals are kept: the first ones of the row. Counts are whole numbers, so the order in
//   which blocks add to them does not matter, and gathered elements stay in the order of the row.
#include "order.cuh"
#include "radix.cuh"

struct Chosen {
  u64 key;   // the digits chosen so far; the other digits are unused
  i64 left;  // the number of elements with these digits that are kept
};

// The keys of elements begin to end - 1 of a row. each() calls visit(i, key) with four keys of each thread at once:
// those of elements i + 256 j for j below 4, as far as they are below `end`.
template <class T>
struct Keys {
  typedef typename Order<T>::Key Key;
  const T* from;
  i64 stride, begin, end;
  bool descending;
  DEVICE Key of(T x) const { return descending ? (Key)~Order<T>::of(x) : Order<T>::of(x); }
  DEVICE T element(i64 i) const { return from[i * stride]; }
  template <class Visit>
  DEVICE void each(Visit visit) const {
    for (i64 first = begin; first < end; first += 1024) {
      Key key[4];
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (const i64 i = first + 256 * j + threadIdx.x; i < end) key[j] = of(element(i));
      visit(first + threadIdx.x, key);
    }
  }
};

// Rows of a thousand elements and more are fewer than 2^32, so that their numbers are divided in 32 bits.
DEVICE i64 long_row_begin(const SortRows& r, u32 row) {
  const u32 inner = (u32)r.inner, outer = row / inner;
  return outer * r.outer_stride + (row - outer * inner) * r.inner_stride;
}

template <class T>
DEVICE Chosen nothing_chosen(i64 kept, bool descending) {
  return {descending ? ~u64(0) : 0, kept};  // inverted keys have ones in the digits that no pass counts
}

// Counts the block's elements by the digit at `shift`, if their higher digits are the chosen ones.
template <class T>
DEVICE void count_digits(const Keys<T>& keys, const Chosen& chosen, int shift, u32 (&count)[256]) {
  typedef typename Order<T>::Key Key;
  count[threadIdx.x] = 0;
  __syncthreads();
  keys.each([&](i64 i, const Key(&key)[4]) {
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (i + 256 * j < keys.end && (key[j] ^ (Key)chosen.key) >> shift >> 8 == 0)
        atomicAdd(&count[radix_digit(key[j], shift)], 1u);
  });
  __syncthreads();
}

// Chooses the digit at `shift`. Each thread has the count of one digit.
DEVICE void choose(Chosen& chosen, u32 count, int shift, u32 (&space)[256]) {
  __shared__ i64 digit, left;
  const i64 before = sum_before(count, space);
  if (before < chosen.left && chosen.left <= before + count) digit = threadIdx.x, left = chosen.left - before;
  __syncthreads();
  chosen.key = (chosen.key & ~((u64)255 << shift)) | (u64)digit << shift;
  chosen.left = left;
  __syncthreads();
}

// Copies the block's elements below the key, and those of its equals that are kept, to their places among the `kept` of
// the row. `below` and `equal` are the numbers of such elements in the blocks before.
template <class T>
DEVICE void gather(const Keys<T>& keys, const Chosen& chosen, i64 kept, i64 below, i64 equal, T* values, u32* places) {
  typedef typename Order<T>::Key Key;
  __shared__ u32 of_warps[2][8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Key last = (Key)chosen.key;
  keys.each([&](i64 i, const Key(&key)[4]) {
    bool any = false;
#pragma unroll
    for (int j = 0; j < 4; j++) any = any || (i + 256 * j < keys.end && key[j] <= last);
    if (!__syncthreads_or(any)) return;  // most pieces of a row have no such element
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const bool there = i + 256 * j < keys.end, is_below = there && key[j] < last, is_equal = there && key[j] == last;
      const u32 lanes_below = __ballot_sync(~0u, is_below), lanes_equal = __ballot_sync(~0u, is_equal);
      if (lane == 0) of_warps[0][warp] = __popc(lanes_below), of_warps[1][warp] = __popc(lanes_equal);
      __syncthreads();
      i64 to_below = below, to_equal = equal;
      for (int w = 0; w < 8; w++) {
        if (w < warp) to_below += of_warps[0][w], to_equal += of_warps[1][w];
        below += of_warps[0][w], equal += of_warps[1][w];
      }
      const u32 lower = (1u << lane) - 1u;
      to_below += __popc(lanes_below & lower);
      to_equal += __popc(lanes_equal & lower);
      const i64 to = is_below ? to_below : is_equal && to_equal < chosen.left ? kept - chosen.left + to_equal : -1;
      if (to >= 0) values[to] = keys.element(i + 256 * j), places[to] = (u32)(i + 256 * j);
      __syncthreads();
    }
  });
}

// A block selects a row. `bits` is the number of bits of a key, a multiple of 8; results are (rows, kept).
template <class T>
__global__ void __launch_bounds__(256, 3)
    select_rows(const T* in, SortRows rows, i64 count, i64 kept, bool descending, int bits, T* values, u32* places) {
  __shared__ u32 counts[256], space[256];
  for (i64 row = blockIdx.x; row < count; row += gridDim.x) {
    const Keys<T> keys = {in + long_row_begin(rows, (u32)row), rows.stride, 0, rows.length, descending};
    Chosen chosen = nothing_chosen<T>(kept, descending);
    for (int shift = bits - 8; shift >= 0; shift -= 8) {
      count_digits(keys, chosen, shift, counts);
      choose(chosen, counts[threadIdx.x], shift, space);
    }
    gather(keys, chosen, kept, 0, 0, values + row * kept, places + row * kept);
  }
}

// Several blocks select a row, `part` elements each, with a launch for each pass. The digits that were chosen before a
// pass follow from the counts of the pass before; the row's first block keeps them for the next pass. counts: (passes,
// rows, 256), zeros at first; all_chosen: (passes + 1, rows).
template <class T>
DEVICE Chosen chosen_before(i64 row, bool first_part, i64 count, i64 kept, bool descending, int pass, int shift,
                            const u32* counts, Chosen* all_chosen) {
  __shared__ u32 space[256];
  Chosen chosen = nothing_chosen<T>(kept, descending);
  if (pass > 0) {
    chosen = all_chosen[(pass - 1) * count + row];
    choose(chosen, counts[((pass - 1) * count + row) * 256 + threadIdx.x], shift + 8, space);
  }
  if (first_part && threadIdx.x == 0) all_chosen[pass * count + row] = chosen;
  return chosen;
}
template <class T>
DEVICE Keys<T> keys_of_part(const T* in, const SortRows& rows, const RowParts& parts, i64 row, i64 p, bool descending) {
  const i64 begin = p * parts.part, end = begin + parts.part;
  return {in + long_row_begin(rows, (u32)row), rows.stride, begin, end < rows.length ? end : rows.length, descending};
}

template <class T>
__global__ void __launch_bounds__(256)
    select_digits(const T* in, SortRows rows, RowParts parts, i64 count, i64 kept, bool descending, int pass, int shift,
                  u32* counts, Chosen* all_chosen) {
  __shared__ u32 mine[256];
  const i64 row = blockIdx.x / (u32)parts.count, p = blockIdx.x % (u32)parts.count;
  const Chosen chosen = chosen_before<T>(row, p == 0, count, kept, descending, pass, shift, counts, all_chosen);
  count_digits(keys_of_part(in, rows, parts, row, p, descending), chosen, shift, mine);
  if (mine[threadIdx.x]) atomicAdd(&counts[(pass * count + row) * 256 + threadIdx.x], mine[threadIdx.x]);
}

// Counts the elements of each part that are below the key, and equal to it: (rows, parts, 2).
template <class T>
__global__ void __launch_bounds__(256, 4)
    select_tallies(const T* in, SortRows rows, RowParts parts, i64 count, i64 kept, bool descending, int passes, const u32* counts,
                   Chosen* all_chosen, u32* tallies) {
  typedef typename Order<T>::Key Key;
  __shared__ u32 tally[2];
  const i64 row = blockIdx.x / (u32)parts.count, p = blockIdx.x % (u32)parts.count;
  if (threadIdx.x < 2) tally[threadIdx.x] = 0;
  const Chosen chosen = chosen_before<T>(row, p == 0, count, kept, descending, passes, -8, counts, all_chosen);
  const Key last = (Key)chosen.key;
  const Keys<T> keys = keys_of_part(in, rows, parts, row, p, descending);
  u32 below = 0, equal = 0;
  keys.each([&](i64 i, const Key(&key)[4]) {
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (i + 256 * j < keys.end) below += key[j] < last, equal += key[j] == last;
  });
  __syncthreads();
  if (below) atomicAdd(&tally[0], below);
  if (equal) atomicAdd(&tally[1], equal);
  __syncthreads();
  if (threadIdx.x < 2) tallies[blockIdx.x * 2 + threadIdx.x] = tally[threadIdx.x];
}

template <class T>
__global__ void __launch_bounds__(256)
    select_gather(const T* in, SortRows rows, RowParts parts, i64 count, i64 kept, bool descending, int passes,
                  const Chosen* all_chosen, const u32* tallies, T* values, u32* places) {
  __shared__ u32 before[2];
  const i64 row = blockIdx.x / (u32)parts.count, p = blockIdx.x % (u32)parts.count;
  if (threadIdx.x < 2) before[threadIdx.x] = 0;
  __syncthreads();
  for (i64 i = threadIdx.x; i < 2 * p; i += 256)
    if (const u32 tally = tallies[row * parts.count * 2 + i]) atomicAdd(&before[i & 1], tally);
  __syncthreads();
  const u32* own = tallies + blockIdx.x * 2;
  if (own[0] + own[1] == 0) return;
  gather(keys_of_part(in, rows, parts, row, p, descending), all_chosen[passes * count + row], kept, before[0], before[1],
         values + row * kept, places + row * kept);
}
