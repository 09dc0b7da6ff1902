/* Registration of kernels that are C++ functions: their types are compared with the operator's schema when they are
 * registered, and an adapter of a few instructions converts between the C ABI and these types at each call.
 *
 *   Tensor scaled(const Tensor& self, double by);                                         // gives its result
 *   void scaled_into(const Tensor& self, double by, const Tensor& out);                   // writes into it
 *   LAMELLA_LIBRARY(mine, m) {
 *     m.def("scaled(Tensor self, float by) -> Tensor");
 *     m.infer("scaled", [](const Tensor& self, double, Output out) { out.like(self); });
 *     m.impl("scaled", "cpu", scaled_into);
 *   }
 *
 * Note [Types]  Each type of a schema, and the C++ types of a parameter for it:
 *   Tensor: const Tensor&, which costs no reference count; Tensor(a!): also Tensor&. Tensor?: Tensor, undefined for
 *   none, or std::optional<Tensor>. int: int64_t; float: double; complex: std::complex; bool; Scalar; str:
 *   std::string_view, std::string; ScalarType, Device, Layout, MemoryFormat, Generator; lists: TensorList, IntArrayRef,
 *   ArrayRef<double>, ArrayRef<bool>, or std::vector of each; str[], Scalar[]: std::vector<std::string>,
 *   std::vector<Scalar>; Tensor?[], int?[]: std::vector<std::optional<Tensor>>, std::vector<std::optional<int64_t>>;
 *   Dict(str, T): Dict; T?: std::optional; lamella_value, and OwnedValue, which owns it, take anything.
 *   Results have the same types, owned; several results are a std::tuple. A function may take a lamella_frame* as its
 *   first parameter; a layer's kernel needs it to redispatch.
 *
 * Note [Results]  The outputs of an operator with a shape rule are allocated before its kernel runs. The kernel takes
 *   them as `const Tensor&` after the arguments and returns void, or a Status if it raises its errors by the C ABI. An
 *   output that the rule may leave out is a std::optional<Tensor>. If a kernel returns a tensor instead, the adapter
 *   puts the tensor in the place of the allocated output.
 *
 * Note [Declining]  A backend's kernel that does not serve a call returns LAMELLA_DECLINED as its Status, or throws
 *   Declined, before it has written to any output. The operator's composite then serves the call; Note [Declining] in
 *   c_api.h says what follows if there is no composite. */
#ifndef LAMELLA_KERNEL_H
#define LAMELLA_KERNEL_H

#include <lamella/adapter.h>
#include <lamella/output.h>
#include <lamella/schema_fit.h>
#include <lamella/typed_call.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace detail {

/* An adapter (`run`), the context that it needs, and the types of the C++ function that it calls. */
struct TypedKernel {
  ArrayRef<CppType> parameters, results;
  lamella_kernel run;
  void* context;
};
template <class F>
TypedKernel typed_kernel(F fn) {
  using S = SignatureFor<F>;
  return {S::parameters(), S::results(), S::kernel(),
          const_cast<void*>(Callable<PlainFunction<F>>::context(std::move(fn)))};
}

/* ---- shape rules ---- */

template <class P>
constexpr bool is_output = std::is_same<P, Output>::value;

/* Sorts a shape rule's parameters P into Inputs, the arguments, and a count of Outputs; `run` is the rule's adapter.
 * The specializations move one parameter after another out of P. */
template <class F, bool Framed, class Inputs, size_t Outputs, class... P>
struct RuleOf;
template <class F, bool Framed, class... Inputs, size_t Outputs, class P, class... Rest>
struct RuleOf<F, Framed, Types<Inputs...>, Outputs, P, Rest...>
    : std::conditional_t<is_output<P>, RuleOf<F, Framed, Types<Inputs...>, Outputs + 1, Rest...>,
                         RuleOf<F, Framed, Types<Inputs..., P>, Outputs, Rest...>> {
  static_assert(is_output<P> || Outputs == 0,
                "a shape rule's last parameters are lamella::Output, one for each result");
};
template <class F, bool Framed, class... Inputs, size_t Outputs>
struct RuleOf<F, Framed, Types<Inputs...>, Outputs> {
  static_assert(Outputs > 0, "a shape rule's last parameters are lamella::Output, one for each result");
  static_assert(Outputs <= LAMELLA_MAX_RETURNS, "an operator has at most 16 results");
  static constexpr size_t outputs = Outputs;
  static ArrayRef<CppType> parameters() { return Types<Inputs...>::list(); }
  static lamella_status run(lamella_frame* f, const lamella_value* args, lamella_meta* outs) {
    return guarded_in(f, [&] {
      return call(f, args, outs, std::index_sequence_for<Inputs...>(), std::make_index_sequence<Outputs>());
    });
  }

 private:
  template <size_t... I, size_t... O>
  static lamella_status call(lamella_frame* f, [[maybe_unused]] const lamella_value* args, lamella_meta* outs,
                             std::index_sequence<I...>, std::index_sequence<O...>) {
    if constexpr (Framed)
      Callable<F>::of(f)(f, Parameter<Inputs>::get(args[I])..., Output(f, args, outs + O)...);
    else
      Callable<F>::of(f)(Parameter<Inputs>::get(args[I])..., Output(f, args, outs + O)...);
    return LAMELLA_OK;
  }
};

template <class F, class Pointer>
struct Rule;
template <class F, class... P>
struct Rule<F, void (*)(P...)> : RuleOf<F, false, Types<>, 0, P...> {};
template <class F, class... P>
struct Rule<F, void (*)(lamella_frame*, P...)> : RuleOf<F, true, Types<>, 0, P...> {};
template <class F>
using RuleFor = Rule<PlainFunction<F>, typename PointerOf<F>::type>;

struct TensorResults {
  CppType types[LAMELLA_MAX_RETURNS] = {};
  constexpr TensorResults() {
    for (CppType& t : types) t = Convert<Tensor>::type();
  }
};
inline constexpr TensorResults tensor_results;

/* Compares a rule's types with the schema, as `compare` does. The results that a rule describes are tensors, or lists
 * of them. */
template <class R>
int32_t compare_rule(const lamella_operator* op, bool exact) {
  return compare("infer", op, R::parameters(), {tensor_results.types, R::outputs}, exact);
}

}  // namespace detail

/* ---- members of Library ---- */

inline Library& Library::def(const char* schema, const char* file, int line) {
  if (key_)
    return fail(LAMELLA_RUNTIME_ERROR,
                std::string("def: a block of kernels for '") + key_ + "' defines nothing; use LAMELLA_LIBRARY");
  return define(schema, nullptr, nullptr, nullptr, LAMELLA_FORM_FUNCTION, file, line);
}
template <class F, class>
Library& Library::def(const char* schema, F fn, const char* file, int line) {
  if (def(schema, file, line).status()) return *this;
  const std::string text = schema;
  constexpr const char* space = " \t\n\r\v\f";
  const size_t begin = text.find_first_not_of(space), end = text.find('(');
  std::string name = text.substr(begin, end - begin);
  name.erase(name.find_last_not_of(space) + 1);
  return impl(name.c_str(), std::move(fn), file, line);
}
template <class F, class>
Library& Library::impl(const char* op, F fn, const char* file, int line) {
  const char* key = key_ ? key_ : "composite";
  if constexpr (std::is_convertible<F, lamella_kernel>::value)
    return impl(op, key, static_cast<lamella_kernel>(fn), nullptr, 0, file, line);
  else
    return impl(op, key, std::move(fn), file, line);
}
inline Library& Library::typed(const char* op, const char* key, const detail::TypedKernel& k, uint32_t flags,
                               const char* file, int line) {
  if (status_) return *this;
  status_ = guarded([&] {
    const lamella_operator* found = detail::find("impl", ns_, op);
    const bool may_write = std::string_view(key) != "composite"; /* no results are allocated for a composite */
    const int32_t known = detail::compare("impl", found, k.parameters, k.results, exact_, may_write);
    return kernel(op, key,
                  {sizeof(lamella_kernel_def), flags, k.run, k.context, file, line,
                   known > 0 ? known : LAMELLA_NO_ARGUMENTS})
        .status();
  });
  return *this;
}
template <class F, class>
Library& Library::impl(const char* op, const char* key, F fn, const char* file, int line) {
  return typed(op, key, detail::typed_kernel(std::move(fn)), typed_flags, file, line);
}
template <auto Function>
Library& Library::impl(const char* op, const char* key, uint32_t flags, const char* file, int line) {
  return typed(op, key, detail::typed_kernel(detail::Constant<Function>{}), flags, file, line);
}
/* Registers a shape rule, void(arguments..., Output...), by which the operator works on "meta" and its results are
 * allocated. A rule, like a kernel, for an operator of another library may leave out arguments at the end that have a
 * default. */
template <class F>
Library& Library::infer(const char* op, F fn) {
  if (status_) return *this;
  status_ = guarded([&]() -> lamella_status {
    using R = detail::RuleFor<F>;
    const lamella_operator* found = detail::find("infer", ns_, op);
    const int32_t known = detail::compare_rule<R>(found, exact_);
    void* context = const_cast<void*>(detail::Callable<detail::PlainFunction<F>>::context(std::move(fn)));
    const lamella_shape_rule_def d = {sizeof d, known > 0 ? known : LAMELLA_NO_ARGUMENTS, R::run, context};
    return api().shape_rule(lib_, op, &d, nullptr);
  });
  return *this;
}
/* Registers a kernel with the types of the C ABI, for every operator of a category that has no kernel of its own under
 * this block's key. */
inline Library& Library::impl_category(const char* name, lamella_kernel fn, const char* file, int line) {
  if (!key_)
    return fail(LAMELLA_RUNTIME_ERROR, std::string(name && *name == '*' ? "fallback" : "impl_category") +
                                           ": this block has no key; use LAMELLA_LIBRARY_IMPL(ns, key, m)");
  return category(name, key_, fn, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS, file, line);
}
/* Registers a kernel with the types of the C ABI, for every operator that has no other kernel under this key. */
inline Library& Library::fallback(lamella_kernel fn, const char* file, int line) {
  return impl_category("*", fn, file, line);
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
