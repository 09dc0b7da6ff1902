/* Graphs: the interface "graph", version 1, of the plugin that records, changes and runs programs as graphs. It is found
 * as find_interface("graph", 1); the promises of docs/abi.md for the table hold for this one. docs/graphs.md describes
 * the text of graphs, their types and their operators; docs/write_a_pass.md is the guide for passes.
 *
 * A program has graphs by name (functions, methods as "Class.method", and a main one with the empty name), classes, and
 * constant tensors. A graph has blocks of nodes; a node computes values from values.
 *
 * Note [Handles]  A program is a counted object, and owns its graphs, blocks, nodes and values: their handles are valid
 *   as long as the program. A node that was removed stays valid, and `node_block` of it is null. Strings are borrowed,
 *   until the program changes.
 * Note [Changes]  One thread at a time changes a program. A call compiles the program if it changed since the last one;
 *   calls that are under way go on with the program as it was. */
#ifndef LAMELLA_GRAPH_H
#define LAMELLA_GRAPH_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamella_graph lamella_graph;
typedef struct lamella_graph_block lamella_graph_block;
typedef struct lamella_graph_node lamella_graph_node;
typedef struct lamella_graph_value lamella_graph_value;

/* A function of the host that programs call (`prim::PythonCall`). It is copied; `release` is called with the context
 * when the program ends. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  lamella_status (*call)(void* context, const lamella_value* args, int32_t n, lamella_value* result);
  void (*release)(void* context); /* nullable */
  void* context;
} lamella_graph_host_function;

enum lamella_graph_container {
  LAMELLA_GRAPH_NO_CONTAINER = 0,
  LAMELLA_GRAPH_LIST = 1,
  LAMELLA_GRAPH_TUPLE = 2,
  LAMELLA_GRAPH_DICT = 3,     /* a pair of items for each entry: the key, then the value */
  LAMELLA_GRAPH_INSTANCE = 4, /* an item for each attribute of the class */
  LAMELLA_GRAPH_FUTURE = 5
};

/* Functions of the host's language, which programs use. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void (*print)(const char* text, int64_t length);
  void (*warn)(const char* text, int64_t length);
  lamella_status (*show)(lamella_tensor*, lamella_value* out); /* writes the text of a tensor, an owned string */
  /* Raises the exception of a name, such as "KeyError", and returns the error's status; 0 if there is none. */
  lamella_status (*raise)(const char* name, const char* text);
} lamella_graph_host;

enum lamella_graph_load_flags {
  LAMELLA_GRAPH_MAP = 1,       /* tensors in host memory lie in the mapped file, whose checksums are not read */
  LAMELLA_GRAPH_VERIFY = 2,    /* the SHA-256 of every member is compared; the file needs those of its tensors */
  LAMELLA_GRAPH_ALLOW_HOST = 4 /* the program may call operators of plugins that hand values to the host */
};

enum lamella_graph_parameter_flags { LAMELLA_GRAPH_KEYWORD_ONLY = 1, LAMELLA_GRAPH_HAS_DEFAULT = 2 };

/* A parameter of a function or of a method, without `self`. Borrowed, as long as the file. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_graph_parameter_flags */
  const char* name;
  const char* type;    /* as text, in which enums have their names */
  lamella_value value; /* the default */
} lamella_graph_parameter;

/* The names that a class of modules has in order; some may be no attributes of the class, which are none then. */
enum lamella_graph_names {
  LAMELLA_GRAPH_PARAMETERS = 0,
  LAMELLA_GRAPH_BUFFERS = 1,
  LAMELLA_GRAPH_MODULES = 2,
  LAMELLA_GRAPH_TRANSIENT = 3 /* buffers that state_dict() leaves out */
};

/* Further files of a program, beside it in the archive: `add` copies the bytes; a file of the same name is replaced. */
typedef struct {
  void* context;
  lamella_status (*add)(void* context, const char* name, const void* bytes, uint64_t num_bytes);
} lamella_graph_files;

/* Takes part in every save of the process: may change the program, which is a copy, and add further files. */
typedef lamella_status (*lamella_graph_export_hook)(void* context, lamella_object* program,
                                                    const lamella_graph_files* files);

/* A pass: changes a graph, and sets *changed if it did. */
typedef lamella_status (*lamella_graph_pass)(void* context, lamella_object* program, lamella_graph* graph,
                                             int32_t* changed);

/* Returns the file of the host's code that runs now, which stays valid, and its line; null if it is not known. */
typedef const char* (*lamella_graph_place)(void* context, int32_t* line);

/* A size of an input of a recorded function, and its graphs for other sizes. */
typedef struct {
  uint32_t size;
  int32_t input; /* the number of the input */
  int64_t dim;
  int64_t length;                /* the size for which the function was recorded */
  lamella_graph *twice, *thrice; /* recorded by shape with the double size and with the triple one */
} lamella_graph_other_sizes;

typedef struct {
  uint32_t size;
  uint32_t reserved;

  /* ---- programs ---- */
  /* Reads the text of a program; `constants` are the tensors that it names as <data/0> and so on. Fails with the line
   * and column for a text that is none. */
  lamella_status (*parse)(const char* text, int64_t length, lamella_tensor* const* constants, int32_t num_constants,
                          lamella_object** program);
  lamella_status (*text)(lamella_object* program, lamella_value* out); /* an owned string */
  lamella_status (*copy)(lamella_object* program, lamella_object** out);
  int32_t (*same)(lamella_object* a, lamella_object* b); /* up to the names of values and places in sources */
  /* Fails for a program that is not well formed, with the node and its place. */
  lamella_status (*verify)(lamella_object* program);
  /* Checks a program, and compiles it, which else its next call does. */
  lamella_status (*compile)(lamella_object* program);
  /* Returns how many constants there are, and writes the first `room` of them, borrowed. */
  int32_t (*constants)(lamella_object* program, lamella_tensor** out, int32_t room);
  lamella_status (*add_constant)(lamella_object* program, lamella_tensor*, int32_t* number);
  lamella_status (*add_host_function)(lamella_object* program, const lamella_graph_host_function*);
  /* Writes the names of the graphs (or of the classes), sorted. */
  int32_t (*graphs)(lamella_object* program, const char** out, int32_t room);
  int32_t (*classes)(lamella_object* program, const char** out, int32_t room);
  lamella_graph* (*graph)(lamella_object* program, const char* name); /* null: there is none */
  /* The names and types of the attributes of a class, as owned strings; `types` may be null. */
  lamella_status (*attributes)(lamella_object* program, const char* class_name, lamella_value* names,
                               lamella_value* types, int32_t room, int32_t* count);

  /* ---- running ---- */
  /* Runs a graph. Arguments that the host makes are flat values or containers; they are converted to the types of the
   * parameters. *rets gets an owned value: none, the result, or a tuple of several results. */
  lamella_status (*run)(lamella_object* program, const char* name, const lamella_value* args, int32_t num_args,
                        lamella_value* result);
  /* Makes a container, and takes the items over; `program` and `class_name` are for an instance. */
  lamella_status (*make)(int32_t container, lamella_value* items, int32_t n, lamella_object* program,
                         const char* class_name, lamella_value* out);
  int32_t (*kind_of)(const lamella_value* value); /* the kind of container that it is: enum lamella_graph_container */
  /* Gives the items of a container, or the keys and values of a dictionary in turn, or the attributes of an instance, as
   * an owned list (LAMELLA_VALUE_LIST). */
  lamella_status (*items)(const lamella_value* container, lamella_value* items);
  const char* (*class_of)(const lamella_value* instance); /* borrowed; null: the value is no instance */
  /* The attribute of an instance by its name; get returns an owned value. */
  lamella_status (*get_attribute)(const lamella_value* instance, const char* name, lamella_value* out);
  lamella_status (*set_attribute)(const lamella_value* instance, const char* name, const lamella_value* value);
  lamella_status (*wait)(const lamella_value* future, lamella_value* out);

  /* ---- graphs ---- */
  lamella_status (*graph_text)(lamella_graph*, lamella_value* out);
  lamella_graph_block* (*top)(lamella_graph*);
  int32_t (*parameters)(lamella_graph_block*, lamella_graph_value** out, int32_t room);
  int32_t (*results)(lamella_graph_block*, lamella_graph_value** out, int32_t room);
  lamella_graph_node* (*first)(lamella_graph_block*); /* null: the block has no node */
  lamella_graph_node* (*next)(lamella_graph_node*);   /* null: it is the last one */
  lamella_graph_node* (*owner)(lamella_graph_block*); /* the node that the block is of; null for a top block */
  lamella_graph_block* (*node_block)(lamella_graph_node*);
  const char* (*node_op)(lamella_graph_node*);       /* "aten::add" */
  const char* (*node_overload)(lamella_graph_node*); /* "Tensor" or "" */
  int32_t (*inputs)(lamella_graph_node*, lamella_graph_value** out, int32_t room);
  int32_t (*outputs)(lamella_graph_node*, lamella_graph_value** out, int32_t room);
  int32_t (*blocks)(lamella_graph_node*, lamella_graph_block** out, int32_t room);
  int32_t (*attribute_names)(lamella_graph_node*, const char** out, int32_t room);
  /* The attribute as an owned value: numbers, strings, lists; none if there is none. */
  lamella_status (*attribute)(lamella_graph_node*, const char* name, lamella_value* out);
  lamella_status (*set_node_attribute)(lamella_graph_node*, const char* name, const lamella_value*);
  const char* (*source)(lamella_graph_node*, int32_t* line, int32_t* column); /* the file; null: unknown */
  const char* (*value_name)(lamella_graph_value*);
  lamella_status (*value_type)(lamella_graph_value*, lamella_value* out); /* as text, owned */
  lamella_status (*set_value_type)(lamella_graph_value*, const char* type);
  lamella_graph_node* (*definition)(lamella_graph_value*); /* null for a parameter */
  /* The nodes that use the value, with the number of the input; null for a result of a block. */
  int32_t (*uses)(lamella_graph_value*, lamella_graph_node** users, int32_t* inputs, int32_t room);

  /* ---- changes ---- */
  /* Makes a node before another one, or at the end of a block if `before` is null. */
  lamella_status (*insert)(lamella_graph_block*, lamella_graph_node* before, const char* op, const char* overload,
                           lamella_graph_node** out);
  lamella_status (*add_input)(lamella_graph_node*, lamella_graph_value*);
  lamella_status (*set_input)(lamella_graph_node*, int32_t at, lamella_graph_value*);
  lamella_status (*add_output)(lamella_graph_node*, const char* type, lamella_graph_value** out);
  lamella_status (*add_parameter)(lamella_graph_block*, const char* type, const char* name, lamella_graph_value** out);
  lamella_status (*add_result)(lamella_graph_block*, lamella_graph_value*);
  lamella_status (*replace_uses)(lamella_graph_value* from, lamella_graph_value* to);
  lamella_status (*remove)(lamella_graph_node*); /* fails if a value of it is used */

  /* ---- passes ---- */
  /* Returns how many passes are registered, and writes their names. */
  int32_t (*passes)(const char** out, int32_t room);
  lamella_status (*run_pass)(const char* name, lamella_object* program, int32_t* changed);
  /* The pass goes with the library; without one it stays for the process. */
  lamella_status (*register_pass)(lamella_library*, const char* name, lamella_graph_pass, void* context);
  /* Replaces each match of a graph, given as text, by another one with the same parameters; neither writes. */
  lamella_status (*rewrite)(lamella_object* program, const char* from, const char* to, int32_t* count);

  /* ---- signatures ---- */
  /* Returns how many signatures an operator's name has, and writes their texts, which live as long as the process. */
  int32_t (*signatures)(const char* name, const char** out, int32_t room);
  int32_t (*builtins)(const char** out, int32_t room);
  /* Calls a builtin by its name with overload, for tests; args: all arguments, as `run` takes them. */
  lamella_status (*call_builtin)(const char* name, lamella_value* args, int32_t n, lamella_value* out);

  /* ---- recording ---- */
  /* Makes a recorder, a counted object, which appends the operators that this thread calls between start and stop to a
   * graph of the program. A strict one refuses operators that give values of tensors to the program. One by shape runs
   * operators on `meta`, so that nothing is computed; its inputs are tensors of that device. */
  lamella_status (*recorder_new)(lamella_object* program, const char* graph, int32_t strict, int32_t by_shape,
                                 lamella_graph_place place, void* context, lamella_object** out);
  lamella_status (*recorder_start)(lamella_object* recorder);
  lamella_status (*recorder_stop)(lamella_object* recorder);
  lamella_status (*recorder_end)(lamella_object* recorder); /* what stands for tensors is of no use from now on */
  /* Makes the tensor that stands for an input; the value gets the type of the tensor. */
  lamella_status (*recorder_input)(lamella_object* recorder, lamella_tensor* real, lamella_graph_value* value,
                                   lamella_tensor** out);
  /* Says that a tensor is an attribute: `path` are the names on the way to it from the instance `self`. */
  lamella_status (*recorder_attribute)(lamella_object* recorder, lamella_tensor*, lamella_graph_value* self,
                                       const char* const* path, int32_t n);
  /* Finds the value of the graph for a value of the program; one that is not known becomes a constant. */
  lamella_status (*recorder_value)(lamella_object* recorder, const lamella_value*, lamella_graph_value** out);
  /* Returns the tensor that another one stands for; a tensor that stands for none is returned itself. */
  lamella_status (*recorder_real)(lamella_tensor*, lamella_tensor** out);
  lamella_status (*recorder_warnings)(lamella_object* recorder, lamella_value* out); /* an owned list of strings */
  /* Makes a recorder by shape for the function that another one has recorded, and a program with its graph: the
   * parameters that the other graph had before it was recorded, under the same name. Attributes are known. */
  lamella_status (*recorder_by_shape)(lamella_object* recorder, lamella_object** program, lamella_object** out);
  /* Compares a recorded graph with its recordings for other sizes. A number that is a multiple of one size plus a
   * constant becomes an expression; the reports of other differences become a list of strings. `inputs` are the tensors
   * among the inputs, by their values in the graph and their names. */
  lamella_status (*replace_sizes)(lamella_graph*, lamella_graph_value* const* inputs, const char* const* names,
                                  int32_t num_inputs, const lamella_graph_other_sizes* const* others,
                                  int32_t num_others, lamella_value* reports);

  /* ---- the host ---- */
  void (*set_host)(const lamella_graph_host*); /* copied */

  /* ---- files ---- */
  /* Reads a program from a file of jit.save, as a counted object; docs/checkpoint_format.md describes these files.
   * Nothing of the file is run. flags: enum lamella_graph_load_flags. device (nullable): where all tensors are put;
   * else they go where they were saved from. A file that is no program, is damaged, is too new, or names operators that
   * are not here is a LAMELLA_RUNTIME_ERROR that names the member. */
  lamella_status (*load)(const char* path, uint32_t flags, const char* device, lamella_object** file);
  /* Reads a program as `load` does, from bytes in memory, which are copied. */
  lamella_status (*load_memory)(const void* data, uint64_t num_bytes, uint32_t flags, const char* device,
                                lamella_object** file);
  /* The results of these functions are borrowed, as long as the file, but for those that make lists and strings. */
  lamella_object* (*file_program)(lamella_object* file);
  lamella_status (*file_root)(lamella_object* file, lamella_value* out); /* an instance; none if it is a function */
  const char* (*file_main)(lamella_object* file); /* the name of the function, or of the class of the root */
  /* Returns how many functions there are, and writes their names, sorted; methods are "Class.method". */
  int32_t (*file_functions)(lamella_object* file, const char** out, int32_t room);
  /* Returns how many parameters a function has, and writes them; -1: there is no such function. result (nullable) gets
   * the type of the result as text. */
  int32_t (*file_parameters)(lamella_object* file, const char* function, lamella_graph_parameter* out, int32_t room,
                             const char** result);
  /* Returns how many names of a kind (enum lamella_graph_names) a class of modules has, and writes them; -1: the class
   * is none of modules. */
  int32_t (*file_names)(lamella_object* file, const char* class_name, int32_t kind, const char** out, int32_t room);
  const char* (*file_original)(lamella_object* file, const char* class_name); /* its name in Python; or null */
  const char* (*file_written_by)(lamella_object* file); /* as "lamella 0.1.0"; empty if the file does not say */
  /* Makes a list of the names of the further files, or reads one of them, as a string; none: it is not there. */
  lamella_status (*file_extras)(lamella_object* file, lamella_value* out);
  lamella_status (*file_extra)(lamella_object* file, const char* name, lamella_value* out);
  /* Writes the program, with its tensors and attributes as they are now, to a file, which is replaced in one step. Its
   * further files are written, too; `more` (nullable) is called to add others. A signature is left out. durable: waits
   * until the file is on the disk. */
  lamella_status (*file_save)(lamella_object* file, const char* path, void (*more)(void*, const lamella_graph_files*),
                              void* context, int32_t durable);
  /* Adds a hook of saving, in C++ and in Python; hooks run in the order in which they were added. An error of one ends
   * the save before a file is written. `destroy` (nullable) is called when the hook is removed. */
  lamella_status (*add_export_hook)(lamella_graph_export_hook, void* context, void (*destroy)(void* context),
                                    uint64_t* handle);
  lamella_status (*remove_export_hook)(uint64_t handle);
  lamella_status (*run_export_hooks)(lamella_object* program, const lamella_graph_files*); /* for those who save */
} lamella_graph_table;

#ifdef __cplusplus
}
#endif
#endif
