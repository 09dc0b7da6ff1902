#include "observe/record.h"

#include <algorithm>
#include <iterator>

#include "debug_info.h"
#include "observe/calls.h"

namespace lamella::profiler {

std::atomic<uint64_t> ended_elsewhere{0};

namespace {

std::atomic<uint64_t> last_id{0};
Record::Rest& rest_of(Record& r) {
  if (!r.rest) r.rest = std::make_unique<Record::Rest>();
  return *r.rest;
}

// Adds the observers whose draw has come to the record, and draws their next calls.
void draw(Thread& t, Scope& s, Record& r) {
  const int64_t passed = s.armed - s.countdown;
  int64_t next = Scope::never;
  for (Drawn& d : s.drawn) {
    d.remaining -= passed;
    if (d.remaining <= 0) {
      d.remaining = t.gap(d.observer->given.probability);
      if (d.observer->on()) {
        if (r.running < Record::few)
          r.first[r.running] = {d.observer, nullptr};
        else
          rest_of(r).more.push_back({d.observer, nullptr});
        r.running++;
      }
    }
    next = std::min(next, d.remaining);
  }
  s.armed = s.countdown = next;
}

// Calls the observers' `enter` for a record that is linked.
void open(Thread& t, Record& r) {
  bool ids = false;
  r.each_running([&](Record::Running& x) { ids |= (x.observer->given.flags & LAMELLA_OBSERVER_NEEDS_IDS) != 0; });
  if (ids) r.shared.id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  const Unobserved unobserved(t);
  r.each_running([&](Record::Running& x) {
    const lamella_observer& o = x.observer->given;
    if (!o.enter || !o.enter(o.context, &r.shared, &x.state)) return;
    drop_failed(*x.observer);
    x.observer = nullptr;  // without enter there must be no exit
  });
}

void close(Thread& t, Record& r) {
  {
    const Unobserved unobserved(t);
    r.each_running([&](Record::Running& x) {
      if (!x.observer) return;
      const lamella_observer& o = x.observer->given;
      if (o.exit && o.exit(o.context, &r.shared, x.state)) drop_failed(*x.observer);
    });
  }
}

// Runs a call whose countdown has ended, or whose thread has an old list.
__attribute__((noinline)) lamella_status observed(int scope, lamella_frame* f, const lamella_value* args,
                                                  lamella_value* rets) {
  Thread& t = this_thread();
  const Uses uses(t);
  // An observer's function runs, or observation is off, and a thread state was restored in which the layers are on.
  if (t.quiet) return pass_on(f, args, rets);
  Scope& s = t.scopes[static_cast<size_t>(scope)];
  if (t.number != list_number.load(std::memory_order_acquire)) {
    t.refresh();
    if (--s.countdown > 0) return pass_on(f, args, rets);
  }
  Record r{Unset()};
  draw(t, s, r);
  if (!r.running) return pass_on(f, args, rets);
  set_call(r, scope, f, args);
  const Linked linked(t, r);
  open(t, r);
  const lamella_status st = pass_on(f, args, rets);
  if (__builtin_expect(st != LAMELLA_OK, 0)) {
    if (st == LAMELLA_RETRY) {
      close(t, r);
      return st;
    }
    lamella_object* const error = api().error_take();
    close(t, r);
    return error ? api().error_restore(error) : st;
  }
  r.shared.outputs = rets;
  if (r.shared.backend < 0) r.shared.backend = backend_of(rets, f->num_rets);
  close(t, r);
  return st;
}

// ---- steps of backward ---------------------------------------------------------------------------------------------

void end_node(Thread& t, uint64_t observer, uint64_t id) {
  const auto found = std::find_if(t.nodes.rbegin(), t.nodes.rend(),
                                  [&](const Thread::Node& n) { return n.observer == observer && n.id == id; });
  if (found == t.nodes.rend()) return;  // the step began before the observer was added
  const Thread::Node node = std::move(*found);
  t.nodes.erase(std::next(found).base());
  if (!node.record) return;
  close(t, *node.record);
  unlink(t, *node.record);
  delete node.record;
  show_info(node.before);
  info_free(node.info);
  node.held->drop_events();
}

struct Step : Record {
  std::shared_ptr<const std::string> kept_name() const override {
    return std::make_shared<const std::string>(shared.name);
  }
};

Record* drawn_node(Thread& t, Drawn& d, const lamella_event* e) {
  if (t.quiet || --d.remaining > 0) return nullptr;
  d.remaining = t.gap(d.observer->given.probability);
  if (!d.observer->on() || !d.observer->keep_events()) return nullptr;
  auto* r = new Step;
  r->running = 1;
  r->first[0] = {d.observer, nullptr};
  r->shared.size = sizeof r->shared;
  r->shared.scope = LAMELLA_SCOPE_BACKWARD_FUNCTION;
  r->shared.name = e->name;
  r->shared.sequence = e->id;
  r->shared.backend = e->device.backend;
  r->shared.layer = -1;
  return r;
}

// `context` is the observer's handle, since the observer itself may have been destroyed.
void on_node(void* context, const lamella_event* e) {
  Thread& t = this_thread();
  const auto handle = reinterpret_cast<uintptr_t>(context);
  if (e->phase == LAMELLA_EVENT_END) return end_node(t, handle, e->id);
  const Uses uses(t);
  if (t.number != list_number.load(std::memory_order_acquire)) t.refresh();
  for (Drawn& d : t.scopes[LAMELLA_SCOPE_BACKWARD_FUNCTION].drawn) {
    if (d.observer->handle != handle) continue;
    Thread::Node node = {e->id, handle, drawn_node(t, d, e), nullptr, nullptr, nullptr};
    if (Record* const r = node.record) {
      Call call;
      if (d.observer->given.flags & LAMELLA_OBSERVER_NEEDS_IDS) call = find_call(e->id);
      r->shared.op = call.op;
      r->shared.forward_thread = call.thread;
      node.info = call.info;
      node.before = show_info(call.info);
      node.held = d.observer->shared_from_this();
    }
    t.nodes.push_back(node);
    if (!node.record) return;
    link(t, *node.record);
    open(t, *node.record);
    return;
  }
}

// Called when autograd has recorded a call: stores its sequence number in its record, and the call for its backward.
void on_recorded(void*, const lamella_event* e) {
  Thread& t = this_thread();
  if (!t.quiet && t.current && t.current->shared.scope == LAMELLA_SCOPE_FUNCTION && t.current->shared.op == e->op)
    // Op is compared, since the innermost record is that of an outer call if this call was not drawn.
    t.current->shared.sequence = e->id;
  keep_call(e->id, {e->op, t.id, take_info()});
}

}  // namespace

template <int S>
lamella_status observe(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  Thread* const t = current_thread;
  if (__builtin_expect(t && t->number == list_number.load(std::memory_order_acquire), 1)) {
    Scope& s = t->scopes[S];
    // A lone observer observes each call, so its countdown is always over.
    if (--s.countdown > 0) return pass_on(f, args, rets);
    if (s.alone && !t->quiet) {
      const Uses uses(*t);
      if (__builtin_expect(t->number == list_number.load(std::memory_order_acquire), 1))
        return s.alone->record_alone(*t, s, f, args, rets);
    }
  }
  return observed(S, f, args, rets);
}
template lamella_status observe<LAMELLA_SCOPE_FUNCTION>(lamella_frame*, const lamella_value*, lamella_value*);
template lamella_status observe<LAMELLA_SCOPE_KERNEL>(lamella_frame*, const lamella_value*, lamella_value*);

lamella_status follow_nodes(Observer& o) {
  void* const context = reinterpret_cast<void*>(static_cast<uintptr_t>(o.handle));
  return api().subscribe(library, uint64_t{1} << LAMELLA_EVENT_NODE, on_node, context, &o.events);
}

lamella_status follow_recorded(lamella_handle* subscription) {
  return api().subscribe(library, uint64_t{1} << LAMELLA_EVENT_RECORDED, on_recorded, nullptr, subscription);
}

// ---- named blocks --------------------------------------------------------------------------------------------------

namespace {

// A block may end on another thread than it began on, or outlive that thread. So both the opener and the thread's list
// of open records have a reference to it.
struct Block : Record {
  const std::shared_ptr<const std::string> name;
  Thread* const thread;                   // compared only, never dereferenced
  std::shared_ptr<ContextBlock> context;  // null unless a host's context holds the block
  std::atomic<bool> ended_{false};
  std::atomic<int> references{2};
  Block(const char* n, Thread* t) : name(std::make_shared<const std::string>(n)), thread(t) {}
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  bool ended() const override { return ended_.load(std::memory_order_acquire); }
  void unlinked(Thread& t) override {
    Uses::add(t, -1);
    release();
  }
  ContextBlock* context_block() const override { return context.get(); }
  std::shared_ptr<const std::string> kept_name() const override { return name; }
};

}  // namespace

lamella_status scope_begin(const char* name, void** scope) { return begin_block(name, nullptr, scope); }

lamella_status begin_block(const char* name, std::shared_ptr<ContextBlock>* block, void** scope) {
  *scope = nullptr;
  if (!block_observers.load(std::memory_order_relaxed)) return LAMELLA_OK;
  Thread& t = this_thread();
  if (t.quiet) return LAMELLA_OK;
  const Uses uses(t);
  if (t.number != list_number.load(std::memory_order_acquire)) t.refresh();
  Scope& s = t.scopes[LAMELLA_SCOPE_USER_SCOPE];
  if (--s.countdown > 0) return LAMELLA_OK;
  auto made = std::make_unique<Block>(name, &t);
  draw(t, s, *made);
  if (!made->running) return LAMELLA_OK;
  Block* const r = made.release();
  r->shared.size = sizeof r->shared;
  r->shared.scope = LAMELLA_SCOPE_USER_SCOPE;
  r->shared.name = r->name->c_str();
  r->shared.backend = r->shared.layer = -1;
  if (block) *block = r->context = std::make_shared<ContextBlock>(r->name);
  *scope = r;
  Uses::add(t, 1);  // counts as a use until it is unlinked
  link(t, *r);
  open(t, *r);
  return LAMELLA_OK;
}

void scope_end(void* scope) {
  auto* r = static_cast<Block*>(scope);
  if (!r) return;
  lamella_object* const error = api().error_take();
  Thread& t = this_thread();
  close(t, *r);
  r->ended_.store(true, std::memory_order_release);
  if (r->context) r->context->end();
  if (r->thread == &t)
    unlink(t, *r);
  else
    ended_elsewhere.fetch_add(1, std::memory_order_relaxed);
  r->release();
  if (error) api().error_restore(error);
}

void Record::hold() {
  if (rest && !rest->held.empty()) return;
  each_running([this](Running& x) {
    if (x.observer) rest_of(*this).held.push_back(x.observer->shared_from_this());
  });
}

void unlink(Thread& t, Record& r) {
  Record* inner = nullptr;
  for (Record* at = t.current; at && at != &r; at = at->outer) inner = at;
  if (!inner) {
    if (t.current != &r) return;
    t.current = r.outer;
  } else {
    if (inner->outer != &r) return;
    inner->outer = r.outer;
    inner->shared.parent = r.shared.parent;
  }
  r.unlinked(t);
}

}  // namespace lamella::profiler
