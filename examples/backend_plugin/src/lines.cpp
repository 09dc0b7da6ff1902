// Kernels that go line by line: reductions, cumsum, sort, and what goes by indices.
#include <algorithm>
#include <numeric>

#include "bank.h"

namespace bank {
namespace {

// Elements are added one by one, floating ones in extended precision: no less exact than adding pairs.
template <class T>
struct Sum {
  using Real = std::conditional_t<std::is_same_v<T, double>, long double, T>;
  std::conditional_t<std::is_same_v<T, std::complex<double>>, std::complex<long double>, Real> total{};
  void add(T x) { total += x; }
  T get() const { return static_cast<T>(total); }
};

template <class T>
struct Product {
  T total{1};
  void add(T x) { total *= x; }
  T get() const { return total; }
};

// The first of the largest, or of the smallest if Less; the first NaN wins.
template <class T, bool Less, bool Index>
struct Best {
  T best{};
  int64_t at = 0, seen = 0;
  void add(T x) {
    const bool wins = x != x || (Less ? x < best : x > best);
    if (seen == 0 || (wins && best == best)) best = x, at = seen;
    seen++;
  }
  auto get() const { return std::get<Index>(std::pair(best, at)); }
};
template <class T>
using Largest = Best<T, false, false>;
template <class T>
using Least = Best<T, true, false>;
template <class T>
using Argmax = Best<T, false, true>;

// The dimensions that a kernel was given: none, or an empty list, means all.
uint64_t mask(const lattis_value& dims, const lattis_tensor* t) {
  uint64_t m = dims.tag == LATTIS_INT ? bit(dims.as.i, t) : 0;
  for (uint32_t i = 0; dims.tag == LATTIS_INT_LIST && i < dims.length; i++) m |= bit(dims.as.ints[i], t);
  return m ? m : ~m;
}

// What Accumulator makes of each line of `self`, whose elements are converted first: to the dtype of the result, or,
// where it selects, to none. With Scan, of each beginning of a line.
template <template <class> class Accumulator, bool Scan = false, bool Selects = false>
lattis_status line_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *out = rets[0].as.tensor, *self = args[0].as.tensor;
  const uint64_t along = mask(args[1], self);
  const View in(self, along), to(out, Scan ? along : 0);
  return with_type<!Selects>(Selects ? in.dtype : to.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Result = decltype(Accumulator<T>().get());
    return launch(out, [=, n = in.line] {
      const Row given(in, Selects ? in.dtype : to.dtype);
      const View converted(given.data, Selects ? in.dtype : to.dtype, in.count);
      Row x(converted, code<T>), y(to, code<Result>, false);
      for (int64_t i = 0; i < to.count; i += Scan ? n : 1) {
        Accumulator<T> total;
        for (int64_t k = 0; k < n; k++) {
          total.add(x.as<T>()[Scan ? i + k : i * n + k]);
          if (Scan) y.as<Result>()[i + k] = total.get();
        }
        if (!Scan) y.as<Result>()[i] = total.get();
      }
      return y.write();
    });
  });
}

// sort.stable(self, stable, dim, descending): values and indices
lattis_status sort_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* self = args[0].as.tensor;
  const uint64_t along = bit(args[2].as.i, self);
  const View in(self, along), values(rets[0].as.tensor, along), indices(rets[1].as.tensor, along);
  return with_type<false>(self->dtype, [&](auto zero) {
    using T = decltype(zero);
    return launch(self, [=, descending = args[3].as.i != 0] {
      Row x(in, code<T>), sorted(values, code<T>, false), order(indices, LATTIS_INT64, false);
      for (int64_t i = 0; i < in.count; i += in.line) {
        const T* line = x.as<T>() + i;
        int64_t* at = order.as<int64_t>() + i;
        std::iota(at, at + in.line, 0);
        std::stable_sort(at, at + in.line, [=](int64_t a, int64_t b) {
          if (descending) std::swap(a, b);
          return line[b] != line[b] ? line[a] == line[a] : line[a] < line[b];  // NaN is larger than all
        });
        for (int64_t k = 0; k < in.line; k++) sorted.as<T>()[i + k] = line[at[k]];
      }
      sorted.write();
      return order.write();
    });
  });
}

// body(element of `self` that an element of `index` names along `dim`, element of `other` beside the index); then the
// elements of `out`, which is one of the two, are written.
template <class Body>
lattis_status by_index(const char* name, const lattis_tensor* self, int64_t dim, const lattis_tensor* index,
                       const lattis_tensor* other, const lattis_tensor* out, Body body) {
  const uint64_t along = bit(dim, self);
  const View lines(self, index, along, true), at(index, along), beside(other, index, along);
  return with_type(self->dtype, [&](auto zero) {
    using T = decltype(zero);
    return launch(self, [=, into_self = out == self]() -> Fault {
      Row x(lines, code<T>), y(beside, code<T>), row(at, LATTIS_INT64);
      const int64_t* indices = row.as<int64_t>();
      for (int64_t k = 0; k < at.count; k++)
        if (indices[k] < 0 || indices[k] >= lines.line)
          return {LATTIS_INDEX_ERROR, std::string(name) + ": argument 'index': " + std::to_string(indices[k]) +
                                          " is out of range for size " + std::to_string(lines.line)};
      for (int64_t k = 0; k < at.count; k++) body(x.as<T>()[k / at.line * lines.line + indices[k]], y.as<T>()[k]);
      return into_self ? x.write() : y.write();
    });
  });
}

// gather(self, dim, index)
lattis_status gather_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *out = rets[0].as.tensor, *self = args[0].as.tensor;
  return by_index("gather", self, args[1].as.i, args[2].as.tensor, out, out, [](auto& x, auto& y) { y = x; });
}

// scatter_.src(self, dim, index, src) and scatter_add_(self, dim, index, src)
template <bool Add>
lattis_status scatter_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *self = rets[0].as.tensor, *src = args[3].as.tensor;
  const auto put = [](auto& x, auto& y) { x = Add ? x + y : y; };
  return by_index(Add ? "scatter_add_" : "scatter_", self, args[1].as.i, args[2].as.tensor, src, self, put);
}

// nonzero(self): its caller needs the count, so this waits for all that was put into the stream before.
lattis_status nonzero_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* self = args[0].as.tensor;
  std::vector<int64_t> found;
  int64_t size[2] = {0, self->dl.ndim};
  const std::vector<int64_t> shape(self->dl.shape, self->dl.shape + self->dl.ndim);
  launch(self, [&, in = View(self)] {
    const Row set(in, LATTIS_BOOL);
    for (int64_t i = 0; i < in.count; i++) {
      if (!set.data[i]) continue;
      found.resize(++size[0] * size[1]);
      for (int64_t d = size[1], rest = i; d-- > 0; rest /= shape[d]) found.end()[d - size[1]] = rest % shape[d];
    }
    return Fault();
  });
  if (lattis_status st = synchronize(nullptr, self->dl.device.device_id)) return st;
  lattis_tensor* out;
  if (lattis_status st = api().tensor_empty(2, size, nullptr, LATTIS_INT64, lattis::device_of(self), &out)) return st;
  rets[0] = lattis::value(out);
  return launch(out, [found, to = out->dl.data] {
    return std::memcpy(open(to), found.data(), found.size() * sizeof(int64_t)), Fault();
  });
}

}  // namespace

LATTIS_LIBRARY(aten, m) {
  m.impl("sum.dim_IntList", "bank", line_kernel<Sum>);
  m.impl("prod.dim_int", "bank", line_kernel<Product>);
  m.impl("cumsum", "bank", line_kernel<Sum, true>);
  m.impl("amax", "bank", line_kernel<Largest, false, true>);
  m.impl("amin", "bank", line_kernel<Least, false, true>);
  m.impl("argmax", "bank", line_kernel<Argmax, false, true>);
  m.impl("sort.stable", "bank", sort_kernel);
  m.impl("gather", "bank", gather_kernel);
  m.impl("scatter_.src", "bank", scatter_kernel<false>);
  m.impl("scatter_add_", "bank", scatter_kernel<true>);
  m.impl("nonzero", "bank", nonzero_kernel);
}

}  // namespace bank
