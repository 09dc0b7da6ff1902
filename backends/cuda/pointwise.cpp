// Computes every pointwise operator, also those of other packages, from its expression for the dtype's class. copy_ and
// fill_ run the same kernels without an expression.
#include <algorithm>

#include "elementwise.h"
#include "numbers.h"
#include "operands.h"

namespace cuda {
namespace {

bool on_device(const lamella_value& v, const lamella_tensor* out) {
  return v.tag == LAMELLA_TENSOR && v.as.tensor->backend == out->backend;
}

// Enters input k of a call into `e` and `inputs` if it is a tensor of the device, else into `numbers`.
void take(Element& e, int k, const lamella_value& v, const lamella_tensor* out, const lamella_tensor** inputs,
          Numbers& numbers) {
  if (on_device(v, out)) {
    inputs[k] = v.as.tensor;
    e.dtypes[k + 1] = v.as.tensor->dtype;
  } else {
    put_number(v, e.compute, numbers.operand(k, item_sizes[computed_in(e.compute)]));
  }
}

const char* expression_of(const lamella_pointwise* meaning, int dtype) {
  switch (lamella::dtype_class(lamella::ScalarType(dtype))) {
    case LAMELLA_CLASS_BOOL:
      return meaning->expressions.of_bools;
    case LAMELLA_CLASS_INTEGRAL:
      return meaning->expressions.of_integers;
    case LAMELLA_CLASS_FLOATING:
      return meaning->expressions.of_floats;
    default:
      return meaning->expressions.of_complex;
  }
}

lamella_status pointwise_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    const lamella_pointwise* meaning = api().operator_pointwise(f->op);
    const lamella_tensor* out = rets[0].as.tensor;
    Element e{};
    e.compute = static_cast<int>(f->compute_dtype);
    e.text = expression_of(meaning, e.compute);
    LAMELLA_CHECK_NOT_IMPLEMENTED(e.text, lamella::title(f),
                                  ": device 'cuda' computes operators from their expressions, and this one "
                                  "has none for dtype ",
                                  lamella::ScalarType(e.compute));
    const bool whole = lamella::dtype_class(lamella::ScalarType(e.compute)) == LAMELLA_CLASS_INTEGRAL;
    e.fault = whole ? meaning->fault_condition : nullptr;
    e.result = meaning->result;
    e.condition = meaning->condition;
    std::fill(e.dtypes, e.dtypes + layout_operands, number_operand);
    e.dtypes[0] = out->dtype;
    const int item = item_sizes[computed_in(e.compute)];
    Numbers numbers;
    const lamella_tensor* inputs[3] = {};
    for (int k = 0; k < meaning->inputs; k++) take(e, k, args[k], out, inputs, numbers);
    for (int k = 0; k < meaning->params; k++)
      put_number(args[meaning->inputs + k], e.compute, numbers.parameter(k, item), meaning->absent[k]);
    return run_elementwise(e, out, inputs, meaning->inputs, numbers, f, meaning->fault);
  });
}

// Returns whether two tensors may share bytes. A tensor without elements has none.
bool overlap(const lamella_tensor* a, const lamella_tensor* b) {
  const auto bounds = [](const lamella_tensor* t) {
    const char* first = static_cast<const char*>(t->dl.data);
    const char* last = first + item_sizes[t->dtype];
    for (int d = 0; d < t->dl.ndim; d++)
      (t->dl.strides[d] < 0 ? first : last) += (t->dl.shape[d] - 1) * t->dl.strides[d] * item_sizes[t->dtype];
    return std::pair(first, last);
  };
  const auto [a0, a1] = bounds(a);
  const auto [b0, b1] = bounds(b);
  return a->numel && b->numel && a0 < b1 && b0 < a1;
}
bool same_elements(const lamella_tensor* a, const lamella_tensor* b) {
  return a->dl.data == b->dl.data && a->dtype == b->dtype && a->dl.ndim == b->dl.ndim &&
         std::equal(a->dl.shape, a->dl.shape + a->dl.ndim, b->dl.shape) &&
         std::equal(a->dl.strides, a->dl.strides + a->dl.ndim, b->dl.strides);
}

// Computes copy_(self!, src) and fill_.Scalar(self!, value).
lamella_status assign(const lamella_tensor* self, const lamella_value& from) {
  Element e{};
  std::fill(e.dtypes, e.dtypes + layout_operands, number_operand);
  e.dtypes[0] = self->dtype;
  const lamella_tensor* inputs[1] = {};
  Numbers numbers;
  // A tensor is computed in its own type, a number in self's.
  e.compute = on_device(from, self) ? from.as.tensor->dtype : self->dtype;
  take(e, 0, from, self, inputs, numbers);
  return run_elementwise(e, self, inputs, 1, numbers);
}

lamella::Status copy(const lamella::Tensor&, const lamella::Tensor& src, bool, const lamella::Tensor& out) {
  const lamella_tensor *self = out.get(), *from = src.get();
  const bool reads_self =
      on_device(lamella::value(src.get()), self) && !same_elements(self, from) && overlap(self, from);
  // self gets the elements that src had before the copy.
  const lamella::Tensor aside = reads_self ? copy_of(from) : src;
  return assign(self, lamella::value(aside.get()));
}
lamella::Status fill(const lamella::Tensor&, const lamella::Scalar& value, const lamella::Tensor& out) {
  return assign(out.get(), value.value());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.category("pointwise", "cuda", pointwise_kernel);
  add<copy>(m, "copy_");
  add<fill>(m, "fill_.Scalar");
}

}  // namespace cuda
