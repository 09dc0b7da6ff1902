// Which operator each operator over lists calls for every place of its lists.
#pragma once

#include <string>
#include <unordered_map>

namespace lamella::operators {

// Returns a map from each operator's name with its overload, "_foreach_add_.List", to its single one's, "add_.Tensor".
const std::unordered_map<std::string, std::string>& single_operators();

}  // namespace lamella::operators
