// The interface code.cuda, by which other libraries compile CUDA source and launch its functions: <lamella/code.h>.
#include <lamella/code.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "faults.h"
#include "launch.h"

namespace cuda {
namespace {

// Returns the kernel for CUDA source, the name of a function in it, and options. The map keeps each kernel until the
// process ends.
Kernel& kernel_of(const std::string& text, const std::string& name, const std::string& options) {
  static std::mutex mutex;
  static auto* all = new std::map<std::tuple<std::string, std::string, std::string>, std::unique_ptr<Kernel>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Kernel>& kernel = (*all)[{text, name, options}];
  if (!kernel) kernel = std::make_unique<Kernel>(text, "code.cu", name, options);
  return *kernel;
}

void require_device(int32_t index) {
  LAMELLA_CHECK_INDEX(index >= 0 && index < device_count(), "code.cuda: device 'cuda:", index,
                      "' does not exist; there are ", device_count());
}

lamella_status compile(void*, int32_t index, const char* text, const char* name, const char* options,
                       lamella_code_function** out) {
  return lamella::guarded([&]() -> lamella_status {
    LAMELLA_CHECK_VALUE(text && *text && name && *name, "code.cuda: compile: argument 'text' or 'name' is empty");
    require_device(index);
    Kernel& kernel = kernel_of(text, name, options ? options : "");
    kernel.on(index);
    return *out = reinterpret_cast<lamella_code_function*>(&kernel), LAMELLA_OK;
  });
}

lamella_status launch_function(void*, int32_t index, void* stream, lamella_code_function* function,
                               const lamella_code_launch* how, void* const* arguments) {
  return lamella::guarded([&]() -> lamella_status {
    require_device(index);
    const auto dim = [](const uint32_t* sizes) { return Dim{sizes[0], sizes[1], sizes[2]}; };
    return launch_on(*reinterpret_cast<Kernel*>(function), index, stream_of(index, stream), dim(how->grid),
                     dim(how->block), how->shared_bytes, const_cast<void**>(arguments));
  });
}

constexpr lamella_code code = {sizeof code, 0, nullptr, "CUDA C++", compile, launch_function};

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) { m.interface("code.cuda", 1, &code); }

}  // namespace cuda
