// The flight recorder: the last calls of this process in a mapped file, which is there after any end of the process.
// plugins/distributed/flight.py reads it, and has the same layout.
#pragma once

#include <atomic>
#include <string>

#include "group/work.h"

namespace lamella::distributed {

enum class CallState : uint32_t { none, queued, running, done, failed };

class Recorder {
 public:
  static constexpr int64_t entries = 4096;

  using Where = int32_t (*)(char* file, int32_t room, int32_t* line);

  // Begins to record in a new file. Raises if there is no room for it. `where` (nullable) says which line of the host's
  // program calls on this thread; it returns 0 if it does not know.
  static void open(const std::string& path, int rank, int size, Where where);
  static bool on() { return file_.load(std::memory_order_acquire) != nullptr; }
  // Finds out where the program makes a call, before other code lets go of the host's lock.
  static void locate(Job& job);
  // Notes a call; returns its number in the file, or -1 if nothing is recorded.
  static int64_t note(const Job& job, const std::string& group, int64_t number, int rank, int size);
  static void set(int64_t entry, CallState state);

 private:
  struct Header {
    char magic[8];
    int32_t rank, size, pid, entry_bytes;
    int64_t capacity;
    std::atomic<int64_t> written;
    char host[64];
  };
  struct Entry {
    std::atomic<uint32_t> state;
    int32_t kind, reduction, reserved, peer, ndim, rank, size, line, mean;
    int64_t number, shape[8], queued, ended;  // times in nanoseconds since 1970
    char group[32], dtype[16], file[80];
  };
  struct File {
    Header header;
    alignas(64) Entry ring[entries];
  };
  static_assert(sizeof(Header) == 104 && sizeof(Entry) == 256);
  static std::atomic<File*> file_;
  static std::atomic<Where> where_;
};

}  // namespace lamella::distributed
