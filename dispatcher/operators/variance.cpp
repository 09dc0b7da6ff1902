// Variances and standard deviations, alone and with the mean: of the squares of what differs from it.
#include "dispatcher/operators/reduction.h"

namespace lamella::dispatcher {
namespace {

// var, std and their pairs with the mean: the three overloads differ in where things stand.
struct Spread {
  Value dim;
  double correction;
  bool keepdim;
};
Spread spread_all(const Value* a) { return {core::none(), a[1].as.i ? 1. : 0., false}; }
Spread spread_dims(const Value* a) { return {a[1], a[2].as.i ? 1. : 0., a[3].as.i != 0}; }
Spread spread_corrected(const Value* a) {
  const double c = !given(a[2]) ? 1 : a[2].tag == LAMELLA_FLOAT ? a[2].as.d : static_cast<double>(a[2].as.i);
  return {a[1], c, a[3].as.i != 0};
}

template <Spread (*Read)(const Value*), bool WithMean>
lamella_status infer_spread(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const Spread s = Read(a);
  uint64_t dims;
  if (lamella_status st = check_inexact(f, t, "a variance")) return st;
  if (lamella_status st = dims_of(f, 1, s.dim, t, &dims)) return st;
  reduced(&m[0], t, dims, s.keepdim, real_of(t->dtype));
  if (WithMean) reduced(&m[1], t, dims, s.keepdim, t->dtype);
  return LAMELLA_OK;
}

// The mean first, then the squares of what differs from it.
template <Spread (*Read)(const Value*), bool Root, bool WithMean>
lamella_status spread(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Spread s = Read(a);
  Var x = c.arg(a[0]);
  const DType t = x.dtype();
  x = as(c, x, wide_of(t));
  Var mean = mean_over(c, x, s.dim, true), d = c.op<"abs">(x - mean);
  const double left = static_cast<double>(length_over(x, s.dim)) - s.correction;
  Var var = sum_over(c, d * d, s.dim, s.keepdim) / std::max(left, 0.);
  if (Root) var = c.op<"sqrt">(var);
  var = as(c, var, real_of(t));
  if constexpr (!WithMean) return c.give(r, var);
  return c.give(r, var, as(c, mean_over(c, x, s.dim, s.keepdim), t));
}

}  // namespace

const std::vector<Declaration>& variance_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"var(Tensor self, bool unbiased=True) -> Tensor", "reduction", everywhere, infer_spread<spread_all, false>,
       spread<spread_all, false, false>,
       "The variance over all elements, or over dimensions: the squares of what differs from the mean, added and "
       "divided by n - `correction` (1 if `unbiased`, the default, else 0).\n\nRaises:\n    RuntimeError: the dtype is "
       "neither floating nor complex\n\n>>> lamella.var(lamella.tensor([1., 2., 3., 4.]), "
       "correction=0)\ntensor(1.2500)\n"},
      {"var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", "reduction",
       everywhere | out, infer_spread<spread_dims, false>, spread<spread_dims, false, false>, nullptr},
      {"var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
       "reduction", everywhere | out, infer_spread<spread_corrected, false>, spread<spread_corrected, false, false>,
       nullptr},
      {"std(Tensor self, bool unbiased=True) -> Tensor", "reduction", everywhere, infer_spread<spread_all, false>,
       spread<spread_all, true, false>,
       "The standard deviation, the root of var.\n\n>>> lamella.std(lamella.tensor([1., 3.]), "
       "unbiased=False)\ntensor(1.)\n"},
      {"std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", "reduction",
       everywhere | out, infer_spread<spread_dims, false>, spread<spread_dims, true, false>, nullptr},
      {"std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
       "reduction", everywhere | out, infer_spread<spread_corrected, false>, spread<spread_corrected, true, false>,
       nullptr},
      {"var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "reduction", everywhere,
       infer_spread<spread_all, true>, spread<spread_all, false, true>,
       "The variance and the mean, in one pass.\n\n>>> lamella.var_mean(lamella.tensor([1., 3.]), "
       "unbiased=False)\n(tensor(1.), tensor(2.))\n"},
      {"var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
       "reduction", everywhere, infer_spread<spread_dims, true>, spread<spread_dims, false, true>, nullptr},
      {"var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
       "Tensor)",
       "reduction", everywhere, infer_spread<spread_corrected, true>, spread<spread_corrected, false, true>, nullptr},
      {"std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "reduction", everywhere,
       infer_spread<spread_all, true>, spread<spread_all, true, true>,
       "The standard deviation and the mean, in one pass.\n\n>>> lamella.std_mean(lamella.tensor([1., 5.]), "
       "unbiased=False)\n(tensor(2.), tensor(3.))\n"},
      {"std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
       "reduction", everywhere, infer_spread<spread_dims, true>, spread<spread_dims, true, true>, nullptr},
      {"std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
       "Tensor)",
       "reduction", everywhere, infer_spread<spread_corrected, true>, spread<spread_corrected, true, true>, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
