// Products of matrices by cuBLAS, where it can be opened: it is NVIDIA's own library, beside the driver or in a wheel.
#pragma once

#include "devices.h"

namespace cuda {

// A matrix of a batch, by strides in elements.
struct BlasMatrix {
  void* data;
  int64_t row, column, batch;
};

// The major version of the cuBLAS that is there, 13 or 12, or 0.
int blas_major();
// Whether cuBLAS is there for this dtype: float16, bfloat16, float32, float64, complex64, complex128.
bool blas_multiplies(int dtype);
// Whether cuBLAS can read a matrix of these rows and columns where it lies, without a copy.
bool blas_reads(const BlasMatrix&, int64_t rows, int64_t columns);
// out = alpha a b + beta out, for each of the batches. alpha and beta are of the type in which the dtype is computed.
lamella_status blas_multiply(int device, int dtype, int64_t batches, int64_t rows, int64_t columns, int64_t depth,
                             const BlasMatrix& a, const BlasMatrix& b, const BlasMatrix& out, const void* alpha,
                             const void* beta);

// BlasHandle is for cuBLAS and cuBLASLt: a thread's handle for a device and its current stream, whose context is
// current then, and its work space.
struct BlasHandle {
  int device;
  CUstream stream;
  struct cublasContext* handle = nullptr;
  CUdeviceptr workspace = 0;
};
constexpr size_t blas_workspace_bytes = 32 << 20;  // what NVIDIA advises for Hopper
lamella_status blas_handle(int device, const BlasHandle** out);

// NVIDIA's numbers: cudaDataType of a dtype, and cublasComputeType_t of its products.
int blas_type(int dtype);
int blas_compute_type(int dtype);

// A matrix in columns, as cuBLAS has them: of the one in rows it is the transpose. `transposed` is a cublasOperation_t.
struct BlasOrder {
  int transposed, leading;
};
BlasOrder blas_order(const BlasMatrix&, int64_t rows, int64_t columns);
// Whether the elements of each row are next to each other.
bool blas_has_rows(const BlasMatrix&, int64_t rows, int64_t columns);

// Whether products of float32 may round their operands to TF32; off until it is set, as for torch.
bool tf32_allowed();
void allow_tf32(bool);

}  // namespace cuda
