// mm and bmm: tiny ones by a loop, float32 by oneDNN in panels that we hand to the threads, the rest by blocked loops.
#include <lattis/half.h>

#include <algorithm>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

struct Matrix {
  char* data;
  int64_t rows, columns, row_stride, column_stride;  // strides in elements
};

Matrix matrix(const lattis_tensor* t) {
  int d = t->dl.ndim - 2;
  return {static_cast<char*>(t->dl.data), t->dl.shape[d], t->dl.shape[d + 1], t->dl.strides[d], t->dl.strides[d + 1]};
}

template <class T>
void tiny(const Matrix& a, const Matrix& b, const Matrix& c) {
  auto *x = reinterpret_cast<const T*>(a.data), *y = reinterpret_cast<const T*>(b.data);
  auto* z = reinterpret_cast<T*>(c.data);
  for (int64_t i = 0; i < c.rows; i++)
    for (int64_t j = 0; j < c.columns; j++) {
      T sum = 0;
      for (int64_t k = 0; k < a.columns; k++)
        sum =
            static_cast<T>(sum + x[i * a.row_stride + k * a.column_stride] * y[k * b.row_stride + j * b.column_stride]);
      z[i * c.row_stride + j * c.column_stride] = sum;
    }
}

// Rows [begin, end) of c, all operands with unit column stride: tiles of b stay in cache, the inner loop vectorizes.
template <class T>
void blocked(const Matrix& a, const Matrix& b, const Matrix& c, int64_t begin, int64_t end) {
  constexpr int64_t tile_k = 128, tile_n = 256;
  auto *x = reinterpret_cast<const T*>(a.data), *y = reinterpret_cast<const T*>(b.data);
  auto* z = reinterpret_cast<T*>(c.data);
  for (int64_t i = begin; i < end; i++) std::fill_n(z + i * c.row_stride, c.columns, T(0));
  for (int64_t k0 = 0; k0 < a.columns; k0 += tile_k)
    for (int64_t j0 = 0; j0 < c.columns; j0 += tile_n) {
      int64_t kn = std::min(k0 + tile_k, a.columns), jn = std::min(j0 + tile_n, c.columns);
      for (int64_t i = begin; i < end; i++)
        for (int64_t k = k0; k < kn; k++) {
          T factor = x[i * a.row_stride + k];
          const T* row = y + k * b.row_stride;
          T* out = z + i * c.row_stride;
          for (int64_t j = j0; j < jn; j++) out[j] = static_cast<T>(out[j] + factor * row[j]);
        }
    }
}

// Rows or columns of one operand lie without gaps: BLAS can read it.
bool blas_layout(const Matrix& m, bool* transposed, int64_t* ld) {
  if (m.column_stride == 1 || m.columns == 1) {
    *transposed = false;
    *ld = std::max({m.row_stride, m.columns, int64_t{1}});
    return m.rows == 1 || m.row_stride >= m.columns;
  }
  if (m.row_stride == 1 || m.rows == 1) {
    *transposed = true;
    *ld = std::max({m.column_stride, m.rows, int64_t{1}});
    return m.columns == 1 || m.column_stride >= m.rows;
  }
  return false;
}

// One float32 product: rows are cut among the threads, and into panels of about 20 ms so that Ctrl-C is heard.
lattis_status sgemm(const Matrix& a, const Matrix& b, const Matrix& c) {
  Gemm g{
      c.rows, c.columns, a.columns, nullptr, false, 0, nullptr, false, 0, nullptr, std::max(c.row_stride, c.columns)};
  if (!blas_layout(a, &g.a_transposed, &g.lda) || !blas_layout(b, &g.b_transposed, &g.ldb))
    return fail(LATTIS_RUNTIME_ERROR, "mm: an operand has no BLAS layout");
  double row_flops = 2.0 * static_cast<double>(c.columns) * static_cast<double>(a.columns);
  auto panel = static_cast<int64_t>(std::max(1.0, 2e9 / row_flops));
  auto smallest = static_cast<int64_t>(std::max(1.0, 2e7 / row_flops));  // about 0.2 ms
  return parallel_for(0, c.rows, smallest, [&](int64_t begin, int64_t end) -> lattis_status {
    for (int64_t i = begin; i < end; i += panel) {
      Gemm part = g;
      part.m = std::min(panel, end - i);
      part.a = reinterpret_cast<const float*>(a.data) + i * (g.a_transposed ? 1 : g.lda);
      part.b = reinterpret_cast<const float*>(b.data);
      part.c = reinterpret_cast<float*>(c.data) + i * g.ldc;
      if (!onednn_sgemm(part)) return fail(LATTIS_RUNTIME_ERROR, "mm: oneDNN reports an error");
      if (end - i > panel)
        if (lattis_status st = api().check_interrupt()) return st;
    }
    return LATTIS_OK;
  });
}

template <class T>
lattis_status by_rows(const Matrix& a, const Matrix& b, const Matrix& c) {
  int64_t smallest = std::max<int64_t>(1, 200000 / std::max<int64_t>(1, a.columns * c.columns));
  return parallel_for(0, c.rows, smallest, [&](int64_t begin, int64_t end) -> lattis_status {
    blocked<T>(a, b, c, begin, end);
    return LATTIS_OK;
  });
}

template <class T>
lattis_status multiply(const Matrix& a, const Matrix& b, const Matrix& c) {
  if (c.rows == 0 || c.columns == 0) return LATTIS_OK;
  if (a.columns == 0 || c.rows * c.columns * a.columns <= 4096) {
    tiny<T>(a, b, c);
    return LATTIS_OK;
  }
  if constexpr (std::is_same_v<T, float>)
    if (onednn_available()) return sgemm(a, b, c);
  return by_rows<T>(a, b, c);
}

// A copy in plain layout and another dtype.
lattis_status converted(const lattis_tensor* t, int dtype, Tensor* out) {
  lattis_tensor* raw;
  if (lattis_status st =
          api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
    return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

bool plain(const Matrix& m, bool transposes) {
  bool transposed;
  int64_t ld;
  if (transposes) return blas_layout(m, &transposed, &ld);
  return m.column_stride == 1 || m.columns == 1;
}

lattis_status one_product(int dtype, const Matrix& x, const Matrix& y, const Matrix& z) {
  switch (dtype) {
    case LATTIS_FLOAT32:
      return multiply<float>(x, y, z);
    case LATTIS_FLOAT64:
      return multiply<double>(x, y, z);
    case LATTIS_UINT8:
      return multiply<uint8_t>(x, y, z);
    case LATTIS_INT8:
      return multiply<int8_t>(x, y, z);
    case LATTIS_INT16:
      return multiply<int16_t>(x, y, z);
    case LATTIS_INT32:
      return multiply<int32_t>(x, y, z);
    case LATTIS_INT64:
      return multiply<int64_t>(x, y, z);
    default:
      return fail(LATTIS_NOT_IMPLEMENTED, "mm: no product for this dtype");
  }
}

// All batches; small ones go to the threads whole (a nested parallel_for runs on its own thread).
lattis_status product(const lattis_tensor* a, const lattis_tensor* b, const lattis_tensor* c) {
  if (c->dl.ndim == 2) return one_product(c->dtype, matrix(a), matrix(b), matrix(c));
  const Matrix x0 = matrix(a), y0 = matrix(b), z0 = matrix(c);
  double flops = 2.0 * static_cast<double>(z0.rows) * static_cast<double>(z0.columns) * static_cast<double>(x0.columns);
  int64_t batches = c->dl.shape[0], together = std::max<int64_t>(1, static_cast<int64_t>(2e7 / std::max(flops, 1.0)));
  auto range = [&](int64_t begin, int64_t end) -> lattis_status {
    for (int64_t i = begin; i < end; i++) {
      Matrix x = x0, y = y0, z = z0;
      x.data += i * a->dl.strides[0] * itemsize(a);
      y.data += i * b->dl.strides[0] * itemsize(b);
      z.data += i * c->dl.strides[0] * itemsize(c);
      if (lattis_status st = one_product(c->dtype, x, y, z)) return st;
    }
    return LATTIS_OK;
  };
  if (flops < 1e9) return parallel_for(0, batches, together, range);
  for (int64_t i = 0; i < batches; i++) {  // large ones use all threads, one after another
    if (lattis_status st = range(i, i + 1)) return st;
    if (lattis_status st = api().check_interrupt()) return st;
  }
  return LATTIS_OK;
}

lattis_status matmul_kernel(lattis_frame* f, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *a = args[0].as.tensor, *b = args[1].as.tensor, *c = rets[0].as.tensor;
  int compute = c->dtype;
  if (compute == LATTIS_FLOAT16 || compute == LATTIS_BFLOAT16) compute = LATTIS_FLOAT32;
  if (compute == LATTIS_BOOL || (compute >= LATTIS_UINT16 && compute <= LATTIS_UINT64) || compute >= LATTIS_COMPLEX64)
    return fail(LATTIS_NOT_IMPLEMENTED,
                std::string(api().operator_name(f->op)).substr(6) +
                    ": argument 'self': the cpu backend has no product for this dtype yet; convert with .to(...)");
  Tensor x, y, z;
  bool small = c->numel * a->dl.shape[a->dl.ndim - 1] <= 4096;
  if (small && compute == c->dtype) return product(a, b, c);
  bool transposes = compute == LATTIS_FLOAT32 && onednn_available();
  if (a->dtype != compute || !plain(matrix(a), transposes)) {
    if (lattis_status st = converted(a, compute, &x)) return st;
    a = x.get();
  }
  if (b->dtype != compute || !plain(matrix(b), transposes)) {
    if (lattis_status st = converted(b, compute, &y)) return st;
    b = y.get();
  }
  Matrix m = matrix(c);
  bool direct =
      c->dtype == compute && (m.column_stride == 1 || m.columns == 1) && (m.rows == 1 || m.row_stride >= m.columns);
  if (direct) return product(a, b, c);
  lattis_tensor* raw;
  if (lattis_status st =
          api().tensor_empty(c->dl.ndim, c->dl.shape, nullptr, static_cast<uint8_t>(compute), device_of(c), &raw))
    return st;
  z = Tensor::steal(raw);
  if (lattis_status st = product(a, b, raw)) return st;
  return copy_into(c, raw);
}

}  // namespace

void register_matmul(Library& m) { m.impl("mm", "cpu", matmul_kernel).impl("bmm", "cpu", matmul_kernel); }

}  // namespace lattis::cpu
