// The other processes of a group. A process of this machine that ends is seen at once, by its descriptor, so that those
// which wait for it need not wait until their time limit.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/store.h"

namespace lamella::distributed {

// Identifies the machine and its table of processes: numbers of processes are compared only within one.
std::string machine();

class Peers {
 public:
  // left: it has closed its groups. lost: it has ended, and the store that would say how has gone, perhaps with it.
  enum class State { there, left, lost, ended };

  // Publishes this process, and finds the others of the group. Called by all ranks.
  Peers(const StoreRef& store, int rank, int size, std::chrono::nanoseconds limit);
  // Some of another group's ranks.
  Peers(const Peers& all, const int32_t* ranks, int n);
  ~Peers();
  Peers& operator=(const Peers&) = delete;

  // Returns the states of all ranks. Processes of other machines are always there.
  std::vector<State> look();
  std::string describe(int rank) const;
  // Whether all run on this machine, so that numbers of processes identify them.
  bool on_one_machine() const;
  int pid(int rank) const { return peers_.at(static_cast<size_t>(rank)).pid; }
  // Publishes that this process closes its groups.
  void leave(int rank) const;

 private:
  struct Peer {
    int pid = 0, fd = -1;  // fd -1: this process, one of another machine, or one whose end was seen
    int world_rank = 0;
    bool here = false;  // on this machine
    std::string host;
    State state = State::there;
  };
  StoreRef store_;
  mutable std::mutex mutex_;
  Clock::time_point asked_ = Clock::now();  // when the store was asked which ranks have left
  std::vector<Peer> peers_;
};

}  // namespace lamella::distributed
