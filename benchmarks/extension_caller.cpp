// A library that measures the time of a call of an operator through the C ABI, with two tensors of one element.
#define LAMELLA_PLUGIN_NAME "benchmark caller"
#include <lamella/library.h>

#include <chrono>

using lamella::api;

LAMELLA_LIBRARY(bench_caller, m) { (void)m; }

extern "C" __attribute__((visibility("default"))) double nanoseconds_a_call(const char* name, const char* overload,
                                                                            int32_t num_args, int64_t calls) {
  int64_t one = 1;
  lamella_device cpu{};
  lamella_tensor* t;
  const lamella_operator* op = api().find_operator(name, overload);
  if (!op || api().find_backend("cpu", &cpu.backend) || api().tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, cpu, &t))
    return -1;
  *static_cast<float*>(t->dl.data) = 1;
  const lamella_value args[] = {lamella::value(t), lamella::value(t), lamella::value(1)};
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; i++) {
    lamella_value ret;
    if (api().call(nullptr, op, args, num_args, &ret, 1)) return -1;
    if (ret.tag != LAMELLA_NONE) api().value_release(&ret);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  api().release(t);
  return took.count() / static_cast<double>(calls);
}
