// Batches of matrices in column-major order, as LAPACK takes them, and loops over a batch that the threads share.
#pragma once

#include <algorithm>
#include <limits>

#include "backends/cpu/lapack.h"
#include "backends/cpu/small_matrices.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {

// Returns whether the matrices lie in column-major order without gaps, one after the other.
inline bool lies_in_columns(const lamella_tensor* t) {
  int64_t step = 1;
  const int n = t->dl.ndim;
  for (int i = n - 1; i >= 0; i--) {
    const int d = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != step) return false;
    step *= std::max<int64_t>(t->dl.shape[d], 1);
  }
  return true;
}

// The strides of such a layout for the sizes of a tensor.
struct ColumnStrides {
  explicit ColumnStrides(const lamella_tensor* t) {
    int64_t step = 1;
    const int n = t->dl.ndim;
    for (int i = n - 1; i >= 0; i--) {
      const int d = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;
      of[d] = step;
      step *= std::max<int64_t>(t->dl.shape[d], 1);
    }
  }
  int64_t of[LAMELLA_MAX_DIMS];
};

// A result whose matrices lie in column-major order.
class ColumnResult {
 public:
  explicit ColumnResult(const Tensor& out)
      : result_(out.get(), out.get()->dtype, lies_in_columns(out.get()), ColumnStrides(out.get()).of) {}
  template <class T>
  T* data() const {
    return result_.data<T>();
  }
  lamella_status copy_from(const Tensor& source) const { return copy_into(result_.get(), source.get()); }
  lamella_status finish() const { return result_.finish(); }

 private:
  Result result_;
};

// Matrices that are read in column-major order: the tensor itself, or a copy.
class ColumnOperand {
 public:
  explicit ColumnOperand(const Tensor& source) : data_(source.get()->dl.data) {
    if (lies_in_columns(source.get())) return;
    copy_ = allocate_like(source.get(), source.get()->dtype, ColumnStrides(source.get()).of);
    check(copy_into(copy_.get(), source.get()));
    data_ = copy_.get()->dl.data;
  }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }

 private:
  Tensor copy_;
  const void* data_;
};

// A copy of matrices in column-major order, which a factorization may overwrite.
class ColumnCopy {
 public:
  explicit ColumnCopy(const Tensor& source)
      : copy_(allocate_like(source.get(), source.get()->dtype, ColumnStrides(source.get()).of)) {
    check(copy_into(copy_.get(), source.get()));
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(copy_.get()->dl.data);
  }

 private:
  Tensor copy_;
};

// The sizes of a batch of matrices.
struct MatrixSizes {
  explicit MatrixSizes(const Tensor& t) : m(to_int(t.size(-2))), n(to_int(t.size(-1))) {
    for (int64_t d = 0; d < t.dim() - 2; d++) count *= t.size(d);
  }
  static Int to_int(int64_t n) {
    LAMELLA_CHECK(n <= std::numeric_limits<Int>::max(), "a matrix has at most ", std::numeric_limits<Int>::max(),
                  " rows and columns, got ", n);
    return static_cast<Int>(n);
  }
  int64_t each() const { return int64_t{m} * n; }
  bool empty() const { return count == 0 || m == 0 || n == 0; }

  int64_t count = 1;
  Int m, n;
};

// Calls body(first, last) for parts of a batch of `count` matrices, each of which takes about `flops` operations.
template <class Body>
Status for_matrices(int64_t count, double flops, Body&& body) {
  constexpr double worthwhile = 1e6;
  const auto grain = static_cast<int64_t>(std::clamp(worthwhile / (flops + 1), 1., 1e9));
  return parallel_for(0, count, grain, [&](int64_t b, int64_t e) -> lamella_status {
    return guarded([&]() -> lamella_status { return body(b, e); });
  });
}

// Matrices that the functions of small_matrices.h read: as they lie, or from a copy if the batch has no single stride.
class SmallOperand {
 public:
  explicit SmallOperand(const Tensor& source) : t_(source.get()) {
    if (has_one_stride(t_)) return;
    copy_ = allocate_like(t_, t_->dtype);
    check(copy_into(copy_.get(), t_));
    t_ = copy_.get();
  }
  // Returns the matrices from number `first` on; `turned` exchanges rows and columns.
  template <class T>
  Matrices<const T> from(int64_t first, bool turned = false) const {
    const int n = t_->dl.ndim;
    const int64_t* strides = t_->dl.strides;
    const int64_t row = strides[n - 2], column = strides[n - 1];
    int64_t step = 0;  // the innermost dimension of the batch that is not 1 has the stride of the whole batch
    for (int d = n - 3; d >= 0 && !step; d--)
      if (t_->dl.shape[d] != 1) step = strides[d];
    const T* data = static_cast<const T*>(t_->dl.data) + first * step;
    return turned ? Matrices<const T>{data, step, column, row} : Matrices<const T>{data, step, row, column};
  }

 private:
  static bool has_one_stride(const lamella_tensor* t) {
    int64_t expected = -1;
    for (int d = t->dl.ndim - 3; d >= 0; d--) {
      if (t->dl.shape[d] == 1) continue;
      if (expected >= 0 && t->dl.strides[d] != expected) return false;
      expected = t->dl.strides[d] * t->dl.shape[d];
    }
    return true;
  }

  const lamella_tensor* t_;
  Tensor copy_;
};

// Returns the matrices of a result in column-major order, m×n each, from number `first` on; `turned` exchanges rows and
// columns.
template <class T>
Matrices<T> column_matrices(T* data, int64_t first, int64_t m, int64_t n, bool turned = false) {
  T* at = data + first * m * n;
  return turned ? Matrices<T>{at, m * n, m, 1} : Matrices<T>{at, m * n, 1, m};
}

// Returns whether the functions of small_matrices.h are the faster ones, for matrices of T; `sides` are the right-hand
// sides where equations are solved.
template <class T>
bool small_suits(SmallKind kind, const MatrixSizes& s, int64_t sides = -1) {
  return !s.empty() && small_suits(kind, sizeof(T), s.count, s.m, sides < 0 ? s.n : sides);
}

// Calls body(first, count, space) for parts of a batch of small m×n matrices. No part but the last has a group that is
// not full.
template <class T, class Body>
Status for_small_matrices(SmallKind kind, const MatrixSizes& s, Body&& body) {
  const int64_t count = s.count, m = s.m, n = s.n;
  const int64_t lanes = small_matrices().vector_bytes / static_cast<int64_t>(sizeof(T));
  constexpr double worthwhile = 1e5;  // operations on vectors
  const double each = 20. * double(std::max(m, n)) * double(m) * double(n);
  return parallel_for(0, (count + lanes - 1) / lanes, static_cast<int64_t>(worthwhile / (each + 1)) + 1,
                      [&](int64_t b, int64_t e) -> lamella_status {
                        Space space;
                        if (lamella_status st = space.take(small_space(kind, m, n))) return st;
                        const int64_t first = b * lanes;
                        body(first, std::min(e * lanes, count) - first, space.data());
                        return LAMELLA_OK;
                      });
}

// Workspace for numbers of type T.
template <class T>
class Work {
 public:
  explicit Work(int64_t n) { check(space_.take(std::max<int64_t>(n, 1) * static_cast<int64_t>(sizeof(T)))); }
  T* data() const { return reinterpret_cast<T*>(space_.data()); }
  operator T*() const { return data(); }
  T& operator[](int64_t i) const { return data()[i]; }

 private:
  Space space_;
};

// Raises unless a number of elements can be the size of a workspace, which LAPACK counts in 32 bits.
inline void check_workspace(double numbers) {
  LAMELLA_CHECK(numbers >= 0 && numbers <= std::numeric_limits<Int>::max(),
                "LAPACK counts its workspace in 32 bits, which are too few for matrices of this size");
}

// Returns the size of the workspace that a function of LAPACK has written into its first number.
template <class T>
Int work_size(const T& first) {
  // A float32 may have rounded the size down.
  const double size = std::nextafter(std::real(first), std::numeric_limits<Real<T>>::infinity());
  check_workspace(size + 1);
  return static_cast<Int>(size) + 1;
}

// Sets one side of the diagonal to zero.
template <class T>
void clear_triangle(T* a, Int m, Int n, Int ld, bool upper) {
  for (Int j = 0; j < n; j++) {
    const Int from = upper ? 0 : j + 1, to = upper ? std::min(j, m) : m;
    if (from < to) std::fill(a + int64_t{j} * ld + from, a + int64_t{j} * ld + to, T(0));
  }
}

// Copies each result that was computed in other memory to its target. Returns the first error.
template <class... Results>
Status all_finished(const Results&... results) {
  lamella_status st = LAMELLA_OK;
  (void)(... && ((st = results.finish()) == LAMELLA_OK));
  return st;
}

// The error of a call that LAPACK refuses: it counts its workspace in 32 bits.
inline lamella_status refused() { return fail(LAMELLA_RUNTIME_ERROR, "LAPACK cannot take matrices of this size"); }

inline double cube(Int n) { return double(n) * n * n; }

}  // namespace lamella::cpu
