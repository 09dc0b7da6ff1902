// Reads zip files of stored members from untrusted sources: all that a file says about itself is checked before it is
// used. See docs/checkpoint_format.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/archive/source.h"

namespace lamella::archive {

struct Member {
  std::string name;  // UTF-8, relative, without ".."
  uint64_t header, data, size;
  uint32_t crc;
  uint16_t flags;
};

// Members below `small` bytes are read through a shared buffer, so only one thread at a time may read them.
class Archive {
 public:
  static constexpr uint64_t small = 16 << 10;

  // Reads the directory and every member's header. Raises Fault if any of it is wrong.
  explicit Archive(std::shared_ptr<Source> source);

  const std::vector<Member>& members() const { return members_; }
  const Member* find(const std::string& name) const;
  // Reads a member's bytes, `member.size` of them. Raises Fault if their checksum does not match.
  void read(const Member& member, void* to, int threads = 1);
  // Raises Fault if the checksum of a member's bytes does not match.
  void verify(const Member& member);
  // Returns a mapping of all bytes of the source, made at the first call; null if the source is no file or is empty.
  // Raises std::system_error if mmap fails. Checksums are not verified.
  std::shared_ptr<Mapping> map();

 private:
  void read_directory();
  void read_entry(std::string_view directory, size_t* at);
  void read_header(Member& member);
  void check_order();
  void read_near(uint64_t at, void* to, size_t count);

  std::shared_ptr<Source> source_;
  std::shared_ptr<Mapping> mapping_;
  uint64_t directory_ = 0, directory_size_ = 0, entries_ = 0;
  std::vector<Member> members_;
  std::unordered_map<std::string_view, size_t> places_;
  std::vector<char> near_;
  uint64_t near_at_ = 0;
};

}  // namespace lamella::archive
