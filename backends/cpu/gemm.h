// Row-major single-precision products by oneDNN, loaded on first need; and what to do without it.
#pragma once

#include <cstdint>

namespace lattis::cpu {

// c (m, n) = a (m, k) times b (k, n). A transposed operand is stored as its transpose, with `ld` its row length.
struct Gemm {
  int64_t m, n, k;
  const float* a;
  bool a_transposed;
  int64_t lda;
  const float* b;
  bool b_transposed;
  int64_t ldb;
  float* c;
  int64_t ldc;
};

// On the calling thread only. False if oneDNN is not there.
bool onednn_sgemm(const Gemm& g);
bool onednn_available();

}  // namespace lattis::cpu
