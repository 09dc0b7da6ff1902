#include "observe/thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "debug_info.h"
#include "observe/record.h"

namespace lamella::profiler {

__thread Thread* current_thread = nullptr;

namespace {

// Two slots of a thread: its Thread, which is destroyed with it, and its own observers, which are copied with its
// state.
int32_t own_slot = -1, local_slot = -1;

bool is_live(const Held& o) { return o->live.load(std::memory_order_relaxed); }

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

using Carried = std::shared_ptr<const List>;

lamella_status copy_local(void* state, void** out) {
  *out = new (std::nothrow) Carried(*static_cast<Carried*>(state));
  return *out ? LAMELLA_OK : api().raise(LAMELLA_OUT_OF_MEMORY, "profiler: not enough memory");
}
void destroy_local(void* state) { delete static_cast<Carried*>(state); }
void swapped_local(void* state) { this_thread().take_local(state ? *static_cast<Carried*>(state) : nullptr); }

void destroy_own(void* state) {
  if (state == current_thread) current_thread = nullptr;
  delete static_cast<Thread*>(state);
}

}  // namespace

namespace {

std::vector<Thread*>& threads() {  // guarded by the observers' lock
  static auto* all = new std::vector<Thread*>;
  return *all;
}

// Executes a memory barrier on all processors that run threads of this process; returns false if the system cannot.
bool fence_all_threads() {
  constexpr int expedited = 8, register_expedited = 16;  // enum membarrier_cmd
  if (syscall(SYS_membarrier, expedited, 0, 0) == 0) return true;
  return syscall(SYS_membarrier, register_expedited, 0, 0) == 0 && syscall(SYS_membarrier, expedited, 0, 0) == 0;
}

}  // namespace

Thread::Thread() {
  name_anew();
  const std::lock_guard lock(observers_mutex());
  threads().push_back(this);
}

void reclaim_lists() {
  // Read before the barrier: for a later change, another reclaim_lists() runs.
  const uint64_t before = list_number.load(std::memory_order_acquire);
  if (!fence_all_threads()) return;
  std::vector<std::shared_ptr<const List>> old;  // destroyed after the lock is released
  const std::lock_guard lock(observers_mutex());
  for (Thread* t : threads())
    if (t != current_thread) t->give_up_list(before, old);
}

void Thread::give_up_list(uint64_t before, std::vector<std::shared_ptr<const List>>& to) {
  if (global_ && number < before && uses.load(std::memory_order_acquire) == 0) to.push_back(std::move(global_));
}

void forget_other_threads() {
  threads().clear();
  if (current_thread) threads().push_back(current_thread);
}

void Thread::name_anew() {
  id = static_cast<uint64_t>(syscall(SYS_gettid));
  seed_ = mix(seed_ ^ reinterpret_cast<uintptr_t>(this) ^ id << 16 ^ static_cast<uint64_t>(getpid()) << 40);
}

Thread& start_thread() {
  current_thread = new Thread;
  if (api().thread_slot_set(own_slot, current_thread)) api().error_clear();
  return *current_thread;
}

uint64_t Thread::random() { return mix(seed_ += 0x9e3779b97f4a7c15); }

// Returns the distance to the next success in independent trials of probability p: geometric, by inversion.
int64_t Thread::gap(double p) {
  if (p >= 1) return 1;
  const double u = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;  // in (0, 1]
  const double n = std::floor(std::log(u) / std::log1p(-p)) + 1;
  return n < static_cast<double>(Scope::never) ? static_cast<int64_t>(n) : Scope::never;
}

void Thread::drop_ended() {
  ended_seen = ended_elsewhere.load(std::memory_order_relaxed);
  for (Record* r = current; r;) {
    Record* const outer = r->outer;
    if (r->ended()) unlink(*this, *r);
    r = outer;
  }
}

Thread::~Thread() {
  std::shared_ptr<const List> global;
  {
    const std::lock_guard lock(observers_mutex());
    std::erase(threads(), this);
    global.swap(global_);
  }
  for (Record* r = current; r; r = r->outer) r->hold();
  while (current) unlink(*this, *current);  // blocks that have not ended yet
  for (const Node& n : nodes) {
    delete n.record;
    info_free(n.info);
  }
}

// Draws for the new lists before the old ones are released, since their destructors may call operators.
void Thread::use(std::shared_ptr<const List> global, std::shared_ptr<const List> local) {
  const Uses uses(*this);
  for (Record* r = current; r; r = r->outer) r->hold();
  {
    const std::lock_guard lock(observers_mutex());
    global_.swap(global);
  }
  local_.swap(local);
  for (Scope& s : scopes) {
    s.drawn.clear();
    s.armed = s.countdown = Scope::never;
    s.alone = nullptr;
    s.alone_on_thread = nullptr;
  }
  uint32_t heard = 0;
  for (const auto* list : {&global_, &local_}) {
    if (!*list) continue;
    for (const Held& o : **list)
      for (int k = 0; k < LAMELLA_SCOPES; k++)
        if (is_live(o) && o->observes(k)) {
          Scope& s = scopes[static_cast<size_t>(k)];
          const int64_t first = gap(o->given.probability);
          s.drawn.push_back({o.get(), first});
          s.armed = s.countdown = std::min(s.armed, first);
          if (list == &local_) heard |= 1u << k;
        }
  }
  for (Scope& s : scopes)
    if (s.drawn.size() == 1 && s.drawn[0].observer->record_alone) s.alone = s.drawn[0].observer;
  lamella_thread* t = api().thread();
  t->include = (t->include & ~(function_layer | kernel_layer)) | layers_of(heard);
}

void Thread::refresh() {
  std::shared_ptr<const List> local = local_;
  if (local && !std::all_of(local->begin(), local->end(), is_live)) local = keep_local(nullptr);
  std::shared_ptr<const List> global = global_list(&number);
  use(std::move(global), std::move(local));
}

Held Thread::find(uint64_t handle) {
  const Uses uses(*this);
  uint64_t counts;
  const bool has_it = number == list_number.load(std::memory_order_acquire);
  const std::shared_ptr<const List> global = has_it ? global_ : global_list(&counts);
  for (const List* list : {global.get(), local_.get()}) {
    if (!list) continue;
    for (const Held& o : *list)
      if (o->handle == handle && is_live(o)) return o;
  }
  return nullptr;
}

// Stores this thread's live observers, and `more`, as the thread's state; returns them.
std::shared_ptr<const List> Thread::keep_local(Held more) {
  auto next = std::make_shared<List>();
  if (local_) std::copy_if(local_->begin(), local_->end(), std::back_inserter(*next), is_live);
  if (more) next->push_back(std::move(more));
  std::shared_ptr<const List> kept;
  if (!next->empty()) kept = std::move(next);
  if (api().thread_slot_set(local_slot, kept ? new Carried(kept) : nullptr)) api().error_clear();
  return kept;
}

void Thread::add_local(Held o) {
  std::shared_ptr<const List> local = keep_local(std::move(o));
  use(global_list(&number), std::move(local));
}

void Thread::take_local(std::shared_ptr<const List> local) { use(global_list(&number), std::move(local)); }

bool Thread::enable(bool on) {
  const bool was = std::exchange(enabled_, on);
  if (was == on) return was;
  quiet += on ? -1 : 1;
  lamella_thread* t = api().thread();
  const uint64_t both = function_layer | kernel_layer;
  t->exclude = on && !quiet ? t->exclude & ~both : t->exclude | both;
  return was;
}

lamella_status register_thread_slots(lamella_library* lib) {
  static const lamella_thread_slot_type own = {sizeof own, 0, "profiler.thread", nullptr, destroy_own, nullptr};
  static const lamella_thread_slot_type local = {sizeof local, 0, "profiler.observers", copy_local, destroy_local,
                                                 swapped_local};
  if (lamella_status st = api().thread_slot(lib, &own, &own_slot)) return st;
  return api().thread_slot(lib, &local, &local_slot);
}

}  // namespace lamella::profiler
