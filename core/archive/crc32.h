// CRC-32 as in zip files: of bytes, and of two consecutive runs of bytes from their values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamella::archive {

// Continues the value `before` (0 at the start) over `size` more bytes.
uint32_t crc32(uint32_t before, const void* data, size_t size);

// Returns the value of two consecutive runs from their values; `size` is the length of the second.
uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t size);

}  // namespace lamella::archive
