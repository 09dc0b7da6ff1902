// Filling tables: which kernel serves an operator at each layer and on each backend.
//
// Note [Snapshots]  A registration takes the registry's lock, changes the lists, and sets the tables that depend on
//   them to null. The next call of such an operator fills a new table under the lock and publishes it by one store. A
//   call that still runs on the old table may go on: tables, schemas, operators and backend descriptions are never
//   freed (retained_bytes() counts the replaced tables), and libraries are never unmapped. Python callables must be
//   freed: the binding does that, and its kernel, which then finds its context empty, returns LAMELLA_RETRY.
#pragma once

#include <string>

#include "dispatcher/table.h"

namespace lamella::dispatcher {

// Returns the operator's table; fills it if it is null or lacks backends that were registered later. Null with an error
// if the schema does not parse or does not fit a typed function, or if the operator was withdrawn.
const Table* filled_table(const Operator*);
void invalidate(Operator*);  // also its derived forms
void invalidate_all();
// Makes a copy of the table for calls that start at the present kernel for one key: a layer, a device, a dtype that is
// not plain, "backend" or "composite". No layer runs before that kernel. The caller frees the copy. Raises if there is
// no kernel for the key.
lamella_status pin(Operator*, const std::string& key, Table** out);

// Finds the entry that serves an operator at a layer, and its owner. Returns false if the layer falls through.
bool layer_entry(Operator*, int32_t bit, Entry*, std::string* who);
// The kinds of entries that may serve an operator on a backend, in the order in which they are tried.
enum class Served { Kernel, ShapeRule, Composite, Every, Host, Missing };
// Returns the first entry that exists, trying the kinds from `*by` on, and stores its kind in `*by`. Returns
// `missing_kernel` if no kind serves.
Entry backend_entry(Operator*, int32_t id, std::string* who, Served* by);
Entry backend_entry(Operator*, int32_t id, std::string* who);
// Returns the owner of the entry that serves an operator on a backend, a string that lives as long as the process; null
// if nothing serves.
const char* kernel_owner(const Operator*, int32_t id);
// Returns how a backend serves an operator: "native", "shape rule", "composite", "fallback" or "none".
const char* support(const Operator*, int32_t backend);

// Turns on or off the lines on stderr, one for each entry that a call runs. The environment variable
// LAMELLA_TRACE_DISPATCH turns them on at start-up.
void set_trace(bool on);
int64_t retained_bytes();  // of tables that were replaced

}  // namespace lamella::dispatcher
