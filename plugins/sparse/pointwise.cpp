// The rule of pointwise operators. Those that leave zeros alone compute with the values; sums and products of two
// tensors are below.
#include <algorithm>
#include <complex>
#include <set>
#include <string>

#include "arithmetic.h"

namespace lamella::sparse {
namespace {

// Operators of one tensor that give 0 for 0.
const std::set<std::string, std::less<>>& keeping_zeros() {
  static const std::set<std::string, std::less<>> names = {
      "aten::abs",     "aten::angle",   "aten::asin",     "aten::asinh",    "aten::atan",       "aten::atanh",
      "aten::ceil",    "aten::deg2rad", "aten::erf",      "aten::erfinv",   "aten::expm1",      "aten::floor",
      "aten::frac",    "aten::isinf",   "aten::isnan",    "aten::isneginf", "aten::isposinf",   "aten::log1p",
      "aten::neg",     "aten::rad2deg", "aten::relu",     "aten::round",    "aten::sgn",        "aten::sign",
      "aten::signbit", "aten::sin",     "aten::sinh",     "aten::sqrt",     "aten::square",     "aten::tan",
      "aten::tanh",    "aten::trunc",   "aten::positive", "aten::cube",     "aten::nan_to_num", "aten::conj_physical",
      "aten::relu6"};
  return names;
}

struct Call {
  const lamella_operator *op, *functional;
  const lamella_value* args;
  int count;  // the number of the functional form's arguments
  lamella_tensor* target = nullptr;

  Call(const lamella_frame* f, const lamella_value* given) : op(f->op), functional(api().operator_functional(f->op)) {
    args = given;
    if (!functional) functional = op;
    count = api().operator_num_args(functional);
    for (int i = 0; i < f->num_args; i++)
      if (args[i].tag == LAMELLA_TENSOR && api().operator_argument(op, i)->flags & LAMELLA_ARGUMENT_WRITTEN)
        target = args[i].as.tensor;
  }
  std::string_view name() const { return api().operator_name(functional); }
  bool in_place() const { return api().operator_form(op) == LAMELLA_INPLACE_FORM; }
  bool is_tensor(int i) const { return args[i].tag == LAMELLA_TENSOR; }
  Tensor tensor(int i) const { return Tensor::borrow(args[i].as.tensor); }
  int tensors() const {
    int n = 0;
    for (int i = 0; i < count; i++) n += is_tensor(i);
    return n;
  }
  Scalar alpha() const {
    for (int i = 2; i < count; i++)
      if (std::string_view(api().operator_argument(functional, i)->name) == "alpha" && args[i].tag != LAMELLA_NONE)
        return Scalar(args[i]);
    return Scalar(1);
  }
};

bool is_number(const lamella_value& v) { return v.tag != LAMELLA_TENSOR && v.tag != LAMELLA_NONE; }

// Calls the functional form with the values in the place of the sparse tensor at `at`. Entries of one place are added
// up first, unless the operator is linear.
Tensor by_values(const Call& c, int at, bool linear) {
  std::vector<lamella_value> args(c.args, c.args + c.count);
  const Tensor self = c.tensor(at);
  const State& s = state_in(self);
  const bool adds = s.kind == coo && !s.coalesced && !linear;
  const Entries e = adds ? coalesced_entries(self) : Entries{{}, values_of(self), true};
  args[at] = value(e.values);
  lamella_value ret = none();
  check(api().call(nullptr, c.functional, args.data(), c.count, &ret, 1));
  const Tensor made = Tensor::steal(ret.as.tensor);
  return adds ? coo_of(e.indices, made, self.sizes(), true) : with_values(self, made);
}

[[noreturn]] void no_rule_of(const Call& c, const std::string& why) {
  std::string kind = "strided";
  for (int i = 0; i < c.count; i++)
    if (c.is_tensor(i) && state_of(c.args[i].as.tensor)) kind = kind_name(state_of(c.args[i].as.tensor)->kind);
  throw Error(LAMELLA_NOT_IMPLEMENTED, title(c.op) + ": an argument has layout " + kind + ", " + why +
                                           "; x.to_dense() gives a tensor that every operator takes");
}

Tensor divided(const Call& c) {
  const bool number =
      is_number(c.args[1]) || (c.is_tensor(1) && !state_of(c.args[1].as.tensor) && c.tensor(1).dim() == 0);
  LAMELLA_CHECK(c.is_tensor(0) && state_of(c.args[0].as.tensor) && number, title(c.op),
                ": sparse division requires a number or a dense tensor of 0 dimensions as the divisor; "
                "multiply by the reciprocal, or call to_dense() first");
  return by_values(c, 0, c.count == 2);
}

Tensor multiplied(const Call& c) {
  for (const auto& [a, b] : {std::pair{0, 1}, std::pair{1, 0}})
    if (c.is_tensor(a) && state_of(c.args[a].as.tensor)) {
      if (is_number(c.args[b])) return by_values(c, a, true);
      if (!state_of(c.args[b].as.tensor)) return times_plain(c.tensor(a), c.tensor(b));
    }
  return times_sparse(c.tensor(0), c.tensor(1));
}

Tensor summed(const Call& c, bool negative) {
  LAMELLA_CHECK(c.is_tensor(0) && c.is_tensor(1), title(c.op),
                ": a number added to a sparse tensor would make all its zeros other numbers; call to_dense() first, or "
                "add to values()");
  const Scalar alpha = c.alpha();
  return sum_of(c.tensor(0), c.tensor(1), negative ? negated(alpha) : alpha);
}

Tensor computed_by(const Call& c) {
  const std::string_view name = c.name();
  if (name == "aten::add") return summed(c, false);
  if (name == "aten::sub" || name == "aten::subtract") return summed(c, true);
  if (name == "aten::mul" || name == "aten::multiply") return multiplied(c);
  if (name == "aten::div" || name == "aten::divide" || name == "aten::true_divide") return divided(c);
  if (name == "aten::pow" && c.count >= 2 && c.is_tensor(0) && state_of(c.args[0].as.tensor) && is_number(c.args[1])) {
    const Scalar exponent(c.args[1]);
    if (!exponent.isComplex() && exponent.toDouble() > 0) return by_values(c, 0, false);
    no_rule_of(c, "and this power of 0 is not 0");
  }
  if (c.tensors() == 1 && c.is_tensor(0) && keeping_zeros().count(name))
    return by_values(c, 0, name == "aten::neg" || name == "aten::positive" || name == "aten::conj_physical");
  if (c.tensors() == 1 && (name == "aten::add" || name == "aten::exp" || name == "aten::cos"))
    no_rule_of(c, "and the operator gives other numbers than 0 for its zeros");
  no_rule_of(c, "and there is no rule for it");
}

lamella_status pointwise(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const Call c(f, args);
    if (c.target && c.in_place() && !state_of(c.target)) {  // a dense tensor is written
      const Tensor target = Tensor::borrow(c.target);
      const bool sum = c.name() == "aten::add" || c.name() == "aten::sub";
      if (!sum || !c.is_tensor(1)) no_rule_of(c, "and a dense tensor cannot be written by it");
      add_into(target, c.tensor(1), c.name() == "aten::sub" ? negated(c.alpha()) : c.alpha());
      rets[0] = owned(target);
      return LAMELLA_OK;
    }
    const Tensor made = computed_by(c);
    if (!c.target) {
      rets[0] = owned(made);
      return LAMELLA_OK;
    }
    const Tensor target = Tensor::borrow(c.target);
    LAMELLA_CHECK_NOT_IMPLEMENTED((state_of(target) != nullptr) == (state_of(made) != nullptr), title(c.op),
                                  ": argument '", c.in_place() ? "self" : "out",
                                  "' has another layout than the result; "
                                  "use the form that returns its result");
    if (state_of(target)) {
      assign(target, made);
    } else {
      target.resize_(made.sizes());
      target.copy_(made);
    }
    rets[0] = owned(target);
    return LAMELLA_OK;
  });
}

// The dtype of the sum or product of two tensors.
ScalarType common_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  const auto empty = [](const Tensor& t) {
    return t.dim() ? lamella::zeros({0}, TensorOptions().dtype(t.dtype()))
                   : lamella::zeros({}, TensorOptions().dtype(t.dtype()));
  };
  return empty(a).add(empty(b)).dtype();
}

Tensor cast(const Tensor& t, ScalarType dtype) { return t.dtype() == dtype ? t : t.to(dtype); }

Tensor times_number(const Tensor& t, const Scalar& by) {
  const bool one = !by.isComplex() && by.toDouble() == 1;
  return one ? t : t * by;
}

void check_same_size(const Tensor& a, const Tensor& b) {
  LAMELLA_CHECK(a.sizes() == b.sizes(), "argument 'other': has shape ", b.sizes(), ", and 'self' has ", a.sizes(),
                "; sums with sparse tensors do not broadcast");
}

}  // namespace

Scalar negated(const Scalar& x) {
  if (x.isComplex()) {
    const lamella_value v = x.value();
    return Scalar(std::complex<double>(-v.as.doubles[0], -v.as.doubles[1]));
  }
  if (x.isFloatingPoint()) return Scalar(-x.toDouble());
  return Scalar(-x.toLong());
}

Tensor scaled(const Tensor& t, const Scalar& by) {
  return state_of(t) ? with_values(t, times_number(values_of(t), by)) : times_number(t, by);
}

namespace {

// Returns a matrix of layout sparse_csr or sparse_csc in the other one, if `like` has that.
Tensor turned_like(const Tensor& t, const Tensor& like) {
  const State *s = state_of(t), *to = state_of(like);
  const bool turns = s && to && s->kind != coo && to->kind != coo && s->kind != to->kind;
  return turns ? to_layout(t, to->kind) : t;
}

}  // namespace

Tensor sum_of(const Tensor& a, const Tensor& given, const Scalar& alpha) {
  const Tensor b = turned_like(given, a);
  const State *x = state_of(a), *y = state_of(b);
  check_same_size(a, b);
  const ScalarType dtype = common_dtype(a, b);
  LAMELLA_CHECK(!alpha.isFloatingPoint() || is_floating_point(dtype) || is_complex(dtype),
                "argument 'alpha': expected an integer for dtype ", dtype);
  if (!x || !y) {
    const Tensor& dense = x ? b : a;
    Tensor sum = x ? times_number(cast(dense, dtype), alpha) : cast(dense, dtype);
    if (sum.is_same(dense)) sum = sum.clone();
    const Tensor& sparse = x ? a : b;
    const State& s = x ? *x : *y;
    const Entries e = entries_of(sparse);
    const Tensor values = cast(x ? e.values : times_number(e.values, alpha), dtype);
    const int64_t lead = sparse.dim() - s.dense_dim();
    if (lead == 1) return sum.index_add(0, e.indices.select(0, 0), values);
    DimVector flat{1};
    for (int64_t d = 0; d < sparse.dim(); d++)
      if (d < lead)
        flat[0] *= sparse.size(d);
      else
        flat.push_back(sparse.size(d));
    return sum.reshape(flat).index_add(0, places_of(e.indices, sparse.sizes()), values).reshape(sparse.sizes());
  }
  LAMELLA_CHECK(x->kind == y->kind, "argument 'other': has layout ", kind_name(y->kind), ", and 'self' has ",
                kind_name(x->kind), "; convert one of them with to_sparse(layout=...)");
  const Tensor u = values_of(a), v = times_number(values_of(b), alpha);
  // Tensors of the same places are added entry by entry.
  const auto same = [](const Tensor& p, const Tensor& q) {
    return p.defined() == q.defined() &&
           (!p.defined() || (p.get()->storage == q.get()->storage && p.storage_offset() == q.storage_offset() &&
                             p.sizes() == q.sizes() && p.dtype() == q.dtype()));
  };
  if (same(x->outer, y->outer) && same(x->inner, y->inner)) return with_values(a, u + v);
  const Entries e = entries_of(a), g = entries_of(scaled(b, alpha));
  LAMELLA_CHECK(e.indices.size(0) == g.indices.size(0), "argument 'other': has ", g.indices.size(0),
                " sparse dimensions, and 'self' has ", e.indices.size(0));
  const Entries all{lamella::cat({e.indices, g.indices}, 1),
                    lamella::cat({cast(e.values, dtype), cast(g.values, dtype)}), false};
  if (x->kind != coo) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(!x->batch(), "a sum of batches of sparse matrices needs equal indices");
    return from_entries(all, a.sizes(), x->kind);
  }
  const bool both = x->coalesced && y->coalesced;
  return from_entries(both ? coalesced_entries(all, a.sizes()) : all, a.sizes(), coo);
}

void add_into(const Tensor& dense, const Tensor& sparse, const Scalar& alpha) {
  const State& s = state_in(sparse, "other");
  check_same_size(dense, sparse);
  LAMELLA_CHECK(common_dtype(dense, sparse) == dense.dtype(), "argument 'self': has dtype ", dense.dtype(),
                ", which cannot hold the result's ", common_dtype(dense, sparse));
  const Entries e = entries_of(sparse);
  const Tensor values = cast(e.values, dense.dtype());
  const int64_t lead = sparse.dim() - s.dense_dim();
  if (lead == 1) {
    dense.index_add_(0, e.indices.select(0, 0), values, alpha);
  } else if (lead > 1 && dense.is_contiguous()) {
    DimVector flat{1};
    for (int64_t d = 0; d < sparse.dim(); d++)
      if (d < lead)
        flat[0] *= sparse.size(d);
      else
        flat.push_back(sparse.size(d));
    dense.view(flat).index_add_(0, places_of(e.indices, sparse.sizes()), values, alpha);
  } else {
    dense.add_(dense_of(sparse), alpha);
  }
}

Tensor times_plain(const Tensor& sparse, const Tensor& dense) {
  if (dense.dim() == 0) return with_values(sparse, values_of(sparse) * dense);
  const State& s = state_in(sparse);
  LAMELLA_CHECK(dense.dim() <= sparse.dim(), "argument 'other': shape ", dense.sizes(),
                " does not broadcast to that of the sparse tensor, ", sparse.sizes());
  Tensor wide = dense;
  while (wide.dim() < sparse.dim()) wide = wide.unsqueeze(0);
  const int64_t lead = sparse.dim() - s.dense_dim();
  for (int64_t d = 0; d < sparse.dim(); d++)
    LAMELLA_CHECK(wide.size(d) == sparse.size(d) || wide.size(d) == 1, "argument 'other': shape ", dense.sizes(),
                  " does not broadcast to that of the sparse tensor, ", sparse.sizes());
  // Dimensions of size 1 are read at index 0.
  const Entries e = entries_of(sparse);
  DimVector size(wide.sizes());
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < lead; d++)
    rows.push_back(wide.size(d) == 1 ? lamella::zeros_like(e.indices.select(0, d)) : e.indices.select(0, d));
  if (rows.empty()) return with_values(sparse, values_of(sparse) * wide.unsqueeze(0));
  const Tensor picked = wide.flatten(0, lead - 1).index_select(0, places_of(lamella::stack(rows, 0), size));
  const Tensor product = e.values * picked;
  return with_values(sparse, s.batch() ? product.reshape(s.values.sizes()) : product);
}

Tensor times_sparse(const Tensor& a, const Tensor& given) {
  const Tensor b = turned_like(given, a);
  const State &x = state_in(a), &y = state_in(b, "other");
  LAMELLA_CHECK(a.sizes() == b.sizes(), "argument 'other': has shape ", b.sizes(), ", and 'self' has ", a.sizes(),
                "; products of two sparse tensors do not broadcast");
  LAMELLA_CHECK(x.kind == y.kind, "argument 'other': has layout ", kind_name(y.kind), ", and 'self' has ",
                kind_name(x.kind), "; convert one of them with to_sparse(layout=...)");
  if (a.is_same(b)) {
    if (x.kind != coo || x.coalesced) return with_values(a, values_of(a) * values_of(b));
    const Entries e = coalesced_entries(a);
    return from_entries({e.indices, e.values * e.values, true}, a.sizes(), coo);
  }
  LAMELLA_CHECK_NOT_IMPLEMENTED(!x.batch(), "there is no product of batches of sparse matrices");
  const Entries e = coalesced_entries(a), g = coalesced_entries(b);
  LAMELLA_CHECK(e.indices.size(0) == g.indices.size(0), "argument 'other': has ", g.indices.size(0),
                " sparse dimensions, and 'self' has ", e.indices.size(0));
  static const Operator<Tensor(const Tensor&, const Tensor&, IntArrayRef)> lookup("sparse::lookup");
  const Tensor where = lookup(g.indices, e.indices, a.sizes());
  const Tensor found = where.ge(0).nonzero().reshape({-1});
  const Tensor values = e.values.index_select(0, found) * g.values.index_select(0, where.index_select(0, found));
  return from_entries({e.indices.index_select(1, found), values, true}, a.sizes(), x.kind);
}

void register_pointwise(Library& m) {
  m.category("pointwise", layer_name, pointwise, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
}

}  // namespace lamella::sparse
