// A causal convolution as a module with optional arguments and the usual macros for checks.
#include <torch/extension.h>

#define CHECK_SHAPE(x, ...) \
  TORCH_CHECK(x.sizes() == torch::IntArrayRef({__VA_ARGS__}), #x " must have shape (" #__VA_ARGS__ ")")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x)   \
  do {                   \
    CHECK_CONTIGUOUS(x); \
  } while (0)

at::Tensor causal_forward(const at::Tensor& x, const at::Tensor& weight, const c10::optional<at::Tensor>& bias_,
                          bool silu_activation) {
  CHECK_INPUT(x);
  const int batch_size = x.size(0), dim = x.size(1), seqlen = x.size(2);
  const int width = weight.size(-1);
  CHECK_SHAPE(x, batch_size, dim, seqlen);
  CHECK_SHAPE(weight, dim, width);
  TORCH_CHECK(width >= 2 && width <= 4, "causal_forward only supports width between 2 and 4");
  if (bias_.has_value()) {
    auto bias = bias_.value();
    TORCH_CHECK(bias.scalar_type() == weight.scalar_type());
    TORCH_CHECK(bias.stride(-1) == 1);
    CHECK_SHAPE(bias, dim);
  }
  at::Tensor out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "causal_forward", [&] {
    const auto a = x.accessor<scalar_t, 3>();
    const auto w = weight.accessor<scalar_t, 2>();
    auto o = out.accessor<scalar_t, 3>();
    for (int b = 0; b < batch_size; b++)
      for (int c = 0; c < dim; c++)
        for (int t = 0; t < seqlen; t++) {
          scalar_t sum = bias_ ? bias_->index({c}).item<scalar_t>() : scalar_t(0);
          for (int k = 0; k < width; k++)
            if (t - width + 1 + k >= 0) sum += w[c][k] * a[b][c][t - width + 1 + k];
          o[b][c][t] = sum;
        }
  });
  return silu_activation ? at::silu(out) : out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("causal_forward", &causal_forward, py::arg("x"), py::arg("weight"), py::arg("bias") = py::none(),
        py::arg("silu_activation") = false);
}
