#include "dispatcher/generator.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/error.h"
#include "core/object.h"
#include "dispatcher/thread_state.h"

namespace lamella::dispatcher {
namespace {

struct Generator {
  lamella_object object;
  std::mutex mutex;
  lamella_device device;
  GeneratorState state;
};

const lamella_object_type generator_type = {sizeof(lamella_object_type), 0, "Generator",
                                            [](lamella_object* o) { delete reinterpret_cast<Generator*>(o); }};

Generator* cast(lamella_object* o) { return reinterpret_cast<Generator*>(o); }

std::mutex defaults_mutex;
uint64_t default_seed = 67280421310721;  // what torch starts with; any fixed number does

std::map<std::pair<int32_t, int32_t>, lamella_object*>& defaults() {
  static auto* m = new std::map<std::pair<int32_t, int32_t>, lamella_object*>;
  return *m;
}

lamella_object* of_process(lamella_device d) {
  std::lock_guard lock(defaults_mutex);
  lamella_object*& g = defaults()[{d.backend, d.index}];
  if (!g) g = new_generator(d, default_seed);
  return g;
}

// ---- a thread's own generators: a thread slot, which is there while a thread has one ----

struct Own {
  lamella_device device;
  core::Ref<lamella_object> generator;
};
using OwnGenerators = std::vector<Own>;

int32_t own_slot() {
  static const int32_t index = [] {
    int32_t i = -1;
    lamella_thread_slot_type type{};
    type.size = sizeof type;
    type.name = "generators";
    type.copy = [](void* from, void** to) -> lamella_status {
      auto* copy = new OwnGenerators;
      for (const Own& o : *static_cast<OwnGenerators*>(from))
        copy->push_back({o.device, core::Ref<lamella_object>::borrow(o.generator.get())});
      *to = copy;
      return LAMELLA_OK;
    };
    type.destroy = [](void* own) { delete static_cast<OwnGenerators*>(own); };
    add_thread_slot(type, &i);
    return i;
  }();
  return index;
}

OwnGenerators* own_generators() { return static_cast<OwnGenerators*>(thread_slot(own_slot())); }

lamella_object* find(const OwnGenerators* own, lamella_device d) {
  if (own)
    for (const Own& o : *own)
      if (core::same_device(o.device, d)) return o.generator.get();
  return nullptr;
}

}  // namespace

lamella_object* new_generator(lamella_device device, uint64_t seed) {
  auto* g = new Generator{{1, &generator_type}, {}, device, {seed, 0}};
  return &g->object;
}

bool is_generator(const lamella_object* o) { return o && o->type == &generator_type; }

lamella_object* default_generator(lamella_device d) {
  lamella_object* own = find(own_generators(), d);
  return own ? own : of_process(d);
}

lamella_object* exchange_own_generator(lamella_device d, lamella_object* g) {
  of_process(d);  // it is there from now on, so that seed_all() on this thread is none of its business
  OwnGenerators now;
  core::Ref<lamella_object> before;
  if (OwnGenerators* own = own_generators())
    for (Own& o : *own) {
      if (core::same_device(o.device, d))
        before = std::move(o.generator);
      else
        now.push_back(std::move(o));
    }
  if (g) now.push_back({d, core::Ref<lamella_object>::steal(g)});
  set_thread_slot(own_slot(), now.empty() ? nullptr : new OwnGenerators(std::move(now)));
  return before.take();
}

GeneratorState generator_state(lamella_object* g) {
  std::lock_guard lock(cast(g)->mutex);
  return cast(g)->state;
}

void generator_set(lamella_object* g, GeneratorState s) {
  std::lock_guard lock(cast(g)->mutex);
  cast(g)->state = s;
}

lamella_device generator_device(lamella_object* g) { return cast(g)->device; }

void seed_all(uint64_t seed) {
  const OwnGenerators* owned = own_generators();
  std::lock_guard lock(defaults_mutex);
  default_seed = seed;
  for (auto& [where, g] : defaults()) {
    lamella_object* own = find(owned, {where.first, where.second});
    generator_set(own ? own : g, {seed, 0});
  }
}

lamella_status generator_reserve(lamella_object* g, lamella_device device, uint64_t n, uint64_t* seed,
                                 uint64_t* offset) {
  if (lamella_status st = core::check_device("generator", device)) return st;
  if (!g) g = default_generator(device);
  if (!is_generator(g))
    return core::raise(LAMELLA_TYPE_ERROR, std::string("generator: expected a Generator, got ") + g->type->name);
  if (cast(g)->device.backend != device.backend)
    return core::raise(LAMELLA_RUNTIME_ERROR, "generator: it is for device '" + core::device_name(cast(g)->device) +
                                                  "', the tensor is on '" + core::device_name(device) + "'");
  std::lock_guard lock(cast(g)->mutex);
  *seed = cast(g)->state.seed;
  *offset = cast(g)->state.offset;
  cast(g)->state.offset += (n + 3) / 4 * 4;  // Philox gives four words at a time
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
