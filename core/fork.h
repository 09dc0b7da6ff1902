// Forking while other threads run: the locks that are added here are taken around the fork, so that the child finds
// them free and their data consistent.
//
// Note [Order of fork]  A thread that forks takes all of these locks in the order in which they are taken elsewhere:
//   first the outermost one, the registry's, within which others are locked; then those of plugins, the last registered
//   one first; then the innermost ones, within which nothing is locked. In the child, which has one thread, the
//   innermost and the outermost locks are released first, so that the others' functions may register and withdraw.
//   Handlers that a plugin gives to pthread_atfork itself run before all of these, and so must not take a lock that
//   other code takes within the registry's.
#pragma once

#include <mutex>

namespace lamella::core {

// Functions that run before a fork, and after it in the parent and in the child. Each of them may be null.
struct AroundFork {
  void (*before)();
  void (*parent)();
  void (*child)();
};
// Sets the functions that run around all others. Called once.
void around_fork_outermost(AroundFork);
// Adds functions for a lock within which only innermost locks are taken. They cannot be removed.
void around_fork(AroundFork);
// Adds an innermost mutex, which is never destroyed and within which no other lock is taken. fork() waits until the
// mutex is free.
void free_in_children(std::mutex&);
// Makes such a mutex.
std::mutex& new_innermost_mutex();

}  // namespace lamella::core
