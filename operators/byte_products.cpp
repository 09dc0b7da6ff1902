// Linear layers whose weight is an integer. _int_mm is in matmul.cpp, _int_conv in convolution.cpp.
#include "operators/products.h"

namespace lamella::operators {
namespace {

// Returns the sizes of the result of a linear layer.
DimVector sizes_of(const Tensor& input, int64_t features) {
  DimVector sizes(input.sizes());
  sizes.pop_back();
  sizes.push_back(features);
  return sizes;
}
int64_t rows_of(const Tensor& input) {
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < input.dim(); d++) rows *= input.size(d);
  return rows;
}

// Checks a number for all, or one for each of `n` rows or columns.
void check_numbers(const Named& x, ScalarType dtype, int64_t n, bool one, const char* of) {
  if (!x.t.defined()) return;
  LAMELLA_CHECK(x.t.dtype() == dtype, argument(x.name), ": expected dtype ", dtype, ", got ", x.t.dtype());
  const bool fits = (x.t.dim() == 1 && x.t.size(0) == n) || (one && x.t.dim() <= 1 && x.t.numel() == 1);
  LAMELLA_CHECK(fits, argument(x.name), ": expected ", one ? "one number or " : "", "shape (", n, ",) for ", of,
                ", got shape ", shape_text(x.t));
}

void infer_int_linear(const Tensor& input, const Tensor& weight, const Tensor& zero_point, const Tensor& input_scale,
                      const Tensor& scale, const Tensor& bias, const Tensor& weight_sums, Output out) {
  LAMELLA_CHECK(input.dim() > 0, argument("input"), ": a zero-dim tensor has no features to multiply");
  check_ndim({"weight", weight}, 2);
  check_byte_dtypes({"input", input}, {"weight", weight});
  LAMELLA_CHECK(input.size(-1) == weight.size(1), argument("weight"), ": shape ", shape_text(weight),
                " does not end in the in features of 'input', shape ", shape_text(input));
  const int64_t features = weight.size(0), rows = rows_of(input);
  const char *columns = "the out features", *each = "the rows of 'input'";
  check_numbers({"zero_point", zero_point}, kInt32, rows, true, each);
  check_numbers({"input_scale", input_scale}, kFloat, rows, true, each);
  check_numbers({"scale", scale}, kFloat, features, true, columns);
  check_numbers({"bias", bias}, kFloat, features, false, columns);
  check_numbers({"weight_sums", weight_sums}, kInt32, features, false, columns);
  LAMELLA_CHECK(scale.defined() || (!bias.defined() && !input_scale.defined()),
                argument(bias.defined() ? "bias" : "input_scale"), ": belongs to scaled sums and needs 'scale'");
  const DimVector sizes = sizes_of(input, features);
  const ScalarType t = scale.defined() ? kFloat : kInt32;
  out.set(sizes, t);
  check_sizes("weight", sizes, t);
}

// Returns a number for each row as a column that broadcasts with (rows, features).
Tensor by_rows(const Tensor& x) { return x.numel() == 1 ? x.reshape({1, 1}) : x.reshape({x.numel(), 1}); }

Tensor int_linear(const Tensor& input, const Tensor& weight, const Tensor& zero_point, const Tensor& input_scale,
                  const Tensor& scale, const Tensor& bias, const Tensor& weight_sums) {
  const Tensor rows = input.reshape({rows_of(input), input.size(-1)});
  Tensor y = lamella::_int_mm(rows, weight.t());
  if (zero_point.defined()) {
    const Tensor sums = weight_sums.defined() ? weight_sums : weight.sum({1}, false, kInt32);
    y = y - by_rows(zero_point) * sums;
  }
  if (scale.defined()) {
    const Tensor by = input_scale.defined() ? by_rows(input_scale) * scale : scale;
    y = y.to(kFloat) * by;
    if (bias.defined()) y = y + bias;
  }
  return y.view(sizes_of(input, weight.size(0)));
}

// ---- quantized weights alone ---------------------------------------------------------------------------------------

// Returns the number of codes in a row of a weight: bytes of codes of four bits hold two.
int64_t codes_in(const Tensor& weight) { return weight.size(1) * (weight.dtype() == kUInt8 ? 2 : 1); }

void infer_weight_linear(const Tensor& input, const Tensor& weight, const Tensor& scale, const Tensor& bias,
                         Output out) {
  LAMELLA_CHECK(input.dim() > 0, argument("input"), ": a zero-dim tensor has no features to multiply");
  check_floating("input", input.dtype());
  check_ndim({"weight", weight}, 2);
  LAMELLA_CHECK(weight.dtype() == kInt8 || weight.dtype() == kUInt8, argument("weight"),
                ": expected int8, or uint8 for two numbers of four bits a byte, got ", weight.dtype());
  const int64_t features = weight.size(0), depth = codes_in(weight);
  LAMELLA_CHECK(input.size(-1) == depth, argument("weight"), ": its rows have ", depth,
                " numbers, and 'input' has shape ", shape_text(input));
  LAMELLA_CHECK(scale.dtype() == kFloat, argument("scale"), ": expected dtype float32, got ", scale.dtype());
  const bool fits = scale.dim() == 2 && scale.size(0) == features && scale.size(1) > 0 && depth % scale.size(1) == 0;
  LAMELLA_CHECK(fits, argument("scale"), ": expected shape (", features, ", groups), whose groups divide the ", depth,
                " in features, got shape ", shape_text(scale));
  if (bias.defined()) {
    LAMELLA_CHECK(bias.dtype() == input.dtype(), argument("bias"), ": its dtype ", bias.dtype(),
                  " is not that of 'input', ", input.dtype());
    check_numbers({"bias", bias}, input.dtype(), features, false, "the out features");
  }
  const DimVector sizes = sizes_of(input, features);
  out.set(sizes, input.dtype());
  check_sizes("weight", sizes, input.dtype());
}

Tensor weight_linear(const Tensor& input, const Tensor& weight, const Tensor& scale, const Tensor& bias) {
  const int64_t features = weight.size(0), depth = codes_in(weight);
  const Tensor codes =
      weight.dtype() == kInt8 ? weight : lamella::_unpack_nibbles(weight.reshape({-1}), {features, depth}, kInt8);
  const ScalarType work = input.dtype() == kDouble ? kDouble : kFloat;
  const int64_t groups = scale.size(1);
  const Tensor values = as(codes, work).reshape({features, groups, depth / groups}) * as(scale, work).unsqueeze(2);
  const Tensor y =
      lamella::linear(as(input, work), values.reshape({features, depth}), bias.defined() ? as(bias, work) : bias);
  return as(y, input.dtype());
}

}  // namespace

LAMELLA_FAMILY(byte_products, .category = "matmul", .forms = function | hidden) {
  return {
      {.schema = "_int_linear(Tensor input, Tensor weight, Tensor? zero_point=None, Tensor? input_scale=None, Tensor? "
                 "scale=None, Tensor? bias=None, Tensor? weight_sums=None) -> Tensor",
       .infer = shape<infer_int_linear>,
       .composite = composite<int_linear>,
       .doc = R"((input - zero_point) @ weight.T, where `input` is int8 or uint8 (…, in features) and `weight` int8
(out features, in features). Without a scale the result is the exact sums in int32; sums beyond int32 wrap. With one it
is float32(sums) * (input_scale * scale) + bias in float32, each operation rounded once.

Args:
    zero_point: int32, of the input: one number, or one for each of its rows; None is 0
    input_scale: float32, one number or one for each row of the input; None is 1
    scale: float32, of the weight: one number, or one for each of the out features
    bias: float32, one number for each of the out features
    weight_sums: int32, the sum of each row of the weight, which a zero point needs; None computes them

Raises:
    RuntimeError: the shapes do not fit each other, another dtype, or a bias or an input scale without a scale

>>> w = lamella.tensor([[1, 2], [3, -4]], dtype=lamella.int8)
>>> x = lamella.tensor([[10, 20]], dtype=lamella.uint8)
>>> lamella.ops.aten._int_linear(x, w)
tensor([[ 50, -50]], dtype=lamella.int32)
>>> zero = lamella.tensor(10, dtype=lamella.int32)
>>> lamella.ops.aten._int_linear(x, w, zero, None, lamella.tensor(0.5), lamella.tensor([1., 0.]))
tensor([[ 11., -20.]])
)"},
      {.schema = "_weight_linear(Tensor input, Tensor weight, Tensor scale, Tensor? bias=None) -> Tensor",
       .infer = shape<infer_weight_linear>,
       .composite = composite<weight_linear>,
       .doc = R"(input @ W.T + bias, where W is the codes of `weight`, each times its scale. `input` is floating
(…, in features). The codes are int8 (out features, in features), or four bits from -8 to 7, two a byte of uint8
(out features, in features / 2), the first in the low half.

Args:
    scale: float32 (out features, groups): each row of the weight has as many groups of neighbours with a scale each
    bias: of the input's dtype, one number for each of the out features

Raises:
    RuntimeError: the shapes do not fit each other, or another dtype

>>> w = lamella.tensor([[1, 2, 3, 4]], dtype=lamella.int8)
>>> lamella.ops.aten._weight_linear(lamella.ones(1, 4), w, lamella.tensor([[0.5, 2.0]]))
tensor([[15.5000]])
)"},
  };
}

}  // namespace lamella::operators
