// Convolutions by padding, windows and one bmm over the groups, and their gradients. conv1d to conv3d call convolution.
#include "operators/products.h"
#include "operators/windows.h"

namespace lamella::operators {
namespace {

struct Geometry {
  int spatial;
  int64_t stride[3], padding[3], dilation[3], kernel[3], places[3], groups;
  // Returns one of the arrays above as a list of `spatial` numbers.
  IntArrayRef list(const int64_t* numbers) const { return {numbers, static_cast<size_t>(spatial)}; }
};

// The sizes of an operand, with the argument that gives them: a tensor or a list.
struct Operand {
  const char* name;
  IntArrayRef sizes;
};

std::string text_of(const Tensor& t) { return "shape " + shape_text(t); }

// Checks the arguments of a convolution and computes the numbers of places.
Geometry fit(const Operand& x, const Operand& w, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
             int64_t groups) {
  Geometry s;
  s.spatial = static_cast<int>(w.sizes.size()) - 2;
  LAMELLA_CHECK(s.spatial >= 1 && s.spatial <= 3, argument(w.name),
                ": expected (out channels, in channels / groups, 1 to 3 kernel sizes), got shape ",
                shape_text(w.sizes));
  LAMELLA_CHECK(x.sizes.size() == w.sizes.size(), argument(x.name), ": expected ", w.sizes.size(),
                " dimensions for a weight of shape ", shape_text(w.sizes), ", got shape ", shape_text(x.sizes));
  read_spatial("stride", stride, s.spatial, 1, s.stride);
  read_spatial("padding", padding, s.spatial, 0, s.padding);
  read_spatial("dilation", dilation, s.spatial, 1, s.dilation);
  s.groups = groups;
  LAMELLA_CHECK(groups >= 1 && w.sizes[0] % groups == 0, argument("groups"), ": expected a divisor of ", w.sizes[0],
                ", the out channels in dimension 0 of '", w.name, "', got ", groups);
  check_channels(x.name, x.sizes, 1, w.name, w.sizes, 1, groups);
  for (int i = 0; i < s.spatial; i++) {
    s.kernel[i] = w.sizes[2 + i];
    const int64_t size = x.sizes[2 + i], room = size + 2 * s.padding[i], reach = s.dilation[i] * (s.kernel[i] - 1) + 1;
    LAMELLA_CHECK(s.kernel[i] >= 1 && room >= reach, argument(w.name), ": a kernel of ", s.kernel[i], " (dilation ",
                  s.dilation[i], ") does not fit into size ", size, " with padding ", s.padding[i]);
    s.places[i] = (room - reach) / s.stride[i] + 1;
  }
  return s;
}

// Raises unless two operands of a product have one dtype, which is not bool. `y` may be absent.
void check_same_dtype(const char* first, const Tensor& x, const char* second, const Tensor& y) {
  LAMELLA_CHECK(!y.defined() || y.dtype() == x.dtype(), argument(second), ": its dtype ", y.dtype(),
                " is not that of '", first, "', ", x.dtype(), "; convert one with .to(...)");
  LAMELLA_CHECK_NOT_IMPLEMENTED(x.dtype() != kBool, argument(first),
                                ": products of bools are not supported; convert with .to(...)");
}

Geometry read_operands(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Geometry s = fit({"input", input.sizes()}, {"weight", weight.sizes()}, stride, padding, dilation, groups);
  check_same_dtype("input", input, "weight", weight);
  check_same_dtype("input", input, "bias", bias);
  LAMELLA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)), argument("bias"),
                ": expected shape (", weight.size(0), ",), got ", text_of(bias));
  return s;
}

DimVector sizes_of(const Tensor& input, const Tensor& weight, const Geometry& s) {
  DimVector sizes{input.size(0), weight.size(0)};
  sizes.append(s.list(s.places));
  return sizes;
}

void infer_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups, Output out) {
  const Geometry s = read_operands(input, weight, bias, stride, padding, dilation, groups);
  set_image(out, sizes_of(input, weight, s), input.dtype(), channels_last(input) || channels_last(weight));
  check_bytes(out.sizes(), out.dtype());
}

// The windows, (n, groups, c, places, taps), become (n · groups, c · taps, places), and the weight, (groups, out,
// c · taps), is multiplied by them.
Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Geometry s = read_operands(input, weight, bias, stride, padding, dilation, groups);
  const int64_t n = input.size(0), in = input.size(1) / groups, out = weight.size(0) / groups;
  const Tensor seen =
      windows(padded(input, s.spatial, s.padding, s.padding, 0), s.spatial, s.kernel, s.stride, s.dilation, s.places);
  int64_t taps = 1, places = 1;
  DimVector order{0, 1};
  const DimVector sizes = sizes_of(input, weight, s);
  for (int i = 0; i < s.spatial; i++) {
    taps *= s.kernel[i];
    places *= s.places[i];
    order.push_back(2 + s.spatial + i);
  }
  for (int i = 0; i < s.spatial; i++) order.push_back(2 + i);
  const Tensor columns = seen.permute(order).reshape({n * groups, in * taps, places});
  const Tensor rows = weight.reshape({1, groups, out, in * taps})
                          .expand({n, groups, out, in * taps})
                          .reshape({n * groups, out, in * taps});
  Tensor result = rows.bmm(columns).view(sizes);
  if (bias.defined()) {
    DimVector one{1, weight.size(0)};
    for (int i = 0; i < s.spatial; i++) one.push_back(1);
    result = result + bias.reshape(one);
  }
  return channels_last(input) || channels_last(weight) ? in_channels_last(result) : result;
}

void infer_int_conv(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                    IntArrayRef dilation, int64_t groups, int64_t zero_point, Output out) {
  const Geometry s = fit({"input", input.sizes()}, {"weight", weight.sizes()}, stride, padding, dilation, groups);
  check_byte_dtypes({"input", input}, {"weight", weight});
  const int64_t low = input.dtype() == kInt8 ? -128 : 0;
  LAMELLA_CHECK_VALUE(zero_point >= low && zero_point <= low + 255, argument("zero_point"), ": ", zero_point,
                      " is no number of ", input.dtype());
  set_image(out, sizes_of(input, weight, s), kInt32, channels_last(input) || channels_last(weight));
  check_bytes(out.sizes(), out.dtype());
}

// A convolution of int32 wraps, so that it gives the same sums.
Tensor int_conv(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, int64_t groups, int64_t zero_point) {
  const Tensor x = input.to(kInt32);
  return lamella::convolution(zero_point ? x - zero_point : x, weight.to(kInt32), Tensor(), stride, padding, dilation,
                              groups);
}

// Checks the numbers of dimensions of convNd, whose input may have no dimension for the batch.
void check_image(const Tensor& input, const Tensor& weight, int spatial) {
  LAMELLA_CHECK(weight.dim() == spatial + 2, argument("weight"), ": expected ", spatial + 2, " dimensions, got ",
                text_of(weight));
  LAMELLA_CHECK(input.dim() == spatial + 1 || input.dim() == spatial + 2, argument("input"), ": expected ", spatial + 2,
                " dimensions, or ", spatial + 1, " without a batch, got ", text_of(input));
}

Tensor with_batch(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, int64_t groups, int spatial) {
  if (input.dim() == spatial + 1) {
    check_channels("input", input.sizes(), 0, "weight", weight.sizes(), 1, groups);
    return lamella::convolution(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0);
  }
  return lamella::convolution(input, weight, bias, stride, padding, dilation, groups);
}

template <int Spatial>
Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
            IntArrayRef dilation, int64_t groups) {
  check_image(input, weight, Spatial);
  return with_batch(input, weight, bias, stride, padding, dilation, groups, Spatial);
}

// padding='valid' is no padding; padding='same' keeps the size of the image, and adds an odd remainder at the end.
template <int Spatial>
Tensor conv_named(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                  std::string_view padding, IntArrayRef dilation, int64_t groups) {
  check_image(input, weight, Spatial);
  LAMELLA_CHECK(padding == "same" || padding == "valid", argument("padding"),
                ": must be 'same', 'valid' or numbers, got '", padding, "'");
  const DimVector none(Spatial, 0);
  if (padding == "valid") return with_batch(input, weight, bias, stride, none, dilation, groups, Spatial);
  int64_t steps[Spatial], gaps[Spatial], before[Spatial] = {}, after[Spatial] = {};
  read_spatial("stride", stride, Spatial, 1, steps);
  read_spatial("dilation", dilation, Spatial, 1, gaps);
  bool even = true;
  for (int i = 0; i < Spatial; i++) {
    LAMELLA_CHECK(steps[i] == 1, argument("padding"), ": 'same' needs stride 1, got ", shape_text(stride));
    const int64_t reach = gaps[i] * (weight.size(2 + i) - 1);
    before[i] = reach / 2;
    after[i] = reach - reach / 2;
    even &= before[i] == after[i];
  }
  if (even) return with_batch(input, weight, bias, stride, IntArrayRef(before, Spatial), dilation, groups, Spatial);
  return with_batch(padded(input, Spatial, before, after, 0), weight, bias, stride, none, dilation, groups, Spatial);
}

// ---- backward ------------------------------------------------------------------------------------------------------

// Checks the arguments of a gradient. For the input's gradient, `other` is the weight and `size` the input's sizes; for
// the weight's gradient, `other` is the input and `size` the weight's sizes.
template <bool OfInput>
Geometry read_backward(const Tensor& grad_output, const Tensor& other, IntArrayRef size, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const char* name = OfInput ? "weight" : "input";
  const Operand theirs{name, other.sizes()}, ours{OfInput ? "input_size" : "weight_size", size};
  const IntArrayRef g = grad_output.sizes(), x = OfInput ? size : other.sizes(), w = OfInput ? other.sizes() : size;
  const Geometry s = fit(OfInput ? ours : theirs, OfInput ? theirs : ours, stride, padding, dilation, groups);
  check_same_dtype("grad_output", grad_output, name, other);
  LAMELLA_CHECK_NOT_IMPLEMENTED(!grad_output.is_complex(), argument("grad_output"),
                                ": takes real numbers; convolution_backward takes complex ones");
  DimVector wanted{x[0], w[0]};
  wanted.append(s.list(s.places));
  LAMELLA_CHECK(g == IntArrayRef(wanted), argument("grad_output"), ": expected shape ", shape_text(wanted),
                ", got shape ", shape_text(g));
  return s;
}

template <bool OfInput>
void infer_backward(const Tensor& grad_output, const Tensor& other, IntArrayRef size, IntArrayRef stride,
                    IntArrayRef padding, IntArrayRef dilation, int64_t groups, Output out) {
  read_backward<OfInput>(grad_output, other, size, stride, padding, dilation, groups);
  set_image(out, size, grad_output.dtype(), (OfInput && channels_last(grad_output)) || channels_last(other));
  check_bytes(out.sizes(), out.dtype());
}

// Convolves the gradient, with zeros between its places if the stride is larger than 1, with the flipped weight:
// (groups · out, in, taps) becomes (groups · in, out, taps).
Tensor backward_input(const Tensor& grad_output, const Tensor& weight, IntArrayRef input_size, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Geometry s = read_backward<true>(grad_output, weight, input_size, stride, padding, dilation, groups);
  const bool last = channels_last(grad_output) || channels_last(weight);
  const int64_t out = weight.size(0) / groups, in = weight.size(1);
  Tensor g = grad_output;
  DimVector taps, apart{groups, out, in}, joined{groups * in, out}, ones, none;
  for (int i = 0; i < s.spatial; i++) {
    const int64_t reach = s.dilation[i] * (s.kernel[i] - 1), before = reach - s.padding[i];
    g = spread_along(g, 2 + i, s.stride[i]);
    g = padded_along(g, 2 + i, before, input_size[2 + i] + reach - before - g.size(2 + i));
    taps.push_back(2 + i);
    apart.push_back(s.kernel[i]);
    joined.push_back(s.kernel[i]);
    ones.push_back(1);
    none.push_back(0);
  }
  const Tensor turned = weight.flip(taps).reshape(apart).transpose(1, 2).reshape(joined);
  const Tensor result = lamella::convolution(g, turned, Tensor(), ones, none, s.list(s.dilation), groups);
  return result.contiguous(last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
}

// Convolves the images with the gradient, with stride and dilation exchanged. Images take the role of channels: (n,
// groups · in) becomes (in, groups · n), and (n, groups · out) becomes (groups · out, n).
Tensor backward_weight(const Tensor& grad_output, const Tensor& input, IntArrayRef weight_size, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Geometry s = read_backward<false>(grad_output, input, weight_size, stride, padding, dilation, groups);
  const bool last = channels_last(input);
  const int64_t n = input.size(0), in = input.size(1) / groups;
  DimVector apart{n, groups, in}, order{2, 1, 0}, joined{in, groups * n};
  for (int i = 0; i < s.spatial; i++) {
    apart.push_back(input.size(2 + i));
    order.push_back(3 + i);
    joined.push_back(input.size(2 + i));
  }
  const Tensor x = input.reshape(apart).permute(order).reshape(joined);
  Tensor result = lamella::convolution(x, grad_output.transpose(0, 1), Tensor(), s.list(s.dilation), s.list(s.padding),
                                       s.list(s.stride), groups);
  result = result.transpose(0, 1);
  for (int i = 0; i < s.spatial; i++) result = lamella::slice(result, 2 + i, 0, s.kernel[i], 1);
  return result.clone(last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
}

// Computes the gradients in `output_mask`. A transposed convolution is the backward of a plain one, so that the input
// and the gradient exchange their roles.
std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input,
                                                        const Tensor& weight, std::optional<IntArrayRef> bias_sizes,
                                                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                                        bool transposed, IntArrayRef output_padding, int64_t groups,
                                                        ArrayRef<bool> output_mask) {
  const int spatial = std::max(static_cast<int>(weight.dim()) - 2, 0);
  int64_t more[LAMELLA_MAX_DIMS];
  read_spatial("output_padding", output_padding, spatial, 0, more);
  LAMELLA_CHECK(transposed || std::all_of(more, more + spatial, [](int64_t n) { return n == 0; }),
                argument("output_padding"), ": is for transposed convolutions, got ", shape_text(output_padding));
  if (bias_sizes) {
    const int64_t channels = grad_output.dim() > 1 ? grad_output.size(1) : 0;
    LAMELLA_CHECK(bias_sizes->size() == 1 && (*bias_sizes)[0] == channels, argument("bias_sizes"),
                  ": expected the channels of grad_output, ", channels, ", got ", shape_text(*bias_sizes));
  }
  auto of_input = [&](const Tensor& grad, const Tensor& w) {
    if (transposed) return lamella::convolution(grad, w, Tensor(), stride, padding, dilation, groups);
    return lamella::_convolution_backward_input(grad, w, input.sizes(), stride, padding, dilation, groups);
  };
  auto of_weight = [&](const Tensor& grad, const Tensor& image) {
    return lamella::_convolution_backward_weight(transposed ? image : grad, transposed ? grad : image, weight.sizes(),
                                                 stride, padding, dilation, groups);
  };
  // conj(y) · g by the parts of both, as products of real numbers.
  auto product = [&](auto& of, const Tensor& y) {
    if (!y.is_complex()) return of(grad_output, y);
    const Tensor yr = lamella::real(y), yi = lamella::imag(y), gr = lamella::real(grad_output),
                 gi = lamella::imag(grad_output);
    return lamella::complex(of(gr, yr) + of(gi, yi), of(gi, yr) - of(gr, yi));
  };
  Tensor of_x, of_w, of_bias;
  if (output_mask[0]) of_x = product(of_input, weight);
  if (output_mask[1]) of_w = product(of_weight, input);
  if (output_mask[2]) {
    DimVector all{0};
    for (int64_t d = 2; d < grad_output.dim(); d++) all.push_back(d);
    of_bias = grad_output.sum(all);
  }
  return {of_x, of_w, of_bias};
}

}  // namespace

#define ARGUMENTS(n, padding)                                                                         \
  "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" #n "] stride=1, " padding ", SymInt[" #n \
  "] dilation=1, SymInt groups=1) -> Tensor"

LAMELLA_FAMILY(convolution, .category = "convolution", .forms = function) {
  return {
      {.schema = "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
                 "dilation, SymInt groups) -> Tensor",
       .dims = "n c~ ...~, o~ i~ ...~, o~ -> n o~ ...~",
       .forms = function | hidden,
       .infer = shape<infer_convolution>,
       .composite = composite<convolution>,
       .doc = R"(Sums of products of windows of images (n, c, …) with kernels (out channels, c / groups, …): what
conv1d to conv3d call.

>>> lamella.ops.aten.convolution(lamella.ones(1, 1, 3), lamella.ones(1, 1, 2), None, [1], [0], [1], 1)
tensor([[[2., 2.]]])
)"},
      {.schema = "_int_conv(Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt "
                 "groups=1, *, int zero_point=0) -> Tensor",
       .forms = function | hidden,
       .infer = shape<infer_int_conv>,
       .composite = composite<int_conv>,
       .doc = R"(The convolution of images (n, c, …) of int8 or uint8, which have one to three spatial dimensions, with
int8 kernels (out channels, c / groups, …), after `zero_point` is subtracted from the images. Padding adds nothing to a
sum. The sums are int32 and exact; sums beyond int32 wrap.

Raises:
    RuntimeError: the shapes do not fit each other, or another dtype
    ValueError: the zero point is no number of the images' dtype

>>> x = lamella.full((1, 1, 3), 255, dtype=lamella.uint8)
>>> w = lamella.full((1, 1, 2), -128, dtype=lamella.int8)
>>> lamella.ops.aten._int_conv(x, w, [1], [0], [1])
tensor([[[-65280, -65280]]], dtype=lamella.int32)
)"},
      {.schema = "conv1d" ARGUMENTS(1, "SymInt[1] padding=0"),
       .dims = "n c~ w~, o~ i~ kw~, o~ -> n o~ w~ | c~ w~, o~ i~ kw~, o~ -> o~ w~",
       .composite = composite<conv<1>>,
       .doc = R"(Sums of products of windows along the last dimension with kernels: input (n, c, length), or without
n; weight (out channels, c / groups, k).

>>> lamella.conv1d(lamella.tensor([[1., 2., 4.]]), lamella.tensor([[[1., -1.]]]))
tensor([[-1., -2.]])
)"},
      {.schema = "conv1d.padding" ARGUMENTS(1, "str padding='valid'"),
       .dims = "n c~ w~, o~ i~ kw~, o~ -> n o~ w~ | c~ w~, o~ i~ kw~, o~ -> o~ w~",
       .composite = composite<conv_named<1>>},
      {.schema = "conv2d" ARGUMENTS(2, "SymInt[2] padding=0"),
       .dims = "n c~ h~ w~, o~ i~ kh~ kw~, o~ -> n o~ h~ w~ | c~ h~ w~, o~ i~ kh~ kw~, o~ -> o~ h~ w~",
       .composite = composite<conv<2>>,
       .doc = R"(Sums of products of windows of images with kernels: input (n, c, height, width), or without n;
weight (out channels, c / groups, kernel height, kernel width). `padding` is a number, a pair,
'valid' or 'same'.

Raises:
    RuntimeError: the shapes do not fit each other

>>> lamella.conv2d(lamella.ones(1, 1, 3, 3), lamella.ones(1, 1, 2, 2), lamella.tensor([0.5]))
tensor([[[[4.5000, 4.5000],
          [4.5000, 4.5000]]]])
)"},
      {.schema = "conv2d.padding" ARGUMENTS(2, "str padding='valid'"),
       .dims = "n c~ h~ w~, o~ i~ kh~ kw~, o~ -> n o~ h~ w~ | c~ h~ w~, o~ i~ kh~ kw~, o~ -> o~ h~ w~",
       .composite = composite<conv_named<2>>},
      {.schema = "conv3d" ARGUMENTS(3, "SymInt[3] padding=0"),
       .dims = "n c~ d~ h~ w~, o~ i~ kd~ kh~ kw~, o~ -> n o~ d~ h~ w~ | "
               "c~ d~ h~ w~, o~ i~ kd~ kh~ kw~, o~ -> o~ d~ h~ w~",
       .composite = composite<conv<3>>,
       .doc = R"(Sums of products of windows of volumes with kernels: input (n, c, depth, height, width), or without n.

>>> lamella.conv3d(lamella.ones(1, 2, 2, 2), lamella.ones(1, 1, 2, 2, 2))
tensor([[[[8.]]]])
)"},
      {.schema = "conv3d.padding" ARGUMENTS(3, "str padding='valid'"),
       .dims = "n c~ d~ h~ w~, o~ i~ kd~ kh~ kw~, o~ -> n o~ d~ h~ w~ | "
               "c~ d~ h~ w~, o~ i~ kd~ kh~ kw~, o~ -> o~ d~ h~ w~",
       .composite = composite<conv_named<3>>},
      {.schema = "_convolution_backward_input(Tensor grad_output, Tensor weight, SymInt[] input_size, SymInt[] stride, "
                 "SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
       .dims = "n o~ ...~, o~ i~ ...~ -> n c ...~",
       .forms = function | hidden,
       .infer = shape<infer_backward<true>>,
       .composite = composite<backward_input>,
       .doc = "The gradient of convolution's input, which had these sizes: the transposed convolution."},
      {.schema = "_convolution_backward_weight(Tensor grad_output, Tensor input, SymInt[] weight_size, SymInt[] "
                 "stride, SymInt[] padding, SymInt[] dilation, SymInt groups) -> Tensor",
       .dims = "n o~ ...~, n c~ ...~ -> o~ i ...~",
       .forms = function | hidden,
       .infer = shape<infer_backward<false>>,
       .composite = composite<backward_weight>,
       .doc = "The gradient of convolution's weight, which had these sizes: windows of the input times grad_output."},
      {.schema = "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] "
                 "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt "
                 "groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       .dims = "n o~ ...~, n c~ ...~, a~ b~ ...~ -> n c~ ...~, a~ b~ ...~, o~",
       .forms = function | hidden,
       .composite = composite<convolution_backward>,
       .doc = R"(The gradients of convolution's input, weight and bias, as far as `output_mask` asks for them; the
others are None.

>>> g, x, w = lamella.ones(1, 1, 2), lamella.tensor([[[1., 2., 4.]]]), lamella.tensor([[[1., -1.]]])
>>> lamella.ops.aten.convolution_backward(g, x, w, [1], [1], [0], [1], False, [0], 1, [True, True, False])
(tensor([[[ 1.,  0., -1.]]]), tensor([[[3., 6.]]]), None)
)"},
  };
}

}  // namespace lamella::operators
