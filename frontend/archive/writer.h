// Writes a zip of stored members whose bytes begin at multiples of 64. The same members give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamella::archive {

class Sink {
 public:
  virtual ~Sink() = default;
  // Appends; raises where it cannot.
  virtual void write(const void* data, size_t size) = 0;
  // Whether bytes that are written can be replaced; the sum of a long member is then made while it is written.
  virtual bool patches() const { return false; }
  virtual void patch(uint64_t, const void*, size_t) {}
};

// A file of its own from the first byte on; the descriptor is the caller's.
class FileSink : public Sink {
 public:
  static constexpr uint64_t long_file = 16 << 20;
  // `expected` is about how many bytes will be written; 0 says that it is not known.
  explicit FileSink(int fd, uint64_t expected = 0) : fd_(fd), reserves_(expected >= long_file) {}
  void write(const void* data, size_t size) override;
  bool patches() const override { return true; }
  void patch(uint64_t at, const void* data, size_t size) override;

 private:
  int fd_;
  uint64_t at_ = 0;
  bool reserves_;  // see Note [Blocks before bytes]
};

class Writer {
 public:
  static constexpr uint64_t alignment = 64;

  explicit Writer(Sink& sink) : sink_(sink) {}
  // Raises std::invalid_argument for a name that readers refuse.
  void add(const std::string& name, const void* data, uint64_t size);
  // Writes the directory; nothing can be added then.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t header, size;
    uint32_t crc;
  };
  std::string header(const Entry& e) const;
  void flush();

  Sink& sink_;
  std::vector<Entry> entries_;
  std::string pending_;  // bytes that are not written yet
  uint64_t at_ = 0;      // behind them
};

}  // namespace lamella::archive
