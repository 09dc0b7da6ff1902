/* The C ABI of Lamella, version 0 (not frozen yet): all that a plugin, a backend or a custom operator needs, in
 * plain C. Read <lamella/types.h> first (objects, tensors, values, the frame), then this from top to bottom: what can
 * be registered, then the table of functions. Sugar in C++ over exactly this file is in extension.h.
 *
 * Note [Ownership]  Arguments are borrowed for the call. Results are owned by the caller, and empty (tag
 *   LAMELLA_NONE) after an error. To keep an argument longer, `retain` it; a retained list or string is a copy.
 * Note [Status]     Every function that can fail returns a lamella_status, 0 on success. Whoever fails calls
 *   `raise` (which returns the status to hand on); whoever sees a non-zero status hands it on unchanged.
 * Note [Kernels]    A backend kernel of an operator that has a shape rule finds its outputs allocated in `rets`
 *   and writes into them; it neither checks nor allocates. Where the rule said "dynamic", or where an
 *   operator has no shape rule, `rets` is empty and the kernel fills it with results of its own. A layer's
 *   kernel always returns results of its own: usually those that `redispatch` gave it. */
#ifndef LAMELLA_C_API_H
#define LAMELLA_C_API_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMELLA_ABI_VERSION 0

/* ---- shape rules ------------------------------------------------------------------------------------------- */

enum lamella_meta_kind {
  LAMELLA_META_FRESH,    /* allocate: sizes, dtype, and strides if has_strides */
  LAMELLA_META_ALIAS,    /* a view of args[alias_of]: sizes, strides, offset, in elements of `dtype` if that is set */
  LAMELLA_META_SAME,     /* args[alias_of] itself */
  LAMELLA_META_DYNAMIC,  /* only the kernel knows; it allocates */
  LAMELLA_META_DETACHED, /* like ALIAS, but no view of it for any layer: no base, no keys */
  LAMELLA_META_NONE      /* no result: one of several, which the caller did not ask for */
};

typedef struct {
  uint8_t kind;
  uint8_t dtype; /* LAMELLA_NO_DTYPE when the rule is called */
  uint8_t alias_of;
  uint8_t has_strides;
  int32_t ndim;
  int64_t offset; /* of an alias: storage offset in elements */
  int64_t sizes[LAMELLA_MAX_DIMS];
  int64_t strides[LAMELLA_MAX_DIMS];
} lamella_meta;

/* Checks the arguments and describes each output. May set frame->compute_dtype. */
typedef lamella_status (*lamella_infer)(lamella_frame* frame, const lamella_value* args, lamella_meta* outs);

/* ---- pointwise operators, by meaning -------------------------------------------------------------------------- */

enum lamella_dtype_class {
  LAMELLA_CLASS_BOOL = 1,
  LAMELLA_CLASS_INTEGRAL = 2,
  LAMELLA_CLASS_FLOATING = 4,
  LAMELLA_CLASS_COMPLEX = 8
};
enum lamella_compute_rule { LAMELLA_COMPUTE_SAME, LAMELLA_COMPUTE_FLOAT /* integers become the default float */ };
enum lamella_result_rule { LAMELLA_RESULT_SAME, LAMELLA_RESULT_BOOL, LAMELLA_RESULT_REAL /* complex gives its part */ };
enum lamella_absent { LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_LOWEST, LAMELLA_ABSENT_HIGHEST };

/* One strip of the compute dtype: data[0] is the output, then the inputs; strides are in bytes, any value
 * including 0. Parameters are numbers, or none. Returns non-zero if the declared fault was met. */
typedef int (*lamella_loop)(int64_t n, void* const* data, const int64_t* strides, const lamella_value* params);

typedef struct {
  uint32_t size;
  uint8_t inputs;                         /* the leading operands: tensors or numbers */
  uint8_t params;                         /* scalar parameters right after them */
  uint8_t accepts;                        /* dtype classes */
  uint8_t compute;                        /* enum lamella_compute_rule */
  uint8_t result;                         /* enum lamella_result_rule */
  uint8_t condition;                      /* 1: the first operand is a bool and does not vote on the dtype */
  uint8_t params_promote;                 /* 1: parameters vote on the dtype like numbers (clamp) */
  uint8_t absent[3];                      /* what a missing parameter means */
  const char* expression;                 /* in C's notation over x, y, z and p, q, r */
  const char* fault;                      /* the message for the declared fault, or null */
  lamella_loop loops[LAMELLA_NUM_DTYPES]; /* by compute dtype; null where not accepted; float16 has none, bfloat16's is
                                           * for operands that are all bfloat16 */
} lamella_pointwise;

/* ---- allocators and backends ------------------------------------------------------------------------------------ */

typedef struct {
  int64_t live_bytes, peak_bytes, cached_bytes;
  int64_t allocations, system_allocations;
} lamella_allocator_stats;

typedef struct {
  uint32_t size;
  void* context;
  lamella_status (*alloc)(void* context, int64_t bytes, int32_t index, void* stream, void** out);
  void (*free)(void* context, void* data, int64_t bytes, int32_t index);
  void (*record_stream)(void* context, void* data, void* stream);        /* nullable */
  void (*stats)(void* context, int32_t index, lamella_allocator_stats*); /* nullable */
  void (*trim)(void* context, int64_t cap); /* nullable: give back cached bytes above cap */
} lamella_allocator;

enum lamella_backend_flags {
  LAMELLA_BACKEND_HOST = 1,         /* the CPU may read its pointers */
  LAMELLA_BACKEND_MIXED_DTYPES = 2, /* kernels take operands of other dtypes than the compute dtype */
  LAMELLA_BACKEND_CPU_FALLBACK = 4  /* a counted fallback may serve missing kernels */
};

typedef struct {
  uint32_t size;
  const char* name;
  int32_t dlpack_type;
  uint32_t flags;
  void* context;
  const lamella_allocator* allocator;
  int32_t (*device_count)(void* context);
  /* Bytes between this backend and host memory, or within it. The other side is host memory. */
  lamella_status (*copy_from_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  lamella_status (*copy_to_host)(void* context, int32_t index, void* dst, const void* src, int64_t bytes);
  lamella_status (*synchronize)(void* context, int32_t index);                            /* nullable */
  lamella_status (*stream_create)(void* context, int32_t index, void** out);              /* nullable */
  void (*stream_destroy)(void* context, int32_t index, void* stream);                     /* nullable */
  lamella_status (*event_record)(void* context, int32_t index, void* stream, void** out); /* nullable */
  lamella_status (*event_wait)(void* context, int32_t index, void* stream, void* event);  /* nullable */
  int32_t (*capability)(void* context, const char* name);                                 /* nullable: 0 no */
} lamella_backend;

/* ---- layers --------------------------------------------------------------------------------------------------------
 */

enum lamella_layer_flags {
  LAMELLA_LAYER_DECOMPOSE = 1,     /* operators without a kernel here run their composite at this layer */
  LAMELLA_LAYER_INSIDE = 2,        /* stays on inside composites and kernels that call operators */
  LAMELLA_LAYER_FOLLOWS_ALIAS = 4, /* views inherit the bit */
  LAMELLA_LAYER_FALLTHROUGH = 8    /* without a kernel the layer is skipped; `fallback` may be null */
};

typedef struct {
  uint32_t size;
  const char* name;
  const char* at;             /* nullable: the anchor whose band it stands in */
  const char* const* outside; /* nullable, null-terminated: it runs before these layers or anchors */
  const char* const* inside;  /* nullable, null-terminated: it runs after these */
  uint32_t flags;
  uint32_t kernel_flags;   /* enum lamella_kernel_flags of the fallback */
  lamella_kernel fallback; /* for every operator that has no kernel of its own here */
  void* context;
  lamella_kernel rule; /* nullable: for operators with a rule of this layer, in all their forms; its payload is the
                        * context */
} lamella_layer;

/* ---- state on tensors and threads
 * -------------------------------------------------------------------------------------- */

typedef int (*lamella_visit)(void* host_object, void* context);

typedef struct {
  uint32_t size;
  const char* name;
  void (*destroy)(void* state);
  int (*traverse)(void* state, lamella_visit visit, void* context); /* nullable: host objects it holds */
  void (*clear)(void* state);                                       /* nullable */
} lamella_slot_type;

typedef struct {
  uint32_t size;
  const char* name;
  void* (*capture)(void* state);    /* a copy to carry to another thread */
  void* (*restore)(void* captured); /* the state for this thread, from a captured one */
  void (*destroy)(void* state);
} lamella_thread_slot_type;

typedef lamella_status (*lamella_get_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                lamella_value* out);
typedef lamella_status (*lamella_set_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                const lamella_value* value);

/* What a factory's keyword does to the fresh tensor: zeros(2, requires_grad=True). The value is any that Python gave.
 */
typedef lamella_status (*lamella_apply_keyword)(lamella_frame*, void* context, lamella_tensor* result,
                                                const lamella_value* value);

/* ---- registration
 * -------------------------------------------------------------------------------------------------------- */

typedef struct lamella_library lamella_library;
typedef uint64_t lamella_handle; /* names one registration; 0 is none */

enum lamella_kernel_flags {
  LAMELLA_KERNEL_CALLS_OPERATORS = 1 /* layers already passed are switched off around it */
};

enum lamella_forms {
  LAMELLA_FORM_INPLACE = 1,
  LAMELLA_FORM_OUT = 2,
  LAMELLA_FORM_METHOD = 4,
  LAMELLA_FORM_FUNCTION = 8,
  LAMELLA_FORM_PRIVATE = 16,  /* not shown in the namespace */
  LAMELLA_FORM_NO_KERNEL = 32 /* the shape rule is the whole operator (views, empty): every device has it */
};

typedef struct {
  uint32_t size;
  const char* schema;   /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  const char* category; /* nullable: "pointwise", "reduction", … */
  const char* doc;      /* nullable */
  uint32_t forms;       /* enum lamella_forms */
  lamella_infer infer;  /* nullable */
  const void* infer_context;
  const lamella_pointwise* pointwise; /* nullable; gives the shape rule too */
  const char* file;                   /* nullable: where it was written */
  int32_t line;
} lamella_operator_def;

/* ---- what a schema says of an argument or of a result
 * -------------------------------------------------------------------- */

enum lamella_kind {
  LAMELLA_KIND_TENSOR,
  LAMELLA_KIND_SCALAR,
  LAMELLA_KIND_INT,
  LAMELLA_KIND_FLOAT,
  LAMELLA_KIND_BOOL,
  LAMELLA_KIND_COMPLEX,
  LAMELLA_KIND_STRING,
  LAMELLA_KIND_DTYPE,
  LAMELLA_KIND_LAYOUT,
  LAMELLA_KIND_DEVICE,
  LAMELLA_KIND_MEMORY_FORMAT,
  LAMELLA_KIND_GENERATOR,
  LAMELLA_KIND_OBJECT,
  LAMELLA_KIND_ANY
};

enum lamella_argument_flags {
  LAMELLA_ARGUMENT_LIST = 1,
  LAMELLA_ARGUMENT_OPTIONAL = 2,
  LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS = 4,
  LAMELLA_ARGUMENT_KEYWORD_ONLY = 8,
  LAMELLA_ARGUMENT_HAS_DEFAULT = 16,
  LAMELLA_ARGUMENT_WRITTEN = 32, /* (a!) */
  LAMELLA_ARGUMENT_OUT = 64      /* an output of an out= form */
};

typedef struct {
  uint32_t size;
  uint32_t kind;       /* enum lamella_kind */
  uint32_t flags;      /* enum lamella_argument_flags */
  int32_t alias_of;    /* of a result: the argument whose alias set it shares, or -1 */
  const char* name;    /* empty for a result without a name */
  lamella_value value; /* the default; borrowed, lives as long as the process */
} lamella_argument;

enum lamella_operator_form { LAMELLA_FUNCTIONAL_FORM, LAMELLA_INPLACE_FORM, LAMELLA_OUT_FORM };

typedef struct lamella_api lamella_api;
typedef lamella_status (*lamella_body)(void* context, int64_t begin, int64_t end);

/* ---- the table: append-only
 * ---------------------------------------------------------------------------------------------- */

struct lamella_api {
  uint32_t size;
  uint32_t version;
  const char* library_version;

  /* errors */
  lamella_status (*raise)(int32_t kind, const char* message);
  lamella_status (*raise_host)(void* payload, void (*release)(void*), const char* message);
  void (*add_note)(const char* note);
  const char* (*error_message)(void); /* of this thread's pending error, or null */
  int32_t (*error_kind)(void);
  void* (*error_payload)(void);
  void (*error_clear)(void);

  /* objects and values */
  void (*retain)(void* object);
  void (*release)(void* object);
  lamella_status (*value_retain)(const lamella_value* value, lamella_value* out); /* an owned copy */
  void (*value_release)(lamella_value* value);                                    /* of an owned value; leaves none */

  /* tensors */
  lamella_status (*tensor_empty)(int32_t ndim, const int64_t* sizes, const int64_t* strides, uint8_t dtype,
                                 lamella_device device, lamella_tensor** out); /* strides may be null */
  lamella_status (*tensor_from_blob)(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                     uint8_t dtype, lamella_device device, void (*deleter)(void*), void* context,
                                     lamella_tensor** out);
  lamella_status (*tensor_view)(lamella_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                int64_t storage_offset, lamella_tensor** out);
  lamella_tensor* (*tensor_base)(const lamella_tensor*); /* the root of a view, or null; borrowed */
  uint64_t (*tensor_version)(const lamella_tensor*);
  void (*tensor_set_keys)(lamella_tensor*, uint64_t keys);
  void* (*storage_data)(const lamella_storage*);
  int64_t (*storage_bytes)(const lamella_storage*);
  void (*storage_add_sticky)(lamella_storage*, uint64_t keys); /* calls with any view of it reach these layers */

  /* calling */
  const lamella_operator* (*find_operator)(const char* name, const char* overload); /* "aten::add", "Tensor"; or null */
  lamella_status (*call)(lamella_frame* parent, const lamella_operator* op, const lamella_value* args,
                         lamella_value* rets);
  lamella_status (*redispatch)(lamella_frame* frame, const lamella_value* args, lamella_value* rets);
  lamella_thread* (*thread)(void);
  const char* (*operator_name)(const lamella_operator*);     /* "aten::add" */
  const char* (*operator_overload)(const lamella_operator*); /* "Tensor" or "" */
  const char* (*operator_schema)(const lamella_operator*);
  const char* (*operator_category)(const lamella_operator*);
  const lamella_pointwise* (*operator_pointwise)(const lamella_operator*);
  int32_t (*operator_num_args)(const lamella_operator*);
  int32_t (*operator_num_returns)(const lamella_operator*);

  /* work */
  lamella_status (*parallel_for)(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context);
  lamella_status (*scratch)(lamella_frame* frame, int64_t bytes, void** out); /* host memory until the kernel returns */
  lamella_status (*check_interrupt)(void);
  lamella_status (*generator_reserve)(lamella_object* generator, lamella_device device, uint64_t n, uint64_t* seed,
                                      uint64_t* offset);

  /* registration: each call returns a handle that withdraws it */
  lamella_status (*library_open)(const char* ns, const char* owner, lamella_library** out);
  void (*library_close)(lamella_library*); /* withdraws all that came through it */
  lamella_status (*define)(lamella_library*, const lamella_operator_def*, lamella_handle*);
  lamella_status (*kernel)(lamella_library*, const char* op, const char* key, lamella_kernel, void* context,
                           uint32_t flags, const char* file, int32_t line,
                           lamella_handle*); /* key: a layer, a device, "composite" */
  lamella_status (*category_kernel)(lamella_library*, const char* category, const char* key, lamella_kernel,
                                    void* context, uint32_t flags, const char* file, int32_t line, lamella_handle*);
  lamella_status (*shape_rule)(lamella_library*, const char* op, lamella_infer, const void* context, lamella_handle*);
  lamella_status (*layer)(lamella_library*, const lamella_layer*, int32_t* bit, lamella_handle*);
  lamella_status (*backend)(lamella_library*, const lamella_backend*, int32_t* id, lamella_handle*);
  lamella_status (*rule)(lamella_library*, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                         lamella_handle*);
  void* (*find_rule)(const lamella_operator*, const char* layer);
  lamella_status (*publish_interface)(lamella_library*, const char* name, uint32_t version, const void* table,
                                      lamella_handle*);
  const void* (*find_interface)(const char* name, uint32_t min_version);
  lamella_status (*withdraw)(lamella_handle);

  /* state */
  lamella_status (*tensor_slot)(lamella_library*, const lamella_slot_type*, int32_t* index);
  void* (*slot_get)(const lamella_tensor*, int32_t index);
  void (*slot_set)(lamella_tensor*, int32_t index, void* state); /* destroys the state that was there */
  lamella_status (*thread_slot)(lamella_library*, const lamella_thread_slot_type*, int32_t* index);
  void* (*thread_slot_get)(int32_t index);
  void (*thread_slot_set)(int32_t index, void* state);
  void* (*thread_capture)(void);          /* all registered slots, include, exclude, default device */
  void (*thread_restore)(void* captured); /* consumes it */
  lamella_status (*attribute)(lamella_library*, const char* name, lamella_get_attribute, lamella_set_attribute,
                              void* context, lamella_handle*);
  void (*process_include)(uint64_t bits, int on); /* layers switched on for every thread */

  /* devices and memory */
  lamella_status (*find_backend)(const char* name, int32_t* id);
  const char* (*backend_name)(int32_t id);
  lamella_status (*host_pool)(const lamella_allocator* upstream, int64_t cap, const lamella_allocator** out);

  /* what operators look like */
  lamella_status (*operator_argument)(const lamella_operator*, int32_t i, lamella_argument* out);
  lamella_status (*operator_return)(const lamella_operator*, int32_t i, lamella_argument* out);
  int32_t (*operator_form)(const lamella_operator*);                       /* enum lamella_operator_form */
  const lamella_operator* (*operator_functional)(const lamella_operator*); /* of a derived form, else null */
  int32_t (*find_overloads)(const char* name, const lamella_operator** out, int32_t room); /* how many there are */

  /* A tensor of its own over the same elements: no base, no slots, no layers' keys; versions are shared. */
  lamella_status (*tensor_detach)(lamella_tensor*, lamella_tensor** out);
  int64_t (*storage_use_count)(const lamella_storage*); /* how many tensors share it */
  /* a keyword of every operator of the categories creation and random that takes `dtype` */
  lamella_status (*keyword)(lamella_library*, const char* name, lamella_apply_keyword, void* context, lamella_handle*);
};

/* A library's entry, called by the loader: `lamella_plugin_init`. */
typedef lamella_status (*lamella_plugin_init_fn)(const lamella_api* api);

#ifdef __cplusplus
}
#endif
#endif
