// Conversions between any two dtypes, and how a view goes through its elements.
#include <lattis/half.h>

#include <array>
#include <tuple>

#include "bank.h"

namespace bank {
namespace {

using lattis::bfloat16, lattis::float16;
using Types = std::tuple<bool, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float16,
                         bfloat16, float, double, std::complex<float>, std::complex<double>>;  // as enum lattis_dtype

template <class T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class To, class From>
To convert(From x) {
  if constexpr (is_half<From> && !std::is_same_v<To, From>) return convert<To>(static_cast<float>(x));
  else if constexpr (is_complex<From> && !is_complex<To>)
    return std::is_same_v<To, bool> ? static_cast<To>(x != From()) : convert<To>(x.real());
  else if constexpr (is_half<To> && !std::is_same_v<To, From>) return To(static_cast<float>(x));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)  // what C++ leaves open wraps
    return !(x > -9.3e18 && x < 1.85e19) ? To(INT64_MIN) : x < 9.2e18 ? To(int64_t(x)) : To(uint64_t(x));
  else return static_cast<To>(x);
}

template <class From, class To>
void convert_row(int64_t n, char* to, int64_t to_step, const char* from, int64_t from_step) {
  if (std::is_same_v<From, To> && to_step == sizeof(To) && from_step == sizeof(From)) {
    std::memcpy(to, from, n * sizeof(To));
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    From x;
    std::memcpy(&x, from + i * from_step, sizeof x);
    const To y = convert<To>(x);
    std::memcpy(to + i * to_step, &y, sizeof y);
  }
}

template <size_t... I>
constexpr auto table(std::index_sequence<I...>) {
  constexpr size_t n = LATTIS_NUM_DTYPES;
  return std::array{convert_row<std::tuple_element_t<I / n, Types>, std::tuple_element_t<I % n, Types>>...};
}

auto conversion(int from, int to) {
  static constexpr auto all = table(std::make_index_sequence<LATTIS_NUM_DTYPES * LATTIS_NUM_DTYPES>());
  return all[from * LATTIS_NUM_DTYPES + to];
}

}  // namespace

View::View(const lattis_tensor* t, const lattis_tensor* shape, uint64_t last, bool whole) : dtype(t->dtype) {
  if (t->backend == shape->backend) data = open(t->dl.data);
  else std::memcpy(number, t->dl.data, sizes[dtype]);  // zero-dim, of the host: read now
  for (uint64_t these : {~last, last})
    for (int d = 0, at = t->dl.ndim - shape->dl.ndim; d < shape->dl.ndim; d++, at++) {
      if (!(these >> d & 1)) continue;
      const int64_t there = at < 0 ? 1 : t->dl.shape[at], size = whole && these == last ? there : shape->dl.shape[d];
      add(size, there == 1 ? 0 : t->dl.strides[at] * sizes[dtype]);
      if (these == last) line *= size;
    }
}

View::View(const lattis_value& v, int dtype, const lattis_tensor* shape) : dtype(dtype) {
  if (v.tag == LATTIS_TENSOR) {
    *this = View(v.as.tensor, shape);
    return;
  }
  const int has = v.tag == LATTIS_COMPLEX ? LATTIS_COMPLEX128 : v.tag == LATTIS_FLOAT ? LATTIS_FLOAT64 : LATTIS_INT64;
  const void* from = v.tag == LATTIS_COMPLEX ? static_cast<const void*>(v.as.doubles) : &v.as;
  conversion(has, dtype)(1, number, 0, static_cast<const char*>(from), 0);
  add(shape->numel, 0);
}

void View::add(int64_t size, int64_t step) {
  count *= size;
  if (size == 1) return;
  if (dims.empty() || dims.back().second != size * step) dims.emplace_back(size, step);
  else dims.back() = {dims.back().first * size, step};  // two that are one
}

// Calls body(n, address, step) for each innermost row.
template <class Body>
void View::rows(Body body) const {
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

Row::Row(const View& view, int dtype, bool read, bool dense) : step(sizes[dtype]), view_(view), dtype_(dtype) {
  const bool one = view.dims.size() < 2 && (!dense || view.dims.empty() || view.dims[0].second == step);
  if (one && view.dtype == dtype) {
    data = view.data ? view.data : const_cast<char*>(view.number);
    if (!view.dims.empty()) step = view.dims[0].second;
    return;
  }
  copy_.resize(view.count * step);
  data = copy_.data();
  if (read)
    view.rows([&, to = data](int64_t n, const char* from, int64_t from_step) mutable {
      conversion(view.dtype, dtype)(n, to, step, from, from_step);
      to += n * step;
    });
}

Fault Row::write() const {
  if (copy_.empty()) return {};
  view_.rows([this, from = data](int64_t n, char* to, int64_t to_step) mutable {
    conversion(dtype_, view_.dtype)(n, to, to_step, from, step);
    from += n * step;
  });
  return {};
}

}  // namespace bank
