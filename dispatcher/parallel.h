// parallel_for: the one way to use several cores. OpenMP's pool, which the matrix library shares.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

// Splits [begin, end) into one chunk a thread, none shorter than `grain`. The caller's chunk is run in pieces, with
// a look at Ctrl-C between them. Returns the first bad status.
lamella_status parallel_for(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context);

int get_num_threads();
void set_num_threads(int n);

// Raises LAMELLA_INTERRUPTED if the host language says so. Cheap: asks at most every 20 ms.
lamella_status check_interrupt();
void set_interrupt_hook(lamella_status (*hook)());

}  // namespace lamella::dispatcher
