// Record: what observers see of one call, one step of backward or one named block, from its begin to its end.
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
  Record* outer = nullptr;  // the innermost observed record around this one

  Record() : shared{} {}
  explicit Record(Unset) {}  // the maker sets each field of `shared`, which is faster than clearing it first
  Record(const Record&) = delete;
  virtual ~Record() = default;
  // True for a block that ended on another thread, and is still linked here.
  virtual bool ended() const { return false; }
  virtual void unlinked(Thread&) {}  // called when the thread has unlinked the record
  // Returns a copy of the name that may outlive the record; null if the name lives as long as the process.
  virtual std::shared_ptr<const std::string> kept_name() const { return nullptr; }
  // The block in a host's context that stands for this record, or null.
  virtual ContextBlock* context_block() const { return nullptr; }
  void hold();  // takes references to the observers, whose list is about to be released

  struct Running {
    Observer* observer;
    void* state;
  };
  static constexpr int few = 3;
  int running = 0;
  Running first[few];
  struct Rest {
    std::vector<Running> more;
    std::vector<Held> held;  // set by hold()
  };
  std::unique_ptr<Rest> rest;  // allocated if there are more than `few` observers, or hold() was called
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

extern std::atomic<uint64_t> ended_elsewhere;  // number of blocks that ended on another thread than they began on

// Removes a record from this thread's open ones; the record directly inside it gets a new `outer`.
void unlink(Thread&, Record&);

// Switches observation off while an observer's function runs; the calls of that function are not observed. The caller
// takes a pending error away before.
class Unobserved {
 public:
  explicit Unobserved(Thread& t) : t_(t), shared_(api().thread()), exclude_(shared_->exclude) {
    shared_->exclude |= function_layer | kernel_layer;
    t.quiet++;
  }
  ~Unobserved() {
    t_.quiet--;
    const uint64_t both = function_layer | kernel_layer;
    shared_->exclude = (shared_->exclude & ~both) | (exclude_ & both);
    if (!t_.enabled()) shared_->exclude |= both;  // the function has called enable(false)
  }
  Unobserved(const Unobserved&) = delete;

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

// Links a record on the stack, and unlinks it however its scope is left: a thread that ends while it waits for the
// host's lock is unwound as well.
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

// Returns the backend of the first tensor, or -1.
inline int32_t backend_of(const lamella_value* v, int n) {
  for (int i = 0; i < n; i++) {
    if (v[i].tag == LAMELLA_TENSOR) return v[i].as.tensor->backend;
    for (uint32_t k = 0; v[i].tag == LAMELLA_TENSOR_LIST && k < v[i].length; k++)
      if (v[i].as.tensors[k]) return v[i].as.tensors[k]->backend;
  }
  return -1;
}

// Fills in the fields that a call's record has from its begin, except those that link() sets.
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

// The kernel of the profiler's layer for scope S, for every operator.
template <int S>
lamella_status observe(lamella_frame*, const lamella_value* args, lamella_value* rets);

// Subscribes an observer to steps of backward.
lamella_status follow_nodes(Observer&);
// Subscribes to the calls that autograd records. Autograd numbers them, and the number of a call is put into its Record
// for the observers that need ids. Sets `subscription` to the handle that ends the subscription.
lamella_status follow_recorded(lamella_handle* subscription);

lamella_status scope_begin(const char* name, void** scope);
// As scope_begin(); if `block` is not null and an observer needs the block, sets it to a ContextBlock for a host's
// context.
lamella_status begin_block(const char* name, std::shared_ptr<ContextBlock>* block, void** scope);
void scope_end(void* scope);

}  // namespace lamella::profiler
