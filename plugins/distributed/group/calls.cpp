// The steps of a call: Group compares it between ranks, and then submits it to the engine, or reduces by parts that it adds
// up itself.
#include <lamella/operators.h>

#include <cstring>

#include "group/group.h"
#include "group/kinds.h"
#include "group/parts.h"

namespace lamella::distributed {
namespace {

bool reduces_itself(const lamella_process_group& engine, int32_t dtype) {
  return dtype < 64 && (engine.reduces >> dtype & 1);
}

// Bytes, for collectives of the plugin's own.
lamella_collective bytes(int kind, const void* in, void* out, int64_t count) {
  lamella_collective c{};
  c.size = sizeof c;
  c.kind = kind;
  c.dtype = LAMELLA_UINT8;
  c.itemsize = 1;
  c.in = in;
  c.out = out;
  c.count = count;
  return c;
}

lamella_collective with_memory(lamella_collective c, int kind, const Tensor& in, const Tensor& out, int64_t count) {
  c.kind = kind;
  c.in = in.defined() ? in.data_ptr() : nullptr;
  c.out = out.defined() ? out.data_ptr() : nullptr;
  c.count = count;
  return c;
}

}  // namespace

std::string Group::describe(const Job& job) const {
  const lamella_collective& c = job.collective;
  std::string text = kind_name(c.kind);
  text += "(";
  if (c.kind != LAMELLA_BARRIER) {
    text += api().dtype_info(c.dtype)->name;
    text += "[";
    for (int i = 0; i < job.ndim; i++) text += (i ? ", " : "") + std::to_string(job.shape[i]);
    text += "]";
  }
  if (reduces(c.kind)) text += std::string(", ") + reduction_name(job);
  if (has_root(c.kind)) text += ", root " + std::to_string(c.peer);
  if (c.kind == LAMELLA_SEND) text += ", to " + std::to_string(c.peer) + ", tag " + std::to_string(c.tag);
  if (c.kind == LAMELLA_RECV)
    text += ", from " + (c.peer < 0 ? "any" : std::to_string(c.peer)) + ", tag " + std::to_string(c.tag);
  return text + ")";
}

// Carries a call out, when it was compared.
int Group::move(Job& job) {
  lamella_collective& c = job.collective;
  c.in_counts = job.gives.data();
  c.out_counts = job.gets.data();
  int sender = -1;
  if (reduces(c.kind) && (ordered_ || !reduces_itself(engine_, c.dtype))) {
    reduce_in_order(job);
  } else {
    sender = step(job, c, Phase::call);
    if (job.mean && job.output.defined()) job.output.div_(Scalar(size_));
  }
  if (job.target.defined()) job.target.copy_(job.output);
  return sender;
}

// Returns a number that the same calls of all ranks have in common.
uint64_t Group::signature(const Job& job) const {
  const lamella_collective& c = job.collective;
  const bool rows = c.kind == LAMELLA_ALL_TO_ALL;  // whose first sizes may differ
  uint64_t hash = 14695981039346656037u;           // FNV-1a, by words
  const auto add = [&](int64_t word) { hash = (hash ^ static_cast<uint64_t>(word)) * 1099511628211u; };
  for (const int64_t word : {int64_t{c.kind}, int64_t{c.dtype}, int64_t{reduces(c.kind) ? c.reduction : 0},
                             int64_t{has_root(c.kind) ? c.peer : 0}, int64_t{job.mean}, int64_t{job.ndim}})
    add(word);
  for (int i = rows; i < job.ndim; i++) add(job.shape[i]);
  return hash;
}

// Returns n bytes of each rank.
std::string Group::gather(Job& job, const void* own, int64_t n) {
  if (shared_ && n <= SharedMemory::room) {
    std::memcpy(shared_->message(), own, static_cast<size_t>(n));
    pass_barrier(job);
    std::string all;
    for (int r = 0; r < size_; r++) all.append(shared_->message(r), static_cast<size_t>(n));
    return all;
  }
  const Tensor all = lamella::empty({(size_ + 1) * n}, kByte);
  job.between.push_back(all);
  auto* data = static_cast<char*>(all.data_ptr());
  std::memcpy(data, own, static_cast<size_t>(n));
  step(job, bytes(LAMELLA_ALL_GATHER, data, data + n, n), Phase::comparison);
  job.between.clear();
  return std::string(data + n, static_cast<size_t>(size_ * n));
}

// Raises an error that names two calls unless all ranks make the same call.
void Group::compare(Job& job) {
  const uint64_t own_hash = signature(job);
  const std::string hashes = gather(job, &own_hash, sizeof own_hash);
  for (int r = 1; r < size_; r++)
    if (std::memcmp(&hashes[0], &hashes[static_cast<size_t>(r) * sizeof own_hash], sizeof own_hash)) differ(job, r);
  if (job.collective.kind != LAMELLA_ALL_TO_ALL) return;
  // A rank's entry has its counts for each rank first, and then its counts from each.
  std::vector<int64_t> own(job.gives);
  own.insert(own.end(), job.gets.begin(), job.gets.end());
  const size_t n = own.size() * sizeof(int64_t);
  const std::string counts = gather(job, own.data(), static_cast<int64_t>(n));
  const auto count = [&](int r, int at) {
    int64_t value = 0;
    std::memcpy(&value, &counts[static_cast<size_t>(r) * n + static_cast<size_t>(at) * sizeof value], sizeof value);
    return value;
  };
  for (int from = 0; from < size_; from++)
    for (int to = 0; to < size_; to++)
      if (count(from, to) != count(to, size_ + from))
        raise_backend(detail::text("call ", number_.load(), " of group '", name_, "', all_to_all: rank ", from,
                                   " gives ", count(from, to), " elements to rank ", to, ", which takes ",
                                   count(to, size_ + from), "; no data has moved"));
}

// Raises the error of ranks whose calls differ: rank 0's, and another one's.
void Group::differ(Job& job, int other) {
  constexpr int64_t room = 256;
  std::string own = describe(job);
  own.resize(room - 1);
  own += '\0';
  const std::string texts = gather(job, own.data(), room);
  const auto call = [&](int r) { return std::string(&texts[static_cast<size_t>(r * room)]); };
  raise_backend(detail::text("call ", number_.load(), " of group '", name_,
                             "': the ranks' calls differ, and no data has moved: rank 0 calls ", call(0), ", and rank ",
                             other, " calls ", call(other),
                             "; all ranks of a group must make the same calls in the same order"));
}

// Reduces by moving parts and adding them here in the order of ranks, so that an element's bits depend on its values and
// the number of ranks alone. Narrow floats are added up in float32.
void Group::reduce_in_order(Job& job) {
  const lamella_collective& c = job.collective;
  const bool scatters = c.kind == LAMELLA_REDUCE_SCATTER;
  const int64_t part = scatters ? c.count : (c.count + size_ - 1) / size_;
  const auto empty_like = [&](int64_t n) { return job.between.emplace_back(lamella::empty({n}, job.input.dtype())); };
  Tensor in = job.input.reshape({-1});
  if (in.numel() != part * size_) {  // the last part is filled up
    const Tensor padded = empty_like(part * size_);
    padded.zero_();
    padded.narrow(0, 0, in.numel()).copy_(in);
    in = padded;
  }
  const Tensor parts = empty_like(part * size_);
  const std::vector<int64_t> counts(static_cast<size_t>(size_), part);
  lamella_collective move = with_memory(c, LAMELLA_ALL_TO_ALL, in, parts, part);
  move.in_counts = move.out_counts = counts.data();
  step(job, move, Phase::call);

  std::vector<Tensor> of_ranks;
  for (int r = 0; r < size_; r++) of_ranks.push_back(parts.narrow(0, r * part, part));
  const Tensor sum = job.between.emplace_back(reduced(of_ranks, c.reduction, job.mean));
  if (scatters) {
    job.output.reshape({-1}).copy_(sum);
  } else {
    const bool gets = c.kind == LAMELLA_ALL_REDUCE || rank_ == c.peer;
    const Tensor all = gets ? empty_like(part * size_) : Tensor();
    const int kind = c.kind == LAMELLA_REDUCE ? LAMELLA_GATHER : LAMELLA_ALL_GATHER;
    step(job, with_memory(c, kind, sum, all, part), Phase::call);
    if (gets) job.output.reshape({-1}).copy_(all.narrow(0, 0, c.count));
  }
  job.between.clear();
}

}  // namespace lamella::distributed
