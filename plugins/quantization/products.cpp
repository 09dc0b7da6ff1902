// The rules of linear layers. The sums of products of integers are exact in int32.
#include "calls.h"
#include "rules.h"

namespace lamella::quantization {
namespace {

// The factors of a product as int8 or uint8 codes with zero points.
struct Rows {
  Tensor codes;   // (rows, depth)
  Tensor scales;  // one, or one for each row
  Tensor zeros;   // of the shape of `scales`; undefined: 0
};

// Returns a matrix of codes of eight bits with one scale, or one for each row; none for another scheme.
std::optional<Rows> rows_of(const Tensor& t, bool by_row) {
  const Scheme& s = scheme_in(t);
  if (!s.type->is_integer() || s.type->bits > 8 || !t.is_contiguous() || t.dim() < 1) return std::nullopt;
  const int64_t depth = t.size(-1), rows = depth ? t.numel() / depth : 0;
  if (!rows) return std::nullopt;
  const bool rows_scaled = s.scales.defined() && by_row && !s.grouped && s.inner == depth && s.number() == rows &&
                           s.first == 0 && t.storage_offset() == 0;
  if (s.scales.defined() && !rows_scaled) return std::nullopt;
  return Rows{s.codes(t.storage_offset(), t.numel()).view({rows, depth}), s.scale_tensor(t.device()),
              s.zero_tensor(t.device())};
}

// Returns sums of (x - zero point) * (w - zero point) as int32: (rows of x, rows of w).
Tensor exact_product(const Rows& x, Rows w) {
  if (w.codes.dtype() ==
      kByte) {  // the product takes signed weights: 128 is subtracted from them and their zero points
    w.codes = w.codes.bitwise_xor(128).view(kChar);
    w.zeros = w.zeros.defined() ? w.zeros - 128 : lamella::full({1}, -128, w.scales.options().dtype(kInt));
  }
  Tensor sums = lamella::_int_mm(x.codes, w.codes.t());
  const Tensor of_w = x.zeros.defined() ? w.codes.sum({1}, false, kInt) : Tensor();
  if (x.zeros.defined()) sums = sums - x.zeros * of_w;
  if (w.zeros.defined()) {
    const Tensor of_x = x.codes.sum({1}, true, kInt);
    sums = sums - of_x * w.zeros;
    if (x.zeros.defined()) sums = sums + x.zeros * w.zeros * x.codes.size(1);
  }
  return sums;
}

Tensor by_values(lamella_frame* f, const Scheme& s, const Tensor& values, ScalarType dtype) {
  std::shared_ptr<Scheme> to = result_scheme(s);
  if (!to) no_result_scheme(f->op, s);
  return from_values(values, std::move(to), dtype);
}

// x @ w^T + bias with float32 results: float(sums) * (scale of x * scale of w) + bias.
Tensor linear_of(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (const Tensor y = by_own_kernel(f, {value(input), value(weight), value(bias)}); y.defined()) return y;
  const Scheme *x = scheme_of(input), *w = scheme_of(weight);
  if (bias.defined())
    if (const Scheme* b = scheme_of(bias)) no_rule(f->op, "bias", *b, "; a bias stays in floating numbers");
  if (x && !w) no_rule(f->op, "input", *x, " beside a weight that is not quantized: quantize the weight as well");
  if (!x) {
    // The result is not quantized, as the input is not.
    record(f->op, Way::composite, *w);
    return lamella::linear(input, dequantized(weight).to(input.dtype()), bias);
  }
  const std::optional<Rows> a = rows_of(input, false), b = weight.dim() == 2 ? rows_of(weight, true) : std::nullopt;
  DimVector sizes(input.sizes());
  if (!a || !b || a->codes.size(1) != b->codes.size(1) || x->type->bits != 8) {
    if (!result_scheme(*x)) no_result_scheme(f->op, *x);
    record(f->op, Way::composite, *x);
    return by_values(f, *x, lamella::linear(dequantized(input), dequantized(weight).to(input.dtype()), bias),
                     input.dtype());
  }
  if (!result_scheme(*x)) no_result_scheme(f->op, *x);
  record(f->op, Way::native, *x);
  Tensor y = exact_product(*a, *b).to(kFloat) * (a->scales * b->scales);
  if (bias.defined()) y = y + bias.to(kFloat);
  sizes.pop_back();
  sizes.push_back(weight.size(0));
  return by_values(f, *x, y.view(sizes), input.dtype());
}

Tensor mm(lamella_frame* f, const Tensor& self, const Tensor& mat2) {
  if (const Tensor y = by_own_kernel(f, {value(self), value(mat2)}); y.defined()) return y;
  const Scheme *x = scheme_of(self), *w = scheme_of(mat2);
  if (x && w) {
    record(f->op, Way::composite, *x);
    return by_values(f, *x, dequantized(self).mm(dequantized(mat2)), self.dtype());
  }
  record(f->op, Way::composite, x ? *x : *w);
  return dequantized(self).mm(dequantized(mat2));
}

}  // namespace

void register_products(Library& m) {
  m.impl("aten::linear", layer_name, linear_of);
  m.impl("aten::mm", layer_name, mm);
}

}  // namespace lamella::quantization
