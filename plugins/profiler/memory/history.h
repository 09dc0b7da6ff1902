// What is known of memory while somebody has asked for it: the blocks that are alive, counts by device, and the last
// events.
//
// Note [Memory of the program]  Nothing is followed until switch_on(), and nothing after switch_off(): the event
// channel
//   has no subscriber then. A block that was there before is unknown, and so is its end. Blocks are those of storages:
//   memory that a tensor looks at and that came from a device's allocator, or lies in the storage itself.
// Note [Who made it]  The operator of a block is the innermost record on its thread, so with a history there is an
//   observer of all calls and steps of backward, which does nothing but have records made. Behind a call it writes the
//   shape and dtype of each result to the block under it, unless an operator inside has done so.
// Note [Locks of the history]  The lock is held for a few instructions, and no foreign function is called under it. The
//   stack of the host's language is taken before, which may wait for that language's lock: so do kernels and composites
//   in that language, wherever memory is asked for.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/interface.h"

namespace lamella::profiler {

lamella_status switch_memory_on(uint32_t flags, uint64_t max_entries);
void switch_memory_off();
void switch_memory_in_child();  // of fork, where a thread that is switching is not there any more
std::mutex& history_mutex();
uint32_t memory_flags();
void set_memory_stacks(lamella_memory_capture, lamella_memory_describe);

lamella_status each_memory_block(lamella_memory_visit, void* context);
lamella_status each_memory_event(lamella_memory_visit, void* context, uint64_t* dropped);
// Since switch_on(), or since the counts were reset. All zero for a device of which nothing was heard.
lamella_memory_counts memory_counts(lamella_device);
void reset_memory_counts(lamella_device, uint32_t what);

// A record that keeps its maker's name, unless that lives as long as the process.
struct MemoryRecord {
  lamella_memory_record record;
  std::shared_ptr<const std::string> maker;
};

// The largest blocks of a device that are alive, the largest first.
struct LargeBlock : MemoryRecord {
  std::vector<int64_t> shape;
};
std::vector<LargeBlock> largest_blocks(lamella_device, size_t most);
// Where a stack was taken, as text of a line; empty if it is not known.
std::string described_stack(uint64_t stack);

}  // namespace lamella::profiler
