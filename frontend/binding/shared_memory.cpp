#include "frontend/binding/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/fork.h"

namespace lamella::binding {
namespace {

using core::Storage;

// Note [Shared memory]  The files are made by memfd_create and have no name, so nothing is left behind when processes
//   are killed. They are sealed against shrinking, since reading memory that a file has lost would kill the reader. A
//   process maps each file once, as a whole, and keeps one descriptor for it, for any number of storages in it. Small
//   storages are placed one after another in a chunk file that is filled once, since most processes may have only 1024
//   descriptors. Their bytes are not reused, since another process may still read them.
struct Mapping {
  int64_t references;  // guarded by the lock
  char* address;
  int64_t bytes;
  int fd;
  dev_t device;
  ino_t inode;
};

struct SharedBlock {  // the context of a storage's deleter
  Mapping* mapping;
  int64_t offset;
};

constexpr int64_t chunk_bytes = 256 << 10, small_bytes = 16 << 10, alignment = 64;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct Lock {
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
};

std::map<std::pair<dev_t, ino_t>, Mapping*>& mappings() {
  // Never destroyed: deleters run until the process ends.
  static auto* all = new std::map<std::pair<dev_t, ino_t>, Mapping*>;
  return *all;
}
Mapping* chunk = nullptr;  // the chunk file that is being filled, with a reference; or null
int64_t chunk_used = 0;

void drop(Mapping* m) {  // the caller holds the lock
  if (--m->references) return;
  mappings().erase({m->device, m->inode});
  munmap(m->address, static_cast<size_t>(m->bytes));
  close(m->fd);
  delete m;
}

void drop_chunk() {
  if (chunk) drop(std::exchange(chunk, nullptr));
}

// The forking thread holds the lock during a fork, so that no other thread does. A child starts a chunk of its own. The
// lock is taken after the registry's (see Note [Order of fork]): waiting for that one lets go of the interpreter's lock,
// and a thread that takes over the interpreter's may wait for this one.
void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] {
    core::around_fork({[] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); },
                       [] {
                         drop_chunk();
                         pthread_mutex_unlock(&mutex);
                       }});
  });
}

void end(void* context) {
  auto* h = static_cast<SharedBlock*>(context);
  {
    Lock lock;
    drop(h->mapping);
  }
  delete h;
}

const SharedBlock* held(const Storage* s) {
  return s->deleter == end ? static_cast<const SharedBlock*>(s->deleter_context()) : nullptr;
}

lamella_status fail(int error, const char* doing, int64_t bytes) {
  if (error == ENFILE)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "shared memory: the system has too many files open; end other programs, or raise fs.file-max");
  if (error == EMFILE)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("shared memory: the process has too many files open, one for each shared tensor "
                                    "over %lld bytes; drop some of these tensors, or raise `ulimit -n`",
                                    (long long)small_bytes));
  const bool memory = error == ENOMEM || error == ENOSPC || error == EFBIG;
  return core::raise(memory ? LAMELLA_OUT_OF_MEMORY : LAMELLA_RUNTIME_ERROR,
                     core::format("shared memory: %s %lld bytes: %s", doing, (long long)bytes, std::strerror(error)));
}

// Returns the memory that this machine or container has at most; allocating more would make the kernel kill other
// processes.
int64_t most() {
  struct sysinfo info;
  int64_t most = INT64_MAX;
  if (!sysinfo(&info)) most = static_cast<int64_t>((info.totalram + info.totalswap) * info.mem_unit);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::FILE* f = std::fopen(path, "re")) {
      long long limit;
      if (std::fscanf(f, "%lld", &limit) == 1 && limit > 0) most = std::min<int64_t>(most, limit);
      std::fclose(f);
    }
  return most;
}

// Maps a file; takes over its descriptor, also if it fails.
lamella_status map_file(int fd, int64_t bytes, dev_t device, ino_t inode, Mapping** out) {
  void* p = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return fail(error, "mapping", bytes);
  }
  *out = new Mapping{1, static_cast<char*>(p), bytes, fd, device, inode};
  mappings()[{device, inode}] = *out;
  return LAMELLA_OK;
}

// Allocates the pages of a file, zero or with the bytes at `from`. Writing them takes half of the time of zeroing
// pages, mapping them one by one at the first access, and copying. Returns errno, or 0.
int fill(int fd, int64_t bytes, const void* from) {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n = from ? pwrite(fd, static_cast<const char*>(from) + done, static_cast<size_t>(bytes - done), done)
                           : (fallocate(fd, 0, 0, bytes) ? -1 : bytes);
    if (n < 0 && errno != EINTR) return errno;
    done += std::max<int64_t>(n, 0);
  }
  return 0;
}

lamella_status new_mapping(int64_t bytes, const void* from, Mapping** out) {
  watch_forks();
  if (bytes > chunk_bytes && bytes > most()) return fail(ENOMEM, "reserving", bytes);
  const int fd = memfd_create("lamella", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail(errno, "making a file for", bytes);
  struct stat st;
  int error = 0;
  if (ftruncate(fd, bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) || fstat(fd, &st))
    error = errno;
  if (!error) error = fill(fd, bytes, from);
  if (error) {
    close(fd);
    return fail(error, "reserving", bytes);
  }
  return map_file(fd, bytes, st.st_dev, st.st_ino, out);
}

// Makes a storage over a part of a mapping, whose reference it takes over.
Storage* over(Mapping* m, int64_t offset, int64_t bytes) {
  return core::foreign_storage(m->address + offset, bytes, {core::host_backend(), 0}, end, new SharedBlock{m, offset});
}

lamella_status need_host() {
  if (core::host_backend() >= 0) return LAMELLA_OK;
  return core::raise(LAMELLA_RUNTIME_ERROR, "shared memory: no host backend is loaded");
}

lamella_status beyond(int64_t offset, int64_t bytes, int64_t there) {
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("shared memory: %lld bytes from %lld on are wanted, the file has %lld",
                                  (long long)bytes, (long long)offset, (long long)there));
}

bool inside(int64_t offset, int64_t bytes, int64_t there) {
  return offset >= 0 && bytes >= 0 && offset <= there && bytes <= there - offset;
}

}  // namespace

lamella_status new_shared_storage(int64_t bytes, const void* from, Storage** out) {
  if (bytes < 0)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("shared memory: argument 'nbytes' must not be negative, got %lld", (long long)bytes));
  if (lamella_status st = need_host()) return st;
  Lock lock;
  Mapping* m;
  if (bytes > small_bytes) {
    if (lamella_status st = new_mapping(bytes, from, &m)) return st;
    *out = over(m, 0, bytes);
    return LAMELLA_OK;
  }
  const int64_t room = std::max<int64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  if (!chunk || chunk_used + room > chunk_bytes) {
    if (lamella_status st = new_mapping(chunk_bytes, nullptr, &m)) return st;
    drop_chunk();
    chunk = m;
    chunk_used = 0;
  }
  chunk->references++;
  if (from && bytes) std::memcpy(chunk->address + chunk_used, from, static_cast<size_t>(bytes));
  *out = over(chunk, chunk_used, bytes);
  chunk_used += room;
  return LAMELLA_OK;
}

lamella_status open_shared_storage(int fd, int64_t bytes, int64_t offset, Storage** out) {
  if (lamella_status st = need_host()) return st;
  struct stat st;
  if (fstat(fd, &st)) return fail(errno, "opening", bytes);
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK))
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "shared memory: the descriptor is no file of memfd_create that is sealed against shrinking");
  if (!inside(offset, bytes, st.st_size)) return beyond(offset, bytes, st.st_size);
  watch_forks();
  Lock lock;
  auto known = mappings().find({st.st_dev, st.st_ino});
  Mapping* m;
  if (known != mappings().end()) {
    m = known->second;
    m->references++;
  } else {
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return fail(errno, "opening", bytes);
    if (lamella_status status = map_file(own, st.st_size, st.st_dev, st.st_ino, &m)) return status;
  }
  *out = over(m, offset, bytes);
  return LAMELLA_OK;
}

bool is_shared(const Storage* s) { return held(s) != nullptr; }

bool find_place(const Storage* s, SharedPlace* out) {
  const SharedBlock* h = held(s);
  if (!h) return false;
  *out = {h->mapping->fd, h->offset, h->mapping->device, h->mapping->inode};
  return true;
}

}  // namespace lamella::binding
