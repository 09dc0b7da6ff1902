// Large storages that are alive, so that an error of too little memory can name the largest.
#pragma once

#include <string>

#include "core/dtype.h"
#include "core/storage.h"

namespace lamella::core {

// From this size on, filling the memory takes a thousand times as long as an entry here.
inline constexpr int64_t large_bytes = int64_t{1} << 20;

void note_large(const Storage*, DType);
void forget_large(const Storage*);
// "the largest live tensors there are 1000 of float32 (4000 bytes), ..."; empty if none is large.
std::string largest_on(lamella_device);

}  // namespace lamella::core
