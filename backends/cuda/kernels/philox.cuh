// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). The words of a stream depend on its seed and on their place
// alone, and are the same as the CPU's.
#pragma once
#include "common.cuh"
#include "random.h"

struct Four {
  uint32_t w[4];
};
DEVICE Four philox(Stream s, uint64_t i) {
  const uint64_t counter = s.counter + i;
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(s.seed), k1 = static_cast<uint32_t>(s.seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const uint64_t p = 0xD2511F53ull * c0, q = 0xCD9E8D57ull * c2;
    c0 = static_cast<uint32_t>(q >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(p >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(q);
    c3 = static_cast<uint32_t>(p);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

DEVICE float unit(uint32_t w) { return static_cast<float>(static_cast<int32_t>(w >> 8)) * (1.0f / 16777216.0f); }
DEVICE double unit(uint32_t high, uint32_t low) {
  return static_cast<double>(static_cast<int64_t>((static_cast<uint64_t>(high) << 32 | low) >> 11)) * (1.0 / 9007199254740992.0);
}
