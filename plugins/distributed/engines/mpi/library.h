// An MPI library, opened when it is first needed. Two kinds of libraries have one signature for each function and differ
// in their handles: those with the ABI of MPI 5 (MPICH from 5 on, Intel MPI), whose handles are numbers of the standard,
// and Open MPI up to 5, whose handles are addresses of its objects.
#pragma once

#include <lamella/library.h>
#include <lamella/process_group.h>

#include <string>

namespace lamella::mpi {

using Handle = void*;  // of a communicator, a datatype, an operation, a request, …

struct Status {  // both kinds begin with these; the rest is the library's
  int source, tag, error, rest[13];
};

struct Mpi {
  int (*Get_library_version)(char*, int*);
  int (*Initialized)(int*);
  int (*Init_thread)(int*, char***, int, int*);
  int (*Query_thread)(int*);
  int (*Finalize)();
  int (*Comm_size)(Handle, int*);
  int (*Comm_split)(Handle, int color, int key, Handle*);
  int (*Comm_free)(Handle*);
  int (*Comm_group)(Handle, Handle*);
  int (*Comm_set_errhandler)(Handle, Handle);
  int (*Group_incl)(Handle, int, const int*, Handle*);
  int (*Group_free)(Handle*);
  int (*Comm_create_group)(Handle, Handle group, int tag, Handle*);
  int (*Error_string)(int, char*, int*);
  int (*Test)(Handle*, int*, Status*);
  int (*Get_count)(const Status*, Handle, int*);
  int (*Ibarrier)(Handle, Handle*);
  int (*Ibcast)(void*, int, Handle, int, Handle, Handle*);
  int (*Iallreduce)(const void*, void*, int, Handle, Handle, Handle, Handle*);
  int (*Ireduce)(const void*, void*, int, Handle, Handle, int, Handle, Handle*);
  int (*Ireduce_scatter_block)(const void*, void*, int, Handle, Handle, Handle, Handle*);
  int (*Iallgather)(const void*, int, Handle, void*, int, Handle, Handle, Handle*);
  int (*Igather)(const void*, int, Handle, void*, int, Handle, int, Handle, Handle*);
  int (*Iscatter)(const void*, int, Handle, void*, int, Handle, int, Handle, Handle*);
  int (*Ialltoallv)(const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle,
                    Handle*);
  int (*Isend)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*Irecv)(void*, int, Handle, int, int, Handle, Handle*);

  Handle world, null_request, errors_return, byte;
  Handle dtypes[LAMELLA_PLAIN_DTYPES];  // null: the library has no such type
  Handle reductions[LAMELLA_REDUCE_BXOR + 1], logical_or, logical_and, logical_xor;
  int thread_multiple, any_source;
  bool is_mpich;
  std::string version;

  // Raises the error that a function of MPI has returned.
  void check(const char* function, int code) const;
};

// Opens the library that the environment variable LAMELLA_MPI names, else one that the system finds. Raises an error
// that says what to install.
const Mpi& mpi();
// The dtypes that MPI reduces.
uint64_t reduced_dtypes();

inline void* in_place() { return reinterpret_cast<void*>(1); }  // MPI_IN_PLACE

}  // namespace lamella::mpi
