// Objects that a thread keeps, and leaves to other threads when it ends. Handles of libraries are slow to make, and
// cannot be destroyed at a thread's end, since the driver may have shut down before.
#pragma once

#include <deque>
#include <mutex>

namespace cuda {

// Each type T has one thread_local Kept. The addresses of its objects stay the same.
template <class T>
class Kept {
 public:
  ~Kept() {
    std::lock_guard lock(spare().mutex);
    try {
      for (const T& each : mine_) spare().all.push_back(each);
    } catch (const std::bad_alloc&) {  // the objects leak, as they would without this class
    }
  }
  // Returns an object that fits, of this thread or of a thread that has ended; null if there is none.
  template <class Fits>
  T* find(Fits fits) {
    for (T& each : mine_)
      if (fits(each)) return &each;
    std::lock_guard lock(spare().mutex);
    for (auto at = spare().all.begin(); at != spare().all.end(); ++at)
      if (fits(*at)) {
        T* found = add(*at);
        spare().all.erase(at);
        return found;
      }
    return nullptr;
  }
  T* add(const T& each) { return &mine_.emplace_back(each); }

 private:
  struct Spare {
    std::mutex mutex;
    std::deque<T> all;
  };
  static Spare& spare() {
    static auto* all = new Spare;
    return *all;
  }
  std::deque<T> mine_;
};

}  // namespace cuda
