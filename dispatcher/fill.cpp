#include "dispatcher/fill.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <unordered_set>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/checking.h"
#include "dispatcher/explain.h"
#include "dispatcher/fallback.h"
#include "dispatcher/kernels.h"
#include "dispatcher/layer.h"
#include "dispatcher/restricted.h"
#include "dispatcher/operators.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/rules.h"

namespace lamella::dispatcher {
namespace {

std::atomic<int64_t> retained{0};
bool tracing = false;

const Table* fill(Operator*);

// Returns the context that a layer makes for its kernel of an operator.
void* prepared(const Layer& l, const Operator* op, const void* payload) {
  void* context = l.prepare(l.context, op, payload);
  if (!context) throw std::bad_alloc();
  return context;
}

}  // namespace

void invalidate(Operator* op) {
  for (Operator* o : {op, op->inplace, op->out})
    if (o)
      if (const Table* t = o->table.exchange(nullptr)) retained += t->bytes;
}

void invalidate_all() {
  for (Operator* op : known_operators()) invalidate(op);
}

void set_trace(bool on) {
  RegistryLock lock;
  tracing = on;
  invalidate_all();
}

const Table* filled_table(const Operator* op) {
  RegistryLock lock;
  auto* o = const_cast<Operator*>(op);
  const Table* t = o->table.load(std::memory_order_acquire);
  if (t && t->num_backends >= core::backend_count()) return t;
  if (!o->live) {
    core::raise(LAMELLA_RUNTIME_ERROR, "operator " + op->full_name() + " was withdrawn by " + op->owner);
    return nullptr;
  }
  if (prepare(o)) return nullptr;
  if (t) retained += t->bytes;
  t = fill(o);
  o->table.store(t, std::memory_order_release);
  return t;
}

// Finds the first of these that exists: a kernel, one of the functional form with LAMELLA_KERNEL_ALL_FORMS, a rule, a
// category's kernel, a composite if the layer has LAMELLA_LAYER_DECOMPOSE, a kernel of every operator, the layer's
// fallback. Returns false if the layer falls through.
bool layer_entry(Operator* op, int32_t bit, Entry* e, std::string* who) {
  const Layer& l = *dispatcher::layer(bit);
  const Registration* r = find_kernel(op, l.name);
  if (!r && op->functional && !is_disabled(op, l.name)) {
    r = find_kernel(op->functional, l.name);
    if (r && !(r->flags & LAMELLA_KERNEL_ALL_FORMS)) r = nullptr;
  }
  if (!r && l.rule && !is_disabled(op, l.name))
    for (const Operator* o : {static_cast<const Operator*>(op), static_cast<const Operator*>(op->functional)})
      if (const Rule* found = o ? rule_of(o, l.name) : nullptr) {
        *who = found->owner + " (rule)";
        *e = {l.rule, l.prepare ? prepared(l, o, found->payload) : found->payload, 0};
        return true;
      }
  if (!r) r = find_category_kernel(op, l.name, op->category);
  if (r) {
    *who = r->owner;
    *e = {r->fn, r->context, r->flags};
    return r->fn != nullptr;  // a null kernel is an explicit fall-through
  }
  const Registration* c =
      is_disabled(op, "composite") ? nullptr : find_kernel(op->functional ? op->functional : op, "composite");
  // An out= form stores what its composite returns, so a layer does not decompose it.
  if ((l.flags & LAMELLA_LAYER_DECOMPOSE) && c && op->form != Form::Out) {
    *who = c->owner + " (decomposed)";
    *e = {c->fn, c->context, c->flags | composite | stays_on};
    return true;
  }
  if (const Registration* every = find_category_kernel(op, l.name, every_category)) {
    *who = every->owner + " (fallback)";
    *e = {every->fn, every->context, every->flags};
    return every->fn != nullptr;
  }
  *who = l.owner + " (fallback)";
  *e = {l.fallback, l.flags & LAMELLA_LAYER_PREPARES_ALL ? prepared(l, op, nullptr) : l.context, l.kernel_flags};
  return l.fallback != nullptr;
}

namespace {

// Returns the first that exists of the device's kernels for the form, for the functional form and for the category, and
// the kernel for every device; null if there is none. `own`: whether it is the form's.
const Registration* device_kernel(Operator* op, int32_t id, bool* own) {
  const std::string name = core::backend_name(id);
  Operator* meaning = op->functional ? op->functional : op;
  const Registration* r = find_kernel(op, name);
  const bool passed_over = is_disabled(op, name);
  *own = r != nullptr;
  if (!r && meaning != op && !passed_over) r = find_kernel(meaning, name);
  // A category's kernel finds its outputs made by the shape rule; some also need the operator's lamella_pointwise.
  const bool described = meaning->infer && (meaning->pointwise || !(category_flags(meaning->category) & by_meaning));
  if (!r && described && !passed_over) r = find_category_kernel(meaning, name, meaning->category);
  // "backend" stands for every device but meta, whose results have no memory.
  if (!r && id != core::meta_backend && !is_disabled(op, "backend")) r = find_kernel(meaning, "backend");
  return core::backend(id) ? r : nullptr;
}

// Returns the entry of the counted fallback to the host; that of missing_kernel if the backend does not allow the
// fallback, or if the host does not serve the operator. `declined` says that the device's own kernel has declined the
// call.
Entry host_entry(Operator* op, int32_t id, bool declined, std::string* who) {
  static char reason;  // a context that is not null
  const lamella_backend* b = core::backend(id);
  if (!b || !(b->flags & LAMELLA_BACKEND_CPU_FALLBACK) || id == core::host_backend()) return {missing_kernel};
  if (backend_entry(op, core::host_backend(), who).fn == missing_kernel) return {missing_kernel};
  *who = std::string(core::backend_name(core::host_backend())) + " (fallback, counted)";
  // The fallback calls the operator that copies between devices; this operator falls back by moving bytes instead.
  Operator* meaning = op->functional ? op->functional : op;
  void* context = declined ? &reason : nullptr;
  return meaning->forms & form_between_devices ? Entry{fallback_copy, context, 0}
                                               : Entry{fallback_kernel, context, composite};
}

}  // namespace

// Tries the kinds of `Served` in order: a kernel, a shape rule, a composite, a kernel of every operator, the host.
Entry backend_entry(Operator* op, int32_t id, std::string* who, Served* by) {
  const lamella_backend* b = core::backend(id);
  const uint32_t mixed = b && (b->flags & LAMELLA_BACKEND_MIXED_DTYPES) ? mixed_dtypes : 0u;
  Operator* meaning = op->functional ? op->functional : op;
  const Served from = *by;
  const auto tried = [&](Served one) {
    *by = one;
    return from <= one;
  };
  bool own;
  if (const Registration* r = tried(Served::Kernel) ? device_kernel(op, id, &own) : nullptr) {
    *who = r->owner;
    // Without a shape rule, no results can be allocated beforehand: a derived form stores the kernel's own results.
    const uint32_t stored = op != meaning && !own && !op->infer ? composite | stores : 0u;
    const uint32_t carried = op->forms & form_copies ? copies : 0u;
    return {r->fn, r->context, r->flags | mixed | stored | carried};
  }
  const bool ruled = op->infer && (id == core::meta_backend || (b && (op->forms & LAMELLA_FORM_NO_KERNEL)));
  if (tried(Served::ShapeRule) && ruled) {
    *who = "shape rule";
    return {nullptr, nullptr, no_kernel | mixed_dtypes};
  }
  const Registration* c = is_disabled(op, "composite") ? nullptr : find_kernel(meaning, "composite");
  if (tried(Served::Composite) && c) {
    *who = c->owner + " (composite)";
    return {c->fn, c->context, c->flags | composite};
  }
  const bool passed_over = is_disabled(op, core::backend_name(id));
  if (tried(Served::Every) && b && !passed_over)
    if (const Registration* every = find_category_kernel(meaning, core::backend_name(id), every_category)) {
      *who = every->owner + " (fallback)";
      return {every->fn, every->context, every->flags | mixed};
    }
  if (tried(Served::Host))
    if (const Entry host = host_entry(op, id, from > Served::Kernel, who); host.fn != missing_kernel) return host;
  *by = Served::Missing;
  *who = "missing";
  return {missing_kernel, nullptr, 0};
}

Entry backend_entry(Operator* op, int32_t id, std::string* who) {
  Served by = Served::Kernel;
  return backend_entry(op, id, who, &by);
}

const char* kernel_owner(const Operator* op, int32_t id) {
  RegistryLock lock;
  static auto* owners = new std::unordered_set<std::string>;  // owners are few
  if (!core::backend(id)) return nullptr;
  std::string who;
  const Entry e = backend_entry(const_cast<Operator*>(op), id, &who);
  if (e.fn == missing_kernel) return nullptr;
  if (e.fn == fallback_kernel || e.fn == fallback_copy) return kernel_owner(op, core::host_backend());
  if (e.flags & no_kernel) who = op->owner;
  for (const char* said : {" (composite)", " (fallback)"})
    if (who.ends_with(said)) who.resize(who.size() - std::strlen(said));
  return owners->insert(who).first->c_str();
}

const char* support(const Operator* op, int32_t backend) {
  RegistryLock lock;
  std::string who;
  const Entry e = backend_entry(const_cast<Operator*>(op), backend, &who);
  if (e.fn == missing_kernel) return "none";
  if (e.fn == fallback_kernel || e.fn == fallback_copy) return "fallback";
  return e.flags & no_kernel ? "shape rule" : e.flags & composite ? "composite" : "native";
}

namespace {

struct TraceContext {
  Entry entry;
  std::string line;
};

lamella_status trace_entry(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  auto* t = static_cast<const TraceContext*>(f->context);
  std::fprintf(stderr, "lamella: %s keys=%016llx\n", t->line.c_str(), (unsigned long long)(f->keys));
  f->context = t->entry.context;
  return t->entry.fn ? t->entry.fn(f, args, rets) : LAMELLA_OK;
}

Entry traced(Entry e, const Operator* op, const std::string& where, const std::string& who) {
  if (!tracing || e.fn == missing_kernel) return e;
  auto* t = new TraceContext{e, op->full_name() + " -> " + where + " by " + who};  // never freed, like the table
  return {trace_entry, t, e.flags};
}

Table* new_table(const Table& head, const std::vector<Entry>& layers, const std::vector<Entry>& backends,
                 const std::vector<Entry>& next, const std::vector<Entry>& dtypes) {
  const size_t count = layers.size() + backends.size() + next.size() + dtypes.size() + (head.fallback != nullptr);
  const size_t bytes = sizeof(Table) + sizeof(Entry) * count;
  auto* t = static_cast<Table*>(::operator new(bytes));
  *t = head;
  auto* at = reinterpret_cast<Entry*>(t + 1);
  t->layers = at;
  t->backends = at = std::copy(layers.begin(), layers.end(), at);
  t->next = at = std::copy(backends.begin(), backends.end(), at);
  t->dtypes = at = std::copy(next.begin(), next.end(), at);
  at = std::copy(dtypes.begin(), dtypes.end(), at);
  if (head.fallback) t->fallback = new (at) Entry(*head.fallback);
  t->num_dtypes = static_cast<int32_t>(dtypes.size());
  t->bytes = static_cast<int32_t>(bytes);
  return t;
}

const Table* fill(Operator* op) {
  std::vector<Entry> layers, backends, next;
  Table head;
  head.info = &op->info;
  head.infer = op->infer;
  head.infer_context = op->infer_context;
  std::string who;
  head.gift = last_gift();
  head.mask = core::restricted_key;
  layers.push_back({run_restricted, nullptr, 0});
  for (int32_t bit = 1; bit < LAMELLA_MAX_LAYERS; bit++) {
    const Layer* l = dispatcher::layer(bit);
    Entry e;
    if (!l || !l->live || !layer_entry(op, bit, &e, &who)) continue;
    head.mask |= uint64_t{1} << bit;
    head.layer_index[bit] = static_cast<uint8_t>(layers.size());
    layers.push_back(traced(e, op, l->name, who));
  }
  head.num_backends = core::backend_count();
  for (int32_t id = 0; id < head.num_backends; id++) {
    Served by = Served::Kernel;
    for (std::vector<Entry>* entries : {&backends, &next}) {
      const Entry e = backend_entry(op, id, &who, &by);
      entries->push_back(traced(checked(e, who), op, core::backend_name(id), who));
      by = std::min(static_cast<Served>(static_cast<int>(by) + 1), Served::Missing);
    }
  }
  const Registration* c =
      is_disabled(op, "composite") ? nullptr : find_kernel(op->functional ? op->functional : op, "composite");
  const Entry own = c ? Entry{c->fn, c->context, c->flags | composite} : Entry{};
  const Entry whole = c ? traced(own, op, "composite", c->owner) : own;
  head.fallback = c ? &whole : nullptr;
  std::vector<Entry> dtypes;
  for (int t = LAMELLA_PLAIN_DTYPES; t < LAMELLA_NO_DTYPE; t = core::next_dtype(t)) {
    if (!core::is_dtype(t)) continue;
    const std::string name = core::dtype_info(t).name;
    const Registration* r = find_kernel(op, name);
    const bool own = r != nullptr;
    if (!r && op->functional) r = find_kernel(op->functional, name);
    if (!r) continue;
    const uint32_t stored = !own && !op->infer ? composite | stores : 0u;
    const Entry e{r->fn, r->context, r->flags | stored | static_cast<uint32_t>(t) << dtype_shift};
    dtypes.push_back(traced(e, op, name, r->owner));
  }
  return new_table(head, layers, backends, next, dtypes);
}

}  // namespace

lamella_status pin(Operator* op, const std::string& key, Table** out) {
  RegistryLock lock;
  const Table* now = filled_table(op);
  if (!now) return core::pending_error().kind;
  const std::vector<Entry> layers(now->layers, now->layers + __builtin_popcountll(now->mask));
  std::vector<Entry> backends(now->backends, now->backends + now->num_backends);
  const std::vector<Entry> next(now->next, now->next + now->num_backends);
  std::vector<Entry> dtypes(now->dtypes, now->dtypes + now->num_dtypes);
  const int32_t bit = layer_bit(key), id = core::backend_id(key.c_str());
  const core::DType dtype = core::dtype_from_name(key.c_str());
  const Entry missing{missing_kernel, nullptr, 0};
  Table head = *now;
  bool found = true;
  if (bit >= 0) {
    head.forced = uint64_t{1} << bit;
    found = head.mask & head.forced;
    head.mask &= head.forced | (head.forced - 1);
    // Next, a dtype as key: run_restricted() gives tensors of the dtype to the dtype's kernel, as in other calls.
  } else if (dtype != LAMELLA_NO_DTYPE && !core::is_plain(dtype)) {
    head.mask &= core::restricted_key;
    head.fallback = nullptr;
    std::erase_if(dtypes, [dtype](const Entry& e) { return e.dtype() != dtype; });
    std::fill(backends.begin(), backends.end(), missing);
    found = !dtypes.empty();
  } else {
    head.mask &= core::restricted_key;
    const Registration* r = id >= 0 ? nullptr : find_kernel(op->functional ? op->functional : op, key);
    const uint32_t flags = key == "composite" ? composite : 0u;
    for (int32_t i = 0; i < head.num_backends; i++)
      backends[i] = r ? Entry{r->fn, r->context, r->flags | flags} : i == id ? backends[i] : missing;
    found = r || (id >= 0 && backends[id].fn != missing_kernel);
    dtypes.clear();
  }
  if (!found)
    return core::raise(LAMELLA_NOT_IMPLEMENTED, "find_kernel: " + op->full_name() + " has no kernel for '" + key +
                                                    "'; `lamella ops show " + op->full_name() +
                                                    "` prints those that there are");
  head.pinned = true;
  *out = new_table(head, layers, backends, next, dtypes);
  return LAMELLA_OK;
}

int64_t retained_bytes() { return retained; }

}  // namespace lamella::dispatcher
