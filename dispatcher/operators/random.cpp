// Random numbers: Philox's words are the primitive; uniform, normal, Bernoulli and integer numbers, permutations and
// samples follow from them. Composites take the same words as native kernels, so a stream is one on every device.
#include <lattis/half.h>

#include <cmath>

#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {
namespace {

// ---- shape rules ----------------------------------------------------------------------------------------------------

void same(Meta* m) {
  m->kind = LATTIS_META_SAME;
  m->alias_of = 0;
}

lattis_status check_floating(lattis_frame* f, const Tensor* t, Meta* m) {
  same(m);
  if (core::dtype_class(t->dtype) == LATTIS_CLASS_FLOATING) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(t->dtype).name);
}

lattis_status infer_words(lattis_frame* f, const Value* a, Meta* m) {
  same(m);
  if (tensor_arg(a[0])->dtype == LATTIS_UINT32) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               where(f, 0) + ": expected dtype uint32, got " + core::dtype_info(tensor_arg(a[0])->dtype).name);
}

// A new tensor of floating numbers: rand(size, generator, dtype, …), rand_like(self, dtype, …, memory_format)
lattis_status check_new(lattis_frame* f, int arg, DType dtype) {
  if (core::dtype_class(dtype) == LATTIS_CLASS_FLOATING) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               where(f, arg) + ": expected a floating dtype, got " + core::dtype_info(dtype).name);
}
lattis_status infer_drawn(lattis_frame* f, const Value* a, Meta* m) {
  const DType dtype = dtype_or(a[2], core::default_dtype());
  if (lattis_status st = check_new(f, 2, dtype)) return st;
  if (lattis_status st = read_sizes(f, 0, a[0], dtype)) return st;
  fresh(m, static_cast<int>(a[0].length), a[0].as.ints, dtype);
  return LATTIS_OK;
}
lattis_status infer_drawn_like(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  const DType dtype = dtype_or(a[1], self->dtype);
  if (lattis_status st = check_new(f, given(a[1]) ? 1 : 0, dtype)) return st;
  if (a[5].tag == LATTIS_MEMORY_FORMAT && a[5].as.i == LATTIS_CONTIGUOUS_FORMAT)
    fresh(m, self->ndim(), self->sizes(), dtype);
  else
    fresh_like(m, self, dtype);
  return LATTIS_OK;
}

lattis_status infer_uniform(lattis_frame* f, const Value* a, Meta* m) {
  if (!std::isfinite(a[1].as.d) || !std::isfinite(a[2].as.d) || a[1].as.d > a[2].as.d)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: the range 'from' %g 'to' %g is not one",
                                              operator_title(f->op).c_str(), a[1].as.d, a[2].as.d));
  return check_floating(f, tensor_arg(a[0]), m);
}

lattis_status check_std(lattis_frame* f, int arg, double std) {
  if (std >= 0) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               format("%s: the standard deviation must not be negative, got %g", where(f, arg).c_str(), std));
}

lattis_status infer_normal(lattis_frame* f, const Value* a, Meta* m) {
  if (lattis_status st = check_std(f, 2, a[2].as.d)) return st;
  return check_floating(f, tensor_arg(a[0]), m);
}

lattis_status check_probability(lattis_frame* f, int arg, double p) {
  if (p >= 0 && p <= 1) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR, format("%s: a probability is between 0 and 1, got %g", where(f, arg).c_str(), p));
}

lattis_status infer_bernoulli(lattis_frame* f, const Value* a, Meta* m) {
  same(m);
  return check_probability(f, 1, a[1].as.d);
}

lattis_status infer_bernoulli_tensor(lattis_frame* f, const Value* a, Meta* m) {
  same(m);
  const Tensor *self = tensor_arg(a[0]), *p = tensor_arg(a[1]);
  if (core::dtype_class(p->dtype) != LATTIS_CLASS_FLOATING)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 1) + ": expected a floating dtype, got " + core::dtype_info(p->dtype).name);
  int ndim = self->ndim();
  int64_t sizes[LATTIS_MAX_DIMS];
  std::copy(self->sizes(), self->sizes() + ndim, sizes);
  if (broadcast(&ndim, sizes, p->ndim(), p->sizes()) && ndim == self->ndim() &&
      std::equal(sizes, sizes + ndim, self->sizes()))
    return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               where(f, 1) + ": shape " + core::shape_string(p) + " does not broadcast to " + core::shape_string(self));
}

// The largest integer that a dtype holds, or counts up to without gaps, as a bound of what random_ draws.
int64_t largest_integer(DType t) {
  switch (t) {
    case LATTIS_BOOL:
      return 1;
    case LATTIS_UINT8:
      return UINT8_MAX;
    case LATTIS_UINT16:
      return UINT16_MAX;
    case LATTIS_UINT32:
      return UINT32_MAX;
    case LATTIS_INT8:
      return INT8_MAX;
    case LATTIS_INT16:
      return INT16_MAX;
    case LATTIS_INT32:
      return INT32_MAX;
    case LATTIS_FLOAT16:
      return 1 << 11;
    case LATTIS_BFLOAT16:
      return 1 << 8;
    case LATTIS_FLOAT32:
      return 1 << 24;
    case LATTIS_FLOAT64:
      return int64_t{1} << 53;
    default:
      return INT64_MAX;
  }
}

// random_.from(self, from, to): [from, to); without `to`, up to what the dtype holds.
lattis_status infer_integers(lattis_frame* f, const Value* a, Meta* m) {
  same(m);
  const Tensor* self = tensor_arg(a[0]);
  const int64_t low = a[1].as.i, largest = largest_integer(self->dtype);
  const __int128 high = given(a[2]) ? static_cast<__int128>(a[2].as.i) : static_cast<__int128>(largest) + 1;
  if (core::dtype_class(self->dtype) == LATTIS_CLASS_COMPLEX)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": a complex dtype has no range of integers");
  if (high <= low || high - low > INT64_MAX)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: the range from %lld ('from') to %lld is empty or too wide",
                                              where(f, 2).c_str(), (long long)low, (long long)high));
  const bool is_unsigned = self->dtype >= LATTIS_UINT8 && self->dtype <= LATTIS_UINT64;
  if (high - 1 > largest || (core::dtype_class(self->dtype) < LATTIS_CLASS_FLOATING &&
                             low < (is_unsigned || self->dtype == LATTIS_BOOL ? 0 : -largest - 1)))
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: %lld to %lld is beyond what dtype %s holds", where(f, high - 1 > largest ? 2 : 1).c_str(),
                        (long long)low, (long long)(high - 1), core::dtype_info(self->dtype).name));
  return LATTIS_OK;
}

// The largest number of a floating dtype below `end`: rounding must not reach the excluded end of a range.
double largest_below(double end, DType dtype) {
  switch (dtype) {
    case LATTIS_FLOAT16:
      return lattis::largest_below<lattis::float16>(end);
    case LATTIS_BFLOAT16:
      return lattis::largest_below<lattis::bfloat16>(end);
    case LATTIS_FLOAT32:
      return lattis::largest_below<float>(end);
    default:
      return lattis::largest_below<double>(end);
  }
}

// ---- what composites draw ----------------------------------------------------------------------------------------

Ints sizes_of(const Tensor* t) { return {t->sizes(), t->ndim()}; }

// `count` words of the stream as int64.
Var words(Compose& c, const Value& generator, lattis_device device, int64_t count) {
  Var w = c.op<"empty.memory_format">(Ints{count}, As{LATTIS_UINT32}, Absent{}, device);
  return c.op<"to.dtype">(c.op<"_random_bits_">(w, generator), As{LATTIS_INT64});
}

// Two words each as one number of `bits` bits, 63 at most.
Var wide_words(Compose& c, const Value& generator, lattis_device device, int64_t count, int bits) {
  Var w = c.op<"view">(words(c, generator, device, 2 * count), Ints{count, 2});
  Var high = c.op<"select.int">(w, 1, 0), low = c.op<"select.int">(w, 1, 1);
  return high * (int64_t{1} << (bits - 32)) + c.op<"floor_divide.Scalar">(low, int64_t{1} << (64 - bits));
}

// `count` uniform numbers from [0, 1), in float64 or else float32.
Var units(Compose& c, const Value& generator, lattis_device device, int64_t count, bool wide) {
  if (wide)
    return c.op<"to.dtype">(wide_words(c, generator, device, count, 53), As{LATTIS_FLOAT64}) *
           (1.0 / 9007199254740992.0);
  Var w = c.op<"floor_divide.Scalar">(words(c, generator, device, count), 256);
  return c.op<"to.dtype">(w, As{LATTIS_FLOAT32}) * (1.0 / 16777216.0);
}

// Uniform numbers from [0, 1) in a new tensor.
Var uniform_numbers(Compose& c, const Value& generator, lattis_device device, const Ints& size, DType dtype) {
  return c.op<"uniform_">(c.op<"empty.memory_format">(size, As{dtype}, Absent{}, device), 0.0, 1.0, generator);
}

// Stores a row of numbers into self, whatever its shape and dtype, and returns self.
lattis_status store(Compose& c, const Value& self, const Var& row, Value* r) {
  c.op<"copy_">(self, c.op<"view">(row, sizes_of(tensor_arg(self))));
  return c.give(r, c.arg(self));
}

lattis_status uniform(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const double low = a[1].as.d, high = a[2].as.d;
  Var x = units(c, a[3], t->device(), t->numel, t->dtype == LATTIS_FLOAT64) * (high - low) + low;
  if (low < high) x = c.op<"clamp">(x, Absent{}, largest_below(high, t->dtype));
  return store(c, a[0], x, r);
}

lattis_status normal(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const int64_t pairs = (t->numel + 1) / 2;
  Var u = c.op<"view">(units(c, a[3], t->device(), 2 * pairs, t->dtype == LATTIS_FLOAT64), Ints{pairs, 2});
  Var radius = c.op<"sqrt">(c.op<"log">(1 - c.op<"select.int">(u, 1, 0)) * -2.0);
  Var angle = c.op<"select.int">(u, 1, 1) * 6.283185307179586;
  Var z = c.op<"empty_like">(u);
  c.op<"copy_">(c.op<"select.int">(z, 1, 0), radius * c.op<"cos">(angle));
  c.op<"copy_">(c.op<"select.int">(z, 1, 1), radius * c.op<"sin">(angle));
  Var row = c.op<"slice.Tensor">(c.op<"view">(z, Ints{2 * pairs}), 0, 0, t->numel);
  return store(c, a[0], row * a[2].as.d + a[1].as.d, r);
}

lattis_status bernoulli_p(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var u = uniform_numbers(c, a[2], t->device(), {t->numel}, LATTIS_FLOAT32);
  return store(c, a[0], c.op<"lt.Scalar">(u, static_cast<double>(static_cast<float>(a[1].as.d))), r);
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

lattis_status integers(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const int64_t low = a[1].as.i, high = given(a[2]) ? a[2].as.i - 1 : largest_integer(t->dtype), range = high - low + 1;
  Var x = c.nothing();
  if (range <= int64_t{1} << 31) {
    x = c.op<"floor_divide.Scalar">(words(c, a[3], t->device(), t->numel) * range, int64_t{1} << 32);
  } else {
    x = scaled(c, wide_words(c, a[3], t->device(), t->numel, 62), range);
  }
  return store(c, a[0], x + low, r);
}

// ---- in place, with other arguments
// ----------------------------------------------------------------------------------

// random_(self), random_.to(self, to)
lattis_status random_all(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(a[0], 0, Absent{}, a[1]));
}
lattis_status random_to(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(a[0], 0, a[1], a[2]));
}

// bernoulli_.Tensor(self, p): 1 with the probability of each element of p.
lattis_status bernoulli_tensor(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  const bool wide = tensor_arg(a[1])->dtype == LATTIS_FLOAT64;
  const DType dtype = wide ? LATTIS_FLOAT64 : LATTIS_FLOAT32;
  Var u = uniform_numbers(c, a[2], t->device(), sizes_of(t), dtype);
  c.op<"copy_">(a[0], c.op<"lt.Tensor">(u, a[1]));
  return c.give(r, c.arg(a[0]));
}

lattis_status bernoulli(lattis_frame* f, const Value* a, Value* r) {
  Meta m;
  if (lattis_status st = check_floating(f, tensor_arg(a[0]), &m)) return st;
  Compose c(f);
  return c.give(r, c.op<"bernoulli_.Tensor">(c.op<"empty_like">(a[0]), a[0], a[1]));
}
lattis_status bernoulli_with(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_probability(f, 1, a[1].as.d)) return st;
  Compose c(f);
  return c.give(r, c.op<"bernoulli_.float">(c.op<"empty_like">(a[0]), a[1], a[2]));
}

// dropout(input, p, train): a fraction p becomes 0, the rest grows by 1 / (1 - p).
lattis_status dropout(lattis_frame* f, const Value* a, Value* r) {
  const double p = a[1].as.d;
  if (lattis_status st = check_probability(f, 1, p)) return st;
  Compose c(f);
  if (!a[2].as.i || p == 0) return c.give(r, c.arg(a[0]));
  if (p == 1) return c.give(r, c.op<"zeros_like">(a[0]));
  Var kept = c.op<"bernoulli_.float">(c.op<"empty_like">(a[0]), 1 - p);
  return c.give(r, c.arg(a[0]) * c.op<"mul_.Scalar">(kept, 1 / (1 - p)));
}

// ---- new tensors
// ------------------------------------------------------------------------------------------------------

// (size, generator, dtype, layout, device, pin_memory)
Var new_like_factory(Compose& c, const Value& size, const Value* options, const Value& dtype) {
  return c.op<"empty.memory_format">(size, dtype, options[1], options[2], options[3]);
}

lattis_status rand(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"uniform_">(new_like_factory(c, a[0], a + 2, a[2]), 0.0, 1.0, a[1]));
}
lattis_status randn(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"normal_">(new_like_factory(c, a[0], a + 2, a[2]), 0.0, 1.0, a[1]));
}

// randint.low(low, high, size, generator, dtype, …)
lattis_status randint_low(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (a[0].as.i >= a[1].as.i)
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: the range from 'low' %lld to 'high' %lld is empty", operator_title(f->op).c_str(),
                        (long long)a[0].as.i, (long long)a[1].as.i));
  const Value dtype = given(a[4]) ? a[4] : core::dtype_value(LATTIS_INT64);
  return c.give(r, c.op<"random_.from">(new_like_factory(c, a[2], a + 4, dtype), a[0], a[1], a[3]));
}
lattis_status randint(lattis_frame* f, const Value* a, Value* r) {
  const Value all[8] = {core::integer(0), a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
  return randint_low(f, all, r);
}

// The rows of the *_like family: self, …, dtype, layout, device, pin_memory, memory_format
Var empty_like(Compose& c, const Value& self, const Value* options) {
  return c.op<"empty_like">(self, options[0], options[1], options[2], options[3], options[4]);
}
lattis_status rand_like(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"uniform_">(empty_like(c, a[0], a + 1)));
}
lattis_status randn_like(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"normal_">(empty_like(c, a[0], a + 1)));
}
lattis_status randint_like(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(empty_like(c, a[0], a + 2), 0, a[1]));
}
lattis_status randint_like_low(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"random_.from">(empty_like(c, a[0], a + 3), a[1], a[2]));
}

// normal(mean, std): one of them a tensor at least.
lattis_status normal_tensors(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (a[1].tag != LATTIS_TENSOR)
    if (lattis_status st = check_std(f, 1, core::as_double(a[1]))) return st;
  Var zero = c.nothing();
  if (a[0].tag == LATTIS_TENSOR && a[1].tag == LATTIS_TENSOR)
    zero = c.op<"add.Tensor">(a[0], a[1]);
  else
    zero = c.arg(a[0].tag == LATTIS_TENSOR ? a[0] : a[1]);
  Var z = c.op<"normal_">(c.op<"empty_like">(zero), 0.0, 1.0, a[2]);
  z = a[1].tag == LATTIS_TENSOR ? c.op<"mul.Tensor">(z, a[1]) : c.op<"mul.Scalar">(z, a[1]);
  return c.give(r, a[0].tag == LATTIS_TENSOR ? c.op<"add.Tensor">(z, a[0]) : c.op<"add.Scalar">(z, a[0]));
}

// normal.float_float(mean, std, size, generator, dtype, …)
lattis_status normal_numbers(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_std(f, 1, a[1].as.d)) return st;
  Compose c(f);
  return c.give(r, c.op<"normal_">(new_like_factory(c, a[2], a + 4, a[4]), a[0], a[1], a[3]));
}

// randperm(n, generator, dtype, …): the order of random keys of 63 bits, equal ones in the order of their places.
lattis_status randperm(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var out =
      new_like_factory(c, core::int_list(&a[0].as.i, 1), a + 2, given(a[2]) ? a[2] : core::dtype_value(LATTIS_INT64));
  if (a[0].as.i < 0) return c.status();
  return c.give(r, c.op<"_permute_randomly_">(out, a[1]));
}

lattis_status infer_permutation(lattis_frame* f, const Value* a, Meta* m) {
  same(m);
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() != 1)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": expected one dimension, got shape " + core::shape_string(t));
  if (core::dtype_class(t->dtype) == LATTIS_CLASS_COMPLEX || t->numel - 1 > largest_integer(t->dtype))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: dtype %s does not count to %lld", where(f, 0).c_str(),
                                              core::dtype_info(t->dtype).name, (long long)t->numel));
  return LATTIS_OK;
}

lattis_status permute_randomly(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[0]);
  Var keys = wide_words(c, a[1], t->device(), t->numel, 63);
  auto sorted = c.ops<"sort.stable", 2>(keys, true, 0, false);
  return store(c, a[0], sorted[1], r);
}

// ---- samples
// ------------------------------------------------------------------------------------------------------------

// _search_cdf(cdf, u): how many entries of each row of cdf are at most u, row by row.
lattis_status infer_search(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor *cdf = tensor_arg(a[0]), *u = tensor_arg(a[1]);
  if (cdf->ndim() != 2 || u->ndim() != 2 || cdf->sizes()[0] != u->sizes()[0] || cdf->dtype != u->dtype)
    return raise(LATTIS_RUNTIME_ERROR, operator_title(f->op) + ": 'cdf' " + core::shape_string(cdf) + " and 'u' " +
                                           core::shape_string(u) + " must be matrices of one dtype with as many rows");
  fresh(m, 2, u->sizes(), LATTIS_INT64);
  return LATTIS_OK;
}

lattis_status search_cdf(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var below = c.op<"le.Tensor">(c.op<"unsqueeze">(a[0], 1), c.op<"unsqueeze">(a[1], 2));
  return c.give(r, c.op<"sum.dim_IntList">(below, Ints{2}));
}

lattis_status infer_multinomial(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* p = tensor_arg(a[0]);
  const int64_t n = a[1].as.i;
  if (core::dtype_class(p->dtype) != LATTIS_CLASS_FLOATING)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(p->dtype).name);
  if (p->ndim() < 1 || p->ndim() > 2 || p->sizes()[p->ndim() - 1] == 0)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 0) + ": expected one row of probabilities or several, got shape " + core::shape_string(p));
  const int64_t categories = p->sizes()[p->ndim() - 1];
  if (n < 1 || (!a[2].as.i && n > categories))
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: cannot draw %lld samples from %lld categories%s", where(f, 1).c_str(), (long long)n,
                        (long long)categories, a[2].as.i ? "" : " without replacement"));
  int64_t sizes[2] = {p->sizes()[0], n};
  fresh(m, p->ndim(), p->ndim() == 2 ? sizes : &n, LATTIS_INT64);
  return LATTIS_OK;
}

// Weights must be finite and not negative, and a row must have enough that are not zero.
lattis_status check_weights(Compose& c, const Value& weights, int64_t needed) {
  Var w = c.arg(weights);
  Var bad = c.op<"logical_not">(c.op<"logical_and">(c.op<"ge.Scalar">(w, 0), c.op<"lt.Scalar">(w, HUGE_VAL)));
  Var wrong = c.op<"sum">(bad);
  Var few = c.op<"sum">(c.op<"lt.Scalar">(c.op<"sum.dim_IntList">(c.op<"gt.Scalar">(w, 0), Ints{-1}), needed));
  Var code = c.op<"item">(c.op<"gt.Scalar">(wrong, 0) * 2 + c.op<"gt.Scalar">(few, 0) * 1);
  if (c.status() || code.value().as.i == 0) return c.status();
  const std::string self = where(c.frame(), 0);
  if (code.value().as.i >= 2)
    return raise(LATTIS_RUNTIME_ERROR, self + ": probabilities must be finite and not negative");
  return raise(LATTIS_RUNTIME_ERROR,
               format("%s: a row has fewer than %lld probabilities above zero", self.c_str(), (long long)needed));
}

// Without replacement: the largest of weight / exponential (Efraimidis and Spirakis, 2006). With it: by the inverse of
// the cumulative distribution.
lattis_status multinomial(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const int64_t n = a[1].as.i;
  const bool replacement = a[2].as.i;
  if (lattis_status st = check_weights(c, a[0], replacement ? 1 : n)) return st;
  const Tensor* t = tensor_arg(a[0]);
  const bool wide = t->dtype == LATTIS_FLOAT64, row = t->ndim() == 1;
  Var p = c.op<"to.dtype">(a[0], As{static_cast<DType>(wide ? LATTIS_FLOAT64 : LATTIS_FLOAT32)});
  if (row) p = c.op<"unsqueeze">(p, 0);
  Var drawn = c.nothing();
  const Ints size = {p.size(0), replacement ? n : p.size(1)};
  Var u = uniform_numbers(c, a[3], t->device(), size, p.dtype());
  if (replacement) {
    Var cdf = c.op<"cumsum">(p, 1);
    drawn = c.op<"_search_cdf">(cdf / c.op<"slice.Tensor">(cdf, 1, p.size(1) - 1), u);
  } else {
    Var exponential = c.op<"clamp">(-c.op<"log">(1 - u), 1e-30);
    auto sorted = c.ops<"sort.stable", 2>(p / exponential, true, 1, true);
    drawn = c.op<"clone">(c.op<"slice.Tensor">(sorted[1], 1, 0, n));
  }
  return c.give(r, row ? c.op<"squeeze.dim">(drawn, 0) : drawn);
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
       ">>> g = lattis.Generator().manual_seed(0)\n>>> lattis.rand(2, generator=g).shape\nlattis.Size([2])\n"},
      {"randn(SymInt[] size, " OPTIONS, "random", function, infer_drawn, randn,
       "Normal numbers with mean 0 and standard deviation 1: Box and Muller's transform of Philox's stream.\n\n>>> "
       "lattis.randn(2, 3).shape\nlattis.Size([2, 3])\n"},
      {"rand_like(Tensor self, " LIKE, "random", function, infer_drawn_like, rand_like,
       "Uniform numbers in [0, 1) in the shape, dtype and device of `self`.\n\n>>> lattis.rand_like(lattis.ones(2, "
       "3)).shape\nlattis.Size([2, 3])\n"},
      {"randn_like(Tensor self, " LIKE, "random", function, infer_drawn_like, randn_like,
       "Normal numbers in the shape, dtype and device of `self`.\n\n>>> lattis.randn_like(lattis.ones(2, "
       "3)).shape\nlattis.Size([2, 3])\n"},
      {"randint(SymInt high, SymInt[] size, " OPTIONS, "random", function, nullptr, randint,
       "Integers from `low` (0) up to but not including `high`, uniformly; int64 unless `dtype` says "
       "otherwise.\n\nRaises:\n    RuntimeError: the range is empty or beyond the dtype\n\n"
       ">>> bool((lattis.randint(3, 5, (4,)) >= 3).all())\nTrue\n"},
      {"randint.low(SymInt low, SymInt high, SymInt[] size, " OPTIONS, "random", function, nullptr, randint_low,
       nullptr},
      {"randint_like(Tensor self, SymInt high, " LIKE, "random", function, nullptr, randint_like,
       "Integers below `high`, from `low` (0) on, in the shape, dtype and device of `self`.\n\n>>> "
       "lattis.randint_like(lattis.ones(2), 1)\ntensor([0., 0.])\n"},
      {"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, " LIKE, "random", function, nullptr,
       randint_like_low, nullptr},
      {"randperm(SymInt n, " OPTIONS, "random", function, nullptr, randperm,
       "The integers below `n` in random order.\n\n>>> lattis.randperm(4).sort().values\ntensor([0, 1, 2, 3])\n"},
      {"_permute_randomly_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "random", hidden,
       infer_permutation, permute_randomly, "Fills a row with the integers below its size, in random order."},
      {"normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors,
       "Normal numbers of the given means and standard deviations, which broadcast.\n\n>>> "
       "lattis.normal(lattis.zeros(2), lattis.zeros(2))\ntensor([0., 0.])\n"},
      {"normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors, nullptr},
      {"normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor", "random", function,
       nullptr, normal_tensors, nullptr},
      {"normal.float_float(float mean, float std, SymInt[] size, " OPTIONS, "random", function, nullptr, normal_numbers,
       nullptr},
      {"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", "random", everywhere, nullptr, bernoulli,
       "1 with the probability that each element of `self` gives, else 0; or with one probability `p`.\n\nRaises:\n    "
       "RuntimeError: `p` is no probability, or the dtype of `self` is not floating\n\n>>> "
       "lattis.bernoulli(lattis.tensor([0., 1.]))\ntensor([0., 1.])\n"},
      {"bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", "random", everywhere, nullptr,
       bernoulli_with, nullptr},
      {"bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_bernoulli, bernoulli_p,
       "Fills `self` with 1, with probability `p`, and 0.\n\n>>> lattis.zeros(2).bernoulli_(1)\ntensor([1., 1.])\n"},
      {"bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_bernoulli_tensor, bernoulli_tensor, nullptr},
      {"multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
       "random", everywhere, infer_multinomial, multinomial,
       "Indices drawn with the probabilities, or weights, in the rows of `self`.\n\nRaises:\n    RuntimeError: a "
       "weight is negative or not finite, or a row has too few above zero\n\n>>> "
       "lattis.multinomial(lattis.tensor([0., 1., 0.]), 1)\ntensor([1])\n"},
      {"_search_cdf(Tensor cdf, Tensor u) -> Tensor", "random", hidden, infer_search, search_cdf,
       "How many entries of each row of `cdf`, which ascends, are at most each `u` of that row."},
      {"dropout(Tensor input, float p, bool train) -> Tensor", "random", function, nullptr, dropout,
       "In training, sets each element to 0 with probability `p` and divides the others by 1 - p; else `input` "
       "itself.\n\n>>> lattis.dropout(lattis.ones(2), 0.5, False)\ntensor([1., 1.])\n"},
      {"uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_uniform, uniform,
       "Fills `self` with uniform numbers in [from, to).\n\n>>> bool((lattis.empty(5).uniform_(2, 3) >= 2).sum() == "
       "5)\nTrue\n"},
      {"normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_normal, normal,
       "Fills `self` with normal numbers.\n\nRaises:\n    RuntimeError: std is negative\n\n>>> "
       "lattis.empty(5).normal_(0, 2).shape\nlattis.Size([5])\n"},
      {"random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "random", method, nullptr, random_all,
       "Fills `self` with integers from `from` (0) up to but not including `to`; without it, as far as the dtype "
       "counts.\n\n>>> lattis.zeros(2).random_(1)\ntensor([0., 0.])\n"},
      {"random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", "random", method, nullptr,
       random_to, nullptr},
      {"random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       infer_integers, integers, nullptr},
  };
  return *table;
}

}  // namespace lattis::dispatcher
