// Loss functions, with the signatures of torch.nn.functional. All are composites; backends may have kernels for
// _nll_pick, _pair_loss, _class_loss and the gradients of the last two.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

enum class Reduction { none, mean, sum };

// Reads `reduction`, unless one of torch's older arguments is given: size_average and reduce, both true by default.
Reduction read_reduction(std::string_view reduction, std::optional<bool> size_average = {},
                         std::optional<bool> reduce = {}) {
  if (size_average || reduce) {
    if (!reduce.value_or(true)) return Reduction::none;
    return size_average.value_or(true) ? Reduction::mean : Reduction::sum;
  }
  if (reduction == "none") return Reduction::none;
  if (reduction == "mean") return Reduction::mean;
  LAMELLA_CHECK_VALUE(reduction == "sum", argument("reduction"), ": expected 'none', 'mean' or 'sum', got '", reduction,
                      "'");
  return Reduction::sum;
}

Tensor reduced(const Tensor& loss, Reduction how) {
  if (how == Reduction::none) return loss;
  return how == Reduction::sum ? loss.sum() : loss.mean();
}

void check_target_shape(const Tensor& input, const Tensor& target) {
  LAMELLA_CHECK_VALUE(input.sizes() == target.sizes(), argument("target"), ": shape ", shape_text(target),
                      " is not that of the input, ", shape_text(input));
}

// ---- losses element by element --------------------------------------------------------------------------------------

// Reduces weighted losses; their mean is their sum divided by the sum of the weights.
Tensor weighted(const Tensor& loss, const Tensor& weight, Reduction how) {
  if (how != Reduction::mean) return reduced(loss * weight, how);
  return (loss * weight).sum() / weight.expand(loss.sizes()).sum();
}

// The numbers of _pair_loss's argument 'kind'.
enum class PairLoss { squared, absolute, huber, smooth_l1, count };

// Returns a function that is quadratic below `width`, and a straight line beyond it.
Tensor bent(const Tensor& d, double width) {
  const Tensor size = d.abs();
  return lamella::where(size < width, size * size * .5, (size - .5 * width) * width);
}

Tensor pair_element(const Tensor& d, PairLoss kind, double width) {
  if (kind == PairLoss::squared) return d * d;
  if (kind == PairLoss::absolute) return d.abs();
  return kind == PairLoss::huber ? bent(d, width) : bent(d, width) / width;
}

void check_pair(const Tensor& input, const Tensor& target, int64_t kind) {
  check_floating("input", input.dtype());
  check_target_shape(input, target);
  LAMELLA_CHECK(input.dtype() == target.dtype(), argument("target"), ": its dtype ", target.dtype(),
                " is not that of the input, ", input.dtype(), "; convert one with .to(...)");
  LAMELLA_CHECK_VALUE(kind >= 0 && kind < static_cast<int64_t>(PairLoss::count), argument("kind"),
                      ": expected 0 (squared), 1 (absolute), 2 (huber) or 3 (smooth_l1), got ", kind);
}

// The gradient of a loss has the loss's shape: zero-dim if it was reduced, else that of the elements.
void check_gradient(const Tensor& grad_output, Reduction how, const Tensor& each) {
  check_floating("grad_output", grad_output.dtype());
  const IntArrayRef sizes = how == Reduction::none ? each.sizes() : IntArrayRef();
  LAMELLA_CHECK(grad_output.sizes() == sizes, argument("grad_output"), ": expected shape ", shape_text(sizes), ", got ",
                shape_text(grad_output));
}

void infer_pair(const Tensor& input, const Tensor& target, int64_t kind, double /*width*/, int64_t reduction,
                Output out) {
  check_pair(input, target, kind);
  const bool each = static_cast<Reduction>(reduction) == Reduction::none;
  out.set(each ? input.sizes() : IntArrayRef(), input.dtype());
  if (each) lay_out_as_pointwise(out, {&input, &target});
}

Tensor pair_loss(const Tensor& input, const Tensor& target, int64_t kind, double width, int64_t reduction) {
  const Tensor loss = pair_element(input - target, static_cast<PairLoss>(kind), width);
  return reduced(loss, static_cast<Reduction>(reduction));
}

void infer_pair_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, int64_t kind,
                         double /*width*/, int64_t reduction, Output out) {
  check_pair(input, target, kind);
  check_gradient(grad_output, static_cast<Reduction>(reduction), input);
  out.set(input.sizes(), input.dtype());
  lay_out_as_pointwise(out, {&input, &target, &grad_output});
}

Tensor pair_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, int64_t kind,
                          double width, int64_t reduction) {
  const ScalarType t = wide_of(input.dtype());
  const PairLoss loss = static_cast<PairLoss>(kind);
  Tensor d = as(input, t) - as(target, t), g = as(grad_output, t);
  if (static_cast<Reduction>(reduction) == Reduction::mean) g = g / input.numel();
  if (loss == PairLoss::squared)
    d = d * 2;
  else if (loss == PairLoss::absolute)
    d = d.sign();
  else
    d = d.clamp(-width, width);
  if (loss == PairLoss::smooth_l1) d = d / width;
  return as(d * g, input.dtype());
}

// Calls _pair_loss if the shapes and the floating dtypes are the same, else several operators.
Tensor pair(const Tensor& input, const Tensor& target, PairLoss kind, double width, Reduction how) {
  if (input.sizes() == target.sizes() && input.dtype() == target.dtype() && input.is_floating_point())
    return lamella::_pair_loss(input, target, static_cast<int64_t>(kind), width, static_cast<int64_t>(how));
  return reduced(pair_element(input - target, kind, width), how);
}

template <PairLoss Kind>  // mse_loss and l1_loss
Tensor plain_loss(const Tensor& input, const Tensor& target, std::optional<bool> size_average,
                  std::optional<bool> reduce, std::string_view reduction, const Tensor& weight) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  if (!weight.defined()) return pair(input, target, Kind, 0, how);
  return weighted(pair(input, target, Kind, 0, Reduction::none), weight, how);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::optional<bool> size_average,
                      std::optional<bool> reduce, std::string_view reduction, double beta) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  LAMELLA_CHECK(beta >= 0, argument("beta"), ": expected a number of at least 0, got ", beta);
  return pair(input, target, beta == 0 ? PairLoss::absolute : PairLoss::smooth_l1, beta, how);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction, double delta,
                  const Tensor& weight) {
  const Reduction how = read_reduction(reduction);
  LAMELLA_CHECK(delta > 0, argument("delta"), ": expected a number above 0, got ", delta);
  if (!weight.defined()) return pair(input, target, PairLoss::huber, delta, how);
  const Tensor loss = pair(input, target, PairLoss::huber, delta, Reduction::none) * weight;
  return reduced(loss, how);  // its mean divides by the number of losses, that of mse_loss by the weights
}

// 'batchmean' divides by the size of the batch.
Tensor kl_div(const Tensor& input, const Tensor& target, std::optional<bool> size_average, std::optional<bool> reduce,
              std::string_view reduction, bool log_target) {
  const bool batch = reduction == "batchmean";
  const Reduction how = batch ? Reduction::sum : read_reduction(reduction, size_average, reduce);
  Tensor loss;
  if (log_target) {
    loss = target.exp() * (target - input);
  } else {  // 0 log 0 is 0
    const Tensor zero = target.eq(0), log = lamella::where(zero, 1, target).log();
    loss = target * log - target * input;
  }
  loss = reduced(loss, how);
  return batch && input.dim() > 0 ? loss / input.size(0) : loss;
}

// ---- binary cross entropy -------------------------------------------------------------------------------------------

// Returns the loss of each element; logarithms are at least -100.
Tensor each_binary_cross_entropy(const Tensor& input, const Tensor& target) {
  const Tensor yes = input.log().clamp(-100.), no = (-input).log1p().clamp(-100.);
  return (target - 1) * no - target * yes;
}

void check_probabilities(const char* name, const Tensor& x, std::string_view advice) {
  if (x.is_meta() || x.is_opaque() || x.numel() == 0 || !x.is_floating_point()) return;
  const Tensor seen = lamella::detach(x);
  if ((seen >= 0).logical_and(seen <= 1).all().item().toBool()) return;  // one wait on a device
  const auto [low, high] = lamella::aminmax(seen);
  const double least = low.item().toDouble(), most = high.item().toDouble();
  LAMELLA_CHECK(false, argument(name), ": all elements of ", name, " should be between 0 and 1, got ", least, " to ",
                most, advice);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            std::optional<bool> size_average, std::optional<bool> reduce, std::string_view reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  check_floating("input", input.dtype());
  check_target_shape(input, target);
  check_probabilities("input", input, "; for logits call binary_cross_entropy_with_logits");
  check_probabilities("target", target, "; a target is the probability of 1");
  const Tensor loss = lamella::_binary_cross_entropy(input, target);
  return reduced(weight.defined() ? loss * weight : loss, how);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                        std::optional<bool> size_average, std::optional<bool> reduce,
                                        std::string_view reduction, const Tensor& pos_weight) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  check_target_shape(input, target);
  const Tensor log = lamella::log_sigmoid(input);
  const Tensor loss = (1 - target) * input - (pos_weight.defined() ? ((pos_weight - 1) * target + 1) * log : log);
  return reduced(weight.defined() ? loss * weight : loss, how);
}

// ---- by class -------------------------------------------------------------------------------------------------------

// Classes are in dimension 1, or in dimension 0 of a single sample.
int64_t class_dim(const Tensor& t) { return t.dim() == 1 ? 0 : 1; }

void check_class_weights(const Tensor& input, const Tensor& weight) {
  if (!weight.defined()) return;
  const int64_t classes = input.size(class_dim(input));
  LAMELLA_CHECK(weight.dim() == 1 && weight.size(0) == classes, argument("weight"),
                ": weight tensor should be defined either for all ", classes, " classes or no classes, got shape ",
                shape_text(weight));
  LAMELLA_CHECK(weight.dtype() == input.dtype(), argument("weight"), ": its dtype ", weight.dtype(),
                " is not that of the input, ", input.dtype(), "; convert one with .to(...)");
}

// The target's shape is the input's without the classes.
void check_classes(const Tensor& input, const Tensor& target, const Tensor& weight) {
  check_floating("input", input.dtype());
  LAMELLA_CHECK(input.dim() > 0, argument("input"),
                ": a zero-dim tensor has no classes; expected (classes,) or (batch, classes, ...)");
  const int64_t dim = class_dim(input);
  bool fits = target.dim() == input.dim() - 1;
  for (int64_t i = 0; fits && i < target.dim(); i++) fits = target.size(i) == input.size(i < dim ? i : i + 1);
  LAMELLA_CHECK(target.sizes() != input.sizes(), argument("target"), ": class indices of shape ", shape_text(target),
                " have a dimension for the classes, as the input has; of a target with one number for each class, "
                ".argmax(",
                dim, ") gives the indices");
  const bool other_batch = target.dim() == 0 || dim == 0 || target.size(0) != input.size(0);
  LAMELLA_CHECK_VALUE(fits || !other_batch, argument("target"), ": shape ", shape_text(target),
                      " is not that of the input, ", shape_text(input), ", without the classes in dimension ", dim);
  LAMELLA_CHECK(fits, argument("target"), ": shape ", shape_text(target), " is not that of the input, ",
                shape_text(input), ", without the classes in dimension ", dim);
  LAMELLA_CHECK(is_integral(target.dtype()), argument("target"), ": expected class indices in an integer dtype, got ",
                target.dtype(), "; convert it with .to(lamella.int64)");
  check_class_weights(input, weight);
}

// For each target: an index that is valid even if the target is ignored; whether it is not ignored; its weight, or 0.
struct Targets {
  Tensor safe, kept, weight;
};
Targets targets_of(const Tensor& target, const Tensor& weights, int64_t ignored, ScalarType dtype) {
  const Tensor t = as(target, kLong), kept = t.ne(ignored);
  Tensor safe = lamella::where(kept, t, 0), weight = as(kept, dtype);
  if (weights.defined()) {
    const Tensor flat = as(weights, dtype).gather(0, safe.reshape({-1}));
    weight = lamella::where(kept, flat.reshape(t.sizes()), 0);
  }
  return {safe, kept, weight};
}

// The loss and the weight have the target's shape.
void infer_pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t /*ignore_index*/, Output loss,
                Output weights) {
  check_classes(input, target, weight);
  loss.set(target.sizes(), input.dtype());
  weights.set(target.sizes(), input.dtype());
}

std::tuple<Tensor, Tensor> pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index) {
  const int64_t dim = class_dim(input);
  const Targets t = targets_of(target, weight, ignore_index, input.dtype());
  const Tensor found = input.gather(dim, t.safe.unsqueeze(dim)).squeeze(dim);
  return {lamella::where(t.kept, -found * t.weight, 0), t.weight};
}

void infer_class_loss(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t /*ignore_index*/,
                      int64_t reduction, bool /*logits*/, Output out) {
  check_classes(input, target, weight);
  out.set(static_cast<Reduction>(reduction) == Reduction::none ? target.sizes() : IntArrayRef(), input.dtype());
}

// Returns the loss of log-probabilities, and the weight of each target.
std::tuple<Tensor, Tensor> picked(const Tensor& log, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                                  Reduction how) {
  auto [loss, weights] = lamella::_nll_pick(log, target, weight, ignore_index);
  if (how != Reduction::none) loss = loss.sum();
  if (how == Reduction::mean) loss = loss / weights.sum();
  return {loss, weights};
}

Tensor class_loss(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                  int64_t reduction, bool logits) {
  const Tensor log = logits ? input.log_softmax(class_dim(input)) : input;
  return std::get<0>(picked(log, target, weight, ignore_index, static_cast<Reduction>(reduction)));
}

void infer_class_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, const Tensor& weight,
                          int64_t /*ignore_index*/, int64_t reduction, bool /*logits*/, Output out) {
  check_classes(input, target, weight);
  check_gradient(grad_output, static_cast<Reduction>(reduction), target);
  out.set(input.sizes(), input.dtype());
}

Tensor class_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, const Tensor& weight,
                           int64_t ignore_index, int64_t reduction, bool logits) {
  const Tensor x = as(input, wide_of(input.dtype()));
  const int64_t dim = class_dim(x);
  const Targets t = targets_of(target, weight, ignore_index, x.dtype());
  Tensor g = as(grad_output, x.dtype()) * t.weight;
  if (static_cast<Reduction>(reduction) == Reduction::mean) g = g / t.weight.sum();
  g = lamella::where(t.kept, g, 0).unsqueeze(dim);
  const Tensor rest = logits ? x.softmax(dim) * g : lamella::zeros_like(x);
  return as(rest.scatter_add(dim, t.safe.unsqueeze(dim), -g), input.dtype());
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight, std::optional<bool> size_average,
                int64_t ignore_index, std::optional<bool> reduce, std::string_view reduction) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  check_classes(input, target, weight);
  return lamella::_class_loss(input, target, weight, ignore_index, static_cast<int64_t>(how), false);
}

// Returns a number for each class in a shape that broadcasts with the input.
Tensor beside_classes(const Tensor& v, const Tensor& x) {
  if (x.dim() == 1) return v;
  DimVector sizes = {1, v.dim() > 0 ? v.size(0) : 0};
  for (int64_t d = 2; d < x.dim(); d++) sizes.push_back(1);
  return v.reshape(sizes);
}

// Returns the loss for targets that are a probability for each class; its mean is over the samples.
Tensor by_probability(const Tensor& log, Tensor target, const Tensor& weight, double smoothing, Reduction how) {
  const int64_t dim = class_dim(log), classes = std::max<int64_t>(log.size(dim), 1);
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor loss = log * target;
  if (weight.defined()) loss = loss * beside_classes(weight, log);
  if (how == Reduction::none) return -loss.sum(dim);
  const Tensor sum = -loss.sum();
  return how == Reduction::sum ? sum : sum / (log.numel() / classes);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, std::optional<bool> size_average,
                     int64_t ignore_index, std::optional<bool> reduce, std::string_view reduction,
                     double label_smoothing) {
  const Reduction how = read_reduction(reduction, size_average, reduce);
  LAMELLA_CHECK(label_smoothing >= 0 && label_smoothing <= 1, argument("label_smoothing"),
                ": expected a number from 0 to 1, got ", label_smoothing);
  const bool probabilities = input.sizes() == target.sizes() && target.is_floating_point() && input.dim() > 0;
  LAMELLA_CHECK(!probabilities || ignore_index < 0, argument("ignore_index"),
                ": only goes with a 'target' of class indices, and this one has probabilities; leave it out, got ",
                ignore_index);
  LAMELLA_CHECK(probabilities || input.dim() == 0 || !input.is_floating_point() || input.sizes() != target.sizes(),
                argument("target"), ": has the input's shape, ", shape_text(input),
                ", as probabilities have, and dtype ", target.dtype(), "; cast it with .to(lamella.", input.dtype(),
                ") for probabilities, or call .argmax(", class_dim(input), ") for class indices");
  if (probabilities)
    check_class_weights(input, weight);
  else
    check_classes(input, target, weight);
  if (!probabilities && label_smoothing == 0)
    return lamella::_class_loss(input, target, weight, ignore_index, static_cast<int64_t>(how), true);
  const int64_t dim = class_dim(input);
  const Tensor log = input.log_softmax(dim);
  if (probabilities) return by_probability(log, target, weight, label_smoothing, how);
  const auto [loss, weights] = picked(log, target, weight, ignore_index, how);
  // With label smoothing a part of the loss is the mean over all classes.
  const Tensor all = weight.defined() ? log * beside_classes(weight, log) : log;
  const Tensor kept = target.ne(ignore_index);
  Tensor even = lamella::where(kept, -all.sum(dim), 0);
  if (how != Reduction::none) even = even.sum();
  if (how == Reduction::mean) even = even / weights.sum();
  const double share = label_smoothing / static_cast<double>(std::max<int64_t>(input.size(dim), 1));
  return loss * (1 - label_smoothing) + even * share;
}

}  // namespace

LAMELLA_FAMILY(loss, .category = "reduction", .forms = hidden | function) {
  return {
      {.schema = "mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
                 "reduction='mean', Tensor? weight=None) -> Tensor",
       .composite = composite<plain_loss<PairLoss::squared>>,
       .doc = R"(The squares of input - target; their mean, sum, or each ('none').

>>> lamella.ops.aten.mse_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]))
tensor(2.)
)"},
      {.schema = "l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
                 "reduction='mean', Tensor? weight=None) -> Tensor",
       .composite = composite<plain_loss<PairLoss::absolute>>,
       .doc = R"(The absolute values of input - target; their mean, sum, or each ('none').

>>> lamella.ops.aten.l1_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]))
tensor(1.)
)"},
      {.schema = "smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
                 "reduction='mean', float beta=1.0) -> Tensor",
       .composite = composite<smooth_l1_loss>,
       .doc = R"(d^2 / (2 beta) where |d| = |input - target| is below `beta`, else |d| - beta / 2.

>>> lamella.ops.aten.smooth_l1_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]), reduction='none')
tensor([0.0000, 1.5000])
)"},
      {.schema = "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) "
                 "-> Tensor",
       .composite = composite<huber_loss>,
       .doc = R"(d^2 / 2 where |d| = |input - target| is below `delta`, else delta (|d| - delta / 2).

>>> lamella.ops.aten.huber_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]), 'sum')
tensor(1.5000)
)"},
      {.schema = "kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
                 "reduction='mean', bool log_target=False) -> Tensor",
       .composite = composite<kl_div>,
       .doc = R"(target (log(target) - input): the Kullback-Leibler divergence of log-probabilities; 'batchmean'
divides the sum by the batch.

>>> lamella.ops.aten.kl_div(lamella.tensor([0., 0.]), lamella.tensor([1., 1.]), reduction='sum')
tensor(0.)
)"},
      {.schema = "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, "
                 "bool? reduce=None, str reduction='mean') -> Tensor",
       .composite = composite<binary_cross_entropy>,
       .doc = R"(-(target log(input) + (1 - target) log(1 - input)), with logarithms that end at -100.

>>> lamella.ops.aten.binary_cross_entropy(lamella.tensor([0.5, 1.]), lamella.tensor([1., 1.]), reduction='sum')
tensor(0.6931)
)"},
      {.schema = "_binary_cross_entropy(Tensor input, Tensor target) -> Tensor",
       .dims = "broadcast",
       .composite = composite<each_binary_cross_entropy>,
       .doc = R"(What binary_cross_entropy adds up.

>>> lamella.ops.aten._binary_cross_entropy(lamella.tensor([0.5]), lamella.tensor([1.]))
tensor([0.6931])
)"},
      {.schema = "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, bool? "
                 "size_average=None, bool? reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor",
       .composite = composite<binary_cross_entropy_with_logits>,
       .doc = R"(binary_cross_entropy of sigmoid(input), without overflow; `pos_weight` weighs the positive targets.

>>> lamella.ops.aten.binary_cross_entropy_with_logits(lamella.tensor([0.]), lamella.tensor([1.]))
tensor(0.6931)
)"},
      {.schema = "_nll_pick(Tensor input, Tensor target, Tensor? weight, int ignore_index) -> (Tensor, Tensor)",
       .category = "indexing",
       .infer = shape<infer_pick>,
       .composite = composite<pick>,
       .doc = "For each target the weighted loss -input[target] and the weight; both 0 where it is ignored."},
      {.schema = "_pair_loss(Tensor input, Tensor target, int kind, float width, int reduction) -> Tensor",
       .infer = shape<infer_pair>,
       .composite = composite<pair_loss>,
       .doc = "A loss of input - target by its number: squared, absolute, huber, smooth_l1; each (0), their mean (1), "
              "sum (2)."},
      {.schema = "_class_loss(Tensor input, Tensor target, Tensor? weight, int ignore_index, int reduction, bool "
                 "logits) -> Tensor",
       .infer = shape<infer_class_loss>,
       .composite = composite<class_loss>,
       .doc = "nll_loss, of log_softmax(input) where `logits`; each (0), their mean (1), sum (2)."},
      {.schema = "_pair_loss_backward(Tensor grad_output, Tensor input, Tensor target, int kind, float width, int "
                 "reduction) -> Tensor",
       .infer = shape<infer_pair_backward>,
       .composite = composite<pair_loss_backward>,
       .doc = "The gradient of _pair_loss, of its input; with input and target in each other's place, of its target."},
      {.schema = "_class_loss_backward(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, int "
                 "ignore_index, int reduction, bool logits) -> Tensor",
       .infer = shape<infer_class_backward>,
       .composite = composite<class_loss_backward>,
       .doc = "The gradient of _class_loss, of its input; of _nll_pick without `logits` and reduction."},
      {.schema = "nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int "
                 "ignore_index=-100, bool? reduce=None, str reduction='mean') -> Tensor",
       .composite = composite<nll_loss>,
       .doc = R"(The negative log-probability of each target class, weighted by class; the mean is divided by the
weights.

Args:
    input: log-probabilities, (classes,) or (batch, classes, ...)

Raises:
    IndexError: a target is no class

>>> lamella.ops.aten.nll_loss(lamella.tensor([[-1., -2.]]), lamella.tensor([1]))
tensor(2.)
)"},
      {.schema = "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int "
                 "ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
       .composite = composite<cross_entropy>,
       .doc = R"(nll_loss of log_softmax(input); a floating target of the input's shape gives a probability for each
class.

Raises:
    IndexError: a target is no class

>>> lamella.ops.aten.cross_entropy(lamella.tensor([[0., 0.]]), lamella.tensor([1]))
tensor(0.6931)
)"},
  };
}

}  // namespace lamella::operators
