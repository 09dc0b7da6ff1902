// Composites that the derivatives of linear, norms, embedding and dropout call.
#include <algorithm>

#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

// Returns the gradient of linear(input, weight) by the weight: one matrix product, with the leading dimensions of the
// gradient and the input flattened into rows.
Tensor linear_weight_backward(const Tensor& grad, const Tensor& input) {
  const auto rows = [](const Tensor& x) {
    return x.dim() == 2 ? x : reshape(x, {x.numel() / std::max<int64_t>(x.size(-1), 1), x.size(-1)});
  };
  Tensor x = rows(input);
  if (x.is_complex()) x = conj(x);
  return mm(t(rows(grad)), x);
}

// ---- normalization layers -------------------------------------------------------------------------------------------

// Returns over how many elements of x each element of `statistic` was taken.
int64_t elements_for_each(const Tensor& x, const Tensor& statistic) {
  return x.numel() / std::max<int64_t>(statistic.numel(), 1);
}

// Returns the gradient by x that arrives through the statistics that a norm returns beside its result: the mean
// (undefined for a norm without one) and rstd = 1 / sqrt(var + eps), each taken over `count` elements. The result is
// undefined if neither statistic has a gradient.
Tensor through_statistics(const Tensor& grad_mean, const Tensor& grad_rstd, const Tensor& x, const Tensor& mean,
                          const Tensor& rstd, int64_t count) {
  Tensor sum;
  if (grad_rstd.defined()) {
    const Tensor cube = square(rstd) * rstd;
    const Tensor slope = grad_rstd * cube / -count;
    sum = (mean.defined() ? x - mean : x) * slope;
  }
  if (!grad_mean.defined()) return sum;
  const Tensor each = grad_mean / count;
  return sum.defined() ? sum + each : each.expand(x.sizes());
}

Tensor both(const Tensor& a, const Tensor& b) { return a.defined() && b.defined() ? a + b : a.defined() ? a : b; }

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& grad, const Tensor& grad_mean,
                                                       const Tensor& grad_rstd, const Tensor& input,
                                                       IntArrayRef normalized_shape, const Tensor& mean,
                                                       const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                                                       ArrayRef<bool> mask) {
  std::tuple<Tensor, Tensor, Tensor> out;
  if (grad.defined()) out = native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask);
  Tensor& grad_input = std::get<0>(out);
  if (mask[0] && (grad_mean.defined() || grad_rstd.defined()))
    grad_input =
        both(grad_input, through_statistics(grad_mean, grad_rstd, input, mean, rstd, elements_for_each(input, rstd)));
  return out;
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& grad_rstd, const Tensor& input,
                                             IntArrayRef normalized_shape, const Tensor& rstd, const Tensor& weight,
                                             ArrayRef<bool> mask) {
  std::tuple<Tensor, Tensor> out;
  if (grad.defined()) out = _fused_rms_norm_backward(grad, input, normalized_shape, rstd, weight, mask);
  Tensor& grad_input = std::get<0>(out);
  if (mask[0] && grad_rstd.defined())
    grad_input = both(grad_input,
                      through_statistics(Tensor(), grad_rstd, input, Tensor(), rstd, elements_for_each(input, rstd)));
  return out;
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(const Tensor& grad, const Tensor& grad_mean,
                                                       const Tensor& grad_rstd, const Tensor& input, const Tensor& mean,
                                                       const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C,
                                                       int64_t HxW, int64_t group, ArrayRef<bool> mask) {
  std::tuple<Tensor, Tensor, Tensor> out;
  if (grad.defined()) out = native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group, mask);
  Tensor& grad_input = std::get<0>(out);
  if (mask[0] && (grad_mean.defined() || grad_rstd.defined())) {
    const auto column = [](const Tensor& t) { return t.defined() ? unsqueeze(t, -1) : Tensor(); };
    const int64_t count = elements_for_each(input, mean);
    const Tensor rows = reshape(input, {N, group, count});
    const Tensor more =
        through_statistics(column(grad_mean), column(grad_rstd), rows, column(mean), column(rstd), count);
    grad_input = both(grad_input, reshape(more, input.sizes()));
  }
  return out;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad, const Tensor& grad_mean,
                                                       const Tensor& grad_rstd, const Tensor& input,
                                                       const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                       double eps, ArrayRef<bool> mask) {
  std::tuple<Tensor, Tensor, Tensor> out;
  if (grad.defined())
    out = native_batch_norm_backward(grad, input, weight, Tensor(), Tensor(), mean, rstd, true, eps, mask);
  Tensor& grad_input = std::get<0>(out);
  if (mask[0] && (grad_mean.defined() || grad_rstd.defined())) {
    DimVector channels(static_cast<size_t>(input.dim() - 1), 1);
    channels[0] = input.size(1);
    const auto beside = [&](const Tensor& t) { return t.defined() ? reshape(t, channels) : Tensor(); };
    const int64_t count = input.numel() / std::max<int64_t>(input.size(1), 1);
    grad_input = both(
        grad_input, through_statistics(beside(grad_mean), beside(grad_rstd), input, beside(mean), beside(rstd), count));
  }
  return out;
}

// ---- rows and masks -------------------------------------------------------------------------------------------------

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                          bool scale_grad_by_freq) {
  const auto rows = [&](const Tensor& g) {
    return embedding_dense_backward(g, indices, num_weights, padding_idx, scale_grad_by_freq);
  };
  if (!grad.is_complex()) return rows(grad);
  return complex(rows(real(grad)), rows(imag(grad)));
}

Tensor dropout_backward(const Tensor& grad, const Tensor& mask, double p, std::optional<bool> train) {
  const double dropped = train.value_or(true) ? p : 0;
  return native_dropout_backward(grad, mask, dropped == 1 ? 0 : 1 / (1 - dropped));
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<layer_norm_backward>(
      m,
      "_layer_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, int[] "
      "normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] mask) -> (Tensor, "
      "Tensor, Tensor)");
  composite<rms_norm_backward>(
      m,
      "_rms_norm_backward(Tensor? grad, Tensor? grad_rstd, Tensor input, int[] normalized_shape, Tensor rstd, "
      "Tensor? weight, bool[2] mask) -> (Tensor, Tensor)");
  composite<group_norm_backward>(
      m,
      "_group_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, Tensor mean, "
      "Tensor rstd, Tensor? weight, int N, int C, int HxW, int group, bool[3] mask) -> (Tensor, Tensor, Tensor)");
  composite<batch_norm_backward>(
      m,
      "_batch_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, Tensor? weight, "
      "Tensor mean, Tensor rstd, float eps, bool[3] mask) -> (Tensor, Tensor, Tensor)");
  composite<embedding_backward>(
      m,
      "_embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool "
      "scale_grad_by_freq) -> Tensor");
  composite<dropout_backward>(m, "_dropout_backward(Tensor grad, Tensor mask, float p, bool? train) -> Tensor");
  composite<linear_weight_backward>(m, "_linear_weight_backward(Tensor grad, Tensor input) -> Tensor");
}

}  // namespace lamella::autograd
