// The operators that make quantized tensors and read them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rules.h"
#include "scheme.h"

namespace lamella::quantization {

namespace {

// ---- arguments -----------------------------------------------------------------------------------------------------

void check_values(const Tensor& self) {
  LAMELLA_CHECK_TYPE(!scheme_of(self), "argument 'self': is quantized already (", scheme_in(self).described(),
                     "); dequantize() it first");
  LAMELLA_CHECK_TYPE(self.is_floating_point(), "argument 'self': expected a floating dtype, got ", self.dtype());
}

bool is_true(const Tensor& t) { return t.item().to<bool>(); }

// Sets a scale and a zero point for each block; `scales` and `zeros` have `sizes`.
void set_numbers(Scheme* s, const Tensor& scales, const Tensor& zeros, IntArrayRef sizes, const Device& device) {
  LAMELLA_CHECK(scales.sizes() == sizes, "argument 'scales': expected shape ", sizes, ", got ", scales.sizes());
  LAMELLA_CHECK_TYPE(scales.is_floating_point(), "argument 'scales': expected a floating dtype, got ", scales.dtype());
  LAMELLA_CHECK(scales.numel() > 0, "argument 'scales': has no elements");
  s->scales = scales.to(device, kFloat).reshape({-1}).clone();
  if (zeros.defined()) {
    LAMELLA_CHECK(zeros.sizes() == sizes, "argument 'zero_points': expected shape ", sizes, ", got ", zeros.sizes());
    LAMELLA_CHECK_TYPE(!zeros.is_floating_point() && !zeros.is_complex() && zeros.dtype() != kBool,
                       "argument 'zero_points': expected integers, got ", zeros.dtype());
  }
  if (device.is_meta()) {
    if (zeros.defined()) s->zeros = zeros.to(device, kInt).reshape({-1}).clone();
    return;
  }
  const Tensor good = (s->scales > 0).logical_and(s->scales.isfinite()).all();
  LAMELLA_CHECK_VALUE(is_true(good), "argument 'scales': each must be a positive finite number of float32");
  if (!zeros.defined()) return;
  const Tensor wide = zeros.to(kLong);
  LAMELLA_CHECK_VALUE(is_true((wide >= s->low).logical_and(wide <= s->high).all()),
                      "argument 'zero_points': each must be an integer from ", s->low, " to ", s->high, ", which ",
                      s->type->name, " has");
  if (!is_true((wide != 0).any())) return;
  LAMELLA_CHECK_VALUE(s->type->is_integer(), "argument 'zero_points': ", s->type->name, " has no zero points");
  s->zeros = zeros.to(device, kInt).reshape({-1}).clone();
}

int64_t wrapped(int64_t axis, const Tensor& self) {
  LAMELLA_CHECK_INDEX(axis >= -self.dim() && axis < self.dim(), "argument 'axis': ", axis,
                      " is no dimension of a tensor of ", self.dim(), " dimensions");
  return axis < 0 ? axis + self.dim() : axis;
}

// ---- quantize ------------------------------------------------------------------------------------------------------

// Returns a tensor without gaps, with the elements of `self` in its order where it has none.
Tensor dense(const Tensor& self) { return self.get()->flags & LAMELLA_DENSE ? self : self.contiguous(); }

Tensor per_tensor(const Tensor& self, double scale, int64_t zero, const std::string& type, std::optional<int64_t> low,
                  std::optional<int64_t> high) {
  check_values(self);
  return from_values(self, scheme_to(type, scale, zero, low, high), self.dtype());
}

Tensor per_channel(const Tensor& self, const Tensor& scales, const Tensor& zeros, int64_t axis, const std::string& type,
                   std::optional<int64_t> low, std::optional<int64_t> high) {
  check_values(self);
  const int64_t at = wrapped(axis, self);
  const auto s = scheme_of_type(type, low, high);
  set_numbers(s.get(), scales, zeros, {self.size(at)}, self.device());
  const Tensor x = dense(self);
  s->inner = std::max<int64_t>(x.stride(at), 1);
  if (x.size(at) == 1) s->inner = std::max<int64_t>(x.numel(), 1);
  return from_values(x, s, x.dtype());
}

Tensor per_group(const Tensor& self, const Tensor& scales, const Tensor& zeros, int64_t group, int64_t axis,
                 const std::string& type, std::optional<int64_t> low, std::optional<int64_t> high) {
  check_values(self);
  const int64_t at = wrapped(axis, self), size = self.size(at);
  LAMELLA_CHECK_VALUE(group > 0 && size % group == 0, "argument 'group_size': ", group, " does not divide dimension ",
                      at, ", of size ", size, "; pad the tensor, or choose another size");
  const auto s = scheme_of_type(type, low, high);
  DimVector sizes(self.sizes());
  sizes[at] = size / group;
  // The groups are neighbours in memory, with the axis last.
  const Tensor x = self.movedim({at}, {-1}).contiguous();
  const auto last = [&](const Tensor& t) { return t.defined() && t.dim() == self.dim() ? t.movedim({at}, {-1}) : t; };
  LAMELLA_CHECK(scales.sizes() == IntArrayRef(sizes), "argument 'scales': expected shape ", IntArrayRef(sizes),
                ", one for each group, got ", scales.sizes());
  if (zeros.defined())
    LAMELLA_CHECK(zeros.sizes() == IntArrayRef(sizes), "argument 'zero_points': expected shape ", IntArrayRef(sizes),
                  ", one for each group, got ", zeros.sizes());
  const Tensor by_group = last(scales);
  set_numbers(s.get(), by_group, last(zeros), by_group.sizes(), self.device());
  s->inner = group;
  s->grouped = true;
  const Tensor made = from_values(x, s, x.dtype());
  if (at == self.dim() - 1) return made;
  DimVector strides(made.strides());  // in the order of `self`
  const int64_t along = made.stride(-1);
  for (int64_t d = self.dim() - 1; d > at; d--) strides[d] = strides[d - 1];
  strides[at] = along;
  return make(s, self.sizes(), strides, x.dtype());
}

// ---- reading -------------------------------------------------------------------------------------------------------

Tensor dequantize(const Tensor& self) {
  scheme_in(self);
  return dequantized(self);
}
Tensor int_repr(const Tensor& self) { return codes_of(self); }

// The memory of the codes, for kernels: one dimension, of which a tensor's elements are those at its strides.
Tensor memory(const Tensor& self) { return scheme_in(self).memory.detach(); }

// Returns the dimension along which there is a scale for each index, or -1.
int64_t axis_of(const Tensor& self, const Scheme& s) {
  const int64_t n = s.number();
  for (int64_t d = 0; d < self.dim(); d++) {
    if (self.size(d) != n || (n > 1 && self.stride(d) != s.inner)) continue;
    int64_t others = 0;
    for (int64_t k = 0; k < self.dim(); k++)
      if (k != d && self.stride(k) % (n * s.inner) != 0) others += (self.size(k) - 1) * self.stride(k);
    if ((s.first + self.storage_offset()) % (n * s.inner) + others < s.inner) return d;
  }
  return -1;
}

// Describes the scheme of a tensor: its numeric type, kind, scales and zero points, the dimension or the elements of a
// group that they belong to, and the range of codes. None for a tensor that is not quantized.
OwnedValue describe(const Tensor& self) {
  const Scheme* s = scheme_of(self);
  if (!s) return OwnedValue();
  const bool many = s->scales.defined();
  const lamella_value parts[] = {
      value("type"),       value(s->type->name),
      value("kind"),       value(s->kind()),
      value("scale"),      many ? value(s->scales) : value(s->scale),
      value("zero_point"), !many ? value(s->zero) : s->zeros.defined() ? value(s->zeros) : none(),
      value("axis"),       value(many && !s->grouped ? axis_of(self, *s) : int64_t{-1}),
      value("inner"),      value(s->inner),
      value("first"),      value(s->first),
      value("quant_min"),  value(s->low),
      value("quant_max"),  value(s->high),
      value("integers"),   value(s->type->is_integer()),
  };
  lamella_value all{LAMELLA_DICT, sizeof parts / sizeof *parts / 2, {0}};
  all.as.values = parts;
  return OwnedValue(all);
}

Tensor no_gradient(const Tensor&) {
  throw Error(LAMELLA_RUNTIME_ERROR,
              "integers carry no gradient: quantize a detached tensor, or train through fake_quantize, whose gradient "
              "passes straight through");
}

}  // namespace

void register_conversions(Library& m) {
  const auto define = [&](const char* schema, auto function) {
    lamella_operator_def d{};
    d.size = sizeof d;
    d.schema = schema;
    d.category = "copy";
    d.forms = LAMELLA_FORM_FUNCTION;
    d.dims = "broadcast";
    m.define(d);
    m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", function);
  };
  m.def(
      "quantize_per_tensor(Tensor self, float scale, int zero_point, str dtype, *, int? quant_min=None, int? "
      "quant_max=None) -> Tensor",
      per_tensor);
  m.def(
      "quantize_per_channel(Tensor self, Tensor scales, Tensor? zero_points, int axis, str dtype, *, int? "
      "quant_min=None, int? quant_max=None) -> Tensor",
      per_channel);
  m.def(
      "quantize_per_group(Tensor self, Tensor scales, Tensor? zero_points, int group_size, int axis, str dtype, *, "
      "int? "
      "quant_min=None, int? quant_max=None) -> Tensor",
      per_group);
  define("dequantize(Tensor self) -> Tensor", dequantize);
  define("int_repr(Tensor self) -> Tensor", int_repr);
  m.def("memory(Tensor self) -> Tensor", memory);
  m.def("no_gradient(Tensor grad) -> Tensor", no_gradient);
  for (const char* op : {"quantize_per_tensor", "quantize_per_channel", "quantize_per_group", "dequantize"})
    m.derivative(op, "self: quantized::no_gradient(grad)");
  for (const char* op : {"quantize_per_tensor", "quantize_per_channel", "quantize_per_group"})
    m.rule(op, "named_tensor", "self");
  m.attribute("_quantization", describe);
}

}  // namespace lamella::quantization
