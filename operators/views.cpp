// Views of the same storage. Each is a shape rule and nothing else; no backend needs a kernel.
#include "operators/views.h"

namespace lamella::operators {
namespace {

// Sizes and strides of a view while they are computed, on the stack.
struct Dims {
  Dims() = default;
  explicit Dims(const Tensor& self) : sizes(self.sizes()), strides(self.strides()) {}
  void add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }

  DimVector sizes, strides;
};

void infer_alias(const Tensor& self, Output out) {
  out.view(self, self.sizes(), self.strides(), self.storage_offset());
}

void infer_detach(const Tensor& self, Output out) { out.detached(self); }

// ---- dimensions in another order ----

void transposed(const Tensor& self, const char* first, int64_t dim0, const char* second, int64_t dim1, Output& out) {
  const int64_t i = wrap_dim(first, dim0, self.dim()), j = wrap_dim(second, dim1, self.dim());
  Dims v(self);
  if (self.dim()) {
    std::swap(v.sizes[i], v.sizes[j]);
    std::swap(v.strides[i], v.strides[j]);
  }
  out.view(self, v.sizes, v.strides, self.storage_offset());
}
}  // namespace

void infer_t(const Tensor& self, Output out) {
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  LAMELLA_CHECK(sizes.size() <= 2, argument("self"), ": expected at most 2 dimensions, got shape ", shape_text(self));
  if (sizes.size() == 2)
    out.view(self, {sizes[1], sizes[0]}, {strides[1], strides[0]}, self.storage_offset());
  else
    out.view(self, sizes, strides, self.storage_offset());
}
void infer_transpose(const Tensor& self, int64_t dim0, int64_t dim1, Output out) {
  transposed(self, "dim0", dim0, "dim1", dim1, out);
}
void infer_swapaxes(const Tensor& self, int64_t axis0, int64_t axis1, Output out) {
  transposed(self, "axis0", axis0, "axis1", axis1, out);
}

namespace {

void infer_permute(const Tensor& self, IntArrayRef dims, Output out) {
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  LAMELLA_CHECK(dims.size() == sizes.size(), argument("dims"), ": expected ", self.dim(), " dimensions, got ",
                shape_text(dims));
  wrap_dims("dims", dims, self.dim());
  Dims v;
  for (int64_t dim : dims) {
    const int64_t d = dim < 0 ? dim + self.dim() : dim;
    v.add(sizes[d], strides[d]);
  }
  out.view(self, v.sizes, v.strides, self.storage_offset());
}

void move_dims(const Tensor& self, IntArrayRef source, IntArrayRef destination, Output& out) {
  const int64_t ndim = self.dim();
  LAMELLA_CHECK(source.size() == destination.size(), argument("source"), ": ", source.size(), " dimensions to move to ",
                destination.size(), " places");
  const uint64_t from = wrap_dims("source", source, ndim), to = wrap_dims("destination", destination, ndim);
  if (ndim == 0) return infer_alias(self, out);
  int64_t order[LAMELLA_MAX_DIMS];
  for (size_t i = 0; i < source.size(); i++) {
    const int64_t s = source[i], d = destination[i];
    order[d < 0 ? d + ndim : d] = s < 0 ? s + ndim : s;
  }
  Dims v;
  int64_t next = 0;
  for (int64_t d = 0; d < ndim; d++) {
    if (!(to >> d & 1)) {
      while (from >> next & 1) next++;
      order[d] = next++;
    }
    v.add(self.sizes()[order[d]], self.strides()[order[d]]);
  }
  out.view(self, v.sizes, v.strides, self.storage_offset());
}
void infer_movedim_list(const Tensor& self, IntArrayRef source, IntArrayRef destination, Output out) {
  move_dims(self, source, destination, out);
}
void infer_movedim_int(const Tensor& self, int64_t source, int64_t destination, Output out) {
  move_dims(self, source, destination, out);
}

// ---- dimensions of size 1 ----

void expanded_to(const Tensor& self, const char* name, IntArrayRef wanted, Output& out) {
  const IntArrayRef sizes = self.sizes();
  const int64_t n = static_cast<int64_t>(wanted.size()), lead = n - self.dim();
  LAMELLA_CHECK(n <= LAMELLA_MAX_DIMS, argument(name), ": ", n, " dimensions, at most ", LAMELLA_MAX_DIMS,
                " are supported");
  LAMELLA_CHECK(lead >= 0, argument(name), ": ", n, " sizes for a tensor of shape ", shape_text(self));
  int64_t expanded[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  for (int64_t i = n - 1; i >= 0; i--) {
    const int64_t have = i < lead ? 1 : sizes[i - lead];
    const int64_t want = wanted[i] == -1 && i >= lead ? have : wanted[i];
    LAMELLA_CHECK(want >= 0 && (have == 1 || want == have), argument(name), ": shape ", shape_text(self),
                  " does not expand to ", shape_text(wanted), " (dimension ", i, ")");
    expanded[i] = want;
    strides[i] = i >= lead && have == want ? self.strides()[i - lead] : 0;
  }
  const IntArrayRef all(expanded, n);
  check_sizes(name, all, self.dtype());
  out.view(self, all, IntArrayRef(strides, n), self.storage_offset());
}
void infer_expand(const Tensor& self, IntArrayRef size, bool /*implicit*/, Output out) {
  expanded_to(self, "size", size, out);
}
void infer_broadcast_to(const Tensor& self, IntArrayRef size, Output out) { expanded_to(self, "size", size, out); }
void infer_expand_as(const Tensor& self, const Tensor& other, Output out) {
  expanded_to(self, "other", other.sizes(), out);
}

// Drops the dimensions of size 1 that are in the set, one bit each.
void squeezed(const Tensor& self, uint64_t dims, Output& out) {
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  Dims v;
  for (size_t d = 0; d < sizes.size(); d++)
    if (sizes[d] != 1 || !(dims >> d & 1)) v.add(sizes[d], strides[d]);
  out.view(self, v.sizes, v.strides, self.storage_offset());
}
}  // namespace

void infer_squeeze(const Tensor& self, Output out) { squeezed(self, ~uint64_t{0}, out); }
void infer_squeeze_dim(const Tensor& self, int64_t dim, Output out) {
  squeezed(self, uint64_t{1} << wrap_dim("dim", dim, self.dim()), out);
}
void infer_squeeze_dims(const Tensor& self, IntArrayRef dim, Output out) {
  squeezed(self, wrap_dims("dim", dim, self.dim()), out);
}

void infer_unsqueeze(const Tensor& self, int64_t dim, Output out) {
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  const int64_t n = self.dim(), d = wrap_dim("dim", dim, n + 1);
  LAMELLA_CHECK(n < LAMELLA_MAX_DIMS, argument("self"), ": it has ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  Dims v;
  for (int64_t k = 0; k < d; k++) v.add(sizes[k], strides[k]);
  v.add(1, d < n ? sizes[d] * strides[d] : 1);
  for (int64_t k = d; k < n; k++) v.add(sizes[k], strides[k]);
  out.view(self, v.sizes, v.strides, self.storage_offset());
}

// ---- parts of the elements ----

namespace {

// Returns the offset of the elements at an index along a dimension. The strides of an empty tensor may be so large that
// it overflows; then its own offset is as good.
inline int64_t offset_at(const Tensor& self, int64_t index, int64_t stride) {
  int64_t way, offset;
  const bool over =
      __builtin_mul_overflow(index, stride, &way) || __builtin_add_overflow(self.storage_offset(), way, &offset);
  return over ? self.storage_offset() : offset;
}

void infer_slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                 int64_t step, Output out) {
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": a zero-dim tensor cannot be sliced");
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = self.sizes()[d], stride = self.strides()[d];
  LAMELLA_CHECK_VALUE(step >= 1, argument("step"), ": the step must be positive, got ", step);
  const auto limit = [n](int64_t i) { return i < 0 ? std::max<int64_t>(i + n, 0) : std::min(i, n); };
  const int64_t first = start ? limit(*start) : 0, last = end ? limit(*end) : n;
  const int64_t length = std::max<int64_t>(last - first, 0);
  Dims v(self);
  v.sizes[d] = length / step + (length % step != 0);
  if (__builtin_mul_overflow(stride, step, &v.strides[d])) v.strides[d] = stride;  // at most one element is left
  out.view(self, v.sizes, v.strides, offset_at(self, first, stride));
}

void infer_narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length, Output out) {
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": a zero-dim tensor cannot be narrowed");
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = self.sizes()[d];
  LAMELLA_CHECK_INDEX(start >= -n && start <= n, argument("start"), ": ", start, " is out of range for dimension ", d,
                      " of size ", n);
  if (start < 0) start += n;
  LAMELLA_CHECK(length >= 0 && length <= n - start, argument("length"), ": ", length, " elements from ", start,
                " on exceed dimension ", d, " of size ", n);
  DimVector sizes(self.sizes());
  sizes[d] = length;
  out.view(self, sizes, self.strides(), offset_at(self, start, self.strides()[d]));
}

void infer_select(const Tensor& self, int64_t dim, int64_t index, Output out) {
  LAMELLA_CHECK_INDEX(self.dim() > 0, argument("self"), ": a zero-dim tensor has nothing to select from; use .item()");
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = sizes[d];
  LAMELLA_CHECK_INDEX(index >= -n && index < n, argument("index"), ": index ", index, " is out of range for dimension ",
                      d, " of size ", n);
  Dims v;
  for (int64_t k = 0; k < self.dim(); k++)
    if (k != d) v.add(sizes[k], strides[k]);
  out.view(self, v.sizes, v.strides, offset_at(self, index < 0 ? index + n : index, strides[d]));
}

void infer_diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, Output out) {
  const IntArrayRef sizes = self.sizes(), strides = self.strides();
  LAMELLA_CHECK(self.dim() >= 2, argument("self"), ": expected at least 2 dimensions, got shape ", shape_text(self));
  const int64_t i = wrap_dim("dim1", dim1, self.dim()), j = wrap_dim("dim2", dim2, self.dim());
  LAMELLA_CHECK(i != j, argument("dim2"), ": dimension ", j, " is 'dim1' already");
  const int64_t rows = sizes[i], columns = sizes[j];
  int64_t n = offset >= 0 ? std::min(rows, offset >= columns ? 0 : columns - offset)
                          : std::min(offset <= -rows ? 0 : rows + offset, columns);
  n = std::max<int64_t>(n, 0);
  const int64_t first = n == 0        ? self.storage_offset()
                        : offset >= 0 ? offset_at(self, offset, strides[j])
                                      : offset_at(self, -offset, strides[i]);
  int64_t both;
  if (__builtin_add_overflow(strides[i], strides[j], &both)) both = strides[i];  // of an empty tensor
  Dims v;
  for (int64_t k = 0; k < self.dim(); k++)
    if (k != i && k != j) v.add(sizes[k], strides[k]);
  v.add(n, both);
  out.view(self, v.sizes, v.strides, first);
}

// Cuts one dimension into windows of `size` that start `step` apart; a window becomes a new last dimension.
void infer_unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step, Output out) {
  const bool zero_dim = self.dim() == 0;
  const int64_t d = wrap_dim("dimension", dimension, self.dim()), length = zero_dim ? 1 : self.sizes()[d];
  LAMELLA_CHECK(size >= 0 && size <= length, argument("size"), ": expected 0 to ", length, ", the size of dimension ",
                d, ", got ", size);
  LAMELLA_CHECK(step > 0, argument("step"), ": the step must be positive, got ", step);
  LAMELLA_CHECK(self.dim() < LAMELLA_MAX_DIMS, argument("self"), ": it has ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  Dims v(self);
  const int64_t stride = zero_dim ? 1 : self.strides()[d];
  if (!zero_dim) {
    v.sizes[d] = (length - size) / step + 1;
    if (__builtin_mul_overflow(stride, step, &v.strides[d])) v.strides[d] = stride;  // a single window is left
  }
  v.add(size, stride);
  out.view(self, v.sizes, v.strides, self.storage_offset());
}

}  // namespace

void infer_as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset,
                      Output out) {
  LAMELLA_CHECK(size.size() == stride.size(), argument("stride"), ": ", stride.size(), " strides for ", size.size(),
                " sizes ('size')");
  check_sizes("size", size, kBool);
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  __int128 last = 0;
  bool empty = false;
  for (size_t i = 0; i < size.size(); i++) {
    LAMELLA_CHECK(stride[i] >= 0, argument("stride"), ": stride[", i, "] is ", stride[i],
                  "; strides must not be negative");
    empty |= size[i] == 0;
    last += static_cast<__int128>(size[i] - 1) * stride[i];
  }
  const __int128 end = empty ? offset : offset + last + 1;
  // The elements of an opaque tensor have no places in its storage: the layer's `carry` knows which views there are.
  const int64_t bytes = self.is_opaque() ? INT64_MAX : self.get()->storage->bytes;
  LAMELLA_CHECK(offset >= 0 && end * itemsize(self.dtype()) <= bytes, "'size' ", shape_text(size), " with 'stride' ",
                shape_text(stride), " from 'storage_offset' ", offset, " reach beyond the storage of ", bytes,
                " bytes");
  out.view(self, size, stride, offset);
}

LAMELLA_FAMILY(view, .category = "view", .forms = everywhere | no_kernel_needed) {
  return {
      {.schema = "t(Tensor(a) self) -> Tensor(a)",
       .dims = "a b -> b a | a -> a | ->",
       .infer = shape<infer_t>,
       .doc = R"(The transpose of a matrix; vectors stay as they are.

>>> lamella.ones(2, 3).t().shape
lamella.Size([3, 2])
)"},
      {.schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
       .infer = shape<infer_transpose>,
       .doc = R"(Swaps two dimensions.

>>> lamella.transpose(lamella.ones(2, 3, 4), 0, 2).shape
lamella.Size([4, 3, 2])
)",
       .aliases = "swapdims"},
      {.schema = "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
       .infer = shape<infer_permute>,
       .doc = R"(Reorders the dimensions.

>>> lamella.permute(lamella.ones(2, 3, 4), (2, 0, 1)).shape
lamella.Size([4, 2, 3])
)"},
      {.schema = "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_expand>,
       .doc = R"(Repeats dimensions of size 1 without copying; -1 keeps a size.

>>> lamella.tensor([[1], [2]]).expand(2, 3)
tensor([[1, 1, 1],
        [2, 2, 2]])
)"},
      {.schema =
           "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
       .dims = "keep",
       .forms = hidden | no_kernel_needed,
       .infer = shape<infer_slice>,
       .doc = "self[start:end:step] along one dimension."},
      {.schema = "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
       .dims = "reduce",
       .infer = shape<infer_select>,
       .doc = R"(One position along a dimension, which disappears.

Raises:
    IndexError: dim or index is out of range

>>> lamella.select(lamella.arange(6).view(2, 3), 0, 1)
tensor([3, 4, 5])
)"},
      {.schema = "squeeze(Tensor(a) self) -> Tensor(a)",
       .infer = shape<infer_squeeze>,
       .doc = R"(Drops dimensions of size 1: all, or those named.

>>> lamella.squeeze(lamella.ones(1, 3, 1)).shape
lamella.Size([3])
)"},
      {.schema = "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", .infer = shape<infer_squeeze_dim>},
      {.schema = "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", .infer = shape<infer_squeeze_dims>},
      {.schema = "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
       .infer = shape<infer_unsqueeze>,
       .doc = R"(Inserts a dimension of size 1.

>>> lamella.unsqueeze(lamella.ones(3), 0).shape
lamella.Size([1, 3])
)"},
      {.schema = "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
       .infer = shape<infer_as_strided>,
       .doc = R"(A view of the storage with the given sizes, strides and offset (in elements).

Raises:
    RuntimeError: it would reach beyond the storage

>>> lamella.as_strided(lamella.arange(5), (2, 2), (2, 1))
tensor([[0, 1],
        [2, 3]])
)"},
      {.schema = "detach(Tensor(a) self) -> Tensor(a)",
       .dims = "broadcast",
       .infer = shape<infer_detach>,
       .doc = R"(The same storage, cut from any history of gradients.

>>> lamella.ones(2).detach()
tensor([1., 1.])
)"},
      {.schema = "alias(Tensor(a) self) -> Tensor(a)",
       .dims = "broadcast",
       .forms = hidden | no_kernel_needed,
       .infer = shape<infer_alias>,
       .doc = "A second tensor over the same elements."},
      {.schema = "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
       .dims = "keep",
       .infer = shape<infer_narrow>,
       .doc = R"(`length` positions from `start` on along one dimension.

>>> lamella.narrow(lamella.arange(5), 0, 1, 3)
tensor([1, 2, 3])
)"},
      {.schema = "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
       .infer = shape<infer_swapaxes>,
       .doc = R"(transpose() by numpy's name.

>>> lamella.swapaxes(lamella.ones(2, 3), 0, 1).shape
lamella.Size([3, 2])
)"},
      {.schema = "unfold(Tensor(a) self, int dimension, SymInt size, SymInt step) -> Tensor(a)",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_unfold>,
       .doc = R"(Windows of `size` positions along one dimension, `step` apart; the positions within are a last
dimension.

>>> lamella.arange(5).unfold(0, 3, 2)
tensor([[0, 1, 2],
        [2, 3, 4]])
)"},
      {.schema = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
       .infer = shape<infer_diagonal>,
       .doc = R"(The diagonal of two dimensions, as a last dimension; `offset` columns to the right.

>>> lamella.diagonal(lamella.arange(4).view(2, 2))
tensor([0, 3])
)"},
      {.schema = "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
       .dims = "broadcast",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_expand_as>,
       .doc = R"(expand() to the shape of `other`.

>>> lamella.ones(1).expand_as(lamella.zeros(2))
tensor([1., 1.])
)"},
      {.schema = "broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
       .infer = shape<infer_broadcast_to>,
       .doc = R"(expand() by numpy's name.

>>> lamella.broadcast_to(lamella.tensor([1, 2]), (2, 2))
tensor([[1, 2],
        [1, 2]])
)"},
      {.schema = "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
       .infer = shape<infer_movedim_list>,
       .doc = R"(Moves dimensions to other places; the rest keep their order.

>>> lamella.movedim(lamella.ones(2, 3, 4), 0, 2).shape
lamella.Size([3, 4, 2])
)",
       .aliases = "moveaxis"},
      {.schema = "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
       .infer = shape<infer_movedim_int>},
  };
}

}  // namespace lamella::operators
