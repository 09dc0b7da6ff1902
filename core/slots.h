// Slots: pointers that plugins keep on a tensor or on a storage, found by index. The core stores the pointers; the slot
// types, which the dispatcher registers, own the states that they point to.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "core/object.h"

namespace lamella::core {

// A block is an array of pointers whose first word is the number of its slots. A null block has no slots.
inline intptr_t slot_count(void* const* block) { return block ? reinterpret_cast<intptr_t>(block[0]) : 0; }

inline void* slot_in(void* const* block, intptr_t i) { return i < slot_count(block) ? block[1 + i] : nullptr; }

// Puts a state into a block that grows as far as needed, and returns the state that was there.
inline void* exchange_slot_in(void*** block, intptr_t i, void* state) {
  const intptr_t n = slot_count(*block);
  if (i >= n) {
    *block = static_cast<void**>(checked(std::realloc(*block, sizeof(void*) * (i + 2))));
    for (intptr_t k = n; k <= i; k++) (*block)[1 + k] = nullptr;
    (*block)[0] = reinterpret_cast<void*>(i + 1);
  }
  return std::exchange((*block)[1 + i], state);
}

// Destroys each state in a block, and frees the block. `first` is the index of its first slot.
inline __attribute__((cold, noinline)) void free_slots(void** block, void (*destroy)(int index, void* state),
                                                       int first = 0) {
  for (intptr_t i = 0, n = slot_count(block); i < n; i++)
    if (block[1 + i]) destroy(static_cast<int>(i) + first, block[1 + i]);
  std::free(block);
}

// Called for each slot that holds something when its tensor or its storage dies. Set by the dispatcher, which owns the
// tables of the slots' types.
extern void (*destroy_slot)(int index, void* state);
extern void (*destroy_storage_slot)(int index, void* state);

}  // namespace lamella::core
