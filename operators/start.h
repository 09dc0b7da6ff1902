// Starting the library: the dispatcher's state, the catalogue of operators and the meta device.
#pragma once

namespace lamella::operators {

// The Python binding and the functions of <lamella/program.h> that use operators call this function first. Calls after
// the first do nothing.
void start();

}  // namespace lamella::operators
