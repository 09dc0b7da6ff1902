// Registers the CPU backend through the C ABI, as any plugin does. Each file of kernels registers its kernels
// afterwards, in a block of its own.
#include <fstream>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {

const Loops& loops() {
  static const Loops chosen = [] {
    Loops l{};
    LAMELLA_BY_ISA(fill_loops)(l);
    return l;
  }();
  return chosen;
}

namespace {

lamella_status copy(void*, const lamella_copy* c, int32_t*) {
  std::memcpy(c->dst, c->src, c->bytes);
  return LAMELLA_OK;
}

// Returns an entry of /proc/meminfo in bytes; 0 if there is no such entry.
int64_t memory_of(const char* what) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (int64_t n; file >> name; file.ignore(256, '\n'))
    if (name == what && file >> n) return n * 1024;
  return 0;
}

std::string model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != line.npos) return line.substr(line.find(": ") + 2);
  return "";
}

lamella_status property(void*, int32_t, const char* name, lamella_value* out) {
  return guarded([&]() -> lamella_status {
    const std::string_view wanted = name;
    if (wanted == "name") {
      const std::string known = model();
      const lamella_value borrowed = value(known);
      return known.empty() ? LAMELLA_OK : api().value_retain(&borrowed, out);
    }
    const char* row = wanted == "memory.total" ? "MemTotal:" : wanted == "memory.free" ? "MemAvailable:" : nullptr;
    if (const int64_t bytes = row ? memory_of(row) : 0) *out = value(bytes);
    return LAMELLA_OK;
  });
}

// The interface `cpu.info`, from which `lamella info` prints the instruction set.
struct Info {
  uint32_t size;
  const char* isa;
};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  const lamella_allocator* pool;
  if (api().host_pool(nullptr, 0, &pool)) return;
  static lamella_backend b;
  b.size = sizeof b;
  b.name = "cpu";
  b.dlpack_type = kDLCPU;
  b.flags = LAMELLA_BACKEND_HOST | LAMELLA_BACKEND_MIXED_DTYPES;
  b.allocator = pool;
  b.copy = copy;
  b.property = property;
  int32_t id;
  m.backend(b, &id);
  static const Info info = {sizeof info, isa_name()};
  m.interface("cpu.info", 1, &info);
}

}  // namespace lamella::cpu
