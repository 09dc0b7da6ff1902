// Softmax and its logarithm over rows and over columns, and their gradients.
#include "rows.cuh"

// Softmax of the rows of a contiguous tensor, in one pass over memory if a Row keeps its elements. Sums have T's wide
// type, R is the result's type. N and K: see Row.
template <class T, class R, bool Log, int N, int K>
__global__ void __launch_bounds__(K ? 512 : 1024) softmax_rows(const T* in, R* out, i64 rows, i64 length, bool keeps) {
  typedef Wide<T> W;
  W* space = row_space<W>(keeps, length);
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T, N, K> row(in + r * length, length, space);
    W top = -infinity<W>(), sum = 0;
    row.each([&](W x) { top = Most::of(x, top); });
    top = fold_group<Most, 1>(top);
    row.each([&](W x) { sum += exponential(x - top); });
    sum = fold_group<Add, 2>(sum);
    const W by = Log ? logarithm(sum) : 1 / sum;
    row.packs_of_row([&](i64 k, const W(&x)[N]) {
      W y[N];
#pragma unroll
      for (int j = 0; j < N; j++) y[j] = Log ? x[j] - top - by : exponential(x[j] - top) * by;
      store(out + r * length + k, y);
    });
  }
}

// The type in which the gradient's differences are taken, since the terms are large beside their difference.
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

// The gradient, from the output y: y (g - sum(g y)), or g - e^y sum(g) with Log. R is the input's type.
template <class T, class R, bool Log, int N, int K>
__global__ void __launch_bounds__(K ? 512 : 1024) softmax_rows_backward(const T* grad, const T* out, R* to, i64 rows, i64 length) {
  typedef Exact<T> W;
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T, N, K> g(grad + r * length, length), y(out + r * length, length);
    W sum = 0;
    both_of_rows(g, y, [&](i64, const Wide<T>(&of_g)[N], const Wide<T>(&of_y)[N]) {
#pragma unroll
      for (int j = 0; j < N; j++) sum += Log ? (W)of_g[j] : (W)of_g[j] * of_y[j];
    });
    sum = fold_group<Add>(sum);
    both_of_rows(g, y, [&](i64 k, const Wide<T>(&of_g)[N], const Wide<T>(&of_y)[N]) {
      W d[N];
#pragma unroll
      for (int j = 0; j < N; j++)
        d[j] = Log ? (W)of_g[j] - exponential((W)of_y[j]) * sum : (W)of_y[j] * ((W)of_g[j] - sum);
      store(to + r * length + k, d);
    });
  }
}

// Columns have elements (outer, length, inner), with `inner` above 1. A block has 32 neighbours and 8 threads for each.
template <class W, class Fold>
DEVICE W fold_columns(W x, W (&space)[8][32]) {
  __syncthreads();
  space[threadIdx.y][threadIdx.x] = x;
  __syncthreads();
  W all = space[0][threadIdx.x];
  for (int i = 1; i < 8; i++) all = Fold::of(all, space[i][threadIdx.x]);
  return all;
}

// Calls visit(at, there) for the columns of this thread: `at` is a column's first element, and `there` says whether there
// is such a column.
template <class Visit>
DEVICE void each_column(i64 outer, i64 length, i64 inner, Visit visit) {
  const i64 groups = (inner + 31) / 32;
  for (i64 b = blockIdx.x; b < outer * groups; b += gridDim.x) {
    const i64 o = b / groups, c = (b - o * groups) * 32 + threadIdx.x;
    visit(o * length * inner + c, c < inner);
  }
}

template <class T, class R, bool Log>
__global__ void __launch_bounds__(256) softmax_columns(const T* in, R* out, i64 outer, i64 length, i64 inner) {
  typedef Wide<T> W;
  __shared__ W space[8][32];
  each_column(outer, length, inner, [&](i64 at, bool there) {
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
  });
}

template <class T, class R, bool Log>
__global__ void __launch_bounds__(256)
    softmax_columns_backward(const T* grad, const T* out, R* to, i64 outer, i64 length, i64 inner) {
  typedef Exact<T> W;
  __shared__ W space[8][32];
  each_column(outer, length, inner, [&](i64 at, bool there) {
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
  });
}
