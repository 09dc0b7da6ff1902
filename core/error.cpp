#include "core/error.h"

#include <cxxabi.h>

#include <cstdarg>
#include <cstdio>
#include <new>
#include <utility>

#include "core/object.h"
#include "core/thread.h"

namespace lamella::core {

void Error::clear() {
  if (payload && release_payload) release_payload(payload);
  payload = nullptr;
  release_payload = nullptr;
  kind = LAMELLA_OK;
  message.clear();
  notes.clear();
}

Error& pending_error() { return this_thread().error; }

lamella_status raise(int32_t kind, std::string message) {
  Error& e = pending_error();
  e.clear();
  e.kind = kind;
  e.message = std::move(message);
  return kind;
}

lamella_status raise_host(void* payload, void (*release)(void*), std::string message) {
  raise(LAMELLA_HOST_ERROR, std::move(message));
  pending_error().payload = payload;
  pending_error().release_payload = release;
  return LAMELLA_HOST_ERROR;
}

lamella_status raise_exception() {
  try {
    throw;
  } catch (const abi::__forced_unwind&) {  // thrown by pthread_exit(), which must go on
    throw;
  } catch (const std::bad_alloc&) {
    return raise(LAMELLA_OUT_OF_MEMORY, "out of memory");  // the message is short enough to need no memory
  } catch (const std::exception& e) {
    return raise(LAMELLA_RUNTIME_ERROR, std::string("an unhandled C++ exception: ") + e.what());
  } catch (...) {
    return raise(LAMELLA_RUNTIME_ERROR, "an unhandled C++ exception of a type not derived from std::exception");
  }
}

namespace {

struct ErrorObject {
  lamella_object object;
  Error error;
};
const lamella_object_type error_type = {sizeof(lamella_object_type), 0, "Error", [](lamella_object* o) {
                                          auto* e = reinterpret_cast<ErrorObject*>(o);
                                          e->error.clear();
                                          delete e;
                                        }};

}  // namespace

lamella_object* take_error() {
  Error& e = pending_error();
  if (!e.kind) return nullptr;
  auto* taken = new ErrorObject{{1, &error_type}, {}};
  taken->error = std::exchange(e, {});
  return &taken->object;
}

lamella_status restore_error(lamella_object* o) {
  if (o->type != &error_type) return LAMELLA_OK;
  auto* from = reinterpret_cast<ErrorObject*>(o);
  Error& e = pending_error();
  e.clear();
  e = std::exchange(from->error, {});
  release(o);
  return e.kind;
}

void add_note(const char* note) {
  Error& e = pending_error();
  if (e.payload)
    e.notes += (e.notes.empty() ? "" : "\n") + std::string(note);
  else if (e.kind != LAMELLA_OK)
    e.message += std::string("\n  ") + note;
}

std::string format(const char* pattern, ...) {
  va_list ap, again;
  va_start(ap, pattern);
  va_copy(again, ap);
  int n = std::vsnprintf(nullptr, 0, pattern, ap);
  va_end(ap);
  std::string s(n > 0 ? n : 0, '\0');
  std::vsnprintf(s.data(), s.size() + 1, pattern, again);
  va_end(again);
  return s;
}

}  // namespace lamella::core
