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

// Asks about a node of another graph, which the run that goes on has not met.
static lattis_node* watched = nullptr;
static int32_t answered = -1;
static lattis_status watch(lattis_frame* frame, const lattis_value* args, lattis_value* rets) {
  if (lattis_status st = autograd()->grad_fn(args[0].as.tensor, &watched, nullptr)) return st;
  return twice(frame, args, rets);
}
static lattis_status ask(void*, lattis_node*, lattis_tensor* const* grads, lattis_tensor** outs) {
  answered = autograd()->node_needs(watched, 0);
  api().retain(outs[0] = grads[0]);
  return LATTIS_OK;
}
static lattis_status keep_nothing(void*, lattis_node*, const lattis_value*, const lattis_value*) { return LATTIS_OK; }
extern "C" int32_t kin_answered(void) {
  autograd()->node_release(watched);
  watched = nullptr;
  return answered;
}

// A number that each thread has of its own.
static int32_t mark_slot;
static lattis_thread_slot_type mark_type = {sizeof mark_type, "mark", nullptr, nullptr, nullptr};
extern "C" void kin_mark(intptr_t mark) { api().thread_slot_set(mark_slot, reinterpret_cast<void*>(mark)); }
extern "C" intptr_t kin_marked(void) { return reinterpret_cast<intptr_t>(api().thread_slot_get(mark_slot)); }

LATTIS_LIBRARY(kin, m) {
  if (api().thread_slot(m.handle(), &mark_type, &mark_slot)) return;
  m.define("watch(Tensor self) -> Tensor");
  m.impl("watch", "cpu", watch);
  m.define("asking(Tensor self) -> Tensor");
  m.impl("asking", "cpu", twice);
  static const lattis_derivative of_asking = {sizeof of_asking, nullptr, keep_nothing, ask, nullptr, 0, 0};
  m.rule("asking", "autograd", &of_asking);
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
  static const lattis_derivative of_product = {sizeof of_product, nullptr, save, backward, nullptr, 0, 0};
  m.rule("product", "autograd", &of_product);
}
