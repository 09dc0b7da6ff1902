// Checks the names of an archive's members.
#include "core/archive/names.h"

#include <cstddef>

namespace lamella::archive {
namespace {

// Returns the length of the UTF-8 character at the start of s; 0 if it is not valid.
size_t character(std::string_view s) {
  const auto first = static_cast<unsigned char>(s[0]);
  if (first < 0x80) return 1;
  const size_t n = first >= 0xC2 && first < 0xE0   ? 2
                   : (first & 0xF0) == 0xE0        ? 3
                   : first >= 0xF0 && first < 0xF5 ? 4
                                                   : 0;
  if (n == 0 || n > s.size()) return 0;
  for (size_t i = 1; i < n; i++)
    if ((static_cast<unsigned char>(s[i]) & 0xC0) != 0x80) return 0;
  const auto second = static_cast<unsigned char>(s[1]);
  const bool odd = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return odd ? 0 : n;
}

}  // namespace

const char* unsafe_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name[0] == '/') return "is an absolute path";
  for (std::string_view rest = name; !rest.empty();) {
    const size_t n = character(rest);
    if (n == 0) return "is not UTF-8";
    const char c = rest[0];
    if ((c >= 0 && c < 0x20) || c == 0x7F) return "has a control character";
    if (c == '\\') return "has a backslash";
    rest.remove_prefix(n);
  }
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") return "leads out of the archive";
    if (part.empty() || part == ".") return "has an empty part";
    if (slash == std::string_view::npos) return nullptr;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace lamella::archive
