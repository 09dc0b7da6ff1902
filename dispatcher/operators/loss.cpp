// Loss functions, with the signatures of torch.nn.functional. All are composites, but for the choice of each target's
// log-probability, for which a backend may bring a kernel.
#include <cmath>

#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {
namespace {

enum class Reduction { none, mean, sum };

std::string_view text(const Value& v) { return {v.as.string, v.length}; }

// `reduction`, unless one of torch's older switches is given: size_average and reduce, both true by default.
lamella_status read_reduction(lamella_frame* f, const Value* a, int at, int size_average, int reduce, Reduction* out) {
  if (size_average >= 0 && (given(a[size_average]) || given(a[reduce]))) {
    const bool mean = !given(a[size_average]) || a[size_average].as.i, any = !given(a[reduce]) || a[reduce].as.i;
    *out = !any ? Reduction::none : mean ? Reduction::mean : Reduction::sum;
    return LAMELLA_OK;
  }
  const std::string_view s = text(a[at]);
  if (s == "none")
    *out = Reduction::none;
  else if (s == "mean")
    *out = Reduction::mean;
  else if (s == "sum")
    *out = Reduction::sum;
  else
    return raise(LAMELLA_VALUE_ERROR,
                 where(f, at) + ": expected 'none', 'mean' or 'sum', got '" + std::string(s) + "'");
  return LAMELLA_OK;
}

Var reduced(Compose& c, const Var& loss, Reduction how) {
  if (how == Reduction::none) return loss;
  return how == Reduction::sum ? c.op<"sum">(loss) : c.op<"mean">(loss);
}

lamella_status check_floating(lamella_frame* f, int arg, const Tensor* t) {
  if (core::dtype_class(t->dtype) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": expected a floating dtype, got " +
                                          core::dtype_info(t->dtype).name + "; convert it with .to(lamella.float32)");
}

std::string size_clash(lamella_frame* f, int arg, const Tensor* x, const Tensor* y) {
  return where(f, arg) + ": shape " + core::shape_string(y) + " is not that of the input, " + core::shape_string(x);
}

bool same_shape(const Tensor* x, const Tensor* y) {
  return x->ndim() == y->ndim() && std::equal(x->sizes(), x->sizes() + x->ndim(), y->sizes());
}

// ---- losses element by element --------------------------------------------------------------------------------------

// A weighted mean is divided by the weights' sum.
Var weighted(Compose& c, const Var& loss, const Value& weight, Reduction how) {
  if (!given(weight)) return reduced(c, loss, how);
  Var w = c.arg(weight);
  if (how != Reduction::mean) return reduced(c, loss * w, how);
  Ints sizes;
  for (int d = 0; d < loss.dim(); d++) sizes.add(loss.size(d));
  return c.op<"sum">(loss * w) / c.op<"sum">(c.op<"expand">(w, sizes));
}

// The numbers of _pair_loss's argument 'kind'.
enum class PairLoss { squared, absolute, huber, smooth_l1, count };

// Quadratic below `width`, straight beyond it.
Var bent(Compose& c, const Var& d, double width) {
  Var size = c.op<"abs">(d);
  return c.op<"where.self">(c.op<"lt.Scalar">(size, width), size * size * .5, (size - .5 * width) * width);
}

Var pair_element(Compose& c, const Var& d, PairLoss kind, double width) {
  if (kind == PairLoss::squared) return d * d;
  if (kind == PairLoss::absolute) return c.op<"abs">(d);
  return kind == PairLoss::huber ? bent(c, d, width) : bent(c, d, width) / width;
}

// The arguments input, target and kind.
lamella_status check_pair(lamella_frame* f, const Value* a, int input) {
  const Tensor *x = tensor_arg(a[input]), *y = tensor_arg(a[input + 1]);
  if (lamella_status st = check_floating(f, input, x)) return st;
  if (!same_shape(x, y)) return raise(LAMELLA_VALUE_ERROR, size_clash(f, input + 1, x, y));
  if (x->dtype != y->dtype)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, input + 1) + ": its dtype " + core::dtype_info(y->dtype).name +
                                            " is not that of the input, " + core::dtype_info(x->dtype).name +
                                            "; convert one with .to(...)");
  if (a[input + 2].as.i >= 0 && a[input + 2].as.i < static_cast<int64_t>(PairLoss::count)) return LAMELLA_OK;
  return raise(LAMELLA_VALUE_ERROR, where(f, input + 2) + ": there is no such loss");
}

// The gradient of a loss has its shape: one number for all, or for each one.
lamella_status check_gradient(lamella_frame* f, const Value* a, Reduction how, const Tensor* each) {
  const Tensor* g = tensor_arg(a[0]);
  if (lamella_status st = check_floating(f, 0, g)) return st;
  if (how == Reduction::none ? same_shape(g, each) : g->ndim() == 0) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected shape " +
                                          (how == Reduction::none ? core::shape_string(each) : std::string("()")) +
                                          ", got " + core::shape_string(g));
}

// _pair_loss(input, target, kind, width, reduction)
lamella_status infer_pair(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[0]);
  if (lamella_status st = check_pair(f, a, 0)) return st;
  const bool each = static_cast<Reduction>(a[4].as.i) == Reduction::none;
  fresh(m, each ? x->ndim() : 0, x->sizes(), x->dtype);
  return LAMELLA_OK;
}

lamella_status pair_loss(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var loss = pair_element(c, c.arg(a[0]) - c.arg(a[1]), static_cast<PairLoss>(a[2].as.i), as_double(a[3]));
  return c.give(r, reduced(c, loss, static_cast<Reduction>(a[4].as.i)));
}

// _pair_loss_backward(grad_output, input, target, kind, width, reduction)
lamella_status infer_pair_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  if (lamella_status st = check_pair(f, a, 1)) return st;
  if (lamella_status st = check_gradient(f, a, static_cast<Reduction>(a[5].as.i), x)) return st;
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  return LAMELLA_OK;
}

lamella_status pair_loss_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[1]);
  const DType t = wide_of(x.dtype());
  const PairLoss kind = static_cast<PairLoss>(a[3].as.i);
  const double width = as_double(a[4]);
  Var d = as(c, x, t) - as(c, c.arg(a[2]), t), g = as(c, c.arg(a[0]), t);
  if (static_cast<Reduction>(a[5].as.i) == Reduction::mean) g = g / x.numel();
  if (kind == PairLoss::squared)
    d = d * 2;
  else if (kind == PairLoss::absolute)
    d = c.op<"sign">(d);
  else
    d = c.op<"clamp">(d, -width, width);
  if (kind == PairLoss::smooth_l1) d = d / width;
  return c.give(r, as(c, d * g, x.dtype()));
}

// In one step where nothing broadcasts, is promoted or weighed.
Var pair(Compose& c, const Value* a, PairLoss kind, double width, Reduction how) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  if (same_shape(x, y) && x->dtype == y->dtype && core::dtype_class(x->dtype) == LAMELLA_CLASS_FLOATING)
    return c.op<"_pair_loss">(a[0], a[1], static_cast<int64_t>(kind), width, static_cast<int64_t>(how));
  return reduced(c, pair_element(c, c.arg(a[0]) - c.arg(a[1]), kind, width), how);
}

// mse_loss and l1_loss: (input, target, size_average, reduce, reduction, weight)
template <PairLoss Kind>
lamella_status plain_loss(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 4, 2, 3, &how)) return st;
  Compose c(f);
  if (!given(a[5])) return c.give(r, pair(c, a, Kind, 0, how));
  return c.give(r, weighted(c, pair(c, a, Kind, 0, Reduction::none), a[5], how));
}

// smooth_l1_loss(input, target, size_average, reduce, reduction, beta)
lamella_status smooth_l1_loss(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 4, 2, 3, &how)) return st;
  const double beta = as_double(a[5]);
  if (!(beta >= 0)) return raise(LAMELLA_RUNTIME_ERROR, where(f, 5) + ": expected a number of at least 0");
  Compose c(f);
  return c.give(r, pair(c, a, beta == 0 ? PairLoss::absolute : PairLoss::smooth_l1, beta, how));
}

// huber_loss(input, target, reduction, delta, weight)
lamella_status huber_loss(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 2, -1, -1, &how)) return st;
  const double delta = as_double(a[3]);
  if (!(delta > 0)) return raise(LAMELLA_RUNTIME_ERROR, where(f, 3) + ": expected a number above 0");
  Compose c(f);
  if (!given(a[4])) return c.give(r, pair(c, a, PairLoss::huber, delta, how));
  Var loss = pair(c, a, PairLoss::huber, delta, Reduction::none) * c.arg(a[4]);
  return c.give(r, reduced(c, loss, how));  // its mean, unlike mse_loss's, does not divide by the weights
}

// kl_div(input, target, size_average, reduce, reduction, log_target); 'batchmean' divides by the batch alone.
lamella_status kl_div(lamella_frame* f, const Value* a, Value* r) {
  Reduction how = Reduction::sum;
  const bool batch = text(a[4]) == "batchmean";
  if (!batch)
    if (lamella_status st = read_reduction(f, a, 4, 2, 3, &how)) return st;
  Compose c(f);
  Var x = c.arg(a[0]), t = c.arg(a[1]);
  Var loss = c.nothing();
  if (a[5].as.i) {
    loss = c.op<"exp">(t) * (t - x);
  } else {  // 0 log 0 is 0
    Var zero = c.op<"eq.Scalar">(t, 0), log = c.op<"log">(c.op<"where.ScalarSelf">(zero, 1, t));
    loss = t * log - t * x;
  }
  loss = reduced(c, loss, how);
  if (batch && x.dim() > 0) loss = loss / x.size(0);
  return c.give(r, loss);
}

// ---- binary cross entropy -------------------------------------------------------------------------------------------

// (input, target), element by element: logarithms end at -100.
lamella_status each_binary_cross_entropy(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var p = c.arg(a[0]), t = c.arg(a[1]);
  Var yes = c.op<"clamp">(c.op<"log">(p), -100.), no = c.op<"clamp">(c.op<"log1p">(-p), -100.);
  return c.give(r, (t - 1) * no - t * yes);
}

// binary_cross_entropy(input, target, weight, size_average, reduce, reduction)
lamella_status binary_cross_entropy(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 5, 3, 4, &how)) return st;
  if (lamella_status st = check_floating(f, 0, tensor_arg(a[0]))) return st;
  if (!same_shape(tensor_arg(a[0]), tensor_arg(a[1])))
    return raise(LAMELLA_VALUE_ERROR, size_clash(f, 1, tensor_arg(a[0]), tensor_arg(a[1])));
  Compose c(f);
  Var loss = c.op<"_binary_cross_entropy">(a[0], a[1]);
  if (given(a[2])) loss = loss * c.arg(a[2]);
  return c.give(r, reduced(c, loss, how));
}

// binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, pos_weight)
lamella_status binary_cross_entropy_with_logits(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 5, 3, 4, &how)) return st;
  if (!same_shape(tensor_arg(a[0]), tensor_arg(a[1])))
    return raise(LAMELLA_VALUE_ERROR, size_clash(f, 1, tensor_arg(a[0]), tensor_arg(a[1])));
  Compose c(f);
  Var x = c.arg(a[0]), t = c.arg(a[1]);
  Var log = c.op<"log_sigmoid">(x);
  Var loss = (1 - t) * x - (given(a[6]) ? ((c.arg(a[6]) - 1) * t + 1) * log : log);
  if (given(a[2])) loss = loss * c.arg(a[2]);
  return c.give(r, reduced(c, loss, how));
}

// ---- by class -------------------------------------------------------------------------------------------------------

// Classes stand in dimension 1, or in dimension 0 of a single sample.
int class_dim(const Tensor* t) { return t->ndim() == 1 ? 0 : 1; }

// The target's shape is the input's without the classes; the arguments are input, target and weight.
lamella_status check_classes(lamella_frame* f, const Value* a, int input = 0) {
  const Tensor *x = tensor_arg(a[input]), *target = tensor_arg(a[input + 1]), *weight = tensor_arg(a[input + 2]);
  if (lamella_status st = check_floating(f, input, x)) return st;
  if (x->ndim() == 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, input) + ": a zero-dim tensor has no classes; expected (classes,) or (batch, classes, ...)");
  const int dim = class_dim(x);
  bool fits = target->ndim() == x->ndim() - 1;
  for (int i = 0; fits && i < target->ndim(); i++) fits = target->sizes()[i] == x->sizes()[i < dim ? i : i + 1];
  if (!fits)
    return raise(LAMELLA_VALUE_ERROR, where(f, input + 1) + ": shape " + core::shape_string(target) +
                                          " is not that of the input, " + core::shape_string(x) +
                                          ", without the classes in dimension " + std::to_string(dim));
  if (core::dtype_class(target->dtype) != LAMELLA_CLASS_INTEGRAL)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, input + 1) + ": expected class indices in an integer dtype, got " +
                                            core::dtype_info(target->dtype).name +
                                            "; convert it with .to(lamella.int64)");
  if (weight && (weight->ndim() != 1 || weight->sizes()[0] != x->sizes()[dim]))
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected %lld numbers, one for each class, got shape %s", where(f, input + 2).c_str(),
                        (long long)x->sizes()[dim], core::shape_string(weight).c_str()));
  return LAMELLA_OK;
}

// For each target: the index to take instead of one to ignore, whether it is kept, and the weight, 0 if it is not.
struct Targets {
  Var safe, kept, weight;
};
Targets targets_of(Compose& c, const Value& target, const Value& weights, const Value& ignored, DType dtype) {
  Var t = as(c, c.arg(target), LAMELLA_INT64), kept = c.op<"ne.Scalar">(t, ignored);
  Var safe = c.op<"where.ScalarOther">(kept, t, 0), weight = as(c, kept, dtype);
  if (given(weights)) {
    Var flat = c.op<"gather">(as(c, c.arg(weights), dtype), 0, c.op<"reshape">(safe, Ints{-1}));
    Ints sizes;
    for (int d = 0; d < t.dim(); d++) sizes.add(t.size(d));
    weight = c.op<"where.ScalarOther">(kept, c.op<"reshape">(flat, sizes), 0);
  }
  return {safe, kept, weight};
}

// _nll_pick(input, target, weight?, ignore_index) -> (loss, weight), both of the target's shape
lamella_status infer_pick(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *x = tensor_arg(a[0]), *t = tensor_arg(a[1]);
  if (lamella_status st = check_classes(f, a)) return st;
  for (int k : {0, 1}) fresh(m + k, t->ndim(), t->sizes(), x->dtype);
  return LAMELLA_OK;
}

lamella_status pick(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const int64_t dim = class_dim(x.tensor());
  Targets t = targets_of(c, a[1], a[2], a[3], x.dtype());
  Var found = c.op<"squeeze.dim">(c.op<"gather">(x, dim, c.op<"unsqueeze">(t.safe, dim)), dim);
  return c.give(r, c.op<"where.ScalarOther">(t.kept, -found * t.weight, 0), t.weight);
}

// _class_loss(input, target, weight?, ignore_index, reduction, logits)
lamella_status infer_class_loss(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *x = tensor_arg(a[0]), *t = tensor_arg(a[1]);
  if (lamella_status st = check_classes(f, a)) return st;
  const bool each = static_cast<Reduction>(a[4].as.i) == Reduction::none;
  fresh(m, each ? t->ndim() : 0, t->sizes(), x->dtype);
  return LAMELLA_OK;
}

Var picked(Compose& c, const Var& log, const Value& target, const Value& weight, const Value& ignore, Reduction how,
           Var* weights) {
  auto found = c.ops<"_nll_pick", 2>(log, target, weight, ignore);
  if (weights) *weights = found[1];
  if (how == Reduction::none) return found[0];
  Var sum = c.op<"sum">(found[0]);
  return how == Reduction::sum ? sum : sum / c.op<"sum">(found[1]);
}

lamella_status class_loss(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var log = c.arg(a[0]);
  if (a[5].as.i) log = c.op<"log_softmax.int">(log, class_dim(log.tensor()));
  return c.give(r, picked(c, log, a[1], a[2], a[3], static_cast<Reduction>(a[4].as.i), nullptr));
}

// _class_loss_backward(grad_output, input, target, weight?, ignore_index, reduction, logits)
lamella_status infer_class_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  if (lamella_status st = check_classes(f, a, 1)) return st;
  if (lamella_status st = check_gradient(f, a, static_cast<Reduction>(a[5].as.i), tensor_arg(a[2]))) return st;
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  return LAMELLA_OK;
}

lamella_status class_loss_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[1]), x = as(c, input, wide_of(input.dtype()));
  const int64_t dim = class_dim(x.tensor());
  Targets t = targets_of(c, a[2], a[3], a[4], x.dtype());
  Var g = as(c, c.arg(a[0]), x.dtype()) * t.weight;
  if (static_cast<Reduction>(a[5].as.i) == Reduction::mean) g = g / c.op<"sum">(t.weight);
  g = c.op<"unsqueeze">(c.op<"where.ScalarOther">(t.kept, g, 0), dim);
  Var rest = a[6].as.i ? c.op<"softmax.int">(x, dim) * g : c.op<"zeros_like">(x);
  return c.give(r, as(c, c.op<"scatter_add">(rest, dim, c.op<"unsqueeze">(t.safe, dim), -g), input.dtype()));
}

// nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction)
lamella_status nll_loss(lamella_frame* f, const Value* a, Value* r) {
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 6, 3, 5, &how)) return st;
  if (lamella_status st = check_classes(f, a)) return st;
  Compose c(f);
  return c.give(r, c.op<"_class_loss">(a[0], a[1], a[2], a[4], static_cast<int64_t>(how), false));
}

// A number for each class, beside the input.
Var beside_classes(Compose& c, const Var& v, const Var& x) {
  if (x.dim() == 1) return v;
  Ints sizes = {1, v.size(0)};
  for (int d = 2; d < x.dim(); d++) sizes.add(1);
  return c.op<"reshape">(v, sizes);
}

// By a probability for each class: the mean is over the samples.
Var by_probability(Compose& c, const Var& log, Var target, const Value& weight, double smoothing, Reduction how) {
  const int dim = log.dim() == 1 ? 0 : 1;
  const int64_t classes = std::max<int64_t>(log.size(dim), 1);
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Var loss = log * target;
  if (given(weight)) loss = loss * beside_classes(c, c.arg(weight), log);
  if (how == Reduction::none) return -c.op<"sum.dim_IntList">(loss, Ints{dim});
  Var sum = -c.op<"sum">(loss);
  return how == Reduction::sum ? sum : sum / (log.numel() / classes);
}

// cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
lamella_status cross_entropy(lamella_frame* f, const Value* a, Value* r) {
  const Tensor *x = tensor_arg(a[0]), *t = tensor_arg(a[1]);
  Reduction how;
  if (lamella_status st = read_reduction(f, a, 6, 3, 5, &how)) return st;
  const double smoothing = as_double(a[7]);
  if (!(smoothing >= 0 && smoothing <= 1))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 7) + ": expected a number from 0 to 1");
  const bool probabilities = same_shape(x, t) && core::dtype_class(t->dtype) == LAMELLA_CLASS_FLOATING && x->ndim() > 0;
  if (!probabilities)
    if (lamella_status st = check_classes(f, a)) return st;
  Compose c(f);
  if (!probabilities && smoothing == 0)
    return c.give(r, c.op<"_class_loss">(a[0], a[1], a[2], a[4], static_cast<int64_t>(how), true));
  const int dim = class_dim(x);
  Var log = c.op<"log_softmax.int">(a[0], dim);
  if (probabilities) return c.give(r, by_probability(c, log, c.arg(a[1]), a[2], smoothing, how));
  Var weights = c.nothing();
  Var loss = picked(c, log, a[1], a[2], a[4], how, &weights);
  if (smoothing > 0) {  // a part of the loss is that of all classes alike
    Var all = given(a[2]) ? log * beside_classes(c, c.arg(a[2]), log) : log;
    Var kept = c.op<"ne.Scalar">(a[1], a[4]);
    Var even = c.op<"where.ScalarOther">(kept, -c.op<"sum.dim_IntList">(all, Ints{dim}), 0);
    if (how != Reduction::none) even = c.op<"sum">(even);
    if (how == Reduction::mean) even = even / c.op<"sum">(weights);
    loss = loss * (1 - smoothing) + even * (smoothing / static_cast<double>(std::max<int64_t>(x->sizes()[dim], 1)));
  }
  return c.give(r, loss);
}

}  // namespace

const std::vector<Declaration>& loss_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', "
       "Tensor? "
       "weight=None) -> Tensor",
       "reduction", hidden | function, nullptr, plain_loss<PairLoss::squared>,
       "The squares of input - target; their mean, sum, or each ('none').\n\n>>> "
       "lamella.ops.aten.mse_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]))\ntensor(2.)\n"},
      {"l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? "
       "weight=None) -> Tensor",
       "reduction", hidden | function, nullptr, plain_loss<PairLoss::absolute>,
       "The absolute values of input - target; their mean, sum, or each ('none').\n\n>>> "
       "lamella.ops.aten.l1_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]))\ntensor(1.)\n"},
      {"smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', "
       "float beta=1.0) -> Tensor",
       "reduction", hidden | function, nullptr, smooth_l1_loss,
       "d^2 / (2 beta) where |d| = |input - target| is below `beta`, else |d| - beta / 2.\n\n>>> "
       "lamella.ops.aten.smooth_l1_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]), reduction='none')\n"
       "tensor([0.0000, 1.5000])\n"},
      {"huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
       "reduction", hidden | function, nullptr, huber_loss,
       "d^2 / 2 where |d| = |input - target| is below `delta`, else delta (|d| - delta / 2).\n\n>>> "
       "lamella.ops.aten.huber_loss(lamella.tensor([1., 3.]), lamella.tensor([1., 1.]), 'sum')\ntensor(1.5000)\n"},
      {"kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', bool "
       "log_target=False) -> Tensor",
       "reduction", hidden | function, nullptr, kl_div,
       "target (log(target) - input): the Kullback-Leibler divergence of log-probabilities; 'batchmean' divides the "
       "sum "
       "by the batch.\n\n>>> lamella.ops.aten.kl_div(lamella.tensor([0., 0.]), lamella.tensor([1., 1.]), "
       "reduction='sum')\ntensor(0.)\n"},
      {"binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? "
       "reduce=None, str reduction='mean') -> Tensor",
       "reduction", hidden | function, nullptr, binary_cross_entropy,
       "-(target log(input) + (1 - target) log(1 - input)), with logarithms that end at -100.\n\n>>> "
       "lamella.ops.aten.binary_cross_entropy(lamella.tensor([0.5, 1.]), lamella.tensor([1., 1.]), reduction='sum')\n"
       "tensor(0.6931)\n"},
      {"_binary_cross_entropy(Tensor input, Tensor target) -> Tensor", "reduction", hidden | function, nullptr,
       each_binary_cross_entropy,
       "What binary_cross_entropy adds up.\n\n>>> lamella.ops.aten._binary_cross_entropy(lamella.tensor([0.5]), "
       "lamella.tensor([1.]))\ntensor([0.6931])\n"},
      {"binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, "
       "bool? reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor",
       "reduction", hidden | function, nullptr, binary_cross_entropy_with_logits,
       "binary_cross_entropy of sigmoid(input), without overflow; `pos_weight` weighs the positive targets.\n\n>>> "
       "lamella.ops.aten.binary_cross_entropy_with_logits(lamella.tensor([0.]), "
       "lamella.tensor([1.]))\ntensor(0.6931)\n"},
      {"_nll_pick(Tensor input, Tensor target, Tensor? weight, int ignore_index) -> (Tensor, Tensor)", "indexing",
       hidden | function, infer_pick, pick,
       "For each target the weighted loss -input[target] and the weight; both 0 where it is ignored."},
      {"_pair_loss(Tensor input, Tensor target, int kind, float width, int reduction) -> Tensor", "reduction",
       hidden | function, infer_pair, pair_loss,
       "A loss of input - target by its number: squared, absolute, huber, smooth_l1; each (0), their mean (1), sum "
       "(2)."},
      {"_class_loss(Tensor input, Tensor target, Tensor? weight, int ignore_index, int reduction, bool logits) -> "
       "Tensor",
       "reduction", hidden | function, infer_class_loss, class_loss,
       "nll_loss, of log_softmax(input) where `logits`; each (0), their mean (1), sum (2)."},
      {"_pair_loss_backward(Tensor grad_output, Tensor input, Tensor target, int kind, float width, int reduction) -> "
       "Tensor",
       "reduction", hidden | function, infer_pair_backward, pair_loss_backward,
       "The gradient of _pair_loss, of its input; with input and target in each other's place, of its target."},
      {"_class_loss_backward(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, int ignore_index, int "
       "reduction, bool logits) -> Tensor",
       "reduction", hidden | function, infer_class_backward, class_loss_backward,
       "The gradient of _class_loss, of its input; of _nll_pick without `logits` and reduction."},
      {"nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, "
       "bool? reduce=None, str reduction='mean') -> Tensor",
       "reduction", hidden | function, nullptr, nll_loss,
       "The negative log-probability of each target class, weighted by class; the mean is divided by the weights.\n\n"
       "Args:\n    input: log-probabilities, (classes,) or (batch, classes, ...)\n\nRaises:\n    IndexError: a target "
       "is no class\n\n>>> lamella.ops.aten.nll_loss(lamella.tensor([[-1., -2.]]), lamella.tensor([1]))\ntensor(2.)\n"},
      {"cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int "
       "ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
       "reduction", hidden | function, nullptr, cross_entropy,
       "nll_loss of log_softmax(input); a floating target of the input's shape gives a probability for each class.\n\n"
       "Raises:\n    IndexError: a target is no class\n\n>>> lamella.ops.aten.cross_entropy(lamella.tensor([[0., "
       "0.]]), "
       "lamella.tensor([1]))\ntensor(0.6931)\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
