/* Registering C++ functions: the comparison of their types with a schema, the rest of `Library`, shape rules in C++,
 * and typed calls of any operator. */
#ifndef LAMELLA_REGISTRATION_H
#define LAMELLA_REGISTRATION_H

#include <lamella/kernel.h>

#pragma GCC visibility push(hidden)

namespace lamella {

/* One result, which a shape rule describes. */
class Output {
 public:
  Output(lamella_frame* f, const lamella_value* args, lamella_meta* m) : frame_(f), args_(args), meta_(m) {}

  /* A new tensor. The kernel computes in its dtype too, unless `compute_in` names another. */
  void set(IntArrayRef sizes, ScalarType dtype) {
    LAMELLA_CHECK(sizes.size() <= LAMELLA_MAX_DIMS, "a result has at most ", LAMELLA_MAX_DIMS, " dimensions");
    meta_->kind = LAMELLA_META_FRESH;
    meta_->dtype = static_cast<uint8_t>(dtype);
    meta_->ndim = static_cast<int32_t>(sizes.size());
    meta_->flags = 0;
    for (size_t i = 0; i < sizes.size(); i++) meta_->sizes[i] = sizes[i];
    frame_->compute_dtype = meta_->dtype;
  }
  void set(IntArrayRef sizes, ScalarType dtype, IntArrayRef strides) {
    set(sizes, dtype);
    LAMELLA_CHECK(strides.empty() || strides.size() == sizes.size(), "a result of ", sizes.size(), " dimensions has ",
                  strides.size(), " strides");
    set_strides(strides);
  }
  /* Shape, dtype and, if it has no gaps, layout of a tensor. */
  void like(const Tensor& t) { like(t, t.dtype()); }
  void like(const Tensor& t, ScalarType dtype) {
    set(t.sizes(), dtype);
    if (t.defined() && (t.get()->flags & LAMELLA_DENSE) && !t.is_contiguous()) set_strides(t.strides());
  }
  /* Changes the dtype of a result that `set` or `like` has described; the layout stays. */
  void set_dtype(ScalarType dtype) {
    meta_->dtype = static_cast<uint8_t>(dtype);
    compute_in(dtype);
  }
  /* A result that `set` or `like` has described is made in pinned memory of the host. */
  void pin(std::optional<bool> on) {
    if (on.value_or(false)) meta_->flags |= LAMELLA_META_PINNED;
  }
  void compute_in(ScalarType dtype) { frame_->compute_dtype = static_cast<uint32_t>(dtype); }

  /* An argument itself, into which an operator writes. */
  void same(const Tensor& argument) {
    meta_->kind = LAMELLA_META_SAME;
    meta_->alias_of = position(argument);
  }
  /* A view of an argument: strides and offset count elements, of `dtype` if it is given. */
  void view(const Tensor& argument, IntArrayRef sizes, IntArrayRef strides, int64_t offset,
            ScalarType dtype = ScalarType::Undefined) {
    LAMELLA_CHECK(strides.size() == sizes.size(), "a view of ", sizes.size(), " dimensions has ", strides.size(),
                  " strides");
    const uint32_t compute = frame_->compute_dtype; /* a view computes nothing */
    set(sizes, dtype, strides);
    frame_->compute_dtype = compute;
    meta_->kind = LAMELLA_META_ALIAS;
    meta_->alias_of = position(argument);
    meta_->offset = offset;
  }
  /* A tensor over the argument's memory that no layer takes for a view. */
  void detached(const Tensor& argument) {
    view(argument, argument.sizes(), argument.strides(), argument.storage_offset());
    meta_->kind = LAMELLA_META_DETACHED;
  }
  /* Only the kernel knows; it returns a tensor of its own. */
  void dynamic() { meta_->kind = LAMELLA_META_DYNAMIC; }
  /* No tensor: one of several results, which the caller did not ask for. */
  void absent() { meta_->kind = LAMELLA_META_NONE; }

  /* As `set` or `like` has described it. */
  IntArrayRef sizes() const { return {meta_->sizes, static_cast<size_t>(meta_->ndim)}; }
  ScalarType dtype() const { return static_cast<ScalarType>(meta_->dtype); }
  void set_strides(IntArrayRef strides) {
    for (size_t i = 0; i < strides.size(); i++) meta_->strides[i] = strides[i];
    const int others = meta_->flags & ~LAMELLA_META_STRIDES;
    meta_->flags = static_cast<uint8_t>(others | (strides.empty() ? 0 : LAMELLA_META_STRIDES));
  }

 private:
  uint8_t position(const Tensor& argument) const {
    uint8_t i = 0;
    while (i < frame_->num_args && !(args_[i].tag == LAMELLA_TENSOR && args_[i].as.tensor == argument.get())) i++;
    LAMELLA_CHECK(i < frame_->num_args, "a result can only be, or view, a tensor among the arguments");
    return i;
  }

  lamella_frame* frame_;
  const lamella_value* args_;
  lamella_meta* meta_;
};

namespace detail {

/* ---- does a function fit a schema? Cold, and so quickly compiled: it runs once a registration. ---- */

__attribute__((cold)) inline std::string schema_type(const lamella_argument& a) {
  static const char* const kinds[] = {"Tensor",     "Scalar", "int",    "float",        "bool",      "complex", "str",
                                      "ScalarType", "Layout", "Device", "MemoryFormat", "Generator", "object",  "any"};
  std::string t = a.kind < sizeof kinds / sizeof *kinds ? kinds[a.kind] : "?";
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS) t += "?";
  if (a.flags & LAMELLA_ARGUMENT_LIST) t += "[]";
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL) t += "?";
  return t;
}

__attribute__((cold)) inline std::string cpp_type_of(const lamella_argument& a) {
  static const char* const scalars[] = {
      "const Tensor&", "Scalar", "int64_t", "double",       "bool",      "std::complex<double>", "std::string_view",
      "ScalarType",    "Layout", "Device",  "MemoryFormat", "Generator", "lamella_value",        "lamella_value"};
  static const char* const lists[] = {"TensorList", "lamella_value", "IntArrayRef", "ArrayRef<double>",
                                      "ArrayRef<bool>"};
  std::string t = "lamella_value";
  if (!(a.flags & LAMELLA_ARGUMENT_LIST) && a.kind < sizeof scalars / sizeof *scalars) t = scalars[a.kind];
  if ((a.flags & LAMELLA_ARGUMENT_LIST) && a.kind < sizeof lists / sizeof *lists) t = lists[a.kind];
  if (!(a.flags & LAMELLA_ARGUMENT_OPTIONAL) || t == "lamella_value") return t;
  return "std::optional<" + (t == "const Tensor&" ? std::string("Tensor") : t) + ">";
}

inline bool fits(const lamella_argument& a, const CppType& t) {
  if (t.kind == LAMELLA_KIND_ANY) return true;
  constexpr uint32_t lists = LAMELLA_ARGUMENT_LIST, optional = LAMELLA_ARGUMENT_OPTIONAL;
  if (a.kind != t.kind || (a.flags & lists) != (t.flags & lists)) return false;
  if ((t.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS) && !(a.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS)) return false;
  if ((t.flags & LAMELLA_ARGUMENT_WRITTEN) && !(a.flags & LAMELLA_ARGUMENT_WRITTEN)) return false;
  const bool undefined_is_none =
      (t.kind == LAMELLA_KIND_TENSOR || t.kind == LAMELLA_KIND_GENERATOR) && !(t.flags & lists);
  return (a.flags & optional) == (t.flags & optional) || (undefined_is_none && !(t.flags & optional));
}

__attribute__((cold)) inline std::string listed(ArrayRef<CppType> types) {
  std::string all;
  for (const CppType& t : types) all += (all.empty() ? "" : ", ") + t.name();
  return all;
}

inline const lamella_argument& described(const lamella_argument* a) {
  if (!a) throw Error::pending(api().error_kind());
  return *a;
}

/* Whether a function of `known` arguments leaves out only ones with a default. The outputs of an out= form are last. */
inline bool may_leave_out(const lamella_operator* op, size_t n, size_t known, bool exact, size_t* from) {
  *from = n;
  if (known == n || exact) return known == n;
  size_t ends = n;
  while (ends > 0 &&
         (described(api().operator_argument(op, static_cast<int32_t>(ends - 1))).flags & LAMELLA_ARGUMENT_OUT))
    ends--;
  if (known > n || known < n - ends) return false;
  *from = known - (n - ends);
  for (size_t i = *from; i < ends; i++)
    if (!(described(api().operator_argument(op, static_cast<int32_t>(i))).flags & LAMELLA_ARGUMENT_HAS_DEFAULT))
      return false;
  return true;
}

/* How many of the schema's arguments the function takes; its last parameters may be the results, to be written into.
 * Throws a TypeError that shows both unless they fit. Not exact: arguments with a default may be left out at the end.
 */
__attribute__((cold)) inline int32_t compare(const char* who, const lamella_operator* op, ArrayRef<CppType> parameters,
                                             ArrayRef<CppType> results, bool exact, bool may_write = true) {
  const auto n = static_cast<size_t>(api().operator_num_args(op)),
             m = static_cast<size_t>(api().operator_num_returns(op));
  size_t known = parameters.size(), from = n;
  bool writes = may_write && results.empty() && m > 0 && known >= m;
  for (size_t i = known - m; writes && i < known; i++)
    writes = parameters[i].kind == LAMELLA_KIND_TENSOR && !(parameters[i].flags & LAMELLA_ARGUMENT_LIST);
  /* The outputs of an out= form could pass for results, and an argument before them for one that was left out. */
  const bool out_form =
      n > 0 && (described(api().operator_argument(op, static_cast<int32_t>(n - 1))).flags & LAMELLA_ARGUMENT_OUT);
  writes = writes && may_leave_out(op, n, known - m, exact || out_form, &from);
  if (writes) known -= m;
  std::string wrong;
  if (!writes && !may_leave_out(op, n, known, exact, &from))
    wrong += text("\n  the schema has ", n, n == 1 ? " argument" : " arguments", ", the function takes ", known);
  for (size_t k = 0; k < known && wrong.empty(); k++) {
    const size_t i = k < from ? k : k + (n - known);
    const lamella_argument& a = described(api().operator_argument(op, static_cast<int32_t>(i)));
    if (!fits(a, parameters[k]))
      wrong += text("\n  argument '", a.name, "': ", schema_type(a), " is ", cpp_type_of(a), ", the function takes ",
                    parameters[k].name());
  }
  if (!writes && results.size() != m)
    wrong += text("\n  the schema has ", m, m == 1 ? " result" : " results", ", the function returns ", results.size());
  for (size_t i = 0; i < m && wrong.empty(); i++) {
    const lamella_argument& a = described(api().operator_return(op, static_cast<int32_t>(i)));
    const CppType& t = writes ? parameters[known + i] : results[i];
    const uint32_t optional = writes ? t.flags & LAMELLA_ARGUMENT_OPTIONAL : 0; /* a rule may leave it out */
    if (!fits({a.size, a.kind, a.flags | LAMELLA_ARGUMENT_WRITTEN | optional, 0, "", {}}, t))
      wrong +=
          text("\n  result ", i, ": ", schema_type(a), ", the function ", writes ? "takes " : "returns ", t.name());
  }
  if (wrong.empty()) return static_cast<int32_t>(known);
  const std::string returned = results.size() == 1 ? results[0].name()
                               : results.empty()   ? std::string("void")
                                                   : "std::tuple<" + listed(results) + ">";
  throw Error(LAMELLA_TYPE_ERROR,
              text(who, ": the C++ function does not fit the schema\n  schema: ", api().operator_schema(op),
                   "\n  C++:    ", returned, " (", listed(parameters), ")", wrong));
}

/* "twice", "mine::twice.Tensor"; throws if there is none. */
__attribute__((cold)) inline const lamella_operator* find(const char* who, const char* ns, std::string name) {
  if (name.find("::") == std::string::npos) name = std::string(ns) + "::" + name;
  const OwnNamespace& own = own_namespace();
  if (name.rfind(own.written + "::", 0) == 0) name.replace(0, own.written.size(), own.chosen);
  const size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const lamella_operator* op = api().find_operator(name.substr(0, dot).c_str(), overload.c_str());
  LAMELLA_CHECK(op, who, ": there is no operator ", name, "; define it first, or name its overload");
  return op;
}

/* A kernel with a C++ function's types. */
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

/* The arguments before the outputs, as types and as an adapter. */
template <class F, bool Framed, class Inputs, size_t Outputs, class... P>
struct RuleOf; /* of the parameters P that are left to sort */
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

/* Whether a rule's types fit the schema; the results that a rule describes are tensors, or lists of them. */
template <class R>
int32_t compare_rule(const lamella_operator* op, bool exact) {
  return compare("infer", op, R::parameters(), {tensor_results.types, R::outputs}, exact);
}

}  // namespace detail

/* ---- the library's ---- */

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
    const bool may_write = std::string_view(key) != "composite"; /* whose results nothing allocates */
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
/* A shape rule: void(arguments..., Output...). It makes the operator work on "meta" and allocates its results. For an
 * operator of another library it may, like a kernel, leave out arguments at the end that have a default. */
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
/* A kernel against the C table, for every operator of a category that has none of its own under this block's key. */
inline Library& Library::impl_category(const char* name, lamella_kernel fn, const char* file, int line) {
  if (!key_) return fail(LAMELLA_RUNTIME_ERROR, "impl_category: for which key? Use LAMELLA_LIBRARY_IMPL");
  return category(name, key_, fn, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS, file, line);
}
/* The same for every operator that has nothing else under this key. */
inline Library& Library::fallback(lamella_kernel fn, const char* file, int line) {
  return impl_category("*", fn, file, line);
}

/* ---- typed calls ---- */

namespace detail {

template <class R>
struct Taken { /* out of an owned result */
  static_assert(!std::is_reference<R>::value, "what an Operator returns is a value: Tensor, not Tensor&");
  static_assert(!std::is_convertible<R, std::string_view>::value || std::is_same<R, std::string>::value,
                "a text that is returned is a std::string");
  static_assert(!std::is_same<R, IntArrayRef>::value && !std::is_same<R, ArrayRef<double>>::value &&
                    !std::is_same<R, ArrayRef<bool>>::value && !std::is_same<R, TensorList>::value,
                "a list that is returned is a std::vector");
  static R from(lamella_value* v) {
    if constexpr (std::is_same<R, lamella_value>::value) { /* the caller's to release */
      return *v;
    } else if constexpr (std::is_same<R, Tensor>::value) {
      return Tensor::steal(v->tag == LAMELLA_TENSOR ? v->as.tensor : nullptr);
    } else {
      R r = Convert<R>::get(*v);
      api().value_release(v);
      return r;
    }
  }
};
template <class... R>
struct Taken<std::tuple<R...>> {
  static std::tuple<R...> from(lamella_value* v) { return from(v, std::index_sequence_for<R...>()); }
  template <size_t... I>
  static std::tuple<R...> from(lamella_value* v, std::index_sequence<I...>) {
    return {Taken<R>::from(v + I)...};
  }
};

/* How many results a C++ type stands for. */
template <class R>
constexpr int32_t count_of = std::is_void<R>::value ? 0 : 1;
template <class... R>
constexpr int32_t count_of<std::tuple<R...>> = sizeof...(R);

/* Converts an argument to an object that a lamella_value can refer to until the call has ended. */
template <class T>
struct Passed {
  static const T& of(const T& x) { return x; }
};
template <class T>
struct PassedComplex {
  static Scalar of(const T& x) { return x; }
};
template <class T>
struct PassedOptional {
  static std::optional<Scalar> of(const std::optional<T>& x) { return x ? std::optional<Scalar>(*x) : std::nullopt; }
};
template <class T>
struct PassedAs : std::conditional_t<IsComplex<T>::value, PassedComplex<T>, Passed<T>> {};
template <class T>
struct PassedAs<std::optional<T>>
    : std::conditional_t<IsComplex<T>::value, PassedOptional<T>, Passed<std::optional<T>>> {};
template <>
struct PassedAs<std::vector<std::optional<Tensor>>> {
  static std::vector<Tensor> of(const std::vector<std::optional<Tensor>>& x) {
    return std::vector<Tensor>(x.begin(), x.end());
  }
};
struct Bools { /* in a row */
  std::vector<uint8_t> bytes;
  friend lamella_value value(const Bools& b) {
    lamella_value v{LAMELLA_BOOL_LIST, static_cast<uint32_t>(b.bytes.size()), {0}};
    v.as.bools = b.bytes.data();
    return v;
  }
};
template <>
struct PassedAs<std::vector<bool>> {
  static Bools of(const std::vector<bool>& x) { return {std::vector<uint8_t>(x.begin(), x.end())}; }
};
template <class T>
decltype(auto) passed(const T& x) {
  return PassedAs<T>::of(x);
}

template <class R, class Call>
R called(Call&& run) {
  lamella_value rets[count_of<R> + 1];
  for (lamella_value& v : rets) v = none();
  check(run(rets, count_of<R>));
  if constexpr (!std::is_void<R>::value) return Taken<R>::from(rets);
}

}  // namespace detail

/* An operator by name, called with types that were compared with its schema:
 *   static const Operator<Tensor(const Tensor&, double)> scaled("mine::scaled"); */
template <class Function>
class Operator;
template <class R, class... P>
class Operator<R(P...)> {
 public:
  explicit Operator(const char* name) : op_(detail::find("Operator", "aten", name)) {
    detail::compare("Operator", op_, detail::Types<P...>::list(), detail::Results<R>::types(), false, false);
  }
  R operator()(P... args) const { return called(detail::passed(args)...); }

 private:
  template <class... A>
  R called(const A&... args) const {
    const lamella_value values[sizeof...(A) + 1] = {value(args)..., none()};
    return detail::called<R>(
        [&](lamella_value* rets, int32_t n) { return api().call(nullptr, op_, values, sizeof...(A), rets, n); });
  }

  const lamella_operator* op_;
};

/* Goes on from a layer's kernel to the layers below, with these arguments. Arguments that were appended to the schema
 * keep the call's values. */
template <class R, class... A>
R redispatch(lamella_frame* frame, const A&... args) {
  const auto on = [frame](const auto&... passed) {
    const lamella_value values[sizeof...(A) + 1] = {value(passed)..., none()};
    return detail::called<R>(
        [&](lamella_value* rets, int32_t n) { return api().redispatch(frame, values, sizeof...(A), rets, n); });
  };
  return on(detail::passed(args)...);
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
