// arange.start_step: out[i] = start + i * step.
#include "common.cuh"

template <class Made, class Out>
__global__ void arange(Out* out, int64_t n, Made start, Made step) {
  for (int64_t i = thread_index(); i < n; i += grid_threads())
    out[i] = convert<Out>(static_cast<Made>(start + static_cast<Made>(i) * step));
}
