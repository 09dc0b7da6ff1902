// Rows in order: a sort of short rows in shared memory, and the steps before and after the radix sort of long rows.
#include "order.cuh"
#include "radix.cuh"

// Writes the elements of all rows, one row after the other, as keys of the requested order.
template <class T>
__global__ void __launch_bounds__(256) sort_keys(const T* in, SortRows rows, i64 count, bool descending, typename Order<T>::Key* keys) {
  typedef typename Order<T>::Key Key;
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 row = i / rows.length, k = i - row * rows.length;
    const Key key = Order<T>::of(in[row_begin(rows, row) + k * rows.stride]);
    keys[i] = descending ? (Key)~key : key;
  }
}

// Writes the rows of elements, from the elements' numbers, as the keys of further passes.
template <class Place, class Key>
__global__ void __launch_bounds__(256) sort_rows(const Place* numbers, i64 count, i64 length, Key* keys) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) keys[i] = (Key)((i64)numbers[i] / length);
}

// Writes the first `kept` elements of each row, by the sorted numbers: values and places in the row.
template <class T, class Place>
__global__ void __launch_bounds__(256)
    sort_results(const T* in, SortRows rows, const Place* numbers, i64 count, i64 kept, T* values, SortRows of_values,
                 i64* indices, SortRows of_indices) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 row = i / kept, k = i - row * kept;
    const i64 from = (i64)numbers[row * rows.length + k] - row * rows.length;
    values[row_begin(of_values, row) + k * of_values.stride] = in[row_begin(rows, row) + from * rows.stride];
    indices[row_begin(of_indices, row) + k * of_indices.stride] = from;
  }
}

// A block sorts a short row by a bitonic network whose comparisons never find equals: places decide between equal keys.
// `size` is a power of two, at least the length; shared memory holds as many keys and places. `given` has the places of
// elements that were chosen from longer rows, row by row, or is null.
template <class T>
__global__ void __launch_bounds__(512) sort_short(const T* in, const u32* given, SortRows rows, i64 count, i64 kept, bool descending, int size, T* values,
                           SortRows of_values, i64* indices, SortRows of_indices) {
  typedef typename Order<T>::Key Key;
  SHARED_BYTES(Key, keys);
  u32* places = (u32*)(keys + size);
  for (i64 row = blockIdx.x; row < count; row += gridDim.x) {
    const T* from = in + row_begin(rows, row);
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
      const bool there = i < rows.length;
      const Key key = there ? Order<T>::of(from[i * rows.stride]) : Key(0);
      keys[i] = !there ? (Key)~Key(0) : descending ? (Key)~key : key;
      places[i] = i;
    }
    __syncthreads();
    for (int run = 2; run <= size; run *= 2)
      for (int apart = run / 2; apart > 0; apart /= 2) {
        for (int p = threadIdx.x; p < size / 2; p += blockDim.x) {
          const int i = p / apart * 2 * apart + p % apart, j = i + apart;
          const bool up = (i & run) == 0, later = keys[i] > keys[j] || (keys[i] == keys[j] && places[i] > places[j]);
          if (later == up) {
            const Key key = keys[i];
            const u32 place = places[i];
            keys[i] = keys[j], places[i] = places[j];
            keys[j] = key, places[j] = place;
          }
        }
        __syncthreads();
      }
    for (int k = threadIdx.x; k < kept; k += blockDim.x) {
      values[row_begin(of_values, row) + k * of_values.stride] = from[places[k] * rows.stride];
      indices[row_begin(of_indices, row) + k * of_indices.stride] = given ? given[row * rows.length + places[k]] : places[k];
    }
    __syncthreads();
  }
}
