// Convolutions: pad, windows, one bmm per group; conv1d to conv3d read their arguments for it.
#include <cstring>
#include <string_view>

#include "dispatcher/operators/windows.h"

namespace lamella::dispatcher {
namespace {

struct Shape {
  int spatial;
  int64_t stride[3], padding[3], dilation[3], kernel[3], places[3], groups;
};

// The sizes of an operand, and the argument that tells them: a tensor or a list.
struct Sizes {
  int arg, count;
  const int64_t* data;
  Sizes(const Value* a, int at) : arg(at) {
    if (const Tensor* t = tensor_arg(a[at])) {
      count = t->ndim();
      data = t->sizes();
    } else {
      count = static_cast<int>(a[at].length);
      data = a[at].as.ints;
    }
  }
  std::string text() const { return core::shape_string(count, data); }
};

std::string text_of(const Tensor* t) { return "shape " + core::shape_string(t); }

// How a weight goes over an image: stride, padding, dilation and groups are the arguments from `first` on.
lamella_status fit(lamella_frame* f, const Value* a, int first, const Sizes& x, const Sizes& w, Shape* s) {
  s->spatial = w.count - 2;
  if (s->spatial < 1 || s->spatial > 3)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, w.arg) +
                                            ": expected (out channels, in channels / groups, 1 to 3 kernel "
                                            "sizes), got shape " +
                                            w.text());
  if (x.count != w.count)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected %d dimensions for a weight of shape %s, got shape %s",
                                               where(f, x.arg).c_str(), w.count, w.text().c_str(), x.text().c_str()));
  if (lamella_status st = read_spatial(f, first, a[first], s->spatial, 1, s->stride)) return st;
  if (lamella_status st = read_spatial(f, first + 1, a[first + 1], s->spatial, 0, s->padding)) return st;
  if (lamella_status st = read_spatial(f, first + 2, a[first + 2], s->spatial, 1, s->dilation)) return st;
  s->groups = a[first + 3].as.i;
  if (s->groups < 1 || w.data[0] % s->groups || x.data[1] != w.data[1] * s->groups)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %lld groups need a weight of (k * %lld, in channels / %lld, …), got shape %s for an input "
                        "of shape %s",
                        where(f, first + 3).c_str(), (long long)s->groups, (long long)s->groups, (long long)s->groups,
                        w.text().c_str(), x.text().c_str()));
  for (int i = 0; i < s->spatial; i++) {
    s->kernel[i] = w.data[2 + i];
    const int64_t room = x.data[2 + i] + 2 * s->padding[i], reach = s->dilation[i] * (s->kernel[i] - 1) + 1;
    if (s->kernel[i] < 1 || room < reach)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: a kernel of %lld (dilation %lld) does not fit into size %lld with padding %lld",
                          where(f, w.arg).c_str(), (long long)s->kernel[i], (long long)s->dilation[i],
                          (long long)x.data[2 + i], (long long)s->padding[i]));
    s->places[i] = (room - reach) / s->stride[i] + 1;
  }
  return LAMELLA_OK;
}

// Two operands of one product.
lamella_status same_dtype(lamella_frame* f, const Value* a, int first, int second) {
  const Tensor *x = tensor_arg(a[first]), *y = tensor_arg(a[second]);
  if (y && y->dtype != x->dtype)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: its dtype %s is not %s, that of the first operand; convert one with .to(...)",
                        where(f, second).c_str(), core::dtype_info(y->dtype).name, core::dtype_info(x->dtype).name));
  if (x->dtype == LAMELLA_BOOL)
    return raise(LAMELLA_NOT_IMPLEMENTED, where(f, first) + ": bools have no product of sums; convert with .to(...)");
  return LAMELLA_OK;
}

// convolution(input, weight, bias, stride, padding, dilation, groups)
lamella_status read(lamella_frame* f, const Value* a, Shape* s) {
  const Sizes w(a, 1);
  if (lamella_status st = fit(f, a, 3, Sizes(a, 0), w, s)) return st;
  for (int i = 1; i < 3; i++)
    if (lamella_status st = same_dtype(f, a, 0, i)) return st;
  const Tensor* bias = tensor_arg(a[2]);
  if (bias && (bias->ndim() != 1 || bias->sizes()[0] != w.data[0]))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected shape (%lld,), got %s", where(f, 2).c_str(),
                                               (long long)w.data[0], text_of(bias).c_str()));
  return LAMELLA_OK;
}

lamella_status infer_convolution(lamella_frame* f, const Value* a, Meta* m) {
  Shape s;
  if (lamella_status st = read(f, a, &s)) return st;
  const Tensor *x = tensor_arg(a[0]), *w = tensor_arg(a[1]);
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  m->sizes[1] = w->sizes()[0];
  std::copy(s.places, s.places + s.spatial, m->sizes + 2);
  if (channels_last(x) || channels_last(w)) set_channels_last(m);
  return core::check_sizes("convolution", m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
}

// (n, groups, c, places, taps) becomes (n · groups, c · taps, places) and meets (groups, out, c · taps).
lamella_status convolution(lamella_frame* f, const Value* a, Value* r) {
  Shape s;
  if (lamella_status st = read(f, a, &s)) return st;
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
  if (lamella_status st = infer_convolution(f, a, &m)) return st;
  if (m.has_strides) {
    Var to = c.op<"empty_strided">(Ints(m.sizes, m.ndim), Ints(m.strides, m.ndim), As{x.dtype()}, Absent{},
                                   x.tensor()->device());
    return c.give(r, c.op<"copy_">(to, result));
  }
  return c.give(r, result);
}

// convNd(input, weight, bias, stride, padding, dilation, groups): the image may come without a batch.
template <int Spatial>
lamella_status check_image(lamella_frame* f, const Value* a) {
  const Tensor *x = tensor_arg(a[0]), *w = tensor_arg(a[1]);
  if (w->ndim() != Spatial + 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected %d dimensions, got %s", where(f, 1).c_str(), Spatial + 2, text_of(w).c_str()));
  if (x->ndim() != Spatial + 1 && x->ndim() != Spatial + 2)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected %d dimensions, or %d without a batch, got %s",
                                               where(f, 0).c_str(), Spatial + 2, Spatial + 1, text_of(x).c_str()));
  return LAMELLA_OK;
}

lamella_status with_batch(Compose& c, const Value* a, const Var& x, const Value& padding, int spatial, Value* r) {
  if (!c.status() && x.dim() == spatial + 1)
    return c.give(
        r, c.op<"squeeze.dim">(c.op<"convolution">(c.op<"unsqueeze">(x, 0), a[1], a[2], a[3], padding, a[5], a[6]), 0));
  return c.give(r, c.op<"convolution">(x, a[1], a[2], a[3], padding, a[5], a[6]));
}

template <int Spatial>
lamella_status conv(lamella_frame* f, const Value* a, Value* r) {
  if (lamella_status st = check_image<Spatial>(f, a)) return st;
  Compose c(f);
  return with_batch(c, a, c.arg(a[0]), a[4], Spatial, r);
}

// padding='valid' is none; padding='same' gives as many places as the image has, what is odd of it goes behind.
template <int Spatial>
lamella_status conv_named(lamella_frame* f, const Value* a, Value* r) {
  if (lamella_status st = check_image<Spatial>(f, a)) return st;
  const std::string_view name(a[4].as.string, a[4].length);
  if (name != "same" && name != "valid")
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 4) + ": must be 'same', 'valid' or numbers, got " + core::describe(a[4]));
  Compose c(f);
  int64_t dilation[Spatial], stride[Spatial], before[Spatial] = {}, after[Spatial] = {};
  if (name == "valid") {
    Ints none(before, Spatial);
    return with_batch(c, a, c.arg(a[0]), Compose::value_of(none), Spatial, r);
  }
  if (lamella_status st = read_spatial(f, 3, a[3], Spatial, 1, stride)) return st;
  if (lamella_status st = read_spatial(f, 5, a[5], Spatial, 1, dilation)) return st;
  bool even = true;
  for (int i = 0; i < Spatial; i++) {
    if (stride[i] != 1)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 4) + ": 'same' needs stride 1, got " + core::describe(a[3]));
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

// ---- backward ------------------------------------------------------------------------------------------------------

// _convolution_backward_*(grad_output, weight or input, sizes of the other, stride, padding, dilation, groups)
template <bool OfInput>
lamella_status read_backward(lamella_frame* f, const Value* a, Shape* s) {
  const Sizes g(a, 0), x(a, OfInput ? 2 : 1), w(a, OfInput ? 1 : 2);
  if (lamella_status st = fit(f, a, 3, x, w, s)) return st;
  if (lamella_status st = same_dtype(f, a, 0, 1)) return st;
  if (core::dtype_class(tensor_arg(a[0])->dtype) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_NOT_IMPLEMENTED,
                 where(f, 0) + ": takes real numbers; convolution_backward takes complex ones");
  bool fits = g.count == w.count && g.data[0] == x.data[0] && g.data[1] == w.data[0];
  for (int i = 0; i < s->spatial && fits; i++) fits = g.data[2 + i] == s->places[i];
  if (fits) return LAMELLA_OK;
  Ints wanted{x.data[0], w.data[0]};
  for (int i = 0; i < s->spatial; i++) wanted.add(s->places[i]);
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected shape " +
                                          core::shape_string(wanted.count, wanted.data) + ", got shape " + g.text());
}

template <bool OfInput>
lamella_status infer_backward(lamella_frame* f, const Value* a, Meta* m) {
  Shape s;
  if (lamella_status st = read_backward<OfInput>(f, a, &s)) return st;
  const Sizes sizes(a, 2);
  fresh(m, sizes.count, sizes.data, tensor_arg(a[0])->dtype);
  if ((OfInput && channels_last(tensor_arg(a[0]))) || channels_last(tensor_arg(a[1]))) set_channels_last(m);
  return core::check_sizes("convolution", m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
}

// The convolution of the gradient, zeros between its places where the stride was larger than 1, with the weight turned
// around: (groups · out, in, taps) becomes (groups · in, out, taps).
lamella_status backward_input(lamella_frame* f, const Value* a, Value* r) {
  Shape s;
  if (lamella_status st = read_backward<true>(f, a, &s)) return st;
  Compose c(f);
  Var g = c.arg(a[0]), w = c.arg(a[1]);
  const bool last = channels_last(g.tensor()) || channels_last(w.tensor());
  const Sizes image(a, 2);
  const int64_t out = w.size(0) / s.groups, in = w.size(1);
  Ints taps, apart{s.groups, out, in}, joined{s.groups * in, out}, ones, none;
  for (int i = 0; i < s.spatial; i++) {
    const int64_t reach = s.dilation[i] * (s.kernel[i] - 1), before = reach - s.padding[i];
    g = spread_along(c, g, 2 + i, s.stride[i]);
    g = padded_along(c, g, 2 + i, before, image.data[2 + i] + reach - before - g.size(2 + i));
    taps.add(2 + i);
    apart.add(s.kernel[i]);
    joined.add(s.kernel[i]);
    ones.add(1);
    none.add(0);
  }
  w = c.op<"transpose.int">(c.op<"reshape">(c.op<"flip">(w, taps), apart), 1, 2);
  Var result =
      c.op<"convolution">(g, c.op<"reshape">(w, joined), Absent{}, ones, none, Ints(s.dilation, s.spatial), s.groups);
  return c.give(r, c.op<"contiguous">(result, last ? LAMELLA_CHANNELS_LAST : LAMELLA_CONTIGUOUS_FORMAT));
}

// The convolution of the images with the gradient, stride and dilation in each other's place: images take the place of
// channels, (n, groups · in) becomes (in, groups · n), and (n, groups · out) becomes (groups · out, n).
lamella_status backward_weight(lamella_frame* f, const Value* a, Value* r) {
  Shape s;
  if (lamella_status st = read_backward<false>(f, a, &s)) return st;
  Compose c(f);
  Var g = c.arg(a[0]), x = c.arg(a[1]);
  const bool last = channels_last(x.tensor());
  const int64_t n = x.size(0), in = x.size(1) / s.groups;
  Ints apart{n, s.groups, in}, order{2, 1, 0}, joined{in, s.groups * n};
  for (int i = 0; i < s.spatial; i++) {
    apart.add(x.size(2 + i));
    order.add(3 + i);
    joined.add(x.size(2 + i));
  }
  const Ints stride(s.stride, s.spatial), padding(s.padding, s.spatial), dilation(s.dilation, s.spatial);
  x = c.op<"reshape">(c.op<"permute">(c.op<"reshape">(x, apart), order), joined);
  Var result = c.op<"convolution">(x, c.op<"transpose.int">(g, 0, 1), Absent{}, dilation, padding, stride, s.groups);
  result = c.op<"transpose.int">(result, 0, 1);
  for (int i = 0; i < s.spatial; i++) result = c.op<"slice.Tensor">(result, 2 + i, 0, s.kernel[i], 1);
  return c.give(r, c.op<"clone">(result, last ? LAMELLA_CHANNELS_LAST : LAMELLA_CONTIGUOUS_FORMAT));
}

// Which results are asked for, and how the operands lie beside each other; a transposed convolution is the backward of
// the other one, so that the two images change places.
lamella_status convolution_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var g = c.arg(a[0]), x = c.arg(a[1]), w = c.arg(a[2]);
  const uint8_t* mask = a[10].as.bools;
  const bool transposed = a[7].as.i;
  const int spatial = w.dim() - 2;
  int64_t more[LAMELLA_MAX_DIMS];
  if (lamella_status st = read_spatial(f, 8, a[8], std::max(spatial, 0), 0, more)) return st;
  if (!transposed && std::any_of(more, more + std::max(spatial, 0), [](int64_t n) { return n != 0; }))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 8) + ": is for transposed convolutions, got " + core::describe(a[8]));
  if (given(a[3]) && (a[3].length != 1 || a[3].as.ints[0] != g.size(1)))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 3) + ": expected the channels of grad_output, " +
                                            std::to_string(g.size(1)) + ", got " + core::describe(a[3]));
  auto sizes_of = [](const Var& t) { return Ints(t.tensor()->sizes(), t.dim()); };
  auto of_input = [&](const Var& grad, const Var& weight) {
    if (transposed) return c.op<"convolution">(grad, weight, Absent{}, a[4], a[5], a[6], a[9]);
    return c.op<"_convolution_backward_input">(grad, weight, sizes_of(x), a[4], a[5], a[6], a[9]);
  };
  auto of_weight = [&](const Var& grad, const Var& image) {
    return c.op<"_convolution_backward_weight">(transposed ? image : grad, transposed ? grad : image, sizes_of(w), a[4],
                                                a[5], a[6], a[9]);
  };
  // conj(y) · g in its parts, for a product of real numbers.
  auto product = [&](auto& of, const Var& y) {
    if (y.dtype_class() != LAMELLA_CLASS_COMPLEX) return of(g, y);
    Var yr = c.op<"real">(y), yi = c.op<"imag">(y), gr = c.op<"real">(g), gi = c.op<"imag">(g);
    return c.op<"complex">(of(gr, yr) + of(gi, yi), of(gi, yr) - of(gr, yi));
  };
  std::array<Var, 3> results{c.nothing(), c.nothing(), c.nothing()};
  if (mask[0]) results[0] = product(of_input, w);
  if (mask[1]) results[1] = product(of_weight, x);
  if (mask[2]) {
    Ints all{0};
    for (int d = 2; d < g.dim(); d++) all.add(d);
    results[2] = c.op<"sum.dim_IntList">(g, all);
  }
  return c.give(r, std::move(results));
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
       "conv3d call.\n\n>>> lamella.ops.aten.convolution(lamella.ones(1, 1, 3), lamella.ones(1, 1, 2), None, [1], [0], "
       "[1], 1)\ntensor([[[2., 2.]]])\n"},
      {"conv1d" ARGUMENTS(1, "SymInt[1] padding=0"), "convolution", function, nullptr, conv<1>,
       "Sums of products of windows along the last dimension with kernels: input (n, c, length), or without n; weight "
       "(out channels, c / groups, k).\n\n>>> lamella.conv1d(lamella.tensor([[1., 2., 4.]]), lamella.tensor([[[1., "
       "-1.]]]))\ntensor([[-1., -2.]])\n"},
      {"conv1d.padding" ARGUMENTS(1, "str padding='valid'"), "convolution", function, nullptr, conv_named<1>, nullptr},
      {"conv2d" ARGUMENTS(2, "SymInt[2] padding=0"), "convolution", function, nullptr, conv<2>,
       "Sums of products of windows of images with kernels: input (n, c, height, width), or without n; weight (out "
       "channels, c / groups, kernel height, kernel width). `padding` is a number, a pair, 'valid' or 'same'.\n\n"
       "Raises:\n    RuntimeError: the shapes do not fit each other\n\n"
       ">>> lamella.conv2d(lamella.ones(1, 1, 3, 3), lamella.ones(1, 1, 2, 2), "
       "lamella.tensor([0.5]))\ntensor([[[[4.5000, "
       "4.5000],\n          [4.5000, 4.5000]]]])\n"},
      {"conv2d.padding" ARGUMENTS(2, "str padding='valid'"), "convolution", function, nullptr, conv_named<2>, nullptr},
      {"conv3d" ARGUMENTS(3, "SymInt[3] padding=0"), "convolution", function, nullptr, conv<3>,
       "Sums of products of windows of volumes with kernels: input (n, c, depth, height, width), or without n.\n\n>>> "
       "lamella.conv3d(lamella.ones(1, 2, 2, 2), lamella.ones(1, 1, 2, 2, 2))\ntensor([[[[8.]]]])\n"},
      {"conv3d.padding" ARGUMENTS(3, "str padding='valid'"), "convolution", function, nullptr, conv_named<3>, nullptr},
      {"_convolution_backward_input(Tensor grad_output, Tensor weight, SymInt[] input_size, SymInt[] stride, SymInt[] "
       "padding, SymInt[] dilation, SymInt groups) -> Tensor",
       "convolution", function | hidden, infer_backward<true>, backward_input,
       "The gradient of convolution's input, which had these sizes: the transposed convolution."},
      {"_convolution_backward_weight(Tensor grad_output, Tensor input, SymInt[] weight_size, SymInt[] stride, SymInt[] "
       "padding, SymInt[] dilation, SymInt groups) -> Tensor",
       "convolution", function | hidden, infer_backward<false>, backward_weight,
       "The gradient of convolution's weight, which had these sizes: windows of the input times grad_output."},
      {"convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, "
       "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] "
       "output_mask) -> (Tensor, Tensor, Tensor)",
       "convolution", function | hidden, nullptr, convolution_backward,
       "The gradients of convolution's input, weight and bias, as far as `output_mask` asks for them; the others are "
       "None.\n\n>>> g, x, w = lamella.ones(1, 1, 2), lamella.tensor([[[1., 2., 4.]]]), lamella.tensor([[[1., "
       "-1.]]])\n>>> "
       "lamella.ops.aten.convolution_backward(g, x, w, [1], [1], [0], [1], False, [0], 1, [True, True, False])\n"
       "(tensor([[[ 1.,  0., -1.]]]), tensor([[[3., 6.]]]), None)\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
