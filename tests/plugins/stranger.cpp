// A native library of another package, for the tests: a kernel over aten::add that is withdrawn, calls through the C
// ABI, many backends and layers. Tests call its functions by ctypes; Lamella calls only lamella_plugin_init.
#include <lamella/extension.h>

#include <cstdlib>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

using lamella::api;

static lamella_library* library = nullptr;
static lamella_handle stacked = 0;
static int64_t calls = 0;

// A kernel that fills its result with 42.
static lamella_status answer(lamella_frame*, const lamella_value*, lamella_value* rets) {
  const lamella_tensor* out = rets[0].as.tensor;
  calls++;
  for (int64_t i = 0; i < out->numel; i++) static_cast<float*>(out->dl.data)[i] = 42;
  return LAMELLA_OK;
}

// Puts the kernel over an operator; `key` is "cpu" or a layer's name.
EXPORT int stack(const char* op) {
  const lamella_kernel_def d = {sizeof d, 0, answer, nullptr, __FILE__, __LINE__, 0};
  return api().kernel(library, op, "cpu", &d, &stacked);
}
EXPORT int withdraw() { return api().withdraw(stacked); }
EXPORT int64_t called() { return calls; }

// aten::add through the table, of two one-element tensors that hold x and y; NaN after an error.
EXPORT float add(float x, float y) {
  int64_t one = 1;
  lamella_device cpu{};
  lamella_value args[3] = {lamella::none(), lamella::none(), lamella::value(1)}, out = lamella::none();
  float result = __builtin_nanf("");
  if (api().find_backend("cpu", &cpu.backend)) return result;
  for (int i = 0; i < 2; i++) {
    if (api().tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, cpu, &args[i].as.tensor)) return result;
    args[i].tag = LAMELLA_TENSOR;
    *static_cast<float*>(args[i].as.tensor->dl.data) = i ? y : x;
  }
  if (!api().call(nullptr, api().find_operator("aten::add", "Tensor"), args, 3, &out, 1))
    result = *static_cast<float*>(out.as.tensor->dl.data);
  api().value_release(&out);
  for (int i = 0; i < 2; i++) api().value_release(&args[i]);
  return result;
}

/* ---- many backends and layers ------------------------------------------------------------------------------- */

static lamella_status alloc(void*, int64_t bytes, int32_t, void*, void** out) {
  *out = std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64));
  return *out ? LAMELLA_OK : api().raise(LAMELLA_OUT_OF_MEMORY, "crowd: no memory");
}
static void release(void*, void* data, int64_t, int32_t) { std::free(data); }
static lamella_status transfer(void*, const lamella_copy* c, int32_t* done) {
  if (!(c->flags & (LAMELLA_COPY_FROM_HOST | LAMELLA_COPY_TO_HOST))) return *done = 0, LAMELLA_OK;
  std::memcpy(c->dst, c->src, static_cast<size_t>(c->bytes));
  return LAMELLA_OK;
}

// A device with a kernel for add; the kernel's context is the number that it fills in.
static lamella_status number(lamella_frame* f, const lamella_value*, lamella_value* rets) {
  const lamella_tensor* out = rets[0].as.tensor;
  for (int64_t i = 0; i < out->numel; i++)
    static_cast<float*>(out->dl.data)[i] = static_cast<float>(reinterpret_cast<intptr_t>(f->context));
  return LAMELLA_OK;
}

EXPORT int add_backend(const char* name, int n) {
  static const lamella_allocator memory = {sizeof memory, 0, nullptr, alloc, release, nullptr, nullptr, nullptr};
  lamella_backend b{};
  b.size = sizeof b;
  b.name = name;
  b.dlpack_type = kDLExtDev;
  b.allocator = &memory;
  b.copy = transfer;
  if (lamella_status st = api().backend(library, &b, nullptr, nullptr)) return st;
  const lamella_kernel_def d = {sizeof d, 0,        number, reinterpret_cast<void*>(static_cast<intptr_t>(n)),
                                __FILE__, __LINE__, 3};
  return api().kernel(library, "add.Tensor", name, &d, nullptr);
}

// Layers that count a call and pass it on.
static std::vector<int64_t*> seen;
static lamella_status pass(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  ++*const_cast<int64_t*>(static_cast<const int64_t*>(f->context));
  return api().redispatch(f, args, f->num_args, rets, f->num_rets);
}

EXPORT int add_layer(const char* name, const char* at) {
  lamella_layer l{};
  l.size = sizeof l;
  l.name = name;
  l.at = at;
  l.fallback = pass;
  seen.push_back(new int64_t(0));
  l.context = seen.back();
  int32_t bit = -1;
  return api().layer(library, &l, &bit, nullptr) ? -1 : bit;
}
EXPORT int64_t layer_calls(int i) { return *seen[static_cast<size_t>(i)]; }
EXPORT void include(uint64_t bits) { api().thread()->include |= bits; }
EXPORT void close_all() {
  api().library_close(library);
  library = nullptr;
}
EXPORT const char* error() {
  const char* message = api().error_message();
  return message ? message : "";
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) { library = m.handle(); }

#ifdef FAILS
/* The compiler chooses the order of the blocks: in either one, a kernel is registered before a block fails. */
LAMELLA_LIBRARY_FRAGMENT(aten, m) { m.impl("add.Tensor", "cpu", answer); }
LAMELLA_LIBRARY_FRAGMENT(aten, m) { m.impl("add.Tensor", "cpu", answer).impl("no_such_operator", "cpu", answer); }
#endif
