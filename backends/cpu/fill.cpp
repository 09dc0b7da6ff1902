// Filling new memory: with a number, a range or the identity.
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/strips.h"

namespace lamella::cpu {
lamella_status fill_with(const lamella_value& number, const lamella_tensor* t) {
  if (t->numel == 0) return LAMELLA_OK;
  const int64_t item = itemsize(t);
  if (is_contiguous(t) && number.tag == LAMELLA_INT && number.as.i == 0) {
    const int64_t bytes = t->numel * item;
    auto* data = static_cast<char*>(t->dl.data);
    if (bytes < 2 * copy_grain) {
      std::memset(data, 0, bytes);
      return LAMELLA_OK;
    }
    return parallel_for(0, bytes, copy_grain, [=](int64_t b, int64_t e) -> lamella_status {
      std::memset(data + b, 0, e - b);
      return LAMELLA_OK;
    });
  }
  alignas(16) char element[16];
  store_number(number, t->dtype, element);
  CastLoop same = loops().cast[t->dtype][t->dtype];
  Strips s(t);
  s.add_scalar(element);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (step[0] != item) {
      same(n, at[0], step[0], at[1], 0);
      return LAMELLA_OK;
    }
    // Doubling copies: the first element, then the part that is filled already.
    std::memcpy(at[0], element, item);
    for (int64_t done = 1; done < n;) {
      int64_t more = std::min({done, n - done, int64_t{2048}});
      std::memcpy(at[0] + done * item, at[0], more * item);
      done += more;
    }
    return LAMELLA_OK;
  });
}

namespace {

lamella_status fill(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return fill_with(a[1], r[0].as.tensor);
}

lamella_status arange(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* t = rets[0].as.tensor;
  bool floating = args[0].tag == LAMELLA_FLOAT || args[1].tag == LAMELLA_FLOAT || args[2].tag == LAMELLA_FLOAT;
  auto* data = static_cast<char*>(t->dl.data);
  int64_t item = itemsize(t), step = t->dl.strides[0] * item;
  return parallel_for(0, t->numel, grain, [&](int64_t b, int64_t e) -> lamella_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    int64_t integers[tile];
    for (int64_t i = b; i < e; i += tile) {
      int64_t n = std::min(tile, e - i);
      if (floating) {
        double start = as_double(args[0]), by = as_double(args[2]);
        for (int64_t k = 0; k < n; k++) numbers[k] = start + static_cast<double>(i + k) * by;
        loops().cast[LAMELLA_FLOAT64][t->dtype](n, data + i * step, step, reinterpret_cast<char*>(numbers), 8);
      } else {
        for (int64_t k = 0; k < n; k++) integers[k] = args[0].as.i + (i + k) * args[2].as.i;
        loops().cast[LAMELLA_INT64][t->dtype](n, data + i * step, step, reinterpret_cast<char*>(integers), 8);
      }
    }
    return LAMELLA_OK;
  });
}

lamella_status eye(lamella_frame*, const lamella_value*, lamella_value* r) {
  const lamella_tensor* t = r[0].as.tensor;
  if (lamella_status st = fill_with(value(0), t)) return st;
  const int64_t n = std::min(t->dl.shape[0], t->dl.shape[1]),
                step = (t->dl.strides[0] + t->dl.strides[1]) * itemsize(t);
  alignas(16) char one[16];
  store_number(value(1), t->dtype, one);
  loops().cast[t->dtype][t->dtype](n, static_cast<char*>(t->dl.data), step, one, 0);
  return LAMELLA_OK;
}

// start, end, steps
lamella_status linspace(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor* t = r[0].as.tensor;
  const int64_t steps = t->numel, half = steps / 2, stride = t->dl.ndim ? t->dl.strides[0] * itemsize(t) : 0;
  const double start = as_double(a[0]), end = as_double(a[1]);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  CastLoop cast = loops().cast[LAMELLA_FLOAT64][t->dtype];
  auto* data = static_cast<char*>(t->dl.data);
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    for (; b < e; b += tile) {
      const int64_t n = std::min(tile, e - b);
      const int64_t up = steps == 1 ? n : std::clamp<int64_t>(half - b, 0, n);
      const auto first = static_cast<double>(b), rest = static_cast<double>(steps - 1 - b);
      for (int64_t k = 0; k < up; k++) numbers[k] = start + (first + static_cast<double>(static_cast<int>(k))) * step;
      for (int64_t k = up; k < n; k++) numbers[k] = end - (rest - static_cast<double>(static_cast<int>(k))) * step;
      cast(n, data + b * stride, stride, reinterpret_cast<char*>(numbers), 8);
    }
    return LAMELLA_OK;
  };
  return steps <= grain ? some(0, steps) : parallel_for(0, steps, grain / 2, some);
}

lamella_status zeros(lamella_frame*, const lamella_value*, lamella_value* r) {
  return fill_with(value(0), r[0].as.tensor);
}
lamella_status ones(lamella_frame*, const lamella_value*, lamella_value* r) {
  return fill_with(value(1), r[0].as.tensor);
}
lamella_status full(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return fill_with(a[1], r[0].as.tensor);
}

}  // namespace

void register_fill(Library& m) {
  m.impl("fill_.Scalar", "cpu", fill)
      .impl("arange.start_step", "cpu", arange)
      .impl("eye", "cpu", eye)
      .impl("eye.m", "cpu", eye)
      .impl("linspace", "cpu", linspace)
      .impl("zeros", "cpu", zeros)
      .impl("zero_", "cpu", zeros)
      .impl("zeros_like", "cpu", zeros)
      .impl("ones", "cpu", ones)
      .impl("ones_like", "cpu", ones)
      .impl("full", "cpu", full)
      .impl("full_like", "cpu", full);
}

}  // namespace lamella::cpu
