// The updates of optimizers over lists of tensors. A first kernel makes plans from the counts of steps, which may lie
// on the device; a second one updates the elements, at most 32 tensors a launch. See Note [Updates] in
// lamella/updates/base.h.
#include "scalars.cuh"
#define __builtin_sqrtf sqrtf
#define __builtin_sqrt sqrt
#define __builtin_fabsf fabsf
#define __builtin_fabs fabs
#define __builtin_pow pow
#include "updates.h"

using namespace lamella::updates;
using namespace cuda::updates;

DEVICE double get(const Number& n) {
  if (!n.at) return n.value;
  if (n.bytes == 8) return *(const double*)n.at;
  if (n.bytes == 4) return *(const float*)n.at;
  return n.bytes == 3 ? to_float(*(const bfloat16*)n.at) : to_float(*(const float16*)n.at);
}
// Sets a number in the device's memory. A number without a place there is set by the host.
DEVICE void set(const Number& n, double x) {
  void* const at = const_cast<void*>(n.at);
  if (!at) return;
  if (n.bytes == 8)
    *(double*)at = x;
  else if (n.bytes == 4)
    *(float*)at = (float)x;
  else if (n.bytes == 3)
    *(bfloat16*)at = to_bfloat16((float)x);
  else
    *(float16*)at = to_float16((float)x);
}

template <class U>
__global__ void __launch_bounds__(32) make_plans(Steps s, DevicePlan* plans) {
  const int i = threadIdx.x;
  if (i >= s.count) return;
  if (s.stop.at && get(s.stop) != 0) {
    plans[i].variant = ~0u;
    return;
  }
  double options[most_options], kept[most_kept];
  for (int k = 0; k < U::options; k++) options[k] = get(s.options[k]);
  for (int k = 0; k < U::kept; k++) kept[k] = get(s.kept[k][i]);
  const Plan made = U::plan(options, get(s.steps[i]), kept);
  plans[i].variant = made.variant;
  plans[i].decay = made.decay;
  for (int k = 0; k < most_factors; k++) plans[i].factors[k] = made.factors[k];
  for (int k = 0; k < U::kept; k++) set(s.kept[k][i], made.kept[k]);
}

// Updates N elements at a time; all runs are aligned for that. If `scale` lies in memory, the gradients are divided by
// it, and written back.
template <class U, class T, int N>
__global__ void __launch_bounds__(256)
    update(Runs runs, const DevicePlan* plans, Number scale, bool maximize) {
  typedef Wide<T> W;
  __shared__ DevicePlan plan;
  __shared__ int which;
  if (threadIdx.x == 0) {
    int low = 0, high = runs.count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (runs.first_piece[middle] <= blockIdx.x)
        low = middle;
      else
        high = middle;
    }
    which = low;
    plan = plans[low];
  }
  __syncthreads();
  const int e = which;
  const u32 variant = plan.variant;
  if (variant == ~0u) return;
  W factors[most_factors];
#pragma unroll
  for (int k = 0; k < most_factors; k++) factors[k] = (W)plan.factors[k];
  const W decay = (W)plan.decay, divisor = scale.at ? (W)get(scale) : W(1);
  const i64 begin = (i64)(blockIdx.x - runs.first_piece[e]) * update_piece, left = runs.sizes[e] - begin;
  const i64 n = left < update_piece ? left : update_piece;
  T *p = (T*)runs.at[0][e] + begin, *g = (T*)runs.at[1][e] + begin;
  for (i64 i = (i64)threadIdx.x * N; i < n; i += 256 * N) {
    const int some = n - i < N ? (int)(n - i) : N;
    Pack<T, N> params, grads, states[most_state];
    auto read = [&](Pack<T, N>& to, const T* from) {
      if (some == N)
        to = *reinterpret_cast<const Pack<T, N>*>(from);
      else
        for (int j = 0; j < N; j++) to.v[j] = from[j < some ? j : 0];
    };
    auto write = [&](const Pack<T, N>& from, T* to) {
      if (some == N)
        *reinterpret_cast<Pack<T, N>*>(to) = from;
      else
        for (int j = 0; j < some; j++) to[j] = from.v[j];
    };
    read(params, p + i);
    read(grads, g + i);
#pragma unroll
    for (int k = 0; k < most_state; k++)
      if (k + 2 < U::lists && U::holds(variant, k)) read(states[k], (T*)runs.at[k + 2][e] + begin + i);
#pragma unroll
    for (int j = 0; j < N; j++) {
      W x = wide(params.v[j]), y = wide(grads.v[j]), s[most_state];
#pragma unroll
      for (int k = 0; k < most_state; k++)
        s[k] = k + 2 < U::lists && U::holds(variant, k) ? wide(states[k].v[j]) : W(0);
      if (scale.at) {
        y = y / divisor;
        grads.v[j] = narrow<T>(y);
      }
      if (maximize) y = -y;
      step<U>(variant, x, y, s, decay, factors);
      params.v[j] = narrow<T>(x);
#pragma unroll
      for (int k = 0; k < most_state; k++) states[k].v[j] = narrow<T>(s[k]);
    }
    write(params, p + i);
    if (scale.at) write(grads, g + i);
#pragma unroll
    for (int k = 0; k < most_state; k++)
      if (k + 2 < U::lists && U::holds(variant, k)) write(states[k], (T*)runs.at[k + 2][e] + begin + i);
  }
}
