// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) and the numbers drawn from it: element i depends on the seed and on
// its place alone, and is the CPU's. docs/decisions/0006-random-words.md says which words an element takes.
#include "common.cuh"

struct Stream {
  uint64_t seed, counter;
};
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

struct Numbers {
  double first, second, limit;  // what a kind of numbers is described by
  int64_t low, range;
};

// Each kind makes `made` elements of type Made out of four words.
struct Words {
  typedef uint32_t Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Numbers&, uint32_t* to) {
    for (int i = 0; i < 4; i++) to[i] = f.w[i];
  }
};
struct Uniform32 {
  typedef float Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Numbers& n, float* to) {
    for (int i = 0; i < 4; i++) {
      const float x = static_cast<float>(n.first) + static_cast<float>(n.second) * unit(f.w[i]);
      to[i] = x > static_cast<float>(n.limit) ? static_cast<float>(n.limit) : x;
    }
  }
};
struct Uniform64 {
  typedef double Made;
  static const int made = 2;
  static DEVICE void draw(const Four& f, const Numbers& n, double* to) {
    for (int i = 0; i < 2; i++) {
      const double x = n.first + n.second * unit(f.w[2 * i], f.w[2 * i + 1]);
      to[i] = x > n.limit ? n.limit : x;
    }
  }
};
// sin and cos of 2 pi u for u in [0, 1): the nearest quarter turn comes off exactly.
DEVICE void turn(float u, float* sine, float* cosine) {
  const int32_t q = static_cast<int32_t>(4.0f * u + 0.5f);
  float s, c;
  sincosf(6.28318530717958648f * (u - 0.25f * static_cast<float>(q)), &s, &c);
  const float sn = q & 1 ? c : s, cs = q & 1 ? s : c;
  *sine = q & 2 ? -sn : sn;
  *cosine = (q + 1) & 2 ? -cs : cs;
}
// Box and Muller's transform of neighbouring uniform numbers.
struct Normal32 {
  typedef float Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Numbers& n, float* to) {
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
  static DEVICE void draw(const Four& f, const Numbers& n, double* to) {
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
  static DEVICE void draw(const Four& f, const Numbers& n, float* to) {
    for (int i = 0; i < 4; i++) to[i] = unit(f.w[i]) < static_cast<float>(n.first) ? 1.0f : 0.0f;
  }
};
// low + floor(range * word / 2^32); ranges beyond 31 bits take two words.
struct Integers {
  typedef int64_t Made;
  static const int made = 4;
  static DEVICE void draw(const Four& f, const Numbers& n, int64_t* to) {
    for (int i = 0; i < 4; i++)
      to[i] = n.low + static_cast<int64_t>((static_cast<uint64_t>(f.w[i]) * static_cast<uint64_t>(n.range)) >> 32);
  }
};
struct WideIntegers {
  typedef int64_t Made;
  static const int made = 2;
  static DEVICE void draw(const Four& f, const Numbers& n, int64_t* to) {
    for (int i = 0; i < 2; i++) {
      const uint64_t v = static_cast<uint64_t>(f.w[2 * i]) << 30 | f.w[2 * i + 1] >> 2, range = static_cast<uint64_t>(n.range);
      to[i] = n.low + static_cast<int64_t>(__umul64hi(v, range) << 2 | (v * range) >> 62);
    }
  }
};

// Fills n elements that lie one behind the other. In a graph `replayed` is what a replay draws from, and s.counter the place
// behind it.
template <class Kind, class Out>
__global__ void __launch_bounds__(256) draw(Out* out, int64_t n, Stream s, Numbers numbers, const Stream* replayed) {
  if (replayed) s = {replayed->seed, replayed->counter + s.counter};
  const int each = Kind::made;
  for (int64_t i = thread_index(); i * each < n; i += grid_threads()) {
    typename Kind::Made made[each];
    Kind::draw(philox(s, static_cast<uint64_t>(i)), numbers, made);
#pragma unroll
    for (int k = 0; k < each; k++)
      if (i * each + k < n) out[i * each + k] = convert<Out>(made[k]);
  }
}
