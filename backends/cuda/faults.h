// Errors that a kernel meets in its data, as an index that is out of range: it writes them down in host memory, and the
// next function that waits for the stream raises them.
#pragma once

#include "devices.h"
#include "kernels/fault.h"

namespace cuda {

// A kind of fault, once for each kernel that can meet it. The text may have {value} and {size}.
int32_t add_fault(int kind, std::string text);

// The place where the kernels of this stream write; its address is the same on host and device.
Fault* fault_of(int device, CUstream stream);
inline Fault* fault_of(const lamella_tensor* on) { return fault_of(index_of(on), current_stream(index_of(on))); }

// Raises the fault of a stream, or of all streams of a device, and forgets it.
lamella_status raise_fault(int device, CUstream stream);
lamella_status raise_faults(int device);
// Waits for `stream` raise the faults of `of`, too: of the stream that a graph was captured on.
void follow_faults(int device, CUstream stream, CUstream of);

}  // namespace cuda
