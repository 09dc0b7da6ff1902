// Kernels of one element at a time, whose CUDA source is made from expressions: pointwise operators, copies and fills.
#pragma once

#include "faults.h"
#include "layout.h"

namespace cuda {

constexpr int number_operand = 15;  // in place of a dtype: the operand is a number, or absent

// The computation of one kernel. The members are its key.
struct Element {
  const char* text;             // an expression in x, y, z and p, q, r; null: x as it is
  const char* fault = nullptr;  // an expression that is true if the element is an error, or null
  int compute;                  // a dtype; the short floats are computed in float
  int result;                   // enum lamella_result_rule
  bool condition = false;       // whether x is a bool
  int dtypes[layout_operands] = {number_operand, number_operand, number_operand, number_operand};
};

// The numbers of a call, as elements of the compute type: the operands that are numbers, and the parameters.
struct Numbers {
  alignas(16) unsigned char bytes[6 * 16] = {};
  void* operand(int k, int item) { return bytes + k * item; }
  void* parameter(int k, int item) { return bytes + (3 + k) * item; }
};

// Computes `out`. An operand is a number if `inputs` has null for it. The message of a fault names the operator of
// `who` and ends with `fault_text`.
lamella_status run_elementwise(const Element&, const lamella_tensor* out, const lamella_tensor* const* inputs,
                               int count, const Numbers&, const lamella_frame* who = nullptr,
                               const char* fault_text = nullptr);

// text_of_element() returns CUDA source with the struct `name`, which computes one element. options_of_element()
// returns the compiler's options that define its types. Structs with the same options can be compiled together.
std::string text_of_element(const Element&, const std::string& name);
std::string options_of_element(const Element&);

}  // namespace cuda
