// Linear layers and convolutions. The sums of products of integers are exact in int32.
//
// Note [Results of products]  With the scale sx and the zero point zx of the input, and the scales sw and zero points zw
//   of the weight, a result is float32(sum of (x - zx) * (w - zw)) * (sx * sw) + bias, each operation rounded to
//   float32; its code follows by the scale of the result. A convolution by a weight with zero points other than 0 is
//   computed by values.
#include "calls.h"
#include "rules.h"

namespace lamella::quantization {
namespace {

// ---- operands ------------------------------------------------------------------------------------------------------

// The codes of a weight, (out features, …), with one scale or one for each of the out features.
struct Weight {
  Tensor codes;  // int8, in the weight's shape
  Tensor scale;  // float32, one dimension
  Tensor zero;   // int32, of the shape of `scale`; undefined: 0
};

// Returns whether a tensor is the whole memory of its scheme, row by row.
bool is_whole(const Tensor& t, const Scheme& s) {
  return t.is_contiguous() && t.storage_offset() == 0 && s.first == 0 && t.numel() == s.count && t.numel() > 0;
}

// Returns the codes of a weight of at most eight bits; none for another scheme.
std::optional<Weight> byte_weight(const Tensor& t) {
  const Scheme& s = scheme_in(t);
  if (!s.type->is_integer() || s.type->bits > 8 || t.dim() < 2 || !is_whole(t, s)) return std::nullopt;
  const int64_t features = t.size(0);
  if (s.scales.defined() && (s.grouped || s.number() != features || s.inner * features != t.numel()))
    return std::nullopt;
  Weight w{s.codes(0, t.numel()).view(t.sizes()), s.scale_tensor(t.device()), s.zero_tensor(t.device())};
  if (s.type->code == kByte && s.type->bits == 4) w.codes = w.codes.view(kChar);  // from 0 to 15
  if (s.type->code == kByte && s.type->bits == 8) {  // products take signed weights: 128 is subtracted from all numbers
    w.codes = w.codes.bitwise_xor(128).view(kChar);
    w.zero = (w.zero.defined() ? w.zero : lamella::zeros_like(w.scale).to(kInt)) - 128;
  }
  return w;
}

// The codes of an input, int8 or uint8, with one scale.
std::optional<Tensor> byte_input(const Tensor& t) {
  const Scheme& s = scheme_in(t);
  if (s.scales.defined() || !s.type->is_integer() || s.type->bits != 8 || !t.numel()) return std::nullopt;
  const Span span(t);
  const Tensor flat = s.codes(span.begin, span.n);
  return flat.as_strided(t.sizes(), t.strides(), flat.storage_offset());
}

void check_bias(const lamella_operator* op, const Tensor& bias) {
  const Scheme* b = bias.defined() ? scheme_of(bias) : nullptr;
  if (b) no_rule(op, "bias", *b, "; a bias stays in floating numbers");
}

Tensor as_float(const Tensor& bias) { return bias.defined() ? bias.to(kFloat) : bias; }

// Makes the result of a product from its values, which are overwritten.
Tensor result_of(const Tensor& values, std::shared_ptr<Scheme> to, ScalarType dtype, bool relu) {
  return from_values(relu ? values.relu_() : values, std::move(to), dtype);
}

// Returns whether a scheme has one scale for integers, as the operator _requantize gives them.
bool takes_codes(const Scheme& to) { return !to.scales.defined() && to.type->is_integer(); }

// Makes the result of a product from its sums, where `inner` neighbours share a channel, which has a scale and a bias.
Tensor requantized(const Tensor& sums, Tensor scale, const Tensor& bias, int64_t inner, std::shared_ptr<Scheme> to,
                   bool relu, ScalarType dtype) {
  const Tensor added = as_float(bias);
  if (added.defined() && scale.numel() != added.numel()) scale = scale.expand({added.numel()}).contiguous();
  const int64_t low = relu ? std::clamp<int64_t>(to->zero, to->low, to->high) : to->low;
  const Tensor codes =
      lamella::_requantize(sums, scale, added, inner, to->scale, to->zero, low, to->high, to->type->code);
  return from_codes(codes, std::move(to), dtype);
}

// ---- linear layers -------------------------------------------------------------------------------------------------

// Returns the values of a linear layer of codes with scales and zero points: one, or one for each row.
Tensor exact_linear(const Tensor& codes, const Tensor& scale, const Tensor& zero, const Weight& w, const Scheme& of_w,
                    const Tensor& bias) {
  const Tensor sums_of_w = zero.defined() ? of_w.row_sums(w.codes) : Tensor();
  if (!w.zero.defined()) return lamella::_int_linear(codes, w.codes, zero, scale, w.scale, as_float(bias), sums_of_w);
  // The sum of (x - zx) * zw is subtracted: that of the row of x, times zw.
  const auto by_row = [&](const Tensor& t) {
    DimVector sizes(codes.sizes());
    sizes[sizes.size() - 1] = 1;
    return t.numel() == 1 ? t.reshape({}) : t.view(sizes);
  };
  Tensor rows = codes.sum({-1}, true, kInt);
  if (zero.defined()) rows = rows - by_row(zero) * codes.size(-1);
  const Tensor sums = lamella::_int_linear(codes, w.codes, zero, {}, {}, {}, sums_of_w) - rows * w.zero;
  const Tensor y = sums.to(kFloat) * (by_row(scale) * w.scale);
  return bias.defined() ? y + as_float(bias) : y;
}

// A linear layer of a quantized input, to the scheme `to`.
Tensor static_linear(const lamella_operator* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                     std::shared_ptr<Scheme> to, bool relu) {
  const Scheme& x = scheme_in(input);
  const Scheme* w = scheme_of(weight);
  if (!w) no_rule(op, "input", x, " beside a weight that is not quantized: quantize the weight as well");
  check_bias(op, bias);
  const std::optional<Tensor> codes = byte_input(input);
  const std::optional<Weight> by = weight.dim() == 2 ? byte_weight(weight) : std::nullopt;
  if (codes && by && input.dim() && input.size(-1) == weight.size(1)) {
    record(op, Way::native, x);
    const Device device = input.device();
    const Tensor zero = x.zero_tensor(device);
    if (!by->zero.defined() && takes_codes(*to)) {
      const Tensor sums_of_w = zero.defined() ? w->row_sums(by->codes) : Tensor();
      const Tensor sums = lamella::_int_linear(*codes, by->codes, zero, {}, {}, {}, sums_of_w);
      return requantized(sums, x.scale_tensor(device) * by->scale, bias, 1, std::move(to), relu, input.dtype());
    }
    const Tensor y = exact_linear(*codes, x.scale_tensor(device), zero, *by, *w, bias);
    return result_of(y, std::move(to), input.dtype(), relu);
  }
  record(op, Way::composite, x);
  const Tensor y = lamella::linear(dequantized(input), dequantized(weight).to(input.dtype()), bias);
  return result_of(y, std::move(to), input.dtype(), relu);
}

// A linear layer whose weight alone is quantized.
Tensor weight_linear(const lamella_operator* op, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Scheme& w = scheme_in(weight);
  check_bias(op, bias);
  const bool rows = weight.dim() == 2 && is_whole(weight, w) && w.type->is_integer() && w.type->code == kChar &&
                    w.type->bits <= 8 && w.is_symmetric() && input.is_floating_point();
  const int64_t features = rows ? weight.size(0) : 0, depth = rows ? weight.size(1) : 0, n = w.number();
  const bool fits = rows && (n == 1 || (n % features == 0 && w.inner * (n / features) == depth));
  if (fits && (w.type->bits == 8 || depth % 2 == 0)) {
    record(op, Way::native, w);
    const Tensor scale = w.scale_tensor(weight.device());
    return lamella::_weight_linear(
        input, w.memory.view({features, w.memory.numel() / features}),
        n == 1 ? scale.expand({features}).reshape({features, 1}) : scale.view({features, n / features}), bias);
  }
  record(op, Way::composite, w);
  return lamella::linear(input, dequantized(weight).to(input.dtype()), bias);
}

Tensor linear_rule(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (const Tensor y = by_own_kernel(f, {value(input), value(weight), value(bias)}); y.defined()) return y;
  const Scheme* x = scheme_of(input);
  if (!x && scheme_of(weight)) return weight_linear(f->op, input, weight, bias);
  if (!x) no_rule(f->op, "bias", scheme_in(bias));
  if (!scheme_of(weight))
    no_rule(f->op, "input", *x, " beside a weight that is not quantized: quantize the weight as well");
  std::shared_ptr<Scheme> to = result_scheme(*x);
  if (!to) no_result_scheme(f->op, *x);
  return static_linear(f->op, input, weight, bias, std::move(to), false);
}

Tensor mm_rule(lamella_frame* f, const Tensor& self, const Tensor& mat2) {
  if (const Tensor y = by_own_kernel(f, {value(self), value(mat2)}); y.defined()) return y;
  const Scheme *x = scheme_of(self), *w = scheme_of(mat2);
  if (x && w) {
    std::shared_ptr<Scheme> to = result_scheme(*x);
    if (!to) no_result_scheme(f->op, *x);
    record(f->op, Way::composite, *x);
    return from_values(dequantized(self).mm(dequantized(mat2)), std::move(to), self.dtype());
  }
  if (w && mat2.dim() == 2 && is_whole(mat2.t(), *w)) return weight_linear(f->op, self, mat2.t(), {});
  record(f->op, Way::composite, x ? *x : *w);
  return dequantized(self).mm(dequantized(mat2));
}

// ---- convolutions --------------------------------------------------------------------------------------------------

Tensor static_conv(const lamella_operator* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups,
                   std::shared_ptr<Scheme> to, bool relu) {
  const Scheme& x = scheme_in(input);
  const Scheme* w = scheme_of(weight);
  if (!w) no_rule(op, "input", x, " beside a weight that is not quantized: quantize the weight as well");
  check_bias(op, bias);
  const std::optional<Tensor> codes = byte_input(input);
  const std::optional<Weight> by = byte_weight(weight);
  if (!codes || !by || by->zero.defined()) {
    record(op, Way::composite, x);
    const Tensor y = lamella::convolution(dequantized(input), dequantized(weight).to(input.dtype()), bias, stride,
                                          padding, dilation, groups);
    return result_of(y, std::move(to), input.dtype(), relu);
  }
  record(op, Way::native, x);
  const Tensor sums = lamella::_int_conv(*codes, by->codes, stride, padding, dilation, groups, x.zero);
  const Tensor scale = x.scale_tensor(input.device()) * by->scale;
  int64_t plane = 1;
  for (int64_t d = 2; d < sums.dim(); d++) plane *= sums.size(d);
  if (takes_codes(*to)) {
    if (sums.is_contiguous())
      return requantized(sums, scale, bias, std::max<int64_t>(plane, 1), std::move(to), relu, input.dtype());
    return requantized(sums.movedim(1, -1), scale, bias, 1, std::move(to), relu, input.dtype()).movedim(-1, 1);
  }
  DimVector along(static_cast<size_t>(sums.dim()), 1);  // the channels
  along[1] = -1;
  Tensor y = sums.is_contiguous() ? lamella::_dequantize(sums, scale, {}, std::max<int64_t>(plane, 1), kFloat)
                                  : sums.to(kFloat) * scale.view(along);
  if (bias.defined()) y.add_(as_float(bias).view(along));
  return result_of(y, std::move(to), input.dtype(), relu);
}

Tensor convolution_rule(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Scheme* x = scheme_of(input);
  if (!x) {
    const Scheme* w = scheme_of(weight);
    if (!w) no_rule(f->op, "bias", scheme_in(bias));
    record(f->op, Way::composite, *w);  // the weight alone is quantized
    return lamella::convolution(input, dequantized(weight).to(input.dtype()), bias, stride, padding, dilation, groups);
  }
  if (!scheme_of(weight))
    no_rule(f->op, "input", *x, " beside a weight that is not quantized: quantize the weight as well");
  std::shared_ptr<Scheme> to = result_scheme(*x);
  if (!to) no_result_scheme(f->op, *x);
  return static_conv(f->op, input, weight, bias, stride, padding, dilation, groups, std::move(to), false);
}

// ---- operators with the scale of their result as arguments, which quantized modules call ---------------------------

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, double scale, int64_t zero,
              const std::string& dtype, std::optional<int64_t> low, std::optional<int64_t> high, bool relu) {
  static const lamella_operator* const op = operator_named("quantized::linear");
  LAMELLA_CHECK_TYPE(scheme_of(input),
                     "argument 'input': is not quantized; a QuantStub, or quantize_per_tensor, gives "
                     "a layer of integers its input");
  return static_linear(op, input, weight, bias, scheme_to(dtype, scale, zero, low, high), relu);
}

Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
            IntArrayRef dilation, int64_t groups, double scale, int64_t zero, const std::string& dtype,
            std::optional<int64_t> low, std::optional<int64_t> high, bool relu) {
  static const lamella_operator* const op = operator_named("quantized::conv");
  LAMELLA_CHECK_TYPE(scheme_of(input),
                     "argument 'input': is not quantized; a QuantStub, or quantize_per_tensor, gives "
                     "a layer of integers its input");
  return static_conv(op, input, weight, bias, stride, padding, dilation, groups,
                     scheme_to(dtype, scale, zero, low, high), relu);
}

// A linear layer of floating numbers, which are quantized to seven bits by their own range: of each row, or of all. The
// codes from 0 to 127 have the same sums on every processor, and are multiplied faster by those without VNNI.
Tensor linear_dynamic(const Tensor& input, const Tensor& weight, const Tensor& bias, bool by_row) {
  static const lamella_operator* const op = operator_named("quantized::linear_dynamic");
  const Scheme* w = scheme_of(weight);
  LAMELLA_CHECK_TYPE(w, "argument 'weight': is not quantized");
  LAMELLA_CHECK_TYPE(!scheme_of(input), "argument 'input': is quantized already; call quantized::linear");
  check_bias(op, bias);
  LAMELLA_CHECK(weight.dim() == 2 && input.dim() && input.size(-1) == weight.size(1), "argument 'input': shape ",
                input.sizes(), " does not end in the in features of 'weight', shape ", weight.sizes());
  if (!input.numel()) return weight_linear(op, input, weight, bias);  // no number to round
  const Tensor rows = by_row ? input.reshape({-1, input.size(-1)}) : input.reshape({1, -1});
  const auto [codes, scale, zero] = lamella::_quantize_rows(rows, 0, 127, kByte, false);
  const std::optional<Weight> by = byte_weight(weight);
  if (!by) {
    record(op, Way::composite, *w);
    const Tensor x = lamella::_dequantize(codes, scale, zero, rows.size(1), input.dtype()).view(input.sizes());
    return weight_linear(op, x, weight, bias);
  }
  record(op, Way::native, *w);
  const Tensor y = exact_linear(codes.view({-1, input.size(-1)}), scale, zero, *by, *w, bias);
  DimVector sizes(input.sizes());
  sizes[sizes.size() - 1] = weight.size(0);
  return y.view(sizes).to(input.dtype());
}

}  // namespace

void register_products(Library& m) {
  m.impl("aten::linear", layer_name, linear_rule);
  m.impl("aten::mm", layer_name, mm_rule);
  m.impl("aten::convolution", layer_name, convolution_rule);
  const auto define = [&](const char* schema, auto function) {
    m.def(schema, function);
    m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), layer_name, function);
  };
  define(
      "linear(Tensor input, Tensor weight, Tensor? bias, float scale, int zero_point, str dtype, int? quant_min=None, "
      "int? quant_max=None, bool relu=False) -> Tensor",
      linear);
  define(
      "conv(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float "
      "scale, int zero_point, str dtype, int? quant_min=None, int? quant_max=None, bool relu=False) -> Tensor",
      conv);
  m.rule("linear", "named_tensor", "new_last");
  m.rule("conv", "named_tensor", "n c~ ...~, o~ i~ ...~, o~ -> n o~ ...~ | c~ ...~, o~ i~ ...~, o~ -> o~ ...~");
  define("linear_dynamic(Tensor input, Tensor weight, Tensor? bias, bool by_row=True) -> Tensor", linear_dynamic);
  m.rule("linear_dynamic", "named_tensor", "new_last");
  // A rounded input has the gradient of the layer by values.
  m.derivative("linear_dynamic", "input: matmul(grad, quantized::dequantize(weight)); bias: grad");
  for (const char* op : {"linear", "conv"})
    m.derivative(op, "input: quantized::no_gradient(grad); bias: quantized::no_gradient(grad)");
}

}  // namespace lamella::quantization
