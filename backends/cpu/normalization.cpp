// Layer, group, batch and root-mean-square norms. norms.h has the loops over the elements.
#include <algorithm>
#include <cmath>
#include <memory>

#include "backends/cpu/normalization.h"
#include "backends/cpu/reduction.h"

namespace lamella::cpu {
namespace {

const Norms* norms_of(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(norms);
  return chosen(dtype);
}

// The input and the output of a norm as contiguous float or double; half precision and other layouts are copied.
class Work {
 public:
  // Rows of neighbouring channels as they lie, in the dtype of the work.
  Work(int dtype, const char* x, char* y)
      : dtype(dtype), item(dtype == LAMELLA_FLOAT64 ? 8 : 4), loops(norms_of(dtype)), x(x), y(y) {}
  Work(const lamella_tensor* input, lamella_tensor* out)
      : dtype(work_dtype(out)),
        item(dtype == LAMELLA_FLOAT64 ? 8 : 4),
        loops(norms_of(dtype)),
        in_(input, dtype),
        out_(out, dtype),
        x(in_.data()),
        y(out_.data()) {}
  lamella_status finish() const { return out_.finish(); }

  const int dtype;
  const int64_t item;
  const Norms* const loops;

 private:
  const Operand in_;
  const Result out_;

 public:
  const char* const x;
  char* const y;
};

void store(lamella_tensor* t, int64_t at, double v) {
  if (t)
    loops().cast[LAMELLA_FLOAT64][t->dtype](1, static_cast<char*>(t->dl.data) + at * itemsize(t), 0,
                                            reinterpret_cast<char*>(&v), 0);
}

// Normalizes rows of n elements, each with its own mean and scale.
lamella_status rows(const Work& w, int64_t count, int64_t n, const Operand& weight, const Operand& bias, double eps,
                    bool centered, lamella_tensor* means, lamella_tensor* scales) {
  if (n == 0) return LAMELLA_OK;
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      const char* x = w.x + i * n * w.item;
      double mean = 0, variance;
      if (centered)
        w.loops->moments(n, x, &mean, &variance);
      else
        variance = w.loops->mean_square(n, x);
      const double scale = 1 / std::sqrt(variance + eps);
      w.loops->row(n, x, w.y + i * n * w.item, mean, scale, weight.data(), bias.data());
      store(means, i, mean);
      store(scales, i, scale);
    }
    return LAMELLA_OK;
  };
  const int64_t few = std::max<int64_t>(1, grain / 4 / n);
  return count <= few ? body(0, count) : parallel_for(0, count, few, body);
}

// Computes a layer norm. Writes the means and the scales of the rows to `means` and `scales`, unless these are null.
lamella_status layer_norm_into(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                               const Tensor& bias, double eps, lamella_tensor* out, lamella_tensor* means,
                               lamella_tensor* scales) {
  const Work w(input.get(), out);
  const Operand weights(weight.get(), w.dtype);
  const Operand biases(bias.get(), w.dtype);
  const int64_t n = numel_of(normalized_shape);
  if (lamella_status st = rows(w, n ? out->numel / n : 0, n, weights, biases, eps, true, means, scales)) return st;
  return w.finish();
}

Status native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                         double eps, const Tensor& out, const Tensor& means, const Tensor& scales) {
  return layer_norm_into(input, normalized_shape, weight, bias, eps, out.get(), means.get(), scales.get());
}
Status layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool /*cudnn_enable*/, const Tensor& out) {
  return layer_norm_into(input, normalized_shape, weight, bias, eps, out.get(), nullptr, nullptr);
}

lamella_status rms_norm_into(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                             std::optional<double> eps, lamella_tensor* out, lamella_tensor* scales) {
  const Work w(input.get(), out);
  const Operand weights(weight.get(), w.dtype);
  const int64_t n = numel_of(normalized_shape), count = n ? input.get()->numel / n : 0;
  const double least = eps.value_or(w.dtype == LAMELLA_FLOAT64 ? 0x1p-52 : 0x1p-23);
  if (lamella_status st = rows(w, count, n, weights, Operand(), least, false, nullptr, scales)) return st;
  return w.finish();
}

Status rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps,
                const Tensor& out) {
  return rms_norm_into(input, normalized_shape, weight, eps, out.get(), nullptr);
}
Status fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                      std::optional<double> eps, const Tensor& out, const Tensor& scales) {
  return rms_norm_into(input, normalized_shape, weight, eps, out.get(), scales.get());
}

struct Groups {
  int64_t count, groups, each, area;  // count = samples * groups, of `each` channels of `area` elements
  double eps;
};

lamella_status group_norm_into(const Groups& g, const Tensor& input, const Tensor& weight, const Tensor& bias,
                               lamella_tensor* out, lamella_tensor* means, lamella_tensor* scales) {
  const Work w(input.get(), out);
  const Operand weights(weight.get(), w.dtype);
  const Operand biases(bias.get(), w.dtype);
  const int64_t n = g.each * g.area;
  if (n == 0) return w.finish();
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      const int64_t at = i * n * w.item, first = i % g.groups * g.each;
      double mean, variance;
      w.loops->moments(n, w.x + at, &mean, &variance);
      const double scale = 1 / std::sqrt(variance + g.eps);
      auto from_first = [&](const Operand& p) { return p.data() ? p.data() + first * w.item : nullptr; };
      if (g.area == 1)
        w.loops->row(n, w.x + at, w.y + at, mean, scale, from_first(weights), from_first(biases));
      else
        for (int64_t c = 0; c < g.each; c++) {
          const int64_t run = at + c * g.area * w.item;
          w.loops->affine(g.area, w.x + run, w.y + run, mean, scale * number(weights, w.dtype, first + c, 1),
                          number(biases, w.dtype, first + c, 0));
        }
      store(means, i, mean);
      store(scales, i, scale);
    }
    return LAMELLA_OK;
  };
  lamella_status st =
      g.count * n <= grain / 4 ? body(0, g.count) : parallel_for(0, g.count, std::max<int64_t>(1, grain / 4 / n), body);
  return st ? st : w.finish();
}

Status native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C,
                         int64_t HxW, int64_t group, double eps, const Tensor& out, const Tensor& means,
                         const Tensor& scales) {
  const Groups g = {N * group, group, group ? C / group : 0, HxW, eps};
  return group_norm_into(g, input, weight, bias, out.get(), means.get(), scales.get());
}
Status group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
                  bool /*cudnn_enabled*/, const Tensor& out) {
  const lamella_tensor* in = input.get();
  const int64_t samples = in->dl.shape[0], channels = in->dl.shape[1];
  const int64_t area = samples > 0 && channels > 0 ? in->numel / (samples * channels) : 0;
  const Groups g = {samples * num_groups, num_groups, channels / num_groups, area, eps};
  return group_norm_into(g, input, weight, bias, out.get(), nullptr, nullptr);
}

// ---- batch norm: one mean and one scale for each index of dimension 1 -----------------------------------------------

template <class T>
lamella_status each_channel(const Work& w, int64_t rows, int64_t channels, const double* mean, const double* scale,
                            const double* shift) {
  // Several rows of few channels are treated as one, so that the loop over them is long enough.
  const int64_t together = std::clamp<int64_t>(128 / channels, 1, rows), width = together * channels;
  const std::unique_ptr<T[]> values(new T[3 * width]);
  T *m = values.get(), *a = m + width, *b = a + width;
  for (int64_t k = 0; k < width; k += channels)
    for (int64_t c = 0; c < channels; c++) {
      m[k + c] = static_cast<T>(mean[c]);
      a[k + c] = static_cast<T>(scale[c]);
      b[k + c] = static_cast<T>(shift[c]);
    }
  auto lines = [&](int64_t first, int64_t count, int64_t n) {
    const int64_t at = first * width * w.item;
    w.loops->affine_each(count, n, w.x + at, w.y + at, m, a, b);
  };
  auto body = [&](int64_t from, int64_t to) -> lamella_status {
    lines(from, to - from, width);
    return LAMELLA_OK;
  };
  const int64_t whole = rows / together, few = std::max<int64_t>(1, 2 * grain / width);
  if (lamella_status st = whole <= few ? body(0, whole) : parallel_for(0, whole, few, body)) return st;
  lines(whole, 1, rows % together * channels);
  return LAMELLA_OK;
}

// Computes (x - mean) * scale + shift, with numbers for each channel.
lamella_status apply(const lamella_tensor* in, lamella_tensor* out, const double* mean, const double* scale,
                     const double* shift) {
  const Channels ch(in);
  if (in->numel == 0) return LAMELLA_OK;
  const int work = work_dtype(out);
  const bool rows = in->dtype == work && out->dtype == work && channels_last(in) && channels_last(out);
  if (rows) {
    const Work w(work, static_cast<const char*>(in->dl.data), static_cast<char*>(out->dl.data));
    const auto each = work == LAMELLA_FLOAT64 ? each_channel<double> : each_channel<float>;
    return each(w, ch.outer * ch.area, ch.count, mean, scale, shift);
  }
  const Work w(in, out);
  lamella_status st = parallel_for(0, ch.outer * ch.count, std::max<int64_t>(1, grain / ch.area),
                                   [&](int64_t b, int64_t e) -> lamella_status {
                                     for (int64_t i = b; i < e; i++) {
                                       const int64_t at = i * ch.area * w.item, c = i % ch.count;
                                       w.loops->affine(ch.area, w.x + at, w.y + at, mean[c], scale[c], shift[c]);
                                     }
                                     return LAMELLA_OK;
                                   });
  return st ? st : w.finish();
}

// A tensor over n doubles, for the kernels of this file. It has no storage, so no other code may keep it.
struct Loose {
  lamella_tensor t{};
  int64_t size, stride = 1;
  Loose(double* data, int64_t n) : size(n) {
    t.dl.data = data;
    t.dl.ndim = 1;
    t.dl.shape = &size;
    t.dl.strides = &stride;
    t.dl.dtype = {kDLFloat, 64, 1};
    t.dtype = LAMELLA_FLOAT64;
    t.flags = LAMELLA_CONTIGUOUS | LAMELLA_DENSE;
    t.numel = n;
  }
};

// Computes out, save_mean and save_invstd, which is 1 / sqrt(variance + eps), from the statistics of the batch, and
// stores the statistics in `mean` and `variance`.
lamella_status train(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias, double eps,
                     const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd, double* mean,
                     double* variance) {
  const lamella_tensor* in = input.get();
  const int64_t n = in->dl.shape[1];
  Loose means(mean, n), variances(variance, n);
  if (lamella_status st = moments_over(f, in, all_dims(in) & ~uint64_t{2}, &variances.t, &means.t)) return st;
  Doubles scale(n), shift(n), inverse(n);
  as_doubles(weight.get(), n, 1, scale.data());
  as_doubles(bias.get(), n, 0, shift.data());
  for (int64_t c = 0; c < n; c++) inverse.data()[c] = 1 / std::sqrt(variance[c] + eps);
  for (int64_t c = 0; c < n; c++) scale.data()[c] *= inverse.data()[c];
  from_doubles(save_mean.get(), n, mean);
  from_doubles(save_invstd.get(), n, inverse.data());
  return apply(in, out.get(), mean, scale.data(), shift.data());
}

Status batch_norm_train(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias, double eps,
                        const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd) {
  const int64_t n = input.get()->dl.shape[1];
  Doubles mean(n), variance(n);
  return train(f, input, weight, bias, eps, out, save_mean, save_invstd, mean.data(), variance.data());
}

// Computes running = (1 - momentum) * running + momentum * factor * seen.
void blend(lamella_tensor* running, const double* seen, double factor, double momentum) {
  const int64_t n = running->numel;
  Doubles values(n);
  double* v = values.data();
  as_doubles(running, n, v);
  for (int64_t c = 0; c < n; c++) v[c] = (1 - momentum) * v[c] + momentum * (seen[c] * factor);
  from_doubles(running, n, v);
}

Status batch_norm_with_update(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias,
                              const Tensor& running_mean, const Tensor& running_var, double momentum, double eps,
                              const Tensor& out, const Tensor& save_mean, const Tensor& save_invstd) {
  const lamella_tensor* in = input.get();
  Doubles mean(in->dl.shape[1]), variance(in->dl.shape[1]);
  if (lamella_status st = train(f, input, weight, bias, eps, out, save_mean, save_invstd, mean.data(), variance.data()))
    return st;
  if (in->numel == 0) return LAMELLA_OK;  // an empty batch does not change the statistics
  const double n = static_cast<double>(in->numel / std::max<int64_t>(in->dl.shape[1], 1));
  blend(running_mean.get(), mean.data(), 1, momentum);
  blend(running_var.get(), variance.data(), n / (n - 1), momentum);
  return LAMELLA_OK;
}

Status batch_norm_eval(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                       const Tensor& running_var, double eps, const Tensor& out) {
  const int64_t n = input.get()->dl.shape[1];
  Doubles numbers(3 * n);
  double *mean = numbers.data(), *scale = mean + n, *shift = scale + n;
  as_doubles(running_var.get(), n, 1, mean);  // `mean` holds the variance until the scales are computed
  as_doubles(weight.get(), n, 1, scale);
  as_doubles(bias.get(), n, 0, shift);
  for (int64_t c = 0; c < n; c++) scale[c] /= std::sqrt(mean[c] + eps);
  as_doubles(running_mean.get(), n, 0, mean);
  return apply(input.get(), out.get(), mean, scale, shift);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<native_layer_norm>(m, "native_layer_norm");
  add<layer_norm>(m, "layer_norm");
  add<native_group_norm>(m, "native_group_norm");
  add<group_norm>(m, "group_norm");
  add<rms_norm>(m, "rms_norm");
  add<fused_rms_norm>(m, "_fused_rms_norm");
  add<batch_norm_train>(m, "_batch_norm_train");
  add<batch_norm_eval>(m, "_batch_norm_eval");
  add<batch_norm_with_update>(m, "_batch_norm_with_update");
}

}  // namespace lamella::cpu
