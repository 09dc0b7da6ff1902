/* The C ABI of Lamella: all that a plugin, a backend or a custom operator needs, in plain C. Read <lamella/types.h>
 * first (objects, tensors, values, the frame), then this: the rules, and the table of functions. The structs that are
 * registered are in definitions.h, state.h and backend.h. Sugar in C++ over exactly this file is in extension.h;
 * docs/abi.md says what is promised.
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
 *   If the values are plain tensors, such as integers and scales, the opaque tensor can stand over the storage of one
 *   of them (tensor_opaque_over): a write to these integers then counts the version of the opaque tensor, so that
 *   backward refuses it if it was saved, and its bytes are those of the storage. Other tensors over the storage stay
 *   plain. Offsets and strides of a view count the opaque tensor's own elements, and are not compared with the bytes:
 *   `carry` makes the state of the view, or refuses the view. A copy has no memory when `carry` gets it, nor has a
 *   tensor that `load` gets: the slot's function puts it over new memory by tensor_set_storage.
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
 *     keep        the same, but along the dimensions that arguments with LAMELLA_ARGUMENT_DIM name (all, if they name
 *                 none) sizes may differ, and values depend on each other. In lists, tensors of shape (0,) do not count
 *     reduce      the same, but the dimensions that these arguments name (all, if they name none) are gone, or have
 *                 size 1 if the argument `keepdim` is true
 *   or patterns between `|`, of which the first holds that fits the tensors' numbers of dimensions and their sizes:
 *   "... i k, ... k j -> ... i j | k, k ->". A pattern has a group for each argument and for each result that is a
 *   tensor, may be one, or is a list of tensors, whose every element has the group's dimensions. Outputs of out= forms
 *   have none. A word is a dimension, and `...` any number of further ones, aligned at the last. Equal words have equal
 *   sizes, except that size 1 broadcasts. A word with `~` at one of its places, and `...~`, carry on to a result in
 *   meaning alone: values along them depend on each other, and sizes may differ. A word of the results alone is a new
 *   dimension. Along all other dimensions of a result the operator computes for each index alone; dimensions that are
 *   in no `~` and that a result lacks may be permuted in the arguments without a change of it. <lamella/dims.h> reads
 *   the text, and lamella.library.opcheck checks it.
 * Note [Append only]  Entries are added at the end of the table, each under
 *   #if LAMELLA_TARGET_VERSION >= LAMELLA_MAKE_VERSION(1, m), in the section of its minor version; none is moved,
 *   retyped or taken away.
 */
#ifndef LAMELLA_C_API_H
#define LAMELLA_C_API_H

#include <lamella/backend.h>
#include <lamella/definitions.h>
#include <lamella/state.h>
#include <lamella/types.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  /* Registers a kind of errors. `name` is the name of its class in the host language, `base` the kind that the class is
   * derived from: one of enum lamella_error_kind or a registered one. A name keeps its number, also for a plugin that
   * registers it again. */
  lamella_status (*error_kind_register)(lamella_library*, const char* name, int32_t base, int32_t* kind);
  /* Returns the name of a registered kind and its base (nullable); null for another number. */
  const char* (*error_kind_name)(int32_t kind, int32_t* base);

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
   * storage's version, bytes and device. Sizes, strides and dtype are those that arithmetic sees, and need not fit the
   * storage. strides: nullable. */
  lamella_status (*tensor_opaque_over)(lamella_storage*, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                       int32_t dtype, lamella_tensor** out);
  /* Puts an opaque tensor over another storage, which it retains, on the same device. For a slot's `carry` and `load`,
   * which get a tensor without memory when they make a copy, and before anything else uses the tensor: the version
   * becomes the storage's, and aliases keep the old storage. A view is an error. */
  lamella_status (*tensor_set_storage)(lamella_tensor* opaque, lamella_storage*);
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
   * memory. States that carry follow (LAMELLA_CARRY_RESIZE). Fails, and changes nothing, for a view or memory of others
   * (tensor_from_blob with a deleter) that would have to grow, for an opaque tensor without a slot that carries, and if
   * a slot refuses. */
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
  /* Serves the call from a layer's kernel by the operator's composite: its operators come to this layer again, and not
   * to the layers outside of it. Arguments as for `redispatch`. Fails if the operator has no composite. */
  lamella_status (*decompose)(lamella_frame* frame, const lamella_value* args, int32_t num_args, lamella_value* rets,
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
  uint32_t (*operator_effects)(const lamella_operator*); /* enum lamella_effects */
  /* The version of its namespace in which the operator got its present number of arguments; from 1 on. */
  uint32_t (*operator_since)(const lamella_operator*);
  /* The version of a namespace's operators: the highest that an open library which defines or extends it has given.
   * 0: there is no such library. */
  uint32_t (*namespace_version)(const char* ns);
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
  /* Registers a function that finds dimensions by name, for arguments with LAMELLA_ARGUMENT_DIM of every operator. The
   * newest is called first. */
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
  /* Gives a kind of events a number, by its name: plugins that use one name share the kind. */
  lamella_status (*event_kind_register)(lamella_library*, const char* name, int32_t* kind);
  const char* (*event_kind_name)(int32_t kind); /* null for a number that none was given */
  /* kinds: a set of bits, one for each enum lamella_event_kind and each registered kind. */
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

LAMELLA_LAYOUT(offsetof(lamella_api, raise) == 16);

#ifdef __cplusplus
}
#endif
#endif
