// What the gradients of views and reductions are made of.
#include <cmath>
#include <numeric>

#include "functions.h"

namespace lamella::autograd {
namespace {

Tensor zeros(Compose& c, const Tensor& like, const Ints& shape) {
  return c.op<"zeros">(shape, As{static_cast<uint8_t>(like.dtype())}, none(), like.device());
}

int64_t wrap(int64_t d, int64_t n) { return d < 0 ? d + n : d; }

lamella_status zeros_of(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return c.give(r, zeros(c, c.arg(a[0]), c.ints(a[1])));
}

lamella_status permute_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Ints dims = c.ints(a[1]);
  Ints back(dims.size());
  for (size_t i = 0; i < dims.size(); i++)
    back[wrap(dims[i], static_cast<int64_t>(dims.size()))] = static_cast<int64_t>(i);
  return c.give(r, c.op<"permute">(c.arg(a[0]), back));
}

// ---- zeros, with the gradient where a view looked -----------------------------------------------------------------

template <class View>
lamella_status put(Compose& c, const lamella_value* a, lamella_value* r, View view) {
  const Tensor grad = c.arg(a[0]);
  const Tensor whole = zeros(c, grad, c.ints(a[1]));
  const Tensor part = view(whole);
  c.op<"copy_">(part, grad);
  return c.give(r, whole);
}

lamella_status select_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return put(c, a, r, [&](const Tensor& t) { return c.op<"select.int">(t, a[2], a[3]); });
}
lamella_status slice_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return put(c, a, r, [&](const Tensor& t) { return c.op<"slice.Tensor">(t, a[2], a[3], a[4], a[5]); });
}
lamella_status narrow_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return put(c, a, r, [&](const Tensor& t) { return c.op<"narrow">(t, a[2], a[3], a[4]); });
}
lamella_status diagonal_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  return put(c, a, r, [&](const Tensor& t) { return c.op<"diagonal">(t, a[2], a[3], a[4]); });
}

// Windows may overlap: what they share is added. They are read from the numbers of the elements.
lamella_status unfold_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]);
  const Ints shape = c.ints(a[1]);
  const int64_t n = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  const Tensor numbers = c.op<"reshape">(c.op<"arange">(n, none(), none(), grad.device()), shape);
  const Tensor index = c.op<"reshape">(c.op<"unfold">(numbers, a[2], a[3], a[4]), Ints{-1});
  const Tensor whole = zeros(c, grad, {n});
  return c.give(r, c.op<"reshape">(c.op<"index_add">(whole, 0, index, c.op<"reshape">(grad, Ints{-1})), shape));
}

// ---- strided views --------------------------------------------------------------------------------------------------

struct Strided {
  Ints sizes, strides;
  int64_t offset;

  int64_t numel() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); }
  int64_t end() const {  // one behind the last element
    int64_t last = offset;
    for (size_t i = 0; i < sizes.size(); i++) last += (sizes[i] - 1) * strides[i];
    return numel() ? last + 1 : offset;
  }
  // Whether no two places are the same: sorted by stride, each steps over all before.
  bool distinct() const {
    std::vector<std::pair<int64_t, int64_t>> by;
    for (size_t i = 0; i < sizes.size(); i++)
      if (sizes[i] != 1) by.emplace_back(strides[i], sizes[i]);
    std::sort(by.begin(), by.end());
    int64_t span = 1;
    for (const auto& [stride, size] : by) {
      if (stride < span) return false;
      span += (size - 1) * stride;
    }
    return true;
  }
};

Tensor read(Compose& c, const Tensor& flat, const Strided& s) {
  return c.op<"as_strided">(flat, s.sizes, s.strides, s.numel() ? s.offset : 0);
}

// The memory, flat, that the places of `view` get the gradient in: added where they meet.
Tensor spread(Compose& c, const Tensor& grad, const Strided& view, int64_t bytes) {
  const Tensor flat = zeros(c, grad, {bytes});
  if (view.distinct()) {
    c.op<"copy_">(read(c, flat, view), grad);
    return flat;
  }
  const Tensor numbers = c.op<"arange">(bytes, none(), none(), grad.device());
  const Tensor index = c.op<"reshape">(read(c, numbers, view), Ints{-1});
  return c.op<"index_add">(flat, 0, index, c.op<"reshape">(grad, Ints{-1}));
}

// Reads the base's places from the memory. Several that are one place share what came to it.
Tensor gather(Compose& c, const Tensor& flat, const Strided& base) {
  const Tensor all = read(c, flat, base);
  if (base.distinct()) return all;
  const Tensor ones = c.op<"ones_like">(all);
  const Tensor count = read(c, spread(c, ones, base, flat.numel()), base);
  return c.op<"div.Tensor">(all, count);
}

lamella_status strided_backward(Compose& c, const Tensor& grad, Strided base, Strided view, lamella_value* r) {
  const int64_t low = std::min(base.offset, view.offset);
  base.offset -= low;
  view.offset -= low;
  const Tensor flat = spread(c, grad, view, std::max(base.end(), view.end()));
  return c.give(r, gather(c, flat, base));
}

// as_strided looks at the storage, whatever part of it the tensor was.
lamella_status as_strided_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Strided base{c.ints(a[1]), c.ints(a[2]), a[3].as.i};
  const Strided view{c.ints(a[4]), c.ints(a[5]), a[6].tag == LAMELLA_NONE ? base.offset : a[6].as.i};
  return strided_backward(c, c.arg(a[0]), base, view, r);
}

// The same for any view of a base, complex ones and their parts among them: then both are counted in real numbers.
lamella_status any_strided_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  Tensor grad = c.arg(a[0]);
  Strided base{c.ints(a[1]), c.ints(a[2]), a[3].as.i}, view{c.ints(a[5]), c.ints(a[6]), a[7].as.i};
  const bool complex_base = a[4].as.i != 0, complex_view = grad.dtype() >= LAMELLA_COMPLEX64;
  const auto as_real = [](Strided& s) {
    for (int64_t& n : s.strides) n *= 2;
    s.offset *= 2;
    s.sizes.push_back(2);
    s.strides.push_back(1);
  };
  if (complex_base == complex_view) return strided_backward(c, grad, base, view, r);
  if (complex_base) as_real(base);
  if (complex_view) {
    as_real(view);
    grad = c.op<"view_as_real">(grad);
  }
  lamella_value real = none();
  if (lamella_status st = strided_backward(c, grad, base, view, &real)) return st;
  Tensor whole = Tensor::steal(real.as.tensor);
  if (complex_base) whole = c.op<"view_as_complex">(c.op<"contiguous">(whole));
  return c.give(r, whole);
}

// Negative padding cuts away what was added.
lamella_status pad_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  Ints back = c.ints(a[1]);
  for (int64_t& n : back) n = -n;
  return c.give(r, c.op<"constant_pad_nd">(c.arg(a[0]), back));
}

lamella_status cat_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]);
  const Ints shapes = c.ints(a[1]);
  const int64_t dim = wrap(a[2].as.i, grad.dim());
  Ints lengths, legacy;  // an empty one fits anywhere
  for (size_t i = 0; i < shapes.size(); i += shapes[i] + 1) {
    const bool fits = grad.dim() == shapes[i];
    if (!fits) legacy.push_back(static_cast<int64_t>(lengths.size()));
    lengths.push_back(fits ? shapes[i + 1 + dim] : 0);
  }
  std::vector<Tensor> parts = c.list<"split_with_sizes">(grad, lengths, dim);
  for (int64_t i : legacy)
    if (c) parts[i] = zeros(c, grad, {0});
  return c.give(r, parts);
}

// ---- reductions -----------------------------------------------------------------------------------------------------

// The dimensions of a list, all of them if it is absent or empty; sorted.
Ints reduced(Compose& c, const lamella_value& dims, int64_t n) {
  Ints all = dims.tag == LAMELLA_INT ? Ints{dims.as.i} : c.ints(dims);
  if (all.empty())
    for (int64_t i = 0; i < n; i++) all.push_back(i);
  for (int64_t& d : all) d = wrap(d, std::max<int64_t>(n, 1));
  std::sort(all.begin(), all.end());
  return all;
}

// With the dimensions that a reduction dropped, of size one.
Tensor kept(Compose& c, Tensor t, const Ints& dims, bool keepdim, int64_t n) {
  for (int64_t d : dims)
    if (!keepdim && n > 0) t = c.op<"unsqueeze">(t, d);
  return t;
}

lamella_status unreduce(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Ints shape = c.ints(a[1]);
  const auto n = static_cast<int64_t>(shape.size());
  return c.give(r, c.op<"expand">(kept(c, c.arg(a[0]), reduced(c, a[2], n), a[3].as.i != 0, n), shape));
}

lamella_status mean_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Ints shape = c.ints(a[1]);
  const auto n = static_cast<int64_t>(shape.size());
  const Ints dims = reduced(c, a[2], n);
  int64_t count = 1;
  for (int64_t d : dims) count *= n ? shape[d] : 1;
  const Tensor grad = c.op<"div.Scalar">(c.arg(a[0]), count);
  return c.give(r, c.op<"expand">(kept(c, grad, dims, a[3].as.i != 0, n), shape));
}

lamella_status extremum_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor x = c.arg(a[1]);
  const int64_t n = x.dim();
  const Ints dims = reduced(c, a[3], n);
  const bool keepdim = a[4].as.i != 0;
  const Tensor grad = kept(c, c.arg(a[0]), dims, keepdim, n), result = kept(c, c.arg(a[2]), dims, keepdim, n);
  Tensor mask = c.op<"eq.Tensor">(x, result);
  if (a[3].tag == LAMELLA_NONE) mask = c.op<"logical_or">(mask, c.op<"isnan">(x));
  const Tensor count = n ? c.op<"sum.dim_IntList">(mask, dims, true) : Tensor();
  const Tensor share = count ? c.op<"div.Tensor">(grad, count) : grad;
  if (a[3].tag == LAMELLA_NONE) return c.give(r, c.op<"where.ScalarOther">(mask, share, 0.0));
  return c.give(r, c.op<"mul.Tensor">(share, mask));
}

// The product of all others, without a division: those before times those after.
lamella_status prod_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor x = c.arg(a[1]);
  const int64_t n = x.dim(), d = wrap(a[2].as.i, std::max<int64_t>(n, 1));
  if (n == 0) return c.give(r, c.arg(a[0]));
  const Tensor grad = kept(c, c.arg(a[0]), {d}, a[3].as.i != 0, n);
  Ints one = c.shape(x);
  const int64_t size = one[d];
  if (size == 0) return c.give(r, zeros(c, x, one));
  one[d] = 1;
  const Tensor ones = c.op<"ones">(one, As{static_cast<uint8_t>(x.dtype())}, none(), x.device());
  const auto exclusive = [&](const Tensor& t) {  // products of those before
    const Tensor parts[] = {ones, c.op<"narrow">(t, d, 0, size - 1)};
    lamella_tensor* list[] = {parts[0].get(), parts[1].get()};
    lamella_value v{LAMELLA_TENSOR_LIST, 2, {0}};
    v.as.tensors = list;
    return c ? c.op<"cumprod">(c.op<"cat">(v, d), d) : Tensor();
  };
  const Tensor before = exclusive(x);
  const Tensor after = c.op<"flip">(exclusive(c.op<"flip">(x, Ints{d})), Ints{d});
  Tensor others = c.op<"mul.Tensor">(before, after);
  if (others && others.dtype() >= LAMELLA_COMPLEX64) others = c.op<"conj">(others);
  return c.give(r, c.op<"mul.Tensor">(grad, others));
}

// (grad, size, dim, indices, keepdim): to the one that was chosen.
lamella_status pick_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Ints shape = c.ints(a[1]);
  const auto n = static_cast<int64_t>(shape.size());
  const Ints dims{wrap(a[2].as.i, std::max<int64_t>(n, 1))};
  const Tensor grad = kept(c, c.arg(a[0]), dims, a[4].as.i != 0, n), at = kept(c, c.arg(a[3]), dims, a[4].as.i != 0, n);
  return c.give(r, c.op<"scatter.src">(zeros(c, grad, shape), a[2], at, grad));
}

// (grad?, grad_mean?, self, std?, dim?, correction?, keepdim): of a variance, or of the standard deviation if that is
// given, beside which the mean may be a result of its own. Where the deviation is zero, so is its gradient.
lamella_status spread_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor x = c.arg(a[2]);
  const int64_t n = x.dim();
  const Ints dims = reduced(c, a[4], n);
  int64_t count = 1;
  for (int64_t d : dims) count *= n ? x.size(d) : 1;
  const double left = static_cast<double>(count) - (a[5].tag == LAMELLA_NONE ? 1 : as_double(a[5]));
  const auto kept_of = [&](const lamella_value& v) { return kept(c, c.arg(v), dims, a[6].as.i != 0, n); };
  Tensor out;
  if (c.arg(a[0])) {
    Tensor slope;
    if (c.arg(a[3])) {
      const Tensor std = kept_of(a[3]), flat = c.op<"eq.Scalar">(std, 0);
      const Tensor root = c.op<"div.Tensor">(kept_of(a[0]), c.op<"where.ScalarSelf">(flat, 1, std));
      slope = c.op<"where.ScalarSelf">(flat, 0, root);
    } else {
      slope = c.op<"mul.Scalar">(kept_of(a[0]), 2);
    }
    const Tensor mean = n ? c.op<"mean.dim">(x, dims, true) : x;
    out = c.op<"mul.Tensor">(c.op<"sub.Tensor">(x, mean), c.op<"div.Scalar">(slope, std::max(left, 0.)));
  }
  if (c.arg(a[1])) {
    const Tensor each = c.op<"div.Scalar">(kept_of(a[1]), count);
    out = out ? c.op<"add.Tensor">(out, each) : c.op<"expand">(each, c.shape(x));
  }
  return c.give(r, out);
}

// (grad, self, ord, dim?, keepdim, result). Where the norm is zero, so is the gradient.
lamella_status vector_norm_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor x = c.arg(a[1]);
  const double p = as_double(a[2]);
  const Ints dims = reduced(c, a[3], x.dim());
  const bool keepdim = a[4].as.i != 0;
  const Tensor grad = kept(c, c.arg(a[0]), dims, keepdim, x.dim()), norm = kept(c, c.arg(a[5]), dims, keepdim, x.dim());
  if (p == 0) return c.give(r, c.op<"zeros_like">(x));
  if (p == 1) return c.give(r, c.op<"mul.Tensor">(c.op<"sgn">(x), grad));
  const auto apart = [&](const Tensor& t) { return c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(t, 0), 1, t); };
  const auto unless_zero = [&](const Tensor& of, const Tensor& t) {
    return c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(of, 0), 0, t);
  };
  if (std::isinf(p)) {  // those that are the extremum share
    const Tensor mask = c.op<"eq.Tensor">(c.op<"abs">(x), norm);
    const Tensor count = x.dim() ? c.op<"sum.dim_IntList">(mask, dims, true) : c.op<"ones_like">(norm);
    const Tensor share = c.op<"div.Tensor">(grad, count);
    return c.give(r, c.op<"mul.Tensor">(c.op<"sgn">(x), c.op<"where.ScalarOther">(mask, share, 0)));
  }
  const Tensor power = p == 2 ? apart(norm) : c.op<"pow.Tensor_Scalar">(apart(norm), p - 1);
  const Tensor each = unless_zero(norm, c.op<"div.Tensor">(grad, power));
  if (p == 2) return c.give(r, c.op<"mul.Tensor">(x, each));
  // Below two in another order, so that neither a tiny nor an infinite element meets the inverse of its size.
  const bool direction = p < 2;
  const Tensor size = c.op<"abs">(apart(x));
  const Tensor weight = unless_zero(x, c.op<"pow.Tensor_Scalar">(size, direction ? p - 1 : p - 2));
  return c.give(r, c.op<"mul.Tensor">(c.op<"mul.Tensor">(direction ? c.op<"sgn">(x) : x, weight), each));
}

}  // namespace

void define_shape_functions(Library& m) {
  struct {
    const char* schema;
    lamella_kernel kernel;
  } const all[] = {
      {"_zeros(Tensor like, int[] size) -> Tensor", zeros_of},
      {"_permute_backward(Tensor grad, int[] dims) -> Tensor", permute_backward},
      {"_select_backward(Tensor grad, int[] size, int dim, int index) -> Tensor", select_backward},
      {"_slice_backward(Tensor grad, int[] size, int dim, int? start, int? end, int step) -> Tensor", slice_backward},
      {"_narrow_backward(Tensor grad, int[] size, int dim, int start, int length) -> Tensor", narrow_backward},
      {"_diagonal_backward(Tensor grad, int[] size, int offset, int dim1, int dim2) -> Tensor", diagonal_backward},
      {"_unfold_backward(Tensor grad, int[] shape, int dim, int size, int step) -> Tensor", unfold_backward},
      {"_as_strided_backward(Tensor grad, int[] base_size, int[] base_stride, int base_offset, int[] size, "
       "int[] stride, int? storage_offset) -> Tensor",
       as_strided_backward},
      {"_strided_backward(Tensor grad, int[] base_size, int[] base_stride, int base_offset, bool complex_base, "
       "int[] size, int[] stride, int offset) -> Tensor",
       any_strided_backward},
      {"_pad_backward(Tensor grad, int[] pad) -> Tensor", pad_backward},
      {"_cat_backward(Tensor grad, int[] shapes, int dim) -> Tensor[]", cat_backward},
      {"_unreduce(Tensor grad, int[] size, int[]? dim, bool keepdim) -> Tensor", unreduce},
      {"_mean_backward(Tensor grad, int[] size, int[]? dim, bool keepdim) -> Tensor", mean_backward},
      {"_extremum_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, bool keepdim) -> Tensor",
       extremum_backward},
      {"_pick_backward(Tensor grad, int[] size, int dim, Tensor indices, bool keepdim) -> Tensor", pick_backward},
      {"_spread_backward(Tensor? grad, Tensor? grad_mean, Tensor self, Tensor? std, int[]? dim, Scalar? correction, "
       "bool keepdim) -> Tensor",
       spread_backward},
      {"_vector_norm_backward(Tensor grad, Tensor self, Scalar ord, int[]? dim, bool keepdim, Tensor result) -> Tensor",
       vector_norm_backward},
      {"_prod_backward(Tensor grad, Tensor self, int dim, bool keepdim) -> Tensor", prod_backward},
  };
  for (const auto& o : all) composite(m, o.schema, o.kernel);
}

}  // namespace lamella::autograd
