// The structs of <lattis/autograd.h> that others hand in, by `copy_given`.
#pragma once

#include <lattis/autograd.h>
#include <lattis/given.h>

namespace lattis::autograd {

static_assert(first_size<lattis_derivative> == 48 && first_size<lattis_hook> == 40 &&
                  first_size<lattis_node_type> == 48 && first_size<lattis_saved_hooks> == 40,
              "these are the sizes of version 1.0, for ever");

}  // namespace lattis::autograd
