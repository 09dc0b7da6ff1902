// Common parts of shape rules and composites: checks of arguments, and sizes and dtypes that many operators compute.
// Each check throws an Error that names the argument; the adapter puts the operator's title before it.
#pragma once

#include <lamella/extension.h>

#include <algorithm>

#include "core/device.h"
#include "core/promotion.h"
#include "core/value.h"
#include "operators/catalogue.h"

namespace lamella::operators {

// ---- declarations ----

// A shape rule or a composite that is a C++ function: {.schema = "cumsum(...)", .infer = shape<infer_scan>, ...}.
template <auto F>
constexpr Adapted<lamella_infer> shape = {
    detail::RuleFor<detail::Constant<F>>::run, [](const lamella_operator* op) {
      return guarded([op] { return detail::compare_rule<detail::RuleFor<detail::Constant<F>>>(op, true), LAMELLA_OK; });
    }};
template <auto F>
constexpr Adapted<lamella_kernel> composite = {
    detail::SignatureFor<detail::Constant<F>>::kernel(), [](const lamella_operator* op) {
      return guarded([op] {
        using S = detail::SignatureFor<detail::Constant<F>>;
        return detail::compare("composite", op, S::parameters(), S::results(), true), LAMELLA_OK;
      });
    }};

// ---- dtypes ----

inline core::DType core_dtype(ScalarType t) { return static_cast<core::DType>(t); }
inline ScalarType default_dtype() { return static_cast<ScalarType>(core::default_dtype()); }
// float32 for half precision, in which composites compute float32 and round once at the end.
inline ScalarType wide_of(ScalarType t) { return t == kHalf || t == kBFloat16 ? kFloat : t; }
// The dtype of the parts of a complex number; any other dtype itself.
inline ScalarType real_of(ScalarType t) { return t == kComplexFloat ? kFloat : t == kComplexDouble ? kDouble : t; }
// `x` in another dtype, itself if it has that one.
inline Tensor as(const Tensor& x, ScalarType t) { return x.dtype() == t ? x : x.to(t); }

// ---- arguments ----

// "argument 'dim'", the beginning of a message.
inline std::string argument(const char* name) { return std::string("argument '") + name + "'"; }
std::string shape_text(IntArrayRef sizes);  // "(2, 3)"
inline std::string shape_text(const Tensor& t) { return shape_text(t.sizes()); }

// A dimension counted from the front; an IndexError outside of [-n, n). A zero-dim tensor counts as one dimension.
int64_t wrap_dim(const char* name, int64_t dim, int64_t ndim);
// Dimensions as a set, one bit each; an error on repeats.
uint64_t wrap_dims(const char* name, IntArrayRef dims, int64_t ndim);

void check_floating(const char* name, ScalarType t);
// Negative sizes, too many of them, and more bytes than can be counted are errors.
void check_sizes(const char* name, IntArrayRef sizes, ScalarType t);
// An error where a result has more bytes than can be counted.
void check_bytes(IntArrayRef sizes, ScalarType t);
// An error unless the number can stand in the dtype.
void check_number(const char* name, const Scalar& number, ScalarType t);
// The number as a factor of such elements: beside integers and bools a floating one loses its fraction.
Scalar factor_in(const Scalar& number, ScalarType t);

// ---- shapes ----

// Broadcasts `sizes` with `other`; false where they do not fit.
bool broadcast(DimVector* sizes, IntArrayRef other);
// The result is `self`, into which `other` must broadcast.
void same_with(Output& out, const Tensor& self, const char* name, const Tensor& other);

// Lays an output of the same sizes as `t` out as a memory format wants it; without one as `t` lies.
void lay_out(Output& out, const char* name, std::optional<MemoryFormat> format, const Tensor& t);
// Lays an output out as a pointwise operator's result over these tensors, at most four.
void lay_out_as_pointwise(Output& out, std::initializer_list<const Tensor*> operands);
// Whether a tensor lies in this format already. Preserving asks for nothing.
bool lies_in(const Tensor& t, std::optional<MemoryFormat> format);

// The four arguments of factories as one.
inline TensorOptions options_of(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

}  // namespace lamella::operators
