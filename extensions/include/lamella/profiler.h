/* Observers of operators, debug information that travels with the work, and the log of used features, in C++. C uses
 * the table in <lamella/profiler_table.h>.
 *
 *   lamella::RecordFunctionCallback callback(
 *       [](const lamella::RecordFunction& r) { return now(); },                      // enter: makes a context
 *       [](const lamella::RecordFunction& r, uint64_t began) { add(r.name(), now() - began); });
 *   uint64_t handle = lamella::add_global_callback(callback.sampling_prob(0.01)); */
#ifndef LAMELLA_PROFILER_H
#define LAMELLA_PROFILER_H

#include <lamella/profiler_table.h>

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

/* Returns the interface "profiler"; throws if no plugin has published it. */
inline const lamella_profiler& profiler_interface() {
  const auto* found = static_cast<const lamella_profiler*>(api().find_interface("profiler", 1));
  if (!found) throw Error(LAMELLA_RUNTIME_ERROR, "the plugin 'profiler' is not loaded: install or allow it");
  return *found;
}

enum class RecordScope {
  FUNCTION = LAMELLA_SCOPE_FUNCTION,
  BACKWARD_FUNCTION = LAMELLA_SCOPE_BACKWARD_FUNCTION,
  USER_SCOPE = LAMELLA_SCOPE_USER_SCOPE,
  KERNEL = LAMELLA_SCOPE_KERNEL
};

/* The record that an observer gets; valid while its function runs. */
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
  /* Returns the owner of the kernel that serves the operator on that backend; "" for blocks, and if nothing serves. */
  const char* owner() const {
    const auto* found = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
    const char* owner = found && r_->op && r_->backend >= 0 ? found->kernel_owner(r_->op, r_->backend) : nullptr;
    return owner ? owner : "";
  }
  const lamella_record* c() const { return r_; }

 private:
  const lamella_record* r_;
};

/* An observer: its functions, the scopes that it observes, and how often. `enter` returns a context, which `exit`
 * gets; both may be lambdas that capture. If one of them throws, the observer is removed and the
 * error is reported. */
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
  /* An observer without `exit`. */
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
/* Switches observing on or off for this thread; returns the setting before. */
inline bool enable_record_function(bool on) { return profiler_interface().enable_records(on) != 0; }

/* Switches observing on or off for this thread while it lives. */
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

/* While it lives, debug information has a value under a kind, on this thread and on those that its state is carried
 * to. */
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
  /* Returns the string under a kind on this thread, or an empty one. */
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

/* Adds a function that gets each key of the usage log once a process; the handle removes it. */
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

/* Logs that a feature is used, once at each place of the source. Without a profiler it does nothing. */
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
