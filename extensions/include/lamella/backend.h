/* Allocators and backends: the structs that describe a device's memory, copies, streams and events. A vendor reads this
 * after <lamella/types.h>; lamella_api.backend in <lamella/c_api.h> registers them.
 *
 * Note [Order]  In every function, a null stream is the thread's current one of that index; `stream_default` gives the
 *   one that a new thread begins with. Kernels and copies are queued on the current stream of their device; a copy
 *   between two devices is ordered on the current streams of both, and either side may be freed when the function
 *   returns.
 *   `free` may run on any thread while work that uses the memory is queued: the allocator keeps the memory until that
 *   work is done on the stream of `alloc` and on the streams that were recorded. Host memory may be reused when a
 *   blocking copy has returned or, after one with LAMELLA_COPY_NON_BLOCKING, when the stream has done it; the bytes
 *   that a copy wrote into host memory may be read from the same moment on. Memory of a `host_allocator` may be freed
 *   earlier: the backend keeps it until its copies are done.
 *   An error that is detected late is raised once, by the next function that waits for that stream or device. In
 *   event_wait the index is that of the stream. Priority 0 is the usual one, lower numbers are more urgent, and a
 *   number beyond the device's range counts as the nearest one in it. A stream that was destroyed may still be made
 *   current, waited for and recorded; an address that `alloc` did not give may be recorded, too, and is ignored.
 * Note [Slots of a backend]  The functions of a backend throw nothing. They may be called while the process exits, and
 *   in a forked child, where a device may return an error. `device_count` is quick, always the same, cannot fail (0
 *   without a driver), and makes no context on the device. If `alloc` returns LAMELLA_OUT_OF_MEMORY, the library calls
 *   `trim` and tries once more.
 * Note [Determinism]  A kernel gives the same bits for the same arguments, on the same kind of device and with the same
 *   num_threads; a backend that has quicker kernels without this promise offers them by a setting of its own. */
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
  int64_t cached_bytes;        /* freed by callers, kept for reuse */
  int64_t allocations;         /* calls of `alloc` */
  int64_t system_allocations;  /* calls that took memory from the system */
  int64_t peak_reserved_bytes; /* the most that live and cached bytes together have been */
} lamella_allocator_stats;

enum lamella_stats { LAMELLA_STATS_PEAK = 1, LAMELLA_STATS_COUNTS = 2 };

enum lamella_allocator_flags {
  LAMELLA_ALLOCATOR_STREAM_ORDERED = 1, /* `free` is ordered after the work of the streams, see Note [Order] */
  LAMELLA_ALLOCATOR_PINNED = 2          /* host memory from which copies need not block: for a `host_allocator` */
};

/* Copied when it is registered; `context` lives as long as the process. Memory is aligned to 16 bytes at least. `bytes`
 * is positive, and `free` gets the number that `alloc` got. The stream is where the memory will first be used. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_allocator_flags */
  void* context;
  lamella_status (*alloc)(void* context, int64_t bytes, int32_t index, void* stream, void** out);
  void (*free)(void* context, void* data, int64_t bytes, int32_t index); /* on any thread */
  /* Nullable. The memory at an address that `alloc` gave is used on a further stream. */
  lamella_status (*record_stream)(void* context, int32_t index, void* data, void* stream);
  lamella_status (*stats)(void* context, int32_t index, lamella_allocator_stats*); /* nullable */
  /* Nullable. Frees cached memory of one device, or of all if the index is -1, until at most `cap` bytes are cached. An
   * allocator that has one cache for all devices counts the bytes of all. */
  lamella_status (*trim)(void* context, int32_t index, int64_t cap);
  /* Nullable. Sets peaks to the present amounts, and numbers of allocations to 0. `what`: bits of enum
   * lamella_stats. */
  lamella_status (*reset_stats)(void* context, int32_t index, uint32_t what);
} lamella_allocator;

enum lamella_event_flags { LAMELLA_EVENT_TIMING = 1 };

enum lamella_copy_flags {
  LAMELLA_COPY_NON_BLOCKING = 1, /* it may return before the bytes have moved */
  LAMELLA_COPY_FROM_HOST = 2,    /* src is host memory */
  LAMELLA_COPY_TO_HOST = 4       /* dst is host memory */
};

/* A copy of bytes. One of the devices belongs to the backend; the other one does too, or is a host, or belongs to
 * another backend, whose pointers this one can use only if it supports that backend. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_copy_flags */
  lamella_device to, from;
  void* dst;
  const void* src;
  int64_t bytes;
} lamella_copy;

enum lamella_backend_flags {
  LAMELLA_BACKEND_HOST = 1, /* synchronous; pointers of the host are valid on the device, and the reverse */
  /* Kernels take operands of other dtypes than the compute dtype, and indices of any integer dtype. Without this flag
   * they get cast copies, indices in int64. */
  LAMELLA_BACKEND_MIXED_DTYPES = 2,
  LAMELLA_BACKEND_CPU_FALLBACK = 4 /* a counted fallback may serve missing kernels */
};

/* Copied when it is registered, both allocators too. Functions run on any thread and set the pending error when they
 * fail. A null function: the device does not have the feature. Streams and events are the device's own handles. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_backend_flags */
  const char* name;
  int32_t dlpack_type;
  int32_t reserved;
  void* context;
  const lamella_allocator* allocator;
  const lamella_allocator* host_allocator; /* nullable; with LAMELLA_ALLOCATOR_PINNED. Its index is 0 */
  int32_t (*device_count)(void* context);  /* null: one device */
  /* Nullable. Returns a property of a device, as an owned value; none: unknown. Published names: "name" and "uuid"
   * (str), "memory.total" and "memory.free" (int, bytes). Others begin with the backend's name and a point. */
  lamella_status (*property)(void* context, int32_t index, const char* name, lamella_value* out);

  /* *done is 1 at the call. The backend sets it to 0 if it does not support the copy, which is allowed if neither
   * side is host memory. The destination's backend is called first, then the source's; if both refuse, the bytes go
   * through the host. */
  lamella_status (*copy)(void* context, const lamella_copy* copy, int32_t* done);
  lamella_status (*synchronize)(void* context, int32_t index); /* nullable; waits for all work of the device */

  /* streams; all nullable. The current stream belongs to the thread. stream_default never gives null. */
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

  /* The thread's current device, which a device's name without an index stands for. Both may be null; then the index
   * is 0. */
  lamella_status (*device_current)(void* context, int32_t* index);
  lamella_status (*device_set_current)(void* context, int32_t index);
  /* A bit for each dtype that the device has: dtype d is bit d % 64 of word d / 64. Allocating elements of another
   * dtype is an error that lists the device's dtypes. All zero: it has every dtype. */
  uint64_t dtypes[4];
} lamella_backend;

#ifdef __cplusplus
}
#endif
#endif
