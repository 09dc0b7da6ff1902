// Random numbers on the CPU: the threads share the streams of random.h in whole tiles.
#include "backends/cpu/random.h"

#include <lamella/half.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

const RandomLoops& streams() {
  static const RandomLoops& chosen = LAMELLA_BY_ISA(random_loops)();
  return chosen;
}

// Reserves the words of one draw and stores the place of the first one.
lamella_status reserve(const lamella_tensor* t, const Generator& generator, int words_each, Stream* s) {
  const uint64_t words = static_cast<uint64_t>(t->numel) * static_cast<uint64_t>(words_each);
  uint64_t seed, offset;
  if (lamella_status st = api().generator_reserve(generator.get(), device_of(t), words, &seed, &offset)) return st;
  *s = {seed, offset / 4};
  return LAMELLA_OK;
}

// Returns the dtype of a complex number's parts; any other dtype itself.
int part_of(int dtype) {
  return dtype == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : dtype == LAMELLA_COMPLEX128 ? LAMELLA_FLOAT64 : dtype;
}

// Fills t in row-major order: draw(stream, n, T* out) makes n elements of type T (whose dtype is `made`) of
// `words_each` words each. For another dtype each run is drawn into a buffer and converted; a strided tensor is filled
// by way of a contiguous temporary. With `pairs`, the parts of complex numbers are two elements.
template <class T, class Draw>
lamella_status fill(lamella_tensor* t, int made, int words_each, const Generator& generator, Draw draw,
                    bool pairs = false) {
  Stream s;
  if (lamella_status st = reserve(t, generator, pairs ? 2 * words_each : words_each, &s)) return st;
  const Result result(t);
  constexpr int64_t part = 2048;  // a multiple of every tile
  char* data = result.data();
  const int dtype = pairs ? part_of(t->dtype) : t->dtype;
  const int64_t n = pairs ? 2 * t->numel : t->numel, item = pairs ? itemsize(t) / 2 : itemsize(t);
  const CastLoop cast = loops().cast[made][dtype];
  lamella_status st = parallel_for(0, (n + part - 1) / part, 16, [&](int64_t b, int64_t e) -> lamella_status {
    alignas(64) T buffer[part];
    for (int64_t k = b; k < e; k++) {
      const int64_t m = std::min(part, n - k * part);
      char* to = data + k * part * item;
      const Stream here = {s.seed, s.counter + static_cast<uint64_t>(k * part * words_each / 4)};
      if (made == dtype) {
        draw(here, m, reinterpret_cast<T*>(to));
      } else {
        draw(here, m, buffer);
        cast(m, to, item, reinterpret_cast<char*>(buffer), sizeof(T));
      }
    }
    return LAMELLA_OK;
  });
  return st ? st : result.finish();
}

Status random_bits(const Tensor&, const Generator& generator, const Tensor& out) {
  return fill<uint32_t>(out.get(), LAMELLA_UINT32, 1, generator, streams().words);
}

double limit_below(double end, int dtype) {
  return dtype == LAMELLA_FLOAT16    ? largest_below<float16>(end)
         : dtype == LAMELLA_BFLOAT16 ? largest_below<bfloat16>(end)
         : dtype == LAMELLA_FLOAT32  ? largest_below<float>(end)
                                     : largest_below<double>(end);
}

lamella_status draw_uniform(lamella_tensor* t, double low, double high, const Generator& generator) {
  const int dtype = part_of(t->dtype);
  const bool pairs = is_complex(t->dtype);
  const double limit = low < high ? limit_below(high, dtype) : high;
  if (dtype == LAMELLA_FLOAT64) {
    auto draw = [=](Stream s, int64_t n, double* out) { streams().uniform64(s, n, out, low, high - low, limit); };
    return fill<double>(t, LAMELLA_FLOAT64, 2, generator, draw, pairs);
  }
  auto draw = [=](Stream s, int64_t n, float* out) {
    streams().uniform32(s, n, out, static_cast<float>(low), static_cast<float>(high - low), static_cast<float>(limit));
  };
  return fill<float>(t, LAMELLA_FLOAT32, 1, generator, draw, pairs);
}

lamella_status draw_normal(lamella_tensor* t, double mean, double std, const Generator& generator) {
  const bool pairs = is_complex(t->dtype);
  if (pairs) std *= std::sqrt(0.5);  // the parts share the variance
  if (part_of(t->dtype) == LAMELLA_FLOAT64) {
    auto draw = [=](Stream s, int64_t n, double* out) { streams().normal64(s, n, out, mean, std); };
    return fill<double>(t, LAMELLA_FLOAT64, 2, generator, draw, pairs);
  }
  auto draw = [=](Stream s, int64_t n, float* out) {
    streams().normal32(s, n, out, static_cast<float>(mean), static_cast<float>(std));
  };
  return fill<float>(t, LAMELLA_FLOAT32, 1, generator, draw, pairs);
}

Status uniform(const Tensor&, double from, double to, const Generator& generator, const Tensor& out) {
  return draw_uniform(out.get(), from, to, generator);
}
Status normal(const Tensor&, double mean, double std, const Generator& generator, const Tensor& out) {
  return draw_normal(out.get(), mean, std, generator);
}

// Draws the numbers of uniform_ into a new tensor.
Status rand(IntArrayRef, const Generator& generator, std::optional<ScalarType>, std::optional<Layout>,
            const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return draw_uniform(out.get(), 0, 1, generator);
}
Status randn(IntArrayRef, const Generator& generator, std::optional<ScalarType>, std::optional<Layout>,
             const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return draw_normal(out.get(), 0, 1, generator);
}
Status normal_numbers(double mean, double std, IntArrayRef, const Generator& generator, std::optional<ScalarType>,
                      std::optional<Layout>, const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return draw_normal(out.get(), mean, std, generator);
}
Status rand_like(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
                 std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return draw_uniform(out.get(), 0, 1, Generator());
}
Status randn_like(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
                  std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return draw_normal(out.get(), 0, 1, Generator());
}

// bernoulli_.float and bernoulli.p: one probability for all elements.
Status bernoulli_with(const Tensor&, double p, const Generator& generator, const Tensor& out) {
  const float limit = static_cast<float>(p);
  return fill<float>(out.get(), LAMELLA_FLOAT32, 1, generator,
                     [=](Stream s, int64_t n, float* to) { streams().bernoulli(s, n, to, limit); });
}

// Writes 1 where the uniform number is below p's element, else 0.
template <class T>
lamella_status bernoulli_each(const lamella_tensor* t, const T* p, int dtype, int words_each,
                              const Generator& generator, void (*uniform)(Stream, int64_t, T*, T, T, T)) {
  Stream s;
  if (lamella_status st = reserve(t, generator, words_each, &s)) return st;
  constexpr int64_t part = 1024;
  const CastLoop cast = loops().cast[dtype][t->dtype];
  const int64_t n = t->numel, item = itemsize(t);
  auto* data = static_cast<char*>(t->dl.data);
  return parallel_for(0, (n + part - 1) / part, 16, [&](int64_t b, int64_t e) -> lamella_status {
    alignas(64) T u[part];
    for (int64_t k = b; k < e; k++) {
      const int64_t m = std::min(part, n - k * part);
      uniform({s.seed, s.counter + static_cast<uint64_t>(k * part * words_each / 4)}, m, u, 0, 1, 1);
      for (int64_t i = 0; i < m; i++) u[i] = u[i] < p[k * part + i] ? T(1) : T(0);
      cast(m, data + k * part * item, item, reinterpret_cast<char*>(u), sizeof(T));
    }
    return LAMELLA_OK;
  });
}

// Returns how many numbers are NaN or outside of [0, 1].
template <class T>
int64_t outside(const T* p, int64_t n) {
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++) bad += !(p[i] >= 0 && p[i] <= 1);
  return bad;
}

lamella_status draw_bernoulli(const char* where, lamella_tensor* self, lamella_tensor* p, const Generator& generator) {
  const int dtype = p->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
  const bool apart = p->storage != self->storage || (p->dl.data == self->dl.data && p->dtype == self->dtype);
  const Result out(self);
  Operand weights;
  if (p->numel == self->numel) {
    weights = Operand(p, dtype, is_contiguous(p) && apart);
  } else {  // p broadcasts
    weights = Operand::made(allocate_like(self, dtype));
    if (lamella_status st = copy_into(weights.get(), p)) return st;
  }
  const int64_t bad = dtype == LAMELLA_FLOAT64 ? outside(weights.data<double>(), self->numel)
                                               : outside(weights.data<float>(), self->numel);
  if (bad)
    return fail(LAMELLA_RUNTIME_ERROR, std::string(where) + ": a probability is between 0 and 1, got " +
                                           std::to_string(bad) + " of " + std::to_string(self->numel) +
                                           " elements outside of this range");
  lamella_status st = dtype == LAMELLA_FLOAT64
                          ? bernoulli_each(out.get(), weights.data<double>(), dtype, 2, generator, streams().uniform64)
                          : bernoulli_each(out.get(), weights.data<float>(), dtype, 1, generator, streams().uniform32);
  return st ? st : out.finish();
}

Status bernoulli(const Tensor& self, const Generator& generator, const Tensor& out) {
  return draw_bernoulli("bernoulli: argument 'self'", out.get(), self.get(), generator);
}
Status bernoulli_tensor(const Tensor&, const Tensor& p, const Generator& generator, const Tensor& out) {
  return draw_bernoulli("bernoulli_: argument 'p'", out.get(), p.get(), generator);
}

// Returns the end, excluded, of random_'s range without `to`, as end_of() does in operators/random_integers.cpp.
int64_t end_of(int dtype) {
  static const int64_t ends[LAMELLA_PLAIN_DTYPES] = {2,
                                                     1 << 8,
                                                     1 << 16,
                                                     int64_t{1} << 32,
                                                     INT64_MAX,
                                                     1 << 7,
                                                     1 << 15,
                                                     int64_t{1} << 31,
                                                     INT64_MAX,
                                                     (1 << 11) + 1,
                                                     (1 << 8) + 1,
                                                     (1 << 24) + 1,
                                                     (int64_t{1} << 53) + 1,
                                                     INT64_MAX,
                                                     INT64_MAX};
  return ends[dtype];
}

// Draws low + floor(range * word / 2^32). A range above 2^31 takes 62 bits v of two words, one above 2^63 all 64.
lamella_status draw_integers(lamella_tensor* t, int64_t low, int64_t high, const Generator& generator) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (range <= uint64_t{1} << 31)
    return fill<int64_t>(t, LAMELLA_INT64, 1, generator, [=](Stream s, int64_t n, int64_t* out) {
      streams().integers(s, n, out, low, static_cast<int64_t>(range));
    });
  const int spare = range <= INT64_MAX ? 2 : 0;
  return fill<int64_t>(t, LAMELLA_INT64, 2, generator, [=](Stream s, int64_t n, int64_t* out) {
    constexpr int64_t part = 128;
    uint32_t words[2 * part];
    for (int64_t i = 0; i < n; i += part, s.counter += part / 2) {
      const int64_t m = std::min(part, n - i);
      streams().words(s, 2 * m, words);
      for (int64_t k = 0; k < m; k++) {
        const uint64_t v = uint64_t{words[2 * k]} << (32 - spare) | words[2 * k + 1] >> spare;
        const auto step = static_cast<uint64_t>(static_cast<unsigned __int128>(v) * range >> (64 - spare));
        out[i + k] = static_cast<int64_t>(static_cast<uint64_t>(low) + step);
      }
    }
  });
}

Status random_from(const Tensor&, int64_t from, std::optional<int64_t> to, const Generator& generator,
                   const Tensor& out) {
  return draw_integers(out.get(), from, to ? *to : end_of(out.get()->dtype), generator);
}
Status random_to(const Tensor&, int64_t to, const Generator& generator, const Tensor& out) {
  return draw_integers(out.get(), 0, to, generator);
}
Status random_all(const Tensor&, const Generator& generator, const Tensor& out) {
  return draw_integers(out.get(), 0, end_of(out.get()->dtype), generator);
}
Status randint(int64_t high, IntArrayRef, const Generator& generator, std::optional<ScalarType>, std::optional<Layout>,
               const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return draw_integers(out.get(), 0, high, generator);
}
Status randint_low(int64_t low, int64_t high, IntArrayRef, const Generator& generator, std::optional<ScalarType>,
                   std::optional<Layout>, const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return draw_integers(out.get(), low, high, generator);
}
Status randint_like(const Tensor&, int64_t high, std::optional<ScalarType>, std::optional<Layout>,
                    const std::optional<Device>&, std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return draw_integers(out.get(), 0, high, Generator());
}
Status randint_like_low(const Tensor&, int64_t low, int64_t high, std::optional<ScalarType>, std::optional<Layout>,
                        const std::optional<Device>&, std::optional<bool>, std::optional<MemoryFormat>,
                        const Tensor& out) {
  return draw_integers(out.get(), low, high, Generator());
}

// ---- permutations: the places in the order of random keys --------------------------------------------------------

// The random keys of a permutation. A sorted entry holds a place, with the high half of the place's key in the bits
// above it. The low halves order entries of equal high halves, which are rare.
struct Keys {
  Stream stream;
  // Returns the low half of a place's key.
  uint32_t low(uint32_t place) const {
    uint32_t w[4];
    streams().words({stream.seed, stream.counter + place / 2}, 4, w);
    return w[place % 2 * 2 + 1] >> 1;
  }
};

// Sorts the entries of one bucket, whose first `used_bits` bits are equal: a radix sort by the other bits of the high
// halves, with `b` as a buffer, then an insertion sort by the low halves of the few entries whose high halves are
// equal.
void sort_bucket(const Keys& keys, uint64_t* a, uint64_t* b, int64_t n, int used_bits) {
  const int left = 32 - used_bits, passes = (left + 9) / 10, bits = (left + passes - 1) / passes;
  uint64_t *from = a, *to = b;
  for (int shift = 32; shift < 32 + left; shift += bits) {
    uint32_t count[1 << 10] = {};
    const uint64_t mask = (uint64_t{1} << std::min(bits, 32 + left - shift)) - 1;
    for (int64_t i = 0; i < n; i++) count[from[i] >> shift & mask]++;
    uint32_t at = 0;
    for (uint64_t k = 0; k <= mask; k++) at += std::exchange(count[k], at);
    for (int64_t i = 0; i < n; i++) to[count[from[i] >> shift & mask]++] = from[i];
    std::swap(from, to);
  }
  for (int64_t i = 1; i < n; i++) {
    if (__builtin_expect(from[i] >> 32 != from[i - 1] >> 32, 1)) continue;
    const uint64_t entry = from[i];
    const uint32_t low = keys.low(static_cast<uint32_t>(entry));
    int64_t k = i;
    for (; k > 0 && from[k - 1] >> 32 == entry >> 32 && keys.low(static_cast<uint32_t>(from[k - 1])) > low; k--)
      from[k] = from[k - 1];
    from[k] = entry;
  }
  if (from != a) std::copy(from, from + n, a);
}

// `sort_few` writes the places 0 to n - 1, at most `few`, in the order of their keys, by insertion.
constexpr int64_t few = 64;
void sort_few(const Keys& keys, int64_t n, uint32_t* places) {
  uint32_t words[2 * few];
  uint64_t sorted[few];
  streams().words(keys.stream, 2 * n, words);
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = uint64_t{words[2 * i]} << 31 | words[2 * i + 1] >> 1;
    int64_t k = i;
    for (; k > 0 && sorted[k - 1] > key; k--) {
      sorted[k] = sorted[k - 1];
      places[k] = places[k - 1];
    }
    sorted[k] = key;
    places[k] = static_cast<uint32_t>(i);
  }
}

// Fills a row with the places 0 to n - 1, in the order of their keys.
lamella_status permute(lamella_tensor* t, const Generator& generator) {
  const int64_t n = t->numel;
  if (n > int64_t{UINT32_MAX})
    return fail(LAMELLA_NOT_IMPLEMENTED, "randperm: argument 'n': expected at most 2^32 - 1, got " + std::to_string(n));
  Keys keys;
  if (lamella_status st = reserve(t, generator, 2, &keys.stream)) return st;
  // Buckets of a few thousand entries stay in the first-level cache.
  int bucket_bits = 0;
  while (bucket_bits < 12 && n >> bucket_bits > 3000) bucket_bits++;
  const int64_t buckets = int64_t{1} << bucket_bits, parts = n > 100000 ? std::clamp<int64_t>(n >> 20, 8, 128) : 1,
                part = (n + parts - 1) / parts;
  const CastLoop cast = loops().cast[LAMELLA_UINT32][t->dtype];
  const int64_t item = itemsize(t), step = t->dl.ndim ? t->dl.strides[0] * item : 0;
  if (n <= few) {
    uint32_t places[few];
    sort_few(keys, n, places);
    cast(n, static_cast<char*>(t->dl.data), step, reinterpret_cast<char*>(places), 4);
    return LAMELLA_OK;
  }
  Space pool;
  if (lamella_status st = pool.take_touched(n * 8)) return st;
  auto* entries = reinterpret_cast<uint64_t*>(pool.data());
  std::vector<int64_t> starts(static_cast<size_t>(buckets * parts)), bounds(static_cast<size_t>(buckets + 1));
  auto bucket_of = [&](uint32_t high) { return bucket_bits ? high >> (32 - bucket_bits) : 0; };
  // Calls visit(high half of the key, place) for the places of one part.
  auto each = [&](int64_t p, auto visit) -> lamella_status {
    constexpr int64_t piece = 512;
    uint32_t words[2 * piece];
    const int64_t begin = p * part / 2 * 2, end = p + 1 == parts ? n : (p + 1) * part / 2 * 2;
    for (int64_t i = begin; i < end; i += piece) {
      if (lamella_status st = api().check_interrupt()) return st;
      const int64_t m = std::min(piece, end - i);
      streams().words({keys.stream.seed, keys.stream.counter + static_cast<uint64_t>(i / 2)}, 2 * m, words);
      for (int64_t k = 0; k < m; k++) visit(words[2 * k], i + k);
    }
    return LAMELLA_OK;
  };
  lamella_status st = parallel_for(0, parts, 1, [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t p = b; p < e; p++) {
      int64_t* count = &starts[static_cast<size_t>(p * buckets)];
      if (lamella_status st = each(p, [&](uint32_t high, int64_t) { count[bucket_of(high)]++; })) return st;
    }
    return LAMELLA_OK;
  });
  if (st) return st;
  int64_t at = 0;
  for (int64_t k = 0; k < buckets; k++) {
    bounds[static_cast<size_t>(k)] = at;
    for (int64_t p = 0; p < parts; p++) {
      int64_t& c = starts[static_cast<size_t>(p * buckets + k)];
      const int64_t here = c;
      c = at;
      at += here;
    }
  }
  bounds[static_cast<size_t>(buckets)] = at;
  st = parallel_for(0, parts, 1, [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t p = b; p < e; p++) {
      int64_t* next = &starts[static_cast<size_t>(p * buckets)];
      if (lamella_status st = each(p, [&](uint32_t high, int64_t place) {
            entries[next[bucket_of(high)]++] = uint64_t{high} << 32 | static_cast<uint64_t>(place);
          }))
        return st;
    }
    return LAMELLA_OK;
  });
  if (st) return st;
  return parallel_for(0, buckets, std::max<int64_t>(1, buckets * grain / (4 * n + 1)),
                      [&](int64_t b, int64_t e) -> lamella_status {
                        std::vector<uint64_t> other;
                        for (int64_t k = b; k < e; k++) {
                          uint64_t* bucket = entries + bounds[static_cast<size_t>(k)];
                          const int64_t m = bounds[static_cast<size_t>(k + 1)] - bounds[static_cast<size_t>(k)];
                          other.resize(std::max(other.size(), static_cast<size_t>(m)));
                          sort_bucket(keys, bucket, other.data(), m, bucket_bits);
                          cast(m, static_cast<char*>(t->dl.data) + bounds[static_cast<size_t>(k)] * step, step,
                               reinterpret_cast<char*>(bucket), 8);
                        }
                        return LAMELLA_OK;
                      });
}

Status permute_randomly(const Tensor&, const Generator& generator, const Tensor& out) {
  return permute(out.get(), generator);
}
Status randperm(int64_t, const Generator& generator, std::optional<ScalarType>, std::optional<Layout>,
                const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return permute(out.get(), generator);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<random_bits>(m, "_random_bits_");
  add<uniform>(m, "uniform_");
  add<normal>(m, "normal_");
  add<rand>(m, "rand");
  add<randn>(m, "randn");
  add<rand_like>(m, "rand_like");
  add<randn_like>(m, "randn_like");
  add<normal_numbers>(m, "normal.float_float");
  add<bernoulli>(m, "bernoulli");
  add<bernoulli_with>(m, "bernoulli.p");
  add<bernoulli_with>(m, "bernoulli_.float");
  add<bernoulli_tensor>(m, "bernoulli_.Tensor");
  add<random_all>(m, "random_");
  add<random_to>(m, "random_.to");
  add<random_from>(m, "random_.from");
  add<randint>(m, "randint");
  add<randint_low>(m, "randint.low");
  add<randint_like>(m, "randint_like");
  add<randint_like_low>(m, "randint_like.low_dtype");
  add<permute_randomly>(m, "_permute_randomly_");
  add<randperm>(m, "randperm");
}

}  // namespace lamella::cpu
