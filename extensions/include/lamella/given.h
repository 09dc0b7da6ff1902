/* Reading structs that callers pass, older or newer than the library that reads them (Note [Growth] of
 * <lamella/types.h>). For plugins that publish an interface with structs of their own.
 *
 *   lamella_hook own;
 *   if (const std::string wrong = lamella::copy_given(*given, &own); !wrong.empty())
 *     return fail(LAMELLA_VALUE_ERROR, wrong);
 */
#ifndef LAMELLA_GIVEN_H
#define LAMELLA_GIVEN_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#pragma GCC visibility push(hidden)

namespace lamella {

/* The size of a struct when it was first published: no header ever declared it smaller. A struct that
 * grows gets a specialization with the size that it had, beside the struct:
 *   template <> inline constexpr uint32_t lamella::first_size<lamella_hook> = 40; */
template <class T>
inline constexpr uint32_t first_size = sizeof(T);

/* Copies a struct into this library's version of it. Fields that the caller's header did not have become zero; bytes
 * that this library has no field for must be zero. Returns why the struct cannot be read, or an empty string. */
template <class T>
std::string copy_given(const T& from, T* to) {
  const uint32_t size = from.size;
  const auto* bytes = reinterpret_cast<const char*>(&from);
  if (size < first_size<T> || size > 1 << 16) /* too large: the caller never set it */
    return "the struct's size is " + std::to_string(size) + "; set it to sizeof";
  for (size_t i = sizeof(T); i < size; i++)
    if (bytes[i])
      return "the struct has " + std::to_string(size) + " bytes and uses some behind the " + std::to_string(sizeof(T)) +
             " that are known here";
  *to = T{};
  std::memcpy(static_cast<void*>(to), bytes, std::min<size_t>(size, sizeof(T)));
  to->size = sizeof(T);
  return {};
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
