/* The interface "dispatcher", version 1, which the library itself publishes: functions that few plugins need beside
 * the table. It is found as find_interface("dispatcher", 1), and may grow at its end. */
#ifndef LAMELLA_DISPATCHER_H
#define LAMELLA_DISPATCHER_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t size;
  uint32_t reserved;
  /* Returns the owner of the kernel that serves an operator on a backend now, as the table of operators names it: the
   * owner of a kernel registered for the device or its category, else of the composite, else of the kernel that a
   * fallback runs; for LAMELLA_FORM_NO_KERNEL, the owner of the operator. Null if there is none. The string lives as
   * long as the process. */
  const char* (*kernel_owner)(const lamella_operator*, int32_t backend);
  /* Adds functions around a fork, for locks that the child must find free: `before` takes them in the thread that
   * forks, which then has the registry's lock; `parent` and `child` release them, and `child` may use the table.
   * Each may be null. The last ones added run first before the fork, and last after it. They cannot be removed.
   * Nothing may be registered within these locks. */
  void (*around_fork)(void (*before)(void), void (*parent)(void), void (*child)(void));
  /* Calls a function that may wait for a lock or for another thread. If this thread has the host language's lock, it is
   * released meanwhile, so that what is waited for may take it. */
  void (*without_host_lock)(void (*wait)(void* context), void* context);
} lamella_dispatcher;

#ifdef __cplusplus
}
#endif
#endif
