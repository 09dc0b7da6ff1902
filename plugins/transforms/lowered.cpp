#include "lowered.h"

#include <algorithm>

namespace lamella::transforms {

Arguments::Arguments(lamella_frame* f, const lamella_value* args) : f_(f), values_(args, args + f->num_args) {
  rets_.fill(none());
  for (lamella_value& v : values_)
    if (v.tag == LAMELLA_TENSOR_LIST)
      v.as.tensors = tensors_.emplace_back(v.as.tensors, v.as.tensors + v.length).data();
}

Arguments::~Arguments() {
  for (lamella_value& v : rets_) api().value_release(&v);
}

void Arguments::tensor(int argument, int element, const Tensor& t) {
  lamella_value& v = values_[static_cast<size_t>(argument)];
  kept_.push_back(t);
  if (element < 0)
    v = t.defined() ? value(t.get()) : none();
  else
    const_cast<lamella_tensor**>(v.as.tensors)[element] = t.get();
}

void Arguments::ints(int argument, const std::vector<int64_t>& list) {
  values_[static_cast<size_t>(argument)] = value(lists_.emplace_back(list));
}

void Arguments::integer(int argument, int64_t i) { values_[static_cast<size_t>(argument)] = value(i); }

void Arguments::run(const lamella_operator* op, lamella_frame* parent) {
  num_rets_ = api().operator_num_returns(op);
  const int count = std::min(api().operator_num_args(op), static_cast<int32_t>(values_.size()));
  check(api().call(parent, op, values_.data(), count, rets_.data(), num_rets_));
}

Tensor Arguments::result(int i) const {
  const lamella_value& v = raw(i);
  return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor();
}

std::vector<Tensor> Arguments::list(int i) const {
  const lamella_value& v = raw(i);
  std::vector<Tensor> all;
  for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++)
    all.push_back(Tensor::borrow(v.as.tensors[k]));
  return all;
}

void Arguments::move_to(lamella_value* rets) {
  for (int i = 0; i < num_rets_; i++) std::swap(rets[i], rets_[static_cast<size_t>(i)]);
}

Tensor copy_of(const Tensor& t, lamella_frame* call) {
  static const lamella_operator* const clone = api().find_operator("aten::clone", "");
  const lamella_value given[2] = {value(t.get()), none()};
  lamella_value made = none();
  check(api().call(call, clone, given, 2, &made, 1));
  return Tensor::steal(made.as.tensor);
}

void check_castable(const lamella_frame* f, const Tensor& result, const Tensor& to) {
  const auto kind_of = [](const Tensor& t) {
    return t.is_complex() ? 3 : t.is_floating_point() ? 2 : t.dtype() != kBool ? 1 : 0;
  };
  LAMELLA_CHECK(kind_of(result) <= kind_of(to), title(f), ": result type ", result.dtype(),
                " cannot be cast to the type ", to.dtype(), " of the tensor that is written");
}

Lowered::Lowered(Call& c) : Arguments(c.f_, c.args_), c_(c) {
  for (lamella_value& v : values_) {
    // The order of channels in memory is that of images; a batch of samples has another number of dimensions.
    if (v.tag == LAMELLA_MEMORY_FORMAT && v.as.i == LAMELLA_CHANNELS_LAST)
      v.as.i = c.name() == "contiguous" ? LAMELLA_CONTIGUOUS_FORMAT : LAMELLA_PRESERVE_FORMAT;
  }
  for (const Operand& o : c.operands_) tensor(o, o.tensor);
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
