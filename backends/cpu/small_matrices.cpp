#include "backends/cpu/small_matrices.h"

namespace lamella::cpu {

const SmallMatrices& small_matrices() {
  static const SmallMatrices chosen = [] {
    SmallMatrices all = {};
    LAMELLA_BY_ISA(add_small_factors)(all);
    LAMELLA_BY_ISA(add_small_spectra)(all);
    return all;
  }();
  return chosen;
}

bool small_suits(SmallKind kind, int64_t count, int64_t m, int64_t n) {
  const int64_t size = m > n ? m : n;
  if (size > small_matrix) return false;
  // The largest sizes of one, two and three matrices for which a group is computed as fast as LAPACK computes them one
  // by one, measured on a machine with vectors of 32 bytes beside OpenBLAS.
  struct Largest {
    int64_t one, two, three;
  };
  const Largest largest = [kind]() -> Largest {
    switch (kind) {
      case SmallKind::cholesky:
        return {8, 24, 32};
      case SmallKind::lu:
        return {16, 32, 32};
      case SmallKind::lu_solve:
        return {4, 16, 24};
      case SmallKind::solve:
        return {16, 32, 32};
      case SmallKind::inverse:
        return {16, 24, 32};
      case SmallKind::triangular:
        return {4, 12, 24};
      case SmallKind::qr:
        return {32, 32, 32};
      case SmallKind::eigh:
        return {32, 32, 32};
      case SmallKind::eigvalsh:
        return {12, 32, 32};
      case SmallKind::svd:
        return {12, 24, 24};
      case SmallKind::svdvals:
        return {8, 12, 16};
    }
    return {0, 0, 0};
  }();
  return size <= (count == 1 ? largest.one : count == 2 ? largest.two : count == 3 ? largest.three : small_matrix);
}

int64_t small_space(SmallKind kind, int64_t m, int64_t n) {
  const int64_t least = m < n ? m : n;
  const int64_t vectors = [=]() -> int64_t {
    switch (kind) {
      case SmallKind::cholesky:
      case SmallKind::lu:
        return m * n;
      case SmallKind::lu_solve:
      case SmallKind::solve:
      case SmallKind::triangular:
        return n * n + n * small_matrix;
      case SmallKind::qr:
        return m * n + m * m;
      case SmallKind::inverse:
      case SmallKind::eigh:
      case SmallKind::eigvalsh:
        return 2 * n * n;
      case SmallKind::svd:
      case SmallKind::svdvals:
        return 2 * m * n + 2 * least * least;
    }
    return 0;
  }();
  const int64_t bytes = small_matrices().vector_bytes;
  return bytes * (vectors + 1);  // one for alignment
}

}  // namespace lamella::cpu
