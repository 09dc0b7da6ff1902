/* The interface "code.NAME", version 1, in C: a library compiles source text for the device NAME and launches its
 * functions. The library of the backend NAME publishes it after the backend; a caller finds it as
 * find_interface("code.cuda", 1). What docs/abi.md promises of tables holds of this file.
 *
 * Note [Code]  `language` names the language of the source text. `compile` compiles a source text for a device, and
 *   returns the function that `name` names, an expression with template arguments if the language has them; `options`
 *   are words for the compiler with spaces between them. The same text, name and options give the same function, which
 *   is compiled once for each device and lives as long as the process. A text that does not compile is an error, whose
 *   message holds the compiler's log. `launch` queues the function on a stream and does not wait for it: `arguments`
 *   has an address for each parameter, and the bytes there are copied before `launch` returns. If the function uses a
 *   tensor's memory on another stream than the current one of the tensor's device, the caller records the memory on
 *   that stream: Note [Order] of <lamella/backend.h>. An error of the device comes late, as that of any kernel. */
#ifndef LAMELLA_CODE_H
#define LAMELLA_CODE_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamella_code_function lamella_code_function;

/* A grid of blocks of threads, along x, y and z. A grid with a zero launches nothing. */
typedef struct {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* shared memory of each block, beside the memory that the function declares */
} lamella_code_launch;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  const char* language; /* "CUDA C++" */
  lamella_status (*compile)(void* context, int32_t index, const char* text, const char* name,
                            const char* options /* nullable */, lamella_code_function** out);
  lamella_status (*launch)(void* context, int32_t index, void* stream /* null: the thread's current one */,
                           lamella_code_function*, const lamella_code_launch*, void* const* arguments);
} lamella_code;

#ifdef __cplusplus
}
#endif
#endif
