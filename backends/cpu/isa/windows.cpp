// Sums over windows that are no product of matrices: depthwise convolutions, and parts of gradients.
// Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/windows.h"

#include "backends/cpu/isa/tile.h"

namespace lamella::cpu {
namespace {

template <class T>
void depthwise(const Windows& w, const void* weight, const void* bias, void* out) {
  typedef Vector<T> V;
  constexpr int n = lanes<T>;
  const T* f = static_cast<const T*>(weight);
  const T b = bias ? *static_cast<const T*>(bias) : T(0);
  for (int64_t r = 0; r < w.rows; r++) {
    const T* row = static_cast<const T*>(w.image) + w.row[r];
    T* to = static_cast<T*>(out) + r * w.columns;
    for (int64_t j = 0; j < w.columns; j += n) {
      V sum[2] = {};
      int64_t q = 0;
      for (; q + 2 <= w.taps; q += 2) {
        sum[0] += f[q] * *reinterpret_cast<const V*>(row + w.tap[q] + j);
        sum[1] += f[q + 1] * *reinterpret_cast<const V*>(row + w.tap[q + 1] + j);
      }
      if (q < w.taps) sum[0] += f[q] * *reinterpret_cast<const V*>(row + w.tap[q] + j);
      V v = sum[0] + sum[1];
      if (bias) v = v + b;
      if (j + n <= w.columns)
        *reinterpret_cast<V*>(to + j) = v;
      else
        for (int64_t i = 0; i < w.columns - j; i++) to[j + i] = v[i];
    }
  }
}

// Computes a few neighbouring places for as many channels as a V has elements, from taps [from, to) of rows and
// columns.
template <class T, class V, int Count>
INLINE void places(const Pixels& p, int64_t row, int64_t column, int64_t channel, const int64_t (&from)[2],
                   const int64_t (&to)[2], T* out) {
  const T* image = static_cast<const T*>(p.image) + channel;
  const T* weight = static_cast<const T*>(p.weight) + channel;
  V sum[Count] = {};
  for (int64_t r = from[0]; r < to[0]; r++)
    for (int64_t q = from[1]; q < to[1]; q++) {
      const V w = *reinterpret_cast<const V*>(weight + (r * p.kernel[1] + q) * p.channels);
      const T* x = image + ((row + r * p.dilation[0]) * p.width + column + q * p.dilation[1]) * p.channels;
#pragma GCC unroll 4
      for (int i = 0; i < Count; i++) sum[i] += w * *reinterpret_cast<const V*>(x + i * p.stride[1] * p.channels);
    }
#pragma GCC unroll 4
  for (int i = 0; i < Count; i++) {
    V v = sum[i];
    if (p.bias) v = v + *reinterpret_cast<const V*>(static_cast<const T*>(p.bias) + channel);
    *reinterpret_cast<V*>(out + i * p.channels) = v;
  }
}

// Computes the range of taps of a window that lie in the image.
INLINE void taps_inside(const Pixels& p, int d, int64_t begin, int64_t size, int64_t (&from)[2], int64_t (&to)[2]) {
  const int64_t step = p.dilation[d], room = size - begin;
  from[d] = begin < 0 ? least((-begin + step - 1) / step, p.kernel[d]) : 0;
  to[d] = room > 0 ? least((room + step - 1) / step, p.kernel[d]) : 0;
}

template <class T, class V>
INLINE void depthwise_channels(const Pixels& p, int64_t i, int64_t channel) {
  constexpr int count = 4;
  const int64_t row = i * p.stride[0] - p.padding[0], reach = (p.kernel[1] - 1) * p.dilation[1] + 1;
  int64_t from[2], to[2];
  taps_inside(p, 0, row, p.height, from, to);
  for (int64_t j = 0; j < p.columns;) {
    const int64_t column = j * p.stride[1] - p.padding[1];
    T* out = static_cast<T*>(p.out) + (i * p.columns + j) * p.channels + channel;
    taps_inside(p, 1, column, p.width, from, to);
    if (column >= 0 && j + count <= p.columns && column + (count - 1) * p.stride[1] + reach <= p.width) {
      places<T, V, count>(p, row, column, channel, from, to, out);
      j += count;
    } else {
      places<T, V, 1>(p, row, column, channel, from, to, out);
      j++;
    }
  }
}

template <class T>
void depthwise_pixels(const Pixels& p) {
  constexpr int n = lanes<T>;
  for (int64_t i = p.begin; i < p.end; i++) {
    if (p.channels < n)
      for (int64_t c = 0; c < p.channels; c++) depthwise_channels<T, T>(p, i, c);
    else  // the last vector overlaps the one before
      for (int64_t c = 0; c < p.channels; c += n) depthwise_channels<T, Vector<T>>(p, i, least(c, p.channels - n));
  }
}

// ---- the gradient of a weight ---------------------------------------------------------------------------------------

// Adds up a tile of the sums, a few taps by a few vectors of output channels, over all places, in registers: elements
// of the image, read in place, times rows of the gradient, whose channels are neighbours.

template <class T, int Rows, int Vectors>
__attribute__((noinline)) void tile(const T* const* from, const int64_t* row, int64_t rows, int64_t columns,
                                    const T* grad, int64_t grad_row, T* sums) {
  typedef Vector<T> V;
  constexpr int n = lanes<T>;
  V sum[Rows][Vectors] = {};
  for (int64_t r = 0; r < rows; r++) {
    const T* x[Rows];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) x[i] = from[i] + row[r];
    for (int64_t q = 0; q < columns; q++) {
      V y[Vectors];
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; j++) y[j] = *reinterpret_cast<const V*>(grad + j * n);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; j++) sum[i][j] += x[i][q] * y[j];
      grad += grad_row;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; j++) *reinterpret_cast<V*>(sums + i * grad_row + j * n) += sum[i][j];
}

template <class T, int Rows>
INLINE void tiles(const T* const* from, const int64_t* row, int64_t rows, int64_t columns, const T* grad, int64_t width,
                  T* sums) {
  int64_t j = 0;
  for (; j + 2 * lanes<T> <= width; j += 2 * lanes<T>)
    tile<T, Rows, 2>(from, row, rows, columns, grad + j, width, sums + j);
  if (j < width) tile<T, Rows, 1>(from, row, rows, columns, grad + j, width, sums + j);
}

constexpr int64_t block_places = 256;

template <class T>
void weight_gradient(const Windows& w, const void* grad, int64_t width, void* sums) {
  const int64_t count = w.channels * w.taps;
  const int64_t step = w.columns < block_places ? block_places / w.columns : 1;
  for (int64_t r = 0; r < w.rows; r += step) {
    const int64_t rows = least(step, w.rows - r);
    const T* g = static_cast<const T*>(grad) + r * w.columns * width;
    for (int64_t k = 0; k < count;) {
      const T* from[tile_rows];
      int64_t n = least(tile_rows, count - k);
      for (int64_t i = 0; i < n; i++)
        from[i] = static_cast<const T*>(w.image) + (k + i) / w.taps * w.plane + w.tap[(k + i) % w.taps];
      T* to = static_cast<T*>(sums) + k * width;
      if (n == tile_rows) {
        tiles<T, tile_rows>(from, w.row + r, rows, w.columns, g, width, to);
      } else if (tile_rows > 9 && n >= 9) {
        tiles<T, 9>(from, w.row + r, rows, w.columns, g, width, to);
        n = 9;
      } else if (tile_rows > 3 && n >= 3) {
        tiles<T, 3>(from, w.row + r, rows, w.columns, g, width, to);
        n = 3;
      } else {
        tiles<T, 1>(from, w.row + r, rows, w.columns, g, width, to);
        n = 1;
      }
      k += n;
    }
  }
}

// Computes the sums for few taps or few channels, with vectors of places and two output channels at a time, so that no
// operand is transposed. Each sum is a vector.
template <class T, int Taps, int Outs>
__attribute__((noinline)) void places_tile(const Windows& w, const T* image, const int64_t* tap, const T* grad,
                                           int64_t grad_step, T* sums, int64_t sums_step) {
  typedef Vector<T> V;
  constexpr int n = lanes<T>;
  V sum[Outs][Taps] = {};
  const int64_t rows = w.rows, columns = w.columns, *row = w.row;
  const T* from[Taps];
#pragma GCC unroll 16
  for (int k = 0; k < Taps; k++) from[k] = image + tap[k];
  for (int64_t r = 0; r < rows; r++, grad += columns)
    for (int64_t q = 0; q < columns; q += n) {
      const int64_t at = row[r] + q, count = columns - q;
      V y[Outs];
      if (count >= n) {
#pragma GCC unroll 2
        for (int o = 0; o < Outs; o++) y[o] = *reinterpret_cast<const V*>(grad + o * grad_step + q);
#pragma GCC unroll 16
        for (int k = 0; k < Taps; k++)
#pragma GCC unroll 2
          for (int o = 0; o < Outs; o++) sum[o][k] += *reinterpret_cast<const V*>(from[k] + at) * y[o];
      } else {
#pragma GCC unroll 2
        for (int o = 0; o < Outs; o++) y[o] = load_some(grad + o * grad_step + q, count);
#pragma GCC unroll 16
        for (int k = 0; k < Taps; k++) {
          const V x = load_some(from[k] + at, count);
#pragma GCC unroll 2
          for (int o = 0; o < Outs; o++) sum[o][k] += x * y[o];
        }
      }
    }
#pragma GCC unroll 2
  for (int o = 0; o < Outs; o++)
#pragma GCC unroll 16
    for (int k = 0; k < Taps; k++) *reinterpret_cast<V*>(sums + o * sums_step + k * n) += sum[o][k];
}

template <class T, int Taps>
INLINE void places_tiles(const Windows& w, const T* image, int64_t tap, const T* grad, int64_t outs, int64_t grad_step,
                         T* sums) {
  const int64_t step = w.taps * lanes<T>;
  sums += tap * lanes<T>;
  int64_t o = 0;
  for (; o + 2 <= outs; o += 2)
    places_tile<T, Taps, 2>(w, image, w.tap + tap, grad + o * grad_step, grad_step, sums + o * step, step);
  if (o < outs) places_tile<T, Taps, 1>(w, image, w.tap + tap, grad + o * grad_step, grad_step, sums + o * step, step);
}

template <class T>
void weight_gradient_by_places(const Windows& w, const void* grad, int64_t outs, int64_t grad_step, void* sums) {
  constexpr int most = tile_rows > 9 ? 9 : 3;
  const T* g = static_cast<const T*>(grad);
  for (int64_t c = 0; c < w.channels; c++) {
    const T* image = static_cast<const T*>(w.image) + c * w.plane;
    T* to = static_cast<T*>(sums) + c * outs * w.taps * lanes<T>;
    int64_t k = 0;
    for (; k + most <= w.taps; k += most) places_tiles<T, most>(w, image, k, g, outs, grad_step, to);
    for (; most > 3 && k + 3 <= w.taps; k += 3) places_tiles<T, 3>(w, image, k, g, outs, grad_step, to);
    for (; k < w.taps; k++) places_tiles<T, 1>(w, image, k, g, outs, grad_step, to);
  }
}

// Adds rows of `n` elements in strips of vectors, and the rest in strips of smaller vectors. The strips do not overlap,
// since a load that covers more than the store just before it would wait for that store.
template <class T, int Lanes>
INLINE void add_rows(T* to, const int64_t* row, int64_t rows, const T* from, int64_t columns, int64_t n) {
  typedef T V __attribute__((vector_size(Lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
  for (; n >= Lanes; n -= Lanes, to += Lanes, from += Lanes)
    for (int64_t r = 0; r < rows; r++) {
      V* at = reinterpret_cast<V*>(to + row[r]);
      *at = *at + *reinterpret_cast<const V*>(from + r * columns);
    }
  if (n == 0) return;
  if constexpr (Lanes > 2)
    add_rows<T, Lanes / 2>(to, row, rows, from, columns, n);
  else
    for (int64_t r = 0; r < rows; r++) to[row[r]] += from[r * columns];
}

// Adds one tap of all channels after another, so that neighbouring taps, which add to the same places, are far apart.
template <class T>
void add_windows(const Windows& w, const void* values) {
  T* image = static_cast<T*>(const_cast<void*>(w.image));
  for (int64_t t = 0; t < w.taps; t++)
    for (int64_t c = 0; c < w.channels; c++)
      add_rows<T, lanes<T>>(image + c * w.plane + w.tap[t], w.row, w.rows,
                            static_cast<const T*>(values) + (c * w.taps + t) * w.rows * w.columns, w.columns,
                            w.columns);
}

template <class T>
constexpr WindowKernels kernels_of() {
  return {lanes<T>,      depthwise<T>, depthwise_pixels<T>, weight_gradient<T>, weight_gradient_by_places<T>,
          add_windows<T>};
}

constexpr WindowLoops all = {kernels_of<float>(), kernels_of<double>(), kernels_of<unsigned>(),
                             kernels_of<unsigned long>()};

}  // namespace

namespace LAMELLA_ISA {
const WindowLoops& window_loops() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
