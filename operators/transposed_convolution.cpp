// Transposed convolutions, conv_transpose1d to conv_transpose3d: the input's gradient of a convolution as a function.
// Also conv_tbc.
#include "operators/windows.h"

namespace lamella::operators {
namespace {

struct Transposed {
  int64_t stride[3], padding[3], more[3], dilation[3], size[3];
};

// Checks the arguments and computes the sizes of the result.
template <int Spatial>
Transposed read_transposed(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  LAMELLA_CHECK(weight.dim() == Spatial + 2, argument("weight"), ": expected ", Spatial + 2,
                " dimensions (in channels, out channels / groups, …), got shape ", shape_text(weight));
  LAMELLA_CHECK(input.dim() == Spatial + 1 || input.dim() == Spatial + 2, argument("input"), ": expected ", Spatial + 2,
                " dimensions, or ", Spatial + 1, " without a batch, got shape ", shape_text(input));
  Transposed t;
  read_spatial("stride", stride, Spatial, 1, t.stride);
  read_spatial("padding", padding, Spatial, 0, t.padding);
  read_spatial("output_padding", output_padding, Spatial, 0, t.more);
  read_spatial("dilation", dilation, Spatial, 1, t.dilation);
  check_channels("input", input.sizes(), input.dim() - Spatial - 1, "weight", weight.sizes(), 0, 1);
  LAMELLA_CHECK(groups >= 1 && weight.size(0) % groups == 0, argument("groups"), ": expected a divisor of ",
                weight.size(0), ", the in channels in dimension 0 of 'weight', got ", groups);
  LAMELLA_CHECK(weight.dtype() == input.dtype(), argument("weight"), ": its dtype ", weight.dtype(), " is not ",
                input.dtype(), ", that of 'input'; convert one with .to(...)");
  LAMELLA_CHECK(!bias.defined() || bias.dtype() == input.dtype(), argument("bias"), ": its dtype ", bias.dtype(),
                " is not ", input.dtype(), ", that of 'input'; convert one with .to(...)");
  const int64_t outs = weight.size(1) * groups;
  LAMELLA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == outs), argument("bias"), ": expected shape (",
                outs, ",), got shape ", shape_text(bias));
  for (int i = 0; i < Spatial; i++) {
    LAMELLA_CHECK(t.more[i] < t.stride[i] || t.more[i] < t.dilation[i], argument("output_padding"), ": ", t.more[i],
                  " must be smaller than the stride, ", t.stride[i], ", or the dilation, ", t.dilation[i]);
    const int64_t n = input.size(i - Spatial), k = weight.size(2 + i);
    LAMELLA_CHECK(k >= 1 && n >= 1, argument(k < 1 ? "weight" : "input"), ": shape ",
                  shape_text(k < 1 ? weight : input), " has no elements along a spatial dimension");
    t.size[i] = (n - 1) * t.stride[i] - 2 * t.padding[i] + t.dilation[i] * (k - 1) + t.more[i] + 1;
    LAMELLA_CHECK(t.size[i] >= 1, argument("padding"), ": ", t.padding[i], " takes away all of the ",
                  t.size[i] + 2 * t.padding[i], " places along spatial dimension ", i);
  }
  return t;
}

// Multiplies the parts of complex numbers: the convolution's backward takes real ones only.
template <class Product>
Tensor by_parts(const Tensor& x, const Tensor& w, Product&& product) {
  if (!x.is_complex()) return product(x, w);
  const Tensor xr = lamella::real(x), xi = lamella::imag(x), wr = lamella::real(w), wi = lamella::imag(w);
  return lamella::complex(product(xr, wr) - product(xi, wi), product(xr, wi) + product(xi, wr));
}

// With an output padding of a stride or more, a convolution over the result would have more places than the input has:
// the input gets zeros there.
template <int Spatial>
Tensor conv_transpose(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  const Transposed t = read_transposed<Spatial>(input, weight, bias, stride, padding, output_padding, groups, dilation);
  const bool batched = input.dim() == Spatial + 2;
  Tensor x = batched ? input : input.unsqueeze(0);
  DimVector sizes{x.size(0), weight.size(1) * groups};
  for (int i = 0; i < Spatial; i++) {
    sizes.push_back(t.size[i]);
    x = padded_along(x, 2 + i, 0, t.more[i] / t.stride[i]);
  }
  Tensor result = by_parts(x, weight, [&](const Tensor& part, const Tensor& w) {
    return lamella::_convolution_backward_input(part, w, sizes, IntArrayRef(t.stride, Spatial),
                                                IntArrayRef(t.padding, Spatial), IntArrayRef(t.dilation, Spatial),
                                                groups);
  });
  if (bias.defined()) {
    DimVector one{1, bias.size(0)};
    for (int i = 0; i < Spatial; i++) one.push_back(1);
    result = result + bias.reshape(one);
  }
  return batched ? result : result.squeeze(0);
}

// Takes dimensions in the order (time, batch, channels), unlike the other convolutions.
Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  LAMELLA_CHECK(self.dim() == 3, argument("self"), ": expected (time, batch, in channels), got shape ",
                shape_text(self));
  LAMELLA_CHECK(weight.dim() == 3, argument("weight"), ": expected (kernel, in channels, out channels), got shape ",
                shape_text(weight));
  check_channels("self", self.sizes(), 2, "weight", weight.sizes(), 1, 1);
  LAMELLA_CHECK(bias.dim() == 1 && bias.size(0) == weight.size(2), argument("bias"), ": expected shape (",
                weight.size(2), ",), got shape ", shape_text(bias));
  return lamella::conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, {1}, {pad}).permute({2, 0, 1});
}

}  // namespace

#define ARGUMENTS(n)                                                                                               \
  "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" #n "] stride=1, SymInt[" #n "] padding=0, SymInt[" #n \
  "] output_padding=0, SymInt groups=1, SymInt[" #n "] dilation=1) -> Tensor"

LAMELLA_FAMILY(transposed_convolution, .category = "convolution", .forms = function) {
  return {
      {.schema = "conv_transpose1d" ARGUMENTS(1),
       .dims = "n c~ w~, i~ o~ kw~, p~ -> n p~ w~ | c~ w~, i~ o~ kw~, p~ -> p~ w~",
       .composite = composite<conv_transpose<1>>,
       .doc = R"(The transposed convolution along the last dimension: each element of the input (n, c, length), or
without n, adds its multiple of the kernel to the result. See conv_transpose2d.input.

>>> lamella.conv_transpose1d(lamella.tensor([[1., 2.]]), lamella.tensor([[[1., 10.]]]), stride=2)
tensor([[ 1., 10.,  2., 20.]])
)"},
      {.schema = "conv_transpose2d.input" ARGUMENTS(2),
       .dims = "n c~ h~ w~, i~ o~ kh~ kw~, p~ -> n p~ h~ w~ | c~ h~ w~, i~ o~ kh~ kw~, p~ -> p~ h~ w~",
       .composite = composite<conv_transpose<2>>,
       .doc = R"(The transposed convolution of images (n, c, height, width), or without n: each pixel adds its
multiple of the kernel to the result, `stride` places further for each pixel; `weight` is (c, out
channels / groups, kernel height, kernel width). `padding` places are cut off around the result, and
`output_padding` are added behind it: a size is (n - 1) * stride - 2 * padding + dilation * (k - 1)
+ output_padding + 1.

Raises:
    RuntimeError: the shapes do not fit each other, or output_padding is neither smaller than the
        stride nor than the dilation

>>> lamella.conv_transpose2d(lamella.ones(1, 1, 2), lamella.ones(1, 1, 2, 2))
tensor([[[1., 2., 1.],
         [1., 2., 1.]]])
)"},
      {.schema = "conv_transpose3d.input" ARGUMENTS(3),
       .dims = "n c~ d~ h~ w~, i~ o~ kd~ kh~ kw~, p~ -> n p~ d~ h~ w~ | "
               "c~ d~ h~ w~, i~ o~ kd~ kh~ kw~, p~ -> p~ d~ h~ w~",
       .composite = composite<conv_transpose<3>>,
       .doc = R"(The transposed convolution of volumes (n, c, depth, height, width), or without n. See
conv_transpose2d.input.

>>> lamella.conv_transpose3d(lamella.ones(1, 1, 1, 2), lamella.ones(1, 1, 1, 1, 2))
tensor([[[[1., 2., 1.]]]])
)"},
      {.schema = "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
       .dims = "t~ n i, k~ i o, o -> t~ n o",
       .composite = composite<conv_tbc>,
       .doc = R"(conv1d of an input (time, batch, c) with a weight (kernel, c, out channels).

>>> lamella.conv_tbc(lamella.ones(3, 1, 1), lamella.ones(2, 1, 1), lamella.zeros(1)).flatten()
tensor([2., 2.])
)"},
  };
}

}  // namespace lamella::operators
