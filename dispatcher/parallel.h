// parallel_for: the one way to use several cores. OpenMP's pool, which the matrix library shares.
#pragma once

#include <lattis/c_api.h>

namespace lattis::dispatcher {

// Splits [begin, end) into one chunk a thread, none shorter than `grain`. The caller's chunk is run in pieces, with
// a look at Ctrl-C between them. Returns the first bad status.
lattis_status parallel_for(int64_t begin, int64_t end, int64_t grain, lattis_body body, void* context);

int get_num_threads();
void set_num_threads(int n);

// Raises LATTIS_INTERRUPTED if the host language says so. Cheap: asks at most every 20 ms.
lattis_status check_interrupt();
void set_interrupt_hook(lattis_status (*hook)());

}  // namespace lattis::dispatcher
