// The reader of stamps on files that are cut, foreign, huge and hostile: it returns an answer and never reads outside
// the file. Run under AddressSanitizer. Usage: test_stamp LIBRARY
#include <elf.h>
#include <lamella/program.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "check.h"

static const lamella_api* api;
static std::string path;

// Returns the reader's verdict on these bytes; its message is never empty.
static lamella_status judge(const std::vector<char>& bytes, uint32_t* version) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const lamella_status st = lamella_plugin_stamp(path.c_str(), version);
  if (st) {
    CHECK(std::strlen(api->error_message()) > 20);
    api->error_clear();
  }
  return st;
}

// Returns a small library with the segments of `good`, cut after the notes.
static std::vector<char> shortened(std::vector<char> good) {
  Elf64_Ehdr head;
  std::memcpy(&head, good.data(), sizeof head);
  size_t end = head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr);
  for (int i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr segment;
    std::memcpy(&segment, good.data() + head.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_NOTE) end = std::max<size_t>(end, segment.p_offset + segment.p_filesz);
  }
  good.resize(end);
  return good;
}

static void append(std::vector<char>* to, const void* data, size_t bytes) {
  const auto* p = static_cast<const char*>(data);
  to->insert(to->end(), p, p + bytes);
}

static lamella_stamp stamp_of(uint32_t major, uint32_t minor) { return {8, 8, 1, "Lamella", major, minor}; }

// Returns `good` with these notes instead of its own, in the given number of segments.
static std::vector<char> with_notes(std::vector<char> good, const std::vector<char>& notes, uint64_t align,
                                    uint16_t segments = 1) {
  Elf64_Ehdr head;
  std::memcpy(&head, good.data(), sizeof head);
  const Elf64_Phdr note{PT_NOTE, PF_R, (good.size() + 31) / 32 * 32, 0, 0, notes.size(), notes.size(), align};
  good.resize(note.p_offset);
  append(&good, notes.data(), notes.size());
  head.e_phoff = good.size();
  head.e_phnum = segments;
  for (int i = 0; i < segments; i++) append(&good, &note, sizeof note);
  std::memcpy(good.data(), &head, sizeof head);
  return good;
}

// A segment may have a larger alignment than its notes, and hold other notes; a sanitizer leaves zeros between them.
static void segments_of_all_alignments(const std::vector<char>& good) {
  uint32_t version = 0;
  const lamella_stamp stamp = stamp_of(LAMELLA_ABI_MAJOR, LAMELLA_ABI_MINOR);
  const uint32_t property[] = {4, 16, 5, 0x554e47, 0xc0000002, 4, 3, 0};  // the GNU note of -fcf-protection
  std::vector<char> zeros(36), alone, behind, before, padded;
  append(&alone, &stamp, sizeof stamp);
  append(&behind, property, sizeof property);
  append(&behind, &stamp, sizeof stamp);
  append(&before, &stamp, sizeof stamp);
  append(&before, zeros.data(), 4);
  append(&before, property, sizeof property);
  append(&padded, &stamp, sizeof stamp);
  append(&padded, zeros.data(), zeros.size());
  for (const auto& notes : {alone, behind, before, padded})
    for (uint64_t align : {0, 1, 4, 8, 32}) {
      version = 0;
      CHECK(judge(with_notes(good, notes, align), &version) == LAMELLA_OK && version == LAMELLA_ABI_VERSION);
    }
  done("stamps among other notes, at every alignment");
}

static void several_stamps(const std::vector<char>& good) {
  uint32_t version = 0;
  const auto both = [&](lamella_stamp a, lamella_stamp b) {
    std::vector<char> notes;
    append(&notes, &a, sizeof a);
    append(&notes, &b, sizeof b);
    return with_notes(good, notes, 4);
  };
  CHECK(judge(both(stamp_of(1, 0), stamp_of(1, 7)), &version) == LAMELLA_OK && version == LAMELLA_MAKE_VERSION(1, 7));
  CHECK(judge(both(stamp_of(3, 2), stamp_of(0x10000, 0)), &version) == LAMELLA_OK);
  CHECK(version == LAMELLA_MAKE_VERSION(3, 2));
  for (bool order : {false, true}) {
    const lamella_stamp old = stamp_of(0, 9), now = stamp_of(1, 0);
    CHECK(judge(order ? both(old, now) : both(now, old), &version));
    FAILS(api, lamella_plugin_stamp(path.c_str(), &version), "objects for C ABI 0.9 and for 1.0");
  }
  done("objects of several versions in one library");
}

// A file with a great many segments that all point at the same long notes is read in a few seconds.
static void endless_notes(const std::vector<char>& good) {
  uint32_t version = 0;
  const lamella_stamp stamp = stamp_of(1, 0);
  std::vector<char> notes(1 << 20);
  const auto start = std::chrono::steady_clock::now();
  CHECK(judge(with_notes(good, notes, 4, 0xfffe), &version));
  append(&notes, &stamp, sizeof stamp);
  CHECK(judge(with_notes(good, notes, 4, 0xfffe), &version) == LAMELLA_OK);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  done("a file with sixty thousand segments of notes");
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  char name[] = "/tmp/stampXXXXXX";
  const int fd = mkstemp(name);
  CHECK(api && fd >= 0);
  close(fd);
  path = name;
  uint32_t version = 0;
  OK(api, lamella_plugin_stamp(argv[1], &version));
  CHECK(version == LAMELLA_ABI_VERSION);
  std::ifstream in(argv[1], std::ios::binary);
  const std::vector<char> good = shortened({std::istreambuf_iterator<char>(in), {}});
  CHECK(judge(good, &version) == LAMELLA_OK && version == LAMELLA_ABI_VERSION);
  for (size_t n = 0; n < good.size(); n++)  // a cut file has no notes or is no library
    CHECK(judge({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)}, &version) || n >= 64);
  done("files cut at every length");

  Elf64_Ehdr head;
  std::memcpy(&head, good.data(), sizeof head);
  std::mt19937_64 random(1);
  const uint64_t nasty[] = {0,    1,      3,          4,          7,         8,          0x7f,
                            0xff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX, UINT64_MAX - 8};
  for (int round = 0; round < 20000; round++) {
    std::vector<char> bad = good;
    for (uint64_t k = 0, n = 1 + random() % 4; k < n; k++) {
      const size_t at = random() % (bad.size() - 8);
      const size_t width = size_t{1} << random() % 4;
      const uint64_t word = random() % 2 ? random() : nasty[random() % std::size(nasty)];
      std::memcpy(bad.data() + at / width * width, &word, width);
    }
    (void)judge(bad, &version);
  }
  done("twenty thousand files with some bytes changed");

  for (uint64_t word : nasty)  // sets each field of the header and of each segment to an extreme value
    for (size_t at = 16; at + 8 <= head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr); at += 2)
      for (size_t width : {2, 4, 8}) {
        std::vector<char> bad = good;
        std::memcpy(bad.data() + at, &word, width);
        (void)judge(bad, &version);
      }
  done("each field of the headers at its extremes");

  segments_of_all_alignments(good);
  several_stamps(good);
  endless_notes(good);

  std::vector<char> foreign = good;
  foreign[EI_CLASS] = ELFCLASS32;
  CHECK(judge(foreign, &version));
  foreign = good;
  foreign[EI_DATA] = ELFDATA2MSB;
  CHECK(judge(foreign, &version));
  CHECK(judge({'#', '!', '/', 'b', 'i', 'n'}, &version) && judge({}, &version));
  unlink(name);
  FAILS(api, lamella_plugin_stamp(name, &version), "No such file");
  FAILS(api, lamella_plugin_stamp("/dev/zero", &version), "no ELF file");
  FAILS(api, lamella_plugin_stamp("/tmp", &version), "no ELF file");
  CHECK(mkfifo(name, 0600) == 0);
  FAILS(api, lamella_plugin_stamp(name, &version), "no ELF file");  // opening the pipe does not wait for a writer
  unlink(name);
  done("foreign files, pipes, devices and folders");
}
