// The common part of the stand-ins for cuBLAS and cuBLASLt: handles, elements, and products in columns, as NVIDIA
// documents them.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

extern "C" int standin_on_stream(void* stream, void (*work)(void*), void* with, void (*destroy)(void*));

namespace standin {

enum { of_float = 0, of_double = 1, of_half = 2, of_byte = 3, of_complex = 4, of_wide_complex = 5, of_int = 10 };
enum { of_bfloat16 = 14 };
enum { success = 0, alloc_failed = 3, invalid = 7, execution_failed = 13, unsupported = 15 };
enum { in_32 = 68, in_64 = 70, in_int = 72, in_tf32 = 77 };  // cublasComputeType_t

// A handle of cuBLAS is a handle of cuBLASLt as well.
struct Handle {
  static constexpr uint64_t ours = 0x57a4d11b1a5;
  uint64_t mark = ours;
  void* stream = nullptr;
};

struct BFloat16 {
  uint16_t bits;
  operator float() const {
    const uint32_t u = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
  void operator=(float f) {
    uint32_t u;
    std::memcpy(&u, &f, 4);
    bits = static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1)) >> 16);
  }
};
struct Half {
  _Float16 x;
  operator float() const { return static_cast<float>(x); }
  void operator=(float f) { x = static_cast<_Float16>(f); }
};

inline int bytes_of(int type) {
  if (type == of_byte) return 1;
  return type == of_wide_complex                   ? 16
         : type == of_double || type == of_complex ? 8
         : type == of_float || type == of_int      ? 4
                                                   : 2;
}

// A product that a stream runs later. Everything is copied, but for the memory of the device. `type` is that of the
// output; with int32 the operands are int8. The bias has an element for each row, or is null.
struct Product {
  int ta, tb, m, n, k, type;
  char alpha[16], beta[16];
  const void* a;
  int64_t lda, stride_a;
  const void* b;
  int64_t ldb, stride_b;
  void* c;
  int64_t ldc, stride_c;
  int count;
  const void* bias = nullptr;
  bool rounds_to_tf32 = false, defect = false;  // a defect adds another element's bias, or 1
  void* space = nullptr;
  size_t space_bytes = 0;

  void run() const {
    if (space_bytes) std::memset(space, 0xa5, space_bytes);
    if (type == of_float) run<float, float>();
    if (type == of_int) run<int8_t, uint32_t, int32_t>();  // sums wrap
    if (type == of_double) run<double, double>();
    if (type == of_half) run<Half, float>();
    if (type == of_bfloat16) run<BFloat16, float>();
    if (type == of_complex) run<std::complex<float>, std::complex<float>>();
    if (type == of_wide_complex) run<std::complex<double>, std::complex<double>>();
  }

 private:
  template <class W>
  W rounded(W value) const {
    if constexpr (std::is_same_v<W, float>)
      if (rounds_to_tf32) {
        uint32_t u;
        std::memcpy(&u, &value, 4);
        u = (u + 0x1000u) & ~0x1fffu;
        std::memcpy(&value, &u, 4);
      }
    return value;
  }
  template <class T, class W, class R = T>
  void run() const {
    W by, kept;
    std::memcpy(&by, alpha, sizeof by);
    std::memcpy(&kept, beta, sizeof kept);
    for (int batch = 0; batch < count; batch++) {
      const T *x = static_cast<const T*>(a) + batch * stride_a, *y = static_cast<const T*>(b) + batch * stride_b;
      R* z = static_cast<R*>(c) + batch * stride_c;
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
          W sum = 0;
          for (int p = 0; p < k; p++)
            sum += rounded(static_cast<W>(x[ta ? i * lda + p : p * lda + i])) *
                   rounded(static_cast<W>(y[tb ? p * ldb + j : j * ldb + p]));
          R& to = z[j * ldc + i];
          W whole = kept == W(0) ? by * sum : by * sum + kept * static_cast<W>(to);
          if constexpr (std::is_same_v<R, int32_t>) whole += defect;
          if (bias) whole += static_cast<W>(static_cast<const T*>(bias)[defect ? (i + 1) % m : i]);
          to = whole;
        }
    }
  }
};

// Runs a product after the work of a stream.
inline int put(void* stream, const Product& product) {
  const auto work = [](void* with) { static_cast<const Product*>(with)->run(); };
  const auto destroy = [](void* with) { delete static_cast<const Product*>(with); };
  return standin_on_stream(stream, work, new Product(product), destroy) ? execution_failed : success;
}

}  // namespace standin
