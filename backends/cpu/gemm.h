// Matrix products and convolutions on plain memory: loops compiled once per instruction set, and oneDNN's product.
#pragma once

#include <cstdint>

#include "backends/cpu/windows.h"

namespace lamella::cpu {

// A product c (m, n) = a (m, k) times b (k, n), plus a bias. Strides are in elements; the columns of c are neighbours.
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
  int (*interrupted)() = nullptr;     // called between blocks; a result that is not 0 ends the product and is returned
  bool adds = false;                  // the product is added to the numbers in c
  bool few_rows = false;              // the whole product, before threads share it, has at most four rows
  bool narrow = false;                // c is of the operands' dtype; k is at most `narrow_depth`
};

// The largest k of a narrow product. Up to it a sum is finished in registers and rounded there; a longer one is kept as
// float32 between blocks, which a bfloat16 result has no room for.
constexpr int64_t narrow_depth = 1024;

// The loops of products and convolutions of float, double, uint32_t or uint64_t.
struct GemmKernels {
  int64_t (*space)(int64_t m, int64_t n, int64_t k);  // bytes
  int (*multiply)(const Gemm&, void* space);
  int (*convolve)(const Gemm&, const Windows&, int64_t first_place, void* space);  // b is read from the windows
};
struct Gemms {
  GemmKernels f32, f64, u32, u64;
};

// The loops for a of int8 and for a of uint8; b is int8, c and the biases are int32, which wraps.
struct ByteGemms {
  GemmKernels s8, u8;
};

const Gemms& gemms();
const ByteGemms& byte_gemms();
// Returns the loops for bfloat16 times bfloat16, added up in float32: c and the biases are float32. Null if this
// machine has no instruction for it.
const GemmKernels* bf16_gemm();

// Computes a float32 product by oneDNN. a and b have no gaps in one of their dimensions, as BLAS requires. Returns
// false if oneDNN is not there.
bool onednn_sgemm(const Gemm& g);
bool onednn_available();
// Computes a product of bfloat16 (c is float32) or of bytes (c is int32, `dtype` is that of a) by oneDNN's code for
// AMX. Requires amx_multiplies(dtype). Returns false if oneDNN has nothing fast for the product.
bool onednn_multiply(int dtype, const Gemm& g);
// Returns whether the processor has AMX for a dtype, and oneDNN is there to use it.
bool amx_multiplies(int dtype);

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Gemms&, gemms, ())
LAMELLA_DECLARE_ISA(const GemmKernels&, bf16_gemm, ())
LAMELLA_DECLARE_ISA(const ByteGemms&, byte_gemms, ())
LAMELLA_DECLARE_ISA(const ByteGemms&, vnni_gemms, ())
