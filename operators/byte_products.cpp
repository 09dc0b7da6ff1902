// Linear layers whose weight is int8. _int_mm is in matmul.cpp, _int_conv in convolution.cpp.
#include "operators/products.h"

namespace lamella::operators {
namespace {

void infer_pack(const Tensor& weight, Output out) {
  check_ndim({"weight", weight}, 2);
  LAMELLA_CHECK(weight.dtype() == kInt8, argument("weight"), ": expected dtype int8, got ", weight.dtype());
  out.set({weight.size(1), weight.size(0)}, kInt8);
}

// Checks the scale or the bias of sums with `features` columns.
void check_factors(const Named& x, int64_t features, bool one) {
  LAMELLA_CHECK(x.t.dtype() == kFloat, argument(x.name), ": expected dtype float32, got ", x.t.dtype());
  const bool fits = (x.t.dim() == 1 && x.t.size(0) == features) || (one && x.t.dim() <= 1 && x.t.numel() == 1);
  LAMELLA_CHECK(fits, argument(x.name), ": expected ", one ? "one number or " : "", "shape (", features,
                ",) for the out features of 'packed', got shape ", shape_text(x.t));
}

void infer_int_linear(const Tensor& input, const Tensor& packed, const Tensor& scale, const Tensor& bias, Output out) {
  LAMELLA_CHECK(input.dim() > 0, argument("input"), ": a zero-dim tensor has no features to multiply");
  check_ndim({"packed", packed}, 2);
  check_byte_dtypes({"input", input}, {"packed", packed});
  LAMELLA_CHECK(input.size(-1) == packed.size(0), argument("packed"), ": shape ", shape_text(packed),
                " does not begin with the in features of 'input', shape ", shape_text(input),
                "; _pack_int_weight makes it of a weight (out features, in features)");
  const int64_t features = packed.size(1);
  if (scale.defined()) check_factors({"scale", scale}, features, true);
  LAMELLA_CHECK(scale.defined() || !bias.defined(), argument("bias"),
                ": is added to scaled sums and needs 'scale'; add an int32 tensor to the result instead");
  if (bias.defined()) check_factors({"bias", bias}, features, false);
  DimVector sizes(input.sizes());
  sizes.pop_back();
  sizes.push_back(features);
  const ScalarType t = scale.defined() ? kFloat : kInt32;
  out.set(sizes, t);
  check_sizes("packed", sizes, t);
}

// The copy is never a view of the weight, also if the weight's transpose is contiguous.
Tensor pack(const Tensor& weight) { return weight.t().clone(MemoryFormat::Contiguous); }

Tensor int_linear(const Tensor& input, const Tensor& packed, const Tensor& scale, const Tensor& bias) {
  DimVector sizes(input.sizes());
  sizes.pop_back();
  int64_t rows = 1;
  for (int64_t n : sizes) rows *= n;
  sizes.push_back(packed.size(1));
  const Tensor sums = lamella::_int_mm(input.reshape({rows, input.size(-1)}), packed).view(sizes);
  if (!scale.defined()) return sums;
  const Tensor scaled = sums.to(kFloat) * scale;
  return bias.defined() ? scaled + bias : scaled;
}

}  // namespace

LAMELLA_FAMILY(byte_products, .category = "matmul", .forms = function | hidden) {
  return {
      {.schema = "_pack_int_weight(Tensor weight) -> Tensor",
       .infer = shape<infer_pack>,
       .composite = composite<pack>,
       .doc = R"(The weight of a linear layer, int8 (out features, in features), as _int_linear reads it fastest on the
cpu: its transpose as a contiguous copy. Pack a weight once and use the result in each call.

Raises:
    RuntimeError: the weight has another dtype or other than two dimensions

>>> lamella.ops.aten._pack_int_weight(lamella.tensor([[1, 2, 3], [4, 5, 6]], dtype=lamella.int8))
tensor([[1, 4],
        [2, 5],
        [3, 6]], dtype=lamella.int8)
)"},
      {.schema = "_int_linear(Tensor input, Tensor packed, Tensor? scale=None, Tensor? bias=None) -> Tensor",
       .infer = shape<infer_int_linear>,
       .composite = composite<int_linear>,
       .doc = R"(input @ packed, where `input` is int8 or uint8 (…, in features) and `packed` comes from
_pack_int_weight. Without a scale the result is the exact sums in int32; sums beyond int32 wrap.
With one it is sums * scale + bias in float32.

Args:
    scale: float32, one number or one for each of the out features
    bias: float32, one number for each of the out features

Raises:
    RuntimeError: the shapes do not fit each other, another dtype, or a bias without a scale

>>> packed = lamella.ops.aten._pack_int_weight(lamella.tensor([[1, 2], [3, -4]], dtype=lamella.int8))
>>> x = lamella.tensor([[10, 20]], dtype=lamella.uint8)
>>> lamella.ops.aten._int_linear(x, packed)
tensor([[ 50, -50]], dtype=lamella.int32)
>>> lamella.ops.aten._int_linear(x, packed, lamella.tensor(0.5), lamella.tensor([1., 0.]))
tensor([[ 26., -25.]])
)"},
  };
}

}  // namespace lamella::operators
