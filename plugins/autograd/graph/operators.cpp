// The operators that the engine calls, and conform(), which makes a gradient fit the input that it is for.
#include "graph/engine.h"

namespace lamella::autograd {
namespace {

template <size_t N>
lamella_status call_one(const lamella_operator* op, const lamella_value (&args)[N], lamella_tensor** out) {
  lamella_value ret = none();
  if (lamella_status st = api().call(nullptr, op, args, N, &ret, 1)) return st;
  if (out)
    *out = ret.as.tensor;
  else
    api().value_release(&ret);
  return LAMELLA_OK;
}

lamella_value dtype_value(uint8_t dtype) { return {LAMELLA_DTYPE, 0, {dtype}}; }
lamella_value device_value(lamella_device d) {
  lamella_value v{LAMELLA_DEVICE, 0, {0}};
  v.as.device = d;
  return v;
}
lamella_value ints(const int64_t* p, int n) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(n), {0}};
  v.as.ints = p;
  return v;
}

}  // namespace

const Operators& operators() {
  static const Operators all = [] {
    const auto find = [](const char* name, const char* overload) { return api().find_operator(name, overload); };
    return Operators{find("aten::clone", ""),          find("aten::add", "Tensor"), find("aten::add_", "Tensor"),
                     find("aten::sum", "dim_IntList"), find("aten::to", "dtype"),   find("aten::ones_like", ""),
                     find("aten::zeros", ""),          find("aten::real", ""),      find("aten::reshape", ""),
                     find("aten::isnan", ""),          find("aten::any", ""),       find("aten::item", ""),
                     find("aten::to", "device"),       find("aten::alias", "")};
  }();
  return all;
}

lamella_status Operators::alias(lamella_tensor* t, lamella_tensor** out) const {
  return call_one(alias_op, {value(t)}, out);
}
lamella_status Operators::clone(lamella_tensor* t, lamella_tensor** out) const {
  return call_one(clone_op, {value(t), none()}, out);
}
lamella_status Operators::add(lamella_tensor* a, lamella_tensor* b, lamella_tensor** out) const {
  return call_one(add_op, {value(a), value(b), value(1)}, out);
}
lamella_status Operators::add_into(lamella_tensor* a, lamella_tensor* b) const {
  return call_one(add_into_op, {value(a), value(b), value(1)}, nullptr);
}
lamella_status Operators::ones_like(lamella_tensor* t, lamella_tensor** out) const {
  return call_one(ones_op, {value(t), none(), none(), none(), none(), none()}, out);
}
lamella_status Operators::zeros(const Result& r, lamella_tensor** out) const {
  return call_one(zeros_op, {ints(r.sizes(), r.ndim), dtype_value(r.dtype), none(), device_value(r.device), none()},
                  out);
}
lamella_status Operators::move(lamella_tensor* t, lamella_device to, lamella_tensor** out) const {
  return call_one(move_op, {value(t), device_value(to), none(), value(false), value(false), none()}, out);
}
lamella_status Operators::cast(lamella_tensor* t, uint8_t dtype, lamella_tensor** out) const {
  return call_one(cast_op, {value(t), dtype_value(dtype), value(false), value(false), none()}, out);
}
lamella_status Operators::has_nan(lamella_tensor* t, bool* out) const {
  lamella_tensor *which, *any;
  if (lamella_status st = call_one(isnan_op, {value(t)}, &which)) return st;
  lamella_status st = call_one(any_op, {value(which)}, &any);
  api().release(which);
  if (st) return st;
  lamella_value v = none(), in = value(any);
  st = api().call(nullptr, item_op, &in, 1, &v, 1);
  api().release(any);
  if (!st) *out = v.as.i != 0;
  return st;
}

// Sums over the dimensions that broadcasting added or expanded.
lamella_status Operators::sum_to(lamella_tensor* t, const Result& to, lamella_tensor** out) const {
  int64_t dims[LAMELLA_MAX_DIMS];
  const int lead = t->dl.ndim - to.ndim;
  int n = 0;
  for (int i = 0; i < lead; i++) dims[n++] = i;
  for (int i = 0; i < to.ndim; i++)
    if (to.sizes()[i] == 1 && t->dl.shape[lead + i] != 1) dims[n++] = lead + i;
  const bool keep = n > lead;
  lamella_tensor* sum;
  if (lamella_status st = call_one(sum_op, {value(t), ints(dims, n), value(keep), none()}, &sum)) return st;
  if (!keep || lead == 0) {
    *out = sum;
    return LAMELLA_OK;
  }
  lamella_status st = call_one(reshape_op, {value(sum), ints(to.sizes(), to.ndim)}, out);
  api().release(sum);
  return st;
}

lamella_status conform(const Result& to, const Node* from, lamella_tensor* grad, lamella_tensor** out) {
  const auto wrong = [&](const std::string& what) {
    return fail(LAMELLA_RUNTIME_ERROR, "backward: " + from->kind->name(from) + " returned a gradient " + what);
  };
  const auto shape = [](const int64_t* p, int n) {
    std::string s = "(";
    for (int i = 0; i < n; i++) s += (i ? ", " : "") + std::to_string(p[i]);
    return s + ")";
  };
  if (!to.described()) return wrong("for an input that takes no gradient");
  // The formula of a copy between devices does not move the gradient, so this function moves it.
  const bool elsewhere = device_of(grad).backend != to.device.backend || device_of(grad).index != to.device.index;
  if (elsewhere && is_by_hand(from)) return wrong("on another device than its input");
  if (!is_differentiable(grad)) return wrong("that is neither floating nor complex");
  lamella_tensor* now = grad;
  api().retain(now);
  const auto replace = [&](lamella_status st, lamella_tensor*& by) {
    api().release(now);
    now = st ? nullptr : by;
    return st;
  };
  lamella_tensor* next = nullptr;
  if (!is_complex(static_cast<ScalarType>(to.dtype)) && is_complex(now))
    if (lamella_status st = replace(call_one(operators().real_op, {value(now)}, &next), next)) return st;
  if (!to.has_shape_of(now)) {
    const int lead = now->dl.ndim - to.ndim;
    bool spread = lead >= 0;
    for (int i = 0; i < to.ndim && spread; i++) spread = to.sizes()[i] == 1 || to.sizes()[i] == now->dl.shape[lead + i];
    if (!spread) {
      lamella_status st = wrong("of shape " + shape(now->dl.shape, now->dl.ndim) + " for an input of shape " +
                                shape(to.sizes(), to.ndim));
      api().release(now);
      return st;
    }
    if (lamella_status st = replace(operators().sum_to(now, to, &next), next)) return st;
  }
  if (elsewhere)
    if (lamella_status st = replace(operators().move(now, to.device, &next), next)) return st;
  if (to.dtype != now->dtype)
    if (lamella_status st = replace(operators().cast(now, to.dtype, &next), next)) return st;
  *out = now;
  return LAMELLA_OK;
}

}  // namespace lamella::autograd
