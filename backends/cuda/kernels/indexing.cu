// Elements and rows by indices: reading them, and writing them without races.
//
// Note [Meeting elements]  If several elements go to one place, the last one in row-major order stays: each claims the
//   place with its number by an atomic maximum (claim), and then the winner alone writes (put). Folds are ordered by a
//   stable sort of the places: fixed pieces of the sorted numbers are folded first (fold_pieces), and folds that cross
//   the ends of pieces are joined in order (fold_across). Sums of integers of 32 and 64 bits are the same in any order,
//   and atomics add them (add_integers), unless the caller needs the sorted places. So a result has the same bits each
//   time.
#include "indexing.h"
#include "walk.cuh"

// ---- reading --------------------------------------------------------------------------------------------------------

// out[…] = self[…, index[…], …]. The walk is over out; its operands are out, index, and self without the dimension.
// With `wraps`, negative indices count from the end.
template <class T>
__global__ void __launch_bounds__(256)
    gather(Walk<3> w, T* out, const i64* index, const T* self, i64 size, i64 stride, bool wraps, Fault* fault, i32 code) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < w.count; k += step) {
    i64 at[3];
    offsets_of(w, k, at);
    i64 i = index[at[1]];
    if (wraps && i < 0) i += size;
    if (i < 0 || i >= size) {
      report(fault, code, index[at[1]], size);
      continue;
    }
    out[at[0]] = self[at[2] + i * stride];
  }
}

// Copies rows of `width` packs: out[o, j, :] = self[o, index[j], :].
template <class T>
__global__ void __launch_bounds__(256)
    gather_rows(T* out, const i64* index, const T* self, i64 outer, i64 count, i64 size, i64 width, bool wraps,
                Fault* fault, i32 code) {
  const i64 all = outer * count * width, step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < all; k += step) {
    const i64 row = all >> 31 ? k / width : (i64)((u32)k / (u32)width), c = k - row * width;
    const i64 o = outer == 1 ? 0 : row / count;
    const i64 given = index[row - o * count], i = wraps && given < 0 ? given + size : given;
    if (i < 0 || i >= size) {
      if (c == 0) report(fault, code, given, size);
      continue;
    }
    out[k] = self[(o * size + i) * width + c];
  }
}

// Returns the offset in self that the indices name for element k, or -1 if one is out of range. Sets `at` by the walk.
template <int Operands>
DEVICE i64 indexed_offset(const Walk<Operands>& w, const Indices& x, i64 k, i64 (&at)[Operands], Fault* fault, i32 code) {
  i64 places[most_indices];
  for (int q = 0; q < x.count; q++) places[q] = 0;
  for (int q = 0; q < Operands; q++) at[q] = 0;
  coordinates(w, k, [&](int d, i64 c) {
    for (int q = 0; q < Operands; q++) at[q] += c * w.strides[q][d];
    for (int q = 0; q < x.count; q++) places[q] += c * x.strides[q][d];
  });
  i64 offset = 0;
  for (int q = 0; q < x.count; q++) {
    const i64 given = x.at[q][places[q]], i = given < 0 ? given + x.size[q] : given;
    if (i < 0 || i >= x.size[q]) {
      report(fault, code, given, x.size[q]);
      return -1;
    }
    offset += i * x.scale[q];
  }
  return offset;
}

// out = self[indices]. The walk's operands are out, and self without the indexed dimensions.
template <class T>
__global__ void __launch_bounds__(256)
    index_get(Walk<2> w, Indices indices, T* out, const T* self, Fault* fault, i32 code) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < w.count; k += step) {
    i64 at[2];
    const i64 offset = indexed_offset(w, indices, k, at, fault, code);
    if (offset >= 0) out[at[0]] = self[at[1] + offset];
  }
}

// ---- places to write ------------------------------------------------------------------------------------------------

// Writes the place of each element in a contiguous self, or -1. The walk's operand is self without indexed dimensions.
template <class Place>
__global__ void __launch_bounds__(256) index_places(Walk<1> w, Indices indices, Place* places, Fault* fault, i32 code) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < w.count; k += step) {
    i64 at[1];
    const i64 offset = indexed_offset(w, indices, k, at, fault, code);
    places[k] = offset < 0 ? (Place)-1 : (Place)(at[0] + offset);
  }
}

// Writes the places of scatter. The walk's operands are index, and self without the dimension. Negative indices are
// errors.
template <class Place>
__global__ void __launch_bounds__(256)
    scatter_places(Walk<2> w, const i64* index, i64 size, i64 stride, Place* places, Fault* fault, i32 code) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < w.count; k += step) {
    i64 at[2];
    offsets_of(w, k, at);
    const i64 i = index[at[0]];
    const bool bad = i < 0 || i >= size;
    if (bad) report(fault, code, i, size);
    places[k] = bad ? (Place)-1 : (Place)(at[1] + i * stride);
  }
}

// Writes the places of rows: o * size + index[j] for each of outer * count rows. The index `skipped` has no place.
template <class Place>
__global__ void __launch_bounds__(256)
    row_places(const i64* index, i64 index_stride, i64 outer, i64 count, i64 size, bool wraps, i64 skipped, Place* places,
               Fault* fault, i32 code) {
  const i64 all = outer * count, step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < all; k += step) {
    const i64 o = k / count, given = index[(k - o * count) * index_stride], i = wraps && given < 0 ? given + size : given;
    const bool bad = i < 0 || i >= size;
    if (bad) report(fault, code, given, size);
    places[k] = bad || (skipped >= 0 && i == skipped) ? (Place)-1 : (Place)(o * size + i);
  }
}

// ---- writing --------------------------------------------------------------------------------------------------------

// claim_clear() clears the winner of every place that is named; then claim() lets the largest number win.
template <class Place>
__global__ void __launch_bounds__(256) claim_clear(const Place* places, i64 count, Place* winners) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += step)
    if (places[k] != (Place)-1) winners[places[k]] = 0;
}
template <class Place>
__global__ void __launch_bounds__(256) claim(const Place* places, i64 count, Place* winners) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < count; k += step)
    if (places[k] != (Place)-1) atomicMax(&winners[places[k]], (Place)(k + 1));
}
// Writes rows of `width` words. Row k of src lies `src_stride` words after the previous one; 0 writes one row
// everywhere. `winners` may be null if all rows for one place are equal.
template <class T, class Place>
__global__ void __launch_bounds__(256)
    put(const Place* places, i64 count, const Place* winners, T* self, const T* src, i64 width, i64 src_stride) {
  const i64 all = count * width, step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < all; k += step) {
    const i64 row = width == 1 ? k : k / width, c = k - row * width;
    const Place to = places[row];
    if (to == (Place)-1 || (winners && winners[to] != (Place)(row + 1))) continue;
    self[(i64)to * width + c] = src[row * src_stride + c];
  }
}
// Adds integers, whose sums are the same in any order. T is an unsigned word of 32 or 64 bits.
template <class T, class Place>
__global__ void __launch_bounds__(256)
    add_integers(const Place* places, i64 count, T* self, const T* src, i64 width, T factor) {
  const i64 all = count * width, step = (i64)gridDim.x * blockDim.x;
  for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < all; k += step) {
    const i64 row = width == 1 ? k : k / width, c = k - row * width;
    const Place to = places[row];
    if (to != (Place)-1) atomicAdd(&self[(i64)to * width + c], factor * src[k]);
  }
}

// ---- folding in order -----------------------------------------------------------------------------------------------

// These join two numbers, as Add and Most do.
struct Multiply {
  template <class W>
  static __device__ W of(W x, W y) {
    return x * y;
  }
};
// The smaller one; NaN wins.
struct Least {
  template <class W>
  static __device__ W of(W x, W y) {
    return x < y || x != x ? x : y;
  }
};

// Returns an element as a term: of its own type for extrema, else of the type of sums.
template <class T, class W>
DEVICE W term(T x) {
  return (W)wide(x);
}

// A thread folds a column of a piece of `fold_piece` sorted numbers. A place whose elements all lie in the piece is
// done. The part of a place that crosses an end of the piece goes to `parts`: at the piece's number * 2 the part at the
// piece's begin, and at that + 1 the part at its end.
template <class T, class W, class Fold, class Place>
__global__ void __launch_bounds__(128)
    fold_pieces(const Place* places, const Place* numbers, i64 count, T* self, const T* src, i64 width, W factor, W* parts) {
  const i64 pieces = (count + fold_piece - 1) / fold_piece, all = pieces * width, step = (i64)gridDim.x * blockDim.x;
  for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < all; t += step) {
    const i64 piece = t / width, c = t - piece * width, begin = piece * fold_piece;
    const i64 end = begin + fold_piece < count ? begin + fold_piece : count;
    for (i64 i = begin; i < end;) {
      const Place place = places[i];
      const i64 from = i;
      W sum = factor * term<T, W>(src[(i64)numbers[i] * width + c]);
      for (i++; i < end && places[i] == place; i++)
        sum = Fold::of(sum, (W)(factor * term<T, W>(src[(i64)numbers[i] * width + c])));
      if (place == (Place)-1) continue;
      const bool open = from == begin && begin > 0 && places[begin - 1] == place;
      if (open)
        parts[(piece * 2) * width + c] = sum;
      else if (i == end && end < count && places[end] == place)
        parts[(piece * 2 + 1) * width + c] = sum;
      else {
        T& to = self[(i64)place * width + c];
        to = narrow<T>(Fold::of((W)term<T, W>(to), sum));
      }
    }
  }
}

// A thread folds a column of a place that begins in one piece and goes on in the next: the parts in order, by pairs of
// neighbours in a tree of the thread's own.
template <class T, class W, class Fold, class Place>
__global__ void __launch_bounds__(128) fold_across(const Place* places, i64 count, T* self, i64 width, const W* parts) {
  const i64 ends = (count + fold_piece - 1) / fold_piece - 1, all = ends * width, step = (i64)gridDim.x * blockDim.x;
  for (i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x; t < all; t += step) {
    const i64 piece = t / width, c = t - piece * width, begin = piece * fold_piece, next = begin + fold_piece;
    const Place place = places[next];
    if (place == (Place)-1 || places[next - 1] != place || (begin > 0 && places[begin] == place && places[begin - 1] == place))
      continue;
    // The tree keeps errors small without compensation: level l holds the sum of 2^l parts.
    W levels[40];
    u64 held = 0;
    W sum = parts[(piece * 2 + 1) * width + c];
    i64 p = piece;
    while (true) {
      int l = 0;
      for (; held >> l & 1; l++) sum = Fold::of(levels[l], sum);
      held = (held >> l | 1) << l;
      levels[l] = sum;
      if (++p > ends || places[p * fold_piece] != place) break;
      sum = parts[(p * 2) * width + c];
    }
    bool any = false;
    for (int l = 0; l < 40; l++) {
      if (!(held >> l & 1)) continue;
      sum = any ? Fold::of(levels[l], sum) : levels[l];
      any = true;
    }
    T& to = self[(i64)place * width + c];
    to = narrow<T>(Fold::of((W)term<T, W>(to), sum));
  }
}

// Divides each row by the number of its elements: places are sorted, and the first element of a place counts them.
template <class T, class Place>
__global__ void __launch_bounds__(128) divide_by_counts(const Place* places, i64 count, T* self, i64 width) {
  for (i64 i = blockIdx.x; i < count; i += gridDim.x) {
    const Place place = places[i];
    if (place == (Place)-1 || (i > 0 && places[i - 1] == place)) continue;
    i64 low = i, high = count;  // the last element of the place is at `low`
    while (high - low > 1) {
      const i64 middle = (low + high) / 2;
      if (places[middle] == place)
        low = middle;
      else
        high = middle;
    }
    const Wide<T> by = (Wide<T>)(low - i + 1);
    for (i64 c = threadIdx.x; c < width; c += blockDim.x) {
      T& to = self[(i64)place * width + c];
      to = narrow<T>(wide(to) / by);
    }
  }
}
