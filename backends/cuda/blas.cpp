// The calls of cuBLAS, which is opened at run time. A thread has a handle for each device and stream, with a workspace
// of its own, so that results are the same each time and graphs can be captured.
#include "blas.h"

#include <atomic>

#include "kept.h"
#include "memory.h"

namespace cuda {
namespace {

using cublasHandle = struct cublasContext*;

// Constants of NVIDIA's headers, with their names.
constexpr int CUBLAS_GEMM_DEFAULT = -1, CUBLAS_STATUS_NOT_INITIALIZED = 1;
constexpr int CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70;

// X(member, symbol of the library, parameters)
#define CUDA_BLAS_FUNCTIONS(X)                                                                                    \
  X(create, "cublasCreate_v2", (cublasHandle*))                                                                   \
  X(destroy, "cublasDestroy_v2", (cublasHandle))                                                                  \
  X(set_stream, "cublasSetStream_v2", (cublasHandle, CUstream))                                                   \
  X(set_workspace, "cublasSetWorkspace_v2", (cublasHandle, void*, size_t))                                        \
  X(multiply, "cublasGemmStridedBatchedEx",                                                                       \
    (cublasHandle, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int, int, \
     long long, const void*, void*, int, int, long long, int, int, int))

struct Blas {
  CUDA_BLAS_FUNCTIONS(CUDA_MEMBER)
  int major = 0;

  Blas() {
    for (int each = 13; !major && each >= 12; each--) {
      SharedLibrary library("libcublas.so." + std::to_string(each));
      CUDA_BLAS_FUNCTIONS(CUDA_FIND)
      if (library.whole()) major = each;
    }
  }
};
const Blas& blas() {
  static const Blas opened;
  return opened;
}

lamella_status checked_blas(int status, const char* who) {
  return status ? fail(LAMELLA_RUNTIME_ERROR, lamella::detail::text("cuda: cuBLAS: ", who, ": status ", status))
                : LAMELLA_OK;
}

// Makes a handle and its work space. After a failure it destroys the handle, which holds memory of the device.
lamella_status make(BlasHandle& h) {
  // When memory is short, cublasCreate returns either of two statuses.
  const int made =
      with_room({CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_NOT_INITIALIZED}, [&] { return blas().create(&h.handle); });
  if (made == CUBLAS_STATUS_ALLOC_FAILED) return raise_lack(h.device, "cuda: cuBLAS: cublasCreate");
  if (made) return checked_blas(made, "cublasCreate");
  lamella_status st = LAMELLA_OK;
  const CUresult taken =
      with_room({CUDA_ERROR_OUT_OF_MEMORY}, [&] { return driver().memory_alloc(&h.workspace, blas_workspace_bytes); });
  if (taken == CUDA_ERROR_OUT_OF_MEMORY)
    st = raise_lack(h.device, lamella::detail::text("cuda: cuBLAS: ", blas_workspace_bytes, " bytes of work space"));
  else
    st = checked(taken, "cuda: cuBLAS: work space");
  if (!st) st = checked_blas(blas().set_stream(h.handle, h.stream), "cublasSetStream");
  if (!st)
    st = checked_blas(blas().set_workspace(h.handle, reinterpret_cast<void*>(h.workspace), blas_workspace_bytes),
                      "cublasSetWorkspace");
  if (!st) return LAMELLA_OK;
  blas().destroy(h.handle);
  if (h.workspace) driver().memory_free(h.workspace);
  return st;
}

std::atomic<bool> tf32{false};

}  // namespace

int blas_major() { return blas().major; }

lamella_status blas_handle(int device, const BlasHandle** out) {
  thread_local Kept<BlasHandle> mine;
  enter(device);
  const CUstream stream = current_stream(device);
  const auto fits = [=](const BlasHandle& h) { return h.device == device && h.stream == stream; };
  if ((*out = mine.find(fits))) return LAMELLA_OK;
  BlasHandle h{device, stream};
  if (lamella_status st = make(h)) return st;
  *out = mine.add(h);
  return LAMELLA_OK;
}

int blas_type(int dtype) {
  switch (dtype) {
    case LAMELLA_FLOAT16:
      return CUDA_R_16F;
    case LAMELLA_BFLOAT16:
      return CUDA_R_16BF;
    case LAMELLA_FLOAT32:
      return CUDA_R_32F;
    case LAMELLA_FLOAT64:
      return CUDA_R_64F;
    case LAMELLA_COMPLEX64:
      return CUDA_C_32F;
    default:
      return CUDA_C_64F;
  }
}

int blas_compute_type(int dtype) {
  if (dtype == LAMELLA_FLOAT64 || dtype == LAMELLA_COMPLEX128) return CUBLAS_COMPUTE_64F;
  const bool single = dtype == LAMELLA_FLOAT32 || dtype == LAMELLA_COMPLEX64;
  return single && tf32_allowed() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

bool blas_has_rows(const BlasMatrix& m, int64_t rows, int64_t columns) {
  return (m.column == 1 || columns == 1) && (m.row >= columns || rows == 1);
}
BlasOrder blas_order(const BlasMatrix& m, int64_t rows, int64_t columns) {
  if (blas_has_rows(m, rows, columns)) return {CUBLAS_OP_N, static_cast<int>(rows == 1 ? columns : m.row)};
  return {CUBLAS_OP_T, static_cast<int>(columns == 1 ? rows : m.column)};
}

bool tf32_allowed() { return tf32.load(std::memory_order_relaxed); }
void allow_tf32(bool on) { tf32 = on; }

bool blas_multiplies(int dtype) { return dtype >= LAMELLA_FLOAT16 && dtype <= LAMELLA_COMPLEX128 && blas_major(); }

bool blas_reads(const BlasMatrix& m, int64_t rows, int64_t columns) {
  const BlasMatrix turned = {m.data, m.column, m.row, m.batch};
  const bool fits = m.row < (int64_t{1} << 31) && m.column < (int64_t{1} << 31);
  return fits && (blas_has_rows(m, rows, columns) || blas_has_rows(turned, columns, rows));
}

// cuBLAS reads matrices column by column, where a matrix in rows is its transpose. So it computes out^T = b^T a^T.
lamella_status blas_multiply(int device, int dtype, int64_t batches, int64_t rows, int64_t columns, int64_t depth,
                             const BlasMatrix& a, const BlasMatrix& b, const BlasMatrix& out, const void* alpha,
                             const void* beta) {
  if (!blas_has_rows(out, rows, columns))  // then out^T lies row by row, and is the product b^T a^T
    return blas_multiply(device, dtype, batches, columns, rows, depth, {b.data, b.column, b.row, b.batch},
                         {a.data, a.column, a.row, a.batch}, {out.data, out.column, out.row, out.batch}, alpha, beta);
  const BlasHandle* h;
  if (lamella_status st = blas_handle(device, &h)) return st;
  const BlasOrder left = blas_order(b, depth, columns), right = blas_order(a, rows, depth),
                  to = blas_order(out, rows, columns);
  const int type = blas_type(dtype);
  return checked_blas(
      blas().multiply(h->handle, left.transposed, right.transposed, static_cast<int>(columns), static_cast<int>(rows),
                      static_cast<int>(depth), alpha, b.data, type, left.leading, b.batch, a.data, type, right.leading,
                      a.batch, beta, out.data, type, to.leading, out.batch, static_cast<int>(batches),
                      blas_compute_type(dtype), CUBLAS_GEMM_DEFAULT),
      "cublasGemmStridedBatchedEx");
}

}  // namespace cuda
