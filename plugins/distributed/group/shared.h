// Memory that the ranks of a group share, if all of them run on one machine: a seat for each rank with its message, areas
// through which data moves, and windows, in which tensors lie.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "group/peers.h"
#include "store/store.h"

namespace lamella::distributed {

// A part of each rank's memory, all of one size, that every rank has mapped.
class Window {
 public:
  // Begins without memory; `map` adds that of each rank, in the order of ranks.
  Window(int64_t id, int64_t bytes) : id_(id), bytes_(bytes) {}
  ~Window();
  Window(const Window&) = delete;

  int64_t id() const { return id_; }
  int64_t bytes() const { return bytes_; }
  char* of(int rank) const { return bases_[static_cast<size_t>(rank)]; }
  // Maps the memory of the next rank, which is behind a descriptor of a process. Returns whether that worked.
  bool map(int pid, int fd);

 private:
  int64_t id_, bytes_;
  std::vector<char*> bases_;
};

class SharedMemory {
 public:
  static constexpr int64_t room = 4096 + 64;  // bytes of a message
  static constexpr int64_t chunk = 1 << 18;   // bytes of an area; those of two ranks fit into a second-level cache

  // Called by all ranks. Returns null if some rank cannot map the memory, as processes of different users.
  static std::unique_ptr<SharedMemory> open(const StoreRef& store, const std::string& key, int rank, int size,
                                            std::chrono::nanoseconds limit, const Peers& peers);

  // This rank's message, which the others read after the next barrier, until they arrive at the one after that.
  char* message() { return seat(rank_).messages[(arrivals_ + 1) % 2]; }
  const char* message(int rank) const { return seat(rank).messages[arrivals_ % 2]; }
  // Arrives at the next barrier, which ends when all ranks have arrived.
  void arrive() { seat(rank_).arrivals.store(++arrivals_, std::memory_order_release); }
  bool has_arrived(int rank) const { return seat(rank).arrivals.load(std::memory_order_acquire) >= arrivals_; }
  bool all_have_arrived() const;
  // Notes that this rank arrives at no further barrier; the first reason holds.
  enum class Absence : int { none, gave_up, closed };
  void end(Absence why) {
    Absence none = Absence::none;
    seat(rank_).absence.compare_exchange_strong(none, why);
  }
  Absence absence(int rank) const { return seat(rank).absence; }

  // The areas of two rounds, which take turns: one of each rank, and one for results.
  char* area(int rank, int64_t round) const { return areas_ + (2 * rank + round % 2) * chunk; }
  char* results(int64_t round) const { return area(size_, round); }

  // Keeps a window as long as others own it.
  void keep(const std::shared_ptr<Window>& window);
  // Returns the window that has these bytes; or null.
  std::shared_ptr<Window> window_with(int rank, const void* data, int64_t bytes);
  int64_t next_window() { return ++windows_made_; }

 private:
  struct alignas(64) Seat {
    std::atomic<uint64_t> arrivals;
    std::atomic<Absence> absence;
    alignas(64) char messages[2][room];
  };
  SharedMemory(int rank, int size) : rank_(rank), size_(size), memory_(0, bytes_of(size)) {}
  static int64_t bytes_of(int size) { return size * static_cast<int64_t>(sizeof(Seat)) + 2 * (size + 1) * chunk; }
  Seat& seat(int rank) const { return seats_[rank]; }

  int rank_, size_;
  Window memory_;
  Seat* seats_ = nullptr;
  char* areas_ = nullptr;
  uint64_t arrivals_ = 0;  // of this rank

  std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<Window>> windows_;
  int64_t windows_made_ = 0;
};

// Makes memory without a name, and returns its descriptor. Raises if there is not so much.
int new_memory(int64_t bytes);

}  // namespace lamella::distributed
