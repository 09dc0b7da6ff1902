// parallel_for: the one way to use several cores. It runs on OpenMP's pool, which the matrix library shares.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

// Splits [begin, end) into one chunk for each thread, none shorter than `grain` unless the range itself is. Within
// another parallel_for, the calling thread runs the whole range. Each chunk runs in pieces: between
// them the caller checks for Ctrl-C, and every thread stops if another one has failed. Returns the first status that is
// an error.
lamella_status parallel_for(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context);

int get_num_threads();
void set_num_threads(int n);

// Raises LAMELLA_INTERRUPTED if the host language reports an interrupt. Cheap: calls the hook at most every 20 ms. On
// the other threads of a team, returns LAMELLA_INTERRUPTED once one of its threads has failed or was interrupted.
lamella_status check_interrupt();
void set_interrupt_hook(lamella_status (*hook)());

}  // namespace lamella::dispatcher
