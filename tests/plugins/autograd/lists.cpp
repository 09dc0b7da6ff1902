// Operators of a library outside Lamella that take and return lists, with derivatives; and formulas that autograd
// refuses.
#include <lamella/extension.h>

#include <initializer_list>
#include <vector>

using lamella::api;

static lamella_status call(const char* name, const char* overload, std::initializer_list<lamella_value> args,
                           lamella_value* out) {
  const auto n = static_cast<int32_t>(args.size());
  return api().call(nullptr, api().find_operator(name, overload), args.begin(), n, out, 1);
}

// Writes tensors into a result as a list, which then owns them.
static lamella_status give(std::vector<lamella::Tensor> tensors, lamella_value* ret) {
  std::vector<lamella_tensor*> list;
  for (const lamella::Tensor& t : tensors) list.push_back(t.get());
  lamella_value v{LAMELLA_TENSOR_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.tensors = list.data();
  return api().value_retain(&v, ret);
}

// Returns x, x², … up to a power, as separate tensors.
static lamella_status powers(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  std::vector<lamella::Tensor> all;
  for (int64_t i = 1; i <= args[1].as.i; i++) {
    lamella_value next = lamella::none();
    if (lamella_status st = call("aten::pow", "Tensor_Scalar", {args[0], lamella::value(i)}, &next)) return st;
    all.push_back(lamella::Tensor::steal(next.as.tensor));
  }
  return give(std::move(all), rets);
}
// The derivative of `powers`; some results may have no gradient.
static lamella_status powers_backward(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_value sum = lamella::none();
  for (uint32_t i = 0; i < args[0].length; i++) {
    if (!args[0].as.tensors[i]) continue;
    lamella_value power = lamella::none(), term = lamella::none(), part = lamella::none(), next = lamella::none();
    const auto n = static_cast<int64_t>(i);
    lamella_status st = call("aten::pow", "Tensor_Scalar", {args[1], lamella::value(n)}, &power);
    if (!st) st = call("aten::mul", "Tensor", {lamella::value(args[0].as.tensors[i]), power}, &term);
    if (!st) st = call("aten::mul", "Scalar", {term, lamella::value(n + 1)}, &part);
    if (!st && sum.tag != LAMELLA_NONE) st = call("aten::add", "Tensor", {sum, part, lamella::value(1)}, &next);
    for (lamella_value* v : {&power, &term}) api().value_release(v);
    if (st) return st;
    if (sum.tag == LAMELLA_NONE) {
      sum = part;
    } else {
      api().value_release(&sum);
      api().value_release(&part);
      sum = next;
    }
  }
  rets[0] = sum;
  return LAMELLA_OK;
}
// Returns 2x, then a list of exp(x) and x as integers, then x + 1.
static lamella_status mixed(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_value list = lamella::none();
  if (lamella_status st = call("aten::mul", "Scalar", {args[0], lamella::value(2)}, &rets[0])) return st;
  if (lamella_status st = call("aten::exp", "", {args[0]}, &list)) return st;
  const lamella::Tensor e = lamella::Tensor::steal(list.as.tensor);
  lamella_value whole = lamella::none();
  const lamella_value dtype{LAMELLA_DTYPE, 0, {LAMELLA_INT64}};
  if (lamella_status st = call("aten::to", "dtype",
                               {args[0], dtype, lamella::value(false), lamella::value(false), lamella::none()}, &whole))
    return st;
  lamella_status st = give({e, lamella::Tensor::steal(whole.as.tensor)}, &rets[1]);
  return st ? st : call("aten::add", "Scalar", {args[0], lamella::value(1), lamella::value(1)}, &rets[2]);
}

LAMELLA_LIBRARY(lots, m) {
  for (const char* name : {"powers", "unnamed"}) {
    m.define((std::string(name) + "(Tensor self, int n) -> Tensor[]").c_str());
    m.impl(name, "cpu", powers, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  }
  m.define("powers_backward(Tensor?[] grads, Tensor self) -> Tensor");
  m.impl("powers_backward", "composite", powers_backward);
  m.derivative("powers", "self: lots::powers_backward(grads, self)");
  m.derivative("unnamed", "self: grad");
  m.define("saved_powers(Tensor self, int n) -> Tensor[]");
  m.impl("saved_powers", "cpu", powers, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  m.derivative("saved_powers", "self: sum(mul(stack(grads), stack(result)), [0])");
  m.define("mixed(Tensor self) -> (Tensor, Tensor[], Tensor)");
  m.impl("mixed", "cpu", mixed);
  m.derivative("mixed", "self: 2 * grad0 + grad2");
  m.define("two_lists(Tensor[] a, Tensor[] b) -> Tensor");
  m.derivative("two_lists", "a: unbind(grad); b: unbind(grad)");
  m.define("lists_out(Tensor a) -> (Tensor[], Tensor[])");
  m.derivative("lists_out", "a: stack(grads)");
  // Formulas that exceed the limits of their size.
  std::string numbers, calls = "grad";
  for (int i = 0; i < 65; i++) numbers += (i ? ", " : "") + std::to_string(1);
  for (int i = 0; i < 10; i++) calls = "lots::wide(" + calls + ")";
  m.define("two_formulas(Tensor self) -> Tensor");
  m.derivative("two_formulas", "self: grad; self: 2 * grad");
  m.define("long_list(Tensor self) -> Tensor");
  m.derivative("long_list", strdup(("self: reshape(grad, [" + numbers + "])").c_str()));
  for (const int n : {30, 32}) {
    std::string parameters = "Tensor self";
    for (int i = 0; i < n; i++) parameters += ", int n" + std::to_string(i) + "=0";
    m.define(((n == 30 ? "wide(" : "wider(") + parameters + ") -> Tensor").c_str());
  }
  m.define("many_constants(Tensor self) -> Tensor");
  m.derivative("many_constants", strdup(("self: " + calls).c_str()));
  m.define("many_operands(Tensor self) -> Tensor");
  m.derivative("many_operands", "self: lots::wider(grad)");
  m.define("conj_list(Tensor self, int n) -> Tensor[]");
  m.derivative("conj_list", "self: stack(conj(grads))");
  m.define("join(Tensor[] tensors) -> Tensor");
  m.impl("join", "cpu", [](lamella_frame*, const lamella_value* args, lamella_value* rets) {
    return call("aten::cat", "", {args[0], lamella::value(0)}, rets);
  });
  m.derivative("join", "tensors: split(grad, 4)");
}
