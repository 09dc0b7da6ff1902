#include "backends/cpu/lapack.h"

#include <dlfcn.h>

#include <string>

namespace lamella::cpu {
namespace {

// Opens OpenBLAS, which the package has beside this plugin, and makes it compute on the calling thread alone. Returns
// null if it is not there.
void* open_lapack() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&open_lapack), &self)) return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libscipy_openblas.so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return nullptr;
  if (const auto set = reinterpret_cast<void (*)(int)>(dlsym(handle, "scipy_openblas_set_num_threads"))) set(1);
  return handle;
}

void* lapack_handle() {
  static void* const handle = open_lapack();
  return handle;
}

// Returns the function of LAPACK that a name has for a type of numbers, such as "scipy_sgetrf_" for "getrf".
template <class T>
void* function_of(const std::string& name) {
  void* const handle = lapack_handle();
  LAMELLA_CHECK(handle,
                "this operator needs OpenBLAS, which is not beside the plugin 'cpu': install scipy-openblas32 "
                "before Lamella is built");
  constexpr bool wide = std::is_same_v<Real<T>, double>;
  const char letter = is_complex_number<T> ? (wide ? 'z' : 'c') : (wide ? 'd' : 's');
  std::string full = name;
  if (is_complex_number<T> && name.rfind("or", 0) == 0) full = "un" + name.substr(2);
  if (is_complex_number<T> && name == "syevd") full = "heevd";
  if (!is_complex_number<T> && name.rfind("he", 0) == 0) full = "sy" + name.substr(2);
  void* const f = dlsym(handle, ("scipy_" + std::string(1, letter) + full + "_").c_str());
  LAMELLA_CHECK(f, "OpenBLAS beside the plugin 'cpu' has no function ", letter, full);
  return f;
}

}  // namespace

bool lapack_available() { return lapack_handle() != nullptr; }

template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T> functions = [] {
    Lapack<T> l;
    const auto load = [](auto& to, const char* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(function_of<T>(name));
    };
    load(l.gemm, "gemm");
    load(l.gemv, "gemv");
    load(l.trsm, "trsm");
    load(l.potrf, "potrf");
    load(l.getrf, "getrf");
    load(l.getrs, "getrs");
    load(l.geqrf, "geqrf");
    load(l.orgqr, "orgqr");
    load(l.ormqr, "ormqr");
    load(l.sytrf, "sytrf");
    load(l.hetrf, "hetrf");
    load(l.sytrs, "sytrs");
    load(l.hetrs, "hetrs");
    load(l.gels, "gels");
    load(l.syevd, "syevd");
    load(l.geev, "geev");
    load(l.gesdd, "gesdd");
    load(l.gelsy, "gelsy");
    load(l.gelss, "gelss");
    load(l.gelsd, "gelsd");
    return l;
  }();
  return functions;
}

template const Lapack<float>& lapack<float>();
template const Lapack<double>& lapack<double>();
template const Lapack<std::complex<float>>& lapack<std::complex<float>>();
template const Lapack<std::complex<double>>& lapack<std::complex<double>>();

}  // namespace lamella::cpu
