// Random numbers: Philox's words are the primitive; uniform, normal, Bernoulli and integer numbers, permutations and
// samples follow from them. Composites take the same words as native kernels, so a stream is one on every device.
#include <lamella/half.h>

#include <cmath>
#include <limits>

#include "dispatcher/operators/random.h"

namespace lamella::dispatcher {

int64_t largest_integer(DType t) {
  switch (t) {
    case LAMELLA_BOOL:
      return 1;
    case LAMELLA_UINT8:
      return UINT8_MAX;
    case LAMELLA_UINT16:
      return UINT16_MAX;
    case LAMELLA_UINT32:
      return UINT32_MAX;
    case LAMELLA_INT8:
      return INT8_MAX;
    case LAMELLA_INT16:
      return INT16_MAX;
    case LAMELLA_INT32:
      return INT32_MAX;
    case LAMELLA_FLOAT16:
      return 1 << 11;
    case LAMELLA_BFLOAT16:
      return 1 << 8;
    case LAMELLA_FLOAT32:
      return 1 << 24;
    case LAMELLA_FLOAT64:
      return int64_t{1} << 53;
    default:
      return INT64_MAX;
  }
}

Var words(Compose& c, const Value& generator, lamella_device device, int64_t count) {
  Var w = c.op<"empty.memory_format">(Ints{count}, As{LAMELLA_UINT32}, Absent{}, device);
  return c.op<"to.dtype">(c.op<"_random_bits_">(w, generator), As{LAMELLA_INT64});
}

Var wide_words(Compose& c, const Value& generator, lamella_device device, int64_t count, int bits) {
  Var w = c.op<"view">(words(c, generator, device, 2 * count), Ints{count, 2});
  Var high = c.op<"select.int">(w, 1, 0), low = c.op<"select.int">(w, 1, 1);
  return high * (int64_t{1} << (bits - 32)) + c.op<"floor_divide.Scalar">(low, int64_t{1} << (64 - bits));
}

Var units(Compose& c, const Value& generator, lamella_device device, int64_t count, bool wide) {
  if (wide)
    return c.op<"to.dtype">(wide_words(c, generator, device, count, 53), As{LAMELLA_FLOAT64}) *
           (1.0 / 9007199254740992.0);
  Var w = c.op<"floor_divide.Scalar">(words(c, generator, device, count), 256);
  return c.op<"to.dtype">(w, As{LAMELLA_FLOAT32}) * (1.0 / 16777216.0);
}

Var uniform_numbers(Compose& c, const Value& generator, lamella_device device, const Ints& size, DType dtype) {
  return c.op<"uniform_">(c.op<"empty.memory_format">(size, As{dtype}, Absent{}, device), 0.0, 1.0, generator);
}

lamella_status store(Compose& c, const Value& self, const Var& row, Value* r) {
  c.op<"copy_">(self, c.op<"view">(row, Ints(tensor_arg(self)->sizes(), tensor_arg(self)->ndim())));
  return c.give(r, c.arg(self));
}

Var new_like_factory(Compose& c, const Value& size, const Value* options, const Value& dtype) {
  return c.op<"empty.memory_format">(size, dtype, options[1], options[2], options[3]);
}

lamella_status check_floating(lamella_frame* f, const Tensor* t, Meta* m) {
  same(m);
  if (core::dtype_class(t->dtype) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(t->dtype).name);
}

namespace {

// ---- shape rules ----------------------------------------------------------------------------------------------------

lamella_status infer_words(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  if (tensor_arg(a[0])->dtype == LAMELLA_UINT32) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               where(f, 0) + ": expected dtype uint32, got " + core::dtype_info(tensor_arg(a[0])->dtype).name);
}

// A new tensor of the sizes in the argument at `at`.
lamella_status new_drawn(lamella_frame* f, int at, const Value* a, DType dtype, Meta* m) {
  if (lamella_status st = read_sizes(f, at, a[at], dtype)) return st;
  fresh(m, static_cast<int>(a[at].length), a[at].as.ints, dtype);
  return LAMELLA_OK;
}
// A new tensor of floating numbers: rand(size, generator, dtype, …), rand_like(self, dtype, …, memory_format)
lamella_status check_new(lamella_frame* f, int arg, DType dtype) {
  if (core::dtype_class(dtype) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               where(f, arg) + ": expected a floating dtype, got " + core::dtype_info(dtype).name);
}
lamella_status infer_drawn(lamella_frame* f, const Value* a, Meta* m) {
  const DType dtype = dtype_or(a[2], core::default_dtype());
  if (lamella_status st = check_new(f, 2, dtype)) return st;
  return new_drawn(f, 0, a, dtype, m);
}
lamella_status infer_drawn_like(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  const DType dtype = dtype_or(a[1], self->dtype);
  if (lamella_status st = check_new(f, given(a[1]) ? 1 : 0, dtype)) return st;
  fresh(m, self->ndim(), self->sizes(), dtype);
  return laid_out(f, 5, a[5], self, m);
}

double largest_finite(DType t) {
  switch (t) {
    case LAMELLA_FLOAT16:
      return 65504;
    case LAMELLA_BFLOAT16:
      return 0x1.fep127;
    case LAMELLA_FLOAT32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

lamella_status infer_uniform(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_floating(f, tensor_arg(a[0]), m)) return st;
  const double from = a[1].as.d, to = a[2].as.d, largest = largest_finite(tensor_arg(a[0])->dtype);
  if (!(from <= to))
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the range 'from' %g 'to' %g is not one", operator_title(f->op).c_str(), from, to));
  for (int i = 1; i < 3; i++)
    if (!(std::fabs(a[i].as.d) <= largest))
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: %g is beyond what dtype %s holds", where(f, i).c_str(), a[i].as.d,
                                                 core::dtype_info(tensor_arg(a[0])->dtype).name));
  if (!(to - from <= largest))
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the range from %g ('from') to %g is wider than the largest number of dtype %s",
                        where(f, 2).c_str(), from, to, core::dtype_info(tensor_arg(a[0])->dtype).name));
  return LAMELLA_OK;
}

lamella_status check_std(lamella_frame* f, int arg, double std) {
  if (std >= 0) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: the standard deviation must not be negative, got %g", where(f, arg).c_str(), std));
}

lamella_status infer_normal(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_std(f, 2, a[2].as.d)) return st;
  return check_floating(f, tensor_arg(a[0]), m);
}

// Where random_ ends without `to`: behind the largest integer, or where a range of 63 bits does.
int64_t end_of(DType t) { return largest_integer(t) == INT64_MAX ? INT64_MAX : largest_integer(t) + 1; }

// [low, high) as numbers of a dtype; the arguments at `low_arg` (-1: it is 0) and `high_arg` said so.
lamella_status check_integers(lamella_frame* f, DType t, int64_t low, int64_t high, int low_arg, int high_arg) {
  const int64_t largest = largest_integer(t);
  const char* from = low_arg < 0 ? "" : f->op->schema.load()->args[low_arg].name.c_str();
  if (core::dtype_class(t) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a complex dtype has no range of integers");
  if (high <= low || static_cast<__int128>(high) - low > INT64_MAX)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the range from %lld%s%s%s to %lld is empty or too wide", where(f, high_arg).c_str(),
                        (long long)low, *from ? " ('" : "", from, *from ? "')" : "", (long long)high));
  const bool is_unsigned = t >= LAMELLA_UINT8 && t <= LAMELLA_UINT64;
  const int64_t lowest = is_unsigned || t == LAMELLA_BOOL                 ? 0
                         : core::dtype_class(t) == LAMELLA_CLASS_FLOATING ? -largest
                                                                          : -largest - 1;
  if (high - 1 > largest || low < lowest)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld to %lld is beyond what dtype %s holds",
                                               where(f, high - 1 > largest ? high_arg : low_arg).c_str(),
                                               (long long)low, (long long)(high - 1), core::dtype_info(t).name));
  return LAMELLA_OK;
}

// random_.from(self, from, to): [from, to); without `to`, up to what the dtype holds. random_.to(self, to),
// random_(self)
lamella_status infer_integers(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  const DType t = tensor_arg(a[0])->dtype;
  return check_integers(f, t, a[1].as.i, given(a[2]) ? a[2].as.i : end_of(t), 1, 2);
}
lamella_status infer_integers_to(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  return check_integers(f, tensor_arg(a[0])->dtype, 0, a[1].as.i, -1, 1);
}
lamella_status infer_integers_all(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  const DType t = tensor_arg(a[0])->dtype;
  return check_integers(f, t, 0, end_of(t), -1, 0);
}

// randint(high, size, generator, dtype, …), randint.low(low, high, size, …)
template <int Low>
lamella_status infer_randint(lamella_frame* f, const Value* a, Meta* m) {
  const DType dtype = dtype_or(a[Low + 3], static_cast<DType>(LAMELLA_INT64));
  if (lamella_status st = check_integers(f, dtype, Low ? a[0].as.i : 0, a[Low].as.i, Low - 1, Low)) return st;
  return new_drawn(f, Low + 1, a, dtype, m);
}
// randint_like(self, high, dtype, …, memory_format), randint_like.low_dtype(self, low, high, …)
template <int Low>
lamella_status infer_randint_like(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  const DType dtype = dtype_or(a[Low + 2], self->dtype);
  if (lamella_status st = check_integers(f, dtype, Low ? a[1].as.i : 0, a[Low + 1].as.i, Low ? 1 : -1, Low + 1))
    return st;
  fresh(m, self->ndim(), self->sizes(), dtype);
  return laid_out(f, Low + 6, a[Low + 6], self, m);
}
// normal.float_float(mean, std, size, generator, dtype, …)
lamella_status infer_normal_numbers(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_std(f, 1, a[1].as.d)) return st;
  const DType dtype = dtype_or(a[4], core::default_dtype());
  if (lamella_status st = check_new(f, 4, dtype)) return st;
  return new_drawn(f, 2, a, dtype, m);
}

// The largest number of a floating dtype below `end`: rounding must not reach the excluded end of a range.
double largest_below(double end, DType dtype) {
  switch (dtype) {
    case LAMELLA_FLOAT16:
      return lamella::largest_below<lamella::float16>(end);
    case LAMELLA_BFLOAT16:
      return lamella::largest_below<lamella::bfloat16>(end);
    case LAMELLA_FLOAT32:
      return lamella::largest_below<float>(end);
    default:
      return lamella::largest_below<double>(end);
  }
}

// ---- what composites draw ----------------------------------------------------------------------------------------

lamella_status uniform(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const double low = a[1].as.d, high = a[2].as.d;
  Var x = units(c, a[3], t->device(), t->numel, t->dtype == LAMELLA_FLOAT64) * (high - low) + low;
  if (low < high) x = c.op<"clamp">(x, Absent{}, largest_below(high, t->dtype));
  return store(c, a[0], x, r);
}

lamella_status normal(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const int64_t pairs = (t->numel + 1) / 2;
  Var u = c.op<"view">(units(c, a[3], t->device(), 2 * pairs, t->dtype == LAMELLA_FLOAT64), Ints{pairs, 2});
  Var radius = c.op<"sqrt">(c.op<"log">(1 - c.op<"select.int">(u, 1, 0)) * -2.0);
  Var angle = c.op<"select.int">(u, 1, 1) * 6.283185307179586;
  Var z = c.op<"empty_like">(u);
  c.op<"copy_">(c.op<"select.int">(z, 1, 0), radius * c.op<"cos">(angle));
  c.op<"copy_">(c.op<"select.int">(z, 1, 1), radius * c.op<"sin">(angle));
  Var row = c.op<"slice.Tensor">(c.op<"view">(z, Ints{2 * pairs}), 0, 0, t->numel);
  return store(c, a[0], row * a[2].as.d + a[1].as.d, r);
}

// floor(v * range / 2^62) for v of 62 bits, in digits of 31 bits so that nothing overflows.
Var scaled(Compose& c, const Var& v, int64_t range) {
  constexpr int64_t base = int64_t{1} << 31;
  auto high = [&](const Var& x) { return c.op<"floor_divide.Scalar">(x, base); };
  auto low = [&](const Var& x) { return x - high(x) * base; };
  Var v1 = high(v), v0 = low(v);
  const int64_t r1 = range / base, r0 = range % base;
  Var a = v1 * r0, b = v0 * r1;
  return v1 * r1 + high(a) + high(b) + high(low(a) + low(b) + high(v0 * r0));
}

lamella_status integers(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const int64_t low = a[1].as.i, range = (given(a[2]) ? a[2].as.i : end_of(t->dtype)) - low;
  Var x = c.nothing();
  if (range <= int64_t{1} << 31) {
    x = c.op<"floor_divide.Scalar">(words(c, a[3], t->device(), t->numel) * range, int64_t{1} << 32);
  } else {
    x = scaled(c, wide_words(c, a[3], t->device(), t->numel, 62), range);
  }
  return store(c, a[0], x + low, r);
}

// ---- in place, with other arguments ---------------------------------------------------------------------------------

// random_(self), random_.to(self, to)
lamella_status random_all(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(a[0], 0, Absent{}, a[1]));
}
lamella_status random_to(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(a[0], 0, a[1], a[2]));
}

// ---- new tensors ----------------------------------------------------------------------------------------------------

lamella_status rand(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"uniform_">(new_like_factory(c, a[0], a + 2, a[2]), 0.0, 1.0, a[1]));
}
lamella_status randn(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"normal_">(new_like_factory(c, a[0], a + 2, a[2]), 0.0, 1.0, a[1]));
}

// randint.low(low, high, size, generator, dtype, …)
lamella_status randint_low(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Value dtype = given(a[4]) ? a[4] : core::dtype_value(LAMELLA_INT64);
  return c.give(r, c.op<"random_.from">(new_like_factory(c, a[2], a + 4, dtype), a[0], a[1], a[3]));
}
lamella_status randint(lamella_frame* f, const Value* a, Value* r) {
  const Value all[8] = {core::integer(0), a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
  return randint_low(f, all, r);
}

// The rows of the *_like family: self, …, dtype, layout, device, pin_memory, memory_format
Var empty_like(Compose& c, const Value& self, const Value* options) {
  return c.op<"empty_like">(self, options[0], options[1], options[2], options[3], options[4]);
}
lamella_status rand_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"uniform_">(empty_like(c, a[0], a + 1)));
}
lamella_status randn_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"normal_">(empty_like(c, a[0], a + 1)));
}
lamella_status randint_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(empty_like(c, a[0], a + 2), 0, a[1]));
}
lamella_status randint_like_low(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(empty_like(c, a[0], a + 3), a[1], a[2]));
}

// Standard deviations in a tensor are looked at where it has data.
lamella_status check_spreads(Compose& c, const Value& std) {
  const Tensor* t = tensor_arg(std);
  if (!t || t->backend == core::meta_backend || core::dtype_class(t->dtype) == LAMELLA_CLASS_COMPLEX) return LAMELLA_OK;
  Var negative = c.op<"item">(c.op<"any">(c.op<"logical_not">(c.op<"ge.Scalar">(std, 0))));  // NaN is one
  if (c.status() || !negative.value().as.i) return c.status();
  return c.fail(LAMELLA_RUNTIME_ERROR, where(c.frame(), 1) + ": a standard deviation must not be negative");
}

// normal(mean, std): one of them a tensor at least.
lamella_status normal_tensors(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (a[1].tag != LAMELLA_TENSOR)
    if (lamella_status st = check_std(f, 1, core::as_double(a[1]))) return st;
  if (lamella_status st = check_spreads(c, a[1])) return st;
  Var zero = c.nothing();
  if (a[0].tag == LAMELLA_TENSOR && a[1].tag == LAMELLA_TENSOR)
    zero = c.op<"add.Tensor">(a[0], a[1]);
  else
    zero = c.arg(a[0].tag == LAMELLA_TENSOR ? a[0] : a[1]);
  Var z = c.op<"normal_">(c.op<"empty_like">(zero), 0.0, 1.0, a[2]);
  z = a[1].tag == LAMELLA_TENSOR ? c.op<"mul.Tensor">(z, a[1]) : c.op<"mul.Scalar">(z, a[1]);
  return c.give(r, a[0].tag == LAMELLA_TENSOR ? c.op<"add.Tensor">(z, a[0]) : c.op<"add.Scalar">(z, a[0]));
}

// normal.float_float(mean, std, size, generator, dtype, …)
lamella_status normal_numbers(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"normal_">(new_like_factory(c, a[2], a + 4, a[4]), a[0], a[1], a[3]));
}

#define OPTIONS                                                                                            \
  "*, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"
#define LIKE                                                                                                   \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? " \
  "memory_format=None) -> Tensor"

}  // namespace

const std::vector<Declaration>& random_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"_random_bits_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "random", hidden, infer_words,
       nullptr, "Fills a uint32 tensor with the words of Philox-4x32-10, four for each value of the counter."},
      {"rand(SymInt[] size, " OPTIONS, "random", function, infer_drawn, rand,
       "Uniform numbers in [0, 1), from Philox-4x32-10 (Salmon et al., 2011).\n\nThe stream depends on the seed alone, "
       "not on the device or the number of threads.\n\n"
       ">>> g = lamella.Generator().manual_seed(0)\n>>> lamella.rand(2, generator=g).shape\nlamella.Size([2])\n"},
      {"randn(SymInt[] size, " OPTIONS, "random", function, infer_drawn, randn,
       "Normal numbers with mean 0 and standard deviation 1: Box and Muller's transform of Philox's stream.\n\n>>> "
       "lamella.randn(2, 3).shape\nlamella.Size([2, 3])\n"},
      {"rand_like(Tensor self, " LIKE, "random", function, infer_drawn_like, rand_like,
       "Uniform numbers in [0, 1) in the shape, dtype and device of `self`.\n\n>>> lamella.rand_like(lamella.ones(2, "
       "3)).shape\nlamella.Size([2, 3])\n"},
      {"randn_like(Tensor self, " LIKE, "random", function, infer_drawn_like, randn_like,
       "Normal numbers in the shape, dtype and device of `self`.\n\n>>> lamella.randn_like(lamella.ones(2, "
       "3)).shape\nlamella.Size([2, 3])\n"},
      {"randint(SymInt high, SymInt[] size, " OPTIONS, "random", function, infer_randint<0>, randint,
       "Integers from `low` (0) up to but not including `high`, uniformly; int64 unless `dtype` says "
       "otherwise.\n\nRaises:\n    RuntimeError: the range is empty or beyond the dtype\n\n"
       ">>> bool((lamella.randint(3, 5, (4,)) >= 3).all())\nTrue\n"},
      {"randint.low(SymInt low, SymInt high, SymInt[] size, " OPTIONS, "random", function, infer_randint<1>,
       randint_low, nullptr},
      {"randint_like(Tensor self, SymInt high, " LIKE, "random", function, infer_randint_like<0>, randint_like,
       "Integers below `high`, from `low` (0) on, in the shape, dtype and device of `self`.\n\n>>> "
       "lamella.randint_like(lamella.ones(2), 1)\ntensor([0., 0.])\n"},
      {"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, " LIKE, "random", function, infer_randint_like<1>,
       randint_like_low, nullptr},
      {"normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors,
       "Normal numbers of the given means and standard deviations, which broadcast.\n\n>>> "
       "lamella.normal(lamella.zeros(2), lamella.zeros(2))\ntensor([0., 0.])\n"},
      {"normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors, nullptr},
      {"normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors, nullptr},
      {"normal.float_float(float mean, float std, SymInt[] size, " OPTIONS, "random", function, infer_normal_numbers,
       normal_numbers, nullptr},
      {"uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_uniform, uniform,
       "Fills `self` with uniform numbers in [from, to).\n\n>>> bool((lamella.empty(5).uniform_(2, 3) >= 2).sum() == "
       "5)\nTrue\n"},
      {"normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_normal, normal,
       "Fills `self` with normal numbers.\n\nRaises:\n    RuntimeError: std is negative\n\n>>> "
       "lamella.empty(5).normal_(0, 2).shape\nlamella.Size([5])\n"},
      {"random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "random", method, infer_integers_all,
       random_all,
       "Fills `self` with integers from `from` (0) up to but not including `to`; without it, as far as the dtype "
       "counts.\n\n>>> lamella.zeros(2).random_(1)\ntensor([0., 0.])\n"},
      {"random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_integers_to, random_to, nullptr},
      {"random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_integers, integers, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
