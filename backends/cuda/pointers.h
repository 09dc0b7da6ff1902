// Memory and streams of other libraries on the device, by the numbers that they name them with.
#pragma once

#include "devices.h"

namespace cuda {

// The device whose memory an address is; -1 for memory of the host, and for addresses that the driver does not know.
int64_t device_of_pointer(int64_t address);

// The current stream of a device waits for what another library has queued on a stream of its own.
void wait_for_stream(int64_t device, int64_t stream);

}  // namespace cuda
