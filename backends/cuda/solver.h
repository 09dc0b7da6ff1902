// Factorizations by cuSOLVER, and of batches of small matrices by cuBLAS, NVIDIA's libraries. cuSOLVER is opened at its
// first use, from the folders that libraries.py names or from the system's. Matrices lie in column-major order.
#pragma once

#include "blas.h"
#include "matrices.h"

namespace cuda {

// Constants of NVIDIA's headers, with their names.
enum Fill { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum Side { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum Diagonal { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum Vectors { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };

using cusolverHandle = struct cusolverDnContext*;
using cusolverParams = struct cusolverDnParams*;
using cusolverSyevj = struct syevjInfo*;
using cusolverGesvdj = struct gesvdjInfo*;

// The generic functions take sizes of 64 bits, and numbers of cudaDataType: of the matrices, of each further array, and
// of the computation. The last arguments are workspaces of the device and of the host, and `info` on the device.
// X(member, symbol of the library, parameters)
#define CUDA_SOLVER_FUNCTIONS(X)                                                                                       \
  X(create, "cusolverDnCreate", (cusolverHandle*))                                                                     \
  X(destroy, "cusolverDnDestroy", (cusolverHandle))                                                                    \
  X(version, "cusolverGetVersion", (int*))                                                                             \
  X(set_stream, "cusolverDnSetStream", (cusolverHandle, CUstream))                                                     \
  X(create_params, "cusolverDnCreateParams", (cusolverParams*))                                                        \
  X(create_syevj, "cusolverDnCreateSyevjInfo", (cusolverSyevj*))                                                       \
  X(create_gesvdj, "cusolverDnCreateGesvdjInfo", (cusolverGesvdj*))                                                    \
  X(potrf_space, "cusolverDnXpotrf_bufferSize",                                                                        \
    (cusolverHandle, cusolverParams, int uplo, int64_t n, int, const void* a, int64_t lda, int, size_t*, size_t*))     \
  X(potrf, "cusolverDnXpotrf",                                                                                         \
    (cusolverHandle, cusolverParams, int uplo, int64_t n, int, void* a, int64_t lda, int, void*, size_t, void*,        \
     size_t, int* info))                                                                                               \
  X(getrf_space, "cusolverDnXgetrf_bufferSize",                                                                        \
    (cusolverHandle, cusolverParams, int64_t m, int64_t n, int, const void* a, int64_t lda, int, size_t*, size_t*))    \
  X(getrf, "cusolverDnXgetrf",                                                                                         \
    (cusolverHandle, cusolverParams, int64_t m, int64_t n, int, void* a, int64_t lda, int64_t* pivots, int, void*,     \
     size_t, void*, size_t, int* info))                                                                                \
  X(getrs, "cusolverDnXgetrs",                                                                                         \
    (cusolverHandle, cusolverParams, int turn, int64_t n, int64_t k, int, const void* a, int64_t lda,                  \
     const int64_t* pivots, int, void* b, int64_t ldb, int* info))                                                     \
  X(geqrf_space, "cusolverDnXgeqrf_bufferSize",                                                                        \
    (cusolverHandle, cusolverParams, int64_t m, int64_t n, int, const void* a, int64_t lda, int, const void* tau, int, \
     size_t*, size_t*))                                                                                                \
  X(geqrf, "cusolverDnXgeqrf",                                                                                         \
    (cusolverHandle, cusolverParams, int64_t m, int64_t n, int, void* a, int64_t lda, int, void* tau, int, void*,      \
     size_t, void*, size_t, int* info))                                                                                \
  X(syevd_space, "cusolverDnXsyevd_bufferSize",                                                                        \
    (cusolverHandle, cusolverParams, int job, int uplo, int64_t n, int, const void* a, int64_t lda, int,               \
     const void* w, int, size_t*, size_t*))                                                                            \
  X(syevd, "cusolverDnXsyevd",                                                                                         \
    (cusolverHandle, cusolverParams, int job, int uplo, int64_t n, int, void* a, int64_t lda, int, void* w, int,       \
     void*, size_t, void*, size_t, int* info))                                                                         \
  X(gesvd_space, "cusolverDnXgesvd_bufferSize",                                                                        \
    (cusolverHandle, cusolverParams, signed char job_u, signed char job_vt, int64_t m, int64_t n, int, const void* a,  \
     int64_t lda, int, const void* s, int, const void* u, int64_t ldu, int, const void* vt, int64_t ldvt, int,         \
     size_t*, size_t*))                                                                                                \
  X(gesvd, "cusolverDnXgesvd",                                                                                         \
    (cusolverHandle, cusolverParams, signed char job_u, signed char job_vt, int64_t m, int64_t n, int, void* a,        \
     int64_t lda, int, void* s, int, void* u, int64_t ldu, int, void* vt, int64_t ldvt, int, void*, size_t, void*,     \
     size_t, int* info))                                                                                               \
  X(sytrs_space, "cusolverDnXsytrs_bufferSize",                                                                        \
    (cusolverHandle, int uplo, int64_t n, int64_t k, int, const void* a, int64_t lda, const int64_t* pivots, int,      \
     void* b, int64_t ldb, size_t*, size_t*))                                                                          \
  X(sytrs, "cusolverDnXsytrs",                                                                                         \
    (cusolverHandle, int uplo, int64_t n, int64_t k, int, const void* a, int64_t lda, const int64_t* pivots, int,      \
     void* b, int64_t ldb, void*, size_t, void*, size_t, int* info))

// Functions that older versions lack: Xsyevd of batches came with CUDA 12.6, whose first versions are not used, and Xgeev
// with 12.8.
#define CUDA_SOLVER_NEWER_FUNCTIONS(X)                                                                              \
  X(syev_batched_space, "cusolverDnXsyevBatched_bufferSize",                                                        \
    (cusolverHandle, cusolverParams, int job, int uplo, int64_t n, int, const void* a, int64_t lda, int,            \
     const void* w, int, size_t*, size_t*, int64_t count))                                                          \
  X(syev_batched, "cusolverDnXsyevBatched",                                                                         \
    (cusolverHandle, cusolverParams, int job, int uplo, int64_t n, int, void* a, int64_t lda, int, void* w, int,    \
     void*, size_t, void*, size_t, int* info, int64_t count))                                                       \
  X(geev_space, "cusolverDnXgeev_bufferSize",                                                                       \
    (cusolverHandle, cusolverParams, int job_l, int job_r, int64_t n, int, const void* a, int64_t lda, int,         \
     const void* w, int, const void* vl, int64_t ldvl, int, const void* vr, int64_t ldvr, int, size_t*, size_t*))   \
  X(geev, "cusolverDnXgeev",                                                                                        \
    (cusolverHandle, cusolverParams, int job_l, int job_r, int64_t n, int, void* a, int64_t lda, int, void* w, int, \
     void* vl, int64_t ldvl, int, void* vr, int64_t ldvr, int, void*, size_t, void*, size_t, int* info))

// Functions with a symbol for each dtype: ? is its letter. The second symbol is that of complex numbers.
// X(member, symbol of the library, symbol for complex numbers, parameters)
#define CUDA_SOLVER_TYPED_FUNCTIONS(X)                                                                                 \
  X(potrf_batched, "cusolverDn?potrfBatched", "cusolverDn?potrfBatched",                                               \
    (cusolverHandle, int uplo, int n, char** a, int lda, int* info, int count))                                        \
  X(orgqr_space, "cusolverDn?orgqr_bufferSize", "cusolverDn?ungqr_bufferSize",                                         \
    (cusolverHandle, int m, int n, int k, const void* a, int lda, const void* tau, int* size))                         \
  X(orgqr, "cusolverDn?orgqr", "cusolverDn?ungqr",                                                                     \
    (cusolverHandle, int m, int n, int k, void* a, int lda, const void* tau, void* work, int size, int* info))         \
  X(ormqr_space, "cusolverDn?ormqr_bufferSize", "cusolverDn?unmqr_bufferSize",                                         \
    (cusolverHandle, int side, int turn, int m, int n, int k, const void* a, int lda, const void* tau, const void* c,  \
     int ldc, int* size))                                                                                              \
  X(ormqr, "cusolverDn?ormqr", "cusolverDn?unmqr",                                                                     \
    (cusolverHandle, int side, int turn, int m, int n, int k, const void* a, int lda, const void* tau, void* c,        \
     int ldc, void* work, int size, int* info))                                                                        \
  X(sytrf_space, "cusolverDn?sytrf_bufferSize", "cusolverDn?sytrf_bufferSize",                                         \
    (cusolverHandle, int n, void* a, int lda, int* size))                                                              \
  X(sytrf, "cusolverDn?sytrf", "cusolverDn?sytrf",                                                                     \
    (cusolverHandle, int uplo, int n, void* a, int lda, int* pivots, void* work, int size, int* info))                 \
  X(syevj_batched_space, "cusolverDn?syevjBatched_bufferSize", "cusolverDn?heevjBatched_bufferSize",                   \
    (cusolverHandle, int job, int uplo, int n, const void* a, int lda, const void* w, int* size, cusolverSyevj,        \
     int count))                                                                                                       \
  X(syevj_batched, "cusolverDn?syevjBatched", "cusolverDn?heevjBatched",                                               \
    (cusolverHandle, int job, int uplo, int n, void* a, int lda, void* w, void* work, int size, int* info,             \
     cusolverSyevj, int count))                                                                                        \
  X(gesvdj_space, "cusolverDn?gesvdj_bufferSize", "cusolverDn?gesvdj_bufferSize",                                      \
    (cusolverHandle, int job, int econ, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu,   \
     const void* v, int ldv, int* size, cusolverGesvdj))                                                               \
  X(gesvdj, "cusolverDn?gesvdj", "cusolverDn?gesvdj",                                                                  \
    (cusolverHandle, int job, int econ, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv,   \
     void* work, int size, int* info, cusolverGesvdj))                                                                 \
  X(gesvdj_batched_space, "cusolverDn?gesvdjBatched_bufferSize", "cusolverDn?gesvdjBatched_bufferSize",                \
    (cusolverHandle, int job, int m, int n, const void* a, int lda, const void* s, const void* u, int ldu,             \
     const void* v, int ldv, int* size, cusolverGesvdj, int count))                                                    \
  X(gesvdj_batched, "cusolverDn?gesvdjBatched", "cusolverDn?gesvdjBatched",                                            \
    (cusolverHandle, int job, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv, void* work, \
     int size, int* info, cusolverGesvdj, int count))

// Functions of cuBLAS. The `info` of getrs and geqrf is on the host, and only says which argument is wrong.
#define CUDA_FACTOR_FUNCTIONS(X)                                                                                 \
  X(trsm, "cublas?trsm_v2", "cublas?trsm_v2",                                                                    \
    (cublasContext*, int side, int uplo, int turn, int diagonal, int m, int n, const void* alpha, const void* a, \
     int lda, void* b, int ldb))                                                                                 \
  X(trsm_batched, "cublas?trsmBatched", "cublas?trsmBatched",                                                    \
    (cublasContext*, int side, int uplo, int turn, int diagonal, int m, int n, const void* alpha,                \
     const char* const* a, int lda, char* const* b, int ldb, int count))                                         \
  X(getrf_batched, "cublas?getrfBatched", "cublas?getrfBatched",                                                 \
    (cublasContext*, int n, char* const* a, int lda, int* pivots, int* info, int count))                         \
  X(getrs_batched, "cublas?getrsBatched", "cublas?getrsBatched",                                                 \
    (cublasContext*, int turn, int n, int k, const char* const* a, int lda, const int* pivots, char* const* b,   \
     int ldb, int* info, int count))                                                                             \
  X(geqrf_batched, "cublas?geqrfBatched", "cublas?geqrfBatched",                                                 \
    (cublasContext*, int m, int n, char* const* a, int lda, char* const* tau, int* info, int count))

#define CUDA_TYPED_MEMBER(member, symbol, complex_symbol, parameters) int(*member[4]) parameters = {};

// The functions of both libraries. A member with four functions has those of float32, float64, complex64, complex128.
struct Solver {
  CUDA_SOLVER_FUNCTIONS(CUDA_MEMBER)
  CUDA_SOLVER_NEWER_FUNCTIONS(CUDA_MEMBER)
  CUDA_SOLVER_TYPED_FUNCTIONS(CUDA_TYPED_MEMBER)
  CUDA_FACTOR_FUNCTIONS(CUDA_TYPED_MEMBER)
  int major = 0;  // 12 with CUDA 13, 11 with CUDA 12; 0 if a library or a function is absent

  Solver();
};
const Solver& solver();
inline bool solver_there() { return solver().major; }
// Names the folders, separated by colons, in which the first call of solver() looks for cuSOLVER.
void set_solver_folders(std::string_view folders);
// Returns 12401 for cuSOLVER 12.4.1, and 0 without cuSOLVER.
int64_t solver_version();

// Throws the error of a status that is not 0.
void require_solver(int device, int status, const char* function);
void require_factors(int device, int status, const char* function);

// One call of an operator: its device, its dtype as the libraries name it, and the thread's handles for the current
// stream, which the constructor makes if need be. It makes the device's context current.
struct Solving {
  explicit Solving(const Tensor& of);
  const lamella_tensor* on;
  int device, dtype, which, type, real_type;  // `which` is the index of typed functions; the types are cudaDataTypes
  int64_t item, real_item;                    // bytes of a number, and of its real part
  cusolverHandle handle;
  cusolverParams params;
  cusolverSyevj syevj;
  cusolverGesvdj gesvdj;
  cublasContext* blas;

  void check(int status, const char* function) const { require_solver(device, status, function); }
  void check_blas(int status, const char* function) const { require_factors(device, status, function); }
  // Returns a device's array of the addresses of `count` matrices of `each` elements.
  Tensor addresses(const void* first, int64_t each, int64_t count) const;
};

// The workspaces of a generic function.
struct SolverSpace {
  size_t bytes = 0, host_bytes = 0;
  Tensor memory;
  std::unique_ptr<char[]> host;
  void make(const lamella_tensor* on);
  void* data() const { return data_of(memory); }
};

}  // namespace cuda
