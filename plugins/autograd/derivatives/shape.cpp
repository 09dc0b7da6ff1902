// Derivatives of views, copies, reductions and indexing.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line views[] = {
    {"positive, alias, expand, broadcast_to", "self: grad"},  // summed to the shape of self, as each gradient is
    {"expand_as", "self: grad; other: none"},
    {"t", "self: t(grad)"},
    {"transpose.int", "self: transpose(grad, dim0, dim1)"},
    {"swapaxes", "self: transpose(grad, axis0, axis1)"},
    {"permute", "self: _permute_backward(grad, dims)"},
    {"movedim.int", "self: movedim(grad, destination, source)"},
    {"movedim.intlist", "self: movedim(grad, destination, source)"},
    {"view, squeeze, squeeze.dim, squeeze.dims, unsqueeze", "self: reshape(grad, self.shape)"},
    {"view_as", "self: reshape(grad, self.shape); other: none"},
    {"view.dtype", "none"},
    {"select.int", "self: _select_backward(grad, self.shape, dim, index)"},
    {"slice.Tensor", "self: _slice_backward(grad, self.shape, dim, start, end, step)"},
    {"narrow", "self: _narrow_backward(grad, self.shape, dim, start, length)"},
    {"diagonal", "self: _diagonal_backward(grad, self.shape, offset, dim1, dim2)"},
    {"unbind.int", "self: stack(grads, dim)"},
    {"split.Tensor, split.sizes, split_with_sizes, chunk, tensor_split.sections", "self: cat(grads, dim)"},
    {"unfold", "self: _unfold_backward(grad, self.shape, dimension, size, step)"},
    {"as_strided",
     "self: _as_strided_backward(grad, self.shape, self.strides, self.storage_offset, size, stride, storage_offset)"},
    {"real", "self: grad"},
    {"imag", "self: grad * 1j"},
    {"view_as_real", "self: view_as_complex(contiguous(grad))"},
    {"view_as_complex", "self: view_as_real(grad)"},

    // operators that compute the gradients of views
    {"autograd::_select_backward", "grad: select(grad0, dim, index)"},
    {"autograd::_slice_backward", "grad: slice(grad0, dim, start, end, step)"},
    {"autograd::_narrow_backward", "grad: narrow(grad0, dim, start, length)"},
    {"autograd::_diagonal_backward", "grad: diagonal(grad0, offset, dim1, dim2)"},
    {"autograd::_unfold_backward", "grad: unfold(grad0, dim, size, step)"},

    // copies
    {"copy_", "self: zeros_like(grad); src: grad"},
    {"clone", "self: grad"},
    {"flip", "self: flip(grad, dims)"},
    {"tril", "self: tril(grad, diagonal)"},
    {"triu", "self: triu(grad, diagonal)"},
    {"cat", "tensors: _cat_backward(grad, tensors.shapes, dim)"},
    {"stack", "tensors: unbind(grad, dim)"},
    {"empty_like", "none"},
    {"fill.Scalar", "self: zeros_like(grad)"},
    {"fill.Tensor", "self: zeros_like(grad); value: sum(grad)"},
    {"fill_.Scalar, _random_bits_", "self: zeros_like(grad)"}};

constexpr Line reductions[] = {
    {"sum", "self: expand(grad, self.shape)"},
    {"sum.dim_IntList", "self: _unreduce(grad, self.shape, dim, keepdim)"},
    {"mean", "self: expand(grad / self.numel, self.shape)"},
    {"mean.dim", "self: _mean_backward(grad, self.shape, dim, keepdim)"},
    {"prod.dim_int", "self: _prod_backward(grad, self, dim, keepdim)"},
    // Elements equal to the extremum share its gradient.
    {"amax, amin", "self: _extremum_backward(grad, self, result, dim, keepdim)"},
    {"argmax, hash_tensor", "none"},
    {"histogram.bins_tensor, histogram.bin_ct, histogramdd, histogramdd.int_bins, histogramdd.TensorList_bins", "none"},
    {"max.dim, min.dim", "self: _pick_backward(grad, self.shape, dim, indices, keepdim)"},
    {"max, min, median", "self: _extremum_backward(grad, self, result, none, false)"},
    {"var", "self: _spread_backward(grad, none, self, none, none, unbiased, false)"},
    {"var.dim", "self: _spread_backward(grad, none, self, none, dim, unbiased, keepdim)"},
    {"var.correction", "self: _spread_backward(grad, none, self, none, dim, correction, keepdim)"},
    {"std", "self: _spread_backward(grad, none, self, result, none, unbiased, false)"},
    {"std.dim", "self: _spread_backward(grad, none, self, result, dim, unbiased, keepdim)"},
    {"std.correction", "self: _spread_backward(grad, none, self, result, dim, correction, keepdim)"},
    {"var_mean", "self: _spread_backward(grad0, grad1, self, none, none, unbiased, false)"},
    {"var_mean.dim", "self: _spread_backward(grad0, grad1, self, none, dim, unbiased, keepdim)"},
    {"var_mean.correction", "self: _spread_backward(grad0, grad1, self, none, dim, correction, keepdim)"},
    {"std_mean", "self: _spread_backward(grad0, grad1, self, result0, none, unbiased, false)"},
    {"std_mean.dim", "self: _spread_backward(grad0, grad1, self, result0, dim, unbiased, keepdim)"},
    {"std_mean.correction", "self: _spread_backward(grad0, grad1, self, result0, dim, correction, keepdim)"},
    {"linalg_vector_norm", "self: _vector_norm_backward(grad, self, ord, dim, keepdim, result)"},
    {"cumsum", "self: flip(cumsum(flip(grad, [dim]), dim), [dim])"},
    {"sort.stable", "self: scatter(_zeros(grad, self.shape), dim, indices, grad)"}};

constexpr Line indexing[] = {
    {"gather", "self: scatter_add(_zeros(grad, self.shape), dim, index, grad)"},
    {"scatter_.src", "self: scatter(grad, dim, index, 0); src: _scatter_backward(grad, dim, index, src.shape)"},
    {"scatter_add_", "self: grad; src: _scatter_backward(grad, dim, index, src.shape)"},
    {"scatter_reduce.two, scatter_reduce_.two",
     "self, src: _scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result)"},
    {"_scatter_fold_", "self, src: _scatter_reduce_backward(grad, self, dim, index, src, reduce, true, result)"},
    {"nonzero", "none"},
    {"index_select", "self: index_add(_zeros(grad, self.shape), dim, index, grad)"},
    {"index.Tensor", "self: index_put(_zeros(grad, self.shape), indices, grad, true)"},
    {"masked_fill.Scalar, masked_fill_.Scalar", "self: masked_fill(grad, mask, 0)"},
    {"masked_fill.Tensor, masked_fill_.Tensor",
     "self: masked_fill(grad, mask, 0); mask: none; value: where(mask, grad, 0)"}};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  add_derivatives(m, views);
  add_derivatives(m, reductions);
  add_derivatives(m, indexing);
}

}  // namespace lamella::autograd
