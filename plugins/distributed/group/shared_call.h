// One call whose data moves by the shared memory of a group, and not by its engine.
#pragma once

#include <functional>

#include "group/shared.h"
#include "group/work.h"

namespace lamella::distributed {

class SharedCall {
 public:
  // Each rank's message at the first barrier of a call.
  struct Message {
    uint64_t signature;                              // equal in equal calls
    int64_t window, offset;                          // where the memory of an all_reduce in place lies; 0: in no window
    alignas(64) char data[SharedMemory::room - 64];  // of a call that is short enough
  };

  static bool takes(int kind);

  SharedCall(SharedMemory& memory, const Job& job, int rank, int size, std::function<void()> pass_barrier)
      : memory_(memory),
        job_(job),
        c_(job.collective),
        rank_(rank),
        size_(size),
        pass_barrier_(std::move(pass_barrier)) {}

  // Writes this rank's message, before the first barrier.
  void write_message(uint64_t signature);
  const Message& message(int rank) const { return *reinterpret_cast<const Message*>(memory_.message(rank)); }
  // Moves the data, after the first barrier.
  void move();

 private:
  bool is_short() const { return bytes_ <= static_cast<int64_t>(sizeof(Message::data)); }
  bool gets_all() const;
  void move_short();
  void reduce();
  void reduce_in_window(int64_t offset);
  void reduce_scatter();
  void copy();
  template <class... Steps>
  void by_rounds(int64_t rounds, const Steps&... steps);

  SharedMemory& memory_;
  const Job& job_;
  const lamella_collective& c_;
  int rank_, size_;
  std::function<void()> pass_barrier_;
  int64_t bytes_ = c_.count * c_.itemsize;
  const char* in_ = static_cast<const char*>(c_.in);
  char* out_ = static_cast<char*>(c_.out);
  std::shared_ptr<Window> window_;  // which has the memory of an all_reduce in place
};

}  // namespace lamella::distributed
