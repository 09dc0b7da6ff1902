// Products of a matrix in CSR form, given by its plain parts, with dense ones. Each operator has a kernel for the host
// and a composite for every other device and dtype; their derivatives are each other.
#include "products.h"

#include <algorithm>
#include <atomic>

#include "rules.h"

namespace lamella::sparse {
namespace {

void check_csr(const Tensor& crow, const Tensor& col) {
  LAMELLA_CHECK(crow.dim() == 1 && crow.numel() >= 1, "argument 'crow': expected a vector of row pointers, got shape ",
                crow.sizes());
  LAMELLA_CHECK(col.dim() == 1, "argument 'col': expected a vector of column indices, got shape ", col.sizes());
  for (const Tensor* t : {&crow, &col})
    LAMELLA_CHECK((t->dtype() == kLong || t->dtype() == kInt) && t->dtype() == crow.dtype(),
                  "argument 'crow' and 'col': expected int64 or int32, both of one dtype, got ", crow.dtype(), " and ",
                  col.dtype());
}

void check_values(const Tensor& col, const Tensor& values, const Tensor& dense) {
  LAMELLA_CHECK(values.dim() == 1 && values.numel() == col.numel(), "argument 'values': expected a vector with ",
                col.numel(), " elements, one for each entry, got shape ", values.sizes());
  LAMELLA_CHECK(values.dtype() == dense.dtype(), "the sparse matrix has dtype ", values.dtype(),
                ", and the dense one has ", dense.dtype(), "; convert one of them with to()");
}

void check_operand(const Tensor& t, int64_t rows, const char* name) {
  LAMELLA_CHECK((t.dim() == 1 || t.dim() == 2) && t.size(0) == rows, "argument '", name, "': shape ", t.sizes(),
                " does not fit the sparse matrix: expected a vector or a matrix with size ", rows, " in dimension 0");
}

int64_t rows_of(const Tensor& crow) { return crow.numel() - 1; }
int64_t columns_of(const Tensor& t) { return t.dim() == 2 ? t.size(1) : 1; }

void infer_times(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense, Output out) {
  check_csr(crow, col);
  check_values(col, values, dense);
  check_operand(dense, dense.dim() ? dense.size(0) : -1, "dense");
  DimVector sizes(dense.sizes());
  sizes[0] = rows_of(crow);
  out.set(sizes, values.dtype());
}

void infer_transposed(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense, int64_t columns,
                      Output out) {
  check_csr(crow, col);
  check_values(col, values, dense);
  check_operand(dense, rows_of(crow), "dense");
  LAMELLA_CHECK(columns >= 0, "argument 'columns': must not be negative, got ", columns);
  DimVector sizes(dense.sizes());
  sizes[0] = columns;
  out.set(sizes, values.dtype());
}

void infer_sampled(const Tensor& crow, const Tensor& col, const Tensor& left, const Tensor& right, Output out) {
  check_csr(crow, col);
  check_operand(left, rows_of(crow), "left");
  check_operand(right, right.dim() ? right.size(0) : -1, "right");
  LAMELLA_CHECK(left.dim() == right.dim() && columns_of(left) == columns_of(right), "argument 'right': shape ",
                right.sizes(), " does not fit 'left', shape ", left.sizes(), ": expected as many columns");
  LAMELLA_CHECK(left.dtype() == right.dtype(), "argument 'right': has dtype ", right.dtype(), ", and 'left' has ",
                left.dtype());
  out.set({col.numel()}, left.dtype());
}

// ---- on the host ---------------------------------------------------------------------------------------------------

// Leaves a call to the composite unless its tensors are in host memory and have a dtype of the loops.
void take_host_alone(const Tensor& t) {
  const ScalarType d = t.dtype();
  if (!t.is_cpu() || !(d == kFloat || d == kDouble || d == kComplexFloat || d == kComplexDouble)) throw Declined();
}

// Calls body(element, index) with objects of the types of the loops.
template <class Body>
void with_types(ScalarType element, ScalarType index, Body body) {
  const auto by_index = [&](auto e) {
    if (index == kInt)
      body(e, int32_t{});
    else
      body(e, int64_t{});
  };
  switch (element) {
    case kFloat:
      return by_index(float{});
    case kDouble:
      return by_index(double{});
    case kComplexFloat:
      return by_index(Complex<float>{});
    case kComplexDouble:
      return by_index(Complex<double>{});
    default:
      throw Declined();
  }
}

template <class T, class I>
Csr<T, I> csr_of(const Tensor& crow, const Tensor& col, const void* values, int64_t width) {
  return {crow.data_ptr<I>(), col.data_ptr<I>(), static_cast<const T*>(values), rows_of(crow), width, col.numel()};
}

void check_sound(bool good) {
  LAMELLA_CHECK_INDEX(good,
                      "the indices of the sparse matrix have been changed: a row pointer or a column index is out of "
                      "range");
}

// Returns the least number of rows that one thread takes at a time.
int64_t grain_of(const Tensor& crow, const Tensor& col, int64_t k) {
  const int64_t work = std::max<int64_t>(col.numel(), 1) * std::max<int64_t>(k, 1);
  return std::max<int64_t>(rows_of(crow) * int64_t{1 << 16} / std::max<int64_t>(work, 1), 256);
}

void times_kernel(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense, const Tensor& out) {
  take_host_alone(values);
  const int64_t k = columns_of(dense);
  if (!out.numel()) return;
  const Tensor p = crow.contiguous(), c = col.contiguous(), v = values.contiguous(), d = dense.contiguous();
  std::atomic<bool> good{true};
  with_types(values.dtype(), crow.dtype(), [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    const auto a = csr_of<T, I>(p, c, v.data_ptr(), dense.size(0));
    auto* to = static_cast<T*>(out.data_ptr());
    const auto* from = static_cast<const T*>(d.data_ptr());
    parallel_for(0, a.rows, grain_of(p, c, k), [&](int64_t begin, int64_t end) {
      if (!times_dense<T, I>(a, from, k, to, begin, end)) good = false;
    });
  });
  check_sound(good);
}

void transposed_kernel(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense,
                       int64_t columns, const Tensor& out) {
  take_host_alone(values);
  const int64_t k = columns_of(dense);
  out.zero_();
  if (!out.numel()) return;
  const Tensor p = crow.contiguous(), c = col.contiguous(), v = values.contiguous(), d = dense.contiguous();
  std::atomic<bool> good{true};
  with_types(values.dtype(), crow.dtype(), [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    const auto a = csr_of<T, I>(p, c, v.data_ptr(), columns);
    auto* to = static_cast<T*>(out.data_ptr());
    const auto* from = static_cast<const T*>(d.data_ptr());
    // Threads share the columns of the dense operand, so that no two write to one element.
    parallel_for(0, k, std::max<int64_t>(64 / static_cast<int64_t>(sizeof(T)), (k + 7) / 8),
                 [&](int64_t begin, int64_t end) {
                   if (!transposed_times_dense<T, I>(a, from, k, to, begin, end)) good = false;
                 });
  });
  check_sound(good);
}

void sampled_kernel(const Tensor& crow, const Tensor& col, const Tensor& left, const Tensor& right, const Tensor& out) {
  take_host_alone(left);
  const int64_t k = columns_of(left);
  if (!out.numel()) return;
  const Tensor p = crow.contiguous(), c = col.contiguous(), l = left.contiguous(), r = right.contiguous();
  std::atomic<bool> good{true};
  with_types(left.dtype(), crow.dtype(), [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    const auto a = csr_of<T, I>(p, c, nullptr, right.size(0));
    const bool all = a.pointers[0] == 0 && a.pointers[a.rows] == a.entries;  // each entry belongs to a row
    if (!all) good = false;
    auto* to = static_cast<T*>(out.data_ptr());
    const auto* x = static_cast<const T*>(l.data_ptr());
    const auto* y = static_cast<const T*>(r.data_ptr());
    parallel_for(0, a.rows, grain_of(p, c, k), [&](int64_t begin, int64_t end) {
      if (good && !sampled_product<T, I>(a, x, y, k, to, begin, end)) good = false;
    });
  });
  check_sound(good);
}

// ---- anywhere ------------------------------------------------------------------------------------------------------

Tensor column(const Tensor& values, const Tensor& like) { return like.dim() == 2 ? values.unsqueeze(1) : values; }

Tensor zeros_of(const Tensor& like, int64_t rows) {
  DimVector sizes(like.sizes());
  sizes[0] = rows;
  return lamella::zeros(sizes, like.options());
}

Tensor times_anywhere(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense) {
  check_csr(crow, col);
  check_values(col, values, dense);
  check_operand(dense, dense.dim() ? dense.size(0) : -1, "dense");
  const Tensor picked = dense.index_select(0, col);
  return zeros_of(dense, rows_of(crow)).index_add_(0, rows_from(crow, col.numel()), column(values, dense) * picked);
}

Tensor transposed_anywhere(const Tensor& crow, const Tensor& col, const Tensor& values, const Tensor& dense,
                           int64_t columns) {
  check_csr(crow, col);
  check_values(col, values, dense);
  check_operand(dense, rows_of(crow), "dense");
  const Tensor picked = dense.index_select(0, rows_from(crow, col.numel()));
  return zeros_of(dense, columns).index_add_(0, col, column(values, dense) * picked);
}

Tensor sampled_anywhere(const Tensor& crow, const Tensor& col, const Tensor& left, const Tensor& right) {
  const Tensor x = left.index_select(0, rows_from(crow, col.numel())), y = right.index_select(0, col);
  return left.dim() == 2 ? (x * y).sum({1}) : x * y;
}

}  // namespace

Tensor rows_from(const Tensor& crow, int64_t entries) {
  const int64_t n = rows_of(crow);
  const Tensor counts = (crow.narrow(0, 1, n) - crow.narrow(0, 0, n)).to(kLong);
  const Tensor rows = lamella::arange(n, TensorOptions().dtype(kLong).device(crow.device()));
  return rows.repeat_interleave(counts, 0, entries);
}

void register_products(Library& m) {
  const char* times = "csr_matmul(Tensor crow, Tensor col, Tensor values, Tensor dense) -> Tensor";
  const char* transposed =
      "csr_matmul_transposed(Tensor crow, Tensor col, Tensor values, Tensor dense, int columns) -> Tensor";
  const char* sampled = "csr_sampled(Tensor crow, Tensor col, Tensor left, Tensor right) -> Tensor";
  m.define(times, "matmul", nullptr,
           "The product of a sparse matrix with a dense vector or matrix. Row r of the sparse one has the entries from "
           "crow[r] up to crow[r + 1].\n\n>>> crow, col = lamella.tensor([0, 1, 2]), lamella.tensor([1, 0])\n"
           ">>> lamella.ops.sparse.csr_matmul(crow, col, lamella.tensor([2.0, 3.0]), lamella.tensor([1.0, 10.0]))\n"
           "tensor([20.,  3.])\n");
  m.infer("csr_matmul", infer_times);
  m.impl("csr_matmul", "backend", times_kernel);
  m.impl("csr_matmul", "composite", times_anywhere);
  m.derivative("csr_matmul",
               "values: sparse::csr_sampled(crow, col, grad, conj(dense)); "
               "dense: sparse::csr_matmul_transposed(crow, col, conj(values), grad, dense.shape[0])");
  m.define(transposed, "matmul", nullptr,
           "The product of a transposed sparse matrix, which has `columns` rows, with a dense vector or matrix.\n\n"
           ">>> crow, col = lamella.tensor([0, 1, 2]), lamella.tensor([1, 0])\n"
           ">>> lamella.ops.sparse.csr_matmul_transposed(crow, col, lamella.tensor([2.0, 3.0]), "
           "lamella.tensor([1.0, 10.0]), 2)\ntensor([30.,  2.])\n");
  m.infer("csr_matmul_transposed", infer_transposed);
  m.impl("csr_matmul_transposed", "backend", transposed_kernel);
  m.impl("csr_matmul_transposed", "composite", transposed_anywhere);
  m.derivative("csr_matmul_transposed",
               "values: sparse::csr_sampled(crow, col, conj(dense), grad); "
               "dense: sparse::csr_matmul(crow, col, conj(values), grad)");
  m.define(sampled, "matmul", nullptr,
           "For each entry (r, c) of a sparse pattern the sum of left[r, j] * right[c, j] over j.\n\n"
           ">>> crow, col = lamella.tensor([0, 1, 2]), lamella.tensor([1, 0])\n"
           ">>> lamella.ops.sparse.csr_sampled(crow, col, lamella.tensor([2.0, 3.0]), lamella.tensor([1.0, 10.0]))\n"
           "tensor([20.,  3.])\n");
  m.infer("csr_sampled", infer_sampled);
  m.impl("csr_sampled", "backend", sampled_kernel);
  m.impl("csr_sampled", "composite", sampled_anywhere);
  m.derivative("csr_sampled",
               "left: sparse::csr_matmul(crow, col, grad, conj(right)); "
               "right: sparse::csr_matmul_transposed(crow, col, grad, conj(left), right.shape[0])");
}

}  // namespace lamella::sparse
