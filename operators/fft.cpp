// The functions of lamella.fft, which prepare signals for the transforms of fourier.cpp.
#include "operators/fourier.h"

namespace lamella::operators {
namespace {

int64_t normalization_of(std::optional<std::string_view> norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? unscaled : by_length;
  if (*norm == "forward") return forward ? by_length : unscaled;
  LAMELLA_CHECK(*norm == "ortho", argument("norm"), ": expected 'backward', 'ortho' or 'forward', got '", *norm, "'");
  return by_root;
}

// Integers and bools become the default dtype, half precision becomes float32: transforms have no half.
Tensor floating_signal(const Tensor& self) {
  const ScalarType t = self.dtype();
  if (is_integral(t, true)) return self.to(default_dtype() == kDouble ? kDouble : kFloat);
  if (self.is_complex() || t == kDouble || t == kFloat) return self;
  LAMELLA_CHECK(t == kHalf || t == kBFloat16, argument("self"), ": Unsupported dtype ", t);
  return self.to(kFloat);
}
Tensor complex_signal(const Tensor& self) {
  const Tensor x = floating_signal(self);
  return x.is_complex() ? x : x.to(complex_with(x.dtype()));
}
Tensor real_signal(const Tensor& self) {
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": expected a real input tensor, got ", self.dtype());
  return floating_signal(self);
}

void check_points(const char* name, int64_t n) {
  LAMELLA_CHECK(n >= 1, argument(name), ": Invalid number of data points (", n, ") specified; expected at least 1");
}

// Returns the signal with n elements along a dimension, cut or with zeros after its end.
Tensor resized(const Tensor& x, int64_t dim, int64_t n) {
  const int64_t d = dim < 0 ? dim + x.dim() : dim, had = x.size(d);
  if (had == n) return x;
  if (had > n) return slice(x, d, 0, n);
  DimVector pad(2 * (x.dim() - d), 0);
  pad[pad.size() - 1] = n - had;
  return lamella::constant_pad_nd(x, pad, 0);
}

int64_t wrap_signal(const Tensor& self, int64_t dim) {
  LAMELLA_CHECK_INDEX(self.dim() > 0, argument("dim"), ": the tensor has no dimensions to transform");
  return wrap_dim("dim", dim, self.dim());
}

#define ONE const Tensor &self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm

template <bool Forward>
Tensor fft(ONE) {
  const int64_t d = wrap_signal(self, dim), points = n.value_or(self.size(d)), scale = normalization_of(norm, Forward);
  check_points("n", points);
  const Tensor x = resized(floating_signal(self), d, points);
  if (Forward && !x.is_complex()) return lamella::_fft_r2c(x, d, scale, false);
  return lamella::_fft_c2c(x.is_complex() ? x : x.to(complex_with(x.dtype())), d, scale, Forward);
}

// The transform of a real signal. Without `Forward` it is ihfft: the conjugate, scaled as an inverse.
template <bool Forward>
Tensor rfft(ONE) {
  const int64_t d = wrap_signal(self, dim), scale = normalization_of(norm, Forward);
  const Tensor x = real_signal(self);
  const int64_t points = n.value_or(self.size(d));
  check_points("n", points);
  const Tensor y = lamella::_fft_r2c(resized(x, d, points), d, scale, true);
  return Forward ? y : y.conj_physical();
}

// The real signal of a transform. With `Forward` it is hfft: that of the conjugate, scaled as a forward transform.
template <bool Forward>
Tensor irfft(ONE) {
  const int64_t d = wrap_signal(self, dim), points = n.value_or(2 * (self.size(d) - 1));
  const int64_t scale = normalization_of(norm, Forward);
  check_points("n", points);
  const Tensor x = resized(complex_signal(self), d, points / 2 + 1);
  return lamella::_fft_c2r(Forward ? x.conj_physical() : x, d, scale, points);
}

// The dimensions of a transform of several dimensions and its sizes along them.
struct Signal {
  DimVector dim, sizes;
};
Signal signal_of(const Tensor& self, const std::optional<IntArrayRef>& s, const std::optional<IntArrayRef>& dim) {
  Signal r;
  if (dim) {
    for (int64_t d : *dim) wrap_signal(self, d);
    wrap_dims("dim", *dim, self.dim());
    for (int64_t d : *dim) r.dim.push_back(wrap_signal(self, d));
    LAMELLA_CHECK(!s || s->size() == dim->size(), argument("s"),
                  ": When given, dim and shape arguments must have the same length, got ", s ? s->size() : 0, " and ",
                  dim->size());
  } else {
    const int64_t count = s ? static_cast<int64_t>(s->size()) : self.dim();
    LAMELLA_CHECK(count <= self.dim(), argument("s"), ": Got shape with ", count, " values but input tensor only has ",
                  self.dim(), " dimensions.");
    for (int64_t d = self.dim() - count; d < self.dim(); d++) r.dim.push_back(d);
  }
  for (size_t i = 0; i < r.dim.size(); i++) r.sizes.push_back(s && (*s)[i] != -1 ? (*s)[i] : self.size(r.dim[i]));
  return r;
}
void check_signal(const Signal& signal, bool at_least_one) {
  LAMELLA_CHECK(!at_least_one || !signal.dim.empty(), argument("dim"), ": must transform at least one axis");
  for (int64_t n : signal.sizes) check_points("s", n);
}
Tensor resized(const Tensor& x, const Signal& signal) {
  Tensor y = x;
  for (size_t i = 0; i < signal.dim.size(); i++) y = resized(y, signal.dim[i], signal.sizes[i]);
  return y;
}
IntArrayRef all_but_last(const DimVector& dim) { return {dim.data(), dim.size() - 1}; }

#define SEVERAL \
  const Tensor &self, std::optional<IntArrayRef> s, std::optional<IntArrayRef> dim, std::optional<std::string_view> norm

template <bool Forward>
Tensor fftn(SEVERAL) {
  const Signal signal = signal_of(self, s, dim);
  const int64_t scale = normalization_of(norm, Forward);
  check_signal(signal, false);
  const Tensor x = resized(floating_signal(self), signal);
  if (Forward && !x.is_complex() && !signal.dim.empty()) return lamella::_fft_r2c(x, signal.dim, scale, false);
  return lamella::_fft_c2c(x.is_complex() ? x : x.to(complex_with(x.dtype())), signal.dim, scale, Forward);
}

Tensor rfftn(SEVERAL) {
  const Tensor x = real_signal(self);
  const Signal signal = signal_of(self, s, dim);
  const int64_t scale = normalization_of(norm, true);
  check_signal(signal, true);
  return lamella::_fft_r2c(resized(x, signal), signal.dim, scale, true);
}

Tensor ihfftn(SEVERAL) {
  const Tensor x = real_signal(self);
  const Signal signal = signal_of(self, s, dim);
  const int64_t scale = normalization_of(norm, false);
  check_signal(signal, true);
  const Tensor y =
      lamella::_fft_r2c(resized(x, signal), signal.dim[signal.dim.size() - 1], scale, true).conj_physical();
  return signal.dim.size() == 1 ? y : lamella::_fft_c2c(y, all_but_last(signal.dim), scale, false);
}

// Sets the last size of the transform to points / 2 + 1, and returns `points`, the size of the real signal.
int64_t halve_last(const std::optional<IntArrayRef>& s, Signal* signal) {
  LAMELLA_CHECK(!signal->dim.empty(), argument("dim"), ": must transform at least one axis");
  int64_t& last = signal->sizes[signal->sizes.size() - 1];
  const int64_t points = s && s->back() != -1 ? last : 2 * (last - 1);
  check_points("s", points);
  last = points / 2 + 1;
  return points;
}

Tensor irfftn(SEVERAL) {
  Signal signal = signal_of(self, s, dim);
  const int64_t scale = normalization_of(norm, false), points = halve_last(s, &signal);
  check_signal(signal, true);
  return lamella::_fft_c2r(resized(complex_signal(self), signal), signal.dim, scale, points);
}

Tensor hfftn(SEVERAL) {
  Signal signal = signal_of(self, s, dim);
  const int64_t scale = normalization_of(norm, true), points = halve_last(s, &signal);
  check_signal(signal, true);
  Tensor x = resized(complex_signal(self), signal);
  if (signal.dim.size() > 1) x = lamella::_fft_c2c(x, all_but_last(signal.dim), scale, true);
  return lamella::_fft_c2r(x.conj_physical(), signal.dim[signal.dim.size() - 1], scale, points);
}

// fft2 and the other functions of two dimensions are those of n dimensions; their `dim` is the last two by default.
template <auto F>
Tensor over_two(const Tensor& self, std::optional<IntArrayRef> s, IntArrayRef dim,
                std::optional<std::string_view> norm) {
  return F(self, s, dim, norm);
}

#define OPTIONS                                                                                      \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, const std::optional<Device>&device, \
      std::optional<bool> pin_memory

// Returns places / (n d). The places of a window of n frequencies are 0, 1, …, -2, -1.
Tensor frequencies(const char* op, int64_t n, double d, bool half, OPTIONS) {
  const ScalarType t = dtype.value_or(default_dtype());
  LAMELLA_CHECK(is_floating_point(t) || is_complex(t), argument("dtype"), ": ", op,
                " requires a floating point or complex dtype, got ", t);
  LAMELLA_CHECK(n >= 0, argument("n"), ": expected at least 0, got ", n);
  const TensorOptions options = options_of(t, layout, device, pin_memory);
  const int64_t up = half ? n / 2 + 1 : (n + 1) / 2;
  Tensor places = lamella::arange(0, up, 1, options_of(kDouble, layout, device, std::nullopt));
  if (!half) places = lamella::cat({places, lamella::arange(-(n / 2), 0, 1, places.options())}, 0);
  const Tensor whole = places * (1.0 / (static_cast<double>(n) * d));
  return lamella::empty(whole.sizes(), options).copy_(whole);
}
Tensor fftfreq(int64_t n, double d, OPTIONS) {
  return frequencies("fftfreq", n, d, false, dtype, layout, device, pin_memory);
}
Tensor rfftfreq(int64_t n, double d, OPTIONS) {
  return frequencies("rfftfreq", n, d, true, dtype, layout, device, pin_memory);
}

template <bool Back>
Tensor shifted(const Tensor& self, std::optional<IntArrayRef> dim) {
  DimVector dims, shifts;
  if (dim) {
    wrap_dims("dim", *dim, self.dim());
    dims = DimVector(*dim);
  } else {
    for (int64_t d = 0; d < self.dim(); d++) dims.push_back(d);
  }
  LAMELLA_CHECK(self.dim() > 0, argument("self"), ": expected at least one dimension");
  for (int64_t d : dims) {
    const int64_t n = self.size(wrap_dim("dim", d, self.dim()));
    shifts.push_back(Back ? (n + 1) / 2 : n / 2);
  }
  return dims.empty() ? self.clone() : lamella::roll(self, shifts, dims);
}

#undef ONE
#undef SEVERAL
#undef OPTIONS

}  // namespace

#define ONE "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"
#define TWO "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor"
#define SEVERAL "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"
#define OPTIONS \
  ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"

LAMELLA_FAMILY(fft, .category = "fft", .forms = function | out) {
  std::vector<Declaration> all = {
      {.schema = "fft_fft" ONE,
       .composite = composite<fft<true>>,
       .doc = R"(The discrete Fourier transform along a dimension: element k of the result is the sum over j of
self[j] exp(-2 pi i j k / n). The result is complex64, or complex128 for double precision.

Args:
    n: the length of the signal, which is cut or continued by zeros
    dim: the dimension
    norm: "backward" (the default) scales the inverse by 1/n, "forward" scales the transform by it, and "ortho" scales
        both by its root

Raises:
    IndexError: the tensor has no dimension `dim`
    RuntimeError: `n` is below 1, or `norm` is unknown

>>> lamella.fft.fft(lamella.tensor([1., 0., 0., 1.]))
tensor([2.+0.j, 1.+1.j, 0.+0.j, 1.-1.j])
)"},
      {.schema = "fft_ifft" ONE,
       .composite = composite<fft<false>>,
       .doc = R"(The inverse of `fft`, with the same arguments.

>>> lamella.fft.ifft(lamella.tensor([2.+0j, 1+1j, 0, 1-1j]))
tensor([1.+0.j, 0.+0.j, 0.+0.j, 1.+0.j])
)"},
      {.schema = "fft_rfft" ONE,
       .composite = composite<rfft<true>>,
       .doc = R"(The discrete Fourier transform of a real signal: the first n // 2 + 1 elements of `fft`, since the
others are their conjugates.

Raises:
    RuntimeError: the signal is complex

>>> lamella.fft.rfft(lamella.tensor([1., 0., 0., 1.]))
tensor([2.+0.j, 1.+1.j, 0.+0.j])
)"},
      {.schema = "fft_irfft" ONE,
       .composite = composite<irfft<false>>,
       .doc = R"(The inverse of `rfft`: a real signal of `n` elements, 2 (m - 1) by default for m elements of the
transform. Name `n` if it is odd.

>>> lamella.fft.irfft(lamella.tensor([2.+0j, 1+1j, 0]))
tensor([1., 0., 0., 1.])
)"},
      {.schema = "fft_hfft" ONE,
       .composite = composite<irfft<true>>,
       .doc = R"(The discrete Fourier transform of a signal with self[-j] = conj(self[j]), of which the first half is
given; the result is real, of `n` elements.

>>> lamella.fft.hfft(lamella.tensor([2.+0j, 1+1j, 0]))
tensor([4., 4., 0., 0.])
)"},
      {.schema = "fft_ihfft" ONE,
       .composite = composite<rfft<false>>,
       .doc = R"(The inverse of `hfft`: the conjugate of `rfft`, divided by n.

>>> lamella.fft.ihfft(lamella.tensor([4., 4., 0., 0.]))
tensor([2.-0.j, 1.+1.j, 0.-0.j])
)"},
      {.schema = "fft_fftn" SEVERAL,
       .composite = composite<fftn<true>>,
       .doc = R"(The discrete Fourier transform along several dimensions.

Args:
    s: the lengths of the signal along the dimensions; -1 leaves one as it is
    dim: the dimensions, each once; by default as many of the last ones as `s` has sizes, and without `s` all of them
    norm: as in `fft`

>>> lamella.fft.fftn(lamella.eye(2))
tensor([[2.+0.j, 0.+0.j],
        [0.+0.j, 2.+0.j]])
)"},
      {.schema = "fft_ifftn" SEVERAL,
       .composite = composite<fftn<false>>,
       .doc = R"(The inverse of `fftn`, with the same arguments.

>>> lamella.fft.ifftn(lamella.eye(2) * 4)
tensor([[2.+0.j, 0.+0.j],
        [0.+0.j, 2.+0.j]])
)"},
      {.schema = "fft_rfftn" SEVERAL,
       .composite = composite<rfftn>,
       .doc = R"(The discrete Fourier transform of a real signal along several dimensions; the last has n // 2 + 1
elements.

>>> lamella.fft.rfftn(lamella.eye(2))
tensor([[2.+0.j, 0.+0.j],
        [0.+0.j, 2.+0.j]])
)"},
      {.schema = "fft_irfftn" SEVERAL,
       .composite = composite<irfftn>,
       .doc = R"(The inverse of `rfftn`. Name `s` if the last length is odd.

>>> lamella.fft.irfftn(lamella.eye(2))
tensor([[0.5000, 0.0000],
        [0.0000, 0.5000]])
)"},
      {.schema = "fft_hfftn" SEVERAL,
       .composite = composite<hfftn>,
       .doc = R"(The discrete Fourier transform along several dimensions of a signal whose conjugate is the signal
backwards, of which half is given along the last dimension; the result is real.

>>> lamella.fft.hfftn(lamella.eye(2) + 0j)
tensor([[2., 0.],
        [0., 2.]])
)"},
      {.schema = "fft_ihfftn" SEVERAL, .composite = composite<ihfftn>, .doc = R"(The inverse of `hfftn`.

>>> lamella.fft.ihfftn(lamella.eye(2))
tensor([[0.5000-0.j, 0.0000-0.j],
        [0.0000+0.j, 0.5000+0.j]])
)"},
      {.schema = "fft_fft2" TWO,
       .composite = composite<over_two<fftn<true>>>,
       .doc = R"(`fftn` along two dimensions, the last two by default.

>>> lamella.fft.fft2(lamella.ones(2, 2))
tensor([[4.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]])
)"},
      {.schema = "fft_ifft2" TWO, .composite = composite<over_two<fftn<false>>>, .doc = R"(The inverse of `fft2`.

>>> lamella.fft.ifft2(lamella.ones(2, 2))
tensor([[1.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]])
)"},
      {.schema = "fft_rfft2" TWO,
       .composite = composite<over_two<rfftn>>,
       .doc = R"(`rfftn` along two dimensions, the last two by default.

>>> lamella.fft.rfft2(lamella.ones(2, 2))
tensor([[4.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]])
)"},
      {.schema = "fft_irfft2" TWO, .composite = composite<over_two<irfftn>>, .doc = R"(The inverse of `rfft2`.

>>> lamella.fft.irfft2(lamella.ones(2, 2))
tensor([[1., 0.],
        [0., 0.]])
)"},
      {.schema = "fft_hfft2" TWO,
       .composite = composite<over_two<hfftn>>,
       .doc = R"(`hfftn` along two dimensions, the last two by default.

>>> lamella.fft.hfft2(lamella.ones(2, 2))
tensor([[4., 0.],
        [0., 0.]])
)"},
      {.schema = "fft_ihfft2" TWO, .composite = composite<over_two<ihfftn>>, .doc = R"(The inverse of `hfft2`.

>>> lamella.fft.ihfft2(lamella.ones(2, 2))
tensor([[1.-0.j, 0.-0.j],
        [0.+0.j, 0.+0.j]])
)"},
      {.schema = "fft_fftfreq(int n, float d=1.0" OPTIONS,
       .category = "creation",
       .composite = composite<fftfreq>,
       .doc = R"(The frequencies of the elements of `fft`, in cycles per unit of the sample spacing `d`:
0, 1, …, (n - 1) // 2, -(n // 2), …, -1, divided by n d.

>>> lamella.fft.fftfreq(4)
tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
)"},
      {.schema = "fft_rfftfreq(int n, float d=1.0" OPTIONS,
       .category = "creation",
       .composite = composite<rfftfreq>,
       .doc = R"(The frequencies of the elements of `rfft`: 0, 1, …, n // 2, divided by n d.

>>> lamella.fft.rfftfreq(4)
tensor([0.0000, 0.2500, 0.5000])
)"},
      {.schema = "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
       .forms = function,
       .composite = composite<shifted<false>>,
       .doc = R"(Moves the frequency zero of `fft`'s order to the middle, along all dimensions by default.

>>> lamella.fft.fftshift(lamella.fft.fftfreq(4))
tensor([-0.5000, -0.2500,  0.0000,  0.2500])
)"},
      {.schema = "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
       .forms = function,
       .composite = composite<shifted<true>>,
       .doc = R"(The inverse of `fftshift`.

>>> lamella.fft.ifftshift(lamella.tensor([-1, 0, 1]))
tensor([ 0,  1, -1])
)"},
  };
  for (Declaration& d : all) {
    d.module = "fft";
    if (!d.category) d.dims = "...~ -> ...~";  // fftfreq and rfftfreq take no signal
  }
  return all;
}

}  // namespace lamella::operators
