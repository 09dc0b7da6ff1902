// Products of float64 and complex matrices by OpenBLAS.
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

// Returns the number of columns of a strip. A product is cut into strips, and a thread that has finished a strip takes
// the next. The number is small enough that two threads share a product worth 40 µs, and large enough that BLAS packs
// the other operand seldom. It does not depend on how many threads there are.
int64_t strip_width(int64_t columns, double work) {
  constexpr double shared = 1.5e5;  // products of numbers
  if (work < shared) return columns;
  const auto share = [=](int64_t parts) { return (columns / parts + 7) / 8 * 8; };  // whole vectors
  return std::clamp<int64_t>(share(8), std::clamp<int64_t>(share(2), 32, 128), 512);
}

template <class T>
lamella_status multiply_by_blas(const Matrix& a, const Matrix& b, const Matrix& c, BlasOperand x, BlasOperand y,
                                Int ld) {
  const Lapack<T>& f = lapack<T>();
  const int64_t width = strip_width(c.columns, double(c.rows) * double(a.columns) * double(c.columns));
  // The rows of one call, between which the user can interrupt the program.
  const auto panel = std::max<int64_t>(256, static_cast<int64_t>(1e9 / (double(width) * double(a.columns))));
  return parallel_for(0, (c.columns + width - 1) / width, 1, [&](int64_t first, int64_t last) -> lamella_status {
    for (int64_t strip = first; strip < last; strip++) {
      const int64_t from = strip * width;
      const Int n = static_cast<Int>(std::min(width, c.columns - from)), k = static_cast<Int>(a.columns);
      const T one(1), zero(0);
      const T* right = reinterpret_cast<const T*>(b.data) + from * b.column;
      for (int64_t row = 0; row < c.rows; row += panel) {
        const Int m = static_cast<Int>(std::min(panel, c.rows - row));
        const T* left = reinterpret_cast<const T*>(a.data) + row * a.row;
        T* to = reinterpret_cast<T*>(c.data) + row * c.row + from * c.column;
        f.gemm(x.letter, y.letter, &m, &n, &k, &one, left, &x.ld, right, &y.ld, &zero, to, &ld, 1, 1);
        if (lamella_status st = api().check_interrupt()) return st;
      }
    }
    return LAMELLA_OK;
  });
}

// Returns whether a product is so large that BLAS is faster than our loops.
bool worthwhile(int dtype, int64_t rows, int64_t columns, int64_t depth) {
  const double work = double(rows) * double(columns) * double(depth);
  if (dtype == LAMELLA_FLOAT64) return work >= 192. * 192 * 192 && std::min({rows, columns, depth}) >= 64;
  return work >= 32. * 32 * 32;
}

}  // namespace

bool blas_multiplies(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, lamella_status* status) {
  if (!worthwhile(dtype, c.rows, c.columns, a.columns) || !lapack_available()) return false;
  constexpr int64_t most = std::numeric_limits<Int>::max();
  if (c.rows > most || c.columns > most || a.columns > most) return false;
  BlasOperand x, y, z;
  if (!read_by_blas(c, &z)) return false;
  if (*z.letter == 'T') return blas_multiplies(dtype, b.transposed(), a.transposed(), c.transposed(), status);
  if (!read_by_blas(a, &x) || !read_by_blas(b, &y)) return false;
  *status = guarded([&] {
    return dtype == LAMELLA_FLOAT64     ? multiply_by_blas<double>(a, b, c, x, y, z.ld)
           : dtype == LAMELLA_COMPLEX64 ? multiply_by_blas<std::complex<float>>(a, b, c, x, y, z.ld)
                                        : multiply_by_blas<std::complex<double>>(a, b, c, x, y, z.ld);
  });
  return true;
}

}  // namespace lamella::cpu
