// Products of matrices by cuBLAS, NVIDIA's library, if libraries.py finds it: in LD_LIBRARY_PATH, in a wheel or among
// the system's libraries.
#pragma once

#include "devices.h"

namespace cuda {

// Constants of NVIDIA's headers, with their names: cublasOperation_t, a status, and cudaDataType.
constexpr int CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_STATUS_ALLOC_FAILED = 3;
constexpr int CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_C_32F = 4, CUDA_C_64F = 5;
constexpr int CUDA_R_32I = 10, CUDA_R_16BF = 14;

// The matrices of a batch, with strides in elements.
struct BlasMatrix {
  void* data;
  int64_t row, column, batch;
};

// Returns the major version of the opened cuBLAS, 13 or 12, or 0 if there is none.
int blas_major();
// Returns whether cuBLAS was opened and has the dtype: float16, bfloat16, float32, float64, complex64, complex128.
bool blas_multiplies(int dtype);
// Returns whether cuBLAS can read a matrix of these rows and columns where it lies, without a copy.
bool blas_reads(const BlasMatrix&, int64_t rows, int64_t columns);
// Computes out = alpha a b + beta out for each batch. blas_reads() must be true of all three matrices. alpha and beta
// point to numbers of the type in which the dtype is computed.
lamella_status blas_multiply(int device, int dtype, int64_t batches, int64_t rows, int64_t columns, int64_t depth,
                             const BlasMatrix& a, const BlasMatrix& b, const BlasMatrix& out, const void* alpha,
                             const void* beta);

// The handle and the work space of a thread for a device and its current stream, for cuBLAS and cuBLASLt. blas_handle()
// makes them on the first call, and makes the device's context current.
struct BlasHandle {
  int device;
  CUstream stream;
  struct cublasContext* handle = nullptr;
  CUdeviceptr workspace = 0;
};
constexpr size_t blas_workspace_bytes = 32 << 20;  // NVIDIA's advice for Hopper
lamella_status blas_handle(int device, const BlasHandle** out);

// Return NVIDIA's numbers: the cudaDataType of a dtype, and the cublasComputeType_t of its products.
int blas_type(int dtype);
int blas_compute_type(int dtype);

// How cuBLAS, which reads memory column by column, is to read a matrix: `transposed` is a cublasOperation_t, and
// `leading` the distance between these columns, in elements. blas_order() returns the order for the transpose of a
// matrix, so a matrix that lies row by row gets CUBLAS_OP_N.
struct BlasOrder {
  int transposed, leading;
};
BlasOrder blas_order(const BlasMatrix&, int64_t rows, int64_t columns);
// Returns whether the elements of each row are next to each other, and rows do not overlap.
bool blas_has_rows(const BlasMatrix&, int64_t rows, int64_t columns);

// Whether products of float32 and complex64 may round their operands to TF32: false until allow_tf32(true).
bool tf32_allowed();
void allow_tf32(bool);

}  // namespace cuda
