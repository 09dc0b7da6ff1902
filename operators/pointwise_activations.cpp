// Activation functions: schemas and documentation. The meaning is in <lamella/pointwise/activations.h>.
#include "operators/pointwise.h"

namespace lamella::operators {
std::vector<Declaration> activation_operators() {
  namespace p = lamella::pointwise;
  return {
      UNARY("relu", relu,
            "max(self, 0), element by element; NaN stays NaN.\n\n>>> lamella.relu(lamella.tensor([-1., "
            "2.]))\ntensor([0., 2.])\n"),
      {"sigmoid(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "1 / (1 + e^-self).\n\n>>> lamella.sigmoid(lamella.tensor([-1., 0., 2.]))\ntensor([0.2689, 0.5000, 0.8808])\n",
       meaning<p::sigmoid>()},
      {"log_sigmoid(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "log(sigmoid(self)), without overflow on the way.\n\n>>> lamella.ops.aten.log_sigmoid(lamella.tensor([-1., 0., "
       "2.]))\ntensor([-1.3133, -0.6931, -0.1269])\n",
       meaning<p::log_sigmoid>()},
      {"silu(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "self * sigmoid(self).\n\n>>> lamella.ops.aten.silu(lamella.tensor([-1., 0., 2.]))\ntensor([-0.2689,  0.0000,  "
       "1.7616])\n",
       meaning<p::silu>()},
      {"_gelu(Tensor self) -> Tensor", "pointwise", hidden | inplace | out, nullptr, nullptr,
       "gelu by the error function.", meaning<p::gelu>()},
      {"_gelu_tanh(Tensor self) -> Tensor", "pointwise", hidden | inplace | out, nullptr, nullptr,
       "gelu by its approximation with tanh.", meaning<p::gelu_tanh>()},
      {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", "pointwise",
       hidden | function | inplace | out, nullptr, nullptr,
       "log(1 + e^(beta self)) / beta, and self where beta self exceeds the threshold.\n\n>>> "
       "lamella.ops.aten.softplus(lamella.tensor([-1., 0., 2.]))\ntensor([0.3133, 0.6931, 2.1269])\n",
       meaning<p::softplus>()},
      {"mish(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "self * tanh(log(1 + e^self)).\n\n>>> lamella.ops.aten.mish(lamella.tensor([-1., 0., 2.]))\ntensor([-0.3034,  "
       "0.0000,  1.9440])\n",
       meaning<p::mish>()},
      {"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", "pointwise", hidden | function | inplace | out,
       nullptr, nullptr,
       "self where it is positive, else negative_slope * self.\n\n>>> lamella.ops.aten.leaky_relu(lamella.tensor([-1., "
       "0., 2.]))\ntensor([-0.0100,  0.0000,  2.0000])\n",
       meaning<p::leaky_relu>()},
      {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", "pointwise",
       hidden | function | inplace | out, nullptr, nullptr,
       "scale * self where it is positive, else alpha * scale * (e^(input_scale * self) - 1).\n\n>>> "
       "lamella.ops.aten.elu(lamella.tensor([-1., 0., 2.]))\ntensor([-0.6321,  0.0000,  2.0000])\n",
       meaning<p::elu>()},
      {"selu(Tensor self) -> Tensor", "pointwise", function | inplace | out, nullptr, nullptr,
       "elu with the constants that keep mean and variance.\n\n>>> lamella.selu(lamella.tensor([-1., 0., "
       "2.]))\ntensor([-1.1113,  0.0000,  2.1014])\n",
       meaning<p::selu>()},
      {"celu(Tensor self, Scalar alpha=1.0) -> Tensor", "pointwise", function | inplace | out, nullptr, nullptr,
       "self where it is positive, else alpha * (e^(self / alpha) - 1).\n\n>>> lamella.celu(lamella.tensor([-1., 0., "
       "2.]))\ntensor([-0.6321,  0.0000,  2.0000])\n",
       meaning<p::celu>()},
      {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", "pointwise",
       hidden | function | inplace | out, nullptr, nullptr,
       "self limited to [min_val, max_val].\n\n>>> lamella.ops.aten.hardtanh(lamella.tensor([-1., 0., "
       "2.]))\ntensor([-1.,  0.,  1.])\n",
       meaning<p::hardtanh>()},
      {"relu6(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "self limited to [0, 6].\n\n>>> lamella.ops.aten.relu6(lamella.tensor([-1., 0., 2.]))\ntensor([0., 0., 2.])\n",
       meaning<p::relu6>()},
      {"hardsigmoid(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "relu6(self + 3) / 6.\n\n>>> lamella.ops.aten.hardsigmoid(lamella.tensor([-1., 0., 2.]))\ntensor([0.3333, "
       "0.5000, "
       "0.8333])\n",
       meaning<p::hardsigmoid>()},
      {"hardswish(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "self * relu6(self + 3) / 6.\n\n>>> lamella.ops.aten.hardswish(lamella.tensor([-1., 0., 2.]))\ntensor([-0.3333, "
       " "
       "0.0000,  1.6667])\n",
       meaning<p::hardswish>()},
      {"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "0 where |self| is at most lambd, else self.\n\n>>> lamella.hardshrink(lamella.tensor([-1., 0., "
       "2.]))\ntensor([-1.,  0.,  2.])\n",
       meaning<p::hardshrink>()},
      {"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr,
       nullptr,
       "self moved toward 0 by lambd, and 0 where it is nearer.\n\n>>> "
       "lamella.ops.aten.softshrink(lamella.tensor([-1., "
       "0., 2.]))\ntensor([-0.5000,  0.0000,  1.5000])\n",
       meaning<p::softshrink>()},
      {"tanhshrink(Tensor self) -> Tensor", "pointwise", hidden | function | inplace | out, nullptr, nullptr,
       "self - tanh(self).\n\n>>> lamella.ops.aten.tanhshrink(lamella.tensor([-1., 0., 2.]))\ntensor([-0.2384,  "
       "0.0000,  "
       "1.0360])\n",
       meaning<p::tanhshrink>()},
      {"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", "pointwise", function | inplace | out,
       nullptr, nullptr,
       "self where it exceeds the threshold, else value.\n\n>>> lamella.threshold(lamella.tensor([-1., 0.5, 2.]), 1, "
       "0)\ntensor([0., 0., 2.])\n",
       meaning<p::threshold>()},
  };
}

}  // namespace lamella::operators
