// Fork while other threads run: locks that a child finds free, and what they guard whole.
//
// Note [Order of fork]  A thread that forks takes all of these locks in one order, that in which they are taken
// anywhere
//   else: first the outermost, the registry's, within which others are locked; then those of plugins, the last that
//   came first; then the innermost ones, within which nothing is locked. In the child, which has one thread, the
//   innermost and the outermost go first, so that the others' functions may register and withdraw. Handlers that a
//   plugin gives to pthread_atfork run before all of these, and so must not take a lock that others take within the
//   registry's.
#pragma once

#include <mutex>

namespace lamella::core {

// Functions around a fork, each of which may be null: before it, and behind it in the parent and in the child.
struct AroundFork {
  void (*before)();
  void (*parent)();
  void (*child)();
};
// Around all others; once.
void around_fork_outermost(AroundFork);
// For locks within which at most innermost ones are taken. They live as long as the process.
void around_fork(AroundFork);
// For a mutex that lives as long as the process, within which no other one is locked: fork waits until it is free.
void free_in_children(std::mutex&);

}  // namespace lamella::core
