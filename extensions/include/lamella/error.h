/* Errors over the C ABI: the table that the loader handed to this library, `lamella::Error`, which carries a kind,
 * LAMELLA_CHECK, and `guarded`, through which no exception leaves a library.
 *
 *   LAMELLA_CHECK(x.dim() == 2, "twice: argument 'x' must be a matrix, got ", x.dim(), " dimensions");
 *   LAMELLA_CHECK_TYPE(x.dtype() == lamella::kFloat, "twice: argument 'x' must be float32, got ", x.dtype());
 *
 * Note [Pending]  An operator that fails sets the thread's pending error. A call from C++ then throws an Error, which
 *   takes that error over. If nothing catches the Error, the pending error reaches the caller of the library unchanged,
 *   also an exception of the host language. */
#ifndef LAMELLA_ERROR_H
#define LAMELLA_ERROR_H

#include <lamella/c_api.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#define LAMELLA_HIDDEN __attribute__((visibility("hidden")))

#pragma GCC visibility push(hidden) /* all of C++ stays within the library that it is compiled into */

namespace lamella {

/* The table that the loader handed to this library. */
struct Api {
  static const lamella_api*& table() {
    static const lamella_api* t = nullptr;
    return t;
  }
};
inline const lamella_api& api() { return *Api::table(); }

inline lamella_status fail(int kind, const std::string& message) { return api().raise(kind, message.c_str()); }

class Error : public std::exception {
 public:
  Error(int kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  /* Takes over the thread's pending error, after a function of the table gave this status. */
  static Error pending(lamella_status status) {
    const char* message = api().error_message();
    Error e(status, message ? message : "an operator failed without a message");
    e.taken_ = api().error_take();
    return e;
  }
  Error(const Error& o) : std::exception(o), kind_(o.kind_), message_(o.message_), taken_(o.taken_) {
    if (taken_) api().retain(taken_);
  }
  Error& operator=(const Error&) = delete;
  ~Error() override {
    if (taken_) api().release(taken_);
  }

  int kind() const { return kind_; } /* enum lamella_error_kind */
  const char* what() const noexcept override { return message_.c_str(); }

  /* Makes this the thread's pending error. The prefix is put before a message that does not begin with it, but not
   * before the message of an error that was taken over by pending(). */
  lamella_status raise(const std::string& prefix = {}) const {
    if (!taken_) return fail(kind_, message_.rfind(prefix, 0) == 0 ? message_ : prefix + message_);
    api().retain(taken_);
    return api().error_restore(taken_);
  }

 private:
  int kind_;
  std::string message_;
  lamella_object* taken_ = nullptr;
};

/* Throws the pending error unless the status is LAMELLA_OK. */
inline void check(lamella_status status) {
  if (__builtin_expect(status != LAMELLA_OK, 0)) throw Error::pending(status);
}

namespace detail {

/* Turns the exception of the catch block that calls it into the pending error. */
inline lamella_status raise_thrown() {
  try {
    throw;
  } catch (const Error& e) {
    return e.raise();
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) { /* unwinding that ends a thread */
    throw;
#endif
  } catch (const std::bad_alloc&) {
    return api().raise(LAMELLA_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return api().raise(LAMELLA_RUNTIME_ERROR, e.what());
  } catch (...) {
    return api().raise(LAMELLA_RUNTIME_ERROR, "unknown exception: its type is not derived from std::exception");
  }
}

}  // namespace detail

/* Calls a function that may throw, inside one that C calls: an exception becomes the pending error. Costs
 * nothing until something is thrown. */
template <class F>
inline lamella_status guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    return detail::raise_thrown();
  }
}

/* ---- messages, put together from parts ---- */

inline void append_part(std::string& to, const std::string& part) { to += part; }
inline void append_part(std::string& to, std::string_view part) { to.append(part.data(), part.size()); }
inline void append_part(std::string& to, const char* part) { to += part ? part : "(null)"; }
template <class T>
std::enable_if_t<std::is_arithmetic<T>::value> append_part(std::string& to, T part) {
  if (std::is_same<T, char>::value) return to.push_back(static_cast<char>(part));
  if (std::is_same<T, bool>::value) return append_part(to, part ? "true" : "false");
  char text[32];
  if (std::is_floating_point<T>::value)
    std::snprintf(text, sizeof text, "%g", static_cast<double>(part));
  else if (std::is_signed<T>::value)
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(part));
  else
    std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(part));
  to += text;
}
template <class T> /* unscoped enumerators */
std::enable_if_t<std::is_enum<T>::value && std::is_convertible<T, long long>::value> append_part(std::string& to,
                                                                                                 T part) {
  append_part(to, static_cast<long long>(part));
}
template <class T> /* an address */
std::enable_if_t<!std::is_same<std::remove_cv_t<T>, char>::value> append_part(std::string& to, T* part) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(part)));
  to += text;
}

namespace detail {

/* Not inlined: each combination of parts has an instance of its own, which the compiler would else copy into the
 * function that may fail. */
template <class... Parts>
__attribute__((cold, noinline)) std::string text(const Parts&... parts) {
  std::string all;
  (append_part(all, parts), ...);
  return all;
}

[[noreturn]] __attribute__((cold, noinline)) inline void check_failed(int kind, const char* condition, const char* file,
                                                                      int line, std::string message) {
  if (message.empty()) message = text("expected ", condition, " (", file, ":", line, ")");
  throw Error(kind, std::move(message));
}

}  // namespace detail
}  // namespace lamella

#pragma GCC visibility pop

/* Throws unless the condition holds; the parts are the message. */
#define LAMELLA_CHECK(...) LAMELLA_CHECK_KIND(LAMELLA_RUNTIME_ERROR, __VA_ARGS__)
#define LAMELLA_CHECK_VALUE(...) LAMELLA_CHECK_KIND(LAMELLA_VALUE_ERROR, __VA_ARGS__)
#define LAMELLA_CHECK_TYPE(...) LAMELLA_CHECK_KIND(LAMELLA_TYPE_ERROR, __VA_ARGS__)
#define LAMELLA_CHECK_INDEX(...) LAMELLA_CHECK_KIND(LAMELLA_INDEX_ERROR, __VA_ARGS__)
#define LAMELLA_CHECK_NOT_IMPLEMENTED(...) LAMELLA_CHECK_KIND(LAMELLA_NOT_IMPLEMENTED, __VA_ARGS__)
#define LAMELLA_CHECK_KIND(kind, ...) LAMELLA_CHECK_(kind, __VA_ARGS__, "")
#define LAMELLA_CHECK_(kind, condition, ...)                                                                       \
  do {                                                                                                             \
    if (__builtin_expect(!(condition), 0))                                                                         \
      ::lamella::detail::check_failed(kind, #condition, __FILE__, __LINE__, ::lamella::detail::text(__VA_ARGS__)); \
  } while (0)

#endif
