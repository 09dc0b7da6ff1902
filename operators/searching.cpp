// Searches: the places of numbers among sorted boundaries.
#include "operators/sort.h"

namespace lamella::operators {
namespace {

// Returns the tensor of values; undefined if the value is a number.
const Tensor& tensor_of(const Tensor& values) { return values; }
const Tensor& tensor_of(const Scalar&) { return undefined(); }

void check_values(const char* name, const Tensor& values, ScalarType t) {
  LAMELLA_CHECK(values.dtype() == t, argument(name), ": dtype ", values.dtype(), ", but the boundaries have dtype ", t,
                "; convert one");
}
void check_values(const char* name, const Scalar& values, ScalarType) {
  LAMELLA_CHECK(!values.isComplex(), argument(name), ": a complex number has no order, got ",
                core::describe(values.value()));
}

// Raises unless the boundaries are a vector or, if `rows` is true, rows that match those of the values.
void check_fit(const char* name, const Tensor& boundaries, const Tensor& values, bool rows) {
  const int64_t n = boundaries.dim();
  bool fits = n == 1 || (rows && values.defined() && n > 1 && values.dim() == n);
  for (int64_t d = 0; d + 1 < n && fits; d++) fits = boundaries.size(d) == values.size(d);
  LAMELLA_CHECK(fits, argument(name), ": expected a vector",
                rows ? " or, but for the last size, the shape of the values" : "", ", got shape ",
                shape_text(boundaries));
}

// Describes a result with one place for each value.
void set_places(Output& out, const Tensor& values, bool narrow) {
  out.set(values.defined() ? values.sizes() : IntArrayRef(), narrow ? kInt : kLong);
  out.exact();
}

template <class Values>
void infer_searchsorted(const Tensor& sorted_sequence, const Values& self, bool out_int32, bool right,
                        std::optional<std::string_view> side, const Tensor& sorter, Output out) {
  if (side) {
    LAMELLA_CHECK(*side == "left" || *side == "right", argument("side"), ": expected 'left' or 'right', got '", *side,
                  "'");
    LAMELLA_CHECK(*side == "right" || !right, argument("side"), ": 'left', but 'right' is True; pass one of them");
  }
  if (sorter.defined()) {
    LAMELLA_CHECK(sorter.dtype() == kLong, argument("sorter"), ": expected dtype int64, got ", sorter.dtype());
    LAMELLA_CHECK(sorter.sizes() == sorted_sequence.sizes(), argument("sorter"), ": shape ", shape_text(sorter),
                  " differs from that of 'sorted_sequence', ", shape_text(sorted_sequence));
  }
  check_ordered("sorted_sequence", sorted_sequence);
  check_values("self", self, sorted_sequence.dtype());
  check_fit("sorted_sequence", sorted_sequence, tensor_of(self), true);
  set_places(out, tensor_of(self), out_int32);
}

template <class Values>
void infer_bucketize(const Values& self, const Tensor& boundaries, bool out_int32, bool, Output out) {
  check_ordered("boundaries", boundaries);
  check_values("self", self, boundaries.dtype());
  check_fit("boundaries", boundaries, tensor_of(self), false);
  set_places(out, tensor_of(self), out_int32);
}

// Searches for all values at once by halving: `place` moves by `step` if the last boundary that it passes is smaller
// than the value or, with `right`, not larger. A NaN is larger than all numbers, as for sort().
Tensor places(const Tensor& boundaries, const Tensor& values, bool right, bool narrow) {
  const int64_t n = boundaries.size(-1);
  const bool vector = boundaries.dim() == 1;
  const Tensor v = vector ? values.reshape(values.numel()) : values;
  Tensor place = lamella::zeros_like(v, kLong);
  int64_t step = 1;
  while (step <= n / 2) step *= 2;
  for (; step > 0 && n > 0; step /= 2) {
    const Tensor last = place + (step - 1);
    const Tensor there = boundaries.gather(-1, last.clamp_max(n - 1));
    Tensor passed = right ? there > v : there >= v;
    if (v.is_floating_point()) {
      const Tensor nan = there.isnan();
      passed = passed.logical_or(right ? nan.logical_and(v == v) : nan);
    }
    const Tensor stays = passed.logical_or(last >= n);
    place = lamella::where(stays, place, place + step);
  }
  if (vector) place = place.reshape(values.sizes());
  return narrow ? place.to(kInt) : place;
}
// Searches for a number. Boundaries that are integers or bools are converted to float64 for a floating number, else to
// int64, except those of uint64, so that the number is not rounded to their dtype. Floating boundaries keep their
// dtype, and the number gets it.
Tensor places(const Tensor& boundaries, const Scalar& value, bool right, bool narrow) {
  ScalarType t = boundaries.dtype();
  if (t == kUInt64 && value.isIntegral() && value.value().tag != LAMELLA_UINT && value.toLong() < 0)
    return places(boundaries, 0, false, narrow);  // before all
  if (is_integral(t, true) && t != kUInt64 && value.value().tag == LAMELLA_UINT)
    return places(boundaries, INT64_MAX, true, narrow);  // behind all
  if (is_integral(t, true) && (value.isFloatingPoint() || t != kUInt64)) t = value.isFloatingPoint() ? kDouble : kLong;
  const Tensor in = boundaries.to(t);
  return places(in, lamella::full({}, value, in.options()), right, narrow);
}

template <class Values>
Tensor searchsorted(const Tensor& sorted_sequence, const Values& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  const Tensor sequence = sorter.defined() ? sorted_sequence.gather(-1, sorter) : sorted_sequence;
  return places(sequence, self, right || side == "right", out_int32);
}

template <class Values>
Tensor bucketize(const Values& self, const Tensor& boundaries, bool out_int32, bool right) {
  return places(boundaries, self, right, out_int32);
}

}  // namespace

LAMELLA_FAMILY(searching, .category = "sort", .forms = function) {
  return {
      {.schema = "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
                 "str? side=None, Tensor? sorter=None) -> Tensor",
       .dims = "s~, ..., s~ -> ... | ... s~, ... v, ... s~ -> ... v",
       .forms = function | out,
       .infer = shape<infer_searchsorted<Tensor>>,
       .composite = composite<searchsorted<Tensor>>,
       .doc = R"(Where numbers would be inserted into a vector that is in order, or into the row that stands where
theirs does: before the elements that equal them, or, with `right` or side='right', behind.

Args:
    sorter: indices that put `sorted_sequence` in order, if it is not

>>> lamella.searchsorted(lamella.tensor([1, 3, 5]), lamella.tensor([3, 4]))
tensor([1, 2])
)"},
      {.schema = "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
                 "str? side=None, Tensor? sorter=None) -> Tensor",
       .dims = "s~, s~ ->",
       .infer = shape<infer_searchsorted<Scalar>>,
       .composite = composite<searchsorted<Scalar>>},
      {.schema =
           "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
       .dims = "..., b~ -> ...",
       .forms = everywhere | out,
       .infer = shape<infer_bucketize<Tensor>>,
       .composite = composite<bucketize<Tensor>>,
       .doc = R"(The bucket of each number: how many boundaries, which are in order, are smaller, or, with `right`,
not larger.

>>> lamella.bucketize(lamella.tensor([3, 4]), lamella.tensor([1, 3, 5]))
tensor([1, 2])
)"},
      {.schema =
           "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
       .dims = "b~ ->",
       .infer = shape<infer_bucketize<Scalar>>,
       .composite = composite<bucketize<Scalar>>},
  };
}

}  // namespace lamella::operators
