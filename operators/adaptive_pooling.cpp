// Adaptive pools, whose windows divide an image evenly: the mean or the largest element of each window.
#include "operators/pooling.h"

namespace lamella::operators {

void read_adaptive(const Tensor& self, IntArrayRef output_size, int spatial, int64_t* places) {
  check_spatial(self, spatial);
  read_spatial("output_size", output_size, spatial, 0, places);
  for (int i = 0; i < spatial; i++)
    LAMELLA_CHECK(self.size(i - spatial) != 0, argument("self"), ": shape ", shape_text(self), " has no pixels");
}

namespace {

template <int Spatial>
void infer_adaptive_avg(const Tensor& self, IntArrayRef output_size, Output out) {
  int64_t places[3];
  check_has_mean(self);
  read_adaptive(self, output_size, Spatial, places);
  set_pooled(out, self, Spatial, places);
}

// Averages along dimension d: place i is the mean of the i-th of `places` strips.
Tensor adaptive_dim(const Tensor& x, int64_t d, int64_t places) {
  const int64_t n = x.size(d);
  if (n == places) return x;
  DimVector sizes(x.sizes());
  sizes[d] = places;
  const Tensor out = lamella::empty(sizes, x.options());
  for (int64_t i = 0; i < places; i++) {
    const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
    const Tensor strip = lamella::slice(x, d, begin, end, 1).sum(d, true) / (end - begin);
    lamella::slice(out, d, i, i + 1, 1).copy_(strip);
  }
  return out;
}

Tensor adaptive_avg_pool(const Tensor& self, IntArrayRef output_size) {
  int64_t places[2];
  read_adaptive(self, output_size, 2, places);
  const Tensor rows = adaptive_dim(self, self.dim() - 2, places[0]);
  return laid_out(adaptive_dim(rows, self.dim() - 1, places[1]), self);
}

void infer_adaptive_backward(const Tensor& grad_output, const Tensor& self, Output out) {
  check_has_mean(self);
  check_spatial(self, 2);
  const IntArrayRef g = grad_output.sizes(), x = self.sizes();
  LAMELLA_CHECK(g.size() == x.size() && std::equal(g.begin(), g.end() - 2, x.begin()), argument("grad_output"),
                ": expected the shape of 'self', ", shape_text(x), ", but for the last two sizes, got shape ",
                shape_text(g));
  LAMELLA_CHECK(grad_output.dtype() == self.dtype(), argument("grad_output"), ": its dtype ", grad_output.dtype(),
                " is not that of 'self', ", self.dtype(), "; convert one with .to(...)");
  set_image(out, x, self.dtype(), channels_last(self));
}

// Along each dimension, each place's gradient is divided by its strip's length, spread over the strip, and summed.
Tensor adaptive_avg_pool_backward(const Tensor& grad_output, const Tensor& self) {
  Tensor g = grad_output;
  for (int64_t d = self.dim() - 2; d < self.dim(); d++) {
    const int64_t n = self.size(d), places = g.size(d);
    if (n == places) continue;
    DimVector sizes(g.sizes());
    sizes[d] = n;
    Tensor sum = lamella::zeros(sizes, self.options());
    for (int64_t i = 0; i < places; i++) {
      const int64_t begin = i * n / places, end = ((i + 1) * n + places - 1) / places;
      DimVector strip = sizes;
      strip[d] = end - begin;
      const Tensor share = lamella::slice(g, d, i, i + 1, 1) / (end - begin);
      sum = sum + padded_along(share.expand(strip), d, begin, n - end);
    }
    g = sum;
  }
  return laid_out(g, self);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return lamella::adaptive_avg_pool2d(self.unsqueeze(-2), {1, output_size[0]}).squeeze(-2);
}

// Pools the planes, then along the depth.
Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  int64_t places[3];
  check_has_mean(self);
  read_adaptive(self, output_size, 3, places);
  const Volume v(self);
  const Tensor planes = lamella::adaptive_avg_pool2d(v.planes(as(self, wide_of(self.dtype()))), {places[1], places[2]});
  const int64_t inner = places[1] * places[2];
  const Tensor all = inner ? lamella::adaptive_avg_pool2d(v.columns(planes, inner), {places[0], inner}) : planes;
  return as(all.reshape(pooled_sizes(self, 3, places)), self.dtype());
}

// ---- max pools -----------------------------------------------------------------------------------------------------

// Returns the places of each window, the last one repeated where a window has fewer than the longest: the repetition
// changes no result, since the first of equal elements counts.
Tensor even_windows(const Tensor& self, int64_t n, int64_t places) {
  int64_t longest = 1;
  for (int64_t i = 0; i < places; i++)
    longest = std::max(longest, ((i + 1) * n + places - 1) / places - i * n / places);
  const TensorOptions options = self.options().dtype(kLong);
  const Tensor i = lamella::arange(0, places, 1, options);
  const Tensor begin = lamella::div(i * n, std::max<int64_t>(places, 1), "floor");
  const Tensor last = lamella::div((i + 1) * n - 1, std::max<int64_t>(places, 1), "floor");
  const Tensor taps = begin + lamella::arange(0, longest, 1, options).unsqueeze(1);
  return lamella::minimum(taps, last).unsqueeze(0);
}

// Calls the plain max pool if, along each dimension, all windows have one size and lie side by side.
template <int Spatial>
std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self, IntArrayRef output_size) {
  int64_t places[3], kernel[3];
  check_ordered(self);
  read_adaptive(self, output_size, Spatial, places);
  bool even = true;
  for (int i = 0; i < Spatial; i++) {
    const int64_t n = self.size(i - Spatial);
    even = even && places[i] && n % places[i] == 0;
    kernel[i] = places[i] ? n / places[i] : 1;
  }
  const IntArrayRef side(kernel, Spatial);
  if (even) {
    if constexpr (Spatial == 1) return lamella::max_pool1d_with_indices(self, side);
    if constexpr (Spatial == 2) return lamella::max_pool2d_with_indices(self, side);
    if constexpr (Spatial == 3) return lamella::max_pool3d_with_indices(self, side);
  }
  Tensor tables[Spatial];
  for (int i = 0; i < Spatial; i++) tables[i] = even_windows(self, self.size(i - Spatial), places[i]);
  return largest_of(self, Spatial, ArrayRef<Tensor>(tables, Spatial));
}

}  // namespace

LAMELLA_FAMILY(adaptive_pooling, .category = "pooling", .forms = function | hidden) {
  return {
      {.schema = "adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
       .dims = "n c h~ w~ -> n c h~ w~ | c h~ w~ -> c h~ w~",
       .infer = shape<infer_adaptive_avg<2>>,
       .composite = composite<adaptive_avg_pool>,
       .doc = R"(Means of as many windows as asked for, which divide the image evenly.

>>> lamella.ops.aten.adaptive_avg_pool2d(lamella.arange(16.).view(1, 4, 4), 1)
tensor([[[7.5000]]])
)"},
      {.schema = "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
       .dims = "n c w~ -> n c w~ | c w~ -> c w~",
       .forms = function,
       .infer = shape<infer_adaptive_avg<1>>,
       .composite = composite<adaptive_avg_pool1d>,
       .doc = R"(Means of as many windows as asked for along the last dimension.

>>> lamella.adaptive_avg_pool1d(lamella.tensor([[1., 3., 2., 4.]]), 2)
tensor([[2., 3.]])
)"},
      {.schema = "adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
       .dims = "n c d~ h~ w~ -> n c d~ h~ w~ | c d~ h~ w~ -> c d~ h~ w~",
       .composite = composite<adaptive_avg_pool3d>,
       .doc = R"(Means of as many windows as asked for, which divide the volume evenly.

>>> lamella.ops.aten.adaptive_avg_pool3d(lamella.arange(8.).view(1, 2, 2, 2), (2, 1, 1)).flatten()
tensor([1.5000, 5.5000])
)"},
      {.schema = "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
       .dims = "n c w~ -> n c w~, n c w~ | c w~ -> c w~, c w~",
       .forms = function,
       .composite = composite<adaptive_max_pool<1>>,
       .doc = R"(The largest element of each of as many windows as asked for, which divide the last dimension evenly,
and where it stood.

>>> lamella.adaptive_max_pool1d(lamella.tensor([[1., 3., 2.]]), 2)
(tensor([[3., 3.]]), tensor([[1, 1]]))
)"},
      {.schema = "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
       .dims = "n c h~ w~ -> n c h~ w~, n c h~ w~ | c h~ w~ -> c h~ w~, c h~ w~",
       .composite = composite<adaptive_max_pool<2>>,
       .doc = R"(The largest element of each of as many windows as asked for, which divide the image evenly, and
where in its plane it stood.

>>> lamella.ops.aten.adaptive_max_pool2d(lamella.arange(16.).view(1, 4, 4), 1)
(tensor([[[15.]]]), tensor([[[15]]]))
)"},
      {.schema = "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
       .dims = "n c d~ h~ w~ -> n c d~ h~ w~, n c d~ h~ w~ | c d~ h~ w~ -> c d~ h~ w~, c d~ h~ w~",
       .composite = composite<adaptive_max_pool<3>>,
       .doc = R"(The largest element of each of as many windows as asked for, which divide the volume evenly, and
where in it it stood.

>>> lamella.ops.aten.adaptive_max_pool3d(lamella.arange(8.).view(1, 2, 2, 2), 1)
(tensor([[[[7.]]]]), tensor([[[[7]]]]))
)"},
      {.schema = "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
       .dims = "n c h~ w~, n c h~ w~ -> n c h~ w~ | c h~ w~, c h~ w~ -> c h~ w~",
       .infer = shape<infer_adaptive_backward>,
       .composite = composite<adaptive_avg_pool_backward>,
       .doc = "The gradient of adaptive_avg_pool2d."},
  };
}

}  // namespace lamella::operators
