// segment_reduce(): reductions of the segments of a dimension, which follow each other.
#include <limits>

#include "operators/indexing.h"

namespace lamella::operators {
namespace {

void infer_segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices,
                          const Tensor& offsets, int64_t axis, bool /*unsafe*/,
                          const std::optional<Scalar>& /*initial*/, Output out) {
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
  DimVector sizes(data.sizes());
  sizes[d] = given.size(-1) - (offsets.defined() ? 1 : 0);
  out.set(sizes, data.dtype());
}

// Returns the place at which each segment of a row begins, and the place at which the last one ends. Raises for wrong
// lengths and offsets unless they are `unsafe`; with bounds outside of the dimension it raises in any case.
Tensor bounds_of(const Tensor& lengths, const Tensor& offsets, int64_t size, bool unsafe) {
  const bool read = !(lengths.defined() ? lengths : offsets).is_meta();
  const auto all = [read](const Tensor& mask) { return !read || mask.all().item().toBool(); };
  if (lengths.defined()) {
    const Tensor each = lengths.to(kLong), ends = each.cumsum(-1);
    LAMELLA_CHECK(all(each.ge(0)), argument("lengths"), ": a segment must not be shorter than 0");
    DimVector one(ends.sizes());
    one.back() = 1;
    const Tensor bounds = lamella::cat({lamella::zeros(one, ends.options()), ends}, -1);
    const Tensor last = bounds.select(-1, -1);
    LAMELLA_CHECK(all(each.le(size)) && all(unsafe ? last.le(size) : last.eq(size)), argument("lengths"),
                  ": the segments of a row must have ", unsafe ? "at most " : "", size,
                  " elements together, as the dimension");
    return bounds;
  }
  const Tensor bounds = offsets.to(kLong);
  LAMELLA_CHECK(
      all(lamella::diff(bounds).ge(0)) && all(bounds.select(-1, 0).ge(0)) && all(bounds.select(-1, -1).le(size)),
      argument("offsets"), ": expected numbers that do not descend, from 0 to ", size, ", the size of the dimension");
  return bounds;
}

double start_of(std::string_view reduce) {
  if (reduce == "max") return -std::numeric_limits<double>::infinity();
  if (reduce == "min") return std::numeric_limits<double>::infinity();
  return reduce == "prod" ? 1 : 0;
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& /*indices*/,
                      const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  const int64_t d = wrap_dim("axis", axis, data.dim()), size = data.size(d);
  const Tensor bounds = bounds_of(lengths, offsets, size, unsafe);
  const int64_t segments = bounds.size(-1) - 1;
  // The segment of each place. Places before and behind the segments get one more, which is left out.
  DimVector shape(bounds.sizes());
  shape.back() = size;
  const Tensor counts = lamella::diff(bounds);
  const Tensor before = slice(bounds, -1, 0, 1), behind = size - slice(bounds, -1, segments, segments + 1);
  const Tensor all_counts = lamella::cat({before, counts, behind}, -1);
  const Tensor outside = lamella::full({1}, segments, bounds.options());
  const Tensor numbers = lamella::cat({outside, lamella::arange(0, segments, 1, bounds.options()), outside}, 0);
  int64_t places = size;
  for (int64_t k = 0; k < d; k++) places *= data.size(k);
  const Tensor each =
      lamella::repeat_interleave(all_counts.reshape({all_counts.numel()}), std::optional<int64_t>(places));
  Tensor of = numbers.expand(all_counts.sizes()).reshape({all_counts.numel()}).index_select(0, each).view(shape);
  for (int64_t k = d + 1; k < data.dim(); k++) of = of.unsqueeze(-1);

  DimVector sizes(data.sizes());
  sizes[d] = segments + 1;
  const Tensor all = lamella::full(sizes, initial ? *initial : Scalar(start_of(reduce)), data.options());
  const std::string_view by = reduce == "max" ? "amax" : reduce == "min" ? "amin" : reduce == "mean" ? "sum" : reduce;
  const Tensor reduced = slice(all.scatter_reduce(d, of.expand(data.sizes()), data, by, true), d, 0, segments);
  if (reduce != "mean") return reduced.contiguous();
  Tensor share = counts;
  for (int64_t k = d + 1; k < data.dim(); k++) share = share.unsqueeze(-1);
  return reduced / (initial ? share.clamp_min(1) : share).to(data.dtype());
}

}  // namespace

LAMELLA_FAMILY(segments, .category = "reduction", .forms = function | out) {
  return {
      {.schema = "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
                 "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
       .infer = shape<infer_segment_reduce>,
       .composite = composite<segment_reduce>,
       .doc = R"(Reduces segments of a dimension, one after the other. Dimensions before the axis have segments of their
own in each row.

Args:
    reduce: 'sum', 'mean', 'max', 'min' or 'prod'
    lengths: the lengths of the segments
    offsets: where each segment begins, and where the last one ends; instead of `lengths`
    unsafe: lets the lengths add up to less than the dimension
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
