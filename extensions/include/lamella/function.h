/* Function: a step of the graph whose forward and backward are C++, over the interface "autograd". Without a plugin
 * that differentiates, only forward runs.
 *
 *   struct Square : lamella::Function<Square> {
 *     static Tensor forward(AutogradContext* ctx, const Tensor& x) {
 *       ctx->save_for_backward({x});
 *       return x * x;
 *     }
 *     static variable_list backward(AutogradContext* ctx, variable_list grads) {
 *       const Tensor x = ctx->get_saved_variables()[0];
 *       return {grads[0] * x * 2};
 *     }
 *   };
 *   Tensor y = Square::apply(x);
 *
 * Autograd is off while forward runs. backward gets a gradient for each result, and returns one for each argument of
 * forward (of a list of tensors, one for each tensor), undefined if the argument gets no gradient; backward is
 * differentiable itself if it is made of operators. */
#ifndef LAMELLA_FUNCTION_H
#define LAMELLA_FUNCTION_H

#include <lamella/tensor.h>

#include <any>
#include <map>
#include <memory>

#pragma GCC visibility push(hidden)

namespace lamella {

using variable_list = std::vector<Tensor>;

namespace detail {
/* Returns the name of T, such as "mine::Square", which __PRETTY_FUNCTION__ has after "T = ". */
template <class T>
std::string type_name() {
  std::string text = __PRETTY_FUNCTION__;
  text.erase(0, text.find("T = ") + 4);
  text.erase(text.find_first_of(";]"));
  return text;
}
}  // namespace detail

/* While it lives, nothing is recorded on this thread. */
class NoGradGuard {
 public:
  NoGradGuard() : off_(Tensor::autograd() ? uint64_t{1} << Tensor::autograd()->layer : 0) {}

 private:
  ExcludeGuard off_;
};

/* A value other than a tensor that forward keeps for backward: ctx->saved_data["n"] = n;
 * ctx->saved_data["n"].toInt(). Numbers and enumerators are kept as int64_t, double or bool, lists as a std::vector,
 * also those of an ArrayRef, strings as a std::string, an absent optional as nothing. get<T>() returns these, and any
 * other object that can be copied. */
class SavedValue {
 public:
  SavedValue() = default;
  template <class T, class = std::enable_if_t<!std::is_same<std::decay_t<T>, SavedValue>::value>>
  SavedValue(T&& x) {
    keep(std::forward<T>(x));
  }

  /* The number, converted. */
  int64_t toInt() const { return number<int64_t>(); }
  double toDouble() const { return number<double>(); }
  bool toBool() const { return number<bool>(); }
  Scalar toScalar() const {
    if (const auto* i = std::any_cast<int64_t>(&value_)) return *i;
    if (const auto* d = std::any_cast<double>(&value_)) return *d;
    if (const auto* b = std::any_cast<bool>(&value_)) return *b;
    return get<Scalar>();
  }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Device toDevice() const { return get<Device>(); }
  const std::string& toStringRef() const { return get<std::string>(); }
  const Tensor& toTensor() const { return get<Tensor>(); }
  const std::vector<int64_t>& toIntVector() const { return get<std::vector<int64_t>>(); }
  const std::vector<double>& toDoubleVector() const { return get<std::vector<double>>(); }
  const variable_list& toTensorVector() const { return get<variable_list>(); }
  bool isNone() const { return !value_.has_value(); }
  template <class T>
  const T& get() const {
    const T* x = std::any_cast<T>(&value_);
    LAMELLA_CHECK_TYPE(x, "saved_data: expected ", detail::type_name<T>(), ", ",
                       value_.has_value() ? "saved was " + kind_ : std::string("nothing was saved"));
    return *x;
  }

 private:
  template <class T>
  struct Element : std::false_type {};
  template <class T>
  struct Element<ArrayRef<T>> : std::true_type {
    using type = T;
  };
  template <class T>
  struct Element<std::vector<T>> : std::true_type {
    using type = T;
  };
  template <class T>
  static constexpr bool whole = std::is_integral<T>::value && !std::is_same<T, bool>::value;

  template <class T>
  void keep(T&& x) {
    using X = std::decay_t<T>;
    if constexpr (std::is_same<X, std::nullopt_t>::value)
      return;
    else if constexpr (whole<X> || std::is_enum<X>::value)
      set(static_cast<int64_t>(x));
    else if constexpr (std::is_floating_point<X>::value)
      set(static_cast<double>(x));
    else if constexpr (std::is_convertible<T, std::string_view>::value)
      set(std::string(std::string_view(x)));
    else if constexpr (Element<X>::value)
      keep_list<typename Element<X>::type>(x);
    else
      keep_other(std::forward<T>(x));
  }
  template <class E, class List>
  void keep_list(const List& list) {
    using Kept = std::conditional_t<whole<E>, int64_t, std::conditional_t<std::is_floating_point<E>::value, double, E>>;
    set(std::vector<Kept>(list.begin(), list.end()));
  }
  template <class T>
  void keep_other(const std::optional<T>& x) {
    if (x) keep(*x);
  }
  template <class T>
  void keep_other(const T& x) {
    set(x);
  }
  template <class T>
  void set(T x) {
    kind_ = detail::type_name<T>();
    value_ = std::move(x);
  }
  template <class T>
  T number() const {
    if (const auto* b = std::any_cast<bool>(&value_)) return static_cast<T>(*b);
    if (const auto* i = std::any_cast<int64_t>(&value_)) return static_cast<T>(*i);
    if (const auto* d = std::any_cast<double>(&value_)) return static_cast<T>(*d);
    const Scalar* s = std::any_cast<Scalar>(&value_);
    LAMELLA_CHECK_TYPE(s, "saved_data: expected a number, ",
                       value_.has_value() ? "saved was " + kind_ : std::string("nothing was saved"));
    return s->to<T>();
  }

  std::any value_;
  std::string kind_;
};

class AutogradContext {
 public:
  /* Called in forward. */
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  void mark_dirty(variable_list inputs) { dirty_ = std::move(inputs); } /* written in place, and returned */
  void mark_non_differentiable(variable_list results) { no_gradient_ = std::move(results); }
  void set_materialize_grads(bool on) { materialize_ = on; } /* whether missing gradients are zeros (the default) */

  /* Called in backward. Throws if a saved tensor was written since, or if the graph was freed. */
  variable_list get_saved_variables() const {
    if (!node_) return to_save_;
    const lamella_autograd& a = *Tensor::autograd();
    variable_list all(static_cast<size_t>(a.num_saved(node_)));
    lamella_value v = none();
    if (all.empty() && saved_ > 0) check(a.saved(node_, 0, &v)); /* the graph was freed: throws an error that says so */
    for (size_t i = 0; i < all.size(); i++) {
      check(a.saved(node_, static_cast<int32_t>(i), &v));
      if (v.tag == LAMELLA_TENSOR) all[i] = Tensor::steal(v.as.tensor);
    }
    return all;
  }
  /* Returns whether the gradient of the i-th argument is needed; the tensors of a list count one by one. */
  bool needs_input_grad(size_t i) const { return i < needs_.size() && needs_[i]; }

  std::map<std::string, SavedValue> saved_data;

 private:
  template <class T>
  friend class Function;

  lamella_node* node_ = nullptr; /* the node that owns this */
  variable_list to_save_, dirty_, no_gradient_;
  std::vector<bool> needs_, tensors_; /* by argument: whether its gradient is needed, whether it is a tensor */
  size_t saved_ = 0;
  bool materialize_ = true;
};

template <class T>
class Function {
 public:
  template <class... Args>
  static auto apply(Args&&... args) {
    auto context = std::make_unique<AutogradContext>();
    variable_list inputs; /* copies, since forward may move its arguments */
    (collect(*context, inputs, args), ...);
    const lamella_autograd* a = Tensor::autograd();
    const bool recording = a && !(api().thread()->exclude & (uint64_t{1} << a->layer));
    bool any = false;
    for (const Tensor& t : inputs) {
      context->needs_.push_back(recording && t.defined() && a->requires_grad(t.get()));
      any |= context->needs_.back();
    }
    auto result = [&] {
      const NoGradGuard off;
      return T::forward(context.get(), std::forward<Args>(args)...);
    }();
    if (!any) return result;
    if constexpr (std::is_same<decltype(result), Tensor>::value) {
      variable_list one{std::move(result)};
      record(*a, std::move(context), inputs, one);
      return std::move(one[0]);
    } else {
      static_assert(std::is_same<decltype(result), variable_list>::value, "forward gives a Tensor or a variable_list");
      record(*a, std::move(context), inputs, result);
      return result;
    }
  }

 private:
  template <class X, class = void>
  struct HoldsTensors : std::false_type {};
  template <class X>
  struct HoldsTensors<X, std::void_t<decltype(*std::declval<const X&>().begin())>>
      : std::is_convertible<decltype(*std::declval<const X&>().begin()), Tensor> {};

  /* Appends an argument: a list tensor by tensor; an argument that is no tensor as an undefined tensor. */
  template <class X>
  static void collect(AutogradContext& c, variable_list& to, const X& x) {
    if constexpr (std::is_convertible<const X&, Tensor>::value) {
      to.push_back(x);
      if constexpr (std::is_same<X, std::optional<Tensor>>::value)
        c.tensors_.push_back(x.has_value());
      else
        c.tensors_.push_back(true);
    } else if constexpr (HoldsTensors<X>::value) {
      for (const auto& t : x) collect(c, to, t);
    } else {
      to.push_back(Tensor());
      c.tensors_.push_back(false);
    }
  }

  static int32_t position(const variable_list& list, const lamella_tensor* t) {
    for (size_t i = 0; i < list.size(); i++)
      if (list[i].get() == t) return static_cast<int32_t>(i);
    return -1;
  }

  static void record(const lamella_autograd& a, std::unique_ptr<AutogradContext> context, const variable_list& inputs,
                     variable_list& results) {
    AutogradContext& c = *context;
    for (const Tensor& t : c.dirty_)
      LAMELLA_CHECK(position(inputs, t.get()) >= 0 && position(results, t.get()) >= 0, type().name,
                    ": mark_dirty: each marked tensor must be an argument and a result of forward");
    lamella_node* node;
    check(a.node_new(&type(), context.get(), value(TensorList(inputs)).as.tensors, static_cast<int32_t>(inputs.size()),
                     static_cast<int32_t>(results.size()), &node));
    context.release(); /* the node owns it from now on */
    c.node_ = node;
    struct Held {
      const lamella_autograd& a;
      lamella_node* node;
      ~Held() { a.node_release(node); }
    } held{a, node};
    c.saved_ = c.to_save_.size();
    for (const Tensor& t : c.to_save_) {
      const bool is_input = position(inputs, t.get()) >= 0 && position(c.dirty_, t.get()) < 0;
      const lamella_value v = value(t);
      check(a.save(node, &v, is_input || has_no_history(c, t) ? -1 : position(results, t.get())));
    }
    for (size_t i = 0; i < results.size(); i++) attach(a, c, node, inputs, results[i], static_cast<uint32_t>(i));
    c.to_save_.clear();
    c.dirty_.clear();
    c.no_gradient_.clear();
  }

  static bool has_no_history(const AutogradContext& c, const Tensor& t) {
    return !t.defined() || position(c.no_gradient_, t.get()) >= 0 || !(t.is_floating_point() || t.is_complex());
  }

  /* Gives a result its history. An argument that forward returns unchanged is replaced by an alias of its own. */
  static void attach(const lamella_autograd& a, AutogradContext& c, lamella_node* node, const variable_list& inputs,
                     Tensor& t, uint32_t i) {
    if (has_no_history(c, t)) {
      if (t.defined()) check(a.describe_result(node, i, t.get()));
      return;
    }
    if (position(c.dirty_, t.get()) >= 0) return check(a.set_written(t.get(), node, i));
    if (position(inputs, t.get()) >= 0) {
      static detail::Callee alias{"aten::alias", ""};
      const NoGradGuard off;
      const lamella_value args[] = {value(t)};
      t = alias.tensor(args);
    }
    check(a.set_history(t.get(), node, i));
  }

  static lamella_status backward_(void* context, lamella_node* node, lamella_tensor* const* grads,
                                  lamella_tensor** outs) {
    return guarded([&]() -> lamella_status {
      auto* c = static_cast<AutogradContext*>(context);
      const lamella_autograd& a = *Tensor::autograd();
      variable_list came(static_cast<size_t>(a.node_results(node)));
      for (size_t i = 0; i < came.size(); i++) {
        lamella_tensor* zeros = nullptr;
        if (!grads[i] && c->materialize_) check(a.zeros(node, static_cast<int32_t>(i), &zeros));
        came[i] = grads[i] ? Tensor::borrow(grads[i]) : Tensor::steal(zeros);
      }
      variable_list given = T::backward(c, std::move(came));
      const size_t wanted = c->needs_.size();
      while (given.size() > wanted && !given.back().defined()) given.pop_back();
      LAMELLA_CHECK(given.size() == wanted, type().name, ": backward gave ", given.size(), " gradients for ", wanted,
                    " arguments of forward");
      for (size_t i = 0; i < wanted; i++)
        LAMELLA_CHECK(c->tensors_[i] || !given[i].defined(), type().name, ": argument ", i,
                      " is no tensor; its gradient must be undefined");
      for (size_t i = 0; i < wanted; i++)
        if (a.node_edge(node, static_cast<int32_t>(i), nullptr)) outs[i] = static_cast<TensorRef&>(given[i]).take();
      return LAMELLA_OK;
    });
  }

  static const lamella_node_type& type() {
    static const std::string name = class_name() + "Backward";
    static const lamella_node_type t = {sizeof t,  0,       name.c_str(),
                                        backward_, nullptr, [](void* c) { delete static_cast<AutogradContext*>(c); },
                                        nullptr};
    return t;
  }
  static std::string class_name() {
    const std::string text = detail::type_name<T>();
    const size_t colon = text.rfind(':');
    return colon == std::string::npos ? text : text.substr(colon + 1);
  }
};

}  // namespace lamella

#pragma GCC visibility pop

#endif
