#include "dispatcher/kernel_run.h"

#include <algorithm>
#include <list>

#include "dispatcher/layer.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

using core::DType;
using core::full;
using core::Tensor;

// Copies of operands and indices in the dtypes that the kernel computes in, for a backend that does not convert them
// itself.
class CastInputs {
 public:
  lamella_status prepare(Frame& f, const Value*& args) {
    const CallInfo& info = *static_cast<const Table*>(f.table)->info;
    given_ = args;
    count_ = info.nargs;
    if (const lamella_pointwise* p = f.op->pointwise; p && f.compute_dtype != LAMELLA_NO_DTYPE)
      for (int i = p->condition; i < p->inputs; i++)
        if (lamella_status st = cast(f, i, static_cast<DType>(f.compute_dtype))) return st;
    for (int i = 0; i < count_; i++)
      if (info.indices >> i & 1)
        if (lamella_status st = cast_indices(f, i)) return st;
    if (!values_.empty()) args = values_.data();
    return LAMELLA_OK;
  }

 private:
  lamella_status cast(Frame& f, int at, DType dtype) {
    if (given_[at].tag != LAMELLA_TENSOR || given_[at].as.tensor->dtype == dtype) return LAMELLA_OK;
    Tensor* copy;
    if (lamella_status st = copied(f, full(given_[at].as.tensor), dtype, &copy)) return st;
    change(at, core::tensor_value(copy));
    return LAMELLA_OK;
  }

  static bool is_narrow(const lamella_tensor* t) {
    return t && t->dtype != LAMELLA_INT64 && core::dtype_class(t->dtype) == LAMELLA_CLASS_INTEGRAL &&
           t->dtype != LAMELLA_BOOL;
  }

  // Casts an index tensor, or the index tensors of a list; masks and absent elements stay.
  lamella_status cast_indices(Frame& f, int at) {
    const Value& v = given_[at];
    if (v.tag == LAMELLA_TENSOR) return is_narrow(v.as.tensor) ? cast(f, at, LAMELLA_INT64) : LAMELLA_OK;
    if (v.tag != LAMELLA_TENSOR_LIST || std::none_of(v.as.tensors, v.as.tensors + v.length, is_narrow))
      return LAMELLA_OK;
    auto& list = lists_.emplace_back(v.as.tensors, v.as.tensors + v.length);
    for (lamella_tensor*& t : list) {
      Tensor* copy;
      if (!is_narrow(t)) continue;
      if (lamella_status st = copied(f, full(t), LAMELLA_INT64, &copy)) return st;
      t = copy;
    }
    change(at, core::tensor_list(list.data(), static_cast<int64_t>(list.size())));
    return LAMELLA_OK;
  }

  lamella_status copied(Frame& f, Tensor* t, DType dtype, Tensor** copy) {
    if (lamella_status st = core::new_tensor(t->ndim(), t->sizes(), nullptr, dtype, t->device(), copy)) return st;
    owned_.push_back(core::TensorRef::steal(*copy));
    return copy_aside(f, *copy, t);
  }

  void change(int at, const Value& v) {
    if (values_.empty()) values_.assign(given_, given_ + count_);
    values_[at] = v;
  }

  const Value* given_ = nullptr;
  int count_ = 0;
  std::vector<Value> values_;  // empty if nothing was changed
  std::vector<core::TensorRef> owned_;
  std::list<std::vector<lamella_tensor*>> lists_;
};

}  // namespace

void name_operator(Frame& f) {
  core::Error& e = core::pending_error();
  std::string title = operator_title(f.op) + ": ";
  if (e.kind != LAMELLA_HOST_ERROR && e.message.rfind(title, 0) != 0) e.message = title + e.message;
}

lamella_status name_device(Frame& f, lamella_status st) {
  if (st < 0 || core::is_host(f.device.backend)) return st;
  // Without an error, copy_across() moves the bytes instead.
  if (st == LAMELLA_NOT_IMPLEMENTED && core::pending_error().kind == LAMELLA_OK) return st;
  return core::from_backend(st, f.device, operator_title(f.op));
}

void free_scratch(Frame& f) {
  while (f.scratch) {
    void* next = *static_cast<void**>(f.scratch);
    std::free(f.scratch);
    f.scratch = next;
  }
}

static inline __attribute__((always_inline)) lamella_status run_as_given(Frame& f, const Entry& e, const Value* args,
                                                                         Value* rets) {
  f.context = e.context;
  lamella_status st;
  if (__builtin_expect(e.flags & calls_operators, 0)) {
    uint64_t saved = f.thread->exclude;
    f.thread->exclude |= f.passed & ~inside_layers.load(std::memory_order_relaxed);
    const Calling calling(f);
    st = e(f, args, rets);
    f.thread->exclude = saved;
  } else {
    st = e(f, args, rets);
  }
  if (__builtin_expect(f.scratch != nullptr, 0)) free_scratch(f);
  if (__builtin_expect(st <= LAMELLA_OK, 1)) return st;
  static_cast<CallFrame&>(f).half_written |= (e.flags & fails_late) != 0;
  return name_device(f, st);
}

lamella_status run_kernel(Frame& f, const Entry& e, const Value* args, Value* rets) {
  if (!e.fn) return LAMELLA_OK;  // the shape rule alone serves the call
  const bool casts = f.op->pointwise || static_cast<const Table*>(f.table)->info->indices;
  if ((e.flags & mixed_dtypes) || !casts) return run_as_given(f, e, args, rets);
  CastInputs cast;
  if (lamella_status st = cast.prepare(f, args)) return st;
  return run_as_given(f, e, args, rets);
}

}  // namespace lamella::dispatcher
