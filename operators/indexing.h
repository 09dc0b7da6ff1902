// Common parts of operators over index tensors: checks of their arguments, and shape rules that are one check.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Return the number of dimensions and one size of a tensor; a zero-dim tensor counts as one dimension of size one.
inline int64_t dims_of(const Tensor& t) { return std::max<int64_t>(t.dim(), 1); }
inline int64_t size_of(const Tensor& t, int64_t d) { return t.dim() ? t.sizes()[d] : 1; }

void check_int64(const char* name, const Tensor& index);
// check_places() raises unless the indices of gather and scatter are int64 or int32.
void check_places(const char* name, const Tensor& index);
void check_integral(const char* name, const Tensor& index);
void check_same_dtype(const char* name, const Tensor& t, const Tensor& self);
// Checks a number or a zero-dim tensor that is written into a dtype.
void check_filling(const char* name, const Scalar& value, ScalarType dtype);
void check_filling(const char* name, const Tensor& value, ScalarType dtype);
// Raises if `t` has elements and uses the storage of `self`, which is written while `t` is read.
void check_apart(const char* name, const Tensor& t, const Tensor& self);

// Replaces negative indices, which count from the end.
Tensor wrapped(const Tensor& index, int64_t n);

// The shape rules of an operator's two forms, made of one check that takes all of its arguments.
template <auto Check>
struct RulesOf;
template <class... Rest, void (*Check)(const Tensor&, Rest...)>
struct RulesOf<Check> {
  static void copied(const Tensor& self, Rest... rest, Output out) {
    Check(self, rest...);
    out.set(self.sizes(), self.dtype());
  }
  static void written(const Tensor& self, Rest... rest, Output out) {
    Check(self, rest...);
    out.same(self);
  }
};
// The functional form makes a new tensor, the in-place form returns `self` itself.
template <auto Check>
inline constexpr auto infer_copied = RulesOf<Check>::copied;
template <auto Check>
inline constexpr auto infer_written = RulesOf<Check>::written;

}  // namespace lamella::operators
