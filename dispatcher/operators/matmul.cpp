// Matrix products: mm and bmm are kernels, matmul is written over them.
#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {
namespace {

lattis_status infer_product(lattis_frame* f, const Value* a, Meta* m, int ndim) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  for (int i = 0; i < 2; i++)
    if (tensor_arg(a[i])->ndim() != ndim)
      return raise(LATTIS_RUNTIME_ERROR, format("%s: expected %d dimensions, got shape %s", where(f, i).c_str(), ndim,
                                                core::shape_string(tensor_arg(a[i])).c_str()));
  if (x->dtype != y->dtype)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: its dtype %s is not that of 'self', %s; convert one with .to(...)", where(f, 1).c_str(),
                        core::dtype_info(y->dtype).name, core::dtype_info(x->dtype).name));
  bool batches = ndim == 2 || x->sizes()[0] == y->sizes()[0];
  if (x->sizes()[ndim - 1] != y->sizes()[ndim - 2] || !batches)
    return raise(LATTIS_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(x) + " ('self') and " +
                                           core::shape_string(y) + " ('" + f->op->schema.load()->args[1].name +
                                           "') do not multiply");
  int64_t sizes[3] = {x->sizes()[0], x->sizes()[ndim - 2], y->sizes()[ndim - 1]};
  fresh(m, ndim, ndim == 2 ? sizes + 1 : sizes, x->dtype);
  return core::check_sizes("mm", ndim, m->sizes, core::itemsize(x->dtype), nullptr);
}

lattis_status infer_mm(lattis_frame* f, const Value* a, Meta* m) { return infer_product(f, a, m, 2); }
lattis_status infer_bmm(lattis_frame* f, const Value* a, Meta* m) { return infer_product(f, a, m, 3); }

lattis_status mm(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.op<"unsqueeze">(a[0], 0), y = c.op<"unsqueeze">(a[1], 0);
  return c.give(r, c.op<"squeeze.dim">(c.op<"bmm">(x, y), 0));
}

// One value after another, each releasing the one before.
class Chain {
 public:
  Chain(lattis_frame* f, const Value& v) : f_(f), v_(core::retain_value(v)) {}
  ~Chain() { core::release_value(v_); }
  Chain(const Chain&) = delete;
  template <class... Args>
  void then(const Callee& op, Args... more) {
    if (status) return;
    Value next = core::none();
    status = op(f_, {v_, more...}, &next);
    core::release_value(v_);
    v_ = next;
  }
  Tensor* tensor() const { return tensor_arg(v_); }
  const Value& value() const { return v_; }
  Value take() {
    Value v = v_;
    v_ = core::none();
    return v;
  }
  lattis_status status = LATTIS_OK;

 private:
  lattis_frame* f_;
  Value v_;
};

// Batched: both broadcast to common batch dimensions, then one bmm.
lattis_status batched(Chain& x, Chain& y, int64_t n, int64_t m, Value* r) {
  static const Callee expand("expand", ""), reshape("reshape", ""), bmm("bmm", ""), view("view", "");
  int nx = x.tensor()->ndim(), ny = y.tensor()->ndim(), batch = nx - 2;
  int64_t k = x.tensor()->sizes()[nx - 1], sizes[LATTIS_MAX_DIMS];
  std::copy(x.tensor()->sizes(), x.tensor()->sizes() + batch, sizes);
  if (!broadcast(&batch, sizes, ny - 2, y.tensor()->sizes()) || batch + 2 > LATTIS_MAX_DIMS)
    return raise(LATTIS_RUNTIME_ERROR, "matmul: shapes " + core::shape_string(x.tensor()) + " ('self') and " +
                                           core::shape_string(y.tensor()) + " ('other') do not broadcast");
  int64_t count = 1;
  for (int i = 0; i < batch; i++) count *= sizes[i];
  auto flatten = [&](Chain& c, int64_t rows, int64_t columns) {
    sizes[batch] = rows;
    sizes[batch + 1] = columns;
    c.then(expand, core::int_list(sizes, batch + 2), core::boolean(false));
    int64_t flat[3] = {count, rows, columns};
    c.then(reshape, core::int_list(flat, 3));
    return c.status;
  };
  if (lattis_status st = flatten(x, n, k)) return st;
  if (lattis_status st = flatten(y, y.tensor()->sizes()[ny - 2], m)) return st;
  x.then(bmm, y.value());
  sizes[batch] = n;
  sizes[batch + 1] = m;
  x.then(view, core::int_list(sizes, batch + 2));
  if (!x.status) *r = x.take();
  return x.status;
}

lattis_status matmul(lattis_frame* f, const Value* a, Value* r) {
  static const Callee mm_op("mm", ""), unsqueeze("unsqueeze", ""), squeeze("squeeze", "dim"), sum("sum", "");
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  if (x->ndim() == 2 && y->ndim() == 2) {
    Meta checked;  // errors in matmul's own words
    if (lattis_status st = infer_mm(f, a, &checked)) return st;
    return mm_op(f, {a[0], a[1]}, r);
  }
  for (int i = 0; i < 2; i++)
    if (tensor_arg(a[i])->ndim() == 0)
      return raise(LATTIS_RUNTIME_ERROR, where(f, i) + ": a zero-dim tensor has no matrix product; use *");
  bool row = x->ndim() == 1, column = y->ndim() == 1;
  Chain left(f, a[0]), right(f, a[1]);
  if (row) left.then(unsqueeze, core::integer(0));
  if (column) right.then(unsqueeze, core::integer(1));
  if (left.status || right.status) return left.status ? left.status : right.status;
  Value product = core::none();
  lattis_status st;
  int nl = left.tensor()->ndim(), nr = right.tensor()->ndim();
  if (left.tensor()->sizes()[nl - 1] != right.tensor()->sizes()[nr - 2])
    return raise(LATTIS_RUNTIME_ERROR, "matmul: shapes " + core::shape_string(x) + " ('self') and " +
                                           core::shape_string(y) + " ('other') do not multiply");
  if (nl == 2 && nr == 2)
    st = mm_op(f, {left.value(), right.value()}, &product);
  else
    st = batched(left, right, left.tensor()->sizes()[nl - 2], right.tensor()->sizes()[nr - 1], &product);
  if (st) return st;
  Chain result(f, product);
  core::release_value(product);
  if (column) result.then(squeeze, core::integer(-1));
  if (row) result.then(squeeze, core::integer(column ? -1 : -2));
  if (!result.status) *r = result.take();
  return result.status;
}

}  // namespace

const std::vector<Declaration>& matmul_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"mm(Tensor self, Tensor mat2) -> Tensor", "matmul", everywhere | out, infer_mm, mm,
       "The product of two matrices (n, k) and (k, m).\n\nRaises:\n    RuntimeError: the shapes do not multiply or the "
       "dtypes differ\n\n"
       ">>> lattis.mm(lattis.tensor([[1., 2.]]), lattis.tensor([[3.], [4.]]))\ntensor([[11.]])\n"},
      {"bmm(Tensor self, Tensor mat2) -> Tensor", "matmul", everywhere | out, infer_bmm, nullptr,
       "Products of matrices, pair by pair: (b, n, k) and (b, k, m).\n\n>>> lattis.bmm(lattis.ones(2, 1, 3), "
       "lattis.ones(2, 3, 1)).shape\nlattis.Size([2, 1, 1])\n"},
      {"matmul(Tensor self, Tensor other) -> Tensor", "matmul", everywhere | out, nullptr, matmul,
       "The matrix product of the last two dimensions; those before broadcast. A vector is a row on the left, a column "
       "on the right.\n\n"
       ">>> lattis.matmul(lattis.tensor([1., 2.]), lattis.tensor([3., 4.]))\ntensor(11.)\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
