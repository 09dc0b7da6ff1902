// Writing operators over other operators against the C table: each call takes and gives tensors that own themselves,
// and after the first failure the rest does nothing.
//
//   lamella_status twice(lamella_frame* f, const lamella_value* a, lamella_value* r) {
//     Compose c(f);
//     return c.give(r, c.op<"add.Tensor">(c.arg(a[0]), c.arg(a[0]), 1));
//   }
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <lamella/library.h>

namespace lamella::autograd {

using Tensor = TensorRef;

template <size_t N>
struct OperatorName {
  char text[N];
  consteval OperatorName(const char (&s)[N]) { std::copy_n(s, N, text); }
};

// "mul.Tensor", "autograd::_permute_backward"; aten:: where there is no namespace.
inline const lamella_operator* find_callee(std::string name) {
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
  explicit Compose(lamella_frame* f) : frame_(f) {}
  lamella_status status() const { return status_; }
  explicit operator bool() const { return status_ == LAMELLA_OK; }

  static Tensor arg(const lamella_value& v) { return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor(); }
  static Ints ints(const lamella_value& v) {
    return v.tag == LAMELLA_INT_LIST ? Ints(v.as.ints, v.as.ints + v.length) : Ints();
  }
  static Ints shape(const Tensor& t) { return t ? Ints(t.sizes(), t.sizes() + t.dim()) : Ints(); }

  template <OperatorName Name, class... Args>
  Tensor op(const Args&... args) {
    static const lamella_operator* const callee = find_callee(Name.text);
    lamella_value ret = none();
    run(callee, &ret, 1, {value_of(args)...});
    return ret.tag == LAMELLA_TENSOR ? Tensor::steal(ret.as.tensor) : Tensor();
  }

  // Of an operator that returns a list.
  template <OperatorName Name, class... Args>
  std::vector<Tensor> list(const Args&... args) {
    static const lamella_operator* const callee = find_callee(Name.text);
    lamella_value ret = none();
    run(callee, &ret, 1, {value_of(args)...});
    std::vector<Tensor> out;
    for (uint32_t i = 0; ret.tag == LAMELLA_TENSOR_LIST && i < ret.length; i++)
      out.push_back(Tensor::borrow(ret.as.tensors[i]));
    api().value_release(&ret);
    return out;
  }

  // Of an operator that returns several.
  template <OperatorName Name, size_t N, class... Args>
  std::array<Tensor, N> ops(const Args&... args) {
    static const lamella_operator* const callee = find_callee(Name.text);
    std::array<lamella_value, N> rets;
    rets.fill(none());
    run(callee, rets.data(), N, {value_of(args)...});
    std::array<Tensor, N> out;
    for (size_t i = 0; i < N; i++)
      if (rets[i].tag == LAMELLA_TENSOR) out[i] = Tensor::steal(rets[i].as.tensor);
    return out;
  }

  lamella_status fail(int kind, const std::string& message) {
    if (!status_) status_ = lamella::fail(kind, message);
    return status_;
  }
  lamella_status give(lamella_value* rets, Tensor result) {
    if (!status_) rets[0] = lamella::value(result.take());
    return status_;
  }
  // Several results, some of which may be absent.
  template <size_t N>
  lamella_status give(lamella_value* rets, std::array<Tensor, N> results) {
    for (size_t i = 0; i < N && !status_; i++) rets[i] = results[i] ? lamella::value(results[i].take()) : none();
    return status_;
  }
  lamella_status give(lamella_value* rets, const std::vector<Tensor>& results) {
    if (status_) return status_;
    std::vector<lamella_tensor*> list;
    for (const Tensor& t : results) list.push_back(t.get());
    lamella_value v{LAMELLA_TENSOR_LIST, static_cast<uint32_t>(list.size()), {0}};
    v.as.tensors = list.data();
    return status_ = api().value_retain(&v, &rets[0]);
  }

  static lamella_value value_of(const Tensor& t) { return t ? lamella::value(t) : none(); }
  static lamella_value value_of(const lamella_value& v) { return v; }
  static lamella_value value_of(bool b) { return lamella::value(b); }
  static lamella_value value_of(int i) { return lamella::value(i); }
  static lamella_value value_of(int64_t i) { return lamella::value(i); }
  static lamella_value value_of(double d) { return lamella::value(d); }
  static lamella_value value_of(As t) { return {LAMELLA_DTYPE, 0, {t.dtype}}; }
  static lamella_value value_of(const Ints& list) { return lamella::value(list); }
  static lamella_value value_of(lamella_device d) {
    lamella_value v{LAMELLA_DEVICE, 0, {0}};
    v.as.device = d;
    return v;
  }

 private:
  void run(const lamella_operator* op, lamella_value* rets, int32_t n, std::initializer_list<lamella_value> args) {
    if (status_) return;
    status_ = api().call(frame_, op, args.begin(), static_cast<int32_t>(args.size()), rets, n);
  }

  lamella_frame* frame_;
  lamella_status status_ = LAMELLA_OK;
};

}  // namespace lamella::autograd
