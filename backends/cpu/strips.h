// Walking several strided operands together: dimensions are sorted and merged, then work is handed out in parallel, as
// strips, one innermost run at a time, or as blocks of two dimensions. Elementwise kernels are bodies for this walk.
#pragma once

#include <lamella/library.h>

#include <algorithm>
#include <cstdlib>

namespace lamella::cpu {

inline constexpr int max_operands = 4;

// Two dimensions of the walk. A block is crossed if an operand's smallest step is from row to row. A crossed block is
// small, so that each line of memory that it touches stays in the first-level cache until all of it is used.
struct Block {
  int64_t rows, cols;
  char* at[max_operands];
  int64_t row_step[max_operands], col_step[max_operands];

  // Returns rows [r, r + m), columns [c, c + n).
  Block part(int count, int64_t r, int64_t m, int64_t c, int64_t n) const {
    Block b = *this;
    b.rows = m;
    b.cols = n;
    for (int k = 0; k < count; k++) b.at[k] += r * row_step[k] + c * col_step[k];
    return b;
  }
};

class Strips {
 public:
  // Walks the output's shape. Operands are added with shapes of their own and broadcast.
  explicit Strips(const lamella_tensor* out) : ndim_(out->dl.ndim) {
    std::copy(out->dl.shape, out->dl.shape + ndim_, sizes_);
    add(out);
  }
  Strips(int ndim, const int64_t* sizes) : ndim_(ndim) { std::copy(sizes, sizes + ndim, sizes_); }

  void add(const lamella_tensor* t) {
    Walked& o = operands_[count_++];
    o.data = static_cast<char*>(t->dl.data);
    int shift = ndim_ - t->dl.ndim;
    for (int i = 0; i < ndim_; i++)
      o.strides[i] = i < shift || t->dl.shape[i - shift] == 1 ? 0 : t->dl.strides[i - shift] * itemsize(t);
  }
  // Adds an operand by its byte strides, one for each of the walk's dimensions.
  void add(void* data, const int64_t* strides) {
    Walked& o = operands_[count_++];
    o.data = static_cast<char*>(data);
    std::copy(strides, strides + ndim_, o.strides);
  }
  void add_scalar(void* value) {
    operands_[count_] = {};
    operands_[count_++].data = static_cast<char*>(value);
  }

  // Calls body(n, pointers, byte strides) -> lamella_status for every run, on several threads.
  template <class Body>
  lamella_status run(int64_t grain, Body&& body) {
    merge();
    int64_t numel = 1;
    for (int i = 0; i < ndim_; i++) numel *= sizes_[i];
    if (numel == 0) return LAMELLA_OK;
    if (ndim_ <= 1 && numel <= grain) return strip_at(0, numel, body);
    return parallel_for(0, numel, grain, [&](int64_t b, int64_t e) -> lamella_status { return range(b, e, body); });
  }

  // Calls body for every run, when elements that differ only in the dimensions `tied` may share memory. One thread
  // visits all such elements, in row-major order if the first operand is laid out so along these dimensions. The
  // threads share the widest of the other dimensions, in runs of at least `together` positions or, if that is less, of
  // half the dimension.
  template <class Body>
  lamella_status run_apart(uint64_t tied, int64_t grain, int64_t together, Body&& body) {
    int widest = -1;
    int64_t numel = 1;
    for (int i = 0; i < ndim_; i++) {
      numel *= sizes_[i];
      if (!(tied >> i & 1) && (widest < 0 || sizes_[i] > sizes_[widest])) widest = i;
    }
    if (numel <= grain || widest < 0 || sizes_[widest] == 1) return run(numel, body);
    const int64_t n = sizes_[widest], rest = numel / n;
    return parallel_for(0, n, std::max({grain / std::max<int64_t>(rest, 1), std::min(together, n / 2), int64_t{1}}),
                        [&](int64_t b, int64_t e) -> lamella_status {
                          Strips part(*this);
                          part.sizes_[widest] = e - b;
                          for (int k = 0; k < count_; k++) part.operands_[k].data += b * operands_[k].strides[widest];
                          return part.run(numel, body);
                        });
  }

  // Calls body(block) -> lamella_status. A crossed block has at most `tile` elements, any other at most `grain`. Where
  // the walk has one dimension, a block is a piece of parallel_for, of up to four times `grain`.
  template <class Body>
  lamella_status run_blocks(int64_t grain, int64_t tile, Body&& body) {
    merge();
    for (int i = 0; i < ndim_; i++)
      if (sizes_[i] == 0) return LAMELLA_OK;
    if (ndim_ <= 1) {
      const int64_t n = ndim_ ? sizes_[0] : 1;
      const Block whole = block_at(-1, 0);
      auto part = [&](int64_t b, int64_t e) -> lamella_status { return body(whole.part(count_, 0, 1, b, e - b)); };
      return n <= grain ? part(0, n) : parallel_for(0, n, grain, part);
    }
    const int last = ndim_ - 1;
    const int crossing = crossing_dim();
    const int down = crossing >= 0 ? crossing : last - 1;
    const int64_t tc = crossing >= 0 ? std::min<int64_t>(sizes_[last], 64) : std::min(sizes_[last], grain);
    const int64_t tr = std::min(sizes_[down], std::max<int64_t>((crossing >= 0 ? tile : grain) / tc, 1));
    const int64_t across = (sizes_[last] + tc - 1) / tc, along = (sizes_[down] + tr - 1) / tr;
    int64_t units = across * along;
    for (int d = 0; d < last; d++)
      if (d != down) units *= sizes_[d];
    auto some = [&](int64_t begin, int64_t end) -> lamella_status {
      for (int64_t u = begin; u < end; u++) {
        const int64_t c = u % across * tc, r = u / across % along * tr;
        const Block b = block_at(down, u / across / along);
        if (lamella_status st =
                body(b.part(count_, r, std::min(tr, sizes_[down] - r), c, std::min(tc, sizes_[last] - c))))
          return st;
      }
      return LAMELLA_OK;
    };
    const int64_t unit_grain = std::max<int64_t>(grain / (tr * tc), 1);
    return units <= unit_grain ? some(0, units) : parallel_for(0, units, unit_grain, some);
  }

 private:
  // Returns the whole of the last dimension and of `down` (-1: none), at a flat index of the other dimensions.
  Block block_at(int down, int64_t index) const {
    const int last = ndim_ - 1;
    Block b;
    b.rows = down >= 0 ? sizes_[down] : 1;
    b.cols = ndim_ ? sizes_[last] : 1;
    for (int k = 0; k < count_; k++) {
      b.at[k] = operands_[k].data;
      b.row_step[k] = down >= 0 ? operands_[k].strides[down] : 0;
      b.col_step[k] = ndim_ ? operands_[k].strides[last] : 0;
    }
    for (int d = last - 1; d >= 0 && index; d--) {
      if (d == down) continue;
      for (int k = 0; k < count_; k++) b.at[k] += index % sizes_[d] * operands_[k].strides[d];
      index /= sizes_[d];
    }
    return b;
  }

  // Returns a dimension along which an operand has a smaller step than along the last one; -1 if there is none.
  int crossing_dim() const {
    const int last = ndim_ - 1;
    for (int k = 0; k < count_; k++) {
      const int64_t* s = operands_[k].strides;
      int fast = last;
      for (int d = 0; d < last; d++)
        if (s[d] != 0 && s[fast] != 0 && std::abs(s[d]) < std::abs(s[fast])) fast = d;
      if (fast != last) return fast;
    }
    return -1;
  }

  // Sorts dimensions, two at a time by the first operand whose strides along both differ and are not 0, and merges
  // neighbours that every operand walks without a gap.
  void merge() {
    int order[LAMELLA_MAX_DIMS];
    int n = 0;
    for (int i = 0; i < ndim_; i++)
      if (sizes_[i] != 1) order[n++] = i;
    auto outer = [&](int a, int b) {
      for (int k = 0; k < count_; k++) {
        int64_t sa = operands_[k].strides[a], sb = operands_[k].strides[b];
        if (sa && sb && sa != sb) return sa > sb;
      }
      return false;
    };
    for (int i = 1; i < n; i++)
      for (int j = i; j > 0 && outer(order[j], order[j - 1]); j--) std::swap(order[j], order[j - 1]);
    int64_t sizes[LAMELLA_MAX_DIMS];
    int64_t strides[max_operands][LAMELLA_MAX_DIMS];
    int m = 0;
    for (int i = 0; i < n; i++) {
      int d = order[i];
      bool joins = m > 0;
      for (int k = 0; k < count_ && joins; k++) joins = strides[k][m - 1] == operands_[k].strides[d] * sizes_[d];
      if (joins)
        sizes[m - 1] *= sizes_[d];
      else
        sizes[m++] = sizes_[d];
      for (int k = 0; k < count_; k++) strides[k][m - 1] = operands_[k].strides[d];
    }
    ndim_ = m;
    std::copy(sizes, sizes + m, sizes_);
    for (int k = 0; k < count_; k++) std::copy(strides[k], strides[k] + m, operands_[k].strides);
  }

  template <class Body>
  lamella_status strip_at(int64_t, int64_t n, Body& body) {
    char* at[max_operands] = {};
    int64_t steps[max_operands] = {};
    for (int k = 0; k < count_; k++) {
      at[k] = operands_[k].data;
      steps[k] = ndim_ ? operands_[k].strides[0] : 0;
    }
    return body(n, at, steps);
  }

  template <class Body>
  lamella_status range(int64_t begin, int64_t end, Body& body) {
    const int last = ndim_ - 1;
    int64_t index[LAMELLA_MAX_DIMS], rest = begin;
    for (int d = last; d >= 0; d--) {
      index[d] = rest % sizes_[d];
      rest /= sizes_[d];
    }
    char* at[max_operands] = {};
    int64_t steps[max_operands] = {};
    for (int k = 0; k < count_; k++) {
      at[k] = operands_[k].data;
      for (int d = 0; d <= last; d++) at[k] += index[d] * operands_[k].strides[d];
      steps[k] = operands_[k].strides[last];
    }
    for (int64_t i = begin; i < end;) {
      int64_t n = std::min(sizes_[last] - index[last], end - i);
      if (lamella_status st = body(n, at, steps)) return st;
      i += n;
      index[last] += n;
      for (int k = 0; k < count_; k++) at[k] += n * steps[k];
      for (int d = last; d > 0 && index[d] == sizes_[d]; d--) {
        for (int k = 0; k < count_; k++) at[k] += operands_[k].strides[d - 1] - sizes_[d] * operands_[k].strides[d];
        index[d] = 0;
        index[d - 1]++;
      }
    }
    return LAMELLA_OK;
  }

  struct Walked {
    char* data;
    int64_t strides[LAMELLA_MAX_DIMS];  // bytes, aligned with the walk's sizes; 0 where broadcast
  };

  int ndim_;
  int count_ = 0;
  int64_t sizes_[LAMELLA_MAX_DIMS];
  Walked operands_[max_operands];
};

}  // namespace lamella::cpu
