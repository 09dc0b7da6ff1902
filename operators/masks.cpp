// Bool masks, and the places of nonzero elements.
#include "operators/indexing.h"

namespace lamella {

// The result of an operator that returns a list if `many`, else one tensor.
struct OneOrMany {
  std::vector<Tensor> tensors;
  bool many;
};
template <>
struct detail::Convert<OneOrMany, void> : detail::Convert<std::vector<Tensor>> {
  static lamella_status put(const OneOrMany& x, lamella_value* out) {
    return x.many ? Convert<std::vector<Tensor>>::put(x.tensors, out) : Convert<Tensor>::put(x.tensors[0], out);
  }
};

}  // namespace lamella

namespace lamella::operators {
namespace {

// Checks that the mask is bool and broadcasts with self, or to it; returns their common shape.
DimVector check_mask(const Tensor& self, const Tensor& mask, bool to_self) {
  LAMELLA_CHECK(mask.dtype() == kBool, argument("mask"), ": expected a bool mask, got dtype ", mask.dtype());
  DimVector common(self.sizes());
  const bool fits = broadcast(&common, mask.sizes()) && (!to_self || IntArrayRef(common) == self.sizes());
  LAMELLA_CHECK(fits, argument("mask"), ": shape ", shape_text(mask), " does not broadcast ", to_self ? "to " : "with ",
                shape_text(self), " ('self')");
  return common;
}

// Converts the value so that where() keeps self's dtype. A tensor is always converted, a number only if promotion would
// otherwise change the result's dtype.
Tensor filling(const Tensor& value, ScalarType dtype) { return value.to(dtype); }
Scalar filling(const Scalar& value, ScalarType dtype) {
  const lamella_value v = value.value();
  if (core::can_cast(core::number_dtype(v), core_dtype(dtype))) return value;
  const double number = core::as_double(v);
  return dtype == kBool ? Scalar(number != 0) : Scalar(static_cast<int64_t>(number));
}

// masked_fill takes a number or a zero-dim tensor.
template <class Value>
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Value& value) {
  check_mask(self, mask, false);
  check_filling("value", value, self.dtype());
  return lamella::where(mask, filling(value, self.dtype()), self);
}

template <class Value>
void check_masked_fill_inplace(const Tensor& self, const Tensor& mask, const Value& value) {
  check_mask(self, mask, true);
  check_filling("value", value, self.dtype());
}

// Writes the result of where() into self, in one pass.
template <class Value>
const Tensor& masked_fill_inplace(const Tensor& self, const Tensor& mask, const Value& value) {
  const Tensor apart = mask.get()->storage == self.get()->storage ? mask.clone() : mask;
  return lamella::where_out(self, apart, filling(value, self.dtype()), self);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const DimVector common = check_mask(self, mask, false);
  const auto fitted = [&](const Tensor& t) {
    const Tensor x = t.sizes() == IntArrayRef(common) ? t : t.expand(common);
    return common.empty() ? x.reshape({1}) : x;
  };
  const Tensor x = fitted(self), at = fitted(mask);
  return lamella::index(x, {at});
}

void infer_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source, Output out) {
  const DimVector common = check_mask(self, mask, false);
  check_same_dtype("source", source, self);
  out.set(common, self.dtype());
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const DimVector common = check_mask(self, mask, false);
  const Tensor copy = self.expand(common).clone(MemoryFormat::Contiguous);
  const Tensor at = mask.expand(common).reshape({copy.numel()}).nonzero().select(1, 0);
  LAMELLA_CHECK(at.numel() <= source.numel(), argument("source"), ": ", source.numel(), " elements for ", at.numel(),
                " places of the mask");
  const Tensor values = slice(source.reshape({source.numel()}), 0, 0, at.numel());
  copy.view({copy.numel()}).scatter_(0, at, values);
  return copy;
}

void infer_nonzero(const Tensor& /*self*/, Output out) {
  out.dynamic();
  out.exact();
}

Tensor argwhere(const Tensor& self) { return self.nonzero(); }

// Returns one vector of indices for each dimension; a zero-dim tensor counts as one dimension of size one.
std::vector<Tensor> nonzero_by_dimension(const Tensor& self) {
  return (self.dim() == 0 ? self.reshape({1}) : self).nonzero().unbind(1);
}

OneOrMany nonzero_as_tuple(const Tensor& self, bool as_tuple) {
  return as_tuple ? OneOrMany{nonzero_by_dimension(self), true} : OneOrMany{{self.nonzero()}, false};
}

}  // namespace

LAMELLA_FAMILY(mask, .category = "indexing", .forms = everywhere, .dims = "broadcast") {
  return {
      {.schema = "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
       .composite = composite<masked_fill<Scalar>>,
       .doc = R"(`self` with `value` where the bool mask holds.

>>> lamella.masked_fill(lamella.tensor([1, 2]), lamella.tensor([True, False]), 0)
tensor([0, 2])
)"},
      {.schema = "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
       .composite = composite<masked_fill<Tensor>>},
      {.schema = "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_masked_fill_inplace<Scalar>>>,
       .composite = composite<masked_fill_inplace<Scalar>>,
       .doc = R"(masked_fill() in place.

>>> lamella.tensor([1, 2]).masked_fill_(lamella.tensor([True, False]), 0)
tensor([0, 2])
)"},
      {.schema = "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_masked_fill_inplace<Tensor>>>,
       .composite = composite<masked_fill_inplace<Tensor>>},
      {.schema = "masked_select(Tensor self, Tensor mask) -> Tensor",
       .dims = "...~, ...~ -> a",
       .forms = everywhere | out,
       .composite = composite<masked_select>,
       .doc = R"(The elements where the bool mask holds, as one row; both broadcast.

>>> lamella.masked_select(lamella.tensor([1, 2, 3]), lamella.tensor([True, False, True]))
tensor([1, 3])
)"},
      {.schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
       .dims = "",
       .category = "scatter",
       .forms = everywhere | inplace,
       .infer = shape<infer_masked_scatter>,
       .composite = composite<masked_scatter>,
       .doc = R"(`self` with the first elements of `source`, in row-major order, where the bool mask holds.

>>> lamella.masked_scatter(lamella.zeros(3), lamella.tensor([True, False, True]), lamella.tensor([1., 2.]))
tensor([1., 0., 2.])
)"},
      {.schema = "nonzero(Tensor self) -> Tensor",
       .dims = "...~ -> a b",
       .forms = everywhere | out,
       .infer = shape<infer_nonzero>,
       .doc = R"(The indices of the elements that are not zero, one row for each, in row-major order; with `as_tuple`
one vector for each dimension.

>>> lamella.nonzero(lamella.tensor([[0, 1], [2, 0]]))
tensor([[0, 1],
        [1, 0]])
)"},
      {.schema = "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor[]",
       .dims = "...~ -> a",
       .composite = composite<nonzero_as_tuple>},
      {.schema = "argwhere(Tensor self) -> Tensor",
       .dims = "...~ -> a b",
       .composite = composite<argwhere>,
       .doc = R"(nonzero() by numpy's name.

>>> lamella.argwhere(lamella.tensor([0, 3]))
tensor([[1]])
)"},
      {.schema = "where(Tensor condition) -> Tensor[]",
       .dims = "...~ -> a",
       .forms = function,
       .composite = composite<nonzero_by_dimension>},
  };
}

}  // namespace lamella::operators
