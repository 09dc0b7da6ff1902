// DLPack both ways: a tensor's memory for other libraries, and tensors over theirs.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

extern PyMethodDef dlpack_methods[];

}  // namespace lamella::binding
