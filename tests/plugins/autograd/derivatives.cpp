// Operators of a library outside Lamella with derivatives: as a formula, as functions, none, and wrong ones.
#include <lamella/extension.h>

#include <initializer_list>

using lamella::api;

static lamella_status call(const char* name, const char* overload, std::initializer_list<lamella_value> args,
                           lamella_value* out) {
  const auto n = static_cast<int32_t>(args.size());
  return api().call(nullptr, api().find_operator(name, overload), args.begin(), n, out, 1);
}

static lamella_status twice(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  return call("aten::mul", "Scalar", {args[0], lamella::value(2)}, rets);
}
static lamella_status product(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  return call("aten::mul", "Tensor", {args[0], args[1]}, rets);
}

static const lamella_autograd* autograd() {
  return static_cast<const lamella_autograd*>(api().find_interface("autograd", 1));
}
static lamella_status save(void*, lamella_node* node, const lamella_value* args, const lamella_value*) {
  for (int i = 0; i < 2; i++)
    if (lamella_status st = autograd()->save(node, &args[i], -1)) return st;
  return LAMELLA_OK;
}
static lamella_status backward(void*, lamella_node* node, lamella_tensor* const* grads, lamella_tensor** outs) {
  for (int i = 0; i < 2; i++) {
    if (!autograd()->node_needs(node, i)) continue;
    lamella_value other = lamella::none(), gradient = lamella::none();
    if (lamella_status st = autograd()->saved(node, 1 - i, &other)) return st;
    const lamella_status st = call("aten::mul", "Tensor", {lamella::value(grads[0]), other}, &gradient);
    api().value_release(&other);
    if (st) return st;
    outs[i] = gradient.as.tensor;
  }
  return LAMELLA_OK;
}

// A backward that queries a node of another graph, which the current run has not visited.
static lamella_node* watched = nullptr;
static int32_t answered = -1;
static lamella_status watch(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  if (lamella_status st = autograd()->grad_fn(args[0].as.tensor, &watched, nullptr)) return st;
  return twice(frame, args, rets);
}
static lamella_status ask(void*, lamella_node*, lamella_tensor* const* grads, lamella_tensor** outs) {
  answered = autograd()->node_needs(watched, 0);
  api().retain(outs[0] = grads[0]);
  return LAMELLA_OK;
}
static lamella_status keep_nothing(void*, lamella_node*, const lamella_value*, const lamella_value*) {
  return LAMELLA_OK;
}
extern "C" int32_t kin_answered(void) {
  autograd()->node_release(watched);
  watched = nullptr;
  return answered;
}

// A thread slot with a number.
static int32_t mark_slot;
static lamella_thread_slot_type mark_type = {sizeof mark_type, 0, "mark", nullptr, nullptr, nullptr};
extern "C" void kin_mark(intptr_t mark) { api().thread_slot_set(mark_slot, reinterpret_cast<void*>(mark)); }
extern "C" intptr_t kin_marked(void) { return reinterpret_cast<intptr_t>(api().thread_slot_get(mark_slot)); }

LAMELLA_LIBRARY(kin, m) {
  if (api().thread_slot(m.handle(), &mark_type, &mark_slot)) return;
  m.define("watch(Tensor self) -> Tensor");
  m.impl("watch", "cpu", watch);
  m.define("asking(Tensor self) -> Tensor");
  m.impl("asking", "cpu", twice);
  static const lamella_derivative of_asking = {sizeof of_asking, 0, nullptr, keep_nothing, ask, nullptr};
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
  static const lamella_derivative of_product = {sizeof of_product, 0, nullptr, save, backward, nullptr};
  m.rule("product", "autograd", &of_product);
}
