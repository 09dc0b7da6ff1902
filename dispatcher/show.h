// Shows the table of an operator as text, with the owners: `lamella ops show`.
#pragma once

#include <string>

namespace lamella::dispatcher {

// Of one overload, or of all that a name has.
std::string show(const std::string& name);

}  // namespace lamella::dispatcher
