// CRC-32: by carry-less multiplication if the processor has it, else by tables, eight bytes a step.
#include "core/archive/crc32.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lamella::archive {
namespace {

constexpr uint32_t polynomial = 0xEDB88320;  // bit-reversed: the highest power is the lowest bit

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? polynomial : 0);
    t[0][i] = c;
  }
  for (int row = 1; row < 8; row++)
    for (int i = 0; i < 256; i++) t[row][i] = (t[row - 1][i] >> 8) ^ t[0][t[row - 1][i] & 255];
  return t;
}
constexpr Tables tables = make_tables();

// Updates the CRC without the inversions at its start and end.
uint32_t by_tables(uint32_t c, const unsigned char* p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    low ^= c;
    c = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
        tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; n; p++, n--) c = (c >> 8) ^ tables[0][(c ^ *p) & 255];
  return c;
}

#if defined(__x86_64__)
// Note [Folding]  Let a block of sixteen bytes precede another one by d bytes. If the first block is multiplied by
//   x^(8d) modulo the polynomial, added to the other block and removed, the CRC of the whole stays the same. The
//   product of 64 by 33 bits fits into sixteen bytes, so each half of a block is multiplied by its own power. Four
//   folds run in parallel, 64 bytes apart. The block in which they end, and the bytes that do not fill another block,
//   go through the tables. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction",
//   Intel, 2009.
__attribute__((target("pclmul,sse4.1"))) inline __m128i fold(__m128i x, __m128i onto, __m128i powers) {
  const __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

__attribute__((target("pclmul,sse4.1"))) uint32_t by_products(uint32_t c, const unsigned char* p, size_t n) {
  const __m128i far = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), near = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  auto at = [](const unsigned char* from) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  __m128i x0 = _mm_xor_si128(at(p), _mm_cvtsi32_si128(static_cast<int>(c)));
  __m128i x1 = at(p + 16), x2 = at(p + 32), x3 = at(p + 48);
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    x0 = fold(x0, at(p), far);
    x1 = fold(x1, at(p + 16), far);
    x2 = fold(x2, at(p + 32), far);
    x3 = fold(x3, at(p + 48), far);
  }
  x0 = fold(fold(fold(x0, x1, near), x2, near), x3, near);
  for (; n >= 16; p += 16, n -= 16) x0 = fold(x0, at(p), near);
  alignas(16) unsigned char last[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(last), x0);
  return by_tables(by_tables(0, last, 16), p, n);
}

const bool has_products = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif

// Returns the product of two polynomials modulo the CRC's polynomial; the highest bit is x^0.
uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) sum ^= b;
    b = (b >> 1) ^ (b & 1 ? polynomial : 0);
  }
  return sum;
}

}  // namespace

uint32_t crc32(uint32_t before, const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  if (has_products && size >= 64) return ~by_products(~before, p, size);
#endif
  return ~by_tables(~before, p, size);
}

uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t size) {
  uint32_t power = 1u << 31, square = 1u << 23;  // x^0; x^8, a byte
  for (; size; size >>= 1) {
    if (size & 1) power = product(power, square);
    square = product(square, square);
  }
  return product(first, power) ^ second;
}

}  // namespace lamella::archive
