// Random numbers: Philox's words are the primitive; uniform, normal and Bernoulli numbers, permutations and samples
// follow from them. Composites take the same words as native kernels, so that a stream is the same on every
// device.
#include "operators/random.h"

#include <cmath>
#include <limits>

namespace lamella::operators {

void check_plain(const char* name, ScalarType t) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(core::is_plain(static_cast<core::DType>(t)), argument(name),
                                ": random numbers are not drawn in dtype ", t, "; draw float32 and convert it");
}

void check_drawn(const char* name, ScalarType t) {
  check_plain(name, t);
  LAMELLA_CHECK_NOT_IMPLEMENTED(is_floating_point(t), argument(name), ": expected a floating dtype, got ", t);
}

void check_continuous(const char* name, ScalarType t) {
  check_plain(name, t);
  LAMELLA_CHECK(is_floating_point(t), argument(name), ": expected a floating dtype, got ", t);
}

// Returns `count` words of the stream as int64.
Tensor words(const Generator& generator, const Device& device, int64_t count) {
  const Tensor w = lamella::empty(count, TensorOptions(kUInt32).device(device));
  return lamella::_random_bits_(w, generator).to(kLong);
}

Tensor wide_words(const Generator& generator, const Device& device, int64_t count, int bits) {
  const Tensor w = words(generator, device, 2 * count).view({count, 2});
  const Tensor high = w.select(1, 0), low = w.select(1, 1);
  return high * (int64_t{1} << (bits - 32)) + low.floor_divide(int64_t{1} << (64 - bits));
}

Tensor uniform_numbers(const Generator& generator, const Device& device, IntArrayRef size, ScalarType dtype) {
  return lamella::empty(size, TensorOptions(dtype).device(device)).uniform_(0, 1, generator);
}

void set_new(Output& out, IntArrayRef size, ScalarType t) {
  check_sizes("size", size, t);
  out.set(size, t);
}
void set_like(Output& out, const Tensor& self, ScalarType t, std::optional<MemoryFormat> memory_format) {
  out.set(self.sizes(), t);
  lay_out(out, "memory_format", memory_format, self);
}

const Tensor& store(const Tensor& self, const Tensor& row) { return self.copy_(row.view(self.sizes())); }

namespace {

// Draws `count` uniform numbers from [0, 1), in float64 or else float32.
Tensor units(const Generator& generator, const Device& device, int64_t count, bool wide) {
  if (wide) return wide_words(generator, device, count, 53).to(kDouble) * (1.0 / 9007199254740992.0);
  return words(generator, device, count).floor_divide(256).to(kFloat) * (1.0 / 16777216.0);
}

// Checks the dtype of drawn numbers; for a complex tensor both parts are drawn.
void check_drawn_parts(const char* name, ScalarType t) {
  if (!is_complex(t)) return check_drawn(name, t);
  check_plain(name, t);
}

// ---- shape rules ----------------------------------------------------------------------------------------------------

void infer_words(const Tensor& self, const Generator&, Output out) {
  out.same(self);
  LAMELLA_CHECK(self.dtype() == kUInt32, argument("self"), ": expected dtype uint32, got ", self.dtype());
}

// The rules of rand and randn, then of rand_like and randn_like: the dtype must be floating or complex.
void infer_drawn(IntArrayRef size, const Generator&, std::optional<ScalarType> dtype, std::optional<Layout>,
                 std::optional<Device>, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(default_dtype());
  check_drawn_parts("dtype", t);
  set_new(out, size, t);
  out.pin(pin_memory);
}
void infer_drawn_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device>,
                      std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format, Output out) {
  const ScalarType t = dtype.value_or(self.dtype());
  check_drawn_parts(dtype ? "dtype" : "self", t);
  set_like(out, self, t, memory_format);
  out.pin(pin_memory);
}

double largest_finite(ScalarType t) {
  switch (t) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    case kFloat:
    case kComplexFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

void check_bound(const char* name, double bound, double largest, ScalarType t) {
  LAMELLA_CHECK(std::fabs(bound) <= largest, argument(name), ": ", bound, " is beyond what dtype ", t, " holds");
}

void infer_uniform(const Tensor& self, double from, double to, const Generator&, Output out) {
  const ScalarType t = self.dtype();
  out.same(self);
  check_drawn_parts("self", t);
  const double largest = largest_finite(t);
  LAMELLA_CHECK(from <= to, "the range from ", from, " ('from') to ", to,
                " ('to') is empty; 'from' must not be larger than 'to'");
  check_bound("from", from, largest, t);
  check_bound("to", to, largest, t);
  LAMELLA_CHECK(to - from <= largest, argument("to"), ": the range from ", from, " ('from') to ", to,
                " is wider than the largest number of dtype ", t);
}

void check_std(double std) {
  LAMELLA_CHECK(std >= 0, argument("std"), ": the standard deviation must not be negative, got ", std);
}

void infer_normal(const Tensor& self, double, double std, const Generator&, Output out) {
  check_std(std);
  out.same(self);
  check_drawn_parts("self", self.dtype());
}
void infer_normal_numbers(double, double std, IntArrayRef size, const Generator&, std::optional<ScalarType> dtype,
                          std::optional<Layout>, std::optional<Device>, std::optional<bool> pin_memory, Output out) {
  check_std(std);
  const ScalarType t = dtype.value_or(default_dtype());
  check_drawn_parts("dtype", t);
  set_new(out, size, t);
  out.pin(pin_memory);
}

// Returns the largest number of a floating dtype below `end`: rounding must not reach the excluded end of a range.
double largest_below(double end, ScalarType t) {
  switch (t) {
    case kHalf:
      return lamella::largest_below<lamella::float16>(end);
    case kBFloat16:
      return lamella::largest_below<lamella::bfloat16>(end);
    case kFloat:
      return lamella::largest_below<float>(end);
    default:
      return lamella::largest_below<double>(end);
  }
}

// ---- composites ----------------------------------------------------------------------------------------

const Tensor& uniform(const Tensor& self, double from, double to, const Generator& generator) {
  if (self.is_complex()) {
    self.view_as_real().uniform_(from, to, generator);
    return self;
  }
  Tensor x = units(generator, self.device(), self.numel(), self.dtype() == kDouble) * (to - from) + from;
  if (from < to) x = x.clamp(std::nullopt, largest_below(to, self.dtype()));
  return store(self, x);
}

// Each part of a complex number has half of the variance, and the mean.
const Tensor& normal(const Tensor& self, double mean, double std, const Generator& generator) {
  if (self.is_complex()) {
    self.view_as_real().normal_(mean, std * std::sqrt(0.5), generator);
    return self;
  }
  const int64_t pairs = (self.numel() + 1) / 2;
  const Tensor u = units(generator, self.device(), 2 * pairs, self.dtype() == kDouble).view({pairs, 2});
  const Tensor radius = ((1 - u.select(1, 0)).log() * -2.0).sqrt();
  const Tensor angle = u.select(1, 1) * 6.283185307179586;
  const Tensor z = lamella::empty_like(u);
  z.select(1, 0).copy_(radius * angle.cos());
  z.select(1, 1).copy_(radius * angle.sin());
  const Tensor row = slice(z.view(2 * pairs), 0, 0, self.numel());
  return store(self, row * std + mean);
}

// ---- new tensors ----------------------------------------------------------------------------------------------------

Tensor rand(IntArrayRef size, const Generator& generator, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool> pin_memory) {
  return lamella::empty(size, options_of(dtype, layout, device, pin_memory)).uniform_(0, 1, generator);
}
Tensor randn(IntArrayRef size, const Generator& generator, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return lamella::empty(size, options_of(dtype, layout, device, pin_memory)).normal_(0, 1, generator);
}

Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return lamella::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format).uniform_();
}
Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return lamella::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format).normal_();
}
void check_spreads(double std) { check_std(std); }
// Checks standard deviations in a tensor, except on meta, which has no data.
void check_spreads(const Tensor& std) {
  LAMELLA_CHECK(!std.is_complex(), argument("std"), ": a standard deviation is a real number, got ", std.dtype());
  if (std.device().get().backend == core::meta_backend) return;
  const bool negative = (std >= 0).logical_not().any().item().toBool();  // NaN counts as negative
  LAMELLA_CHECK(!negative, argument("std"), ": a standard deviation must not be negative");
}

// Draws normal numbers of a mean and a standard deviation, at least one of them a tensor.
template <class Mean, class Std>
Tensor normal_tensors(Mean mean, Std std, const Generator& generator) {
  check_spreads(std);
  Tensor shaped;
  if constexpr (std::is_same_v<Std, double>)
    shaped = mean;
  else if constexpr (std::is_same_v<Mean, double>)
    shaped = std;
  else
    shaped = mean + std;
  return lamella::empty_like(shaped).normal_(0, 1, generator) * std + mean;
}

Tensor normal_numbers(double mean, double std, IntArrayRef size, const Generator& generator,
                      std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  return lamella::empty(size, options_of(dtype, layout, device, pin_memory)).normal_(mean, std, generator);
}

}  // namespace

LAMELLA_FAMILY(random, .category = "random", .forms = function | out) {
  return {
      {.schema = "_random_bits_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = hidden,
       .infer = shape<infer_words>,
       .doc = "Fills a uint32 tensor with the words of Philox-4x32-10, four for each value of the counter."},
      {.schema = "rand(SymInt[] size, " RANDOM_OPTIONS,
       .infer = shape<infer_drawn>,
       .composite = composite<rand>,
       .doc = R"(Uniform numbers in [0, 1), from Philox-4x32-10 (Salmon et al., 2011).

The stream depends on the seed alone, not on the device or the number of threads.

>>> g = lamella.Generator().manual_seed(0)
>>> lamella.rand(2, generator=g).shape
lamella.Size([2])
)"},
      {.schema = "randn(SymInt[] size, " RANDOM_OPTIONS,
       .infer = shape<infer_drawn>,
       .composite = composite<randn>,
       .doc = R"(Normal numbers with mean 0 and standard deviation 1: Box and Muller's transform of Philox's stream.

>>> lamella.randn(2, 3).shape
lamella.Size([2, 3])
)"},
      {.schema = "rand_like(Tensor self, " RANDOM_LIKE,
       .dims = "broadcast",
       .forms = function,
       .infer = shape<infer_drawn_like>,
       .composite = composite<rand_like>,
       .doc = R"(Uniform numbers in [0, 1) in the shape, dtype and device of `self`.

>>> lamella.rand_like(lamella.ones(2, 3)).shape
lamella.Size([2, 3])
)"},
      {.schema = "randn_like(Tensor self, " RANDOM_LIKE,
       .dims = "broadcast",
       .forms = function,
       .infer = shape<infer_drawn_like>,
       .composite = composite<randn_like>,
       .doc = R"(Normal numbers in the shape, dtype and device of `self`.

>>> lamella.randn_like(lamella.ones(2, 3)).shape
lamella.Size([2, 3])
)"},
      {.schema = "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .composite = composite<normal_tensors<const Tensor&, const Tensor&>>,
       .doc = R"(Normal numbers of the given means and standard deviations, which broadcast.

>>> lamella.normal(lamella.zeros(2), lamella.zeros(2))
tensor([0., 0.])
)"},
      {.schema = "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .composite = composite<normal_tensors<const Tensor&, double>>},
      {.schema = "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .composite = composite<normal_tensors<double, const Tensor&>>},
      {.schema = "normal.float_float(float mean, float std, SymInt[] size, " RANDOM_OPTIONS,
       .infer = shape<infer_normal_numbers>,
       .composite = composite<normal_numbers>},
      {.schema = "uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method,
       .infer = shape<infer_uniform>,
       .composite = composite<uniform>,
       .doc = R"(Fills `self` with uniform numbers in [from, to), both parts of complex ones.

>>> bool((lamella.empty(5).uniform_(2, 3) >= 2).sum() == 5)
True
)"},
      {.schema = "normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method,
       .infer = shape<infer_normal>,
       .composite = composite<normal>,
       .doc = R"(Fills `self` with normal numbers; both parts of complex ones, which share the variance.

Raises:
    RuntimeError: std is negative

>>> lamella.empty(5).normal_(0, 2).shape
lamella.Size([5])
)"},
  };
}

}  // namespace lamella::operators
