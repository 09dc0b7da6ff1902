// Linear layers whose weight is integers with scales. Codes of eight bits become floats in registers, and codes of four
// bits are multiplied as integers. Note [Instruction sets] is in backends/cpu/isa.h.
//
// Note [Nibbles]  A row of codes of four bits is multiplied in chunks of 64 by vpmaddubsw, which multiplies unsigned
//   bytes by signed ones. Inverting the highest bit of a code makes it its value plus 8, which is not negative. The 64
//   floats of x become integers of 24 bits, in units of the greatest magnitude / largest_count; an integer is three
//   digits to the base 256, which are signed bytes. So each number of x is rounded to 2^-24 of the greatest of its 64
//   neighbours, and all sums within a chunk are exact: sums of products of a digit have 16 bits, since 8 * 15 * 128 is
//   below 2^15, and the whole sums have 32, since 8 * 15 * 8323072 is below 2^31. A chunk of x has, digit by digit, the
//   bytes of its even elements and those of its odd ones, as the low and the high halves of bytes hold the codes, and
//   then 8 times the sum of the integers of each word, which is subtracted from the sum of products of that word.
#include "backends/cpu/weight_linear.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace lamella::cpu::LAMELLA_ISA {
namespace {

constexpr int64_t chunk = 64;

#ifdef __AVX2__
inline float add_up(__m256 v) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}
#endif

// ---- eight bits ----------------------------------------------------------------------------------------------------

int64_t same_size(int64_t depth) { return depth; }
void copy_row(int64_t depth, const float* x, float* to) { std::memcpy(to, x, depth * 4); }
bool all_groups(int64_t, int64_t) { return true; }

template <int Rows>
void multiply_bytes(const FewRows& f, const int8_t* codes, const float* scales, float* out, int64_t out_row) {
  const int64_t size = f.depth / f.groups;
  float total[Rows] = {};
#ifdef __AVX2__
  __m256 sums[Rows];
  for (int r = 0; r < Rows; r++) sums[r] = _mm256_setzero_ps();
  const auto floats = [](const int8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  };
  for (int64_t g = 0; g < f.groups; g++) {
    const int8_t* w = codes + g * size;
    const float* x = f.x + g * size;
    __m256 part[Rows][4];
    for (int r = 0; r < Rows; r++)
      for (int i = 0; i < 4; i++) part[r][i] = _mm256_setzero_ps();
    int64_t k = 0;
    for (; k + 32 <= size; k += 32)
      for (int i = 0; i < 4; i++) {
        const __m256 y = floats(w + k + 8 * i);
        for (int r = 0; r < Rows; r++)
          part[r][i] = _mm256_fmadd_ps(_mm256_loadu_ps(x + r * f.depth + k + 8 * i), y, part[r][i]);
      }
    for (; k + 8 <= size; k += 8) {
      const __m256 y = floats(w + k);
      for (int r = 0; r < Rows; r++) part[r][0] = _mm256_fmadd_ps(_mm256_loadu_ps(x + r * f.depth + k), y, part[r][0]);
    }
    for (int r = 0; r < Rows; r++) {
      float rest = 0;
      for (int64_t i = k; i < size; i++) rest += x[r * f.depth + i] * static_cast<float>(w[i]);
      total[r] += rest * scales[g];
      const __m256 all = _mm256_add_ps(_mm256_add_ps(part[r][0], part[r][1]), _mm256_add_ps(part[r][2], part[r][3]));
      sums[r] = _mm256_fmadd_ps(all, _mm256_set1_ps(scales[g]), sums[r]);
    }
  }
  for (int r = 0; r < Rows; r++) total[r] += add_up(sums[r]);
#else
  for (int64_t g = 0; g < f.groups; g++)
    for (int r = 0; r < Rows; r++) {
      float sum = 0;
      for (int64_t k = g * size; k < (g + 1) * size; k++) sum += f.x[r * f.depth + k] * static_cast<float>(codes[k]);
      total[r] += sum * scales[g];
    }
#endif
  for (int r = 0; r < Rows; r++) out[r * out_row] = total[r];
}

// ---- four bits -----------------------------------------------------------------------------------------------------

#ifdef __AVX2__
constexpr int64_t digits = 3, words_of_chunk = 8, bytes_of_chunk = digits * chunk + words_of_chunk * 4;
constexpr int32_t largest_count = 127 << 16;

int64_t chunks_of(int64_t depth) { return (depth + chunk - 1) / chunk; }
// A row has its chunks, and then the unit of each.
int64_t arranged_size(int64_t depth) { return chunks_of(depth) * (bytes_of_chunk / 4 + 1); }

// Writes a chunk of x. Returns its unit.
float arrange_chunk(const float* x, int8_t* to) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  __m256 most = _mm256_set1_ps(2.5e-32f);  // whose reciprocal times largest_count is finite
  for (int i = 0; i < chunk; i += 8) most = _mm256_max_ps(most, _mm256_and_ps(_mm256_loadu_ps(x + i), magnitude));
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  const float greatest = _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
  const __m256 by = _mm256_set1_ps(largest_count / greatest);
  int32_t whole[chunk];
  for (int i = 0; i < chunk; i += 8)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(whole + i),
                        _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), by)));
  // Each digit is between -128 and 127. Adding 128 to every digit makes the digits the bytes of a number.
  for (int half = 0; half < 2; half++)
    for (int d = 0; d < digits; d++)
      for (int i = 0; i < chunk / 2; i++)
        to[d * chunk + half * 32 + i] = static_cast<int8_t>(((whole[2 * i + half] + 0x808080) >> (8 * d)) ^ 0x80);
  int32_t sums[words_of_chunk] = {};
  for (int i = 0; i < chunk; i++) sums[i / 8] += 8 * whole[i];
  std::memcpy(to + digits * chunk, sums, sizeof sums);
  return greatest / largest_count;
}

void arrange_row(int64_t depth, const float* x, float* to) {
  const int64_t chunks = chunks_of(depth);
  auto* bytes = reinterpret_cast<int8_t*>(to);
  float* units = to + chunks * (bytes_of_chunk / 4);
  for (int64_t c = 0; c < chunks; c++) {
    const int64_t begin = c * chunk, n = depth - begin < chunk ? depth - begin : chunk;
    float numbers[chunk] = {};
    std::memcpy(numbers, x + begin, n * 4);
    units[c] = arrange_chunk(numbers, bytes + c * bytes_of_chunk);
  }
}

// A scale serves whole chunks, or each of the eight words of a chunk has one.
bool word_groups(int64_t depth, int64_t groups) {
  const int64_t size = depth / groups;
  return depth % 2 == 0 && (groups == 1 || size % chunk == 0 || (size >= 8 && chunk % size == 0));
}

// The scales of the words of a chunk that several groups share.
struct ShortGroups {
  int64_t count;  // groups in a chunk: 2, 4 or 8
  __m256i places;

  explicit ShortGroups(int64_t size) : count(chunk / size) {
    int32_t group[8];
    for (int word = 0; word < 8; word++) group[word] = static_cast<int32_t>(word * 8 / size);
    places = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(group));
  }
  // Returns the scales of a chunk, of which `there` are left in memory.
  __m256 of_words(const float* scales, int64_t there) const {
    alignas(32) static constexpr int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const int64_t n = there < count ? there : count;
    const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(window + 8 - n));
    return _mm256_permutevar8x32_ps(_mm256_maskload_ps(scales, mask), places);
  }
};

// Returns the words of a chunk of n codes, each inverted at its highest bit.
inline __m256i words_at(const uint8_t* codes, int64_t n) {
  const __m256i inverted = _mm256_set1_epi32(static_cast<int>(0x88888888));
  if (n >= chunk) return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)), inverted);
  uint8_t rest[chunk / 2] = {};
  std::memcpy(rest, codes, n / 2);
  return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rest)), inverted);
}

// Returns the sums of the products of a chunk, in units: that of the codes in each word.
inline __m256 multiply_chunk(__m256i words, const int8_t* x) {
  const __m256i mask = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1), base = _mm256_set1_epi16(256);
  const __m256i even = _mm256_and_si256(words, mask), odd = _mm256_and_si256(_mm256_srli_epi16(words, 4), mask);
  const auto sums_of = [&](int digit) {
    const auto* at = reinterpret_cast<const __m256i*>(x + digit * chunk);
    return _mm256_add_epi16(_mm256_maddubs_epi16(even, _mm256_loadu_si256(at)),
                            _mm256_maddubs_epi16(odd, _mm256_loadu_si256(at + 1)));
  };
  const __m256i high = _mm256_add_epi32(_mm256_madd_epi16(sums_of(2), base), _mm256_madd_epi16(sums_of(1), ones));
  const __m256i all = _mm256_add_epi32(_mm256_slli_epi32(high, 8), _mm256_madd_epi16(sums_of(0), ones));
  const __m256i added = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + digits * chunk));
  return _mm256_cvtepi32_ps(_mm256_sub_epi32(all, added));
}

// Sums of Rows rows of x and Columns rows of codes, in eight parts each.
template <int Rows, int Columns>
struct Block {
  __m256 sums[Rows][Columns];

  Block() {
    each([](__m256& sum, int, int) { sum = _mm256_setzero_ps(); });
  }
  template <class Visit>
  __attribute__((always_inline)) void each(Visit visit) {
#pragma GCC unroll 4
    for (int r = 0; r < Rows; r++)
#pragma GCC unroll 2
      for (int c = 0; c < Columns; c++) visit(sums[r][c], r, c);
  }
};

// Multiplies by Columns rows of codes at once. A scale serves some chunks, or with `Short` a part of one.
template <int Rows, int Columns, bool Short>
void multiply_nibbles(const FewRows& f, const uint8_t* codes, const float* scales, float* out, int64_t out_row) {
  const int64_t size = f.depth / f.groups, row = arranged_size(f.depth), chunks = chunks_of(f.depth);
  const int64_t code_stride = f.depth / 2, groups = f.groups, depth = f.depth;
  const float* const units = f.x + chunks * (bytes_of_chunk / 4);
  const float* const x = f.x;
  Block<Rows, Columns> all;
  const auto add_chunk = [&](int64_t at, Block<Rows, Columns> & to) __attribute__((always_inline)) {
    __m256i words[Columns];
#pragma GCC unroll 2
    for (int c = 0; c < Columns; c++)
      words[c] = words_at(codes + c * code_stride + at * (chunk / 2), depth - at * chunk);
    to.each([&](__m256 & sum, int r, int c) __attribute__((always_inline)) {
      const auto* digits_of_x = reinterpret_cast<const int8_t*>(x + r * row) + at * bytes_of_chunk;
      sum = _mm256_fmadd_ps(multiply_chunk(words[c], digits_of_x), _mm256_broadcast_ss(units + r * row + at), sum);
    });
  };
  if constexpr (Short) {
    const ShortGroups shorts(size);
    for (int64_t at = 0; at < chunks; at++) {
      Block<Rows, Columns> part;
      add_chunk(at, part);
      const int64_t first = at * shorts.count;
      all.each([&](__m256 & sum, int r, int c) __attribute__((always_inline)) {
        const __m256 by = shorts.of_words(scales + c * groups + first, groups - first);
        sum = _mm256_fmadd_ps(part.sums[r][c], by, sum);
      });
    }
  } else {
    const int64_t step = groups == 1 ? chunks : size / chunk;  // chunks of a group
    for (int64_t g = 0; g < groups; g++) {
      Block<Rows, Columns> part;
      for (int64_t at = g * step; at < (g + 1) * step; at++) add_chunk(at, part);
      all.each([&](__m256 & sum, int r, int c) __attribute__((always_inline)) {
        sum = _mm256_fmadd_ps(part.sums[r][c], _mm256_broadcast_ss(scales + c * groups + g), sum);
      });
    }
  }
  all.each([&](__m256& sum, int r, int c) { out[r * out_row + c] = add_up(sum); });
}
#else
int64_t arranged_size(int64_t depth) { return depth; }
void arrange_row(int64_t depth, const float* x, float* to) { copy_row(depth, x, to); }
bool word_groups(int64_t depth, int64_t) { return depth % 2 == 0; }

template <int Rows, int Columns, bool>
void multiply_nibbles(const FewRows& f, const uint8_t* codes, const float* scales, float* out, int64_t out_row) {
  static_assert(Columns == 1);
  const int64_t size = f.depth / f.groups;
  for (int r = 0; r < Rows; r++) {
    float total = 0;
    for (int64_t g = 0; g < f.groups; g++) {
      float sum = 0;
      for (int64_t k = g * size; k < (g + 1) * size; k++)
        sum += f.x[r * f.depth + k] * static_cast<float>(((codes[k / 2] >> k % 2 * 4 & 15) ^ 8) - 8);
      total += sum * scales[g];
    }
    out[r * out_row] = total;
  }
}
#endif

void multiply_by_bytes(const FewRows& f, int64_t n, const void* codes, const float* scales, float* out,
                       int64_t out_row) {
  constexpr decltype(&multiply_bytes<1>) loops[] = {multiply_bytes<1>, multiply_bytes<2>, multiply_bytes<3>,
                                                    multiply_bytes<4>};
  const auto* from = static_cast<const int8_t*>(codes);
  for (int64_t j = 0; j < n; j++) loops[f.rows - 1](f, from + j * f.depth, scales + j * f.groups, out + j, out_row);
}
template <int Rows, bool Short>
void multiply_all_nibbles(const FewRows& f, int64_t n, const uint8_t* codes, const float* scales, float* out,
                          int64_t out_row) {
#ifdef __AVX2__
  constexpr int columns = Rows <= 2 ? 2 : 1;
#else
  constexpr int columns = 1;
#endif
  const auto run = [&](auto loop, int64_t j) {
    loop(f, codes + j * (f.depth / 2), scales + j * f.groups, out + j, out_row);
  };
  int64_t j = 0;
  for (; j + columns <= n; j += columns) run(multiply_nibbles<Rows, columns, Short>, j);
  for (; j < n; j++) run(multiply_nibbles<Rows, 1, Short>, j);
}
template <bool Short>
void multiply_rows_by_nibbles(const FewRows& f, int64_t n, const uint8_t* codes, const float* scales, float* out,
                              int64_t out_row) {
  constexpr decltype(&multiply_all_nibbles<1, Short>) loops[] = {
      multiply_all_nibbles<1, Short>, multiply_all_nibbles<2, Short>, multiply_all_nibbles<3, Short>,
      multiply_all_nibbles<4, Short>};
  loops[f.rows - 1](f, n, codes, scales, out, out_row);
}
void multiply_by_nibbles(const FewRows& f, int64_t n, const void* codes, const float* scales, float* out,
                         int64_t out_row) {
  const bool is_short = f.groups > 1 && f.depth / f.groups < chunk;
  (is_short ? multiply_rows_by_nibbles<true>
            : multiply_rows_by_nibbles<false>)(f, n, static_cast<const uint8_t*>(codes), scales, out, out_row);
}

}  // namespace

const AllWeightLoops& weight_loops() {
  static const AllWeightLoops all = {{same_size, copy_row, multiply_by_bytes, all_groups},
                                     {arranged_size, arrange_row, multiply_by_nibbles, word_groups}};
  return all;
}

}  // namespace lamella::cpu::LAMELLA_ISA
