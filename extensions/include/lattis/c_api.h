/* The C ABI of Lattis: all that a plugin, a backend or a custom operator needs, in plain C. Read <lattis/types.h>
 * first (objects, tensors, values, the frame), then this from top to bottom: what can be registered, then the table of
 * functions. Sugar in C++ over exactly this file is in extension.h; docs/abi.md says what is promised.
 *
 * Note [Ownership]  Arguments are borrowed for the call. Results are owned by the caller, and empty (tag
 *   LATTIS_NONE) after an error. To keep an argument longer, `retain` it; a retained list or string is a copy.
 * Note [Status]     Every function that can fail returns a lattis_status, 0 on success. Whoever fails calls
 *   `raise` (which returns the status to hand on); whoever sees a non-zero status hands it on unchanged. Who goes on
 *   after an error calls `error_clear`.
 * Note [Kernels]    A backend kernel of an operator that has a shape rule finds its outputs allocated in `rets`
 *   and writes into them; it neither checks nor allocates. Where the rule said "dynamic", or where an
 *   operator has no shape rule, `rets` is empty and the kernel fills it with results of its own. A layer's
 *   kernel always returns results of its own: usually those that `redispatch` gave it.
 * Note [Threads]    Every function of the table may be called on any thread, also while others call and register; one
 *   tensor's data, version and slots are written by one thread at a time. Kernels, rules and handlers run on the
 *   caller's thread, and on many at once. The pending error belongs to the thread.
 * Note [Contexts]   Every function that is registered gets back the `context` that came with it; where it gets a state
 *   of its own making (slots, deleters, payloads), that is its context. Contexts, and the strings and tables that are
 *   not copied, live as long as the process: a call may still be on its way to what was withdrawn. Whoever must reclaim
 *   one empties it, lets its kernel answer LATTIS_RETRY, and keeps the emptied shell. Strings are copied.
 * Note [Null]       No argument may be null unless it says "nullable"; handles that are returned (lattis_handle*) are
 *   nullable always. Functions that return a status say LATTIS_VALUE_ERROR to a null, to a library that was closed, and
 *   to an index that nobody was given; retain, release and value_release of null do nothing; what else a null does is
 *   undefined.
 * Note [Append only]  Entries are added at the end of the table, each under #if LATTIS_TARGET_VERSION >=
 *   LATTIS_MAKE_VERSION(1, m), in the section of its minor version; none is moved, retyped or taken away. */
#ifndef LATTIS_C_API_H
#define LATTIS_C_API_H

#include <lattis/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape rules ------------------------------------------------------------------------------------------------ */

enum lattis_meta_kind {
  LATTIS_META_FRESH = 0,   /* allocate: sizes, dtype, and strides if has_strides */
  LATTIS_META_ALIAS = 1,   /* a view of args[alias_of]: sizes, strides, offset, in elements of `dtype` if that is set */
  LATTIS_META_SAME = 2,    /* args[alias_of] itself */
  LATTIS_META_DYNAMIC = 3, /* only the kernel knows; it allocates */
  LATTIS_META_DETACHED = 4, /* like ALIAS, but no view of it for any layer: no base, no keys */
  LATTIS_META_NONE = 5      /* no result: one of several, which the caller did not ask for */
};

/* An array of these is handed to the rule, so its size is for ever. Other bits of has_strides will say which of the
 * reserved words mean something; the rule finds it zero, and bits that mean nothing yet are an error. */
typedef struct {
  uint8_t kind;
  uint8_t dtype; /* LATTIS_NO_DTYPE when the rule is called */
  uint8_t alias_of;
  uint8_t has_strides;
  int32_t ndim;
  int64_t offset; /* of an alias: storage offset in elements */
  int64_t reserved[4];
  int64_t sizes[LATTIS_MAX_DIMS];
  int64_t strides[LATTIS_MAX_DIMS];
} lattis_meta;

/* Checks the arguments and describes each output. May set frame->compute_dtype. */
typedef lattis_status (*lattis_infer)(lattis_frame* frame, const lattis_value* args, lattis_meta* outs);

/* Serves an operator and the forms derived of it. num_args: for how many it was written, as in a kernel_def. */
typedef struct {
  uint32_t size;
  int32_t num_args;
  lattis_infer infer;
  void* context;
} lattis_shape_rule_def;

/* ---- pointwise operators, by meaning ---------------------------------------------------------------------------- */

#define LATTIS_MAX_LOOPS 32 /* dtypes from 32 on have no place here */

enum lattis_dtype_class {
  LATTIS_CLASS_BOOL = 1,
  LATTIS_CLASS_INTEGRAL = 2,
  LATTIS_CLASS_FLOATING = 4,
  LATTIS_CLASS_COMPLEX = 8
};
enum lattis_compute_rule { LATTIS_COMPUTE_SAME = 0, LATTIS_COMPUTE_FLOAT = 1 /* integers become the default float */ };
enum lattis_result_rule {
  LATTIS_RESULT_SAME = 0,
  LATTIS_RESULT_BOOL = 1,
  LATTIS_RESULT_REAL = 2 /* complex gives its part */
};
enum lattis_absent { LATTIS_ABSENT_ERROR = 0, LATTIS_ABSENT_LOWEST = 1, LATTIS_ABSENT_HIGHEST = 2 };

/* One strip of the compute dtype: data[0] is the output, then the inputs; strides are in bytes, any value
 * including 0. Parameters are numbers, or none. Returns non-zero if the declared fault was met. It has no context: what
 * it computes depends on its operands alone. */
typedef int32_t (*lattis_loop)(int64_t n, void* const* data, const int64_t* strides, const lattis_value* params);

typedef struct {
  uint32_t size;
  uint8_t inputs;                      /* the leading operands: tensors or numbers */
  uint8_t params;                      /* scalar parameters right after them */
  uint8_t accepts;                     /* dtype classes */
  uint8_t compute;                     /* enum lattis_compute_rule */
  uint8_t result;                      /* enum lattis_result_rule */
  uint8_t condition;                   /* 1: the first operand is a bool and does not vote on the dtype */
  uint8_t params_promote;              /* 1: parameters vote on the dtype like numbers (clamp) */
  uint8_t absent[8];                   /* what a missing parameter means */
  const char* expression;              /* in C's notation over x, y, z and p, q, r */
  const char* fault;                   /* the message for the declared fault, or null */
  lattis_loop loops[LATTIS_MAX_LOOPS]; /* by compute dtype; null where not accepted; float16 has none, bfloat16's is
                                        * for operands that are all bfloat16 */
} lattis_pointwise;

/* ---- allocators and backends ------------------------------------------------------------------------------------ */

typedef struct {
  uint32_t size; /* set by the caller, who may be older or newer: fill no more than that */
  uint32_t reserved;
  int64_t live_bytes;
  int64_t peak_bytes;
  int64_t cached_bytes;
  int64_t allocations;
  int64_t system_allocations;
} lattis_allocator_stats;

/* Copied when it is registered; `context` lives as long as the process. Memory is aligned to 16 bytes at least. The
 * stream is where the memory will first be used; null: the thread's current one. */
typedef struct {
  uint32_t size;
  void* context;
  lattis_status (*alloc)(void* context, int64_t bytes, int32_t index, void* stream, void** out);
  void (*free)(void* context, void* data, int64_t bytes, int32_t index); /* on any thread */
  void (*record_stream)(void* context, void* data, void* stream);        /* nullable */
  void (*stats)(void* context, int32_t index, lattis_allocator_stats*);  /* nullable */
  void (*trim)(void* context, int64_t cap); /* nullable: give back cached bytes above cap */
} lattis_allocator;

enum lattis_event_flags { LATTIS_EVENT_TIMING = 1 };

enum lattis_backend_flags {
  LATTIS_BACKEND_HOST = 1,         /* the CPU may read its pointers */
  LATTIS_BACKEND_MIXED_DTYPES = 2, /* kernels take operands of other dtypes than the compute dtype */
  LATTIS_BACKEND_CPU_FALLBACK = 4  /* a counted fallback may serve missing kernels */
};

/* Copied when it is registered, the allocator too. Functions run on any thread and set the pending error when they
 * fail; an error of work under way may come late, from whoever waits next. Null slots: the device has no such thing.
 * Streams and events are the device's own handles; a null stream is its default one. */
typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lattis_backend_flags */
  const char* name;
  int32_t dlpack_type;
  int32_t reserved;
  void* context;
  const lattis_allocator* allocator;
  int32_t (*device_count)(void* context); /* nullable: one */
  /* "float64", "memory.total", …: 0 means no, or unknown. Nullable. */
  int64_t (*capability)(void* context, int32_t index, const char* name);

  /* Bytes between this backend and host memory, or within it: the other side is host memory, and may be reused when
   * the function returns. */
  lattis_status (*copy_from_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  lattis_status (*copy_to_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  /* Bytes from one device to another, at least one of them this backend's; done = 0: it cannot, ask somebody else.
   * Nullable. The destination is asked, then the source, then the bytes go through the host. */
  lattis_status (*copy_between)(void* context, lattis_device to, void* dst, lattis_device from, const void* src,
                                int64_t bytes, int32_t* done);
  lattis_status (*synchronize)(void* context, int32_t index); /* nullable: all work of the device */

  /* streams; all nullable. The current one is the thread's. */
  lattis_status (*stream_create)(void* context, int32_t index, int32_t priority, void** out);
  void (*stream_destroy)(void* context, int32_t index, void* stream);
  lattis_status (*stream_current)(void* context, int32_t index, void** out);
  lattis_status (*stream_set_current)(void* context, int32_t index, void* stream);
  lattis_status (*stream_synchronize)(void* context, int32_t index, void* stream);
  lattis_status (*stream_query)(void* context, int32_t index, void* stream, int32_t* done);

  /* events; all nullable */
  lattis_status (*event_create)(void* context, int32_t index, uint32_t flags, void** out); /* lattis_event_flags */
  void (*event_destroy)(void* context, int32_t index, void* event);
  lattis_status (*event_record)(void* context, int32_t index, void* event, void* stream);
  lattis_status (*event_wait)(void* context, int32_t index, void* event, void* stream); /* the stream waits */
  lattis_status (*event_synchronize)(void* context, int32_t index, void* event);        /* this thread waits */
  lattis_status (*event_query)(void* context, int32_t index, void* event, int32_t* done);
  lattis_status (*event_elapsed)(void* context, int32_t index, void* start, void* end, double* milliseconds);
} lattis_backend;

/* ---- layers ----------------------------------------------------------------------------------------------------- */

enum lattis_layer_flags {
  LATTIS_LAYER_DECOMPOSE = 1,     /* operators without a kernel here run their composite at this layer */
  LATTIS_LAYER_INSIDE = 2,        /* stays on inside composites and kernels that call operators */
  LATTIS_LAYER_FOLLOWS_ALIAS = 4, /* views inherit the bit */
  LATTIS_LAYER_FALLTHROUGH = 8    /* without a kernel the layer is skipped; `fallback` may be null */
};

typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lattis_layer_flags */
  const char* name;
  const char* at;             /* nullable: the anchor whose band it stands in */
  const char* const* outside; /* nullable, null-terminated: it runs before these layers or anchors */
  const char* const* inside;  /* nullable, null-terminated: it runs after these */
  lattis_kernel fallback;     /* for every operator that has no kernel of its own here; see LATTIS_LAYER_FALLTHROUGH */
  void* context;
  lattis_kernel rule;    /* nullable: for operators with a rule of this layer, in all their forms; its payload is the
                          * context */
  uint32_t kernel_flags; /* enum lattis_kernel_flags of the fallback */
  uint32_t reserved;
  /* Nullable: what `rule` gets as its context in place of the payload of an operator. Asked whenever the operator's
   * table is filled, under a lock: it calls no operator and waits for nobody, and what it gives lives as long as the
   * process. Null: no memory. */
  void* (*prepare)(void* context, const lattis_operator* op, const void* payload);
} lattis_layer;

/* ---- state on tensors and threads ------------------------------------------------------------------------------- */

typedef int32_t (*lattis_visit)(void* host_object, void* context);

/* A slot is never taken away; there are 256 of each kind. A plugin that comes back with the name and the functions that
 * it had finds its own; other functions get another slot. So give it functions of your own, not free: then no state is
 * ever destroyed by code that did not make it. */
typedef struct {
  uint32_t size;
  const char* name;
  void (*destroy)(void* state);                                        /* on any thread */
  int32_t (*traverse)(void* state, lattis_visit visit, void* context); /* nullable: host objects it holds */
  void (*clear)(void* state);                                          /* nullable */
} lattis_slot_type;

typedef struct {
  uint32_t size;
  const char* name;
  void* (*capture)(void* state);    /* nullable: a copy to carry to another thread; null: not carried */
  void* (*restore)(void* captured); /* nullable: the state for this thread, from a captured one, which it takes over */
  void (*destroy)(void* state);     /* of a thread that ends, or captured and not restored */
} lattis_thread_slot_type;

/* The frame is null: nothing is being called. */
typedef lattis_status (*lattis_get_attribute)(lattis_frame*, void* context, lattis_tensor* self, lattis_value* out);
typedef lattis_status (*lattis_set_attribute)(lattis_frame*, void* context, lattis_tensor* self,
                                              const lattis_value* value);

/* What a factory's keyword does to the fresh tensor: zeros(2, requires_grad=True). Any value that Python gave. */
typedef lattis_status (*lattis_apply_keyword)(lattis_frame*, void* context, lattis_tensor* result,
                                              const lattis_value* value);

/* ---- registration ----------------------------------------------------------------------------------------------- */

typedef struct lattis_library lattis_library;
typedef uint64_t lattis_handle; /* names one registration; 0 is none */

enum lattis_kernel_flags {
  LATTIS_KERNEL_CALLS_OPERATORS = 1, /* layers already passed are switched off around it */
  LATTIS_KERNEL_FAILS_LATE = 2       /* when it fails it may have written: counted; others leave all as it was */
};

/* One kernel. num_args: how many arguments the operator had when the kernel was written, outputs among them. Where it
 * has more now, the kernel is called with as many as it knows while the others have their defaults, and with others the
 * call is an error. 0: the kernel takes whatever comes, and looks at the frame. */
#define LATTIS_NO_ARGUMENTS (-1) /* it was written for none */
typedef struct {
  uint32_t size;
  uint32_t flags;       /* enum lattis_kernel_flags */
  lattis_kernel kernel; /* null, at a layer: the operator falls through it */
  void* context;
  const char* file; /* nullable: where it was written */
  int32_t line;
  int32_t num_args;
} lattis_kernel_def;

/* Of those that define, a namespace has one at a time; any number add operators to it, or only kernels. */
enum lattis_library_kind { LATTIS_DEFINES = 0, LATTIS_EXTENDS = 1, LATTIS_IMPLEMENTS = 2 };

typedef struct {
  uint32_t size;
  uint32_t version; /* LATTIS_TARGET_VERSION: what the caller was built for */
  const char* ns;
  const char* owner; /* for messages */
  uint32_t kind;     /* enum lattis_library_kind */
  uint32_t reserved;
} lattis_library_def;

enum lattis_forms {
  LATTIS_FORM_INPLACE = 1,
  LATTIS_FORM_OUT = 2,
  LATTIS_FORM_METHOD = 4,
  LATTIS_FORM_FUNCTION = 8,
  LATTIS_FORM_PRIVATE = 16,  /* not shown in the namespace */
  LATTIS_FORM_NO_KERNEL = 32 /* the shape rule is the whole operator (views, empty): every device has it */
};

typedef struct {
  uint32_t size;
  const char* schema;   /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  const char* category; /* nullable: "pointwise", "reduction", … */
  const char* doc;      /* nullable */
  uint32_t forms;       /* enum lattis_forms */
  lattis_infer infer;   /* nullable */
  void* infer_context;
  const lattis_pointwise* pointwise; /* nullable; gives the shape rule too */
  const char* file;                  /* nullable: where it was written */
  int32_t line;
  uint32_t reserved;
} lattis_operator_def;

/* ---- what a schema says of an argument or of a result ----------------------------------------------------------- */

enum lattis_kind {
  LATTIS_KIND_TENSOR = 0,
  LATTIS_KIND_SCALAR = 1,
  LATTIS_KIND_INT = 2,
  LATTIS_KIND_FLOAT = 3,
  LATTIS_KIND_BOOL = 4,
  LATTIS_KIND_COMPLEX = 5,
  LATTIS_KIND_STRING = 6,
  LATTIS_KIND_DTYPE = 7,
  LATTIS_KIND_LAYOUT = 8,
  LATTIS_KIND_DEVICE = 9,
  LATTIS_KIND_MEMORY_FORMAT = 10,
  LATTIS_KIND_GENERATOR = 11,
  LATTIS_KIND_OBJECT = 12,
  LATTIS_KIND_ANY = 13
};

enum lattis_argument_flags {
  LATTIS_ARGUMENT_LIST = 1,
  LATTIS_ARGUMENT_OPTIONAL = 2,
  LATTIS_ARGUMENT_OPTIONAL_ELEMENTS = 4,
  LATTIS_ARGUMENT_KEYWORD_ONLY = 8,
  LATTIS_ARGUMENT_HAS_DEFAULT = 16,
  LATTIS_ARGUMENT_WRITTEN = 32, /* (a!) */
  LATTIS_ARGUMENT_OUT = 64      /* an output of an out= form */
};

/* Made by the library; lives as long as the process. */
typedef struct {
  uint32_t size;
  uint32_t kind;      /* enum lattis_kind */
  uint32_t flags;     /* enum lattis_argument_flags */
  int32_t alias_of;   /* of a result: the argument whose alias set it shares, or -1 */
  const char* name;   /* empty for a result without a name */
  lattis_value value; /* the default; borrowed */
} lattis_argument;

enum lattis_operator_form { LATTIS_FUNCTIONAL_FORM = 0, LATTIS_INPLACE_FORM = 1, LATTIS_OUT_FORM = 2 };

typedef struct lattis_api lattis_api;
typedef lattis_status (*lattis_body)(void* context, int64_t begin, int64_t end);

/* ---- the table: append-only ------------------------------------------------------------------------------------- */

struct lattis_api {
  uint32_t size;
  uint32_t version; /* major << 16 | minor: LATTIS_MAKE_VERSION */
  const char* library_version;

  /* errors: of this thread, until cleared. Strings are borrowed until the next error. */
  lattis_status (*raise)(int32_t kind, const char* message); /* returns the kind; one below 1 becomes RUNTIME_ERROR */
  lattis_status (*raise_host)(void* payload, void (*release)(void*), const char* message); /* takes the payload over */
  void (*add_note)(const char* note); /* a line more: where it happened, a traceback; without an error, nothing */
  const char* (*error_message)(void); /* or null */
  int32_t (*error_kind)(void);        /* or 0 */
  void* (*error_payload)(void);       /* or null; borrowed */
  void (*error_clear)(void);
  lattis_object* (*error_take)(void); /* null, or the error as an object to keep, or to carry to another thread */
  lattis_status (*error_restore)(lattis_object* error); /* takes the object over; returns its kind */

  /* objects and values */
  void (*retain)(void* object);
  void (*release)(void* object);
  lattis_status (*value_retain)(const lattis_value* value, lattis_value* out); /* an owned copy */
  void (*value_release)(lattis_value* value);                                  /* of an owned value; leaves none */

  /* tensors */
  lattis_status (*tensor_empty)(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                lattis_device device, lattis_tensor** out); /* strides: nullable */
  /* Memory of somebody else; the deleter (nullable) gets `context` on any thread, and is not called after an error. */
  lattis_status (*tensor_from_blob)(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                    int32_t dtype, lattis_device device, void (*deleter)(void*), void* context,
                                    lattis_tensor** out); /* strides: nullable */
  lattis_status (*tensor_view)(lattis_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                               int64_t storage_offset, lattis_tensor** out);
  /* A tensor of its own over the same elements: no base, no slots, no layers' keys; versions are shared. */
  lattis_status (*tensor_detach)(lattis_tensor*, lattis_tensor** out);
  lattis_tensor* (*tensor_base)(const lattis_tensor*); /* the root of a view, or null; borrowed */
  uint64_t (*tensor_version)(const lattis_tensor*);
  void (*tensor_set_keys)(lattis_tensor*, uint64_t keys);
  void* (*storage_data)(const lattis_storage*);
  int64_t (*storage_bytes)(const lattis_storage*);
  int64_t (*storage_use_count)(const lattis_storage*);        /* how many tensors share it */
  void (*storage_add_sticky)(lattis_storage*, uint64_t keys); /* calls with any view of it reach these layers */

  /* calling. Operators live as long as the process; calling one that was withdrawn is an error. */
  const lattis_operator* (*find_operator)(const char* name, const char* overload); /* "aten::add", "Tensor"; or null */
  /* As many arguments as the schema had when the caller was written: what was appended since has its default; of an
   * out= form the outputs are the last. Room for the results or more, in memory that need not be set; others are none.
   * A value of a kind that the schema does not admit is an error. The parent, the frame of the caller, may be null. */
  lattis_status (*call)(lattis_frame* parent, const lattis_operator* op, const lattis_value* args, int32_t num_args,
                        lattis_value* rets, int32_t num_rets);
  /* From a layer's kernel to what is below it. Fewer arguments: the others are what the call has. Kinds are trusted. */
  lattis_status (*redispatch)(lattis_frame* frame, const lattis_value* args, int32_t num_args, lattis_value* rets,
                              int32_t num_rets);
  /* Before a layer follows what somebody wrote when the operator had num_args arguments (as in lattis_kernel_def; 0:
   * nothing is checked): an error unless those appended since are what they are by default. args: as many as the
   * operator has now. `who` is named in the error: "the derivative". */
  lattis_status (*check_defaults)(const lattis_operator* op, const lattis_value* args, int32_t num_args,
                                  const char* who);
  lattis_thread* (*thread)(void);

  /* what operators look like. Borrowed; null, or -1 for numbers, with an error where the schema does not parse. */
  const char* (*operator_name)(const lattis_operator*);     /* "aten::add" */
  const char* (*operator_overload)(const lattis_operator*); /* "Tensor" or "" */
  const char* (*operator_schema)(const lattis_operator*);
  const char* (*operator_category)(const lattis_operator*);              /* "" if it has none */
  const lattis_pointwise* (*operator_pointwise)(const lattis_operator*); /* or null */
  int32_t (*operator_num_args)(const lattis_operator*);
  int32_t (*operator_num_returns)(const lattis_operator*);
  const lattis_argument* (*operator_argument)(const lattis_operator*, int32_t i);
  const lattis_argument* (*operator_return)(const lattis_operator*, int32_t i);
  int32_t (*operator_form)(const lattis_operator*);                      /* enum lattis_operator_form */
  const lattis_operator* (*operator_functional)(const lattis_operator*); /* of a derived form, else null */
  int32_t (*find_overloads)(const char* name, const lattis_operator** out, int32_t room); /* how many there are */

  /* work */
  lattis_status (*parallel_for)(int64_t begin, int64_t end, int64_t grain, lattis_body body, void* context);
  int32_t (*num_threads)(void);                                             /* at most so many run a parallel_for */
  lattis_status (*scratch)(lattis_frame* frame, int64_t bytes, void** out); /* host memory until the kernel returns */
  lattis_status (*check_interrupt)(void); /* now and then in a long kernel: LATTIS_INTERRUPTED after Ctrl-C */

  /* random numbers: element i of n depends on (seed, offset + i) alone, on every backend */
  lattis_status (*generator_new)(lattis_device device, uint64_t seed, lattis_object** out);
  lattis_status (*generator_default)(lattis_device device, lattis_object** out); /* the device's own; owned */
  lattis_status (*generator_get)(lattis_object* generator, uint64_t* seed, uint64_t* offset);
  lattis_status (*generator_set)(lattis_object* generator, uint64_t seed, uint64_t offset);
  lattis_status (*generator_reserve)(lattis_object* generator, lattis_device device, uint64_t n, uint64_t* seed,
                                     uint64_t* offset); /* generator: nullable, the device's own */

  /* registration: each call returns a handle that withdraws it. Names without "::" are in the library's namespace. */
  lattis_status (*library_open)(const lattis_library_def*, lattis_library** out);
  void (*library_close)(lattis_library*); /* withdraws all that came through it; a second time it does nothing */
  lattis_status (*define)(lattis_library*, const lattis_operator_def*, lattis_handle*);
  /* key: a layer, a device, "backend" (any device), "composite" */
  lattis_status (*kernel)(lattis_library*, const char* op, const char* key, const lattis_kernel_def*, lattis_handle*);
  /* category "*": whatever has nothing else under this key, a fallback. Its num_args is 0. */
  lattis_status (*category_kernel)(lattis_library*, const char* category, const char* key, const lattis_kernel_def*,
                                   lattis_handle*);
  lattis_status (*shape_rule)(lattis_library*, const char* op, const lattis_shape_rule_def*, lattis_handle*);
  lattis_status (*layer)(lattis_library*, const lattis_layer*, int32_t* bit, lattis_handle*);    /* bit: nullable */
  lattis_status (*backend)(lattis_library*, const lattis_backend*, int32_t* id, lattis_handle*); /* id: nullable */
  /* Kept until the layer comes. destroy (nullable) tells that it was withdrawn: a call may still be reading it. */
  lattis_status (*rule)(lattis_library*, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                        lattis_handle*);
  void* (*find_rule)(const lattis_operator*, const char* layer); /* or null */
  /* A table that grows at its end with each version; one that breaks takes another name. */
  lattis_status (*publish_interface)(lattis_library*, const char* name, uint32_t version, const void* table,
                                     lattis_handle*);
  const void* (*find_interface)(const char* name, uint32_t min_version); /* or null */
  lattis_status (*withdraw)(lattis_handle);

  /* state */
  lattis_status (*tensor_slot)(lattis_library*, const lattis_slot_type*, int32_t* index);
  void* (*slot_get)(const lattis_tensor*, int32_t index);
  void (*slot_set)(lattis_tensor*, int32_t index, void* state); /* destroys the state that was there */
  lattis_status (*thread_slot)(lattis_library*, const lattis_thread_slot_type*, int32_t* index);
  void* (*thread_slot_get)(int32_t index);
  void (*thread_slot_set)(int32_t index, void* state);
  void* (*thread_capture)(void);          /* all registered slots, include, exclude, default device */
  void (*thread_restore)(void* captured); /* consumes it */
  void (*thread_discard)(void* captured); /* of one that nobody will restore */
  lattis_status (*attribute)(lattis_library*, const char* name, lattis_get_attribute, lattis_set_attribute,
                             void* context, lattis_handle*); /* without a setter it is read-only */
  /* a keyword of every operator of the categories creation and random that takes `dtype` */
  lattis_status (*keyword)(lattis_library*, const char* name, lattis_apply_keyword, void* context, lattis_handle*);
  void (*process_include)(uint64_t bits, int32_t on); /* layers switched on for every thread */

  /* devices and memory */
  lattis_status (*find_backend)(const char* name, int32_t* id);
  const char* (*backend_name)(int32_t id); /* also of one that was withdrawn */
  /* What was registered, to call: synchronize, copies, streams, capabilities. Null once withdrawn; never freed. */
  const lattis_backend* (*backend_description)(int32_t id);
  /* Keeps freed blocks of `upstream` (nullable: the system's memory); cap 0: a quarter of the memory. For ever. */
  lattis_status (*host_pool)(const lattis_allocator* upstream, int64_t cap, const lattis_allocator** out);

  int32_t (*find_layer)(const char* name); /* its bit, or -1: for masks of keys */
  /* The one that it was opened with, unless whoever loads the file has chosen another name for that. Borrowed. */
  const char* (*library_namespace)(const lattis_library*);

  /* ---- here ends version 1.0; what comes later is appended ---- */
};

/* A library's entry, called by the loader: `lattis_plugin_init`. The table lives as long as the process. What it has
 * registered is withdrawn again if it returns an error. */
typedef lattis_status (*lattis_plugin_init_fn)(const lattis_api* api);

LATTIS_LAYOUT(sizeof(lattis_meta) == 48 + 16 * LATTIS_MAX_DIMS && sizeof(lattis_argument) == 40);
LATTIS_LAYOUT(offsetof(lattis_api, raise) == 16);

#ifdef __cplusplus
}
#endif
#endif
