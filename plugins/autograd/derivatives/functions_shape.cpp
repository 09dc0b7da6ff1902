// Composites that the derivatives of views, joining and reductions call.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

int64_t wrap(int64_t d, int64_t n) { return d < 0 ? d + n : d; }

int64_t product(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

Tensor zeros_of(const Tensor& like, IntArrayRef size) { return zeros(size, like.options()); }

Tensor permute_backward(const Tensor& grad, IntArrayRef dims) {
  DimVector back(dims.size(), 0);
  for (size_t i = 0; i < dims.size(); i++)
    back[wrap(dims[i], static_cast<int64_t>(dims.size()))] = static_cast<int64_t>(i);
  return grad.permute(back);
}

// ---- zeros, with the gradient at the places of a view ---------------------------------------------------------------

Tensor select_backward(const Tensor& grad, IntArrayRef size, int64_t dim, int64_t index) {
  const Tensor whole = zeros_of(grad, size);
  whole.select(dim, index).copy_(grad);
  return whole;
}

Tensor slice_backward(const Tensor& grad, IntArrayRef size, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  const Tensor whole = zeros_of(grad, size);
  slice(whole, dim, start, end, step).copy_(grad);
  return whole;
}

Tensor narrow_backward(const Tensor& grad, IntArrayRef size, int64_t dim, int64_t start, int64_t length) {
  const Tensor whole = zeros_of(grad, size);
  whole.narrow(dim, start, length).copy_(grad);
  return whole;
}

Tensor diagonal_backward(const Tensor& grad, IntArrayRef size, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor whole = zeros_of(grad, size);
  whole.diagonal(offset, dim1, dim2).copy_(grad);
  return whole;
}

// Windows may overlap: an element gets the sum of its windows' gradients. unfold() of the elements' numbers gives, for
// each gradient, the number of the element that it belongs to.
Tensor unfold_backward(const Tensor& grad, IntArrayRef shape, int64_t dim, int64_t size, int64_t step) {
  const int64_t n = product(shape);
  const Tensor numbers = arange(n, TensorOptions(grad.device())).reshape(shape);
  const Tensor index = numbers.unfold(dim, size, step).reshape({-1});
  return zeros_of(grad, {n}).index_add(0, index, grad.reshape({-1})).reshape(shape);
}

// ---- strided views --------------------------------------------------------------------------------------------------

struct Strided {
  DimVector sizes, strides;
  int64_t offset;

  int64_t numel() const { return product(sizes); }
  int64_t end() const {  // one past the last element
    int64_t last = offset;
    for (size_t i = 0; i < sizes.size(); i++) last += (sizes[i] - 1) * strides[i];
    return numel() ? last + 1 : offset;
  }
  // Returns true only if all places are distinct: with the dimensions sorted by stride, each stride must be at least
  // the number of places from the first to the last element of the smaller dimensions.
  bool distinct() const {
    std::vector<std::pair<int64_t, int64_t>> by;
    for (size_t i = 0; i < sizes.size(); i++)
      if (sizes[i] != 1) by.emplace_back(strides[i], sizes[i]);
    std::sort(by.begin(), by.end());
    int64_t span = 1;
    for (const auto& [stride, size] : by) {
      if (stride < span) return false;
      span += (size - 1) * stride;
    }
    return true;
  }
};

Tensor read(const Tensor& flat, const Strided& s) {
  return flat.as_strided(s.sizes, s.strides, s.numel() ? s.offset : 0);
}

// Returns flat memory of `size` elements with the gradient added at the places of `view`.
Tensor spread(const Tensor& grad, const Strided& view, int64_t size) {
  const Tensor flat = zeros_of(grad, {size});
  if (view.distinct()) {
    read(flat, view).copy_(grad);
    return flat;
  }
  const Tensor numbers = arange(size, TensorOptions(grad.device()));
  const Tensor index = read(numbers, view).reshape({-1});
  return flat.index_add(0, index, grad.reshape({-1}));
}

// Reads the places of `base` from flat memory. Elements that share one place share its gradient equally.
Tensor gather(const Tensor& flat, const Strided& base) {
  const Tensor all = read(flat, base);
  if (base.distinct()) return all;
  const Tensor count = read(spread(ones_like(all), base, flat.numel()), base);
  return all / count;
}

Tensor through_memory(const Tensor& grad, Strided base, Strided view) {
  const int64_t low = std::min(base.offset, view.offset);
  base.offset -= low;
  view.offset -= low;
  return gather(spread(grad, view, std::max(base.end(), view.end())), base);
}

// as_strided may read any place of the storage, also places outside of the tensor.
Tensor as_strided_backward(const Tensor& grad, IntArrayRef base_size, IntArrayRef base_stride, int64_t base_offset,
                           IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const Strided base{DimVector(base_size), DimVector(base_stride), base_offset};
  const Strided view{DimVector(size), DimVector(stride), storage_offset.value_or(base_offset)};
  return through_memory(grad, base, view);
}

// Converts a complex tensor's geometry to one over real numbers: each complex number becomes a last dimension of two.
void count_in_real(Strided& s) {
  for (int64_t& n : s.strides) n *= 2;
  s.offset *= 2;
  s.sizes.push_back(2);
  s.strides.push_back(1);
}

// The gradient by the base, for a view given by its geometry. If only one of base and view is complex (the other holds
// its real numbers), both geometries are converted to real numbers.
Tensor strided_backward(const Tensor& grad, IntArrayRef base_size, IntArrayRef base_stride, int64_t base_offset,
                        bool complex_base, IntArrayRef size, IntArrayRef stride, int64_t offset) {
  Strided base{DimVector(base_size), DimVector(base_stride), base_offset};
  Strided view{DimVector(size), DimVector(stride), offset};
  const bool complex_view = grad.is_complex();
  if (complex_base == complex_view) return through_memory(grad, base, view);
  if (complex_base) {
    count_in_real(base);
    return view_as_complex(through_memory(grad, base, view).contiguous());
  }
  count_in_real(view);
  return through_memory(view_as_real(grad), base, view);
}

// ---- joining --------------------------------------------------------------------------------------------------------

// Negative padding removes the elements that the padding had added.
Tensor pad_backward(const Tensor& grad, IntArrayRef pad) {
  std::vector<int64_t> back = pad.vec();
  for (int64_t& n : back) n = -n;
  return constant_pad_nd(grad, back);
}

// `shapes` holds, for each tensor, its number of dimensions and then its sizes.
std::vector<Tensor> cat_backward(const Tensor& grad, IntArrayRef shapes, int64_t dim) {
  const int64_t along = wrap(dim, grad.dim());
  // legacy: the one-dimensional empty tensors, which cat() accepts beside any shape
  std::vector<int64_t> lengths, legacy;
  for (size_t i = 0; i < shapes.size(); i += shapes[i] + 1) {
    const bool fits = grad.dim() == shapes[i];
    if (!fits) legacy.push_back(static_cast<int64_t>(lengths.size()));
    lengths.push_back(fits ? shapes[i + 1 + along] : 0);
  }
  std::vector<Tensor> parts = grad.split_with_sizes(lengths, along);
  for (int64_t i : legacy) parts[i] = zeros_of(grad, {0});
  return parts;
}

// ---- reductions -----------------------------------------------------------------------------------------------------

// Returns the dimensions of a list, sorted; all n dimensions if the list is absent or empty.
DimVector reduced(const std::optional<IntArrayRef>& dims, int64_t n) {
  DimVector all(dims.value_or(IntArrayRef()));
  if (all.empty())
    for (int64_t i = 0; i < n; i++) all.push_back(i);
  for (int64_t& d : all) d = wrap(d, std::max<int64_t>(n, 1));
  std::sort(all.begin(), all.end());
  return all;
}

// Puts the dimensions that a reduction dropped back, with size one.
Tensor kept(Tensor t, IntArrayRef dims, bool keepdim, int64_t n) {
  for (int64_t d : dims)
    if (!keepdim && n > 0) t = t.unsqueeze(d);
  return t;
}

Tensor unreduce(const Tensor& grad, IntArrayRef size, std::optional<IntArrayRef> dim, bool keepdim) {
  const auto n = static_cast<int64_t>(size.size());
  return kept(grad, reduced(dim, n), keepdim, n).expand(size);
}

Tensor mean_backward(const Tensor& grad, IntArrayRef size, std::optional<IntArrayRef> dim, bool keepdim) {
  const auto n = static_cast<int64_t>(size.size());
  const DimVector dims = reduced(dim, n);
  int64_t count = 1;
  for (int64_t d : dims) count *= n ? size[d] : 1;
  return kept(grad / count, dims, keepdim, n).expand(size);
}

// Elements equal to the extremum share its gradient. Without `dim`, NaNs count as equal to it.
Tensor extremum_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<IntArrayRef> dim,
                         bool keepdim) {
  const int64_t n = self.dim();
  const DimVector dims = reduced(dim, n);
  const Tensor came = kept(grad, dims, keepdim, n);
  Tensor mask = self == kept(result, dims, keepdim, n);
  if (!dim.has_value()) mask = mask.logical_or(self.isnan());
  const Tensor share = n ? came / mask.sum(dims, true) : came;
  return dim.has_value() ? share * mask : where(mask, share, 0.0);
}

// Returns, for each element, the product of the elements before it along d.
Tensor product_before(const Tensor& self, const Tensor& one, int64_t d) {
  return cat({one, self.narrow(d, 0, self.size(d) - 1)}, d).cumprod(d);
}

// The gradient of prod: grad times the product of all other elements, which is the product of those before times the
// product of those after, so that nothing is divided by zero.
Tensor prod_backward(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t n = self.dim(), d = wrap(dim, std::max<int64_t>(n, 1));
  if (n == 0) return grad;
  const Tensor came = kept(grad, {d}, keepdim, n);
  if (self.size(d) == 0) return zeros_of(self, self.sizes());
  DimVector slab(self.sizes());
  slab[d] = 1;
  const Tensor one = ones(slab, self.options());
  const Tensor before = product_before(self, one, d);
  const Tensor after = product_before(self.flip({d}), one, d).flip({d});
  const Tensor others = before * after;
  return came * (others.is_complex() ? others.conj() : others);
}

// Puts the gradient at the elements that a reduction chose, given by their indices.
Tensor pick_backward(const Tensor& grad, IntArrayRef size, int64_t dim, const Tensor& indices, bool keepdim) {
  const auto n = static_cast<int64_t>(size.size());
  const DimVector dims{wrap(dim, std::max<int64_t>(n, 1))};
  const Tensor came = kept(grad, dims, keepdim, n), at = kept(indices, dims, keepdim, n);
  return zeros_of(grad, size).scatter(dim, at, came);
}

// Returns the gradient of a variance, or of the standard deviation where `std_` is given. `grad_mean` is the gradient
// of the mean, if the operator returned that as well. Where the deviation is zero, so is its gradient.
Tensor spread_backward(const Tensor& grad, const Tensor& grad_mean, const Tensor& self, const Tensor& std_,
                       std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction, bool keepdim) {
  const int64_t n = self.dim();
  const DimVector dims = reduced(dim, n);
  int64_t count = 1;
  for (int64_t d : dims) count *= n ? self.size(d) : 1;
  const double left = static_cast<double>(count) - (correction ? as_double(correction->value()) : 1);
  Tensor out;
  if (grad.defined()) {
    Tensor slope = kept(grad, dims, keepdim, n);
    if (std_.defined()) {
      const Tensor root = kept(std_, dims, keepdim, n), flat = root == 0;
      slope = where(flat, 0, slope / where(flat, 1, root));
    } else {
      slope = slope * 2;
    }
    const Tensor mean = n ? self.mean(dims, true) : self;
    out = (self - mean) * (slope / std::max(left, 0.));
  }
  if (grad_mean.defined()) {
    const Tensor each = kept(grad_mean, dims, keepdim, n) / count;
    out = out.defined() ? out + each : each.expand(self.sizes());
  }
  return out;
}

Tensor zero_where_zero(const Tensor& of, const Tensor& t) { return where(of == 0, 0, t); }

// Returns the gradient of vector_norm; zero where the norm is zero.
Tensor vector_norm_backward(const Tensor& grad, const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim,
                            bool keepdim, const Tensor& result) {
  const double p = as_double(ord.value());
  const int64_t n = self.dim();
  const DimVector dims = reduced(dim, n);
  const Tensor came = kept(grad, dims, keepdim, n), norm = kept(result, dims, keepdim, n);
  if (p == 0) return zeros_like(self);
  if (p == 1) return self.sgn() * came;
  if (std::isinf(p)) {  // elements equal to the extremum share the gradient
    const Tensor mask = self.abs() == norm;
    const Tensor count = n ? mask.sum(dims, true) : ones_like(norm);
    return self.sgn() * where(mask, came / count, 0);
  }
  const Tensor power = p == 2 ? one_for_zero(norm) : one_for_zero(norm).pow(p - 1);
  const Tensor each = zero_where_zero(norm, came / power);
  if (p == 2) return self * each;
  // For p < 2 the factors are ordered differently, so that a tiny or infinite element is not multiplied by the inverse
  // of its size.
  const bool direction = p < 2;
  const Tensor weight = zero_where_zero(self, one_for_zero(self).abs().pow(direction ? p - 1 : p - 2));
  return (direction ? self.sgn() : self) * weight * each;
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<zeros_of>(m, "_zeros(Tensor like, int[] size) -> Tensor");
  composite<permute_backward>(m, "_permute_backward(Tensor grad, int[] dims) -> Tensor");
  composite<select_backward>(m, "_select_backward(Tensor grad, int[] size, int dim, int index) -> Tensor");
  composite<slice_backward>(
      m, "_slice_backward(Tensor grad, int[] size, int dim, int? start, int? end, int step) -> Tensor");
  composite<narrow_backward>(m, "_narrow_backward(Tensor grad, int[] size, int dim, int start, int length) -> Tensor");
  composite<diagonal_backward>(m,
                               "_diagonal_backward(Tensor grad, int[] size, int offset, int dim1, int dim2) -> Tensor");
  composite<unfold_backward>(m, "_unfold_backward(Tensor grad, int[] shape, int dim, int size, int step) -> Tensor");
  composite<as_strided_backward>(
      m,
      "_as_strided_backward(Tensor grad, int[] base_size, int[] base_stride, int base_offset, int[] size, "
      "int[] stride, int? storage_offset) -> Tensor");
  composite<strided_backward>(
      m,
      "_strided_backward(Tensor grad, int[] base_size, int[] base_stride, int base_offset, bool complex_base, "
      "int[] size, int[] stride, int offset) -> Tensor");
  composite<pad_backward>(m, "_pad_backward(Tensor grad, int[] pad) -> Tensor");
  composite<cat_backward>(m, "_cat_backward(Tensor grad, int[] shapes, int dim) -> Tensor[]");
  composite<unreduce>(m, "_unreduce(Tensor grad, int[] size, int[]? dim, bool keepdim) -> Tensor");
  composite<mean_backward>(m, "_mean_backward(Tensor grad, int[] size, int[]? dim, bool keepdim) -> Tensor");
  composite<extremum_backward>(
      m, "_extremum_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, bool keepdim) -> Tensor");
  composite<pick_backward>(m,
                           "_pick_backward(Tensor grad, int[] size, int dim, Tensor indices, bool keepdim) -> Tensor");
  composite<spread_backward>(
      m,
      "_spread_backward(Tensor? grad, Tensor? grad_mean, Tensor self, Tensor? std, int[]? dim, Scalar? correction, "
      "bool keepdim) -> Tensor");
  composite<vector_norm_backward>(
      m,
      "_vector_norm_backward(Tensor grad, Tensor self, Scalar ord, int[]? dim, bool keepdim, Tensor result) -> Tensor");
  composite<prod_backward>(m, "_prod_backward(Tensor grad, Tensor self, int dim, bool keepdim) -> Tensor");
}

}  // namespace lamella::autograd
