// Samples: Bernoulli variables, permutations, categories.
#include <cmath>

#include "operators/random.h"

namespace lamella::operators {
namespace {

void check_probability(double p) {
  LAMELLA_CHECK(p >= 0 && p <= 1, argument("p"), ": a probability is between 0 and 1, got ", p);
}

void infer_bernoulli(const Tensor& self, double p, const Generator&, Output out) {
  out.same(self);
  check_probability(p);
}

void infer_bernoulli_tensor(const Tensor& self, const Tensor& p, const Generator&, Output out) {
  check_drawn("p", p.dtype());
  same_with(out, self, "p", p);
}

// Raises unless all probabilities of a tensor are from 0 to 1. Composites call it, since shape rules have no data.
void check_probabilities(const char* name, const Tensor& p) {
  const bool fit = (p >= 0).logical_and(p <= 1).all().item().toBool();
  LAMELLA_CHECK(fit, argument(name), ": a probability is between 0 and 1");
}

const Tensor& bernoulli_p(const Tensor& self, double p, const Generator& generator) {
  const Tensor u = uniform_numbers(generator, self.device(), self.numel(), kFloat);
  return store(self, u < static_cast<double>(static_cast<float>(p)));
}

// Draws 1 with the probability in each element of p, else 0.
const Tensor& bernoulli_tensor(const Tensor& self, const Tensor& p, const Generator& generator) {
  if (self.numel() > 0) check_probabilities("p", p);
  const ScalarType t = p.dtype() == kDouble ? kDouble : kFloat;
  const Tensor u = uniform_numbers(generator, self.device(), self.sizes(), t);
  return self.copy_(u < p);
}

// The rules of bernoulli, with self as probabilities, and of bernoulli.p: new tensors in the layout of self.
void infer_bernoulli_of(const Tensor& self, const Generator&, Output out) {
  check_drawn("self", self.dtype());
  out.like(self);
}
void infer_bernoulli_with(const Tensor& self, double p, const Generator&, Output out) {
  out.like(self);
  check_probability(p);
}

Tensor bernoulli(const Tensor& self, const Generator& generator) {
  check_probabilities("self", self);
  return lamella::empty_like(self).bernoulli_(self, generator);
}
Tensor bernoulli_with(const Tensor& self, double p, const Generator& generator) {
  return lamella::empty_like(self).bernoulli_(p, generator);
}

// Returns the places 0 to n - 1 in the order of their random keys of 63 bits; equal keys keep the order of the places.
Tensor randperm(int64_t n, const Generator& generator, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  const Tensor row = lamella::empty(n, options_of(dtype.value_or(kLong), layout, device, pin_memory));
  return lamella::_permute_randomly_(row, generator);
}

void check_counts(const char* name, ScalarType t, int64_t n) {
  check_plain(name, t);
  LAMELLA_CHECK(!is_complex(t) && n - 1 <= largest_integer(t), argument(name),
                ": expected a real dtype that holds the integers below ", n, ", got ", t);
}

void infer_randperm(int64_t n, const Generator&, std::optional<ScalarType> dtype, std::optional<Layout>,
                    std::optional<Device>, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(kLong);
  LAMELLA_CHECK(n >= 0, argument("n"), ": must not be negative, got ", n);
  check_counts("dtype", t, n);
  check_sizes("n", n, t);
  out.set(n, t);
  out.pin(pin_memory);
}

void infer_permutation(const Tensor& self, const Generator&, Output out) {
  out.same(self);
  LAMELLA_CHECK(self.dim() == 1, argument("self"), ": expected one dimension, got shape ", shape_text(self));
  check_counts("self", self.dtype(), self.numel());
}

const Tensor& permute_randomly(const Tensor& self, const Generator& generator) {
  const Tensor keys = wide_words(generator, self.device(), self.numel(), 63);
  return store(self, std::get<1>(keys.sort(true, 0, false)));
}

// The rule of _search_cdf, which counts, row by row, the entries of cdf that are at most u.
void infer_search(const Tensor& cdf, const Tensor& u, Output out) {
  const bool fit = cdf.dim() == 2 && u.dim() == 2 && cdf.size(0) == u.size(0) && cdf.dtype() == u.dtype();
  LAMELLA_CHECK(fit, "'cdf' ", shape_text(cdf), " of ", cdf.dtype(), " and 'u' ", shape_text(u), " of ", u.dtype(),
                " must be matrices of one dtype with as many rows");
  out.set(u.sizes(), kLong);
}

Tensor search_cdf(const Tensor& cdf, const Tensor& u) { return (cdf.unsqueeze(1) <= u.unsqueeze(2)).sum(2); }

void infer_multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Generator&, Output out) {
  check_continuous("self", self.dtype());
  LAMELLA_CHECK(self.dim() >= 1 && self.dim() <= 2 && self.size(-1) != 0, argument("self"),
                ": expected one row of probabilities or several, got shape ", shape_text(self));
  const int64_t categories = self.size(-1);
  LAMELLA_CHECK(num_samples >= 1 && (replacement || num_samples <= categories), argument("num_samples"),
                ": cannot draw ", num_samples, " samples from ", categories, " categories",
                replacement ? "" : " without replacement");
  DimVector sizes(self.sizes());
  sizes.back() = num_samples;
  out.set(sizes, kLong);
  out.exact();
}

// Raises unless weights are finite and not negative, and each row has enough that are not zero.
void check_weights(const Tensor& w, int64_t needed) {
  const Tensor wrong = (w >= 0).logical_and(w < HUGE_VAL).logical_not().sum();
  const Tensor few = ((w > 0).sum(-1) < needed).sum();
  const int64_t code = ((wrong > 0) * 2 + (few > 0) * 1).item().toLong();
  LAMELLA_CHECK(code < 2, argument("self"), ": probabilities must be finite and not negative");
  LAMELLA_CHECK(code == 0, argument("self"), ": a row has fewer than ", needed, " probabilities above zero");
}

// Without replacement, takes the categories with the largest weight / exponential (Efraimidis and Spirakis, 2006); with
// replacement, inverts the cumulative distribution.
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Generator& generator) {
  check_weights(self, replacement ? 1 : num_samples);
  const bool row = self.dim() == 1;
  Tensor p = self.to(self.dtype() == kDouble ? kDouble : kFloat);
  if (row) p = p.unsqueeze(0);
  const int64_t categories = p.size(1);
  const DimVector size = {p.size(0), replacement ? num_samples : categories};
  const Tensor u = uniform_numbers(generator, self.device(), size, p.dtype());
  Tensor drawn;
  if (replacement) {
    const Tensor cdf = p.cumsum(1);
    drawn = lamella::_search_cdf(cdf / slice(cdf, 1, categories - 1), u);
  } else {
    const Tensor exponential = (-(1 - u).log()).clamp(1e-30);
    const Tensor order = std::get<1>((p / exponential).sort(true, 1, true));
    drawn = slice(order, 1, 0, num_samples).clone();
  }
  return row ? drawn.squeeze(0) : drawn;
}

}  // namespace

LAMELLA_FAMILY(sampling, .category = "random", .forms = everywhere) {
  return {
      {.schema = "randperm(SymInt n, " RANDOM_OPTIONS,
       .forms = function | out,
       .infer = shape<infer_randperm>,
       .composite = composite<randperm>,
       .doc = R"(The integers below `n` in random order.

>>> lamella.randperm(4).sort().values
tensor([0, 1, 2, 3])
)"},
      {.schema = "_permute_randomly_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
       .forms = hidden,
       .infer = shape<infer_permutation>,
       .composite = composite<permute_randomly>,
       .doc = "Fills a row with the integers below its size, in random order."},
      {.schema = "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .forms = everywhere | out,
       .infer = shape<infer_bernoulli_of>,
       .composite = composite<bernoulli>,
       .doc = R"(1 with the probability that each element of `self` gives, else 0; or with one probability `p`.

Raises:
    RuntimeError: `p` is no probability, or the dtype of `self` is not floating

>>> lamella.bernoulli(lamella.tensor([0., 1.]))
tensor([0., 1.])
)"},
      {.schema = "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .infer = shape<infer_bernoulli_with>,
       .composite = composite<bernoulli_with>},
      {.schema = "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method,
       .infer = shape<infer_bernoulli>,
       .composite = composite<bernoulli_p>,
       .doc = R"(Fills `self` with 1, with probability `p`, and 0.

>>> lamella.zeros(2).bernoulli_(1)
tensor([1., 1.])
)"},
      {.schema = "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method,
       .infer = shape<infer_bernoulli_tensor>,
       .composite = composite<bernoulli_tensor>},
      {.schema = "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) "
                 "-> Tensor",
       .dims = "... c~ -> ... s",
       .forms = everywhere | out,
       .infer = shape<infer_multinomial>,
       .composite = composite<multinomial>,
       .doc = R"(Indices drawn with the probabilities, or weights, in the rows of `self`.

Raises:
    RuntimeError: a weight is negative or not finite, or a row has too few above zero

>>> lamella.multinomial(lamella.tensor([0., 1., 0.]), 1)
tensor([1])
)"},
      {.schema = "_search_cdf(Tensor cdf, Tensor u) -> Tensor",
       .forms = hidden,
       .infer = shape<infer_search>,
       .composite = composite<search_cdf>,
       .doc = "How many entries of each row of `cdf`, which ascends, are at most each `u` of that row."},
  };
}

}  // namespace lamella::operators
