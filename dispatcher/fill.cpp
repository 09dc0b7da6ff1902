// Filling tables: which kernel serves an operator at each layer and on each backend (the five rules), and showing it.
#include <algorithm>
#include <cstdio>
#include <new>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/call.h"
#include "dispatcher/fallback.h"
#include "dispatcher/registry.h"

namespace lamella::dispatcher {
namespace {

using Lock = RegistryLock;

}  // namespace

void Registry::invalidate(Operator* op) {
  for (Operator* o : {op, op->inplace, op->out})
    if (o)
      if (const Table* t = o->table.exchange(nullptr)) retained_ += t->bytes;
}

void Registry::invalidate_all() {
  for (Operator* op : order_) invalidate(op);
}

void Registry::set_trace(bool on) {
  Lock lock(mutex_);
  trace_ = on;
  invalidate_all();
}

const Table* Registry::table(const Operator* op) {
  Lock lock(mutex_);
  auto* o = const_cast<Operator*>(op);
  const Table* t = o->table.load(std::memory_order_acquire);
  if (t && t->num_backends >= core::backend_count()) return t;
  if (!o->live) {
    core::raise(LAMELLA_RUNTIME_ERROR, "operator " + op->full_name() + " was withdrawn by " + op->owner);
    return nullptr;
  }
  if (prepare(o)) return nullptr;
  if (t) retained_ += t->bytes;
  t = fill(o);
  o->table.store(t, std::memory_order_release);
  return t;
}

namespace {

// For this form, or for the functional one that it is made of.
bool disabled(const Operator* op, const std::string& key) {
  const auto holds = [&](const Operator* o) {
    return o && std::find(o->disabled.begin(), o->disabled.end(), key) != o->disabled.end();
  };
  return holds(op) || holds(op->functional);
}

}  // namespace

const Registration* Registry::find_kernel(const Operator* op, const std::string& key) const {
  if (disabled(op, key)) return nullptr;
  for (auto r = op->kernels.rbegin(); r != op->kernels.rend(); ++r)
    if (r->key == key) return &*r;
  return nullptr;
}

const Registration* Registry::find_category(const Operator* op, const std::string& key,
                                            const std::string& category) const {
  if (disabled(op, key)) return nullptr;
  for (auto r = categories_.rbegin(); r != categories_.rend(); ++r)
    if (r->key == key && r->category == category) return &*r;
  return nullptr;
}

// What serves an operator at a layer; the first that exists. False: the layer falls through.
bool Registry::layer_entry(Operator* op, int32_t bit, Entry* e, std::string* who) {
  const Layer& l = *dispatcher::layer(bit);
  const Registration* r = find_kernel(op, l.name);
  if (!r && l.rule && !disabled(op, l.name))
    for (const Operator* o : {static_cast<const Operator*>(op), static_cast<const Operator*>(op->functional)})
      if (const Rule* found = o ? rule_of(o, l.name) : nullptr) {
        *who = found->owner + " (rule)";
        *e = {l.rule, l.prepare ? l.prepare(l.context, o, found->payload) : found->payload, 0};
        if (l.prepare && !e->context) throw std::bad_alloc();
        return true;
      }
  if (!r) r = find_category(op, l.name, op->category);
  if (r) {
    *who = r->owner;
    *e = {r->fn, r->context, r->flags};
    return r->fn != nullptr;  // a null kernel is an explicit fall-through
  }
  const Registration* c =
      disabled(op, "composite") ? nullptr : find_kernel(op->functional ? op->functional : op, "composite");
  // An out= form stores what its composite returns: the layer itself must say what that means.
  if ((l.flags & LAMELLA_LAYER_DECOMPOSE) && c && op->form != Form::Out) {
    *who = c->owner + " (decomposed)";
    *e = {c->fn, c->context, c->flags | composite | stays_on};
    return true;
  }
  if (const Registration* every = find_category(op, l.name, every_category)) {
    *who = every->owner + " (fallback)";
    *e = {every->fn, every->context, every->flags};
    return every->fn != nullptr;
  }
  *who = l.owner + " (fallback)";
  *e = {l.fallback, l.context, l.kernel_flags};
  return l.fallback != nullptr;
}

// Rules 1 to 5 of the design for a backend.
Entry Registry::backend_entry(Operator* op, int32_t id, std::string* who) {
  const std::string name = core::backend_name(id);
  const lamella_backend* b = core::backend(id);
  const uint32_t mixed = b && (b->flags & LAMELLA_BACKEND_MIXED_DTYPES) ? mixed_dtypes : 0u;
  Operator* meaning = op->functional ? op->functional : op;
  const Registration* r = find_kernel(op, name);
  const bool passed_over = disabled(op, name), own = r != nullptr;
  if (!r && meaning != op && !passed_over) r = find_kernel(meaning, name);
  // A category's kernel finds its outputs made by the shape rule, and a pointwise one needs the meaning.
  bool described = meaning->infer && (meaning->category != "pointwise" || meaning->pointwise);
  if (!r && described && !passed_over) r = find_category(meaning, name, meaning->category);
  // "backend" is every device's key but meta's, whose results would have no memory to be computed into.
  if (!r && id != core::meta_backend && !disabled(op, "backend")) r = find_kernel(meaning, "backend");
  if (r && b) {
    *who = r->owner;
    // Without a shape rule nobody can make room for what a form is to be given: the kernel's own results are stored.
    const uint32_t stored = op != meaning && !own && !op->infer ? composite : 0u;
    return {r->fn, r->context, r->flags | mixed | stored};
  }
  if (op->infer && (id == core::meta_backend || (b && (op->forms & LAMELLA_FORM_NO_KERNEL)))) {
    *who = "shape rule";
    return {nullptr, nullptr, no_kernel | mixed_dtypes};
  }
  if (const Registration* c = disabled(op, "composite") ? nullptr : find_kernel(meaning, "composite")) {
    *who = c->owner + " (composite)";
    return {c->fn, c->context, c->flags | composite};
  }
  if (const Registration* every = b && !passed_over ? find_category(meaning, name, every_category) : nullptr) {
    *who = every->owner + " (fallback)";
    return {every->fn, every->context, every->flags | mixed};
  }
  // copy_ is what the fallback itself is made of.
  if (b && (b->flags & LAMELLA_BACKEND_CPU_FALLBACK) && id != core::host_backend() && meaning->name != "aten::copy_") {
    Entry host = backend_entry(op, core::host_backend(), who);
    if (host.fn != missing_kernel) {
      *who = std::string(core::backend_name(core::host_backend())) + " (fallback, counted)";
      return {fallback_kernel, nullptr, composite};
    }
  }
  *who = "nobody";
  return {missing_kernel, nullptr, 0};
}

const char* Registry::support(const Operator* op, int32_t backend) {
  Lock lock(mutex_);
  std::string who;
  const Entry e = backend_entry(const_cast<Operator*>(op), backend, &who);
  if (e.fn == missing_kernel) return "none";
  if (e.fn == fallback_kernel) return "fallback";
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

}  // namespace

Entry Registry::traced(Entry e, const Operator* op, const std::string& where, const std::string& who) {
  if (!trace_ || e.fn == missing_kernel) return e;
  auto* t =
      new TraceContext{e, op->full_name() + " -> " + where + " by " + who};  // lives as long as the table: for ever
  return {trace_entry, t, e.flags};
}

namespace {

Table* new_table(const Table& head, const std::vector<Entry>& layers, const std::vector<Entry>& backends) {
  size_t bytes = sizeof(Table) + sizeof(Entry) * (layers.size() + backends.size());
  auto* t = static_cast<Table*>(::operator new(bytes));
  *t = head;
  auto* entries = reinterpret_cast<Entry*>(t + 1);
  std::copy(layers.begin(), layers.end(), entries);
  std::copy(backends.begin(), backends.end(), entries + layers.size());
  t->layers = entries;
  t->backends = entries + layers.size();
  t->bytes = static_cast<int32_t>(bytes);
  return t;
}

}  // namespace

const Table* Registry::fill(Operator* op) {
  std::vector<Entry> layers, backends;
  Table head;
  head.info = &op->info;
  head.infer = op->infer;
  head.infer_context = op->infer_context;
  std::string who;
  for (int32_t bit = 0; bit < LAMELLA_MAX_LAYERS; bit++) {
    const Layer* l = dispatcher::layer(bit);
    Entry e;
    if (!l || !l->live || !layer_entry(op, bit, &e, &who)) continue;
    head.mask |= uint64_t{1} << bit;
    head.layer_index[bit] = static_cast<uint8_t>(layers.size());
    layers.push_back(traced(e, op, l->name, who));
  }
  head.num_backends = core::backend_count();
  for (int32_t id = 0; id < head.num_backends; id++) {
    Entry e = backend_entry(op, id, &who);
    backends.push_back(traced(e, op, core::backend_name(id), who));
  }
  return new_table(head, layers, backends);
}

lamella_status Registry::pin(Operator* op, const std::string& key, Table** out) {
  Lock lock(mutex_);
  const Table* now = table(op);
  if (!now) return core::pending_error().kind;
  const std::vector<Entry> layers(now->layers, now->layers + __builtin_popcountll(now->mask));
  std::vector<Entry> backends(now->backends, now->backends + now->num_backends);
  const int32_t bit = layer_bit(key), id = core::backend_id(key.c_str());
  Table head = *now;
  bool found = true;
  if (bit >= 0) {
    head.forced = uint64_t{1} << bit;
    found = head.mask & head.forced;
    head.mask &= head.forced | (head.forced - 1);
  } else {
    head.mask = 0;
    const Registration* r = id >= 0 ? nullptr : find_kernel(op->functional ? op->functional : op, key);
    const uint32_t flags = key == "composite" ? composite : 0u;
    for (int32_t i = 0; i < head.num_backends; i++)
      backends[i] = r         ? Entry{r->fn, r->context, r->flags | flags}
                    : i == id ? backends[i]
                              : Entry{missing_kernel, nullptr, 0};
    found = r || (id >= 0 && backends[id].fn != missing_kernel);
  }
  if (!found)
    return core::raise(LAMELLA_NOT_IMPLEMENTED, "get_kernel: " + op->full_name() + " has no kernel for '" + key +
                                                    "'; `lamella ops show " + op->full_name() +
                                                    "` prints those that there are");
  head.pinned = true;
  *out = new_table(head, layers, backends);
  return LAMELLA_OK;
}

lamella_status Registry::set_kernel_enabled(const std::string& name, const std::string& key, bool enabled) {
  Lock lock(mutex_);
  std::string base, overload;
  split_name(name.find("::") == std::string::npos ? "aten::" + name : name, &base, &overload);
  Operator* op = find(base, overload);
  if (!op) return core::raise(LAMELLA_RUNTIME_ERROR, "set_kernel_enabled: argument 'op': there is no operator " + name);
  if (key != "composite" && key != "backend" && core::backend_id(key.c_str()) < 0 && layer_bit(key) < 0)
    return core::raise(LAMELLA_RUNTIME_ERROR, "set_kernel_enabled: argument 'key': there is no device and no layer '" +
                                                  key + "'; expected one of them, 'backend' or 'composite'");
  auto& keys = op->disabled;
  if (!enabled)
    keys.push_back(key);
  else if (auto last = std::find(keys.begin(), keys.end(), key); last != keys.end())
    keys.erase(last);
  invalidate(op);
  return LAMELLA_OK;
}

std::string Registry::show(const std::string& name) {
  Lock lock(mutex_);
  std::string base, overload, s;
  split_name(name.find("::") == std::string::npos ? "aten::" + name : name, &base, &overload);
  for (Operator* op : overloads(base)) {
    if (name.find('.') != std::string::npos && op->overload != overload) continue;
    if (prepare(op)) continue;
    s += op->schema_text + "\n  category " + (op->category.empty() ? "none" : op->category) + ", defined by " +
         op->owner;
    if (!op->file.empty()) s += " (" + op->file + ":" + std::to_string(op->line) + ")";
    s += "\n";
    std::string who;
    Entry e;
    for (int32_t bit = LAMELLA_MAX_LAYERS - 1; bit >= 0; bit--) {
      const Layer* l = dispatcher::layer(bit);
      if (!l || !l->live) continue;
      bool there = layer_entry(op, bit, &e, &who);
      s += core::format("  layer   %2d %-16s %s\n", bit, l->name.c_str(), there ? who.c_str() : "falls through");
    }
    for (int32_t id = 0; id < core::backend_count(); id++) {
      if (!core::backend(id)) continue;
      backend_entry(op, id, &who);
      s += core::format("  device     %-16s %s\n", core::backend_name(id), who.c_str());
    }
    Operator* meaning = op->functional ? op->functional : op;
    for (Operator* o : {op, meaning}) {
      for (const Registration& r : o->kernels)
        s += core::format("  kernel     %-16s %s%s%s\n", r.key.c_str(), r.owner.c_str(), r.file.empty() ? "" : " ",
                          r.file.empty() ? "" : (r.file + ":" + std::to_string(r.line)).c_str());
      if (op == meaning) break;
    }
  }
  return s;
}

}  // namespace lamella::dispatcher
