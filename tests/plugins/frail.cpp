// Device `frail`, which fails on command: an allocator, copies that fail half way, kernels that report an error at once
// or at the next wait, and a device that is withdrawn. Tests control it by ctypes.
#include <lamella/extension.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

using lamella::api;

static lamella_library* library = nullptr;
static std::string broken, late;
static int64_t blocks = 0;

EXPORT void break_(const char* what) { broken = what; }
EXPORT int64_t live_blocks() { return blocks; }
EXPORT void disappear() {
  api().library_close(library);
  library = nullptr;
}

static lamella_status fails(const char* what) {
  return broken == what ? lamella::fail(LAMELLA_RUNTIME_ERROR, std::string(what) + ": broken") : LAMELLA_OK;
}
static lamella_status alloc(void*, int64_t bytes, int32_t, void*, void** out) {
  if (broken == "alloc") return lamella::fail(LAMELLA_OUT_OF_MEMORY, "alloc: no room");
  if (broken == "mute") return LAMELLA_OUT_OF_MEMORY;  // a status without an error
  *out = std::malloc(static_cast<size_t>(bytes));
  blocks++;
  return LAMELLA_OK;
}
static void release(void*, void* data, int64_t, int32_t) {
  std::free(data);
  blocks--;
}
static lamella_status move(const char* what, void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(broken == what ? bytes / 2 : bytes));
  return fails(what);
}
static lamella_status synchronize(void*, int32_t) {
  if (late.empty()) return LAMELLA_OK;
  const std::string message = late;
  late.clear();
  return lamella::fail(LAMELLA_INDEX_ERROR, message);
}
static lamella_status copy(void* context, const lamella_copy* c, int32_t* done) {
  if (!(c->flags & (LAMELLA_COPY_FROM_HOST | LAMELLA_COPY_TO_HOST))) return *done = 0, LAMELLA_OK;
  if (c->flags & LAMELLA_COPY_FROM_HOST) return move("copy_from_host", c->dst, c->src, c->bytes);
  if (lamella_status st = synchronize(context, c->from.index)) return st;
  return move("copy_to_host", c->dst, c->src, c->bytes);
}

// neg of dense float32: fails before it writes, or reports an error later and writes nothing.
static lamella_status neg(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  if (lamella_status st = fails("kernel")) return st;
  if (broken == "throw") throw std::runtime_error("thrown by neg");
  if (broken == "throw a number") throw 42;
  if (broken == "throw in parallel")
    return lamella::parallel_for(0, 8, 1, [](int64_t begin, int64_t) -> lamella_status {
      if (begin > 0) throw std::bad_alloc();
      return LAMELLA_OK;
    });
  if (broken == "late") return late = "neg: a late error", LAMELLA_OK;
  const auto* in = static_cast<const float*>(args[0].as.tensor->dl.data);
  for (int64_t i = 0; i < rets[0].as.tensor->numel; i++) static_cast<float*>(rets[0].as.tensor->dl.data)[i] = -in[i];
  return LAMELLA_OK;
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  library = m.handle();
  static const lamella_allocator memory = {sizeof memory, 0, nullptr, alloc, release, nullptr, nullptr, nullptr};
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "frail";
  b.dlpack_type = kDLExtDev;
  b.allocator = &memory;
  b.copy = copy;
  b.synchronize = synchronize;
  m.backend(b, nullptr);
  m.impl("neg", "frail", neg);
}
