// What losses by class index need: each target's log-probability and weight.
#include <lattis/half.h>

#include <type_traits>

#include "backends/cpu/kernels.h"

namespace lattis::cpu {
namespace {

// Where each target's classes start in the input: the dimensions around the classes.
struct Samples {
  int ndim = 0;
  int64_t sizes[LATTIS_MAX_DIMS], strides[LATTIS_MAX_DIMS];
  int64_t classes, step;

  explicit Samples(const lattis_tensor* in) {
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

lattis_status packed(lattis_tensor* t, int dtype, Tensor* out) {
  if (t->dtype == dtype && is_contiguous(t)) {
    *out = Tensor::borrow(t);
    return LATTIS_OK;
  }
  lattis_tensor* raw;
  if (lattis_status st =
          api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
    return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

lattis_status no_class(int64_t target, int64_t classes) {
  return fail(LATTIS_INDEX_ERROR,
              "argument 'target': class " + std::to_string(target) + " is not in [0, " + std::to_string(classes) + ")");
}

// _nll_pick(input, target, weight?, ignore_index) -> (loss, weight)
template <class T>
lattis_status pick(const lattis_value* a, lattis_value* r) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  lattis_tensor* in = a[0].as.tensor;
  Tensor target, weight;
  if (lattis_status st = packed(a[1].as.tensor, LATTIS_INT64, &target)) return st;
  if (a[2].tag == LATTIS_TENSOR)
    if (lattis_status st = packed(a[2].as.tensor, in->dtype, &weight)) return st;
  const Samples samples(in);
  const int64_t ignored = a[3].as.i;
  const auto* x = static_cast<const T*>(in->dl.data);
  const auto* t = target.data<int64_t>();
  const T* w = weight ? weight.data<T>() : nullptr;
  auto* loss = static_cast<T*>(r[0].as.tensor->dl.data);
  auto* weights = static_cast<T*>(r[1].as.tensor->dl.data);
  auto body = [&](int64_t b, int64_t e) -> lattis_status {
    for (int64_t i = b; i < e; i++) {
      if (t[i] == ignored) {
        loss[i] = weights[i] = T(Wide{0});
        continue;
      }
      if (t[i] < 0 || t[i] >= samples.classes) return no_class(t[i], samples.classes);
      const Wide scale = w ? static_cast<Wide>(w[t[i]]) : 1;
      loss[i] = T(-static_cast<Wide>(x[samples.at(i) + t[i] * samples.step]) * scale);
      weights[i] = T(scale);
    }
    return LATTIS_OK;
  };
  const int64_t n = target.numel();
  return n <= grain / 8 ? body(0, n) : parallel_for(0, n, grain / 8, body);
}

lattis_status nll_pick(lattis_frame*, const lattis_value* a, lattis_value* r) {
  switch (a[0].as.tensor->dtype) {
    case LATTIS_FLOAT16:
      return pick<float16>(a, r);
    case LATTIS_BFLOAT16:
      return pick<bfloat16>(a, r);
    case LATTIS_FLOAT32:
      return pick<float>(a, r);
    default:
      return pick<double>(a, r);
  }
}

}  // namespace

void register_losses(Library& m) { m.impl("_nll_pick", "cpu", nll_pick); }

}  // namespace lattis::cpu
