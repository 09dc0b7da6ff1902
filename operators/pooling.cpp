// Pooling over windows of images: the largest or the mean of each, and pools whose windows divide an image evenly.
#include "operators/windows.h"

namespace lamella::operators {
namespace {

struct Pool {
  int64_t kernel[2], stride[2], padding[2], dilation[2], places[2];
};

void check_image(const Tensor& self, int spatial) {
  LAMELLA_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2, argument("self"), ": expected ", spatial + 2,
                " dimensions, or ", spatial + 1, " without a batch, got shape ", shape_text(self));
}

// An empty stride is the kernel. One dimension is read as an image of one row.
template <int Spatial>
Pool read_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode) {
  constexpr int first = 2 - Spatial;
  check_image(self, Spatial);
  Pool p;
  p.padding[0] = 0;
  p.kernel[0] = p.stride[0] = p.places[0] = p.dilation[0] = p.dilation[1] = 1;
  read_spatial("kernel_size", kernel_size, Spatial, 1, p.kernel + first);
  std::copy(p.kernel, p.kernel + 2, p.stride);
  if (!stride.empty()) read_spatial("stride", stride, Spatial, 1, p.stride + first);
  read_spatial("padding", padding, Spatial, 0, p.padding + first);
  read_spatial("dilation", dilation, Spatial, 1, p.dilation + first);
  for (int i = first; i < 2; i++) {
    LAMELLA_CHECK(p.padding[i] <= p.kernel[i] / 2, argument("padding"), ": must be at most half of the kernel, ",
                  p.padding[i], " of ", p.kernel[i]);
    const int64_t n = self.size(i - 2), reach = p.dilation[i] * (p.kernel[i] - 1) + 1;
    const int64_t room = n + 2 * p.padding[i] - reach;
    p.places[i] = room < 0 ? 0 : room / p.stride[i] + 1;
    if (ceil_mode && room >= 0 && room % p.stride[i]) {
      // One more, unless it would begin behind the image.
      if (p.places[i] * p.stride[i] < n + p.padding[i]) p.places[i]++;
    } else if (ceil_mode && room < 0 && room > -p.stride[i]) {
      p.places[i] = 1;
    }
    LAMELLA_CHECK(p.places[i] >= 1, argument("kernel_size"), ": a window of ", p.kernel[i], " (dilation ",
                  p.dilation[i], ") does not fit into size ", n, " with padding ", p.padding[i]);
  }
  return p;
}

template <int Spatial>
DimVector pooled_sizes(const Tensor& self, const int64_t* places) {
  DimVector sizes(self.sizes());
  std::copy(places, places + Spatial, sizes.end() - Spatial);
  return sizes;
}

template <int Spatial>
void set_pooled(Output& out, const Tensor& self, const int64_t* places) {
  set_image(out, pooled_sizes<Spatial>(self, places), self.dtype(), channels_last(self));
  check_bytes(out.sizes(), out.dtype());
}

// How far an image must be padded behind for its last window; it may need less than it has.
void behind(const Tensor& x, const Pool& p, int64_t* after) {
  for (int i = 0; i < 2; i++)
    after[i] = std::max<int64_t>(
        0, (p.places[i] - 1) * p.stride[i] + p.dilation[i] * (p.kernel[i] - 1) + 1 - p.padding[i] - x.size(-2 + i));
}

// ---- the largest ---------------------------------------------------------------------------------------------------

void check_ordered(const Tensor& self) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.dtype() != kBool, argument("self"), ": dtype ", self.dtype(),
                                " has no largest element here; it takes integers and floats");
}

void check_has_mean(const Tensor& self) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), argument("self"), ": a mean needs a floating dtype, got ",
                                self.dtype(), "; convert with .to(lamella.float32)");
}

template <int Spatial>
void infer_max(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode, Output out) {
  check_ordered(self);
  const Pool p = read_pool<Spatial>(self, kernel_size, stride, padding, dilation, ceil_mode);
  set_pooled<Spatial>(out, self, p.places + 2 - Spatial);
}

void infer_max_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, bool ceil_mode, Output values, Output indices) {
  infer_max<2>(self, kernel_size, stride, padding, dilation, ceil_mode, values);
  set_image(indices, values.sizes(), kLong, channels_last(self));
}

Scalar lowest(ScalarType t) {
  if (is_floating_point(t)) return -__builtin_inf();
  const int64_t bits = 8 * itemsize(t);
  return is_signed(t) ? -1 - static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : int64_t{0};
}

Tensor reduced_windows(const Tensor& self, const Pool& p, const Scalar& value) {
  int64_t after[2];
  behind(self, p, after);
  return windows(padded(self, 2, p.padding, after, value), 2, p.kernel, p.stride, p.dilation, p.places);
}

// Converts a result to channels last if `like`, the operator's input, is channels last, as the shape rule promises.
Tensor laid_out(const Tensor& result, const Tensor& like) {
  return channels_last(like) ? in_channels_last(result) : result;
}

// The first places of the windows along a dimension, behind the padding.
Tensor beginnings(const Tensor& self, const Pool& p, int i) {
  return lamella::arange(-p.padding[i], p.places[i] * p.stride[i] - p.padding[i], p.stride[i],
                         self.options().dtype(kLong));
}

Tensor max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(lamella::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// The index of a window's largest element, as an offset in its plane: from the window's first place, row and column.
// Where all elements are the dtype's lowest number, it is the first element in the image; where there are none, -1.
std::tuple<Tensor, Tensor> max_pool_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Pool p = read_pool<2>(self, kernel_size, stride, padding, dilation, ceil_mode);
  const int64_t size[2] = {self.size(-2), self.size(-1)};
  const Scalar least = lowest(self.dtype());
  const Tensor seen = reduced_windows(self, p, least);
  DimVector flat(IntArrayRef(seen.sizes().data(), self.dim()));
  flat.push_back(p.kernel[0] * p.kernel[1]);
  const Tensor values = seen.amax({-2, -1}), tap = seen.reshape(flat).argmax(-1);
  const Tensor line = lamella::div(tap, p.kernel[1], "floor");
  auto begin = [&](int i) {
    const Tensor all = beginnings(self, p, i);
    return i == 0 ? all.unsqueeze(1) : all;
  };
  auto inside = [&](int i) {
    const int64_t d = p.dilation[i];
    const Tensor before = lamella::div(d - 1 - begin(i), d, "floor");
    return begin(i) + before.clamp(0) * d;
  };
  auto outside = [&](int i) { return inside(i) >= size[i]; };
  const Tensor row = line * p.dilation[0] + begin(0), column = (tap - line * p.kernel[1]) * p.dilation[1] + begin(1);
  const Tensor first = lamella::where(outside(0) | outside(1), -1, inside(0) * size[1] + inside(1));
  const Tensor index = lamella::where(lamella::eq(values, least), first, row * size[1] + column);
  return {laid_out(values, self), laid_out(index, self)};
}

// ---- the mean ------------------------------------------------------------------------------------------------------

void check_divisor(std::optional<int64_t> divisor) {
  LAMELLA_CHECK(!divisor || *divisor != 0, argument("divisor_override"), ": must not be 0");
}

void infer_avg2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                 bool /*count_include_pad*/, std::optional<int64_t> divisor_override, Output out) {
  check_has_mean(self);
  const Pool p = read_pool<2>(self, kernel_size, stride, padding, 1, ceil_mode);
  check_divisor(divisor_override);
  set_pooled<2>(out, self, p.places);
}

void infer_avg1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                 bool /*count_include_pad*/, Output out) {
  check_has_mean(self);
  const Pool p = read_pool<1>(self, kernel_size, stride, padding, 1, ceil_mode);
  set_pooled<1>(out, self, p.places + 1);
}

// How many elements of each window count: those in the image and, if it counts, its padding.
Tensor counted(const Tensor& self, const Pool& p, bool padding) {
  auto along = [&](int i) {
    const int64_t n = self.size(-2 + i), pad = padding ? p.padding[i] : 0;
    const Tensor begin = beginnings(self, p, i), end = (begin + p.kernel[i]).clamp(std::nullopt, n + pad);
    return end - begin.clamp(-pad);
  };
  return (along(0).unsqueeze(1) * along(1)).to(self.dtype());
}

// Sums of windows, divided by how many elements count.
Tensor avg_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
  const Pool p = read_pool<2>(self, kernel_size, stride, padding, 1, ceil_mode);
  const Tensor sums = reduced_windows(self, p, 0).sum({-2, -1});
  return laid_out(divisor_override ? sums / *divisor_override : sums / counted(self, p, count_include_pad), self);
}

// ---- adaptive: place i of m takes [floor(i n / m), ceil((i + 1) n / m)) --------------------------------------------

void read_adaptive(const Tensor& self, IntArrayRef output_size, int spatial, int64_t* places) {
  check_image(self, spatial);
  read_spatial("output_size", output_size, spatial, 0, places);
  for (int i = 0; i < spatial; i++)
    LAMELLA_CHECK(self.size(i - spatial) != 0, argument("self"), ": shape ", shape_text(self), " has no pixels");
}

template <int Spatial>
void infer_adaptive_avg(const Tensor& self, IntArrayRef output_size, Output out) {
  int64_t places[2];
  check_has_mean(self);
  read_adaptive(self, output_size, Spatial, places);
  set_pooled<Spatial>(out, self, places);
}

// Strip by strip, each a mean over its rows, then the same over columns.
Tensor adaptive_dim(const Tensor& x, int64_t d, int64_t places) {
  const int64_t n = x.size(d);
  DimVector sizes(x.sizes());
  sizes[d] = places;
  const Tensor out = lamella::empty(sizes, x.options());
  for (int64_t i = 0; i < places; i++) {
    const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
    const Tensor strip = lamella::slice(x, d, begin, end, 1).sum(d, true) / (end - begin);
    lamella::slice(out, d, i, i + 1, 1).copy_(strip);
  }
  return out;
}

Tensor adaptive_avg_pool(const Tensor& self, IntArrayRef output_size) {
  int64_t places[2];
  read_adaptive(self, output_size, 2, places);
  const Tensor rows = adaptive_dim(self, self.dim() - 2, places[0]);
  return laid_out(adaptive_dim(rows, self.dim() - 1, places[1]), self);
}

// ---- backward ------------------------------------------------------------------------------------------------------

void check_gradient(const Tensor& grad_output, const Tensor& self) {
  LAMELLA_CHECK(grad_output.dtype() == self.dtype(), argument("grad_output"), ": its dtype ", grad_output.dtype(),
                " is not that of 'self', ", self.dtype(), "; convert one with .to(...)");
}

void check_shape(const char* name, const Tensor& t, IntArrayRef sizes) {
  LAMELLA_CHECK(t.sizes() == sizes, argument(name), ": expected shape ", shape_text(sizes), ", got ", shape_text(t));
}

void set_gradient(Output& out, const Tensor& self) { set_image(out, self.sizes(), self.dtype(), channels_last(self)); }

void infer_max_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices, Output out) {
  check_ordered(self);
  const Pool p = read_pool<2>(self, kernel_size, stride, padding, dilation, ceil_mode);
  const DimVector sizes = pooled_sizes<2>(self, p.places);
  check_shape("grad_output", grad_output, sizes);
  check_shape("indices", indices, sizes);
  LAMELLA_CHECK(indices.dtype() == kLong, argument("indices"), ": expected dtype int64, got ", indices.dtype());
  check_gradient(grad_output, self);
  set_gradient(out, self);
}

// Each gradient goes to where its largest element stood; an empty window's index lies outside of the plane.
Tensor max_pool_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef /*kernel_size*/,
                         IntArrayRef /*stride*/, IntArrayRef /*padding*/, IntArrayRef /*dilation*/, bool /*ceil_mode*/,
                         const Tensor& indices) {
  const int64_t plane = self.size(-2) * self.size(-1), planes = self.size(0) * (self.dim() == 4 ? self.size(1) : 1);
  const DimVector flat{planes, grad_output.size(-2) * grad_output.size(-1)};
  const Tensor at = indices.reshape(flat), none = lamella::zeros({planes, plane}, grad_output.options());
  const Tensor inside = (at >= 0) & (at < plane);
  const Tensor g = lamella::where(inside, grad_output.reshape(flat), 0);
  const Tensor sums = none.scatter_add(1, lamella::where(inside, at, 0), g);
  return laid_out(sums.reshape(self.sizes()), self);
}

Pool read_avg_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                       IntArrayRef padding, bool ceil_mode, std::optional<int64_t> divisor_override) {
  check_has_mean(self);
  const Pool p = read_pool<2>(self, kernel_size, stride, padding, 1, ceil_mode);
  check_shape("grad_output", grad_output, pooled_sizes<2>(self, p.places));
  check_divisor(divisor_override);
  check_gradient(grad_output, self);
  return p;
}

void infer_avg_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, bool ceil_mode, bool /*count_include_pad*/,
                        std::optional<int64_t> divisor_override, Output out) {
  read_avg_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, divisor_override);
  set_gradient(out, self);
}

// Every place's share goes to the taps of its window: shares with zeros between them, added up tap by tap along one
// dimension, then along the other.
Tensor avg_pool_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  const Pool p = read_avg_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, divisor_override);
  Tensor g = divisor_override ? grad_output / *divisor_override : grad_output / counted(self, p, count_include_pad);
  for (int i = 0; i < 2; i++) {
    const int64_t d = self.dim() - 2 + i, n = self.size(d), before = p.kernel[i] - 1 - p.padding[i];
    g = spread_along(g, d, p.stride[i]);
    g = padded_along(g, d, before, n + p.kernel[i] - 1 - before - g.size(d));
    Tensor sum = lamella::slice(g, d, 0, n, 1);
    for (int64_t k = 1; k < p.kernel[i]; k++) sum = sum + lamella::slice(g, d, k, k + n, 1);
    g = sum;
  }
  return laid_out(g, self);
}

void infer_adaptive_backward(const Tensor& grad_output, const Tensor& self, Output out) {
  check_has_mean(self);
  check_image(self, 2);
  const IntArrayRef g = grad_output.sizes(), x = self.sizes();
  LAMELLA_CHECK(g.size() == x.size() && std::equal(g.begin(), g.end() - 2, x.begin()), argument("grad_output"),
                ": expected ", x.size(), " dimensions, all but the last two of ", shape_text(x), ", got ",
                shape_text(g));
  check_gradient(grad_output, self);
  set_gradient(out, self);
}

// Along each dimension, the sum over the places of their shares, each as long as its strip and padded to the image.
Tensor adaptive_avg_pool_backward(const Tensor& grad_output, const Tensor& self) {
  Tensor g = grad_output;
  for (int64_t d = self.dim() - 2; d < self.dim(); d++) {
    const int64_t n = self.size(d), places = g.size(d);
    DimVector sizes(g.sizes());
    sizes[d] = n;
    Tensor sum = lamella::zeros(sizes, self.options());
    for (int64_t i = 0; i < places; i++) {
      const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
      DimVector strip = sizes;
      strip[d] = end - begin;
      const Tensor share = lamella::slice(g, d, i, i + 1, 1) / (end - begin);
      sum = sum + padded_along(share.expand(strip), d, begin, n - end);
    }
    g = sum;
  }
  return laid_out(g, self);
}

// ---- one dimension, as images of one row ----------------------------------------------------------------------------

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  const int64_t kernel = kernel_size[0], step = stride.empty() ? kernel : stride[0];
  return lamella::max_pool2d(self.unsqueeze(-2), {1, kernel}, {1, step}, {0, padding[0]}, {1, dilation[0]}, ceil_mode)
      .squeeze(-2);
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  const int64_t kernel = kernel_size[0], step = stride.empty() ? kernel : stride[0];
  return lamella::avg_pool2d(self.unsqueeze(-2), {1, kernel}, {1, step}, {0, padding[0]}, ceil_mode, count_include_pad)
      .squeeze(-2);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return lamella::adaptive_avg_pool2d(self.unsqueeze(-2), {1, output_size[0]}).squeeze(-2);
}

}  // namespace

#define WINDOW(n) "int[" #n "] kernel_size, int[" #n "] stride=[], int[" #n "] padding=0, "

const std::vector<Declaration>& pooling_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"max_pool2d(Tensor self, " WINDOW(2) "int[2] dilation=1, bool ceil_mode=False) -> Tensor", "pooling", function,
       shape<infer_max<2>>, composite<max_pool>,
       "The largest element of each window; NaN wins. Windows begin every `stride` places (by default they lie side by "
       "side); padding is never the largest.\n\nRaises:\n    RuntimeError: a window does not fit\n\n>>> "
       "lamella.max_pool2d(lamella.arange(16.).view(1, 4, 4), 2)\ntensor([[[ 5.,  7.],\n         [13., 15.]]])\n"},
      {"max_pool2d_with_indices(Tensor self, " WINDOW(2) "int[2] dilation=1, bool ceil_mode=False) -> (Tensor values, "
                                                         "Tensor indices)",
       "pooling", function | hidden, shape<infer_max_indices>, composite<max_pool_indices>,
       "max_pool2d, and where in its plane each element stood.\n\n>>> "
       "lamella.ops.aten.max_pool2d_with_indices(lamella.arange(16.).view(1, 4, 4), 2)[1]\ntensor([[[ 5,  7],\n        "
       " "
       "[13, 15]]])\n"},
      {"avg_pool2d(Tensor self, " WINDOW(2) "bool ceil_mode=False, bool count_include_pad=True, int? "
                                            "divisor_override=None) -> Tensor",
       "pooling", function | hidden, shape<infer_avg2d>, composite<avg_pool>,
       "The mean of each window; padding counts as zeros, or not at all without `count_include_pad`.\n\n>>> "
       "lamella.ops.aten.avg_pool2d(lamella.arange(16.).view(1, 4, 4), 2)\ntensor([[[ 2.5000,  4.5000],\n         "
       "[10.5000, 12.5000]]])\n"},
      {"adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", "pooling", function | hidden,
       shape<infer_adaptive_avg<2>>, composite<adaptive_avg_pool>,
       "Means of as many windows as asked for, which divide the image evenly.\n\n>>> "
       "lamella.ops.aten.adaptive_avg_pool2d(lamella.arange(16.).view(1, 4, 4), 1)\ntensor([[[7.5000]]])\n"},
      {"max_pool1d(Tensor self, " WINDOW(1) "int[1] dilation=1, bool ceil_mode=False) -> Tensor", "pooling", function,
       shape<infer_max<1>>, composite<max_pool1d>,
       "The largest element of each window along the last dimension.\n\n>>> lamella.max_pool1d(lamella.tensor([[1., "
       "3., "
       "2., 4.]]), 2)\ntensor([[3., 4.]])\n"},
      {"avg_pool1d(Tensor self, " WINDOW(1) "bool ceil_mode=False, bool count_include_pad=True) -> Tensor", "pooling",
       function, shape<infer_avg1d>, composite<avg_pool1d>,
       "The mean of each window along the last dimension.\n\n>>> lamella.avg_pool1d(lamella.tensor([[1., 3., 2., "
       "4.]]), "
       "2)\ntensor([[2., 3.]])\n"},
      {"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", "pooling", function,
       shape<infer_adaptive_avg<1>>, composite<adaptive_avg_pool1d>,
       "Means of as many windows as asked for along the last dimension.\n\n>>> "
       "lamella.adaptive_avg_pool1d(lamella.tensor([[1., 3., 2., 4.]]), 2)\ntensor([[2., 3.]])\n"},
      {"max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
       "padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
       "pooling", function | hidden, shape<infer_max_backward>, composite<max_pool_backward>,
       "The gradient of max_pool2d_with_indices.\n\n>>> x = lamella.tensor([[[1., 3., 2.]]])\n>>> "
       "lamella.ops.aten.max_pool2d_with_indices_backward(lamella.ones(1, 1, 2), x, [1, 2], [1, 1], [0, 0], [1, 1], "
       "False, lamella.tensor([[[1, 1]]]))\ntensor([[[0., 2., 0.]]])\n"},
      {"avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool "
       "ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
       "pooling", function | hidden, shape<infer_avg_backward>, composite<avg_pool_backward>,
       "The gradient of avg_pool2d.\n\n>>> lamella.ops.aten.avg_pool2d_backward(lamella.ones(1, 1, 2), lamella.ones(1, "
       "1, "
       "3), "
       "[1, 2], [1, 1], [0, 0], False, True, None)\ntensor([[[0.5000, 1.0000, 0.5000]]])\n"},
      {"_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", "pooling", function | hidden,
       shape<infer_adaptive_backward>, composite<adaptive_avg_pool_backward>, "The gradient of adaptive_avg_pool2d."},
  };
  return *table;
}

}  // namespace lamella::operators
