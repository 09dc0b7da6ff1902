// Pooling over windows of volumes: first the planes, then along the depth, which gives the same windows.
#include "operators/pooling.h"

namespace lamella::operators {

Volume::Volume(const Tensor& self)
    : lead(self.dim() == 5 ? self.size(0) * self.size(1) : self.size(0)),
      depth(self.size(-3)),
      plane(self.size(-2) * self.size(-1)) {}

Tensor Volume::planes(const Tensor& self) const { return self.reshape({lead * depth, self.size(-2), self.size(-1)}); }

Tensor Volume::columns(const Tensor& planes, int64_t inner) const { return planes.reshape({lead, depth, inner}); }

namespace {

// The arguments of a pool of two dimensions: over the planes of a volume, or over Volume::columns(), whose height
// is the depth.
struct Flat {
  DimVector kernel, stride, padding, dilation;
};

Flat of_planes(const Pool& p) {
  return {{p.kernel[1], p.kernel[2]},
          {p.stride[1], p.stride[2]},
          {p.padding[1], p.padding[2]},
          {p.dilation[1], p.dilation[2]}};
}

Flat of_depth(const Pool& p) { return {{p.kernel[0], 1}, {p.stride[0], 1}, {p.padding[0], 0}, {p.dilation[0], 1}}; }

void infer_max(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode, Output out) {
  check_ordered(self);
  const Pool p = read_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  set_pooled(out, self, 3, p.places);
}

Tensor max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool ceil_mode) {
  const Pool p = read_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  const Volume v(self);
  auto pool = [&](const Tensor& x, const Flat& f) {
    return lamella::max_pool2d(x, f.kernel, f.stride, f.padding, f.dilation, ceil_mode);
  };
  const Tensor planes = pool(v.planes(self), of_planes(p));
  return pool(v.columns(planes, p.places[1] * p.places[2]), of_depth(p)).reshape(pooled_sizes(self, 3, p.places));
}

void infer_max_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, bool ceil_mode, Output values, Output indices) {
  infer_max(self, kernel_size, stride, padding, dilation, ceil_mode, values);
  indices.set(values.sizes(), kLong);
}

// The index along the depth chooses the plane and the place in it; the index within that plane is known from the first
// pool. A window of padding alone has -1.
std::tuple<Tensor, Tensor> max_pool_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Pool p = read_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  const Volume v(self);
  auto pool = [&](const Tensor& x, const Flat& f) {
    return lamella::max_pool2d_with_indices(x, f.kernel, f.stride, f.padding, f.dilation, ceil_mode);
  };
  const int64_t inner = p.places[1] * p.places[2];
  const auto [planes, in_plane] = pool(v.planes(self), of_planes(p));
  const auto [values, along] = pool(v.columns(planes, inner), of_depth(p));
  const Tensor flat = along.reshape({v.lead, p.places[0] * inner}), at = flat.clamp(0);
  const Tensor place = in_plane.reshape({v.lead, v.depth * inner}).gather(1, at);
  const Tensor whole = lamella::div(at, inner, "floor") * v.plane + place;
  const DimVector sizes = pooled_sizes(self, 3, p.places);
  return {values.reshape(sizes), lamella::where((flat < 0) | (place < 0), -1, whole).reshape(sizes)};
}

void infer_avg(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
               bool /*count_include_pad*/, std::optional<int64_t> divisor_override, Output out) {
  check_averages(self);
  const Pool p = read_pool(self, 3, kernel_size, stride, padding, 1, ceil_mode);
  check_divisor(divisor_override);
  set_pooled(out, self, 3, p.places);
}

// Computes means of means, since a window's count is the product of the counts in its planes and along the depth. Sums
// are divided only at the end for `divisor_override` and for integers.
Tensor avg_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override) {
  const Pool p = read_pool(self, 3, kernel_size, stride, padding, 1, ceil_mode);
  const Volume v(self);
  const bool sums = divisor_override || !self.is_floating_point();
  auto pool = [&](const Tensor& x, const Flat& f) {
    return lamella::avg_pool2d(x, f.kernel, f.stride, f.padding, ceil_mode, count_include_pad,
                               sums ? std::optional<int64_t>(1) : std::nullopt);
  };
  const Tensor planes = pool(v.planes(as(self, wide_of(self.dtype()))), of_planes(p));
  Tensor all = pool(v.columns(planes, p.places[1] * p.places[2]), of_depth(p)).reshape(pooled_sizes(self, 3, p.places));
  if (divisor_override)
    all = mean_of(all, *divisor_override);
  else if (sums)
    all = mean_of(all, counted(self, p, count_include_pad));
  return as(all, self.dtype());
}

}  // namespace

#define WINDOW "int[3] kernel_size, int[3] stride=[], int[3] padding=0, "

LAMELLA_FAMILY(volume_pooling, .category = "pooling", .forms = function | hidden) {
  return {
      {.schema = "max_pool3d(Tensor self, " WINDOW "int[3] dilation=1, bool ceil_mode=False) -> Tensor",
       .dims = "n c d~ h~ w~ -> n c d~ h~ w~ | c d~ h~ w~ -> c d~ h~ w~",
       .forms = function,
       .infer = shape<infer_max>,
       .composite = composite<max_pool>,
       .doc = R"(The largest element of each window of volumes (n, c, depth, height, width), or without n. See
max_pool2d.

>>> lamella.max_pool3d(lamella.arange(8.).view(1, 2, 2, 2), (1, 2, 2)).flatten()
tensor([3., 7.])
)"},
      {.schema = "max_pool3d_with_indices(Tensor self, " WINDOW
                 "int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
       .dims = "n c d~ h~ w~ -> n c d~ h~ w~, n c d~ h~ w~ | c d~ h~ w~ -> c d~ h~ w~, c d~ h~ w~",
       .infer = shape<infer_max_indices>,
       .composite = composite<max_pool_indices>,
       .doc = R"(max_pool3d, and where in its volume each element stood.

>>> lamella.ops.aten.max_pool3d_with_indices(lamella.arange(8.).view(1, 2, 2, 2), (1, 2, 2))[1].flatten()
tensor([3, 7])
)"},
      {.schema = "avg_pool3d(Tensor self, " WINDOW
                 "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
       .dims = "n c d~ h~ w~ -> n c d~ h~ w~ | c d~ h~ w~ -> c d~ h~ w~",
       .forms = function | hidden | out,
       .infer = shape<infer_avg>,
       .composite = composite<avg_pool>,
       .doc = R"(The mean of each window of volumes (n, c, depth, height, width), or without n. See avg_pool2d.

>>> lamella.ops.aten.avg_pool3d(lamella.arange(8.).view(1, 2, 2, 2), (1, 2, 2)).flatten()
tensor([1.5000, 5.5000])
)"},
  };
}

}  // namespace lamella::operators
