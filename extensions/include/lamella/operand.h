/* Operand and Result: a kernel's tensors in the layout and the dtype that it works in. A tensor that has them already
 * is used as it is; else an operand is a copy, and a result is computed in a tensor of its own and copied to its target
 * at the end.
 *
 *   Status normalize(const Tensor& self, const Tensor& out) {
 *     const Operand x(self, wide_of(self.dtype()));
 *     Result y(out, wide_of(out.dtype()));
 *     normalize_rows(x.data<float>(), y.data<float>(), x->numel);
 *     return y.finish();
 *   } */
#ifndef LAMELLA_OPERAND_H
#define LAMELLA_OPERAND_H

#include <lamella/kernel.h>

#pragma GCC visibility push(hidden)

namespace lamella {

/* Makes a tensor for a kernel's own use, contiguous unless strides are given. */
inline Tensor allocate(IntArrayRef sizes, int dtype, lamella_device device, const int64_t* strides = nullptr) {
  lamella_tensor* made;
  check(api().tensor_empty(static_cast<int32_t>(sizes.size()), sizes.data(), strides, static_cast<uint8_t>(dtype),
                           device, &made));
  return Tensor::steal(made);
}
inline Tensor allocate_like(const lamella_tensor* t, int dtype, const int64_t* strides = nullptr) {
  return allocate({t->dl.shape, static_cast<size_t>(t->dl.ndim)}, dtype, device_of(t), strides);
}

/* Copies elements and converts them, between tensors of one device; `from` is broadcast. */
using CopyFunction = lamella_status (*)(const lamella_tensor* to, const lamella_tensor* from);

/* Copies by a call of the operator copy_. A kernel that uses it must be registered as one that calls operators, which
 * is the default. */
inline lamella_status copy_by_operator(const lamella_tensor* to, const lamella_tensor* from) {
  static detail::Callee copy{"aten::copy_", ""};
  copy.written({value(const_cast<lamella_tensor*>(to)), value(const_cast<lamella_tensor*>(from))});
  return LAMELLA_OK;
}

/* An operand, copied by `Copy` if a copy is needed. A backend gives its own function: using Operand =
 * OperandBy<copy>. Constructors throw. */
template <CopyFunction Copy>
class OperandBy {
 public:
  OperandBy() = default;
  /* The operand, contiguous and in this dtype. An absent operand stays absent. */
  OperandBy(const lamella_tensor* t, int dtype) : OperandBy(t, dtype, !t || is_contiguous(t)) {}
  explicit OperandBy(const lamella_tensor* t) : OperandBy(t, t ? t->dtype : 0) {}
  /* `lies` says whether the kernel takes the tensor's layout. */
  OperandBy(const lamella_tensor* t, int dtype, bool lies) : t_(t) {
    if (__builtin_expect(t && !(lies && t->dtype == dtype), 0)) copy(dtype);
  }
  OperandBy(const Tensor& t, ScalarType dtype) : OperandBy(t.get(), static_cast<int>(dtype)) {}
  explicit OperandBy(const Tensor& t) : OperandBy(t.get()) {}
  OperandBy(Tensor&&, ScalarType) = delete; /* a temporary would end before the operand, which only points to it */
  explicit OperandBy(Tensor&&) = delete;
  /* Makes an operand of a tensor that the kernel has made, without a copy; the operand keeps the tensor. */
  static OperandBy made(Tensor t) {
    OperandBy o;
    o.t_ = t.get();
    o.copy_ = std::move(t);
    return o;
  }

  const lamella_tensor* get() const { return t_; }
  const lamella_tensor* operator->() const { return t_; }
  explicit operator bool() const { return t_ != nullptr; }
  bool is_copy() const { return copy_.defined(); }
  template <class T = char>
  const T* data() const {
    return t_ ? static_cast<const T*>(t_->dl.data) : nullptr;
  }

 private:
  __attribute__((noinline)) void copy(int dtype) {
    copy_ = allocate_like(t_, dtype);
    check(Copy(copy_.get(), t_));
    t_ = copy_.get();
  }

  const lamella_tensor* t_ = nullptr;
  Tensor copy_;
};

/* A result, copied to its target by `Copy` if it was computed in a tensor of its own. The kernel calls finish()
 * last. */
template <CopyFunction Copy>
class ResultBy {
 public:
  ResultBy() = default;
  ResultBy(const lamella_tensor* out, int dtype) : ResultBy(out, dtype, !out || is_contiguous(out)) {}
  explicit ResultBy(const lamella_tensor* out) : ResultBy(out, out ? out->dtype : 0) {}
  /* `lies` says whether the kernel can write into the target's layout; else it writes into a new tensor with these
   * strides. */
  ResultBy(const lamella_tensor* out, int dtype, bool lies, const int64_t* strides = nullptr) : out_(out), t_(out) {
    if (__builtin_expect(out && !(lies && out->dtype == dtype), 0)) compute_beside(dtype, strides);
  }
  ResultBy(const Tensor& out, ScalarType dtype) : ResultBy(out.get(), static_cast<int>(dtype)) {}
  explicit ResultBy(const Tensor& out) : ResultBy(out.get()) {}
  ResultBy(Tensor&&, ScalarType) = delete; /* a result does not keep the caller's tensor */
  explicit ResultBy(Tensor&&) = delete;

  const lamella_tensor* get() const { return t_; }
  const lamella_tensor* operator->() const { return t_; }
  explicit operator bool() const { return t_ != nullptr; }
  bool is_beside() const { return beside_.defined(); }
  template <class T = char>
  T* data() const {
    return t_ ? static_cast<T*>(t_->dl.data) : nullptr;
  }
  /* Copies the result to the target, if it was computed in a tensor of its own. */
  lamella_status finish() const { return beside_.defined() ? Copy(out_, t_) : LAMELLA_OK; }

 private:
  __attribute__((noinline)) void compute_beside(int dtype, const int64_t* strides) {
    beside_ = allocate_like(out_, dtype, strides);
    t_ = beside_.get();
  }

  const lamella_tensor *out_ = nullptr, *t_ = nullptr;
  Tensor beside_;
};

using Operand = OperandBy<copy_by_operator>;
using Result = ResultBy<copy_by_operator>;

/* Returns whether every index of a list is undefined, as in x[:, :]. */
inline bool nothing_indexed(TensorList indices) {
  for (const Tensor& t : indices)
    if (t.defined()) return false;
  return true;
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
