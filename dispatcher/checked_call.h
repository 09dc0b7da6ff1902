// Checked calls between the dispatcher and code built with other headers: the numbers and the kinds of values are
// checked before anything reads them; checked_redispatch() and checked_decompose() check the numbers alone. Arguments appended to an
// operator's schema after a caller was written get their defaults; a kernel that was written before them is called
// without them.
#pragma once

#include <functional>

#include "dispatcher/call.h"

namespace lamella::dispatcher {

lamella_status checked_call(Frame* parent, const Operator* op, const Value* args, int32_t num_args, Value* rets,
                            int32_t num_rets);
lamella_status checked_redispatch(Frame* frame, const Value* args, int32_t num_args, Value* rets, int32_t num_rets);
lamella_status checked_decompose(Frame* frame, const Value* args, int32_t num_args, Value* rets, int32_t num_rets);

// Adds the defaults of the arguments that are left out, checks the kinds of all, and calls `run` with them.
lamella_status with_all_arguments(const Operator* op, const Value* args, int32_t num_args,
                                  const std::function<lamella_status(const Value*)>& run);

// look_up_kernel() returns the kernel of a key as an object of type "Kernel". call_kernel() calls such an object with
// the checks of checked_call().
lamella_status look_up_kernel(const Operator* op, const char* key, lamella_object** out);
lamella_status call_kernel(Frame* parent, lamella_object* kernel, const Value* args, int32_t num_args, Value* rets,
                           int32_t num_rets);

// Raises unless the i-th result, which a kernel made itself, is of a kind that the schema allows.
lamella_status check_result(const Operator* op, int i, const Value& v);

// If the definition of a kernel or of a shape rule takes fewer arguments than the operator has now, replaces it by a
// function that raises unless the later arguments have their defaults, and else calls it without them. Raises if the
// numbers of arguments cannot fit.
lamella_status adapt(const Operator* op, const std::string& owner, lamella_kernel_def* def);
lamella_status adapt(const Operator* op, const std::string& owner, lamella_shape_rule_def* def);

// Raises unless the arguments that were appended to the schema after `num_args` have their default values: for
// functions that a layer calls itself, such as derivatives. See `check_defaults` in lamella_api.
lamella_status check_defaults(const Operator* op, const Value* args, int32_t num_args, const char* who);

// Sets `objects`, `admits` and `gives`: the type names of objects, and the tags that each argument and each result may
// have. Raises if no value can have a type, or if a default is no value of its argument's type.
lamella_status kinds_of(const std::string& op, const Schema& s, CallInfo* info);

}  // namespace lamella::dispatcher
