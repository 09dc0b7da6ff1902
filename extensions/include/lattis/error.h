/* Errors over the C ABI: the table that the loader handed to this library, `lattis::Error`, which carries a kind,
 * LATTIS_CHECK, and `guarded`, through which no exception leaves a library.
 *
 *   LATTIS_CHECK(x.dim() == 2, "twice: argument 'x' must be a matrix, got ", x.dim(), " dimensions");
 *   LATTIS_CHECK_TYPE(x.dtype() == lattis::kFloat, "twice: argument 'x' must be float32, got ", x.dtype());
 *
 * Note [Pending]  An operator that fails sets the thread's pending error; called from C++ it throws an Error that
 * stands for it. Left alone, that passes the boundary as it was, the host's own exception included. */
#ifndef LATTIS_ERROR_H
#define LATTIS_ERROR_H

#include <lattis/c_api.h>

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

#define LATTIS_HIDDEN __attribute__((visibility("hidden")))

#pragma GCC visibility push(hidden) /* all of C++ stays within the library that it is compiled into */

namespace lattis {

/* The table that the loader handed to this library. */
struct Api {
  static const lattis_api*& table() {
    static const lattis_api* t = nullptr;
    return t;
  }
};
inline const lattis_api& api() { return *Api::table(); }

inline lattis_status fail(int kind, const std::string& message) { return api().raise(kind, message.c_str()); }

class Error : public std::exception {
 public:
  Error(int kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  /* Takes over the thread's pending error, after a function of the table gave this status. */
  static Error pending(lattis_status status) {
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

  int kind() const { return kind_; } /* enum lattis_error_kind */
  const char* what() const noexcept override { return message_.c_str(); }

  /* Makes it the thread's pending error. */
  lattis_status raise() const {
    if (!taken_) return fail(kind_, message_);
    api().retain(taken_);
    return api().error_restore(taken_);
  }

 private:
  int kind_;
  std::string message_;
  lattis_object* taken_ = nullptr;
};

/* Throws the pending error unless all went well. */
inline void check(lattis_status status) {
  if (__builtin_expect(status != LATTIS_OK, 0)) throw Error::pending(status);
}

namespace detail {

/* Inside a catch block: what was thrown becomes the pending error. */
inline lattis_status raise_thrown() {
  try {
    throw;
  } catch (const Error& e) {
    return e.raise();
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) { /* a thread that ends */
    throw;
#endif
  } catch (const std::bad_alloc&) {
    return api().raise(LATTIS_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return api().raise(LATTIS_RUNTIME_ERROR, e.what());
  } catch (...) {
    return api().raise(LATTIS_RUNTIME_ERROR, "unknown exception: what was thrown is no std::exception");
  }
}

}  // namespace detail

/* Calls what may throw, where C calls. Costs nothing until something is thrown. */
template <class F>
inline lattis_status guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    return detail::raise_thrown();
  }
}

/* ---- messages, put together from parts ------------------------------------------------------------------------------
 */

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
template <class T> /* an enumerator that is an integer, too */
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

template <class... Parts>
std::string text(const Parts&... parts) {
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
}  // namespace lattis

#pragma GCC visibility pop

/* Throws unless the condition holds; the parts are the message. */
#define LATTIS_CHECK(...) LATTIS_CHECK_KIND(LATTIS_RUNTIME_ERROR, __VA_ARGS__)
#define LATTIS_CHECK_VALUE(...) LATTIS_CHECK_KIND(LATTIS_VALUE_ERROR, __VA_ARGS__)
#define LATTIS_CHECK_TYPE(...) LATTIS_CHECK_KIND(LATTIS_TYPE_ERROR, __VA_ARGS__)
#define LATTIS_CHECK_INDEX(...) LATTIS_CHECK_KIND(LATTIS_INDEX_ERROR, __VA_ARGS__)
#define LATTIS_CHECK_NOT_IMPLEMENTED(...) LATTIS_CHECK_KIND(LATTIS_NOT_IMPLEMENTED, __VA_ARGS__)
#define LATTIS_CHECK_KIND(kind, ...) LATTIS_CHECK_(kind, __VA_ARGS__, "")
#define LATTIS_CHECK_(kind, condition, ...)                                                                      \
  do {                                                                                                           \
    if (__builtin_expect(!(condition), 0))                                                                       \
      ::lattis::detail::check_failed(kind, #condition, __FILE__, __LINE__, ::lattis::detail::text(__VA_ARGS__)); \
  } while (0)

#endif
