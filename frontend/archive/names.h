// Which names of members are safe: relative, without a way up, and readable text.
#pragma once

#include <string_view>

namespace lamella::archive {

// Why the name is refused, or null.
const char* unsafe_name(std::string_view name);

}  // namespace lamella::archive
