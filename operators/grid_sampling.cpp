// Sampling of images at the places of a grid, and grids of affine maps. All are composites: their derivatives follow
// from the gathers and products that they call, as far as these are smooth.
#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

enum Mode : int64_t { bilinear = 0, nearest = 1, bicubic = 2 };
enum Padding : int64_t { zeros = 0, border = 1, reflection = 2 };

// The contribution of one axis to one tap: the index that is read, whether it is in the image, and its weight.
struct Tap {
  Tensor index, inside, weight;
};

// Maps [-1, 1] to places: with `align`, -1 and 1 are the middles of the outer pixels, else their edges.
Tensor place(const Tensor& x, int64_t size, bool align) {
  return align ? (x + 1) * (static_cast<double>(size - 1) / 2) : ((x + 1) * size - 1) / 2;
}

// Reflects places at the two edges until they are in the image.
Tensor reflected(const Tensor& x, int64_t size, bool align) {
  const double low = align ? 0 : -0.5, span = static_cast<double>(align ? size - 1 : size);
  if (span == 0) return x * 0;
  const Tensor from = (x - low).abs(), times = lamella::detach(from / span).floor(), part = from - times * span;
  const Tensor odd = times - (times / 2).floor() * 2 > 0.5;
  return lamella::where(odd, span - part, part) + low;
}

Tensor padded_place(const Tensor& x, int64_t size, int64_t padding, bool align) {
  if (padding == zeros) return x;
  const Tensor at = padding == reflection ? reflected(x, size, align) : x;
  // At the edge and beyond it a place has no derivative, as in torch; NaN becomes the first place.
  const double last = static_cast<double>(size - 1);
  const Tensor edge = lamella::nan_to_num(lamella::detach(at), 0.0).clamp(0, last);
  return lamella::where((at > 0) & (at < last), at, edge);
}

// Returns weights, with 0 for those of a place that is not finite. Such a place is outside of the image: what it reads
// there is 0, which a weight of NaN would make NaN.
Tensor weights_of(const Tensor& x) { return lamella::nan_to_num(x, 0.0, 0.0, 0.0); }

// Converts a whole number to an index. A place outside of the image reads an element at the edge, which `inside` leaves
// out.
Tap tap_at(const Tensor& at, int64_t size, const Tensor& weight) {
  const Tensor whole = lamella::detach(at);
  Tap t;
  t.inside = (whole >= 0) & (whole <= static_cast<double>(size - 1));
  t.index = whole.clamp(-1, static_cast<double>(size)).to(kLong).clamp(0, size - 1);
  t.weight = weight;
  return t;
}

// The cubic kernel of Keys (1981) with a = -0.75, at a distance below 1, and from 1 to 2.
Tensor keys_inner(const Tensor& x) { return ((x * 1.25 - 2.25) * x) * x + 1; }
Tensor keys_outer(const Tensor& x) { return ((x * -0.75 + 3.75) * x - 6) * x + 3; }

std::vector<Tap> taps_of(const Tensor& x, int64_t size, int64_t mode, int64_t padding, bool align) {
  const Tensor raw = place(x, size, align);
  if (mode == nearest) return {tap_at(padded_place(raw, size, padding, align).round(), size, Tensor())};
  if (mode == bilinear) {
    const Tensor at = padded_place(raw, size, padding, align), low = lamella::detach(at).floor();
    return {tap_at(low, size, weights_of(low + 1 - at)), tap_at(low + 1, size, weights_of(at - low))};
  }
  const Tensor low = lamella::detach(raw).floor(), part = weights_of(raw - low);
  const Tensor weight[] = {keys_outer(part + 1), keys_inner(part), keys_inner(1 - part), keys_outer(2 - part)};
  std::vector<Tap> taps;
  for (int k = 0; k < 4; k++)
    taps.push_back(tap_at(padded_place(low + (k - 1), size, padding, align), size, weight[k]));
  return taps;
}

void check_grid(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, int64_t axes) {
  LAMELLA_CHECK(input.dim() == axes + 2, argument("input"), ": expected ", axes + 2, " dimensions, got shape ",
                shape_text(input));
  LAMELLA_CHECK(grid.dim() == input.dim() && grid.size(-1) == axes && grid.size(0) == input.size(0), argument("grid"),
                ": expected a batch of ", input.size(0), ", and ", axes, " coordinates of each place, got shape ",
                shape_text(grid));
  LAMELLA_CHECK(input.is_floating_point() && grid.dtype() == input.dtype(), argument("grid"),
                ": expected one floating dtype of 'input' and 'grid', got ", input.dtype(), " and ", grid.dtype());
  for (int64_t d = 2; d < input.dim(); d++)
    LAMELLA_CHECK(input.size(d) > 0, argument("input"), ": shape ", shape_text(input), " has no pixels");
  LAMELLA_CHECK(mode >= 0 && mode <= 2, argument("interpolation_mode"), ": expected 0, 1 or 2, got ", mode);
  LAMELLA_CHECK(padding >= 0 && padding <= 2, argument("padding_mode"), ": expected 0, 1 or 2, got ", padding);
  LAMELLA_CHECK(mode != bicubic || axes == 2, argument("interpolation_mode"),
                ": bicubic interpolation only supports 4D input, got shape ", shape_text(input));
}

template <int Axes>
Tensor sample(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
              bool align_corners) {
  check_grid(input, grid, interpolation_mode, padding_mode, Axes);
  const ScalarType wide = wide_of(input.dtype());
  const int64_t n = input.size(0), channels = input.size(1);
  int64_t places = 1;
  DimVector sizes{n, channels};
  for (int d = 1; d <= Axes; d++) {
    sizes.push_back(grid.size(d));
    places *= grid.size(d);
  }
  const Tensor pixels = as(input, wide).reshape({n, channels, input.numel() / std::max<int64_t>(n * channels, 1)});
  const Tensor at = as(grid, wide).reshape({n, places, Axes});
  if (n * channels * places == 0) return (pixels.sum() + at.sum()).to(input.dtype()).expand(sizes).clone();
  // The last coordinate of the grid belongs to the first axis.
  std::vector<Tap> all{Tap{}};
  for (int d = 0; d < Axes; d++) {
    const int64_t size = input.size(2 + d);
    const auto axis = taps_of(at.select(2, Axes - 1 - d), size, interpolation_mode, padding_mode, align_corners);
    std::vector<Tap> next;
    for (const Tap& a : all)
      for (const Tap& b : axis) {
        if (!a.index.defined()) {
          next.push_back(b);
          continue;
        }
        next.push_back(
            {a.index * size + b.index, a.inside & b.inside, a.weight.defined() ? a.weight * b.weight : b.weight});
      }
    all = next;
  }
  Tensor sum;
  for (const Tap& t : all) {
    const Tensor taken = pixels.gather(2, t.index.unsqueeze(1).expand({n, channels, places}));
    Tensor seen = lamella::where(t.inside.unsqueeze(1), taken, 0);
    if (t.weight.defined()) seen = seen * t.weight.unsqueeze(1);
    sum = sum.defined() ? sum + seen : seen;
  }
  if (interpolation_mode == nearest) {  // the choice of the nearest pixel has no slope: a gradient of zeros
    const Tensor never = lamella::full({}, false, at.options().dtype(kBool));
    sum = sum + lamella::where(never, at.select(2, 0), 0).unsqueeze(1);
  }
  return as(sum, input.dtype()).reshape(sizes);
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  LAMELLA_CHECK(input.dim() == 4 || input.dim() == 5, argument("input"), ": expected 4 or 5 dimensions, got shape ",
                shape_text(input));
  return input.dim() == 4 ? sample<2>(input, grid, interpolation_mode, padding_mode, align_corners)
                          : sample<3>(input, grid, interpolation_mode, padding_mode, align_corners);
}

// Returns the places of n pixels evenly between -1 and 1; a single pixel is at 0.
Tensor evenly(int64_t n, bool align, const TensorOptions& options) {
  const double step = align ? (n > 1 ? 2 / static_cast<double>(n - 1) : 0) : 2 / static_cast<double>(n);
  const double first = align ? (n > 1 ? -1.0 : 0.0) : -1 + step / 2;
  return lamella::arange(n, options) * step + first;
}

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  LAMELLA_CHECK(axes == 2 || axes == 3, argument("size"),
                ": AffineGridGenerator needs 4d (spatial) or 5d (volumetric) "
                "inputs, got ",
                shape_text(size));
  LAMELLA_CHECK(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == axes && theta.size(2) == axes + 1,
                argument("theta"), ": expected shape ", shape_text(DimVector{size[0], axes, axes + 1}), ", got ",
                shape_text(theta));
  check_floating("theta", theta.dtype());
  const ScalarType wide = wide_of(theta.dtype());
  const TensorOptions options = theta.options().dtype(wide);
  DimVector sizes, full{size[0]};
  for (int64_t d = 0; d < axes; d++) {
    LAMELLA_CHECK(size[2 + d] > 0, argument("size"), ": expected positive sizes, got ", shape_text(size));
    sizes.push_back(size[2 + d]);
    full.push_back(size[2 + d]);
  }
  full.push_back(axes);
  std::vector<Tensor> base;
  for (int64_t d = axes - 1; d >= 0; d--) {
    DimVector along(axes, 1);
    along[d] = sizes[d];
    base.push_back(evenly(sizes[d], align_corners, options).reshape(along).expand(sizes).reshape({-1}));
  }
  base.push_back(lamella::ones_like(base[0]));
  const Tensor places = lamella::stack(base, 1);
  return as(lamella::matmul(places, as(theta, wide).transpose(1, 2)), theta.dtype()).reshape(full);
}

}  // namespace

#define SAMPLER(name) \
  name "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"

LAMELLA_FAMILY(grid_sampling, .category = "indexing", .forms = function) {
  return {
      {.schema = SAMPLER("grid_sampler_2d"),
       .dims = "n c h~ w~, n y x p~ -> n c y x",
       .composite = composite<sample<2>>,
       .doc = R"(An image (N, C, H, W) read at the places (x, y) of a grid (N, h, w, 2), in which the image reaches
from -1 to 1. `interpolation_mode` is 0 (bilinear), 1 (nearest) or 2 (bicubic); beyond the image
lie, by `padding_mode`, 0 zeros, 1 its border, 2 its reflection.

>>> image = lamella.arange(4.).view(1, 1, 2, 2)
>>> lamella.grid_sampler_2d(image, lamella.zeros(1, 1, 1, 2), 0, 0, False)
tensor([[[[1.5000]]]])
)"},
      {.schema = SAMPLER("grid_sampler_3d"),
       .dims = "n c d~ h~ w~, n z y x p~ -> n c z y x",
       .composite = composite<sample<3>>,
       .doc = R"(grid_sampler_2d, of volumes at places (x, y, z); without bicubic interpolation.

>>> volume = lamella.arange(8.).view(1, 1, 2, 2, 2)
>>> lamella.grid_sampler_3d(volume, lamella.zeros(1, 1, 1, 1, 3), 0, 0, False).item()
3.5
)"},
      {.schema = SAMPLER("grid_sampler"),
       .dims = "n c h~ w~, n y x p~ -> n c y x | n c d~ h~ w~, n z y x p~ -> n c z y x",
       .composite = composite<grid_sampler>,
       .doc = R"(grid_sampler_2d or grid_sampler_3d.

>>> image = lamella.arange(4.).view(1, 1, 2, 2)
>>> lamella.grid_sampler(image, lamella.ones(1, 1, 1, 2), 0, 1, True)
tensor([[[[3.]]]])
)"},
      {.schema = "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
       .category = "creation",
       .composite = composite<affine_grid_generator>,
       .doc = R"(The places, for grid_sampler, at which an affine map of each image of a batch reads.

>>> theta = lamella.tensor([[[1., 0., 0.], [0., 1., 0.]]])
>>> lamella.affine_grid_generator(theta, [1, 1, 1, 2], False)
tensor([[[[-0.5000,  0.0000],
          [ 0.5000,  0.0000]]]])
)"},
  };
}

}  // namespace lamella::operators
