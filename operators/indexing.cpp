// self[indices] for index tensors and masks, read and written, by gather, scatter_, scatter_add_ and nonzero. Integers,
// slices and None are views, which the binding makes one by one.
#include "operators/indexing.h"

#include <lamella/operands.h>

namespace lamella::operators {

void check_int64(const char* name, const Tensor& index) {
  LAMELLA_CHECK(index.dtype() == kLong, argument(name), ": expected dtype int64, got ", index.dtype(),
                "; convert it with .to(lamella.int64)");
}

void check_places(const char* name, const Tensor& index) {
  if (index.dtype() != kInt) check_int64(name, index);
}

void check_integral(const char* name, const Tensor& index) {
  LAMELLA_CHECK_INDEX(is_integral(index.dtype()), argument(name), ": expected integers, got dtype ", index.dtype());
}

void check_same_dtype(const char* name, const Tensor& t, const Tensor& self) {
  LAMELLA_CHECK(t.dtype() == self.dtype(), argument(name), ": dtype ", t.dtype(), ", but 'self' has dtype ",
                self.dtype(), "; convert one");
}

void check_filling(const char* name, const Scalar& value, ScalarType dtype) { check_number(name, value, dtype); }

void check_filling(const char* name, const Tensor& value, ScalarType dtype) {
  LAMELLA_CHECK(value.dim() == 0, argument(name), ": expected a number or a zero-dim tensor, got shape ",
                shape_text(value));
  LAMELLA_CHECK(!is_complex(value.dtype()) || is_complex(dtype), argument(name), ": dtype ", value.dtype(),
                " does not fit dtype ", dtype);
  // A device's number is not read: the host would wait for it.
  if (value.is_cpu() && !(value.get()->flags & LAMELLA_OPAQUE) && core::is_plain(core_dtype(value.dtype())))
    check_number(name, Scalar(core::read_number(value.get())), dtype);
}

void check_apart(const char* name, const Tensor& t, const Tensor& self) {
  LAMELLA_CHECK(t.get()->storage != self.get()->storage || t.numel() == 0, argument(name),
                ": it shares memory with 'self', which is written; clone() it");
}

Tensor wrapped(const Tensor& index, int64_t n) { return lamella::where(index.lt(0), index + n, index); }

namespace {

// How a list of index tensors selects from a shape.
struct Plan {
  int64_t used = 0;    // dimensions of self that the list covers, with one for each absent tensor
  int64_t first = -1;  // dimensions of self before the first index tensor; -1: there is no index tensor
  bool adjacent = true, masks = false;
  DimVector shape;  // of the integer index tensors, broadcast
};

std::string position(size_t i) { return argument("indices") + ": position " + std::to_string(i); }

void check_index_mask(const Tensor& self, const Tensor& mask, size_t i, int64_t at) {
  if (at + mask.dim() > self.dim()) return;  // raised by the caller
  for (int64_t d = 0; d < mask.dim(); d++)
    LAMELLA_CHECK_INDEX(mask.sizes()[d] == self.sizes()[at + d], position(i), ": a mask of shape ", shape_text(mask),
                        " does not cover shape ", shape_text(self), " from dimension ", at, " on");
}

Plan read_plan(const Tensor& self, TensorList indices) {
  LAMELLA_CHECK_INDEX(indices.size() <= LAMELLA_MAX_DIMS, argument("indices"), ": ", indices.size(),
                      " index tensors, at most ", LAMELLA_MAX_DIMS, " are supported");
  Plan p;
  size_t next = 0;  // the position after the last index tensor
  for (size_t i = 0; i < indices.size(); i++) {
    const Tensor& t = indices[i];
    if (!t.defined()) {
      p.used++;
      continue;
    }
    const bool mask = t.dtype() == kBool;
    LAMELLA_CHECK_INDEX(mask || is_integral(t.dtype()), position(i), ": expected integers or a bool mask, got dtype ",
                        t.dtype());
    if (mask) check_index_mask(self, t, i, p.used);
    p.adjacent = p.adjacent && (p.first < 0 || next == i);
    if (p.first < 0) p.first = p.used;
    next = i + 1;
    p.used += mask ? t.dim() : 1;
    p.masks |= mask;
    LAMELLA_CHECK_INDEX(mask || broadcast(&p.shape, t.sizes()), position(i), ": shape ", shape_text(t),
                        " does not broadcast with that of the index tensors before, ", shape_text(p.shape));
  }
  LAMELLA_CHECK_INDEX(p.used <= self.dim(), argument("indices"), ": ", p.used,
                      " dimensions are indexed, but 'self' has ", self.dim());
  return p;
}

int64_t absent(TensorList list) {
  return std::count_if(list.begin(), list.end(), [](const Tensor& t) { return !t.defined(); });
}

// Returns the result's shape if no mask is among the indices.
DimVector indexed_shape(const Tensor& self, TensorList indices, const Plan& p) {
  DimVector sizes;
  const int64_t lead = p.adjacent && p.first >= 0 ? p.first : 0;
  for (int64_t d = 0; d < lead; d++) sizes.push_back(self.sizes()[d]);
  sizes.append(p.shape);
  for (int64_t d = lead; d < self.dim(); d++)
    if (d >= static_cast<int64_t>(indices.size()) || !indices[d].defined()) sizes.push_back(self.sizes()[d]);
  return sizes;
}

void infer_index(const Tensor& self, TensorList indices, Output out) {
  const Plan p = read_plan(self, indices);
  if (p.masks) return out.dynamic();
  const int64_t width = static_cast<int64_t>(p.shape.size()), ndim = self.dim() - (p.used - absent(indices)) + width;
  LAMELLA_CHECK_INDEX(ndim <= LAMELLA_MAX_DIMS, argument("indices"), ": the result would have ", ndim,
                      " dimensions, at most ", LAMELLA_MAX_DIMS, " are supported");
  const DimVector sizes = indexed_shape(self, indices, p);
  check_sizes("indices", sizes, self.dtype());
  out.set(sizes, self.dtype());
}

void check_index_put(const Tensor& self, TensorList indices, const Tensor& values, bool /*accumulate*/) {
  const Plan p = read_plan(self, indices);
  check_same_dtype("values", values, self);
  if (p.masks) return;
  const DimVector sizes = indexed_shape(self, indices, p);
  DimVector both = sizes;
  LAMELLA_CHECK(broadcast(&both, values.sizes()) && IntArrayRef(both) == IntArrayRef(sizes), argument("values"),
                ": shape ", shape_text(values), " does not broadcast to the indexed shape ", shape_text(sizes));
}

// Indexing as gather or scatter_ along one dimension: the indexed dimensions are moved to the front and joined.
struct Flat {
  Tensor self;            // permuted: the indexed dimensions, then the kept ones
  Tensor index;           // for each element of `shape`, its place among the indexed dimensions
  DimVector shape, kept;  // the sizes of the indices; of the kept dimensions
  DimVector home;         // the permutation of (shape..., kept...) to the result
  int64_t places = 1, rest = 1;
};

Flat flatten_index(const Tensor& self, TensorList list) {
  Flat flat;
  flat.self = self;
  std::vector<Tensor> indices;
  std::vector<bool> indexed;
  int64_t first = -1;
  bool adjacent = true, ended = false;
  const auto use = [&](Tensor index) {
    indices.push_back(std::move(index));
    indexed.push_back(true);
    if (first < 0) first = static_cast<int64_t>(indexed.size()) - 1;
    adjacent = adjacent && !ended;
  };
  for (const Tensor& t : list) {
    if (!t.defined()) {
      indexed.push_back(false);
      ended = first >= 0;
    } else if (t.dtype() != kBool) {
      use(as(t, kLong));
    } else if (t.dim() == 0) {  // a zero-dim mask adds a dimension, of size one if it is true, else of size zero
      flat.self = flat.self.unsqueeze(static_cast<int64_t>(indexed.size()));
      use(t.reshape({1}).nonzero().select(1, 0));
    } else {
      const Tensor all = t.nonzero();
      for (int64_t d = 0; d < t.dim(); d++) use(all.select(1, d));
    }
  }
  const int64_t ndim = flat.self.dim();
  indexed.resize(ndim, false);
  for (const Tensor& t : indices)
    LAMELLA_CHECK_INDEX(broadcast(&flat.shape, t.sizes()), argument("indices"),
                        ": the shapes of index tensors, and of the positions that masks hold, do not broadcast, got ",
                        shape_text(t), " after others");
  DimVector order;
  for (int64_t d = 0; d < ndim; d++)
    if (indexed[d]) order.push_back(d);
  for (int64_t d = 0; d < ndim; d++)
    if (!indexed[d]) {
      order.push_back(d);
      flat.kept.push_back(flat.self.size(d));
      flat.rest *= flat.self.size(d);
    }
  // The place of each index: the row-major position among the indexed dimensions. One index tensor is the place itself;
  // with several, an index out of range gives -1.
  std::vector<Tensor> bad;
  size_t k = 0;
  for (int64_t d = 0; d < ndim; d++) {
    if (!indexed[d]) continue;
    const int64_t n = flat.self.size(d);
    const Tensor i = wrapped(indices[k++], n);
    if (indices.size() > 1) {
      bad.push_back(i.lt(0));
      bad.push_back(i.ge(n));
    }
    flat.index = flat.index.defined() ? flat.index * n + i : i;
    flat.places *= n;
  }
  for (const Tensor& b : bad) flat.index = lamella::where(b, -1, flat.index);
  flat.index = flat.index.expand(flat.shape);
  flat.self = flat.self.permute(order);
  const int64_t lead = adjacent ? first : 0, width = static_cast<int64_t>(flat.shape.size());
  for (int64_t d = 0; d < lead; d++) flat.home.push_back(width + d);
  for (int64_t d = 0; d < width; d++) flat.home.push_back(d);
  for (int64_t d = lead; d < static_cast<int64_t>(flat.kept.size()); d++) flat.home.push_back(width + d);
  return flat;
}

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

DimVector joined(DimVector first, IntArrayRef second) {
  first.append(second);
  return first;
}

Tensor rows(const Flat& flat) {
  const int64_t n = product(flat.shape);
  return flat.index.reshape({n, 1}).expand({n, flat.rest});
}

Tensor index(const Tensor& self, TensorList indices) {
  if (nothing_indexed(indices)) return self.clone();
  const Flat flat = flatten_index(self, indices);
  const Tensor from = flat.self.reshape({flat.places, flat.rest});
  const Tensor got = from.gather(0, rows(flat)).reshape(joined(flat.shape, flat.kept));
  bool moved = false;
  for (size_t d = 0; d < flat.home.size(); d++) moved |= flat.home[d] != static_cast<int64_t>(d);
  return moved ? got.permute(flat.home).contiguous() : got;
}

const Tensor& index_put_inplace(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  const Tensor given = values.get()->storage == self.get()->storage ? values.clone() : values;
  if (nothing_indexed(indices)) return accumulate ? self.add_(given) : self.copy_(given);
  const Flat flat = flatten_index(self, indices);
  const DimVector shape = joined(flat.shape, flat.kept);
  DimVector result, back(flat.home.size(), 0);  // the result's shape, and the permutation from it to `shape`
  for (size_t d = 0; d < flat.home.size(); d++) {
    result.push_back(shape[flat.home[d]]);
    back[flat.home[d]] = static_cast<int64_t>(d);
  }
  const Tensor from = given.expand(result).permute(back).reshape({product(flat.shape), flat.rest});
  const Tensor into = flat.self.reshape({flat.places, flat.rest});
  Tensor at = rows(flat);
  if (at.get()->storage == into.get()->storage) at = at.clone();
  if (accumulate)
    into.scatter_add_(0, at, from);
  else
    into.scatter_(0, at, from);
  if (into.get()->storage != self.get()->storage)
    flat.self.copy_(into.reshape(flat.self.sizes()));  // reshape had to copy
  return self;
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  return self.clone(MemoryFormat::Contiguous).index_put_(indices, values, accumulate);
}

}  // namespace

LAMELLA_FAMILY(indexing, .category = "scatter") {
  return {
      {.schema = "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
       .category = "indexing",
       .forms = hidden | function,
       .infer = shape<infer_index>,
       .composite = composite<index>,
       .doc = R"(self[indices]: index tensors of integers, which broadcast, and bool masks; an absent one takes all
of its dimension. What they give stands where they stood, or first if they were apart.

>>> lamella.tensor([[1, 2], [3, 4]])[lamella.tensor([1, 0]), lamella.tensor([0, 0])]
tensor([3, 1])
)"},
      {.schema = "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
       .forms = everywhere,
       .infer = shape<infer_written<check_index_put>>,
       .composite = composite<index_put_inplace>,
       .doc = R"(index_put() in place: self[indices] = values.

>>> lamella.zeros(3).index_put_([lamella.tensor([2, 0])], lamella.tensor(1.))
tensor([1., 0., 1.])
)"},
      {.schema = "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_copied<check_index_put>>,
       .composite = composite<index_put>,
       .doc = R"(`self` with `values`, which broadcast, at the places that index tensors and masks name. Of several
values for one place the last in row-major order stays, or, with `accumulate`, all are added.

>>> lamella.index_put(lamella.zeros(2), [lamella.tensor([1, 1])], lamella.tensor([1., 2.]), accumulate=True)
tensor([0., 3.])
)"},
  };
}

}  // namespace lamella::operators
