// Picking, putting and adding by index tensors. Note [Instruction sets] is in backends/cpu/isa.h.
#include <lamella/half.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "backends/cpu/index_loops.h"
#include "backends/cpu/isa/truth.h"

namespace lamella::cpu {
namespace {

struct Wide {
  uint64_t low, high;
};

inline int64_t load(const char* p) { return *reinterpret_cast<const int64_t*>(p); }
inline int64_t wrapped(int64_t i, const Places& p) { return i + ((i >> 63) & p.wrap); }

constexpr int64_t tile = 512;

bool valid(int64_t n, const char* index, int64_t is, const Places& p) {
  const auto size = static_cast<uint64_t>(p.size);
  if (p.checked()) return true;
  if (is == 0 && n > 1) n = 1;
  for (int64_t b = 0; b < n; b += tile) {  // no early exit within a tile: it vectorizes
    const int64_t m = n - b < tile ? n - b : tile;
    uint64_t bad = 0;
    if (is == 8) {
      auto* i = reinterpret_cast<const int64_t*>(index) + b;
      for (int64_t k = 0; k < m; k++) bad |= static_cast<uint64_t>(wrapped(i[k], p)) >= size;
    } else {
      for (int64_t k = 0; k < m; k++) bad |= static_cast<uint64_t>(wrapped(load(index + (b + k) * is), p)) >= size;
    }
    if (bad) return false;
  }
  return true;
}

// Marks loops that run element by element: the gather and scatter instructions of some machines are slower.
#define LAMELLA_SCALAR [[gnu::noinline, gnu::optimize("no-tree-vectorize")]]

template <class T, int64_t Scale>
LAMELLA_SCALAR void pick_row(int64_t n, T* out, const char* from, const int64_t* i) {
  auto at = [=](int64_t k) { return *reinterpret_cast<const T*>(from + i[k] * Scale); };
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    const T a = at(k), b = at(k + 1), c = at(k + 2), d = at(k + 3);
    out[k] = a, out[k + 1] = b, out[k + 2] = c, out[k + 3] = d;
  }
  for (; k < n; k++) out[k] = at(k);
}

template <class T>
LAMELLA_SCALAR void put_row(int64_t n, T* to, const T* from, const int64_t* i) {
  for (int64_t k = 0; k < n; k++) to[i[k]] = from[k];
}

template <class T>
bool pick(const Strip& s, const Places& p) {
  if (s.is == 0) {
    if (!valid(1, s.index, 0, p)) return false;
    const char* from = s.self + wrapped(load(s.index), p) * p.scale;
    if (s.ss == sizeof(T) && s.os == sizeof(T)) {
      std::memcpy(s.other, from, s.n * sizeof(T));
    } else {
      for (int64_t k = 0; k < s.n; k++)
        *reinterpret_cast<T*>(s.other + k * s.os) = *reinterpret_cast<const T*>(from + k * s.ss);
    }
    return true;
  }
  const auto size = static_cast<uint64_t>(p.size);
  if (s.n < 64) {
    for (int64_t k = 0; k < s.n; k++) {
      const int64_t i = wrapped(load(s.index + k * s.is), p);
      if (static_cast<uint64_t>(i) >= size) return false;
      *reinterpret_cast<T*>(s.other + k * s.os) = *reinterpret_cast<const T*>(s.self + k * s.ss + i * p.scale);
    }
    return true;
  }
  for (int64_t b = 0; b < s.n; b += tile) {
    const int64_t m = s.n - b < tile ? s.n - b : tile;
    const char* index = s.index + b * s.is;
    if (!valid(m, index, s.is, p)) return false;
    const bool plain = s.is == 8 && s.os == sizeof(T) && s.ss == 0 && p.wrap == 0;  // picks from one row
    if (plain && (p.scale == sizeof(T) || p.scale == 1)) {
      (p.scale == 1 ? pick_row<T, 1> : pick_row<T, sizeof(T)>)(m, reinterpret_cast<T*>(s.other) + b, s.self,
                                                               reinterpret_cast<const int64_t*>(index));
    } else if (s.is == 8 && s.os == sizeof(T) && s.ss == 0) {
      auto* i = reinterpret_cast<const int64_t*>(index);
      auto* out = reinterpret_cast<T*>(s.other) + b;
      for (int64_t k = 0; k < m; k++) out[k] = *reinterpret_cast<const T*>(s.self + wrapped(i[k], p) * p.scale);
    } else {
      for (int64_t k = 0; k < m; k++)
        *reinterpret_cast<T*>(s.other + (b + k) * s.os) =
            *reinterpret_cast<const T*>(s.self + (b + k) * s.ss + wrapped(load(index + k * s.is), p) * p.scale);
    }
  }
  return true;
}

template <class T>
void put(const Strip& s, const Places& p) {
  if (s.is == 0 && s.ss == sizeof(T) && s.os == sizeof(T)) {
    std::memcpy(s.self + wrapped(load(s.index), p) * p.scale, s.other, s.n * sizeof(T));
    return;
  }
  if (s.is == 8 && s.os == sizeof(T) && s.ss == 0 && p.wrap == 0 && p.scale == sizeof(T)) {
    put_row(s.n, reinterpret_cast<T*>(s.self), reinterpret_cast<const T*>(s.other),
            reinterpret_cast<const int64_t*>(s.index));
    return;
  }
  for (int64_t k = 0; k < s.n; k++)
    *reinterpret_cast<T*>(s.self + k * s.ss + wrapped(load(s.index + k * s.is), p) * p.scale) =
        *reinterpret_cast<const T*>(s.other + k * s.os);
}

bool rows(int64_t n, char* out, int64_t bytes, const char* self, const char* index, int64_t is, const Places& p) {
  const auto size = static_cast<uint64_t>(p.size);
  const bool blocks = bytes % 64 == 0 && bytes <= 1024;
  for (int64_t k = 0; k < n; k++, out += bytes) {
    const int64_t i = wrapped(load(index + k * is), p);
    if (static_cast<uint64_t>(i) >= size) return false;
    const char* from = self + i * p.scale;
    if (blocks) {
      for (int64_t b = 0; b < bytes; b += 64) std::memcpy(out + b, from + b, 64);
    } else {
      std::memcpy(out, from, bytes);
    }
  }
  return true;
}

template <class T>
void reverse(int64_t n, char* out, const char* from) {
  auto* to = reinterpret_cast<T*>(out);
  auto* x = reinterpret_cast<const T*>(from) - (n - 1);
  for (int64_t i = 0; i < n; i++) to[i] = x[n - 1 - i];
}

// ---- reductions of two elements ------------------------------------------------------------------------------------

template <class T>
struct Pair {
  T re, im;
};

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
  template <class T>
  static Pair<T> of(Pair<T> a, Pair<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct Product {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a * b);
  }
  static uint16_t of(uint16_t a, uint16_t b) { return static_cast<uint16_t>(uint32_t{a} * b); }
  template <class T>
  static Pair<T> of(Pair<T> a, Pair<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct Largest {  // a NaN if either is one
  template <class T>
  static T of(T a, T b) {
    const T most = a > b ? a : b;  // one instruction; a NaN in a is rare
    return a != a ? a : most;
  }
};
struct Smallest {
  template <class T>
  static T of(T a, T b) {
    const T least = a < b ? a : b;
    return a != a ? a : least;
  }
};

// Joins two elements; 16-bit floats are computed in float, bools as 0 and 1.
template <class Two, class T>
T two(T a, T b) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return T(Two::of(static_cast<float>(a), static_cast<float>(b)));
  else if constexpr (std::is_same_v<T, Truth>)
    return {Two::of(uint8_t{a}, uint8_t{b}) != 0};
  else
    return Two::of(a, b);
}

template <class Two, class T>
void fold(const Strip& s, const Places& p) {
  if (s.is == 0 && s.ss == sizeof(T) && s.os == sizeof(T)) {  // whole rows
    auto* to = reinterpret_cast<T*>(s.self + wrapped(load(s.index), p) * p.scale);
    auto* from = reinterpret_cast<const T*>(s.other);  // never in self's memory
#pragma omp simd
    for (int64_t k = 0; k < s.n; k++) to[k] = two<Two, T>(to[k], from[k]);
    return;
  }
  if (s.is == 8 && s.os == sizeof(T) && s.ss == 0 && p.wrap == 0 && p.scale == sizeof(T)) {
    auto* i = reinterpret_cast<const int64_t*>(s.index);
    auto* to = reinterpret_cast<T*>(s.self);
    auto* from = reinterpret_cast<const T*>(s.other);
    for (int64_t k = 0; k < s.n; k++) to[i[k]] = two<Two, T>(to[i[k]], from[k]);
    return;
  }
  for (int64_t k = 0; k < s.n; k++) {
    auto* to = reinterpret_cast<T*>(s.self + k * s.ss + wrapped(load(s.index + k * s.is), p) * p.scale);
    *to = two<Two, T>(*to, *reinterpret_cast<const T*>(s.other + k * s.os));
  }
}

bool offsets(int64_t n, int64_t* out, const char* index, int64_t is, const Places& p, bool accumulate) {
  if (!valid(n, index, is, p)) return false;
  if (is == 8 && accumulate) {
    auto* i = reinterpret_cast<const int64_t*>(index);
    for (int64_t k = 0; k < n; k++) out[k] += wrapped(i[k], p) * p.scale;
  } else if (is == 8) {
    auto* i = reinterpret_cast<const int64_t*>(index);
    for (int64_t k = 0; k < n; k++) out[k] = wrapped(i[k], p) * p.scale;
  } else {
    for (int64_t k = 0; k < n; k++) out[k] = (accumulate ? out[k] : 0) + wrapped(load(index + k * is), p) * p.scale;
  }
  return true;
}

int64_t count(int64_t n, const uint8_t* mask) {
  int64_t total = 0;
  for (int64_t b = 0; b < n; b += 128) {
    const int64_t m = n - b < 128 ? n - b : 128;
    uint8_t some = 0;  // at most 128: no overflow
    for (int64_t k = 0; k < m; k++) some = static_cast<uint8_t>(some + (mask[b + k] != 0));
    total += some;
  }
  return total;
}

int64_t positions(int64_t n, const uint8_t* mask, int64_t first, int64_t* out) {
  int64_t at = 0, i = 0;
  for (; i + 64 <= n; i += 64) {
    uint64_t bits = 0;
    uint8_t some[64];
    for (int k = 0; k < 64; k++) some[k] = mask[i + k] != 0;
    for (int k = 0; k < 8; k++) {  // eight bytes of 0 or 1 become eight bits
      uint64_t eight;
      std::memcpy(&eight, some + k * 8, 8);
      bits |= (eight * 0x0102040810204080u >> 56) << (k * 8);
    }
    for (; bits; bits &= bits - 1) out[at++] = first + i + __builtin_ctzll(bits);
  }
  for (; i < n; i++)
    if (mask[i]) out[at++] = first + i;
  return at;
}

template <class Two, class... T>
void fill(FoldLoop* to) {
  FoldLoop loops[] = {fold<Two, T>...};
  std::copy(std::begin(loops), std::end(loops), to);
}

template <class Two>
void fill_real(FoldLoop* to) {
  fill<Two, Truth, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float,
       double>(to);
}

}  // namespace

namespace LAMELLA_ISA {

const IndexLoops& index_loops() {
  static const IndexLoops l = [] {
    IndexLoops l = {valid,
                    {pick<uint8_t>, pick<uint16_t>, pick<uint32_t>, pick<uint64_t>, pick<Wide>},
                    rows,
                    {put<uint8_t>, put<uint16_t>, put<uint32_t>, put<uint64_t>, put<Wide>},
                    {},
                    offsets,
                    {reverse<uint8_t>, reverse<uint16_t>, reverse<uint32_t>, reverse<uint64_t>, reverse<Wide>},
                    count,
                    positions};
    fill_real<Sum>(l.fold[INDEX_SUM]);
    fill_real<Product>(l.fold[INDEX_PROD]);
    fill_real<Largest>(l.fold[INDEX_AMAX]);
    fill_real<Smallest>(l.fold[INDEX_AMIN]);
    fill<Sum, Pair<float>, Pair<double>>(l.fold[INDEX_SUM] + LAMELLA_COMPLEX64);
    fill<Product, Pair<float>, Pair<double>>(l.fold[INDEX_PROD] + LAMELLA_COMPLEX64);
    return l;
  }();
  return l;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
