// Pools whose windows begin at random places, and largest_of(), which pools with uneven windows share.
#include "operators/pooling.h"

namespace lamella::operators {

// Gathers all taps by flat indices (images and channels, taps, places), and takes the first of the largest.
std::tuple<Tensor, Tensor> largest_of(const Tensor& self, int spatial, ArrayRef<Tensor> tables) {
  int64_t lead = 1, plane = 1, places = 1, taps = 1;
  DimVector sizes(self.sizes());
  for (int64_t d = 0; d < self.dim() - spatial; d++) lead *= self.size(d);
  Tensor at;
  for (int i = 0; i < spatial; i++) {
    const Tensor& t = tables[i];
    const int64_t n = self.size(i - spatial), each = t.size(1), many = t.size(2);
    const Tensor along = t.reshape({t.size(0), 1, each, 1, many});
    at = at.defined() ? at.reshape({at.size(0), taps, 1, places, 1}) * n + along : along;
    taps *= each;
    places *= many;
    plane *= n;
    at = at.reshape({at.size(0), taps, places});
    sizes[sizes.size() - spatial + i] = many;
  }
  const Tensor index = at.expand({lead, taps, places}), flat = self.reshape({lead, plane});
  const Tensor seen = flat.gather(1, index.reshape({lead, taps * places})).reshape({lead, taps, places});
  const Tensor best = index.gather(1, seen.argmax(1, true)).squeeze(1);
  return {flat.gather(1, best).reshape(sizes), best.reshape(sizes)};
}

namespace {

// Returns the places of windows of k along n elements, for each image and channel. Window i begins at (i + u) steps
// less u steps, each cut to an integer; the last one ends with the image (Graham, Fractional max-pooling, 2014).
Tensor random_windows(const Tensor& u, int64_t n, int64_t places, int64_t k) {
  const TensorOptions options = u.options().dtype(kLong);
  Tensor begin = lamella::full({u.size(0), 1}, n - k, options);
  if (places > 1) {
    const double step = static_cast<double>(n - k) / static_cast<double>(places - 1);
    const Tensor column = u.unsqueeze(1), i = lamella::arange(0, places - 1, 1, u.options());
    const Tensor first = ((column + i) * step).to(kLong) - (column * step).to(kLong);
    begin = lamella::cat({first, begin}, 1);
  }
  return begin.unsqueeze(1) + lamella::arange(0, k, 1, options).unsqueeze(1);
}

template <int Spatial>
std::tuple<Tensor, Tensor> fractional_max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                               const Tensor& random_samples) {
  int64_t kernel[3], places[3];
  check_ordered(self);
  check_spatial(self, Spatial);
  read_spatial("kernel_size", kernel_size, Spatial, 1, kernel);
  read_spatial("output_size", output_size, Spatial, 1, places);
  const bool batched = self.dim() == Spatial + 2;
  const DimVector wanted{batched ? self.size(0) : 1, self.size(-Spatial - 1), Spatial};
  LAMELLA_CHECK(random_samples.dtype() == self.dtype() || !self.is_floating_point(), argument("random_samples"),
                ": expected numbers of [0, 1) in the dtype of the input, ", self.dtype(), ", got ",
                random_samples.dtype());
  LAMELLA_CHECK(random_samples.is_floating_point(), argument("random_samples"),
                ": expected numbers of [0, 1) in a floating dtype, got ", random_samples.dtype());
  // Samples for more images than `self` has are not used.
  const bool enough = random_samples.dim() == 3 && random_samples.size(0) >= wanted[0];
  LAMELLA_CHECK(enough && random_samples.size(1) == wanted[1] && random_samples.size(2) == Spatial,
                argument("random_samples"), ": expected shape ", shape_text(wanted), ", got shape ",
                shape_text(random_samples));
  const Tensor samples = random_samples.narrow(0, 0, wanted[0]).reshape({wanted[0] * wanted[1], Spatial});
  Tensor tables[Spatial];
  for (int i = 0; i < Spatial; i++) {
    const int64_t n = self.size(i - Spatial);
    LAMELLA_CHECK(places[i] + kernel[i] - 1 <= n, argument("kernel_size"), ": ", places[i], " windows of ", kernel[i],
                  " do not fit into size ", n);
    // For an image the first number is for its columns, for a volume for its depth.
    tables[i] = random_windows(samples.select(1, Spatial == 2 ? 1 - i : i), n, places[i], kernel[i]);
  }
  return largest_of(self, Spatial, ArrayRef<Tensor>(tables, Spatial));
}

}  // namespace

LAMELLA_FAMILY(fractional_pooling, .category = "pooling", .forms = function | hidden) {
  return {
      {.schema = "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> "
                 "(Tensor, Tensor)",
       .dims = "n c h~ w~, n c p~ -> n c h~ w~, n c h~ w~ | c h~ w~, n c p~ -> c h~ w~, c h~ w~",
       .composite = composite<fractional_max_pool<2>>,
       .doc = R"(The largest element of each window of images, and where in its plane it stood. Windows begin where
`random_samples`, numbers of [0, 1) for each image, channel and dimension, say.

>>> lamella.ops.aten.fractional_max_pool2d(lamella.arange(16.).view(1, 4, 4), 2, 2, lamella.zeros(1, 1, 2))[1]
tensor([[[ 5,  7],
         [13, 15]]])
)"},
      {.schema = "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> "
                 "(Tensor, Tensor)",
       .dims = "n c d~ h~ w~, n c p~ -> n c d~ h~ w~, n c d~ h~ w~ | c d~ h~ w~, n c p~ -> c d~ h~ w~, c d~ h~ w~",
       .composite = composite<fractional_max_pool<3>>,
       .doc = R"(The largest element of each window of volumes, and where in its volume it stood. See
fractional_max_pool2d.

>>> lamella.ops.aten.fractional_max_pool3d(lamella.arange(8.).view(1, 2, 2, 2), 1, 1, lamella.zeros(1, 1, 3))[1].flatten()
tensor([7])
)"},
  };
}

}  // namespace lamella::operators
