// A call with quantized tensors has a way in which it is computed and a scheme for its result, and is recorded.
#pragma once

#include "scheme.h"

namespace lamella::quantization {

inline const lamella_operator* operator_named(const char* name) { return api().find_operator(name, ""); }

// Note [Ways]  A call is computed in one of three ways, and is an error otherwise:
//   native     by integers alone, or by a kernel that a numeric type has registered
//   fused      each piece of the operands is dequantized, computed and quantized again while it is in the cache
//   composite  whole operands are dequantized and computed by the operator as usual, and its result is quantized
// Strict mode refuses the last two.
enum class Way { native, fused, composite };

// Records a call in this thread's traces; raises in strict mode unless the way is native.
void record(const lamella_operator* op, Way way, const Scheme& s);

// Returns a scheme without memory for the result of a call, from this thread's settings; null if they have no scale.
// `like` is the scheme of an argument: the result has its numeric type, unless the settings name another.
std::shared_ptr<Scheme> result_scheme(const Scheme& like);
// Raises the error of a result without a scale.
[[noreturn]] void no_result_scheme(const lamella_operator* op, const Scheme& s);
// Raises the error of a call that no rule computes: `argument` is the first quantized argument.
[[noreturn]] void no_rule(const lamella_operator* op, const char* argument, const Scheme& s,
                          const std::string& hint = "");

// Returns a copy of a scheme without its memory, for another tensor; the scheme has one scale.
std::shared_ptr<Scheme> without_memory(const Scheme& s);

void register_calls(Library& m);

}  // namespace lamella::quantization
