/* Calls of operators by name with C++ types that are compared with the schema once, and a layer's typed redispatch. */
#ifndef LAMELLA_TYPED_CALL_H
#define LAMELLA_TYPED_CALL_H

#include <lamella/adapter.h>
#include <lamella/schema_fit.h>

#pragma GCC visibility push(hidden)

namespace lamella {

namespace detail {

/* Converts an owned result to R and releases what R does not keep. */
template <class R>
struct Taken {
  static_assert(!std::is_reference<R>::value, "what an Operator returns is a value: Tensor, not Tensor&");
  static_assert(!std::is_convertible<R, std::string_view>::value || std::is_same<R, std::string>::value,
                "a text that is returned is a std::string");
  static_assert(!std::is_same<R, IntArrayRef>::value && !std::is_same<R, ArrayRef<double>>::value &&
                    !std::is_same<R, ArrayRef<bool>>::value && !std::is_same<R, TensorList>::value,
                "a list that is returned is a std::vector");
  static R from(lamella_value* v) {
    if constexpr (std::is_same<R, lamella_value>::value) { /* the caller releases it */
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

/* The number of results that a C++ type stands for. */
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
struct Bools { /* one byte each, since a std::vector<bool> has no array of them */
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

/* Calls the operator in the layers below the layer of the running kernel, with these arguments. Arguments at the end
 * that are not given keep the values of the running call. */
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
