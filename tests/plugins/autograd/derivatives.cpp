// Operators with derivatives as a stranger's library brings them: as a formula, as functions, none, and wrong ones.
#include <lattis/extension.h>

#include <initializer_list>

using lattis::api;

static lattis_status call(const char* name, const char* overload, std::initializer_list<lattis_value> args,
                          lattis_value* out) {
  const auto n = static_cast<int32_t>(args.size());
  return api().call(nullptr, api().find_operator(name, overload), args.begin(), n, out, 1);
}

static lattis_status twice(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  return call("aten::mul", "Scalar", {args[0], lattis::value(2)}, rets);
}
static lattis_status product(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  return call("aten::mul", "Tensor", {args[0], args[1]}, rets);
}

static const lattis_autograd* autograd() {
  return static_cast<const lattis_autograd*>(api().find_interface("autograd", 1));
}
static lattis_status save(void*, lattis_node* node, const lattis_value* args, const lattis_value*) {
  for (int i = 0; i < 2; i++)
    if (lattis_status st = autograd()->save(node, &args[i], -1)) return st;
  return LATTIS_OK;
}
static lattis_status backward(void*, lattis_node* node, lattis_tensor* const* grads, lattis_tensor** outs) {
  for (int i = 0; i < 2; i++) {
    if (!autograd()->node_needs(node, i)) continue;
    lattis_value other = lattis::none(), gradient = lattis::none();
    if (lattis_status st = autograd()->saved(node, 1 - i, &other)) return st;
    const lattis_status st = call("aten::mul", "Tensor", {lattis::value(grads[0]), other}, &gradient);
    api().value_release(&other);
    if (st) return st;
    outs[i] = gradient.as.tensor;
  }
  return LATTIS_OK;
}

LATTIS_LIBRARY(kin, m) {
  for (const char* name : {"twice", "bare", "misspelt", "unfinished", "nobody", "stranger_still"}) {
    m.define((std::string(name) + "(Tensor self) -> Tensor").c_str());
    m.impl(name, "cpu", twice);
  }
  m.derivative("twice", "self: grad * 2");
  m.derivative("misspelt", "self: gard * 2");
  m.derivative("unfinished", "self: mul(grad, 2");
  m.derivative("nobody", "other: grad");
  m.derivative("stranger_still", "self: no_such_operator(grad)");
  m.define("product(Tensor self, Tensor other) -> Tensor");
  m.impl("product", "cpu", product);
  static lattis_derivative of_product = {sizeof of_product, nullptr, save, backward, nullptr, nullptr};
  m.rule("product", "autograd", &of_product);
}
