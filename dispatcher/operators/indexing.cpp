// Reading and writing by index tensors and masks. Integers, slices and None are views, which the binding asks for one
// by one. gather, scatter_, scatter_add_ and nonzero are primitives; the rest comes down to them.
#include "dispatcher/operators/indexing.h"

#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {

lattis_status on_clone(lattis_frame* f, const Operator* op, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.op<"clone">(a[0], lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT});
  if (c.status()) return c.status();
  if (!op->schema.load(std::memory_order_acquire))
    if (lattis_status st = Registry::get().prepare(const_cast<Operator*>(op))) return st;
  Value all[16];
  std::copy(a, a + op->info.nargs, all);
  all[0] = x.value();
  return call(f, op, all, r);
}

namespace {

lattis_status infer_self(lattis_frame*, const Value*, Meta* m) {
  same(m);
  return LATTIS_OK;
}

bool integral(const Tensor* t) { return core::dtype_class(t->dtype) == LATTIS_CLASS_INTEGRAL; }

lattis_status check_int64(lattis_frame* f, int arg, const Tensor* index) {
  if (index->dtype == LATTIS_INT64) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR, where(f, arg) + ": expected dtype int64, got " +
                                         core::dtype_info(index->dtype).name + "; convert it with .to(lattis.int64)");
}

lattis_status check_integral(lattis_frame* f, int arg, const Tensor* index) {
  if (integral(index)) return LATTIS_OK;
  return raise(LATTIS_INDEX_ERROR,
               where(f, arg) + ": expected integers, got dtype " + core::dtype_info(index->dtype).name);
}

lattis_status check_same_dtype(lattis_frame* f, int arg, const Tensor* t, const Tensor* self) {
  if (t->dtype == self->dtype) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR, format("%s: dtype %s, but 'self' has dtype %s; convert one", where(f, arg).c_str(),
                                            core::dtype_info(t->dtype).name, core::dtype_info(self->dtype).name));
}

// What is written must not be read as well.
lattis_status check_apart(lattis_frame* f, int arg, const Tensor* t, const Tensor* self) {
  if (t->storage != self->storage || t->numel == 0) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR, where(f, arg) + ": it shares memory with 'self', which is written; clone() it");
}

int dims_of(const Tensor* t) { return std::max(t->ndim(), 1); }
int64_t size_of(const Tensor* t, int d) { return t->ndim() ? t->sizes()[d] : 1; }

// The index has as many dimensions as self, and is no larger but along `dim`.
lattis_status check_along(lattis_frame* f, const Value* a, int* dim) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]);
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), dim)) return st;
  if (lattis_status st = check_int64(f, 2, index)) return st;
  if (dims_of(index) != dims_of(self) && index->numel != 0)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %d dimensions, but 'self' has %d", where(f, 2).c_str(), index->ndim(), self->ndim()));
  for (int d = 0; d < dims_of(self) && index->numel; d++)
    if (d != *dim && size_of(index, d) > size_of(self, d))
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: shape %s is larger than that of 'self', %s, in dimension %d", where(f, 2).c_str(),
                          core::shape_string(index).c_str(), core::shape_string(self).c_str(), d));
  return LATTIS_OK;
}

lattis_status infer_gather(lattis_frame* f, const Value* a, Meta* m) {
  int dim;
  if (lattis_status st = check_along(f, a, &dim)) return st;
  const Tensor* index = tensor_arg(a[2]);
  fresh(m, index->ndim(), index->sizes(), tensor_arg(a[0])->dtype);
  return LATTIS_OK;
}

lattis_status check_scatter(lattis_frame* f, const Value* a) {
  int dim;
  if (lattis_status st = check_along(f, a, &dim)) return st;
  if (a[3].tag != LATTIS_TENSOR) return LATTIS_OK;
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]), *src = tensor_arg(a[3]);
  if (lattis_status st = check_same_dtype(f, 3, src, self)) return st;
  if (index->numel == 0) return LATTIS_OK;
  bool fits = dims_of(src) == dims_of(index);
  for (int d = 0; d < dims_of(index) && fits; d++) fits = size_of(index, d) <= size_of(src, d);
  if (!fits)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 3) + ": shape " + core::shape_string(src) +
                                           " does not cover the index's shape " + core::shape_string(index));
  return LATTIS_OK;
}

template <OperatorName Inplace>
lattis_status cloned(lattis_frame* f, const Value* a, Value* r) {
  static const Callee op = [] {
    std::string base, overload;
    split_name(std::string("aten::") + Inplace.text, &base, &overload);
    return Callee(base.c_str() + 6, overload.c_str());
  }();
  return on_clone(f, op.op, a, r);
}

// The functional form of an in-place operator: the same checks, and a new tensor.
template <lattis_status (*Check)(lattis_frame*, const Value*)>
lattis_status infer_copied(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  return Check(f, a);
}
template <lattis_status (*Check)(lattis_frame*, const Value*), int... Read>
lattis_status infer_written(lattis_frame* f, const Value* a, Meta* m) {
  constexpr int read[] = {Read..., -1};
  for (int i = 0; read[i] >= 0; i++)
    if (const Tensor* t = tensor_arg(a[read[i]]))
      if (lattis_status st = check_apart(f, read[i], t, tensor_arg(a[0]))) return st;
  if (lattis_status st = Check(f, a)) return st;
  return infer_self(f, a, m);
}

// A number as a tensor of self's dtype, expanded to a shape.
Var expanded_number(Compose& c, const Value& number, const Tensor* self, int ndim, const int64_t* sizes) {
  Var x = c.op<"full">(Ints{}, number, As{self->dtype}, Absent{}, self->device());
  return c.op<"expand">(x, Ints(sizes, ndim));
}

lattis_status scatter_value_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* index = tensor_arg(a[2]);
  Var src = expanded_number(c, a[3], tensor_arg(a[0]), index->ndim(), index->sizes());
  return c.give(r, c.op<"scatter_.src">(a[0], a[1], a[2], src));
}

// ---- one index for a whole row ------------------------------------------------------------------------------------

lattis_status check_vector(lattis_frame* f, int arg, const Tensor* index) {
  if (index->ndim() <= 1) return check_integral(f, arg, index);
  return raise(LATTIS_INDEX_ERROR,
               where(f, arg) + ": expected a vector of indices, got shape " + core::shape_string(index));
}

lattis_status infer_index_select(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]);
  int dim;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), &dim)) return st;
  if (lattis_status st = check_vector(f, 2, index)) return st;
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  if (self->ndim() == 0 && index->numel != 1)
    return raise(LATTIS_INDEX_ERROR, where(f, 2) + ": a zero-dim tensor takes exactly one index");
  if (self->ndim()) m->sizes[dim] = index->numel;
  return LATTIS_OK;
}

// A vector of indices along `dim`, expanded to the other dimensions of a shape.
Var along(Compose& c, const Value& index, int64_t dim, int ndim, const int64_t* sizes) {
  Var i = c.arg(index);
  if (i.dtype() != LATTIS_INT64) i = c.op<"to.dtype">(i, As{LATTIS_INT64});
  if (ndim == 0) return c.op<"reshape">(i, Ints{});
  const int d = static_cast<int>(dim < 0 ? dim + ndim : dim);
  Ints ones, full(sizes, ndim);
  for (int k = 0; k < ndim; k++) ones.add(1);
  ones[d] = full[d] = i.numel();
  return c.op<"expand">(c.op<"reshape">(i, ones), full);
}

lattis_status index_select(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  return c.give(r, c.op<"gather">(a[0], a[1], along(c, a[2], a[1].as.i, self->ndim(), self->sizes())));
}

// index_add_, index_copy_: (self, dim, index, source)
lattis_status check_index_rows(lattis_frame* f, const Value* a) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]), *source = tensor_arg(a[3]);
  int dim;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), &dim)) return st;
  if (lattis_status st = check_vector(f, 2, index)) return st;
  if (lattis_status st = check_same_dtype(f, 3, source, self)) return st;
  bool fits = dims_of(source) == dims_of(self);
  for (int d = 0; d < dims_of(self) && fits; d++)
    fits = size_of(source, d) == (d == dim ? index->numel : size_of(self, d));
  if (!fits)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: shape %s, but 'self' has shape %s and there are %lld indices along dimension %d",
                        where(f, 3).c_str(), core::shape_string(source).c_str(), core::shape_string(self).c_str(),
                        (long long)index->numel, dim));
  return LATTIS_OK;
}

lattis_status index_add_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* source = tensor_arg(a[3]);
  Var scaled = c.arg(a[3]);
  if (core::as_double(a[4]) != 1) scaled = c.op<"to.dtype">(c.op<"mul.Scalar">(scaled, a[4]), As{source->dtype});
  return c.give(r,
                c.op<"scatter_add_">(a[0], a[1], along(c, a[2], a[1].as.i, source->ndim(), source->sizes()), scaled));
}

lattis_status index_copy_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* source = tensor_arg(a[3]);
  Var i = along(c, a[2], a[1].as.i, source->ndim(), source->sizes());
  return c.give(r, c.op<"scatter_.src">(a[0], a[1], i, a[3]));
}

lattis_status check_index_fill(lattis_frame* f, const Value* a) {
  int dim;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, tensor_arg(a[0])->ndim(), &dim)) return st;
  if (lattis_status st = check_vector(f, 2, tensor_arg(a[2]))) return st;
  if (a[3].tag == LATTIS_TENSOR && tensor_arg(a[3])->ndim() != 0)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 3) + ": expected a number or a zero-dim tensor, got shape " +
                                           core::shape_string(tensor_arg(a[3])));
  return LATTIS_OK;
}

lattis_status index_fill_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  Var i = along(c, a[2], a[1].as.i, self->ndim(), self->sizes());
  if (self->ndim()) {  // negative ones count from the end
    const int64_t n = self->sizes()[a[1].as.i < 0 ? a[1].as.i + self->ndim() : a[1].as.i];
    i = c.op<"where.self">(c.op<"lt.Scalar">(i, 0), i + n, i);
  }
  if (a[3].tag != LATTIS_TENSOR) return c.give(r, c.op<"scatter_.value">(a[0], a[1], i, a[3]));
  Var value = c.op<"to.dtype">(a[3], As{self->dtype});
  value = c.op<"expand">(value, Ints(i.tensor() ? i.tensor()->sizes() : nullptr, i.dim()));
  return c.give(r, c.op<"scatter_.src">(a[0], a[1], i, value));
}

lattis_status infer_take(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  fresh(m, index->ndim(), index->sizes(), self->dtype);
  if (self->numel == 0 && index->numel)
    return raise(LATTIS_INDEX_ERROR, where(f, 0) + ": nothing can be taken from an empty tensor");
  return check_integral(f, 1, index);
}

Var wrapped(Compose& c, const Var& index, int64_t n) {
  return c.op<"where.self">(c.op<"lt.Scalar">(index, 0), index + n, index);
}

lattis_status take(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  Var i = c.op<"reshape">(c.op<"to.dtype">(a[1], As{LATTIS_INT64}), Ints{index->numel});
  Var flat = c.op<"reshape">(a[0], Ints{self->numel});
  return c.give(
      r, c.op<"reshape">(c.op<"gather">(flat, 0, wrapped(c, i, self->numel)), Ints(index->sizes(), index->ndim())));
}

lattis_status take_along_dim(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]), i = c.arg(a[1]);
  int dim = 0;
  if (lattis_status st = check_integral(f, 1, tensor_arg(a[1]))) return st;
  if (!given(a[2])) {
    x = c.op<"reshape">(x, Ints{x.numel()});
    i = c.op<"reshape">(i, Ints{i.numel()});
  } else if (lattis_status st = wrap_dim(f, 2, a[2].as.i, x.dim(), &dim)) {
    return st;
  }
  if (c.status()) return c.status();
  if (x.dim() != i.dim())
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %d dimensions, but 'self' has %d", where(f, 1).c_str(), i.dim(), x.dim()));
  Ints xs, is;
  for (int d = 0; d < x.dim(); d++) {
    const int64_t n = x.size(d), k = i.size(d);
    if (d != dim && n != k && n != 1 && k != 1)
      return raise(LATTIS_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(x.tensor()) +
                                             " ('self') and " + core::shape_string(i.tensor()) +
                                             " ('indices') do not broadcast");
    xs.add(d == dim || n != 1 ? n : k);
    is.add(d == dim || k != 1 ? k : n);
  }
  i = c.op<"expand">(c.op<"to.dtype">(i, As{LATTIS_INT64}), is);
  return c.give(r, c.op<"gather">(c.op<"expand">(x, xs), dim, i));
}

// ---- masks
// -----------------------------------------------------------------------------------------------------------

// The mask broadcasts with self and is bool; into: their common shape.
lattis_status check_mask(lattis_frame* f, const Value* a, bool to_self, Ints* into) {
  const Tensor *self = tensor_arg(a[0]), *mask = tensor_arg(a[1]);
  if (mask->dtype != LATTIS_BOOL)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 1) + ": expected a bool mask, got dtype " + core::dtype_info(mask->dtype).name);
  *into = Ints(self->sizes(), self->ndim());
  if (!broadcast(&into->count, into->data, mask->ndim(), mask->sizes()) ||
      (to_self && !std::equal(into->data, into->data + into->count, self->sizes(), self->sizes() + self->ndim())))
    return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": shape " + core::shape_string(mask) + " does not broadcast " +
                                           (to_self ? "to " : "with ") + core::shape_string(self) + " ('self')");
  return LATTIS_OK;
}

lattis_status check_masked_fill(lattis_frame* f, const Value* a, bool to_self) {
  Ints shape;
  if (lattis_status st = check_mask(f, a, to_self, &shape)) return st;
  const bool number = a[2].tag != LATTIS_TENSOR;
  DType v = number ? core::number_dtype(a[2]) : tensor_arg(a[2])->dtype, self = tensor_arg(a[0])->dtype;
  if (!number && tensor_arg(a[2])->ndim() != 0)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 2) + ": expected a number or a zero-dim tensor, got shape " +
                                           core::shape_string(tensor_arg(a[2])));
  if (!core::can_cast(v, self))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: dtype %s does not fit dtype %s", where(f, 2).c_str(),
                                              core::dtype_info(v).name, core::dtype_info(self).name));
  return LATTIS_OK;
}

lattis_status masked_fill(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_masked_fill(f, a, false)) return st;
  Compose c(f);
  return c.give(
      r, a[2].tag == LATTIS_TENSOR ? c.op<"where.self">(a[1], a[2], a[0]) : c.op<"where.ScalarSelf">(a[1], a[2], a[0]));
}

lattis_status infer_masked_fill_inplace(lattis_frame* f, const Value* a, Meta* m) {
  if (lattis_status st = check_masked_fill(f, a, true)) return st;
  return infer_self(f, a, m);
}

// One pass: where() into self.
lattis_status masked_fill_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var mask = c.arg(a[1]);
  if (mask.tensor()->storage == tensor_arg(a[0])->storage) mask = c.op<"clone">(mask);
  return c.give(r, a[2].tag == LATTIS_TENSOR ? c.op<"where.self_out">(mask, a[2], a[0], a[0])
                                             : c.op<"where.ScalarSelf_out">(mask, a[2], a[0], a[0]));
}

Var index_by(Compose& c, const Var& self, const Var& mask) { return c.op<"index.Tensor">(self, c.list({mask})); }

lattis_status masked_select(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Ints shape;
  if (lattis_status st = check_mask(f, a, false, &shape)) return st;
  auto fitted = [&](const Value& v) {
    Var x = c.arg(v);
    const bool fits = x.dim() == shape.count && std::equal(shape.data, shape.data + shape.count, x.tensor()->sizes());
    return fits ? x : c.op<"expand">(x, shape);
  };
  Var self = fitted(a[0]), mask = fitted(a[1]);
  if (shape.count == 0) {
    self = c.op<"reshape">(self, Ints{1});
    mask = c.op<"reshape">(mask, Ints{1});
  }
  return c.give(r, index_by(c, self, mask));
}

lattis_status check_masked_scatter(lattis_frame* f, const Value* a) {
  Ints shape;
  if (lattis_status st = check_mask(f, a, true, &shape)) return st;
  return check_same_dtype(f, 2, tensor_arg(a[2]), tensor_arg(a[0]));
}

lattis_status masked_scatter(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *self = tensor_arg(a[0]), *source = tensor_arg(a[2]);
  Var mask = c.op<"reshape">(c.op<"expand">(a[1], Ints(self->sizes(), self->ndim())), Ints{self->numel});
  Var at = c.op<"select.int">(c.op<"nonzero">(mask), 1, 0);
  if (c.status()) return c.status();
  if (at.numel() > source->numel)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: %lld elements for %lld places of the mask", where(f, 2).c_str(),
                                              (long long)source->numel, (long long)at.numel()));
  Var values = c.op<"slice.Tensor">(c.op<"reshape">(a[2], Ints{source->numel}), 0, 0, at.numel());
  Var copy = c.op<"clone">(a[0], lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT});
  c.op<"scatter_.src">(c.op<"view">(copy, Ints{self->numel}), 0, at, values);
  return c.give(r, copy);
}

lattis_status infer_nonzero(lattis_frame*, const Value*, Meta* m) {
  m->kind = LATTIS_META_DYNAMIC;
  return LATTIS_OK;
}

lattis_status argwhere(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"nonzero">(a[0]));
}

// One vector of indices for each dimension; a zero-dim tensor counts as one of one.
lattis_status nonzero_by_dimension(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dim() == 0) x = c.op<"reshape">(x, Ints{1});
  return c.give(r, c.op<"unbind.int">(c.op<"nonzero">(x), 1));
}

lattis_status nonzero_as_tuple(lattis_frame* f, const Value* a, Value* r) {
  return a[1].as.i ? nonzero_by_dimension(f, a, r) : argwhere(f, a, r);
}

// ---- index and index_put_
// ----------------------------------------------------------------------------------------------

// What a list of index tensors means for a shape.
struct Plan {
  int items = 0;   // of the list, without trailing absent ones
  int used = 0;    // dimensions of self that they use
  int first = -1;  // where the result's dimensions stand among those that are kept
  bool adjacent = true, masks = false;
  Ints shape;  // of the integer index tensors, broadcast
};

std::string position(lattis_frame* f, int i) { return format("%s: position %d", where(f, 1).c_str(), i); }

lattis_status check_index_mask(lattis_frame* f, const Tensor* self, const Tensor* mask, int i, int at) {
  if (at + mask->ndim() > self->ndim()) return LATTIS_OK;  // counted by the caller
  for (int d = 0; d < mask->ndim(); d++)
    if (mask->sizes()[d] != self->sizes()[at + d])
      return raise(LATTIS_INDEX_ERROR,
                   format("%s: a mask of shape %s does not cover shape %s from dimension %d on", position(f, i).c_str(),
                          core::shape_string(mask).c_str(), core::shape_string(self).c_str(), at));
  return LATTIS_OK;
}

lattis_status read_plan(lattis_frame* f, const Value* a, Plan* p) {
  const Tensor* self = tensor_arg(a[0]);
  int last = -1;
  for (int i = 0; i < static_cast<int>(a[1].length); i++) {
    const auto* t = a[1].as.tensors[i] ? core::full(a[1].as.tensors[i]) : nullptr;
    if (!t) {
      p->used++;
      continue;
    }
    const bool mask = t->dtype == LATTIS_BOOL;
    if (!mask && !integral(t))
      return raise(LATTIS_INDEX_ERROR, format("%s: expected integers or a bool mask, got dtype %s",
                                              position(f, i).c_str(), core::dtype_info(t->dtype).name));
    if (mask)
      if (lattis_status st = check_index_mask(f, self, t, i, p->used)) return st;
    if (p->first < 0) p->first = p->used;
    p->adjacent = p->adjacent && (last < 0 || last == i - 1);
    last = i;
    p->used += mask ? t->ndim() : 1;
    p->items = i + 1;
    p->masks |= mask;
    if (!mask && !broadcast(&p->shape.count, p->shape.data, t->ndim(), t->sizes()))
      return raise(
          LATTIS_INDEX_ERROR,
          format("%s: shape %s does not broadcast with that of the index tensors before, %s", position(f, i).c_str(),
                 core::shape_string(t).c_str(), core::shape_string(p->shape.count, p->shape.data).c_str()));
  }
  if (p->used > self->ndim())
    return raise(LATTIS_INDEX_ERROR, format("%s: %d dimensions are indexed, but 'self' has %d", where(f, 1).c_str(),
                                            p->used, self->ndim()));
  return LATTIS_OK;
}

// The result's shape, where no mask is among the indices.
Ints indexed_shape(const Value* a, const Plan& p) {
  const Tensor* self = tensor_arg(a[0]);
  Ints sizes;
  const int lead = p.adjacent && p.first >= 0 ? p.first : 0;
  for (int d = 0; d < lead; d++) sizes.add(self->sizes()[d]);
  for (int d = 0; d < p.shape.count; d++) sizes.add(p.shape[d]);
  for (int d = lead; d < self->ndim(); d++)
    if (d >= static_cast<int>(a[1].length) || !a[1].as.tensors[d]) sizes.add(self->sizes()[d]);
  return sizes;
}

lattis_status infer_index(lattis_frame* f, const Value* a, Meta* m) {
  Plan p;
  if (lattis_status st = read_plan(f, a, &p)) return st;
  if (p.masks) {
    m->kind = LATTIS_META_DYNAMIC;
    return LATTIS_OK;
  }
  const Ints sizes = indexed_shape(a, p);
  fresh(m, sizes.count, sizes.data, tensor_arg(a[0])->dtype);
  return core::check_sizes("index", sizes.count, sizes.data, core::itemsize(m->dtype), nullptr);
}

lattis_status check_index_put(lattis_frame* f, const Value* a) {
  Plan p;
  const Tensor *self = tensor_arg(a[0]), *values = tensor_arg(a[2]);
  if (lattis_status st = read_plan(f, a, &p)) return st;
  if (lattis_status st = check_same_dtype(f, 2, values, self)) return st;
  if (!p.masks) {
    Ints sizes = indexed_shape(a, p), both = sizes;
    if (!broadcast(&both.count, both.data, values->ndim(), values->sizes()) || both.count != sizes.count ||
        !std::equal(both.data, both.data + both.count, sizes.data))
      return raise(LATTIS_RUNTIME_ERROR, where(f, 2) + ": shape " + core::shape_string(values) +
                                             " does not broadcast to the indexed shape " +
                                             core::shape_string(sizes.count, sizes.data));
  }
  return LATTIS_OK;
}

// Indexing as gather or scatter_ along one dimension: the indexed dimensions moved to the front and made one.
struct Flat {
  Var self;   // permuted: the indexed dimensions, then the kept ones
  Var index;  // one place for each element of the index shape, as a vector
  Ints shape, kept,
      home;  // of the indices; of the kept dimensions; the permutation of (shape..., kept...) to the result
  int64_t places = 1, rest = 1;
};

Flat flatten_index(Compose& c, const Value* a) {
  Flat flat{c.arg(a[0]), c.nothing(), {}, {}, {}};
  std::vector<Var> indices;
  std::vector<bool> indexed;
  int first = -1;
  bool adjacent = true, ended = false;
  auto use = [&](Var index) {
    indices.push_back(std::move(index));
    indexed.push_back(true);
    if (first < 0) first = static_cast<int>(indexed.size()) - 1;
    adjacent = adjacent && !ended;
  };
  for (uint32_t i = 0; i < a[1].length; i++) {
    if (!a[1].as.tensors[i]) {
      indexed.push_back(false);
      ended = first >= 0;
      continue;
    }
    Var t = c.arg(core::tensor_value(a[1].as.tensors[i]));
    if (t.dtype() != LATTIS_BOOL) {
      use(t.dtype() == LATTIS_INT64 ? t : c.op<"to.dtype">(t, As{LATTIS_INT64}));
    } else if (t.dim() == 0) {  // a dimension of size one, there or not
      flat.self = c.op<"unsqueeze">(flat.self, static_cast<int>(indexed.size()));
      use(c.op<"select.int">(c.op<"nonzero">(c.op<"reshape">(t, Ints{1})), 1, 0));
    } else {
      Var all = c.op<"nonzero">(t);
      for (int d = 0; d < t.dim(); d++) use(c.op<"select.int">(all, 1, d));
    }
  }
  if (c.status()) return flat;
  const int ndim = flat.self.dim();
  indexed.resize(ndim, false);
  for (const Var& t : indices)
    if (!broadcast(&flat.shape.count, flat.shape.data, t.dim(), t.tensor()->sizes())) {
      c.fail(LATTIS_INDEX_ERROR, where(c.frame(), 1) + ": the shapes of masks and index tensors do not broadcast");
      return flat;
    }
  Ints order;
  for (int d = 0; d < ndim; d++)
    if (indexed[d]) order.add(d);
  for (int d = 0; d < ndim; d++)
    if (!indexed[d]) {
      order.add(d);
      flat.kept.add(flat.self.size(d));
      flat.rest *= flat.self.size(d);
    }
  // Places: the row-major position among the indexed dimensions, -1 where an index is out of range.
  std::vector<Var> bad;
  size_t k = 0;
  for (int d = 0; d < ndim; d++) {
    if (!indexed[d]) continue;
    const int64_t n = flat.self.size(d);
    Var i = wrapped(c, indices[k++], n);
    if (indices.size() > 1) {
      bad.push_back(c.op<"lt.Scalar">(i, 0));
      bad.push_back(c.op<"ge.Scalar">(i, n));
    }
    flat.index = flat.index.present() ? flat.index * n + i : i;
    flat.places *= n;
  }
  for (const Var& b : bad) flat.index = c.op<"where.ScalarSelf">(b, -1, flat.index);
  flat.index = c.op<"expand">(flat.index, flat.shape);
  flat.self = c.op<"permute">(flat.self, order);
  const int lead = adjacent ? first : 0, width = flat.shape.count;
  for (int d = 0; d < lead; d++) flat.home.add(width + d);
  for (int d = 0; d < width; d++) flat.home.add(d);
  for (int d = lead; d < flat.kept.count; d++) flat.home.add(width + d);
  return flat;
}

int64_t product(const Ints& sizes) {
  int64_t n = 1;
  for (int i = 0; i < sizes.count; i++) n *= sizes[i];
  return n;
}

Ints joined(Ints first, const Ints& second) {
  for (int i = 0; i < second.count; i++) first.add(second[i]);
  return first;
}

Var rows(Compose& c, const Flat& flat) {
  const int64_t n = product(flat.shape);
  return c.op<"expand">(c.op<"reshape">(flat.index, Ints{n, 1}), Ints{n, flat.rest});
}

bool nothing_indexed(const Value& list) {
  for (uint32_t i = 0; i < list.length; i++)
    if (list.as.tensors[i]) return false;
  return true;
}

lattis_status index(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (nothing_indexed(a[1])) return c.give(r, c.op<"clone">(a[0]));
  Flat flat = flatten_index(c, a);
  Var from = c.op<"reshape">(flat.self, Ints{flat.places, flat.rest});
  Var got = c.op<"reshape">(c.op<"gather">(from, 0, rows(c, flat)), joined(flat.shape, flat.kept));
  bool moved = false;
  for (int d = 0; d < flat.home.count; d++) moved |= flat.home[d] != d;
  return c.give(r, moved ? c.op<"contiguous">(c.op<"permute">(got, flat.home)) : got);
}

lattis_status index_put_inplace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  Var values = c.arg(a[2]);
  if (values.tensor()->storage == self->storage) values = c.op<"clone">(values);
  if (nothing_indexed(a[1]))
    return c.give(r, a[3].as.i ? c.op<"add_.Tensor">(a[0], values) : c.op<"copy_">(a[0], values));
  Flat flat = flatten_index(c, a);
  const Ints shape = joined(flat.shape, flat.kept);
  Ints result, back;  // the result's shape, and the permutation from it to `shape`
  for (int d = 0; d < flat.home.count; d++) {
    result.add(shape[static_cast<int>(flat.home[d])]);
    back.add(0);
  }
  for (int d = 0; d < flat.home.count; d++) back[static_cast<int>(flat.home[d])] = d;
  values = c.op<"permute">(c.op<"expand">(values, result), back);
  values = c.op<"reshape">(values, Ints{product(flat.shape), flat.rest});
  Var into = c.op<"reshape">(flat.self, Ints{flat.places, flat.rest});
  Var at = rows(c, flat);
  if (c.status()) return c.status();
  if (at.tensor()->storage == into.tensor()->storage) at = c.op<"clone">(at);
  if (a[3].as.i)
    c.op<"scatter_add_">(into, 0, at, values);
  else
    c.op<"scatter_.src">(into, 0, at, values);
  if (!c.status() && into.tensor()->storage != self->storage)  // reshape had to copy
    c.op<"copy_">(flat.self, c.op<"reshape">(into, Ints(flat.self.tensor()->sizes(), flat.self.dim())));
  return c.give(r, c.arg(a[0]));
}

// ---- tables
// ------------------------------------------------------------------------------------------------------------

lattis_status infer_embedding(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor *weight = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  if (weight->ndim() != 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected a matrix, one row for each index, got shape " + core::shape_string(weight));
  if (lattis_status st = check_integral(f, 1, index)) return st;
  if (index->ndim() == LATTIS_MAX_DIMS) return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": too many dimensions");
  int64_t sizes[LATTIS_MAX_DIMS];
  std::copy(index->sizes(), index->sizes() + index->ndim(), sizes);
  sizes[index->ndim()] = weight->sizes()[1];
  fresh(m, index->ndim() + 1, sizes, weight->dtype);
  return LATTIS_OK;
}

lattis_status embedding(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *weight = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  Ints shape(index->sizes(), index->ndim());
  shape.add(weight->sizes()[1]);
  Var flat = c.op<"reshape">(a[1], Ints{index->numel});
  return c.give(r, c.op<"reshape">(c.op<"index_select">(a[0], 0, flat), shape));
}

lattis_status one_hot(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  if (lattis_status st = check_int64(f, 0, self)) return st;
  int64_t classes = a[1].as.i;
  if (classes == -1) {  // only the data tells
    if (self->numel == 0)
      return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": the number of classes cannot be told from no index");
    Var most = c.op<"item">(c.op<"amax">(a[0], Ints{}, false));
    if (c.status()) return c.status();
    classes = most.value().as.i + 1;
  }
  if (classes < 1 && !(classes == 0 && self->numel == 0))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected a positive number of classes, or -1 to take the largest "
                                              "index plus one; got %lld",
                                              where(f, 1).c_str(), (long long)a[1].as.i));
  Ints sizes(self->sizes(), self->ndim());
  sizes.add(classes);
  Var out = c.op<"zeros">(sizes, As{LATTIS_INT64}, Absent{}, self->device());
  c.op<"scatter_.value">(out, -1, c.op<"unsqueeze">(a[0], -1), 1);
  return c.give(r, out);
}

}  // namespace

const std::vector<Declaration>& indexing_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", "indexing", everywhere | out,
       infer_gather, nullptr,
       "Elements of `self` by an index for each, along one dimension: out[i][j] = self[index[i][j]][j] for `dim` 0.\n\n"
       "Args:\n    index: int64, with as many dimensions as `self`\n\nRaises:\n    IndexError: an index is negative or "
       "too large\n\n>>> lattis.gather(lattis.tensor([[1, 2], [3, 4]]), 1, lattis.tensor([[0, 0], [1, 0]]))\n"
       "tensor([[1, 1],\n        [4, 3]])\n"},
      {"scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_.src">,
       "`self` with elements of `src`, or one number, at an index for each, along one dimension: out[index[i][j]][j] = "
       "src[i][j] for `dim` 0. Of several elements for one place the last in row-major order stays.\n\nRaises:\n    "
       "IndexError: an index is negative or too large\n\n>>> lattis.scatter(lattis.zeros(3), 0, lattis.tensor([2, 0]), "
       "lattis.tensor([1., 2.]))\ntensor([2., 0., 1.])\n"},
      {"scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_.value">, nullptr},
      {"scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, nullptr,
       "scatter() in place.\n\n>>> lattis.zeros(3).scatter_(0, lattis.tensor([2]), 5.)\ntensor([0., 0., 5.])\n"},
      {"scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, scatter_value_inplace, nullptr},
      {"scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_add_">,
       "`self` plus elements of `src` at an index for each, along one dimension, added in row-major order.\n\n>>> "
       "lattis.scatter_add(lattis.zeros(2), 0, lattis.tensor([1, 1]), lattis.tensor([1., 2.]))\ntensor([0., 3.])\n"},
      {"scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, nullptr,
       "scatter_add() in place.\n\n>>> lattis.ones(2).scatter_add_(0, lattis.tensor([0]), lattis.tensor([2.]))\n"
       "tensor([3., 1.])\n"},
      {"index_select(Tensor self, int dim, Tensor index) -> Tensor", "indexing", everywhere | out, infer_index_select,
       index_select,
       "The slices of `self` along one dimension that a vector of indices names.\n\nRaises:\n    IndexError: an index "
       "is "
       "negative or too large\n\n>>> lattis.index_select(lattis.tensor([[1, 2], [3, 4]]), 1, lattis.tensor([1]))\n"
       "tensor([[2],\n        [4]])\n"},
      {"index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", "scatter",
       everywhere, infer_copied<check_index_rows>, cloned<"index_add_">,
       "`self` plus `alpha` times the slices of `source`, each at its index along one dimension.\n\n>>> "
       "lattis.index_add(lattis.zeros(2), 0, lattis.tensor([1, 1]), lattis.tensor([1., 2.]))\ntensor([0., 3.])\n"},
      {"index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)", "scatter",
       method, infer_written<check_index_rows, 2, 3>, index_add_inplace,
       "index_add() in place.\n\n>>> lattis.zeros(2).index_add_(0, lattis.tensor([0]), lattis.tensor([1.]))\n"
       "tensor([1., 0.])\n"},
      {"index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_rows>, cloned<"index_copy_">,
       "`self` with the slices of `source`, each at its index along one dimension.\n\n>>> "
       "lattis.index_copy(lattis.zeros(2), 0, lattis.tensor([1]), lattis.tensor([5.]))\ntensor([0., 5.])\n"},
      {"index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_rows, 2, 3>, index_copy_inplace,
       "index_copy() in place.\n\n>>> lattis.zeros(2).index_copy_(0, lattis.tensor([0]), lattis.tensor([1.]))\n"
       "tensor([1., 0.])\n"},
      {"index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_fill>, cloned<"index_fill_.int_Scalar">,
       "`self` with one number in the slices that a vector of indices names.\n\n>>> lattis.index_fill(lattis.zeros(3), "
       "0, lattis.tensor([0, 2]), 7.)\ntensor([7., 0., 7.])\n"},
      {"index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", "scatter", everywhere,
       infer_copied<check_index_fill>, cloned<"index_fill_.int_Tensor">, nullptr},
      {"index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_fill, 2>, index_fill_inplace,
       "index_fill() in place.\n\n>>> lattis.zeros(2).index_fill_(0, lattis.tensor([1]), 3)\ntensor([0., 3.])\n"},
      {"index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)", "scatter", method,
       infer_written<check_index_fill, 2>, index_fill_inplace, nullptr},
      {"take(Tensor self, Tensor index) -> Tensor", "indexing", everywhere | out, infer_take, take,
       "Elements of `self`, seen as one row, by their indices; negative ones count from the end.\n\n>>> "
       "lattis.take(lattis.tensor([[1, 2], [3, 4]]), lattis.tensor([0, -1]))\ntensor([1, 4])\n"},
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", "indexing", everywhere | out, nullptr,
       take_along_dim,
       "gather() where `self` and `indices` broadcast in the other dimensions; without `dim`, of both as one row.\n\n"
       ">>> x = lattis.tensor([[30, 10, 20]])\n>>> lattis.take_along_dim(x, lattis.tensor([[1, 2, 0]]), 1)\n"
       "tensor([[10, 20, 30]])\n"},
      {"index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "indexing", hidden | function, infer_index, index,
       "self[indices]: index tensors of integers, which broadcast, and bool masks; an absent one takes all of its "
       "dimension. What they give stands where they stood, or first if they were apart.\n\n>>> "
       "lattis.tensor([[1, 2], [3, 4]])[lattis.tensor([1, 0]), lattis.tensor([0, 0])]\ntensor([3, 1])\n"},
      {"index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)", "scatter",
       method, infer_written<check_index_put>, index_put_inplace,
       "index_put() in place: self[indices] = values.\n\n>>> lattis.zeros(3).index_put_([lattis.tensor([2, 0])], "
       "lattis.tensor(1.))\ntensor([1., 0., 1.])\n"},
      {"index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", "scatter",
       everywhere, infer_copied<check_index_put>, cloned<"index_put_">,
       "`self` with `values`, which broadcast, at the places that index tensors and masks name. Of several values for "
       "one place the last in row-major order stays, or, with `accumulate`, all are added.\n\n>>> "
       "lattis.index_put(lattis.zeros(2), [lattis.tensor([1, 1])], lattis.tensor([1., 2.]), accumulate=True)\n"
       "tensor([0., 3.])\n"},
      {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", "indexing", everywhere, nullptr,
       masked_fill,
       "`self` with `value` where the bool mask holds.\n\n>>> lattis.masked_fill(lattis.tensor([1, 2]), "
       "lattis.tensor([True, False]), 0)\ntensor([0, 2])\n"},
      {"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", "indexing", everywhere, nullptr,
       masked_fill, nullptr},
      {"masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)", "indexing", method,
       infer_masked_fill_inplace, masked_fill_inplace,
       "masked_fill() in place.\n\n>>> lattis.tensor([1, 2]).masked_fill_(lattis.tensor([True, False]), 0)\n"
       "tensor([0, 2])\n"},
      {"masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)", "indexing", method,
       infer_masked_fill_inplace, masked_fill_inplace, nullptr},
      {"masked_select(Tensor self, Tensor mask) -> Tensor", "indexing", everywhere | out, nullptr, masked_select,
       "The elements where the bool mask holds, as one row; both broadcast.\n\n>>> "
       "lattis.masked_select(lattis.tensor([1, 2, 3]), lattis.tensor([True, False, True]))\ntensor([1, 3])\n"},
      {"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", "scatter", everywhere | inplace,
       infer_copied<check_masked_scatter>, masked_scatter,
       "`self` with the first elements of `source`, in row-major order, where the bool mask holds.\n\n>>> "
       "lattis.masked_scatter(lattis.zeros(3), lattis.tensor([True, False, True]), lattis.tensor([1., 2.]))\n"
       "tensor([1., 0., 2.])\n"},
      {"nonzero(Tensor self) -> Tensor", "indexing", everywhere, infer_nonzero, nullptr,
       "The indices of the elements that are not zero, one row for each, in row-major order; with `as_tuple` one "
       "vector for each dimension.\n\n>>> lattis.nonzero(lattis.tensor([[0, 1], [2, 0]]))\ntensor([[0, 1],\n        "
       "[1, 0]])\n"},
      {"nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor[]", "indexing", everywhere, nullptr, nonzero_as_tuple,
       nullptr},
      {"argwhere(Tensor self) -> Tensor", "indexing", everywhere, nullptr, argwhere,
       "nonzero() by numpy's name.\n\n>>> lattis.argwhere(lattis.tensor([0, 3]))\ntensor([[1]])\n"},
      {"where(Tensor condition) -> Tensor[]", "indexing", function, nullptr, nonzero_by_dimension, nullptr},
      {"embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
       "sparse=False) -> Tensor",
       "indexing", function, infer_embedding, embedding,
       "The rows of a table that indices name.\n\n>>> lattis.embedding(lattis.tensor([[1., 2.], [3., 4.]]), "
       "lattis.tensor([1]))\ntensor([[3., 4.]])\n"},
      {"one_hot(Tensor self, int num_classes=-1) -> Tensor", "indexing", hidden | function, nullptr, one_hot,
       "One row for each index, with a one at that index; the largest index plus one tells the classes if they are "
       "not given.\n\n>>> lattis.ops.aten.one_hot(lattis.tensor([1, 0]), 3)\ntensor([[0, 1, 0],\n        [1, 0, "
       "0]])\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
