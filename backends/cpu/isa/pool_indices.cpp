// Pools that return the index of each largest element, and their gradients. Note [Instruction sets] is in
// backends/cpu/isa.h.
#include "backends/cpu/isa/pool_windows.h"

namespace lamella::cpu {
namespace {

// Compares one tap of a row of windows with the largest elements so far. For elements of four or eight bytes an index
// is as wide as an element, if the plane is not too large, so that both are chosen by one mask.
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

// Computes values and indices: takes one tap of all windows of a row after another. The first of equal elements stays.
template <class T, class I>
int largest_with_indices(const PoolPlane& p) {
  PoolWatch watch(p.interrupted);
  const T* image = static_cast<const T*>(p.in);
  const int64_t n = p.places[1];
  I* at = static_cast<I*>(p.space);
  for (int64_t i = p.begin; i < p.end; i++) {
    T* best = static_cast<T*>(p.out) + i * n;
    const int64_t top = i * p.stride[0] - p.padding[0];
    for (int64_t j = 0; j < n; j++) {
      best[j] = lowest<T>;
      const int64_t row = first_inside(top, p.dilation[0]);
      const int64_t column = first_inside(j * p.stride[1] - p.padding[1], p.dilation[1]);
      at[j] = static_cast<I>(row < p.image[0] && column < p.image[1] ? row * p.image[1] + column
                                                                     : -1);  // -1: an empty window
    }
    for (int64_t k = 0; k < p.kernel[0]; k++) {
      const int64_t row = top + k * p.dilation[0];
      if (row < 0 || row >= p.image[0]) continue;
      for (int64_t q = 0; q < p.kernel[1]; q++) {
        const int64_t shift = q * p.dilation[1] - p.padding[1], s = p.stride[1], begin = row * p.image[1] + shift;
        const int64_t first = shift < 0 ? (-shift + s - 1) / s : 0;
        const int64_t last = p.image[1] > shift ? clipped((p.image[1] - shift - 1) / s + 1, 0, n) : 0;
        if (s == 1)
          better<T, I, 1>(image + begin, s, first, last, static_cast<I>(begin), best, at);
        else if (s == 2)
          better<T, I, 2>(image + begin, s, first, last, static_cast<I>(begin), best, at);
        else
          better<T, I, 0>(image + begin, s, first, last, static_cast<I>(begin), best, at);
        if (watch.stops(n)) return watch.status();
      }
    }
    for (int64_t j = 0; j < n; j++) p.indices[i * n + j] = at[j];
  }
  return 0;
}

// ---- windows of two by two side by side ----------------------------------------------------------------------------

// N windows: their elements, the places of these in a plane, and the shuffles that split two vectors into even and odd
// elements, or interleave them again.
template <class T, int N>
struct Squares {
  using I = Signed<sizeof(T)>;
  using V = typename VectorOf<T, N>::type;
  using Wide = typename VectorOf<int64_t, N>::type;
  typedef I Index __attribute__((vector_size(N * sizeof(I))));
  Index even, odd, low, high;

  INLINE Squares() {
#pragma GCC unroll 16
    for (int i = 0; i < N; i++) {
      even[i] = static_cast<I>(2 * i);
      odd[i] = static_cast<I>(2 * i + 1);
      low[i] = static_cast<I>(i % 2 * N + i / 2);
      high[i] = static_cast<I>(i % 2 * N + N / 2 + i / 2);
    }
  }

  static INLINE void better(V x, Index index, V* best, Index* at) {
    const Index takes = (x > *best) | ((x != x) & (*best == *best));
    *best = takes ? x : *best;
    *at = takes ? index : *at;
  }

  INLINE void largest(const T* top, int64_t width, int64_t first, T* out, int64_t* indices) const {
    const T* rows[2] = {top, top + width};
    V best = {};
    Index at = {};
#pragma GCC unroll 2
    for (int r = 0; r < 2; r++) {
      const V x = *reinterpret_cast<const V*>(rows[r]), y = *reinterpret_cast<const V*>(rows[r] + N);
      const Index left = static_cast<I>(first + r * width) + even;
      if (r)
        better(__builtin_shuffle(x, y, even), left, &best, &at);
      else
        best = __builtin_shuffle(x, y, even), at = left;
      better(__builtin_shuffle(x, y, odd), left + 1, &best, &at);
    }
    *reinterpret_cast<V*>(out) = best;
    *reinterpret_cast<Wide*>(indices) = __builtin_convertvector(at, Wide);
  }

  // Writes gradients to the places of their indices. Sets bits of `strays` for an index that is not in its window.
  INLINE void spread(const T* grad, const int64_t* indices, int64_t width, int64_t first, T* top, Wide* strays) const {
    const V g = *reinterpret_cast<const V*>(grad);
    const Wide wide = *reinterpret_cast<const Wide*>(indices);
    const Index at = __builtin_convertvector(wide, Index);
    Index found = {};
#pragma GCC unroll 2
    for (int r = 0; r < 2; r++) {
      const Index left = static_cast<I>(first + r * width) + even;
      const Index is_left = at == left, is_right = at == left + 1;
      found |= is_left | is_right;
      const V x = is_left ? g : V{}, y = is_right ? g : V{};
      T* row = top + r * width;
      *reinterpret_cast<V*>(row) = __builtin_shuffle(x, y, low);
      *reinterpret_cast<V*>(row + N) = __builtin_shuffle(x, y, high);
    }
    *strays |= ~__builtin_convertvector(found, Wide) | (wide >> 31);  // places are fewer than 2 ** 31
  }
};

// Calls body for all windows of rows [begin, end), N at a time, or fewer in narrow rows; the last windows of a row may
// be computed twice. Returns false if a row has only one window, without a call, or if body has set `strays`.
template <class T, int N, class Body>
INLINE bool in_vectors(int64_t begin, int64_t end, int64_t n, Body body) {
  if constexpr (N == 1) {
    return false;
  } else {
    if (n < N) return in_vectors<T, N / 2>(begin, end, n, body);
    const Squares<T, N> squares;
    typename Squares<T, N>::Wide strays = {};
    for (int64_t i = begin; i < end; i++)
      for (int64_t j = 0; j < n; j += N) body(squares, i, j + N <= n ? j : n - N, &strays);
    int64_t any = 0;
    for (int k = 0; k < N; k++) any |= strays[k];
    return any == 0;
  }
}

template <class T>
constexpr int most = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
INLINE bool square_windows(const PoolPlane& p) {
  if (sizeof(T) < 4 || !are_squares(p) || p.image[0] * p.image[1] > std::numeric_limits<int32_t>::max()) return false;
  const int64_t n = p.places[1];
  return in_vectors<T, most<T>>(p.begin, p.end, n, [&](const auto& squares, int64_t i, int64_t j, auto*) {
    const int64_t first = 2 * i * p.image[1] + 2 * j;
    squares.largest(static_cast<const T*>(p.in) + first, p.image[1], first, static_cast<T*>(p.out) + i * n + j,
                    p.indices + i * n + j);
  });
}

template <class T>
int largest(const PoolPlane& p) {
  if (square_windows<T>(p)) return 0;
  if (sizeof(T) == 8 || p.image[0] * p.image[1] > std::numeric_limits<int32_t>::max())
    return largest_with_indices<T, int64_t>(p);
  return largest_with_indices<T, int32_t>(p);
}

// ---- backward; an index outside of the plane is that of an empty window ----

template <class T>
INLINE bool square_gradients(const PoolPlane& p) {
  if (sizeof(T) < 4 || !are_squares(p) || p.image[0] * p.image[1] > std::numeric_limits<int32_t>::max()) return false;
  T* out = static_cast<T*>(p.out);
  const int64_t n = p.places[1];
  if (2 * p.places[0] != p.image[0] || 2 * n != p.image[1])
    for (int64_t k = 0; k < p.image[0] * p.image[1]; k++) out[k] = 0;
  return in_vectors<T, most<T>>(0, p.places[0], n, [&](const auto& squares, int64_t i, int64_t j, auto* strays) {
    const int64_t first = 2 * i * p.image[1] + 2 * j, from = i * n + j;
    squares.spread(static_cast<const T*>(p.in) + from, p.indices + from, p.image[1], first, out + first, strays);
  });
}

// Computes one plane: `in` are the gradients of the largest elements, `out` is the gradient of the whole image.
template <class T>
void backward(const PoolPlane& p) {
  if (square_gradients<T>(p)) return;
  const T* grad = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  const int64_t plane = p.image[0] * p.image[1], n = p.places[0] * p.places[1];
  for (int64_t k = 0; k < plane; k++) out[k] = 0;
  for (int64_t k = 0; k < n; k++)
    if (static_cast<uint64_t>(p.indices[k]) < static_cast<uint64_t>(plane))
      out[p.indices[k]] = static_cast<T>(out[p.indices[k]] + grad[k]);
}

constexpr PoolIndices make() {
  PoolIndices p{};
#define DTYPE(name, T)          \
  p.largest[name] = largest<T>; \
  p.backward[name] = backward<T>
  DTYPE(LAMELLA_UINT8, uint8_t);
  DTYPE(LAMELLA_UINT16, uint16_t);
  DTYPE(LAMELLA_UINT32, uint32_t);
  DTYPE(LAMELLA_UINT64, uint64_t);
  DTYPE(LAMELLA_INT8, int8_t);
  DTYPE(LAMELLA_INT16, int16_t);
  DTYPE(LAMELLA_INT32, int32_t);
  DTYPE(LAMELLA_INT64, int64_t);
  DTYPE(LAMELLA_FLOAT32, float);
  DTYPE(LAMELLA_FLOAT64, double);
#undef DTYPE
  return p;
}

constexpr PoolIndices all = make();

}  // namespace

namespace LAMELLA_ISA {
const PoolIndices& pool_indices() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
