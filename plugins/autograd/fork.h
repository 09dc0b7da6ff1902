// The plugin's locks in a child of fork, which has one thread: each is free there, also if another thread of the parent
// held it at the fork.
#pragma once

#include <mutex>
#include <new>

namespace lamella::autograd {

// Makes a mutex within which no other lock is taken. fork() waits until it is free, so that the child finds what it
// guards consistent.
std::mutex& new_innermost_mutex();

// Adds a place that `renew` makes anew in each child.
void renew_in_children(void* place, void (*renew)(void* place));

// Makes an object of locks for which fork() does not wait, since their holders run operators, and may wait for the
// host language's lock while the thread that forks has it. The child gets a new object in its place.
template <class Locks>
Locks& new_locks() {
  auto* made = new Locks;
  renew_in_children(made, [](void* place) { new (place) Locks; });
  return *made;
}

}  // namespace lamella::autograd
