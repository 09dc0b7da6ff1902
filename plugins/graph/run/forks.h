// Locks of the plugin that a fork of the process leaves free in the child.
#pragma once

#include <mutex>

#include <lamella/library.h>

namespace lamella::graph {

// A mutex of the whole plugin. A thread that forks takes it first, for a limited time: its holder may wait for a lock
// that the thread has. If the time is over, the child gets a new mutex, and finds what it guards as the holder left it.
// Objects are global, so that all are there before the first fork.
class ForkMutex : public std::mutex {
 public:
  ForkMutex();
};

void register_forks(Library& m);

}  // namespace lamella::graph
