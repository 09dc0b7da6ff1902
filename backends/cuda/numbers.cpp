// Writes the numbers of a call as elements.
#include "numbers.h"

#include <complex>
#include <cstring>
#include <limits>

namespace cuda {
namespace {

struct Number {
  uint32_t tag = LAMELLA_INT;
  int64_t whole = 0;
  double re = 0, im = 0;
};

template <class T>
T read(const void* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

Number element_of(const lamella_tensor* t) {
  const void* p = t->dl.data;
  const auto whole = [](auto x) { return Number{LAMELLA_INT, static_cast<int64_t>(x)}; };
  const auto real = [](double x) { return Number{LAMELLA_FLOAT, 0, x}; };
  switch (t->dtype) {
    case LAMELLA_BOOL:
      return whole(read<uint8_t>(p) != 0);
    case LAMELLA_UINT8:
      return whole(read<uint8_t>(p));
    case LAMELLA_UINT16:
      return whole(read<uint16_t>(p));
    case LAMELLA_UINT32:
      return whole(read<uint32_t>(p));
    case LAMELLA_UINT64:
      return {LAMELLA_UINT, read<int64_t>(p)};
    case LAMELLA_INT8:
      return whole(read<int8_t>(p));
    case LAMELLA_INT16:
      return whole(read<int16_t>(p));
    case LAMELLA_INT32:
      return whole(read<int32_t>(p));
    case LAMELLA_INT64:
      return whole(read<int64_t>(p));
    case LAMELLA_FLOAT16:
      return real(static_cast<float>(read<lamella::float16>(p)));
    case LAMELLA_BFLOAT16:
      return real(static_cast<float>(read<lamella::bfloat16>(p)));
    case LAMELLA_FLOAT32:
      return real(read<float>(p));
    case LAMELLA_FLOAT64:
      return real(read<double>(p));
    case LAMELLA_COMPLEX64:
      return {LAMELLA_COMPLEX, 0, read<float>(p), read<float>(static_cast<const float*>(p) + 1)};
    case LAMELLA_COMPLEX128:
      return {LAMELLA_COMPLEX, 0, read<double>(p), read<double>(static_cast<const double*>(p) + 1)};
    default:
      LAMELLA_CHECK(false, "cuda: a kernel cannot take a number of dtype number ", int{t->dtype});
      return {};
  }
}

Number number_of(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_TENSOR:
      return element_of(v.as.tensor);
    case LAMELLA_FLOAT:
      return {LAMELLA_FLOAT, 0, v.as.d};
    case LAMELLA_COMPLEX:
      return {LAMELLA_COMPLEX, 0, v.as.doubles[0], v.as.doubles[1]};
    default:
      return {v.tag, v.as.i};
  }
}

double real_part(const Number& n) {
  if (n.tag == LAMELLA_UINT) return static_cast<double>(static_cast<uint64_t>(n.whole));
  return n.tag == LAMELLA_FLOAT || n.tag == LAMELLA_COMPLEX ? n.re : static_cast<double>(n.whole);
}

// Returns the real part of a number as an integer. A NaN or a float that fits no 64-bit integer becomes INT64_MIN.
int64_t whole_part(const Number& n) {
  if (n.tag != LAMELLA_FLOAT && n.tag != LAMELLA_COMPLEX) return n.whole;
  if (!(n.re > -9.3e18 && n.re < 1.85e19)) return INT64_MIN;
  return n.re < 9.2e18 ? static_cast<int64_t>(n.re) : static_cast<int64_t>(static_cast<uint64_t>(n.re));
}

template <class T>
void put(T x, void* to) {
  std::memcpy(to, &x, sizeof x);
}

template <class T>
void put_integer(const lamella_value& v, void* to, int absent) {
  using Limits = std::numeric_limits<T>;
  if (v.tag == LAMELLA_NONE) return put(absent == LAMELLA_ABSENT_LOWEST ? Limits::lowest() : Limits::max(), to);
  put(static_cast<T>(whole_part(number_of(v))), to);
}
template <class T>
void put_real(const lamella_value& v, void* to, int absent) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (v.tag == LAMELLA_NONE) return put(absent == LAMELLA_ABSENT_LOWEST ? -infinity : infinity, to);
  const Number n = number_of(v);
  // A whole number is converted to float directly, since by way of double it would be rounded twice.
  if (n.tag == LAMELLA_UINT) return put(static_cast<T>(static_cast<uint64_t>(n.whole)), to);
  put(n.tag == LAMELLA_FLOAT || n.tag == LAMELLA_COMPLEX ? static_cast<T>(n.re) : static_cast<T>(n.whole), to);
}

}  // namespace

void put_number(const lamella_value& v, int dtype, void* to, int absent) {
  switch (dtype) {
    case LAMELLA_BOOL: {
      const Number n = number_of(v);
      return put<uint8_t>(n.tag == LAMELLA_FLOAT || n.tag == LAMELLA_COMPLEX ? n.re != 0 || n.im != 0 : n.whole != 0,
                          to);
    }
    case LAMELLA_UINT8:
      return put_integer<uint8_t>(v, to, absent);
    case LAMELLA_UINT16:
      return put_integer<uint16_t>(v, to, absent);
    case LAMELLA_UINT32:
      return put_integer<uint32_t>(v, to, absent);
    case LAMELLA_UINT64:
      return put_integer<uint64_t>(v, to, absent);
    case LAMELLA_INT8:
      return put_integer<int8_t>(v, to, absent);
    case LAMELLA_INT16:
      return put_integer<int16_t>(v, to, absent);
    case LAMELLA_INT32:
      return put_integer<int32_t>(v, to, absent);
    case LAMELLA_INT64:
      return put_integer<int64_t>(v, to, absent);
    case LAMELLA_FLOAT64:
      return put_real<double>(v, to, absent);
    case LAMELLA_COMPLEX64: {
      const Number n = number_of(v);
      return put(std::complex<float>(static_cast<float>(real_part(n)), static_cast<float>(n.im)), to);
    }
    case LAMELLA_COMPLEX128: {
      const Number n = number_of(v);
      return put(std::complex<double>(real_part(n), n.im), to);
    }
    default:
      return put_real<float>(v, to, absent);
  }
}

}  // namespace cuda
