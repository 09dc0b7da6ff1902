// ContextBlock: a named block that is open in a host's context, such as Python's contextvars, of which each asyncio
// task has a copy.
//
// Note [Contexts]  Tasks take turns on one thread, and each may be inside blocks of its own; so the blocks that are
//   open on the thread do not tell which of them surround a call. Therefore the host's context holds the blocks that
//   are open in it; a task that is started inside a block, or a thread that runs in a copy of the context, is inside
//   the block as well. The context is read only when a sample or an observer of the host needs it, and only while such
//   a block is open. Each context has its own list, made without the blocks that have ended: so a chain of tasks that
//   each start the next one keeps only open blocks alive.
#pragma once

#include <lamella/profiler.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace lamella::profiler {

struct ContextBlock {
  const std::shared_ptr<const std::string> name;
  std::atomic<bool> ended{false};
  // The block's samples, one for each collector; set before a context holds the block.
  struct Sample {
    uint64_t collector, id, root;
  };
  std::vector<Sample> samples;

  explicit ContextBlock(std::shared_ptr<const std::string> n);
  void end();
};
using ContextBlocks = std::vector<std::shared_ptr<ContextBlock>>;  // innermost last

// Returns the blocks of this thread's context, or null. Valid while the thread stays in that context.
const ContextBlocks* context_blocks();
void set_context_reader(void* (*read)());
// Returns the innermost open block of this thread's context other than `but_not`, or null.
const ContextBlock* innermost_block(const ContextBlock* but_not);

// Begins a block as scope_begin() does, for a host's context: the host puts *blocks into its context, and frees it by
// context_free(). Both results are null if no observer needs the block.
lamella_status context_begin(const char* name, void** scope, void** blocks);
void context_free(void* blocks);

// Returns the name of the innermost call or block around the record for which an observer is called now on this
// thread; null if there is none.
const char* parent_name(const lamella_record*);

}  // namespace lamella::profiler
