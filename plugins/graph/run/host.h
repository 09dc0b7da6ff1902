// Functions of the host language that a running graph calls. The binding sets them before the first graph runs; without
// a binding, they print to the standard streams.
#pragma once

#include <string>
#include <string_view>

#include <lamella/types.h>

namespace lamella::graph {

// Returns a tensor as text; by default "tensor(shape=(2, 3), dtype=float32)".
extern std::string (*tensor_text)(lamella_tensor*);
extern void (*print)(std::string_view text);
extern void (*warn)(std::string_view text);
// Raises the host's exception of a name, such as "KeyError"; returns 0 if it has none. Null without a binding.
extern lamella_status (*raise_in_host)(const char* name, const char* text);

// Throws the host's exception of a name, or without one an error of a kind (enum lamella_error_kind).
[[noreturn]] void raise_named(const char* name, int32_t kind, const std::string& text);

}  // namespace lamella::graph
