// Common parts of shape rules and composites: checks of arguments, and sizes and dtypes that many operators compute.
// Each check throws an Error that names the argument, but for check_bytes(), which gets no name. The adapter puts the
// operator's title before the message.
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
// The dtype of the parts of a complex number; any other dtype itself.
inline ScalarType real_of(ScalarType t) { return t == kComplexFloat ? kFloat : t == kComplexDouble ? kDouble : t; }
// Converts `x` to another dtype; returns `x` itself if it has that dtype.
inline Tensor as(const Tensor& x, ScalarType t) { return x.dtype() == t ? x : x.to(t); }

// ---- arguments ----

// "argument 'dim'", the beginning of a message.
inline std::string argument(const char* name) { return std::string("argument '") + name + "'"; }
std::string shape_text(IntArrayRef sizes);  // "(2, 3)"
inline std::string shape_text(const Tensor& t) { return shape_text(t.sizes()); }

// Returns a dimension counted from the front; raises an IndexError outside of [-n, n). A zero-dim tensor counts as one
// dimension.
int64_t wrap_dim(const char* name, int64_t dim, int64_t ndim);
// Returns dimensions as a set, one bit each; raises for a repeated one.
uint64_t wrap_dims(const char* name, IntArrayRef dims, int64_t ndim);

void check_floating(const char* name, ScalarType t);
// Raises for negative sizes, too many of them, and more bytes than can be counted.
void check_sizes(const char* name, IntArrayRef sizes, ScalarType t);
// Raises if a result has more bytes than can be counted.
void check_bytes(IntArrayRef sizes, ScalarType t);
// Raises unless the dtype can hold the number.
void check_number(const char* name, const Scalar& number, ScalarType t);
// Returns the number as a factor of elements of dtype `t`: a floating number loses its fraction if `t` is an integer
// dtype or bool.
Scalar factor_in(const Scalar& number, ScalarType t);

// ---- shapes ----

// Broadcasts `sizes` with `other`; returns false if they do not fit.
bool broadcast(DimVector* sizes, IntArrayRef other);
// Makes `self` the result, into which `other` must broadcast.
void same_with(Output& out, const Tensor& self, const char* name, const Tensor& other);

// Gives an output of the same sizes as `t` the layout of a memory format; without one, that of `t`, if it is defined.
void lay_out(Output& out, const char* name, std::optional<MemoryFormat> format, const Tensor& t);
// Gives an output the layout of a pointwise operator's result over these tensors, at most four.
void lay_out_as_pointwise(Output& out, std::initializer_list<const Tensor*> operands);
// Returns whether a tensor has the layout of a format; always true for the preserving one and without a format.
bool lies_in(const Tensor& t, std::optional<MemoryFormat> format);

// Joins the four arguments of factories into one.
inline TensorOptions options_of(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

}  // namespace lamella::operators
