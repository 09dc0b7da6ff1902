// A zip of stored members, read with suspicion: what it says about itself is compared with what is there, before it is
// used. See docs/checkpoint_format.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/archive/source.h"

namespace lamella::archive {

struct Member {
  std::string name;  // UTF-8, relative, without ".."
  uint64_t header, data, size;
  uint32_t crc;
  uint16_t flags;
};

// Reads of members below `small` bytes share a buffer, so one thread at a time may ask for them.
class Archive {
 public:
  static constexpr uint64_t small = 16 << 10;

  // Reads the directory and every member's header. Raises Fault unless all of it is in order.
  explicit Archive(std::shared_ptr<Source> source);

  const std::vector<Member>& members() const { return members_; }
  const Member* find(const std::string& name) const;
  // A member's bytes, `size` of them. Raises Fault if they are not those that were written.
  void read(const Member& member, void* to, int threads = 1);
  // Raises Fault if a member's bytes are not those that were written.
  void verify(const Member& member);
  // Where the whole lies in memory; null where the source cannot be mapped. A member's bytes are not verified.
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
