/* Pointwise activation functions. */
#ifndef LAMELLA_POINTWISE_ACTIVATIONS_H
#define LAMELLA_POINTWISE_ACTIVATIONS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* Bases of functions of floating tensors: `apply` of a Curve calls functions that have vector forms, `apply` of a
 * Broken calls none. */
template <int Params = 0, int Inputs = 1>
struct Curve : Pointwise<Inputs, FLOAT, Params> {
  static constexpr bool maths = true;
};
template <int Params = 0>
using Broken = Pointwise<1, FLOAT, Params>;

/* NaN stays NaN. */
struct relu : Pointwise<1, REAL> {
  static constexpr Signature signatures[] = {{"relu(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(max(self, 0), element by element; NaN stays NaN.

>>> lamella.relu(lamella.tensor([-1., 2.]))
tensor([0., 2.])
)"}};
  template <class T>
  static T apply(T x) {
    return where(x < number<T>(0), number<T>(0), x);
  }
};

struct sigmoid : Maths<1> {
  static constexpr Signature signatures[] = {{"sigmoid(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(1 / (1 + e^-self).

>>> lamella.sigmoid(lamella.tensor([-1., 0., 2.]))
tensor([0.2689, 0.5000, 0.8808])
)"}};
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
  static constexpr Signature signatures[] = {{"log_sigmoid(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(log(sigmoid(self)), without overflow on the way.

>>> lamella.ops.aten.log_sigmoid(lamella.tensor([-1., 0., 2.]))
tensor([-1.3133, -0.6931, -0.1269])
)"}};
  template <class T>
  static T apply(T x) {
    return where(x < number<T>(0), x, number<T>(0)) - log1p_(exp_(-abs_(x)));
  }
};

struct silu : Curve<> {
  static constexpr Signature signatures[] = {{"silu(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self * sigmoid(self).

>>> lamella.ops.aten.silu(lamella.tensor([-1., 0., 2.]))
tensor([-0.2689,  0.0000,  1.7616])
)"}};
  template <class T>
  static T apply(T x) {
    return x / (number<T>(1) + exp_(-x));
  }
};

struct gelu : Curve<> {
  static constexpr Signature signatures[] = {
      {"_gelu(Tensor self) -> Tensor", PRIVATE | INPLACE | OUT, "gelu by the error function."}};
  template <class T>
  static T apply(T x) {
    return x * normal_cdf_(x);
  }
};

struct gelu_tanh : Curve<> {
  static constexpr Signature signatures[] = {
      {"_gelu_tanh(Tensor self) -> Tensor", PRIVATE | INPLACE | OUT, "gelu by its approximation with tanh."}};
  template <class T>
  static T apply(T x) {
    const T inner = number<T>(0.79788456080286536) * (x + number<T>(0.044715) * x * x * x);
    return number<T>(0.5) * x * (number<T>(1) + tanh_(inner));
  }
};

struct softplus : Curve<2> {
  static constexpr Signature signatures[] = {
      {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
       R"(log(1 + e^(beta self)) / beta, and self where beta self exceeds the threshold.

>>> lamella.ops.aten.softplus(lamella.tensor([-1., 0., 2.]))
tensor([0.3133, 0.6931, 2.1269])
)"}};
  template <class T>
  static T apply(T x, T beta, T threshold) {
    const T scaled = x * beta;
    return where(scaled > threshold, x, log1p_(exp_(scaled)) / beta);
  }
};

/* x * tanh(log(1 + e^x)) without tanh and log: with w = e^x * (e^x + 2), tanh(log(1 + e^x)) is w / (w + 2). */
struct mish : Curve<> {
  static constexpr Signature signatures[] = {{"mish(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self * tanh(log(1 + e^self)).

>>> lamella.ops.aten.mish(lamella.tensor([-1., 0., 2.]))
tensor([-0.3034,  0.0000,  1.9440])
)"}};
  template <class T>
  static T apply(T x) {
    const T e = exp_(where(x > number<T>(20), number<T>(20), x)), w = e * (e + number<T>(2));
    return x * (w / (w + number<T>(2)));
  }
};

struct leaky_relu : Broken<1> {
  static constexpr Signature signatures[] = {{"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
                                              PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self where it is positive, else negative_slope * self.

>>> lamella.ops.aten.leaky_relu(lamella.tensor([-1., 0., 2.]))
tensor([-0.0100,  0.0000,  2.0000])
)"}};
  template <class T>
  static T apply(T x, T slope) {
    return where(x > number<T>(0), x, x * slope);
  }
};

struct elu : Curve<3> {
  static constexpr Signature signatures[] = {
      {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
       PRIVATE | FUNCTION | INPLACE | OUT,
       R"(scale * self where it is positive, else alpha * scale * (e^(input_scale * self) - 1).

>>> lamella.ops.aten.elu(lamella.tensor([-1., 0., 2.]))
tensor([-0.6321,  0.0000,  2.0000])
)"}};
  template <class T>
  static T apply(T x, T alpha, T scale, T input_scale) {
    return where(x > number<T>(0), x * scale, expm1_(x * input_scale) * (alpha * scale));
  }
};

struct selu : Curve<> {
  static constexpr Signature signatures[] = {{"selu(Tensor self) -> Tensor", FUNCTION | INPLACE | OUT,
                                              R"(elu with the constants that keep mean and variance.

>>> lamella.selu(lamella.tensor([-1., 0., 2.]))
tensor([-1.1113,  0.0000,  2.1014])
)"}};
  template <class T>
  static T apply(T x) {
    return elu::apply(x, number<T>(1.6732632423543772848), number<T>(1.0507009873554804934), number<T>(1));
  }
};

struct celu : Curve<1> {
  static constexpr Signature signatures[] = {{"celu(Tensor self, Scalar alpha=1.0) -> Tensor", FUNCTION | INPLACE | OUT,
                                              R"(self where it is positive, else alpha * (e^(self / alpha) - 1).

>>> lamella.celu(lamella.tensor([-1., 0., 2.]))
tensor([-0.6321,  0.0000,  2.0000])
)"}};
  template <class T>
  static T apply(T x, T alpha) {
    return where(x > number<T>(0), x, expm1_(x / alpha) * alpha);
  }
};

struct hardtanh : Pointwise<1, REAL, 2> {
  static constexpr Signature signatures[] = {{"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                                              PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self limited to [min_val, max_val].

>>> lamella.ops.aten.hardtanh(lamella.tensor([-1., 0., 2.]))
tensor([-1.,  0.,  1.])
)"}};
  template <class T>
  static T apply(T x, T low, T high) {
    return at_most(at_least(x, low), high);
  }
};

struct relu6 : Pointwise<1, REAL> {
  static constexpr Signature signatures[] = {{"relu6(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self limited to [0, 6].

>>> lamella.ops.aten.relu6(lamella.tensor([-1., 0., 2.]))
tensor([0., 0., 2.])
)"}};
  template <class T>
  static T apply(T x) {
    return hardtanh::apply(x, number<T>(0), number<T>(6));
  }
};

struct hardsigmoid : Broken<> {
  static constexpr Signature signatures[] = {{"hardsigmoid(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(relu6(self + 3) / 6.

>>> lamella.ops.aten.hardsigmoid(lamella.tensor([-1., 0., 2.]))
tensor([0.3333, 0.5000, 0.8333])
)"}};
  template <class T>
  static T apply(T x) {
    return hardtanh::apply(x + number<T>(3), number<T>(0), number<T>(6)) / number<T>(6);
  }
};

struct hardswish : Broken<> {
  static constexpr Signature signatures[] = {{"hardswish(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self * relu6(self + 3) / 6.

>>> lamella.ops.aten.hardswish(lamella.tensor([-1., 0., 2.]))
tensor([-0.3333,  0.0000,  1.6667])
)"}};
  template <class T>
  static T apply(T x) {
    return x * hardtanh::apply(x + number<T>(3), number<T>(0), number<T>(6)) / number<T>(6);
  }
};

struct hardshrink : Broken<1> {
  static constexpr Signature signatures[] = {{"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", EVERYWHERE | OUT,
                                              R"(0 where |self| is at most lambd, else self.

>>> lamella.hardshrink(lamella.tensor([-1., 0., 2.]))
tensor([-1.,  0.,  2.])
)"}};
  template <class T>
  static T apply(T x, T lambda) {
    return where(x >= -lambda && x <= lambda, number<T>(0), x);
  }
};

struct softshrink : Broken<1> {
  static constexpr Signature signatures[] = {{"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                                              PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self moved toward 0 by lambd, and 0 where it is nearer.

>>> lamella.ops.aten.softshrink(lamella.tensor([-1., 0., 2.]))
tensor([-0.5000,  0.0000,  1.5000])
)"}};
  template <class T>
  static T apply(T x, T lambda) {
    return where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * number<T>(0)));
  }
};

struct tanhshrink : Curve<> {
  static constexpr Signature signatures[] = {{"tanhshrink(Tensor self) -> Tensor", PRIVATE | FUNCTION | INPLACE | OUT,
                                              R"(self - tanh(self).

>>> lamella.ops.aten.tanhshrink(lamella.tensor([-1., 0., 2.]))
tensor([-0.2384,  0.0000,  1.0360])
)"}};
  template <class T>
  static T apply(T x) {
    return x - tanh_(x);
  }
};

struct threshold : Pointwise<1, REAL, 2> {
  static constexpr Signature signatures[] = {{"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                                              FUNCTION | INPLACE | OUT,
                                              R"(self where it exceeds the threshold, else value.

>>> lamella.threshold(lamella.tensor([-1., 0.5, 2.]), 1, 0)
tensor([0., 0., 2.])
)"}};
  template <class T>
  static T apply(T x, T limit, T value) {
    return where(x <= limit, value, x);
  }
};

using activations =
    Family<relu, sigmoid, log_sigmoid, silu, gelu, gelu_tanh, softplus, mish, leaky_relu, elu, selu, celu, hardtanh,
           relu6, hardsigmoid, hardswish, hardshrink, softshrink, tanhshrink, threshold>;

}  // namespace
}  // namespace lamella::pointwise
#endif
