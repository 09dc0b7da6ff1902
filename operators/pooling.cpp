// Pooling over windows of lines and images: the largest element or the mean of each.
#include "operators/pooling.h"

namespace lamella::operators {
void check_spatial(const Tensor& self, int spatial) {
  LAMELLA_CHECK(self.dim() == spatial + 1 || self.dim() == spatial + 2, argument("self"), ": expected ", spatial + 2,
                " dimensions, or ", spatial + 1, " without a batch, got shape ", shape_text(self));
}

Pool read_pool(const Tensor& self, int spatial, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode) {
  check_spatial(self, spatial);
  Pool p;
  p.spatial = spatial;
  read_spatial("kernel_size", kernel_size, spatial, 1, p.kernel);
  std::copy(p.kernel, p.kernel + spatial, p.stride);
  if (!stride.empty()) read_spatial("stride", stride, spatial, 1, p.stride);
  read_spatial("padding", padding, spatial, 0, p.padding);
  read_spatial("dilation", dilation, spatial, 1, p.dilation);
  for (int i = 0; i < spatial; i++) {
    LAMELLA_CHECK(p.padding[i] <= p.kernel[i] / 2, argument("padding"), ": must be at most half of the kernel, got ",
                  p.padding[i], " for a kernel of ", p.kernel[i]);
    const int64_t n = self.size(i - spatial), reach = p.dilation[i] * (p.kernel[i] - 1) + 1;
    const int64_t room = n + 2 * p.padding[i] - reach;
    p.places[i] = room < 0 ? 0 : room / p.stride[i] + 1;
    if (ceil_mode && room >= 0 && room % p.stride[i]) {
      // One more window, unless it would begin after the image.
      if (p.places[i] * p.stride[i] < n + p.padding[i]) p.places[i]++;
    } else if (ceil_mode && room < 0 && room > -p.stride[i]) {
      p.places[i] = 1;
    }
    LAMELLA_CHECK(p.places[i] >= 1, argument("kernel_size"), ": a window of ", p.kernel[i], " (dilation ",
                  p.dilation[i], ") does not fit into size ", n, " with padding ", p.padding[i]);
  }
  return p;
}

DimVector pooled_sizes(const Tensor& self, int spatial, const int64_t* places) {
  DimVector sizes(self.sizes());
  std::copy(places, places + spatial, sizes.end() - spatial);
  return sizes;
}

void set_pooled(Output& out, const Tensor& self, int spatial, const int64_t* places) {
  set_image(out, pooled_sizes(self, spatial, places), self.dtype(), spatial == 2 && channels_last(self));
  check_bytes(out.sizes(), out.dtype());
}

void check_ordered(const Tensor& self) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.dtype() != kBool, argument("self"), ": dtype ", self.dtype(),
                                " has no largest element here; it takes integers and floats");
}

void check_has_mean(const Tensor& self) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), argument("self"), ": a mean needs a floating dtype, got ",
                                self.dtype(), "; convert with .to(lamella.float32)");
}

void check_averages(const Tensor& self) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.dtype() == kLong, argument("self"),
                                ": a mean needs a floating dtype or int64, got ", self.dtype(),
                                "; convert with .to(lamella.float32)");
}

void check_divisor(std::optional<int64_t> divisor) {
  LAMELLA_CHECK(!divisor || *divisor != 0, argument("divisor_override"), ": must not be 0");
}

Tensor laid_out(const Tensor& result, const Tensor& like) {
  return channels_last(like) ? in_channels_last(result) : result;
}

namespace {

// Returns the first places of the windows along a dimension, relative to the image.
Tensor beginnings(const Tensor& self, const Pool& p, int i) {
  return lamella::arange(-p.padding[i], p.places[i] * p.stride[i] - p.padding[i], p.stride[i],
                         self.options().dtype(kLong));
}

}  // namespace

Tensor counted(const Tensor& self, const Pool& p, bool padding) {
  Tensor all;
  for (int i = 0; i < p.spatial; i++) {
    const int64_t n = self.size(i - p.spatial), pad = padding ? p.padding[i] : 0;
    const Tensor begin = beginnings(self, p, i), end = (begin + p.kernel[i]).clamp(std::nullopt, n + pad);
    const Tensor along = end - begin.clamp(-pad);
    all = all.defined() ? all.unsqueeze(-1) * along : along;
  }
  return all.to(self.dtype());
}

namespace {

// Computes how far an image must be padded after its end for the last window; that may be less than its padding.
void behind(const Tensor& x, const Pool& p, int64_t* after) {
  for (int i = 0; i < 2; i++)
    after[i] = std::max<int64_t>(
        0, (p.places[i] - 1) * p.stride[i] + p.dilation[i] * (p.kernel[i] - 1) + 1 - p.padding[i] - x.size(-2 + i));
}

// ---- max pools -----------------------------------------------------------------------------------------------------

template <int Spatial>
void infer_max(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode, Output out) {
  check_ordered(self);
  const Pool p = read_pool(self, Spatial, kernel_size, stride, padding, dilation, ceil_mode);
  set_pooled(out, self, Spatial, p.places);
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

Tensor max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(lamella::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// Returns each window's largest element and its index, an offset in its plane: that of the window's first place, plus
// row and column within the window. If all elements are the dtype's lowest number, the index is that of the window's
// first element in the image; if the window has none there, -1.
std::tuple<Tensor, Tensor> max_pool_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Pool p = read_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode);
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

// ---- mean pools ----------------------------------------------------------------------------------------------------

void infer_avg2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                 bool /*count_include_pad*/, std::optional<int64_t> divisor_override, Output out) {
  LAMELLA_CHECK_INDEX(self.dim() > 2, argument("self"), ": expected 4 dimensions, or 3 without a batch, got shape ",
                      shape_text(self));
  check_averages(self);
  const Pool p = read_pool(self, 2, kernel_size, stride, padding, 1, ceil_mode);
  check_divisor(divisor_override);
  set_pooled(out, self, 2, p.places);
}

void infer_avg1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                 bool /*count_include_pad*/, Output out) {
  check_averages(self);
  const Pool p = read_pool(self, 1, kernel_size, stride, padding, 1, ceil_mode);
  set_pooled(out, self, 1, p.places);
}

// Sums the windows and divides by `divisor_override` or, without it, by how many elements count.
Tensor avg_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
  const Pool p = read_pool(self, 2, kernel_size, stride, padding, 1, ceil_mode);
  const Tensor sums = reduced_windows(self, p, 0).sum({-2, -1});
  const Tensor means =
      divisor_override ? mean_of(sums, *divisor_override) : mean_of(sums, counted(self, p, count_include_pad));
  return laid_out(means, self);
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
  const Pool p = read_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode);
  const DimVector sizes = pooled_sizes(self, 2, p.places);
  check_shape("grad_output", grad_output, sizes);
  check_shape("indices", indices, sizes);
  LAMELLA_CHECK(indices.dtype() == kLong, argument("indices"), ": expected dtype int64, got ", indices.dtype());
  check_gradient(grad_output, self);
  set_gradient(out, self);
}

// Adds each gradient where its window's largest element was; the index of an empty window is outside of the plane.
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
  const Pool p = read_pool(self, 2, kernel_size, stride, padding, 1, ceil_mode);
  check_shape("grad_output", grad_output, pooled_sizes(self, 2, p.places));
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

// Gives each place's share to the taps of its window: spreads the shares with zeros between them and adds them up tap
// by tap along one dimension, then along the other.
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

// ---- one dimension, as images of one row ----------------------------------------------------------------------------

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  const int64_t kernel = kernel_size[0], step = stride.empty() ? kernel : stride[0];
  return lamella::max_pool2d(self.unsqueeze(-2), {1, kernel}, {1, step}, {0, padding[0]}, {1, dilation[0]}, ceil_mode)
      .squeeze(-2);
}

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  check_ordered(self);
  const Pool p = read_pool(self, 1, kernel_size, stride, padding, dilation, ceil_mode);
  const auto [values, indices] = lamella::max_pool2d_with_indices(
      self.unsqueeze(-2), {1, p.kernel[0]}, {1, p.stride[0]}, {0, p.padding[0]}, {1, p.dilation[0]}, ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  const int64_t kernel = kernel_size[0], step = stride.empty() ? kernel : stride[0];
  return lamella::avg_pool2d(self.unsqueeze(-2), {1, kernel}, {1, step}, {0, padding[0]}, ceil_mode, count_include_pad)
      .squeeze(-2);
}

}  // namespace

#define WINDOW(n) "int[" #n "] kernel_size, int[" #n "] stride=[], int[" #n "] padding=0, "

LAMELLA_FAMILY(pooling, .category = "pooling", .forms = function) {
  return {
      {.schema = "max_pool2d(Tensor self, " WINDOW(2) "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
       .dims = "n c h~ w~ -> n c h~ w~ | c h~ w~ -> c h~ w~",
       .infer = shape<infer_max<2>>,
       .composite = composite<max_pool>,
       .doc = R"(The largest element of each window; NaN wins. Windows begin every `stride` places (by default they
lie side by side); padding is never the largest.

Raises:
    RuntimeError: a window does not fit

>>> lamella.max_pool2d(lamella.arange(16.).view(1, 4, 4), 2)
tensor([[[ 5.,  7.],
         [13., 15.]]])
)"},
      {.schema = "max_pool2d_with_indices(Tensor self, " WINDOW(
           2) "int[2] dilation=1, bool ceil_mode=False) -> (Tensor values, "
              "Tensor indices)",
       .dims = "n c h~ w~ -> n c h~ w~, n c h~ w~ | c h~ w~ -> c h~ w~, c h~ w~",
       .forms = function | hidden,
       .infer = shape<infer_max_indices>,
       .composite = composite<max_pool_indices>,
       .doc = R"(max_pool2d, and where in its plane each element stood.

>>> lamella.ops.aten.max_pool2d_with_indices(lamella.arange(16.).view(1, 4, 4), 2)[1]
tensor([[[ 5,  7],
         [13, 15]]])
)"},
      {.schema = "avg_pool2d(Tensor self, " WINDOW(2) "bool ceil_mode=False, bool count_include_pad=True, int? "
                                                      "divisor_override=None) -> Tensor",
       .dims = "n c h~ w~ -> n c h~ w~ | c h~ w~ -> c h~ w~",
       .forms = function | hidden | out,
       .infer = shape<infer_avg2d>,
       .composite = composite<avg_pool>,
       .doc = R"(The mean of each window; padding counts as zeros, or not at all without `count_include_pad`.

>>> lamella.ops.aten.avg_pool2d(lamella.arange(16.).view(1, 4, 4), 2)
tensor([[[ 2.5000,  4.5000],
         [10.5000, 12.5000]]])
)"},
      {.schema = "max_pool1d(Tensor self, " WINDOW(1) "int[1] dilation=1, bool ceil_mode=False) -> Tensor",
       .dims = "n c w~ -> n c w~ | c w~ -> c w~",
       .infer = shape<infer_max<1>>,
       .composite = composite<max_pool1d>,
       .doc = R"(The largest element of each window along the last dimension.

>>> lamella.max_pool1d(lamella.tensor([[1., 3., 2., 4.]]), 2)
tensor([[3., 4.]])
)"},
      {.schema = "max_pool1d_with_indices(Tensor self, " WINDOW(
           1) "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
       .dims = "n c w~ -> n c w~, n c w~ | c w~ -> c w~, c w~",
       .composite = composite<max_pool1d_with_indices>,
       .doc = R"(max_pool1d, and where along the last dimension each element stood.

>>> lamella.max_pool1d_with_indices(lamella.tensor([[1., 3., 2., 4.]]), 2)
(tensor([[3., 4.]]), tensor([[1, 3]]))
)"},
      {.schema = "avg_pool1d(Tensor self, " WINDOW(1) "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
       .dims = "n c w~ -> n c w~ | c w~ -> c w~",
       .infer = shape<infer_avg1d>,
       .composite = composite<avg_pool1d>,
       .doc = R"(The mean of each window along the last dimension.

>>> lamella.avg_pool1d(lamella.tensor([[1., 3., 2., 4.]]), 2)
tensor([[2., 3.]])
)"},
      {.schema = "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
                 "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
       .dims = "n c h~ w~, n c h~ w~, n c h~ w~ -> n c h~ w~ | c h~ w~, c h~ w~, c h~ w~ -> c h~ w~",
       .forms = function | hidden,
       .infer = shape<infer_max_backward>,
       .composite = composite<max_pool_backward>,
       .doc = R"(The gradient of max_pool2d_with_indices.

>>> x = lamella.tensor([[[1., 3., 2.]]])
>>> lamella.ops.aten.max_pool2d_with_indices_backward(lamella.ones(1, 1, 2), x, [1, 2], [1, 1], [0, 0], [1, 1], False, lamella.tensor([[[1, 1]]]))
tensor([[[0., 2., 0.]]])
)"},
      {.schema = "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
                 "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
       .dims = "n c h~ w~, n c h~ w~ -> n c h~ w~ | c h~ w~, c h~ w~ -> c h~ w~",
       .forms = function | hidden,
       .infer = shape<infer_avg_backward>,
       .composite = composite<avg_pool_backward>,
       .doc = R"(The gradient of avg_pool2d.

>>> lamella.ops.aten.avg_pool2d_backward(lamella.ones(1, 1, 2), lamella.ones(1, 1, 3), [1, 2], [1, 1], [0, 0], False, True, None)
tensor([[[0.5000, 1.0000, 0.5000]]])
)"},
  };
}

}  // namespace lamella::operators
