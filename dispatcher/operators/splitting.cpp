// Lists of views: the pieces of a dimension.
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

// A dimension that can be cut; its size.
lamella_status cuttable(lamella_frame* f, int arg, const Value& dim, const Tensor* t, int64_t* size) {
  int d;
  if (t->ndim() == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor cannot be split");
  if (lamella_status st = wrap_dim(f, arg, dim.as.i, t->ndim(), &d)) return st;
  *size = t->sizes()[d];
  return LAMELLA_OK;
}

// Pieces [cuts[i], cuts[i + 1]).
lamella_status pieces(lamella_frame* f, const Value& self, const Value& dim, const std::vector<int64_t>& cuts,
                      Value* r) {
  Compose c(f);
  std::vector<Var> all;
  all.reserve(cuts.size());
  for (size_t i = 0; i + 1 < cuts.size(); i++)
    all.push_back(c.op<"slice.Tensor">(self, dim, cuts[i], std::max(cuts[i], cuts[i + 1])));
  return c.give(r, c.list(all));
}

lamella_status split_by(lamella_frame* f, const Value* a, int64_t size, int64_t n, Value* r) {
  std::vector<int64_t> cuts;
  cuts.reserve(n / size + 2);
  cuts.push_back(0);
  for (int64_t at = size; at < n; at += size) cuts.push_back(at);
  cuts.push_back(n);
  return pieces(f, a[0], a[2], cuts, r);
}

// self, split_size, dim
lamella_status split(lamella_frame* f, const Value* a, Value* r) {
  int64_t n;
  if (lamella_status st = cuttable(f, 2, a[2], tensor_arg(a[0]), &n)) return st;
  const int64_t size = a[1].as.i;
  if (size < 0 || (size == 0 && n > 0))
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: pieces of %lld elements from a dimension of size %lld",
                                               where(f, 1).c_str(), (long long)size, (long long)n));
  return split_by(f, a, std::max<int64_t>(size, 1), n, r);
}

// self, split_sizes, dim
lamella_status split_sizes(lamella_frame* f, const Value* a, Value* r) {
  int64_t n;
  if (lamella_status st = cuttable(f, 2, a[2], tensor_arg(a[0]), &n)) return st;
  std::vector<int64_t> cuts{0};
  bool negative = false;
  for (uint32_t i = 0; i < a[1].length; i++) {
    negative |= a[1].as.ints[i] < 0;
    cuts.push_back(cuts.back() + std::clamp<int64_t>(a[1].as.ints[i], 0, n + 1));
  }
  if (negative || cuts.back() != n)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: sizes %s do not add up to the dimension's size, %lld",
                                               where(f, 1).c_str(), core::describe(a[1]).c_str(), (long long)n));
  return pieces(f, a[0], a[2], cuts, r);
}

// self, chunks, dim
lamella_status chunk(lamella_frame* f, const Value* a, Value* r) {
  int64_t n;
  if (lamella_status st = cuttable(f, 2, a[2], tensor_arg(a[0]), &n)) return st;
  const int64_t chunks = a[1].as.i;
  if (chunks <= 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected a positive number, got %lld", where(f, 1).c_str(), (long long)chunks));
  if (n == 0) return pieces(f, a[0], a[2], std::vector<int64_t>(std::min<int64_t>(chunks, 1 << 20) + 1, 0), r);
  return split_by(f, a, n / chunks + (n % chunks != 0), n, r);
}

lamella_status sections(lamella_frame* f, const Value& self, const Value& dim, int64_t n, int64_t count, Value* r) {
  std::vector<int64_t> cuts;
  cuts.reserve(count + 1);
  cuts.push_back(0);
  for (int64_t i = 0; i < count; i++) cuts.push_back(cuts.back() + n / count + (i < n % count));
  return pieces(f, self, dim, cuts, r);
}

// Indices are a slice's. As long as they rise, the pieces make up the whole.
lamella_status at_indices(lamella_frame* f, const Value& self, const Value& dim, int64_t n, const Value& list,
                          Value* r) {
  std::vector<int64_t> cuts{0}, sizes;
  for (uint32_t i = 0; i <= list.length; i++) {
    const int64_t at = i < list.length ? list.as.ints[i] : n;
    cuts.push_back(std::clamp<int64_t>(at < 0 ? at + n : at, 0, n));
    sizes.push_back(cuts[i + 1] - cuts[i]);
  }
  if (*std::min_element(sizes.begin(), sizes.end()) < 0) return pieces(f, self, dim, cuts, r);
  Compose c(f);
  return c.give(r, c.op<"split_with_sizes">(self, core::int_list(sizes.data(), list.length + 1), dim));
}

// self, sections or indices, dim
lamella_status tensor_split(lamella_frame* f, const Value* a, Value* r) {
  int64_t n;
  if (lamella_status st = cuttable(f, 2, a[2], tensor_arg(a[0]), &n)) return st;
  if (a[1].tag == LAMELLA_INT_LIST) return at_indices(f, a[0], a[2], n, a[1], r);
  if (a[1].as.i <= 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: expected a positive number, got %lld", where(f, 1).c_str(), (long long)a[1].as.i));
  return sections(f, a[0], a[2], n, a[1].as.i, r);
}

// hsplit, vsplit, dsplit: tensor_split along one dimension; equal parts only
template <int Dim>
lamella_status split_along(lamella_frame* f, const Value* a, Value* r) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() < (Dim == 1 ? 1 : Dim + 1))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": too few dimensions in shape " + core::shape_string(t));
  const int d = Dim == 1 && t->ndim() == 1 ? 0 : Dim;
  Compose c(f);
  if (a[1].tag == LAMELLA_INT_LIST) return c.give(r, c.op<"tensor_split.indices">(a[0], a[1], d));
  if (a[1].as.i <= 0 || t->sizes()[d] % a[1].as.i != 0)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld equal parts of a dimension of size %lld", where(f, 1).c_str(),
                                               (long long)a[1].as.i, (long long)t->sizes()[d]));
  return c.give(r, c.op<"tensor_split.sections">(a[0], a[1], d));
}

lamella_status unbind(lamella_frame* f, const Value* a, Value* r) {
  int64_t n;
  if (lamella_status st = cuttable(f, 1, a[1], tensor_arg(a[0]), &n)) return st;
  Compose c(f);
  std::vector<Var> all;
  all.reserve(n);
  for (int64_t i = 0; i < n; i++) all.push_back(c.op<"select.int">(a[0], a[1], i));
  return c.give(r, c.list(all));
}

}  // namespace

const std::vector<Declaration>& splitting_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr, chunk,
       "At most `chunks` pieces of one size along a dimension, the last perhaps smaller.\n\n>>> "
       "lamella.chunk(lamella.arange(5), 2)\n(tensor([0, 1, 2]), tensor([3, 4]))\n"},
      {"split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr, split,
       "Pieces along a dimension: of one size, the last perhaps smaller, or of the given sizes.\n\n>>> "
       "lamella.split(lamella.arange(3), 2)\n(tensor([0, 1]), tensor([2]))\n"},
      {"split.sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr,
       split_sizes, nullptr},
      {"split_with_sizes(Tensor(a) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr,
       split_sizes,
       "Pieces of the given sizes along a dimension.\n\n>>> lamella.split_with_sizes(lamella.arange(3), (1, "
       "2))\n(tensor([0]), tensor([1, 2]))\n"},
      {"tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr,
       tensor_split,
       "So many pieces along a dimension, whose sizes differ by one at most, or pieces that start at given indices.\n\n"
       ">>> lamella.tensor_split(lamella.arange(5), 3)\n(tensor([0, 1]), tensor([2, 3]), tensor([4]))\n"},
      {"tensor_split.indices(Tensor(a) self, SymInt[] indices, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr,
       tensor_split, nullptr},
      {"hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<1>,
       "Equal pieces along the second dimension, of a vector along the only one, or pieces that start at given "
       "indices.\n\n>>> lamella.hsplit(lamella.arange(4), 2)\n(tensor([0, 1]), tensor([2, 3]))\n"},
      {"hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<1>,
       nullptr},
      {"vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<0>,
       "Equal pieces along the first dimension, or pieces that start at given indices.\n\n>>> "
       "lamella.vsplit(lamella.ones(2, 3), 2)[0].shape\nlamella.Size([1, 3])\n"},
      {"vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<0>,
       nullptr},
      {"dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<2>,
       "Equal pieces along the third dimension, or pieces that start at given indices.\n\n>>> "
       "lamella.dsplit(lamella.ones(1, 1, 4), 2)[0].shape\nlamella.Size([1, 1, 2])\n"},
      {"dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", "view", everywhere, nullptr, split_along<2>,
       nullptr},
      {"unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", "view", everywhere, nullptr, unbind,
       "One view for each position along a dimension.\n\n>>> lamella.unbind(lamella.tensor([[1, 2], [3, "
       "4]]))\n(tensor([1, 2]), tensor([3, 4]))\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
