// Pools. In planes, the rows of a window are joined into one, then its columns; channels last, pixels are joined. All
// loops run along what is neighbouring in memory. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/pool.h"

#include <limits>

namespace lattis::cpu {
namespace {

#define INLINE inline __attribute__((always_inline))

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

struct Largest {
  template <class T>  // of numbers or vectors
  static INLINE T join(T x, T y) {
    return (y > x) | (y != y) ? y : x;  // NaN wins
  }
};
struct Sum {
  template <class T>
  static INLINE T join(T x, T y) {
    return x + y;
  }
};

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <int Bytes>
struct IndexOf;
template <>
struct IndexOf<1> {
  using type = int8_t;
};
template <>
struct IndexOf<2> {
  using type = int16_t;
};
template <>
struct IndexOf<4> {
  using type = int32_t;
};
template <>
struct IndexOf<8> {
  using type = int64_t;
};

// Windows of two by two side by side: N of them, then half as many, until all n are done.
template <class Op, class T, int N>
INLINE void join_squares(const T* top, const T* bottom, int64_t n, T* out) {
  if constexpr (N == 1) {
    for (int64_t j = 0; j < n; j++)
      out[j] = Op::join(Op::join(top[2 * j], bottom[2 * j]), Op::join(top[2 * j + 1], bottom[2 * j + 1]));
  } else {
    using I = typename IndexOf<sizeof(T)>::type;
    typedef T V __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
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

// The rows of the image that a row of outputs reads, joined into one.
template <class Op, class T>
void join_rows(const PoolPlane& p, int64_t place, T nothing, T* __restrict to) {
  const T* image = static_cast<const T*>(p.in);
  const T* rows[3];
  int count = 0;
  bool begun = false;
  const int64_t n = p.width;
  auto flush = [&] {
    const T *x = rows[0], *y = rows[1], *z = rows[2];
    if (begun) {
      for (int k = 0; k < count; k++)
        for (int64_t j = 0; j < n; j++) to[j] = Op::join(to[j], rows[k][j]);
    } else if (count == 3) {
      for (int64_t j = 0; j < n; j++) to[j] = Op::join(Op::join(x[j], y[j]), z[j]);
    } else if (count == 2) {
      for (int64_t j = 0; j < n; j++) to[j] = Op::join(x[j], y[j]);
    } else if (count == 1) {
      for (int64_t j = 0; j < n; j++) to[j] = x[j];
    }
    begun |= count > 0;
    count = 0;
  };
  for (int64_t k = 0; k < p.kernel[0]; k++) {
    const int64_t row = place * p.stride[0] - p.padding[0] + k * p.dilation[0];
    if (row < 0 || row >= p.height) continue;
    rows[count++] = image + row * n;
    if (count == 3) flush();
  }
  flush();
  if (!begun)
    for (int64_t j = 0; j < n; j++) to[j] = nothing;
}

// Stride and Kernel are 0 where they are not known.
template <class Op, class T, int Stride, int Kernel>
INLINE void join_columns(const PoolPlane& p, const T* __restrict row, T* __restrict out) {
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
  }
}

template <class Op, class T>
void columns(const PoolPlane& p, const T* row, T* out) {
  const bool dense = p.dilation[1] == 1 || p.kernel[1] == 1;
  if (dense && p.stride[1] == 2 && p.kernel[1] == 3) return join_columns<Op, T, 2, 3>(p, row, out);
  if (dense && p.stride[1] == 1 && p.kernel[1] == 3) return join_columns<Op, T, 1, 3>(p, row, out);
  if (p.stride[1] == 1) return join_columns<Op, T, 1, 0>(p, row, out);
  if (p.stride[1] == 2) return join_columns<Op, T, 2, 0>(p, row, out);
  join_columns<Op, T, 0, 0>(p, row, out);
}

// Neighbouring windows of two by two that lie in the image.
INLINE bool are_squares(const PoolPlane& p) {
  bool all = true;
  for (int d = 0; d < 2; d++)
    all &= p.kernel[d] == 2 && p.stride[d] == 2 && p.padding[d] == 0 && p.dilation[d] == 1 &&
           2 * p.places[d] <= (d ? p.width : p.height);
  return all;
}

template <class Op, class T, class Finish>
INLINE void pool(const PoolPlane& p, T nothing, Finish finish) {
  if (are_squares(p)) {
    for (int64_t i = p.begin; i < p.end; i++) {
      const T* top = static_cast<const T*>(p.in) + 2 * i * p.width;
      T* out = static_cast<T*>(p.out) + i * p.places[1];
      join_squares<Op, T, vector_bytes / sizeof(T)>(top, top + p.width, p.places[1], out);
      finish(i, out);
    }
    return;
  }
  T* row = static_cast<T*>(p.space);
  T* whole = row + 2 * pool_row(p);  // a row of outputs, rounded up
  const int64_t before = p.padding[1], all = pool_row(p), n = p.places[1];
  for (int64_t j = 0; j < before; j++) row[j] = nothing;
  for (int64_t j = before + p.width; j < all; j++) row[j] = nothing;
  PoolPlane rounded = p;
  rounded.places[1] = (n + pool_vector - 1) / pool_vector * pool_vector;
  for (int64_t i = p.begin; i < p.end; i++) {
    T* __restrict out = static_cast<T*>(p.out) + i * n;
    join_rows<Op, T>(p, i, nothing, row + before);
    columns<Op, T>(rounded, row, whole);
    for (int64_t j = 0; j < n; j++) out[j] = whole[j];
    finish(i, out);
  }
}

INLINE int64_t clipped(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

// The first place of a window that lies in the image.
INLINE int64_t first_inside(int64_t begin, int64_t dilation) {
  return begin >= 0 ? begin : begin + (-begin + dilation - 1) / dilation * dilation;
}

// One tap of a row of windows against the best so far; an index is as wide as an element, so both share one mask.
template <class T, class I, int Stride>
INLINE void better(const T* __restrict from, int64_t stride, int64_t first, int64_t last, I index, T* __restrict best,
                   I* __restrict at) {
  const int64_t s = Stride ? Stride : stride;
  for (int64_t j = first; j < last; j++) {
    const T x = from[j * s];
    const bool takes = (x > best[j]) | ((x != x) & (best[j] == best[j]));
    best[j] = takes ? x : best[j];
    at[j] = takes ? index + static_cast<I>(j * s) : at[j];
  }
}

// Values with their indices: the taps of all windows of a row, one after another; the first of equals stays.
template <class T, class I>
void largest_with_indices(const PoolPlane& p) {
  const T* image = static_cast<const T*>(p.in);
  const int64_t n = p.places[1];
  I* at = static_cast<I*>(p.space);
  for (int64_t i = p.begin; i < p.end; i++) {
    T* best = static_cast<T*>(p.out) + i * n;
    const int64_t top = i * p.stride[0] - p.padding[0];
    for (int64_t j = 0; j < n; j++) {
      best[j] = lowest<T>;
      at[j] = static_cast<I>(first_inside(top, p.dilation[0]) * p.width +
                             first_inside(j * p.stride[1] - p.padding[1], p.dilation[1]));
    }
    for (int64_t k = 0; k < p.kernel[0]; k++) {
      const int64_t row = top + k * p.dilation[0];
      if (row < 0 || row >= p.height) continue;
      for (int64_t q = 0; q < p.kernel[1]; q++) {
        const int64_t shift = q * p.dilation[1] - p.padding[1], s = p.stride[1], begin = row * p.width + shift;
        const int64_t first = shift < 0 ? (-shift + s - 1) / s : 0;
        const int64_t last = p.width > shift ? clipped((p.width - shift - 1) / s + 1, 0, n) : 0;
        if (s == 1)
          better<T, I, 1>(image + begin, s, first, last, static_cast<I>(begin), best, at);
        else if (s == 2)
          better<T, I, 2>(image + begin, s, first, last, static_cast<I>(begin), best, at);
        else
          better<T, I, 0>(image + begin, s, first, last, static_cast<I>(begin), best, at);
      }
    }
    for (int64_t j = 0; j < n; j++) p.indices[i * n + j] = at[j];
  }
}

template <class T>
void largest(const PoolPlane& p) {
  if (p.indices) {
    if (sizeof(T) == 8 || p.height * p.width > std::numeric_limits<int32_t>::max())
      return largest_with_indices<T, int64_t>(p);
    return largest_with_indices<T, int32_t>(p);
  }
  pool<Largest, T>(p, lowest<T>, [](int64_t, T*) {});
}

template <class T>
void mean(const PoolPlane& p) {
  T* counts = static_cast<T*>(p.space) + pool_row(p);  // per column
  const int64_t pad[2] = {p.count_padding ? p.padding[0] : 0, p.count_padding ? p.padding[1] : 0};
  auto count = [&](int d, int64_t place, int64_t size) {
    const int64_t begin = place * p.stride[d] - p.padding[d];
    const int64_t end = begin + p.kernel[d] < size + pad[d] ? begin + p.kernel[d] : size + pad[d];
    return end - (begin > -pad[d] ? begin : -pad[d]);
  };
  for (int64_t j = 0; j < p.places[1]; j++) counts[j] = static_cast<T>(p.divisor ? p.divisor : count(1, j, p.width));
  pool<Sum, T>(p, T(0), [&](int64_t i, T* __restrict out) {
    const T rows = static_cast<T>(p.divisor ? 1 : count(0, i, p.height));
    for (int64_t j = 0; j < p.places[1]; j++) out[j] = out[j] / (rows * counts[j]);
  });
}

// A sum in a fixed order: 32 side by side, then those in halves.
template <class T>
INLINE T sum(const T* x, int64_t n) {
  constexpr int side = 32;
  T lanes[side] = {};
  int64_t k = 0;
  for (; k + side <= n; k += side)
#pragma GCC unroll 32
    for (int q = 0; q < side; q++) lanes[q] += x[k + q];
  const int64_t rest = n - k;
  for (int q = 0; q < side; q++)
    if (q < rest) lanes[q] += x[k + q];  // vectors under a mask
  for (int half = side / 2; half; half /= 2)
    for (int q = 0; q < half; q++) lanes[q] += lanes[q + half];
  return lanes[0];
}

// Place i of m takes [floor(i n / m), ceil((i + 1) n / m)): rows are added up, then columns.
template <class T>
void adaptive(const PoolPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T *out = static_cast<T*>(p.out), *row = static_cast<T*>(p.space);
  const int64_t height = p.height, width = p.width, m = p.places[0], n = p.places[1];
  if (m == 1 && n == 1) {
    *out = sum(in, height * width) / static_cast<T>(height * width);
    return;
  }
  for (int64_t i = 0; i < m; i++) {
    const int64_t top = i * height / m, bottom = ((i + 1) * height + m - 1) / m;
    for (int64_t j = 0; j < width; j++) row[j] = in[top * width + j];
    for (int64_t r = top + 1; r < bottom; r++)
      for (int64_t j = 0; j < width; j++) row[j] += in[r * width + j];
    for (int64_t j = 0; j < n; j++) {
      const int64_t left = j * width / n, right = ((j + 1) * width + n - 1) / n;
      *out++ = sum(row + left, right - left) / static_cast<T>((bottom - top) * (right - left));
    }
  }
}

constexpr Pools make() {
  Pools p{};
  p.largest[LATTIS_UINT8] = largest<uint8_t>;
  p.largest[LATTIS_UINT16] = largest<uint16_t>;
  p.largest[LATTIS_UINT32] = largest<uint32_t>;
  p.largest[LATTIS_UINT64] = largest<uint64_t>;
  p.largest[LATTIS_INT8] = largest<int8_t>;
  p.largest[LATTIS_INT16] = largest<int16_t>;
  p.largest[LATTIS_INT32] = largest<int32_t>;
  p.largest[LATTIS_INT64] = largest<int64_t>;
  p.largest[LATTIS_FLOAT32] = largest<float>;
  p.largest[LATTIS_FLOAT64] = largest<double>;
  p.mean[LATTIS_FLOAT32] = mean<float>;
  p.mean[LATTIS_FLOAT64] = mean<double>;
  p.adaptive[LATTIS_FLOAT32] = adaptive<float>;
  p.adaptive[LATTIS_FLOAT64] = adaptive<double>;
  return p;
}

constexpr Pools all = make();

}  // namespace

namespace LATTIS_ISA {
const Pools& pools() { return all; }
}  // namespace LATTIS_ISA
}  // namespace lattis::cpu
