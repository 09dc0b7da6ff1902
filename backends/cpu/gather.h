// Common parts of the indexing kernels, which walk a tensor by index tensors.
#pragma once

#include "backends/cpu/index_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/strips.h"

namespace lamella::cpu {

// Raises the error for an index tensor (int64) that holds an index outside of [-wrap, size); the message names the
// first such index.
lamella_status bad_index(lamella_frame* f, const char* argument, const lamella_tensor* index, const Places& p, int dim);

// Checks a whole index tensor. An interrupt ends the check with an error, since the rest of the tensor is not checked.
lamella_status check_indices(lamella_frame* f, const char* argument, const lamella_tensor* index, const Places& p,
                             int dim);

// Returns the indices in int64, in the layout that they have.
inline Operand as_int64(const lamella_tensor* t) { return {t, LAMELLA_INT64, true}; }

// Checks an index tensor (int64) and replaces the indices by offsets in bytes, for kernels that read them several
// times.
lamella_status resolve(lamella_frame* f, const char* argument, int dim, Operand* index, Places* places);

// Copies n whole rows of a contiguous self to a contiguous out, one after another, by an index vector whose elements
// are `is` bytes apart.
lamella_status whole_rows(lamella_frame* f, const char* name, int64_t n, const lamella_tensor* out,
                          const lamella_tensor* self, const lamella_tensor* index, int64_t is, const Places& places,
                          int dim);

// A loop that writes elements at places, and the one for elements of a tensor's size.
using Put = void (*)(const Strip&, const Places&);
inline Put put_of(const lamella_tensor* self) { return index_loops().put[log2_item(itemsize(self))]; }

// Writes a tensor's strides in bytes; 0 for a dimension of size 1.
inline void byte_strides(const lamella_tensor* t, int64_t* out) {
  const int64_t item = itemsize(t);
  for (int i = 0; i < t->dl.ndim; i++) out[i] = t->dl.shape[i] == 1 ? 0 : t->dl.strides[i] * item;
}

}  // namespace lamella::cpu
