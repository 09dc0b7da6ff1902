/* What passes through the C ABI: errors, dtypes, devices, counted objects, tensors, values, and the frame of a call.
 * Who owns what, and the functions over it, are in c_api.h.
 *
 * Note [Growth]  Nothing here moves or changes its meaning. A struct that somebody else fills begins with its `size`:
 *   set it to sizeof; what a smaller, older one lacks counts as zero. A struct that the library makes (tensor, frame,
 *   thread, api) may grow at its end: look at `size`, or at the version of the api, before reading what came later.
 *   Reserved fields and unused bits are zero. Enumerators are appended: whoever meets a value that it does not know
 *   hands it on unchanged, and treats an unknown kind of error as LATTIS_RUNTIME_ERROR. */
#ifndef LATTIS_TYPES_H
#define LATTIS_TYPES_H

#include <lattis/dlpack.h>
#include <lattis/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* These are for ever: layouts and masks depend on them. */
#define LATTIS_MAX_DIMS 64
#define LATTIS_MAX_LAYERS 64
#define LATTIS_MAX_ARGUMENTS 64
#define LATTIS_MAX_RETURNS 16

/* ---- status and errors ---------------------------------------------------------------------------------- */

typedef int32_t lattis_status;

/* Kinds are from 1 on; what is negative is a word to the dispatcher and sets no error. */
enum lattis_error_kind {
  LATTIS_RETRY = -1, /* a kernel says: my registration was withdrawn while this call was on its way; look again */
  LATTIS_OK = 0,
  LATTIS_RUNTIME_ERROR = 1,
  LATTIS_TYPE_ERROR = 2,
  LATTIS_VALUE_ERROR = 3,
  LATTIS_INDEX_ERROR = 4,
  LATTIS_NOT_IMPLEMENTED = 5,
  LATTIS_OUT_OF_MEMORY = 6,
  LATTIS_OVERFLOW = 7,
  LATTIS_ZERO_DIVISION = 8,
  LATTIS_BUFFER_ERROR = 9,
  LATTIS_INTERRUPTED = 10, /* Ctrl-C */
  LATTIS_HOST_ERROR = 11   /* the payload is the host language's own exception */
};

/* ---- dtypes and devices --------------------------------------------------------------------------------- */

enum lattis_dtype {
  LATTIS_BOOL = 0,
  LATTIS_UINT8 = 1,
  LATTIS_UINT16 = 2,
  LATTIS_UINT32 = 3,
  LATTIS_UINT64 = 4,
  LATTIS_INT8 = 5,
  LATTIS_INT16 = 6,
  LATTIS_INT32 = 7,
  LATTIS_INT64 = 8,
  LATTIS_FLOAT16 = 9,
  LATTIS_BFLOAT16 = 10,
  LATTIS_FLOAT32 = 11,
  LATTIS_FLOAT64 = 12,
  LATTIS_COMPLEX64 = 13,
  LATTIS_COMPLEX128 = 14,
  LATTIS_NO_DTYPE = 255
};
#define LATTIS_NUM_DTYPES 15 /* as many as this header knows */

typedef struct {
  int32_t backend; /* the small integer that the backend was given at load; meta is 0 */
  int32_t index;
} lattis_device;

/* ---- objects: everything that is counted starts with this ------------------------------------------------ */

typedef struct lattis_object lattis_object;

/* Lives as long as the process. Types are told apart by name. */
typedef struct {
  uint32_t size;
  const char* name;
  void (*destroy)(lattis_object* self); /* the count reached zero; may run on any thread */
} lattis_object_type;

struct lattis_object {
  int64_t refcount; /* changed by `retain` and `release` only */
  const lattis_object_type* type;
};

/* ---- tensors: the public prefix of each ------------------------------------------------------------------ */

typedef struct lattis_storage lattis_storage;

enum lattis_tensor_flags {
  LATTIS_CONTIGUOUS = 1, /* row-major without gaps */
  LATTIS_DENSE = 2       /* some permutation of its dimensions is contiguous */
};

/* Made by the library alone, and longer than what is public of it. Read it, write through dl.data; nothing else. */
typedef struct {
  lattis_object object;
  DLTensor dl; /* data already points at the first element (byte_offset is 0) */
  int64_t numel;
  uint64_t keys;       /* the layers that this tensor asks for */
  uint16_t backend;    /* dl.device.device_type is DLPack's code; this is the backend's integer */
  uint8_t dtype;       /* enum lattis_dtype */
  uint8_t flags;       /* enum lattis_tensor_flags */
  uint32_t device_key; /* backend << 16 | index: one comparison tells whether two tensors share a device */
  lattis_storage* storage;
  int64_t storage_offset; /* in elements */
} lattis_tensor;

/* ---- values: sixteen bytes, tagged ------------------------------------------------------------------------ */

/* An argument has the tags that its schema admits, and none newer than the schema's types. A layer, which sees every
 * operator, hands on the tags that it does not know; value_retain and value_release work for all. Types for which there
 * is no tag (str[], Scalar[], Dict) are refused by `define`; a later version may have one. */

enum lattis_tag {
  LATTIS_NONE = 0,
  LATTIS_BOOLEAN = 1,
  LATTIS_INT = 2,
  LATTIS_FLOAT = 3,
  LATTIS_COMPLEX = 4, /* as.doubles: real, imaginary */
  LATTIS_STRING = 5,  /* as.string, length bytes, and a final zero */
  LATTIS_DTYPE = 6,   /* as.i */
  LATTIS_DEVICE = 7,
  LATTIS_LAYOUT = 8,        /* as.i: 0 strided */
  LATTIS_MEMORY_FORMAT = 9, /* as.i: enum lattis_memory_format */
  LATTIS_TENSOR = 10,
  LATTIS_BOOL_LIST = 11,
  LATTIS_INT_LIST = 12,
  LATTIS_FLOAT_LIST = 13,
  LATTIS_TENSOR_LIST = 14, /* entries of an optional list may be null */
  LATTIS_OBJECT = 15,      /* Generator, Stream, anything with a type table */
  LATTIS_SYMBOLIC = 16     /* reserved: no call has one in version 1.0, and none will reach a backend's kernel */
};

enum lattis_memory_format { LATTIS_CONTIGUOUS_FORMAT = 0, LATTIS_PRESERVE_FORMAT = 1, LATTIS_CHANNELS_LAST = 2 };

typedef struct {
  uint32_t tag;
  uint32_t length; /* of strings (in bytes) and lists */
  union {
    int64_t i;
    double d;
    lattis_device device;
    const double* doubles;
    const char* string;
    const uint8_t* bools;
    const int64_t* ints;
    lattis_tensor* tensor;
    lattis_tensor* const* tensors;
    lattis_object* object;
    void* pointer;
  } as;
} lattis_value;

/* ---- the thread's state and the frame ----------------------------------------------------------------------- */

typedef struct lattis_operator lattis_operator;
typedef struct lattis_frame lattis_frame;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  uint64_t include; /* layers switched on for this thread */
  uint64_t exclude; /* layers switched off */
  lattis_device default_device;
  lattis_frame* frame; /* the innermost frame whose kernel called back into the host language, or null */
} lattis_thread;

struct lattis_frame {
  uint32_t size;
  uint32_t compute_dtype; /* what the shape rule chose */
  const lattis_operator* op;
  void* context;   /* what was registered with the function that runs now */
  uint64_t keys;   /* layers still below */
  uint64_t passed; /* layers already passed */
  lattis_thread* thread;
  lattis_frame* parent;
  lattis_device device;        /* valid at backend level */
  int32_t layer;               /* the layer whose kernel runs now, -1 at backend level */
  uint16_t num_args, num_rets; /* of op */
  const void* table;           /* the rest belongs to the dispatcher */
  void* scratch;
};

/* Arguments and results are as many as the schema of frame->op says, or the arguments as many as the kernel was
 * registered for (lattis_kernel_def), which it then hands on, too: a later version of an operator may have further
 * ones, each with a default, behind those that the kernel knows, but before the outputs of an out= form. */
typedef lattis_status (*lattis_kernel)(lattis_frame* frame, const lattis_value* args, lattis_value* rets);

/* The layout, which no compiler and no flag may change. */
#ifdef __cplusplus
#define LATTIS_LAYOUT(condition) static_assert(condition, #condition)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LATTIS_LAYOUT(condition) _Static_assert(condition, #condition)
#else
#define LATTIS_LAYOUT(condition) extern char lattis_layout[(condition) ? 1 : -1]
#endif
LATTIS_LAYOUT(sizeof(void*) == 8 && sizeof(DLTensor) == 48);
LATTIS_LAYOUT(sizeof(lattis_value) == 16 && offsetof(lattis_value, as) == 8);
LATTIS_LAYOUT(sizeof(lattis_object) == 16 && offsetof(lattis_tensor, dl) == 16 && sizeof(lattis_tensor) == 104);
LATTIS_LAYOUT(sizeof(lattis_device) == 8 && offsetof(lattis_frame, context) == 16);

#ifdef __cplusplus
}
#endif
#endif
