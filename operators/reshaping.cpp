// Reshaping: the same elements in another shape, a view if the strides allow it, else a copy.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Computes the strides of `t` in other sizes with the same number of elements; returns false if that needs a copy.
bool view_strides(const Tensor& t, IntArrayRef sizes, int64_t* strides) {
  const int64_t *old_sizes = t.sizes().data(), *old_strides = t.strides().data();
  const int64_t ndim = t.dim();
  if (t.numel() == 0) {
    core::contiguous_strides(static_cast<int>(sizes.size()), sizes.data(), strides);
    return true;
  }
  // Walks both from the inside: each run of old dimensions without gaps must hold whole new dimensions.
  int64_t at = static_cast<int64_t>(sizes.size()) - 1;
  int64_t run = 1, seen = 1, base = ndim ? old_strides[ndim - 1] : 1;
  for (int64_t d = ndim - 1; d >= 0; d--) {
    run *= old_sizes[d];
    const bool last = d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != run * base);
    if (!last) continue;
    while (at >= 0 && (seen < run || sizes[at] == 1)) {
      strides[at] = seen * base;
      seen *= sizes[at--];
    }
    if (seen != run) return false;
    if (d > 0) {
      base = old_strides[d - 1];
      run = seen = 1;
    }
  }
  for (; at >= 0; at--) strides[at] = seen * base;  // leading ones
  return true;
}

// Resolves one -1 in a list of sizes.
void infer_sizes(const char* name, IntArrayRef wanted, int64_t numel, int64_t* sizes) {
  int64_t unknown = -1, known = 1;
  LAMELLA_CHECK(wanted.size() <= LAMELLA_MAX_DIMS, argument(name), ": ", wanted.size(), " dimensions, at most ",
                LAMELLA_MAX_DIMS, " are supported");
  for (size_t i = 0; i < wanted.size(); i++) {
    sizes[i] = wanted[i];
    if (sizes[i] == -1) {
      LAMELLA_CHECK(unknown < 0, argument(name), ": only one size may be -1, got ", shape_text(wanted));
      unknown = static_cast<int64_t>(i);
      continue;
    }
    LAMELLA_CHECK(sizes[i] >= 0, argument(name), ": size[", i, "] is ", sizes[i], "; sizes must not be negative");
    LAMELLA_CHECK(!__builtin_mul_overflow(known, sizes[i], &known), argument(name), ": the sizes ", shape_text(wanted),
                  " overflow");
  }
  if (unknown >= 0 && known > 0 && numel % known == 0)
    sizes[unknown] = numel / known;
  else
    LAMELLA_CHECK(unknown < 0 && known == numel, argument(name), ": ", numel, " elements do not fill the shape ",
                  shape_text(wanted), unknown >= 0 && known == 0 ? "; -1 is ambiguous beside a size of 0" : "");
}

void seen_as(const Tensor& self, const char* name, IntArrayRef wanted, Output& out) {
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  infer_sizes(name, wanted, self.numel(), sizes);
  const IntArrayRef all(sizes, wanted.size());
  if (self.is_contiguous())
    core::contiguous_strides(static_cast<int>(all.size()), sizes, strides);
  else
    LAMELLA_CHECK(view_strides(self, all, strides), argument(name), ": shape ", shape_text(self), " with strides ",
                  shape_text(self.strides()), " cannot be seen as ", shape_text(wanted),
                  " without copying; use reshape()");
  out.view(self, all, IntArrayRef(strides, all.size()), self.storage_offset());
}
void infer_view(const Tensor& self, IntArrayRef size, Output out) { seen_as(self, "size", size, out); }
void infer_view_as(const Tensor& self, const Tensor& other, Output out) { seen_as(self, "other", other.sizes(), out); }

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  infer_sizes("shape", shape, self.numel(), sizes);
  const bool seen = self.is_contiguous() || view_strides(self, IntArrayRef(sizes, shape.size()), strides);
  return seen ? self.view(shape) : self.clone(MemoryFormat::Contiguous).view(shape);
}

// Infers a view of the same bytes as another dtype. Larger items make the last dimension shorter, smaller ones longer.
void infer_view_dtype(const Tensor& self, ScalarType dtype, Output out) {
  const int64_t from = itemsize(self.dtype()), to = itemsize(dtype), last = self.dim() - 1;
  if (from == to) return out.view(self, self.sizes(), self.strides(), self.storage_offset(), dtype);
  LAMELLA_CHECK(last >= 0 && self.strides()[last] == 1, argument("dtype"),
                ": items of another size need a last dimension without gaps, got shape ", shape_text(self),
                " with strides ", shape_text(self.strides()));
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset();
  // Sizes, strides and the offset count items: of `from` bytes before, of `to` bytes after.
  bool even = offset * from % to == 0 && sizes[last] * from % to == 0;
  for (int64_t d = 0; d < last; d++) even = even && strides[d] * from % to == 0;
  LAMELLA_CHECK(even, argument("dtype"), ": shape ", shape_text(self),
                ", its strides or its offset are no multiples of ", to, " bytes");
  sizes[last] = sizes[last] * from / to;
  for (int64_t d = 0; d < last; d++) strides[d] = strides[d] * from / to;
  out.view(self, sizes, strides, offset * from / to, dtype);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim("start_dim", start_dim, self.dim()), last = wrap_dim("end_dim", end_dim, self.dim());
  LAMELLA_CHECK(first <= last, argument("end_dim"), ": dimension ", last, " comes before 'start_dim', ", first);
  if (self.dim() == 0) return self.reshape({1});
  if (first == last) return self;
  DimVector sizes;
  for (int64_t d = 0; d < first; d++) sizes.push_back(self.sizes()[d]);
  int64_t n = 1;
  for (int64_t d = first; d <= last; d++) n *= self.sizes()[d];
  sizes.push_back(n);
  for (int64_t d = last + 1; d < self.dim(); d++) sizes.push_back(self.sizes()[d]);
  return self.is_contiguous() ? self.view(sizes) : self.reshape(sizes);
}

Tensor ravel(const Tensor& self) {
  if (self.is_contiguous()) return self.dim() == 1 ? self : self.view({self.numel()});
  return self.reshape({self.numel()}).contiguous();
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  int64_t inner[LAMELLA_MAX_DIMS];
  LAMELLA_CHECK(!sizes.empty(), argument("sizes"), ": expected at least one size");
  infer_sizes("sizes", sizes, self.dim() ? self.sizes()[d] : 1, inner);
  LAMELLA_CHECK(self.dim() + static_cast<int64_t>(sizes.size()) - 1 <= LAMELLA_MAX_DIMS, argument("sizes"),
                ": the result would have ", self.dim() + static_cast<int64_t>(sizes.size()) - 1,
                " dimensions, at most ", LAMELLA_MAX_DIMS, " are supported");
  DimVector all;
  for (int64_t k = 0; k < d; k++) all.push_back(self.sizes()[k]);
  all.append(IntArrayRef(inner, sizes.size()));
  for (int64_t k = d + 1; k < self.dim(); k++) all.push_back(self.sizes()[k]);
  return self.view(all);
}

template <int Least>
Tensor atleast(const Tensor& self) {
  if (self.dim() >= Least) return self;
  Tensor x = self;
  if (x.dim() == 0) x = x.reshape({1});
  if (Least > 1 && x.dim() == 1) x = x.unsqueeze(0);
  if (Least > 2 && x.dim() == 2) x = x.unsqueeze(-1);
  return x;
}
template <int Least>
std::vector<Tensor> atleast_each(TensorList tensors) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& t : tensors) all.push_back(atleast<Least>(t));
  return all;
}

}  // namespace

LAMELLA_FAMILY(reshaping, .category = "view", .forms = function) {
  return {
      {.schema = "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_view>,
       .doc = R"(The same elements in another shape, without copying; one size may be -1.

Raises:
    RuntimeError: the strides do not allow it; use reshape

>>> lamella.arange(6).view(2, 3)
tensor([[0, 1, 2],
        [3, 4, 5]])
)"},
      {.schema = "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
       .dims = "... a~ -> ... a~ | ->",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_view_dtype>},
      {.schema = "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
       .forms = everywhere,
       .composite = composite<reshape>,
       .doc = R"(The same elements in another shape: a view where possible, else a copy.

>>> lamella.reshape(lamella.arange(4), (2, 2))
tensor([[0, 1],
        [2, 3]])
)"},
      {.schema = "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
       .forms = method | no_kernel_needed,
       .infer = shape<infer_view_as>,
       .doc = R"(view() with the shape of `other`.

>>> lamella.ones(4).view_as(lamella.zeros(2, 2)).shape
lamella.Size([2, 2])
)"},
      {.schema = "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
       .forms = everywhere,
       .composite = composite<flatten>,
       .doc = R"(The dimensions from `start_dim` to `end_dim` as one: a view where possible, else a copy.

>>> lamella.flatten(lamella.ones(2, 3, 4), 1).shape
lamella.Size([2, 12])
)"},
      {.schema = "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
       .forms = everywhere,
       .composite = composite<unflatten>,
       .doc = R"(One dimension as several; one size may be -1.

>>> lamella.unflatten(lamella.ones(6), 0, (2, -1)).shape
lamella.Size([2, 3])
)"},
      {.schema = "ravel(Tensor(a) self) -> Tensor(a)",
       .dims = "a -> a | ...~ -> b",
       .forms = everywhere,
       .composite = composite<ravel>,
       .doc = R"(All elements as one contiguous dimension: a view where possible, else a copy.

>>> lamella.ravel(lamella.ones(2, 2)).shape
lamella.Size([4])
)"},
      {.schema = "atleast_1d(Tensor(a) self) -> Tensor(a)",
       .dims = "a ... -> a ... | -> a",
       .composite = composite<atleast<1>>,
       .doc = R"(`self` with at least one dimension.

>>> lamella.atleast_1d(lamella.tensor(1))
tensor([1])
)"},
      {.schema = "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", .composite = composite<atleast_each<1>>},
      {.schema = "atleast_2d(Tensor(a) self) -> Tensor(a)",
       .dims = "a b ... -> a b ... | b -> a b | -> a b",
       .composite = composite<atleast<2>>,
       .doc = R"(`self` with at least two dimensions; a vector becomes a row.

>>> lamella.atleast_2d(lamella.tensor([1, 2]))
tensor([[1, 2]])
)"},
      {.schema = "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", .composite = composite<atleast_each<2>>},
      {.schema = "atleast_3d(Tensor(a) self) -> Tensor(a)",
       .dims = "a b c ... -> a b c ... | a b -> a b c | b -> a b c | -> a b c",
       .composite = composite<atleast<3>>,
       .doc = R"(`self` with at least three dimensions, as numpy inserts them.

>>> lamella.atleast_3d(lamella.ones(2, 3)).shape
lamella.Size([2, 3, 1])
)"},
      {.schema = "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", .composite = composite<atleast_each<3>>},
  };
}

}  // namespace lamella::operators
