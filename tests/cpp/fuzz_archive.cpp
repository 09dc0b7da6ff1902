// Feeds damaged archives to the reader: `fuzz_archive COUNT SEED`. AddressSanitizer ends the program if the reader
// reads past the bytes. An archive that the reader accepts must be consistent.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/archive/crc32.h"
#include "core/archive/names.h"
#include "core/archive/reader.h"
#include "core/archive/writer.h"

using namespace lamella::archive;

namespace {

struct StringSink : Sink {
  std::string text;
  void write(const void* data, size_t size) override { text.append(static_cast<const char*>(data), size); }
};

template <class T>
void put(std::string& s, T v) {
  for (size_t i = 0; i < sizeof(T); i++) s += static_cast<char>(static_cast<uint64_t>(v) >> 8 * i & 255);
}

std::string ours(const std::vector<std::string>& members) {
  StringSink sink;
  Writer writer(sink);
  writer.add("index.json", "{}", 2);
  for (size_t i = 0; i < members.size(); i++)
    writer.add("data/" + std::to_string(i), members[i].data(), members[i].size());
  writer.finish();
  return sink.text;
}

// Returns an archive as other programs write it: sizes follow the bytes, and small numbers have the wide fields.
std::string theirs() {
  std::string s, directory;
  const std::string bytes[] = {"first member", "", "the third"};
  uint64_t count = 0;
  for (const std::string& data : bytes) {
    const std::string name = "archive/data/" + std::to_string(count++);
    const uint32_t crc = crc32(0, data.data(), data.size());
    const uint64_t at = s.size();
    put<uint32_t>(s, 0x04034b50);
    put<uint16_t>(s, 0);
    put<uint16_t>(s, 0x808);
    for (int i = 0; i < 9; i++) put<uint16_t>(s, 0);
    put<uint16_t>(s, static_cast<uint16_t>(name.size()));
    put<uint16_t>(s, 8);
    s += name;
    put<uint32_t>(s, 0x00044246);
    s += "ZZZZ" + data;
    put<uint32_t>(s, 0x08074b50);
    put<uint32_t>(s, crc);
    put<uint64_t>(s, data.size());
    put<uint64_t>(s, data.size());
    put<uint32_t>(directory, 0x02014b50);
    put<uint32_t>(directory, 0);
    put<uint16_t>(directory, 0x808);
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, crc);
    put<uint64_t>(directory, ~0ull);
    put<uint16_t>(directory, static_cast<uint16_t>(name.size()));
    put<uint16_t>(directory, 28);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, ~0u);
    directory += name;
    put<uint16_t>(directory, 1);
    put<uint16_t>(directory, 24);
    for (uint64_t v : {uint64_t{data.size()}, uint64_t{data.size()}, at}) put<uint64_t>(directory, v);
  }
  const uint64_t start = s.size(), end = start + directory.size();
  s += directory;
  put<uint32_t>(s, 0x06064b50);
  put<uint64_t>(s, 44);
  put<uint32_t>(s, 0);
  put<uint64_t>(s, 0);
  for (uint64_t v : {count, count, uint64_t{directory.size()}, start}) put<uint64_t>(s, v);
  put<uint32_t>(s, 0x07064b50);
  put<uint32_t>(s, 0);
  put<uint64_t>(s, end);
  put<uint32_t>(s, 1);
  put<uint32_t>(s, 0x06054b50);
  put<uint32_t>(s, 0);
  put<uint16_t>(s, static_cast<uint16_t>(count));
  put<uint16_t>(s, static_cast<uint16_t>(count));
  put<uint32_t>(s, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(s, static_cast<uint32_t>(start));
  put<uint16_t>(s, 0);
  return s;
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_archive: %s\n", what);
  std::exit(2);
}

// Reads a whole archive; returns whether the reader accepted it.
bool accepted(const std::string& bytes) {
  const size_t size = bytes.size();
  const std::unique_ptr<char[]> exact(new char[size]);  // of this size, so that a read past the end is reported
  if (size) std::memcpy(exact.get(), bytes.data(), size);
  try {
    Archive archive(std::make_shared<MemorySource>(exact.get(), size));
    std::vector<std::pair<uint64_t, uint64_t>> places;
    uint64_t total = 0;
    for (const Member& m : archive.members()) {
      require(!unsafe_name(m.name), "a name is unsafe");
      require(m.data <= size && m.size <= size - m.data, "a member reaches beyond the archive");
      places.emplace_back(m.header, m.data + m.size);
      total += m.size;
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 1; i < places.size(); i++) require(places[i - 1].second <= places[i].first, "members overlap");
    require(total <= size, "members hold more than the archive");
    for (const Member& m : archive.members()) {
      const std::unique_ptr<char[]> data(new char[m.size]);
      archive.read(m, data.get(), 2);
      require(crc32(0, data.get(), m.size) == m.crc, "a member's bytes are others");
      archive.verify(m);
    }
  } catch (const Fault&) {
    return false;
  }
  return true;
}

class Mutator {
 public:
  Mutator(uint64_t seed, std::vector<std::string> seeds) : random_(seed), seeds_(std::move(seeds)) {}

  std::string next() {
    std::string s = seeds_[below(seeds_.size())];
    for (uint64_t n = 1 + below(3); n; n--) change(s);
    return s;
  }

 private:
  uint64_t below(uint64_t n) { return n ? random_() % n : 0; }

  void change(std::string& s) {
    if (s.empty()) return;
    switch (below(8)) {
      case 0:
        s[below(s.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        s[below(s.size())] = static_cast<char>(below(256));
        break;
      case 2:
        s.resize(below(s.size()));
        break;
      case 3:
        s.append(below(40), static_cast<char>(below(256)));
        break;
      case 4: {  // replaces a part by a part of another archive
        const std::string& other = seeds_[below(seeds_.size())];
        const size_t from = below(other.size()), at = below(s.size());
        s.replace(at, below(s.size() - at), other.substr(from, below(other.size() - from)));
        break;
      }
      case 5: {  // inserts a copy of other bytes of the archive
        const size_t from = below(s.size()), at = below(s.size());
        s.insert(at, s.substr(from, below(64)));
        break;
      }
      default:
        change_field(s);
    }
  }

  // Sets a field of a record to an extreme value.
  void change_field(std::string& s) {
    static const char* const marks[] = {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7"};
    const char* mark = marks[below(5)];
    std::vector<size_t> places;
    for (size_t at = s.find(mark, 0, 4); at != std::string::npos; at = s.find(mark, at + 1, 4)) places.push_back(at);
    if (places.empty()) return;
    const size_t widths[] = {1, 2, 4, 8};
    const size_t at = places[below(places.size())] + 4 + below(80), width = widths[below(4)];
    if (at + width > s.size()) return;
    const uint64_t size = s.size();
    const uint64_t values[] = {0,          1,    2,        3,         0xFFFF,      0xFFFFFFFF, ~0ull,
                               1ull << 63, size, size - 1, size - 22, below(size), below(64)};
    uint64_t v = values[below(sizeof values / sizeof *values)] + below(3) - 1;
    for (size_t i = 0; i < width; i++, v >>= 8) s[at + i] = static_cast<char>(v & 255);
  }

  std::mt19937_64 random_;
  std::vector<std::string> seeds_;
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::vector<std::string> seeds = {ours({}), ours({"abc", std::string(70, 'x')}), theirs()};
  for (const std::string& s : seeds) require(accepted(s), "an undamaged archive is refused");
  Mutator mutator(seed, seeds);
  uint64_t good = 0;
  for (uint64_t i = 0; i < count; i++) good += accepted(mutator.next());
  std::printf("ok  fuzz_archive: %llu changed archives, %llu of them accepted\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(good));
}
