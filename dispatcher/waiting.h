// What was registered for something that is not there: kernels under a key that no device, layer or dtype has, and
// rules of operators or layers that never came. Each of these may still come; where it does not, a name was misspelled.
#pragma once

#include <string>
#include <vector>

namespace lamella::dispatcher {

struct Waiting {
  std::string owner;
  std::string what;     // "a kernel of aten::neg", "a rule of layer 'autograd'"
  std::string kind;     // of what it waits for: "key", "operator" or "layer"
  std::string awaited;  // its name
};

// In the order of the operators' names.
std::vector<Waiting> all_waiting();

}  // namespace lamella::dispatcher
