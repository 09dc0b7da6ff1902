// Reductions of the segments of a dimension, which follow each other. Sums, products and extremes are kept in float64.
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/gather.h"

namespace lamella::cpu {
namespace {

struct SegmentSum {
  static constexpr double start = 0;
  static double join(double a, double x) { return a + x; }
};
struct SegmentProduct {
  static constexpr double start = 1;
  static double join(double a, double x) { return a * x; }
};
struct SegmentMax {
  static constexpr double start = -std::numeric_limits<double>::infinity();
  static double join(double a, double x) { return x > a || x != x ? x : a; }  // a NaN stays
};
struct SegmentMin {
  static constexpr double start = std::numeric_limits<double>::infinity();
  static double join(double a, double x) { return x < a || x != x ? x : a; }
};

// The data as (rows, size, inner), and the segments of a row: segment i lies from at[i] to at[i + 1].
struct Segments {
  int64_t rows, size, inner, count;
  const int64_t* at;  // count + 1 for each row
  bool mean, given;   // given: the caller gives the number that a segment begins with
  double first;
};

// Folds n numbers into `begin`. Several partial results run beside each other, so that the processor need not wait.
template <class Fold, class T>
double fold_run(const T* x, int64_t n, double begin) {
  constexpr int lanes = 8;
  double part[lanes];
  std::fill(part, part + lanes, Fold::start);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int k = 0; k < lanes; k++) part[k] = Fold::join(part[k], x[i + k]);
  for (; i < n; i++) begin = Fold::join(begin, x[i]);
  for (double p : part) begin = Fold::join(begin, p);
  return begin;
}

template <class Fold, class T>
void reduce_segment(const Segments& s, int64_t k, const T* data, T* out, std::vector<double>& sums) {
  const int64_t row = k / s.count, i = k % s.count;
  const int64_t* at = s.at + row * (s.count + 1) + i;
  const int64_t n = std::max<int64_t>(at[1] - at[0], 0);
  const T* x = data + (row * s.size + at[0]) * s.inner;
  T* to = out + k * s.inner;
  const double begin = s.given ? s.first : Fold::start;
  // The mean of an empty segment is NaN, unless the caller gives a first number.
  const double share = !s.mean ? 1 : n > 0 || s.given ? static_cast<double>(std::max<int64_t>(n, 1)) : std::nan("");
  if (s.inner == 1) {
    *to = static_cast<T>(fold_run<Fold>(x, n, begin) / share);
    return;
  }
  sums.assign(s.inner, begin);
  for (int64_t r = 0; r < n; r++, x += s.inner)
    for (int64_t j = 0; j < s.inner; j++) sums[j] = Fold::join(sums[j], x[j]);
  for (int64_t j = 0; j < s.inner; j++) to[j] = static_cast<T>(sums[j] / share);
}

template <class Fold, class T>
lamella_status reduce_all(const Segments& s, const T* data, T* out) {
  const int64_t total = s.rows * s.count;
  const int64_t each = std::max<int64_t>(s.rows * s.size * s.inner / std::max<int64_t>(total, 1), 1);
  return parallel_for(0, total, std::max<int64_t>(32768 / each, 1), [&](int64_t b, int64_t e) -> lamella_status {
    std::vector<double> sums;
    for (; b < e; b++) reduce_segment<Fold>(s, b, data, out, sums);
    return LAMELLA_OK;
  });
}

template <class T>
lamella_status reduce_by(std::string_view reduce, const Segments& s, const T* data, T* out) {
  if (reduce == "max") return reduce_all<SegmentMax>(s, data, out);
  if (reduce == "min") return reduce_all<SegmentMin>(s, data, out);
  if (reduce == "prod") return reduce_all<SegmentProduct>(s, data, out);
  return reduce_all<SegmentSum>(s, data, out);
}

// Returns the bounds of the segments, within the dimension. Declines lengths and offsets that are wrong: the composite
// says what is wrong with them.
bool bounds_of_segments(const Operand& lengths, const Operand& offsets, bool unsafe, Segments* s,
                        std::vector<int64_t>* at) {
  at->resize(s->rows * (s->count + 1));
  bool right = true;
  for (int64_t row = 0; row < s->rows; row++) {
    int64_t* to = at->data() + row * (s->count + 1);
    if (lengths) {
      const int64_t* n = lengths.data<int64_t>() + row * s->count;
      to[0] = 0;
      for (int64_t i = 0; i < s->count; i++) {
        right &= n[i] >= 0 && n[i] <= s->size - to[i];
        to[i + 1] = to[i] + std::clamp<int64_t>(n[i], 0, s->size - to[i]);
      }
      right &= unsafe || to[s->count] == s->size;
    } else {
      const int64_t* from = offsets.data<int64_t>() + row * (s->count + 1);
      for (int64_t i = 0; i <= s->count; i++) {
        right &= from[i] >= (i ? from[i - 1] : 0) && from[i] <= s->size;
        to[i] = std::clamp<int64_t>(from[i], 0, s->size);
      }
    }
  }
  s->at = at->data();
  return right;
}

Status segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor&,
                      const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial,
                      const Tensor& out) {
  const int d = wrapped_dim(axis, data.dim());
  Segments s{};
  s.rows = s.inner = 1;
  for (int k = 0; k < data.dim(); k++) (k < d ? s.rows : s.inner) *= k == d ? 1 : data.sizes()[k];
  s.size = data.sizes()[d];
  s.count = out.sizes()[d];
  s.mean = reduce == "mean";
  s.given = initial.has_value();
  s.first = initial ? initial->toDouble() : 0;
  const Operand rows_of(lengths.get(), LAMELLA_INT64), places(offsets.get(), LAMELLA_INT64);
  std::vector<int64_t> at;
  if (!bounds_of_segments(rows_of, places, unsafe, &s, &at)) return LAMELLA_DECLINED;
  if (out.numel() == 0) return LAMELLA_OK;
  const ScalarType wide = wide_of(data.dtype());
  const Operand x(data, wide);
  const Result y(out, wide);
  const lamella_status st = wide == kDouble ? reduce_by(reduce, s, x.data<double>(), y.data<double>())
                                            : reduce_by(reduce, s, x.data<float>(), y.data<float>());
  return st ? st : y.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) { add<segment_reduce>(m, "segment_reduce"); }

}  // namespace lamella::cpu
