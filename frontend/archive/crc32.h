// CRC-32 as zips have it: of bytes, and of two runs of bytes from the values of each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamella::archive {

// The value of the bytes before, 0 for none, goes on over `size` more.
uint32_t crc32(uint32_t before, const void* data, size_t size);

// The value of a run and of the `size` bytes behind it, from the two values.
uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t size);

}  // namespace lamella::archive
