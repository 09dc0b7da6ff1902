/* The interface "distributed", version 1: stores, groups of processes, and the work that is under way. Collectives are
 * operators of the namespace c10d, which take the name of a group.
 *
 *   const lamella_distributed& d = lamella::distributed_interface();
 *   lamella_store* store;
 *   lamella::check(d.file_store("/tmp/rendezvous", 2, &store));
 *   const lamella_group_options group = {sizeof group, rank, 2, 0, minutes, LAMELLA_GROUP_COMPARES, 0, "mpi", "", "world"};
 *   lamella::check(d.open_group(&group, store));
 *   // c10d::all_reduce(x, "sum", "world")
 *
 * The promises of docs/abi.md hold for this file: structs grow only at their end. Times are in nanoseconds. */
#ifndef LAMELLA_DISTRIBUTED_H
#define LAMELLA_DISTRIBUTED_H

#include <lamella/process_group.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t size;
  int32_t port; /* of a server 0: any that is free */
  const char* host;
  int32_t world_size; /* 0: not known */
  int32_t server;     /* whether this process runs the server */
  int32_t wait_for_workers;
  int32_t reserved;
  int64_t timeout;
} lamella_tcp_store;

enum lamella_group_flags {
  LAMELLA_GROUP_COMPARES = 1, /* each call is compared between ranks before data moves */
  LAMELLA_GROUP_ORDERED = 2,  /* reductions add in the order of ranks: their bits depend on values and ranks alone */
  LAMELLA_GROUP_SHARES_MEMORY = 4 /* between processes of one machine data moves by shared memory */
};

typedef struct {
  uint32_t size;
  int32_t rank; /* within the group */
  int32_t num_ranks;
  int32_t reserved;
  int64_t timeout;
  uint32_t flags; /* enum lamella_group_flags */
  int32_t number; /* of a part of a group: differs between parts that are made at once */
  const char* engine;
  const char* part_of;  /* the name of the group that `ranks` are of; "" or null: all processes of a store */
  const char* name;     /* the name of the new group */
  const int32_t* ranks; /* of a part: its ranks in the whole group, in the order of ranks in the part */
} lamella_group_options;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* group;
  int64_t first_bucket_bytes; /* of the first bucket, which is reduced soon; 0 and below: a bucket for each tensor */
  int64_t bucket_bytes;       /* of the others */
} lamella_reducer_options;

/* Reduces the gradients of a bucket in another way than by their mean over the ranks. `begin` is called during backward,
 * in the order of buckets, and `end` when backward has ended; then `gradients` has to hold the result. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  lamella_status (*begin)(void* context, int32_t bucket, int32_t last, lamella_tensor* gradients);
  lamella_status (*end)(void* context, int32_t bucket, lamella_tensor* gradients);
  void (*destroy)(void* context); /* nullable */
} lamella_bucket_hook;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  /* Stores; the caller owns them. */
  lamella_status (*hash_store)(lamella_store** out);
  lamella_status (*prefix_store)(const char* prefix, lamella_store* inner, lamella_store** out);
  /* `world_size` processes use the file, and the last of them that releases its store removes it. With 0 the file
   * stays. */
  lamella_status (*file_store)(const char* path, int32_t world_size, lamella_store** out);
  lamella_status (*tcp_store)(const lamella_tcp_store*, lamella_store** out, int32_t* port);

  /* Groups, by their names. All processes of a store open a group at once; all ranks of a part make the part at once. */
  lamella_status (*open_group)(const lamella_group_options*, lamella_store*);
  /* Closes a group; nothing happens if there is none. Calls under way fail. */
  lamella_status (*close_group)(const char* name);

  /* Work: an owned object for the collective that was started last on just the tensor's memory; null: none is known. */
  lamella_status (*work_of)(lamella_tensor*, lamella_object** out);
  /* Waits for the collectives that write the tensor's memory, and those that read it if `writes` is not 0. */
  lamella_status (*settle)(lamella_tensor*, int32_t writes);
  /* Waits until the work is done; a negative timeout is none, since the group limits each collective. Raises the error
   * of a work that failed. */
  lamella_status (*wait)(lamella_object* work, int64_t timeout);
  lamella_status (*test)(lamella_object* work, int32_t* done);
  /* The sender's rank within the group, of a receipt that is done; else -1. */
  lamella_status (*sender)(lamella_object* work, int32_t* rank);
  /* Makes a window: memory of `bytes` bytes in each rank, which all ranks of a machine have mapped, so that collectives in
   * place need no copies there. Called by all ranks. `out` becomes this rank's memory, a tensor of uint8 with zeros. In a group of
   * several machines, or without LAMELLA_GROUP_SHARES_MEMORY, the memory is the rank's own. */
  lamella_status (*window)(const char* group, int64_t bytes, lamella_tensor** out);
  /* Records the calls of this process from now on in a file, which survives any end of the process; `lamella flight`
   * reads it. `where` (nullable) writes the name of the file, and the line, that calls a collective on this thread, and
   * returns 0 if there is none. */
  lamella_status (*record)(const char* path, int32_t rank, int32_t num_ranks,
                           int32_t (*where)(char* file, int32_t room, int32_t* line));

  /* Averages the gradients of leaves over the ranks of a group in each backward, while it runs. Called by all ranks, with
   * leaves of equal shapes and dtypes. `out` becomes an owned object; once it is freed, backward is as before. Each
   * gradient becomes a view of a bucket. */
  lamella_status (*reducer)(lamella_tensor* const* leaves, int32_t n, const lamella_reducer_options*,
                            lamella_object** out);
  /* Whether the backwards that begin from now on average gradients. */
  lamella_status (*reducer_sync)(lamella_object* reducer, int32_t on);
  /* Sets a factor, 1 at first: each gradient is multiplied by it before the mean is taken. */
  lamella_status (*reducer_factor)(lamella_object* reducer, double factor);
  /* Copied; a reducer takes one hook. */
  lamella_status (*reducer_hook)(lamella_object* reducer, const lamella_bucket_hook*);
  /* Takes part in one backward of the other ranks, with zeros. */
  lamella_status (*reducer_shadow)(lamella_object* reducer);
  /* `gradients` becomes the memory of a bucket, owned, and `leaves` the numbers of its leaves, valid until the next
   * backward. `gradients` becomes null, without an error, for a number that no bucket has. */
  lamella_status (*reducer_bucket)(lamella_object* reducer, int32_t bucket, lamella_tensor** gradients,
                                   const int32_t** leaves, int32_t* n);
} lamella_distributed;

#ifdef __cplusplus
}

#include <lamella/error.h>

namespace lamella {

/* Returns the interface "distributed"; throws if no plugin has published it. */
LAMELLA_HIDDEN inline const lamella_distributed& distributed_interface() {
  const auto* found = static_cast<const lamella_distributed*>(api().find_interface("distributed", 1));
  if (!found) throw Error(LAMELLA_RUNTIME_ERROR, "the plugin 'distributed' is not loaded: install or allow it");
  return *found;
}

}  // namespace lamella
#endif
#endif
