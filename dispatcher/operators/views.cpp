// Views: the same storage seen otherwise. Each is a shape rule and nothing else; no backend needs a kernel.
#include <optional>

#include "dispatcher/operators/rules.h"
#include "dispatcher/operators/views.h"

namespace lattis::dispatcher {

bool view_strides(const lattis_tensor* t, int ndim, const int64_t* sizes, int64_t* strides) {
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

lattis_status infer_sizes(lattis_frame* f, int arg, const Value& wanted, int64_t numel, int64_t* sizes) {
  int unknown = -1;
  int64_t known = 1;
  if (wanted.length > LATTIS_MAX_DIMS)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: %u dimensions, at most %d are supported", where(f, arg).c_str(),
                                              wanted.length, LATTIS_MAX_DIMS));
  for (uint32_t i = 0; i < wanted.length; i++) {
    sizes[i] = wanted.as.ints[i];
    if (sizes[i] == -1) {
      if (unknown >= 0)
        return raise(LATTIS_RUNTIME_ERROR, where(f, arg) + ": only one size may be -1, got " + core::describe(wanted));
      unknown = static_cast<int>(i);
    } else if (sizes[i] < 0) {
      return raise(LATTIS_RUNTIME_ERROR, format("%s: size[%u] is %lld; sizes must not be negative",
                                                where(f, arg).c_str(), i, (long long)sizes[i]));
    } else if (__builtin_mul_overflow(known, sizes[i], &known)) {
      return raise(LATTIS_RUNTIME_ERROR, where(f, arg) + ": the sizes " + core::describe(wanted) + " overflow");
    }
  }
  if (unknown >= 0 && known > 0 && numel % known == 0)
    sizes[unknown] = numel / known;
  else if (unknown >= 0 || known != numel)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %lld elements do not fill the shape %s%s", where(f, arg).c_str(), (long long)numel,
                        core::describe(wanted).c_str(),
                        unknown >= 0 && known == 0 ? "; -1 is ambiguous beside a size of 0" : ""));
  return LATTIS_OK;
}

namespace {

lattis_status infer_view(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  int64_t sizes[LATTIS_MAX_DIMS];
  if (lattis_status st = infer_sizes(f, 1, a[1], t->numel, sizes)) return st;
  m->ndim = static_cast<int>(a[1].length);
  std::copy(sizes, sizes + m->ndim, m->sizes);
  if (t->contiguous())
    core::contiguous_strides(m->ndim, m->sizes, m->strides);
  else if (!view_strides(t, m->ndim, m->sizes, m->strides))
    return raise(LATTIS_RUNTIME_ERROR, operator_title(f->op) + ": shape " + core::shape_string(t) + " with strides " +
                                           core::shape_string(t->ndim(), t->strides()) + " cannot be seen as " +
                                           core::describe(a[1]) + " without copying; use reshape()");
  return LATTIS_OK;
}

lattis_status reshape(lattis_frame* f, const Value* a, Value* r) {
  static const Callee view("view", ""), clone("clone", "");
  const Tensor* t = tensor_arg(a[0]);
  int64_t sizes[LATTIS_MAX_DIMS], strides[LATTIS_MAX_DIMS];
  if (lattis_status st = infer_sizes(f, 1, a[1], t->numel, sizes)) return st;
  if (t->contiguous() || view_strides(t, static_cast<int>(a[1].length), sizes, strides))
    return view(f, {a[0], a[1]}, r);
  Value copy = core::none();
  Value format = {LATTIS_MEMORY_FORMAT, 0, {LATTIS_CONTIGUOUS_FORMAT}};
  if (lattis_status st = clone(f, {a[0], format}, &copy)) return st;
  lattis_status st = view(f, {copy, a[1]}, r);
  core::release_value(copy);
  return st;
}

void swap_dims(Meta* m, int i, int j) {
  std::swap(m->sizes[i], m->sizes[j]);
  std::swap(m->strides[i], m->strides[j]);
}

lattis_status infer_t(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() > 2)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected at most 2 dimensions, got shape " + core::shape_string(t));
  alias(m, 0, t);
  if (m->ndim == 2) swap_dims(m, 0, 1);
  return LATTIS_OK;
}

lattis_status infer_transpose(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  int i, j;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, m->ndim, &i)) return st;
  if (lattis_status st = wrap_dim(f, 2, a[2].as.i, m->ndim, &j)) return st;
  if (m->ndim) swap_dims(m, i, j);
  return LATTIS_OK;
}

lattis_status infer_permute(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  if (static_cast<int>(a[1].length) != t->ndim())
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %u dimensions for a tensor of %d", where(f, 1).c_str(), a[1].length, t->ndim()));
  uint64_t seen;
  if (lattis_status st = wrap_dims(f, 1, a[1], t->ndim(), &seen)) return st;
  for (int i = 0; i < m->ndim; i++) {
    int64_t d = a[1].as.ints[i] < 0 ? a[1].as.ints[i] + m->ndim : a[1].as.ints[i];
    m->sizes[i] = t->sizes()[d];
    m->strides[i] = t->strides()[d];
  }
  return LATTIS_OK;
}

lattis_status infer_expand(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int n = static_cast<int>(a[1].length), lead = n - t->ndim();
  if (n > LATTIS_MAX_DIMS || lead < 0)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: %d sizes for a tensor of shape %s", where(f, 1).c_str(), n,
                                              core::shape_string(t).c_str()));
  alias(m, 0, t);
  m->ndim = n;
  for (int i = n - 1; i >= 0; i--) {
    int64_t want = a[1].as.ints[i], have = i < lead ? 1 : t->sizes()[i - lead];
    if (want == -1 && i >= lead) want = have;
    if (want < 0 || (have != 1 && want != have))
      return raise(LATTIS_RUNTIME_ERROR,
                   format("%s: shape %s does not expand to %s (dimension %d)", where(f, 1).c_str(),
                          core::shape_string(t).c_str(), core::describe(a[1]).c_str(), i));
    m->sizes[i] = want;
    m->strides[i] = i >= lead && (have == want) ? t->strides()[i - lead] : 0;
  }
  return core::check_sizes("expand", n, m->sizes, core::itemsize(t->dtype), nullptr);
}

lattis_status infer_slice(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 0) return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor cannot be sliced");
  int d;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  int64_t step = given(a[4]) ? a[4].as.i : 1, n = t->sizes()[d];
  if (step < 1)
    return raise(LATTIS_VALUE_ERROR,
                 format("%s: the step must be positive, got %lld", where(f, 4).c_str(), (long long)step));
  auto limit = [n](int64_t i) { return i < 0 ? std::max<int64_t>(i + n, 0) : std::min(i, n); };
  int64_t start = given(a[2]) ? limit(a[2].as.i) : 0, end = given(a[3]) ? limit(a[3].as.i) : n;
  alias(m, 0, t);
  int64_t length = std::max<int64_t>(end - start, 0);
  m->offset += start * t->strides()[d];
  m->sizes[d] = length / step + (length % step != 0);
  if (__builtin_mul_overflow(t->strides()[d], step, &m->strides[d]))
    m->strides[d] = t->strides()[d];  // a single element
  return LATTIS_OK;
}

void drop_dim(Meta* m, int d) {
  std::copy(m->sizes + d + 1, m->sizes + m->ndim, m->sizes + d);
  std::copy(m->strides + d + 1, m->strides + m->ndim, m->strides + d);
  m->ndim--;
}

lattis_status infer_select(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 0)
    return raise(LATTIS_INDEX_ERROR, where(f, 0) + ": a zero-dim tensor has nothing to select from; use .item()");
  int d;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  int64_t i = a[2].as.i, n = t->sizes()[d];
  if (i < -n || i >= n)
    return raise(LATTIS_INDEX_ERROR, format("%s: index %lld is out of range for dimension %d of size %lld",
                                            where(f, 2).c_str(), (long long)i, d, (long long)n));
  alias(m, 0, t);
  m->offset += (i < 0 ? i + n : i) * t->strides()[d];
  drop_dim(m, d);
  return LATTIS_OK;
}

lattis_status infer_squeeze(lattis_frame*, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  for (int d = m->ndim - 1; d >= 0; d--)
    if (m->sizes[d] == 1) drop_dim(m, d);
  return LATTIS_OK;
}

lattis_status infer_squeeze_dim(lattis_frame* f, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  int d;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, m->ndim, &d)) return st;
  if (m->ndim && m->sizes[d] == 1) drop_dim(m, d);
  return LATTIS_OK;
}

lattis_status infer_squeeze_dims(lattis_frame* f, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  uint64_t dims;
  if (lattis_status st = wrap_dims(f, 1, a[1], m->ndim, &dims)) return st;
  for (int d = m->ndim - 1; d >= 0; d--)
    if ((dims >> d & 1) && m->sizes[d] == 1) drop_dim(m, d);
  return LATTIS_OK;
}

lattis_status infer_unsqueeze(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, t->ndim() + 1, &d)) return st;
  if (t->ndim() == LATTIS_MAX_DIMS)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: it has %d dimensions already, the most there are", where(f, 0).c_str(), LATTIS_MAX_DIMS));
  alias(m, 0, t);
  std::copy_backward(m->sizes + d, m->sizes + m->ndim, m->sizes + m->ndim + 1);
  std::copy_backward(m->strides + d, m->strides + m->ndim, m->strides + m->ndim + 1);
  m->strides[d] = d < m->ndim ? m->sizes[d + 1] * m->strides[d + 1] : 1;
  m->sizes[d] = 1;
  m->ndim++;
  return LATTIS_OK;
}

lattis_status infer_as_strided(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int n = static_cast<int>(a[1].length);
  if (a[1].length != a[2].length)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %u strides for %u sizes ('size')", where(f, 2).c_str(), a[2].length, a[1].length));
  if (lattis_status st = core::check_sizes((where(f, 1)).c_str(), n, a[1].as.ints, 1, nullptr)) return st;
  alias(m, 0, t);
  if (given(a[3])) m->offset = a[3].as.i;
  m->ndim = n;
  __int128 last = 0;
  bool empty = false;
  for (int i = 0; i < n; i++) {
    m->sizes[i] = a[1].as.ints[i];
    m->strides[i] = a[2].as.ints[i];
    if (m->strides[i] < 0)
      return raise(LATTIS_RUNTIME_ERROR, format("%s: stride[%d] is %lld; strides must not be negative",
                                                where(f, 2).c_str(), i, (long long)m->strides[i]));
    empty |= m->sizes[i] == 0;
    last += static_cast<__int128>(m->sizes[i] - 1) * m->strides[i];
  }
  __int128 end = empty ? m->offset : m->offset + last + 1;
  if (m->offset < 0 || end * core::itemsize(t->dtype) > t->storage->bytes)
    return raise(
        LATTIS_RUNTIME_ERROR,
        format("%s: 'size' %s with 'stride' %s from 'storage_offset' %lld reach beyond the storage of %lld bytes",
               operator_title(f->op).c_str(), core::describe(a[1]).c_str(), core::describe(a[2]).c_str(),
               (long long)m->offset, (long long)t->storage->bytes));
  return LATTIS_OK;
}

lattis_status infer_alias(lattis_frame*, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  return LATTIS_OK;
}

}  // namespace

const std::vector<Declaration>& view_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "view", method | no_kernel_needed, infer_view, nullptr,
       "The same elements in another shape, without copying; one size may be -1.\n\nRaises:\n    RuntimeError: the "
       "strides do not allow it; use reshape\n\n"
       ">>> lattis.arange(6).view(2, 3)\ntensor([[0, 1, 2],\n        [3, 4, 5]])\n"},
      {"reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "view", everywhere, nullptr, reshape,
       "The same elements in another shape: a view where possible, else a copy.\n\n>>> "
       "lattis.reshape(lattis.arange(4), (2, 2))\ntensor([[0, 1],\n        [2, 3]])\n"},
      {"t(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_t, nullptr,
       "The transpose of a matrix; vectors stay as they are.\n\n>>> lattis.ones(2, 3).t().shape\nlattis.Size([3, "
       "2])\n"},
      {"transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_transpose, nullptr,
       "Swaps two dimensions.\n\n>>> lattis.transpose(lattis.ones(2, 3, 4), 0, 2).shape\nlattis.Size([4, 3, 2])\n"},
      {"permute(Tensor(a) self, int[] dims) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_permute,
       nullptr,
       "Reorders the dimensions.\n\n>>> lattis.permute(lattis.ones(2, 3, 4), (2, 0, 1)).shape\nlattis.Size([4, 2, "
       "3])\n"},
      {"expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", "view", method | no_kernel_needed,
       infer_expand, nullptr,
       "Repeats dimensions of size 1 without copying; -1 keeps a size.\n\n>>> lattis.tensor([[1], [2]]).expand(2, "
       "3)\ntensor([[1, 1, 1],\n        [2, 2, 2]])\n"},
      {"slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
       "view", hidden | no_kernel_needed, infer_slice, nullptr, "self[start:end:step] along one dimension."},
      {"select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_select, nullptr,
       "One position along a dimension, which disappears.\n\nRaises:\n    IndexError: dim or index is out of "
       "range\n\n>>> lattis.select(lattis.arange(6).view(2, 3), 0, 1)\ntensor([3, 4, 5])\n"},
      {"squeeze(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_squeeze, nullptr,
       "Drops dimensions of size 1: all, or those named.\n\n>>> lattis.squeeze(lattis.ones(1, 3, "
       "1)).shape\nlattis.Size([3])\n"},
      {"squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_squeeze_dim,
       nullptr, nullptr},
      {"squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_squeeze_dims, nullptr, nullptr},
      {"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_unsqueeze,
       nullptr,
       "Inserts a dimension of size 1.\n\n>>> lattis.unsqueeze(lattis.ones(3), 0).shape\nlattis.Size([1, 3])\n"},
      {"as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_as_strided, nullptr,
       "A view of the storage with the given sizes, strides and offset (in elements).\n\nRaises:\n    RuntimeError: it "
       "would reach beyond the storage\n\n"
       ">>> lattis.as_strided(lattis.arange(5), (2, 2), (2, 1))\ntensor([[0, 1],\n        [2, 3]])\n"},
      {"detach(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_alias, nullptr,
       "The same storage, cut from any history of gradients.\n\n>>> lattis.ones(2).detach()\ntensor([1., 1.])\n"},
      {"alias(Tensor(a) self) -> Tensor(a)", "view", hidden | no_kernel_needed, infer_alias, nullptr,
       "A second tensor over the same elements."},
  };
  return *table;
}

}  // namespace lattis::dispatcher
