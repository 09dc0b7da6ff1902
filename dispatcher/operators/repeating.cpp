// Repeating dimensions and elements.
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

// The sizes of self (t) repeated; counts: for its own dimensions, the last ones, and for new ones before them. Where
// there are fewer, the rest counts once.
lamella_status repeated_sizes(lamella_frame* f, const Tensor* t, const Value& counts, Meta* m) {
  const int given = static_cast<int>(counts.length), ndim = std::max(given, t->ndim());
  if (given > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %d dimensions, at most %d are supported", where(f, 1).c_str(), given, LAMELLA_MAX_DIMS));
  fresh(m, 0, nullptr, t->dtype);
  m->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    const int64_t n = d < ndim - t->ndim() ? 1 : t->sizes()[d - (ndim - t->ndim())];
    const int64_t k = d < ndim - given ? 1 : counts.as.ints[d - (ndim - given)];
    if (k < 0)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: expected no negative count, got %lld", where(f, 1).c_str(), (long long)k));
    if (__builtin_mul_overflow(n, k, &m->sizes[d]))
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": the repeated sizes overflow");
  }
  return check_sizes(f, 1, ndim, m->sizes, t->dtype);
}

lamella_status infer_repeat(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (static_cast<int>(a[1].length) < t->ndim())
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %u counts for %d dimensions", where(f, 1).c_str(), a[1].length, t->ndim()));
  return repeated_sizes(f, t, a[1], m);
}
lamella_status infer_tile(lamella_frame* f, const Value* a, Meta* m) {
  return repeated_sizes(f, tensor_arg(a[0]), a[1], m);
}

// self, counts
lamella_status repeat(lamella_frame* f, const Value* a, Value* r) {
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
      if (full.count + (counts.count - d) + 1 > LAMELLA_MAX_DIMS)
        return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": too many dimensions are repeated");
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
  return c.give(r, c.op<"view">(c.op<"clone">(wide, contiguous_format), sizes));
}

// self, repeats, dim, *, output_size
lamella_status infer_repeat_interleave(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d = 0;
  if (a[1].as.i < 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected no negative count, got %lld", where(f, 1).c_str(), (long long)a[1].as.i));
  if (given(a[2]))
    if (lamella_status st = wrap_dim(f, 2, a[2].as.i, t->ndim(), &d)) return st;
  const bool whole = !given(a[2]) || t->ndim() == 0;
  fresh(m, whole ? 1 : t->ndim(), whole ? &t->numel : t->sizes(), t->dtype);
  if (__builtin_mul_overflow(m->sizes[d], a[1].as.i, &m->sizes[d]))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": the repeated sizes overflow");
  return check_sizes(f, 1, m->ndim, m->sizes, t->dtype);
}

lamella_status repeat_interleave(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = given(a[2]) && tensor_arg(a[0])->ndim() ? c.arg(a[0]) : c.op<"reshape">(a[0], Ints{tensor_arg(a[0])->numel});
  const auto d = given(a[2]) ? static_cast<int>(a[2].as.i < 0 ? a[2].as.i + x.dim() : a[2].as.i) : 0;
  Ints full, sizes;
  for (int k = 0; k < x.dim(); k++) {
    full.add(x.size(k));
    sizes.add(k == d ? x.size(k) * a[1].as.i : x.size(k));
    if (k == d) full.add(a[1].as.i);
  }
  Var wide = c.op<"expand">(c.op<"unsqueeze">(x, d + 1), full);
  return c.give(r, c.op<"view">(c.op<"clone">(wide, contiguous_format), sizes));
}

lamella_status infer_counts(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  m->kind = LAMELLA_META_DYNAMIC;
  if (t->ndim() == 1 && core::dtype_class(t->dtype) == LAMELLA_CLASS_INTEGRAL) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected a vector of integers, got shape " +
                                          core::shape_string(t) + " and dtype " + core::dtype_info(t->dtype).name);
}

// Position i as often as repeats[i] says: ones where the next position starts, summed up.
lamella_status repeat_interleave_counts(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const As kind = {t->dtype == LAMELLA_INT32 ? t->dtype : static_cast<DType>(LAMELLA_INT64)};
  if (t->numel == 0) return c.give(r, c.op<"empty.memory_format">(Ints{0}, kind, Absent{}, t->device()));
  Var counts = c.op<"to.dtype">(a[0], As{LAMELLA_INT64});
  Var ends = c.op<"cumsum">(counts, 0);
  Var least = c.op<"item">(c.op<"amin">(counts, Ints{0}, false));
  Var total = c.op<"item">(c.op<"select.int">(ends, 0, -1));
  if (c.status()) return c.status();
  if (least.value().as.i < 0)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected no negative count, got %lld", where(f, 0).c_str(),
                                               (long long)least.value().as.i));
  const int64_t n = total.value().as.i;
  Var marks = c.op<"zeros">(Ints{n + 1}, As{LAMELLA_INT64}, Absent{}, t->device());
  Var ones = c.op<"ones">(Ints{t->numel}, As{LAMELLA_INT64}, Absent{}, t->device());
  c.op<"scatter_add_">(marks, 0, ends, ones);
  return c.give(r, c.op<"to.dtype">(c.op<"slice.Tensor">(c.op<"cumsum">(marks, 0), 0, 0, n), kind));
}

// self, repeats, dim, *, output_size
lamella_status repeat_interleave_tensor(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]), counts = c.arg(a[1]);
  int d = 0;
  if (!given(a[2])) {
    x = c.op<"reshape">(x, Ints{x.numel()});
  } else if (lamella_status st = wrap_dim(f, 2, a[2].as.i, x.dim(), &d)) {
    return st;
  }
  if (c.status()) return c.status();
  if (counts.numel() == 1 && x.size(d) != 1) counts = c.op<"expand">(c.op<"reshape">(counts, Ints{1}), Ints{x.size(d)});
  if (c.status()) return c.status();
  if (counts.dim() != 1 || counts.numel() != x.size(d))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld counts for dimension %d of size %lld", where(f, 1).c_str(),
                                               (long long)counts.numel(), d, (long long)x.size(d)));
  return c.give(r, c.op<"index_select">(x, d, c.op<"repeat_interleave.Tensor">(counts)));
}

}  // namespace

const std::vector<Declaration>& repeating_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"repeat(Tensor self, SymInt[] repeats) -> Tensor", "copy", method, infer_repeat, repeat,
       "`self` copied so often along each dimension; counts before its own make new dimensions.\n\n>>> "
       "lamella.tensor([1, 2]).repeat(2)\ntensor([1, 2, 1, 2])\n"},
      {"tile(Tensor self, SymInt[] dims) -> Tensor", "copy", everywhere, infer_tile, repeat,
       "repeat(), with counts of one where some are missing.\n\n>>> lamella.tile(lamella.tensor([1, 2]), (2,))\n"
       "tensor([1, 2, 1, 2])\n"},
      {"repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
       "copy", everywhere, infer_repeat_interleave, repeat_interleave,
       "Each position of a dimension, or each element, so often in a row.\n\n>>> "
       "lamella.repeat_interleave(lamella.tensor([1, 2]), 2)\ntensor([1, 1, 2, 2])\n"},
      {"repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> "
       "Tensor",
       "copy", everywhere, nullptr, repeat_interleave_tensor, nullptr},
      {"repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", "copy", function,
       infer_counts, repeat_interleave_counts, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
