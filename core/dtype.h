// DType: the element types, their properties and names, and the one promotion table.
//
// Note [Dtypes]  The plain dtypes, below LAMELLA_PLAIN_DTYPES, have arithmetic: every kernel takes them. The library's
//   other dtypes, such as float8_e5m2, only hold numbers. Plugins register further dtypes, whose numbers start at
//   LAMELLA_FIRST_PLUGIN_DTYPE. A tensor of a dtype that is not plain has the restricted key, so that the dispatcher
//   gives it only to kernels that declare that they take it. All conversions of dtypes that are not plain go through
//   float32.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::core {

using DType = uint8_t;  // enum lamella_dtype

struct DTypeInfo {
  const char* name;     // "float32"; null: there is no such dtype
  const char* aliases;  // the one other name: "float"; "" if there is none
  uint8_t itemsize;
  uint8_t dtype_class;  // enum lamella_dtype_class
  DLDataType dlpack;
  void (*to_float32)(int64_t n, const void* from, float* to);  // null for a plain dtype
  void (*from_float32)(int64_t n, const float* from, void* to);
  // The promotions that a plugin declared, by the other dtype: the result, LAMELLA_NO_DTYPE if nothing is declared, or
  // LAMELLA_THIS_DTYPE if the plugin declared that the two do not promote. Null for the library's dtypes.
  const DType* partners;
  bool withdrawn;  // tensors that have the dtype keep it; is_dtype() and dtype_from_...() do not find it
};

extern DTypeInfo dtype_infos[256];
inline const DTypeInfo& dtype_info(DType t) { return dtype_infos[t]; }
inline int64_t itemsize(DType t) { return dtype_info(t).itemsize; }
inline int dtype_class(DType t) { return dtype_info(t).dtype_class; }
inline bool is_plain(DType t) { return t < LAMELLA_PLAIN_DTYPES; }
inline bool is_dtype(int64_t t) {
  return t >= 0 && t < LAMELLA_NO_DTYPE && __atomic_load_n(&dtype_infos[t].name, __ATOMIC_ACQUIRE) &&
         !__atomic_load_n(&dtype_infos[t].withdrawn, __ATOMIC_ACQUIRE);
}
// Returns the next number after `t` that has a name, withdrawn dtypes included; LAMELLA_NO_DTYPE after the last one.
// The numbers of plugins start at LAMELLA_FIRST_PLUGIN_DTYPE and have no gaps.
inline int next_dtype(int t) {
  const auto named = [](int k) { return __atomic_load_n(&dtype_infos[k].name, __ATOMIC_ACQUIRE) != nullptr; };
  if (++t < LAMELLA_FIRST_PLUGIN_DTYPE && !named(t)) t = LAMELLA_FIRST_PLUGIN_DTYPE;
  return t < LAMELLA_NO_DTYPE && named(t) ? t : LAMELLA_NO_DTYPE;
}
bool is_signed(DType t);  // whether it can hold negative numbers; false for bool

// Adds a plugin's dtype, under the number that its name had before, if any. The caller holds the registry's lock and
// has checked the description.
lamella_status add_dtype(const lamella_dtype_def&, const std::string& owner, DType* out);
void withdraw_dtype(DType t);

DType dtype_from_name(const char* name);  // LAMELLA_NO_DTYPE if there is none
DType dtype_from_dlpack(DLDataType t);    // LAMELLA_NO_DTYPE if there is none

// Promotes by the array API standard's table, and by torch's where the standard is silent; LAMELLA_NO_DTYPE where torch
// refuses. A plugin's dtype promotes as its plugin declared, else to the dtype of the higher class; LAMELLA_NO_DTYPE
// if the classes are equal. The library's dtypes that are not plain promote only as a plugin declared.
DType promote(DType a, DType b);

// Returns whether a result of dtype `from` may be stored into `to` (in-place and out= forms): the
// class of `to` must not be lower.
bool can_cast(DType from, DType to);

DType default_dtype();
void set_default_dtype(DType t);
DType complex_of(DType floating);

}  // namespace lamella::core
