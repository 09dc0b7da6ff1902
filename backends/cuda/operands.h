// Operands of the heavier kernels: copies in plain layout, and work space.
#pragma once

#include <lamella/operands.h>

#include "faults.h"
#include "launch.h"

namespace cuda {

using lamella::is_half;
using lamella::nothing_indexed;
using lamella::Scalar;
using lamella::size_along;
using lamella::Status;
using lamella::stride_along;
using lamella::Tensor;
using lamella::TensorList;
using lamella::wide_of;
using lamella::wrapped_dim;
using IntList = lamella::ArrayRef<int64_t>;

// Registers a typed kernel, which calls no operators: add<cumsum>(m, "cumsum").
template <auto Kernel>
void add(lamella::Library& m, const char* op, uint32_t flags = 0, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) {
  m.impl<Kernel>(op, "cuda", flags, file, line);
}

// Returns the product of the sizes of dimensions `first` to `behind` - 1.
int64_t count_of(const lamella_tensor* t, int first, int behind);

inline int item_of(int dtype) { return static_cast<int>(lamella::itemsize(lamella::ScalarType(dtype))); }
// Returns the type of an element that is only moved: "uint32_t".
const char* word_name(int bytes);

inline Tensor empty_on(const lamella_tensor* on, IntList sizes, int dtype) {
  return lamella::allocate(sizes, dtype, lamella::device_of(on));
}
// Returns memory for a kernel. It is free again when the tensor goes, for work that is queued later on the stream.
inline Tensor space_on(const lamella_tensor* on, int64_t bytes) {
  return empty_on(on, {bytes > 16 ? bytes : 16}, LAMELLA_UINT8);
}
template <class T = char>
T* data_of(const lamella_tensor* t) {
  return static_cast<T*>(t->dl.data);
}
template <class T = char>
T* data_of(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.get()->dl.data) : nullptr;
}
lamella_status clear(const lamella_tensor* t);  // writes zeros to a contiguous tensor
// Copies `from` to `to` as copy_ does, with a conversion and broadcasting. `from` must be on the device and share no
// memory with `to`.
lamella_status assign(const lamella_tensor* to, const lamella_tensor* from);
// Returns a copy in plain layout.
Tensor copy_of(const lamella_tensor* t);
// Operands and results in plain layout, copied by assign() if need be.
using Operand = lamella::OperandBy<assign>;
using Result = lamella::ResultBy<assign>;
// Returns another view of the tensor's memory.
Tensor view_of(const lamella_tensor* t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset = 0);

// Waits for the stream and reads an element of 64 bits.
int64_t read_number(const lamella_tensor* t, int64_t at);

// Returns the most elements, up to `most`, that one load can read at these addresses in rows of `length` elements.
int pack_width(int item, int64_t length, std::initializer_list<const void*> addresses, int most = 8);

// Returns the blocks of a kernel whose threads each take an element and walk on in steps of the grid.
inline Dim grid_for(const lamella_tensor* on, int64_t n, unsigned block = 256) { return blocks_for(on, n, block); }

// radix_sort() sorts `count` keys by their lowest `bits`, rounded up to a multiple of 8, and moves `numbers` along. If
// `numbers` is undefined, each key gets its own place before the sort as its number. Keys and numbers have 4 or 8
// bytes. The given tensors stay as they are.
struct Sorted {
  Tensor keys, numbers;
};
Sorted radix_sort(const Tensor& keys, const Tensor& numbers, int64_t count, int bits, int number_bytes);
inline int bits_of(uint64_t most) {
  int bits = 1;
  while (bits < 64 && most >> bits) bits++;
  return bits;
}

}  // namespace cuda
