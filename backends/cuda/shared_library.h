// A library of NVIDIA that is opened while the program runs. Its functions are listed by a macro,
// X(member, symbol of the library, parameters), and are members of a struct of pointers:
//
//   struct Blas {
//     CUDA_BLAS_FUNCTIONS(CUDA_MEMBER)
//     bool there = false;
//     Blas() {
//       SharedLibrary library("libcublas.so.13");
//       CUDA_BLAS_FUNCTIONS(CUDA_FIND)
//       there = library.whole();
//     }
//   };
#pragma once

#include <dlfcn.h>

#include <string>

namespace cuda {

class SharedLibrary {
 public:
  // Opens the library if it can be found; it stays open until the process ends.
  explicit SharedLibrary(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool opened() const { return handle_; }
  // Returns whether the library was opened and has every function that find() looked for.
  bool whole() const { return handle_ && missing_.empty(); }
  // Returns the first function that find() looked for and the library lacks, or "".
  const std::string& missing() const { return missing_; }

  template <class F>
  void find(F*& to, const char* symbol) {
    to = handle_ ? reinterpret_cast<F*>(dlsym(handle_, symbol)) : nullptr;
    if (!to && missing_.empty()) missing_ = symbol;
  }

 private:
  void* handle_;
  std::string missing_;
};

#define CUDA_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
#define CUDA_FIND(member, symbol, parameters) library.find(this->member, symbol);

}  // namespace cuda
