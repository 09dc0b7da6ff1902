/* Allocators and backends: the structs by which a device's memory, copies, streams and events are described. A vendor
 * reads this after <lamella/types.h>; lamella_api.backend in <lamella/c_api.h> registers them. */
/* Note [Order]  A null stream is the thread's current one of that index, in every function; `stream_default` gives the
 *   one that a new thread begins with. Kernels and copies run behind the current stream of their device; a copy between
 *   two devices is ordered on the current streams of both, and either side may be freed when the function returns.
 * `free` may run on any thread, while work that uses the memory is queued: the allocator keeps the memory until the
 * stream of `alloc` and those that were recorded have passed it. Host memory may be reused when a blocking copy has
 * returned, or, after one with LAMELLA_COPY_NON_BLOCKING, when the stream has passed it; bytes in host memory may be
 * read then. Memory of a `host_allocator` may be freed before: the backend keeps it until its copies are done. An error
 * that comes late is raised once, by the next function that waits for that stream or device. In event_wait the index is
 * that of the stream. Priority 0 is the usual one, lower numbers are more urgent, and a number beyond those that the
 * device has counts as the nearest. A stream that was destroyed may still be named: made current, waited for, recorded;
 * an address that `alloc` did not give may be recorded, too, and is passed over. Note [Slots of a backend]  They throw
 * nothing. They may be called while the process exits, and in a forked child, where a device may answer with an error.
 * `device_count` is quick, always the same, cannot fail (0 where there is no driver), and makes no context on the
 * device. Where `alloc` answers LAMELLA_OUT_OF_MEMORY, the library calls `trim` and asks once more. Note [Determinism]
 * A kernel gives the same bits for the same arguments, on the same kind of device and with the same num_threads; a
 * backend that has quicker ones without this promise offers them by a setting of its own. */
#ifndef LAMELLA_BACKEND_H
#define LAMELLA_BACKEND_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t size; /* set by the caller, which may be older or newer: fill no more bytes than this */
  uint32_t reserved;
  int64_t live_bytes;
  int64_t peak_bytes;          /* the most that live_bytes has been */
  int64_t cached_bytes;        /* held, and not live */
  int64_t allocations;         /* how often memory was asked for */
  int64_t system_allocations;  /* how often that took memory from the system */
  int64_t peak_reserved_bytes; /* the most that live and cached bytes together have been */
} lamella_allocator_stats;

enum lamella_stats { LAMELLA_STATS_PEAK = 1, LAMELLA_STATS_COUNTS = 2 };

enum lamella_allocator_flags {
  LAMELLA_ALLOCATOR_STREAM_ORDERED = 1, /* `free` is ordered behind the work of the streams, see Note [Order] */
  LAMELLA_ALLOCATOR_PINNED = 2          /* the host's memory, from where copies need not block: of a `host_allocator` */
};

/* Copied when it is registered; `context` lives as long as the process. Memory is aligned to 16 bytes at least. `bytes`
 * is positive, and `free` gets the number that `alloc` got. The stream is where the memory will first be used. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_allocator_flags */
  void* context;
  lamella_status (*alloc)(void* context, int64_t bytes, int32_t index, void* stream, void** out);
  void (*free)(void* context, void* data, int64_t bytes, int32_t index); /* on any thread */
  /* Nullable. The memory, by the address that `alloc` gave, is used on a further stream. */
  lamella_status (*record_stream)(void* context, int32_t index, void* data, void* stream);
  lamella_status (*stats)(void* context, int32_t index, lamella_allocator_stats*); /* nullable */
  /* Nullable. Gives back cached bytes above `cap`: of one device, or of all where the index is -1. */
  lamella_status (*trim)(void* context, int32_t index, int64_t cap);
  /* Nullable. Counts anew: peaks from what is there now, numbers of allocations from 0; a set of enum lamella_stats. */
  lamella_status (*reset_stats)(void* context, int32_t index, uint32_t what);
} lamella_allocator;

enum lamella_event_flags { LAMELLA_EVENT_TIMING = 1 };

enum lamella_copy_flags {
  LAMELLA_COPY_NON_BLOCKING = 1, /* it may return before the bytes have moved */
  LAMELLA_COPY_FROM_HOST = 2,    /* src is host memory */
  LAMELLA_COPY_TO_HOST = 4       /* dst is host memory */
};

/* Bytes to move. One of the devices is the backend's; the other is its own, too, or a host, or another backend's, whose
 * pointers mean nothing here unless both know each other. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_copy_flags */
  lamella_device to, from;
  void* dst;
  const void* src;
  int64_t bytes;
} lamella_copy;

enum lamella_backend_flags {
  LAMELLA_BACKEND_HOST = 1, /* synchronous, and any pointer of the host is one of the device's, and the reverse */
  LAMELLA_BACKEND_MIXED_DTYPES = 2, /* kernels take operands of other dtypes than the compute dtype, and indices
                                     * of any integer dtype; others get what is cast, indices to int64 */
  LAMELLA_BACKEND_CPU_FALLBACK = 4  /* a counted fallback may serve missing kernels */
};

/* Copied when it is registered, the allocator too. Functions run on any thread and set the pending error when they
 * fail. Null slots: the device has no such thing. Streams and events are the device's own handles. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_backend_flags */
  const char* name;
  int32_t dlpack_type;
  int32_t reserved;
  void* context;
  const lamella_allocator* allocator;
  const lamella_allocator* host_allocator; /* nullable; with LAMELLA_ALLOCATOR_PINNED. Its index is 0 */
  int32_t (*device_count)(void* context);  /* nullable: one */
  /* Nullable. What is known of a device, as an owned value; none: unknown. Published names: "name" and "uuid" (str),
   * "memory.total" and "memory.free" (int, bytes). Others begin with the backend's name and a point. */
  lamella_status (*property)(void* context, int32_t index, const char* name, lamella_value* out);

  /* *done is 1 when it is called; 0: this backend cannot, which is allowed where neither side is host memory. The
   * destination's backend is asked, then the source's; if both cannot, the bytes go through the host. */
  lamella_status (*copy)(void* context, const lamella_copy* copy, int32_t* done);
  lamella_status (*synchronize)(void* context, int32_t index); /* nullable: all work of the device */

  /* streams; all nullable. The current one is the thread's. stream_default never gives null. */
  lamella_status (*stream_default)(void* context, int32_t index, void** out);
  lamella_status (*stream_create)(void* context, int32_t index, int32_t priority, void** out);
  void (*stream_destroy)(void* context, int32_t index, void* stream);
  lamella_status (*stream_current)(void* context, int32_t index, void** out);
  lamella_status (*stream_set_current)(void* context, int32_t index, void* stream);
  lamella_status (*stream_synchronize)(void* context, int32_t index, void* stream);
  lamella_status (*stream_query)(void* context, int32_t index, void* stream, int32_t* done);

  /* events; all nullable */
  lamella_status (*event_create)(void* context, int32_t index, uint32_t flags, void** out); /* lamella_event_flags */
  void (*event_destroy)(void* context, int32_t index, void* event);
  lamella_status (*event_record)(void* context, int32_t index, void* event, void* stream);
  lamella_status (*event_wait)(void* context, int32_t index, void* event, void* stream); /* the stream waits */
  lamella_status (*event_synchronize)(void* context, int32_t index, void* event);        /* this thread waits */
  lamella_status (*event_query)(void* context, int32_t index, void* event, int32_t* done);
  lamella_status (*event_elapsed)(void* context, int32_t index, void* start, void* end, double* milliseconds);

  /* The thread's current device: the index that a device named without one has. Both may be null; then it is 0. */
  lamella_status (*device_current)(void* context, int32_t* index);
  lamella_status (*device_set_current)(void* context, int32_t index);
  /* A bit for each dtype that the device has: dtype d is bit d % 64 of word d / 64. Memory for elements of another
   * one is an error that lists those that it has. All zero: it has every dtype. */
  uint64_t dtypes[4];
} lamella_backend;

#ifdef __cplusplus
}
#endif
#endif
