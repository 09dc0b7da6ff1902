// The steps of recurrent layers: the rows of each step, and the state before it.
#pragma once

#include <algorithm>

#include "operators/shapes.h"

namespace lamella::operators {

// Checks the argument `batch_sizes`, and returns the number of rows of all steps.
inline int64_t check_batch_sizes(IntArrayRef sizes, int64_t batch) {
  constexpr int64_t most = int64_t{1} << 40;
  int64_t rows = 0, before = batch;
  for (int64_t n : sizes) {
    LAMELLA_CHECK(n >= 0 && n <= before && rows <= most - std::min(n, most), argument("batch_sizes"),
                  ": expected sizes that do not grow, from the batch of ", batch, " on, got ", shape_text(sizes));
    rows += n;
    before = n;
  }
  LAMELLA_CHECK(!sizes.empty() && sizes[0] == batch, argument("batch_sizes"), ": expected the batch, ", batch,
                ", as the first size, got ", shape_text(sizes));
  return rows;
}

class Steps {
 public:
  Steps(IntArrayRef sizes, bool reverse) : sizes_(sizes.begin(), sizes.end()), reverse_(reverse) {
    int64_t at = 0;
    for (int64_t n : sizes) first_.push_back(at), at += n;
  }
  // Calls f for the steps in the order of the layer, or in the reverse order if `against` is true.
  template <class F>
  void each(const F& f, bool against = false) const {
    const auto n = static_cast<int64_t>(sizes_.size());
    for (int64_t k = 0; k < n; k++) f(static_cast<size_t>(reverse_ != against ? n - 1 - k : k));
  }
  int64_t size(size_t step) const { return sizes_[step]; }
  size_t count() const { return sizes_.size(); }
  Tensor of(const Tensor& rows, size_t step) const { return rows.narrow(0, first_[step], sizes_[step]); }
  // Returns the state before a step: `rows` of the step that the layer computed before it, and `given` for the
  // sequences that begin at this step.
  Tensor before(const Tensor& rows, const Tensor& given, size_t step) const {
    if (!reverse_) return step == 0 ? given : rows.narrow(0, first_[step - 1], sizes_[step]);
    if (step + 1 == sizes_.size()) return given.narrow(0, 0, sizes_[step]);
    const Tensor old = of(rows, step + 1);
    const int64_t more = sizes_[step] - sizes_[step + 1];
    return more == 0 ? old : lamella::cat({old, given.narrow(0, sizes_[step + 1], more)}, 0);
  }
  Tensor all_before(const Tensor& rows, const Tensor& given) const {
    std::vector<Tensor> parts;
    for (size_t step = 0; step < count(); step++) parts.push_back(before(rows, given, step));
    return lamella::cat(parts, 0);
  }

 private:
  std::vector<int64_t> sizes_;
  bool reverse_;
  std::vector<int64_t> first_;
};

// Replaces the first rows of a state.
inline Tensor renewed(const Tensor& state, const Tensor& first) {
  const int64_t rest = state.size(0) - first.size(0);
  return rest == 0 ? first : lamella::cat({first, state.narrow(0, first.size(0), rest)}, 0);
}
inline Tensor part(const Tensor& rows, int64_t i, int64_t count) {
  const int64_t n = rows.size(1) / count;
  return rows.narrow(1, i * n, n);
}
inline Tensor sum_of(const Tensor& a, const Tensor& b) { return b.defined() ? a + b : a; }

// Computes a step from the sums of the gates and the cell: returns the result, the new cell, and the activations.
inline std::tuple<Tensor, Tensor, Tensor> lstm_step(const Tensor& sums, const Tensor& cell) {
  const Tensor i = part(sums, 0, 4).sigmoid(), f = part(sums, 1, 4).sigmoid();
  const Tensor g = part(sums, 2, 4).tanh(), o = part(sums, 3, 4).sigmoid();
  const Tensor c = f * cell + i * g;
  return {o * c.tanh(), c, lamella::cat({i, f, g, o}, 1)};
}

}  // namespace lamella::operators
