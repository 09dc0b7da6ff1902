/* lamella::closed<F>: a function for the C table of an interface; it calls F and turns C++ exceptions into errors. */
#ifndef LAMELLA_CLOSED_H
#define LAMELLA_CLOSED_H

#include <lamella/error.h>

#pragma GCC visibility push(hidden) /* all of C++ stays within the library that it is compiled into */

namespace lamella {

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

}  // namespace lamella

#pragma GCC visibility pop
#endif
