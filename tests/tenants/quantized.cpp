// Tensors of eight-bit integers, written by the public headers alone. A quantized tensor is opaque: arithmetic sees
// float32, and its values are (integer - zero point) * scale. It stands over the storage of its integers, and has their
// sizes and strides. Start at LAMELLA_LIBRARY at the end of the file; quantized.py is the package around it.
#define LAMELLA_PLUGIN_NAME "tiny-quantized"
#include <lamella/extension.h>

#include <cmath>

namespace {

using lamella::api;
using lamella::Tensor;

struct State {
  Tensor integers;
  double scale;   // of all elements, if the axis is -1
  Tensor scales;  // else one for each index along the axis
  int64_t zero, axis;

  Tensor along(int64_t dims) const {
    lamella::DimVector sizes(static_cast<size_t>(dims), 1);
    sizes[static_cast<size_t>(axis)] = -1;
    return scales.reshape(sizes);
  }
  Tensor values() const {
    const Tensor x = integers.to(lamella::kFloat) - zero;
    return axis < 0 ? x * scale : x * along(x.dim());
  }
  Tensor rounded(const Tensor& x) const {
    const Tensor scaled = axis < 0 ? x / scale : x / along(x.dim());
    return (scaled.round() + zero).clamp(-128, 127).to(lamella::kChar);
  }

  std::optional<State> carry(const Tensor& from, const Tensor& to, int32_t how) const;
  lamella::OwnedValue save(const Tensor&) const;
  static std::optional<State> load(const Tensor& to, const lamella_value& saved);
};

lamella::Slot<State> slot;

const State& state_in(const Tensor& self) {
  LAMELLA_CHECK(slot.get(self), "argument 'self' is not quantized");
  return *slot.get(self);
}

// Makes a quantized tensor of integers, with the scales of a state.
Tensor made(const Tensor& integers, State state) {
  const Tensor quantized = lamella::opaque_over(integers, integers.sizes(), {}, integers.strides());
  state.integers = integers;
  slot.set(quantized, std::move(state));
  return quantized;
}

// Returns the axis of a view: that with the axis's stride. A view that has not all dimensions of `from` is refused.
int64_t axis_of_view(int64_t axis, const DLTensor& from, const DLTensor& to, int64_t offset) {
  const auto dims = [](const DLTensor& t) {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (int32_t d = 0; d < t.ndim; d++)
      if (t.shape[d] != 1) all.emplace_back(t.strides[d], t.shape[d]);
    std::sort(all.begin(), all.end());
    return all;
  };
  int64_t found = -1;
  for (int32_t d = 0; d < to.ndim; d++)
    if (to.shape[d] == from.shape[axis] && to.strides[d] == from.strides[axis]) found = d;
  LAMELLA_CHECK_NOT_IMPLEMENTED(found >= 0 && offset == 0 && dims(from) == dims(to), "quantized: dimension ", axis,
                                " has a scale for each index, so that a view has all elements, each with its own "
                                "dimension; take other views of the dequantized values");
  return found;
}

std::optional<State> State::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  State s = *this;
  if (how == LAMELLA_CARRY_VIEW || how == LAMELLA_CARRY_RESIZE) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(to.dtype() == lamella::kFloat && to.get()->storage == from.get()->storage,
                                  "quantized: a view has dtype float32, and lies in the memory of its base");
    const int64_t offset = to.storage_offset() - from.storage_offset();
    if (axis >= 0) s.axis = axis_of_view(axis, from.get()->dl, to.get()->dl, offset);
    lamella_tensor* view;
    lamella::check(api().tensor_view(integers.get(), to.get()->dl.ndim, to.sizes().data(), to.strides().data(),
                                     integers.storage_offset() + offset, &view));
    s.integers = Tensor::steal(view);
  } else if (how == LAMELLA_CARRY_COPY || how == LAMELLA_CARRY_DEVICE) {
    // Copies the memory from the first element to the last, since `to` has the strides of `from`.
    int64_t span = 1;
    for (int64_t d = 0; d < integers.dim(); d++) span += (integers.size(d) - 1) * integers.stride(d);
    const Tensor memory = integers.as_strided({integers.numel() ? span : 0}, {1}).to(to.device(), {}, false, true);
    s.integers = memory.as_strided(integers.sizes(), integers.strides(), 0);
    if (axis >= 0) s.scales = scales.to(to.device());
    lamella::check(api().tensor_set_storage(to.get(), memory.get()->storage));
  } else if (how != LAMELLA_CARRY_DETACH) {
    return std::nullopt;
  }
  return s;
}

#ifndef QUANTIZED_SAVED_AXIS
#define QUANTIZED_SAVED_AXIS s.axis  // the tests plant defects here, which `load` must find
#endif

lamella::OwnedValue State::save(const Tensor&) const {
  using lamella::value;
  const State& s = *this;
  const lamella_value parts[] = {
      value("integers"),   value(s.integers), value("scale"), s.axis < 0 ? value(s.scale) : value(s.scales),
      value("zero_point"), value(s.zero),     value("axis"),  value(QUANTIZED_SAVED_AXIS)};
  lamella_value all{LAMELLA_DICT, 4, {0}};
  all.as.values = parts;
  return lamella::OwnedValue(all);
}

std::optional<State> State::load(const Tensor& to, const lamella_value& saved) {
  const auto part = [&](const char* name, uint32_t tag) -> const lamella_value& {
    const lamella_value* v = saved.tag == LAMELLA_DICT ? lamella::Dict(saved).find(name) : nullptr;
    LAMELLA_CHECK_VALUE(v && v->tag == tag, "quantized: a part of what was saved is wrong or missing: ", name);
    return *v;
  };
  const int64_t zero = part("zero_point", LAMELLA_INT).as.i, axis = part("axis", LAMELLA_INT).as.i;
  const lamella_value& scale = part("scale", axis < 0 ? LAMELLA_FLOAT : LAMELLA_TENSOR);
  State s{Tensor::borrow(part("integers", LAMELLA_TENSOR).as.tensor), axis < 0 ? scale.as.d : 1,
          axis < 0 ? Tensor() : Tensor::borrow(scale.as.tensor), zero, axis};
  bool fits = to.is_opaque() && to.dtype() == lamella::kFloat && s.integers.dtype() == lamella::kChar &&
              s.integers.sizes() == to.sizes() && s.integers.device() == to.device() && axis >= -1 && axis < to.dim();
  for (int64_t d = 0; d < to.dim() && fits; d++) fits = to.size(d) <= 1 || s.integers.stride(d) == to.stride(d);
  fits = fits && (axis < 0 ? s.scale > 0 && std::isfinite(s.scale)
                           : s.scales.dtype() == lamella::kFloat && s.scales.device() == to.device() &&
                                 s.scales.dim() == 1 && s.scales.numel() == to.size(axis));
  LAMELLA_CHECK_VALUE(fits, "quantized: what was saved does not fit a tensor of shape ", to.sizes(), " on ",
                      to.device());
  lamella::check(api().tensor_set_storage(to.get(), s.integers.get()->storage));
  return s;
}

lamella::OwnedValue quantization(const Tensor& self) {
  return slot.get(self) ? slot.get(self)->save(self) : lamella::OwnedValue();
}

Tensor quantized(const Tensor& self, const State& s) {
  LAMELLA_CHECK_TYPE(!slot.get(self) && self.dtype() == lamella::kFloat,
                     "argument 'self' must be a float32 tensor that is not quantized yet");
  return made(s.rounded(self), s);
}
Tensor per_tensor(const Tensor& self, double scale, int64_t zero) {
  LAMELLA_CHECK_VALUE(scale > 0 && std::isfinite(scale), "argument 'scale' must be positive, got ", scale);
  return quantized(self, {Tensor(), scale, Tensor(), zero, -1});
}
Tensor per_channel(const Tensor& self, const Tensor& scales, int64_t zero, int64_t axis) {
  LAMELLA_CHECK_VALUE(axis >= 0 && axis < self.dim() && scales.dim() == 1 && scales.numel() == self.size(axis),
                      "expected a scale for each index along a dimension 'axis', got ", axis);
  return quantized(self, {Tensor(), 1, scales.to(lamella::kFloat, false, true), zero, axis});
}
Tensor dequantize(const Tensor& self) { return state_in(self).values(); }
Tensor int_repr(const Tensor& self) { return state_in(self).integers.detach(); }
Tensor copied(const Tensor& self, std::optional<lamella::MemoryFormat> format) {
  return made(int_repr(self).clone(format), state_in(self));
}

const Tensor& copy(lamella_frame* f, const Tensor& self, const Tensor& src, bool non_blocking) {
  const Tensor x = slot.get(src) ? dequantize(src) : src;
  if (const State* s = slot.get(self))
    s->integers.copy_(s->rounded(x.to(self.device(), lamella::kFloat).expand(self.sizes())));
  else
    lamella::redispatch<Tensor>(f, self, x, non_blocking);
  return self;
}

}  // namespace

LAMELLA_LIBRARY(quantized, m) {
  const uint32_t flags = LAMELLA_LAYER_DECOMPOSE | LAMELLA_LAYER_FALLTHROUGH;
  lamella_layer layer = {sizeof layer, flags,   "quantized", "backend", nullptr, nullptr,
                         nullptr,      nullptr, nullptr,     0,         0,       nullptr};
  m.layer(layer, nullptr);
  m.tensor_slot("quantized", slot, "quantized");
  m.attribute("quantization", quantization);
  m.def("quantize_per_tensor(Tensor self, float scale, int zero_point=0) -> Tensor", per_tensor);
  m.def("quantize_per_channel(Tensor self, Tensor scales, int zero_point=0, int axis=0) -> Tensor", per_channel);
  m.def("dequantize(Tensor self) -> Tensor", dequantize);
  m.def("int_repr(Tensor self) -> Tensor", int_repr);
  for (const char* op : {"quantize_per_tensor", "quantize_per_channel", "dequantize"}) m.derivative(op, "self: grad");
  m.impl("aten::_materialize", "quantized", [](const Tensor& self, bool) { return dequantize(self); });
  m.impl("aten::clone", "quantized", copied);
  m.impl("aten::copy_", "quantized", copy);
}
