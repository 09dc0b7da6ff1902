// Kernels of the cpu that each break one rule of LAMELLA_CHECK_KERNELS=1, and a correct kernel.
#include <lamella/extension.h>

namespace {

float* data(const lamella_tensor* t) { return static_cast<float*>(t->dl.data); }

lamella_status replace(lamella_value* ret, int32_t dtype, int64_t rows) {
  const int64_t sizes[2] = {rows, 3};
  const lamella_device device = {ret->as.tensor->backend, 0};
  lamella_tensor* made;
  if (lamella_status st = lamella::api().tensor_empty(2, sizes, nullptr, dtype, device, &made)) return st;
  lamella::api().value_release(ret);
  *ret = lamella::value(made);
  return LAMELLA_OK;
}

lamella_status good(lamella_frame*, const lamella_value*, lamella_value* rets) {
  for (int i = 0; i < 6; i++) data(rets[0].as.tensor)[i] = 1;
  return LAMELLA_OK;
}
lamella_status argument(lamella_frame*, const lamella_value* args, lamella_value*) {
  data(args[0].as.tensor)[1] = 7;
  return LAMELLA_OK;
}
lamella_status before(lamella_frame*, const lamella_value*, lamella_value* rets) {
  data(rets[0].as.tensor)[-1] = 7;
  return LAMELLA_OK;
}
lamella_status behind(lamella_frame*, const lamella_value*, lamella_value* rets) {
  data(rets[0].as.tensor)[6] = 7;
  return LAMELLA_OK;
}
lamella_status dtype(lamella_frame*, const lamella_value*, lamella_value* rets) {
  return replace(&rets[0], LAMELLA_FLOAT64, 2);
}
lamella_status shape(lamella_frame*, const lamella_value*, lamella_value* rets) {
  return replace(&rets[0], LAMELLA_FLOAT32, 3);
}
lamella_status nothing(lamella_frame*, const lamella_value*, lamella_value* rets) {
  lamella::api().value_release(&rets[0]);
  return LAMELLA_OK;
}
lamella_status strides(lamella_frame*, const lamella_value*, lamella_value* rets) {
  const int64_t sizes[2] = {2, 3}, by[2] = {1, 2};
  return lamella::api().tensor_resize(rets[0].as.tensor, 2, sizes, by);
}

}  // namespace

LAMELLA_LIBRARY(planted, m) {
  const std::pair<const char*, lamella_kernel> kernels[] = {
      {"good", good},   {"argument", argument}, {"before", before},   {"behind", behind},
      {"dtype", dtype}, {"shape", shape},       {"nothing", nothing}, {"strides", strides}};
  for (const auto& [name, kernel] : kernels) {
    m.def((std::string(name) + "(Tensor self) -> Tensor").c_str());
    m.infer(name, [](const lamella::Tensor& self, lamella::Output out) { out.like(self); });
    m.impl(name, "cpu", kernel);
  }
}
