// Creation: tensors from sizes and numbers.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Returns the dtype that follows from a number alone.
ScalarType number_dtype(const Scalar& number) { return static_cast<ScalarType>(core::number_dtype(number.value())); }

// ---- from sizes, and like other tensors ----

void infer_zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>, const std::optional<Device>&,
                 std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(default_dtype());
  check_sizes("size", size, t);
  out.set(size, t);
  out.pin(pin_memory);
}

void infer_empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 const std::optional<Device>& device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format, Output out) {
  infer_zeros(size, dtype, layout, device, pin_memory, out);
  if (memory_format) lay_out(out, "memory_format", memory_format, Tensor());
  out.pin(pin_memory);
}

void infer_empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype, std::optional<Layout>,
                         const std::optional<Device>&, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype.value_or(default_dtype());
  check_sizes("size", size, t);
  LAMELLA_CHECK(size.size() == stride.size(), argument("stride"), ": ", stride.size(), " strides for ", size.size(),
                " sizes");
  for (int64_t s : stride) LAMELLA_CHECK(s >= 0, argument("stride"), ": expected strides of at least 0, got ", s);
  out.set(size, t, stride);
  out.pin(pin_memory);
}

void infer_empty_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout>,
                      const std::optional<Device>&, std::optional<bool> pin_memory,
                      std::optional<MemoryFormat> memory_format, Output out) {
  out.set(self.sizes(), dtype.value_or(self.dtype()));
  lay_out(out, "memory_format", memory_format, self);
  out.pin(pin_memory);
}

void infer_full(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype, std::optional<Layout>,
                const std::optional<Device>&, std::optional<bool> pin_memory, Output out) {
  const ScalarType t = dtype ? *dtype : number_dtype(fill_value);
  check_sizes("size", size, t);
  check_number("fill_value", fill_value, t);
  out.set(size, t);
  out.pin(pin_memory);
}

void infer_full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory,
                     std::optional<MemoryFormat> memory_format, Output out) {
  infer_empty_like(self, dtype, layout, device, pin_memory, memory_format, out);
  check_number("fill_value", fill_value, out.dtype());
}

Tensor filled(IntArrayRef size, const TensorOptions& options, const Scalar& number) {
  const Tensor x = lamella::empty(size, options);
  x.fill_(number);
  return x;
}
Tensor filled_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format,
                   const Scalar& number) {
  const Tensor x = lamella::empty_like(self, options, memory_format);
  x.fill_(number);
  return x;
}

Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return filled(size, options_of(dtype, layout, device, pin_memory), 0);
}
Tensor ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return filled(size, options_of(dtype, layout, device, pin_memory), 1);
}
Tensor full(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            const std::optional<Device>& device, std::optional<bool> pin_memory) {
  const ScalarType t = dtype ? *dtype : number_dtype(fill_value);
  return filled(size, options_of(t, layout, device, pin_memory), fill_value);
}

Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  const std::optional<Device>& device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return filled_like(self, options_of(dtype, layout, device, pin_memory), memory_format, 0);
}
Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 const std::optional<Device>& device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return filled_like(self, options_of(dtype, layout, device, pin_memory), memory_format, 1);
}
Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return filled_like(self, options_of(dtype, layout, device, pin_memory), memory_format, fill_value);
}

// ---- ranges ----

void check_ordered(const char* name, const Scalar& number) {
  LAMELLA_CHECK(!number.isComplex(), argument(name), ": a complex number has no order, got ",
                core::describe(number.value()));
}

void infer_arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType> dtype,
                  std::optional<Layout>, const std::optional<Device>&, std::optional<bool> pin_memory, Output out) {
  check_ordered("start", start);
  check_ordered("end", end);
  check_ordered("step", step);
  const bool floating = start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint();
  const ScalarType t = dtype.value_or(floating ? default_dtype() : kLong);
  const double from = start.toDouble(), to = end.toDouble(), by = step.toDouble();
  LAMELLA_CHECK(std::isfinite(from) && std::isfinite(to), argument("end"), ": the range from ", from, " ('start') to ",
                to, " is not finite");
  LAMELLA_CHECK(by != 0 && std::isfinite(by), argument("step"), ": expected a finite step other than 0, got ", by);
  LAMELLA_CHECK((by > 0) == (to >= from) || to == from, argument("step"), ": the step ", by, " leads away from ", from,
                " to ", to);
  __int128 count;
  if (floating) {
    count = static_cast<__int128>(std::min(std::ceil((to - from) / by), 1e19));
  } else {
    const __int128 span = static_cast<__int128>(end.toLong()) - start.toLong(), s = step.toLong();
    count = (span + s + (s > 0 ? -1 : 1)) / s;
  }
  LAMELLA_CHECK(count <= INT64_MAX, argument("end"), ": the range from ", from, " ('start') to ", to, " by ", by,
                " ('step') has more elements than 63 bits can count");
  const int64_t n = static_cast<int64_t>(count);
  check_sizes("end", n, t);
  out.set(n, t);
  out.pin(pin_memory);
}

Tensor arange_end(const Scalar& end, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return lamella::arange(0, end, 1, options_of(dtype, layout, device, pin_memory));
}
Tensor arange_start(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return lamella::arange(start, end, 1, options_of(dtype, layout, device, pin_memory));
}

// The numbers include `end` if a step reaches it, unlike those of arange(). So arange() gets a later end: half a step
// after the last number, or the integer after `end`.
Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType> dtype,
                  std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory) {
  for (const auto& [name, number] : {std::pair("start", start), std::pair("end", end), std::pair("step", step)})
    check_ordered(name, number);
  const double from = start.toDouble(), to = end.toDouble(), by = step.toDouble();
  LAMELLA_CHECK(std::isfinite(from) && std::isfinite(to), argument("end"), ": the range from ", from, " ('start') to ",
                to, " is not finite");
  LAMELLA_CHECK(by != 0 && std::isfinite(by), argument("step"), ": expected a finite step other than 0, got ", by);
  LAMELLA_CHECK((by > 0) == (to >= from) || to == from, argument("step"), ": the step ", by, " leads away from ", from,
                " to ", to);
  const double steps = std::floor((to - from) / by);
  LAMELLA_CHECK(steps < 9e18, argument("end"), ": the range from ", from, " ('start') to ", to, " by ", by,
                " ('step') has more elements than 63 bits can count");
  const TensorOptions options = options_of(dtype.value_or(default_dtype()), layout, device, pin_memory);
  if (start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint())
    return lamella::arange(from, from + (steps + 0.5) * by, by, options);
  return lamella::arange(start, end.toLong() + (by > 0 ? 1 : -1), step, options);
}
Tensor range_start(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return range_step(start, end, 1, dtype, layout, device, pin_memory);
}

void check_count(const char* name, int64_t n) {
  LAMELLA_CHECK(n >= 0, argument(name), ": expected at least 0, got ", n);
}

void check_spaced(const Scalar& start, const Scalar& end, int64_t steps) {
  check_ordered("start", start);
  check_ordered("end", end);
  check_count("steps", steps);
}

// Returns `steps` numbers from start to end in float64. Each is computed from the nearer end, so that both ends are
// exact.
Tensor spaced(double start, double end, int64_t steps, const std::optional<Device>& device) {
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  auto count = [&](int64_t from, int64_t to, int64_t by) {
    return lamella::arange(from, to, by, TensorOptions(kDouble).device(device));
  };
  const Tensor up = count(0, steps, 1) * step + start;
  if (steps < 2) return up;
  const Tensor down = end - count(steps - 1, -1, -1) * step;
  slice(up, 0, steps / 2).copy_(slice(down, 0, steps / 2));
  return up;
}

void infer_linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<ScalarType> dtype,
                    std::optional<Layout>, const std::optional<Device>&, std::optional<bool> pin_memory, Output out) {
  check_spaced(start, end, steps);
  const ScalarType t = dtype.value_or(default_dtype());
  check_number("start", start, t);
  check_number("end", end, t);
  check_sizes("steps", steps, t);
  out.set(steps, t);
  out.pin(pin_memory);
}
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<ScalarType> dtype,
                std::optional<Layout>, const std::optional<Device>& device, std::optional<bool> pin_memory) {
  const Tensor x = spaced(start.toDouble(), end.toDouble(), steps, device).to(dtype.value_or(default_dtype()));
  return pin_memory.value_or(false) ? x.pin_memory() : x;
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, const std::optional<Device>& device, std::optional<bool> pin_memory) {
  check_spaced(start, end, steps);
  const ScalarType t = dtype.value_or(default_dtype());
  check_number("start", start, t);
  check_number("end", end, t);
  const Tensor exponents = lamella::linspace(start, end, steps, options_of(kDouble, layout, device, pin_memory));
  return lamella::pow(base, exponents).to(t);
}

// ---- matrices and numbers ----

void infer_eye_m(int64_t n, int64_t m, std::optional<ScalarType> dtype, std::optional<Layout>,
                 const std::optional<Device>&, std::optional<bool> pin_memory, Output out) {
  check_count("n", n);
  check_count("m", m);
  const ScalarType t = dtype.value_or(default_dtype());
  check_sizes("n", {n, m}, t);
  out.set({n, m}, t);
  out.pin(pin_memory);
}
void infer_eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
               const std::optional<Device>& device, std::optional<bool> pin_memory, Output out) {
  infer_eye_m(n, n, dtype, layout, device, pin_memory, out);
}
Tensor eye_m(int64_t n, int64_t m, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             const std::optional<Device>& device, std::optional<bool> pin_memory) {
  const Tensor x = lamella::zeros({n, m}, options_of(dtype, layout, device, pin_memory));
  x.diagonal().fill_(1);
  return x;
}
Tensor eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
           const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return eye_m(n, n, dtype, layout, device, pin_memory);
}

Tensor scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                     const std::optional<Device>& device, std::optional<bool> pin_memory) {
  return lamella::full({}, s, options_of(dtype.value_or(default_dtype()), layout, device, pin_memory));
}

// ---- in place ----

void infer_fill(const Tensor& self, const Scalar& value, Output out) {
  out.same(self);
  check_number("value", value, self.dtype());
}

const Tensor& fill_tensor(const Tensor& self, const Tensor& value) {
  LAMELLA_CHECK(value.dim() == 0, argument("value"), ": expected a zero-dim tensor, got shape ", shape_text(value));
  return self.copy_(value);
}

Tensor filled_copy(const Tensor& self, const Scalar& value) {
  check_number("value", value, self.dtype());
  return lamella::full_like(self, value);
}
Tensor filled_copy_tensor(const Tensor& self, const Tensor& value) {
  const Tensor all = lamella::empty_like(self);
  fill_tensor(all, value);
  return all;
}

void infer_self(const Tensor& self, Output out) { out.same(self); }
const Tensor& zero_(const Tensor& self) { return self.fill_(0); }

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define LIKE                                                                                                   \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? " \
  "memory_format=None) -> Tensor"

}  // namespace

LAMELLA_FAMILY(creation, .category = "creation", .forms = function | out) {
  return {
      {.schema = "empty.memory_format(SymInt[] size, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
       .forms = function | out | no_kernel_needed,
       .infer = shape<infer_empty>,
       .doc = R"(A tensor of the given sizes whose elements are not initialized.

Args:
    size: the sizes, as integers or one sequence
    dtype: element type; the default dtype if absent
    device: where it lives; the default device if absent

Raises:
    RuntimeError: a size is negative, or memory does not suffice

>>> lamella.empty(2, 3).shape
lamella.Size([2, 3])
)"},
      {.schema = "empty_strided(SymInt[] size, SymInt[] stride, " OPTIONS ") -> Tensor",
       .forms = function | no_kernel_needed,
       .infer = shape<infer_empty_strided>,
       .doc = R"(An uninitialized tensor with the given sizes and strides (in elements).

>>> lamella.empty_strided((2, 3), (1, 2)).stride()
(1, 2)
)"},
      {.schema = "empty_like(Tensor self, " LIKE,
       .dims = "broadcast",
       .forms = function | no_kernel_needed,
       .infer = shape<infer_empty_like>,
       .doc = R"(An uninitialized tensor like `self` in shape, dtype, device and dense layout.

>>> lamella.empty_like(lamella.ones(2, 3)).shape
lamella.Size([2, 3])
)"},
      {.schema = "zeros(SymInt[] size, " OPTIONS ") -> Tensor",
       .infer = shape<infer_zeros>,
       .composite = composite<zeros>,
       .doc = R"(A tensor of zeros.

>>> lamella.zeros(2, dtype=lamella.int64)
tensor([0, 0])
)"},
      {.schema = "ones(SymInt[] size, " OPTIONS ") -> Tensor",
       .infer = shape<infer_zeros>,
       .composite = composite<ones>,
       .doc = R"(A tensor of ones.

>>> lamella.ones(2)
tensor([1., 1.])
)"},
      {.schema = "full(SymInt[] size, Scalar fill_value, " OPTIONS ") -> Tensor",
       .infer = shape<infer_full>,
       .composite = composite<full>,
       .doc = R"(A tensor filled with one number; its dtype follows from the number if absent.

>>> lamella.full((2,), 7)
tensor([7, 7])
)"},
      {.schema = "zeros_like(Tensor self, " LIKE,
       .dims = "broadcast",
       .forms = function,
       .infer = shape<infer_empty_like>,
       .composite = composite<zeros_like>,
       .doc = R"(Zeros like `self`.

>>> lamella.zeros_like(lamella.ones(2))
tensor([0., 0.])
)"},
      {.schema = "ones_like(Tensor self, " LIKE,
       .dims = "broadcast",
       .forms = function,
       .infer = shape<infer_empty_like>,
       .composite = composite<ones_like>,
       .doc = R"(Ones like `self`.

>>> lamella.ones_like(lamella.zeros(2))
tensor([1., 1.])
)"},
      {.schema = "full_like(Tensor self, Scalar fill_value, " LIKE,
       .dims = "broadcast",
       .forms = function,
       .infer = shape<infer_full_like>,
       .composite = composite<full_like>,
       .doc = R"(A tensor like `self`, filled with one number.

>>> lamella.full_like(lamella.zeros(2), 3.5)
tensor([3.5000, 3.5000])
)"},
      {.schema = "arange(Scalar end, " OPTIONS ") -> Tensor",
       .composite = composite<arange_end>,
       .doc = R"(The numbers from `start` (0) up to but not including `end`, `step` (1) apart: ceil((end - start) /
step) of them.

Raises:
    RuntimeError: the step is zero or leads away from the end

>>> lamella.arange(1, 8, 3)
tensor([1, 4, 7])
)"},
      {.schema = "arange.start(Scalar start, Scalar end, " OPTIONS ") -> Tensor", .composite = composite<arange_start>},
      {.schema = "arange.start_step(Scalar start, Scalar end, Scalar step=1, " OPTIONS ") -> Tensor",
       .infer = shape<infer_arange>},
      {.schema = "range.step(Scalar start, Scalar end, Scalar step=1, " OPTIONS ") -> Tensor",
       .composite = composite<range_step>,
       .doc = R"(The numbers from `start` to `end`, both included, `step` (1) apart, in the default dtype unless `dtype`
says otherwise. arange() leaves the end out, as Python's ranges do, and is what new programs call.

Raises:
    RuntimeError: the step is zero or leads away from the end

>>> lamella.range(1, 4)
tensor([1., 2., 3., 4.])
)"},
      {.schema = "range(Scalar start, Scalar end, " OPTIONS ") -> Tensor", .composite = composite<range_start>},
      {.schema = "eye(SymInt n, " OPTIONS ") -> Tensor",
       .infer = shape<infer_eye>,
       .composite = composite<eye>,
       .doc = R"(A matrix with ones on its diagonal and zeros elsewhere.

>>> lamella.eye(2)
tensor([[1., 0.],
        [0., 1.]])
)"},
      {.schema = "eye.m(SymInt n, SymInt m, " OPTIONS ") -> Tensor",
       .infer = shape<infer_eye_m>,
       .composite = composite<eye_m>},
      {.schema = "linspace(Scalar start, Scalar end, int steps, " OPTIONS ") -> Tensor",
       .infer = shape<infer_linspace>,
       .composite = composite<linspace>,
       .doc = R"(`steps` numbers at equal distances, from `start` to `end`, both included.

>>> lamella.linspace(0, 1, 3)
tensor([0.0000, 0.5000, 1.0000])
)"},
      {.schema = "logspace(Scalar start, Scalar end, int steps, float base=10.0, " OPTIONS ") -> Tensor",
       .composite = composite<logspace>,
       .doc = R"(`base` to the powers that linspace() gives.

>>> lamella.logspace(0, 2, 3)
tensor([  1.,  10., 100.])
)"},
      {.schema = "scalar_tensor(Scalar s, " OPTIONS ") -> Tensor",
       .forms = function,
       .composite = composite<scalar_tensor>,
       .doc = R"(A zero-dim tensor of the default dtype or the given one.

>>> lamella.scalar_tensor(2)
tensor(2.)
)"},
      {.schema = "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = everywhere,
       .composite = composite<fill_tensor>,
       .doc = R"(Sets every element of `self` to one number, in place.

>>> lamella.zeros(2).fill_(3)
tensor([3., 3.])
)"},
      {.schema = "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = everywhere,
       .infer = shape<infer_fill>},
      {.schema = "fill.Scalar(Tensor self, Scalar value) -> Tensor",
       .dims = "broadcast",
       .forms = function,
       .composite = composite<filled_copy>,
       .doc = R"(A tensor like `self`, every element of which is one number.

>>> lamella.fill(lamella.zeros(2), 3)
tensor([3., 3.])
)"},
      {.schema = "fill.Tensor(Tensor self, Tensor value) -> Tensor",
       .dims = "broadcast",
       .forms = function,
       .composite = composite<filled_copy_tensor>},
      {.schema = "zero_(Tensor(a!) self) -> Tensor(a!)",
       .dims = "broadcast",
       .forms = method | function,
       .infer = shape<infer_self>,
       .composite = composite<zero_>,
       .doc = R"(Sets every element of `self` to zero, in place.

>>> lamella.ones(2).zero_()
tensor([0., 0.])
)"},
  };
}

}  // namespace lamella::operators
