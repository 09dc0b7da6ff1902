#include "trace/buffer.h"

#include <sys/mman.h>

#include <utility>

namespace lamella::profiler {
namespace {

uint64_t hash_words(const int64_t* w, size_t n) {
  uint64_t h = n * 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < n; i++) {
    h = (h ^ static_cast<uint64_t>(w[i])) * 0xbf58476d1ce4e5b9;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

namespace {

// Pages of freed traces, kept for later ones: a program that profiles a few of each thousand steps then maps its pages
// once.
struct Spare {
  static constexpr size_t most = size_t{4} << 20;  // bytes
  std::mutex mutex;
  std::vector<std::pair<void*, size_t>> all;
  size_t bytes = 0;
};
Spare& spare() {
  static auto* s = [] {
    auto* made = new Spare;
    made->all.reserve(64);  // the list never grows beyond this, since freeing must not fail
    return made;
  }();
  return *s;
}

}  // namespace

std::mutex& pages_mutex() { return spare().mutex; }

void* new_pages(size_t bytes) {
  {
    Spare& s = spare();
    const std::lock_guard lock(s.mutex);
    const auto fits = std::find_if(s.all.begin(), s.all.end(), [=](const auto& a) { return a.second == bytes; });
    if (fits != s.all.end()) {
      void* const p = fits->first;
      s.bytes -= bytes;
      s.all.erase(fits);
      return p;
    }
  }
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void free_pages(void* p, size_t bytes) {
  {
    Spare& s = spare();
    const std::lock_guard lock(s.mutex);
    if (s.bytes + bytes <= Spare::most && s.all.size() < s.all.capacity()) {
      s.all.emplace_back(p, bytes);
      s.bytes += bytes;
      return;
    }
  }
  munmap(p, bytes);
}

void Interned::grow() {
  std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2, Slot{0, nullptr});
  old.swap(slots_);
  for (const Slot& s : old) {
    if (!s.words) continue;
    size_t at = s.hash & (slots_.size() - 1);
    while (slots_[at].words) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = s;
  }
}

const int64_t* Interned::keep(const int64_t* words, size_t n) {
  if (last_ && last_[0] == static_cast<int64_t>(n) && std::memcmp(last_ + 1, words, n * 8) == 0) return last_;
  return last_ = find(words, n);
}

const int64_t* Interned::find(const int64_t* words, size_t n) {
  if (used_ * 2 >= slots_.size()) grow();
  const uint64_t hash = hash_words(words, n);
  size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].words; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& s = slots_[at];
    if (s.hash == hash && s.words[0] == static_cast<int64_t>(n) && std::memcmp(s.words + 1, words, n * 8) == 0)
      return s.words;
  }
  if (room_ < n + 1) {
    room_ = std::max<size_t>(n + 1, 4096);
    memory_.push_back(std::make_unique<int64_t[]>(room_));
    next_ = memory_.back().get();
  }
  int64_t* own = next_;
  next_ += n + 1;
  room_ -= n + 1;
  own[0] = static_cast<int64_t>(n);
  std::memcpy(own + 1, words, n * 8);
  slots_[at] = {hash, own};
  used_++;
  return own;
}

}  // namespace lamella::profiler
