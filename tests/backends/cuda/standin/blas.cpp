// libcublas.so.13 for tests: the one function that multiplies, over memory of the host, in columns as NVIDIA documents
// it. It stands in a folder of its own, so that a test chooses whether there is a cuBLAS.
#include <complex>
#include <cstdint>
#include <cstring>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
int calls = 0;

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

template <class T, class W>
void multiply(int ta, int tb, int m, int n, int k, const void* alpha, const void* A, int lda, long long sa,
              const void* B, int ldb, long long sb, const void* beta, void* C, int ldc, long long sc, int count) {
  const W by = *static_cast<const W*>(alpha), kept = *static_cast<const W*>(beta);
  for (int b = 0; b < count; b++) {
    const T *x = static_cast<const T*>(A) + b * sa, *y = static_cast<const T*>(B) + b * sb;
    T* z = static_cast<T*>(C) + b * sc;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        W sum = 0;
        for (int p = 0; p < k; p++)
          sum += static_cast<W>(x[ta ? i * static_cast<long long>(lda) + p : p * static_cast<long long>(lda) + i]) *
                 static_cast<W>(y[tb ? p * static_cast<long long>(ldb) + j : j * static_cast<long long>(ldb) + p]);
        T& to = z[j * static_cast<long long>(ldc) + i];
        to = kept == W(0) ? by * sum : by * sum + kept * static_cast<W>(to);
      }
  }
}
}  // namespace

extern "C" int standin_on_stream(void* stream, void (*work)(void*), void* with);

namespace {
void* current_stream = nullptr;

struct Call {
  int ta, tb, m, n, k;
  char alpha[16], beta[16];
  const void* A;
  int type, lda;
  long long sa;
  const void* B;
  int ldb;
  long long sb;
  void* C;
  int ldc;
  long long sc;
  int count;

  template <class T, class W>
  void run() const {
    multiply<T, W>(ta, tb, m, n, k, alpha, A, lda, sa, B, ldb, sb, beta, C, ldc, sc, count);
  }
};

void run(void* with) {
  const Call* c = static_cast<const Call*>(with);
  if (c->type == 0) c->run<float, float>();
  if (c->type == 1) c->run<double, double>();
  if (c->type == 2) c->run<Half, float>();
  if (c->type == 14) c->run<BFloat16, float>();
  if (c->type == 4) c->run<std::complex<float>, std::complex<float>>();
  if (c->type == 5) c->run<std::complex<double>, std::complex<double>>();
  delete c;
}
}  // namespace

API cublasCreate_v2(void** out) {
  static int one;
  return *out = &one, 0;
}
API cublasDestroy_v2(void*) { return 0; }
API cublasSetStream_v2(void*, void* stream) { return current_stream = stream, 0; }
API cublasSetWorkspace_v2(void*, void* memory, size_t) { return memory ? 0 : 7; }
API standin_blas_calls() { return calls; }

API cublasGemmStridedBatchedEx(void*, int ta, int tb, int m, int n, int k, const void* alpha, const void* A, int type_a,
                               int lda, long long sa, const void* B, int type_b, int ldb, long long sb,
                               const void* beta, void* C, int type_c, int ldc, long long sc, int count, int compute,
                               int) {
  // What the library refuses: leading sizes below what they lead, and types that do not go together.
  const bool wide = type_a == 1 || type_a == 5;
  if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || type_a != type_b || type_a != type_c) return 7;
  if (wide ? compute != 70 : compute != 68 && compute != 77) return 15;
  calls++;
  auto* c = new Call{ta, tb, m, n, k, {}, {}, A, type_a, lda, sa, B, ldb, sb, C, ldc, sc, count};
  const size_t bytes = type_a == 5 ? 16 : type_a == 1 || type_a == 4 ? 8 : 4;
  std::memcpy(c->alpha, alpha, bytes);
  std::memcpy(c->beta, beta, bytes);
  return standin_on_stream(current_stream, run, c) ? 13 : 0;
}
