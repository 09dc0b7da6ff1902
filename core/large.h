// The live storages from a size on, so that an out-of-memory error can name the largest tensors.
#pragma once

#include <string>

#include "core/dtype.h"
#include "core/storage.h"

namespace lamella::core {

// Storages of this many bytes are noted: filling the memory takes a thousand times as long as adding the entry.
inline constexpr int64_t large_bytes = int64_t{1} << 20;

void note_large(const Storage*, DType);
void forget_large(const Storage*);
// "the largest live tensors there are 1000 of float32 (4000 bytes), ..."; empty if none is large.
std::string largest_on(lamella_device);

}  // namespace lamella::core
