#include "dispatcher/stamp.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"

namespace lattis::dispatcher {
namespace {

#if defined(__x86_64__)
constexpr uint16_t machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t machine = EM_AARCH64;
#else
#error "stamp.cpp: name this machine's ELF number"
#endif
constexpr uint64_t most_notes = 1 << 20;  // bytes; a library has a few hundred

// A file that is only ever read inside its bounds, whatever it says of itself.
class File {
 public:
  explicit File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {
    struct stat s;
    if (fd_ >= 0 && fstat(fd_, &s) == 0 && S_ISREG(s.st_mode)) size_ = static_cast<uint64_t>(s.st_size);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  bool opened() const { return fd_ >= 0; }
  bool read(uint64_t offset, void* out, uint64_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t n = pread(fd_, to, bytes, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;  // it has been cut since
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

// The newest version among the stamps of one PT_NOTE segment: each source file of a library leaves one.
void read_notes(const std::vector<char>& notes, uint64_t align, std::optional<uint32_t>* version) {
  const auto padded = [align](uint64_t n) { return (n + align - 1) / align * align; };
  for (uint64_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data() + at, sizeof head);
    const uint64_t name = at + sizeof head, data = name + padded(head.n_namesz), end = data + padded(head.n_descsz);
    if (end > notes.size()) return;
    at = end;
    if (head.n_namesz != 7 || head.n_descsz < 8 || std::memcmp(notes.data() + name, "Lattis", 7) != 0) continue;
    uint32_t said[2];  // major, minor
    std::memcpy(said, notes.data() + data, sizeof said);
    if (head.n_type != 1 || said[0] > 0xffff || said[1] > 0xffff) continue;
    *version = std::max(version->value_or(0), LATTIS_MAKE_VERSION(said[0], said[1]));
  }
}

std::string text(uint32_t version) { return core::format("%u.%u", version >> 16, version & 0xffff); }

}  // namespace

lattis_status read_stamp(const std::string& path, uint32_t* version) {
  const File file(path.c_str());
  if (!file.opened())
    return core::raise(LATTIS_RUNTIME_ERROR,
                       "load_plugin: cannot open the library " + path + ": " + std::strerror(errno));
  Elf64_Ehdr head;
  if (!file.read(0, head.e_ident, EI_NIDENT) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return core::raise(LATTIS_RUNTIME_ERROR, "load_plugin: " + path + " is no shared library (no ELF file)");
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
      !file.read(0, &head, sizeof head) || head.e_machine != machine)
    return core::raise(LATTIS_RUNTIME_ERROR,
                       "load_plugin: " + path + " is a library for another machine; build it for this one");
  if (head.e_type != ET_DYN)
    return core::raise(LATTIS_RUNTIME_ERROR, "load_plugin: " + path + " is no shared library; link it with -shared");
  std::optional<uint32_t> found;
  if (head.e_phentsize == sizeof(Elf64_Phdr) && head.e_phnum != PN_XNUM)
    for (uint64_t i = 0; i < head.e_phnum; i++) {
      Elf64_Phdr segment;
      uint64_t at;
      if (__builtin_add_overflow(head.e_phoff, i * sizeof segment, &at) || !file.read(at, &segment, sizeof segment))
        break;
      if (segment.p_type != PT_NOTE || segment.p_filesz > most_notes) continue;
      std::vector<char> notes(segment.p_filesz);
      if (file.read(segment.p_offset, notes.data(), notes.size()))
        read_notes(notes, segment.p_align == 8 ? 8 : 4, &found);
    }
  if (!found)
    return core::raise(
        LATTIS_RUNTIME_ERROR,
        "load_plugin: " + path +
            " carries no stamp of Lattis' C ABI: it was built without Lattis' headers, or with those of before " +
            text(LATTIS_MAKE_VERSION(1, 0)) + ". This library has C ABI " + text(LATTIS_ABI_VERSION) +
            "; build it again with its headers");
  *version = *found;
  return LATTIS_OK;
}

lattis_status check_version(const std::string& path, uint32_t version) {
  const uint32_t major = version >> 16, minor = version & 0xffff;
  if (major == LATTIS_ABI_MAJOR && minor <= LATTIS_ABI_MINOR) return LATTIS_OK;
  const std::string both = "load_plugin: " + path + " was built for C ABI " + text(version) +
                           ", this library (lattis " LATTIS_VERSION ") has " + text(LATTIS_ABI_VERSION) + ". ";
  if (major < LATTIS_ABI_MAJOR)
    return core::raise(LATTIS_RUNTIME_ERROR, both + "Build it again with this library's headers");
  std::string advice = both + "Install a newer lattis";
  if (major == LATTIS_ABI_MAJOR)
    advice += core::format(", or build it for this one with -DLATTIS_TARGET_VERSION=0x%x", LATTIS_ABI_VERSION);
  return core::raise(LATTIS_RUNTIME_ERROR, advice);
}

}  // namespace lattis::dispatcher
