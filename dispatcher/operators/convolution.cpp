// Convolutions and padding. convolution itself is pad, windows, one bmm per group; conv1d to conv3d read their
// arguments for it.
#include <cstring>
#include <string_view>

#include "dispatcher/operators/windows.h"

namespace lattis::dispatcher {
namespace {

struct Shape {
  int spatial;
  int64_t stride[3], padding[3], dilation[3], kernel[3], places[3], groups;
};

std::string text_of(const Tensor* t) { return "shape " + core::shape_string(t); }

// convolution(input, weight, bias, stride, padding, dilation, groups)
lattis_status read(lattis_frame* f, const Value* a, Shape* s) {
  const Tensor *x = tensor_arg(a[0]), *w = tensor_arg(a[1]), *bias = tensor_arg(a[2]);
  s->spatial = w->ndim() - 2;
  if (s->spatial < 1 || s->spatial > 3)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 1) +
                                           ": expected (out channels, in channels / groups, 1 to 3 kernel "
                                           "sizes), got " +
                                           text_of(w));
  if (x->ndim() != w->ndim())
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: expected %d dimensions for a weight of shape %s, got shape %s", where(f, 0).c_str(),
                        w->ndim(), core::shape_string(w).c_str(), core::shape_string(x).c_str()));
  if (lattis_status st = read_spatial(f, 3, a[3], s->spatial, 1, s->stride)) return st;
  if (lattis_status st = read_spatial(f, 4, a[4], s->spatial, 0, s->padding)) return st;
  if (lattis_status st = read_spatial(f, 5, a[5], s->spatial, 1, s->dilation)) return st;
  s->groups = a[6].as.i;
  const int64_t out = w->sizes()[0];
  if (s->groups < 1 || out % s->groups || x->sizes()[1] != w->sizes()[1] * s->groups)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %lld groups need a weight of (k * %lld, in channels / %lld, …), got %s for an input of %s",
                        where(f, 6).c_str(), (long long)s->groups, (long long)s->groups, (long long)s->groups,
                        text_of(w).c_str(), text_of(x).c_str()));
  for (int i = 1; i < 3; i++) {
    const Tensor* t = i == 1 ? w : bias;
    if (t && t->dtype != x->dtype)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: its dtype %s is not that of 'input', %s; convert one with .to(...)", where(f, i).c_str(),
                          core::dtype_info(t->dtype).name, core::dtype_info(x->dtype).name));
  }
  if (x->dtype == LATTIS_BOOL)
    return raise(LATTIS_NOT_IMPLEMENTED, where(f, 0) + ": bools have no product of sums; convert with .to(...)");
  if (bias && (bias->ndim() != 1 || bias->sizes()[0] != out))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected shape (%lld,), got %s", where(f, 2).c_str(), (long long)out,
                                              text_of(bias).c_str()));
  for (int i = 0; i < s->spatial; i++) {
    s->kernel[i] = w->sizes()[2 + i];
    const int64_t room = x->sizes()[2 + i] + 2 * s->padding[i], reach = s->dilation[i] * (s->kernel[i] - 1) + 1;
    if (s->kernel[i] < 1 || room < reach)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: a kernel of %lld (dilation %lld) does not fit into size %lld with padding %lld",
                          where(f, 1).c_str(), (long long)s->kernel[i], (long long)s->dilation[i],
                          (long long)x->sizes()[2 + i], (long long)s->padding[i]));
    s->places[i] = (room - reach) / s->stride[i] + 1;
  }
  return LATTIS_OK;
}

lattis_status infer_convolution(lattis_frame* f, const Value* a, Meta* m) {
  Shape s;
  if (lattis_status st = read(f, a, &s)) return st;
  const Tensor *x = tensor_arg(a[0]), *w = tensor_arg(a[1]);
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  m->sizes[1] = w->sizes()[0];
  std::copy(s.places, s.places + s.spatial, m->sizes + 2);
  if (channels_last(x) || channels_last(w)) set_channels_last(m);
  return core::check_sizes("convolution", m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
}

// (n, groups, c, places, taps) becomes (n · groups, c · taps, places) and meets (groups, out, c · taps).
lattis_status convolution(lattis_frame* f, const Value* a, Value* r) {
  Shape s;
  if (lattis_status st = read(f, a, &s)) return st;
  Compose c(f);
  Var x = c.arg(a[0]), w = c.arg(a[1]);
  const int64_t n = x.size(0), in = x.size(1) / s.groups, out = w.size(0) / s.groups;
  Var seen = windows(c, padded(c, x, s.spatial, s.padding, s.padding, core::integer(0)), s.spatial, s.kernel, s.stride,
                     s.dilation, s.places);
  int64_t taps = 1, places = 1;
  Ints order{0, 1}, sizes{n, w.size(0)};
  for (int i = 0; i < s.spatial; i++) {
    taps *= s.kernel[i];
    places *= s.places[i];
    order.add(2 + s.spatial + i);
    sizes.add(s.places[i]);
  }
  for (int i = 0; i < s.spatial; i++) order.add(2 + i);
  Var columns = c.op<"reshape">(c.op<"permute">(seen, order), Ints{n * s.groups, in * taps, places});
  Var rows = c.op<"reshape">(w, Ints{1, s.groups, out, in * taps});
  rows = c.op<"reshape">(c.op<"expand">(rows, Ints{n, s.groups, out, in * taps}), Ints{n * s.groups, out, in * taps});
  Var result = c.op<"view">(c.op<"bmm">(rows, columns), sizes);
  if (given(a[2])) {
    Ints one{1, w.size(0)};
    for (int i = 0; i < s.spatial; i++) one.add(1);
    result = result + c.op<"reshape">(a[2], one);
  }
  Meta m;
  m.has_strides = 0;
  if (lattis_status st = infer_convolution(f, a, &m)) return st;
  if (m.has_strides) {
    Var to = c.op<"empty_strided">(Ints(m.sizes, m.ndim), Ints(m.strides, m.ndim), As{x.dtype()}, Absent{},
                                   x.tensor()->device());
    return c.give(r, c.op<"copy_">(to, result));
  }
  return c.give(r, result);
}

// convNd(input, weight, bias, stride, padding, dilation, groups): the image may come without a batch.
template <int Spatial>
lattis_status check_image(lattis_frame* f, const Value* a) {
  const Tensor *x = tensor_arg(a[0]), *w = tensor_arg(a[1]);
  if (w->ndim() != Spatial + 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: expected %d dimensions, got %s", where(f, 1).c_str(), Spatial + 2, text_of(w).c_str()));
  if (x->ndim() != Spatial + 1 && x->ndim() != Spatial + 2)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected %d dimensions, or %d without a batch, got %s",
                                              where(f, 0).c_str(), Spatial + 2, Spatial + 1, text_of(x).c_str()));
  return LATTIS_OK;
}

lattis_status with_batch(Compose& c, const Value* a, const Var& x, const Value& padding, int spatial, Value* r) {
  if (!c.status() && x.dim() == spatial + 1)
    return c.give(
        r, c.op<"squeeze.dim">(c.op<"convolution">(c.op<"unsqueeze">(x, 0), a[1], a[2], a[3], padding, a[5], a[6]), 0));
  return c.give(r, c.op<"convolution">(x, a[1], a[2], a[3], padding, a[5], a[6]));
}

template <int Spatial>
lattis_status conv(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_image<Spatial>(f, a)) return st;
  Compose c(f);
  return with_batch(c, a, c.arg(a[0]), a[4], Spatial, r);
}

// padding='valid' is none; padding='same' gives as many places as the image has, what is odd of it goes behind.
template <int Spatial>
lattis_status conv_named(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_image<Spatial>(f, a)) return st;
  const std::string_view name(a[4].as.string, a[4].length);
  if (name != "same" && name != "valid")
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 4) + ": must be 'same', 'valid' or numbers, got " + core::describe(a[4]));
  Compose c(f);
  int64_t dilation[Spatial], stride[Spatial], before[Spatial] = {}, after[Spatial] = {};
  if (name == "valid") {
    Ints none(before, Spatial);
    return with_batch(c, a, c.arg(a[0]), Compose::value_of(none), Spatial, r);
  }
  if (lattis_status st = read_spatial(f, 3, a[3], Spatial, 1, stride)) return st;
  if (lattis_status st = read_spatial(f, 5, a[5], Spatial, 1, dilation)) return st;
  bool even = true;
  for (int i = 0; i < Spatial; i++) {
    if (stride[i] != 1)
      return raise(LATTIS_RUNTIME_ERROR, where(f, 4) + ": 'same' needs stride 1, got " + core::describe(a[3]));
    const int64_t reach = dilation[i] * (tensor_arg(a[1])->sizes()[2 + i] - 1);
    before[i] = reach / 2;
    after[i] = reach - reach / 2;
    even &= before[i] == after[i];
  }
  if (even) {
    Ints both(before, Spatial);
    return with_batch(c, a, c.arg(a[0]), Compose::value_of(both), Spatial, r);
  }
  const int64_t zero[Spatial] = {};
  Ints none(zero, Spatial);
  return with_batch(c, a, padded(c, c.arg(a[0]), Spatial, before, after, core::integer(0)), Compose::value_of(none),
                    Spatial, r);
}

// ---- padding -------------------------------------------------------------------------------------------------------

// Pairs (before, after) from the last dimension on.
lattis_status read_pad(lattis_frame* f, const Value* a, int64_t* before, int64_t* after) {
  const Tensor* t = tensor_arg(a[0]);
  const int pairs = static_cast<int>(a[1].length) / 2;
  if (a[1].length % 2 || pairs > t->ndim())
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: takes pairs (before, after) for at most %d dimensions, the last first, got %s",
                        where(f, 1).c_str(), t->ndim(), core::describe(a[1]).c_str()));
  std::fill_n(before, t->ndim(), 0);
  std::fill_n(after, t->ndim(), 0);
  for (int i = 0; i < pairs; i++) {
    const int d = t->ndim() - 1 - i;
    before[d] = a[1].as.ints[2 * i];
    after[d] = a[1].as.ints[2 * i + 1];
    int64_t size;
    if (__builtin_add_overflow(before[d], after[d], &size) || __builtin_add_overflow(size, t->sizes()[d], &size) ||
        size < 0)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: dimension %d of size %lld cannot be padded by (%lld, %lld)", where(f, 1).c_str(), d,
                          (long long)t->sizes()[d], (long long)before[d], (long long)after[d]));
  }
  return LATTIS_OK;
}

lattis_status infer_pad(lattis_frame* f, const Value* a, Meta* m) {
  int64_t before[LATTIS_MAX_DIMS], after[LATTIS_MAX_DIMS];
  if (lattis_status st = read_pad(f, a, before, after)) return st;
  const Tensor* t = tensor_arg(a[0]);
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  for (int d = 0; d < t->ndim(); d++) m->sizes[d] += before[d] + after[d];
  if (channels_last(t)) set_channels_last(m);
  if (lattis_status st = check_number(f, 2, a[2], t->dtype)) return st;
  return core::check_sizes(where(f, 1).c_str(), m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
}

// Negative padding cuts.
lattis_status constant_pad(lattis_frame* f, const Value* a, Value* r) {
  int64_t before[LATTIS_MAX_DIMS], after[LATTIS_MAX_DIMS];
  Meta m;
  m.has_strides = 0;
  if (lattis_status st = infer_pad(f, a, &m)) return st;
  if (lattis_status st = read_pad(f, a, before, after)) return st;
  Compose c(f);
  Var x = c.arg(a[0]);
  if (!m.has_strides) core::contiguous_strides(m.ndim, m.sizes, m.strides);
  Var out = c.op<"empty_strided">(Ints(m.sizes, m.ndim), Ints(m.strides, m.ndim), As{x.dtype()}, Absent{},
                                  x.tensor()->device());
  out = c.op<"fill_.Scalar">(out, a[2]);
  Var inside = out;
  for (int d = 0; d < m.ndim; d++) {
    const int64_t n = x.size(d);
    if (before[d] < 0 || after[d] < 0)
      x = c.op<"slice.Tensor">(x, d, std::max<int64_t>(-before[d], 0), n + std::min<int64_t>(after[d], 0), 1);
    if (before[d] > 0 || after[d] > 0)
      inside = c.op<"slice.Tensor">(inside, d, std::max<int64_t>(before[d], 0),
                                    m.sizes[d] - std::max<int64_t>(after[d], 0), 1);
  }
  c.op<"copy_">(inside, x);
  return c.give(r, out);
}

// One dimension, its ends filled from within: copies of single places, or of a run.
Var extend(Compose& c, const Var& x, int d, int64_t before, int64_t after, std::string_view mode) {
  const int64_t n = x.size(d);
  Ints sizes(x.tensor()->sizes(), x.dim());
  sizes[d] = n + before + after;
  Var out = c.op<"empty.memory_format">(sizes, As{x.dtype()}, Absent{}, x.tensor()->device());
  auto place = [&](int64_t to, const Var& from, int64_t at, int64_t count) {
    c.op<"copy_">(c.op<"slice.Tensor">(out, d, to, to + count, 1), c.op<"slice.Tensor">(from, d, at, at + count, 1));
  };
  place(before, x, 0, n);
  if (mode == "circular") {
    if (before) place(0, x, n - before, before);
    if (after) place(before + n, x, 0, after);
    return out;
  }
  for (int64_t i = 0; i < before; i++) place(before - 1 - i, x, mode == "reflect" ? i + 1 : 0, 1);
  for (int64_t i = 0; i < after; i++) place(before + n + i, x, mode == "reflect" ? n - 2 - i : n - 1, 1);
  return out;
}

lattis_status pad(lattis_frame* f, const Value* a, Value* r) {
  const std::string_view mode(a[2].as.string, a[2].length);
  Compose c(f);
  if (mode == "constant") return c.give(r, c.op<"constant_pad_nd">(a[0], a[1], given(a[3]) ? a[3] : core::integer(0)));
  if (mode != "reflect" && mode != "replicate" && mode != "circular")
    return raise(
        LATTIS_RUNTIME_ERROR,
        where(f, 2) + ": must be 'constant', 'reflect', 'replicate' or 'circular', got " + core::describe(a[2]));
  int64_t before[LATTIS_MAX_DIMS], after[LATTIS_MAX_DIMS];
  if (lattis_status st = read_pad(f, a, before, after)) return st;
  Var x = c.arg(a[0]);
  for (int d = x.dim() - 1; d >= 0 && !c.status(); d--) {
    if (!before[d] && !after[d]) continue;
    const int64_t n = x.size(d), most = mode == "reflect" ? n - 1 : mode == "circular" ? n : n > 0 ? INT64_MAX : 0;
    if (before[d] < 0 || after[d] < 0 || std::max(before[d], after[d]) > most)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: mode '%s' cannot pad dimension %d of size %lld by (%lld, %lld)", where(f, 1).c_str(),
                          std::string(mode).c_str(), d, (long long)n, (long long)before[d], (long long)after[d]));
    x = extend(c, x, d, before[d], after[d], mode);
  }
  return c.give(r, x);
}

}  // namespace

#define ARGUMENTS(n, padding)                                                                         \
  "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" #n "] stride=1, " padding ", SymInt[" #n \
  "] dilation=1, SymInt groups=1) -> Tensor"

const std::vector<Declaration>& convolution_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
       "SymInt groups) -> Tensor",
       "convolution", function | hidden, infer_convolution, convolution,
       "Sums of products of windows of images (n, c, …) with kernels (out channels, c / groups, …): what conv1d to "
       "conv3d call.\n\n>>> lattis.ops.aten.convolution(lattis.ones(1, 1, 3), lattis.ones(1, 1, 2), None, [1], [0], "
       "[1], 1)\ntensor([[[2., 2.]]])\n"},
      {"conv1d" ARGUMENTS(1, "SymInt[1] padding=0"), "convolution", function, nullptr, conv<1>,
       "Sums of products of windows along the last dimension with kernels: input (n, c, length), or without n; weight "
       "(out channels, c / groups, k).\n\n>>> lattis.conv1d(lattis.tensor([[1., 2., 4.]]), lattis.tensor([[[1., "
       "-1.]]]))\ntensor([[-1., -2.]])\n"},
      {"conv1d.padding" ARGUMENTS(1, "str padding='valid'"), "convolution", function, nullptr, conv_named<1>, nullptr},
      {"conv2d" ARGUMENTS(2, "SymInt[2] padding=0"), "convolution", function, nullptr, conv<2>,
       "Sums of products of windows of images with kernels: input (n, c, height, width), or without n; weight (out "
       "channels, c / groups, kernel height, kernel width). `padding` is a number, a pair, 'valid' or 'same'.\n\n"
       "Raises:\n    RuntimeError: the shapes do not fit each other\n\n"
       ">>> lattis.conv2d(lattis.ones(1, 1, 3, 3), lattis.ones(1, 1, 2, 2), lattis.tensor([0.5]))\ntensor([[[[4.5000, "
       "4.5000],\n          [4.5000, 4.5000]]]])\n"},
      {"conv2d.padding" ARGUMENTS(2, "str padding='valid'"), "convolution", function, nullptr, conv_named<2>, nullptr},
      {"conv3d" ARGUMENTS(3, "SymInt[3] padding=0"), "convolution", function, nullptr, conv<3>,
       "Sums of products of windows of volumes with kernels: input (n, c, depth, height, width), or without n.\n\n>>> "
       "lattis.conv3d(lattis.ones(1, 2, 2, 2), lattis.ones(1, 1, 2, 2, 2))\ntensor([[[[8.]]]])\n"},
      {"conv3d.padding" ARGUMENTS(3, "str padding='valid'"), "convolution", function, nullptr, conv_named<3>, nullptr},
      {"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", "copy", function, infer_pad,
       constant_pad,
       "Puts `value` around: pairs (before, after) for the last dimension, the last but one, and so on; negative ones "
       "cut.\n\n>>> lattis.constant_pad_nd(lattis.tensor([1, 2]), (1, 2), 9)\ntensor([9, 1, 2, 9, 9])\n"},
      {"pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor", "copy", function | hidden,
       nullptr, pad,
       "Extends dimensions, pairs (before, after) from the last one on: by a constant, or, with mode 'reflect', "
       "'replicate' or 'circular', from within.\n\n>>> lattis.ops.aten.pad(lattis.tensor([1, 2, 3]), (2, 1), "
       "'reflect')\ntensor([3, 2, 1, 2, 3, 2])\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
