// Dropout: random elements or channels become 0, or the value at which SELU saturates.
#include <cmath>

#include "operators/random.h"

namespace lamella::operators {
namespace {

// The value at which SELU saturates, times -1.
constexpr double saturation = 1.7580993408473766;

void check_probability(double p) {
  LAMELLA_CHECK(p >= 0 && p <= 1, argument("p"), ": dropout probability has to be between 0 and 1, but got ", p);
}

// Sets each element to 0 with probability p, unless `train` is false, and multiplies the others by 1 / (1 - p). The
// mask is true for the others.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  check_probability(p);
  const Tensor mask = lamella::empty_like(input, kBool);
  if (!train.value_or(true) || p == 0) return {input.clone(), mask.fill_(true)};
  mask.bernoulli_(1 - p);
  return {lamella::native_dropout_backward(input, mask, p == 1 ? 0. : 1 / (1 - p)), mask};
}

Tensor dropout(const Tensor& input, double p, bool train) {
  check_probability(p);
  if (!train || p == 0) return input;
  return std::get<0>(lamella::native_dropout(input, p, true));
}

// Returns one bool for each channel of each sample, true with probability 1 - p, in a shape that broadcasts with the
// input.
Tensor kept_channels(const Tensor& input, double p) {
  LAMELLA_CHECK(input.dim() >= 2, argument("input"),
                ": Feature dropout requires at least 2 dimensions in the input, got shape ", shape_text(input));
  DimVector sizes(input.dim(), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return lamella::empty(sizes, input.options().dtype(kBool)).bernoulli_(1 - p);
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  check_probability(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  check_floating("input", input.dtype());
  const Tensor kept = kept_channels(input, p);
  return lamella::where(kept, input * (p == 1 ? 0. : 1 / (1 - p)), 0);
}

// Sets random elements or channels to the value at which SELU saturates, then scales and shifts all elements so that
// mean 0 and variance 1 are kept; with p = 1 all become 0. After Klambauer et al. (2017).
template <bool Channels>
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  check_probability(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  check_floating("input", input.dtype());
  const Tensor kept = Channels ? kept_channels(input, p) : lamella::empty_like(input, kBool).bernoulli_(1 - p);
  if (p == 1) return input * 0.;
  const double scale = 1 / std::sqrt((saturation * saturation * p + 1) * (1 - p)), rise = saturation * scale * p;
  const Tensor x = as(input, wide_of(input.dtype()));
  return as(lamella::where(kept, x * scale + rise, rise - saturation * scale), input.dtype());
}

}  // namespace

LAMELLA_FAMILY(dropout, .category = "random", .forms = function | inplace) {
  return {
      {.schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
       .dims = "broadcast",
       .forms = function,
       .composite = composite<native_dropout>,
       .doc = R"(dropout, unless `train` is False, and a bool tensor that says which elements stay.

>>> lamella.native_dropout(lamella.ones(2), 0.5, False)[1]
tensor([True, True])
)"},
      {.schema = "dropout(Tensor input, float p, bool train) -> Tensor",
       .dims = "broadcast",
       .composite = composite<dropout>,
       .doc = R"(In training, sets each element to 0 with probability `p` and divides the others by 1 - p; else
`input` itself.

>>> lamella.dropout(lamella.ones(2), 0.5, False)
tensor([1., 1.])
)"},
      {.schema = "feature_dropout(Tensor input, float p, bool train) -> Tensor",
       .dims = "n c ...~ -> n c ...~ | ...~ -> ...~",
       .composite = composite<feature_dropout>,
       .doc = R"(dropout of whole channels (n, c) of (batch, channels, ...).

>>> lamella.feature_dropout(lamella.ones(1, 2), 1, True)
tensor([[0., 0.]])
)"},
      {.schema = "alpha_dropout(Tensor input, float p, bool train) -> Tensor",
       .dims = "broadcast",
       .composite = composite<alpha_dropout<false>>,
       .doc = R"(In training, sets each element with probability `p` to what SELU saturates at, and scales and moves
all, so that mean 0 and variance 1 stay; else `input` itself. After Klambauer et al. (2017).

>>> lamella.alpha_dropout(lamella.ones(2), 0.5, False)
tensor([1., 1.])
)"},
      {.schema = "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
       .dims = "n c ...~ -> n c ...~ | ...~ -> ...~",
       .composite = composite<alpha_dropout<true>>,
       .doc = R"(alpha_dropout of whole channels (n, c) of (batch, channels, ...).

>>> lamella.feature_alpha_dropout(lamella.ones(1, 2), 0.5, False)
tensor([[1., 1.]])
)"},
  };
}

}  // namespace lamella::operators
