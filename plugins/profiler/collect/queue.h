// Queue: the fixed-size queue of measured calls, with many writers that take no lock, and one reader at a time.
//
// Each slot has a number, `turn`: it equals the number of the write that may fill the slot, or that plus one once the
// slot is filled. A writer takes the next number by an atomic compare-and-exchange and never waits for a reader; if the
// slot of that number is still occupied, the queue is full.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace lamella::profiler {

struct Sample {
  uint64_t begin = 0, duration = 0;  // nanoseconds of CLOCK_MONOTONIC
  uint64_t id = 0, parent = 0, root = 0, thread = 0;
  uint16_t scope = 0;
  uint16_t key_length = 0;  // length of the part of text that is the key of a series
  uint32_t length = 0;      // of text
  char text[256];           // see Note [Text] in text.h
};

class Queue {
 public:
  // At least two slots: with one, "filled" and "free for the next write" would be the same number.
  explicit Queue(uint32_t capacity)
      : mask_(std::max(std::bit_ceil(uint64_t{capacity}), uint64_t{2}) - 1), slots_(new Slot[mask_ + 1]) {
    for (uint64_t i = 0; i <= mask_; i++) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  // Returns false if the queue is full.
  bool put(const Sample& sample) {
    uint64_t number = next_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& s = slots_[number & mask_];
      const auto ahead = static_cast<int64_t>(s.turn.load(std::memory_order_acquire) - number);
      if (ahead < 0) return false;
      if (ahead > 0) {
        number = next_.load(std::memory_order_relaxed);
      } else if (next_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) {
        std::memcpy(static_cast<void*>(&s.sample), &sample, offsetof(Sample, text) + sample.length);
        s.turn.store(number + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // Calls read(sample) with the oldest sample, and removes it. Returns false if there is none, or it is being written.
  template <class Read>
  bool take(Read read) {
    Slot& s = slots_[taken_ & mask_];
    if (s.turn.load(std::memory_order_acquire) != taken_ + 1) return false;
    read(s.sample);
    s.turn.store(taken_ + mask_ + 1, std::memory_order_release);
    taken_++;
    return true;
  }

  uint64_t capacity() const { return mask_ + 1; }
  uint64_t put_so_far() const { return next_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> turn;
    Sample sample;
  };
  static_assert(sizeof(Slot) == 320);
  const uint64_t mask_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<uint64_t> next_{0};
  alignas(64) uint64_t taken_ = 0;  // the number of samples that were taken; used by the reader alone
};

}  // namespace lamella::profiler
