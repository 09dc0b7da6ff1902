/* From a declaration to machine code: one strided loop per compute dtype, and the descriptor that is registered.
 *
 * Note [Position independence]  An element's value must not depend on its position, on chunks or on threads. A
 *   vectorized function and its scalar twin may differ in the last bit, so operators declared `maths` run in whole
 *   blocks; the remainder is padded to a block and goes through the same vector function. For plain arithmetic
 *   both give the same bits (-ffp-contract=off), and no padding is needed.
 *
 * Note [One dense loop]  An operator has one vector loop a dtype, over dense operands. Strided operands are gathered,
 *   and scalars spread, tile by tile in the first-level cache, by code that all operators share: a loop for
 *   each combination of strides would be little faster, and cost much time to compile. */
#ifndef LAMELLA_POINTWISE_LOOPS_H
#define LAMELLA_POINTWISE_LOOPS_H

#include <lamella/half.h>
#include <lamella/pointwise/declarations.h>

#include <cstring>

namespace lamella::pointwise {
namespace {

template <class Op, class T, class... In>
inline __attribute__((always_inline)) auto with_params(T p, T q, T r, In... in) {
  if constexpr (Op::params == 0)
    return Op::apply(in...);
  else if constexpr (Op::params == 1)
    return Op::apply(in..., p);
  else if constexpr (Op::params == 2)
    return Op::apply(in..., p, q);
  else
    return Op::apply(in..., p, q, r);
}

template <class Op, class C, class T>
inline __attribute__((always_inline)) auto invoke(C x, T y, T z, T p, T q, T r) {
  if constexpr (Op::inputs == 3)
    return with_params<Op>(p, q, r, x, y, z);
  else if constexpr (Op::inputs == 2)
    return with_params<Op>(p, q, r, x, y);
  else
    return with_params<Op>(p, q, r, x);
}

template <class T>
inline T parameter(const lamella_value& v, int absent) {
  switch (v.tag) {
    case LAMELLA_FLOAT:
      return number<T>(v.as.d);
    case LAMELLA_BOOLEAN:
    case LAMELLA_INT:
      return static_cast<T>(v.as.i);
    case LAMELLA_UINT:
      if constexpr (is_complex<T>)
        return number<T>(static_cast<double>(v.as.u));
      else
        return static_cast<T>(v.as.u);
    case LAMELLA_COMPLEX:
      if constexpr (is_complex<T>)
        return T(static_cast<typename T::part>(v.as.doubles[0]), static_cast<typename T::part>(v.as.doubles[1]));
      else
        return number<T>(v.as.doubles[0]);
    default:
      if constexpr (std::is_floating_point_v<T>)
        return absent == LAMELLA_ABSENT_LOWEST ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::infinity();
      else
        return absent == LAMELLA_ABSENT_LOWEST ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
}

/* gather copies m elements of `Bytes` bytes, `stride` bytes apart, to lie side by side; scatter copies them back. */
template <int Bytes>
struct UnitOf {
  struct type {
    char bytes[Bytes];
  };
};
template <>
struct UnitOf<1> {
  using type = uint8_t;
};
template <>
struct UnitOf<2> {
  using type = uint16_t;
};
template <>
struct UnitOf<4> {
  using type = uint32_t __attribute__((may_alias));
};
template <>
struct UnitOf<8> {
  using type = uint64_t __attribute__((may_alias));
};
template <int Bytes>
using Unit = typename UnitOf<Bytes>::type;
template <int Bytes>
__attribute__((noinline)) void gather(void* into, const char* from, int64_t stride, int64_t m) {
  auto* to = static_cast<Unit<Bytes>*>(into);
  const auto* of = reinterpret_cast<const Unit<Bytes>*>(from);
  if (stride == 0) {
    const Unit<Bytes> one = *of;
    for (int64_t i = 0; i < m; i++) to[i] = one;
  } else if (stride == 2 * Bytes) {
#pragma omp simd
    for (int64_t i = 0; i < m; i++) to[i] = of[2 * i];
  } else {
    for (int64_t i = 0; i < m; i++) std::memcpy(&to[i], from + i * stride, Bytes);
  }
}
template <int Bytes>
__attribute__((noinline)) void scatter(char* into, int64_t stride, const void* from, int64_t m) {
  auto* of = static_cast<const Unit<Bytes>*>(from);
  for (int64_t i = 0; i < m; i++) std::memcpy(into + i * stride, &of[i], Bytes);
}

/* The bytes of an element of each operand, the result's first. */
struct ElementSizes {
  int8_t inputs;
  int8_t bytes[4];
};

inline void gather(int bytes, void* into, const char* from, int64_t stride, int64_t m) {
  switch (bytes) {
    case 1:
      return gather<1>(into, from, stride, m);
    case 2:
      return gather<2>(into, from, stride, m);
    case 4:
      return gather<4>(into, from, stride, m);
    case 8:
      return gather<8>(into, from, stride, m);
    default:
      return gather<16>(into, from, stride, m);
  }
}
inline void scatter(int bytes, char* into, int64_t stride, const void* from, int64_t m) {
  switch (bytes) {
    case 1:
      return scatter<1>(into, stride, from, m);
    case 2:
      return scatter<2>(into, stride, from, m);
    case 4:
      return scatter<4>(into, stride, from, m);
    case 8:
      return scatter<8>(into, stride, from, m);
    default:
      return scatter<16>(into, stride, from, m);
  }
}

/* Runs a loop over strided operands, tile by tile: operands that are not dense are gathered, and the loop gets the
 * tile as dense operands. */
__attribute__((noinline)) inline int by_tiles(lamella_loop loop, const ElementSizes& sizes, int64_t n,
                                              void* const* data, const int64_t* strides, const lamella_value* params) {
  constexpr int64_t bytes = 4096; /* of each operand: all fit into the first-level cache */
  alignas(64) char buffers[4][bytes];
  void* at[4];
  int64_t dense[4], widest = 1;
  for (int k = 0; k <= sizes.inputs; k++) {
    dense[k] = sizes.bytes[k];
    widest = dense[k] > widest ? dense[k] : widest;
  }
  const int64_t tile = bytes / widest;
  int faults = 0;
  for (int64_t i = 0; i < n; i += tile) {
    const int64_t m = n - i < tile ? n - i : tile;
    for (int k = 0; k <= sizes.inputs; k++) {
      char* there = static_cast<char*>(data[k]) + i * strides[k];
      const bool lies = strides[k] == dense[k];
      at[k] = lies ? there : buffers[k];
      if (k > 0 && !lies && (strides[k] != 0 || i == 0)) gather(sizes.bytes[k], buffers[k], there, strides[k], m);
    }
    faults |= loop(m, at, dense, params);
    if (at[0] == buffers[0])
      scatter(sizes.bytes[0], static_cast<char*>(data[0]) + i * strides[0], strides[0], buffers[0], m);
  }
  return faults;
}

template <class T, int Rule>
struct ResultOf {
  using type = T;
};
template <class T>
struct ResultOf<T, LAMELLA_RESULT_BOOL> {
  using type = bool;
};
template <class F>
struct ResultOf<Complex<F>, LAMELLA_RESULT_REAL> {
  using type = F;
};

/* How elements of T lie in memory. Those of bool are bytes, and every byte but 0 is true: the memory may be another
 * dtype's, or another program's. */
template <class T>
using InMemory = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
/* A condition is computed with as 0 or 1 of this type; compilers fail to vectorize bool there. */
struct Condition {};

/* Converts an element to the type of the computation. bfloat16 is read as bits: compilers do not vectorize its
 * class. */
inline float from_memory(uint16_t x, float) { return bits_float(static_cast<uint32_t>(x) << 16); }
inline bool from_memory(uint8_t x, bool) { return x != 0; }
inline uint8_t from_memory(uint8_t x, Condition) { return x != 0; }
template <class T>
inline T from_memory(T x, T) {
  return x;
}
/* Converts the result of a loop that computes with T to its type in memory. */
template <class R, class T, class X>
inline R to_memory(X x) {
  if constexpr (std::is_same_v<R, uint16_t> && std::is_same_v<T, float>)
    return bfloat16(static_cast<float>(x)).bits;
  else if constexpr (std::is_same_v<T, bool>)
    return static_cast<bool>(x);
  else
    return static_cast<R>(x);
}

/* T is the type of the computation, S the type in memory: the loop converts the bits of bfloat16 and bytes of bool. */
template <class Op, class T, class S = InMemory<T>>
struct Loop {
  using R = typename ResultOf<S, Op::result>::type;
  using C = std::conditional_t<Op::condition, uint8_t, S>;
  using D = std::conditional_t<Op::condition, Condition, T>;
  static constexpr int64_t block = sizeof(S) == 8 ? 8 : sizeof(S) == 2 ? 32 : 16;
  static constexpr bool checked = Op::fault_message != nullptr && is_integral<T>;
  static constexpr bool in_blocks = is_complex<T> ? Op::complex_maths : Op::maths && std::is_floating_point_v<T>;

  static inline __attribute__((always_inline)) void strip(int64_t n, R* o, const C* x, const S* y, const S* z, T p, T q,
                                                          T r) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      o[i] = to_memory<R, T>(invoke<Op>(from_memory(x[i], D()), Op::inputs > 1 ? from_memory(y[i], T()) : T(),
                                        Op::inputs > 2 ? from_memory(z[i], T()) : T(), p, q, r));
  }

  static __attribute__((noinline)) void blocks(int64_t n, R* o, const C* x, const S* y, const S* z, T p, T q, T r) {
    if constexpr (Op::wide && std::is_same_v<T, float>) {
      widened(n, o, x, y, p, q, r);
    } else {
      for (int64_t i = 0; i < n; i += block) {
        if constexpr (Op::iterates)
          Op::lanes(o + i, x + i, y + i);
        else
          strip(block, o + i, x + i, Op::inputs > 1 ? y + i : y, Op::inputs > 2 ? z + i : z, p, q, r);
      }
    }
  }

  /* Runs the loop of float64 over pieces converted to it. */
  static void widened(int64_t n, R* o, const C* x, const S* y, T p, T q, T r) {
    static_assert(Op::inputs < 3 && !Op::condition);
    constexpr int64_t piece = 256;
    alignas(64) double xs[piece], ys[piece], os[piece];
    for (int64_t i = 0; i < n; i += piece) {
      const int64_t m = n - i < piece ? n - i : piece;
#pragma omp simd
      for (int64_t k = 0; k < m; k++) xs[k] = from_memory(x[i + k], T());
      if constexpr (Op::inputs > 1) {
#pragma omp simd
        for (int64_t k = 0; k < m; k++) ys[k] = from_memory(y[i + k], T());
      }
      Loop<Op, double>::blocks(m, os, xs, ys, nullptr, p, q, r);
#pragma omp simd
      for (int64_t k = 0; k < m; k++) o[i + k] = to_memory<R, T>(static_cast<float>(os[k]));
    }
  }

  /* Runs whole blocks; the remainder is padded to one. */
  static void padded(int64_t n, R* o, const C* x, const S* y, const S* z, T p, T q, T r) {
    const int64_t whole = n / block * block, rest = n - whole;
    if (whole) blocks(whole, o, x, y, z, p, q, r);
    if (!rest) return;
    alignas(64) C xs[block];
    alignas(64) S ys[block], zs[block];
    alignas(64) R os[block];
    for (int64_t k = 0; k < block; k++) {
      const int64_t at = whole + (k < rest ? k : rest - 1);
      xs[k] = x[at];
      if constexpr (Op::inputs > 1) ys[k] = y[at];
      if constexpr (Op::inputs > 2) zs[k] = z[at];
    }
    blocks(block, os, xs, ys, zs, p, q, r);
    std::memcpy(o + whole, os, sizeof(R) * rest);
  }

  /* Checks for faults while the elements are in the cache. */
  static inline int strip_and_look(int64_t n, R* o, const C* x, const S* y, T p, T q, T r) {
    constexpr int64_t chunk = 1024;
    int faults = 0;
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t m = n - i < chunk ? n - i : chunk;
      for (int64_t k = i; k < i + m; k++) faults |= Op::fault(x[k], y[k]);
      strip(m, o + i, x + i, y + i, nullptr, p, q, r);
    }
    return faults;
  }

  static int loop(int64_t n, void* const* data, const int64_t* s, const lamella_value* params) {
    static constexpr ElementSizes sizes = {Op::inputs, {sizeof(R), sizeof(C), sizeof(S), sizeof(S)}};
    bool gapless = s[0] == int64_t{sizeof(R)} && s[1] == int64_t{sizeof(C)};
    if constexpr (Op::inputs > 1) gapless = gapless && s[2] == int64_t{sizeof(S)};
    if constexpr (Op::inputs > 2) gapless = gapless && s[3] == int64_t{sizeof(S)};
    if (!gapless && n != 1) return by_tiles(loop, sizes, n, data, s, params);
    T p{}, q{}, r{};
    if constexpr (Op::params > 0) p = parameter<T>(params[0], Op::absent[0]);
    if constexpr (Op::params > 1) q = parameter<T>(params[1], Op::absent[1]);
    if constexpr (Op::params > 2) r = parameter<T>(params[2], Op::absent[2]);
    auto* o = static_cast<R*>(data[0]);
    auto* x = static_cast<const C*>(data[1]);
    auto* y = static_cast<const S*>(Op::inputs > 1 ? data[2] : nullptr);
    auto* z = static_cast<const S*>(Op::inputs > 2 ? data[3] : nullptr);
    if constexpr (checked) return strip_and_look(n, o, x, y, p, q, r);
    if constexpr (in_blocks)
      padded(n, o, x, y, z, p, q, r);
    else
      strip(n, o, x, y, z, p, q, r);
    return 0;
  }
};

template <class Op, class T>
constexpr bool accepted() {
  if (Op::compute == LAMELLA_COMPUTE_FLOAT && (is_bool<T> || is_integral<T>)) return false;
  return (Op::accepts & (is_bool<T> ? BOOL : is_integral<T> ? INT : is_complex<T> ? COMPLEX : FLOAT)) != 0;
}

template <class Op, int Bytes>
constexpr lamella_loop moving_loop() {
  return Loop<Op, Unsigned<Bytes>>::loop;
}

template <class Op>
constexpr lamella_loop bfloat16_loop() {
  if constexpr (!accepted<Op, float>())
    return nullptr;
  else if constexpr (Op::moves)
    return moving_loop<Op, 2>();
  else
    return Loop<Op, float, uint16_t>::loop;
}

template <class Op, class T>
constexpr lamella_loop loop_for() {
  if constexpr (!accepted<Op, T>())
    return nullptr;
  else if constexpr (Op::moves && sizeof(T) <= 8)
    return moving_loop<Op, sizeof(T)>();
  else if constexpr (is_integral<T> && std::is_unsigned_v<T> && Op::signless)
    return Loop<Op, std::make_signed_t<T>>::loop;
  else
    return Loop<Op, T>::loop;
}

/* The expressions of an operator, as texts. */
struct Expressions {
  std::string of_bools, of_integers, of_floats, of_complex; /* empty if the class is not accepted */
  std::string fault;
};

inline std::string text_of(bool answer) { return answer ? "1" : "0"; }
template <int Class>
std::string text_of(const Symbol<Class>& s) {
  return s.text;
}
template <class Op, int Class>
std::string expression() {
  using T = Symbol<Class>;
  using C = std::conditional_t<Op::condition, Truth, T>;
  if constexpr (!accepted<Op, T>())
    return {};
  else
    return text_of(invoke<Op>(C{"x"}, T{"y"}, T{"z"}, T{"p"}, T{"q"}, T{"r"}));
}
template <class Op>
Expressions expressions() {
  std::string fault;
  using T = Symbol<LAMELLA_CLASS_INTEGRAL>;
  if constexpr (Op::fault_message != nullptr) fault = text_of(Op::fault(T{"x"}, T{"y"}));
  return {expression<Op, LAMELLA_CLASS_BOOL>(), expression<Op, LAMELLA_CLASS_INTEGRAL>(),
          expression<Op, LAMELLA_CLASS_FLOATING>(), expression<Op, LAMELLA_CLASS_COMPLEX>(), fault};
}

/* The descriptor to register, with the loops of the instruction set that this file is compiled for. It points into the
 * texts; without them it has no expressions. */
template <class Op>
lamella_pointwise describe(const Expressions* texts) {
  lamella_pointwise d{};
  d.size = sizeof d;
  d.inputs = Op::inputs;
  d.params = Op::params;
  d.accepts = Op::accepts;
  d.compute = Op::compute;
  d.result = Op::result;
  d.condition = Op::condition;
  d.params_promote = Op::params_promote;
  for (int i = 0; i < 3; i++) d.absent[i] = static_cast<uint8_t>(Op::absent[i]);
  if (texts) {
    const auto text = [](const std::string& t) { return t.empty() ? nullptr : t.c_str(); };
    d.expressions = {text(texts->of_bools), text(texts->of_integers), text(texts->of_floats), text(texts->of_complex)};
    d.fault_condition = text(texts->fault);
  }
  d.fault = Op::fault_message;
  d.loops[LAMELLA_BOOL] = loop_for<Op, bool>();
  d.loops[LAMELLA_UINT8] = loop_for<Op, uint8_t>();
  d.loops[LAMELLA_UINT16] = loop_for<Op, uint16_t>();
  d.loops[LAMELLA_UINT32] = loop_for<Op, uint32_t>();
  d.loops[LAMELLA_UINT64] = loop_for<Op, uint64_t>();
  d.loops[LAMELLA_INT8] = loop_for<Op, int8_t>();
  d.loops[LAMELLA_INT16] = loop_for<Op, int16_t>();
  d.loops[LAMELLA_INT32] = loop_for<Op, int32_t>();
  d.loops[LAMELLA_INT64] = loop_for<Op, int64_t>();
  d.loops[LAMELLA_BFLOAT16] = bfloat16_loop<Op>();
  d.loops[LAMELLA_FLOAT32] = loop_for<Op, float>();
  d.loops[LAMELLA_FLOAT64] = loop_for<Op, double>();
  d.loops[LAMELLA_COMPLEX64] = loop_for<Op, Complex<float>>();
  d.loops[LAMELLA_COMPLEX128] = loop_for<Op, Complex<double>>();
  return d;
}

}  // namespace
}  // namespace lamella::pointwise
#endif
