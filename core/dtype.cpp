#include "core/dtype.h"

#include <lamella/float8.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "core/error.h"

namespace lamella::core {
namespace {

constexpr uint8_t B = LAMELLA_CLASS_BOOL, I = LAMELLA_CLASS_INTEGRAL, F = LAMELLA_CLASS_FLOATING,
                  C = LAMELLA_CLASS_COMPLEX;

std::atomic<DType> default_floating{LAMELLA_FLOAT32};

std::string owners[256];                       // of plugins' dtypes
constexpr DType refused = LAMELLA_THIS_DTYPE;  // among `partners`: a plugin declared that the two do not promote

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

template <class T>
void to_float32(int64_t n, const void* from, float* to) {
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(static_cast<const T*>(from)[i]);
}
template <class T>
void from_float32(int64_t n, const float* from, void* to) {
  for (int64_t i = 0; i < n; i++) static_cast<T*>(to)[i] = T(from[i]);
}
// Describes a dtype that stores numbers and has no arithmetic, such as float8_e5m2.
template <class T>
constexpr DTypeInfo holder(const char* name, uint8_t dlpack_code) {
  return {name, "", sizeof(T), F, {dlpack_code, 8 * sizeof(T), 1}, to_float32<T>, from_float32<T>, nullptr, false};
}

}  // namespace

DTypeInfo dtype_infos[256] = {
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
    holder<float8_e4m3fn>("float8_e4m3fn", kDLFloat8_e4m3fn),
    holder<float8_e5m2>("float8_e5m2", kDLFloat8_e5m2),
};

bool is_signed(DType t) {
  const DTypeInfo& info = dtype_info(t);
  return info.dtype_class != B && info.dlpack.code != kDLUInt;
}

DType dtype_from_name(const char* name) {
  for (int t = 0; t < LAMELLA_NO_DTYPE; t = next_dtype(t))
    if (is_dtype(t) && (!std::strcmp(name, dtype_infos[t].name) ||
                        (*dtype_infos[t].aliases && !std::strcmp(name, dtype_infos[t].aliases))))
      return static_cast<DType>(t);
  return LAMELLA_NO_DTYPE;
}

DType dtype_from_dlpack(DLDataType d) {
  if (d.code == kDLOpaqueHandle) return LAMELLA_NO_DTYPE;
  for (int t = 0; t < LAMELLA_NO_DTYPE; t = next_dtype(t)) {
    const DLDataType own = dtype_infos[t].dlpack;
    if (is_dtype(t) && d.code == own.code && d.bits == own.bits && d.lanes == own.lanes) return static_cast<DType>(t);
  }
  return LAMELLA_NO_DTYPE;
}

lamella_status add_dtype(const lamella_dtype_def& def, const std::string& owner, DType* out) {
  if (const DType old = dtype_from_name(def.name); old != LAMELLA_NO_DTYPE)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("dtype: '%s' is taken by %s; %s cannot register it too", def.name,
                        old < LAMELLA_FIRST_PLUGIN_DTYPE ? "lamella" : owners[old].c_str(), owner.c_str()));
  int at = -1;
  for (int t = LAMELLA_NO_DTYPE - 1; t >= LAMELLA_FIRST_PLUGIN_DTYPE; t--) {
    const DTypeInfo& old = dtype_infos[t];
    if (old.name && std::strcmp(old.name, def.name)) continue;
    at = t;
    if (!old.name) continue;
    if (old.itemsize != def.itemsize)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("dtype: '%s' was registered with elements of %d bytes, and tensors may still have it",
                          def.name, old.itemsize));
    break;
  }
  if (at < 0)
    return raise(LAMELLA_RUNTIME_ERROR, format("dtype: '%s': all numbers for plugins' dtypes are taken", def.name));
  auto partners = std::make_unique<DType[]>(256);  // never freed: a call may be reading it
  std::fill_n(partners.get(), 256, LAMELLA_NO_DTYPE);
  for (int32_t i = 0; i < def.num_promotions; i++) {
    const auto [with, result] = def.promotions[i];
    partners[with] = result == LAMELLA_THIS_DTYPE ? static_cast<DType>(at)
                     : result == LAMELLA_NO_DTYPE ? refused
                                                  : result;
  }
  DTypeInfo& info = dtype_infos[at];
  info.aliases = "";
  info.itemsize = static_cast<uint8_t>(def.itemsize);
  info.dtype_class = static_cast<uint8_t>(def.dtype_class);
  info.dlpack = def.dlpack;
  info.to_float32 = def.to_float32;
  info.from_float32 = def.from_float32;
  info.partners = partners.release();
  owners[at] = owner;
  __atomic_store_n(&info.withdrawn, false, __ATOMIC_RELEASE);
  if (!info.name) __atomic_store_n(&info.name, strdup(def.name), __ATOMIC_RELEASE);
  *out = static_cast<DType>(at);
  return LAMELLA_OK;
}

void withdraw_dtype(DType t) { __atomic_store_n(&dtype_infos[t].withdrawn, true, __ATOMIC_RELEASE); }

namespace {

// Promotes two dtypes of which at least one is not plain.
DType promote_others(DType a, DType b) {
  for (const DType* declared : {dtype_info(a).partners ? dtype_info(a).partners + b : nullptr,
                                dtype_info(b).partners ? dtype_info(b).partners + a : nullptr})
    if (declared && *declared != LAMELLA_NO_DTYPE) return *declared == refused ? DType{LAMELLA_NO_DTYPE} : *declared;
  for (const DType t : {a, b})
    if (!is_plain(t) && t < LAMELLA_FIRST_PLUGIN_DTYPE) return LAMELLA_NO_DTYPE;
  if (dtype_class(a) == dtype_class(b)) return LAMELLA_NO_DTYPE;
  return dtype_class(a) > dtype_class(b) ? a : b;
}

}  // namespace

DType complex_of(DType floating) {
  return floating == LAMELLA_FLOAT64 || floating == LAMELLA_COMPLEX128 ? LAMELLA_COMPLEX128 : LAMELLA_COMPLEX64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (__builtin_expect(!is_plain(a) || !is_plain(b), 0)) return promote_others(a, b);
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
