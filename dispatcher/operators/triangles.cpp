// Triangles and diagonals.
#include <memory>

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

lamella_status infer_triangle(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() < 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected at least 2 dimensions, got shape " + core::shape_string(t));
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LAMELLA_OK;
}

// Where column - row is at most (tril) or at least (triu) the diagonal.
lamella_status triangle(lamella_frame* f, const Value* a, bool lower, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  auto count = [&](int64_t n) {
    return c.op<"arange.start_step">(0, n, 1, As{LAMELLA_INT64}, Absent{}, tensor_arg(a[0])->device());
  };
  Var from = count(x.size(-1)) - c.op<"unsqueeze">(count(x.size(-2)), 1);
  Var kept = lower ? c.op<"le.Scalar">(from, a[1]) : c.op<"ge.Scalar">(from, a[1]);
  return c.give(r, c.op<"contiguous">(c.op<"where.ScalarOther">(kept, x, false)));
}
lamella_status tril(lamella_frame* f, const Value* a, Value* r) { return triangle(f, a, true, r); }
lamella_status triu(lamella_frame* f, const Value* a, Value* r) { return triangle(f, a, false, r); }

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
lamella_status infer_triangle_indices(lamella_frame* f, const Value* a, Meta* m) {
  for (int i = 0; i < 2; i++)
    if (a[i].as.i < 0)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: expected at least 0, got %lld", where(f, i).c_str(), (long long)a[i].as.i));
  const int64_t rows = a[0].as.i, columns = a[1].as.i, offset = a[2].as.i;
  if (offset == INT64_MIN) return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": the diagonal is too far away");
  const __int128 n = Lower ? places_below(rows, columns, offset)
                           : static_cast<__int128>(rows) * columns - places_below(rows, columns, offset - 1);
  const int64_t sizes[2] = {2, n > INT64_MAX ? INT64_MAX : static_cast<int64_t>(n)};
  const DType t = dtype_or(a[3], LAMELLA_INT64);
  if (lamella_status st = check_sizes(f, 0, 2, sizes, t)) return st;
  fresh(m, 2, sizes, t);
  return LAMELLA_OK;
}

lamella_status triangle_indices(lamella_frame* f, const Value* a, bool lower, Value* r) {
  Compose c(f);
  Var ones = c.op<"ones">(Ints{a[0].as.i, a[1].as.i}, As{LAMELLA_BOOL}, a[4], a[5], a[6]);
  Var kept = lower ? c.op<"tril">(ones, a[2]) : c.op<"triu">(ones, a[2]);
  Var found = c.op<"contiguous">(c.op<"t">(c.op<"nonzero">(kept)));
  return c.give(r, c.op<"to.dtype">(found, As{dtype_or(a[3], LAMELLA_INT64)}));
}
lamella_status tril_indices(lamella_frame* f, const Value* a, Value* r) { return triangle_indices(f, a, true, r); }
lamella_status triu_indices(lamella_frame* f, const Value* a, Value* r) { return triangle_indices(f, a, false, r); }

// self, offset, dim1, dim2
lamella_status infer_diag_embed(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int ndim = t->ndim() + 1;
  int i, j;
  if (t->ndim() == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a zero-dim tensor has no diagonal to be");
  if (ndim > LAMELLA_MAX_DIMS) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": no room for a dimension");
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, ndim, &i)) return st;
  if (lamella_status st = wrap_dim(f, 3, a[3].as.i, ndim, &j)) return st;
  if (i == j) return raise(LAMELLA_RUNTIME_ERROR, format("%s: dimension %d is 'dim1' already", where(f, 3).c_str(), j));
  const int64_t offset = a[1].as.i;
  int64_t n, sizes[LAMELLA_MAX_DIMS];
  if (offset == INT64_MIN || __builtin_add_overflow(t->sizes()[t->ndim() - 1], std::abs(offset), &n))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": the diagonal is too far away");
  for (int d = 0, from = 0; d < ndim; d++) sizes[d] = d == i || d == j ? n : t->sizes()[from++];
  fresh(m, ndim, sizes, t->dtype);
  return core::check_sizes("diag_embed", ndim, sizes, core::itemsize(t->dtype), nullptr);
}

lamella_status diag_embed(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  auto m = std::make_unique<Meta>();
  if (lamella_status st = infer_diag_embed(f, a, m.get())) return st;
  Var out = c.op<"zeros">(Ints(m->sizes, m->ndim), As{t->dtype}, Absent{}, t->device());
  c.op<"copy_">(c.op<"diagonal">(out, a[1], a[2], a[3]), a[0]);
  return c.give(r, out);
}

// self, diagonal
lamella_status diag(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() == 1) return c.give(r, c.op<"diag_embed">(a[0], a[1]));
  if (t->ndim() != 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a vector or a matrix, got shape " + core::shape_string(t));
  return c.give(r, c.op<"clone">(c.op<"diagonal">(a[0], a[1])));
}

lamella_status diagflat(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"diag_embed">(c.op<"reshape">(a[0], Ints{tensor_arg(a[0])->numel}), a[1]));
}

lamella_status trace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (tensor_arg(a[0])->ndim() != 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a matrix, got shape " + core::shape_string(tensor_arg(a[0])));
  return c.give(r, c.op<"sum">(c.op<"diagonal">(a[0])));
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

}  // namespace

const std::vector<Declaration>& triangle_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"tril(Tensor self, int diagonal=0) -> Tensor", "copy", all_forms, infer_triangle, tril,
       "The lower triangle of the last two dimensions, zero above the given diagonal.\n\n>>> "
       "lamella.tril(lamella.ones(2, 2))\ntensor([[1., 0.],\n        [1., 1.]])\n"},
      {"triu(Tensor self, int diagonal=0) -> Tensor", "copy", all_forms, infer_triangle, triu,
       "The upper triangle of the last two dimensions, zero below the given diagonal.\n\n>>> "
       "lamella.triu(lamella.ones(2, 2))\ntensor([[1., 1.],\n        [0., 1.]])\n"},
      {"tril_indices(int row, int col, int offset=0, " OPTIONS ") -> Tensor", "creation", function,
       infer_triangle_indices<true>, tril_indices,
       "The rows and columns of a lower triangle's elements.\n\n>>> lamella.tril_indices(2, 2)\ntensor([[0, 1, 1],\n"
       "        [0, 0, 1]])\n"},
      {"triu_indices(int row, int col, int offset=0, " OPTIONS ") -> Tensor", "creation", function,
       infer_triangle_indices<false>, triu_indices,
       "The rows and columns of an upper triangle's elements.\n\n>>> lamella.triu_indices(2, 2)\ntensor([[0, 0, 1],\n"
       "        [0, 1, 1]])\n"},
      {"diag(Tensor self, int diagonal=0) -> Tensor", "copy", everywhere, nullptr, diag,
       "A matrix with a vector on its diagonal, or a copy of a matrix's diagonal.\n\n>>> "
       "lamella.diag(lamella.tensor([1, "
       "2]))\ntensor([[1, 0],\n        [0, 2]])\n"},
      {"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", "copy", everywhere,
       infer_diag_embed, diag_embed,
       "Zeros, with the last dimension of `self` as the diagonal of two dimensions.\n\n>>> "
       "lamella.diag_embed(lamella.ones(2, 3)).shape\nlamella.Size([2, 3, 3])\n"},
      {"diagflat(Tensor self, int offset=0) -> Tensor", "copy", everywhere, nullptr, diagflat,
       "A matrix with all elements of `self` on its diagonal.\n\n>>> lamella.diagflat(lamella.tensor([[1], [2]]))\n"
       "tensor([[1, 0],\n        [0, 2]])\n"},
      {"trace(Tensor self) -> Tensor", "reduction", everywhere, nullptr, trace,
       "The sum of a matrix's diagonal.\n\n>>> lamella.trace(lamella.tensor([[1, 2], [3, 4]]))\ntensor(5)\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
