// Which operator each operator over lists calls for every place of its lists.
#pragma once

#include <string>
#include <unordered_map>

namespace lamella::operators {

// Returns a map from each such operator, "_foreach_add_.List", to the operator that it calls for one place,
// "add_.Tensor".
const std::unordered_map<std::string, std::string>& single_operators();

}  // namespace lamella::operators
