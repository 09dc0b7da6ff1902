/* Gradients of pointwise functions in one pass, from grad_output and the function's input or its output. At a kink
 * they have torch's choice among the slopes of both sides, and at NaN torch's among those of all pieces: NaN passes no
 * comparison, so the comparisons below name the pieces that it is not on. */
#ifndef LAMELLA_POINTWISE_BACKWARD_H
#define LAMELLA_POINTWISE_BACKWARD_H

#include <lamella/pointwise/activations.h>
#include <lamella/pointwise/functions.h>

namespace lamella::pointwise {
namespace {

/* Bases of gradients of floating tensors, as Curve and Broken. */
template <int Params = 0>
using CurveBackward = Curve<Params, 2>;
template <int Params = 0>
using BrokenBackward = Pointwise<2, FLOAT, Params>;

struct tanh_backward : Pointwise<2, FLOAT | COMPLEX> {
  static constexpr Signature signatures[] = {{"tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of tanh, of its output."}};
  template <class T>
  static T apply(T grad, T y) {
    return grad * conj_physical::apply(number<T>(1) - y * y);
  }
};

struct sigmoid_backward : Pointwise<2, FLOAT | COMPLEX> {
  static constexpr Signature signatures[] = {{"sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of sigmoid, of its output."}};
  template <class T>
  static T apply(T grad, T y) {
    return grad * conj_physical::apply((number<T>(1) - y) * y);
  }
};

struct log_sigmoid_backward : CurveBackward<> {
  static constexpr Signature signatures[] = {{"_log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of log_sigmoid."}};
  template <class T>
  static T apply(T grad, T x) {
    return grad / (number<T>(1) + exp_(x));
  }
};

struct silu_backward : CurveBackward<> {
  static constexpr Signature signatures[] = {
      {"silu_backward(Tensor grad_output, Tensor self) -> Tensor", PRIVATE | FUNCTION, "The gradient of silu."}};
  template <class T>
  static T apply(T grad, T x) {
    const T s = number<T>(1) / (number<T>(1) + exp_(-x));
    return grad * (s * (number<T>(1) + x * (number<T>(1) - s)));
  }
};

/* Uses the names of mish: tanh(log(1 + e^x)) = w / (w + 2). */
struct mish_backward : CurveBackward<> {
  static constexpr Signature signatures[] = {
      {"mish_backward(Tensor grad_output, Tensor self) -> Tensor", PRIVATE | FUNCTION, "The gradient of mish."}};
  template <class T>
  static T apply(T grad, T x) {
    const T low = where(x > number<T>(20), number<T>(20), x), e = exp_(low);
    const T w = e * (e + number<T>(2)), scale = number<T>(1) / (w + number<T>(2));
    return grad * (w * scale + number<T>(4) * low * (e * scale) * ((e + number<T>(1)) * scale));
  }
};

/* The slope is normal_cdf(x) + x * density(x), of the normal distribution. */
struct gelu_backward : CurveBackward<> {
  static constexpr Signature signatures[] = {
      {"_gelu_backward(Tensor grad_output, Tensor self) -> Tensor", PRIVATE | FUNCTION, "The gradient of _gelu."}};
  template <class T>
  static T apply(T grad, T x) {
    const T density = exp_(number<T>(-0.5) * x * x) * number<T>(0.39894228040143268);
    return grad * (normal_cdf_(x) + x * density);
  }
};

struct gelu_tanh_backward : CurveBackward<> {
  static constexpr Signature signatures[] = {{"_gelu_tanh_backward(Tensor grad_output, Tensor self) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of _gelu_tanh."}};
  template <class T>
  static T apply(T grad, T x) {
    const T beta = number<T>(0.79788456080286536), cubic = number<T>(0.044715), square = x * x;
    const T t = tanh_(beta * (x + cubic * square * x));
    const T slope = (number<T>(1) - t * t) * (beta * (number<T>(1) + number<T>(3) * cubic * square));
    return grad * (number<T>(0.5) * ((number<T>(1) + t) + x * slope));
  }
};

struct softplus_backward : CurveBackward<2> {
  static constexpr Signature signatures[] = {
      {"softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
       PRIVATE | FUNCTION, "The gradient of softplus."}};
  template <class T>
  static T apply(T grad, T x, T beta, T threshold) {
    const T scaled = x * beta;
    return where(scaled > threshold, grad, grad / (number<T>(1) + exp_(-scaled)));
  }
};

struct elu_backward : CurveBackward<3> {
  static constexpr Signature signatures[] = {
      {"_elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar input_scale) -> Tensor",
       PRIVATE | FUNCTION, "The gradient of elu; of selu and celu too, by other numbers."}};
  template <class T>
  static T apply(T grad, T x, T alpha, T scale, T input_scale) {
    return where(x <= number<T>(0), grad * (exp_(x * input_scale) * (alpha * scale * input_scale)), grad * scale);
  }
};

/* x may be the result instead of the input if the slope is not negative, since then both are positive together. */
struct leaky_relu_backward : BrokenBackward<2> {
  static constexpr Signature signatures[] = {
      {"leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor",
       PRIVATE | FUNCTION, "The gradient of leaky_relu, of its input, or of its result if the slope is not negative."}};
  template <class T>
  static T apply(T grad, T x, T slope, T) {
    return where(x > number<T>(0), grad, grad * slope);
  }
};

struct threshold_backward : Pointwise<2, REAL, 1> {
  static constexpr Signature signatures[] = {
      {"threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor", PRIVATE | FUNCTION,
       R"(The gradient where self exceeds the threshold, else 0; of relu, whose threshold is 0, also by its result.)"}};
  template <class T>
  static T apply(T grad, T x, T limit) {
    return where(x <= limit, number<T>(0), grad);
  }
};

struct hardtanh_backward : BrokenBackward<2> {
  static constexpr Signature signatures[] = {
      {"hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
       PRIVATE | FUNCTION, "The gradient of hardtanh: 0 from where it is limited on."}};
  template <class T>
  static T apply(T grad, T x, T low, T high) {
    return where(x <= low || x >= high, number<T>(0), grad);
  }
};

struct hardsigmoid_backward : BrokenBackward<> {
  static constexpr Signature signatures[] = {{"hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of hardsigmoid."}};
  template <class T>
  static T apply(T grad, T x) {
    return where(x > number<T>(-3) && x < number<T>(3), grad / number<T>(6), number<T>(0));
  }
};

struct hardswish_backward : BrokenBackward<> {
  static constexpr Signature signatures[] = {{"hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
                                              PRIVATE | FUNCTION, "The gradient of hardswish."}};
  template <class T>
  static T apply(T grad, T x) {
    const T bent = grad * (x / number<T>(3) + number<T>(0.5));
    return where(x <= number<T>(-3), number<T>(0), where(x < number<T>(3), bent, grad));
  }
};

/* The derivative of hardshrink and softshrink. */
struct shrink_backward : BrokenBackward<1> {
  static constexpr Signature signatures[] = {
      {"hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor", PRIVATE | FUNCTION,
       "The gradient of hardshrink."},
      {"softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", PRIVATE | FUNCTION,
       "The gradient of softshrink."}};
  template <class T>
  static T apply(T grad, T x, T lambda) {
    return where(x >= -lambda && x <= lambda, number<T>(0), grad);
  }
};

struct native_dropout_backward : BrokenBackward<1> {
  static constexpr Signature signatures[] = {
      {"native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", PRIVATE | FUNCTION,
       "grad_output * mask * scale: what dropout does to its input, and to the gradient."}};
  template <class T>
  static T apply(T grad, T mask, T scale) {
    return grad * mask * scale;
  }
};

using backward =
    Family<tanh_backward, sigmoid_backward, log_sigmoid_backward, silu_backward, mish_backward, gelu_backward,
           gelu_tanh_backward, softplus_backward, elu_backward, leaky_relu_backward, threshold_backward,
           hardtanh_backward, hardsigmoid_backward, hardswish_backward, shrink_backward, native_dropout_backward>;

}  // namespace
}  // namespace lamella::pointwise
#endif
