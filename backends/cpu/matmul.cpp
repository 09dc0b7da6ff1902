// Products of matrices and vectors, with an optional bias: large float32 products, and large ones of bfloat16 or bytes
// if the processor has AMX, by oneDNN; other products of bfloat16 and of bytes by the tiles of isa/groups.h, the rest
// by the tiles of isa/gemm.cpp.
#include "backends/cpu/matmul.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {

const Gemms& gemms() {
  static const Gemms& chosen = LAMELLA_BY_ISA(gemms)();
  return chosen;
}

// Tests the processor itself, since the instruction belongs to no level of x86-64. Only "x86-64-v4" has the registers.
const GemmKernels* bf16_gemm() {
  static const GemmKernels& chosen = LAMELLA_BY_ISA(bf16_gemm)();
  static const bool there = chosen.multiply && beside_levels() && __builtin_cpu_supports("avx512bf16");
  return there ? &chosen : nullptr;
}

const ByteGemms& byte_gemms() {
  static const ByteGemms& chosen = [&]() -> const ByteGemms& {
    const ByteGemms& vnni = LAMELLA_BY_ISA(vnni_gemms)();
    const bool there = vnni.s8.multiply && beside_levels() && __builtin_cpu_supports("avx512vnni");
    return there ? vnni : LAMELLA_BY_ISA(byte_gemms)();
  }();
  return chosen;
}

bool has_high_bit(const char* bytes, int64_t n) {
  constexpr int64_t step = 64;
  constexpr uint64_t high = 0x8080808080808080;
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    uint64_t words[step / 8], all = 0;
    std::memcpy(words, bytes + i, step);
    for (uint64_t word : words) all |= word;
    if (all & high) return true;
  }
  for (; i < n; i++)
    if (bytes[i] & 0x80) return true;
  return false;
}

namespace {

template <class T>
T element(const Matrix& m, int64_t i, int64_t j) {
  return reinterpret_cast<const T*>(m.data)[i * m.row + j * m.column];
}

// ---- one product in a dtype that tiles compute in: float32, float64, 32 and 64 bit integers -------------------------
//
// bfloat16 as the dtype of a product means operands of bfloat16 with a bias and, unless `narrow`, a result of float32;
// int8 means two operands of int8, uint8 one of uint8 and one of int8, both with a result and a bias of int32.

// A bfloat16: the upper half of a float.
struct BFloat16 {
  uint16_t bits;
  operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }
};

template <class T, class Left = T, class Right = Left>
void tiny(const Matrix& a, const Matrix& b, const Matrix& c, const char* bias) {
  auto* z = reinterpret_cast<T*>(c.data);
  for (int64_t i = 0; i < c.rows; i++)
    for (int64_t j = 0; j < c.columns; j++) {
      T sum = 0;
      for (int64_t k = 0; k < a.columns; k++) sum += T(element<Left>(a, i, k)) * T(element<Right>(b, k, j));
      z[i * c.row + j * c.column] = bias ? sum + reinterpret_cast<const T*>(bias)[j] : sum;
    }
}

const GemmKernels& kernels_of(int dtype) {
  const Gemms& g = gemms();
  if (dtype == LAMELLA_BFLOAT16) return *bf16_gemm();
  if (dtype == LAMELLA_INT8) return byte_gemms().s8;
  if (dtype == LAMELLA_UINT8) return byte_gemms().u8;
  if (dtype == LAMELLA_FLOAT32) return g.f32;
  if (dtype == LAMELLA_FLOAT64) return g.f64;
  return dtype == LAMELLA_INT32 || dtype == LAMELLA_UINT32 ? g.u32 : g.u64;
}

void tiny(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias) {
  if (dtype == LAMELLA_BFLOAT16) return tiny<float, BFloat16>(a, b, c, bias);
  if (dtype == LAMELLA_INT8) return tiny<uint32_t, int8_t>(a, b, c, bias);
  if (dtype == LAMELLA_UINT8) return tiny<uint32_t, uint8_t, int8_t>(a, b, c, bias);
  if (dtype == LAMELLA_FLOAT32) return tiny<float>(a, b, c, bias);
  if (dtype == LAMELLA_FLOAT64) return tiny<double>(a, b, c, bias);
  if (dtype == LAMELLA_INT32 || dtype == LAMELLA_UINT32) return tiny<uint32_t>(a, b, c, bias);
  tiny<uint64_t>(a, b, c, bias);
}

// Returns the bytes of an element of the bias, and of the result unless that is `narrow`.
int64_t size_of(int dtype) {
  const bool wide = dtype == LAMELLA_FLOAT64 || dtype == LAMELLA_INT64 || dtype == LAMELLA_UINT64;
  return wide ? 8 : 4;
}
// Returns the bytes of an element of the operands.
int64_t operand_size(int dtype) {
  if (dtype == LAMELLA_INT8 || dtype == LAMELLA_UINT8) return 1;
  return dtype == LAMELLA_BFLOAT16 ? 2 : size_of(dtype);
}

// Returns whether BLAS can read an operand: its rows or its columns have no gaps.
bool blas_reads(const Matrix& m) { return (m.column == 1 && m.row >= m.columns) || (m.row == 1 && m.column >= m.rows); }

// Returns whether oneDNN computes a product. Takes the whole product, never a thread's part: oneDNN adds up in another
// order than our tiles, and the result must not depend on the threads.
bool suits_onednn(int dtype, const Gemm& g, const Matrix& a, const Matrix& b) {
  constexpr int64_t least = 256;  // below this size our tiles are as fast
  if (g.m < least || g.n < least || g.k < least) return false;
  if (dtype == LAMELLA_FLOAT32)
    return blas_reads(a) && blas_reads(b) && g.c_row >= g.n && !g.row_bias && !g.column_bias && onednn_available();
  return operand_size(dtype) < 4 && !g.narrow && blas_reads(a) && blas_reads(b) && amx_multiplies(dtype);
}

// The rows, or columns, of a part of a product by AMX. The parts do not depend on the number of threads, since oneDNN's
// order of sums may depend on the size.
constexpr int64_t amx_step = 256;

// oneDNN's order of sums in float32 follows the size of a product too, unless the processor has AVX-512. Such products
// are cut into units of one size, so that the number of threads changes no bit.
constexpr int64_t float_step = 96;

bool order_follows_size(int dtype) {
  static const bool short_vectors = !__builtin_cpu_supports("avx512f");
  return dtype == LAMELLA_FLOAT32 && short_vectors;
}

lamella_status by_onednn(int dtype, const Gemm& g) {
  // Signals are blocked while oneDNN computes a panel. So a panel takes about 20 ms, unless 96 rows take longer.
  const bool amx = dtype != LAMELLA_FLOAT32;
  const auto panel =
      amx ? amx_step : std::max<int64_t>(96, static_cast<int64_t>(1e9 / (static_cast<double>(g.n) * g.k)));
  const int64_t operand = operand_size(dtype);
  for (int64_t i = 0; i < g.m; i += panel) {
    Gemm p = g;
    p.m = std::min(panel, g.m - i);
    p.a = static_cast<const char*>(g.a) + i * g.a_row * operand;
    p.c = static_cast<char*>(g.c) + i * g.c_row * 4;
    p.row_bias = g.row_bias ? static_cast<const char*>(g.row_bias) + i * 4 : nullptr;
    if (!(amx ? onednn_multiply(dtype, p) : onednn_sgemm(p)))
      return fail(LAMELLA_RUNTIME_ERROR,
                  lamella::detail::text("mm: oneDNN reports an error for a product of shapes (", g.m, ", ", g.k,
                                        ") and (", g.k, ", ", g.n, "), dtype ", name(static_cast<ScalarType>(dtype))));
    if (g.m - i > panel)
      if (lamella_status st = api().check_interrupt()) return st;
  }
  return LAMELLA_OK;
}

// Returns whether the bytes of a matrix are from 0 to 127, which have loops of their own; false if it has gaps both ways.
bool has_seven_bits(const void* data, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (column != 1 && row != 1) return false;
  const int64_t n = column == 1 ? columns : rows, lines = column == 1 ? rows : columns,
                step = column == 1 ? row : column;
  for (int64_t i = 0; i < lines; i++)
    if (has_high_bit(static_cast<const char*>(data) + i * step, n)) return false;
  return true;
}

const GemmKernels& kernels_for(int dtype, const Gemm& g) {
  if (operand_size(dtype) != 1 || !byte_gemms().seven_left.multiply) return kernels_of(dtype);
  if (has_seven_bits(g.a, g.m, g.k, g.a_row, g.a_column)) return byte_gemms().seven_left;
  const bool right = dtype == LAMELLA_INT8 && g.m >= 16 && has_seven_bits(g.b, g.k, g.n, g.b_row, g.b_column);
  return right ? byte_gemms().seven_right : kernels_of(dtype);
}

lamella_status part(int dtype, const Gemm& g, bool onednn) {
  if (onednn) return by_onednn(dtype, g);
  const GemmKernels& k = kernels_for(dtype, g);
  const int64_t bytes = k.space(g.m, g.n, g.k);
  Space space;
  if (lamella_status st = space.take(bytes)) return st;
  return static_cast<lamella_status>(k.multiply(g, space.data()));
}

// Returns whether to compute the transposed product: if c lies in columns, or if a vector is then multiplied by rows of
// the other operand.
bool flips(const Matrix& a, const Matrix& b, const Matrix& c) {
  if (c.columns > 1 && c.column != 1) return true;
  if (c.columns == 1 && c.rows > 1) return c.row == 1 && a.column != 1 && a.row == 1;
  return c.rows == 1 && c.columns > 1 && b.column != 1 && b.row == 1 && a.column == 1;
}

// Computes c = a · b + bias, where the bias has one number per column, or is null. The threads share rows or columns,
// whichever packs fewer elements repeatedly.
lamella_status multiply_real(int dtype, Matrix a, Matrix b, Matrix c, const char* bias, bool narrow = false) {
  if (c.rows == 0 || c.columns == 0) return LAMELLA_OK;
  const bool ordered = dtype == LAMELLA_UINT8;  // left uint8, right int8: they cannot be exchanged
  const bool fits = c.column == 1 || c.columns == 1 || (!ordered && c.row == 1) || c.rows == 1;
  const double work = static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(a.columns);
  if (work <= 128 || !fits) {
    tiny(dtype, a, b, c, bias);
    return LAMELLA_OK;
  }
  const bool grouped = operand_size(dtype) < 4;
  // A row of narrow numbers times a matrix that lies in columns packs the columns by squares, which is faster than a
  // sum over each.
  const bool flip = !ordered && !(grouped && c.rows == 1) && flips(a, b, c);
  if (flip) {
    const Matrix x = a;
    a = b.transposed();
    b = x.transposed();
    c = c.transposed();
  }
  const Gemm g{c.rows,
               c.columns,
               a.columns,
               a.data,
               a.row,
               a.column,
               b.data,
               b.row,
               b.column,
               c.data,
               c.row,
               flip ? bias : nullptr,
               flip ? nullptr : bias,
               interrupted,
               false,
               c.rows <= 4,
               narrow};
  // A thread must have 20 µs of work; products with a vector wait for memory, not for arithmetic, and those of narrow
  // numbers are faster.
  const double unit = c.rows == 1 || c.columns == 1 ? 2e5 : grouped ? 3e6 : 1e6;
  const bool onednn = suits_onednn(dtype, g, a, b);
  if (work < 2 * unit) return part(dtype, g, onednn);
  const bool by_rows = c.rows >= c.columns;
  const bool by_units = onednn && order_follows_size(dtype);
  const int64_t n = by_rows ? c.rows : c.columns, step = onednn && operand_size(dtype) < 4 ? amx_step
                                                         : by_units                        ? float_step
                                                         : by_rows                         ? 24
                                                                                           : 64;
  const int64_t operand = operand_size(dtype), wide = size_of(dtype), size = narrow ? operand : wide;
  const auto least = static_cast<int64_t>(unit / (work / static_cast<double>(n))) / step + 1;
  const int64_t units = (n + step - 1) / step;
  // Each part packs the other operand again. For narrow numbers that costs much, so that each thread gets one part,
  // whose loops check for interrupts.
  const int64_t threads = api().num_threads();
  const int64_t grain = grouped ? (units + threads - 1) / threads : units / (work > 1e10 ? 64 : 8);
  const auto multiply_units = [&](int64_t first, int64_t last) -> lamella_status {
    Gemm p = g;
    const int64_t begin = first * step, count = std::min(last * step, n) - begin;
    auto at = [&](const void* from, int64_t stride, int64_t bytes) {
      return from ? static_cast<const char*>(from) + begin * stride * bytes : nullptr;
    };
    if (by_rows) {
      p.m = count;
      p.a = at(g.a, g.a_row, operand);
      p.row_bias = at(g.row_bias, 1, wide);
    } else {
      p.n = count;
      p.b = at(g.b, g.b_column, operand);
      p.column_bias = at(g.column_bias, 1, wide);
    }
    p.c = const_cast<char*>(at(g.c, by_rows ? g.c_row : 1, size));
    return part(dtype, p, onednn);
  };
  return parallel_for(0, units, std::max(least, grain), [&](int64_t first, int64_t last) -> lamella_status {
    if (!by_units) return multiply_units(first, last);
    for (int64_t unit = first; unit < last; unit++)
      if (lamella_status st = multiply_units(unit, unit + 1)) return st;
    return LAMELLA_OK;
  });
}

// ---- other dtypes: converted, or seen as real matrices ----

// Computes a complex product as a real one: c and a are read as twice as many columns, re and im side by side, and each
// number of b becomes the rows (re, im) and (-im, re).
template <class T>
lamella_status complex_multiply(int real, const Matrix& a, const Matrix& b, const Matrix& c) {
  Space right, left, out;
  if (lamella_status st = right.take(4 * b.rows * b.columns * static_cast<int64_t>(sizeof(T)))) return st;
  auto* to = reinterpret_cast<T*>(right.data());
  for (int64_t k = 0; k < b.rows; k++)
    for (int64_t j = 0; j < b.columns; j++) {
      auto x = element<std::complex<T>>(b, k, j);
      T* at = to + 4 * k * b.columns + 2 * j;
      at[0] = x.real();
      at[1] = x.imag();
      at[2 * b.columns] = -x.imag();
      at[2 * b.columns + 1] = x.real();
    }
  const Matrix y{right.data(), 2 * b.rows, 2 * b.columns, 2 * b.columns, 1};
  auto whole = [](const Matrix& m, Space& space, Matrix* seen) -> lamella_status {
    if (m.column == 1 || m.columns == 1) {
      *seen = {m.data, m.rows, 2 * m.columns, 2 * m.row, 1};
      return LAMELLA_OK;
    }
    *seen = {nullptr, m.rows, 2 * m.columns, 2 * m.columns, 1};
    lamella_status st = space.take(2 * m.rows * m.columns * static_cast<int64_t>(sizeof(T)));
    seen->data = space.data();
    return st;
  };
  Matrix x, z;
  if (lamella_status st = whole(a, left, &x)) return st;
  if (lamella_status st = whole(c, out, &z)) return st;
  if (left.data())
    for (int64_t i = 0; i < a.rows; i++)
      for (int64_t k = 0; k < a.columns; k++)
        reinterpret_cast<std::complex<T>*>(left.data())[i * a.columns + k] = element<std::complex<T>>(a, i, k);
  if (lamella_status st = multiply_real(real, x, y, z, nullptr)) return st;
  if (out.data())
    for (int64_t i = 0; i < c.rows; i++)
      for (int64_t j = 0; j < c.columns; j++)
        reinterpret_cast<std::complex<T>*>(c.data)[i * c.row + j * c.column] =
            reinterpret_cast<std::complex<T>*>(out.data())[i * c.columns + j];
  return LAMELLA_OK;
}

}  // namespace

lamella_status multiply(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias, bool narrow) {
  lamella_status status = LAMELLA_OK;
  const bool by_blas = is_complex(dtype) || (dtype == LAMELLA_FLOAT64 && !bias);
  if (by_blas && blas_multiplies(dtype, a, b, c, &status)) return status;
  if (dtype == LAMELLA_COMPLEX64) return complex_multiply<float>(LAMELLA_FLOAT32, a, b, c);
  if (dtype == LAMELLA_COMPLEX128) return complex_multiply<double>(LAMELLA_FLOAT64, a, b, c);
  return multiply_real(dtype, a, b, c, bias, narrow);
}

// Multiplies all batches. The threads share small products whole (a nested parallel_for runs on its own thread).
lamella_status multiply_batches(int dtype, const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c,
                                bool narrow) {
  const Matrix x0 = matrix(a), y0 = matrix(b), z0 = matrix(c);
  const double work = static_cast<double>(z0.rows) * static_cast<double>(z0.columns) * static_cast<double>(x0.columns);
  auto range = [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) {
      Matrix x = x0, y = y0, z = z0;
      x.data += i * a->dl.strides[0] * itemsize(a);
      y.data += i * b->dl.strides[0] * itemsize(b);
      z.data += i * c->dl.strides[0] * itemsize(c);
      if (lamella_status st = multiply(dtype, x, y, z, nullptr, narrow)) return st;
    }
    return LAMELLA_OK;
  };
  if (work < 1e8) return parallel_for(0, c->dl.shape[0], static_cast<int64_t>(4e6 / std::max(work, 1.0)) + 1, range);
  return range(0, c->dl.shape[0]);  // all threads share each large product
}

namespace {

// ---- kernels ----

Status mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  Operands o(self.get(), mat2.get(), out.get(), true);
  o.open();
  if (lamella_status st = multiply(o.operands, matrix(o.a), matrix(o.b), matrix(o.c), nullptr, o.narrow)) return st;
  return o.finish();
}

// Multiplies int8 or uint8 by int8, in int32.
Status int_mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  const Result to(out.get(), LAMELLA_INT32);
  const Matrix c{to.data(), out.get()->dl.shape[0], out.get()->dl.shape[1], out.get()->dl.shape[1], 1};
  if (lamella_status st = multiply(self.get()->dtype, matrix(self.get()), matrix(mat2.get()), c)) return st;
  return to.finish();
}

Status bmm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  Operands o(self.get(), mat2.get(), out.get(), true);
  o.open();
  if (lamella_status st = multiply_batches(o.operands, o.a, o.b, o.c, o.narrow)) return st;
  return o.finish();
}

Status mv(const Tensor& self, const Tensor& vec, const Tensor& out) {
  Operands o(self.get(), vec.get(), out.get());
  o.open();
  if (lamella_status st = multiply(o.dtype, matrix(o.a), column(o.b), column(o.c))) return st;
  return o.finish();
}

// Multiplies long vectors in blocks and adds the blocks' sums in one order for any number of threads.
Status dot(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  Operands o(self.get(), tensor.get(), out.get());
  o.open();
  constexpr int64_t block = 32768;
  const Matrix x = row(o.a), y = column(o.b);
  const int64_t n = x.columns, blocks = n / block;
  if (blocks < 2 || is_complex(o.dtype)) {
    if (lamella_status st = multiply(o.dtype, x, y, single(o.c))) return st;
    return o.finish();
  }
  const int64_t size = size_of(o.dtype);
  Space sums, ones;
  if (lamella_status st = sums.take((blocks + 1) * size)) return st;
  if (lamella_status st = ones.take((blocks + 1) * size)) return st;
  lamella_status st = parallel_for(0, blocks + 1, 2, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) {
      Matrix p = x, q = y;
      p.columns = q.rows = std::min(block, n - i * block);
      p.data += i * block * x.column * size;
      q.data += i * block * y.row * size;
      if (lamella_status bad = multiply(o.dtype, p, q, {sums.data() + i * size, 1, 1, 1, 1})) return bad;
    }
    return LAMELLA_OK;
  });
  if (st) return st;
  const int64_t one = 1;
  loops().cast[LAMELLA_INT64][o.dtype](blocks + 1, ones.data(), size, reinterpret_cast<const char*>(&one), 0);
  st = multiply(o.dtype, {sums.data(), 1, blocks + 1, blocks + 1, 1}, {ones.data(), blocks + 1, 1, 1, 1}, single(o.c));
  return st ? st : o.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<mm>(m, "mm");
  add<int_mm>(m, "_int_mm");
  add<bmm>(m, "bmm");
  add<mv>(m, "mv");
  add<dot>(m, "dot");
}

}  // namespace lamella::cpu
