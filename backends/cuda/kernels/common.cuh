// Types and functions of all kernels: short floats, complex numbers, conversions between dtypes, packs, reports of errors.
#ifndef LAMELLA_CUDA_COMMON
#define LAMELLA_CUDA_COMMON
#include <lamella/quotient.h>

#include "fault.h"

#ifdef __CUDACC_RTC__
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#endif

using namespace cuda;     // the arguments that kernels share with the host
using lamella::divide;  // divides by a Quotient
using lamella::Quotient;

#define DEVICE __device__ __forceinline__
// SHARED_BYTES(float, rows) declares `float* rows`: a block's memory whose size the launch gives.
#ifndef SHARED_BYTES
#define SHARED_BYTES(type, name)                       \
  extern __shared__ __align__(16) char shared_bytes[]; \
  type* const name = reinterpret_cast<type*>(shared_bytes)
#endif

template <class To, class From>
DEVICE To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From), "bits_as keeps the bits");
  union {
    From from;
    To to;
  } u;
  u.from = x;
  return u.to;
}

// ---- dtypes ----

// A bool as it lies in memory: every byte but 0 is true.
struct bool8 {
  uint8_t byte;
  bool8() = default;
  DEVICE bool8(bool x) : byte(x) {}
  DEVICE operator bool() const { return byte != 0; }
};
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};
template <class F>
struct alignas(2 * sizeof(F)) complex {
  F re, im;
};

DEVICE float to_float(float16 h) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
#else
  const uint32_t sign = (h.bits & 0x8000u) << 16, exponent = h.bits >> 10 & 31, mantissa = h.bits & 1023;
  if (exponent == 0) return sign ? -(mantissa * 5.9604644775390625e-8f) : mantissa * 5.9604644775390625e-8f;
  return bits_as<float>(sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13);
#endif
}
DEVICE float to_float(bfloat16 b) { return bits_as<float>(static_cast<uint32_t>(b.bits) << 16); }

// Rounds to the nearest, halves to the even one.
DEVICE float16 to_float16(float f) {
#ifdef __CUDA_ARCH__
  float16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
#else
  uint32_t x = bits_as<uint32_t>(f), sign = x >> 16 & 0x8000u, all = x & 0x7fffffffu;
  if (all > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (all >= 0x47800000u) return {static_cast<uint16_t>(sign | 0x7c00u)};
  if (all < 0x38800000u)  // subnormal: the sum's last bit is the smallest number
    return {static_cast<uint16_t>(sign | (bits_as<uint32_t>(bits_as<float>(all) + 0.5f) - 0x3f000000u))};
  all += 0xfffu + (all >> 13 & 1);
  return {static_cast<uint16_t>(sign | (all - 0x38000000u) >> 13)};
#endif
}
// The device's instruction, which compute capability 8.0 brought, turns every NaN into the same one and can round two
// elements of a pack at once. Without it an element takes eight instructions of integers.
DEVICE bfloat16 to_bfloat16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bfloat16 b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(f));
  return b;
#else
  const uint32_t x = bits_as<uint32_t>(f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>(x >> 16 | 0x40u)};
  return {static_cast<uint16_t>((x + 0x7fffu + (x >> 16 & 1)) >> 16)};
#endif
}

template <class T>
struct Is {
  static const bool floating = false, integral = false, complex_number = false, half = false;
};
#define LAMELLA_IS(type, what)                                                         \
  template <>                                                                          \
  struct Is<type> {                                                                    \
    static const bool floating = what == 1, integral = what == 0, complex_number = what == 2, half = what == 3; \
  };
LAMELLA_IS(uint8_t, 0)
LAMELLA_IS(uint16_t, 0)
LAMELLA_IS(uint32_t, 0)
LAMELLA_IS(uint64_t, 0)
LAMELLA_IS(int8_t, 0)
LAMELLA_IS(int16_t, 0)
LAMELLA_IS(int32_t, 0)
LAMELLA_IS(int64_t, 0)
LAMELLA_IS(float, 1)
LAMELLA_IS(double, 1)
LAMELLA_IS(complex<float>, 2)
LAMELLA_IS(complex<double>, 2)
LAMELLA_IS(float16, 3)
LAMELLA_IS(bfloat16, 3)
#undef LAMELLA_IS
template <class A, class B>
struct Same {
  static const bool value = false;
};
template <class A>
struct Same<A, A> {
  static const bool value = true;
};
template <class T>
struct PartOf {
  typedef T type;
};
template <class F>
struct PartOf<complex<F>> {
  typedef F type;
};

// Converts x to a To. Integers wrap; a NaN or a float that fits no 64-bit integer becomes -2^63 first. A complex number
// gives its real part, or whether it is not 0 if To is bool.
template <class To, class From>
DEVICE To convert(From x) {
  if constexpr (Same<To, From>::value)
    return x;
  else if constexpr (Same<From, bool8>::value)
    return convert<To>(static_cast<bool>(x));
  else if constexpr (Same<To, bool8>::value)
    return convert<bool>(x);
  else if constexpr (Is<From>::half)
    return convert<To>(to_float(x));
  else if constexpr (Same<To, float16>::value)
    return to_float16(convert<float>(x));
  else if constexpr (Same<To, bfloat16>::value)
    return to_bfloat16(convert<float>(x));
  else if constexpr (Is<From>::complex_number && Is<To>::complex_number)
    return {static_cast<typename PartOf<To>::type>(x.re), static_cast<typename PartOf<To>::type>(x.im)};
  else if constexpr (Is<To>::complex_number)
    return {convert<typename PartOf<To>::type>(x), 0};
  else if constexpr (Is<From>::complex_number && Same<To, bool>::value)
    return x.re != 0 || x.im != 0;
  else if constexpr (Is<From>::complex_number)
    return convert<To>(x.re);
  else if constexpr (Same<To, bool>::value)
    return x != 0;
  else if constexpr (Is<To>::integral && Is<From>::floating)
    return !(x > static_cast<From>(-9.3e18) && x < static_cast<From>(1.85e19))
               ? static_cast<To>(static_cast<int64_t>(1ull << 63))
           : x < static_cast<From>(9.2e18) ? static_cast<To>(static_cast<int64_t>(x))
                                           : static_cast<To>(static_cast<uint64_t>(x));
  else
    return static_cast<To>(x);
}

// Returns 2^x by the device's instruction, to about two units in the last place; 0 for -inf.
DEVICE float power_of_two(float x) {
#ifdef __CUDA_ARCH__
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return exp2f(x);
#endif
}

// Several elements that one instruction loads or stores.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

// ---- errors in the data ----

DEVICE void report(Fault* fault, int32_t code, int64_t value = 0, int64_t size = 0) {
  if (atomicCAS(&fault->code, 0, -1) != 0) return;  // the first error stays
  fault->value = value;
  fault->size = size;
  __threadfence_system();
  *static_cast<volatile int32_t*>(&fault->code) = code;
}

// ---- the grid ----

DEVICE int64_t thread_index() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE int64_t grid_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

#endif
