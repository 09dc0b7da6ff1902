// What the gradients of scattering are made of.
#include <string_view>

#include "functions.h"

namespace lamella::autograd {
namespace {

// What was gathered by an index, in the shape of the source: of one larger than the index, nothing was read beyond it.
Tensor as_source(Compose& c, const Tensor& gathered, const Ints& shape) {
  Ints pad;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0 && gathered; d--) {
    pad.push_back(0);
    pad.push_back(shape[d] - gathered.size(d));
  }
  const bool whole = std::all_of(pad.begin(), pad.end(), [](int64_t n) { return n == 0; });
  return whole ? gathered : c.op<"constant_pad_nd">(gathered, pad);
}

lamella_status scatter_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return c.give(r, as_source(c, c.op<"gather">(c.arg(a[0]), a[1], a[2]), c.ints(a[3])));
}

// What came to one place is divided among those that it was made of.
struct Fold {
  Compose& c;
  Tensor grad, self, index, src, result;
  lamella_value dim, reduce, included;

  Tensor gather(const Tensor& t) { return c.op<"gather">(t, dim, index); }
  Tensor scatter_add(const Tensor& to, const Tensor& t) { return c.op<"scatter_add">(to, dim, index, t); }
  Tensor fold(const Tensor& to, const Tensor& t) {
    return c.op<"scatter_reduce.two">(to, dim, index, t, reduce, included);
  }
  Tensor number(const Tensor& t) { return c.op<"to.dtype">(t, As{static_cast<uint8_t>(self.dtype())}); }
  // Places that were written, in a tensor that does not count what was there before.
  Tensor left_out(const Tensor& t) { return included.as.i ? t : c.op<"scatter.value">(t, dim, index, 0); }

  std::array<Tensor, 2> mean() {
    const Tensor before = left_out(c.op<"ones_like">(self));
    const Tensor count = c.op<"clamp_min">(scatter_add(before, c.op<"ones_like">(src)), 1);
    const Tensor share = c.op<"div.Tensor">(grad, count);
    return {left_out(share), gather(share)};
  }
  // All that are the extremum share.
  std::array<Tensor, 2> extremum() {
    const Tensor by_self = left_out(number(c.op<"eq.Tensor">(self, result)));
    const Tensor by_src = number(c.op<"eq.Tensor">(src, gather(result)));
    const Tensor share = c.op<"div.Tensor">(grad, scatter_add(by_self, by_src));
    return {c.op<"mul.Tensor">(by_self, share), c.op<"mul.Tensor">(by_src, gather(share))};
  }
  // The product of the others: a single zero is taken for one, beside several nothing is left.
  std::array<Tensor, 2> product() {
    const auto conj = [&](const Tensor& t) { return t && t.dtype() >= LAMELLA_COMPLEX64 ? c.op<"conj">(t) : t; };
    const auto nonzero = [&](const Tensor& t) { return c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(t, 0), 1, t); };
    const Tensor one = nonzero(self), others = c.op<"div.Tensor">(fold(one, src), one);
    const Tensor zero = c.op<"eq.Scalar">(src, 0);
    const Tensor zeros = gather(scatter_add(c.op<"zeros_like">(self), number(zero)));
    const Tensor single = c.op<"logical_and">(zero, c.op<"eq.Scalar">(zeros, 1));
    const Tensor without = gather(fold(self, c.op<"where.ScalarSelf">(single, 1, src)));
    const Tensor rest = c.op<"div.Tensor">(gather(result), nonzero(src));
    const Tensor slope = c.op<"where.self">(single, without, rest);
    return {left_out(c.op<"mul.Tensor">(grad, conj(others))), c.op<"mul.Tensor">(gather(grad), conj(slope))};
  }
};

// (grad, self, dim, index, src, reduce, include_self, result)
lamella_status scatter_reduce_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  Fold fold{c, c.arg(a[0]), c.arg(a[1]), c.arg(a[3]), c.arg(a[4]), c.arg(a[7]), a[2], a[5], a[6]};
  const Ints shape = c.shape(fold.src);
  for (int d = 0; d < fold.index.dim() && fold.index.numel(); d++)
    if (fold.src.size(d) != fold.index.size(d)) fold.src = c.op<"narrow">(fold.src, d, 0, fold.index.size(d));
  const std::string_view how(a[5].as.string, a[5].length);
  std::array<Tensor, 2> out;
  if (fold.index.numel() == 0)
    out = {fold.grad, c.op<"zeros_like">(fold.src)};
  else if (how == "sum")
    out = {fold.left_out(fold.grad), fold.gather(fold.grad)};
  else
    out = how == "mean" ? fold.mean() : how == "prod" ? fold.product() : fold.extremum();
  if (fold.index.numel()) out[1] = as_source(c, out[1], shape);
  return c.give(r, std::move(out));
}

}  // namespace

void define_indexing_functions(Library& m) {
  composite(m, "_scatter_backward(Tensor grad, int dim, Tensor index, int[] size) -> Tensor", scatter_backward);
  composite(m,
            "_scatter_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor src, str reduce, bool "
            "include_self, Tensor result) -> (Tensor, Tensor)",
            scatter_reduce_backward);
}

}  // namespace lamella::autograd
