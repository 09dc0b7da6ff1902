// Registrations that wait for a name: kernels under a key that no device, layer or dtype has, and rules of operators or
// layers that are not registered. The name may be registered later; if it never is, it may be misspelled.
#pragma once

#include <string>
#include <vector>

namespace lamella::dispatcher {

struct Waiting {
  std::string owner;
  std::string what;     // "a kernel of aten::neg", "a rule of layer 'autograd' for aten::neg"
  std::string kind;     // the kind of the awaited name: "key", "operator" or "layer"
  std::string awaited;  // the name
};

// Returns all waiting registrations, sorted by `what`.
std::vector<Waiting> all_waiting();

}  // namespace lamella::dispatcher
