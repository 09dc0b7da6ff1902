// copy_given() for the structs of <lamella/autograd.h> that other libraries pass in. The assertion below finds a change
// of the sizes of their first version, on which copy_given() relies.
#pragma once

#include <lamella/autograd.h>
#include <lamella/given.h>

namespace lamella::autograd {

static_assert(first_size<lamella_derivative> == 40 && first_size<lamella_hook> == 40 &&
                  first_size<lamella_node_type> == 48 && first_size<lamella_saved_hooks> == 56,
              "these are the sizes of version 1.0, which never change");

}  // namespace lamella::autograd
