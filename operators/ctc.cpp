// Connectionist temporal classification: the probability of a labelling, over all its alignments with the steps of a
// sequence. After Graves et al. (2006), "Connectionist temporal classification".
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

// The logarithm of an impossible alignment: finite, so that no derivative is NaN, and smaller than any sum of steps.
constexpr double impossible = -1e30;

enum Reduction : int64_t { none = 0, mean = 1, sum = 2 };

struct Labels {
  Tensor states;  // (N, 2 S + 1): labels between blanks
  Tensor skips;   // whether a state is also reached from the state two places before it
};

int64_t most_of(IntArrayRef numbers) {
  int64_t most = 0;
  for (int64_t n : numbers) most = std::max(most, n);
  return most;
}

// Reads labels of (N, S), or of all sequences in one row. Places after the end of a sequence hold blanks.
Labels labels_of(const Tensor& targets, IntArrayRef lengths, int64_t blank) {
  const auto n = static_cast<int64_t>(lengths.size());
  const int64_t longest = most_of(lengths), row = targets.dim() == 2 ? targets.size(1) : 0;
  const TensorOptions host = TensorOptions().device(Device(DeviceType::CPU));
  const Tensor place = lamella::empty({n * longest}, host.dtype(kLong)),
               real = lamella::empty({n, longest}, host.dtype(kBool));
  auto* at = place.data_ptr<int64_t>();
  auto* is = real.data_ptr<bool>();
  int64_t first = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < longest; k++) {
      *is++ = k < lengths[i];
      *at++ = k < lengths[i] ? first + k : 0;
    }
    first += row ? row : lengths[i];
  }
  const Device device = targets.device();
  const auto there = [&](const Tensor& x) { return targets.is_cpu() ? x : x.to(device); };
  const Tensor all = as(targets, kLong).reshape({targets.numel()});
  Labels l;
  const Tensor blanks = lamella::full({n, longest + 1}, blank, all.options());
  if (longest == 0) {
    l.states = blanks;
    l.skips = blanks.ne(blank);
    return l;
  }
  const Tensor label = lamella::where(there(real), all.index_select(0, there(place)).reshape({n, longest}), blank);
  const Tensor pairs = lamella::stack({lamella::slice(blanks, 1, 0, longest, 1), label}, 2).reshape({n, 2 * longest});
  l.states = lamella::cat({pairs, lamella::slice(blanks, 1, 0, 1, 1)}, 1);
  const Tensor before = lamella::cat(
      {lamella::full({n, 2}, blank, all.options()), lamella::slice(l.states, 1, 0, 2 * longest - 1, 1)}, 1);
  l.skips = l.states.ne(blank) & l.states.ne(before);
  return l;
}

void check_ctc(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
               int64_t blank, int64_t reduction) {
  LAMELLA_CHECK(log_probs.dim() == 3, argument("log_probs"), ": expected (T, N, C) or (T, C), got shape ",
                shape_text(log_probs));
  LAMELLA_CHECK_NOT_IMPLEMENTED(log_probs.dtype() == kFloat || log_probs.dtype() == kDouble, argument("log_probs"),
                                ": expected float32 or float64, got ", log_probs.dtype());
  check_integral("targets", targets);
  const auto n = static_cast<size_t>(log_probs.size(1));
  LAMELLA_CHECK(blank >= 0 && blank < log_probs.size(2), argument("blank"), ": must be in label range, ", blank,
                " is not in [0, ", log_probs.size(2), ")");
  LAMELLA_CHECK(input_lengths.size() == n, argument("input_lengths"), ": must be of size batch_size, ", n, ", got ",
                input_lengths.size());
  LAMELLA_CHECK(target_lengths.size() == n, argument("target_lengths"), ": must be of size batch_size, ", n, ", got ",
                target_lengths.size());
  LAMELLA_CHECK(reduction >= none && reduction <= sum, argument("reduction"), ": expected 0, 1 or 2, got ", reduction);
  for (int64_t t : input_lengths)
    LAMELLA_CHECK(t >= 0 && t <= log_probs.size(0), argument("input_lengths"),
                  ": expected values of at least 0 and at "
                  "most ",
                  log_probs.size(0), ", the number of steps; got ", t);
  int64_t total = 0;
  for (int64_t s : target_lengths) {
    LAMELLA_CHECK(s >= 0, argument("target_lengths"), ": expected values of at least 0, got ", s);
    total += s;
  }
  if (targets.dim() == 1) {
    LAMELLA_CHECK(targets.numel() == total, argument("targets"), ": expected ", total,
                  " labels, the sum of the target_lengths, got ", targets.numel());
    return;
  }
  LAMELLA_CHECK(
      targets.dim() == 2 && targets.size(0) == static_cast<int64_t>(n) && targets.size(1) >= most_of(target_lengths),
      argument("targets"), ": expected (", n, ", at least ", most_of(target_lengths), ") labels, got shape ",
      shape_text(targets));
}

// Returns, for each sequence, the negative logarithm of the sum over all alignments: step by step, it sums the
// alignments that end in each state.
Tensor unlikelihood(const Tensor& log_probs, const Labels& labels, IntArrayRef input_lengths,
                    IntArrayRef target_lengths) {
  const int64_t n = log_probs.size(1), states = labels.states.size(1), steps = most_of(input_lengths);
  const TensorOptions options = log_probs.options();
  const TensorOptions host = TensorOptions().device(Device(DeviceType::CPU)).dtype(kLong);
  const Tensor input = lamella::empty({n}, host), target = lamella::empty({n}, host);
  std::copy(input_lengths.begin(), input_lengths.end(), input.data_ptr<int64_t>());
  std::copy(target_lengths.begin(), target_lengths.end(), target.data_ptr<int64_t>());
  const auto there = [&](const Tensor& x) { return log_probs.is_cpu() ? x : x.to(log_probs.device()); };
  const Tensor all = log_probs.narrow(0, 0, steps).gather(2, labels.states.unsqueeze(0).expand({steps, n, states}));
  const Tensor last = there(input).unsqueeze(1);
  // Before the first step, every alignment is in state 0.
  Tensor alpha =
      lamella::cat({lamella::zeros({n, 1}, options), lamella::full({n, states - 1}, impossible, options)}, 1);
  const bool same = std::all_of(input_lengths.begin(), input_lengths.end(), [&](int64_t t) { return t == steps; });
  for (int64_t t = 0; t < steps; t++) {
    Tensor from = alpha;
    if (states > 1) {
      const Tensor one = lamella::constant_pad_nd(alpha, {1, -1}, impossible);
      const Tensor two = lamella::where(labels.skips, lamella::constant_pad_nd(alpha, {2, -2}, impossible), impossible);
      from = lamella::logaddexp(lamella::logaddexp(alpha, one), two);
    }
    const Tensor next = (from + all.select(0, t)).clamp_min(impossible);
    alpha = same ? next : lamella::where(last > t, next, alpha);
  }
  const Tensor end = there(target).unsqueeze(1) * 2;
  const Tensor blank = alpha.gather(1, end), label = alpha.gather(1, (end - 1).clamp(0));
  const Tensor total = lamella::logaddexp(blank, lamella::where(end > 0, label, impossible)).squeeze(1);
  return lamella::where(total < impossible / 2, __builtin_inf(), -total);
}

Tensor reduced(const Tensor& loss, IntArrayRef target_lengths, int64_t reduction) {
  if (reduction == none) return loss;
  if (reduction == sum) return loss.sum();
  const Tensor lengths = lamella::empty({static_cast<int64_t>(target_lengths.size())},
                                        TensorOptions().device(Device(DeviceType::CPU)).dtype(kDouble));
  double* to = lengths.data_ptr<double>();
  for (int64_t s : target_lengths) *to++ = static_cast<double>(std::max<int64_t>(s, 1));
  const Tensor narrow = as(lengths, loss.dtype());
  return (loss / (loss.is_cpu() ? narrow : narrow.to(loss.device()))).mean();
}

Tensor ctc_of_lists(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                    IntArrayRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  if (log_probs.dim() == 2) {
    const Tensor one =
        ctc_of_lists(log_probs.unsqueeze(1), targets, input_lengths, target_lengths, blank, reduction, zero_infinity);
    return reduction == none ? one.squeeze(0) : one;
  }
  check_ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction);
  const Tensor loss = unlikelihood(log_probs, labels_of(targets, target_lengths, blank), input_lengths, target_lengths);
  const Tensor finite = zero_infinity ? lamella::where(loss.eq(__builtin_inf()), 0, loss) : loss;
  return reduced(finite, target_lengths, reduction);
}

std::vector<int64_t> numbers(const char* name, const Tensor& t) {
  check_integral(name, t);
  LAMELLA_CHECK(t.dim() <= 1, argument(name), ": expected a vector of lengths, got shape ", shape_text(t));
  const Tensor flat = as(t.is_cpu() ? t : t.cpu(), kLong).contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

Tensor ctc_loss_of_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                           const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  if (input_lengths.is_meta() || target_lengths.is_meta())  // lengths without values: only the shape follows
    return lamella::empty(log_probs.dim() == 3 && reduction == none ? DimVector{log_probs.size(1)} : DimVector{},
                          log_probs.options());
  return ctc_of_lists(log_probs, targets, numbers("input_lengths", input_lengths),
                      numbers("target_lengths", target_lengths), blank, reduction, zero_infinity);
}

}  // namespace

LAMELLA_FAMILY(ctc, .category = "indexing", .forms = function) {
  return {
      {.schema = "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
                 "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
       .composite = composite<ctc_of_lists>,
       .doc = R"(How unlikely labels are, over all alignments with the steps of a sequence: of logarithms of
probabilities (T, N, C) or (T, C), and labels (N, S) or one behind another. `reduction` is 0 (none),
1 (the mean of each loss by its length) or 2 (the sum). The derivative is that of the logarithms as
they come.

>>> log_probs = lamella.full((2, 1, 2), 0.5).log()
>>> lamella.ctc_loss(log_probs, lamella.tensor([[1]]), [2], [1])
tensor(0.2877)
)"},
      {.schema = "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
                 "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
       .composite = composite<ctc_loss_of_tensors>},
  };
}

}  // namespace lamella::operators
