// The same elements in other shapes: a view where the strides allow it, else a copy.
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

// Strides under which `t` is seen with other sizes of the same number; false if that needs a copy.
bool view_strides(const lamella_tensor* t, int ndim, const int64_t* sizes, int64_t* strides) {
  if (t->numel == 0) {
    core::contiguous_strides(ndim, sizes, strides);
    return true;
  }
  // Walk both from the inside: each run of old dimensions that lies without gaps must hold whole new dimensions.
  int at = ndim - 1;
  int64_t run = 1, seen = 1, base = t->dl.ndim ? t->dl.strides[t->dl.ndim - 1] : 1;
  for (int d = t->dl.ndim - 1; d >= 0; d--) {
    run *= t->dl.shape[d];
    bool last = d == 0 || (t->dl.shape[d - 1] != 1 && t->dl.strides[d - 1] != run * base);
    if (!last) continue;
    while (at >= 0 && (seen < run || sizes[at] == 1)) {
      strides[at] = seen * base;
      seen *= sizes[at--];
    }
    if (seen != run) return false;
    if (d > 0) {
      base = t->dl.strides[d - 1];
      run = seen = 1;
    }
  }
  for (; at >= 0; at--) strides[at] = seen * base;  // leading ones
  return true;
}

// Resolves one -1 in a list of sizes.
lamella_status infer_sizes(lamella_frame* f, int arg, const Value& wanted, int64_t numel, int64_t* sizes) {
  int unknown = -1;
  int64_t known = 1;
  if (wanted.length > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %u dimensions, at most %d are supported", where(f, arg).c_str(),
                                               wanted.length, LAMELLA_MAX_DIMS));
  for (uint32_t i = 0; i < wanted.length; i++) {
    sizes[i] = wanted.as.ints[i];
    if (sizes[i] == -1) {
      if (unknown >= 0)
        return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": only one size may be -1, got " + core::describe(wanted));
      unknown = static_cast<int>(i);
    } else if (sizes[i] < 0) {
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: size[%u] is %lld; sizes must not be negative",
                                                 where(f, arg).c_str(), i, (long long)sizes[i]));
    } else if (__builtin_mul_overflow(known, sizes[i], &known)) {
      return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": the sizes " + core::describe(wanted) + " overflow");
    }
  }
  if (unknown >= 0 && known > 0 && numel % known == 0)
    sizes[unknown] = numel / known;
  else if (unknown >= 0 || known != numel)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %lld elements do not fill the shape %s%s", where(f, arg).c_str(), (long long)numel,
                        core::describe(wanted).c_str(),
                        unknown >= 0 && known == 0 ? "; -1 is ambiguous beside a size of 0" : ""));
  return LAMELLA_OK;
}

// a[0] seen in the sizes that argument 1 gives.
lamella_status seen_as(lamella_frame* f, const Value* a, const Value& wanted, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  int64_t sizes[LAMELLA_MAX_DIMS];
  if (lamella_status st = infer_sizes(f, 1, wanted, t->numel, sizes)) return st;
  m->ndim = static_cast<int>(wanted.length);
  std::copy(sizes, sizes + m->ndim, m->sizes);
  if (t->contiguous())
    core::contiguous_strides(m->ndim, m->sizes, m->strides);
  else if (!view_strides(t, m->ndim, m->sizes, m->strides))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": shape " + core::shape_string(t) + " with strides " +
                                            core::shape_string(t->ndim(), t->strides()) + " cannot be seen as " +
                                            core::describe(wanted) + " without copying; use reshape()");
  return LAMELLA_OK;
}
lamella_status infer_view(lamella_frame* f, const Value* a, Meta* m) { return seen_as(f, a, a[1], m); }
lamella_status infer_view_as(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* other = tensor_arg(a[1]);
  return seen_as(f, a, core::int_list(other->sizes(), other->ndim()), m);
}

lamella_status reshape(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  if (lamella_status st = infer_sizes(f, 1, a[1], t->numel, sizes)) return st;
  const bool seen = t->contiguous() || view_strides(t, static_cast<int>(a[1].length), sizes, strides);
  return c.give(r, seen ? c.op<"view">(a[0], a[1]) : c.op<"view">(c.op<"clone">(a[0], contiguous_format), a[1]));
}

// The same bytes as another dtype; the last dimension grows or shrinks with the items' size.
lamella_status infer_view_dtype(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  m->dtype = static_cast<uint8_t>(a[1].as.i);
  const int64_t from = core::itemsize(t->dtype), to = core::itemsize(static_cast<DType>(a[1].as.i));
  if (from == to) return LAMELLA_OK;
  const int last = m->ndim - 1;
  if (m->ndim == 0 || t->strides()[last] != 1)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": items of another size need a last dimension without gaps, got shape " +
                     core::shape_string(t) + " with strides " + core::shape_string(t->ndim(), t->strides()));
  // What is counted in items of `from` bytes is counted in items of `to` bytes.
  bool even = m->offset * from % to == 0 && m->sizes[last] * from % to == 0;
  for (int d = 0; d < last; d++) even = even && m->strides[d] * from % to == 0;
  if (!even)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: shape %s, its strides or its offset are no multiples of %lld bytes",
                                               where(f, 1).c_str(), core::shape_string(t).c_str(), (long long)to));
  m->offset = m->offset * from / to;
  m->sizes[last] = m->sizes[last] * from / to;
  for (int d = 0; d < last; d++) m->strides[d] = m->strides[d] * from / to;
  return LAMELLA_OK;
}

// self, start_dim, end_dim
lamella_status flatten(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  int first, last;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &first)) return st;
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, t->ndim(), &last)) return st;
  if (first > last)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: dimension %d comes before 'start_dim', %d", where(f, 2).c_str(), last, first));
  if (t->ndim() == 0) return c.give(r, c.op<"reshape">(a[0], Ints{1}));
  if (first == last) return c.give(r, c.arg(a[0]));
  Ints sizes(t->sizes(), first);
  int64_t n = 1;
  for (int d = first; d <= last; d++) n *= t->sizes()[d];
  sizes.add(n);
  for (int d = last + 1; d < t->ndim(); d++) sizes.add(t->sizes()[d]);
  return c.give(r, t->contiguous() ? c.op<"view">(a[0], sizes) : c.op<"reshape">(a[0], sizes));
}

lamella_status ravel(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  if (t->contiguous()) return c.give(r, t->ndim() == 1 ? c.arg(a[0]) : c.op<"view">(a[0], Ints{t->numel}));
  return c.give(r, c.op<"contiguous">(c.op<"reshape">(a[0], Ints{tensor_arg(a[0])->numel})));
}

// self, dim, sizes
lamella_status unflatten(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  int64_t inner[LAMELLA_MAX_DIMS];
  if (a[2].length == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": expected at least one size");
  if (lamella_status st = infer_sizes(f, 2, a[2], t->ndim() ? t->sizes()[d] : 1, inner)) return st;
  if (t->ndim() + static_cast<int>(a[2].length) - 1 > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": too many dimensions");
  Ints sizes(t->sizes(), d);
  for (uint32_t i = 0; i < a[2].length; i++) sizes.add(inner[i]);
  for (int k = d + 1; k < t->ndim(); k++) sizes.add(t->sizes()[k]);
  return c.give(r, c.op<"view">(a[0], sizes));
}

template <int Least>
lamella_status atleast(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dim() >= Least) return c.give(r, x);
  if (x.dim() == 0) x = c.op<"reshape">(x, Ints{1});
  if (Least > 1 && x.dim() == 1) x = c.op<"unsqueeze">(x, 0);
  if (Least > 2 && x.dim() == 2) x = c.op<"unsqueeze">(x, -1);
  return c.give(r, x);
}

}  // namespace

const std::vector<Declaration>& reshaping_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "view", method | no_kernel_needed, infer_view, nullptr,
       "The same elements in another shape, without copying; one size may be -1.\n\nRaises:\n    RuntimeError: the "
       "strides do not allow it; use reshape\n\n"
       ">>> lamella.arange(6).view(2, 3)\ntensor([[0, 1, 2],\n        [3, 4, 5]])\n"},
      {"view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "view", method | no_kernel_needed, infer_view_dtype,
       nullptr, nullptr},
      {"reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "view", everywhere, nullptr, reshape,
       "The same elements in another shape: a view where possible, else a copy.\n\n>>> "
       "lamella.reshape(lamella.arange(4), (2, 2))\ntensor([[0, 1],\n        [2, 3]])\n"},
      {"view_as(Tensor(a) self, Tensor other) -> Tensor(a)", "view", method | no_kernel_needed, infer_view_as, nullptr,
       "view() with the shape of `other`.\n\n>>> lamella.ones(4).view_as(lamella.zeros(2, 2)).shape\nlamella.Size([2, "
       "2])\n"},
      {"flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", "view", everywhere, nullptr,
       flatten,
       "The dimensions from `start_dim` to `end_dim` as one: a view where possible, else a copy.\n\n>>> "
       "lamella.flatten(lamella.ones(2, 3, 4), 1).shape\nlamella.Size([2, 12])\n"},
      {"unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", "view", everywhere, nullptr, unflatten,
       "One dimension as several; one size may be -1.\n\n>>> lamella.unflatten(lamella.ones(6), 0, (2, "
       "-1)).shape\nlamella.Size([2, 3])\n"},
      {"ravel(Tensor(a) self) -> Tensor(a)", "view", everywhere, nullptr, ravel,
       "All elements as one contiguous dimension: a view where possible, else a copy.\n\n>>> "
       "lamella.ravel(lamella.ones(2, 2)).shape\nlamella.Size([4])\n"},
      {"atleast_1d(Tensor(a) self) -> Tensor(a)", "view", function, nullptr, atleast<1>,
       "`self` with at least one dimension.\n\n>>> lamella.atleast_1d(lamella.tensor(1))\ntensor([1])\n"},
      {"atleast_2d(Tensor(a) self) -> Tensor(a)", "view", function, nullptr, atleast<2>,
       "`self` with at least two dimensions; a vector becomes a row.\n\n>>> lamella.atleast_2d(lamella.tensor([1, "
       "2]))\ntensor([[1, 2]])\n"},
      {"atleast_3d(Tensor(a) self) -> Tensor(a)", "view", function, nullptr, atleast<3>,
       "`self` with at least three dimensions, as numpy inserts them.\n\n>>> lamella.atleast_3d(lamella.ones(2, "
       "3)).shape\nlamella.Size([2, 3, 1])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
