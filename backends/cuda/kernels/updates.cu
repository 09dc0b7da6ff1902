// The updates of optimizers over lists of tensors: plans of all tensors first, by the numbers of their steps, which may
// lie on the device; then the elements, some thirty tensors a launch. See Note [Updates] in lamella/updates/base.h.
#include "scalars.cuh"
#define __builtin_sqrtf sqrtf
#define __builtin_sqrt sqrt
#define __builtin_fabsf fabsf
#define __builtin_fabs fabs
#define __builtin_pow pow
#include <lamella/updates.h>

using namespace lamella::updates;

// One number: in memory of the device, of one of the floating dtypes, or a value where there is none.
struct Number {
  const void* at;
  int bytes;    // of the element; 3 for bfloat16
  double value;
  __device__ double get() const {
    if (!at) return value;
    if (bytes == 8) return *(const double*)at;
    if (bytes == 4) return *(const float*)at;
    return bytes == 3 ? to_float(*(const bfloat16*)at) : to_float(*(const float16*)at);
  }
  __device__ void set(double x) const {
    if (!at) return;  // the host has done it
    if (bytes == 8)
      *(double*)at = x;
    else if (bytes == 4)
      *(float*)at = (float)x;
    else if (bytes == 3)
      *(bfloat16*)at = to_bfloat16((float)x);
    else
      *(float16*)at = to_float16((float)x);
  }
};

constexpr int plans_each = 32, tensors_each = 32, most_lists = most_state + 2;

struct Steps {
  int count;
  Number options[most_options], stop;
  Number steps[plans_each], kept[most_kept][plans_each];
};

// A plan on the device; a variant of ~0 says that nothing is to be changed.
struct DevicePlan {
  u32 variant, reserved;
  double decay, factors[most_factors];
};

template <class U>
__global__ void __launch_bounds__(32) make_plans(Steps s, DevicePlan* plans) {
  const int i = threadIdx.x;
  if (i >= s.count) return;
  if (s.stop.at && s.stop.get() != 0) {
    plans[i].variant = ~0u;
    return;
  }
  double options[most_options], kept[most_kept];
  for (int k = 0; k < U::options; k++) options[k] = s.options[k].get();
  for (int k = 0; k < U::kept; k++) kept[k] = s.kept[k][i].get();
  const Plan made = U::plan(options, s.steps[i].get(), kept);
  plans[i].variant = made.variant;
  plans[i].decay = made.decay;
  for (int k = 0; k < most_factors; k++) plans[i].factors[k] = made.factors[k];
  for (int k = 0; k < U::kept; k++) s.kept[k][i].set(made.kept[k]);
}

// Tensors as runs of elements; those of a launch are cut into pieces of `update_piece`, a block each.
struct Runs {
  int count;
  u32 first_piece[tensors_each + 1];
  i64 sizes[tensors_each];
  void* at[most_lists][tensors_each];
};

constexpr int update_piece = 256 * 16;

// N elements at a time; all runs are aligned for that. `scale` divides the gradients, also in memory.
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
  const W decay = (W)plan.decay, divisor = scale.at ? (W)scale.get() : W(1);
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
