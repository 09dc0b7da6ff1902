// Wrong uses of the C ABI's table: nulls, wrong numbers of arguments, structs of other sizes, errors that are moved to
// other threads, and values that an entry must refuse. Usage: test_door LIBLAMELLA_CPU.SO

#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "calls.h"

static lamella_library* library(const char* owner) {
  lamella_library* l;
  OK(api, open_library(api, "test", owner, &l));
  return l;
}

static lamella_status nothing(lamella_frame*, const lamella_value*, lamella_value*) { return LAMELLA_OK; }

// ---- versions and the table itself ----------------------------------------------------------------------------------

static void table() {
  CHECK(api->size == sizeof(lamella_api) && api->version == LAMELLA_ABI_VERSION && *api->library_version);
  CHECK(lamella_abi_version() == LAMELLA_ABI_VERSION && lamella_get_api(LAMELLA_ABI_VERSION) == api);
  CHECK(!lamella_get_api(LAMELLA_ABI_VERSION + 1) && !lamella_get_api(LAMELLA_MAKE_VERSION(LAMELLA_ABI_MAJOR + 1, 0)));
  CHECK(!lamella_get_api(0));
  auto* entries = reinterpret_cast<void* const*>(&api->raise);
  for (size_t i = 0; i < (sizeof(lamella_api) - offsetof(lamella_api, raise)) / sizeof(void*); i++) CHECK(entries[i]);
  done("the table: its version, and no entry missing");
}

// ---- nulls ----------------------------------------------------------------------------------------------------------

static void nulls() {
  lamella_library* l = library("nulls");
  lamella_tensor *t = floats({1}), *out;
  lamella_value v;
  const int64_t one = 1;
  uint64_t word;
  int32_t id;
  const lamella_device d{cpu, 0};
  const lamella_operator* add = api->find_operator("aten::add", "Tensor");
  FAILS(api, api->raise(LAMELLA_VALUE_ERROR, nullptr), "raise: argument 1");
  FAILS(api, api->raise_host(nullptr, nullptr, nullptr), "raise_host: argument 2");
  FAILS(api, api->error_restore(nullptr), "error_restore: argument 0");
  FAILS(api, api->value_retain(nullptr, &v), "value_retain: argument 0");
  FAILS(api, api->tensor_empty(1, nullptr, nullptr, LAMELLA_FLOAT32, d, &out), "tensor_empty");
  FAILS(api, api->tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, d, nullptr), "tensor_empty: argument 5");
  FAILS(api, api->tensor_from_blob(nullptr, 1, &one, nullptr, LAMELLA_FLOAT32, d, nullptr, nullptr, &out), "from_blob");
  FAILS(api, api->tensor_view(nullptr, 1, &one, &one, 0, &out), "tensor_view: argument 0");
  FAILS(api, api->tensor_view(t, 1, &one, nullptr, 0, &out), "tensor_view: argument 3");
  FAILS(api, api->tensor_detach(t, 0, nullptr), "tensor_detach: argument 2");
  FAILS(api, api->find_operator(nullptr, "") ? 0 : api->error_kind(), "find_operator: argument 0");
  FAILS(api, api->find_operator("aten::add", nullptr) ? 0 : api->error_kind(), "find_operator: argument 1");
  FAILS(api, api->call(nullptr, nullptr, nullptr, 0, &v, 1), "call: argument 1");
  FAILS(api, api->call(nullptr, add, nullptr, 3, &v, 1), "call: argument 2");
  FAILS(api, api->call(nullptr, add, &v, 1, nullptr, 1), "call: argument 4");
  FAILS(api, api->operator_num_args(nullptr) == -1 ? api->error_kind() : 0, "operator_num_args: argument 0");
  FAILS(api, api->operator_argument(add, -1) ? 0 : api->error_kind(), "there is no argument -1");
  FAILS(api, api->find_overloads("aten::add", nullptr, 3) == -1 ? api->error_kind() : 0, "find_overloads");
  FAILS(api, api->parallel_for(0, 1, 1, nullptr, nullptr), "parallel_for: argument 3");
  FAILS(api, api->scratch(nullptr, 1, nullptr), "scratch: argument 0");
  FAILS(api, api->generator_new(d, 0, nullptr), "generator_new: argument 2");
  FAILS(api, api->generator_reserve(nullptr, d, 1, nullptr, &word), "generator_reserve: argument 3");
  FAILS(api, api->library_open(nullptr, &l), "library_open: argument 0");
  FAILS(api, open_library(api, nullptr, "me", &l), "'ns' must not be null");
  FAILS(api, api->define(nullptr, nullptr, nullptr), "define: argument 0");
  FAILS(api, api->define(l, nullptr, nullptr), "define: argument 1");
  FAILS(api, add_kernel(api, l, nullptr, "cpu", nothing), "kernel: argument 1");
  FAILS(api, api->kernel(l, "aten::add.Tensor", "cpu", nullptr, nullptr), "kernel: argument 3");
  const lamella_kernel_def k{sizeof k, 0, nothing, nullptr, nullptr, 0, 0};
  FAILS(api, api->category_kernel(l, "pointwise", nullptr, &k, nullptr), "argument 2");
  FAILS(api, api->shape_rule(l, "aten::add.Tensor", nullptr, nullptr), "shape_rule: argument 2");
  FAILS(api, api->layer(l, nullptr, nullptr, nullptr), "layer: argument 1");
  FAILS(api, api->backend(l, nullptr, nullptr, nullptr), "backend: argument 1");
  FAILS(api, keep_rule(api, l, "aten::add.Tensor", nullptr, nullptr, nullptr), "rule: 'layer' must not be null");
  FAILS(api, api->publish_interface(l, "test.nothing", 1, nullptr, nullptr), "publish_interface: argument 3");
  FAILS(api, api->find_interface(nullptr, 1) ? 0 : api->error_kind(), "find_interface: argument 0");
  FAILS(api, api->tensor_slot(l, nullptr, &id), "tensor_slot: argument 1");
  FAILS(api, api->thread_slot(l, nullptr, &id), "thread_slot: argument 1");
  FAILS(api, api->attribute(l, "nothing", nullptr, nullptr, nullptr, nullptr), "attribute: argument 2");
  FAILS(api, api->keyword(l, nullptr, nullptr), "keyword: argument 1");
  FAILS(api, api->find_backend(nullptr, &id), "find_backend: argument 0");
  FAILS(api, api->host_pool(nullptr, 0, nullptr), "host_pool: argument 2");
  FAILS(api, lamella_load_plugin(nullptr), "argument 'path'");
  FAILS(api, lamella_plugin_stamp("x", nullptr), "argument 'version'");
  api->retain(nullptr);
  api->release(nullptr);
  api->value_release(nullptr);
  api->release(t);
  api->library_close(l);
  done("nulls: each says the entry and the argument");
}

// ---- calls ----------------------------------------------------------------------------------------------------------

static void arity() {
  lamella_tensor *a = floats({1, 2}), *b = floats({3, 4});
  const lamella_operator *add = api->find_operator("aten::add", "Tensor"),
                         *out = api->find_operator("aten::add", "out");
  lamella_value args[5] = {of(a), of(b), num(2), of(a), num(1)}, r, two[2];
  OK(api, api->call(nullptr, add, args, 2, &r, 1));
  CHECK(at(r, 0) == 4 && at(r, 1) == 6);
  api->value_release(&r);
  OK(api, api->call(nullptr, add, args, 3, &r, 1));
  CHECK(at(r, 0) == 7);
  api->value_release(&r);
  FAILS(api, api->call(nullptr, add, args, 1, &r, 1), "'other' is missing");
  FAILS(api, api->call(nullptr, add, args, 0, &r, 1), "'self' is missing");
  FAILS(api, api->call(nullptr, add, args, 4, &r, 1), "got 4 arguments, expected at most 3");
  FAILS(api, api->call(nullptr, add, args, -1, &r, 1), "got -1 arguments, expected at least 0");
  two[1] = num(5);
  OK(api, api->call(nullptr, add, args, 3, two, 2));
  CHECK(at(two[0], 0) == 7 && two[1].tag == LAMELLA_NONE);
  api->value_release(&two[0]);
  FAILS(api, api->call(nullptr, add, args, 3, nullptr, 0), "room for 0 results");
  lamella_value wrong[3] = {of(a), {LAMELLA_NONE, 0, {0}}, num(1)};
  FAILS(api, api->call(nullptr, add, wrong, 3, &r, 1), "argument 'other' must be Tensor, got");
  wrong[1] = of(nullptr);
  FAILS(api, api->call(nullptr, add, wrong, 3, &r, 1), "got a null pointer");
  lamella_tensor* holes[2] = {a, nullptr};
  lamella_value list{LAMELLA_TENSOR_LIST, 2, {0}};
  list.as.tensors = holes;
  r.tag = 77;
  FAILS(api, api->call(nullptr, api->find_operator("aten::cat", ""), &list, 1, &r, 1), "a list with a null tensor");
  CHECK(r.tag == LAMELLA_NONE);
  list.as.tensors = nullptr;
  FAILS(api, api->call(nullptr, api->find_operator("aten::cat", ""), &list, 1, &r, 1), "got a null pointer");
  wrong[1] = of(b);
  wrong[2].tag = 77;
  FAILS(api, api->call(nullptr, add, wrong, 3, &r, 1), "'alpha' must be Scalar, got a value with the tag 77");
  wrong[2].tag = LAMELLA_SYMBOLIC;
  FAILS(api, api->call(nullptr, add, wrong, 3, &r, 1), "'alpha' must be Scalar, got a value with the tag 16");
  const lamella_operator *clone = api->find_operator("aten::clone", ""), *zeros = api->find_operator("aten::zeros", "");
  for (int64_t none : {-1, 3}) {
    const lamella_value format[] = {of(a), {LAMELLA_MEMORY_FORMAT, 0, {none}}};
    FAILS(api, api->call(nullptr, clone, format, 2, &r, 1),
          "'memory_format' must be MemoryFormat?, got the memory format " + std::to_string(none));
  }
  const int64_t extent = 2;
  lamella_value layout[] = {{LAMELLA_INT_LIST, 1, {0}}, {LAMELLA_NONE, 0, {0}}, {LAMELLA_LAYOUT, 0, {7}}};
  layout[0].as.ints = &extent;
  FAILS(api, api->call(nullptr, zeros, layout, 3, &r, 1), "'layout' must be Layout?, got the layout 7");
  lamella_value into[3] = {of(a), of(b), of(b)};  // the missing argument's place is before the outputs
  OK(api, api->call(nullptr, out, into, 3, &r, 1));
  CHECK(r.as.tensor == b && at(r, 0) == 4 && at(r, 1) == 6);
  api->value_release(&r);
  FAILS(api, api->call(nullptr, out, into, 1, &r, 1), "'self' is missing");
  api->release(a);
  api->release(b);
  done("calls: arguments appended later have their defaults, other numbers are errors");
}

static lamella_status throws(lamella_frame*, const lamella_value*, lamella_value*) {
  throw std::runtime_error("thrown");
}
static lamella_status registers(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  auto* l = static_cast<lamella_library*>(f->context);
  if (lamella_status st = add_kernel(api, l, "test::busy", "cpu", nothing)) return st;
  api->retain(args[0].as.tensor);
  rets[0] = args[0];
  return LAMELLA_OK;
}

static lamella_status answers(lamella_frame* f, const lamella_value*, lamella_value*) {
  return static_cast<lamella_status>(reinterpret_cast<intptr_t>(f->context));
}

static void kernels() {
  lamella_library* l = library("kernels");
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = "busy(Tensor self) -> Tensor";
  OK(api, api->define(l, &d, nullptr));
  OK(api, add_kernel(api, l, "busy", "cpu", registers, l));
  lamella_tensor* a = floats({1});
  lamella_value args[1] = {of(a)}, r;
  const lamella_operator* op = api->find_operator("test::busy", "");
  OK(api, api->call(nullptr, op, args, 1, &r, 1));
  CHECK(r.as.tensor == a);
  api->value_release(&r);
  FAILS(api, api->call(nullptr, op, args, 1, &r, 1), "result 0 of its kernel must be Tensor, got None");  // no result
  CHECK(r.tag == LAMELLA_NONE);
  OK(api, add_kernel(api, l, "busy", "cpu", throws));
  FAILS(api, api->call(nullptr, op, args, 1, &r, 1), "thrown");
  for (intptr_t status : {7, -3, int{LAMELLA_RETRY}}) {
    OK(api, add_kernel(api, l, "busy", "cpu", answers, reinterpret_cast<void*>(status)));
    FAILS(api, api->call(nullptr, op, args, 1, &r, 1),
          status == LAMELLA_RETRY ? "was not withdrawn" : "does not say why");
  }
  api->raise(LAMELLA_VALUE_ERROR, "of another day");  // an old error, which its caller has not cleared
  OK(api, add_kernel(api, l, "busy", "cpu", answers, reinterpret_cast<void*>(intptr_t{LAMELLA_INDEX_ERROR})));
  FAILS(api, api->call(nullptr, op, args, 1, &r, 1), "returned 4 and does not say why");
  lamella_library* other = library("another");
  FAILS(api, api->define(other, &d, nullptr), "already defined by kernels; another cannot");
  api->library_close(other);
  api->library_close(l);
  FAILS(api, api->call(nullptr, op, args, 1, &r, 1), "withdrawn by kernels");
  api->release(a);
  done("a kernel that registers while it runs, and one that throws; a conflict names both owners");
}

// ---- structs of other sizes ----

static void sizes() {
  lamella_library* l = library("sizes");
  lamella_operator_def d{};
  d.schema = "sized(Tensor self) -> Tensor";
  FAILS(api, api->define(l, &d, nullptr), "set it to sizeof");
  d.size = offsetof(lamella_operator_def, infer);
  FAILS(api, api->define(l, &d, nullptr), "the struct's size is 32; set it to sizeof");
  struct Newer {
    lamella_operator_def known;
    int64_t later;
  } newer{};
  newer.known.size = sizeof newer;
  newer.known.schema = "newer(Tensor self) -> Tensor";
  OK(api, api->define(l, &newer.known, nullptr));
  newer.known.schema = "newest(Tensor self) -> Tensor";
  newer.later = 1;
  FAILS(api, api->define(l, &newer.known, nullptr), "uses some behind");
  lamella_layer layer{};
  layer.name = "test.sized";
  CHECK(api->find_layer("test.sized") == -1);
  FAILS(api, api->layer(l, &layer, nullptr, nullptr), "layer: the struct's size is 0");
  layer.size = sizeof layer;
  layer.flags = LAMELLA_LAYER_FALLTHROUGH;
  int32_t layer_bit;
  OK(api, api->layer(l, &layer, &layer_bit, nullptr));
  CHECK(api->find_layer("test.sized") == layer_bit);
  lamella_allocator memory{};
  lamella_backend b{};
  b.size = sizeof b;
  b.name = "sized";
  b.allocator = &memory;
  FAILS(api, api->backend(l, &b, nullptr, nullptr), "backend: allocator: the struct's size is 0");
  lamella_slot_type slot{};
  int32_t index;
  slot.size = sizeof slot;
  FAILS(api, api->tensor_slot(l, &slot, &index), "'name' must not be null");
  lamella_allocator_stats stats{};
  std::memset(&stats, 0x55, sizeof stats);
  stats.size = offsetof(lamella_allocator_stats, cached_bytes);
  const lamella_backend* host = api->backend_description(cpu);
  OK(api, host->allocator->stats(host->allocator->context, 0, &stats));
  CHECK(stats.live_bytes >= 0 && stats.cached_bytes == 0x5555555555555555);
  CHECK(api->backend_description(-1) == nullptr && api->backend_description(99) == nullptr);
  api->library_close(l);
  done("structs: none is smaller than it ever was, larger ones are read if they need no more");
}

// ---- errors ----

static void errors() {
  static int released = 0;
  const auto release = [](void*) { released++; };
  int payload;
  CHECK(!api->error_take());
  CHECK(api->raise(0, "kind 0") == LAMELLA_RUNTIME_ERROR && api->raise(-5, "kind -5") == LAMELLA_RUNTIME_ERROR);
  CHECK(api->raise(1000, "of the future") == 1000);
  CHECK(api->raise_host(&payload, release, "host") == LAMELLA_HOST_ERROR && api->error_payload() == &payload);
  lamella_object* taken = api->error_take();
  CHECK(taken && api->error_kind() == LAMELLA_OK && !api->error_message() && released == 0);
  std::thread([&] {
    CHECK(api->error_restore(taken) == LAMELLA_HOST_ERROR);
    CHECK(api->error_payload() == &payload && std::string(api->error_message()) == "host");
    api->add_note("a note");
    api->error_clear();
  }).join();
  CHECK(released == 1);
  api->raise_host(&payload, release, "dropped");
  api->release(api->error_take());
  CHECK(released == 2);
  lamella_object* generator;
  OK(api, api->generator_new({cpu, 0}, 7, &generator));
  FAILS(api, api->error_restore(generator), "expected an Error");
  uint64_t seed, offset;
  OK(api, api->generator_reserve(generator, {cpu, 0}, 5, &seed, &offset));
  CHECK(seed == 7 && offset == 0);
  OK(api, api->generator_get(generator, &seed, &offset));
  CHECK(offset == 8);
  OK(api, api->generator_set(generator, 9, 4));
  OK(api, api->generator_get(generator, &seed, &offset));
  CHECK(seed == 9 && offset == 4);
  api->release(generator);
  OK(api, api->generator_default({cpu, 0}, &generator));
  api->release(generator);
  FAILS(api, api->generator_new({77, 0}, 7, &generator), "no backend 77");
  done("errors travel between threads with their payload; generators are read and set");
}

// ---- geometry ----

static void geometry() {
  lamella_tensor *t, *v, *base = floats({1, 2, 3, 4});
  const lamella_device d{cpu, 0};
  const int64_t two = 2, minus = -1, huge = INT64_MAX, sizes[65] = {};
  char bytes[16] = {};
  static bool freed = false;
  const auto free = [](void*) { freed = true; };
  FAILS(api, api->tensor_empty(-1, &two, nullptr, LAMELLA_FLOAT32, d, &t), "-1 dimensions");
  FAILS(api, api->tensor_empty(65, sizes, nullptr, LAMELLA_FLOAT32, d, &t), "65 dimensions");
  FAILS(api, api->tensor_empty(1, &two, nullptr, 99, d, &t), "no dtype 99");
  FAILS(api, api->tensor_empty(1, &two, nullptr, -1, d, &t), "no dtype -1");
  FAILS(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {99, 0}, &t), "no backend 99");
  FAILS(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {cpu, 99}, &t),
        "'cpu:99' does not exist; there are 1");
  FAILS(api, api->tensor_from_blob(bytes, 1, &two, nullptr, LAMELLA_FLOAT32, {cpu, -1}, free, nullptr, &t), "'cpu:-1'");
  FAILS(api, api->tensor_empty(1, &two, &minus, LAMELLA_FLOAT32, d, &t), "negative");
  FAILS(api, api->tensor_empty(1, &huge, nullptr, LAMELLA_FLOAT64, d, &t), "63 bits");
  FAILS(api, api->tensor_from_blob(bytes, 1, &two, &huge, LAMELLA_FLOAT32, d, free, nullptr, &t), "63 bits");
  CHECK(!freed);  // a refused tensor_from_blob does not call the deleter
  OK(api, api->tensor_from_blob(bytes, 1, &two, nullptr, LAMELLA_FLOAT32, d, free, nullptr, &t));
  api->release(t);
  CHECK(freed);
  FAILS(api, api->tensor_view(base, 1, &two, &two, 2, &v), "beyond its storage");
  FAILS(api, api->tensor_view(base, 1, &two, &two, huge, &v), "beyond its storage");
  FAILS(api, api->tensor_view(base, 1, &two, &two, -1, &v), "the storage offset is -1; it must not be negative");
  OK(api, api->tensor_view(base, 1, &two, &two, 1, &v));
  CHECK(at(of(v), 0) == 2 && static_cast<float*>(v->dl.data)[v->dl.strides[0]] == 4 && api->tensor_base(v) == base);
  api->release(v);
  api->release(base);
  OK(api, api->tensor_empty(0, nullptr, nullptr, LAMELLA_FLOAT32, d, &t));
  api->release(t);
  done("tensors: sizes, strides, dtypes and devices that cannot be");
}

// ---- devices and threads ----

static uint32_t flags = 0;
static int asked = 0, captured_destroyed = 0;

static void devices() {
  lamella_library* l = library("devices");
  static lamella_allocator memory{};
  memory.size = sizeof memory;
  memory.alloc = [](void*, int64_t n, int32_t, void*, void** out) { return (*out = std::malloc(n)) ? 0 : 1; };
  memory.free = [](void*, void* p, int64_t, int32_t) { std::free(p); };
  lamella_backend b{};
  b.size = sizeof b;
  b.name = "pair";
  b.allocator = &memory;
  b.context = &memory;
  b.device_count = [](void*) { return 2; };
  b.copy = [](void* context, const lamella_copy* c, int32_t* done) -> lamella_status {
    CHECK(context == &memory && c->size == sizeof *c && *done == 1);
    asked += c->to.backend == c->from.backend;
    flags |= c->flags;
    CHECK((c->to.backend == cpu) == ((c->flags & LAMELLA_COPY_TO_HOST) != 0));
    CHECK((c->from.backend == cpu) == ((c->flags & LAMELLA_COPY_FROM_HOST) != 0));
    std::memcpy(c->dst, c->src, c->bytes);
    return 0;
  };
  b.property = [](void*, int32_t index, const char* name, lamella_value* out) -> lamella_status {
    *out = {std::string(name) == "pair.rank" ? uint32_t{LAMELLA_INT} : uint32_t{LAMELLA_NONE}, 0, {10 + index}};
    return 0;
  };
  for (const char* name : {"", "pair:0", "backend", "composite", "default"}) {
    b.name = name;
    FAILS(api, api->backend(l, &b, nullptr, nullptr), "backend: ");
    lamella_layer layer{};
    layer.size = sizeof layer;
    layer.name = name;
    layer.flags = LAMELLA_LAYER_FALLTHROUGH;
    FAILS(api, api->layer(l, &layer, nullptr, nullptr), "layer: ");
  }
  b.name = "pair";
  int32_t pair;
  OK(api, api->backend(l, &b, &pair, nullptr));
  memory.alloc = nullptr;  // registration has copied the struct
  const lamella_backend* d = api->backend_description(pair);
  lamella_value rank;
  OK(api, d->property(d->context, 1, "pair.rank", &rank));
  CHECK(rank.tag == LAMELLA_INT && rank.as.i == 11 && !d->stream_create && !d->event_create);
  OK(api, d->property(d->context, 1, "pair.height", &rank));
  CHECK(rank.tag == LAMELLA_NONE);
  lamella_tensor *host = floats({1, 2}), *first, *second, *back = floats({0, 0});
  const int64_t two = 2;
  OK(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {pair, 0}, &first));
  OK(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {pair, 1}, &second));
  const lamella_operator* copy = api->find_operator("aten::copy_", "");
  lamella_value r, there[3] = {of(first), of(host), {LAMELLA_BOOLEAN, 0, {0}}}, across[2] = {of(second), of(first)},
                   home[2] = {of(back), of(second)};
  for (auto* step : {there, across, home}) {
    OK(api, api->call(nullptr, copy, step, 2, &r, 1));
    api->value_release(&r);
  }
  CHECK(at(of(back), 1) == 2 && asked == 1 && !(flags & LAMELLA_COPY_NON_BLOCKING));
  there[2].as.i = 1;
  OK(api, api->call(nullptr, copy, there, 3, &r, 1));
  api->value_release(&r);
  CHECK(flags & LAMELLA_COPY_NON_BLOCKING);
  // The device's own kernel for a copy between devices is called first; if it declines, the backend copies the bytes.
  static int offered = 0;
  const lamella_kernel_def own = {sizeof own,
                                  LAMELLA_KERNEL_BETWEEN_DEVICES,
                                  [](lamella_frame*, const lamella_value* args, lamella_value*) -> lamella_status {
                                    offered++;
                                    if (args[0].as.tensor->backend == cpu)
                                      return api->raise(LAMELLA_NOT_IMPLEMENTED, "not to the host");
                                    std::memset(args[0].as.tensor->dl.data, 0, 8);
                                    return LAMELLA_OK;
                                  },
                                  nullptr,
                                  __FILE__,
                                  __LINE__,
                                  0};
  OK(api, api->kernel(l, "aten::copy_", "pair", &own, nullptr));
  flags = 0;
  OK(api, api->call(nullptr, copy, there, 3, &r, 1));
  api->value_release(&r);
  CHECK(offered == 1 && flags == 0);
  home[1] = of(first);
  OK(api, api->call(nullptr, copy, home, 2, &r, 1));
  api->value_release(&r);
  CHECK(offered == 2 && (flags & LAMELLA_COPY_TO_HOST) && at(of(back), 1) == 0 && !api->error_kind());
  for (lamella_tensor* t : {host, first, second, back}) api->release(t);
  lamella_thread_slot_type slot{};
  slot.size = sizeof slot;
  char name[] = "test.carried";
  slot.name = name;
  slot.copy = [](void* state, void** out) -> lamella_status {
    *out = state;
    return LAMELLA_OK;
  };
  slot.destroy = [](void*) { captured_destroyed++; };
  int32_t index;
  OK(api, api->thread_slot(l, &slot, &index));
  name[0] = '?';  // registration has copied the name
  api->thread_slot_set(index, &slot);
  lamella_captured* captured;
  OK(api, api->thread_capture(&captured));
  api->thread_slot_set(index, nullptr);
  api->thread_discard(captured);
  CHECK(captured_destroyed == 2);
  for (int32_t wrong : {-3, 63, 100000}) {
    FAILS(api, api->thread_slot_set(wrong, &slot), "thread_slot_set: there is no slot");
    CHECK(!api->thread_slot_get(wrong));
  }
  lamella_tensor* t = floats({1});
  for (int32_t wrong : {-3, 63, 100000}) {
    FAILS(api, api->slot_set(t, wrong, &slot), "slot_set: there is no slot");
    CHECK(!api->slot_get(t, wrong));
  }
  api->release(t);
  CHECK(api->num_threads() >= 1 && api->thread()->size >= sizeof(lamella_thread));
  api->library_close(l);
  CHECK(!api->backend_description(pair));
  done("devices: copies between two of them, capabilities; what a thread captured can be dropped");
}

int main(int argc, char** argv) {
  start(argc, argv);
  table();
  nulls();
  arity();
  kernels();
  sizes();
  errors();
  geometry();
  devices();
}
