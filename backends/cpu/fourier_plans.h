// Plans of Fourier transforms: for each length the roots of unity in the orders in which the passes read them.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/fourier.h"

namespace lamella::cpu::fourier {

const Transforms& transforms(bool wide);

// The passes of one length, with the memory of their roots. A length with a prime factor above most_prime has a chirp.
class PassPlan {
 public:
  PassPlan(int64_t n, bool wide);
  const Passes& passes() const { return passes_; }
  int64_t bytes() const;

 private:
  Passes passes_ = {};
  std::vector<std::vector<char>> tables_;
  std::unique_ptr<PassPlan> longer_;
};

// A transform of n complex numbers. If n = rows * columns is split, a line is read as a matrix: its columns are
// transformed first and multiplied by roots of unity, then its rows, and the result is the transposed matrix (Bailey's
// four steps). So a single line fills all lanes of the vectors.
struct Plan {
  Plan(int64_t n, bool wide);
  int64_t bytes() const;

  int64_t n, rows = 0, columns = 0;  // rows is 0: not split
  bool wide;
  std::unique_ptr<PassPlan> whole, by_rows, by_columns;  // `whole` has no tables of its own if `longer` serves
  std::vector<char> twiddles;    // for one block of columns after the other: a vector of roots for each row
  std::unique_ptr<Plan> longer;  // Bluestein's convolution of a single line
  std::vector<char> chirp, filter;
};

// The roots of unity by which a real line of 2 n numbers is packed from n complex ones.
struct HalfRoots {
  HalfRoots(int64_t n, bool wide);
  std::vector<char> roots;
};

// Plans of the last used lengths, at most 64 and at most 64 MiB of them.
std::shared_ptr<const Plan> plan(int64_t n, bool wide);
std::shared_ptr<const HalfRoots> half_roots(int64_t n, bool wide);

}  // namespace lamella::cpu::fourier
