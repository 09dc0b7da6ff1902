// Passes of Fourier transforms over vectors of lines. Note [Instruction sets]: isa.h.
#include "backends/cpu/fourier.h"

#include "backends/cpu/isa/fourier_lines.h"

namespace lamella::cpu {
namespace {

using namespace fourier;

template <class T>
struct Waves : WaveLines<T> {
  using Lines = WaveLines<T>;
  using Lines::get;
  using Lines::L;
  using Lines::put;
  using Lines::read;
  using Lines::store;
  using Lines::write;
  using typename Lines::C;
  using typename Lines::Each;
  using typename Lines::Root;
  using typename Lines::V;

  // ---- small transforms ----

  static LAMELLA_INLINE C add(const C& a, const C& b) { return {a.r + b.r, a.i + b.i}; }
  static LAMELLA_INLINE C sub(const C& a, const C& b) { return {a.r - b.r, a.i - b.i}; }
  static LAMELLA_INLINE C turned(const C& a) { return {a.i, -a.r}; }  // a times -i
  static LAMELLA_INLINE C times(const C& a, T r, T i) { return {a.r * r - a.i * i, a.r * i + a.i * r}; }
  static LAMELLA_INLINE C times(const C& a, const C& b) { return {a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r}; }

  // small<R>() transforms x[0 … R) in place.
  static LAMELLA_INLINE void small4(C& a, C& b, C& c, C& d) {
    const C p = add(a, c), q = sub(a, c), r = add(b, d), s = turned(sub(b, d));
    a = add(p, r);
    b = add(q, s);
    c = sub(p, r);
    d = sub(q, s);
  }
  template <int R>
  static LAMELLA_INLINE void small(C* x, const Root* roots) {
    if constexpr (R == 2) {
      const C a = x[0];
      x[0] = add(a, x[1]);
      x[1] = sub(a, x[1]);
    } else if constexpr (R == 4) {
      small4(x[0], x[1], x[2], x[3]);
    } else if constexpr (R == 8) {
      constexpr T half = static_cast<T>(0.70710678118654752440);
      C a[4] = {x[0], x[2], x[4], x[6]}, b[4] = {x[1], x[3], x[5], x[7]};
      small4(a[0], a[1], a[2], a[3]);
      small4(b[0], b[1], b[2], b[3]);
      b[1] = {(b[1].r + b[1].i) * half, (b[1].i - b[1].r) * half};
      b[2] = turned(b[2]);
      b[3] = {(b[3].i - b[3].r) * half, (b[3].r + b[3].i) * -half};
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) {
        x[k] = add(a[k], b[k]);
        x[k + 4] = sub(a[k], b[k]);
      }
    } else {  // odd: sums and differences of the elements k and R - k
      constexpr int H = R / 2;
      C plus[H], minus[H], y[R];
      C whole = x[0];
#pragma GCC unroll 8
      for (int k = 0; k < H; k++) {
        plus[k] = add(x[k + 1], x[R - 1 - k]);
        minus[k] = sub(x[k + 1], x[R - 1 - k]);
        whole = add(whole, plus[k]);
      }
      y[0] = whole;
#pragma GCC unroll 8
      for (int j = 1; j <= H; j++) {
        C even = x[0], odd = {V{}, V{}};
#pragma GCC unroll 8
        for (int k = 0; k < H; k++) {
          const Root w = roots[j * (k + 1) % R];
          even.r += plus[k].r * w.r;
          even.i += plus[k].i * w.r;
          odd.r -= minus[k].i * w.i;
          odd.i += minus[k].r * w.i;
        }
        y[j] = add(even, odd);
        y[R - j] = sub(even, odd);
      }
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) x[k] = y[k];
    }
  }

  // One pass: m transforms of R elements that lie m * s apart, each for s neighbours; the results are turned by the
  // factors and written so that the next pass finds its elements.
  template <int R>
  static void pass(int64_t m, int64_t s, const C* __restrict x, C* __restrict y, const Root* __restrict factors,
                   const Root* __restrict roots) {
    for (int64_t q = 0; q < s; q++) {
      C z[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) z[k] = x[q + s * m * k];
      small<R>(z, roots);
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) y[q + s * k] = z[k];
    }
    for (int64_t p = 1; p < m; p++) {
      const Root* const w = factors + p * (R - 1) - 1;
      const C* from = x + s * p;
      C* to = y + s * R * p;
      for (int64_t q = 0; q < s; q++) {
        C z[R];
#pragma GCC unroll 16
        for (int k = 0; k < R; k++) z[k] = from[q + s * m * k];
        small<R>(z, roots);
        to[q] = z[0];
#pragma GCC unroll 16
        for (int k = 1; k < R; k++) to[q + s * k] = times(z[k], w[k].r, w[k].i);
      }
    }
  }

  // The same for any odd radix, by sums of products.
  static void pass_any(int64_t radix, int64_t m, int64_t s, const C* x, C* y, const Root* factors, const Root* roots) {
    const int64_t half = radix / 2;
    C plus[most_prime / 2 + 1], minus[most_prime / 2 + 1];
    for (int64_t p = 0; p < m; p++)
      for (int64_t q = 0; q < s; q++) {
        const C* from = x + q + s * p;
        C* to = y + q + s * radix * p;
        C whole = from[0];
        for (int64_t k = 1; k <= half; k++) {
          const C a = from[s * m * k], b = from[s * m * (radix - k)];
          plus[k] = add(a, b);
          minus[k] = sub(a, b);
          whole = add(whole, plus[k]);
        }
        to[0] = whole;
        for (int64_t j = 1; j <= half; j++) {
          C even = from[0], odd = {V{}, V{}};
          int64_t turn = 0;
          for (int64_t k = 1; k <= half; k++) {
            turn += j;
            if (turn >= radix) turn -= radix;
            const Root w = roots[turn];
            even.r += plus[k].r * w.r;
            even.i += plus[k].i * w.r;
            odd.r -= minus[k].i * w.i;
            odd.i += minus[k].r * w.i;
          }
          const Root *v = factors + p * (radix - 1) + j - 1, *u = factors + p * (radix - 1) + radix - j - 1;
          to[s * j] = times(add(even, odd), v->r, v->i);
          to[s * (radix - j)] = times(sub(even, odd), u->r, u->i);
        }
      }
  }

  // Runs the passes between two buffers, and returns the one that holds the result.
  static C* run_passes(const Passes& passes, C* x, C* y) {
    int64_t rest = passes.n, s = 1;
    for (int i = 0; i < passes.count; i++) {
      const int64_t radix = passes.radix[i], m = rest / radix;
      const auto *f = static_cast<const Root*>(passes.factors[i]), *w = static_cast<const Root*>(passes.roots[i]);
      switch (radix) {
        case 2:
          pass<2>(m, s, x, y, f, w);
          break;
        case 3:
          pass<3>(m, s, x, y, f, w);
          break;
        case 4:
          pass<4>(m, s, x, y, f, w);
          break;
        case 5:
          pass<5>(m, s, x, y, f, w);
          break;
        case 7:
          pass<7>(m, s, x, y, f, w);
          break;
        case 8:
          pass<8>(m, s, x, y, f, w);
          break;
        default:
          pass_any(radix, m, s, x, y, f, w);
      }
      C* const was = x;
      x = y;
      y = was;
      rest = m;
      s *= radix;
    }
    return x;
  }

  // Bluestein's transform is a convolution with a chirp, as two transforms of a longer length.
  static C* run(const Passes& passes, C* x, C* y) {
    if (!passes.longer) return run_passes(passes, x, y);
    const int64_t n = passes.n, m = passes.longer->n;
    const auto *chirp = static_cast<const Root*>(passes.chirp), *filter = static_cast<const Root*>(passes.filter);
    for (int64_t k = 0; k < n; k++) x[k] = times(x[k], chirp[k].r, chirp[k].i);
    for (int64_t k = n; k < m; k++) x[k] = {V{}, V{}};
    C* a = run_passes(*passes.longer, x, y);
    for (int64_t k = 0; k < m; k++) {
      const C z = times(a[k], filter[k].r, filter[k].i);
      a[k] = {z.i, z.r};  // exchanged parts make the second transform an inverse one
    }
    C* b = run_passes(*passes.longer, a, a == x ? y : x);
    for (int64_t k = 0; k < n; k++) b[k] = times(C{b[k].i, b[k].r}, chirp[k].r, chirp[k].i);
    return b;
  }

  static int64_t room(const Passes& passes) { return (passes.longer ? passes.longer->n : passes.n) + 1; }
  static int64_t bytes(const Passes& passes) { return 2 * room(passes) * static_cast<int64_t>(sizeof(C)); }

  // ---- transforms of real lines, from complex ones of half the length ----

  // The elements k and n - k are computed together, as a pair. E is a vector or a number.
  template <class E>
  struct Pair {
    E r, i;
  };
  template <class E>
  static LAMELLA_INLINE void pack_pair(Pair<E>& a, Pair<E>& b, const E& wr, const E& wi) {
    constexpr T half = static_cast<T>(0.5);
    const E even_r = (a.r + b.r) * half, even_i = (a.i - b.i) * half;
    const E odd_r = (a.i + b.i) * half, odd_i = (b.r - a.r) * half;
    const E turned_r = odd_r * wr - odd_i * wi, turned_i = odd_r * wi + odd_i * wr;
    a = {even_r + turned_r, even_i + turned_i};
    b = {even_r - turned_r, turned_i - even_i};
  }
  template <class E>
  static LAMELLA_INLINE void unpack_pair(Pair<E>& a, Pair<E>& b, const E& wr, const E& wi) {
    const E even_r = a.r + b.r, even_i = a.i - b.i, turned_r = a.r - b.r, turned_i = a.i + b.i;
    const E odd_r = turned_r * wr + turned_i * wi, odd_i = turned_i * wr - turned_r * wi;
    a = {even_r - odd_i, even_i + odd_r};
    b = {even_r + odd_i, odd_r - even_i};
  }
  static void pack_lanes(int64_t n, C* z, const Root* w) {
    const C first = z[0];
    z[0] = {first.r + first.i, V{}};
    z[n] = {first.r - first.i, V{}};
    for (int64_t k = 1; 2 * k <= n; k++) {
      Pair<V> a{z[k].r, z[k].i}, b{z[n - k].r, z[n - k].i};
      pack_pair(a, b, V{} + w[k].r, V{} + w[k].i);
      z[n - k] = {b.r, b.i};
      z[k] = {a.r, a.i};
    }
  }
  static void unpack_lanes(int64_t n, C* z, const Root* w) {
    const V a = z[0].r, b = z[n].r;
    z[0] = {a + b, a - b};
    for (int64_t k = 1; 2 * k <= n; k++) {
      Pair<V> x{z[k].r, z[k].i}, y{z[n - k].r, z[n - k].i};
      unpack_pair(x, y, V{} + w[k].r, V{} + w[k].i);
      z[n - k] = {y.r, y.i};
      z[k] = {x.r, x.i};
    }
  }

  // The neighbours of one line as a vector.
  static LAMELLA_INLINE Pair<V> neighbours(const char* at) {
    V a, b;
    load(a, at);
    load(b, at + sizeof(V));
    return {Lines::template every_second<0>(a, b, Each()), Lines::template every_second<1>(a, b, Each())};
  }
  static LAMELLA_INLINE void put_neighbours(char* at, const Pair<V>& x) {
    store(at, Lines::template alternate<false>(x.r, x.i, Each()));
    store(at + sizeof(V), Lines::template alternate<true>(x.r, x.i, Each()));
  }
  static LAMELLA_INLINE Pair<V> reversed(const Pair<V>& x) {
    return {Lines::backwards(x.r, Each()), Lines::backwards(x.i, Each())};
  }
  static Pair<T> one(const Side& s, int64_t k) {
    return {get(s.at[0] + k * s.step), get(s.at[0] + k * s.step + s.imag)};
  }
  static void put_one(const Side& s, int64_t k, const Pair<T>& x) {
    put(s.at[0] + k * s.step, x.r);
    put(s.at[0] + k * s.step + s.imag, x.i);
  }

  template <bool Pack>
  static void pairs(int64_t n, const Side& in, const Side& out, const void* half_roots) {
    constexpr int64_t item = sizeof(T);
    const auto* w = static_cast<const Root*>(half_roots);
    const Pair<T> first = one(in, 0);
    if (Pack) {
      put_one(out, 0, {first.r + first.i, T(0)});
      put_one(out, n, {first.r - first.i, T(0)});
    } else {
      const T last = get(in.at[0] + n * in.step);
      put_one(out, 0, {first.r + last, first.r - last});
    }
    int64_t k = 1;
    if (in.step == 2 * item && in.imag == item && out.step == 2 * item && out.imag == item)
      for (; k + 2 * L - 2 < n - k; k += L) {
        const int64_t low = k * 2 * item, high = (n - k - L + 1) * 2 * item;
        Pair<V> a = neighbours(in.at[0] + low), b = reversed(neighbours(in.at[0] + high));
        const Pair<V> v = neighbours(reinterpret_cast<const char*>(w + k));
        if (Pack)
          pack_pair(a, b, v.r, v.i);
        else
          unpack_pair(a, b, v.r, v.i);
        put_neighbours(out.at[0] + low, a);
        put_neighbours(out.at[0] + high, reversed(b));
      }
    for (; 2 * k <= n; k++) {
      Pair<T> a = one(in, k), b = one(in, n - k);
      if (Pack)
        pack_pair(a, b, w[k].r, w[k].i);
      else
        unpack_pair(a, b, w[k].r, w[k].i);
      put_one(out, n - k, b);
      put_one(out, k, a);
    }
  }
  static void pack(int64_t n, const Side& line, const void* half_roots) { pairs<true>(n, line, line, half_roots); }
  static void unpack(int64_t n, const Side& in, const Side& out, const void* half_roots) {
    pairs<false>(n, in, out, half_roots);
  }

  static void block(const Block& b, void* memory) {
    const Passes& passes = *b.passes;
    const int64_t n = passes.n;
    auto *x = static_cast<C*>(memory), *y = x + room(passes);
    const auto* w = static_cast<const Root*>(b.half_roots);
    read(b.in, b.lanes, b.kind == Kind::unpack ? n + 1 : b.kind == Kind::mirror ? n / 2 + 1 : n, x);
    if (b.kind == Kind::unpack) {
      unpack_lanes(n, x, w);
      for (int64_t k = 0; k < n; k++) x[k] = {x[k].i, x[k].r};
    }
    if (b.kind == Kind::mirror) {  // a real result is the transform of the conjugates
      x[0].i = V{};
      for (int64_t k = 1; k <= n / 2; k++) {
        x[n - k] = x[k];
        x[k].i = -x[k].i;
      }
    }
    C* z = run(passes, x, y);
    if (b.kind == Kind::unpack)
      for (int64_t k = 0; k < n; k++) z[k] = {z[k].i, z[k].r};
    if (b.kind == Kind::pack) pack_lanes(n, z, w);
    const int64_t results = b.kind == Kind::pack ? n + 1 : b.kind == Kind::halve ? n / 2 + 1 : n;
    if (b.twiddles) {
      const auto* t = static_cast<const char*>(b.twiddles);
      for (int64_t k = 0; k < n; k++, t += sizeof(C)) {
        C w;
        load(w.r, t);
        load(w.i, t + sizeof(V));
        z[k] = times(z[k], w);
      }
    }
    if (b.scale != 1) {
      const T scale = static_cast<T>(b.scale);
      for (int64_t k = 0; k < results; k++) z[k] = {z[k].r * scale, z[k].i * scale};
    }
    write(b.out, b.lanes, results, z);
  }
};

constexpr Transforms narrow_transforms = {Waves<float>::L,     Waves<float>::order, Waves<float>::bytes,
                                          Waves<float>::block, Waves<float>::pack,  Waves<float>::unpack};
constexpr Transforms wide_transforms = {Waves<double>::L,     Waves<double>::order, Waves<double>::bytes,
                                        Waves<double>::block, Waves<double>::pack,  Waves<double>::unpack};

}  // namespace

namespace LAMELLA_ISA {

const Transforms* fourier_transforms(bool wide) { return wide ? &wide_transforms : &narrow_transforms; }

}  // namespace LAMELLA_ISA

}  // namespace lamella::cpu
