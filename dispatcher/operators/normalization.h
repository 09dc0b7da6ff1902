// What norms and their gradients share: the checks of their arguments, and numbers for each channel beside an input.
#pragma once

#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {

lamella_status check_floating_dtype(lamella_frame* f, int arg, DType t);
lamella_status check_shape(lamella_frame* f, const Value* a, int arg, int ndim, const int64_t* sizes);
// A weight or bias: absent, or of a shape, and of the input's dtype (float32 goes with half precision too).
lamella_status check_parameter(lamella_frame* f, const Value* a, int arg, const Tensor* input, int ndim,
                               const int64_t* sizes);
// The last dimensions of the argument `input` must be those of the argument after it.
lamella_status check_normalized(lamella_frame* f, const Value* a, int input);
lamella_status check_groups(lamella_frame* f, int arg, int64_t groups, int64_t channels);
// N, C and HxW must make up the input.
lamella_status check_volume(lamella_frame* f, int arg, std::array<int64_t, 3> sizes, const Tensor* input);

Ints last_dims(uint32_t n);
Ints all_but_channels(int ndim);
// Per channel, beside an input of so many dimensions.
Var by_channel(Compose& c, const Var& v, int ndim);
Ints sizes_of(const Var& v);

}  // namespace lamella::dispatcher
