// Generator: a seed and a position in Philox's stream. A kernel reserves a range under the lock and computes
// element i from offset + i alone, so values do not depend on backends or the number of threads.
#pragma once

#include <lattis/c_api.h>

namespace lattis::dispatcher {

struct GeneratorState {
  uint64_t seed, offset;
};

lattis_object* new_generator(lattis_device device, uint64_t seed);
lattis_object* default_generator(lattis_device device);  // borrowed; one a device
bool is_generator(const lattis_object* o);

GeneratorState generator_state(lattis_object* g);
void generator_set(lattis_object* g, GeneratorState s);
lattis_device generator_device(lattis_object* g);
void seed_all(uint64_t seed);  // every default generator, also of devices to come

lattis_status generator_reserve(lattis_object* g, lattis_device device, uint64_t n, uint64_t* seed, uint64_t* offset);

}  // namespace lattis::dispatcher
