#include "group/parts.h"

#include <lamella/operators.h>

#include "group/kinds.h"

namespace lamella::distributed {
namespace {

bool is_narrow_float(int dtype) {
  const auto& info = *api().dtype_info(dtype);
  return info.dtype_class & LAMELLA_CLASS_FLOATING && info.itemsize < 4;
}

Tensor combined(const Tensor& sum, const Tensor& next, int reduction) {
  switch (reduction) {
    case LAMELLA_REDUCE_SUM:
      return sum.add_(next);
    case LAMELLA_REDUCE_PRODUCT:
      return sum.mul_(next);
    case LAMELLA_REDUCE_MIN:
      return lamella::minimum(sum, next);
    case LAMELLA_REDUCE_MAX:
      return lamella::maximum(sum, next);
    case LAMELLA_REDUCE_BAND:
      return sum.bitwise_and_(next);
    case LAMELLA_REDUCE_BOR:
      return sum.bitwise_or_(next);
    default:
      return sum.bitwise_xor_(next);
  }
}

lamella_loop loop_of(const char* name, int dtype) {
  const lamella_operator* op = api().find_operator(name, "Tensor");
  if (!op) op = api().find_operator(name, "");
  const lamella_pointwise* meaning = op ? api().operator_pointwise(op) : nullptr;
  return meaning && dtype < LAMELLA_MAX_LOOPS ? meaning->loops[dtype] : nullptr;
}

}  // namespace

Tensor reduced(const std::vector<Tensor>& parts, int reduction, bool mean) {
  const ScalarType dtype = parts[0].dtype();
  const bool narrow = reduction <= LAMELLA_REDUCE_PRODUCT && is_narrow_float(static_cast<int>(dtype));
  Tensor sum = parts[0].to(narrow ? kFloat : dtype, false, true);
  for (size_t r = 1; r < parts.size(); r++) sum = combined(sum, parts[r], reduction);
  if (mean) sum.div_(Scalar(static_cast<int64_t>(parts.size())));
  return sum.to(dtype).contiguous();
}

PartsReducer::PartsReducer(int dtype, int reduction, bool mean)
    : dtype_(dtype), reduction_(reduction), mean_(mean), itemsize_(api().dtype_info(dtype)->itemsize) {
  static const char* const names[] = {"aten::add",         "aten::mul",        "aten::minimum",    "aten::maximum",
                                      "aten::bitwise_and", "aten::bitwise_or", "aten::bitwise_xor"};
  static const char* const of_bools[] = {names[5], names[4], names[4], names[5], names[4], names[5], names[6]};
  if (is_narrow_float(dtype)) return;
  loop_ = loop_of((dtype == LAMELLA_BOOL ? of_bools : names)[reduction], dtype);
  if (!mean) return;
  if (dtype == LAMELLA_FLOAT32 || dtype == LAMELLA_FLOAT64) quotient_ = loop_of("aten::div", dtype);
  if (!quotient_) loop_ = nullptr;
}

void PartsReducer::operator()(const std::vector<const char*>& parts, char* out, int64_t n) const {
  if (!loop_) {
    std::vector<Tensor> tensors;
    const TensorOptions options = TensorOptions().dtype(static_cast<ScalarType>(dtype_));
    for (const char* part : parts)
      tensors.push_back(from_blob(static_cast<void*>(const_cast<char*>(part)), {n}, options));
    from_blob(static_cast<void*>(out), {n}, options).copy_(reduced(tensors, reduction_, mean_));
    return;
  }
  lamella_value one{};  // add's factor
  one.tag = LAMELLA_INT;
  one.as.i = 1;
  const int64_t strides[] = {itemsize_, itemsize_, itemsize_};
  const char* sum = parts[0];
  for (size_t r = 1; r < parts.size(); r++, sum = out) {
    void* const data[] = {out, const_cast<char*>(sum), const_cast<char*>(parts[r])};
    loop_(n, data, strides, &one);
  }
  if (!mean_) return;
  const auto size = static_cast<double>(parts.size());
  const auto narrowed = static_cast<float>(size);
  const void* const number = dtype_ == LAMELLA_FLOAT64 ? static_cast<const void*>(&size) : &narrowed;
  void* const data[] = {out, out, const_cast<void*>(number)};
  const int64_t one_number[] = {itemsize_, itemsize_, 0};
  quotient_(n, data, one_number, nullptr);
}

}  // namespace lamella::distributed
