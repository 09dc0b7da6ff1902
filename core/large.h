// The live storages of at least `large_bytes` that new_storage() allocated, so that an out-of-memory error can name the
// largest tensors.
#pragma once

#include <string>

#include "core/dtype.h"
#include "core/storage.h"

namespace lamella::core {

// new_storage() notes storages of at least this many bytes: filling their memory takes a thousand times as long as
// adding the entry.
inline constexpr int64_t large_bytes = int64_t{1} << 20;

void note_large(const Storage*, DType);
void forget_large(const Storage*);
// Returns "the largest live tensors there are 400000 of float32 (1600000 bytes), ...", at most five; empty if no
// storage on the device is noted.
std::string largest_on(lamella_device);

}  // namespace lamella::core
