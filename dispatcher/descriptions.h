// The entries of lamella_api that describe operators, and the one that runs a shape rule alone.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

const char* operator_name(const lamella_operator* op);
const char* operator_overload(const lamella_operator* op);
const char* operator_schema(const lamella_operator* op);
const char* operator_category(const lamella_operator* op);
const lamella_pointwise* operator_pointwise(const lamella_operator* op);
int32_t operator_num_args(const lamella_operator* op);
int32_t operator_num_returns(const lamella_operator* op);
const lamella_argument* operator_argument(const lamella_operator* op, int32_t i);
const lamella_argument* operator_return(const lamella_operator* op, int32_t i);
int32_t operator_form(const lamella_operator* op);
const lamella_operator* operator_functional(const lamella_operator* op);
const char* operator_dims(const lamella_operator* op);
uint32_t operator_effects(const lamella_operator* op);
uint32_t operator_since(const lamella_operator* op);
int32_t find_overloads(const char* name, const lamella_operator** out, int32_t room);
int32_t list_operators(const lamella_operator** out, int32_t room);
lamella_status infer_alone(const lamella_operator* op, const lamella_value* args, int32_t num_args, lamella_meta* outs,
                           int32_t num_outs, lamella_device* device);

}  // namespace lamella::dispatcher
