// The subscribers of the core's events.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status subscribe(Library&, uint64_t kinds, lamella_on_event, void* context, lamella_handle*);
void emit_event(const lamella_event&);
void event(const lamella_event*);  // emits a plugin's event, if its kind has a subscriber
void install_events();             // sets core::send_event; called once, at start-up

}  // namespace lamella::dispatcher
