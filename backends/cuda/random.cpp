// Random numbers: each operator draws by a kind of kernels/random.cu. The stream of words is the same as the CPU's.
#include <cmath>

#include "layout.h"
#include "operands.h"
#include "random.h"

namespace cuda {
namespace {

using lamella::Device, lamella::Generator, lamella::IntArrayRef, lamella::MemoryFormat;
using lamella::ScalarType, lamella::Status, lamella::Tensor;
template <class T>
using Maybe = std::optional<T>;

enum Kind { words, uniform32, uniform64, normal32, normal64, bernoulli, integers, wide_integers };

Kernel& kernel_of(Kind kind, int out) {
  static constexpr const char* names[] = {"Words",    "Uniform32", "Uniform64", "Normal32",
                                          "Normal64", "Bernoulli", "Integers",  "WideIntegers"};
  static Kernels kernels("random.cu");
  return kernels.get({kind, out}, [&] { return text("draw<", names[kind], ", ", type_name(out), ">"); });
}

bool takes_two(Kind kind) { return kind == uniform64 || kind == normal64 || kind == wide_integers; }
int part_of(int dtype) {
  return dtype == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : dtype == LAMELLA_COMPLEX128 ? LAMELLA_FLOAT64 : dtype;
}

// Draws every element of `t`, in row-major order; with `pairs`, both parts of complex numbers.
lamella_status draw(const lamella_tensor* t, Kind kind, const Distribution& numbers, const Generator& generator,
                    bool pairs = false) {
  const int64_t n = pairs ? 2 * t->numel : t->numel;
  ReservedWords reserved;
  if (auto st = reserve_words(t, generator, static_cast<uint64_t>(n) * (takes_two(kind) ? 2 : 1), &reserved)) return st;
  const Result to(t);
  const void* data = to.data();
  const int64_t each = takes_two(kind) ? 2 : 4;
  if (lamella_status st =
          launch(kernel_of(kind, pairs ? part_of(t->dtype) : t->dtype), t, blocks_for(t, (n + each - 1) / each, 256),
                 {256}, 0, data, n, reserved.stream, numbers, reserved.replayed))
    return st;
  return to.finish();
}

// Returns the largest number of a dtype that is below the end of a range, since rounding must not reach the end.
double limit_below(double end, int dtype) {
  const auto below = [end](int bits, int least) {  // a significand of `bits` bits, exponents from `least`
    int exponent;
    std::frexp(end, &exponent);
    const double step = std::ldexp(1.0, std::max(exponent, least) - bits);
    double x = std::ceil(end / step) * step - step;
    if (x >= end) x -= step;
    std::frexp(end, &exponent);
    const double finer = std::ldexp(1.0, std::max(exponent - 1, least) - bits);
    return end > 0 && x + finer < end ? x + finer : x;
  };
  if (dtype == LAMELLA_FLOAT16) return below(11, -13);
  if (dtype == LAMELLA_BFLOAT16) return below(8, -125);
  if (dtype == LAMELLA_FLOAT32) {
    const float f = static_cast<float>(end);
    return f < end ? f : std::nextafter(f, -INFINITY);
  }
  return std::nextafter(end, -INFINITY);
}

lamella_status draw_uniform(const Tensor& t, double low, double high, const Generator& generator) {
  const int dtype = part_of(t.get()->dtype);
  const Distribution n = {low, high - low, low < high ? limit_below(high, dtype) : high};
  return draw(t.get(), dtype == LAMELLA_FLOAT64 ? uniform64 : uniform32, n, generator,
              lamella::is_complex(t.get()->dtype));
}
lamella_status draw_normal(const Tensor& t, double mean, double std, const Generator& generator) {
  const int dtype = t.get()->dtype;
  if (lamella::is_complex(dtype)) std *= std::sqrt(0.5);  // the parts share the variance
  return draw(t.get(), part_of(dtype) == LAMELLA_FLOAT64 ? normal64 : normal32, {mean, std}, generator,
              lamella::is_complex(dtype));
}
lamella_status draw_integers(const Tensor& t, int64_t low, int64_t high, const Generator& generator) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return draw(t.get(), range <= uint64_t{1} << 31 ? integers : wide_integers,
              {0, 1, 1, low, static_cast<int64_t>(range)}, generator);
}

Status random_bits(const Tensor&, const Generator& g, const Tensor& out) { return draw(out.get(), words, {}, g); }
Status uniform(const Tensor&, double from, double to, const Generator& g, const Tensor& out) {
  return draw_uniform(out, from, to, g);
}
Status normal(const Tensor&, double mean, double std, const Generator& g, const Tensor& out) {
  return draw_normal(out, mean, std, g);
}
Status rand(IntArrayRef, const Generator& g, Maybe<ScalarType>, Maybe<lamella::Layout>, const Maybe<Device>&,
            Maybe<bool>, const Tensor& out) {
  return draw_uniform(out, 0, 1, g);
}
Status randn(IntArrayRef, const Generator& g, Maybe<ScalarType>, Maybe<lamella::Layout>, const Maybe<Device>&,
             Maybe<bool>, const Tensor& out) {
  return draw_normal(out, 0, 1, g);
}
Status rand_like(const Tensor&, Maybe<ScalarType>, Maybe<lamella::Layout>, const Maybe<Device>&, Maybe<bool>,
                 Maybe<MemoryFormat>, const Tensor& out) {
  return draw_uniform(out, 0, 1, Generator());
}
Status randn_like(const Tensor&, Maybe<ScalarType>, Maybe<lamella::Layout>, const Maybe<Device>&, Maybe<bool>,
                  Maybe<MemoryFormat>, const Tensor& out) {
  return draw_normal(out, 0, 1, Generator());
}
Status bernoulli_with(const Tensor&, double p, const Generator& g, const Tensor& out) {
  return draw(out.get(), bernoulli, {p}, g);
}
Status randint(int64_t high, IntArrayRef, const Generator& g, Maybe<ScalarType>, Maybe<lamella::Layout>,
               const Maybe<Device>&, Maybe<bool>, const Tensor& out) {
  return draw_integers(out, 0, high, g);
}
Status randint_low(int64_t low, int64_t high, IntArrayRef, const Generator& g, Maybe<ScalarType>,
                   Maybe<lamella::Layout>, const Maybe<Device>&, Maybe<bool>, const Tensor& out) {
  return draw_integers(out, low, high, g);
}

}  // namespace

lamella_status reserve_words(const lamella_tensor* on, const Generator& generator, uint64_t count, ReservedWords* to) {
  const CapturedWords captured = captured_words(index_of(on), generator, count);
  if (captured.stream) return *to = {{0, captured.counter}, captured.stream}, LAMELLA_OK;
  uint64_t seed, offset;
  if (lamella_status st = api().generator_reserve(generator.get(), lamella::device_of(on), count, &seed, &offset))
    return st;
  return *to = {{seed, offset / 4}, 0}, LAMELLA_OK;
}

lamella_status write_place(const lamella_tensor* to, const ReservedWords& reserved) {
  static Kernel kernel("random.cu", "write_place");
  const void* data = to->dl.data;
  return launch(kernel, to, {1}, {1}, 0, data, reserved.stream, reserved.replayed);
}

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.impl<random_bits>("_random_bits_", "cuda");
  m.impl<uniform>("uniform_", "cuda");
  m.impl<normal>("normal_", "cuda");
  m.impl<rand>("rand", "cuda");
  m.impl<randn>("randn", "cuda");
  m.impl<rand_like>("rand_like", "cuda");
  m.impl<randn_like>("randn_like", "cuda");
  m.impl<bernoulli_with>("bernoulli.p", "cuda");
  m.impl<bernoulli_with>("bernoulli_.float", "cuda");
  m.impl<randint>("randint", "cuda");
  m.impl<randint_low>("randint.low", "cuda");
}

}  // namespace cuda
