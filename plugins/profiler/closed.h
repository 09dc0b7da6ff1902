// closed<F>: a function for a C table, at which C++ exceptions end as errors.
#pragma once

#include <lamella/error.h>

namespace lamella::profiler {

template <auto Function>
struct Closed;
template <class... A, lamella_status (*Function)(A...)>
struct Closed<Function> {
  static lamella_status call(A... a) {
    return guarded([&] { return Function(a...); });
  }
};
template <auto Function>
inline constexpr auto closed = &Closed<Function>::call;

}  // namespace lamella::profiler
