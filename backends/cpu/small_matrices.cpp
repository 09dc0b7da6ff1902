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

namespace {

// The time of one group of n×n matrices divided by that of OpenBLAS for one of them, for n up to 8, 16, 24 and 32. The
// times were measured on one thread with vectors of 32 bytes; of both dtypes the larger quotient is here.
struct GroupTimes {
  double times[4];
};

GroupTimes group_times(SmallKind kind, bool many_columns) {
  switch (kind) {
    case SmallKind::cholesky:
      return {1.0, 1.4, 1.7, 2.4};
    case SmallKind::lu:
      return {0.8, 0.9, 1.4, 1.6};
    case SmallKind::lu_solve:
      return many_columns ? GroupTimes{2.4, 3.0, 4.1, 4.7} : GroupTimes{2.0, 2.3, 2.6, 2.9};
    case SmallKind::solve:
      return many_columns ? GroupTimes{1.0, 1.1, 1.8, 2.2} : GroupTimes{1.0, 1.0, 1.5, 1.7};
    case SmallKind::inverse:
      return {0.9, 1.0, 1.8, 2.2};
    case SmallKind::triangular:
      return many_columns ? GroupTimes{1.9, 4.1, 6.5, 7.0} : GroupTimes{1.2, 1.7, 2.3, 3.0};
    case SmallKind::qr:
      return {0.5, 0.6, 0.8, 1.0};
    case SmallKind::eigh:
      return {0.7, 0.7, 0.8, 0.9};
    case SmallKind::eigvalsh:
      return {1.0, 1.0, 1.2, 1.2};
    case SmallKind::svd:
      return {0.5, 0.6, 0.8, 1.0};
    case SmallKind::svdvals:
      return {0.7, 0.9, 1.1, 1.2};
  }
  return {};
}

bool solves(SmallKind kind) {
  return kind == SmallKind::lu_solve || kind == SmallKind::solve || kind == SmallKind::triangular;
}

}  // namespace

bool small_suits(SmallKind kind, int64_t element_bytes, int64_t count, int64_t m, int64_t n) {
  const int64_t size = solves(kind) || m > n ? m : n;
  if (size > small_matrix) return false;
  const int64_t group = small_matrices().vector_bytes / element_bytes;
  const double groups = static_cast<double>((count + group - 1) / group);
  const double time = group_times(kind, n > 4).times[size <= 8 ? 0 : (size - 1) / 8];
  return groups * time <= static_cast<double>(count);
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
        return m * m + m * small_matrix;
      case SmallKind::qr:
        return m * n + m * m;
      case SmallKind::inverse:
      case SmallKind::eigh:
      case SmallKind::eigvalsh:
        return 2 * n * n;
      case SmallKind::svd:
      case SmallKind::svdvals:
        return 2 * m * n + least * least;
    }
    return 0;
  }();
  const int64_t bytes = small_matrices().vector_bytes;
  return bytes * (vectors + 1);  // one for alignment
}

}  // namespace lamella::cpu
