// Running sums and products. For sums, a row of floats is cut into pieces of eight elements whose prefixes are computed
// side by side, so that only one addition of each piece waits for the piece before. Note [Instruction sets]: isa.h.
#include "backends/cpu/scans.h"

#include "backends/cpu/isa/lanes.h"

namespace lamella::cpu {
namespace {

struct Complex {
  double re, im;
};
template <class T>
struct ComplexOf {
  T re, im;
};

// The type of a carry: double for floats, int64 for integers, Complex for complex numbers.
template <class T>
struct CarryOf {
  using type = int64_t;
};
template <>
struct CarryOf<float> {
  using type = double;
};
template <>
struct CarryOf<double> {
  using type = double;
};
template <class T>
struct CarryOf<ComplexOf<T>> {
  using type = Complex;
};

template <bool Product>
LAMELLA_INLINE double join(double a, double b) {
  return Product ? a * b : a + b;
}
template <bool Product>
LAMELLA_INLINE int64_t join(int64_t a, int64_t b) {
  return Product ? a * b : a + b;
}
template <bool Product>
LAMELLA_INLINE Complex join(Complex a, Complex b) {
  return Product ? Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re} : Complex{a.re + b.re, a.im + b.im};
}
template <class C, class T>
LAMELLA_INLINE C carried(T x) {
  return static_cast<C>(x);
}
template <>
LAMELLA_INLINE Complex carried(ComplexOf<float> x) {
  return {x.re, x.im};
}
template <>
LAMELLA_INLINE Complex carried(ComplexOf<double> x) {
  return {x.re, x.im};
}
template <class T, class C>
LAMELLA_INLINE T stored(C x) {
  if constexpr (requires { x.re; })
    return {static_cast<decltype(T::re)>(x.re), static_cast<decltype(T::im)>(x.im)};
  else
    return static_cast<T>(x);
}

// Computes the prefix sums of eight elements in three steps, which add the lanes 1, 2 and 4 places before.
LAMELLA_INLINE void prefix(Doubles& v) {
  const Doubles zero = {};
  v += __builtin_shufflevector(zero, v, 7, 8, 9, 10, 11, 12, 13, 14);
  v += __builtin_shufflevector(zero, v, 6, 7, 8, 9, 10, 11, 12, 13);
  v += __builtin_shufflevector(zero, v, 4, 5, 6, 7, 8, 9, 10, 11);
}

LAMELLA_INLINE void store_narrow(float* to, const Doubles& v) {
  const Floats8 x = __builtin_convertvector(v, Floats8);
  __builtin_memcpy(to, &x, sizeof x);
}
LAMELLA_INLINE void store_narrow(double* to, const Doubles& v) { __builtin_memcpy(to, &v, sizeof v); }

template <class T, bool Product, bool Write>
void row(int64_t n, const void* in, void* out, const void* offset, void* carry) {
  using C = typename CarryOf<T>::type;
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const C before = *static_cast<const C*>(offset);
  C c = *static_cast<C*>(carry);
  int64_t i = 0;
  if constexpr (requires(Doubles & v) { load_wide(v, x); } && !Product) {
    for (; i + 8 <= n; i += 8) {
      Doubles v;
      load_wide(v, x + i);
      prefix(v);
      const C own = v[7];
      v += c;
      c += own;
      if constexpr (Write) store_narrow(y + i, v + before);
    }
  }
  for (; i < n; i++) {
    c = join<Product>(c, carried<C>(x[i]));
    if constexpr (Write) y[i] = stored<T>(join<Product>(before, c));
  }
  *static_cast<C*>(carry) = c;
}

template <class T, bool Product>
void start(int64_t n, void* carry) {
  using C = typename CarryOf<T>::type;
  for (int64_t k = 0; k < n; k++) static_cast<C*>(carry)[k] = C{Product};
}
template <class T, bool Product>
void join_carries(void* a, const void* b) {
  using C = typename CarryOf<T>::type;
  *static_cast<C*>(a) = join<Product>(*static_cast<C*>(a), *static_cast<const C*>(b));
}

template <class T, bool Product>
void columns(int64_t rows, int64_t width, const void* in, int64_t in_stride, void* out, int64_t out_stride,
             void* carry) {
  using C = typename CarryOf<T>::type;
  auto* c = static_cast<C*>(carry);
  for (int64_t r = 0; r < rows; r++) {
    auto* x = static_cast<const T*>(in) + r * in_stride;
    auto* y = static_cast<T*>(out) + r * out_stride;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) {
      c[k] = join<Product>(c[k], carried<C>(x[k]));
      y[k] = stored<T>(c[k]);
    }
  }
}

template <class T, bool Product>
constexpr Scan table = {sizeof(typename CarryOf<T>::type),
                        start<T, Product>,
                        join_carries<T, Product>,
                        row<T, Product, true>,
                        row<T, Product, false>,
                        columns<T, Product>};

template <bool Product>
const Scan* of(int dtype) {
  switch (dtype) {
    case LAMELLA_UINT8:
      return &table<uint8_t, Product>;
    case LAMELLA_UINT16:
    case LAMELLA_INT16:
      return &table<int16_t, Product>;
    case LAMELLA_INT8:
      return &table<int8_t, Product>;
    case LAMELLA_UINT32:
    case LAMELLA_INT32:
      return &table<int32_t, Product>;
    case LAMELLA_UINT64:
    case LAMELLA_INT64:
      return &table<int64_t, Product>;
    case LAMELLA_FLOAT32:
      return &table<float, Product>;
    case LAMELLA_FLOAT64:
      return &table<double, Product>;
    case LAMELLA_COMPLEX64:
      return &table<ComplexOf<float>, Product>;
    case LAMELLA_COMPLEX128:
      return &table<ComplexOf<double>, Product>;
    default:
      return nullptr;
  }
}

}  // namespace

namespace LAMELLA_ISA {

const Scan* scan(bool product, int dtype) { return product ? of<true>(dtype) : of<false>(dtype); }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
