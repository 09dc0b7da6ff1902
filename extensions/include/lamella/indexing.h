/* Indices as Python writes them: x.index({0, Slice(1, None), "...", mask}) is x[0, 1:, ..., mask]. */
#ifndef LAMELLA_INDEXING_H
#define LAMELLA_INDEXING_H

#ifndef LAMELLA_NO_OPERATORS
#include <lamella/operators.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace indexing {

/* Stands for a new dimension in an index, and for an open end of a slice. */
inline constexpr std::nullopt_t None = std::nullopt;
struct Ellipsis_ {};
/* Stands for all dimensions that an index does not name. */
inline constexpr Ellipsis_ Ellipsis{};

/* start:stop:step; the step is positive. */
struct Slice {
  Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {}, std::optional<int64_t> step = {})
      : start(start), stop(stop), step(step.value_or(1)) {}
  std::optional<int64_t> start, stop;
  int64_t step;
};

}  // namespace indexing

/* One part of an index. */
class TensorIndex {
 public:
  enum Kind { None, Ellipsis, Integer, Boolean, Slice, Elements };

  TensorIndex(std::nullopt_t) : kind(None) {}
  TensorIndex(indexing::Ellipsis_) : kind(Ellipsis) {}
  TensorIndex(const char* dots) : kind(Ellipsis) {
    LAMELLA_CHECK_VALUE(std::strcmp(dots, "...") == 0, "index: expected \"...\", got \"", dots, "\"");
  }
  template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
  TensorIndex(T i) : kind(std::is_same<T, bool>::value ? Boolean : Integer), integer(static_cast<int64_t>(i)) {}
  TensorIndex(indexing::Slice s) : kind(Slice), slice(s) {}
  TensorIndex(Tensor t) : kind(Elements), elements(std::move(t)) {}

  Kind kind;
  int64_t integer = 0;
  indexing::Slice slice;
  Tensor elements;
};

namespace indexing {
using lamella::TensorIndex;
}

namespace detail {

/* Applies the parts of an index that are views; `x` is the result. `left` holds the other parts: tensors of integers
 * and masks, with undefined ones for the dimensions between them, as index and index_put_ take them. */
struct Viewed {
  Tensor x;
  std::vector<Tensor> left;

  Viewed(const Tensor& self, ArrayRef<TensorIndex> at) : x(self) {
    int64_t named = 0, dim = 0, covered = 0; /* covered: dimensions of x that `left` has entries for */
    bool dots = false;
    for (const TensorIndex& i : at) {
      named += dimensions(i);
      LAMELLA_CHECK_INDEX(i.kind != TensorIndex::Ellipsis || !std::exchange(dots, true),
                          "index: \"...\" may occur only once");
    }
    LAMELLA_CHECK_INDEX(named <= self.dim(), "index: got indices for ", named, " dimensions, the tensor has ",
                        self.dim());
    for (const TensorIndex& i : at) {
      const bool flag = i.kind == TensorIndex::Boolean || (is_mask(i) && i.elements.dim() == 0);
      if (i.kind == TensorIndex::Integer) {
        x = x.select(dim, i.integer);
      } else if (i.kind == TensorIndex::Slice) {
        x = x.slice(dim++, i.slice.start, i.slice.stop, i.slice.step);
      } else if (i.kind == TensorIndex::None) {
        x = x.unsqueeze(dim++);
      } else if (i.kind == TensorIndex::Ellipsis) {
        dim += self.dim() - named;
      } else if (i.kind == TensorIndex::Elements && !i.elements.defined()) {
        dim++;
      } else if (!flag && i.elements.dim() == 0 && is_integral(i.elements.dtype())) {
        x = x.select(dim, i.elements.item<int64_t>());
      } else {
        if (flag) x = x.unsqueeze(dim); /* a mask over a new dimension */
        left.resize(left.size() + static_cast<size_t>(dim - covered));
        if (i.kind == TensorIndex::Boolean)
          left.push_back(full({1}, i.integer != 0, TensorOptions(kBool).device(x.device())));
        else
          left.push_back(flag ? i.elements.unsqueeze(0) : i.elements);
        dim += flag ? 1 : dimensions(i);
        covered = dim;
      }
    }
  }

 private:
  static bool is_mask(const TensorIndex& i) {
    return i.kind == TensorIndex::Elements && i.elements.defined() && i.elements.dtype() == kBool;
  }
  /* Returns how many dimensions of the tensor a part of an index names. */
  static int64_t dimensions(const TensorIndex& i) {
    if (is_mask(i)) return i.elements.dim();
    return i.kind == TensorIndex::Integer || i.kind == TensorIndex::Slice || i.kind == TensorIndex::Elements;
  }
};

/* Removes the leading dimensions of size one, which x[0] = values ignores. */
inline Tensor without_ones(Tensor values) {
  while (values.dim() > 0 && values.size(0) == 1) values = values.squeeze(0);
  return values;
}

}  // namespace detail

inline Tensor Tensor::index(ArrayRef<TensorIndex> at) const {
  const detail::Viewed v(*this, at);
  return v.left.empty() ? v.x : v.x.index(TensorList(v.left));
}
inline Tensor Tensor::index(std::initializer_list<TensorIndex> at) const { return index(ArrayRef<TensorIndex>(at)); }
inline const Tensor& Tensor::index_put_(ArrayRef<TensorIndex> at, const Tensor& values) const {
  const detail::Viewed v(*this, at);
  if (v.left.empty())
    v.x.copy_(detail::without_ones(values));
  else
    v.x.index_put_(TensorList(v.left), detail::without_ones(values));
  return *this;
}
inline const Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> at, const Tensor& values) const {
  return index_put_(ArrayRef<TensorIndex>(at), values);
}
inline const Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> at, const Scalar& value) const {
  return index_put_(ArrayRef<TensorIndex>(at), full({}, value, options()));
}

/* ---- methods that are made of operators ---- */

namespace detail {
inline TensorOptions like(const Tensor& t, const TensorOptions& o) {
  TensorOptions whole = o;
  if (!o.dtype()) whole = whole.dtype(t.dtype());
  if (!o.device()) whole = whole.device(t.device());
  return whole;
}
}  // namespace detail

inline Tensor Tensor::new_empty(IntArrayRef sizes, const TensorOptions& options) const {
  return empty(sizes, detail::like(*this, options));
}
inline Tensor Tensor::new_zeros(IntArrayRef sizes, const TensorOptions& options) const {
  return zeros(sizes, detail::like(*this, options));
}
inline Tensor Tensor::new_ones(IntArrayRef sizes, const TensorOptions& options) const {
  return ones(sizes, detail::like(*this, options));
}
inline Tensor Tensor::new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) const {
  return full(sizes, value, detail::like(*this, options));
}
/* Returns whether isclose holds for all elements: |self - other| <= atol + rtol * |other|, or both are equal, or, with
 * equal_nan, both are NaN. */
inline bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return isclose(other, rtol, atol, equal_nan).all().item<bool>();
}
inline bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                     bool equal_nan = false) {
  return self.allclose(other, rtol, atol, equal_nan);
}

}  // namespace lamella

#pragma GCC visibility pop
#endif

#endif
