/* The structs by which a library describes itself and what it registers about operators: shape rules, pointwise
 * meanings, layers, kernels and definitions. The entries of lamella_api that take these structs, and the notes that
 * this file cites, are in c_api.h. */
#ifndef LAMELLA_DEFINITIONS_H
#define LAMELLA_DEFINITIONS_H

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
  LAMELLA_META_PINNED = 2,  /* a fresh tensor of the host is in memory that a backend pins: see host_allocator */
  LAMELLA_META_EXACT = 4    /* an out= target must have this dtype: others would change the elements' meaning */
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

LAMELLA_LAYOUT(sizeof(lamella_meta) == 48 + 16 * LAMELLA_MAX_DIMS && sizeof(lamella_argument) == 40);

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
  /* An observer or a mode: no tensor can get its key. The bit of any layer whose key no tensor has had is free again once
   * the layer is withdrawn and no thread includes it. */
  LAMELLA_LAYER_NEVER_ON_TENSORS = 16,
  /* Off while backward computes and adds up gradients, but not in hooks: the layer needs no rules for the operators
   * that derivatives call. */
  LAMELLA_LAYER_NOT_IN_BACKWARD = 32,
  LAMELLA_LAYER_PREPARES_ALL =
      64 /* `prepare` is also called for operators that `fallback` serves: their payload is null */
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
  /* Nullable: makes the context that `rule` gets in place of an operator's payload, and with LAMELLA_LAYER_PREPARES_ALL
   * the one that `fallback` gets in place of the layer's. Called whenever the operator's table is filled, under a lock:
   * it must call no operator and wait for no thread. The context must live as long as the process. Null: no memory. */
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
  /* The version of the namespace's operators: a whole number that the library raises when one of its operators gets an
   * argument, or when its results change. 0 is 1. A program that was stored says which versions it needs. */
  uint32_t namespace_version;
} lamella_library_def;

enum lamella_forms {
  LAMELLA_FORM_INPLACE = 1,
  LAMELLA_FORM_OUT = 2,
  LAMELLA_FORM_METHOD = 4,
  LAMELLA_FORM_FUNCTION = 8,
  LAMELLA_FORM_PRIVATE = 16,   /* not shown in the namespace */
  LAMELLA_FORM_NO_KERNEL = 32, /* the shape rule is the whole operator (views, empty): every device has it */
};

/* Effects of a call beside its results and the arguments that its schema marks (a!) as written. A program that
 * reorders calls, drops one whose results are unused, or runs one instead of two with equal arguments, must leave a
 * call with an effect where it is. */
enum lamella_effects {
  LAMELLA_EFFECT_NONE = 0,
  /* It reads or writes state that no argument shows: files, the clock, globals, a generator that is no argument. The
   * operators of two categories have it though their definitions do not say so: those of "random", which advance a
   * generator, and those of "host", which hand values to the program. */
  LAMELLA_EFFECT_STATE = 1
};

typedef struct {
  uint32_t size;
  uint32_t forms;       /* enum lamella_forms */
  const char* schema;   /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  const char* category; /* nullable: "reduction", …; "pointwise" demands `pointwise`, or `dims` "broadcast" */
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
  uint32_t effects;    /* enum lamella_effects */
  uint32_t since; /* the version of the namespace in which the operator got its present number of arguments; 0 is 1 */
} lamella_operator_def;

#ifdef __cplusplus
}
#endif
#endif
