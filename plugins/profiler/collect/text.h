// The texts of a sample (name, backend, dtype, values of debug information) as one piece of bytes of fixed size.
//
// Note [Text]  Each text ends with a zero byte. A value of debug information has a byte 1 before it; a missing value is
//   the single byte 0. Equal samples thus have equal bytes, which are the key of the histogram. Each text has a fixed
//   share of the room, so that a value is cut at the same place whatever the other texts are. A text that is too long
//   is cut between two characters of UTF-8.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "collect/queue.h"

namespace lamella::profiler {

constexpr uint32_t name_room = 96, short_room = 16;
constexpr uint32_t values_room = sizeof(Sample::text) - name_room - 2 * short_room;  // divided evenly among the kinds
constexpr uint32_t max_kinds = 8;

class TextWriter {
 public:
  explicit TextWriter(Sample& s) : s_(s) { s.length = 0; }

  void add(std::string_view text, uint32_t room) {
    text = text.substr(0, strnlen(text.data(), text.size()));
    size_t n = std::min(text.size(), size_t{room} - 1);
    for (int back = 0; back < 3 && n && n < text.size() && (text[n] & 0xC0) == 0x80; back++) n--;
    std::memcpy(s_.text + s_.length, text.data(), n);
    s_.length += static_cast<uint32_t>(n);
    s_.text[s_.length++] = 0;
  }
  void add_value(std::string_view text, uint32_t room) {
    s_.text[s_.length++] = 1;
    add(text, room - 1);
  }
  void add_absent() { s_.text[s_.length++] = 0; }

 private:
  Sample& s_;
};

// Pointers to the texts of a sample; the sample's bytes must outlive them.
struct Texts {
  const char *name, *backend, *dtype;
  std::vector<const char*> values;

  Texts(const char* text, size_t kinds) {
    name = text;
    backend = name + std::strlen(name) + 1;
    dtype = backend + std::strlen(backend) + 1;
    const char* at = dtype + std::strlen(dtype) + 1;
    for (size_t i = 0; i < kinds; i++) {
      values.push_back(*at ? at + 1 : nullptr);
      at += *at ? std::strlen(at) + 1 : 1;
    }
  }
};

}  // namespace lamella::profiler
