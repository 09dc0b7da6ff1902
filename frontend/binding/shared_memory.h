// Memory that processes share: files without a name, which the kernel frees with their last descriptor and mapping.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/storage.h"

namespace lamella::binding {

// Where bytes of a storage stand: in which file, and from where on.
struct SharedPlace {
  int fd;  // open as long as the storage lives
  int64_t offset;
  dev_t device;
  ino_t inode;
};

// What happens when a window's last reference goes: a number is written into the mapping, and a descriptor is woken.
struct WindowEnd {
  int64_t flag_offset = -1;  // of 4 bytes, from the base's first byte; -1: nothing is written
  uint32_t value = 0;
  int wake_fd = -1;  // 8 bytes are written to it, as eventfd wants them
};

// Fresh memory whose pages are there: a write cannot fail later for want of memory. It is all zero, or has the bytes
// at `from`.
lamella_status new_shared_storage(int64_t bytes, const void* from, core::Storage** out);
// Over a file that another process made. The descriptor is duplicated.
lamella_status open_shared_storage(int fd, int64_t bytes, int64_t offset, core::Storage** out);
// A storage of its own within another one's memory.
lamella_status new_window(const core::Storage* base, int64_t offset, int64_t bytes, const WindowEnd& end,
                          core::Storage** out);

bool is_shared(const core::Storage* s);  // a window is, too
// Null for other memory, and for a window, whose bytes are somebody else's again when it ends.
bool find_place(const core::Storage* s, SharedPlace* out);

}  // namespace lamella::binding
