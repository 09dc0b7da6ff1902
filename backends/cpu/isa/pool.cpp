// Pools. In planes, the rows of a window are joined into one, then its columns; channels last, pixels are joined. All
// loops run along elements that are neighbours in memory. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/isa/pool_windows.h"

namespace lamella::cpu {
namespace {

struct Largest {
  template <class T>  // a number or a vector
  static INLINE T join(T x, T y) {
    return (y > x) | (y != y) ? y : x;  // NaN is the largest
  }
};
struct Sum {
  template <class T>
  static INLINE T join(T x, T y) {
    return x + y;
  }
};

// Joins windows of two by two side by side: N at a time, then half as many, until all n are done.
template <class Op, class T, int N>
INLINE void join_squares(const T* top, const T* bottom, int64_t n, T* out) {
  if constexpr (N == 1) {
    for (int64_t j = 0; j < n; j++)
      out[j] = Op::join(Op::join(top[2 * j], bottom[2 * j]), Op::join(top[2 * j + 1], bottom[2 * j + 1]));
  } else {
    using I = Signed<sizeof(T)>;
    using V = typename VectorOf<T, N>::type;
    typedef I Order __attribute__((vector_size(N * sizeof(T))));
    Order even, odd;
#pragma GCC unroll 64
    for (int i = 0; i < N; i++) {
      even[i] = static_cast<I>(2 * i);
      odd[i] = static_cast<I>(2 * i + 1);
    }
    for (; n >= N; n -= N, top += 2 * N, bottom += 2 * N, out += N) {
      const V x = Op::join(*reinterpret_cast<const V*>(top), *reinterpret_cast<const V*>(bottom));
      const V y = Op::join(*reinterpret_cast<const V*>(top + N), *reinterpret_cast<const V*>(bottom + N));
      *reinterpret_cast<V*>(out) = Op::join(__builtin_shuffle(x, y, even), __builtin_shuffle(x, y, odd));
    }
    join_squares<Op, T, N / 2>(top, bottom, n, out);
  }
}

// Joins Count lines in their order, after the elements of `to` if it was begun.
template <class Op, class T, int Count, bool Begun>
INLINE void join_lines(const T* const* lines, int64_t n, T* __restrict to) {
  const T* line[Count];
  for (int k = 0; k < Count; k++) line[k] = lines[k];
  for (int64_t j = 0; j < n; j++) {
    T v = Begun ? to[j] : line[0][j];
#pragma GCC unroll 4
    for (int k = Begun ? 0 : 1; k < Count; k++) v = Op::join(v, line[k][j]);
    to[j] = v;
  }
}

// Joins lines of n elements into one, four in each pass.
template <class Op, class T>
class Joined {
 public:
  INLINE Joined(int64_t n, T* to) : n_(n), to_(to) {}
  INLINE void add(const T* line) {
    lines_[count_++] = line;
    if (count_ == 4) four();
  }
  INLINE void finish(T nothing) {
    begun_ ? rest<true>() : rest<false>();
    if (!begun_ && count_ == 0)
      for (int64_t j = 0; j < n_; j++) to_[j] = nothing;
  }

 private:
  __attribute__((noinline)) void four() {
    begun_ ? join_lines<Op, T, 4, true>(lines_, n_, to_) : join_lines<Op, T, 4, false>(lines_, n_, to_);
    begun_ = true;
    count_ = 0;
  }
  template <bool Begun>
  INLINE void rest() {
    if (count_ == 3) join_lines<Op, T, 3, Begun>(lines_, n_, to_);
    if (count_ == 2) join_lines<Op, T, 2, Begun>(lines_, n_, to_);
    if (count_ == 1) join_lines<Op, T, 1, Begun>(lines_, n_, to_);
  }

  int64_t n_;
  T* to_;
  const T* lines_[4];
  int count_ = 0;
  bool begun_ = false;
};

// Joins the rows of the image that a row of outputs reads into one.
template <class Op, class T>
void join_rows(const PoolPlane& p, int64_t place, T nothing, T* to, PoolWatch* watch) {
  Joined<Op, T> joined(p.image[1], to);
  for (int64_t k = 0; k < p.kernel[0]; k++) {
    const int64_t row = place * p.stride[0] - p.padding[0] + k * p.dilation[0];
    if (row < 0 || row >= p.image[0]) continue;
    joined.add(static_cast<const T*>(p.in) + row * p.image[1]);
    if (watch->stops(p.image[1])) return;
  }
  joined.finish(nothing);
}

// Joins the pixels of one window, for Count vectors of channels, in channels last. Rows are joined first, as in planes.
template <class Op, class T, int Count>
INLINE void join_channels(const PoolPlane& p, const T* first, int64_t rows, int64_t columns, T* out) {
  constexpr int width = vector_bytes / sizeof(T);
  using V = typename VectorOf<T, width>::type;
  const int64_t down = p.dilation[0] * p.image[1] * p.channels, right = p.dilation[1] * p.channels;
  V all[Count] = {};
  for (int64_t q = 0; q < columns; q++, first += right) {
    V column[Count];
    for (int k = 0; k < Count; k++) column[k] = *reinterpret_cast<const V*>(first + k * width);
    for (int64_t r = 1; r < rows; r++)
      for (int k = 0; k < Count; k++)
        column[k] = Op::join(column[k], *reinterpret_cast<const V*>(first + r * down + k * width));
    for (int k = 0; k < Count; k++) all[k] = q ? Op::join(all[k], column[k]) : column[k];
  }
  for (int k = 0; k < Count; k++) *reinterpret_cast<V*>(out + k * width) = all[k];
}

// Joins rows and columns [from, to) of one window. The last vector of channels overlaps the one before, so that it
// fits.
template <class Op, class T>
INLINE void join_pixels(const PoolPlane& p, const int64_t (&from)[2], const int64_t (&to)[2], T nothing, T* out) {
  constexpr int width = vector_bytes / sizeof(T), count = 2;
  const int64_t rows = (to[0] - from[0] + p.dilation[0] - 1) / p.dilation[0];
  const int64_t columns = (to[1] - from[1] + p.dilation[1] - 1) / p.dilation[1], n = p.channels;
  const T* first = static_cast<const T*>(p.in) + (from[0] * p.image[1] + from[1]) * n;
  if (rows <= 0 || columns <= 0) {
    for (int64_t c = 0; c < n; c++) out[c] = nothing;
    return;
  }
  int64_t c = 0;
  for (; c + count * width <= n; c += count * width) join_channels<Op, T, count>(p, first + c, rows, columns, out + c);
  for (; c < n; c += width) {
    const int64_t k = c + width <= n ? c : n - width;
    join_channels<Op, T, 1>(p, first + k, rows, columns, out + k);
  }
}

// Joins the columns of each window of a row. Stride and Kernel are 0 if they are not known when this is compiled.
template <class Op, class T, int Stride, int Kernel>
INLINE void join_columns(const PoolPlane& p, const T* __restrict row, T* __restrict out, PoolWatch* watch) {
  const int64_t stride = Stride ? Stride : p.stride[1], n = p.places[1];
  if constexpr (Kernel > 0) {
    for (int64_t j = 0; j < n; j++) {
      T v = row[j * stride];
#pragma GCC unroll 8
      for (int k = 1; k < Kernel; k++) v = Op::join(v, row[j * stride + k]);
      out[j] = v;
    }
    return;
  }
  for (int64_t j = 0; j < n; j++) out[j] = row[j * stride];
  for (int64_t k = 1; k < p.kernel[1]; k++) {
    const T* from = row + k * p.dilation[1];
    for (int64_t j = 0; j < n; j++) out[j] = Op::join(out[j], from[j * stride]);
    if (watch->stops(n)) return;
  }
}

template <class Op, class T>
void columns(const PoolPlane& p, const T* row, T* out, PoolWatch* watch) {
  const bool dense = p.dilation[1] == 1 || p.kernel[1] == 1;
  if (dense && p.stride[1] == 2 && p.kernel[1] == 3) return join_columns<Op, T, 2, 3>(p, row, out, watch);
  if (dense && p.stride[1] == 1 && p.kernel[1] == 3) return join_columns<Op, T, 1, 3>(p, row, out, watch);
  if (p.stride[1] == 1) return join_columns<Op, T, 1, 0>(p, row, out, watch);
  if (p.stride[1] == 2) return join_columns<Op, T, 2, 0>(p, row, out, watch);
  join_columns<Op, T, 0, 0>(p, row, out, watch);
}

// Pools in channels last, and calls finish with the row, the column and the channels of each place.
template <class Op, class T, class Finish>
INLINE int pool_pixels(const PoolPlane& p, T nothing, Finish finish) {
  PoolWatch watch(p.interrupted);
  const int64_t size[2] = {p.image[0], p.image[1]};
  for (int64_t i = p.begin; i < p.end; i++)
    for (int64_t j = 0; j < p.places[1]; j++) {
      int64_t from[2], to[2];
      for (int d = 0; d < 2; d++) {
        const int64_t begin = (d ? j : i) * p.stride[d] - p.padding[d];
        from[d] = first_inside(begin, p.dilation[d]);
        to[d] = clipped(begin + p.kernel[d] * p.dilation[d], 0, size[d]);
      }
      T* out = static_cast<T*>(p.out) + (i * p.places[1] + j) * p.channels;
      join_pixels<Op, T>(p, from, to, nothing, out);
      finish(i, j, out);
      const int64_t work = (to[0] - from[0]) * (to[1] - from[1]) * p.channels;
      if (watch.stops(work > 0 ? work : p.channels)) return watch.status();
    }
  return 0;
}

template <class Op, class T, class Finish>
INLINE int pool(const PoolPlane& p, T nothing, Finish finish) {
  PoolWatch watch(p.interrupted);
  if (are_squares(p)) {
    for (int64_t i = p.begin; i < p.end; i++) {
      const T* top = static_cast<const T*>(p.in) + 2 * i * p.image[1];
      T* out = static_cast<T*>(p.out) + i * p.places[1];
      join_squares<Op, T, vector_bytes / sizeof(T)>(top, top + p.image[1], p.places[1], out);
      finish(i, out);
    }
    return 0;
  }
  T* row = static_cast<T*>(p.space);
  T* whole = row + 2 * pool_row(p);  // a row of outputs, rounded up
  const int64_t before = p.padding[1], all = pool_row(p), n = p.places[1];
  for (int64_t j = 0; j < before; j++) row[j] = nothing;
  for (int64_t j = before + p.image[1]; j < all; j++) row[j] = nothing;
  PoolPlane rounded = p;
  rounded.places[1] = (n + pool_vector - 1) / pool_vector * pool_vector;
  for (int64_t i = p.begin; i < p.end; i++) {
    T* __restrict out = static_cast<T*>(p.out) + i * n;
    join_rows<Op, T>(p, i, nothing, row + before, &watch);
    columns<Op, T>(rounded, row, whole, &watch);
    if (watch.status() || watch.stops(n)) return watch.status();
    for (int64_t j = 0; j < n; j++) out[j] = whole[j];
    finish(i, out);
  }
  return 0;
}

template <class T>
int largest(const PoolPlane& p) {
  if (p.channels) return pool_pixels<Largest, T>(p, lowest<T>, [](int64_t, int64_t, T*) {});
  return pool<Largest, T>(p, lowest<T>, [](int64_t, T*) {});
}

template <class T>
int mean(const PoolPlane& p) {
  T* counts = static_cast<T*>(p.space) + pool_row(p);  // by place of a row: its number of columns, or `divisor`
  const int64_t pad[2] = {p.count_padding ? p.padding[0] : 0, p.count_padding ? p.padding[1] : 0};
  auto count = [&](int d, int64_t place, int64_t size) {
    const int64_t begin = place * p.stride[d] - p.padding[d];
    const int64_t end = begin + p.kernel[d] < size + pad[d] ? begin + p.kernel[d] : size + pad[d];
    return end - (begin > -pad[d] ? begin : -pad[d]);
  };
  if (p.channels)
    return pool_pixels<Sum, T>(p, T(0), [&](int64_t i, int64_t j, T* __restrict out) {
      const T n = static_cast<T>(p.divisor ? p.divisor : count(0, i, p.image[0]) * count(1, j, p.image[1]));
      for (int64_t k = 0; k < p.channels; k++) out[k] = out[k] / n;
    });
  for (int64_t j = 0; j < p.places[1]; j++) counts[j] = static_cast<T>(p.divisor ? p.divisor : count(1, j, p.image[1]));
  return pool<Sum, T>(p, T(0), [&](int64_t i, T* __restrict out) {
    const T rows = static_cast<T>(p.divisor ? 1 : count(0, i, p.image[0]));
    for (int64_t j = 0; j < p.places[1]; j++) out[j] = out[j] / (rows * counts[j]);
  });
}

// Ends a sum: adds the last n elements and the lanes of `sum`, in vectors of N, then of half as many. The order depends
// on n alone.
template <class T, int N>
INLINE T fold(typename VectorOf<T, N>::type sum, const T* x, int64_t n) {
  using V = typename VectorOf<T, N>::type;
  if (n >= N) {
    sum += *reinterpret_cast<const V*>(x);
    x += N;
    n -= N;
  }
  if constexpr (N == 1) {
    return sum[0];
  } else {
    using Half = typename VectorOf<T, N / 2>::type;
    const T* both = reinterpret_cast<const T*>(&sum);
    return fold<T, N / 2>(*reinterpret_cast<const Half*>(both) + *reinterpret_cast<const Half*>(both + N / 2), x, n);
  }
}

template <class T>
INLINE T sum(const T* x, int64_t n) {
  constexpr int width = vector_bytes / sizeof(T);
  using V = typename VectorOf<T, width>::type;
  V lanes[2] = {};
  for (; n >= 2 * width; n -= 2 * width, x += 2 * width)
    for (int q = 0; q < 2; q++) lanes[q] += *reinterpret_cast<const V*>(x + q * width);
  if (n >= width) {
    lanes[0] += *reinterpret_cast<const V*>(x);
    x += width;
    n -= width;
  }
  return fold<T, width>(lanes[0] + lanes[1], x, n);
}

// Computes adaptive means: place i of m reads [floor(i n / m), ceil((i + 1) n / m)). Rows are added up, then columns.
template <class T>
int adaptive(const PoolPlane& p) {
  PoolWatch watch(p.interrupted);
  const T* in = static_cast<const T*>(p.in);
  T *out = static_cast<T*>(p.out), *row = static_cast<T*>(p.space);
  const int64_t height = p.image[0], width = p.image[1], m = p.places[0], n = p.places[1];
  if (m == 1 && n == 1 && !p.channels) {
    *out = sum(in, height * width) / static_cast<T>(height * width);
    return 0;
  }
  for (int64_t i = p.begin; i < p.end; i++) {
    const int64_t top = i * height / m, bottom = ((i + 1) * height + m - 1) / m;
    if (!p.channels) {
      Joined<Sum, T> joined(width, row);
      for (int64_t r = top; r < bottom; r++) joined.add(in + r * width);
      joined.finish(T(0));
    }
    for (int64_t j = 0; j < n; j++) {
      const int64_t left = j * width / n, right = ((j + 1) * width + n - 1) / n;
      const T count = static_cast<T>((bottom - top) * (right - left));
      if (p.channels) {
        T* to = out + (i * n + j) * p.channels;
        Joined<Sum, T> joined(p.channels, to);
        for (int64_t r = top; r < bottom; r++)
          for (int64_t q = left; q < right; q++) joined.add(in + (r * width + q) * p.channels);
        joined.finish(T(0));
        for (int64_t k = 0; k < p.channels; k++) to[k] = to[k] / count;
      } else {
        out[i * n + j] = sum(row + left, right - left) / count;
      }
    }
    if (watch.stops(((bottom - top) * width + n) * (p.channels ? p.channels : 1))) return watch.status();
  }
  return 0;
}

constexpr Pools make() {
  Pools p{};
  p.largest[LAMELLA_UINT8] = largest<uint8_t>;
  p.largest[LAMELLA_UINT16] = largest<uint16_t>;
  p.largest[LAMELLA_UINT32] = largest<uint32_t>;
  p.largest[LAMELLA_UINT64] = largest<uint64_t>;
  p.largest[LAMELLA_INT8] = largest<int8_t>;
  p.largest[LAMELLA_INT16] = largest<int16_t>;
  p.largest[LAMELLA_INT32] = largest<int32_t>;
  p.largest[LAMELLA_INT64] = largest<int64_t>;
  p.largest[LAMELLA_FLOAT32] = largest<float>;
  p.largest[LAMELLA_FLOAT64] = largest<double>;
  p.mean[LAMELLA_INT64] = mean<int64_t>;
  p.mean[LAMELLA_FLOAT32] = mean<float>;
  p.mean[LAMELLA_FLOAT64] = mean<double>;
  p.adaptive[LAMELLA_FLOAT32] = adaptive<float>;
  p.adaptive[LAMELLA_FLOAT64] = adaptive<double>;
  return p;
}

constexpr Pools all = make();

}  // namespace

namespace LAMELLA_ISA {
const Pools& pools() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
