// Positions of strided operands: how a kernel finds the elements of several tensors by one number. The host fills these
// structures and includes this file, too.
#pragma once

constexpr int walk_dims = 16;  // once neighbouring dimensions have been joined

// Divides numbers below 2^31 by a multiplication.
struct Divisor {
  uint32_t by, factor, shift;
};

// Sizes, and the strides of each operand in elements; the last dimension changes fastest.
template <int Operands>
struct Walk {
  int32_t ndim;
  int32_t wide;  // whether there are 2^31 elements or more
  int64_t count;
  int64_t sizes[walk_dims];
  Divisor divisors[walk_dims];
  int64_t strides[Operands][walk_dims];
};

#ifdef LAMELLA_KERNEL
DEVICE unsigned divide(uint32_t n, Divisor d) {
  return (uint32_t)(((uint64_t)n * d.factor >> 32) + n) >> d.shift;
}

// Calls visit(d, coordinate) for each dimension of element i.
template <int Operands, class Visit>
DEVICE void coordinates(const Walk<Operands>& w, int64_t i, Visit visit) {
  if (w.wide) {
    for (int d = w.ndim - 1; d > 0; d--) {
      const int64_t q = i / w.sizes[d];
      visit(d, i - q * w.sizes[d]);
      i = q;
    }
  } else {
    uint32_t n = (uint32_t)i;
    for (int d = w.ndim - 1; d > 0; d--) {
      const uint32_t q = divide(n, w.divisors[d]);
      visit(d, (int64_t)(n - q * w.divisors[d].by));
      n = q;
    }
    i = n;
  }
  if (w.ndim > 0) visit(0, i);
}

// Where element i lies in each operand.
template <int Operands>
DEVICE void offsets_of(const Walk<Operands>& w, int64_t i, int64_t (&at)[Operands]) {
  for (int k = 0; k < Operands; k++) at[k] = 0;
  coordinates(w, i, [&](int d, int64_t c) {
    for (int k = 0; k < Operands; k++) at[k] += c * w.strides[k][d];
  });
}
#endif
