// Losses: element by element, and by class index, summed without a tensor of the single losses. The sums are over
// blocks whose length depends on the shape only; see Note [Fixed blocks] in reduction.cpp.
#include <lamella/half.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/losses.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {
namespace {

// The input without its class dimension: at(i) is the offset of target i's first class, `step` leads to the next class.
struct Samples {
  int ndim = 0;
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  int64_t classes, step;

  explicit Samples(const lamella_tensor* in) {
    const int dim = in->dl.ndim == 1 ? 0 : 1;
    for (int d = 0; d < in->dl.ndim; d++) {
      if (d == dim) continue;
      sizes[ndim] = in->dl.shape[d];
      strides[ndim++] = in->dl.strides[d];
    }
    classes = in->dl.shape[dim];
    step = in->dl.strides[dim];
  }
  int64_t at(int64_t i) const {
    int64_t offset = 0;
    for (int d = ndim - 1; d > 0; d--) {
      offset += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return ndim ? offset + i * strides[0] : 0;
  }
};

// Raises the error for a class out of range. The forward kernels give no title: the public operator that calls them
// adds its own.
lamella_status no_class(int64_t target, int64_t classes, const char* title = "") {
  return fail(LAMELLA_INDEX_ERROR, std::string(title) + "argument 'target': class " + std::to_string(target) +
                                       " is not in [0, " + std::to_string(classes) + ")");
}

template <class T>
lamella_status pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                    const Tensor& loss, const Tensor& weights) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const lamella_tensor* in = input.get();
  const Operand targets(target.get(), LAMELLA_INT64), factors(weight.get(), in->dtype);
  const Samples samples(in);
  const auto* x = static_cast<const T*>(in->dl.data);
  const auto* t = targets.data<int64_t>();
  const T* w = factors.data<T>();
  auto* losses = static_cast<T*>(loss.get()->dl.data);
  auto* scales = static_cast<T*>(weights.get()->dl.data);
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      if (t[i] == ignore_index) {
        losses[i] = scales[i] = T(Wide{0});
        continue;
      }
      if (t[i] < 0 || t[i] >= samples.classes) return no_class(t[i], samples.classes);
      const Wide scale = w ? static_cast<Wide>(w[t[i]]) : 1;
      losses[i] = T(-static_cast<Wide>(x[samples.at(i) + t[i] * samples.step]) * scale);
      scales[i] = T(scale);
    }
    return LAMELLA_OK;
  };
  const int64_t n = targets->numel;
  return n <= grain / 8 ? body(0, n) : parallel_for(0, n, grain / 8, body);
}

Status nll_pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                const Tensor& loss, const Tensor& weights) {
  switch (input.get()->dtype) {
    case LAMELLA_FLOAT16:
      return pick<float16>(input, target, weight, ignore_index, loss, weights);
    case LAMELLA_BFLOAT16:
      return pick<bfloat16>(input, target, weight, ignore_index, loss, weights);
    case LAMELLA_FLOAT32:
      return pick<float>(input, target, weight, ignore_index, loss, weights);
    default:
      return pick<double>(input, target, weight, ignore_index, loss, weights);
  }
}

// ---- sums over blocks -----------------------------------------------------------------------------------------------

enum class How { none, mean, sum };  // the numbers of an argument 'reduction'

struct Part {
  double loss = 0, weight = 0;
};

// Calls part(first, last, Part*) for each block of [0, n) and adds up the parts in order. A thread gets at least
// `least` blocks.
template <class Body>
lamella_status by_blocks(lamella_frame* f, int64_t n, int64_t block, int64_t least, Part* sum, Body part) {
  const int64_t blocks = (n + block - 1) / block;
  if (blocks <= 1) return n > 0 ? part(0, n, sum) : LAMELLA_OK;
  constexpr int64_t few = 64;
  Part here[few], *parts = here;
  if (blocks > few) {
    void* memory;
    if (lamella_status st = api().scratch(f, blocks * static_cast<int64_t>(sizeof(Part)), &memory)) return st;
    parts = static_cast<Part*>(memory);
  }
  lamella_status st = parallel_for(0, blocks, least, [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      parts[i] = {};
      if (lamella_status failed = part(i * block, std::min(n, (i + 1) * block), parts + i)) return failed;
    }
    return LAMELLA_OK;
  });
  for (int64_t i = 0; i < blocks && !st; i++) {
    sum->loss += parts[i].loss;
    sum->weight += parts[i].weight;
  }
  return st;
}

void store(lamella_tensor* out, double v) {
  loops().cast[LAMELLA_FLOAT64][out->dtype](1, static_cast<char*>(out->dl.data), 0, reinterpret_cast<char*>(&v), 0);
}

Status pair_loss(lamella_frame* f, const Tensor& input, const Tensor& target, int64_t kind, double width,
                 int64_t reduction, const Tensor& out) {
  static const auto chosen = LAMELLA_BY_ISA(losses);
  lamella_tensor* result = out.get();
  const int work = work_dtype(result);
  const How how = static_cast<How>(reduction);
  const Operand x(input.get(), work), y(target.get(), work);
  const bool all = how == How::none;
  const Result to(all ? result : nullptr, work);
  const auto loop = chosen(work)->pair[kind];
  const int64_t n = input.get()->numel, item = work == LAMELLA_FLOAT64 ? 8 : 4;
  Part sum;
  lamella_status st = by_blocks(f, n, grain, 1, &sum, [&](int64_t b, int64_t e, Part* part) -> lamella_status {
    const int64_t at = b * item;
    part->loss = loop(e - b, x.data() + at, y.data() + at, width, all ? to.data() + at : nullptr);
    return LAMELLA_OK;
  });
  if (st) return st;
  if (all) return to.finish();
  store(result, how == How::mean ? sum.loss / static_cast<double>(n) : sum.loss);
  return LAMELLA_OK;
}

Status pair_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, int64_t kind,
                          double width, int64_t reduction, const Tensor& out) {
  static const auto chosen = LAMELLA_BY_ISA(losses);
  const int work = work_dtype(out.get());
  const How how = static_cast<How>(reduction);
  const Operand g(grad_output.get(), how == How::none ? work : LAMELLA_FLOAT64);
  const Operand x(input.get(), work);
  const Operand y(target.get(), work);
  const Result to(out.get(), work);
  const auto loop = chosen(work)->pair_backward[kind];
  const int64_t n = out.get()->numel, item = work == LAMELLA_FLOAT64 ? 8 : 4;
  const char* each = how == How::none ? g.data() : nullptr;
  const double scale = how == How::none ? 1 : *g.data<double>() / (how == How::mean ? static_cast<double>(n) : 1);
  auto body = [&](int64_t b, int64_t e) -> lamella_status {
    const int64_t at = b * item;
    loop(e - b, x.data() + at, y.data() + at, each ? each + at : nullptr, scale, width, to.data() + at);
    return LAMELLA_OK;
  };
  if (lamella_status st = n <= grain ? body(0, n) : parallel_for(0, n, grain, body)) return st;
  return to.finish();
}

// ---- by class, from logits or from log-probabilities ----------------------------------------------------------------

const Softmax* softmax_of(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(softmax);
  return chosen(dtype);
}

template <class T>
struct ClassLoss {
  const T *x, *weight;
  const int64_t* target;
  int64_t classes, area, ignored;  // x as (outer, classes, area)
  bool logits;
  const Softmax* loops;

  // Computes the losses of samples [b, e), writes them to `each` unless that is null, and adds up losses and weights.
  lamella_status operator()(int64_t b, int64_t e, double* each, Part* part) const {
    double normal[softmax_width];
    const int64_t step = area == 1 ? classes : 1;  // from one sample to the next of a run
    double losses = 0, weights = 0;
    for (int64_t i = b; i < e;) {
      const int64_t p = area == 1 ? 0 : i % area, left = area == 1 ? e - i : std::min(e - i, area - p);
      const int64_t n = std::min(left, softmax_width);
      const T* at = x + (i - p) * classes + p;
      if (logits && classes > 0) {  // without classes, every target is out of range or ignored
        if (area == 1)
          for (int64_t k = 0; k < n; k++) normal[k] = loops->logsumexp(classes, at + k * classes);
        else
          loops->logsumexp_columns(classes, n, at, area, normal);
      }
      for (int64_t k = 0; k < n; k++, i++) {
        const int64_t t = target[i];
        double loss = 0, scale = 0;
        if (t != ignored) {
          if (t < 0 || t >= classes) return no_class(t, classes);
          const double found = static_cast<double>(at[t * area + k * step]);
          scale = weight ? static_cast<double>(weight[t]) : 1;
          loss = (logits ? normal[k] - found : -found) * scale;
        }
        if (each) each[i - b] = loss;
        losses += loss;
        weights += scale;
      }
    }
    *part = {losses, weights};
    return LAMELLA_OK;
  }
};

// The dtype of T.
template <class T>
constexpr int dtype_of = std::is_same_v<T, double> ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;

template <class T>
lamella_status class_loss_of(lamella_frame* f, const Tensor& input, const Tensor& target, const Tensor& weight,
                             int64_t ignore_index, int64_t reduction, bool logits, lamella_tensor* out) {
  const Operand x(input.get(), dtype_of<T>), targets(target.get(), LAMELLA_INT64), weights(weight.get(), dtype_of<T>);
  const DLTensor& in = x->dl;
  const int64_t n = targets->numel, classes = in.shape[in.ndim == 1 ? 0 : 1];
  int64_t area = 1;
  for (int d = 2; d < in.ndim; d++) area *= in.shape[d];
  const How how = static_cast<How>(reduction);
  const ClassLoss<T> loss = {x.data<T>(), weights.data<T>(),      targets.data<int64_t>(), classes, area, ignore_index,
                             logits,      softmax_of(dtype_of<T>)};
  constexpr int64_t longest = 1024;
  const int64_t block = logits ? std::clamp<int64_t>(grain / 8 / (classes + 1), 1, longest) : longest;
  Part sum;
  const int64_t least = logits ? 1 : grain / 2 / longest;
  lamella_status st = by_blocks(f, n, block, least, &sum, [&](int64_t b, int64_t e, Part* part) -> lamella_status {
    double each[longest];
    if (lamella_status failed = loss(b, e, how == How::none ? each : nullptr, part)) return failed;
    if (how == How::none)
      loops().cast[LAMELLA_FLOAT64][out->dtype](e - b, static_cast<char*>(out->dl.data) + b * itemsize(out),
                                                itemsize(out), reinterpret_cast<char*>(each), sizeof(double));
    return LAMELLA_OK;
  });
  if (st || how == How::none) return st;
  store(out, how == How::mean ? sum.loss / sum.weight : sum.loss);
  return LAMELLA_OK;
}

Status class_loss(lamella_frame* f, const Tensor& input, const Tensor& target, const Tensor& weight,
                  int64_t ignore_index, int64_t reduction, bool logits, const Tensor& out) {
  const auto into = work_dtype(input.get()) == LAMELLA_FLOAT64 ? class_loss_of<double> : class_loss_of<float>;
  return into(f, input, target, weight, ignore_index, reduction, logits, out.get());
}

// Computes the gradient of samples [b, e). The gradient of a sample's loss is g, times the weight of its class.
template <class T>
struct ClassGradient {
  const T *x, *weight, *each;  // each: the g of each sample, or null if `g` serves all
  T* to;
  const int64_t* target;
  int64_t classes, area, ignored;  // x as (outer, classes, area)
  double g;
  bool logits;
  const Softmax* loops;

  lamella_status operator()(int64_t b, int64_t e) const {
    double factors[softmax_width];
    const int64_t step = area == 1 ? classes : 1;  // from one sample to the next of a run
    for (int64_t i = b; i < e;) {
      const int64_t p = area == 1 ? 0 : i % area, left = area == 1 ? e - i : std::min(e - i, area - p);
      const int64_t n = std::min(left, softmax_width), at = (i - p) * classes + p;
      for (int64_t k = 0; k < n; k++) {
        const int64_t t = target[i + k];
        factors[k] = 0;
        if (t == ignored) continue;
        if (t < 0 || t >= classes) return no_class(t, classes, "_class_loss_backward: ");
        factors[k] = (each ? static_cast<double>(each[i + k]) : g) * (weight ? static_cast<double>(weight[t]) : 1);
      }
      if (logits && classes > 0) spread(n, at, factors);
      for (int64_t k = 0; k < n; k++)
        if (const int64_t t = target[i + k]; t != ignored) to[at + t * area + k * step] -= static_cast<T>(factors[k]);
      i += n;
    }
    return LAMELLA_OK;
  }

 private:
  // Writes softmax times the factors, for n samples.
  void spread(int64_t n, int64_t at, const double* factors) const {
    if (area > 1) return loops->scaled_columns(classes, n, x + at, to + at, area, factors);
    for (int64_t k = 0; k < n; k++) loops->scaled_row(classes, x + at + k * classes, to + at + k * classes, factors[k]);
  }
};

// Writes the sum of the weights of the samples that are not ignored to `sum`.
template <class T>
lamella_status weight_of(lamella_frame* f, int64_t n, const int64_t* target, const T* weight, int64_t classes,
                         int64_t ignored, double* sum) {
  Part all;
  const lamella_status st = by_blocks(f, n, grain, 1, &all, [&](int64_t b, int64_t e, Part* part) -> lamella_status {
    for (int64_t i = b; i < e; i++) {
      const int64_t t = target[i];
      if (t == ignored) continue;
      if (t < 0 || t >= classes) return no_class(t, classes, "_class_loss_backward: ");
      part->weight += weight ? static_cast<double>(weight[t]) : 1;
    }
    return LAMELLA_OK;
  });
  *sum = all.weight;
  return st;
}

template <class T>
lamella_status class_backward_of(lamella_frame* f, const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                 const Tensor& weight, int64_t ignore_index, int64_t reduction, bool logits,
                                 lamella_tensor* out) {
  const DLTensor& in = input.get()->dl;
  const int64_t n = target.get()->numel, classes = in.shape[in.ndim == 1 ? 0 : 1];
  const How how = static_cast<How>(reduction);
  const Operand g(grad_output.get(), dtype_of<T>), x(logits ? input.get() : nullptr, dtype_of<T>);
  const Operand targets(target.get(), LAMELLA_INT64);
  const Operand weights(weight.get(), dtype_of<T>);
  const Result to(out, dtype_of<T>);
  int64_t area = 1;
  for (int d = 2; d < in.ndim; d++) area *= in.shape[d];
  double scale = how == How::none ? 0 : static_cast<double>(*g.data<T>());
  if (how == How::mean) {
    double sum;
    if (lamella_status st = weight_of(f, n, targets.data<int64_t>(), weights.data<T>(), classes, ignore_index, &sum))
      return st;
    scale /= sum;
  }
  ClassGradient<T> body = {x.data<T>(),
                           weights.data<T>(),
                           how == How::none ? g.data<T>() : nullptr,
                           to.data<T>(),
                           targets.data<int64_t>(),
                           classes,
                           area,
                           ignore_index,
                           scale,
                           logits,
                           softmax_of(dtype_of<T>)};
  if (!logits) {
    const int64_t bytes = out->numel * static_cast<int64_t>(sizeof(T));
    auto clear = [&](int64_t b, int64_t e) -> lamella_status {
      if (e > b) std::memset(to.data() + b, 0, e - b);
      return LAMELLA_OK;
    };
    if (lamella_status st = bytes <= 8 * grain ? clear(0, bytes) : parallel_for(0, bytes, 8 * grain, clear)) return st;
  }
  const int64_t few = std::max<int64_t>(1, logits ? grain / 8 / (classes + 1) : grain / 8);
  if (lamella_status st = n <= few ? body(0, n) : parallel_for(0, n, few, body)) return st;
  return to.finish();
}

Status class_loss_backward(lamella_frame* f, const Tensor& grad_output, const Tensor& input, const Tensor& target,
                           const Tensor& weight, int64_t ignore_index, int64_t reduction, bool logits,
                           const Tensor& out) {
  const auto into = work_dtype(input.get()) == LAMELLA_FLOAT64 ? class_backward_of<double> : class_backward_of<float>;
  return into(f, grad_output, input, target, weight, ignore_index, reduction, logits, out.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<nll_pick>(m, "_nll_pick");
  add<pair_loss>(m, "_pair_loss");
  add<pair_loss_backward>(m, "_pair_loss_backward");
  add<class_loss>(m, "_class_loss");
  add<class_loss_backward>(m, "_class_loss_backward");
}

}  // namespace lamella::cpu
