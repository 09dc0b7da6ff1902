#include "dispatcher/generator.h"

#include <map>
#include <mutex>

#include "core/device.h"
#include "core/error.h"
#include "core/object.h"

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

}  // namespace

lamella_object* new_generator(lamella_device device, uint64_t seed) {
  auto* g = new Generator{{1, &generator_type}, {}, device, {seed, 0}};
  return &g->object;
}

bool is_generator(const lamella_object* o) { return o && o->type == &generator_type; }

lamella_object* default_generator(lamella_device d) {
  std::lock_guard lock(defaults_mutex);
  lamella_object*& g = defaults()[{d.backend, d.index}];
  if (!g) g = new_generator(d, default_seed);
  return g;
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
  std::lock_guard lock(defaults_mutex);
  default_seed = seed;
  for (auto& [device, g] : defaults()) generator_set(g, {seed, 0});
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
