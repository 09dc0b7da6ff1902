// A program without Python: loads the CPU backend and the example layer by path, and prints what the layer counts.
// Usage: program CPU_LIBRARY FLOPS_LIBRARY
#include <lattis/program.h>

#include <cstdio>

#include "flops.h"

static const lattis_api* api;

static int fail(const char* what) {
  const char* why = api->error_message();
  std::fprintf(stderr, "%s: %s\n", what, why ? why : "?");
  return 1;
}

static lattis_value tensor(int64_t rows, int64_t columns) {
  int64_t sizes[2] = {rows, columns};
  lattis_device cpu = {0, 0};
  api->find_backend("cpu", &cpu.backend);
  lattis_value v{LATTIS_TENSOR, 0, {0}};
  if (api->tensor_empty(2, sizes, nullptr, LATTIS_FLOAT32, cpu, &v.as.tensor)) v.tag = LATTIS_NONE;
  for (int64_t i = 0; v.tag && i < rows * columns; i++) static_cast<float*>(v.as.tensor->dl.data)[i] = 1;
  return v;
}

static lattis_status multiply(const char* name, const char* overload, lattis_value a, lattis_value b) {
  lattis_value args[2] = {a, b}, result{LATTIS_NONE, 0, {0}};
  lattis_status st = api->call(nullptr, api->find_operator(name, overload), args, 2, &result, 1);
  if (!st) api->value_release(&result);
  return st;
}

static int64_t total(const lattis_flops* flops) {
  int64_t sum = 0;
  for (int32_t i = 0; i < flops->entries(); i++) sum += flops->flops(i);
  return sum;
}

int main(int argc, char** argv) {
  api = lattis_get_api(LATTIS_TARGET_VERSION);
  for (int i = 1; i < argc; i++)
    if (lattis_load_plugin(argv[i])) return fail(argv[i]);
  auto* flops = static_cast<const lattis_flops*>(api->find_interface("flops", 1));
  if (!flops || api->find_interface("flops", 2)) return fail("interface");
  lattis_value a = tensor(5, 7), b = tensor(7, 3);
  if (multiply("aten::mm", "", a, b)) return fail("mm");
  std::printf("idle %lld\n", static_cast<long long>(total(flops)));
  flops->enable(1);
  if (multiply("aten::mm", "", a, b) || multiply("aten::mul", "Tensor", a, a)) return fail("a product");
  flops->enable(0);
  if (multiply("aten::mm", "", a, b)) return fail("mm");
  for (int32_t i = 0; i < flops->entries(); i++)
    std::printf("%s %lld\n", flops->name(i), static_cast<long long>(flops->flops(i)));
  flops->reset();
  if (total(flops) != 0) return fail("reset");
  api->value_release(&a);
  api->value_release(&b);
  return 0;
}
