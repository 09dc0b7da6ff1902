// Writes archives: headers, members, the directory. 64-bit numbers (zip64) are used only if needed.
#include "core/archive/writer.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <stdexcept>
#include <system_error>

#include "core/archive/crc32.h"
#include "core/archive/names.h"

namespace lamella::archive {
namespace {

constexpr uint64_t full32 = 0xFFFFFFFF, full16 = 0xFFFF;
constexpr uint64_t long_member = 256 << 10, most_pending = 1 << 20;
// padding_field, "ML" in a file, is Lamella's own extra field, which contains zeros only.
constexpr uint16_t version = 45, utf8 = 1 << 11, wide_field = 1, padding_field = 0x4C4D;
// The date of every member, so that equal contents give equal bytes: 1 January 1980, the earliest of zip files.
constexpr uint32_t first_day = 0x00210000;

template <class T>
void put(std::string& s, T v) {
  for (size_t i = 0; i < sizeof(T); i++) s += static_cast<char>(static_cast<uint64_t>(v) >> 8 * i & 255);
}
uint32_t narrow(uint64_t v) { return static_cast<uint32_t>(std::min(v, full32)); }

}  // namespace

void FileSink::patch(uint64_t at, const void* data, size_t size) {
  for (const auto* p = static_cast<const char*>(data); size;) {
    const ssize_t n = pwrite(fd_, p, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "write");
    p += n, at += static_cast<uint64_t>(n), size -= static_cast<size_t>(n);
  }
}

// Note [Blocks before bytes]  Some file systems (ext4) allocate blocks only when they write to the disk. They do so for
//   the whole file when it is renamed over another, and rename waits for that: 45 ms for 100 MB. With blocks allocated
//   in advance, the bytes are written later, or by fsync; and a full disk is found before the bytes are written. For a
//   short file nothing is allocated in advance, since some disks take longer (4 ms) to free the surplus than to write
//   the file.
void FileSink::write(const void* data, size_t size) {
  if (reserves_ && fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at_), static_cast<off_t>(size))) {
    if (errno == ENOSPC || errno == EDQUOT) throw std::system_error(errno, std::generic_category(), "write");
    reserves_ = errno == EINTR;  // else the file system cannot allocate, or patch() reports the error
  }
  patch(at_, data, size);
  at_ += size;
}

// Puts the fields that a member's header and its entry in the directory share: from the version that reads it to the
// length of its name.
void Writer::put_fields(std::string& s, const Entry& e, bool wide) {
  put<uint16_t>(s, wide ? version : 20);
  put<uint16_t>(s, utf8);
  put<uint16_t>(s, 0);
  put<uint32_t>(s, first_day);
  put<uint32_t>(s, e.crc);
  put<uint32_t>(s, narrow(e.size));
  put<uint32_t>(s, narrow(e.size));
  put<uint16_t>(s, static_cast<uint16_t>(e.name.size()));
}

// Returns a member's header, padded so that the member's bytes begin at a multiple of the alignment.
std::string Writer::header(const Entry& e) const {
  const bool wide = e.size >= full32;
  std::string s;
  put<uint32_t>(s, 0x04034b50);
  put_fields(s, e, wide);
  const uint64_t before = e.header + 30 + e.name.size() + (wide ? 20 : 0);
  uint64_t padding = (alignment - before % alignment) % alignment;
  if (padding && padding < 4) padding += alignment;  // an extra field has at least four bytes
  put<uint16_t>(s, static_cast<uint16_t>((wide ? 20 : 0) + padding));
  s += e.name;
  if (wide) {
    put<uint16_t>(s, wide_field);
    put<uint16_t>(s, 16);
    put<uint64_t>(s, e.size);
    put<uint64_t>(s, e.size);
  }
  if (padding) {
    put<uint16_t>(s, padding_field);
    put<uint16_t>(s, static_cast<uint16_t>(padding - 4));
    s.append(padding - 4, '\0');
  }
  return s;
}

void Writer::flush() {
  if (!pending_.empty()) sink_.write(pending_.data(), pending_.size());
  pending_.clear();
}

void Writer::add(const std::string& name, const Piece* pieces, size_t count) {
  if (const char* why = unsafe_name(name)) throw std::invalid_argument("a member's name " + std::string(why));
  if (name.size() > 1024) throw std::invalid_argument("a member's name is longer than 1024 bytes");
  uint64_t size = 0;
  for (size_t i = 0; i < count; i++) size += pieces[i].size;
  const auto each = [pieces, count](auto use) {
    for (size_t i = 0; i < count; i++)
      if (pieces[i].size) use(pieces[i].data, static_cast<size_t>(pieces[i].size));
  };
  const auto summed = [each] {
    uint32_t crc = 0;
    each([&crc](const void* data, size_t n) { crc = crc32(crc, data, n); });
    return crc;
  };
  Entry e = {name, at_, size, 0};
  const bool later = size >= long_member && sink_.patches();
  if (!later) e.crc = summed();
  std::string head = header(e);
  pending_ += head;
  at_ += head.size() + size;
  if (size < long_member) {
    each([this](const void* data, size_t n) { pending_.append(static_cast<const char*>(data), n); });
    if (pending_.size() >= most_pending) flush();
  } else {
    flush();
    std::future<uint32_t> sum;
    if (later) {
      try {
        sum = std::async(std::launch::async, summed);
      } catch (const std::system_error&) {  // no thread could be started
        sum = std::async(std::launch::deferred, summed);
      }
    }
    each([this](const void* data, size_t n) { sink_.write(data, n); });
    if (later) {
      e.crc = sum.get();
      head = header(e);
      sink_.patch(e.header, head.data(), head.size());
    }
  }
  entries_.push_back(std::move(e));
}

void Writer::finish() {
  const uint64_t start = at_;
  std::string s;
  for (const Entry& e : entries_) {
    const bool large = e.size >= full32, far = e.header >= full32;
    put<uint32_t>(s, 0x02014b50);
    put<uint16_t>(s, large || far ? version : 20);
    put_fields(s, e, large || far);
    const auto extra = static_cast<uint16_t>((large ? 16 : 0) + (far ? 8 : 0));
    put<uint16_t>(s, extra ? static_cast<uint16_t>(extra + 4) : uint16_t{0});
    for (int i = 0; i < 3; i++) put<uint16_t>(s, 0);  // comment, disk, attributes
    put<uint32_t>(s, 0);
    put<uint32_t>(s, narrow(e.header));
    s += e.name;
    if (extra) {
      put<uint16_t>(s, wide_field);
      put<uint16_t>(s, extra);
      for (int i = 0; large && i < 2; i++) put<uint64_t>(s, e.size);
      if (far) put<uint64_t>(s, e.header);
    }
  }
  const uint64_t count = entries_.size(), size = s.size();
  if (count >= full16 || size >= full32 || start >= full32) {
    put<uint32_t>(s, 0x06064b50);
    put<uint64_t>(s, 44);
    put<uint16_t>(s, version);
    put<uint16_t>(s, version);
    put<uint64_t>(s, 0);
    for (uint64_t v : {count, count, size, start}) put<uint64_t>(s, v);
    put<uint32_t>(s, 0x07064b50);
    put<uint32_t>(s, 0);
    put<uint64_t>(s, start + size);
    put<uint32_t>(s, 1);
  }
  put<uint32_t>(s, 0x06054b50);
  put<uint32_t>(s, 0);
  for (int i = 0; i < 2; i++) put<uint16_t>(s, static_cast<uint16_t>(std::min(count, full16)));
  put<uint32_t>(s, narrow(size));
  put<uint32_t>(s, narrow(start));
  put<uint16_t>(s, 0);
  pending_ += s;
  flush();
}

}  // namespace lamella::archive
