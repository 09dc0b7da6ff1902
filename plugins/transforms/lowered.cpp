#include "lowered.h"

namespace lamella::transforms {

Lowered::Lowered(Call& c) : c_(c), values_(c.args_, c.args_ + c.num_args()) {
  rets_.fill(none());
  for (int i = 0; i < c.num_args(); i++) {
    lamella_value& v = values_[static_cast<size_t>(i)];
    // The order of channels in memory is that of images; a batch of samples has another number of dimensions.
    if (v.tag == LAMELLA_MEMORY_FORMAT && v.as.i == LAMELLA_CHANNELS_LAST)
      v.as.i = c.name() == "contiguous" ? LAMELLA_CONTIGUOUS_FORMAT : LAMELLA_PRESERVE_FORMAT;
    if (v.tag != LAMELLA_TENSOR_LIST) continue;
    v.as.tensors = tensors_.emplace_back(v.as.tensors, v.as.tensors + v.length).data();
  }
  for (const Operand& o : c.operands_) tensor(o, o.tensor);
}

Lowered::~Lowered() {
  for (lamella_value& v : rets_) api().value_release(&v);
}

void Lowered::tensor(const Operand& o, const Tensor& t) {
  lamella_value& v = values_[static_cast<size_t>(o.argument)];
  kept_.push_back(t);
  if (o.element < 0)
    v = value(t.get());
  else
    const_cast<lamella_tensor**>(v.as.tensors)[o.element] = t.get();
}

void Lowered::ints(int argument, const std::vector<int64_t>& list) {
  values_[static_cast<size_t>(argument)] = value(lists_.emplace_back(list));
}

void Lowered::integer(int argument, int64_t i) { values_[static_cast<size_t>(argument)] = value(i); }

void Lowered::run(const lamella_operator* op, lamella_frame* parent) {
  num_rets_ = api().operator_num_returns(op);
  check(api().call(parent ? parent : c_.f_, op, values_.data(), c_.num_args(), rets_.data(), num_rets_));
}

Tensor Lowered::result(int i) const {
  const lamella_value& v = raw(i);
  return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor();
}

std::vector<Tensor> Lowered::list(int i) const {
  const lamella_value& v = raw(i);
  std::vector<Tensor> all;
  for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++)
    all.push_back(Tensor::borrow(v.as.tensors[k]));
  return all;
}

void Lowered::give_shared() {
  for (int i = 0; i < num_rets_; i++) std::swap(c_.rets_[i], rets_[static_cast<size_t>(i)]);
}

void Lowered::give(int64_t at) {
  if (c_.plan.written >= 0) return c_.give_written();
  for (int i = 0; i < num_rets_; i++) {
    const Operand* same = nullptr;  // `to` and `contiguous` may return their argument
    for (const Operand& o : c_.operands_)
      if (raw(i).tag == LAMELLA_TENSOR && o.batched && o.tensor.get() == raw(i).as.tensor) same = &o;
    if (same) {
      check(api().value_retain(&static_cast<const lamella_value&>(value(same->given)), &c_.rets_[i]));
      continue;
    }
    if (raw(i).tag == LAMELLA_TENSOR) c_.give(i, result(i), at);
    if (raw(i).tag == LAMELLA_TENSOR_LIST) {
      std::vector<Tensor> batches = list(i);
      if (at != 0)
        for (Tensor& t : batches) t = t.movedim(at, 0);
      c_.give_list(i, batches);
    }
    LAMELLA_CHECK(raw(i).tag == LAMELLA_TENSOR || raw(i).tag == LAMELLA_TENSOR_LIST || raw(i).tag == LAMELLA_NONE,
                  "vmap: ", c_.name(),
                  " returns a number, which cannot differ between samples; call it outside of vmap");
  }
}

}  // namespace lamella::transforms
