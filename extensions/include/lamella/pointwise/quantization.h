/* Numbers rounded to the values of integers with a scale, and the gradients of that. A quotient is rounded to an
 * integer, halves to the even one; NaN becomes the lower bound, as where integers are kept. */
#ifndef LAMELLA_POINTWISE_QUANTIZATION_H
#define LAMELLA_POINTWISE_QUANTIZATION_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* The number of steps within [low, high]; NaN gives low. */
template <class T>
inline T steps_within(T steps, T low, T high) {
  const T least = where(steps > low, steps, low);
  return where(least < high, least, high);
}

struct fake_quantize : Pointwise<1, FLOAT, 3> {
  static constexpr Signature signatures[] = {
      {"_fake_quantize(Tensor self, float scale, float low, float high) -> Tensor", PRIVATE | FUNCTION,
       "The multiple of scale nearest to self, from low * scale to high * scale."}};
  template <class T>
  static T apply(T x, T scale, T low, T high) {
    return steps_within(round_(x / scale), low, high) * scale;
  }
};
struct fake_quantize_backward : Pointwise<2, FLOAT, 3> {
  static constexpr Signature signatures[] = {
      {"_fake_quantize_backward(Tensor grad_output, Tensor self, float scale, float low, float high) -> Tensor",
       PRIVATE | FUNCTION,
       "grad_output where self, rounded to a multiple of scale, is within low * scale and high * scale; else 0."}};
  template <class T>
  static T apply(T grad, T x, T scale, T low, T high) {
    const T steps = round_(x / scale);
    return where(steps >= low && steps <= high, grad, number<T>(0));
  }
};

/* The same with scales and zero points that are tensors. A zero point is rounded to an integer and bounded. */
struct fake_quantize_by : Pointwise<3, FLOAT, 2> {
  static constexpr Signature signatures[] = {
      {"_fake_quantize_by(Tensor self, Tensor scale, Tensor zero_point, float low, float high) -> Tensor",
       PRIVATE | FUNCTION,
       "The multiple of scale nearest to self, whose code, with the zero point, is from low to high."}};
  template <class T>
  static T apply(T x, T scale, T zero, T low, T high) {
    const T z = steps_within(round_(zero), low, high);
    return steps_within(round_(x / scale), low - z, high - z) * scale;
  }
};
struct fake_quantize_inside : Pointwise<3, FLOAT, 2> {
  static constexpr Signature signatures[] = {
      {"_fake_quantize_inside(Tensor self, Tensor scale, Tensor zero_point, float low, float high) -> Tensor",
       PRIVATE | FUNCTION, "1 where the code of self, with the zero point, is from low to high; else 0."}};
  template <class T>
  static T apply(T x, T scale, T zero, T low, T high) {
    const T z = steps_within(round_(zero), low, high), steps = round_(x / scale);
    return where(steps >= low - z && steps <= high - z, number<T>(1), number<T>(0));
  }
};
/* Esser et al., "Learned Step Size Quantization", equation 3. */
struct fake_quantize_slope : Pointwise<3, FLOAT, 2> {
  static constexpr Signature signatures[] = {
      {"_fake_quantize_slope(Tensor self, Tensor scale, Tensor zero_point, float low, float high) -> Tensor",
       PRIVATE | FUNCTION, "The derivative of _fake_quantize_by by the scale."}};
  template <class T>
  static T apply(T x, T scale, T zero, T low, T high) {
    const T z = steps_within(round_(zero), low, high), quotient = x / scale, steps = round_(quotient);
    const T bounded = steps_within(steps, low - z, high - z);
    return where(steps >= low - z && steps <= high - z, bounded - quotient, bounded);
  }
};

using fake_quantization =
    Family<fake_quantize, fake_quantize_backward, fake_quantize_by, fake_quantize_inside, fake_quantize_slope>;

}  // namespace
}  // namespace lamella::pointwise
#endif
