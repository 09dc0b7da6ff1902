// Writing composites: operators over other operators, without a line about errors or ownership.
//
//   lamella_status softplus(lamella_frame* f, const Value* a, Value* r) {
//     Compose c(f);
//     Var x = c.arg(a[0]);
//     return c.give(r, c.op<"log1p">(c.op<"exp">(x)) * 2.0);
//   }
//
// The first operator that fails is the last that runs: what follows does nothing, and give() returns the status.
// Arguments left out take the schema's defaults.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dispatcher/operators/rules.h"

namespace lamella::dispatcher {

class Compose;

// A value that a composite holds: owned, copied by counting, empty after a failure.
class Var {
 public:
  Var(Compose* c, Value owned) : compose_(c), value_(owned) {}
  Var(const Var& o) : compose_(o.compose_), value_(core::retain_value(o.value_)) {}
  Var(Var&& o) noexcept : compose_(o.compose_), value_(std::exchange(o.value_, core::none())) {}
  Var& operator=(Var o) noexcept {
    std::swap(value_, o.value_);
    return *this;
  }
  ~Var() { core::release_value(value_); }

  const Value& value() const { return value_; }
  Value take() { return std::exchange(value_, core::none()); }
  bool present() const { return value_.tag != LAMELLA_NONE; }
  Tensor* tensor() const { return tensor_arg(value_); }
  Compose& compose() const { return *compose_; }

  // Of a tensor; zero after a failure, so that arithmetic on sizes needs no check.
  int dim() const { return tensor() ? tensor()->ndim() : 0; }
  int64_t size(int d) const { return tensor() && dim() > 0 ? tensor()->sizes()[d < 0 ? d + dim() : d] : 0; }
  int64_t numel() const { return tensor() ? tensor()->numel : 0; }
  DType dtype() const { return tensor() ? tensor()->dtype : static_cast<DType>(LAMELLA_FLOAT32); }
  int dtype_class() const { return core::dtype_class(dtype()); }

 private:
  Compose* compose_;
  Value value_;
};

// A list of integers as an argument: sizes, dimensions.
struct Ints {
  int64_t data[LAMELLA_MAX_DIMS];
  int count = 0;
  Ints() = default;
  Ints(std::initializer_list<int64_t> list) {
    for (int64_t i : list) add(i);
  }
  Ints(const int64_t* from, int n) {
    for (int i = 0; i < n; i++) add(from[i]);
  }
  void add(int64_t i) {
    if (count < LAMELLA_MAX_DIMS) data[count++] = i;
  }
  int64_t& operator[](int i) { return data[i]; }
  int64_t operator[](int i) const { return data[i]; }
};

// A dtype as an argument.
struct As {
  DType dtype;
};
// An absent optional argument.
struct Absent {};
inline constexpr lamella_memory_format contiguous_format = LAMELLA_CONTIGUOUS_FORMAT;

// The name of an operator as a template argument: "sum.dim_IntList".
template <size_t N>
struct OperatorName {
  char text[N];
  consteval OperatorName(const char (&s)[N]) { std::copy_n(s, N, text); }
};

class Compose {
 public:
  explicit Compose(lamella_frame* f) : frame_(f) {}
  Compose(const Compose&) = delete;

  lamella_status status() const { return status_; }
  lamella_frame* frame() const { return frame_; }
  Var arg(const Value& borrowed) { return {this, core::retain_value(borrowed)}; }
  Var nothing() { return {this, core::none()}; }

  // Calls an operator; its one result.
  template <OperatorName Name, class... Args>
  Var op(const Args&... args) {
    Value ret = core::none();
    run(callee<Name>(), &ret, {value_of(args)...});
    return {this, ret};
  }
  // Calls an operator with several results.
  template <OperatorName Name, size_t Count, class... Args>
  std::array<Var, Count> ops(const Args&... args) {
    Value rets[Count];
    for (Value& v : rets) v = core::none();
    run(callee<Name>(), rets, {value_of(args)...});
    return [&]<size_t... I>(std::index_sequence<I...>) { return std::array<Var, Count>{Var(this, rets[I])...}; }
    (std::make_index_sequence<Count>());
  }

  // Calls an operator with the arguments of this one, but for the first.
  template <OperatorName Name>
  Var op_on(const Var& first, const Value* args) {
    Value all[most_args], ret = core::none();
    const int n = static_cast<const Operator*>(frame_->op)->info.nargs;
    std::copy(args, args + n, all);
    all[0] = first.value();
    run(callee<Name>(), &ret, all, n);
    return {this, ret};
  }

  lamella_status fail(int kind, const std::string& message) {
    if (!status_) status_ = raise(kind, message);
    return status_;
  }
  void check(lamella_status st) {
    if (!status_) status_ = st;
  }
  // Hands results to the caller, or the first failure.
  lamella_status give(Value* rets, Var result) {
    if (!status_) rets[0] = result.take();
    return status_;
  }
  template <size_t Count>
  lamella_status give(Value* rets, std::array<Var, Count> results) {
    for (size_t i = 0; i < Count && !status_; i++) rets[i] = results[i].take();
    return status_;
  }
  lamella_status give(Value* rets, Var first, Var second) {
    return give(rets, std::array<Var, 2>{std::move(first), std::move(second)});
  }

  // Tensors as one list, to pass or to give.
  Var list(const std::vector<Var>& items);

  static Value value_of(const Var& v) { return v.value(); }
  static Value value_of(const Value& v) { return v; }
  static Value value_of(bool b) { return core::boolean(b); }
  static Value value_of(int i) { return core::integer(i); }
  static Value value_of(int64_t i) { return core::integer(i); }
  static Value value_of(double d) { return core::floating(d); }
  static Value value_of(As t) { return core::dtype_value(t.dtype); }
  static Value value_of(Absent) { return core::none(); }
  static Value value_of(const Ints& list) { return core::int_list(list.data, list.count); }
  static Value value_of(lamella_memory_format m) { return {LAMELLA_MEMORY_FORMAT, 0, {m}}; }
  static Value value_of(lamella_device d) { return core::device_value(d); }

 private:
  template <OperatorName Name>
  static const Operator* callee() {
    static const Operator* op = find_callee(Name.text);
    return op;
  }
  static const Operator* find_callee(std::string_view name);
  static constexpr int most_args = 64;
  void run(const Operator* op, Value* rets, std::initializer_list<Value> args) {
    run(op, rets, args.begin(), args.size());
  }
  void run(const Operator* op, Value* rets, const Value* args, size_t count);

  lamella_frame* frame_;
  lamella_status status_ = LAMELLA_OK;
};

// Arithmetic between tensors, and between a tensor and a number, which keeps its kind: an integer beside an integer
// tensor gives integers.
template <class N>
concept Number = std::is_arithmetic_v<N>;

inline Var operator+(const Var& x, const Var& y) { return x.compose().op<"add.Tensor">(x, y); }
inline Var operator-(const Var& x, const Var& y) { return x.compose().op<"sub.Tensor">(x, y); }
inline Var operator*(const Var& x, const Var& y) { return x.compose().op<"mul.Tensor">(x, y); }
inline Var operator/(const Var& x, const Var& y) { return x.compose().op<"div.Tensor">(x, y); }
inline Var operator+(const Var& x, Number auto y) { return x.compose().op<"add.Scalar">(x, y); }
inline Var operator-(const Var& x, Number auto y) { return x.compose().op<"sub.Scalar">(x, y); }
inline Var operator*(const Var& x, Number auto y) { return x.compose().op<"mul.Scalar">(x, y); }
inline Var operator/(const Var& x, Number auto y) { return x.compose().op<"div.Scalar">(x, y); }
inline Var operator-(Number auto x, const Var& y) { return y.compose().op<"rsub.Scalar">(y, x); }
inline Var operator-(const Var& x) { return x.compose().op<"neg">(x); }

}  // namespace lamella::dispatcher
