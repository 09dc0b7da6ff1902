// Operators of an extension, in one source for Lamella and torch: an addition, an operator that does nothing, and a
// composite. LAMELLA_PEER_TORCH selects torch, whose header and macros have other names.
#ifdef LAMELLA_PEER_TORCH
#include <torch/extension.h>
#define PEER torch
#define DEFINE(m) TORCH_LIBRARY(bench_extension, m)
#define IMPLEMENT(m) TORCH_LIBRARY_IMPL(bench_extension, CPU, m)
#else
#include <lamella/extension.h>
#define PEER lamella
#define DEFINE(m) LAMELLA_LIBRARY(bench_extension, m)
#define IMPLEMENT(m) LAMELLA_LIBRARY_IMPL(bench_extension, cpu, m)
#endif

namespace {

using PEER::Tensor;

void sum(const Tensor& x, const Tensor& y, const Tensor& out) {
  const float *a = x.const_data_ptr<float>(), *b = y.const_data_ptr<float>();
  float* c = out.mutable_data_ptr<float>();
  for (int64_t i = 0, n = out.numel(); i < n; i++) c[i] = a[i] + b[i];
}

Tensor noop(const Tensor& x) { return x; }
Tensor composed(const Tensor& x, const Tensor& y) { return x + y; }

#ifdef LAMELLA_PEER_TORCH
Tensor add(const Tensor& x, const Tensor& y) {
  Tensor out = torch::empty_like(x);
  sum(x, y, out);
  return out;
}
#else
// The addition as a kernel of the C ABI. Its time shows what the adapter of the C++ function `sum` costs.
lamella_status raw(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const auto *a = static_cast<const float*>(args[0].as.tensor->dl.data),
             *b = static_cast<const float*>(args[1].as.tensor->dl.data);
  auto* c = static_cast<float*>(rets[0].as.tensor->dl.data);
  for (int64_t i = 0, n = rets[0].as.tensor->numel; i < n; i++) c[i] = a[i] + b[i];
  return LAMELLA_OK;
}
#endif

}  // namespace

DEFINE(m) {
  m.def("add(Tensor self, Tensor other) -> Tensor");
  m.def("noop(Tensor self) -> Tensor");
  m.def("composed(Tensor self, Tensor other) -> Tensor", composed);
#ifndef LAMELLA_PEER_TORCH
  m.def("raw(Tensor self, Tensor other) -> Tensor");
  for (const char* op : {"add", "raw"})
    m.infer(op, [](const Tensor& self, const Tensor& other, lamella::Output out) {
      LAMELLA_CHECK(self.sizes() == other.sizes(), "add: the shapes differ");
      out.set(self.sizes(), self.dtype());
    });
#endif
}

IMPLEMENT(m) {
#ifdef LAMELLA_PEER_TORCH
  m.impl("add", add);
#else
  m.impl("add", sum);
  m.impl("raw", raw);
#endif
  m.impl("noop", noop);
}
