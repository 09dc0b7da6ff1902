#include "group/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "group/kinds.h"

namespace lamella::distributed {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::atomic<Recorder::File*> Recorder::file_{nullptr};
std::atomic<Recorder::Where> Recorder::where_{nullptr};

void Recorder::locate(Job& job) {
  const Where where = on() ? where_.load() : nullptr;
  if (!where) return;
  char file[512];
  int32_t line = 0;
  if (!where(file, sizeof file, &line)) return;
  job.file = file;
  job.line = line;
}

void Recorder::open(const std::string& path, int rank, int size, Where where) {
  file_.store(nullptr, std::memory_order_release);  // an earlier file stays mapped: calls under way may write to it
  ::unlink(path.c_str());                           // a file that is mapped must not become shorter
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  // Room is taken now: without this a process that finds none later is killed.
  int error = fd < 0 ? -1 : EINTR;
  while (error == EINTR) error = ::posix_fallocate(fd, 0, sizeof(File));  // signals interrupt it
  void* memory = error ? MAP_FAILED : ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) ::close(fd);
  if (memory == MAP_FAILED) {
    const int why = error > 0 ? error : errno;
    ::unlink(path.c_str());
    throw Error(errors.dist, "flight recorder: " + path + ": " + std::strerror(why));
  }
  auto* file = static_cast<File*>(memory);
  std::memcpy(file->header.magic, "LAMFLT1", 8);
  file->header.rank = rank;
  file->header.size = size;
  file->header.pid = ::getpid();
  file->header.entry_bytes = sizeof(Entry);
  file->header.capacity = entries;
  ::gethostname(file->header.host, sizeof file->header.host - 1);
  where_ = where;
  file_.store(file, std::memory_order_release);
}

int64_t Recorder::note(const Job& job, const std::string& group, int64_t number, int rank, int size) {
  File* file = file_.load(std::memory_order_acquire);
  if (!file || forked) return -1;
  const int64_t n = file->header.written.fetch_add(1);
  Entry& e = file->ring[n % entries];
  e.state.store(static_cast<uint32_t>(CallState::none), std::memory_order_relaxed);
  const lamella_collective& c = job.collective;
  e.kind = c.kind;
  e.reduction = c.reduction;
  e.peer = c.peer;
  e.ndim = job.ndim;
  e.rank = rank;
  e.size = size;
  e.line = job.line;
  e.mean = job.mean;
  e.number = number;
  for (int i = 0; i < 8; i++) e.shape[i] = i < job.ndim ? job.shape[i] : 0;
  e.queued = now();
  e.ended = 0;
  std::strncpy(e.group, group.c_str(), sizeof e.group - 1);
  std::strncpy(e.dtype, c.kind == LAMELLA_BARRIER ? "" : api().dtype_info(c.dtype)->name, sizeof e.dtype - 1);
  const size_t skipped = job.file.size() > sizeof e.file - 1 ? job.file.size() - (sizeof e.file - 1) : 0;
  std::strncpy(e.file, job.file.c_str() + skipped, sizeof e.file - 1);
  e.state.store(static_cast<uint32_t>(CallState::queued), std::memory_order_release);
  return n;
}

void Recorder::set(int64_t entry, CallState state) {
  File* file = file_.load(std::memory_order_acquire);
  if (entry < 0 || !file || forked || file->header.written.load() - entry > entries) return;
  Entry& e = file->ring[entry % entries];
  if (state >= CallState::done) e.ended = now();
  e.state.store(static_cast<uint32_t>(state), std::memory_order_release);
}

}  // namespace lamella::distributed
