#include "group/shared.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "group/kinds.h"

namespace lamella::distributed {

int new_memory(int64_t bytes) {
  const int fd = ::memfd_create("lamella", MFD_CLOEXEC);
  // Pages are allocated here: without this a process that finds none later is killed.
  int error = fd < 0 ? errno : EINTR;
  while (error == EINTR && fd >= 0) error = ::posix_fallocate(fd, 0, bytes);  // signals interrupt it
  if (!error) return fd;
  if (fd >= 0) ::close(fd);
  raise_backend(detail::text("shared memory of ", bytes, " bytes: ", std::strerror(error)));
}

Window::~Window() {
  for (char* base : bases_)
    if (base) ::munmap(base, static_cast<size_t>(bytes_));
}

bool Window::map(int pid, int fd) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) return false;
  void* base = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
  ::close(own);
  if (base == MAP_FAILED) return false;
  bases_.push_back(static_cast<char*>(base));
  return true;
}

std::unique_ptr<SharedMemory> SharedMemory::open(const StoreRef& store, const std::string& key, int rank, int size,
                                                 std::chrono::nanoseconds limit, const Peers& peers) {
  std::unique_ptr<SharedMemory> made(new SharedMemory(rank, size));
  const auto has_mapped = [&](int r) { return key + "/mapped/" + std::to_string(r); };
  int fd = -1;
  if (rank == 0) {
    try {
      fd = new_memory(bytes_of(size));
    } catch (const Error&) {  // then no rank maps it
    }
    store.set(key + "/fd", std::to_string(fd));
  }
  const int there = static_cast<int>(number_in(key, store.get(key + "/fd", limit)));
  store.set(has_mapped(rank), there >= 0 && made->memory_.map(peers.pid(0), there) ? "1" : "0");
  bool all = true;
  for (int r = 0; r < size; r++) all = store.get(has_mapped(r), limit) == "1" && all;
  if (fd >= 0) ::close(fd);
  if (!all) return nullptr;
  made->seats_ = reinterpret_cast<Seat*>(made->memory_.of(0));
  made->areas_ = reinterpret_cast<char*>(made->seats_ + size);
  return made;
}

bool SharedMemory::all_have_arrived() const {
  for (int r = 0; r < size_; r++)
    if (!has_arrived(r)) return false;
  return true;
}

void SharedMemory::keep(const std::shared_ptr<Window>& window) {
  const std::lock_guard lock(mutex_);
  windows_.push_back(window);
}

std::shared_ptr<Window> SharedMemory::window_with(int rank, const void* data, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Window> found;
  const auto looks = [&](const std::weak_ptr<Window>& kept) {
    const std::shared_ptr<Window> w = kept.lock();
    if (!w) return true;
    const auto offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(w->of(rank));
    if (offset < static_cast<uintptr_t>(w->bytes()) && bytes <= w->bytes() - static_cast<int64_t>(offset)) found = w;
    return false;
  };
  windows_.erase(std::remove_if(windows_.begin(), windows_.end(), looks), windows_.end());
  return found;
}

}  // namespace lamella::distributed
