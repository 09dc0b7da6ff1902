// Checks that a member's name is safe: a relative path without parts that are empty, "." or "..", in UTF-8 without
// control characters and backslashes.
#pragma once

#include <string_view>

namespace lamella::archive {

// Returns why a name is refused, as the end of a sentence ("is empty"); null if the name is safe.
const char* unsafe_name(std::string_view name);

}  // namespace lamella::archive
