// Pooling over windows of images: the largest or the mean of each, and pools whose windows divide an image evenly.
#include "dispatcher/operators/windows.h"

namespace lamella::dispatcher {
namespace {

struct Pool {
  int64_t kernel[2], stride[2], padding[2], dilation[2], places[2];
};

lamella_status check_image(lamella_frame* f, int arg, const Tensor* x, int spatial) {
  if (x->ndim() == spatial + 1 || x->ndim() == spatial + 2) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: expected %d dimensions, or %d without a batch, got shape %s", where(f, arg).c_str(),
                      spatial + 2, spatial + 1, core::shape_string(x).c_str()));
}

// Arguments image, kernel, stride (empty: the kernel) and padding from `at` on; dilation (or -1) and ceil_mode at these
// positions. One dimension is read as an image of one row.
template <int Spatial>
lamella_status read(lamella_frame* f, const Value* a, int at, int dilation, int ceil, Pool* p) {
  constexpr int first = 2 - Spatial;
  const Tensor* x = tensor_arg(a[at]);
  if (lamella_status st = check_image(f, at, x, Spatial)) return st;
  p->padding[0] = 0;
  p->kernel[0] = p->stride[0] = p->places[0] = p->dilation[0] = p->dilation[1] = 1;
  if (lamella_status st = read_spatial(f, at + 1, a[at + 1], Spatial, 1, p->kernel + first)) return st;
  std::copy(p->kernel, p->kernel + 2, p->stride);
  if (given(a[at + 2]) && a[at + 2].length)
    if (lamella_status st = read_spatial(f, at + 2, a[at + 2], Spatial, 1, p->stride + first)) return st;
  if (lamella_status st = read_spatial(f, at + 3, a[at + 3], Spatial, 0, p->padding + first)) return st;
  if (dilation >= 0)
    if (lamella_status st = read_spatial(f, dilation, a[dilation], Spatial, 1, p->dilation + first)) return st;
  for (int i = first; i < 2; i++) {
    if (p->padding[i] > p->kernel[i] / 2)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: must be at most half of the kernel, %lld of %lld", where(f, at + 3).c_str(),
                          (long long)p->padding[i], (long long)p->kernel[i]));
    const int64_t n = x->sizes()[x->ndim() - 2 + i], reach = p->dilation[i] * (p->kernel[i] - 1) + 1;
    const int64_t room = n + 2 * p->padding[i] - reach;
    p->places[i] = room < 0 ? 0 : room / p->stride[i] + 1;
    if (a[ceil].as.i && room >= 0 && room % p->stride[i]) {
      // One more, unless it would begin behind the image.
      if (p->places[i] * p->stride[i] < n + p->padding[i]) p->places[i]++;
    } else if (a[ceil].as.i && room < 0 && room > -p->stride[i]) {
      p->places[i] = 1;
    }
    if (p->places[i] < 1)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: a window of %lld (dilation %lld) does not fit into size %lld with padding %lld",
                          where(f, at + 1).c_str(), (long long)p->kernel[i], (long long)p->dilation[i], (long long)n,
                          (long long)p->padding[i]));
  }
  return LAMELLA_OK;
}

template <int Spatial>
lamella_status pooled(const Value* a, Meta* m, const int64_t* places, DType dtype) {
  const Tensor* x = tensor_arg(a[0]);
  fresh(m, x->ndim(), x->sizes(), dtype);
  std::copy(places, places + Spatial, m->sizes + x->ndim() - Spatial);
  if (channels_last(x)) set_channels_last(m);
  return core::check_sizes("pooling", m->ndim, m->sizes, core::itemsize(dtype), nullptr);
}

// How far an image must be padded behind for its last window; it may need less than it has.
void behind(const Var& x, const Pool& p, int64_t* after) {
  for (int i = 0; i < 2; i++)
    after[i] = std::max<int64_t>(
        0, (p.places[i] - 1) * p.stride[i] + p.dilation[i] * (p.kernel[i] - 1) + 1 - p.padding[i] - x.size(-2 + i));
}

// ---- the largest ---------------------------------------------------------------------------------------------------

lamella_status check_ordered(lamella_frame* f, int arg, const Tensor* x) {
  if (core::dtype_class(x->dtype) != LAMELLA_CLASS_COMPLEX && x->dtype != LAMELLA_BOOL) return LAMELLA_OK;
  return raise(LAMELLA_NOT_IMPLEMENTED, where(f, arg) + ": dtype " + core::dtype_info(x->dtype).name +
                                            " has no largest element here; it takes integers and floats");
}

lamella_status check_floating(lamella_frame* f, int arg, const Tensor* x) {
  if (core::dtype_class(x->dtype) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_NOT_IMPLEMENTED, where(f, arg) + ": a mean needs a floating dtype, got " +
                                            core::dtype_info(x->dtype).name + "; convert with .to(lamella.float32)");
}

template <int Spatial>
lamella_status infer_max(lamella_frame* f, const Value* a, Meta* m) {
  Pool p;
  const Tensor* x = tensor_arg(a[0]);
  if (lamella_status st = check_ordered(f, 0, x)) return st;
  if (lamella_status st = read<Spatial>(f, a, 0, 4, 5, &p)) return st;
  return pooled<Spatial>(a, m, p.places + 2 - Spatial, x->dtype);
}

lamella_status infer_max_indices(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_max<2>(f, a, m)) return st;
  m[1] = m[0];
  m[1].dtype = LAMELLA_INT64;
  return LAMELLA_OK;
}

Value lowest(DType t) {
  if (core::dtype_class(t) == LAMELLA_CLASS_FLOATING) return core::floating(-__builtin_inf());
  const int64_t bits = 8 * core::itemsize(t);
  const bool is_signed = t >= LAMELLA_INT8 && t <= LAMELLA_INT64;
  return core::integer(is_signed ? -1 - static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : 0);
}

Var reduced_windows(Compose& c, const Value* a, const Pool& p, const Value& value) {
  Var x = c.arg(a[0]);
  int64_t after[2];
  behind(x, p, after);
  return windows(c, padded(c, x, 2, p.padding, after, value), 2, p.kernel, p.stride, p.dilation, p.places);
}

// A result in the layout that the shape rule gave.
Var laid_out(Compose& c, const Var& result, const Tensor* like) {
  if (!result.tensor() || !channels_last(like)) return result;
  Meta m;
  fresh(&m, result.dim(), result.tensor()->sizes(), result.dtype());
  set_channels_last(&m);
  Var to = c.op<"empty_strided">(Ints(m.sizes, m.ndim), Ints(m.strides, m.ndim), As{result.dtype()}, Absent{},
                                 like->device());
  return c.op<"copy_">(to, result);
}

lamella_status max_pool(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.ops<"max_pool2d_with_indices", 2>(a[0], a[1], a[2], a[3], a[4], a[5])[0]);
}

// The index of a window's largest element, as an offset in its plane: from the window's first place, row and column. Of
// a window whose elements are all the lowest it is the first one's in the image, of an empty window -1.
lamella_status max_pool_indices(lamella_frame* f, const Value* a, Value* r) {
  Pool p;
  if (lamella_status st = read<2>(f, a, 0, 4, 5, &p)) return st;
  Compose c(f);
  const Tensor* x = tensor_arg(a[0]);
  const int64_t size[2] = {x->sizes()[x->ndim() - 2], x->sizes()[x->ndim() - 1]};
  Var seen = reduced_windows(c, a, p, lowest(x->dtype));
  Ints flat(seen.tensor() ? seen.tensor()->sizes() : nullptr, seen.tensor() ? x->ndim() : 0);
  flat.add(p.kernel[0] * p.kernel[1]);
  Var values = c.op<"amax">(seen, Ints{-2, -1}), tap = c.op<"argmax">(c.op<"reshape">(seen, flat), -1);
  Var line = c.op<"div.Scalar_mode">(tap, p.kernel[1], core::string_value("floor"));
  auto begin = [&](int i) {
    Var all = c.op<"arange.start_step">(-p.padding[i], p.places[i] * p.stride[i] - p.padding[i], p.stride[i],
                                        As{static_cast<DType>(LAMELLA_INT64)}, Absent{}, x->device());
    return i == 0 ? c.op<"unsqueeze">(all, 1) : all;
  };
  auto inside = [&](int i) {
    const int64_t d = p.dilation[i];
    Var before = c.op<"div.Scalar_mode">(d - 1 - begin(i), d, core::string_value("floor"));
    return begin(i) + c.op<"clamp">(before, 0, Absent{}) * d;
  };
  auto outside = [&](int i) { return c.op<"ge.Scalar">(inside(i), size[i]); };
  Var row = line * p.dilation[0] + begin(0), column = (tap - line * p.kernel[1]) * p.dilation[1] + begin(1);
  Var first =
      c.op<"where.ScalarSelf">(c.op<"bitwise_or.Tensor">(outside(0), outside(1)), -1, inside(0) * size[1] + inside(1));
  Var index = c.op<"where.self">(c.op<"eq.Scalar">(values, lowest(x->dtype)), first, row * size[1] + column);
  return c.give(r, laid_out(c, values, x), laid_out(c, index, x));
}

// ---- the mean ------------------------------------------------------------------------------------------------------

template <int Spatial>
lamella_status infer_avg(lamella_frame* f, const Value* a, Meta* m) {
  Pool p;
  const Tensor* x = tensor_arg(a[0]);
  if (lamella_status st = check_floating(f, 0, x)) return st;
  if (lamella_status st = read<Spatial>(f, a, 0, -1, 4, &p)) return st;
  if (Spatial == 2 && given(a[6]) && a[6].as.i == 0)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 6) + ": must not be 0");
  return pooled<Spatial>(a, m, p.places + 2 - Spatial, x->dtype);
}

// How many elements of each window count: what lies in the image and, if it counts, its padding.
Var counted(Compose& c, const Tensor* x, const Pool& p, bool padding) {
  auto along = [&](int i) {
    const int64_t n = x->sizes()[x->ndim() - 2 + i], pad = padding ? p.padding[i] : 0;
    Var begin = c.op<"arange.start_step">(-p.padding[i], p.places[i] * p.stride[i] - p.padding[i], p.stride[i],
                                          As{static_cast<DType>(LAMELLA_INT64)}, Absent{}, x->device());
    Var end = c.op<"clamp">(begin + p.kernel[i], Absent{}, n + pad);
    return end - c.op<"clamp">(begin, -pad, Absent{});
  };
  return c.op<"to.dtype">(c.op<"unsqueeze">(along(0), 1) * along(1), As{x->dtype});
}

// Sums of windows, divided by how many elements count.
lamella_status avg_pool(lamella_frame* f, const Value* a, Value* r) {
  Pool p;
  if (lamella_status st = read<2>(f, a, 0, -1, 4, &p)) return st;
  Compose c(f);
  const Tensor* x = tensor_arg(a[0]);
  Var sums = c.op<"sum.dim_IntList">(reduced_windows(c, a, p, core::integer(0)), Ints{-2, -1});
  if (given(a[6])) return c.give(r, laid_out(c, sums / a[6].as.i, x));
  return c.give(r, laid_out(c, sums / counted(c, x, p, a[5].as.i), x));
}

// ---- adaptive: place i of m takes [floor(i n / m), ceil((i + 1) n / m))
// ----------------------------------------------

lamella_status read_adaptive(lamella_frame* f, const Value* a, int spatial, int64_t* places) {
  if (lamella_status st = check_image(f, 0, tensor_arg(a[0]), spatial)) return st;
  if (lamella_status st = read_spatial(f, 1, a[1], spatial, 0, places)) return st;
  const Tensor* x = tensor_arg(a[0]);
  for (int i = 0; i < spatial; i++)
    if (x->sizes()[x->ndim() - spatial + i] == 0)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": shape " + core::shape_string(x) + " has no pixels");
  return LAMELLA_OK;
}

template <int Spatial>
lamella_status infer_adaptive_avg(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[0]);
  int64_t places[2];
  if (lamella_status st = check_floating(f, 0, x)) return st;
  if (lamella_status st = read_adaptive(f, a, Spatial, places)) return st;
  return pooled<Spatial>(a, m, places, x->dtype);
}

// Strip by strip, each a mean over its rows, then the same over columns.
Var adaptive_dim(Compose& c, const Var& x, int d, int64_t places) {
  const int64_t n = x.size(d);
  Ints sizes(x.tensor() ? x.tensor()->sizes() : nullptr, x.dim());
  sizes[d] = places;
  Var out =
      c.op<"empty.memory_format">(sizes, As{x.dtype()}, Absent{}, x.tensor() ? x.tensor()->device() : lamella_device{});
  for (int64_t i = 0; i < places && !c.status(); i++) {
    const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
    Var strip = c.op<"sum.dim_IntList">(c.op<"slice.Tensor">(x, d, begin, end, 1), Ints{d}, true) / (end - begin);
    c.op<"copy_">(c.op<"slice.Tensor">(out, d, i, i + 1, 1), strip);
  }
  return out;
}

lamella_status adaptive_avg_pool(lamella_frame* f, const Value* a, Value* r) {
  int64_t places[2];
  if (lamella_status st = read_adaptive(f, a, 2, places)) return st;
  Compose c(f);
  Var x = c.arg(a[0]);
  Var rows = adaptive_dim(c, x, x.dim() - 2, places[0]);
  return c.give(r, laid_out(c, adaptive_dim(c, rows, x.dim() - 1, places[1]), x.tensor()));
}

// ---- backward ------------------------------------------------------------------------------------------------------

lamella_status check_gradient(lamella_frame* f, const Tensor* g, const Tensor* x) {
  if (g->dtype == x->dtype) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: its dtype %s is not that of 'self', %s; convert one with .to(...)", where(f, 0).c_str(),
                      core::dtype_info(g->dtype).name, core::dtype_info(x->dtype).name));
}

lamella_status gradient_like(const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  if (channels_last(x)) set_channels_last(m);
  return LAMELLA_OK;
}

// Of the largest: (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices); of the mean:
// (grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override).
template <bool Max>
lamella_status read_backward(lamella_frame* f, const Value* a, Pool* p) {
  if (lamella_status st = (Max ? check_ordered : check_floating)(f, 1, tensor_arg(a[1]))) return st;
  if (lamella_status st = read<2>(f, a, 1, Max ? 5 : -1, Max ? 6 : 5, p)) return st;
  const Tensor *g = tensor_arg(a[0]), *x = tensor_arg(a[1]);
  Ints sizes(x->sizes(), x->ndim());
  std::copy(p->places, p->places + 2, sizes.data + x->ndim() - 2);
  for (int arg : {0, 7}) {
    const Tensor* t = tensor_arg(a[arg]);
    if (t && (t->ndim() != sizes.count || !std::equal(sizes.data, sizes.data + sizes.count, t->sizes())))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: expected shape %s, got %s", where(f, arg).c_str(),
                          core::shape_string(sizes.count, sizes.data).c_str(), core::shape_string(t).c_str()));
  }
  if (Max && tensor_arg(a[7])->dtype != LAMELLA_INT64)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 7) + ": expected dtype int64, got " + core::dtype_info(tensor_arg(a[7])->dtype).name);
  if (!Max && given(a[7]) && a[7].as.i == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 7) + ": must not be 0");
  return check_gradient(f, g, x);
}

template <bool Max>
lamella_status infer_backward(lamella_frame* f, const Value* a, Meta* m) {
  Pool p;
  if (lamella_status st = read_backward<Max>(f, a, &p)) return st;
  return gradient_like(a, m);
}

// Each gradient goes to where its largest element stood; an empty window's index lies outside of the plane.
lamella_status max_pool_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var g = c.arg(a[0]), x = c.arg(a[1]);
  const int64_t plane = x.size(-2) * x.size(-1), planes = x.size(0) * (x.dim() == 4 ? x.size(1) : 1);
  const Ints flat{planes, g.size(-2) * g.size(-1)};
  Var at = c.op<"reshape">(a[7], flat),
      none = c.op<"zeros">(Ints{planes, plane}, As{g.dtype()}, Absent{}, g.tensor()->device());
  Var inside = c.op<"bitwise_and.Tensor">(c.op<"ge.Scalar">(at, 0), c.op<"lt.Scalar">(at, plane));
  g = c.op<"where.ScalarOther">(inside, c.op<"reshape">(g, flat), 0);
  Var sums = c.op<"scatter_add">(none, 1, c.op<"where.ScalarOther">(inside, at, 0), g);
  return c.give(r, laid_out(c, c.op<"reshape">(sums, Ints(x.tensor()->sizes(), x.dim())), x.tensor()));
}

// Every place's share goes to the taps of its window: shares with zeros between them, added up tap by tap along one
// dimension, then along the other.
lamella_status avg_pool_backward(lamella_frame* f, const Value* a, Value* r) {
  Pool p;
  if (lamella_status st = read_backward<false>(f, a, &p)) return st;
  Compose c(f);
  const Tensor* x = tensor_arg(a[1]);
  Var g = c.arg(a[0]);
  g = given(a[7]) ? g / a[7].as.i : g / counted(c, x, p, a[6].as.i);
  for (int i = 0; i < 2; i++) {
    const int d = x->ndim() - 2 + i;
    const int64_t n = x->sizes()[d], before = p.kernel[i] - 1 - p.padding[i];
    g = spread_along(c, g, d, p.stride[i]);
    g = padded_along(c, g, d, before, n + p.kernel[i] - 1 - before - g.size(d));
    Var sum = c.op<"slice.Tensor">(g, d, 0, n, 1);
    for (int64_t k = 1; k < p.kernel[i]; k++) sum = sum + c.op<"slice.Tensor">(g, d, k, k + n, 1);
    g = sum;
  }
  return c.give(r, laid_out(c, g, x));
}

lamella_status infer_adaptive_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *g = tensor_arg(a[0]), *x = tensor_arg(a[1]);
  if (lamella_status st = check_floating(f, 1, x)) return st;
  if (lamella_status st = check_image(f, 1, x, 2)) return st;
  if (g->ndim() != x->ndim() || !std::equal(g->sizes(), g->sizes() + g->ndim() - 2, x->sizes()))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected " + std::to_string(x->ndim()) +
                                            " dimensions, all but the last two of " + core::shape_string(x) + ", got " +
                                            core::shape_string(g));
  if (lamella_status st = check_gradient(f, g, x)) return st;
  return gradient_like(a, m);
}

// Along each dimension, the sum over the places of their shares, each as long as its strip and padded to the image.
lamella_status adaptive_avg_pool_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* x = tensor_arg(a[1]);
  Var g = c.arg(a[0]);
  for (int d = x->ndim() - 2; d < x->ndim(); d++) {
    const int64_t n = x->sizes()[d], places = g.size(d);
    Ints sizes(g.tensor() ? g.tensor()->sizes() : nullptr, x->ndim());
    sizes[d] = n;
    Var sum = c.op<"zeros">(sizes, As{x->dtype}, Absent{}, x->device());
    for (int64_t i = 0; i < places && !c.status(); i++) {
      const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
      Ints strip = sizes;
      strip[d] = end - begin;
      Var share = c.op<"slice.Tensor">(g, d, i, i + 1, 1) / (end - begin);
      sum = sum + padded_along(c, c.op<"expand">(share, strip), d, begin, n - end);
    }
    g = sum;
  }
  return c.give(r, laid_out(c, g, x));
}

// ---- one dimension, as images of one row ----------------------------------------------------------------------------

lamella_status max_pool1d(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const int64_t kernel = a[1].as.ints[0], stride = given(a[2]) && a[2].length ? a[2].as.ints[0] : kernel;
  return c.give(r, c.op<"squeeze.dim">(c.op<"max_pool2d">(c.op<"unsqueeze">(a[0], -2), Ints{1, kernel}, Ints{1, stride},
                                                          Ints{0, a[3].as.ints[0]}, Ints{1, a[4].as.ints[0]}, a[5]),
                                       -2));
}

lamella_status avg_pool1d(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const int64_t kernel = a[1].as.ints[0], stride = given(a[2]) && a[2].length ? a[2].as.ints[0] : kernel;
  return c.give(r, c.op<"squeeze.dim">(c.op<"avg_pool2d">(c.op<"unsqueeze">(a[0], -2), Ints{1, kernel}, Ints{1, stride},
                                                          Ints{0, a[3].as.ints[0]}, a[4], a[5]),
                                       -2));
}

lamella_status adaptive_avg_pool1d(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(
      r, c.op<"squeeze.dim">(c.op<"adaptive_avg_pool2d">(c.op<"unsqueeze">(a[0], -2), Ints{1, a[1].as.ints[0]}), -2));
}

}  // namespace

#define WINDOW(n) "int[" #n "] kernel_size, int[" #n "] stride=[], int[" #n "] padding=0, "

const std::vector<Declaration>& pooling_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"max_pool2d(Tensor self, " WINDOW(2) "int[2] dilation=1, bool ceil_mode=False) -> Tensor", "pooling", function,
       infer_max<2>, max_pool,
       "The largest element of each window; NaN wins. Windows begin every `stride` places (by default they lie side by "
       "side); padding is never the largest.\n\nRaises:\n    RuntimeError: a window does not fit\n\n>>> "
       "lamella.max_pool2d(lamella.arange(16.).view(1, 4, 4), 2)\ntensor([[[ 5.,  7.],\n         [13., 15.]]])\n"},
      {"max_pool2d_with_indices(Tensor self, " WINDOW(2) "int[2] dilation=1, bool ceil_mode=False) -> (Tensor values, "
                                                         "Tensor indices)",
       "pooling", function | hidden, infer_max_indices, max_pool_indices,
       "max_pool2d, and where in its plane each element stood.\n\n>>> "
       "lamella.ops.aten.max_pool2d_with_indices(lamella.arange(16.).view(1, 4, 4), 2)[1]\ntensor([[[ 5,  7],\n        "
       " "
       "[13, 15]]])\n"},
      {"avg_pool2d(Tensor self, " WINDOW(2) "bool ceil_mode=False, bool count_include_pad=True, int? "
                                            "divisor_override=None) -> Tensor",
       "pooling", function | hidden, infer_avg<2>, avg_pool,
       "The mean of each window; padding counts as zeros, or not at all without `count_include_pad`.\n\n>>> "
       "lamella.ops.aten.avg_pool2d(lamella.arange(16.).view(1, 4, 4), 2)\ntensor([[[ 2.5000,  4.5000],\n         "
       "[10.5000, 12.5000]]])\n"},
      {"adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", "pooling", function | hidden,
       infer_adaptive_avg<2>, adaptive_avg_pool,
       "Means of as many windows as asked for, which divide the image evenly.\n\n>>> "
       "lamella.ops.aten.adaptive_avg_pool2d(lamella.arange(16.).view(1, 4, 4), 1)\ntensor([[[7.5000]]])\n"},
      {"max_pool1d(Tensor self, " WINDOW(1) "int[1] dilation=1, bool ceil_mode=False) -> Tensor", "pooling", function,
       infer_max<1>, max_pool1d,
       "The largest element of each window along the last dimension.\n\n>>> lamella.max_pool1d(lamella.tensor([[1., "
       "3., "
       "2., 4.]]), 2)\ntensor([[3., 4.]])\n"},
      {"avg_pool1d(Tensor self, " WINDOW(1) "bool ceil_mode=False, bool count_include_pad=True) -> Tensor", "pooling",
       function, infer_avg<1>, avg_pool1d,
       "The mean of each window along the last dimension.\n\n>>> lamella.avg_pool1d(lamella.tensor([[1., 3., 2., "
       "4.]]), "
       "2)\ntensor([[2., 3.]])\n"},
      {"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", "pooling", function, infer_adaptive_avg<1>,
       adaptive_avg_pool1d,
       "Means of as many windows as asked for along the last dimension.\n\n>>> "
       "lamella.adaptive_avg_pool1d(lamella.tensor([[1., 3., 2., 4.]]), 2)\ntensor([[2., 3.]])\n"},
      {"max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
       "padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
       "pooling", function | hidden, infer_backward<true>, max_pool_backward,
       "The gradient of max_pool2d_with_indices.\n\n>>> x = lamella.tensor([[[1., 3., 2.]]])\n>>> "
       "lamella.ops.aten.max_pool2d_with_indices_backward(lamella.ones(1, 1, 2), x, [1, 2], [1, 1], [0, 0], [1, 1], "
       "False, lamella.tensor([[[1, 1]]]))\ntensor([[[0., 2., 0.]]])\n"},
      {"avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool "
       "ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
       "pooling", function | hidden, infer_backward<false>, avg_pool_backward,
       "The gradient of avg_pool2d.\n\n>>> lamella.ops.aten.avg_pool2d_backward(lamella.ones(1, 1, 2), lamella.ones(1, "
       "1, "
       "3), "
       "[1, 2], [1, 1], [0, 0], False, True, None)\ntensor([[[0.5000, 1.0000, 0.5000]]])\n"},
      {"_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", "pooling", function | hidden,
       infer_adaptive_backward, adaptive_avg_pool_backward, "The gradient of adaptive_avg_pool2d."},
  };
  return *table;
}

}  // namespace lamella::dispatcher
