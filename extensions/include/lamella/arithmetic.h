/* C++'s + - * / % & | ^ ~, comparisons and += -= *= /= for tensors, and for tensors with numbers, by calls of the
 * catalogue's operators. Only for + - * / and comparisons the number may be on the left. */
#ifndef LAMELLA_ARITHMETIC_H
#define LAMELLA_ARITHMETIC_H

#include <lamella/operators.h>

#pragma GCC visibility push(hidden)

namespace lamella {

#define LAMELLA_BINARY_(symbol, function)                                                             \
  inline Tensor operator symbol(const Tensor& x, const Tensor& y) { return lamella::function(x, y); } \
  inline Tensor operator symbol(const Tensor& x, const Scalar& y) { return lamella::function(x, y); }
LAMELLA_BINARY_(+, add)
LAMELLA_BINARY_(-, sub)
LAMELLA_BINARY_(*, mul)
LAMELLA_BINARY_(/, div)
LAMELLA_BINARY_(%, remainder)
LAMELLA_BINARY_(&, bitwise_and)
LAMELLA_BINARY_(|, bitwise_or)
LAMELLA_BINARY_(^, bitwise_xor)
LAMELLA_BINARY_(==, eq)
LAMELLA_BINARY_(!=, ne)
LAMELLA_BINARY_(<, lt)
LAMELLA_BINARY_(<=, le)
LAMELLA_BINARY_(>, gt)
LAMELLA_BINARY_(>=, ge)
#undef LAMELLA_BINARY_

inline Tensor operator+(const Scalar& x, const Tensor& y) { return lamella::add(y, x); }
inline Tensor operator-(const Scalar& x, const Tensor& y) { return lamella::rsub(y, x); }
inline Tensor operator*(const Scalar& x, const Tensor& y) { return lamella::mul(y, x); }
inline Tensor operator/(const Scalar& x, const Tensor& y) { return lamella::div(x, y); }
inline Tensor operator==(const Scalar& x, const Tensor& y) { return lamella::eq(y, x); }
inline Tensor operator!=(const Scalar& x, const Tensor& y) { return lamella::ne(y, x); }
inline Tensor operator<(const Scalar& x, const Tensor& y) { return lamella::gt(y, x); }
inline Tensor operator<=(const Scalar& x, const Tensor& y) { return lamella::ge(y, x); }
inline Tensor operator>(const Scalar& x, const Tensor& y) { return lamella::lt(y, x); }
inline Tensor operator>=(const Scalar& x, const Tensor& y) { return lamella::le(y, x); }
inline Tensor operator-(const Tensor& x) { return lamella::neg(x); }
inline Tensor operator~(const Tensor& x) { return lamella::bitwise_not(x); }

inline const Tensor& operator+=(const Tensor& x, const Tensor& y) { return x.add_(y); }
inline const Tensor& operator+=(const Tensor& x, const Scalar& y) { return x.add_(y); }
inline const Tensor& operator-=(const Tensor& x, const Tensor& y) { return x.sub_(y); }
inline const Tensor& operator-=(const Tensor& x, const Scalar& y) { return x.sub_(y); }
inline const Tensor& operator*=(const Tensor& x, const Tensor& y) { return x.mul_(y); }
inline const Tensor& operator*=(const Tensor& x, const Scalar& y) { return x.mul_(y); }
inline const Tensor& operator/=(const Tensor& x, const Tensor& y) { return x.div_(y); }
inline const Tensor& operator/=(const Tensor& x, const Scalar& y) { return x.div_(y); }

}  // namespace lamella

#pragma GCC visibility pop

#endif
