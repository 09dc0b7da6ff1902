// Attributes that plugins contribute to Tensor: data descriptors, which are on the type while they are registered.
//
// Note [No __getattr__]  CPython calls a method without making a bound-method object only if the type's tp_getattro is
//   the generic one. So plugins' attributes, and the explanations of missing names, are no fallback in getattr but
//   descriptors, put on the type when they are registered. Measured: this saves 36 ns for each call of a method.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int init_plugin_attributes();

}  // namespace lamella::binding
