// The pending error of a thread: kind, message, notes and an opaque payload of the host language.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::core {

struct Error {
  int32_t kind = LAMELLA_OK;
  std::string message, notes;  // notes: lines beside the payload's own message
  void* payload = nullptr;
  void (*release_payload)(void*) = nullptr;

  void clear();
};

// Sets the thread's pending error and returns its kind, so that `return raise(...)` reads well.
lamella_status raise(int32_t kind, std::string message);
lamella_status raise_host(void* payload, void (*release)(void*), std::string message);
void add_note(const char* note);
Error& pending_error();

// take_error() moves the pending error into a counted object, to keep or to carry to another thread; null if there is
// none. restore_error() makes the object's error pending again, releases the object and returns the error's kind; for
// an object of another type it does nothing and returns 0.
lamella_object* take_error();
lamella_status restore_error(lamella_object*);

// Turns the C++ exception of the catch block that calls it into the pending error. The unwinding of pthread_exit() is
// thrown again.
lamella_status raise_exception();
// Calls a function that may throw: a kernel, a shape rule or a handler. Its exception must not cross the frames of its
// callers, which own results or belong to another language. Costs nothing until something is thrown.
template <class F>
inline __attribute__((always_inline)) lamella_status guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    return raise_exception();
  }
}

// printf into a std::string; for messages only.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace lamella::core
