// Sources of archives: files and memory.
#include "core/archive/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace lamella::archive {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

Mapping::Mapping(int fd, uint64_t at, uint64_t size) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), before = at % page;
  length_ = size + before;
  // A page is copied when the process first writes to it; no memory is reserved for that.
  start_ =
      mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, static_cast<off_t>(at - before));
  if (start_ == MAP_FAILED) fail("mmap");
  data_ = static_cast<char*>(start_) + before;
}

Mapping::~Mapping() { munmap(start_, length_); }

void MemorySource::read(uint64_t at, void* to, size_t count) {
  if (at > size_ || count > size_ - at) throw Fault("it ends early");
  if (count) std::memcpy(to, data_ + at, count);
}

FileSource::FileSource(int fd, uint64_t base) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 0)), base_(base) {
  if (fd_ < 0) fail("dup");
  struct stat s;
  if (fstat(fd_, &s)) {
    const int error = errno;
    close(fd_);
    errno = error;
    fail("fstat");
  }
  const auto whole = static_cast<uint64_t>(s.st_size < 0 ? 0 : s.st_size);
  size_ = whole > base ? whole - base : 0;
}

FileSource::~FileSource() { close(fd_); }

void FileSource::read(uint64_t at, void* to, size_t count) {
  auto* p = static_cast<char*>(to);
  for (uint64_t from = base_ + at; count;) {
    const ssize_t n = pread(fd_, p, count, static_cast<off_t>(from));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read");
    if (n == 0) throw Fault("it ends early: it became shorter while it was read");
    p += n, from += static_cast<uint64_t>(n), count -= static_cast<size_t>(n);
  }
}

std::shared_ptr<Mapping> FileSource::map() { return size_ ? std::make_shared<Mapping>(fd_, base_, size_) : nullptr; }

}  // namespace lamella::archive
