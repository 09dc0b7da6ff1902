// Numeric types: what a code of some bits means. The integers are here; packages register others.
#pragma once

#include <lamella/extension.h>

#include <map>
#include <string>

namespace lamella::quantization {

// A number is (code - zero point) * scale if `decode` is null. Else it is decode(code) * scale, and there are no zero
// points: the operators encode(numbers in float32) and decode(codes) convert between numbers at scale 1 and codes.
struct NumericType {
  std::string name;
  ScalarType code;    // of a code in memory; numbers of four bits lie there two a byte
  int bits;           // of a code: 4, 8, 16 or 32
  int64_t low, high;  // the least and the greatest code
  double largest;     // the greatest number at scale 1
  const lamella_operator* encode = nullptr;
  const lamella_operator* decode = nullptr;
  std::map<std::string, const lamella_operator*> kernels;  // operators that compute with the codes, by what they serve

  bool is_integer() const { return !decode; }
  // Returns the registered kernel of an operator, such as "aten::linear", or null.
  const lamella_operator* kernel(const lamella_operator* op) const;
};

// Returns a type by its name. Types are never freed, since tensors point to them.
const NumericType& find_type(std::string_view name);

void register_types(Library& m);

}  // namespace lamella::quantization
