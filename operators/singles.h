// Operators that stand for another operator of the catalogue, and call it with their arguments: those over lists, and
// copies of views.
#pragma once

#include <lamella/c_api.h>

#include <string>
#include <unordered_map>

namespace lamella::operators {

// Returns a map from each such operator, "_foreach_add_.List" or "expand_copy", to the operator that it calls,
// "add_.Tensor" or "expand".
const std::unordered_map<std::string, std::string>& single_operators();

// Enters an operator of the catalogue that calls another one.
void stand_for(const std::string& op, const std::string& single);

// Returns the operator that `op` calls. Throws if it is not registered.
const lamella_operator* single_of(const lamella_operator* op);

}  // namespace lamella::operators
