/* The interface "profiler.memory", version 1: between the native plugin and its face in the host's language. */
#pragma once

#include <lamella/library.h>

enum lamella_memory_flags {
  LAMELLA_MEMORY_BLOCKS = 1, /* blocks that are alive, and counts */
  LAMELLA_MEMORY_MAKERS = 2, /* of each block the operator that made it */
  LAMELLA_MEMORY_STACKS = 4  /* and the stack of the host's language */
};

enum lamella_memory_kind { LAMELLA_MEMORY_ALLOC = 0, LAMELLA_MEMORY_FREE = 1, LAMELLA_MEMORY_OOM = 2 };

/* A block, or an event. Borrowed for the visit. */
typedef struct {
  uint32_t size;
  uint32_t kind;    /* enum lamella_memory_kind */
  uint64_t number;  /* of the event; of a block that of its allocation */
  int64_t time;     /* nanoseconds since 1970 */
  uint64_t thread;  /* the system's number */
  const void* data; /* null: of an allocation that failed */
  int64_t bytes;
  lamella_device device;
  const char* maker; /* the operator, step of backward or named block; or null */
  uint64_t stack;    /* the host's number; 0: none */
  int32_t dtype;     /* of the first tensor that an operator returned over it, or -1 */
  int32_t ndim;
  const int64_t* shape;
} lamella_memory_record;

typedef struct {
  int64_t live_bytes, peak_bytes, live_blocks, peak_blocks;
  int64_t allocations, allocated_bytes, frees, freed_bytes;
  int64_t largest_live_bytes, largest_bytes; /* a block that is alive, and that ever was since peaks were reset */
} lamella_memory_counts;

typedef lamella_status (*lamella_memory_visit)(void* context, const lamella_memory_record*);
typedef uint64_t (*lamella_memory_capture)(void);
/* Writes a line to `text`, of `room` bytes with the final zero. */
typedef void (*lamella_memory_describe)(uint64_t stack, char* text, uint64_t room);

/* What a snapshot is told to: all of one moment. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  lamella_memory_visit block; /* those that are alive, the oldest first */
  lamella_memory_visit event; /* the last ones, the oldest first */
  lamella_status (*device)(void* context, lamella_device, const lamella_memory_counts*);
  uint64_t dropped; /* set: how many older events are lost */
} lamella_memory_snapshot;

typedef struct {
  uint32_t size;
  lamella_status (*switch_on)(uint32_t flags, uint64_t max_entries); /* adds to what is on */
  void (*switch_off)(void);
  uint32_t (*flags)(void);
  void (*set_stacks)(lamella_memory_capture, lamella_memory_describe);
  lamella_status (*snapshot)(lamella_memory_snapshot*);
  void (*counts)(lamella_device, lamella_memory_counts* out);
  void (*reset_counts)(lamella_device, uint32_t what); /* a set of enum lamella_stats */
} lamella_profiler_memory;
