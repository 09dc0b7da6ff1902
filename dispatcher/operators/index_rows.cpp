// One index for a whole row, a position along one dimension: index_select, index_add, index_copy, index_fill, tables.
#include "dispatcher/operators/indexing.h"
#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {
namespace {

lamella_status check_vector(lamella_frame* f, int arg, const Tensor* index) {
  if (index->ndim() <= 1) return check_integral(f, arg, index);
  return raise(LAMELLA_INDEX_ERROR,
               where(f, arg) + ": expected a vector of indices, got shape " + core::shape_string(index));
}

lamella_status infer_index_select(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]);
  int dim;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), &dim)) return st;
  if (lamella_status st = check_vector(f, 2, index)) return st;
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  if (self->ndim() == 0 && index->numel != 1)
    return raise(LAMELLA_INDEX_ERROR, where(f, 2) + ": a zero-dim tensor takes exactly one index");
  if (self->ndim()) m->sizes[dim] = index->numel;
  return LAMELLA_OK;
}

// A vector of indices along `dim`, expanded to the other dimensions of a shape.
Var along(Compose& c, const Value& index, int64_t dim, int ndim, const int64_t* sizes) {
  Var i = c.arg(index);
  if (i.dtype() != LAMELLA_INT64) i = c.op<"to.dtype">(i, As{LAMELLA_INT64});
  if (ndim == 0) return c.op<"reshape">(i, Ints{});
  const int d = static_cast<int>(dim < 0 ? dim + ndim : dim);
  Ints ones, full(sizes, ndim);
  for (int k = 0; k < ndim; k++) ones.add(1);
  ones[d] = full[d] = i.numel();
  return c.op<"expand">(c.op<"reshape">(i, ones), full);
}

lamella_status index_select(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  return c.give(r, c.op<"gather">(a[0], a[1], along(c, a[2], a[1].as.i, self->ndim(), self->sizes())));
}

// index_add_, index_copy_: (self, dim, index, source)
lamella_status check_index_rows(lamella_frame* f, const Value* a) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]), *source = tensor_arg(a[3]);
  int dim;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), &dim)) return st;
  if (lamella_status st = check_vector(f, 2, index)) return st;
  if (lamella_status st = check_same_dtype(f, 3, source, self)) return st;
  bool fits = dims_of(source) == dims_of(self);
  for (int d = 0; d < dims_of(self) && fits; d++)
    fits = size_of(source, d) == (d == dim ? index->numel : size_of(self, d));
  if (!fits)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: shape %s, but 'self' has shape %s and there are %lld indices along dimension %d",
                        where(f, 3).c_str(), core::shape_string(source).c_str(), core::shape_string(self).c_str(),
                        (long long)index->numel, dim));
  return LAMELLA_OK;
}

lamella_status check_index_add(lamella_frame* f, const Value* a) {
  if (lamella_status st = check_index_rows(f, a)) return st;
  const DType self = tensor_arg(a[0])->dtype, alpha = core::number_dtype(a[4]);
  const int kind = core::dtype_class(alpha);  // a whole number scales bools, too
  if (kind <= LAMELLA_CLASS_INTEGRAL || kind <= core::dtype_class(self)) return check_number(f, 4, a[4], self);
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: dtype %s does not fit dtype %s", where(f, 4).c_str(),
                                             core::dtype_info(alpha).name, core::dtype_info(self).name));
}

lamella_status index_add_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* source = tensor_arg(a[3]);
  Var scaled = c.arg(a[3]);
  if (a[4].tag == LAMELLA_COMPLEX || core::as_double(a[4]) != 1)
    scaled = c.op<"to.dtype">(c.op<"mul.Scalar">(scaled, a[4]), As{source->dtype});
  return c.give(r,
                c.op<"scatter_add_">(a[0], a[1], along(c, a[2], a[1].as.i, source->ndim(), source->sizes()), scaled));
}

lamella_status index_copy_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* source = tensor_arg(a[3]);
  Var i = along(c, a[2], a[1].as.i, source->ndim(), source->sizes());
  return c.give(r, c.op<"scatter_.src">(a[0], a[1], i, a[3]));
}

lamella_status check_index_fill(lamella_frame* f, const Value* a) {
  int dim;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, tensor_arg(a[0])->ndim(), &dim)) return st;
  if (lamella_status st = check_vector(f, 2, tensor_arg(a[2]))) return st;
  return check_filling(f, 3, a[3], tensor_arg(a[0])->dtype);
}

lamella_status index_fill_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const bool scalar = tensor_arg(a[0])->ndim() == 0;
  Var self = scalar ? c.op<"unsqueeze">(a[0], 0) : c.arg(a[0]);
  if (c.status()) return c.status();
  Var i = along(c, a[2], a[1].as.i, self.dim(), self.tensor()->sizes());
  i = wrapped(c, i, self.size(static_cast<int>(a[1].as.i)));
  if (a[3].tag != LAMELLA_TENSOR) {
    c.op<"scatter_.value">(self, a[1], i, a[3]);
  } else {
    Var value = c.op<"to.dtype">(a[3], As{self.dtype()});
    value = c.op<"expand">(value, Ints(i.tensor() ? i.tensor()->sizes() : nullptr, i.dim()));
    c.op<"scatter_.src">(self, a[1], i, value);
  }
  return c.give(r, c.arg(a[0]));
}

lamella_status infer_embedding(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *weight = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  if (weight->ndim() != 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a matrix, one row for each index, got shape " + core::shape_string(weight));
  if (lamella_status st = check_integral(f, 1, index)) return st;
  if (index->ndim() == LAMELLA_MAX_DIMS) return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": too many dimensions");
  int64_t sizes[LAMELLA_MAX_DIMS];
  std::copy(index->sizes(), index->sizes() + index->ndim(), sizes);
  sizes[index->ndim()] = weight->sizes()[1];
  fresh(m, index->ndim() + 1, sizes, weight->dtype);
  return LAMELLA_OK;
}

lamella_status embedding(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *weight = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  Ints shape(index->sizes(), index->ndim());
  shape.add(weight->sizes()[1]);
  Var flat = c.op<"reshape">(a[1], Ints{index->numel});
  return c.give(r, c.op<"reshape">(c.op<"index_select">(a[0], 0, flat), shape));
}

// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
lamella_status infer_embedding_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *g = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  if (core::dtype_class(g->dtype) != LAMELLA_CLASS_FLOATING)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(g->dtype).name);
  if (lamella_status st = check_integral(f, 1, index)) return st;
  if (g->ndim() != index->ndim() + 1 || !std::equal(index->sizes(), index->sizes() + index->ndim(), g->sizes()))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected one row for each index, but the indices have shape " +
                                            core::shape_string(index) + ", and this " + core::shape_string(g));
  if (a[2].as.i < 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": must not be negative");
  const int64_t sizes[2] = {a[2].as.i, g->sizes()[index->ndim()]};
  if (lamella_status st = check_sizes(f, 2, 2, sizes, g->dtype)) return st;
  fresh(m, 2, sizes, g->dtype);
  return LAMELLA_OK;
}

lamella_status embedding_dense_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var g = c.arg(a[0]), index = c.op<"reshape">(a[1], Ints{tensor_arg(a[1])->numel});
  const DType t = wide_of(g.dtype());
  const int64_t n = index.numel(), width = g.size(-1), rows = a[2].as.i;
  const lamella_device device = tensor_arg(a[0])->device();
  auto zeros = [&](const Ints& sizes) { return c.op<"zeros">(sizes, As{t}, Absent{}, device); };
  g = as(c, c.op<"reshape">(g, Ints{n, width}), t);
  if (a[3].as.i >= 0) g = c.op<"where.ScalarOther">(c.op<"unsqueeze">(c.op<"ne.Scalar">(index, a[3]), 1), g, 0);
  Var out = c.op<"index_add">(zeros({rows, width}), 0, index, g);
  if (a[4].as.i) {
    Var one = c.op<"ones">(Ints{n}, As{t}, Absent{}, device), count = c.op<"index_add">(zeros({rows}), 0, index, one);
    out = out / c.op<"unsqueeze">(c.op<"clamp_min">(count, 1), 1);
  }
  return c.give(r, as(c, out, tensor_arg(a[0])->dtype));
}

lamella_status one_hot(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  if (lamella_status st = check_int64(f, 0, self)) return st;
  int64_t classes = a[1].as.i;
  if (classes == -1) {  // only the data tells
    if (self->numel == 0)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": the number of classes cannot be told from no index");
    Var most = c.op<"item">(c.op<"amax">(a[0], Ints{}, false));
    if (c.status()) return c.status();
    if (most.value().as.i == INT64_MAX)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": more classes than 63 bits can count");
    classes = most.value().as.i + 1;
  }
  if (classes < 1 && !(classes == 0 && self->numel == 0))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected a positive number of classes, or -1 to take the largest "
                                               "index plus one; got %lld",
                                               where(f, 1).c_str(), (long long)a[1].as.i));
  Ints sizes(self->sizes(), self->ndim());
  sizes.add(classes);
  Var out = c.op<"zeros">(sizes, As{LAMELLA_INT64}, Absent{}, self->device());
  c.op<"scatter_.value">(out, -1, c.op<"unsqueeze">(a[0], -1), 1);
  return c.give(r, out);
}

}  // namespace

const std::vector<Declaration>& index_rows_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"index_select(Tensor self, int dim, Tensor index) -> Tensor", "indexing", everywhere | out, infer_index_select,
       index_select,
       "The slices of `self` along one dimension that a vector of indices names.\n\nRaises:\n    IndexError: an index "
       "is "
       "negative or too large\n\n>>> lamella.index_select(lamella.tensor([[1, 2], [3, 4]]), 1, lamella.tensor([1]))\n"
       "tensor([[2],\n        [4]])\n"},
      {"index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", "scatter",
       everywhere, infer_copied<check_index_add>, cloned<"index_add_">,
       "`self` plus `alpha` times the slices of `source`, each at its index along one dimension.\n\n>>> "
       "lamella.index_add(lamella.zeros(2), 0, lamella.tensor([1, 1]), lamella.tensor([1., 2.]))\ntensor([0., 3.])\n"},
      {"index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)", "scatter",
       method, infer_written<check_index_add, 2, 3>, index_add_inplace,
       "index_add() in place.\n\n>>> lamella.zeros(2).index_add_(0, lamella.tensor([0]), lamella.tensor([1.]))\n"
       "tensor([1., 0.])\n"},
      {"index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_rows>, cloned<"index_copy_">,
       "`self` with the slices of `source`, each at its index along one dimension.\n\n>>> "
       "lamella.index_copy(lamella.zeros(2), 0, lamella.tensor([1]), lamella.tensor([5.]))\ntensor([0., 5.])\n"},
      {"index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_rows, 2, 3>, index_copy_inplace,
       "index_copy() in place.\n\n>>> lamella.zeros(2).index_copy_(0, lamella.tensor([0]), lamella.tensor([1.]))\n"
       "tensor([1., 0.])\n"},
      {"index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_fill>, cloned<"index_fill_.int_Scalar">,
       "`self` with one number in the slices that a vector of indices names.\n\n>>> "
       "lamella.index_fill(lamella.zeros(3), "
       "0, lamella.tensor([0, 2]), 7.)\ntensor([7., 0., 7.])\n"},
      {"index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_fill>, cloned<"index_fill_.int_Tensor">, nullptr},
      {"index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_fill, 2>, index_fill_inplace,
       "index_fill() in place.\n\n>>> lamella.zeros(2).index_fill_(0, lamella.tensor([1]), 3)\ntensor([0., 3.])\n"},
      {"index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_fill, 2>, index_fill_inplace, nullptr},
      {"embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
       "sparse=False) -> Tensor",
       "indexing", function, infer_embedding, embedding,
       "The rows of a table that indices name.\n\n>>> lamella.embedding(lamella.tensor([[1., 2.], [3., 4.]]), "
       "lamella.tensor([1]))\ntensor([[3., 4.]])\n"},
      {"embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
       "scale_grad_by_freq) -> Tensor",
       "scatter", hidden | function, infer_embedding_backward, embedding_dense_backward,
       "The gradient of embedding, of its table: each row gets the sum of what was taken from it, or the mean if it is "
       "scaled; the row `padding_idx`, unless that is negative, gets none."},
      {"one_hot(Tensor self, int num_classes=-1) -> Tensor", "indexing", hidden | function, nullptr, one_hot,
       "One row for each index, with a one at that index; the largest index plus one tells the classes if they are "
       "not given.\n\n>>> lamella.ops.aten.one_hot(lamella.tensor([1, 0]), 3)\ntensor([[0, 1, 0],\n        [1, 0, "
       "0]])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
