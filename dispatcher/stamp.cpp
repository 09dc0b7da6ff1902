#include "dispatcher/stamp.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"

namespace lamella::dispatcher {
namespace {

#if defined(__x86_64__)
constexpr uint16_t machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t machine = EM_AARCH64;
#else
#error "stamp.cpp: name this machine's ELF number"
#endif
// A library has two or three segments of notes with a few hundred bytes in all; notes beyond these limits are not read.
constexpr int most_segments = 64;
constexpr uint64_t most_bytes = 4 << 20;

// A file that is only read inside its bounds, whatever its headers say.
class File {
 public:
  // O_NONBLOCK, since opening a pipe may wait.
  explicit File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat s;
    if (fd_ >= 0 && fstat(fd_, &s) == 0 && S_ISREG(s.st_mode)) size_ = static_cast<uint64_t>(s.st_size);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  bool opened() const { return fd_ >= 0; }
  uint64_t size() const { return size_; }
  bool read(uint64_t offset, void* out, uint64_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t n = pread(fd_, to, bytes, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;  // the file was cut meanwhile
      to += n;
      offset += static_cast<uint64_t>(n);
      bytes -= static_cast<uint64_t>(n);
    }
    return true;
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

// The oldest and the newest version among a file's stamps: each source file of the library leaves one stamp.
struct Stamps {
  std::optional<uint32_t> oldest, newest;
  void add(uint32_t version) {
    oldest = std::min(oldest.value_or(version), version);
    newest = std::max(newest.value_or(version), version);
  }
};

// Finds stamps by their fixed bytes, at any aligned position: the spacing of notes depends on the segment's alignment,
// which other notes and sanitizers change.
void find_stamps(const std::vector<char>& notes, Stamps* found) {
  constexpr lamella_stamp fixed = {8, 8, 1, "Lamella", 0, 0};
  lamella_stamp stamp;
  for (size_t at = 0; at + sizeof stamp <= notes.size(); at += 4) {
    std::memcpy(&stamp, notes.data() + at, sizeof stamp);
    if (std::memcmp(&stamp, &fixed, offsetof(lamella_stamp, major)) != 0) continue;
    if (stamp.major <= 0xffff && stamp.minor <= 0xffff) found->add(LAMELLA_MAKE_VERSION(stamp.major, stamp.minor));
  }
}

// Returns the program headers; none if they cannot be read.
std::vector<Elf64_Phdr> segments_of(const File& file, const Elf64_Ehdr& head) {
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == PN_XNUM) return {};
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  if (!file.read(head.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return {};
  return segments;
}

// Returns the end of the part of the file that the loader maps. If a file ends before it, a process that reads the rest
// is killed.
uint64_t end_of(const std::vector<Elf64_Phdr>& segments) {
  uint64_t end = 0;
  for (const Elf64_Phdr& s : segments)
    if (s.p_type == PT_LOAD && s.p_filesz > 0)
      end = std::max(end, s.p_filesz > UINT64_MAX - s.p_offset ? UINT64_MAX : s.p_offset + s.p_filesz);
  return end;
}

Stamps stamps_of(const File& file, const std::vector<Elf64_Phdr>& segments) {
  Stamps found;
  int count = 0;
  uint64_t bytes = 0;
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type != PT_NOTE) continue;
    if (++count > most_segments || s.p_filesz > most_bytes - bytes) break;
    bytes += s.p_filesz;
    std::vector<char> notes(s.p_filesz);
    if (file.read(s.p_offset, notes.data(), notes.size())) find_stamps(notes, &found);
  }
  return found;
}

std::string text(uint32_t version) { return core::format("%u.%u", version >> 16, version & 0xffff); }

}  // namespace

lamella_status read_stamp(const std::string& path, uint32_t* version) {
  const File file(path.c_str());
  if (!file.opened())
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "load_plugin: cannot open the library " + path + ": " + std::strerror(errno));
  Elf64_Ehdr head;
  if (!file.read(0, head.e_ident, EI_NIDENT) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return core::raise(LAMELLA_RUNTIME_ERROR, "load_plugin: " + path + " is no shared library (no ELF file)");
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
      !file.read(0, &head, sizeof head) || head.e_machine != machine)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "load_plugin: " + path + " is a library for another machine; build it for this one");
  if (head.e_type != ET_DYN)
    return core::raise(LAMELLA_RUNTIME_ERROR, "load_plugin: " + path + " is no shared library; link it with -shared");
  const Stamps found = stamps_of(file, segments_of(file, head));
  if (!found.newest)
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        "load_plugin: " + path +
            " carries no stamp of Lamella's C ABI: it was built without Lamella's headers, or with those of before " +
            text(LAMELLA_MAKE_VERSION(1, 0)) + ", or a tool has removed the note. This library has C ABI " +
            text(LAMELLA_ABI_VERSION) +
            "; build it again with its headers, and strip it with --keep-section=.note.lamella");
  if (*found.oldest >> 16 != *found.newest >> 16)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "load_plugin: " + path + " was put together from objects for C ABI " + text(*found.oldest) +
                           " and for " + text(*found.newest) +
                           ", which do not go together. Build all of it again with the headers of one version");
  *version = *found.newest;
  return LAMELLA_OK;
}

lamella_status check_whole(const std::string& path) {
  const File file(path.c_str());
  Elf64_Ehdr head;
  if (file.read(0, &head, sizeof head) && end_of(segments_of(file, head)) <= file.size()) return LAMELLA_OK;
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("load_plugin: %s is cut off: the file ends after %llu bytes, before the end that its "
                                  "headers state; copy or build it again",
                                  path.c_str(), (unsigned long long)file.size()));
}

lamella_status check_version(const std::string& path, uint32_t version) {
  const uint32_t major = version >> 16, minor = version & 0xffff;
  if (major == LAMELLA_ABI_MAJOR && minor <= LAMELLA_ABI_MINOR) return LAMELLA_OK;
  const std::string both = "load_plugin: " + path + " was built for C ABI " + text(version) +
                           ", this library (lamella " LAMELLA_VERSION ") has " + text(LAMELLA_ABI_VERSION) + ". ";
  if (major < LAMELLA_ABI_MAJOR)
    return core::raise(LAMELLA_RUNTIME_ERROR, both + "Build it again with this library's headers");
  std::string advice = both + "Install a newer lamella";
  if (major == LAMELLA_ABI_MAJOR)
    advice += core::format(", or build it for this one with -DLAMELLA_TARGET_VERSION=0x%x", LAMELLA_ABI_VERSION);
  return core::raise(LAMELLA_RUNTIME_ERROR, advice);
}

}  // namespace lamella::dispatcher
