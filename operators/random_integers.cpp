// Random integers in a range, which the words of the stream are scaled to.
#include "operators/random.h"

namespace lamella::operators {

int64_t largest_integer(ScalarType t) {
  switch (t) {
    case kBool:
      return 1;
    case kByte:
      return UINT8_MAX;
    case kUInt16:
      return UINT16_MAX;
    case kUInt32:
      return UINT32_MAX;
    case kChar:
      return INT8_MAX;
    case kShort:
      return INT16_MAX;
    case kInt:
      return INT32_MAX;
    case kHalf:
      return 1 << 11;
    case kBFloat16:
      return 1 << 8;
    case kFloat:
      return 1 << 24;
    case kDouble:
      return int64_t{1} << 53;
    default:
      return INT64_MAX;
  }
}

namespace {

// Returns the end, excluded, of random_'s range without `to`: one more than largest_integer(t), or INT64_MAX if that
// would overflow.
int64_t end_of(ScalarType t) { return largest_integer(t) == INT64_MAX ? INT64_MAX : largest_integer(t) + 1; }

// A range of integers [low, high), and the arguments that a message names. `subject` is the argument that gives the
// dtype; `low_name` is empty if no argument gives `low`.
struct Range {
  int64_t low, high;
  const char *subject, *low_name, *high_name;
};

void check_integers(ScalarType t, const Range& r) {
  check_plain(r.subject, t);
  const int64_t largest = largest_integer(t);
  LAMELLA_CHECK(!is_complex(t), argument(r.subject), ": a complex dtype has no range of integers, got ", t);
  const char *before = *r.low_name ? " ('" : "", *after = *r.low_name ? "')" : "";
  LAMELLA_CHECK(r.low < r.high, argument(r.high_name), ": the range from ", r.low, before, r.low_name, after, " to ",
                r.high, " is empty");
  const bool is_unsigned = is_integral(t) && !is_signed(t);
  const int64_t lowest = is_unsigned || t == kBool ? 0 : is_floating_point(t) ? -largest : -largest - 1;
  LAMELLA_CHECK(r.high - 1 <= largest && r.low >= lowest, argument(r.high - 1 > largest ? r.high_name : r.low_name),
                ": ", r.low, " to ", r.high - 1, " is beyond what dtype ", t, " holds");
}

// The rule of random_.from, which draws from [from, to) or, without `to`, from [from, end_of(dtype)).
void infer_integers(const Tensor& self, int64_t from, std::optional<int64_t> to, const Generator&, Output out) {
  const ScalarType t = self.dtype();
  out.same(self);
  check_integers(t, {from, to.value_or(end_of(t)), "self", "from", "to"});
}
void infer_integers_to(const Tensor& self, int64_t to, const Generator&, Output out) {
  out.same(self);
  check_integers(self.dtype(), {0, to, "self", "", "to"});
}
void infer_integers_all(const Tensor& self, const Generator&, Output out) {
  out.same(self);
  check_integers(self.dtype(), {0, end_of(self.dtype()), "self", "", "self"});
}

void infer_randint(int64_t high, IntArrayRef size, const Generator&, std::optional<ScalarType> dtype,
                   std::optional<Layout>, std::optional<Device>, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(kLong);
  check_integers(t, {0, high, "dtype", "", "high"});
  set_new(out, size, t);
  out.pin(pin_memory);
}
void infer_randint_low(int64_t low, int64_t high, IntArrayRef size, const Generator&, std::optional<ScalarType> dtype,
                       std::optional<Layout>, std::optional<Device>, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(kLong);
  check_integers(t, {low, high, "dtype", "low", "high"});
  set_new(out, size, t);
  out.pin(pin_memory);
}
void infer_randint_like(const Tensor& self, int64_t high, std::optional<ScalarType> dtype, std::optional<Layout>,
                        std::optional<Device>, std::optional<bool> pin_memory,
                        std::optional<MemoryFormat> memory_format, Output out) {
  const ScalarType t = dtype.value_or(self.dtype());
  check_integers(t, {0, high, dtype ? "dtype" : "self", "", "high"});
  set_like(out, self, t, memory_format);
  out.pin(pin_memory);
}
void infer_randint_like_low(const Tensor& self, int64_t low, int64_t high, std::optional<ScalarType> dtype,
                            std::optional<Layout>, std::optional<Device>, std::optional<bool> pin_memory,
                            std::optional<MemoryFormat> memory_format, Output out) {
  const ScalarType t = dtype.value_or(self.dtype());
  check_integers(t, {low, high, dtype ? "dtype" : "self", "low", "high"});
  set_like(out, self, t, memory_format);
  out.pin(pin_memory);
}

// Returns floor(v * range / 2^62) for v of 62 bits, computed in digits of 31 bits so that nothing overflows.
Tensor scaled(const Tensor& v, int64_t range) {
  constexpr int64_t base = int64_t{1} << 31;
  auto high = [](const Tensor& x) { return x.floor_divide(base); };
  auto low = [&](const Tensor& x) { return x - high(x) * base; };
  const Tensor v1 = high(v), v0 = low(v);
  const int64_t r1 = range / base, r0 = range % base;
  const Tensor a = v1 * r0, b = v0 * r1;
  return v1 * r1 + high(a) + high(b) + high(low(a) + low(b) + high(v0 * r0));
}

// Returns floor(v * range / 2^64), modulo 2^64, for v of 64 bits: two words each. A range above 2^63 needs them all. The
// sum of the products with the range's digits of 16 bits is kept as high * 2^32 + low and shifted after each.
Tensor scaled_words(const Tensor& v, uint64_t range) {
  constexpr int64_t word = int64_t{1} << 32, digit = 1 << 16;
  const Tensor v1 = v.select(1, 0), v0 = v.select(1, 1);
  Tensor high = lamella::zeros_like(v1), low = high;
  for (int shift = 0; shift < 64; shift += 16) {
    const auto r = static_cast<int64_t>(range >> shift & (digit - 1));
    low = low + v0 * r;
    high = high + v1 * r + low.floor_divide(word);
    low = low.remainder(word).floor_divide(digit) + high.remainder(digit) * digit;
    high = high.floor_divide(digit);
  }
  return (high - high.ge(word / 2).to(kLong) * word) * word + low;
}

const Tensor& integers(const Tensor& self, int64_t from, std::optional<int64_t> to, const Generator& generator) {
  const uint64_t range = static_cast<uint64_t>(to.value_or(end_of(self.dtype()))) - static_cast<uint64_t>(from);
  const int64_t count = self.numel(), narrow = static_cast<int64_t>(range);
  Tensor x;
  if (range <= uint64_t{1} << 31)
    x = (words(generator, self.device(), count) * narrow).floor_divide(int64_t{1} << 32);
  else if (range <= INT64_MAX)
    x = scaled(wide_words(generator, self.device(), count, 62), narrow);
  else
    x = scaled_words(words(generator, self.device(), 2 * count).view({count, 2}), range);
  return store(self, x + from);
}

const Tensor& random_all(const Tensor& self, const Generator& generator) {
  return self.random_(0, std::nullopt, generator);
}
const Tensor& random_to(const Tensor& self, int64_t to, const Generator& generator) {
  return self.random_(0, to, generator);
}

Tensor randint_low(int64_t low, int64_t high, IntArrayRef size, const Generator& generator,
                   std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  const TensorOptions options = options_of(dtype.value_or(kLong), layout, device, pin_memory);
  return lamella::empty(size, options).random_(low, high, generator);
}
Tensor randint(int64_t high, IntArrayRef size, const Generator& generator, std::optional<ScalarType> dtype,
               std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return randint_low(0, high, size, generator, dtype, layout, device, pin_memory);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory,
                        std::optional<MemoryFormat> memory_format) {
  const TensorOptions options = options_of(dtype, layout, device, pin_memory);
  return lamella::empty_like(self, options, memory_format).random_(low, high);
}
Tensor randint_like(const Tensor& self, int64_t high, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory,
                    std::optional<MemoryFormat> memory_format) {
  return randint_like_low(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

}  // namespace

LAMELLA_FAMILY(random_integers, .category = "random", .forms = function, .dims = "broadcast") {
  return {
      {.schema = "randint(SymInt high, SymInt[] size, " RANDOM_OPTIONS,
       .dims = "",
       .forms = function | out,
       .infer = shape<infer_randint>,
       .composite = composite<randint>,
       .doc = R"(Integers from `low` (0) up to but not including `high`, uniformly; int64 unless `dtype` says otherwise.

Raises:
    RuntimeError: the range is empty or beyond the dtype

>>> bool((lamella.randint(3, 5, (4,)) >= 3).all())
True
)"},
      {.schema = "randint.low(SymInt low, SymInt high, SymInt[] size, " RANDOM_OPTIONS,
       .dims = "",
       .forms = function | out,
       .infer = shape<infer_randint_low>,
       .composite = composite<randint_low>},
      {.schema = "randint_like(Tensor self, SymInt high, " RANDOM_LIKE,
       .infer = shape<infer_randint_like>,
       .composite = composite<randint_like>,
       .doc = R"(Integers below `high`, from `low` (0) on, in the shape, dtype and device of `self`.

>>> lamella.randint_like(lamella.ones(2), 1)
tensor([0., 0.])
)"},
      {.schema = "randint_like.low_dtype(Tensor self, SymInt low, SymInt high, " RANDOM_LIKE,
       .infer = shape<infer_randint_like_low>,
       .composite = composite<randint_like_low>},
      {.schema = "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_integers_all>,
       .composite = composite<random_all>,
       .doc = R"(Fills `self` with integers from `from` (0) up to but not including `to`; without it, as far as the
dtype counts.

>>> lamella.zeros(2).random_(1)
tensor([0., 0.])
)"},
      {.schema = "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_integers_to>,
       .composite = composite<random_to>},
      {.schema = "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_integers>,
       .composite = composite<integers>},
  };
}

}  // namespace lamella::operators
