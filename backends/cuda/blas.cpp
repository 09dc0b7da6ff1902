// cuBLAS by its names: a handle for each device and stream of a thread, with a workspace of its own, so that results
// are the same each time and graphs can be captured.
#include "blas.h"

#include <atomic>

#include "kept.h"

namespace cuda {
namespace {

using cublasHandle = struct cublasContext*;

// Constants by NVIDIA's names.
constexpr int CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_DEFAULT_MATH = 0, CUBLAS_GEMM_DEFAULT = -1;
constexpr int CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70;
constexpr int CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_C_32F = 4, CUDA_C_64F = 5, CUDA_R_16BF = 14;

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
  bool there = false;

  Blas() {
    for (int each = 13; !there && each >= 12; each--) {
      SharedLibrary library("libcublas.so." + std::to_string(each));
      CUDA_BLAS_FUNCTIONS(CUDA_FIND)
      there = library.whole();
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

constexpr size_t workspace = 32 << 20;  // what NVIDIA advises for Hopper

struct Handle {
  int device;
  CUstream stream;
  cublasHandle handle = nullptr;
  CUdeviceptr memory = 0;
};

lamella_status handle_of(int device, cublasHandle* out) {
  thread_local Kept<Handle> mine;
  const CUstream stream = current_stream(device);
  const auto fits = [=](const Handle& h) { return h.device == device && h.stream == stream; };
  if (const Handle* h = mine.find(fits)) return *out = h->handle, LAMELLA_OK;
  Handle h{device, stream};
  enter(device);
  if (lamella_status st = checked_blas(blas().create(&h.handle), "cublasCreate")) return st;
  if (lamella_status st = checked(driver().memory_alloc(&h.memory, workspace), "the workspace of cuBLAS")) return st;
  if (lamella_status st = checked_blas(blas().set_stream(h.handle, stream), "cublasSetStream")) return st;
  if (lamella_status st = checked_blas(blas().set_workspace(h.handle, reinterpret_cast<void*>(h.memory), workspace),
                                       "cublasSetWorkspace"))
    return st;
  *out = mine.add(h)->handle;
  return LAMELLA_OK;
}

std::atomic<bool> tf32{false};

int type_of(int dtype) {
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

// A matrix in columns, as cuBLAS has them: of the rows-first one it is the transpose.
struct Read {
  int op, leading;
};
bool neighbours_in_rows(const BlasMatrix& m, int64_t rows, int64_t columns) {
  return (m.column == 1 || columns == 1) && (m.row >= columns || rows == 1);
}
Read read(const BlasMatrix& m, int64_t rows, int64_t columns) {
  if (neighbours_in_rows(m, rows, columns)) return {CUBLAS_OP_N, static_cast<int>(rows == 1 ? columns : m.row)};
  return {CUBLAS_OP_T, static_cast<int>(columns == 1 ? rows : m.column)};
}

}  // namespace

bool tf32_allowed() { return tf32.load(std::memory_order_relaxed); }
void allow_tf32(bool on) { tf32 = on; }

bool blas_multiplies(int dtype) { return dtype >= LAMELLA_FLOAT16 && dtype <= LAMELLA_COMPLEX128 && blas().there; }

bool blas_reads(const BlasMatrix& m, int64_t rows, int64_t columns) {
  const BlasMatrix turned = {m.data, m.column, m.row, m.batch};
  const bool fits = m.row < (int64_t{1} << 31) && m.column < (int64_t{1} << 31);
  return fits && (neighbours_in_rows(m, rows, columns) || neighbours_in_rows(turned, columns, rows));
}

// What is row by row here is column by column there: out^T = b^T a^T.
lamella_status blas_multiply(int device, int dtype, int64_t batches, int64_t rows, int64_t columns, int64_t depth,
                             const BlasMatrix& a, const BlasMatrix& b, const BlasMatrix& out, const void* alpha,
                             const void* beta) {
  if (!neighbours_in_rows(out, rows, columns))  // its transpose is, and is b^T a^T
    return blas_multiply(device, dtype, batches, columns, rows, depth, {b.data, b.column, b.row, b.batch},
                         {a.data, a.column, a.row, a.batch}, {out.data, out.column, out.row, out.batch}, alpha, beta);
  cublasHandle handle;
  if (lamella_status st = handle_of(device, &handle)) return st;
  const Read left = read(b, depth, columns), right = read(a, rows, depth), to = read(out, rows, columns);
  const int type = type_of(dtype);
  const bool wide = dtype == LAMELLA_FLOAT64 || dtype == LAMELLA_COMPLEX128;
  const int compute = wide ? CUBLAS_COMPUTE_64F
                      : tf32_allowed() && (dtype == LAMELLA_FLOAT32 || dtype == LAMELLA_COMPLEX64)
                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                          : CUBLAS_COMPUTE_32F;
  return checked_blas(blas().multiply(handle, left.op, right.op, static_cast<int>(columns), static_cast<int>(rows),
                                      static_cast<int>(depth), alpha, b.data, type, left.leading, b.batch, a.data, type,
                                      right.leading, a.batch, beta, out.data, type, to.leading, out.batch,
                                      static_cast<int>(batches), compute, CUBLAS_GEMM_DEFAULT),
                      "cublasGemmStridedBatchedEx");
}

}  // namespace cuda
