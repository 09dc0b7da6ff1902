// Blocks that a host's context holds, as Python's contextvars, of which each task of asyncio has its own.
//
// Note [Contexts]  Tasks take turns on one thread, and each may be within blocks of its own: what is open on the thread
//   does not say what is around a call. So the host's context holds the blocks that are open there, and a task that is
//   made within a block, or a thread that runs in a copy of the context, is within it, too. They are read only when a
//   sample or an observer in the host asks, and only while there is such a block. Every context has a list of its own,
//   without those that have ended: so a chain of tasks that each start the next keeps no more than what is open.
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
  // The samples of it, by the collectors' numbers; set before any context holds it.
  struct Sample {
    uint64_t collector, id, root;
  };
  std::vector<Sample> samples;

  explicit ContextBlock(std::shared_ptr<const std::string> n);
  void end();
};
using ContextBlocks = std::vector<std::shared_ptr<ContextBlock>>;  // the innermost last

// What this thread's context holds; null if it holds nothing. Valid while the thread stays in that context.
const ContextBlocks* context_blocks();
void set_context_reader(void* (*read)());
// The innermost open block of this thread's context; null if there is none.
const ContextBlock* innermost_block(const ContextBlock* but_not);

// A block as scope_begin's, which the host's context is to hold: *blocks is for it, and freed by context_free. Both are
// null if nobody listens.
lamella_status context_begin(const char* name, void** scope, void** blocks);
void context_free(void* blocks);

// The name of what is around the record, which an observer is told of now on this thread; null if there is nothing.
const char* parent_name(const lamella_record*);

}  // namespace lamella::profiler
