// The C table that every plugin gets.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

const lamella_api* api();

}  // namespace lamella::dispatcher
