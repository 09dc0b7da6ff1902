// The layer that records operators.
#pragma once

#include <lamella/library.h>

namespace lamella::graph {

class Recorder;

void register_layer(Library& m);
void set_recording(Recorder* r);  // the recorder of this thread, or null

}  // namespace lamella::graph
