/* Programs of jit.save without Python: the functions of liblamella_run.so, which a program in C links beside
 * liblamella.so. <lamella/run.hpp> has the same for C++. docs/embed.md is the guide.
 *
 *   lamella_module* net;
 *   if (lamella_run_load("net.lamella", 0, NULL, &net)) return puts(lamella_run_error()), 1;
 *   lamella_run_call(net, "forward", args, 1, NULL, 0, &result);
 *
 * Note [Modules]  A module is an object of a program, or a function, which has the one method "forward". It is counted:
 *   what a function returns in `out` is owned. Modules of one file share their tensors and their attributes.
 * Note [Errors]   A function that fails returns the kind of the error (enum lamella_error_kind); its message is that of
 *   the thread's last error.
 * Note [Threads]  Any number of threads may call methods of one module. The mode, the device and attributes are changed
 *   while no other thread uses the module. */
#ifndef LAMELLA_RUN_H
#define LAMELLA_RUN_H

#include <lamella/graph.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct lamella_module lamella_module;

/* An argument by its name. */
typedef struct {
  const char* name;
  lamella_value value;
} lamella_run_keyword;

/* Returns the table of functions; null if liblamella.so does not serve the version. Loads nothing. */
const lamella_api* lamella_run_api(uint32_t version);
/* Loads the backend of the host and the plugins beside liblamella.so, as lamella_load_default does. Every function
 * below does it when it is first called; a second call does nothing. */
lamella_status lamella_run_start(void);
const lamella_graph_table* lamella_run_graph(void); /* the interface "graph"; null before lamella_run_start */
const char* lamella_run_error(void);                /* the message of this thread's last error; or null */

/* Reads a file of jit.save. flags: enum lamella_graph_load_flags. device (nullable): where tensors are put. */
lamella_status lamella_run_load(const char* path, uint32_t flags, const char* device, lamella_module** out);
lamella_status lamella_run_load_memory(const void* data, uint64_t num_bytes, uint32_t flags, const char* device,
                                       lamella_module** out); /* the bytes are copied */
void lamella_run_retain(lamella_module*);
void lamella_run_release(lamella_module*); /* null does nothing */

/* The names and the program of a module are borrowed, as long as the module. */
const char* lamella_run_name(lamella_module*);        /* the name of its class in Python, or of the function */
lamella_object* lamella_run_program(lamella_module*); /* lamella_run_graph() has its classes and graphs */
/* Returns how many methods there are, and writes their names, sorted. */
int32_t lamella_run_methods(lamella_module*, const char** out, int32_t room);
/* Returns how many parameters a method has, and writes them; -1: there is no such method. result (nullable) gets the
 * type of the result. */
int32_t lamella_run_parameters(lamella_module*, const char* method, lamella_graph_parameter* out, int32_t room,
                               const char** result);

/* Calls a method. Arguments that are left out get their defaults; all are borrowed. *result is owned: a flat value, or
 * a container whose parts lamella_run_graph()->items has. */
lamella_status lamella_run_call(lamella_module*, const char* method, const lamella_value* args, int32_t num_args,
                                const lamella_run_keyword* keywords, int32_t num_keywords, lamella_value* result);

/* Calls a function with each parameter (LAMELLA_GRAPH_PARAMETERS) or buffer (LAMELLA_GRAPH_BUFFERS) of the module and
 * the modules in it, by names such as "layer.weight". One that has several names comes once, by the first of them. */
lamella_status lamella_run_tensors(lamella_module*, int32_t kind,
                                   void (*visit)(void* context, const char* name, lamella_tensor*), void* context);
/* Finds a module by its name in this one, as "layer" or "layer.0". */
lamella_status lamella_run_child(lamella_module*, const char* name, lamella_module** out);
/* An attribute of the program's object. get makes an owned value; set takes one of the attribute's type. */
lamella_status lamella_run_get(lamella_module*, const char* name, lamella_value* out);
lamella_status lamella_run_set(lamella_module*, const char* name, const lamella_value* value);
/* Turns training on or off, in the module and those in it. */
lamella_status lamella_run_train(lamella_module*, int32_t on);
/* Moves parameters and buffers to a device (nullable: none), and floating ones to a dtype (below 0: none). They stay
 * the same tensors, which an optimizer may have. */
lamella_status lamella_run_move(lamella_module*, const char* device, int32_t dtype);
/* Reads one of the further files beside the program, as an owned string; none: it is not there. */
lamella_status lamella_run_extra(lamella_module*, const char* name, lamella_value* out);
/* Writes the program, with parameters and attributes as they are now, to a file that jit.load reads, too. `more`
 * (nullable) is called to add further files. A module in another one cannot be saved alone. */
lamella_status lamella_run_save(lamella_module*, const char* path, void (*more)(void*, const lamella_graph_files*),
                                void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
