// Filling tables: which kernel serves an operator at each layer and on each backend.
//
// Note [Snapshots]  A registration takes the registry's lock, changes the lists, and sets the tables that depend on
//   them to null. The next call of such an operator fills a new table under the lock and publishes it by one store. A
//   call that still runs on the old table may go on: tables, schemas, operators and backend descriptions are never
//   freed, and their bytes are counted. Libraries are never unmapped. Python callables, which must be reclaimed, are
//   reclaimed by the binding, whose kernel finds its own context emptied and asks for a retry.
#pragma once

#include <string>

#include "dispatcher/table.h"

namespace lamella::dispatcher {

// The operator's table, filled if it is not there. Null with an error where the schema does not parse, or where the
// operator was withdrawn.
const Table* filled_table(const Operator*);
void invalidate(Operator*);  // with its derived forms
void invalidate_all();
// A copy of the table with the present kernel for one key (a device, a layer, "backend", "composite"), and nothing
// above it. The caller frees it.
lamella_status pin(Operator*, const std::string& key, Table** out);

// Finds the entry that serves an operator at a layer, and its owner. False: the layer falls through.
bool layer_entry(Operator*, int32_t bit, Entry*, std::string* who);
// What may serve an operator on a backend, in the order in which it is looked for.
enum class Served { Kernel, ShapeRule, Composite, Every, Host, Missing };
// The first that exists, from `*by` on, and which it is; `missing_kernel` where nothing serves.
Entry backend_entry(Operator*, int32_t id, std::string* who, Served* by);
Entry backend_entry(Operator*, int32_t id, std::string* who);
// The owner of that entry, for as long as the process lives; null where nothing serves.
const char* kernel_owner(const Operator*, int32_t id);
// How a backend serves an operator: "native", "shape rule", "composite", "fallback" or "none".
const char* support(const Operator*, int32_t backend);

// Prints a line for each call from now on; LAMELLA_TRACE_DISPATCH sets it at start.
void set_trace(bool on);
int64_t retained_bytes();  // of tables that were replaced

}  // namespace lamella::dispatcher
