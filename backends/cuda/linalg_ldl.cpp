// The factors LDLᵀ of symmetric matrices, and equations by them, by cuSOLVER. It has none of LDLᴴ, so complex Hermitian
// matrices stay on the host.
#include "linalg.h"

namespace cuda {
namespace {

Status factor_ldl(const Tensor& self, bool hermitian, const Tensor& factors, const Tensor& pivots, const Tensor& info) {
  if (!solver_there() || (hermitian && self.is_complex())) return LAMELLA_DECLINED;
  const MatrixSizes s(self);
  const ColumnResult a(factors);
  const Result exchanged(pivots), codes(info);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return all_finished(a, exchanged, codes);
  }
  const Solving with(self);
  a.copy_from(self);
  const int n = static_cast<int>(s.n);
  int size = 0;
  with.check(solver().sytrf_space[with.which](with.handle, n, a.data(), n, &size), "cusolverDnsytrf_bufferSize");
  const Tensor space = space_on(with.on, size * with.item);
  for (int64_t i = 0; i < s.count; i++)
    with.check(
        solver().sytrf[with.which](with.handle, CUBLAS_FILL_MODE_LOWER, n, a.data() + i * s.each() * with.item, n,
                                   exchanged.data<int>() + i * s.n, space.data_ptr(), size, codes.data<int>() + i),
        "cusolverDnsytrf");
  lamella::check(clear_side(with, a.data(), s, true));
  return all_finished(a, exchanged, codes);
}

Status solve_ldl(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool hermitian, const Tensor& out) {
  if (!solver_there() || (hermitian && b.is_complex())) return LAMELLA_DECLINED;
  const MatrixSizes s(factors), sides(b);
  const ColumnResult x(out);
  if (sides.empty()) return x.finish();
  const Solving with(b);
  const ColumnOperand a(factors);
  const Operand given(pivots);
  x.copy_from(b);
  const Tensor exchanged = checked_blocks(with, given.data<int>(), s.n, s.count);
  const int uplo = CUBLAS_FILL_MODE_LOWER;
  SolverSpace space;
  with.check(
      solver().sytrs_space(with.handle, uplo, s.n, sides.n, with.type, a.data(), s.n, data_of<int64_t>(exchanged),
                           with.type, x.data(), s.n, &space.bytes, &space.host_bytes),
      "cusolverDnXsytrs_bufferSize");
  space.make(with.on);
  const Tensor code = space_on(with.on, sizeof(int));
  // cusolverDnXsytrs reads the pivots without regard to the stream, as torch found (its issue 82894).
  require(driver().stream_synchronize(current_stream(with.device)), "cuda: cuSOLVER: cusolverDnXsytrs");
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().sytrs(with.handle, uplo, s.n, sides.n, with.type, a.data() + i * s.each() * with.item, s.n,
                              data_of<int64_t>(exchanged) + i * s.n, with.type, x.data() + i * sides.each() * with.item,
                              s.n, space.data(), space.bytes, space.host.get(), space.host_bytes, data_of<int>(code)),
               "cusolverDnXsytrs");
  return x.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<factor_ldl>(m, "_linalg_ldl");
  add<solve_ldl>(m, "_linalg_ldl_solve");
}

}  // namespace cuda
