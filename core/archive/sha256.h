// SHA-256 of bytes, in any number of pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lamella::archive {

class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  void add(const void* data, size_t size);
  // Returns the digest of all bytes that were added; called once, at the end.
  Digest finish();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t block_[64] = {};  // bytes that do not fill a block yet
  uint64_t size_ = 0;       // of all bytes
};

}  // namespace lamella::archive
