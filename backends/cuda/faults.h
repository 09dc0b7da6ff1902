// Faults: errors that a kernel finds in its data, such as an index that is out of range. The kernel writes a fault to
// host memory, and the next function that waits for the stream raises it.
#pragma once

#include "devices.h"
#include "kernels/fault.h"

namespace cuda {

// Registers a fault with the error's kind and message, and returns the code that kernels report. Each call adds one
// more, so a caller keeps its code. In the message {value} and {size} stand for numbers that the kernel reports.
int32_t add_fault(int kind, std::string text);

// Returns the place where the kernels of this stream write faults. Its address is the same on host and device.
Fault* fault_of(int device, CUstream stream);
inline Fault* fault_of(const lamella_tensor* on) { return fault_of(index_of(on), current_stream(index_of(on))); }

// raise_fault() raises and clears the fault of a stream, or of one that follow_faults() has tied to it. raise_faults()
// does so for the first stream of a device with a fault; faults of its other streams stay for later waits.
lamella_status raise_fault(int device, CUstream stream);
lamella_status raise_faults(int device);
// Makes waits for `stream` also raise the faults of `of`, the stream on which a graph was captured.
void follow_faults(int device, CUstream stream, CUstream of);

}  // namespace cuda
