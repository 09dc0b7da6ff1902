#include "functional.h"

#include <algorithm>

#include "lowered.h"

namespace lamella::transforms {
namespace {

// A tensor argument, or an element of a list.
struct Given {
  int argument;
  int element;  // in its list, or -1
  lamella_tensor* given;
  Tensor value;
  bool is_here;  // whether it is a box of the level
  bool is_written;
};

// Returns the copying form of a view operator, such as aten::select_copy.int; null if there is none.
const lamella_operator* copying(const lamella_operator* op) {
  return api().find_operator((std::string(api().operator_name(op)) + "_copy").c_str(), api().operator_overload(op));
}

// Returns a box for a value that the level has made.
Tensor functional(const Tensor& value, int64_t level) {
  const Below below(state(), level);
  const Tensor inner = overlaps(value) ? value.clone(MemoryFormat::Contiguous) : value;
  Tensor box = opaque(inner.sizes(), TensorOptions(inner.dtype()).device(inner.device()), inner.strides());
  boxes.set(box, Box{level, Tensor(), Kind::functional, whole_of(inner, box)});
  return box;
}

int64_t level_of(const lamella_tensor* t) {
  const Box* b = box_of(t);
  return b ? b->level : 0;
}

int64_t place_of(const Tensor& t) { return t.storage_offset() * t.itemsize(); }

// Returns what a level knows of the memory of a tensor from outside; null if that has neither been written nor viewed.
Outside* find_outside(State& s, const lamella_tensor* t, int64_t level) {
  for (Outside& o : s.outsides)
    if (o.level == level && o.base.get()->storage == t->storage && o.of_level == level_of(t)) return &o;
  return nullptr;
}

Outside& outside_of(State& s, const Tensor& t, int64_t level) {
  if (Outside* known = find_outside(s, t.get(), level)) return *known;
  lamella_tensor* root = api().tensor_base(t.get());
  const Tensor base = root ? Tensor::borrow(root) : t;
  s.outsides.push_back({level, level_of(t.get()), base, whole_of(elements_of(base), base)});
  return s.outsides.back();
}

class Functional {
 public:
  Functional(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, int64_t level, Served& op)
      : f_(f), args_(args), rets_(rets), s_(s), level_(level), served_(op), plan_(op.get()) {
    const Level* open = find_level(s, level);
    is_open_ = open != nullptr;
    views_ = open ? open->choice : keep_views;
    for (int i = 0; i < f->num_args; i++) {
      if (args[i].tag == LAMELLA_TENSOR) add(i, -1, args[i].as.tensor);
      if (args[i].tag == LAMELLA_TENSOR_LIST)
        for (uint32_t k = 0; k < args[i].length; k++) add(i, static_cast<int>(k), args[i].as.tensors[k]);
    }
  }

  lamella_status run() {
    if (!is_open_) return on_values();
    if (plan_.rule.how == How::host) return host();
    const bool writes = std::any_of(parts_.begin(), parts_.end(), [](const Given& p) { return p.is_written; });
    if (writes && !plan_.is_view)
      return plan_.functional                                ? through_functional()
             : is_named("aten::copy_") && parts_.size() == 2 ? copy()
                                                             : on_copies();
    const bool any = std::any_of(parts_.begin(), parts_.end(), [](const Given& p) { return p.is_here; });
    if (plan_.is_view && !any && !parts_.empty()) return redispatch();  // a view of a tensor from outside is one
    if (plan_.is_view && writes) return change_geometry();
    if (plan_.has_composite && (plan_.is_view || may_write())) return compose();
    return plan_.is_view && any ? view() : on_values();
  }

 private:
  void add(int argument, int element, lamella_tensor* t) {
    if (!t) return;
    const AsCalled as(f_, s_, level_);
    const auto* a = api().operator_argument(f_->op, argument);
    const bool is_written = a->flags & (LAMELLA_ARGUMENT_WRITTEN | LAMELLA_ARGUMENT_OUT);
    const bool is_here = level_of(t) == level_;
    parts_.push_back({argument, element, t, is_here ? inner_of(t) : value_of(Tensor::borrow(t)), is_here, is_written});
  }
  // Returns the value of a tensor from outside.
  Tensor value_of(const Tensor& t) const {
    const Outside* o = find_outside(s_, t.get(), level_);
    return o && o->whole->writes ? part_at(*o->whole, t, place_of(t), views_ == copy_views) : outside(t, level_);
  }

  bool is_named(std::string_view name) const { return api().operator_name(f_->op) == name; }

  void compute(Arguments& a, const lamella_operator* op) {
    for (const Given& p : parts_) a.tensor(p.argument, p.element, p.value);
    a.run(op, served_.kind == Served::makes ? f_->parent : f_);
  }

  // Returns whether the call would run the composite, which may write to its arguments without its schema saying so.
  bool may_write() const {
    if (plan_.has_derivative || plan_.rule.how == How::loop || parts_.empty()) return false;
    const char* device = api().backend_name(Tensor::borrow(parts_[0].given).device().get().backend);
    const void* kernel = kernel_of(f_->op, device);
    return !kernel || kernel == kernel_of(f_->op, "composite");
  }
  // A composite may write to its arguments, and return views of them.
  lamella_status compose() {
    const InComposite in(f_, s_, level_);
    return api().decompose(f_, args_, f_->num_args, rets_, f_->num_rets);
  }

  // Gives a number, or elements, to the program.
  lamella_status host() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    if (const int shared = argument_named(f_->op, "shared"); shared >= 0)
      LAMELLA_CHECK_NOT_IMPLEMENTED(
          shared >= f_->num_args || !args_[shared].as.i, title(f_),
          ": functionalize does not give memory away, since writes to it would not be seen; read the elements "
          "by tolist()");
    compute(a, f_->op);
    a.move_to(rets_);
    return LAMELLA_OK;
  }

  lamella_status on_values() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    compute(a, f_->op);
    give_all(a);
    return LAMELLA_OK;
  }

  // Makes views of the boxes, and the same views of the values.
  lamella_status view() {
    if (const lamella_status st = redispatch()) return st;
    if (is_named("aten::as_strided")) return LAMELLA_OK;  // `inner_of` takes the value from that of the base
    const AsCalled as(f_, s_, level_);
    const lamella_operator* copy = views_ == copy_views ? copying(f_->op) : nullptr;
    Arguments a(f_, args_);
    compute(a, copy ? copy : f_->op);
    for (int i = 0; i < f_->num_rets; i++) {
      if (rets_[i].tag == LAMELLA_TENSOR) show(rets_[i].as.tensor, a.result(i));
      if (rets_[i].tag != LAMELLA_TENSOR_LIST) continue;
      const std::vector<Tensor> values = a.list(i);
      for (uint32_t k = 0; k < rets_[i].length; k++) show(rets_[i].as.tensors[k], values[k]);
    }
    return LAMELLA_OK;
  }
  // Serves a form such as t_, which changes the sizes and strides of a box, and not its elements.
  lamella_status change_geometry() {
    std::vector<std::pair<const lamella_storage*, std::shared_ptr<Whole>>> before;
    for (const Given& p : parts_) before.emplace_back(p.given->storage, p.is_here ? box_of(p.given)->whole : nullptr);
    const lamella_status st = plan_.has_composite ? compose() : redispatch();
    if (st) return st;
    for (size_t i = 0; i < parts_.size(); i++) {
      if (!parts_[i].is_written || !parts_[i].is_here) continue;
      const Tensor t = Tensor::borrow(parts_[i].given);
      const Box* b = box_of(t.get());
      LAMELLA_CHECK_NOT_IMPLEMENTED(
          b && t.get()->storage == before[i].first && b->whole == before[i].second &&
              t.numel() <= b->whole->value.numel(),
          title(f_),
          ": functionalize keeps the memory of a tensor, which cannot become another one; make a new tensor");
    }
    return LAMELLA_OK;
  }
  lamella_status redispatch() {
    const AsCalled as(f_, s_, level_);
    return api().redispatch(f_, args_, f_->num_args, rets_, f_->num_rets);
  }
  // Gives a new view its value. That of a copying form may have other strides.
  void show(lamella_tensor* t, const Tensor& value) {
    Box* b = boxes.get(t);
    if (!b || b->level != level_) return;
    b->inner = value;
    b->seen = b->whole->writes;
  }

  // A copy of the source of copy_ is the new value.
  lamella_status copy() {
    const AsCalled as(f_, s_, level_);
    const Tensor to = Tensor::borrow(parts_[0].given), from = parts_[1].value;
    Tensor value = from;
    if (value.device() != to.device()) value = value.to(to.device());
    if (value.dtype() != to.dtype()) value = value.to(to.dtype());
    if (value.get() == from.get()) value = copy_of(value);
    write(parts_[0].given, value.expand(to.sizes()), false);
    check(api().value_retain(&args_[0], &rets_[0]));
    return LAMELLA_OK;
  }

  // An in-place or an out= form: the functional form's results are the new values.
  lamella_status through_functional() {
    const AsCalled as(f_, s_, level_);
    Arguments a(f_, args_);
    keep_overwritten();
    compute(a, plan_.functional);
    for (int i = 0; i < api().operator_num_returns(plan_.functional); i++) {
      const lamella_argument* r = api().operator_return(f_->op, i);
      write(args_[r->alias_of].as.tensor, a.result(i), plan_.form == LAMELLA_OUT_FORM);
      check(api().value_retain(&args_[r->alias_of], &rets_[i]));
    }
    return LAMELLA_OK;
  }

  // Puts a copy in the place of a value that autograd saves and that the write at the end of the level may overwrite.
  void keep_overwritten() {
    const auto recorded = [](const Given& p) { return is_recorded(p.value); };
    if (std::none_of(parts_.begin(), parts_.end(), recorded)) return;
    for (const Given& w : parts_) {
      if (!w.is_written) continue;
      for (Given& p : parts_)
        if (p.value.get()->storage == w.value.get()->storage) p.value = copy_of(p.value);
    }
  }

  // An operator that has no functional form writes to copies, which are the new values. The copies are one for each sample
  // of an outer level where the operator draws numbers or reads samples.
  lamella_status on_copies() {
    const AsCalled as(f_, s_, level_);
    const bool by_sample = plan_.is_random || std::any_of(parts_.begin(), parts_.end(), [](const Given& p) {
                             return !p.is_written && p.value.is_opaque();
                           });
    Arguments a(f_, args_);
    for (Given& p : parts_)
      if (p.is_written) p.value = copy_of(p.value, by_sample ? f_ : nullptr);
    compute(a, f_->op);
    for (const Given& p : parts_)
      if (p.is_written) write(p.given, p.value, true);
    give_all(a);
    return LAMELLA_OK;
  }

  void write(lamella_tensor* t, Tensor value, bool may_resize) {
    const Tensor to = Tensor::borrow(t);
    check_castable(f_, value, to);
    const bool is_here = level_of(t) == level_;
    if (value.dtype() != to.dtype()) value = value.to(to.dtype());
    if (may_resize && is_here && value.sizes() != to.sizes())
      return check(api().tensor_assign(t, functional(value, level_).get()));
    LAMELLA_CHECK(value.sizes() == to.sizes(), title(f_), ": the result has shape ", value.sizes(),
                  ", which cannot be written into a tensor of shape ", to.sizes());
    LAMELLA_CHECK(!overlaps(to), title(f_),
                  ": elements of the tensor that is written share memory, as after expand(); "
                  "write to a clone()");
    if (is_here)
      replace_part(to, value);
    else
      replace_at(outside_of(s_, to, level_).whole.get(), to, place_of(to), value);
  }

  void give_all(Arguments& a) {
    for (int i = 0; i < f_->num_rets; i++) {
      const lamella_argument* r = api().operator_return(f_->op, i);
      const bool is_written =
          r->alias_of >= 0 && api().operator_argument(f_->op, r->alias_of)->flags & LAMELLA_ARGUMENT_WRITTEN;
      if (is_written) {
        check(api().value_retain(&args_[r->alias_of], &rets_[i]));
      } else if (a.raw(i).tag == LAMELLA_TENSOR_LIST) {
        std::vector<Tensor> made;
        for (const Tensor& t : a.list(i)) made.push_back(result(t));
        check(api().value_retain(&static_cast<const lamella_value&>(value(TensorList(made))), &rets_[i]));
      } else if (a.raw(i).tag == LAMELLA_TENSOR) {
        rets_[i] = value(result(a.result(i)).release());
      } else {
        check(api().value_retain(&a.raw(i), &rets_[i]));
      }
    }
  }
  Tensor result(const Tensor& made) const {
    if (!is_open_ || !made.defined()) return made;
    for (const Given& p : parts_)  // `to` and `contiguous` may return their argument
      if (p.value.get() == made.get() && has_strides_of(made, Tensor::borrow(p.given))) return Tensor::borrow(p.given);
    const bool is_foreign = made.is_opaque() && !box_of(made.get());  // as sparse tensors are: it stays what it is
    return is_foreign ? made : functional(made, level_);
  }

  lamella_frame* f_;
  const lamella_value* args_;
  lamella_value* rets_;
  State& s_;
  int64_t level_;
  Served& served_;
  const Plan& plan_;
  bool is_open_;
  int32_t views_;
  std::vector<Given> parts_;
};

}  // namespace

lamella_status serve_functional(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s,
                                int64_t level, Served& op) {
  return Functional(f, args, rets, s, level, op).run();
}

Tensor functional_of(const Tensor& outside, int64_t level) {
  const Below below(state(), level);
  if (outside.is_opaque() && !box_of(outside.get())) return outside;  // of another layer
  const std::shared_ptr<Whole> whole = outside_of(state(), outside, level).whole;
  Tensor box = opaque(outside.sizes(), TensorOptions(outside.dtype()).device(outside.device()), outside.strides());
  boxes.set(box, Box{level, Tensor(), Kind::functional, whole, {}, -1, place_of(outside)});
  return box;
}

std::vector<Tensor> settle_functional(int64_t level) {
  std::vector<Tensor> written;
  State& s = state();
  for (const Outside& o : s.outsides) {
    if (o.level != level || !o.whole->writes) continue;
    written.push_back(o.base);
    written.push_back(o.whole->value);
  }
  s.outsides.erase(
      std::remove_if(s.outsides.begin(), s.outsides.end(), [=](const Outside& o) { return o.level == level; }),
      s.outsides.end());
  return written;
}

}  // namespace lamella::transforms
