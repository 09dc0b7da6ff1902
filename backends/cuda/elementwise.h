// Kernels of one element at a time, whose texts are made from expressions: pointwise operators, copies and fills.
#pragma once

#include "faults.h"
#include "layout.h"

namespace cuda {

constexpr int number_operand = 15;  // in place of a dtype: the operand is a number, or absent

// Element says what one kernel computes. All but `text` are numbers that its key is made of.
struct Element {
  const char* text;             // in x, y, z and p, q, r; null: x as it is
  const char* fault = nullptr;  // the condition that is an error, or null
  int compute;                  // a dtype; the short floats are computed in float
  int result;                   // enum lamella_result_rule
  bool condition = false;       // x is a bool
  int dtypes[layout_operands] = {number_operand, number_operand, number_operand, number_operand};
};

// Numbers of a call: the operands that are numbers, and the parameters, as elements of the compute type.
struct Numbers {
  alignas(16) unsigned char bytes[6 * 16] = {};
  void* operand(int k, int item) { return bytes + k * item; }
  void* parameter(int k, int item) { return bytes + (3 + k) * item; }
};

// Computes `out`. Tensors that are null are numbers. `who` names the operator in the message of a fault.
lamella_status run_elementwise(const Element&, const lamella_tensor* out, const lamella_tensor* const* inputs,
                               int count, const Numbers&, const lamella_frame* who = nullptr,
                               const char* fault_text = nullptr);

// The text of a kernel, as NVRTC gets it, and the options that define its types; `name` is the struct's, so that many
// of the same options can stand in one text.
std::string text_of_element(const Element&, const std::string& name);
std::string options_of_element(const Element&);

}  // namespace cuda
