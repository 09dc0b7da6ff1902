// The updates of optimizers over lists of tensors. The formulas are those of <lamella/updates.h>, applied to whole
// tensors; a device's kernel may apply them to each element. See Note [Updates] in <lamella/updates/base.h>.
#include <lamella/updates/host.h>

#include <cstdio>

#include "operators/shapes.h"
#include "operators/sharing.h"

namespace lamella::operators {
namespace {

using namespace updates;

// ---- what is given ----

const lamella_value& list(const lamella_value* args, int k) { return args[k]; }
Tensor element(const lamella_value* args, int k, uint32_t i) { return Tensor::borrow(args[k].as.tensors[i]); }

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

// Raises if two tensors of one entry share memory and one of them is written, since elements would be read after others
// were changed. A tensor that is only read, as a gradient, may be the same as a written one, element by element.
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

// ---- the operations of the formulas, for numbers that may be tensors, and for whole tensors ----

// A number, or a zero-dim tensor of float64, through which gradients of the results flow.
struct Number {
  Number(double value = 0) : value(value) {}
  explicit Number(const Tensor& t) : t(t) {}
  double value = 0;  // the number, if `t` is not defined
  Tensor t;
};
double value_of(const Number& x) { return x.t.defined() ? x.t.item().toDouble() : x.value; }
template <class F>
Number combined(const Number& x, const Number& y, double value, F f) {
  if (x.t.defined()) return Number(y.t.defined() ? f(x.t, y.t) : f(x.t, y.value));
  return y.t.defined() ? Number(f(lamella::full_like(y.t, x.value), y.t)) : Number(value);
}
Number operator+(const Number& x, const Number& y) {
  return combined(x, y, x.value + y.value, [](const auto& a, const auto& b) { return a + b; });
}
Number operator-(const Number& x, const Number& y) {
  return combined(x, y, x.value - y.value, [](const auto& a, const auto& b) { return a - b; });
}
Number operator*(const Number& x, const Number& y) {
  return combined(x, y, x.value * y.value, [](const auto& a, const auto& b) { return a * b; });
}
Number operator/(const Number& x, const Number& y) {
  return combined(x, y, x.value / y.value, [](const auto& a, const auto& b) { return a / b; });
}
Number power(const Number& x, double y) {
  return x.t.defined() ? Number(x.t.pow(Scalar(y))) : Number(updates::power(x.value, y));
}
Number root(const Number& x) { return x.t.defined() ? Number(x.t.sqrt()) : Number(updates::root(x.value)); }

struct Whole {
  Tensor t;
};
Whole operator+(const Whole& x, const Whole& y) { return {x.t + y.t}; }
Whole operator-(const Whole& x, const Whole& y) { return {x.t - y.t}; }
Whole operator*(const Whole& x, const Whole& y) { return {x.t * y.t}; }
Whole operator/(const Whole& x, const Whole& y) { return {x.t / y.t}; }
Whole operator+(const Whole& x, const Number& y) { return {y.t.defined() ? x.t + y.t : x.t + y.value}; }
Whole operator*(const Whole& x, const Number& y) { return {y.t.defined() ? x.t * y.t : x.t * y.value}; }
Whole root(const Whole& x) { return {x.t.sqrt()}; }
Whole size(const Whole& x) { return {x.t.abs()}; }
Whole larger(const Whole& x, const Whole& y) { return {lamella::maximum(x.t, y.t)}; }
Whole limited(const Whole& x, const Number& low, const Number& high) {
  return {lamella::clamp(x.t, Scalar(value_of(low)), Scalar(value_of(high)))};
}
Whole by_sign(const Whole& x, const Number& positive, const Number& zero, const Number& negative) {
  const auto full = [&](const Number& c) { return lamella::full_like(x.t, value_of(c)); };
  return {lamella::where(x.t > 0, full(positive), lamella::where(x.t < 0, full(negative), full(zero)))};
}

// An update over whole tensors.
struct Formula {
  PlanOf<Number> (*plan)(const Number* options, double step, const double* kept);
  void (*step)(unsigned variant, Whole& p, const Whole& g, Whole (&s)[most_state], const Number& decay,
               const Number* factors);
};

// ---- one tensor after the other ----

// The elements in the dtype that the formula computes in. They are a copy, as backward may need them after the update,
// which counts as a write to all its lists.
Tensor read(const Tensor& t, ScalarType work) { return t.dtype() == work ? t.clone() : t.to(work); }

void update_one(const Update& u, const Formula& formula, const lamella_value* args, const Number* options,
                const Tensor& scale, uint32_t i) {
  double kept[most_kept] = {};
  for (int k = 0; k < u.kept; k++) kept[k] = element(args, u.lists + k, i).item().toDouble();
  const double at = u.counts ? element(args, u.step_list(), i).item().toDouble() : 0;
  const PlanOf<Number> plan = formula.plan(options, at, kept);
  const auto holds = [&](int k) { return k + 2 < u.lists && u.holds(plan.variant, k); };
  const ScalarType work = wide_of(element(args, 0, i).dtype());
  Whole p{read(element(args, 0, i), work)}, g{read(element(args, 1, i), work)}, s[most_state];
  for (int k = 0; k < most_state; k++)
    if (holds(k)) s[k].t = read(element(args, k + 2, i), work);
  if (scale.defined()) {
    g.t = g.t / as(scale, work);
    element(args, 1, i).copy_(g.t);
  }
  if (is_on(options[u.maximize])) g.t = -g.t;
  formula.step(plan.variant, p, g, s, plan.decay, plan.factors);
  element(args, 0, i).copy_(p.t);
  for (int k = 0; k < most_state; k++)
    if (holds(k)) element(args, k + 2, i).copy_(s[k].t);
  for (int k = 0; k < u.kept; k++) element(args, u.lists + k, i).fill_(plan.kept[k]);
}

lamella_status update_all(lamella_frame* f, const Update& u, const Formula& formula, const lamella_value* args) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const uint32_t n = list(args, 0).length;
    const lamella_value &scale = args[u.grad_scale()], &stop = args[u.found_inf()];
    if (n == 0 || (stop.tag == LAMELLA_TENSOR && Tensor::borrow(stop.as.tensor).item().toDouble() != 0))
      return LAMELLA_OK;
    Number options[most_options];
    for (int k = 0; k < u.options; k++) {
      const lamella_value& v = args[u.first_option() + k];
      options[k] =
          v.tag == LAMELLA_TENSOR ? Number(as(Tensor::borrow(v.as.tensor), kDouble).reshape({})) : Number(as_double(v));
    }
    const Tensor factor = scale.tag == LAMELLA_TENSOR ? Tensor::borrow(scale.as.tensor) : Tensor();
    for (uint32_t i = 0; i < n; i++) update_one(u, formula, args, options, factor, i);
    return LAMELLA_OK;
  });
}

template <class U, int number>
struct Of {
  static void step(unsigned variant, Whole& p, const Whole& g, Whole (&s)[most_state], const Number& decay,
                   const Number* factors) {
    updates::step<U>(variant, p, g, s, decay, factors);
  }
  static lamella_status rule(lamella_frame* f, const lamella_value* args, lamella_meta*) {
    return infer(f, update_table[number], args);
  }
  static lamella_status composite(lamella_frame* f, const lamella_value* args, lamella_value*) {
    return update_all(f, update_table[number], {U::template plan<Number>, step}, args);
  }
};

// ---- declarations, which follow from the struct of each update ----

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", x);
  return text;
}

std::string schema_of(const Update& u, int overload) {
  std::string text = operator_name(u, overload) + "(Tensor(a!)[] self, Tensor(b!)[] grads";
  for (int k = 0; k < u.lists - 2 + u.kept; k++)
    text += std::string(", Tensor(") + static_cast<char>('c' + k) + "!)[] " + u.state[k].list;
  text += u.counts ? ", Tensor[] state_steps, *" : ", *";
  for (int k = 0; k < u.options; k++) {
    const Option& o = u.about[k];
    const std::string name = o.name;
    text += o.flag                   ? ", bool " + name + "=False"
            : is_tensor(o, overload) ? ", Tensor " + name
                                     : ", float " + name + "=" + number_text(o.start);
  }
  return text + ", Tensor? grad_scale=None, Tensor? found_inf=None) -> ()";
}

// The page: what is computed, what all updates have in common, and an example.
std::string page(const Update& u) {
  const std::string ones = "[lamella.ones(2)]", element = u.result;
  std::string text = u.doc;
  if (u.counts)
    text += R"(

`state_steps` has the number of each tensor's step, this one included, as a floating-point tensor of one element.)";
  return text + R"(

The tensors of the lists are changed where they are, in one pass over the memory. Those of one place have one shape, one
floating-point dtype and one device; half precision is computed in float32.

Args:
    self: the parameters
    grads: their gradients
    maximize: climb, instead of descending
    grad_scale: a number that the gradients are divided by first, also in memory
    found_inf: a number; unless it is 0, nothing is changed

Raises:
    RuntimeError: the lists do not fit together; nothing was changed

>>> w, g = )" +
         ones + ", " + ones + "\n>>> lamella." + operator_name(u, of_numbers) + "(w, g, " + u.example +
         ")\n>>> w\n[tensor([" + element + ", " + element + "])]\n";
}

// Returns a copy that lives as long as the catalogue.
const char* kept(const std::string& text) { return (new std::string(text))->c_str(); }

template <class U, int number>
void add(std::vector<Declaration>& table) {
  constexpr const Update& u = update_table[number];
  for (int overload = 0; overload < u.overload_count(); overload++)
    table.push_back({.schema = kept(schema_of(u, overload)),
                     .category = "lists",
                     .forms = function,
                     .infer = Of<U, number>::rule,
                     .composite = Of<U, number>::composite,
                     .doc = overload == of_numbers ? kept(page(u)) : nullptr});
}

}  // namespace

LAMELLA_FAMILY(optimizer_update) {
  static const auto* table = [] {
    auto* made = new std::vector<Declaration>;
#define LAMELLA_ADD_UPDATE(U) add<U, number_##U>(*made);
    LAMELLA_UPDATES(LAMELLA_ADD_UPDATE)
#undef LAMELLA_ADD_UPDATE
    return made;
  }();
  return *table;
}

}  // namespace lamella::operators
