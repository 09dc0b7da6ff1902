// Writing operators over other operators against the C table: each call takes and gives tensors that own themselves,
// and after the first failure the rest does nothing.
//
//   lattis_status twice(lattis_frame* f, const lattis_value* a, lattis_value* r) {
//     Compose c(f);
//     return c.give(r, c.op<"add.Tensor">(c.arg(a[0]), c.arg(a[0]), 1));
//   }
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <lattis/extension.h>

namespace lattis::autograd {

template <size_t N>
struct OperatorName {
  char text[N];
  consteval OperatorName(const char (&s)[N]) { std::copy_n(s, N, text); }
};

// "mul.Tensor", "autograd::_permute_backward"; aten:: where there is no namespace.
inline const lattis_operator* find_callee(std::string name) {
  if (name.find("::") == std::string::npos) name = "aten::" + name;
  const size_t dot = name.find('.');
  return dot == std::string::npos ? api().find_operator(name.c_str(), "")
                                  : api().find_operator(name.substr(0, dot).c_str(), name.substr(dot + 1).c_str());
}

using Ints = std::vector<int64_t>;
struct As {
  uint8_t dtype;
};

class Compose {
 public:
  explicit Compose(lattis_frame* f) : frame_(f) {}
  lattis_status status() const { return status_; }
  explicit operator bool() const { return status_ == LATTIS_OK; }

  static Tensor arg(const lattis_value& v) { return v.tag == LATTIS_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor(); }
  static Ints ints(const lattis_value& v) {
    return v.tag == LATTIS_INT_LIST ? Ints(v.as.ints, v.as.ints + v.length) : Ints();
  }
  static Ints shape(const Tensor& t) { return t ? Ints(t.sizes(), t.sizes() + t.dim()) : Ints(); }

  template <OperatorName Name, class... Args>
  Tensor op(const Args&... args) {
    static const lattis_operator* const callee = find_callee(Name.text);
    lattis_value ret = none();
    run(callee, &ret, {value_of(args)...});
    return ret.tag == LATTIS_TENSOR ? Tensor::steal(ret.as.tensor) : Tensor();
  }

  // Of an operator that returns a list.
  template <OperatorName Name, class... Args>
  std::vector<Tensor> list(const Args&... args) {
    static const lattis_operator* const callee = find_callee(Name.text);
    lattis_value ret = none();
    run(callee, &ret, {value_of(args)...});
    std::vector<Tensor> out;
    for (uint32_t i = 0; ret.tag == LATTIS_TENSOR_LIST && i < ret.length; i++)
      out.push_back(Tensor::borrow(ret.as.tensors[i]));
    api().value_release(&ret);
    return out;
  }

  // Of an operator that returns several.
  template <OperatorName Name, size_t N, class... Args>
  std::array<Tensor, N> ops(const Args&... args) {
    static const lattis_operator* const callee = find_callee(Name.text);
    std::array<lattis_value, N> rets;
    rets.fill(none());
    run(callee, rets.data(), {value_of(args)...});
    std::array<Tensor, N> out;
    for (size_t i = 0; i < N; i++)
      if (rets[i].tag == LATTIS_TENSOR) out[i] = Tensor::steal(rets[i].as.tensor);
    return out;
  }

  lattis_status fail(int kind, const std::string& message) {
    if (!status_) status_ = lattis::fail(kind, message);
    return status_;
  }
  lattis_status give(lattis_value* rets, Tensor result) {
    if (!status_) rets[0] = lattis::value(result.take());
    return status_;
  }
  // Several results, some of which may be absent.
  template <size_t N>
  lattis_status give(lattis_value* rets, std::array<Tensor, N> results) {
    for (size_t i = 0; i < N && !status_; i++) rets[i] = results[i] ? lattis::value(results[i].take()) : none();
    return status_;
  }
  lattis_status give(lattis_value* rets, const std::vector<Tensor>& results) {
    if (status_) return status_;
    std::vector<lattis_tensor*> list;
    for (const Tensor& t : results) list.push_back(t.get());
    lattis_value v{LATTIS_TENSOR_LIST, static_cast<uint32_t>(list.size()), {0}};
    v.as.tensors = list.data();
    return status_ = api().value_retain(&v, &rets[0]);
  }

  static lattis_value value_of(const Tensor& t) { return t ? lattis::value(t) : none(); }
  static lattis_value value_of(const lattis_value& v) { return v; }
  static lattis_value value_of(bool b) { return lattis::value(b); }
  static lattis_value value_of(int i) { return lattis::value(i); }
  static lattis_value value_of(int64_t i) { return lattis::value(i); }
  static lattis_value value_of(double d) { return lattis::value(d); }
  static lattis_value value_of(As t) { return {LATTIS_DTYPE, 0, {t.dtype}}; }
  static lattis_value value_of(const Ints& list) { return lattis::value(list); }
  static lattis_value value_of(lattis_device d) {
    lattis_value v{LATTIS_DEVICE, 0, {0}};
    v.as.device = d;
    return v;
  }

 private:
  void run(const lattis_operator* op, lattis_value* ret, std::initializer_list<lattis_value> args) {
    if (status_) return;
    lattis_value all[32];
    std::copy(args.begin(), args.end(), all);
    for (int i = static_cast<int>(args.size()), n = api().operator_num_args(op); i < n && !status_; i++) {
      lattis_argument a;
      status_ = api().operator_argument(op, i, &a);
      all[i] = a.value;
    }
    if (!status_) status_ = api().call(frame_, op, all, ret);
  }

  lattis_frame* frame_;
  lattis_status status_ = LATTIS_OK;
};

}  // namespace lattis::autograd
