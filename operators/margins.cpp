// Margin losses: the distance of a score from being on its right side by a margin. All are composites; `reduction` is
// torch's number: each loss (0), their mean (1), their sum (2).
#include <cmath>
#include <numbers>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

Tensor reduced(const Tensor& loss, int64_t reduction) {
  LAMELLA_CHECK_VALUE(reduction >= 0 && reduction <= 2, argument("reduction"),
                      ": expected 0 (each), 1 (mean) or 2 (sum), got ", reduction);
  if (reduction == 0) return loss;
  return reduction == 2 ? loss.sum() : loss.mean();
}

void check_same_rank(const char* name, const Tensor& t, const Tensor& first) {
  LAMELLA_CHECK(t.dim() == first.dim(), argument(name), ": expected ", first.dim(),
                " dimensions, as the first tensor has, got ", t.dim(), ": shapes ", shape_text(t), " and ",
                shape_text(first));
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           int64_t reduction) {
  check_same_rank("input2", input2, input1);
  check_same_rank("target", target, input1);
  return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor far = lamella::where(target.ne(1), lamella::rsub(self, factor_in(margin, self.dtype())).clamp_min(0), 0);
  return reduced(far + lamella::where(target.ne(-1), self, 0), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             int64_t reduction) {
  LAMELLA_CHECK(target.dim() <= 1, argument("target"),
                ": 0D or 1D target tensor expected, multi-target not supported, got shape ", shape_text(target));
  for (const Tensor* x : {&input1, &input2})
    LAMELLA_CHECK(x->dim() == target.dim() + 1, argument(x == &input1 ? "input1" : "input2"), ": ", target.dim(),
                  "D target tensor expects ", target.dim() + 1, "D input tensors, but found shape ", shape_text(*x));
  constexpr double least = 1e-12;
  const DimVector along = {target.dim()};
  auto square = [&](const Tensor& x) { return (x * x).sum(along) + least; };
  const Tensor cosine = (input1 * input2).sum(along) / (square(input1) * square(input2)).sqrt();
  const Tensor apart = lamella::where(target.eq(-1), (cosine - margin).clamp_min(0), 0);
  return reduced(lamella::where(target.eq(1), 1 - cosine, 0) + apart, reduction);
}

// ---- by class -------------------------------------------------------------------------------------------------------

// Returns the scores as (batch, classes), also for a single sample.
Tensor samples_of(const Tensor& self) {
  check_floating("self", self.dtype());
  LAMELLA_CHECK(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0), argument("self"),
                ": Expected non-empty vector or matrix with optional 0-dim batch size, but got shape ",
                shape_text(self));
  return self.dim() == 2 ? self : self.reshape({1, self.numel()});
}

void check_range(const Tensor& target, int64_t least, int64_t classes) {
  LAMELLA_CHECK(target.dtype() == kLong, argument("target"), ": expected class indices as int64, got ", target.dtype(),
                "; convert it with .to(lamella.int64)");
  if (target.is_meta() || target.numel() == 0) return;
  const bool out = (target < least).logical_or(target >= classes).any().item().toBool();
  LAMELLA_CHECK(!out, argument("target"), ": target out of range: a class is from ", least, " to ", classes - 1);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const Tensor& weight, int64_t reduction) {
  const double power = p.toDouble();
  LAMELLA_CHECK_VALUE(power == 1 || power == 2, argument("p"), ": only p == 1 and p == 2 supported, got ", power);
  const Tensor x = samples_of(self);
  const int64_t batch = x.size(0), classes = x.size(1);
  LAMELLA_CHECK(target.dim() <= 1 && target.numel() == batch, argument("target"),
                ": target tensor should be 1-D with size equal to the number of input samples. Expected target size (",
                batch, "), but got ", shape_text(target), "; the input has shape ", shape_text(self));
  LAMELLA_CHECK(!weight.defined() || (weight.dim() == 1 && weight.size(0) == classes), argument("weight"),
                ": expected ", classes, " numbers, one for each class, got shape ",
                weight.defined() ? shape_text(weight) : "");
  check_range(target, 0, classes);
  const Tensor t = target.reshape({batch, 1});
  Tensor each = (x - x.gather(1, t) + margin).relu();
  if (power == 2) each = each * each;
  if (weight.defined()) each = each * weight.index_select(0, t.reshape({batch})).unsqueeze(1);
  const Tensor own = lamella::arange(classes, target.options()).eq(t);
  const Tensor loss = lamella::where(own, 0, each).sum(DimVector{1}) / classes;
  return reduced(reduction == 0 ? loss.reshape(target.sizes()) : loss, reduction);
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor x = samples_of(self);
  const int64_t batch = x.size(0), classes = x.size(1);
  const bool fits = self.dim() == 2 ? target.sizes() == self.sizes() : target.dim() <= 1 && target.numel() == classes;
  LAMELLA_CHECK(fits, argument("target"), ": inconsistent target size: ", shape_text(target), " for input of size ",
                shape_text(self));
  check_range(target, -1, classes);
  const Tensor t = target.reshape({batch, classes});
  const Tensor given = t.lt(0).cumsum(1).eq(0), safe = lamella::where(given, t, 0);
  const Tensor counts = lamella::zeros({batch, classes}, target.options()).scatter_add(1, safe, as(given, kLong));
  const Tensor pairs = given.unsqueeze(2).logical_and(counts.eq(0).unsqueeze(1));
  const Tensor each = (1 - x.gather(1, safe).unsqueeze(2) + x.unsqueeze(1)).relu();
  const Tensor loss = lamella::where(pairs, each, 0).sum(DimVector{1, 2}) / classes;
  return reduced(reduction == 0 && self.dim() < 2 ? loss.reshape(IntArrayRef()) : loss, reduction);
}

// ---- of distances ---------------------------------------------------------------------------------------------------

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, int64_t reduction) {
  check_same_rank("positive", positive, anchor);
  check_same_rank("negative", negative, anchor);
  auto distance = [&](const Tensor& a, const Tensor& b) { return (a - b + eps).linalg_vector_norm(p, DimVector{-1}); };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (swap) far = far.minimum(distance(positive, negative));
  return reduced((near - far + margin).clamp_min(0), reduction);
}

// ---- others ---------------------------------------------------------------------------------------------------------

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  DimVector sizes(self.sizes());
  LAMELLA_CHECK(broadcast(&sizes, target.sizes()) && IntArrayRef(sizes) == self.sizes(), argument("target"), ": shape ",
                shape_text(target), " does not expand to that of the input, ", shape_text(self));
  return reduced(-(self * target).log_sigmoid(), reduction);
}

// log(n!) is about n log n - n + log(2 pi n) / 2, after Stirling; 0 for n up to 1.
Tensor stirling(const Tensor& n) {
  const Tensor small = n <= 1, safe = lamella::where(small, 2, n);
  return lamella::where(small, 0, safe * safe.log() - safe + (safe * (2 * std::numbers::pi)).log() * .5);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        int64_t reduction) {
  LAMELLA_CHECK(log_input || eps >= 0, argument("eps"), ": must not be negative, got ", eps);
  const Tensor loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
  return reduced(full ? loss + stirling(target) : loss, reduction);
}

}  // namespace

LAMELLA_FAMILY(margin, .category = "reduction", .forms = function) {
  return {
      {.schema = "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, int reduction=1) -> "
                 "Tensor",
       .composite = composite<margin_ranking_loss>,
       .doc = R"(max(0, -target * (input1 - input2) + margin): the first is to be larger where the target is 1, the
second where it is -1.

>>> lamella.margin_ranking_loss(lamella.tensor([3.]), lamella.tensor([1.]), lamella.tensor([-1.]))
tensor(2.)
)"},
      {.schema = "hinge_embedding_loss(Tensor self, Tensor target, float margin=1, int reduction=1) -> Tensor",
       .composite = composite<hinge_embedding_loss>,
       .doc = R"(`self` where the target is 1, max(0, margin - self) where it is -1.

>>> lamella.hinge_embedding_loss(lamella.tensor([0.5, 0.25]), lamella.tensor([1., -1.]), 1, 0)
tensor([0.5000, 0.7500])
)"},
      {.schema = "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, int reduction=1) "
                 "-> Tensor",
       .composite = composite<cosine_embedding_loss>,
       .doc = R"(1 - cos where the target is 1, max(0, cos - margin) where it is -1, with the cosine of the angle of
two vectors.

>>> lamella.cosine_embedding_loss(lamella.ones(2), lamella.ones(2), lamella.tensor(-1))
tensor(1.)
)"},
      {.schema = "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
                 "reduction=1) -> Tensor",
       .category = "indexing",
       .forms = hidden | function,
       .composite = composite<multi_margin_loss>,
       .doc = R"(The mean over classes of max(0, margin - self[target] + self[i])^p, without the target's class.

Args:
    self: (classes,) or (batch, classes)
    p: 1 or 2
    weight: a factor for each target class

>>> lamella.ops.aten.multi_margin_loss(lamella.tensor([[1., 0.5]]), lamella.tensor([0]))
tensor(0.2500)
)"},
      {.schema = "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
       .category = "indexing",
       .forms = hidden | function,
       .composite = composite<multilabel_margin_loss>,
       .doc = R"(The sum over target classes t and others i of max(0, 1 - self[t] + self[i]), by the number of classes.

Args:
    target: the shape of `self`; a row lists its target classes up to the first -1

>>> lamella.ops.aten.multilabel_margin_loss(lamella.tensor([1., 0.5]), lamella.tensor([0, -1]))
tensor(0.2500)
)"},
      {.schema = "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
                 "float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
       .composite = composite<triplet_margin_loss>,
       .doc = R"(max(0, d(anchor, positive) - d(anchor, negative) + margin), with pairwise_distance d; with `swap`
the negative's distance from the positive counts where it is smaller. After Balntas et al. (2016).

>>> lamella.triplet_margin_loss(lamella.tensor([0.]), lamella.tensor([2.]), lamella.tensor([5.]), 4.)
tensor(1.)
)"},
      {.schema = "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
       .forms = hidden | function,
       .composite = composite<soft_margin_loss>,
       .doc = R"(log(1 + exp(-target * self)), without overflow, of targets 1 and -1.

>>> lamella.ops.aten.soft_margin_loss(lamella.tensor([0.]), lamella.tensor([1.]))
tensor(0.6931)
)"},
      {.schema = "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) "
                 "-> Tensor",
       .composite = composite<poisson_nll_loss>,
       .doc = R"(exp(input) - target * input; of rates, without `log_input`, input - target * log(input + eps).
`full` adds Stirling's approximation of log(target!).

>>> lamella.poisson_nll_loss(lamella.tensor([0.]), lamella.tensor([2.]), True, False, 1e-8, 1)
tensor(1.)
)"},
  };
}

}  // namespace lamella::operators
