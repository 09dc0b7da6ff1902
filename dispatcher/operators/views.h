// Geometry of views that other families need.
#pragma once

#include "core/value.h"

namespace lattis::dispatcher {

// Strides under which `t` is seen with other sizes of the same number; false if that needs a copy.
bool view_strides(const lattis_tensor* t, int ndim, const int64_t* sizes, int64_t* strides);

// Resolves one -1 in a list of sizes.
lattis_status infer_sizes(lattis_frame* f, int arg, const core::Value& wanted, int64_t numel, int64_t* sizes);

}  // namespace lattis::dispatcher
