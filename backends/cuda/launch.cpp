// Launches of kernels, the numbers of their blocks, and the names of types in CUDA source.
#include "launch.h"

#include <mutex>

namespace cuda {

lamella_status launch_on(Kernel& kernel, int device, CUstream stream, Dim grid, Dim block, unsigned shared_bytes,
                         void** arguments) {
  return lamella::guarded([&]() -> lamella_status {
    if (!grid.x || !grid.y || !grid.z) return LAMELLA_OK;
    const CUfunction f = kernel.on(device);
    enter(device);
    if (shared_bytes > 48 * 1024) kernel.allow_shared(device, shared_bytes);
    return checked(
        driver().launch(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream, arguments, nullptr),
        kernel.name().c_str());
  });
}

lamella_status launch(Kernel& kernel, const lamella_tensor* on, Dim grid, Dim block, unsigned shared_bytes,
                      void** arguments) {
  const int device = index_of(on);
  return launch_on(kernel, device, current_stream(device), grid, block, shared_bytes, arguments);
}

void Kernel::allow_shared(int device, unsigned bytes) {
  if (shared_[device].load(std::memory_order_relaxed) >= bytes) return;
  require(driver().function_set(on(device), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)),
          name_.c_str());
  shared_[device].store(bytes, std::memory_order_relaxed);
}

Kernel& Kernels::add(std::atomic<Entry*>& chain, uint64_t key, std::string name) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  for (Entry* at = chain.load(std::memory_order_acquire); at; at = at->next)
    if (at->key == key) return at->kernel;
  auto* made = new Entry(key, file_, std::move(name), options_);
  made->next = chain.load(std::memory_order_relaxed);
  chain.store(made, std::memory_order_release);
  return made->kernel;
}

Dim blocks_for(const lamella_tensor* on, int64_t n, unsigned block) {
  const Properties& p = properties_of(index_of(on));
  const int64_t wanted = (n + block - 1) / block,
                fit = int64_t{p.processors} * (p.threads / block ? p.threads / block : 1);
  return {static_cast<unsigned>(wanted < 4 * fit ? wanted : 4 * fit)};
}

const char* type_name(int dtype) {
  static constexpr const char* names[] = {"bool8",    "uint8_t", "uint16_t", "uint32_t",       "uint64_t",
                                          "int8_t",   "int16_t", "int32_t",  "int64_t",        "float16",
                                          "bfloat16", "float",   "double",   "complex<float>", "complex<double>"};
  LAMELLA_CHECK(dtype >= 0 && dtype < LAMELLA_PLAIN_DTYPES, "cuda: kernels do not support dtype number ", dtype);
  return names[dtype];
}

const char* wide_name(int dtype) {
  if (dtype == LAMELLA_FLOAT16 || dtype == LAMELLA_BFLOAT16) return "float";
  if (dtype >= LAMELLA_FLOAT32) return type_name(dtype);
  return dtype == LAMELLA_UINT64 ? "uint64_t" : "int64_t";
}

}  // namespace cuda
