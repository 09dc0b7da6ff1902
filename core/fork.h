// Fork while other threads run: mutexes that a child finds free, and what they guard whole.
#pragma once

#include <mutex>

namespace lamella::core {

// For a mutex that lives as long as the process, within which no other one is locked: fork waits until it is free.
void free_in_children(std::mutex&);

}  // namespace lamella::core
