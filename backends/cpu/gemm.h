// Matrix products and convolutions on plain memory: loops compiled once per instruction set, and oneDNN's product.
#pragma once

#include <cstdint>

#include "backends/cpu/windows.h"

namespace lamella::cpu {

// c (m, n) = a (m, k) times b (k, n), plus a bias. Strides in elements; the columns of c are neighbours.
struct Gemm {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  const void* row_bias = nullptr;     // one number per row of c
  const void* column_bias = nullptr;  // one number per column of c
  int (*interrupted)() = nullptr;     // asked between blocks; the first answer that is not 0 is returned
  bool adds = false;                  // to the numbers in c
};

// For float, double, uint32_t and uint64_t.
struct GemmKernels {
  int64_t (*space)(int64_t m, int64_t n, int64_t k);  // bytes
  int (*multiply)(const Gemm&, void* space);
  int (*convolve)(const Gemm&, const Windows&, int64_t first_place, void* space);  // b is read from the windows
};
struct Gemms {
  GemmKernels f32, f64, u32, u64;
};

const Gemms& gemms();
// bfloat16 times bfloat16, added up in float32: c and the biases are float32. Null where this machine has no
// instruction for it.
const GemmKernels* bf16_gemm();

// a and b as BLAS reads them: without gaps in one of the two dimensions. False if oneDNN is not there.
bool onednn_sgemm(const Gemm& g);
bool onednn_available();

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Gemms&, gemms, ())
LAMELLA_DECLARE_ISA(const GemmKernels&, bf16_gemm, ())
