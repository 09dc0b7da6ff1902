// temporary
#pragma once
#include <lamella/extension.h>
namespace lamella {
inline std::tuple<Tensor, Tensor> _attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale) {
  static detail::Callee op_{"aten::_attention", ""};
  const lamella_value args_[] = {lamella::value(query), lamella::value(key), lamella::value(value), lamella::value(attn_mask), lamella::value(is_causal), lamella::value(scale)};
  auto all_ = op_.several<2>(args_);
  return {std::move(all_[0]), std::move(all_[1])};
}
}
