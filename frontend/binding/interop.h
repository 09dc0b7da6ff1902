// Data in and out: tensor(), from_numpy, DLPack.
#pragma once

#include "frontend/binding/python.h"

namespace lattis::binding {

extern PyMethodDef interop_methods[];

}  // namespace lattis::binding
