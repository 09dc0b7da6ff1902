// Tensors of eight-bit integers, written by the public headers alone. A quantized tensor is opaque: arithmetic sees
// float32, and its values are (integer - zero point) * scale. It stands over the storage of its integers, and has their
// sizes and strides. Start at LAMELLA_LIBRARY at the end of the file; quantized.py is the package around it.
#define LAMELLA_PLUGIN_NAME "tiny-quantized"
#include <lamella/extension.h>

#include <cmath>
#include <memory>

namespace {

using lamella::api;
using lamella::Tensor;

int32_t slot = -1;

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
};

State* state_of(const lamella_tensor* t) { return static_cast<State*>(api().slot_get(t, slot)); }
const State& state_in(const Tensor& self) {
  LAMELLA_CHECK(state_of(self.get()), "argument 'self' is not quantized");
  return *state_of(self.get());
}

// Makes a quantized tensor of integers, with the scales of a state.
Tensor made(const Tensor& integers, State state) {
  const lamella_tensor& i = *integers.get();
  lamella_tensor* t;
  lamella::check(api().tensor_opaque_over(i.storage, i.dl.ndim, i.dl.shape, i.dl.strides, LAMELLA_FLOAT32, &t));
  const Tensor quantized = Tensor::steal(t);
  auto owned = std::make_unique<State>(std::move(state));
  owned->integers = integers;
  lamella::check(api().slot_set(t, slot, owned.get()));
  owned.release();
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

lamella_status carry(void* state, lamella_tensor* from, lamella_tensor* to, int32_t how, void** out) {
  return lamella::guarded([&]() -> lamella_status {
    auto s = std::make_unique<State>(*static_cast<const State*>(state));
    const Tensor x = s->integers;
    if (how == LAMELLA_CARRY_VIEW || how == LAMELLA_CARRY_RESIZE) {
      LAMELLA_CHECK_NOT_IMPLEMENTED(to->dtype == LAMELLA_FLOAT32 && to->storage == from->storage,
                                    "quantized: a view has dtype float32, and lies in the memory of its base");
      const int64_t offset = to->storage_offset - from->storage_offset;
      if (s->axis >= 0) s->axis = axis_of_view(s->axis, from->dl, to->dl, offset);
      lamella_tensor* t;
      lamella::check(
          api().tensor_view(x.get(), to->dl.ndim, to->dl.shape, to->dl.strides, x.storage_offset() + offset, &t));
      s->integers = Tensor::steal(t);
    } else if (how == LAMELLA_CARRY_COPY || how == LAMELLA_CARRY_DEVICE) {
      // Copies the memory from the first element to the last, since `to` has the strides of `from`.
      int64_t span = 1;
      for (int64_t d = 0; d < x.dim(); d++) span += (x.size(d) - 1) * x.stride(d);
      const lamella::Device device(lamella::device_of(to));
      const Tensor memory = x.as_strided({x.numel() ? span : 0}, {1}).to(device, {}, false, true);
      s->integers = memory.as_strided(x.sizes(), x.strides(), 0);
      if (s->axis >= 0) s->scales = s->scales.to(device);
      lamella::check(api().tensor_set_storage(to, memory.get()->storage));
    } else if (how != LAMELLA_CARRY_DETACH) {
      return LAMELLA_OK;
    }
    *out = s.release();
    return LAMELLA_OK;
  });
}

#ifndef QUANTIZED_SAVED_AXIS
#define QUANTIZED_SAVED_AXIS s.axis  // the tests plant defects here, which `load` must find
#endif

lamella_status save(void* state, lamella_tensor*, lamella_value* out) {
  using lamella::value;
  const State& s = *static_cast<const State*>(state);
  const lamella_value scale = s.axis < 0 ? value(s.scale) : value(s.scales.get());
  const lamella_value parts[] = {
      value("integers"),   value(s.integers.get()), value("scale"), scale,
      value("zero_point"), value(s.zero),           value("axis"),  value(QUANTIZED_SAVED_AXIS)};
  lamella_value all{LAMELLA_DICT, 4, {0}};
  all.as.values = parts;
  return api().value_retain(&all, out);
}

lamella_status load(lamella_tensor* to, const lamella_value* saved, void** out) {
  return lamella::guarded([&]() -> lamella_status {
    const auto part = [&](const char* name, uint32_t tag) -> const lamella_value& {
      const lamella_value* v = saved->tag == LAMELLA_DICT ? lamella::Dict(*saved).find(name) : nullptr;
      LAMELLA_CHECK_VALUE(v && v->tag == tag, "quantized: a part of what was saved is wrong or missing: ", name);
      return *v;
    };
    const int64_t zero = part("zero_point", LAMELLA_INT).as.i, axis = part("axis", LAMELLA_INT).as.i;
    const lamella_value& scale = part("scale", axis < 0 ? LAMELLA_FLOAT : LAMELLA_TENSOR);
    State s{Tensor::borrow(part("integers", LAMELLA_TENSOR).as.tensor), axis < 0 ? scale.as.d : 1,
            axis < 0 ? Tensor() : Tensor::borrow(scale.as.tensor), zero, axis};
    const lamella::IntArrayRef sizes(to->dl.shape, static_cast<size_t>(to->dl.ndim));
    const lamella::Device device(lamella::device_of(to));
    bool fits = (to->flags & LAMELLA_OPAQUE) && to->dtype == LAMELLA_FLOAT32 && s.integers.dtype() == lamella::kChar &&
                s.integers.sizes() == sizes && s.integers.device() == device && axis >= -1 && axis < to->dl.ndim;
    for (int32_t d = 0; d < to->dl.ndim && fits; d++) fits = sizes[d] <= 1 || s.integers.stride(d) == to->dl.strides[d];
    fits = fits && (axis < 0 ? s.scale > 0 && std::isfinite(s.scale)
                             : s.scales.dtype() == lamella::kFloat && s.scales.device() == device &&
                                   s.scales.dim() == 1 && s.scales.numel() == sizes[axis]);
    LAMELLA_CHECK_VALUE(fits, "quantized: what was saved does not fit a tensor of shape ", sizes, " on ", device);
    lamella::check(api().tensor_set_storage(to, s.integers.get()->storage));
    *out = new State(std::move(s));
    return LAMELLA_OK;
  });
}

lamella_status quantization(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  *out = lamella::none();
  return state_of(self) ? save(state_of(self), self, out) : LAMELLA_OK;
}

Tensor quantized(const Tensor& self, const State& s) {
  LAMELLA_CHECK_TYPE(!state_of(self.get()) && self.dtype() == lamella::kFloat,
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
  const Tensor x = state_of(src.get()) ? dequantize(src) : src;
  if (const State* s = state_of(self.get()))
    s->integers.copy_(s->rounded(x.to(self.device(), lamella::kFloat).expand(self.sizes())));
  else
    lamella::redispatch<Tensor>(f, self, x, non_blocking);
  return self;
}

}  // namespace

LAMELLA_LIBRARY(quantized, m) {
  static int32_t bit;
  const uint32_t flags = LAMELLA_LAYER_DECOMPOSE | LAMELLA_LAYER_FALLTHROUGH;
  lamella_layer layer = {sizeof layer, flags,   "quantized", "backend", nullptr, nullptr,
                         nullptr,      nullptr, nullptr,     0,         0,       nullptr};
  m.layer(layer, &bit);
  m.tensor_slot({sizeof(lamella_slot_type), bit, "quantized", [](void* s) { delete static_cast<State*>(s); }, nullptr,
                 nullptr, carry, save, load},
                &slot);
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
