// Layer, group, root-mean-square and batch norms and their gradients: the kernels.
#include "norms.h"
#include "parts.cuh"
#include "rows.cuh"

// Reads the parameters of elements k to k + N - 1 of a row. Dense ones lie side by side and are read by one load. Dense
// is known at compilation, since divisions for each element would take most of a kernel's registers and of its length.
template <bool Dense, int N, class W, class P>
DEVICE void parameters(W (&y)[N], const P* from, const Channels& channels, i64 row, i64 k) {
  if constexpr (Dense) {
    load(y, from + k, true);
  } else {
#pragma unroll
    for (int j = 0; j < N; j++) y[j] = (W)wide(from[channels.of(row, k + j)]);
  }
}

// P is the parameters' type; weight, bias and both statistics may be null. Centered means a layer or group norm. N and
// K: see Row. If Dense and a thread keeps 32 bytes or less, a processor has room for 1536 threads, so that some rows
// load while others wait for their folds.
template <class T, class P, bool Centered, bool Dense, int N, int K>
__global__ void __launch_bounds__(K ? 512 : 1024, Dense && K && N * K * sizeof(T) <= 32 ? 3 : 1) normalize_rows(const T* in, const P* weight, const P* bias, T* out, Wide<T>* means, Wide<T>* scales,
                               i64 rows, i64 length, Channels channels, double eps, bool keeps) {
  typedef Wide<T> W;
  W* space = row_space<W>(keeps, length);
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T, N, K> row(in + r * length, length, space);
    W mean = 0, square = 0;
    if (Centered) {
      row.each([&](W x) { mean += x; });
      mean = fold_group<Add, 1>(mean) / (W)length;
    }
    row.each([&](W x) { square += (x - mean) * (x - mean); });
    const W scale = 1 / root_of(fold_group<Add, Centered ? 2 : 0>(square) / (W)length + (W)eps);
    if (threadIdx.x == 0) {
      if (means) means[r] = mean;
      if (scales) scales[r] = scale;
    }
    row.packs_of_row([&](i64 k, const W(&x)[N]) {
      W y[N], more[N];
#pragma unroll
      for (int j = 0; j < N; j++) y[j] = (x[j] - mean) * scale;
      if (weight) {
        parameters<Dense>(more, weight, channels, r, k);
#pragma unroll
        for (int j = 0; j < N; j++) y[j] *= more[j];
      }
      if (bias) {
        parameters<Dense>(more, bias, channels, r, k);
#pragma unroll
        for (int j = 0; j < N; j++) y[j] += more[j];
      }
      store(out + r * length + k, y);
    });
  }
}

// The gradient of the input, scale (g - mean(g) - n mean(g n)), for the normalized input n and the weighted gradient g;
// without Centered, mean(g) is left out.
template <class T, class P, bool Centered, bool Dense, int N, int K>
__global__ void __launch_bounds__(K ? 512 : 1024) normalize_rows_backward(const T* grad, const T* in, const P* weight, const Wide<T>* means,
                                        const Wide<T>* scales, T* to, i64 rows, i64 length, Channels channels) {
  typedef Wide<T> W;
  for (i64 r = row_of_group(); r < rows; r += row_step()) {
    const Row<T, N, K> grads(grad + r * length, length), row(in + r * length, length);
    const W mean = Centered ? means[r] : W(0), scale = scales[r];
    W sum = 0, product = 0;
    // terms() calls visit(k, g, n) with the weighted gradients and the normalized elements.
    auto terms = [&](auto visit) {
      both_of_rows(grads, row, [&](i64 k, W(&g)[N], W(&x)[N]) {
        if (weight) {
          W more[N];
          parameters<Dense>(more, weight, channels, r, k);
#pragma unroll
          for (int j = 0; j < N; j++) g[j] *= more[j];
        }
#pragma unroll
        for (int j = 0; j < N; j++) x[j] = (x[j] - mean) * scale;
        visit(k, g, x);
      });
    };
    terms([&](i64, W(&g)[N], W(&n)[N]) {
#pragma unroll
      for (int j = 0; j < N; j++) {
        if (Centered) sum += g[j];
        product += g[j] * n[j];
      }
    });
    if (Centered) sum = fold_group<Add, 1>(sum) / (W)length;
    product = fold_group<Add, Centered ? 2 : 0>(product) / (W)length;
    terms([&](i64 k, W(&g)[N], W(&n)[N]) {
      W d[N];
#pragma unroll
      for (int j = 0; j < N; j++) d[j] = (g[j] - sum - n[j] * product) * scale;
      store(to + r * length + k, d);
    });
  }
}

// Gradients of weight and bias of rows: sums of g n and of g down the columns, over `part` rows for each block in y. A
// thread has N neighbouring columns, which one load reads; a block has 32 such threads side by side and takes 8 rows at
// a time. A thread loads four rows before it adds any, so that enough loads are under way. add_parts adds up the parts,
// (gridDim.y, length).
template <class T, bool Centered, int N>
__global__ void __launch_bounds__(256, 4)
    weight_parts(const T* grad, const T* in, const Wide<T>* means, const Wide<T>* scales, i64 rows, i64 length, i64 part,
                 Wide<T>* of_weight, Wide<T>* of_bias) {
  typedef Wide<T> W;
  typedef Pack<T, N> Some;
  __shared__ Pack<W, N> space[2][8][32];
  const i64 first = (i64)blockIdx.x * 32 * N, c = first + (i64)threadIdx.x * N;
  const i64 begin = blockIdx.y * part, end = begin + part < rows ? begin + part : rows;
  Pack<W, N> of_n, of_g;
#pragma unroll
  for (int j = 0; j < N; j++) of_n.v[j] = of_g.v[j] = 0;
  auto add = [&](const Some& of_grad, const Some& of_in, W mean, W scale) {
    W g[N], x[N];
    widen(g, of_grad);
    widen(x, of_in);
#pragma unroll
    for (int j = 0; j < N; j++) {
      of_g.v[j] += g[j];
      of_n.v[j] += g[j] * (Centered ? x[j] - mean : x[j]) * scale;
    }
  };
  auto some = [&](const T* from, i64 r) { return *reinterpret_cast<const Some*>(from + r * length + c); };
  if (c < length) {
    i64 r = begin + threadIdx.y;
    for (; r + 24 < end; r += 32) {
      Some g[4], x[4];
      W mean[4], scale[4];
#pragma unroll
      for (int u = 0; u < 4; u++) {
        g[u] = some(grad, r + 8 * u), x[u] = some(in, r + 8 * u);
        mean[u] = Centered ? means[r + 8 * u] : W(0), scale[u] = scales[r + 8 * u];
      }
#pragma unroll
      for (int u = 0; u < 4; u++) add(g[u], x[u], mean[u], scale[u]);
    }
    for (; r < end; r += 8) add(some(grad, r), some(in, r), Centered ? means[r] : W(0), scales[r]);
  }
  space[0][threadIdx.y][threadIdx.x] = of_n;
  space[1][threadIdx.y][threadIdx.x] = of_g;
  __syncthreads();
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 64 * N; i += 256) {  // neighbouring threads have neighbouring columns
    const int of = i / (32 * N), k = i % (32 * N);
    W* to = of == 0 ? of_weight : of_bias;
    if (!to || first + k >= length) continue;
    W sum = 0;
#pragma unroll
    for (int y = 0; y < 8; y++) sum += reinterpret_cast<const W*>(space[of][y])[k];
    to[blockIdx.y * length + first + k] = sum;
  }
}

// ---- over channels: elements (images, channels, area) ---------------------------------------------------------------

// Sums two numbers over the block, in one order.
template <class W>
DEVICE void add_both(W& x, W& y) {
  x = fold_group<Add>(x);
  y = fold_group<Add>(y);
}

// Calls visit(offset, image) for this thread's elements of a channel, among the block's part of them: blockIdx.y.
template <class Visit>
DEVICE void each_of_channel(i64 images, i64 channels, i64 area, Visit visit) {
  const i64 count = images * area, part = (count + gridDim.y - 1) / gridDim.y;
  const i64 begin = blockIdx.y * part, end = begin + part < count ? begin + part : count;
  for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const i64 n = count >> 31 ? i / area : (i64)((u32)i / (u32)area);
    visit((n * channels + blockIdx.x) * area + (i - n * area), n);
  }
}

// Writes the mean and the sum of squared distances of each channel's part, (gridDim.y, channels) each.
template <class T>
__global__ void __launch_bounds__(256)
    channel_moments(const T* in, i64 images, i64 channels, i64 area, Wide<T>* means, Wide<T>* squares) {
  typedef Wide<T> W;
  const i64 count = images * area, part = (count + gridDim.y - 1) / gridDim.y, left = count - blockIdx.y * part;
  const W n = (W)(left < part ? left : part);
  W mean = 0, square = 0;
  each_of_channel(images, channels, area, [&](i64 at, i64) { mean += wide(in[at]); });
  mean = fold_group<Add>(mean) / n;
  each_of_channel(images, channels, area, [&](i64 at, i64) { square += (wide(in[at]) - mean) * (wide(in[at]) - mean); });
  square = fold_group<Add>(square);
  if (threadIdx.x == 0) {
    means[blockIdx.y * channels + blockIdx.x] = mean;
    squares[blockIdx.y * channels + blockIdx.x] = square;
  }
}

// Joins the parts in order (Chan, Golub and LeVeque, 1979), and updates the running statistics, which may be null.
template <class T, class P>
__global__ void __launch_bounds__(256)
    channel_statistics(const Wide<T>* part_means, const Wide<T>* part_squares, i64 parts, i64 count, i64 channels,
                       double eps, double momentum, Wide<T>* means, Wide<T>* scales, P* running_mean, i64 mean_stride,
                       P* running_var, i64 var_stride) {
  typedef Wide<T> W;
  const i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  const i64 part = (count + parts - 1) / parts;
  W mean = 0, square = 0;
  i64 seen = 0;
  for (i64 i = 0; i < parts && seen < count; i++) {
    const i64 n = count - seen < part ? count - seen : part;
    const W apart = part_means[i * channels + c] - mean;
    mean += apart * ((W)n / (W)(seen + n));
    square += part_squares[i * channels + c] + apart * apart * ((W)n * ((W)seen / (W)(seen + n)));
    seen += n;
  }
  means[c] = mean;
  scales[c] = 1 / root_of(square / (W)count + (W)eps);
  if (running_mean) {
    const W m = (W)momentum, keep = (W)(1 - momentum);
    P& to = running_mean[c * mean_stride];
    P& var = running_var[c * var_stride];
    to = narrow<P>((W)wide(to) * keep + mean * m);
    var = narrow<P>((W)wide(var) * keep + square / (W)(count - 1) * m);
  }
}

// (x - mean) scale weight + bias by channel. With `variances` the scale is 1 / sqrt(variance + eps).
template <class T, class P, class S>
__global__ void __launch_bounds__(256)
    normalize_channels(const T* in, const P* weight, const P* bias, const S* means, const S* spreads, bool variances,
                       double eps, T* out, i64 count, i64 channels, i64 area) {
  typedef Wide<T> W;
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 c = count >> 31 ? i / area % channels : (i64)((u32)i / (u32)area % (u32)channels);
    const W spread = (W)wide(spreads[c]), scale = variances ? 1 / root_of(spread + (W)eps) : spread;
    W y = (wide(in[i]) - (W)wide(means[c])) * scale;
    if (weight) y *= (W)wide(weight[c]);
    if (bias) y += (W)wide(bias[c]);
    out[i] = narrow<T>(y);
  }
}

// Sums g n and g over each channel's part: (gridDim.y, channels) each. There are statistics for each (image, group of
// channels) if `groups` is above 0, else for each channel.
template <class T, class S>
__global__ void __launch_bounds__(256)
    channel_gradients(const T* grad, const T* in, const S* means, const S* spreads, bool variances, double eps, i64 images,
                      i64 channels, i64 area, i64 groups, Wide<T>* of_weight, Wide<T>* of_bias) {
  typedef Wide<T> W;
  const i64 group = groups ? blockIdx.x / (channels / groups) : 0;
  W of_n = 0, of_g = 0;
  each_of_channel(images, channels, area, [&](i64 at, i64 n) {
    const i64 s = groups ? n * groups + group : blockIdx.x;
    const W spread = (W)wide(spreads[s]), scale = variances ? 1 / root_of(spread + (W)eps) : spread, g = wide(grad[at]);
    of_g += g;
    of_n += g * (wide(in[at]) - (W)wide(means[s])) * scale;
  });
  add_both(of_n, of_g);
  if (threadIdx.x == 0) {
    of_weight[blockIdx.y * channels + blockIdx.x] = of_n;
    of_bias[blockIdx.y * channels + blockIdx.x] = of_g;
  }
}

// The gradient of a batch norm's input, from the sums of g n and of g. These are null with given statistics, which do
// not depend on the input.
template <class T, class P, class S>
__global__ void __launch_bounds__(256)
    normalize_channels_backward(const T* grad, const T* in, const P* weight, const S* means, const S* spreads,
                                bool variances, double eps, const Wide<T>* of_n, const Wide<T>* of_g, T* to, i64 count,
                                i64 channels, i64 area) {
  typedef Wide<T> W;
  const i64 step = (i64)gridDim.x * blockDim.x;
  const W each = 1 / (W)(count / channels);
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 c = count >> 31 ? i / area % channels : (i64)((u32)i / (u32)area % (u32)channels);
    const W spread = (W)wide(spreads[c]), scale = variances ? 1 / root_of(spread + (W)eps) : spread;
    W x = wide(grad[i]);
    if (of_n) x = x - of_g[c] * each - (wide(in[i]) - (W)wide(means[c])) * scale * (of_n[c] * each);
    x *= scale;
    if (weight) x *= (W)wide(weight[c]);
    to[i] = narrow<T>(x);
  }
}
