// Generator: a seed and a position in Philox's stream. A kernel reserves a range under the lock and computes
// element i from offset + i alone, so values do not depend on backends or the number of threads.
#pragma once

#include <lamella/c_api.h>

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
void seed_all(uint64_t seed);  // what default_generator gives for each device, also for devices to come

// A generator of a thread's own, in place of the default one of its device; null for none. Takes a reference, and gives
// the one before with its reference. It is part of what capture_thread() captures.
lamella_object* exchange_own_generator(lamella_device device, lamella_object* g);

lamella_status generator_reserve(lamella_object* g, lamella_device device, uint64_t n, uint64_t* seed,
                                 uint64_t* offset);

}  // namespace lamella::dispatcher
