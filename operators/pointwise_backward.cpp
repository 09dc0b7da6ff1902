// Gradients of pointwise functions: schemas and documentation. The meaning is in <lamella/pointwise/backward.h>.
#include "operators/pointwise.h"

#define GRADIENT(schema, Op, doc) \
  { schema " -> Tensor", "pointwise", hidden | function, nullptr, nullptr, doc, meaning<p::Op>() }

namespace lamella::operators {
namespace {

void check_mask(const Tensor&, const Tensor& mask, double) {
  LAMELLA_CHECK(mask.dtype() == kBool, "argument 'mask': expected a bool tensor, got ", mask.dtype());
}

}  // namespace

std::vector<Declaration> backward_operators() {
  namespace p = lamella::pointwise;
  return {
      GRADIENT("tanh_backward(Tensor grad_output, Tensor output)", tanh_backward,
               "The gradient of tanh, of its output."),
      GRADIENT("sigmoid_backward(Tensor grad_output, Tensor output)", sigmoid_backward,
               "The gradient of sigmoid, of its output."),
      GRADIENT("_log_sigmoid_backward(Tensor grad_output, Tensor self)", log_sigmoid_backward,
               "The gradient of log_sigmoid."),
      GRADIENT("silu_backward(Tensor grad_output, Tensor self)", silu_backward, "The gradient of silu."),
      GRADIENT("mish_backward(Tensor grad_output, Tensor self)", mish_backward, "The gradient of mish."),
      GRADIENT("_gelu_backward(Tensor grad_output, Tensor self)", gelu_backward, "The gradient of _gelu."),
      GRADIENT("_gelu_tanh_backward(Tensor grad_output, Tensor self)", gelu_tanh_backward,
               "The gradient of _gelu_tanh."),
      GRADIENT("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold)", softplus_backward,
               "The gradient of softplus."),
      GRADIENT("_elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar input_scale)",
               elu_backward, "The gradient of elu; of selu and celu too, by other numbers."),
      GRADIENT("leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result)",
               leaky_relu_backward,
               "The gradient of leaky_relu, of its input, or of its result if the slope is not negative."),
      GRADIENT("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold)", threshold_backward,
               "The gradient where self exceeds the threshold, else 0; of relu, whose threshold is 0, also by its "
               "result."),
      GRADIENT("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val)", hardtanh_backward,
               "The gradient of hardtanh: 0 from where it is limited on."),
      GRADIENT("hardsigmoid_backward(Tensor grad_output, Tensor self)", hardsigmoid_backward,
               "The gradient of hardsigmoid."),
      GRADIENT("hardswish_backward(Tensor grad_output, Tensor self)", hardswish_backward, "The gradient of hardswish."),
      GRADIENT("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd)", shrink_backward,
               "The gradient of hardshrink."),
      GRADIENT("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd)", shrink_backward,
               "The gradient of softshrink."),
      {"native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", "pointwise",
       hidden | function, pointwise_shape<check_mask>, nullptr,
       "grad_output * mask * scale: what dropout does to its input, and to the gradient.",
       meaning<p::native_dropout_backward>()},
  };
}

}  // namespace lamella::operators
