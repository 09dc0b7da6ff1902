// Views: the same storage seen otherwise. Each is a shape rule and nothing else, or made of such; no backend needs a
// kernel.
#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {
namespace {

void swap_dims(Meta* m, int i, int j) {
  std::swap(m->sizes[i], m->sizes[j]);
  std::swap(m->strides[i], m->strides[j]);
}

lamella_status infer_t(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() > 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected at most 2 dimensions, got shape " + core::shape_string(t));
  alias(m, 0, t);
  if (m->ndim == 2) swap_dims(m, 0, 1);
  return LAMELLA_OK;
}

lamella_status infer_transpose(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  int i, j;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, m->ndim, &i)) return st;
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, m->ndim, &j)) return st;
  if (m->ndim) swap_dims(m, i, j);
  return LAMELLA_OK;
}

lamella_status infer_permute(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  alias(m, 0, t);
  if (static_cast<int>(a[1].length) != t->ndim())
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %u dimensions for a tensor of %d", where(f, 1).c_str(), a[1].length, t->ndim()));
  uint64_t seen;
  if (lamella_status st = wrap_dims(f, 1, a[1], t->ndim(), &seen)) return st;
  for (int i = 0; i < m->ndim; i++) {
    int64_t d = a[1].as.ints[i] < 0 ? a[1].as.ints[i] + m->ndim : a[1].as.ints[i];
    m->sizes[i] = t->sizes()[d];
    m->strides[i] = t->strides()[d];
  }
  return LAMELLA_OK;
}

// a[0] expanded to the sizes that argument 1 gives.
lamella_status expanded_to(lamella_frame* f, const Value* a, const Value& wanted, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int n = static_cast<int>(wanted.length), lead = n - t->ndim();
  if (n > LAMELLA_MAX_DIMS || lead < 0)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %d sizes for a tensor of shape %s", where(f, 1).c_str(), n,
                                               core::shape_string(t).c_str()));
  alias(m, 0, t);
  m->ndim = n;
  for (int i = n - 1; i >= 0; i--) {
    int64_t want = wanted.as.ints[i], have = i < lead ? 1 : t->sizes()[i - lead];
    if (want == -1 && i >= lead) want = have;
    if (want < 0 || (have != 1 && want != have))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: shape %s does not expand to %s (dimension %d)", where(f, 1).c_str(),
                          core::shape_string(t).c_str(), core::describe(wanted).c_str(), i));
    m->sizes[i] = want;
    m->strides[i] = i >= lead && (have == want) ? t->strides()[i - lead] : 0;
  }
  return check_sizes(f, 1, n, m->sizes, t->dtype);
}
lamella_status infer_expand(lamella_frame* f, const Value* a, Meta* m) { return expanded_to(f, a, a[1], m); }
lamella_status infer_expand_as(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* other = tensor_arg(a[1]);
  return expanded_to(f, a, core::int_list(other->sizes(), other->ndim()), m);
}

lamella_status infer_slice(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor cannot be sliced");
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  int64_t step = given(a[4]) ? a[4].as.i : 1, n = t->sizes()[d];
  if (step < 1)
    return raise(LAMELLA_VALUE_ERROR,
                 format("%s: the step must be positive, got %lld", where(f, 4).c_str(), (long long)step));
  auto limit = [n](int64_t i) { return i < 0 ? std::max<int64_t>(i + n, 0) : std::min(i, n); };
  int64_t start = given(a[2]) ? limit(a[2].as.i) : 0, end = given(a[3]) ? limit(a[3].as.i) : n;
  alias(m, 0, t);
  int64_t length = std::max<int64_t>(end - start, 0);
  m->offset += start * t->strides()[d];
  m->sizes[d] = length / step + (length % step != 0);
  if (__builtin_mul_overflow(t->strides()[d], step, &m->strides[d]))
    m->strides[d] = t->strides()[d];  // a single element
  return LAMELLA_OK;
}

void drop_dim(Meta* m, int d) {
  std::copy(m->sizes + d + 1, m->sizes + m->ndim, m->sizes + d);
  std::copy(m->strides + d + 1, m->strides + m->ndim, m->strides + d);
  m->ndim--;
}

lamella_status infer_select(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 0)
    return raise(LAMELLA_INDEX_ERROR, where(f, 0) + ": a zero-dim tensor has nothing to select from; use .item()");
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  int64_t i = a[2].as.i, n = t->sizes()[d];
  if (i < -n || i >= n)
    return raise(LAMELLA_INDEX_ERROR, format("%s: index %lld is out of range for dimension %d of size %lld",
                                             where(f, 2).c_str(), (long long)i, d, (long long)n));
  alias(m, 0, t);
  m->offset += (i < 0 ? i + n : i) * t->strides()[d];
  drop_dim(m, d);
  return LAMELLA_OK;
}

lamella_status infer_squeeze(lamella_frame*, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  for (int d = m->ndim - 1; d >= 0; d--)
    if (m->sizes[d] == 1) drop_dim(m, d);
  return LAMELLA_OK;
}

lamella_status infer_squeeze_dim(lamella_frame* f, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, m->ndim, &d)) return st;
  if (m->ndim && m->sizes[d] == 1) drop_dim(m, d);
  return LAMELLA_OK;
}

lamella_status infer_squeeze_dims(lamella_frame* f, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  uint64_t dims;
  if (lamella_status st = wrap_dims(f, 1, a[1], m->ndim, &dims)) return st;
  for (int d = m->ndim - 1; d >= 0; d--)
    if ((dims >> d & 1) && m->sizes[d] == 1) drop_dim(m, d);
  return LAMELLA_OK;
}

lamella_status infer_unsqueeze(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim() + 1, &d)) return st;
  if (t->ndim() == LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: it has %d dimensions already, the most there are", where(f, 0).c_str(), LAMELLA_MAX_DIMS));
  alias(m, 0, t);
  std::copy_backward(m->sizes + d, m->sizes + m->ndim, m->sizes + m->ndim + 1);
  std::copy_backward(m->strides + d, m->strides + m->ndim, m->strides + m->ndim + 1);
  m->strides[d] = d < m->ndim ? m->sizes[d + 1] * m->strides[d + 1] : 1;
  m->sizes[d] = 1;
  m->ndim++;
  return LAMELLA_OK;
}

lamella_status infer_as_strided(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int n = static_cast<int>(a[1].length);
  if (a[1].length != a[2].length)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %u strides for %u sizes ('size')", where(f, 2).c_str(), a[2].length, a[1].length));
  if (lamella_status st = check_sizes(f, 1, n, a[1].as.ints, LAMELLA_BOOL)) return st;
  alias(m, 0, t);
  if (given(a[3])) m->offset = a[3].as.i;
  m->ndim = n;
  __int128 last = 0;
  bool empty = false;
  for (int i = 0; i < n; i++) {
    m->sizes[i] = a[1].as.ints[i];
    m->strides[i] = a[2].as.ints[i];
    if (m->strides[i] < 0)
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: stride[%d] is %lld; strides must not be negative",
                                                 where(f, 2).c_str(), i, (long long)m->strides[i]));
    empty |= m->sizes[i] == 0;
    last += static_cast<__int128>(m->sizes[i] - 1) * m->strides[i];
  }
  __int128 end = empty ? m->offset : m->offset + last + 1;
  if (m->offset < 0 || end * core::itemsize(t->dtype) > t->storage->bytes)
    return raise(
        LAMELLA_RUNTIME_ERROR,
        format("%s: 'size' %s with 'stride' %s from 'storage_offset' %lld reach beyond the storage of %lld bytes",
               operator_title(f->op).c_str(), core::describe(a[1]).c_str(), core::describe(a[2]).c_str(),
               (long long)m->offset, (long long)t->storage->bytes));
  return LAMELLA_OK;
}

lamella_status infer_alias(lamella_frame*, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  return LAMELLA_OK;
}

lamella_status infer_detach(lamella_frame*, const Value* a, Meta* m) {
  alias(m, 0, a[0].as.tensor);
  m->kind = LAMELLA_META_DETACHED;
  return LAMELLA_OK;
}

// One dimension, cut into windows of `size` that start `step` apart; each window is a last dimension.
lamella_status infer_unfold(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int64_t size = a[2].as.i, step = a[3].as.i, n = t->ndim() ? 0 : 1;
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  const int64_t length = t->ndim() ? t->sizes()[d] : n;
  if (size < 0 || size > length)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: windows of %lld elements along dimension %d of size %lld",
                                               where(f, 2).c_str(), (long long)size, d, (long long)length));
  if (step <= 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the step must be positive, got %lld", where(f, 3).c_str(), (long long)step));
  if (t->ndim() == LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": it has no room for a dimension");
  alias(m, 0, t);
  const int64_t stride = t->ndim() ? t->strides()[d] : 1;
  if (t->ndim()) {
    m->sizes[d] = (length - size) / step + 1;
    if (__builtin_mul_overflow(stride, step, &m->strides[d])) m->strides[d] = stride;  // a single window
  }
  m->sizes[m->ndim] = size;
  m->strides[m->ndim++] = stride;
  return LAMELLA_OK;
}

// self, offset, dim1, dim2
lamella_status infer_diagonal(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int i, j;
  if (t->ndim() < 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected at least 2 dimensions, got shape " + core::shape_string(t));
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, t->ndim(), &i)) return st;
  if (lamella_status st = wrap_dim(f, 3, a[3].as.i, t->ndim(), &j)) return st;
  if (i == j) return raise(LAMELLA_RUNTIME_ERROR, format("%s: dimension %d is 'dim1' already", where(f, 3).c_str(), j));
  const int64_t offset = a[1].as.i, rows = t->sizes()[i], columns = t->sizes()[j];
  alias(m, 0, t);
  int64_t n = offset >= 0 ? std::min(rows, offset >= columns ? 0 : columns - offset)
                          : std::min(offset <= -rows ? 0 : rows + offset, columns);
  n = std::max<int64_t>(n, 0);
  if (n > 0) m->offset += offset >= 0 ? offset * t->strides()[j] : -offset * t->strides()[i];
  const int64_t stride = t->strides()[i] + t->strides()[j];
  drop_dim(m, std::max(i, j));
  drop_dim(m, std::min(i, j));
  m->sizes[m->ndim] = n;
  m->strides[m->ndim++] = stride;
  return LAMELLA_OK;
}

// self, dim, start, length
lamella_status infer_narrow(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor cannot be narrowed");
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  const int64_t n = t->sizes()[d], length = a[3].as.i;
  int64_t start = a[2].as.i;
  if (start < -n || start > n)
    return raise(LAMELLA_INDEX_ERROR, format("%s: %lld is out of range for dimension %d of size %lld",
                                             where(f, 2).c_str(), (long long)start, d, (long long)n));
  if (start < 0) start += n;
  if (length < 0 || length > n - start)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %lld elements from %lld on exceed dimension %d of size %lld", where(f, 3).c_str(),
                        (long long)length, (long long)start, d, (long long)n));
  alias(m, 0, t);
  m->offset += start * t->strides()[d];
  m->sizes[d] = length;
  return LAMELLA_OK;
}

lamella_status broadcast_tensors(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Ints shape;
  for (uint32_t i = 0; i < a[0].length; i++) {
    const lamella_tensor* t = a[0].as.tensors[i];
    if (!broadcast(&shape.count, shape.data, t->dl.ndim, t->dl.shape))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: shape %s at position %u does not broadcast with those before, %s", where(f, 0).c_str(),
                          core::shape_string(t).c_str(), i, core::shape_string(shape.count, shape.data).c_str()));
  }
  std::vector<Var> all;
  for (uint32_t i = 0; i < a[0].length; i++)
    all.push_back(c.op<"expand">(core::tensor_value(a[0].as.tensors[i]), shape));
  return c.give(r, c.list(all));
}

lamella_status meshgrid_by(lamella_frame* f, const Value& tensors, bool columns_first, Value* r) {
  Compose c(f);
  const int n = static_cast<int>(tensors.length);
  Ints shape;
  for (int i = 0; i < n; i++) {
    const Tensor* t = core::full(tensors.as.tensors[i]);
    if (t->ndim() > 1)
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: expected vectors, got shape %s at position %d",
                                                 where(f, 0).c_str(), core::shape_string(t).c_str(), i));
    shape.add(t->numel);
  }
  const bool swapped = columns_first && n > 1;
  if (swapped) std::swap(shape[0], shape[1]);
  std::vector<Var> all;
  for (int i = 0; i < n; i++) {
    const int d = swapped && i < 2 ? 1 - i : i;
    Ints ones;
    for (int k = 0; k < n; k++) ones.add(k == d ? shape[k] : 1);
    all.push_back(c.op<"expand">(c.op<"view">(core::tensor_value(tensors.as.tensors[i]), ones), shape));
  }
  return c.give(r, c.list(all));
}

lamella_status meshgrid(lamella_frame* f, const Value* a, Value* r) { return meshgrid_by(f, a[0], false, r); }

lamella_status meshgrid_indexing(lamella_frame* f, const Value* a, Value* r) {
  const std::string_view kind(a[1].as.string, a[1].length);
  if (kind != "ij" && kind != "xy")
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": expected 'ij' or 'xy', got '" + std::string(kind) + "'");
  return meshgrid_by(f, a[0], kind == "xy", r);
}

lamella_status move_dims(lamella_frame* f, const Value* a, const Value& source, const Value& destination, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t from, to;
  if (source.length != destination.length)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %u dimensions to move to %u places", where(f, 1).c_str(),
                                               source.length, destination.length));
  if (lamella_status st = wrap_dims(f, 1, source, t->ndim(), &from)) return st;
  if (lamella_status st = wrap_dims(f, 2, destination, t->ndim(), &to)) return st;
  alias(m, 0, t);
  if (t->ndim() == 0) return LAMELLA_OK;
  int64_t order[LAMELLA_MAX_DIMS];
  for (uint32_t i = 0; i < source.length; i++) {
    const int64_t s = source.as.ints[i], d = destination.as.ints[i];
    order[d < 0 ? d + t->ndim() : d] = s < 0 ? s + t->ndim() : s;
  }
  int next = 0;
  for (int d = 0; d < t->ndim(); d++) {
    if (!(to >> d & 1)) {
      while (from >> next & 1) next++;
      order[d] = next++;
    }
    m->sizes[d] = t->sizes()[order[d]];
    m->strides[d] = t->strides()[order[d]];
  }
  return LAMELLA_OK;
}

lamella_status infer_movedim_list(lamella_frame* f, const Value* a, Meta* m) { return move_dims(f, a, a[1], a[2], m); }
lamella_status infer_movedim_int(lamella_frame* f, const Value* a, Meta* m) {
  return move_dims(f, a, core::int_list(&a[1].as.i, 1), core::int_list(&a[2].as.i, 1), m);
}

}  // namespace

const std::vector<Declaration>& view_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"t(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_t, nullptr,
       "The transpose of a matrix; vectors stay as they are.\n\n>>> lamella.ones(2, 3).t().shape\nlamella.Size([3, "
       "2])\n"},
      {"transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_transpose, nullptr,
       "Swaps two dimensions.\n\n>>> lamella.transpose(lamella.ones(2, 3, 4), 0, 2).shape\nlamella.Size([4, 3, 2])\n"},
      {"permute(Tensor(a) self, int[] dims) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_permute,
       nullptr,
       "Reorders the dimensions.\n\n>>> lamella.permute(lamella.ones(2, 3, 4), (2, 0, 1)).shape\nlamella.Size([4, 2, "
       "3])\n"},
      {"expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", "view", method | no_kernel_needed,
       infer_expand, nullptr,
       "Repeats dimensions of size 1 without copying; -1 keeps a size.\n\n>>> lamella.tensor([[1], [2]]).expand(2, "
       "3)\ntensor([[1, 1, 1],\n        [2, 2, 2]])\n"},
      {"slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
       "view", hidden | no_kernel_needed, infer_slice, nullptr, "self[start:end:step] along one dimension."},
      {"select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_select, nullptr,
       "One position along a dimension, which disappears.\n\nRaises:\n    IndexError: dim or index is out of "
       "range\n\n>>> lamella.select(lamella.arange(6).view(2, 3), 0, 1)\ntensor([3, 4, 5])\n"},
      {"squeeze(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_squeeze, nullptr,
       "Drops dimensions of size 1: all, or those named.\n\n>>> lamella.squeeze(lamella.ones(1, 3, "
       "1)).shape\nlamella.Size([3])\n"},
      {"squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_squeeze_dim,
       nullptr, nullptr},
      {"squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_squeeze_dims, nullptr, nullptr},
      {"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_unsqueeze,
       nullptr,
       "Inserts a dimension of size 1.\n\n>>> lamella.unsqueeze(lamella.ones(3), 0).shape\nlamella.Size([1, 3])\n"},
      {"as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_as_strided, nullptr,
       "A view of the storage with the given sizes, strides and offset (in elements).\n\nRaises:\n    RuntimeError: it "
       "would reach beyond the storage\n\n"
       ">>> lamella.as_strided(lamella.arange(5), (2, 2), (2, 1))\ntensor([[0, 1],\n        [2, 3]])\n"},
      {"detach(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_detach, nullptr,
       "The same storage, cut from any history of gradients.\n\n>>> lamella.ones(2).detach()\ntensor([1., 1.])\n"},
      {"alias(Tensor(a) self) -> Tensor(a)", "view", hidden | no_kernel_needed, infer_alias, nullptr,
       "A second tensor over the same elements."},
      {"narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_narrow, nullptr,
       "`length` positions from `start` on along one dimension.\n\n>>> lamella.narrow(lamella.arange(5), 0, 1, "
       "3)\ntensor([1, 2, 3])\n"},
      {"swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_transpose, nullptr,
       "transpose() by numpy's name.\n\n>>> lamella.swapaxes(lamella.ones(2, 3), 0, 1).shape\nlamella.Size([3, 2])\n"},
      {"swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_transpose, nullptr,
       "transpose() by another name.\n\n>>> lamella.swapdims(lamella.ones(2, 3), 0, 1).shape\nlamella.Size([3, 2])\n"},
      {"unfold(Tensor(a) self, int dimension, SymInt size, SymInt step) -> Tensor(a)", "view",
       method | no_kernel_needed, infer_unfold, nullptr,
       "Windows of `size` positions along one dimension, `step` apart; the positions within are a last dimension.\n\n"
       ">>> lamella.arange(5).unfold(0, 3, 2)\ntensor([[0, 1, 2],\n        [2, 3, 4]])\n"},
      {"diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_diagonal, nullptr,
       "The diagonal of two dimensions, as a last dimension; `offset` columns to the right.\n\n>>> "
       "lamella.diagonal(lamella.arange(4).view(2, 2))\ntensor([0, 3])\n"},
      {"expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", "view", method | no_kernel_needed, infer_expand_as,
       nullptr,
       "expand() to the shape of `other`.\n\n>>> lamella.ones(1).expand_as(lamella.zeros(2))\ntensor([1., 1.])\n"},
      {"broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_expand,
       nullptr,
       "expand() by numpy's name.\n\n>>> lamella.broadcast_to(lamella.tensor([1, 2]), (2, 2))\ntensor([[1, 2],\n       "
       " "
       "[1, 2]])\n"},
      {"broadcast_tensors(Tensor[] tensors) -> Tensor[]", "view", function, nullptr, broadcast_tensors,
       "The tensors expanded to their common shape.\n\n>>> [x.shape for x in lamella.broadcast_tensors("
       "lamella.ones(2, 1), lamella.ones(3))]\n[lamella.Size([2, 3]), lamella.Size([2, 3])]\n"},
      {"meshgrid(Tensor[] tensors) -> Tensor[]", "view", function, nullptr, meshgrid,
       "Vectors as coordinates of a grid: one tensor for each, expanded to the grid's shape; with indexing='xy' the "
       "first two dimensions change places.\n\n>>> lamella.meshgrid(lamella.tensor([1, 2]), "
       "lamella.tensor([3]))[0]\ntensor([[1],\n        [2]])\n"},
      {"meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", "view", function, nullptr, meshgrid_indexing,
       nullptr},
      {"movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_movedim_list, nullptr,
       "Moves dimensions to other places; the rest keep their order.\n\n>>> lamella.movedim(lamella.ones(2, 3, 4), 0, "
       "2).shape\nlamella.Size([3, 4, 2])\n"},
      {"movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_movedim_int, nullptr, nullptr},
      {"moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", "view",
       everywhere | no_kernel_needed, infer_movedim_list, nullptr,
       "movedim() by numpy's name.\n\n>>> lamella.moveaxis(lamella.ones(2, 3), 0, 1).shape\nlamella.Size([3, 2])\n"},
      {"moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", "view", everywhere | no_kernel_needed,
       infer_movedim_int, nullptr, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
