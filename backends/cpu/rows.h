// The rows of a tensor along one dimension.
#pragma once

#include <lamella/library.h>

namespace lamella::cpu {

// The rows along `dim`, numbered in the row-major order of the other dimensions; start() is the address of a row.
struct Rows {
  int dim, ndim;
  int64_t length, count, sizes[LAMELLA_MAX_DIMS];
  Rows(const lamella_tensor* t, int d) : dim(d), ndim(t->dl.ndim), length(ndim ? t->dl.shape[d] : 1), count(1) {
    for (int i = 0; i < ndim; i++) {
      sizes[i] = i == d ? 1 : t->dl.shape[i];
      count *= sizes[i];
    }
  }
  char* start(const lamella_tensor* t, int64_t row) const {
    int64_t offset = 0;
    for (int i = ndim - 1; i >= 0; i--) {
      offset += row % sizes[i] * t->dl.strides[i];
      row /= sizes[i];
    }
    return static_cast<char*>(t->dl.data) + offset * itemsize(t);
  }
  int64_t stride(const lamella_tensor* t) const { return ndim ? t->dl.strides[dim] * itemsize(t) : itemsize(t); }
};

}  // namespace lamella::cpu
