// Launches kernels, which are functions of CUDA source: of a file in kernels/, or of a string made at run time.
//
//   static Kernel fill("fill.cu", "fill<float>");  // compiled when it is first launched on a device
//   return launch(fill, out, blocks_for(out, n, 256), {256}, 0, data, n);
//
// `data` and `n` are the kernel's arguments: launch() copies them, and they must have the types of its parameters. The
// stream is the thread's current one for the tensor's device. Once a kernel is compiled, a launch handles no strings.
#pragma once

#include <atomic>

#include "devices.h"

namespace cuda {

using lamella::detail::text;

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

constexpr int most_devices = 64;

// A function of CUDA source that is compiled when it is first launched on a device. `file` is a file of kernels/,
// `name` an expression that names the function with its template arguments, "softmax<float, 4>", and `options` words
// for the compiler, "-DROWS=4". Make a Kernel static or never delete it, since other threads may launch it at any time.
class Kernel {
 public:
  Kernel(const char* file, std::string name, std::string options = {})
      : file_(file), name_(std::move(name)), options_(std::move(options)) {}
  // Takes CUDA source that was made at run time, which may include the files of kernels/. `file` names it in messages.
  Kernel(std::string text, const char* file, std::string name, std::string options = {})
      : file_(file), name_(std::move(name)), options_(std::move(options)), text_(std::move(text)) {}
  Kernel(const Kernel&) = delete;

  // Returns the device's function. The first call compiles it, and throws if it does not compile.
  CUfunction on(int device) {
    const CUfunction made = functions_[device].load(std::memory_order_acquire);
    return __builtin_expect(made != nullptr, 1) ? made : make(device);
  }
  const char* file() const { return file_; }
  const std::string& name() const { return name_; }
  // Allows the kernel's blocks `bytes` of shared memory on a device, which is more than the usual 48 KiB.
  void allow_shared(int device, unsigned bytes);

 private:
  CUfunction make(int device);
  const char* file_;
  const std::string name_, options_, text_;
  std::atomic<CUfunction> functions_[most_devices] = {};
  std::atomic<unsigned> shared_[most_devices] = {};
};

// The kernels of a template in one file, by numbers that tell its arguments apart. The first get() with some numbers
// makes their kernel, with the name that `name` returns. A later get() reads one pointer and compares one number or a
// few.
class Kernels {
 public:
  constexpr explicit Kernels(const char* file, const char* options = "") : file_(file), options_(options) {}
  Kernels(const Kernels&) = delete;
  // At most eight numbers, from 0 to 255.
  template <class Name>
  Kernel& get(std::initializer_list<int> numbers, Name name) {
    uint64_t key = 0;
    for (const int n : numbers) key = key << 8 | static_cast<uint64_t>(n);
    std::atomic<Entry*>& chain = chains_[key * 0x9e3779b97f4a7c15 >> 59];
    for (Entry* at = chain.load(std::memory_order_acquire); at; at = at->next)
      if (at->key == key) return at->kernel;
    return add(chain, key, name());
  }

 private:
  // Entries are never deleted.
  struct Entry {
    Entry(uint64_t key, const char* file, std::string name, const char* options)
        : key(key), kernel(file, std::move(name), options) {}
    uint64_t key;
    Kernel kernel;
    Entry* next = nullptr;
  };
  Kernel& add(std::atomic<Entry*>& chain, uint64_t key, std::string name);

  const char *file_, *options_;
  std::atomic<Entry*> chains_[32] = {};
};

// `arguments` are addresses, one for each parameter of the kernel. A grid of no blocks launches nothing.
lamella_status launch_on(Kernel&, int device, CUstream stream, Dim grid, Dim block, unsigned shared_bytes,
                         void** arguments);
lamella_status launch(Kernel&, const lamella_tensor* on, Dim grid, Dim block, unsigned shared_bytes, void** arguments);

template <class... A>
lamella_status launch(Kernel& kernel, const lamella_tensor* on, Dim grid, Dim block, unsigned shared_bytes,
                      const A&... arguments) {
  static_assert((std::is_trivially_copyable_v<A> && ...), "a kernel's arguments are copied as bytes");
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  return launch(kernel, on, grid, block, shared_bytes, addresses);
}

// Returns as many blocks as have a thread for each of n elements, but not more than keep the device busy, since kernels
// walk on in steps of the grid.
Dim blocks_for(const lamella_tensor* on, int64_t n, unsigned block);

// Returns the name of a dtype's type in CUDA source: "float", "bfloat16", "complex<double>".
const char* type_name(int dtype);
// Returns the type in which sums of a dtype are kept: float for the short floats, int64 for bools and integers but
// uint64, and else the dtype's own type.
const char* wide_name(int dtype);

}  // namespace cuda
