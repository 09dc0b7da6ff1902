// What convolutions and pools share: reading sizes per spatial dimension, and images seen as windows.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

// The numbers of one argument, one per spatial dimension; a single number stands for all.
lamella_status read_spatial(lamella_frame* f, int arg, const Value& v, int count, int64_t least, int64_t* out);

// An image (…, spatial dimensions) padded with `value`; a view of its windows (…, places, taps).
Var padded(Compose& c, const Var& x, int spatial, const int64_t* before, const int64_t* after, const Value& value);
Var windows(Compose& c, const Var& x, int spatial, const int64_t* kernel, const int64_t* stride,
            const int64_t* dilation, const int64_t* places);

// One dimension alone: padded with zeros, or cut where a number is negative; `step - 1` zeros behind each place.
Var padded_along(Compose& c, const Var& x, int d, int64_t before, int64_t after);
Var spread_along(Compose& c, const Var& x, int d, int64_t step);

// The layout of a result: channels last where the input's is, as torch decides from sizes and strides.
bool channels_last(const lamella_tensor* t);
void set_channels_last(Meta* m);

}  // namespace lamella::dispatcher
