// Joining and rearranging: cat, stack, repeat, roll, flip, triangles and diagonals.
#include "core/promotion.h"
#include <memory>

#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {
namespace {

// ---- joining -------------------------------------------------------------------------------------------------------

const Tensor* item(const Value& list, uint32_t i) { return core::full(list.as.tensors[i]); }

lattis_status common_dtype(lattis_frame* f, const Value& list, DType* out) {
  if (list.length == 0) return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": expected at least one tensor, got none");
  *out = item(list, 0)->dtype;
  bool same = true;
  for (uint32_t i = 1; i < list.length; i++) same &= item(list, i)->dtype == *out;
  if (same) return LATTIS_OK;
  core::ResultType type;
  for (uint32_t i = 0; i < list.length; i++)
    if (!type.add_dtype(item(list, i)->dtype, true))
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: dtypes %s and %s have no common dtype", where(f, 0).c_str(),
                          core::dtype_info(type.clash[0]).name, core::dtype_info(type.clash[1]).name));
  *out = type.get();
  return LATTIS_OK;
}

// An empty vector joins with anything, as it does in torch.
bool passed_over(const Tensor* t) { return t->ndim() == 1 && t->numel == 0; }

lattis_status infer_cat(lattis_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lattis_status st = common_dtype(f, a[0], &dtype)) return st;
  const Tensor* first = nullptr;
  for (uint32_t i = 0; i < a[0].length && !first; i++)
    if (!passed_over(item(a[0], i))) first = item(a[0], i);
  if (!first) first = item(a[0], 0);
  int d;
  if (first->ndim() == 0)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": zero-dim tensors cannot be joined; use stack()");
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, first->ndim(), &d)) return st;
  fresh(m, first->ndim(), first->sizes(), dtype);
  int64_t total = 0;
  for (uint32_t i = 0; i < a[0].length; i++) {
    const Tensor* t = item(a[0], i);
    if (passed_over(t)) continue;
    bool fits = t->ndim() == first->ndim();
    for (int k = 0; k < t->ndim() && fits; k++) fits = k == d || t->sizes()[k] == first->sizes()[k];
    if (!fits)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: shape %s at position %u does not join with %s along dimension %d", where(f, 0).c_str(),
                          core::shape_string(t).c_str(), i, core::shape_string(first).c_str(), d));
    if (__builtin_add_overflow(total, t->sizes()[d], &total))
      return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": the sizes add up to more than 63 bits can count");
  }
  m->sizes[d] = total;
  return core::check_sizes("cat", m->ndim, m->sizes, core::itemsize(dtype), nullptr);
}

lattis_status cat(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  auto m = std::make_unique<Meta>();
  if (lattis_status st = infer_cat(f, a, m.get())) return st;
  const int d = static_cast<int>(a[1].as.i < 0 ? a[1].as.i + m->ndim : a[1].as.i);
  Var out = c.op<"empty.memory_format">(Ints(m->sizes, m->ndim), As{m->dtype}, Absent{}, f->device);
  int64_t at = 0;
  for (uint32_t i = 0; i < a[0].length && !c.status(); i++) {
    const Tensor* t = item(a[0], i);
    if (passed_over(t)) continue;
    c.op<"copy_">(c.op<"narrow">(out, d, at, t->sizes()[d]), core::tensor_value(a[0].as.tensors[i]));
    at += t->sizes()[d];
  }
  return c.give(r, out);
}

lattis_status concat(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"cat">(a[0], a[1]));
}

lattis_status infer_stack(lattis_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lattis_status st = common_dtype(f, a[0], &dtype)) return st;
  const Tensor* first = item(a[0], 0);
  int d;
  if (first->ndim() == LATTIS_MAX_DIMS) return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": no room for a dimension");
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, first->ndim() + 1, &d)) return st;
  for (uint32_t i = 1; i < a[0].length; i++) {
    const Tensor* t = item(a[0], i);
    if (t->ndim() != first->ndim() || !std::equal(t->sizes(), t->sizes() + t->ndim(), first->sizes()))
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: shape %s at position %u differs from the first, %s", where(f, 0).c_str(),
                          core::shape_string(t).c_str(), i, core::shape_string(first).c_str()));
  }
  fresh(m, first->ndim(), first->sizes(), dtype);
  std::copy_backward(m->sizes + d, m->sizes + m->ndim, m->sizes + m->ndim + 1);
  m->sizes[d] = a[0].length;
  m->ndim++;
  return core::check_sizes("stack", m->ndim, m->sizes, core::itemsize(dtype), nullptr);
}

lattis_status stack(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  std::vector<Var> all;
  all.reserve(a[0].length);
  for (uint32_t i = 0; i < a[0].length; i++)
    all.push_back(c.op<"unsqueeze">(core::tensor_value(a[0].as.tensors[i]), a[1]));
  const int64_t n = item(a[0], 0)->ndim() + 1;
  return c.give(r, c.op<"cat">(c.list(all), a[1].as.i < 0 ? a[1].as.i + n : a[1].as.i));
}

// Each tensor with `least` dimensions, then cat; dim < 0: the second dimension, of vectors the only one.
template <class View>
lattis_status cat_views(lattis_frame* f, const Value& list, int least, View view, int dim, Value* r) {
  Compose c(f);
  bool enough = true;
  for (uint32_t i = 0; i < list.length; i++) enough = enough && item(list, i)->ndim() >= least;
  if (enough && list.length) return c.give(r, c.op<"cat">(list, dim < 0 ? item(list, 0)->ndim() > 1 : dim));
  std::vector<Var> all;
  all.reserve(list.length);
  for (uint32_t i = 0; i < list.length; i++) all.push_back(view(c, c.arg(core::tensor_value(list.as.tensors[i]))));
  if (dim < 0) dim = !all.empty() && all[0].dim() == 1 ? 0 : 1;
  return c.give(r, c.op<"cat">(c.list(all), dim));
}

lattis_status hstack(lattis_frame* f, const Value* a, Value* r) {
  return cat_views(
      f, a[0], 1, [](Compose& c, Var x) { return c.op<"atleast_1d">(x); }, -1, r);
}
lattis_status vstack(lattis_frame* f, const Value* a, Value* r) {
  return cat_views(
      f, a[0], 2, [](Compose& c, Var x) { return c.op<"atleast_2d">(x); }, 0, r);
}
lattis_status dstack(lattis_frame* f, const Value* a, Value* r) {
  return cat_views(
      f, a[0], 3, [](Compose& c, Var x) { return c.op<"atleast_3d">(x); }, 2, r);
}
lattis_status column_stack(lattis_frame* f, const Value* a, Value* r) {
  return cat_views(
      f, a[0], 2,
      [](Compose& c, Var x) {
        return x.dim() < 2 ? c.op<"reshape">(x, Ints{x.numel(), 1}) : x;
      },
      1, r);
}

// ---- repeating
// -------------------------------------------------------------------------------------------------------

// The sizes of self (t) repeated; counts: for its own dimensions, the last ones, and for new ones before them. Where
// there are fewer, the rest counts once.
lattis_status repeated_sizes(lattis_frame* f, const Tensor* t, const Value& counts, Meta* m) {
  const int given = static_cast<int>(counts.length), ndim = std::max(given, t->ndim());
  if (given > LATTIS_MAX_DIMS)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %d dimensions, at most %d are supported", where(f, 1).c_str(), given, LATTIS_MAX_DIMS));
  fresh(m, 0, nullptr, t->dtype);
  m->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    const int64_t n = d < ndim - t->ndim() ? 1 : t->sizes()[d - (ndim - t->ndim())];
    const int64_t k = d < ndim - given ? 1 : counts.as.ints[d - (ndim - given)];
    if (k < 0)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: expected no negative count, got %lld", where(f, 1).c_str(), (long long)k));
    if (__builtin_mul_overflow(n, k, &m->sizes[d]))
      return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": the repeated sizes overflow");
  }
  return check_sizes(f, 1, ndim, m->sizes, t->dtype);
}

lattis_status infer_repeat(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (static_cast<int>(a[1].length) < t->ndim())
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %u counts for %d dimensions", where(f, 1).c_str(), a[1].length, t->ndim()));
  return repeated_sizes(f, t, a[1], m);
}
lattis_status infer_tile(lattis_frame* f, const Value* a, Meta* m) {
  return repeated_sizes(f, tensor_arg(a[0]), a[1], m);
}

// self, counts
lattis_status repeat(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Ints ones, full, sizes, counts;
  for (int d = static_cast<int>(a[1].length); d < t->ndim(); d++) counts.add(1);
  for (uint32_t i = 0; i < a[1].length; i++) counts.add(a[1].as.ints[i]);
  const int lead = counts.count - t->ndim();
  for (int d = 0; d < counts.count; d++) {
    const int64_t n = d < lead ? 1 : t->sizes()[d - lead], k = counts[d], total = n * k;
    sizes.add(total);
    if (k != 1 && n != 1) {  // two dimensions, made one afterwards
      if (full.count + (counts.count - d) + 1 > LATTIS_MAX_DIMS)
        return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": too many dimensions are repeated");
      ones.add(1);
      full.add(k);
      ones.add(n);
      full.add(n);
    } else {
      ones.add(n);
      full.add(total);
    }
  }
  Var wide = c.op<"expand">(c.op<"reshape">(a[0], ones), full);
  return c.give(r, c.op<"view">(c.op<"clone">(wide, lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT}), sizes));
}

// self, repeats, dim, *, output_size
lattis_status repeat_interleave(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  int d = 0;
  if (a[1].as.i < 0)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: expected no negative count, got %lld", where(f, 1).c_str(), (long long)a[1].as.i));
  if (!given(a[2])) {
    x = c.op<"reshape">(x, Ints{x.numel()});
  } else if (lattis_status st = wrap_dim(f, 2, a[2].as.i, x.dim(), &d)) {
    return st;
  } else if (x.dim() == 0) {
    x = c.op<"reshape">(x, Ints{1});
  }
  if (c.status()) return c.status();
  Ints full, sizes;
  for (int k = 0; k < x.dim(); k++) {
    full.add(x.size(k));
    sizes.add(k == d ? x.size(k) * a[1].as.i : x.size(k));
    if (k == d) full.add(a[1].as.i);
  }
  Var wide = c.op<"expand">(c.op<"unsqueeze">(x, d + 1), full);
  return c.give(r, c.op<"view">(c.op<"clone">(wide, lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT}), sizes));
}

// Position i as often as repeats[i] says: ones where the next position starts, summed up.
lattis_status repeat_interleave_counts(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() != 1 || core::dtype_class(t->dtype) != LATTIS_CLASS_INTEGRAL)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": expected a vector of integers, got shape " +
                                           core::shape_string(t) + " and dtype " + core::dtype_info(t->dtype).name);
  const As kind = {t->dtype == LATTIS_INT32 ? t->dtype : static_cast<DType>(LATTIS_INT64)};
  if (t->numel == 0) return c.give(r, c.op<"empty.memory_format">(Ints{0}, kind, Absent{}, t->device()));
  Var counts = c.op<"to.dtype">(a[0], As{LATTIS_INT64});
  Var ends = c.op<"cumsum">(counts, 0);
  Var least = c.op<"item">(c.op<"amin">(counts, Ints{0}, false));
  Var total = c.op<"item">(c.op<"select.int">(ends, 0, -1));
  if (c.status()) return c.status();
  if (least.value().as.i < 0)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected no negative count, got %lld", where(f, 0).c_str(),
                                              (long long)least.value().as.i));
  const int64_t n = total.value().as.i;
  Var marks = c.op<"zeros">(Ints{n + 1}, As{LATTIS_INT64}, Absent{}, t->device());
  Var ones = c.op<"ones">(Ints{t->numel}, As{LATTIS_INT64}, Absent{}, t->device());
  c.op<"scatter_add_">(marks, 0, ends, ones);
  return c.give(r, c.op<"to.dtype">(c.op<"slice.Tensor">(c.op<"cumsum">(marks, 0), 0, 0, n), kind));
}

// self, repeats, dim, *, output_size
lattis_status repeat_interleave_tensor(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]), counts = c.arg(a[1]);
  int d = 0;
  if (!given(a[2])) {
    x = c.op<"reshape">(x, Ints{x.numel()});
  } else if (lattis_status st = wrap_dim(f, 2, a[2].as.i, x.dim(), &d)) {
    return st;
  }
  if (c.status()) return c.status();
  if (counts.numel() == 1 && x.size(d) != 1) counts = c.op<"expand">(c.op<"reshape">(counts, Ints{1}), Ints{x.size(d)});
  if (c.status()) return c.status();
  if (counts.dim() != 1 || counts.numel() != x.size(d))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: %lld counts for dimension %d of size %lld", where(f, 1).c_str(),
                                              (long long)counts.numel(), d, (long long)x.size(d)));
  return c.give(r, c.op<"index_select">(x, d, c.op<"repeat_interleave.Tensor">(counts)));
}

// ---- turning
// ---------------------------------------------------------------------------------------------------------

// self, shifts, dims
lattis_status infer_roll(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (a[2].length ? a[1].length != a[2].length : a[1].length != 1)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %u shifts for %u dimensions ('dims')", where(f, 1).c_str(), a[1].length, a[2].length));
  for (uint32_t i = 0; i < a[2].length; i++) {
    int d;
    if (lattis_status st = wrap_dim(f, 2, a[2].as.ints[i], t->ndim(), &d)) return st;
  }
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LATTIS_OK;
}

Var rolled(Compose& c, const Var& x, int64_t shift, int64_t dim) {
  const int64_t n = x.dim() ? x.size(static_cast<int>(dim)) : 0;
  if (n == 0) return x;
  const int64_t k = ((-shift) % n + n) % n;
  if (k == 0) return x;
  return c.op<"cat">(c.list({c.op<"slice.Tensor">(x, dim, k), c.op<"slice.Tensor">(x, dim, 0, k)}), dim);
}

lattis_status roll(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var x = c.arg(a[0]);
  if (a[2].length == 0) {
    x = rolled(c, c.op<"reshape">(x, Ints{t->numel}), a[1].as.ints[0], 0);
    x = c.op<"reshape">(x, Ints(t->sizes(), t->ndim()));
  }
  for (uint32_t i = 0; i < a[2].length; i++) x = rolled(c, x, a[1].as.ints[i], a[2].as.ints[i]);
  if (!c.status() && x.tensor()->storage == t->storage)
    x = c.op<"clone">(x, lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT});
  return c.give(r, x);
}

lattis_status infer_flip(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lattis_status st = wrap_dims(f, 1, a[1], t->ndim(), &dims)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LATTIS_OK;
}

lattis_status flip(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var x = c.arg(a[0]);
  for (uint32_t i = 0; i < a[1].length && t->ndim(); i++) {
    const int64_t d = a[1].as.ints[i], n = x.size(static_cast<int>(d));
    Var back = c.op<"arange.start_step">(n - 1, -1, -1, As{LATTIS_INT64}, Absent{}, t->device());
    x = c.op<"index_select">(x, d, back);
  }
  if (!c.status() && x.tensor()->storage == t->storage)
    x = c.op<"clone">(x, lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT});
  return c.give(r, x);
}

lattis_status flip_one(lattis_frame* f, const Value& self, int dim, Value* r) {
  Compose c(f);
  if (tensor_arg(self)->ndim() <= dim)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected at least %d dimensions, got shape %s", where(f, 0).c_str(),
                                              dim + 1, core::shape_string(tensor_arg(self)).c_str()));
  return c.give(r, c.op<"flip">(self, Ints{dim}));
}
lattis_status fliplr(lattis_frame* f, const Value* a, Value* r) { return flip_one(f, a[0], 1, r); }
lattis_status flipud(lattis_frame* f, const Value* a, Value* r) { return flip_one(f, a[0], 0, r); }

// self, k, dims
lattis_status rot90(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  uint64_t seen;
  if (a[2].length != 2)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: expected two dimensions, got %u", where(f, 2).c_str(), a[2].length));
  if (lattis_status st = wrap_dims(f, 2, a[2], t->ndim(), &seen)) return st;
  const int64_t d0 = a[2].as.ints[0], d1 = a[2].as.ints[1];
  switch ((a[1].as.i % 4 + 4) % 4) {
    case 1:
      return c.give(r, c.op<"transpose.int">(c.op<"flip">(a[0], Ints{d1}), d0, d1));
    case 2:
      return c.give(r, c.op<"flip">(a[0], Ints{d0, d1}));
    case 3:
      return c.give(r, c.op<"transpose.int">(c.op<"flip">(a[0], Ints{d0}), d0, d1));
    default:
      return c.give(r, c.op<"clone">(a[0], lattis_memory_format{LATTIS_CONTIGUOUS_FORMAT}));
  }
}

// ---- triangles and diagonals
// -------------------------------------------------------------------------------------------

lattis_status infer_triangle(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() < 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected at least 2 dimensions, got shape " + core::shape_string(t));
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LATTIS_OK;
}

// Where column - row is at most (tril) or at least (triu) the diagonal.
lattis_status triangle(lattis_frame* f, const Value* a, bool lower, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  auto count = [&](int64_t n) {
    return c.op<"arange.start_step">(0, n, 1, As{LATTIS_INT64}, Absent{}, tensor_arg(a[0])->device());
  };
  Var from = count(x.size(-1)) - c.op<"unsqueeze">(count(x.size(-2)), 1);
  Var kept = lower ? c.op<"le.Scalar">(from, a[1]) : c.op<"ge.Scalar">(from, a[1]);
  return c.give(r, c.op<"contiguous">(c.op<"where.ScalarOther">(kept, x, false)));
}
lattis_status tril(lattis_frame* f, const Value* a, Value* r) { return triangle(f, a, true, r); }
lattis_status triu(lattis_frame* f, const Value* a, Value* r) { return triangle(f, a, false, r); }

// How many of the places of a matrix have column - row <= offset.
__int128 places_below(int64_t rows, int64_t columns, int64_t offset) {
  const __int128 first = std::max<__int128>(-static_cast<__int128>(offset), 0);  // the first row with one
  if (first >= rows || columns == 0) return 0;
  const __int128 whole = std::clamp<__int128>(columns - static_cast<__int128>(offset) - 1, first, rows);
  const __int128 n = whole - first, least = first + offset + 1;  // rows before the first whole one, from `least` on
  return n * least + n * (n - 1) / 2 + (rows - whole) * columns;
}

// row, col, offset, *, dtype, layout, device, pin_memory
template <bool Lower>
lattis_status infer_triangle_indices(lattis_frame* f, const Value* a, Meta* m) {
  for (int i = 0; i < 2; i++)
    if (a[i].as.i < 0)
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: expected at least 0, got %lld", where(f, i).c_str(), (long long)a[i].as.i));
  const int64_t rows = a[0].as.i, columns = a[1].as.i, offset = a[2].as.i;
  if (offset == INT64_MIN) return raise(LATTIS_RUNTIME_ERROR, where(f, 2) + ": the diagonal is too far away");
  const __int128 n = Lower ? places_below(rows, columns, offset)
                           : static_cast<__int128>(rows) * columns - places_below(rows, columns, offset - 1);
  const int64_t sizes[2] = {2, n > INT64_MAX ? INT64_MAX : static_cast<int64_t>(n)};
  const DType t = dtype_or(a[3], LATTIS_INT64);
  if (lattis_status st = check_sizes(f, 0, 2, sizes, t)) return st;
  fresh(m, 2, sizes, t);
  return LATTIS_OK;
}

lattis_status triangle_indices(lattis_frame* f, const Value* a, bool lower, Value* r) {
  Compose c(f);
  Var ones = c.op<"ones">(Ints{a[0].as.i, a[1].as.i}, As{LATTIS_BOOL}, a[4], a[5], a[6]);
  Var kept = lower ? c.op<"tril">(ones, a[2]) : c.op<"triu">(ones, a[2]);
  Var found = c.op<"contiguous">(c.op<"t">(c.op<"nonzero">(kept)));
  return c.give(r, c.op<"to.dtype">(found, As{dtype_or(a[3], LATTIS_INT64)}));
}
lattis_status tril_indices(lattis_frame* f, const Value* a, Value* r) { return triangle_indices(f, a, true, r); }
lattis_status triu_indices(lattis_frame* f, const Value* a, Value* r) { return triangle_indices(f, a, false, r); }

// self, offset, dim1, dim2
lattis_status infer_diag_embed(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int ndim = t->ndim() + 1;
  int i, j;
  if (t->ndim() == 0) return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor has no diagonal to be");
  if (ndim > LATTIS_MAX_DIMS) return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": no room for a dimension");
  if (lattis_status st = wrap_dim(f, 2, a[2].as.i, ndim, &i)) return st;
  if (lattis_status st = wrap_dim(f, 3, a[3].as.i, ndim, &j)) return st;
  if (i == j) return raise(LATTIS_RUNTIME_ERROR, format("%s: dimension %d is 'dim1' already", where(f, 3).c_str(), j));
  const int64_t offset = a[1].as.i;
  int64_t n, sizes[LATTIS_MAX_DIMS];
  if (offset == INT64_MIN || __builtin_add_overflow(t->sizes()[t->ndim() - 1], std::abs(offset), &n))
    return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": the diagonal is too far away");
  for (int d = 0, from = 0; d < ndim; d++) sizes[d] = d == i || d == j ? n : t->sizes()[from++];
  fresh(m, ndim, sizes, t->dtype);
  return core::check_sizes("diag_embed", ndim, sizes, core::itemsize(t->dtype), nullptr);
}

lattis_status diag_embed(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  auto m = std::make_unique<Meta>();
  if (lattis_status st = infer_diag_embed(f, a, m.get())) return st;
  Var out = c.op<"zeros">(Ints(m->sizes, m->ndim), As{t->dtype}, Absent{}, t->device());
  c.op<"copy_">(c.op<"diagonal">(out, a[1], a[2], a[3]), a[0]);
  return c.give(r, out);
}

// self, diagonal
lattis_status diag(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 1) return c.give(r, c.op<"diag_embed">(a[0], a[1]));
  if (t->ndim() != 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected a vector or a matrix, got shape " + core::shape_string(t));
  return c.give(r, c.op<"clone">(c.op<"diagonal">(a[0], a[1])));
}

lattis_status diagflat(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"diag_embed">(c.op<"reshape">(a[0], Ints{tensor_arg(a[0])->numel}), a[1]));
}

lattis_status trace(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (tensor_arg(a[0])->ndim() != 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected a matrix, got shape " + core::shape_string(tensor_arg(a[0])));
  return c.give(r, c.op<"sum">(c.op<"diagonal">(a[0])));
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

}  // namespace

const std::vector<Declaration>& joining_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"cat(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, cat,
       "The tensors one after another along a dimension. Their other sizes agree; dtypes are promoted.\n\nRaises:\n    "
       "RuntimeError: the shapes do not join\n\n>>> lattis.cat([lattis.tensor([1, 2]), lattis.tensor([3])])\n"
       "tensor([1, 2, 3])\n"},
      {"concat(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, concat,
       "cat() by another name.\n\n>>> lattis.concat([lattis.ones(1), lattis.zeros(1)])\ntensor([1., 0.])\n"},
      {"concatenate(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, concat,
       "cat() by numpy's name.\n\n>>> lattis.concatenate([lattis.ones(1), lattis.zeros(1)])\ntensor([1., 0.])\n"},
      {"stack(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_stack, stack,
       "Tensors of one shape along a new dimension.\n\n>>> lattis.stack([lattis.tensor([1, 2]), lattis.tensor([3, "
       "4])])\ntensor([[1, 2],\n        [3, 4]])\n"},
      {"hstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, hstack,
       "cat() along the second dimension, of vectors along the only one.\n\n>>> lattis.hstack([lattis.ones(1), "
       "lattis.zeros(1)])\ntensor([1., 0.])\n"},
      {"vstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, vstack,
       "cat() along the first dimension; vectors are rows.\n\n>>> lattis.vstack([lattis.ones(2), "
       "lattis.zeros(2)])\ntensor([[1., 1.],\n        [0., 0.]])\n"},
      {"dstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, dstack,
       "cat() along the third dimension.\n\n>>> lattis.dstack([lattis.ones(2), lattis.zeros(2)]).shape\n"
       "lattis.Size([1, 2, 2])\n"},
      {"column_stack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, column_stack,
       "cat() along the second dimension; vectors are columns.\n\n>>> lattis.column_stack([lattis.ones(2), "
       "lattis.zeros(2)])\ntensor([[1., 0.],\n        [1., 0.]])\n"},
      {"repeat(Tensor self, SymInt[] repeats) -> Tensor", "copy", method, infer_repeat, repeat,
       "`self` copied so often along each dimension; counts before its own make new dimensions.\n\n>>> "
       "lattis.tensor([1, 2]).repeat(2)\ntensor([1, 2, 1, 2])\n"},
      {"tile(Tensor self, SymInt[] dims) -> Tensor", "copy", everywhere, infer_tile, repeat,
       "repeat(), with counts of one where some are missing.\n\n>>> lattis.tile(lattis.tensor([1, 2]), (2,))\n"
       "tensor([1, 2, 1, 2])\n"},
      {"repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
       "copy", everywhere, nullptr, repeat_interleave,
       "Each position of a dimension, or each element, so often in a row.\n\n>>> "
       "lattis.repeat_interleave(lattis.tensor([1, 2]), 2)\ntensor([1, 1, 2, 2])\n"},
      {"repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> "
       "Tensor",
       "copy", everywhere, nullptr, repeat_interleave_tensor, nullptr},
      {"repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", "copy", function, nullptr,
       repeat_interleave_counts, nullptr},
      {"roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", "copy", everywhere, infer_roll, roll,
       "The elements moved along dimensions, or all as one row; what leaves at the end enters at the start.\n\n>>> "
       "lattis.roll(lattis.arange(4), 1)\ntensor([3, 0, 1, 2])\n"},
      {"flip(Tensor self, int[] dims) -> Tensor", "copy", everywhere, infer_flip, flip,
       "A copy with the given dimensions reversed.\n\n>>> lattis.flip(lattis.arange(3), (0,))\ntensor([2, 1, 0])\n"},
      {"fliplr(Tensor self) -> Tensor", "copy", everywhere, nullptr, fliplr,
       "flip() of the second dimension.\n\n>>> lattis.fliplr(lattis.tensor([[1, 2]]))\ntensor([[2, 1]])\n"},
      {"flipud(Tensor self) -> Tensor", "copy", everywhere, nullptr, flipud,
       "flip() of the first dimension.\n\n>>> lattis.flipud(lattis.tensor([1, 2]))\ntensor([2, 1])\n"},
      {"rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", "copy", everywhere, nullptr, rot90,
       "A copy turned `k` times by a right angle, from the first of two dimensions to the second.\n\n>>> "
       "lattis.rot90(lattis.tensor([[1, 2]]))\ntensor([[2],\n        [1]])\n"},
      {"tril(Tensor self, int diagonal=0) -> Tensor", "copy", all_forms, infer_triangle, tril,
       "The lower triangle of the last two dimensions, zero above the given diagonal.\n\n>>> "
       "lattis.tril(lattis.ones(2, 2))\ntensor([[1., 0.],\n        [1., 1.]])\n"},
      {"triu(Tensor self, int diagonal=0) -> Tensor", "copy", all_forms, infer_triangle, triu,
       "The upper triangle of the last two dimensions, zero below the given diagonal.\n\n>>> "
       "lattis.triu(lattis.ones(2, 2))\ntensor([[1., 1.],\n        [0., 1.]])\n"},
      {"tril_indices(int row, int col, int offset=0, " OPTIONS ") -> Tensor", "creation", function,
       infer_triangle_indices<true>, tril_indices,
       "The rows and columns of a lower triangle's elements.\n\n>>> lattis.tril_indices(2, 2)\ntensor([[0, 1, 1],\n"
       "        [0, 0, 1]])\n"},
      {"triu_indices(int row, int col, int offset=0, " OPTIONS ") -> Tensor", "creation", function,
       infer_triangle_indices<false>, triu_indices,
       "The rows and columns of an upper triangle's elements.\n\n>>> lattis.triu_indices(2, 2)\ntensor([[0, 0, 1],\n"
       "        [0, 1, 1]])\n"},
      {"diag(Tensor self, int diagonal=0) -> Tensor", "copy", everywhere, nullptr, diag,
       "A matrix with a vector on its diagonal, or a copy of a matrix's diagonal.\n\n>>> lattis.diag(lattis.tensor([1, "
       "2]))\ntensor([[1, 0],\n        [0, 2]])\n"},
      {"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", "copy", everywhere,
       infer_diag_embed, diag_embed,
       "Zeros, with the last dimension of `self` as the diagonal of two dimensions.\n\n>>> "
       "lattis.diag_embed(lattis.ones(2, 3)).shape\nlattis.Size([2, 3, 3])\n"},
      {"diagflat(Tensor self, int offset=0) -> Tensor", "copy", everywhere, nullptr, diagflat,
       "A matrix with all elements of `self` on its diagonal.\n\n>>> lattis.diagflat(lattis.tensor([[1], [2]]))\n"
       "tensor([[1, 0],\n        [0, 2]])\n"},
      {"trace(Tensor self) -> Tensor", "reduction", everywhere, nullptr, trace,
       "The sum of a matrix's diagonal.\n\n>>> lattis.trace(lattis.tensor([[1, 2], [3, 4]]))\ntensor(5)\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
