// The CPU's kernels, one group a file. A kernel is a C++ function: it takes the schema's arguments, then the outputs
// that it writes, and returns its status.
#pragma once

#include <lamella/kernel.h>
#include <lamella/operands.h>

namespace lamella::cpu {

// Registers kernels, which call no operators: add<cumsum>(m, "cumsum").
template <auto Kernel>
void add(Library& m, const char* op, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  m.impl<Kernel>(op, "cpu", 0, file, line);
}

// Registers kernels that take any dtype, as they move elements or convert them through float32.
template <auto Kernel>
void add_for_any_dtype(Library& m, const char* op, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  m.impl<Kernel>(op, "cpu", LAMELLA_KERNEL_ANY_DTYPE, file, line);
}

// enum lamella_dtype_class
inline uint32_t class_of(int dtype) { return dtype_class(static_cast<ScalarType>(dtype)); }

// Elements per chunk below which a second thread does not pay: about 20 µs of streaming work.
inline constexpr int64_t grain = 32768;

lamella_status pointwise_kernel(lamella_frame*, const lamella_value*,
                                lamella_value*);  // context: lamella_pointwise, or null for the operator's own

void register_pointwise(Library& m);
void register_reductions(Library& m);
void register_indexing(Library& m);
void register_index_rows(Library& m);
void register_nonzero(Library& m);
void register_random(Library& m);
void register_complex(Library& m);
void register_matmul(Library& m);
void register_added_products(Library& m);
void register_scans(Library& m);
void register_softmax(Library& m);
void register_normalization(Library& m);
void register_convolution(Library& m);
void register_convolution_backward(Library& m);
void register_pooling(Library& m);
void register_resampling(Library& m);
void register_gather(Library& m);
void register_joining(Library& m);
void register_repeating(Library& m);
void register_flipping(Library& m);
void register_triangles(Library& m);
void register_copies(Library& m);
void register_fill(Library& m);
void register_attention(Library& m);
void register_recurrent(Library& m);
void register_sort(Library& m);
void register_updates(Library& m);
void register_searching(Library& m);

// Whether the channels of four dimensions are neighbours, and nothing lies between pixels.
inline bool lies_channels_last(const lamella_tensor* t) {
  if (t->dl.ndim != 4) return false;
  int64_t step = 1;
  for (int d : {1, 3, 2, 0}) {
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != step) return false;
    step *= t->dl.shape[d];
  }
  return true;
}

// Writes a number into one element of the dtype.
void store_number(const lamella_value& number, int dtype, void* to);
// copy_ between two host tensors, as a plain function. `later`: the caller does not read the result at once, so that
// smaller ones are written past the caches, too.
lamella_status copy_into(const lamella_tensor* dst, const lamella_tensor* src, bool later);
inline lamella_status copy_into(const lamella_tensor* dst, const lamella_tensor* src) {
  return copy_into(dst, src, false);
}
using Operand = OperandBy<copy_into>;
using Result = ResultBy<copy_into>;

// The dtype that floating numbers are computed in where float64 stays itself: half precision is computed in float32.
inline int work_dtype(const lamella_tensor* t) {
  return t->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
}

// fill_ as a plain function.
lamella_status fill_with(const Scalar& number, const lamella_tensor* t);

}  // namespace lamella::cpu
