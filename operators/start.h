// Starting the library: the dispatcher's state, the catalogue of operators and the meta device.
#pragma once

namespace lamella::operators {

// Called by every program and binding before anything else of the library. Calls after the first do nothing.
void start();

}  // namespace lamella::operators
