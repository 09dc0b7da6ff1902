// Words of a generator for kernels that draw random numbers.
#pragma once

#include "graphs.h"
#include "kernels/random.h"

namespace cuda {

// The random words of a kernel. In a capture, `replayed` is device memory with the Stream of a replay, and the kernel's
// words begin stream.counter after that Stream's counter; else `replayed` is 0, and the words begin at `stream`.
struct ReservedWords {
  Stream stream;
  CUdeviceptr replayed = 0;
};
// Takes `count` words of a generator (undefined: the device's own) for a kernel on the current stream of a tensor's
// device.
lamella_status reserve_words(const lamella_tensor* on, const lamella::Generator&, uint64_t count, ReservedWords*);
// Writes the seed and the place of the first word as two numbers of 64 bits, for kernels that draw the words again.
lamella_status write_place(const lamella_tensor* to, const ReservedWords&);

}  // namespace cuda
