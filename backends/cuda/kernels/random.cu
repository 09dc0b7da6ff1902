// The numbers that are drawn from the words of philox.cuh. docs/decisions/0006-random-words.md says which words an element
// takes.
#include "philox.cuh"

// Each kind makes `made` elements of type Made out of four words.
struct Words {
  typedef uint32_t Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Distribution&, uint32_t* to) {
    for (int i = 0; i < 4; i++) to[i] = f.w[i];
  }
};
struct Uniform32 {
  typedef float Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Distribution& n, float* to) {
    for (int i = 0; i < 4; i++) {
      const float x = static_cast<float>(n.first) + static_cast<float>(n.second) * unit(f.w[i]);
      to[i] = x > static_cast<float>(n.limit) ? static_cast<float>(n.limit) : x;
    }
  }
};
struct Uniform64 {
  typedef double Made;
  static const int made = 2;
  static DEVICE void draw(const Four& f, const Distribution& n, double* to) {
    for (int i = 0; i < 2; i++) {
      const double x = n.first + n.second * unit(f.w[2 * i], f.w[2 * i + 1]);
      to[i] = x > n.limit ? n.limit : x;
    }
  }
};
// Computes the sine and cosine of 2 pi u for u in [0, 1). The nearest quarter turn is subtracted exactly.
DEVICE void turn(float u, float* sine, float* cosine) {
  const int32_t q = static_cast<int32_t>(4.0f * u + 0.5f);
  float s, c;
  sincosf(6.28318530717958648f * (u - 0.25f * static_cast<float>(q)), &s, &c);
  const float sn = q & 1 ? c : s, cs = q & 1 ? s : c;
  *sine = q & 2 ? -sn : sn;
  *cosine = (q + 1) & 2 ? -cs : cs;
}
// Normal numbers, by Box and Muller's transform of neighbouring uniform numbers.
struct Normal32 {
  typedef float Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Distribution& n, float* to) {
    for (int i = 0; i < 4; i += 2) {
      const float radius = static_cast<float>(n.second) * sqrtf(-2.0f * logf(1.0f - unit(f.w[i])));
      float sine, cosine;
      turn(unit(f.w[i + 1]), &sine, &cosine);
      to[i] = static_cast<float>(n.first) + radius * cosine;
      to[i + 1] = static_cast<float>(n.first) + radius * sine;
    }
  }
};
struct Normal64 {
  typedef double Made;
  static const int made = 2;
  static DEVICE void draw(const Four& f, const Distribution& n, double* to) {
    const double radius = sqrt(-2.0 * log(1.0 - unit(f.w[0], f.w[1])));
    double sine, cosine;
    sincos(6.283185307179586 * unit(f.w[2], f.w[3]), &sine, &cosine);
    to[0] = n.first + n.second * (radius * cosine);
    to[1] = n.first + n.second * (radius * sine);
  }
};
struct Bernoulli {
  typedef float Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Distribution& n, float* to) {
    for (int i = 0; i < 4; i++) to[i] = unit(f.w[i]) < static_cast<float>(n.first) ? 1.0f : 0.0f;
  }
};
// Integers low + floor(range * word / 2^32). WideIntegers, for ranges above 2^31, uses 62 bits of two words: low +
// floor(range * bits / 2^62); for ranges above 2^63, which n.range holds modulo 2^64, all 64.
struct Integers {
  typedef int64_t Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Distribution& n, int64_t* to) {
    for (int i = 0; i < 4; i++)
      to[i] = n.low + static_cast<int64_t>((static_cast<uint64_t>(f.w[i]) * static_cast<uint64_t>(n.range)) >> 32);
  }
};
struct WideIntegers {
  typedef int64_t Made;
  static const int made = 2;
  static DEVICE void draw(const Four& f, const Distribution& n, int64_t* to) {
    for (int i = 0; i < 2; i++) {
      const uint64_t range = static_cast<uint64_t>(n.range), low = static_cast<uint64_t>(n.low);
      const int spare = n.range < 0 ? 0 : 2;
      const uint64_t v = static_cast<uint64_t>(f.w[2 * i]) << (32 - spare) | f.w[2 * i + 1] >> spare;
      const uint64_t step = spare ? __umul64hi(v, range) << 2 | (v * range) >> 62 : __umul64hi(v, range);
      to[i] = static_cast<int64_t>(low + step);
    }
  }
};

// Returns the stream of a kernel. In a graph it begins s.counter after the counter of a replay's stream, `replayed`.
DEVICE Stream stream_of(Stream s, const Stream* replayed) {
  return replayed ? Stream{replayed->seed, replayed->counter + s.counter} : s;
}

// Fills n elements that follow each other in memory.
template <class Kind, class Out>
__global__ void __launch_bounds__(256) draw(Out* out, int64_t n, Stream s, Distribution numbers, const Stream* replayed) {
  s = stream_of(s, replayed);
  const int each = Kind::made;
  for (int64_t i = thread_index(); i * each < n; i += grid_threads()) {
    typename Kind::Made made[each];
    Kind::draw(philox(s, static_cast<uint64_t>(i)), numbers, made);
#pragma unroll
    for (int k = 0; k < each; k++)
      if (i * each + k < n) out[i * each + k] = convert<Out>(made[k]);
  }
}

// Writes the seed and the place of the first word.
__global__ void write_place(uint64_t* to, Stream s, const Stream* replayed) {
  s = stream_of(s, replayed);
  to[0] = s.seed;
  to[1] = s.counter * 4;
}
