// Generator: a seed and a position in Philox's stream. A kernel reserves a range under the lock and computes
// element i from offset + i alone, so values do not depend on backends or the number of threads.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <memory>
#include <vector>

#include "core/object.h"

namespace lamella::dispatcher {

struct GeneratorState {
  uint64_t seed, offset;
};

lamella_object* new_generator(lamella_device device, uint64_t seed);
lamella_object* default_generator(lamella_device device);  // borrowed: the calling thread's own, or the device's
bool is_generator(const lamella_object* o);

GeneratorState generator_state(lamella_object* g);
void generator_set(lamella_object* g, GeneratorState s);
lamella_device generator_device(lamella_object* g);
// Seeds the generator that default_generator() returns for each device, also for devices registered later.
void seed_all(uint64_t seed);

// A block of code in which a thread draws from a generator of its own instead of the device's default one. Blocks need
// not end in the order in which they began, nor on their thread: for each device, the block that began last, of those
// that have not ended, counts. capture_thread() copies them into blocks for the same generators, which do not end.
struct GeneratorBlock {
  lamella_device device;
  core::Ref<lamella_object> generator;
  std::atomic<bool> ended{false};
};
using GeneratorBlocks = std::vector<std::shared_ptr<GeneratorBlock>>;

void install_generators();  // makes the thread slot of the blocks; called once, at start-up

std::shared_ptr<GeneratorBlock> begin_generator_block(lamella_object* generator);  // on the calling thread
void end_generator_block(GeneratorBlock&);                                         // on any thread

// Takes a block and those that began after it off the calling thread. put_generator_blocks_back() makes them count
// again on the thread that calls it.
GeneratorBlocks set_generator_blocks_aside(const GeneratorBlock& first);
void put_generator_blocks_back(const GeneratorBlocks&);

lamella_status generator_reserve(lamella_object* g, lamella_device device, uint64_t n, uint64_t* seed,
                                 uint64_t* offset);

}  // namespace lamella::dispatcher
