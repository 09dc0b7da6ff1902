// Pools over windows of images and their gradients: a thread for each place of the result.
#include <lamella/quotient.h>
#include "pooling.h"
#include "scalars.cuh"

// Divides numbers that are not negative. Divisions of 64 bits take many instructions, and are rarely needed.
DEVICE i64 quotient(i64 x, i64 y) { return (x | y) >> 32 ? x / y : (i64)((u32)x / (u32)y); }

// The column, row and plane of element i of (planes, height, width).
struct Place {
  i64 x, y, plane;
  DEVICE Place(i64 i, const i64 (&sizes)[2]) {
    const i64 rows = quotient(i, sizes[1]);
    plane = quotient(rows, sizes[0]);
    x = i - rows * sizes[1];
    y = rows - plane * sizes[0];
  }
};

// Returns the first row (d is 0) or column (d is 1) of a place's window.
DEVICE i64 first_of(const Pool& w, int d, i64 place) {
  return w.adaptive ? quotient(place * w.image[d], w.places[d]) : place * w.stride[d] - w.padding[d];
}
// Returns the row or column after the window of a mean, which has no dilation.
DEVICE i64 end_of(const Pool& w, int d, i64 place) {
  return w.adaptive ? quotient((place + 1) * w.image[d] + w.places[d] - 1, w.places[d]) : first_of(w, d, place) + w.kernel[d];
}
// Returns the number of rows or columns by which a mean divides.
DEVICE i64 counted(const Pool& w, int d, i64 place) {
  i64 from = first_of(w, d, place), to = end_of(w, d, place);
  if (!w.adaptive && w.count_padding) {
    if (to > w.image[d] + w.padding[d]) to = w.image[d] + w.padding[d];
  } else {
    if (from < 0) from = 0;
    if (to > w.image[d]) to = w.image[d];
  }
  return to - from;
}

// The type of a mean's sum. A mean of integers is rounded toward zero.
template <class T>
struct MeanOf {
  typedef Wide<T> type;
};
template <>
struct MeanOf<i64> {
  typedef i64 type;
};
template <class T>
using Mean = typename MeanOf<T>::type;

template <class T>
DEVICE T comparable(T x) {
  return x;
}
DEVICE float comparable(float16 x) { return to_float(x); }
DEVICE float comparable(bfloat16 x) { return to_float(x); }

// Finds the largest element of each window: the first of equals, and a NaN before all; -1 and `least` if a window is
// empty. Index is i32 if images, results and the places of windows are below 2^31. K is the height and the width of
// windows without gaps, whose elements are loaded before any is compared; 0 means any window. `across` and `down`
// divide by the results' width and height, if Index is i32.
template <class T, class Index, int K>
__global__ void __launch_bounds__(256)
    max_pool(const T* in, Pool w, T least, T* values, i64* indices, Quotient across, Quotient down) {
  const Index height = (Index)w.image[0], width = (Index)w.image[1], places[2] = {(Index)w.places[0], (Index)w.places[1]};
  const Index rows = K ? K : (Index)w.kernel[0], columns = K ? K : (Index)w.kernel[1];
  const Index row_step = K ? 1 : (Index)w.dilation[0], column_step = K ? 1 : (Index)w.dilation[1];
  const i64 all = w.planes * w.places[0] * w.places[1], step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    Index row_of_all, plane;
    if constexpr (sizeof(Index) == 4)
      row_of_all = (i32)divide((u32)i, across), plane = (i32)divide((u32)row_of_all, down);
    else
      row_of_all = quotient(i, places[1]), plane = quotient(row_of_all, places[0]);
    const Index top = (row_of_all - plane * places[0]) * (Index)w.stride[0] - (Index)w.padding[0];
    const Index left = ((Index)i - row_of_all * places[1]) * (Index)w.stride[1] - (Index)w.padding[1];
    const T* from = in + (i64)plane * height * width;
    T best = least;
    Index at = -1;
    auto compare = [&](T v, Index place) {
      const auto c = comparable(v), most = comparable(best);
      if (at < 0 || (!(c <= most) && most == most)) best = v, at = place;
    };
    if constexpr (K > 0) {
      T v[K][K];
      auto inside = [&](int a, int b) {
        return top + a >= 0 && top + a < height && left + b >= 0 && left + b < width;
      };
#pragma unroll
      for (int a = 0; a < K; a++)
#pragma unroll
        for (int b = 0; b < K; b++)
          if (inside(a, b)) v[a][b] = from[(top + a) * width + left + b];
#pragma unroll
      for (int a = 0; a < K; a++)
#pragma unroll
        for (int b = 0; b < K; b++)
          if (inside(a, b)) compare(v[a][b], (top + a) * width + left + b);
    } else {
      for (Index a = 0; a < rows; a++) {
        const Index row = top + a * row_step;
        if (row < 0 || row >= height) continue;
        for (Index b = 0; b < columns; b++) {
          const Index column = left + b * column_step;
          if (column >= 0 && column < width) compare(from[row * width + column], row * width + column);
        }
      }
    }
    values[i] = best;
    if (indices) indices[i] = at;
  }
}

// Writes for each element of the image the sum of the gradients of the windows whose largest element it is, in order.
template <class T>
__global__ void __launch_bounds__(256) max_pool_backward(const T* grad, const i64* indices, Pool w, T* to) {
  const i64 all = w.planes * w.image[0] * w.image[1], step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const Place place(i, w.image);
    const i64 plane = place.plane, at = place.y * w.image[1] + place.x, of[2] = {place.y, place.x};
    i64 from[2], behind[2];
    for (int d = 0; d < 2; d++) {  // the windows that may hold the element
      const i64 reach = (w.kernel[d] - 1) * w.dilation[d], end = of[d] + w.padding[d];
      from[d] = end - reach <= 0 ? 0 : quotient(end - reach + w.stride[d] - 1, w.stride[d]);
      behind[d] = quotient(end, w.stride[d]) + 1;
      if (behind[d] > w.places[d]) behind[d] = w.places[d];
    }
    Wide<T> sum = 0;
    for (i64 y = from[0]; y < behind[0]; y++)
      for (i64 x = from[1]; x < behind[1]; x++) {
        const i64 g = (plane * w.places[0] + y) * w.places[1] + x;
        if (indices[g] == at) sum += wide(grad[g]);
      }
    to[i] = narrow<T>(sum);
  }
}

// Adds the gradients of indices that lie outside of their own windows, as another operator may give them. A block takes
// a plane, and adds them one after the other.
template <class T>
__global__ void __launch_bounds__(256) max_pool_strays(const T* grad, const i64* indices, Pool w, T* to) {
  const i64 pixels = w.image[0] * w.image[1], places = w.places[0] * w.places[1];
  __shared__ u32 stray[8];
  for (i64 plane = blockIdx.x; plane < w.planes; plane += gridDim.x)
    for (i64 first = 0; first < places; first += 256) {
      const i64 p = first + threadIdx.x, at = p < places ? indices[plane * places + p] : -1;
      bool strays = at >= 0 && at < pixels;
      if (strays) {
        const i64 y = at / w.image[1] + w.padding[0] - p / w.places[1] * w.stride[0];
        const i64 x = at % w.image[1] + w.padding[1] - p % w.places[1] * w.stride[1];
        strays = y < 0 || x < 0 || y > (w.kernel[0] - 1) * w.dilation[0] || x > (w.kernel[1] - 1) * w.dilation[1];
      }
      const u32 found = __ballot_sync(~0u, strays);
      if (threadIdx.x % 32 == 0) stray[threadIdx.x / 32] = found;
      __syncthreads();
      if (threadIdx.x == 0)
        for (int i = 0; i < 256; i++) {
          if (!stray[i / 32]) i |= 31;  // a whole warp has none
          if (!(stray[i / 32] >> i % 32 & 1)) continue;
          T& pixel = to[plane * pixels + indices[plane * places + first + i]];
          pixel = narrow<T>(wide(pixel) + wide(grad[plane * places + first + i]));
        }
      __syncthreads();
    }
}

template <class T>
__global__ void __launch_bounds__(256) average_pool(const T* in, Pool w, T* out) {
  const i64 all = w.planes * w.places[0] * w.places[1], step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const Place place(i, w.places);
    const i64 x = place.x, y = place.y;
    const T* from = in + place.plane * w.image[0] * w.image[1];
    const i64 top = first_of(w, 0, y) < 0 ? 0 : first_of(w, 0, y), left = first_of(w, 1, x) < 0 ? 0 : first_of(w, 1, x);
    const i64 bottom = end_of(w, 0, y) < w.image[0] ? end_of(w, 0, y) : w.image[0];
    const i64 right = end_of(w, 1, x) < w.image[1] ? end_of(w, 1, x) : w.image[1];
    Mean<T> sum = 0;
    for (i64 a = top; a < bottom; a++)
      for (i64 b = left; b < right; b++) sum += (Mean<T>)wide(from[a * w.image[1] + b]);
    out[i] = narrow<T>(sum / (Mean<T>)(w.divisor ? w.divisor : counted(w, 0, y) * counted(w, 1, x)));
  }
}

template <class T>
__global__ void __launch_bounds__(256) average_pool_backward(const T* grad, Pool w, T* to) {
  const i64 all = w.planes * w.image[0] * w.image[1], step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const Place place(i, w.image);
    const i64 plane = place.plane, at = place.y * w.image[1] + place.x, of[2] = {place.y, place.x};
    i64 from[2], behind[2];
    for (int d = 0; d < 2; d++) {
      if (w.adaptive) {
        from[d] = quotient(of[d] * w.places[d], w.image[d]);
        behind[d] = quotient((of[d] + 1) * w.places[d] + w.image[d] - 1, w.image[d]);
      } else {
        const i64 end = of[d] + w.padding[d];
        from[d] = end - w.kernel[d] + 1 <= 0 ? 0 : quotient(end - w.kernel[d] + w.stride[d], w.stride[d]);
        behind[d] = quotient(end, w.stride[d]) + 1;
        if (behind[d] > w.places[d]) behind[d] = w.places[d];
      }
    }
    Mean<T> sum = 0;
    for (i64 y = from[0]; y < behind[0]; y++)
      for (i64 x = from[1]; x < behind[1]; x++)
        sum += (Mean<T>)wide(grad[(plane * w.places[0] + y) * w.places[1] + x]) /
               (Mean<T>)(w.divisor ? w.divisor : counted(w, 0, y) * counted(w, 1, x));
    to[i] = narrow<T>(sum);
  }
}
