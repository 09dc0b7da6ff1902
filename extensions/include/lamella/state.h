/* States that plugins keep on tensors, storages and threads, attributes of Tensor and keywords of factories that
 * they add, events and rules: the structs and functions that lamella_api's entries of these names take. The notes
 * that this file cites are in c_api.h. */
#ifndef LAMELLA_STATE_H
#define LAMELLA_STATE_H

#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t lamella_handle; /* names one registration; 0 is none */

/* ---- state on tensors and threads ------------------------------------------------------------------------------- */

typedef int32_t (*lamella_visit)(void* host_object, void* context);

/* How a tensor was made from another one, for `carry`. Later versions add ways. */
enum lamella_carry {
  LAMELLA_CARRY_VIEW = 0,   /* a view: other sizes, strides or dtype over the same elements */
  LAMELLA_CARRY_DETACH = 1, /* the same elements and sizes, without history */
  LAMELLA_CARRY_COPY = 2,   /* a copy of the values, perhaps in another dtype or order, on the same device */
  LAMELLA_CARRY_DEVICE = 3, /* a copy on another device */
  /* `from` gets other sizes in place: `to` is a tensor of these sizes over its memory, and its state becomes that of
   * `from`. */
  LAMELLA_CARRY_RESIZE = 4,
  /* `to` is the gradient of `from`, with the same sizes. autograd carries when the gradient is first read. */
  LAMELLA_CARRY_GRADIENT = 5
};

/* The type of the states in a slot of tensors or of storages. See Note [Slots]. A slot is never removed; there are
 * 256 of each kind. A plugin that is registered again with the same name, layer and functions gets its old slot;
 * another layer or other functions get another slot. So pass functions of your own, not `free`: then no state is
 * destroyed by code that did not make it. */
typedef struct {
  uint32_t size;
  /* The bit of the layer that the state belongs to: slot_set gives a tensor the layer's key as long as a slot of the
   * layer holds a state. 0: no layer. Not for storages. */
  int32_t layer;
  const char* name;
  void (*destroy)(void* state); /* on any thread */
  /* Nullable, not for storages. `traverse` visits the host objects that a state holds; `clear` drops them. */
  int32_t (*traverse)(void* state, lamella_visit visit, void* context);
  void (*clear)(void* state);
  /* Nullable. Makes the state of `to`, which was made from `from`, or leaves *out null, as it must for a way that it
   * does not know. Null leaves `to` without a state in this slot; for LAMELLA_CARRY_RESIZE it refuses the other sizes.
   * `how`: enum lamella_carry. An error fails the operator that made `to`. Not for storages. */
  lamella_status (*carry)(void* state, lamella_tensor* from, lamella_tensor* to, int32_t how, void** out);
  /* Nullable, both or none: for pickles, files and deepcopy. `save` makes an owned value, of numbers, strings,
   * dtypes, devices, tensors, and lists and dictionaries of these; none: there is nothing to save. `load` makes the
   * state of `to` from such a value, which may come from an untrusted file, so that it must check everything. A list
   * is loaded as one of tensors (which may be null beside others), booleans, integers or floats if all its elements are
   * that, else as one of values, each of its own type; an empty one as one of integers. Not for storages. */
  lamella_status (*save)(void* state, lamella_tensor* of, lamella_value* out);
  lamella_status (*load)(lamella_tensor* to, const lamella_value* saved, void** out);
} lamella_slot_type;

/* The type of the states in a slot of threads. Name and functions identify the slot, as for lamella_slot_type. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  /* Nullable: without it the state stays on its thread. Copies a state for another thread; may be called on any
   * thread. */
  lamella_status (*copy)(void* state, void** out);
  void (*destroy)(void* state); /* nullable; on any thread */
  /* Nullable. Called on a thread whose state (nullable) was exchanged by thread_swap, for a plugin that keeps parts of
   * the state elsewhere. It calls nothing of the table but slots. */
  void (*swapped)(void* state);
} lamella_thread_slot_type;

/* The frame is null, since no operator is being called. */
typedef lamella_status (*lamella_get_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                lamella_value* out);
typedef lamella_status (*lamella_set_attribute)(lamella_frame*, void* context, lamella_tensor* self,
                                                const lamella_value* value);

/* Applies a factory's keyword to a new tensor: zeros(2, requires_grad=True). A function that replaces *result by
 * another tensor releases the old one. `op`: an overload of the operator that was called; null if Python made the
 * tensor. `value`: any value from Python, tuples and dictionaries too. */
typedef lamella_status (*lamella_apply_keyword)(const lamella_operator* op, void* context, lamella_tensor** result,
                                                const lamella_value* value);

/* Gets the keywords of a factory's call that neither the operator nor another registered keyword has, as a dictionary,
 * and makes an owned dictionary of those that stand in their place: {batch=2, height=3} becomes {size=[2, 3],
 * names=["batch", "height"]}. Those that it leaves in go to the function registered before it; what all leave in is an
 * unknown keyword, and the error names it. */
typedef lamella_status (*lamella_expand_keywords)(const lamella_operator* op, void* context, const lamella_value* given,
                                                  lamella_value* out);

enum lamella_keyword_flags {
  LAMELLA_KEYWORD_CLAIMS = 1, /* it precedes an argument of that name in a schema, such as pin_memory */
  /* It takes all unknown keywords by `expand`, and has no `apply`; `name` is for errors. */
  LAMELLA_KEYWORD_REST = 2
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
  lamella_expand_keywords expand; /* for LAMELLA_KEYWORD_REST, else null */
} lamella_keyword_def;

/* Finds a dimension by its name, from 0 on: sum(x, "channel"). `self` is the first tensor of the call. The function
 * returns LAMELLA_DECLINED for a tensor to which the plugin has given no names: the one registered before it is called
 * then. For a name that is not there it raises an error that lists the names there are; a number that is no dimension of
 * `self` is an error of the plugin. */
typedef lamella_status (*lamella_resolve_dim)(void* context, lamella_tensor* self, const char* name, int64_t* dim);

/* ---- events, sent to subscribers ------------------------------------------------------------------------------- */

enum lamella_event_kind {
  LAMELLA_EVENT_ALLOCATE = 0,    /* instant: a storage has got memory. device, data, bytes */
  LAMELLA_EVENT_FREE = 1,        /* instant: the memory of a storage is given back. device, data, bytes */
  LAMELLA_EVENT_STORAGE_END = 2, /* instant: the last reference to a storage has gone. device, data, bytes */
  LAMELLA_EVENT_COPY = 3,        /* begin, end: bytes between devices, or from and to the host. device, from, bytes */
  LAMELLA_EVENT_LIBRARY = 4,     /* begin, end: a library is opened, and closed, on any two threads. name: its owner */
  LAMELLA_EVENT_INTERFACE = 5,   /* begin, end: an interface is published, and withdrawn, on any two threads. name */
  LAMELLA_EVENT_NODE = 6,        /* begin, end: a node's backward. name, id: the node's number; all that accumulate
                                * gradients have the largest number */
  LAMELLA_EVENT_BACKWARD = 7,    /* begin, end: a walk over the graph */
  LAMELLA_EVENT_USAGE = 8,       /* instant: a feature is used. name */
  LAMELLA_EVENT_RECORDED = 9,    /* instant: a call has been recorded, after its kernel. id: the node's number, op */
  /* instant: an allocation has failed. device, bytes. The error is pending, so that a subscriber may add notes. */
  LAMELLA_EVENT_OUT_OF_MEMORY = 10
  /* from 32 to 63: those that plugins register, event_kind_register */
};
enum lamella_event_phase { LAMELLA_EVENT_BEGIN = 0, LAMELLA_EVENT_END = 1, LAMELLA_EVENT_INSTANT = 2 };

/* Borrowed; it may grow. Fields that a kind does not list are zero, and a device's backend is -1. Unless said
 * otherwise, an end is sent on the thread of its begin, also after an error. */
typedef struct {
  uint32_t size;
  uint32_t kind;  /* enum lamella_event_kind, or a number that event_kind_register gave */
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

/* Called on the thread that sends the event, perhaps under the sender's locks: it must register nothing. Events that
 * it causes itself are not sent to it. It cannot fail. */
typedef void (*lamella_on_event)(void* context, const lamella_event* event);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* A layer's data about an operator: its derivative, its rule for names. The library keeps it and does not read it.
 * Of several rules of one kind for an operator and a layer the last one counts. Strings are copied. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* op; /* "mine::twice.Tensor"; at registration, a name without "::" is in the library's namespace */
  const char* layer;
  /* Null: the payload has the type that the layer's C header says, and the layer's `rule` kernel gets it. "python":
   * a PyObject*. Plugins may agree upon other kinds. */
  const char* kind;
  void* payload;
  void (*destroy)(void* payload); /* nullable; on withdrawal, while a call may still be reading it */
  const char* owner;              /* null at registration; later the library's */
} lamella_rule;

/* Called under the registry's lock when a rule is added (`there` is 1) or withdrawn (0). An error at the addition
 * refuses the registration: its payload still belongs to the caller, and the callbacks that have seen the rule are
 * called for its withdrawal. An error at a withdrawal is ignored. */
typedef lamella_status (*lamella_on_rule)(void* context, lamella_handle handle, const lamella_rule* rule,
                                          int32_t there);

/* Called under the registry's lock when an interface is published (`table`), or withdrawn (null). */
typedef void (*lamella_on_interface)(void* context, const void* table);

#ifdef __cplusplus
}
#endif
#endif
