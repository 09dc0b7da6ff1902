#include "usage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace lamella::profiler {
namespace {

struct Handler {
  lamella_usage_handler tell;
  void* context;
  void (*destroy)(void*);
  uint64_t handle;
  Handler(lamella_usage_handler t, void* c, void (*d)(void*), uint64_t h)
      : tell(t), context(c), destroy(d), handle(h) {}
  Handler(const Handler&) = delete;
  ~Handler() {
    if (destroy) destroy(context);
  }
};

constexpr size_t most_kept = 1024;  // the most keys that wait while there is no handler

// The log. Its lock is held for a few instructions, never while a handler runs or is destroyed.
struct Log {
  std::mutex mutex;
  std::unordered_set<std::string> seen;
  std::deque<std::string> waiting;  // keys that were logged and not yet reported
  std::vector<std::shared_ptr<Handler>> handlers;
  uint64_t last_handle = 0;
  bool reporting = false;
};

Log& log() {
  static auto* l = new Log;
  return *l;
}

// Returns whether keys are also printed: LAMELLA_LOG_API_USAGE_ONCE is set, and neither empty nor "0".
bool printing() {
  static const bool on = [] {
    const char* wanted = std::getenv("LAMELLA_LOG_API_USAGE_ONCE");
    return wanted && *wanted && std::strcmp(wanted, "0") != 0;
  }();
  return on;
}

// Reports the waiting keys to the handlers. Only one thread does so at a time; other threads, and handlers that log a
// key themselves, leave their keys to it.
void report_waiting() {
  Log& l = log();
  std::unique_lock lock(l.mutex);
  if (l.reporting || l.handlers.empty()) return;
  struct Reporting {  // reset under the lock, also if an allocation fails
    bool& on;
    explicit Reporting(bool& flag) : on(flag) { on = true; }
    Reporting(const Reporting&) = delete;
    ~Reporting() { on = false; }
  } const reporting(l.reporting);
  while (!l.waiting.empty() && !l.handlers.empty()) {
    auto handlers = l.handlers;
    const std::string key = std::move(l.waiting.front());
    l.waiting.pop_front();
    lock.unlock();
    for (const auto& h : handlers) h->tell(h->context, key.c_str());
    handlers.clear();  // drops what may be the last references while the lock is not held
    lock.lock();
  }
}

void on_usage(void*, const lamella_event* e) {
  if (e->name) log_usage_once(e->name);
}

}  // namespace

std::mutex& usage_mutex() { return log().mutex; }

void reset_usage_in_child() { log().reporting = false; }

lamella_status log_usage_once(const char* key) {
  Log& l = log();
  {
    const std::lock_guard lock(l.mutex);
    if (!l.seen.emplace(key).second) return LAMELLA_OK;
  }
  if (printing()) std::fprintf(stderr, "lamella usage: %s\n", key);
  {
    const std::lock_guard lock(l.mutex);
    if (l.handlers.empty() && l.waiting.size() >= most_kept) return LAMELLA_OK;
    l.waiting.emplace_back(key);
  }
  report_waiting();
  return LAMELLA_OK;
}

lamella_status add_usage_handler(lamella_usage_handler tell, void* context, void (*destroy)(void*), uint64_t* handle) {
  Log& l = log();
  {
    const std::lock_guard lock(l.mutex);
    l.handlers.push_back(std::make_shared<Handler>(tell, context, destroy, ++l.last_handle));
    *handle = l.last_handle;
  }
  report_waiting();
  return LAMELLA_OK;
}

lamella_status remove_usage_handler(uint64_t handle) {
  Log& l = log();
  std::shared_ptr<Handler> gone;
  {
    const std::lock_guard lock(l.mutex);
    const auto at =
        std::find_if(l.handlers.begin(), l.handlers.end(), [&](const auto& h) { return h->handle == handle; });
    if (at != l.handlers.end()) {
      gone = *at;
      l.handlers.erase(at);
    }
  }
  if (gone) return LAMELLA_OK;
  return fail(LAMELLA_VALUE_ERROR, "remove_api_usage_handler: there is no handler " + std::to_string(handle));
}

lamella_status follow_usage(lamella_library* lib) {
  return api().subscribe(lib, uint64_t{1} << LAMELLA_EVENT_USAGE, on_usage, nullptr, nullptr);
}

}  // namespace lamella::profiler
