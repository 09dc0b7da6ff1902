/* The interface "device_trace.NAME", version 1, in C, by which the backend NAME reports the work of its devices to a
 * profiler. The backend's library publishes it after the backend; a profiler finds it as
 * find_interface("device_trace.bank", 1), so that neither side includes the other. The promises of docs/abi.md for
 * tables hold for this file.
 *
 * Note [Device traces]  Between `start` and `stop` the backend calls `launched` for each kernel, copy and fill that it
 *   queues, on the thread that queues it, and keeps the number; 0 means that this work is not to be reported. When the
 *   work has been done it calls `activity` with that number, on any thread, in any order. Work without a number that
 *   the device began by itself may be reported, too. `flush` waits for the work that was launched before it, and
 *   returns when all of that has been reported; it does not take an error that the program has yet to get. A second
 *   `start` replaces the sink of the first. Reports after `stop` are ignored. A device that fails reports nothing more;
 *   its `flush` then returns the error, and the profile shows the earlier reports. In a child of fork nothing is
 *   recorded until `start` is called there.
 * Note [Clocks]  `begin` and `end` are nanoseconds of the device's own clock, whose zero is arbitrary. `clock` reads it
 *   at once, without waiting for work, and makes no context: it may fail for a device that has not been used. A
 *   profiler reads it at the begin and the end, between two readings of the host's clock, and corrects offset and
 *   rate. */
#ifndef LAMELLA_DEVICE_TRACE_H
#define LAMELLA_DEVICE_TRACE_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lamella_activity_kind {
  LAMELLA_ACTIVITY_KERNEL = 0,
  LAMELLA_ACTIVITY_COPY = 1, /* `from`, `to` and `bytes` say what moved */
  LAMELLA_ACTIVITY_FILL = 2  /* `bytes` says how many were filled */
};

/* Work that a stream has done. Borrowed; the name is copied. */
typedef struct {
  uint32_t size;
  uint32_t kind;         /* enum lamella_activity_kind */
  const char* name;      /* of the kernel; null: a copy is named after its devices */
  lamella_device device; /* on whose stream it ran */
  lamella_device to, from;
  uint64_t stream; /* a number that identifies the stream on its device in the whole process */
  uint64_t launch; /* the number that `launched` returned, or 0 */
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

/* The backend's side. `start` may be called while the interface is being published, so it must register nothing. */
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
