#include "dispatcher/operators/windows.h"

namespace lamella::dispatcher {

lamella_status read_spatial(lamella_frame* f, int arg, const Value& v, int count, int64_t least, int64_t* out) {
  if (v.length != 1 && static_cast<int>(v.length) != count)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: takes one number or %d, got %s", where(f, arg).c_str(), count, core::describe(v).c_str()));
  for (int i = 0; i < count; i++) {
    out[i] = v.as.ints[v.length == 1 ? 0 : i];
    if (out[i] < least || out[i] > int64_t{1} << 40)
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: must be at least %lld, got %s", where(f, arg).c_str(),
                                                 (long long)least, core::describe(v).c_str()));
  }
  return LAMELLA_OK;
}

Var padded(Compose& c, const Var& x, int spatial, const int64_t* before, const int64_t* after, const Value& value) {
  bool any = false;
  Ints pad;  // from the last dimension on, as constant_pad_nd takes it
  for (int i = spatial - 1; i >= 0; i--) {
    any |= before[i] || after[i];
    pad.add(before[i]);
    pad.add(after[i]);
  }
  return any ? c.op<"constant_pad_nd">(x, pad, value) : x;
}

Var windows(Compose& c, const Var& x, int spatial, const int64_t* kernel, const int64_t* stride,
            const int64_t* dilation, const int64_t* places) {
  const Tensor* t = x.tensor();
  if (!t) return x;
  Ints sizes, strides;
  const int first = t->ndim() - spatial;
  for (int d = 0; d < t->ndim(); d++) {
    sizes.add(d < first ? t->sizes()[d] : places[d - first]);
    strides.add(t->strides()[d] * (d < first ? 1 : stride[d - first]));
  }
  for (int i = 0; i < spatial; i++) {
    sizes.add(kernel[i]);
    strides.add(t->strides()[first + i] * dilation[i]);
  }
  return c.op<"as_strided">(x, sizes, strides, t->storage_offset);
}

Var padded_along(Compose& c, const Var& x, int d, int64_t before, int64_t after) {
  Ints pad;
  for (int k = x.dim() - 1; k > d; k--) {
    pad.add(0);
    pad.add(0);
  }
  pad.add(before);
  pad.add(after);
  return before || after ? c.op<"constant_pad_nd">(x, pad) : x;
}

Var spread_along(Compose& c, const Var& x, int d, int64_t step) {
  if (step == 1 || !x.tensor()) return x;
  Ints sizes(x.tensor()->sizes(), x.dim());
  sizes[d] *= step;
  return c.op<"reshape">(padded_along(c, c.op<"unsqueeze">(x, d + 1), d + 1, 0, step - 1), sizes);
}

bool channels_last(const lamella_tensor* t) {
  if (t->dl.ndim != 4 || t->numel == 0) return false;
  const int64_t *n = t->dl.shape, *s = t->dl.strides;
  int64_t least = 1;
  for (int d : {1, 3, 2, 0}) {
    if (n[d] == 1) continue;
    if (s[d] < least) return false;
    least = s[d] * n[d];
  }
  // With one channel, or one pixel, both layouts are the same memory: the plain one then.
  return n[1] > 1 && (n[2] > 1 || n[3] > 1);
}

void set_channels_last(Meta* m) {
  m->has_strides = 1;
  const int64_t* n = m->sizes;
  m->strides[1] = 1;
  m->strides[3] = n[1];
  m->strides[2] = n[1] * n[3];
  m->strides[0] = n[1] * n[2] * n[3];
  for (int d = 0; d < 4; d++) m->strides[d] = std::max<int64_t>(m->strides[d], 1);
}

}  // namespace lamella::dispatcher
