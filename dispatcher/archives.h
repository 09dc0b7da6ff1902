// The table of <lamella/archive.h>: archives of core/archive/ by the rules of the C ABI.
#pragma once

#include <lamella/archive.h>

namespace lamella::dispatcher {

extern const lamella_archive_interface archive_table;

}  // namespace lamella::dispatcher
