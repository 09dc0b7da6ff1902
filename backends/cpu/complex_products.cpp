// Complex products of matrices by OpenBLAS.
#include <algorithm>
#include <limits>

#include "backends/cpu/lapack.h"
#include "backends/cpu/matmul.h"

namespace lamella::cpu {
namespace {

// An operand as BLAS reads it: a column-major matrix, or its transpose.
struct BlasOperand {
  const char* letter;
  Int ld;
};

// Returns whether BLAS can read a matrix, whose rows or columns then have no gaps.
bool read_by_blas(const Matrix& m, BlasOperand* found) {
  const auto fits = [](int64_t step, int64_t size) {
    return step >= std::max<int64_t>(size, 1) && step <= std::numeric_limits<Int>::max();
  };
  const bool by_columns = m.row == 1 || m.rows == 1, by_rows = m.column == 1 || m.columns == 1;
  if (by_columns && (fits(m.column, m.rows) || m.columns == 1)) {
    *found = {"N", static_cast<Int>(std::max(m.columns == 1 ? m.rows : m.column, m.rows))};
    return true;
  }
  if (by_rows && (fits(m.row, m.columns) || m.rows == 1)) {
    *found = {"T", static_cast<Int>(std::max(m.rows == 1 ? m.columns : m.row, m.columns))};
    return true;
  }
  return false;
}

// Returns the columns of a strip, of which threads take one after another: few enough that two threads share a product
// worth 40 µs, and enough that BLAS packs the other operand seldom. It does not depend on how many threads there are.
int64_t strip_width(const Matrix& a, const Matrix& c) {
  constexpr double shared = 1.5e5;  // products of numbers
  if (double(c.rows) * double(a.columns) * double(c.columns) < shared) return c.columns;
  return std::clamp<int64_t>((c.columns / 2 + 7) / 8 * 8, 32, 128);
}

template <class T>
lamella_status multiply_by_blas(const Matrix& a, const Matrix& b, const Matrix& c, BlasOperand x, BlasOperand y,
                                Int ld) {
  const Lapack<T>& f = lapack<T>();
  const int64_t width = strip_width(a, c);
  return parallel_for(0, (c.columns + width - 1) / width, 1, [&](int64_t first, int64_t last) -> lamella_status {
    for (int64_t strip = first; strip < last; strip++) {
      const int64_t from = strip * width;
      const Int m = static_cast<Int>(c.rows), k = static_cast<Int>(a.columns);
      const Int n = static_cast<Int>(std::min(width, c.columns - from));
      const T one(1), zero(0);
      const T* left = reinterpret_cast<const T*>(a.data);
      const T* right = reinterpret_cast<const T*>(b.data) + from * b.column;
      T* to = reinterpret_cast<T*>(c.data) + from * c.column;
      f.gemm(x.letter, y.letter, &m, &n, &k, &one, left, &x.ld, right, &y.ld, &zero, to, &ld, 1, 1);
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  });
}

}  // namespace

bool blas_multiplies_complex(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, lamella_status* status) {
  constexpr double worthwhile = 32. * 32 * 32;
  if (double(c.rows) * double(c.columns) * double(a.columns) < worthwhile || !lapack_available()) return false;
  constexpr int64_t most = std::numeric_limits<Int>::max();
  if (c.rows > most || c.columns > most || a.columns > most) return false;
  BlasOperand x, y, z;
  if (!read_by_blas(c, &z)) return false;
  if (*z.letter == 'T') return blas_multiplies_complex(dtype, b.transposed(), a.transposed(), c.transposed(), status);
  if (!read_by_blas(a, &x) || !read_by_blas(b, &y)) return false;
  *status = guarded([&] {
    return dtype == LAMELLA_COMPLEX64 ? multiply_by_blas<std::complex<float>>(a, b, c, x, y, z.ld)
                                      : multiply_by_blas<std::complex<double>>(a, b, c, x, y, z.ld);
  });
  return true;
}

}  // namespace lamella::cpu
