#include "dispatcher/kernel_run.h"

#include "dispatcher/layer.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

using core::DType;
using core::full;
using core::Tensor;

// Operands in other dtypes, for a backend that does not convert them itself: cast copies beside the call.
class CastInputs {
 public:
  lamella_status prepare(Frame& f, const Operator* op, const Value*& args, int nargs) {
    if (f.compute_dtype == LAMELLA_NO_DTYPE) return LAMELLA_OK;
    bool needed = false;
    for (int i = op->pointwise->condition; i < op->pointwise->inputs; i++)
      needed |= args[i].tag == LAMELLA_TENSOR && args[i].as.tensor->dtype != f.compute_dtype;
    if (!needed) return LAMELLA_OK;
    values_.assign(args, args + nargs);
    for (int i = op->pointwise->condition; i < op->pointwise->inputs; i++) {
      if (values_[i].tag != LAMELLA_TENSOR || values_[i].as.tensor->dtype == f.compute_dtype) continue;
      Tensor *t = full(values_[i].as.tensor), *copy;
      if (lamella_status st =
              core::new_tensor(t->ndim(), t->sizes(), nullptr, static_cast<DType>(f.compute_dtype), t->device(), &copy))
        return st;
      owned_.push_back(core::TensorRef::steal(copy));
      if (lamella_status st = copy_aside(f, copy, t)) return st;
      values_[i] = core::tensor_value(copy);
    }
    args = values_.data();
    return LAMELLA_OK;
  }

 private:
  std::vector<Value> values_;
  std::vector<core::TensorRef> owned_;
};

}  // namespace

void name_operator(Frame& f) {
  core::Error& e = core::pending_error();
  std::string title = operator_title(f.op) + ": ";
  if (e.kind != LAMELLA_HOST_ERROR && e.message.rfind(title, 0) != 0) e.message = title + e.message;
}

lamella_status name_device(Frame& f, lamella_status st) {
  if (st == LAMELLA_RETRY || core::is_host(f.device.backend)) return st;
  if (st == LAMELLA_NOT_IMPLEMENTED && core::pending_error().kind == LAMELLA_OK) return st;  // it leaves the call alone
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
  if (__builtin_expect(st == LAMELLA_OK, 1)) return st;
  static_cast<CallFrame&>(f).half_written |= (e.flags & fails_late) != 0;
  return name_device(f, st);
}

lamella_status run_kernel(Frame& f, const Entry& e, const Value* args, Value* rets) {
  if (!e.fn) return LAMELLA_OK;  // the shape rule is all there is
  if ((e.flags & mixed_dtypes) || !f.op->pointwise) return run_as_given(f, e, args, rets);
  CastInputs cast;
  if (lamella_status st = cast.prepare(f, f.op, args, static_cast<const Table*>(f.table)->info->nargs)) return st;
  return run_as_given(f, e, args, rets);
}

}  // namespace lamella::dispatcher
