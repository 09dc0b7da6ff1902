// Samples of categories: a search of uniform numbers among the sums of probabilities.
#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels.h"

namespace lamella::cpu {
namespace {

// Returns how many of n ascending entries, `step` apart, are at most v.
template <class T>
int64_t search_row(const T* c, int64_t n, int64_t step, T v) {
  int64_t first = 0, count = n;
  while (count > 0) {
    const int64_t half = count / 2;
    const bool right = c[(first + half) * step] <= v;
    first = right ? first + half + 1 : first;
    count = right ? count - half - 1 : half;
  }
  return first;
}

// Does the same for m neighbouring numbers: few entries are all compared, 16 numbers at once.
template <class T>
void search_run(const T* c, int64_t n, int64_t step, const T* v, int64_t* to, int64_t m) {
  using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int64_t few = 48, wide = 16;
  int64_t i = 0;
  for (; n <= few && i + wide <= m; i += wide) {
    Count found[wide] = {};
    for (int64_t j = 0; j < n; j++) {
      const T least = c[j * step];
      for (int64_t k = 0; k < wide; k++) found[k] += static_cast<Count>(least <= v[i + k]);
    }
    for (int64_t k = 0; k < wide; k++) to[i + k] = found[k];
  }
  for (; i < m; i++) to[i] = search_row(c, n, step, v[i]);
}

// For the elements [b, e) of u, counts the entries of the element's row of cdf that are at most the element.
template <class T>
void search_rows(const lamella_tensor* cdf, const lamella_tensor* u, const lamella_tensor* out, int64_t b, int64_t e) {
  const int64_t columns = u->dl.shape[1], n = cdf->dl.shape[1], step = cdf->dl.strides[1];
  const bool neighbours = u->dl.strides[1] == 1 && out->dl.strides[1] == 1;
  while (b < e) {
    const int64_t row = b / columns, column = b % columns, m = std::min(e - b, columns - column);
    const T* c = static_cast<const T*>(cdf->dl.data) + row * cdf->dl.strides[0];
    const T* v = static_cast<const T*>(u->dl.data) + row * u->dl.strides[0] + column * u->dl.strides[1];
    int64_t* to = static_cast<int64_t*>(out->dl.data) + row * out->dl.strides[0] + column * out->dl.strides[1];
    if (neighbours) {
      search_run(c, n, step, v, to, m);
    } else {
      for (int64_t k = 0; k < m; k++) to[k * out->dl.strides[1]] = search_row(c, n, step, v[k * u->dl.strides[1]]);
    }
    b += m;
  }
}

Status search_cdf(lamella_frame* f, const Tensor& cdf, const Tensor& u, const Tensor& out) {
  const int dtype = cdf.get()->dtype;
  if (dtype != LAMELLA_FLOAT32 && dtype != LAMELLA_FLOAT64)
    return fail(LAMELLA_NOT_IMPLEMENTED, title(f) + ": argument 'cdf': expected float32 or float64, got " +
                                             name(static_cast<ScalarType>(dtype)));
  return parallel_for(0, u.get()->numel, 512, [&](int64_t b, int64_t e) -> lamella_status {
    (dtype == LAMELLA_FLOAT32 ? search_rows<float> : search_rows<double>)(cdf.get(), u.get(), out.get(), b, e);
    return LAMELLA_OK;
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) { add<search_cdf>(m, "_search_cdf"); }

}  // namespace lamella::cpu
