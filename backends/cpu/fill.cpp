// What fills new memory: numbers, ranges and the identity.
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/strips.h"

namespace lattis::cpu {
lattis_status fill_with(const lattis_value& number, const lattis_tensor* t) {
  if (t->numel == 0) return LATTIS_OK;
  const int64_t item = itemsize(t);
  if (is_contiguous(t) && number.tag == LATTIS_INT && number.as.i == 0) {
    const int64_t bytes = t->numel * item;
    auto* data = static_cast<char*>(t->dl.data);
    if (bytes < 2 * copy_grain) {
      std::memset(data, 0, bytes);
      return LATTIS_OK;
    }
    return parallel_for(0, bytes, copy_grain, [=](int64_t b, int64_t e) -> lattis_status {
      std::memset(data + b, 0, e - b);
      return LATTIS_OK;
    });
  }
  alignas(16) char element[16];
  store_number(number, t->dtype, element);
  CastLoop same = loops().cast[t->dtype][t->dtype];
  Strips s(t);
  s.add_scalar(element);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    if (step[0] != item) {
      same(n, at[0], step[0], at[1], 0);
      return LATTIS_OK;
    }
    // Doubling copies: the first element, then what is there already.
    std::memcpy(at[0], element, item);
    for (int64_t done = 1; done < n;) {
      int64_t more = std::min({done, n - done, int64_t{2048}});
      std::memcpy(at[0] + done * item, at[0], more * item);
      done += more;
    }
    return LATTIS_OK;
  });
}

namespace {

lattis_status fill(lattis_frame*, const lattis_value* a, lattis_value* r) { return fill_with(a[1], r[0].as.tensor); }

lattis_status arange(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* t = rets[0].as.tensor;
  bool floating = args[0].tag == LATTIS_FLOAT || args[1].tag == LATTIS_FLOAT || args[2].tag == LATTIS_FLOAT;
  auto* data = static_cast<char*>(t->dl.data);
  int64_t item = itemsize(t), step = t->dl.strides[0] * item;
  return parallel_for(0, t->numel, grain, [&](int64_t b, int64_t e) -> lattis_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    int64_t integers[tile];
    for (int64_t i = b; i < e; i += tile) {
      int64_t n = std::min(tile, e - i);
      if (floating) {
        double start = as_double(args[0]), by = as_double(args[2]);
        for (int64_t k = 0; k < n; k++) numbers[k] = start + static_cast<double>(i + k) * by;
        loops().cast[LATTIS_FLOAT64][t->dtype](n, data + i * step, step, reinterpret_cast<char*>(numbers), 8);
      } else {
        for (int64_t k = 0; k < n; k++) integers[k] = args[0].as.i + (i + k) * args[2].as.i;
        loops().cast[LATTIS_INT64][t->dtype](n, data + i * step, step, reinterpret_cast<char*>(integers), 8);
      }
    }
    return LATTIS_OK;
  });
}

lattis_status eye(lattis_frame*, const lattis_value*, lattis_value* r) {
  const lattis_tensor* t = r[0].as.tensor;
  if (lattis_status st = fill_with(value(0), t)) return st;
  const int64_t n = std::min(t->dl.shape[0], t->dl.shape[1]),
                step = (t->dl.strides[0] + t->dl.strides[1]) * itemsize(t);
  alignas(16) char one[16];
  store_number(value(1), t->dtype, one);
  loops().cast[t->dtype][t->dtype](n, static_cast<char*>(t->dl.data), step, one, 0);
  return LATTIS_OK;
}

// start, end, steps
lattis_status linspace(lattis_frame*, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* t = r[0].as.tensor;
  const int64_t steps = t->numel, half = steps / 2, stride = t->dl.ndim ? t->dl.strides[0] * itemsize(t) : 0;
  const double start = as_double(a[0]), end = as_double(a[1]);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  CastLoop cast = loops().cast[LATTIS_FLOAT64][t->dtype];
  auto* data = static_cast<char*>(t->dl.data);
  auto some = [&](int64_t b, int64_t e) -> lattis_status {
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
    return LATTIS_OK;
  };
  return steps <= grain ? some(0, steps) : parallel_for(0, steps, grain / 2, some);
}

lattis_status zeros(lattis_frame*, const lattis_value*, lattis_value* r) { return fill_with(value(0), r[0].as.tensor); }
lattis_status ones(lattis_frame*, const lattis_value*, lattis_value* r) { return fill_with(value(1), r[0].as.tensor); }
lattis_status full(lattis_frame*, const lattis_value* a, lattis_value* r) { return fill_with(a[1], r[0].as.tensor); }

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

}  // namespace lattis::cpu
