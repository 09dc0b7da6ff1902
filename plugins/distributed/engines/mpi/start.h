// The start of MPI in a process that no launcher of MPI has started.
//
// Note [PMI]  A process of MPICH that mpiexec starts has a socket to it, over which MPI asks for its rank, the number of
//   ranks, and the addresses of the others, in lines of text: PMI, version 1. Here each process answers its own MPI, from
//   the store in which the processes of a group find each other anyway. So MPI joins processes of any launcher.
#pragma once

#include <lamella/process_group.h>

#include "library.h"

namespace lamella::mpi {

// Starts MPI, unless it has been started, for the processes of a store.
void start(lamella_store* store, int rank, int size, int64_t timeout);

// Notes that a collective has failed: MPI does not end in order, since other processes may never end it.
void note_failure();

}  // namespace lamella::mpi
