// Shows the table of an operator as text, with the owners: the output of `lamella ops show`.
#pragma once

#include <string>

namespace lamella::dispatcher {

// Shows one overload, or all overloads of a name.
std::string show(const std::string& name);

}  // namespace lamella::dispatcher
