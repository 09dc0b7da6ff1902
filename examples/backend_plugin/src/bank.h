// Helpers for the device's kernels: sealed addresses, tasks, and views that read and write elements.
#pragma once

#include <array>
#include <complex>
#include <tuple>
#include "streams.h"

namespace bank {
// Note [Sealed pages]  The addresses that tensors carry lie in pages that are never readable: code that follows one
//   without going through this backend gets SIGSEGV, also while a kernel runs. The data lie `capacity` bytes further,
//   at addresses that only this backend computes.
constexpr int64_t capacity = int64_t{1} << 36;  // bytes of one bank
inline char* open(const void* sealed) { return static_cast<char*>(const_cast<void*>(sealed)) + capacity; }

// Runs a task on the current stream of the tensor's device. Profiles show the kernel's name, which must be static.
lamella_status launch(const lamella_tensor* on, const char* kernel, Task task);

constexpr int sizes[LAMELLA_PLAIN_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
using lamella::bfloat16, lamella::float16;
using Types = std::tuple<bool, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float16,
                         bfloat16, float, double, std::complex<float>, std::complex<double>>;  // as enum lamella_dtype

template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class To, class From> To convert(From x) {
  constexpr bool integral = std::is_integral_v<To> && !std::is_same_v<To, bool>;
  if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>) return convert<To>(float(x));
  else if constexpr (is_complex<From> && !is_complex<To>)
    return std::is_same_v<To, bool> ? static_cast<To>(x != From()) : convert<To>(x.real());
  else if constexpr (integral && std::is_floating_point_v<From>)  // wraps out of range, where C++ leaves it undefined
    return !(x > -9.3e18 && x < 1.85e19) ? To(INT64_MIN) : x < 9.2e18 ? To(int64_t(x)) : To(uint64_t(x));
  else return static_cast<To>(x);
}

template <class From, class To>
void convert_row(int64_t n, char* to, int64_t to_step, const char* from, int64_t from_step) {
  for (int64_t i = 0; i < n; i++) {
    From x;
    if constexpr (std::is_same_v<From, bool>) x = from[i * from_step] != 0;  // every byte but 0 is true
    else std::memcpy(&x, from + i * from_step, sizeof x);
    const To y = convert<To>(x);
    std::memcpy(to + i * to_step, &y, sizeof y);
  }
}

template <size_t... I> constexpr auto table(std::index_sequence<I...>) {
  constexpr size_t n = LAMELLA_PLAIN_DTYPES;
  return std::array{convert_row<std::tuple_element_t<I / n, Types>, std::tuple_element_t<I % n, Types>>...};
}

inline auto conversion(int from, int to) {
  static constexpr auto all = table(std::make_index_sequence<LAMELLA_PLAIN_DTYPES * LAMELLA_PLAIN_DTYPES>());
  return all[from * LAMELLA_PLAIN_DTYPES + to];
}

// Returns the bit of a dimension in a mask. The dimension may be negative, as in the arguments of a call.
inline uint64_t bit(int64_t dim, const lamella_tensor* t) {
  return uint64_t{1} << (dim < 0 ? dim + (t->dl.ndim ? t->dl.ndim : 1) : dim);
}

// A tensor's elements, broadcast to a shape, in row-major order. A task keeps a view, not the tensor, which may be
// freed or changed before the task runs. Dimensions in the mask `last` become the innermost, so that they form lines.
struct View {
  explicit View(const lamella_tensor* t, uint64_t last = 0) : View(t, t, last) {}
  View(const lamella_tensor* t, const lamella_tensor* shape, uint64_t last = 0, bool whole = false) : dtype(t->dtype) {
    if (t->backend == shape->backend) data = open(t->dl.data);
    else std::memcpy(number, t->dl.data, sizes[dtype]);  // a zero-dim tensor of the host is read now
    for (uint64_t these : {~last, last})
      for (int d = 0, at = t->dl.ndim - shape->dl.ndim; d < shape->dl.ndim; d++, at++) {
        if (!(these >> d & 1)) continue;
        const int64_t there = at < 0 ? 1 : t->dl.shape[at];
        const int64_t size = whole && these == last ? there : shape->dl.shape[d];  // with `whole`, lines of t
        add(size, there == 1 ? 0 : t->dl.strides[at] * sizes[dtype]);
        if (these == last) line *= size;
      }
  }
  View(const lamella_value& v, int dtype, const lamella_tensor* shape) : dtype(dtype) {
    const bool complex = v.tag == LAMELLA_COMPLEX, real = v.tag == LAMELLA_FLOAT;
    const int whole = v.tag == LAMELLA_UINT ? LAMELLA_UINT64 : LAMELLA_INT64;
    const int has = complex ? LAMELLA_COMPLEX128 : real ? LAMELLA_FLOAT64 : whole;
    const void* from = complex ? static_cast<const void*>(v.as.doubles) : &v.as;
    if (v.tag == LAMELLA_TENSOR) *this = View(v.as.tensor, shape);
    else conversion(has, dtype)(1, number, 0, static_cast<const char*>(from), 0), add(shape->numel, 0);
  }
  View(char* row, int dtype, int64_t count) : dtype(dtype), data(row) { add(count, sizes[dtype]); }

  void add(int64_t size, int64_t step) {  // adds an innermost dimension; step is in bytes
    count *= size;
    if (size == 1) return;
    if (dims.empty() || dims.back().second != size * step) dims.emplace_back(size, step);
    else dims.back() = {dims.back().first * size, step};  // joins two dimensions
  }

  // Calls body(n, address, step) for each innermost row.
  template <class Body> void rows(Body body) const {
    std::vector<int64_t> index(dims.size());
    const auto [n, step] = dims.empty() ? std::pair<int64_t, int64_t>(1, 0) : dims.back();
    char* at = data ? data : const_cast<char*>(number);
    for (int d = count ? 0 : -1; d >= 0;) {
      body(n, at, step);
      for (d = static_cast<int>(dims.size()) - 2; d >= 0; index[d--] = 0) {
        at += dims[d].second;
        if (++index[d] < dims[d].first) break;
        at -= dims[d].first * dims[d].second;
      }
    }
  }

  int dtype;
  int64_t count = 1, line = 1;  // the number of elements, and of elements in a line
  std::vector<std::pair<int64_t, int64_t>> dims;
  char* data = nullptr;  // null: the only element is `number`
  alignas(16) char number[16];
};

// A view's elements in a dtype, `step` bytes apart: the view's own memory if it has this dtype and layout, else a copy.
struct Row {
  Row(const View& view, int dtype, bool read = true, bool dense = true) : step(sizes[dtype]), of(view), dtype(dtype) {
    const bool one = view.dims.size() < 2 && (!dense || view.dims.empty() || view.dims[0].second == step);
    if (one && view.dtype == dtype) {
      data = view.data ? view.data : const_cast<char*>(view.number);
      if (!view.dims.empty()) step = view.dims[0].second;
      return;
    }
    copy.resize(view.count * step);
    data = copy.data();
    if (read)
      view.rows([&, to = data](int64_t n, const char* from, int64_t from_step) mutable {
        conversion(view.dtype, dtype)(n, to, step, from, from_step);
        to += n * step;
      });
  }

  Fault write() const {  // writes a copy's elements into the view; never returns a fault
    if (copy.empty()) return {};
    of.rows([this, from = data](int64_t n, char* to, int64_t to_step) mutable {
      conversion(dtype, of.dtype)(n, to, to_step, from, step);
      from += n * step;
    });
    return {};
  }
  template <class T> T* as() { return reinterpret_cast<T*>(data); }
  char* data;
  int64_t step;
  const View& of;
  int dtype;
  std::vector<char> copy;
};

// Kernels compute in few types, and convert their operands and results: integers wrap in 64 bits, floats fit in double.
template <class T, size_t... I> constexpr int place(std::index_sequence<I...>) {
  return static_cast<int>(((std::is_same_v<T, std::tuple_element_t<I, Types>> ? I : 0) + ...));
}
template <class T> constexpr int code = place<T>(std::make_index_sequence<LAMELLA_PLAIN_DTYPES>());
template <bool Complex = true, class Body> lamella_status with_type(int dtype, Body body) {
  const auto kind = lamella::dtype_class(lamella::ScalarType(dtype));
  if constexpr (Complex)
    if (kind == LAMELLA_CLASS_COMPLEX) return body(std::complex<double>());
  if (kind >= LAMELLA_CLASS_FLOATING) return body(double());
  return dtype == LAMELLA_UINT64 ? body(uint64_t()) : body(int64_t());
}
}  // namespace bank
