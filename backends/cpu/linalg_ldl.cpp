// The factors LDLᵀ of symmetric and Hermitian matrices, and equations by them.
#include <string>

#include "backends/cpu/matrices.h"

namespace lamella::cpu {
namespace {

Status ldl(const Tensor& self, bool hermitian, const Tensor& factors, const Tensor& pivots, const Tensor& info) {
  const MatrixSizes s(self);
  const ColumnResult a(factors);
  const Result exchanged(pivots), codes(info);
  if (lamella_status st = a.copy_from(self)) return st;
  const Int ld = std::max(s.n, 1);
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    const auto factor = hermitian ? lapack<T>().hetrf : lapack<T>().sytrf;
    T first(0);
    Int failed, query = -1;
    factor("L", &s.n, nullptr, &ld, nullptr, &first, &query, &failed, 1);
    const Int size = work_size(first);
    const Status st = for_matrices(s.count, cube(s.n) / 3, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      for (int64_t i = b; i < e; i++) {
        T* at = a.data<T>() + i * s.each();
        factor("L", &s.n, at, &ld, exchanged.data<Int>() + i * s.n, work, &size, codes.data<Int>() + i, 1);
        clear_triangle(at, s.n, s.n, ld, true);
      }
      return LAMELLA_OK;
    });
    return st ? st : all_finished(a, exchanged, codes);
  });
}

// Raises unless pivots are rows, or pairs of the negatives of rows, which name the blocks of two rows.
Status check_blocks(const Int* pivots, int64_t count, Int n) {
  const auto sound = [n](Int p) { return p && p >= -n && p <= n; };
  for (int64_t i = 0; i < count; i++) {
    const Int* at = pivots + i * n;
    for (Int r = 0; r < n; r++) {
      const bool pair = at[r] < 0;
      if (!sound(at[r]) || (pair && (r + 1 == n || at[r + 1] >= 0 || !sound(at[r + 1]))))
        return fail(LAMELLA_RUNTIME_ERROR, "argument 'pivots': expected rows from 1 to " + std::to_string(n) +
                                               ", or pairs of their negatives, got " + std::to_string(at[r]) +
                                               " at position " + std::to_string(r));
      r += pair;
    }
  }
  return LAMELLA_OK;
}

Status ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool hermitian, const Tensor& out) {
  const MatrixSizes s(factors), sides(b);
  const ColumnResult x(out);
  const Operand exchanged(pivots);
  if (lamella_status st = check_blocks(exchanged.data<Int>(), s.count, s.n)) return st;
  if (lamella_status st = x.copy_from(b)) return st;
  if (sides.empty()) return x.finish();
  const ColumnOperand a(factors);
  const Int ld = std::max(s.n, 1);
  return with_number(b.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    const auto solve = hermitian ? lapack<T>().hetrs : lapack<T>().sytrs;
    const Status st = for_matrices(s.count, 2. * s.n * s.n * sides.n, [&](int64_t b, int64_t e) -> lamella_status {
      Int failed;
      for (int64_t i = b; i < e; i++)
        solve("L", &s.n, &sides.n, a.data<T>() + i * s.each(), &ld, exchanged.data<Int>() + i * s.n,
              x.data<T>() + i * sides.each(), &ld, &failed, 1);
      if (failed) return refused();
      return LAMELLA_OK;
    });
    if (st) return st;
    return x.finish();
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<ldl>(m, "_linalg_ldl");
  add<ldl_solve>(m, "_linalg_ldl_solve");
}

}  // namespace lamella::cpu
