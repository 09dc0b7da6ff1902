// Rotary embeddings with indices written as in Python, and a Function under the key Autograd.
#include <torch/extension.h>

using namespace torch::indexing;

namespace rotary {

at::Tensor rotate_cpu(const at::Tensor& x, const at::Tensor& angles, bool conjugate) {
  const int64_t half = x.size(-1) / 2;
  const auto sine = conjugate ? -angles.sin() : angles.sin(), cosine = angles.cos();
  const auto a = x.index({"...", Slice(None, half)}), b = x.index({Ellipsis, Slice(half, None)});
  auto out = torch::empty_like(x);
  out.index_put_({Ellipsis, Slice(None, half)}, a * cosine - b * sine);
  out.index_put_({"...", Slice(half)}, a * sine + b * cosine);
  return out;
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& angles, bool conjugate) {
  static auto op = torch::Dispatcher::singleton().findSchemaOrThrow("rotary::rotate", "").typed<decltype(rotate)>();
  return op.call(x, angles, conjugate);
}

struct Rotate : public torch::autograd::Function<Rotate> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& angles,
                            bool conjugate) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({angles});
    ctx->saved_data["conjugate"] = conjugate;
    return rotate(x, angles, conjugate);
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    const auto angles = ctx->get_saved_variables()[0];
    return {rotate(grads[0], angles, !ctx->saved_data["conjugate"].toBool()), at::Tensor(), at::Tensor()};
  }
};

at::Tensor rotate_autograd(const at::Tensor& x, const at::Tensor& angles, bool conjugate) {
  return Rotate::apply(x, angles, conjugate);
}

}  // namespace rotary

TORCH_LIBRARY(rotary, m) { m.def("rotate(Tensor x, Tensor angles, bool conjugate=False) -> Tensor"); }
TORCH_LIBRARY_IMPL(rotary, CPU, m) { m.impl("rotate", &rotary::rotate_cpu); }
TORCH_LIBRARY_IMPL(rotary, Autograd, m) { m.impl("rotate", &rotary::rotate_autograd); }
