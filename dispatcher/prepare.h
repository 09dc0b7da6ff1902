// Preparing an operator: parses its schema on first use, and makes the CallInfo that the call path reads.
#pragma once

#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// Parses the schema unless it is parsed, and runs the checks of typed functions that wait for it. The schema of a
// derived form follows from that of its functional form.
lamella_status prepare(Operator*);
// Sets `out` to the full text of a schema as `define_operator` would accept it, or raises the same error.
lamella_status check_schema(const std::string& text, const std::string& ns, std::string* out);
// Frees an operator that no other thread and no list has a pointer to.
void discard(Operator*);

}  // namespace lamella::dispatcher
