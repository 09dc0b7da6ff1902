// Feeds damaged files of programs to the loader: `fuzz_program LIBLAMELLA_CPU.SO COUNT [SEED] [FOLDER]`. FOLDER has
// further files. Bytes of the zip, of the index and of graphs are changed; hashes are made right again, so that the
// readers behind them meet the damage. Every byte of the tensors that are read is read, too. AddressSanitizer ends the
// program at a fault of memory; a case that takes more time or memory than its file allows ends it, too.
#include <lamella/program.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <sstream>

#include "files/load.h"
#include "graph_seeds.h"
#include "run/host.h"

using namespace lamella;
using graph::files::LoadedFile;
using graph::files::LoadOptions;

// The bytes that are allocated.
namespace {
std::atomic<int64_t> bytes{0}, peak{0};
}  // namespace
extern "C" const char* __asan_default_options();  // read by AddressSanitizer: tensors have a bound, too
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=400"; }
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  void* p = std::malloc(n);
  const int64_t now = bytes += p ? static_cast<int64_t>(n) : 0;
  int64_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return p;
}
void* operator new(size_t n) {
  if (void* p = operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  if (p) bytes -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

namespace {

std::string now_reading;  // the index of the case

[[noreturn]] void end(const std::string& what) {
  std::fprintf(stderr, "fuzz_program: %s:\n%s\n", what.c_str(), now_reading.c_str());
  std::_Exit(2);
}

using Members = std::vector<std::pair<std::string, std::string>>;

std::string hex_of_hash(std::string_view text) {
  std::string out;
  for (const uint8_t b : sha256(text))
    for (const int half : {b >> 4, b & 15}) out += "0123456789abcdef"[half];
  return out;
}

// Returns the bytes of an archive; empty if a name is none.
std::string archive_of(const Members& members) {
  std::string out;
  lamella_archive_writer* w = nullptr;
  const auto write = [](void* to, const void* data, uint64_t n) -> lamella_status {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), n);
    return LAMELLA_OK;
  };
  check(archive_interface().begin(write, &out, &w));
  for (const auto& [name, text] : members) {
    const lamella_archive_piece piece = {text.data(), text.size()};
    if (archive_interface().add(w, name.c_str(), &piece, 1)) {
      api().error_clear();
      archive_interface().abort(w);
      return {};
    }
  }
  check(archive_interface().finish(w, 0));
  return out;
}

// Returns a program of one graph, whose index has every kind of value.
Members seed_of(const std::string& graph, bool with_object) {
  const std::string code = "# op_version 1\n" + graph + "\n";
  std::string data(64, '\0');
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<char>(i);
  std::string object = "null";
  if (with_object)
    object =
        R"j({"$object":"Net","attributes":[["w",{"$tensor":0}],["n",3],["next",{"$object":"Net","attributes":[)j"
        R"j(["w",{"$tensor":1}],["n",{"$int":"0x7"}],["next",null],["list",[]],["pairs",{"$dict":[]}],)j"
        R"j(["z",{"$complex":[1.5,{"$float":"7ff8000000000000"}]}],["t",{"$tuple":[{"$dtype":"float32"},)j"
        R"j({"$device":"cpu"},{"$layout":"strided"},{"$memory_format":"channels_last"}]}],["mask",{"$tensor":2}]]}],)j"
        R"j(["list",[1,2.5,{"$float":"7ff0000000000000"}]],["pairs",{"a":{"$tuple":[1,"x"]}}],)j"
        R"j(["z",{"$complex":[0.0,1.0]}],["t",{"$tuple":[{"$dtype":"int64"},{"$device":"cpu"},{"$layout":"strided"},)j"
        R"j({"$memory_format":"contiguous_format"}]}],["mask",{"$tensor":2}]]})j";
  const std::string index =
      R"j({"format":"lamella.program","version":1,"written_by":"lamella","needs":{"aten":1},"main":")j" +
      std::string(with_object ? "Net" : "Net.forward") +
      R"j(","classes":{"Net":)j"
      R"j({"original":"Net","attributes":[["w","Tensor"],["n","int"],["next","Net?"],["list","float[]"],)j"
      R"j(["pairs","Dict(str, (int, str))"],["z","complex"],["t","(ScalarType, Device, Layout, MemoryFormat)"],)j"
      R"j(["mask","Tensor"]],"parameters":["w"],"buffers":["mask"],"modules":["next"],"transient":[],)j"
      R"j("constants":[["c",{"$set":[1]}],["d",[1]]]}},"interfaces":[],"enums":{"E":{"original":"E","members":[["A",1]]}},)j"
      R"j("graphs":{"Net.forward":"code/Net.forward.graph"},"methods":{"Net.forward":{"parameters":[{"name":"x",)j"
      R"j("type":"Tensor"}],"result":"Tensor"}},"constants":[3],"members":{"code/Net.forward.graph":{"sha256":")j" +
      hex_of_hash(code) + R"j("},"data/0":{"sha256":")j" + hex_of_hash(data) +
      R"j("}},"storages":[[64,"cpu"]],"tensors":[[0,"float32",[2,3],null,0,{"plugins":[["requires_grad",true]],)j"
      R"j("class":"parameter"}],[0,"float32",[3,2],[1,3],2],[0,"bool",[4],null,0],[0,"int64",[],null,1]],"object":)j" +
      object + "}";
  return {{"index.json", index}, {"code/Net.forward.graph", code}, {"data/0", data}};
}

void read_all(const lamella_value& v) {
  volatile uint8_t sum = 0;
  if (v.tag == LAMELLA_TENSOR && v.as.tensor->dl.data && v.as.tensor->numel) {
    const lamella_tensor& t = *v.as.tensor;
    int64_t last = 0;
    for (int i = 0; i < t.dl.ndim; i++) last += (t.dl.shape[i] - 1) * t.dl.strides[i];
    const int64_t size = api().dtype_info(t.dtype)->itemsize;
    for (int64_t i = 0; i < (last + 1) * size; i++) sum = sum + static_cast<const uint8_t*>(t.dl.data)[i];
  } else if (graph::is_object(v, graph::list_type)) {
    for (const lamella_value& x : graph::list_of(v).items) read_all(x);
  } else if (graph::is_object(v, graph::instance_type)) {
    for (const lamella_value& x : graph::instance_of(v).attributes) read_all(x);
  }
}

int64_t accepted = 0;

void run_case(const std::string& file, bool map = false) {
  alarm(60);  // ends the program if the case hangs
  LoadOptions options;
  options.mapped = map;
  const int64_t before = bytes;
  peak = before;
  try {
    const std::unique_ptr<LoadedFile> loaded = graph::files::load(ArchiveReader::from_memory(file), "a file", options);
    read_all(loaded->root.get());
    accepted++;
  } catch (const Error& e) {
    if (!*e.what()) end("an error without a message");
    if (e.kind() == LAMELLA_OUT_OF_MEMORY) end("a file of " + std::to_string(file.size()) + " bytes takes too much");
    api().error_clear();
  }
  if (peak - before > (4 << 20) + 1500 * static_cast<int64_t>(file.size())) end("loading takes too much memory");
  alarm(0);
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string next(const Members& seed) {
    Members members = seed;
    const size_t what = below(8);
    if (what == 0) {  // the zip
      std::string zip = archive_of(members);
      for (size_t n = 1 + below(4); n; n--) zip[below(zip.size())] = static_cast<char>(random_());
      if (below(8) == 0) zip.resize(below(zip.size()));
      return zip;
    }
    const size_t at = what < 5 ? 0 : 1 + below(members.size() - 1);
    std::string& text = members[at].second;
    const std::string old = hex_of_hash(text);
    for (size_t n = 1 + below(3); n; n--) change(text);
    if (at) {  // the index has the hash of the new text
      std::string& index = members[0].second;
      const size_t place = index.find(old);
      if (place != std::string::npos) index.replace(place, old.size(), hex_of_hash(text));
    }
    now_reading = members[0].second;
    return archive_of(members);
  }

 private:
  size_t below(size_t n) { return n ? random_() % n : 0; }
  void change(std::string& s) {
    static const std::vector<std::string> pieces = {"%1",
                                                    "(",
                                                    ")",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    "\"",
                                                    "int",
                                                    "Tensor",
                                                    "Net",
                                                    "0",
                                                    "-1",
                                                    "null",
                                                    ",",
                                                    ":",
                                                    "[]",
                                                    "{}",
                                                    "true",
                                                    "9223372036854775807",
                                                    "18446744073709551615",
                                                    "1e400",
                                                    "{\"$same\":0}",
                                                    "{\"$same\":99}",
                                                    "{\"$tensor\":1}",
                                                    "{\"$tensor\":9}",
                                                    "{\"$tuple\":[]}",
                                                    "{\"$set\":[]}",
                                                    "{\"$module\":[]}",
                                                    "[1,2,3]",
                                                    "\"Net?\"",
                                                    "\"$object\"",
                                                    "{\"$generator\":[\"cpu\",1,2]}",
                                                    "\"\\ud800\"",
                                                    "\"\\u0000\"",
                                                    "\"data/0\"",
                                                    "\"meta\"",
                                                    "\"cuda\""};
    const size_t at = below(s.size() + 1);
    switch (below(4)) {
      case 0:
        s.insert(at, pieces[below(pieces.size())]);
        break;
      case 1:
        s.erase(at, 1 + below(12));
        break;
      case 2: {  // a value of JSON in the place of another one
        const size_t begin = s.find_first_of(":[,", at);
        if (begin == std::string::npos) break;
        const size_t behind = s.find_first_of(",]}", begin + 1);
        if (behind != std::string::npos) s.replace(begin + 1, behind - begin - 1, pieces[below(pieces.size())]);
        break;
      }
      default: {  // a part that occurs again
        const std::string part = s.substr(below(s.size()), 1 + below(60));
        s.insert(at, part);
      }
    }
  }

  std::mt19937_64 random_;
};

// Programs that are right but large in one way, and those that nest.
void run_large() {
  const Members plain = seed_of("graph(%self : Net, %x : Tensor) { return (%x) }", true);
  const auto with_object = [&](const std::string& object) {
    Members m = plain;
    std::string& index = m[0].second;
    index.replace(index.find("\"object\":") + 9, std::string::npos, object + "}");
    run_case(archive_of(m));
  };
  std::string deep, wide = "[0", doubled = "[1]";
  for (int i = 0; i < 200000; i++) deep += "[";
  for (int i = 0; i < 9; i++)  // numbers of containers that are not there
    with_object(R"j({"$object":"Net","attributes":[["list",[]],["next",{"$same":)j" + std::to_string(i) + "}]]}");
  with_object(deep);
  with_object(deep + std::string(200000, ']'));
  for (int i = 0; i < 200000; i++) wide += ",[]";
  with_object(wide + "]");
  for (int i = 0; i < 60; i++) doubled = "[" + doubled + ",{\"$same\":" + std::to_string(i) + "}]";
  with_object(doubled);
  std::string keys = "{";
  for (int i = 0; i < 100000; i++) keys += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
  with_object(keys + "}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  Api::table() = lamella_get_api(LAMELLA_TARGET_VERSION);
  if (lamella_load_plugin(argv[1])) end(api().error_message());
  graph::print = [](std::string_view) {};
  graph::warn = graph::print;
  const int64_t count = std::atoll(argv[2]);
  std::vector<Members> seeds = {seed_of("graph(%self : Net, %x : Tensor) { return (%x) }", true)};
  for (const Members& m : seeds) run_case(archive_of(m));
  if (accepted != 1) end("the undamaged program is refused");
  for (const std::string& text : graph_seeds) seeds.push_back(seed_of(text, false));
  if (argc > 4)
    for (const auto& entry : std::filesystem::directory_iterator(argv[4])) {
      if (entry.path().extension() != ".lamella") continue;
      const ArchiveReader file(entry.path().string());
      Members members;
      for (const std::string& name : file.names()) members.emplace_back(name, file.text(name));
      const int64_t before = accepted;
      run_case(archive_of(members));
      if (accepted == before) end("the undamaged file " + entry.path().string() + " is refused");
      seeds.push_back(std::move(members));
    }
  run_large();
  const int64_t undamaged = accepted;
  std::mt19937_64 random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  Mutator mutator(random());
  for (int64_t i = 0; i < count; i++) {
    const size_t which = random() % 3 ? 0 : random() % seeds.size();  // the first has every kind of value
    const std::string file = mutator.next(seeds[which]);
    if (!file.empty()) run_case(file, i % 2 == 0);
  }
  if (accepted - undamaged < count / 100) end("few changed files are read");
  std::printf("ok  fuzz_program: %lld changed files, %lld of them read\n", static_cast<long long>(count),
              static_cast<long long>(accepted - undamaged));
  return 0;
}
