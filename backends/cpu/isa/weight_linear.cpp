// Linear layers whose weight is integers with scales: codes become floats in registers. Note [Instruction sets] is in
// backends/cpu/isa.h.
//
// Note [Nibbles]  A row of codes of four bits is read in chunks of 64: eight words of 32 bits, each with the codes of
//   eight neighbours of x. Inverting the highest bit of each code makes it its value plus 8, so that a mask
//   leaves place p of a word as that sum times 16^p, and the floats of x at place p are kept
//   times 16^-p, which is exact. 8 times the sum of x is subtracted from each group. `arrange` brings the floats at
//   place p of all words together.
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
void copy_row(int64_t depth, int64_t, const float* x, float* to, float*) { std::memcpy(to, x, depth * 4); }
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
int64_t whole_chunks(int64_t depth) { return (depth + chunk - 1) / chunk * chunk; }

void arrange_row(int64_t depth, int64_t groups, const float* x, float* to, float* sums) {
  for (int64_t at = 0; at < depth; at += chunk) {
    float factor = 1;
    for (int place = 0; place < 8; place++) {
      for (int word = 0; word < 8; word++) {
        const int64_t k = at + 8 * word + place;
        to[at + 8 * place + word] = k < depth ? x[k] * factor : 0;
      }
      factor = place < 6 ? factor / 16 : 1;  // the last place is shifted down
    }
  }
  const int64_t size = depth / groups;
  for (int64_t g = 0; g < groups; g++) {
    float sum = 0;
    for (int64_t k = g * size; k < (g + 1) * size; k++) sum += x[k];
    sums[g] = sum;
  }
}

// A scale serves whole chunks, or each of the eight words of a chunk has one.
bool word_groups(int64_t depth, int64_t groups) {
  const int64_t size = depth / groups;
  return depth % 2 == 0 && (groups == 1 || size % chunk == 0 || (size >= 8 && chunk % size == 0));
}

// Returns the scales of the eight words of a chunk.
inline __m256 scales_of_words(const float* scales, int64_t groups, int64_t size, int64_t at) {
  if (groups == 1) return _mm256_set1_ps(scales[0]);
  if (size >= chunk) return _mm256_set1_ps(scales[at / size]);
  const int64_t first = at / size, count = groups - first < chunk / size ? groups - first : chunk / size;
  if (size == 32 && count == 2) return _mm256_set_m128(_mm_set1_ps(scales[first + 1]), _mm_set1_ps(scales[first]));
  float each[8] = {};
  for (int64_t g = 0; g < count; g++)
    for (int64_t word = g * size / 8; word < (g + 1) * size / 8; word++) each[word] = scales[first + g];
  return _mm256_loadu_ps(each);
}

inline float dot(int64_t n, const float* x, const float* y) {
  __m256 sums = _mm256_setzero_ps();
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) sums = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i), sums);
  float rest = 0;
  for (; i < n; i++) rest += x[i] * y[i];
  return add_up(sums) + rest;
}

// Returns the words of the chunk at element `at` of a row of codes, each code inverted at its highest bit.
inline __m256i words_at(const uint8_t* codes, int64_t at, int64_t depth) {
  const __m256i inverted = _mm256_set1_epi32(static_cast<int>(0x88888888));
  if (at + chunk <= depth)
    return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + at / 2)), inverted);
  uint8_t rest[chunk / 2] = {};
  std::memcpy(rest, codes + at / 2, (depth - at) / 2);
  return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rest)), inverted);
}

// Multiplies by Columns rows of codes at once.
template <int Rows, int Columns>
void multiply_nibbles(const FewRows& f, const uint8_t* codes, const float* scales, float* out, int64_t out_row) {
  constexpr int chains = Rows * Columns > 2 ? 2 : 4;  // sums that do not wait for each other
  const int64_t size = f.depth / f.groups, row = whole_chunks(f.depth);
  const int64_t step = f.groups == 1 ? row : size >= chunk ? size : chunk;  // elements after which scales change
  __m256 sums[Rows][Columns];
  for (int r = 0; r < Rows; r++)
    for (int c = 0; c < Columns; c++) sums[r][c] = _mm256_setzero_ps();
  for (int64_t begin = 0; begin < f.depth; begin += step) {
    __m256 part[Rows][Columns][chains];
    for (int r = 0; r < Rows; r++)
      for (int c = 0; c < Columns; c++)
        for (int i = 0; i < chains; i++) part[r][c][i] = _mm256_setzero_ps();
    const int64_t end = begin + step < f.depth ? begin + step : f.depth;
    for (int64_t at = begin; at < end; at += chunk) {
      __m256i words[Columns];
      for (int c = 0; c < Columns; c++) words[c] = words_at(codes + c * (f.depth / 2), at, f.depth);
#pragma GCC unroll 8
      for (int place = 0; place < 8; place++) {
        __m256 x[Rows];
        for (int r = 0; r < Rows; r++) x[r] = _mm256_loadu_ps(f.x + r * row + at + 8 * place);
        for (int c = 0; c < Columns; c++) {
          const __m256i code = place == 7 ? _mm256_srli_epi32(words[c], 28)
                                          : _mm256_and_si256(words[c], _mm256_set1_epi32(15 << (4 * place)));
          const __m256 y = _mm256_cvtepi32_ps(code);
          for (int r = 0; r < Rows; r++)
            part[r][c][place % chains] = _mm256_fmadd_ps(x[r], y, part[r][c][place % chains]);
        }
      }
    }
    for (int c = 0; c < Columns; c++) {
      const __m256 by = scales_of_words(scales + c * f.groups, f.groups, size, begin);
      for (int r = 0; r < Rows; r++) {
        __m256 all = part[r][c][0];
        for (int i = 1; i < chains; i++) all = _mm256_add_ps(all, part[r][c][i]);
        sums[r][c] = _mm256_fmadd_ps(all, by, sums[r][c]);
      }
    }
  }
  for (int r = 0; r < Rows; r++)
    for (int c = 0; c < Columns; c++) {
      const float* by = scales + c * f.groups;
      out[r * out_row + c] = add_up(sums[r][c]) - 8 * dot(f.groups, f.sums + r * f.groups, by);
    }
}
#else
int64_t whole_chunks(int64_t depth) { return depth; }
void arrange_row(int64_t depth, int64_t groups, const float* x, float* to, float*) {
  copy_row(depth, groups, x, to, nullptr);
}
bool word_groups(int64_t depth, int64_t) { return depth % 2 == 0; }

template <int Rows, int Columns>
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
template <int Rows>
void multiply_all_nibbles(const FewRows& f, int64_t n, const uint8_t* codes, const float* scales, float* out,
                          int64_t out_row) {
#ifdef __AVX2__
  constexpr int columns = Rows <= 2 ? 2 : 1;
#else
  constexpr int columns = 1;
#endif
  int64_t j = 0;
  for (; j + columns <= n; j += columns)
    multiply_nibbles<Rows, columns>(f, codes + j * (f.depth / 2), scales + j * f.groups, out + j, out_row);
  for (; j < n; j++) multiply_nibbles<Rows, 1>(f, codes + j * (f.depth / 2), scales + j * f.groups, out + j, out_row);
}
void multiply_by_nibbles(const FewRows& f, int64_t n, const void* codes, const float* scales, float* out,
                         int64_t out_row) {
  constexpr decltype(&multiply_all_nibbles<1>) loops[] = {multiply_all_nibbles<1>, multiply_all_nibbles<2>,
                                                          multiply_all_nibbles<3>, multiply_all_nibbles<4>};
  loops[f.rows - 1](f, n, static_cast<const uint8_t*>(codes), scales, out, out_row);
}

}  // namespace

const AllWeightLoops& weight_loops() {
  static const AllWeightLoops all = {{same_size, copy_row, multiply_by_bytes, all_groups},
                                     {whole_chunks, arrange_row, multiply_by_nibbles, word_groups}};
  return all;
}

}  // namespace lamella::cpu::LAMELLA_ISA
