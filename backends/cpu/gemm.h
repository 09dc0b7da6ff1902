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

// The loops of products and convolutions of one dtype; `convolve` is null for bytes and for bfloat16.
struct GemmKernels {
  int64_t (*space)(int64_t m, int64_t n, int64_t k);  // bytes
  int (*multiply)(const Gemm&, void* space);
  int (*convolve)(const Gemm&, const Windows&, int64_t first_place, void* space);  // b is read from the windows
};
struct Gemms {
  GemmKernels f32, f64, u32, u64;
};

// The loops for a of int8 and for a of uint8; b is int8, c and the biases are int32, which wraps. The last two are for
// operands whose numbers are from 0 to 127: a, beside any int8, or b. They are null where the first two are as fast.
struct ByteGemms {
  GemmKernels s8, u8, seven_left, seven_right;
};

const Gemms& gemms();
const ByteGemms& byte_gemms();
// Returns whether one of n bytes is beyond 127.
bool has_high_bit(const char* bytes, int64_t n);
// Returns the loops for bfloat16 times bfloat16, added up in float32: the biases are float32, and c is, unless the
// product is narrow. Null if this machine has no instruction for it, or if beside_levels() forbids the instruction.
const GemmKernels* bf16_gemm();

// Computes a float32 product by oneDNN, without biases. a and b have no gaps in one of their dimensions, as BLAS
// requires. Returns false if oneDNN is not there or reports an error.
bool onednn_sgemm(const Gemm& g);
bool onednn_available();
// Computes a product of bfloat16 (c is float32) or of bytes (c is int32) by oneDNN; `dtype` is the dtype of a. Requires
// amx_multiplies(dtype). Returns false if oneDNN cannot compute the product, or if no memory is left.
bool onednn_multiply(int dtype, const Gemm& g);
// Returns whether oneDNN is there to compute products of a narrow dtype by AMX, and beside_levels() allows it. The
// processor must have AMX for the dtype, unless LAMELLA_CPU_PRODUCTS is "onednn".
bool amx_multiplies(int dtype);

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Gemms&, gemms, ())
LAMELLA_DECLARE_ISA(const GemmKernels&, bf16_gemm, ())
LAMELLA_DECLARE_ISA(const ByteGemms&, byte_gemms, ())
LAMELLA_DECLARE_ISA(const ByteGemms&, vnni_gemms, ())
