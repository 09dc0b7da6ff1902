// What norms and their gradients share: the checks of their arguments, and numbers for each channel beside an input.
#pragma once

#include "dispatcher/operators/widen.h"

namespace lattis::dispatcher {

lattis_status check_floating_dtype(lattis_frame* f, int arg, DType t);
lattis_status check_shape(lattis_frame* f, const Value* a, int arg, int ndim, const int64_t* sizes);
// A weight or bias: absent, or of a shape, and of the input's dtype (float32 goes with half precision too).
lattis_status check_parameter(lattis_frame* f, const Value* a, int arg, const Tensor* input, int ndim,
                              const int64_t* sizes);
// The last dimensions of the argument `input` must be those of the argument after it.
lattis_status check_normalized(lattis_frame* f, const Value* a, int input);
lattis_status check_groups(lattis_frame* f, int arg, int64_t groups, int64_t channels);
// N, C and HxW must make up the input.
lattis_status check_volume(lattis_frame* f, int arg, std::array<int64_t, 3> sizes, const Tensor* input);

Ints last_dims(uint32_t n);
Ints all_but_channels(int ndim);
// Per channel, beside an input of so many dimensions.
Var by_channel(Compose& c, const Var& v, int ndim);
Ints sizes_of(const Var& v);

}  // namespace lattis::dispatcher
