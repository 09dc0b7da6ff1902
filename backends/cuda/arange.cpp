// arange.start_step, in float64 if one of its numbers is a float, else in int64.
#include "launch.h"

namespace cuda {
namespace {

template <class Made>
lamella_status run(const lamella_tensor* out, Made start, Made step) {
  static Kernels kernels("arange.cu");
  Kernel& kernel = kernels.get({out->dtype, std::is_same_v<Made, double>}, [&] {
    return text("arange<", std::is_same_v<Made, double> ? "double" : "int64_t", ", ", type_name(out->dtype), ">");
  });
  const void* data = out->dl.data;
  const int64_t n = out->numel;
  return launch(kernel, out, blocks_for(out, n, 256), {256}, 0, data, n, start, step);
}

lamella_status arange_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    const lamella_tensor* out = rets[0].as.tensor;
    lamella::Tensor beside;
    if (!(out->flags & LAMELLA_CONTIGUOUS)) {
      lamella_tensor* raw = nullptr;
      lamella::check(
          api().tensor_empty(out->dl.ndim, out->dl.shape, nullptr, out->dtype, lamella::device_of(out), &raw));
      beside = lamella::Tensor::steal(raw);
    }
    const lamella_tensor* to = beside.defined() ? beside.get() : out;
    bool real = false;
    for (int k = 0; k < 3; k++) real = real || args[k].tag == LAMELLA_FLOAT;
    const lamella_status st = real ? run(to, lamella::as_double(args[0]), lamella::as_double(args[2]))
                                   : run(to, lamella::as_int(args[0]), lamella::as_int(args[2]));
    if (st || to == out) return st;
    static lamella::detail::Callee copy{"aten::copy_", ""};
    copy.written({rets[0], lamella::value(beside.get())});
    return LAMELLA_OK;
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) { m.impl("arange.start_step", "cuda", arange_kernel); }

}  // namespace cuda
