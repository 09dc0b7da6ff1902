#include "derivatives.h"

namespace lattis::autograd {

const std::vector<Line> product_derivatives = {
    {"mm", "self: mm(grad, conj(t(mat2))); mat2: mm(conj(t(self)), grad)"},
    {"bmm", "self: bmm(grad, conj(transpose(mat2, 1, 2))); mat2: bmm(conj(transpose(self, 1, 2)), grad)"},
    {"mv", "self: unsqueeze(grad, 1) * conj(vec); vec: mv(conj(t(self)), grad)"},
    {"dot", "self: grad * conj(tensor); tensor: grad * conj(self)"},
    {"addmm",
     "self: grad * conj(beta); mat1: mm(grad, conj(t(mat2))) * conj(alpha); mat2: mm(conj(t(mat1)), grad) * "
     "conj(alpha)"},
    {"linear", "input: matmul(grad, conj(weight)); weight: _linear_weight_backward(grad, input); bias: grad"}};

const std::vector<Line> network_derivatives = {};

}  // namespace lattis::autograd
