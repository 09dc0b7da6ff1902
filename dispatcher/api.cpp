#include "dispatcher/api.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/caching_pool.h"
#include "core/device.h"
#include "core/error.h"
#include "core/event.h"
#include "core/thread.h"
#include "core/value.h"
#include "dispatcher/attributes.h"
#include "dispatcher/call.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/dims.h"
#include "dispatcher/descriptions.h"
#include "dispatcher/door.h"
#include "dispatcher/events.h"
#include "dispatcher/explain.h"
#include "dispatcher/generator.h"
#include "dispatcher/interfaces.h"
#include "dispatcher/kernels.h"
#include "dispatcher/keys.h"
#include "dispatcher/keywords.h"
#include "dispatcher/layer.h"
#include "dispatcher/load.h"
#include "dispatcher/named_kinds.h"
#include "dispatcher/operators.h"
#include "dispatcher/parallel.h"
#include "dispatcher/pointwise.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/rules.h"
#include "dispatcher/slots.h"
#include "dispatcher/tensors.h"
#include "dispatcher/thread_state.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

// The functions of the table that no other file defines.
lamella_status raise(int32_t kind, const char* m) { return core::raise(kind > 0 ? kind : LAMELLA_RUNTIME_ERROR, m); }
lamella_status raise_host(void* p, void (*r)(void*), const char* m) { return core::raise_host(p, r, m); }
const char* error_message() { return core::pending_error().kind ? core::pending_error().message.c_str() : nullptr; }
int32_t error_kind() { return core::pending_error().kind; }
void* error_payload() { return core::pending_error().payload; }
void error_clear() { core::pending_error().clear(); }
lamella_status error_restore(lamella_object* o) {
  if (lamella_status st = core::restore_error(o)) return st;
  return core::raise(LAMELLA_TYPE_ERROR, std::string("error_restore: expected an Error, got ") + o->type->name);
}

void retain(void* o) {
  if (o) core::retain(static_cast<lamella_object*>(o));
}
void release(void* o) {
  if (o) core::release(static_cast<lamella_object*>(o));
}
lamella_status value_retain(const lamella_value* v, lamella_value* out) {
  *out = core::retain_value(*v);
  return LAMELLA_OK;
}
void value_release(lamella_value* v) {
  if (v) core::release_value(*v);
}

const lamella_operator* find_operator(const char* name, const char* overload) {
  return dispatcher::find_operator(name, overload);
}
lamella_thread* thread() { return &core::this_thread().shared; }
lamella_status scratch(lamella_frame* f, int64_t bytes, void** out) {
  if (bytes < 0)
    return core::raise(LAMELLA_VALUE_ERROR,
                       core::format("scratch: 'bytes' is %lld; it must not be negative", (long long)bytes));
  void* p = std::aligned_alloc(64, (bytes + 64 + 63) / 64 * 64);
  if (!p)
    return core::raise(LAMELLA_OUT_OF_MEMORY, core::format("%s: cannot allocate %lld bytes of scratch",
                                                           operator_title(f->op).c_str(), (long long)bytes));
  *static_cast<void**>(p) = f->scratch;
  f->scratch = p;
  *out = static_cast<char*>(p) + 64;
  return LAMELLA_OK;
}

lamella_status generator_new(lamella_device d, uint64_t seed, lamella_object** out) {
  if (lamella_status st = core::check_device("generator_new", d)) return st;
  *out = new_generator(d, seed);
  return LAMELLA_OK;
}
lamella_status generator_default(lamella_device d, lamella_object** out) {
  if (lamella_status st = core::check_device("generator_default", d)) return st;
  *out = default_generator(d);
  core::retain(*out);
  return LAMELLA_OK;
}
lamella_status expect_generator(const char* entry, const lamella_object* g) {
  if (is_generator(g)) return LAMELLA_OK;
  return core::raise(LAMELLA_TYPE_ERROR, core::format("%s: expected a Generator, got %s", entry, g->type->name));
}
lamella_status generator_get(lamella_object* g, uint64_t* seed, uint64_t* offset) {
  if (lamella_status st = expect_generator("generator_get", g)) return st;
  const GeneratorState state = generator_state(g);
  *seed = state.seed;
  *offset = state.offset;
  return LAMELLA_OK;
}
lamella_status generator_set_state(lamella_object* g, uint64_t seed, uint64_t offset) {
  if (lamella_status st = expect_generator("generator_set", g)) return st;
  generator_set(g, {seed, offset});
  return LAMELLA_OK;
}

// Raises if a bit is set that has no meaning in this version: it must be zero, so that a later version can give it one.
lamella_status expect_known(const char* entry, const char* field, uint32_t value, uint32_t known) {
  if (!(value & ~known)) return LAMELLA_OK;
  const char* text = "%s: '%s' is 0x%x, of which 0x%x has no meaning in this version; leave it zero";
  return core::raise(LAMELLA_VALUE_ERROR, core::format(text, entry, field, value, value & ~known));
}

lamella_status library_open(const lamella_library_def* d, lamella_library** out) {
  lamella_library_def def;
  if (lamella_status st = adopt("library_open", *d, &def)) return st;
  if (!def.ns || !def.owner)
    return core::raise(LAMELLA_VALUE_ERROR,
                       std::string("library_open: '") + (def.ns ? "owner" : "ns") + "' must not be null");
  if (def.version >> 16 != LAMELLA_ABI_MAJOR || def.version > LAMELLA_ABI_VERSION)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("library: 'version' of %s is %u.%u, this library has %d.%d; set it to "
                     "LAMELLA_TARGET_VERSION",
                     def.owner, def.version >> 16, def.version & 0xffff, LAMELLA_ABI_MAJOR, LAMELLA_ABI_MINOR));
  if (def.kind > LAMELLA_IMPLEMENTS)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("library_open: 'kind' is %u; expected LAMELLA_DEFINES, _EXTENDS or _IMPLEMENTS", def.kind));
  const std::string ns = chosen_namespace(def.ns);
  def.ns = ns.c_str();
  if (lamella_status st = open_library(def, out)) return st;
  note_opened(*out);
  return LAMELLA_OK;
}
void library_close(lamella_library* l) {
  note_closed(l);
  close_library(l);
}
const char* library_namespace(const lamella_library* l) { return l->ns.c_str(); }
uint32_t version_of_namespace(const char* ns) { return namespace_version(ns); }
lamella_status define(lamella_library* l, const lamella_operator_def* d, lamella_handle* h) {
  lamella_operator_def def;
  lamella_pointwise meaning;
  if (lamella_status st = adopt("define", *d, &def)) return st;
  if (!def.schema) return core::raise(LAMELLA_VALUE_ERROR, "define: 'schema' must not be null");
  if (lamella_status st = expect_known("define", "forms", def.forms, 63)) return st;
  if (lamella_status st = expect_known("define", "reserved", def.reserved, 0)) return st;
  if (lamella_status st = expect_known("define", "effects", def.effects, LAMELLA_EFFECT_STATE)) return st;
  if (def.pointwise) {
    if (lamella_status st = adopt("define: pointwise", *def.pointwise, &meaning)) return st;
    if (lamella_status st = check_meaning(meaning)) return st;
    def.pointwise = &meaning;
  }
  return define_operator(*l, def, false, h);
}
lamella_status kernel(lamella_library* l, const char* op, const char* key, const lamella_kernel_def* d,
                      lamella_handle* h) {
  lamella_kernel_def def;
  if (lamella_status st = adopt("kernel", *d, &def)) return st;
  if (lamella_status st = expect_known("kernel", "flags", def.flags, 63)) return st;
  return register_kernel(*l, op, key, def, h);
}
lamella_status category_kernel(lamella_library* l, const char* cat, const char* key, const lamella_kernel_def* d,
                               lamella_handle* h) {
  lamella_kernel_def def;
  if (lamella_status st = adopt("category_kernel", *d, &def)) return st;
  if (lamella_status st = expect_known("category_kernel", "flags", def.flags, 31)) return st;
  return register_category_kernel(*l, cat, key, def, h);
}
lamella_status shape_rule(lamella_library* l, const char* op, const lamella_shape_rule_def* d, lamella_handle* h) {
  lamella_shape_rule_def def;
  if (lamella_status st = adopt("shape_rule", *d, &def)) return st;
  if (!def.infer) return core::raise(LAMELLA_VALUE_ERROR, "shape_rule: 'infer' must not be null");
  return register_shape_rule(*l, op, def, h);
}
lamella_status layer(lamella_library* l, const lamella_layer* d, int32_t* bit, lamella_handle* h) {
  lamella_layer desc;
  if (lamella_status st = adopt("layer", *d, &desc)) return st;
  if (!desc.name) return core::raise(LAMELLA_VALUE_ERROR, "layer: 'name' must not be null");
  if (lamella_status st = expect_known("layer", "flags", desc.flags, 127)) return st;
  if (lamella_status st = expect_known("layer", "kernel_flags", desc.kernel_flags, LAMELLA_KERNEL_CALLS_OPERATORS))
    return st;
  if (lamella_status st = expect_known("layer", "reserved", desc.reserved, 0)) return st;
  return register_layer(*l, desc, bit, h);
}
// Replaces `*at`, unless it is null, by a copy of the allocator. Raises unless the allocator has `alloc`, `free` and
// the flags in `wanted`; it may also have LAMELLA_ALLOCATOR_STREAM_ORDERED, and no other flag.
lamella_status keep_allocator(const char* what, uint32_t wanted, const lamella_allocator** at,
                              std::unique_ptr<lamella_allocator>& copy) {
  if (!*at) return LAMELLA_OK;
  lamella_allocator memory;
  if (lamella_status st = adopt(what, **at, &memory)) return st;
  if (lamella_status st = expect_known(what, "flags", memory.flags, LAMELLA_ALLOCATOR_STREAM_ORDERED | wanted))
    return st;
  if ((memory.flags & wanted) != wanted || !memory.alloc || !memory.free)
    return core::raise(LAMELLA_VALUE_ERROR,
                       core::format("%s: 'alloc' and 'free' must not be null%s", what,
                                    wanted ? ", and 'flags' must have LAMELLA_ALLOCATOR_PINNED" : ""));
  copy = std::make_unique<lamella_allocator>(memory);
  *at = copy.get();
  return LAMELLA_OK;
}
lamella_status backend(lamella_library* l, const lamella_backend* d, int32_t* id, lamella_handle* h) {
  lamella_backend desc;
  if (lamella_status st = adopt("backend", *d, &desc)) return st;
  if (!desc.name) return core::raise(LAMELLA_VALUE_ERROR, "backend: 'name' must not be null");
  if (lamella_status st = expect_known("backend", "flags", desc.flags, 7)) return st;
  if (lamella_status st = expect_known("backend", "reserved", static_cast<uint32_t>(desc.reserved), 0)) return st;
  std::unique_ptr<lamella_allocator> own, pinned;
  if (lamella_status st = keep_allocator("backend: allocator", 0, &desc.allocator, own)) return st;
  if (lamella_status st =
          keep_allocator("backend: host_allocator", LAMELLA_ALLOCATOR_PINNED, &desc.host_allocator, pinned))
    return st;
  const lamella_status st = register_backend(*l, desc, id, h);
  if (!st) own.release(), pinned.release();  // never freed: storages point at them
  return st;
}
lamella_status disable(lamella_library* l, const char* op, const char* key, lamella_handle* h) {
  return disable_kernel(*l, op, key, h);
}
lamella_status rule(lamella_library* l, const lamella_rule* d, lamella_handle* h) {
  lamella_rule def;
  if (lamella_status st = adopt("rule", *d, &def)) return st;
  if (!def.op || !def.layer)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("rule: '") + (def.op ? "layer" : "op") + "' must not be null");
  if (def.owner) return core::raise(LAMELLA_VALUE_ERROR, "rule: 'owner' is the library's; leave it null");
  if (lamella_status st = expect_known("rule", "reserved", def.reserved, 0)) return st;
  return add_rule(*l, def, h);
}
lamella_status on_rule(lamella_library* l, const char* layer, lamella_on_rule f, void* c, lamella_handle* h) {
  return dispatcher::on_rule(*l, layer, f, c, h);
}
lamella_status behind(lamella_device d, void* stream, void* other) {
  if (lamella_status st = core::check_device("run_behind", d)) return st;
  return run_behind(d, stream, other);
}
lamella_status subscribe(lamella_library* l, uint64_t kinds, lamella_on_event f, void* c, lamella_handle* h) {
  return dispatcher::subscribe(*l, kinds, f, c, h);
}
lamella_status on_interface(lamella_library* l, const char* name, uint32_t min_version, lamella_on_interface f, void* c,
                            lamella_handle* h) {
  return dispatcher::on_interface(*l, name, min_version, f, c, h);
}
void* find_rule(const lamella_operator* op, const char* layer) { return dispatcher::find_rule(op, layer); }
lamella_status publish_interface(lamella_library* l, const char* name, uint32_t v, const void* t, lamella_handle* h) {
  return dispatcher::publish_interface(*l, name, v, t, h);
}
const void* find_interface(const char* name, uint32_t v) { return dispatcher::find_interface(name, v); }
lamella_status withdraw(lamella_handle h) { return dispatcher::withdraw(h); }

template <class Type>
lamella_status adopt_slot(const char* entry, const Type& from, Type* to) {
  if (lamella_status st = adopt(entry, from, to)) return st;
  return to->name ? LAMELLA_OK : core::raise(LAMELLA_VALUE_ERROR, std::string(entry) + ": 'name' must not be null");
}
lamella_status tensor_slot(lamella_library* l, const lamella_slot_type* t, int32_t* i) {
  lamella_slot_type type;
  if (lamella_status st = adopt_slot("tensor_slot", *t, &type)) return st;
  if (!type.save != !type.load)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("tensor_slot: '") + type.name +
                                                "' has one of 'save' and 'load'; give both, or neither");
  return add_tensor_slot(*l, type, i);
}
lamella_status storage_slot(lamella_library* l, const lamella_slot_type* t, int32_t* i) {
  lamella_slot_type type;
  if (lamella_status st = adopt_slot("storage_slot", *t, &type)) return st;
  return add_storage_slot(*l, type, i);
}
lamella_status thread_slot_add(lamella_library*, const lamella_thread_slot_type* t, int32_t* i) {
  lamella_thread_slot_type type;
  if (lamella_status st = adopt_slot("thread_slot", *t, &type)) return st;
  if (lamella_status st = expect_known("thread_slot", "reserved", type.reserved, 0)) return st;
  return add_thread_slot(type, i);
}
lamella_status attribute(lamella_library* l, const char* name, lamella_get_attribute g, lamella_set_attribute s,
                         void* c, lamella_handle* h) {
  return add_attribute(*l, name, g, s, c, h);
}

lamella_status keyword(lamella_library* l, const lamella_keyword_def* d, lamella_handle* h) {
  lamella_keyword_def def;
  if (lamella_status st = adopt("keyword", *d, &def)) return st;
  if (lamella_status st = expect_known("keyword", "flags", def.flags, LAMELLA_KEYWORD_CLAIMS | LAMELLA_KEYWORD_REST))
    return st;
  const bool rest = def.flags & LAMELLA_KEYWORD_REST;
  const char* missing = !def.name             ? "'name'"
                        : rest && !def.expand ? "'expand'"
                        : !rest && !def.apply ? "'apply'"
                                              : nullptr;
  if (missing) return core::raise(LAMELLA_VALUE_ERROR, std::string("keyword: ") + missing + " must not be null");
  if (rest ? def.apply || def.layer || def.flags != LAMELLA_KEYWORD_REST : def.expand != nullptr)
    return core::raise(LAMELLA_VALUE_ERROR,
                       std::string("keyword: '") + def.name +
                           "' must have either 'expand' and LAMELLA_KEYWORD_REST, or 'apply', 'layer' and other flags");
  return add_keyword(*l, def, h);
}
lamella_status dim_resolver(lamella_library* l, lamella_resolve_dim f, void* c, lamella_handle* h) {
  return add_dim_resolver(*l, f, c, h);
}

lamella_status process_include(lamella_library* l, uint64_t bits, lamella_handle* h) {
  return include_layers(*l, bits, h);
}

lamella_status dtype_register(lamella_library* l, const lamella_dtype_def* d, int32_t* dtype, lamella_handle* h) {
  lamella_dtype_def def;
  if (lamella_status st = adopt("dtype_register", *d, &def)) return st;
  if (lamella_status st = expect_known("dtype_register", "reserved", static_cast<uint32_t>(def.reserved), 0)) return st;
  return register_dtype(*l, def, dtype, h);
}
lamella_status find_dtype(const char* name, int32_t* dtype) {
  const core::DType found = core::dtype_from_name(name);
  if (found == LAMELLA_NO_DTYPE)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("find_dtype: there is no dtype '") + name + "'");
  *dtype = found;
  return LAMELLA_OK;
}

lamella_status find_backend(const char* name, int32_t* id) {
  *id = core::backend_id(name);
  return *id < 0 ? core::raise(LAMELLA_RUNTIME_ERROR, std::string("device: there is no backend '") + name + "'")
                 : LAMELLA_OK;
}

lamella_status host_pool(const lamella_allocator* upstream, int64_t cap, const lamella_allocator** out) {
#ifdef LAMELLA_NO_CACHE
  const int64_t usual = 0;
#else
  const int64_t usual = core::available_memory() / 4;
#endif
  lamella_allocator from = *core::system_allocator();
  if (upstream)
    if (lamella_status st = adopt("host_pool", *upstream, &from)) return st;
  if (!from.alloc || !from.free)
    return core::raise(LAMELLA_VALUE_ERROR, "host_pool: 'upstream.alloc' and 'upstream.free' must not be null");
  *out = (new core::CachingPool(from, cap > 0 ? cap : usual))->allocator();
  return LAMELLA_OK;
}

// Returns the address of a set that the dispatcher changes atomically, for readers of the C table.
template <std::atomic<uint64_t>& set>
const uint64_t* address() {
  static_assert(sizeof set == sizeof(uint64_t) && std::atomic<uint64_t>::is_always_lock_free);
  return reinterpret_cast<const uint64_t*>(&set);
}

int32_t find_layer(const char* name) {
  RegistryLock lock;
  return layer_bit(name);
}

// An entry has no guard if it cannot fail, or if it must be quick and its pointers were made by this library.
const lamella_api table = {
    .size = sizeof(lamella_api),
    .version = LAMELLA_ABI_VERSION,
    .library_version = LAMELLA_VERSION,
    .raise = guard<raise, "raise">,
    .raise_host = guard<raise_host, "raise_host", nullable(0, 1)>,
    .add_note = guard<core::add_note, "add_note">,
    .error_message = error_message,
    .error_kind = error_kind,
    .error_payload = error_payload,
    .error_clear = error_clear,
    .error_take = guard<core::take_error, "error_take">,
    .error_restore = guard<error_restore, "error_restore">,
    .error_kind_register = guard<register_error_kind, "error_kind_register">,
    .error_kind_name = guard<describe_error_kind, "error_kind_name", nullable(1)>,
    .retain = retain,
    .release = release,
    .value_retain = guard<value_retain, "value_retain">,
    .value_release = value_release,
    .tensor_empty = guard<tensor_empty, "tensor_empty", nullable(1, 2)>,
    .tensor_from_blob = guard<tensor_from_blob, "tensor_from_blob", nullable(0, 2, 3, 6, 7)>,
    .tensor_view = guard<tensor_view, "tensor_view", nullable(2, 3)>,
    .tensor_opaque = guard<tensor_opaque, "tensor_opaque", nullable(1, 2)>,
    .tensor_opaque_over = guard<tensor_opaque_over, "tensor_opaque_over", nullable(2, 3)>,
    .tensor_set_storage = guard<tensor_set_storage, "tensor_set_storage">,
    .tensor_over = guard<tensor_over, "tensor_over", nullable(2, 3)>,
    .tensor_detach = guard<tensor_detach, "tensor_detach">,
    .tensor_assign = guard<tensor_assign, "tensor_assign">,
    .tensor_resize = guard<tensor_resize, "tensor_resize", nullable(2, 3)>,
    .tensor_carry = guard<tensor_carry, "tensor_carry">,
    .tensor_base = tensor_base,
    .tensor_version = tensor_version,
    .tensor_update_keys = guard<tensor_update_keys, "tensor_update_keys">,
    .storage_data = storage_data,
    .storage_bytes = storage_bytes,
    .storage_use_count = storage_use_count,
    .storage_add_sticky = guard<storage_add_sticky, "storage_add_sticky">,
    .storage_retain = storage_retain,
    .storage_release = storage_release,
    .find_operator = guard<find_operator, "find_operator">,
    .call = checked_call,
    .redispatch = checked_redispatch,
    .decompose = checked_decompose,
    .check_defaults = guard<check_defaults, "check_defaults">,
    .thread = thread,
    .find_kernel = guard<look_up_kernel, "find_kernel">,
    .call_kernel = call_kernel,
    .operator_name = guard<operator_name, "operator_name">,
    .operator_overload = guard<operator_overload, "operator_overload">,
    .operator_schema = guard<operator_schema, "operator_schema">,
    .operator_category = guard<operator_category, "operator_category">,
    .operator_pointwise = guard<operator_pointwise, "operator_pointwise">,
    .operator_num_args = guard_count<operator_num_args, "operator_num_args">,
    .operator_num_returns = guard_count<operator_num_returns, "operator_num_returns">,
    .operator_argument = guard<operator_argument, "operator_argument">,
    .operator_return = guard<operator_return, "operator_return">,
    .operator_form = guard_count<operator_form, "operator_form">,
    .operator_functional = guard<operator_functional, "operator_functional">,
    .find_overloads = guard_count<find_overloads, "find_overloads", nullable(1)>,
    .operators = guard_count<list_operators, "operators", nullable(0)>,
    .operator_dims = guard<operator_dims, "operator_dims">,
    .operator_effects = guard<operator_effects, "operator_effects">,
    .operator_since = guard<operator_since, "operator_since">,
    .namespace_version = guard<version_of_namespace, "namespace_version">,
    .infer = guard<infer_alone, "infer", nullable(1, 3, 5)>,
    .parallel_for = guard<parallel_for, "parallel_for", nullable(4)>,
    .num_threads = get_num_threads,
    .scratch = guard<scratch, "scratch">,
    .check_interrupt = check_interrupt,
    .generator_new = guard<generator_new, "generator_new">,
    .generator_default = guard<generator_default, "generator_default">,
    .generator_get = guard<generator_get, "generator_get">,
    .generator_set = guard<generator_set_state, "generator_set">,
    .generator_reserve = guard<generator_reserve, "generator_reserve", nullable(0)>,
    .library_open = guard<library_open, "library_open">,
    .library_close = guard<library_close, "library_close">,
    .define = guard<define, "define", nullable(2)>,
    .kernel = guard<kernel, "kernel", nullable(4)>,
    .category_kernel = guard<category_kernel, "category_kernel", nullable(4)>,
    .disable_kernel = guard<disable, "disable_kernel", nullable(3)>,
    .shape_rule = guard<shape_rule, "shape_rule", nullable(3)>,
    .layer = guard<layer, "layer", nullable(2, 3)>,
    .backend = guard<backend, "backend", nullable(2, 3)>,
    .rule = guard<rule, "rule", nullable(2)>,
    .find_rule = guard<find_rule, "find_rule">,
    .on_rule = guard<on_rule, "on_rule", nullable(3, 4)>,
    .publish_interface = guard<publish_interface, "publish_interface", nullable(4)>,
    .find_interface = guard<find_interface, "find_interface">,
    .withdraw = guard<withdraw, "withdraw">,
    .tensor_slot = guard<tensor_slot, "tensor_slot">,
    .slot_get = get_slot,
    .slot_set = guard<set_slot, "slot_set", nullable(2)>,
    .storage_slot = guard<storage_slot, "storage_slot">,
    .storage_slot_get = get_storage_slot,
    .storage_slot_set = guard<set_storage_slot, "storage_slot_set", nullable(2)>,
    .thread_slot = guard<thread_slot_add, "thread_slot">,
    .thread_slot_get = thread_slot,
    .thread_slot_set = guard<set_thread_slot, "thread_slot_set", nullable(1)>,
    .thread_capture = guard<capture_thread, "thread_capture">,
    .thread_copy = guard<copy_captured, "thread_copy">,
    .thread_swap = guard<swap_captured, "thread_swap">,
    .thread_discard = discard_captured,
    .attribute = guard<attribute, "attribute", nullable(3, 4, 5)>,
    .keyword = guard<keyword, "keyword", nullable(2)>,
    .dim_resolver = guard<dim_resolver, "dim_resolver", nullable(2, 3)>,
    .process_include = guard<process_include, "process_include", nullable(2)>,
    .find_backend = guard<find_backend, "find_backend">,
    .backend_name = core::backend_name,
    .backend_description = core::backend,
    .host_pool = guard<host_pool, "host_pool", nullable(0)>,
    .run_behind = guard<behind, "run_behind", nullable(1, 2)>,
    .find_layer = guard_count<find_layer, "find_layer">,
    .library_namespace = guard<library_namespace, "library_namespace">,
    .event_kind_register = guard<register_event_kind, "event_kind_register">,
    .event_kind_name = guard<event_kind_name, "event_kind_name">,
    .subscribe = guard<subscribe, "subscribe", nullable(3, 4)>,
    .event_kinds = address<core::event_kinds>,
    .event = event,
    .on_interface = guard<on_interface, "on_interface", nullable(4, 5)>,
    .dtype_register = guard<dtype_register, "dtype_register", nullable(2, 3)>,
    .find_dtype = guard<find_dtype, "find_dtype">,
    .dtype_info = describe_dtype,
    .layers_not_in_backward = address<layers_not_in_backward>,
};

}  // namespace

const lamella_api* api() { return &table; }

}  // namespace lamella::dispatcher
