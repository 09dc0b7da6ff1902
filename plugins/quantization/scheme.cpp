#include "scheme.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lamella::quantization {
namespace {

// Calls an operator of one tensor that a numeric type has registered.
Tensor called(const lamella_operator* op, const Tensor& x) {
  const lamella_value arg = value(x);
  lamella_value ret = none();
  check(api().call(nullptr, op, &arg, 1, &ret, 1));
  const Tensor made = Tensor::steal(ret.tag == LAMELLA_TENSOR ? ret.as.tensor : nullptr);
  LAMELLA_CHECK_TYPE(made.defined() && made.sizes() == x.sizes(), api().operator_name(op),
                     ": an operator of a numeric type returns a tensor with an element for each that it gets");
  return made;
}

int64_t bytes_of(const NumericType& type, int64_t count) { return type.bits == 4 ? (count + 1) / 2 : count; }

// Returns a plain tensor over the memory of a tensor of one dimension, which is no view of it.
Tensor over(const Tensor& flat, IntArrayRef sizes, IntArrayRef strides, int64_t offset = 0) {
  lamella_tensor* t;
  check(api().tensor_over(flat.get()->storage, static_cast<int32_t>(sizes.size()), sizes.data(), strides.data(),
                          flat.storage_offset() + offset, static_cast<uint8_t>(flat.dtype()), &t));
  return Tensor::steal(t);
}

// Returns whether a tensor's elements lie with these strides; those of dimensions of one element do not count.
bool lies_so(const Tensor& t, IntArrayRef strides) {
  for (int64_t d = 0; d < t.dim(); d++)
    if (t.size(d) != 1 && t.stride(d) != strides[d]) return false;
  return true;
}

}  // namespace

// ---- codes ---------------------------------------------------------------------------------------------------------

Tensor Scheme::scale_tensor(const Device& device) const {
  return scales.defined() ? scales : lamella::full({1}, scale, TensorOptions().dtype(kFloat).device(device));
}
Tensor Scheme::zero_tensor(const Device& device) const {
  if (scales.defined()) return zeros;
  return zero ? lamella::full({1}, zero, TensorOptions().dtype(kInt).device(device)) : Tensor();
}

Tensor Scheme::codes(int64_t begin, int64_t n) const {
  if (!n) begin = 0;  // a view without elements may begin behind the last code
  if (type->bits != 4) return over(memory, {n}, {1}, begin);
  const int64_t skipped = begin % 2, unpacked = n + skipped;
  const Tensor bytes = over(memory, {(unpacked + 1) / 2}, {1}, begin / 2);
  return lamella::_unpack_nibbles(bytes, {unpacked}, type->code).narrow(0, skipped, n);
}

// Returns the scale of each of n codes, of which the first is code `at` of the blocks.
static Tensor scale_of_each(const Tensor& scales, int64_t inner, int64_t n, int64_t at) {
  const Tensor ones = lamella::ones({n}, TensorOptions().dtype(kChar).device(scales.device()));
  return lamella::_dequantize(ones, scales, {}, inner, kFloat, at);
}

Tensor Scheme::values(int64_t begin, int64_t n, ScalarType dtype) const {
  const Device device = memory.device();
  const int64_t at = (first + begin) % (inner * number());
  return values_of(codes(begin, n), scale_tensor(device), zero_tensor(device), inner, at, dtype);
}

Tensor Scheme::values_of(const Tensor& codes, const Tensor& scales, const Tensor& zeros, int64_t inner, int64_t at,
                         ScalarType dtype) const {
  if (type->is_integer()) return lamella::_dequantize(codes, scales, zeros, inner, dtype, at);
  const Tensor each = scale_of_each(scales, inner, codes.numel(), at);
  return (called(type->decode, codes.reshape({-1})) * each).to(dtype).view(codes.sizes());
}

Tensor Scheme::rounded(const Tensor& x, int64_t begin) const {
  const int64_t at = (first + begin) % (inner * number());
  const Device device = x.device();
  if (type->is_integer())
    return lamella::_quantize(x, scale_tensor(device), zero_tensor(device), inner, low, high, type->code, at);
  return called(type->encode, x.to(kFloat) / scale_of_each(scale_tensor(device), inner, x.numel(), at)).to(type->code);
}

Tensor Scheme::row_sums(const Tensor& codes) const {
  const void* storage = memory.get()->storage;
  const uint64_t version = api().tensor_version(memory.get());
  {
    std::lock_guard lock(kept->guard);
    if (kept->storage == storage && kept->version == version && kept->sums.numel() == codes.size(0)) return kept->sums;
  }
  Tensor sums = codes.reshape({codes.size(0), -1}).sum({1}, false, kInt);  // no operator is called under the lock
  std::lock_guard lock(kept->guard);
  kept->storage = storage;
  kept->version = version;
  kept->sums = sums;
  return sums;
}

void Scheme::write(const Tensor& codes, int64_t begin) const {
  const int64_t n = codes.numel();
  if (type->bits != 4) {
    over(memory, {n}, {1}, begin).copy_(codes);
    return;
  }
  // Bytes of which only one half is written keep the other one.
  const int64_t from = begin - begin % 2, to = std::min(count, begin + n + (begin + n) % 2);
  Tensor all = codes;
  if (from != begin || to != begin + n) {
    all = this->codes(from, to - from).clone();
    all.narrow(0, begin - from, n).copy_(codes);
  }
  over(memory, {(to - from + 1) / 2}, {1}, from / 2).copy_(lamella::_pack_nibbles(all));
}

const char* Scheme::kind() const {
  const bool plain = is_symmetric();
  if (grouped) return plain ? "per_group_symmetric" : "per_group_affine";
  if (scales.defined()) return plain ? "per_channel_symmetric" : "per_channel_affine";
  return plain ? "per_tensor_symmetric" : "per_tensor_affine";
}

std::string Scheme::described() const { return std::string(kind()) + ", " + type->name; }

// ---- schemes without memory --------------------------------------------------------------------------------------------

std::shared_ptr<Scheme> scheme_of_type(const std::string& type, std::optional<int64_t> low,
                                       std::optional<int64_t> high) {
  auto s = std::make_shared<Scheme>();
  s->type = &find_type(type);
  s->low = low.value_or(s->type->low);
  s->high = high.value_or(s->type->high);
  LAMELLA_CHECK_VALUE(s->type->low <= s->low && s->low <= s->high && s->high <= s->type->high,
                      "argument 'quant_min': codes from ", s->low, " to ", s->high, " are no range within ",
                      s->type->name, ", from ", s->type->low, " to ", s->type->high);
  return s;
}

std::shared_ptr<Scheme> scheme_to(const std::string& type, double scale, int64_t zero, std::optional<int64_t> low,
                                  std::optional<int64_t> high) {
  std::shared_ptr<Scheme> s = scheme_of_type(type, low, high);
  LAMELLA_CHECK_VALUE(static_cast<float>(scale) > 0 && std::isfinite(static_cast<float>(scale)),
                      "argument 'scale': expected a positive finite number of float32, got ", scale);
  LAMELLA_CHECK_VALUE(s->low <= zero && zero <= s->high, "argument 'zero_point': expected an integer from ", s->low,
                      " to ", s->high, ", which ", s->type->name, " has, got ", zero);
  LAMELLA_CHECK_VALUE(s->type->is_integer() || zero == 0, "argument 'zero_point': ", s->type->name,
                      " has no zero points, got ", zero);
  s->scale = scale;
  s->zero = zero;
  return s;
}

// ---- tensors -------------------------------------------------------------------------------------------------------

const Scheme& scheme_in(const Tensor& self) {
  const Scheme* s = scheme_of(self);
  LAMELLA_CHECK(s, "argument 'self' is not quantized");
  return *s;
}

Span::Span(const Tensor& t) : begin(t.storage_offset()), n(t.numel() ? 1 : 0) {
  for (int64_t d = 0; d < t.dim() && n; d++) n += (t.size(d) - 1) * t.stride(d);
}

Tensor make(SchemePtr scheme, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  const Tensor made = lamella::opaque_over(scheme->memory, sizes, TensorOptions().dtype(dtype), strides);
  slot.set(made, State{std::move(scheme)});
  return made;
}

// Returns the elements of a tensor as one dimension, in the order in which they lie; sets the strides that they have.
static Tensor flattened(const Tensor& t, DimVector* strides) {
  const Tensor x = t.get()->flags & LAMELLA_DENSE ? t : t.contiguous();
  *strides = DimVector(x.strides());
  return x.numel() ? x.as_strided({x.numel()}, {1}, x.storage_offset()) : x.reshape({0});
}

Tensor from_codes(const Tensor& codes, std::shared_ptr<Scheme> s, ScalarType dtype) {
  DimVector strides;
  const Tensor flat = flattened(codes, &strides);
  s->count = flat.numel();
  s->memory = s->type->bits == 4 ? lamella::_pack_nibbles(flat) : flat.storage_offset() ? flat.clone() : flat.detach();
  return make(std::move(s), codes.sizes(), strides, dtype);
}

Tensor from_values(const Tensor& values, std::shared_ptr<Scheme> s, ScalarType dtype) {
  DimVector strides;
  const Tensor flat = flattened(values, &strides);
  const Tensor codes = s->rounded(flat, 0);
  s->count = flat.numel();
  s->memory = s->type->bits == 4 ? lamella::_pack_nibbles(codes) : codes;
  return make(std::move(s), values.sizes(), strides, dtype);
}

Tensor dequantized(const Tensor& t) {
  const Scheme* s = scheme_of(t);
  if (!s) return t;
  const Span span(t);
  if (t.is_contiguous()) return s->values(span.begin, span.n, t.dtype()).view(t.sizes());
  return over(s->values(span.begin, span.n, t.dtype()), t.sizes(), t.strides());
}

Tensor codes_of(const Tensor& t) {
  const Span span(t);
  const Tensor flat = scheme_in(t).codes(span.begin, span.n);
  return flat.as_strided(t.sizes(), t.strides(), flat.storage_offset()).clone();
}

SchemePtr copied(const Tensor& t, const Device& device) {
  const Scheme& s = scheme_in(t);
  const Span span(t);
  auto made = std::make_shared<Scheme>(s);
  made->kept = std::make_shared<RowSums>();
  made->count = span.n;
  made->first = (s.first + span.begin) % (s.inner * s.number());
  if (s.type->bits != 4)
    made->memory = s.codes(span.begin, span.n).to(device, {}, false, true);
  else
    made->memory = lamella::_pack_nibbles(s.codes(span.begin, span.n)).to(device);
  if (s.scales.defined()) made->scales = s.scales.to(device);
  if (s.zeros.defined()) made->zeros = s.zeros.to(device);
  return made;
}

namespace {

// Finds the scales of a tensor's elements along one dimension: those of all elements with the same index there are the
// same. Writes the places of these scales and returns the dimension, -1 if one scale serves all, or -2 if there is none.
int64_t find_axis(const Tensor& t, const Scheme& s, std::vector<int64_t>* places) {
  const int64_t n = s.number(), period = n * s.inner, start = s.first + t.storage_offset();
  for (int64_t axis = -1; axis < t.dim(); axis++) {
    int64_t others = 0;  // the codes that the other dimensions span, less whole periods
    for (int64_t d = 0; d < t.dim(); d++)
      if (d != axis && t.stride(d) % period != 0) others += (t.size(d) - 1) * t.stride(d);
    places->clear();
    bool fits = true;
    for (int64_t i = 0; i < (axis < 0 ? 1 : t.size(axis)) && fits; i++) {
      const int64_t at = start + (axis < 0 ? 0 : i * t.stride(axis));
      fits = at % s.inner + others < s.inner;
      places->push_back(at / s.inner % n);
    }
    if (fits) return axis;
  }
  return -2;
}

}  // namespace

SchemePtr copied_in_order(const Tensor& t, IntArrayRef strides) {
  const Scheme& s = scheme_in(t);
  const Span span(t);
  if (lies_so(t, strides) && span.n == t.numel()) return copied(t, t.device());
  auto made = std::make_shared<Scheme>(s);
  made->kept = std::make_shared<RowSums>();
  made->first = 0;
  made->inner = 1;
  if (s.scales.defined() && t.numel()) {
    std::vector<int64_t> places;
    const int64_t axis = find_axis(t, s, &places);
    if (axis < -1) return nullptr;
    if (axis >= 0) made->inner = std::max<int64_t>(strides[axis], 1);
    const auto n = static_cast<int64_t>(places.size());
    const Tensor index = lamella::from_blob(places.data(), {n}).to(t.device(), {}, false, true);
    made->scales = s.scales.index_select(0, index);
    if (s.zeros.defined()) made->zeros = s.zeros.index_select(0, index);
    made->grouped = false;
  }
  DimVector order(strides.size(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  const Tensor flat = s.codes(span.begin, span.n);
  const Tensor codes = flat.as_strided(t.sizes(), t.strides(), flat.storage_offset()).permute(order).reshape({-1});
  made->count = t.numel();
  made->memory = s.type->bits == 4 ? lamella::_pack_nibbles(codes) : codes.clone();
  return made;
}

void store(const Tensor& to, const Tensor& values) {
  const Scheme& s = scheme_in(to);
  const Span span(to);
  if (!span.n) return;
  const ScalarType work = values.is_floating_point() ? values.dtype() : values.itemsize() < 4 ? kFloat : kDouble;
  const Tensor x = values.to(to.device(), work).expand(to.sizes());
  if (to.is_contiguous()) return s.write(s.rounded(x.reshape({-1}), span.begin), span.begin);
  const Tensor all = lamella::zeros({span.n}, TensorOptions().dtype(x.dtype()).device(to.device()));
  all.as_strided(to.sizes(), to.strides(), 0).copy_(x);
  const Tensor fresh = s.rounded(all, span.begin), old = s.codes(span.begin, span.n);
  const auto elements = [&](const Tensor& t) { return t.as_strided(to.sizes(), to.strides(), t.storage_offset()); };
  elements(old).copy_(elements(fresh));
  if (s.type->bits == 4) s.write(old, span.begin);
}

// ---- the slot ------------------------------------------------------------------------------------------------------

std::optional<State> State::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  if (how == LAMELLA_CARRY_VIEW || how == LAMELLA_CARRY_RESIZE || how == LAMELLA_CARRY_DETACH) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(to.dtype() == from.dtype() && to.get()->storage == from.get()->storage,
                                  "a quantized tensor has no view in another dtype; int_repr() gives its integers, and "
                                  "to(dtype) changes the dtype of its arithmetic");
    const Span reached(to);
    LAMELLA_CHECK(!reached.n || reached.begin + reached.n <= scheme->count, "a view of ", reached.begin + reached.n,
                  " codes reaches beyond the ", scheme->count, " of the quantized tensor");
    return *this;
  }
  if (how == LAMELLA_CARRY_GRADIENT)
    throw Error(LAMELLA_RUNTIME_ERROR,
                "integers carry no gradient: this quantized tensor has got one, since it requires it; set its .grad to "
                "None and call requires_grad_(False), or train a floating tensor through fake_quantize");
  if (how != LAMELLA_CARRY_COPY && how != LAMELLA_CARRY_DEVICE) return std::nullopt;
  SchemePtr made;
  if (how == LAMELLA_CARRY_DEVICE || lies_so(from, to.strides()))
    made = copied(from, to.device());
  else
    made = copied_in_order(from, to.strides());
  LAMELLA_CHECK_NOT_IMPLEMENTED(made, "a copy in another order has no scales by channel or group; dequantize() first");
  check(api().tensor_set_storage(to.get(), made->memory.get()->storage));
  return State{made};
}

OwnedValue State::save(const Tensor& of) const {
  const Span span(of);
  const bool whole = span.begin == 0 && span.n == scheme->count;
  const SchemePtr s = whole ? scheme : copied(of, of.device());
  const bool many = s->scales.defined();
  const int64_t blocks[] = {s->count, s->inner, s->first, s->low, s->high, s->grouped ? 1 : 0};
  const lamella_value parts[] = {
      value("type"),       value(s->type->name),
      value("codes"),      value(s->memory),
      value("scale"),      many ? value(s->scales) : value(s->scale),
      value("zero_point"), !many ? value(s->zero) : s->zeros.defined() ? value(s->zeros) : none(),
      value("blocks"),     value(IntArrayRef(blocks, 6)),
  };
  lamella_value all{LAMELLA_DICT, sizeof parts / sizeof *parts / 2, {0}};
  all.as.values = parts;
  return OwnedValue(all);
}

std::optional<State> State::load(const Tensor& to, const lamella_value& saved) {
  const auto part = [&](const char* name) -> const lamella_value& {
    const lamella_value* v = saved.tag == LAMELLA_DICT ? Dict(saved).find(name) : nullptr;
    LAMELLA_CHECK_VALUE(v, "quantized: a part of what was saved is missing: ", name);
    return *v;
  };
  const auto fits = [&](bool good, const char* name) {
    LAMELLA_CHECK_VALUE(good, "quantized: what was saved does not fit a tensor of shape ", to.sizes(), " on ",
                        to.device(), ": ", name);
  };
  auto s = std::make_shared<Scheme>();
  fits(part("type").tag == LAMELLA_STRING, "type");
  s->type = &find_type(std::string_view(part("type").as.string, part("type").length));
  const lamella_value &codes = part("codes"), &scale = part("scale"), &zero = part("zero_point"),
                      &blocks = part("blocks");
  fits(blocks.tag == LAMELLA_INT_LIST && blocks.length == 6, "blocks");
  const int64_t* b = blocks.as.ints;
  s->count = b[0], s->inner = b[1], s->first = b[2], s->low = b[3], s->high = b[4], s->grouped = b[5] != 0;
  const Span span(to);
  fits(codes.tag == LAMELLA_TENSOR && s->count >= 0 && s->count <= int64_t{1} << 60, "codes");
  s->memory = Tensor::borrow(codes.as.tensor);
  fits(to.is_opaque() && !s->memory.is_opaque() && s->memory.dim() == 1 && s->memory.is_contiguous() &&
           s->memory.storage_offset() == 0 && s->memory.numel() == bytes_of(*s->type, s->count) &&
           s->memory.dtype() == (s->type->bits == 4 ? kByte : s->type->code) && s->memory.device() == to.device() &&
           span.begin + span.n <= s->count && is_floating_point(to.dtype()),
       "codes");
  fits(s->type->low <= s->low && s->low <= s->high && s->high <= s->type->high, "blocks");
  if (scale.tag == LAMELLA_FLOAT) {
    s->scale = scale.as.d;
    fits(static_cast<float>(s->scale) > 0 && std::isfinite(static_cast<float>(s->scale)), "scale");
    fits(zero.tag == LAMELLA_INT && s->low <= zero.as.i && zero.as.i <= s->high, "zero_point");
    s->zero = zero.as.i;
  } else {
    const auto list = [&](const lamella_value& v, ScalarType dtype, const char* name) {
      fits(v.tag == LAMELLA_TENSOR, name);
      const Tensor t = Tensor::borrow(v.as.tensor);
      fits(!t.is_opaque() && t.dim() == 1 && t.numel() > 0 && t.dtype() == dtype && t.device() == to.device(), name);
      return t;
    };
    const auto all = [&](const Tensor& good) { return to.device().is_meta() || good.all().item().to<bool>(); };
    s->scales = list(scale, kFloat, "scale");
    fits(all((s->scales > 0).logical_and(s->scales.isfinite())), "scale");
    if (zero.tag != LAMELLA_NONE) {
      s->zeros = list(zero, kInt, "zero_point");
      fits(s->zeros.numel() == s->scales.numel(), "zero_point");
      fits(all((s->zeros >= s->low).logical_and(s->zeros <= s->high)), "zero_point");
    }
  }
  fits(s->inner > 0 && s->inner <= int64_t{1} << 40 && s->first >= 0 && s->first < s->inner * s->number(), "blocks");
  check(api().tensor_set_storage(to.get(), s->memory.get()->storage));
  return State{std::move(s)};
}

}  // namespace lamella::quantization
