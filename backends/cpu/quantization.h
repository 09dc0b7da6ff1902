// Loops of quantization over elements without gaps, once for each instruction set. Notes [Blocks] and [Quotients] in
// operators/quantization.cpp say what they compute.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// The range of the integers, which only `quantize` reads, and their dtype: LAMELLA_UINT8, LAMELLA_INT8, LAMELLA_INT16
// or LAMELLA_INT32. `wide` says that zero points lie beyond 2^20 from 0.
struct Codes {
  int64_t low, high;
  int dtype;
  bool wide;
};

// A Finish turns the integer sums of one row of a linear layer into its results: it subtracts zero * (the column's sum
// of weights), multiplies by the scales if there are scales, and adds the bias. A pointer is null if its array is absent.
struct Finish {
  uint32_t zero;
  const int32_t* weight_sums;
  float by;            // the scale of the row
  const float* scale;  // of the columns: one, or one for each
  bool scale_each;
  const float* bias;
};

struct QuantizationLoops {
  // Elements that share a scale and a zero point.
  void (*quantize)(int64_t n, const float* x, float scale, int32_t zero, const Codes& of, void* out);
  void (*dequantize)(int64_t n, const void* codes, float scale, int32_t zero, const Codes& of, float* out);
  // Elements with a scale and a zero point each.
  void (*quantize_each)(int64_t n, const float* x, const float* scale, const int32_t* zero, const Codes& of, void* out);
  void (*dequantize_each)(int64_t n, const void* codes, const float* scale, const int32_t* zero, const Codes& of,
                          float* out);
  // Replaces n sums of products by integers, or by float32 numbers, in the same memory: see Finish.
  void (*finish)(const Finish& f, int64_t n, char* sums);
  // float32(sum) * scale + bias.
  void (*scaled)(int64_t n, const int32_t* sums, float scale, float bias, float* out);
  // The least and the greatest of n numbers and 0. Returns false if one is NaN.
  bool (*range)(int64_t n, const float* x, float* least, float* most);
  // 2 n numbers of four bits as n bytes, and back; `sign` is 8 for numbers from -8 on, else 0.
  void (*pack)(int64_t n, const uint8_t* numbers, uint8_t* bytes);
  void (*unpack)(int64_t n, const uint8_t* bytes, int sign, uint8_t* numbers);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const ::lamella::cpu::QuantizationLoops&, quantization, ())
