// Numbers as integers with a scale and a zero point, over plain tensors: the integers of a plugin's quantized tensors.
//
// Note [Blocks]  The elements are taken in row-major order, in blocks of `inner` elements that share a scale. The scales
// follow each other, and begin anew after the last one: element i has scale ((first + i) / inner) % n of n scales. So a
// number is the scale of all elements (n = 1), of a channel (`inner` is the product of the sizes behind the channels'
// dimension) or of a group of neighbours (as many scales as groups). `first` is not 0 for elements that are a part of
// others.
//
// Note [Quotients]  Integers are those nearest to x / scale, halves to the even one, plus the zero point, and at least
// `low` and at most `high`. The quotient is rounded to float32 and to an integer; NaN becomes `low`. The values of
// integers are (integer - zero point) * scale, rounded to float32 once. Every device computes the same bits.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

int64_t numel_of(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

// Checks the scales and zero points of a tensor's blocks.
void check_scales(const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t first) {
  LAMELLA_CHECK(scale.dtype() == kFloat, argument("scale"), ": expected dtype float32, got ", scale.dtype());
  LAMELLA_CHECK(scale.dim() <= 1 && scale.numel() > 0, argument("scale"),
                ": expected one number, or one dimension with a number for each block, got shape ", shape_text(scale));
  LAMELLA_CHECK_VALUE(inner > 0, argument("inner"), ": expected a number of elements from 1 on, got ", inner);
  LAMELLA_CHECK_VALUE(first >= 0, argument("first"), ": expected a number of elements from 0 on, got ", first);
  if (!zero_point.defined()) return;
  LAMELLA_CHECK(zero_point.dtype() == kInt32, argument("zero_point"), ": expected dtype int32, got ",
                zero_point.dtype());
  LAMELLA_CHECK(zero_point.sizes() == scale.sizes(), argument("zero_point"), ": shape ", shape_text(zero_point),
                " is not that of 'scale', ", shape_text(scale));
}

bool is_code(ScalarType t) { return t == kUInt8 || t == kInt8 || t == kInt16 || t == kInt32; }

// Checks a range of integers and their dtype.
void check_codes(int64_t low, int64_t high, ScalarType dtype) {
  LAMELLA_CHECK_TYPE(is_code(dtype), argument("dtype"), ": expected uint8, int8, int16 or int32, got ", dtype);
  const int64_t bits = dtype == kInt32 ? 32 : dtype == kInt16 ? 16 : 8;
  const int64_t least = dtype == kUInt8 ? 0 : -(int64_t{1} << (bits - 1));
  const int64_t most = least + (int64_t{1} << bits) - 1;
  LAMELLA_CHECK_VALUE(least <= low && low <= high && high <= most, argument("low"), ": the integers from ", low, " to ",
                      high, " are not a range within ", dtype, ", from ", least, " to ", most);
}

void infer_quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low,
                    int64_t high, ScalarType dtype, int64_t first, Output out) {
  check_floating("self", self.dtype());
  check_scales(scale, zero_point, inner, first);
  check_codes(low, high, dtype);
  out.set(self.sizes(), dtype);
}

void infer_dequantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner,
                      ScalarType dtype, int64_t first, Output out) {
  LAMELLA_CHECK_TYPE(is_code(self.dtype()), argument("self"), ": expected uint8, int8, int16 or int32, got ",
                     self.dtype());
  check_floating("dtype", dtype);
  check_scales(scale, zero_point, inner, first);
  out.set(self.sizes(), dtype);
}

// Computes with a tensor as (repetitions, scales, elements of a block): compute(tensor). Elements in front of it and
// behind it make all blocks and repetitions whole, and are dropped again.
template <class Compute>
Tensor by_blocks(const Tensor& x, int64_t n, int64_t inner, int64_t first, Compute compute) {
  if (n == 1) return compute(x.reshape({1, 1, x.numel()})).reshape(x.sizes());
  const int64_t period = n * inner, before = first % period, all = (before + x.numel() + period - 1) / period * period;
  Tensor flat = x.reshape({-1});
  if (all != x.numel()) {
    const TensorOptions options = x.options();
    flat =
        lamella::cat({lamella::zeros({before}, options), flat, lamella::zeros({all - before - x.numel()}, options)}, 0);
  }
  const Tensor computed = compute(flat.reshape({all / period, n, inner})).reshape({-1});
  return (all != x.numel() ? computed.narrow(0, before, x.numel()).clone() : computed).reshape(x.sizes());
}
// Returns scales or zero points as (scales, 1).
Tensor by_block(const Tensor& x) { return x.reshape({x.numel(), 1}); }

Tensor quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low,
                int64_t high, ScalarType dtype, int64_t first) {
  const double least = static_cast<double>(low), most = static_cast<double>(high);
  return by_blocks(as(self, kFloat), scale.numel(), inner, first, [&](const Tensor& blocks) {
    // float32 does not hold all integers of 32 bits.
    const Tensor x = (blocks / by_block(scale)).to(kDouble).round();
    if (!zero_point.defined())
      return lamella::where(x == x, x.clamp(least, most), lamella::full({}, least, x.options())).to(dtype);
    const Tensor zero = by_block(zero_point).to(kDouble);
    return (lamella::where(x == x, x.maximum(least - zero).minimum(most - zero), least - zero) + zero).to(dtype);
  });
}

Tensor dequantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, ScalarType dtype,
                  int64_t first) {
  return by_blocks(self, scale.numel(), inner, first, [&](const Tensor& blocks) {
    const Tensor x = zero_point.defined() ? blocks.to(kLong) - by_block(zero_point) : blocks;
    return as(x.to(kFloat) * by_block(scale), dtype);
  });
}

void infer_requantize(const Tensor& self, const Tensor& scale, const Tensor& bias, int64_t inner, double out_scale,
                      int64_t zero_point, int64_t low, int64_t high, ScalarType dtype, Output out) {
  LAMELLA_CHECK(self.dtype() == kInt32, argument("self"), ": expected dtype int32, got ", self.dtype());
  check_scales(scale, Tensor(), inner, 0);
  if (bias.defined()) {
    LAMELLA_CHECK(bias.dtype() == kFloat, argument("bias"), ": expected dtype float32, got ", bias.dtype());
    LAMELLA_CHECK(bias.sizes() == scale.sizes(), argument("bias"), ": shape ", shape_text(bias),
                  " is not that of 'scale', ", shape_text(scale));
  }
  const auto narrow = static_cast<float>(out_scale);
  LAMELLA_CHECK_VALUE(narrow > 0 && std::isfinite(narrow), argument("out_scale"),
                      ": expected a positive finite number of float32, got ", out_scale);
  check_codes(low, high, dtype);
  LAMELLA_CHECK_VALUE(static_cast<int32_t>(zero_point) == zero_point, argument("zero_point"),
                      ": expected an integer of 32 bits, got ", zero_point);
  out.set(self.sizes(), dtype);
}

Tensor requantize(const Tensor& self, const Tensor& scale, const Tensor& bias, int64_t inner, double out_scale,
                  int64_t zero_point, int64_t low, int64_t high, ScalarType dtype) {
  const Tensor values = by_blocks(self, scale.numel(), inner, 0, [&](const Tensor& blocks) {
    const Tensor y = blocks.to(kFloat) * by_block(scale);
    return bias.defined() ? y + by_block(bias) : y;
  });
  const TensorOptions options = TensorOptions().device(self.device());
  return lamella::_quantize(values, lamella::full({}, out_scale, options.dtype(kFloat)),
                            lamella::full({}, zero_point, options.dtype(kInt32)), 1, low, high, dtype);
}

// ---- scales by the values ------------------------------------------------------------------------------------------

void infer_quantize_rows(const Tensor& self, int64_t low, int64_t high, ScalarType dtype, bool symmetric, Output codes,
                         Output scale, Output zero) {
  check_floating("self", self.dtype());
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": a zero-dim tensor has no rows");
  check_codes(low, high, dtype);
  LAMELLA_CHECK_VALUE(low < high, argument("low"), ": a range of codes has at least two");
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < self.dim(); d++) rows *= self.size(d);
  zero.set({rows}, kInt32);
  scale.set({rows}, kFloat);
  codes.set(self.sizes(), dtype);
}

std::tuple<Tensor, Tensor, Tensor> quantize_rows(const Tensor& self, int64_t low, int64_t high, ScalarType dtype,
                                                 bool symmetric) {
  const int64_t width = self.size(-1);
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < self.dim(); d++) rows *= self.size(d);
  const TensorOptions options = TensorOptions().device(self.device());
  const auto whole = [&](int64_t x) { return lamella::full({rows}, std::clamp(x, low, high), options.dtype(kInt32)); };
  Tensor zero = whole(symmetric ? (low + high + 1) >> 1 : 0);
  if (!self.numel())
    return {lamella::empty(self.sizes(), options.dtype(dtype)), lamella::ones({rows}, options.dtype(kFloat)), zero};
  const Tensor x = as(self, kFloat).reshape({rows, width});
  const Tensor least = x.amin({1}, false).clamp({}, 0), most = x.amax({1}, false).clamp(0);
  const double steps = static_cast<double>(high - low);
  const Tensor chosen = symmetric ? (-least).maximum(most) / (steps / 2) : (most - least) / steps;
  const Tensor good = (chosen > 0).logical_and(chosen.isfinite());
  const Tensor scale = lamella::where(good, chosen, lamella::ones({}, chosen.options()));
  if (!symmetric) {
    const Tensor steps_below = lamella::where(good, (least / scale).round(), lamella::zeros({}, scale.options()));
    zero = lamella::where(good, (low - steps_below).clamp(low, high).to(kInt32), zero);
  }
  const Tensor codes = lamella::_quantize(x, scale, zero, width, low, high, dtype);
  return {codes.reshape(self.sizes()), scale, zero};
}

// ---- numbers that stay floating --------------------------------------------------------------------------------------

void check_fake(double scale, int64_t zero_point, int64_t low, int64_t high) {
  const auto narrow = static_cast<float>(scale);
  LAMELLA_CHECK_VALUE(narrow > 0 && std::isfinite(narrow), argument("scale"),
                      ": expected a positive finite number of float32, got ", scale);
  LAMELLA_CHECK_VALUE(low <= high, argument("quant_min"), ": exceeds 'quant_max': ", low, " > ", high);
  LAMELLA_CHECK_VALUE(low <= zero_point && zero_point <= high, argument("zero_point"), ": expected an integer from ",
                      low, " to ", high, ", got ", zero_point);
}

Tensor fake_quantize(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  check_fake(scale, zero_point, quant_min, quant_max);
  return lamella::_fake_quantize(self, scale, static_cast<double>(quant_min - zero_point),
                                 static_cast<double>(quant_max - zero_point));
}

void check_fake_by(const Tensor& scale, const Tensor& zero_point, int64_t low, int64_t high) {
  check_floating("scale", scale.dtype());
  LAMELLA_CHECK(scale.sizes() == zero_point.sizes(), argument("zero_point"), ": shape ", shape_text(zero_point),
                " is not that of 'scale', ", shape_text(scale));
  LAMELLA_CHECK_VALUE(low <= high, argument("quant_min"), ": exceeds 'quant_max': ", low, " > ", high);
}

Tensor fake_by(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t low, int64_t high) {
  const ScalarType work = self.dtype() == kDouble ? kDouble : kFloat;
  const Tensor made = lamella::_fake_quantize_by(as(self, work), as(scale, work), as(zero_point, work),
                                                 static_cast<double>(low), static_cast<double>(high));
  return as(made, self.dtype());
}

Tensor fake_quantize_tensor(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,
                            int64_t quant_max) {
  check_fake_by(scale, zero_point, quant_min, quant_max);
  LAMELLA_CHECK(scale.numel() == 1, argument("scale"), ": expected one number, got shape ", shape_text(scale));
  return fake_by(self, scale.reshape({}), zero_point.reshape({}), quant_min, quant_max);
}

// Returns scales of channels in a shape that broadcasts with the tensor.
Tensor along(const Tensor& x, const Tensor& self, int64_t axis) {
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[axis] = x.numel();
  return x.reshape(sizes);
}

int64_t check_channels_of(const Tensor& self, const Tensor& scale, int64_t axis) {
  const int64_t at = wrap_dim("axis", axis, self.dim());
  LAMELLA_CHECK(self.dim() && scale.dim() == 1 && scale.numel() == self.size(at), argument("scale"),
                ": expected a number for each index along dimension ", at, " of shape ", shape_text(self),
                ", got shape ", shape_text(scale));
  return at;
}

Tensor fake_quantize_channel(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis,
                             int64_t quant_min, int64_t quant_max) {
  check_fake_by(scale, zero_point, quant_min, quant_max);
  const int64_t at = check_channels_of(self, scale, axis);
  return fake_by(self, along(scale, self, at), along(zero_point, self, at), quant_min, quant_max);
}

// A number whose gradient is `factor` times that of x.
Tensor with_gradient_times(const Tensor& x, double factor) {
  return factor == 1 ? x : lamella::_scale_gradient(x, factor);
}

Tensor learnable_tensor(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,
                        int64_t quant_max, double grad_factor) {
  return fake_quantize_tensor(self, with_gradient_times(scale, grad_factor),
                              with_gradient_times(zero_point, grad_factor), quant_min, quant_max);
}
Tensor learnable_channel(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis,
                         int64_t quant_min, int64_t quant_max, double grad_factor) {
  return fake_quantize_channel(self, with_gradient_times(scale, grad_factor),
                               with_gradient_times(zero_point, grad_factor), axis, quant_min, quant_max);
}

void infer_scale_gradient(const Tensor& self, double, Output out) { out.like(self); }
Tensor scale_gradient(const Tensor& self, double) { return self.clone(); }

// ---- four bits ---------------------------------------------------------------------------------------------------

void infer_pack_nibbles(const Tensor& self, Output out) {
  LAMELLA_CHECK(self.dtype() == kInt8 || self.dtype() == kUInt8, argument("self"),
                ": expected dtype int8 or uint8, got ", self.dtype());
  out.set({(self.numel() + 1) / 2}, kUInt8);
}

void infer_unpack_nibbles(const Tensor& self, IntArrayRef size, ScalarType dtype, Output out) {
  LAMELLA_CHECK(self.dtype() == kUInt8, argument("self"), ": expected dtype uint8, got ", self.dtype());
  LAMELLA_CHECK_TYPE(dtype == kInt8 || dtype == kUInt8, argument("dtype"), ": expected int8 or uint8, got ", dtype);
  check_sizes("size", size, dtype);
  LAMELLA_CHECK((numel_of(size) + 1) / 2 == self.numel(), argument("size"), ": ", numel_of(size),
                " numbers of four bits, of shape ", shape_text(size), ", are not in ", self.numel(), " bytes");
  out.set(size, dtype);
}

Tensor pack_nibbles(const Tensor& self) {
  Tensor flat = self.reshape({-1}).view(kUInt8);
  if (self.numel() % 2) flat = lamella::cat({flat, lamella::zeros({1}, flat.options())}, 0);
  const Tensor pairs = flat.reshape({flat.numel() / 2, 2}).bitwise_and(15);
  return pairs.select(1, 0) + pairs.select(1, 1) * 16;
}

Tensor unpack_nibbles(const Tensor& self, IntArrayRef size, ScalarType dtype) {
  const Tensor bytes = self.reshape({-1});
  const Tensor both = lamella::stack({bytes.bitwise_and(15), bytes.bitwise_right_shift(4)}, 1).reshape({-1});
  const Tensor numbers = both.narrow(0, 0, numel_of(size)).reshape(size);
  return dtype == kUInt8 ? numbers : (numbers.bitwise_xor(8).view(kInt8) - 8);
}

}  // namespace

LAMELLA_FAMILY(quantization, .category = "copy", .forms = function | hidden) {
  return {
      {.schema = "_quantize(Tensor self, Tensor scale, Tensor? zero_point, int inner, int low, int high, "
                 "ScalarType dtype, int first=0) -> Tensor",
       .forms = function | hidden | out,
       .infer = shape<infer_quantize>,
       .composite = composite<quantize>,
       .doc = R"(The integers nearest to self / scale, halves to the even one, plus the zero point, within [low, high].
The quotient is rounded to float32. Infinities become the ends of the range, NaN becomes `low`.

Args:
    self: floating numbers; what is not float32 is converted to it first
    scale: float32, one number, or one for each block of `inner` elements in row-major order; after the last one they
        begin anew. The scales of the channels of images (N, C, H, W) have `inner` = H * W, those of rows their length
    zero_point: int32, of the shape of `scale`; None is 0
    dtype: of the result: uint8, int8, int16 or int32
    first: elements of the first block that lie in front of `self`

Raises:
    RuntimeError: the scales have another dtype, or more than one dimension, or the zero points another shape
    ValueError: `low` and `high` are no range within the dtype, `inner` is not positive, or `first` is negative

>>> x = lamella.tensor([[-1.0, 0.25, 2.0], [0.5, 1.5, 9.0]])
>>> lamella.ops.aten._quantize(x, lamella.tensor([0.5, 0.25]), None, 3, -128, 127, lamella.int8)
tensor([[-2,  0,  4],
        [ 2,  6, 36]], dtype=lamella.int8)
)"},
      {.schema = "_dequantize(Tensor self, Tensor scale, Tensor? zero_point, int inner, ScalarType dtype, int "
                 "first=0) -> Tensor",
       .forms = function | hidden | out,
       .infer = shape<infer_dequantize>,
       .composite = composite<dequantize>,
       .doc = R"((self - zero_point) * scale, rounded to float32, in a floating dtype. `scale`, `zero_point`,
`inner` and `first` are those of _quantize.

Raises:
    RuntimeError: the scales have another dtype, or more than one dimension, or the zero points another shape
    TypeError: `self` is not of uint8, int8, int16 or int32

>>> integers = lamella.tensor([[-2, 0, 4], [2, 6, 36]], dtype=lamella.int8)
>>> lamella.ops.aten._dequantize(integers, lamella.tensor([0.5, 0.25]), None, 3, lamella.float32)
tensor([[-1.0000,  0.0000,  2.0000],
        [ 0.5000,  1.5000,  9.0000]])
)"},
      {.schema = "_requantize(Tensor self, Tensor scale, Tensor? bias, int inner, float out_scale, int zero_point, int "
                 "low, int high, ScalarType dtype) -> Tensor",
       .infer = shape<infer_requantize>,
       .composite = composite<requantize>,
       .doc = R"(The codes of sums of products, as _quantize gives them for float32(self) * scale + bias by `out_scale`
and `zero_point`. Each operation is rounded to float32 once.

Args:
    self: int32
    scale: float32, one number, or one for each block of `inner` elements, as those of _quantize
    bias: float32, of the shape of `scale`; None is 0

Raises:
    RuntimeError: another dtype, or a bias of another shape
    ValueError: `low` and `high` are no range within the dtype, `inner` is not positive, or a number of the result's
        scheme is none

>>> sums = lamella.tensor([[100, -20], [7, 9]], dtype=lamella.int32)
>>> scale, bias = lamella.tensor([0.5, 0.25]), lamella.tensor([1., 0.])
>>> lamella.ops.aten._requantize(sums, scale, bias, 1, 0.5, 10, 0, 255, lamella.uint8)
tensor([[112,   0],
        [ 19,  14]], dtype=lamella.uint8)
)"},
      {.schema = "_quantize_rows(Tensor self, int low, int high, ScalarType dtype, bool symmetric=False) -> (Tensor, "
                 "Tensor, Tensor)",
       .infer = shape<infer_quantize_rows>,
       .composite = composite<quantize_rows>,
       .doc = R"(Quantizes each row of a tensor, which is the elements along its last dimension, by the row's least and
greatest values, widened to contain 0. An affine scale is (greatest - least) / (high - low), and the zero point
low - round(least / scale) within the range; a symmetric scale is the greatest magnitude / ((high - low) / 2), with the
middle of the range as zero point. A row of zeros has scale 1. All operations round to float32.

Args:
    self: floating, with at least one dimension; what is not float32 is converted to it first
    dtype: of the codes: uint8, int8, int16 or int32

Returns:
    the codes, in the shape of `self`; the scales, float32, and the zero points, int32, one for each row

>>> codes, scale, zero = lamella.ops.aten._quantize_rows(lamella.tensor([[-1., 0., 3.]]), 0, 255, lamella.uint8)
>>> codes, zero
(tensor([[  0,  64, 255]], dtype=lamella.uint8), tensor([64], dtype=lamella.int32))
)"},
      {.schema = "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int "
                 "quant_max) -> Tensor",
       .dims = "broadcast",
       .forms = function,
       .composite = composite<fake_quantize>,
       .doc = R"(The values that quantizing and dequantizing gives: (code - zero_point) * scale, where the code is
round(self / scale) + zero_point within [quant_min, quant_max]; halves are rounded to even. The gradient passes
unchanged where the code was within the range, and is 0 elsewhere.

Raises:
    ValueError: the scale is not positive and finite, or the zero point is not within the range

>>> lamella.fake_quantize_per_tensor_affine(lamella.tensor([-1., 0.3, 9.]), 0.5, 2, 0, 7)
tensor([-1.0000,  0.5000,  2.5000])
)"},
      {.schema = "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int "
                 "quant_min, int quant_max) -> Tensor",
       .forms = function,
       .composite = composite<fake_quantize_tensor>},
      {.schema = "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
                 "quant_min, int quant_max) -> Tensor",
       .forms = function,
       .composite = composite<fake_quantize_channel>,
       .doc = R"(fake_quantize_per_tensor_affine with a scale and a zero point for each index along a dimension.

Args:
    scale: floating, one positive number for each index along `axis`
    zero_point: integers or floating integers, of the shape of `scale`

Raises:
    RuntimeError: the shapes do not fit

>>> x = lamella.tensor([[0.3, 9.0], [0.3, 9.0]])
>>> lamella.fake_quantize_per_channel_affine(x, lamella.tensor([0.5, 2.0]), lamella.tensor([0, 0]), 0, -8, 7)
tensor([[0.5000, 3.5000],
        [0.0000, 8.0000]])
)"},
      {.schema = "_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int "
                 "quant_min, int quant_max, float grad_factor=1.0) -> Tensor",
       .composite = composite<learnable_tensor>,
       .doc = "fake_quantize_per_tensor_affine with gradients for the scale and the zero point, which are tensors of "
              "one number, times `grad_factor` (Esser et al., \"Learned Step Size Quantization\")."},
      {.schema = "_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, "
                 "int quant_min, int quant_max, float grad_factor=1.0) -> Tensor",
       .composite = composite<learnable_channel>,
       .doc = "fake_quantize_per_channel_affine with gradients for the scales and the zero points, times "
              "`grad_factor`."},
      {.schema = "_scale_gradient(Tensor self, float factor) -> Tensor",
       .dims = "broadcast",
       .infer = shape<infer_scale_gradient>,
       .composite = composite<scale_gradient>,
       .doc = "A copy of self, whose gradient is multiplied by `factor`."},
      {.schema = "_pack_nibbles(Tensor self) -> Tensor",
       .infer = shape<infer_pack_nibbles>,
       .composite = composite<pack_nibbles>,
       .doc =
           R"(The low four bits of each element, int8 or uint8, in row-major order, two a byte: the first of a pair is
the low half. The last byte of an odd number of elements has 0 in its high half.

>>> lamella.ops.aten._pack_nibbles(lamella.tensor([1, 2, -1], dtype=lamella.int8))
tensor([33, 15], dtype=lamella.uint8)
)"},
      {.schema = "_unpack_nibbles(Tensor self, int[] size, ScalarType dtype) -> Tensor",
       .infer = shape<infer_unpack_nibbles>,
       .composite = composite<unpack_nibbles>,
       .doc =
           R"(The numbers of four bits that _pack_nibbles put into bytes: from -8 to 7 in int8, from 0 to 15 in uint8.

Raises:
    RuntimeError: self does not have one byte for every two numbers of size

>>> bytes = lamella.tensor([33, 15], dtype=lamella.uint8)
>>> lamella.ops.aten._unpack_nibbles(bytes, [3], lamella.int8)
tensor([ 1,  2, -1], dtype=lamella.int8)
)"},
  };
}

}  // namespace lamella::operators
