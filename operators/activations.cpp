// Activations that are not functions of one element alone: gated halves, slopes by channel, random slopes.
#include <cmath>

#include "operators/random.h"

namespace lamella::operators {
namespace {

void infer_glu(const Tensor& self, int64_t dim, Output out) {
  check_floating("self", self.dtype());
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": glu does not support scalars, which have no halves");
  const int64_t d = wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK(self.size(d) % 2 == 0, argument("self"), ": Halving dimension must be even, but dimension ", d,
                " is size ", self.size(d));
  DimVector sizes(self.sizes());
  sizes[d] /= 2;
  out.set(sizes, self.dtype());
}

struct Halves {
  Tensor value, gate;
};
Halves halves(const Tensor& x, int64_t dim) {
  const int64_t half = x.size(dim) / 2;
  return {x.narrow(dim, 0, half), x.narrow(dim, half, half)};
}

Tensor glu(const Tensor& self, int64_t dim) {
  const Halves h = halves(as(self, wide_of(self.dtype())), dim);
  return as(h.value * h.gate.sigmoid(), self.dtype()).contiguous();
}

// Returns the slopes in a shape that broadcasts with the input.
Tensor slopes(const Tensor& self, const Tensor& weight) {
  LAMELLA_CHECK(weight.dim() <= 1, argument("weight"),
                ": Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (weight.numel() == 1) return weight.reshape(IntArrayRef());
  LAMELLA_CHECK(self.dim() > 0, argument("self"),
                ": a zero-dim tensor has no channels, so 'weight' must have one element, got ", weight.numel());
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  LAMELLA_CHECK(weight.numel() == channels, argument("weight"),
                ": Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
                " and channel size = ", channels);
  DimVector sizes(self.dim(), 1);
  sizes[1] = channels;
  return weight.reshape(sizes);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  check_floating("self", self.dtype());
  LAMELLA_CHECK(self.dtype() == weight.dtype(), argument("weight"), ": Type promoting not supported. Got ",
                self.dtype(), " and ", weight.dtype(), "; convert one with .to(...)");
  const Tensor slope = slopes(self, weight), positive = self > 0;
  // masked_fill keeps positive elements out of the product, so that an infinite one leaves the slope's gradient alone.
  return lamella::where(positive, self, slope * self.masked_fill(positive, 0));
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, const Generator& generator) {
  check_floating("self", self.dtype());
  const double low = lower.toDouble(), high = upper.toDouble();
  LAMELLA_CHECK(std::isfinite(low), argument("lower"), ": lower bound must be finite, got ", low);
  LAMELLA_CHECK(std::isfinite(high), argument("upper"), ": upper bound must be finite, got ", high);
  LAMELLA_CHECK(low <= high, argument("lower"), ": Lower bound should be less than or equal to the upper bound, got ",
                low, " and ", high);
  if (!training) return self.leaky_relu((low + high) / 2);
  const ScalarType t = wide_of(self.dtype());
  const Tensor x = as(self, t), u = uniform_numbers(generator, self.device(), self.sizes(), t);
  return as(lamella::where(x <= 0, x * (u * (high - low) + low), x), self.dtype());
}

}  // namespace

LAMELLA_FAMILY(activation, .category = "normalization") {
  return {
      {.schema = "glu(Tensor self, int dim=-1) -> Tensor",
       .dims = "keep",
       .forms = hidden | function | out,
       .infer = shape<infer_glu>,
       .composite = composite<glu>,
       .doc = R"(The first half of a dimension times the sigmoid of the second. After Dauphin et al. (2017).

Raises:
    RuntimeError: the dimension has no halves

>>> lamella.ops.aten.glu(lamella.tensor([4., 0.]))
tensor([2.])
)"},
      {.schema = "prelu(Tensor self, Tensor weight) -> Tensor",
       .dims = "n c ..., c -> n c ... | ..., x -> ... | ..., -> ...",
       .forms = everywhere,
       .composite = composite<prelu>,
       .doc = R"(`self` where it is positive, else `weight * self`, with one weight or one for each channel,
dimension 1. After He et al. (2015).

>>> lamella.prelu(lamella.tensor([[-4., -4.]]), lamella.tensor([0.5, 1.]))
tensor([[-2., -4.]])
)"},
      {.schema = "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
                 "Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .category = "random",
       .forms = function | inplace,
       .composite = composite<rrelu>,
       .doc = R"(`self` where it is positive, else `self` times a slope: a random one from `lower` to `upper` in
training, else their mean. After Xu et al. (2015).

>>> lamella.rrelu(lamella.tensor([-4., 3.]), 0.25, 0.75)
tensor([-2.,  3.])
)"},
  };
}

}  // namespace lamella::operators
