#include "dispatcher/descriptions.h"

#include <vector>

#include "core/error.h"
#include "core/thread.h"
#include "dispatcher/call.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/forms.h"
#include "dispatcher/kernel_run.h"
#include "dispatcher/operators.h"
#include "dispatcher/placement.h"
#include "dispatcher/prepare.h"

namespace lamella::dispatcher {
namespace {

// Returns the operator with its schema parsed; null and an error if the schema does not parse.
const Operator* prepared(const lamella_operator* op) {
  if (op->schema.load(std::memory_order_acquire)) return op;
  return prepare(const_cast<Operator*>(op)) ? nullptr : op;
}
const lamella_argument* described(const lamella_operator* op, const char* what, int32_t i,
                                  const std::vector<lamella_argument>& all) {
  if (i >= 0 && i < static_cast<int32_t>(all.size())) return &all[i];
  core::raise(LAMELLA_INDEX_ERROR,
              core::format("%s: there is no %s %d; it has %zu", operator_title(op).c_str(), what, i, all.size()));
  return nullptr;
}
// Writes the first `room` operators of a list, and returns how many there are.
int32_t written(const char* entry, const std::vector<Operator*>& all, const lamella_operator** out, int32_t room) {
  if (room > 0 && !out) {
    core::raise(LAMELLA_VALUE_ERROR, std::string(entry) + ": 'out' must not be null");
    return -1;
  }
  for (int32_t i = 0; i < room && i < static_cast<int32_t>(all.size()); i++) out[i] = all[i];
  return static_cast<int32_t>(all.size());
}

}  // namespace

const char* operator_name(const lamella_operator* op) { return op->name.c_str(); }
const char* operator_overload(const lamella_operator* op) { return op->overload.c_str(); }
const char* operator_schema(const lamella_operator* op) { return prepared(op) ? op->schema_text.c_str() : nullptr; }
const char* operator_category(const lamella_operator* op) { return op->category.c_str(); }
const lamella_pointwise* operator_pointwise(const lamella_operator* op) { return op->pointwise; }
int32_t operator_num_args(const lamella_operator* op) { return prepared(op) ? op->info.nargs : -1; }
int32_t operator_num_returns(const lamella_operator* op) { return prepared(op) ? op->info.nrets : -1; }
const lamella_argument* operator_argument(const lamella_operator* op, int32_t i) {
  return prepared(op) ? described(op, "argument", i, op->schema.load()->described_args) : nullptr;
}
const lamella_argument* operator_return(const lamella_operator* op, int32_t i) {
  return prepared(op) ? described(op, "result", i, op->schema.load()->described_rets) : nullptr;
}

int32_t operator_form(const lamella_operator* op) { return static_cast<int32_t>(op->form); }
const lamella_operator* operator_functional(const lamella_operator* op) { return op->functional; }
const char* operator_dims(const lamella_operator* op) { return op->dims.c_str(); }
uint32_t operator_effects(const lamella_operator* op) { return op->effects; }
uint32_t operator_since(const lamella_operator* op) { return op->since; }
int32_t find_overloads(const char* name, const lamella_operator** out, int32_t room) {
  return written("find_overloads", overloads_of(name), out, room);
}
int32_t list_operators(const lamella_operator** out, int32_t room) {
  return written("operators", all_operators(), out, room);
}

lamella_status infer_alone(const lamella_operator* op, const Value* args, int32_t num_args, lamella_meta* outs,
                           int32_t num_outs, lamella_device* device) {
  return with_all_arguments(op, args, num_args, [&](const Value* all) -> lamella_status {
    const Table* t = op->table.load(std::memory_order_acquire);
    if (!t && !(t = filled_table(op))) return core::pending_error().kind;
    if (!t->infer)
      return core::raise(LAMELLA_NOT_IMPLEMENTED,
                         "infer: " + op->full_name() + " has no shape rule; call it with tensors of the device 'meta'");
    if (num_outs < op->info.nrets || (op->info.nrets > 0 && !outs))
      return core::raise(LAMELLA_VALUE_ERROR,
                         core::format("infer: %s has %d results, and 'outs' has room for %d", op->full_name().c_str(),
                                      op->info.nrets, outs ? num_outs : 0));
    core::ThreadState& state = core::this_thread();
    CallFrame f{};
    f.size = sizeof(Frame);
    f.compute_dtype = LAMELLA_NO_DTYPE;
    f.op = op;
    f.thread = &state.shared;
    f.parent = state.calling ? state.calling : state.shared.frame;
    f.table = t;
    f.layer = -1;
    f.num_args = op->info.nargs;
    f.num_rets = op->info.nrets;
    f.excluded = state.shared.exclude;
    if (lamella_status st = resolve_device(f, op->info, all)) return st;
    const lamella_status st = infer(f, *t, all, outs, op->info.nrets);
    free_scratch(f);
    if (!st && device) *device = f.device;
    return st;
  });
}

}  // namespace lamella::dispatcher
