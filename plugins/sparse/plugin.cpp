// Sparse tensors: a layer outside of autograd, the slot with a tensor's parts, and operators on sparse tensors and on
// their parts. state.h defines a sparse tensor, and Note [Boundary] in rules.h describes the rules of operators.
#include "rules.h"

namespace lamella::sparse {
namespace {

// Raises an error for a call of an operator without a rule.
lamella_status fallback(lamella_frame* f, const lamella_value* args, lamella_value*) {
  return guarded([&]() -> lamella_status {
    const auto refuse = [&](int i, const State& s) {
      throw Error(LAMELLA_NOT_IMPLEMENTED, title(f) + ": argument '" + api().operator_argument(f->op, i)->name +
                                               "' has layout " + kind_name(s.kind) + ", and there is no rule for it; " +
                                               "x.to_dense() gives a tensor that every operator takes");
    };
    for (int i = 0; i < f->num_args; i++) {
      if (args[i].tag == LAMELLA_TENSOR)
        if (const State* s = state_of(args[i].as.tensor)) refuse(i, *s);
      for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++)
        if (const State* s = args[i].as.tensors[k] ? state_of(args[i].as.tensors[k]) : nullptr) refuse(i, *s);
    }
    throw Error(LAMELLA_NOT_IMPLEMENTED, title(f) + ": an argument is sparse, and there is no rule for it");
  });
}

}  // namespace
}  // namespace lamella::sparse

LAMELLA_LIBRARY(sparse, m) {
  using namespace lamella::sparse;
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = layer_name;
  layer.at = "autograd";
  static const char* const recorder[] = {"autograd", nullptr};
  layer.outside = recorder;
  layer.flags = LAMELLA_LAYER_DECOMPOSE;
  layer.fallback = fallback;
  layer.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
  m.layer(layer, &layer_bit);
  m.tensor_slot("sparse", slot, layer_name);
  register_boundary(m);
  register_sorting(m);
  register_products(m);
  register_conversions(m);
  register_pointwise(m);
  register_matmuls(m);
  register_moves(m);
  register_reductions(m);
  register_tables(m);
}
