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

// Fresh memory whose pages are there: a write cannot fail later for want of memory. It is all zero, or has the bytes
// at `from`.
lamella_status new_shared_storage(int64_t bytes, const void* from, core::Storage** out);
// Over a file that another process made. The descriptor is duplicated.
lamella_status open_shared_storage(int fd, int64_t bytes, int64_t offset, core::Storage** out);

bool is_shared(const core::Storage* s);
// False for other memory.
bool find_place(const core::Storage* s, SharedPlace* out);

}  // namespace lamella::binding
