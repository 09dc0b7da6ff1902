// Checks that a member's name is safe: a relative path without "..", in readable text.
#pragma once

#include <string_view>

namespace lamella::archive {

// Returns why a name is refused, or null.
const char* unsafe_name(std::string_view name);

}  // namespace lamella::archive
