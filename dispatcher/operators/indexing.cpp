// self[indices] for index tensors and masks, read and written. Integers, slices and None are views, which the binding
// asks for one by one. All of it comes down to gather, scatter_, scatter_add_ and nonzero.
#include "dispatcher/operators/indexing.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {

lamella_status check_int64(lamella_frame* f, int arg, const Tensor* index) {
  if (index->dtype == LAMELLA_INT64) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": expected dtype int64, got " +
                                          core::dtype_info(index->dtype).name + "; convert it with .to(lamella.int64)");
}

lamella_status check_integral(lamella_frame* f, int arg, const Tensor* index) {
  if (integral(index)) return LAMELLA_OK;
  return raise(LAMELLA_INDEX_ERROR,
               where(f, arg) + ": expected integers, got dtype " + core::dtype_info(index->dtype).name);
}

lamella_status check_same_dtype(lamella_frame* f, int arg, const Tensor* t, const Tensor* self) {
  if (t->dtype == self->dtype) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: dtype %s, but 'self' has dtype %s; convert one", where(f, arg).c_str(),
                      core::dtype_info(t->dtype).name, core::dtype_info(self->dtype).name));
}

lamella_status check_filling(lamella_frame* f, int arg, const Value& value, DType dtype) {
  const Tensor* t = tensor_arg(value);
  if (!t) return check_number(f, arg, value, dtype);
  if (t->ndim() != 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, arg) + ": expected a number or a zero-dim tensor, got shape " + core::shape_string(t));
  if (core::dtype_class(t->dtype) != LAMELLA_CLASS_COMPLEX || core::dtype_class(dtype) == LAMELLA_CLASS_COMPLEX)
    return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: dtype %s does not fit dtype %s", where(f, arg).c_str(),
                                             core::dtype_info(t->dtype).name, core::dtype_info(dtype).name));
}

lamella_status check_apart(lamella_frame* f, int arg, const Tensor* t, const Tensor* self) {
  if (t->storage != self->storage || t->numel == 0) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": it shares memory with 'self', which is written; clone() it");
}

Var wrapped(Compose& c, const Var& index, int64_t n) {
  return c.op<"where.self">(c.op<"lt.Scalar">(index, 0), index + n, index);
}

namespace {

// What a list of index tensors means for a shape.
struct Plan {
  int items = 0;   // of the list, without trailing absent ones
  int used = 0;    // dimensions of self that they use
  int first = -1;  // where the result's dimensions stand among those that are kept
  bool adjacent = true, masks = false;
  Ints shape;  // of the integer index tensors, broadcast
};

std::string position(lamella_frame* f, int i) { return format("%s: position %d", where(f, 1).c_str(), i); }

lamella_status check_index_mask(lamella_frame* f, const Tensor* self, const Tensor* mask, int i, int at) {
  if (at + mask->ndim() > self->ndim()) return LAMELLA_OK;  // counted by the caller
  for (int d = 0; d < mask->ndim(); d++)
    if (mask->sizes()[d] != self->sizes()[at + d])
      return raise(LAMELLA_INDEX_ERROR,
                   format("%s: a mask of shape %s does not cover shape %s from dimension %d on", position(f, i).c_str(),
                          core::shape_string(mask).c_str(), core::shape_string(self).c_str(), at));
  return LAMELLA_OK;
}

lamella_status read_plan(lamella_frame* f, const Value* a, Plan* p) {
  const Tensor* self = tensor_arg(a[0]);
  if (a[1].length > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_INDEX_ERROR, format("%s: %u index tensors, at most %d are supported", where(f, 1).c_str(),
                                             a[1].length, LAMELLA_MAX_DIMS));
  int last = -1;
  for (int i = 0; i < static_cast<int>(a[1].length); i++) {
    const auto* t = a[1].as.tensors[i] ? core::full(a[1].as.tensors[i]) : nullptr;
    if (!t) {
      p->used++;
      continue;
    }
    const bool mask = t->dtype == LAMELLA_BOOL;
    if (!mask && !integral(t))
      return raise(LAMELLA_INDEX_ERROR, format("%s: expected integers or a bool mask, got dtype %s",
                                               position(f, i).c_str(), core::dtype_info(t->dtype).name));
    if (mask)
      if (lamella_status st = check_index_mask(f, self, t, i, p->used)) return st;
    if (p->first < 0) p->first = p->used;
    p->adjacent = p->adjacent && (last < 0 || last == i - 1);
    last = i;
    p->used += mask ? t->ndim() : 1;
    p->items = i + 1;
    p->masks |= mask;
    if (!mask && !broadcast(&p->shape.count, p->shape.data, t->ndim(), t->sizes()))
      return raise(
          LAMELLA_INDEX_ERROR,
          format("%s: shape %s does not broadcast with that of the index tensors before, %s", position(f, i).c_str(),
                 core::shape_string(t).c_str(), core::shape_string(p->shape.count, p->shape.data).c_str()));
  }
  if (p->used > self->ndim())
    return raise(LAMELLA_INDEX_ERROR, format("%s: %d dimensions are indexed, but 'self' has %d", where(f, 1).c_str(),
                                             p->used, self->ndim()));
  return LAMELLA_OK;
}

int absent(const Value& list) {
  int n = 0;
  for (uint32_t i = 0; i < list.length; i++) n += !list.as.tensors[i];
  return n;
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

lamella_status infer_index(lamella_frame* f, const Value* a, Meta* m) {
  Plan p;
  if (lamella_status st = read_plan(f, a, &p)) return st;
  if (p.masks) {
    m->kind = LAMELLA_META_DYNAMIC;
    return LAMELLA_OK;
  }
  const int kept = tensor_arg(a[0])->ndim() - (p.used - absent(a[1]));
  if (kept + p.shape.count > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_INDEX_ERROR, format("%s: the result would have %d dimensions, at most %d are supported",
                                             where(f, 1).c_str(), kept + p.shape.count, LAMELLA_MAX_DIMS));
  const Ints sizes = indexed_shape(a, p);
  fresh(m, sizes.count, sizes.data, tensor_arg(a[0])->dtype);
  return core::check_sizes("index", sizes.count, sizes.data, core::itemsize(m->dtype), nullptr);
}

lamella_status check_index_put(lamella_frame* f, const Value* a) {
  Plan p;
  const Tensor *self = tensor_arg(a[0]), *values = tensor_arg(a[2]);
  if (lamella_status st = read_plan(f, a, &p)) return st;
  if (lamella_status st = check_same_dtype(f, 2, values, self)) return st;
  if (!p.masks) {
    Ints sizes = indexed_shape(a, p), both = sizes;
    if (!broadcast(&both.count, both.data, values->ndim(), values->sizes()) || both.count != sizes.count ||
        !std::equal(both.data, both.data + both.count, sizes.data))
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": shape " + core::shape_string(values) +
                                              " does not broadcast to the indexed shape " +
                                              core::shape_string(sizes.count, sizes.data));
  }
  return LAMELLA_OK;
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
    if (t.dtype() != LAMELLA_BOOL) {
      use(t.dtype() == LAMELLA_INT64 ? t : c.op<"to.dtype">(t, As{LAMELLA_INT64}));
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
      c.fail(LAMELLA_INDEX_ERROR, where(c.frame(), 1) + ": the shapes of masks and index tensors do not broadcast");
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

bool nothing_indexed(const Value& list) { return absent(list) == static_cast<int>(list.length); }

lamella_status index(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (nothing_indexed(a[1])) return c.give(r, c.op<"clone">(a[0]));
  Flat flat = flatten_index(c, a);
  Var from = c.op<"reshape">(flat.self, Ints{flat.places, flat.rest});
  Var got = c.op<"reshape">(c.op<"gather">(from, 0, rows(c, flat)), joined(flat.shape, flat.kept));
  bool moved = false;
  for (int d = 0; d < flat.home.count; d++) moved |= flat.home[d] != d;
  return c.give(r, moved ? c.op<"contiguous">(c.op<"permute">(got, flat.home)) : got);
}

lamella_status index_put_inplace(lamella_frame* f, const Value* a, Value* r) {
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

}  // namespace

const std::vector<Declaration>& indexing_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "indexing", hidden | function, infer_index, index,
       "self[indices]: index tensors of integers, which broadcast, and bool masks; an absent one takes all of its "
       "dimension. What they give stands where they stood, or first if they were apart.\n\n>>> "
       "lamella.tensor([[1, 2], [3, 4]])[lamella.tensor([1, 0]), lamella.tensor([0, 0])]\ntensor([3, 1])\n"},
      {"index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)", "scatter",
       method, infer_written<check_index_put>, index_put_inplace,
       "index_put() in place: self[indices] = values.\n\n>>> lamella.zeros(3).index_put_([lamella.tensor([2, 0])], "
       "lamella.tensor(1.))\ntensor([1., 0., 1.])\n"},
      {"index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", "scatter",
       everywhere, infer_copied<check_index_put>, cloned<"index_put_">,
       "`self` with `values`, which broadcast, at the places that index tensors and masks name. Of several values for "
       "one place the last in row-major order stays, or, with `accumulate`, all are added.\n\n>>> "
       "lamella.index_put(lamella.zeros(2), [lamella.tensor([1, 1])], lamella.tensor([1., 2.]), accumulate=True)\n"
       "tensor([0., 3.])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
