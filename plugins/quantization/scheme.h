// A quantized tensor: an opaque tensor over the memory of its codes, whose state is a Scheme.
//
// Note [Schemes]  A Scheme says what the codes of a whole memory mean: code k has scale ((first + k) / inner) % n of n
//   scales. A tensor stands over the memory with sizes, strides and an offset in codes, as any tensor over its storage
//   does, so that all views of a tensor share its Scheme, also those for which no dimension has the scales. The codes of
//   four bits lie two a byte, the first in the low half; offsets and strides count codes, not bytes.
#pragma once

#include <lamella/extension.h>

#include <memory>
#include <mutex>

#include "types.h"

namespace lamella::quantization {

inline constexpr const char* layer_name = "quantized";
inline int32_t layer_bit = -1;

// The sums of the rows of a weight, kept as long as the weight is not written.
struct RowSums {
  std::mutex guard;
  const void* storage = nullptr;
  uint64_t version = 0;
  Tensor sums;
};

struct Scheme {
  const NumericType* type;
  Tensor memory;      // one dimension: the codes, or the bytes of codes of four bits
  int64_t count = 0;  // of codes
  int64_t inner = 1, first = 0;
  Tensor scales;  // one dimension, float32; undefined: `scale` is that of all codes, and `zero` their zero point
  Tensor zeros;   // of the same shape, int32; undefined: all are 0
  double scale = 1;
  int64_t zero = 0;
  int64_t low, high;     // the least and the greatest code in use
  bool grouped = false;  // the scales are those of groups, not of channels
  std::shared_ptr<RowSums> kept = std::make_shared<RowSums>();

  int64_t number() const { return scales.defined() ? scales.numel() : 1; }
  bool is_symmetric() const { return scales.defined() ? !zeros.defined() : zero == 0; }
  // Returns the scales and the zero points as the operators _quantize and _dequantize take them.
  Tensor scale_tensor(const Device& device) const;
  Tensor zero_tensor(const Device& device) const;
  // Returns codes [begin, begin + n) as a tensor of one dimension: a view of the memory, or numbers of four bits
  // unpacked.
  Tensor codes(int64_t begin, int64_t n) const;
  // Returns the values of codes [begin, begin + n), computed in float32.
  Tensor values(int64_t begin, int64_t n, ScalarType dtype) const;
  // Returns the values of any codes of the type, by blocks of scales and zero points as those of _dequantize.
  Tensor values_of(const Tensor& codes, const Tensor& scales, const Tensor& zeros, int64_t inner, int64_t at,
                   ScalarType dtype) const;
  // Returns the codes of values of one dimension that lie at [begin, ...) in the memory.
  Tensor rounded(const Tensor& values, int64_t begin) const;
  // Returns the sums of the rows of the codes of a whole weight, (rows, …), as int32.
  Tensor row_sums(const Tensor& codes) const;
  // Writes codes of one dimension to [begin, ...).
  void write(const Tensor& codes, int64_t begin) const;
  const char* kind() const;       // "per_tensor_affine", ...
  std::string described() const;  // "per_tensor_affine, int8"
};
using SchemePtr = std::shared_ptr<const Scheme>;

// Makes a scheme without memory and without scales, for codes of a range: by default the type's. Raises if the type does
// not have the range.
std::shared_ptr<Scheme> scheme_of_type(const std::string& type, std::optional<int64_t> low,
                                       std::optional<int64_t> high);
// The same with a scale and a zero point for all codes; raises for numbers that are none.
std::shared_ptr<Scheme> scheme_to(const std::string& type, double scale, int64_t zero, std::optional<int64_t> low,
                                  std::optional<int64_t> high);

// The state of a tensor.
struct State {
  SchemePtr scheme;

  std::optional<State> carry(const Tensor& from, const Tensor& to, int32_t how) const;
  OwnedValue save(const Tensor& of) const;
  static std::optional<State> load(const Tensor& to, const lamella_value& saved);
};
inline Slot<State> slot;

inline const Scheme* scheme_of(const lamella_tensor* t) {
  const State* s = slot.get(t);
  return s ? s->scheme.get() : nullptr;
}
inline const Scheme* scheme_of(const Tensor& t) { return scheme_of(t.get()); }
// Returns the scheme of an argument; raises for a tensor that is not quantized.
const Scheme& scheme_in(const Tensor& self);

// The codes that a tensor reaches: `n` of them from `begin` on.
struct Span {
  int64_t begin, n;
  explicit Span(const Tensor& t);
};

// Makes a quantized tensor over the memory of a scheme, from its first code on.
Tensor make(SchemePtr scheme, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype);
// Makes a quantized tensor by a scheme without memory: from values, or from codes. It lies as they do, without gaps.
Tensor from_values(const Tensor& values, std::shared_ptr<Scheme> scheme, ScalarType dtype);
Tensor from_codes(const Tensor& codes, std::shared_ptr<Scheme> scheme, ScalarType dtype);

// Returns the values of a quantized tensor, in its dtype; a plain tensor as it is.
Tensor dequantized(const Tensor& t);
// Returns the codes of a quantized tensor in its sizes, in memory of their own.
Tensor codes_of(const Tensor& t);
// Returns a scheme over a copy of the codes that a tensor reaches: a tensor over it has the strides of `t` and offset 0.
SchemePtr copied(const Tensor& t, const Device& device);
// Returns a scheme over a copy of the elements in an order without gaps, which the strides say; null if no scheme has
// the scales of `t` in that order.
SchemePtr copied_in_order(const Tensor& t, IntArrayRef strides);
// Writes values into a quantized tensor, by its own scheme.
void store(const Tensor& to, const Tensor& values);

}  // namespace lamella::quantization
