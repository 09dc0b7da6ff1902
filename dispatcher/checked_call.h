// Checked calls between the dispatcher and code built with other headers: the numbers and the kinds of values are
// checked before anything reads them. Arguments appended to an operator's schema after a caller was written get their
// defaults; a kernel that was written before them is called without them.
#pragma once

#include "dispatcher/call.h"

namespace lamella::dispatcher {

lamella_status checked_call(Frame* parent, const Operator* op, const Value* args, int32_t num_args, Value* rets,
                            int32_t num_rets);
lamella_status checked_redispatch(Frame* frame, const Value* args, int32_t num_args, Value* rets, int32_t num_rets);

// The same for one kernel, which look_up_kernel has found: an object of type "Kernel".
lamella_status look_up_kernel(const Operator* op, const char* key, lamella_object** out);
lamella_status call_kernel(Frame* parent, lamella_object* kernel, const Value* args, int32_t num_args, Value* rets,
                           int32_t num_rets);

// A result of a kernel's own making, on whose kind the caller and the layers above rely.
lamella_status check_result(const Operator* op, int i, const Value& v);

// A registration of a kernel or of a shape rule that takes fewer arguments than the operator has now calls it through
// another that leaves out those it does not know. An error where the numbers cannot fit.
lamella_status adapt(const Operator* op, const std::string& owner, lamella_kernel_def* def);
lamella_status adapt(const Operator* op, const std::string& owner, lamella_shape_rule_def* def);

// The same check for functions that a layer calls itself, such as derivatives: see `check_defaults` in lamella_api.
lamella_status check_defaults(const Operator* op, const Value* args, int32_t num_args, const char* who);

// Which tags the arguments and the results may have: `admits` and `gives`. An error if there are no values for a type.
lamella_status kinds_of(const std::string& op, const Schema& s, CallInfo* info);

}  // namespace lamella::dispatcher
