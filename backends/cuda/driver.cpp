// Opens libcuda and NVRTC, or returns why either is absent.
#include "driver.h"

namespace cuda {

Driver driver_functions{};

namespace {

Nvrtc nvrtc_functions{};

std::string try_driver() {
  SharedLibrary library("libcuda.so.1");
  if (!library.opened())
    return "there is no NVIDIA driver: libcuda.so.1 cannot be opened (install the driver of the GPU)";
  driver_functions.find(library);
  if (!library.whole())
    return "the NVIDIA driver is too old: libcuda.so.1 has no " + library.missing() + " (CUDA 12 is needed)";
  if (const CUresult r = driver().init(0)) return "the NVIDIA driver does not start: " + meaning(r);
  driver().driver_version(&driver_functions.version);
  if (driver().version < 12000)
    return "the NVIDIA driver is for CUDA " + std::to_string(driver().version / 1000) + "; CUDA 12 or later is needed";
  if (const CUresult r = driver().device_count(&driver_functions.devices))
    return "the NVIDIA driver cannot count its devices: " + meaning(r);
  if (driver().devices == 0) return "the NVIDIA driver finds no device (see CUDA_VISIBLE_DEVICES)";
  return "";
}

std::string try_nvrtc() {
  const int newest = driver().version / 1000;
  const auto of_major = [](int major) { return SharedLibrary("libnvrtc.so." + std::to_string(major)); };
  SharedLibrary library = of_major(newest);
  for (int major = newest - 1; !library.opened() && major >= 12; major--) library = of_major(major);
  const std::string extra = "lamella[cuda" + std::to_string(newest > 13 ? 13 : newest) + "]";
  if (!library.opened()) {
    std::string why = "NVRTC, which compiles the kernels, is not installed: pip install " + extra;
    if (of_major(newest + 1).opened())
      why = "the installed NVRTC is of CUDA " + std::to_string(newest + 1) + ", the driver of CUDA " +
            std::to_string(newest) + ": pip install " + extra + ", or a newer driver";
    return why;
  }
  nvrtc_functions.find(library);
  if (!library.whole()) return "the installed NVRTC has no " + library.missing() + ": pip install " + extra;
  nvrtc_functions.version(&nvrtc_functions.major, &nvrtc_functions.minor);
  return "";
}

}  // namespace

const std::string& open_driver() {
  static const std::string why = try_driver();
  return why;
}

const std::string& open_nvrtc() {
  static const std::string why = try_nvrtc();
  return why;
}

const Nvrtc& nvrtc() { return nvrtc_functions; }

std::string meaning(CUresult r) {
  const char *name = nullptr, *text = nullptr;
  driver().error_name(r, &name);
  driver().error_string(r, &text);
  return std::string(name ? name : "error " + std::to_string(r)) + (text ? std::string(": ") + text : "");
}

}  // namespace cuda
