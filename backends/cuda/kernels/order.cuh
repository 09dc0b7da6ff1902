// Keys whose unsigned order is that of the elements, and rows of tensors that are put in order.
#pragma once
#include "scalars.cuh"
#include "sort.h"

// Keys of the order in which NaN is larger than all, and -0 and 0 are equal.
template <class T>
struct Order;
#define LAMELLA_UNSIGNED_ORDER(T, K)                         \
  template <>                                                \
  struct Order<T> {                                          \
    typedef K Key;                                           \
    static __device__ Key of(T x) { return x; }              \
  };
#define LAMELLA_SIGNED_ORDER(T, U, K)                                              \
  template <>                                                                      \
  struct Order<T> {                                                                \
    typedef K Key;                                                                 \
    static __device__ Key of(T x) { return (U)((U)x ^ (U)(U(1) << (sizeof(U) * 8 - 1))); } \
  };
LAMELLA_UNSIGNED_ORDER(bool8, u32)
LAMELLA_UNSIGNED_ORDER(u8, u32)
LAMELLA_UNSIGNED_ORDER(u16, u32)
LAMELLA_UNSIGNED_ORDER(u32, u32)
LAMELLA_UNSIGNED_ORDER(u64, u64)
LAMELLA_SIGNED_ORDER(i8, u8, u32)
LAMELLA_SIGNED_ORDER(i16, u16, u32)
LAMELLA_SIGNED_ORDER(i32, u32, u32)
LAMELLA_SIGNED_ORDER(i64, u64, u64)

// Returns the key of a float from its bits; `infinite` has the bits of the infinity of this width.
template <class U>
DEVICE U float_order(U bits, U infinite) {
  const U top = U(1) << (sizeof(U) * 8 - 1), size = bits & (U)~top;
  if (size > infinite) return (U)~U(0);
  if (size == 0) return top;
  return bits & top ? (U)~bits : (U)(bits | top);
}
template <>
struct Order<float16> {
  typedef u32 Key;
  static __device__ Key of(float16 x) { return float_order<u16>(x.bits, 0x7c00); }
};
template <>
struct Order<bfloat16> {
  typedef u32 Key;
  static __device__ Key of(bfloat16 x) { return float_order<u16>(x.bits, 0x7f80); }
};
template <>
struct Order<float> {
  typedef u32 Key;
  static __device__ Key of(float x) { return float_order<u32>(bits_as<u32>(x), 0x7f800000u); }
};
template <>
struct Order<double> {
  typedef u64 Key;
  static __device__ Key of(double x) { return float_order<u64>(bits_as<u64>(x), 0x7ff0000000000000ull); }
};

DEVICE i64 row_begin(const SortRows& r, i64 row) {
  return row / r.inner * r.outer_stride + row % r.inner * r.inner_stride;
}
