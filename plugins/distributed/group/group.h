// A group of processes: an engine's group, and what stands above every engine. The order of calls, time limits, the
// comparison of calls between ranks, and reductions that the engine lacks.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <thread>

#include "group/peers.h"
#include "group/shared.h"
#include "group/work.h"
#include "store/store.h"

namespace lamella::distributed {

class Group {
 public:
  Group(const lamella_group_options& options, const lamella_process_group& engine, StoreRef store,
        std::shared_ptr<Peers> peers);
  ~Group();
  Group(const Group&) = delete;

  // Returns a group by its name; raises if there is none.
  static std::shared_ptr<Group> find(std::string_view name);
  static void open(const lamella_group_options& options, lamella_store* store);
  static void close(const std::string& name);

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }
  bool shares_memory() const { return shared_ != nullptr; }

  // Carries out a collective on this thread, after those that were started before. Returns the sender of a receipt.
  int run(Job job);
  // Starts a collective, which another thread carries out.
  WorkRef start(Job job);
  // Takes no more calls from now on; the ranks that wait for this one get an error.
  void give_up(const std::string& why);
  // Makes memory of this size in each rank, which all of them map, and returns this rank's as a tensor of bytes. Called by
  // all ranks. In a group of several machines the memory is the rank's own.
  Tensor window(int64_t bytes);

 private:
  // What the engine carries out now.
  struct Flight {
    WorkRef message;  // of a message that was started; else empty
    void* work = nullptr;
    Clock::time_point begin = Clock::now();
    int culprit = -1;  // a rank that has ended, and is waited for until then
    Clock::time_point until{};
  };
  enum class Phase { comparison, call };

  // Waits until all ranks of a part have come, so that the engine's function, which has no time limit, waits for none.
  void meet();
  void note(Job& job);
  int carry_out(Job& job);
  int carry_out_noted(Job& job);
  int move(Job& job);
  int step(const Job& job, const lamella_collective& c, Phase phase);
  // Returns whether a flight has ended; raises the engine's error.
  bool look_at(const Flight& flight, const Job& job, int& sender);
  // Raises an error if a flight can come to no end.
  void watch(Flight& flight, const Job& job, Phase phase);
  void move_messages();
  std::chrono::nanoseconds dense_looks() const;
  void between_looks(const Job& job);
  // Calls a function for which the other ranks wait: if it fails, so does the group.
  template <class F>
  auto or_break_down(const Job& job, F&& f) {
    try {
      return f();
    } catch (const std::exception& e) {
      break_down(job, describe(job) + place() + e.what());
      throw;
    }
  }
  // Begins this thread's turn in the order of collectives; returns false if others are under way.
  bool begin_turn();
  struct EndOfTurn {
    Group& group;
    ~EndOfTurn();
  };
  uint64_t signature(const Job& job) const;
  std::string gather(Job& job, const void* own, int64_t n);
  void compare(Job& job);
  [[noreturn]] void differ(Job& job, int other);
  void reduce_in_order(Job& job);

  // Carries a call out by shared memory; returns false, without a barrier, if the engine has to.
  bool move_here(Job& job);
  // Arrives at the next barrier of the shared memory, and waits for the other ranks.
  void pass_barrier(const Job& job);
  Tensor make_window(int64_t bytes);
  void watch_here(const Job& job, Clock::time_point begin);
  std::string describe(const Job& job) const;
  std::string place() const;
  void check_usable();
  void break_down(const Job& job, const std::string& message);
  [[noreturn]] void fail(const Job& job, const std::string& why);
  void serve();
  void stop();

  std::string name_;
  int rank_, size_;
  std::chrono::nanoseconds limit_;
  bool compares_, ordered_, shares_, is_world_;
  const lamella_process_group& engine_;
  StoreRef store_;  // of the group of all processes
  std::shared_ptr<Peers> peers_;
  std::unique_ptr<SharedMemory> shared_;  // null: the engine moves all data
  void* handle_ = nullptr;
  std::atomic<int64_t> number_{0};  // of collectives
  std::atomic<int64_t> noted_{0};   // of those that are in the flight recorder
  std::atomic<bool> stops_{false};
  std::list<Flight> flights_;  // messages; the group's thread alone uses it

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<WorkRef> queue_;   // collectives that were started
  std::list<Flight> messages_;  // messages that were started, on their way to the thread
  bool busy_ = false;           // a collective is carried out
  bool disorder_ = false;       // the engine may still use memory of calls that failed
  std::string broken_;          // why the group takes no more calls
  std::thread thread_;          // begins with the first call that is started
};

}  // namespace lamella::distributed
