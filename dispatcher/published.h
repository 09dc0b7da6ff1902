// Publishes the library's own interfaces: those of <lamella/dispatcher.h> and <lamella/archive.h>.
#pragma once

namespace lamella::dispatcher {

void publish_interfaces();  // called once, at start-up

}  // namespace lamella::dispatcher
