/* What passes through the C ABI: errors, dtypes, devices, counted objects, tensors, values, and the frame of a call.
 * Who owns what, and the functions over it, are in c_api.h. */
#ifndef LATTIS_TYPES_H
#define LATTIS_TYPES_H

#include <lattis/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATTIS_MAX_DIMS 64
#define LATTIS_MAX_LAYERS 64
#define LATTIS_MAX_RETURNS 8

/* ---- status and errors ---------------------------------------------------------------------------------- */

typedef int32_t lattis_status;

enum lattis_error_kind {
  LATTIS_OK = 0,
  LATTIS_RUNTIME_ERROR,
  LATTIS_TYPE_ERROR,
  LATTIS_VALUE_ERROR,
  LATTIS_INDEX_ERROR,
  LATTIS_NOT_IMPLEMENTED,
  LATTIS_OUT_OF_MEMORY,
  LATTIS_OVERFLOW,
  LATTIS_ZERO_DIVISION,
  LATTIS_BUFFER_ERROR,
  LATTIS_INTERRUPTED, /* Ctrl-C */
  LATTIS_HOST_ERROR   /* the payload is the host language's own exception */
};

/* ---- dtypes and devices --------------------------------------------------------------------------------- */

enum lattis_dtype {
  LATTIS_BOOL,
  LATTIS_UINT8,
  LATTIS_UINT16,
  LATTIS_UINT32,
  LATTIS_UINT64,
  LATTIS_INT8,
  LATTIS_INT16,
  LATTIS_INT32,
  LATTIS_INT64,
  LATTIS_FLOAT16,
  LATTIS_BFLOAT16,
  LATTIS_FLOAT32,
  LATTIS_FLOAT64,
  LATTIS_COMPLEX64,
  LATTIS_COMPLEX128,
  LATTIS_NUM_DTYPES,
  LATTIS_NO_DTYPE = 255
};

typedef struct {
  int32_t backend; /* the small integer that the backend was given at load; meta is 0 */
  int32_t index;
} lattis_device;

/* ---- objects: everything that is counted starts with this ------------------------------------------------ */

typedef struct lattis_object lattis_object;

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

enum lattis_tag {
  LATTIS_NONE,
  LATTIS_BOOLEAN,
  LATTIS_INT,
  LATTIS_FLOAT,
  LATTIS_COMPLEX, /* as.doubles: real, imaginary */
  LATTIS_STRING,  /* as.string, length bytes, and a final zero */
  LATTIS_DTYPE,   /* as.i */
  LATTIS_DEVICE,
  LATTIS_LAYOUT,        /* as.i: 0 strided */
  LATTIS_MEMORY_FORMAT, /* as.i: enum lattis_memory_format */
  LATTIS_TENSOR,
  LATTIS_BOOL_LIST,
  LATTIS_INT_LIST,
  LATTIS_FLOAT_LIST,
  LATTIS_TENSOR_LIST, /* entries of an optional list may be null */
  LATTIS_OBJECT,      /* Generator, Stream, anything with a type table */
  LATTIS_SYMBOLIC     /* reserved for symbolic integers */
};

enum lattis_memory_format { LATTIS_CONTIGUOUS_FORMAT, LATTIS_PRESERVE_FORMAT, LATTIS_CHANNELS_LAST };

typedef struct {
  uint32_t tag;
  uint32_t length; /* of strings and lists */
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
  uint64_t include; /* layers switched on for this thread */
  uint64_t exclude; /* layers switched off */
  lattis_device default_device;
  lattis_frame* frame; /* the innermost frame whose kernel called back into the host language, or null */
} lattis_thread;

struct lattis_frame {
  uint32_t size;
  uint32_t compute_dtype; /* what the shape rule chose */
  const lattis_operator* op;
  const void* context; /* what was registered with the function that runs now */
  uint64_t keys;       /* layers still below */
  uint64_t passed;     /* layers already passed */
  lattis_thread* thread;
  lattis_frame* parent;
  lattis_device device; /* valid at backend level */
  int32_t layer;        /* the layer whose kernel runs now, -1 at backend level */
  int32_t reserved;
  const void* table; /* the rest belongs to the dispatcher */
  void* scratch;
};

typedef lattis_status (*lattis_kernel)(lattis_frame* frame, const lattis_value* args, lattis_value* rets);

#ifdef __cplusplus
}
#endif
#endif
