// Note [Rounds]  Data that is longer than an area goes through it in rounds, each of which begins when all ranks have
//   come to the end of the last one. In round t a rank fills its area with piece t, reduces its part of piece t - 1 into
//   the results, and takes piece t - 2 from there: areas of two rounds are enough.
#include "group/shared_call.h"

#include <algorithm>
#include <cstring>

#include "group/kinds.h"
#include "group/parts.h"

namespace lamella::distributed {
namespace {

constexpr int64_t block = 1 << 14;  // bytes that are reduced at once: those of some ranks fit into a first-level cache

void copy_bytes(char* to, const char* from, int64_t n) {
  if (n > 0 && to != from) std::memcpy(to, from, static_cast<size_t>(n));
}

// How n elements are divided between ranks: in whole cache lines, so that no two ranks write to one.
struct Division {
  int64_t n, each;
  Division(int64_t n, int ranks) : n(n), each(((n + ranks - 1) / ranks + 63) / 64 * 64) {}
  int64_t begin(int rank) const { return std::min(each * rank, n); }
  int64_t end(int rank) const { return begin(rank + 1); }
};

}  // namespace

bool SharedCall::takes(int kind) { return kind != LAMELLA_ALL_TO_ALL && !is_message(kind); }

// Whether this rank gets the whole result.
bool SharedCall::gets_all() const {
  return (c_.kind != LAMELLA_REDUCE && c_.kind != LAMELLA_GATHER) || rank_ == c_.peer;
}

void SharedCall::write_message(uint64_t signature) {
  auto& m = *reinterpret_cast<Message*>(memory_.message());
  m.signature = signature;
  m.window = m.offset = 0;
  if (c_.kind == LAMELLA_ALL_REDUCE && c_.in == c_.out && !is_short())
    window_ = memory_.window_with(rank_, c_.out, bytes_);
  if (window_) {
    m.window = window_->id();
    m.offset = out_ - window_->of(rank_);
  }
  const bool divides = c_.kind == LAMELLA_REDUCE_SCATTER || c_.kind == LAMELLA_SCATTER;
  if (is_short() && !divides && in_) copy_bytes(m.data, in_, bytes_);
}

void SharedCall::move() {
  bool in_windows = true;
  for (int r = 0; r < size_; r++)
    in_windows = in_windows && message(r).window > 0 && message(r).window == message(0).window &&
                 message(r).offset == message(0).offset;
  switch (c_.kind) {
    case LAMELLA_BARRIER:
      return;
    case LAMELLA_REDUCE_SCATTER:
      return reduce_scatter();
    case LAMELLA_ALL_REDUCE:
    case LAMELLA_REDUCE:
      if (is_short()) return move_short();
      return in_windows ? reduce_in_window(message(0).offset) : reduce();
    default:
      return is_short() && c_.kind != LAMELLA_SCATTER ? move_short() : copy();
  }
}

// The data of all ranks are in their messages.
void SharedCall::move_short() {
  if (c_.kind == LAMELLA_BROADCAST) return copy_bytes(out_, message(c_.peer).data, bytes_);
  if (!gets_all()) return;
  std::vector<const char*> parts;
  for (int r = 0; r < size_; r++) parts.push_back(message(r).data);
  if (reduces(c_.kind)) return PartsReducer(c_.dtype, c_.reduction, job_.mean)(parts, out_, c_.count);
  for (int r = 0; r < size_; r++) copy_bytes(out_ + r * bytes_, parts[static_cast<size_t>(r)], bytes_);
}

// Calls the steps with the numbers of pieces: step s is in round t at piece t - s.
template <class... Steps>
void SharedCall::by_rounds(int64_t pieces, const Steps&... steps) {
  const auto last = pieces + static_cast<int64_t>(sizeof...(steps)) - 1;
  for (int64_t round = 0; round < last; round++) {
    int64_t piece = round;
    ((piece >= 0 && piece < pieces ? steps(piece) : void(), piece--), ...);
    if (round + 1 < last) pass_barrier_();
  }
}

void SharedCall::reduce() {
  const int64_t item = c_.itemsize, most = SharedMemory::chunk / item, pieces = (c_.count + most - 1) / most;
  const auto division = [&](int64_t piece) { return Division(std::min(most, c_.count - piece * most), size_); };
  const PartsReducer reducer(c_.dtype, c_.reduction, job_.mean);
  std::vector<const char*> parts(static_cast<size_t>(size_));
  by_rounds(
      pieces,
      [&](int64_t piece) {  // what other ranks reduce
        const Division d = division(piece);
        const char* from = in_ + piece * most * item;
        char* to = memory_.area(rank_, piece);
        copy_bytes(to, from, d.begin(rank_) * item);
        copy_bytes(to + d.end(rank_) * item, from + d.end(rank_) * item, (d.n - d.end(rank_)) * item);
      },
      [&](int64_t piece) {
        const Division d = division(piece);
        char* const results = memory_.results(piece);
        for (int64_t at = d.begin(rank_); at < d.end(rank_); at += block / item) {
          const int64_t n = std::min(block / item, d.end(rank_) - at);
          for (int r = 0; r < size_; r++)
            parts[static_cast<size_t>(r)] =
                (r == rank_ ? in_ + piece * most * item : memory_.area(r, piece)) + at * item;
          reducer(parts, results + at * item, n);
          if (gets_all()) copy_bytes(out_ + (piece * most + at) * item, results + at * item, n * item);
        }
      },
      [&](int64_t piece) {
        if (!gets_all()) return;
        const Division d = division(piece);
        const char* from = memory_.results(piece);
        char* to = out_ + piece * most * item;
        copy_bytes(to, from, d.begin(rank_) * item);
        copy_bytes(to + d.end(rank_) * item, from + d.end(rank_) * item, (d.n - d.end(rank_)) * item);
      });
}

// All tensors lie at one place of a window: each rank reduces its part there, and writes it to all.
void SharedCall::reduce_in_window(int64_t offset) {
  const int64_t item = c_.itemsize;
  const Division d(c_.count, size_);
  const PartsReducer reducer(c_.dtype, c_.reduction, job_.mean);
  std::vector<const char*> parts(static_cast<size_t>(size_));
  alignas(64) static thread_local char sum[block];
  for (int64_t at = d.begin(rank_); at < d.end(rank_); at += block / item) {
    const int64_t n = std::min(block / item, d.end(rank_) - at);
    for (int r = 0; r < size_; r++) parts[static_cast<size_t>(r)] = window_->of(r) + offset + at * item;
    reducer(parts, sum, n);
    for (int r = 0; r < size_; r++) copy_bytes(window_->of(r) + offset + at * item, sum, n * item);
  }
  pass_barrier_();
}

void SharedCall::reduce_scatter() {
  const int64_t item = c_.itemsize, most = SharedMemory::chunk / size_ / 64 * 64 / item,
                pieces = (c_.count + most - 1) / most;
  const auto length = [&](int64_t piece) { return std::min(most, c_.count - piece * most); };
  const PartsReducer reducer(c_.dtype, c_.reduction, job_.mean);
  std::vector<const char*> parts(static_cast<size_t>(size_));
  by_rounds(
      pieces,
      [&](int64_t piece) {
        for (int r = 0; r < size_; r++)
          if (r != rank_)
            copy_bytes(memory_.area(rank_, piece) + r * most * item, in_ + (r * c_.count + piece * most) * item,
                       length(piece) * item);
      },
      [&](int64_t piece) {
        for (int64_t at = 0; at < length(piece); at += block / item) {
          const int64_t n = std::min(block / item, length(piece) - at);
          for (int r = 0; r < size_; r++)
            parts[static_cast<size_t>(r)] = r == rank_ ? in_ + (rank_ * c_.count + piece * most + at) * item
                                                       : memory_.area(r, piece) + (rank_ * most + at) * item;
          reducer(parts, out_ + (piece * most + at) * item, n);
        }
      });
}

// BROADCAST, ALL_GATHER, GATHER and SCATTER.
void SharedCall::copy() {
  const bool scatters = c_.kind == LAMELLA_SCATTER, one_gives = scatters || c_.kind == LAMELLA_BROADCAST;
  const int64_t most = (scatters ? SharedMemory::chunk / size_ : SharedMemory::chunk) / 64 * 64;
  const int64_t pieces = (bytes_ + most - 1) / most;
  const auto length = [&](int64_t piece) { return std::min(most, bytes_ - piece * most); };
  const bool gives = !one_gives || rank_ == c_.peer;
  by_rounds(
      pieces,
      [&](int64_t piece) {
        if (!gives) return;
        for (int r = 0; r < (scatters ? size_ : 1); r++)
          copy_bytes(memory_.area(rank_, piece) + r * most, in_ + r * bytes_ + piece * most, length(piece));
      },
      [&](int64_t piece) {
        if (one_gives) {
          copy_bytes(out_ + piece * most, memory_.area(c_.peer, piece) + (scatters ? rank_ * most : 0), length(piece));
        } else if (gets_all()) {
          for (int r = 0; r < size_; r++)
            copy_bytes(out_ + r * bytes_ + piece * most, memory_.area(r, piece), length(piece));
        }
      });
}

}  // namespace lamella::distributed
