// Derivatives of collectives. A gradient is a collective of the same group, so that all ranks must go backward through
// corresponding calls in one order. Gradients are operators with composites, which derivatives of second order go through.
#include <lamella/operators.h>
#include <lamella/kernel.h>

#include "group/group.h"
#include "operators.h"

namespace lamella::distributed {
namespace {

using Text = std::string_view;

// A call of an operator of this namespace, through all layers.
template <class... Args>
Tensor call(const char* name, const Args&... args) {
  lamella_value given[] = {args...}, made = none();
  const std::string full = std::string("c10d::") + name;
  check(api().call(nullptr, api().find_operator(full.c_str(), ""), given, sizeof...(args), &made, 1));
  return Tensor::steal(made.as.tensor);
}
lamella_value text(const std::string& s) {
  lamella_value v{LAMELLA_STRING, static_cast<uint32_t>(s.size()), {0}};
  v.as.string = s.c_str();
  return v;
}

const std::string sum = "sum";

// Returns zeros that depend on a tensor, whatever its elements are, so that a derivative goes through what made it.
Tensor zeros_of(const Tensor& t) { return t.masked_fill(lamella::ones({}, kBool), Scalar(0)); }

// Raises unless a reduction has a derivative: that of a sum or a mean is the same reduction of the gradients.
void check_linear(const char* of, Text op) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(op == "sum" || op == "avg", of, ": reduction '", op,
                                "' has no derivative; sum and avg have one");
}

Tensor all_reduce_gradient(const Tensor& grad, const std::string& op, const std::string& group) {
  check_linear("all_reduce", op);
  return call("all_reduce", value(grad), text(op), text(group));
}

Tensor reduce_gradient(const Tensor& grad, int64_t dst, const std::string& op, const std::string& group) {
  check_linear("reduce", op);
  const auto g = Group::find(group);
  Tensor of_root = call("broadcast", value(grad), value(dst), text(group));
  if (op == "avg") of_root = of_root.div(Scalar(g->size()));
  return g->rank() == dst ? of_root : of_root.add(grad);  // the result of another rank is its argument
}

Tensor broadcast_gradient(const Tensor& grad, int64_t src, const std::string& group) {
  const Tensor all = call("reduce", value(grad), value(src), text(sum), text(group));
  return Group::find(group)->rank() == src ? all : zeros_of(all);
}

Tensor all_gather_gradient(const Tensor& grad, IntArrayRef shape, const std::string& group) {
  return call("reduce_scatter", value(grad), text(sum), text(group)).reshape(shape);
}

Tensor reduce_scatter_gradient(const Tensor& grad, const std::string& op, const std::string& group) {
  check_linear("reduce_scatter", op);
  const Tensor all = call("all_gather", value(grad), text(group));
  return op == "avg" ? all.div(Scalar(Group::find(group)->size())) : all;
}

// Scatters the gradient that the root has. On the other ranks the result depends on their empty gradients, so that a
// derivative of second order goes through the scattering on all of them.
Tensor gather_gradient(const Tensor& grad, IntArrayRef shape, int64_t dst, const std::string& group) {
  const Tensor like = lamella::zeros(shape, grad.options()).add(zeros_of(grad.sum()));
  const bool is_root = Group::find(group)->rank() == dst;
  return call("scatter", value(like), is_root ? value(grad) : none(), value(dst), text(group));
}

// Every rank gives its gradient to the root, also those on which nothing but the shape of `self` mattered. The zeros
// depend on the gathering, for the same reason.
std::tuple<Tensor, Tensor> scatter_gradient(const Tensor& grad, int64_t src, const std::string& group) {
  const Tensor all = call("gather", value(grad), value(src), text(group));
  return {zeros_of(grad).add(zeros_of(all.sum())), all};
}

}  // namespace

void register_gradients(Library& m) {
  const auto gradient = [&](const char* schema, auto fn) { m.def(schema, fn); };
  gradient("_all_reduce_gradient(Tensor grad, str op, str group) -> Tensor", all_reduce_gradient);
  gradient("_reduce_gradient(Tensor grad, int dst, str op, str group) -> Tensor", reduce_gradient);
  gradient("_broadcast_gradient(Tensor grad, int src, str group) -> Tensor", broadcast_gradient);
  gradient("_all_gather_gradient(Tensor grad, int[] shape, str group) -> Tensor", all_gather_gradient);
  gradient("_reduce_scatter_gradient(Tensor grad, str op, str group) -> Tensor", reduce_scatter_gradient);
  gradient("_gather_gradient(Tensor grad, int[] shape, int dst, str group) -> Tensor", gather_gradient);
  gradient("_scatter_gradient(Tensor grad, int src, str group) -> (Tensor, Tensor)", scatter_gradient);
  m.derivative("all_reduce", "self: c10d::_all_reduce_gradient(grad, op, group)");
  m.derivative("reduce", "self: c10d::_reduce_gradient(grad, dst, op, group)");
  m.derivative("broadcast", "self: c10d::_broadcast_gradient(grad, src, group)");
  m.derivative("all_reduce_", "self: c10d::_all_reduce_gradient(grad, op, group)");
  m.derivative("reduce_", "self: c10d::_reduce_gradient(grad, dst, op, group)");
  m.derivative("broadcast_", "self: c10d::_broadcast_gradient(grad, src, group)");
  m.derivative("scatter_", "self, parts: c10d::_scatter_gradient(grad, src, group)");
  m.derivative("all_gather", "self: c10d::_all_gather_gradient(grad, self.shape, group)");
  m.derivative("reduce_scatter", "self: c10d::_reduce_scatter_gradient(grad, op, group)");
  m.derivative("all_to_all", "self: c10d::all_to_all(grad, input_split_sizes, output_split_sizes, group)");
  m.derivative("gather", "self: c10d::_gather_gradient(grad, self.shape, dst, group)");
  m.derivative("scatter", "self, parts: c10d::_scatter_gradient(grad, src, group)");
}

}  // namespace lamella::distributed
