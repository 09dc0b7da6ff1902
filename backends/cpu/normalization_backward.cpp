// Gradients of softmax and the norms. norms.h has the loops over the elements.
//
// Rows are summed in parts whose length depends on the shape only, and the parts are added in order, so that the bits
// do not depend on the threads.
#include <cmath>

#include "backends/cpu/normalization.h"

namespace lamella::cpu {
namespace {

// The gradient of the output and the input (or the output) as contiguous float or double, and the memory of the result.
struct BackwardWork {
  int dtype;
  int64_t item;
  const char *g, *x;
  char* to = nullptr;  // null if the caller's mask leaves out the gradient of the input

  void open(const lamella_tensor* gradient, const lamella_tensor* input, lamella_tensor* result) {
    dtype = work_dtype(input);
    item = dtype == LAMELLA_FLOAT64 ? 8 : 4;
    g_ = Operand(gradient, dtype);
    x_ = Operand(input, dtype);
    g = g_.data();
    x = x_.data();
    out_ = Result(result, dtype);
    to = out_.data();
  }
  lamella_status finish() const { return out_.finish(); }

 private:
  Operand g_, x_;
  Result out_;
};

// ---- softmax --------------------------------------------------------------------------------------------------------

template <bool Log>
Status softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType,
                             const Tensor& out) {
  static const auto chosen = LAMELLA_BY_ISA(softmax);
  const lamella_tensor* y = output.get();
  if (y->numel == 0) return LAMELLA_OK;
  BackwardWork w;
  w.open(grad_output.get(), y, out.get());
  const Softmax* loops = chosen(w.dtype);
  const int ndim = y->dl.ndim, along = wrapped_dim(dim, ndim);
  const int64_t n = ndim ? y->dl.shape[along] : 1;
  int64_t inner = 1;
  for (int d = along + 1; d < ndim; d++) inner *= y->dl.shape[d];
  const int64_t tile = inner == 1 ? 1 : std::min(std::clamp<int64_t>(65536 / n / 16 * 16, 64, softmax_width), inner);
  const int64_t tiles = (inner + tile - 1) / tile, items = y->numel / (n * inner) * tiles;
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      const int64_t first = i % tiles * tile, at = (i / tiles * n * inner + first) * w.item;
      if (inner == 1)
        loops->row_backward(n, w.g + at, w.x + at, w.to + at, Log);
      else
        loops->columns_backward(n, std::min(tile, inner - first), w.g + at, w.x + at, w.to + at, inner, Log);
    }
    return LAMELLA_OK;
  };
  const int64_t few = std::max<int64_t>(1, grain / (Log ? 8 : 2) / (n * tile));
  if (lamella_status st = items <= few ? body(0, items) : parallel_for(0, items, few, body)) return st;
  return w.finish();
}

// ---- sums over rows, in parts ---------------------------------------------------------------------------------------

struct Parts {
  static constexpr int64_t most = 16;
  int64_t rows, each, count;
  Parts(int64_t rows, int64_t width) : rows(rows) {
    const int64_t least = std::max<int64_t>(8, grain / 2 / std::max<int64_t>(width, 1) / 8 * 8);
    each = std::max(least, (rows + 8 * most - 1) / (8 * most) * 8);
    count = (rows + each - 1) / each;
  }
  // Calls body(part, first row, last row) for each part.
  template <class Body>
  lamella_status run(Body body) const {
    auto some = [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t i = b; i < e; i++) body(i, i * each, std::min(rows, (i + 1) * each));
      return LAMELLA_OK;
    };
    return count <= 1 ? some(0, count) : parallel_for(0, count, 1, some);
  }
};

// Adds the parts, of n sums each, to the first.
void join(double* sums, int64_t n, int64_t parts) {
  for (int64_t p = 1; p < parts; p++)
    for (int64_t i = 0; i < n; i++) sums[i] += sums[p * n + i];
}

// Returns an output, or null if the caller's mask leaves it out.
lamella_tensor* asked(const std::optional<Tensor>& output) { return output ? output->get() : nullptr; }

// Stores n numbers into a result, unless that is null. A result is newly allocated, so it has no gaps.
void store_all(const lamella_tensor* t, int64_t n, const double* from) {
  if (!t) return;
  loops().cast[LAMELLA_FLOAT64][t->dtype](n, static_cast<char*>(t->dl.data), itemsize(t),
                                          reinterpret_cast<const char*>(from), sizeof(double));
}

const NormGradients* gradients_of(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(norm_gradients);
  return chosen(dtype);
}

// ---- layer and root-mean-square norms -------------------------------------------------------------------------------

// Rows of n elements, each with its own mean (null: 0) and scale. Weight and bias have `in_turn` rows: row i takes
// their row i % in_turn.
struct RowNorm {
  int64_t rows, n, in_turn;
  const double *means, *scales;
};

// Computes the gradients of (x - mean) * scale * weight + bias by the input, the weight and the bias.
lamella_status rows_backward(lamella_frame* f, const BackwardWork& w, const RowNorm& norm, const Operand& weight,
                             lamella_tensor* of_weight, lamella_tensor* of_bias) {
  const NormGradients* loops = gradients_of(w.dtype);
  const int64_t n = norm.n, columns = norm.in_turn * n;
  const bool summed = of_weight || of_bias;
  const Parts parts(norm.rows, n);
  // Each part has its sums in double, and room for the sums of a few rows in the dtype of the work.
  double *sums = nullptr, *few = nullptr;
  if (summed) {
    void* memory;
    const int64_t count = std::max<int64_t>(parts.count, 1) * 4 * std::max<int64_t>(columns, 1);
    if (lamella_status st = api().scratch(f, count * static_cast<int64_t>(sizeof(double)), &memory)) return st;
    sums = static_cast<double*>(memory);
    few = sums + count / 2;
    std::fill(sums, sums + count, 0.);
  }
  lamella_status st = parts.run([&](int64_t part, int64_t first, int64_t last) {
    double* sum = sums + part * 2 * columns;
    char* here = reinterpret_cast<char*>(few + part * 2 * columns);
    for (int64_t i = first; i < last; i++) {
      const int64_t at = i * n * w.item, turn = i % norm.in_turn * n * w.item;
      const char* factors = weight.data() ? weight.data() + turn : nullptr;
      char* to = w.to ? w.to + at : nullptr;
      const double mean = norm.means ? norm.means[i] : 0, scale = norm.scales[i];
      double b = 0, c = 0;
      if (to) {
        double by_one, by_x;
        loops->sums(n, w.g + at, w.x + at, factors, mean, &by_one, &by_x);
        b = -scale * scale * scale * by_x / static_cast<double>(n);
        c = norm.means ? -scale * by_one / static_cast<double>(n) : 0;
      }
      if (summed)
        loops->row_adding(n, w.g + at, w.x + at, factors, to, mean, scale, b, c, here + turn,
                          here + columns * w.item + turn);
      else if (to)
        loops->row(n, w.g + at, w.x + at, factors, to, mean, scale, b, c);
      if (summed && ((i + 1) % (8 * norm.in_turn) == 0 || i + 1 == last)) loops->take_in(2 * columns, here, sum);
    }
  });
  if (st) return st;
  if (summed) {
    join(sums, 2 * columns, parts.count);
    store_all(of_bias, columns, sums);
    store_all(of_weight, columns, sums + columns);
  }
  return w.finish();
}

Status native_layer_norm_backward(lamella_frame* f, const Tensor& grad_out, const Tensor& input,
                                  IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                                  const Tensor& weight, const Tensor& /*bias*/, ArrayRef<bool> /*output_mask*/,
                                  const std::optional<Tensor>& of_input, const std::optional<Tensor>& of_weight,
                                  const std::optional<Tensor>& of_bias) {
  BackwardWork w;
  w.open(grad_out.get(), input.get(), asked(of_input));
  const Operand means(mean.get(), LAMELLA_FLOAT64);
  const Operand scales(rstd.get(), LAMELLA_FLOAT64);
  const Operand weights(weight.get(), w.dtype);
  const RowNorm norm = {rstd.get()->numel, numel_of(normalized_shape), 1, means.data<double>(), scales.data<double>()};
  return rows_backward(f, w, norm, weights, asked(of_weight), asked(of_bias));
}

Status fused_rms_norm_backward(lamella_frame* f, const Tensor& grad_out, const Tensor& input,
                               IntArrayRef normalized_shape, const Tensor& rstd, const Tensor& weight,
                               ArrayRef<bool> /*output_mask*/, const std::optional<Tensor>& of_input,
                               const std::optional<Tensor>& of_weight) {
  BackwardWork w;
  w.open(grad_out.get(), input.get(), asked(of_input));
  const Operand scales(rstd.get(), LAMELLA_FLOAT64);
  const Operand weights(weight.get(), w.dtype);
  const RowNorm norm = {rstd.get()->numel, numel_of(normalized_shape), 1, nullptr, scales.data<double>()};
  return rows_backward(f, w, norm, weights, asked(of_weight), nullptr);
}

// ---- group norm -----------------------------------------------------------------------------------------------------

Status native_group_norm_backward(lamella_frame* f, const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                  const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C, int64_t HxW,
                                  int64_t group, ArrayRef<bool> /*output_mask*/, const std::optional<Tensor>& of_input,
                                  const std::optional<Tensor>& of_weight, const std::optional<Tensor>& of_bias) {
  BackwardWork w;
  w.open(grad_out.get(), input.get(), asked(of_input));
  const Operand means(mean.get(), LAMELLA_FLOAT64);
  const Operand scales(rstd.get(), LAMELLA_FLOAT64);
  const int64_t each = C / group, n = each * HxW;
  const double *center = means.data<double>(), *scale = scales.data<double>();
  const Operand weights(weight.get(), HxW == 1 ? w.dtype : LAMELLA_FLOAT64);
  if (HxW == 1)
    return rows_backward(f, w, {N * group, each, group, center, scale}, weights, asked(of_weight), asked(of_bias));
  const double* factors = weights.data<double>();
  const NormGradients* loops = gradients_of(w.dtype);
  // For each channel of each sample: the sums of g and of g * (x - mean).
  void* memory;
  const int64_t bytes = std::max<int64_t>(1, 2 * (N + 1) * C * static_cast<int64_t>(sizeof(double)));
  if (lamella_status st = api().scratch(f, bytes, &memory)) return st;
  auto* by_one = static_cast<double*>(memory);
  double* by_x = by_one + N * C;
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      const int64_t first = i * each;
      double sum = 0, sum_x = 0;
      for (int64_t c = first; c < first + each; c++) {
        const int64_t at = c * HxW * w.item;
        loops->sums(HxW, w.g + at, w.x + at, nullptr, center[i], by_one + c, by_x + c);
        const double factor = factors ? factors[c % C] : 1;
        sum += factor * by_one[c];
        sum_x += factor * by_x[c];
      }
      const double s = scale[i], count = static_cast<double>(n);
      for (int64_t c = first; w.to && c < first + each; c++) {
        const int64_t at = c * HxW * w.item;
        loops->row(HxW, w.g + at, w.x + at, nullptr, w.to + at, center[i], s * (factors ? factors[c % C] : 1),
                   -s * s * s * sum_x / count, -s * sum / count);
      }
    }
    return LAMELLA_OK;
  };
  const int64_t items = N * group, few = std::max<int64_t>(1, grain / 2 / std::max<int64_t>(n, 1));
  if (lamella_status st = items <= few ? body(0, items) : parallel_for(0, items, few, body)) return st;
  double *bias_sums = by_x + N * C, *weight_sums = bias_sums + C;
  for (int64_t c = 0; c < C; c++) {
    bias_sums[c] = weight_sums[c] = 0;
    for (int64_t i = 0; i < N; i++) {
      bias_sums[c] += by_one[i * C + c];
      weight_sums[c] += by_x[i * C + c] * scale[i * group + c / each];
    }
  }
  store_all(asked(of_weight), C, weight_sums);
  store_all(asked(of_bias), C, bias_sums);
  return w.finish();
}

// ---- batch norm -----------------------------------------------------------------------------------------------------

// The numbers of each channel: its statistics, and the sums of g and of g * (x - mean), where g is the gradient of the
// output. The gradient of the input is a * g + b * (x - mean) + c.
struct ChannelNumbers {
  double *mean, *scale, *weight, *sum, *by_x, *a, *b, *c;
  static constexpr int64_t count = 8;
  ChannelNumbers(double* memory, int64_t n)
      : mean(memory),
        scale(mean + n),
        weight(scale + n),
        sum(weight + n),
        by_x(sum + n),
        a(by_x + n),
        b(a + n),
        c(b + n) {}

  void finish(int64_t i, bool train, double elements) const {
    a[i] = weight[i] * scale[i];
    b[i] = train ? -a[i] * scale[i] * scale[i] * by_x[i] / elements : 0;
    c[i] = train ? -a[i] * sum[i] / elements : 0;
    by_x[i] *= scale[i];  // the gradient of the weight
  }
};

// Computes one channel after another, each of `outer` runs.
lamella_status by_runs(const BackwardWork& w, const Channels& ch, const ChannelNumbers& v, bool train) {
  const NormGradients* loops = gradients_of(w.dtype);
  auto at = [&](int64_t o, int64_t c) { return (o * ch.count + c) * ch.area * w.item; };
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t c = b; c < e; c++) {
      v.sum[c] = v.by_x[c] = 0;
      for (int64_t o = 0; o < ch.outer; o++) {
        double sum, by_x;
        loops->sums(ch.area, w.g + at(o, c), w.x + at(o, c), nullptr, v.mean[c], &sum, &by_x);
        v.sum[c] += sum;
        v.by_x[c] += by_x;
      }
      v.finish(c, train, static_cast<double>(ch.outer * ch.area));
      for (int64_t o = 0; w.to && o < ch.outer; o++)
        loops->row(ch.area, w.g + at(o, c), train ? w.x + at(o, c) : nullptr, nullptr, w.to + at(o, c), v.mean[c],
                   v.a[c], v.b[c], v.c[c]);
    }
    return LAMELLA_OK;
  };
  const int64_t few = std::max<int64_t>(1, grain / 2 / std::max<int64_t>(ch.outer * ch.area, 1));
  return ch.count <= few ? body(0, ch.count) : parallel_for(0, ch.count, few, body);
}

// Computes rows of all channels. Several rows of few channels are treated as one, so that the loops are long enough.
template <class T>
lamella_status by_rows(lamella_frame* f, const BackwardWork& w, const Channels& ch, const ChannelNumbers& v,
                       bool train) {
  const NormGradients* loops = gradients_of(w.dtype);
  const int64_t rows = ch.outer * ch.area, n = ch.count;
  const int64_t together = std::clamp<int64_t>(64 / n, 1, rows), width = together * n, whole = rows / together;
  const int64_t rest = rows % together * n;
  const Parts parts(whole, width);
  void* memory;
  const int64_t bytes = (parts.count + 1) * 2 * width * static_cast<int64_t>(sizeof(double));
  if (lamella_status st = api().scratch(f, bytes, &memory)) return st;
  auto* sums = static_cast<double*>(memory);
  std::fill(sums, sums + (parts.count + 1) * 2 * width, 0.);
  const std::unique_ptr<T[]> values(new T[4 * width]);
  T *m = values.get(), *a = m + width, *b = a + width, *c = b + width;
  auto spread = [&](T* to, const double* from) {
    for (int64_t i = 0; i < width; i++) to[i] = static_cast<T>(from[i % n]);
  };
  spread(m, v.mean);
  auto add = [&](int64_t part, int64_t first, int64_t count, int64_t length) {
    const int64_t at = first * width * w.item;
    double* sum = sums + part * 2 * width;
    loops->add_columns(count, length, w.g + at, w.x + at, m, sum, sum + width);
  };
  lamella_status st =
      parts.run([&](int64_t part, int64_t first, int64_t last) { add(part, first, last - first, width); });
  if (st) return st;
  add(parts.count, whole, 1, rest);
  join(sums, 2 * width, parts.count + 1);
  for (int64_t i = 0; i < n; i++) {
    v.sum[i] = v.by_x[i] = 0;
    for (int64_t k = i; k < width; k += n) {
      v.sum[i] += sums[k];
      v.by_x[i] += sums[width + k];
    }
    v.finish(i, train, static_cast<double>(rows));
  }
  if (!w.to) return LAMELLA_OK;
  spread(a, v.a);
  spread(b, v.b);
  spread(c, v.c);
  auto write = [&](int64_t first, int64_t count, int64_t length) {
    const int64_t at = first * width * w.item;
    loops->each(count, length, w.g + at, train ? w.x + at : nullptr, w.to + at, m, a, b, c);
  };
  if ((st = parts.run([&](int64_t, int64_t first, int64_t last) { write(first, last - first, width); }))) return st;
  write(whole, 1, rest);
  return LAMELLA_OK;
}

Status native_batch_norm_backward(lamella_frame* f, const Tensor& grad_out, const Tensor& input, const Tensor& weight,
                                  const Tensor& running_mean, const Tensor& running_var, const Tensor& save_mean,
                                  const Tensor& save_invstd, bool train, double eps, ArrayRef<bool> /*output_mask*/,
                                  const std::optional<Tensor>& of_input, const std::optional<Tensor>& of_weight,
                                  const std::optional<Tensor>& of_bias) {
  const lamella_tensor *g = grad_out.get(), *x = input.get();
  const Channels ch(x);
  Doubles memory(ChannelNumbers::count * ch.count);
  const ChannelNumbers v(memory.data(), ch.count);
  as_doubles(weight.get(), ch.count, 1, v.weight);
  as_doubles((train ? save_mean : running_mean).get(), ch.count, 0, v.mean);
  as_doubles((train ? save_invstd : running_var).get(), ch.count, 0, v.scale);
  for (int64_t c = 0; c < ch.count && !train; c++) v.scale[c] = 1 / std::sqrt(v.scale[c] + eps);
  BackwardWork w;
  w.dtype = work_dtype(x);
  w.item = w.dtype == LAMELLA_FLOAT64 ? 8 : 4;
  lamella_tensor* to = asked(of_input);
  auto as_rows = [&](const lamella_tensor* t) { return t->dtype == w.dtype && channels_last(t); };
  lamella_status st = LAMELLA_OK;
  if (x->numel == 0) {
    std::fill(v.sum, v.sum + ch.count, 0.);
    std::fill(v.by_x, v.by_x + ch.count, 0.);
  } else if (as_rows(g) && as_rows(x) && (!to || as_rows(to))) {
    w.g = static_cast<const char*>(g->dl.data);
    w.x = static_cast<const char*>(x->dl.data);
    if (to) w.to = static_cast<char*>(to->dl.data);
    st = w.dtype == LAMELLA_FLOAT64 ? by_rows<double>(f, w, ch, v, train) : by_rows<float>(f, w, ch, v, train);
  } else {
    w.open(g, x, to);
    if (!(st = by_runs(w, ch, v, train))) st = w.finish();
  }
  if (st) return st;
  store_all(asked(of_weight), ch.count, v.by_x);
  store_all(asked(of_bias), ch.count, v.sum);
  return LAMELLA_OK;
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<softmax_backward_data<false>>(m, "_softmax_backward_data");
  add<softmax_backward_data<true>>(m, "_log_softmax_backward_data");
  add<native_layer_norm_backward>(m, "native_layer_norm_backward");
  add<fused_rms_norm_backward>(m, "_fused_rms_norm_backward");
  add<native_group_norm_backward>(m, "native_group_norm_backward");
  add<native_batch_norm_backward>(m, "native_batch_norm_backward");
}

}  // namespace lamella::cpu
