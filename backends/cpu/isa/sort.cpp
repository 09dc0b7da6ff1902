// Radix sort over keys. Note [Keys] is in backends/cpu/sort_loops.h, Note [Instruction sets] in backends/cpu/isa.h.
#include <lamella/half.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/isa/truth.h"
#include "backends/cpu/sort_loops.h"

namespace lamella::cpu {
namespace {

// ---- keys ----------------------------------------------------------------------------------------------------------

// Unsigned integers are their own keys.
template <class T>
struct Plain {
  static constexpr bool floating = false;
  using Bits = Unsigned<sizeof(T)>;
  static Bits key(Bits u) { return u; }
  static Bits back(Bits k) { return k; }
  static bool hides(Bits) { return false; }
};
struct Truths : Plain<uint8_t> {
  static Bits key(Bits u) { return Truth{u}; }
};
template <class T>
struct Signed : Plain<T> {
  using Bits = typename Plain<T>::Bits;
  static constexpr Bits sign = Bits(Bits(1) << (sizeof(T) * 8 - 1));
  static Bits key(Bits u) { return static_cast<Bits>(u ^ sign); }
  static Bits back(Bits k) { return static_cast<Bits>(k ^ sign); }
};
template <class T, int Mantissa>
struct Floating {
  static constexpr bool floating = true;
  using Bits = Unsigned<sizeof(T)>;
  static constexpr Bits sign = Bits(Bits(1) << (sizeof(T) * 8 - 1));
  static constexpr Bits infinity = Bits(Bits(sign - 1) >> Mantissa << Mantissa);
  static Bits key(Bits u) {
    const bool nan = static_cast<Bits>(u & ~sign) > infinity;
    const Bits ordered = static_cast<Bits>((u & sign) ? (u == sign ? sign : ~u) : (u | sign));
    return nan ? static_cast<Bits>(~Bits(0)) : ordered;
  }
  static Bits back(Bits k) { return static_cast<Bits>((k & sign) ? (k ^ sign) : ~k); }
  static bool hides(Bits u) { return (u == sign) | (static_cast<Bits>(u & ~sign) > infinity); }
};

// ---- items ----

struct Narrow {
  using Count = uint32_t;
  uint64_t word;
  static Narrow of(uint64_t key, int64_t at) { return {key << 32 | static_cast<uint64_t>(at)}; }
  uint64_t key() const { return word >> 32; }
  int64_t at() const { return static_cast<int64_t>(word & 0xffffffffu); }
  bool before(Narrow o) const { return word < o.word; }  // positions differ
};
struct Wide {
  using Count = uint64_t;
  uint64_t word;
  int64_t position;
  static Wide of(uint64_t key, int64_t at) { return {key, at}; }
  uint64_t key() const { return word; }
  int64_t at() const { return position; }
  bool before(Wide o) const { return word < o.word || (word == o.word && position < o.position); }
};

template <class I>
void insertion(int64_t n, I* x) {
  for (int64_t i = 1; i < n; i++) {
    const I item = x[i];
    int64_t j = i;
    for (; j > 0 && item.before(x[j - 1]); j--) x[j] = x[j - 1];
    x[j] = item;
  }
}

// Sorts items that are nearly in order, by insertion. Returns false if that takes too many moves; the items are then a
// permutation of the given ones.
template <class I>
bool settle(int64_t n, I* x) {
  int64_t moves = 0;
  for (int64_t i = 1; i < n && moves <= 4 * n; i++) {
    const I item = x[i];
    int64_t j = i;
    for (; j > 0 && item.before(x[j - 1]); j--) x[j] = x[j - 1];
    x[j] = item;
    moves += i - j;
  }
  return moves <= 4 * n;
}

// Calls body(begin, end) for pieces of [0, n). Returns false if it was stopped between two pieces.
template <class Body>
bool in_pieces(int64_t n, const Halt& halt, Body body) {
  for (int64_t b = 0; b < n; b += sort_piece) {
    if (b && halt()) return false;
    body(b, n - b < sort_piece ? n : b + sort_piece);
  }
  return true;
}

template <class I>
bool merge_all(int64_t n, const I* a, int64_t na, const I* b, int64_t nb, I* out, const Halt& halt) {
  int64_t i = 0, j = 0;
  return in_pieces(n, halt, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) {
      const bool second = i == na || (j < nb && b[j].before(a[i]));
      out[k] = second ? b[j] : a[i];
      j += second;
      i += !second;
    }
  });
}

template <class I>
I* merge_sort(int64_t n, I* a, I* b) {
  constexpr int64_t run = 16;
  for (int64_t i = 0; i < n; i += run) insertion(n - i < run ? n - i : run, a + i);
  for (int64_t w = run; w < n; w *= 2) {
    for (int64_t i = 0; i < n; i += 2 * w) {
      const int64_t na = n - i < w ? n - i : w, nb = n - i - na < w ? n - i - na : w;
      merge_all(na + nb, a + i, na, a + i + na, nb, b + i, {});
    }
    I* t = a;
    a = b;
    b = t;
  }
  return a;
}

// Sorts by `digits` bits of the keys, from bit `low` on, in passes of `Width` bits, the lowest first. Passes in which
// all items have the same bits are left out. Returns the buffer with the result, a or b; null if `halt` stopped it.
template <class I, int Width>
I* radix(int64_t n, I* a, I* b, int low, int digits, const Halt& halt) {
  constexpr int buckets = 1 << Width, most = (64 + Width - 1) / Width;
  const int passes = (digits + Width - 1) / Width;
  typename I::Count counts[sizeof(I) == 8 ? (32 + Width - 1) / Width : most][buckets];
  std::memset(counts, 0, sizeof counts[0] * passes);
  const bool counted = in_pieces(n, halt, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      uint64_t key = a[i].key() >> low;
      for (int p = 0; p < passes; p++, key >>= Width) counts[p][key & (buckets - 1)]++;
    }
  });
  if (!counted) return nullptr;
  for (int p = 0; p < passes; p++) {
    auto* c = counts[p];
    const int shift = low + p * Width;
    if (c[a[0].key() >> shift & (buckets - 1)] == static_cast<typename I::Count>(n)) continue;
    typename I::Count at = 0;
    for (int k = 0; k < buckets; k++) {
      const auto here = c[k];
      c[k] = at;
      at += here;
    }
    const bool moved = in_pieces(n, halt, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) b[c[a[i].key() >> shift & (buckets - 1)]++] = a[i];
    });
    if (!moved) return nullptr;
    I* t = a;
    a = b;
    b = t;
  }
  return a;
}

template <class I>
void* sort(int64_t n, void* a, void* b, int digits, const Halt& halt) {
  auto *x = static_cast<I*>(a), *y = static_cast<I*>(b);
  if (n <= (digits > 32 ? 96 : 48)) return merge_sort(n, x, y);
  return n < 16384 || digits <= 16 || (digits > 22 && digits <= 24) ? radix<I, 8>(n, x, y, 0, digits, halt)
                                                                    : radix<I, 11>(n, x, y, 0, digits, halt);
}

// ---- buckets -------------------------------------------------------------------------------------------------------

template <class I>
void count(int64_t n, const void* items, int low, int64_t* counts) {
  auto* x = static_cast<const I*>(items);
  std::memset(counts, 0, sizeof(int64_t) * sort_buckets);
  for (int64_t i = 0; i < n; i++) counts[x[i].key() >> low]++;
}

template <class I>
void spread(int64_t n, const void* items, int low, int64_t* places, void* out) {
  auto* x = static_cast<const I*>(items);
  auto* to = static_cast<I*>(out);
  for (int64_t i = 0; i < n; i++) to[places[x[i].key() >> low]++] = x[i];
}

// Sorts a bucket, whose keys have the same bits from bit `low` on. If more than 32 bits are below it and the bucket has
// more than 96 items, sorts by the highest 16 of these bits, which distinguish most items, then by insertion or, if
// that takes too many moves, by merging. Returns the buffer with the result, a or b.
template <class I>
void* bucket(int64_t n, void* a, void* b, int low) {
  constexpr int few = 16;
  if (low <= 32 || n <= 96) return sort<I>(n, a, b, low, {});
  auto *x = static_cast<I*>(a), *y = static_cast<I*>(b);
  I* got = radix<I, 8>(n, x, y, low - few, few, {});
  return settle(n, got) ? got : merge_sort(n, got, got == x ? y : x);
}

template <class I>
bool merge(int64_t n, int64_t middle, const void* items, void* to, int64_t begin, int64_t end, const Halt& halt) {
  auto* x = static_cast<const I*>(items);
  auto* out = static_cast<I*>(to);
  if (begin == 0) return merge_all(end, x, middle, x + middle, n - middle, out, halt);
  int64_t i = middle - 1, j = n - 1;  // merges from the back
  return in_pieces(n - begin, halt, [&](int64_t first, int64_t last) {
    for (int64_t k = n - 1 - first; k > n - 1 - last; k--) {
      const bool second = i < 0 || (j >= middle && x[i].before(x[j]));
      out[k] = second ? x[j] : x[i];
      j -= second;
      i -= !second;
    }
  });
}

// ---- elements to items and back ----

template <class K, class I>
bool build(int64_t n, int64_t first, const char* in, int64_t stride, bool descending, uint64_t base, void* items) {
  using Bits = typename K::Bits;
  auto* out = static_cast<I*>(items);
  const Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  bool hidden = false;
  if (stride == sizeof(Bits)) {
    auto* x = reinterpret_cast<const Bits*>(in);
    for (int64_t i = 0; i < n; i++) {
      hidden |= K::hides(x[i]);
      out[i] = I::of(static_cast<Bits>(K::key(x[i]) ^ flip) - base, first + i);
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      const Bits u = *reinterpret_cast<const Bits*>(in + i * stride);
      hidden |= K::hides(u);
      out[i] = I::of(static_cast<Bits>(K::key(u) ^ flip) - base, first + i);
    }
  }
  return hidden;
}

template <class K>
void range(int64_t n, const char* in, int64_t stride, bool descending, uint64_t* least, uint64_t* most) {
  using Bits = typename K::Bits;
  const Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  Bits low = static_cast<Bits>(~Bits(0)), high = 0;
  auto see = [&](Bits u) {
    const Bits k = static_cast<Bits>(K::key(u) ^ flip);
    low = k < low ? k : low;
    high = k > high ? k : high;
  };
  if (stride == sizeof(Bits))
    for (int64_t i = 0; i < n; i++) see(reinterpret_cast<const Bits*>(in)[i]);
  else
    for (int64_t i = 0; i < n; i++) see(*reinterpret_cast<const Bits*>(in + i * stride));
  *least = low;
  *most = high;
}

template <class K, class I>
void finish(int64_t n, const void* items, bool descending, uint64_t base, const char* in, int64_t in_stride,
            char* values, int64_t value_stride, int64_t* indices, int64_t index_stride) {
  using Bits = typename K::Bits;
  auto* x = static_cast<const I*>(items);
  const Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  auto back = [&](I item) { return K::back(static_cast<Bits>(static_cast<Bits>(item.key() + base) ^ flip)); };
  if (in) {
    for (int64_t i = 0; i < n; i++)
      *reinterpret_cast<Bits*>(values + i * value_stride) = *reinterpret_cast<const Bits*>(in + x[i].at() * in_stride);
  } else if (value_stride == sizeof(Bits)) {
    auto* v = reinterpret_cast<Bits*>(values);
    for (int64_t i = 0; i < n; i++) v[i] = back(x[i]);
  } else {
    for (int64_t i = 0; i < n; i++) *reinterpret_cast<Bits*>(values + i * value_stride) = back(x[i]);
  }
  for (int64_t i = 0; i < n; i++) indices[i * index_stride] = x[i].at();
}

// Computes the first k items. Candidates are the items below the k-th of the items so far; when the room is full, they
// are sorted and cut to k.
template <class K, class I>
bool top(int64_t n, const char* in, int64_t stride, bool descending, int64_t k, int64_t room, void* items,
         void* other) {
  using Bits = typename K::Bits;
  constexpr int64_t tile = 64;
  auto *x = static_cast<I*>(items), *y = static_cast<I*>(other);
  const Bits flip = descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  const int digits = sizeof(Bits) * 8;
  int64_t have = 0;
  bool hidden = false, bounded = false;
  Bits bound = 0;
  const bool few = k <= 24;  // candidates are kept in order by insertion
  auto insert = [&](I item) {
    int64_t j = have < k ? have++ : k - 1;
    for (; j > 0 && item.before(x[j - 1]); j--) x[j] = x[j - 1];
    x[j] = item;
    bounded = have == k;
    bound = static_cast<Bits>(x[have - 1].key());
  };
  auto cut = [&] {
    auto* sorted = static_cast<I*>(sort<I>(have, x, y, digits, {}));
    if (sorted != x) {
      y = x;
      x = sorted;
    }
    have = have < k ? have : k;
    bounded = have == k;
    if (bounded) bound = static_cast<Bits>(x[k - 1].key());
  };
  for (int64_t b = 0; b < n; b += tile) {
    const int64_t m = n - b < tile ? n - b : tile;
    Bits keys[tile], u[tile];
    if (stride == sizeof(Bits) && m == tile) {
      std::memcpy(u, in + b * stride, sizeof u);
    } else {  // a short tile is filled up with its last element
      for (int64_t i = 0; i < tile; i++) u[i] = *reinterpret_cast<const Bits*>(in + (b + (i < m ? i : m - 1)) * stride);
    }
    for (int64_t i = 0; i < tile; i++) keys[i] = static_cast<Bits>(K::key(u[i]) ^ flip);
    if (bounded) {
      Bits some = 0;
      for (int64_t i = 0; i < tile; i++) some |= static_cast<Bits>(keys[i] < bound);
      if (!some) continue;
    }
    for (int64_t i = 0; i < m; i++) {
      if (bounded && keys[i] >= bound) continue;
      hidden |= K::hides(u[i]);
      if (few) {
        insert(I::of(keys[i], b + i));
      } else {
        x[have++] = I::of(keys[i], b + i);
        if (have == room) cut();
      }
    }
  }
  if (!few) cut();
  if (x != items) std::memcpy(items, x, sizeof(I) * have);
  return hidden;
}

// ---- selection, order of rows, and search --------------------------------------------------------------------------

template <class K>
typename K::Bits key_at(const char* p) {
  return K::key(*reinterpret_cast<const typename K::Bits*>(p));
}

// Moves the k-th of n items to its place. It compares whole items, so that one function serves all keys.
template <class I>
__attribute__((noinline)) void select(I* x, int64_t n, int64_t k) {
  std::nth_element(x, x + k, x + n, [](I a, I b) { return a.before(b); });
}

// Moves the k-th item to its place and returns k; with `nan`, returns the position of the last item if it is a NaN.
template <class K, class I>
int64_t kth(int64_t n, void* items, int64_t k, bool nan) {
  auto* x = static_cast<I*>(items);
  if (nan && K::floating) {
    const int64_t last = std::max_element(x, x + n, [](I a, I b) { return a.before(b); }) - x;
    if (x[last].key() == static_cast<typename K::Bits>(~typename K::Bits(0))) return last;
  }
  select(x, n, k);
  return k;
}

// Orders rows by comparing them element by element; equal rows keep their order.
template <class K>
void order_few(int64_t n, int64_t columns, const char* in, int64_t row, int64_t column, int64_t* order) {
  std::sort(order, order + n, [=](int64_t i, int64_t j) {
    for (int64_t k = 0; k < columns; k++) {
      const auto u = key_at<K>(in + i * row + k * column), v = key_at<K>(in + j * row + k * column);
      if (u != v) return u < v;
    }
    return i < j;
  });
}

template <class K>
void keys(int64_t n, const char* in, int64_t stride, void* out) {
  auto* to = static_cast<typename K::Bits*>(out);
  for (int64_t i = 0; i < n; i++) to[i] = key_at<K>(in + i * stride);
}

// Searches for several values in lockstep among the sorted keys, so that their cache misses overlap.
template <class K>
void search(int64_t count, const void* keys, int64_t n, const char* values, int64_t stride, bool right, int64_t* out) {
  using Bits = typename K::Bits;
  constexpr int64_t group = 16;
  auto* x = static_cast<const Bits*>(keys);
  for (int64_t b = 0; b < n; b += group) {
    const int64_t m = n - b < group ? n - b : group;
    Bits v[group];
    int64_t at[group] = {};
    for (int64_t i = 0; i < group; i++) v[i] = key_at<K>(values + (b + (i < m ? i : m - 1)) * stride);
    for (int64_t rest = count; rest > 0;) {
      const int64_t half = (rest + 1) / 2;
      if (right)
        for (int64_t i = 0; i < group; i++) at[i] += x[at[i] + half - 1] <= v[i] ? half : 0;
      else
        for (int64_t i = 0; i < group; i++) at[i] += x[at[i] + half - 1] < v[i] ? half : 0;
      rest -= half;
    }
    for (int64_t i = 0; i < m; i++) out[b + i] = at[i];
  }
}

template <class K, class I>
SortLoops loops_of() {
  constexpr int digits = sizeof(typename K::Bits) * 8;
  SortLoops l = {sizeof(I),    digits,   range<K>,  build<K, I>, sort<I>, merge<I>,
                 finish<K, I>, count<I>, spread<I>, bucket<I>,   nullptr};
  if constexpr (digits <= 32 || sizeof(I) > 8) l.top = top<K, I>;  // keys without a base fit into the items
  l.kth = kth<K, I>;
  l.order_few = order_few<K>;
  l.keys = keys<K>;
  l.search = search<K>;
  return l;
}

template <class K>
void fill(SortTable& t, int dtype) {
  t.narrow[dtype] = loops_of<K, Narrow>();
  t.wide[dtype] = loops_of<K, Wide>();
}

}  // namespace

namespace LAMELLA_ISA {

const SortTable& sort_loops() {
  static const SortTable table = [] {
    SortTable t{};
    fill<Truths>(t, LAMELLA_BOOL);
    fill<Plain<uint8_t>>(t, LAMELLA_UINT8);
    fill<Plain<uint16_t>>(t, LAMELLA_UINT16);
    fill<Plain<uint32_t>>(t, LAMELLA_UINT32);
    fill<Plain<uint64_t>>(t, LAMELLA_UINT64);
    fill<Signed<int8_t>>(t, LAMELLA_INT8);
    fill<Signed<int16_t>>(t, LAMELLA_INT16);
    fill<Signed<int32_t>>(t, LAMELLA_INT32);
    fill<Signed<int64_t>>(t, LAMELLA_INT64);
    fill<Floating<uint16_t, 10>>(t, LAMELLA_FLOAT16);
    fill<Floating<uint16_t, 7>>(t, LAMELLA_BFLOAT16);
    fill<Floating<float, 23>>(t, LAMELLA_FLOAT32);
    fill<Floating<double, 52>>(t, LAMELLA_FLOAT64);
    return t;
  }();
  return table;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
