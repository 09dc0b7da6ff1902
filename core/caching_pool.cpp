#include "core/caching_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/fork.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace lamella::core {
namespace {

// bound() makes AddressSanitizer report accesses to the padding between `bytes` and `rounded` while a block is in use;
// unbound() allows them again.
void bound([[maybe_unused]] void* data, [[maybe_unused]] int64_t bytes, [[maybe_unused]] int64_t rounded) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(data) + bytes, rounded - bytes);
#endif
}
void unbound([[maybe_unused]] void* data, [[maybe_unused]] int64_t rounded) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(data, rounded);
#endif
}

constexpr int64_t huge_page = 2 << 20;

// Blocks of 4 MiB and more are aligned to huge pages, and the system is advised to use huge pages for them: a 40 MB
// result then costs 20 page faults, not ten thousand.
lamella_status system_alloc(void*, int64_t bytes, int32_t, void*, void** out) {
  const int64_t unit = bytes >= 2 * huge_page ? huge_page : 64, whole = (bytes + unit - 1) / unit * unit;
  if (bytes <= available_memory() && (*out = std::aligned_alloc(unit, whole))) {
    if (unit == huge_page) madvise(*out, whole, MADV_HUGEPAGE);
  } else {
    return raise(LAMELLA_OUT_OF_MEMORY, format("cannot allocate %lld bytes; the process may use %lld", (long long)bytes,
                                               (long long)available_memory()));
  }
  return LAMELLA_OK;
}

void system_free(void*, void* data, int64_t, int32_t) { std::free(data); }

int64_t read_number(const char* path) {
  long long n = -1;
  if (FILE* f = std::fopen(path, "r")) {
    if (std::fscanf(f, "%lld", &n) != 1) n = -1;
    std::fclose(f);
  }
  return n;
}

}  // namespace

int64_t available_memory() {
  static const int64_t bytes = [] {
    int64_t n = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (int64_t limit = read_number(path); limit > 0) n = std::min(n, limit);
    return n;
  }();
  return bytes;
}

const lamella_allocator* system_allocator() {
  static const lamella_allocator a = {sizeof(a), 0,       nullptr, system_alloc, system_free,
                                      nullptr,   nullptr, nullptr, nullptr};
  return &a;
}

CachingPool::CachingPool(const lamella_allocator& upstream, int64_t cap) : upstream_(upstream), cap_(cap) {
  free_in_children(mutex_);
  face_ = {
      sizeof(face_),
      0,
      this,
      [](void* c, int64_t bytes, int32_t index, void* stream, void** out) {
        return static_cast<CachingPool*>(c)->alloc(bytes, index, stream, out);
      },
      [](void* c, void* data, int64_t bytes, int32_t index) { static_cast<CachingPool*>(c)->free(data, bytes, index); },
      [](void* c, int32_t index, void* data, void* stream) {
        return static_cast<CachingPool*>(c)->record_stream(index, data, stream);
      },
      [](void* c, int32_t, lamella_allocator_stats* out) -> lamella_status {
        static_cast<CachingPool*>(c)->report(out);
        return LAMELLA_OK;
      },
      [](void* c, int32_t index, int64_t limit) -> lamella_status {
        static_cast<CachingPool*>(c)->trim(index, limit);
        return LAMELLA_OK;
      },
      [](void* c, int32_t, uint32_t what) -> lamella_status {
        static_cast<CachingPool*>(c)->reset(what);
        return LAMELLA_OK;
      }};
}

int CachingPool::size_class(int64_t bytes, int64_t* rounded) {
  int64_t n = std::max<int64_t>(bytes, 64);
  int log = 63 - __builtin_clzll(n);
  int64_t step = std::max<int64_t>((int64_t{1} << log) / 8, 64);
  *rounded = (n + step - 1) / step * step;
  log = 63 - __builtin_clzll(*rounded);
  return log * 8 + static_cast<int>((*rounded >> (log - 3)) & 7);
}

lamella_status CachingPool::alloc(int64_t bytes, int32_t index, void* stream, void** out) {
  int64_t rounded;
  Class& c = classes_[size_class(bytes, &rounded)];
  {
    std::lock_guard lock(mutex_);
    stats_.allocations++;
    for (size_t i = c.blocks.size(); i-- > 0;)
      if (c.blocks[i].index == index) {
        *out = c.blocks[i].data;
        c.blocks[i] = c.blocks.back();
        c.blocks.pop_back();
        stats_.cached_bytes -= rounded;
        stats_.live_bytes += rounded;
        note_peaks();
        bound(*out, bytes, rounded);
        return LAMELLA_OK;
      }
  }
  if (lamella_status st = upstream_.alloc(upstream_.context, rounded, index, stream, out)) return st;
  bound(*out, bytes, rounded);
  std::lock_guard lock(mutex_);
  stats_.system_allocations++;
  stats_.live_bytes += rounded;
  note_peaks();
  return LAMELLA_OK;
}

void CachingPool::free(void* data, int64_t bytes, int32_t index) {
  int64_t rounded;
  Class& c = classes_[size_class(bytes, &rounded)];
  unbound(data, rounded);
  {
    std::lock_guard lock(mutex_);
    stats_.live_bytes -= rounded;
    if (stats_.cached_bytes + rounded <= cap_ && c.keep({data, index})) {
      stats_.cached_bytes += rounded;
      return;
    }
  }
  upstream_.free(upstream_.context, data, rounded, index);
}

void CachingPool::release_cached_above(int32_t index, int64_t cap) {
  for (int k = num_classes - 1; k >= 0 && stats_.cached_bytes > cap; k--) {
    Class& c = classes_[k];
    int log = k / 8;
    int64_t rounded = log < 3 ? 64 : (int64_t{8} + k % 8) << (log - 3);
    for (size_t i = c.blocks.size(); i-- > 0 && stats_.cached_bytes > cap;) {
      if (index >= 0 && c.blocks[i].index != index) continue;
      upstream_.free(upstream_.context, c.blocks[i].data, rounded, c.blocks[i].index);
      c.blocks[i] = c.blocks.back();
      c.blocks.pop_back();
      stats_.cached_bytes -= rounded;
    }
  }
}

void CachingPool::trim(int32_t index, int64_t cap) {
  std::lock_guard lock(mutex_);
  release_cached_above(index, cap);
}

lamella_status CachingPool::record_stream(int32_t index, void* data, void* stream) {
  return upstream_.record_stream ? upstream_.record_stream(upstream_.context, index, data, stream) : LAMELLA_OK;
}

void CachingPool::note_peaks() {
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.live_bytes);
  stats_.peak_reserved_bytes = std::max(stats_.peak_reserved_bytes, stats_.live_bytes + stats_.cached_bytes);
}

void CachingPool::reset(uint32_t what) {
  std::lock_guard lock(mutex_);
  if (what & LAMELLA_STATS_PEAK) {
    stats_.peak_bytes = stats_.live_bytes;
    stats_.peak_reserved_bytes = stats_.live_bytes + stats_.cached_bytes;
  }
  if (what & LAMELLA_STATS_COUNTS) stats_.allocations = stats_.system_allocations = 0;
}

void CachingPool::report(lamella_allocator_stats* out) const {
  std::lock_guard lock(mutex_);
  const uint32_t size = std::min<uint32_t>(out->size, sizeof stats_);
  std::memcpy(out, &stats_, size);
  out->size = size;
}

}  // namespace lamella::core
