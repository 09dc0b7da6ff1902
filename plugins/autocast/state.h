// The state of a thread: the types of devices for which autocast is on, their dtypes, the blocks that are open, and the
// casts that are kept until the outermost block ends.
#pragma once

#include <lamella/library.h>

#include <atomic>
#include <memory>
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
  const void* block;
  Settings settings;
  bool included, excluded;
};

struct ReleaseStorage {
  void operator()(lamella_storage* s) const { api().storage_release(s); }
};

// A cast that is kept. It is valid as long as neither tensor was written, and `from` has the same elements of the same
// memory, which the entry retains, so that no other memory has its address.
struct Cast {
  TensorRef from, to;
  std::unique_ptr<lamella_storage, ReleaseStorage> memory;
  const void* data;
  std::vector<int64_t> layout;  // the sizes and the strides of `from`
  uint64_t version, made_version;
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

// Returns whether tensors of a type of device are cast, of any type for -1. Nothing is where the layer is excluded, as in
// backward.
bool is_enabled(const State* s, int32_t backend);
void set_enabled(State* s, int32_t backend, bool on);
// Opens a block: for one type of device, with all settings of another moment, or one that changes nothing.
void enter(State* s, const void* block, int32_t backend, bool on, int32_t dtype, bool cache);
void enter(State* s, const void* block, const Settings& settings);
void enter(State* s, const void* block);
// Closes the block of this name that was opened last. It may lie under others, as those of generators do: then the one
// above it restores what it would have restored.
lamella_status leave(State* s, const void* block);
// Drops the casts that are kept. They die when the state is whole again, since a finalizer may open a block.
void drop_casts(State* s);

// Makes `out` the tensor in another dtype: a cast that was kept, or a new one. An opaque tensor that has no other dtype
// stays as it is, and `out` stays empty.
lamella_status cast(lamella_frame* f, State* s, lamella_tensor* t, int32_t dtype, TensorRef* out);

void register_state(Library& m);

}  // namespace lamella::autocast
