/* Dimensions: the sizes and steps by which a loop walks several operands together, with neighbouring dimensions joined
 * into one if no operand has a gap between them. Also functions that read an argument `dim`. */
#ifndef LAMELLA_DIMENSIONS_H
#define LAMELLA_DIMENSIONS_H

#include <lamella/library.h>

#include <algorithm>

#pragma GCC visibility push(hidden)

namespace lamella {

/* Returns `dim` counted from the front; a tensor without dimensions takes 0 and -1. */
inline int wrapped_dim(int64_t dim, int64_t ndim) {
  return static_cast<int>(dim < 0 ? dim + std::max<int64_t>(ndim, 1) : dim);
}
/* `size_along` and `stride_along` treat a tensor without dimensions as one with a dimension of size 1. */
inline int64_t size_along(const lamella_tensor* t, int dim) { return t->dl.ndim ? t->dl.shape[dim] : 1; }
inline int64_t stride_along(const lamella_tensor* t, int dim) { return t->dl.ndim ? t->dl.strides[dim] : 1; }

/* Dimensions from the outermost to the innermost, with the steps of up to `Operands` operands, all in the same unit. */
template <int Operands>
class Dimensions {
 public:
  struct Dimension {
    int64_t size;
    int64_t steps[Operands];
  };

  /* Adds a dimension as the innermost. A dimension of size 1 is left out. */
  void add(int64_t size, std::initializer_list<int64_t> steps) { add(size, steps.begin(), steps.size()); }
  void add(int64_t size, const int64_t* steps, size_t operands = Operands) {
    elements_ *= size;
    if (size == 1) return;
    Dimension& d = all_[count_++];
    d.size = size;
    for (size_t k = 0; k < Operands; k++) d.steps[k] = k < operands ? steps[k] : 0;
  }
  /* Adds the dimensions of a shape, to which operands are broadcast. Steps are bytes; the steps of an absent operand,
   * and of an operand along a dimension in which it is broadcast, are 0. */
  void add(int ndim, const int64_t* sizes, const lamella_tensor* const* operands, int count) {
    for (int d = 0; d < ndim; d++) {
      int64_t steps[Operands] = {};
      for (int k = 0; k < count; k++) {
        const lamella_tensor* t = operands[k];
        const int at = t ? d - (ndim - t->dl.ndim) : -1;
        if (at >= 0 && t->dl.shape[at] != 1) steps[k] = t->dl.strides[at] * itemsize(t);
      }
      add(sizes[d], steps);
    }
  }

  /* Orders the dimensions by the steps of the first operand, the largest outermost; dimensions of equal steps keep
   * their order. */
  void sort() {
    std::stable_sort(all_, all_ + count_,
                     [](const Dimension& a, const Dimension& b) { return a.steps[0] > b.steps[0]; });
  }
  /* Joins neighbouring dimensions into one if every operand's outer step is its inner step times the inner size. */
  void join() {
    int n = 0;
    for (int d = 0; d < count_; d++) {
      const Dimension& inner = all_[d];
      bool joins = n > 0;
      for (int k = 0; joins && k < Operands; k++) joins = all_[n - 1].steps[k] == inner.steps[k] * inner.size;
      const int64_t around = joins ? all_[--n].size : 1;
      if (n != d) all_[n] = inner;
      all_[n++].size *= around;
    }
    count_ = n;
  }

  int count() const { return count_; }
  int64_t elements() const { return elements_; }
  const Dimension& operator[](int d) const { return all_[d]; }
  const Dimension* begin() const { return all_; }
  const Dimension* end() const { return all_ + count_; }

 private:
  int count_ = 0;
  int64_t elements_ = 1;
  Dimension all_[LAMELLA_MAX_DIMS];
};

}  // namespace lamella

#pragma GCC visibility pop

#endif
