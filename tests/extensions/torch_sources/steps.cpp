// A step of an optimizer over lists of tensors, in place, for several dtypes.
#include <torch/torch.h>

#include <cmath>

void momentum_step_(at::TensorList params, at::TensorList grads, at::TensorList buffers, double lr, double momentum,
                    bool nesterov) {
  TORCH_CHECK(params.size() == grads.size() && params.size() == buffers.size(),
              "expected as many gradients and buffers as parameters");
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < params.size(); i++) {
    const at::Tensor &p = params[i], &g = grads[i], &b = buffers[i];
    if (!g.defined()) continue;
    TORCH_CHECK(p.is_contiguous() && g.is_contiguous() && b.is_contiguous());
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, p.scalar_type(), "momentum_step_", [&] {
      auto* param = p.mutable_data_ptr<scalar_t>();
      const auto* grad = g.const_data_ptr<scalar_t>();
      auto* buffer = b.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, p.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
        for (auto j = begin; j < end; j++) {
          const float value = static_cast<float>(grad[j]);
          const float kept = static_cast<float>(buffer[j]) * static_cast<float>(momentum) + value;
          buffer[j] = static_cast<scalar_t>(kept);
          const float step = nesterov ? value + static_cast<float>(momentum) * kept : kept;
          param[j] = static_cast<scalar_t>(static_cast<float>(param[j]) - static_cast<float>(lr) * step);
        }
      });
    });
  }
}

at::Tensor total_norm(at::TensorList grads, double order) {
  std::vector<at::Tensor> norms;
  for (const auto& g : grads)
    if (g.defined()) norms.push_back(g.norm(order));
  if (norms.empty()) return torch::tensor(0.0);
  return torch::stack(norms).norm(order);
}

TORCH_LIBRARY_FRAGMENT(steps, m) {
  m.def(
      "momentum_step_(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] buffers, float lr, float momentum=0.9, bool "
      "nesterov=False) -> ()");
  m.def("total_norm(Tensor[] grads, float order=2.0) -> Tensor", total_norm);
}
TORCH_LIBRARY_IMPL(steps, CPU, m) { m.impl("momentum_step_", momentum_step_); }
