// <lamella/archive.h> in a program without Python: archives that are written, read, mapped under tensors, and damaged.
// Usage: test_archive LIBLAMELLA_CPU FOLDER writes FOLDER/written.zip; test_archive sha256 FILE BYTES prints a digest,
// computed from pieces of that many bytes.
#include <lamella/archive.h>
#include <lamella/program.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.h"

namespace {

using lamella::ArchiveReader;
using lamella::ArchiveWriter;
using lamella::TensorRef;

std::string folder;

std::string in(const char* name) { return folder + "/" + name; }
std::string contents(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}
void store(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

template <class Call>
void throws(Call call, const std::string& text, int kind = LAMELLA_RUNTIME_ERROR) {
  try {
    call();
  } catch (const lamella::Error& e) {
    if (std::string(e.what()).find(text) == std::string::npos) std::fprintf(stderr, "got: %s\n", e.what());
    CHECK(std::string(e.what()).find(text) != std::string::npos && e.kind() == kind);
    CHECK(!lamella::api().error_message());
    return;
  }
  std::fprintf(stderr, "expected: %s\n", text.c_str());
  CHECK(!"it succeeded");
}

const float numbers[6] = {1, 2, 3, 4, 5, 6.5};
std::string long_text() {
  std::string s;
  for (int i = 0; i < 100000; i++) s += std::to_string(i) + " ";
  return s;
}

void write(ArchiveWriter& w) {
  w.add("numbers", numbers, sizeof numbers);
  w.add("text/empty", "");
  const std::string text = long_text();
  const lamella_archive_piece pieces[] = {{text.data(), 10}, {nullptr, 0}, {text.data() + 10, text.size() - 10}};
  lamella::check(lamella::archive_interface().add(w.c(), "text/long", pieces, 3));
  w.add("text/short", "graph(%x : Tensor) { return (%x); }");
}

void written_and_read() {
  const std::string path = in("written.zip");
  ArchiveWriter w(path);
  write(w);
  for (const auto& [name, text] : {std::pair{"", "a member's name is empty"},
                                   {"/x", "is an absolute path"},
                                   {"a/../b", "leads out of the archive"},
                                   {"a\\b", "has a backslash"},
                                   {"\xff", "is not UTF-8"},
                                   {"numbers", "member 'numbers' was added before"}})
    throws([&w, name = name] { w.add(name, "x"); }, text, LAMELLA_VALUE_ERROR);
  throws([&w] { w.add(std::string(1025, 'x'), "x"); }, "longer than 1024 bytes", LAMELLA_VALUE_ERROR);
  CHECK(contents(path).empty());  // until finish() the file has another name
  w.finish();
  const ArchiveReader r(path);
  CHECK((r.names() == std::vector<std::string>{"numbers", "text/empty", "text/long", "text/short"}));
  CHECK(r.text("text/long") == long_text() && r.data("text/long") == long_text() && r.text("text/empty").empty());
  const lamella_archive_member* m = r.find("numbers");
  CHECK(m && m->size == sizeof *m && m->num_bytes == 24 && m->offset % 64 == 0 && m->name == std::string("numbers"));
  CHECK(contents(path).compare(m->offset, 24, std::string(reinterpret_cast<const char*>(numbers), 24)) == 0);
  CHECK(!r.find("absent") && !lamella::archive_interface().member(r.c(), 4));
  for (const std::string& name : r.names()) r.verify(name);
  for (auto* call :
       {+[](const ArchiveReader& a) { (void)a.data("absent"); },
        +[](const ArchiveReader& a) { (void)a.text("absent"); }, +[](const ArchiveReader& a) { a.verify("absent"); },
        +[](const ArchiveReader& a) { (void)a.tensor("absent", LAMELLA_FLOAT32, {1}); }})
    throws([&] { call(r); }, "member 'absent' is missing");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&r] {
      for (int k = 0; k < 50; k++) CHECK(r.text("text/short").size() == 35 && r.text("numbers").size() == 24);
    });
  for (std::thread& t : threads) t.join();
  done("what was written is read, also by several threads; unsafe names and absent members are errors");
}

void mapped_tensors() {
  TensorRef t, shifted;
  {
    ArchiveReader r(in("written.zip"));
    t = r.tensor("numbers", LAMELLA_FLOAT32, {2, 3});
    CHECK(t.get()->dl.data == r.data("numbers").data());
    shifted = r.tensor("numbers", LAMELLA_FLOAT64, {2}, 4);  // no multiple of eight: a copy
    CHECK(shifted.get()->dl.data != r.data("numbers").data() + 4);
    CHECK(r.tensor("text/empty", LAMELLA_FLOAT32, {0, 5}).get()->numel == 0);
    throws([&] { r.tensor("numbers", LAMELLA_FLOAT32, {7}); }, "has 24 bytes, and the tensor needs 28 from byte 0 on");
    throws([&] { r.tensor("numbers", LAMELLA_FLOAT32, {6}, 4); }, "needs 24 from byte 4 on");
    throws([&] { r.tensor("numbers", LAMELLA_UINT8, {0}, 25); }, "needs 0 from byte 25 on");
    throws([&] { r.tensor("numbers", LAMELLA_FLOAT32, {-1}); }, "sizes must not be negative");
    throws([&] { r.tensor("numbers", LAMELLA_FLOAT32, {INT64_MAX, 4}); }, "more bytes than 63 bits can count");
    throws([&] { r.tensor("numbers", 99, {1}); }, "and dtype 99", LAMELLA_VALUE_ERROR);
    const ArchiveReader other(in("written.zip"));
    static_cast<float*>(t.get()->dl.data)[0] = 50;
    CHECK(r.data("numbers") != other.data("numbers") && r.text("numbers") == other.text("numbers"));
  }
  store(in("replaced.zip"), contents(in("written.zip")));
  const TensorRef of_old = ArchiveReader(in("replaced.zip")).tensor("numbers", LAMELLA_FLOAT32, {6});
  ArchiveWriter w(in("replaced.zip"));
  w.add("new", "file");
  w.finish(false);
  CHECK(ArchiveReader(in("replaced.zip")).text("new") == "file");
  for (int i = 0; i < 6; i++) {
    CHECK(static_cast<float*>(of_old.get()->dl.data)[i] == numbers[i]);
    CHECK(static_cast<float*>(t.get()->dl.data)[i] == (i ? numbers[i] : 50));
  }
  double both[2];
  std::memcpy(both, reinterpret_cast<const char*>(numbers) + 4, sizeof both);
  CHECK(static_cast<double*>(shifted.get()->dl.data)[1] == both[1]);
  done("a tensor over a member keeps the mapped file, also one that is replaced; its writes reach no file");
}

void memory() {
  static int freed;
  freed = 0;
  const std::string bytes = contents(in("written.zip"));
  const lamella_archive_interface& archives = lamella::archive_interface();
  const auto free_one = [](void* context) { freed += *static_cast<int*>(context); };
  static int one = 1;
  lamella_archive* a;
  lamella::check(archives.open_memory(bytes.data(), bytes.size(), free_one, &one, &a));
  lamella_tensor* t;
  const int64_t six = 6;
  lamella::check(archives.tensor(a, "numbers", 0, 1, &six, LAMELLA_FLOAT32, &t));
  lamella::api().release(a);
  CHECK(freed == 0 && static_cast<float*>(t->dl.data)[5] == 6.5f);
  lamella::api().release(t);
  CHECK(freed == 1);
  CHECK(archives.open_memory(bytes.data(), bytes.size() - 1, free_one, &one, &a) == LAMELLA_RUNTIME_ERROR);
  CHECK(freed == 1 && std::string(lamella::api().error_message()).find("cut off") != std::string::npos);
  lamella::api().error_clear();
  CHECK(ArchiveReader::from_memory(bytes).text("text/short").size() == 35);
  throws([] { ArchiveReader::from_memory(""); }, "it is too short for an archive");
  std::string collected;
  lamella_archive_writer* w;
  const auto append = [](void* to, const void* data, uint64_t n) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(n));
    return lamella_status{LAMELLA_OK};
  };
  lamella::check(archives.begin(append, &collected, &w));
  const lamella_archive_piece piece = {numbers, sizeof numbers};
  lamella::check(archives.add(w, "numbers", &piece, 1));
  lamella::check(archives.finish(w, 1));
  CHECK(ArchiveReader::from_memory(collected).text("numbers").size() == 24);
  const auto full = [](void*, const void*, uint64_t) { return lamella::fail(LAMELLA_INDEX_ERROR, "the pipe is full"); };
  lamella::check(archives.begin(full, nullptr, &w));
  FAILS(&lamella::api(), archives.finish(w, 0), "the pipe is full");
  done("archives in memory, whose bytes are freed after the last tensor; a function that writes");
}

void damaged() {
  const std::string good = contents(in("written.zip")), path = in("damaged.zip");
  for (const size_t size : {size_t{0}, size_t{10}, good.size() / 2, good.size() - 1}) {
    store(path, good.substr(0, size));
    throws([&] { ArchiveReader r(path); }, size < 22 ? "it is too short for an archive" : "it is cut off");
    throws([&] { ArchiveReader r(path); }, "archive '" + path + "': ");
  }
  std::string wrong = good;
  wrong[ArchiveReader(in("written.zip")).find("numbers")->offset + 3] ^= 1;
  store(path, wrong);
  const ArchiveReader r(path);
  throws([&] { r.verify("numbers"); }, "member 'numbers' is damaged: its checksum does not match");
  throws([&] { r.text("numbers"); }, "member 'numbers' is damaged: its checksum does not match");
  CHECK(r.data("numbers").size() == 24);
  r.verify("text/long");
  throws([] { ArchiveReader absent(in("no file")); }, "no file': No such file or directory");
  throws([] { ArchiveReader directory(folder); }, "it is no plain file");
  throws([] { ArchiveWriter directory(folder); }, "it is no plain file");
  throws([] { ArchiveWriter absent(in("no folder/x")); }, "No such file or directory");
  done("cut files, wrong checksums, absent files and folders are errors that name what is wrong");
}

void unfinished() {
  const std::string path = in("old.zip");
  store(path, "old");
  {
    ArchiveWriter w(path);
    write(w);
  }
  CHECK(contents(path) == "old");
  ArchiveWriter moved(path);
  ArchiveWriter w = std::move(moved);
  write(w);
  w.finish();
  CHECK(ArchiveReader(path).names().size() == 4 && contents(path) == contents(in("written.zip")));
  lamella::archive_interface().abort(nullptr);
  const lamella_api* api = &lamella::api();
  const lamella_archive_interface& archives = lamella::archive_interface();
  lamella_archive* a;
  FAILS(api, archives.open_file(nullptr, &a), "archive: open_file: argument 0 must not be null");
  FAILS(api, archives.finish(nullptr, 0), "archive: finish: argument 0 must not be null");
  done("a writer that does not finish leaves the old file; equal members give equal files");
}

void digests() {
  const auto hex = [](const std::array<uint8_t, 32>& bytes) {
    std::string s;
    char pair[3];
    for (const uint8_t b : bytes) s.append(pair, static_cast<size_t>(std::snprintf(pair, sizeof pair, "%02x", b)));
    return s;
  };
  // The examples of FIPS 180-4.
  CHECK(hex(lamella::sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(lamella::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  FAILS(&lamella::api(), lamella::archive_interface().sha256(nullptr, 1, nullptr), "sha256");
  done("SHA-256");
}

void print_digest(const char* file, size_t each) {
  const std::string bytes = contents(file);
  std::vector<lamella_archive_piece> pieces;
  for (size_t at = 0; at < bytes.size(); at += each)
    pieces.push_back({bytes.data() + at, std::min(each, bytes.size() - at)});
  uint8_t out[32];
  lamella::check(lamella::archive_interface().sha256(pieces.data(), static_cast<int64_t>(pieces.size()), out));
  for (const uint8_t b : out) std::printf("%02x", b);
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 3);
  lamella::Api::table() = lamella_get_api(LAMELLA_TARGET_VERSION);
  if (argc == 4) {
    print_digest(argv[2], std::stoul(argv[3]));
    return 0;
  }
  folder = argv[2];
  lamella_tensor* t;
  {
    ArchiveWriter w(in("early.zip"));
    w.add("numbers", numbers, sizeof numbers);
    w.finish();
    const int64_t six = 6;
    FAILS(&lamella::api(),
          lamella::archive_interface().tensor(ArchiveReader(in("early.zip")).c(), "numbers", 0, 1, &six,
                                              LAMELLA_FLOAT32, &t),
          "no backend of the host is loaded");
  }
  lamella::check(lamella_load_plugin(argv[1]));
  written_and_read();
  mapped_tensors();
  memory();
  damaged();
  unfinished();
  digests();
}
