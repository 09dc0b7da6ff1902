// Buffer: the part of a trace that one thread records. Only that thread writes; other threads may read at the same
// time, and see what has been published. Memory is allocated in chunks that never move.
#pragma once

#include <lamella/profiler.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lamella::profiler {

// Allocates memory whose pages are mapped in advance: page faults at the first write to each page would take longer
// than the writes themselves. Returns null on failure.
void* new_pages(size_t bytes);
void free_pages(void*, size_t bytes);
std::mutex& pages_mutex();

// A list that grows at its end and has one writer. The size of its chunks doubles up to `most`, so it suits few items
// as well as many.
template <class T>
class Chunks {
 public:
  Chunks() = default;
  Chunks(const Chunks&) = delete;
  ~Chunks() {
    for (Chunk* c = first_.load(); c;) {
      Chunk* next = c->next.load();
      const size_t bytes = sizeof(Chunk) + sizeof(T) * c->room;
      c->~Chunk();
      free_pages(c, bytes);
      c = next;
    }
  }
  // Returns the place after the last item; publish() makes it visible to readers. Null if memory is lacking.
  T* place() {
    if (__builtin_expect(next_ == end_, 0) && !grow()) return nullptr;
    return next_;
  }
  void publish() {
    next_++;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  int64_t size() const { return count_.load(std::memory_order_acquire); }
  template <class Visit>
  void each(Visit visit) const {
    int64_t left = size();
    for (const Chunk* c = first_.load(std::memory_order_acquire); c && left > 0;
         c = c->next.load(std::memory_order_acquire)) {
      const T* items = items_of(c);
      for (size_t i = 0; i < c->room && left > 0; i++, left--) visit(items[i]);
    }
  }

 private:
  static constexpr size_t fewest = 256, most = 4096;
  struct Chunk {
    size_t room;
    std::atomic<Chunk*> next{nullptr};
    explicit Chunk(size_t n) : room(n) {}
  };
  static T* items_of(const Chunk* c) { return reinterpret_cast<T*>(const_cast<Chunk*>(c) + 1); }
  __attribute__((noinline)) bool grow() {
    const size_t room = last_ ? std::min(last_->room * 2, most) : fewest;
    void* memory = new_pages(sizeof(Chunk) + sizeof(T) * room);
    if (!memory) return false;
    auto* c = new (memory) Chunk(room);
    (last_ ? last_->next : first_).store(c, std::memory_order_release);
    last_ = c;
    next_ = items_of(c);
    end_ = next_ + room;
    return true;
  }
  std::atomic<Chunk*> first_{nullptr};
  Chunk* last_ = nullptr;
  T *next_ = nullptr, *end_ = nullptr;
  std::atomic<int64_t> count_{0};
};

// Stores lists of words (shapes, stacks), each once, since a program repeats a few of them. keep() returns a copy, the
// length followed by the words, which lives as long as this object.
class Interned {
 public:
  const int64_t* keep(const int64_t* words, size_t n);

 private:
  struct Slot {
    uint64_t hash;
    const int64_t* words;
  };
  void grow();
  const int64_t* find(const int64_t* words, size_t n);
  const int64_t* last_ = nullptr;  // the last result, which is often repeated
  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<int64_t[]>> memory_;
  size_t room_ = 0;  // free words in the last piece of memory
  int64_t* next_ = nullptr;
};

// The atomic members are written at the end of the event as well, when readers may already see it.
struct Event {
  const void* what;           // the operator's description; for other scopes a text
  uint64_t begin;             // ticks
  std::atomic<uint64_t> end;  // 0 while it is open
  std::atomic<uint64_t> sequence;
  const int64_t* shapes;  // see Note [Shapes]; or null
  const int64_t* stack;   // the host's numbers of the frames, innermost first; or null
  uint32_t forward_thread;
  uint8_t scope;
  std::atomic<uint8_t> failed;
  std::atomic<int16_t> backend;
};
static_assert(sizeof(Event) == 56);

// Memory that was allocated, or, if `bytes` is negative, released.
struct MemoryEvent {
  uint64_t time;
  const void* data;
  int64_t bytes;
  lamella_device device;
};

// Note [Shapes]  Each argument is one word, `tag | dtype << 8 | number of dimensions << 16`, followed for a tensor by
//   its sizes. A list of tensors is `tag | length << 16`, followed by its tensors.
struct Buffer {
  explicit Buffer(uint64_t t) : thread(t) {}
  const uint64_t thread;
  Chunks<Event> events;
  Chunks<MemoryEvent> memory;
  Interned shapes, stacks;

  // Returns a copy of a text; the copy lives as long as the buffer.
  const char* keep(std::string_view text) {
    const auto found = texts_.find(text);
    if (found != texts_.end()) return found->second->c_str();
    auto own = std::make_unique<std::string>(text);
    const std::string_view key = *own;
    return texts_.emplace(key, std::move(own)).first->second->c_str();
  }

 private:
  std::unordered_map<std::string_view, std::unique_ptr<std::string>> texts_;
};

}  // namespace lamella::profiler
