// Resampling of planes: rows are weighted sums of rows, and elements are weighted sums of elements of a row. Note
// [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/resampling.h"

#include <cstdint>

#define INLINE inline __attribute__((always_inline))

namespace lamella::cpu {
namespace {

// Computes the weighted sum of Count lines, added to `to` if it was begun.
template <class T, int Count, bool Begun>
INLINE void mix_lines(const T* const* lines, const T* weight, int64_t n, T* __restrict to) {
  const T* line[Count];
  T w[Count];
  for (int k = 0; k < Count; k++) {
    line[k] = lines[k];
    w[k] = weight[k];
  }
  for (int64_t j = 0; j < n; j++) {
    T v = Begun ? to[j] + w[0] * line[0][j] : w[0] * line[0][j];
#pragma GCC unroll 4
    for (int k = 1; k < Count; k++) v += w[k] * line[k][j];
    to[j] = v;
  }
}

template <class T, bool Begun>
INLINE void mix_rest(const T* const* lines, const T* weight, int64_t count, int64_t n, T* to) {
  if (count == 1) mix_lines<T, 1, Begun>(lines, weight, n, to);
  if (count == 2) mix_lines<T, 2, Begun>(lines, weight, n, to);
  if (count == 3) mix_lines<T, 3, Begun>(lines, weight, n, to);
  if (count == 4) mix_lines<T, 4, Begun>(lines, weight, n, to);
}

// Computes the weighted sum of up to four lines, added to `to` if it was begun.
template <class T>
__attribute__((noinline)) void mix_four(const T* const* lines, const T* weight, int64_t count, int64_t n, bool begun,
                                        T* to) {
  begun ? mix_rest<T, true>(lines, weight, count, n, to) : mix_rest<T, false>(lines, weight, count, n, to);
}

template <class T>
void clear(T* to, int64_t n) {
  for (int64_t j = 0; j < n; j++) to[j] = 0;
}

// Does what mix_lines does with elements from any places of one row.
template <class T, int Count, bool Begun>
INLINE void mix_places(const T* from, const int32_t* index, const T* weight, int64_t n, T* __restrict to) {
  for (int64_t j = 0; j < n; j++) {
    T v = Begun ? to[j] + weight[j] * from[index[j]] : weight[j] * from[index[j]];
#pragma GCC unroll 4
    for (int k = 1; k < Count; k++) v += weight[k * n + j] * from[index[k * n + j]];
    to[j] = v;
  }
}

template <class T, bool Begun>
INLINE void places_rest(const T* from, const int32_t* index, const T* weight, int64_t count, int64_t n, T* to) {
  if (count == 1) mix_places<T, 1, Begun>(from, index, weight, n, to);
  if (count == 2) mix_places<T, 2, Begun>(from, index, weight, n, to);
  if (count == 3) mix_places<T, 3, Begun>(from, index, weight, n, to);
  if (count >= 4) mix_places<T, 4, Begun>(from, index, weight, n, to);
}

// Resamples one row along its columns.
template <class T>
__attribute__((noinline)) void across(const ResampleAxis& a, int64_t depth, const T* from, T* to) {
  const T* weight = static_cast<const T*>(a.weight);
  if (depth == 1 && a.first) {
    for (int64_t j = 0; j < a.out; j++) {
      T v = 0;
      for (int64_t k = a.first[j]; k < a.first[j] + a.count[j]; k++) v += weight[k] * from[a.index[k]];
      to[j] = v;
    }
    return;
  }
  if (depth == 1) {
    places_rest<T, false>(from, a.index, weight, a.taps, a.out, to);
    for (int64_t k = 4; k < a.taps; k += 4)
      places_rest<T, true>(from, a.index + k * a.out, weight + k * a.out, a.taps - k, a.out, to);
    return;
  }
  if (a.taps == 2 && !a.count) {
    for (int64_t j = 0; j < a.out; j++) {
      const T* const lines[] = {from + a.index[j] * depth, from + a.index[a.out + j] * depth};
      const T w[] = {weight[j], weight[a.out + j]};
      mix_lines<T, 2, false>(lines, w, depth, to + j * depth);
    }
    return;
  }
  for (int64_t j = 0; j < a.out; j++) {
    const int64_t count = a.count ? a.count[j] : a.taps;
    if (count == 0) clear(to + j * depth, depth);
    for (int64_t k = 0; k < count; k += 4) {
      const T* lines[4];
      T w[4];
      const int64_t some = count - k < 4 ? count - k : 4;
      for (int64_t i = 0; i < some; i++) {
        lines[i] = from + a.index[a.at(k + i, j)] * depth;
        w[i] = weight[a.at(k + i, j)];
      }
      mix_four(lines, w, some, depth, k > 0, to + j * depth);
    }
  }
}

// Computes one row of the output from the lines that `line(row)` returns.
template <class T, class Line>
INLINE void down(const ResampleAxis& a, int64_t y, int64_t n, T* to, const Line& line) {
  const int64_t count = a.count ? a.count[y] : a.taps;
  if (count == 0) clear(to, n);
  for (int64_t k = 0; k < count; k += 4) {
    const T* lines[4];
    T w[4];
    const int64_t some = count - k < 4 ? count - k : 4;
    for (int64_t i = 0; i < some; i++) {
      lines[i] = line(a.index[a.at(k + i, y)]);
      w[i] = static_cast<const T*>(a.weight)[a.at(k + i, y)];
    }
    mix_four(lines, w, some, n, k > 0, to);
  }
}

template <class T>
void mix(const ResamplePlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T *out = static_cast<T*>(p.out), *space = static_cast<T*>(p.space);
  const int64_t row = p.columns.in * p.depth, width = p.columns.out * p.depth;
  if (!p.rows.taps || !p.columns.taps || p.rows_first) {
    const auto line = [&](int64_t y) { return in + y * row; };
    if (p.columns.count) clear(space + row, p.depth);  // read by the taps that do not count
    for (int64_t y = p.begin; y < p.end; y++) {
      const T* from = in + y * row;
      if (p.rows.taps) {
        down(p.rows, y, row, p.columns.taps ? space : out + y * width, line);
        from = space;
      } else if (p.columns.count) {
        __builtin_memcpy(space, from, row * sizeof(T));
        from = space;
      }
      if (p.columns.taps) across(p.columns, p.depth, from, out + y * width);
    }
    return;
  }
  int64_t held[most_slots];  // the row in each slot
  for (int64_t k = 0; k < p.slots; k++) held[k] = -1;
  const auto line = [&](int64_t y) {
    T* slot = space + y % p.slots * width;
    if (held[y % p.slots] != y) across(p.columns, p.depth, in + y * row, slot);
    held[y % p.slots] = y;
    return slot;
  };
  for (int64_t y = p.begin; y < p.end; y++) down(p.rows, y, width, out + y * width, line);
}

template <class T>
void pick(const ResamplePlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  const int64_t row = p.columns.in * p.depth, width = p.columns.out * p.depth;
  for (int64_t y = p.begin; y < p.end; y++) {
    const int64_t at = p.rows.taps ? p.rows.index[y] : y;
    const T* __restrict from = in + at * row;
    T* __restrict to = out + y * width;
    if (y > p.begin && p.rows.taps && p.rows.index[y - 1] == at)
      __builtin_memcpy(to, to - width, width * sizeof(T));
    else if (!p.columns.taps)
      __builtin_memcpy(to, from, width * sizeof(T));
    else if (p.depth == 1)
      for (int64_t j = 0; j < width; j++) to[j] = from[p.columns.index[j]];
    else
      for (int64_t j = 0; j < p.columns.out; j++)
        __builtin_memcpy(to + j * p.depth, from + p.columns.index[j] * p.depth, p.depth * sizeof(T));
  }
}

struct Sixteen {
  uint64_t a, b;
};

constexpr Resampling make() {
  Resampling r{};
  r.mix[LAMELLA_FLOAT32] = mix<float>;
  r.mix[LAMELLA_FLOAT64] = mix<double>;
  r.pick[0] = pick<uint8_t>;
  r.pick[1] = pick<uint16_t>;
  r.pick[2] = pick<uint32_t>;
  r.pick[3] = pick<uint64_t>;
  r.pick[4] = pick<Sixteen>;
  return r;
}

constexpr Resampling all = make();

}  // namespace

namespace LAMELLA_ISA {
const Resampling& resampling() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
