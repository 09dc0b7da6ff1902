/* The interface "dispatcher", version 1, which the library itself publishes: what few plugins ask of it beside the
 * table. It is found as find_interface("dispatcher", 1), and may grow at its end. */
#ifndef LAMELLA_DISPATCHER_H
#define LAMELLA_DISPATCHER_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t size;
  uint32_t reserved;
  /* The owner of the kernel that serves an operator on a backend now, as the table of operators names it: of a kernel
   * registered for the device or its category, else of the composite, else of the one that a fallback runs. Null where
   * there is none. Lives as long as the process. */
  const char* (*kernel_owner)(const lamella_operator*, int32_t backend);
  /* For locks that a child of fork is to find free, and what they guard whole: `before` takes them in the thread that
   * forks, which has the registry's lock then; `parent` and `child` let them go, and `child` may use the table. Each
   * may be null. What came last runs first before the fork, and last behind it. They stay as long as the process.
   * Nothing may be registered within these locks. */
  void (*around_fork)(void (*before)(void), void (*parent)(void), void (*child)(void));
} lamella_dispatcher;

#ifdef __cplusplus
}
#endif
#endif
