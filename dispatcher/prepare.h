// Preparing an operator: its schema is parsed on first use, and the call path's summary of it is made.
#pragma once

#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// Parses the schema unless that is done. A derived form's follows from its functional form's.
lamella_status prepare(Operator*);
// The full text of a schema as `define_operator` would take it, or the same error.
lamella_status check_schema(const std::string& text, const std::string& ns, std::string* out);
// Frees an operator that no other thread and no list has seen.
void discard(Operator*);

}  // namespace lamella::dispatcher
