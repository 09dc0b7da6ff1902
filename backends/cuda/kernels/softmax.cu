// Softmax and its logarithm over rows and over columns, and their gradients.
#include "rows.cuh"

// Rows of a contiguous tensor, in one pass over memory. R is the result's type, whose sums are T's.
template <class T, class R, bool Log, int N>
__global__ void __launch_bounds__(1024) softmax_rows(const T* in, R* out, i64 rows, i64 length, bool keeps) {
  typedef Wide<T> W;
  W* space = row_space<W>(keeps, length);
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T> x = {in + r * length, space};
    W top = -infinity<W>();
    each_of_row<T, N>(x.from, length, [&](i64 k, W v) {
      top = Most::of(v, top);
      if (space) space[k] = v;
    });
    top = fold_group<Most>(top);
    W sum = 0;
    if constexpr (N == 1) {
      for (i64 k = threadIdx.x; k < length; k += blockDim.x) sum += exponential(x[k] - top);
    } else {
      for (i64 k = (i64)threadIdx.x * N; k < length; k += (i64)blockDim.x * N)
#pragma unroll
        for (int j = 0; j < N; j++) sum += exponential(x[k + j] - top);
    }
    sum = fold_group<Add>(sum);
    if constexpr (Log) {
      const W less = logarithm(sum);
      write_row<R, N>(out + r * length, length, [&](i64 k) { return x[k] - top - less; });
    } else {
      const W by = 1 / sum;
      write_row<R, N>(out + r * length, length, [&](i64 k) { return exponential(x[k] - top) * by; });
    }
  }
}

// The type in which the gradient's differences are taken: its terms are large beside what is left of them.
template <class T>
struct ExactOf {
  typedef Wide<T> type;
};
template <>
struct ExactOf<float> {
  typedef double type;
};
template <class T>
using Exact = typename ExactOf<T>::type;

// The gradient, of the output y: y (g - sum(g y)), or g - e^y sum(g). R is the input's type.
template <class T, class R, bool Log, int N>
__global__ void __launch_bounds__(1024) softmax_rows_backward(const T* grad, const T* out, R* to, i64 rows, i64 length, bool) {
  typedef Exact<T> W;
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const T *g = grad + r * length, *y = out + r * length;
    W sum = 0;
    each_of_row<T, N>(g, length, [&](i64 k, Wide<T> v) { sum += Log ? (W)v : (W)v * wide(y[k]); });
    sum = fold_group<Add>(sum);
    write_row<R, N>(to + r * length, length, [&](i64 k) {
      const W v = wide(g[k]), p = wide(y[k]);
      return Log ? v - exponential(p) * sum : p * (v - sum);
    });
  }
}

// Columns: elements (outer, length, inner), with `inner` above 1. A block has 32 neighbours and 8 threads for each.
template <class W, class Fold>
DEVICE W fold_columns(W x, W (&space)[8][32]) {
  __syncthreads();
  space[threadIdx.y][threadIdx.x] = x;
  __syncthreads();
  W all = space[0][threadIdx.x];
  for (int i = 1; i < 8; i++) all = Fold::of(all, space[i][threadIdx.x]);
  return all;
}

template <class T, class R, bool Log>
__global__ void __launch_bounds__(256) softmax_columns(const T* in, R* out, i64 outer, i64 length, i64 inner) {
  typedef Wide<T> W;
  __shared__ W space[8][32];
  const i64 groups = (inner + 31) / 32;
  for (i64 b = blockIdx.x; b < outer * groups; b += gridDim.x) {
    const i64 o = b / groups, c = (b - o * groups) * 32 + threadIdx.x, at = o * length * inner + c;
    const bool there = c < inner;
    W top = -infinity<W>(), sum = 0;
    for (i64 k = threadIdx.y; there && k < length; k += 8) top = Most::of(wide(in[at + k * inner]), top);
    top = fold_columns<W, Most>(top, space);
    for (i64 k = threadIdx.y; there && k < length; k += 8) sum += exponential(wide(in[at + k * inner]) - top);
    sum = fold_columns<W, Add>(sum, space);
    const W by = Log ? logarithm(sum) : 1 / sum;
    for (i64 k = threadIdx.y; there && k < length; k += 8) {
      const W x = wide(in[at + k * inner]) - top;
      out[at + k * inner] = narrow<R>(Log ? x - by : exponential(x) * by);
    }
  }
}

template <class T, class R, bool Log>
__global__ void __launch_bounds__(256)
    softmax_columns_backward(const T* grad, const T* out, R* to, i64 outer, i64 length, i64 inner) {
  typedef Exact<T> W;
  __shared__ W space[8][32];
  const i64 groups = (inner + 31) / 32;
  for (i64 b = blockIdx.x; b < outer * groups; b += gridDim.x) {
    const i64 o = b / groups, c = (b - o * groups) * 32 + threadIdx.x, at = o * length * inner + c;
    const bool there = c < inner;
    W sum = 0;
    for (i64 k = threadIdx.y; there && k < length; k += 8) {
      const W g = wide(grad[at + k * inner]);
      sum += Log ? g : g * wide(out[at + k * inner]);
    }
    sum = fold_columns<W, Add>(sum, space);
    for (i64 k = threadIdx.y; there && k < length; k += 8) {
      const W g = wide(grad[at + k * inner]), y = wide(out[at + k * inner]);
      to[at + k * inner] = narrow<R>(Log ? g - exponential(y) * sum : y * (g - sum));
    }
  }
}
