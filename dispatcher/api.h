// The table of C functions that every plugin gets: lamella_api.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

const lamella_api* api();

}  // namespace lamella::dispatcher
