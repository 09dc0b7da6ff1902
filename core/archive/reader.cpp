// Reads an archive's directory and members. Each size that a file states is compared with the file's own size before
// memory of that size is allocated.
#include "core/archive/reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

#include "core/archive/crc32.h"
#include "core/archive/names.h"

namespace lamella::archive {
namespace {

// Sizes of the zip structures without names and extra fields, and their signatures; see APPNOTE.TXT of PKWARE, 6.3.
constexpr size_t header_size = 30, entry_size = 46, end_size = 22, wide_end_size = 56, locator_size = 20;
constexpr uint32_t header_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50, wide_end_mark = 0x06064b50,
                   locator_mark = 0x07064b50;
constexpr uint16_t descriptor_follows = 1 << 3, name_is_utf8 = 1 << 11, wide_field = 1;
constexpr uint32_t full32 = 0xFFFFFFFF;
constexpr uint16_t full16 = 0xFFFF;

// Reads a little-endian number at a place that the caller has checked.
template <class T>
T number(const char* p) {
  T v = 0;
  for (size_t i = 0; i < sizeof(T); i++)
    v = static_cast<T>(v | static_cast<T>(static_cast<unsigned char>(p[i])) << 8 * i);
  return v;
}
uint16_t u16(const char* p) { return number<uint16_t>(p); }
uint32_t u32(const char* p) { return number<uint32_t>(p); }
uint64_t u64(const char* p) { return number<uint64_t>(p); }

[[noreturn]] void fault(const Member& m, const char* what) { throw Fault("member '" + m.name + "' " + what); }

// Returns the contents of the zip64 extra field; empty if there is none.
std::string_view wide_numbers(const Member& m, std::string_view extra) {
  std::string_view found;
  while (extra.size() >= 4) {
    const size_t size = u16(extra.data() + 2);
    if (size > extra.size() - 4) fault(m, "has an extra field that is longer than its place");
    if (u16(extra.data()) == wide_field) {
      if (found.data()) fault(m, "has two zip64 fields");
      found = {extra.data() + 4, size};
    }
    extra.remove_prefix(size + 4);
  }
  return found;
}

// Returns v; if all its 32 bits are ones, removes the next 64-bit number from the zip64 field and returns that.
uint64_t widened(const Member& m, uint32_t v, std::string_view* wide) {
  if (v != full32) return v;
  if (wide->size() < 8) fault(m, "lacks the 64-bit number that it announces");
  const uint64_t out = u64(wide->data());
  wide->remove_prefix(8);
  return out;
}

}  // namespace

Archive::Archive(std::shared_ptr<Source> source) : source_(std::move(source)) {
  read_directory();
  std::string directory(directory_size_, '\0');
  source_->read(directory_, directory.data(), directory.size());
  members_.reserve(entries_);
  size_t at = 0;
  for (uint64_t i = 0; i < entries_; i++) read_entry(directory, &at);
  if (at != directory.size()) throw Fault("its directory has bytes after the last entry");
  places_.reserve(members_.size());
  for (size_t i = 0; i < members_.size(); i++)
    if (!places_.emplace(members_[i].name, i).second) fault(members_[i], "is listed twice in the directory");
  for (Member& m : members_) read_header(m);
  check_order();
}

// Finds the directory. The record that ends an archive must be at the end of the file, so there is only one possible
// place.
void Archive::read_directory() {
  const uint64_t size = source_->size();
  if (size < end_size) throw Fault("it is too short for an archive, or cut off");
  char end[end_size];
  const uint64_t end_at = size - end_size;
  source_->read(end_at, end, end_size);
  if (u32(end) != end_mark || u16(end + 20) != 0)
    throw Fault("it does not end as an archive does: it is cut off, or bytes were added");
  if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != u16(end + 10))
    throw Fault("it is a part of an archive of several files");
  entries_ = u16(end + 10), directory_size_ = u32(end + 12), directory_ = u32(end + 16);
  uint64_t behind = end_at;
  char wide[wide_end_size + locator_size];
  if (end_at >= sizeof wide) {
    source_->read(end_at - sizeof wide, wide, sizeof wide);
    const char* locator = wide + wide_end_size;
    if (u32(locator) == locator_mark) {
      behind = end_at - sizeof wide;
      if (u32(wide) != wide_end_mark || u64(locator + 8) != behind || u64(wide + 4) != wide_end_size - 12)
        throw Fault("the zip64 record is damaged, or not directly before its locator");
      if (u32(locator + 4) != 0 || u32(locator + 16) > 1 || u32(wide + 16) != 0 || u32(wide + 20) != 0)
        throw Fault("it is a part of an archive of several files");
      const uint64_t entries = u64(wide + 32), bytes = u64(wide + 40), at = u64(wide + 48);
      if (entries != u64(wide + 24) || (entries_ != full16 && entries != entries_) ||
          (directory_size_ != full32 && bytes != directory_size_) || (directory_ != full32 && at != directory_))
        throw Fault("two records contradict each other about its directory");
      entries_ = entries, directory_size_ = bytes, directory_ = at;
    }
  }
  if (directory_ > behind || directory_size_ != behind - directory_)
    throw Fault("its directory does not end where the next record begins");
  if (entries_ > directory_size_ / entry_size) throw Fault("its directory is too short for its entries");
}

void Archive::read_entry(std::string_view directory, size_t* at) {
  const std::string_view rest = directory.substr(std::min(*at, directory.size()));
  if (rest.size() < entry_size || u32(rest.data()) != entry_mark) throw Fault("its directory is damaged");
  const char* p = rest.data();
  const size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
#ifndef LAMELLA_PLANTED_ARCHIVE  // the tests remove this check, to verify that the fuzzer finds the fault
  if (name + extra + comment > rest.size() - entry_size) throw Fault("an entry is longer than its directory");
#endif
  Member m;
  m.name.assign(p + entry_size, name);
  if (const char* why = unsafe_name(m.name)) throw Fault(std::string("a member's name ") + why);
  m.flags = u16(p + 8);
  if (m.flags & 1) fault(m, "is encrypted");
  if (m.flags & ~(descriptor_follows | name_is_utf8))
    fault(m, "has zip flags that are not supported; only bits 3 and 11 are");
  if (u16(p + 10) != 0) fault(m, "is compressed; only uncompressed members are supported");
  m.crc = u32(p + 16);
  std::string_view wide = wide_numbers(m, std::string_view(p + entry_size + name, extra));
  m.size = widened(m, u32(p + 24), &wide);  // the zip64 field has the numbers in this order
  if (widened(m, u32(p + 20), &wide) != m.size) fault(m, "has a stored size that differs from its size");
  m.header = widened(m, u32(p + 42), &wide);
  if (u16(p + 34) != 0) fault(m, "is in another part of a split archive");
  if (m.header > directory_ || directory_ - m.header < header_size || m.size > directory_ - m.header - header_size)
    fault(m, "reaches beyond the archive");
  *at += entry_size + name + extra + comment;
  members_.push_back(std::move(m));
}

// Reads the header that precedes a member's bytes. It gives the place where they begin, and must agree with the
// directory.
void Archive::read_header(Member& m) {
  char p[header_size];
  read_near(m.header, p, header_size);
  const size_t name = u16(p + 26), extra = u16(p + 28);
  if (u32(p) != header_mark || u16(p + 6) != m.flags || u16(p + 8) != 0 || name != m.name.size())
    fault(m, "has a header that differs from the directory");
  m.data = m.header + header_size + name + extra;
  if (m.data > directory_ || m.size > directory_ - m.data) fault(m, "reaches beyond the archive");
  std::string rest(name + extra, '\0');
  read_near(m.header + header_size, rest.data(), rest.size());
  if (rest.compare(0, name, m.name) != 0) fault(m, "has another name in its header");
  const bool later = m.flags & descriptor_follows;
  std::string_view wide = wide_numbers(m, std::string_view(rest).substr(name));
  const uint64_t size = widened(m, u32(p + 22), &wide), stored = widened(m, u32(p + 18), &wide);
  auto agrees = [&](uint64_t here, uint64_t there) { return here == there || (later && here == 0); };
  if (!agrees(u32(p + 14), m.crc) || !agrees(size, m.size) || !agrees(stored, m.size))
    fault(m, "has a header that differs from the directory");
}

// Checks that the members, each perhaps followed by a descriptor, fill the file from its first byte to the directory
// without gaps.
void Archive::check_order() {
  std::vector<const Member*> order;
  order.reserve(members_.size());
  for (const Member& m : members_) order.push_back(&m);
  std::sort(order.begin(), order.end(), [](const Member* a, const Member* b) { return a->header < b->header; });
  uint64_t end = 0;
  bool later = false;
  for (size_t i = 0; i <= order.size(); i++) {
    const uint64_t next = i < order.size() ? order[i]->header : directory_;
    const uint64_t gap = next - end;
    if (next < end) throw Fault("members overlap");
    if (gap != 0 && !(later && (gap == 12 || gap == 16 || gap == 20 || gap == 24)))
      throw Fault("there are bytes that belong to no member");
    if (i == order.size()) break;
    end = order[i]->data + order[i]->size;
    later = order[i]->flags & descriptor_follows;
  }
}

const Member* Archive::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &members_[found->second];
}

// Reads through the buffer near_, which is filled ahead, so that small members and headers that follow one another need
// few reads of the source.
void Archive::read_near(uint64_t at, void* to, size_t count) {
  constexpr size_t reach = 64 << 10;
  if (at < near_at_ || at + count > near_at_ + near_.size()) {
    std::vector<char> next(static_cast<size_t>(std::min<uint64_t>(std::max(reach, count), source_->size() - at)));
    source_->read(at, next.data(), next.size());
    near_ = std::move(next);
    near_at_ = at;
  }
  std::memcpy(to, near_.data() + (at - near_at_), count);
}

namespace {

// Reads [at, at + count) piece by piece, and updates the CRC while the piece is in the cache. Returns the CRC. If `to`
// is null, the bytes are not kept.
uint32_t read_summed(Source& source, uint64_t at, char* to, uint64_t count) {
  constexpr uint64_t piece = 256 << 10;
  std::vector<char> own(to ? 0 : std::min(piece, count));
  uint32_t crc = 0;
  for (uint64_t done = 0; done < count;) {
    const auto n = static_cast<size_t>(std::min(piece, count - done));
    char* place = to ? to + done : own.data();
    source.read(at + done, place, n);
    crc = crc32(crc, place, n);
    done += n;
  }
  return crc;
}

// Does the same as read_summed() with several threads, each of which reads one run of the bytes.
uint32_t read_by_threads(Source& source, uint64_t at, char* to, uint64_t count, int threads) {
  struct Run {
    uint64_t from, size;
    uint32_t crc = 0;
    std::exception_ptr error;
  };
  std::vector<Run> runs;
  const uint64_t each = count / static_cast<uint64_t>(threads) & ~uint64_t{4095};
  for (int i = 0; i < threads; i++) {
    const uint64_t from = each * static_cast<uint64_t>(i);
    runs.push_back({from, i + 1 < threads ? each : count - from, 0, nullptr});
  }
  auto work = [&](Run& r) {
    try {
      r.crc = read_summed(source, at + r.from, to + r.from, r.size);
    } catch (...) {
      r.error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  size_t started = 1;
  try {
    for (; started < runs.size(); started++) others.emplace_back(work, std::ref(runs[started]));
  } catch (const std::system_error&) {  // no more threads can be started: this thread reads the rest
  }
  work(runs[0]);
  for (size_t i = started; i < runs.size(); i++) work(runs[i]);
  for (std::thread& t : others) t.join();
  uint32_t crc = 0;
  for (const Run& r : runs) {
    if (r.error) std::rethrow_exception(r.error);
    crc = crc32_combine(crc, r.crc, r.size);
  }
  return crc;
}

}  // namespace

void Archive::read(const Member& m, void* to, int threads) {
  constexpr uint64_t least = 4 << 20;  // the size from which a thread is worth its start
  uint32_t crc = 0;
  if (m.size < small) {
    read_near(m.data, to, static_cast<size_t>(m.size));
    crc = crc32(0, to, static_cast<size_t>(m.size));
  } else if (const auto most = static_cast<int>(std::min<uint64_t>(64, m.size / least));
             threads > 1 && most > 1 && source_->parallel()) {
    crc = read_by_threads(*source_, m.data, static_cast<char*>(to), m.size, std::min(threads, most));
  } else {
    crc = read_summed(*source_, m.data, static_cast<char*>(to), m.size);
  }
  if (crc != m.crc) fault(m, "is damaged: its checksum does not match");
}

void Archive::verify(const Member& m) {
  if (read_summed(*source_, m.data, nullptr, m.size) != m.crc) fault(m, "is damaged: its checksum does not match");
}

std::shared_ptr<Mapping> Archive::map() {
  if (!mapping_) mapping_ = source_->map();
  return mapping_;
}

}  // namespace lamella::archive
