// DType: the fifteen element types, their properties and names, and the one promotion table.
#pragma once

#include <lamella/c_api.h>

namespace lamella::core {

using DType = uint8_t;  // enum lamella_dtype

struct DTypeInfo {
  const char* name;     // "float32"
  const char* aliases;  // space-separated: "float"
  uint8_t itemsize;
  uint8_t dtype_class;  // enum lamella_dtype_class
  DLDataType dlpack;
};

extern const DTypeInfo dtype_infos[LAMELLA_NUM_DTYPES];
inline const DTypeInfo& dtype_info(DType t) { return dtype_infos[t]; }
inline int64_t itemsize(DType t) { return dtype_info(t).itemsize; }
inline int dtype_class(DType t) { return dtype_info(t).dtype_class; }

DType dtype_from_name(const char* name);  // LAMELLA_NO_DTYPE if there is none
DType dtype_from_dlpack(DLDataType t);    // LAMELLA_NO_DTYPE if there is none

// The array API standard's table; where it is silent, torch's; LAMELLA_NO_DTYPE where torch refuses.
DType promote(DType a, DType b);

// May a result of dtype `from` be stored into `to` (in-place and out= forms)? Classes may only grow.
bool can_cast(DType from, DType to);

DType default_dtype();
void set_default_dtype(DType t);
DType complex_of(DType floating);

}  // namespace lamella::core
