// Operands in the dtype that a kernel works in, without gaps: themselves, or copies.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {

// Half precision is computed in float32.
inline int work_dtype(const lattis_tensor* t) { return t->dtype == LATTIS_FLOAT64 ? LATTIS_FLOAT64 : LATTIS_FLOAT32; }

// An operand as contiguous elements of the dtype of the work: itself, or a copy.
class Packed {
 public:
  lattis_status read(const lattis_value& v, int dtype) {
    if (v.tag != LATTIS_TENSOR) return LATTIS_OK;
    lattis_tensor* t = v.as.tensor;
    if (t->dtype == dtype && is_contiguous(t)) {
      data_ = static_cast<char*>(t->dl.data);
      return LATTIS_OK;
    }
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
      return st;
    holder_ = Tensor::steal(raw);
    data_ = static_cast<char*>(raw->dl.data);
    return copy_into(raw, t);
  }
  const char* data() const { return data_; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  Tensor holder_;
  const char* data_ = nullptr;
};

// A result as contiguous elements of the dtype of the work: itself, or a tensor beside it that is copied at the end.
class PackedOutput {
 public:
  lattis_status open(lattis_tensor* out, int dtype) {
    out_ = out;
    data_ = static_cast<char*>(out->dl.data);
    if (out->dtype == dtype && is_contiguous(out)) return LATTIS_OK;
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(out->dl.ndim, out->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(out), &raw))
      return st;
    beside_ = Tensor::steal(raw);
    data_ = static_cast<char*>(raw->dl.data);
    return LATTIS_OK;
  }
  lattis_status close() const { return beside_ ? copy_into(out_, beside_.get()) : LATTIS_OK; }
  char* data() const { return data_; }

 private:
  Tensor beside_;
  lattis_tensor* out_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace lattis::cpu
