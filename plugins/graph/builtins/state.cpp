// Autograd, random numbers, and the settings of the thread.
#include <lamella/autograd.h>
#include <lamella/operators.h>

#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

const lamella_autograd& autograd() {
  const lamella_autograd* a = Tensor::autograd();
  LAMELLA_CHECK(a, "no plugin computes gradients: install or allow the plugin 'autograd'");
  return *a;
}

lamella_value set_requires_grad(const lamella_value* a) {
  Tensor::borrow(tensor_argument(a[0])).set_requires_grad(bool_of(a[1]));
  return copy_of(a[0]);
}

uint32_t backward_flags(const lamella_value& retain_graph, const lamella_value& create_graph) {
  const bool create = bool_of(create_graph), retain = retain_graph.tag == LAMELLA_NONE ? create : bool_of(retain_graph);
  return (retain ? uint32_t{LAMELLA_BACKWARD_RETAIN_GRAPH} : 0) |
         (create ? uint32_t{LAMELLA_BACKWARD_CREATE_GRAPH} : 0);
}

lamella_value backward(const lamella_value* a) {
  lamella_tensor* root = tensor_argument(a[0]);
  lamella_tensor* gradient = a[1].tag == LAMELLA_NONE ? nullptr : tensor_argument(a[1]);
  const uint32_t flags = backward_flags(a[2], a[3]) | LAMELLA_BACKWARD_ACCUMULATE;
  check(autograd().backward(&root, &gradient, 1, nullptr, 0, nullptr, flags));
  return none();
}

std::vector<lamella_tensor*> tensors_of(const lamella_value& v, bool optional) {
  std::vector<lamella_tensor*> out;
  for (const lamella_value& t : list_argument(v).items)
    out.push_back(optional && t.tag == LAMELLA_NONE ? nullptr : tensor_argument(t));
  return out;
}

lamella_value grad(const lamella_value* a) {
  std::vector<lamella_tensor*> roots = tensors_of(a[0], false), inputs = tensors_of(a[1], false), gradients;
  if (a[2].tag != LAMELLA_NONE) gradients = tensors_of(a[2], true);
  LAMELLA_CHECK_VALUE(!roots.empty() && !inputs.empty(), "grad: arguments 'outputs' and 'inputs' need a tensor each");
  LAMELLA_CHECK_VALUE(gradients.empty() || gradients.size() == roots.size(), "grad: expected a gradient for each of ",
                      roots.size(), " outputs, got ", gradients.size());
  gradients.resize(roots.size());
  std::vector<lamella_tensor*> outs(inputs.size());
  check(autograd().backward(roots.data(), gradients.data(), static_cast<int32_t>(roots.size()), inputs.data(),
                            static_cast<int32_t>(inputs.size()), outs.data(), backward_flags(a[3], a[4])));
  Items items;
  for (lamella_tensor* t : outs) items.values.push_back(t ? value(t) : none());
  for (size_t i = 0; i < outs.size(); i++)
    LAMELLA_CHECK(outs[i] || bool_of(a[5]), "grad: the outputs do not depend on input ", i,
                  "; with allow_unused=True its gradient is None");
  return items.list();
}

// ---- the thread ----

lamella_value is_grad_enabled(const lamella_value*) {
  const lamella_autograd* a = Tensor::autograd();
  return made(a && !(api().thread()->exclude >> a->layer & 1));
}
lamella_value set_grad_enabled(const lamella_value* a) {
  const bool on = bool_of(a[0]);
  if (!on && !Tensor::autograd()) return none();
  const uint64_t bit = uint64_t{1} << autograd().layer;
  uint64_t& exclude = api().thread()->exclude;
  exclude = on ? exclude & ~bit : exclude | bit;
  return none();
}

// Calls a function with each device of each backend.
template <class F>
void for_each_device(F f) {
  for (int32_t id = 0; api().backend_name(id) != std::string_view("none"); id++) {
    const lamella_backend* b = api().backend_description(id);
    if (!b || api().backend_name(id) == std::string_view("meta")) continue;
    const int32_t n = b->device_count ? b->device_count(b->context) : 1;
    for (int32_t i = 0; i < n; i++) f(lamella_device{id, i});
  }
}

OwnedValue default_generator(lamella_device device) {
  lamella_object* g;
  check(api().generator_default(device, &g));
  return adopt(value_of(g));
}
lamella_value manual_seed(const lamella_value* a) {
  const auto seed = static_cast<uint64_t>(int_of(a[0]));
  for_each_device([&](lamella_device d) { check(api().generator_set(default_generator(d).get().as.object, seed, 0)); });
  return none();
}
lamella_value initial_seed(const lamella_value*) {
  uint64_t seed, offset;
  const OwnedValue generator = default_generator(Device(kCPU).get());
  check(api().generator_get(generator.get().as.object, &seed, &offset));
  return made(static_cast<int64_t>(seed));
}

// Returns the dtype of a float without a dtype of its own.
lamella_value default_dtype(const lamella_value*) {
  return value(lamella::full({}, 0.0, TensorOptions(Device(kMeta))).dtype());
}

constexpr Builtin state_rows[] = {
    {"aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)", set_requires_grad},
    {"aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
     backward},
    {"aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, "
     "bool create_graph=False, bool allow_unused=False) -> Tensor?[]",
     grad},
    {"aten::is_grad_enabled() -> bool", is_grad_enabled},
    {"aten::set_grad_enabled(bool val) -> ()", set_grad_enabled},
    {"aten::manual_seed(int seed) -> ()", manual_seed},
    {"aten::initial_seed() -> int", initial_seed},
    {"aten::get_default_dtype() -> ScalarType", default_dtype},
};

}  // namespace

BuiltinTable state_builtins() { return table_of(state_rows); }

}  // namespace lamella::graph
