// The clock of traces: the processor's counter if it runs at a constant rate, since reading it takes a quarter of the
// time of clock_gettime; else nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace lamella::profiler {

inline uint64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

#ifdef __x86_64__
// Whether the processor reports that its counter never stops and never changes its rate.
inline const bool counter_is_steady = [] {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}();
inline uint64_t ticks() { return __builtin_expect(counter_is_steady, 1) ? __rdtsc() : monotonic_ns(); }
#else
inline constexpr bool counter_is_steady = false;
inline uint64_t ticks() { return monotonic_ns(); }
#endif

// Converts ticks to nanoseconds of CLOCK_MONOTONIC, from two moments at which both were read.
class Rate {
 public:
  void begin() {
    first_ = ticks();
    first_ns_ = monotonic_ns();
  }
  // The rate is the more accurate the longer this is after begin(); it waits until a millisecond has passed.
  void end() {
    uint64_t ns;
    while ((ns = monotonic_ns()) - first_ns_ < 1000000) {
    }
    const uint64_t now = ticks();
    per_tick_ = counter_is_steady ? static_cast<double>(ns - first_ns_) / static_cast<double>(now - first_) : 1;
  }
  int64_t ns(uint64_t t) const {  // since `begin`
    return static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(t - first_)) * per_tick_);
  }
  uint64_t began_ns() const { return first_ns_; }

 private:
  uint64_t first_ = 0, first_ns_ = 0;
  double per_tick_ = 1;
};

}  // namespace lamella::profiler
