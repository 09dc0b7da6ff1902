// Complex numbers: their parts, as views, and how they are made of parts.
#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {
namespace {

bool is_complex(const Tensor* t) { return core::dtype_class(t->dtype) == LAMELLA_CLASS_COMPLEX; }

DType part_of(DType complex) {
  return static_cast<DType>(complex == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : LAMELLA_FLOAT64);
}

lamella_status expect_complex(lamella_frame* f, const Tensor* t) {
  if (is_complex(t)) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               where(f, 0) + ": expected a complex dtype, got " + core::dtype_info(t->dtype).name);
}

// Every other number of a complex tensor, beginning with `first`.
void parts(Meta* m, const Tensor* t, int first) {
  alias(m, 0, t);
  m->dtype = part_of(t->dtype);
  m->offset = 2 * m->offset + first;
  for (int i = 0; i < m->ndim; i++) m->strides[i] *= 2;
}

lamella_status infer_real(lamella_frame*, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (is_complex(t))
    parts(m, t, 0);
  else
    alias(m, 0, t);
  return LAMELLA_OK;
}

lamella_status infer_imag(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = expect_complex(f, tensor_arg(a[0]))) return st;
  parts(m, tensor_arg(a[0]), 1);
  return LAMELLA_OK;
}

lamella_status infer_view_as_real(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (lamella_status st = expect_complex(f, t)) return st;
  if (t->ndim() == LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": it has as many dimensions as are supported");
  parts(m, t, 0);
  m->sizes[m->ndim] = 2;
  m->strides[m->ndim] = 1;
  m->ndim++;
  return LAMELLA_OK;
}

lamella_status infer_view_as_complex(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int last = t->ndim() - 1;
  if (t->dtype != LAMELLA_FLOAT32 && t->dtype != LAMELLA_FLOAT64)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected float32 or float64, got " + core::dtype_info(t->dtype).name);
  if (last < 0 || t->sizes()[last] != 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected a last dimension of size 2, got shape " + core::shape_string(t));
  bool even = t->strides()[last] == 1 && t->storage_offset % 2 == 0;
  for (int i = 0; i < last; i++) even &= t->strides()[i] % 2 == 0;
  if (!even)
    return raise(
        LAMELLA_RUNTIME_ERROR,
        where(f, 0) +
            ": the last dimension must have stride 1, the others and the offset must be even; use contiguous()");
  alias(m, 0, t);
  m->ndim = last;
  m->dtype = core::complex_of(t->dtype);
  m->offset /= 2;
  for (int i = 0; i < last; i++) m->strides[i] /= 2;
  return LAMELLA_OK;
}

// The shape and dtype that two parts have together.
lamella_status infer_complex(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  for (int i = 0; i < 2; i++)
    if (DType t = tensor_arg(a[i])->dtype; t != LAMELLA_FLOAT32 && t != LAMELLA_FLOAT64)
      return raise(LAMELLA_RUNTIME_ERROR,
                   where(f, i) + ": expected float32 or float64, got " + core::dtype_info(t).name);
  if (x->dtype != y->dtype)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": expected dtype " + core::dtype_info(x->dtype).name + ", got " +
                                            core::dtype_info(y->dtype).name);
  fresh(m, x->ndim(), x->sizes(), core::complex_of(x->dtype));
  if (!broadcast(&m->ndim, m->sizes, y->ndim(), y->sizes()))
    return raise(LAMELLA_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(x) + " and " +
                                            core::shape_string(y) + " do not broadcast");
  return LAMELLA_OK;
}

lamella_status complex(lamella_frame* f, const Value* a, Value* r) {
  const Tensor *x = tensor_arg(a[0]), *y = tensor_arg(a[1]);
  Ints size(x->sizes(), x->ndim());
  broadcast(&size.count, size.data, y->ndim(), y->sizes());
  Compose c(f);
  Var whole = c.op<"empty.memory_format">(size, As{core::complex_of(x->dtype)}, Absent{}, x->device());
  c.op<"copy_">(c.op<"real">(whole), a[0]);
  c.op<"copy_">(c.op<"imag">(whole), a[1]);
  return c.give(r, whole);
}

lamella_status polar(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var length = c.arg(a[0]), angle = c.arg(a[1]);
  return c.give(r, c.op<"complex">(length * c.op<"cos">(angle), length * c.op<"sin">(angle)));
}

}  // namespace

const std::vector<Declaration>& complex_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"real(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_real, nullptr,
       "The real parts, as a view; a real tensor's own view.\n\n>>> lamella.real(lamella.tensor([1 + "
       "2j]))\ntensor([1.])\n"},
      {"imag(Tensor(a) self) -> Tensor(a)", "view", everywhere | no_kernel_needed, infer_imag, nullptr,
       "The imaginary parts, as a view.\n\nRaises:\n    RuntimeError: the dtype is not complex\n\n>>> "
       "lamella.imag(lamella.tensor([1 + 2j]))\ntensor([2.])\n"},
      {"view_as_real(Tensor(a) self) -> Tensor(a)", "view", function | no_kernel_needed, infer_view_as_real, nullptr,
       "A complex tensor as a real one with a last dimension of size 2.\n\n>>> lamella.view_as_real(lamella.tensor([1 "
       "+ "
       "2j]))\ntensor([[1., 2.]])\n"},
      {"view_as_complex(Tensor(a) self) -> Tensor(a)", "view", function | no_kernel_needed, infer_view_as_complex,
       nullptr,
       "A real tensor whose last dimension holds pairs as a complex one.\n\nRaises:\n    RuntimeError: the last "
       "dimension is not of size 2, or does not lie in pairs\n\n>>> lamella.view_as_complex(lamella.tensor([[1., "
       "2.]]))\ntensor([1.+2.j])\n"},
      {"complex(Tensor real, Tensor imag) -> Tensor", "creation", function | out, infer_complex, complex,
       "Complex numbers from real and imaginary parts, which broadcast.\n\n>>> lamella.complex(lamella.tensor([1.]), "
       "lamella.tensor([2.]))\ntensor([1.+2.j])\n"},
      {"polar(Tensor abs, Tensor angle) -> Tensor", "creation", function | out, infer_complex, polar,
       "Complex numbers from lengths and angles, which broadcast.\n\n>>> lamella.polar(lamella.tensor([1.]), "
       "lamella.tensor([0.]))\ntensor([1.+0.j])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
