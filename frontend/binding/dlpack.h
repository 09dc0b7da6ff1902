// DLPack in both directions: exports a tensor's memory, and makes tensors over memory of other libraries.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

extern PyMethodDef dlpack_methods[];

}  // namespace lamella::binding
