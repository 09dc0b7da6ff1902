// A recurrent cell in the style of torch's C++ tutorial: a module with a forward and a backward for
// torch.autograd.Function.
#include <torch/extension.h>

#include <vector>

namespace {

// The gates' activations; their order in the weights is input, output, candidate.
struct Gates {
  torch::Tensor in, out, candidate;
  explicit Gates(const torch::Tensor& linear) {
    const auto parts = linear.chunk(3, 1);
    in = torch::sigmoid(parts[0]);
    out = torch::sigmoid(parts[1]);
    candidate = torch::elu(parts[2], /*alpha=*/1.0);
  }
};

torch::Tensor elu_slope(const torch::Tensor& x, const torch::Scalar& alpha = 1.0) {
  const auto rising = (x > 0).type_as(x);
  return rising + (1 - rising) * alpha * torch::exp(x.clamp_max(0));
}

}  // namespace

std::vector<torch::Tensor> cell_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias,
                                        torch::Tensor hidden, torch::Tensor cell) {
  TORCH_CHECK(input.size(0) == hidden.size(0), "cell: input has ", input.size(0), " rows, hidden ", hidden.size(0));
  auto joined = torch::cat({hidden, input}, /*dim=*/1);
  auto linear = torch::addmm(bias, joined, weights.t());
  const Gates g(linear);
  auto next = cell + g.candidate * g.in;
  return {torch::tanh(next) * g.out, next, joined, linear};
}

std::vector<torch::Tensor> cell_backward(torch::Tensor grad_hidden, torch::Tensor grad_cell, torch::Tensor next,
                                         torch::Tensor joined, torch::Tensor linear, torch::Tensor weights) {
  const Gates g(linear);
  const auto squashed = next.tanh();
  auto into_cell = grad_hidden * g.out * (1 - squashed.pow(2)) + grad_cell;
  auto of_in = into_cell * g.candidate * g.in * (1 - g.in);
  auto of_out = grad_hidden * squashed * g.out * (1 - g.out);
  auto of_candidate = into_cell * g.in * elu_slope(linear.slice(/*dim=*/1, 2 * linear.size(1) / 3));
  auto of_linear = at::cat({of_in, of_out, of_candidate}, 1);
  auto of_joined = of_linear.mm(weights);
  const int64_t width = grad_hidden.size(1);
  return {of_joined.slice(1, width), of_linear.t().mm(joined), of_linear.sum(/*dim=*/0, /*keepdim=*/true),
          of_joined.slice(1, 0, width), into_cell};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &cell_forward, "a step of the cell");
  m.def("backward", &cell_backward, "its gradients");
}
