// The structs of <lattis/autograd.h> that others hand in, older or newer than this plugin: copied as far as their size
// says. What an older one lacks is zero; what a newer one has behind all that this plugin knows must be.
#pragma once

#include <lattis/autograd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace lattis::autograd {

// As version 1.0 has them, for ever: nobody has smaller ones.
template <class T>
inline constexpr uint32_t least_size = 0;
template <>
inline constexpr uint32_t least_size<lattis_derivative> = 40;
template <>
inline constexpr uint32_t least_size<lattis_hook> = 40;
template <>
inline constexpr uint32_t least_size<lattis_node_type> = 48;
template <>
inline constexpr uint32_t least_size<lattis_saved_hooks> = 40;
inline constexpr uint32_t most_size = 1 << 16;  // what is larger was never set

// Why it cannot be read; empty if it was.
template <class T>
std::string take(const T& given, T* own) {
  const uint32_t size = given.size;
  if (size < least_size<T> || size > most_size)
    return "the struct's size is " + std::to_string(size) + "; set it to sizeof";
  const auto* bytes = reinterpret_cast<const char*>(&given);
  for (size_t i = sizeof(T); i < size; i++)
    if (bytes[i])
      return "the struct has " + std::to_string(size) + " bytes and uses some behind the " + std::to_string(sizeof(T)) +
             " that this plugin knows";
  *own = T{};
  std::memcpy(static_cast<void*>(own), bytes, std::min<size_t>(size, sizeof(T)));
  own->size = sizeof(T);
  return {};
}

}  // namespace lattis::autograd
