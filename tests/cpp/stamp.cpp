// The reader of stamps on files that are cut, foreign, huge and hostile: it answers, and reads nothing it may not. Run
// under AddressSanitizer. Usage: test_stamp LIBRARY
#include <elf.h>
#include <lattis/program.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "check.h"

static const lattis_api* api;
static std::string path;

// The verdict on these bytes; the message is never empty.
static lattis_status judge(const std::vector<char>& bytes, uint32_t* version) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const lattis_status st = lattis_plugin_stamp(path.c_str(), version);
  if (st) {
    CHECK(std::strlen(api->error_message()) > 20);
    api->error_clear();
  }
  return st;
}

// A small library with the segments of `good`, which is cut behind its notes.
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

int main(int argc, char** argv) {
  CHECK(argc == 2);
  api = lattis_get_api(LATTIS_TARGET_VERSION);
  char name[] = "/tmp/stampXXXXXX";
  const int fd = mkstemp(name);
  CHECK(api && fd >= 0);
  close(fd);
  path = name;
  uint32_t version = 0;
  OK(api, lattis_plugin_stamp(argv[1], &version));
  CHECK(version == LATTIS_ABI_VERSION);
  std::ifstream in(argv[1], std::ios::binary);
  const std::vector<char> good = shortened({std::istreambuf_iterator<char>(in), {}});
  CHECK(judge(good, &version) == LATTIS_OK && version == LATTIS_ABI_VERSION);
  for (size_t n = 0; n < good.size(); n++)  // what is cut has lost its notes or is no library
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

  for (uint64_t word : nasty)  // each field of the header and of each segment, one by one
    for (size_t at = 16; at + 8 <= head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr); at += 2)
      for (size_t width : {2, 4, 8}) {
        std::vector<char> bad = good;
        std::memcpy(bad.data() + at, &word, width);
        (void)judge(bad, &version);
      }
  done("each field of the headers at its extremes");

  std::vector<char> foreign = good;
  foreign[EI_CLASS] = ELFCLASS32;
  CHECK(judge(foreign, &version));
  foreign = good;
  foreign[EI_DATA] = ELFDATA2MSB;
  CHECK(judge(foreign, &version));
  CHECK(judge({'#', '!', '/', 'b', 'i', 'n'}, &version) && judge({}, &version));
  unlink(name);
  FAILS(api, lattis_plugin_stamp(name, &version), "No such file");
  FAILS(api, lattis_plugin_stamp("/dev/zero", &version), "no ELF file");
  FAILS(api, lattis_plugin_stamp("/tmp", &version), "no ELF file");
  done("foreign files, devices and folders");
}
