// Fourier transforms by cuFFT. Without it, and for what it refuses, the operators are left to their composites.
//
// cuFFT transforms one to three dimensions at once, in memory that a FftLayout can describe: one step leads from a
// signal of the batch to the next. More dimensions take several passes. Other layouts are copied. A scale is computed by
// the copy, if there is one, and else by a pass over the result.
#include <cmath>

#include "elementwise.h"
#include "fft.h"
#include "kernels/fourier.h"
#include "numbers.h"
#include "operands.h"

namespace cuda {
namespace {

constexpr int most_rank = 3;
// A batch whose signals lie in several groups is transformed group by group, without copies, if each group has as many
// bytes. A launch takes as long as it takes to read and write them once more.
constexpr int64_t long_group = int64_t{4} << 20;

using Dims = lamella::Dimensions<2>;

int real_of(int dtype) {
  return dtype == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : dtype == LAMELLA_COMPLEX128 ? LAMELLA_FLOAT64 : dtype;
}
bool is_complex(const lamella_tensor* t) { return t->dtype != real_of(t->dtype); }

// Returns the real parts of a complex tensor, or with `both` all parts, with one more dimension for them.
Tensor parts_of(const lamella_tensor* t, bool both) {
  int64_t sizes[LAMELLA_MAX_DIMS + 1], strides[LAMELLA_MAX_DIMS + 1];
  for (int d = 0; d < t->dl.ndim; d++) sizes[d] = t->dl.shape[d], strides[d] = 2 * t->dl.strides[d];
  sizes[t->dl.ndim] = 2;
  strides[t->dl.ndim] = 1;
  lamella_tensor* raw;
  lamella::check(api().tensor_from_blob(t->dl.data, t->dl.ndim + both, sizes, strides, real_of(t->dtype),
                                        lamella::device_of(t), nullptr, nullptr, &raw));
  return Tensor::steal(raw);
}

// Writes from * scale to `to`, which may be the same tensor and has no gaps in memory, and sets the scale to 1. Complex
// numbers are multiplied part by part, so that infinite ones give no NaN.
lamella_status scaled(const lamella_tensor* to, const lamella_tensor* from, double* scale) {
  if (*scale == 1) return to == from ? LAMELLA_OK : assign(to, from);
  if (to != from && to->dl.ndim == LAMELLA_MAX_DIMS) {
    if (lamella_status st = assign(to, from)) return st;
    return scaled(to, to, scale);
  }
  Tensor x, y;
  const lamella_tensor *in = from, *out = to;
  if (is_complex(to)) {
    if (to == from) {  // all parts in one dimension
      lamella_tensor* raw;
      const int64_t count = 2 * to->numel, one = 1;
      lamella::check(api().tensor_from_blob(to->dl.data, 1, &count, &one, real_of(to->dtype), lamella::device_of(to),
                                            nullptr, nullptr, &raw));
      x = Tensor::steal(raw);
      in = out = x.get();
    } else {
      x = parts_of(from, true);
      y = parts_of(to, true);
      in = x.get(), out = y.get();
    }
  }
  Element e{};
  e.text = "x * p";
  e.compute = e.dtypes[0] = e.dtypes[1] = out->dtype;
  Numbers n;
  put_number(lamella::value(*scale), out->dtype, n.parameter(0, item_of(out->dtype)));
  *scale = 1;
  return run_elementwise(e, out, &in, 1, n);
}

double scale_of(const lamella_tensor* t, IntList dims, int64_t normalization) {
  double n = 1;
  for (const int64_t d : dims) n *= static_cast<double>(t->dl.shape[wrapped_dim(d, t->dl.ndim)]);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

// The strides of a tensor in which the signals of `dims` lie one after another, each in rows.
struct Strides {
  int64_t of[LAMELLA_MAX_DIMS];
};
Strides packed(const lamella_tensor* t, IntList dims) {
  Strides s{};
  int64_t step = 1;
  uint64_t signal = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    signal |= uint64_t{1} << dims[i];
    s.of[dims[i]] = step;
    step *= t->dl.shape[dims[i]];
  }
  for (int d = t->dl.ndim - 1; d >= 0; d--)
    if (!(signal >> d & 1)) s.of[d] = step, step *= t->dl.shape[d];
  return s;
}
Strides strides_of(const lamella_tensor* t) {
  Strides s{};
  std::copy(t->dl.strides, t->dl.strides + t->dl.ndim, s.of);
  return s;
}

// One pass over a tensor. `dims` are the transformed dimensions, none of size 1, the innermost in memory last; for real
// signals that is the dimension of which one side has only the first half.
struct FftPass {
  FftKind kind;
  const lamella_tensor *in, *out;
  IntList dims;
  bool forward;

  bool transforms(int d) const { return std::find(dims.begin(), dims.end(), d) != dims.end(); }
};

// How cuFFT reads and writes a pass: a problem, and the dimensions along which it is repeated.
struct FftWay {
  FftProblem problem{};
  Dims repeated;
};

// Sets how a side lies, and returns whether a FftLayout can describe that.
bool lies(const FftPass& p, const lamella_tensor* t, const Strides& strides, FftLayout* to) {
  const size_t rank = p.dims.size();
  to->step = strides.of[p.dims[rank - 1]];
  if (to->step < 1) return false;
  int64_t step = to->step;
  for (size_t i = rank; i-- > 1;) {
    const int64_t around = strides.of[p.dims[i - 1]];
    to->embed[i] = around / step;
    if (around % step || to->embed[i] < t->dl.shape[p.dims[i]]) return false;
    step = around;
  }
  to->embed[0] = t->dl.shape[p.dims[0]];
  return true;
}

// Finds the way of a pass over sides with these strides. Returns false if there is none without a copy.
bool find_way(const FftPass& p, const Strides& in, const Strides& out, FftWay* way) {
  const lamella_tensor *x = p.in, *y = p.out, *full = p.kind == FftKind::complex_to_real ? y : x;
  FftProblem& q = way->problem;
  q.kind = p.kind;
  q.wide = real_of(x->dtype) == LAMELLA_FLOAT64;
  q.rank = static_cast<int32_t>(p.dims.size());
  for (size_t i = 0; i < p.dims.size(); i++) q.size[i] = full->dl.shape[p.dims[i]];
  if (!lies(p, x, in, &q.in) || !lies(p, y, out, &q.out)) return false;
  Dims rest;
  for (int d = 0; d < x->dl.ndim; d++)
    if (!p.transforms(d)) rest.add(x->dl.shape[d], {in.of[d], out.of[d]});
  rest.join();
  const int batch = rest.count() - 1;  // the innermost, so that neighbouring signals are read together
  q.batches = 1;
  q.in.batch_step = in.of[p.dims[0]] * x->dl.shape[p.dims[0]];
  q.out.batch_step = out.of[p.dims[0]] * y->dl.shape[p.dims[0]];
  if (rest.count()) {
    q.batches = rest[batch].size;
    q.in.batch_step = rest[batch].steps[0];
    q.out.batch_step = rest[batch].steps[1];
    if (q.in.batch_step < 1 || q.out.batch_step < 1) return false;
  }
  way->repeated = Dims();
  for (int d = 0; d < batch; d++) way->repeated.add(rest[d].size, rest[d].steps, 2);
  if (!way->repeated.count()) return true;
  // cuFFT needs addresses that are aligned for complex numbers.
  for (const auto& d : way->repeated)
    if ((!is_complex(x) && d.steps[0] % 2) || (!is_complex(y) && d.steps[1] % 2)) return false;
  return y->numel / way->repeated.elements() * item_of(y->dtype) >= long_group;
}
bool is_aligned(const lamella_tensor* t) {
  return reinterpret_cast<uintptr_t>(t->dl.data) % static_cast<uintptr_t>(2 * item_of(real_of(t->dtype))) == 0;
}

// Runs a pass in the way that was found for it, between these tensors.
lamella_status run(const FftPass& p, const FftWay& way, const lamella_tensor* x, const lamella_tensor* y) {
  const Dims& rest = way.repeated;
  int64_t at[LAMELLA_MAX_DIMS] = {};
  const char* from = data_of(x);
  char* to = data_of(y);
  const int64_t items[] = {item_of(x->dtype), item_of(y->dtype)};
  for (;;) {
    bool done;
    if (lamella_status st = fft_run(x, way.problem, from, to, p.forward, &done)) return st;
    if (!done) return LAMELLA_DECLINED;
    int d = rest.count() - 1;
    for (; d >= 0; at[d--] = 0) {
      from += rest[d].steps[0] * items[0];
      to += rest[d].steps[1] * items[1];
      if (++at[d] < rest[d].size) break;
      from -= rest[d].size * rest[d].steps[0] * items[0];
      to -= rest[d].size * rest[d].steps[1] * items[1];
    }
    if (d < 0) return LAMELLA_OK;
  }
}

// Clears the imaginary parts that a transform to real numbers must ignore. The signals have no gaps between them.
lamella_status clear_imaginary(const lamella_tensor* t, const Strides& strides, int dim, int64_t points) {
  static Kernels kernels("fourier.cu");
  const int64_t n = t->dl.shape[dim], inner = strides.of[dim], signals = t->numel / n;
  Kernel& kernel = kernels.get({t->dtype}, [&] { return text("clear_ends<", type_name(t->dtype), ">"); });
  return launch(kernel, t, grid_for(t, signals), {256}, 0, static_cast<void*>(t->dl.data), signals, n, inner,
                points % 2 == 0);
}

// Runs a pass, over copies if need be. A transform to real numbers overwrites its input, so that it gets a copy unless
// `own` says that the input is contiguous and may be written. Without an error, *scale is 1 after a copy.
lamella_status transform(const FftPass& p, double* scale, bool own = false) {
  const bool real = p.kind == FftKind::complex_to_real, within = p.in == p.out;
  const lamella_tensor *x = p.in, *y = p.out;
  const int last = static_cast<int>(p.dims[p.dims.size() - 1]);
  const Strides out = strides_of(y), lying = strides_of(x), plain = packed(x, {});
  FftWay way;
  const bool writes = is_aligned(y), there = writes && is_aligned(x) && find_way(p, lying, out, &way);
  if (there && (own || !real)) {
    if (real)
      if (lamella_status st = clear_imaginary(x, lying, last, y->dl.shape[last])) return st;
    return run(p, way, x, y);
  }
  const bool copies = writes && !within && find_way(p, plain, out, &way);
  if (!copies) {
    const bool found = find_way(p, packed(x, p.dims), packed(y, p.dims), &way);
    if (!found) return LAMELLA_DECLINED;
  }
  const Strides from = copies ? plain : packed(x, p.dims), to = packed(y, p.dims);
  const Tensor copy = lamella::allocate_like(x, x->dtype, from.of);
  if (lamella_status st = scaled(copy.get(), x, scale)) return st;
  if (real)
    if (lamella_status st = clear_imaginary(copy.get(), from, last, y->dl.shape[last])) return st;
  if (copies) return run(p, way, copy.get(), y);
  const Tensor made = p.kind == FftKind::complex_to_complex ? copy : lamella::allocate_like(y, y->dtype, to.of);
  if (lamella_status st = run(p, way, copy.get(), made.get())) return st;
  return assign(y, made.get());
}

// The dimensions of a call that have more than one element, by their order in a contiguous tensor.
struct FftDims {
  int64_t all[LAMELLA_MAX_DIMS];
  size_t count = 0;

  FftDims(const lamella_tensor* t, IntList dims) {
    for (const int64_t given : dims) {
      const int d = wrapped_dim(given, t->dl.ndim);
      if (t->dl.ndim && t->dl.shape[d] > 1) all[count++] = d;
    }
    std::sort(all, all + count);
  }
};

// Writes the complex transform of x along `dims` to y, which is contiguous and may be x, or lies as x does.
lamella_status complex_along(const lamella_tensor* x, const lamella_tensor* y, IntList dims, bool forward,
                             double* scale) {
  for (size_t left = dims.size(); left > 0;) {
    const size_t rank = std::min<size_t>(left, most_rank);
    left -= rank;
    if (lamella_status st = transform({FftKind::complex_to_complex, x, y, {dims.data() + left, rank}, forward}, scale))
      return st;
    x = y;
  }
  return LAMELLA_OK;
}

// Computes the scale that is left to do, and copies a result to its target.
lamella_status finish(const Result& to, double scale) {
  if (lamella_status st = scaled(to.get(), to.get(), &scale)) return st;
  return to.finish();
}

Status fft_c2c(const Tensor& self, IntList dims, int64_t normalization, bool forward, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  if (!fft_there()) return LAMELLA_DECLINED;
  double scale = scale_of(self.get(), dims, normalization);
  const FftDims along(self.get(), dims);
  if (!along.count) return scaled(out.get(), self.get(), &scale);
  const Result to(out);
  if (lamella_status st = complex_along(self.get(), to.get(), {along.all, along.count}, forward, &scale)) return st;
  return finish(to, scale);
}

// Fills the second half of a transform of real signals along `last`, in a contiguous tensor.
lamella_status fill(const lamella_tensor* t, const FftDims& others, int last) {
  static Kernels kernels("fourier.cu");
  Mirror m{};
  const int64_t n = t->dl.shape[last], missing = (n - 1) / 2;
  if (!missing) return LAMELLA_OK;
  bool plain = false;
  m.count = 1;
  for (int d = 0; d < t->dl.ndim; d++) {
    const int64_t size = d == last ? missing : t->dl.shape[d];
    if (size == 1 && d != last) continue;
    const bool transformed = std::find(others.all, others.all + others.count, d) != others.all + others.count;
    m.count *= size;
    const bool joins = plain && !transformed && d != last;
    plain = !transformed && d != last;
    if (joins) {
      m.sizes[m.dims - 1] *= size;
      m.steps[m.dims - 1] = t->dl.strides[d];
      continue;
    }
    if (m.dims == mirror_dims) return LAMELLA_DECLINED;
    if (d == last) m.half = m.dims, m.first = n - missing;
    m.transformed |= uint32_t{transformed} << m.dims;
    m.sizes[m.dims] = size;
    m.steps[m.dims++] = t->dl.strides[d];
  }
  Kernel& kernel = kernels.get({t->dtype, 1}, [&] { return text("fill_conjugates<", type_name(t->dtype), ">"); });
  return launch(kernel, t, grid_for(t, m.count), {256}, 0, static_cast<void*>(t->dl.data), m);
}

Status fft_r2c(const Tensor& self, IntList dims, int64_t normalization, bool onesided, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  if (!fft_there()) return LAMELLA_DECLINED;
  const lamella_tensor* x = self.get();
  double scale = scale_of(x, dims, normalization);
  const int last = wrapped_dim(dims[dims.size() - 1], x->dl.ndim);
  const int64_t n = x->dl.shape[last];
  FftDims others(x, {dims.data(), dims.size() - 1});
  const Result to(out);
  const lamella_tensor* y = to.get();
  if (n == 1) {
    if (lamella_status st = assign(y, x)) return st;
    if (lamella_status st = complex_along(y, y, {others.all, others.count}, true, &scale)) return st;
    return finish(to, scale);
  }
  Tensor half;  // the part of the output that cuFFT writes
  if (!onesided) {
    Strides sizes{};
    std::copy(y->dl.shape, y->dl.shape + y->dl.ndim, sizes.of);
    sizes.of[last] = n / 2 + 1;
    half = view_of(y, y->dl.ndim, sizes.of, y->dl.strides);
    y = half.get();
  }
  // Up to two dimensions before the last one are transformed with it, the others afterwards.
  size_t before = 0;
  while (before < others.count && others.all[before] < last) before++;
  const size_t with = std::min<size_t>(before, most_rank - 1);
  int64_t first[most_rank];
  std::copy(others.all + before - with, others.all + before, first);
  first[with] = last;
  if (lamella_status st = transform({FftKind::real_to_complex, x, y, {first, with + 1}, true}, &scale)) return st;
  int64_t rest[LAMELLA_MAX_DIMS];
  int64_t* const behind = std::copy(others.all + before, others.all + others.count,
                                    std::copy(others.all, others.all + before - with, rest));
  if (lamella_status st = complex_along(y, y, {rest, static_cast<size_t>(behind - rest)}, true, &scale)) return st;
  if (!onesided)
    if (lamella_status st = fill(to.get(), others, last)) return st;
  return finish(to, scale);
}

Status fft_c2r(const Tensor& self, IntList dims, int64_t normalization, int64_t last_dim_size, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  if (!fft_there()) return LAMELLA_DECLINED;
  const lamella_tensor* x = self.get();
  double scale = scale_of(out.get(), dims, normalization);
  const int64_t last = wrapped_dim(dims[dims.size() - 1], x->dl.ndim);
  const FftDims others(x, {dims.data(), dims.size() - 1});
  const Result to(out);
  Tensor made;
  if (others.count) {
    made = lamella::allocate_like(x, x->dtype);
    if (lamella_status st = complex_along(x, made.get(), {others.all, others.count}, false, &scale)) return st;
    x = made.get();
  }
  if (last_dim_size == 1) {
    const Tensor real = parts_of(x, false);
    if (lamella_status st = scaled(to.get(), real.get(), &scale)) return st;
  } else if (lamella_status st =
                 transform({FftKind::complex_to_real, x, to.get(), {&last, 1}, false}, &scale, made.defined())) {
    return st;
  }
  return finish(to, scale);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<fft_c2c>(m, "_fft_c2c");
  add<fft_r2c>(m, "_fft_r2c");
  add<fft_c2r>(m, "_fft_c2r");
}

}  // namespace cuda
