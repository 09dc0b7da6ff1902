// Which operator each operator over lists calls for every place of its lists.
#pragma once

#include <string>
#include <unordered_map>

namespace lamella::operators {

// From an operator's name with its overload, "_foreach_add_.List", to that of the single operator, "add_.Tensor".
const std::unordered_map<std::string, std::string>& single_operators();

}  // namespace lamella::operators
