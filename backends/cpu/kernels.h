// The CPU's kernels, one group a file. Most kernels are C++ functions that take the lamella_frame* if they need it, the
// schema's arguments, then the outputs, and return a status; Note [Results] in <lamella/kernel.h> has the other forms.
// Each file registers its kernels in a block LAMELLA_LIBRARY_IMPL(aten, cpu, m), which runs after plugin.cpp has
// registered the backend.
#pragma once

#include <lamella/kernel.h>
#include <lamella/operands.h>

namespace lamella::cpu {

// Registers a kernel that calls no operators: add<cumsum>(m, "cumsum").
template <auto Kernel>
void add(Library& m, const char* op, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  m.impl<Kernel>(op, "cpu", 0, file, line);
}

// Registers a kernel that takes any dtype, since it only moves elements or converts them through float32.
template <auto Kernel>
void add_for_any_dtype(Library& m, const char* op, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  m.impl<Kernel>(op, "cpu", LAMELLA_KERNEL_ANY_DTYPE, file, line);
}

// Returns a status other than LAMELLA_OK if the user interrupts the program.
inline int interrupted() { return api().check_interrupt(); }

// Returns the class of a dtype, one of enum lamella_dtype_class.
inline uint32_t class_of(int dtype) { return dtype_class(static_cast<ScalarType>(dtype)); }

// The least elements of a chunk that make a second thread worthwhile: about 20 µs of streaming work.
inline constexpr int64_t grain = 32768;

// The frame's context is the lamella_pointwise to compute; if it is null, the operator's own is computed.
lamella_status pointwise_kernel(lamella_frame*, const lamella_value*, lamella_value*);

// Returns whether a tensor has four dimensions, its channels as neighbours, and no gaps between pixels or images.
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
// Does what copy_ does between two host tensors that share no elements. `later` says that the caller does not read the
// result at once, so that smaller results are written past the caches, too.
lamella_status copy_into(const lamella_tensor* dst, const lamella_tensor* src, bool later);
inline lamella_status copy_into(const lamella_tensor* dst, const lamella_tensor* src) {
  return copy_into(dst, src, false);
}
using Operand = OperandBy<copy_into>;
using Result = ResultBy<copy_into>;

// Returns the dtype that floating numbers are computed in: float64 for float64, else float32.
inline int work_dtype(const lamella_tensor* t) {
  return t->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
}

// Does what fill_ does.
lamella_status fill_with(const Scalar& number, const lamella_tensor* t);

}  // namespace lamella::cpu
