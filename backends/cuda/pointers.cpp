// Reads the driver's facts about an address, and orders work after a stream that another library made.
#include "pointers.h"

#include "launch.h"

namespace cuda {

int64_t device_of_pointer(int64_t address) {
  const auto at = static_cast<CUdeviceptr>(address);
  unsigned kind = 0;
  int index = -1;
  CUcontext now = nullptr;  // any context will do
  driver().context_get(&now);
  if (!now) enter(0);
  if (driver().pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS) return -1;
  if (kind != CU_MEMORYTYPE_DEVICE) return -1;
  require(driver().pointer_attribute(&index, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at),
          "cuda: asking for the device of a pointer");
  return index;
}

void wait_for_stream(int64_t device, int64_t stream) {
  const int at = static_cast<int>(device);
  LAMELLA_CHECK_INDEX(at >= 0 && at < device_count(), "cuda: device 'cuda:", device, "' does not exist; there are ",
                      device_count());
  const auto other = reinterpret_cast<CUstream>(stream);
  const CUstream own = current_stream(at);
  if (other == own) return;
  enter(at);
  CUevent event = nullptr;
  require(driver().event_create(&event, CU_EVENT_DISABLE_TIMING), "cuda: making an event");
  CUresult r = driver().event_record(event, other);
  if (!r) r = driver().stream_wait(own, event, 0);
  driver().event_destroy(event);
  require(r, "cuda: waiting for a stream of another library");
}

}  // namespace cuda
