/* The interface "profiler", version 1, in C: observers of operators, debug information that travels with the work, the
 * log of used features, and profiles. <lamella/profiler.h> is the same in C++.
 *
 * The interface is found as find_interface("profiler", 1). The promises of docs/abi.md for the table hold for this
 * file: structs that callers pass are read as far as their `size` says and copied, and all grow only at their end.
 *
 * Note [Observers]  An observer is called for calls of operators (scope "function": outside of autograd; "kernel":
 *   inside of it, as a backend gets them), for the steps of backward, and for the blocks that a program has named.
 *   `enter` is called before and `exit` after each; `exit` gets the `state` that `enter` set. Each `enter` is followed
 *   by an `exit`, also after an error and after the observer was removed. Operators that an observer calls are not
 *   observed. An observer that fails is removed, and reported; the operator goes on.
 * Note [Sampling]  An observer with a probability p is called for each call with that probability, independently. A
 *   random number of calls is skipped before the next observed one, and each skipped call costs one decrement.
 * Note [Removal]  Observers are added and removed on any thread at any time, from within an observer, too. `destroy`
 *   is called once no call can reach the observer any more, on any thread. */
#ifndef LAMELLA_PROFILER_TABLE_H
#define LAMELLA_PROFILER_TABLE_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lamella_scope {
  LAMELLA_SCOPE_FUNCTION = 0,          /* a call of an operator, as the program or a composite makes it */
  LAMELLA_SCOPE_BACKWARD_FUNCTION = 1, /* a step of backward */
  LAMELLA_SCOPE_USER_SCOPE = 2,        /* a block that a program has named */
  LAMELLA_SCOPE_KERNEL = 3,            /* a call below autograd, as it goes to a backend */
  LAMELLA_SCOPES = 4
};

/* The record of a call, of a step of backward or of a block. Borrowed; it may grow. */
typedef struct lamella_record {
  uint32_t size;
  uint32_t scope;               /* enum lamella_scope */
  const char* name;             /* "aten::add", "MulBackward0", or the name of the block */
  const lamella_operator* op;   /* null for a block; of a step of backward the forward's operator, or null */
  const lamella_frame* frame;   /* of the call; null for the others */
  const lamella_value* inputs;  /* of the call */
  const lamella_value* outputs; /* of the call, for `exit`; null after an error */
  uint32_t num_inputs, num_outputs;
  uint64_t id;                         /* of this record in the process; 0 unless an observer needs ids */
  uint64_t sequence;                   /* autograd's number: for `exit` of a call that it has recorded, and of a step
                                        * of backward the number of the call that it belongs to; else 0 */
  uint64_t thread;                     /* the system's number of the thread */
  uint64_t forward_thread;             /* of a step of backward: the thread that recorded the call, or 0 */
  const struct lamella_record* parent; /* the innermost observed record around it on this thread, or null */
  int32_t backend;                     /* of the first tensor, or -1 */
  int32_t layer;                       /* the layer that made the record, or -1 */
} lamella_record;

enum lamella_observer_flags {
  LAMELLA_OBSERVER_NEEDS_INPUTS = 1, /* C gets inputs and outputs in any case; hosts convert them only with this flag */
  LAMELLA_OBSERVER_NEEDS_OUTPUTS = 2,
  LAMELLA_OBSERVER_NEEDS_IDS = 4 /* ids, sequence numbers, forward threads */
};

typedef struct {
  uint32_t size;
  uint32_t flags;  /* enum lamella_observer_flags */
  uint32_t scopes; /* bits of enum lamella_scope */
  uint32_t reserved;
  double probability; /* above 0, at most 1 */
  void* context;
  lamella_status (*enter)(void* context, const lamella_record*, void** state); /* nullable */
  lamella_status (*exit)(void* context, const lamella_record*, void* state);   /* nullable */
  void (*destroy)(void* context);                                              /* nullable; on any thread */
} lamella_observer;

typedef void (*lamella_usage_handler)(void* context, const char* key);

/* ---- traces: sessions that keep what happens --------------------------------------------------------------------- */

typedef struct lamella_trace lamella_trace;

enum lamella_trace_flags {
  LAMELLA_TRACE_SHAPES = 1,      /* sizes and dtypes of the arguments */
  LAMELLA_TRACE_STACKS = 2,      /* the host language's stacks */
  LAMELLA_TRACE_MEMORY = 4,      /* memory that is allocated and freed */
  LAMELLA_TRACE_THIS_THREAD = 8, /* only this thread, and those that its state is carried to */
  LAMELLA_TRACE_NO_HOST = 16     /* only devices and memory: neither calls nor blocks */
};

typedef struct {
  uint32_t size;
  uint32_t flags;  /* enum lamella_trace_flags */
  uint32_t scopes; /* bits; 0: functions, steps of backward, blocks */
  uint32_t reserved;
  int64_t max_events;  /* of each thread; what comes later is counted as dropped. 0: 2^26 */
  const char* devices; /* nullable: names of devices whose work is recorded, separated by commas, in the way that
                        * <lamella/device_trace.h> says, or by their events; "*": all that have that interface */
} lamella_trace_options;

/* Times are nanoseconds since the trace began. Borrowed. */
typedef struct {
  uint32_t size;
  uint32_t scope;
  const char* name;
  const lamella_operator* op; /* of a call, or null */
  int64_t begin, end;
  int64_t index, parent; /* numbers in the order of the visits; -1: nothing around it */
  uint64_t sequence, thread, forward_thread;
  const int64_t* shapes; /* null, or a length and that many words: Note [Shapes] */
  const int64_t* stack;  /* null, or a length and that many frames, the innermost first */
  int32_t backend;
  int32_t failed;
} lamella_trace_event;

typedef struct {
  uint32_t size;
  uint32_t reserved;
  lamella_device device;
  int64_t time;
  const void* data;
  int64_t bytes; /* negative if they are freed */
  uint64_t thread;
} lamella_trace_memory_event;

/* Work of a device, in the order of begins; times are those of the host's clock. `host` is the number of the
 * event that launched it, as trace_events counts, or -1. */
typedef struct {
  uint32_t size;
  uint32_t kind; /* enum lamella_activity_kind */
  const char* name;
  lamella_device device, to, from;
  uint64_t stream, launch;
  int64_t launched; /* when it was queued; equal to begin if that is not known */
  int64_t begin, end, bytes;
  int64_t host;
  uint64_t thread;      /* the thread that launched it, or 0 */
  const int64_t* stack; /* of the event that launched it */
} lamella_trace_activity;

enum { LAMELLA_TRACE_DEVICE = LAMELLA_SCOPES }; /* the scope of a row of what a device has done */

/* Languages whose stacks are read; the frames of a later one are shown within those of an earlier one. */
enum lamella_stack_language {
  LAMELLA_STACK_HOST = 0,    /* Python */
  LAMELLA_STACK_PROGRAM = 1, /* graphs */
  LAMELLA_STACK_COUNT
};

/* All events of one name, scope and backend, and, if requested, of equal shapes and stacks. */
typedef struct {
  uint32_t size;
  uint32_t scope;
  const char* name;
  const int64_t* shapes;
  const int64_t* stack;
  int32_t backend;
  int32_t reserved;
  int64_t count, failed;
  int64_t total, self;         /* nanoseconds: with inner events, and without */
  int64_t least, most;         /* nanoseconds of one event */
  int64_t memory, self_memory; /* bytes allocated minus bytes freed, likewise */
  int64_t device, self_device; /* nanoseconds of devices: of the work that the events launched, with inner events and
                                * without. In a row of LAMELLA_TRACE_DEVICE both are the time of the work itself, and
                                * `total` and `self` are 0 */
  int64_t bytes;               /* bytes that the device's copies and fills moved */
  int64_t device_memory, self_device_memory; /* the parts of memory and self_memory that are not on a host */
} lamella_trace_row;

/* Note [Shapes]  For each argument one word, `tag | dtype << 8 | number of dimensions << 16`, and then of a tensor its
 *   sizes; of a list of tensors `tag | number << 16`, and then those tensors. After 256 words a list is cut. */
typedef lamella_status (*lamella_on_trace_event)(void* context, const lamella_trace_event*);
typedef lamella_status (*lamella_on_trace_memory)(void* context, const lamella_trace_memory_event*);
typedef lamella_status (*lamella_on_trace_row)(void* context, const lamella_trace_row*);
typedef lamella_status (*lamella_on_trace_activity)(void* context, const lamella_trace_activity*);
typedef lamella_status (*lamella_on_trace_text)(void* context, const char* text);

typedef struct {
  uint32_t size;
  int32_t layer, kernel_layer; /* above and below autograd */

  /* observers: for all threads, or for this one and those that its state is carried to */
  lamella_status (*add_observer)(const lamella_observer*, int32_t everywhere, uint64_t* handle);
  lamella_status (*remove_observer)(uint64_t handle);
  lamella_status (*enable_observer)(uint64_t handle, int32_t on);
  int32_t (*enable_records)(int32_t on); /* on this thread; returns the setting before */
  /* A named block. *scope is null if there is no observer; scope_end then does nothing. Call scope_end on the thread
   * of scope_begin, which else shows the block as a parent until its next record. */
  lamella_status (*scope_begin)(const char* name, void** scope);
  void (*scope_end)(void* scope);
  /* Sets a function that is called when an observer was removed because it failed; its error is pending then. Null: the
   * message goes to standard error. */
  void (*set_reporter)(void (*report)(void* context));

  /* Debug information: values by kind, on this thread and on those that its state is carried to. The last push of a
   * kind counts. info_push returns a token for info_pop, which is called on the same thread, the last one first. */
  lamella_status (*info_push)(const char* kind, const lamella_value* value, void** token);
  lamella_status (*info_pop)(void* token);
  lamella_status (*info_get)(const char* kind, lamella_value* out); /* owned; none: there is no such kind */
  /* Visits each kind once, with the value that counts; borrowed for the call. */
  lamella_status (*info_each)(lamella_status (*visit)(void* context, const char* kind, const lamella_value* value),
                              void* context);
  /* For a host whose own contexts carry information (Python's contextvars): info_make makes entries, which the host
   * keeps and frees, and set_info_reader sets a function that returns this thread's innermost entry, or null. */
  lamella_status (*info_make)(const char* kind, const lamella_value* value, void* below, void** entry);
  void (*info_free)(void* entry);
  void (*set_info_reader)(void* (*innermost)(void));

  /* Used features: all handlers get each key once a process. The first 1024 keys that are logged before the first
   * handler is added are kept for it. */
  lamella_status (*log_usage_once)(const char* key);
  lamella_status (*add_usage_handler)(lamella_usage_handler, void* context, void (*destroy)(void*), uint64_t* handle);
  lamella_status (*remove_usage_handler)(uint64_t handle);

  /* Traces. Several may run at once. They are read after they have been stopped; `free` stops one that runs. */
  lamella_status (*trace_start)(const lamella_trace_options*, lamella_trace** out);
  lamella_status (*trace_stop)(lamella_trace*);
  void (*trace_free)(lamella_trace*);
  int64_t (*trace_dropped)(lamella_trace*);
  lamella_status (*trace_events)(lamella_trace*, lamella_on_trace_event, void* context);
  lamella_status (*trace_memory)(lamella_trace*, lamella_on_trace_memory, void* context);
  /* stack_frames: how many of the innermost frames distinguish rows. */
  lamella_status (*trace_summary)(lamella_trace*, int32_t by_shapes, int32_t stack_frames, lamella_on_trace_row,
                                  void* context);
  /* Writes the trace-event format into the file at `path`, from its begin; a device, a FIFO or a link is written
   * through. To keep an old file until the new one is complete, write a new file and rename it. metadata: nullable, an
   * object in JSON. */
  lamella_status (*trace_export)(lamella_trace*, const char* path, const char* metadata);
  /* Sets the functions that read the stacks of a language: `read` writes this thread's frames as numbers below 2**56,
   * the innermost first, and returns how many; `describe` writes a frame's text and returns its length. */
  void (*set_stack_reader)(enum lamella_stack_language, int32_t (*read)(int64_t* frames, int32_t room),
                           int32_t (*describe)(int64_t frame, char* out, int32_t room));
  int32_t (*describe_frame)(int64_t frame, char* out, int32_t room); /* of a frame of a trace */
  lamella_status (*trace_activity)(lamella_trace*, lamella_on_trace_activity, void* context);
  /* Visits notes, a sentence each, about work of devices that could not be recorded. */
  lamella_status (*trace_notes)(lamella_trace*, lamella_on_trace_text, void* context);
  lamella_status (*traced_devices)(lamella_on_trace_text, void* context); /* names of devices that can be traced */

  /* Adds an observer that passes calls, steps of backward and blocks to the library at `path`, as ranges of the kind
   * "nvtx" or "itt". */
  lamella_status (*ranges_begin)(const char* kind, const char* path, int32_t shapes, uint64_t* observer);
  /* For a host with contexts (Python's contextvars): context_begin begins a block and returns what the context must
   * hold while it runs; set_context_reader sets a function that returns what this thread's context holds;
   * parent_name returns the name of the block or call around a record, or null. */
  lamella_status (*context_begin)(const char* name, void** scope, void** blocks);
  void (*context_free)(void* blocks);
  void (*set_context_reader)(void* (*read)(void));
  const char* (*parent_name)(const lamella_record*);
  /* Writes as `trace_export` does, into an open file, from its position; does not close it. */
  lamella_status (*trace_write)(lamella_trace*, int32_t fd, const char* metadata);
} lamella_profiler;

#ifdef __cplusplus
}
#endif
#endif
