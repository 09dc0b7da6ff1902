// Rows in order: keys whose unsigned order is that of the elements, a sort of short rows in shared memory, and what goes
// before and behind the radix sort of long ones.
#include "radix.cuh"

// Keys of the order in which NaN is larger than all, and -0 and 0 are equal.
template <class T>
struct Order;
#define LAMELLA_UNSIGNED_ORDER(T, K)                         \
  template <>                                                \
  struct Order<T> {                                          \
    typedef K Key;                                           \
    static __device__ Key of(T x) { return x; }              \
  };
#define LAMELLA_SIGNED_ORDER(T, U, K)                                              \
  template <>                                                                      \
  struct Order<T> {                                                                \
    typedef K Key;                                                                 \
    static __device__ Key of(T x) { return (U)((U)x ^ (U)(U(1) << (sizeof(U) * 8 - 1))); } \
  };
LAMELLA_UNSIGNED_ORDER(bool, u32)
LAMELLA_UNSIGNED_ORDER(u8, u32)
LAMELLA_UNSIGNED_ORDER(u16, u32)
LAMELLA_UNSIGNED_ORDER(u32, u32)
LAMELLA_UNSIGNED_ORDER(u64, u64)
LAMELLA_SIGNED_ORDER(i8, u8, u32)
LAMELLA_SIGNED_ORDER(i16, u16, u32)
LAMELLA_SIGNED_ORDER(i32, u32, u32)
LAMELLA_SIGNED_ORDER(i64, u64, u64)

// `bits` are those of a float of this width, `infinite` those of its infinity.
template <class U>
DEVICE U float_order(U bits, U infinite) {
  const U top = U(1) << (sizeof(U) * 8 - 1), size = bits & (U)~top;
  if (size > infinite) return (U)~U(0);
  if (size == 0) return top;
  return bits & top ? (U)~bits : (U)(bits | top);
}
template <>
struct Order<float16> {
  typedef u32 Key;
  static __device__ Key of(float16 x) { return float_order<u16>(x.bits, 0x7c00); }
};
template <>
struct Order<bfloat16> {
  typedef u32 Key;
  static __device__ Key of(bfloat16 x) { return float_order<u16>(x.bits, 0x7f80); }
};
template <>
struct Order<float> {
  typedef u32 Key;
  static __device__ Key of(float x) { return float_order<u32>(bits_as<u32>(x), 0x7f800000u); }
};
template <>
struct Order<double> {
  typedef u64 Key;
  static __device__ Key of(double x) { return float_order<u64>(bits_as<u64>(x), 0x7ff0000000000000ull); }
};

// Where a row of a strided tensor begins, whose other dimensions are `outer` and `inner` around the sorted one.
struct Rows {
  i64 length, inner;               // elements of a row; rows side by side
  i64 outer_stride, inner_stride;  // of rows
  i64 stride;                      // of the elements of a row
};
DEVICE i64 row_begin(const Rows& r, i64 row) {
  return row / r.inner * r.outer_stride + row % r.inner * r.inner_stride;
}

// Element i of all rows, one behind the other, as a key of the wanted order.
template <class T>
__global__ void __launch_bounds__(256) sort_keys(const T* in, Rows rows, i64 count, bool descending, typename Order<T>::Key* keys) {
  typedef typename Order<T>::Key Key;
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 row = i / rows.length, k = i - row * rows.length;
    const Key key = Order<T>::of(in[row_begin(rows, row) + k * rows.stride]);
    keys[i] = descending ? (Key)~key : key;
  }
}

// The rows of elements by their numbers, as the keys of further passes.
template <class Place, class Key>
__global__ void __launch_bounds__(256) sort_rows(const Place* numbers, i64 count, i64 length, Key* keys) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) keys[i] = (Key)((i64)numbers[i] / length);
}

// The first `kept` elements of each row by the sorted numbers: values and places in the row.
template <class T, class Place>
__global__ void __launch_bounds__(256)
    sort_results(const T* in, Rows rows, const Place* numbers, i64 count, i64 kept, T* values, Rows of_values,
                 i64* indices, Rows of_indices) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const i64 row = i / kept, k = i - row * kept;
    const i64 from = (i64)numbers[row * rows.length + k] - row * rows.length;
    values[row_begin(of_values, row) + k * of_values.stride] = in[row_begin(rows, row) + from * rows.stride];
    indices[row_begin(of_indices, row) + k * of_indices.stride] = from;
  }
}

// One short row a block, by a bitonic network whose comparisons never find equals: places decide between equal keys.
// `size` is a power of two, at least the length; shared memory holds as many keys and places.
template <class T>
__global__ void __launch_bounds__(512) sort_short(const T* in, Rows rows, i64 count, i64 kept, bool descending, int size, T* values,
                           Rows of_values, i64* indices, Rows of_indices) {
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
      indices[row_begin(of_indices, row) + k * of_indices.stride] = places[k];
    }
    __syncthreads();
  }
}
