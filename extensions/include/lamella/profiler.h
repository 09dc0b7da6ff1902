/* Observers of operators, debug information that travels with the work, and the log of used features: the interface
 * "profiler", version 1, of the plugin that has them, in C, and below it the same in C++.
 *
 *   lamella::RecordFunctionCallback callback(
 *       [](const lamella::RecordFunction& r) { return now(); },                      // enter: makes a context
 *       [](const lamella::RecordFunction& r, uint64_t began) { add(r.name(), now() - began); });
 *   uint64_t handle = lamella::add_global_callback(callback.sampling_prob(0.01));
 *
 * The interface is found as find_interface("profiler", 1). What docs/abi.md promises of the table holds of this file:
 * structs that are handed in are read as far as their `size` says and copied, and all grow at their end alone.
 *
 * Note [Observers]  An observer hears of calls of operators (scope "function": outside of autograd; "kernel": inside of
 *   it, as a backend gets them), of the steps of backward, and of the blocks that a program has named. `enter` is
 * called before and `exit` behind each; what `enter` leaves in `state`, `exit` gets. Where `enter` was called, `exit`
 * is called, too, also after an error and after the observer was removed. Operators that an observer calls are not
 *   observed. One that fails is removed, and reported; the operator goes on.
 * Note [Sampling]  An observer with a probability p hears of each call with that probability, independently. What is
 *   drawn is the number of calls to the next one that it hears of, so that the others cost one decrement.
 * Note [Removal]  Observers are added and removed on any thread at any time, from within an observer, too. `destroy`
 *   is called once no call can reach the observer any more, on any thread. */
#ifndef LAMELLA_PROFILER_H
#define LAMELLA_PROFILER_H

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

/* What an observer is told. Borrowed; it may grow. */
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
  uint64_t forward_thread;             /* of a step of backward: where the call was recorded, or 0 */
  const struct lamella_record* parent; /* the innermost observed one around it on this thread, or null */
  int32_t backend;                     /* of the first tensor, or -1 */
  int32_t layer;                       /* of the layer that tells, or -1 */
} lamella_record;

enum lamella_observer_flags {
  LAMELLA_OBSERVER_NEEDS_INPUTS = 1, /* inputs and outputs are there for C in any case; hosts convert them then only */
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
  LAMELLA_TRACE_MEMORY = 4,      /* memory that is got and given back */
  LAMELLA_TRACE_THIS_THREAD = 8, /* of this thread, and those that its state is carried to, alone */
  LAMELLA_TRACE_NO_HOST = 16     /* of devices alone: neither calls nor blocks */
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
  int64_t bytes; /* negative where they are given back */
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
  int64_t launched; /* when it was queued; begin, where that is not known */
  int64_t begin, end, bytes;
  int64_t host;
  uint64_t thread;      /* that launched it, or 0 */
  const int64_t* stack; /* of the event that launched it */
} lamella_trace_activity;

enum { LAMELLA_TRACE_DEVICE = LAMELLA_SCOPES }; /* the scope of a row of what a device has done */

/* All events of one name, scope and backend, and where asked for of equal shapes and stacks. */
typedef struct {
  uint32_t size;
  uint32_t scope;
  const char* name;
  const int64_t* shapes;
  const int64_t* stack;
  int32_t backend;
  int32_t reserved;
  int64_t count, failed;
  int64_t total, self;         /* nanoseconds: with what is inside, and without */
  int64_t least, most;         /* of one */
  int64_t memory, self_memory; /* bytes got less bytes given back, likewise */
  int64_t device, self_device; /* nanoseconds of devices: of what was launched inside, and directly. Of a device's own
                                * row both are the time itself, and `total` and `self` are 0 */
  int64_t bytes;               /* that its copies and fills moved */
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
  int32_t (*enable_records)(int32_t on); /* on this thread; what it was before */
  /* A named block. *scope is null if nobody listens; scope_end then does nothing. It is best called on the thread of
   * the begin: else that shows the block as a parent until its next record. */
  lamella_status (*scope_begin)(const char* name, void** scope);
  void (*scope_end)(void* scope);
  /* Called with the pending error of an observer that was removed for it. Null: the message goes to standard error. */
  void (*set_reporter)(void (*report)(void* context));

  /* Debug information: values by kind, on this thread and wherever its state is carried. The last push of a kind
   * counts. `push` gives a token for `pop`, which is called on the same thread, the last one first. */
  lamella_status (*info_push)(const char* kind, const lamella_value* value, void** token);
  lamella_status (*info_pop)(void* token);
  lamella_status (*info_get)(const char* kind, lamella_value* out); /* owned; none: there is no such kind */
  /* Each kind once, with the value that counts; borrowed for the call. */
  lamella_status (*info_each)(lamella_status (*visit)(void* context, const char* kind, const lamella_value* value),
                              void* context);
  /* For a host whose own context carries information (Python's contextvars): entries made by info_make, which the host
   * keeps and frees, and a function that gives the innermost of this thread's, or null. */
  lamella_status (*info_make)(const char* kind, const lamella_value* value, void* below, void** entry);
  void (*info_free)(void* entry);
  void (*set_info_reader)(void* (*innermost)(void));

  /* Used features: each key is told once a process, to all handlers. Keys that came before the first handler, the first
   * 1024 of them, are told to it. */
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
  /* stack_frames: how many of the innermost frames tell rows apart. */
  lamella_status (*trace_summary)(lamella_trace*, int32_t by_shapes, int32_t stack_frames, lamella_on_trace_row,
                                  void* context);
  /* In the trace-event format. The file takes the place of one that is there when it is whole. metadata: nullable, an
   * object in JSON. */
  lamella_status (*trace_export)(lamella_trace*, const char* path, const char* metadata);
  /* What the stacks of traces are made of: read gives this thread's frames as numbers, the innermost first; describe
   * writes a frame's text and gives its length. */
  void (*set_stack_reader)(int32_t (*read)(int64_t* frames, int32_t room),
                           int32_t (*describe)(int64_t frame, char* out, int32_t room));
  lamella_status (*trace_activity)(lamella_trace*, lamella_on_trace_activity, void* context);
  /* What could not be recorded of devices, and why: a sentence each. */
  lamella_status (*trace_notes)(lamella_trace*, lamella_on_trace_text, void* context);
  lamella_status (*traced_devices)(lamella_on_trace_text, void* context); /* names of those that have the interface */
  /* An observer, until it is removed, that gives calls, steps of backward and blocks to the library at `path`, as
   * ranges of the kind "nvtx" or "itt". */
  lamella_status (*ranges_begin)(const char* kind, const char* path, int32_t shapes, uint64_t* observer);
  /* For a host with contexts (Python's contextvars): a block, and what the context holds while it runs; its reader; and
   * the name of what is around a record that an observer is told of, or null. */
  lamella_status (*context_begin)(const char* name, void** scope, void** blocks);
  void (*context_free)(void* blocks);
  void (*set_context_reader)(void* (*read)(void));
  const char* (*parent_name)(const lamella_record*);
} lamella_profiler;

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#include <lamella/dispatcher.h>
#include <lamella/library.h>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(hidden) /* all of C++ stays within the library that it is compiled into */

namespace lamella {

/* The interface; an Error if no profiler is loaded. */
inline const lamella_profiler& profiler_interface() {
  const auto* found = static_cast<const lamella_profiler*>(api().find_interface("profiler", 1));
  if (!found) throw Error(LAMELLA_RUNTIME_ERROR, "the plugin 'profiler' is not loaded");
  return *found;
}

enum class RecordScope {
  FUNCTION = LAMELLA_SCOPE_FUNCTION,
  BACKWARD_FUNCTION = LAMELLA_SCOPE_BACKWARD_FUNCTION,
  USER_SCOPE = LAMELLA_SCOPE_USER_SCOPE,
  KERNEL = LAMELLA_SCOPE_KERNEL
};

/* What an observer is told; valid while its function runs. */
class RecordFunction {
 public:
  explicit RecordFunction(const lamella_record* r) : r_(r) {}
  std::string_view name() const { return r_->name; }
  const char* overload_name() const { return r_->op ? api().operator_overload(r_->op) : ""; }
  const char* schema() const { return r_->op ? api().operator_schema(r_->op) : ""; }
  const lamella_value* inputs() const { return r_->inputs; }
  uint32_t num_inputs() const { return r_->num_inputs; }
  const lamella_value* outputs() const { return r_->outputs; } /* null before the call and after an error */
  uint32_t num_outputs() const { return r_->num_outputs; }
  RecordScope scope() const { return static_cast<RecordScope>(r_->scope); }
  uint64_t handle() const { return r_->id; }
  uint64_t sequence_nr() const { return r_->sequence; }
  uint64_t thread_id() const { return r_->thread; }
  uint64_t forward_thread_id() const { return r_->forward_thread; }
  const char* backend() const { return r_->backend < 0 ? "" : api().backend_name(r_->backend); }
  /* Of the kernel that serves the operator on that backend; "" for blocks, and where nothing serves. */
  const char* owner() const {
    const auto* found = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
    const char* owner = found && r_->op && r_->backend >= 0 ? found->kernel_owner(r_->op, r_->backend) : nullptr;
    return owner ? owner : "";
  }
  const lamella_record* c() const { return r_; }

 private:
  const lamella_record* r_;
};

/* What to call, of what, and how often. `enter` returns a context, which `exit` gets; both may be lambdas that capture.
 * A function that throws is removed, and reported. */
class RecordFunctionCallback {
 public:
  template <class Enter, class Exit>
  RecordFunctionCallback(Enter enter, Exit exit) {
    using Context = std::decay_t<std::invoke_result_t<Enter&, const RecordFunction&>>;
    struct Both {
      Enter enter;
      Exit exit;
    };
    constexpr bool fits = sizeof(Context) <= sizeof(void*) && std::is_trivially_copyable_v<Context>;
    shared_ = std::make_shared<Both>(Both{std::move(enter), std::move(exit)});
    enter_ = [](void* both, const lamella_record* r, void** state) {
      return guarded([&] {
        Context made = static_cast<Both*>(both)->enter(RecordFunction(r));
        if constexpr (fits)
          std::memcpy(state, &made, sizeof made);
        else
          *state = new Context(std::move(made));
        return LAMELLA_OK;
      });
    };
    exit_ = [](void* both, const lamella_record* r, void* state) {
      return guarded([&] {
        if constexpr (fits) {
          Context made;
          std::memcpy(&made, &state, sizeof made);
          static_cast<Both*>(both)->exit(RecordFunction(r), made);
        } else {
          std::unique_ptr<Context> made(static_cast<Context*>(state));
          if (made) static_cast<Both*>(both)->exit(RecordFunction(r), std::move(*made));
        }
        return LAMELLA_OK;
      });
    };
  }
  /* A function that is called before alone. */
  template <class Enter>
  explicit RecordFunctionCallback(Enter enter)
      : RecordFunctionCallback(
            [enter = std::move(enter)](const RecordFunction& r) mutable {
              enter(r);
              return 0;
            },
            [](const RecordFunction&, int) {}) {}

  RecordFunctionCallback& needs_inputs(bool needs = true) { return need(LAMELLA_OBSERVER_NEEDS_INPUTS, needs); }
  RecordFunctionCallback& needs_outputs(bool needs = true) { return need(LAMELLA_OBSERVER_NEEDS_OUTPUTS, needs); }
  RecordFunctionCallback& needs_ids(bool needs = true) { return need(LAMELLA_OBSERVER_NEEDS_IDS, needs); }
  RecordFunctionCallback& sampling_prob(double p) {
    probability_ = p;
    return *this;
  }
  RecordFunctionCallback& scopes(std::initializer_list<RecordScope> scopes) {
    scopes_ = 0;
    for (RecordScope s : scopes) scopes_ |= 1u << static_cast<int>(s);
    return *this;
  }
  uint64_t add(bool everywhere) const {
    struct Held {
      std::shared_ptr<void> both;
      Enter enter;
      Exit exit;
    };
    auto* context = new Held{shared_, enter_, exit_};
    lamella_observer o{};
    o.size = sizeof o;
    o.flags = flags_;
    o.scopes = scopes_;
    o.probability = probability_;
    o.context = context;
    o.enter = [](void* h, const lamella_record* r, void** state) {
      auto* held = static_cast<Held*>(h);
      return held->enter(held->both.get(), r, state);
    };
    o.exit = [](void* h, const lamella_record* r, void* state) {
      auto* held = static_cast<Held*>(h);
      return held->exit(held->both.get(), r, state);
    };
    o.destroy = [](void* h) { delete static_cast<Held*>(h); };
    uint64_t handle;
    if (lamella_status st = profiler_interface().add_observer(&o, everywhere, &handle)) {
      delete context;
      check(st);
    }
    return handle;
  }

 private:
  using Enter = lamella_status (*)(void*, const lamella_record*, void**);
  using Exit = lamella_status (*)(void*, const lamella_record*, void*);
  RecordFunctionCallback& need(uint32_t flag, bool on) {
    flags_ = on ? flags_ | flag : flags_ & ~flag;
    return *this;
  }
  std::shared_ptr<void> shared_;
  Enter enter_;
  Exit exit_;
  uint32_t flags_ = 0;
  uint32_t scopes_ =
      1u << LAMELLA_SCOPE_FUNCTION | 1u << LAMELLA_SCOPE_BACKWARD_FUNCTION | 1u << LAMELLA_SCOPE_USER_SCOPE;
  double probability_ = 1;
};

inline uint64_t add_global_callback(const RecordFunctionCallback& c) { return c.add(true); }
inline uint64_t add_thread_local_callback(const RecordFunctionCallback& c) { return c.add(false); }
inline void remove_callback(uint64_t handle) { check(profiler_interface().remove_observer(handle)); }
inline void disable_callback(uint64_t handle) { check(profiler_interface().enable_observer(handle, 0)); }
inline void reenable_callback(uint64_t handle) { check(profiler_interface().enable_observer(handle, 1)); }
/* Switches observing on or off for this thread; what it was before. */
inline bool enable_record_function(bool on) { return profiler_interface().enable_records(on) != 0; }

/* While it lives, this thread observes, or does not. */
class RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool on = true) : before_(enable_record_function(on)) {}
  ~RecordFunctionGuard() { profiler_interface().enable_records(before_); }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;

 private:
  bool before_;
};

/* A block of a program with a name, which observers and profiles show. */
class RecordBlock {
 public:
  explicit RecordBlock(const char* name) { check(profiler_interface().scope_begin(name, &scope_)); }
  ~RecordBlock() {
    if (scope_) profiler_interface().scope_end(scope_);
  }
  RecordBlock(const RecordBlock&) = delete;

 private:
  void* scope_ = nullptr;
};

/* While it lives, debug information has a value under a kind, here and wherever this thread's state is carried. */
class DebugInfoGuard {
 public:
  DebugInfoGuard(const char* kind, const std::string& text) {
    lamella_value v{LAMELLA_STRING, static_cast<uint32_t>(text.size()), {0}};
    v.as.string = text.c_str();
    check(profiler_interface().info_push(kind, &v, &token_));
  }
  DebugInfoGuard(const char* kind, int64_t number) {
    const lamella_value v{LAMELLA_INT, 0, {number}};
    check(profiler_interface().info_push(kind, &v, &token_));
  }
  ~DebugInfoGuard() {
    if (profiler_interface().info_pop(token_)) api().error_clear();
  }
  DebugInfoGuard(const DebugInfoGuard&) = delete;
  /* The text under a kind here, or an empty one. */
  static std::string text(const char* kind) {
    lamella_value v;
    check(profiler_interface().info_get(kind, &v));
    std::string s = v.tag == LAMELLA_STRING ? std::string(v.as.string, v.length) : std::string();
    api().value_release(&v);
    return s;
  }

 private:
  void* token_ = nullptr;
};

/* Adds a function that is told each key of the usage log once a process; the handle removes it. */
inline uint64_t SetAPIUsageHandler(std::function<void(const std::string&)> handler) {
  using Handler = std::function<void(const std::string&)>;
  auto* held = new Handler(std::move(handler));
  uint64_t handle;
  if (lamella_status st = profiler_interface().add_usage_handler(
          [](void* h, const char* key) {
            try {
              (*static_cast<Handler*>(h))(key);
            } catch (...) { /* a log must not end its program */
            }
          },
          held, [](void* h) { delete static_cast<Handler*>(h); }, &handle)) {
    delete held;
    check(st);
  }
  return handle;
}
inline void remove_api_usage_handler(uint64_t handle) { check(profiler_interface().remove_usage_handler(handle)); }

/* Tells the log that a feature is used, once at each place. Without a profiler it does nothing. */
#define LAMELLA_LOG_API_USAGE_ONCE(key)                                                                   \
  do {                                                                                                    \
    static const bool lamella_logged = [] {                                                               \
      const auto* p = static_cast<const lamella_profiler*>(lamella::api().find_interface("profiler", 1)); \
      if (p && p->log_usage_once(key)) lamella::api().error_clear();                                      \
      return true;                                                                                        \
    }();                                                                                                  \
    (void)lamella_logged;                                                                                 \
  } while (0)

}  // namespace lamella

#pragma GCC visibility pop
#endif
#endif
