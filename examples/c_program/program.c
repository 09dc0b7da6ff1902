/* A program in plain C99, without Python: it links liblamella.so, loads the CPU backend and an extension by path, calls
 * operators of both, and shows what an error looks like. Usage: program LIBLAMELLA_CPU.SO EXTENSION.SO */
#include <lamella/program.h>
#include <stdio.h>

static const lamella_api* api;

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, api->error_message());
  return 1;
}

static lamella_value of(lamella_tensor* t) {
  lamella_value v = {LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}

int main(int argc, char** argv) {
  const int64_t sizes[2] = {2, 3};
  lamella_device cpu = {0, 0};
  lamella_tensor* x;
  lamella_value args[2], doubled, sum;
  int i;

  if (argc != 3) return fprintf(stderr, "usage: %s LIBLAMELLA_CPU.SO EXTENSION.SO\n", argv[0]), 2;
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  if (!api) return fprintf(stderr, "this liblamella.so is too old or too new for the program\n"), 1;
  for (i = 1; i < argc; i++)
    if (lamella_load_plugin(argv[i])) return failed("loading");

  if (api->find_backend("cpu", &cpu.backend)) return failed("device");
  if (api->tensor_empty(2, sizes, NULL, LAMELLA_FLOAT32, cpu, &x)) return failed("empty");
  for (i = 0; i < 6; i++) ((float*)x->dl.data)[i] = (float)i;

  args[0] = of(x);
  if (api->call(NULL, api->find_operator("demo::twice", ""), args, 1, &doubled, 1)) return failed("twice");
  args[1] = doubled;
  /* alpha is not given, so it gets its default */
  if (api->call(NULL, api->find_operator("aten::add", "Tensor"), args, 2, &sum, 1)) return failed("add");
  for (i = 0; i < 6; i++) printf("%g ", ((float*)sum.as.tensor->dl.data)[i]);
  printf("\n");
  api->value_release(&sum);
  api->value_release(&doubled);

  args[1] = of(NULL);
  args[1].tag = LAMELLA_NONE;
  if (!api->call(NULL, api->find_operator("aten::matmul", ""), args, 2, &sum, 1)) return 1;
  printf("error %d: %s\n", (int)api->error_kind(), api->error_message());
  api->error_clear();
  api->release(x);
  return 0;
}
