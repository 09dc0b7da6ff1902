// The rules of operators that copy, join and pick elements. Where all elements have one scale, the operators run on the
// codes.
#include "calls.h"
#include "rules.h"

namespace lamella::quantization {
namespace {

bool has_one_scale(const Scheme& s) { return !s.scales.defined(); }

bool share_scale(const Scheme& a, const Scheme& b) {
  return a.type == b.type && has_one_scale(a) && has_one_scale(b) && a.scale == b.scale && a.zero == b.zero;
}

// ---- copies --------------------------------------------------------------------------------------------------------

DimVector row_major(IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

// Returns the strides of a copy of a tensor in a memory format; without one, those of the tensor if it has no gaps.
DimVector strides_for(const Tensor& t, std::optional<MemoryFormat> format) {
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  if (f == MemoryFormat::Preserve && t.get()->flags & LAMELLA_DENSE) return DimVector(t.strides());
  if (f != MemoryFormat::ChannelsLast) return row_major(t.sizes());
  LAMELLA_CHECK(t.dim() == 4, "argument 'memory_format': channels_last is for 4 dimensions, got ", t.dim());
  DimVector strides(size_t{4}, 0);
  int64_t step = 1;
  for (int d : {1, 3, 2, 0}) {
    strides[d] = step;
    step *= std::max<int64_t>(t.size(d), 1);
  }
  return strides;
}

Tensor copy_of(const Tensor& self, std::optional<MemoryFormat> format, ScalarType dtype) {
  const DimVector strides = strides_for(self, format);
  if (SchemePtr made = copied_in_order(self, strides)) return make(std::move(made), self.sizes(), strides, dtype);
  // A part of a tensor with scales by group has no dense copy; its codes are copied with what lies between them.
  LAMELLA_CHECK_NOT_IMPLEMENTED(format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve,
                                "argument 'self' is quantized (", scheme_in(self).described(),
                                "), and in another order its elements have no scales by channel or group; dequantize() "
                                "it first");
  return make(copied(self, self.device()), self.sizes(), self.strides(), dtype);
}

Tensor clone(lamella_frame* f, const Tensor& self, std::optional<MemoryFormat> format) {
  record(f->op, Way::native, scheme_in(self));
  return copy_of(self, format, self.dtype());
}

Tensor converted(lamella_frame* f, const Tensor& self, const std::optional<Device>& device,
                 std::optional<ScalarType> dtype, bool copy, std::optional<MemoryFormat> format) {
  const Scheme* s = scheme_of(self);
  LAMELLA_CHECK_NOT_IMPLEMENTED(s, "argument 'self' is not quantized");
  const ScalarType to = dtype.value_or(self.dtype());
  if (!is_floating_point(to))
    no_rule(f->op, "self", *s, " with an integer dtype: int_repr() gives the integers, dequantize().to(dtype) others");
  const Device there = device ? lamella::empty({0}, TensorOptions().device(*device)).device() : self.device();
  const bool moves = there != self.device();
  const bool lies = !format || *format == MemoryFormat::Preserve || self.is_contiguous(*format);
  if (!copy && !moves && to == self.dtype() && lies) return self;
  record(f->op, Way::native, *s);
  if (!moves) return copy_of(self, format, to);
  const Tensor far = make(copied(self, there), self.sizes(), self.strides(), to);
  return lies ? far : copy_of(far, format, to);
}

Tensor to_dtype(lamella_frame* f, const Tensor& self, ScalarType dtype, bool, bool copy,
                std::optional<MemoryFormat> format) {
  return converted(f, self, {}, dtype, copy, format);
}
Tensor to_device(lamella_frame* f, const Tensor& self, const std::optional<Device>& device,
                 std::optional<ScalarType> dtype, bool, bool copy, std::optional<MemoryFormat> format) {
  return converted(f, self, device, dtype, copy, format);
}
Tensor to_other(lamella_frame* f, const Tensor& self, const Tensor& other, bool, bool copy,
                std::optional<MemoryFormat> format) {
  return converted(f, self, other.device(), other.dtype(), copy, format);
}

const Tensor& copy(lamella_frame* f, const Tensor& self, const Tensor& src, bool non_blocking) {
  if (const Scheme* s = scheme_of(self)) {
    const Scheme* from = scheme_of(src);
    record(f->op, from && from != s && !share_scale(*from, *s) ? Way::composite : Way::native, *s);
    store(self, dequantized(src));
  } else {
    record(f->op, Way::composite, scheme_in(src));
    lamella::redispatch<Tensor>(f, self, dequantized(src), non_blocking);
  }
  return self;
}

const Tensor& fill(lamella_frame* f, const Tensor& self, const Scalar& number) {
  record(f->op, Way::native, scheme_in(self));
  store(self, lamella::full({}, number, TensorOptions().dtype(kFloat).device(self.device())));
  return self;
}
const Tensor& zero(lamella_frame* f, const Tensor& self) { return fill(f, self, 0); }

Tensor materialize(const Tensor& self, bool) { return dequantized(self); }

// ---- joined and picked elements ------------------------------------------------------------------------------------

Tensor cat(lamella_frame* f, TensorList tensors, int64_t dim) {
  const Scheme* first = nullptr;
  for (const Tensor& t : tensors)
    if (!first) first = scheme_of(t);
  LAMELLA_CHECK_NOT_IMPLEMENTED(first, "argument 'tensors': none is quantized");
  std::vector<Tensor> codes;
  ScalarType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    const Scheme* s = scheme_of(t);
    if (!s || !share_scale(*s, *first))
      no_rule(f->op, "tensors", *first,
              s ? " beside one of another scheme (" + s->described() + "): they need one scale and zero point"
                : std::string(" beside tensors that are not quantized"));
    if (t.dtype() != dtype) dtype = t.dtype() == kDouble || dtype == kDouble ? kDouble : kFloat;
    codes.push_back(codes_of(t));
  }
  record(f->op, Way::native, *first);
  return from_codes(lamella::cat(codes, dim), without_memory(*first), dtype);
}

// Returns the scheme of the first quantized argument.
const Scheme* first_scheme(const lamella_frame* f, const lamella_value* args) {
  for (int i = 0; i < f->num_args; i++)
    if (args[i].tag == LAMELLA_TENSOR)
      if (const Scheme* s = scheme_of(args[i].as.tensor)) return s;
  throw Error(LAMELLA_NOT_IMPLEMENTED, title(f) + ": no argument is quantized");
}

// Runs an operator that moves the elements of its first argument on the codes.
lamella_status move(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&]() -> lamella_status {
    if (by_own_kernel(f, args, rets)) return LAMELLA_OK;
    const Tensor self = Tensor::borrow(args[0].as.tensor);
    const Scheme* s = scheme_of(self);
    for (int i = 1; i < f->num_args; i++)
      if (args[i].tag == LAMELLA_TENSOR)
        if (const Scheme* other = scheme_of(args[i].as.tensor))
          no_rule(f->op, api().operator_argument(f->op, i)->name, *other);
    if (!s || !has_one_scale(*s))
      no_rule(f->op, "self", s ? *s : *first_scheme(f, args), ", as its elements have scales of their own");
    const std::string_view name = api().operator_name(f->op);
    if (name.find("max_pool") != name.npos && !s->type->is_integer())
      no_rule(f->op, "self", *s, ", as its codes do not have the order of their values");
    record(f->op, Way::native, *s);
    std::vector<lamella_value> all(args, args + f->num_args);
    const Tensor codes = codes_of(self);
    all[0].as.tensor = codes.get();
    lamella_value ret = none();
    check(api().call(nullptr, f->op, all.data(), f->num_args, &ret, 1));
    const Tensor moved = Tensor::steal(ret.as.tensor);
    const Tensor made = from_codes(moved, without_memory(*s), self.dtype());
    const lamella_value v = value(made);
    return api().value_retain(&v, &rets[0]);
  });
}

// Means of elements of one scale: float32 means of the codes less the zero point, rounded to integers, halves to the even
// one. The sums are exact where fewer than 2^24 steps are added up.
lamella_status average(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&]() -> lamella_status {
    if (by_own_kernel(f, args, rets)) return LAMELLA_OK;
    const Tensor self = Tensor::borrow(args[0].as.tensor);
    const Scheme* s = scheme_of(self);
    if (!s || !has_one_scale(*s) || !s->type->is_integer())
      no_rule(f->op, "self", s ? *s : *first_scheme(f, args), ", as its elements have scales of their own");
    record(f->op, Way::native, *s);
    const Tensor one = lamella::ones({1}, TensorOptions().dtype(kFloat).device(self.device()));
    const Tensor zero = s->zero_tensor(self.device());
    const Tensor steps = lamella::_dequantize(codes_of(self), one, zero, 1, kFloat);
    std::vector<lamella_value> all(args, args + f->num_args);
    all[0].as.tensor = steps.get();
    lamella_value ret = none();
    check(api().call(nullptr, f->op, all.data(), f->num_args, &ret, 1));
    const Tensor means = Tensor::steal(ret.as.tensor);
    const Tensor codes = lamella::_quantize(means, one, zero, 1, s->low, s->high, s->type->code);
    const Tensor made = from_codes(codes, without_memory(*s), self.dtype());
    const lamella_value v = value(made);
    return api().value_retain(&v, &rets[0]);
  });
}

// Returns the dequantized rows of a table. A table of weights has a scale for all, for each row or for groups within
// the rows.
Tensor rows_of(lamella_frame* f, const Tensor& weight, const Tensor& indices) {
  const Scheme* s = scheme_of(weight);
  if (!s) no_rule(f->op, "indices", scheme_in(indices));
  const bool rows =
      weight.dim() == 2 && weight.is_contiguous() && weight.numel() && weight.numel() == s->count && s->first == 0;
  const int64_t n = rows ? weight.size(0) : 0, width = rows ? weight.size(1) : 0, number = s->number();
  const bool by_row = number == n && s->inner == width, by_group = s->grouped && width % s->inner == 0;
  if (!rows || !(number == 1 || by_row || by_group)) no_rule(f->op, "weight", *s, " in this layout");
  LAMELLA_CHECK(indices.dtype() == kLong || indices.dtype() == kInt,
                "argument 'indices': expected int64 or int32, got ", indices.dtype());
  record(f->op, Way::native, *s);
  const Tensor at = indices.reshape({-1}).to(kLong);
  const bool halves = s->type->bits == 4 && width % 2 == 0;
  Tensor codes = halves ? s->memory.view({n, width / 2}).index_select(0, at)
                        : s->codes(0, weight.numel()).view({n, width}).index_select(0, at);
  if (halves) codes = lamella::_unpack_nibbles(codes.reshape({-1}), {at.numel(), width}, s->type->code);
  Tensor scales = s->scale_tensor(weight.device()), zeros = s->zero_tensor(weight.device());
  if (number > 1) {
    const auto picked = [&](const Tensor& t) {
      return t.defined() ? t.view({n, number / n}).index_select(0, at).reshape({-1}) : t;
    };
    scales = picked(scales);
    zeros = picked(zeros);
  }
  DimVector sizes(indices.sizes());
  sizes.push_back(width);
  if (!at.numel()) return lamella::empty(sizes, TensorOptions().dtype(weight.dtype()).device(weight.device()));
  return s->values_of(codes, scales, zeros, number > 1 ? s->inner : 1, 0, weight.dtype()).view(sizes);
}

Tensor embedding(lamella_frame* f, const Tensor& weight, const Tensor& indices, int64_t padding, bool by_frequency,
                 bool sparse) {
  const Tensor own =
      by_own_kernel(f, {value(weight), value(indices), value(padding), value(by_frequency), value(sparse)});
  return own.defined() ? own : rows_of(f, weight, indices);
}

// Returns bags of rows of a table, by a plain call whose table is the dequantized rows that the indices name.
std::tuple<Tensor, Tensor, Tensor, Tensor> padded_bags(lamella_frame* f, const Tensor& weight, const Tensor& indices,
                                                       const Tensor& offsets, bool by_frequency, int64_t mode,
                                                       bool sparse, const Tensor& by_sample, bool ends,
                                                       std::optional<int64_t> padding) {
  for (const auto& [name, t] : {std::pair<const char*, const Tensor&>{"indices", indices},
                                {"offsets", offsets},
                                {"per_sample_weights", by_sample}})
    if (t.defined() && scheme_of(t)) no_rule(f->op, name, scheme_in(t));
  LAMELLA_CHECK(weight.dim() == 2, "argument 'weight': expected 2 dimensions, got shape ", weight.sizes());
  LAMELLA_CHECK(indices.dim() == 1, "argument 'indices': expected a vector, got shape ", indices.sizes());
  const int64_t rows = weight.size(0), n = indices.numel();
  LAMELLA_CHECK(!padding || (*padding >= -rows && *padding < rows), "argument 'padding_idx': ", padding.value_or(0),
                " is out of range for ", rows, " rows");
  const Tensor table = rows_of(f, weight, indices);
  Tensor at = lamella::arange(n, indices.options());
  // A padding index names row n, which is not counted.
  if (padding) at = lamella::where(indices.eq((*padding + rows) % rows), n, at);
  const Tensor last = lamella::zeros({1, weight.size(1)}, table.options());
  const auto [sums, bag, size, most] =
      lamella::embedding_bag(lamella::cat({table, last}, 0), at, offsets, by_frequency, mode, sparse, by_sample, ends,
                             padding ? std::optional(n) : std::nullopt);
  constexpr int64_t largest = 2;
  if (mode != largest || !n) return {sums, bag, size, most};
  return {sums, bag, size,
          lamella::where(most >= 0, indices.index_select(0, most.clamp(0).reshape({-1})).view(most.sizes()), most)};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> bags(lamella_frame* f, const Tensor& weight, const Tensor& indices,
                                                const Tensor& offsets, bool by_frequency, int64_t mode, bool sparse,
                                                const Tensor& by_sample, bool ends) {
  return padded_bags(f, weight, indices, offsets, by_frequency, mode, sparse, by_sample, ends, std::nullopt);
}

// Copies the codes to page-locked memory.
Tensor pin_memory(lamella_frame* f, const Tensor& self, std::optional<Device> device) {
  if (scheme_in(self).memory.is_pinned()) return self;
  record(f->op, Way::native, scheme_in(self));
  const auto pinned = std::make_shared<Scheme>(*copied(self, self.device()));
  pinned->memory = pinned->memory.pin_memory(device);
  return make(pinned, self.sizes(), self.strides(), self.dtype());
}

// Returns a tensor with another scale: the tensor itself if it has that scale.
Tensor requantize(const Tensor& self, double scale, int64_t zero, const std::string& dtype, std::optional<int64_t> low,
                  std::optional<int64_t> high) {
  static const lamella_operator* const op = api().find_operator("quantized::requantize", "");
  const Scheme& s = scheme_in(self);
  std::shared_ptr<Scheme> to = scheme_to(dtype, scale, zero, low, high);
  if (share_scale(s, *to)) return self;
  record(op, Way::composite, s);
  return from_values(dequantized(self), std::move(to), self.dtype());
}

}  // namespace

void register_moves(Library& m) {
  m.def(
      "requantize(Tensor self, float scale, int zero_point, str dtype, int? quant_min=None, int? quant_max=None) -> "
      "Tensor",
      requantize);
  m.rule("requantize", "named_tensor", "self");
  m.derivative("requantize", "self: quantized::no_gradient(grad)");
  m.impl("aten::clone", layer_name, clone);
  m.impl("aten::to.dtype", layer_name, to_dtype);
  m.impl("aten::to.device", layer_name, to_device);
  m.impl("aten::to.other", layer_name, to_other);
  m.impl("aten::copy_", layer_name, copy);
  m.impl("aten::fill_.Scalar", layer_name, fill);
  m.impl("aten::zero_", layer_name, zero);
  m.impl("aten::_materialize", layer_name, materialize);
  m.impl("aten::cat", layer_name, cat);
  m.impl("aten::embedding", layer_name, embedding);
  m.impl("aten::pin_memory", layer_name, pin_memory);
  m.impl("aten::embedding_bag", layer_name, bags);
  m.impl("aten::embedding_bag.padding_idx", layer_name, padded_bags);
  for (const char* op : {"index_select", "gather", "index.Tensor", "flip", "roll", "repeat", "take", "masked_select",
                         "max_pool1d", "max_pool2d", "max_pool3d", "repeat_interleave.self_int", "rot90", "tile"})
    m.impl((std::string("aten::") + op).c_str(), layer_name, move, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  for (const char* op : {"avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
                         "adaptive_avg_pool3d", "mean.dim"})
    m.impl((std::string("aten::") + op).c_str(), layer_name, average, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
}

}  // namespace lamella::quantization
