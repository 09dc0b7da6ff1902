#include "call.h"

#include <map>
#include <mutex>

#include "lowered.h"

namespace lamella::transforms {
namespace {

std::mutex loops_lock;
std::map<std::string, int64_t>& loop_counts() {
  static auto* counts = new std::map<std::string, int64_t>;
  return *counts;
}

lamella_value owned_list(const std::vector<Tensor>& tensors) {
  lamella_value out = none();
  check(api().value_retain(&static_cast<const lamella_value&>(value(TensorList(tensors))), &out));
  return out;
}

}  // namespace

void count_loop(const lamella_operator* op) {
  const std::lock_guard<std::mutex> guard(loops_lock);
  loop_counts()[title(op)]++;
}

std::vector<std::pair<std::string, int64_t>> loops() {
  const std::lock_guard<std::mutex> guard(loops_lock);
  return {loop_counts().begin(), loop_counts().end()};
}

void clear_loops() {
  const std::lock_guard<std::mutex> guard(loops_lock);
  loop_counts().clear();
}

Call::Call(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, const Level& level,
           const Plan& p)
    : plan(p), f_(f), args_(args), rets_(rets), s_(s), level_(level) {
  const auto add = [this](int argument, int element, lamella_tensor* t) {
    if (!t) return;
    const Box* b = box_of(t);
    const bool batched = b && b->level == level_.number;
    operands_.push_back(
        {argument, element, t, batched ? b->inner : outside(Tensor::borrow(t), level_.number), batched, t->dl.ndim});
  };
  for (const int i : p.tensors) {
    if (args[i].tag == LAMELLA_TENSOR) add(i, -1, args[i].as.tensor);
    if (args[i].tag == LAMELLA_TENSOR_LIST)
      for (uint32_t k = 0; k < args[i].length; k++) add(i, static_cast<int>(k), args[i].as.tensors[k]);
  }
}

Operand* Call::operand(int argument) {
  for (Operand& o : operands_)
    if (o.argument == argument) return &o;
  return nullptr;
}

bool Call::is_batched(int argument) const {
  for (const Operand& o : operands_)
    if (o.argument == argument && o.batched) return true;
  return false;
}

void Call::give(int i, const Tensor& batch, int64_t at) {
  LAMELLA_CHECK(batch.dim() > at && batch.size(at) == level_.size, "vmap: the rule of ", name(),
                " made a result of shape ", batch.sizes(), " without the batch of ", level_.size, " along dimension ",
                at);
  rets_[i] = value(boxed(at == 0 ? batch : batch.movedim(at, 0), level_.number).release());
}

void Call::give_list(int i, const std::vector<Tensor>& batches) {
  std::vector<Tensor> made;
  for (const Tensor& t : batches) made.push_back(boxed(t, level_.number));
  rets_[i] = owned_list(made);
}

void Call::give_written() {
  for (int i = 0; i < f_->num_rets; i++) {
    const lamella_argument* r = api().operator_return(f_->op, i);
    if (r->alias_of >= 0) check(api().value_retain(&args_[r->alias_of], &rets_[i]));
  }
}

void Call::check_written() const {
  if (plan.written < 0 || is_batched(plan.written)) return;
  for (const Operand& o : operands_)
    LAMELLA_CHECK(
        !o.batched || o.argument == plan.written, "vmap: ", name(), ": argument '",
        api().operator_argument(f_->op, o.argument)->name,
        "' differs between samples, so that it cannot be written into the tensor of argument '",
        api().operator_argument(f_->op, plan.written)->name,
        "', which all samples share; make that tensor by zeros_like or clone of a tensor that vmap maps over, "
        "or call the form that is not in-place");
}

lamella_status Call::view() {
  const AsCalled as(f_, s_, level_.number);
  return api().redispatch(f_, args_, f_->num_args, rets_, f_->num_rets);
}

lamella_status Call::compose() {
  const InComposite in(f_, s_, level_.number);
  return api().decompose(f_, args_, f_->num_args, rets_, f_->num_rets);
}

// An in-place or an out= form computes the functional form's result, and copies it.
lamella_status Call::copy_functional() {
  Arguments a(f_, args_);
  {
    const InComposite in(f_, s_, level_.number);
    const ExcludeGuard outside(f_->passed & ~layer_bit);
    a.run(plan.functional);
  }
  const AsCalled as(f_, s_, level_.number);
  for (int i = 0; i < api().operator_num_returns(plan.functional); i++) {
    const lamella_argument* r = api().operator_return(f_->op, i);
    LAMELLA_CHECK_NOT_IMPLEMENTED(
        a.raw(i).tag == LAMELLA_TENSOR && r->alias_of >= 0 && args_[r->alias_of].tag == LAMELLA_TENSOR,
        "vmap: ", name(), " has no rule for its form with out=");
    const Tensor to = Tensor::borrow(args_[r->alias_of].as.tensor), from = Tensor::borrow(a.raw(i).as.tensor);
    const Box* b = box_of(to.get());
    LAMELLA_CHECK(b && b->level == level_.number, "vmap: ", name(), ": argument '",
                  api().operator_argument(f_->op, r->alias_of)->name,
                  "' is a tensor that all samples share, and the result differs between samples");
    LAMELLA_CHECK(plan.form != LAMELLA_OUT_FORM || (from.dtype() == to.dtype() && from.sizes() == to.sizes()),
                  "vmap: ", name(), ": argument '", api().operator_argument(f_->op, r->alias_of)->name,
                  "' must have shape ", from.sizes(), " and dtype ", from.dtype(), ", got ", to.sizes(), " and ",
                  to.dtype());
    b->inner.copy_(unboxed(from, level_, 0));
  }
  give_written();
  return LAMELLA_OK;
}

// Calls the operator once for each sample, and stacks the results. A batch without samples runs it on zeros, for the
// sizes of the results.
lamella_status Call::loop() {
  LAMELLA_CHECK(level_.choice != strict_fallback, "vmap: ", name(),
                " has no rule for batches, and loops over samples are errors in strict mode; give the operator a rule "
                "(lamella.library.register_vmap), or leave strict mode");
  count_loop(f_->op);
  const bool is_empty = level_.size == 0;
  const int64_t n = is_empty ? 1 : level_.size;
  std::vector<std::vector<std::vector<Tensor>>> all(f_->num_rets);  // by result, by element, by sample
  std::vector<bool> is_list(f_->num_rets);
  for (int64_t k = 0; k < n; k++) {
    Lowered one(*this);
    for (const Operand& o : operands_)
      if (o.batched) one.tensor(o, is_empty ? o.tensor.new_zeros(sizes_of_sample(o.tensor)) : o.tensor.select(0, k));
    one.run(f_->op);
    if (plan.written >= 0) continue;
    for (int i = 0; i < f_->num_rets; i++) {
      const bool list = one.raw(i).tag == LAMELLA_TENSOR_LIST;
      LAMELLA_CHECK(list || one.raw(i).tag == LAMELLA_TENSOR || one.raw(i).tag == LAMELLA_NONE, "vmap: ", name(),
                    " returns a number, which cannot differ between samples; call it outside of vmap");
      is_list[i] = list;
      const std::vector<Tensor> made = list ? one.list(i) : std::vector<Tensor>{one.result(i)};
      all[i].resize(made.size());
      for (size_t e = 0; e < made.size(); e++) all[i][e].push_back(made[e]);
    }
  }
  if (plan.written >= 0) return give_written(), LAMELLA_OK;
  for (int i = 0; i < f_->num_rets; i++) {
    std::vector<Tensor> stacked;
    for (const std::vector<Tensor>& samples : all[i]) {
      if (!samples[0].defined()) continue;
      for (const Tensor& t : samples)
        LAMELLA_CHECK(t.sizes() == samples[0].sizes(), "vmap: ", name(),
                      ": the shape of its result depends on values, and differs between samples");
      const Tensor s = lamella::stack(samples);
      stacked.push_back(is_empty ? s.narrow(0, 0, 0) : s);
    }
    if (is_list[i])
      give_list(i, stacked);
    else if (!stacked.empty())
      give(i, stacked[0]);
  }
  return LAMELLA_OK;
}

lamella_status Call::run() {
  const How how = plan.rule.how;
  LAMELLA_CHECK(
      how != How::host, "vmap: ", name(),
      " of a tensor that differs between samples: its value cannot become a number of the program. Control flow "
      "on values of samples is not possible; use lamella.where");
  LAMELLA_CHECK(how != How::dynamic, "vmap: ", name(),
                ": the shape of its result depends on values, and may differ between samples; call it outside of vmap");
  if (plan.is_view && !plan.has_rule) return plan.has_composite ? compose() : view();
  check_written();
  if (plan.is_random && level_.randomness != different_random) return plan.may_draw ? compose() : random();
  if (how != How::compose && how != How::loop) {
    const AsCalled as(f_, s_, level_.number);
    if (lower()) return LAMELLA_OK;
  }
  if (plan.functional) return copy_functional();
  if (plan.has_composite && how != How::loop) return compose();
  const AsCalled as(f_, s_, level_.number);
  return loop();
}

bool Call::lower() {
  switch (plan.rule.how) {
    case How::lead:
      return lead();
    case How::gather:
      return gather();
    case How::custom:
      return plan.rule.function(*this);
    default:
      return plan.form != LAMELLA_OUT_FORM && by_dims();
  }
}

// Draws random numbers that are the same for all samples.
lamella_status Call::random() {
  LAMELLA_CHECK(level_.randomness == same_random, "vmap: ", name(), refused_random);
  if (plan.functional) return copy_functional();
  const AsCalled as(f_, s_, level_.number);
  if (level_.size == 0) return loop();
  Lowered one(*this);
  if (title(f_->op).find("_like") != std::string::npos) {  // the tensor gives sizes alone
    for (const Operand& o : operands_)
      if (o.batched) one.tensor(o, o.tensor.select(0, 0));
    one.run(f_->op);
    return one.give_shared(), LAMELLA_OK;
  }
  for (const Operand& o : operands_) {
    LAMELLA_CHECK(!o.batched || o.argument == plan.written, "vmap: ", name(), ": argument '",
                  api().operator_argument(f_->op, o.argument)->name,
                  "' differs between samples, so that its random numbers cannot be the same; give vmap "
                  "randomness='different'");
    if (!o.batched) continue;
    const Tensor sample = lamella::empty_like(o.tensor.select(0, 0));
    one.tensor(o, sample);
    one.run(f_->op);
    o.tensor.copy_(sample);
  }
  give_written();
  return LAMELLA_OK;
}

}  // namespace lamella::transforms
