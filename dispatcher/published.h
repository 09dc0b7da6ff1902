// Publishes the interface of <lamella/dispatcher.h>.
#pragma once

namespace lamella::dispatcher {

void publish_dispatcher();  // called once, at start-up

}  // namespace lamella::dispatcher
