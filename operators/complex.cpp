// Complex numbers: views of their parts, and complex numbers made of parts.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// Returns the complex dtype with parts of this dtype, float32 or float64.
ScalarType complex_of(ScalarType part) { return part == kFloat ? kComplexFloat : kComplexDouble; }

void check_complex(const Tensor& self) {
  LAMELLA_CHECK(self.is_complex(), argument("self"), ": expected a complex dtype, got ", self.dtype());
}

void check_part(const char* name, ScalarType t) {
  LAMELLA_CHECK(t == kFloat || t == kDouble, argument(name), ": expected float32 or float64, got ", t);
}

// Returns an offset or a stride in elements that are half as large. It overflows for an empty tensor only, which has no
// element that it could lead to.
int64_t doubled(int64_t n) {
  int64_t twice;
  return __builtin_mul_overflow(n, 2, &twice) ? n : twice;
}

// The strides of a complex tensor in units of its parts.
DimVector part_strides(const Tensor& self) {
  DimVector strides(self.strides());
  for (int64_t& s : strides) s = doubled(s);
  return strides;
}

// Makes the result a view of the real parts (`first` is 0) or of the imaginary parts (1).
void view_parts(const Tensor& self, int64_t first, Output& out) {
  out.view(self, self.sizes(), part_strides(self), doubled(self.storage_offset()) + first, real_of(self.dtype()));
}

void infer_real(const Tensor& self, Output out) {
  if (self.is_complex())
    view_parts(self, 0, out);
  else
    out.view(self, self.sizes(), self.strides(), self.storage_offset(), self.dtype());
}

void infer_imag(const Tensor& self, Output out) {
  check_complex(self);
  view_parts(self, 1, out);
}

void infer_view_as_real(const Tensor& self, Output out) {
  check_complex(self);
  LAMELLA_CHECK(self.dim() != LAMELLA_MAX_DIMS, argument("self"), ": it has ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  DimVector sizes(self.sizes()), strides = part_strides(self);
  sizes.push_back(2);
  strides.push_back(1);
  out.view(self, sizes, strides, doubled(self.storage_offset()), real_of(self.dtype()));
}

void infer_view_as_complex(const Tensor& self, Output out) {
  const int64_t last = self.dim() - 1;
  check_part("self", self.dtype());
  LAMELLA_CHECK(last >= 0 && self.size(last) == 2, argument("self"),
                ": expected a last dimension of size 2, got shape ", shape_text(self));
  bool even = self.stride(last) == 1 && self.storage_offset() % 2 == 0;
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.pop_back();
  strides.pop_back();
  for (int64_t& s : strides) {
    even &= s % 2 == 0;
    s /= 2;
  }
  LAMELLA_CHECK(even, argument("self"),
                ": the last dimension must have stride 1, the others and the offset must be even, got strides ",
                shape_text(self.strides()), " and offset ", self.storage_offset(), "; use contiguous()");
  out.view(self, sizes, strides, self.storage_offset() / 2, complex_of(self.dtype()));
}

// Sets a result of two parts that broadcast with each other.
void infer_pair(const char* first, const Tensor& x, const char* second, const Tensor& y, Output& out) {
  check_part(first, x.dtype());
  check_part(second, y.dtype());
  LAMELLA_CHECK(x.dtype() == y.dtype(), argument(second), ": expected dtype ", x.dtype(), ", got ", y.dtype());
  DimVector sizes(x.sizes());
  LAMELLA_CHECK(broadcast(&sizes, y.sizes()), "shapes ", shape_text(x), " ('", first, "') and ", shape_text(y), " ('",
                second, "') do not broadcast");
  out.set(sizes, complex_of(x.dtype()));
}

void infer_complex(const Tensor& real, const Tensor& imag, Output out) { infer_pair("real", real, "imag", imag, out); }
void infer_polar(const Tensor& abs, const Tensor& angle, Output out) { infer_pair("abs", abs, "angle", angle, out); }

Tensor complex(const Tensor& real, const Tensor& imag) {
  DimVector sizes(real.sizes());
  broadcast(&sizes, imag.sizes());
  const Tensor whole = lamella::empty(sizes, TensorOptions().dtype(complex_of(real.dtype())).device(real.device()));
  whole.real().copy_(real);
  whole.imag().copy_(imag);
  return whole;
}

Tensor polar(const Tensor& abs, const Tensor& angle) { return lamella::complex(abs * angle.cos(), abs * angle.sin()); }

}  // namespace

LAMELLA_FAMILY(complex, .category = "view", .forms = everywhere | no_kernel_needed, .dims = "broadcast") {
  return {
      {.schema = "real(Tensor(a) self) -> Tensor(a)",
       .infer = shape<infer_real>,
       .doc = R"(The real parts, as a view; a real tensor's own view.

>>> lamella.real(lamella.tensor([1 + 2j]))
tensor([1.])
)"},
      {.schema = "imag(Tensor(a) self) -> Tensor(a)",
       .infer = shape<infer_imag>,
       .doc = R"(The imaginary parts, as a view.

Raises:
    RuntimeError: the dtype is not complex

>>> lamella.imag(lamella.tensor([1 + 2j]))
tensor([2.])
)"},
      {.schema = "view_as_real(Tensor(a) self) -> Tensor(a)",
       .dims = "... -> ... p",
       .forms = function | no_kernel_needed,
       .infer = shape<infer_view_as_real>,
       .doc = R"(A complex tensor as a real one with a last dimension of size 2.

>>> lamella.view_as_real(lamella.tensor([1 + 2j]))
tensor([[1., 2.]])
)"},
      {.schema = "view_as_complex(Tensor(a) self) -> Tensor(a)",
       .dims = "... p~ -> ...",
       .forms = function | no_kernel_needed,
       .infer = shape<infer_view_as_complex>,
       .doc = R"(A real tensor whose last dimension holds pairs as a complex one.

Raises:
    RuntimeError: the last dimension is not of size 2, or does not lie in pairs

>>> lamella.view_as_complex(lamella.tensor([[1., 2.]]))
tensor([1.+2.j])
)"},
      {.schema = "complex(Tensor real, Tensor imag) -> Tensor",
       .category = "creation",
       .forms = function | out,
       .infer = shape<infer_complex>,
       .composite = composite<complex>,
       .doc = R"(Complex numbers from real and imaginary parts, which broadcast.

>>> lamella.complex(lamella.tensor([1.]), lamella.tensor([2.]))
tensor([1.+2.j])
)"},
      {.schema = "polar(Tensor abs, Tensor angle) -> Tensor",
       .category = "creation",
       .forms = function | out,
       .infer = shape<infer_polar>,
       .composite = composite<polar>,
       .doc = R"(Complex numbers from lengths and angles, which broadcast.

>>> lamella.polar(lamella.tensor([1.]), lamella.tensor([0.]))
tensor([1.+0.j])
)"},
  };
}

}  // namespace lamella::operators
