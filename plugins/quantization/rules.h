// The parts of the plugin that register operators and rules.
#pragma once

#include <lamella/extension.h>

namespace lamella::quantization {

// Calls the kernel that a numeric type of one of the arguments has registered for the operator. Returns false if there
// is none.
bool by_own_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets);
// The same with one result, which is undefined if there is none.
inline Tensor by_own_kernel(lamella_frame* f, std::initializer_list<lamella_value> args) {
  lamella_value ret = none();
  if (!by_own_kernel(f, args.begin(), &ret)) return {};
  return Tensor::steal(ret.tag == LAMELLA_TENSOR ? ret.as.tensor : nullptr);
}

// The layer's rule of pointwise operators.
lamella_status pointwise_rule(lamella_frame*, const lamella_value* args, lamella_value* rets);

void register_conversions(Library& m);  // the operators that make quantized tensors and read them
// Each registers the rules of one kind under the layer's key.
void register_moves(Library& m);     // copies, joins, picked elements
void register_products(Library& m);  // linear layers
void register_sums(Library& m);      // the operators quantized::add and quantized::mul

}  // namespace lamella::quantization
