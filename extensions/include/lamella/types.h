/* The types of the C ABI: errors, dtypes, devices, counted objects, tensors, values, and the frame of a call. The rules
 * of ownership, and the functions over these types, are in c_api.h.
 *
 * Note [Growth]  Nothing here moves or changes its meaning. A struct that a plugin fills begins with its `size`, to be
 *   set to sizeof; fields that an older, smaller one lacks are zero. A struct that the library makes (tensor, frame,
 *   thread, api) may grow at its end: look at `size`, or at the version of the api, before reading what came later.
 *   Reserved fields and unused bits are zero. Enumerators are appended: code that meets an unknown value passes
 *   it on unchanged, and treats an unknown kind of error as LAMELLA_RUNTIME_ERROR. */
#ifndef LAMELLA_TYPES_H
#define LAMELLA_TYPES_H

#include <lamella/dlpack.h>
#include <lamella/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* These never change: layouts and masks depend on them. */
#define LAMELLA_MAX_DIMS 64
#define LAMELLA_MAX_LAYERS 64
#define LAMELLA_MAX_ARGUMENTS 64
#define LAMELLA_MAX_RETURNS 16
#define LAMELLA_PLAIN_DTYPES 15        /* every kernel may get dtypes below this: Note [Dtypes] in c_api.h */
#define LAMELLA_FIRST_PLUGIN_DTYPE 128 /* plugins register dtypes from this to 254 */

/* ---- status and errors ---------------------------------------------------------------------------------- */

typedef int32_t lamella_status;

/* Kinds of error begin at 1. A negative value is a message to the dispatcher, and sets no error. */
enum lamella_error_kind {
  LAMELLA_DECLINED = -2, /* a backend's kernel does not serve this call, and has written nothing: Note [Declining] */
  LAMELLA_RETRY = -1,    /* the kernel's registration was withdrawn during the call: the call runs again without it */
  LAMELLA_OK = 0,
  LAMELLA_RUNTIME_ERROR = 1,
  LAMELLA_TYPE_ERROR = 2,
  LAMELLA_VALUE_ERROR = 3,
  LAMELLA_INDEX_ERROR = 4,
  LAMELLA_NOT_IMPLEMENTED = 5,
  LAMELLA_OUT_OF_MEMORY = 6,
  LAMELLA_OVERFLOW = 7,
  LAMELLA_ZERO_DIVISION = 8,
  LAMELLA_BUFFER_ERROR = 9,
  LAMELLA_INTERRUPTED = 10,      /* Ctrl-C */
  LAMELLA_HOST_ERROR = 11,       /* the payload is the host language's own exception */
  LAMELLA_ACCELERATOR_ERROR = 12 /* a device or its driver failed; calls that follow may fail, too */
  /* from 64 on: those that plugins register, error_kind_register */
};

/* ---- dtypes and devices --------------------------------------------------------------------------------- */

enum lamella_dtype {
  LAMELLA_BOOL = 0,
  LAMELLA_UINT8 = 1,
  LAMELLA_UINT16 = 2,
  LAMELLA_UINT32 = 3,
  LAMELLA_UINT64 = 4,
  LAMELLA_INT8 = 5,
  LAMELLA_INT16 = 6,
  LAMELLA_INT32 = 7,
  LAMELLA_INT64 = 8,
  LAMELLA_FLOAT16 = 9,
  LAMELLA_BFLOAT16 = 10,
  LAMELLA_FLOAT32 = 11,
  LAMELLA_FLOAT64 = 12,
  LAMELLA_COMPLEX64 = 13,
  LAMELLA_COMPLEX128 = 14,
  /* These hold numbers, and have no arithmetic. */
  LAMELLA_FLOAT8_E4M3FN = 15,
  LAMELLA_FLOAT8_E5M2 = 16,
  LAMELLA_THIS_DTYPE = 127, /* in a promotion: the dtype that is registered with it */
  LAMELLA_NO_DTYPE = 255
};

enum lamella_dtype_class {
  LAMELLA_CLASS_BOOL = 1,
  LAMELLA_CLASS_INTEGRAL = 2,
  LAMELLA_CLASS_FLOATING = 4,
  LAMELLA_CLASS_COMPLEX = 8
};

/* The promotion of a dtype with another one. */
typedef struct {
  uint8_t with;
  uint8_t result; /* LAMELLA_THIS_DTYPE: the one that is registered; LAMELLA_NO_DTYPE: together they are an error */
} lamella_promotion;

/* A dtype: Note [Dtypes] in c_api.h. A plugin gives one of class bool, integral or floating, and both conversions; the
 * library's copies, casts, fills, `item` and printing then work for it, all through float32. */
typedef struct {
  uint32_t size;
  int32_t itemsize; /* whole bytes: 1, 2, 4, 8 or 16 */
  const char* name;
  uint32_t dtype_class; /* enum lamella_dtype_class */
  DLDataType dlpack;    /* bits times lanes are the itemsize; code kDLOpaqueHandle: DLPack has no such type */
  /* n elements in a row, on any thread; null for the plain dtypes */
  void (*to_float32)(int64_t n, const void* from, float* to);
  void (*from_float32)(int64_t n, const float* from, void* to);
  /* Nullable. Without a pair here, the dtype of the higher class wins, and two of one class are an error. */
  const lamella_promotion* promotions;
  int32_t num_promotions;
  int32_t reserved;
} lamella_dtype_def;

typedef struct {
  int32_t backend; /* the number that the backend got when it was registered; meta is 0 */
  int32_t index;
} lamella_device;

/* ---- objects: everything that is counted starts with this ------------------------------------------------ */

typedef struct lamella_object lamella_object;

/* Lives as long as the process. The name identifies a type. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  void (*destroy)(lamella_object* self); /* the count reached zero; may run on any thread */
} lamella_object_type;

struct lamella_object {
  int64_t refcount; /* changed by `retain` and `release` only */
  const lamella_object_type* type;
};

/* ---- tensors: the public prefix of each ------------------------------------------------------------------ */

typedef struct lamella_storage lamella_storage;

enum lamella_tensor_flags {
  LAMELLA_CONTIGUOUS = 1, /* row-major without gaps */
  LAMELLA_DENSE = 2,      /* some permutation of its dimensions is contiguous */
  LAMELLA_OPAQUE = 4      /* no memory that kernels may read: Note [Opaque tensors] in c_api.h */
};

/* Made by the library alone, and longer than these public fields. Read them, write through dl.data; do nothing else. */
typedef struct {
  lamella_object object;
  DLTensor dl; /* data already points at the first element (byte_offset is 0) */
  int64_t numel;
  uint64_t keys;       /* the layers that calls with it reach; the lowest bit belongs to the dispatcher */
  uint16_t backend;    /* dl.device.device_type is DLPack's code; this is the backend's integer */
  uint8_t dtype;       /* enum lamella_dtype */
  uint8_t flags;       /* enum lamella_tensor_flags */
  uint32_t device_key; /* backend << 16 | index: equal for two tensors on one device */
  lamella_storage* storage;
  int64_t storage_offset; /* in elements */
} lamella_tensor;

/* ---- values: sixteen bytes, tagged ------------------------------------------------------------------------ */

/* An argument has the tags that its schema admits, and none newer than the schema's types. A layer, which sees every
 * operator, passes on the tags that it does not know; value_retain and value_release work for all. In a call, a
 * list or a dictionary of values holds no tensor, at no depth: the tensors are arguments, or are in lists of tensors,
 * where layers find them. A state that a slot saves may hold tensors anywhere. */

enum lamella_tag {
  LAMELLA_NONE = 0,
  LAMELLA_BOOLEAN = 1,
  LAMELLA_INT = 2,
  LAMELLA_FLOAT = 3,
  LAMELLA_COMPLEX = 4, /* as.doubles: real, imaginary */
  LAMELLA_STRING = 5,  /* as.string, length bytes, and a final zero */
  LAMELLA_DTYPE = 6,   /* as.i */
  LAMELLA_DEVICE = 7,
  LAMELLA_LAYOUT = 8,        /* as.i: 0 strided */
  LAMELLA_MEMORY_FORMAT = 9, /* as.i: enum lamella_memory_format */
  LAMELLA_TENSOR = 10,
  LAMELLA_BOOL_LIST = 11,
  LAMELLA_INT_LIST = 12,
  LAMELLA_FLOAT_LIST = 13,
  LAMELLA_TENSOR_LIST = 14,   /* entries of an optional list may be null */
  LAMELLA_OBJECT = 15,        /* Generator, Stream, anything with a type table */
  LAMELLA_SYMBOLIC = 16,      /* reserved: no call has one in version 1.0, and none will reach a backend's kernel */
  LAMELLA_SYMBOLIC_LIST = 17, /* reserved, too */
  LAMELLA_VALUE_LIST = 18,    /* as.values: str[], Scalar[], int?[] and their like; none is an absent element */
  LAMELLA_DICT = 19,          /* as.values: `length` pairs, a string and then its value */
  LAMELLA_UINT = 20           /* as.u: a whole number above those of int64; any smaller one is a LAMELLA_INT */
};

enum lamella_memory_format { LAMELLA_CONTIGUOUS_FORMAT = 0, LAMELLA_PRESERVE_FORMAT = 1, LAMELLA_CHANNELS_LAST = 2 };

typedef struct lamella_value {
  uint32_t tag;
  uint32_t length; /* of strings (in bytes), lists and dictionaries */
  union {
    int64_t i;
    uint64_t u;
    double d;
    lamella_device device;
    const double* doubles;
    const char* string;
    const uint8_t* bools;
    const int64_t* ints;
    lamella_tensor* tensor;
    lamella_tensor* const* tensors;
    lamella_object* object;
    const struct lamella_value* values;
    void* pointer;
  } as;
} lamella_value;

/* ---- arguments and results, as a schema describes them ---------------------------------------------------------- */

enum lamella_kind {
  LAMELLA_KIND_TENSOR = 0,
  LAMELLA_KIND_SCALAR = 1,
  LAMELLA_KIND_INT = 2,
  LAMELLA_KIND_FLOAT = 3,
  LAMELLA_KIND_BOOL = 4,
  LAMELLA_KIND_COMPLEX = 5,
  LAMELLA_KIND_STRING = 6,
  LAMELLA_KIND_DTYPE = 7,
  LAMELLA_KIND_LAYOUT = 8,
  LAMELLA_KIND_DEVICE = 9,
  LAMELLA_KIND_MEMORY_FORMAT = 10,
  LAMELLA_KIND_GENERATOR = 11,
  LAMELLA_KIND_OBJECT = 12,
  LAMELLA_KIND_ANY = 13,
  LAMELLA_KIND_DICT = 14 /* Dict(str, T): only the schema says the type of its values */
};

enum lamella_argument_flags {
  LAMELLA_ARGUMENT_LIST = 1,
  LAMELLA_ARGUMENT_OPTIONAL = 2,
  LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS = 4,
  LAMELLA_ARGUMENT_KEYWORD_ONLY = 8,
  LAMELLA_ARGUMENT_HAS_DEFAULT = 16,
  LAMELLA_ARGUMENT_WRITTEN = 32, /* (a!) */
  LAMELLA_ARGUMENT_OUT = 64,     /* an output of an out= form */
  /* An int, or a list of them, that names dimensions by their numbers. The schema calls it `dim`, `axis`, `dimension`,
   * `start_dim` or `end_dim`, the list also `dims` or `axes`, each perhaps with a number, as `dim0`; or there are both
   * `source` and `destination`. A caller may give names in its place: see dim_resolver. */
  LAMELLA_ARGUMENT_DIM = 128
};

/* Made by the library; lives as long as the process. */
typedef struct {
  uint32_t size;
  uint32_t kind;       /* enum lamella_kind */
  uint32_t flags;      /* enum lamella_argument_flags */
  int32_t alias_of;    /* of a result: the argument whose alias set it shares, or -1 */
  const char* name;    /* empty for a result without a name */
  lamella_value value; /* the default; borrowed */
} lamella_argument;

enum lamella_operator_form { LAMELLA_FUNCTIONAL_FORM = 0, LAMELLA_INPLACE_FORM = 1, LAMELLA_OUT_FORM = 2 };

/* ---- the thread's state and the frame ----------------------------------------------------------------------- */

typedef struct lamella_operator lamella_operator;
typedef struct lamella_frame lamella_frame;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  uint64_t include; /* layers switched on for this thread */
  uint64_t exclude; /* layers switched off */
  lamella_device default_device;
  lamella_frame* frame; /* the innermost frame whose kernel called back into the host language, or null */
} lamella_thread;

struct lamella_frame {
  uint32_t size;
  uint32_t compute_dtype; /* the shape rule chose it */
  const lamella_operator* op;
  void* context;   /* registered with the function that runs now */
  uint64_t keys;   /* layers still below */
  uint64_t passed; /* layers already passed */
  lamella_thread* thread;
  lamella_frame* parent;
  lamella_device device;       /* valid at backend level */
  int32_t layer;               /* the layer whose kernel runs now, -1 at backend level */
  uint16_t num_args, num_rets; /* of op */
  uint64_t excluded;           /* the layers that were off on the thread when the call began */
  const void* table;           /* the rest belongs to the dispatcher */
  void* scratch;
};

/* The numbers of arguments and results are those in the schema of frame->op. A kernel registered for fewer arguments
 * (lamella_kernel_def) gets and passes on that number: a later version of an operator may have further arguments, each
 * with a default, after those that the kernel takes, but before the outputs of an out= form. */
typedef lamella_status (*lamella_kernel)(lamella_frame* frame, const lamella_value* args, lamella_value* rets);

/* The layout, which no compiler and no flag may change. */
#ifdef __cplusplus
#define LAMELLA_LAYOUT(condition) static_assert(condition, #condition)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LAMELLA_LAYOUT(condition) _Static_assert(condition, #condition)
#else
#define LAMELLA_LAYOUT(condition) extern char lamella_layout[(condition) ? 1 : -1]
#endif
LAMELLA_LAYOUT(sizeof(void*) == 8 && sizeof(DLTensor) == 48);
LAMELLA_LAYOUT(sizeof(lamella_value) == 16 && offsetof(lamella_value, as) == 8);
LAMELLA_LAYOUT(sizeof(lamella_object) == 16 && offsetof(lamella_tensor, dl) == 16 && sizeof(lamella_tensor) == 104);
LAMELLA_LAYOUT(sizeof(lamella_device) == 8 && offsetof(lamella_frame, context) == 16);

#ifdef __cplusplus
}
#endif
#endif
