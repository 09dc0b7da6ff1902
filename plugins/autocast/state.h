// The state of a thread: the types of devices for which autocast is on, their dtypes, the blocks that are open, and the
// casts that are kept until the outermost block ends.
#pragma once

#include <lamella/library.h>

#include <atomic>
#include <unordered_map>
#include <vector>

#include "interface.h"

namespace lamella::autocast {

// Set once, at registration.
inline int32_t slot = -1;
inline uint64_t layer_bit = 0;
inline const lamella_operator* to_dtype_operator = nullptr;
inline std::atomic<const lamella_autograd*> autograd{nullptr};  // null as long as no plugin differentiates

// The settings around a block, and whether the thread included and excluded the layer there.
struct Before {
  Settings settings;
  bool included, excluded;
};

// A cast that is kept: valid as long as the tensor has the same memory and was not written.
struct Cast {
  TensorRef from, to;
  uint64_t version;
  const void* data;
};

struct State : Settings {
  int32_t nesting = 0;
  std::vector<Before> blocks;
  std::unordered_map<const lamella_tensor*, Cast> casts;
};

// Returns this thread's state; null if it has none.
inline State* state_of_thread() { return static_cast<State*>(api().thread_slot_get(slot)); }
// Returns this thread's state, which is made if there is none; null, with an error, if there is no memory.
State* own_state();

// Returns the dtype of a type of device: the one that was set, else bfloat16 on the host and float16 elsewhere.
int32_t dtype_of(const State* s, int32_t backend);

void set_enabled(State* s, int32_t backend, bool on);
// Opens a block, for one type of device, or with all settings of another moment. `leave` closes the block that was opened
// last.
void enter(State* s, int32_t backend, bool on, int32_t dtype, bool cache);
void enter(State* s, const Settings& settings);
void leave(State* s);

// Makes `out` the tensor in another dtype: a cast that was kept, or a new one. An opaque tensor that has no other dtype
// stays as it is, and `out` stays empty.
lamella_status cast(lamella_frame* f, State* s, lamella_tensor* t, int32_t dtype, TensorRef* out);

void register_state(Library& m);

}  // namespace lamella::autocast
