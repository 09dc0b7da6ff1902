// Device `loom`, which has the primitives of docs/primitives.md alone: each kernel hands its work to the cpu over the
// same memory. After loom_arm(n) the n-th kernel from then on (from 0) fails in one of three ways, so that composites
// meet a failure of a vendor's kernel at each of their steps.
#include <lamella/extension.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

std::atomic<long> left{-1}, calls{0};
std::atomic<int> way{0};
int32_t loom = -1, cpu = -1;

lamella_status alloc(void*, int64_t bytes, int32_t, void*, void** out) {
  *out = std::malloc(static_cast<size_t>(bytes));
  return *out ? LAMELLA_OK : lamella::fail(LAMELLA_OUT_OF_MEMORY, "loom: no memory");
}
void release(void*, void* data, int64_t, int32_t) { std::free(data); }

lamella_status copy_bytes(void*, const lamella_copy* c, int32_t* done) {
  *done = 1;
  std::memcpy(c->dst, c->src, static_cast<size_t>(c->bytes));
  return LAMELLA_OK;
}

// The cpu's tensors over the memory of a call's tensors; the destructor releases them.
struct OnCpu {
  std::vector<lamella_tensor*> made;
  std::vector<std::vector<lamella_tensor*>> lists;

  ~OnCpu() {
    for (lamella_tensor* t : made) lamella::api().release(t);
  }
  lamella_tensor* of(lamella_tensor* t) {
    lamella_tensor* out = nullptr;
    const lamella_device device = {cpu, 0};
    if (!t) return nullptr;
    if (t->backend != loom) return t;
    if (lamella::api().tensor_from_blob(t->dl.data, t->dl.ndim, t->dl.shape, t->dl.strides, t->dtype, device, nullptr,
                                        nullptr, &out))
      throw std::runtime_error("loom: no cpu tensor over its memory");
    made.push_back(out);
    return out;
  }
  lamella_value of(lamella_value v) {
    if (v.tag == LAMELLA_TENSOR) v.as.tensor = of(v.as.tensor);
    if (v.tag == LAMELLA_DEVICE) v.as.device = {cpu, 0};
    return v;
  }
};

lamella_status write(const lamella_operator* copy, lamella_tensor* to, lamella_tensor* from) {
  const lamella_value args[3] = {lamella::value(to), lamella::value(from), lamella::value(false)};
  lamella_value result = lamella::none();
  const lamella_status st = lamella::api().call(nullptr, copy, args, 3, &result, 1);
  lamella::api().value_release(&result);
  return st;
}

lamella_status fail_now() {
  switch (way.load()) {
    case 0:
      return lamella::fail(LAMELLA_RUNTIME_ERROR, "queue full");
    case 1:
      throw std::runtime_error("queue full");
    default:
      return LAMELLA_VALUE_ERROR;  // returns an error status without an error
  }
}

lamella_status kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  static const lamella_operator* copy = lamella::api().find_operator("aten::copy_", "");
  calls++;
  if (left.load() >= 0 && left.fetch_sub(1) == 0) return fail_now();
  OnCpu cpus;
  std::vector<lamella_value> own(args, args + f->num_args), results(static_cast<size_t>(f->num_rets));
  for (lamella_value& v : own) v = cpus.of(v);
  // The functional kernel also serves in-place forms; its result is written into the first result tensor.
  const lamella_operator* op = lamella::api().operator_functional(f->op);
  const int32_t count = op ? lamella::api().operator_num_args(op) : f->num_args;
  lamella_status st = lamella::api().call(f, op ? op : f->op, own.data(), count, results.data(), f->num_rets);
  for (int i = 0; i < f->num_rets && !st; i++) {
    lamella_tensor* made = results[i].as.tensor;
    if (rets[i].tag != LAMELLA_TENSOR) {
      const lamella_device device = {loom, 0};
      lamella_tensor* out = nullptr;
      st = lamella::api().tensor_empty(made->dl.ndim, made->dl.shape, nullptr, made->dtype, device, &out);
      if (st) break;
      rets[i].tag = LAMELLA_TENSOR;
      rets[i].as.tensor = out;
    }
    lamella_tensor* to = cpus.of(rets[i].as.tensor);
    if (to->dl.data != made->dl.data) st = write(copy, to, made);
  }
  for (lamella_value& v : results) lamella::api().value_release(&v);
  return st;
}

}  // namespace

extern "C" {
void loom_arm(long n, int how) {
  way = how;
  left = n;
}
// Stops the failing; returns whether a kernel failed.
int loom_disarm() {
  const bool failed = left == -1;
  left = -1;
  return failed;
}
long loom_calls() { return calls.exchange(0); }
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  static const lamella_allocator memory = {sizeof memory, 0, nullptr, alloc, release, nullptr, nullptr, nullptr};
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "loom";
  b.dlpack_type = kDLExtDev;
  b.allocator = &memory;
  b.flags = LAMELLA_BACKEND_MIXED_DTYPES;
  b.copy = copy_bytes;
  m.backend(b, &loom);
  lamella::api().find_backend("cpu", &cpu);
  for (const char* name :
       {"copy_", "fill_.Scalar", "arange.start_step", "sum.dim_IntList", "prod.dim_int", "amax", "amin", "argmax",
        "cumsum", "bmm", "gather", "scatter_.src", "scatter_add_", "sort.stable", "nonzero", "_random_bits_"})
    m.impl(name, "loom", kernel);
  m.category("pointwise", "loom", kernel);
}
