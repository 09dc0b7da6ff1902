/* The interface "profiler.memory", version 1: used by the plugin's face in the host language. */
#pragma once

#include <lamella/library.h>

enum lamella_memory_flags {
  LAMELLA_MEMORY_BLOCKS = 1, /* record live blocks, and counts */
  LAMELLA_MEMORY_MAKERS = 2, /* also record the maker of each block, and the events */
  LAMELLA_MEMORY_STACKS = 4  /* also record the stack of the host's language */
};

enum lamella_memory_kind { LAMELLA_MEMORY_ALLOC = 0, LAMELLA_MEMORY_FREE = 1, LAMELLA_MEMORY_OOM = 2 };

/* A block, or an event. Borrowed for the visit. */
typedef struct {
  uint32_t size;
  uint32_t kind;    /* enum lamella_memory_kind */
  uint64_t number;  /* the event's number; for a block the number of its allocation */
  int64_t time;     /* nanoseconds since 1970 */
  uint64_t thread;  /* the system's number */
  const void* data; /* null for an allocation that failed */
  int64_t bytes;
  lamella_device device;
  const char* maker; /* the operator, step of backward or named block; or null */
  uint64_t stack;    /* the host's number of the stack, or 0 */
  int32_t dtype;     /* of the first tensor over the block that an operator returned; or -1 */
  int32_t ndim;
  const int64_t* shape;
} lamella_memory_record;

typedef struct {
  int64_t live_bytes, peak_bytes, live_blocks, peak_blocks;
  int64_t allocations, allocated_bytes, frees, freed_bytes;
  int64_t largest_live_bytes, largest_bytes; /* the largest live block, and the largest since peaks were reset */
} lamella_memory_counts;

typedef lamella_status (*lamella_memory_visit)(void* context, const lamella_memory_record*);
typedef uint64_t (*lamella_memory_capture)(void);
/* Writes a line to `text`, which has `room` bytes, the final zero included. */
typedef void (*lamella_memory_describe)(uint64_t stack, char* text, uint64_t room);

/* Visitors that receive a snapshot, all of which is of one moment. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  lamella_memory_visit block; /* called for each live block, oldest first */
  lamella_memory_visit event; /* called for each event that was kept, oldest first */
  lamella_status (*device)(void* context, lamella_device, const lamella_memory_counts*);
  uint64_t dropped; /* set by snapshot(): the number of older events that were dropped */
} lamella_memory_snapshot;

typedef struct {
  uint32_t size;
  /* Adds flags; LAMELLA_MEMORY_MAKERS without LAMELLA_MEMORY_STACKS clears the latter. */
  lamella_status (*switch_on)(uint32_t flags, uint64_t max_entries);
  void (*switch_off)(void);
  uint32_t (*flags)(void);
  void (*set_stacks)(lamella_memory_capture, lamella_memory_describe);
  lamella_status (*snapshot)(lamella_memory_snapshot*);
  void (*counts)(lamella_device, lamella_memory_counts* out);
  void (*reset_counts)(lamella_device, uint32_t what); /* a set of enum lamella_stats */
} lamella_profiler_memory;
