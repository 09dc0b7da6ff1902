// Copies with conversion between any two dtypes, and fills.
#include <lattis/half.h>

#include <array>
#include <complex>
#include <type_traits>
#include <vector>

#include "bank.h"

namespace bank {
namespace {

// In the order of enum lattis_dtype.
template <class... T>
struct Types {
  static constexpr int count = sizeof...(T);
};
using All = Types<bool, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, lattis::float16, lattis::bfloat16,
                  float, double, std::complex<float>, std::complex<double>>;
static_assert(All::count == LATTIS_NUM_DTYPES);

template <class T>
constexpr bool is_half = std::is_same_v<T, lattis::float16> || std::is_same_v<T, lattis::bfloat16>;
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

// A floating number that an integer cannot hold has no defined conversion in C++; it wraps through 64 bits here.
template <class To>
To to_integer(double x) {
  if (!(x > -9.3e18 && x < 1.85e19)) return static_cast<To>(INT64_MIN);
  return x < 9.2e18 ? static_cast<To>(static_cast<int64_t>(x)) : static_cast<To>(static_cast<uint64_t>(x));
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (is_half<From>) return convert<To>(static_cast<float>(x));
  else if constexpr (IsComplex<To>::value && IsComplex<From>::value) return To(x);
  else if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (IsComplex<From>::value) return convert<To>(x.real());
  else if constexpr (IsComplex<To>::value) return To(static_cast<typename To::value_type>(x));
  else if constexpr (is_half<To>) return To(static_cast<float>(x));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) return to_integer<To>(static_cast<double>(x));
  else return static_cast<To>(x);
}

template <class From, class To>
void run(int64_t n, char* to, int64_t to_step, const char* from, int64_t from_step) {
  for (int64_t i = 0; i < n; i++) {
    From x;
    std::memcpy(&x, from + i * from_step, sizeof x);
    To y = convert<To>(x);
    std::memcpy(to + i * to_step, &y, sizeof y);
  }
}

template <class From, class... To>
constexpr std::array<Convert, LATTIS_NUM_DTYPES> row(Types<To...>) {
  return {run<From, To>...};
}
template <class... From>
constexpr std::array<std::array<Convert, LATTIS_NUM_DTYPES>, LATTIS_NUM_DTYPES> table(Types<From...> all) {
  return {row<From>(all)...};
}

lattis_status copy_into(const lattis_tensor* dst, const lattis_tensor* src) {
  Convert one = conversion(src->dtype, dst->dtype);
  Operand both[2] = {operand(dst, dst), operand(src, dst)};
  each_row(dst, both, 2, [one](int64_t n, char** at, const int64_t* step) { one(n, at[0], step[0], at[1], step[1]); });
  return LATTIS_OK;
}

}  // namespace

Convert conversion(int from, int to) {
  static constexpr auto conversions = table(All{});
  return conversions[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

void store_number(const lattis_value& v, int dtype, char* to) {
  const void* from = &v.as;
  int has = LATTIS_INT64;
  if (v.tag == LATTIS_FLOAT) has = LATTIS_FLOAT64;
  if (v.tag == LATTIS_COMPLEX) {
    has = LATTIS_COMPLEX128;
    from = v.as.doubles;
  }
  conversion(has, dtype)(1, to, 0, static_cast<const char*>(from), 0);
}

Operand operand(const lattis_tensor* t, const lattis_tensor* out) {
  Operand o{open(t->dl.data), {}};
  const int shift = out->dl.ndim - t->dl.ndim;
  for (int i = shift; i < out->dl.ndim; i++) o.strides[i] = t->dl.shape[i - shift] == 1 ? 0 : t->dl.strides[i - shift] * lattis::itemsize(t);
  return o;
}

// copy_(self, src): both are in this bank. They may be parts of one storage: then through a copy of the source.
lattis_status copy_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *dst = rets[0].as.tensor, *src = args[1].as.tensor;
  if (dst->storage != src->storage) return copy_into(dst, src);
  lattis_tensor* raw;
  if (lattis_status st = lattis::api().tensor_empty(src->dl.ndim, src->dl.shape, nullptr, src->dtype, lattis::device_of(src), &raw)) return st;
  lattis::Tensor beside = lattis::Tensor::steal(raw);
  copy_into(raw, src);
  return copy_into(dst, raw);
}

// fill_(self, number)
lattis_status fill_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* t = rets[0].as.tensor;
  alignas(16) char number[16];
  store_number(args[1], t->dtype, number);
  Convert same = conversion(t->dtype, t->dtype);
  Operand out = operand(t, t);
  each_row(t, &out, 1, [&](int64_t n, char** at, const int64_t* step) { same(n, at[0], step[0], number, 0); });
  return LATTIS_OK;
}

}  // namespace bank
