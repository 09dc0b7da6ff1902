// hash_tensor(): a fingerprint of numbers.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Joins the columns of a matrix by exclusive or: halves the row until one column is left.
Tensor joined_by_xor(Tensor x) {
  for (int64_t n = x.size(1); n > 1; n = x.size(1)) {
    const int64_t half = n / 2, rest = n - half;
    const Tensor both = lamella::bitwise_xor(slice(x, 1, 0, half), slice(x, 1, rest, n));
    x = half == rest ? both : lamella::cat({both, slice(x, 1, half, rest)}, 1);
  }
  return x;
}

Tensor hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  LAMELLA_CHECK(mode == 0, argument("mode"), ": expected 0, which joins the bits by exclusive or, got ", mode);
  LAMELLA_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), argument("self"), ": complex numbers are not hashed, got ",
                                self.dtype());
  const uint64_t given = wrap_dims("dim", dim, self.dim());
  DimVector order, sizes;
  int64_t rows = 1, columns = 1;
  for (int64_t d = 0; d < self.dim(); d++) {
    const bool hashed = dim.empty() || given >> d & 1;
    if (!hashed) order.push_back(d);
    if (!hashed || keepdim) sizes.push_back(hashed ? 1 : self.size(d));
    (hashed ? columns : rows) *= self.size(d);
  }
  for (int64_t d = 0; d < self.dim(); d++)
    if (dim.empty() || given >> d & 1) order.push_back(d);
  const Tensor moved = self.permute(order).reshape({rows, columns});
  const Tensor bits = is_floating_point(self.dtype()) ? moved.to(kDouble).contiguous().view(kLong) : moved.to(kLong);
  if (columns == 0) return lamella::zeros(sizes, self.options().dtype(kUInt64));
  return joined_by_xor(bits).contiguous().view(kUInt64).reshape(sizes);
}

}  // namespace

LAMELLA_FAMILY(hashing, .category = "reduction", .forms = function | method | out, .dims = "reduce") {
  return {
      {.schema = "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
       .composite = composite<hash_tensor>,
       .doc = R"(A fingerprint, in uint64, of all numbers or of those along dimensions: the exclusive or of their bits
in float64 or int64. The order of the numbers does not matter, and equal pairs cancel.

Args:
    mode: 0, the only one

>>> lamella.hash_tensor(lamella.tensor([1, 2, 4]))
tensor(7, dtype=lamella.uint64)
)"},
  };
}

}  // namespace lamella::operators
