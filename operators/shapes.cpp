#include "operators/shapes.h"

#include "core/error.h"
#include "core/tensor.h"
#include "dispatcher/pointwise.h"

namespace lamella::operators {

std::string shape_text(IntArrayRef sizes) { return core::shape_string(static_cast<int>(sizes.size()), sizes.data()); }

int64_t wrap_dim(const char* name, int64_t dim, int64_t ndim) {
  const int64_t n = std::max<int64_t>(ndim, 1);
  LAMELLA_CHECK_INDEX(dim >= -n && dim < n, argument(name), ": dimension ", dim, " is out of range for ", ndim,
                      " dimensions; it takes ", -n, " to ", n - 1);
  return dim < 0 ? dim + n : dim;
}

uint64_t wrap_dims(const char* name, IntArrayRef dims, int64_t ndim) {
  uint64_t set = 0;
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(name, dim, ndim);
    LAMELLA_CHECK(!(set >> d & 1), argument(name), ": dimension ", d, " appears twice in ",
                  core::describe(value(dims)));
    set |= uint64_t{1} << d;
  }
  return set;
}

void check_floating(const char* name, ScalarType t) {
  LAMELLA_CHECK(is_floating_point(t), argument(name), ": expected a floating dtype, got ", t,
                "; convert it with .to(lamella.float32)");
}

void check_bytes(IntArrayRef sizes, ScalarType t) {
  int64_t bytes = itemsize(t);
  for (int64_t s : sizes)
    LAMELLA_CHECK(s == 0 || !__builtin_mul_overflow(bytes, s, &bytes), "the sizes ", shape_text(sizes),
                  " need more bytes than 63 bits can count");
}

void check_sizes(const char* name, IntArrayRef sizes, ScalarType t) {
  uint64_t all = 0;  // if all sizes are below 2^14, a product of four cannot overflow
  for (int64_t s : sizes) all |= static_cast<uint64_t>(s);
  if (all >> 14 == 0 && sizes.size() <= 4) return;
  const lamella_status st =
      core::check_sizes(argument(name).c_str(), static_cast<int>(sizes.size()), sizes.data(), itemsize(t), nullptr);
  if (!st) return;
  const std::string message = core::pending_error().message;  // begins with the argument
  core::pending_error().clear();
  throw Error(st, message);
}

void check_number(const char* name, const Scalar& number, ScalarType t) {
  LAMELLA_CHECK(core::number_in_range(number.value(), core_dtype(t)), argument(name), ": ",
                core::describe(number.value()), " does not fit dtype ", t);
}

Scalar factor_in(const Scalar& number, ScalarType t) {
  if (!number.isFloatingPoint() || !is_integral(t, true)) return number;
  return static_cast<int64_t>(number.toDouble());
}

bool broadcast(DimVector* sizes, IntArrayRef other) {
  DimVector made(*sizes);
  int ndim = static_cast<int>(made.size());
  while (made.size() < other.size()) made.push_back(1);
  if (!dispatcher::broadcast(&ndim, made.data(), static_cast<int>(other.size()), other.data())) return false;
  *sizes = made;
  return true;
}

void same_with(Output& out, const Tensor& self, const char* name, const Tensor& other) {
  DimVector sizes(self.sizes());
  const bool fits = broadcast(&sizes, other.sizes()) && IntArrayRef(sizes) == self.sizes();
  LAMELLA_CHECK(fits, argument(name), ": shape ", shape_text(other), " does not broadcast to ", shape_text(self));
  out.same(self);
}

void lay_out(Output& out, const char* name, std::optional<MemoryFormat> format, const Tensor& t) {
  const MemoryFormat wanted = format.value_or(MemoryFormat::Preserve);
  if (wanted == MemoryFormat::ChannelsLast) {
    LAMELLA_CHECK(out.sizes().size() == 4, argument(name), ": channels_last has four dimensions, got shape ",
                  shape_text(out.sizes()));
    int64_t strides[4];
    core::channels_last_strides(out.sizes().data(), strides);
    out.set_strides({strides, 4});
  } else if (wanted == MemoryFormat::Preserve && t.defined()) {
    out.like(t, out.dtype());
  }
}

void lay_out_as_pointwise(Output& out, std::initializer_list<const Tensor*> operands) {
  const lamella_tensor* in[4];
  int count = 0;
  for (const Tensor* t : operands) in[count++] = t->get();
  lamella_meta laid_out{};
  laid_out.ndim = static_cast<int32_t>(out.sizes().size());
  std::copy(out.sizes().begin(), out.sizes().end(), laid_out.sizes);
  dispatcher::choose_layout(in, count, &laid_out);
  if (laid_out.flags & LAMELLA_META_STRIDES) out.set_strides({laid_out.strides, out.sizes().size()});
}

bool lies_in(const Tensor& t, std::optional<MemoryFormat> format) {
  return core::lies_in(t.get(), static_cast<lamella_memory_format>(format.value_or(MemoryFormat::Preserve)));
}

}  // namespace lamella::operators
