// Memory that processes share: unnamed files, which the kernel frees with their last descriptor and mapping.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/storage.h"

namespace lamella::binding {

// The place of a storage's bytes: a file and an offset.
struct SharedPlace {
  int fd;  // open while the storage lives
  int64_t offset;
  dev_t device;
  ino_t inode;
};

// Makes a storage whose pages are allocated now, so that a later write cannot fail for lack of memory. Its bytes are
// zero if `from` is null, else a copy of those at `from`.
lamella_status new_shared_storage(int64_t bytes, const void* from, core::Storage** out);
// Makes a storage over a file of another process. The caller still owns the descriptor.
lamella_status open_shared_storage(int fd, int64_t bytes, int64_t offset, core::Storage** out);

bool is_shared(const core::Storage* s);
// Returns false for memory that is not shared.
bool find_place(const core::Storage* s, SharedPlace* out);

}  // namespace lamella::binding
