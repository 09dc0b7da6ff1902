// segment_reduce(): reductions of the segments of a dimension, which follow each other.
#include <limits>

#include "operators/indexing.h"

namespace lamella::operators {
namespace {

// Returns the end of each segment along the last dimension of `lengths` or `offsets`, and where the first one begins.
struct Bounds {
  Tensor ends, begins;
};

void check_lengths(const Tensor& lengths, int64_t size) {
  if (lengths.is_meta()) return;
  LAMELLA_CHECK(lengths.ge(0).all().item().toBool(), argument("lengths"), ": a segment must not be shorter than 0");
  LAMELLA_CHECK(lengths.sum(-1).eq(size).all().item().toBool(), argument("lengths"),
                ": the segments of a row must have ", size, " elements together, as the dimension");
}

void check_offsets(const Tensor& offsets, int64_t size) {
  if (offsets.is_meta()) return;
  const int64_t n = offsets.size(-1);
  const bool ordered = lamella::diff(offsets).ge(0).all().item().toBool();
  const bool inside = slice(offsets, -1, 0, 1).ge(0).all().item().toBool() &&
                      slice(offsets, -1, n - 1, n).le(size).all().item().toBool();
  LAMELLA_CHECK(ordered && inside, argument("offsets"), ": expected numbers that do not descend, from 0 to ", size,
                ", the size of the dimension");
}

Bounds bounds_of(const Tensor& lengths, const Tensor& offsets, int64_t size, bool unsafe) {
  if (lengths.defined()) {
    if (!unsafe) check_lengths(lengths, size);
    const Tensor ends = lengths.to(kLong).cumsum(-1);
    return {ends, ends - lengths.to(kLong)};
  }
  if (!unsafe) check_offsets(offsets, size);
  const Tensor at = offsets.to(kLong);
  const int64_t n = at.size(-1);
  return {slice(at, -1, 1, n), slice(at, -1, 0, n - 1)};
}

double start_of(std::string_view reduce) {
  if (reduce == "max") return -std::numeric_limits<double>::infinity();
  if (reduce == "min") return std::numeric_limits<double>::infinity();
  return reduce == "prod" ? 1 : 0;
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices,
                      const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  LAMELLA_CHECK(reduce == "sum" || reduce == "mean" || reduce == "max" || reduce == "min" || reduce == "prod",
                argument("reduce"), ": expected 'sum', 'mean', 'max', 'min' or 'prod', got '", reduce, "'");
  LAMELLA_CHECK(!indices.defined(), argument("indices"),
                ": segments by indices are not supported; pass 'lengths' or 'offsets', or call scatter_reduce()");
  LAMELLA_CHECK(lengths.defined() != offsets.defined(), argument("lengths"),
                ": expected either 'lengths' or 'offsets', got ", lengths.defined() ? "both" : "none");
  check_floating("data", data.dtype());
  const Tensor& given = lengths.defined() ? lengths : offsets;
  const char* name = lengths.defined() ? "lengths" : "offsets";
  check_integral(name, given);
  const int64_t d = wrap_dim("axis", axis, data.dim());
  bool fits = data.dim() > 0 && given.dim() == d + 1 && (lengths.defined() || given.size(-1) > 0);
  for (int64_t k = 0; k < d && fits; k++) fits = given.size(k) == data.size(k);
  LAMELLA_CHECK(fits, argument(name), ": expected ", d + 1, " dimensions, those of 'data' before the axis and the ",
                name, ", for data of shape ", shape_text(data), ", got ", shape_text(given));

  const int64_t size = data.size(d);
  const Bounds bounds = bounds_of(given.defined() && lengths.defined() ? lengths : Tensor(), offsets, size, unsafe);
  const int64_t segments = bounds.ends.size(-1);
  // The segment of each place; places before, between and behind the segments get one more, which is left out.
  DimVector shape(given.sizes()), row(d + 1, 1);
  shape.back() = row.back() = size;
  const Tensor places = lamella::arange(0, size, 1, bounds.ends.options()).view(row).expand(shape).contiguous();
  Tensor of;
  if (segments == 0) {
    of = lamella::zeros(shape, bounds.ends.options());
  } else {
    of = lamella::searchsorted(bounds.ends.contiguous(), places, false, true);
    const Tensor begin = bounds.begins.gather(-1, of.clamp_max(segments - 1));
    of = lamella::where(places < begin, Scalar(segments), of);
  }
  for (int64_t k = d + 1; k < data.dim(); k++) of = of.unsqueeze(-1);

  DimVector sizes(data.sizes());
  sizes[d] = segments + 1;
  const Scalar start = initial ? *initial : Scalar(start_of(reduce));
  const Tensor all = lamella::full(sizes, start, data.options());
  const std::string_view by = reduce == "max" ? "amax" : reduce == "min" ? "amin" : reduce == "mean" ? "sum" : reduce;
  const Tensor reduced = slice(all.scatter_reduce(d, of.expand(data.sizes()), data, by, true), d, 0, segments);
  if (reduce != "mean") return reduced;
  Tensor counts = bounds.ends - bounds.begins;
  for (int64_t k = d + 1; k < data.dim(); k++) counts = counts.unsqueeze(-1);
  return reduced / (initial ? counts.clamp_min(1) : counts).to(data.dtype());
}

}  // namespace

LAMELLA_FAMILY(segments, .category = "reduction", .forms = function | out) {
  return {
      {.schema = "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
                 "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
       .composite = composite<segment_reduce>,
       .doc = R"(Reduces segments of a dimension, one after the other. Dimensions before the axis have segments of their
own in each row.

Args:
    reduce: 'sum', 'mean', 'max', 'min' or 'prod'
    lengths: the lengths of the segments
    offsets: where each segment begins, and where the last one ends; instead of `lengths`
    unsafe: leaves out the checks of lengths and offsets
    initial: what each segment begins with, and the result of an empty one; without it an empty one gives 0, nan for
        'mean', -inf for 'max', inf for 'min' and 1 for 'prod'

Raises:
    RuntimeError: the lengths do not add up to the size of the dimension, or both or none of the two are given

>>> lamella.segment_reduce(lamella.tensor([1., 2., 3.]), 'sum', lengths=lamella.tensor([1, 2]))
tensor([1., 5.])
)"},
  };
}

}  // namespace lamella::operators
