// A layer in C++ that counts floating-point operations per operator. Start at LAMELLA_LIBRARY at the end of the file.
//
// Note [Parts count]  The layer stays on inside composites, so it sees an operator and then the operators that this one
//   calls. A call is counted by its formula only if no operator inside it was counted.
#include "flops.h"

#include <lamella/extension.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace {

using lamella::api;

enum class Rule { Nothing, Product, Pointwise, Scaled, Reduction };

// One operator's count. It is never freed, since the interface returns pointers to its name.
struct Entry {
  std::string name;
  std::atomic<int64_t> flops{0};
};

struct Counts {
  std::mutex mutex;
  std::deque<Entry> entries;
  std::unordered_map<std::string, Entry*> by_name;
};

Counts& counts() {
  static auto* c = new Counts;
  return *c;
}

uint64_t layer_mask = 0;
thread_local int64_t counted = 0;  // this thread's sum, which shows whether operators inside a call were counted

// Returns the rule for an operator: by its category, also for operators of other packages, or by its name.
Rule rule_of(const lamella_operator* op) {
  if (api().operator_num_args(op) == 0 || api().operator_num_returns(op) == 0) return Rule::Nothing;
  const std::string category = api().operator_category(op);
  std::string name = api().operator_name(op);
  if (name.back() == '_') name.pop_back();
  const bool alpha =
      (name == "aten::add" || name == "aten::sub" || name == "aten::rsub") && api().operator_num_args(op) > 2;
  if (category == "pointwise") return alpha ? Rule::Scaled : Rule::Pointwise;
  if (category == "reduction") return Rule::Reduction;
  const bool product = name == "aten::mm" || name == "aten::bmm" || name == "aten::mv";
  return product ? Rule::Product : Rule::Nothing;
}

Entry* shared_entry(const std::string& name) {
  std::lock_guard lock(counts().mutex);
  Entry*& e = counts().by_name[name];
  if (!e) {
    e = &counts().entries.emplace_back();
    e->name = name;
  }
  return e;
}

struct Known {
  Entry* entry = nullptr;
  Rule rule = Rule::Nothing;
};

// Returns the entry and the rule of an operator. The cache may keep the pointer, since operators are never freed.
const Known& known(const lamella_operator* op) {
  thread_local std::unordered_map<const lamella_operator*, Known> seen;
  Known& k = seen[op];
  if (!k.entry) k = {shared_entry(api().operator_name(op)), rule_of(op)};
  return k;
}

bool is_one(const lamella_value& v) {
  return lamella::as_double(v) == 1 && !(v.tag == LAMELLA_COMPLEX && v.as.doubles[1] != 0);
}

int64_t formula(Rule rule, const lamella_value* args, const lamella_value* rets) {
  const lamella_tensor* x = args[0].tag == LAMELLA_TENSOR ? args[0].as.tensor : nullptr;
  const lamella_tensor* out = rets[0].tag == LAMELLA_TENSOR ? rets[0].as.tensor : nullptr;
  switch (rule) {
    case Rule::Product:
      return x && out ? 2 * out->numel * x->dl.shape[x->dl.ndim - 1] : 0;
    case Rule::Pointwise:
      return out ? out->numel : 0;
    case Rule::Scaled:
      return out ? out->numel * (is_one(args[2]) ? 1 : 2) : 0;
    case Rule::Reduction:
      return x ? x->numel : 0;
    default:
      return 0;
  }
}

// The fallback for every operator: runs the call, then counts it.
lamella_status count(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  const Known& op = known(frame->op);
  if (op.rule == Rule::Nothing) return api().redispatch(frame, args, frame->num_args, rets, frame->num_rets);
  const int64_t before = counted;
  if (lamella_status st = api().redispatch(frame, args, frame->num_args, rets, frame->num_rets)) return st;
  if (counted != before) return LAMELLA_OK;
  int64_t n = formula(op.rule, args, rets);
  counted += n;
  op.entry->flops.fetch_add(n, std::memory_order_relaxed);
  return LAMELLA_OK;
}

int32_t enable(int32_t on) {
  lamella_thread* t = api().thread();
  const int32_t before = (t->include & layer_mask) != 0;
  t->include = on ? t->include | layer_mask : t->include & ~layer_mask;
  return before;
}

lamella_library* library = nullptr;
lamella_handle everywhere = 0;

void enable_process(int32_t on) {
  if (on && !everywhere) api().process_include(library, layer_mask, &everywhere);
  if (!on && everywhere) api().withdraw(std::exchange(everywhere, 0));
}

int32_t entries() {
  std::lock_guard lock(counts().mutex);
  return static_cast<int32_t>(counts().entries.size());
}

const Entry* entry(int32_t i) {
  std::lock_guard lock(counts().mutex);
  return i >= 0 && i < static_cast<int32_t>(counts().entries.size()) ? &counts().entries[i] : nullptr;
}

const char* name(int32_t i) {
  const Entry* e = entry(i);
  return e ? e->name.c_str() : nullptr;
}

int64_t flops(int32_t i) {
  const Entry* e = entry(i);
  return e ? e->flops.load() : 0;
}

void reset() {
  std::lock_guard lock(counts().mutex);
  for (Entry& e : counts().entries) e.flops = 0;
}

lamella_flops table = {sizeof table, -1, enable, enable_process, entries, name, flops, reset};

}  // namespace

// For lamella_flops/native.py, which opens this library with ctypes.
extern "C" __attribute__((visibility("default"))) const lamella_flops* lamella_flops_table(void) { return &table; }

LAMELLA_LIBRARY(flops, m) {
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "flops";
  layer.at = "profiler";
  layer.flags = LAMELLA_LAYER_INSIDE | LAMELLA_LAYER_NEVER_ON_TENSORS;
  layer.fallback = count;
  m.layer(layer, &table.layer);
  if (m.status()) return;
  layer_mask = uint64_t{1} << table.layer;
  library = m.handle();
  everywhere = 0;
  m.interface("flops", 1, &table);
}
