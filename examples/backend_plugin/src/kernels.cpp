// Kernels of the primitive set. A kernel makes views on the caller's thread, and launches a task that uses them.
#include <algorithm>
#include <numeric>
#include "bank.h"

namespace bank {
namespace {
lamella_status assign_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* self = rets[0].as.tensor;
  return launch(self, "assign", [to = View(self), from = View(args[1], self->dtype, self)] {
    const Row in(from, to.dtype), out(to, to.dtype, false);
    std::memmove(out.data, in.data, to.count * out.step);  // not memcpy, since the operands may overlap
    return out.write();
  });
}

// Writes number(i), which is a T, to element i of `out`.
template <class T, class Number> lamella_status generate(const lamella_tensor* out, Number number) {
  return launch(out, "generate", [number, to = View(out)] {
    Row all(to, code<T>, false);
    for (int64_t i = 0; i < to.count; i++) all.as<T>()[i] = number(static_cast<T>(i));
    return all.write();
  });
}

lamella_status arange_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const auto range = [&](auto start, auto step) {
    return generate<decltype(start)>(rets[0].as.tensor, [=](auto i) { return start + i * step; });
  };
  for (int k = 0; k < 3; k++)
    if (args[k].tag == LAMELLA_FLOAT) return range(lamella::as_double(args[0]), lamella::as_double(args[2]));
  return range(lamella::as_int(args[0]), lamella::as_int(args[2]));
}

// Returns word i mod 4 of Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) with counter i / 4.
uint64_t philox(uint64_t seed, uint64_t i) {
  std::array<uint32_t, 4> c = {uint32_t(i / 4), uint32_t(i >> 34), 0, 0};
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9, key[1] += 0xBB67AE85) {
    const uint64_t p = uint64_t{0xD2511F53} * c[0], q = uint64_t{0xCD9E8D57} * c[2];
    c = {uint32_t(q >> 32) ^ c[1] ^ key[0], uint32_t(q), uint32_t(p >> 32) ^ c[3] ^ key[1], uint32_t(p)};
  }
  return c[i % 4];
}

lamella_status random_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* self = rets[0].as.tensor;
  lamella_object* generator = args[1].tag == LAMELLA_OBJECT ? args[1].as.object : nullptr;
  uint64_t seed, offset;
  if (auto st = api().generator_reserve(generator, lamella::device_of(self), self->numel, &seed, &offset)) return st;
  return generate<uint64_t>(self, [=](uint64_t i) { return philox(seed, offset + i); });
}

// Runs every pointwise operator, also those of other packages, by the loops of the operator's declaration.
lamella_status pointwise_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const lamella_pointwise* meaning = api().operator_pointwise(f->op);
  const bool half = f->compute_dtype == LAMELLA_FLOAT16 || f->compute_dtype == LAMELLA_BFLOAT16;
  const int compute = half ? int{LAMELLA_FLOAT32} : f->compute_dtype;
  const lamella_loop loop = meaning->loops[compute];
  if (!loop) return fail(LAMELLA_NOT_IMPLEMENTED, title(f) + ": device 'bank' has no loop for this dtype");
  const lamella_tensor* out = rets[0].as.tensor;
  std::vector<View> operands{View(out)};
  const bool real = meaning->result == LAMELLA_RESULT_REAL && lamella::is_complex(lamella::ScalarType(compute));
  std::vector<int> dtypes{meaning->result == LAMELLA_RESULT_BOOL ? int{LAMELLA_BOOL} : real ? compute - 2 : compute};
  for (int k = 0; k < meaning->inputs; k++) {
    dtypes.push_back(meaning->condition && k == 0 ? int{LAMELLA_BOOL} : compute);
    operands.push_back(View(args[k], dtypes.back(), out));
  }
  std::vector<lamella_value> params(meaning->params);
  for (int k = 0; k < meaning->params; k++) api().value_retain(&args[meaning->inputs + k], &params[k]);
  const std::string who = meaning->fault ? title(f) : "";  // the frame is gone when the task runs
  return launch(out, "pointwise", [=]() mutable -> Fault {
    std::vector<Row> rows;
    std::vector<void*> data;
    std::vector<int64_t> steps;
    for (size_t k = 0; k < operands.size(); k++) {
      rows.emplace_back(operands[k], dtypes[k], k > 0, false);
      data.push_back(rows[k].data);
      steps.push_back(rows[k].step);
    }
    const int met = loop(operands[0].count, data.data(), steps.data(), params.data());
    for (lamella_value& v : params) api().value_release(&v);
    if (met) return {LAMELLA_ZERO_DIVISION, who + ": argument 'other': " + meaning->fault};
    return rows[0].write();
  });
}

// A sum or a product. Floating elements are added in extended precision, which is as exact as pairwise addition.
template <class T, bool Multiplies> struct Total {
  using Real = std::conditional_t<std::is_same_v<T, double>, long double, T>;
  using Wide = std::conditional_t<std::is_same_v<T, std::complex<double>>, std::complex<long double>, Real>;
  Wide total{Multiplies};
  void add(T x) { total = Multiplies ? total * Wide(x) : total + Wide(x); }
  T get() const { return static_cast<T>(total); }
};
template <class T> using Sum = Total<T, false>;
template <class T> using Product = Total<T, true>;

// Finds the first largest element, or the first smallest one if Less; the first NaN if there is one.
template <class T, bool Less, bool Index> struct Best {
  T best{};
  int64_t at = 0, seen = 0;
  void add(T x) {
    const bool wins = x != x || (Less ? x < best : x > best);
    if (seen++ == 0 || (wins && best == best)) best = x, at = seen - 1;
  }
  auto get() const { return std::get<Index>(std::pair(best, at)); }
};
template <class T> using Largest = Best<T, false, false>;
template <class T> using Least = Best<T, true, false>;
template <class T> using Argmax = Best<T, false, true>;

// Returns the mask of a kernel's argument of dimensions; none, or an empty list, means all.
uint64_t mask(const lamella_value& dims, const lamella_tensor* t) {
  uint64_t m = dims.tag == LAMELLA_INT ? bit(dims.as.i, t) : 0;
  for (uint32_t i = 0; dims.tag == LAMELLA_INT_LIST && i < dims.length; i++) m |= bit(dims.as.ints[i], t);
  return m ? m : ~m;
}

// Applies Accumulator to each line of `self`, converted to the result's dtype unless Selects; with Scan, writes its
// value after each element.
template <template <class> class Accumulator, bool Scan = false, bool Selects = false>
lamella_status line_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor *out = rets[0].as.tensor, *self = args[0].as.tensor;
  const uint64_t along = mask(args[1], self);
  const View in(self, along), to(out, Scan ? along : 0);
  return with_type<!Selects>(Selects ? in.dtype : to.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Result = decltype(Accumulator<T>().get());
    return launch(out, Scan ? "scan_lines" : "reduce_lines", [=, n = in.line] {
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
lamella_status sort_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* self = args[0].as.tensor;
  const uint64_t along = bit(args[2].as.i, self);
  const View in(self, along), values(rets[0].as.tensor, along), indices(rets[1].as.tensor, along);
  return with_type<false>(self->dtype, [&](auto zero) {
    using T = decltype(zero);
    return launch(self, "sort_lines", [=, descending = args[3].as.i != 0] {
      Row x(in, code<T>), sorted(values, code<T>, false), order(indices, LAMELLA_INT64, false);
      for (int64_t i = 0; i < in.count; i += in.line) {
        int64_t* at = order.as<int64_t>() + i;
        std::iota(at, at + in.line, 0);
        std::stable_sort(at, at + in.line, [=, line = x.as<T>() + i](int64_t a, int64_t b) {
          if (descending) std::swap(a, b);
          return line[b] != line[b] ? line[a] == line[a] : line[a] < line[b];  // NaN is larger than all
        });
        for (int64_t k = 0; k < in.line; k++) sorted.as<T>()[i + k] = x.as<T>()[i + at[k]];
      }
      sorted.write();
      return order.write();
    });
  });
}

// For each index, calls body with self's element at the index along `dim` and other's element; writes `out`, which is
// self or other.
template <class Body>
lamella_status by_index(const char* name, const lamella_tensor* self, int64_t dim, const lamella_tensor* index,
                        const lamella_tensor* other, const lamella_tensor* out, Body body) {
  const uint64_t along = bit(dim, self);
  const View lines(self, index, along, true), at(index, along), beside(other, index, along);
  return with_type(self->dtype, [&](auto zero) {
    using T = decltype(zero);
    return launch(self, name, [=, into_self = out == self]() -> Fault {
      Row x(lines, code<T>), y(beside, code<T>), row(at, LAMELLA_INT64);
      const int64_t* indices = row.as<int64_t>();
      for (int64_t k = 0; k < at.count; k++)
        if (indices[k] < 0 || indices[k] >= lines.line)
          return {LAMELLA_INDEX_ERROR, std::string(name) + ": argument 'index': " + std::to_string(indices[k]) +
                                           " is out of range for size " + std::to_string(lines.line)};
      for (int64_t k = 0; k < at.count; k++) body(x.as<T>()[k / at.line * lines.line + indices[k]], y.as<T>()[k]);
      return into_self ? x.write() : y.write();
    });
  });
}

lamella_status gather_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor *out = rets[0].as.tensor, *self = args[0].as.tensor;
  return by_index("gather", self, args[1].as.i, args[2].as.tensor, out, out, [](auto& x, auto& y) { y = x; });
}

// scatter_.src(self, dim, index, src) and scatter_add_(self, dim, index, src)
template <bool Add> lamella_status scatter_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor *self = rets[0].as.tensor, *src = args[3].as.tensor;
  const auto put = [](auto& x, auto& y) { x = Add ? x + y : y; };
  return by_index(Add ? "scatter_add_" : "scatter_", self, args[1].as.i, args[2].as.tensor, src, self, put);
}

// nonzero(self). The size of the result depends on the elements, so this kernel waits for all streams of the device.
lamella_status nonzero_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* self = args[0].as.tensor;
  std::vector<int64_t> found;
  int64_t size[2] = {0, self->dl.ndim};
  launch(self, "find_nonzero", [&, in = View(self)] {
    const Row set(in, LAMELLA_BOOL);
    for (int64_t i = 0; i < in.count; i++) {
      if (!set.data[i]) continue;
      found.resize(++size[0] * size[1]);
      for (int64_t d = size[1], rest = i; d-- > 0; rest /= self->dl.shape[d])
        found.end()[d - size[1]] = rest % self->dl.shape[d];
    }
    return Fault();
  });
  if (lamella_status st = synchronize(nullptr, self->dl.device.device_id)) return st;
  lamella_tensor* out;
  if (lamella_status st = api().tensor_empty(2, size, nullptr, LAMELLA_INT64, lamella::device_of(self), &out))
    return st;
  rets[0] = lamella::value(out);
  return launch(out, "write_nonzero", [found, to = out->dl.data] {
    return std::memcpy(open(to), found.data(), found.size() * sizeof(int64_t)), Fault();
  });
}

// A vector of the elements of one row in several columns; one column for complex numbers.
template <class T> struct Columns { typedef T type __attribute__((vector_size(64))); };
template <> struct Columns<std::complex<double>> { using type = std::complex<double>; };

// Computes c = a b, eight rows at once. The compiler makes a version for each processor, and the loader chooses one.
template <class T>
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]  //
void product(int64_t m, int64_t k, int64_t n, const T* a, const T* b, T* c) {
  using V = typename Columns<T>::type;
  constexpr int64_t width = sizeof(V) / sizeof(T), height = 8;
  std::vector<T> panel(k * width);  // some columns of b
  for (int64_t j = 0; j < n; j += width) {
    const int64_t there = std::min(width, n - j);
    for (int64_t p = 0; p < k; p++)
      for (int64_t q = 0; q < there; q++) panel[p * width + q] = b[p * n + j + q];
    for (int64_t i = 0; i < m; i += height) {
      const int64_t rows = std::min(height, m - i);
      V sums[height];
      const T* row[height];
      for (int64_t r = 0; r < height; r++) sums[r] = V{}, row[r] = a + (i + std::min(r, rows - 1)) * k;
      for (int64_t p = 0; p < k; p++) {
        V x;
        std::memcpy(&x, &panel[p * width], sizeof x);
        for (int64_t r = 0; r < height; r++) sums[r] += row[r][p] * x;
      }
      for (int64_t r = 0; r < rows; r++) std::copy_n(reinterpret_cast<const T*>(&sums[r]), there, c + (i + r) * n + j);
    }
  }
}

lamella_status bmm_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor *self = args[0].as.tensor, *mat2 = args[1].as.tensor, *out = rets[0].as.tensor;
  const int64_t batch = out->dl.shape[0], m = out->dl.shape[1], n = out->dl.shape[2], k = self->dl.shape[2];
  const auto multiply = [&](auto zero) {
    using T = decltype(zero);
    return launch(out, "multiply", [=, x = View(self), y = View(mat2), to = View(out)] {
      Row a(x, code<T>), b(y, code<T>), c(to, code<T>, false);
      for (int64_t i = 0; i < batch; i++)
        product(m, k, n, a.as<T>() + i * m * k, b.as<T>() + i * k * n, c.as<T>() + i * m * n);
      return c.write();
    });
  };
  const bool single = lamella::dtype_class(out) == LAMELLA_CLASS_FLOATING && out->dtype != LAMELLA_FLOAT64;
  return single ? multiply(0.0f) : with_type(out->dtype, multiply);
}
}  // namespace

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  m.impl("copy_", "bank", assign_kernel).impl("fill_.Scalar", "bank", assign_kernel);
  m.impl("arange.start_step", "bank", arange_kernel);
  m.impl("_random_bits_", "bank", random_kernel);
  m.category("pointwise", "bank", pointwise_kernel);
  m.impl("sum.dim_IntList", "bank", line_kernel<Sum>).impl("prod.dim_int", "bank", line_kernel<Product>);
  m.impl("cumsum", "bank", line_kernel<Sum, true>);
  m.impl("amax", "bank", line_kernel<Largest, false, true>).impl("amin", "bank", line_kernel<Least, false, true>);
  m.impl("argmax", "bank", line_kernel<Argmax, false, true>);
  m.impl("sort.stable", "bank", sort_kernel);
  m.impl("gather", "bank", gather_kernel);
  m.impl("scatter_.src", "bank", scatter_kernel<false>).impl("scatter_add_", "bank", scatter_kernel<true>);
  m.impl("nonzero", "bank", nonzero_kernel);
  m.impl("bmm", "bank", bmm_kernel);
}
}  // namespace bank
