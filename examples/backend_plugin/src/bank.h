// What the parts of this backend share: pointers into a bank, walking strided operands, and conversions.
#pragma once

#include <lattis/extension.h>

namespace bank {

inline constexpr int devices = 2;
inline constexpr int max_operands = 4;

// Note [Bank pointers]  A pointer into bank i carries i + 1 in its top byte, so that no CPU can follow it: whoever
//   reads this memory without asking the backend stops at once. Offsets may be added to it like to any pointer.
inline char* seal(void* host, int32_t index) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(host) | static_cast<uintptr_t>(index + 1) << 56);
}
inline char* open(const void* pointer) {  // also of a host's pointer, which stays as it is
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(pointer) & ((uintptr_t{1} << 56) - 1));
}

const lattis_allocator* memory();  // for lattis_backend
lattis_status copy_bytes(void*, int32_t, void* dst, const void* src, int64_t bytes);

// n elements from one dtype to another; strides in bytes.
using Convert = void (*)(int64_t n, char* to, int64_t to_step, const char* from, int64_t from_step);
Convert conversion(int from, int to);
void store_number(const lattis_value& number, int dtype, char* to);

// One operand of an elementwise walk: where it is, and its strides in bytes along the output's dimensions.
struct Operand {
  char* data;
  int64_t strides[LATTIS_MAX_DIMS];
};
Operand operand(const lattis_tensor* t, const lattis_tensor* out);  // broadcast to out's shape

// Calls body(n, pointers, steps) for each innermost row of out's shape.
template <class Body>
void each_row(const lattis_tensor* out, Operand* operands, int count, Body body) {
  if (out->numel == 0) return;
  const int rows = out->dl.ndim > 0 ? out->dl.ndim - 1 : 0;
  const int64_t n = out->dl.ndim > 0 ? out->dl.shape[rows] : 1;
  int64_t index[LATTIS_MAX_DIMS] = {}, steps[max_operands];
  for (int k = 0; k < count; k++) steps[k] = out->dl.ndim > 0 ? operands[k].strides[rows] : 0;
  for (;;) {
    char* at[max_operands];
    for (int k = 0; k < count; k++) {
      at[k] = operands[k].data;
      for (int d = 0; d < rows; d++) at[k] += index[d] * operands[k].strides[d];
    }
    body(n, at, steps);
    int d = rows - 1;
    while (d >= 0 && ++index[d] == out->dl.shape[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

lattis_status copy_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets);
lattis_status fill_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets);
lattis_status pointwise_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets);

}  // namespace bank
