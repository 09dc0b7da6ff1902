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
// The kind of the error for a key that is not in a dictionary. The binding may register a kind for it.
extern int32_t key_error;

}  // namespace lamella::graph
