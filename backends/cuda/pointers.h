// Memory and streams of other libraries on the device, given as numbers.
#pragma once

#include "devices.h"

namespace cuda {

// Returns the device whose memory is at an address; -1 for memory of the host and for unknown addresses.
int64_t device_of_pointer(int64_t address);

// Makes the device's current stream wait for the work that is queued now on `stream`, the handle of another library's
// stream.
void wait_for_stream(int64_t device, int64_t stream);

}  // namespace cuda
