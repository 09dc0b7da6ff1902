// libcublas.so.13 for tests: the one function that multiplies, over memory of the host. It has a folder of its own, so
// that a test chooses whether there is a cuBLAS. The first STANDIN_BLAS_LACKS handles have no memory.
#include <cstdlib>

#include "blas.h"

#define API extern "C" __attribute__((visibility("default"))) int

using namespace standin;

namespace {
int calls = 0, handles = 0;
}

API cublasCreate_v2(Handle** out) {
  static int lacks = std::getenv("STANDIN_BLAS_LACKS") ? std::atoi(std::getenv("STANDIN_BLAS_LACKS")) : 0;
  if (!out) return invalid;
  if (lacks-- > 0) return alloc_failed;
  handles++;
  return *out = new Handle, success;
}
API cublasDestroy_v2(Handle* h) { return handles--, delete h, success; }
API standin_blas_handles() { return handles; }
API cublasSetStream_v2(Handle* h, void* stream) { return h->stream = stream, success; }
API cublasSetWorkspace_v2(Handle*, void* memory, size_t) {
  return memory && reinterpret_cast<uintptr_t>(memory) % 256 == 0 ? success : invalid;
}
API standin_blas_calls() { return calls; }

API cublasGemmStridedBatchedEx(Handle* h, int ta, int tb, int m, int n, int k, const void* alpha, const void* A,
                               int type_a, int lda, long long sa, const void* B, int type_b, int ldb, long long sb,
                               const void* beta, void* C, int type_c, int ldc, long long sc, int count, int compute,
                               int) {
  // Like the library, refuses leading sizes below the sizes that they lead, and types that do not go together.
  const bool wide = type_a == of_double || type_a == of_wide_complex;
  if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || type_a != type_b || type_a != type_c) return invalid;
  if (wide ? compute != in_64 : compute != in_32 && compute != in_tf32) return unsupported;
  calls++;
  Product p{ta, tb, m, n, k, type_a, {}, {}, A, lda, sa, B, ldb, sb, C, ldc, sc, count};
  const auto bytes = static_cast<size_t>(bytes_of(type_a) < 4 ? 4 : bytes_of(type_a));
  std::memcpy(p.alpha, alpha, bytes);
  std::memcpy(p.beta, beta, bytes);
  return put(h->stream, p);
}
