/* The updates of optimizers, each written once: kernels apply it to numbers, composites to whole tensors. See Note
 * [Updates] in <lamella/updates/base.h>. */
#ifndef LAMELLA_UPDATES_H
#define LAMELLA_UPDATES_H

#include <lamella/updates/base.h>

namespace lamella::updates {
namespace { /* objects of several instruction sets must not share these */

/* Sutskever and others, On the importance of initialization and momentum in deep learning, 2013; here the momentum's
 * buffer does not contain the learning rate. */
struct Sgd {
  LAMELLA_STATE(like_parameter("momentum_buffer_list", "momentum_buffer"))
  LAMELLA_OPTIONS((weight_decay, maybe_tensor(decay())), (momentum, positive(0, "momentum value")), (lr, rate(1e-3)),
                  (dampening, any_number(0, "dampening value")), (nesterov, flag()), (maximize, flag()),
                  (is_first_step, flag()))
  static constexpr bool counts = false;
  static constexpr const char* doc = R"(A step of gradient descent, with momentum and weight decay.

The momentum's buffers become the gradients in the first step, whatever they hold. Without momentum that list may be
empty.
Formula: Sutskever and others, 2013, with the learning rate outside of the buffer.)";
  static constexpr const char* example = "[], lr=0.25";
  static constexpr const char* result = "0.7500";
  enum : unsigned { moves = 2, looks_ahead = 4, begins = 8, variants = 16 };
  static constexpr bool holds(unsigned v, int) { return (v & moves) != 0; }
  template <class N>
  static PlanOf<N> plan(const N* o, double, const double*) {
    PlanOf<N> p = with_decay(o[weight_decay]);
    if (is_on(o[momentum]))
      p.variant |= unsigned{moves} | (is_on(o[nesterov]) ? unsigned{looks_ahead} : 0u) |
                   (is_on(o[is_first_step]) ? unsigned{begins} : 0u);
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
  LAMELLA_STATE(like_parameter("exp_avgs", "exp_avg"), like_parameter("exp_avg_sqs", "exp_avg_sq"),
                like_parameter("max_exp_avg_sqs", "max_exp_avg_sq"))
  LAMELLA_OPTIONS((lr, rate(1e-3)), (beta1, maybe_tensor(first_beta())), (beta2, maybe_tensor(second_beta())),
                  (weight_decay, maybe_tensor(decay(Apart ? 1e-2 : 0))), (eps, epsilon(1e-8)), (amsgrad, flag()),
                  (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc =
      R"(A step of Adam. Without `amsgrad` the list of the largest second moments may be empty.
Formula: Kingma and Ba, 2015; amsgrad: Reddi and others, 2018; AdamW: Loshchilov and Hutter, 2019.)";
  static constexpr const char* example =
      "[lamella.zeros(2)], [lamella.zeros(2)], [], [lamella.tensor(1.)], lr=0.25, weight_decay=0.";
  static constexpr const char* result = "0.7500";
  enum : unsigned { peaks = 2, variants = 4 };
  static constexpr bool holds(unsigned v, int k) { return k < 2 || (v & peaks); }
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double*) {
    PlanOf<N> p = with_decay(Apart ? N(0) : o[weight_decay]);
    if (is_on(o[amsgrad])) p.variant |= peaks;
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
struct Adagrad : Steady {
  LAMELLA_STATE(like_parameter("state_sums", "sum", "initial_accumulator_value"))
  LAMELLA_OPTIONS((lr, rate(1e-2)), (lr_decay, positive(0, "lr_decay value")), (weight_decay, decay()),
                  (eps, epsilon(1e-10)), (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc = R"(A step of Adagrad.
Formula: Duchi, Hazan and Singer, 2011.)";
  static constexpr const char* example = "[lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25";
  static constexpr const char* result = "0.7500";
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double*) {
    PlanOf<N> p = with_decay(o[weight_decay]);
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
struct Adadelta : Steady {
  LAMELLA_STATE(like_parameter("square_avgs", "square_avg"), like_parameter("acc_deltas", "acc_delta"))
  LAMELLA_OPTIONS((lr, rate(1)), (rho, within(0.9, "rho value", 0, 1)), (eps, epsilon(1e-6)), (weight_decay, decay()),
                  (maximize, flag()))
  static constexpr bool counts = false;
  static constexpr const char* doc = R"(A step of Adadelta.
Formula: Zeiler, 2012.)";
  static constexpr const char* example = "[lamella.zeros(2)], [lamella.zeros(2)], lr=0.5, rho=0., eps=1.";
  static constexpr const char* result = "0.6464";
  template <class N>
  static PlanOf<N> plan(const N* o, double, const double*) {
    PlanOf<N> p = with_decay(o[weight_decay]);
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
struct Adamax : Steady {
  LAMELLA_STATE(like_parameter("exp_avgs", "exp_avg"), like_parameter("exp_infs", "exp_inf"))
  LAMELLA_OPTIONS((lr, rate(2e-3)), (beta1, first_beta()), (beta2, second_beta()), (weight_decay, decay()),
                  (eps, epsilon(1e-8)), (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc = R"(A step of Adamax.
Formula: Kingma and Ba, 2015, section 7.)";
  static constexpr const char* example = "[lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25";
  static constexpr const char* result = "0.7500";
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double*) {
    PlanOf<N> p = with_decay(o[weight_decay]);
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
struct Nadam : Steady {
  LAMELLA_STATE(like_parameter("exp_avgs", "exp_avg"), like_parameter("exp_avg_sqs", "exp_avg_sq"),
                number("mu_products", "mu_product", 1))
  LAMELLA_OPTIONS((lr, rate(2e-3)), (beta1, first_beta()), (beta2, second_beta()), (weight_decay, decay()),
                  (momentum_decay, positive(4e-3, "momentum_decay value")), (eps, epsilon(1e-8)),
                  (decoupled_weight_decay, flag()), (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc =
      R"(A step of NAdam. `mu_products` has the product of each tensor's momenta, 1 at the start, and is changed.
Formula: Dozat, 2016.)";
  static constexpr const char* example =
      "[lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], [lamella.tensor(1.)], "
      "lr=0.5, beta1=0.5, beta2=0.5, momentum_decay=0., eps=0.";
  static constexpr const char* result = "0.4333";
  template <class N>
  static double momentum(const N* o, double step) {
    return value_of(o[beta1]) * (1 - 0.5 * power(0.96, step * value_of(o[momentum_decay])));
  }
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double* products) {
    const bool apart = is_on(o[decoupled_weight_decay]);
    PlanOf<N> p = with_decay(apart ? N(0) : o[weight_decay]);
    const double now = momentum(o, step), next = momentum(o, step + 1);
    p.kept[0] = products[0] * now;
    p.factors[0] = 1 - o[beta1];
    p.factors[1] = o[beta2];
    p.factors[2] = 1 - o[beta2];
    p.factors[3] = 1 / root(1 - power(o[beta2], step));
    p.factors[4] = o[eps];
    p.factors[5] = o[lr] * (1 - now) / (1 - p.kept[0]);
    p.factors[6] = o[lr] * next / (1 - p.kept[0] * next);
    p.factors[7] = apart ? 1 - o[lr] * o[weight_decay] : N(1);
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    s[0] = s[0] + (g - s[0]) * c[0];
    s[1] = s[1] * c[1] + g * g * c[2];
    p = p * c[7] - (g * c[5] + s[0] * c[6]) / (root(s[1]) * c[3] + c[4]);
  }
};

/* Liu and others, On the variance of the adaptive learning rate and beyond, 2020. In the first steps, in which
 * the variance cannot be estimated, the step is the first moment, not divided by a root of the second. */
struct Radam : Steady {
  LAMELLA_STATE(like_parameter("exp_avgs", "exp_avg"), like_parameter("exp_avg_sqs", "exp_avg_sq"))
  LAMELLA_OPTIONS((lr, rate(1e-3)), (beta1, first_beta()), (beta2, second_beta()), (weight_decay, decay()),
                  (eps, epsilon(1e-8)), (decoupled_weight_decay, flag()), (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc = R"(A step of RAdam.
Formula: Liu and others, 2020.)";
  static constexpr const char* example = "[lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25";
  static constexpr const char* result = "0.7500";
  enum : unsigned { adapts = 2, variants = 4 };
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double*) {
    const bool apart = is_on(o[decoupled_weight_decay]);
    PlanOf<N> p = with_decay(apart ? N(0) : o[weight_decay]);
    const double b2 = value_of(o[beta2]), left = power(b2, step);
    const double most = 2 / (1 - b2) - 1, now = most - 2 * step * left / (1 - left);
    p.factors[0] = 1 - o[beta1];
    p.factors[1] = o[beta2];
    p.factors[2] = 1 - o[beta2];
    p.factors[3] = o[lr] / (1 - power(o[beta1], step));
    p.factors[4] = o[eps];
    p.factors[5] = apart ? 1 - o[lr] * o[weight_decay] : N(1);
    if (now > 5) {
      p.variant |= adapts;
      p.factors[3] =
          p.factors[3] * (root((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now)) * root(1 - left));
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
 * the rate for the next step. */
struct Asgd : Steady {
  LAMELLA_STATE(like_parameter("axs", "ax"), number("mus", "mu", 1), number("etas", "eta", 0, "lr"))
  LAMELLA_OPTIONS((lambd, positive(1e-4, "lambd value")), (lr, rate(1e-2)), (t0, positive(1e6, "t0 value")),
                  (alpha, positive(0.75, "alpha value")), (weight_decay, decay()), (maximize, flag()))
  static constexpr bool counts = true;
  static constexpr const char* doc =
      R"(A step of gradient descent whose parameters are averaged in `axs`. `mus` and `etas` have the weight of the
mean, 1 at the start, and the rate, `lr` at the start, and are changed.
Formula: Polyak and Juditsky, 1992.)";
  static constexpr const char* example =
      "[lamella.zeros(2)], [lamella.tensor(1.)], [lamella.tensor(0.25)], [lamella.tensor(1.)], lambd=0., lr=0.25";
  static constexpr const char* result = "0.7500";
  enum : unsigned { copies = 2, variants = 4 };
  template <class N>
  static PlanOf<N> plan(const N* o, double step, const double* kept) {
    PlanOf<N> p = with_decay(o[weight_decay]);
    const double mean = kept[0], rate = kept[1], since = step - value_of(o[t0]);
    if (mean == 1) p.variant |= copies;
    p.factors[0] = rate;
    p.factors[1] = 1 - o[lambd] * rate;
    p.factors[2] = mean;
    p.kept[0] = 1 / (since > 1 ? since : 1);
    p.kept[1] = value_of(o[lr] / power(1 + o[lambd] * o[lr] * step, value_of(o[alpha])));
    return p;
  }
  template <class V, class X, class C>
  static void apply(V v, X& p, X g, X (&s)[most_state], const C* c) {
    p = p * c[1] - g * c[0];
    s[0] = v & copies ? p : s[0] + (p - s[0]) * c[2];
  }
};

/* Riedmiller and Braun, A direct adaptive method for faster backpropagation learning: the RPROP algorithm, 1993. */
struct Rprop : Steady {
  LAMELLA_STATE(like_parameter("prevs", "prev"), like_parameter("step_sizes", "step_size", "lr"))
  LAMELLA_OPTIONS((etaminus, any_number(0.5, "eta value")), (etaplus, any_number(1.2, "eta value")),
                  (step_size_min, positive(1e-6, "step size")), (step_size_max, positive(50, "step size")),
                  (maximize, flag()))
  static constexpr bool counts = false;
  static constexpr const char* doc =
      R"(A step of resilient backpropagation, which goes by the signs of the gradients and of those before, `prevs`.
Formula: Riedmiller and Braun, 1993.)";
  static constexpr const char* example = "[lamella.ones(2)], [lamella.full((2,), 0.25)], etaplus=2.";
  static constexpr const char* result = "0.5000";
  template <class N>
  static PlanOf<N> plan(const N* o, double, const double*) {
    PlanOf<N> p;
    for (int k = 0; k < 4; k++) p.factors[k] = o[k];
    p.factors[4] = 1;
    p.factors[5] = 0;
    p.factors[6] = -1;
    return p;
  }
  template <class V, class X, class C>
  static void apply(V, X& p, X g, X (&s)[most_state], const C* c) {
    const X turn = g * s[0];
    s[1] = limited(s[1] * by_sign(turn, c[1], c[4], c[0]), c[2], c[3]);
    s[0] = g * by_sign(turn, c[4], c[4], c[5]);
    p = p - s[1] * by_sign(s[0], c[4], c[5], c[6]);
  }
};

/* Tieleman and Hinton, Lecture 6.5 of Neural networks for machine learning, 2012; centered: Graves, Generating
 * sequences with recurrent neural networks, 2013. */
struct Rmsprop {
  LAMELLA_STATE(like_parameter("square_avgs", "square_avg"), like_parameter("grad_avgs", "grad_avg"),
                like_parameter("momentum_buffer_list", "momentum_buffer"))
  LAMELLA_OPTIONS((lr, rate(1e-2)), (alpha, positive(0.99, "alpha value")), (eps, epsilon(1e-8)),
                  (weight_decay, decay()), (momentum, positive(0, "momentum value")), (centered, flag()),
                  (maximize, flag()))
  static constexpr bool counts = false;
  static constexpr const char* doc =
      R"(A step of RMSprop. The list of the gradients' means may be empty unless `centered`, that of the
momentum's buffers unless there is a momentum.
Formula: Tieleman and Hinton, 2012; centered: Graves, 2013.)";
  static constexpr const char* example = "[lamella.zeros(2)], [], [], lr=0.25, alpha=0., eps=0.";
  static constexpr const char* result = "0.7500";
  enum : unsigned { centers = 2, moves = 4, variants = 8 };
  static constexpr bool holds(unsigned v, int k) { return k == 0 || (k == 1 ? v & centers : v & moves); }
  template <class N>
  static PlanOf<N> plan(const N* o, double, const double*) {
    PlanOf<N> p = with_decay(o[weight_decay]);
    p.variant |= (is_on(o[centered]) ? unsigned{centers} : 0u) | (value_of(o[momentum]) > 0 ? unsigned{moves} : 0u);
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

}  // namespace
}  // namespace lamella::updates

/* X(type) for every update. Adam's operator is _fused_adam_. */
#define LAMELLA_UPDATES(X) \
  X(Sgd) X(Adam) X(AdamW) X(Adagrad) X(Adadelta) X(Adamax) X(Nadam) X(Radam) X(Asgd) X(Rprop) X(Rmsprop)

namespace lamella::updates {
namespace {

#define LAMELLA_NUMBER_UPDATE(U) number_##U,
enum { LAMELLA_UPDATES(LAMELLA_NUMBER_UPDATE) update_count };
#undef LAMELLA_NUMBER_UPDATE

/* The updates as data, by their numbers. */
#define LAMELLA_DESCRIBE_UPDATE(U) update_of<U>(#U, number_##U),
constexpr Update update_table[] = {LAMELLA_UPDATES(LAMELLA_DESCRIBE_UPDATE)};
#undef LAMELLA_DESCRIBE_UPDATE

}  // namespace
}  // namespace lamella::updates
#endif
