// The devices: their contexts, which become current when they are needed, their properties, and the threads' streams.
#pragma once

#include <lamella/extension.h>

#include "driver.h"

namespace cuda {
using lamella::api;
using lamella::fail;

// raise_driver() sets and returns the error for a result of the driver; checked() does so unless the result is
// CUDA_SUCCESS. The message begins with `who`, which says what failed: "cuda: a copy".
lamella_status raise_driver(CUresult, const char* who);
inline lamella_status checked(CUresult r, const char* who) {
  return __builtin_expect(r == CUDA_SUCCESS, 1) ? LAMELLA_OK : raise_driver(r, who);
}
// Throws the error of checked(), if there is one.
inline void require(CUresult r, const char* who) { lamella::check(checked(r, who)); }

struct Properties {
  int capability = 0;                           // 10 * major + minor
  int processors = 0;                           // the number of streaming multiprocessors
  int threads = 0;                              // the most threads that a multiprocessor holds at once
  int shared_bytes = 0, most_shared_bytes = 0;  // a block's shared memory: by default, and at most
  int64_t cache_bytes = 0;                      // the size of the L2 cache
};

// Returns the device's primary context, which CuPy and torch use too. The first call makes it.
CUcontext context_of(int device);
// Makes the context current on this thread. Throws if the device is gone: in a forked child, or at the process's end.
void enter(int device);
const Properties& properties_of(int device);
int device_count();

// Returns the thread's current stream of a device.
CUstream current_stream(int device);
inline int index_of(const lamella_tensor* t) { return t->dl.device.device_id; }
inline CUstream stream_of(int device, void* stream) {
  return stream ? static_cast<CUstream>(stream) : current_stream(device);
}

bool in_forked_child();

void add_streams(lamella::Library&, lamella_backend&);
void add_memory(lamella_backend&);
void add_pinned(lamella_backend&);
void add_copies(lamella_backend&);
void add_properties(lamella_backend&);

}  // namespace cuda
