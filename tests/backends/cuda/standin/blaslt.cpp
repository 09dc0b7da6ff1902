// libcublasLt.so.13 for tests: products with a bias, from descriptions, layouts and algorithms, over memory of the
// host. It refuses the same calls as NVIDIA's, and more: a description belongs to one thread, depths of 13 have an
// error for a heuristic, depths of 17 have no heuristic, and depths of 19 have an algorithm that is refused when it
// runs. Operands that are less aligned than the heuristic assumed are the error of a device that has loaded from a
// wrong address. Where TF32 may be used, it rounds as TF32 does. It overwrites the requested work space.
// STANDIN_BLASLT_DEFECT=1 adds another element's bias, or 1 to each product of bytes.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "blas.h"

#define API extern "C" __attribute__((visibility("default"))) int

using namespace standin;

namespace {

int calls = 0, searches = 0, refusals = 0;

// `thread` lives as long as its thread.
thread_local const auto thread = std::make_shared<int>();

struct Description {
  int compute, scale, ta = 0, tb = 0;
  uint32_t epilogue = 1;
  const void* bias = nullptr;
  int bias_type = -1;
  std::weak_ptr<int> set_by = {};
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
};
struct Preference {
  uint64_t space = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C and D
};
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t space;
  int status;
  float waves;
  int reserved[4];
};

uint32_t alignment_of(const void* data) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(data) | 256;
  return static_cast<uint32_t>(at & -at);
}

constexpr size_t space_needed = 1 << 20;
uint64_t mix(uint64_t a, uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15 + (a >> 31); }

// Returns whether descriptions go together, as every function checks. Sets `key` to a number for the problem.
int fit(const Handle* h, const Description* d, const Layout* a, const Layout* b, const Layout* c, const Layout* to,
        uint64_t* key) {
  if (!h || h->mark != Handle::ours || !d || !a || !b || !c || !to) return invalid;
  const bool wide = to->type == of_double, bytes = to->type == of_int;
  if (to->type != of_float && to->type != of_half && to->type != of_bfloat16 && !wide && !bytes) return unsupported;
  const int type = bytes ? of_byte : to->type;
  if (a->type != type || b->type != type || c->type != to->type) return unsupported;
  if (d->scale != (wide ? of_double : bytes ? of_int : of_float)) return unsupported;
  if (bytes  ? d->compute != in_int
      : wide ? d->compute != in_64
             : d->compute != in_32 && (d->compute != in_tf32 || to->type != of_float))
    return unsupported;
  // Products of bytes are served where A is transposed and B is not, and by sizes of whole words.
  if (bytes && (!d->ta || d->tb || a->leading % 4 || b->leading % 4 || to->rows % 4 || a->rows % 4 || d->epilogue != 1))
    return unsupported;
  const uint64_t m = to->rows, n = to->columns, k = d->ta ? a->rows : a->columns;
  if ((d->ta ? a->columns : a->rows) != m || (d->tb ? b->columns : b->rows) != k || (d->tb ? b->rows : b->columns) != n)
    return invalid;
  if (std::memcmp(c, to, sizeof *c)) return invalid;  // C is D, as in the backend's calls
  for (const Layout* each : {a, b, to})
    if (each->leading < static_cast<int64_t>(each->rows)) return invalid;
  if (d->epilogue == 4 && (!d->bias || (d->bias_type != -1 && d->bias_type != to->type))) return invalid;
  *key = 1;
  for (const uint64_t each :
       {m, n, k, static_cast<uint64_t>(d->ta), static_cast<uint64_t>(d->tb), static_cast<uint64_t>(a->leading),
        static_cast<uint64_t>(b->leading), static_cast<uint64_t>(to->leading), static_cast<uint64_t>(to->type),
        static_cast<uint64_t>(d->compute), static_cast<uint64_t>(d->epilogue)})
    *key = mix(*key, each);
  return success;
}

template <class T>
int set(T& to, const void* from, size_t bytes) {
  if (!from || bytes != sizeof to) return invalid;
  return std::memcpy(&to, from, sizeof to), success;
}

}  // namespace

API cublasLtMatmulDescCreate(Description** out, int compute, int scale) {
  return *out = new Description{compute, scale}, success;
}
API cublasLtMatmulDescDestroy(Description* d) { return delete d, success; }
API cublasLtMatmulDescSetAttribute(Description* d, int which, const void* from, size_t bytes) {
  if (const auto other = d->set_by.lock(); other && other != thread) {
    std::fprintf(stderr, "standin: a description of two threads\n");
    return execution_failed;
  }
  d->set_by = thread;
  if (which == 3) return set(d->ta, from, bytes);
  if (which == 4) return set(d->tb, from, bytes);
  if (which == 7) return set(d->epilogue, from, bytes);
  if (which == 8) return set(d->bias, from, bytes);
  if (which == 26) return set(d->bias_type, from, bytes);
  return invalid;
}
API cublasLtMatrixLayoutCreate(Layout** out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  return *out = new Layout{type, rows, columns, leading}, success;
}
API cublasLtMatrixLayoutDestroy(Layout* l) { return delete l, success; }
API cublasLtMatmulPreferenceCreate(Preference** out) { return *out = new Preference, success; }
API cublasLtMatmulPreferenceDestroy(Preference* p) { return delete p, success; }
API cublasLtMatmulPreferenceSetAttribute(Preference* p, int which, const void* from, size_t bytes) {
  if (which == 1) return set(p->space, from, bytes);
  if (which >= 5 && which <= 8) return set(p->alignment[which - 5], from, bytes);
  return invalid;
}

API cublasLtMatmulAlgoGetHeuristic(const Handle* h, const Description* d, const Layout* a, const Layout* b,
                                   const Layout* c, const Layout* to, const Preference* p, int most, Heuristic* found,
                                   int* count) {
  uint64_t key;
  if (!p || most < 1 || !found || !count) return invalid;
  searches++;
  if (const int wrong = fit(h, d, a, b, c, to, &key)) return wrong;
  const uint64_t depth = d->ta ? a->rows : a->columns;
  *count = 0;
  if (depth == 13) return unsupported;
  if (depth == 17 || p->space < space_needed) return success;
  for (const uint32_t each : p->alignment)
    if (each & (each - 1) || each < static_cast<uint32_t>(to->type == of_int ? 4 : bytes_of(to->type))) return invalid;
  const auto pair = [&](int i) { return uint64_t{p->alignment[i]} << 32 | p->alignment[i + 1]; };
  *found = {{{key, pair(0), pair(2), alignment_of(d->bias), space_needed, depth == 19}}, space_needed, success, 1, {}};
  return *count = 1, success;
}

API cublasLtMatmul(const Handle* h, const Description* d, const void* alpha, const void* A, const Layout* a,
                   const void* B, const Layout* b, const void* beta, const void* C, const Layout* c, void* D,
                   const Layout* to, const Algorithm* chosen, void* space, size_t bytes, void* stream) {
  uint64_t key;
  if (const int wrong = fit(h, d, a, b, c, to, &key)) return wrong;
  if (!alpha || !A || !B || !beta || C != D || !D || !chosen || chosen->data[0] != key) return invalid;
  if (!space || reinterpret_cast<uintptr_t>(space) % 256 || bytes < chosen->data[4]) return invalid;
  if (chosen->data[5]) return refusals++, unsupported;
  const void* operands[] = {A, B, C, D};
  for (int i = 0; i < 4; i++)
    if (alignment_of(operands[i]) < static_cast<uint32_t>(chosen->data[1 + i / 2] >> (i % 2 ? 0 : 32))) {
      std::fprintf(stderr, "standin: operand %d of a product is less aligned than was said\n", i);
      return execution_failed;
    }
  if (d->epilogue == 4 && (alignment_of(d->bias) < chosen->data[3] || alignment_of(d->bias) < 16)) {
    std::fprintf(stderr, "standin: the bias of a product is not aligned\n");
    return execution_failed;
  }
  calls++;
  Product p{d->ta,
            d->tb,
            static_cast<int>(to->rows),
            static_cast<int>(to->columns),
            static_cast<int>(d->ta ? a->rows : a->columns),
            to->type,
            {},
            {},
            A,
            a->leading,
            0,
            B,
            b->leading,
            0,
            D,
            to->leading,
            0,
            1,
            d->epilogue == 4 ? d->bias : nullptr,
            d->compute == in_tf32,
            std::getenv("STANDIN_BLASLT_DEFECT") != nullptr,
            space,
            chosen->data[4]};
  const size_t scale = to->type == of_double ? 8 : 4;
  std::memcpy(p.alpha, alpha, scale);
  std::memcpy(p.beta, beta, scale);
  return put(stream, p);
}

// For tests: the numbers of products that ran, of searches for an algorithm, and of refused algorithms.
API standin_blaslt_calls() { return calls; }
API standin_blaslt_searches() { return searches; }
API standin_blaslt_refusals() { return refusals; }
