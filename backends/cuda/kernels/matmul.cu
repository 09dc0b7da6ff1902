// Products of strided matrices of any dtype, with a matrix added, for all that cuBLAS does not compute: see matmul.cpp.
#include "matmul.h"
#include "product.cuh"

// A matrix by its rows, as the left operand, or by its columns, as the right operand.
template <class T>
struct Strided {
  typedef const T* Cursor;
  const T* data;
  i64 row, depth;
  bool depth_first;
  __device__ Cursor begin(i64 i) const { return data + i * row; }
  __device__ Wide<T> get(const Cursor& at, i64 k) const { return wide(at[k * depth]); }
};

// out = alpha * (a b) + beta * added. `added` may have strides of 0; it is not read if it is null.
template <class T, class R, int Side>
__global__ void __launch_bounds__(256)
    multiply(const T* a, MatrixStrides of_a, const T* b, MatrixStrides of_b, R* out, MatrixStrides of_out,
             const R* added, MatrixStrides of_added, Wide<R> alpha, Wide<R> beta, i64 rows, i64 columns, i64 depth) {
  const Tile tile = tile_of_block<Side>(rows, columns);
  const Strided<T> x = {a + tile.batch * of_a.batch, of_a.row, of_a.column, of_a.column == 1};
  const Strided<T> y = {b + tile.batch * of_b.batch, of_b.column, of_b.row, of_b.row == 1};
  multiply_tile<Wide<R>, Side>(x, y, rows, columns, 0, depth, tile.row, tile.column,
                               [&](i64 i, i64 j, Wide<R> sum) {
                                 sum = alpha * sum;
                                 if (added)
                                   sum = sum + beta * wide(added[tile.batch * of_added.batch + i * of_added.row +
                                                                 j * of_added.column]);
                                 out[tile.batch * of_out.batch + i * of_out.row + j * of_out.column] = narrow<R>(sum);
                               });
}

// out = alpha * out + beta * added, after cuBLAS has written the product. `added` may have strides of 0, as a bias, or
// be null.
template <class T>
__global__ void __launch_bounds__(256)
    add_to(T* out, MatrixStrides of_out, const T* added, MatrixStrides of_added, Wide<T> alpha, Wide<T> beta, i64 batches, i64 rows,
           i64 columns) {
  const i64 count = batches * rows * columns, step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 j = i % columns, r = i / columns % rows, b = i / columns / rows;
    T& to = out[b * of_out.batch + r * of_out.row + j * of_out.column];
    Wide<T> sum = alpha * wide(to);
    if (added) sum = sum + beta * wide(added[b * of_added.batch + r * of_added.row + j * of_added.column]);
    to = narrow<T>(sum);
  }
}

// out = alpha * (a x) + beta * added for a vector x, a block for each row. Sums are taken in a fixed order.
template <class T>
__global__ void __launch_bounds__(256)
    multiply_vector(const T* a, i64 row, i64 column, const T* x, i64 step, T* out, i64 out_step, const T* added,
                    i64 added_step, Wide<T> alpha, Wide<T> beta, i64 rows, i64 columns) {
  typedef Wide<T> W;
  __shared__ W sums[256];
  for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
    W sum{};
    for (i64 k = threadIdx.x; k < columns; k += 256) sum = sum + wide(a[r * row + k * column]) * wide(x[k * step]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      W total = alpha * sums[0];
      if (added) total = total + beta * wide(added[r * added_step]);
      out[r * out_step] = narrow<T>(total);
    }
    __syncthreads();
  }
}
