// A kernel that keeps a stream busy.
#include "common.cuh"

__global__ void delay(int64_t microseconds) {
  for (int64_t i = 0; i < microseconds; i++) __nanosleep(1000);
}
