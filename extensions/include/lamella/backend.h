/* Allocators and backends: the structs by which a device's memory, copies, streams and events are described. A vendor
 * reads this after <lamella/types.h>; lamella_api.backend in <lamella/c_api.h> registers them. */
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
  int64_t peak_bytes;
  int64_t cached_bytes;
  int64_t allocations;
  int64_t system_allocations;
} lamella_allocator_stats;

/* Copied when it is registered; `context` lives as long as the process. Memory is aligned to 16 bytes at least. The
 * stream is where the memory will first be used; null: the thread's current one. */
typedef struct {
  uint32_t size;
  void* context;
  lamella_status (*alloc)(void* context, int64_t bytes, int32_t index, void* stream, void** out);
  void (*free)(void* context, void* data, int64_t bytes, int32_t index); /* on any thread */
  void (*record_stream)(void* context, void* data, void* stream);        /* nullable */
  void (*stats)(void* context, int32_t index, lamella_allocator_stats*); /* nullable */
  void (*trim)(void* context, int64_t cap); /* nullable: give back cached bytes above cap */
} lamella_allocator;

enum lamella_event_flags { LAMELLA_EVENT_TIMING = 1 };

enum lamella_backend_flags {
  LAMELLA_BACKEND_HOST = 1,         /* the CPU may read its pointers */
  LAMELLA_BACKEND_MIXED_DTYPES = 2, /* kernels take operands of other dtypes than the compute dtype */
  LAMELLA_BACKEND_CPU_FALLBACK = 4  /* a counted fallback may serve missing kernels */
};

/* Copied when it is registered, the allocator too. Functions run on any thread and set the pending error when they
 * fail; an error of work under way may come late, from the next function that waits. Null slots: the device has no such
 * thing. Streams and events are the device's own handles; a null stream is its default one. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_backend_flags */
  const char* name;
  int32_t dlpack_type;
  int32_t reserved;
  void* context;
  const lamella_allocator* allocator;
  int32_t (*device_count)(void* context); /* nullable: one */
  /* "float64", "memory.total", …: 0 means no, or unknown. Nullable. */
  int64_t (*capability)(void* context, int32_t index, const char* name);

  /* Bytes between this backend and host memory, or within it: the other side is host memory, and may be reused when
   * the function returns. */
  lamella_status (*copy_from_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  lamella_status (*copy_to_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  /* Bytes from one device to another, at least one of them this backend's; done = 0: this backend cannot. Nullable. The
   * destination's backend is asked, then the source's; if both cannot, the bytes go through the host. */
  lamella_status (*copy_between)(void* context, lamella_device to, void* dst, lamella_device from, const void* src,
                                 int64_t bytes, int32_t* done);
  lamella_status (*synchronize)(void* context, int32_t index); /* nullable: all work of the device */

  /* streams; all nullable. The current one is the thread's. */
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
} lamella_backend;

#ifdef __cplusplus
}
#endif
#endif
