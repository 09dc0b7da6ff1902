// Extrema: the largest and the smallest elements and their positions. The composites call amax, amin and argmax, or
// maximum and minimum.
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
  indices.exact();
}

void infer_arg(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Output out) {
  reduced(out, self, filled_dims(self, one_or_all(dim)), keepdim, kLong);
  out.exact();
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

LAMELLA_FAMILY(extremum, .category = "reduction", .forms = everywhere | out, .dims = "reduce") {
  return {
      {.schema = "max(Tensor self) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_extremum>,
       .composite = composite<extremum_all<true>>,
       .doc = R"(The largest element; with `dim`, the values and their indices; with another tensor, maximum. NaN wins.

Raises:
    IndexError: there is no element

>>> lamella.max(lamella.tensor([1, 5, 3]))
tensor(5)
)"},
      {.schema = "max.other(Tensor self, Tensor other) -> Tensor",
       .dims = "broadcast",
       .category = "pointwise",
       .composite = composite<max_other>},
      {.schema = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_extremum_dim>,
       .composite = composite<extremum_dim<true>>},
      {.schema = "min(Tensor self) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_extremum>,
       .composite = composite<extremum_all<false>>,
       .doc = R"(The smallest element; with `dim`, the values and their indices. NaN wins.

>>> lamella.min(lamella.tensor([1, 5, 3]))
tensor(1)
)"},
      {.schema = "min.other(Tensor self, Tensor other) -> Tensor",
       .dims = "broadcast",
       .category = "pointwise",
       .composite = composite<min_other>},
      {.schema = "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_extremum_dim>,
       .composite = composite<extremum_dim<false>>},
      {.schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
       .infer = shape<infer_arg>,
       .doc = R"(The index of the largest element (the first of equals), flat or along `dim`.

>>> lamella.argmax(lamella.tensor([1, 5, 3]))
tensor(1)
)"},
      {.schema = "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
       .infer = shape<infer_arg>,
       .composite = composite<least_at>,
       .doc = R"(The index of the smallest element (the first of equals), flat or along `dim`.

>>> lamella.argmin(lamella.tensor([4, 1, 3]))
tensor(1)
)"},
      {.schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       .infer = shape<infer_extremum_dims>,
       .doc = R"(The largest element over dimensions; over all without `dim`. NaN wins.

Raises:
    IndexError: there is no element

>>> lamella.amax(lamella.tensor([[1, 5], [3, 2]]), dim=0)
tensor([3, 5])
)"},
      {.schema = "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       .infer = shape<infer_extremum_dims>,
       .doc = R"(The smallest element over dimensions; over all without `dim`. NaN wins.

>>> lamella.amin(lamella.tensor([[1, 5], [3, 2]]), dim=0)
tensor([1, 2])
)"},
      {.schema = "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
       .infer = shape<infer_aminmax>,
       .composite = composite<aminmax>,
       .doc = R"(The smallest and the largest element, over all or along `dim`. NaN wins.

>>> lamella.aminmax(lamella.tensor([2, 5, 3])).max
tensor(5)
)"},
  };
}

}  // namespace lamella::operators
