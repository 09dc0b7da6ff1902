/* The updates of optimizers, each written once: kernels apply it to numbers, composites to whole tensors.
 *
 * Note [Updates]  An update's operator takes `lists` lists of tensors, the parameters, their gradients and up to three
 *   kinds of state, then `kept` lists of single numbers that it changes, then, where it `counts`, the list of the
 * steps, then the options, in the order of the enumerators, then grad_scale and found_inf. From the options and the
 * step `plan` computes, in double, the factors of one tensor and its variant: bit `decays` is the same for all. `apply`
 * changes a parameter p and the state s that the variant `holds`, given the gradient g; X is a floating type or a type
 * with the same words. */
#ifndef LAMELLA_UPDATES_H
#define LAMELLA_UPDATES_H

#include <cstdint>

namespace lamella::updates {

/* ---- what an update does with one tensor ---- */

constexpr int most_state = 3, most_kept = 2, most_factors = 8, most_options = 9;
constexpr int updates_of_tensor_lr = 4;
constexpr unsigned decays = 1;

struct Plan {
  unsigned variant = 0;
  double decay = 0; /* of the parameter, which is added to the gradient */
  double factors[most_factors] = {};
  double kept[most_kept] = {}; /* the new numbers */
};

namespace { /* objects of several instruction sets must not share these */

/* ---- words ---- */

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
inline float size(float x) { return __builtin_fabsf(x); }
inline double size(double x) { return __builtin_fabs(x); }
/* NaN if one of them is. */
template <class T>
inline T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
inline T within(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}
/* One of three, as x is positive, zero or negative. */
template <class T>
inline T by_sign(T x, T positive, T zero, T negative) {
  return x > 0 ? positive : x < 0 ? negative : zero;
}

/* Options as numbers, the step after this update, and the numbers that are kept. */
using MakePlan = Plan (*)(const double* o, double step, const double* kept);

inline double power(double x, double y) { return __builtin_pow(x, y); }
inline Plan with_decay(double decay) {
  Plan plan;
  plan.decay = decay;
  plan.variant = decay != 0 ? decays : 0;
  return plan;
}

/* ---- the updates ---- */

/* Sutskever and others, On the importance of initialization and momentum in deep learning, 2013; the velocity without
 * the learning rate. */
struct Sgd {
  static constexpr int lists = 3, kept = 0;
  static constexpr bool counts = false;
  enum { weight_decay, momentum, lr, dampening, nesterov, maximize, first, options };
  enum : unsigned { moves = 2, looks_ahead = 4, begins = 8, variants = 16 };
  static constexpr bool holds(unsigned v, int) { return (v & moves) != 0; }
  static Plan plan(const double* o, double, const double*) {
    Plan p = with_decay(o[weight_decay]);
    if (o[momentum] != 0)
      p.variant |=
          unsigned{moves} | (o[nesterov] != 0 ? unsigned{looks_ahead} : 0u) | (o[first] != 0 ? unsigned{begins} : 0u);
    p.factors[0] = o[lr];
    p.factors[1] = o[momentum];
    p.factors[2] = 1 - o[dampening];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    if (v & moves) {
      if (v & begins)
        s[0] = g;
      else
        s[0] = s[0] * c[1] + g * c[2];
      g = v & looks_ahead ? g + s[0] * c[1] : s[0];
    }
    p = p - g * c[0];
  }
};

/* Kingma and Ba, Adam: a method for stochastic optimization, 2015. Apart: Loshchilov and Hutter, Decoupled weight decay
 * regularization, 2019, where the decay does not go through the gradient. */
template <bool Apart>
struct AdamOf {
  static constexpr int lists = 5, kept = 0;
  static constexpr bool counts = true;
  enum { lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, options };
  enum : unsigned { peaks = 2, variants = 4 };
  static constexpr bool holds(unsigned v, int k) { return k < 2 || (v & peaks); }
  static Plan plan(const double* o, double step, const double*) {
    Plan p = with_decay(Apart ? 0 : o[weight_decay]);
    if (o[amsgrad] != 0) p.variant |= peaks;
    p.factors[0] = 1 - o[beta1];
    p.factors[1] = o[beta2];
    p.factors[2] = 1 - o[beta2];
    p.factors[3] = o[lr] / (1 - power(o[beta1], step));
    p.factors[4] = 1 / root(1 - power(o[beta2], step));
    p.factors[5] = o[eps];
    p.factors[6] = 1 - o[lr] * o[weight_decay];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    if (Apart) p = p * c[6];
    s[0] = s[0] + (g - s[0]) * c[0];
    s[1] = s[1] * c[1] + g * g * c[2];
    if (v & peaks) s[2] = larger(s[2], s[1]);
    p = p - s[0] / (root(v & peaks ? s[2] : s[1]) * c[4] + c[5]) * c[3];
  }
};
using Adam = AdamOf<false>;
using AdamW = AdamOf<true>;

/* Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, 2011. */
struct Adagrad {
  static constexpr int lists = 3, kept = 0;
  static constexpr bool counts = true;
  enum { lr, lr_decay, weight_decay, eps, maximize, options };
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double step, const double*) {
    Plan p = with_decay(o[weight_decay]);
    p.factors[0] = o[lr] / (1 + (step - 1) * o[lr_decay]);
    p.factors[1] = o[eps];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] + g * g;
    p = p - g / (root(s[0]) + c[1]) * c[0];
  }
};

/* Zeiler, ADADELTA: an adaptive learning rate method, 2012. */
struct Adadelta {
  static constexpr int lists = 4, kept = 0;
  static constexpr bool counts = false;
  enum { lr, rho, eps, weight_decay, maximize, options };
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double, const double*) {
    Plan p = with_decay(o[weight_decay]);
    p.factors[0] = o[lr];
    p.factors[1] = o[rho];
    p.factors[2] = 1 - o[rho];
    p.factors[3] = o[eps];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] * c[1] + g * g * c[2];
    const X delta = root(s[1] + c[3]) / root(s[0] + c[3]) * g;
    s[1] = s[1] * c[1] + delta * delta * c[2];
    p = p - delta * c[0];
  }
};

/* The seventh section of Kingma and Ba, 2015: the moment of infinite order. */
struct Adamax {
  static constexpr int lists = 4, kept = 0;
  static constexpr bool counts = true;
  enum { lr, beta1, beta2, weight_decay, eps, maximize, options };
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double step, const double*) {
    Plan p = with_decay(o[weight_decay]);
    p.factors[0] = o[lr] / (1 - power(o[beta1], step));
    p.factors[1] = 1 - o[beta1];
    p.factors[2] = o[beta2];
    p.factors[3] = o[eps];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] + (g - s[0]) * c[1];
    s[1] = larger(s[1] * c[2], size(g) + c[3]);
    p = p - s[0] / s[1] * c[0];
  }
};

/* Dozat, Incorporating Nesterov momentum into Adam, 2016. It keeps the product of the momenta so far. */
struct Nadam {
  static constexpr int lists = 4, kept = 1;
  static constexpr bool counts = true;
  enum { lr, beta1, beta2, weight_decay, momentum_decay, eps, decoupled_weight_decay, maximize, options };
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
  static double momentum(const double* o, double step) {
    return o[beta1] * (1 - 0.5 * power(0.96, step * o[momentum_decay]));
  }
  static Plan plan(const double* o, double step, const double* products) {
    const bool apart = o[decoupled_weight_decay] != 0;
    Plan p = with_decay(apart ? 0 : o[weight_decay]);
    const double now = momentum(o, step), next = momentum(o, step + 1);
    p.kept[0] = products[0] * now;
    p.factors[0] = 1 - o[beta1];
    p.factors[1] = o[beta2];
    p.factors[2] = 1 - o[beta2];
    p.factors[3] = 1 / root(1 - power(o[beta2], step));
    p.factors[4] = o[eps];
    p.factors[5] = o[lr] * (1 - now) / (1 - p.kept[0]);
    p.factors[6] = o[lr] * next / (1 - p.kept[0] * next);
    p.factors[7] = apart ? 1 - o[lr] * o[weight_decay] : 1;
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] + (g - s[0]) * c[0];
    s[1] = s[1] * c[1] + g * g * c[2];
    p = p * c[7] - (g * c[5] + s[0] * c[6]) / (root(s[1]) * c[3] + c[4]);
  }
};

/* Liu and others, On the variance of the adaptive learning rate and beyond, 2020. While the variance cannot be told the
 * step is that of momentum. */
struct Radam {
  static constexpr int lists = 4, kept = 0;
  static constexpr bool counts = true;
  enum { lr, beta1, beta2, weight_decay, eps, decoupled_weight_decay, maximize, options };
  enum : unsigned { adapts = 2, variants = 4 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double step, const double*) {
    const bool apart = o[decoupled_weight_decay] != 0;
    Plan p = with_decay(apart ? 0 : o[weight_decay]);
    const double left = power(o[beta2], step), most = 2 / (1 - o[beta2]) - 1, now = most - 2 * step * left / (1 - left);
    const double rate = o[lr] / (1 - power(o[beta1], step));
    p.factors[0] = 1 - o[beta1];
    p.factors[1] = o[beta2];
    p.factors[2] = 1 - o[beta2];
    p.factors[3] = rate;
    p.factors[4] = o[eps];
    p.factors[5] = apart ? 1 - o[lr] * o[weight_decay] : 1;
    if (now > 5) {
      p.variant |= adapts;
      p.factors[3] *= root((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now)) * root(1 - left);
    }
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] + (g - s[0]) * c[0];
    s[1] = s[1] * c[1] + g * g * c[2];
    const X step = v & adapts ? s[0] / (root(s[1]) + c[4]) : s[0];
    p = p * c[5] - step * c[3];
  }
};

/* Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992. It keeps the weight of the mean and
 * the rate, of which the next step makes use. */
struct Asgd {
  static constexpr int lists = 3, kept = 2;
  static constexpr bool counts = true;
  enum { lambd, lr, t0, alpha, weight_decay, maximize, options };
  enum : unsigned { copies = 2, variants = 4 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double step, const double* kept) {
    Plan p = with_decay(o[weight_decay]);
    const double mean = kept[0], rate = kept[1], since = step - o[t0];
    if (mean == 1) p.variant |= copies;
    p.factors[0] = rate;
    p.factors[1] = 1 - o[lambd] * rate;
    p.factors[2] = mean;
    p.kept[0] = 1 / (since > 1 ? since : 1);
    p.kept[1] = o[lr] / power(1 + o[lambd] * o[lr] * step, o[alpha]);
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    p = p * c[1] - g * c[0];
    s[0] = v & copies ? p : s[0] + (p - s[0]) * c[2];
  }
};

/* Riedmiller and Braun, A direct adaptive method for faster backpropagation learning: the RPROP algorithm, 1993. */
struct Rprop {
  static constexpr int lists = 4, kept = 0;
  static constexpr bool counts = false;
  enum { etaminus, etaplus, step_size_min, step_size_max, maximize, options };
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
  static Plan plan(const double* o, double, const double*) {
    Plan p;
    for (int k = 0; k < 4; k++) p.factors[k] = o[k];
    p.factors[4] = 1;
    p.factors[5] = 0;
    p.factors[6] = -1;
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    const X turn = g * s[0];
    s[1] = within(s[1] * by_sign(turn, c[1], c[4], c[0]), c[2], c[3]);
    s[0] = g * by_sign(turn, c[4], c[4], c[5]);
    p = p - s[1] * by_sign(s[0], c[4], c[5], c[6]);
  }
};

/* Tieleman and Hinton, Lecture 6.5 of Neural networks for machine learning, 2012; centered: Graves, Generating
 * sequences with recurrent neural networks, 2013. */
struct Rmsprop {
  static constexpr int lists = 5, kept = 0;
  static constexpr bool counts = false;
  enum { lr, alpha, eps, weight_decay, momentum, centered, maximize, options };
  enum : unsigned { centers = 2, moves = 4, variants = 8 };
  static constexpr bool holds(unsigned v, int k) { return k == 0 || (k == 1 ? v & centers : v & moves); }
  static Plan plan(const double* o, double, const double*) {
    Plan p = with_decay(o[weight_decay]);
    p.variant |= (o[centered] != 0 ? unsigned{centers} : 0u) | (o[momentum] > 0 ? unsigned{moves} : 0u);
    p.factors[0] = o[lr];
    p.factors[1] = o[alpha];
    p.factors[2] = 1 - o[alpha];
    p.factors[3] = o[eps];
    p.factors[4] = o[momentum];
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] * c[1] + g * g * c[2];
    X spread = s[0];
    if (v & centers) {
      s[1] = s[1] + (g - s[1]) * c[2];
      spread = s[0] - s[1] * s[1];
    }
    const X step = g / (root(spread) + c[3]);
    if (v & moves) s[2] = s[2] * c[4] + step;
    p = p - (v & moves ? s[2] : step) * c[0];
  }
};

/* One step, with the decay that all have in common. */
template <class U, class V, class X, class C>
inline __attribute__((always_inline)) void step(V v, X& p, X g, X (&s)[most_state], C decay, const C* factors) {
  if (v & decays) g = g + p * decay;
  U::apply(v, p, g, s, factors);
}

/* ---- the same as data ---- */

struct Update {
  int number; /* among all */
  int lists, kept;
  bool counts;
  int options, maximize;
  MakePlan plan;
  bool (*holds)(unsigned variant, int state);

  int step_list() const { return lists + kept; }
  int first_option() const { return lists + kept + counts; }
  int grad_scale() const { return first_option() + options; }
  int found_inf() const { return grad_scale() + 1; }
};
template <class U>
constexpr Update update_of(int number) {
  return {number, U::lists, U::kept, U::counts, U::options, U::maximize, U::plan, U::holds};
}

}  // namespace
}  // namespace lamella::updates

/* X(number, type, operator's name). The first have an overload .tensor_lr as well, whose option `lr` is a tensor. */
#define LAMELLA_UPDATES(X)           \
  X(0, Sgd, "_fused_sgd_")           \
  X(1, Adam, "_fused_adam_")         \
  X(2, AdamW, "_fused_adamw_")       \
  X(3, Adagrad, "_fused_adagrad_")   \
  X(4, Adadelta, "_fused_adadelta_") \
  X(5, Adamax, "_fused_adamax_")     \
  X(6, Nadam, "_fused_nadam_")       \
  X(7, Radam, "_fused_radam_")       \
  X(8, Asgd, "_fused_asgd_")         \
  X(9, Rprop, "_fused_rprop_")       \
  X(10, Rmsprop, "_fused_rmsprop_")

#endif
