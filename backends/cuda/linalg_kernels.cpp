// Launches of kernels/linalg.cu.
#include "linalg.h"

#include "faults.h"
#include "numbers.h"

namespace cuda {
namespace {

// Launches a kernel of a template over a dtype, with a thread for each of `elements`.
template <class... A>
lamella_status launch_over(Kernels& kernels, const char* name, const lamella_tensor* on, int dtype, int64_t elements,
                           const A&... arguments) {
  Kernel& kernel = kernels.get({dtype}, [&] { return text(name, "<", type_name(dtype), ">"); });
  return launch(kernel, on, grid_for(on, elements), {256}, 0, arguments...);
}

}  // namespace

One::One(int dtype) { put_number(lamella::value(int64_t{1}), dtype, data); }

lamella_status clear_side(const Solving& w, char* x, const MatrixSizes& s, bool above) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "clear_side", w.on, w.dtype, s.each() * s.count, x, s.m, s.n, s.count, above);
}
lamella_status copy_upper(const Solving& w, const char* from, int64_t m, char* to, int64_t rows, int64_t n,
                          int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "copy_upper", w.on, w.dtype, rows * n * count, from, m, to, rows, n, count);
}
lamella_status copy_part(const Solving& w, const char* from, int64_t from_each, char* to, int64_t to_each, int64_t part,
                         int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "copy_part", w.on, w.dtype, part * count, from, from_each, to, to_each, part, count);
}
lamella_status copy_adjoint(const Solving& w, const char* from, int64_t from_each, char* to, int64_t k, int64_t n,
                            int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "copy_adjoint", w.on, w.dtype, k * n * count, from, from_each, to, k, n, count);
}
lamella_status conjugate(const Solving& w, char* x, int64_t n) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "conjugate", w.on, w.dtype, n, x, n);
}
lamella_status write_identity(const Solving& w, char* to, int64_t m, int64_t n, int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "write_identity", w.on, w.dtype, m * n * count, to, m, n, count);
}
lamella_status count_rows(const Solving& w, const lamella_tensor* to, int64_t k, int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "count_rows", w.on, to->dtype, k * count, to->dl.data, k, count);
}
lamella_status find_unfinished(const Solving& w, const char* factors, const MatrixSizes& s, int* info) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "find_unfinished", w.on, w.dtype, s.count, factors, s.n, s.count, info);
}
lamella_status first_zeros(const Solving& w, const char* x, const MatrixSizes& s, int* to) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "first_zeros", w.on, w.dtype, s.count, x, s.m, s.n, s.count, to);
}
lamella_status pair_vectors(const Solving& w, const char* values, const char* from, char* to, int64_t n,
                            int64_t count) {
  static Kernels kernels("linalg.cu");
  return launch_over(kernels, "pair_vectors", w.on, w.dtype, n * n * count, values, from, to, n, count);
}

Tensor checked_pivots(const Solving& w, const int* pivots, int64_t n, int64_t count, int dtype) {
  static Kernels kernels("linalg.cu");
  static const int32_t code =
      add_fault(LAMELLA_RUNTIME_ERROR, "argument 'pivots': expected rows from 1 to {size}, got {value}");
  Tensor made = empty_on(w.on, {n * count}, dtype);
  lamella::check(launch_over(kernels, "checked_pivots", w.on, dtype, n * count, pivots, data_of(made), n, count,
                             fault_of(w.on), code));
  return made;
}

Tensor checked_blocks(const Solving& w, const int* pivots, int64_t n, int64_t count) {
  static Kernel kernel("linalg.cu", "checked_blocks");
  static const int32_t code =
      add_fault(LAMELLA_RUNTIME_ERROR,
                "argument 'pivots': expected rows from 1 to {size}, or pairs of their negatives, got {value}");
  Tensor made = empty_on(w.on, {n * count}, LAMELLA_INT64);
  lamella::check(
      launch(kernel, w.on, grid_for(w.on, count), {256}, 0, pivots, made.data_ptr(), n, count, fault_of(w.on), code));
  return made;
}

InfiniteMatrices::InfiniteMatrices(const Solving& w, char* x, const MatrixSizes& s, int side)
    : count_(s.count), flags_(empty_on(w.on, {s.count}, LAMELLA_INT32)) {
  static Kernels kernels("linalg.cu");
  Kernel& kernel = kernels.get({w.dtype}, [&] { return text("find_infinite<", type_name(w.dtype), ">"); });
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(s.count, 1 << 20));
  lamella::check(launch(kernel, w.on, {blocks}, {256}, 0, x, s.m, s.n, s.count, side, flags_.data_ptr()));
}

void InfiniteMatrices::spoil(const lamella_tensor* result, int64_t each) const {
  static Kernels kernels("linalg.cu");
  lamella::check(launch_over(kernels, "spoil", result, result->dtype, each * count_, flags_.data_ptr(), result->dl.data,
                             each, count_));
}

}  // namespace cuda
