// Products of matrices. cuBLAS computes floats and complex numbers if it was opened and can write the output where it
// lies; kernels/matmul.cu computes the others.
#include "matmul.h"

#include "blaslt.h"
#include "numbers.h"

namespace cuda {
namespace {

bool is_zero(const Scalar& x) {
  const lamella_value v = x.value();
  return v.tag == LAMELLA_COMPLEX ? v.as.doubles[0] == 0 && v.as.doubles[1] == 0 : lamella::as_double(v) == 0;
}

// Returns the dtype of alpha and beta. Sums of narrow integers have 32 bits.
int sum_dtype(int dtype) {
  if (lamella::dtype_class(lamella::ScalarType(dtype)) == LAMELLA_CLASS_INTEGRAL && item_of(dtype) < 4)
    return LAMELLA_INT32;
  return computed_in(dtype);
}

Kernels tiles("matmul.cu", "-fmad=true");
Kernels vectors("matmul.cu", "-fmad=true"), sums("matmul.cu");

lamella_status by_tiles(const Product& p, const lamella_tensor* on) {
  constexpr int64_t side = 64;
  Kernel& kernel = tiles.get({p.dtype, p.out_dtype}, [&] {
    return text("multiply<", type_name(p.dtype), ", ", type_name(p.out_dtype), ", ", side, ">");
  });
  const int64_t blocks = p.batches * ((p.rows + side - 1) / side) * ((p.columns + side - 1) / side);
  if (blocks >> 31)
    return fail(LAMELLA_NOT_IMPLEMENTED,
                text("cuda: a product of 2^31 or more tiles is not supported, got ", blocks, "; split the matrices"));
  void* arguments[] = {const_cast<void**>(&p.a.data),       const_cast<MatrixStrides*>(&p.a.strides),
                       const_cast<void**>(&p.b.data),       const_cast<MatrixStrides*>(&p.b.strides),
                       const_cast<void**>(&p.out.data),     const_cast<MatrixStrides*>(&p.out.strides),
                       const_cast<void**>(&p.added.data),   const_cast<MatrixStrides*>(&p.added.strides),
                       const_cast<unsigned char*>(p.alpha), const_cast<unsigned char*>(p.beta),
                       const_cast<int64_t*>(&p.rows),       const_cast<int64_t*>(&p.columns),
                       const_cast<int64_t*>(&p.depth)};
  return launch(kernel, on, {static_cast<unsigned>(blocks)}, {256}, 0, arguments);
}

// Computes a product with one column, a block for each row.
lamella_status by_rows(const Product& p, const lamella_tensor* on) {
  Kernel& kernel = vectors.get({p.dtype}, [&] { return text("multiply_vector<", type_name(p.dtype), ">"); });
  const void *a = p.a.data, *x = p.b.data, *added = p.added.data;
  void* out = p.out.data;
  int64_t numbers[] = {
      p.a.strides.row, p.a.strides.column, p.b.strides.row, p.out.strides.row, p.added.strides.row, p.rows, p.depth};
  void* arguments[] = {&a,
                       &numbers[0],
                       &numbers[1],
                       &x,
                       &numbers[2],
                       &out,
                       &numbers[3],
                       &added,
                       &numbers[4],
                       const_cast<unsigned char*>(p.alpha),
                       const_cast<unsigned char*>(p.beta),
                       &numbers[5],
                       &numbers[6]};
  const int64_t most = int64_t{1} << 30;
  return launch(kernel, on, {static_cast<unsigned>(p.rows < most ? p.rows : most)}, {256}, 0, arguments);
}

BlasMatrix for_blas(const Matrix& m) { return {m.data, m.strides.row, m.strides.column, m.strides.batch}; }

// Copies a matrix to memory where it lies row by row, and returns the copy. `owner` holds the memory.
Matrix copied(const lamella_tensor* on, const Matrix& m, int dtype, int64_t batches, int64_t rows, int64_t columns,
              Tensor* owner) {
  *owner = empty_on(on, {batches, rows, columns}, dtype);
  const int64_t sizes[] = {batches, rows, columns}, strides[] = {m.strides.batch, m.strides.row, m.strides.column};
  lamella_tensor* raw;
  lamella::check(
      api().tensor_from_blob(m.data, 3, sizes, strides, dtype, lamella::device_of(on), nullptr, nullptr, &raw));
  const Tensor seen = Tensor::steal(raw);
  lamella::check(assign(owner->get(), seen.get()));
  return {data_of(*owner), {rows * columns, columns, 1}};
}

// Returns whether `added` is one vector without gaps for all rows of a single product, and alpha and beta are 1. `one`
// is 1 in their type.
bool adds_bias(const Product& p, const unsigned char* one) {
  const auto bytes = static_cast<size_t>(item_of(computed_in(p.dtype)));
  return p.added.data && p.added.data != p.out.data && p.batches == 1 && p.added.strides.row == 0 &&
         p.added.strides.column == 1 && !std::memcmp(p.alpha, one, bytes) && !std::memcmp(p.beta, one, bytes);
}

lamella_status by_blas(const Product& p, const lamella_tensor* on) {
  Tensor x, y;
  Matrix a = p.a, b = p.b;
  if (!blas_reads(for_blas(a), p.rows, p.depth)) a = copied(on, a, p.dtype, p.batches, p.rows, p.depth, &x);
  if (!blas_reads(for_blas(b), p.depth, p.columns)) b = copied(on, b, p.dtype, p.batches, p.depth, p.columns, &y);
  alignas(16) unsigned char zero[16] = {}, one[16];
  put_number(lamella::value(int64_t{1}), p.dtype, one);
  if (adds_bias(p, one)) {
    bool done;
    if (lamella_status st = blaslt_multiply(index_of(on), p.dtype, p.rows, p.columns, p.depth, for_blas(a), for_blas(b),
                                            for_blas(p.out), p.added.data, &done);
        st || done)
      return st;
  }
  // If the added matrix lies in the output already, cuBLAS adds it; else a kernel adds it after the product.
  const bool inside = p.added.data == p.out.data;
  if (lamella_status st = blas_multiply(index_of(on), p.dtype, p.batches, p.rows, p.columns, p.depth, for_blas(a),
                                        for_blas(b), for_blas(p.out), p.alpha, inside ? p.beta : zero))
    return st;
  if (inside || !p.added.data) return LAMELLA_OK;
  Kernel& kernel = sums.get({p.dtype}, [&] { return text("add_to<", type_name(p.dtype), ">"); });
  void* arguments[] = {const_cast<void**>(&p.out.data),
                       const_cast<MatrixStrides*>(&p.out.strides),
                       const_cast<void**>(&p.added.data),
                       const_cast<MatrixStrides*>(&p.added.strides),
                       one,
                       const_cast<unsigned char*>(p.beta),
                       const_cast<int64_t*>(&p.batches),
                       const_cast<int64_t*>(&p.rows),
                       const_cast<int64_t*>(&p.columns)};
  return launch(kernel, on, grid_for(on, p.batches * p.rows * p.columns), {256}, 0, arguments);
}

}  // namespace

Product::Product(int dtype, int out_dtype, const Scalar& alpha_number, const Scalar& beta_number)
    : dtype(dtype), out_dtype(out_dtype) {
  put_number(alpha_number.value(), sum_dtype(out_dtype), alpha);
  put_number(beta_number.value(), sum_dtype(out_dtype), beta);
}

lamella_status multiply(const Product& p, const lamella_tensor* on) {
  if (!p.batches || !p.rows || !p.columns) return LAMELLA_OK;
  const bool fits = p.rows < INT32_MAX && p.columns < INT32_MAX && p.depth < INT32_MAX && p.batches < INT32_MAX;
  const bool blas = p.depth > 0 && fits && p.dtype == p.out_dtype && blas_multiplies(p.dtype) &&
                    blas_reads(for_blas(p.out), p.rows, p.columns);
  if (blas) return by_blas(p, on);
  if (p.batches == 1 && p.columns == 1 && p.dtype == p.out_dtype) return by_rows(p, on);
  return by_tiles(p, on);
}

namespace {

Matrix matrix(const lamella_tensor* t) {
  const int d = t->dl.ndim - 2;
  return {t->dl.data, {d > 0 ? t->dl.strides[0] : 0, t->dl.strides[d], t->dl.strides[d + 1]}};
}
Matrix column(const lamella_tensor* t) { return {t->dl.data, {0, t->dl.strides[0], 1}}; }
Matrix row(const lamella_tensor* t) { return {t->dl.data, {0, 1, t->dl.strides[0]}}; }

// Returns a tensor as broadcast to (batches, rows, columns), or, with `vector`, to a column.
Matrix broadcast(const lamella_tensor* t, bool vector) {
  int64_t steps[3] = {};
  const int n = t->dl.ndim;
  for (int d = 0; d < n; d++) steps[3 - n + d] = t->dl.shape[d] == 1 ? 0 : t->dl.strides[d];
  if (vector) return {t->dl.data, {0, steps[2], 0}};
  return {t->dl.data, {steps[0], steps[1], steps[2]}};
}

lamella_status product_of(const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c) {
  Product p(a->dtype, c->dtype);
  p.a = matrix(a), p.b = matrix(b), p.out = matrix(c);
  p.rows = a->dl.shape[0], p.depth = a->dl.shape[1], p.columns = b->dl.shape[1];
  return multiply(p, c);
}

Status mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  return product_of(self.get(), mat2.get(), out.get());
}

Status bmm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  const lamella_tensor *a = self.get(), *b = mat2.get(), *c = out.get();
  Product p(a->dtype, c->dtype);
  p.a = matrix(a), p.b = matrix(b), p.out = matrix(c);
  p.batches = c->dl.shape[0], p.rows = a->dl.shape[1], p.depth = a->dl.shape[2], p.columns = b->dl.shape[2];
  return multiply(p, c);
}

Status mv(const Tensor& self, const Tensor& vec, const Tensor& out) {
  const lamella_tensor *a = self.get(), *b = vec.get(), *c = out.get();
  Product p(a->dtype, c->dtype);
  p.a = matrix(a), p.b = column(b), p.out = column(c);
  p.rows = a->dl.shape[0], p.depth = a->dl.shape[1], p.columns = 1;
  return multiply(p, c);
}

Status dot(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  const lamella_tensor *a = self.get(), *b = tensor.get(), *c = out.get();
  Product p(a->dtype, c->dtype);
  p.a = row(a), p.b = column(b), p.out = {c->dl.data, {0, 1, 1}};
  p.rows = p.columns = 1, p.depth = a->dl.shape[0];
  return multiply(p, c);
}

enum class Kind { matrices, batches, vector, outer };

// addmm, baddbmm, addmv and addr. With beta 0, self is not read.
template <Kind K>
Status added(const Tensor& self, const Tensor& x, const Tensor& y, const Scalar& beta, const Scalar& alpha,
             const Tensor& out) {
  const lamella_tensor *a = x.get(), *b = y.get(), *c = out.get();
  Product p(a->dtype, c->dtype, alpha, beta);
  const int d = K == Kind::batches ? 1 : 0;
  p.a = K == Kind::outer ? column(a) : matrix(a);
  p.b = K == Kind::vector ? column(b) : K == Kind::outer ? row(b) : matrix(b);
  p.out = K == Kind::vector ? column(c) : matrix(c);
  p.batches = K == Kind::batches ? c->dl.shape[0] : 1;
  p.rows = c->dl.shape[d];
  p.columns = K == Kind::vector ? 1 : c->dl.shape[d + 1];
  p.depth = K == Kind::outer ? 1 : a->dl.shape[a->dl.ndim - 1];
  if (!is_zero(beta)) p.added = broadcast(self.get(), K == Kind::vector);
  return multiply(p, c);
}

}  // namespace

Status linear(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  const lamella_tensor* c = out.get();
  const Operand x(input.get(), input.get()->dtype,
                  input.dim() <= 2 || input.is_contiguous());  // else a copy, so that all rows are one matrix
  const lamella_tensor *a = x.get(), *b = weight.get();
  const int n = a->dl.ndim;
  const int64_t depth = a->dl.shape[n - 1];
  const bool one = b->dl.ndim == 1;
  Product p(a->dtype, c->dtype);
  p.depth = depth;
  p.columns = one ? 1 : b->dl.shape[0];
  p.rows = 1;
  for (int d = 0; d + 1 < n; d++) p.rows *= a->dl.shape[d];
  p.a = {a->dl.data, {0, n == 2 ? a->dl.strides[0] : depth, a->dl.strides[n - 1]}};
  p.b = {b->dl.data, {0, b->dl.strides[one ? 0 : 1], one ? 1 : b->dl.strides[0]}};
  const Result to(out);
  p.out = {to.data(), {0, p.columns, 1}};
  if (bias.defined()) {
    const lamella_tensor* v = bias.get();
    const bool single = v->dl.ndim == 0 || v->dl.shape[0] == 1;
    p.added = {v->dl.data, {0, 0, single ? 0 : v->dl.strides[0]}};
  }
  if (lamella_status st = multiply(p, c)) return st;
  return to.finish();
}

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<mm>(m, "mm");
  add<bmm>(m, "bmm");
  add<mv>(m, "mv");
  add<dot>(m, "dot");
  add<added<Kind::matrices>>(m, "addmm");
  add<added<Kind::batches>>(m, "baddbmm");
  add<added<Kind::vector>>(m, "addmv");
  add<added<Kind::outer>>(m, "addr");
  add<linear>(m, "linear");
}

}  // namespace cuda
