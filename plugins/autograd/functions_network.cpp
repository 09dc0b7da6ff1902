#include "functions.h"

namespace lattis::autograd {
namespace {

// Of linear(input, weight): the rows of the gradient against the rows of the input, whatever the leading dimensions.
lattis_status linear_weight_backward(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), input = c.arg(a[1]);
  const auto rows = [&](const Tensor& t) {
    return t.dim() == 2 ? t : c.op<"reshape">(t, Ints{t.numel() / std::max<int64_t>(t.size(-1), 1), t.size(-1)});
  };
  Tensor x = rows(input);
  if (x && x.dtype() >= LATTIS_COMPLEX64) x = c.op<"conj">(x);
  return c.give(r, c.op<"mm">(c.op<"t">(rows(grad)), x));
}

}  // namespace

void define_network_functions(Library& m) {
  composite(m, "_linear_weight_backward(Tensor grad, Tensor input) -> Tensor", linear_weight_backward);
}

}  // namespace lattis::autograd
