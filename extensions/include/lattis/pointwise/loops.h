/* From a declaration to machine code: one strided loop per compute dtype, and the descriptor that is registered.
 *
 * Note [Position independence]  An element's value must not depend on where it stands, on chunks or on threads. A
 *   vectorized function and its scalar twin differ in the last bit, so operators declared `maths` run in whole
 *   blocks; the remainder is padded to a block and goes through the same vector function. For plain arithmetic
 *   both give the same bits (-ffp-contract=off), and no padding is needed. */
#ifndef LATTIS_POINTWISE_LOOPS_H
#define LATTIS_POINTWISE_LOOPS_H

#include <lattis/pointwise/declarations.h>

#include <cstring>

namespace lattis::pointwise {
namespace {

template <class Op, class C, class T>
inline auto invoke(C x, T y, T z, T p, T q) {
  if constexpr (Op::inputs == 3)
    return Op::apply(x, y, z);
  else if constexpr (Op::inputs == 2 && Op::params == 0)
    return Op::apply(x, y);
  else if constexpr (Op::inputs == 2 && Op::params == 1)
    return Op::apply(x, y, p);
  else if constexpr (Op::params == 0)
    return Op::apply(x);
  else if constexpr (Op::params == 1)
    return Op::apply(x, p);
  else
    return Op::apply(x, p, q);
}

template <class T>
inline T parameter(const lattis_value& v, int absent) {
  switch (v.tag) {
    case LATTIS_FLOAT:
      return static_cast<T>(v.as.d);
    case LATTIS_BOOLEAN:
    case LATTIS_INT:
      return static_cast<T>(v.as.i);
    case LATTIS_COMPLEX:
      return static_cast<T>(v.as.doubles[0]);
    default:
      if constexpr (std::is_floating_point_v<T>)
        return absent == LATTIS_ABSENT_LOWEST ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::infinity();
      else
        return absent == LATTIS_ABSENT_LOWEST ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
}

template <class Op, class T, class R, class C>
struct Loop {
  static constexpr int64_t block = sizeof(T) >= 8 ? 8 : 16;
  static constexpr int64_t tile = 256;

  /* Mask says which inputs are one scalar: bit 0 the first, bit 1 the second. */
  template <int Mask>
  static inline __attribute__((always_inline)) void strip(int64_t n, R* o, const C* x, const T* y, const T* z, T p,
                                                          T q) {
    const C x0 = *x;
    const T y0 = Op::inputs > 1 ? *y : T();
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
      o[i] = static_cast<R>(invoke<Op, C, T>(Mask & 1 ? x0 : x[i], Op::inputs > 1 ? (Mask & 2 ? y0 : y[i]) : y0,
                                             Op::inputs > 2 ? z[i] : T(), p, q));
  }

  template <int Mask>
  static void run(int64_t n, R* o, const C* x, const T* y, const T* z, T p, T q) {
    if constexpr (!Op::maths || !std::is_floating_point_v<T>) {
      strip<Mask>(n, o, x, y, z, p, q);
    } else {
      int64_t i = 0;
      for (; i + block <= n; i += block)
        strip<Mask>(block, o + i, Mask & 1 ? x : x + i, Op::inputs > 1 && !(Mask & 2) ? y + i : y, z, p, q);
      if (i == n) return;
      alignas(64) C xs[block];
      alignas(64) T ys[block];
      alignas(64) R os[block];
      for (int64_t k = 0; k < block; k++) {
        int64_t at = i + k < n ? i + k : n - 1;
        xs[k] = Mask & 1 ? *x : x[at];
        ys[k] = Op::inputs > 1 ? (Mask & 2 ? *y : y[at]) : T();
      }
      strip<0>(block, os, xs, ys, z, p, q);
      std::memcpy(o + i, os, sizeof(R) * (n - i));
    }
  }

  template <class E>
  static const E* gather(E* into, const char* from, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; i++) std::memcpy(&into[i], from + i * stride, sizeof(E));
    return into;
  }

  static bool faulty(int64_t n, const C* x, const T* y) {
    bool any = false;
    if constexpr (Op::fault_message != nullptr)
      for (int64_t i = 0; i < n; i++) any |= Op::fault(x[i], y[i]);
    return any;
  }

  static void __attribute__((noinline)) strided(int64_t n, void* const* data, const int64_t* s, T p, T q, int* fault) {
    alignas(64) C xs[tile];
    alignas(64) T ys[tile], zs[tile];
    alignas(64) R os[tile];
    auto* o = static_cast<char*>(data[0]);
    for (int64_t i = 0; i < n; i += tile) {
      int64_t m = n - i < tile ? n - i : tile;
      gather(xs, static_cast<const char*>(data[1]) + i * s[1], s[1], m);
      if constexpr (Op::inputs > 1) gather(ys, static_cast<const char*>(data[2]) + i * s[2], s[2], m);
      if constexpr (Op::inputs > 2) gather(zs, static_cast<const char*>(data[3]) + i * s[3], s[3], m);
      if (faulty(m, xs, ys)) *fault = 1;
      run<0>(m, os, xs, ys, zs, p, q);
      for (int64_t k = 0; k < m; k++) std::memcpy(o + (i + k) * s[0], &os[k], sizeof(R));
    }
  }

  static int loop(int64_t n, void* const* data, const int64_t* s, const lattis_value* params) {
    T p = Op::params > 0 ? parameter<T>(params[0], Op::absent[0]) : T();
    T q = Op::params > 1 ? parameter<T>(params[1], Op::absent[1]) : T();
    int fault = 0;
    constexpr int64_t vector = sizeof(T), first = sizeof(C);
    auto* o = static_cast<R*>(data[0]);
    auto* x = static_cast<const C*>(data[1]);
    auto* y = static_cast<const T*>(Op::inputs > 1 ? data[2] : data[1]);
    auto* z = static_cast<const T*>(Op::inputs > 2 ? data[3] : data[1]);
    bool dense = s[0] == static_cast<int64_t>(sizeof(R)) || n == 1;
    if constexpr (Op::inputs > 2) dense &= s[3] == vector || n == 1;
    bool plain = Op::fault_message == nullptr || !is_integral<T>;
    if (dense && plain && (s[1] == first || n == 1) && (Op::inputs < 2 || s[2] == vector || n == 1))
      run<0>(n, o, x, y, z, p, q);
    else if (Op::inputs == 2 && dense && plain && s[1] == first && s[2] == 0)
      run<Op::inputs == 2 ? 2 : 0>(n, o, x, y, z, p, q);
    else if (Op::inputs == 2 && dense && plain && s[1] == 0 && s[2] == vector)
      run<Op::inputs == 2 ? 1 : 0>(n, o, x, y, z, p, q);
    else
      strided(n, data, s, p, q, &fault);
    return fault;
  }
};

template <class Op, class T>
constexpr lattis_loop loop_for(int dtype_class) {
  using R = std::conditional_t<Op::result == LATTIS_RESULT_BOOL, bool, T>;
  using C = std::conditional_t<Op::condition, bool, T>;
  if constexpr (Op::compute == LATTIS_COMPUTE_FLOAT && !std::is_floating_point_v<T>)
    return nullptr;
  else if constexpr (std::is_same_v<T, bool> ? !(Op::accepts & BOOL)
                     : std::is_integral_v<T> ? !(Op::accepts & INT)
                                             : !(Op::accepts & FLOAT))
    return nullptr;
  else
    return (void)dtype_class, Loop<Op, T, R, C>::loop;
}

template <class Op>
std::string expression() {
  Symbol x{"x"}, y{"y"}, z{"z"}, p{"p"}, q{"q"};
  return invoke<Op, Symbol, Symbol>(x, y, z, p, q).text;
}

/* The descriptor to register, with the loops of the instruction set that this file is compiled for. */
template <class Op>
lattis_pointwise describe(const char* expression) {
  lattis_pointwise d{};
  d.size = sizeof d;
  d.inputs = Op::inputs;
  d.params = Op::params;
  d.accepts = Op::accepts;
  d.compute = Op::compute;
  d.result = Op::result;
  d.condition = Op::condition;
  d.params_promote = Op::params_promote;
  d.absent[0] = static_cast<uint8_t>(Op::absent[0]);
  d.absent[1] = static_cast<uint8_t>(Op::absent[1]);
  d.expression = expression;
  d.fault = Op::fault_message;
  d.loops[LATTIS_BOOL] = loop_for<Op, bool>(BOOL);
  d.loops[LATTIS_UINT8] = loop_for<Op, uint8_t>(INT);
  d.loops[LATTIS_INT8] = loop_for<Op, int8_t>(INT);
  d.loops[LATTIS_INT16] = loop_for<Op, int16_t>(INT);
  d.loops[LATTIS_INT32] = loop_for<Op, int32_t>(INT);
  d.loops[LATTIS_INT64] = loop_for<Op, int64_t>(INT);
  d.loops[LATTIS_FLOAT32] = loop_for<Op, float>(FLOAT);
  d.loops[LATTIS_FLOAT64] = loop_for<Op, double>(FLOAT);
  return d;
}

}  // namespace
}  // namespace lattis::pointwise
#endif
