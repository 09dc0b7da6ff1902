// Samples: Bernoulli's, permutations, categories; and dropout, which is one.
#include <cmath>

#include "dispatcher/operators/random.h"

namespace lamella::dispatcher {
namespace {

lamella_status check_probability(lamella_frame* f, int arg, double p) {
  if (p >= 0 && p <= 1) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: a probability is between 0 and 1, got %g", where(f, arg).c_str(), p));
}

lamella_status infer_bernoulli(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  return check_probability(f, 1, a[1].as.d);
}

lamella_status infer_bernoulli_tensor(lamella_frame* f, const Value* a, Meta* m) {
  if (core::dtype_class(tensor_arg(a[1])->dtype) != LAMELLA_CLASS_FLOATING)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": expected a floating dtype, got " + core::dtype_info(tensor_arg(a[1])->dtype).name);
  return same_with(f, a, 1, m);
}

// Probabilities in a tensor, the argument at `arg`, are looked at where they have data.
lamella_status check_probabilities(Compose& c, int arg, const Value& p) {
  Var fits = c.op<"logical_and">(c.op<"ge.Scalar">(p, 0), c.op<"le.Scalar">(p, 1));
  Var all = c.op<"item">(c.op<"all">(fits));
  if (c.status() || all.value().as.i) return c.status();
  return c.fail(LAMELLA_RUNTIME_ERROR, where(c.frame(), arg) + ": a probability is between 0 and 1");
}

lamella_status bernoulli_p(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var u = uniform_numbers(c, a[2], t->device(), {t->numel}, LAMELLA_FLOAT32);
  return store(c, a[0], c.op<"lt.Scalar">(u, static_cast<double>(static_cast<float>(a[1].as.d))), r);
}

// bernoulli_.Tensor(self, p): 1 with the probability of each element of p.
lamella_status bernoulli_tensor(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  if (t->numel > 0)
    if (lamella_status st = check_probabilities(c, 1, a[1])) return st;
  const bool wide = tensor_arg(a[1])->dtype == LAMELLA_FLOAT64;
  const DType dtype = wide ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
  Var u = uniform_numbers(c, a[2], t->device(), Ints(t->sizes(), t->ndim()), dtype);
  c.op<"copy_">(a[0], c.op<"lt.Tensor">(u, a[1]));
  return c.give(r, c.arg(a[0]));
}

// bernoulli(self), of probabilities; bernoulli.p(self, p): new tensors in the layout of self.
lamella_status infer_bernoulli_of(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  if (lamella_status st = check_floating(f, self, m)) return st;
  fresh_like(m, self, self->dtype);
  return LAMELLA_OK;
}
lamella_status infer_bernoulli_with(lamella_frame* f, const Value* a, Meta* m) {
  fresh_like(m, tensor_arg(a[0]), tensor_arg(a[0])->dtype);
  return check_probability(f, 1, a[1].as.d);
}

lamella_status bernoulli(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (lamella_status st = check_probabilities(c, 0, a[0])) return st;
  return c.give(r, c.op<"bernoulli_.Tensor">(c.op<"empty_like">(a[0]), a[0], a[1]));
}

lamella_status bernoulli_with(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"bernoulli_.float">(c.op<"empty_like">(a[0]), a[1], a[2]));
}

// native_dropout(input, p, train?): a fraction p becomes 0, the rest grows by 1 / (1 - p); and which stay.
lamella_status native_dropout(lamella_frame* f, const Value* a, Value* r) {
  const double p = a[1].as.d;
  if (lamella_status st = check_probability(f, 1, p)) return st;
  Compose c(f);
  Var mask = c.op<"empty_like">(a[0], As{LAMELLA_BOOL});
  if ((given(a[2]) && !a[2].as.i) || p == 0) return c.give(r, c.op<"clone">(a[0]), c.op<"fill_.Scalar">(mask, true));
  mask = c.op<"bernoulli_.float">(mask, 1 - p);
  return c.give(r, c.op<"native_dropout_backward">(a[0], mask, p == 1 ? 0. : 1 / (1 - p)), mask);
}

// dropout(input, p, train)
lamella_status dropout(lamella_frame* f, const Value* a, Value* r) {
  if (lamella_status st = check_probability(f, 1, a[1].as.d)) return st;
  Compose c(f);
  if (!a[2].as.i || a[1].as.d == 0) return c.give(r, c.arg(a[0]));
  return c.give(r, c.ops<"native_dropout", 2>(a[0], a[1], true)[0]);
}

// randperm(n, generator, dtype, …): the order of random keys of 63 bits, equal ones in the order of their places.
lamella_status randperm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var out =
      new_like_factory(c, core::int_list(&a[0].as.i, 1), a + 2, given(a[2]) ? a[2] : core::dtype_value(LAMELLA_INT64));
  return c.give(r, c.op<"_permute_randomly_">(out, a[1]));
}

lamella_status check_counts(lamella_frame* f, DType t, int64_t n) {
  if (core::dtype_class(t) != LAMELLA_CLASS_COMPLEX && n - 1 <= largest_integer(t)) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: dtype %s does not count to %lld", where(f, 0).c_str(),
                                             core::dtype_info(t).name, (long long)n));
}

lamella_status infer_randperm(lamella_frame* f, const Value* a, Meta* m) {
  const DType t = dtype_or(a[2], static_cast<DType>(LAMELLA_INT64));
  const int64_t n = a[0].as.i;
  if (n < 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: must not be negative, got %lld", where(f, 0).c_str(), (long long)n));
  if (lamella_status st = check_counts(f, t, n)) return st;
  if (lamella_status st = core::check_sizes(where(f, 0).c_str(), 1, &n, core::itemsize(t), nullptr)) return st;
  fresh(m, 1, &n, t);
  return LAMELLA_OK;
}

lamella_status infer_permutation(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() != 1)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected one dimension, got shape " + core::shape_string(t));
  return check_counts(f, t->dtype, t->numel);
}

lamella_status permute_randomly(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var keys = wide_words(c, a[1], t->device(), t->numel, 63);
  auto sorted = c.ops<"sort.stable", 2>(keys, true, 0, false);
  return store(c, a[0], sorted[1], r);
}

// _search_cdf(cdf, u): how many entries of each row of cdf are at most u, row by row.
lamella_status infer_search(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *cdf = tensor_arg(a[0]), *u = tensor_arg(a[1]);
  if (cdf->ndim() != 2 || u->ndim() != 2 || cdf->sizes()[0] != u->sizes()[0] || cdf->dtype != u->dtype)
    return raise(LAMELLA_RUNTIME_ERROR, operator_title(f->op) + ": 'cdf' " + core::shape_string(cdf) + " and 'u' " +
                                            core::shape_string(u) + " must be matrices of one dtype with as many rows");
  fresh(m, 2, u->sizes(), LAMELLA_INT64);
  return LAMELLA_OK;
}

lamella_status search_cdf(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var below = c.op<"le.Tensor">(c.op<"unsqueeze">(a[0], 1), c.op<"unsqueeze">(a[1], 2));
  return c.give(r, c.op<"sum.dim_IntList">(below, Ints{2}));
}

lamella_status infer_multinomial(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* p = tensor_arg(a[0]);
  const int64_t n = a[1].as.i;
  if (core::dtype_class(p->dtype) != LAMELLA_CLASS_FLOATING)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(p->dtype).name);
  if (p->ndim() < 1 || p->ndim() > 2 || p->sizes()[p->ndim() - 1] == 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected one row of probabilities or several, got shape " + core::shape_string(p));
  const int64_t categories = p->sizes()[p->ndim() - 1];
  if (n < 1 || (!a[2].as.i && n > categories))
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: cannot draw %lld samples from %lld categories%s", where(f, 1).c_str(), (long long)n,
                        (long long)categories, a[2].as.i ? "" : " without replacement"));
  int64_t sizes[2] = {p->sizes()[0], n};
  fresh(m, p->ndim(), p->ndim() == 2 ? sizes : &n, LAMELLA_INT64);
  return LAMELLA_OK;
}

// Weights must be finite and not negative, and a row must have enough that are not zero.
lamella_status check_weights(Compose& c, const Value& weights, int64_t needed) {
  Var w = c.arg(weights);
  Var bad = c.op<"logical_not">(c.op<"logical_and">(c.op<"ge.Scalar">(w, 0), c.op<"lt.Scalar">(w, HUGE_VAL)));
  Var wrong = c.op<"sum">(bad);
  Var few = c.op<"sum">(c.op<"lt.Scalar">(c.op<"sum.dim_IntList">(c.op<"gt.Scalar">(w, 0), Ints{-1}), needed));
  Var code = c.op<"item">(c.op<"gt.Scalar">(wrong, 0) * 2 + c.op<"gt.Scalar">(few, 0) * 1);
  if (c.status() || code.value().as.i == 0) return c.status();
  const std::string self = where(c.frame(), 0);
  if (code.value().as.i >= 2)
    return raise(LAMELLA_RUNTIME_ERROR, self + ": probabilities must be finite and not negative");
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: a row has fewer than %lld probabilities above zero", self.c_str(), (long long)needed));
}

// Without replacement: the largest of weight / exponential (Efraimidis and Spirakis, 2006). With it: by the inverse of
// the cumulative distribution.
lamella_status multinomial(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const int64_t n = a[1].as.i;
  const bool replacement = a[2].as.i;
  if (lamella_status st = check_weights(c, a[0], replacement ? 1 : n)) return st;
  const Tensor* t = tensor_arg(a[0]);
  const bool wide = t->dtype == LAMELLA_FLOAT64, row = t->ndim() == 1;
  Var p = c.op<"to.dtype">(a[0], As{static_cast<DType>(wide ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32)});
  if (row) p = c.op<"unsqueeze">(p, 0);
  Var drawn = c.nothing();
  const Ints size = {p.size(0), replacement ? n : p.size(1)};
  Var u = uniform_numbers(c, a[3], t->device(), size, p.dtype());
  if (replacement) {
    Var cdf = c.op<"cumsum">(p, 1);
    drawn = c.op<"_search_cdf">(cdf / c.op<"slice.Tensor">(cdf, 1, p.size(1) - 1), u);
  } else {
    Var exponential = c.op<"clamp">(-c.op<"log">(1 - u), 1e-30);
    auto sorted = c.ops<"sort.stable", 2>(p / exponential, true, 1, true);
    drawn = c.op<"clone">(c.op<"slice.Tensor">(sorted[1], 1, 0, n));
  }
  return c.give(r, row ? c.op<"squeeze.dim">(drawn, 0) : drawn);
}

#define OPTIONS                                                                                            \
  "*, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"

}  // namespace

const std::vector<Declaration>& sampling_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"randperm(SymInt n, " OPTIONS, "random", function, infer_randperm, randperm,
       "The integers below `n` in random order.\n\n>>> lamella.randperm(4).sort().values\ntensor([0, 1, 2, 3])\n"},
      {"_permute_randomly_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "random", hidden,
       infer_permutation, permute_randomly, "Fills a row with the integers below its size, in random order."},
      {"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", "random", everywhere, infer_bernoulli_of,
       bernoulli,
       "1 with the probability that each element of `self` gives, else 0; or with one probability `p`.\n\nRaises:\n    "
       "RuntimeError: `p` is no probability, or the dtype of `self` is not floating\n\n>>> "
       "lamella.bernoulli(lamella.tensor([0., 1.]))\ntensor([0., 1.])\n"},
      {"bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", "random", everywhere,
       infer_bernoulli_with, bernoulli_with, nullptr},
      {"bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_bernoulli, bernoulli_p,
       "Fills `self` with 1, with probability `p`, and 0.\n\n>>> lamella.zeros(2).bernoulli_(1)\ntensor([1., 1.])\n"},
      {"bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_bernoulli_tensor, bernoulli_tensor, nullptr},
      {"multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
       "random", everywhere, infer_multinomial, multinomial,
       "Indices drawn with the probabilities, or weights, in the rows of `self`.\n\nRaises:\n    RuntimeError: a "
       "weight is negative or not finite, or a row has too few above zero\n\n>>> "
       "lamella.multinomial(lamella.tensor([0., 1., 0.]), 1)\ntensor([1])\n"},
      {"_search_cdf(Tensor cdf, Tensor u) -> Tensor", "random", hidden, infer_search, search_cdf,
       "How many entries of each row of `cdf`, which ascends, are at most each `u` of that row."},
      {"native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", "random", function, nullptr,
       native_dropout,
       "dropout, unless `train` is False, and a bool tensor that says which elements stay.\n\n>>> "
       "lamella.native_dropout(lamella.ones(2), 0.5, False)[1]\ntensor([True, True])\n"},
      {"dropout(Tensor input, float p, bool train) -> Tensor", "random", function, nullptr, dropout,
       "In training, sets each element to 0 with probability `p` and divides the others by 1 - p; else `input` "
       "itself.\n\n>>> lamella.dropout(lamella.ones(2), 0.5, False)\ntensor([1., 1.])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
