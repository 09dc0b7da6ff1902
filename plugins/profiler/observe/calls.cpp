#include "observe/calls.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "debug_info.h"

namespace lamella::profiler {
namespace {

// The number of forks that led here, from one: a place that another thread had while this process was forked off says
// an older number, and is free.
std::atomic<uint32_t> generation{1};

struct Place {
  std::atomic<uint32_t> busy{0};
  uint64_t sequence = UINT64_MAX;
  Call call;
};

class Guard {  // a short lock of one place
 public:
  explicit Guard(Place& p) : p_(p) {
    const uint32_t now = generation.load(std::memory_order_relaxed);
    while (p_.busy.exchange(now, std::memory_order_acquire) == now) std::this_thread::yield();
  }
  ~Guard() { p_.busy.store(0, std::memory_order_release); }
  Guard(const Guard&) = delete;

 private:
  Place& p_;
};

constexpr uint64_t places = 65536;

std::atomic<bool> kept_any{false};

Place* all_places() {
  static auto* all = new Place[places];
  return all;
}

Place& place(uint64_t sequence) { return all_places()[sequence % places]; }

}  // namespace

void keep_call(uint64_t sequence, const Call& call) {
  if (!kept_any.load(std::memory_order_relaxed)) kept_any.store(true, std::memory_order_relaxed);
  Place& p = place(sequence);
  Call old;
  {
    const Guard guard(p);
    p.sequence = sequence;
    old = std::exchange(p.call, call);
  }
  info_free(old.info);
}

Call find_call(uint64_t sequence) {
  Place& p = place(sequence);
  const Guard guard(p);
  if (p.sequence != sequence) return {};
  retain_info(p.call.info);
  return p.call;
}

void free_calls_in_child() { generation.fetch_add(1); }

void forget_calls() {
  if (!kept_any.exchange(false)) return;
  for (uint64_t i = 0; i < places; i++) {
    Call old;
    Place& p = place(i);
    {
      const Guard guard(p);
      p.sequence = UINT64_MAX;
      old = std::exchange(p.call, {});
    }
    info_free(old.info);
  }
}

}  // namespace lamella::profiler
