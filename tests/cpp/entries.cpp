// Calls entries of the table that the other programs do not use, and drives a device with streams and events through
// its registered functions, as a scheduler would do. Usage: test_entries LIBLAMELLA_CPU.SO

#include <lamella/dims.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "calls.h"

// ---- a device that does its work when a caller waits for it -------------------------------------------------------

namespace {

struct Stream {
  int64_t issued = 0, finished = 0;
  int32_t priority = 0;
};
struct Event {
  Stream* stream = nullptr;
  int64_t at = 0;
  bool timed = false;
};
struct Machine {
  Stream own;
  Stream* current = &own;
  std::vector<std::pair<void*, Stream*>> used;  // an address, and a stream that uses the memory there
  int64_t live_streams = 0, live_events = 0, waits = 0;
};
Machine machine;

Machine& of(void* context, int32_t index) {
  CHECK(context == &machine && index == 1);
  return machine;
}
Stream* stream_of(Machine& m, void* stream) { return stream ? static_cast<Stream*>(stream) : &m.own; }

lamella_backend description() {
  lamella_backend b{};
  b.size = sizeof b;
  b.name = "lazy";
  b.context = &machine;
  b.device_count = [](void*) { return 2; };
  b.copy = [](void*, const lamella_copy* c, int32_t*) -> lamella_status {
    std::memcpy(c->dst, c->src, static_cast<size_t>(c->bytes));
    return LAMELLA_OK;
  };
  b.synchronize = [](void* c, int32_t i) -> lamella_status {
    of(c, i).own.finished = of(c, i).own.issued;
    return LAMELLA_OK;
  };
  b.stream_default = [](void* c, int32_t i, void** out) -> lamella_status {
    *out = &of(c, i).own;
    return LAMELLA_OK;
  };
  b.stream_create = [](void* c, int32_t i, int32_t priority, void** out) -> lamella_status {
    if (priority > 3) return api->raise(LAMELLA_VALUE_ERROR, "lazy: priorities are 0 to 3");
    of(c, i).live_streams++;
    *out = new Stream{0, 0, priority};
    return LAMELLA_OK;
  };
  b.stream_destroy = [](void* c, int32_t i, void* s) {
    of(c, i).live_streams--;
    delete static_cast<Stream*>(s);
  };
  b.stream_current = [](void* c, int32_t i, void** out) -> lamella_status {
    *out = of(c, i).current;
    return LAMELLA_OK;
  };
  b.stream_set_current = [](void* c, int32_t i, void* s) -> lamella_status {
    of(c, i).current = stream_of(of(c, i), s);
    return LAMELLA_OK;
  };
  b.stream_synchronize = [](void* c, int32_t i, void* s) -> lamella_status {
    Stream* stream = stream_of(of(c, i), s);
    stream->finished = stream->issued;
    return LAMELLA_OK;
  };
  b.stream_query = [](void* c, int32_t i, void* s, int32_t* done) -> lamella_status {
    const Stream* stream = stream_of(of(c, i), s);
    *done = stream->finished == stream->issued;
    return LAMELLA_OK;
  };
  b.event_create = [](void* c, int32_t i, uint32_t flags, void** out) -> lamella_status {
    of(c, i).live_events++;
    *out = new Event{nullptr, 0, (flags & LAMELLA_EVENT_TIMING) != 0};
    return LAMELLA_OK;
  };
  b.event_destroy = [](void* c, int32_t i, void* e) {
    of(c, i).live_events--;
    delete static_cast<Event*>(e);
  };
  b.event_record = [](void* c, int32_t i, void* e, void* s) -> lamella_status {
    auto* event = static_cast<Event*>(e);
    event->stream = stream_of(of(c, i), s);
    event->at = event->stream->issued;
    return LAMELLA_OK;
  };
  b.event_wait = [](void* c, int32_t i, void* e, void* s) -> lamella_status {
    of(c, i).waits += static_cast<Event*>(e)->stream != stream_of(of(c, i), s);
    return LAMELLA_OK;
  };
  b.event_synchronize = [](void* c, int32_t i, void* e) -> lamella_status {
    of(c, i);
    auto* event = static_cast<Event*>(e);
    event->stream->finished = std::max(event->stream->finished, event->at);
    return LAMELLA_OK;
  };
  b.event_query = [](void* c, int32_t i, void* e, int32_t* done) -> lamella_status {
    of(c, i);
    const auto* event = static_cast<Event*>(e);
    *done = event->stream->finished >= event->at;
    return LAMELLA_OK;
  };
  b.event_elapsed = [](void* c, int32_t i, void* start, void* end, double* milliseconds) -> lamella_status {
    of(c, i);
    const auto *from = static_cast<Event*>(start), *to = static_cast<Event*>(end);
    if (!from->timed || !to->timed)
      return api->raise(LAMELLA_VALUE_ERROR, "lazy: an event without LAMELLA_EVENT_TIMING");
    *milliseconds = 0.5 * static_cast<double>(to->at - from->at);
    return LAMELLA_OK;
  };
  return b;
}

}  // namespace

static void streams() {
  lamella_library* l;
  OK(api, open_library(api, "lazy", "the device", &l));
  static lamella_allocator memory{};
  memory.size = sizeof memory;
  memory.context = &machine;
  memory.alloc = [](void*, int64_t n, int32_t, void*, void** out) -> lamella_status {
    return (*out = std::malloc(static_cast<size_t>(n))) ? LAMELLA_OK : LAMELLA_OUT_OF_MEMORY;
  };
  memory.free = [](void*, void* p, int64_t, int32_t) { std::free(p); };
  memory.flags = LAMELLA_ALLOCATOR_STREAM_ORDERED;
  memory.record_stream = [](void* c, int32_t index, void* data, void* s) -> lamella_status {
    of(c, index).used.emplace_back(data, static_cast<Stream*>(s));
    return LAMELLA_OK;
  };
  memory.stats = [](void*, int32_t index, lamella_allocator_stats* s) -> lamella_status {
    s->allocations = 40 + index;
    return LAMELLA_OK;
  };
  lamella_backend b = description();
  b.allocator = &memory;
  int32_t id;
  lamella_handle handle;
  OK(api, api->backend(l, &b, &id, &handle));
  std::memset(&b, 0, sizeof b);  // registration has copied the struct
  const lamella_backend* d = api->backend_description(id);
  CHECK(d && !std::strcmp(api->backend_name(id), "lazy") && !std::strcmp(d->name, "lazy"));

  void *side, *current, *start, *end;
  int32_t finished = 0;
  FAILS(api, d->stream_create(d->context, 1, 4, &side), "priorities are 0 to 3");
  OK(api, d->stream_create(d->context, 1, 2, &side));
  CHECK(static_cast<Stream*>(side)->priority == 2);
  void* usual;
  OK(api, d->stream_default(d->context, 1, &usual));
  OK(api, d->stream_current(d->context, 1, &current));
  CHECK(current == &machine.own && usual == current);
  OK(api, d->stream_set_current(d->context, 1, side));
  OK(api, d->stream_current(d->context, 1, &current));
  CHECK(current == side);
  OK(api, d->event_create(d->context, 1, LAMELLA_EVENT_TIMING, &start));
  OK(api, d->event_create(d->context, 1, LAMELLA_EVENT_TIMING, &end));
  OK(api, d->event_record(d->context, 1, start, side));
  static_cast<Stream*>(side)->issued += 3;
  OK(api, d->event_record(d->context, 1, end, side));
  static_cast<Stream*>(side)->issued += 1;
  OK(api, d->event_query(d->context, 1, start, &finished));
  CHECK(finished == 1);
  OK(api, d->event_query(d->context, 1, end, &finished));
  CHECK(finished == 0);
  OK(api, d->event_wait(d->context, 1, end, nullptr));
  CHECK(machine.waits == 1);
  OK(api, d->event_synchronize(d->context, 1, end));
  OK(api, d->event_query(d->context, 1, end, &finished));
  CHECK(finished == 1);
  OK(api, d->stream_query(d->context, 1, side, &finished));
  CHECK(finished == 0);
  OK(api, d->stream_synchronize(d->context, 1, side));
  OK(api, d->stream_query(d->context, 1, side, &finished));
  CHECK(finished == 1);
  double milliseconds = 0;
  OK(api, d->event_elapsed(d->context, 1, start, end, &milliseconds));
  CHECK(milliseconds == 1.5);
  void* untimed;
  OK(api, d->event_create(d->context, 1, 0, &untimed));
  FAILS(api, d->event_elapsed(d->context, 1, start, untimed, &milliseconds), "LAMELLA_EVENT_TIMING");
  machine.own.issued = 5;
  OK(api, d->synchronize(d->context, 1));
  CHECK(machine.own.finished == 5);

  const int64_t two = 2;
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {id, 1}, &t));
  OK(api, d->allocator->record_stream(d->allocator->context, 1, t->dl.data, side));
  CHECK(machine.used.size() == 1 && machine.used[0].first == t->dl.data && machine.used[0].second == side);
  lamella_allocator_stats stats{};
  stats.size = sizeof stats;
  OK(api, d->allocator->stats(d->allocator->context, 1, &stats));
  CHECK(stats.allocations == 41);
  api->release(t);
  for (void* e : {start, end, untimed}) d->event_destroy(d->context, 1, e);
  d->stream_destroy(d->context, 1, side);
  CHECK(machine.live_streams == 0 && machine.live_events == 0);
  OK(api, api->withdraw(handle));
  CHECK(!api->backend_description(id) && !std::strcmp(api->backend_name(id), "lazy"));
  done("streams and events through the description of a device");
}

// ---- operators, storages and layers ---------------------------------------------------------------------------------

static void operators() {
  const lamella_operator *add = api->find_operator("aten::add", "Tensor"),
                         *split = api->find_operator("aten::max", "dim");
  CHECK(!std::strcmp(api->operator_name(add), "aten::add") && !std::strcmp(api->operator_overload(add), "Tensor"));
  CHECK(!std::strcmp(api->operator_schema(add),
                     "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"));
  CHECK(!std::strcmp(api->operator_category(add), "pointwise"));
  CHECK(api->operator_num_returns(add) == 1 && api->operator_num_returns(split) == 2);
  const lamella_pointwise* p = api->operator_pointwise(api->find_operator("aten::exp", ""));
  CHECK(p && p->inputs == 1 && !std::strcmp(p->expressions.of_floats, "exp(x)") && !p->expressions.of_integers &&
        !api->operator_pointwise(split));
  lamella_library* l;
  OK(api, open_library(api, "entries", "this", &l, LAMELLA_DEFINES));
  CHECK(!std::strcmp(api->library_namespace(l), "entries"));
  lamella_operator_def plain{};
  plain.size = sizeof plain;
  plain.schema = "plain(Tensor x) -> Tensor";
  OK(api, api->define(l, &plain, nullptr));
  CHECK(!*api->operator_category(api->find_operator("entries::plain", "")));
  lamella_operator_def meant{};
  meant.size = sizeof meant;
  meant.schema = "meant(Tensor x) -> Tensor";
  meant.pointwise = p;
  OK(api, api->define(l, &meant, nullptr));  // `pointwise` implies the category
  CHECK(!std::strcmp(api->operator_category(api->find_operator("entries::meant", "")), "pointwise"));
  api->library_close(l);
  done("what is said of operators");
}

static void effects_and_versions() {
  const auto* random = api->find_operator("aten::dropout", "");
  CHECK(api->operator_effects(random) == LAMELLA_EFFECT_STATE && api->operator_since(random) == 1);
  CHECK(api->operator_effects(api->find_operator("aten::dropout_", "")) == LAMELLA_EFFECT_STATE);
  CHECK(api->operator_effects(api->find_operator("aten::add", "Tensor")) == LAMELLA_EFFECT_NONE);
  CHECK(api->namespace_version("aten") == 1 && api->namespace_version("versioned") == 0);
  lamella_library_def def = {sizeof def, LAMELLA_ABI_VERSION, "versioned", "this", LAMELLA_DEFINES, 3};
  lamella_library *l, *more, *kernels;
  OK(api, api->library_open(&def, &l));
  CHECK(api->namespace_version("versioned") == 3);
  lamella_operator_def d{};
  d.size = sizeof d;
  d.forms = LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT;
  d.schema = "logged(Tensor x) -> Tensor";
  d.effects = LAMELLA_EFFECT_STATE;
  d.since = 3;
  lamella_handle handle;
  OK(api, api->define(l, &d, &handle));
  for (const auto& [name, overload] : {std::pair{"logged", ""}, {"logged_", ""}, {"logged", "out"}}) {
    const auto* op = api->find_operator((std::string("versioned::") + name).c_str(), overload);
    CHECK(api->operator_effects(op) == LAMELLA_EFFECT_STATE && api->operator_since(op) == 3);
  }
  OK(api, api->withdraw(handle));
  d.effects = d.since = 0;  // another definition, although the schema is the same
  OK(api, api->define(l, &d, nullptr));
  CHECK(api->operator_effects(api->find_operator("versioned::logged", "")) == 0);
  d.schema = "later(Tensor x) -> Tensor";
  d.since = 4;
  FAILS(api, api->define(l, &d, nullptr), "'since' is 4, and the namespace 'versioned' has version 3");
  d.effects = 2;
  FAILS(api, api->define(l, &d, nullptr), "define: 'effects' is 0x2");
  def.kind = LAMELLA_EXTENDS;
  def.namespace_version = 4;
  OK(api, api->library_open(&def, &more));
  CHECK(api->namespace_version("versioned") == 4);
  def.kind = LAMELLA_IMPLEMENTS;
  def.namespace_version = 9;
  OK(api, api->library_open(&def, &kernels));
  CHECK(api->namespace_version("versioned") == 4);  // kernels say nothing of the operators
  d.effects = 0;
  OK(api, api->define(more, &d, nullptr));
  api->library_close(more);
  CHECK(api->namespace_version("versioned") == 3);
  api->library_close(l);
  api->library_close(kernels);
  CHECK(api->namespace_version("versioned") == 0);
  done("effects of operators, and versions of namespaces");
}

static void dimensions() {
  const auto said = [](const char* op, const char* overload) {
    return lamella::parse_dims(api->operator_dims(api->find_operator(op, overload)));
  };
  CHECK(said("aten::add", "Tensor").kind == lamella::DimsKind::Broadcast);
  CHECK(said("aten::add", "out").kind == lamella::DimsKind::Broadcast);
  CHECK(said("aten::cumsum", "").kind == lamella::DimsKind::Keep);
  CHECK(said("aten::sum", "dim_IntList").kind == lamella::DimsKind::Reduce);
  CHECK(said("aten::reshape", "").kind == lamella::DimsKind::None);
  const lamella::Dims matmul = said("aten::matmul", "");
  CHECK(matmul.kind == lamella::DimsKind::Pattern && matmul.error.empty() && matmul.patterns.size() == 4);
  const lamella::DimsPattern* p = matmul.fitting({4, 2});
  CHECK(p == &matmul.patterns[0] && p->args.size() == 2 && p->results.size() == 1);
  CHECK(p->args[0].size() == 3 && p->args[0][0].ellipsis && p->args[0][1].word == "i" && !p->args[0][1].bound);
  CHECK(matmul.fitting({1, 3}) == &matmul.patterns[1] && matmul.fitting({1, 1}) == &matmul.patterns[3]);
  CHECK(!matmul.fitting({0, 2}) && !matmul.fitting({2}) && matmul.patterns[3].results[0].empty());
  // A mark at one place of a word holds for all of them, and an absent argument fits everything.
  const lamella::Dims marked = lamella::parse_dims("a~ b, a -> b a | ...~ , -> ...");
  CHECK(marked.patterns[0].args[1][0].bound && marked.patterns[0].results[0][1].bound);
  CHECK(!marked.patterns[0].args[0][1].bound && marked.patterns[1].results[0][0].bound);
  CHECK(marked.fitting({2, -1}) == &marked.patterns[0] && marked.fitting({5, 0}) == &marked.patterns[1]);
  for (const char* wrong : {"same", "a", "a -> b -> c", "a! -> a", "~ -> a", "... ... -> a", "a -> ..."})
    CHECK(!lamella::parse_dims(wrong).error.empty() && lamella::parse_dims(wrong).kind == lamella::DimsKind::None);
  const lamella_argument* dim = api->operator_argument(api->find_operator("aten::cumsum", ""), 1);
  CHECK((dim->flags & LAMELLA_ARGUMENT_DIM) && !(dim->flags & LAMELLA_ARGUMENT_LIST));
  CHECK(!(api->operator_argument(api->find_operator("aten::tile", ""), 1)->flags & LAMELLA_ARGUMENT_DIM));
  done("what operators say of their dimensions");
}

static void storages(int32_t cpu) {
  const int64_t four = 4, two = 2, one = 1;
  lamella_tensor *t, *v, *other;
  OK(api, api->tensor_empty(1, &four, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  const lamella_storage* s = t->storage;
  CHECK(api->storage_data(s) == t->dl.data && api->storage_bytes(s) == 16 && api->storage_use_count(s) == 1);
  OK(api, api->tensor_view(t, 1, &two, &one, 2, &v));
  OK(api, api->tensor_detach(v, 0, &other));
  CHECK(v->storage == s && other->storage == s && api->storage_use_count(s) == 3);
  CHECK(static_cast<char*>(v->dl.data) + v->dl.byte_offset == static_cast<char*>(api->storage_data(s)) + 8);
  api->release(v);
  CHECK(api->storage_use_count(s) == 2);
  api->release(t);
  CHECK(api->storage_use_count(other->storage) == 1 && api->storage_bytes(other->storage) == 16);
  api->release(other);
  done("storages: memory, bytes and who shares them");
}

static int seen = 0;

static void layers(int32_t cpu) {
  lamella_library* l;
  OK(api, open_library(api, "everywhere", "the layer", &l));
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "everywhere";
  layer.fallback = [](lamella_frame* f, const lamella_value* args, lamella_value* rets) -> lamella_status {
    seen++;
    return api->redispatch(f, args, f->num_args, rets, f->num_rets);
  };
  int32_t bit;
  lamella_handle handle = 0, twice;
  OK(api, api->layer(l, &layer, &bit, nullptr));
  FAILS(api, api->process_include(l, 1, nullptr), "process_include: no layer has bit 0");
  const int64_t two = 2;
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &two, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  const lamella_operator* neg = api->find_operator("aten::neg", "");
  lamella_value arg{LAMELLA_TENSOR, 0, {0}}, ret;
  arg.as.tensor = t;
  for (int32_t on : {1, 0}) {
    if (on)
      OK(api, api->process_include(l, uint64_t{1} << bit, &handle));
    else
      OK(api, api->withdraw(handle));
    const int before = seen;
    OK(api, api->call(nullptr, neg, &arg, 1, &ret, 1));
    api->value_release(&ret);
    CHECK(seen == before + on);
  }
  // A layer that was switched on twice stays on until both switches are withdrawn.
  OK(api, api->process_include(l, uint64_t{1} << bit, &handle));
  OK(api, api->process_include(l, uint64_t{1} << bit, &twice));
  for (lamella_handle off : {handle, twice}) {
    const int before = seen;
    OK(api, api->call(nullptr, neg, &arg, 1, &ret, 1));
    api->value_release(&ret);
    CHECK(seen == before + 1);
    OK(api, api->withdraw(off));
  }
  const int before = seen;
  OK(api, api->call(nullptr, neg, &arg, 1, &ret, 1));
  api->value_release(&ret);
  CHECK(seen == before);
  api->release(t);
  OK(api, api->check_interrupt());  // a program without Python has no interrupt handler
  api->library_close(l);
  done("a layer for every thread of the process");
}

// A keyword definition that takes all unknown keywords, and the function that finds dimensions by name.
static void names() {
  const lamella_library_def def = {sizeof def, LAMELLA_ABI_VERSION, "aten", "names", LAMELLA_EXTENDS, 0};
  lamella_library* l;
  OK(api, api->library_open(&def, &l));
  lamella_keyword_def rest{};
  rest.size = sizeof rest;
  rest.name = "sizes";
  rest.flags = LAMELLA_KEYWORD_REST;
  FAILS(api, api->keyword(l, &rest, nullptr), "keyword: 'expand' must not be null");
  rest.expand = [](const lamella_operator*, void*, const lamella_value* given, lamella_value* out) -> lamella_status {
    return api->value_retain(given, out);
  };
  rest.flags = LAMELLA_KEYWORD_REST | LAMELLA_KEYWORD_CLAIMS;
  FAILS(api, api->keyword(l, &rest, nullptr), "keyword: 'sizes' must have either 'expand'");
  rest.apply = [](const lamella_operator*, void*, lamella_tensor**, const lamella_value*) -> lamella_status {
    return LAMELLA_OK;
  };
  rest.flags = 0;
  FAILS(api, api->keyword(l, &rest, nullptr), "keyword: 'sizes' must have either 'expand'");
  rest.flags = LAMELLA_KEYWORD_REST;
  FAILS(api, api->keyword(l, &rest, nullptr), "keyword: 'sizes' must have either 'expand'");
  rest.apply = nullptr;
  rest.layer = "autograd";
  FAILS(api, api->keyword(l, &rest, nullptr), "keyword: 'sizes' must have either 'expand'");
  rest.layer = nullptr;
  lamella_handle first;
  OK(api, api->keyword(l, &rest, &first));
  rest.name = "others";
  OK(api, api->keyword(l, &rest, nullptr));
  OK(api, api->withdraw(first));

  const lamella_resolve_dim resolve = [](void*, lamella_tensor*, const char*, int64_t* dim) -> lamella_status {
    *dim = 0;
    return LAMELLA_OK;
  };
  FAILS(api, api->dim_resolver(l, nullptr, nullptr, nullptr), "dim_resolver: argument 1");
  OK(api, api->dim_resolver(l, resolve, nullptr, &first));
  OK(api, api->dim_resolver(l, resolve, nullptr, nullptr));
  OK(api, api->withdraw(first));
  api->library_close(l);
  OK(api, api->library_open(&def, &l));
  OK(api, api->keyword(l, &rest, nullptr));
  OK(api, api->dim_resolver(l, resolve, nullptr, nullptr));
  api->library_close(l);
  done("functions that take unknown keywords, and that resolve names of dimensions");
}

int main(int argc, char** argv) {
  start(argc, argv);
  streams();
  operators();
  dimensions();
  effects_and_versions();
  storages(cpu);
  layers(cpu);
  names();
}
