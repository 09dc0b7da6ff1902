// Contexts and properties of the devices.
#include "devices.h"

#include <pthread.h>

#include <mutex>

#include "launch.h"

namespace cuda {
namespace {

struct Device {
  std::once_flag made;
  std::atomic<CUcontext> context{nullptr};
  Properties properties;
};
Device* devices() {
  static auto* all = new Device[most_devices];
  return all;
}
std::atomic<bool> forked{false};

int attribute(int device, int which) {
  int value = 0;
  driver().device_attribute(&value, which, device);
  return value;
}

}  // namespace

lamella_status raise_driver(CUresult r, const char* who) {
  const int kind = r == CUDA_ERROR_OUT_OF_MEMORY ? LAMELLA_OUT_OF_MEMORY : LAMELLA_ACCELERATOR_ERROR;
  return fail(kind, std::string(who) + ": " + meaning(r));
}

bool in_forked_child() { return forked.load(std::memory_order_relaxed); }

int device_count() { return driver().devices < most_devices ? driver().devices : most_devices; }

CUcontext context_of(int device) {
  Device& d = devices()[device];
  std::call_once(d.made, [&] {
    CUdevice handle = 0;
    CUcontext context = nullptr;
    require(driver().device_get(&handle, device), "cuda: finding the device");
    require(driver().primary_retain(&context, handle), "cuda: making the device's context");
    Properties& p = d.properties;
    p.capability = 10 * attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                   attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p.processors = attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p.threads = attribute(handle, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p.shared_bytes = attribute(handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p.most_shared_bytes = attribute(handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.cache_bytes = attribute(handle, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    d.context.store(context, std::memory_order_release);
  });
  return d.context.load(std::memory_order_acquire);
}

void enter(int device) {
  LAMELLA_CHECK(!in_forked_child(),
                "cuda: a forked child cannot use the devices of its parent; start it with the method 'spawn'");
  CUcontext wanted = devices()[device].context.load(std::memory_order_acquire), now = nullptr;
  if (__builtin_expect(!wanted, 0)) wanted = context_of(device);
  driver().context_get(&now);
  if (now != wanted) require(driver().context_set(wanted), "cuda: entering the device's context");
}

const Properties& properties_of(int device) {
  context_of(device);
  return devices()[device].properties;
}

namespace {

// Sets *out to the property with a name, or leaves *out as it is if there is none. The name begins with "cuda." if
// other devices have no such property.
lamella_status known(int device, std::string_view name, lamella_value* out) {
  CUdevice handle = 0;
  require(driver().device_get(&handle, device), "cuda: finding the device");
  if (name == "name") {
    char text[256] = "";
    require(driver().device_name(text, sizeof text, handle), "cuda: asking for the device's name");
    const std::string whole = text;
    const lamella_value borrowed = lamella::value(whole);
    return api().value_retain(&borrowed, out);
  }
  if (name == "uuid") {
    CUuuid id{};
    require(driver().device_uuid(&id, handle), "cuda: asking for the device's uuid");
    std::string text = "GPU-";
    for (int i = 0; i < 16; i++) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", id.bytes[i]);
      text += std::string(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + two;
    }
    const lamella_value borrowed = lamella::value(text);
    return api().value_retain(&borrowed, out);
  }
  size_t free = 0, total = 0;
  if (name == "memory.total") {
    require(driver().device_memory(&total, handle), "cuda: asking for the device's memory");
    return *out = lamella::value(static_cast<int64_t>(total)), LAMELLA_OK;
  }
  if (name == "memory.free") {
    enter(device);
    require(driver().memory_info(&free, &total), "cuda: asking for the device's memory");
    return *out = lamella::value(static_cast<int64_t>(free)), LAMELLA_OK;
  }
  static constexpr struct {
    const char* name;
    int attribute;
  } numbers[] = {{"cuda.multi_processor_count", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
                 {"cuda.major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
                 {"cuda.minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
                 {"cuda.max_threads_per_multi_processor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
                 {"cuda.shared_memory_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
                 {"cuda.shared_memory_per_block_optin", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
                 {"cuda.L2_cache_size", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE}};
  for (const auto& n : numbers)
    if (name == n.name) *out = lamella::value(static_cast<int64_t>(attribute(handle, n.attribute)));
  if (name == "cuda.driver_version") *out = lamella::value(static_cast<int64_t>(driver().version));
  return LAMELLA_OK;
}

}  // namespace

void add_properties(lamella_backend& b) {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  b.device_count = [](void*) -> int32_t { return device_count(); };
  b.property = [](void*, int32_t device, const char* name, lamella_value* out) -> lamella_status {
    return lamella::guarded([&]() -> lamella_status { return known(device, name, out); });
  };
}

}  // namespace cuda
