// Derivatives of matrix products, norms, losses, attention, recurrent layers, convolution and pooling.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line products[] = {
    {"mm", "self: mm(grad, conj(t(mat2))); mat2: mm(conj(t(self)), grad)"},
    {"bmm", "self: bmm(grad, conj(transpose(mat2, 1, 2))); mat2: bmm(conj(transpose(self, 1, 2)), grad)"},
    {"mv", "self: unsqueeze(grad, 1) * conj(vec); vec: mv(conj(t(self)), grad)"},
    {"dot", "self: grad * conj(tensor); tensor: grad * conj(self)"},
    {"addmm",
     "self: grad * conj(beta); mat1: mm(grad, conj(t(mat2))) * conj(alpha); mat2: mm(conj(t(mat1)), grad) * "
     "conj(alpha)"},
    {"linear", "input: matmul(grad, conj(weight)); weight: _linear_weight_backward(grad, input); bias: grad"}};

constexpr Line layers[] = {
    // normalization
    {"softmax.int", "self: _softmax_backward_data(grad, result, dim, self.dtype)"},
    {"log_softmax.int", "self: _log_softmax_backward_data(grad, result, dim, self.dtype)"},
    {"native_layer_norm",
     "input, weight, bias: _layer_norm_backward(grad0, grad1, grad2, input, normalized_shape, result1, result2, "
     "weight, "
     "bias, mask)"},
    {"native_group_norm",
     "input, weight, bias: _group_norm_backward(grad0, grad1, grad2, input, result1, result2, weight, N, C, HxW, "
     "group, "
     "mask)"},
    {"_fused_rms_norm",
     "input, weight: _rms_norm_backward(grad0, grad1, input, normalized_shape, result1, weight, mask)"},
    {"_batch_norm_train",
     "input, weight, bias: _batch_norm_backward(grad0, grad1, grad2, input, weight, result1, result2, eps, mask)"},
    {"_batch_norm_with_update",
     "input, weight, bias: _batch_norm_backward(grad0, grad1, grad2, input, weight, result1, result2, eps, mask);"
     "running_mean, running_var: none"},
    {"_batch_norm_eval",
     "input, weight, bias: native_batch_norm_backward(grad, input, weight, running_mean, running_var, none, none, "
     "false, eps, mask); running_mean, running_var: none"},

    // losses
    {"_pair_loss",
     "input: _pair_loss_backward(grad, input, target, kind, width, reduction);"
     // by symmetry: the loss depends on |input - target| alone
     "target: _pair_loss_backward(grad, target, input, kind, width, reduction)"},
    {"_class_loss",
     "input: _class_loss_backward(grad, input, target, weight, ignore_index, reduction, logits); target: none"},
    {"_nll_pick", "input: _class_loss_backward(grad, input, target, weight, ignore_index, 0, false); target: none"},

    // The denominator is clamped, since the loss itself clamps its logarithms.
    {"_binary_cross_entropy",
     "input: grad * ((input - target) / clamp_min((1 - input) * input, 1e-12));"
     "target: grad * (log1p(-input) - log(input))"},

    // distances
    {"cdist",
     "x1: _cdist_backward(grad, x1, x2, p, compute_mode, result);"
     "x2: _cdist_backward(transpose(grad, -2, -1), x2, x1, p, compute_mode, transpose(result, -2, -1))"},
    // attention
    {"_attention",
     "query, key, value: _attention_backward(grad0, grad1, query, key, value, attn_mask, out, logsumexp, is_causal, "
     "scale, mask);"
     "attn_mask: _attention_mask_backward(grad0, grad1, query, key, value, attn_mask, out, logsumexp, is_causal, "
     "scale)"},
    {"_attention_dropout",
     "query, key, value: _attention_backward(grad0, grad1, query, key, value, attn_mask, out, logsumexp, is_causal, "
     "scale, mask, words, dropout_p);"
     "attn_mask: _attention_mask_backward(grad0, grad1, query, key, value, attn_mask, out, logsumexp, is_causal, "
     "scale, words, dropout_p)"},

    // recurrent layers
    {"_lstm_layer",
     "gates, hx, cx, weight, projection: _lstm_layer_backward(grad0, grad1, grad2, grad3, grad4, hx, cx, weight, "
     "projection, out, cells, kept, batch_sizes, reverse)"},
    {"_gru_layer",
     "gates, hx, weight, bias: _gru_layer_backward(grad0, grad1, grad2, hx, weight, out, kept, batch_sizes, reverse)"},
    {"_rnn_layer", "gates, hx, weight: _rnn_layer_backward(grad0, grad1, hx, weight, out, batch_sizes, reverse, relu)"},
    {"_lstm_cell",
     "input, hx, cx, w_ih, w_hh, b_ih, b_hh: _lstm_cell_backward(grad0, grad1, grad2, input, hx, cx, w_ih, w_hh, cy, "
     "kept, mask)"},

    // rows and masks
    {"embedding",
     "weight: _embedding_backward(grad, indices, weight.shape[0], padding_idx, scale_grad_by_freq);"
     "indices: none"},
    {"native_dropout", "input: _dropout_backward(grad, result1, p, train)"},
    {"native_dropout_backward", "grad_output: native_dropout_backward(grad, mask, scale); mask: none"},

    // convolution and pooling
    {"convolution",
     "input, weight, bias: convolution_backward(grad, input, weight, bias.shape, stride, padding, dilation, false, "
     "[0], groups, mask)"},
    {"_convolution_backward_input",
     "grad_output: convolution(grad, weight, none, stride, padding, dilation, groups);"
     "weight: _convolution_backward_weight(grad_output, grad, weight.shape, stride, padding, dilation, groups)"},
    {"_convolution_backward_weight",
     "grad_output: convolution(input, grad, none, stride, padding, dilation, groups);"
     "input: _convolution_backward_input(grad_output, grad, input.shape, stride, padding, dilation, groups)"},
    {"constant_pad_nd", "self: _pad_backward(grad, pad)"},
    {"max_pool2d_with_indices",
     "self: max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)"},
    {"max_pool2d_with_indices_backward",
     "grad_output: reshape(gather(flatten(grad, -2), -1, flatten(indices, -2)), indices.shape); self, indices: none"},
    {"avg_pool2d",
     "self: avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
     "divisor_override)"},
    {"avg_pool2d_backward",
     "grad_output: avg_pool2d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);"
     "self: none"},
    {"im2col", "self: col2im(grad, [self.shape[-2], self.shape[-1]], kernel_size, dilation, padding, stride)"},
    {"col2im", "self: im2col(grad, kernel_size, dilation, padding, stride)"},
    {"adaptive_avg_pool2d", "self: _adaptive_avg_pool2d_backward(grad, self)"},
    {"_adaptive_avg_pool2d_backward",
     "grad_output: adaptive_avg_pool2d(grad, [grad_output.shape[-2], grad_output.shape[-1]]); self: none"}};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  add_derivatives(m, products);
  add_derivatives(m, layers);
}

}  // namespace lamella::autograd
