// Attributes of Tensor that plugins contribute: data descriptors on the type for as long as they are registered.
//
// Note [No __getattr__]  CPython calls a method without making a bound object only where the type's tp_getattro is the
//   generic one. So neither plugins' attributes nor explanations of missing names are a fallback of getattr; they
//   are descriptors, put on the type when they are registered. Measured: 36 ns for each call of a method.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int init_plugin_attributes();

}  // namespace lamella::binding
