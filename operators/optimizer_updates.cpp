// The updates of optimizers over lists of tensors. The formulas are those of <lamella/updates.h>, applied to whole
// tensors; a device's kernel may apply them to each element. See Note [Updates] there.
#include <lamella/updates.h>

#include "operators/shapes.h"
#include "operators/sharing.h"

namespace lamella::operators {
namespace {

using namespace updates;

// ---- what is given ----

const lamella_value& list(const lamella_value* args, int k) { return args[k]; }
Tensor element(const lamella_value* args, int k, uint32_t i) { return Tensor::borrow(args[k].as.tensors[i]); }

double number_of(const lamella_value& v) {
  return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor).item().toDouble() : as_double(v);
}

// Returns the variant that the options choose, whatever the step.
unsigned variant_of(const Update& u, const lamella_value* args) {
  double options[most_options] = {}, kept[most_kept] = {};
  for (int k = 0; k < u.options; k++)
    if (args[u.first_option() + k].tag != LAMELLA_TENSOR) options[k] = as_double(args[u.first_option() + k]);
  return u.plan(options, 1, kept).variant;
}

// ---- checks ----

// "argument 'grads[2]'"
std::string place(const lamella_frame* f, int k, uint32_t i) {
  return argument((std::string(api().operator_argument(f->op, k)->name) + "[" + std::to_string(i) + "]").c_str());
}

void check_length(const lamella_frame* f, const lamella_value* args, int k) {
  LAMELLA_CHECK(list(args, k).length == list(args, 0).length, argument(api().operator_argument(f->op, k)->name),
                ": expected as many tensors as in argument 'self', ", list(args, 0).length, ", got ",
                list(args, k).length);
}

void check_number_tensor(const std::string& where, const Tensor& t) {
  LAMELLA_CHECK(t.numel() == 1 && is_floating_point(t.dtype()), where,
                ": expected one floating-point number, got a tensor of shape ", shape_text(t), " and dtype ",
                t.dtype());
}

void check_written(const std::string& where, const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); d++)
    LAMELLA_CHECK(t.stride(d) != 0 || t.size(d) <= 1 || t.numel() == 0, where,
                  ": several elements share one memory location (an expanded tensor); clone() it before writing");
}

// What is written shares no memory with what else is given of its place: the elements would be read in the midst of the
// changes. A gradient that is read alone may be the same tensor.
class Apart {
 public:
  Apart(const lamella_frame* f, const lamella_value* args, uint32_t i) : f_(f), args_(args), i_(i) {}
  void check(int k, bool written) {
    const lamella_tensor* t = args_[k].as.tensors[i_];
    const Span span = span_of(t);
    for (int n = 0; n < n_; n++)
      if ((written || seen_[n].written) && span.meets(seen_[n].span)) compare(k, t, written, seen_[n]);
    seen_[n_++] = {k, span, written};
  }

 private:
  struct Seen {
    int k;
    Span span;
    bool written;
  };
  void compare(int k, const lamella_tensor* t, bool written, const Seen& other) const {
    const lamella_tensor* with = args_[other.k].as.tensors[i_];
    const Sharing found = sharing(t, with);
    if (found == Sharing::nothing || (found == Sharing::everything && !(written && other.written))) return;
    LAMELLA_CHECK(false, place(f_, k, i_), ": some of its elements and of ", place(f_, other.k, i_),
                  " refer to a single memory location, which is written; clone() one of them before");
  }

  const lamella_frame* f_;
  const lamella_value* args_;
  uint32_t i_;
  int n_ = 0;
  Seen seen_[most_state + 2 + most_kept + 1];
};

void check_entry(const lamella_frame* f, const Update& u, const lamella_value* args, unsigned variant, uint32_t i) {
  const Tensor self = element(args, 0, i);
  LAMELLA_CHECK(is_floating_point(self.dtype()), place(f, 0, i), ": expected a floating-point dtype, got ",
                self.dtype());
  Apart apart(f, args, i);
  for (int k = 0; k < u.lists; k++) {
    if (k >= 2 && !u.holds(variant, k - 2)) continue;
    const Tensor t = element(args, k, i);
    LAMELLA_CHECK(t.sizes() == self.sizes(), place(f, k, i), ": expected the shape of ", place(f, 0, i), ", ",
                  shape_text(self), ", got ", shape_text(t));
    LAMELLA_CHECK(t.dtype() == self.dtype(), place(f, k, i), ": expected the dtype of ", place(f, 0, i), ", ",
                  self.dtype(), ", got ", t.dtype());
    LAMELLA_CHECK(t.device() == self.device(), place(f, k, i), ": expected the device of ", place(f, 0, i), ", ",
                  self.device(), ", got ", t.device());
    const bool written = k != 1 || args[u.grad_scale()].tag == LAMELLA_TENSOR;
    if (written) check_written(place(f, k, i), t);
    apart.check(k, written);
  }
  for (int k = u.lists; k < u.lists + u.kept + u.counts; k++) {
    check_number_tensor(place(f, k, i), element(args, k, i));
    apart.check(k, k < u.lists + u.kept);
  }
}

lamella_status infer(lamella_frame* f, const Update& u, const lamella_value* args) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const unsigned variant = variant_of(u, args);
    for (int k = 1; k < u.lists + u.kept + u.counts; k++)
      if (k < 2 || k >= u.lists || u.holds(variant, k - 2)) check_length(f, args, k);
    for (int k = u.first_option(); k <= u.found_inf(); k++)
      if (args[k].tag == LAMELLA_TENSOR)
        check_number_tensor(argument(api().operator_argument(f->op, k)->name), Tensor::borrow(args[k].as.tensor));
    for (uint32_t i = 0; i < list(args, 0).length; i++) check_entry(f, u, args, variant, i);
    return LAMELLA_OK;
  });
}

// ---- the formulas' words, for tensors ----

struct Whole {
  Tensor t;
};
Whole operator+(const Whole& x, const Whole& y) { return {x.t + y.t}; }
Whole operator-(const Whole& x, const Whole& y) { return {x.t - y.t}; }
Whole operator*(const Whole& x, const Whole& y) { return {x.t * y.t}; }
Whole operator/(const Whole& x, const Whole& y) { return {x.t / y.t}; }
Whole operator+(const Whole& x, double y) { return {x.t + y}; }
Whole operator*(const Whole& x, double y) { return {x.t * y}; }
Whole root(const Whole& x) { return {x.t.sqrt()}; }
Whole size(const Whole& x) { return {x.t.abs()}; }
Whole larger(const Whole& x, const Whole& y) { return {lamella::maximum(x.t, y.t)}; }
Whole within(const Whole& x, double low, double high) { return {lamella::clamp(x.t, Scalar(low), Scalar(high))}; }
Whole by_sign(const Whole& x, double positive, double zero, double negative) {
  const Tensor other = lamella::where(x.t < 0, lamella::full_like(x.t, negative), lamella::full_like(x.t, zero));
  return {lamella::where(x.t > 0, lamella::full_like(x.t, positive), other)};
}

using Step = void (*)(unsigned variant, Whole& p, const Whole& g, Whole (&s)[most_state], double decay,
                      const double* factors);

// ---- one tensor after the other ----

void update_one(const Update& u, Step step, const lamella_value* args, const double* options, const Tensor& scale,
                uint32_t i) {
  double kept[most_kept] = {};
  for (int k = 0; k < u.kept; k++) kept[k] = element(args, u.lists + k, i).item().toDouble();
  const double at = u.counts ? element(args, u.step_list(), i).item().toDouble() : 0;
  const Plan plan = u.plan(options, at, kept);
  const auto holds = [&](int k) { return k + 2 < u.lists && u.holds(plan.variant, k); };
  const ScalarType work = wide_of(element(args, 0, i).dtype());
  Whole p{as(element(args, 0, i), work)}, g{as(element(args, 1, i), work)}, s[most_state];
  for (int k = 0; k < most_state; k++)
    if (holds(k)) s[k].t = as(element(args, k + 2, i), work);
  if (scale.defined()) {
    g.t = g.t / as(scale, work);
    element(args, 1, i).copy_(g.t);
  }
  if (options[u.maximize] != 0) g.t = -g.t;
  step(plan.variant, p, g, s, plan.decay, plan.factors);
  element(args, 0, i).copy_(p.t);
  for (int k = 0; k < most_state; k++)
    if (holds(k)) element(args, k + 2, i).copy_(s[k].t);
  for (int k = 0; k < u.kept; k++) element(args, u.lists + k, i).fill_(plan.kept[k]);
}

lamella_status update_all(lamella_frame* f, const Update& u, Step step, const lamella_value* args) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const uint32_t n = list(args, 0).length;
    const lamella_value &scale = args[u.grad_scale()], &stop = args[u.found_inf()];
    if (n == 0 || (stop.tag == LAMELLA_TENSOR && number_of(stop) != 0)) return LAMELLA_OK;
    double options[most_options];
    for (int k = 0; k < u.options; k++) options[k] = number_of(args[u.first_option() + k]);
    const Tensor factor = scale.tag == LAMELLA_TENSOR ? Tensor::borrow(scale.as.tensor) : Tensor();
    for (uint32_t i = 0; i < n; i++) update_one(u, step, args, options, factor, i);
    return LAMELLA_OK;
  });
}

template <class U, int Number>
struct Of {
  static constexpr Update update = update_of<U>(Number);
  static void step(unsigned variant, Whole& p, const Whole& g, Whole (&s)[most_state], double decay,
                   const double* factors) {
    updates::step<U>(variant, p, g, s, decay, factors);
  }
  static lamella_status rule(lamella_frame* f, const lamella_value* args, lamella_meta*) {
    return infer(f, update, args);
  }
  static lamella_status composite(lamella_frame* f, const lamella_value* args, lamella_value*) {
    return update_all(f, update, step, args);
  }
};

// ---- declarations ----

// The text of a page: what is computed, what all have in common, and an example.
std::string page(const char* first, const char* example) {
  return std::string(first) +
         "\n\nThe tensors of the lists are changed where they are, in one pass over the memory. Those of one place "
         "have "
         "one shape, one\nfloating-point dtype and one device; half precision is computed in float32.\n\nArgs:\n    "
         "self: the parameters\n    grads: their gradients\n    maximize: climb, instead of descending\n    "
         "grad_scale: "
         "a number that the gradients are divided by first, also in memory\n    found_inf: a number; unless it is 0, "
         "nothing is changed\n\nRaises:\n    RuntimeError: the lists do not fit together; nothing was "
         "changed\n\n>>> w, g = [lamella.ones(2)], [lamella.ones(2)]\n" +
         example;
}

#define STATE_STEPS "Tensor[] state_steps, "
#define LAST "bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()"
#define ADAM(name, rate)                                                                                        \
  name "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] " \
       "max_exp_avg_sqs, " STATE_STEPS "*, " rate                                                               \
       " lr, float beta1, float beta2, float weight_decay, float eps, "                                         \
       "bool amsgrad, " LAST
#define SGD(name, rate)                                                                                            \
  name "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, "        \
       "float momentum, " rate                                                                                     \
       " lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? " \
       "found_inf=None) -> ()"
#define ADAGRAD(name, written, rate)                                                                                \
  name "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor" written "[] state_steps, *, " rate \
       " lr, float lr_decay, float weight_decay, float eps, " LAST

const char* const steps_text =
    "\n\n`state_steps` has the number of each tensor's step, this one included, as a floating-point tensor of one "
    "element.";

template <class U, int Number>
void add(std::vector<Declaration>& table, const char* schema, const std::string& doc) {
  const char* kept = doc.empty() ? nullptr : (new std::string(doc))->c_str();  // as long as the catalogue
  table.push_back(Declaration{schema, "lists", function, Of<U, Number>::rule, Of<U, Number>::composite, kept});
}

}  // namespace

LAMELLA_FAMILY(optimizer_update) {
  static const auto* table = [] {
    auto* all = new std::vector<Declaration>;
    add<Sgd, 0>(*all, SGD("_fused_sgd_", "float"),
                page("A step of gradient descent, with momentum and weight decay.\n\nThe momentum's buffers become the "
                     "gradients in the first step, whatever they hold. Without momentum that list may be "
                     "empty.\nFormula: Sutskever and others, 2013, with the learning rate outside of the buffer.",
                     ">>> lamella._fused_sgd_(w, g, [], weight_decay=0., momentum=0., lr=0.25, dampening=0., "
                     "nesterov=False, maximize=False, is_first_step=True)\n>>> w\n[tensor([0.7500, 0.7500])]\n"));
    add<Sgd, 0>(*all, SGD("_fused_sgd_.tensor_lr", "Tensor"), "");
    const char* const adam =
        "(w, g, m, v, [], [lamella.tensor(1.)], lr=0.25, beta1=0.9, beta2=0.99, weight_decay=0., eps=0., "
        "amsgrad=False, maximize=False)\n>>> w\n[tensor([0.7500, 0.7500])]\n";
    const std::string moments = ">>> m, v = [lamella.zeros(2)], [lamella.zeros(2)]\n>>> lamella.";
    add<Adam, 1>(*all, ADAM("_fused_adam_", "float"),
                 page((std::string("A step of Adam, with weight decay through the gradient. Without `amsgrad` the list "
                                   "of the largest second moments may be empty.") +
                       steps_text + "\nFormula: Kingma and Ba, 2015; amsgrad: Reddi and others, 2018.")
                          .c_str(),
                      (moments + "_fused_adam_" + adam).c_str()));
    add<Adam, 1>(*all, ADAM("_fused_adam_.tensor_lr", "Tensor"), "");
    add<AdamW, 2>(*all, ADAM("_fused_adamw_", "float"),
                  page((std::string("A step of Adam, with weight decay beside the gradient. Without `amsgrad` the list "
                                    "of the largest second moments may be empty.") +
                        steps_text + "\nFormula: Loshchilov and Hutter, 2019.")
                           .c_str(),
                       (moments + "_fused_adamw_" + adam).c_str()));
    add<AdamW, 2>(*all, ADAM("_fused_adamw_.tensor_lr", "Tensor"), "");
    add<Adagrad, 3>(
        *all, ADAGRAD("_fused_adagrad_", "(d!)", "float"),
        page((std::string("A step of Adagrad.") + steps_text + "\nFormula: Duchi, Hazan and Singer, 2011.").c_str(),
             ">>> lamella._fused_adagrad_(w, g, [lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25, lr_decay=0., "
             "weight_decay=0., eps=0., maximize=False)\n>>> w\n[tensor([0.7500, 0.7500])]\n"));
    add<Adagrad, 3>(*all, ADAGRAD("_fused_adagrad_.tensor_lr", "", "Tensor"), "");
    add<Adadelta, 4>(*all,
                     "_fused_adadelta_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] square_avgs, Tensor(d!)[] "
                     "acc_deltas, *, float lr, float rho, float eps, float weight_decay, " LAST,
                     page("A step of Adadelta.\n\nFormula: Zeiler, 2012.",
                          ">>> lamella._fused_adadelta_(w, g, [lamella.zeros(2)], [lamella.zeros(2)], lr=0.5, "
                          "rho=0., eps=1., weight_decay=0., maximize=False)\n>>> w\n[tensor([0.6464, 0.6464])]\n"));
    add<Adamax, 5>(
        *all,
        "_fused_adamax_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
        "exp_infs, " STATE_STEPS "*, float lr, float beta1, float beta2, float weight_decay, float eps, " LAST,
        page((std::string("A step of Adamax.") + steps_text + "\nFormula: Kingma and Ba, 2015, section 7.").c_str(),
             ">>> lamella._fused_adamax_(w, g, [lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25, "
             "beta1=0.5, beta2=0.5, weight_decay=0., eps=0., maximize=False)\n>>> w\n[tensor([0.7500, 0.7500])]\n"));
    add<Nadam, 6>(
        *all,
        "_fused_nadam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
        "Tensor(e!)[] mu_products, " STATE_STEPS
        "*, float lr, float beta1, float beta2, float weight_decay, float momentum_decay, float eps, bool "
        "decoupled_weight_decay, " LAST,
        page((std::string("A step of NAdam. `mu_products` has the product of each tensor's momenta, 1 at the start, "
                          "and is changed.") +
              steps_text + "\nFormula: Dozat, 2016.")
                 .c_str(),
             ">>> lamella._fused_nadam_(w, g, [lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], "
             "[lamella.tensor(1.)], lr=0.5, beta1=0.5, beta2=0.5, weight_decay=0., momentum_decay=0., eps=0., "
             "decoupled_weight_decay=False, maximize=False)\n>>> w\n[tensor([0.4333, 0.4333])]\n"));
    add<Radam, 7>(
        *all,
        "_fused_radam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
        "exp_avg_sqs, " STATE_STEPS
        "*, float lr, float beta1, float beta2, float weight_decay, float eps, bool decoupled_weight_decay, " LAST,
        page((std::string("A step of RAdam.") + steps_text + "\nFormula: Liu and others, 2020.").c_str(),
             ">>> lamella._fused_radam_(w, g, [lamella.zeros(2)], [lamella.zeros(2)], [lamella.tensor(1.)], lr=0.25, "
             "beta1=0.5, beta2=0.5, weight_decay=0., eps=0., decoupled_weight_decay=False, maximize=False)\n>>> "
             "w\n[tensor([0.7500, 0.7500])]\n"));
    add<Asgd, 8>(
        *all,
        "_fused_asgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] axs, Tensor(d!)[] mus, Tensor(e!)[] "
        "etas, " STATE_STEPS "*, float lambd, float lr, float t0, float alpha, float weight_decay, " LAST,
        page((std::string("A step of gradient descent whose parameters are averaged in `axs`. `mus` and `etas` have "
                          "the weight of the mean, 1 at the start, and the rate, `lr` at the start, and are "
                          "changed.") +
              steps_text + "\nFormula: Polyak and Juditsky, 1992.")
                 .c_str(),
             ">>> lamella._fused_asgd_(w, g, [lamella.zeros(2)], [lamella.tensor(1.)], [lamella.tensor(0.25)], "
             "[lamella.tensor(1.)], lambd=0., lr=0.25, t0=1., alpha=0.75, weight_decay=0., maximize=False)\n>>> "
             "w\n[tensor([0.7500, 0.7500])]\n"));
    add<Rprop, 9>(*all,
                  "_fused_rprop_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] prevs, Tensor(d!)[] step_sizes, "
                  "*, float etaminus, float etaplus, float step_size_min, float step_size_max, " LAST,
                  page("A step of resilient backpropagation, which goes by the signs of the gradients and of those "
                       "before, `prevs`.\n\nFormula: Riedmiller and Braun, 1993.",
                       ">>> lamella._fused_rprop_(w, g, [lamella.ones(2)], [lamella.full((2,), 0.25)], etaminus=0.5, "
                       "etaplus=2., step_size_min=0., step_size_max=1., maximize=False)\n>>> w\n[tensor([0.5000, "
                       "0.5000])]\n"));
    add<Rmsprop, 10>(
        *all,
        "_fused_rmsprop_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] square_avgs, Tensor(d!)[] grad_avgs, "
        "Tensor(e!)[] momentum_buffer_list, *, float lr, float alpha, float eps, float weight_decay, float momentum, "
        "bool centered, " LAST,
        page("A step of RMSprop. The list of the gradients' means may be empty unless `centered`, that of the "
             "momentum's buffers unless there is a momentum.\n\nFormula: Tieleman and Hinton, 2012; centered: Graves, "
             "2013.",
             ">>> lamella._fused_rmsprop_(w, g, [lamella.zeros(2)], [], [], lr=0.25, alpha=0., eps=0., "
             "weight_decay=0., momentum=0., centered=False, maximize=False)\n>>> w\n[tensor([0.7500, 0.7500])]\n"));
    return all;
  }();
  return *table;
}

}  // namespace lamella::operators
