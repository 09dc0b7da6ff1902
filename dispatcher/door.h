// Guards around the entries of the C ABI: no exception leaves them, a null pointer is an error unless it is allowed,
// and a struct of an older, smaller header is read as far as it goes.
#pragma once

#include <lamella/c_api.h>
#include <lamella/given.h>

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

// The name of an entry, as an argument of a template.
template <size_t N>
struct Name {
  constexpr Name(const char (&s)[N]) { std::copy(s, s + N, text); }
  char text[N];
};

// The positions of pointer arguments that may be null, as bits.
constexpr uint32_t nullable() { return 0; }
template <class... Positions>
constexpr uint32_t nullable(Positions... at) {
  return ((uint32_t{1} << at) | ...);
}

// The meaning of an int32_t that an entry returns: a status, which is the error's kind, or a count, which is -1 after
// an error.
enum class Answers { Status, Count };

template <auto Function, Name Entry, uint32_t Nullable, Answers Kind>
struct Guard;
template <class R, class... A, R (*Function)(A...), Name Entry, uint32_t Nullable, Answers Kind>
struct Guard<Function, Entry, Nullable, Kind> {
  static R failed([[maybe_unused]] lamella_status st) {
    if constexpr (std::is_same_v<R, int32_t>) return Kind == Answers::Status ? st : -1;
    if constexpr (!std::is_void_v<R>) return R{};
  }
  static int first_null(A... a) {
    int at = 0, found = -1;
    [[maybe_unused]] const auto look = [&](auto v) {
      if constexpr (std::is_pointer_v<decltype(v)>)
        if (!v && found < 0 && !(Nullable >> at & 1)) found = at;
      at++;
    };
    (look(a), ...);
    return found;
  }
  // Finds a closed library among the arguments: nothing is registered through it.
  static const lamella_library* first_closed(A... a) {
    const lamella_library* found = nullptr;
    [[maybe_unused]] const auto look = [&](auto v) {
      if constexpr (std::is_same_v<decltype(v), lamella_library*> && !std::is_void_v<R>)
        if (!v->open) found = v;
    };
    (look(a), ...);
    return found;
  }
  static R call(A... a) {
    lamella_status st;
    try {
      if (const int null = first_null(a...); __builtin_expect(null >= 0, 0))
        st = core::raise(LAMELLA_VALUE_ERROR, core::format("%s: argument %d must not be null", Entry.text, null));
      else if (const lamella_library* closed = first_closed(a...))
        st = core::raise(LAMELLA_VALUE_ERROR, core::format("%s: the library of %s for '%s' was closed", Entry.text,
                                                           closed->owner.c_str(), closed->ns.c_str()));
      else
        return Function(a...);
    } catch (...) {
      st = core::raise_exception();
    }
    return failed(st);
  }
};
template <auto Function, Name Entry, uint32_t Nullable = 0>
inline constexpr auto guard = &Guard<Function, Entry, Nullable, Answers::Status>::call;
template <auto Function, Name Entry, uint32_t Nullable = 0>
inline constexpr auto guard_count = &Guard<Function, Entry, Nullable, Answers::Count>::call;

}  // namespace lamella::dispatcher

template <>
inline constexpr uint32_t lamella::first_size<lamella_operator_def> = 80;  // `module` and `dims` came later
template <>
inline constexpr uint32_t lamella::first_size<lamella_keyword_def> = 40;  // `expand` came later

namespace lamella::dispatcher {

static_assert(first_size<lamella_pointwise> == 328 && first_size<lamella_allocator> == 64 &&
                  first_size<lamella_backend> == 240 && first_size<lamella_layer> == 80 &&
                  first_size<lamella_slot_type> == 64 && first_size<lamella_thread_slot_type> == 40 &&
                  first_size<lamella_kernel_def> == 40 && first_size<lamella_shape_rule_def> == 24 &&
                  first_size<lamella_library_def> == 32 && first_size<lamella_keyword_def> == 40 &&
                  first_size<lamella_operator_def> == 80 && first_size<lamella_dtype_def> == 56 &&
                  first_size<lamella_rule> == 56,
              "these are the sizes of version 1.0, which never change");

// Copies a caller's struct, of whatever size its header gave it, into this library's struct.
template <class T>
lamella_status adopt(const char* entry, const T& from, T* to) {
  const std::string wrong = copy_given(from, to);
  return wrong.empty() ? LAMELLA_OK : core::raise(LAMELLA_VALUE_ERROR, std::string(entry) + ": " + wrong);
}

}  // namespace lamella::dispatcher
