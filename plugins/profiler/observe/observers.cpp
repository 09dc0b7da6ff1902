#include "observe/observers.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "observe/calls.h"
#include "observe/record.h"
#include "observe/thread.h"

namespace lamella::profiler {

std::atomic<uint64_t> list_number{1};
std::atomic<int64_t> block_observers{0};
lamella_library* library = nullptr;
uint64_t function_layer = 0, kernel_layer = 0;

namespace {

struct Registered {
  std::mutex mutex;
  std::shared_ptr<const List> list = std::make_shared<const List>();
  std::unordered_map<uint64_t, Held> all;  // thread-local observers included
  uint64_t last_handle = 0;
  std::weak_ptr<Numbers> numbers;
};

Registered& registered() {
  static auto* r = new Registered;
  return *r;
}

std::atomic<void (*)(void*)> reporter{nullptr};

// Replaces the list, under the lock, and returns the old one, which the caller releases without the lock.
std::shared_ptr<const List> replace(Registered& r, List next) {
  std::shared_ptr<const List> list = std::make_shared<const List>(std::move(next));
  list.swap(r.list);
  list_number.fetch_add(1, std::memory_order_release);
  return list;
}

Held find(uint64_t handle) {
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  const auto found = r.all.find(handle);
  return found == r.all.end() ? nullptr : found->second;
}

std::string wrong_in(const lamella_observer& o) {
  if (!(o.probability > 0 && o.probability <= 1))
    return "sampling_prob must be above 0 and at most 1, got " + std::to_string(o.probability);
  if (!o.scopes || o.scopes >> LAMELLA_SCOPES)
    return "scopes must be one or more of the bits 1, 2, 4 and 8, got " + std::to_string(o.scopes);
  if (!o.enter && !o.exit) return "one of 'enter' and 'exit' must be given";
  return {};
}

void withdraw(Observer& o) {
  if (o.layers) api().withdraw(o.layers);
  o.drop_events();
  if (o.observes(LAMELLA_SCOPE_USER_SCOPE)) block_observers.fetch_sub(1, std::memory_order_relaxed);
  o.numbers.reset();
}

// Subscribes without the lock, because the registry may be locked; if two threads subscribe at once, one of them drops
// its subscription.
lamella_status share_numbers(Observer& o) {
  Registered& r = registered();
  auto made = std::make_shared<Numbers>();
  {
    const std::lock_guard lock(r.mutex);
    if ((o.numbers = r.numbers.lock())) return LAMELLA_OK;
  }
  if (lamella_status st = follow_recorded(&made->subscription)) return st;
  const std::lock_guard lock(r.mutex);
  o.numbers = r.numbers.lock();
  if (!o.numbers) r.numbers = o.numbers = made;
  return LAMELLA_OK;
}

lamella_status switch_on(Observer& o, bool everywhere) {
  if (o.observes(LAMELLA_SCOPE_USER_SCOPE)) block_observers.fetch_add(1, std::memory_order_relaxed);
  if (o.given.flags & LAMELLA_OBSERVER_NEEDS_IDS)
    if (lamella_status st = share_numbers(o)) return st;
  if (everywhere && layers_of(o.given.scopes))
    if (lamella_status st = api().process_include(library, layers_of(o.given.scopes), &o.layers)) return st;
  return o.observes(LAMELLA_SCOPE_BACKWARD_FUNCTION) ? follow_nodes(o) : LAMELLA_OK;
}

}  // namespace

Numbers::~Numbers() {
  if (!subscription) return;
  if (api().withdraw(subscription)) api().error_clear();
  forget_calls();
}

std::mutex& observers_mutex() { return registered().mutex; }

std::shared_ptr<const List> global_list(uint64_t* number) {
  Registered& r = registered();
  const std::lock_guard lock(r.mutex);
  *number = list_number.load(std::memory_order_relaxed);
  return r.list;
}

lamella_status add_observer(const lamella_observer* given, int32_t everywhere, uint64_t* handle) {
  auto o = std::make_shared<Observer>();
  std::memcpy(&o->given, given, std::min<size_t>(given->size, sizeof o->given));
  return add_observer(std::move(o), everywhere != 0, handle);
}

lamella_status add_observer(std::shared_ptr<Observer> o, bool everywhere, uint64_t* handle) {
  Registered& r = registered();
  {
    const std::lock_guard lock(r.mutex);
    o->handle = ++r.last_handle;
  }
  const std::string wrong = wrong_in(o->given);
  lamella_status st = wrong.empty() ? switch_on(*o, everywhere) : fail(LAMELLA_VALUE_ERROR, "add_callback: " + wrong);
  if (st) {
    lamella_object* const error = api().error_take();
    if (wrong.empty()) withdraw(*o);
    o->given.destroy = nullptr;  // the caller keeps the context
    return api().error_restore(error);
  }
  std::shared_ptr<const List> old;
  {  // from here on the observer may be called, may fail, and may be removed
    const std::lock_guard lock(r.mutex);
    r.all[o->handle] = o;
    if (everywhere) {
      List next = *r.list;
      next.push_back(o);
      old = replace(r, std::move(next));
    }
  }
  *handle = o->handle;
  if (!everywhere) this_thread().add_local(o);
  return LAMELLA_OK;
}

lamella_status withdraw_observer(uint64_t handle) {
  Registered& r = registered();
  Held o;
  bool
      known;  // an observer has or had the handle: one that failed or removed itself is gone before its owner removes it
  std::shared_ptr<const List> old;
  {
    const std::lock_guard lock(r.mutex);
    known = handle > 0 && handle <= r.last_handle;
    const auto found = r.all.find(handle);
    if (found != r.all.end()) {
      o = std::move(found->second);
      r.all.erase(found);
      o->live.store(false, std::memory_order_relaxed);
      List next;
      for (const Held& other : *r.list)
        if (other != o) next.push_back(other);
      old = replace(r, std::move(next));
    }
  }
  if (!o && known) return LAMELLA_OK;
  if (!o)
    return fail(LAMELLA_VALUE_ERROR, "remove_callback: there is no callback with handle " + std::to_string(handle));
  withdraw(*o);
  old.reset();
  reclaim_lists();
  return LAMELLA_OK;
}

lamella_status remove_observer(uint64_t handle) {
  if (lamella_status st = withdraw_observer(handle)) return st;
  this_thread().refresh();  // in a program of one thread this frees the list at once
  return LAMELLA_OK;
}

lamella_status enable_observer(uint64_t handle, int32_t on) {
  const Held o = find(handle);
  if (!o)
    return fail(LAMELLA_VALUE_ERROR, std::string(on ? "reenable" : "disable") +
                                         "_callback: there is no callback with handle " + std::to_string(handle));
  o->enabled.store(on, std::memory_order_relaxed);
  return LAMELLA_OK;
}

void set_reporter(void (*report)(void*)) { reporter.store(report); }

void drop_failed(Observer& o) {
  void (*report)(void*) = reporter.load();
  if (report) {
    report(o.given.context);
  } else {
    const char* message = api().error_message();
    std::fprintf(stderr, "lamella: an observer failed and was removed: %s\n",
                 message ? message : "it does not say why");
  }
  api().error_clear();
  if (o.live.load(std::memory_order_relaxed) && remove_observer(o.handle)) api().error_clear();
}

}  // namespace lamella::profiler
