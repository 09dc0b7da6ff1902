/* What a device tells a profiler of its work: the interface "device_trace.NAME", version 1, which the library of the
 * backend NAME publishes after the backend, in C. A profiler finds it as find_interface("device_trace.bank", 1), so
 * that neither side knows the other. What docs/abi.md promises of tables holds of this file.
 *
 * Note [Device traces]  Between `start` and `stop` the backend calls `launched` for each kernel, copy and fill that it
 * queues, on the thread that queues it, and keeps the number; 0 means that this one is not wanted. When the work has
 * been done it calls `activity` with that number, on any thread, in any order. Work without a number that the device
 * began by itself may be told, too. `flush` waits for what was launched before it, and returns when all of that has
 * been told; it does not take an error that waits for the program. A second `start` puts another sink in place of the
 * first. What a backend tells after `stop` is not looked at. A device that fails tells nothing more; its `flush` then
 * gives the error, and the profile shows what was told until then. In a child of fork nothing is recorded until a
 * `start` there.
 * Note [Clocks]  `begin` and `end` are nanoseconds of the device's own clock, whose zero means nothing. `clock` reads
 * it at once, without waiting for work, and makes no context: of a device that has not been used it may be an error. A
 * profiler reads it at the begin and the end, between two readings of the host's, and corrects offset and rate. */
#ifndef LAMELLA_DEVICE_TRACE_H
#define LAMELLA_DEVICE_TRACE_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lamella_activity_kind {
  LAMELLA_ACTIVITY_KERNEL = 0,
  LAMELLA_ACTIVITY_COPY = 1, /* `from`, `to` and `bytes` say what moved */
  LAMELLA_ACTIVITY_FILL = 2  /* `bytes` are set */
};

/* Work that a stream has done. Borrowed; the name is copied. */
typedef struct {
  uint32_t size;
  uint32_t kind;         /* enum lamella_activity_kind */
  const char* name;      /* of the kernel; null: a copy is named after its devices */
  lamella_device device; /* on whose stream it ran */
  lamella_device to, from;
  uint64_t stream; /* a number that tells the device's streams apart, the same for one stream in the whole process */
  uint64_t launch; /* what `launched` gave, or 0 */
  int64_t begin, end;
  int64_t bytes;
} lamella_device_activity;

/* The profiler's side; it stays callable as long as the process lives. Neither function fails nor waits for work. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  uint64_t (*launched)(void);
  void (*activity)(const lamella_device_activity*);
} lamella_device_sink;

/* The backend's side. `start` may be called while the interface is being published: it registers nothing. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  lamella_status (*start)(void* context, const lamella_device_sink*);
  lamella_status (*flush)(void* context);
  void (*stop)(void* context);
  lamella_status (*clock)(void* context, int32_t index, int64_t* nanoseconds);
} lamella_device_trace;

#ifdef __cplusplus
}
#endif
#endif
