// Records: what observers are told of one call, one step of backward or one named block, from its begin to its end.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "observe/context.h"
#include "observe/thread.h"

namespace lamella::profiler {

struct Unset {};

struct Record {
  lamella_record shared;    // what observers see
  Record* outer = nullptr;  // the innermost observed one around it

  Record() : shared{} {}
  explicit Record(Unset) {}  // `shared` is set by the maker, field by field: that is quicker
  Record(const Record&) = delete;
  virtual ~Record() = default;
  virtual bool ended() const { return false; }  // on another thread, and is only linked here still
  virtual void unlinked(Thread&) {}             // its thread does not know it any more
  // The name, to be kept for longer than the record lives; null where it lives as long as the process.
  virtual std::shared_ptr<const std::string> kept_name() const { return nullptr; }
  virtual ContextBlock* context_block() const { return nullptr; }  // as which a host's context holds it
  void hold();                                                     // its observers, whose list goes

  struct Running {
    Observer* observer;
    void* state;
  };
  static constexpr int few = 3;
  int running = 0;
  Running first[few];
  struct Rest {
    std::vector<Running> more;
    std::vector<Held> held;  // by `hold`
  };
  std::unique_ptr<Rest> rest;  // where there are more, or some are held
  template <class Visit>
  void each_running(Visit visit) {
    for (int i = 0; i < std::min(running, few); i++) visit(first[i]);
    if (!rest) return;
    for (Running& x : rest->more) visit(x);
  }
  template <class Visit>
  void each_running(Visit visit) const {
    const_cast<Record*>(this)->each_running([&](const Running& x) { visit(x); });
  }
};

extern std::atomic<uint64_t> ended_elsewhere;  // blocks that ended on another thread than they began on

// Takes a record out of this thread's open ones; what is open within it has another one around it then.
void unlink(Thread&, Record&);

// While an observer's function runs: what that calls is not observed, and an error that is pending is put aside.
class Aside {
 public:
  explicit Aside(Thread& t) : t_(t), shared_(api().thread()), exclude_(shared_->exclude) {
    shared_->exclude |= function_layer | kernel_layer;
    t.quiet++;
  }
  ~Aside() {
    t_.quiet--;
    const uint64_t both = function_layer | kernel_layer;
    shared_->exclude = (shared_->exclude & ~both) | (exclude_ & both);
    if (!t_.enabled()) shared_->exclude |= both;  // switched off by the function
  }
  Aside(const Aside&) = delete;

 private:
  Thread& t_;
  lamella_thread* shared_;
  uint64_t exclude_;
};

// Makes a record the innermost open one of its thread.
inline void link(Thread& t, Record& r) {
  if (__builtin_expect(t.ended_seen != ended_elsewhere.load(std::memory_order_relaxed), 0)) t.drop_ended();
  r.outer = t.current;
  r.shared.thread = t.id;
  r.shared.parent = r.outer ? &r.outer->shared : nullptr;
  t.current = &r;
}

// Takes a record on the stack out of the open ones, whichever way its frame is left: a thread that ends while it waits
// for the host's lock is unwound, too.
class Linked {
 public:
  Linked(Thread& t, Record& r) : t_(t), r_(r) { link(t, r); }
  Linked(const Linked&) = delete;
  ~Linked() {
    if (__builtin_expect(t_.current == &r_, 1))
      t_.current = r_.outer;
    else
      unlink(t_, r_);
  }

 private:
  Thread& t_;
  Record& r_;
};

// The type of device of the first tensor, or -1.
inline int32_t backend_of(const lamella_value* v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i].tag == LAMELLA_TENSOR) return v[i].as.tensor->backend;
    for (uint32_t k = 0; v[i].tag == LAMELLA_TENSOR_LIST && k < v[i].length; k++)
      if (v[i].as.tensors[k]) return v[i].as.tensors[k]->backend;
  }
  return -1;
}

// What a record has of a call from its begin on; all but what `link` sets.
inline void set_call(Record& r, int scope, const lamella_frame* f, const lamella_value* args) {
  r.shared.size = sizeof r.shared;
  r.shared.scope = static_cast<uint32_t>(scope);
  r.shared.name = api().operator_name(f->op);
  r.shared.op = f->op;
  r.shared.frame = f;
  r.shared.inputs = args;
  r.shared.outputs = nullptr;
  r.shared.num_inputs = f->num_args;
  r.shared.num_outputs = f->num_rets;
  r.shared.id = r.shared.sequence = r.shared.forward_thread = 0;
  r.shared.layer = f->layer;
  r.shared.backend = backend_of(args, f->num_args);
}

inline lamella_status pass_on(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api().redispatch(f, args, f->num_args, rets, f->num_rets);
}

// The kernels of the two layers, for every operator.
template <int S>
lamella_status observe(lamella_frame*, const lamella_value* args, lamella_value* rets);

// Has an observer that hears of steps of backward hear of them.
lamella_status follow_nodes(Observer&);
// Has calls that autograd records numbered, for whichever observers need it.
lamella_status follow_recorded(lamella_handle* subscription);

lamella_status scope_begin(const char* name, void** scope);
// The same; with `block`, for one that a host's context holds, which it makes if somebody listens.
lamella_status begin_block(const char* name, std::shared_ptr<ContextBlock>* block, void** scope);
void scope_end(void* scope);

}  // namespace lamella::profiler
