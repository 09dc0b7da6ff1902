// The operators that the engine calls, and how a gradient is made to fit where it goes.
#include "engine.h"
#include "record.h"

namespace lattis::autograd {
namespace {

template <size_t N>
lattis_status call_one(const lattis_operator* op, const lattis_value (&args)[N], lattis_tensor** out) {
  lattis_value ret = none();
  if (lattis_status st = api().call(nullptr, op, args, N, &ret, 1)) return st;
  if (out)
    *out = ret.as.tensor;
  else
    api().value_release(&ret);
  return LATTIS_OK;
}

lattis_value dtype_value(uint8_t dtype) { return {LATTIS_DTYPE, 0, {dtype}}; }
lattis_value device_value(lattis_device d) {
  lattis_value v{LATTIS_DEVICE, 0, {0}};
  v.as.device = d;
  return v;
}
lattis_value ints(const int64_t* p, int n) {
  lattis_value v{LATTIS_INT_LIST, static_cast<uint32_t>(n), {0}};
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
                     find("aten::to", "device")};
  }();
  return all;
}

lattis_status Operators::clone(lattis_tensor* t, lattis_tensor** out) const {
  return call_one(clone_op, {value(t), none()}, out);
}
lattis_status Operators::add(lattis_tensor* a, lattis_tensor* b, lattis_tensor** out) const {
  return call_one(add_op, {value(a), value(b), value(1)}, out);
}
lattis_status Operators::add_into(lattis_tensor* a, lattis_tensor* b) const {
  return call_one(add_into_op, {value(a), value(b), value(1)}, nullptr);
}
lattis_status Operators::ones_like(lattis_tensor* t, lattis_tensor** out) const {
  return call_one(ones_op, {value(t), none(), none(), none(), none(), none()}, out);
}
lattis_status Operators::zeros(const Result& r, lattis_tensor** out) const {
  return call_one(zeros_op, {ints(r.sizes(), r.ndim), dtype_value(r.dtype), none(), device_value(r.device), none()},
                  out);
}
lattis_status Operators::move(lattis_tensor* t, lattis_device to, lattis_tensor** out) const {
  return call_one(move_op, {value(t), device_value(to), none(), value(false), value(false), none()}, out);
}
lattis_status Operators::cast(lattis_tensor* t, uint8_t dtype, lattis_tensor** out) const {
  return call_one(cast_op, {value(t), dtype_value(dtype), value(false), value(false), none()}, out);
}
lattis_status Operators::has_nan(lattis_tensor* t, bool* out) const {
  lattis_tensor *which, *any;
  if (lattis_status st = call_one(isnan_op, {value(t)}, &which)) return st;
  lattis_status st = call_one(any_op, {value(which)}, &any);
  api().release(which);
  if (st) return st;
  lattis_value v = none(), in = value(any);
  st = api().call(nullptr, item_op, &in, 1, &v, 1);
  api().release(any);
  if (!st) *out = v.as.i != 0;
  return st;
}

// Sums what broadcasting had spread out.
lattis_status Operators::sum_to(lattis_tensor* t, const Result& to, lattis_tensor** out) const {
  int64_t dims[LATTIS_MAX_DIMS];
  const int lead = t->dl.ndim - to.ndim;
  int n = 0;
  for (int i = 0; i < lead; i++) dims[n++] = i;
  for (int i = 0; i < to.ndim; i++)
    if (to.sizes()[i] == 1 && t->dl.shape[lead + i] != 1) dims[n++] = lead + i;
  const bool keep = n > lead;
  lattis_tensor* sum;
  if (lattis_status st = call_one(sum_op, {value(t), ints(dims, n), value(keep), none()}, &sum)) return st;
  if (!keep || lead == 0) {
    *out = sum;
    return LATTIS_OK;
  }
  lattis_status st = call_one(reshape_op, {value(sum), ints(to.sizes(), to.ndim)}, out);
  api().release(sum);
  return st;
}

lattis_status conform(const Result& to, const Node* from, lattis_tensor* grad, lattis_tensor** out) {
  const auto wrong = [&](const std::string& what) {
    return fail(LATTIS_RUNTIME_ERROR, "backward: " + from->kind->name(from) + " returned a gradient " + what);
  };
  const auto shape = [](const int64_t* p, int n) {
    std::string s = "(";
    for (int i = 0; i < n; i++) s += (i ? ", " : "") + std::to_string(p[i]);
    return s + ")";
  };
  if (!to.described()) return wrong("for what has none");
  // A copy between devices leads here: its formula knows nothing of them.
  const bool elsewhere = device_of(grad).backend != to.device.backend || device_of(grad).index != to.device.index;
  if (elsewhere && is_by_hand(from)) return wrong("on another device than its input");
  if (!is_differentiable(grad)) return wrong("that is neither floating nor complex");
  lattis_tensor* now = grad;
  api().retain(now);
  const auto replace = [&](lattis_status st, lattis_tensor*& by) {
    api().release(now);
    now = st ? nullptr : by;
    return st;
  };
  lattis_tensor* next = nullptr;
  if (to.dtype < LATTIS_COMPLEX64 && now->dtype >= LATTIS_COMPLEX64)
    if (lattis_status st = replace(call_one(operators().real_op, {value(now)}, &next), next)) return st;
  if (!to.has_shape_of(now)) {
    const int lead = now->dl.ndim - to.ndim;
    bool spread = lead >= 0;
    for (int i = 0; i < to.ndim && spread; i++) spread = to.sizes()[i] == 1 || to.sizes()[i] == now->dl.shape[lead + i];
    if (!spread) {
      lattis_status st = wrong("of shape " + shape(now->dl.shape, now->dl.ndim) + " for an input of shape " +
                               shape(to.sizes(), to.ndim));
      api().release(now);
      return st;
    }
    if (lattis_status st = replace(operators().sum_to(now, to, &next), next)) return st;
  }
  if (elsewhere)
    if (lattis_status st = replace(operators().move(now, to.device, &next), next)) return st;
  if (to.dtype != now->dtype)
    if (lattis_status st = replace(operators().cast(now, to.dtype, &next), next)) return st;
  *out = now;
  return LATTIS_OK;
}

}  // namespace lattis::autograd
