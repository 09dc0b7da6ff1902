/* Derivatives, and the interface "autograd" of the plugin that differentiates. The derivative of an operator is a rule
 * of the layer "autograd", which may be registered before, after or without such a plugin:
 *
 *   static lamella_derivative square = {sizeof square, 0, "self: grad * 2 * self"};
 *   static lamella_rule rule = {sizeof rule, 0, "mine::square", "autograd", NULL, &square, NULL, NULL};
 *   api().rule(library, &rule, NULL);
 *
 * The interface is found as find_interface("autograd", 1). The promises of docs/abi.md for the table hold for this
 * file, too: structs that callers pass are read as far as their `size` says and copied, and all structs, also the table
 * of the interface, grow only at their end. The plugin may be older than the library: check the table's `size` before
 * calling a function that was added after version 1.0. One lamella_derivative may serve several operators.
 *
 * Note [Formulas]  "argument: expression", separated by semicolons. An expression calls operators by name
 *   (mm(grad, t(other))), with + - * / between tensors and numbers. It may name the operator's arguments, its results
 *   (`result`, or by name, or result0, result1), the gradients of its results (`grad`, grad0, grad1), shapes and dtypes
 *   (self.shape, self.shape[0], self.dtype), and `mask`, a list of bools that says which of several targets are wanted
 *   ("input, weight: f(grad, mask)"; an unwanted gradient may be none). The arguments and results that an expression
 *   names are saved. The gradient of a result that got none is zeros; a parameter of type Tensor? gets none instead.
 *   conj(x) costs nothing if x is real.
 *   If an operator returns a list of tensors, each of these is a result, and `grads` is the list of the gradients of
 *   all results ("self: stack(grads, dim)"): zeros for a result that got none; a parameter of type Tensor?[] gets none
 *   in its place. An operator with a formula takes at most one list with a gradient, and returns at most one.
 *   Gradients are summed to the shape of the argument, and cast to its dtype, afterwards. "none" in place of a formula
 *   declares that the operator has no gradient for the argument. */
#ifndef LAMELLA_AUTOGRAD_H
#define LAMELLA_AUTOGRAD_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamella_node lamella_node;

typedef struct {
  uint32_t size;
  /* How many arguments the operator had when this was written. If a later argument does not have its default value,
   * recording the call is an error. 0: the derivative is right for all arguments; this is required of an operator that
   * has outputs among its arguments. */
  int32_t num_args;
  const char* formulas; /* null: `setup` and `backward` compute the gradients */
  /* After the operator ran: saves on the node the values that `backward` will need. Nullable. */
  lamella_status (*setup)(void* context, lamella_node* node, const lamella_value* args, const lamella_value* rets);
  /* Gets in `grads` one gradient for each result (null: the result has none), and sets in `outs` one owned tensor or
   * null for each tensor argument; the tensors of a list count one by one, in both. */
  lamella_status (*backward)(void* context, lamella_node* node, lamella_tensor* const* grads, lamella_tensor** outs);
  void* context;
} lamella_derivative;

enum lamella_hook_kind {
  LAMELLA_HOOK_TENSOR = 0,     /* grads: the one gradient of a tensor, which the hook may replace there */
  LAMELLA_HOOK_BEFORE = 1,     /* grads: all gradients that come to the node */
  LAMELLA_HOOK_AFTER = 2,      /* `grads`: gradients that the node computed; `also`: gradients that it got */
  LAMELLA_HOOK_ACCUMULATED = 3 /* a leaf's gradient has been added to; grads: none */
};

/* `traverse` visits the host objects that a hook or a node holds; it may be null. */
typedef struct {
  uint32_t size;
  int32_t kind; /* enum lamella_hook_kind */
  void* context;
  lamella_status (*run)(void* context, lamella_tensor** grads, int32_t n, lamella_tensor* const* also, int32_t m);
  void (*destroy)(void* context); /* nullable */
  int32_t (*traverse)(void* context, lamella_visit visit, void* visitor);
} lamella_hook;

/* The type of the nodes of a function that is no operator. node_new makes such nodes; the address of a type
 * identifies it. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  const char* name;
  lamella_status (*backward)(void* context, lamella_node* node, lamella_tensor* const* grads, lamella_tensor** outs);
  void (*release)(void* context);                                         /* nullable; called when the graph is freed */
  void (*destroy)(void* context);                                         /* nullable */
  int32_t (*traverse)(void* context, lamella_visit visit, void* visitor); /* nullable */
} lamella_node_type;

enum lamella_backward_flags {
  LAMELLA_BACKWARD_RETAIN_GRAPH = 1,
  LAMELLA_BACKWARD_CREATE_GRAPH = 2,
  LAMELLA_BACKWARD_ACCUMULATE = 4 /* gradients are added to the leaves; else gradients of `inputs` are returned */
};

/* Hooks for saved tensors: `pack` turns a tensor into an object to keep, `unpack` turns the object into a tensor. */
typedef struct {
  uint32_t size;
  uint32_t reserved;
  void* context;
  lamella_status (*pack)(void* context, lamella_tensor* tensor, void** packed);
  lamella_status (*unpack)(void* packed, lamella_tensor** out);
  void (*destroy)(void* packed); /* nullable */
  /* Nullable, both or none: they count references to the context, on any thread. push_saved_hooks takes over one
   * reference, and each thread to which the hooks are carried has one more. Without them, hooks stay on their
   * thread. */
  void (*retain)(void* context);
  void (*release)(void* context);
} lamella_saved_hooks;

typedef struct {
  uint32_t size;
  int32_t layer;

  /* tensors */
  int32_t (*requires_grad)(lamella_tensor*);
  int32_t (*is_leaf)(lamella_tensor*);
  lamella_status (*set_requires_grad)(lamella_tensor*, int32_t on);
  lamella_status (*grad)(lamella_tensor*, lamella_tensor** out); /* owned, or null */
  lamella_status (*set_grad)(lamella_tensor*, lamella_tensor* grad);
  lamella_status (*retain_grad)(lamella_tensor*);
  int32_t (*retains_grad)(lamella_tensor*);
  lamella_status (*detach_)(lamella_tensor*);
  lamella_status (*grad_fn)(lamella_tensor*, lamella_node** out, uint32_t* output); /* owned, or null for a leaf */
  /* A leaf's edge leads to the node that accumulates its gradient. */
  lamella_status (*edge)(lamella_tensor*, lamella_node** out, uint32_t* output);
  /* The tensor becomes result `output` of the node. */
  lamella_status (*set_history)(lamella_tensor*, lamella_node*, uint32_t output);
  /* A tensor that was written in place becomes result `output` of the node. */
  lamella_status (*set_written)(lamella_tensor*, lamella_node*, uint32_t output);

  /* nodes */
  void (*node_retain)(lamella_node*);
  void (*node_release)(lamella_node*);
  const char* (*node_name)(lamella_node*);
  uint64_t (*node_sequence)(lamella_node*);
  int32_t (*node_results)(lamella_node*);
  int32_t (*node_edges)(lamella_node*);
  lamella_node* (*node_edge)(lamella_node*, int32_t i, uint32_t* output); /* borrowed, or null */
  /* Makes a node with an edge to each input (null: no edge). set_history then says which tensor each result is. */
  lamella_status (*node_new)(const lamella_node_type*, void* context, lamella_tensor* const* inputs, int32_t num_inputs,
                             int32_t num_results, lamella_node** out);
  int32_t (*node_needs)(lamella_node*, int32_t edge);             /* during backward: whether the gradient is needed */
  void* (*node_context)(lamella_node*, const lamella_node_type*); /* null if the node is of another type */
  void** (*node_host)(lamella_node*); /* a word for the host language, without a reference; null: no memory */
  lamella_status (*node_metadata)(lamella_node*, void* object, void (*destroy)(void*)); /* kept with the node */
  void* (*node_metadata_of)(lamella_node*);
  /* `result`: the number of the node's result that a tensor is, or -1. A value of none keeps a place without a
   * tensor. */
  lamella_status (*save)(lamella_node*, const lamella_value* value, int32_t result);
  int32_t (*num_saved)(lamella_node*);
  lamella_status (*saved)(lamella_node*, int32_t i, lamella_value* out); /* owned; checks the version */
  /* Makes the gradient of a result that got none: zeros of its shape; null, without an error, if it has no gradient. */
  lamella_status (*zeros)(lamella_node*, int32_t result, lamella_tensor** out);

  /* hooks: removed by id, on any thread; nothing happens if the hook was removed before, alone or with its node */
  lamella_status (*hook_add)(lamella_node*, uint32_t output, const lamella_hook*, uint64_t* id);
  void (*hook_remove)(uint64_t id);

  /* `grads`: the gradients of the roots (null: ones, for a tensor of one element). The gradients of `inputs` are put
   * into `outs`, owned; null for an input on which no root depends. */
  lamella_status (*backward)(lamella_tensor* const* roots, lamella_tensor* const* grads, int32_t num_roots,
                             lamella_tensor* const* inputs, int32_t num_inputs, lamella_tensor** outs, uint32_t flags);

  /* this thread */
  lamella_status (*push_saved_hooks)(const lamella_saved_hooks*);
  lamella_status (*pop_saved_hooks)(void); /* an error if there are none */
  /* Anomaly mode, for the process: the text that `trace` returns (from malloc) is kept with each node, and added to an
   * error in its backward; with check_nan, a node that makes a NaN fails too. Off when `trace` is null. */
  void (*set_anomaly)(char* (*trace)(void), int32_t check_nan);
  /* The node whose backward runs on this thread, borrowed; null if none does. */
  lamella_node* (*current_node)(void);
  /* Queues a function that is called once, when the backward that runs on this thread has ended without an error, in
   * the order of queueing; functions that it queues itself are called, too. `destroy` (nullable) is called in any
   * case. Without a backward it fails, and calls nothing. */
  lamella_status (*queue_callback)(lamella_status (*run)(void* context), void* context, void (*destroy)(void* context));
  /* A forward tangent, a tensor of the same sizes, dtype and device: for a plugin that computes tangents in a layer
   * outside of this one, and removes them from the tensors before it passes a call on. No derivative here computes
   * tangents, so that a differentiable operator fails if an argument has one. */
  lamella_tensor* (*tangent)(lamella_tensor*);                             /* owned, or null */
  lamella_status (*set_tangent)(lamella_tensor*, lamella_tensor* tangent); /* tangent: null removes it */
  /* Says what a result without a history is, of whose shape and dtype `zeros` then makes its gradient. */
  lamella_status (*describe_result)(lamella_node*, uint32_t result, const lamella_tensor*);
  /* A copy of the type that node_new was called with, without its name, valid as long as the node; null for others. */
  const lamella_node_type* (*node_type)(lamella_node*);
} lamella_autograd;

#ifdef __cplusplus
}
#endif
#endif
