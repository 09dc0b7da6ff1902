/* Gradients of pointwise functions in one pass: of grad_output, and of the function's input or its output. At a kink
 * they have torch's choice among the slopes of both sides. */
#ifndef LAMELLA_POINTWISE_BACKWARD_H
#define LAMELLA_POINTWISE_BACKWARD_H

#include <lamella/pointwise/activations.h>
#include <lamella/pointwise/functions.h>

namespace lamella::pointwise {
namespace {

/* Derivatives of floating tensors: with functions inside that have vector forms, and without. */
template <int Params = 0>
struct CurveBackward : Pointwise<2, FLOAT, Params> {
  static constexpr bool maths = true;
};
template <int Params = 0>
using BrokenBackward = Pointwise<2, FLOAT, Params>;

struct tanh_backward : Pointwise<2, FLOAT | COMPLEX> {
  template <class T>
  static T apply(T grad, T y) {
    return grad * conj_physical::apply(number<T>(1) - y * y);
  }
};

struct sigmoid_backward : Pointwise<2, FLOAT | COMPLEX> {
  template <class T>
  static T apply(T grad, T y) {
    return grad * conj_physical::apply((number<T>(1) - y) * y);
  }
};

struct log_sigmoid_backward : CurveBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    return grad / (number<T>(1) + exp_(x));
  }
};

struct silu_backward : CurveBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    const T s = number<T>(1) / (number<T>(1) + exp_(-x));
    return grad * (s * (number<T>(1) + x * (number<T>(1) - s)));
  }
};

/* With the names of mish: tanh(log(1 + e^x)) = w / (w + 2). */
struct mish_backward : CurveBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    const T low = where(x > number<T>(20), number<T>(20), x), e = exp_(low);
    const T w = e * (e + number<T>(2)), scale = number<T>(1) / (w + number<T>(2));
    return grad * (w * scale + number<T>(4) * low * (e * scale) * ((e + number<T>(1)) * scale));
  }
};

/* The normal distribution's function and x times its density. */
struct gelu_backward : CurveBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    const T density = exp_(number<T>(-0.5) * x * x) * number<T>(0.39894228040143268);
    return grad * (normal_cdf_(x) + x * density);
  }
};

struct gelu_tanh_backward : CurveBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    const T beta = number<T>(0.79788456080286536), cubic = number<T>(0.044715), square = x * x;
    const T t = tanh_(beta * (x + cubic * square * x));
    const T slope = (number<T>(1) - t * t) * (beta * (number<T>(1) + number<T>(3) * cubic * square));
    return grad * (number<T>(0.5) * ((number<T>(1) + t) + x * slope));
  }
};

struct softplus_backward : CurveBackward<2> {
  template <class T>
  static T apply(T grad, T x, T beta, T threshold) {
    const T scaled = x * beta;
    return where(scaled > threshold, grad, grad / (number<T>(1) + exp_(-scaled)));
  }
};

struct elu_backward : CurveBackward<3> {
  template <class T>
  static T apply(T grad, T x, T alpha, T scale, T input_scale) {
    return where(x > number<T>(0), grad * scale, grad * (exp_(x * input_scale) * (alpha * scale * input_scale)));
  }
};

/* The slope is that of the result too, for both have one sign. */
struct leaky_relu_backward : BrokenBackward<2> {
  template <class T>
  static T apply(T grad, T x, T slope, T) {
    return where(x > number<T>(0), grad, grad * slope);
  }
};

struct threshold_backward : Pointwise<2, REAL, 1> {
  template <class T>
  static T apply(T grad, T x, T limit) {
    return where(x <= limit, number<T>(0), grad);
  }
};

struct hardtanh_backward : BrokenBackward<2> {
  template <class T>
  static T apply(T grad, T x, T low, T high) {
    return where(x > low && x < high, grad, number<T>(0));
  }
};

struct hardsigmoid_backward : BrokenBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    return where(x > number<T>(-3) && x < number<T>(3), grad / number<T>(6), number<T>(0));
  }
};

struct hardswish_backward : BrokenBackward<> {
  template <class T>
  static T apply(T grad, T x) {
    const T bent = grad * (x / number<T>(3) + number<T>(0.5));
    return where(x <= number<T>(-3), number<T>(0), where(x >= number<T>(3), grad, bent));
  }
};

/* hardshrink's and softshrink's. */
struct shrink_backward : BrokenBackward<1> {
  template <class T>
  static T apply(T grad, T x, T lambda) {
    return where(x < -lambda || x > lambda, grad, number<T>(0));
  }
};

struct native_dropout_backward : BrokenBackward<1> {
  template <class T>
  static T apply(T grad, T mask, T scale) {
    return grad * mask * scale;
  }
};

}  // namespace
}  // namespace lamella::pointwise

#define LAMELLA_POINTWISE_BACKWARD(X)                           \
  X(tanh_backward, "tanh_backward")                             \
  X(sigmoid_backward, "sigmoid_backward")                       \
  X(log_sigmoid_backward, "_log_sigmoid_backward")              \
  X(silu_backward, "silu_backward")                             \
  X(mish_backward, "mish_backward")                             \
  X(gelu_backward, "_gelu_backward")                            \
  X(gelu_tanh_backward, "_gelu_tanh_backward")                  \
  X(softplus_backward, "softplus_backward")                     \
  X(elu_backward, "_elu_backward")                              \
  X(leaky_relu_backward, "leaky_relu_backward")                 \
  X(threshold_backward, "threshold_backward")                   \
  X(hardtanh_backward, "hardtanh_backward")                     \
  X(hardsigmoid_backward, "hardsigmoid_backward")               \
  X(hardswish_backward, "hardswish_backward")                   \
  X(shrink_backward, "hardshrink_backward softshrink_backward") \
  X(native_dropout_backward, "native_dropout_backward")

#endif
