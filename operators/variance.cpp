// Variances and standard deviations, alone and with the mean.
#include "operators/reduction.h"

namespace lamella::operators {
namespace {

// The number subtracted from n: 1 or 0 by `unbiased`, else `correction`, which is 1 if it is absent.
double correction_of(bool unbiased) { return unbiased ? 1 : 0; }
double correction_of(const std::optional<Scalar>& correction) {
  return correction ? as_double(correction->value()) : 1;
}

// The shape rule of all overloads; `mean` is the output of the mean, which var and std do not have.
template <class... Mean>
void infer_spread(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim, Output out, Mean... mean) {
  check_inexact(self, "a variance");
  const uint64_t dims = dims_of(self, dim);
  reduced(out, self, dims, keepdim, real_of(self.dtype()));
  (reduced(mean, self, dims, keepdim, self.dtype()), ...);
}
template <class... Mean>
void infer_all(const Tensor& self, bool /*unbiased*/, Output out, Mean... mean) {
  infer_spread(self, nullopt, false, out, mean...);
}
template <class... Mean>
void infer_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool /*unbiased*/, bool keepdim, Output out,
                Mean... mean) {
  infer_spread(self, dim, keepdim, out, mean...);
}
template <class... Mean>
void infer_corrected(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& /*correction*/,
                     bool keepdim, Output out, Mean... mean) {
  infer_spread(self, dim, keepdim, out, mean...);
}

template <bool WithMean>
using Spread = std::conditional_t<WithMean, std::tuple<Tensor, Tensor>, Tensor>;

// Computes the mean first, then the squares of the differences from it.
template <bool Root, bool WithMean>
Spread<WithMean> spread(const Tensor& self, const OptionalIntArrayRef& dim, double correction, bool keepdim) {
  const ScalarType t = self.dtype();
  const Tensor x = as(self, wide_of(t)), mean = mean_over(x, dim, true), d = (x - mean).abs();
  const double left = static_cast<double>(length_over(x, dims_of(x, dim))) - correction;
  Tensor var = (d * d).sum(dim, keepdim) / std::max(left, 0.);
  if (Root) var = var.sqrt();
  var = as(var, real_of(t));
  if constexpr (WithMean)
    return {std::move(var), as(mean_over(x, dim, keepdim), t)};
  else
    return var;
}
template <bool Root, bool WithMean>
Spread<WithMean> spread_all(const Tensor& self, bool unbiased) {
  return spread<Root, WithMean>(self, nullopt, correction_of(unbiased), false);
}
template <bool Root, bool WithMean>
Spread<WithMean> spread_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased, bool keepdim) {
  return spread<Root, WithMean>(self, dim, correction_of(unbiased), keepdim);
}
template <bool Root, bool WithMean>
Spread<WithMean> spread_corrected(const Tensor& self, std::optional<IntArrayRef> dim,
                                  const std::optional<Scalar>& correction, bool keepdim) {
  return spread<Root, WithMean>(self, dim, correction_of(correction), keepdim);
}

}  // namespace

LAMELLA_FAMILY(variance, .category = "reduction", .forms = everywhere, .dims = "reduce") {
  return {
      {.schema = "var(Tensor self, bool unbiased=True) -> Tensor",
       .infer = shape<infer_all<>>,
       .composite = composite<spread_all<false, false>>,
       .doc = R"(The variance over all elements, or over dimensions: the squares of what differs from the mean, added
and divided by n - `correction` (1 if `unbiased`, the default, else 0).

Raises:
    RuntimeError: the dtype is neither floating nor complex

>>> lamella.var(lamella.tensor([1., 2., 3., 4.]), correction=0)
tensor(1.2500)
)"},
      {.schema = "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_dims<>>,
       .composite = composite<spread_dims<false, false>>},
      {.schema =
           "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_corrected<>>,
       .composite = composite<spread_corrected<false, false>>},
      {.schema = "std(Tensor self, bool unbiased=True) -> Tensor",
       .infer = shape<infer_all<>>,
       .composite = composite<spread_all<true, false>>,
       .doc = R"(The standard deviation, the root of var.

>>> lamella.std(lamella.tensor([1., 3.]), unbiased=False)
tensor(1.)
)"},
      {.schema = "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_dims<>>,
       .composite = composite<spread_dims<true, false>>},
      {.schema =
           "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_corrected<>>,
       .composite = composite<spread_corrected<true, false>>},
      {.schema = "var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
       .infer = shape<infer_all<Output>>,
       .composite = composite<spread_all<false, true>>,
       .doc = R"(The variance and the mean of the same elements.

>>> lamella.var_mean(lamella.tensor([1., 3.]), unbiased=False)
(tensor(1.), tensor(2.))
)"},
      {.schema = "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
       .infer = shape<infer_dims<Output>>,
       .composite = composite<spread_dims<false, true>>},
      {.schema = "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
                 "-> (Tensor, Tensor)",
       .infer = shape<infer_corrected<Output>>,
       .composite = composite<spread_corrected<false, true>>},
      {.schema = "std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
       .infer = shape<infer_all<Output>>,
       .composite = composite<spread_all<true, true>>,
       .doc = R"(The standard deviation and the mean of the same elements.

>>> lamella.std_mean(lamella.tensor([1., 5.]), unbiased=False)
(tensor(2.), tensor(3.))
)"},
      {.schema = "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
       .infer = shape<infer_dims<Output>>,
       .composite = composite<spread_dims<true, true>>},
      {.schema = "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) "
                 "-> (Tensor, Tensor)",
       .infer = shape<infer_corrected<Output>>,
       .composite = composite<spread_corrected<true, true>>},
  };
}

}  // namespace lamella::operators
