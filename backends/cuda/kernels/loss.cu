// Losses by class: the choice of each target's log-probability, cross entropy of logits in one pass, their gradient.
#include "loss.h"
#include "rows.cuh"

// Returns the weight of a target's class, and sets `kept`: to false, with a weight of 0, if the target is ignored or is
// no class, which is reported as a fault.
template <class T>
DEVICE Wide<T> weight_of(const Classes& c, i64 target, const T* weight, Fault* fault, i32 code, bool& kept) {
  kept = target != c.ignored;
  if (kept && (target < 0 || target >= c.classes)) {
    report(fault, code, target, c.classes);
    kept = false;
  }
  if (!kept) return 0;
  return weight ? wide(weight[target]) : Wide<T>(1);
}

// Writes -input[target] * weight, and the weight, of each sample.
template <class T, class R>
__global__ void __launch_bounds__(256)
    pick(const T* in, const i64* targets, const T* weight, Classes c, R* loss, R* weights, Fault* fault, i32 code) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < c.count; i += step) {
    bool kept;
    const Wide<T> w = weight_of(c, targets[i], weight, fault, code, kept);
    loss[i] = narrow<R>(kept ? -wide(in[c.first(i) + targets[i] * c.area]) * w : Wide<T>(0));
    weights[i] = narrow<R>(w);
  }
}

// Does the same for logits, by a group of threads for each sample.
template <class T, class R>
__global__ void __launch_bounds__(1024) pick_logits(const T* in, const i64* targets, const T* weight, Classes c, R* loss, R* weights,
                            Fault* fault, i32 code) {
  typedef Wide<T> W;
  for (i64 i = row_of_group(); i < c.count; i += row_step()) {
    const T* x = in + c.first(i);
    W top = -infinity<W>(), sum = 0;
    for (i64 k = threadIdx.x; k < c.classes; k += blockDim.x) {
      const W v = wide(x[k * c.area]), raised = Most::of(v, top);
      if (raised != top) sum = sum * exponential(top - raised), top = raised;
      sum += exponential(v - top);
    }
    const W all = fold_group<Most>(top);
    sum = fold_group<Add>(top == all ? sum : top == -infinity<W>() ? W(0) : sum * exponential(top - all));
    if (threadIdx.x != 0) continue;
    bool kept;
    const W w = weight_of(c, targets[i], weight, fault, code, kept);
    loss[i] = narrow<R>(kept ? (all - wide(x[targets[i] * c.area]) + logarithm(sum)) * w : W(0));
    weights[i] = narrow<R>(w);
  }
}

// Returns the sum of x over the block, in one order.
DEVICE double add_block(double x) { return fold_group<Add>(x); }

// Computes in one block the sum of the losses, divided by that of the weights for a mean. R is the result's type.
template <class T, class R>
__global__ void __launch_bounds__(1024) total(const T* loss, const T* weights, i64 count, bool mean, R* out) {
  double sum = 0, of_weights = 0;
  for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
    sum += wide(loss[i]);
    of_weights += wide(weights[i]);
  }
  sum = add_block(sum);
  of_weights = add_block(of_weights);
  if (threadIdx.x == 0) out[0] = narrow<R>((Wide<R>)(mean ? sum / of_weights : sum));
}

// Computes in one block the sum of the weights that count.
template <class T>
__global__ void __launch_bounds__(1024)
    total_weight(const i64* targets, const T* weight, Classes c, Wide<T>* out, Fault* fault, i32 code) {
  double sum = 0;
  for (i64 i = threadIdx.x; i < c.count; i += blockDim.x) {
    bool kept;
    sum += weight_of(c, targets[i], weight, fault, code, kept);
  }
  sum = add_block(sum);
  if (threadIdx.x == 0) out[0] = (Wide<T>)sum;
}

// The gradient of the input: with logits softmax - 1 at the target and softmax elsewhere, else -1 at the target. It is
// multiplied by `grad` and the weight, and divided by `whole`, the sum of all weights, null if the loss is no mean.
// `step` is 1 if each sample has its own `grad`, else 0.
template <class T, bool Logits>
__global__ void __launch_bounds__(1024) class_backward(const T* grad, i64 step, const T* in, const i64* targets, const T* weight,
                               const Wide<T>* whole, Classes c, T* to, Fault* fault, i32 code) {
  typedef Wide<T> W;
  for (i64 i = row_of_group(); i < c.count; i += row_step()) {
    const i64 first = c.first(i), target = targets[i];
    const T* x = in + first;
    W top = 0, sum = 1;
    if (Logits) {
      top = -infinity<W>();
      for (i64 k = threadIdx.x; k < c.classes; k += blockDim.x) top = Most::of(wide(x[k * c.area]), top);
      top = fold_group<Most>(top);
      sum = 0;
      for (i64 k = threadIdx.x; k < c.classes; k += blockDim.x) sum += exponential(wide(x[k * c.area]) - top);
      sum = fold_group<Add>(sum);
    }
    bool kept;
    W g = weight_of(c, target, weight, fault, code, kept) * wide(grad[i * step]);
    if (whole) g = g / whole[0];
    if (!kept) g = 0;
    const W by = g / sum;
    for (i64 k = threadIdx.x; k < c.classes; k += blockDim.x) {
      W d = Logits && kept ? exponential(wide(x[k * c.area]) - top) * by : W(0);
      if (kept && k == target) d -= g;
      to[first + k * c.area] = narrow<T>(d);
    }
  }
}
