// Kinds of errors and of events that plugins register by name, beside those of the headers. A number belongs to its name
// for as long as the process lives.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

inline constexpr int32_t first_error_kind = 64, first_event_kind = 32, last_event_kind = 63;

lamella_status register_error_kind(lamella_library*, const char* name, int32_t base, int32_t* kind);
const char* describe_error_kind(int32_t kind, int32_t* base);
lamella_status register_event_kind(lamella_library*, const char* name, int32_t* kind);
const char* event_kind_name(int32_t kind);

}  // namespace lamella::dispatcher
