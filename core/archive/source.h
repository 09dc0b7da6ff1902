// Source: the bytes of an archive, from an open file or from memory; and Fault, the error of reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace lamella::archive {

// The error that the bytes are not an archive of Lamella, or are damaged. The text says which part is wrong, without
// the file's name.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A private mapping of a file: writes do not reach the file.
class Mapping {
 public:
  Mapping(int fd, uint64_t at, uint64_t size);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  char* data() const { return data_; }

 private:
  void* start_;
  size_t length_;
  char* data_;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual uint64_t size() const = 0;
  // Reads exactly `count` bytes from `at` on. The caller ensures that they are within size(). Raises Fault if the
  // source has become shorter.
  virtual void read(uint64_t at, void* to, size_t count) = 0;
  virtual bool parallel() const { return false; }  // whether several threads may read at once
  virtual std::shared_ptr<Mapping> map() { return nullptr; }
};

class MemorySource : public Source {
 public:
  MemorySource(const void* data, size_t size) : data_(static_cast<const char*>(data)), size_(size) {}
  uint64_t size() const override { return size_; }
  void read(uint64_t at, void* to, size_t count) override;
  bool parallel() const override { return true; }

 private:
  const char* data_;  // borrowed
  size_t size_;
};

// The bytes of a file from `base` to its end. FileSource duplicates the descriptor, so the caller may close its own.
class FileSource : public Source {
 public:
  FileSource(int fd, uint64_t base);
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override;
  uint64_t size() const override { return size_; }
  void read(uint64_t at, void* to, size_t count) override;
  bool parallel() const override { return true; }
  std::shared_ptr<Mapping> map() override;

 private:
  int fd_;
  uint64_t base_, size_;
};

}  // namespace lamella::archive
