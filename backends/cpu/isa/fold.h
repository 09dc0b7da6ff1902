// Templates for the folds of this folder: accumulators, the loops over them, and the choice of a fold for a dtype.
#pragma once

#include <limits>
#include <type_traits>

#include "backends/cpu/folds.h"
#include "backends/cpu/isa/lanes.h"
#include "backends/cpu/isa/truth.h"

namespace lamella::cpu {
namespace {

struct Complex {
  double re, im;
};
struct SmallComplex {
  float re, im;
};

template <class T>
constexpr int dtype_of = std::is_same_v<T, bool>           ? LAMELLA_BOOL
                         : std::is_same_v<T, Truth>        ? LAMELLA_BOOL
                         : std::is_same_v<T, int32_t>      ? LAMELLA_INT32
                         : std::is_same_v<T, int64_t>      ? LAMELLA_INT64
                         : std::is_same_v<T, uint64_t>     ? LAMELLA_UINT64
                         : std::is_same_v<T, float>        ? LAMELLA_FLOAT32
                         : std::is_same_v<T, double>       ? LAMELLA_FLOAT64
                         : std::is_same_v<T, SmallComplex> ? LAMELLA_COMPLEX64
                         : std::is_same_v<T, Complex>      ? LAMELLA_COMPLEX128
                                                           : LAMELLA_UINT8;
template <class T>
constexpr bool is_complex = std::is_same_v<T, SmallComplex> || std::is_same_v<T, Complex>;
template <class T>
using SumOf =
    std::conditional_t<is_complex<T>, Complex, std::conditional_t<std::is_floating_point_v<T>, double, int64_t>>;

struct Nothing {};

// ---- simple folds, which join a value of each element ---------------------------------------------------------------

template <class Op>
constexpr bool quick_run = requires(const typename Op::In* x) {
  Op::run(16, x);
};
template <class Op>
constexpr bool eight_at_once = requires(const typename Op::In* x, typename Op::Acc* a) {
  Op::eight_rows(x, 1, 1, a);
};
template <class Op>
constexpr bool few_at_once = requires(const typename Op::In* x, typename Op::Acc* a) {
  Op::few_rows(1, x, 1, 1, a);
};

template <class Op>
struct Simple {
  using T = typename Op::In;
  using A = typename Op::Acc;
  static constexpr int64_t lanes = 256 / sizeof(A);

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<A*>(acc)[i] = Op::identity();
  }

  static void run(int64_t n, const void* data, int64_t, double param, void* acc) {
    auto* x = static_cast<const T*>(data);
    A& total = *static_cast<A*>(acc);
    if constexpr (quick_run<Op>) {
      if (n >= 16) {
        total = Op::join(total, Op::run(n, x));
        return;
      }
    }
    if (n < lanes / 2) {
      A few = Op::identity();
      for (int64_t i = 0; i < n; i++) few = Op::join(few, Op::lift(x[i], param));
      total = Op::join(total, few);
      return;
    }
    A lane[lanes];
    for (int64_t k = 0; k < lanes; k++) lane[k] = Op::identity();
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t k = 0; k < lanes; k++) lane[k] = Op::join(lane[k], Op::lift(x[i + k], param));
    for (int64_t k = 0; k < n - i; k++) lane[k] = Op::join(lane[k], Op::lift(x[i + k], param));
    for (int64_t w = lanes / 2; w > 0; w /= 2)
      for (int64_t k = 0; k < w; k++) lane[k] = Op::join(lane[k], lane[k + w]);
    total = Op::join(total, lane[0]);
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double param, void* acc) {
    auto* x = static_cast<const T*>(data);
    auto* a = static_cast<A*>(acc);
    int64_t r = 0;
    if constexpr (eight_at_once<Op>)
      for (; r + 8 <= rows; r += 8, x += 8 * stride) Op::eight_rows(x, stride, width, a);
    if constexpr (few_at_once<Op>) {
      for (; r < rows; r += 8, x += 8 * stride) Op::few_rows(rows - r < 8 ? rows - r : 8, x, stride, width, a);
      return;
    }
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
      const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++)
        a[k] = Op::join(a[k], Op::join(Op::join(Op::lift(x[k], param), Op::lift(x1[k], param)),
                                       Op::join(Op::lift(x2[k], param), Op::lift(x3[k], param))));
    }
    for (; r < rows; r++, x += stride) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) a[k] = Op::join(a[k], Op::lift(x[k], param));
    }
  }

  static void join(int64_t n, void* acc, const void* later) {
    auto* a = static_cast<A*>(acc);
    auto* b = static_cast<const A*>(later);
    for (int64_t k = 0; k < n; k++) a[k] = Op::join(a[k], b[k]);
  }

  static void finish(int64_t n, const void* acc, int64_t length, double param, void* out, void*) {
    for (int64_t k = 0; k < n; k++)
      static_cast<typename Op::Out*>(out)[k] = Op::finish(static_cast<const A*>(acc)[k], length, param);
  }

  // Do what `run` and `columns` do; compiled once, for the folds that call them chunk by chunk.
  static __attribute__((noinline)) void shared_run(int64_t n, const T* x, A* acc) { run(n, x, 0, 0, acc); }
  static __attribute__((noinline)) void shared_columns(int64_t rows, const T* x, int64_t stride, int64_t width,
                                                       A* acc) {
    columns(rows, x, stride, width, 0, 0, acc);
  }

  static constexpr Fold table = {
      dtype_of<T>, {dtype_of<typename Op::Out>, 0}, sizeof(A), false, start, run, columns, join, finish};
};

// ---- which fold serves a dtype --------------------------------------------------------------------------------------

// Returns the table of a fold, or of the simple fold by an operation.
template <class Op>
constexpr const Fold* table_of() {
  if constexpr (requires { Op::table; })
    return &Op::table;
  else
    return &Simple<Op>::table;
}

template <template <class> class Make>
const Fold* real(int dtype) {  // half precision is read as float
  switch (dtype) {
    case LAMELLA_FLOAT16:
    case LAMELLA_BFLOAT16:
    case LAMELLA_FLOAT32:
      return table_of<Make<float>>();
    case LAMELLA_FLOAT64:
      return table_of<Make<double>>();
    default:
      return nullptr;
  }
}

template <template <class> class Make>
const Fold* inexact(int dtype) {
  if (dtype == LAMELLA_COMPLEX64) return table_of<Make<SmallComplex>>();
  if (dtype == LAMELLA_COMPLEX128) return table_of<Make<Complex>>();
  return real<Make>(dtype);
}

template <template <class> class Make>
const Fold* number(int dtype) {  // bool is read as Truth, integers but uint8 as int64
  if (dtype == LAMELLA_BOOL) return table_of<Make<Truth>>();
  if (dtype == LAMELLA_UINT8) return table_of<Make<uint8_t>>();
  const Fold* fold = inexact<Make>(dtype);
  return fold ? fold : table_of<Make<int64_t>>();
}

template <template <class> class Make>
const Fold* ordered(int dtype) {
  switch (dtype) {
    case LAMELLA_BOOL:
    case LAMELLA_UINT8:
      return table_of<Make<uint8_t>>();
    case LAMELLA_INT8:
    case LAMELLA_INT16:
    case LAMELLA_UINT16:
    case LAMELLA_INT32:
      return table_of<Make<int32_t>>();
    case LAMELLA_UINT32:
    case LAMELLA_INT64:
      return table_of<Make<int64_t>>();
    case LAMELLA_UINT64:
      return table_of<Make<uint64_t>>();
    default:
      return real<Make>(dtype);
  }
}

}  // namespace
}  // namespace lamella::cpu
