#include "forward.h"

#include <algorithm>

#include "lowered.h"
#include "tangent.h"
#include "walk.h"

namespace lamella::transforms {
namespace {

// A tensor argument, or an element of a list. Without a tangent it is a constant at the level.
struct Part {
  int argument;
  int element;  // in its list, or -1
  lamella_tensor* given;
  Tensor primal, tangent;
};

bool contains(const std::vector<int>& list, int i) { return std::find(list.begin(), list.end(), i) != list.end(); }

Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

}  // namespace

class Forward {
 public:
  Forward(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, int64_t level, Served& op)
      : f_(f), args_(args), rets_(rets), s_(s), level_(level), served_(op), plan_(op.get()) {
    const auto add = [this](int argument, int element, lamella_tensor* t) {
      if (!t) return;
      const Box* b = box_of(t);
      if (b && b->level == level_)
        parts_.push_back({argument, element, t, b->inner, tangent_of(t)});
      else
        parts_.push_back({argument, element, t, outside(Tensor::borrow(t), level_), Tensor()});
    };
    for (int i = 0; i < f->num_args; i++) {
      if (args[i].tag == LAMELLA_TENSOR) add(i, -1, args[i].as.tensor);
      if (args[i].tag == LAMELLA_TENSOR_LIST)
        for (uint32_t k = 0; k < args[i].length; k++) add(i, static_cast<int>(k), args[i].as.tensors[k]);
    }
  }

  lamella_status run() {
    const Tangent& rule = plan_.tangent;
    const bool has_text = rule.by != By::derivative;
    if (rule.by == By::primal && is_made(f_, served_)) return make();
    const bool any = std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.tangent.defined(); });
    if (plan_.rule.how == How::host || rule.by == By::primal || !any) return on_primals();
    if (plan_.is_view && !has_text) return plan_.has_composite ? compose() : view();
    if (rule.by == By::constant || (plan_.is_random && plan_.written >= 0 && !plan_.functional)) return constant();
    if (rule.by == By::linear && fits(rule)) return linear();
    if (rule.by == By::each && fits(rule)) return each();
    if (rule.by == By::function) return by_function();
    if (plan_.functional) return through_functional();
    if (plan_.has_composite && !plan_.has_derivative) return compose();
    return by_derivative();
  }

  // Makes a tensor within a composite, which may write values with tangents into it.
  lamella_status make() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a);
    const Tensor t = a.result(0);
    rets_[0] = value(dual(t, is_differentiable(t) ? zeros_of(t) : Tensor(), level_).release());
    return LAMELLA_OK;
  }

  // Calls the operator on the primals alone.
  lamella_status on_primals() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a);
    give_all(a, {});
    return LAMELLA_OK;
  }

 private:
  // Whether all tensors that have a tangent are arguments that the rule names.
  bool fits(const Tangent& rule) const {
    return std::all_of(parts_.begin(), parts_.end(), [&](const Part& p) {
      return !p.tangent.defined() || contains(rule.of, p.argument) || contains(rule.others, p.argument);
    });
  }

  lamella_status view() {
    const AsCalled as(f_, s_, level_);
    return api().redispatch(f_, args_, f_->num_args, rets_, f_->num_rets);
  }

  lamella_status compose() {
    const InComposite in(f_, s_, level_);
    return api().decompose(f_, args_, f_->num_args, rets_, f_->num_rets);
  }

  // Calls the operator with primals, whose call may be one of a composite in which outer levels make tensors.
  void compute(Arguments& a) {
    for (const Part& p : parts_) a.tensor(p.argument, p.element, p.primal);
    a.run(f_->op, served_.kind == Served::makes ? f_->parent : f_);
  }

  // Makes the tensor that the call writes a box of the level, and gives the call a copy of its tangent to write to.
  // Returns false if it has no tangent, since it is one of integers.
  bool prepare_written() {
    for (Part& p : parts_) {
      if (p.argument != plan_.written) continue;
      p.primal = become_dual(Tensor::borrow(p.given), level_)->inner;
      p.tangent = tangent_of(p.given);
      if (p.tangent.defined()) p.tangent = copy_like_others(p.tangent);
      return p.tangent.defined();
    }
    return true;
  }
  // Returns a copy of a tangent that belongs to the levels of the other tangents, so that these may be written to it.
  Tensor copy_like_others(const Tensor& tangent) const {
    for (const Part& p : parts_)
      if (p.tangent.defined() && p.tangent.is_opaque() && p.tangent.numel())
        return tangent + lamella::zeros_like(p.tangent).sum().to(tangent.dtype());
    return copy_of(tangent);
  }

  // ---- results

  void give(int i, const Tensor& primal, const Tensor& given) {
    for (const Part& p : parts_) {  // `to` and `contiguous` may return their argument
      if (!given.defined() || p.primal.get() != primal.get()) continue;
      check(api().value_retain(&static_cast<const lamella_value&>(value(p.given)), &rets_[i]));
      return;
    }
    rets_[i] = value(boxed_result(primal, given).release());
  }
  Tensor boxed_result(const Tensor& primal, const Tensor& given) const {
    if (!given.defined() || !is_differentiable(primal)) return primal;
    Tensor tangent = given;
    if (tangent.dtype() != primal.dtype()) tangent = tangent.to(primal.dtype());
    if (tangent.sizes() != primal.sizes()) tangent = tangent.expand(primal.sizes());
    return dual(primal, tangent, level_);
  }

  // Gives the results of a call on primals; `tangents` are those of the results, those of lists one by one, or missing.
  void give_all(Arguments& a, const std::vector<Tensor>& tangents) {
    size_t at = 0;
    const auto next = [&] { return at < tangents.size() ? tangents[at++] : Tensor(); };
    for (int i = 0; i < f_->num_rets; i++) {
      const lamella_argument* r = api().operator_return(f_->op, i);
      const bool is_written =
          r->alias_of >= 0 && api().operator_argument(f_->op, r->alias_of)->flags & LAMELLA_ARGUMENT_WRITTEN;
      if (is_written) {
        check(api().value_retain(&args_[r->alias_of], &rets_[i]));
      } else if (a.raw(i).tag == LAMELLA_TENSOR) {
        give(i, a.result(i), next());
      } else if (a.raw(i).tag == LAMELLA_TENSOR_LIST) {
        std::vector<Tensor> made;
        for (const Tensor& t : a.list(i)) made.push_back(boxed_result(t, next()));
        check(api().value_retain(&static_cast<const lamella_value&>(value(TensorList(made))), &rets_[i]));
      } else {
        check(api().value_retain(&a.raw(i), &rets_[i]));
      }
    }
  }

  // Returns the tensors among the results of a call, those of lists one by one; undefined for others.
  std::vector<Tensor> results_of(const Arguments& a) const {
    std::vector<Tensor> all;
    for (int i = 0; i < f_->num_rets; i++) {
      if (a.raw(i).tag == LAMELLA_TENSOR_LIST)
        for (const Tensor& t : a.list(i)) all.push_back(t);
      else
        all.push_back(a.result(i));
    }
    return all;
  }

  // ---- ways to a tangent

  lamella_status constant() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a);
    for (const Part& p : parts_)
      if (p.argument == plan_.written && p.tangent.defined()) replace_part(Tensor::borrow(p.given), zeros_of(p.primal));
    give_all(a, {});
    return LAMELLA_OK;
  }

  lamella_status linear() {
    const AsCalled as(f_, s_, level_);
    const bool has_tangent = prepare_written();
    Arguments a(f_, args_), b(f_, args_);
    compute(a);
    if (!has_tangent) return give_all(a, {}), LAMELLA_OK;
    for (const Part& p : parts_) {
      const bool is_linear = contains(plan_.tangent.of, p.argument);
      b.tensor(p.argument, p.element, !is_linear ? p.primal : p.tangent.defined() ? p.tangent : zeros_of(p.primal));
    }
    if (plan_.tangent.zero >= 0) b.integer(plan_.tangent.zero, 0);
    b.run(f_->op);
    for (const Part& p : parts_)
      if (p.argument == plan_.written) replace_part(Tensor::borrow(p.given), p.tangent);
    give_all(a, results_of(b));
    return LAMELLA_OK;
  }

  lamella_status each() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a);
    const auto is_factor = [this](const Part& p) { return contains(plan_.tangent.of, p.argument); };
    Tensor total;
    bool first = true;                          // the product that is computed first takes the added tangents along
    const auto add = [&](const Part* factor) {  // null: all factors are zeros
      Arguments b(f_, args_);
      for (const Part& p : parts_) {
        Tensor t = p.primal;
        if (is_factor(p) && (&p == factor || !factor))
          t = factor ? p.tangent : zeros_of(p.primal);
        else if (!is_factor(p))
          t = first && p.tangent.defined() ? p.tangent : is_optional(p.argument) ? Tensor() : zeros_of(p.primal);
        b.tensor(p.argument, p.element, t);
      }
      b.run(f_->op);
      total = sum_of(total, b.result(0));
      first = false;
    };
    for (const Part& p : parts_)
      if (is_factor(p) && p.tangent.defined()) add(&p);
    if (first) add(nullptr);
    give_all(a, {total});
    return LAMELLA_OK;
  }
  bool is_optional(int argument) const {
    return api().operator_argument(f_->op, argument)->flags & LAMELLA_ARGUMENT_OPTIONAL;
  }

  lamella_status by_function() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a);
    const Part* with = nullptr;
    for (const Part& p : parts_)
      if (p.tangent.defined()) with = &p;
    give_all(a, {plan_.tangent.function(args_, with->tangent, results_of(a))});
    return LAMELLA_OK;
  }

  // An in-place or an out= form computes the functional form's result, and copies it.
  lamella_status through_functional() {
    Arguments a(f_, args_);
    if (plan_.written >= 0) keep_overwritten(a);
    {
      const InComposite in(f_, s_, level_);
      const ExcludeGuard outside(f_->passed & ~layer_bit);
      a.run(plan_.functional);
    }
    const AsCalled as(f_, s_, level_);
    for (int i = 0; i < api().operator_num_returns(plan_.functional); i++) {
      const lamella_argument* r = api().operator_return(f_->op, i);
      LAMELLA_CHECK_NOT_IMPLEMENTED(
          a.raw(i).tag == LAMELLA_TENSOR && r->alias_of >= 0 && args_[r->alias_of].tag == LAMELLA_TENSOR,
          "jvp: ", title(f_), " returns no tensor that it writes, so that its tangent is not known");
      write(args_[r->alias_of].as.tensor, a.raw(i).as.tensor);
      check(api().value_retain(&args_[r->alias_of], &rets_[i]));
    }
    return LAMELLA_OK;
  }

  // Puts copies in the place of the tensors that the call overwrites, if autograd follows them, since derivatives read
  // their old values.
  void keep_overwritten(Arguments& a) {
    if (std::none_of(parts_.begin(), parts_.end(),
                     [](const Part& p) { return is_recorded(p.primal) || is_recorded(p.tangent); }))
      return;
    const AsCalled as(f_, s_, level_);
    const lamella_storage* memory = args_[plan_.written].as.tensor->storage;
    for (const Part& p : parts_) {
      if (p.given->storage != memory) continue;
      const Tensor copy = copy_of(p.primal);
      a.tensor(p.argument, p.element, p.tangent.defined() ? dual(copy, p.tangent, level_) : copy);
    }
  }

  void write(lamella_tensor* to, lamella_tensor* from) {
    LAMELLA_CHECK(plan_.form != LAMELLA_OUT_FORM || Tensor::borrow(to).sizes() == Tensor::borrow(from).sizes(),
                  "jvp: ", title(f_), ": the tensor of argument 'out' must have shape ", Tensor::borrow(from).sizes(),
                  ", got ", Tensor::borrow(to).sizes());
    check_castable(f_, Tensor::borrow(from), Tensor::borrow(to));
    const Box* b = box_of(from);
    const bool is_here = b && b->level == level_;
    if (!is_here && !is_box_here(to)) {
      Tensor::borrow(to).copy_(Tensor::borrow(from));
      return;
    }
    const Tensor target = Tensor::borrow(to);
    become_dual(target, level_)->inner.copy_(is_here ? b->inner : Tensor::borrow(from));
    if (!tangent_of(to).defined()) return;
    Tensor tangent = is_here ? tangent_of(from) : Tensor();
    if (tangent.defined() && tangent.dtype() != target.dtype()) tangent = tangent.to(target.dtype());
    replace_part(target, tangent.defined() ? tangent.expand(target.sizes()) : zeros_of(target));
  }
  bool is_box_here(const lamella_tensor* t) const {
    const Box* b = box_of(t);
    return b && b->level == level_;
  }

  // The derivative is the transpose of the map from tangents to tangents. Of an operator that computes each element from
  // the elements at its place, it is the map itself; else the derivative of the gradients, which are linear in the
  // gradients that they come from, is the map.
  lamella_status by_derivative() {
    const AsCalled as(f_, s_, level_);
    const bool is_on = !(f_->thread->exclude & autograd_bit());
    bool recorded = false, is_followed = false;  // by autograd, at any level or at this one
    for (const Part& p : parts_) {
      recorded |= is_on && (is_recorded(p.primal) || is_recorded(p.tangent));
      is_followed |= is_on && (requires_grad(p.primal) || requires_grad(p.tangent));
    }
    LAMELLA_CHECK_NOT_IMPLEMENTED(plan_.written < 0, "jvp: ", title(f_),
                                  " writes in place, and neither a rule nor a functional form says its tangent");
    const WithGrad on;
    const WithoutSavedHooks plain;
    const bool elementwise = is_elementwise();
    const Sizes shape = elementwise ? broadcast_shape() : Sizes();
    Arguments a(f_, args_);
    std::vector<Tensor> leaves, tangents;
    for (const Part& p : parts_) {
      Tensor t = p.primal;
      if (p.tangent.defined()) {
        if (!is_on || !requires_grad(t)) t = fresh(t);
        Tensor tangent = p.tangent;
        if (elementwise && t.sizes() != IntArrayRef(shape)) {
          t = t.expand(shape);
          tangent = tangent.expand(shape);
        } else if (is_on && requires_grad(p.primal)) {
          t = t.view_as(t);  // else gradients of other parts of the graph would come to it
        }
        leaves.push_back(t);
        tangents.push_back(tangent);
      } else if (!is_on && requires_grad(t)) {
        t = cut(t);
      }
      a.tensor(p.argument, p.element, t);
    }
    a.run(f_->op);
    const std::vector<Tensor> results = results_of(a);
    std::vector<Tensor> made(results.size());
    std::vector<size_t> roots;
    for (size_t i = 0; i < results.size(); i++)
      if (is_differentiable(results[i]) && requires_grad(results[i])) roots.push_back(i);
    if (elementwise && roots.size() == 1 && has_dtype_of_all(results[roots[0]], leaves)) {
      for (size_t k = 0; k < leaves.size(); k++) {
        const bool retain = recorded || k + 1 < leaves.size();
        made[roots[0]] =
            sum_of(made[roots[0]], gradients({results[roots[0]]}, {tangents[k]}, {leaves[k]}, retain, recorded)[0]);
      }
    } else if (!roots.empty()) {
      transpose(results, roots, leaves, tangents, recorded, made);
    }
    if (is_followed)
      give_all(a, made);
    else
      give_cut(a, made);
    return LAMELLA_OK;
  }

  void transpose(const std::vector<Tensor>& results, const std::vector<size_t>& roots,
                 const std::vector<Tensor>& leaves, const std::vector<Tensor>& tangents, bool recorded,
                 std::vector<Tensor>& made) {
    std::vector<Tensor> from, vectors;
    for (const size_t i : roots) {
      from.push_back(results[i]);
      vectors.push_back(fresh(lamella::zeros_like(results[i])));
    }
    const std::vector<Tensor> grads = gradients(from, vectors, leaves, true, true);
    std::vector<Tensor> of, along;
    for (size_t k = 0; k < grads.size(); k++) {
      if (!grads[k].defined() || !requires_grad(grads[k])) continue;
      of.push_back(grads[k]);
      along.push_back(tangents[k]);
    }
    if (of.empty()) return;
    const std::vector<Tensor> found = gradients(of, along, vectors, recorded, recorded);
    for (size_t k = 0; k < roots.size(); k++)
      made[roots[k]] = found[k].defined() ? found[k] : zeros_of(results[roots[k]]);
  }

  static Tensor without_leaves(const Tensor& t) { return requires_grad(t) ? cut(t) : t; }
  // Gives results without the history that the leaves of this call have in it.
  void give_cut(Arguments& a, const std::vector<Tensor>& tangents) {
    const std::vector<Tensor> results = results_of(a);
    size_t at = 0;
    for (int i = 0; i < f_->num_rets; i++) {
      const bool is_list = a.raw(i).tag == LAMELLA_TENSOR_LIST;
      std::vector<Tensor> made;
      for (size_t n = is_list ? a.raw(i).length : 1; n > 0; n--, at++)
        made.push_back(results[at].defined() ? boxed_result(without_leaves(results[at]), without_leaves(tangents[at]))
                                             : Tensor());
      if (is_list)
        check(api().value_retain(&static_cast<const lamella_value&>(value(TensorList(made))), &rets_[i]));
      else if (made[0].defined())
        rets_[i] = value(made[0].release());
      else
        check(api().value_retain(&a.raw(i), &rets_[i]));
    }
  }

  bool is_elementwise() const {
    if (plan_.dims.kind != DimsKind::Broadcast) return false;
    return std::none_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.primal.is_complex(); });
  }
  Sizes broadcast_shape() const {
    Sizes shape;
    for (const Part& p : parts_) {
      const IntArrayRef sizes = p.primal.sizes();
      if (sizes.size() > shape.size()) shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
      const size_t before = shape.size() - sizes.size();
      for (size_t d = 0; d < sizes.size(); d++)
        if (sizes[d] != 1) shape[before + d] = sizes[d];
    }
    return shape;
  }
  static bool has_dtype_of_all(const Tensor& t, const std::vector<Tensor>& others) {
    return std::all_of(others.begin(), others.end(), [&](const Tensor& o) { return o.dtype() == t.dtype(); });
  }

  lamella_frame* f_;
  const lamella_value* args_;
  lamella_value* rets_;
  State& s_;
  int64_t level_;
  Served& served_;
  const Plan& plan_;
  std::vector<Part> parts_;
};

lamella_status serve_forward(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, int64_t level,
                             bool is_open, Served& op) {
  Forward call(f, args, rets, s, level, op);
  return is_open ? call.run() : call.on_primals();
}

}  // namespace lamella::transforms
