// Quantized tensors: a layer, the slot with a tensor's scheme, and operators that make and read such tensors. Start with
// scheme.h, which says what a quantized tensor is; Note [Ways] in calls.h says how operators compute with them.
#include "calls.h"
#include "rules.h"

namespace lamella::quantization {

bool by_own_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  for (int i = 0; i < f->num_args; i++) {
    const Scheme* s = args[i].tag == LAMELLA_TENSOR ? scheme_of(args[i].as.tensor) : nullptr;
    const lamella_operator* kernel = s ? s->type->kernel(f->op) : nullptr;
    if (!kernel) continue;
    record(f->op, Way::native, *s);
    check(api().call(nullptr, kernel, args, f->num_args, rets, f->num_rets));
    return true;
  }
  return false;
}

namespace {

// Serves every operator without a rule: a numeric type's own kernel, or an error.
lamella_status fallback(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&]() -> lamella_status {
    if (by_own_kernel(f, args, rets)) return LAMELLA_OK;
    for (int i = 0; i < f->num_args; i++) {
      const char* name = api().operator_argument(f->op, i)->name;
      if (args[i].tag == LAMELLA_TENSOR)
        if (const Scheme* s = scheme_of(args[i].as.tensor)) no_rule(f->op, name, *s);
      for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++)
        if (const Scheme* s = scheme_of(args[i].as.tensors[k])) no_rule(f->op, name, *s);
    }
    throw Error(LAMELLA_NOT_IMPLEMENTED, title(f) + ": an argument is quantized, and there is no rule for it");
  });
}

}  // namespace
}  // namespace lamella::quantization

LAMELLA_LIBRARY(quantized, m) {
  using namespace lamella::quantization;
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = layer_name;
  layer.at = "backend";
  static const char* const modes[] = {"torch_dispatch", nullptr};
  layer.inside = modes;  // a mode of Python sees calls with quantized tensors, and not the operators that rules call
  layer.flags = LAMELLA_LAYER_DECOMPOSE;
  layer.fallback = fallback;
  layer.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
  m.layer(layer, &layer_bit);
  m.tensor_slot("quantization", slot, layer_name);
  m.category("view", layer_name, nullptr);  // `carry` gives views their state
  m.category("pointwise", layer_name, pointwise_rule, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  register_types(m);
  register_calls(m);
  register_conversions(m);
  register_moves(m);
  register_products(m);
  register_sums(m);
}
