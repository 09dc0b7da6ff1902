// The history of memory, recorded on request: the live blocks, counts by device, and the last events.
//
// Note [Memory of the program]  Nothing is recorded before switch_memory_on() and after switch_memory_off(): the event
//   channel has no subscriber then. A block that was allocated before is unknown, and its release is not counted.
//   Blocks are the memory of storages: memory from a device's allocator, or inside the storage itself.
// Note [Who made it]  The maker of a block is the innermost record of its thread. Therefore a history with makers adds
//   an observer of all calls, steps of backward and named blocks, so that records are made. After a call, the observer
//   writes the shape and dtype of each result into its block, unless an operator inside the call has done so.
// Note [Locks of the history]  The lock is held for a few instructions, and no foreign function is called under it. The
//   stack of the host language is taken before the lock, since that may wait for the host language's lock. Kernels and
//   composites written in that language may wait for it as well, wherever they allocate memory.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/interface.h"

namespace lamella::profiler {

lamella_status switch_memory_on(uint32_t flags, uint64_t max_entries);
void switch_memory_off();
void switch_memory_in_child();  // for a child of fork, which lacks the thread that may have held the lock of switching
std::mutex& history_mutex();
uint32_t memory_flags();
void set_memory_stacks(lamella_memory_capture, lamella_memory_describe);

lamella_status memory_snapshot(lamella_memory_snapshot*);
// Returns the counts since switch_memory_on() or the last reset; zeros for a device without events.
lamella_memory_counts memory_counts(lamella_device);
void reset_memory_counts(lamella_device, uint32_t what);

// A record together with a copy of its maker's name, if that name is shorter-lived than the process.
struct MemoryRecord {
  lamella_memory_record record;
  std::shared_ptr<const std::string> maker;
};

// A live block, with the shape of the first tensor over it that an operator returned.
struct LargeBlock : MemoryRecord {
  std::vector<int64_t> shape;
};
std::vector<LargeBlock> largest_blocks(lamella_device, size_t most);
// Returns the place at which a stack was taken, as one line of text; empty if it is unknown.
std::string described_stack(uint64_t stack);

}  // namespace lamella::profiler
