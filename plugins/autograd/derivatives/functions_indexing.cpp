// Composites that the derivatives of scattering operators call.
#include <algorithm>

#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

// Pads a gradient that was gathered by an index to the shape of the source, with zeros where the index read nothing.
Tensor as_source(const Tensor& gathered, IntArrayRef size) {
  // A zero-dim tensor is treated as one dimension of size one.
  if (gathered.dim() == 0 || size.empty())
    return gathered.dim() == static_cast<int64_t>(size.size()) ? gathered : gathered.reshape(size);
  std::vector<int64_t> pad;
  for (int64_t d = static_cast<int64_t>(size.size()) - 1; d >= 0; d--) {
    pad.push_back(0);
    pad.push_back(size[d] - gathered.size(d));
  }
  const bool whole = std::all_of(pad.begin(), pad.end(), [](int64_t n) { return n == 0; });
  return whole ? gathered : constant_pad_nd(gathered, pad);
}

Tensor scatter_backward(const Tensor& grad, int64_t dim, const Tensor& index, IntArrayRef size) {
  return as_source(gather(grad, dim, index), size);
}

Tensor one_if_zero(const Tensor& t) { return where(t == 0, 1, t); }

// The gradients of scatter_reduce: the gradient of each place is divided among the elements that were reduced into it.
struct Fold {
  using Gradients = std::tuple<Tensor, Tensor>;

  const Tensor &grad, &self;
  int64_t dim;
  const Tensor &index, &src;
  std::string_view reduce;
  bool include_self;
  const Tensor& result;

  Tensor gather(const Tensor& t) const { return lamella::gather(t, dim, index); }
  Tensor scatter_add(const Tensor& to, const Tensor& t) const { return lamella::scatter_add(to, dim, index, t); }
  Tensor fold(const Tensor& to, const Tensor& t) const {
    return scatter_reduce(to, dim, index, t, reduce, include_self);
  }
  Tensor number(const Tensor& t) const { return t.to(self.dtype()); }
  // Returns t if include_self says that self's elements count as well; else t with zeros at the places that were
  // written.
  Tensor left_out(const Tensor& t) const { return include_self ? t : scatter(t, dim, index, 0); }

  Gradients sum() const { return {left_out(grad), gather(grad)}; }
  Gradients mean() const {
    const Tensor before = left_out(ones_like(self));
    const Tensor count = clamp_min(scatter_add(before, ones_like(src)), 1);
    const Tensor share = grad / count;
    return {left_out(share), gather(share)};
  }
  // All elements equal to the extremum get equal shares.
  Gradients extremum() const {
    const Tensor by_self = left_out(number(self == result));
    const Tensor by_src = number(src == gather(result));
    const Tensor share = grad / scatter_add(by_self, by_src);
    return {by_self * share, by_src * gather(share)};
  }
  // The slope is the product of the other elements, that is the result divided by the element. Division by zero is
  // avoided: a place's only zero counts as 1 in the product; with several zeros at one place the slope is zero.
  Gradients product() const {
    const Tensor one = one_if_zero(self), others = fold(one, src) / one;
    const Tensor zero = src == 0;
    const Tensor zeros = gather(scatter_add(zeros_like(self), number(zero)));
    const Tensor single = logical_and(zero, zeros == 1);
    const Tensor without = gather(fold(self, where(single, 1, src)));
    const Tensor rest = gather(result) / one_if_zero(src);
    const Tensor slope = where(single, without, rest);
    return {left_out(grad * conj_if_complex(others)), gather(grad) * conj_if_complex(slope)};
  }
};

std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                                   const Tensor& index, const Tensor& src, std::string_view reduce,
                                                   bool include_self, const Tensor& result) {
  if (index.numel() == 0) return {grad, zeros_like(src)};
  Tensor read = src;  // the part of src that the index covers
  for (int64_t d = 0; d < index.dim(); d++)
    if (read.size(d) != index.size(d)) read = narrow(read, d, 0, index.size(d));
  const Fold fold{grad, self, dim, index, read, reduce, include_self, result};
  std::tuple<Tensor, Tensor> out = reduce == "sum"    ? fold.sum()
                                   : reduce == "mean" ? fold.mean()
                                   : reduce == "prod" ? fold.product()
                                                      : fold.extremum();
  std::get<1>(out) = as_source(std::get<1>(out), src.sizes());
  return out;
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<scatter_backward>(m, "_scatter_backward(Tensor grad, int dim, Tensor index, int[] size) -> Tensor");
  composite<scatter_reduce_backward>(
      m,
      "_scatter_reduce_backward(Tensor grad, Tensor self, int dim, Tensor index, Tensor src, str reduce, bool "
      "include_self, Tensor result) -> (Tensor, Tensor)");
}

}  // namespace lamella::autograd
