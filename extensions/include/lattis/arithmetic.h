/* + - * / and comparisons between tensors and numbers, as the operators of the catalogue do them. */
#ifndef LATTIS_ARITHMETIC_H
#define LATTIS_ARITHMETIC_H

#include <lattis/operators.h>

#pragma GCC visibility push(hidden)

namespace lattis {

#define LATTIS_BINARY_(symbol, function)                                                             \
  inline Tensor operator symbol(const Tensor& x, const Tensor& y) { return lattis::function(x, y); } \
  inline Tensor operator symbol(const Tensor& x, const Scalar& y) { return lattis::function(x, y); }
LATTIS_BINARY_(+, add)
LATTIS_BINARY_(-, sub)
LATTIS_BINARY_(*, mul)
LATTIS_BINARY_(/, div)
LATTIS_BINARY_(%, remainder)
LATTIS_BINARY_(&, bitwise_and)
LATTIS_BINARY_(|, bitwise_or)
LATTIS_BINARY_(^, bitwise_xor)
LATTIS_BINARY_(==, eq)
LATTIS_BINARY_(!=, ne)
LATTIS_BINARY_(<, lt)
LATTIS_BINARY_(<=, le)
LATTIS_BINARY_(>, gt)
LATTIS_BINARY_(>=, ge)
#undef LATTIS_BINARY_

inline Tensor operator+(const Scalar& x, const Tensor& y) { return lattis::add(y, x); }
inline Tensor operator-(const Scalar& x, const Tensor& y) { return lattis::rsub(y, x); }
inline Tensor operator*(const Scalar& x, const Tensor& y) { return lattis::mul(y, x); }
inline Tensor operator/(const Scalar& x, const Tensor& y) { return lattis::reciprocal(y).mul(x); }
inline Tensor operator==(const Scalar& x, const Tensor& y) { return lattis::eq(y, x); }
inline Tensor operator!=(const Scalar& x, const Tensor& y) { return lattis::ne(y, x); }
inline Tensor operator<(const Scalar& x, const Tensor& y) { return lattis::gt(y, x); }
inline Tensor operator<=(const Scalar& x, const Tensor& y) { return lattis::ge(y, x); }
inline Tensor operator>(const Scalar& x, const Tensor& y) { return lattis::lt(y, x); }
inline Tensor operator>=(const Scalar& x, const Tensor& y) { return lattis::le(y, x); }
inline Tensor operator-(const Tensor& x) { return lattis::neg(x); }
inline Tensor operator~(const Tensor& x) { return lattis::bitwise_not(x); }

inline const Tensor& operator+=(const Tensor& x, const Tensor& y) { return x.add_(y); }
inline const Tensor& operator+=(const Tensor& x, const Scalar& y) { return x.add_(y); }
inline const Tensor& operator-=(const Tensor& x, const Tensor& y) { return x.sub_(y); }
inline const Tensor& operator-=(const Tensor& x, const Scalar& y) { return x.sub_(y); }
inline const Tensor& operator*=(const Tensor& x, const Tensor& y) { return x.mul_(y); }
inline const Tensor& operator*=(const Tensor& x, const Scalar& y) { return x.mul_(y); }
inline const Tensor& operator/=(const Tensor& x, const Tensor& y) { return x.div_(y); }
inline const Tensor& operator/=(const Tensor& x, const Scalar& y) { return x.div_(y); }

}  // namespace lattis

#pragma GCC visibility pop

#endif
