// Folds: the numbers that a reduction keeps of the elements so far. `In` is the type of elements in memory.
#ifndef LAMELLA_CUDA_FOLDS
#define LAMELLA_CUDA_FOLDS
#include "scalars.cuh"

template <class A>
DEVICE bool is_nan(A x) {
  return x != x;
}
template <class F>
DEVICE bool is_nan(complex<F> x) {
  return x.re != x.re || x.im != x.im;
}
template <class A>
DEVICE A over(A x, double n) {
  return static_cast<A>(x / static_cast<A>(n));
}
template <class F>
DEVICE complex<F> over(complex<F> x, double n) {
  return {static_cast<F>(x.re / static_cast<F>(n)), static_cast<F>(x.im / static_cast<F>(n))};
}

// Returns a value that lanes exchange word by word: move(word) is one of the shuffles.
template <class T, class Move>
DEVICE T exchanged(const T& mine, Move move) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange words of 4 bytes");
  union Words {
    T value;
    int32_t words[sizeof(T) / 4];
    DEVICE Words() {}
  } from, to;
  from.value = mine;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); i++) to.words[i] = move(from.words[i]);
  return to.value;
}

// Sum converts elements to As, the result's dtype, and adds them in A, which is as wide or wider.
template <class As, class A>
struct Sum {
  typedef A Kept;
  static DEVICE A none() { return convert<A>(0); }
  template <class In>
  static DEVICE void add(A& all, In x, int64_t) {
    all = all + convert<A>(convert<As>(x));
  }
  static DEVICE void join(A& all, const A& other) { all = all + other; }
  static DEVICE A first(const A& all, int64_t, double) { return all; }
  static DEVICE int64_t second(const A&, int64_t) { return 0; }
};
template <class As, class A>
struct NanSum : Sum<As, A> {
  template <class In>
  static DEVICE void add(A& all, In x, int64_t) {
    const A y = convert<A>(convert<As>(x));
    if (!is_nan(y)) all = all + y;
  }
};
template <class As, class A>
struct Mean : Sum<As, A> {
  static DEVICE A first(const A& all, int64_t length, double) { return over(all, static_cast<double>(length)); }
};
template <class As, class A>
struct Product : Sum<As, A> {
  static DEVICE A none() { return convert<A>(1); }
  template <class In>
  static DEVICE void add(A& all, In x, int64_t) {
    all = all * convert<A>(convert<As>(x));
  }
  static DEVICE void join(A& all, const A& other) { all = all * other; }
};
// CountNonzero counts the elements that are not zero. Truth computes whether any, or all, are not zero.
struct CountNonzero : Sum<bool, int64_t> {};
template <bool Any>
struct Truth {
  typedef int32_t Kept;
  static DEVICE Kept none() { return !Any; }
  template <class In>
  static DEVICE void add(Kept& all, In x, int64_t) {
    const int32_t is = convert<bool>(x);
    all = Any ? all | is : all & is;
  }
  static DEVICE void join(Kept& all, Kept other) { all = Any ? all | other : all & other; }
  static DEVICE bool first(Kept all, int64_t, double) { return all != 0; }
  static DEVICE int64_t second(Kept, int64_t) { return 0; }
};

// The first of the largest, or of the smallest, elements, and its place. The first NaN wins.
template <class A, bool Largest>
struct Extremum {
  struct Kept {
    A best;
    int64_t at;  // -1: no element yet
  };
  static DEVICE Kept none() { return {A(), -1}; }
  static DEVICE bool better(A x, A y) { return Largest ? x > y : x < y; }
  template <class In>
  static DEVICE void add(Kept& all, In element, int64_t at) {
    join(all, {convert<A>(element), at});
  }
  static DEVICE void join(Kept& all, const Kept& other) {
    if (other.at < 0) return;
    bool wins = all.at < 0;
    if (!wins) {
      const bool mine = all.best != all.best, its = other.best != other.best;
      const bool equal = (mine && its) || all.best == other.best;
      wins = equal ? other.at < all.at : !mine && (its || better(other.best, all.best));
    }
    if (wins) all = other;
  }
  static DEVICE A first(const Kept& all, int64_t, double) { return all.best; }
  static DEVICE int64_t second(const Kept& all, int64_t) { return all.at; }
};
template <class A, bool Largest>
struct Place : Extremum<A, Largest> {
  typedef typename Extremum<A, Largest>::Kept Kept;
  static DEVICE int64_t first(const Kept& all, int64_t, double) { return all.at; }
};

// The variance by Welford's and Chan's updates; the parameter is the correction. The variance of complex numbers is the
// sum of the variances of both parts.
template <class A, bool Root>
struct Moments {
  struct Kept {
    A mean;
    typename PartOf<A>::type squares, n;
  };
  typedef typename PartOf<A>::type R;
  static DEVICE R norm(A a, A b) {
    if constexpr (Is<A>::complex_number)
      return a.re * b.re + a.im * b.im;
    else
      return a * b;
  }
  static DEVICE A scaled(A x, R k) {
    if constexpr (Is<A>::complex_number)
      return {x.re * k, x.im * k};
    else
      return x * k;
  }
  static DEVICE Kept none() { return {convert<A>(0), 0, 0}; }
  template <class In>
  static DEVICE void add(Kept& all, In element, int64_t) {
    const A x = convert<A>(element), off = x - all.mean;
    all.n += 1;
    all.mean = all.mean + scaled(off, 1 / all.n);
    all.squares += norm(off, x - all.mean);
  }
  static DEVICE void join(Kept& all, const Kept& other) {
    if (other.n == 0) return;
    const R n = all.n + other.n;
    const A off = other.mean - all.mean;
    all.mean = all.mean + scaled(off, other.n / n);
    all.squares += other.squares + norm(off, off) * (all.n * (other.n / n));
    all.n = n;
  }
  static DEVICE R first(const Kept& all, int64_t length, double correction) {
    const double n = static_cast<double>(length) - correction;
    const R v = length == 0 ? static_cast<R>(NAN) : all.squares / static_cast<R>(n > 0 ? n : 0);
    return Root ? root_of(v) : v;
  }
  static DEVICE A second(const Kept& all, int64_t) { return all.n == 0 ? scaled(convert<A>(1), static_cast<R>(NAN)) : all.mean; }
};

// The variance of floats by two sums in double, of the elements and of their squares. float has 24 bits, so the sum of
// the squares loses nothing that shows.
template <bool Root>
struct Squares {
  struct Kept {
    double sum, squares;
  };
  static DEVICE Kept none() { return {0, 0}; }
  template <class In>
  static DEVICE void add(Kept& all, In element, int64_t) {
    const double x = convert<double>(element);
    all.sum += x;
    all.squares += x * x;
  }
  static DEVICE void join(Kept& all, const Kept& other) {
    all.sum += other.sum;
    all.squares += other.squares;
  }
  static DEVICE double first(const Kept& all, int64_t length, double correction) {
    const double n = static_cast<double>(length), below = n - correction;
    const double spread = all.squares - all.sum * (all.sum / n);  // NaN without elements
    const double v = (spread < 0 ? 0 : spread) / (below > 0 ? below : 0);
    return Root ? root_of(v) : v;
  }
  static DEVICE double second(const Kept& all, int64_t length) { return all.sum / static_cast<double>(length); }
};

// log of the sum of exp, from the largest element so far and the sum of exp(x - largest).
template <class A>
struct LogSumExp {
  struct Kept {
    A largest, sum;
  };
  static DEVICE Kept none() { return {static_cast<A>(-INFINITY), 0}; }
  static DEVICE A factor(A x, A by) { return x == by ? static_cast<A>(1) : exponential(x - by); }
  template <class In>
  static DEVICE void add(Kept& all, In element, int64_t) {
    join(all, {convert<A>(element), 1});
  }
  static DEVICE void join(Kept& all, const Kept& other) {
    const A largest = all.largest > other.largest || is_nan(all.largest) ? all.largest : other.largest;
    all.sum = all.sum * factor(all.largest, largest) + other.sum * factor(other.largest, largest);
    all.largest = largest;
  }
  static DEVICE A first(const Kept& all, int64_t, double) { return logarithm(all.sum) + all.largest; }
  static DEVICE int64_t second(const Kept&, int64_t) { return 0; }
};
#endif
