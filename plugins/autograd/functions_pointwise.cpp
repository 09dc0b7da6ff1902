// What the gradients of pointwise functions are made of.
#include "functions.h"

namespace lamella::autograd {
namespace {

bool is_complex(const Tensor& t) { return t && t.dtype() >= LAMELLA_COMPLEX64; }
bool is_zero(const lamella_value& v) {
  return as_double(v) == 0 && !(v.tag == LAMELLA_COMPLEX && v.as.doubles[1] != 0);
}

Tensor conj(Compose& c, const Tensor& t) { return is_complex(t) ? c.op<"conj">(t) : t; }

// A number less one, as a value.
struct LessOne {
  double pair[2];
  lamella_value v;
  explicit LessOne(const lamella_value& n) : v(n) {
    if (n.tag == LAMELLA_COMPLEX) {
      pair[0] = n.as.doubles[0] - 1;
      pair[1] = n.as.doubles[1];
      v.as.doubles = pair;
    } else if (n.tag == LAMELLA_FLOAT) {
      v.as.d -= 1;
    } else {
      v = value(n.as.i - 1);
    }
  }
};

// x^p: p x^(p-1), and nothing at all where p is zero.
lamella_status pow_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]);
  if (is_zero(a[2])) return c.give(r, c.op<"zeros_like">(grad));
  const LessOne less(a[2]);
  return c.give(r, c.op<"mul.Tensor">(grad, conj(c, c.op<"mul.Scalar">(c.op<"pow.Tensor_Scalar">(x, less.v), a[2]))));
}

lamella_status pow_backward_self(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), p = c.arg(a[2]);
  const Tensor slope = c.op<"mul.Tensor">(p, c.op<"pow.Tensor_Tensor">(x, c.op<"sub.Scalar">(p, 1)));
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(p, 0), 0, c.op<"mul.Tensor">(grad, conj(c, slope))));
}

// x^p: x^p log x, which is zero where x is zero and the power smooth there.
lamella_status pow_backward_exponent(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), p = c.arg(a[2]), power = c.arg(a[3]);
  const Tensor real = is_complex(p) ? c.op<"real">(p) : p;
  const Tensor flat = c.op<"logical_and">(c.op<"eq.Scalar">(x, 0), c.op<"ge.Scalar">(real, 0));
  const Tensor slope = c.op<"mul.Tensor">(power, c.op<"log">(x));
  return c.give(r, c.op<"mul.Tensor">(grad, c.op<"where.ScalarSelf">(flat, 0, conj(c, slope))));
}

lamella_status pow_backward_base(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), p = c.arg(a[2]), power = c.arg(a[3]);
  const Tensor base = c.op<"full">(Ints{}, a[1], As{static_cast<uint8_t>(power.dtype())}, none(), power.device());
  const Tensor slope = conj(c, c.op<"mul.Tensor">(power, c.op<"log">(base)));
  if (!is_zero(a[1])) return c.give(r, c.op<"mul.Tensor">(grad, slope));
  const Tensor real = is_complex(p) ? c.op<"real">(p) : p;
  return c.give(r, c.op<"mul.Tensor">(grad, c.op<"where.ScalarSelf">(c.op<"ge.Scalar">(real, 0), 0, slope)));
}

// x / |x|: perpendicular to it; of a real number, nothing.
lamella_status sgn_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), sgn = c.arg(a[2]);
  if (!is_complex(x)) return c.give(r, c.op<"zeros_like">(grad));
  const Tensor size = c.op<"abs">(x);
  const Tensor along = c.op<"real">(c.op<"div.Tensor">(grad, sgn));
  const Tensor across = c.op<"sub.Tensor">(grad, c.op<"mul.Tensor">(sgn, along));
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(size, 0), 0, c.op<"div.Tensor">(across, size)));
}

lamella_status angle_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), z = c.arg(a[1]);
  if (!is_complex(z)) return c.give(r, c.op<"zeros_like">(grad));
  const Tensor square = c.op<"square">(c.op<"abs">(z));
  const Tensor x = c.op<"div.Tensor">(c.op<"neg">(c.op<"imag">(z)), square);
  const Tensor y = c.op<"div.Tensor">(c.op<"real">(z), square);
  const Tensor slope = c.op<"complex">(x, y);
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(square, 0), 0, c.op<"mul.Tensor">(slope, grad)));
}

// by / (y^2 + x^2), and zero at the origin.
lamella_status atan2_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor y = c.arg(a[0]), x = c.arg(a[1]), by = c.arg(a[2]);
  const Tensor square = c.op<"add.Tensor">(c.op<"square">(y), c.op<"square">(x));
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(square, 0), 0, c.op<"div.Tensor">(by, square)));
}

lamella_status sinc_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  constexpr double pi = 3.14159265358979323846;
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), px = c.op<"mul.Scalar">(x, pi);
  const Tensor top = c.op<"sub.Tensor">(c.op<"mul.Tensor">(c.op<"cos">(px), px), c.op<"sin">(px));
  const Tensor square = c.op<"mul.Tensor">(px, x);  // zero for tiny numbers, too
  const Tensor slope = conj(c, c.op<"div.Tensor">(top, square));
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(square, 0), 0, c.op<"mul.Tensor">(grad, slope)));
}

lamella_status xlogy_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]);
  const Tensor slope = c.op<"xlogy.Scalar_Other">(grad, a[2]);
  if (as_double(a[2]) > 0) return c.give(r, slope);
  return c.give(r, c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(x, 0), 0, slope));
}

// log(x / (1 - x)); with eps, x is clamped and flat outside, without it undefined there.
lamella_status logit_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]);
  const double low = a[2].tag == LAMELLA_NONE ? 0 : as_double(a[2]);
  const Tensor slope = c.op<"div.Tensor">(grad, c.op<"mul.Tensor">(x, c.op<"rsub.Scalar">(x, 1)));
  const Tensor outside = c.op<"logical_or">(c.op<"lt.Scalar">(x, low), c.op<"gt.Scalar">(x, 1 - low));
  const double there = a[2].tag == LAMELLA_NONE ? __builtin_nan("") : 0.0;
  return c.give(r, c.op<"where.ScalarSelf">(outside, there, slope));
}

lamella_status clamp_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]);
  Tensor inside;
  if (a[2].tag != LAMELLA_NONE) inside = c.op<"ge.Scalar">(x, a[2]);
  if (a[3].tag != LAMELLA_NONE) {
    const Tensor below = c.op<"le.Scalar">(x, a[3]);
    inside = inside ? c.op<"logical_and">(inside, below) : below;
  }
  return c.give(r, inside ? c.op<"where.ScalarOther">(inside, grad, 0) : grad);
}

// (grad, self, min?, max?, mask): within the limits, both included, to what was limited; else to the limit.
lamella_status clamp_tensor_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), low = c.arg(a[2]), high = c.arg(a[3]);
  const auto both = [&](const Tensor& s, const Tensor& t) { return s && t ? c.op<"logical_and">(s, t) : s ? s : t; };
  const auto where = [&](const Tensor& at) { return at ? c.op<"where.ScalarOther">(at, grad, 0) : grad; };
  std::array<Tensor, 3> out;
  if (a[4].as.bools[0])
    out[0] = where(both(low ? c.op<"ge.Tensor">(x, low) : Tensor(), high ? c.op<"le.Tensor">(x, high) : Tensor()));
  if (a[4].as.bools[1] && low)
    out[1] = where(both(c.op<"lt.Tensor">(x, low), high ? c.op<"lt.Tensor">(low, high) : Tensor()));
  if (a[4].as.bools[2] && high) {
    const Tensor above = c.op<"gt.Tensor">(x, high);
    out[2] = where(low ? c.op<"logical_or">(above, c.op<"lt.Tensor">(high, low)) : above);
  }
  return c.give(r, std::move(out));
}

lamella_status polygamma_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return c.give(r, c.op<"mul.Tensor">(c.arg(a[0]), c.op<"polygamma">(a[1].as.i + 1, c.arg(a[2]))));
}

// x tanh(softplus(x)), twice.
lamella_status mish_double_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]);
  const Tensor s = c.op<"sigmoid">(x), t = c.op<"tanh">(c.op<"softplus">(x));
  const Tensor slope = c.op<"mul.Tensor">(c.op<"rsub.Scalar">(c.op<"square">(t), 1), s);  // of t
  const Tensor bend = c.op<"mul.Tensor">(
      slope, c.op<"sub.Tensor">(c.op<"rsub.Scalar">(s, 1), c.op<"mul.Scalar">(c.op<"mul.Tensor">(t, s), 2)));
  const Tensor both = c.op<"add.Tensor">(c.op<"mul.Scalar">(slope, 2), c.op<"mul.Tensor">(x, bend));
  return c.give(r, c.op<"mul.Tensor">(grad, both));
}

// x (1 + tanh(u)) / 2 with u = k (x + cube x^3), twice.
lamella_status gelu_tanh_double_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  constexpr double k = 0.7978845608028654, cube = 0.044715;
  Compose c(f);
  const Tensor grad = c.arg(a[0]), x = c.arg(a[1]), square = c.op<"square">(x);
  const auto linear = [&](double by, double plus) {  // in the square
    return c.op<"add.Scalar">(c.op<"mul.Scalar">(square, by), plus);
  };
  const Tensor t = c.op<"tanh">(c.op<"mul.Tensor">(x, linear(k * cube, k))), u1 = linear(3 * k * cube, k);
  const Tensor u2 = c.op<"mul.Scalar">(x, 6 * k * cube);
  const Tensor bend = c.op<"sub.Tensor">(u2, c.op<"mul.Scalar">(c.op<"mul.Tensor">(t, c.op<"square">(u1)), 2));
  const Tensor both = c.op<"add.Tensor">(u1, c.op<"mul.Scalar">(c.op<"mul.Tensor">(x, bend), 0.5));
  return c.give(r, c.op<"mul.Tensor">(grad, c.op<"mul.Tensor">(c.op<"rsub.Scalar">(c.op<"square">(t), 1), both)));
}

}  // namespace

void define_pointwise_functions(Library& m) {
  struct {
    const char* schema;
    lamella_kernel kernel;
  } const all[] = {
      {"_pow_backward(Tensor grad, Tensor self, Scalar exponent) -> Tensor", pow_backward},
      {"_pow_backward_self(Tensor grad, Tensor self, Tensor exponent) -> Tensor", pow_backward_self},
      {"_pow_backward_exponent(Tensor grad, Tensor self, Tensor exponent, Tensor result) -> Tensor",
       pow_backward_exponent},
      {"_pow_backward_base(Tensor grad, Scalar self, Tensor exponent, Tensor result) -> Tensor", pow_backward_base},
      {"_sgn_backward(Tensor grad, Tensor self, Tensor sgn) -> Tensor", sgn_backward},
      {"_angle_backward(Tensor grad, Tensor self) -> Tensor", angle_backward},
      {"_atan2_backward(Tensor self, Tensor other, Tensor by) -> Tensor", atan2_backward},
      {"_sinc_backward(Tensor grad, Tensor self) -> Tensor", sinc_backward},
      {"_xlogy_backward(Tensor grad, Tensor self, Scalar other) -> Tensor", xlogy_backward},
      {"_logit_backward(Tensor grad, Tensor self, float? eps) -> Tensor", logit_backward},
      {"_clamp_tensor_backward(Tensor grad, Tensor self, Tensor? min, Tensor? max, bool[3] mask) -> (Tensor, Tensor, "
       "Tensor)",
       clamp_tensor_backward},
      {"_polygamma_backward(Tensor grad, int n, Tensor self) -> Tensor", polygamma_backward},
      {"_mish_double_backward(Tensor grad, Tensor self) -> Tensor", mish_double_backward},
      {"_gelu_tanh_double_backward(Tensor grad, Tensor self) -> Tensor", gelu_tanh_double_backward},
      {"_clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor", clamp_backward},
  };
  for (const auto& o : all) composite(m, o.schema, o.kernel);
}

}  // namespace lamella::autograd
