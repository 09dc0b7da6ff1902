// Messages between a TCP store and its clients.
//
// Note [Messages]  A client first sends eight bytes that say the protocol. A message is its length, as four bytes, and
//   then a byte, which is a command or an answer's status, and fields, each with its length before it. All numbers are
//   little-endian. A server closes a connection that sends anything else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lamella::distributed {

inline constexpr std::string_view protocol = "LMTCPST1";
inline constexpr uint32_t longest_message = 256u << 20;

enum class Command : uint8_t { set = 1, get, add, check, wait, compare_set, delete_key, num_keys, append };
enum class Answer : uint8_t { done = 0, failed = 1 };  // failed: the fields are the kind of the error, and its text

struct Message {
  uint8_t head = 0;
  std::vector<std::string> fields;
};

inline void append_number(std::string& to, uint32_t n) {
  for (int i = 0; i < 4; i++) to += static_cast<char>(n >> (8 * i));
}
inline uint32_t number_at(std::string_view bytes) {
  uint32_t n = 0;
  for (size_t i = 0; i < 4; i++) n |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return n;
}

inline std::string encode(uint8_t head, const std::vector<std::string_view>& fields) {
  size_t bytes = 1;
  for (const std::string_view f : fields) bytes += 4 + f.size();
  std::string all;
  all.reserve(4 + bytes);
  append_number(all, static_cast<uint32_t>(bytes));
  all += static_cast<char>(head);
  for (const std::string_view f : fields) {
    append_number(all, static_cast<uint32_t>(f.size()));
    all += f;
  }
  return all;
}

enum class Decoded { message, incomplete, malformed };

// Takes the first message off the bytes.
inline Decoded decode(std::string_view& bytes, Message& out) {
  if (bytes.size() < 4) return Decoded::incomplete;
  const uint32_t length = number_at(bytes);
  if (length < 1 || length > longest_message) return Decoded::malformed;
  if (bytes.size() - 4 < length) return Decoded::incomplete;
  std::string_view rest = bytes.substr(5, length - 1);
  out = {static_cast<uint8_t>(bytes[4]), {}};
  while (!rest.empty()) {
    if (rest.size() < 4 || rest.size() - 4 < number_at(rest)) return Decoded::malformed;
    out.fields.emplace_back(rest.substr(4, number_at(rest)));
    rest.remove_prefix(4 + out.fields.back().size());
  }
  bytes.remove_prefix(4 + length);
  return Decoded::message;
}

}  // namespace lamella::distributed
