// The names that CUDA C++ has beside C++, for g++. This text comes before a kernel's text. It includes nothing, since
// includes would take most of a compilation's time.
#pragma GCC diagnostic ignored "-Wattributes"
using size_t = decltype(sizeof 0);
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using uintptr_t = unsigned long;

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
// __shared__ is thread_local, since the fibers of a block run on one thread of the host.
#define __shared__ static thread_local
#define SHARED_BYTES(type, name) type* const name = reinterpret_cast<type*>(standin_shared_bytes())
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

struct uint3 {
  unsigned x, y, z;
};
using dim3 = uint3;
struct standin_place {
  uint3 thread, block, block_size, grid_size;
};
extern "C" {
extern thread_local standin_place standin_here __attribute__((tls_model("initial-exec")));
void* standin_shared_bytes();
void standin_barrier(const void* from);
int standin_barrier_count(const void* from, int predicate, int how);
void standin_warp_barrier(const void* from, unsigned mask);
unsigned long long standin_exchange(const void* from, unsigned mask, unsigned long long mine, int lane);
unsigned standin_ballot(const void* from, unsigned mask, int predicate);
void standin_trap();
void standin_sleep(unsigned nanoseconds);
}
#define threadIdx (standin_here.thread)
#define blockIdx (standin_here.block)
#define blockDim (standin_here.block_size)
#define gridDim (standin_here.grid_size)
#define warpSize 32
#define __syncthreads() standin_barrier(__builtin_return_address(0))
#define __syncthreads_count(p) standin_barrier_count(__builtin_return_address(0), (p), 0)
#define __syncthreads_and(p) standin_barrier_count(__builtin_return_address(0), (p), 1)
#define __syncthreads_or(p) standin_barrier_count(__builtin_return_address(0), (p), 2)
#define standin_mask(...) (0xffffffffu __VA_OPT__(, ) __VA_ARGS__)
#define __syncwarp(...) standin_warp_barrier(__builtin_return_address(0), standin_mask(__VA_ARGS__))
#define __ballot_sync(mask, p) standin_ballot(__builtin_return_address(0), mask, !!(p))
#define __any_sync(mask, p) (standin_ballot(__builtin_return_address(0), mask, !!(p)) != 0)
#define __all_sync(mask, p) (standin_ballot(__builtin_return_address(0), mask, !(p)) == 0)
#define __activemask() 0xffffffffu

static inline unsigned standin_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}
template <class T>
static inline T standin_shuffle(const void* from, unsigned mask, T value, int lane) {
  static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = standin_exchange(from, mask, bits, lane);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
// The lane stays within a part of `width` lanes; a thread gets its own value if the lane would be beyond.
template <class T>
static inline T standin_xor(const void* f, unsigned mask, T v, int by, int width = 32) {
  const int mine = standin_lane(), other = mine ^ by;
  return standin_shuffle(f, mask, v, other / width > mine / width ? mine : other);
}
template <class T>
static inline T standin_down(const void* f, unsigned mask, T v, unsigned by, int width = 32) {
  const int mine = standin_lane(), other = mine + static_cast<int>(by);
  return standin_shuffle(f, mask, v, mine % width + static_cast<int>(by) >= width ? mine : other);
}
template <class T>
static inline T standin_up(const void* f, unsigned mask, T v, unsigned by, int width = 32) {
  const int mine = standin_lane(), other = mine - static_cast<int>(by);
  return standin_shuffle(f, mask, v, mine % width < static_cast<int>(by) ? mine : other);
}
template <class T>
static inline T standin_from(const void* f, unsigned mask, T v, int lane, int width = 32) {
  const int mine = standin_lane();
  return standin_shuffle(f, mask, v, mine / width * width + lane % width);
}
#define __shfl_sync(...) standin_from(__builtin_return_address(0), __VA_ARGS__)
#define __shfl_xor_sync(...) standin_xor(__builtin_return_address(0), __VA_ARGS__)
#define __shfl_down_sync(...) standin_down(__builtin_return_address(0), __VA_ARGS__)
#define __shfl_up_sync(...) standin_up(__builtin_return_address(0), __VA_ARGS__)

// Atomics are atomic between threads, since two streams may run at once.
template <class T>
static inline T standin_add(T* p, T v) {
  if constexpr (static_cast<T>(0.5f) == static_cast<T>(0)) {
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  } else {
    using U = decltype([] {
      if constexpr (sizeof(T) == 4)
        return 0u;
      else
        return 0ull;
    }());
    U old = __atomic_load_n(reinterpret_cast<U*>(p), __ATOMIC_RELAXED), next;
    T sum, was;
    do {
      __builtin_memcpy(&was, &old, sizeof was);
      sum = was + v;
      __builtin_memcpy(&next, &sum, sizeof sum);
    } while (
        !__atomic_compare_exchange_n(reinterpret_cast<U*>(p), &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return was;
  }
}
template <class T>
static inline T atomicAdd(T* p, decltype(T() + 0) v) {
  return standin_add(p, static_cast<T>(v));
}
static inline float atomicAdd(float* p, float v) { return standin_add(p, v); }
static inline double atomicAdd(double* p, double v) { return standin_add(p, v); }
template <class T>
static inline T atomicOr(T* p, T v) {
  return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomicAnd(T* p, T v) {
  return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomicXor(T* p, T v) {
  return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomicExch(T* p, T v) {
  return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
template <class T>
static inline T atomicCAS(T* p, T compare, T v) {
  __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
template <class T>
static inline T atomicMax(T* p, T v) {
  T old = *p;
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
template <class T>
static inline T atomicMin(T* p, T v) {
  T old = *p;
  while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned n) { standin_sleep(n); }
static inline void __trap() { standin_trap(); }

// ---- functions and intrinsics ----
#define STANDIN_1(name)                                                   \
  static inline float name##f(float x) { return __builtin_##name##f(x); } \
  static inline double name(double x) { return __builtin_##name(x); }
#define STANDIN_2(name)                                                               \
  static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  static inline double name(double x, double y) { return __builtin_##name(x, y); }
// clang-format would indent a macro that ends without a semicolon anew each time.
// clang-format off
STANDIN_1(exp)
STANDIN_1(exp2) STANDIN_1(expm1) STANDIN_1(log) STANDIN_1(log2) STANDIN_1(log10) STANDIN_1(log1p) STANDIN_1(sin)
    STANDIN_1(cos) STANDIN_1(tan) STANDIN_1(asin) STANDIN_1(acos) STANDIN_1(atan) STANDIN_1(sinh) STANDIN_1(cosh)
        STANDIN_1(tanh) STANDIN_1(asinh) STANDIN_1(acosh) STANDIN_1(atanh) STANDIN_1(erf) STANDIN_1(erfc)
            STANDIN_1(lgamma) STANDIN_1(tgamma) STANDIN_1(sqrt) STANDIN_1(floor) STANDIN_1(ceil) STANDIN_1(trunc)
                STANDIN_1(rint) STANDIN_1(fabs) STANDIN_1(round) STANDIN_1(nearbyint) STANDIN_1(cbrt) STANDIN_2(pow)
                    STANDIN_2(atan2) STANDIN_2(hypot) STANDIN_2(copysign) STANDIN_2(fmod) STANDIN_2(fmax)
                        STANDIN_2(fmin) STANDIN_2(nextafter)
// clang-format on
#undef STANDIN_1
#undef STANDIN_2
                            static inline float fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
static inline double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
static inline double frexp(double x, int* e) { return __builtin_frexp(x, e); }
static inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline void sincosf(float x, float* s, float* c) { *s = __builtin_sinf(x), *c = __builtin_cosf(x); }
static inline void sincos(double x, double* s, double* c) { *s = __builtin_sin(x), *c = __builtin_cos(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline float __int_as_float(int x) {
  float y;
  __builtin_memcpy(&y, &x, 4);
  return y;
}
static inline int __float_as_int(float x) {
  int y;
  __builtin_memcpy(&y, &x, 4);
  return y;
}
static inline float __uint_as_float(unsigned x) {
  float y;
  __builtin_memcpy(&y, &x, 4);
  return y;
}
static inline unsigned __float_as_uint(float x) {
  unsigned y;
  __builtin_memcpy(&y, &x, 4);
  return y;
}
static inline double __longlong_as_double(long long x) {
  double y;
  __builtin_memcpy(&y, &x, 8);
  return y;
}
static inline long long __double_as_longlong(double x) {
  long long y;
  __builtin_memcpy(&y, &x, 8);
  return y;
}
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
  return r;
}
template <class T>
static inline T __ldg(const T* p) {
  return *p;
}
template <class T>
static inline T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
static inline T max(T a, T b) {
  return a < b ? b : a;
}

// The kernels that the program names, with the bytes of their parameters, by which the driver copies arguments.
template <class... P>
struct standin_parameters;
template <class... P>
struct standin_kernel {
  static constexpr unsigned sizes[] = {sizeof(P)..., 0};
};
template <size_t... I>
struct standin_indices {};
template <class... P, size_t... I>
static inline void standin_call(void (*f)(P...), void** a, standin_indices<I...>) {
  (void)a;
  f(*static_cast<P*>(a[I])...);
}
template <class... P>
static inline void standin_run(void (*f)(P...), void** a) {
  standin_call(f, a, standin_indices<__integer_pack(sizeof...(P))...>());
}
template <class... P>
static constexpr const unsigned* standin_sizes(void (*)(P...)) {
  return standin_kernel<P...>::sizes;
}
