// Writes zip files of stored members; the bytes of each begin at a multiple of 64. Equal members give equal files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamella::archive {

class Sink {
 public:
  virtual ~Sink() = default;
  // Appends bytes; raises if that fails.
  virtual void write(const void* data, size_t size) = 0;
  // Returns whether written bytes can be replaced by patch(). If so, Writer computes the CRC of a long member while it
  // writes the member, and replaces the member's header afterwards.
  virtual bool patches() const { return false; }
  virtual void patch(uint64_t, const void*, size_t) {}
};

// Writes to a file from its first byte on; the caller owns the descriptor.
class FileSink : public Sink {
 public:
  static constexpr uint64_t long_file = 16 << 20;
  // `expected` is the approximate number of bytes to be written; 0 means unknown.
  explicit FileSink(int fd, uint64_t expected = 0) : fd_(fd), reserves_(expected >= long_file) {}
  void write(const void* data, size_t size) override;
  bool patches() const override { return true; }
  void patch(uint64_t at, const void* data, size_t size) override;

 private:
  int fd_;
  uint64_t at_ = 0;
  bool reserves_;  // see Note [Blocks before bytes]
};

// One of several runs of bytes that a member is made of.
struct Piece {
  const void* data;
  uint64_t size;
};

class Writer {
 public:
  static constexpr uint64_t alignment = 64;

  explicit Writer(Sink& sink) : sink_(sink) {}
  // Adds a member. Raises std::invalid_argument for a name that readers refuse or of more than 1024
  // bytes.
  void add(const std::string& name, const Piece* pieces, size_t count);
  void add(const std::string& name, const void* data, uint64_t size) {
    const Piece piece = {data, size};
    add(name, &piece, 1);
  }
  // Writes the directory; afterwards no member can be added.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t header, size;
    uint32_t crc;
  };
  static void put_fields(std::string& s, const Entry& e, bool wide);
  std::string header(const Entry& e) const;
  void flush();

  Sink& sink_;
  std::vector<Entry> entries_;
  std::string pending_;  // bytes that have not been written yet
  uint64_t at_ = 0;      // the offset in the file of the next byte that is added
};

}  // namespace lamella::archive
