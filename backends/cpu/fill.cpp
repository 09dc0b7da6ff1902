// Filling tensors with a number, a range or the identity.
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/strips.h"

namespace lamella::cpu {

lamella_status fill_with(const Scalar& number, const lamella_tensor* t) {
  if (t->numel == 0) return LAMELLA_OK;
  const int64_t item = itemsize(t);
  if (t->dtype < LAMELLA_PLAIN_DTYPES && is_contiguous(t) && number.isIntegral() && as_int(number.value()) == 0) {
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
  store_number(number.value(), t->dtype, element);
  CastLoop same = same_loop(t->dtype);
  Strips s(t);
  s.add_scalar(element);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (step[0] != item) {
      same(n, at[0], step[0], at[1], 0);
      return LAMELLA_OK;
    }
    // Writes the first element, then copies the filled part, which doubles each time; at most 2048 elements at once.
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

Status fill(const Tensor&, const Scalar& number, const Tensor& out) { return fill_with(number, out.get()); }

Status arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType>,
              std::optional<Layout>, const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  const lamella_tensor* t = out.get();
  const bool floating = start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint();
  const double from = start.toDouble(), by = step.toDouble();
  // Integers are added as integers, which is exact beyond 2^53, too.
  const int64_t whole_from = floating ? 0 : start.toLong(), whole_by = floating ? 0 : step.toLong();
  auto* data = static_cast<char*>(t->dl.data);
  const int64_t item = itemsize(t), apart = t->dl.strides[0] * item;
  return parallel_for(0, t->numel, grain, [&](int64_t b, int64_t e) -> lamella_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    int64_t integers[tile];
    for (int64_t i = b; i < e; i += tile) {
      int64_t n = std::min(tile, e - i);
      if (floating) {
        for (int64_t k = 0; k < n; k++) numbers[k] = from + static_cast<double>(i + k) * by;
        loops().cast[LAMELLA_FLOAT64][t->dtype](n, data + i * apart, apart, reinterpret_cast<char*>(numbers), 8);
      } else {
        for (int64_t k = 0; k < n; k++) integers[k] = whole_from + (i + k) * whole_by;
        loops().cast[LAMELLA_INT64][t->dtype](n, data + i * apart, apart, reinterpret_cast<char*>(integers), 8);
      }
    }
    return LAMELLA_OK;
  });
}

lamella_status identity(const lamella_tensor* t) {
  if (lamella_status st = fill_with(0, t)) return st;
  const int64_t n = std::min(t->dl.shape[0], t->dl.shape[1]),
                step = (t->dl.strides[0] + t->dl.strides[1]) * itemsize(t);
  alignas(16) char one[16];
  store_number(value(1), t->dtype, one);
  same_loop(t->dtype)(n, static_cast<char*>(t->dl.data), step, one, 0);
  return LAMELLA_OK;
}
Status eye(int64_t, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&, std::optional<bool>,
           const Tensor& out) {
  return identity(out.get());
}
Status eye_m(int64_t, int64_t, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
             std::optional<bool>, const Tensor& out) {
  return identity(out.get());
}

Status linspace(const Scalar& start, const Scalar& end, int64_t, std::optional<ScalarType>, std::optional<Layout>,
                const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  const lamella_tensor* t = out.get();
  const int64_t steps = t->numel, half = steps / 2, stride = t->dl.ndim ? t->dl.strides[0] * itemsize(t) : 0;
  const double first = start.toDouble(), last = end.toDouble();
  const double step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  CastLoop cast = loops().cast[LAMELLA_FLOAT64][t->dtype];
  auto* data = static_cast<char*>(t->dl.data);
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    for (; b < e; b += tile) {
      const int64_t n = std::min(tile, e - b);
      const int64_t up = steps == 1 ? n : std::clamp<int64_t>(half - b, 0, n);
      const auto done = static_cast<double>(b), rest = static_cast<double>(steps - 1 - b);
      for (int64_t k = 0; k < up; k++) numbers[k] = first + (done + static_cast<double>(static_cast<int>(k))) * step;
      for (int64_t k = up; k < n; k++) numbers[k] = last - (rest - static_cast<double>(static_cast<int>(k))) * step;
      cast(n, data + b * stride, stride, reinterpret_cast<char*>(numbers), 8);
    }
    return LAMELLA_OK;
  };
  return steps <= grain ? some(0, steps) : parallel_for(0, steps, grain / 2, some);
}

Status zero(const Tensor&, const Tensor& out) { return fill_with(0, out.get()); }

Status zeros(IntArrayRef, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
             std::optional<bool>, const Tensor& out) {
  return fill_with(0, out.get());
}
Status ones(IntArrayRef, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
            std::optional<bool>, const Tensor& out) {
  return fill_with(1, out.get());
}
Status full(IntArrayRef, const Scalar& number, std::optional<ScalarType>, std::optional<Layout>,
            const std::optional<Device>&, std::optional<bool>, const Tensor& out) {
  return fill_with(number, out.get());
}

Status zeros_like(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
                  std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return fill_with(0, out.get());
}
Status ones_like(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, const std::optional<Device>&,
                 std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return fill_with(1, out.get());
}
Status full_like(const Tensor&, const Scalar& number, std::optional<ScalarType>, std::optional<Layout>,
                 const std::optional<Device>&, std::optional<bool>, std::optional<MemoryFormat>, const Tensor& out) {
  return fill_with(number, out.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add_for_any_dtype<fill>(m, "fill_.Scalar");
  add<arange>(m, "arange.start_step");
  add_for_any_dtype<eye>(m, "eye");
  add_for_any_dtype<eye_m>(m, "eye.m");
  add<linspace>(m, "linspace");
  add_for_any_dtype<zeros>(m, "zeros");
  add_for_any_dtype<zero>(m, "zero_");
  add_for_any_dtype<zeros_like>(m, "zeros_like");
  add_for_any_dtype<ones>(m, "ones");
  add_for_any_dtype<ones_like>(m, "ones_like");
  add_for_any_dtype<full>(m, "full");
  add_for_any_dtype<full_like>(m, "full_like");
}

}  // namespace lamella::cpu
