// The waits between two looks at what another process does.
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

#include "store/store.h"

namespace lamella::distributed {

// Looks are dense at first, since a message of a few bytes takes microseconds; a sleep lets the computing threads have
// the processor.
class Pace {
 public:
  explicit Pace(std::chrono::nanoseconds dense) : begin_(Clock::now()), dense_(dense) {}
  // Returns true about once a millisecond, for what need not be looked at more often.
  bool pause() {
    if (++looks_ % 64) return ::sched_yield(), false;
    const auto passed = Clock::now() - begin_;
    if (passed > dense_) {
      looks_ = 63;  // each further look sleeps
      std::this_thread::sleep_for(passed < std::chrono::seconds(1) ? std::chrono::microseconds(50)
                                                                   : std::chrono::microseconds(500));
    }
    if (passed - seen_ < std::chrono::milliseconds(1)) return false;
    seen_ = passed;
    return true;
  }

 private:
  Clock::time_point begin_;
  std::chrono::nanoseconds dense_, seen_{0};
  unsigned looks_ = 0;
};

}  // namespace lamella::distributed
