// Products of matrices with a bias or another tensor added: linear, addmm, baddbmm, addmv and addr.
#include <type_traits>

#include "backends/cpu/loops.h"
#include "backends/cpu/matmul.h"

namespace lamella::cpu {
namespace {

template <class T>
void add_bias(const Matrix& c, const lamella_tensor* bias) {
  auto* from = static_cast<const T*>(bias->dl.data);
  const int64_t step = bias->dl.ndim ? bias->dl.strides[0] : 0;
  for (int64_t i = 0; i < c.rows; i++)
    for (int64_t j = 0; j < c.columns; j++) reinterpret_cast<T*>(c.data)[i * c.row + j * c.column] += from[j * step];
}

template <class T>
T number_of(const Scalar& number) {
  const lamella_value v = number.value();
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(as_int(v));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(as_double(v));
  else if (v.tag == LAMELLA_COMPLEX)
    return {static_cast<typename T::value_type>(v.as.doubles[0]), static_cast<typename T::value_type>(v.as.doubles[1])};
  else
    return static_cast<typename T::value_type>(as_double(v));
}

// c = beta * self + alpha * c, where self broadcasts and lies in any layout, or is null.
template <class T>
lamella_status add_scaled(const lamella_tensor* c, const lamella_tensor* self, const Scalar& of_self,
                          const Scalar& of_product) {
  const T beta = number_of<T>(of_self), alpha = number_of<T>(of_product);
  const int n = c->dl.ndim, last = n - 1, missing = self ? n - self->dl.ndim : n;
  const int64_t columns = c->dl.shape[last], step = c->dl.strides[last];
  auto stride = [&](int d) {
    return d < missing || self->dl.shape[d - missing] == 1 ? 0 : self->dl.strides[d - missing];
  };
  const int64_t from = stride(last);
  return parallel_for(0, c->numel / columns, grain / columns + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) {
      T* to = static_cast<T*>(c->dl.data);
      const T* x = self ? static_cast<const T*>(self->dl.data) : nullptr;
      int64_t rest = i;
      for (int d = last - 1; d >= 0; rest /= c->dl.shape[d--]) {
        to += rest % c->dl.shape[d] * c->dl.strides[d];
        x += rest % c->dl.shape[d] * stride(d);
      }
      if (!self)
        for (int64_t j = 0; j < columns; j++) to[j * step] = alpha * to[j * step];
      else if (step == 1 && from == 1)
        for (int64_t j = 0; j < columns; j++) to[j] = alpha * to[j] + beta * x[j];
      else
        for (int64_t j = 0; j < columns; j++) to[j * step] = alpha * to[j * step] + beta * x[j * from];
    }
    return LAMELLA_OK;
  });
}

// The products of addmm, baddbmm, addmv and addr, to which beta times self is then added. With beta 0, self is not
// read.
enum class Product { matrices, batches, vector, outer };
template <Product Kind>
Status added(const Tensor& self, const Tensor& x, const Tensor& y, const Scalar& beta, const Scalar& alpha,
             const Tensor& out) {
  Operands o(x.get(), y.get(), out.get());
  if (o.c->numel == 0) return LAMELLA_OK;
  o.open();
  lamella_status st = Kind == Product::matrices  ? multiply(o.operands, matrix(o.a), matrix(o.b), matrix(o.c))
                      : Kind == Product::batches ? multiply_batches(o.operands, o.a, o.b, o.c)
                      : Kind == Product::vector  ? multiply(o.operands, matrix(o.a), column(o.b), column(o.c))
                                                 : multiply(o.operands, column(o.a), row(o.b), matrix(o.c));
  if (st) return st;
  auto is = [](const Scalar& number, double wanted) {
    const lamella_value v = number.value();
    return v.tag == LAMELLA_COMPLEX ? v.as.doubles[0] == wanted && v.as.doubles[1] == 0 : as_double(v) == wanted;
  };
  const Operand owner(is(beta, 0) ? nullptr : self.get(), o.dtype, true);
  const lamella_tensor* addend = owner.get();
  if (!addend && is(alpha, 1)) return o.finish();
  switch (o.dtype) {
    case LAMELLA_FLOAT32:
      st = add_scaled<float>(o.c, addend, beta, alpha);
      break;
    case LAMELLA_FLOAT64:
      st = add_scaled<double>(o.c, addend, beta, alpha);
      break;
    case LAMELLA_COMPLEX64:
      st = add_scaled<std::complex<float>>(o.c, addend, beta, alpha);
      break;
    case LAMELLA_COMPLEX128:
      st = add_scaled<std::complex<double>>(o.c, addend, beta, alpha);
      break;
    case LAMELLA_INT32:
    case LAMELLA_UINT32:
      st = add_scaled<uint32_t>(o.c, addend, beta, alpha);
      break;
    default:
      st = add_scaled<uint64_t>(o.c, addend, beta, alpha);
  }
  return st ? st : o.finish();
}

// Multiplies the rows of the input by the transposed weight and adds the bias.
Status linear(lamella_frame* f, const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  Operands o(input.get(), weight.get(), out.get(), true);
  o.open();
  // An input whose rows are not all one step apart is copied.
  auto steps = [](const lamella_tensor* t) {
    for (int d = t->dl.ndim - 3; d >= 0; d--)
      if (t->dl.shape[d] != 1 && t->dl.strides[d] != t->dl.strides[d + 1] * t->dl.shape[d + 1]) return false;
    return true;
  };
  const Operand x(o.a, o.operands, steps(o.a));
  char* numbers = nullptr;
  const bool own = bias.defined() && !is_complex(o.dtype);
  const Operand packed(bias.get(), o.dtype, true);
  const lamella_tensor* summand = packed.get();
  if (own) {
    numbers = static_cast<char*>(summand->dl.data);
    if (summand->dl.ndim && summand->dl.strides[0] != 1 && summand->dl.shape[0] > 1) {
      void* to;
      if (lamella_status st = api().scratch(f, summand->numel * itemsize(summand), &to)) return st;
      loops().cast[o.dtype][o.dtype](summand->numel, static_cast<char*>(to), itemsize(summand), numbers,
                                     summand->dl.strides[0] * itemsize(summand));
      numbers = static_cast<char*>(to);
    }
  }
  const bool one = o.b->dl.ndim == 1;  // a weight of one row; its dimension is not in the result
  const Matrix w = one ? column(o.b) : matrix(o.b).transposed();
  const Matrix c = one ? Matrix{static_cast<char*>(o.c->dl.data), o.c->numel, 1, 1, 1} : rows_of(o.c);
  if (lamella_status st = multiply(o.operands, rows_of(x.get()), w, c, numbers, o.narrow)) return st;
  if (summand && !own) {
    if (o.dtype == LAMELLA_COMPLEX64) add_bias<std::complex<float>>(c, summand);
    if (o.dtype == LAMELLA_COMPLEX128) add_bias<std::complex<double>>(c, summand);
  }
  return o.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<linear>(m, "linear");
  add<added<Product::matrices>>(m, "addmm");
  add<added<Product::batches>>(m, "baddbmm");
  add<added<Product::vector>>(m, "addmv");
  add<added<Product::outer>>(m, "addr");
}

}  // namespace lamella::cpu
