// The calls of a group whose ranks share memory: its barriers, and windows.
#include <immintrin.h>
#include <unistd.h>

#include <cstring>

#include "group/group.h"
#include "group/kinds.h"
#include "group/pace.h"
#include "group/shared_call.h"

namespace lamella::distributed {

bool Group::move_here(Job& job) {
  if (!shared_ || !SharedCall::takes(job.collective.kind)) return false;
  SharedCall call(*shared_, job, rank_, size_, [&] { pass_barrier(job); });
  call.write_message(compares_ ? signature(job) : 0);
  pass_barrier(job);
  for (int r = 1; r < size_; r++)
    if (call.message(r).signature != call.message(0).signature) differ(job, r);
  or_break_down(job, [&] {
    call.move();
    if (job.target.defined()) job.target.copy_(job.output);
  });
  return true;
}

void Group::pass_barrier(const Job& job) {
  shared_->arrive();
  for (int i = 0; i < 200; i++) {  // some microseconds
    if (shared_->all_have_arrived()) return;
    _mm_pause();
  }
  const auto begin = Clock::now();
  Pace pace(dense_looks());
  while (!shared_->all_have_arrived()) {
    if (!pace.pause()) continue;
    watch_here(job, begin);
    between_looks(job);
  }
}

// Raises an error if a rank that has not arrived will not do so.
void Group::watch_here(const Job& job, Clock::time_point begin) {
  if (stops_) fail(job, "the group was closed");
  const bool late = Clock::now() - begin > limit_;
  const auto states = peers_->look();
  for (int r = 0; r < size_; r++) {
    const SharedMemory::Absence absence = shared_->absence(r);
    const bool gone = states[static_cast<size_t>(r)] != Peers::State::there || absence == SharedMemory::Absence::closed;
    if (shared_->has_arrived(r)) continue;  // looked at last: it may have arrived before it ended
    if (absence == SharedMemory::Absence::gave_up)
      fail(job, peers_->describe(r) + " has given up an earlier call of the group");
    if (gone) fail(job, peers_->describe(r) + " has ended, or has left the group");
    if (late)
      fail(job, detail::text("timed out: ", limit_.count() / 1000000, " ms have passed, and ", peers_->describe(r),
                             " has not joined"));
  }
}

Tensor Group::window(int64_t bytes) {
  LAMELLA_CHECK_VALUE(bytes >= 0, "argument 'bytes': must not be negative, got ", bytes);
  if (!shared_) return lamella::zeros({bytes}, kByte);
  check_usable();
  Tensor made;
  without_host_lock([&] { made = make_window(bytes); });
  return made;
}

Tensor Group::make_window(int64_t bytes) {
  while (!begin_turn()) {
    lamella::check(api().check_interrupt());
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return !busy_ && queue_.empty(); });
  }
  const EndOfTurn end{*this};
  Job job;
  job.collective.size = sizeof job.collective;
  job.collective.kind = LAMELLA_BARRIER;
  number_++;
  struct Entry {
    int64_t bytes;
    int32_t fd, mapped;
  };
  const int64_t whole = std::max<int64_t>(bytes, 1);
  std::string why;
  Entry own{bytes, -1, 0};
  try {
    own.fd = new_memory(whole);
  } catch (const Error& e) {
    why = e.what();
  }
  struct Descriptor {
    int fd;
    ~Descriptor() {
      if (fd >= 0) ::close(fd);
    }
  } descriptor{own.fd};
  const auto all = [&] {
    const std::string texts = gather(job, &own, sizeof own);
    std::vector<Entry> entries(static_cast<size_t>(size_));
    std::memcpy(entries.data(), texts.data(), texts.size());
    return entries;
  };
  const auto window = std::make_shared<Window>(shared_->next_window(), whole);
  std::vector<Entry> entries = all();
  bool mapped = true, equal = true;
  for (int r = 0; r < size_; r++) {
    const Entry& t = entries[static_cast<size_t>(r)];
    equal = equal && t.bytes == bytes;
    mapped = mapped && equal && t.fd >= 0 && window->map(peers_->pid(r), t.fd);
  }
  own.mapped = mapped;
  entries = all();  // after this the descriptors are closed
  LAMELLA_CHECK_VALUE(equal, "window of group '", name_, "': the ranks have given different sizes, here ", bytes);
  for (int r = 0; r < size_; r++)
    if (!entries[static_cast<size_t>(r)].mapped)
      raise_backend(detail::text("window of group '", name_, "': ", peers_->describe(r), " cannot map ", bytes,
                                 " bytes of each rank", why.empty() ? "" : ": ", why));
  shared_->keep(window);
  return from_blob(
      static_cast<void*>(window->of(rank_)), {bytes}, [window](void*) {}, TensorOptions().dtype(kByte));
}

}  // namespace lamella::distributed
