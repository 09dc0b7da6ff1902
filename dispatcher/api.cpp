#include "dispatcher/api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/caching_pool.h"
#include "core/device.h"
#include "core/error.h"
#include "core/thread.h"
#include "core/value.h"
#include "dispatcher/call.h"
#include "dispatcher/catalogue.h"
#include "dispatcher/generator.h"
#include "dispatcher/parallel.h"
#include "dispatcher/state.h"

#ifndef LATTIS_VERSION
#define LATTIS_VERSION "0"
#endif

namespace lattis::dispatcher {
namespace {

using core::full;
using core::Tensor;

Registry& registry() { return Registry::get(); }

// What C++ throws, bad_alloc above all, must not leave the table: a plugin may be written in C.
template <auto Function>
struct Guard;
template <class... A, lattis_status (*Function)(A...)>
struct Guard<Function> {
  static lattis_status call(A... a) {
    return core::guarded([&] { return Function(a...); });
  }
};
template <auto Function>
inline constexpr auto guard = &Guard<Function>::call;

// The table's functions, in its order.
lattis_status raise(int32_t kind, const char* m) { return core::raise(kind, m); }
lattis_status raise_host(void* p, void (*r)(void*), const char* m) { return core::raise_host(p, r, m); }
const char* error_message() { return core::pending_error().kind ? core::pending_error().message.c_str() : nullptr; }
int32_t error_kind() { return core::pending_error().kind; }
void* error_payload() { return core::pending_error().payload; }
void error_clear() { core::pending_error().clear(); }

void retain(void* o) { core::retain(static_cast<lattis_object*>(o)); }
void release(void* o) { core::release(static_cast<lattis_object*>(o)); }
lattis_status value_retain(const lattis_value* v, lattis_value* out) {
  *out = core::retain_value(*v);
  return LATTIS_OK;
}
void value_release(lattis_value* v) { core::release_value(*v); }

lattis_status tensor_empty(int32_t ndim, const int64_t* sizes, const int64_t* strides, uint8_t dtype, lattis_device d,
                           lattis_tensor** out) {
  Tensor* t;
  lattis_status st = core::new_tensor(ndim, sizes, strides, dtype, d, &t);
  if (!st) *out = t;
  return st;
}

lattis_status tensor_from_blob(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides, uint8_t dtype,
                               lattis_device d, void (*deleter)(void*), void* context, lattis_tensor** out) {
  int64_t numel;
  if (lattis_status st = core::check_sizes("from_blob", ndim, sizes, core::itemsize(dtype), &numel)) return st;
  int64_t bytes =
      strides ? core::span_bytes(ndim, sizes, strides, core::itemsize(dtype)) : numel * core::itemsize(dtype);
  core::Storage* s = core::foreign_storage(data, bytes, d, deleter, context);
  *out = core::tensor_over(s, ndim, sizes, strides, 0, dtype);
  core::release(s);
  return LATTIS_OK;
}

lattis_status tensor_view(lattis_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                          lattis_tensor** out) {
  if (lattis_status st = core::check_sizes("view", ndim, sizes, core::itemsize(of->dtype), nullptr)) return st;
  if (lattis_status st = core::check_span(ndim, sizes, strides, core::itemsize(of->dtype))) return st;
  int64_t item = core::itemsize(of->dtype), end = offset * item + core::span_bytes(ndim, sizes, strides, item);
  if (offset < 0 || end > of->storage->bytes)
    return core::raise(LATTIS_RUNTIME_ERROR, "view: it reaches beyond its storage");
  *out = core::new_view(full(of), ndim, sizes, strides, offset);
  return LATTIS_OK;
}

lattis_tensor* tensor_base(const lattis_tensor* t) { return full(t)->base; }
uint64_t tensor_version(const lattis_tensor* t) { return t->storage->version; }
void tensor_set_keys(lattis_tensor* t, uint64_t keys) { t->keys = keys; }
void* storage_data(const lattis_storage* s) { return s->data; }
int64_t storage_bytes(const lattis_storage* s) { return s->bytes; }
void storage_add_sticky(lattis_storage* s, uint64_t keys) { __atomic_fetch_or(&s->sticky, keys, __ATOMIC_RELAXED); }
int64_t storage_use_count(const lattis_storage* s) { return __atomic_load_n(&s->refcount, __ATOMIC_ACQUIRE); }
lattis_status tensor_detach(lattis_tensor* t, lattis_tensor** out) {
  const Tensor* of = full(t);
  *out = core::tensor_over(of->storage, of->ndim(), of->sizes(), of->strides(), of->storage_offset, of->dtype);
  return LATTIS_OK;
}

const lattis_operator* find_operator(const char* name, const char* overload) { return registry().find(name, overload); }
lattis_thread* thread() { return &core::this_thread().shared; }
const char* operator_name(const lattis_operator* op) { return op->name.c_str(); }
const char* operator_overload(const lattis_operator* op) { return op->overload.c_str(); }
const char* operator_schema(const lattis_operator* op) {
  registry().prepare(const_cast<Operator*>(op));
  return op->schema_text.c_str();
}
const char* operator_category(const lattis_operator* op) { return op->category.c_str(); }
const lattis_pointwise* operator_pointwise(const lattis_operator* op) { return op->pointwise; }
int32_t operator_num_args(const lattis_operator* op) {
  registry().prepare(const_cast<Operator*>(op));
  return op->info.nargs;
}
int32_t operator_num_returns(const lattis_operator* op) {
  registry().prepare(const_cast<Operator*>(op));
  return op->info.nrets;
}

int32_t operator_form(const lattis_operator* op) { return static_cast<int32_t>(op->form); }
const lattis_operator* operator_functional(const lattis_operator* op) { return op->functional; }
lattis_status operator_argument(const lattis_operator* op, int32_t i, lattis_argument* out) {
  if (lattis_status st = registry().prepare(const_cast<Operator*>(op))) return st;
  return op->schema.load()->describe_argument(i, out);
}
lattis_status operator_return(const lattis_operator* op, int32_t i, lattis_argument* out) {
  if (lattis_status st = registry().prepare(const_cast<Operator*>(op))) return st;
  return op->schema.load()->describe_return(i, out);
}
int32_t find_overloads(const char* name, const lattis_operator** out, int32_t room) {
  const auto all = registry().overloads(name);
  for (int32_t i = 0; i < room && i < static_cast<int32_t>(all.size()); i++) out[i] = all[i];
  return static_cast<int32_t>(all.size());
}

lattis_status scratch(lattis_frame* f, int64_t bytes, void** out) {
  void* p = std::aligned_alloc(64, (bytes + 64 + 63) / 64 * 64);
  if (!p)
    return core::raise(LATTIS_OUT_OF_MEMORY, core::format("%s: cannot allocate %lld bytes of scratch",
                                                          operator_title(f->op).c_str(), (long long)bytes));
  *static_cast<void**>(p) = f->scratch;
  f->scratch = p;
  *out = static_cast<char*>(p) + 64;
  return LATTIS_OK;
}

// Libraries that a running lattis_plugin_init has opened: closed again if it fails.
thread_local std::vector<lattis_library*>* opening = nullptr;

lattis_status library_open(const char* ns, const char* owner, lattis_library** out) {
  if (lattis_status st = registry().open(ns, owner, LibraryKind::Fragment, out)) return st;
  if (opening) opening->push_back(*out);
  return LATTIS_OK;
}
void library_close(lattis_library* l) { registry().close(l); }
lattis_status define(lattis_library* l, const lattis_operator_def* d, lattis_handle* h) {
  return registry().define(*l, *d, false, h);
}
lattis_status kernel(lattis_library* l, const char* op, const char* key, lattis_kernel fn, void* c, uint32_t flags,
                     const char* file, int32_t line, lattis_handle* h) {
  return registry().kernel(*l, op, key, fn, c, flags, file, line, h);
}
lattis_status category_kernel(lattis_library* l, const char* cat, const char* key, lattis_kernel fn, void* c,
                              uint32_t flags, const char* file, int32_t line, lattis_handle* h) {
  return registry().category_kernel(*l, cat, key, fn, c, flags, file, line, h);
}
lattis_status shape_rule(lattis_library* l, const char* op, lattis_infer fn, const void* c, lattis_handle* h) {
  return registry().shape_rule(*l, op, fn, c, h);
}
lattis_status layer(lattis_library* l, const lattis_layer* d, int32_t* bit, lattis_handle* h) {
  return registry().layer(*l, *d, bit, h);
}
lattis_status backend(lattis_library* l, const lattis_backend* d, int32_t* id, lattis_handle* h) {
  return registry().backend(*l, *d, id, h);
}
lattis_status rule(lattis_library* l, const char* op, const char* layer, void* p, void (*destroy)(void*),
                   lattis_handle* h) {
  return registry().rule(*l, op, layer, p, destroy, h);
}
void* find_rule(const lattis_operator* op, const char* layer) { return registry().find_rule(op, layer); }
lattis_status publish_interface(lattis_library* l, const char* name, uint32_t v, const void* t, lattis_handle* h) {
  return registry().publish_interface(*l, name, v, t, h);
}
const void* find_interface(const char* name, uint32_t v) { return registry().find_interface(name, v); }
lattis_status withdraw(lattis_handle h) { return registry().withdraw(h); }

lattis_status tensor_slot(lattis_library* l, const lattis_slot_type* t, int32_t* i) {
  return add_tensor_slot(*l, *t, i);
}
void* slot_get(const lattis_tensor* t, int32_t i) { return core::get_slot(full(t), i); }
lattis_status thread_slot_add(lattis_library* l, const lattis_thread_slot_type* t, int32_t* i) {
  return add_thread_slot(*l, *t, i);
}
lattis_status attribute(lattis_library* l, const char* name, lattis_get_attribute g, lattis_set_attribute s, void* c,
                        lattis_handle* h) {
  return add_attribute(*l, name, g, s, c, h);
}

lattis_status keyword(lattis_library* l, const char* name, lattis_apply_keyword f, void* c, lattis_handle* h) {
  return add_keyword(*l, name, f, c, h);
}

void process_include(uint64_t bits, int on) {
  if (on)
    process_layers.fetch_or(bits);
  else
    process_layers.fetch_and(~bits);
}

lattis_status find_backend(const char* name, int32_t* id) {
  *id = core::backend_id(name);
  return *id < 0 ? core::raise(LATTIS_RUNTIME_ERROR, std::string("device: there is no backend '") + name + "'")
                 : LATTIS_OK;
}

lattis_status host_pool(const lattis_allocator* upstream, int64_t cap, const lattis_allocator** out) {
#ifdef LATTIS_NO_CACHE
  const int64_t usual = 0;
#else
  const int64_t usual = core::available_memory() / 4;
#endif
  *out = (new core::CachingPool(upstream ? *upstream : *core::system_allocator(), cap > 0 ? cap : usual))->allocator();
  return LATTIS_OK;
}

const lattis_api table = {sizeof(lattis_api),
                          LATTIS_ABI_VERSION,
                          LATTIS_VERSION,
                          raise,
                          raise_host,
                          core::add_note,
                          error_message,
                          error_kind,
                          error_payload,
                          error_clear,
                          retain,
                          release,
                          guard<value_retain>,
                          value_release,
                          guard<tensor_empty>,
                          guard<tensor_from_blob>,
                          guard<tensor_view>,
                          tensor_base,
                          tensor_version,
                          tensor_set_keys,
                          storage_data,
                          storage_bytes,
                          storage_add_sticky,
                          find_operator,
                          call,
                          redispatch,
                          thread,
                          operator_name,
                          operator_overload,
                          operator_schema,
                          operator_category,
                          operator_pointwise,
                          operator_num_args,
                          operator_num_returns,
                          parallel_for,
                          guard<scratch>,
                          check_interrupt,
                          guard<generator_reserve>,
                          guard<library_open>,
                          library_close,
                          guard<define>,
                          guard<kernel>,
                          guard<category_kernel>,
                          guard<shape_rule>,
                          guard<layer>,
                          guard<backend>,
                          guard<rule>,
                          find_rule,
                          guard<publish_interface>,
                          find_interface,
                          guard<withdraw>,
                          guard<tensor_slot>,
                          slot_get,
                          set_slot,
                          guard<thread_slot_add>,
                          thread_slot,
                          set_thread_slot,
                          capture_thread,
                          restore_thread,
                          guard<attribute>,
                          process_include,
                          guard<find_backend>,
                          core::backend_name,
                          guard<host_pool>,
                          guard<operator_argument>,
                          guard<operator_return>,
                          operator_form,
                          operator_functional,
                          find_overloads,
                          guard<tensor_detach>,
                          storage_use_count,
                          guard<keyword>};

}  // namespace

const lattis_api* api() { return &table; }

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    install_state();
    register_catalogue();
    const char* trace = std::getenv("LATTIS_TRACE_DISPATCH");
    if (trace && *trace && *trace != '0') registry().set_trace(true);
  });
}

lattis_status load_plugin(const std::string& path) {
  static auto* loaded = new std::map<std::string, lattis_status>;
  static auto* mutex = new std::recursive_mutex;
  start();
  std::lock_guard lock(*mutex);
  if (loaded->count(path) && (*loaded)[path] == LATTIS_OK) return LATTIS_OK;  // once a process
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return core::raise(LATTIS_RUNTIME_ERROR, std::string("load_plugin: ") + dlerror());
  auto init = reinterpret_cast<lattis_plugin_init_fn>(dlsym(handle, "lattis_plugin_init"));
  if (!init)
    return core::raise(LATTIS_RUNTIME_ERROR,
                       "load_plugin: " + path + " has no lattis_plugin_init; is it built with <lattis/extension.h>?");
  std::vector<lattis_library*> opened;
  auto* outer = std::exchange(opening, &opened);
  lattis_status st = init(&table);
  opening = outer;
  if (st)
    for (size_t i = opened.size(); i-- > 0;) registry().close(opened[i]);
  return (*loaded)[path] = st;
}

}  // namespace lattis::dispatcher

extern "C" const lattis_api* lattis_get_api(void) {
  lattis::dispatcher::start();
  return lattis::dispatcher::api();
}

extern "C" lattis_status lattis_load_plugin(const char* path) { return lattis::dispatcher::load_plugin(path); }
