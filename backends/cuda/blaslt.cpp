// The calls of cuBLASLt, which is opened at run time. Each problem has a plan with the algorithm that the heuristics
// advise, so that a repeated call only looks up its plan. The handle, its stream and its work space are those of
// cuBLAS, so a repeated call allocates nothing and graphs can be captured.
#include "blaslt.h"

#include <atomic>
#include <cstring>

#include "kept.h"
#include "plans.h"

namespace cuda {
namespace {

using cublasLtDescription = struct cublasLtMatmulDescription*;
using cublasLtLayout = struct cublasLtMatrixLayout*;
using cublasLtPreference = struct cublasLtMatmulPreference*;

// Constants of NVIDIA's headers, with their names. Attributes have 4 bytes, but for a pointer and a size.
constexpr int CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4, CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
              CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26;
constexpr int CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8;
constexpr int CUBLASLT_EPILOGUE_BIAS = 4;
constexpr int CUBLAS_COMPUTE_32I = 72;
constexpr int CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_NOT_SUPPORTED = 15;

// The layout of cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t data[8];
};
// The layout of cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96 && offsetof(Heuristic, workspace) == 64 && offsetof(Heuristic, status) == 72);

// X(member, symbol of the library, parameters)
#define CUDA_BLASLT_FUNCTIONS(X)                                                                                 \
  X(create_description, "cublasLtMatmulDescCreate", (cublasLtDescription*, int, int))                            \
  X(describe, "cublasLtMatmulDescSetAttribute", (cublasLtDescription, int, const void*, size_t))                 \
  X(destroy_description, "cublasLtMatmulDescDestroy", (cublasLtDescription))                                     \
  X(create_layout, "cublasLtMatrixLayoutCreate", (cublasLtLayout*, int, uint64_t, uint64_t, int64_t))            \
  X(destroy_layout, "cublasLtMatrixLayoutDestroy", (cublasLtLayout))                                             \
  X(create_preference, "cublasLtMatmulPreferenceCreate", (cublasLtPreference*))                                  \
  X(prefer, "cublasLtMatmulPreferenceSetAttribute", (cublasLtPreference, int, const void*, size_t))              \
  X(destroy_preference, "cublasLtMatmulPreferenceDestroy", (cublasLtPreference))                                 \
  X(advise, "cublasLtMatmulAlgoGetHeuristic",                                                                    \
    (cublasContext*, cublasLtDescription, cublasLtLayout, cublasLtLayout, cublasLtLayout, cublasLtLayout,        \
     cublasLtPreference, int, Heuristic*, int*))                                                                 \
  X(multiply, "cublasLtMatmul",                                                                                  \
    (cublasContext*, cublasLtDescription, const void*, const void*, cublasLtLayout, const void*, cublasLtLayout, \
     const void*, const void*, cublasLtLayout, void*, cublasLtLayout, const Algorithm*, void*, size_t, CUstream))

struct BlasLt {
  CUDA_BLASLT_FUNCTIONS(CUDA_MEMBER)
  bool there = false;

  // Opens the cuBLASLt of cuBLAS's major version, since its calls use the handles of that cuBLAS.
  BlasLt() {
    if (!blas_major()) return;
    SharedLibrary library("libcublasLt.so." + std::to_string(blas_major()));
    CUDA_BLASLT_FUNCTIONS(CUDA_FIND)
    there = library.whole();
  }
};
const BlasLt& blaslt() {
  static const BlasLt opened;
  return opened;
}

// The numbers of a product, as the key of its plan. The output is `rows` by `columns`, stored column by column as
// cuBLASLt requires. With dtype int8 it is int32, and there is no bias.
struct Problem {
  int32_t device, dtype, compute, rows, columns, depth;
  BlasOrder left, right, out;
  int32_t left_alignment, right_alignment, out_alignment;  // alignments of the addresses, in bytes

  bool operator==(const Problem& p) const { return std::memcmp(this, &p, sizeof p) == 0; }
  bool of_bytes() const { return dtype == LAMELLA_INT8; }
  // Return NVIDIA's numbers of the types of the operands, of the output, and of alpha and beta.
  int type() const { return of_bytes() ? CUDA_R_8I : blas_type(dtype); }
  int out_type() const { return of_bytes() ? CUDA_R_32I : blas_type(dtype); }
  int scale_type() const { return of_bytes() ? CUDA_R_32I : dtype == LAMELLA_FLOAT64 ? CUDA_R_64F : CUDA_R_32F; }
};

struct Plan {
  cublasLtLayout left = nullptr, right = nullptr, out = nullptr;
  Algorithm algorithm;
  std::atomic<bool> refused{true};

  Plan() = default;
  Plan(const Plan&) = delete;
  ~Plan() {
    for (const cublasLtLayout each : {left, right, out})
      if (each) blaslt().destroy_layout(each);
  }
};
Plans<Problem, Plan>& plans() {
  static auto* all = new Plans<Problem, Plan>;
  return *all;
}

// A description of a product. It holds the address of the bias, so each thread has its own.
struct Description {
  int32_t dtype, compute, left, right;
  cublasLtDescription made = nullptr;

  int set_bias(const void* bias) const {
    return blaslt().describe(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  }
};

// Returns the thread's description for a problem, or null if cuBLASLt cannot make it.
const Description* description_of(const Problem& p) {
  thread_local Kept<Description> mine;
  Description d = {p.dtype, p.compute, p.left.transposed, p.right.transposed};
  const auto fits = [&](const Description& each) {
    return each.dtype == d.dtype && each.compute == d.compute && each.left == d.left && each.right == d.right;
  };
  if (const Description* found = mine.find(fits)) return found;
  if (blaslt().create_description(&d.made, d.compute, p.scale_type())) return nullptr;
  const auto set = [&](int attribute, int32_t value) {
    return blaslt().describe(d.made, attribute, &value, sizeof value) == 0;
  };
  const auto set_bias_kind = [&] {
    return set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS) &&
           set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.type());
  };
  if (set(CUBLASLT_MATMUL_DESC_TRANSA, d.left) && set(CUBLASLT_MATMUL_DESC_TRANSB, d.right) &&
      (p.of_bytes() || set_bias_kind()))
    return mine.add(d);
  blaslt().destroy_description(d.made);
  return nullptr;
}

constexpr uintptr_t alignment_most = 16;  // bytes of the widest word that a kernel loads
int32_t alignment_of(const void* data) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(data) | alignment_most;
  return static_cast<int32_t>(at & -at);
}

bool lay_out(cublasLtLayout* to, int type, const BlasOrder& order, int32_t rows, int32_t columns) {
  if (order.transposed) std::swap(rows, columns);
  return blaslt().create_layout(to, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), order.leading) ==
         0;
}

// Sets the plan's algorithm to the first one that the heuristics advise, so that results are the same each time. The
// heuristics run nothing, so a plan can be made while a graph is captured. Without a bias `bias` is null.
void choose(const BlasHandle& h, const Problem& p, const Description& d, const void* bias, Plan& plan) {
  if (!lay_out(&plan.left, p.type(), p.left, p.rows, p.depth) ||
      !lay_out(&plan.right, p.type(), p.right, p.depth, p.columns) ||
      !lay_out(&plan.out, p.out_type(), p.out, p.rows, p.columns))
    return;
  cublasLtPreference preference = nullptr;
  if (blaslt().create_preference(&preference)) return;
  const std::unique_ptr<cublasLtMatmulPreference, int (*)(cublasLtPreference)> owner(preference,
                                                                                     blaslt().destroy_preference);
  const uint64_t space = blas_workspace_bytes;
  bool fine = !blaslt().prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &space, sizeof space);
  const auto align = [&](int attribute, int32_t bytes) {
    const auto value = static_cast<uint32_t>(bytes);
    fine = fine && !blaslt().prefer(preference, attribute, &value, sizeof value);
  };
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.left_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.right_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.out_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.out_alignment);
  // The heuristics take the alignment of the bias from its address, and read nothing there. `least` is an address that
  // is no more aligned than any later bias.
  const uintptr_t least = (reinterpret_cast<uintptr_t>(bias) & ~uintptr_t{255}) | alignment_most;
  if (!fine || (bias && d.set_bias(reinterpret_cast<const void*>(least)))) return;
  Heuristic found{};
  int count = 0;
  if (blaslt().advise(h.handle, d.made, plan.left, plan.right, plan.out, plan.out, preference, 1, &found, &count) ||
      !count || found.status || found.workspace > blas_workspace_bytes)
    return;
  plan.algorithm = found.algorithm;
  plan.refused = false;
}

// Returns whether a status means that cuBLASLt does not support the problem. This is no error of the caller, whose
// arguments were checked.
bool refuses(int status) {
  return status == CUBLAS_STATUS_INVALID_VALUE || status == CUBLAS_STATUS_ARCH_MISMATCH ||
         status == CUBLAS_STATUS_NOT_SUPPORTED;
}

// Computes out = left right, with a bias for each row if `bias` is not null.
lamella_status run(const Problem& p, const void* left, const void* right, void* out, const void* bias, bool* done) {
  const BlasHandle* h;
  if (lamella_status st = blas_handle(p.device, &h)) return st;
  const Description* d = description_of(p);
  if (!d) return LAMELLA_OK;
  std::shared_ptr<Plan> plan = plans().find(p);
  if (!plan) {
    plan = std::make_shared<Plan>();
    choose(*h, p, *d, bias, *plan);
    plan = plans().keep(p, std::move(plan));
  }
  if (plan->refused.load(std::memory_order_relaxed)) return LAMELLA_OK;
  static constexpr struct {
    float floats[2] = {1, 0};
    double doubles[2] = {1, 0};
    int32_t integers[2] = {1, 0};
  } ones;
  const int kind = p.scale_type();
  const void *one = ones.floats, *zero = ones.floats + 1;
  if (kind == CUDA_R_64F) one = ones.doubles, zero = ones.doubles + 1;
  if (kind == CUDA_R_32I) one = ones.integers, zero = ones.integers + 1;
  int status = bias ? d->set_bias(bias) : 0;
  if (!status)
    status = blaslt().multiply(h->handle, d->made, one, left, plan->left, right, plan->right, zero, out, plan->out, out,
                               plan->out, &plan->algorithm, reinterpret_cast<void*>(h->workspace), blas_workspace_bytes,
                               h->stream);
  if (status && !refuses(status))
    return fail(LAMELLA_RUNTIME_ERROR, lamella::detail::text("cuda: cuBLASLt: cublasLtMatmul: status ", status));
  if (status) plan->refused.store(true, std::memory_order_relaxed);
  *done = !status;
  return LAMELLA_OK;
}

int32_t number(int64_t n) { return static_cast<int32_t>(n); }

}  // namespace

// cuBLASLt reads matrices column by column. So it computes out^T = b^T a^T, in which the bias is a column.
lamella_status blaslt_multiply(int device, int dtype, int64_t rows, int64_t columns, int64_t depth, const BlasMatrix& a,
                               const BlasMatrix& b, const BlasMatrix& out, const void* bias, bool* done) {
  *done = false;
  // cuBLASLt reads the bias by words of 16 bytes. Products with one column or a depth of 1 are left to cuBLAS.
  if (dtype < LAMELLA_FLOAT16 || dtype > LAMELLA_FLOAT64 || columns == 1 || depth == 1 ||
      reinterpret_cast<uintptr_t>(bias) % alignment_most || !blas_has_rows(out, rows, columns) || !blaslt().there)
    return LAMELLA_OK;
  const Problem p = {device,
                     dtype,
                     blas_compute_type(dtype),
                     number(columns),
                     number(rows),
                     number(depth),
                     blas_order(b, depth, columns),
                     blas_order(a, rows, depth),
                     blas_order(out, rows, columns),
                     alignment_of(b.data),
                     alignment_of(a.data),
                     alignment_of(out.data)};
  return run(p, b.data, a.data, out.data, bias, done);
}

bool blaslt_multiplies_bytes(int64_t rows, int64_t columns, int64_t depth, const void* b) {
  const auto fits = [](int64_t n) { return n < INT32_MAX; };
  // Matrix instructions may saturate, where the operators wrap. Up to this depth no sum leaves int32.
  constexpr int64_t most_depth = (int64_t{1} << 31) / (128 * 128) - 1;
  return depth && depth <= most_depth && depth % 8 == 0 && columns % 8 == 0 && fits(rows) && fits(columns) &&
         fits(depth) && reinterpret_cast<uintptr_t>(b) % 4 == 0 && blaslt().there;
}

lamella_status blaslt_multiply_bytes(int device, int64_t rows, int64_t columns, int64_t depth, const void* a,
                                     const void* b, void* out, bool* done) {
  *done = false;
  if (reinterpret_cast<uintptr_t>(a) % 4) return LAMELLA_OK;
  const Problem p = {device,
                     LAMELLA_INT8,
                     CUBLAS_COMPUTE_32I,
                     number(columns),
                     number(rows),
                     number(depth),
                     {CUBLAS_OP_T, number(depth)},
                     {CUBLAS_OP_N, number(depth)},
                     {CUBLAS_OP_N, number(columns)},
                     alignment_of(b),
                     alignment_of(a),
                     alignment_of(out)};
  return run(p, b, a, out, nullptr, done);
}

}  // namespace cuda
