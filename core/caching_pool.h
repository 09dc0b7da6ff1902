// CachingPool: keeps freed blocks of a host-like allocator for reuse, because fresh memory costs page faults.
// A backend whose memory is plain addresses can put a CachingPool over its own alloc and free.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace lamella::core {

class CachingPool {
 public:
  // `upstream` is copied; cached bytes stay at or below `cap`.
  CachingPool(const lamella_allocator& upstream, int64_t cap);

  const lamella_allocator* allocator() const { return &face_; }
  lamella_status alloc(int64_t bytes, int32_t index, void* stream, void** out);
  void free(void* data, int64_t bytes, int32_t index);
  // Frees cached blocks of a device (index -1: of every device) until at most `cap` bytes are cached in all.
  void trim(int32_t index, int64_t cap);
  lamella_status record_stream(int32_t index, void* data, void* stream);
  void report(lamella_allocator_stats* out) const;
  void reset(uint32_t what);  // bits of enum lamella_stats

 private:
  // Eight sizes per power of two, at least 64 bytes apart: rounding up adds at most 12.5 % to a block, or less than 64
  // bytes to a small one.
  static constexpr int num_classes = 8 * 64;
  static int size_class(int64_t bytes, int64_t* rounded);

  struct Block {
    void* data;
    int32_t index;
  };
  struct Class {
    std::vector<Block> blocks;
    bool keep(Block b) noexcept {
      try {
        blocks.push_back(b);
        return true;
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
  };

  void release_cached_above(int32_t index, int64_t cap);
  void note_peaks();

  lamella_allocator upstream_, face_;
  mutable std::mutex mutex_;
  Class classes_[num_classes];
  int64_t cap_;
  lamella_allocator_stats stats_{};
};

// Allocates by aligned_alloc: blocks are aligned to 64 bytes, those of 4 MiB and more to huge pages.
const lamella_allocator* system_allocator();
// Returns how many bytes this process may use: the machine's memory, or the cgroup's limit if that is smaller.
int64_t available_memory();

}  // namespace lamella::core
