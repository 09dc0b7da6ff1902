/* Groups of processes: the stores in which processes find each other, and the table of an engine, which moves memory
 * between them. The plugin "distributed" has everything above an engine: operators on tensors, their derivatives, the
 * order of calls, the comparison of calls between ranks, time limits, and the reductions that an engine lacks.
 *
 *   static const lamella_process_group engine = {sizeof engine, 0, reduces, ...};
 *   LAMELLA_LIBRARY(mine, m) { m.interface("process_group.mine", 1, &engine); }
 *
 * The package of an engine has an entry point of the group `lamella.process_groups`; its name is the engine's, and the
 * module that it names is imported when a program first names the engine. The module has a function `load()`, after
 * which the interface is there. The promises of docs/abi.md hold for this file: structs grow only at their end, and are
 * read as far as their `size` says.
 *
 * Note [Turns]  The collectives of one group come one after the other in a process: `submit` is called when the last one
 *   is done. SEND and RECV may be under way beside them, and any number of them. Calls may come on different threads, also
 *   at once. */
#ifndef LAMELLA_PROCESS_GROUP_H
#define LAMELLA_PROCESS_GROUP_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- stores ----------------------------------------------------------------------------------------------------- */

typedef struct lamella_store lamella_store;

/* The functions of a store: bytes by keys, shared between processes. Functions may be called on any thread, and on
 * several at once. Times are in nanoseconds. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  lamella_status (*set)(lamella_store*, const char* key, const void* value, int64_t bytes);
  /* Waits until the key is there. `out` becomes an owned string of bytes. */
  lamella_status (*get)(lamella_store*, const char* key, int64_t timeout, lamella_value* out);
  /* Adds to the number that a key holds as decimal text; a key that is not there counts as 0. */
  lamella_status (*add)(lamella_store*, const char* key, int64_t amount, int64_t* out);
  /* Adds bytes to the end of those that a key holds. */
  lamella_status (*append)(lamella_store*, const char* key, const void* value, int64_t bytes);
  lamella_status (*check)(lamella_store*, const char* const* keys, int32_t n, int32_t* all);
  lamella_status (*wait)(lamella_store*, const char* const* keys, int32_t n, int64_t timeout);
  /* Sets a key to `desired` if it holds `expected`, or if it is not there and `expected` is empty. `out` becomes the
   * value after that; `expected` if the key is not there. */
  lamella_status (*compare_set)(lamella_store*, const char* key, const void* expected, int64_t expected_bytes,
                                const void* desired, int64_t desired_bytes, lamella_value* out);
  lamella_status (*delete_key)(lamella_store*, const char* key, int32_t* deleted);
  lamella_status (*num_keys)(lamella_store*, int64_t* out);
} lamella_store_table;

/* Counted by `retain` and `release` of lamella_api. */
struct lamella_store {
  lamella_object object;
  const lamella_store_table* table;
};

/* ---- collectives ------------------------------------------------------------------------------------------------ */

enum lamella_collective_kind {
  LAMELLA_ALL_REDUCE = 0,
  LAMELLA_REDUCE = 1,
  LAMELLA_BROADCAST = 2,
  LAMELLA_ALL_GATHER = 3,
  LAMELLA_GATHER = 4,
  LAMELLA_SCATTER = 5,
  LAMELLA_REDUCE_SCATTER = 6,
  LAMELLA_ALL_TO_ALL = 7,
  LAMELLA_SEND = 8,
  LAMELLA_RECV = 9,
  LAMELLA_BARRIER = 10
};

enum lamella_reduction {
  LAMELLA_REDUCE_SUM = 0,
  LAMELLA_REDUCE_PRODUCT = 1,
  LAMELLA_REDUCE_MIN = 2,
  LAMELLA_REDUCE_MAX = 3,
  LAMELLA_REDUCE_BAND = 4, /* bit by bit */
  LAMELLA_REDUCE_BOR = 5,
  LAMELLA_REDUCE_BXOR = 6
};

/* One call. Ranks are those within the group. `in` and `out` are memory of `count` elements for each part: all that a
 * rank gives to ALL_REDUCE, REDUCE and BROADCAST; what each rank gives to ALL_GATHER and GATHER; what each rank gets
 * from SCATTER and REDUCE_SCATTER. Parts of several ranks follow one another in the order of ranks. `in` and `out` are
 * equal in ALL_REDUCE, REDUCE and BROADCAST in place; otherwise they do not overlap. Memory that a rank does not need is null. */
typedef struct {
  uint32_t size;
  int32_t kind;      /* enum lamella_collective_kind */
  int32_t reduction; /* enum lamella_reduction */
  int32_t dtype;
  int32_t itemsize;
  int32_t peer; /* the root; of SEND the receiver, of RECV the sender or -1 for any */
  int32_t tag;  /* of SEND and RECV */
  int32_t reserved;
  const void* in;
  void* out;
  int64_t count;
  const int64_t* in_counts; /* of ALL_TO_ALL: elements for each rank, and from each; `submit` alone reads them */
  const int64_t* out_counts;
} lamella_collective;

/* ---- an engine -------------------------------------------------------------------------------------------------- */

enum lamella_engine_flags {
  LAMELLA_ENGINE_HOST_MEMORY = 1 /* between processes of one machine, the plugin may move data itself */
};

/* The interface "process_group.NAME", version 1. A group is the engine's, and so is a work: one collective under way. */
typedef struct {
  uint32_t size;
  uint32_t flags;   /* enum lamella_engine_flags */
  uint64_t reduces; /* the dtypes that the engine reduces, a bit for each; the plugin reduces others itself */
  void* context;
  /* Makes the group of all processes of the store. Called by all of them. */
  lamella_status (*open)(void* context, lamella_store*, int32_t rank, int32_t size, int64_t timeout, void** group);
  /* Makes a group of some ranks of a group. Called by these ranks alone, with equal arguments; `number` differs between
   * groups that are made at once. */
  lamella_status (*split)(void* group, const int32_t* ranks, int32_t n, int32_t number, void** out);
  lamella_status (*submit)(void* group, const lamella_collective*, void** work);
  /* Moves a work on, and says whether it is done. `peer` becomes the sender of RECV. A work that failed raises its error,
   * and is done. */
  lamella_status (*test)(void* work, int32_t* done, int32_t* peer);
  /* Frees a work. One that is not done may still read and write its memory: the plugin frees none of it then. */
  void (*release)(void* work);
  /* Closes a group. `orderly`: every collective is done. Otherwise the engine waits for no other process. */
  void (*close)(void* group, int32_t orderly);
} lamella_process_group;

#ifdef __cplusplus
}
#endif
#endif
