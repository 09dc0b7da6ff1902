// Overloads of the catalogue's operators that take names for new dimensions, and the plugin's own operators.
#pragma once

#include "state.h"

namespace lamella::named {

// Adds flatten, unflatten, unsqueeze and stack with names to the catalogue.
void register_overloads(Library& m);

// Defines the operators by which Python reads and sets the thread's Matching, and registers rules.
void register_switches(Library& m);

}  // namespace lamella::named
