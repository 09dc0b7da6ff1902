#include "derivatives/derivatives.h"

#include <string>

namespace lamella::autograd {

void add_derivatives(Library& m, std::span<const Line> lines) {
  for (const Line& line : lines) {
    const std::string names = line.operators;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = names.find(',', at);
      const std::string name = names.substr(at, end == std::string::npos ? end : end - at);
      m.derivative((name.find("::") == std::string::npos ? "aten::" + name : name).c_str(), line.formulas);
      at = end == std::string::npos ? end : names.find_first_not_of(' ', end + 1);
    }
  }
}

}  // namespace lamella::autograd
