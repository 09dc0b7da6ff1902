/* The C ABI of Lamella: all that a plugin, a backend or a custom operator needs, in plain C. Read <lamella/types.h>
 * first (objects, tensors, values, the frame), then this from top to bottom: what can be registered, then the table of
 * functions. Sugar in C++ over exactly this file is in extension.h; docs/abi.md says what is promised.
 *
 * Note [Ownership]  Arguments are borrowed for the call. Results are owned by the caller, and empty (tag
 *   LAMELLA_NONE) after an error. To keep an argument longer, `retain` it; a retained list or string is a copy.
 * Note [Status]     Every function that can fail returns a lamella_status, 0 on success. A function that fails calls
 *   `raise`, and returns the status that `raise` returned. Code that gets a non-zero status from another function hands
 *   it on unchanged; to go on after an error, it calls `error_clear`.
 * Note [Kernels]    A backend kernel of an operator that has a shape rule finds its outputs allocated in `rets`
 *   and writes into them; it neither checks nor allocates. If the rule says LAMELLA_META_DYNAMIC, or if an
 *   operator has no shape rule, `rets` is empty and the kernel fills it with results of its own. A layer's
 *   kernel always returns results of its own: usually those that `redispatch` gave it.
 * Note [Declining]  A kernel of a backend, a category or a dtype returns LAMELLA_DECLINED for a call that it does not
 *   serve. It raises no error, and has written to no output by then. The device's other kernels for the operator, such
 *   as its category's, are passed over too. The operator's composite serves the call, in its form; if there is
 *   none, a kernel of the device for every operator ("*"), then the counted fallback to the host if the backend allows
 *   it; else the call is an error that names the operator and the device.
 * Note [Threads]    Every function of the table may be called on any thread, also while others call and register; one
 *   tensor's data, version and slots are written by one thread at a time. Kernels, rules and handlers run on the
 *   caller's thread, and on many at once. The pending error belongs to the thread.
 * Note [Contexts]   Every registered function gets back the `context` that was registered with it; a function that gets
 *   a state which its plugin made (slots, deleters, payloads) gets that instead of a context. Contexts, and the strings
 *   and tables that are not copied, must live as long as the process: a call that began before their registration was
 *   withdrawn may still use them. To reclaim a context's memory, free what it holds, let its kernel return
 *   LAMELLA_RETRY, and keep the empty context itself. Strings are copied.
 * Note [Null]       No argument may be null unless it says "nullable"; handles that are returned (lamella_handle*) are
 *   nullable always. Functions that return a status return LAMELLA_VALUE_ERROR for a null, for a library that was
 *   closed, and for an index that no registration returned; retain, release and value_release of null do nothing. The
 *   effect of any other null is undefined.
 * Note [Opaque tensors]  A tensor with the flag LAMELLA_OPAQUE has a shape, a dtype (the one that arithmetic sees), a
 *   device and keys, but dl.data is null: a layer keeps its values in a slot. Views of it are opaque, too. No kernel
 *   below the layers gets one unless it was registered with LAMELLA_KERNEL_OPAQUE. Otherwise the operator's composite
 *   runs, and if there is none, the call is an error that names the layers of the tensor. Code that reads values calls
 *   the operator "aten::_materialize" first: a layer returns a tensor that has them. If no layer does so, printing,
 *   copying, pickling and exports are errors.
 * Note [Dtypes]     The dtypes below LAMELLA_PLAIN_DTYPES have arithmetic, and every kernel may get them. A tensor of
 *   another dtype, one of the library's that only hold numbers or one that a plugin has registered, reaches a kernel
 *   below the layers in two cases: the kernel was registered with LAMELLA_KERNEL_ANY_DTYPE; or its key is the dtype's
 *   name, and all tensors are in host memory; it then precedes the device's own kernel. In other cases the operator's
 *   composite runs, and if there is none, the call is an error that names the dtype. The same holds for results. So no
 *   kernel gets a dtype that was added after the kernel was written. For a pointwise operator the dtype that it
 *   computes in decides, and operands of other dtypes are converted before the kernel gets them.
 * Note [Slots]      A layer keeps its data about a tensor in a slot. The slot's type says what happens to the state
 *   when operators make tensors from the tensor: `carry` for views, detached tensors and copies, `save` and `load` for
 *   pickles, files and deepcopy. Without these functions the state stays behind, and the key of the slot's layer with
 *   it; other keys are not carried, except to detached tensors, and to views those of layers with
 *   LAMELLA_LAYER_FOLLOWS_ALIAS. An alias or a copy of an opaque tensor is an error unless one of its slots has a
 *   `carry`. tensor_assign replaces the states that carry by those of the other tensor. tensor_view and tensor_over are
 *   for kernels: they make bare tensors, without keys and states.
 * Note [Dimensions] The text `dims` of an operator says how the dimensions of its results follow from those of its
 *   tensors, so that layers such as names, vmap and sharding need no table of operators. One of
 *     broadcast   each result has the dimensions of all tensors, broadcast
 *     keep        each result has the dimensions of the first tensor; those that arguments with LAMELLA_ARGUMENT_DIM
 *                 name may have another size, and the values along them depend on each other
 *     reduce      as keep, but the dimensions that the argument `dim` names (all, if it names none) are gone, or have
 *                 size 1 if `keepdim` is true
 *   or a pattern for each tensor and each result, "... i k, ... k j -> ... i j". A word is a dimension, `...` further
 *   ones, which broadcast. A word with `~` carries on to a result in meaning alone: the values along it depend on each
 *   other, and its size may change. A word of the results alone is a new dimension. Along all other dimensions the
 *   operator computes for each index alone, so that it commutes with permutations of them.
 * Note [Append only]  Entries are added at the end of the table, each under
 *   #if LAMELLA_TARGET_VERSION >= LAMELLA_MAKE_VERSION(1, m), in the section of its minor version; none is moved,
 *   retyped or taken away.
 */
#ifndef LAMELLA_C_API_H
#define LAMELLA_C_API_H

#include <lamella/backend.h>
#include <lamella/state.h>
#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape rules ------------------------------------------------------------------------------------------------ */

enum lamella_meta_kind {
  LAMELLA_META_FRESH = 0, /* allocate: sizes, dtype, and strides if they are set */
  LAMELLA_META_ALIAS = 1, /* a view of args[alias_of]: sizes, strides, offset, in elements of `dtype` if that is set */
  LAMELLA_META_SAME = 2,  /* args[alias_of] itself */
  LAMELLA_META_DYNAMIC = 3,  /* the shape depends on values: the kernel allocates */
  LAMELLA_META_DETACHED = 4, /* shares memory like ALIAS, but is no view: no base, no keys */
  LAMELLA_META_NONE = 5      /* no result: one of several, which the caller did not ask for */
};

enum lamella_meta_flags {
  LAMELLA_META_STRIDES = 1, /* `strides` is set */
  LAMELLA_META_PINNED = 2   /* a fresh tensor of the host is in memory that a backend pins: see host_allocator */
};

/* An array of lamella_meta is passed to the rule, so the struct's size never changes. Other bits of `flags` will give
 * the reserved words a meaning; the rule finds `flags` zero, and unknown bits are an error. */
typedef struct {
  uint8_t kind;
  uint8_t dtype; /* LAMELLA_NO_DTYPE when the rule is called */
  uint8_t alias_of;
  uint8_t flags; /* enum lamella_meta_flags */
  int32_t ndim;
  int64_t offset; /* of an alias: storage offset in elements */
  int64_t reserved[4];
  int64_t sizes[LAMELLA_MAX_DIMS];
  int64_t strides[LAMELLA_MAX_DIMS];
} lamella_meta;

/* Checks the arguments and describes each output. May set frame->compute_dtype. */
typedef lamella_status (*lamella_infer)(lamella_frame* frame, const lamella_value* args, lamella_meta* outs);

/* A shape rule of an operator and of its derived forms. num_args: the number of arguments that the rule was written
 * for, as in lamella_kernel_def. */
typedef struct {
  uint32_t size;
  int32_t num_args;
  lamella_infer infer;
  void* context;
} lamella_shape_rule_def;

/* ---- pointwise operators, by meaning ---------------------------------------------------------------------------- */

#define LAMELLA_MAX_LOOPS 32 /* room for the plain dtypes and for later ones */

enum lamella_compute_rule {
  LAMELLA_COMPUTE_SAME = 0,
  LAMELLA_COMPUTE_FLOAT = 1 /* integers become the default float */
};
enum lamella_result_rule {
  LAMELLA_RESULT_SAME = 0,
  LAMELLA_RESULT_BOOL = 1,
  LAMELLA_RESULT_REAL = 2 /* complex dtypes give the dtype of their parts */
};
enum lamella_absent { LAMELLA_ABSENT_ERROR = 0, LAMELLA_ABSENT_LOWEST = 1, LAMELLA_ABSENT_HIGHEST = 2 };

/* Computes n elements in one compute dtype: data[0] is the output, the inputs follow; strides are in bytes, any value
 * including 0. `params` are numbers, or none. Returns non-zero if the declared fault was met. A loop has no context:
 * what it computes depends on its arguments alone. */
typedef int32_t (*lamella_loop)(int64_t n, void* const* data, const int64_t* strides, const lamella_value* params);

/* The meaning of an operator, as one expression for each class of dtypes in the notation of
 * <lamella/pointwise/prelude.h>. Null if the class is not accepted, or if a generator of code has to use the
 * operator's loops. */
typedef struct {
  const char* of_bools;
  const char* of_integers;
  const char* of_floats;
  const char* of_complex;
} lamella_expressions;

typedef struct {
  uint32_t size;
  uint8_t inputs;         /* the leading operands: tensors or numbers */
  uint8_t params;         /* scalar parameters right after them */
  uint8_t accepts;        /* dtype classes */
  uint8_t compute;        /* enum lamella_compute_rule */
  uint8_t result;         /* enum lamella_result_rule */
  uint8_t condition;      /* 1: the first operand is a bool, and is left out of promotion */
  uint8_t params_promote; /* 1: parameters take part in promotion like numbers (clamp) */
  uint8_t absent[8];      /* enum lamella_absent: the meaning of a missing parameter */
  uint8_t reserved[5];
  lamella_expressions expressions;
  const char* fault;                     /* the message for the declared fault, or null */
  const char* fault_condition;           /* an expression that is true where the fault occurs; or null */
  lamella_loop loops[LAMELLA_MAX_LOOPS]; /* by compute dtype; null where not accepted; float16 has none, bfloat16's is
                                          * for operands that are all bfloat16 */
} lamella_pointwise;

/* ---- layers ----------------------------------------------------------------------------------------------------- */

enum lamella_layer_flags {
  LAMELLA_LAYER_DECOMPOSE = 1,     /* operators without a kernel here run their composite at this layer */
  LAMELLA_LAYER_INSIDE = 2,        /* stays on inside composites and kernels that call operators */
  LAMELLA_LAYER_FOLLOWS_ALIAS = 4, /* views inherit the bit */
  LAMELLA_LAYER_FALLTHROUGH = 8,   /* without a kernel the layer is skipped; `fallback` may be null */
  /* An observer or a mode: no tensor has its key, so its bit is free again once the layer is withdrawn. Before
   * that, the plugin must clear the bit on all threads. */
  LAMELLA_LAYER_NEVER_ON_TENSORS = 16,
  /* Off while backward computes and adds up gradients, but not in hooks: the layer needs no rules for the operators
   * that derivatives call. */
  LAMELLA_LAYER_NOT_IN_BACKWARD = 32
};

typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_layer_flags */
  const char* name;
  const char* at;             /* nullable: the anchor whose band it is in */
  const char* const* outside; /* nullable, null-terminated: it runs before these layers or anchors */
  const char* const* inside;  /* nullable, null-terminated: it runs after these */
  lamella_kernel fallback;    /* for every operator that has no kernel of its own here; see LAMELLA_LAYER_FALLTHROUGH */
  void* context;
  lamella_kernel rule;   /* nullable: for operators with a rule of this layer, in all their forms; its payload is the
                          * context */
  uint32_t kernel_flags; /* enum lamella_kernel_flags of the fallback */
  uint32_t reserved;
  /* Nullable: makes the context that `rule` gets in place of an operator's payload. Called whenever the operator's
   * table is filled, under a lock: it must call no operator and wait for no thread. The context must live as long as
   * the process. Null: no memory. */
  void* (*prepare)(void* context, const lamella_operator* op, const void* payload);
} lamella_layer;

/* ---- registration ----------------------------------------------------------------------------------------------- */

typedef struct lamella_library lamella_library;
typedef struct lamella_captured lamella_captured; /* the state of a thread, for another one: thread_capture */

enum lamella_kernel_flags {
  LAMELLA_KERNEL_CALLS_OPERATORS = 1, /* layers already passed are switched off around it */
  LAMELLA_KERNEL_FAILS_LATE = 2,      /* a call that fails may have written, and counts as a write */
  LAMELLA_KERNEL_OPAQUE = 4,          /* a kernel of a device, "backend" or a category may get opaque tensors */
  LAMELLA_KERNEL_ANY_DTYPE = 8,       /* such a kernel may get tensors of any dtype: Note [Dtypes] */
  /* A layer's kernel of a functional form also gets the calls of the in-place and out= forms that have none of their
   * own. frame->op is the form; an out= form has its outputs as further arguments, the last ones. */
  LAMELLA_KERNEL_ALL_FORMS = 32,
  LAMELLA_KERNEL_BETWEEN_DEVICES = 16 /* copy_'s kernel also gets copies from and to other devices. If it returns
                                       * LAMELLA_DECLINED, or LAMELLA_NOT_IMPLEMENTED without an error, the bytes are
                                       * moved as without the kernel */
};

/* One kernel. num_args: how many arguments the operator had when the kernel was written, outputs among them. If it
 * has more now, the kernel is called with the arguments that it takes, provided that the others have their default
 * values; else the call is an error. 0: the kernel takes any number of arguments, and reads the number
 * from the frame. */
#define LAMELLA_NO_ARGUMENTS (-1) /* num_args of a kernel that was written for no arguments */
typedef struct {
  uint32_t size;
  uint32_t flags;        /* enum lamella_kernel_flags */
  lamella_kernel kernel; /* null, at a layer: the operator falls through it */
  void* context;
  const char* file; /* nullable: where it was written */
  int32_t line;
  int32_t num_args;
} lamella_kernel_def;

/* A namespace has one library at a time that defines it; any number may add operators to it, or kernels alone. */
enum lamella_library_kind { LAMELLA_DEFINES = 0, LAMELLA_EXTENDS = 1, LAMELLA_IMPLEMENTS = 2 };

typedef struct {
  uint32_t size;
  uint32_t version; /* LAMELLA_TARGET_VERSION: the version that the caller was built for */
  const char* ns;
  const char* owner; /* for messages */
  uint32_t kind;     /* enum lamella_library_kind */
  uint32_t reserved;
} lamella_library_def;

enum lamella_forms {
  LAMELLA_FORM_INPLACE = 1,
  LAMELLA_FORM_OUT = 2,
  LAMELLA_FORM_METHOD = 4,
  LAMELLA_FORM_FUNCTION = 8,
  LAMELLA_FORM_PRIVATE = 16,   /* not shown in the namespace */
  LAMELLA_FORM_NO_KERNEL = 32, /* the shape rule is the whole operator (views, empty): every device has it */
};

typedef struct {
  uint32_t size;
  uint32_t forms;       /* enum lamella_forms */
  const char* schema;   /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  const char* category; /* nullable: "pointwise", "reduction", … */
  const char* doc;      /* nullable */
  lamella_infer infer;  /* nullable */
  void* infer_context;
  const lamella_pointwise* pointwise; /* nullable; gives the shape rule too */
  const char* file;                   /* nullable: where it was written */
  int32_t line;
  uint32_t reserved;
  const char* aliases; /* nullable: further names of the operator, "multiply", separated by spaces. They hold for the
                          overloads of the name that are defined later, too. */
  const char* module;  /* nullable: the module that shows the operator beside its namespace in lamella.ops: with
                          "linalg", `linalg_norm` and `norm` are lamella.linalg.norm. An operator of the catalogue that
                          names none is shown at the top level. */
  const char* dims;    /* nullable: how the dimensions of the results follow from the arguments': Note [Dimensions] */
} lamella_operator_def;

typedef struct lamella_api lamella_api;
typedef lamella_status (*lamella_body)(void* context, int64_t begin, int64_t end);

/* ---- the table: append-only ------------------------------------------------------------------------------------- */

struct lamella_api {
  uint32_t size;
  uint32_t version; /* major << 16 | minor: LAMELLA_MAKE_VERSION */
  const char* library_version;

  /* errors: of this thread, until cleared. Strings are borrowed until the next error. */
  lamella_status (*raise)(int32_t kind, const char* message); /* returns the kind; one below 1 becomes RUNTIME_ERROR */
  lamella_status (*raise_host)(void* payload, void (*release)(void*), const char* message); /* takes the payload over */
  void (*add_note)(const char* note); /* adds a line, such as a place or a traceback; does nothing without an error */
  const char* (*error_message)(void); /* or null */
  int32_t (*error_kind)(void);        /* or 0 */
  void* (*error_payload)(void);       /* or null; borrowed */
  void (*error_clear)(void);
  lamella_object* (*error_take)(void); /* null, or the error as an object to keep, or to carry to another thread */
  lamella_status (*error_restore)(lamella_object* error); /* takes the object over; returns the error's kind */

  /* objects and values */
  void (*retain)(void* object);
  void (*release)(void* object);
  lamella_status (*value_retain)(const lamella_value* value, lamella_value* out); /* an owned copy */
  void (*value_release)(lamella_value* value);                                    /* *value becomes none */

  /* tensors */
  lamella_status (*tensor_empty)(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                 lamella_device device, lamella_tensor** out); /* strides: nullable */
  /* Memory of the caller; the deleter (nullable) gets `context` on any thread, and is not called after an error. */
  lamella_status (*tensor_from_blob)(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                     int32_t dtype, lamella_device device, void (*deleter)(void*), void* context,
                                     lamella_tensor** out); /* strides: nullable */
  lamella_status (*tensor_view)(lamella_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                int64_t storage_offset, lamella_tensor** out);
  /* Makes an opaque tensor, which has no memory: Note [Opaque tensors]. Set its keys by tensor_update_keys. strides:
   * nullable. */
  lamella_status (*tensor_opaque)(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                  lamella_device device, lamella_tensor** out);
  /* Makes an opaque tensor whose values a layer keeps in an existing storage, which the tensor retains: it has that
   * storage's version, bytes and device. Sizes, strides and dtype are those that arithmetic sees. strides: nullable. */
  lamella_status (*tensor_opaque_over)(lamella_storage*, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                       int32_t dtype, lamella_tensor** out);
  /* Makes a tensor over an existing storage, which it retains. strides: nullable; the offset counts elements. */
  lamella_status (*tensor_over)(lamella_storage*, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                int64_t storage_offset, int32_t dtype, lamella_tensor** out);
  /* Makes a tensor over the same elements that is no view: it has no base, and shares the version. It keeps the
   * layers' keys except `drop_keys`, and the states that slots carry (LAMELLA_CARRY_DETACH). */
  lamella_status (*tensor_detach)(lamella_tensor*, uint64_t drop_keys, lamella_tensor** out);
  /* Gives `to` the storage, the sizes, the strides, the dtype and the device of `from`, and the states of its slots
   * that carry; other keys and states stay. `to` is no view afterwards. After an error nothing has changed. */
  lamella_status (*tensor_assign)(lamella_tensor* to, lamella_tensor* from);
  /* Gives a tensor other sizes over its memory, from its first element on; strides: nullable, row-major. If the
   * memory is too small, the tensor gets new memory that begins with the old bytes; other tensors keep the old
   * memory. States that carry follow (LAMELLA_CARRY_RESIZE). Fails, and changes nothing, for an opaque tensor, for a
   * view or memory of others (tensor_from_blob with a deleter) that would have to grow, and if a slot refuses. */
  lamella_status (*tensor_resize)(lamella_tensor*, int32_t ndim, const int64_t* sizes, const int64_t* strides);
  /* Gives `to` the states that the slots of `from` carry in a way (enum lamella_carry): for a layer that makes tensors
   * itself. Does nothing if no slot of `from` carries. */
  lamella_status (*tensor_carry)(lamella_tensor* from, lamella_tensor* to, int32_t how);
  lamella_tensor* (*tensor_base)(const lamella_tensor*); /* the root of a view, or null; borrowed */
  uint64_t (*tensor_version)(const lamella_tensor*);
  /* Sets some bits of layers and clears others. A bit that no layer has is an error, and then nothing changes. */
  lamella_status (*tensor_update_keys)(lamella_tensor*, uint64_t set, uint64_t clear);
  void* (*storage_data)(const lamella_storage*);
  int64_t (*storage_bytes)(const lamella_storage*);
  /* Returns the number of references to a storage: one for each tensor over it, and those of storage_retain. */
  int64_t (*storage_use_count)(const lamella_storage*);
  lamella_status (*storage_add_sticky)(lamella_storage*, uint64_t keys); /* calls with any view reach these layers */
  void (*storage_retain)(lamella_storage*); /* `retain` is for objects, and a storage is none */
  void (*storage_release)(lamella_storage*);

  /* calling. Operators live as long as the process; calling one that was withdrawn is an error. */
  const lamella_operator* (*find_operator)(const char* name, const char* overload); /* "aten::add", "Tensor"; or null */
  /* args: those that the schema had when the caller was written. Arguments appended since get their defaults; the
   * outputs of an out= form stay last. rets: room for the results or more, not set before; the rest is set to none.
   * A value of a kind that the schema does not admit is an error. The parent, the frame of the caller, may be null. */
  lamella_status (*call)(lamella_frame* parent, const lamella_operator* op, const lamella_value* args, int32_t num_args,
                         lamella_value* rets, int32_t num_rets);
  /* Goes on from a layer's kernel to the layers below: those of the call, and those of the tensors in `args`, unless
   * they were off when the call began. Arguments left out keep the call's values. Kinds are not checked. */
  lamella_status (*redispatch)(lamella_frame* frame, const lamella_value* args, int32_t num_args, lamella_value* rets,
                               int32_t num_rets);
  /* Called by a layer before it follows a rule that was written when the operator had num_args arguments (as in
   * lamella_kernel_def; 0: nothing is checked): fails unless the arguments appended since have their default values.
   * args: all arguments of the operator now. `who` names the rule in the error: "the derivative". */
  lamella_status (*check_defaults)(const lamella_operator* op, const lamella_value* args, int32_t num_args,
                                   const char* who);
  lamella_thread* (*thread)(void);
  /* Returns the kernel that now serves an operator under a key (one that `kernel` takes), as an owned object of type
   * "Kernel": a kernel that is registered over it later can call it. Its calls begin at the key, with no layer above
   * it. Once the kernel is withdrawn, calling it may be an error. */
  lamella_status (*find_kernel)(const lamella_operator*, const char* key, lamella_object** out);
  lamella_status (*call_kernel)(lamella_frame* parent, lamella_object* kernel, const lamella_value* args,
                                int32_t num_args, lamella_value* rets, int32_t num_rets); /* as `call` */

  /* descriptions of operators, borrowed. If the schema does not parse, operator_schema, operator_argument and
   * operator_return return null, the numbers of arguments and results are -1, and an error is pending; null with an
   * error stands also for an argument or a result that the operator does not have. */
  const char* (*operator_name)(const lamella_operator*);     /* "aten::add" */
  const char* (*operator_overload)(const lamella_operator*); /* "Tensor" or "" */
  const char* (*operator_schema)(const lamella_operator*);
  const char* (*operator_category)(const lamella_operator*);               /* "" if it has none */
  const lamella_pointwise* (*operator_pointwise)(const lamella_operator*); /* or null */
  int32_t (*operator_num_args)(const lamella_operator*);
  int32_t (*operator_num_returns)(const lamella_operator*);
  const lamella_argument* (*operator_argument)(const lamella_operator*, int32_t i);
  const lamella_argument* (*operator_return)(const lamella_operator*, int32_t i);
  int32_t (*operator_form)(const lamella_operator*);                       /* enum lamella_operator_form */
  const lamella_operator* (*operator_functional)(const lamella_operator*); /* of a derived form, else null */
  /* Returns how many operators have the name, out= forms included, and writes the first `room` of them to `out`. */
  int32_t (*find_overloads)(const char* name, const lamella_operator** out, int32_t room);
  /* Returns how many operators there are, all forms included, and writes the first `room` of them to `out`. */
  int32_t (*operators)(const lamella_operator** out, int32_t room);
  const char* (*operator_dims)(const lamella_operator*); /* "" if the definition does not say: Note [Dimensions] */
  /* Runs the operator's shape rule alone. args: as for `call`. The rule checks them and describes the results in
   * `outs`, which has room for each of them; `device` (nullable) gets the device that would serve the call. Fails for
   * an operator without a shape rule. */
  lamella_status (*infer)(const lamella_operator*, const lamella_value* args, int32_t num_args, lamella_meta* outs,
                          int32_t num_outs, lamella_device* device);

  /* work */
  lamella_status (*parallel_for)(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context);
  /* The most threads that run a parallel_for. */
  int32_t (*num_threads)(void);
  lamella_status (*scratch)(lamella_frame* frame, int64_t bytes, void** out); /* host memory until the kernel returns */
  lamella_status (*check_interrupt)(void); /* for long kernels: LAMELLA_INTERRUPTED after Ctrl-C */

  /* random numbers: element i of n depends on (seed, offset + i) alone, on every backend */
  lamella_status (*generator_new)(lamella_device device, uint64_t seed, lamella_object** out);
  /* Returns the device's default generator, owned. */
  lamella_status (*generator_default)(lamella_device device, lamella_object** out);
  lamella_status (*generator_get)(lamella_object* generator, uint64_t* seed, uint64_t* offset);
  lamella_status (*generator_set)(lamella_object* generator, uint64_t seed, uint64_t offset);
  lamella_status (*generator_reserve)(lamella_object* generator, lamella_device device, uint64_t n, uint64_t* seed,
                                      uint64_t* offset); /* generator: null is the device's default one */

  /* registration: a lamella_handle* gets the handle that withdraws what was registered. Names of operators without "::"
   * are in the library's namespace. */
  lamella_status (*library_open)(const lamella_library_def*, lamella_library** out);
  void (*library_close)(lamella_library*); /* withdraws all that came through it; a second time it does nothing */
  lamella_status (*define)(lamella_library*, const lamella_operator_def*, lamella_handle*);
  /* key: a layer, a device, "backend" (any but meta), "composite", a dtype that is not plain (Note [Dtypes]) */
  lamella_status (*kernel)(lamella_library*, const char* op, const char* key, const lamella_kernel_def*,
                           lamella_handle*);
  /* category "*": a fallback, for operators without another kernel under this key. Its num_args is 0. */
  lamella_status (*category_kernel)(lamella_library*, const char* category, const char* key, const lamella_kernel_def*,
                                    lamella_handle*);
  /* Skips the operator's kernels under a key, also the category's, until the handle is withdrawn. */
  lamella_status (*disable_kernel)(lamella_library*, const char* op, const char* key, lamella_handle*);
  lamella_status (*shape_rule)(lamella_library*, const char* op, const lamella_shape_rule_def*, lamella_handle*);
  lamella_status (*layer)(lamella_library*, const lamella_layer*, int32_t* bit, lamella_handle*);    /* bit: nullable */
  lamella_status (*backend)(lamella_library*, const lamella_backend*, int32_t* id, lamella_handle*); /* id: nullable */
  /* The rule may be registered before its layer. */
  lamella_status (*rule)(lamella_library*, const lamella_rule*, lamella_handle*);
  /* Returns the payload of the operator's last rule without a kind for a layer; or null. */
  void* (*find_rule)(const lamella_operator*, const char* layer);
  /* Registers a callback for the rules of a layer: it is called for each rule that exists, for each that is added,
   * and for each that is withdrawn. Withdrawing this handle calls it once more for each rule, as if that were
   * withdrawn. */
  lamella_status (*on_rule)(lamella_library*, const char* layer, lamella_on_rule, void* context, lamella_handle*);
  /* From one version to the next the table may only grow at its end. An incompatible table takes another name. */
  lamella_status (*publish_interface)(lamella_library*, const char* name, uint32_t version, const void* table,
                                      lamella_handle*);
  const void* (*find_interface)(const char* name, uint32_t min_version); /* or null */
  lamella_status (*withdraw)(lamella_handle);

  /* state */
  lamella_status (*tensor_slot)(lamella_library*, const lamella_slot_type*, int32_t* index);
  void* (*slot_get)(const lamella_tensor*, int32_t index);
  lamella_status (*slot_set)(lamella_tensor*, int32_t index, void* state); /* destroys the state that was there */
  lamella_status (*storage_slot)(lamella_library*, const lamella_slot_type*, int32_t* index);
  void* (*storage_slot_get)(const lamella_storage*, int32_t index);
  lamella_status (*storage_slot_set)(lamella_storage*, int32_t index, void* state);
  lamella_status (*thread_slot)(lamella_library*, const lamella_thread_slot_type*, int32_t* index);
  void* (*thread_slot_get)(int32_t index);
  lamella_status (*thread_slot_set)(int32_t index, void* state);
  /* Copies the settings of this thread, for other threads: the layers switched on and off, the default device, and
   * each slot that has a `copy`. */
  lamella_status (*thread_capture)(lamella_captured** out);
  lamella_status (*thread_copy)(const lamella_captured*, lamella_captured** out); /* a second one, for another thread */
  /* Exchanges a captured state with this thread's, so that a second call undoes the first. A slot with a
   * `copy` that was empty when the state was captured is empty afterwards; a slot without `copy` stays as it is. */
  lamella_status (*thread_swap)(lamella_captured*);
  void (*thread_discard)(lamella_captured*); /* null does nothing */
  lamella_status (*attribute)(lamella_library*, const char* name, lamella_get_attribute, lamella_set_attribute,
                              void* context, lamella_handle*); /* without a setter it is read-only */
  /* a keyword of every operator of the categories creation and random that takes `dtype` */
  lamella_status (*keyword)(lamella_library*, const lamella_keyword_def*, lamella_handle*);
  /* Registers the function that finds dimensions by name, for arguments with LAMELLA_ARGUMENT_DIM of every operator.
   * There is one at a time. */
  lamella_status (*dim_resolver)(lamella_library*, lamella_resolve_dim, void* context, lamella_handle*);
  /* Turns layers on for every thread until the handle is withdrawn. A layer that several handles have turned on
   * stays on until the last of them is withdrawn. */
  lamella_status (*process_include)(lamella_library*, uint64_t bits, lamella_handle*);

  /* devices and memory */
  lamella_status (*find_backend)(const char* name, int32_t* id);
  const char* (*backend_name)(int32_t id); /* also of a withdrawn backend */
  /* The registered description, to call its functions (synchronize, copies, …). Null once withdrawn; never freed. */
  const lamella_backend* (*backend_description)(int32_t id);
  /* Makes an allocator that lives as long as the process and keeps up to `cap` freed bytes of `upstream` (nullable:
   * the system's memory). cap 0: a quarter of the memory. It gives a freed block to the next caller, whatever the
   * stream: it is for memory of one stream a device, and passes `record_stream` on to `upstream`. */
  lamella_status (*host_pool)(const lamella_allocator* upstream, int64_t cap, const lamella_allocator** out);
  /* Makes work that is queued on `stream` from now on wait for the work that is on `behind` now. Note [Order]. */
  lamella_status (*run_behind)(lamella_device, void* stream, void* behind);

  int32_t (*find_layer)(const char* name); /* the number of the layer's bit in masks of keys, or -1 */
  /* The namespace that the library was opened with, or another that was chosen when the file was loaded. Borrowed. */
  const char* (*library_namespace)(const lamella_library*);

  /* events */
  /* kinds: a set of bits, one for each enum lamella_event_kind. */
  lamella_status (*subscribe)(lamella_library*, uint64_t kinds, lamella_on_event, void* context, lamella_handle*);
  /* The kinds that have a subscriber. An emitter reads them first, and does nothing if the bit is not set. */
  const uint64_t* (*event_kinds)(void);
  void (*event)(const lamella_event*);
  /* Registers a callback: called at once if the interface exists in at least this version, and whenever it is
   * published or withdrawn. */
  lamella_status (*on_interface)(lamella_library*, const char* name, uint32_t min_version, lamella_on_interface,
                                 void* context, lamella_handle*);

  /* dtypes. A number is never given to another name, since tensors may have it after the dtype was withdrawn; from
   * then on, tensors of the dtype are made only from these. A name that is registered again gets its old number. */
  lamella_status (*dtype_register)(lamella_library*, const lamella_dtype_def*, int32_t* dtype, lamella_handle*);
  lamella_status (*find_dtype)(const char* name, int32_t* dtype);
  const lamella_dtype_def* (*dtype_info)(int32_t dtype); /* null: there is none */

  /* The bits of the layers that have LAMELLA_LAYER_NOT_IN_BACKWARD, for an engine that walks backward. */
  const uint64_t* (*layers_not_in_backward)(void);

  /* ---- here ends version 1.0; what comes later is appended ---- */
};

/* A library's entry, called by the loader: `lamella_plugin_init`. The table lives as long as the process. If it
 * returns an error, all that it registered is withdrawn. */
typedef lamella_status (*lamella_plugin_init_fn)(const lamella_api* api);

LAMELLA_LAYOUT(sizeof(lamella_meta) == 48 + 16 * LAMELLA_MAX_DIMS && sizeof(lamella_argument) == 40);
LAMELLA_LAYOUT(offsetof(lamella_api, raise) == 16);

#ifdef __cplusplus
}
#endif
#endif
