// Operands in the dtype that a kernel works in, without gaps: themselves, or copies.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {

// Half precision is computed in float32.
inline int work_dtype(const lamella_tensor* t) {
  return t->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
}

// An operand as contiguous elements of the dtype of the work: itself, or a copy.
class Packed {
 public:
  lamella_status read(const lamella_tensor* t, int dtype) {
    if (!t) return LAMELLA_OK;
    if (t->dtype == dtype && is_contiguous(t)) {
      data_ = static_cast<char*>(t->dl.data);
      return LAMELLA_OK;
    }
    lamella_tensor* raw;
    if (lamella_status st =
            api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
      return st;
    holder_ = TensorRef::steal(raw);
    data_ = static_cast<char*>(raw->dl.data);
    return copy_into(raw, t);
  }
  const char* data() const { return data_; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  TensorRef holder_;
  const char* data_ = nullptr;
};

// A result as contiguous elements of the dtype of the work: itself, or a tensor beside it that is copied at the end.
class PackedOutput {
 public:
  lamella_status open(lamella_tensor* out, int dtype) {
    out_ = out;
    data_ = static_cast<char*>(out->dl.data);
    if (out->dtype == dtype && is_contiguous(out)) return LAMELLA_OK;
    lamella_tensor* raw;
    if (lamella_status st =
            api().tensor_empty(out->dl.ndim, out->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(out), &raw))
      return st;
    beside_ = TensorRef::steal(raw);
    data_ = static_cast<char*>(raw->dl.data);
    return LAMELLA_OK;
  }
  lamella_status close() const { return beside_ ? copy_into(out_, beside_.get()) : LAMELLA_OK; }
  char* data() const { return data_; }

 private:
  TensorRef beside_;
  lamella_tensor* out_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace lamella::cpu
