// A stranger who calls operators through the C ABI: how long one call of two one-element tensors takes.
#define LATTIS_PLUGIN_NAME "benchmark caller"
#include <lattis/library.h>

#include <chrono>

using lattis::api;

LATTIS_LIBRARY(bench_caller, m) { (void)m; }

extern "C" __attribute__((visibility("default"))) double nanoseconds_a_call(const char* name, const char* overload,
                                                                            int32_t num_args, int64_t calls) {
  int64_t one = 1;
  lattis_device cpu{};
  lattis_tensor* t;
  const lattis_operator* op = api().find_operator(name, overload);
  if (!op || api().find_backend("cpu", &cpu.backend) || api().tensor_empty(1, &one, nullptr, LATTIS_FLOAT32, cpu, &t))
    return -1;
  *static_cast<float*>(t->dl.data) = 1;
  const lattis_value args[] = {lattis::value(t), lattis::value(t), lattis::value(1)};
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; i++) {
    lattis_value ret;
    if (api().call(nullptr, op, args, num_args, &ret, 1)) return -1;
    if (ret.tag != LATTIS_NONE) api().value_release(&ret);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  api().release(t);
  return took.count() / static_cast<double>(calls);
}
