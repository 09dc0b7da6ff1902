// Matrix products. bmm is the primitive; everything else is written over it, and has kernels where that is faster.
#include "dispatcher/operators/compose.h"
#include "dispatcher/operators/einsum.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {
namespace {

// ---- shape rules -------------------------------------------------------------------------------------------------

lamella_status check_ndim(lamella_frame* f, int arg, const Tensor* t, int ndim) {
  if (t->ndim() == ndim) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected %d dimension%s, got shape %s", where(f, arg).c_str(), ndim,
                                             ndim == 1 ? "" : "s", core::shape_string(t).c_str()));
}

lamella_status check_dtypes(lamella_frame* f, const Value* a, int x, int y) {
  const DType first = tensor_arg(a[x])->dtype, second = tensor_arg(a[y])->dtype;
  if (first != second)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: its dtype %s is not that of '%s', %s; convert one with .to(...)", where(f, y).c_str(),
                        core::dtype_info(second).name, f->op->schema.load()->args[x].name.c_str(),
                        core::dtype_info(first).name));
  if (first == LAMELLA_BOOL)
    return raise(LAMELLA_NOT_IMPLEMENTED,
                 where(f, x) + ": bools have no product of sums; convert with .to(lamella.int64) or the like");
  return LAMELLA_OK;
}

lamella_status do_not_multiply(lamella_frame* f, const Value* a, int x, int y) {
  const auto& args = f->op->schema.load()->args;
  return raise(LAMELLA_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(tensor_arg(a[x])) +
                                          " ('" + args[x].name + "') and " + core::shape_string(tensor_arg(a[y])) +
                                          " ('" + args[y].name + "') do not multiply");
}

// (…, n, k) and (…, k, m), the two arguments from `x` on, of `ndim` dimensions.
lamella_status infer_product(lamella_frame* f, const Value* a, Meta* m, int x, int ndim) {
  const Tensor *left = tensor_arg(a[x]), *right = tensor_arg(a[x + 1]);
  for (int i = x; i < x + 2; i++)
    if (lamella_status st = check_ndim(f, i, tensor_arg(a[i]), ndim)) return st;
  if (lamella_status st = check_dtypes(f, a, x, x + 1)) return st;
  const bool batches = ndim == 2 || left->sizes()[0] == right->sizes()[0];
  if (left->sizes()[ndim - 1] != right->sizes()[ndim - 2] || !batches) return do_not_multiply(f, a, x, x + 1);
  int64_t sizes[3] = {left->sizes()[0], left->sizes()[ndim - 2], right->sizes()[ndim - 1]};
  fresh(m, ndim, ndim == 2 ? sizes + 1 : sizes, left->dtype);
  return core::check_sizes(ndim == 2 ? "mm" : "bmm", ndim, m->sizes, core::itemsize(left->dtype), nullptr);
}

lamella_status infer_mm(lamella_frame* f, const Value* a, Meta* m) { return infer_product(f, a, m, 0, 2); }
lamella_status infer_bmm(lamella_frame* f, const Value* a, Meta* m) { return infer_product(f, a, m, 0, 3); }

// (n, k) and (k), the two arguments from `x` on.
lamella_status infer_matrix_vector(lamella_frame* f, const Value* a, Meta* m, int x) {
  for (int i = 0; i < 2; i++)
    if (lamella_status st = check_ndim(f, x + i, tensor_arg(a[x + i]), 2 - i)) return st;
  if (lamella_status st = check_dtypes(f, a, x, x + 1)) return st;
  const Tensor* matrix = tensor_arg(a[x]);
  if (matrix->sizes()[1] != tensor_arg(a[x + 1])->sizes()[0]) return do_not_multiply(f, a, x, x + 1);
  fresh(m, 1, matrix->sizes(), matrix->dtype);
  return LAMELLA_OK;
}

lamella_status infer_mv(lamella_frame* f, const Value* a, Meta* m) { return infer_matrix_vector(f, a, m, 0); }

lamella_status infer_dot(lamella_frame* f, const Value* a, Meta* m) {
  for (int i = 0; i < 2; i++)
    if (lamella_status st = check_ndim(f, i, tensor_arg(a[i]), 1)) return st;
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  if (tensor_arg(a[0])->sizes()[0] != tensor_arg(a[1])->sizes()[0]) return do_not_multiply(f, a, 0, 1);
  fresh(m, 0, nullptr, tensor_arg(a[0])->dtype);
  return LAMELLA_OK;
}

// What a product is added to: of its dtype, and it broadcasts to its shape.
lamella_status check_added(lamella_frame* f, const Value* a, const Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  int64_t sizes[LAMELLA_MAX_DIMS];
  int ndim = m->ndim;
  std::copy(m->sizes, m->sizes + ndim, sizes);
  if (self->ndim() > ndim || !broadcast(&ndim, sizes, self->ndim(), self->sizes()) ||
      !std::equal(sizes, sizes + ndim, m->sizes))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": shape " + core::shape_string(self) +
                                            " does not broadcast to the product's " +
                                            core::shape_string(m->ndim, m->sizes));
  if (lamella_status st = check_dtypes(f, a, 1, 0)) return st;
  for (int i = 3; i < 5; i++) {
    if (a[i].tag == LAMELLA_FLOAT && core::dtype_class(m->dtype) < LAMELLA_CLASS_FLOATING)
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: must be an integer beside dtype %s, got %g", where(f, i).c_str(),
                                                 core::dtype_info(m->dtype).name, a[i].as.d));
    if (lamella_status st = check_number(f, i, a[i], m->dtype)) return st;
  }
  return LAMELLA_OK;
}

bool is(const Value& number, double x) {
  if (number.tag == LAMELLA_COMPLEX) return number.as.doubles[0] == x && number.as.doubles[1] == 0;
  return core::as_double(number) == x;
}

lamella_status infer_addmm(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_product(f, a, m, 1, 2)) return st;
  return check_added(f, a, m);
}
lamella_status infer_baddbmm(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_product(f, a, m, 1, 3)) return st;
  return check_added(f, a, m);
}
lamella_status infer_addbmm(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_product(f, a, m, 1, 3)) return st;
  std::copy(m->sizes + 1, m->sizes + 3, m->sizes);
  m->ndim = 2;
  return check_added(f, a, m);
}
lamella_status infer_addmv(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_matrix_vector(f, a, m, 1)) return st;
  return check_added(f, a, m);
}
lamella_status infer_addr(lamella_frame* f, const Value* a, Meta* m) {
  for (int i = 1; i < 3; i++)
    if (lamella_status st = check_ndim(f, i, tensor_arg(a[i]), 1)) return st;
  if (lamella_status st = check_dtypes(f, a, 1, 2)) return st;
  const int64_t sizes[] = {tensor_arg(a[1])->sizes()[0], tensor_arg(a[2])->sizes()[0]};
  fresh(m, 2, sizes, tensor_arg(a[1])->dtype);
  if (lamella_status st = check_added(f, a, m)) return st;
  // The sum is pointwise: it lies in columns where self does.
  const Tensor* self = tensor_arg(a[0]);
  if (self->ndim() < 2 || is(a[3], 0) || self->sizes()[0] != sizes[0] || self->sizes()[1] != sizes[1])
    return LAMELLA_OK;
  if (sizes[0] > 1 && sizes[1] > 1 && self->strides()[0] > 0 && self->strides()[0] < self->strides()[1]) {
    m->has_strides = 1;
    m->strides[0] = 1;
    m->strides[1] = sizes[0];
  }
  return LAMELLA_OK;
}

lamella_status infer_linear(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *input = tensor_arg(a[0]), *weight = tensor_arg(a[1]), *bias = tensor_arg(a[2]);
  if (input->ndim() == 0)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor has no features to multiply");
  if (weight->ndim() != 1 && weight->ndim() != 2)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) +
                                            ": expected shape (out features, in features) or (in features), "
                                            "got shape " +
                                            core::shape_string(weight));
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  if (input->sizes()[input->ndim() - 1] != weight->sizes()[weight->ndim() - 1])
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": shape " + core::shape_string(weight) +
                                            " does not end with the in features of 'input', shape " +
                                            core::shape_string(input));
  fresh(m, input->ndim() - 1, input->sizes(), input->dtype);
  if (weight->ndim() == 2) m->sizes[m->ndim++] = weight->sizes()[0];
  if (!bias) return core::check_sizes("linear", m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
  if (lamella_status st = check_dtypes(f, a, 0, 2)) return st;
  const int64_t features = weight->ndim() == 2 ? weight->sizes()[0] : 1;
  if (bias->ndim() > 1 || (bias->ndim() == 1 && bias->sizes()[0] != features && bias->sizes()[0] != 1))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected shape (%lld,), got shape %s", where(f, 2).c_str(),
                                               (long long)features, core::shape_string(bias).c_str()));
  return LAMELLA_OK;
}

// ---- composites ----------------------------------------------------------------------------------------------------

lamella_status mm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.op<"unsqueeze">(a[0], 0), y = c.op<"unsqueeze">(a[1], 0);
  return c.give(r, c.op<"squeeze.dim">(c.op<"bmm">(x, y), 0));
}

lamella_status mv(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"squeeze.dim">(c.op<"mm">(a[0], c.op<"unsqueeze">(a[1], 1)), 1));
}

lamella_status dot(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"squeeze">(c.op<"mm">(c.op<"unsqueeze">(a[0], 0), c.op<"unsqueeze">(a[1], 1))));
}

lamella_status vdot(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dtype_class() == LAMELLA_CLASS_COMPLEX) x = c.op<"conj">(x);
  return c.give(r, c.op<"dot">(x, a[1]));
}

lamella_status outer(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  for (int i = 0; i < 2; i++)
    if (lamella_status st = check_ndim(f, i, tensor_arg(a[i]), 1)) return st;
  return c.give(r, c.op<"unsqueeze">(a[0], 1) * c.arg(a[1]));
}

// beta * self + alpha * product. With beta 0, what self holds does not matter, NaN included. The first summand decides
// how the sum lies in memory: a product of matrices is plain, whatever is added to it.
lamella_status add_to(Compose& c, const Value* a, Value* r, Var product, bool as_self = false) {
  const Value &beta = a[3], &alpha = a[4];
  if (!is(alpha, 1)) product = c.op<"mul.Scalar">(product, alpha);
  if (is(beta, 0)) return c.give(r, product);
  Var self = is(beta, 1) ? c.arg(a[0]) : c.op<"mul.Scalar">(a[0], beta);
  return c.give(r, as_self ? self + product : product + self);
}

template <OperatorName Product>
lamella_status added(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return add_to(c, a, r, c.op<Product>(a[1], a[2]));
}

lamella_status addr(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return add_to(c, a, r, c.op<"outer">(a[1], a[2]), true);
}

lamella_status addbmm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var product = c.op<"bmm">(a[1], a[2]);
  return add_to(c, a, r, c.op<"sum.dim_IntList">(product, Ints{0}, false, As{product.dtype()}));
}

lamella_status linear(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var product = c.op<"matmul">(a[0], c.op<"t">(a[1]));
  return c.give(r, given(a[2]) ? product + c.arg(a[2]) : product);
}

// Broadcasts the batches of both; then one bmm.
lamella_status batched(Compose& c, const Var& x, const Var& y, Value* r) {
  int batch = x.dim() - 2;
  int64_t sizes[LAMELLA_MAX_DIMS];
  std::copy_n(x.tensor()->sizes(), batch, sizes);
  if (!broadcast(&batch, sizes, y.dim() - 2, y.tensor()->sizes()) || batch + 2 > LAMELLA_MAX_DIMS)
    return c.fail(LAMELLA_RUNTIME_ERROR, "matmul: shapes " + core::shape_string(x.tensor()) + " ('self') and " +
                                             core::shape_string(y.tensor()) + " ('other') do not broadcast");
  int64_t count = 1;
  for (int i = 0; i < batch; i++) count *= sizes[i];
  auto flat = [&](const Var& v) {
    Ints all(sizes, batch);
    all.add(v.size(-2));
    all.add(v.size(-1));
    return c.op<"reshape">(c.op<"expand">(v, all), Ints{count, v.size(-2), v.size(-1)});
  };
  Var product = c.op<"bmm">(flat(x), flat(y));
  Ints all(sizes, batch);
  all.add(x.size(-2));
  all.add(y.size(-1));
  return c.give(r, c.op<"view">(product, all));
}

// Batches of rows meet one matrix: all rows are one matrix too.
lamella_status folded(Compose& c, const Var& x, const Var& y, bool column, Value* r) {
  Ints sizes(x.tensor()->sizes(), x.dim() - 1);
  int64_t rows = 1;
  for (int i = 0; i < sizes.count; i++) rows *= sizes[i];
  Var flat = c.op<"reshape">(x, Ints{rows, x.size(-1)});
  if (column) return c.give(r, c.op<"view">(c.op<"mv">(flat, y), sizes));
  Var product = c.op<"mm">(flat, y);
  sizes.add(y.size(1));
  return c.give(r, c.op<"view">(product, sizes));
}

lamella_status matmul(lamella_frame* f, const Value* a, Value* r) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  const int nx = x->ndim(), ny = y->ndim();
  for (int i = 0; i < 2; i++)
    if (tensor_arg(a[i])->ndim() == 0)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, i) + ": a zero-dim tensor has no matrix product; use *");
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  if (x->sizes()[nx - 1] != y->sizes()[std::max(ny - 2, 0)]) return do_not_multiply(f, a, 0, 1);
  Compose c(f);
  if (nx == 2 && ny == 2) return c.give(r, c.op<"mm">(a[0], a[1]));
  if (nx == 1 && ny == 1) return c.give(r, c.op<"dot">(a[0], a[1]));
  if (nx == 2 && ny == 1) return c.give(r, c.op<"mv">(a[0], a[1]));
  if (nx > 2 && ny <= 2) return folded(c, c.arg(a[0]), c.arg(a[1]), ny == 1, r);
  if (nx > 1) return batched(c, c.arg(a[0]), c.arg(a[1]), r);
  Value product = core::none();
  Var row = c.op<"unsqueeze">(a[0], 0);
  if (lamella_status st = ny == 2 ? c.give(&product, c.op<"mm">(row, a[1])) : batched(c, row, c.arg(a[1]), &product))
    return st;
  return c.give(r, c.op<"squeeze.dim">(Var(&c, product), -2));
}

// The dimensions named are summed over, pair by pair: one product of two matrices.
lamella_status contract(lamella_frame* f, const Value* a, Value* r, const Ints& left, const Ints& right) {
  Compose c(f);
  Var x = c.arg(a[0]), y = c.arg(a[1]);
  Ints order_x, order_y, sizes;
  int64_t n = 1, k = 1, m = 1;
  auto has = [](const Ints& list, int d) {
    return std::find(list.data, list.data + list.count, d) != list.data + list.count;
  };
  for (int d = 0; d < x.dim(); d++)
    if (!has(left, d)) {
      order_x.add(d);
      sizes.add(x.size(d));
      n *= x.size(d);
    }
  for (int i = 0; i < left.count; i++) {
    order_x.add(left[i]);
    order_y.add(right[i]);
    k *= std::max(x.size(static_cast<int>(left[i])), y.size(static_cast<int>(right[i])));
    const bool one_x = x.size(static_cast<int>(left[i])) == 1, one_y = y.size(static_cast<int>(right[i])) == 1;
    if (one_x != one_y) {  // a size of 1 broadcasts: sum the other one first
      Var& longer = one_x ? y : x;
      const int64_t d = one_x ? right[i] : left[i];
      k /= std::max<int64_t>(longer.size(static_cast<int>(d)), 1);
      longer = c.op<"sum.dim_IntList">(longer, Ints{d}, true, As{longer.dtype()});
    }
  }
  for (int d = 0; d < y.dim(); d++)
    if (!has(right, d)) {
      order_y.add(d);
      sizes.add(y.size(d));
      m *= y.size(d);
    }
  Var flat_x = c.op<"reshape">(c.op<"permute">(x, order_x), Ints{n, k});
  Var flat_y = c.op<"reshape">(c.op<"permute">(y, order_y), Ints{k, m});
  return c.give(r, c.op<"view">(c.op<"mm">(flat_x, flat_y), sizes));
}

lamella_status tensordot(lamella_frame* f, const Value* a, Value* r) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  if (a[2].length != a[3].length)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: names %u dimensions, but 'dims_self' names %u", where(f, 3).c_str(),
                                               a[3].length, a[2].length));
  uint64_t seen;
  for (int i = 0; i < 2; i++)
    if (lamella_status st = wrap_dims(f, 2 + i, a[2 + i], tensor_arg(a[i])->ndim(), &seen)) return st;
  Ints left, right;
  for (uint32_t i = 0; i < a[2].length; i++) {
    const int64_t p = a[2].as.ints[i], q = a[3].as.ints[i];
    left.add(p < 0 ? p + x->ndim() : p);
    right.add(q < 0 ? q + y->ndim() : q);
    const int64_t n = x->sizes()[left[i]], m = y->sizes()[right[i]];
    if (n != m && n != 1 && m != 1)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("tensordot: dimension %lld of 'self' has size %lld, dimension %lld of 'other' has %lld",
                          (long long)p, (long long)n, (long long)q, (long long)m));
  }
  return contract(f, a, r, left, right);
}

lamella_status tensordot_last(lamella_frame* f, const Value* a, Value* r) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  const int64_t n = a[2].as.i;
  if (n < 0 || n > std::min(x->ndim(), y->ndim()))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: must be between 0 and %d, got %lld", where(f, 2).c_str(),
                                               std::min(x->ndim(), y->ndim()), (long long)n));
  Ints left, right;
  for (int64_t i = 0; i < n; i++) {
    left.add(x->ndim() - n + i);
    right.add(i);
    if (x->sizes()[left[i]] != y->sizes()[i]) return do_not_multiply(f, a, 0, 1);
  }
  return contract(f, a, r, left, right);
}

lamella_status inner(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  if (x->ndim() == 0 || y->ndim() == 0) return c.give(r, c.arg(a[0]) * c.arg(a[1]));
  if (lamella_status st = check_dtypes(f, a, 0, 1)) return st;
  if (x->sizes()[x->ndim() - 1] != y->sizes()[y->ndim() - 1]) return do_not_multiply(f, a, 0, 1);
  if (x->ndim() == 1 && y->ndim() == 1) return c.give(r, c.op<"dot">(a[0], a[1]));
  if (y->ndim() <= 2) return c.give(r, c.op<"linear">(a[0], a[1]));
  return contract(f, a, r, Ints{x->ndim() - 1}, Ints{y->ndim() - 1});
}

lamella_status kron(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]), y = c.arg(a[1]);
  const int n = std::max(x.dim(), y.dim());
  if (2 * n > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %d dimensions, at most %d are supported", where(f, 0).c_str(), n, LAMELLA_MAX_DIMS / 2));
  Ints left, right, sizes;
  for (int d = 0; d < n; d++) {
    const int64_t p = d < n - x.dim() ? 1 : x.size(d - (n - x.dim())),
                  q = d < n - y.dim() ? 1 : y.size(d - (n - y.dim()));
    left.add(p);
    left.add(1);
    right.add(1);
    right.add(q);
    sizes.add(p * q);
  }
  return c.give(r, c.op<"reshape">(c.op<"reshape">(x, left) * c.op<"reshape">(y, right), sizes));
}

}  // namespace

#define ADDED "*, Scalar beta=1, Scalar alpha=1) -> Tensor"

const std::vector<Declaration>& matmul_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"mm(Tensor self, Tensor mat2) -> Tensor", "matmul", everywhere | out, infer_mm, mm,
       "The product of two matrices (n, k) and (k, m).\n\nRaises:\n    RuntimeError: the shapes do not multiply or the "
       "dtypes differ\n\n"
       ">>> lamella.mm(lamella.tensor([[1., 2.]]), lamella.tensor([[3.], [4.]]))\ntensor([[11.]])\n"},
      {"bmm(Tensor self, Tensor mat2) -> Tensor", "matmul", everywhere | out, infer_bmm, nullptr,
       "Products of matrices, pair by pair: (b, n, k) and (b, k, m).\n\n>>> lamella.bmm(lamella.ones(2, 1, 3), "
       "lamella.ones(2, 3, 1)).shape\nlamella.Size([2, 1, 1])\n"},
      {"matmul(Tensor self, Tensor other) -> Tensor", "matmul", everywhere | out, nullptr, matmul,
       "The matrix product of the last two dimensions; those before broadcast. A vector is a row on the left, a column "
       "on the right.\n\n"
       ">>> lamella.matmul(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))\ntensor(11.)\n"},
      {"mv(Tensor self, Tensor vec) -> Tensor", "matmul", everywhere | out, infer_mv, mv,
       "The product of a matrix (n, k) and a vector (k).\n\n>>> lamella.mv(lamella.tensor([[1., 2.], [3., 4.]]), "
       "lamella.tensor([1., 10.]))\ntensor([21., 43.])\n"},
      {"dot(Tensor self, Tensor tensor) -> Tensor", "matmul", everywhere | out, infer_dot, dot,
       "The sum of the products of two vectors' elements.\n\n>>> lamella.dot(lamella.tensor([1, 2]), "
       "lamella.tensor([3, "
       "4]))\ntensor(11)\n"},
      {"vdot(Tensor self, Tensor other) -> Tensor", "matmul", everywhere | out, infer_dot, vdot,
       "dot, with the first vector conjugated.\n\n>>> lamella.vdot(lamella.tensor([1., 2.]), lamella.tensor([3., "
       "4.]))\ntensor(11.)\n"},
      {"inner(Tensor self, Tensor other) -> Tensor", "matmul", everywhere | out, nullptr, inner,
       "Sums of products over the last dimensions of both: of vectors, their dot product.\n\n>>> "
       "lamella.inner(lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([1, 10]))\ntensor([21, 43])\n"},
      {"outer(Tensor self, Tensor vec2) -> Tensor", "matmul", everywhere | out, nullptr, outer,
       "Every element of a vector times every element of another.\n\n>>> lamella.outer(lamella.tensor([1, 2]), "
       "lamella.tensor([3, 4]))\ntensor([[3, 4],\n        [6, 8]])\n"},
      {"ger(Tensor self, Tensor vec2) -> Tensor", "matmul", everywhere | out, nullptr, outer,
       "outer, by BLAS's name.\n\n>>> lamella.ger(lamella.tensor([1, 2]), lamella.tensor([3])).shape\nlamella.Size([2, "
       "1])\n"},
      {"addmm(Tensor self, Tensor mat1, Tensor mat2, " ADDED, "matmul", all_forms, infer_addmm, added<"mm">,
       "beta * self + alpha * (mat1 @ mat2); self broadcasts. With beta 0, self is not read.\n\n>>> "
       "lamella.addmm(lamella.tensor([1., 2.]), lamella.ones(2, 3), lamella.ones(3, 2))\ntensor([[4., 5.],\n        "
       "[4., "
       "5.]])\n"},
      {"baddbmm(Tensor self, Tensor batch1, Tensor batch2, " ADDED, "matmul", all_forms, infer_baddbmm, added<"bmm">,
       "beta * self + alpha * bmm(batch1, batch2); self broadcasts. With beta 0, self is not read.\n\n>>> "
       "lamella.baddbmm(lamella.ones(1), lamella.ones(2, 1, 3), lamella.ones(2, 3, 1))\ntensor([[[4.]],\n<BLANKLINE>\n "
       "    "
       "   "
       "[[4.]]])\n"},
      {"addbmm(Tensor self, Tensor batch1, Tensor batch2, " ADDED, "matmul", all_forms, infer_addbmm, addbmm,
       "beta * self + alpha * the sum of bmm(batch1, batch2) over its batches.\n\n>>> "
       "lamella.addbmm(lamella.ones(1), lamella.ones(2, 1, 3), lamella.ones(2, 3, 1))\ntensor([[7.]])\n"},
      {"addmv(Tensor self, Tensor mat, Tensor vec, " ADDED, "matmul", all_forms, infer_addmv, added<"mv">,
       "beta * self + alpha * (mat @ vec); self broadcasts. With beta 0, self is not read.\n\n>>> "
       "lamella.addmv(lamella.ones(2), lamella.ones(2, 3), lamella.ones(3))\ntensor([4., 4.])\n"},
      {"addr(Tensor self, Tensor vec1, Tensor vec2, " ADDED, "matmul", all_forms, infer_addr, addr,
       "beta * self + alpha * outer(vec1, vec2); self broadcasts. With beta 0, self is not read.\n\n>>> "
       "lamella.addr(lamella.ones(2), lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))\ntensor([[4., 5.],\n        "
       "[7., "
       "9.]])\n"},
      {"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "matmul", function | hidden, infer_linear,
       linear,
       "input @ weight.T + bias: the last dimension of `input` are the in features, `weight` is (out features, in "
       "features).\n\n>>> lamella.ops.aten.linear(lamella.tensor([1., 2.]), lamella.ones(3, 2), lamella.tensor([0., "
       "1., "
       "2.]))\ntensor([3., 4., 5.])\n"},
      {"einsum(str equation, Tensor[] tensors) -> Tensor", "matmul", function, nullptr, einsum,
       "Sums of products by an equation: letters label dimensions, ',' parts operands, what the output after '->' "
       "lacks is summed. Without '->', the output has the labels that stand once, in alphabetical order; '...' stands "
       "for dimensions that broadcast.\n\nRaises:\n    RuntimeError: the equation is no equation, or does not fit the "
       "shapes\n\n"
       ">>> lamella.einsum('ij,j->i', [lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([1, 10])])\ntensor([21, "
       "43])\n"},
      {"tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", "matmul", function, nullptr,
       tensordot,
       "Sums of products over pairs of dimensions: those listed, or the last `dims` of self with the first of "
       "other.\n\n>>> lamella.tensordot(lamella.ones(2, 3, 4), lamella.ones(3, 4), 2)\ntensor([12., 12.])\n"},
      {"tensordot.int(Tensor self, Tensor other, int dims=2) -> Tensor", "matmul", function, nullptr, tensordot_last,
       nullptr},
      {"kron(Tensor self, Tensor other) -> Tensor", "matmul", everywhere | out, nullptr, kron,
       "The Kronecker product: every element of self times the whole of other, laid out in blocks.\n\n>>> "
       "lamella.kron(lamella.tensor([1, 10]), lamella.tensor([1, 2]))\ntensor([ 1,  2, 10, 20])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
