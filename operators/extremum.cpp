// Extrema: the largest and the smallest elements and their positions. The composites call amax, amin and argmax.
#include "operators/reduction.h"

namespace lamella::operators {
namespace {

void check_order(const Tensor& self, bool empty) {
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": dtype ", self.dtype(), " has no order");
  LAMELLA_CHECK_INDEX(!empty, argument("self"), ": shape ", shape_text(self),
                      " has no element to choose from; reduce a dimension that is not empty");
}

// Reads the argument `dim`; raises if there are no elements over it.
uint64_t filled_dims(const Tensor& self, const OptionalIntArrayRef& dim) {
  const uint64_t dims = dims_of(self, dim);
  check_order(self, length_over(self, dims) == 0);
  return dims;
}

void infer_extremum(const Tensor& self, Output out) {
  check_order(self, self.numel() == 0);
  out.set({}, self.dtype());
}

void infer_extremum_dim(const Tensor& self, int64_t dim, bool keepdim, Output values, Output indices) {
  const uint64_t dims = filled_dims(self, dim);
  reduced(values, self, dims, keepdim, self.dtype());
  reduced(indices, self, dims, keepdim, kLong);
}

void infer_arg(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Output out) {
  reduced(out, self, filled_dims(self, one_or_all(dim)), keepdim, kLong);
}

void infer_extremum_dims(const Tensor& self, IntArrayRef dim, bool keepdim, Output out) {
  reduced(out, self, filled_dims(self, dim), keepdim, self.dtype());
}

void infer_aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Output min, Output max) {
  const uint64_t dims = filled_dims(self, one_or_all(dim));
  reduced(min, self, dims, keepdim, self.dtype());
  reduced(max, self, dims, keepdim, self.dtype());
}

template <bool Max>
Tensor extremum_all(const Tensor& self) {
  return Max ? self.amax({}, false) : self.amin({}, false);
}

// Finds the position of the smallest element: the first that equals the minimum, or that is a NaN, which does not equal
// itself.
Tensor least_at(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const Tensor low = dim ? self.amin(*dim, self.dim() > 0) : self.amin({}, false);
  Tensor found = self.eq(low);
  if (self.is_floating_point()) found = found.logical_or(nan_in(self));
  return found.argmax(dim, keepdim);
}

template <bool Max>
std::tuple<Tensor, Tensor> extremum_dim(const Tensor& self, int64_t dim, bool keepdim) {
  if (Max) return {self.amax(dim, keepdim), self.argmax(dim, keepdim)};
  return {self.amin(dim, keepdim), least_at(self, dim, keepdim)};
}

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}

Tensor max_other(const Tensor& self, const Tensor& other) { return self.maximum(other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return self.minimum(other); }

}  // namespace

LAMELLA_FAMILY(extremum) {
  return {
      {"max(Tensor self) -> Tensor", "reduction", everywhere, shape<infer_extremum>, composite<extremum_all<true>>,
       "The largest element; with `dim`, the values and their indices; with another tensor, maximum. NaN wins.\n\n"
       "Raises:\n    IndexError: there is no element\n\n>>> lamella.max(lamella.tensor([1, 5, 3]))\ntensor(5)\n"},
      {"max.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, composite<max_other>,
       nullptr},
      {"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, shape<infer_extremum_dim>, composite<extremum_dim<true>>, nullptr},
      {"min(Tensor self) -> Tensor", "reduction", everywhere, shape<infer_extremum>, composite<extremum_all<false>>,
       "The smallest element; with `dim`, the values and their indices. NaN wins.\n\n>>> "
       "lamella.min(lamella.tensor([1, "
       "5, 3]))\ntensor(1)\n"},
      {"min.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, composite<min_other>,
       nullptr},
      {"min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, shape<infer_extremum_dim>, composite<extremum_dim<false>>, nullptr},
      {"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       shape<infer_arg>, nullptr,
       "The index of the largest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lamella.argmax(lamella.tensor([1, 5, 3]))\ntensor(1)\n"},
      {"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       shape<infer_arg>, composite<least_at>,
       "The index of the smallest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lamella.argmin(lamella.tensor([4, 1, 3]))\ntensor(1)\n"},
      {"amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       shape<infer_extremum_dims>, nullptr,
       "The largest element over dimensions; over all without `dim`. NaN wins.\n\nRaises:\n    IndexError: there is no "
       "element\n\n>>> lamella.amax(lamella.tensor([[1, 5], [3, 2]]), dim=0)\ntensor([3, 5])\n"},
      {"amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       shape<infer_extremum_dims>, nullptr,
       "The smallest element over dimensions; over all without `dim`. NaN wins.\n\n>>> "
       "lamella.amin(lamella.tensor([[1, "
       "5], [3, 2]]), dim=0)\ntensor([1, 2])\n"},
      {"aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", "reduction",
       everywhere | out, shape<infer_aminmax>, composite<aminmax>,
       "The smallest and the largest element, over all or along `dim`. NaN wins.\n\n>>> "
       "lamella.aminmax(lamella.tensor([2, 5, 3])).max\ntensor(5)\n"},
  };
}

}  // namespace lamella::operators
