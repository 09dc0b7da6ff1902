/* Pointwise activation functions. */
#ifndef LAMELLA_POINTWISE_ACTIVATIONS_H
#define LAMELLA_POINTWISE_ACTIVATIONS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* Functions of floating tensors, with vector forms inside, and without. */
template <int Params = 0>
struct Curve : Pointwise<1, FLOAT, Params> {
  static constexpr bool maths = true;
};
template <int Params = 0>
using Broken = Pointwise<1, FLOAT, Params>;

/* NaN stays NaN. */
struct relu : Pointwise<1, REAL> {
  template <class T>
  static T apply(T x) {
    return where(x < number<T>(0), number<T>(0), x);
  }
};

struct sigmoid : Maths<1> {
  template <class T>
  static T apply(T x) {
    if constexpr (is_floating<T>) { /* exp(-|x|) does not overflow, so the left tail goes down to the smallest number */
      const T e = exp_(-abs_(x)), s = number<T>(1) / (number<T>(1) + e);
      return where(x < number<T>(0), e * s, s);
    } else {
      return number<T>(1) / (number<T>(1) + exp_(-x));
    }
  }
};

struct log_sigmoid : Curve<> {
  template <class T>
  static T apply(T x) {
    return where(x < number<T>(0), x, number<T>(0)) - log1p_(exp_(-abs_(x)));
  }
};

struct silu : Curve<> {
  template <class T>
  static T apply(T x) {
    return x / (number<T>(1) + exp_(-x));
  }
};

struct gelu : Curve<> {
  template <class T>
  static T apply(T x) {
    return x * normal_cdf_(x);
  }
};

struct gelu_tanh : Curve<> {
  template <class T>
  static T apply(T x) {
    const T inner = number<T>(0.79788456080286536) * (x + number<T>(0.044715) * x * x * x);
    return number<T>(0.5) * x * (number<T>(1) + tanh_(inner));
  }
};

struct softplus : Curve<2> {
  template <class T>
  static T apply(T x, T beta, T threshold) {
    const T scaled = x * beta;
    return where(scaled > threshold, x, log1p_(exp_(scaled)) / beta);
  }
};

/* x * tanh(log(1 + e^x)), where tanh and the logarithm cancel. */
struct mish : Curve<> {
  template <class T>
  static T apply(T x) {
    const T e = exp_(where(x > number<T>(20), number<T>(20), x)), w = e * (e + number<T>(2));
    return x * (w / (w + number<T>(2)));
  }
};

struct leaky_relu : Broken<1> {
  template <class T>
  static T apply(T x, T slope) {
    return where(x > number<T>(0), x, x * slope);
  }
};

struct elu : Curve<3> {
  template <class T>
  static T apply(T x, T alpha, T scale, T input_scale) {
    return where(x > number<T>(0), x * scale, expm1_(x * input_scale) * (alpha * scale));
  }
};

struct selu : Curve<> {
  template <class T>
  static T apply(T x) {
    return elu::apply(x, number<T>(1.6732632423543772848), number<T>(1.0507009873554804934), number<T>(1));
  }
};

struct celu : Curve<1> {
  template <class T>
  static T apply(T x, T alpha) {
    return where(x > number<T>(0), x, expm1_(x / alpha) * alpha);
  }
};

struct hardtanh : Pointwise<1, REAL, 2> {
  template <class T>
  static T apply(T x, T low, T high) {
    T y = where(x < low, low, x);
    return where(y > high, high, y);
  }
};

struct relu6 : Pointwise<1, REAL> {
  template <class T>
  static T apply(T x) {
    return hardtanh::apply(x, number<T>(0), number<T>(6));
  }
};

struct hardsigmoid : Broken<> {
  template <class T>
  static T apply(T x) {
    return hardtanh::apply(x + number<T>(3), number<T>(0), number<T>(6)) / number<T>(6);
  }
};

struct hardswish : Broken<> {
  template <class T>
  static T apply(T x) {
    return x * hardtanh::apply(x + number<T>(3), number<T>(0), number<T>(6)) / number<T>(6);
  }
};

struct hardshrink : Broken<1> {
  template <class T>
  static T apply(T x, T lambda) {
    return where(x >= -lambda && x <= lambda, number<T>(0), x);
  }
};

struct softshrink : Broken<1> {
  template <class T>
  static T apply(T x, T lambda) {
    return where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * number<T>(0)));
  }
};

struct tanhshrink : Curve<> {
  template <class T>
  static T apply(T x) {
    return x - tanh_(x);
  }
};

struct threshold : Pointwise<1, REAL, 2> {
  template <class T>
  static T apply(T x, T limit, T value) {
    return where(x <= limit, value, x);
  }
};

}  // namespace
}  // namespace lamella::pointwise

#define LAMELLA_POINTWISE_ACTIVATIONS(X) \
  X(relu, "relu")                        \
  X(sigmoid, "sigmoid")                  \
  X(log_sigmoid, "log_sigmoid")          \
  X(silu, "silu")                        \
  X(gelu, "_gelu")                       \
  X(gelu_tanh, "_gelu_tanh")             \
  X(softplus, "softplus")                \
  X(mish, "mish")                        \
  X(leaky_relu, "leaky_relu")            \
  X(elu, "elu")                          \
  X(selu, "selu")                        \
  X(celu, "celu")                        \
  X(hardtanh, "hardtanh")                \
  X(relu6, "relu6")                      \
  X(hardsigmoid, "hardsigmoid")          \
  X(hardswish, "hardswish")              \
  X(hardshrink, "hardshrink")            \
  X(softshrink, "softshrink")            \
  X(tanhshrink, "tanhshrink")            \
  X(threshold, "threshold")

#endif
