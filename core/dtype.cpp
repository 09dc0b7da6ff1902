#include "core/dtype.h"

#include <atomic>
#include <cstring>
#include <string>

namespace lamella::core {
namespace {

constexpr uint8_t B = LAMELLA_CLASS_BOOL, I = LAMELLA_CLASS_INTEGRAL, F = LAMELLA_CLASS_FLOATING,
                  C = LAMELLA_CLASS_COMPLEX;

std::atomic<DType> default_floating{LAMELLA_FLOAT32};

bool is_signed(DType t) { return t >= LAMELLA_INT8 && t <= LAMELLA_INT64; }

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return itemsize(a) >= itemsize(b) ? a : b;
  DType s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (itemsize(s) > itemsize(u)) return s;
  switch (itemsize(u)) {
    case 1:
      return LAMELLA_INT16;
    case 2:
      return LAMELLA_INT32;
    case 4:
      return LAMELLA_INT64;
    default:
      return LAMELLA_NO_DTYPE;  // uint64 with a signed integer: no integer type holds both
  }
}

}  // namespace

const DTypeInfo dtype_infos[LAMELLA_NUM_DTYPES] = {
    {"bool", "", 1, B, {kDLBool, 8, 1}},
    {"uint8", "", 1, I, {kDLUInt, 8, 1}},
    {"uint16", "", 2, I, {kDLUInt, 16, 1}},
    {"uint32", "", 4, I, {kDLUInt, 32, 1}},
    {"uint64", "", 8, I, {kDLUInt, 64, 1}},
    {"int8", "", 1, I, {kDLInt, 8, 1}},
    {"int16", "short", 2, I, {kDLInt, 16, 1}},
    {"int32", "int", 4, I, {kDLInt, 32, 1}},
    {"int64", "long", 8, I, {kDLInt, 64, 1}},
    {"float16", "half", 2, F, {kDLFloat, 16, 1}},
    {"bfloat16", "", 2, F, {kDLBfloat, 16, 1}},
    {"float32", "float", 4, F, {kDLFloat, 32, 1}},
    {"float64", "double", 8, F, {kDLFloat, 64, 1}},
    {"complex64", "cfloat", 8, C, {kDLComplex, 64, 1}},
    {"complex128", "cdouble", 16, C, {kDLComplex, 128, 1}},
};

DType dtype_from_name(const char* name) {
  for (DType t = 0; t < LAMELLA_NUM_DTYPES; t++)
    if (!std::strcmp(name, dtype_infos[t].name) ||
        (*dtype_infos[t].aliases && !std::strcmp(name, dtype_infos[t].aliases)))
      return t;
  return LAMELLA_NO_DTYPE;
}

DType dtype_from_dlpack(DLDataType d) {
  for (DType t = 0; t < LAMELLA_NUM_DTYPES; t++)
    if (d.code == dtype_infos[t].dlpack.code && d.bits == dtype_infos[t].dlpack.bits && d.lanes == 1) return t;
  return LAMELLA_NO_DTYPE;
}

DType complex_of(DType floating) {
  return floating == LAMELLA_FLOAT64 || floating == LAMELLA_COMPLEX128 ? LAMELLA_COMPLEX128 : LAMELLA_COMPLEX64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  int ca = dtype_class(a), cb = dtype_class(b);
  if (ca < cb) return promote(b, a);
  if (ca == cb) {
    if (ca == I) return promote_integers(a, b);
    if (ca == F && itemsize(a) == itemsize(b)) return LAMELLA_FLOAT32;  // float16 with bfloat16
    return itemsize(a) >= itemsize(b) ? a : b;
  }
  if (ca == C && cb == F) return complex_of(b) > a ? complex_of(b) : a;
  return a;  // the higher class wins
}

bool can_cast(DType from, DType to) { return dtype_class(from) <= dtype_class(to); }

DType default_dtype() { return default_floating.load(std::memory_order_relaxed); }
void set_default_dtype(DType t) { default_floating.store(t, std::memory_order_relaxed); }

}  // namespace lamella::core
