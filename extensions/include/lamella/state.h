/* What plugins keep on tensors, storages and threads, what they add to Tensor and to factories, and the events that
 * they hear of: the structs and functions that lamella_api's entries of these names take. The notes that it cites stand
 * in c_api.h. */
#ifndef LAMELLA_STATE_H
#define LAMELLA_STATE_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t lamella_handle; /* names one registration; 0 is none */

/* ---- state on tensors and threads ------------------------------------------------------------------------------- */

typedef int32_t (*lamella_visit)(void* host_object, void* context);

/* How a tensor was made from another one, for `carry`. */
enum lamella_carry {
  LAMELLA_CARRY_VIEW = 0,   /* a view: other sizes, strides or dtype over the same elements */
  LAMELLA_CARRY_DETACH = 1, /* the same elements and sizes, without history */
  LAMELLA_CARRY_COPY = 2,   /* a copy of the values, perhaps in another dtype or order, on the same device */
  LAMELLA_CARRY_DEVICE = 3  /* a copy on another device */
};

/* The state of tensors or of storages. See Note [Slots]. A slot is never taken away; there are 256 of each kind. A
 * plugin that comes back with the name and the functions that it had finds its own; other functions get another slot.
 * So give it functions of your own, not free: then no state is ever destroyed by code that did not make it. */
typedef struct {
  uint32_t size;
  /* The bit of the layer that the state belongs to: a tensor has the layer's key as long as the slot holds a state, and
   * slot_set sees to that. 0: no layer. Not of storages. */
  int32_t layer;
  const char* name;
  void (*destroy)(void* state); /* on any thread */
  /* Nullable, not of storages. Visits the host objects that a state holds; clear drops them. */
  int32_t (*traverse)(void* state, lamella_visit visit, void* context);
  void (*clear)(void* state);
  /* Nullable. Makes the state of `to`, which was made from `from`, or leaves *out null. `how`: enum lamella_carry; a
   * value that it does not know is an error. An error fails the operator that made `to`. Not of storages. */
  lamella_status (*carry)(void* state, lamella_tensor* from, lamella_tensor* to, int32_t how, void** out);
  /* Nullable, both or none: for pickles, files and deepcopy. `save` makes an owned value, of numbers, strings, dtypes,
   * devices, tensors, and lists and dictionaries of these; none: there is nothing to save. `load` makes the state of
   * `to` from such a value, which may come from a stranger's file: it checks everything. A list comes back as one of
   * tensors, booleans, integers or floats if all its elements are that, and an empty one as one of integers. Not of
   * storages. */
  lamella_status (*save)(void* state, lamella_tensor* of, lamella_value* out);
  lamella_status (*load)(lamella_tensor* to, const lamella_value* saved, void** out);
} lamella_slot_type;

/* The state of threads. See Note [Slots] for how a type is told from another. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  /* Nullable: the state stays on its thread. Makes a copy of a state to carry to another thread, on any thread. */
  lamella_status (*copy)(void* state, void** out);
  void (*destroy)(void* state); /* nullable; on any thread */
  /* Nullable. Called on a thread whose state (nullable) was exchanged by thread_swap, for a plugin that keeps parts of
   * the state elsewhere. It calls nothing of the table but slots. */
  void (*swapped)(void* state);
} lamella_thread_slot_type;

/* The frame is null: nothing is being called. */
typedef lamella_status (*lamella_get_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                lamella_value* out);
typedef lamella_status (*lamella_set_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                const lamella_value* value);

/* Applies a factory's keyword to a new tensor: zeros(2, requires_grad=True). A function that puts another tensor in the
 * place of *result releases it. `op`: an overload of the operator that was called; null where Python made the tensor.
 * `value`: any value that Python gave, tuples and dictionaries too. */
typedef lamella_status (*lamella_apply_keyword)(const lamella_operator* op, void* context, lamella_tensor** result,
                                                const lamella_value* value);

enum lamella_keyword_flags {
  LAMELLA_KEYWORD_CLAIMS = 1 /* it goes before an argument of that name in a schema, such as pin_memory */
};

typedef struct {
  uint32_t size;
  uint32_t flags; /* enum lamella_keyword_flags */
  const char* name;
  /* Nullable. Of several keywords in one call, those of inner layers are applied first, as results come back through
   * the layers; before them those without a layer, in the order of the call. */
  const char* layer;
  lamella_apply_keyword apply;
  void* context;
} lamella_keyword_def;

/* ---- events: what happens, for those who subscribe ------------------------------------------------------------- */

enum lamella_event_kind {
  LAMELLA_EVENT_ALLOCATE = 0,    /* instant: a storage has got memory. device, data, bytes */
  LAMELLA_EVENT_FREE = 1,        /* instant: and gives it back. device, data, bytes */
  LAMELLA_EVENT_STORAGE_END = 2, /* instant: the last reference to a storage has gone. device, data, bytes */
  LAMELLA_EVENT_COPY = 3,        /* begin, end: bytes between devices, or from and to the host. device, from, bytes */
  LAMELLA_EVENT_LIBRARY = 4,   /* begin, end: a library is there, and is closed, on any two threads. name: its owner */
  LAMELLA_EVENT_INTERFACE = 5, /* begin, end: an interface is published, and withdrawn, on any two threads. name */
  LAMELLA_EVENT_NODE = 6,      /* begin, end: a node's backward. name, id: the node's number; all that accumulate
                                * gradients have the largest number */
  LAMELLA_EVENT_BACKWARD = 7,  /* begin, end: a walk over the graph */
  LAMELLA_EVENT_USAGE = 8,     /* instant: a feature is used. name */
  LAMELLA_EVENT_RECORDED = 9,  /* instant: a call has got a node, behind its kernel. id: the node's number, op */
  LAMELLA_EVENT_OUT_OF_MEMORY = 10 /* instant: a storage has got no memory. device, bytes. The error is pending: who
                                    * hears of it may add notes */
};
enum lamella_event_phase { LAMELLA_EVENT_BEGIN = 0, LAMELLA_EVENT_END = 1, LAMELLA_EVENT_INSTANT = 2 };

/* Borrowed; it may grow. Fields that a kind does not name are zero, and -1 a device's backend. Where nothing
 * else is said, an end comes on the thread of its begin, also after an error. */
typedef struct {
  uint32_t size;
  uint32_t kind;  /* enum lamella_event_kind, or another number below 64 that plugins have agreed upon */
  uint32_t phase; /* enum lamella_event_phase */
  uint32_t reserved;
  lamella_device device;
  lamella_device from;
  const void* data;
  int64_t bytes;
  void* stream;
  const char* name;
  uint64_t id;
  const struct lamella_operator* op;
} lamella_event;

/* Called where it happens, on that thread, perhaps under locks of the one who emits: it registers nothing, and what it
 * does itself is not sent to anyone. It cannot fail. */
typedef void (*lamella_on_event)(void* context, const lamella_event* event);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* What a layer is to know of an operator: its derivative, its rule for names. The library keeps it and does not look
 * inside. Of several of one kind for an operator and a layer the last one counts. Strings are copied. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* op; /* "mine::twice.Tensor"; at registration, a name without "::" is in the library's namespace */
  const char* layer;
  /* Null: the payload is what the layer's own C header says, and is what its `rule` kernel gets. "python": it is a
   * PyObject*. Other kinds are for those who have agreed upon them. */
  const char* kind;
  void* payload;
  void (*destroy)(void* payload); /* nullable; on withdrawal, while a call may still be reading it */
  const char* owner;              /* null when it is registered: the library's is meant */
} lamella_rule;

/* A rule is there, or goes. Called under the registry's lock. An error as it comes refuses the registration that it
 * came with: its payload stays the caller's, and those who have heard of it are told that it goes. As it goes, an error
 * is not looked at. */
typedef lamella_status (*lamella_on_rule)(void* context, lamella_handle handle, const lamella_rule* rule,
                                          int32_t there);

/* The interface of a name is there (table), or not any more (null). Called under the registry's lock. */
typedef void (*lamella_on_interface)(void* context, const void* table);

#ifdef __cplusplus
}
#endif
#endif
