/* Adapter: the function of the C ABI that calls a kernel in C++. It converts the arguments to the types of the kernel's
 * parameters, passes the outputs, stores the results, and turns exceptions into errors. */
#ifndef LAMELLA_ADAPTER_H
#define LAMELLA_ADAPTER_H

#include <lamella/convert.h>

#pragma GCC visibility push(hidden)

namespace lamella {

/* The result of a kernel that raises its errors by the C ABI instead of throwing them. It is a type of its own, so that
 * a function that returns an int by mistake does not compile. */
struct [[nodiscard]] Status {
  lamella_status code;
  Status(lamella_status code) : code(code) {}
  operator lamella_status() const { return code; }
};

/* Thrown by a kernel that declines a call and returns no Status. */
struct Declined {};

namespace detail {

/* For a parameter of type P, reference and const included: `type` is its type in a schema, `get` makes the argument
 * that is passed for it. */
template <class P>
struct Parameter {
  using T = std::remove_cv_t<std::remove_reference_t<P>>;
  static_assert(
      HasSchemaType<T>::value,
      "no type of a schema is this parameter's: int is int64_t, float is double; see Note [Types] in kernel.h");
  static_assert(!std::is_lvalue_reference<P>::value || std::is_const<std::remove_reference_t<P>>::value,
                "a kernel's parameter is a value or a const reference; const Tensor& can be written to");
  static std::string spelled() { return "const " + Convert<T>::type().name() + "&"; }
  static constexpr CppType type() {
    return {Convert<T>::type().kind, Convert<T>::type().flags,
            std::is_reference<P>::value ? spelled : Convert<T>::type().name};
  }
  static decltype(auto) get(const lamella_value& v) { return Convert<T>::get(v); }
};
/* A tensor that the kernel writes. The kernel's reference is to a Tensor made for this call. */
template <>
struct Parameter<Tensor&> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_TENSOR, LAMELLA_ARGUMENT_WRITTEN, [] { return std::string("Tensor&"); }};
  }
  struct Own {
    Tensor t;
    operator Tensor&() { return t; }
  };
  static Own get(const lamella_value& v) { return {Convert<Tensor>::get(v)}; }
};

/* ---- results ---- */

template <class R>
struct Results {
  using T = std::remove_cv_t<std::remove_reference_t<R>>;
  static_assert(HasSchemaType<T>::value, "no type of a schema is this result's; see Note [Types] in kernel.h");
  static constexpr size_t count = 1;
  static std::string spelled() { return Convert<T>::type().name() + "&"; }
  static constexpr CppType type() {
    return {Convert<T>::type().kind, Convert<T>::type().flags,
            std::is_reference<R>::value ? spelled : Convert<T>::type().name};
  }
  static constexpr CppType types_[] = {type()};
  static ArrayRef<CppType> types() { return {types_, 1}; }
  static lamella_status put(const T& x, lamella_value* rets) { return Convert<T>::put(x, rets); }
  static lamella_status put(T&& x, lamella_value* rets) { return Convert<T>::put(std::move(x), rets); }
};
template <>
struct Results<void> {
  static ArrayRef<CppType> types() { return {}; }
};
template <>
struct Results<Status> : Results<void> {};
template <class R>
constexpr bool void_or_status = std::is_void<R>::value || std::is_same<R, Status>::value;
template <class... R>
struct Results<std::tuple<R...>> {
  static constexpr size_t count = sizeof...(R);
  static constexpr CppType types_[] = {Results<R>::type()...};
  static ArrayRef<CppType> types() { return {types_, count}; }
  static lamella_status put(std::tuple<R...>&& x, lamella_value* rets) {
    return put(x, rets, std::index_sequence_for<R...>());
  }

 private:
  template <size_t... I>
  static lamella_status put(std::tuple<R...>& x, lamella_value* rets, std::index_sequence<I...>) {
    lamella_value all[sizeof...(R)];
    for (lamella_value& v : all) v = none();
    lamella_status st = LAMELLA_OK;
    (void)((st = Results<R>::put(std::forward<R>(std::get<I>(x)), &all[I])) || ...);
    for (size_t i = 0; i < sizeof...(R); i++)
      if (st)
        api().value_release(&all[i]);
      else
        rets[i] = all[i];
    return st;
  }
};

/* Puts the tensors that a kernel returned in the place of outputs that the shape rule had allocated. In in-place and
 * out= forms, where the outputs are the caller's tensors, copies the elements instead. */
inline __attribute__((cold, noinline)) void take_place(lamella_frame* f, lamella_value* allocated, lamella_value* own,
                                                       size_t n) {
  static Callee copy{"aten::copy_", ""};
  struct Owner {
    lamella_value* values;
    size_t n;
    ~Owner() {
      for (size_t i = 0; i < n; i++) api().value_release(&values[i]);
    }
  } owner{own, n};
  const bool functional = api().operator_form(f->op) == LAMELLA_FUNCTIONAL_FORM;
  for (size_t i = 0; i < n; i++) {
    if (functional || allocated[i].tag != LAMELLA_TENSOR) /* a shape that depends on values: nothing was allocated */
      std::swap(allocated[i], own[i]);
    else
      copy.written({allocated[i], own[i]});
  }
}

/* ---- the adapter ---- */

/* A function that is a template argument of its adapter, as Constant<twice>{}: the adapter needs no context. */
template <auto Function>
using Constant = std::integral_constant<decltype(Function), Function>;
template <class F>
struct IsConstant : std::false_type {};
template <class F, F f>
struct IsConstant<std::integral_constant<F, f>> : std::true_type {};

/* Stores the function that an adapter calls as the registration's context, and gets it back from a frame. The context
 * is the address of a function, or a copy of a function object; the copy is never freed, since a registration may be
 * called until the process ends. */
template <class F>
struct Callable {
  static const void* context(F fn) {
    if constexpr (IsConstant<F>::value)
      return (void)fn, nullptr;
    else if constexpr (std::is_pointer<F>::value)
      return reinterpret_cast<const void*>(fn);
    else
      return new F(std::move(fn));
  }
  static decltype(auto) of([[maybe_unused]] const lamella_frame* f) {
    if constexpr (IsConstant<F>::value)
      return F::value;
    else if constexpr (std::is_pointer<F>::value)
      return reinterpret_cast<F>(const_cast<void*>(f->context));
    else
      return *static_cast<F*>(const_cast<void*>(f->context));
  }
};

/* Raises the exception of the surrounding catch block by the C ABI. The message of an Error gets the operator's title
 * in front, unless it begins with the title or with the name alone, as "twice" of "mine::twice", of the operator or of
 * its functional form. */
__attribute__((cold, noinline)) inline lamella_status raise_thrown_in(const lamella_frame* f) {
  try {
    throw;
  } catch (const Declined&) {
    return LAMELLA_DECLINED;
  } catch (const Error& e) {
    const std::string message = e.what(), whole = title(f) + ": ";
    const lamella_operator* meaning = api().operator_functional(f->op);
    bool titled = false;
    for (const lamella_operator* op : {f->op, meaning ? meaning : f->op}) {
      const std::string full = title(op);
      const size_t colon = full.rfind(':'); /* if there is none, npos, and npos + 1 is 0 */
      titled |= message.rfind(full.substr(colon + 1) + ": ", 0) == 0 || message.rfind(full + ": ", 0) == 0;
    }
    return e.raise(titled ? std::string() : whole);
  } catch (...) {
    return raise_thrown();
  }
}
template <class F>
inline lamella_status guarded_in(const lamella_frame* frame, F&& f) {
  try {
    return f();
  } catch (...) {
    return raise_thrown_in(frame);
  }
}

template <class... P>
struct Types {
  static constexpr CppType all[] = {Parameter<P>::type()..., CppType{}};
  static ArrayRef<CppType> list() { return {all, sizeof...(P)}; }
};

/* Returns how many of the last parameters could be outputs. */
template <class... P>
constexpr size_t trailing_tensors() {
  const bool tensors[] = {false, std::is_same<std::decay_t<P>, Tensor>::value ||
                                     std::is_same<std::decay_t<P>, std::optional<Tensor>>::value...};
  size_t n = 0;
  while (n < sizeof...(P) && tensors[sizeof...(P) - n]) n++;
  return n;
}

template <class F, class R, class... P>
struct Adapter {
  static constexpr size_t arguments = sizeof...(P);

  static decltype(auto) function(const lamella_frame* f) { return Callable<F>::of(f); }

  /* Calls the function with the schema's arguments, followed by the outputs if it returns void or a Status. */
  template <bool Framed>
  static lamella_status run(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
    return guarded_in(f, [&] { return call<Framed>(f, args, rets, std::index_sequence_for<P...>()); });
  }

 private:
  static constexpr size_t last_tensors = void_or_status<R> ? trailing_tensors<P...>() : 0;

  template <size_t I>
  static const lamella_value& at(const lamella_value* args, [[maybe_unused]] const lamella_value* outputs,
                                 [[maybe_unused]] size_t given) {
    if constexpr (I < arguments - last_tensors)
      return args[I];
    else
      return I < given ? args[I] : outputs[I - given];
  }
  template <bool Framed, size_t... I>
  static lamella_status call(lamella_frame* f, [[maybe_unused]] const lamella_value* args, lamella_value* rets,
                             std::index_sequence<I...>) {
    size_t given = arguments;
    if constexpr (last_tensors > 0) {
      given -= f->num_rets;
      for (size_t i = given; i < arguments; i++)
        if (__builtin_expect(rets[i - given].tag != LAMELLA_TENSOR, 0) &&
            (f->layer >= 0 || !(Types<P...>::all[i].flags & LAMELLA_ARGUMENT_OPTIONAL)))
          return api().raise(
              LAMELLA_NOT_IMPLEMENTED,
              "this kernel writes into its outputs, and nothing has allocated them: give the operator a shape rule "
              "(m.infer) that describes the outputs, and register the kernel for a device, not for a layer; or return "
              "the results");
    }
    (void)given;
    /* Each call is one expression, so that the objects that parameters refer to live until the result is stored. */
    if constexpr (std::is_void<R>::value && Framed)
      return function(f)(f, Parameter<P>::get(at<I>(args, rets, given))...), LAMELLA_OK;
    else if constexpr (std::is_void<R>::value)
      return function(f)(Parameter<P>::get(at<I>(args, rets, given))...), LAMELLA_OK;
    else if constexpr (std::is_same<R, Status>::value && Framed)
      return function(f)(f, Parameter<P>::get(at<I>(args, rets, given))...);
    else if constexpr (std::is_same<R, Status>::value)
      return function(f)(Parameter<P>::get(at<I>(args, rets, given))...);
    else if constexpr (Framed)
      return give<R>(f, function(f)(f, Parameter<P>::get(at<I>(args, rets, given))...), rets);
    else
      return give<R>(f, function(f)(Parameter<P>::get(at<I>(args, rets, given))...), rets);
  }
  template <class X>
  static lamella_status give(lamella_frame* f, X&& x, lamella_value* rets) {
    const size_t n = f->layer < 0 ? Results<R>::count : 0;
    bool allocated = false;
    for (size_t i = 0; i < n; i++) allocated |= rets[i].tag == LAMELLA_TENSOR;
    if (__builtin_expect(allocated, 0)) {
      lamella_value own[LAMELLA_MAX_RETURNS];
      for (lamella_value& v : own) v = none();
      if (lamella_status st = Results<R>::put(std::forward<X>(x), own)) return st;
      take_place(f, rets, own, n);
      return LAMELLA_OK;
    }
    return Results<R>::put(std::forward<X>(x), rets);
  }
};

template <class F, bool Framed, class R, class... P>
struct Signature {
  using A = Adapter<F, R, P...>;
  static constexpr lamella_kernel kernel() { return &A::template run<Framed>; }
  static ArrayRef<CppType> parameters() { return Types<P...>::list(); }
  static ArrayRef<CppType> results() { return Results<R>::types(); }
};
template <class F, class Pointer>
struct SignatureOf;
template <class F, class R, class... P>
struct SignatureOf<F, R (*)(P...)> : Signature<F, false, R, P...> {};
template <class F, class R, class... P>
struct SignatureOf<F, R (*)(lamella_frame*, P...)> : Signature<F, true, R, P...> {};

template <class M>
struct CallOperator {};
template <class C, class R, class... P>
struct CallOperator<R (C::*)(P...) const> {
  using type = R (*)(P...);
};
template <class C, class R, class... P>
struct CallOperator<R (C::*)(P...)> {
  using type = R (*)(P...);
};
template <class C, class R, class... P>
struct CallOperator<R (C::*)(P...) const noexcept> {
  using type = R (*)(P...);
};
template <class C, class R, class... P>
struct CallOperator<R (C::*)(P...) noexcept> {
  using type = R (*)(P...);
};
template <class F, class = void>
struct PointerOf {
  using type = typename CallOperator<decltype(&F::operator())>::type;
};
template <class R, class... P>
struct PointerOf<R (*)(P...), void> {
  using type = R (*)(P...);
};
template <class R, class... P>
struct PointerOf<R (*)(P...) noexcept, void> {
  using type = R (*)(P...);
};
template <class F, F f>
struct PointerOf<std::integral_constant<F, f>, void> : PointerOf<F> {};
template <class F>
using PlainFunction = std::conditional_t<std::is_pointer<F>::value, typename PointerOf<F>::type, F>;

template <class F>
using SignatureFor = SignatureOf<PlainFunction<F>, typename PointerOf<F>::type>;

}  // namespace detail
}  // namespace lamella

#pragma GCC visibility pop

#endif
