/* What passes through the C ABI: errors, dtypes, devices, counted objects, tensors, values, and the frame of a call.
 * Who owns what, and the functions over it, are in c_api.h. */
#ifndef LAMELLA_TYPES_H
#define LAMELLA_TYPES_H

#include <lamella/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMELLA_MAX_DIMS 64
#define LAMELLA_MAX_LAYERS 64
#define LAMELLA_MAX_RETURNS 8

/* ---- status and errors ---------------------------------------------------------------------------------- */

typedef int32_t lamella_status;

enum lamella_error_kind {
  LAMELLA_OK = 0,
  LAMELLA_RUNTIME_ERROR,
  LAMELLA_TYPE_ERROR,
  LAMELLA_VALUE_ERROR,
  LAMELLA_INDEX_ERROR,
  LAMELLA_NOT_IMPLEMENTED,
  LAMELLA_OUT_OF_MEMORY,
  LAMELLA_OVERFLOW,
  LAMELLA_ZERO_DIVISION,
  LAMELLA_BUFFER_ERROR,
  LAMELLA_INTERRUPTED, /* Ctrl-C */
  LAMELLA_HOST_ERROR   /* the payload is the host language's own exception */
};

/* ---- dtypes and devices --------------------------------------------------------------------------------- */

enum lamella_dtype {
  LAMELLA_BOOL,
  LAMELLA_UINT8,
  LAMELLA_UINT16,
  LAMELLA_UINT32,
  LAMELLA_UINT64,
  LAMELLA_INT8,
  LAMELLA_INT16,
  LAMELLA_INT32,
  LAMELLA_INT64,
  LAMELLA_FLOAT16,
  LAMELLA_BFLOAT16,
  LAMELLA_FLOAT32,
  LAMELLA_FLOAT64,
  LAMELLA_COMPLEX64,
  LAMELLA_COMPLEX128,
  LAMELLA_NUM_DTYPES,
  LAMELLA_NO_DTYPE = 255
};

typedef struct {
  int32_t backend; /* the small integer that the backend was given at load; meta is 0 */
  int32_t index;
} lamella_device;

/* ---- objects: everything that is counted starts with this ------------------------------------------------ */

typedef struct lamella_object lamella_object;

typedef struct {
  uint32_t size;
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
  LAMELLA_DENSE = 2       /* some permutation of its dimensions is contiguous */
};

typedef struct {
  lamella_object object;
  DLTensor dl; /* data already points at the first element (byte_offset is 0) */
  int64_t numel;
  uint64_t keys;       /* the layers that this tensor asks for */
  uint16_t backend;    /* dl.device.device_type is DLPack's code; this is the backend's integer */
  uint8_t dtype;       /* enum lamella_dtype */
  uint8_t flags;       /* enum lamella_tensor_flags */
  uint32_t device_key; /* backend << 16 | index: one comparison tells whether two tensors share a device */
  lamella_storage* storage;
  int64_t storage_offset; /* in elements */
} lamella_tensor;

/* ---- values: sixteen bytes, tagged ------------------------------------------------------------------------ */

enum lamella_tag {
  LAMELLA_NONE,
  LAMELLA_BOOLEAN,
  LAMELLA_INT,
  LAMELLA_FLOAT,
  LAMELLA_COMPLEX, /* as.doubles: real, imaginary */
  LAMELLA_STRING,  /* as.string, length bytes, and a final zero */
  LAMELLA_DTYPE,   /* as.i */
  LAMELLA_DEVICE,
  LAMELLA_LAYOUT,        /* as.i: 0 strided */
  LAMELLA_MEMORY_FORMAT, /* as.i: enum lamella_memory_format */
  LAMELLA_TENSOR,
  LAMELLA_BOOL_LIST,
  LAMELLA_INT_LIST,
  LAMELLA_FLOAT_LIST,
  LAMELLA_TENSOR_LIST, /* entries of an optional list may be null */
  LAMELLA_OBJECT,      /* Generator, Stream, anything with a type table */
  LAMELLA_SYMBOLIC     /* reserved for symbolic integers */
};

enum lamella_memory_format { LAMELLA_CONTIGUOUS_FORMAT, LAMELLA_PRESERVE_FORMAT, LAMELLA_CHANNELS_LAST };

typedef struct {
  uint32_t tag;
  uint32_t length; /* of strings and lists */
  union {
    int64_t i;
    double d;
    lamella_device device;
    const double* doubles;
    const char* string;
    const uint8_t* bools;
    const int64_t* ints;
    lamella_tensor* tensor;
    lamella_tensor* const* tensors;
    lamella_object* object;
    void* pointer;
  } as;
} lamella_value;

/* ---- the thread's state and the frame ----------------------------------------------------------------------- */

typedef struct lamella_operator lamella_operator;
typedef struct lamella_frame lamella_frame;

typedef struct {
  uint64_t include; /* layers switched on for this thread */
  uint64_t exclude; /* layers switched off */
  lamella_device default_device;
  lamella_frame* frame; /* the innermost frame whose kernel called back into the host language, or null */
} lamella_thread;

struct lamella_frame {
  uint32_t size;
  uint32_t compute_dtype; /* what the shape rule chose */
  const lamella_operator* op;
  const void* context; /* what was registered with the function that runs now */
  uint64_t keys;       /* layers still below */
  uint64_t passed;     /* layers already passed */
  lamella_thread* thread;
  lamella_frame* parent;
  lamella_device device; /* valid at backend level */
  int32_t layer;         /* the layer whose kernel runs now, -1 at backend level */
  int32_t reserved;
  const void* table; /* the rest belongs to the dispatcher */
  void* scratch;
};

typedef lamella_status (*lamella_kernel)(lamella_frame* frame, const lamella_value* args, lamella_value* rets);

#ifdef __cplusplus
}
#endif
#endif
