// Creation: tensors out of sizes and numbers.
#include <cmath>

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

// zeros(size, *, dtype, layout, device, pin_memory)
lamella_status infer_zeros(lamella_frame* f, const Value* a, Meta* m) {
  DType t = dtype_or(a[1], core::default_dtype());
  if (lamella_status st = read_sizes(f, 0, a[0], t)) return st;
  fresh(m, static_cast<int>(a[0].length), a[0].as.ints, t);
  return LAMELLA_OK;
}

// empty has a memory_format, too.
lamella_status infer_empty(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_zeros(f, a, m)) return st;
  return given(a[5]) ? laid_out(f, 5, a[5], nullptr, m) : LAMELLA_OK;
}

lamella_status infer_empty_strided(lamella_frame* f, const Value* a, Meta* m) {
  DType t = dtype_or(a[2], core::default_dtype());
  if (lamella_status st = read_sizes(f, 0, a[0], t)) return st;
  if (a[0].length != a[1].length)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %u strides for %u sizes", where(f, 1).c_str(), a[1].length, a[0].length));
  for (uint32_t i = 0; i < a[1].length; i++)
    if (a[1].as.ints[i] < 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": strides must not be negative");
  fresh(m, static_cast<int>(a[0].length), a[0].as.ints, t);
  m->has_strides = 1;
  if (a[1].length) std::memcpy(m->strides, a[1].as.ints, sizeof(int64_t) * a[1].length);
  return LAMELLA_OK;
}

// Rows of the *_like family: self, dtype, layout, device, pin_memory, memory_format
lamella_status infer_empty_like(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, self->ndim(), self->sizes(), dtype_or(a[1], self->dtype));
  return laid_out(f, 5, a[5], self, m);
}

// full(size, fill_value, dtype, ...)
lamella_status infer_full(lamella_frame* f, const Value* a, Meta* m) {
  DType t = dtype_or(a[2], core::number_dtype(a[1]));
  if (lamella_status st = read_sizes(f, 0, a[0], t)) return st;
  if (lamella_status st = check_number(f, 1, a[1], t)) return st;
  fresh(m, static_cast<int>(a[0].length), a[0].as.ints, t);
  return LAMELLA_OK;
}

// full_like(self, fill_value, dtype, ...)
lamella_status infer_full_like(lamella_frame* f, const Value* a, Meta* m) {
  const Value like[6] = {a[0], a[2], a[3], a[4], a[5], a[6]};
  if (lamella_status st = infer_empty_like(f, like, m)) return st;
  return check_number(f, 1, a[1], static_cast<DType>(m->dtype));
}

// Composites over empty and fill_; options: dtype, layout, device, pin_memory(, memory_format)
Var filled(Compose& c, const Value& size, const Value* options, const Value& number) {
  return c.op<"fill_.Scalar">(c.op<"empty.memory_format">(size, options[0], options[1], options[2], options[3]),
                              number);
}
Var filled_like(Compose& c, const Value& self, const Value* options, const Value& number) {
  return c.op<"fill_.Scalar">(c.op<"empty_like">(self, options[0], options[1], options[2], options[3], options[4]),
                              number);
}

lamella_status zeros(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, filled(c, a[0], a + 1, core::integer(0)));
}
lamella_status ones(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, filled(c, a[0], a + 1, core::integer(1)));
}
lamella_status full(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Value options[4] = {a[2], a[3], a[4], a[5]};
  if (!given(options[0])) options[0] = core::dtype_value(core::number_dtype(a[1]));
  return c.give(r, filled(c, a[0], options, a[1]));
}

lamella_status zeros_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, filled_like(c, a[0], a + 1, core::integer(0)));
}
lamella_status ones_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, filled_like(c, a[0], a + 1, core::integer(1)));
}
lamella_status full_like(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, filled_like(c, a[0], a + 2, a[1]));
}

// arange(start, end, step, *, dtype, layout, device, pin_memory)
lamella_status infer_arange(lamella_frame* f, const Value* a, Meta* m) {
  bool floating = false;
  for (int i = 0; i < 3; i++) {
    if (a[i].tag == LAMELLA_COMPLEX)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, i) + ": a complex number has no order");
    floating |= a[i].tag == LAMELLA_FLOAT;
  }
  DType t = dtype_or(a[3], floating ? core::default_dtype() : static_cast<DType>(LAMELLA_INT64));
  double start = core::as_double(a[0]), end = core::as_double(a[1]), step = core::as_double(a[2]);
  if (!std::isfinite(start) || !std::isfinite(end))
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the range from %g ('start') to %g is not finite", where(f, 1).c_str(), start, end));
  if (step == 0 || !std::isfinite(step))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 2) + ": the step must be finite and not zero");
  if ((step > 0) != (end >= start) && end != start)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: the step %g leads away from %g to %g", where(f, 2).c_str(), step, start, end));
  double count;
  if (floating) {
    count = std::ceil((end - start) / step);
  } else {  // exactly, also beyond 2^53
    __int128 span = static_cast<__int128>(a[1].as.i) - a[0].as.i, s = a[2].as.i;
    count = static_cast<double>((span + s + (s > 0 ? -1 : 1)) / s);
  }
  if (count > 9e18)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": the range from 'start' by 'step' has more elements than 63 bits can count");
  int64_t n = static_cast<int64_t>(count);
  if (lamella_status st = check_sizes(f, 1, 1, &n, t)) return st;
  fresh(m, 1, &n, t);
  return LAMELLA_OK;
}

// arange(end, *, dtype, …), arange.start(start, end, *, dtype, …)
lamella_status arange_end(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"arange.start_step">(0, a[0], 1, a[1], a[2], a[3], a[4]));
}
lamella_status arange_start(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"arange.start_step">(a[0], a[1], 1, a[2], a[3], a[4], a[5]));
}

lamella_status infer_self(lamella_frame*, const Value*, Meta* m) {
  same(m);
  return LAMELLA_OK;
}

lamella_status infer_fill(lamella_frame* f, const Value* a, Meta* m) {
  same(m);
  return check_number(f, 1, a[1], tensor_arg(a[0])->dtype);
}

lamella_status zero_(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"fill_.Scalar">(a[0], 0));
}

lamella_status fill_tensor(lamella_frame* f, const Value* a, Value* r) {
  const Tensor* value = tensor_arg(a[1]);
  if (value->ndim() != 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": expected a zero-dim tensor, got shape " + core::shape_string(value));
  Compose c(f);
  return c.give(r, c.op<"copy_">(a[0], a[1]));
}

lamella_status check_count(lamella_frame* f, int arg, const Value& v) {
  if (v.as.i >= 0) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: expected at least 0, got %lld", where(f, arg).c_str(), (long long)v.as.i));
}

lamella_status eye_of(lamella_frame* f, int64_t n, int64_t m, const Value* options, Value* r) {
  Compose c(f);
  Var x = c.op<"zeros">(Ints{n, m}, options[0], options[1], options[2], options[3]);
  c.op<"fill_.Scalar">(c.op<"diagonal">(x), 1);
  return c.give(r, x);
}
lamella_status infer_eye_of(lamella_frame* f, int64_t n, int64_t m, const Value& dtype, Meta* meta) {
  const int64_t sizes[2] = {n, m};
  const DType t = dtype_or(dtype, core::default_dtype());
  if (lamella_status st = core::check_sizes(where(f, 0).c_str(), 2, sizes, core::itemsize(t), nullptr)) return st;
  fresh(meta, 2, sizes, t);
  return LAMELLA_OK;
}
lamella_status infer_eye(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_count(f, 0, a[0])) return st;
  return infer_eye_of(f, a[0].as.i, a[0].as.i, a[1], m);
}
lamella_status infer_eye_m(lamella_frame* f, const Value* a, Meta* m) {
  for (int i = 0; i < 2; i++)
    if (lamella_status st = check_count(f, i, a[i])) return st;
  return infer_eye_of(f, a[0].as.i, a[1].as.i, a[2], m);
}
lamella_status eye(lamella_frame* f, const Value* a, Value* r) { return eye_of(f, a[0].as.i, a[0].as.i, a + 1, r); }
lamella_status eye_m(lamella_frame* f, const Value* a, Value* r) { return eye_of(f, a[0].as.i, a[1].as.i, a + 2, r); }

// `steps` numbers from start to end in float64, each reckoned from the nearer end, so that both ends are exact.
Var spaced(Compose& c, const Value* a, const Value& device) {
  const int64_t steps = a[2].as.i;
  const double start = core::as_double(a[0]), end = core::as_double(a[1]);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  auto count = [&](int64_t from, int64_t to, int64_t by) {
    return c.op<"arange.start_step">(from, to, by, As{LAMELLA_FLOAT64}, Absent{}, device);
  };
  Var up = count(0, steps, 1) * step + start;
  if (steps < 2) return up;
  Var down = end - count(steps - 1, -1, -1) * step;
  c.op<"copy_">(c.op<"slice.Tensor">(up, 0, steps / 2), c.op<"slice.Tensor">(down, 0, steps / 2));
  return up;
}

lamella_status check_spaced(lamella_frame* f, const Value* a) {
  for (int i = 0; i < 2; i++)
    if (a[i].tag == LAMELLA_COMPLEX)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, i) + ": a complex number has no order");
  return check_count(f, 2, a[2]);
}

// start, end, steps, *, dtype, layout, device, pin_memory
lamella_status infer_linspace(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_spaced(f, a)) return st;
  const DType t = dtype_or(a[3], core::default_dtype());
  if (lamella_status st = core::check_sizes(where(f, 2).c_str(), 1, &a[2].as.i, core::itemsize(t), nullptr)) return st;
  fresh(m, 1, &a[2].as.i, t);
  return LAMELLA_OK;
}
lamella_status linspace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"to.dtype">(spaced(c, a, a[5]), As{dtype_or(a[3], core::default_dtype())}));
}

// start, end, steps, base, *, dtype, layout, device, pin_memory
lamella_status logspace(lamella_frame* f, const Value* a, Value* r) {
  if (lamella_status st = check_spaced(f, a)) return st;
  Compose c(f);
  Var exponents = c.op<"linspace">(a[0], a[1], a[2], As{LAMELLA_FLOAT64}, a[5], a[6], a[7]);
  return c.give(r, c.op<"to.dtype">(c.op<"pow.Scalar">(a[3], exponents), As{dtype_or(a[4], core::default_dtype())}));
}

lamella_status scalar_tensor(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"full">(Ints{}, a[0], As{dtype_or(a[1], core::default_dtype())}, a[2], a[3], a[4]));
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define LIKE                                                                                                   \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? " \
  "memory_format=None) -> Tensor"

}  // namespace

const std::vector<Declaration>& creation_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"empty.memory_format(SymInt[] size, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", "creation",
       function | no_kernel_needed, infer_empty, nullptr,
       "A tensor of the given sizes whose elements are not initialized.\n\n"
       "Args:\n    size: the sizes, as integers or one sequence\n    dtype: element type; the default dtype if "
       "absent\n    device: where it lives; the default device if absent\n\n"
       "Raises:\n    RuntimeError: a size is negative, or memory does not suffice\n\n>>> lamella.empty(2, "
       "3).shape\nlamella.Size([2, 3])\n"},
      {"empty_strided(SymInt[] size, SymInt[] stride, " OPTIONS ") -> Tensor", "creation", function | no_kernel_needed,
       infer_empty_strided, nullptr,
       "An uninitialized tensor with the given sizes and strides (in elements).\n\n>>> lamella.empty_strided((2, 3), "
       "(1, 2)).stride()\n(1, 2)\n"},
      {"empty_like(Tensor self, " LIKE, "creation", function | no_kernel_needed, infer_empty_like, nullptr,
       "An uninitialized tensor like `self` in shape, dtype, device and dense layout.\n\n>>> "
       "lamella.empty_like(lamella.ones(2, 3)).shape\nlamella.Size([2, 3])\n"},
      {"zeros(SymInt[] size, " OPTIONS ") -> Tensor", "creation", function, infer_zeros, zeros,
       "A tensor of zeros.\n\n>>> lamella.zeros(2, dtype=lamella.int64)\ntensor([0, 0])\n"},
      {"ones(SymInt[] size, " OPTIONS ") -> Tensor", "creation", function, infer_zeros, ones,
       "A tensor of ones.\n\n>>> lamella.ones(2)\ntensor([1., 1.])\n"},
      {"full(SymInt[] size, Scalar fill_value, " OPTIONS ") -> Tensor", "creation", function, infer_full, full,
       "A tensor filled with one number; its dtype follows from the number if absent.\n\n>>> lamella.full((2,), "
       "7)\ntensor([7, 7])\n"},
      {"zeros_like(Tensor self, " LIKE, "creation", function, infer_empty_like, zeros_like,
       "Zeros like `self`.\n\n>>> lamella.zeros_like(lamella.ones(2))\ntensor([0., 0.])\n"},
      {"ones_like(Tensor self, " LIKE, "creation", function, infer_empty_like, ones_like,
       "Ones like `self`.\n\n>>> lamella.ones_like(lamella.zeros(2))\ntensor([1., 1.])\n"},
      {"full_like(Tensor self, Scalar fill_value, " LIKE, "creation", function, infer_full_like, full_like,
       "A tensor like `self`, filled with one number.\n\n>>> lamella.full_like(lamella.zeros(2), 3.5)\ntensor([3.5000, "
       "3.5000])\n"},
      {"arange(Scalar end, " OPTIONS ") -> Tensor", "creation", function, nullptr, arange_end,
       "The numbers from `start` (0) up to but not including `end`, `step` (1) apart: ceil((end - start) / step) of "
       "them.\n\n"
       "Raises:\n    RuntimeError: the step is zero or leads away from the end\n\n>>> lamella.arange(1, 8, "
       "3)\ntensor([1, 4, 7])\n"},
      {"arange.start(Scalar start, Scalar end, " OPTIONS ") -> Tensor", "creation", function, nullptr, arange_start,
       nullptr},
      {"arange.start_step(Scalar start, Scalar end, Scalar step=1, " OPTIONS ") -> Tensor", "creation", function,
       infer_arange, nullptr, nullptr},
      {"eye(SymInt n, " OPTIONS ") -> Tensor", "creation", function, infer_eye, eye,
       "A matrix with ones on its diagonal and zeros elsewhere.\n\n>>> lamella.eye(2)\ntensor([[1., 0.],\n        [0., "
       "1.]])\n"},
      {"eye.m(SymInt n, SymInt m, " OPTIONS ") -> Tensor", "creation", function, infer_eye_m, eye_m, nullptr},
      {"linspace(Scalar start, Scalar end, int steps, " OPTIONS ") -> Tensor", "creation", function, infer_linspace,
       linspace,
       "`steps` numbers at equal distances, from `start` to `end`, both included.\n\n>>> lamella.linspace(0, 1, 3)\n"
       "tensor([0.0000, 0.5000, 1.0000])\n"},
      {"logspace(Scalar start, Scalar end, int steps, float base=10.0, " OPTIONS ") -> Tensor", "creation", function,
       nullptr, logspace,
       "`base` to the powers that linspace() gives.\n\n>>> lamella.logspace(0, 2, 3)\ntensor([  1.,  10., 100.])\n"},
      {"scalar_tensor(Scalar s, " OPTIONS ") -> Tensor", "creation", function, nullptr, scalar_tensor,
       "A zero-dim tensor of the default dtype or the given one.\n\n>>> lamella.scalar_tensor(2)\ntensor(2.)\n"},
      {"fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", "creation", everywhere, nullptr, fill_tensor,
       "Sets every element of `self` to one number, in place.\n\n>>> lamella.zeros(2).fill_(3)\ntensor([3., 3.])\n"},
      {"fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", "creation", everywhere, infer_fill, nullptr,
       nullptr},
      {"zero_(Tensor(a!) self) -> Tensor(a!)", "creation", method | function, infer_self, zero_,
       "Sets every element of `self` to zero, in place.\n\n>>> lamella.ones(2).zero_()\ntensor([0., 0.])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
