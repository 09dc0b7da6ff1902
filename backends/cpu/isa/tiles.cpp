// Packing of blocks of elements into tiles, and writing past the caches. Note [Instruction sets] is in
// backends/cpu/isa.h.
#include <lamella/half.h>

#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/registers.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

template <int Bytes>
struct Unit {
  char bytes[Bytes];
};
template <int Bytes>
using Element = std::conditional_t<(Bytes > 8), Unit<Bytes>, Unsigned<Bytes>>;

template <int Bytes>
void pack_strided(int64_t rows, int64_t cols, char* dst, int64_t dst_row, const char* src, int64_t src_row,
                  int64_t src_col) {
  using E = Element<Bytes>;
  for (int64_t r = 0; r < rows; r++) {
    E* d = reinterpret_cast<E*>(dst + r * dst_row);
    const char* s = src + r * src_row;
    for (int64_t c = 0; c < cols; c++) std::memcpy(&d[c], s + c * src_col, Bytes);
  }
}

// Packs a source whose columns have no gaps: squares in registers, the rest element by element.
template <int Bytes>
void pack_transposed(int64_t rows, int64_t cols, char* dst, int64_t dst_row, const char* src, int64_t src_col) {
  int64_t r = 0, whole = 0;
  if constexpr (square < Bytes >> 0) {
    constexpr int64_t n = square<Bytes>;
    whole = cols / n * n;
    for (; r + n <= rows; r += n)
      for (int64_t c = 0; c < whole; c += n)
        transpose_square<Bytes>(dst + r * dst_row + c * Bytes, dst_row, src + c * src_col + r * Bytes, src_col);
    if (whole < cols)
      pack_strided<Bytes>(r, cols - whole, dst + whole * Bytes, dst_row, src + whole * src_col, Bytes, src_col);
  }
  pack_strided<Bytes>(rows - r, cols, dst + r * dst_row, dst_row, src + r * Bytes, Bytes, src_col);
}

template <int Bytes>
void pack(int64_t rows, int64_t cols, char* dst, int64_t dst_row, const char* src, int64_t src_row, int64_t src_col) {
  using E = Element<Bytes>;
  if (src_row == Bytes && src_col != Bytes && src_col != 0)
    return pack_transposed<Bytes>(rows, cols, dst, dst_row, src, src_col);
  if (src_row == 0 && rows > 1 && dst_row == cols * Bytes) {  // one row, repeated by doubling
    if (src_col == Bytes)
      std::memcpy(dst, src, cols * Bytes);
    else
      pack_strided<Bytes>(1, cols, dst, dst_row, src, src_row, src_col);
    for (int64_t done = 1; done < rows;) {
      const int64_t more = done < rows - done ? done : rows - done;
      std::memcpy(dst + done * dst_row, dst, more * dst_row);
      done += more;
    }
    return;
  }
  if (src_col == 0) {
    for (int64_t r = 0; r < rows; r++) {
      E* d = reinterpret_cast<E*>(dst + r * dst_row);
      E e;
      std::memcpy(&e, src + r * src_row, Bytes);
      for (int64_t c = 0; c < cols; c++) d[c] = e;
    }
    return;
  }
  if (src_col == Bytes && cols * Bytes >= 64) {
    for (int64_t r = 0; r < rows; r++) std::memcpy(dst + r * dst_row, src + r * src_row, cols * Bytes);
    return;
  }
  pack_strided<Bytes>(rows, cols, dst, dst_row, src, src_row, src_col);
}

void stream(char* dst, const char* src, int64_t bytes) {
#ifdef __SSE2__
  constexpr int64_t step = vector_bytes;
  const int64_t head = -reinterpret_cast<uintptr_t>(dst) & (step - 1);
  if (head >= bytes) {
    std::memcpy(dst, src, bytes);
    return;
  }
  std::memcpy(dst, src, head);
  int64_t i = head;
  for (; i + step <= bytes; i += step) {
#ifdef __AVX512F__
    _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + i), _mm512_loadu_si512(src + i));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i)));
#else
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i)));
#endif
  }
  std::memcpy(dst + i, src + i, bytes - i);
#else
  std::memcpy(dst, src, bytes);
#endif
}

void fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace

namespace LAMELLA_ISA {

void fill_tiles(Loops& l) {
  l.pack[0] = pack<1>;
  l.pack[1] = pack<2>;
  l.pack[2] = pack<4>;
  l.pack[3] = pack<8>;
  l.pack[4] = pack<16>;
  l.stream = stream;
  l.fence = fence;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
