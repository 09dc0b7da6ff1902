/* The operators: lamella::add(x, y), x.add(y), x.add_(y), lamella::add_out(out, x, y). Made by `make stubs` from the live registry; a test compares. Do not edit. */

#ifndef LAMELLA_OPERATORS_H
#define LAMELLA_OPERATORS_H

#include <lamella/tensor.h>

#pragma GCC visibility push(hidden)
namespace lamella {

inline const Tensor& TensorMethods::self_() const { return static_cast<const Tensor&>(*this); }
inline Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::_adaptive_avg_pool2d_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> _attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale) {
  static detail::Callee op_{"aten::_attention", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(value), detail::as<const Tensor&>(attn_mask), detail::as<bool>(is_causal), detail::as<double>(scale)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp, bool is_causal, double scale, ArrayRef<bool> output_mask, const Tensor& words = undefined(), double dropout_p = 0.0) {
  static detail::Callee op_{"aten::_attention_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(grad_logsumexp), detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(value), detail::as<const Tensor&>(attn_mask), detail::as<const Tensor&>(out), detail::as<const Tensor&>(logsumexp), detail::as<bool>(is_causal), detail::as<double>(scale), detail::as<ArrayRef<bool>>(output_mask), detail::as<const Tensor&>(words), detail::as<double>(dropout_p)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _attention_dropout(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale, double dropout_p, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_attention_dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(value), detail::as<const Tensor&>(attn_mask), detail::as<bool>(is_causal), detail::as<double>(scale), detail::as<double>(dropout_p), detail::as<const Generator&>(generator)};
  return op_.several<3>(args_);
}
inline Tensor _attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words = undefined(), double dropout_p = 0.0) {
  static detail::Callee op_{"aten::_attention_mask_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(grad_logsumexp), detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(value), detail::as<const Tensor&>(attn_mask), detail::as<const Tensor&>(out), detail::as<const Tensor&>(logsumexp), detail::as<bool>(is_causal), detail::as<double>(scale), detail::as<const Tensor&>(words), detail::as<double>(dropout_p)};
  return op_.tensor(args_);
}
inline Tensor _attention_weights(const Tensor& query, const Tensor& key, const Tensor& attn_mask, double scale) {
  static detail::Callee op_{"aten::_attention_weights", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(attn_mask), detail::as<double>(scale)};
  return op_.tensor(args_);
}
inline Tensor _batch_norm_eval(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, double eps) {
  static detail::Callee op_{"aten::_batch_norm_eval", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<const Tensor&>(running_mean), detail::as<const Tensor&>(running_var), detail::as<double>(eps)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _batch_norm_train(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps) {
  static detail::Callee op_{"aten::_batch_norm_train", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<double>(eps)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _batch_norm_with_update(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) {
  static detail::Callee op_{"aten::_batch_norm_with_update", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<const Tensor&>(running_mean), detail::as<const Tensor&>(running_var), detail::as<double>(momentum), detail::as<double>(eps)};
  return op_.several<3>(args_);
}
inline Tensor _binary_cross_entropy(const Tensor& input, const Tensor& target) {
  static detail::Callee op_{"aten::_binary_cross_entropy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target)};
  return op_.tensor(args_);
}
inline Tensor _binomial_draw(const Tensor& count, const Tensor& prob, const Tensor& seed) {
  static detail::Callee op_{"aten::_binomial_draw", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(count), detail::as<const Tensor&>(prob), detail::as<const Tensor&>(seed)};
  return op_.tensor(args_);
}
inline bool _cdist_by_product(const Tensor& x1, const Tensor& x2, double p, const Text& compute_mode) {
  static detail::Callee op_{"aten::_cdist_by_product", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x1), detail::as<const Tensor&>(x2), detail::as<double>(p), detail::as<const Text&>(compute_mode)};
  return op_.scalar(args_).toBool();
}
inline Tensor _class_loss(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index, int64_t reduction, bool logits) {
  static detail::Callee op_{"aten::_class_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<int64_t>(ignore_index), detail::as<int64_t>(reduction), detail::as<bool>(logits)};
  return op_.tensor(args_);
}
inline Tensor _class_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index, int64_t reduction, bool logits) {
  static detail::Callee op_{"aten::_class_loss_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<int64_t>(ignore_index), detail::as<int64_t>(reduction), detail::as<bool>(logits)};
  return op_.tensor(args_);
}
inline Tensor _convolution_backward_input(const Tensor& grad_output, const Tensor& weight, IntArrayRef input_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  static detail::Callee op_{"aten::_convolution_backward_input", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(weight), detail::as<IntArrayRef>(input_size), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor _convolution_backward_weight(const Tensor& grad_output, const Tensor& input, IntArrayRef weight_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  static detail::Callee op_{"aten::_convolution_backward_weight", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(input), detail::as<IntArrayRef>(weight_size), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor _dequantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, ScalarType dtype, int64_t first = 0) {
  static detail::Callee op_{"aten::_dequantize", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(inner), detail::as<ScalarType>(dtype), detail::as<int64_t>(first)};
  return op_.tensor(args_);
}
inline const Tensor& _dequantize_out(const Tensor& out, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, ScalarType dtype, int64_t first = 0) {
  static detail::Callee op_{"aten::_dequantize", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(inner), detail::as<ScalarType>(dtype), detail::as<int64_t>(first), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  static detail::Callee op_{"aten::_dirichlet_grad", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(alpha), detail::as<const Tensor&>(total)};
  return op_.tensor(args_);
}
inline Tensor _elu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  static detail::Callee op_{"aten::_elu_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha), detail::as<const Scalar&>(scale), detail::as<const Scalar&>(input_scale)};
  return op_.tensor(args_);
}
inline Tensor _exponent(const Tensor& self) {
  static detail::Callee op_{"aten::_exponent", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize(const Tensor& self, double scale, double low, double high) {
  static detail::Callee op_{"aten::_fake_quantize", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(scale), detail::as<double>(low), detail::as<double>(high)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_backward(const Tensor& grad_output, const Tensor& self, double scale, double low, double high) {
  static detail::Callee op_{"aten::_fake_quantize_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<double>(scale), detail::as<double>(low), detail::as<double>(high)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_by(const Tensor& self, const Tensor& scale, const Tensor& zero_point, double low, double high) {
  static detail::Callee op_{"aten::_fake_quantize_by", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<double>(low), detail::as<double>(high)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_inside(const Tensor& self, const Tensor& scale, const Tensor& zero_point, double low, double high) {
  static detail::Callee op_{"aten::_fake_quantize_inside", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<double>(low), detail::as<double>(high)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_learnable_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max, double grad_factor = 1.0) {
  static detail::Callee op_{"aten::_fake_quantize_learnable_per_channel_affine", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(axis), detail::as<int64_t>(quant_min), detail::as<int64_t>(quant_max), detail::as<double>(grad_factor)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_learnable_per_tensor_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max, double grad_factor = 1.0) {
  static detail::Callee op_{"aten::_fake_quantize_learnable_per_tensor_affine", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(quant_min), detail::as<int64_t>(quant_max), detail::as<double>(grad_factor)};
  return op_.tensor(args_);
}
inline Tensor _fake_quantize_slope(const Tensor& self, const Tensor& scale, const Tensor& zero_point, double low, double high) {
  static detail::Callee op_{"aten::_fake_quantize_slope", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<double>(low), detail::as<double>(high)};
  return op_.tensor(args_);
}
inline Tensor _fft_c2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) {
  static detail::Callee op_{"aten::_fft_c2c", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<bool>(forward)};
  return op_.tensor(args_);
}
inline const Tensor& _fft_c2c_out(const Tensor& out, const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) {
  static detail::Callee op_{"aten::_fft_c2c", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<bool>(forward), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor _fft_c2r(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  static detail::Callee op_{"aten::_fft_c2r", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<int64_t>(last_dim_size)};
  return op_.tensor(args_);
}
inline const Tensor& _fft_c2r_out(const Tensor& out, const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  static detail::Callee op_{"aten::_fft_c2r", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<int64_t>(last_dim_size), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor _fft_r2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  static detail::Callee op_{"aten::_fft_r2c", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<bool>(onesided)};
  return op_.tensor(args_);
}
inline const Tensor& _fft_r2c_out(const Tensor& out, const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  static detail::Callee op_{"aten::_fft_r2c", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(normalization), detail::as<bool>(onesided), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> _foreach_abs(TensorList self) {
  static detail::Callee op_{"aten::_foreach_abs", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_abs_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_abs_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_acos(TensorList self) {
  static detail::Callee op_{"aten::_foreach_acos", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_acos_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_acos_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_add(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_add", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_add(TensorList self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_add", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_add(TensorList self, TensorList other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_add", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_add(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_add", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_add_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_add_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_add_(TensorList self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_add_", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  op_.nothing(args_);
}
inline void _foreach_add_(TensorList self, TensorList other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_add_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other), detail::as<const Scalar&>(alpha)};
  op_.nothing(args_);
}
inline void _foreach_add_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_add_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_addcdiv(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::_foreach_addcdiv", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Scalar&>(value)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_addcdiv(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_addcdiv", "ScalarList"};
  const detail::Scalars list3_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), list3_};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_addcdiv(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  static detail::Callee op_{"aten::_foreach_addcdiv", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Tensor&>(scalars)};
  return op_.tensors(args_);
}
inline void _foreach_addcdiv_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::_foreach_addcdiv_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Scalar&>(value)};
  op_.nothing(args_);
}
inline void _foreach_addcdiv_(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_addcdiv_", "ScalarList"};
  const detail::Scalars list3_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), list3_};
  op_.nothing(args_);
}
inline void _foreach_addcdiv_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  static detail::Callee op_{"aten::_foreach_addcdiv_", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Tensor&>(scalars)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_addcmul(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::_foreach_addcmul", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Scalar&>(value)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_addcmul(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_addcmul", "ScalarList"};
  const detail::Scalars list3_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), list3_};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_addcmul(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  static detail::Callee op_{"aten::_foreach_addcmul", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Tensor&>(scalars)};
  return op_.tensors(args_);
}
inline void _foreach_addcmul_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::_foreach_addcmul_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Scalar&>(value)};
  op_.nothing(args_);
}
inline void _foreach_addcmul_(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_addcmul_", "ScalarList"};
  const detail::Scalars list3_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), list3_};
  op_.nothing(args_);
}
inline void _foreach_addcmul_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  static detail::Callee op_{"aten::_foreach_addcmul_", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensor1), detail::as<TensorList>(tensor2), detail::as<const Tensor&>(scalars)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_asin(TensorList self) {
  static detail::Callee op_{"aten::_foreach_asin", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_asin_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_asin_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_atan(TensorList self) {
  static detail::Callee op_{"aten::_foreach_atan", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_atan_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_atan_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_ceil(TensorList self) {
  static detail::Callee op_{"aten::_foreach_ceil", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_ceil_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_ceil_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_clamp_max(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_clamp_max", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_clamp_max(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_clamp_max", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_clamp_max(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_clamp_max", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_clamp_max_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_clamp_max_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_clamp_max_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_clamp_max_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_clamp_max_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_clamp_max_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_clamp_min(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_clamp_min", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_clamp_min(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_clamp_min", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_clamp_min(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_clamp_min", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_clamp_min_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_clamp_min_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_clamp_min_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_clamp_min_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_clamp_min_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_clamp_min_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_clone(TensorList self, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::_foreach_clone", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return op_.tensors(args_);
}
inline void _foreach_copy_(TensorList self, TensorList src, bool non_blocking = false) {
  static detail::Callee op_{"aten::_foreach_copy_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(src), detail::as<bool>(non_blocking)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_cos(TensorList self) {
  static detail::Callee op_{"aten::_foreach_cos", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_cos_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_cos_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_cosh(TensorList self) {
  static detail::Callee op_{"aten::_foreach_cosh", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_cosh_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_cosh_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_div(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_div", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_div(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_div", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_div(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_div", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_div(TensorList self, const Tensor& other) {
  static detail::Callee op_{"aten::_foreach_div", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other)};
  return op_.tensors(args_);
}
inline void _foreach_div_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_div_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_div_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_div_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_div_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_div_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline void _foreach_div_(TensorList self, const Tensor& other) {
  static detail::Callee op_{"aten::_foreach_div_", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_erf(TensorList self) {
  static detail::Callee op_{"aten::_foreach_erf", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_erf_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_erf_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_erfc(TensorList self) {
  static detail::Callee op_{"aten::_foreach_erfc", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_erfc_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_erfc_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_exp(TensorList self) {
  static detail::Callee op_{"aten::_foreach_exp", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_exp_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_exp_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_expm1(TensorList self) {
  static detail::Callee op_{"aten::_foreach_expm1", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_expm1_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_expm1_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_floor(TensorList self) {
  static detail::Callee op_{"aten::_foreach_floor", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_floor_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_floor_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_frac(TensorList self) {
  static detail::Callee op_{"aten::_foreach_frac", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_frac_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_frac_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, TensorList weights) {
  static detail::Callee op_{"aten::_foreach_lerp", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), detail::as<TensorList>(weights)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, const Scalar& weight) {
  static detail::Callee op_{"aten::_foreach_lerp", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), detail::as<const Scalar&>(weight)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  static detail::Callee op_{"aten::_foreach_lerp", "ScalarList"};
  const detail::Scalars list2_(weight);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), list2_};
  return op_.tensors(args_);
}
inline void _foreach_lerp_(TensorList self, TensorList tensors1, TensorList weights) {
  static detail::Callee op_{"aten::_foreach_lerp_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), detail::as<TensorList>(weights)};
  op_.nothing(args_);
}
inline void _foreach_lerp_(TensorList self, TensorList tensors1, const Scalar& weight) {
  static detail::Callee op_{"aten::_foreach_lerp_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), detail::as<const Scalar&>(weight)};
  op_.nothing(args_);
}
inline void _foreach_lerp_(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  static detail::Callee op_{"aten::_foreach_lerp_", "ScalarList"};
  const detail::Scalars list2_(weight);
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(tensors1), list2_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_lgamma(TensorList self) {
  static detail::Callee op_{"aten::_foreach_lgamma", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_lgamma_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_lgamma_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_log(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_log10(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log10", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_log10_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log10_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_log1p(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log1p", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_log1p_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log1p_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_log2(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log2", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_log2_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log2_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline void _foreach_log_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_log_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_max(TensorList self) {
  static detail::Callee op_{"aten::_foreach_max", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_maximum(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_maximum", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_maximum(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_maximum", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_maximum(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_maximum", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_maximum_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_maximum_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_maximum_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_maximum_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_maximum_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_maximum_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_minimum(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_minimum", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_minimum(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_minimum", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_minimum(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_minimum", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_minimum_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_minimum_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_minimum_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_minimum_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_minimum_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_minimum_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_mm(TensorList self, TensorList mat2) {
  static detail::Callee op_{"aten::_foreach_mm", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(mat2)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_mul(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_mul", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_mul(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_mul", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_mul(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_mul", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_mul(TensorList self, const Tensor& other) {
  static detail::Callee op_{"aten::_foreach_mul", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other)};
  return op_.tensors(args_);
}
inline void _foreach_mul_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_mul_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_mul_(TensorList self, TensorList other) {
  static detail::Callee op_{"aten::_foreach_mul_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other)};
  op_.nothing(args_);
}
inline void _foreach_mul_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_mul_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline void _foreach_mul_(TensorList self, const Tensor& other) {
  static detail::Callee op_{"aten::_foreach_mul_", "Tensor"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Tensor&>(other)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_neg(TensorList self) {
  static detail::Callee op_{"aten::_foreach_neg", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_neg_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_neg_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_norm(TensorList self, const Scalar& ord = 2, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::_foreach_norm", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(ord), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_pow(TensorList self, TensorList exponent) {
  static detail::Callee op_{"aten::_foreach_pow", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(exponent)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_pow(TensorList self, const Scalar& exponent) {
  static detail::Callee op_{"aten::_foreach_pow", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(exponent)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_pow(TensorList self, ArrayRef<Scalar> exponent) {
  static detail::Callee op_{"aten::_foreach_pow", "ScalarList"};
  const detail::Scalars list1_(exponent);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_pow(const Scalar& self, TensorList exponent) {
  static detail::Callee op_{"aten::_foreach_pow", "ScalarAndTensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<TensorList>(exponent)};
  return op_.tensors(args_);
}
inline void _foreach_pow_(TensorList self, TensorList exponent) {
  static detail::Callee op_{"aten::_foreach_pow_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(exponent)};
  op_.nothing(args_);
}
inline void _foreach_pow_(TensorList self, const Scalar& exponent) {
  static detail::Callee op_{"aten::_foreach_pow_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(exponent)};
  op_.nothing(args_);
}
inline void _foreach_pow_(TensorList self, ArrayRef<Scalar> exponent) {
  static detail::Callee op_{"aten::_foreach_pow_", "ScalarList"};
  const detail::Scalars list1_(exponent);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_powsum(TensorList self, const Scalar& ord = 2, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::_foreach_powsum", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(ord), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_reciprocal(TensorList self) {
  static detail::Callee op_{"aten::_foreach_reciprocal", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_reciprocal_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_reciprocal_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_round(TensorList self) {
  static detail::Callee op_{"aten::_foreach_round", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_round_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_round_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_rsqrt(TensorList self) {
  static detail::Callee op_{"aten::_foreach_rsqrt", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_rsqrt_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_rsqrt_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sigmoid(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sigmoid", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_sigmoid_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sigmoid_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sign(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sign", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_sign_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sign_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sin(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sin", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_sin_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sin_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sinh(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sinh", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_sinh_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sinh_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sqrt(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sqrt", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_sqrt_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_sqrt_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_sub(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_sub", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_sub(TensorList self, TensorList other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_sub", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> _foreach_sub(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_sub", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  return op_.tensors(args_);
}
inline void _foreach_sub_(TensorList self, const Scalar& scalar) {
  static detail::Callee op_{"aten::_foreach_sub_", "Scalar"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<const Scalar&>(scalar)};
  op_.nothing(args_);
}
inline void _foreach_sub_(TensorList self, TensorList other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::_foreach_sub_", "List"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(other), detail::as<const Scalar&>(alpha)};
  op_.nothing(args_);
}
inline void _foreach_sub_(TensorList self, ArrayRef<Scalar> scalars) {
  static detail::Callee op_{"aten::_foreach_sub_", "ScalarList"};
  const detail::Scalars list1_(scalars);
  const lamella_value args_[] = {detail::as<TensorList>(self), list1_};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_tan(TensorList self) {
  static detail::Callee op_{"aten::_foreach_tan", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_tan_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_tan_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_tanh(TensorList self) {
  static detail::Callee op_{"aten::_foreach_tanh", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_tanh_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_tanh_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline std::vector<Tensor> _foreach_trunc(TensorList self) {
  static detail::Callee op_{"aten::_foreach_trunc", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  return op_.tensors(args_);
}
inline void _foreach_trunc_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_trunc_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline void _foreach_zero_(TensorList self) {
  static detail::Callee op_{"aten::_foreach_zero_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self)};
  op_.nothing(args_);
}
inline void _fused_adadelta_(TensorList self, TensorList grads, TensorList square_avgs, TensorList acc_deltas, double lr = 1, double rho = 0.9, double eps = 1e-06, double weight_decay = 0, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adadelta_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(square_avgs), detail::as<TensorList>(acc_deltas), detail::as<double>(lr), detail::as<double>(rho), detail::as<double>(eps), detail::as<double>(weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adadelta_(TensorList self, TensorList grads, TensorList square_avgs, TensorList acc_deltas, const Tensor& lr, double rho = 0.9, double eps = 1e-06, double weight_decay = 0, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adadelta_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(square_avgs), detail::as<TensorList>(acc_deltas), detail::as<const Tensor&>(lr), detail::as<double>(rho), detail::as<double>(eps), detail::as<double>(weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr = 0.01, double lr_decay = 0, double weight_decay = 0, double eps = 1e-10, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adagrad_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(state_sums), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(lr_decay), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, const Tensor& lr, double lr_decay = 0, double weight_decay = 0, double eps = 1e-10, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adagrad_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(state_sums), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(lr_decay), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adam_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adam_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, const Tensor& beta1, const Tensor& beta2, const Tensor& weight_decay, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adam_", "tensors"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<const Tensor&>(beta1), detail::as<const Tensor&>(beta2), detail::as<const Tensor&>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adamax_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_infs, TensorList state_steps, double lr = 0.002, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adamax_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_infs), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adamax_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_infs, TensorList state_steps, const Tensor& lr, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adamax_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_infs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0.01, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adamw_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0.01, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adamw_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, const Tensor& beta1, const Tensor& beta2, const Tensor& weight_decay, double eps = 1e-08, bool amsgrad = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_adamw_", "tensors"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(max_exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<const Tensor&>(beta1), detail::as<const Tensor&>(beta2), detail::as<const Tensor&>(weight_decay), detail::as<double>(eps), detail::as<bool>(amsgrad), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_asgd_(TensorList self, TensorList grads, TensorList axs, TensorList mus, TensorList etas, TensorList state_steps, double lambd = 0.0001, double lr = 0.01, double t0 = 1000000, double alpha = 0.75, double weight_decay = 0, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_asgd_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(axs), detail::as<TensorList>(mus), detail::as<TensorList>(etas), detail::as<TensorList>(state_steps), detail::as<double>(lambd), detail::as<double>(lr), detail::as<double>(t0), detail::as<double>(alpha), detail::as<double>(weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_asgd_(TensorList self, TensorList grads, TensorList axs, TensorList mus, TensorList etas, TensorList state_steps, double lambd, const Tensor& lr, double t0 = 1000000, double alpha = 0.75, double weight_decay = 0, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_asgd_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(axs), detail::as<TensorList>(mus), detail::as<TensorList>(etas), detail::as<TensorList>(state_steps), detail::as<double>(lambd), detail::as<const Tensor&>(lr), detail::as<double>(t0), detail::as<double>(alpha), detail::as<double>(weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_nadam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList mu_products, TensorList state_steps, double lr = 0.002, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double momentum_decay = 0.004, double eps = 1e-08, bool decoupled_weight_decay = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_nadam_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(mu_products), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(momentum_decay), detail::as<double>(eps), detail::as<bool>(decoupled_weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_nadam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList mu_products, TensorList state_steps, const Tensor& lr, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double momentum_decay = 0.004, double eps = 1e-08, bool decoupled_weight_decay = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_nadam_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(mu_products), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(momentum_decay), detail::as<double>(eps), detail::as<bool>(decoupled_weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_radam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList state_steps, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool decoupled_weight_decay = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_radam_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<double>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(decoupled_weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_radam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1 = 0.9, double beta2 = 0.999, double weight_decay = 0, double eps = 1e-08, bool decoupled_weight_decay = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_radam_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(exp_avgs), detail::as<TensorList>(exp_avg_sqs), detail::as<TensorList>(state_steps), detail::as<const Tensor&>(lr), detail::as<double>(beta1), detail::as<double>(beta2), detail::as<double>(weight_decay), detail::as<double>(eps), detail::as<bool>(decoupled_weight_decay), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  static detail::Callee op_{"aten::_fused_rms_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(weight), detail::as<std::optional<double>>(eps)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> _fused_rms_norm_backward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd, const Tensor& weight, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::_fused_rms_norm_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(rstd), detail::as<const Tensor&>(weight), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<2>(args_);
}
inline void _fused_rmsprop_(TensorList self, TensorList grads, TensorList square_avgs, TensorList grad_avgs, TensorList momentum_buffer_list, double lr = 0.01, double alpha = 0.99, double eps = 1e-08, double weight_decay = 0, double momentum = 0, bool centered = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_rmsprop_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(square_avgs), detail::as<TensorList>(grad_avgs), detail::as<TensorList>(momentum_buffer_list), detail::as<double>(lr), detail::as<double>(alpha), detail::as<double>(eps), detail::as<double>(weight_decay), detail::as<double>(momentum), detail::as<bool>(centered), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_rmsprop_(TensorList self, TensorList grads, TensorList square_avgs, TensorList grad_avgs, TensorList momentum_buffer_list, const Tensor& lr, double alpha = 0.99, double eps = 1e-08, double weight_decay = 0, double momentum = 0, bool centered = false, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_rmsprop_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(square_avgs), detail::as<TensorList>(grad_avgs), detail::as<TensorList>(momentum_buffer_list), detail::as<const Tensor&>(lr), detail::as<double>(alpha), detail::as<double>(eps), detail::as<double>(weight_decay), detail::as<double>(momentum), detail::as<bool>(centered), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_rprop_(TensorList self, TensorList grads, TensorList prevs, TensorList step_sizes, double etaminus = 0.5, double etaplus = 1.2, double step_size_min = 1e-06, double step_size_max = 50, bool maximize = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_rprop_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(prevs), detail::as<TensorList>(step_sizes), detail::as<double>(etaminus), detail::as<double>(etaplus), detail::as<double>(step_size_min), detail::as<double>(step_size_max), detail::as<bool>(maximize), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay = 0, double momentum = 0, double lr = 0.001, double dampening = 0, bool nesterov = false, bool maximize = false, bool is_first_step = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_sgd_", ""};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(momentum_buffer_list), detail::as<double>(weight_decay), detail::as<double>(momentum), detail::as<double>(lr), detail::as<double>(dampening), detail::as<bool>(nesterov), detail::as<bool>(maximize), detail::as<bool>(is_first_step), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum, const Tensor& lr, double dampening = 0, bool nesterov = false, bool maximize = false, bool is_first_step = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_sgd_", "tensor_lr"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(momentum_buffer_list), detail::as<double>(weight_decay), detail::as<double>(momentum), detail::as<const Tensor&>(lr), detail::as<double>(dampening), detail::as<bool>(nesterov), detail::as<bool>(maximize), detail::as<bool>(is_first_step), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, const Tensor& weight_decay, double momentum, const Tensor& lr, double dampening = 0, bool nesterov = false, bool maximize = false, bool is_first_step = false, const Tensor& grad_scale = undefined(), const Tensor& found_inf = undefined()) {
  static detail::Callee op_{"aten::_fused_sgd_", "tensors"};
  const lamella_value args_[] = {detail::as<TensorList>(self), detail::as<TensorList>(grads), detail::as<TensorList>(momentum_buffer_list), detail::as<const Tensor&>(weight_decay), detail::as<double>(momentum), detail::as<const Tensor&>(lr), detail::as<double>(dampening), detail::as<bool>(nesterov), detail::as<bool>(maximize), detail::as<bool>(is_first_step), detail::as<const Tensor&>(grad_scale), detail::as<const Tensor&>(found_inf)};
  op_.nothing(args_);
}
inline Tensor _gamma_draw(const Tensor& self, const Tensor& seed) {
  static detail::Callee op_{"aten::_gamma_draw", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(seed)};
  return op_.tensor(args_);
}
inline Tensor _gelu(const Tensor& self) {
  static detail::Callee op_{"aten::_gelu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& _gelu_(const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor _gelu_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& _gelu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::_gelu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor _gelu_tanh(const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_tanh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& _gelu_tanh_(const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_tanh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor _gelu_tanh_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_tanh_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& _gelu_tanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::_gelu_tanh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> _gru_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias, IntArrayRef batch_sizes, bool reverse) {
  static detail::Callee op_{"aten::_gru_layer", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(gates), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> _gru_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_kept, const Tensor& hx, const Tensor& weight, const Tensor& out, const Tensor& kept, IntArrayRef batch_sizes, bool reverse) {
  static detail::Callee op_{"aten::_gru_layer_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(grad_hn), detail::as<const Tensor&>(grad_kept), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(out), detail::as<const Tensor&>(kept), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse)};
  return op_.several<4>(args_);
}
inline Tensor _int_conv(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups = 1, int64_t zero_point = 0) {
  static detail::Callee op_{"aten::_int_conv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups), detail::as<int64_t>(zero_point)};
  return op_.tensor(args_);
}
inline Tensor _int_linear(const Tensor& input, const Tensor& weight, const Tensor& zero_point = undefined(), const Tensor& input_scale = undefined(), const Tensor& scale = undefined(), const Tensor& bias = undefined(), const Tensor& weight_sums = undefined()) {
  static detail::Callee op_{"aten::_int_linear", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(zero_point), detail::as<const Tensor&>(input_scale), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(bias), detail::as<const Tensor&>(weight_sums)};
  return op_.tensor(args_);
}
inline Tensor _int_mm(const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::_int_mm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2)};
  return op_.tensor(args_);
}
inline const Tensor& _int_mm_out(const Tensor& out, const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::_int_mm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline void _linalg_check_errors(const Tensor& info, const Text& api_name, bool is_matrix) {
  static detail::Callee op_{"aten::_linalg_check_errors", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(info), detail::as<const Text&>(api_name), detail::as<bool>(is_matrix)};
  op_.nothing(args_);
}
inline std::tuple<Tensor, Tensor> _linalg_cholesky(const Tensor& self, bool upper) {
  static detail::Callee op_{"aten::_linalg_cholesky", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) {
  static detail::Callee op_{"aten::_linalg_det", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _linalg_eig(const Tensor& self, bool compute_v) {
  static detail::Callee op_{"aten::_linalg_eig", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(compute_v)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _linalg_eigh(const Tensor& A, const Text& UPLO, bool compute_v) {
  static detail::Callee op_{"aten::_linalg_eigh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Text&>(UPLO), detail::as<bool>(compute_v)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _linalg_ldl(const Tensor& self, bool hermitian) {
  static detail::Callee op_{"aten::_linalg_ldl", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(hermitian)};
  return op_.several<3>(args_);
}
inline Tensor _linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  static detail::Callee op_{"aten::_linalg_ldl_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(LD), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_lstsq(const Tensor& A, const Tensor& B, double rcond, const Text& driver) {
  static detail::Callee op_{"aten::_linalg_lstsq", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<double>(rcond), detail::as<const Text&>(driver)};
  return op_.several<4>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _linalg_lu(const Tensor& self, bool pivot) {
  static detail::Callee op_{"aten::_linalg_lu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(pivot)};
  return op_.several<3>(args_);
}
inline Tensor _linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  static detail::Callee op_{"aten::_linalg_lu_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(LU), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<bool>(adjoint)};
  return op_.tensor(args_);
}
inline Tensor _linalg_permutation(const Tensor& pivots, int64_t size) {
  static detail::Callee op_{"aten::_linalg_permutation", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(pivots), detail::as<int64_t>(size)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) {
  static detail::Callee op_{"aten::_linalg_slogdet", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A)};
  return op_.several<4>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  static detail::Callee op_{"aten::_linalg_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(left)};
  return op_.several<4>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv, const Text& driver = {}) {
  static detail::Callee op_{"aten::_linalg_svd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(full_matrices), detail::as<bool>(compute_uv), detail::as<const Text&>(driver)};
  return op_.several<4>(args_);
}
inline Tensor _linalg_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  static detail::Callee op_{"aten::_linalg_triangular", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(upper), detail::as<bool>(left), detail::as<bool>(unitriangular)};
  return op_.tensor(args_);
}
inline Tensor _log_sigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::_log_sigmoid_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  static detail::Callee op_{"aten::_log_softmax_backward_data", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(output), detail::as<int64_t>(dim), detail::as<ScalarType>(input_dtype)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _lstm_cell(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  static detail::Callee op_{"aten::_lstm_cell", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(cx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(b_ih), detail::as<const Tensor&>(b_hh)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _lstm_cell_backward(const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& grad_kept, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& cy, const Tensor& kept, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::_lstm_cell_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_hy), detail::as<const Tensor&>(grad_cy), detail::as<const Tensor&>(grad_kept), detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(cx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(cy), detail::as<const Tensor&>(kept), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<7>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _lstm_layer(const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight, const Tensor& projection, IntArrayRef batch_sizes, bool reverse) {
  static detail::Callee op_{"aten::_lstm_layer", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(gates), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(cx), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(projection), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse)};
  return op_.several<5>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _lstm_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_cn, const Tensor& grad_cells, const Tensor& grad_kept, const Tensor& hx, const Tensor& cx, const Tensor& weight, const Tensor& projection, const Tensor& out, const Tensor& cells, const Tensor& kept, IntArrayRef batch_sizes, bool reverse) {
  static detail::Callee op_{"aten::_lstm_layer_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(grad_hn), detail::as<const Tensor&>(grad_cn), detail::as<const Tensor&>(grad_cells), detail::as<const Tensor&>(grad_kept), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(cx), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(projection), detail::as<const Tensor&>(out), detail::as<const Tensor&>(cells), detail::as<const Tensor&>(kept), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse)};
  return op_.several<5>(args_);
}
inline Tensor _mantissa(const Tensor& self) {
  static detail::Callee op_{"aten::_mantissa", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor _materialize(const Tensor& self, bool shared = false) {
  static detail::Callee op_{"aten::_materialize", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(shared)};
  return op_.tensor(args_);
}
inline Tensor _nan_to_num(const Tensor& self, const Scalar& nan, const Scalar& posinf, const Scalar& neginf) {
  static detail::Callee op_{"aten::_nan_to_num", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(nan), detail::as<const Scalar&>(posinf), detail::as<const Scalar&>(neginf)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> _nll_pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index) {
  static detail::Callee op_{"aten::_nll_pick", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<int64_t>(ignore_index)};
  return op_.several<2>(args_);
}
inline Tensor _pack_nibbles(const Tensor& self) {
  static detail::Callee op_{"aten::_pack_nibbles", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor _pair_loss(const Tensor& input, const Tensor& target, int64_t kind, double width, int64_t reduction) {
  static detail::Callee op_{"aten::_pair_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<int64_t>(kind), detail::as<double>(width), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor _pair_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, int64_t kind, double width, int64_t reduction) {
  static detail::Callee op_{"aten::_pair_loss_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<int64_t>(kind), detail::as<double>(width), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline const Tensor& _permute_randomly_(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_permute_randomly_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self;
}
inline Tensor _poisson_draw(const Tensor& self, const Tensor& seed) {
  static detail::Callee op_{"aten::_poisson_draw", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(seed)};
  return op_.tensor(args_);
}
inline Tensor _quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low, int64_t high, ScalarType dtype, int64_t first = 0) {
  static detail::Callee op_{"aten::_quantize", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(inner), detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<ScalarType>(dtype), detail::as<int64_t>(first)};
  return op_.tensor(args_);
}
inline const Tensor& _quantize_out(const Tensor& out, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low, int64_t high, ScalarType dtype, int64_t first = 0) {
  static detail::Callee op_{"aten::_quantize", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(inner), detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<ScalarType>(dtype), detail::as<int64_t>(first), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> _quantize_rows(const Tensor& self, int64_t low, int64_t high, ScalarType dtype, bool symmetric = false) {
  static detail::Callee op_{"aten::_quantize_rows", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<ScalarType>(dtype), detail::as<bool>(symmetric)};
  return op_.several<3>(args_);
}
inline const Tensor& _random_bits_(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_random_bits_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self;
}
inline Tensor _requantize(const Tensor& self, const Tensor& scale, const Tensor& bias, int64_t inner, double out_scale, int64_t zero_point, int64_t low, int64_t high, ScalarType dtype) {
  static detail::Callee op_{"aten::_requantize", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(bias), detail::as<int64_t>(inner), detail::as<double>(out_scale), detail::as<int64_t>(zero_point), detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<ScalarType>(dtype)};
  return op_.tensor(args_);
}
inline Tensor _resample(const Tensor& self, IntArrayRef output_size, IntArrayRef taps, const Tensor& index, const Tensor& weight = undefined()) {
  static detail::Callee op_{"aten::_resample", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size), detail::as<IntArrayRef>(taps), detail::as<const Tensor&>(index), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor _resample_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, IntArrayRef taps, const Tensor& index, const Tensor& weight = undefined()) {
  static detail::Callee op_{"aten::_resample_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<IntArrayRef>(output_size), detail::as<IntArrayRef>(input_size), detail::as<IntArrayRef>(taps), detail::as<const Tensor&>(index), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> _rnn_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes, bool reverse, bool relu) {
  static detail::Callee op_{"aten::_rnn_layer", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(gates), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(weight), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse), detail::as<bool>(relu)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _rnn_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx, const Tensor& weight, const Tensor& out, IntArrayRef batch_sizes, bool reverse, bool relu) {
  static detail::Callee op_{"aten::_rnn_layer_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(grad_hn), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(out), detail::as<IntArrayRef>(batch_sizes), detail::as<bool>(reverse), detail::as<bool>(relu)};
  return op_.several<3>(args_);
}
inline Tensor _row_order(const Tensor& self) {
  static detail::Callee op_{"aten::_row_order", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor _sample_dirichlet(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_sample_dirichlet", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor _scale_gradient(const Tensor& self, double factor) {
  static detail::Callee op_{"aten::_scale_gradient", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(factor)};
  return op_.tensor(args_);
}
inline const Tensor& _scatter_fold_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce) {
  static detail::Callee op_{"aten::_scatter_fold_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce)};
  op_.written(args_);
  return self;
}
inline Tensor _search_cdf(const Tensor& cdf, const Tensor& u) {
  static detail::Callee op_{"aten::_search_cdf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(cdf), detail::as<const Tensor&>(u)};
  return op_.tensor(args_);
}
inline Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  static detail::Callee op_{"aten::_softmax_backward_data", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(output), detail::as<int64_t>(dim), detail::as<ScalarType>(input_dtype)};
  return op_.tensor(args_);
}
inline Tensor _standard_gamma(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_standard_gamma", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  static detail::Callee op_{"aten::_standard_gamma_grad", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(output)};
  return op_.tensor(args_);
}
inline Tensor _standard_gamma_log(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::_standard_gamma_log", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor _trunc_divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::_trunc_divide", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor _trunc_divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::_trunc_divide", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& _trunc_divide_(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::_trunc_divide_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self;
}
inline const Tensor& _trunc_divide_(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::_trunc_divide_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self;
}
inline const Tensor& _trunc_divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::_trunc_divide", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& _trunc_divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::_trunc_divide", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true, bool return_inverse = false, bool return_counts = false) {
  static detail::Callee op_{"aten::_unique2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(sorted), detail::as<bool>(return_inverse), detail::as<bool>(return_counts)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> _unique_consecutive(const Tensor& self, bool return_inverse = false, bool return_counts = false, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::_unique_consecutive", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(return_inverse), detail::as<bool>(return_counts), detail::as<std::optional<int64_t>>(dim)};
  return op_.several<3>(args_);
}
inline Tensor _unpack_nibbles(const Tensor& self, IntArrayRef size, ScalarType dtype) {
  static detail::Callee op_{"aten::_unpack_nibbles", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<ScalarType>(dtype)};
  return op_.tensor(args_);
}
inline Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_bicubic2d_aa", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_bicubic2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_bicubic2d_aa_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_bilinear2d_aa", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_bilinear2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_bilinear2d_aa_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_lanczos2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_lanczos2d_aa", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_lanczos2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_lanczos2d_aa_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size), detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact1d_backward", ""};
  const detail::Repeated<3> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<IntArrayRef>(output_size), list2_, detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact2d_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact3d", ""};
  const detail::Repeated<3> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _upsample_nearest_exact3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::_upsample_nearest_exact3d_backward", ""};
  const detail::Repeated<3> list1_(output_size);
  const detail::Repeated<5> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor _weight_linear(const Tensor& input, const Tensor& weight, const Tensor& scale, const Tensor& bias = undefined()) {
  static detail::Callee op_{"aten::_weight_linear", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(bias)};
  return op_.tensor(args_);
}
inline Tensor abs(const Tensor& self) {
  static detail::Callee op_{"aten::abs", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& abs_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::abs", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor absolute(const Tensor& self) {
  static detail::Callee op_{"aten::absolute", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& absolute_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::absolute", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor acos(const Tensor& self) {
  static detail::Callee op_{"aten::acos", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& acos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::acos", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor acosh(const Tensor& self) {
  static detail::Callee op_{"aten::acosh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& acosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::acosh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_avg_pool1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size)};
  return op_.tensor(args_);
}
inline Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_avg_pool2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_};
  return op_.tensor(args_);
}
inline Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_avg_pool3d", ""};
  const detail::Repeated<3> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_max_pool1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_max_pool2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_max_pool3d", ""};
  const detail::Repeated<3> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_};
  return op_.several<2>(args_);
}
inline Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& add_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& add_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addbmm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addbmm_out(const Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addbmm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcdiv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline const Tensor& addcdiv_out(const Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcdiv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcmul", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline const Tensor& addcmul_out(const Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcmul", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat1), detail::as<const Tensor&>(mat2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addmm_out(const Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat1), detail::as<const Tensor&>(mat2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat), detail::as<const Tensor&>(vec), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addmv_out(const Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat), detail::as<const Tensor&>(vec), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec1), detail::as<const Tensor&>(vec2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addr_out(const Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec1), detail::as<const Tensor&>(vec2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  static detail::Callee op_{"aten::affine_grid_generator", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(theta), detail::as<IntArrayRef>(size), detail::as<bool>(align_corners)};
  return op_.tensor(args_);
}
inline Tensor alias(const Tensor& self) {
  static detail::Callee op_{"aten::alias", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor alias_copy(const Tensor& self) {
  static detail::Callee op_{"aten::alias_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& alias_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::alias_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor all(const Tensor& self) {
  static detail::Callee op_{"aten::all", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor all(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline Tensor all(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dims"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::all", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dims_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::alpha_dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  return op_.tensor(args_);
}
inline const Tensor& alpha_dropout_(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::alpha_dropout_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  op_.written(args_);
  return input;
}
inline Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amax", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& amax_out(const Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amax", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& amin_out(const Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::aminmax", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> aminmax_out(const Tensor& min, const Tensor& max, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::aminmax", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max)};
  op_.written<2>(args_);
  return {min, max};
}
inline Tensor angle(const Tensor& self) {
  static detail::Callee op_{"aten::angle", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& angle_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::angle", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor any(const Tensor& self) {
  static detail::Callee op_{"aten::any", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor any(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline Tensor any(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dims"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::any", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dims_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", ""};
  const lamella_value args_[] = {detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start_step"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<const Scalar&>(step), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& arange_out(const Tensor& out, const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& arange_out(const Tensor& out, const Scalar& start, const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& arange_out(const Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start_step_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<const Scalar&>(step), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arccos(const Tensor& self) {
  static detail::Callee op_{"aten::arccos", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& arccos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arccos", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arccosh(const Tensor& self) {
  static detail::Callee op_{"aten::arccosh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& arccosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arccosh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arcsin(const Tensor& self) {
  static detail::Callee op_{"aten::arcsin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& arcsin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arcsin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arcsinh(const Tensor& self) {
  static detail::Callee op_{"aten::arcsinh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& arcsinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arcsinh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arctan(const Tensor& self) {
  static detail::Callee op_{"aten::arctan", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor arctan2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::arctan2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& arctan2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::arctan2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& arctan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arctan", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor arctanh(const Tensor& self) {
  static detail::Callee op_{"aten::arctanh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& arctanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arctanh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmax", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& argmax_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmax", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& argmin_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::argsort", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(descending)};
  return op_.tensor(args_);
}
inline Tensor argsort(const Tensor& self, bool stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::argsort", "stable"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(stable), detail::as<int64_t>(dim), detail::as<bool>(descending)};
  return op_.tensor(args_);
}
inline Tensor argwhere(const Tensor& self) {
  static detail::Callee op_{"aten::argwhere", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) {
  static detail::Callee op_{"aten::as_strided", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<int64_t>>(storage_offset)};
  return op_.tensor(args_);
}
inline Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) {
  static detail::Callee op_{"aten::as_strided_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<int64_t>>(storage_offset)};
  return op_.tensor(args_);
}
inline const Tensor& as_strided_copy_out(const Tensor& out, const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) {
  static detail::Callee op_{"aten::as_strided_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<int64_t>>(storage_offset), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) {
  static detail::Callee op_{"aten::as_strided_scatter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(src), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<int64_t>>(storage_offset)};
  return op_.tensor(args_);
}
inline Tensor asin(const Tensor& self) {
  static detail::Callee op_{"aten::asin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& asin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::asin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor asinh(const Tensor& self) {
  static detail::Callee op_{"aten::asinh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& asinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::asinh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor atan(const Tensor& self) {
  static detail::Callee op_{"aten::atan", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor atan2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::atan2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& atan2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::atan2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& atan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::atan", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor atanh(const Tensor& self) {
  static detail::Callee op_{"aten::atanh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& atanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::atanh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor atleast_1d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> atleast_1d(TensorList tensors) {
  static detail::Callee op_{"aten::atleast_1d", "Sequence"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensors(args_);
}
inline Tensor atleast_2d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_2d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> atleast_2d(TensorList tensors) {
  static detail::Callee op_{"aten::atleast_2d", "Sequence"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensors(args_);
}
inline Tensor atleast_3d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_3d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> atleast_3d(TensorList tensors) {
  static detail::Callee op_{"aten::atleast_3d", "Sequence"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensors(args_);
}
inline Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true) {
  static detail::Callee op_{"aten::avg_pool1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(kernel_size), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad)};
  return op_.tensor(args_);
}
inline Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) {
  static detail::Callee op_{"aten::avg_pool2d", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(stride);
  const detail::Repeated<2> list3_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad), detail::as<std::optional<int64_t>>(divisor_override)};
  return op_.tensor(args_);
}
inline Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  static detail::Callee op_{"aten::avg_pool2d_backward", ""};
  const detail::Repeated<2> list2_(kernel_size);
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list4_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), list2_, list3_, list4_, detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad), detail::as<std::optional<int64_t>>(divisor_override)};
  return op_.tensor(args_);
}
inline const Tensor& avg_pool2d_out(const Tensor& out, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) {
  static detail::Callee op_{"aten::avg_pool2d", "out"};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(stride);
  const detail::Repeated<2> list3_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad), detail::as<std::optional<int64_t>>(divisor_override), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) {
  static detail::Callee op_{"aten::avg_pool3d", ""};
  const detail::Repeated<3> list1_(kernel_size);
  const detail::Repeated<3> list2_(stride);
  const detail::Repeated<3> list3_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad), detail::as<std::optional<int64_t>>(divisor_override)};
  return op_.tensor(args_);
}
inline const Tensor& avg_pool3d_out(const Tensor& out, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) {
  static detail::Callee op_{"aten::avg_pool3d", "out"};
  const detail::Repeated<3> list1_(kernel_size);
  const detail::Repeated<3> list2_(stride);
  const detail::Repeated<3> list3_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, detail::as<bool>(ceil_mode), detail::as<bool>(count_include_pad), detail::as<std::optional<int64_t>>(divisor_override), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::baddbmm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& baddbmm_out(const Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::baddbmm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bartlett_window(int64_t window_length, bool periodic = true, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::bartlett_window", ""};
  const lamella_value args_[] = {detail::as<int64_t>(window_length), detail::as<bool>(periodic), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled) {
  static detail::Callee op_{"aten::batch_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<const Tensor&>(running_mean), detail::as<const Tensor&>(running_var), detail::as<bool>(training), detail::as<double>(momentum), detail::as<double>(eps), detail::as<bool>(cudnn_enabled)};
  return op_.tensor(args_);
}
inline Tensor bernoulli(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::bernoulli", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor bernoulli(const Tensor& self, double p, const Generator& generator = {}) {
  static detail::Callee op_{"aten::bernoulli", "p"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(p), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline const Tensor& bernoulli_out(const Tensor& out, const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::bernoulli", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = undefined()) {
  static detail::Callee op_{"aten::bilinear", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input1), detail::as<const Tensor&>(input2), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias)};
  return op_.tensor(args_);
}
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = undefined(), std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean") {
  static detail::Callee op_{"aten::binary_cross_entropy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction)};
  return op_.tensor(args_);
}
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = undefined(), std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean", const Tensor& pos_weight = undefined()) {
  static detail::Callee op_{"aten::binary_cross_entropy_with_logits", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<const Tensor&>(pos_weight)};
  return op_.tensor(args_);
}
inline Tensor bincount(const Tensor& self, const Tensor& weights = undefined(), int64_t minlength = 0) {
  static detail::Callee op_{"aten::bincount", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(weights), detail::as<int64_t>(minlength)};
  return op_.tensor(args_);
}
inline Tensor binomial(const Tensor& count, const Tensor& prob, const Generator& generator = {}) {
  static detail::Callee op_{"aten::binomial", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(count), detail::as<const Tensor&>(prob), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_left_shift(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_left_shift(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor_Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_not(const Tensor& self) {
  static detail::Callee op_{"aten::bitwise_not", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_not_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::bitwise_not", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_or(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_or(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_right_shift(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_right_shift(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor_Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_xor(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_xor(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor blackman_window(int64_t window_length, bool periodic = true, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::blackman_window", ""};
  const lamella_value args_[] = {detail::as<int64_t>(window_length), detail::as<bool>(periodic), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor block_diag(TensorList tensors) {
  static detail::Callee op_{"aten::block_diag", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline Tensor bmm(const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::bmm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2)};
  return op_.tensor(args_);
}
inline const Tensor& bmm_out(const Tensor& out, const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::bmm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  static detail::Callee op_{"aten::broadcast_tensors", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensors(args_);
}
inline Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  static detail::Callee op_{"aten::broadcast_to", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size)};
  return op_.tensor(args_);
}
inline Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(boundaries), detail::as<bool>(out_int32), detail::as<bool>(right)};
  return op_.tensor(args_);
}
inline Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "Scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(boundaries), detail::as<bool>(out_int32), detail::as<bool>(right)};
  return op_.tensor(args_);
}
inline const Tensor& bucketize_out(const Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(boundaries), detail::as<bool>(out_int32), detail::as<bool>(right), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cartesian_prod(TensorList tensors) {
  static detail::Callee op_{"aten::cartesian_prod", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline Tensor cat(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::cat", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& cat_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::cat", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2, const Text& compute_mode = "use_mm_for_euclid_dist_if_necessary") {
  static detail::Callee op_{"aten::cdist", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x1), detail::as<const Tensor&>(x2), detail::as<double>(p), detail::as<const Text&>(compute_mode)};
  return op_.tensor(args_);
}
inline Tensor ceil(const Tensor& self) {
  static detail::Callee op_{"aten::ceil", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& ceil_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::ceil", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor celu(const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& celu_(const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self;
}
inline const Tensor& celu_out(const Tensor& out, const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor chain_matmul(TensorList matrices) {
  static detail::Callee op_{"aten::chain_matmul", ""};
  const lamella_value args_[] = {detail::as<TensorList>(matrices)};
  return op_.tensor(args_);
}
inline const Tensor& chain_matmul_out(const Tensor& out, TensorList matrices) {
  static detail::Callee op_{"aten::chain_matmul", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(matrices), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  static detail::Callee op_{"aten::channel_shuffle", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor cholesky(const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::cholesky", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper)};
  return op_.tensor(args_);
}
inline Tensor cholesky_inverse(const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::cholesky_inverse", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper)};
  return op_.tensor(args_);
}
inline const Tensor& cholesky_inverse_out(const Tensor& out, const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::cholesky_inverse", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& cholesky_out(const Tensor& out, const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::cholesky", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper = false) {
  static detail::Callee op_{"aten::cholesky_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(input2), detail::as<bool>(upper)};
  return op_.tensor(args_);
}
inline const Tensor& cholesky_solve_out(const Tensor& out, const Tensor& self, const Tensor& input2, bool upper = false) {
  static detail::Callee op_{"aten::cholesky_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(input2), detail::as<bool>(upper), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0) {
  static detail::Callee op_{"aten::chunk", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(chunks), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline Tensor clamp(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clamp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max)};
  return op_.tensor(args_);
}
inline Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clamp", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max)};
  return op_.tensor(args_);
}
inline Tensor clamp_max(const Tensor& self, const Scalar& max) {
  static detail::Callee op_{"aten::clamp_max", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(max)};
  return op_.tensor(args_);
}
inline Tensor clamp_max(const Tensor& self, const Tensor& max) {
  static detail::Callee op_{"aten::clamp_max", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(max)};
  return op_.tensor(args_);
}
inline const Tensor& clamp_max_out(const Tensor& out, const Tensor& self, const Scalar& max) {
  static detail::Callee op_{"aten::clamp_max", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_max_out(const Tensor& out, const Tensor& self, const Tensor& max) {
  static detail::Callee op_{"aten::clamp_max", "Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor clamp_min(const Tensor& self, const Scalar& min) {
  static detail::Callee op_{"aten::clamp_min", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(min)};
  return op_.tensor(args_);
}
inline Tensor clamp_min(const Tensor& self, const Tensor& min) {
  static detail::Callee op_{"aten::clamp_min", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min)};
  return op_.tensor(args_);
}
inline const Tensor& clamp_min_out(const Tensor& out, const Tensor& self, const Scalar& min) {
  static detail::Callee op_{"aten::clamp_min", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(min), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_min_out(const Tensor& out, const Tensor& self, const Tensor& min) {
  static detail::Callee op_{"aten::clamp_min", "Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clamp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_out(const Tensor& out, const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clamp", "Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor clip(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clip", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max)};
  return op_.tensor(args_);
}
inline Tensor clip(const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clip", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max)};
  return op_.tensor(args_);
}
inline const Tensor& clip_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clip", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clip_out(const Tensor& out, const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clip", "Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::clone", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return op_.tensor(args_);
}
inline Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  static detail::Callee op_{"aten::col2im", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<2> list2_(kernel_size);
  const detail::Repeated<2> list3_(dilation);
  const detail::Repeated<2> list4_(padding);
  const detail::Repeated<2> list5_(stride);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_, list5_};
  return op_.tensor(args_);
}
inline Tensor column_stack(TensorList tensors) {
  static detail::Callee op_{"aten::column_stack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& column_stack_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::column_stack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false) {
  static detail::Callee op_{"aten::combinations", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(r), detail::as<bool>(with_replacement)};
  return op_.tensor(args_);
}
inline Tensor complex(const Tensor& real, const Tensor& imag) {
  static detail::Callee op_{"aten::complex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(real), detail::as<const Tensor&>(imag)};
  return op_.tensor(args_);
}
inline const Tensor& complex_out(const Tensor& out, const Tensor& real, const Tensor& imag) {
  static detail::Callee op_{"aten::complex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(real), detail::as<const Tensor&>(imag), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor concat(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concat", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& concat_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concat", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor concatenate(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concatenate", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& concatenate_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concatenate", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor conj(const Tensor& self) {
  static detail::Callee op_{"aten::conj", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor conj_physical(const Tensor& self) {
  static detail::Callee op_{"aten::conj_physical", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& conj_physical_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::conj_physical", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0) {
  static detail::Callee op_{"aten::constant_pad_nd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(pad), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous) {
  static detail::Callee op_{"aten::contiguous", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<MemoryFormat>(memory_format)};
  return op_.tensor(args_);
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv1d", "padding"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<IntArrayRef>(stride), detail::as<const Text&>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv2d", ""};
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list4_(padding);
  const detail::Repeated<2> list5_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, list4_, list5_, detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv2d", "padding"};
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list5_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, detail::as<const Text&>(padding), list5_, detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv3d", ""};
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list4_(padding);
  const detail::Repeated<3> list5_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, list4_, list5_, detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv3d", "padding"};
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list5_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, detail::as<const Text&>(padding), list5_, detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad = 0) {
  static detail::Callee op_{"aten::conv_tbc", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<int64_t>(pad)};
  return op_.tensor(args_);
}
inline Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0, int64_t groups = 1, IntArrayRef dilation = 1) {
  static detail::Callee op_{"aten::conv_transpose1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(output_padding), detail::as<int64_t>(groups), detail::as<IntArrayRef>(dilation)};
  return op_.tensor(args_);
}
inline Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0, int64_t groups = 1, IntArrayRef dilation = 1) {
  static detail::Callee op_{"aten::conv_transpose2d", "input"};
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list4_(padding);
  const detail::Repeated<2> list5_(output_padding);
  const detail::Repeated<2> list7_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, list4_, list5_, detail::as<int64_t>(groups), list7_};
  return op_.tensor(args_);
}
inline Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0, int64_t groups = 1, IntArrayRef dilation = 1) {
  static detail::Callee op_{"aten::conv_transpose3d", "input"};
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list4_(padding);
  const detail::Repeated<3> list5_(output_padding);
  const detail::Repeated<3> list7_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), list3_, list4_, list5_, detail::as<int64_t>(groups), list7_};
  return op_.tensor(args_);
}
inline Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  static detail::Callee op_{"aten::convolution", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, const OptionalIntArrayRef& bias_sizes, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::convolution_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const OptionalIntArrayRef&>(bias_sizes), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<bool>(transposed), detail::as<IntArrayRef>(output_padding), detail::as<int64_t>(groups), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<3>(args_);
}
inline Tensor copysign(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::copysign", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor copysign(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::copysign", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& copysign_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::copysign", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& copysign_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::copysign", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor corrcoef(const Tensor& self) {
  static detail::Callee op_{"aten::corrcoef", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor cos(const Tensor& self) {
  static detail::Callee op_{"aten::cos", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& cos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::cos", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cosh(const Tensor& self) {
  static detail::Callee op_{"aten::cosh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& cosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::cosh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0, int64_t reduction = 1) {
  static detail::Callee op_{"aten::cosine_embedding_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input1), detail::as<const Tensor&>(input2), detail::as<const Tensor&>(target), detail::as<double>(margin), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-08) {
  static detail::Callee op_{"aten::cosine_similarity", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x1), detail::as<const Tensor&>(x2), detail::as<int64_t>(dim), detail::as<double>(eps)};
  return op_.tensor(args_);
}
inline Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::count_nonzero", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim)};
  return op_.tensor(args_);
}
inline Tensor count_nonzero(const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::count_nonzero", "dim_IntList"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& count_nonzero_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::count_nonzero", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& count_nonzero_out(const Tensor& out, const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::count_nonzero", "dim_IntList_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cov(const Tensor& self, int64_t correction = 1, const Tensor& fweights = undefined(), const Tensor& aweights = undefined()) {
  static detail::Callee op_{"aten::cov", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(correction), detail::as<const Tensor&>(fweights), detail::as<const Tensor&>(aweights)};
  return op_.tensor(args_);
}
inline Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::cross", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<std::optional<int64_t>>(dim)};
  return op_.tensor(args_);
}
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = undefined(), std::optional<bool> size_average = {}, int64_t ignore_index = -100, std::optional<bool> reduce = {}, const Text& reduction = "mean", double label_smoothing = 0.0) {
  static detail::Callee op_{"aten::cross_entropy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<std::optional<bool>>(size_average), detail::as<int64_t>(ignore_index), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<double>(label_smoothing)};
  return op_.tensor(args_);
}
inline const Tensor& cross_out(const Tensor& out, const Tensor& self, const Tensor& other, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::cross", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<std::optional<int64_t>>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank = 0, int64_t reduction = 1, bool zero_infinity = false) {
  static detail::Callee op_{"aten::ctc_loss", "IntList"};
  const lamella_value args_[] = {detail::as<const Tensor&>(log_probs), detail::as<const Tensor&>(targets), detail::as<IntArrayRef>(input_lengths), detail::as<IntArrayRef>(target_lengths), detail::as<int64_t>(blank), detail::as<int64_t>(reduction), detail::as<bool>(zero_infinity)};
  return op_.tensor(args_);
}
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank = 0, int64_t reduction = 1, bool zero_infinity = false) {
  static detail::Callee op_{"aten::ctc_loss", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(log_probs), detail::as<const Tensor&>(targets), detail::as<const Tensor&>(input_lengths), detail::as<const Tensor&>(target_lengths), detail::as<int64_t>(blank), detail::as<int64_t>(reduction), detail::as<bool>(zero_infinity)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::cummax", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> cummax_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::cummax", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::cummin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> cummin_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::cummin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumprod", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& cumprod_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumprod", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumsum", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& cumsum_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumsum", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1) {
  static detail::Callee op_{"aten::cumulative_trapezoid", "x"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Tensor&>(x), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1) {
  static detail::Callee op_{"aten::cumulative_trapezoid", "dx"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Scalar&>(dx), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor deg2rad(const Tensor& self) {
  static detail::Callee op_{"aten::deg2rad", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& deg2rad_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::deg2rad", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor det(const Tensor& self) {
  static detail::Callee op_{"aten::det", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor detach(const Tensor& self) {
  static detail::Callee op_{"aten::detach", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor detach_copy(const Tensor& self) {
  static detail::Callee op_{"aten::detach_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& detach_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::detach_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor diag(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::diag", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal)};
  return op_.tensor(args_);
}
inline Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) {
  static detail::Callee op_{"aten::diag_embed", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2)};
  return op_.tensor(args_);
}
inline const Tensor& diag_out(const Tensor& out, const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::diag", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor diagflat(const Tensor& self, int64_t offset = 0) {
  static detail::Callee op_{"aten::diagflat", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(offset)};
  return op_.tensor(args_);
}
inline Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  static detail::Callee op_{"aten::diagonal", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2)};
  return op_.tensor(args_);
}
inline Tensor diagonal_copy(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  static detail::Callee op_{"aten::diagonal_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2)};
  return op_.tensor(args_);
}
inline const Tensor& diagonal_copy_out(const Tensor& out, const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  static detail::Callee op_{"aten::diagonal_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  static detail::Callee op_{"aten::diagonal_scatter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(src), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2)};
  return op_.tensor(args_);
}
inline Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = undefined(), const Tensor& append = undefined()) {
  static detail::Callee op_{"aten::diff", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n), detail::as<int64_t>(dim), detail::as<const Tensor&>(prepend), detail::as<const Tensor&>(append)};
  return op_.tensor(args_);
}
inline const Tensor& diff_out(const Tensor& out, const Tensor& self, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = undefined(), const Tensor& append = undefined()) {
  static detail::Callee op_{"aten::diff", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n), detail::as<int64_t>(dim), detail::as<const Tensor&>(prepend), detail::as<const Tensor&>(append), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor digamma(const Tensor& self) {
  static detail::Callee op_{"aten::digamma", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& digamma_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::digamma", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2) {
  static detail::Callee op_{"aten::dist", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(p)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::div", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor div(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::div", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Tensor_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Scalar_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::divide", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::divide", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Tensor_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Scalar_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor dot(const Tensor& self, const Tensor& tensor) {
  static detail::Callee op_{"aten::dot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor)};
  return op_.tensor(args_);
}
inline const Tensor& dot_out(const Tensor& out, const Tensor& self, const Tensor& tensor) {
  static detail::Callee op_{"aten::dot", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor dropout(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  return op_.tensor(args_);
}
inline const Tensor& dropout_(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::dropout_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  op_.written(args_);
  return input;
}
inline std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::dsplit", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::dsplit", "array"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(indices)};
  return op_.tensors(args_);
}
inline Tensor dstack(TensorList tensors) {
  static detail::Callee op_{"aten::dstack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& dstack_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::dstack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor einsum(const Text& equation, TensorList tensors) {
  static detail::Callee op_{"aten::einsum", ""};
  const lamella_value args_[] = {detail::as<const Text&>(equation), detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1) {
  static detail::Callee op_{"aten::elu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha), detail::as<const Scalar&>(scale), detail::as<const Scalar&>(input_scale)};
  return op_.tensor(args_);
}
inline const Tensor& elu_(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1) {
  static detail::Callee op_{"aten::elu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha), detail::as<const Scalar&>(scale), detail::as<const Scalar&>(input_scale)};
  op_.written(args_);
  return self;
}
inline const Tensor& elu_out(const Tensor& out, const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1) {
  static detail::Callee op_{"aten::elu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(alpha), detail::as<const Scalar&>(scale), detail::as<const Scalar&>(input_scale), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false, bool sparse = false) {
  static detail::Callee op_{"aten::embedding", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(weight), detail::as<const Tensor&>(indices), detail::as<int64_t>(padding_idx), detail::as<bool>(scale_grad_by_freq), detail::as<bool>(sparse)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq = false, int64_t mode = 0, bool sparse = false, const Tensor& per_sample_weights = undefined(), bool include_last_offset = false) {
  static detail::Callee op_{"aten::embedding_bag", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(weight), detail::as<const Tensor&>(indices), detail::as<const Tensor&>(offsets), detail::as<bool>(scale_grad_by_freq), detail::as<int64_t>(mode), detail::as<bool>(sparse), detail::as<const Tensor&>(per_sample_weights), detail::as<bool>(include_last_offset)};
  return op_.several<4>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx) {
  static detail::Callee op_{"aten::embedding_bag", "padding_idx"};
  const lamella_value args_[] = {detail::as<const Tensor&>(weight), detail::as<const Tensor&>(indices), detail::as<const Tensor&>(offsets), detail::as<bool>(scale_grad_by_freq), detail::as<int64_t>(mode), detail::as<bool>(sparse), detail::as<const Tensor&>(per_sample_weights), detail::as<bool>(include_last_offset), detail::as<std::optional<int64_t>>(padding_idx)};
  return op_.several<4>(args_);
}
inline Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  static detail::Callee op_{"aten::embedding_dense_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(indices), detail::as<int64_t>(num_weights), detail::as<int64_t>(padding_idx), detail::as<bool>(scale_grad_by_freq)};
  return op_.tensor(args_);
}
inline const Tensor& embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  static detail::Callee op_{"aten::embedding_renorm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(indices), detail::as<double>(max_norm), detail::as<double>(norm_type)};
  op_.written(args_);
  return self;
}
inline Tensor empty(IntArrayRef size, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::empty", "memory_format"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor empty_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::empty_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& empty_out(const Tensor& out, IntArrayRef size, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::empty", "memory_format_out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::empty_strided", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor eq(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::eq", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor eq(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::eq", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& eq_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::eq", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& eq_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::eq", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline bool equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::equal", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.scalar(args_).toBool();
}
inline Tensor erf(const Tensor& self) {
  static detail::Callee op_{"aten::erf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& erf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erf", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor erfc(const Tensor& self) {
  static detail::Callee op_{"aten::erfc", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& erfc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erfc", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor erfinv(const Tensor& self) {
  static detail::Callee op_{"aten::erfinv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& erfinv_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erfinv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor exp(const Tensor& self) {
  static detail::Callee op_{"aten::exp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor exp2(const Tensor& self) {
  static detail::Callee op_{"aten::exp2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& exp2_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::exp2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& exp_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::exp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor expand(const Tensor& self, IntArrayRef size, bool implicit = false) {
  static detail::Callee op_{"aten::expand", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<bool>(implicit)};
  return op_.tensor(args_);
}
inline Tensor expand_as(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::expand_as", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor expand_copy(const Tensor& self, IntArrayRef size, bool implicit = false) {
  static detail::Callee op_{"aten::expand_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<bool>(implicit)};
  return op_.tensor(args_);
}
inline const Tensor& expand_copy_out(const Tensor& out, const Tensor& self, IntArrayRef size, bool implicit = false) {
  static detail::Callee op_{"aten::expand_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<bool>(implicit), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor expm1(const Tensor& self) {
  static detail::Callee op_{"aten::expm1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& expm1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::expm1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor eye(int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", "m"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<int64_t>(m), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& eye_out(const Tensor& out, int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& eye_out(const Tensor& out, int64_t n, int64_t m, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", "m_out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<int64_t>(m), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fake_quantize_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  static detail::Callee op_{"aten::fake_quantize_per_channel_affine", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(axis), detail::as<int64_t>(quant_min), detail::as<int64_t>(quant_max)};
  return op_.tensor(args_);
}
inline Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  static detail::Callee op_{"aten::fake_quantize_per_tensor_affine", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(scale), detail::as<int64_t>(zero_point), detail::as<int64_t>(quant_min), detail::as<int64_t>(quant_max)};
  return op_.tensor(args_);
}
inline Tensor fake_quantize_per_tensor_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  static detail::Callee op_{"aten::fake_quantize_per_tensor_affine", "tensor_qparams"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(scale), detail::as<const Tensor&>(zero_point), detail::as<int64_t>(quant_min), detail::as<int64_t>(quant_max)};
  return op_.tensor(args_);
}
inline Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::feature_alpha_dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  return op_.tensor(args_);
}
inline const Tensor& feature_alpha_dropout_(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::feature_alpha_dropout_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  op_.written(args_);
  return input;
}
inline Tensor feature_dropout(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::feature_dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  return op_.tensor(args_);
}
inline const Tensor& feature_dropout_(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::feature_dropout_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<bool>(train)};
  op_.written(args_);
  return input;
}
inline Tensor fft_fft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_fft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_fft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_fft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_fftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::fft_fftfreq", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<double>(d), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& fft_fftfreq_out(const Tensor& out, int64_t n, double d = 1.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::fft_fftfreq", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<double>(d), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_fftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_fftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_fftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_fftshift(const Tensor& self, const OptionalIntArrayRef& dim = {}) {
  static detail::Callee op_{"aten::fft_fftshift", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim)};
  return op_.tensor(args_);
}
inline Tensor fft_hfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_hfft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_hfft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_hfft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_hfftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_hfftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_hfftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_ifft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_ifft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_ifft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_ifft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_ifftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_ifftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ifftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_ifftshift(const Tensor& self, const OptionalIntArrayRef& dim = {}) {
  static detail::Callee op_{"aten::fft_ifftshift", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim)};
  return op_.tensor(args_);
}
inline Tensor fft_ihfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_ihfft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_ihfft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_ihfft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_ihfftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_ihfftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_ihfftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_irfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_irfft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_irfft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_irfft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_irfftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_irfftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_irfftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_rfft(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline Tensor fft_rfft2(const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfft2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_rfft2_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, IntArrayRef dim = {-2,-1}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfft2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<IntArrayRef>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fft_rfft_out(const Tensor& out, const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfft", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<int64_t>>(n), detail::as<int64_t>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_rfftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::fft_rfftfreq", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<double>(d), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& fft_rfftfreq_out(const Tensor& out, int64_t n, double d = 1.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::fft_rfftfreq", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<double>(d), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fft_rfftn(const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfftn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm)};
  return op_.tensor(args_);
}
inline const Tensor& fft_rfftn_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& s = {}, const OptionalIntArrayRef& dim = {}, const Text& norm = {}) {
  static detail::Callee op_{"aten::fft_rfftn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(s), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const Text&>(norm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fill(const Tensor& self, const Scalar& value) {
  static detail::Callee op_{"aten::fill", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline Tensor fill(const Tensor& self, const Tensor& value) {
  static detail::Callee op_{"aten::fill", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(value)};
  return op_.tensor(args_);
}
inline Tensor fix(const Tensor& self) {
  static detail::Callee op_{"aten::fix", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& fix_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::fix", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) {
  static detail::Callee op_{"aten::flatten", "using_ints"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(start_dim), detail::as<int64_t>(end_dim)};
  return op_.tensor(args_);
}
inline Tensor flip(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::flip", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline Tensor fliplr(const Tensor& self) {
  static detail::Callee op_{"aten::fliplr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor flipud(const Tensor& self) {
  static detail::Callee op_{"aten::flipud", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(exponent)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(exponent)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(exponent)};
  return op_.tensor(args_);
}
inline const Tensor& float_power_out(const Tensor& out, const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& float_power_out(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& float_power_out(const Tensor& out, const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor floor(const Tensor& self) {
  static detail::Callee op_{"aten::floor", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& floor_divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& floor_divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& floor_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::floor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmax(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmax", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmax_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmax", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmin(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmin_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmod(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmod", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor fmod(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::fmod", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmod_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmod", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fmod_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::fmod", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor frac(const Tensor& self) {
  static detail::Callee op_{"aten::frac", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& frac_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::frac", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) {
  static detail::Callee op_{"aten::fractional_max_pool2d", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, detail::as<const Tensor&>(random_samples)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) {
  static detail::Callee op_{"aten::fractional_max_pool3d", ""};
  const detail::Repeated<3> list1_(kernel_size);
  const detail::Repeated<3> list2_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, detail::as<const Tensor&>(random_samples)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  static detail::Callee op_{"aten::frexp", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> frexp_out(const Tensor& mantissa, const Tensor& exponent, const Tensor& self) {
  static detail::Callee op_{"aten::frexp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mantissa), detail::as<const Tensor&>(exponent)};
  op_.written<2>(args_);
  return {mantissa, exponent};
}
inline Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::full", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Scalar&>(fill_value), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::full_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(fill_value), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& full_out(const Tensor& out, IntArrayRef size, const Scalar& fill_value, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::full", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Scalar&>(fill_value), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false) {
  static detail::Callee op_{"aten::gather", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<bool>(sparse_grad)};
  return op_.tensor(args_);
}
inline const Tensor& gather_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false) {
  static detail::Callee op_{"aten::gather", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<bool>(sparse_grad), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor gcd(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gcd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& gcd_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gcd", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor ge(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ge", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor ge(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ge", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& ge_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ge", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& ge_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ge", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor gelu(const Tensor& self, const Text& approximate = "none") {
  static detail::Callee op_{"aten::gelu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(approximate)};
  return op_.tensor(args_);
}
inline const Tensor& gelu_(const Tensor& self, const Text& approximate = "none") {
  static detail::Callee op_{"aten::gelu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(approximate)};
  op_.written(args_);
  return self;
}
inline const Tensor& gelu_out(const Tensor& out, const Tensor& self, const Text& approximate = "none") {
  static detail::Callee op_{"aten::gelu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(approximate), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  static detail::Callee op_{"aten::geqrf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> geqrf_out(const Tensor& a, const Tensor& tau, const Tensor& self) {
  static detail::Callee op_{"aten::geqrf", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(a), detail::as<const Tensor&>(tau)};
  op_.written<2>(args_);
  return {a, tau};
}
inline Tensor ger(const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::ger", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec2)};
  return op_.tensor(args_);
}
inline const Tensor& ger_out(const Tensor& out, const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::ger", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor glu(const Tensor& self, int64_t dim = -1) {
  static detail::Callee op_{"aten::glu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& glu_out(const Tensor& out, const Tensor& self, int64_t dim = -1) {
  static detail::Callee op_{"aten::glu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> gradient(const Tensor& self, const std::optional<Scalar>& spacing = {}, std::optional<int64_t> dim = {}, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "scalarint"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(spacing), detail::as<std::optional<int64_t>>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "scalararray"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(spacing), detail::as<IntArrayRef>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "array"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, std::optional<int64_t> dim = {}, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "scalarrayint"};
  const detail::Scalars list1_(spacing);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<std::optional<int64_t>>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "scalarrayarray"};
  const detail::Scalars list1_(spacing);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<IntArrayRef>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, std::optional<int64_t> dim = {}, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "tensorarrayint"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<TensorList>(spacing), detail::as<std::optional<int64_t>>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order = 1) {
  static detail::Callee op_{"aten::gradient", "tensorarray"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<TensorList>(spacing), detail::as<IntArrayRef>(dim), detail::as<int64_t>(edge_order)};
  return op_.tensors(args_);
}
inline Tensor greater(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor greater(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor greater_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater_equal", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor greater_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater_equal", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& greater_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater_equal", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater_equal", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  static detail::Callee op_{"aten::grid_sampler", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(grid), detail::as<int64_t>(interpolation_mode), detail::as<int64_t>(padding_mode), detail::as<bool>(align_corners)};
  return op_.tensor(args_);
}
inline Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  static detail::Callee op_{"aten::grid_sampler_2d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(grid), detail::as<int64_t>(interpolation_mode), detail::as<int64_t>(padding_mode), detail::as<bool>(align_corners)};
  return op_.tensor(args_);
}
inline Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  static detail::Callee op_{"aten::grid_sampler_3d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(grid), detail::as<int64_t>(interpolation_mode), detail::as<int64_t>(padding_mode), detail::as<bool>(align_corners)};
  return op_.tensor(args_);
}
inline Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = undefined(), const Tensor& bias = undefined(), double eps = 1e-05, bool cudnn_enabled = true) {
  static detail::Callee op_{"aten::group_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<int64_t>(num_groups), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<double>(eps), detail::as<bool>(cudnn_enabled)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static detail::Callee op_{"aten::gru", "input"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional), detail::as<bool>(batch_first)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> gru(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static detail::Callee op_{"aten::gru", "data"};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Tensor&>(batch_sizes), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional)};
  return op_.several<2>(args_);
}
inline Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = undefined(), const Tensor& b_hh = undefined()) {
  static detail::Callee op_{"aten::gru_cell", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(b_ih), detail::as<const Tensor&>(b_hh)};
  return op_.tensor(args_);
}
inline Tensor gt(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gt", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor gt(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::gt", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& gt_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gt", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& gt_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::gt", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hamming_window(int64_t window_length, bool periodic = true, double alpha = 0.54, double beta = 0.46, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::hamming_window", ""};
  const lamella_value args_[] = {detail::as<int64_t>(window_length), detail::as<bool>(periodic), detail::as<double>(alpha), detail::as<double>(beta), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor hann_window(int64_t window_length, bool periodic = true, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::hann_window", ""};
  const lamella_value args_[] = {detail::as<int64_t>(window_length), detail::as<bool>(periodic), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::hardshrink", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd)};
  return op_.tensor(args_);
}
inline Tensor hardshrink_backward(const Tensor& grad_out, const Tensor& self, const Scalar& lambd) {
  static detail::Callee op_{"aten::hardshrink_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd)};
  return op_.tensor(args_);
}
inline const Tensor& hardshrink_out(const Tensor& out, const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::hardshrink", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hardsigmoid(const Tensor& self) {
  static detail::Callee op_{"aten::hardsigmoid", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& hardsigmoid_(const Tensor& self) {
  static detail::Callee op_{"aten::hardsigmoid_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::hardsigmoid_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& hardsigmoid_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::hardsigmoid", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hardswish(const Tensor& self) {
  static detail::Callee op_{"aten::hardswish", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& hardswish_(const Tensor& self) {
  static detail::Callee op_{"aten::hardswish_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::hardswish_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& hardswish_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::hardswish", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1) {
  static detail::Callee op_{"aten::hardtanh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(min_val), detail::as<const Scalar&>(max_val)};
  return op_.tensor(args_);
}
inline const Tensor& hardtanh_(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1) {
  static detail::Callee op_{"aten::hardtanh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(min_val), detail::as<const Scalar&>(max_val)};
  op_.written(args_);
  return self;
}
inline Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  static detail::Callee op_{"aten::hardtanh_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(min_val), detail::as<const Scalar&>(max_val)};
  return op_.tensor(args_);
}
inline const Tensor& hardtanh_out(const Tensor& out, const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1) {
  static detail::Callee op_{"aten::hardtanh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(min_val), detail::as<const Scalar&>(max_val), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hash_tensor(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false, int64_t mode = 0) {
  static detail::Callee op_{"aten::hash_tensor", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<int64_t>(mode)};
  return op_.tensor(args_);
}
inline const Tensor& hash_tensor_out(const Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false, int64_t mode = 0) {
  static detail::Callee op_{"aten::hash_tensor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<int64_t>(mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor heaviside(const Tensor& self, const Tensor& values) {
  static detail::Callee op_{"aten::heaviside", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(values)};
  return op_.tensor(args_);
}
inline const Tensor& heaviside_out(const Tensor& out, const Tensor& self, const Tensor& values) {
  static detail::Callee op_{"aten::heaviside", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(values), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin = 1, int64_t reduction = 1) {
  static detail::Callee op_{"aten::hinge_embedding_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(target), detail::as<double>(margin), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) {
  static detail::Callee op_{"aten::histc", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(bins), detail::as<const Scalar&>(min), detail::as<const Scalar&>(max)};
  return op_.tensor(args_);
}
inline const Tensor& histc_out(const Tensor& out, const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) {
  static detail::Callee op_{"aten::histc", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(bins), detail::as<const Scalar&>(min), detail::as<const Scalar&>(max), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogram", "bins_tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(bins), detail::as<const Tensor&>(weight), detail::as<bool>(density)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins = 100, std::optional<ArrayRef<double>> range = {}, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogram", "bin_ct"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(bins), detail::as<std::optional<ArrayRef<double>>>(range), detail::as<const Tensor&>(weight), detail::as<bool>(density)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> histogram_out(const Tensor& hist, const Tensor& bin_edges, const Tensor& self, const Tensor& bins, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogram", "bins_tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(bins), detail::as<const Tensor&>(weight), detail::as<bool>(density), detail::as<const Tensor&>(hist), detail::as<const Tensor&>(bin_edges)};
  op_.written<2>(args_);
  return {hist, bin_edges};
}
inline std::tuple<Tensor, Tensor> histogram_out(const Tensor& hist, const Tensor& bin_edges, const Tensor& self, int64_t bins = 100, std::optional<ArrayRef<double>> range = {}, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogram", "bin_ct_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(bins), detail::as<std::optional<ArrayRef<double>>>(range), detail::as<const Tensor&>(weight), detail::as<bool>(density), detail::as<const Tensor&>(hist), detail::as<const Tensor&>(bin_edges)};
  op_.written<2>(args_);
  return {hist, bin_edges};
}
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range = {}, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogramdd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(bins), detail::as<std::optional<ArrayRef<double>>>(range), detail::as<const Tensor&>(weight), detail::as<bool>(density)};
  return op_.tensor_and_list(args_);
}
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range = {}, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogramdd", "int_bins"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(bins), detail::as<std::optional<ArrayRef<double>>>(range), detail::as<const Tensor&>(weight), detail::as<bool>(density)};
  return op_.tensor_and_list(args_);
}
inline std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins, std::optional<ArrayRef<double>> range = {}, const Tensor& weight = undefined(), bool density = false) {
  static detail::Callee op_{"aten::histogramdd", "TensorList_bins"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<TensorList>(bins), detail::as<std::optional<ArrayRef<double>>>(range), detail::as<const Tensor&>(weight), detail::as<bool>(density)};
  return op_.tensor_and_list(args_);
}
inline std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::hsplit", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::hsplit", "array"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(indices)};
  return op_.tensors(args_);
}
inline Tensor hstack(TensorList tensors) {
  static detail::Callee op_{"aten::hstack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& hstack_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::hstack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor huber_loss(const Tensor& input, const Tensor& target, const Text& reduction = "mean", double delta = 1.0, const Tensor& weight = undefined()) {
  static detail::Callee op_{"aten::huber_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Text&>(reduction), detail::as<double>(delta), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor hypot(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::hypot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& hypot_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::hypot", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor i0(const Tensor& self) {
  static detail::Callee op_{"aten::i0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& i0_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::i0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor igamma(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::igamma", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& igamma_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::igamma", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor igammac(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::igammac", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& igammac_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::igammac", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  static detail::Callee op_{"aten::im2col", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(dilation);
  const detail::Repeated<2> list3_(padding);
  const detail::Repeated<2> list4_(stride);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_};
  return op_.tensor(args_);
}
inline Tensor imag(const Tensor& self) {
  static detail::Callee op_{"aten::imag", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor index(const Tensor& self, TensorList indices) {
  static detail::Callee op_{"aten::index", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<TensorList>(indices)};
  return op_.tensor(args_);
}
inline Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::index_add", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& index_add_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::index_add", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  static detail::Callee op_{"aten::index_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source)};
  return op_.tensor(args_);
}
inline const Tensor& index_copy_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  static detail::Callee op_{"aten::index_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::index_fill", "int_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  static detail::Callee op_{"aten::index_fill", "int_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(value)};
  return op_.tensor(args_);
}
inline Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate = false) {
  static detail::Callee op_{"aten::index_put", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<TensorList>(indices), detail::as<const Tensor&>(values), detail::as<bool>(accumulate)};
  return op_.tensor(args_);
}
inline Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::index_reduce", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Text&>(reduce), detail::as<bool>(include_self)};
  return op_.tensor(args_);
}
inline const Tensor& index_reduce_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::index_reduce", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Text&>(reduce), detail::as<bool>(include_self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  static detail::Callee op_{"aten::index_select", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index)};
  return op_.tensor(args_);
}
inline const Tensor& index_select_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  static detail::Callee op_{"aten::index_select", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor inner(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::inner", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& inner_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::inner", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  static detail::Callee op_{"aten::instance_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<const Tensor&>(running_mean), detail::as<const Tensor&>(running_var), detail::as<bool>(use_input_stats), detail::as<double>(momentum), detail::as<double>(eps), detail::as<bool>(cudnn_enabled)};
  return op_.tensor(args_);
}
inline Tensor inverse(const Tensor& self) {
  static detail::Callee op_{"aten::inverse", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& inverse_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::inverse", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline bool is_nonzero(const Tensor& self) {
  static detail::Callee op_{"aten::is_nonzero", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.scalar(args_).toBool();
}
inline bool is_pinned(const Tensor& self, const std::optional<Device>& device = {}) {
  static detail::Callee op_{"aten::is_pinned", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Device>&>(device)};
  return op_.scalar(args_).toBool();
}
inline Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false) {
  static detail::Callee op_{"aten::isclose", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<double>(rtol), detail::as<double>(atol), detail::as<bool>(equal_nan)};
  return op_.tensor(args_);
}
inline Tensor isfinite(const Tensor& self) {
  static detail::Callee op_{"aten::isfinite", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(elements), detail::as<const Tensor&>(test_elements), detail::as<bool>(assume_unique), detail::as<bool>(invert)};
  return op_.tensor(args_);
}
inline Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(elements), detail::as<const Scalar&>(test_element), detail::as<bool>(assume_unique), detail::as<bool>(invert)};
  return op_.tensor(args_);
}
inline Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(element), detail::as<const Tensor&>(test_elements), detail::as<bool>(assume_unique), detail::as<bool>(invert)};
  return op_.tensor(args_);
}
inline const Tensor& isin_out(const Tensor& out, const Tensor& elements, const Tensor& test_elements, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Tensor_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(elements), detail::as<const Tensor&>(test_elements), detail::as<bool>(assume_unique), detail::as<bool>(invert), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& isin_out(const Tensor& out, const Tensor& elements, const Scalar& test_element, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Tensor_Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(elements), detail::as<const Scalar&>(test_element), detail::as<bool>(assume_unique), detail::as<bool>(invert), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& isin_out(const Tensor& out, const Scalar& element, const Tensor& test_elements, bool assume_unique = false, bool invert = false) {
  static detail::Callee op_{"aten::isin", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(element), detail::as<const Tensor&>(test_elements), detail::as<bool>(assume_unique), detail::as<bool>(invert), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor isinf(const Tensor& self) {
  static detail::Callee op_{"aten::isinf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor isnan(const Tensor& self) {
  static detail::Callee op_{"aten::isnan", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor isneginf(const Tensor& self) {
  static detail::Callee op_{"aten::isneginf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& isneginf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::isneginf", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor isposinf(const Tensor& self) {
  static detail::Callee op_{"aten::isposinf", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& isposinf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::isposinf", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {}, std::optional<int64_t> win_length = {}, const Tensor& window = undefined(), bool center = true, bool normalized = false, std::optional<bool> onesided = {}, std::optional<int64_t> length = {}, bool return_complex = false) {
  static detail::Callee op_{"aten::istft", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n_fft), detail::as<std::optional<int64_t>>(hop_length), detail::as<std::optional<int64_t>>(win_length), detail::as<const Tensor&>(window), detail::as<bool>(center), detail::as<bool>(normalized), detail::as<std::optional<bool>>(onesided), detail::as<std::optional<int64_t>>(length), detail::as<bool>(return_complex)};
  return op_.tensor(args_);
}
inline Scalar item(const Tensor& self) {
  static detail::Callee op_{"aten::item", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.scalar(args_);
}
inline Tensor kaiser_window(int64_t window_length, bool periodic = true, double beta = 12.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::kaiser_window", ""};
  const lamella_value args_[] = {detail::as<int64_t>(window_length), detail::as<bool>(periodic), detail::as<double>(beta), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor kl_div(const Tensor& input, const Tensor& target, std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean", bool log_target = false) {
  static detail::Callee op_{"aten::kl_div", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<bool>(log_target)};
  return op_.tensor(args_);
}
inline Tensor kron(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::kron", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& kron_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::kron", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::kthvalue", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(k), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> kthvalue_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::kthvalue", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(k), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor l1_loss(const Tensor& input, const Tensor& target, std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean", const Tensor& weight = undefined()) {
  static detail::Callee op_{"aten::l1_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = undefined(), const Tensor& bias = undefined(), double eps = 1e-05, bool cudnn_enable = true) {
  static detail::Callee op_{"aten::layer_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<double>(eps), detail::as<bool>(cudnn_enable)};
  return op_.tensor(args_);
}
inline Tensor lcm(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lcm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& lcm_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lcm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor ldexp(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ldexp", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& ldexp_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ldexp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor le(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::le", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor le(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::le", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& le_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::le", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& le_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::le", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01) {
  static detail::Callee op_{"aten::leaky_relu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(negative_slope)};
  return op_.tensor(args_);
}
inline const Tensor& leaky_relu_(const Tensor& self, const Scalar& negative_slope = 0.01) {
  static detail::Callee op_{"aten::leaky_relu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(negative_slope)};
  op_.written(args_);
  return self;
}
inline Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, bool self_is_result) {
  static detail::Callee op_{"aten::leaky_relu_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(negative_slope), detail::as<bool>(self_is_result)};
  return op_.tensor(args_);
}
inline const Tensor& leaky_relu_out(const Tensor& out, const Tensor& self, const Scalar& negative_slope = 0.01) {
  static detail::Callee op_{"aten::leaky_relu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(negative_slope), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  static detail::Callee op_{"aten::lerp", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(end), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  static detail::Callee op_{"aten::lerp", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(end), detail::as<const Scalar&>(weight)};
  return op_.tensor(args_);
}
inline const Tensor& lerp_out(const Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight) {
  static detail::Callee op_{"aten::lerp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(end), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& lerp_out(const Tensor& out, const Tensor& self, const Tensor& end, const Scalar& weight) {
  static detail::Callee op_{"aten::lerp", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(end), detail::as<const Scalar&>(weight), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor less(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor less(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor less_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less_equal", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor less_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less_equal", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& less_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less_equal", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less_equal", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor lgamma(const Tensor& self) {
  static detail::Callee op_{"aten::lgamma", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& lgamma_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::lgamma", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_cholesky(const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::linalg_cholesky", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper = false, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_cholesky_ex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper), detail::as<bool>(check_errors)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_cholesky_ex_out(const Tensor& L, const Tensor& info, const Tensor& self, bool upper = false, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_cholesky_ex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper), detail::as<bool>(check_errors), detail::as<const Tensor&>(L), detail::as<const Tensor&>(info)};
  op_.written<2>(args_);
  return {L, info};
}
inline const Tensor& linalg_cholesky_out(const Tensor& out, const Tensor& self, bool upper = false) {
  static detail::Callee op_{"aten::linalg_cholesky", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(upper), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p = {}) {
  static detail::Callee op_{"aten::linalg_cond", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(p)};
  return op_.tensor(args_);
}
inline Tensor linalg_cond(const Tensor& self, const Text& p) {
  static detail::Callee op_{"aten::linalg_cond", "p_str"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(p)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_cond_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& p = {}) {
  static detail::Callee op_{"aten::linalg_cond", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(p), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_cond_out(const Tensor& out, const Tensor& self, const Text& p) {
  static detail::Callee op_{"aten::linalg_cond", "p_str_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(p), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1) {
  static detail::Callee op_{"aten::linalg_cross", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_cross_out(const Tensor& out, const Tensor& self, const Tensor& other, int64_t dim = -1) {
  static detail::Callee op_{"aten::linalg_cross", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_det(const Tensor& A) {
  static detail::Callee op_{"aten::linalg_det", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_det_out(const Tensor& out, const Tensor& A) {
  static detail::Callee op_{"aten::linalg_det", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) {
  static detail::Callee op_{"aten::linalg_diagonal", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<int64_t>(offset), detail::as<int64_t>(dim1), detail::as<int64_t>(dim2)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  static detail::Callee op_{"aten::linalg_eig", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_eig_out(const Tensor& eigenvalues, const Tensor& eigenvectors, const Tensor& self) {
  static detail::Callee op_{"aten::linalg_eig", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(eigenvalues), detail::as<const Tensor&>(eigenvectors)};
  op_.written<2>(args_);
  return {eigenvalues, eigenvectors};
}
inline std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, const Text& UPLO = "L") {
  static detail::Callee op_{"aten::linalg_eigh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(UPLO)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_eigh_out(const Tensor& eigenvalues, const Tensor& eigenvectors, const Tensor& self, const Text& UPLO = "L") {
  static detail::Callee op_{"aten::linalg_eigh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(UPLO), detail::as<const Tensor&>(eigenvalues), detail::as<const Tensor&>(eigenvectors)};
  op_.written<2>(args_);
  return {eigenvalues, eigenvectors};
}
inline Tensor linalg_eigvals(const Tensor& self) {
  static detail::Callee op_{"aten::linalg_eigvals", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_eigvals_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::linalg_eigvals", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_eigvalsh(const Tensor& self, const Text& UPLO = "L") {
  static detail::Callee op_{"aten::linalg_eigvalsh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(UPLO)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_eigvalsh_out(const Tensor& out, const Tensor& self, const Text& UPLO = "L") {
  static detail::Callee op_{"aten::linalg_eigvalsh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(UPLO), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  static detail::Callee op_{"aten::linalg_householder_product", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tau)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_householder_product_out(const Tensor& out, const Tensor& input, const Tensor& tau) {
  static detail::Callee op_{"aten::linalg_householder_product", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tau), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_inv(const Tensor& A) {
  static detail::Callee op_{"aten::linalg_inv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_inv_ex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(check_errors)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_inv_ex_out(const Tensor& inverse, const Tensor& info, const Tensor& A, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_inv_ex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(check_errors), detail::as<const Tensor&>(inverse), detail::as<const Tensor&>(info)};
  op_.written<2>(args_);
  return {inverse, info};
}
inline const Tensor& linalg_inv_out(const Tensor& out, const Tensor& A) {
  static detail::Callee op_{"aten::linalg_inv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_ldl_factor", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(hermitian)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian = false, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_ldl_factor_ex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(hermitian), detail::as<bool>(check_errors)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex_out(const Tensor& LD, const Tensor& pivots, const Tensor& info, const Tensor& self, bool hermitian = false, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_ldl_factor_ex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(hermitian), detail::as<bool>(check_errors), detail::as<const Tensor&>(LD), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(info)};
  op_.written<3>(args_);
  return {LD, pivots, info};
}
inline std::tuple<Tensor, Tensor> linalg_ldl_factor_out(const Tensor& LD, const Tensor& pivots, const Tensor& self, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_ldl_factor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(hermitian), detail::as<const Tensor&>(LD), detail::as<const Tensor&>(pivots)};
  op_.written<2>(args_);
  return {LD, pivots};
}
inline Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_ldl_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(LD), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_ldl_solve_out(const Tensor& out, const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_ldl_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(LD), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond = {}, const Text& driver = {}) {
  static detail::Callee op_{"aten::linalg_lstsq", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(b), detail::as<std::optional<double>>(rcond), detail::as<const Text&>(driver)};
  return op_.several<4>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot = true) {
  static detail::Callee op_{"aten::linalg_lu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot = true) {
  static detail::Callee op_{"aten::linalg_lu_factor", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot = true, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_lu_factor_ex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot), detail::as<bool>(check_errors)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex_out(const Tensor& LU, const Tensor& pivots, const Tensor& info, const Tensor& A, bool pivot = true, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_lu_factor_ex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot), detail::as<bool>(check_errors), detail::as<const Tensor&>(LU), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(info)};
  op_.written<3>(args_);
  return {LU, pivots, info};
}
inline std::tuple<Tensor, Tensor> linalg_lu_factor_out(const Tensor& LU, const Tensor& pivots, const Tensor& A, bool pivot = true) {
  static detail::Callee op_{"aten::linalg_lu_factor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot), detail::as<const Tensor&>(LU), detail::as<const Tensor&>(pivots)};
  op_.written<2>(args_);
  return {LU, pivots};
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_lu_out(const Tensor& P, const Tensor& L, const Tensor& U, const Tensor& A, bool pivot = true) {
  static detail::Callee op_{"aten::linalg_lu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(pivot), detail::as<const Tensor&>(P), detail::as<const Tensor&>(L), detail::as<const Tensor&>(U)};
  op_.written<3>(args_);
  return {P, L, U};
}
inline Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true, bool adjoint = false) {
  static detail::Callee op_{"aten::linalg_lu_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(LU), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<bool>(adjoint)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_lu_solve_out(const Tensor& out, const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true, bool adjoint = false) {
  static detail::Callee op_{"aten::linalg_lu_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(LU), detail::as<const Tensor&>(pivots), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<bool>(adjoint), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_matmul(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::linalg_matmul", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_matmul_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::linalg_matmul", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_matrix_exp(const Tensor& self) {
  static detail::Callee op_{"aten::linalg_matrix_exp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_matrix_exp_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::linalg_matrix_exp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2,-1}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_matrix_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(ord), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor linalg_matrix_norm(const Tensor& self, const Text& ord = "fro", IntArrayRef dim = {-2,-1}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_matrix_norm", "str_ord"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(ord), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_matrix_norm_out(const Tensor& out, const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2,-1}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_matrix_norm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(ord), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_matrix_norm_out(const Tensor& out, const Tensor& self, const Text& ord = "fro", IntArrayRef dim = {-2,-1}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_matrix_norm", "str_ord_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(ord), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  static detail::Callee op_{"aten::linalg_matrix_power", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_matrix_power_out(const Tensor& out, const Tensor& self, int64_t n) {
  static detail::Callee op_{"aten::linalg_matrix_power", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_matrix_rank(const Tensor& input, const Tensor& atol = undefined(), const Tensor& rtol = undefined(), bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "atol_rtol_tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(atol), detail::as<const Tensor&>(rtol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol = {}, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "atol_rtol_float"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(atol), detail::as<std::optional<double>>(rtol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(tol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_matrix_rank(const Tensor& input, const Tensor& tol, bool hermitian) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "tol_tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_matrix_rank_out(const Tensor& out, const Tensor& input, const Tensor& atol = undefined(), const Tensor& rtol = undefined(), bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "atol_rtol_tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(atol), detail::as<const Tensor&>(rtol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_matrix_rank_out(const Tensor& out, const Tensor& self, std::optional<double> atol, std::optional<double> rtol = {}, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "atol_rtol_float_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(atol), detail::as<std::optional<double>>(rtol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_matrix_rank_out(const Tensor& out, const Tensor& self, double tol, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(tol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_matrix_rank_out(const Tensor& out, const Tensor& input, const Tensor& tol, bool hermitian) {
  static detail::Callee op_{"aten::linalg_matrix_rank", "tol_tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_multi_dot(TensorList tensors) {
  static detail::Callee op_{"aten::linalg_multi_dot", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_multi_dot_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::linalg_multi_dot", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = {}, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor linalg_norm(const Tensor& self, const Text& ord, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_norm", "ord_str"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_norm_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& ord = {}, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_norm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_norm_out(const Tensor& out, const Tensor& self, const Text& ord, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_norm", "ord_str_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_pinv(const Tensor& self, const Tensor& atol = undefined(), const Tensor& rtol = undefined(), bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", "atol_rtol_tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(atol), detail::as<const Tensor&>(rtol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol = {}, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", "atol_rtol_float"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(atol), detail::as<std::optional<double>>(rtol), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(rcond), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline Tensor linalg_pinv(const Tensor& self, const Tensor& rcond, bool hermitian) {
  static detail::Callee op_{"aten::linalg_pinv", "rcond_tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(rcond), detail::as<bool>(hermitian)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_pinv_out(const Tensor& out, const Tensor& self, const Tensor& atol = undefined(), const Tensor& rtol = undefined(), bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", "atol_rtol_tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(atol), detail::as<const Tensor&>(rtol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_pinv_out(const Tensor& out, const Tensor& self, std::optional<double> atol, std::optional<double> rtol = {}, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", "atol_rtol_float_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(atol), detail::as<std::optional<double>>(rtol), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_pinv_out(const Tensor& out, const Tensor& self, double rcond, bool hermitian = false) {
  static detail::Callee op_{"aten::linalg_pinv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(rcond), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& linalg_pinv_out(const Tensor& out, const Tensor& self, const Tensor& rcond, bool hermitian) {
  static detail::Callee op_{"aten::linalg_pinv", "rcond_tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(rcond), detail::as<bool>(hermitian), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, const Text& mode = "reduced") {
  static detail::Callee op_{"aten::linalg_qr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Text&>(mode)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_qr_out(const Tensor& Q, const Tensor& R, const Tensor& A, const Text& mode = "reduced") {
  static detail::Callee op_{"aten::linalg_qr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Text&>(mode), detail::as<const Tensor&>(Q), detail::as<const Tensor&>(R)};
  op_.written<2>(args_);
  return {Q, R};
}
inline std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  static detail::Callee op_{"aten::linalg_slogdet", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_slogdet_out(const Tensor& sign, const Tensor& logabsdet, const Tensor& A) {
  static detail::Callee op_{"aten::linalg_slogdet", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(sign), detail::as<const Tensor&>(logabsdet)};
  op_.written<2>(args_);
  return {sign, logabsdet};
}
inline Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true) {
  static detail::Callee op_{"aten::linalg_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(left)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left = true, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_solve_ex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<bool>(check_errors)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> linalg_solve_ex_out(const Tensor& result, const Tensor& info, const Tensor& A, const Tensor& B, bool left = true, bool check_errors = false) {
  static detail::Callee op_{"aten::linalg_solve_ex", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<bool>(check_errors), detail::as<const Tensor&>(result), detail::as<const Tensor&>(info)};
  op_.written<2>(args_);
  return {result, info};
}
inline const Tensor& linalg_solve_out(const Tensor& out, const Tensor& A, const Tensor& B, bool left = true) {
  static detail::Callee op_{"aten::linalg_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Tensor&>(B), detail::as<bool>(left), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left = true, bool unitriangular = false) {
  static detail::Callee op_{"aten::linalg_solve_triangular", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(B), detail::as<bool>(upper), detail::as<bool>(left), detail::as<bool>(unitriangular)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_solve_triangular_out(const Tensor& out, const Tensor& self, const Tensor& B, bool upper, bool left = true, bool unitriangular = false) {
  static detail::Callee op_{"aten::linalg_solve_triangular", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(B), detail::as<bool>(upper), detail::as<bool>(left), detail::as<bool>(unitriangular), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices = true, const Text& driver = {}) {
  static detail::Callee op_{"aten::linalg_svd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(full_matrices), detail::as<const Text&>(driver)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> linalg_svd_out(const Tensor& U, const Tensor& S, const Tensor& Vh, const Tensor& A, bool full_matrices = true, const Text& driver = {}) {
  static detail::Callee op_{"aten::linalg_svd", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<bool>(full_matrices), detail::as<const Text&>(driver), detail::as<const Tensor&>(U), detail::as<const Tensor&>(S), detail::as<const Tensor&>(Vh)};
  op_.written<3>(args_);
  return {U, S, Vh};
}
inline Tensor linalg_svdvals(const Tensor& A, const Text& driver = {}) {
  static detail::Callee op_{"aten::linalg_svdvals", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Text&>(driver)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_svdvals_out(const Tensor& out, const Tensor& A, const Text& driver = {}) {
  static detail::Callee op_{"aten::linalg_svdvals", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(A), detail::as<const Text&>(driver), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_tensorinv(const Tensor& self, int64_t ind = 2) {
  static detail::Callee op_{"aten::linalg_tensorinv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(ind)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_tensorinv_out(const Tensor& out, const Tensor& self, int64_t ind = 2) {
  static detail::Callee op_{"aten::linalg_tensorinv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(ind), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, const OptionalIntArrayRef& dims = {}) {
  static detail::Callee op_{"aten::linalg_tensorsolve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const OptionalIntArrayRef&>(dims)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_tensorsolve_out(const Tensor& out, const Tensor& self, const Tensor& other, const OptionalIntArrayRef& dims = {}) {
  static detail::Callee op_{"aten::linalg_tensorsolve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const OptionalIntArrayRef&>(dims), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N = {}) {
  static detail::Callee op_{"aten::linalg_vander", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<std::optional<int64_t>>(N)};
  return op_.tensor(args_);
}
inline Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1) {
  static detail::Callee op_{"aten::linalg_vecdot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(y), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_vecdot_out(const Tensor& out, const Tensor& x, const Tensor& y, int64_t dim = -1) {
  static detail::Callee op_{"aten::linalg_vecdot", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(y), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_vector_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& linalg_vector_norm_out(const Tensor& out, const Tensor& self, const Scalar& ord = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::linalg_vector_norm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(ord), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined()) {
  static detail::Callee op_{"aten::linear", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias)};
  return op_.tensor(args_);
}
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::linspace", ""};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<int64_t>(steps), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& linspace_out(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::linspace", "out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<int64_t>(steps), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor log(const Tensor& self) {
  static detail::Callee op_{"aten::log", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor log10(const Tensor& self) {
  static detail::Callee op_{"aten::log10", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& log10_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log10", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor log1p(const Tensor& self) {
  static detail::Callee op_{"aten::log1p", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& log1p_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log1p", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor log2(const Tensor& self) {
  static detail::Callee op_{"aten::log2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& log2_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& log_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor log_sigmoid(const Tensor& self) {
  static detail::Callee op_{"aten::log_sigmoid", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& log_sigmoid_(const Tensor& self) {
  static detail::Callee op_{"aten::log_sigmoid_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline const Tensor& log_sigmoid_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log_sigmoid", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::log_softmax", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& log_softmax_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::log_softmax", "int_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logaddexp(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp2", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& logaddexp2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp2", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& logaddexp_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::logcumsumexp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& logcumsumexp_out(const Tensor& out, const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::logcumsumexp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logdet(const Tensor& self) {
  static detail::Callee op_{"aten::logdet", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor logical_and(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_and", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_and_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_and", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_not(const Tensor& self) {
  static detail::Callee op_{"aten::logical_not", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& logical_not_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::logical_not", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_or(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_or", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_or_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_or", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_xor(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_xor", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_xor_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_xor", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logit(const Tensor& self, std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::logit", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(eps)};
  return op_.tensor(args_);
}
inline const Tensor& logit_out(const Tensor& out, const Tensor& self, std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::logit", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(eps), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::logspace", ""};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<int64_t>(steps), detail::as<double>(base), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& logspace_out(const Tensor& out, const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::logspace", "out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<int64_t>(steps), detail::as<double>(base), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  static detail::Callee op_{"aten::logsumexp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& logsumexp_out(const Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  static detail::Callee op_{"aten::logsumexp", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static detail::Callee op_{"aten::lstm", "input"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<TensorList>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional), detail::as<bool>(batch_first)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static detail::Callee op_{"aten::lstm", "data"};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Tensor&>(batch_sizes), detail::as<TensorList>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = undefined(), const Tensor& b_hh = undefined()) {
  static detail::Callee op_{"aten::lstm_cell", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<TensorList>(hx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(b_ih), detail::as<const Tensor&>(b_hh)};
  return op_.several<2>(args_);
}
inline Tensor lt(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lt", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor lt(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::lt", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& lt_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lt", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& lt_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::lt", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  static detail::Callee op_{"aten::lu_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(LU_data), detail::as<const Tensor&>(LU_pivots)};
  return op_.tensor(args_);
}
inline const Tensor& lu_solve_out(const Tensor& out, const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  static detail::Callee op_{"aten::lu_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(LU_data), detail::as<const Tensor&>(LU_pivots), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data = true, bool unpack_pivots = true) {
  static detail::Callee op_{"aten::lu_unpack", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(LU_data), detail::as<const Tensor&>(LU_pivots), detail::as<bool>(unpack_data), detail::as<bool>(unpack_pivots)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> lu_unpack_out(const Tensor& P, const Tensor& L, const Tensor& U, const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data = true, bool unpack_pivots = true) {
  static detail::Callee op_{"aten::lu_unpack", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(LU_data), detail::as<const Tensor&>(LU_pivots), detail::as<bool>(unpack_data), detail::as<bool>(unpack_pivots), detail::as<const Tensor&>(P), detail::as<const Tensor&>(L), detail::as<const Tensor&>(U)};
  op_.written<3>(args_);
  return {P, L, U};
}
inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0, int64_t reduction = 1) {
  static detail::Callee op_{"aten::margin_ranking_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input1), detail::as<const Tensor&>(input2), detail::as<const Tensor&>(target), detail::as<double>(margin), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  static detail::Callee op_{"aten::masked_fill", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mask), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  static detail::Callee op_{"aten::masked_fill", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mask), detail::as<const Tensor&>(value)};
  return op_.tensor(args_);
}
inline Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  static detail::Callee op_{"aten::masked_scatter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mask), detail::as<const Tensor&>(source)};
  return op_.tensor(args_);
}
inline Tensor masked_select(const Tensor& self, const Tensor& mask) {
  static detail::Callee op_{"aten::masked_select", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mask)};
  return op_.tensor(args_);
}
inline const Tensor& masked_select_out(const Tensor& out, const Tensor& self, const Tensor& mask) {
  static detail::Callee op_{"aten::masked_select", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mask), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::matmul", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& matmul_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::matmul", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor matrix_exp(const Tensor& self) {
  static detail::Callee op_{"aten::matrix_exp", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor matrix_power(const Tensor& self, int64_t n) {
  static detail::Callee op_{"aten::matrix_power", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n)};
  return op_.tensor(args_);
}
inline const Tensor& matrix_power_out(const Tensor& out, const Tensor& self, int64_t n) {
  static detail::Callee op_{"aten::matrix_power", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor max(const Tensor& self) {
  static detail::Callee op_{"aten::max", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor max(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::max", "other"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::max", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline const Tensor& max_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::max", "other_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> max_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::max", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(kernel_size), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<bool>(ceil_mode)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool1d_with_indices", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(kernel_size), detail::as<IntArrayRef>(stride), detail::as<IntArrayRef>(padding), detail::as<IntArrayRef>(dilation), detail::as<bool>(ceil_mode)};
  return op_.several<2>(args_);
}
inline Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool2d", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(stride);
  const detail::Repeated<2> list3_(padding);
  const detail::Repeated<2> list4_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_, detail::as<bool>(ceil_mode)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool2d_with_indices", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(stride);
  const detail::Repeated<2> list3_(padding);
  const detail::Repeated<2> list4_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_, detail::as<bool>(ceil_mode)};
  return op_.several<2>(args_);
}
inline Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices) {
  static detail::Callee op_{"aten::max_pool2d_with_indices_backward", ""};
  const detail::Repeated<2> list2_(kernel_size);
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list4_(padding);
  const detail::Repeated<2> list5_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), list2_, list3_, list4_, list5_, detail::as<bool>(ceil_mode), detail::as<const Tensor&>(indices)};
  return op_.tensor(args_);
}
inline Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool3d", ""};
  const detail::Repeated<3> list1_(kernel_size);
  const detail::Repeated<3> list2_(stride);
  const detail::Repeated<3> list3_(padding);
  const detail::Repeated<3> list4_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_, detail::as<bool>(ceil_mode)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool3d_with_indices", ""};
  const detail::Repeated<3> list1_(kernel_size);
  const detail::Repeated<3> list2_(stride);
  const detail::Repeated<3> list3_(padding);
  const detail::Repeated<3> list4_(dilation);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, list2_, list3_, list4_, detail::as<bool>(ceil_mode)};
  return op_.several<2>(args_);
}
inline Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  static detail::Callee op_{"aten::max_unpool2d", ""};
  const detail::Repeated<2> list2_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(indices), list2_};
  return op_.tensor(args_);
}
inline Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride, IntArrayRef padding) {
  static detail::Callee op_{"aten::max_unpool3d", ""};
  const detail::Repeated<3> list2_(output_size);
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list4_(padding);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(indices), list2_, list3_, list4_};
  return op_.tensor(args_);
}
inline Tensor maximum(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::maximum", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& maximum_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::maximum", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor mean(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& mean_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor median(const Tensor& self) {
  static detail::Callee op_{"aten::median", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::median", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> median_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::median", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::vector<Tensor> meshgrid(TensorList tensors) {
  static detail::Callee op_{"aten::meshgrid", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> meshgrid(TensorList tensors, const Text& indexing) {
  static detail::Callee op_{"aten::meshgrid", "indexing"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Text&>(indexing)};
  return op_.tensors(args_);
}
inline Tensor min(const Tensor& self) {
  static detail::Callee op_{"aten::min", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor min(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::min", "other"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::min", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline const Tensor& min_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::min", "other_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> min_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::min", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor minimum(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::minimum", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& minimum_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::minimum", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mish(const Tensor& self) {
  static detail::Callee op_{"aten::mish", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& mish_(const Tensor& self) {
  static detail::Callee op_{"aten::mish_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor mish_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::mish_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& mish_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::mish", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mm(const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::mm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2)};
  return op_.tensor(args_);
}
inline const Tensor& mm_out(const Tensor& out, const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::mm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(mat2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::mode", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> mode_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::mode", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  static detail::Callee op_{"aten::moveaxis", "intlist"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(source), detail::as<IntArrayRef>(destination)};
  return op_.tensor(args_);
}
inline Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  static detail::Callee op_{"aten::moveaxis", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(source), detail::as<int64_t>(destination)};
  return op_.tensor(args_);
}
inline Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  static detail::Callee op_{"aten::movedim", "intlist"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(source), detail::as<IntArrayRef>(destination)};
  return op_.tensor(args_);
}
inline Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  static detail::Callee op_{"aten::movedim", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(source), detail::as<int64_t>(destination)};
  return op_.tensor(args_);
}
inline Tensor mse_loss(const Tensor& input, const Tensor& target, std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean", const Tensor& weight = undefined()) {
  static detail::Callee op_{"aten::mse_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor msort(const Tensor& self) {
  static detail::Callee op_{"aten::msort", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& msort_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::msort", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mul(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::mul", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor mul(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::mul", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& mul_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::mul", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& mul_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::mul", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1, const Scalar& margin = 1, const Tensor& weight = undefined(), int64_t reduction = 1) {
  static detail::Callee op_{"aten::multi_margin_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(target), detail::as<const Scalar&>(p), detail::as<const Scalar&>(margin), detail::as<const Tensor&>(weight), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1) {
  static detail::Callee op_{"aten::multilabel_margin_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(target), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false, const Generator& generator = {}) {
  static detail::Callee op_{"aten::multinomial", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(num_samples), detail::as<bool>(replacement), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline const Tensor& multinomial_out(const Tensor& out, const Tensor& self, int64_t num_samples, bool replacement = false, const Generator& generator = {}) {
  static detail::Callee op_{"aten::multinomial", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(num_samples), detail::as<bool>(replacement), detail::as<const Generator&>(generator), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor multiply(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::multiply", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor multiply(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::multiply", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& multiply_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::multiply", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& multiply_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::multiply", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mv(const Tensor& self, const Tensor& vec) {
  static detail::Callee op_{"aten::mv", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec)};
  return op_.tensor(args_);
}
inline const Tensor& mv_out(const Tensor& out, const Tensor& self, const Tensor& vec) {
  static detail::Callee op_{"aten::mv", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor mvlgamma(const Tensor& self, int64_t p) {
  static detail::Callee op_{"aten::mvlgamma", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(p)};
  return op_.tensor(args_);
}
inline const Tensor& mvlgamma_out(const Tensor& out, const Tensor& self, int64_t p) {
  static detail::Callee op_{"aten::mvlgamma", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(p), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) {
  static detail::Callee op_{"aten::nan_to_num", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(nan), detail::as<std::optional<double>>(posinf), detail::as<std::optional<double>>(neginf)};
  return op_.tensor(args_);
}
inline const Tensor& nan_to_num_out(const Tensor& out, const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) {
  static detail::Callee op_{"aten::nan_to_num", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<double>>(nan), detail::as<std::optional<double>>(posinf), detail::as<std::optional<double>>(neginf), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nanmean(const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nanmean", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& nanmean_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nanmean", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nanmedian(const Tensor& self) {
  static detail::Callee op_{"aten::nanmedian", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::nanmedian", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> nanmedian_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::nanmedian", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::nanquantile", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation)};
  return op_.tensor(args_);
}
inline Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::nanquantile", "scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation)};
  return op_.tensor(args_);
}
inline const Tensor& nanquantile_out(const Tensor& out, const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::nanquantile", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& nanquantile_out(const Tensor& out, const Tensor& self, double q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::nanquantile", "scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nansum(const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nansum", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& nansum_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nansum", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static detail::Callee op_{"aten::narrow", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(start), detail::as<int64_t>(length)};
  return op_.tensor(args_);
}
inline Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static detail::Callee op_{"aten::narrow_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(start), detail::as<int64_t>(length)};
  return op_.tensor(args_);
}
inline const Tensor& narrow_copy_out(const Tensor& out, const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static detail::Callee op_{"aten::narrow_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(start), detail::as<int64_t>(length), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& running_mean, const Tensor& running_var, const Tensor& save_mean, const Tensor& save_invstd, bool train, double eps, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::native_batch_norm_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(running_mean), detail::as<const Tensor&>(running_var), detail::as<const Tensor&>(save_mean), detail::as<const Tensor&>(save_invstd), detail::as<bool>(train), detail::as<double>(eps), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<3>(args_);
}
inline Tensor native_channel_shuffle(const Tensor& self, int64_t groups) {
  static detail::Callee op_{"aten::native_channel_shuffle", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(groups)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  static detail::Callee op_{"aten::native_dropout", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<double>(p), detail::as<std::optional<bool>>(train)};
  return op_.several<2>(args_);
}
inline Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  static detail::Callee op_{"aten::native_dropout_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(mask), detail::as<double>(scale)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  static detail::Callee op_{"aten::native_group_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<int64_t>(N), detail::as<int64_t>(C), detail::as<int64_t>(HxW), detail::as<int64_t>(group), detail::as<double>(eps)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::native_group_norm_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(input), detail::as<const Tensor&>(mean), detail::as<const Tensor&>(rstd), detail::as<const Tensor&>(weight), detail::as<int64_t>(N), detail::as<int64_t>(C), detail::as<int64_t>(HxW), detail::as<int64_t>(group), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  static detail::Callee op_{"aten::native_layer_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<double>(eps)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Tensor& bias, ArrayRef<bool> output_mask) {
  static detail::Callee op_{"aten::native_layer_norm_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_out), detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(mean), detail::as<const Tensor&>(rstd), detail::as<const Tensor&>(weight), detail::as<const Tensor&>(bias), detail::as<ArrayRef<bool>>(output_mask)};
  return op_.several<3>(args_);
}
inline Tensor ne(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ne", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor ne(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ne", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& ne_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ne", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& ne_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ne", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor neg(const Tensor& self) {
  static detail::Callee op_{"aten::neg", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& neg_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::neg", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor negative(const Tensor& self) {
  static detail::Callee op_{"aten::negative", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& negative_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::negative", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nextafter(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::nextafter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& nextafter_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::nextafter", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = undefined(), std::optional<bool> size_average = {}, int64_t ignore_index = -100, std::optional<bool> reduce = {}, const Text& reduction = "mean") {
  static detail::Callee op_{"aten::nll_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<const Tensor&>(weight), detail::as<std::optional<bool>>(size_average), detail::as<int64_t>(ignore_index), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction)};
  return op_.tensor(args_);
}
inline Tensor nonzero(const Tensor& self) {
  static detail::Callee op_{"aten::nonzero", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> nonzero(const Tensor& self, bool as_tuple) {
  static detail::Callee op_{"aten::nonzero", "as_tuple"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(as_tuple)};
  return op_.tensors(args_);
}
inline const Tensor& nonzero_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::nonzero", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value = -1) {
  static detail::Callee op_{"aten::nonzero_static", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(size), detail::as<int64_t>(fill_value)};
  return op_.tensor(args_);
}
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& p = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(p), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor norm(const Tensor& self, const Text& p, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", "str"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Text&>(p), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& norm_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& p = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Scalar>&>(p), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor normal(const Tensor& mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(mean), detail::as<const Tensor&>(std), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(const Tensor& mean, double std = 1, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_float"};
  const lamella_value args_[] = {detail::as<const Tensor&>(mean), detail::as<double>(std), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(double mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "float_Tensor"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<const Tensor&>(std), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(double mean, double std, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<double>(std), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor normal(double mean, double std, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<double>(std), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& normal_out(const Tensor& out, const Tensor& mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(mean), detail::as<const Tensor&>(std), detail::as<const Generator&>(generator), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& normal_out(const Tensor& out, const Tensor& mean, double std = 1, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_float_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(mean), detail::as<double>(std), detail::as<const Generator&>(generator), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& normal_out(const Tensor& out, double mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "float_Tensor_out"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<const Tensor&>(std), detail::as<const Generator&>(generator), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& normal_out(const Tensor& out, double mean, double std, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float_out"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<double>(std), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& normal_out(const Tensor& out, double mean, double std, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float_out"};
  const lamella_value args_[] = {detail::as<double>(mean), detail::as<double>(std), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor not_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::not_equal", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor not_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::not_equal", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& not_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::not_equal", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& not_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::not_equal", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor one_hot(const Tensor& self, int64_t num_classes = -1) {
  static detail::Callee op_{"aten::one_hot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(num_classes)};
  return op_.tensor(args_);
}
inline Tensor ones(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::ones", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor ones_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::ones_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& ones_out(const Tensor& out, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::ones", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor orgqr(const Tensor& input, const Tensor& tau) {
  static detail::Callee op_{"aten::orgqr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tau)};
  return op_.tensor(args_);
}
inline const Tensor& orgqr_out(const Tensor& out, const Tensor& input, const Tensor& tau) {
  static detail::Callee op_{"aten::orgqr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(tau), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false) {
  static detail::Callee op_{"aten::ormqr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tau), detail::as<const Tensor&>(other), detail::as<bool>(left), detail::as<bool>(transpose)};
  return op_.tensor(args_);
}
inline const Tensor& ormqr_out(const Tensor& out, const Tensor& self, const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false) {
  static detail::Callee op_{"aten::ormqr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tau), detail::as<const Tensor&>(other), detail::as<bool>(left), detail::as<bool>(transpose), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor outer(const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::outer", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec2)};
  return op_.tensor(args_);
}
inline const Tensor& outer_out(const Tensor& out, const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::outer", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(vec2), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor pad(const Tensor& self, IntArrayRef pad, const Text& mode = "constant", std::optional<double> value = {}) {
  static detail::Callee op_{"aten::pad", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(pad), detail::as<const Text&>(mode), detail::as<std::optional<double>>(value)};
  return op_.tensor(args_);
}
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-06, bool keepdim = false) {
  static detail::Callee op_{"aten::pairwise_distance", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x1), detail::as<const Tensor&>(x2), detail::as<double>(p), detail::as<double>(eps), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline Tensor pdist(const Tensor& self, double p = 2) {
  static detail::Callee op_{"aten::pdist", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(p)};
  return op_.tensor(args_);
}
inline Tensor permute(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::permute", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline Tensor permute_copy(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::permute_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline const Tensor& permute_copy_out(const Tensor& out, const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::permute_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dims), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor pin_memory(const Tensor& self, const std::optional<Device>& device = {}) {
  static detail::Callee op_{"aten::pin_memory", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Device>&>(device)};
  return op_.tensor(args_);
}
inline Tensor pinverse(const Tensor& self, double rcond = 1e-15) {
  static detail::Callee op_{"aten::pinverse", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(rcond)};
  return op_.tensor(args_);
}
inline Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  static detail::Callee op_{"aten::pixel_shuffle", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(upscale_factor)};
  return op_.tensor(args_);
}
inline Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  static detail::Callee op_{"aten::pixel_unshuffle", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(downscale_factor)};
  return op_.tensor(args_);
}
inline Tensor poisson(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::poisson", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) {
  static detail::Callee op_{"aten::poisson_nll_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<bool>(log_input), detail::as<bool>(full), detail::as<double>(eps), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor polar(const Tensor& abs, const Tensor& angle) {
  static detail::Callee op_{"aten::polar", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(abs), detail::as<const Tensor&>(angle)};
  return op_.tensor(args_);
}
inline const Tensor& polar_out(const Tensor& out, const Tensor& abs, const Tensor& angle) {
  static detail::Callee op_{"aten::polar", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(abs), detail::as<const Tensor&>(angle), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor polygamma(int64_t n, const Tensor& self) {
  static detail::Callee op_{"aten::polygamma", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& polygamma_out(const Tensor& out, int64_t n, const Tensor& self) {
  static detail::Callee op_{"aten::polygamma", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor positive(const Tensor& self) {
  static detail::Callee op_{"aten::positive", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor pow(const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(exponent)};
  return op_.tensor(args_);
}
inline Tensor pow(const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(exponent)};
  return op_.tensor(args_);
}
inline Tensor pow(const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(exponent)};
  return op_.tensor(args_);
}
inline const Tensor& pow_out(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& pow_out(const Tensor& out, const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& pow_out(const Tensor& out, const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(exponent), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor prelu(const Tensor& self, const Tensor& weight) {
  static detail::Callee op_{"aten::prelu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(weight)};
  return op_.tensor(args_);
}
inline Tensor prod(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", "dim_int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& prod_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", "dim_int_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false) {
  static detail::Callee op_{"aten::put", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<bool>(accumulate)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some = true) {
  static detail::Callee op_{"aten::qr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(some)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> qr_out(const Tensor& Q, const Tensor& R, const Tensor& self, bool some = true) {
  static detail::Callee op_{"aten::qr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(some), detail::as<const Tensor&>(Q), detail::as<const Tensor&>(R)};
  op_.written<2>(args_);
  return {Q, R};
}
inline Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::quantile", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation)};
  return op_.tensor(args_);
}
inline Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::quantile", "scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation)};
  return op_.tensor(args_);
}
inline const Tensor& quantile_out(const Tensor& out, const Tensor& self, const Tensor& q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::quantile", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& quantile_out(const Tensor& out, const Tensor& self, double q, std::optional<int64_t> dim = {}, bool keepdim = false, const Text& interpolation = "linear") {
  static detail::Callee op_{"aten::quantile", "scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<double>(q), detail::as<std::optional<int64_t>>(dim), detail::as<bool>(keepdim), detail::as<const Text&>(interpolation), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor rad2deg(const Tensor& self) {
  static detail::Callee op_{"aten::rad2deg", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& rad2deg_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::rad2deg", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor rand(IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor rand_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::rand_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& rand_out(const Tensor& out, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& rand_out(const Tensor& out, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", ""};
  const lamella_value args_[] = {detail::as<int64_t>(high), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", ""};
  const lamella_value args_[] = {detail::as<int64_t>(high), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low"};
  const lamella_value args_[] = {detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low"};
  const lamella_value args_[] = {detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randint_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(high), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randint_like", "low_dtype"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& randint_out(const Tensor& out, int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(high), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& randint_out(const Tensor& out, int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(high), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& randint_out(const Tensor& out, int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low_out"};
  const lamella_value args_[] = {detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& randint_out(const Tensor& out, int64_t low, int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low_out"};
  const lamella_value args_[] = {detail::as<int64_t>(low), detail::as<int64_t>(high), detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor randn(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randn(IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randn_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randn_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& randn_out(const Tensor& out, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& randn_out(const Tensor& out, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor randperm(int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randperm(int64_t n, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", ""};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& randperm_out(const Tensor& out, int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), lamella::none(), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& randperm_out(const Tensor& out, int64_t n, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", "out"};
  const lamella_value args_[] = {detail::as<int64_t>(n), detail::as<const Generator&>(generator), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor range(const Scalar& start, const Scalar& end, const Scalar& step = 1, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::range", "step"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<const Scalar&>(step), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  static detail::Callee op_{"aten::range", ""};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& range_out(const Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step = 1, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::range", "step_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<const Scalar&>(step), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& range_out(const Tensor& out, const Scalar& start, const Scalar& end, const TensorOptions& options) {
  static detail::Callee op_{"aten::range", "out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(start), detail::as<const Scalar&>(end), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor ravel(const Tensor& self) {
  static detail::Callee op_{"aten::ravel", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor real(const Tensor& self) {
  static detail::Callee op_{"aten::real", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor reciprocal(const Tensor& self) {
  static detail::Callee op_{"aten::reciprocal", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& reciprocal_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::reciprocal", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor relu(const Tensor& self) {
  static detail::Callee op_{"aten::relu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor relu6(const Tensor& self) {
  static detail::Callee op_{"aten::relu6", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& relu6_(const Tensor& self) {
  static detail::Callee op_{"aten::relu6_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline const Tensor& relu6_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::relu6", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& relu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::relu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor remainder(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor remainder(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::remainder", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor remainder(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& remainder_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& remainder_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& remainder_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_Tensor_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  static detail::Callee op_{"aten::renorm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(p), detail::as<int64_t>(dim), detail::as<const Scalar&>(maxnorm)};
  return op_.tensor(args_);
}
inline const Tensor& renorm_out(const Tensor& out, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  static detail::Callee op_{"aten::renorm", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(p), detail::as<int64_t>(dim), detail::as<const Scalar&>(maxnorm), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  static detail::Callee op_{"aten::repeat", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(repeats)};
  return op_.tensor(args_);
}
inline Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "self_int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(repeats), detail::as<std::optional<int64_t>>(dim), detail::as<std::optional<int64_t>>(output_size)};
  return op_.tensor(args_);
}
inline Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "self_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(repeats), detail::as<std::optional<int64_t>>(dim), detail::as<std::optional<int64_t>>(output_size)};
  return op_.tensor(args_);
}
inline Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(repeats), detail::as<std::optional<int64_t>>(output_size)};
  return op_.tensor(args_);
}
inline Tensor reshape(const Tensor& self, IntArrayRef shape) {
  static detail::Callee op_{"aten::reshape", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(shape)};
  return op_.tensor(args_);
}
inline Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = undefined(), std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::rms_norm", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<IntArrayRef>(normalized_shape), detail::as<const Tensor&>(weight), detail::as<std::optional<double>>(eps)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static detail::Callee op_{"aten::rnn_relu", "input"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional), detail::as<bool>(batch_first)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> rnn_relu(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static detail::Callee op_{"aten::rnn_relu", "data"};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Tensor&>(batch_sizes), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional)};
  return op_.several<2>(args_);
}
inline Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = undefined(), const Tensor& b_hh = undefined()) {
  static detail::Callee op_{"aten::rnn_relu_cell", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(b_ih), detail::as<const Tensor&>(b_hh)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  static detail::Callee op_{"aten::rnn_tanh", "input"};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional), detail::as<bool>(batch_first)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  static detail::Callee op_{"aten::rnn_tanh", "data"};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Tensor&>(batch_sizes), detail::as<const Tensor&>(hx), detail::as<TensorList>(params), detail::as<bool>(has_biases), detail::as<int64_t>(num_layers), detail::as<double>(dropout), detail::as<bool>(train), detail::as<bool>(bidirectional)};
  return op_.several<2>(args_);
}
inline Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = undefined(), const Tensor& b_hh = undefined()) {
  static detail::Callee op_{"aten::rnn_tanh_cell", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(hx), detail::as<const Tensor&>(w_ih), detail::as<const Tensor&>(w_hh), detail::as<const Tensor&>(b_ih), detail::as<const Tensor&>(b_hh)};
  return op_.tensor(args_);
}
inline Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {}) {
  static detail::Callee op_{"aten::roll", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(shifts), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0,1}) {
  static detail::Callee op_{"aten::rot90", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(k), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline Tensor round(const Tensor& self) {
  static detail::Callee op_{"aten::round", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor round(const Tensor& self, int64_t decimals) {
  static detail::Callee op_{"aten::round", "decimals"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(decimals)};
  return op_.tensor(args_);
}
inline const Tensor& round_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::round", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& round_out(const Tensor& out, const Tensor& self, int64_t decimals) {
  static detail::Callee op_{"aten::round", "decimals_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(decimals), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor row_stack(TensorList tensors) {
  static detail::Callee op_{"aten::row_stack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& row_stack_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::row_stack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor rrelu(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 0.3333333333333333, bool training = false, const Generator& generator = {}) {
  static detail::Callee op_{"aten::rrelu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lower), detail::as<const Scalar&>(upper), detail::as<bool>(training), detail::as<const Generator&>(generator)};
  return op_.tensor(args_);
}
inline const Tensor& rrelu_(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 0.3333333333333333, bool training = false, const Generator& generator = {}) {
  static detail::Callee op_{"aten::rrelu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lower), detail::as<const Scalar&>(upper), detail::as<bool>(training), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self;
}
inline Tensor rsqrt(const Tensor& self) {
  static detail::Callee op_{"aten::rsqrt", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& rsqrt_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::rsqrt", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& rsub_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& rsub_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor scalar_tensor(const Scalar& s, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::scalar_tensor", ""};
  const lamella_value args_[] = {detail::as<const Scalar&>(s), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask = undefined(), double dropout_p = 0.0, bool is_causal = false, std::optional<double> scale = {}, bool enable_gqa = false) {
  static detail::Callee op_{"aten::scaled_dot_product_attention", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(query), detail::as<const Tensor&>(key), detail::as<const Tensor&>(value), detail::as<const Tensor&>(attn_mask), detail::as<double>(dropout_p), detail::as<bool>(is_causal), detail::as<std::optional<double>>(scale), detail::as<bool>(enable_gqa)};
  return op_.tensor(args_);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter", "src"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src)};
  return op_.tensor(args_);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::scatter", "value"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce) {
  static detail::Callee op_{"aten::scatter", "reduce"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce)};
  return op_.tensor(args_);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, const Text& reduce) {
  static detail::Callee op_{"aten::scatter", "value_reduce"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value), detail::as<const Text&>(reduce)};
  return op_.tensor(args_);
}
inline Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter_add", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src)};
  return op_.tensor(args_);
}
inline const Tensor& scatter_add_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter_add", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter", "src_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::scatter", "value_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce) {
  static detail::Callee op_{"aten::scatter", "reduce_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, const Text& reduce) {
  static detail::Callee op_{"aten::scatter", "value_reduce_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value), detail::as<const Text&>(reduce), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::scatter_reduce", "two"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce), detail::as<bool>(include_self)};
  return op_.tensor(args_);
}
inline const Tensor& scatter_reduce_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::scatter_reduce", "two_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce), detail::as<bool>(include_self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(sorted_sequence), detail::as<const Tensor&>(self), detail::as<bool>(out_int32), detail::as<bool>(right), detail::as<const Text&>(side), detail::as<const Tensor&>(sorter)};
  return op_.tensor(args_);
}
inline Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(sorted_sequence), detail::as<const Scalar&>(self), detail::as<bool>(out_int32), detail::as<bool>(right), detail::as<const Text&>(side), detail::as<const Tensor&>(sorter)};
  return op_.tensor(args_);
}
inline const Tensor& searchsorted_out(const Tensor& out, const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(sorted_sequence), detail::as<const Tensor&>(self), detail::as<bool>(out_int32), detail::as<bool>(right), detail::as<const Text&>(side), detail::as<const Tensor&>(sorter), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor segment_reduce(const Tensor& data, const Text& reduce, const Tensor& lengths = undefined(), const Tensor& indices = undefined(), const Tensor& offsets = undefined(), int64_t axis = 0, bool unsafe = false, const std::optional<Scalar>& initial = {}) {
  static detail::Callee op_{"aten::segment_reduce", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Text&>(reduce), detail::as<const Tensor&>(lengths), detail::as<const Tensor&>(indices), detail::as<const Tensor&>(offsets), detail::as<int64_t>(axis), detail::as<bool>(unsafe), detail::as<const std::optional<Scalar>&>(initial)};
  return op_.tensor(args_);
}
inline const Tensor& segment_reduce_out(const Tensor& out, const Tensor& data, const Text& reduce, const Tensor& lengths = undefined(), const Tensor& indices = undefined(), const Tensor& offsets = undefined(), int64_t axis = 0, bool unsafe = false, const std::optional<Scalar>& initial = {}) {
  static detail::Callee op_{"aten::segment_reduce", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(data), detail::as<const Text&>(reduce), detail::as<const Tensor&>(lengths), detail::as<const Tensor&>(indices), detail::as<const Tensor&>(offsets), detail::as<int64_t>(axis), detail::as<bool>(unsafe), detail::as<const std::optional<Scalar>&>(initial), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  static detail::Callee op_{"aten::select", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(index)};
  return op_.tensor(args_);
}
inline Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  static detail::Callee op_{"aten::select_copy", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(index)};
  return op_.tensor(args_);
}
inline const Tensor& select_copy_out(const Tensor& out, const Tensor& self, int64_t dim, int64_t index) {
  static detail::Callee op_{"aten::select_copy", "int_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<int64_t>(index), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  static detail::Callee op_{"aten::select_scatter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(src), detail::as<int64_t>(dim), detail::as<int64_t>(index)};
  return op_.tensor(args_);
}
inline Tensor selu(const Tensor& self) {
  static detail::Callee op_{"aten::selu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& selu_(const Tensor& self) {
  static detail::Callee op_{"aten::selu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline const Tensor& selu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::selu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline void set_data(const Tensor& self, const Tensor& new_data) {
  static detail::Callee op_{"aten::set_data", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(new_data)};
  op_.nothing(args_);
}
inline Tensor sgn(const Tensor& self) {
  static detail::Callee op_{"aten::sgn", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sgn_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sgn", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sigmoid(const Tensor& self) {
  static detail::Callee op_{"aten::sigmoid", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) {
  static detail::Callee op_{"aten::sigmoid_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(output)};
  return op_.tensor(args_);
}
inline const Tensor& sigmoid_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sigmoid", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sign(const Tensor& self) {
  static detail::Callee op_{"aten::sign", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sign_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sign", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor signbit(const Tensor& self) {
  static detail::Callee op_{"aten::signbit", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& signbit_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::signbit", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor silu(const Tensor& self) {
  static detail::Callee op_{"aten::silu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& silu_(const Tensor& self) {
  static detail::Callee op_{"aten::silu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline Tensor silu_backward(const Tensor& grad_output, const Tensor& self) {
  static detail::Callee op_{"aten::silu_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& silu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::silu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sin(const Tensor& self) {
  static detail::Callee op_{"aten::sin", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sin", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sinc(const Tensor& self) {
  static detail::Callee op_{"aten::sinc", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sinc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sinc", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sinh(const Tensor& self) {
  static detail::Callee op_{"aten::sinh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sinh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor slice(const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) {
  static detail::Callee op_{"aten::slice", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<int64_t>>(start), detail::as<std::optional<int64_t>>(end), detail::as<int64_t>(step)};
  return op_.tensor(args_);
}
inline Tensor slice_copy(const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) {
  static detail::Callee op_{"aten::slice_copy", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<int64_t>>(start), detail::as<std::optional<int64_t>>(end), detail::as<int64_t>(step)};
  return op_.tensor(args_);
}
inline const Tensor& slice_copy_out(const Tensor& out, const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) {
  static detail::Callee op_{"aten::slice_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<int64_t>>(start), detail::as<std::optional<int64_t>>(end), detail::as<int64_t>(step), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) {
  static detail::Callee op_{"aten::slice_scatter", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(src), detail::as<int64_t>(dim), detail::as<std::optional<int64_t>>(start), detail::as<std::optional<int64_t>>(end), detail::as<int64_t>(step)};
  return op_.tensor(args_);
}
inline const Tensor& slice_scatter_out(const Tensor& out, const Tensor& self, const Tensor& src, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) {
  static detail::Callee op_{"aten::slice_scatter", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(src), detail::as<int64_t>(dim), detail::as<std::optional<int64_t>>(start), detail::as<std::optional<int64_t>>(end), detail::as<int64_t>(step), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& self) {
  static detail::Callee op_{"aten::slogdet", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> slogdet_out(const Tensor& sign, const Tensor& logabsdet, const Tensor& self) {
  static detail::Callee op_{"aten::slogdet", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(sign), detail::as<const Tensor&>(logabsdet)};
  op_.written<2>(args_);
  return {sign, logabsdet};
}
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::optional<bool> size_average = {}, std::optional<bool> reduce = {}, const Text& reduction = "mean", double beta = 1.0) {
  static detail::Callee op_{"aten::smooth_l1_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(input), detail::as<const Tensor&>(target), detail::as<std::optional<bool>>(size_average), detail::as<std::optional<bool>>(reduce), detail::as<const Text&>(reduction), detail::as<double>(beta)};
  return op_.tensor(args_);
}
inline Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1) {
  static detail::Callee op_{"aten::soft_margin_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(target), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::softmax", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& softmax_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::softmax", "int_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20) {
  static detail::Callee op_{"aten::softplus", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(threshold)};
  return op_.tensor(args_);
}
inline const Tensor& softplus_(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20) {
  static detail::Callee op_{"aten::softplus_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(threshold)};
  op_.written(args_);
  return self;
}
inline Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  static detail::Callee op_{"aten::softplus_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(threshold)};
  return op_.tensor(args_);
}
inline const Tensor& softplus_out(const Tensor& out, const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20) {
  static detail::Callee op_{"aten::softplus", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(threshold), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::softshrink", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd)};
  return op_.tensor(args_);
}
inline const Tensor& softshrink_(const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::softshrink_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd)};
  op_.written(args_);
  return self;
}
inline Tensor softshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd) {
  static detail::Callee op_{"aten::softshrink_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd)};
  return op_.tensor(args_);
}
inline const Tensor& softshrink_out(const Tensor& out, const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::softshrink", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(lambd), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(descending)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "stable"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<bool>>(stable), detail::as<int64_t>(dim), detail::as<bool>(descending)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> sort_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(descending), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::tuple<Tensor, Tensor> sort_out(const Tensor& values, const Tensor& indices, const Tensor& self, std::optional<bool> stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "stable_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<bool>>(stable), detail::as<int64_t>(dim), detail::as<bool>(descending), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor special_airy_ai(const Tensor& x) {
  static detail::Callee op_{"aten::special_airy_ai", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x)};
  return op_.tensor(args_);
}
inline const Tensor& special_airy_ai_out(const Tensor& out, const Tensor& x) {
  static detail::Callee op_{"aten::special_airy_ai", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_bessel_j0(const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_j0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_bessel_j0_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_j0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_bessel_j1(const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_j1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_bessel_j1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_j1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_bessel_y0(const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_y0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_bessel_y0_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_y0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_bessel_y1(const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_y1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_bessel_y1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_bessel_y1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_t(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_t(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_chebyshev_polynomial_t_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_t_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_t_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_t", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_u(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_u(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_chebyshev_polynomial_u_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_u_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_u_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_u", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_v(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_v(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_chebyshev_polynomial_v_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_v_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_v_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_v", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_w(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_chebyshev_polynomial_w(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_chebyshev_polynomial_w_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_w_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_chebyshev_polynomial_w_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_chebyshev_polynomial_w", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_entr(const Tensor& self) {
  static detail::Callee op_{"aten::special_entr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_entr_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_entr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_erfcx(const Tensor& self) {
  static detail::Callee op_{"aten::special_erfcx", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_erfcx_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_erfcx", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_hermite_polynomial_h(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_hermite_polynomial_h(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_hermite_polynomial_h(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_hermite_polynomial_h_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_hermite_polynomial_h_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_hermite_polynomial_h_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_h", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_hermite_polynomial_he(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_hermite_polynomial_he(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_hermite_polynomial_he(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_hermite_polynomial_he_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_hermite_polynomial_he_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_hermite_polynomial_he_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_hermite_polynomial_he", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_i0e(const Tensor& self) {
  static detail::Callee op_{"aten::special_i0e", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_i0e_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_i0e", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_i1(const Tensor& self) {
  static detail::Callee op_{"aten::special_i1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_i1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_i1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_i1e(const Tensor& self) {
  static detail::Callee op_{"aten::special_i1e", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_i1e_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_i1e", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_laguerre_polynomial_l(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_laguerre_polynomial_l(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_laguerre_polynomial_l(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_laguerre_polynomial_l_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_laguerre_polynomial_l_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_laguerre_polynomial_l_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_laguerre_polynomial_l", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_legendre_polynomial_p(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_legendre_polynomial_p(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_legendre_polynomial_p(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_legendre_polynomial_p_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_legendre_polynomial_p_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_legendre_polynomial_p_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_legendre_polynomial_p", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_log_ndtr(const Tensor& self) {
  static detail::Callee op_{"aten::special_log_ndtr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_log_ndtr_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_log_ndtr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_modified_bessel_i0(const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_i0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_modified_bessel_i0_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_i0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_modified_bessel_i1(const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_i1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_modified_bessel_i1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_i1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_modified_bessel_k0(const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_k0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_modified_bessel_k0_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_k0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_modified_bessel_k1(const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_k1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_modified_bessel_k1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_modified_bessel_k1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_ndtr(const Tensor& self) {
  static detail::Callee op_{"aten::special_ndtr", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_ndtr_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_ndtr", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_ndtri(const Tensor& self) {
  static detail::Callee op_{"aten::special_ndtri", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& special_ndtri_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::special_ndtri", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_scaled_modified_bessel_k0(const Tensor& x) {
  static detail::Callee op_{"aten::special_scaled_modified_bessel_k0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x)};
  return op_.tensor(args_);
}
inline const Tensor& special_scaled_modified_bessel_k0_out(const Tensor& out, const Tensor& x) {
  static detail::Callee op_{"aten::special_scaled_modified_bessel_k0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_scaled_modified_bessel_k1(const Tensor& x) {
  static detail::Callee op_{"aten::special_scaled_modified_bessel_k1", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x)};
  return op_.tensor(args_);
}
inline const Tensor& special_scaled_modified_bessel_k1_out(const Tensor& out, const Tensor& x) {
  static detail::Callee op_{"aten::special_scaled_modified_bessel_k1", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_t(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_t(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_shifted_chebyshev_polynomial_t_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_t_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_t_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_t", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_u(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_u(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_shifted_chebyshev_polynomial_u_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_u_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_u_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_u", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_v(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_v(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_shifted_chebyshev_polynomial_v_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_v_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_v_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_v", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_w(const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", "x_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n)};
  return op_.tensor(args_);
}
inline Tensor special_shifted_chebyshev_polynomial_w(const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", "n_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n)};
  return op_.tensor(args_);
}
inline const Tensor& special_shifted_chebyshev_polynomial_w_out(const Tensor& out, const Tensor& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_w_out(const Tensor& out, const Scalar& x, const Tensor& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", "x_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(x), detail::as<const Tensor&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_shifted_chebyshev_polynomial_w_out(const Tensor& out, const Tensor& x, const Scalar& n) {
  static detail::Callee op_{"aten::special_shifted_chebyshev_polynomial_w", "n_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Scalar&>(n), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_spherical_bessel_j0(const Tensor& x) {
  static detail::Callee op_{"aten::special_spherical_bessel_j0", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x)};
  return op_.tensor(args_);
}
inline const Tensor& special_spherical_bessel_j0_out(const Tensor& out, const Tensor& x) {
  static detail::Callee op_{"aten::special_spherical_bessel_j0", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_xlog1py(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_xlog1py", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor special_xlog1py(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_xlog1py", "self_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor special_xlog1py(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::special_xlog1py", "other_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& special_xlog1py_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_xlog1py", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_xlog1py_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_xlog1py", "self_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_xlog1py_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::special_xlog1py", "other_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor special_zeta(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_zeta", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor special_zeta(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_zeta", "self_scalar"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor special_zeta(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::special_zeta", "other_scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& special_zeta_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_zeta", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_zeta_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::special_zeta", "self_scalar_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& special_zeta_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::special_zeta", "other_scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split(const Tensor& self, IntArrayRef split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split", "sizes"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split_copy", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split_copy(const Tensor& self, IntArrayRef split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split_copy", "sizes"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0) {
  static detail::Callee op_{"aten::split_with_sizes", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_sizes), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0) {
  static detail::Callee op_{"aten::split_with_sizes_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_sizes), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline Tensor sqrt(const Tensor& self) {
  static detail::Callee op_{"aten::sqrt", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& sqrt_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sqrt", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor square(const Tensor& self) {
  static detail::Callee op_{"aten::square", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& square_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::square", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor squeeze(const Tensor& self) {
  static detail::Callee op_{"aten::squeeze", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor squeeze(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::squeeze", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor squeeze(const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::squeeze", "dims"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim)};
  return op_.tensor(args_);
}
inline Tensor squeeze_copy(const Tensor& self) {
  static detail::Callee op_{"aten::squeeze_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor squeeze_copy(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::squeeze_copy", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor squeeze_copy(const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::squeeze_copy", "dims"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& squeeze_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::squeeze_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& squeeze_copy_out(const Tensor& out, const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::squeeze_copy", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& squeeze_copy_out(const Tensor& out, const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::squeeze_copy", "dims_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor stack(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::stack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& stack_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::stack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor std(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::std", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(unbiased)};
  return op_.tensor(args_);
}
inline Tensor std(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline Tensor std(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "correction"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::std_mean", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(unbiased)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std_mean", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std_mean", "correction"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline const Tensor& std_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& std_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "correction_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {}, std::optional<int64_t> win_length = {}, const Tensor& window = undefined(), bool center = true, const Text& pad_mode = "reflect", bool normalized = false, std::optional<bool> onesided = {}, std::optional<bool> return_complex = {}, std::optional<bool> align_to_window = {}) {
  static detail::Callee op_{"aten::stft", "center"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(n_fft), detail::as<std::optional<int64_t>>(hop_length), detail::as<std::optional<int64_t>>(win_length), detail::as<const Tensor&>(window), detail::as<bool>(center), detail::as<const Text&>(pad_mode), detail::as<bool>(normalized), detail::as<std::optional<bool>>(onesided), detail::as<std::optional<bool>>(return_complex), detail::as<std::optional<bool>>(align_to_window)};
  return op_.tensor(args_);
}
inline Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& sub_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& sub_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& subtract_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& subtract_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline Tensor sum(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", "dim_IntList"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& sum_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", "dim_IntList_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(keepdim), detail::as<std::optional<ScalarType>>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some = true, bool compute_uv = true) {
  static detail::Callee op_{"aten::svd", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(some), detail::as<bool>(compute_uv)};
  return op_.several<3>(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> svd_out(const Tensor& U, const Tensor& S, const Tensor& V, const Tensor& self, bool some = true, bool compute_uv = true) {
  static detail::Callee op_{"aten::svd", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(some), detail::as<bool>(compute_uv), detail::as<const Tensor&>(U), detail::as<const Tensor&>(S), detail::as<const Tensor&>(V)};
  op_.written<3>(args_);
  return {U, S, V};
}
inline Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  static detail::Callee op_{"aten::swapaxes", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(axis0), detail::as<int64_t>(axis1)};
  return op_.tensor(args_);
}
inline Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::swapdims", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1)};
  return op_.tensor(args_);
}
inline Tensor t(const Tensor& self) {
  static detail::Callee op_{"aten::t", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor t_copy(const Tensor& self) {
  static detail::Callee op_{"aten::t_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& t_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::t_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor take(const Tensor& self, const Tensor& index) {
  static detail::Callee op_{"aten::take", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(index)};
  return op_.tensor(args_);
}
inline Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::take_along_dim", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(indices), detail::as<std::optional<int64_t>>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& take_along_dim_out(const Tensor& out, const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::take_along_dim", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(indices), detail::as<std::optional<int64_t>>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& take_out(const Tensor& out, const Tensor& self, const Tensor& index) {
  static detail::Callee op_{"aten::take", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(index), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor tan(const Tensor& self) {
  static detail::Callee op_{"aten::tan", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& tan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::tan", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor tanh(const Tensor& self) {
  static detail::Callee op_{"aten::tanh", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
  static detail::Callee op_{"aten::tanh_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(output)};
  return op_.tensor(args_);
}
inline const Tensor& tanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::tanh", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor tanhshrink(const Tensor& self) {
  static detail::Callee op_{"aten::tanhshrink", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& tanhshrink_(const Tensor& self) {
  static detail::Callee op_{"aten::tanhshrink_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  op_.written(args_);
  return self;
}
inline const Tensor& tanhshrink_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::tanhshrink", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0) {
  static detail::Callee op_{"aten::tensor_split", "sections"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(sections), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim = 0) {
  static detail::Callee op_{"aten::tensor_split", "indices"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(indices), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim = 0) {
  static detail::Callee op_{"aten::tensor_split", "tensor_indices_or_sections"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(tensor_indices_or_sections), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  static detail::Callee op_{"aten::tensordot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<IntArrayRef>(dims_self), detail::as<IntArrayRef>(dims_other)};
  return op_.tensor(args_);
}
inline Tensor tensordot(const Tensor& self, const Tensor& other, int64_t dims = 2) {
  static detail::Callee op_{"aten::tensordot", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<int64_t>(dims)};
  return op_.tensor(args_);
}
inline Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(threshold), detail::as<const Scalar&>(value)};
  return op_.tensor(args_);
}
inline const Tensor& threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(threshold), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self;
}
inline Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
  static detail::Callee op_{"aten::threshold_backward", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<const Tensor&>(self), detail::as<const Scalar&>(threshold)};
  return op_.tensor(args_);
}
inline const Tensor& threshold_out(const Tensor& out, const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(threshold), detail::as<const Scalar&>(value), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor tile(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::tile", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(dims)};
  return op_.tensor(args_);
}
inline Tensor to(const Tensor& self, ScalarType dtype, bool non_blocking = false, bool copy = false, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::to", "dtype"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<ScalarType>(dtype), detail::as<bool>(non_blocking), detail::as<bool>(copy), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return op_.tensor(args_);
}
inline Tensor to(const Tensor& self, const std::optional<Device>& device = {}, std::optional<ScalarType> dtype = {}, bool non_blocking = false, bool copy = false, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::to", "device"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const std::optional<Device>&>(device), detail::as<std::optional<ScalarType>>(dtype), detail::as<bool>(non_blocking), detail::as<bool>(copy), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return op_.tensor(args_);
}
inline Tensor to(const Tensor& self, const Tensor& other, bool non_blocking = false, bool copy = false, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::to", "other"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<bool>(non_blocking), detail::as<bool>(copy), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) {
  static detail::Callee op_{"aten::topk", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(k), detail::as<int64_t>(dim), detail::as<bool>(largest), detail::as<bool>(sorted)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> topk_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) {
  static detail::Callee op_{"aten::topk", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(k), detail::as<int64_t>(dim), detail::as<bool>(largest), detail::as<bool>(sorted), detail::as<const Tensor&>(values), detail::as<const Tensor&>(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor trace(const Tensor& self) {
  static detail::Callee op_{"aten::trace", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::transpose", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1)};
  return op_.tensor(args_);
}
inline Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::transpose_copy", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1)};
  return op_.tensor(args_);
}
inline const Tensor& transpose_copy_out(const Tensor& out, const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::transpose_copy", "int_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1) {
  static detail::Callee op_{"aten::trapezoid", "x"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Tensor&>(x), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1) {
  static detail::Callee op_{"aten::trapezoid", "dx"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Scalar&>(dx), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim = -1) {
  static detail::Callee op_{"aten::trapz", "x"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Tensor&>(x), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor trapz(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1) {
  static detail::Callee op_{"aten::trapz", "dx"};
  const lamella_value args_[] = {detail::as<const Tensor&>(y), detail::as<const Scalar&>(dx), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper = true, bool transpose = false, bool unitriangular = false) {
  static detail::Callee op_{"aten::triangular_solve", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(A), detail::as<bool>(upper), detail::as<bool>(transpose), detail::as<bool>(unitriangular)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> triangular_solve_out(const Tensor& solution, const Tensor& cloned_coefficient, const Tensor& self, const Tensor& A, bool upper = true, bool transpose = false, bool unitriangular = false) {
  static detail::Callee op_{"aten::triangular_solve", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(A), detail::as<bool>(upper), detail::as<bool>(transpose), detail::as<bool>(unitriangular), detail::as<const Tensor&>(solution), detail::as<const Tensor&>(cloned_coefficient)};
  op_.written<2>(args_);
  return {solution, cloned_coefficient};
}
inline Tensor tril(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::tril", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal)};
  return op_.tensor(args_);
}
inline Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::tril_indices", ""};
  const lamella_value args_[] = {detail::as<int64_t>(row), detail::as<int64_t>(col), detail::as<int64_t>(offset), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& tril_out(const Tensor& out, const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::tril", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin = 1.0, double p = 2, double eps = 1e-06, bool swap = false, int64_t reduction = 1) {
  static detail::Callee op_{"aten::triplet_margin_loss", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(anchor), detail::as<const Tensor&>(positive), detail::as<const Tensor&>(negative), detail::as<double>(margin), detail::as<double>(p), detail::as<double>(eps), detail::as<bool>(swap), detail::as<int64_t>(reduction)};
  return op_.tensor(args_);
}
inline Tensor triu(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::triu", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal)};
  return op_.tensor(args_);
}
inline Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::triu_indices", ""};
  const lamella_value args_[] = {detail::as<int64_t>(row), detail::as<int64_t>(col), detail::as<int64_t>(offset), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& triu_out(const Tensor& out, const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::triu", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(diagonal), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor true_divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar_Tensor"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  return op_.tensor(args_);
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Tensor_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Scalar_mode_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor trunc(const Tensor& self) {
  static detail::Callee op_{"aten::trunc", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& trunc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::trunc", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0) {
  static detail::Callee op_{"aten::unbind", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim = 0) {
  static detail::Callee op_{"aten::unbind_copy", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  static detail::Callee op_{"aten::unflatten", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<IntArrayRef>(sizes)};
  return op_.tensor(args_);
}
inline Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  static detail::Callee op_{"aten::unfold", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dimension), detail::as<int64_t>(size), detail::as<int64_t>(step)};
  return op_.tensor(args_);
}
inline Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  static detail::Callee op_{"aten::unfold_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dimension), detail::as<int64_t>(size), detail::as<int64_t>(step)};
  return op_.tensor(args_);
}
inline const Tensor& unfold_copy_out(const Tensor& out, const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  static detail::Callee op_{"aten::unfold_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dimension), detail::as<int64_t>(size), detail::as<int64_t>(step), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true, bool return_inverse = false, bool return_counts = false) {
  static detail::Callee op_{"aten::unique_dim", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<bool>(sorted), detail::as<bool>(return_inverse), detail::as<bool>(return_counts)};
  return op_.several<3>(args_);
}
inline std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim = 0) {
  static detail::Callee op_{"aten::unsafe_chunk", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(chunks), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::unsafe_split", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> unsafe_split(const Tensor& self, IntArrayRef split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::unsafe_split", "sizes"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_size), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0) {
  static detail::Callee op_{"aten::unsafe_split_with_sizes", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(split_sizes), detail::as<int64_t>(dim)};
  return op_.tensors(args_);
}
inline Tensor unsqueeze(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::unsqueeze", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline Tensor unsqueeze_copy(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::unsqueeze_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim)};
  return op_.tensor(args_);
}
inline const Tensor& unsqueeze_copy_out(const Tensor& out, const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::unsqueeze_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(dim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_bicubic2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_bicubic2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_bicubic2d_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_bilinear2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_bilinear2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_bilinear2d_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::upsample_linear1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size), detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor upsample_linear1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::upsample_linear1d_backward", ""};
  const detail::Repeated<3> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<IntArrayRef>(output_size), list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::upsample_nearest1d", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(output_size), detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales = {}) {
  static detail::Callee op_{"aten::upsample_nearest1d_backward", ""};
  const detail::Repeated<3> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), detail::as<IntArrayRef>(output_size), list2_, detail::as<std::optional<double>>(scales)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_nearest2d", ""};
  const detail::Repeated<2> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_nearest2d_backward", ""};
  const detail::Repeated<2> list1_(output_size);
  const detail::Repeated<4> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_nearest3d", ""};
  const detail::Repeated<3> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_nearest3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_nearest3d_backward", ""};
  const detail::Repeated<3> list1_(output_size);
  const detail::Repeated<5> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_trilinear3d", ""};
  const detail::Repeated<3> list1_(output_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(self), list1_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor upsample_trilinear3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_d = {}, std::optional<double> scales_h = {}, std::optional<double> scales_w = {}) {
  static detail::Callee op_{"aten::upsample_trilinear3d_backward", ""};
  const detail::Repeated<3> list1_(output_size);
  const detail::Repeated<5> list2_(input_size);
  const lamella_value args_[] = {detail::as<const Tensor&>(grad_output), list1_, list2_, detail::as<bool>(align_corners), detail::as<std::optional<double>>(scales_d), detail::as<std::optional<double>>(scales_h), detail::as<std::optional<double>>(scales_w)};
  return op_.tensor(args_);
}
inline Tensor vander(const Tensor& x, std::optional<int64_t> N = {}, bool increasing = false) {
  static detail::Callee op_{"aten::vander", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(x), detail::as<std::optional<int64_t>>(N), detail::as<bool>(increasing)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::var", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(unbiased)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "correction"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::var_mean", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<bool>(unbiased)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var_mean", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var_mean", "correction"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim)};
  return op_.several<2>(args_);
}
inline const Tensor& var_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "dim_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<bool>(unbiased), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& var_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "correction_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const OptionalIntArrayRef&>(dim), detail::as<const std::optional<Scalar>&>(correction), detail::as<bool>(keepdim), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor vdot(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::vdot", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& vdot_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::vdot", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor view(const Tensor& self, IntArrayRef size) {
  static detail::Callee op_{"aten::view", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size)};
  return op_.tensor(args_);
}
inline Tensor view(const Tensor& self, ScalarType dtype) {
  static detail::Callee op_{"aten::view", "dtype"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<ScalarType>(dtype)};
  return op_.tensor(args_);
}
inline Tensor view_as(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::view_as", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor view_as_complex(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_complex", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor view_as_complex_copy(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_complex_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& view_as_complex_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::view_as_complex_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor view_as_real(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_real", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline Tensor view_as_real_copy(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_real_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self)};
  return op_.tensor(args_);
}
inline const Tensor& view_as_real_copy_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::view_as_real_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor view_copy(const Tensor& self, IntArrayRef size) {
  static detail::Callee op_{"aten::view_copy", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size)};
  return op_.tensor(args_);
}
inline Tensor view_copy(const Tensor& self, ScalarType dtype) {
  static detail::Callee op_{"aten::view_copy", "dtype"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<ScalarType>(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& view_copy_out(const Tensor& out, const Tensor& self, IntArrayRef size) {
  static detail::Callee op_{"aten::view_copy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(size), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& view_copy_out(const Tensor& out, const Tensor& self, ScalarType dtype) {
  static detail::Callee op_{"aten::view_copy", "dtype_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<ScalarType>(dtype), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::vsplit", "int"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<int64_t>(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::vsplit", "array"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<IntArrayRef>(indices)};
  return op_.tensors(args_);
}
inline Tensor vstack(TensorList tensors) {
  static detail::Callee op_{"aten::vstack", ""};
  const lamella_value args_[] = {detail::as<TensorList>(tensors)};
  return op_.tensor(args_);
}
inline const Tensor& vstack_out(const Tensor& out, TensorList tensors) {
  static detail::Callee op_{"aten::vstack", "out"};
  const lamella_value args_[] = {detail::as<TensorList>(tensors), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "self"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "ScalarSelf"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "ScalarOther"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Scalar&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> where(const Tensor& condition) {
  static detail::Callee op_{"aten::where", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition)};
  return op_.tensors(args_);
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "self_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "ScalarSelf_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "ScalarOther_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Scalar& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "Scalar_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(condition), detail::as<const Scalar&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline Tensor xlogy(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Other"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other)};
  return op_.tensor(args_);
}
inline Tensor xlogy(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Self"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other)};
  return op_.tensor(args_);
}
inline const Tensor& xlogy_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& xlogy_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Other_out"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<const Scalar&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& xlogy_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Self_out"};
  const lamella_value args_[] = {detail::as<const Scalar&>(self), detail::as<const Tensor&>(other), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::zeros", ""};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor zeros_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::zeros_like", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<std::optional<MemoryFormat>>(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& zeros_out(const Tensor& out, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::zeros", "out"};
  const lamella_value args_[] = {detail::as<IntArrayRef>(size), detail::as<std::optional<ScalarType>>(options.dtype()), detail::as<std::optional<Layout>>(options.layout()), detail::as<const std::optional<Device>&>(options.device()), detail::as<std::optional<bool>>(options.pinned_memory()), detail::as<const Tensor&>(out)};
  op_.written(args_);
  return out;
}
inline Tensor TensorMethods::abs() const { return lamella::abs(self_()); }
inline const Tensor& TensorMethods::abs_() const {
  static detail::Callee op_{"aten::abs_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::absolute() const { return lamella::absolute(self_()); }
inline const Tensor& TensorMethods::absolute_() const {
  static detail::Callee op_{"aten::absolute_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::acos() const { return lamella::acos(self_()); }
inline const Tensor& TensorMethods::acos_() const {
  static detail::Callee op_{"aten::acos_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::acosh() const { return lamella::acosh(self_()); }
inline const Tensor& TensorMethods::acosh_() const {
  static detail::Callee op_{"aten::acosh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::adaptive_avg_pool1d(IntArrayRef output_size) const { return lamella::adaptive_avg_pool1d(self_(), output_size); }
inline Tensor TensorMethods::adaptive_avg_pool2d(IntArrayRef output_size) const { return lamella::adaptive_avg_pool2d(self_(), output_size); }
inline Tensor TensorMethods::adaptive_avg_pool3d(IntArrayRef output_size) const { return lamella::adaptive_avg_pool3d(self_(), output_size); }
inline std::tuple<Tensor, Tensor> TensorMethods::adaptive_max_pool1d(IntArrayRef output_size) const { return lamella::adaptive_max_pool1d(self_(), output_size); }
inline std::tuple<Tensor, Tensor> TensorMethods::adaptive_max_pool2d(IntArrayRef output_size) const { return lamella::adaptive_max_pool2d(self_(), output_size); }
inline std::tuple<Tensor, Tensor> TensorMethods::adaptive_max_pool3d(IntArrayRef output_size) const { return lamella::adaptive_max_pool3d(self_(), output_size); }
inline Tensor TensorMethods::add(const Tensor& other, const Scalar& alpha) const { return lamella::add(self_(), other, alpha); }
inline Tensor TensorMethods::add(const Scalar& other, const Scalar& alpha) const { return lamella::add(self_(), other, alpha); }
inline const Tensor& TensorMethods::add_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::add_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::add_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::add_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return lamella::addbmm(self_(), batch1, batch2, beta, alpha); }
inline const Tensor& TensorMethods::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addbmm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return lamella::addcdiv(self_(), tensor1, tensor2, value); }
inline const Tensor& TensorMethods::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  static detail::Callee op_{"aten::addcdiv_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return lamella::addcmul(self_(), tensor1, tensor2, value); }
inline const Tensor& TensorMethods::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  static detail::Callee op_{"aten::addcmul_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(tensor1), detail::as<const Tensor&>(tensor2), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return lamella::addmm(self_(), mat1, mat2, beta, alpha); }
inline const Tensor& TensorMethods::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addmm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(mat1), detail::as<const Tensor&>(mat2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return lamella::addmv(self_(), mat, vec, beta, alpha); }
inline const Tensor& TensorMethods::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addmv_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(mat), detail::as<const Tensor&>(vec), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return lamella::addr(self_(), vec1, vec2, beta, alpha); }
inline const Tensor& TensorMethods::addr_(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addr_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(vec1), detail::as<const Tensor&>(vec2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::affine_grid_generator(IntArrayRef size, bool align_corners) const { return lamella::affine_grid_generator(self_(), size, align_corners); }
inline Tensor TensorMethods::alias() const { return lamella::alias(self_()); }
inline Tensor TensorMethods::alias_copy() const { return lamella::alias_copy(self_()); }
inline Tensor TensorMethods::all() const { return lamella::all(self_()); }
inline Tensor TensorMethods::all(int64_t dim, bool keepdim) const { return lamella::all(self_(), dim, keepdim); }
inline Tensor TensorMethods::all(const OptionalIntArrayRef& dim, bool keepdim) const { return lamella::all(self_(), dim, keepdim); }
inline Tensor TensorMethods::alpha_dropout(double p, bool train) const { return lamella::alpha_dropout(self_(), p, train); }
inline const Tensor& TensorMethods::alpha_dropout_(double p, bool train) const { return lamella::alpha_dropout_(self_(), p, train); }
inline Tensor TensorMethods::amax(IntArrayRef dim, bool keepdim) const { return lamella::amax(self_(), dim, keepdim); }
inline Tensor TensorMethods::amin(IntArrayRef dim, bool keepdim) const { return lamella::amin(self_(), dim, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::aminmax(std::optional<int64_t> dim, bool keepdim) const { return lamella::aminmax(self_(), dim, keepdim); }
inline Tensor TensorMethods::angle() const { return lamella::angle(self_()); }
inline Tensor TensorMethods::any() const { return lamella::any(self_()); }
inline Tensor TensorMethods::any(int64_t dim, bool keepdim) const { return lamella::any(self_(), dim, keepdim); }
inline Tensor TensorMethods::any(const OptionalIntArrayRef& dim, bool keepdim) const { return lamella::any(self_(), dim, keepdim); }
inline Tensor TensorMethods::arccos() const { return lamella::arccos(self_()); }
inline const Tensor& TensorMethods::arccos_() const {
  static detail::Callee op_{"aten::arccos_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arccosh() const { return lamella::arccosh(self_()); }
inline const Tensor& TensorMethods::arccosh_() const {
  static detail::Callee op_{"aten::arccosh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arcsin() const { return lamella::arcsin(self_()); }
inline const Tensor& TensorMethods::arcsin_() const {
  static detail::Callee op_{"aten::arcsin_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arcsinh() const { return lamella::arcsinh(self_()); }
inline const Tensor& TensorMethods::arcsinh_() const {
  static detail::Callee op_{"aten::arcsinh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arctan() const { return lamella::arctan(self_()); }
inline Tensor TensorMethods::arctan2(const Tensor& other) const { return lamella::arctan2(self_(), other); }
inline const Tensor& TensorMethods::arctan2_(const Tensor& other) const {
  static detail::Callee op_{"aten::arctan2_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::arctan_() const {
  static detail::Callee op_{"aten::arctan_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arctanh() const { return lamella::arctanh(self_()); }
inline const Tensor& TensorMethods::arctanh_() const {
  static detail::Callee op_{"aten::arctanh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::argmax(std::optional<int64_t> dim, bool keepdim) const { return lamella::argmax(self_(), dim, keepdim); }
inline Tensor TensorMethods::argmin(std::optional<int64_t> dim, bool keepdim) const { return lamella::argmin(self_(), dim, keepdim); }
inline Tensor TensorMethods::argsort(int64_t dim, bool descending) const { return lamella::argsort(self_(), dim, descending); }
inline Tensor TensorMethods::argsort(bool stable, int64_t dim, bool descending) const { return lamella::argsort(self_(), stable, dim, descending); }
inline Tensor TensorMethods::argwhere() const { return lamella::argwhere(self_()); }
inline Tensor TensorMethods::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return lamella::as_strided(self_(), size, stride, storage_offset); }
inline const Tensor& TensorMethods::as_strided_(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const {
  static detail::Callee op_{"aten::as_strided_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride), detail::as<std::optional<int64_t>>(storage_offset)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::as_strided_copy(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return lamella::as_strided_copy(self_(), size, stride, storage_offset); }
inline Tensor TensorMethods::as_strided_scatter(const Tensor& src, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return lamella::as_strided_scatter(self_(), src, size, stride, storage_offset); }
inline Tensor TensorMethods::asin() const { return lamella::asin(self_()); }
inline const Tensor& TensorMethods::asin_() const {
  static detail::Callee op_{"aten::asin_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::asinh() const { return lamella::asinh(self_()); }
inline const Tensor& TensorMethods::asinh_() const {
  static detail::Callee op_{"aten::asinh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::atan() const { return lamella::atan(self_()); }
inline Tensor TensorMethods::atan2(const Tensor& other) const { return lamella::atan2(self_(), other); }
inline const Tensor& TensorMethods::atan2_(const Tensor& other) const {
  static detail::Callee op_{"aten::atan2_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::atan_() const {
  static detail::Callee op_{"aten::atan_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::atanh() const { return lamella::atanh(self_()); }
inline const Tensor& TensorMethods::atanh_() const {
  static detail::Callee op_{"aten::atanh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::atleast_1d() const { return lamella::atleast_1d(self_()); }
inline Tensor TensorMethods::atleast_2d() const { return lamella::atleast_2d(self_()); }
inline Tensor TensorMethods::atleast_3d() const { return lamella::atleast_3d(self_()); }
inline Tensor TensorMethods::avg_pool1d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad) const { return lamella::avg_pool1d(self_(), kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Tensor TensorMethods::avg_pool2d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) const { return lamella::avg_pool2d(self_(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Tensor TensorMethods::avg_pool3d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) const { return lamella::avg_pool3d(self_(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Tensor TensorMethods::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return lamella::baddbmm(self_(), batch1, batch2, beta, alpha); }
inline const Tensor& TensorMethods::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::baddbmm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(batch1), detail::as<const Tensor&>(batch2), detail::as<const Scalar&>(beta), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::batch_norm(const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled) const { return lamella::batch_norm(self_(), weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled); }
inline Tensor TensorMethods::bernoulli(const Generator& generator) const { return lamella::bernoulli(self_(), generator); }
inline Tensor TensorMethods::bernoulli(double p, const Generator& generator) const { return lamella::bernoulli(self_(), p, generator); }
inline const Tensor& TensorMethods::bernoulli_(double p, const Generator& generator) const {
  static detail::Callee op_{"aten::bernoulli_", "float"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(p), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bernoulli_(const Tensor& p, const Generator& generator) const {
  static detail::Callee op_{"aten::bernoulli_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(p), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bilinear(const Tensor& input2, const Tensor& weight, const Tensor& bias) const { return lamella::bilinear(self_(), input2, weight, bias); }
inline Tensor TensorMethods::binary_cross_entropy(const Tensor& target, const Tensor& weight, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction) const { return lamella::binary_cross_entropy(self_(), target, weight, size_average, reduce, reduction); }
inline Tensor TensorMethods::binary_cross_entropy_with_logits(const Tensor& target, const Tensor& weight, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction, const Tensor& pos_weight) const { return lamella::binary_cross_entropy_with_logits(self_(), target, weight, size_average, reduce, reduction, pos_weight); }
inline Tensor TensorMethods::bincount(const Tensor& weights, int64_t minlength) const { return lamella::bincount(self_(), weights, minlength); }
inline Tensor TensorMethods::binomial(const Tensor& prob, const Generator& generator) const { return lamella::binomial(self_(), prob, generator); }
inline Tensor TensorMethods::bitwise_and(const Tensor& other) const { return lamella::bitwise_and(self_(), other); }
inline Tensor TensorMethods::bitwise_and(const Scalar& other) const { return lamella::bitwise_and(self_(), other); }
inline const Tensor& TensorMethods::bitwise_and_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_and_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_and_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_and_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_left_shift(const Tensor& other) const { return lamella::bitwise_left_shift(self_(), other); }
inline Tensor TensorMethods::bitwise_left_shift(const Scalar& other) const { return lamella::bitwise_left_shift(self_(), other); }
inline const Tensor& TensorMethods::bitwise_left_shift_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_left_shift_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_left_shift_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_left_shift_", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_not() const { return lamella::bitwise_not(self_()); }
inline const Tensor& TensorMethods::bitwise_not_() const {
  static detail::Callee op_{"aten::bitwise_not_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_or(const Tensor& other) const { return lamella::bitwise_or(self_(), other); }
inline Tensor TensorMethods::bitwise_or(const Scalar& other) const { return lamella::bitwise_or(self_(), other); }
inline const Tensor& TensorMethods::bitwise_or_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_or_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_or_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_or_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_right_shift(const Tensor& other) const { return lamella::bitwise_right_shift(self_(), other); }
inline Tensor TensorMethods::bitwise_right_shift(const Scalar& other) const { return lamella::bitwise_right_shift(self_(), other); }
inline const Tensor& TensorMethods::bitwise_right_shift_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_right_shift_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_right_shift_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_right_shift_", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_xor(const Tensor& other) const { return lamella::bitwise_xor(self_(), other); }
inline Tensor TensorMethods::bitwise_xor(const Scalar& other) const { return lamella::bitwise_xor(self_(), other); }
inline const Tensor& TensorMethods::bitwise_xor_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_xor_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_xor_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_xor_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bmm(const Tensor& mat2) const { return lamella::bmm(self_(), mat2); }
inline Tensor TensorMethods::broadcast_to(IntArrayRef size) const { return lamella::broadcast_to(self_(), size); }
inline Tensor TensorMethods::bucketize(const Tensor& boundaries, bool out_int32, bool right) const { return lamella::bucketize(self_(), boundaries, out_int32, right); }
inline const Tensor& TensorMethods::cauchy_(double median, double sigma, const Generator& generator) const {
  static detail::Callee op_{"aten::cauchy_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(median), detail::as<double>(sigma), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cdist(const Tensor& x2, double p, const Text& compute_mode) const { return lamella::cdist(self_(), x2, p, compute_mode); }
inline Tensor TensorMethods::ceil() const { return lamella::ceil(self_()); }
inline const Tensor& TensorMethods::ceil_() const {
  static detail::Callee op_{"aten::ceil_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::celu(const Scalar& alpha) const { return lamella::celu(self_(), alpha); }
inline const Tensor& TensorMethods::celu_(const Scalar& alpha) const { return lamella::celu_(self_(), alpha); }
inline Tensor TensorMethods::channel_shuffle(int64_t groups) const { return lamella::channel_shuffle(self_(), groups); }
inline Tensor TensorMethods::cholesky(bool upper) const { return lamella::cholesky(self_(), upper); }
inline Tensor TensorMethods::cholesky_inverse(bool upper) const { return lamella::cholesky_inverse(self_(), upper); }
inline Tensor TensorMethods::cholesky_solve(const Tensor& input2, bool upper) const { return lamella::cholesky_solve(self_(), input2, upper); }
inline std::vector<Tensor> TensorMethods::chunk(int64_t chunks, int64_t dim) const { return lamella::chunk(self_(), chunks, dim); }
inline Tensor TensorMethods::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return lamella::clamp(self_(), min, max); }
inline Tensor TensorMethods::clamp(const Tensor& min, const Tensor& max) const { return lamella::clamp(self_(), min, max); }
inline const Tensor& TensorMethods::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  static detail::Callee op_{"aten::clamp_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_(const Tensor& min, const Tensor& max) const {
  static detail::Callee op_{"aten::clamp_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clamp_max(const Scalar& max) const { return lamella::clamp_max(self_(), max); }
inline Tensor TensorMethods::clamp_max(const Tensor& max) const { return lamella::clamp_max(self_(), max); }
inline const Tensor& TensorMethods::clamp_max_(const Scalar& max) const {
  static detail::Callee op_{"aten::clamp_max_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_max_(const Tensor& max) const {
  static detail::Callee op_{"aten::clamp_max_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clamp_min(const Scalar& min) const { return lamella::clamp_min(self_(), min); }
inline Tensor TensorMethods::clamp_min(const Tensor& min) const { return lamella::clamp_min(self_(), min); }
inline const Tensor& TensorMethods::clamp_min_(const Scalar& min) const {
  static detail::Callee op_{"aten::clamp_min_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(min)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_min_(const Tensor& min) const {
  static detail::Callee op_{"aten::clamp_min_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(min)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clip(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return lamella::clip(self_(), min, max); }
inline Tensor TensorMethods::clip(const Tensor& min, const Tensor& max) const { return lamella::clip(self_(), min, max); }
inline const Tensor& TensorMethods::clip_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  static detail::Callee op_{"aten::clip_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const std::optional<Scalar>&>(min), detail::as<const std::optional<Scalar>&>(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clip_(const Tensor& min, const Tensor& max) const {
  static detail::Callee op_{"aten::clip_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(min), detail::as<const Tensor&>(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clone(std::optional<MemoryFormat> memory_format) const { return lamella::clone(self_(), memory_format); }
inline Tensor TensorMethods::col2im(IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) const { return lamella::col2im(self_(), output_size, kernel_size, dilation, padding, stride); }
inline Tensor TensorMethods::combinations(int64_t r, bool with_replacement) const { return lamella::combinations(self_(), r, with_replacement); }
inline Tensor TensorMethods::complex(const Tensor& imag) const { return lamella::complex(self_(), imag); }
inline Tensor TensorMethods::conj() const { return lamella::conj(self_()); }
inline Tensor TensorMethods::conj_physical() const { return lamella::conj_physical(self_()); }
inline const Tensor& TensorMethods::conj_physical_() const {
  static detail::Callee op_{"aten::conj_physical_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::constant_pad_nd(IntArrayRef pad, const Scalar& value) const { return lamella::constant_pad_nd(self_(), pad, value); }
inline Tensor TensorMethods::contiguous(MemoryFormat memory_format) const { return lamella::contiguous(self_(), memory_format); }
inline Tensor TensorMethods::conv1d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv1d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv1d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv1d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv2d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv2d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv2d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv2d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv3d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv3d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv3d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation, int64_t groups) const { return lamella::conv3d(self_(), weight, bias, stride, padding, dilation, groups); }
inline Tensor TensorMethods::conv_tbc(const Tensor& weight, const Tensor& bias, int64_t pad) const { return lamella::conv_tbc(self_(), weight, bias, pad); }
inline Tensor TensorMethods::conv_transpose1d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) const { return lamella::conv_transpose1d(self_(), weight, bias, stride, padding, output_padding, groups, dilation); }
inline Tensor TensorMethods::conv_transpose2d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) const { return lamella::conv_transpose2d(self_(), weight, bias, stride, padding, output_padding, groups, dilation); }
inline Tensor TensorMethods::conv_transpose3d(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) const { return lamella::conv_transpose3d(self_(), weight, bias, stride, padding, output_padding, groups, dilation); }
inline Tensor TensorMethods::convolution(const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) const { return lamella::convolution(self_(), weight, bias, stride, padding, dilation, groups); }
inline const Tensor& TensorMethods::copy_(const Tensor& src, bool non_blocking) const {
  static detail::Callee op_{"aten::copy_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(src), detail::as<bool>(non_blocking)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::copy_(const Scalar& src, bool non_blocking) const {
  static detail::Callee op_{"aten::copy_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(src), detail::as<bool>(non_blocking)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::copysign(const Tensor& other) const { return lamella::copysign(self_(), other); }
inline Tensor TensorMethods::copysign(const Scalar& other) const { return lamella::copysign(self_(), other); }
inline const Tensor& TensorMethods::copysign_(const Tensor& other) const {
  static detail::Callee op_{"aten::copysign_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::copysign_(const Scalar& other) const {
  static detail::Callee op_{"aten::copysign_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::corrcoef() const { return lamella::corrcoef(self_()); }
inline Tensor TensorMethods::cos() const { return lamella::cos(self_()); }
inline const Tensor& TensorMethods::cos_() const {
  static detail::Callee op_{"aten::cos_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cosh() const { return lamella::cosh(self_()); }
inline const Tensor& TensorMethods::cosh_() const {
  static detail::Callee op_{"aten::cosh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cosine_embedding_loss(const Tensor& input2, const Tensor& target, double margin, int64_t reduction) const { return lamella::cosine_embedding_loss(self_(), input2, target, margin, reduction); }
inline Tensor TensorMethods::cosine_similarity(const Tensor& x2, int64_t dim, double eps) const { return lamella::cosine_similarity(self_(), x2, dim, eps); }
inline Tensor TensorMethods::count_nonzero(std::optional<int64_t> dim) const { return lamella::count_nonzero(self_(), dim); }
inline Tensor TensorMethods::count_nonzero(IntArrayRef dim) const { return lamella::count_nonzero(self_(), dim); }
inline Tensor TensorMethods::cov(int64_t correction, const Tensor& fweights, const Tensor& aweights) const { return lamella::cov(self_(), correction, fweights, aweights); }
inline Tensor TensorMethods::cross(const Tensor& other, std::optional<int64_t> dim) const { return lamella::cross(self_(), other, dim); }
inline Tensor TensorMethods::cross_entropy(const Tensor& target, const Tensor& weight, std::optional<bool> size_average, int64_t ignore_index, std::optional<bool> reduce, const Text& reduction, double label_smoothing) const { return lamella::cross_entropy(self_(), target, weight, size_average, ignore_index, reduce, reduction, label_smoothing); }
inline Tensor TensorMethods::ctc_loss(const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) const { return lamella::ctc_loss(self_(), targets, input_lengths, target_lengths, blank, reduction, zero_infinity); }
inline Tensor TensorMethods::ctc_loss(const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) const { return lamella::ctc_loss(self_(), targets, input_lengths, target_lengths, blank, reduction, zero_infinity); }
inline std::tuple<Tensor, Tensor> TensorMethods::cummax(int64_t dim) const { return lamella::cummax(self_(), dim); }
inline std::tuple<Tensor, Tensor> TensorMethods::cummin(int64_t dim) const { return lamella::cummin(self_(), dim); }
inline Tensor TensorMethods::cumprod(int64_t dim, std::optional<ScalarType> dtype) const { return lamella::cumprod(self_(), dim, dtype); }
inline const Tensor& TensorMethods::cumprod_(int64_t dim, std::optional<ScalarType> dtype) const {
  static detail::Callee op_{"aten::cumprod_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cumsum(int64_t dim, std::optional<ScalarType> dtype) const { return lamella::cumsum(self_(), dim, dtype); }
inline const Tensor& TensorMethods::cumsum_(int64_t dim, std::optional<ScalarType> dtype) const {
  static detail::Callee op_{"aten::cumsum_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<std::optional<ScalarType>>(dtype)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cumulative_trapezoid(const Tensor& x, int64_t dim) const { return lamella::cumulative_trapezoid(self_(), x, dim); }
inline Tensor TensorMethods::cumulative_trapezoid(const Scalar& dx, int64_t dim) const { return lamella::cumulative_trapezoid(self_(), dx, dim); }
inline Tensor TensorMethods::deg2rad() const { return lamella::deg2rad(self_()); }
inline const Tensor& TensorMethods::deg2rad_() const {
  static detail::Callee op_{"aten::deg2rad_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::det() const { return lamella::det(self_()); }
inline Tensor TensorMethods::detach() const { return lamella::detach(self_()); }
inline Tensor TensorMethods::detach_copy() const { return lamella::detach_copy(self_()); }
inline Tensor TensorMethods::diag(int64_t diagonal) const { return lamella::diag(self_(), diagonal); }
inline Tensor TensorMethods::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const { return lamella::diag_embed(self_(), offset, dim1, dim2); }
inline Tensor TensorMethods::diagflat(int64_t offset) const { return lamella::diagflat(self_(), offset); }
inline Tensor TensorMethods::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const { return lamella::diagonal(self_(), offset, dim1, dim2); }
inline Tensor TensorMethods::diagonal_copy(int64_t offset, int64_t dim1, int64_t dim2) const { return lamella::diagonal_copy(self_(), offset, dim1, dim2); }
inline Tensor TensorMethods::diagonal_scatter(const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) const { return lamella::diagonal_scatter(self_(), src, offset, dim1, dim2); }
inline Tensor TensorMethods::diff(int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) const { return lamella::diff(self_(), n, dim, prepend, append); }
inline Tensor TensorMethods::digamma() const { return lamella::digamma(self_()); }
inline const Tensor& TensorMethods::digamma_() const {
  static detail::Callee op_{"aten::digamma_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::dist(const Tensor& other, const Scalar& p) const { return lamella::dist(self_(), other, p); }
inline Tensor TensorMethods::div(const Tensor& other) const { return lamella::div(self_(), other); }
inline Tensor TensorMethods::div(const Scalar& other) const { return lamella::div(self_(), other); }
inline Tensor TensorMethods::div(const Tensor& other, const Text& rounding_mode) const { return lamella::div(self_(), other, rounding_mode); }
inline Tensor TensorMethods::div(const Scalar& other, const Text& rounding_mode) const { return lamella::div(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::div_(const Tensor& other) const {
  static detail::Callee op_{"aten::div_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Scalar& other) const {
  static detail::Callee op_{"aten::div_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::div_", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::div_", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::divide(const Tensor& other) const { return lamella::divide(self_(), other); }
inline Tensor TensorMethods::divide(const Scalar& other) const { return lamella::divide(self_(), other); }
inline Tensor TensorMethods::divide(const Tensor& other, const Text& rounding_mode) const { return lamella::divide(self_(), other, rounding_mode); }
inline Tensor TensorMethods::divide(const Scalar& other, const Text& rounding_mode) const { return lamella::divide(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::divide_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::divide_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::divide_", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::divide_", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::dot(const Tensor& tensor) const { return lamella::dot(self_(), tensor); }
inline Tensor TensorMethods::dropout(double p, bool train) const { return lamella::dropout(self_(), p, train); }
inline const Tensor& TensorMethods::dropout_(double p, bool train) const { return lamella::dropout_(self_(), p, train); }
inline std::vector<Tensor> TensorMethods::dsplit(int64_t sections) const { return lamella::dsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::dsplit(IntArrayRef indices) const { return lamella::dsplit(self_(), indices); }
inline Tensor TensorMethods::elu(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const { return lamella::elu(self_(), alpha, scale, input_scale); }
inline const Tensor& TensorMethods::elu_(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const { return lamella::elu_(self_(), alpha, scale, input_scale); }
inline Tensor TensorMethods::embedding(const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq, bool sparse) const { return lamella::embedding(self_(), indices, padding_idx, scale_grad_by_freq, sparse); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> TensorMethods::embedding_bag(const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset) const { return lamella::embedding_bag(self_(), indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> TensorMethods::embedding_bag(const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx) const { return lamella::embedding_bag(self_(), indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx); }
inline const Tensor& TensorMethods::embedding_renorm_(const Tensor& indices, double max_norm, double norm_type) const { return lamella::embedding_renorm_(self_(), indices, max_norm, norm_type); }
inline Tensor TensorMethods::empty_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::empty_like(self_(), options, memory_format); }
inline Tensor TensorMethods::eq(const Tensor& other) const { return lamella::eq(self_(), other); }
inline Tensor TensorMethods::eq(const Scalar& other) const { return lamella::eq(self_(), other); }
inline const Tensor& TensorMethods::eq_(const Tensor& other) const {
  static detail::Callee op_{"aten::eq_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::eq_(const Scalar& other) const {
  static detail::Callee op_{"aten::eq_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline bool TensorMethods::equal(const Tensor& other) const { return lamella::equal(self_(), other); }
inline Tensor TensorMethods::erf() const { return lamella::erf(self_()); }
inline const Tensor& TensorMethods::erf_() const {
  static detail::Callee op_{"aten::erf_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::erfc() const { return lamella::erfc(self_()); }
inline const Tensor& TensorMethods::erfc_() const {
  static detail::Callee op_{"aten::erfc_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::erfinv() const { return lamella::erfinv(self_()); }
inline const Tensor& TensorMethods::erfinv_() const {
  static detail::Callee op_{"aten::erfinv_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::exp() const { return lamella::exp(self_()); }
inline Tensor TensorMethods::exp2() const { return lamella::exp2(self_()); }
inline const Tensor& TensorMethods::exp2_() const {
  static detail::Callee op_{"aten::exp2_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::exp_() const {
  static detail::Callee op_{"aten::exp_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::expand(IntArrayRef size, bool implicit) const { return lamella::expand(self_(), size, implicit); }
inline Tensor TensorMethods::expand_as(const Tensor& other) const { return lamella::expand_as(self_(), other); }
inline Tensor TensorMethods::expand_copy(IntArrayRef size, bool implicit) const { return lamella::expand_copy(self_(), size, implicit); }
inline Tensor TensorMethods::expm1() const { return lamella::expm1(self_()); }
inline const Tensor& TensorMethods::expm1_() const {
  static detail::Callee op_{"aten::expm1_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::exponential_(double lambd, const Generator& generator) const {
  static detail::Callee op_{"aten::exponential_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(lambd), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::fake_quantize_per_channel_affine(const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) const { return lamella::fake_quantize_per_channel_affine(self_(), scale, zero_point, axis, quant_min, quant_max); }
inline Tensor TensorMethods::fake_quantize_per_tensor_affine(double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) const { return lamella::fake_quantize_per_tensor_affine(self_(), scale, zero_point, quant_min, quant_max); }
inline Tensor TensorMethods::fake_quantize_per_tensor_affine(const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) const { return lamella::fake_quantize_per_tensor_affine(self_(), scale, zero_point, quant_min, quant_max); }
inline Tensor TensorMethods::feature_alpha_dropout(double p, bool train) const { return lamella::feature_alpha_dropout(self_(), p, train); }
inline const Tensor& TensorMethods::feature_alpha_dropout_(double p, bool train) const { return lamella::feature_alpha_dropout_(self_(), p, train); }
inline Tensor TensorMethods::feature_dropout(double p, bool train) const { return lamella::feature_dropout(self_(), p, train); }
inline const Tensor& TensorMethods::feature_dropout_(double p, bool train) const { return lamella::feature_dropout_(self_(), p, train); }
inline Tensor TensorMethods::fft_fft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_fft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_fft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_fft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_fftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_fftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_fftshift(const OptionalIntArrayRef& dim) const { return lamella::fft_fftshift(self_(), dim); }
inline Tensor TensorMethods::fft_hfft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_hfft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_hfft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_hfft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_hfftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_hfftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_ifft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_ifft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_ifft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_ifft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_ifftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_ifftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_ifftshift(const OptionalIntArrayRef& dim) const { return lamella::fft_ifftshift(self_(), dim); }
inline Tensor TensorMethods::fft_ihfft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_ihfft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_ihfft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_ihfft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_ihfftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_ihfftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_irfft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_irfft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_irfft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_irfft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_irfftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_irfftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_rfft(std::optional<int64_t> n, int64_t dim, const Text& norm) const { return lamella::fft_rfft(self_(), n, dim, norm); }
inline Tensor TensorMethods::fft_rfft2(const OptionalIntArrayRef& s, IntArrayRef dim, const Text& norm) const { return lamella::fft_rfft2(self_(), s, dim, norm); }
inline Tensor TensorMethods::fft_rfftn(const OptionalIntArrayRef& s, const OptionalIntArrayRef& dim, const Text& norm) const { return lamella::fft_rfftn(self_(), s, dim, norm); }
inline Tensor TensorMethods::fill(const Scalar& value) const { return lamella::fill(self_(), value); }
inline Tensor TensorMethods::fill(const Tensor& value) const { return lamella::fill(self_(), value); }
inline const Tensor& TensorMethods::fill_(const Tensor& value) const {
  static detail::Callee op_{"aten::fill_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fill_(const Scalar& value) const {
  static detail::Callee op_{"aten::fill_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fill_diagonal_(const Scalar& fill_value, bool wrap) const {
  static detail::Callee op_{"aten::fill_diagonal_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(fill_value), detail::as<bool>(wrap)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::fix() const { return lamella::fix(self_()); }
inline const Tensor& TensorMethods::fix_() const {
  static detail::Callee op_{"aten::fix_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::flatten(int64_t start_dim, int64_t end_dim) const { return lamella::flatten(self_(), start_dim, end_dim); }
inline Tensor TensorMethods::flip(IntArrayRef dims) const { return lamella::flip(self_(), dims); }
inline Tensor TensorMethods::fliplr() const { return lamella::fliplr(self_()); }
inline Tensor TensorMethods::flipud() const { return lamella::flipud(self_()); }
inline Tensor TensorMethods::float_power(const Tensor& exponent) const { return lamella::float_power(self_(), exponent); }
inline Tensor TensorMethods::float_power(const Scalar& exponent) const { return lamella::float_power(self_(), exponent); }
inline const Tensor& TensorMethods::float_power_(const Tensor& exponent) const {
  static detail::Callee op_{"aten::float_power_", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(exponent)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::float_power_(const Scalar& exponent) const {
  static detail::Callee op_{"aten::float_power_", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(exponent)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::floor() const { return lamella::floor(self_()); }
inline const Tensor& TensorMethods::floor_() const {
  static detail::Callee op_{"aten::floor_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::floor_divide(const Tensor& other) const { return lamella::floor_divide(self_(), other); }
inline Tensor TensorMethods::floor_divide(const Scalar& other) const { return lamella::floor_divide(self_(), other); }
inline const Tensor& TensorMethods::floor_divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::floor_divide_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::floor_divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::floor_divide_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::fmax(const Tensor& other) const { return lamella::fmax(self_(), other); }
inline Tensor TensorMethods::fmin(const Tensor& other) const { return lamella::fmin(self_(), other); }
inline Tensor TensorMethods::fmod(const Tensor& other) const { return lamella::fmod(self_(), other); }
inline Tensor TensorMethods::fmod(const Scalar& other) const { return lamella::fmod(self_(), other); }
inline const Tensor& TensorMethods::fmod_(const Tensor& other) const {
  static detail::Callee op_{"aten::fmod_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fmod_(const Scalar& other) const {
  static detail::Callee op_{"aten::fmod_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::frac() const { return lamella::frac(self_()); }
inline const Tensor& TensorMethods::frac_() const {
  static detail::Callee op_{"aten::frac_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline std::tuple<Tensor, Tensor> TensorMethods::fractional_max_pool2d(IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) const { return lamella::fractional_max_pool2d(self_(), kernel_size, output_size, random_samples); }
inline std::tuple<Tensor, Tensor> TensorMethods::fractional_max_pool3d(IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) const { return lamella::fractional_max_pool3d(self_(), kernel_size, output_size, random_samples); }
inline std::tuple<Tensor, Tensor> TensorMethods::frexp() const { return lamella::frexp(self_()); }
inline Tensor TensorMethods::full_like(const Scalar& fill_value, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::full_like(self_(), fill_value, options, memory_format); }
inline Tensor TensorMethods::gather(int64_t dim, const Tensor& index, bool sparse_grad) const { return lamella::gather(self_(), dim, index, sparse_grad); }
inline Tensor TensorMethods::gcd(const Tensor& other) const { return lamella::gcd(self_(), other); }
inline const Tensor& TensorMethods::gcd_(const Tensor& other) const {
  static detail::Callee op_{"aten::gcd_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::ge(const Tensor& other) const { return lamella::ge(self_(), other); }
inline Tensor TensorMethods::ge(const Scalar& other) const { return lamella::ge(self_(), other); }
inline const Tensor& TensorMethods::ge_(const Tensor& other) const {
  static detail::Callee op_{"aten::ge_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::ge_(const Scalar& other) const {
  static detail::Callee op_{"aten::ge_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::gelu(const Text& approximate) const { return lamella::gelu(self_(), approximate); }
inline const Tensor& TensorMethods::gelu_(const Text& approximate) const { return lamella::gelu_(self_(), approximate); }
inline const Tensor& TensorMethods::geometric_(double p, const Generator& generator) const {
  static detail::Callee op_{"aten::geometric_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(p), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline std::tuple<Tensor, Tensor> TensorMethods::geqrf() const { return lamella::geqrf(self_()); }
inline Tensor TensorMethods::ger(const Tensor& vec2) const { return lamella::ger(self_(), vec2); }
inline Tensor TensorMethods::glu(int64_t dim) const { return lamella::glu(self_(), dim); }
inline std::vector<Tensor> TensorMethods::gradient(const std::optional<Scalar>& spacing, std::optional<int64_t> dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(const Scalar& spacing, IntArrayRef dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(IntArrayRef dim, int64_t edge_order) const { return lamella::gradient(self_(), dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(ArrayRef<Scalar> spacing, std::optional<int64_t> dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(ArrayRef<Scalar> spacing, IntArrayRef dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(TensorList spacing, std::optional<int64_t> dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline std::vector<Tensor> TensorMethods::gradient(TensorList spacing, IntArrayRef dim, int64_t edge_order) const { return lamella::gradient(self_(), spacing, dim, edge_order); }
inline Tensor TensorMethods::greater(const Tensor& other) const { return lamella::greater(self_(), other); }
inline Tensor TensorMethods::greater(const Scalar& other) const { return lamella::greater(self_(), other); }
inline const Tensor& TensorMethods::greater_(const Tensor& other) const {
  static detail::Callee op_{"aten::greater_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::greater_(const Scalar& other) const {
  static detail::Callee op_{"aten::greater_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::greater_equal(const Tensor& other) const { return lamella::greater_equal(self_(), other); }
inline Tensor TensorMethods::greater_equal(const Scalar& other) const { return lamella::greater_equal(self_(), other); }
inline const Tensor& TensorMethods::greater_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::greater_equal_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::greater_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::greater_equal_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::grid_sampler(const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) const { return lamella::grid_sampler(self_(), grid, interpolation_mode, padding_mode, align_corners); }
inline Tensor TensorMethods::grid_sampler_2d(const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) const { return lamella::grid_sampler_2d(self_(), grid, interpolation_mode, padding_mode, align_corners); }
inline Tensor TensorMethods::grid_sampler_3d(const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) const { return lamella::grid_sampler_3d(self_(), grid, interpolation_mode, padding_mode, align_corners); }
inline Tensor TensorMethods::group_norm(int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps, bool cudnn_enabled) const { return lamella::group_norm(self_(), num_groups, weight, bias, eps, cudnn_enabled); }
inline std::tuple<Tensor, Tensor> TensorMethods::gru(const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) const { return lamella::gru(self_(), hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
inline std::tuple<Tensor, Tensor> TensorMethods::gru(const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) const { return lamella::gru(self_(), batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
inline Tensor TensorMethods::gru_cell(const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) const { return lamella::gru_cell(self_(), hx, w_ih, w_hh, b_ih, b_hh); }
inline Tensor TensorMethods::gt(const Tensor& other) const { return lamella::gt(self_(), other); }
inline Tensor TensorMethods::gt(const Scalar& other) const { return lamella::gt(self_(), other); }
inline const Tensor& TensorMethods::gt_(const Tensor& other) const {
  static detail::Callee op_{"aten::gt_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::gt_(const Scalar& other) const {
  static detail::Callee op_{"aten::gt_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::hardshrink(const Scalar& lambd) const { return lamella::hardshrink(self_(), lambd); }
inline Tensor TensorMethods::hardsigmoid() const { return lamella::hardsigmoid(self_()); }
inline const Tensor& TensorMethods::hardsigmoid_() const { return lamella::hardsigmoid_(self_()); }
inline Tensor TensorMethods::hardswish() const { return lamella::hardswish(self_()); }
inline const Tensor& TensorMethods::hardswish_() const { return lamella::hardswish_(self_()); }
inline Tensor TensorMethods::hardtanh(const Scalar& min_val, const Scalar& max_val) const { return lamella::hardtanh(self_(), min_val, max_val); }
inline const Tensor& TensorMethods::hardtanh_(const Scalar& min_val, const Scalar& max_val) const { return lamella::hardtanh_(self_(), min_val, max_val); }
inline Tensor TensorMethods::hash_tensor(IntArrayRef dim, bool keepdim, int64_t mode) const { return lamella::hash_tensor(self_(), dim, keepdim, mode); }
inline Tensor TensorMethods::heaviside(const Tensor& values) const { return lamella::heaviside(self_(), values); }
inline const Tensor& TensorMethods::heaviside_(const Tensor& values) const {
  static detail::Callee op_{"aten::heaviside_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(values)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::hinge_embedding_loss(const Tensor& target, double margin, int64_t reduction) const { return lamella::hinge_embedding_loss(self_(), target, margin, reduction); }
inline Tensor TensorMethods::histc(int64_t bins, const Scalar& min, const Scalar& max) const { return lamella::histc(self_(), bins, min, max); }
inline std::tuple<Tensor, Tensor> TensorMethods::histogram(const Tensor& bins, const Tensor& weight, bool density) const { return lamella::histogram(self_(), bins, weight, density); }
inline std::tuple<Tensor, Tensor> TensorMethods::histogram(int64_t bins, std::optional<ArrayRef<double>> range, const Tensor& weight, bool density) const { return lamella::histogram(self_(), bins, range, weight, density); }
inline std::tuple<Tensor, std::vector<Tensor>> TensorMethods::histogramdd(IntArrayRef bins, std::optional<ArrayRef<double>> range, const Tensor& weight, bool density) const { return lamella::histogramdd(self_(), bins, range, weight, density); }
inline std::tuple<Tensor, std::vector<Tensor>> TensorMethods::histogramdd(int64_t bins, std::optional<ArrayRef<double>> range, const Tensor& weight, bool density) const { return lamella::histogramdd(self_(), bins, range, weight, density); }
inline std::tuple<Tensor, std::vector<Tensor>> TensorMethods::histogramdd(TensorList bins, std::optional<ArrayRef<double>> range, const Tensor& weight, bool density) const { return lamella::histogramdd(self_(), bins, range, weight, density); }
inline std::vector<Tensor> TensorMethods::hsplit(int64_t sections) const { return lamella::hsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::hsplit(IntArrayRef indices) const { return lamella::hsplit(self_(), indices); }
inline Tensor TensorMethods::huber_loss(const Tensor& target, const Text& reduction, double delta, const Tensor& weight) const { return lamella::huber_loss(self_(), target, reduction, delta, weight); }
inline Tensor TensorMethods::hypot(const Tensor& other) const { return lamella::hypot(self_(), other); }
inline const Tensor& TensorMethods::hypot_(const Tensor& other) const {
  static detail::Callee op_{"aten::hypot_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::i0() const { return lamella::i0(self_()); }
inline const Tensor& TensorMethods::i0_() const {
  static detail::Callee op_{"aten::i0_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::igamma(const Tensor& other) const { return lamella::igamma(self_(), other); }
inline const Tensor& TensorMethods::igamma_(const Tensor& other) const {
  static detail::Callee op_{"aten::igamma_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::igammac(const Tensor& other) const { return lamella::igammac(self_(), other); }
inline const Tensor& TensorMethods::igammac_(const Tensor& other) const {
  static detail::Callee op_{"aten::igammac_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::im2col(IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) const { return lamella::im2col(self_(), kernel_size, dilation, padding, stride); }
inline Tensor TensorMethods::imag() const { return lamella::imag(self_()); }
inline Tensor TensorMethods::index(TensorList indices) const { return lamella::index(self_(), indices); }
inline Tensor TensorMethods::index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return lamella::index_add(self_(), dim, index, source, alpha); }
inline const Tensor& TensorMethods::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  static detail::Callee op_{"aten::index_add_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_copy(int64_t dim, const Tensor& index, const Tensor& source) const { return lamella::index_copy(self_(), dim, index, source); }
inline const Tensor& TensorMethods::index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const {
  static detail::Callee op_{"aten::index_copy_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_fill(int64_t dim, const Tensor& index, const Scalar& value) const { return lamella::index_fill(self_(), dim, index, value); }
inline Tensor TensorMethods::index_fill(int64_t dim, const Tensor& index, const Tensor& value) const { return lamella::index_fill(self_(), dim, index, value); }
inline const Tensor& TensorMethods::index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const {
  static detail::Callee op_{"aten::index_fill_", "int_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const {
  static detail::Callee op_{"aten::index_fill_", "int_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_put(TensorList indices, const Tensor& values, bool accumulate) const { return lamella::index_put(self_(), indices, values, accumulate); }
inline const Tensor& TensorMethods::index_put_(TensorList indices, const Tensor& values, bool accumulate) const {
  static detail::Callee op_{"aten::index_put_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<TensorList>(indices), detail::as<const Tensor&>(values), detail::as<bool>(accumulate)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_reduce(int64_t dim, const Tensor& index, const Tensor& source, const Text& reduce, bool include_self) const { return lamella::index_reduce(self_(), dim, index, source, reduce, include_self); }
inline const Tensor& TensorMethods::index_reduce_(int64_t dim, const Tensor& index, const Tensor& source, const Text& reduce, bool include_self) const {
  static detail::Callee op_{"aten::index_reduce_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<const Text&>(reduce), detail::as<bool>(include_self)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_select(int64_t dim, const Tensor& index) const { return lamella::index_select(self_(), dim, index); }
inline Tensor TensorMethods::inner(const Tensor& other) const { return lamella::inner(self_(), other); }
inline Tensor TensorMethods::instance_norm(const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) const { return lamella::instance_norm(self_(), weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled); }
inline Tensor TensorMethods::inverse() const { return lamella::inverse(self_()); }
inline bool TensorMethods::is_nonzero() const { return lamella::is_nonzero(self_()); }
inline bool TensorMethods::is_pinned(const std::optional<Device>& device) const { return lamella::is_pinned(self_(), device); }
inline Tensor TensorMethods::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return lamella::isclose(self_(), other, rtol, atol, equal_nan); }
inline Tensor TensorMethods::isfinite() const { return lamella::isfinite(self_()); }
inline Tensor TensorMethods::isin(const Tensor& test_elements, bool assume_unique, bool invert) const { return lamella::isin(self_(), test_elements, assume_unique, invert); }
inline Tensor TensorMethods::isin(const Scalar& test_element, bool assume_unique, bool invert) const { return lamella::isin(self_(), test_element, assume_unique, invert); }
inline Tensor TensorMethods::isinf() const { return lamella::isinf(self_()); }
inline Tensor TensorMethods::isnan() const { return lamella::isnan(self_()); }
inline Tensor TensorMethods::isneginf() const { return lamella::isneginf(self_()); }
inline Tensor TensorMethods::isposinf() const { return lamella::isposinf(self_()); }
inline Tensor TensorMethods::istft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized, std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) const { return lamella::istft(self_(), n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex); }
inline Scalar TensorMethods::item() const { return lamella::item(self_()); }
inline Tensor TensorMethods::kl_div(const Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction, bool log_target) const { return lamella::kl_div(self_(), target, size_average, reduce, reduction, log_target); }
inline Tensor TensorMethods::kron(const Tensor& other) const { return lamella::kron(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::kthvalue(int64_t k, int64_t dim, bool keepdim) const { return lamella::kthvalue(self_(), k, dim, keepdim); }
inline Tensor TensorMethods::l1_loss(const Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction, const Tensor& weight) const { return lamella::l1_loss(self_(), target, size_average, reduce, reduction, weight); }
inline Tensor TensorMethods::layer_norm(IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps, bool cudnn_enable) const { return lamella::layer_norm(self_(), normalized_shape, weight, bias, eps, cudnn_enable); }
inline Tensor TensorMethods::lcm(const Tensor& other) const { return lamella::lcm(self_(), other); }
inline const Tensor& TensorMethods::lcm_(const Tensor& other) const {
  static detail::Callee op_{"aten::lcm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::ldexp(const Tensor& other) const { return lamella::ldexp(self_(), other); }
inline const Tensor& TensorMethods::ldexp_(const Tensor& other) const {
  static detail::Callee op_{"aten::ldexp_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::le(const Tensor& other) const { return lamella::le(self_(), other); }
inline Tensor TensorMethods::le(const Scalar& other) const { return lamella::le(self_(), other); }
inline const Tensor& TensorMethods::le_(const Tensor& other) const {
  static detail::Callee op_{"aten::le_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::le_(const Scalar& other) const {
  static detail::Callee op_{"aten::le_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::leaky_relu(const Scalar& negative_slope) const { return lamella::leaky_relu(self_(), negative_slope); }
inline const Tensor& TensorMethods::leaky_relu_(const Scalar& negative_slope) const { return lamella::leaky_relu_(self_(), negative_slope); }
inline Tensor TensorMethods::lerp(const Tensor& end, const Tensor& weight) const { return lamella::lerp(self_(), end, weight); }
inline Tensor TensorMethods::lerp(const Tensor& end, const Scalar& weight) const { return lamella::lerp(self_(), end, weight); }
inline const Tensor& TensorMethods::lerp_(const Tensor& end, const Tensor& weight) const {
  static detail::Callee op_{"aten::lerp_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(end), detail::as<const Tensor&>(weight)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::lerp_(const Tensor& end, const Scalar& weight) const {
  static detail::Callee op_{"aten::lerp_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(end), detail::as<const Scalar&>(weight)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::less(const Tensor& other) const { return lamella::less(self_(), other); }
inline Tensor TensorMethods::less(const Scalar& other) const { return lamella::less(self_(), other); }
inline const Tensor& TensorMethods::less_(const Tensor& other) const {
  static detail::Callee op_{"aten::less_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::less_(const Scalar& other) const {
  static detail::Callee op_{"aten::less_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::less_equal(const Tensor& other) const { return lamella::less_equal(self_(), other); }
inline Tensor TensorMethods::less_equal(const Scalar& other) const { return lamella::less_equal(self_(), other); }
inline const Tensor& TensorMethods::less_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::less_equal_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::less_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::less_equal_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::lgamma() const { return lamella::lgamma(self_()); }
inline const Tensor& TensorMethods::lgamma_() const {
  static detail::Callee op_{"aten::lgamma_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::linalg_cholesky(bool upper) const { return lamella::linalg_cholesky(self_(), upper); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_cholesky_ex(bool upper, bool check_errors) const { return lamella::linalg_cholesky_ex(self_(), upper, check_errors); }
inline Tensor TensorMethods::linalg_cond(const std::optional<Scalar>& p) const { return lamella::linalg_cond(self_(), p); }
inline Tensor TensorMethods::linalg_cond(const Text& p) const { return lamella::linalg_cond(self_(), p); }
inline Tensor TensorMethods::linalg_cross(const Tensor& other, int64_t dim) const { return lamella::linalg_cross(self_(), other, dim); }
inline Tensor TensorMethods::linalg_det() const { return lamella::linalg_det(self_()); }
inline Tensor TensorMethods::linalg_diagonal(int64_t offset, int64_t dim1, int64_t dim2) const { return lamella::linalg_diagonal(self_(), offset, dim1, dim2); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_eig() const { return lamella::linalg_eig(self_()); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_eigh(const Text& UPLO) const { return lamella::linalg_eigh(self_(), UPLO); }
inline Tensor TensorMethods::linalg_eigvals() const { return lamella::linalg_eigvals(self_()); }
inline Tensor TensorMethods::linalg_eigvalsh(const Text& UPLO) const { return lamella::linalg_eigvalsh(self_(), UPLO); }
inline Tensor TensorMethods::linalg_householder_product(const Tensor& tau) const { return lamella::linalg_householder_product(self_(), tau); }
inline Tensor TensorMethods::linalg_inv() const { return lamella::linalg_inv(self_()); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_inv_ex(bool check_errors) const { return lamella::linalg_inv_ex(self_(), check_errors); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_ldl_factor(bool hermitian) const { return lamella::linalg_ldl_factor(self_(), hermitian); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::linalg_ldl_factor_ex(bool hermitian, bool check_errors) const { return lamella::linalg_ldl_factor_ex(self_(), hermitian, check_errors); }
inline Tensor TensorMethods::linalg_ldl_solve(const Tensor& pivots, const Tensor& B, bool hermitian) const { return lamella::linalg_ldl_solve(self_(), pivots, B, hermitian); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> TensorMethods::linalg_lstsq(const Tensor& b, std::optional<double> rcond, const Text& driver) const { return lamella::linalg_lstsq(self_(), b, rcond, driver); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::linalg_lu(bool pivot) const { return lamella::linalg_lu(self_(), pivot); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_lu_factor(bool pivot) const { return lamella::linalg_lu_factor(self_(), pivot); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::linalg_lu_factor_ex(bool pivot, bool check_errors) const { return lamella::linalg_lu_factor_ex(self_(), pivot, check_errors); }
inline Tensor TensorMethods::linalg_lu_solve(const Tensor& pivots, const Tensor& B, bool left, bool adjoint) const { return lamella::linalg_lu_solve(self_(), pivots, B, left, adjoint); }
inline Tensor TensorMethods::linalg_matmul(const Tensor& other) const { return lamella::linalg_matmul(self_(), other); }
inline Tensor TensorMethods::linalg_matrix_exp() const { return lamella::linalg_matrix_exp(self_()); }
inline Tensor TensorMethods::linalg_matrix_norm(const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::linalg_matrix_norm(self_(), ord, dim, keepdim, dtype); }
inline Tensor TensorMethods::linalg_matrix_norm(const Text& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::linalg_matrix_norm(self_(), ord, dim, keepdim, dtype); }
inline Tensor TensorMethods::linalg_matrix_power(int64_t n) const { return lamella::linalg_matrix_power(self_(), n); }
inline Tensor TensorMethods::linalg_matrix_rank(const Tensor& atol, const Tensor& rtol, bool hermitian) const { return lamella::linalg_matrix_rank(self_(), atol, rtol, hermitian); }
inline Tensor TensorMethods::linalg_matrix_rank(std::optional<double> atol, std::optional<double> rtol, bool hermitian) const { return lamella::linalg_matrix_rank(self_(), atol, rtol, hermitian); }
inline Tensor TensorMethods::linalg_matrix_rank(double tol, bool hermitian) const { return lamella::linalg_matrix_rank(self_(), tol, hermitian); }
inline Tensor TensorMethods::linalg_matrix_rank(const Tensor& tol, bool hermitian) const { return lamella::linalg_matrix_rank(self_(), tol, hermitian); }
inline Tensor TensorMethods::linalg_norm(const std::optional<Scalar>& ord, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::linalg_norm(self_(), ord, dim, keepdim, dtype); }
inline Tensor TensorMethods::linalg_norm(const Text& ord, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::linalg_norm(self_(), ord, dim, keepdim, dtype); }
inline Tensor TensorMethods::linalg_pinv(const Tensor& atol, const Tensor& rtol, bool hermitian) const { return lamella::linalg_pinv(self_(), atol, rtol, hermitian); }
inline Tensor TensorMethods::linalg_pinv(std::optional<double> atol, std::optional<double> rtol, bool hermitian) const { return lamella::linalg_pinv(self_(), atol, rtol, hermitian); }
inline Tensor TensorMethods::linalg_pinv(double rcond, bool hermitian) const { return lamella::linalg_pinv(self_(), rcond, hermitian); }
inline Tensor TensorMethods::linalg_pinv(const Tensor& rcond, bool hermitian) const { return lamella::linalg_pinv(self_(), rcond, hermitian); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_qr(const Text& mode) const { return lamella::linalg_qr(self_(), mode); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_slogdet() const { return lamella::linalg_slogdet(self_()); }
inline Tensor TensorMethods::linalg_solve(const Tensor& B, bool left) const { return lamella::linalg_solve(self_(), B, left); }
inline std::tuple<Tensor, Tensor> TensorMethods::linalg_solve_ex(const Tensor& B, bool left, bool check_errors) const { return lamella::linalg_solve_ex(self_(), B, left, check_errors); }
inline Tensor TensorMethods::linalg_solve_triangular(const Tensor& B, bool upper, bool left, bool unitriangular) const { return lamella::linalg_solve_triangular(self_(), B, upper, left, unitriangular); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::linalg_svd(bool full_matrices, const Text& driver) const { return lamella::linalg_svd(self_(), full_matrices, driver); }
inline Tensor TensorMethods::linalg_svdvals(const Text& driver) const { return lamella::linalg_svdvals(self_(), driver); }
inline Tensor TensorMethods::linalg_tensorinv(int64_t ind) const { return lamella::linalg_tensorinv(self_(), ind); }
inline Tensor TensorMethods::linalg_tensorsolve(const Tensor& other, const OptionalIntArrayRef& dims) const { return lamella::linalg_tensorsolve(self_(), other, dims); }
inline Tensor TensorMethods::linalg_vander(std::optional<int64_t> N) const { return lamella::linalg_vander(self_(), N); }
inline Tensor TensorMethods::linalg_vecdot(const Tensor& y, int64_t dim) const { return lamella::linalg_vecdot(self_(), y, dim); }
inline Tensor TensorMethods::linalg_vector_norm(const Scalar& ord, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::linalg_vector_norm(self_(), ord, dim, keepdim, dtype); }
inline Tensor TensorMethods::linear(const Tensor& weight, const Tensor& bias) const { return lamella::linear(self_(), weight, bias); }
inline Tensor TensorMethods::log() const { return lamella::log(self_()); }
inline Tensor TensorMethods::log10() const { return lamella::log10(self_()); }
inline const Tensor& TensorMethods::log10_() const {
  static detail::Callee op_{"aten::log10_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log1p() const { return lamella::log1p(self_()); }
inline const Tensor& TensorMethods::log1p_() const {
  static detail::Callee op_{"aten::log1p_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log2() const { return lamella::log2(self_()); }
inline const Tensor& TensorMethods::log2_() const {
  static detail::Callee op_{"aten::log2_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::log_() const {
  static detail::Callee op_{"aten::log_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::log_normal_(double mean, double std, const Generator& generator) const {
  static detail::Callee op_{"aten::log_normal_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(mean), detail::as<double>(std), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log_sigmoid() const { return lamella::log_sigmoid(self_()); }
inline const Tensor& TensorMethods::log_sigmoid_() const { return lamella::log_sigmoid_(self_()); }
inline Tensor TensorMethods::log_softmax(int64_t dim, std::optional<ScalarType> dtype) const { return lamella::log_softmax(self_(), dim, dtype); }
inline Tensor TensorMethods::logaddexp(const Tensor& other) const { return lamella::logaddexp(self_(), other); }
inline Tensor TensorMethods::logaddexp2(const Tensor& other) const { return lamella::logaddexp2(self_(), other); }
inline Tensor TensorMethods::logcumsumexp(int64_t dim) const { return lamella::logcumsumexp(self_(), dim); }
inline Tensor TensorMethods::logdet() const { return lamella::logdet(self_()); }
inline Tensor TensorMethods::logical_and(const Tensor& other) const { return lamella::logical_and(self_(), other); }
inline const Tensor& TensorMethods::logical_and_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_and_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_not() const { return lamella::logical_not(self_()); }
inline const Tensor& TensorMethods::logical_not_() const {
  static detail::Callee op_{"aten::logical_not_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_or(const Tensor& other) const { return lamella::logical_or(self_(), other); }
inline const Tensor& TensorMethods::logical_or_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_or_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_xor(const Tensor& other) const { return lamella::logical_xor(self_(), other); }
inline const Tensor& TensorMethods::logical_xor_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_xor_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logit(std::optional<double> eps) const { return lamella::logit(self_(), eps); }
inline const Tensor& TensorMethods::logit_(std::optional<double> eps) const {
  static detail::Callee op_{"aten::logit_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<std::optional<double>>(eps)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logsumexp(IntArrayRef dim, bool keepdim) const { return lamella::logsumexp(self_(), dim, keepdim); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::lstm(TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) const { return lamella::lstm(self_(), hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::lstm(const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) const { return lamella::lstm(self_(), batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
inline std::tuple<Tensor, Tensor> TensorMethods::lstm_cell(TensorList hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) const { return lamella::lstm_cell(self_(), hx, w_ih, w_hh, b_ih, b_hh); }
inline Tensor TensorMethods::lt(const Tensor& other) const { return lamella::lt(self_(), other); }
inline Tensor TensorMethods::lt(const Scalar& other) const { return lamella::lt(self_(), other); }
inline const Tensor& TensorMethods::lt_(const Tensor& other) const {
  static detail::Callee op_{"aten::lt_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::lt_(const Scalar& other) const {
  static detail::Callee op_{"aten::lt_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::lu_solve(const Tensor& LU_data, const Tensor& LU_pivots) const { return lamella::lu_solve(self_(), LU_data, LU_pivots); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::lu_unpack(const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots) const { return lamella::lu_unpack(self_(), LU_pivots, unpack_data, unpack_pivots); }
inline Tensor TensorMethods::margin_ranking_loss(const Tensor& input2, const Tensor& target, double margin, int64_t reduction) const { return lamella::margin_ranking_loss(self_(), input2, target, margin, reduction); }
inline Tensor TensorMethods::masked_fill(const Tensor& mask, const Scalar& value) const { return lamella::masked_fill(self_(), mask, value); }
inline Tensor TensorMethods::masked_fill(const Tensor& mask, const Tensor& value) const { return lamella::masked_fill(self_(), mask, value); }
inline const Tensor& TensorMethods::masked_fill_(const Tensor& mask, const Scalar& value) const {
  static detail::Callee op_{"aten::masked_fill_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(mask), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::masked_fill_(const Tensor& mask, const Tensor& value) const {
  static detail::Callee op_{"aten::masked_fill_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(mask), detail::as<const Tensor&>(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::masked_scatter(const Tensor& mask, const Tensor& source) const { return lamella::masked_scatter(self_(), mask, source); }
inline const Tensor& TensorMethods::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  static detail::Callee op_{"aten::masked_scatter_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(mask), detail::as<const Tensor&>(source)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::masked_select(const Tensor& mask) const { return lamella::masked_select(self_(), mask); }
inline Tensor TensorMethods::matmul(const Tensor& other) const { return lamella::matmul(self_(), other); }
inline Tensor TensorMethods::matrix_exp() const { return lamella::matrix_exp(self_()); }
inline Tensor TensorMethods::matrix_power(int64_t n) const { return lamella::matrix_power(self_(), n); }
inline Tensor TensorMethods::max() const { return lamella::max(self_()); }
inline Tensor TensorMethods::max(const Tensor& other) const { return lamella::max(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::max(int64_t dim, bool keepdim) const { return lamella::max(self_(), dim, keepdim); }
inline Tensor TensorMethods::max_pool1d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool1d(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline std::tuple<Tensor, Tensor> TensorMethods::max_pool1d_with_indices(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool1d_with_indices(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor TensorMethods::max_pool2d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool2d(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline std::tuple<Tensor, Tensor> TensorMethods::max_pool2d_with_indices(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool2d_with_indices(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor TensorMethods::max_pool3d(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool3d(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline std::tuple<Tensor, Tensor> TensorMethods::max_pool3d_with_indices(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) const { return lamella::max_pool3d_with_indices(self_(), kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor TensorMethods::max_unpool2d(const Tensor& indices, IntArrayRef output_size) const { return lamella::max_unpool2d(self_(), indices, output_size); }
inline Tensor TensorMethods::max_unpool3d(const Tensor& indices, IntArrayRef output_size, IntArrayRef stride, IntArrayRef padding) const { return lamella::max_unpool3d(self_(), indices, output_size, stride, padding); }
inline Tensor TensorMethods::maximum(const Tensor& other) const { return lamella::maximum(self_(), other); }
inline Tensor TensorMethods::mean(std::optional<ScalarType> dtype) const { return lamella::mean(self_(), dtype); }
inline Tensor TensorMethods::mean(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::mean(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::median() const { return lamella::median(self_()); }
inline std::tuple<Tensor, Tensor> TensorMethods::median(int64_t dim, bool keepdim) const { return lamella::median(self_(), dim, keepdim); }
inline Tensor TensorMethods::min() const { return lamella::min(self_()); }
inline Tensor TensorMethods::min(const Tensor& other) const { return lamella::min(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::min(int64_t dim, bool keepdim) const { return lamella::min(self_(), dim, keepdim); }
inline Tensor TensorMethods::minimum(const Tensor& other) const { return lamella::minimum(self_(), other); }
inline Tensor TensorMethods::mish() const { return lamella::mish(self_()); }
inline const Tensor& TensorMethods::mish_() const { return lamella::mish_(self_()); }
inline Tensor TensorMethods::mm(const Tensor& mat2) const { return lamella::mm(self_(), mat2); }
inline std::tuple<Tensor, Tensor> TensorMethods::mode(int64_t dim, bool keepdim) const { return lamella::mode(self_(), dim, keepdim); }
inline Tensor TensorMethods::moveaxis(IntArrayRef source, IntArrayRef destination) const { return lamella::moveaxis(self_(), source, destination); }
inline Tensor TensorMethods::moveaxis(int64_t source, int64_t destination) const { return lamella::moveaxis(self_(), source, destination); }
inline Tensor TensorMethods::movedim(IntArrayRef source, IntArrayRef destination) const { return lamella::movedim(self_(), source, destination); }
inline Tensor TensorMethods::movedim(int64_t source, int64_t destination) const { return lamella::movedim(self_(), source, destination); }
inline Tensor TensorMethods::mse_loss(const Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction, const Tensor& weight) const { return lamella::mse_loss(self_(), target, size_average, reduce, reduction, weight); }
inline Tensor TensorMethods::msort() const { return lamella::msort(self_()); }
inline Tensor TensorMethods::mul(const Tensor& other) const { return lamella::mul(self_(), other); }
inline Tensor TensorMethods::mul(const Scalar& other) const { return lamella::mul(self_(), other); }
inline const Tensor& TensorMethods::mul_(const Tensor& other) const {
  static detail::Callee op_{"aten::mul_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::mul_(const Scalar& other) const {
  static detail::Callee op_{"aten::mul_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::multi_margin_loss(const Tensor& target, const Scalar& p, const Scalar& margin, const Tensor& weight, int64_t reduction) const { return lamella::multi_margin_loss(self_(), target, p, margin, weight, reduction); }
inline Tensor TensorMethods::multilabel_margin_loss(const Tensor& target, int64_t reduction) const { return lamella::multilabel_margin_loss(self_(), target, reduction); }
inline Tensor TensorMethods::multinomial(int64_t num_samples, bool replacement, const Generator& generator) const { return lamella::multinomial(self_(), num_samples, replacement, generator); }
inline Tensor TensorMethods::multiply(const Tensor& other) const { return lamella::multiply(self_(), other); }
inline Tensor TensorMethods::multiply(const Scalar& other) const { return lamella::multiply(self_(), other); }
inline const Tensor& TensorMethods::multiply_(const Tensor& other) const {
  static detail::Callee op_{"aten::multiply_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::multiply_(const Scalar& other) const {
  static detail::Callee op_{"aten::multiply_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::mv(const Tensor& vec) const { return lamella::mv(self_(), vec); }
inline Tensor TensorMethods::mvlgamma(int64_t p) const { return lamella::mvlgamma(self_(), p); }
inline const Tensor& TensorMethods::mvlgamma_(int64_t p) const {
  static detail::Callee op_{"aten::mvlgamma_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(p)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return lamella::nan_to_num(self_(), nan, posinf, neginf); }
inline const Tensor& TensorMethods::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const {
  static detail::Callee op_{"aten::nan_to_num_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<std::optional<double>>(nan), detail::as<std::optional<double>>(posinf), detail::as<std::optional<double>>(neginf)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nanmean(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::nanmean(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::nanmedian() const { return lamella::nanmedian(self_()); }
inline std::tuple<Tensor, Tensor> TensorMethods::nanmedian(int64_t dim, bool keepdim) const { return lamella::nanmedian(self_(), dim, keepdim); }
inline Tensor TensorMethods::nanquantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim, const Text& interpolation) const { return lamella::nanquantile(self_(), q, dim, keepdim, interpolation); }
inline Tensor TensorMethods::nanquantile(double q, std::optional<int64_t> dim, bool keepdim, const Text& interpolation) const { return lamella::nanquantile(self_(), q, dim, keepdim, interpolation); }
inline Tensor TensorMethods::nansum(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::nansum(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::narrow(int64_t dim, int64_t start, int64_t length) const { return lamella::narrow(self_(), dim, start, length); }
inline Tensor TensorMethods::narrow_copy(int64_t dim, int64_t start, int64_t length) const { return lamella::narrow_copy(self_(), dim, start, length); }
inline Tensor TensorMethods::native_channel_shuffle(int64_t groups) const { return lamella::native_channel_shuffle(self_(), groups); }
inline std::tuple<Tensor, Tensor> TensorMethods::native_dropout(double p, std::optional<bool> train) const { return lamella::native_dropout(self_(), p, train); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::native_group_norm(const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) const { return lamella::native_group_norm(self_(), weight, bias, N, C, HxW, group, eps); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::native_layer_norm(IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) const { return lamella::native_layer_norm(self_(), normalized_shape, weight, bias, eps); }
inline Tensor TensorMethods::ne(const Tensor& other) const { return lamella::ne(self_(), other); }
inline Tensor TensorMethods::ne(const Scalar& other) const { return lamella::ne(self_(), other); }
inline const Tensor& TensorMethods::ne_(const Tensor& other) const {
  static detail::Callee op_{"aten::ne_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::ne_(const Scalar& other) const {
  static detail::Callee op_{"aten::ne_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::neg() const { return lamella::neg(self_()); }
inline const Tensor& TensorMethods::neg_() const {
  static detail::Callee op_{"aten::neg_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::negative() const { return lamella::negative(self_()); }
inline const Tensor& TensorMethods::negative_() const {
  static detail::Callee op_{"aten::negative_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nextafter(const Tensor& other) const { return lamella::nextafter(self_(), other); }
inline const Tensor& TensorMethods::nextafter_(const Tensor& other) const {
  static detail::Callee op_{"aten::nextafter_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nll_loss(const Tensor& target, const Tensor& weight, std::optional<bool> size_average, int64_t ignore_index, std::optional<bool> reduce, const Text& reduction) const { return lamella::nll_loss(self_(), target, weight, size_average, ignore_index, reduce, reduction); }
inline Tensor TensorMethods::nonzero() const { return lamella::nonzero(self_()); }
inline std::vector<Tensor> TensorMethods::nonzero(bool as_tuple) const { return lamella::nonzero(self_(), as_tuple); }
inline Tensor TensorMethods::nonzero_static(int64_t size, int64_t fill_value) const { return lamella::nonzero_static(self_(), size, fill_value); }
inline Tensor TensorMethods::norm(const std::optional<Scalar>& p, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::norm(self_(), p, dim, keepdim, dtype); }
inline Tensor TensorMethods::norm(const Text& p, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::norm(self_(), p, dim, keepdim, dtype); }
inline Tensor TensorMethods::normal(const Tensor& std, const Generator& generator) const { return lamella::normal(self_(), std, generator); }
inline Tensor TensorMethods::normal(double std, const Generator& generator) const { return lamella::normal(self_(), std, generator); }
inline const Tensor& TensorMethods::normal_(double mean, double std, const Generator& generator) const {
  static detail::Callee op_{"aten::normal_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(mean), detail::as<double>(std), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::not_equal(const Tensor& other) const { return lamella::not_equal(self_(), other); }
inline Tensor TensorMethods::not_equal(const Scalar& other) const { return lamella::not_equal(self_(), other); }
inline const Tensor& TensorMethods::not_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::not_equal_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::not_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::not_equal_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::one_hot(int64_t num_classes) const { return lamella::one_hot(self_(), num_classes); }
inline Tensor TensorMethods::ones_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::ones_like(self_(), options, memory_format); }
inline Tensor TensorMethods::orgqr(const Tensor& tau) const { return lamella::orgqr(self_(), tau); }
inline Tensor TensorMethods::ormqr(const Tensor& tau, const Tensor& other, bool left, bool transpose) const { return lamella::ormqr(self_(), tau, other, left, transpose); }
inline Tensor TensorMethods::outer(const Tensor& vec2) const { return lamella::outer(self_(), vec2); }
inline Tensor TensorMethods::pad(IntArrayRef pad, const Text& mode, std::optional<double> value) const { return lamella::pad(self_(), pad, mode, value); }
inline Tensor TensorMethods::pairwise_distance(const Tensor& x2, double p, double eps, bool keepdim) const { return lamella::pairwise_distance(self_(), x2, p, eps, keepdim); }
inline Tensor TensorMethods::pdist(double p) const { return lamella::pdist(self_(), p); }
inline Tensor TensorMethods::permute(IntArrayRef dims) const { return lamella::permute(self_(), dims); }
inline Tensor TensorMethods::permute_copy(IntArrayRef dims) const { return lamella::permute_copy(self_(), dims); }
inline Tensor TensorMethods::pin_memory(const std::optional<Device>& device) const { return lamella::pin_memory(self_(), device); }
inline Tensor TensorMethods::pinverse(double rcond) const { return lamella::pinverse(self_(), rcond); }
inline Tensor TensorMethods::pixel_shuffle(int64_t upscale_factor) const { return lamella::pixel_shuffle(self_(), upscale_factor); }
inline Tensor TensorMethods::pixel_unshuffle(int64_t downscale_factor) const { return lamella::pixel_unshuffle(self_(), downscale_factor); }
inline Tensor TensorMethods::poisson(const Generator& generator) const { return lamella::poisson(self_(), generator); }
inline Tensor TensorMethods::poisson_nll_loss(const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) const { return lamella::poisson_nll_loss(self_(), target, log_input, full, eps, reduction); }
inline Tensor TensorMethods::polar(const Tensor& angle) const { return lamella::polar(self_(), angle); }
inline Tensor TensorMethods::positive() const { return lamella::positive(self_()); }
inline Tensor TensorMethods::pow(const Scalar& exponent) const { return lamella::pow(self_(), exponent); }
inline Tensor TensorMethods::pow(const Tensor& exponent) const { return lamella::pow(self_(), exponent); }
inline const Tensor& TensorMethods::pow_(const Scalar& exponent) const {
  static detail::Callee op_{"aten::pow_", "Tensor_Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(exponent)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::pow_(const Tensor& exponent) const {
  static detail::Callee op_{"aten::pow_", "Tensor_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(exponent)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::prelu(const Tensor& weight) const { return lamella::prelu(self_(), weight); }
inline Tensor TensorMethods::prod(std::optional<ScalarType> dtype) const { return lamella::prod(self_(), dtype); }
inline Tensor TensorMethods::prod(int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::prod(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::put(const Tensor& index, const Tensor& source, bool accumulate) const { return lamella::put(self_(), index, source, accumulate); }
inline const Tensor& TensorMethods::put_(const Tensor& index, const Tensor& source, bool accumulate) const {
  static detail::Callee op_{"aten::put_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(index), detail::as<const Tensor&>(source), detail::as<bool>(accumulate)};
  op_.written(args_);
  return self_();
}
inline std::tuple<Tensor, Tensor> TensorMethods::qr(bool some) const { return lamella::qr(self_(), some); }
inline Tensor TensorMethods::quantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim, const Text& interpolation) const { return lamella::quantile(self_(), q, dim, keepdim, interpolation); }
inline Tensor TensorMethods::quantile(double q, std::optional<int64_t> dim, bool keepdim, const Text& interpolation) const { return lamella::quantile(self_(), q, dim, keepdim, interpolation); }
inline Tensor TensorMethods::rad2deg() const { return lamella::rad2deg(self_()); }
inline const Tensor& TensorMethods::rad2deg_() const {
  static detail::Callee op_{"aten::rad2deg_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rand_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::rand_like(self_(), options, memory_format); }
inline Tensor TensorMethods::randint_like(int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::randint_like(self_(), high, options, memory_format); }
inline Tensor TensorMethods::randint_like(int64_t low, int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::randint_like(self_(), low, high, options, memory_format); }
inline Tensor TensorMethods::randn_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::randn_like(self_(), options, memory_format); }
inline const Tensor& TensorMethods::random_(const Generator& generator) const {
  static detail::Callee op_{"aten::random_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::random_(int64_t to, const Generator& generator) const {
  static detail::Callee op_{"aten::random_", "to"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(to), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::random_(int64_t from, std::optional<int64_t> to, const Generator& generator) const {
  static detail::Callee op_{"aten::random_", "from"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(from), detail::as<std::optional<int64_t>>(to), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::ravel() const { return lamella::ravel(self_()); }
inline Tensor TensorMethods::real() const { return lamella::real(self_()); }
inline Tensor TensorMethods::reciprocal() const { return lamella::reciprocal(self_()); }
inline const Tensor& TensorMethods::reciprocal_() const {
  static detail::Callee op_{"aten::reciprocal_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::relu() const { return lamella::relu(self_()); }
inline Tensor TensorMethods::relu6() const { return lamella::relu6(self_()); }
inline const Tensor& TensorMethods::relu6_() const { return lamella::relu6_(self_()); }
inline const Tensor& TensorMethods::relu_() const {
  static detail::Callee op_{"aten::relu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::remainder(const Tensor& other) const { return lamella::remainder(self_(), other); }
inline Tensor TensorMethods::remainder(const Scalar& other) const { return lamella::remainder(self_(), other); }
inline const Tensor& TensorMethods::remainder_(const Tensor& other) const {
  static detail::Callee op_{"aten::remainder_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::remainder_(const Scalar& other) const {
  static detail::Callee op_{"aten::remainder_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::renorm(const Scalar& p, int64_t dim, const Scalar& maxnorm) const { return lamella::renorm(self_(), p, dim, maxnorm); }
inline const Tensor& TensorMethods::renorm_(const Scalar& p, int64_t dim, const Scalar& maxnorm) const {
  static detail::Callee op_{"aten::renorm_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(p), detail::as<int64_t>(dim), detail::as<const Scalar&>(maxnorm)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::repeat(IntArrayRef repeats) const { return lamella::repeat(self_(), repeats); }
inline Tensor TensorMethods::repeat_interleave(int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return lamella::repeat_interleave(self_(), repeats, dim, output_size); }
inline Tensor TensorMethods::repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return lamella::repeat_interleave(self_(), repeats, dim, output_size); }
inline Tensor TensorMethods::repeat_interleave(std::optional<int64_t> output_size) const { return lamella::repeat_interleave(self_(), output_size); }
inline Tensor TensorMethods::reshape(IntArrayRef shape) const { return lamella::reshape(self_(), shape); }
inline const Tensor& TensorMethods::resize_(IntArrayRef size, std::optional<MemoryFormat> memory_format) const {
  static detail::Callee op_{"aten::resize_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<IntArrayRef>(size), detail::as<std::optional<MemoryFormat>>(memory_format)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::resize_as_(const Tensor& the_template, std::optional<MemoryFormat> memory_format) const {
  static detail::Callee op_{"aten::resize_as_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(the_template), detail::as<std::optional<MemoryFormat>>(memory_format)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rms_norm(IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) const { return lamella::rms_norm(self_(), normalized_shape, weight, eps); }
inline std::tuple<Tensor, Tensor> TensorMethods::rnn_relu(const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) const { return lamella::rnn_relu(self_(), hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
inline std::tuple<Tensor, Tensor> TensorMethods::rnn_relu(const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) const { return lamella::rnn_relu(self_(), batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
inline Tensor TensorMethods::rnn_relu_cell(const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) const { return lamella::rnn_relu_cell(self_(), hx, w_ih, w_hh, b_ih, b_hh); }
inline std::tuple<Tensor, Tensor> TensorMethods::rnn_tanh(const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) const { return lamella::rnn_tanh(self_(), hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
inline std::tuple<Tensor, Tensor> TensorMethods::rnn_tanh(const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) const { return lamella::rnn_tanh(self_(), batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
inline Tensor TensorMethods::rnn_tanh_cell(const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) const { return lamella::rnn_tanh_cell(self_(), hx, w_ih, w_hh, b_ih, b_hh); }
inline Tensor TensorMethods::roll(IntArrayRef shifts, IntArrayRef dims) const { return lamella::roll(self_(), shifts, dims); }
inline Tensor TensorMethods::rot90(int64_t k, IntArrayRef dims) const { return lamella::rot90(self_(), k, dims); }
inline Tensor TensorMethods::round() const { return lamella::round(self_()); }
inline Tensor TensorMethods::round(int64_t decimals) const { return lamella::round(self_(), decimals); }
inline const Tensor& TensorMethods::round_() const {
  static detail::Callee op_{"aten::round_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::round_(int64_t decimals) const {
  static detail::Callee op_{"aten::round_", "decimals"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(decimals)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rrelu(const Scalar& lower, const Scalar& upper, bool training, const Generator& generator) const { return lamella::rrelu(self_(), lower, upper, training, generator); }
inline const Tensor& TensorMethods::rrelu_(const Scalar& lower, const Scalar& upper, bool training, const Generator& generator) const { return lamella::rrelu_(self_(), lower, upper, training, generator); }
inline Tensor TensorMethods::rsqrt() const { return lamella::rsqrt(self_()); }
inline const Tensor& TensorMethods::rsqrt_() const {
  static detail::Callee op_{"aten::rsqrt_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rsub(const Tensor& other, const Scalar& alpha) const { return lamella::rsub(self_(), other, alpha); }
inline Tensor TensorMethods::rsub(const Scalar& other, const Scalar& alpha) const { return lamella::rsub(self_(), other, alpha); }
inline const Tensor& TensorMethods::rsub_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::rsub_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::rsub_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::rsub_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scaled_dot_product_attention(const Tensor& key, const Tensor& value, const Tensor& attn_mask, double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) const { return lamella::scaled_dot_product_attention(self_(), key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa); }
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Tensor& src) const { return lamella::scatter(self_(), dim, index, src); }
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Scalar& value) const { return lamella::scatter(self_(), dim, index, value); }
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce) const { return lamella::scatter(self_(), dim, index, src, reduce); }
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Scalar& value, const Text& reduce) const { return lamella::scatter(self_(), dim, index, value, reduce); }
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const {
  static detail::Callee op_{"aten::scatter_", "src"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const {
  static detail::Callee op_{"aten::scatter_", "value"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce) const {
  static detail::Callee op_{"aten::scatter_", "reduce"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Scalar& value, const Text& reduce) const {
  static detail::Callee op_{"aten::scatter_", "value_reduce"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Scalar&>(value), detail::as<const Text&>(reduce)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const { return lamella::scatter_add(self_(), dim, index, src); }
inline const Tensor& TensorMethods::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const {
  static detail::Callee op_{"aten::scatter_add_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scatter_reduce(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self) const { return lamella::scatter_reduce(self_(), dim, index, src, reduce, include_self); }
inline const Tensor& TensorMethods::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self) const {
  static detail::Callee op_{"aten::scatter_reduce_", "two"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim), detail::as<const Tensor&>(index), detail::as<const Tensor&>(src), detail::as<const Text&>(reduce), detail::as<bool>(include_self)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::searchsorted(const Tensor& self, bool out_int32, bool right, const Text& side, const Tensor& sorter) const { return lamella::searchsorted(self_(), self, out_int32, right, side, sorter); }
inline Tensor TensorMethods::searchsorted(const Scalar& self, bool out_int32, bool right, const Text& side, const Tensor& sorter) const { return lamella::searchsorted(self_(), self, out_int32, right, side, sorter); }
inline Tensor TensorMethods::segment_reduce(const Text& reduce, const Tensor& lengths, const Tensor& indices, const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial) const { return lamella::segment_reduce(self_(), reduce, lengths, indices, offsets, axis, unsafe, initial); }
inline Tensor TensorMethods::select(int64_t dim, int64_t index) const { return lamella::select(self_(), dim, index); }
inline Tensor TensorMethods::select_copy(int64_t dim, int64_t index) const { return lamella::select_copy(self_(), dim, index); }
inline Tensor TensorMethods::select_scatter(const Tensor& src, int64_t dim, int64_t index) const { return lamella::select_scatter(self_(), src, dim, index); }
inline Tensor TensorMethods::selu() const { return lamella::selu(self_()); }
inline const Tensor& TensorMethods::selu_() const { return lamella::selu_(self_()); }
inline const Tensor& TensorMethods::set_(const Tensor& source) const {
  static detail::Callee op_{"aten::set_", "source_Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(source)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::set_(const Tensor& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) const {
  static detail::Callee op_{"aten::set_", "source_Tensor_storage_offset"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(source), detail::as<int64_t>(storage_offset), detail::as<IntArrayRef>(size), detail::as<IntArrayRef>(stride)};
  op_.written(args_);
  return self_();
}
inline void TensorMethods::set_data(const Tensor& new_data) const { return lamella::set_data(self_(), new_data); }
inline Tensor TensorMethods::sgn() const { return lamella::sgn(self_()); }
inline const Tensor& TensorMethods::sgn_() const {
  static detail::Callee op_{"aten::sgn_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sigmoid() const { return lamella::sigmoid(self_()); }
inline const Tensor& TensorMethods::sigmoid_() const {
  static detail::Callee op_{"aten::sigmoid_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sign() const { return lamella::sign(self_()); }
inline const Tensor& TensorMethods::sign_() const {
  static detail::Callee op_{"aten::sign_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::signbit() const { return lamella::signbit(self_()); }
inline Tensor TensorMethods::silu() const { return lamella::silu(self_()); }
inline const Tensor& TensorMethods::silu_() const { return lamella::silu_(self_()); }
inline Tensor TensorMethods::sin() const { return lamella::sin(self_()); }
inline const Tensor& TensorMethods::sin_() const {
  static detail::Callee op_{"aten::sin_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sinc() const { return lamella::sinc(self_()); }
inline const Tensor& TensorMethods::sinc_() const {
  static detail::Callee op_{"aten::sinc_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sinh() const { return lamella::sinh(self_()); }
inline const Tensor& TensorMethods::sinh_() const {
  static detail::Callee op_{"aten::sinh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return lamella::slice(self_(), dim, start, end, step); }
inline Tensor TensorMethods::slice_copy(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return lamella::slice_copy(self_(), dim, start, end, step); }
inline Tensor TensorMethods::slice_scatter(const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const { return lamella::slice_scatter(self_(), src, dim, start, end, step); }
inline std::tuple<Tensor, Tensor> TensorMethods::slogdet() const { return lamella::slogdet(self_()); }
inline Tensor TensorMethods::smooth_l1_loss(const Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce, const Text& reduction, double beta) const { return lamella::smooth_l1_loss(self_(), target, size_average, reduce, reduction, beta); }
inline Tensor TensorMethods::soft_margin_loss(const Tensor& target, int64_t reduction) const { return lamella::soft_margin_loss(self_(), target, reduction); }
inline Tensor TensorMethods::softmax(int64_t dim, std::optional<ScalarType> dtype) const { return lamella::softmax(self_(), dim, dtype); }
inline Tensor TensorMethods::softplus(const Scalar& beta, const Scalar& threshold) const { return lamella::softplus(self_(), beta, threshold); }
inline const Tensor& TensorMethods::softplus_(const Scalar& beta, const Scalar& threshold) const { return lamella::softplus_(self_(), beta, threshold); }
inline Tensor TensorMethods::softshrink(const Scalar& lambd) const { return lamella::softshrink(self_(), lambd); }
inline const Tensor& TensorMethods::softshrink_(const Scalar& lambd) const { return lamella::softshrink_(self_(), lambd); }
inline std::tuple<Tensor, Tensor> TensorMethods::sort(int64_t dim, bool descending) const { return lamella::sort(self_(), dim, descending); }
inline std::tuple<Tensor, Tensor> TensorMethods::sort(std::optional<bool> stable, int64_t dim, bool descending) const { return lamella::sort(self_(), stable, dim, descending); }
inline Tensor TensorMethods::special_airy_ai() const { return lamella::special_airy_ai(self_()); }
inline Tensor TensorMethods::special_bessel_j0() const { return lamella::special_bessel_j0(self_()); }
inline Tensor TensorMethods::special_bessel_j1() const { return lamella::special_bessel_j1(self_()); }
inline Tensor TensorMethods::special_bessel_y0() const { return lamella::special_bessel_y0(self_()); }
inline Tensor TensorMethods::special_bessel_y1() const { return lamella::special_bessel_y1(self_()); }
inline Tensor TensorMethods::special_chebyshev_polynomial_t(const Tensor& n) const { return lamella::special_chebyshev_polynomial_t(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_t(const Scalar& n) const { return lamella::special_chebyshev_polynomial_t(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_u(const Tensor& n) const { return lamella::special_chebyshev_polynomial_u(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_u(const Scalar& n) const { return lamella::special_chebyshev_polynomial_u(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_v(const Tensor& n) const { return lamella::special_chebyshev_polynomial_v(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_v(const Scalar& n) const { return lamella::special_chebyshev_polynomial_v(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_w(const Tensor& n) const { return lamella::special_chebyshev_polynomial_w(self_(), n); }
inline Tensor TensorMethods::special_chebyshev_polynomial_w(const Scalar& n) const { return lamella::special_chebyshev_polynomial_w(self_(), n); }
inline Tensor TensorMethods::special_entr() const { return lamella::special_entr(self_()); }
inline Tensor TensorMethods::special_erfcx() const { return lamella::special_erfcx(self_()); }
inline Tensor TensorMethods::special_hermite_polynomial_h(const Tensor& n) const { return lamella::special_hermite_polynomial_h(self_(), n); }
inline Tensor TensorMethods::special_hermite_polynomial_h(const Scalar& n) const { return lamella::special_hermite_polynomial_h(self_(), n); }
inline Tensor TensorMethods::special_hermite_polynomial_he(const Tensor& n) const { return lamella::special_hermite_polynomial_he(self_(), n); }
inline Tensor TensorMethods::special_hermite_polynomial_he(const Scalar& n) const { return lamella::special_hermite_polynomial_he(self_(), n); }
inline Tensor TensorMethods::special_i0e() const { return lamella::special_i0e(self_()); }
inline Tensor TensorMethods::special_i1() const { return lamella::special_i1(self_()); }
inline Tensor TensorMethods::special_i1e() const { return lamella::special_i1e(self_()); }
inline Tensor TensorMethods::special_laguerre_polynomial_l(const Tensor& n) const { return lamella::special_laguerre_polynomial_l(self_(), n); }
inline Tensor TensorMethods::special_laguerre_polynomial_l(const Scalar& n) const { return lamella::special_laguerre_polynomial_l(self_(), n); }
inline Tensor TensorMethods::special_legendre_polynomial_p(const Tensor& n) const { return lamella::special_legendre_polynomial_p(self_(), n); }
inline Tensor TensorMethods::special_legendre_polynomial_p(const Scalar& n) const { return lamella::special_legendre_polynomial_p(self_(), n); }
inline Tensor TensorMethods::special_log_ndtr() const { return lamella::special_log_ndtr(self_()); }
inline Tensor TensorMethods::special_modified_bessel_i0() const { return lamella::special_modified_bessel_i0(self_()); }
inline Tensor TensorMethods::special_modified_bessel_i1() const { return lamella::special_modified_bessel_i1(self_()); }
inline Tensor TensorMethods::special_modified_bessel_k0() const { return lamella::special_modified_bessel_k0(self_()); }
inline Tensor TensorMethods::special_modified_bessel_k1() const { return lamella::special_modified_bessel_k1(self_()); }
inline Tensor TensorMethods::special_ndtr() const { return lamella::special_ndtr(self_()); }
inline Tensor TensorMethods::special_ndtri() const { return lamella::special_ndtri(self_()); }
inline Tensor TensorMethods::special_scaled_modified_bessel_k0() const { return lamella::special_scaled_modified_bessel_k0(self_()); }
inline Tensor TensorMethods::special_scaled_modified_bessel_k1() const { return lamella::special_scaled_modified_bessel_k1(self_()); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_t(const Tensor& n) const { return lamella::special_shifted_chebyshev_polynomial_t(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_t(const Scalar& n) const { return lamella::special_shifted_chebyshev_polynomial_t(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_u(const Tensor& n) const { return lamella::special_shifted_chebyshev_polynomial_u(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_u(const Scalar& n) const { return lamella::special_shifted_chebyshev_polynomial_u(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_v(const Tensor& n) const { return lamella::special_shifted_chebyshev_polynomial_v(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_v(const Scalar& n) const { return lamella::special_shifted_chebyshev_polynomial_v(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_w(const Tensor& n) const { return lamella::special_shifted_chebyshev_polynomial_w(self_(), n); }
inline Tensor TensorMethods::special_shifted_chebyshev_polynomial_w(const Scalar& n) const { return lamella::special_shifted_chebyshev_polynomial_w(self_(), n); }
inline Tensor TensorMethods::special_spherical_bessel_j0() const { return lamella::special_spherical_bessel_j0(self_()); }
inline Tensor TensorMethods::special_xlog1py(const Tensor& other) const { return lamella::special_xlog1py(self_(), other); }
inline Tensor TensorMethods::special_xlog1py(const Scalar& other) const { return lamella::special_xlog1py(self_(), other); }
inline Tensor TensorMethods::special_zeta(const Tensor& other) const { return lamella::special_zeta(self_(), other); }
inline Tensor TensorMethods::special_zeta(const Scalar& other) const { return lamella::special_zeta(self_(), other); }
inline std::vector<Tensor> TensorMethods::split(int64_t split_size, int64_t dim) const { return lamella::split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split(IntArrayRef split_size, int64_t dim) const { return lamella::split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split_copy(int64_t split_size, int64_t dim) const { return lamella::split_copy(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split_copy(IntArrayRef split_size, int64_t dim) const { return lamella::split_copy(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split_with_sizes(IntArrayRef split_sizes, int64_t dim) const { return lamella::split_with_sizes(self_(), split_sizes, dim); }
inline std::vector<Tensor> TensorMethods::split_with_sizes_copy(IntArrayRef split_sizes, int64_t dim) const { return lamella::split_with_sizes_copy(self_(), split_sizes, dim); }
inline Tensor TensorMethods::sqrt() const { return lamella::sqrt(self_()); }
inline const Tensor& TensorMethods::sqrt_() const {
  static detail::Callee op_{"aten::sqrt_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::square() const { return lamella::square(self_()); }
inline const Tensor& TensorMethods::square_() const {
  static detail::Callee op_{"aten::square_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::squeeze() const { return lamella::squeeze(self_()); }
inline Tensor TensorMethods::squeeze(int64_t dim) const { return lamella::squeeze(self_(), dim); }
inline Tensor TensorMethods::squeeze(IntArrayRef dim) const { return lamella::squeeze(self_(), dim); }
inline const Tensor& TensorMethods::squeeze_() const {
  static detail::Callee op_{"aten::squeeze_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::squeeze_(int64_t dim) const {
  static detail::Callee op_{"aten::squeeze_", "dim"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::squeeze_(IntArrayRef dim) const {
  static detail::Callee op_{"aten::squeeze_", "dims"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<IntArrayRef>(dim)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::squeeze_copy() const { return lamella::squeeze_copy(self_()); }
inline Tensor TensorMethods::squeeze_copy(int64_t dim) const { return lamella::squeeze_copy(self_(), dim); }
inline Tensor TensorMethods::squeeze_copy(IntArrayRef dim) const { return lamella::squeeze_copy(self_(), dim); }
inline Tensor TensorMethods::std(bool unbiased) const { return lamella::std(self_(), unbiased); }
inline Tensor TensorMethods::std(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lamella::std(self_(), dim, unbiased, keepdim); }
inline Tensor TensorMethods::std(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lamella::std(self_(), dim, correction, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(bool unbiased) const { return lamella::std_mean(self_(), unbiased); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lamella::std_mean(self_(), dim, unbiased, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lamella::std_mean(self_(), dim, correction, keepdim); }
inline Tensor TensorMethods::stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length, const Tensor& window, bool center, const Text& pad_mode, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex, std::optional<bool> align_to_window) const { return lamella::stft(self_(), n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window); }
inline Tensor TensorMethods::sub(const Tensor& other, const Scalar& alpha) const { return lamella::sub(self_(), other, alpha); }
inline Tensor TensorMethods::sub(const Scalar& other, const Scalar& alpha) const { return lamella::sub(self_(), other, alpha); }
inline const Tensor& TensorMethods::sub_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::sub_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::sub_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::subtract(const Tensor& other, const Scalar& alpha) const { return lamella::subtract(self_(), other, alpha); }
inline Tensor TensorMethods::subtract(const Scalar& other, const Scalar& alpha) const { return lamella::subtract(self_(), other, alpha); }
inline const Tensor& TensorMethods::subtract_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::subtract_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::subtract_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::subtract_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Scalar&>(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sum(std::optional<ScalarType> dtype) const { return lamella::sum(self_(), dtype); }
inline Tensor TensorMethods::sum(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lamella::sum(self_(), dim, keepdim, dtype); }
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::svd(bool some, bool compute_uv) const { return lamella::svd(self_(), some, compute_uv); }
inline Tensor TensorMethods::swapaxes(int64_t axis0, int64_t axis1) const { return lamella::swapaxes(self_(), axis0, axis1); }
inline const Tensor& TensorMethods::swapaxes_(int64_t axis0, int64_t axis1) const {
  static detail::Callee op_{"aten::swapaxes_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(axis0), detail::as<int64_t>(axis1)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::swapdims(int64_t dim0, int64_t dim1) const { return lamella::swapdims(self_(), dim0, dim1); }
inline const Tensor& TensorMethods::swapdims_(int64_t dim0, int64_t dim1) const {
  static detail::Callee op_{"aten::swapdims_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::t() const { return lamella::t(self_()); }
inline const Tensor& TensorMethods::t_() const {
  static detail::Callee op_{"aten::t_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::t_copy() const { return lamella::t_copy(self_()); }
inline Tensor TensorMethods::take(const Tensor& index) const { return lamella::take(self_(), index); }
inline Tensor TensorMethods::take_along_dim(const Tensor& indices, std::optional<int64_t> dim) const { return lamella::take_along_dim(self_(), indices, dim); }
inline Tensor TensorMethods::tan() const { return lamella::tan(self_()); }
inline const Tensor& TensorMethods::tan_() const {
  static detail::Callee op_{"aten::tan_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::tanh() const { return lamella::tanh(self_()); }
inline const Tensor& TensorMethods::tanh_() const {
  static detail::Callee op_{"aten::tanh_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::tanhshrink() const { return lamella::tanhshrink(self_()); }
inline const Tensor& TensorMethods::tanhshrink_() const { return lamella::tanhshrink_(self_()); }
inline std::vector<Tensor> TensorMethods::tensor_split(int64_t sections, int64_t dim) const { return lamella::tensor_split(self_(), sections, dim); }
inline std::vector<Tensor> TensorMethods::tensor_split(IntArrayRef indices, int64_t dim) const { return lamella::tensor_split(self_(), indices, dim); }
inline std::vector<Tensor> TensorMethods::tensor_split(const Tensor& tensor_indices_or_sections, int64_t dim) const { return lamella::tensor_split(self_(), tensor_indices_or_sections, dim); }
inline Tensor TensorMethods::tensordot(const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) const { return lamella::tensordot(self_(), other, dims_self, dims_other); }
inline Tensor TensorMethods::tensordot(const Tensor& other, int64_t dims) const { return lamella::tensordot(self_(), other, dims); }
inline Tensor TensorMethods::threshold(const Scalar& threshold, const Scalar& value) const { return lamella::threshold(self_(), threshold, value); }
inline const Tensor& TensorMethods::threshold_(const Scalar& threshold, const Scalar& value) const { return lamella::threshold_(self_(), threshold, value); }
inline Tensor TensorMethods::tile(IntArrayRef dims) const { return lamella::tile(self_(), dims); }
inline Tensor TensorMethods::to(ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const { return lamella::to(self_(), dtype, non_blocking, copy, memory_format); }
inline Tensor TensorMethods::to(const std::optional<Device>& device, std::optional<ScalarType> dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const { return lamella::to(self_(), device, dtype, non_blocking, copy, memory_format); }
inline Tensor TensorMethods::to(const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const { return lamella::to(self_(), other, non_blocking, copy, memory_format); }
inline std::tuple<Tensor, Tensor> TensorMethods::topk(int64_t k, int64_t dim, bool largest, bool sorted) const { return lamella::topk(self_(), k, dim, largest, sorted); }
inline Tensor TensorMethods::trace() const { return lamella::trace(self_()); }
inline Tensor TensorMethods::transpose(int64_t dim0, int64_t dim1) const { return lamella::transpose(self_(), dim0, dim1); }
inline const Tensor& TensorMethods::transpose_(int64_t dim0, int64_t dim1) const {
  static detail::Callee op_{"aten::transpose_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim0), detail::as<int64_t>(dim1)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::transpose_copy(int64_t dim0, int64_t dim1) const { return lamella::transpose_copy(self_(), dim0, dim1); }
inline Tensor TensorMethods::trapezoid(const Tensor& x, int64_t dim) const { return lamella::trapezoid(self_(), x, dim); }
inline Tensor TensorMethods::trapezoid(const Scalar& dx, int64_t dim) const { return lamella::trapezoid(self_(), dx, dim); }
inline Tensor TensorMethods::trapz(const Tensor& x, int64_t dim) const { return lamella::trapz(self_(), x, dim); }
inline Tensor TensorMethods::trapz(const Scalar& dx, int64_t dim) const { return lamella::trapz(self_(), dx, dim); }
inline std::tuple<Tensor, Tensor> TensorMethods::triangular_solve(const Tensor& A, bool upper, bool transpose, bool unitriangular) const { return lamella::triangular_solve(self_(), A, upper, transpose, unitriangular); }
inline Tensor TensorMethods::tril(int64_t diagonal) const { return lamella::tril(self_(), diagonal); }
inline const Tensor& TensorMethods::tril_(int64_t diagonal) const {
  static detail::Callee op_{"aten::tril_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(diagonal)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::triplet_margin_loss(const Tensor& positive, const Tensor& negative, double margin, double p, double eps, bool swap, int64_t reduction) const { return lamella::triplet_margin_loss(self_(), positive, negative, margin, p, eps, swap, reduction); }
inline Tensor TensorMethods::triu(int64_t diagonal) const { return lamella::triu(self_(), diagonal); }
inline const Tensor& TensorMethods::triu_(int64_t diagonal) const {
  static detail::Callee op_{"aten::triu_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(diagonal)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::true_divide(const Tensor& other) const { return lamella::true_divide(self_(), other); }
inline Tensor TensorMethods::true_divide(const Scalar& other) const { return lamella::true_divide(self_(), other); }
inline Tensor TensorMethods::true_divide(const Tensor& other, const Text& rounding_mode) const { return lamella::true_divide(self_(), other, rounding_mode); }
inline Tensor TensorMethods::true_divide(const Scalar& other, const Text& rounding_mode) const { return lamella::true_divide(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::true_divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::true_divide_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::true_divide_", "Scalar"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::true_divide_", "Tensor_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::true_divide_", "Scalar_mode"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other), detail::as<const Text&>(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::trunc() const { return lamella::trunc(self_()); }
inline const Tensor& TensorMethods::trunc_() const {
  static detail::Callee op_{"aten::trunc_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline std::vector<Tensor> TensorMethods::unbind(int64_t dim) const { return lamella::unbind(self_(), dim); }
inline std::vector<Tensor> TensorMethods::unbind_copy(int64_t dim) const { return lamella::unbind_copy(self_(), dim); }
inline Tensor TensorMethods::unflatten(int64_t dim, IntArrayRef sizes) const { return lamella::unflatten(self_(), dim, sizes); }
inline Tensor TensorMethods::unfold(int64_t dimension, int64_t size, int64_t step) const { return lamella::unfold(self_(), dimension, size, step); }
inline Tensor TensorMethods::unfold_copy(int64_t dimension, int64_t size, int64_t step) const { return lamella::unfold_copy(self_(), dimension, size, step); }
inline const Tensor& TensorMethods::uniform_(double from, double to, const Generator& generator) const {
  static detail::Callee op_{"aten::uniform_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<double>(from), detail::as<double>(to), detail::as<const Generator&>(generator)};
  op_.written(args_);
  return self_();
}
inline std::tuple<Tensor, Tensor, Tensor> TensorMethods::unique_dim(int64_t dim, bool sorted, bool return_inverse, bool return_counts) const { return lamella::unique_dim(self_(), dim, sorted, return_inverse, return_counts); }
inline std::vector<Tensor> TensorMethods::unsafe_chunk(int64_t chunks, int64_t dim) const { return lamella::unsafe_chunk(self_(), chunks, dim); }
inline std::vector<Tensor> TensorMethods::unsafe_split(int64_t split_size, int64_t dim) const { return lamella::unsafe_split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::unsafe_split(IntArrayRef split_size, int64_t dim) const { return lamella::unsafe_split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::unsafe_split_with_sizes(IntArrayRef split_sizes, int64_t dim) const { return lamella::unsafe_split_with_sizes(self_(), split_sizes, dim); }
inline Tensor TensorMethods::unsqueeze(int64_t dim) const { return lamella::unsqueeze(self_(), dim); }
inline const Tensor& TensorMethods::unsqueeze_(int64_t dim) const {
  static detail::Callee op_{"aten::unsqueeze_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<int64_t>(dim)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::unsqueeze_copy(int64_t dim) const { return lamella::unsqueeze_copy(self_(), dim); }
inline Tensor TensorMethods::upsample_bicubic2d(IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return lamella::upsample_bicubic2d(self_(), output_size, align_corners, scales_h, scales_w); }
inline Tensor TensorMethods::upsample_bilinear2d(IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return lamella::upsample_bilinear2d(self_(), output_size, align_corners, scales_h, scales_w); }
inline Tensor TensorMethods::upsample_linear1d(IntArrayRef output_size, bool align_corners, std::optional<double> scales) const { return lamella::upsample_linear1d(self_(), output_size, align_corners, scales); }
inline Tensor TensorMethods::upsample_nearest1d(IntArrayRef output_size, std::optional<double> scales) const { return lamella::upsample_nearest1d(self_(), output_size, scales); }
inline Tensor TensorMethods::upsample_nearest2d(IntArrayRef output_size, std::optional<double> scales_h, std::optional<double> scales_w) const { return lamella::upsample_nearest2d(self_(), output_size, scales_h, scales_w); }
inline Tensor TensorMethods::upsample_nearest3d(IntArrayRef output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) const { return lamella::upsample_nearest3d(self_(), output_size, scales_d, scales_h, scales_w); }
inline Tensor TensorMethods::upsample_trilinear3d(IntArrayRef output_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) const { return lamella::upsample_trilinear3d(self_(), output_size, align_corners, scales_d, scales_h, scales_w); }
inline Tensor TensorMethods::vander(std::optional<int64_t> N, bool increasing) const { return lamella::vander(self_(), N, increasing); }
inline Tensor TensorMethods::var(bool unbiased) const { return lamella::var(self_(), unbiased); }
inline Tensor TensorMethods::var(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lamella::var(self_(), dim, unbiased, keepdim); }
inline Tensor TensorMethods::var(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lamella::var(self_(), dim, correction, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(bool unbiased) const { return lamella::var_mean(self_(), unbiased); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lamella::var_mean(self_(), dim, unbiased, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lamella::var_mean(self_(), dim, correction, keepdim); }
inline Tensor TensorMethods::vdot(const Tensor& other) const { return lamella::vdot(self_(), other); }
inline Tensor TensorMethods::view(IntArrayRef size) const { return lamella::view(self_(), size); }
inline Tensor TensorMethods::view(ScalarType dtype) const { return lamella::view(self_(), dtype); }
inline Tensor TensorMethods::view_as(const Tensor& other) const { return lamella::view_as(self_(), other); }
inline Tensor TensorMethods::view_as_complex() const { return lamella::view_as_complex(self_()); }
inline Tensor TensorMethods::view_as_complex_copy() const { return lamella::view_as_complex_copy(self_()); }
inline Tensor TensorMethods::view_as_real() const { return lamella::view_as_real(self_()); }
inline Tensor TensorMethods::view_as_real_copy() const { return lamella::view_as_real_copy(self_()); }
inline Tensor TensorMethods::view_copy(IntArrayRef size) const { return lamella::view_copy(self_(), size); }
inline Tensor TensorMethods::view_copy(ScalarType dtype) const { return lamella::view_copy(self_(), dtype); }
inline std::vector<Tensor> TensorMethods::vsplit(int64_t sections) const { return lamella::vsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::vsplit(IntArrayRef indices) const { return lamella::vsplit(self_(), indices); }
inline Tensor TensorMethods::where(const Tensor& self, const Tensor& other) const { return lamella::where(self_(), self, other); }
inline Tensor TensorMethods::where(const Scalar& self, const Tensor& other) const { return lamella::where(self_(), self, other); }
inline Tensor TensorMethods::where(const Tensor& self, const Scalar& other) const { return lamella::where(self_(), self, other); }
inline Tensor TensorMethods::where(const Scalar& self, const Scalar& other) const { return lamella::where(self_(), self, other); }
inline std::vector<Tensor> TensorMethods::where() const { return lamella::where(self_()); }
inline Tensor TensorMethods::xlogy(const Tensor& other) const { return lamella::xlogy(self_(), other); }
inline Tensor TensorMethods::xlogy(const Scalar& other) const { return lamella::xlogy(self_(), other); }
inline const Tensor& TensorMethods::xlogy_(const Tensor& other) const {
  static detail::Callee op_{"aten::xlogy_", "Tensor"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Tensor&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::xlogy_(const Scalar& other) const {
  static detail::Callee op_{"aten::xlogy_", "Scalar_Other"};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_()), detail::as<const Scalar&>(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::zero_() const {
  static detail::Callee op_{"aten::zero_", ""};
  const lamella_value args_[] = {detail::as<const Tensor&>(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::zeros_like(const TensorOptions& options, std::optional<MemoryFormat> memory_format) const { return lamella::zeros_like(self_(), options, memory_format); }

}  // namespace lamella
#pragma GCC visibility pop

#endif
