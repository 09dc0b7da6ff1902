// Eigenvalues and singular values by cuSOLVER. A matrix with an infinity or a NaN gets NaNs, and -1 as `info`.
#include <mutex>

#include "linalg.h"

namespace cuda {
namespace {

// NVIDIA's limit for the functions of batches by Jacobi's method, and the most matrices of a call: the size of their
// work space is an int, and grows by about a thousand elements a matrix.
constexpr int64_t most_jacobi = 32, most_jacobi_batch = 65536;
// The largest matrices of a batch that go to cusolverDnXsyevBatched, and the most matrices of a call, which refuses
// larger batches.
constexpr int64_t most_eigh_batched = 512, most_eigh_batch = 32768;

// ---- Hermitian matrices ----

// Writes eigenvalues, and eigenvectors in place of the matrices if `job` is CUSOLVER_EIG_MODE_VECTOR.
void eigh_in_place(const Solving& with, const MatrixSizes& s, int job, int uplo, char* a, char* w, int* code) {
  const int64_t real = with.real_item, n = s.n;
  const bool small = s.count > 1 && n <= most_eigh_batched;
  if (small && !solver().syev_batched && n <= most_jacobi) {
    const int order = static_cast<int>(n);
    for (int64_t i = 0; i < s.count; i += most_jacobi_batch) {
      const int count = static_cast<int>(std::min(most_jacobi_batch, s.count - i));
      char *at = a + i * n * n * with.item, *values = w + i * n * real;
      int size = 0;
      with.check(solver().syevj_batched_space[with.which](with.handle, job, uplo, order, at, order, values, &size,
                                                          with.syevj, count),
                 "cusolverDnsyevjBatched_bufferSize");
      const Tensor space = space_on(with.on, size * with.item);
      with.check(solver().syevj_batched[with.which](with.handle, job, uplo, order, at, order, values, space.data_ptr(),
                                                    size, code + i, with.syevj, count),
                 "cusolverDnsyevjBatched");
    }
    return;
  }
  const bool batched = small && solver().syev_batched;
  const int64_t part = batched ? std::min({s.count, most_eigh_batch, INT_MAX / (n * n * with.item)}) : 1;
  SolverSpace space;
  if (batched)
    with.check(solver().syev_batched_space(with.handle, with.params, job, uplo, n, with.type, a, n, with.real_type, w,
                                           with.type, &space.bytes, &space.host_bytes, part),
               "cusolverDnXsyevBatched_bufferSize");
  else
    with.check(solver().syevd_space(with.handle, with.params, job, uplo, n, with.type, a, n, with.real_type, w,
                                    with.type, &space.bytes, &space.host_bytes),
               "cusolverDnXsyevd_bufferSize");
  space.make(with.on);
  for (int64_t i = 0; i < s.count; i += part) {
    char *at = a + i * n * n * with.item, *values = w + i * n * real;
    if (batched)
      with.check(solver().syev_batched(with.handle, with.params, job, uplo, n, with.type, at, n, with.real_type, values,
                                       with.type, space.data(), space.bytes, space.host.get(), space.host_bytes,
                                       code + i, std::min(part, s.count - i)),
                 "cusolverDnXsyevBatched");
    else
      with.check(solver().syevd(with.handle, with.params, job, uplo, n, with.type, at, n, with.real_type, values,
                                with.type, space.data(), space.bytes, space.host.get(), space.host_bytes, code + i),
                 "cusolverDnXsyevd");
  }
}

Status eigh_of(const Tensor& a, std::string_view triangle, bool compute_v, const Tensor& eigenvalues,
               const Tensor& eigenvectors, const Tensor& info) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(a);
  const Result values(eigenvalues), codes(info);
  std::optional<ColumnResult> columns;
  if (compute_v) columns.emplace(eigenvectors);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return codes.finish();
  }
  const Solving with(a);
  Tensor copy;
  if (compute_v)
    columns->copy_from(a);
  else
    copy = columns_of(a);
  char* at = compute_v ? columns->data() : data_of(copy);
  const bool upper = triangle[0] == 'U' || triangle[0] == 'u';
  const InfiniteMatrices infinite(with, at, s, upper ? 1 : -1);
  eigh_in_place(with, s, compute_v ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR,
                upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, at, values.data(), codes.data<int>());
  infinite.spoil(values.get(), s.n);
  if (compute_v) infinite.spoil(columns->get(), s.each());
  infinite.spoil(codes.get(), 1);
  if (compute_v)
    if (lamella_status st = columns->finish()) return st;
  return all_finished(values, codes);
}

// ---- square matrices ----

Status eig_of(const Tensor& self, bool compute_v, const Tensor& eigenvalues, const Tensor& eigenvectors,
              const Tensor& info) {
  if (!solver_there() || !solver().geev || !solver().geev_space) return LAMELLA_DECLINED;
  const MatrixSizes s(self);
  const Result values(eigenvalues), codes(info);
  std::optional<ColumnResult> columns;
  if (compute_v) columns.emplace(eigenvectors);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return codes.finish();
  }
  const Solving with(self);
  const Tensor copy = columns_of(self);
  const InfiniteMatrices infinite(with, data_of(copy), s, 0);
  // Eigenvectors of real matrices are real parts and imaginary parts, as LAPACK returns them.
  const bool paired = compute_v && with.which < 2;
  const Tensor parts = paired ? empty_on(with.on, {s.count * s.each()}, with.dtype) : Tensor();
  char* vectors = paired ? data_of(parts) : compute_v ? columns->data() : nullptr;
  const int complex_type = blas_type(eigenvalues.get()->dtype), no = CUSOLVER_EIG_MODE_NOVECTOR;
  const int job = compute_v ? CUSOLVER_EIG_MODE_VECTOR : no;
  const int64_t n = s.n, complex_item = item_of(eigenvalues.get()->dtype);
  SolverSpace space;
  with.check(solver().geev_space(with.handle, with.params, no, job, n, with.type, copy.data_ptr(), n, complex_type,
                                 values.data(), with.type, nullptr, n, with.type, vectors, n, with.type, &space.bytes,
                                 &space.host_bytes),
             "cusolverDnXgeev_bufferSize");
  space.make(with.on);
  static std::mutex one_at_a_time;  // two threads' calls disturb each other before CUDA 13.0's first update
  std::unique_lock<std::mutex> alone(one_at_a_time, std::defer_lock);
  if (solver_version() < 12004) alone.lock();
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().geev(with.handle, with.params, no, job, n, with.type, data_of(copy) + i * s.each() * with.item,
                             n, complex_type, values.data() + i * n * complex_item, with.type, nullptr, n, with.type,
                             vectors ? vectors + i * s.each() * with.item : nullptr, n, with.type, space.data(),
                             space.bytes, space.host.get(), space.host_bytes, codes.data<int>() + i),
               "cusolverDnXgeev");
  if (paired) lamella::check(pair_vectors(with, values.data(), vectors, columns->data(), n, s.count));
  infinite.spoil(values.get(), n);
  if (compute_v) infinite.spoil(columns->get(), s.each());
  infinite.spoil(codes.get(), 1);
  if (compute_v)
    if (lamella_status st = columns->finish()) return st;
  return all_finished(values, codes);
}

// ---- singular values ----

// The results of one decomposition. Without vectors, `u` and `vh` are null.
struct Singular {
  char *u, *s, *vh;
  int* code;
};

// Decomposes by Jacobi's method, which returns V as columns: one by one, or all in one call, which makes square bases.
void svd_by_jacobi(const Solving& with, const MatrixSizes& s, bool full, bool batched, char* a, const Singular& to) {
  const int64_t k = std::min(s.m, s.n), left = full ? s.m : k, right = full ? s.n : k;
  const int64_t u_columns = batched ? s.m : left, v_columns = batched ? s.n : right;
  const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), econ = !full;
  const int job = to.u ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const int64_t real = with.real_item;
  // The functions want memory for the bases without vectors, too.
  const Tensor u = empty_on(with.on, {s.count * s.m * u_columns}, with.dtype);
  const Tensor v = empty_on(with.on, {s.count * s.n * v_columns}, with.dtype);
  int size = 0;
  if (batched) {
    for (int64_t i = 0; i < s.count; i += most_jacobi_batch) {
      const int count = static_cast<int>(std::min(most_jacobi_batch, s.count - i));
      char *at = a + i * s.each() * with.item, *values = to.s + i * k * real;
      char *us = data_of(u) + i * s.m * u_columns * with.item, *vs = data_of(v) + i * s.n * v_columns * with.item;
      with.check(solver().gesvdj_batched_space[with.which](with.handle, job, m, n, at, m, values, us, m, vs, n, &size,
                                                           with.gesvdj, count),
                 "cusolverDngesvdjBatched_bufferSize");
      const Tensor space = space_on(with.on, size * with.item);
      with.check(solver().gesvdj_batched[with.which](with.handle, job, m, n, at, m, values, us, m, vs, n,
                                                     space.data_ptr(), size, to.code + i, with.gesvdj, count),
                 "cusolverDngesvdjBatched");
    }
  } else {
    with.check(solver().gesvdj_space[with.which](with.handle, job, econ, m, n, a, m, to.s, u.data_ptr(), m,
                                                 v.data_ptr(), n, &size, with.gesvdj),
               "cusolverDngesvdj_bufferSize");
    const Tensor space = space_on(with.on, size * with.item);
    for (int64_t i = 0; i < s.count; i++)
      with.check(solver().gesvdj[with.which](with.handle, job, econ, m, n, a + i * s.each() * with.item, m,
                                             to.s + i * k * real, data_of(u) + i * s.m * u_columns * with.item, m,
                                             data_of(v) + i * s.n * v_columns * with.item, n, space.data_ptr(), size,
                                             to.code + i, with.gesvdj),
                 "cusolverDngesvdj");
  }
  if (!to.u) return;
  lamella::check(copy_part(with, data_of(u), s.m * u_columns, to.u, s.m * left, s.m * left, s.count));
  lamella::check(copy_adjoint(with, data_of(v), s.n * v_columns, to.vh, right, s.n, s.count));
}

// Decomposes matrices with at least as many rows as columns, one by one.
void svd_one_by_one(const Solving& with, const MatrixSizes& s, bool full, char* a, const Singular& to) {
  const int64_t left = full ? s.m : s.n, real = with.real_item;
  const signed char job = to.u ? (full ? 'A' : 'S') : 'N';
  SolverSpace space;
  with.check(
      solver().gesvd_space(with.handle, with.params, job, job, s.m, s.n, with.type, a, s.m, with.real_type, to.s,
                           with.type, to.u, s.m, with.type, to.vh, s.n, with.type, &space.bytes, &space.host_bytes),
      "cusolverDnXgesvd_bufferSize");
  space.make(with.on);
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().gesvd(with.handle, with.params, job, job, s.m, s.n, with.type, a + i * s.each() * with.item,
                              s.m, with.real_type, to.s + i * s.n * real, with.type,
                              to.u ? to.u + i * s.m * left * with.item : nullptr, s.m, with.type,
                              to.vh ? to.vh + i * s.n * s.n * with.item : nullptr, s.n, with.type, space.data(),
                              space.bytes, space.host.get(), space.host_bytes, to.code + i),
               "cusolverDnXgesvd");
}

Status svd_of(const Tensor& a, bool full, bool compute_uv, std::optional<std::string_view> driver, const Tensor& u,
              const Tensor& values, const Tensor& vh, const Tensor& info) {
  if (!solver_there()) return LAMELLA_DECLINED;
  LAMELLA_CHECK(!driver || *driver == "gesvd" || *driver == "gesvdj",
                "argument 'driver': expected None, 'gesvd' or 'gesvdj', got '", *driver, "'");
  const MatrixSizes s(a);
  const Result sigma(values), codes(info);
  std::optional<ColumnResult> left, right;
  if (compute_uv) left.emplace(u), right.emplace(vh);
  if (s.count == 0) return LAMELLA_OK;
  const Solving with(a);
  const int64_t k = std::min(s.m, s.n), left_columns = full ? s.m : k, right_rows = full ? s.n : k;
  if (k == 0) {  // nothing to decompose: bases are the identity
    lamella::check(clear(codes.get()));
    if (compute_uv && full) {
      lamella::check(write_identity(with, left->data(), s.m, s.m, s.count));
      lamella::check(write_identity(with, right->data(), s.n, s.n, s.count));
      if (lamella_status st = all_finished(*left, *right)) return st;
    }
    return codes.finish();
  }
  const bool jacobi = driver && *driver == "gesvdj";
  const bool batched = !(driver && !jacobi) && s.count > 1 && s.m <= most_jacobi && s.n <= most_jacobi;
  // Xgesvd takes matrices with at least as many rows as columns: the transpose of others is Vhᵀ S Uᵀ.
  const bool turned = s.m < s.n && !jacobi && !batched;
  const Tensor copy = columns_of(turned ? transposed(a) : a);
  MatrixSizes sizes = s;
  if (turned) std::swap(sizes.m, sizes.n);
  const InfiniteMatrices infinite(with, data_of(copy), sizes, 0);
  Singular to{nullptr, sigma.data(), nullptr, codes.data<int>()};
  Tensor turned_u, turned_vh;
  if (compute_uv && turned) {
    turned_u = lamella::allocate_like(right->get(), with.dtype);
    turned_vh = lamella::allocate_like(left->get(), with.dtype);
    to.u = data_of(turned_u), to.vh = data_of(turned_vh);
  } else if (compute_uv) {
    to.u = left->data(), to.vh = right->data();
  }
  if (batched || jacobi)
    svd_by_jacobi(with, sizes, full, batched, data_of(copy), to);
  else
    svd_one_by_one(with, sizes, full, data_of(copy), to);
  if (compute_uv && turned) {  // column-major matrices of the transpose are row-major ones
    lamella::check(assign(left->get(), turned_vh.get()));
    lamella::check(assign(right->get(), turned_u.get()));
  }
  if (compute_uv) {
    infinite.spoil(left->get(), s.m * left_columns);
    infinite.spoil(right->get(), right_rows * s.n);
    if (lamella_status st = all_finished(*left, *right)) return st;
  }
  infinite.spoil(sigma.get(), k);
  infinite.spoil(codes.get(), 1);
  return all_finished(sigma, codes);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<eigh_of>(m, "_linalg_eigh");
  add<eig_of>(m, "_linalg_eig");
  add<svd_of>(m, "_linalg_svd");
}

}  // namespace cuda
