#include "backends/cpu/gemm.h"

#include <dlfcn.h>

#include <string>

#include "backends/cpu/onednn.h"

namespace lamella::cpu {
namespace {

using Sgemm = int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*, int64_t, float,
                      float*, int64_t);

// Opens oneDNN's library, which the package has beside this plugin. Its 44 MB are mapped at the first use.
void* load() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&load), &self)) return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libdnnl.so.3";
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

Sgemm sgemm() {
  static const auto f = reinterpret_cast<Sgemm>(onednn_symbol("dnnl_sgemm"));
  return f;
}

}  // namespace

void* onednn_symbol(const char* name) {
  static void* const handle = load();
  return handle ? dlsym(handle, name) : nullptr;
}

bool onednn_available() { return sgemm() != nullptr; }

bool onednn_sgemm(const Gemm& g) {
  Sgemm f = sgemm();
  if (!f) return false;
  [[maybe_unused]] OneThread guard;
  SignalsWait wait;
  const bool a_rows = g.a_column == 1, b_rows = g.b_column == 1;
  return f(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', g.m, g.n, g.k, 1.0f, static_cast<const float*>(g.a),
           a_rows ? g.a_row : g.a_column, static_cast<const float*>(g.b), b_rows ? g.b_row : g.b_column, 0.0f,
           static_cast<float*>(g.c), g.c_row) == 0;
}

}  // namespace lamella::cpu
