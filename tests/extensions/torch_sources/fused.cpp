// Operators of a package with an empty Python module, whose import registers them.
#include <Python.h>
#include <ATen/Operators.h>
#include <torch/all.h>
#include <torch/library.h>

extern "C" {
PyObject* PyInit_fused(void) {
  static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "fused", NULL, -1, NULL, NULL, NULL, NULL, NULL};
  return PyModule_Create(&definition);
}
}

namespace fused {

static void check_pair(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes(), "shapes ", a.sizes(), " and ", b.sizes());
  TORCH_CHECK(a.dtype() == at::kFloat && b.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
}

// a * b + c
at::Tensor axpy_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
  check_pair(a, b);
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  at::Tensor result = torch::empty(x.sizes(), x.options());
  const auto *from = x.data_ptr<float>(), *with = y.data_ptr<float>();
  auto* to = result.mutable_data_ptr<float>();
  for (int64_t i = 0, n = result.numel(); i < n; i++) to[i] = from[i] * with[i] + static_cast<float>(c);
  return result;
}

void sum_into_cpu(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  check_pair(a, b);
  TORCH_CHECK(out.is_contiguous() && a.is_contiguous() && b.is_contiguous());
  for (int64_t i = 0; i < out.numel(); i++)
    out.data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[i];
}

TORCH_LIBRARY(fused, m) {
  m.impl_abstract_pystub("fused.rules");
  m.def("axpy(Tensor a, Tensor b, float c) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("fused::product(Tensor a, Tensor b) -> Tensor");
  m.def("sum_into(Tensor a, Tensor b, Tensor(a!) out) -> ()");
}

TORCH_LIBRARY_IMPL(fused, CPU, m) {
  m.impl("axpy", &axpy_cpu);
  m.impl("product", [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); });
  m.impl("sum_into", &sum_into_cpu);
}

}  // namespace fused
