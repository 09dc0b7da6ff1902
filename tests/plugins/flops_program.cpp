// A program without Python: loads the CPU backend and the example layer by path, and prints the layer's counts.
// Usage: program CPU_LIBRARY FLOPS_LIBRARY
#include <lamella/program.h>

#include <cstdio>

#include "flops.h"

static const lamella_api* api;

static int fail(const char* what) {
  const char* why = api->error_message();
  std::fprintf(stderr, "%s: %s\n", what, why ? why : "?");
  return 1;
}

static lamella_value tensor(int64_t rows, int64_t columns) {
  int64_t sizes[2] = {rows, columns};
  lamella_device cpu = {0, 0};
  api->find_backend("cpu", &cpu.backend);
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  if (api->tensor_empty(2, sizes, nullptr, LAMELLA_FLOAT32, cpu, &v.as.tensor)) v.tag = LAMELLA_NONE;
  for (int64_t i = 0; v.tag && i < rows * columns; i++) static_cast<float*>(v.as.tensor->dl.data)[i] = 1;
  return v;
}

static lamella_status multiply(const char* name, const char* overload, lamella_value a, lamella_value b) {
  lamella_value args[2] = {a, b}, result{LAMELLA_NONE, 0, {0}};
  lamella_status st = api->call(nullptr, api->find_operator(name, overload), args, 2, &result, 1);
  if (!st) api->value_release(&result);
  return st;
}

static int64_t total(const lamella_flops* flops) {
  int64_t sum = 0;
  for (int32_t i = 0; i < flops->entries(); i++) sum += flops->flops(i);
  return sum;
}

int main(int argc, char** argv) {
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  for (int i = 1; i < argc; i++)
    if (lamella_load_plugin(argv[i])) return fail(argv[i]);
  auto* flops = static_cast<const lamella_flops*>(api->find_interface("flops", 1));
  if (!flops || api->find_interface("flops", 2)) return fail("interface");
  lamella_value a = tensor(5, 7), b = tensor(7, 3);
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
