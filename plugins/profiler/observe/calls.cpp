#include "observe/calls.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "debug_info.h"

namespace lamella::profiler {
namespace {

// The number of forks that led to this process, plus one. A lock holds the generation of its owner; a lock with an
// older generation belongs to a thread of the parent, and counts as free.
std::atomic<uint32_t> generation{1};

struct KeptCall {
  std::atomic<uint32_t> busy{0};
  uint64_t sequence = UINT64_MAX;
  Call call;
};

class Guard {  // holds the lock of one entry, for a few instructions
 public:
  explicit Guard(KeptCall& k) : k_(k) {
    const uint32_t now = generation.load(std::memory_order_relaxed);
    while (k_.busy.exchange(now, std::memory_order_acquire) == now) std::this_thread::yield();
  }
  ~Guard() { k_.busy.store(0, std::memory_order_release); }
  Guard(const Guard&) = delete;

 private:
  KeptCall& k_;
};

constexpr uint64_t most = 65536;

std::atomic<bool> kept_any{false};

KeptCall* all_kept() {
  static auto* all = new KeptCall[most];
  return all;
}

KeptCall& kept(uint64_t sequence) { return all_kept()[sequence % most]; }

}  // namespace

void keep_call(uint64_t sequence, const Call& call) {
  if (!kept_any.load(std::memory_order_relaxed)) kept_any.store(true, std::memory_order_relaxed);
  KeptCall& k = kept(sequence);
  Call old;
  {
    const Guard guard(k);
    k.sequence = sequence;
    old = std::exchange(k.call, call);
  }
  info_free(old.info);
}

Call find_call(uint64_t sequence) {
  KeptCall& k = kept(sequence);
  const Guard guard(k);
  if (k.sequence != sequence) return {};
  retain_info(k.call.info);
  return k.call;
}

void free_calls_in_child() { generation.fetch_add(1); }

void forget_calls() {
  if (!kept_any.exchange(false)) return;
  for (uint64_t i = 0; i < most; i++) {
    Call old;
    KeptCall& k = kept(i);
    {
      const Guard guard(k);
      k.sequence = UINT64_MAX;
      old = std::exchange(k.call, {});
    }
    info_free(old.info);
  }
}

}  // namespace lamella::profiler
