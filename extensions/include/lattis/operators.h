/* The operators: lattis::add(x, y), x.add(y), x.add_(y), lattis::add_out(out, x, y). Made by `make stubs` from the live registry; a test compares. Do not edit. */

#ifndef LATTIS_OPERATORS_H
#define LATTIS_OPERATORS_H

#include <lattis/tensor.h>

#pragma GCC visibility push(hidden)
namespace lattis {

inline const Tensor& TensorMethods::self_() const { return static_cast<const Tensor&>(*this); }
inline Tensor abs(const Tensor& self) {
  static detail::Callee op_{"aten::abs", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& abs_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::abs", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor absolute(const Tensor& self) {
  static detail::Callee op_{"aten::absolute", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& absolute_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::absolute", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor acos(const Tensor& self) {
  static detail::Callee op_{"aten::acos", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& acos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::acos", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor acosh(const Tensor& self) {
  static detail::Callee op_{"aten::acosh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& acosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::acosh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  static detail::Callee op_{"aten::adaptive_avg_pool1d", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(output_size)};
  return op_.tensor(args_);
}
inline Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& add_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& add_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::add", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addbmm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addbmm_out(const Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addbmm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcdiv", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value)};
  return op_.tensor(args_);
}
inline const Tensor& addcdiv_out(const Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcdiv", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcmul", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value)};
  return op_.tensor(args_);
}
inline const Tensor& addcmul_out(const Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) {
  static detail::Callee op_{"aten::addcmul", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat1), lattis::value(mat2), lattis::value(beta), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addmm_out(const Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat1), lattis::value(mat2), lattis::value(beta), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmv", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat), lattis::value(vec), lattis::value(beta), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addmv_out(const Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addmv", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat), lattis::value(vec), lattis::value(beta), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addr", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec1), lattis::value(vec2), lattis::value(beta), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& addr_out(const Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::addr", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec1), lattis::value(vec2), lattis::value(beta), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor all(const Tensor& self) {
  static detail::Callee op_{"aten::all", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor all(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline Tensor all(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dims"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::all", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& all_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::all", "dims_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amax", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& amax_out(const Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amax", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amin", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& amin_out(const Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::amin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::aminmax", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> aminmax_out(const Tensor& min, const Tensor& max, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::aminmax", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(min), lattis::value(max)};
  op_.written<2>(args_);
  return {min, max};
}
inline Tensor angle(const Tensor& self) {
  static detail::Callee op_{"aten::angle", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& angle_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::angle", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor any(const Tensor& self) {
  static detail::Callee op_{"aten::any", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor any(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline Tensor any(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dims"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::any", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& any_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false) {
  static detail::Callee op_{"aten::any", "dims_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", ""};
  const lattis_value args_[] = {lattis::value(end), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start"};
  const lattis_value args_[] = {lattis::value(start), lattis::value(end), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::arange", "start_step"};
  const lattis_value args_[] = {lattis::value(start), lattis::value(end), lattis::value(step), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor arccos(const Tensor& self) {
  static detail::Callee op_{"aten::arccos", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& arccos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arccos", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arccosh(const Tensor& self) {
  static detail::Callee op_{"aten::arccosh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& arccosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arccosh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arcsin(const Tensor& self) {
  static detail::Callee op_{"aten::arcsin", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& arcsin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arcsin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arcsinh(const Tensor& self) {
  static detail::Callee op_{"aten::arcsinh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& arcsinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arcsinh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arctan(const Tensor& self) {
  static detail::Callee op_{"aten::arctan", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor arctan2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::arctan2", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& arctan2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::arctan2", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& arctan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arctan", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor arctanh(const Tensor& self) {
  static detail::Callee op_{"aten::arctanh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& arctanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::arctanh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmax", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& argmax_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmax", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmin", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& argmin_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false) {
  static detail::Callee op_{"aten::argmin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::argsort", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(descending)};
  return op_.tensor(args_);
}
inline Tensor argsort(const Tensor& self, bool stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::argsort", "stable"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(stable), lattis::value(dim), lattis::value(descending)};
  return op_.tensor(args_);
}
inline Tensor argwhere(const Tensor& self) {
  static detail::Callee op_{"aten::argwhere", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) {
  static detail::Callee op_{"aten::as_strided", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(size), lattis::value(stride), lattis::value(storage_offset)};
  return op_.tensor(args_);
}
inline Tensor asin(const Tensor& self) {
  static detail::Callee op_{"aten::asin", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& asin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::asin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor asinh(const Tensor& self) {
  static detail::Callee op_{"aten::asinh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& asinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::asinh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor atan(const Tensor& self) {
  static detail::Callee op_{"aten::atan", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor atan2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::atan2", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& atan2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::atan2", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& atan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::atan", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor atanh(const Tensor& self) {
  static detail::Callee op_{"aten::atanh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& atanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::atanh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor atleast_1d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_1d", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor atleast_2d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_2d", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor atleast_3d(const Tensor& self) {
  static detail::Callee op_{"aten::atleast_3d", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true) {
  static detail::Callee op_{"aten::avg_pool1d", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(kernel_size), lattis::value(stride), lattis::value(padding), lattis::value(ceil_mode), lattis::value(count_include_pad)};
  return op_.tensor(args_);
}
inline Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::baddbmm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& baddbmm_out(const Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::baddbmm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled) {
  static detail::Callee op_{"aten::batch_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), lattis::value(running_mean), lattis::value(running_var), lattis::value(training), lattis::value(momentum), lattis::value(eps), lattis::value(cudnn_enabled)};
  return op_.tensor(args_);
}
inline Tensor bernoulli(const Tensor& self, const Generator& generator = {}) {
  static detail::Callee op_{"aten::bernoulli", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor bernoulli(const Tensor& self, double p, const Generator& generator = {}) {
  static detail::Callee op_{"aten::bernoulli", "p"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(p), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_and(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_and_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_and", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_left_shift(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_left_shift(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Tensor_Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_left_shift_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_left_shift", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_not(const Tensor& self) {
  static detail::Callee op_{"aten::bitwise_not", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_not_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::bitwise_not", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_or(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_or(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_or_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_or", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_right_shift(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_right_shift(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Tensor_Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_right_shift_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_right_shift", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_xor(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor bitwise_xor(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& bitwise_xor_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::bitwise_xor", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor bmm(const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::bmm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat2)};
  return op_.tensor(args_);
}
inline const Tensor& bmm_out(const Tensor& out, const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::bmm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat2), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  static detail::Callee op_{"aten::broadcast_tensors", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensors(args_);
}
inline Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  static detail::Callee op_{"aten::broadcast_to", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(size)};
  return op_.tensor(args_);
}
inline Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(boundaries), lattis::value(out_int32), lattis::value(right)};
  return op_.tensor(args_);
}
inline Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(boundaries), lattis::value(out_int32), lattis::value(right)};
  return op_.tensor(args_);
}
inline const Tensor& bucketize_out(const Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false) {
  static detail::Callee op_{"aten::bucketize", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(boundaries), lattis::value(out_int32), lattis::value(right), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor cat(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::cat", ""};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& cat_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::cat", "out"};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor ceil(const Tensor& self) {
  static detail::Callee op_{"aten::ceil", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& ceil_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::ceil", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor celu(const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& celu_(const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu_", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(alpha)};
  op_.written(args_);
  return self;
}
inline const Tensor& celu_out(const Tensor& out, const Tensor& self, const Scalar& alpha = 1.0) {
  static detail::Callee op_{"aten::celu", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0) {
  static detail::Callee op_{"aten::chunk", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(chunks), lattis::value(dim)};
  return op_.tensors(args_);
}
inline Tensor clamp(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clamp", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max)};
  return op_.tensor(args_);
}
inline Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clamp", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max)};
  return op_.tensor(args_);
}
inline Tensor clamp_max(const Tensor& self, const Scalar& max) {
  static detail::Callee op_{"aten::clamp_max", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(max)};
  return op_.tensor(args_);
}
inline Tensor clamp_max(const Tensor& self, const Tensor& max) {
  static detail::Callee op_{"aten::clamp_max", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(max)};
  return op_.tensor(args_);
}
inline const Tensor& clamp_max_out(const Tensor& out, const Tensor& self, const Scalar& max) {
  static detail::Callee op_{"aten::clamp_max", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_max_out(const Tensor& out, const Tensor& self, const Tensor& max) {
  static detail::Callee op_{"aten::clamp_max", "Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor clamp_min(const Tensor& self, const Scalar& min) {
  static detail::Callee op_{"aten::clamp_min", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min)};
  return op_.tensor(args_);
}
inline Tensor clamp_min(const Tensor& self, const Tensor& min) {
  static detail::Callee op_{"aten::clamp_min", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min)};
  return op_.tensor(args_);
}
inline const Tensor& clamp_min_out(const Tensor& out, const Tensor& self, const Scalar& min) {
  static detail::Callee op_{"aten::clamp_min", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_min_out(const Tensor& out, const Tensor& self, const Tensor& min) {
  static detail::Callee op_{"aten::clamp_min", "Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clamp", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clamp_out(const Tensor& out, const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clamp", "Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor clip(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clip", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max)};
  return op_.tensor(args_);
}
inline Tensor clip(const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clip", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max)};
  return op_.tensor(args_);
}
inline const Tensor& clip_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) {
  static detail::Callee op_{"aten::clip", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& clip_out(const Tensor& out, const Tensor& self, const Tensor& min, const Tensor& max = undefined()) {
  static detail::Callee op_{"aten::clip", "Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(min), lattis::value(max), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::clone", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(memory_format)};
  return op_.tensor(args_);
}
inline Tensor column_stack(TensorList tensors) {
  static detail::Callee op_{"aten::column_stack", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensor(args_);
}
inline Tensor complex(const Tensor& real, const Tensor& imag) {
  static detail::Callee op_{"aten::complex", ""};
  const lattis_value args_[] = {lattis::value(real), lattis::value(imag)};
  return op_.tensor(args_);
}
inline const Tensor& complex_out(const Tensor& out, const Tensor& real, const Tensor& imag) {
  static detail::Callee op_{"aten::complex", "out"};
  const lattis_value args_[] = {lattis::value(real), lattis::value(imag), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor concat(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concat", ""};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& concat_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concat", "out"};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor concatenate(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concatenate", ""};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& concatenate_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::concatenate", "out"};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor conj(const Tensor& self) {
  static detail::Callee op_{"aten::conj", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor conj_physical(const Tensor& self) {
  static detail::Callee op_{"aten::conj_physical", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& conj_physical_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::conj_physical", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0) {
  static detail::Callee op_{"aten::constant_pad_nd", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(pad), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv1d", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), lattis::value(stride), lattis::value(padding), lattis::value(dilation), lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv1d", "padding"};
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), lattis::value(stride), lattis::value(padding), lattis::value(dilation), lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv2d", ""};
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list4_(padding);
  const detail::Repeated<2> list5_(dilation);
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), list3_, list4_, list5_, lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv2d", "padding"};
  const detail::Repeated<2> list3_(stride);
  const detail::Repeated<2> list5_(dilation);
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), list3_, lattis::value(padding), list5_, lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = undefined(), IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv3d", ""};
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list4_(padding);
  const detail::Repeated<3> list5_(dilation);
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), list3_, list4_, list5_, lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, const Text& padding, IntArrayRef dilation = 1, int64_t groups = 1) {
  static detail::Callee op_{"aten::conv3d", "padding"};
  const detail::Repeated<3> list3_(stride);
  const detail::Repeated<3> list5_(dilation);
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), list3_, lattis::value(padding), list5_, lattis::value(groups)};
  return op_.tensor(args_);
}
inline Tensor copysign(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::copysign", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor copysign(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::copysign", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& copysign_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::copysign", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& copysign_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::copysign", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor cos(const Tensor& self) {
  static detail::Callee op_{"aten::cos", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& cos_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::cos", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor cosh(const Tensor& self) {
  static detail::Callee op_{"aten::cosh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& cosh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::cosh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::count_nonzero", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensor(args_);
}
inline Tensor count_nonzero(const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::count_nonzero", "dim_IntList"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& count_nonzero_out(const Tensor& out, const Tensor& self, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::count_nonzero", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& count_nonzero_out(const Tensor& out, const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::count_nonzero", "dim_IntList_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumprod", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& cumprod_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumprod", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumsum", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& cumsum_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::cumsum", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor deg2rad(const Tensor& self) {
  static detail::Callee op_{"aten::deg2rad", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& deg2rad_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::deg2rad", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor detach(const Tensor& self) {
  static detail::Callee op_{"aten::detach", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor diag(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::diag", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(diagonal)};
  return op_.tensor(args_);
}
inline Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) {
  static detail::Callee op_{"aten::diag_embed", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(offset), lattis::value(dim1), lattis::value(dim2)};
  return op_.tensor(args_);
}
inline Tensor diagflat(const Tensor& self, int64_t offset = 0) {
  static detail::Callee op_{"aten::diagflat", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(offset)};
  return op_.tensor(args_);
}
inline Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  static detail::Callee op_{"aten::diagonal", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(offset), lattis::value(dim1), lattis::value(dim2)};
  return op_.tensor(args_);
}
inline Tensor digamma(const Tensor& self) {
  static detail::Callee op_{"aten::digamma", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& digamma_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::digamma", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor div(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::div", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor div(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor div(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::div", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::div", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Tensor_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& div_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::div", "Scalar_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::divide", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor divide(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::divide", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::divide", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Tensor_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& divide_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::divide", "Scalar_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor dot(const Tensor& self, const Tensor& tensor) {
  static detail::Callee op_{"aten::dot", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor)};
  return op_.tensor(args_);
}
inline const Tensor& dot_out(const Tensor& out, const Tensor& self, const Tensor& tensor) {
  static detail::Callee op_{"aten::dot", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(tensor), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor dropout(const Tensor& input, double p, bool train) {
  static detail::Callee op_{"aten::dropout", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(p), lattis::value(train)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::dsplit", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::dsplit", "array"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices)};
  return op_.tensors(args_);
}
inline Tensor dstack(TensorList tensors) {
  static detail::Callee op_{"aten::dstack", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensor(args_);
}
inline Tensor einsum(const Text& equation, TensorList tensors) {
  static detail::Callee op_{"aten::einsum", ""};
  const lattis_value args_[] = {lattis::value(equation), lattis::value(tensors)};
  return op_.tensor(args_);
}
inline Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false, bool sparse = false) {
  static detail::Callee op_{"aten::embedding", ""};
  const lattis_value args_[] = {lattis::value(weight), lattis::value(indices), lattis::value(padding_idx), lattis::value(scale_grad_by_freq), lattis::value(sparse)};
  return op_.tensor(args_);
}
inline Tensor empty(IntArrayRef size, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::empty", "memory_format"};
  const lattis_value args_[] = {lattis::value(size), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor empty_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::empty_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::empty_strided", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(stride), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor eq(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::eq", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor eq(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::eq", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& eq_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::eq", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& eq_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::eq", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor erf(const Tensor& self) {
  static detail::Callee op_{"aten::erf", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& erf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erf", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor erfc(const Tensor& self) {
  static detail::Callee op_{"aten::erfc", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& erfc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erfc", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor erfinv(const Tensor& self) {
  static detail::Callee op_{"aten::erfinv", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& erfinv_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::erfinv", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor exp(const Tensor& self) {
  static detail::Callee op_{"aten::exp", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor exp2(const Tensor& self) {
  static detail::Callee op_{"aten::exp2", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& exp2_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::exp2", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& exp_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::exp", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor expm1(const Tensor& self) {
  static detail::Callee op_{"aten::expm1", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& expm1_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::expm1", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor eye(int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", ""};
  const lattis_value args_[] = {lattis::value(n), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::eye", "m"};
  const lattis_value args_[] = {lattis::value(n), lattis::value(m), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor fix(const Tensor& self) {
  static detail::Callee op_{"aten::fix", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& fix_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::fix", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) {
  static detail::Callee op_{"aten::flatten", "using_ints"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(start_dim), lattis::value(end_dim)};
  return op_.tensor(args_);
}
inline Tensor flip(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::flip", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dims)};
  return op_.tensor(args_);
}
inline Tensor fliplr(const Tensor& self) {
  static detail::Callee op_{"aten::fliplr", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor flipud(const Tensor& self) {
  static detail::Callee op_{"aten::flipud", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline Tensor float_power(const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline const Tensor& float_power_out(const Tensor& out, const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& float_power_out(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::float_power", "Tensor_Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& float_power_out(const Tensor& out, const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::float_power", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor floor(const Tensor& self) {
  static detail::Callee op_{"aten::floor", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor floor_divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& floor_divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::floor_divide", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& floor_divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::floor_divide", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& floor_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::floor", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmax(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmax", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmax_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmax", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmin(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmin", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmin_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor fmod(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmod", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor fmod(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::fmod", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& fmod_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::fmod", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& fmod_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::fmod", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor frac(const Tensor& self) {
  static detail::Callee op_{"aten::frac", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& frac_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::frac", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::full", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(fill_value), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::full_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(fill_value), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false) {
  static detail::Callee op_{"aten::gather", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(sparse_grad)};
  return op_.tensor(args_);
}
inline const Tensor& gather_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false) {
  static detail::Callee op_{"aten::gather", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(sparse_grad), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor ge(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ge", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor ge(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ge", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& ge_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ge", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& ge_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ge", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor ger(const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::ger", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec2)};
  return op_.tensor(args_);
}
inline const Tensor& ger_out(const Tensor& out, const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::ger", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec2), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor greater(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor greater(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor greater_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater_equal", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor greater_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater_equal", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& greater_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater_equal", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater_equal", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::greater", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& greater_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::greater", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = undefined(), const Tensor& bias = undefined(), double eps = 1e-05, bool cudnn_enabled = true) {
  static detail::Callee op_{"aten::group_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(num_groups), lattis::value(weight), lattis::value(bias), lattis::value(eps), lattis::value(cudnn_enabled)};
  return op_.tensor(args_);
}
inline Tensor gt(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gt", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor gt(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::gt", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& gt_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::gt", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& gt_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::gt", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::hardshrink", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(lambd)};
  return op_.tensor(args_);
}
inline const Tensor& hardshrink_out(const Tensor& out, const Tensor& self, const Scalar& lambd = 0.5) {
  static detail::Callee op_{"aten::hardshrink", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(lambd), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor heaviside(const Tensor& self, const Tensor& values) {
  static detail::Callee op_{"aten::heaviside", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(values)};
  return op_.tensor(args_);
}
inline const Tensor& heaviside_out(const Tensor& out, const Tensor& self, const Tensor& values) {
  static detail::Callee op_{"aten::heaviside", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(values), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::hsplit", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::hsplit", "array"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices)};
  return op_.tensors(args_);
}
inline Tensor hstack(TensorList tensors) {
  static detail::Callee op_{"aten::hstack", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensor(args_);
}
inline Tensor hypot(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::hypot", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& hypot_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::hypot", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor imag(const Tensor& self) {
  static detail::Callee op_{"aten::imag", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::index_add", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(source), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  static detail::Callee op_{"aten::index_copy", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(source)};
  return op_.tensor(args_);
}
inline Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::index_fill", "int_Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  static detail::Callee op_{"aten::index_fill", "int_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate = false) {
  static detail::Callee op_{"aten::index_put", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices), lattis::value(values), lattis::value(accumulate)};
  return op_.tensor(args_);
}
inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  static detail::Callee op_{"aten::index_select", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index)};
  return op_.tensor(args_);
}
inline const Tensor& index_select_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  static detail::Callee op_{"aten::index_select", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor inner(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::inner", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& inner_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::inner", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false) {
  static detail::Callee op_{"aten::isclose", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rtol), lattis::value(atol), lattis::value(equal_nan)};
  return op_.tensor(args_);
}
inline Tensor isfinite(const Tensor& self) {
  static detail::Callee op_{"aten::isfinite", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor isinf(const Tensor& self) {
  static detail::Callee op_{"aten::isinf", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor isnan(const Tensor& self) {
  static detail::Callee op_{"aten::isnan", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor isneginf(const Tensor& self) {
  static detail::Callee op_{"aten::isneginf", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& isneginf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::isneginf", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor isposinf(const Tensor& self) {
  static detail::Callee op_{"aten::isposinf", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& isposinf_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::isposinf", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor kron(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::kron", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& kron_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::kron", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::kthvalue", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(k), lattis::value(dim), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> kthvalue_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false) {
  static detail::Callee op_{"aten::kthvalue", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(k), lattis::value(dim), lattis::value(keepdim), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = undefined(), const Tensor& bias = undefined(), double eps = 1e-05, bool cudnn_enable = true) {
  static detail::Callee op_{"aten::layer_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(normalized_shape), lattis::value(weight), lattis::value(bias), lattis::value(eps), lattis::value(cudnn_enable)};
  return op_.tensor(args_);
}
inline Tensor le(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::le", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor le(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::le", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& le_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::le", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& le_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::le", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  static detail::Callee op_{"aten::lerp", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(end), lattis::value(weight)};
  return op_.tensor(args_);
}
inline Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  static detail::Callee op_{"aten::lerp", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(end), lattis::value(weight)};
  return op_.tensor(args_);
}
inline const Tensor& lerp_out(const Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight) {
  static detail::Callee op_{"aten::lerp", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(end), lattis::value(weight), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& lerp_out(const Tensor& out, const Tensor& self, const Tensor& end, const Scalar& weight) {
  static detail::Callee op_{"aten::lerp", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(end), lattis::value(weight), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor less(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor less(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor less_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less_equal", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor less_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less_equal", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& less_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less_equal", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less_equal", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::less", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& less_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::less", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor lgamma(const Tensor& self) {
  static detail::Callee op_{"aten::lgamma", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& lgamma_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::lgamma", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::linspace", ""};
  const lattis_value args_[] = {lattis::value(start), lattis::value(end), lattis::value(steps), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor log(const Tensor& self) {
  static detail::Callee op_{"aten::log", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor log10(const Tensor& self) {
  static detail::Callee op_{"aten::log10", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& log10_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log10", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor log1p(const Tensor& self) {
  static detail::Callee op_{"aten::log1p", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& log1p_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log1p", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor log2(const Tensor& self) {
  static detail::Callee op_{"aten::log2", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& log2_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log2", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& log_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::log", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::log_softmax", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& log_softmax_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::log_softmax", "int_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logaddexp(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp2", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& logaddexp2_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp2", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& logaddexp_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logaddexp", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_and(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_and", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_and_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_and", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_not(const Tensor& self) {
  static detail::Callee op_{"aten::logical_not", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& logical_not_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::logical_not", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_or(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_or", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_or_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_or", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logical_xor(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_xor", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& logical_xor_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::logical_xor", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logit(const Tensor& self, std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::logit", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(eps)};
  return op_.tensor(args_);
}
inline const Tensor& logit_out(const Tensor& out, const Tensor& self, std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::logit", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(eps), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::logspace", ""};
  const lattis_value args_[] = {lattis::value(start), lattis::value(end), lattis::value(steps), lattis::value(base), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  static detail::Callee op_{"aten::logsumexp", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline const Tensor& logsumexp_out(const Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  static detail::Callee op_{"aten::logsumexp", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor lt(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lt", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor lt(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::lt", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& lt_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::lt", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& lt_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::lt", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  static detail::Callee op_{"aten::masked_fill", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mask), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  static detail::Callee op_{"aten::masked_fill", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mask), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  static detail::Callee op_{"aten::masked_scatter", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mask), lattis::value(source)};
  return op_.tensor(args_);
}
inline Tensor masked_select(const Tensor& self, const Tensor& mask) {
  static detail::Callee op_{"aten::masked_select", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mask)};
  return op_.tensor(args_);
}
inline const Tensor& masked_select_out(const Tensor& out, const Tensor& self, const Tensor& mask) {
  static detail::Callee op_{"aten::masked_select", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mask), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::matmul", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& matmul_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::matmul", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor max(const Tensor& self) {
  static detail::Callee op_{"aten::max", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor max(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::max", "other"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::max", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline const Tensor& max_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::max", "other_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> max_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::max", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool1d", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(kernel_size), lattis::value(stride), lattis::value(padding), lattis::value(dilation), lattis::value(ceil_mode)};
  return op_.tensor(args_);
}
inline Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false) {
  static detail::Callee op_{"aten::max_pool2d", ""};
  const detail::Repeated<2> list1_(kernel_size);
  const detail::Repeated<2> list2_(stride);
  const detail::Repeated<2> list3_(padding);
  const detail::Repeated<2> list4_(dilation);
  const lattis_value args_[] = {lattis::value(self), list1_, list2_, list3_, list4_, lattis::value(ceil_mode)};
  return op_.tensor(args_);
}
inline Tensor maximum(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::maximum", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& maximum_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::maximum", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline Tensor mean(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& mean_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::mean", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor median(const Tensor& self) {
  static detail::Callee op_{"aten::median", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::median", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> median_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::median", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::vector<Tensor> meshgrid(TensorList tensors) {
  static detail::Callee op_{"aten::meshgrid", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> meshgrid(TensorList tensors, const Text& indexing) {
  static detail::Callee op_{"aten::meshgrid", "indexing"};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(indexing)};
  return op_.tensors(args_);
}
inline Tensor min(const Tensor& self) {
  static detail::Callee op_{"aten::min", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor min(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::min", "other"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::min", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline const Tensor& min_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::min", "other_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> min_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = false) {
  static detail::Callee op_{"aten::min", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor minimum(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::minimum", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& minimum_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::minimum", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor mm(const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::mm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat2)};
  return op_.tensor(args_);
}
inline const Tensor& mm_out(const Tensor& out, const Tensor& self, const Tensor& mat2) {
  static detail::Callee op_{"aten::mm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(mat2), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  static detail::Callee op_{"aten::moveaxis", "intlist"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(source), lattis::value(destination)};
  return op_.tensor(args_);
}
inline Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  static detail::Callee op_{"aten::moveaxis", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(source), lattis::value(destination)};
  return op_.tensor(args_);
}
inline Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  static detail::Callee op_{"aten::movedim", "intlist"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(source), lattis::value(destination)};
  return op_.tensor(args_);
}
inline Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  static detail::Callee op_{"aten::movedim", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(source), lattis::value(destination)};
  return op_.tensor(args_);
}
inline Tensor msort(const Tensor& self) {
  static detail::Callee op_{"aten::msort", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& msort_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::msort", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor mul(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::mul", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor mul(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::mul", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& mul_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::mul", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& mul_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::mul", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false, const Generator& generator = {}) {
  static detail::Callee op_{"aten::multinomial", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(num_samples), lattis::value(replacement), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor multiply(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::multiply", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor multiply(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::multiply", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& multiply_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::multiply", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& multiply_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::multiply", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor mv(const Tensor& self, const Tensor& vec) {
  static detail::Callee op_{"aten::mv", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec)};
  return op_.tensor(args_);
}
inline const Tensor& mv_out(const Tensor& out, const Tensor& self, const Tensor& vec) {
  static detail::Callee op_{"aten::mv", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) {
  static detail::Callee op_{"aten::nan_to_num", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(nan), lattis::value(posinf), lattis::value(neginf)};
  return op_.tensor(args_);
}
inline const Tensor& nan_to_num_out(const Tensor& out, const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) {
  static detail::Callee op_{"aten::nan_to_num", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(nan), lattis::value(posinf), lattis::value(neginf), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor nanmean(const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nanmean", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& nanmean_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nanmean", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor nansum(const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nansum", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& nansum_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::nansum", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  static detail::Callee op_{"aten::narrow", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(start), lattis::value(length)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  static detail::Callee op_{"aten::native_dropout", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(p), lattis::value(train)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  static detail::Callee op_{"aten::native_group_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(weight), lattis::value(bias), lattis::value(N), lattis::value(C), lattis::value(HxW), lattis::value(group), lattis::value(eps)};
  auto all_ = op_.several<3>(args_);
  return {std::move(all_[0]), std::move(all_[1]), std::move(all_[2])};
}
inline std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  static detail::Callee op_{"aten::native_layer_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(normalized_shape), lattis::value(weight), lattis::value(bias), lattis::value(eps)};
  auto all_ = op_.several<3>(args_);
  return {std::move(all_[0]), std::move(all_[1]), std::move(all_[2])};
}
inline Tensor ne(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ne", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor ne(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ne", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& ne_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::ne", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& ne_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::ne", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor neg(const Tensor& self) {
  static detail::Callee op_{"aten::neg", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& neg_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::neg", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor negative(const Tensor& self) {
  static detail::Callee op_{"aten::negative", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& negative_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::negative", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor nonzero(const Tensor& self) {
  static detail::Callee op_{"aten::nonzero", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> nonzero(const Tensor& self, bool as_tuple) {
  static detail::Callee op_{"aten::nonzero", "as_tuple"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(as_tuple)};
  return op_.tensors(args_);
}
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& p = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(p), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline Tensor norm(const Tensor& self, const Text& p, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", "str"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(p), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& norm_out(const Tensor& out, const Tensor& self, const std::optional<Scalar>& p = 2, const OptionalIntArrayRef& dim = {}, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::norm", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(p), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor normal(const Tensor& mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_Tensor"};
  const lattis_value args_[] = {lattis::value(mean), lattis::value(std), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(const Tensor& mean, double std = 1, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "Tensor_float"};
  const lattis_value args_[] = {lattis::value(mean), lattis::value(std), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(double mean, const Tensor& std, const Generator& generator = {}) {
  static detail::Callee op_{"aten::normal", "float_Tensor"};
  const lattis_value args_[] = {lattis::value(mean), lattis::value(std), lattis::value(generator)};
  return op_.tensor(args_);
}
inline Tensor normal(double mean, double std, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float"};
  const lattis_value args_[] = {lattis::value(mean), lattis::value(std), lattis::value(size), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor normal(double mean, double std, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::normal", "float_float"};
  const lattis_value args_[] = {lattis::value(mean), lattis::value(std), lattis::value(size), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor not_equal(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::not_equal", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor not_equal(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::not_equal", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& not_equal_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::not_equal", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& not_equal_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::not_equal", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor ones(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::ones", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor ones_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::ones_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor outer(const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::outer", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec2)};
  return op_.tensor(args_);
}
inline const Tensor& outer_out(const Tensor& out, const Tensor& self, const Tensor& vec2) {
  static detail::Callee op_{"aten::outer", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(vec2), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor permute(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::permute", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dims)};
  return op_.tensor(args_);
}
inline Tensor polar(const Tensor& abs, const Tensor& angle) {
  static detail::Callee op_{"aten::polar", ""};
  const lattis_value args_[] = {lattis::value(abs), lattis::value(angle)};
  return op_.tensor(args_);
}
inline const Tensor& polar_out(const Tensor& out, const Tensor& abs, const Tensor& angle) {
  static detail::Callee op_{"aten::polar", "out"};
  const lattis_value args_[] = {lattis::value(abs), lattis::value(angle), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor polygamma(int64_t n, const Tensor& self) {
  static detail::Callee op_{"aten::polygamma", ""};
  const lattis_value args_[] = {lattis::value(n), lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& polygamma_out(const Tensor& out, int64_t n, const Tensor& self) {
  static detail::Callee op_{"aten::polygamma", "out"};
  const lattis_value args_[] = {lattis::value(n), lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor positive(const Tensor& self) {
  static detail::Callee op_{"aten::positive", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor pow(const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline Tensor pow(const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline Tensor pow(const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent)};
  return op_.tensor(args_);
}
inline const Tensor& pow_out(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& pow_out(const Tensor& out, const Tensor& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Tensor_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& pow_out(const Tensor& out, const Scalar& self, const Tensor& exponent) {
  static detail::Callee op_{"aten::pow", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(exponent), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor prod(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", "dim_int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& prod_out(const Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::prod", "dim_int_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor rad2deg(const Tensor& self) {
  static detail::Callee op_{"aten::rad2deg", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& rad2deg_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::rad2deg", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor rand(IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::rand", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor rand_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::rand_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", ""};
  const lattis_value args_[] = {lattis::value(high), lattis::value(size), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", ""};
  const lattis_value args_[] = {lattis::value(high), lattis::value(size), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low"};
  const lattis_value args_[] = {lattis::value(low), lattis::value(high), lattis::value(size), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randint", "low"};
  const lattis_value args_[] = {lattis::value(low), lattis::value(high), lattis::value(size), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randint_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(high), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randint_like", "low_dtype"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(low), lattis::value(high), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randn(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randn(IntArrayRef size, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randn", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randn_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::randn_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randperm(int64_t n, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", ""};
  const lattis_value args_[] = {lattis::value(n), lattis::none(), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor randperm(int64_t n, const Generator& generator, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::randperm", ""};
  const lattis_value args_[] = {lattis::value(n), lattis::value(generator), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor ravel(const Tensor& self) {
  static detail::Callee op_{"aten::ravel", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor real(const Tensor& self) {
  static detail::Callee op_{"aten::real", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor reciprocal(const Tensor& self) {
  static detail::Callee op_{"aten::reciprocal", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& reciprocal_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::reciprocal", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor relu(const Tensor& self) {
  static detail::Callee op_{"aten::relu", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& relu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::relu", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor remainder(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor remainder(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::remainder", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor remainder(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& remainder_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& remainder_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& remainder_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::remainder", "Scalar_Tensor_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "self_int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(repeats), lattis::value(dim), lattis::value(output_size)};
  return op_.tensor(args_);
}
inline Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim = {}, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "self_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(repeats), lattis::value(dim), lattis::value(output_size)};
  return op_.tensor(args_);
}
inline Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = {}) {
  static detail::Callee op_{"aten::repeat_interleave", "Tensor"};
  const lattis_value args_[] = {lattis::value(repeats), lattis::value(output_size)};
  return op_.tensor(args_);
}
inline Tensor reshape(const Tensor& self, IntArrayRef shape) {
  static detail::Callee op_{"aten::reshape", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(shape)};
  return op_.tensor(args_);
}
inline Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = undefined(), std::optional<double> eps = {}) {
  static detail::Callee op_{"aten::rms_norm", ""};
  const lattis_value args_[] = {lattis::value(input), lattis::value(normalized_shape), lattis::value(weight), lattis::value(eps)};
  return op_.tensor(args_);
}
inline Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {}) {
  static detail::Callee op_{"aten::roll", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(shifts), lattis::value(dims)};
  return op_.tensor(args_);
}
inline Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0,1}) {
  static detail::Callee op_{"aten::rot90", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(k), lattis::value(dims)};
  return op_.tensor(args_);
}
inline Tensor round(const Tensor& self) {
  static detail::Callee op_{"aten::round", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor round(const Tensor& self, int64_t decimals) {
  static detail::Callee op_{"aten::round", "decimals"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(decimals)};
  return op_.tensor(args_);
}
inline const Tensor& round_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::round", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& round_out(const Tensor& out, const Tensor& self, int64_t decimals) {
  static detail::Callee op_{"aten::round", "decimals_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(decimals), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor rsqrt(const Tensor& self) {
  static detail::Callee op_{"aten::rsqrt", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& rsqrt_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::rsqrt", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& rsub_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& rsub_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::rsub", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor scalar_tensor(const Scalar& s, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::scalar_tensor", ""};
  const lattis_value args_[] = {lattis::value(s), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter", "src"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src)};
  return op_.tensor(args_);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::scatter", "value"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(value)};
  return op_.tensor(args_);
}
inline Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter_add", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src)};
  return op_.tensor(args_);
}
inline const Tensor& scatter_add_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter_add", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  static detail::Callee op_{"aten::scatter", "src_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& scatter_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  static detail::Callee op_{"aten::scatter", "value_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(value), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::scatter_reduce", "two"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src), lattis::value(reduce), lattis::value(include_self)};
  return op_.tensor(args_);
}
inline const Tensor& scatter_reduce_out(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self = true) {
  static detail::Callee op_{"aten::scatter_reduce", "two_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index), lattis::value(src), lattis::value(reduce), lattis::value(include_self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "Tensor"};
  const lattis_value args_[] = {lattis::value(sorted_sequence), lattis::value(self), lattis::value(out_int32), lattis::value(right), lattis::value(side), lattis::value(sorter)};
  return op_.tensor(args_);
}
inline Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "Scalar"};
  const lattis_value args_[] = {lattis::value(sorted_sequence), lattis::value(self), lattis::value(out_int32), lattis::value(right), lattis::value(side), lattis::value(sorter)};
  return op_.tensor(args_);
}
inline const Tensor& searchsorted_out(const Tensor& out, const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false, bool right = false, const Text& side = {}, const Tensor& sorter = undefined()) {
  static detail::Callee op_{"aten::searchsorted", "out"};
  const lattis_value args_[] = {lattis::value(sorted_sequence), lattis::value(self), lattis::value(out_int32), lattis::value(right), lattis::value(side), lattis::value(sorter), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  static detail::Callee op_{"aten::select", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(index)};
  return op_.tensor(args_);
}
inline Tensor selu(const Tensor& self) {
  static detail::Callee op_{"aten::selu", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& selu_(const Tensor& self) {
  static detail::Callee op_{"aten::selu_", ""};
  const lattis_value args_[] = {lattis::value(self)};
  op_.written(args_);
  return self;
}
inline const Tensor& selu_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::selu", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sgn(const Tensor& self) {
  static detail::Callee op_{"aten::sgn", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sgn_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sgn", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sigmoid(const Tensor& self) {
  static detail::Callee op_{"aten::sigmoid", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sigmoid_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sigmoid", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sign(const Tensor& self) {
  static detail::Callee op_{"aten::sign", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sign_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sign", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor signbit(const Tensor& self) {
  static detail::Callee op_{"aten::signbit", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& signbit_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::signbit", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sin(const Tensor& self) {
  static detail::Callee op_{"aten::sin", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sin_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sin", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sinc(const Tensor& self) {
  static detail::Callee op_{"aten::sinc", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sinc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sinc", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sinh(const Tensor& self) {
  static detail::Callee op_{"aten::sinh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sinh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sinh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::softmax", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& softmax_out(const Tensor& out, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::softmax", "int_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(descending)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "stable"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(stable), lattis::value(dim), lattis::value(descending)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> sort_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(descending), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::tuple<Tensor, Tensor> sort_out(const Tensor& values, const Tensor& indices, const Tensor& self, std::optional<bool> stable, int64_t dim = -1, bool descending = false) {
  static detail::Callee op_{"aten::sort", "stable_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(stable), lattis::value(dim), lattis::value(descending), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(split_size), lattis::value(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split(const Tensor& self, IntArrayRef split_size, int64_t dim = 0) {
  static detail::Callee op_{"aten::split", "sizes"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(split_size), lattis::value(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0) {
  static detail::Callee op_{"aten::split_with_sizes", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(split_sizes), lattis::value(dim)};
  return op_.tensors(args_);
}
inline Tensor sqrt(const Tensor& self) {
  static detail::Callee op_{"aten::sqrt", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& sqrt_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::sqrt", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor square(const Tensor& self) {
  static detail::Callee op_{"aten::square", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& square_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::square", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor squeeze(const Tensor& self) {
  static detail::Callee op_{"aten::squeeze", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor squeeze(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::squeeze", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensor(args_);
}
inline Tensor squeeze(const Tensor& self, IntArrayRef dim) {
  static detail::Callee op_{"aten::squeeze", "dims"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensor(args_);
}
inline Tensor stack(TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::stack", ""};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& stack_out(const Tensor& out, TensorList tensors, int64_t dim = 0) {
  static detail::Callee op_{"aten::stack", "out"};
  const lattis_value args_[] = {lattis::value(tensors), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor std(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::std", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(unbiased)};
  return op_.tensor(args_);
}
inline Tensor std(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline Tensor std(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "correction"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::std_mean", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(unbiased)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std_mean", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std_mean", "correction"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline const Tensor& std_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& std_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::std", "correction_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& sub_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& sub_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::sub", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha)};
  return op_.tensor(args_);
}
inline const Tensor& subtract_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& subtract_out(const Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  static detail::Callee op_{"aten::subtract", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(alpha), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline Tensor sum(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", "dim_IntList"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline const Tensor& sum_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  static detail::Callee op_{"aten::sum", "dim_IntList_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(keepdim), lattis::value(dtype), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  static detail::Callee op_{"aten::swapaxes", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(axis0), lattis::value(axis1)};
  return op_.tensor(args_);
}
inline Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::swapdims", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim0), lattis::value(dim1)};
  return op_.tensor(args_);
}
inline Tensor t(const Tensor& self) {
  static detail::Callee op_{"aten::t", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor take(const Tensor& self, const Tensor& index) {
  static detail::Callee op_{"aten::take", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(index)};
  return op_.tensor(args_);
}
inline Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::take_along_dim", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices), lattis::value(dim)};
  return op_.tensor(args_);
}
inline const Tensor& take_along_dim_out(const Tensor& out, const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = {}) {
  static detail::Callee op_{"aten::take_along_dim", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices), lattis::value(dim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& take_out(const Tensor& out, const Tensor& self, const Tensor& index) {
  static detail::Callee op_{"aten::take", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(index), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor tan(const Tensor& self) {
  static detail::Callee op_{"aten::tan", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& tan_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::tan", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor tanh(const Tensor& self) {
  static detail::Callee op_{"aten::tanh", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& tanh_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::tanh", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0) {
  static detail::Callee op_{"aten::tensor_split", "sections"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(sections), lattis::value(dim)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim = 0) {
  static detail::Callee op_{"aten::tensor_split", "indices"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices), lattis::value(dim)};
  return op_.tensors(args_);
}
inline Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  static detail::Callee op_{"aten::tensordot", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(dims_self), lattis::value(dims_other)};
  return op_.tensor(args_);
}
inline Tensor tensordot(const Tensor& self, const Tensor& other, int64_t dims = 2) {
  static detail::Callee op_{"aten::tensordot", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(dims)};
  return op_.tensor(args_);
}
inline Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(threshold), lattis::value(value)};
  return op_.tensor(args_);
}
inline const Tensor& threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold_", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(threshold), lattis::value(value)};
  op_.written(args_);
  return self;
}
inline const Tensor& threshold_out(const Tensor& out, const Tensor& self, const Scalar& threshold, const Scalar& value) {
  static detail::Callee op_{"aten::threshold", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(threshold), lattis::value(value), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor tile(const Tensor& self, IntArrayRef dims) {
  static detail::Callee op_{"aten::tile", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dims)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) {
  static detail::Callee op_{"aten::topk", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(k), lattis::value(dim), lattis::value(largest), lattis::value(sorted)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> topk_out(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) {
  static detail::Callee op_{"aten::topk", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(k), lattis::value(dim), lattis::value(largest), lattis::value(sorted), lattis::value(values), lattis::value(indices)};
  op_.written<2>(args_);
  return {values, indices};
}
inline Tensor trace(const Tensor& self) {
  static detail::Callee op_{"aten::trace", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  static detail::Callee op_{"aten::transpose", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim0), lattis::value(dim1)};
  return op_.tensor(args_);
}
inline Tensor tril(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::tril", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(diagonal)};
  return op_.tensor(args_);
}
inline Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::tril_indices", ""};
  const lattis_value args_[] = {lattis::value(row), lattis::value(col), lattis::value(offset), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& tril_out(const Tensor& out, const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::tril", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(diagonal), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor triu(const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::triu", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(diagonal)};
  return op_.tensor(args_);
}
inline Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::triu_indices", ""};
  const lattis_value args_[] = {lattis::value(row), lattis::value(col), lattis::value(offset), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline const Tensor& triu_out(const Tensor& out, const Tensor& self, int64_t diagonal = 0) {
  static detail::Callee op_{"aten::triu", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(diagonal), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor true_divide(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode)};
  return op_.tensor(args_);
}
inline Tensor true_divide(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar_Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::true_divide", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::true_divide", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Tensor& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Tensor_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& true_divide_out(const Tensor& out, const Tensor& self, const Scalar& other, const Text& rounding_mode) {
  static detail::Callee op_{"aten::true_divide", "Scalar_mode_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(rounding_mode), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor trunc(const Tensor& self) {
  static detail::Callee op_{"aten::trunc", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline const Tensor& trunc_out(const Tensor& out, const Tensor& self) {
  static detail::Callee op_{"aten::trunc", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0) {
  static detail::Callee op_{"aten::unbind", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensors(args_);
}
inline Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  static detail::Callee op_{"aten::unflatten", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(sizes)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true, bool return_inverse = false, bool return_counts = false) {
  static detail::Callee op_{"aten::unique_dim", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(sorted), lattis::value(return_inverse), lattis::value(return_counts)};
  auto all_ = op_.several<3>(args_);
  return {std::move(all_[0]), std::move(all_[1]), std::move(all_[2])};
}
inline Tensor unsqueeze(const Tensor& self, int64_t dim) {
  static detail::Callee op_{"aten::unsqueeze", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::var", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(unbiased)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline Tensor var(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "correction"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased = true) {
  static detail::Callee op_{"aten::var_mean", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(unbiased)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var_mean", "dim"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var_mean", "correction"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
inline const Tensor& var_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, bool unbiased = true, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "dim_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(unbiased), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& var_out(const Tensor& out, const Tensor& self, const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim = false) {
  static detail::Callee op_{"aten::var", "correction_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(dim), lattis::value(correction), lattis::value(keepdim), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor vdot(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::vdot", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& vdot_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::vdot", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor view_as_complex(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_complex", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline Tensor view_as_real(const Tensor& self) {
  static detail::Callee op_{"aten::view_as_real", ""};
  const lattis_value args_[] = {lattis::value(self)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  static detail::Callee op_{"aten::vsplit", "int"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(sections)};
  return op_.tensors(args_);
}
inline std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) {
  static detail::Callee op_{"aten::vsplit", "array"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(indices)};
  return op_.tensors(args_);
}
inline Tensor vstack(TensorList tensors) {
  static detail::Callee op_{"aten::vstack", ""};
  const lattis_value args_[] = {lattis::value(tensors)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "self"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "ScalarSelf"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "ScalarOther"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "Scalar"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> where(const Tensor& condition) {
  static detail::Callee op_{"aten::where", ""};
  const lattis_value args_[] = {lattis::value(condition)};
  return op_.tensors(args_);
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "self_out"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::where", "ScalarSelf_out"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "ScalarOther_out"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& where_out(const Tensor& out, const Tensor& condition, const Scalar& self, const Scalar& other) {
  static detail::Callee op_{"aten::where", "Scalar_out"};
  const lattis_value args_[] = {lattis::value(condition), lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor xlogy(const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Tensor"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor xlogy(const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Other"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor xlogy(const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Self"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other)};
  return op_.tensor(args_);
}
inline const Tensor& xlogy_out(const Tensor& out, const Tensor& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& xlogy_out(const Tensor& out, const Tensor& self, const Scalar& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Other_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline const Tensor& xlogy_out(const Tensor& out, const Scalar& self, const Tensor& other) {
  static detail::Callee op_{"aten::xlogy", "Scalar_Self_out"};
  const lattis_value args_[] = {lattis::value(self), lattis::value(other), lattis::value(out)};
  op_.written(args_);
  return out;
}
inline Tensor zeros(IntArrayRef size, const TensorOptions& options = {}) {
  static detail::Callee op_{"aten::zeros", ""};
  const lattis_value args_[] = {lattis::value(size), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory())};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor zeros_like(const Tensor& self, const TensorOptions& options = {}, std::optional<MemoryFormat> memory_format = {}) {
  static detail::Callee op_{"aten::zeros_like", ""};
  const lattis_value args_[] = {lattis::value(self), lattis::value(options.dtype()), lattis::value(options.layout()), lattis::value(options.device()), lattis::value(options.pinned_memory()), lattis::value(memory_format)};
  return detail::finished(op_.tensor(args_), options);
}
inline Tensor TensorMethods::abs() const { return lattis::abs(self_()); }
inline const Tensor& TensorMethods::abs_() const {
  static detail::Callee op_{"aten::abs_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::absolute() const { return lattis::absolute(self_()); }
inline const Tensor& TensorMethods::absolute_() const {
  static detail::Callee op_{"aten::absolute_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::acos() const { return lattis::acos(self_()); }
inline const Tensor& TensorMethods::acos_() const {
  static detail::Callee op_{"aten::acos_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::acosh() const { return lattis::acosh(self_()); }
inline const Tensor& TensorMethods::acosh_() const {
  static detail::Callee op_{"aten::acosh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::add(const Tensor& other, const Scalar& alpha) const { return lattis::add(self_(), other, alpha); }
inline Tensor TensorMethods::add(const Scalar& other, const Scalar& alpha) const { return lattis::add(self_(), other, alpha); }
inline const Tensor& TensorMethods::add_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::add_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::add_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::add_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return lattis::addbmm(self_(), batch1, batch2, beta, alpha); }
inline const Tensor& TensorMethods::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addbmm_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return lattis::addcdiv(self_(), tensor1, tensor2, value); }
inline const Tensor& TensorMethods::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  static detail::Callee op_{"aten::addcdiv_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return lattis::addcmul(self_(), tensor1, tensor2, value); }
inline const Tensor& TensorMethods::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  static detail::Callee op_{"aten::addcmul_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(tensor1), lattis::value(tensor2), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return lattis::addmm(self_(), mat1, mat2, beta, alpha); }
inline const Tensor& TensorMethods::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addmm_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mat1), lattis::value(mat2), lattis::value(beta), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return lattis::addmv(self_(), mat, vec, beta, alpha); }
inline const Tensor& TensorMethods::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addmv_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mat), lattis::value(vec), lattis::value(beta), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return lattis::addr(self_(), vec1, vec2, beta, alpha); }
inline const Tensor& TensorMethods::addr_(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::addr_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(vec1), lattis::value(vec2), lattis::value(beta), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::all() const { return lattis::all(self_()); }
inline Tensor TensorMethods::all(int64_t dim, bool keepdim) const { return lattis::all(self_(), dim, keepdim); }
inline Tensor TensorMethods::all(const OptionalIntArrayRef& dim, bool keepdim) const { return lattis::all(self_(), dim, keepdim); }
inline Tensor TensorMethods::amax(IntArrayRef dim, bool keepdim) const { return lattis::amax(self_(), dim, keepdim); }
inline Tensor TensorMethods::amin(IntArrayRef dim, bool keepdim) const { return lattis::amin(self_(), dim, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::aminmax(std::optional<int64_t> dim, bool keepdim) const { return lattis::aminmax(self_(), dim, keepdim); }
inline Tensor TensorMethods::angle() const { return lattis::angle(self_()); }
inline Tensor TensorMethods::any() const { return lattis::any(self_()); }
inline Tensor TensorMethods::any(int64_t dim, bool keepdim) const { return lattis::any(self_(), dim, keepdim); }
inline Tensor TensorMethods::any(const OptionalIntArrayRef& dim, bool keepdim) const { return lattis::any(self_(), dim, keepdim); }
inline Tensor TensorMethods::arccos() const { return lattis::arccos(self_()); }
inline const Tensor& TensorMethods::arccos_() const {
  static detail::Callee op_{"aten::arccos_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arccosh() const { return lattis::arccosh(self_()); }
inline const Tensor& TensorMethods::arccosh_() const {
  static detail::Callee op_{"aten::arccosh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arcsin() const { return lattis::arcsin(self_()); }
inline const Tensor& TensorMethods::arcsin_() const {
  static detail::Callee op_{"aten::arcsin_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arcsinh() const { return lattis::arcsinh(self_()); }
inline const Tensor& TensorMethods::arcsinh_() const {
  static detail::Callee op_{"aten::arcsinh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arctan() const { return lattis::arctan(self_()); }
inline Tensor TensorMethods::arctan2(const Tensor& other) const { return lattis::arctan2(self_(), other); }
inline const Tensor& TensorMethods::arctan2_(const Tensor& other) const {
  static detail::Callee op_{"aten::arctan2_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::arctan_() const {
  static detail::Callee op_{"aten::arctan_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::arctanh() const { return lattis::arctanh(self_()); }
inline const Tensor& TensorMethods::arctanh_() const {
  static detail::Callee op_{"aten::arctanh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::argmax(std::optional<int64_t> dim, bool keepdim) const { return lattis::argmax(self_(), dim, keepdim); }
inline Tensor TensorMethods::argmin(std::optional<int64_t> dim, bool keepdim) const { return lattis::argmin(self_(), dim, keepdim); }
inline Tensor TensorMethods::argsort(int64_t dim, bool descending) const { return lattis::argsort(self_(), dim, descending); }
inline Tensor TensorMethods::argsort(bool stable, int64_t dim, bool descending) const { return lattis::argsort(self_(), stable, dim, descending); }
inline Tensor TensorMethods::argwhere() const { return lattis::argwhere(self_()); }
inline Tensor TensorMethods::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const { return lattis::as_strided(self_(), size, stride, storage_offset); }
inline Tensor TensorMethods::asin() const { return lattis::asin(self_()); }
inline const Tensor& TensorMethods::asin_() const {
  static detail::Callee op_{"aten::asin_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::asinh() const { return lattis::asinh(self_()); }
inline const Tensor& TensorMethods::asinh_() const {
  static detail::Callee op_{"aten::asinh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::atan() const { return lattis::atan(self_()); }
inline Tensor TensorMethods::atan2(const Tensor& other) const { return lattis::atan2(self_(), other); }
inline const Tensor& TensorMethods::atan2_(const Tensor& other) const {
  static detail::Callee op_{"aten::atan2_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::atan_() const {
  static detail::Callee op_{"aten::atan_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::atanh() const { return lattis::atanh(self_()); }
inline const Tensor& TensorMethods::atanh_() const {
  static detail::Callee op_{"aten::atanh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return lattis::baddbmm(self_(), batch1, batch2, beta, alpha); }
inline const Tensor& TensorMethods::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
  static detail::Callee op_{"aten::baddbmm_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(batch1), lattis::value(batch2), lattis::value(beta), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bernoulli(const Generator& generator) const { return lattis::bernoulli(self_(), generator); }
inline Tensor TensorMethods::bernoulli(double p, const Generator& generator) const { return lattis::bernoulli(self_(), p, generator); }
inline const Tensor& TensorMethods::bernoulli_(double p, const Generator& generator) const {
  static detail::Callee op_{"aten::bernoulli_", "float"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(p), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bernoulli_(const Tensor& p, const Generator& generator) const {
  static detail::Callee op_{"aten::bernoulli_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(p), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_and(const Tensor& other) const { return lattis::bitwise_and(self_(), other); }
inline Tensor TensorMethods::bitwise_and(const Scalar& other) const { return lattis::bitwise_and(self_(), other); }
inline const Tensor& TensorMethods::bitwise_and_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_and_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_and_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_and_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_left_shift(const Tensor& other) const { return lattis::bitwise_left_shift(self_(), other); }
inline Tensor TensorMethods::bitwise_left_shift(const Scalar& other) const { return lattis::bitwise_left_shift(self_(), other); }
inline const Tensor& TensorMethods::bitwise_left_shift_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_left_shift_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_left_shift_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_left_shift_", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_not() const { return lattis::bitwise_not(self_()); }
inline const Tensor& TensorMethods::bitwise_not_() const {
  static detail::Callee op_{"aten::bitwise_not_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_or(const Tensor& other) const { return lattis::bitwise_or(self_(), other); }
inline Tensor TensorMethods::bitwise_or(const Scalar& other) const { return lattis::bitwise_or(self_(), other); }
inline const Tensor& TensorMethods::bitwise_or_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_or_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_or_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_or_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_right_shift(const Tensor& other) const { return lattis::bitwise_right_shift(self_(), other); }
inline Tensor TensorMethods::bitwise_right_shift(const Scalar& other) const { return lattis::bitwise_right_shift(self_(), other); }
inline const Tensor& TensorMethods::bitwise_right_shift_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_right_shift_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_right_shift_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_right_shift_", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bitwise_xor(const Tensor& other) const { return lattis::bitwise_xor(self_(), other); }
inline Tensor TensorMethods::bitwise_xor(const Scalar& other) const { return lattis::bitwise_xor(self_(), other); }
inline const Tensor& TensorMethods::bitwise_xor_(const Tensor& other) const {
  static detail::Callee op_{"aten::bitwise_xor_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::bitwise_xor_(const Scalar& other) const {
  static detail::Callee op_{"aten::bitwise_xor_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::bmm(const Tensor& mat2) const { return lattis::bmm(self_(), mat2); }
inline Tensor TensorMethods::broadcast_to(IntArrayRef size) const { return lattis::broadcast_to(self_(), size); }
inline Tensor TensorMethods::bucketize(const Tensor& boundaries, bool out_int32, bool right) const { return lattis::bucketize(self_(), boundaries, out_int32, right); }
inline Tensor TensorMethods::ceil() const { return lattis::ceil(self_()); }
inline const Tensor& TensorMethods::ceil_() const {
  static detail::Callee op_{"aten::ceil_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline std::vector<Tensor> TensorMethods::chunk(int64_t chunks, int64_t dim) const { return lattis::chunk(self_(), chunks, dim); }
inline Tensor TensorMethods::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return lattis::clamp(self_(), min, max); }
inline Tensor TensorMethods::clamp(const Tensor& min, const Tensor& max) const { return lattis::clamp(self_(), min, max); }
inline const Tensor& TensorMethods::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  static detail::Callee op_{"aten::clamp_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_(const Tensor& min, const Tensor& max) const {
  static detail::Callee op_{"aten::clamp_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clamp_max(const Scalar& max) const { return lattis::clamp_max(self_(), max); }
inline Tensor TensorMethods::clamp_max(const Tensor& max) const { return lattis::clamp_max(self_(), max); }
inline const Tensor& TensorMethods::clamp_max_(const Scalar& max) const {
  static detail::Callee op_{"aten::clamp_max_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_max_(const Tensor& max) const {
  static detail::Callee op_{"aten::clamp_max_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clamp_min(const Scalar& min) const { return lattis::clamp_min(self_(), min); }
inline Tensor TensorMethods::clamp_min(const Tensor& min) const { return lattis::clamp_min(self_(), min); }
inline const Tensor& TensorMethods::clamp_min_(const Scalar& min) const {
  static detail::Callee op_{"aten::clamp_min_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clamp_min_(const Tensor& min) const {
  static detail::Callee op_{"aten::clamp_min_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clip(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return lattis::clip(self_(), min, max); }
inline Tensor TensorMethods::clip(const Tensor& min, const Tensor& max) const { return lattis::clip(self_(), min, max); }
inline const Tensor& TensorMethods::clip_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  static detail::Callee op_{"aten::clip_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::clip_(const Tensor& min, const Tensor& max) const {
  static detail::Callee op_{"aten::clip_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(min), lattis::value(max)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::clone(std::optional<MemoryFormat> memory_format) const { return lattis::clone(self_(), memory_format); }
inline Tensor TensorMethods::conj() const { return lattis::conj(self_()); }
inline Tensor TensorMethods::conj_physical() const { return lattis::conj_physical(self_()); }
inline const Tensor& TensorMethods::conj_physical_() const {
  static detail::Callee op_{"aten::conj_physical_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::contiguous(MemoryFormat memory_format) const {
  static detail::Callee op_{"aten::contiguous", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(memory_format)};
  return op_.tensor(args_);
}
inline const Tensor& TensorMethods::copy_(const Tensor& src, bool non_blocking) const {
  static detail::Callee op_{"aten::copy_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(src), lattis::value(non_blocking)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::copysign(const Tensor& other) const { return lattis::copysign(self_(), other); }
inline Tensor TensorMethods::copysign(const Scalar& other) const { return lattis::copysign(self_(), other); }
inline const Tensor& TensorMethods::copysign_(const Tensor& other) const {
  static detail::Callee op_{"aten::copysign_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::copysign_(const Scalar& other) const {
  static detail::Callee op_{"aten::copysign_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cos() const { return lattis::cos(self_()); }
inline const Tensor& TensorMethods::cos_() const {
  static detail::Callee op_{"aten::cos_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cosh() const { return lattis::cosh(self_()); }
inline const Tensor& TensorMethods::cosh_() const {
  static detail::Callee op_{"aten::cosh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::count_nonzero(std::optional<int64_t> dim) const { return lattis::count_nonzero(self_(), dim); }
inline Tensor TensorMethods::count_nonzero(IntArrayRef dim) const { return lattis::count_nonzero(self_(), dim); }
inline Tensor TensorMethods::cumprod(int64_t dim, std::optional<ScalarType> dtype) const { return lattis::cumprod(self_(), dim, dtype); }
inline const Tensor& TensorMethods::cumprod_(int64_t dim, std::optional<ScalarType> dtype) const {
  static detail::Callee op_{"aten::cumprod_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(dtype)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::cumsum(int64_t dim, std::optional<ScalarType> dtype) const { return lattis::cumsum(self_(), dim, dtype); }
inline const Tensor& TensorMethods::cumsum_(int64_t dim, std::optional<ScalarType> dtype) const {
  static detail::Callee op_{"aten::cumsum_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(dtype)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::deg2rad() const { return lattis::deg2rad(self_()); }
inline const Tensor& TensorMethods::deg2rad_() const {
  static detail::Callee op_{"aten::deg2rad_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::detach() const { return lattis::detach(self_()); }
inline Tensor TensorMethods::diag(int64_t diagonal) const { return lattis::diag(self_(), diagonal); }
inline Tensor TensorMethods::diag_embed(int64_t offset, int64_t dim1, int64_t dim2) const { return lattis::diag_embed(self_(), offset, dim1, dim2); }
inline Tensor TensorMethods::diagflat(int64_t offset) const { return lattis::diagflat(self_(), offset); }
inline Tensor TensorMethods::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const { return lattis::diagonal(self_(), offset, dim1, dim2); }
inline Tensor TensorMethods::digamma() const { return lattis::digamma(self_()); }
inline const Tensor& TensorMethods::digamma_() const {
  static detail::Callee op_{"aten::digamma_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::div(const Tensor& other) const { return lattis::div(self_(), other); }
inline Tensor TensorMethods::div(const Scalar& other) const { return lattis::div(self_(), other); }
inline Tensor TensorMethods::div(const Tensor& other, const Text& rounding_mode) const { return lattis::div(self_(), other, rounding_mode); }
inline Tensor TensorMethods::div(const Scalar& other, const Text& rounding_mode) const { return lattis::div(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::div_(const Tensor& other) const {
  static detail::Callee op_{"aten::div_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Scalar& other) const {
  static detail::Callee op_{"aten::div_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::div_", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::div_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::div_", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::divide(const Tensor& other) const { return lattis::divide(self_(), other); }
inline Tensor TensorMethods::divide(const Scalar& other) const { return lattis::divide(self_(), other); }
inline Tensor TensorMethods::divide(const Tensor& other, const Text& rounding_mode) const { return lattis::divide(self_(), other, rounding_mode); }
inline Tensor TensorMethods::divide(const Scalar& other, const Text& rounding_mode) const { return lattis::divide(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::divide_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::divide_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::divide_", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::divide_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::divide_", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::dot(const Tensor& tensor) const { return lattis::dot(self_(), tensor); }
inline std::vector<Tensor> TensorMethods::dsplit(int64_t sections) const { return lattis::dsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::dsplit(IntArrayRef indices) const { return lattis::dsplit(self_(), indices); }
inline Tensor TensorMethods::eq(const Tensor& other) const { return lattis::eq(self_(), other); }
inline Tensor TensorMethods::eq(const Scalar& other) const { return lattis::eq(self_(), other); }
inline const Tensor& TensorMethods::eq_(const Tensor& other) const {
  static detail::Callee op_{"aten::eq_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::eq_(const Scalar& other) const {
  static detail::Callee op_{"aten::eq_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::erf() const { return lattis::erf(self_()); }
inline const Tensor& TensorMethods::erf_() const {
  static detail::Callee op_{"aten::erf_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::erfc() const { return lattis::erfc(self_()); }
inline const Tensor& TensorMethods::erfc_() const {
  static detail::Callee op_{"aten::erfc_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::erfinv() const { return lattis::erfinv(self_()); }
inline const Tensor& TensorMethods::erfinv_() const {
  static detail::Callee op_{"aten::erfinv_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::exp() const { return lattis::exp(self_()); }
inline Tensor TensorMethods::exp2() const { return lattis::exp2(self_()); }
inline const Tensor& TensorMethods::exp2_() const {
  static detail::Callee op_{"aten::exp2_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::exp_() const {
  static detail::Callee op_{"aten::exp_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::expand(IntArrayRef size, bool implicit) const {
  static detail::Callee op_{"aten::expand", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(size), lattis::value(implicit)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::expand_as(const Tensor& other) const {
  static detail::Callee op_{"aten::expand_as", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::expm1() const { return lattis::expm1(self_()); }
inline const Tensor& TensorMethods::expm1_() const {
  static detail::Callee op_{"aten::expm1_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fill_(const Tensor& value) const {
  static detail::Callee op_{"aten::fill_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fill_(const Scalar& value) const {
  static detail::Callee op_{"aten::fill_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::fix() const { return lattis::fix(self_()); }
inline const Tensor& TensorMethods::fix_() const {
  static detail::Callee op_{"aten::fix_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::flatten(int64_t start_dim, int64_t end_dim) const { return lattis::flatten(self_(), start_dim, end_dim); }
inline Tensor TensorMethods::flip(IntArrayRef dims) const { return lattis::flip(self_(), dims); }
inline Tensor TensorMethods::fliplr() const { return lattis::fliplr(self_()); }
inline Tensor TensorMethods::flipud() const { return lattis::flipud(self_()); }
inline Tensor TensorMethods::float_power(const Tensor& exponent) const { return lattis::float_power(self_(), exponent); }
inline Tensor TensorMethods::float_power(const Scalar& exponent) const { return lattis::float_power(self_(), exponent); }
inline const Tensor& TensorMethods::float_power_(const Tensor& exponent) const {
  static detail::Callee op_{"aten::float_power_", "Tensor_Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(exponent)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::float_power_(const Scalar& exponent) const {
  static detail::Callee op_{"aten::float_power_", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(exponent)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::floor() const { return lattis::floor(self_()); }
inline const Tensor& TensorMethods::floor_() const {
  static detail::Callee op_{"aten::floor_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::floor_divide(const Tensor& other) const { return lattis::floor_divide(self_(), other); }
inline Tensor TensorMethods::floor_divide(const Scalar& other) const { return lattis::floor_divide(self_(), other); }
inline const Tensor& TensorMethods::floor_divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::floor_divide_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::floor_divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::floor_divide_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::fmax(const Tensor& other) const { return lattis::fmax(self_(), other); }
inline Tensor TensorMethods::fmin(const Tensor& other) const { return lattis::fmin(self_(), other); }
inline Tensor TensorMethods::fmod(const Tensor& other) const { return lattis::fmod(self_(), other); }
inline Tensor TensorMethods::fmod(const Scalar& other) const { return lattis::fmod(self_(), other); }
inline const Tensor& TensorMethods::fmod_(const Tensor& other) const {
  static detail::Callee op_{"aten::fmod_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::fmod_(const Scalar& other) const {
  static detail::Callee op_{"aten::fmod_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::frac() const { return lattis::frac(self_()); }
inline const Tensor& TensorMethods::frac_() const {
  static detail::Callee op_{"aten::frac_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::gather(int64_t dim, const Tensor& index, bool sparse_grad) const { return lattis::gather(self_(), dim, index, sparse_grad); }
inline Tensor TensorMethods::ge(const Tensor& other) const { return lattis::ge(self_(), other); }
inline Tensor TensorMethods::ge(const Scalar& other) const { return lattis::ge(self_(), other); }
inline const Tensor& TensorMethods::ge_(const Tensor& other) const {
  static detail::Callee op_{"aten::ge_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::ge_(const Scalar& other) const {
  static detail::Callee op_{"aten::ge_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::ger(const Tensor& vec2) const { return lattis::ger(self_(), vec2); }
inline Tensor TensorMethods::greater(const Tensor& other) const { return lattis::greater(self_(), other); }
inline Tensor TensorMethods::greater(const Scalar& other) const { return lattis::greater(self_(), other); }
inline const Tensor& TensorMethods::greater_(const Tensor& other) const {
  static detail::Callee op_{"aten::greater_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::greater_(const Scalar& other) const {
  static detail::Callee op_{"aten::greater_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::greater_equal(const Tensor& other) const { return lattis::greater_equal(self_(), other); }
inline Tensor TensorMethods::greater_equal(const Scalar& other) const { return lattis::greater_equal(self_(), other); }
inline const Tensor& TensorMethods::greater_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::greater_equal_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::greater_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::greater_equal_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::gt(const Tensor& other) const { return lattis::gt(self_(), other); }
inline Tensor TensorMethods::gt(const Scalar& other) const { return lattis::gt(self_(), other); }
inline const Tensor& TensorMethods::gt_(const Tensor& other) const {
  static detail::Callee op_{"aten::gt_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::gt_(const Scalar& other) const {
  static detail::Callee op_{"aten::gt_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::hardshrink(const Scalar& lambd) const { return lattis::hardshrink(self_(), lambd); }
inline Tensor TensorMethods::heaviside(const Tensor& values) const { return lattis::heaviside(self_(), values); }
inline const Tensor& TensorMethods::heaviside_(const Tensor& values) const {
  static detail::Callee op_{"aten::heaviside_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(values)};
  op_.written(args_);
  return self_();
}
inline std::vector<Tensor> TensorMethods::hsplit(int64_t sections) const { return lattis::hsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::hsplit(IntArrayRef indices) const { return lattis::hsplit(self_(), indices); }
inline Tensor TensorMethods::hypot(const Tensor& other) const { return lattis::hypot(self_(), other); }
inline const Tensor& TensorMethods::hypot_(const Tensor& other) const {
  static detail::Callee op_{"aten::hypot_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::imag() const { return lattis::imag(self_()); }
inline Tensor TensorMethods::index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return lattis::index_add(self_(), dim, index, source, alpha); }
inline const Tensor& TensorMethods::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  static detail::Callee op_{"aten::index_add_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(source), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_copy(int64_t dim, const Tensor& index, const Tensor& source) const { return lattis::index_copy(self_(), dim, index, source); }
inline const Tensor& TensorMethods::index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const {
  static detail::Callee op_{"aten::index_copy_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(source)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_fill(int64_t dim, const Tensor& index, const Scalar& value) const { return lattis::index_fill(self_(), dim, index, value); }
inline Tensor TensorMethods::index_fill(int64_t dim, const Tensor& index, const Tensor& value) const { return lattis::index_fill(self_(), dim, index, value); }
inline const Tensor& TensorMethods::index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const {
  static detail::Callee op_{"aten::index_fill_", "int_Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const {
  static detail::Callee op_{"aten::index_fill_", "int_Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_put(TensorList indices, const Tensor& values, bool accumulate) const { return lattis::index_put(self_(), indices, values, accumulate); }
inline const Tensor& TensorMethods::index_put_(TensorList indices, const Tensor& values, bool accumulate) const {
  static detail::Callee op_{"aten::index_put_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(indices), lattis::value(values), lattis::value(accumulate)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::index_select(int64_t dim, const Tensor& index) const { return lattis::index_select(self_(), dim, index); }
inline Tensor TensorMethods::inner(const Tensor& other) const { return lattis::inner(self_(), other); }
inline Tensor TensorMethods::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const { return lattis::isclose(self_(), other, rtol, atol, equal_nan); }
inline Tensor TensorMethods::isfinite() const { return lattis::isfinite(self_()); }
inline Tensor TensorMethods::isinf() const { return lattis::isinf(self_()); }
inline Tensor TensorMethods::isnan() const { return lattis::isnan(self_()); }
inline Tensor TensorMethods::isneginf() const { return lattis::isneginf(self_()); }
inline Tensor TensorMethods::isposinf() const { return lattis::isposinf(self_()); }
inline Scalar TensorMethods::item() const {
  static detail::Callee op_{"aten::item", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  return op_.scalar(args_);
}
inline Tensor TensorMethods::kron(const Tensor& other) const { return lattis::kron(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::kthvalue(int64_t k, int64_t dim, bool keepdim) const { return lattis::kthvalue(self_(), k, dim, keepdim); }
inline Tensor TensorMethods::le(const Tensor& other) const { return lattis::le(self_(), other); }
inline Tensor TensorMethods::le(const Scalar& other) const { return lattis::le(self_(), other); }
inline const Tensor& TensorMethods::le_(const Tensor& other) const {
  static detail::Callee op_{"aten::le_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::le_(const Scalar& other) const {
  static detail::Callee op_{"aten::le_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::lerp(const Tensor& end, const Tensor& weight) const { return lattis::lerp(self_(), end, weight); }
inline Tensor TensorMethods::lerp(const Tensor& end, const Scalar& weight) const { return lattis::lerp(self_(), end, weight); }
inline const Tensor& TensorMethods::lerp_(const Tensor& end, const Tensor& weight) const {
  static detail::Callee op_{"aten::lerp_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(end), lattis::value(weight)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::lerp_(const Tensor& end, const Scalar& weight) const {
  static detail::Callee op_{"aten::lerp_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(end), lattis::value(weight)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::less(const Tensor& other) const { return lattis::less(self_(), other); }
inline Tensor TensorMethods::less(const Scalar& other) const { return lattis::less(self_(), other); }
inline const Tensor& TensorMethods::less_(const Tensor& other) const {
  static detail::Callee op_{"aten::less_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::less_(const Scalar& other) const {
  static detail::Callee op_{"aten::less_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::less_equal(const Tensor& other) const { return lattis::less_equal(self_(), other); }
inline Tensor TensorMethods::less_equal(const Scalar& other) const { return lattis::less_equal(self_(), other); }
inline const Tensor& TensorMethods::less_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::less_equal_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::less_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::less_equal_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::lgamma() const { return lattis::lgamma(self_()); }
inline const Tensor& TensorMethods::lgamma_() const {
  static detail::Callee op_{"aten::lgamma_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log() const { return lattis::log(self_()); }
inline Tensor TensorMethods::log10() const { return lattis::log10(self_()); }
inline const Tensor& TensorMethods::log10_() const {
  static detail::Callee op_{"aten::log10_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log1p() const { return lattis::log1p(self_()); }
inline const Tensor& TensorMethods::log1p_() const {
  static detail::Callee op_{"aten::log1p_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log2() const { return lattis::log2(self_()); }
inline const Tensor& TensorMethods::log2_() const {
  static detail::Callee op_{"aten::log2_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::log_() const {
  static detail::Callee op_{"aten::log_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::log_softmax(int64_t dim, std::optional<ScalarType> dtype) const { return lattis::log_softmax(self_(), dim, dtype); }
inline Tensor TensorMethods::logaddexp(const Tensor& other) const { return lattis::logaddexp(self_(), other); }
inline Tensor TensorMethods::logaddexp2(const Tensor& other) const { return lattis::logaddexp2(self_(), other); }
inline Tensor TensorMethods::logical_and(const Tensor& other) const { return lattis::logical_and(self_(), other); }
inline const Tensor& TensorMethods::logical_and_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_and_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_not() const { return lattis::logical_not(self_()); }
inline const Tensor& TensorMethods::logical_not_() const {
  static detail::Callee op_{"aten::logical_not_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_or(const Tensor& other) const { return lattis::logical_or(self_(), other); }
inline const Tensor& TensorMethods::logical_or_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_or_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logical_xor(const Tensor& other) const { return lattis::logical_xor(self_(), other); }
inline const Tensor& TensorMethods::logical_xor_(const Tensor& other) const {
  static detail::Callee op_{"aten::logical_xor_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logit(std::optional<double> eps) const { return lattis::logit(self_(), eps); }
inline const Tensor& TensorMethods::logit_(std::optional<double> eps) const {
  static detail::Callee op_{"aten::logit_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(eps)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::logsumexp(IntArrayRef dim, bool keepdim) const { return lattis::logsumexp(self_(), dim, keepdim); }
inline Tensor TensorMethods::lt(const Tensor& other) const { return lattis::lt(self_(), other); }
inline Tensor TensorMethods::lt(const Scalar& other) const { return lattis::lt(self_(), other); }
inline const Tensor& TensorMethods::lt_(const Tensor& other) const {
  static detail::Callee op_{"aten::lt_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::lt_(const Scalar& other) const {
  static detail::Callee op_{"aten::lt_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::masked_fill(const Tensor& mask, const Scalar& value) const { return lattis::masked_fill(self_(), mask, value); }
inline Tensor TensorMethods::masked_fill(const Tensor& mask, const Tensor& value) const { return lattis::masked_fill(self_(), mask, value); }
inline const Tensor& TensorMethods::masked_fill_(const Tensor& mask, const Scalar& value) const {
  static detail::Callee op_{"aten::masked_fill_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mask), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::masked_fill_(const Tensor& mask, const Tensor& value) const {
  static detail::Callee op_{"aten::masked_fill_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mask), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::masked_scatter(const Tensor& mask, const Tensor& source) const { return lattis::masked_scatter(self_(), mask, source); }
inline const Tensor& TensorMethods::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  static detail::Callee op_{"aten::masked_scatter_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mask), lattis::value(source)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::masked_select(const Tensor& mask) const { return lattis::masked_select(self_(), mask); }
inline Tensor TensorMethods::matmul(const Tensor& other) const { return lattis::matmul(self_(), other); }
inline Tensor TensorMethods::max() const { return lattis::max(self_()); }
inline Tensor TensorMethods::max(const Tensor& other) const { return lattis::max(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::max(int64_t dim, bool keepdim) const { return lattis::max(self_(), dim, keepdim); }
inline Tensor TensorMethods::maximum(const Tensor& other) const { return lattis::maximum(self_(), other); }
inline Tensor TensorMethods::mean(std::optional<ScalarType> dtype) const { return lattis::mean(self_(), dtype); }
inline Tensor TensorMethods::mean(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::mean(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::median() const { return lattis::median(self_()); }
inline std::tuple<Tensor, Tensor> TensorMethods::median(int64_t dim, bool keepdim) const { return lattis::median(self_(), dim, keepdim); }
inline Tensor TensorMethods::min() const { return lattis::min(self_()); }
inline Tensor TensorMethods::min(const Tensor& other) const { return lattis::min(self_(), other); }
inline std::tuple<Tensor, Tensor> TensorMethods::min(int64_t dim, bool keepdim) const { return lattis::min(self_(), dim, keepdim); }
inline Tensor TensorMethods::minimum(const Tensor& other) const { return lattis::minimum(self_(), other); }
inline Tensor TensorMethods::mm(const Tensor& mat2) const { return lattis::mm(self_(), mat2); }
inline Tensor TensorMethods::moveaxis(IntArrayRef source, IntArrayRef destination) const { return lattis::moveaxis(self_(), source, destination); }
inline Tensor TensorMethods::moveaxis(int64_t source, int64_t destination) const { return lattis::moveaxis(self_(), source, destination); }
inline Tensor TensorMethods::movedim(IntArrayRef source, IntArrayRef destination) const { return lattis::movedim(self_(), source, destination); }
inline Tensor TensorMethods::movedim(int64_t source, int64_t destination) const { return lattis::movedim(self_(), source, destination); }
inline Tensor TensorMethods::msort() const { return lattis::msort(self_()); }
inline Tensor TensorMethods::mul(const Tensor& other) const { return lattis::mul(self_(), other); }
inline Tensor TensorMethods::mul(const Scalar& other) const { return lattis::mul(self_(), other); }
inline const Tensor& TensorMethods::mul_(const Tensor& other) const {
  static detail::Callee op_{"aten::mul_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::mul_(const Scalar& other) const {
  static detail::Callee op_{"aten::mul_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::multinomial(int64_t num_samples, bool replacement, const Generator& generator) const { return lattis::multinomial(self_(), num_samples, replacement, generator); }
inline Tensor TensorMethods::multiply(const Tensor& other) const { return lattis::multiply(self_(), other); }
inline Tensor TensorMethods::multiply(const Scalar& other) const { return lattis::multiply(self_(), other); }
inline const Tensor& TensorMethods::multiply_(const Tensor& other) const {
  static detail::Callee op_{"aten::multiply_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::multiply_(const Scalar& other) const {
  static detail::Callee op_{"aten::multiply_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::mv(const Tensor& vec) const { return lattis::mv(self_(), vec); }
inline Tensor TensorMethods::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return lattis::nan_to_num(self_(), nan, posinf, neginf); }
inline const Tensor& TensorMethods::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const {
  static detail::Callee op_{"aten::nan_to_num_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(nan), lattis::value(posinf), lattis::value(neginf)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nanmean(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::nanmean(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::nansum(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::nansum(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::narrow(int64_t dim, int64_t start, int64_t length) const { return lattis::narrow(self_(), dim, start, length); }
inline Tensor TensorMethods::ne(const Tensor& other) const { return lattis::ne(self_(), other); }
inline Tensor TensorMethods::ne(const Scalar& other) const { return lattis::ne(self_(), other); }
inline const Tensor& TensorMethods::ne_(const Tensor& other) const {
  static detail::Callee op_{"aten::ne_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::ne_(const Scalar& other) const {
  static detail::Callee op_{"aten::ne_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::neg() const { return lattis::neg(self_()); }
inline const Tensor& TensorMethods::neg_() const {
  static detail::Callee op_{"aten::neg_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::negative() const { return lattis::negative(self_()); }
inline const Tensor& TensorMethods::negative_() const {
  static detail::Callee op_{"aten::negative_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::nonzero() const { return lattis::nonzero(self_()); }
inline std::vector<Tensor> TensorMethods::nonzero(bool as_tuple) const { return lattis::nonzero(self_(), as_tuple); }
inline Tensor TensorMethods::norm(const std::optional<Scalar>& p, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::norm(self_(), p, dim, keepdim, dtype); }
inline Tensor TensorMethods::norm(const Text& p, const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::norm(self_(), p, dim, keepdim, dtype); }
inline const Tensor& TensorMethods::normal_(double mean, double std, const Generator& generator) const {
  static detail::Callee op_{"aten::normal_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(mean), lattis::value(std), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::not_equal(const Tensor& other) const { return lattis::not_equal(self_(), other); }
inline Tensor TensorMethods::not_equal(const Scalar& other) const { return lattis::not_equal(self_(), other); }
inline const Tensor& TensorMethods::not_equal_(const Tensor& other) const {
  static detail::Callee op_{"aten::not_equal_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::not_equal_(const Scalar& other) const {
  static detail::Callee op_{"aten::not_equal_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::outer(const Tensor& vec2) const { return lattis::outer(self_(), vec2); }
inline Tensor TensorMethods::permute(IntArrayRef dims) const { return lattis::permute(self_(), dims); }
inline Tensor TensorMethods::positive() const { return lattis::positive(self_()); }
inline Tensor TensorMethods::pow(const Scalar& exponent) const { return lattis::pow(self_(), exponent); }
inline Tensor TensorMethods::pow(const Tensor& exponent) const { return lattis::pow(self_(), exponent); }
inline const Tensor& TensorMethods::pow_(const Scalar& exponent) const {
  static detail::Callee op_{"aten::pow_", "Tensor_Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(exponent)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::pow_(const Tensor& exponent) const {
  static detail::Callee op_{"aten::pow_", "Tensor_Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(exponent)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::prod(std::optional<ScalarType> dtype) const { return lattis::prod(self_(), dtype); }
inline Tensor TensorMethods::prod(int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::prod(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::rad2deg() const { return lattis::rad2deg(self_()); }
inline const Tensor& TensorMethods::rad2deg_() const {
  static detail::Callee op_{"aten::rad2deg_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::random_(const Generator& generator) const {
  static detail::Callee op_{"aten::random_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::random_(int64_t to, const Generator& generator) const {
  static detail::Callee op_{"aten::random_", "to"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(to), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::random_(int64_t from, std::optional<int64_t> to, const Generator& generator) const {
  static detail::Callee op_{"aten::random_", "from"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(from), lattis::value(to), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::ravel() const { return lattis::ravel(self_()); }
inline Tensor TensorMethods::real() const { return lattis::real(self_()); }
inline Tensor TensorMethods::reciprocal() const { return lattis::reciprocal(self_()); }
inline const Tensor& TensorMethods::reciprocal_() const {
  static detail::Callee op_{"aten::reciprocal_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::relu() const { return lattis::relu(self_()); }
inline const Tensor& TensorMethods::relu_() const {
  static detail::Callee op_{"aten::relu_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::remainder(const Tensor& other) const { return lattis::remainder(self_(), other); }
inline Tensor TensorMethods::remainder(const Scalar& other) const { return lattis::remainder(self_(), other); }
inline const Tensor& TensorMethods::remainder_(const Tensor& other) const {
  static detail::Callee op_{"aten::remainder_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::remainder_(const Scalar& other) const {
  static detail::Callee op_{"aten::remainder_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::repeat(IntArrayRef repeats) const {
  static detail::Callee op_{"aten::repeat", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(repeats)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::repeat_interleave(int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return lattis::repeat_interleave(self_(), repeats, dim, output_size); }
inline Tensor TensorMethods::repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) const { return lattis::repeat_interleave(self_(), repeats, dim, output_size); }
inline Tensor TensorMethods::reshape(IntArrayRef shape) const { return lattis::reshape(self_(), shape); }
inline Tensor TensorMethods::roll(IntArrayRef shifts, IntArrayRef dims) const { return lattis::roll(self_(), shifts, dims); }
inline Tensor TensorMethods::rot90(int64_t k, IntArrayRef dims) const { return lattis::rot90(self_(), k, dims); }
inline Tensor TensorMethods::round() const { return lattis::round(self_()); }
inline Tensor TensorMethods::round(int64_t decimals) const { return lattis::round(self_(), decimals); }
inline const Tensor& TensorMethods::round_() const {
  static detail::Callee op_{"aten::round_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::round_(int64_t decimals) const {
  static detail::Callee op_{"aten::round_", "decimals"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(decimals)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rsqrt() const { return lattis::rsqrt(self_()); }
inline const Tensor& TensorMethods::rsqrt_() const {
  static detail::Callee op_{"aten::rsqrt_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::rsub(const Tensor& other, const Scalar& alpha) const { return lattis::rsub(self_(), other, alpha); }
inline Tensor TensorMethods::rsub(const Scalar& other, const Scalar& alpha) const { return lattis::rsub(self_(), other, alpha); }
inline const Tensor& TensorMethods::rsub_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::rsub_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::rsub_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::rsub_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Tensor& src) const { return lattis::scatter(self_(), dim, index, src); }
inline Tensor TensorMethods::scatter(int64_t dim, const Tensor& index, const Scalar& value) const { return lattis::scatter(self_(), dim, index, value); }
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const {
  static detail::Callee op_{"aten::scatter_", "src"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(src)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const {
  static detail::Callee op_{"aten::scatter_", "value"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(value)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const { return lattis::scatter_add(self_(), dim, index, src); }
inline const Tensor& TensorMethods::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const {
  static detail::Callee op_{"aten::scatter_add_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(src)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::scatter_reduce(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self) const { return lattis::scatter_reduce(self_(), dim, index, src, reduce, include_self); }
inline const Tensor& TensorMethods::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& src, const Text& reduce, bool include_self) const {
  static detail::Callee op_{"aten::scatter_reduce_", "two"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dim), lattis::value(index), lattis::value(src), lattis::value(reduce), lattis::value(include_self)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::select(int64_t dim, int64_t index) const { return lattis::select(self_(), dim, index); }
inline Tensor TensorMethods::sgn() const { return lattis::sgn(self_()); }
inline const Tensor& TensorMethods::sgn_() const {
  static detail::Callee op_{"aten::sgn_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sigmoid() const { return lattis::sigmoid(self_()); }
inline const Tensor& TensorMethods::sigmoid_() const {
  static detail::Callee op_{"aten::sigmoid_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sign() const { return lattis::sign(self_()); }
inline const Tensor& TensorMethods::sign_() const {
  static detail::Callee op_{"aten::sign_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::signbit() const { return lattis::signbit(self_()); }
inline Tensor TensorMethods::sin() const { return lattis::sin(self_()); }
inline const Tensor& TensorMethods::sin_() const {
  static detail::Callee op_{"aten::sin_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sinc() const { return lattis::sinc(self_()); }
inline const Tensor& TensorMethods::sinc_() const {
  static detail::Callee op_{"aten::sinc_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sinh() const { return lattis::sinh(self_()); }
inline const Tensor& TensorMethods::sinh_() const {
  static detail::Callee op_{"aten::sinh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::softmax(int64_t dim, std::optional<ScalarType> dtype) const { return lattis::softmax(self_(), dim, dtype); }
inline std::tuple<Tensor, Tensor> TensorMethods::sort(int64_t dim, bool descending) const { return lattis::sort(self_(), dim, descending); }
inline std::tuple<Tensor, Tensor> TensorMethods::sort(std::optional<bool> stable, int64_t dim, bool descending) const { return lattis::sort(self_(), stable, dim, descending); }
inline std::vector<Tensor> TensorMethods::split(int64_t split_size, int64_t dim) const { return lattis::split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split(IntArrayRef split_size, int64_t dim) const { return lattis::split(self_(), split_size, dim); }
inline std::vector<Tensor> TensorMethods::split_with_sizes(IntArrayRef split_sizes, int64_t dim) const { return lattis::split_with_sizes(self_(), split_sizes, dim); }
inline Tensor TensorMethods::sqrt() const { return lattis::sqrt(self_()); }
inline const Tensor& TensorMethods::sqrt_() const {
  static detail::Callee op_{"aten::sqrt_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::square() const { return lattis::square(self_()); }
inline const Tensor& TensorMethods::square_() const {
  static detail::Callee op_{"aten::square_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::squeeze() const { return lattis::squeeze(self_()); }
inline Tensor TensorMethods::squeeze(int64_t dim) const { return lattis::squeeze(self_(), dim); }
inline Tensor TensorMethods::squeeze(IntArrayRef dim) const { return lattis::squeeze(self_(), dim); }
inline Tensor TensorMethods::std(bool unbiased) const { return lattis::std(self_(), unbiased); }
inline Tensor TensorMethods::std(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lattis::std(self_(), dim, unbiased, keepdim); }
inline Tensor TensorMethods::std(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lattis::std(self_(), dim, correction, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(bool unbiased) const { return lattis::std_mean(self_(), unbiased); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lattis::std_mean(self_(), dim, unbiased, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::std_mean(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lattis::std_mean(self_(), dim, correction, keepdim); }
inline Tensor TensorMethods::sub(const Tensor& other, const Scalar& alpha) const { return lattis::sub(self_(), other, alpha); }
inline Tensor TensorMethods::sub(const Scalar& other, const Scalar& alpha) const { return lattis::sub(self_(), other, alpha); }
inline const Tensor& TensorMethods::sub_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::sub_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::sub_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::subtract(const Tensor& other, const Scalar& alpha) const { return lattis::subtract(self_(), other, alpha); }
inline Tensor TensorMethods::subtract(const Scalar& other, const Scalar& alpha) const { return lattis::subtract(self_(), other, alpha); }
inline const Tensor& TensorMethods::subtract_(const Tensor& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::subtract_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::subtract_(const Scalar& other, const Scalar& alpha) const {
  static detail::Callee op_{"aten::subtract_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(alpha)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::sum(std::optional<ScalarType> dtype) const { return lattis::sum(self_(), dtype); }
inline Tensor TensorMethods::sum(const OptionalIntArrayRef& dim, bool keepdim, std::optional<ScalarType> dtype) const { return lattis::sum(self_(), dim, keepdim, dtype); }
inline Tensor TensorMethods::swapaxes(int64_t axis0, int64_t axis1) const { return lattis::swapaxes(self_(), axis0, axis1); }
inline Tensor TensorMethods::swapdims(int64_t dim0, int64_t dim1) const { return lattis::swapdims(self_(), dim0, dim1); }
inline Tensor TensorMethods::t() const { return lattis::t(self_()); }
inline Tensor TensorMethods::take(const Tensor& index) const { return lattis::take(self_(), index); }
inline Tensor TensorMethods::take_along_dim(const Tensor& indices, std::optional<int64_t> dim) const { return lattis::take_along_dim(self_(), indices, dim); }
inline Tensor TensorMethods::tan() const { return lattis::tan(self_()); }
inline const Tensor& TensorMethods::tan_() const {
  static detail::Callee op_{"aten::tan_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::tanh() const { return lattis::tanh(self_()); }
inline const Tensor& TensorMethods::tanh_() const {
  static detail::Callee op_{"aten::tanh_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline std::vector<Tensor> TensorMethods::tensor_split(int64_t sections, int64_t dim) const { return lattis::tensor_split(self_(), sections, dim); }
inline std::vector<Tensor> TensorMethods::tensor_split(IntArrayRef indices, int64_t dim) const { return lattis::tensor_split(self_(), indices, dim); }
inline Tensor TensorMethods::tile(IntArrayRef dims) const { return lattis::tile(self_(), dims); }
inline Tensor TensorMethods::to(ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const {
  static detail::Callee op_{"aten::to", "dtype"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dtype), lattis::value(non_blocking), lattis::value(copy), lattis::value(memory_format)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::to(const std::optional<Device>& device, std::optional<ScalarType> dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const {
  static detail::Callee op_{"aten::to", "device"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(device), lattis::value(dtype), lattis::value(non_blocking), lattis::value(copy), lattis::value(memory_format)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::to(const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) const {
  static detail::Callee op_{"aten::to", "other"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(non_blocking), lattis::value(copy), lattis::value(memory_format)};
  return op_.tensor(args_);
}
inline std::tuple<Tensor, Tensor> TensorMethods::topk(int64_t k, int64_t dim, bool largest, bool sorted) const { return lattis::topk(self_(), k, dim, largest, sorted); }
inline Tensor TensorMethods::trace() const { return lattis::trace(self_()); }
inline Tensor TensorMethods::transpose(int64_t dim0, int64_t dim1) const { return lattis::transpose(self_(), dim0, dim1); }
inline Tensor TensorMethods::tril(int64_t diagonal) const { return lattis::tril(self_(), diagonal); }
inline const Tensor& TensorMethods::tril_(int64_t diagonal) const {
  static detail::Callee op_{"aten::tril_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(diagonal)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::triu(int64_t diagonal) const { return lattis::triu(self_(), diagonal); }
inline const Tensor& TensorMethods::triu_(int64_t diagonal) const {
  static detail::Callee op_{"aten::triu_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(diagonal)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::true_divide(const Tensor& other) const { return lattis::true_divide(self_(), other); }
inline Tensor TensorMethods::true_divide(const Scalar& other) const { return lattis::true_divide(self_(), other); }
inline Tensor TensorMethods::true_divide(const Tensor& other, const Text& rounding_mode) const { return lattis::true_divide(self_(), other, rounding_mode); }
inline Tensor TensorMethods::true_divide(const Scalar& other, const Text& rounding_mode) const { return lattis::true_divide(self_(), other, rounding_mode); }
inline const Tensor& TensorMethods::true_divide_(const Tensor& other) const {
  static detail::Callee op_{"aten::true_divide_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Scalar& other) const {
  static detail::Callee op_{"aten::true_divide_", "Scalar"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Tensor& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::true_divide_", "Tensor_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::true_divide_(const Scalar& other, const Text& rounding_mode) const {
  static detail::Callee op_{"aten::true_divide_", "Scalar_mode"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other), lattis::value(rounding_mode)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::trunc() const { return lattis::trunc(self_()); }
inline const Tensor& TensorMethods::trunc_() const {
  static detail::Callee op_{"aten::trunc_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}
inline std::vector<Tensor> TensorMethods::unbind(int64_t dim) const { return lattis::unbind(self_(), dim); }
inline Tensor TensorMethods::unflatten(int64_t dim, IntArrayRef sizes) const { return lattis::unflatten(self_(), dim, sizes); }
inline Tensor TensorMethods::unfold(int64_t dimension, int64_t size, int64_t step) const {
  static detail::Callee op_{"aten::unfold", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dimension), lattis::value(size), lattis::value(step)};
  return op_.tensor(args_);
}
inline const Tensor& TensorMethods::uniform_(double from, double to, const Generator& generator) const {
  static detail::Callee op_{"aten::uniform_", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(from), lattis::value(to), lattis::value(generator)};
  op_.written(args_);
  return self_();
}
inline Tensor TensorMethods::unsqueeze(int64_t dim) const { return lattis::unsqueeze(self_(), dim); }
inline Tensor TensorMethods::var(bool unbiased) const { return lattis::var(self_(), unbiased); }
inline Tensor TensorMethods::var(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lattis::var(self_(), dim, unbiased, keepdim); }
inline Tensor TensorMethods::var(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lattis::var(self_(), dim, correction, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(bool unbiased) const { return lattis::var_mean(self_(), unbiased); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(const OptionalIntArrayRef& dim, bool unbiased, bool keepdim) const { return lattis::var_mean(self_(), dim, unbiased, keepdim); }
inline std::tuple<Tensor, Tensor> TensorMethods::var_mean(const OptionalIntArrayRef& dim, const std::optional<Scalar>& correction, bool keepdim) const { return lattis::var_mean(self_(), dim, correction, keepdim); }
inline Tensor TensorMethods::vdot(const Tensor& other) const { return lattis::vdot(self_(), other); }
inline Tensor TensorMethods::view(IntArrayRef size) const {
  static detail::Callee op_{"aten::view", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(size)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::view(ScalarType dtype) const {
  static detail::Callee op_{"aten::view", "dtype"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(dtype)};
  return op_.tensor(args_);
}
inline Tensor TensorMethods::view_as(const Tensor& other) const {
  static detail::Callee op_{"aten::view_as", ""};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  return op_.tensor(args_);
}
inline std::vector<Tensor> TensorMethods::vsplit(int64_t sections) const { return lattis::vsplit(self_(), sections); }
inline std::vector<Tensor> TensorMethods::vsplit(IntArrayRef indices) const { return lattis::vsplit(self_(), indices); }
inline Tensor TensorMethods::xlogy(const Tensor& other) const { return lattis::xlogy(self_(), other); }
inline Tensor TensorMethods::xlogy(const Scalar& other) const { return lattis::xlogy(self_(), other); }
inline const Tensor& TensorMethods::xlogy_(const Tensor& other) const {
  static detail::Callee op_{"aten::xlogy_", "Tensor"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::xlogy_(const Scalar& other) const {
  static detail::Callee op_{"aten::xlogy_", "Scalar_Other"};
  const lattis_value args_[] = {lattis::value(self_()), lattis::value(other)};
  op_.written(args_);
  return self_();
}
inline const Tensor& TensorMethods::zero_() const {
  static detail::Callee op_{"aten::zero_", ""};
  const lattis_value args_[] = {lattis::value(self_())};
  op_.written(args_);
  return self_();
}

}  // namespace lattis
#pragma GCC visibility pop

#endif
