#include "trace/buffer.h"

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
  if (used_ * 2 >= slots_.size()) grow();
  const uint64_t hash = hash_words(words, n);
  size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].words; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& s = slots_[at];
    if (s.hash == hash && s.words[0] == static_cast<int64_t>(n) && std::memcmp(s.words + 1, words, n * 8) == 0)
      return s.words;
  }
  if (left_ < n + 1) {
    left_ = std::max<size_t>(n + 1, 4096);
    memory_.push_back(std::make_unique<int64_t[]>(left_));
    next_ = memory_.back().get();
  }
  int64_t* own = next_;
  next_ += n + 1;
  left_ -= n + 1;
  own[0] = static_cast<int64_t>(n);
  std::memcpy(own + 1, words, n * 8);
  slots_[at] = {hash, own};
  used_++;
  return own;
}

}  // namespace lamella::profiler
