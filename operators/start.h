// Starting the library: the dispatcher's state, the catalogue of operators and the meta device.
#pragma once

namespace lamella::operators {

// Called by every program and binding before anything else of the library. Only the first call does something.
void start();

}  // namespace lamella::operators
