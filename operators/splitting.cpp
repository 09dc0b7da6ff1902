// Splitting: lists of views, each a piece of a dimension.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Returns the size of a dimension that is to be split.
int64_t cuttable(const Tensor& self, int64_t dim) {
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": a zero-dim tensor cannot be split");
  return self.sizes()[wrap_dim("dim", dim, self.dim())];
}

// Returns the pieces [cuts[i], cuts[i + 1]).
std::vector<Tensor> pieces(const Tensor& self, int64_t dim, const std::vector<int64_t>& cuts) {
  std::vector<Tensor> all;
  all.reserve(cuts.size());
  for (size_t i = 0; i + 1 < cuts.size(); i++) all.push_back(slice(self, dim, cuts[i], std::max(cuts[i], cuts[i + 1])));
  return all;
}

// Returns pieces of `size` positions of n, the last perhaps smaller.
std::vector<Tensor> split_by(const Tensor& self, int64_t dim, int64_t size, int64_t n) {
  std::vector<int64_t> cuts;
  cuts.reserve(n / size + 2);
  cuts.push_back(0);
  for (int64_t at = size; at < n; at += size) cuts.push_back(at);
  cuts.push_back(n);
  return pieces(self, dim, cuts);
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  LAMELLA_CHECK(split_size > 0 || (split_size == 0 && n == 0), argument("split_size"),
                ": expected a positive size of the pieces, got ", split_size, " for a dimension of size ", n);
  return split_by(self, dim, std::max<int64_t>(split_size, 1), n);
}

std::vector<Tensor> split_into(const Tensor& self, const char* name, IntArrayRef sizes, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  std::vector<int64_t> cuts{0};
  bool negative = false;
  for (int64_t size : sizes) {
    negative |= size < 0;
    cuts.push_back(cuts.back() + std::clamp<int64_t>(size, 0, n + 1));
  }
  LAMELLA_CHECK(!negative && cuts.back() == n, argument(name), ": sizes ", shape_text(sizes),
                " do not add up to the dimension's size, ", n);
  return pieces(self, dim, cuts);
}
std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return split_into(self, "split_size", split_size, dim);
}
std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return split_into(self, "split_sizes", split_sizes, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  LAMELLA_CHECK(chunks > 0, argument("chunks"), ": expected a positive number, got ", chunks);
  if (n == 0) return pieces(self, dim, std::vector<int64_t>(std::min<int64_t>(chunks, 1 << 20) + 1, 0));
  return split_by(self, dim, n / chunks + (n % chunks != 0), n);
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  LAMELLA_CHECK(sections > 0, argument("sections"), ": expected a positive number, got ", sections);
  std::vector<int64_t> cuts;
  cuts.reserve(sections + 1);
  cuts.push_back(0);
  for (int64_t i = 0; i < sections; i++) cuts.push_back(cuts.back() + n / sections + (i < n % sections));
  return pieces(self, dim, cuts);
}

// Indices count as in a slice. If they rise, the pieces make up the whole.
std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  std::vector<int64_t> cuts{0}, sizes;
  for (size_t i = 0; i <= indices.size(); i++) {
    const int64_t at = i < indices.size() ? indices[i] : n;
    cuts.push_back(std::clamp<int64_t>(at < 0 ? at + n : at, 0, n));
    sizes.push_back(cuts[i + 1] - cuts[i]);
  }
  if (*std::min_element(sizes.begin(), sizes.end()) < 0) return pieces(self, dim, cuts);
  return lamella::split_with_sizes(self, sizes, dim);
}

// A zero-dim `where` holds the number of pieces, a vector the places at which the pieces after the first begin.
std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& where, int64_t dim) {
  LAMELLA_CHECK(where.dim() <= 1 && where.dtype() == kLong, argument("tensor_indices_or_sections"),
                ": expected an int64 number or row, got ", where.dtype(), " of shape ", shape_text(where));
  if (where.dim() == 0) return tensor_split_sections(self, where.item().toLong(), dim);
  DimVector indices;
  for (int64_t i = 0; i < where.size(0); i++) indices.push_back(where.select(0, i).item().toLong());
  return tensor_split_indices(self, indices, dim);
}

// The dimension that hsplit (1, of a vector 0), vsplit (0) and dsplit (2) cut.
template <int Dim>
int64_t split_dim(const Tensor& self) {
  LAMELLA_CHECK(self.dim() >= (Dim == 1 ? 1 : Dim + 1), argument("self"), ": expected at least ",
                Dim == 1 ? 1 : Dim + 1, " dimensions, got shape ", shape_text(self));
  return Dim == 1 && self.dim() == 1 ? 0 : Dim;
}
// Splits into equal parts; raises if the size is no multiple of their number.
template <int Dim>
std::vector<Tensor> split_sections(const Tensor& self, int64_t sections) {
  const int64_t d = split_dim<Dim>(self), n = self.sizes()[d];
  LAMELLA_CHECK(sections > 0 && n % sections == 0, argument("sections"), ": dimension ", d, " of size ", n,
                " does not split into ", sections, " equal parts");
  return lamella::tensor_split(self, sections, d);
}
template <int Dim>
std::vector<Tensor> split_indices(const Tensor& self, IntArrayRef indices) {
  return lamella::tensor_split(self, indices, split_dim<Dim>(self));
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  const int64_t n = cuttable(self, dim);
  std::vector<Tensor> all;
  all.reserve(n);
  for (int64_t i = 0; i < n; i++) all.push_back(self.select(dim, i));
  return all;
}

}  // namespace

LAMELLA_FAMILY(splitting, .category = "view", .forms = everywhere, .dims = "keep") {
  return {
      {.schema = "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
       .composite = composite<chunk>,
       .doc = R"(At most `chunks` pieces of one size along a dimension, the last perhaps smaller.

>>> lamella.chunk(lamella.arange(5), 2)
(tensor([0, 1, 2]), tensor([3, 4]))
)",
       .aliases = "unsafe_chunk"},
      {.schema = "split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
       .composite = composite<split>,
       .doc = R"(Pieces along a dimension: of one size, the last perhaps smaller, or of the given sizes.

>>> lamella.split(lamella.arange(3), 2)
(tensor([0, 1]), tensor([2]))
)",
       .aliases = "unsafe_split"},
      {.schema = "split.sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
       .composite = composite<split_sizes>},
      {.schema = "split_with_sizes(Tensor(a) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
       .composite = composite<split_with_sizes>,
       .doc = R"(Pieces of the given sizes along a dimension.

>>> lamella.split_with_sizes(lamella.arange(3), (1, 2))
(tensor([0]), tensor([1, 2]))
)",
       .aliases = "unsafe_split_with_sizes"},
      {.schema = "tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]",
       .composite = composite<tensor_split_sections>,
       .doc = R"(A number of pieces along a dimension, whose sizes differ by one at most, or pieces that start at
given indices.

>>> lamella.tensor_split(lamella.arange(5), 3)
(tensor([0, 1]), tensor([2, 3]), tensor([4]))
)"},
      {.schema = "tensor_split.indices(Tensor(a) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
       .composite = composite<tensor_split_indices>},
      {.schema = "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int "
                 "dim=0) -> Tensor(a)[]",
       .dims = "",
       .composite = composite<tensor_split_tensor>},
      {.schema = "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
       .dims = "a b~ ... -> a b~ ... | a~ -> a~",
       .composite = composite<split_sections<1>>,
       .doc = R"(Equal pieces along the second dimension, of a vector along the only one, or pieces that start at
given indices.

>>> lamella.hsplit(lamella.arange(4), 2)
(tensor([0, 1]), tensor([2, 3]))
)"},
      {.schema = "hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
       .dims = "a b~ ... -> a b~ ... | a~ -> a~",
       .composite = composite<split_indices<1>>},
      {.schema = "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
       .dims = "a~ ... -> a~ ...",
       .composite = composite<split_sections<0>>,
       .doc = R"(Equal pieces along the first dimension, or pieces that start at given indices.

>>> lamella.vsplit(lamella.ones(2, 3), 2)[0].shape
lamella.Size([1, 3])
)"},
      {.schema = "vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
       .dims = "a~ ... -> a~ ...",
       .composite = composite<split_indices<0>>},
      {.schema = "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
       .dims = "a b c~ ... -> a b c~ ...",
       .composite = composite<split_sections<2>>,
       .doc = R"(Equal pieces along the third dimension, or pieces that start at given indices.

>>> lamella.dsplit(lamella.ones(1, 1, 4), 2)[0].shape
lamella.Size([1, 1, 2])
)"},
      {.schema = "dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
       .dims = "a b c~ ... -> a b c~ ...",
       .composite = composite<split_indices<2>>},
      {.schema = "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
       .dims = "reduce",
       .composite = composite<unbind>,
       .doc = R"(One view for each position along a dimension.

>>> lamella.unbind(lamella.tensor([[1, 2], [3, 4]]))
(tensor([1, 2]), tensor([3, 4]))
)"},
  };
}

}  // namespace lamella::operators
