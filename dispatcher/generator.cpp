#include "dispatcher/generator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/error.h"
#include "core/fork.h"
#include "dispatcher/thread_state.h"

namespace lamella::dispatcher {
namespace {

struct Generator {
  lamella_object object;
  lamella_device device;
  GeneratorState state;
};

const lamella_object_type generator_type = {sizeof(lamella_object_type), 0, "Generator",
                                            [](lamella_object* o) { delete reinterpret_cast<Generator*>(o); }};

Generator* cast(lamella_object* o) { return reinterpret_cast<Generator*>(o); }

// Guards the states of all generators, the default ones and `default_seed`.
std::mutex& mutex = core::new_innermost_mutex();
uint64_t default_seed = 67280421310721;  // torch's initial seed

std::map<std::pair<int32_t, int32_t>, lamella_object*>& defaults() {
  static auto* m = new std::map<std::pair<int32_t, int32_t>, lamella_object*>;
  return *m;
}

lamella_object* of_process(lamella_device d) {
  std::lock_guard lock(mutex);
  lamella_object*& g = defaults()[{d.backend, d.index}];
  if (!g) g = new_generator(d, default_seed);
  return g;
}

// ---- a thread's own generators: a thread slot, which is null while the thread has none ----

std::shared_ptr<GeneratorBlock> new_block(lamella_object* g) {
  auto block = std::make_shared<GeneratorBlock>();
  block->device = generator_device(g);
  block->generator = core::Ref<lamella_object>::borrow(g);
  return block;
}

bool ended(const GeneratorBlock& block) { return block.ended.load(std::memory_order_relaxed); }

int32_t own_slot() {
  static const int32_t index = [] {
    int32_t i = -1;
    lamella_thread_slot_type type{};
    type.size = sizeof type;
    type.name = "generators";
    type.copy = [](void* from, void** to) -> lamella_status {
      auto* copy = new GeneratorBlocks;
      for (const auto& block : *static_cast<GeneratorBlocks*>(from))
        if (!ended(*block)) copy->push_back(new_block(block->generator.get()));
      *to = copy;
      return LAMELLA_OK;
    };
    type.destroy = [](void* own) { delete static_cast<GeneratorBlocks*>(own); };
    add_thread_slot(type, &i);
    return i;
  }();
  return index;
}

GeneratorBlocks* own_blocks() { return static_cast<GeneratorBlocks*>(thread_slot(own_slot())); }

// Sets the thread's blocks: those of `own` and then of `more` that have not ended.
void keep_blocks(GeneratorBlocks* own, const GeneratorBlocks& more) {
  GeneratorBlocks now;
  for (const GeneratorBlocks* each : {static_cast<const GeneratorBlocks*>(own), &more})
    if (each)
      for (const auto& block : *each)
        if (!ended(*block)) now.push_back(block);
  set_thread_slot(own_slot(), now.empty() ? nullptr : new GeneratorBlocks(std::move(now)));
}

lamella_object* find(const GeneratorBlocks* own, lamella_device d) {
  if (own)
    for (auto block = own->rbegin(); block != own->rend(); ++block)
      if (core::same_device((*block)->device, d) && !ended(**block)) return (*block)->generator.get();
  return nullptr;
}

}  // namespace

lamella_object* new_generator(lamella_device device, uint64_t seed) {
  auto* g = new Generator{{1, &generator_type}, device, {seed, 0}};
  return &g->object;
}

bool is_generator(const lamella_object* o) { return o && o->type == &generator_type; }

lamella_object* default_generator(lamella_device d) {
  lamella_object* own = find(own_blocks(), d);
  return own ? own : of_process(d);
}

void install_generators() { own_slot(); }

std::shared_ptr<GeneratorBlock> begin_generator_block(lamella_object* g) {
  of_process(generator_device(g));  // makes the device's generator, so that seed_all() visits the device
  auto block = new_block(g);
  keep_blocks(own_blocks(), {block});
  return block;
}

void end_generator_block(GeneratorBlock& block) {
  block.ended.store(true, std::memory_order_relaxed);
  if (GeneratorBlocks* own = own_blocks()) keep_blocks(own, {});
}

GeneratorBlocks set_generator_blocks_aside(const GeneratorBlock& first) {
  GeneratorBlocks aside;
  if (GeneratorBlocks* own = own_blocks()) {
    const auto from = std::find_if(own->begin(), own->end(), [&](const auto& block) { return block.get() == &first; });
    aside.assign(from, own->end());
    own->erase(from, own->end());
    keep_blocks(own, {});
  }
  return aside;
}

void put_generator_blocks_back(const GeneratorBlocks& blocks) { keep_blocks(own_blocks(), blocks); }

GeneratorState generator_state(lamella_object* g) {
  std::lock_guard lock(mutex);
  return cast(g)->state;
}

void generator_set(lamella_object* g, GeneratorState s) {
  std::lock_guard lock(mutex);
  cast(g)->state = s;
}

lamella_device generator_device(lamella_object* g) { return cast(g)->device; }

void seed_all(uint64_t seed) {
  const GeneratorBlocks* owned = own_blocks();
  std::lock_guard lock(mutex);
  default_seed = seed;
  for (auto& [where, g] : defaults()) {
    lamella_object* own = find(owned, {where.first, where.second});
    cast(own ? own : g)->state = {seed, 0};
  }
}

lamella_status generator_reserve(lamella_object* g, lamella_device device, uint64_t n, uint64_t* seed,
                                 uint64_t* offset) {
  if (lamella_status st = core::check_device("generator", device)) return st;
  if (!g) g = default_generator(device);
  if (!is_generator(g))
    return core::raise(LAMELLA_TYPE_ERROR, std::string("generator: expected a Generator, got ") + g->type->name);
  if (cast(g)->device.backend != device.backend)
    return core::raise(LAMELLA_RUNTIME_ERROR, "generator: expected a Generator of device '" +
                                                  core::device_name(device) + "', where the tensor is, got one of '" +
                                                  core::device_name(cast(g)->device) + "'");
  std::lock_guard lock(mutex);
  *seed = cast(g)->state.seed;
  *offset = cast(g)->state.offset;
  cast(g)->state.offset += (n + 3) / 4 * 4;  // Philox gives four words at a time
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
