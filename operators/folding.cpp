// im2col writes the windows of images as columns; col2im adds columns up to images. Each is the other's gradient.
#include "operators/windows.h"

namespace lamella::operators {
namespace {

struct Blocks {
  int64_t kernel[2], dilation[2], padding[2], stride[2], places[2];
};

// Reads the windows over an image of these sizes.
Blocks read_blocks(int64_t height, int64_t width, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                   IntArrayRef stride, const char* sized) {
  Blocks b;
  read_spatial("kernel_size", kernel_size, 2, 1, b.kernel);
  read_spatial("dilation", dilation, 2, 1, b.dilation);
  read_spatial("padding", padding, 2, 0, b.padding);
  read_spatial("stride", stride, 2, 1, b.stride);
  for (int i = 0; i < 2; i++) {
    const int64_t n = i ? width : height, reach = b.dilation[i] * (b.kernel[i] - 1) + 1;
    LAMELLA_CHECK(n + 2 * b.padding[i] >= reach, argument(sized), ": a window of ", b.kernel[i], " (dilation ",
                  b.dilation[i], ") does not fit into size ", n, " with padding ", b.padding[i]);
    b.places[i] = (n + 2 * b.padding[i] - reach) / b.stride[i] + 1;
  }
  return b;
}

Blocks read_image(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                  IntArrayRef stride) {
  LAMELLA_CHECK_INDEX(self.dim() > 2, argument("self"), ": expected 4 dimensions, or 3 without a batch, got shape ",
                      shape_text(self));
  LAMELLA_CHECK((self.dim() == 3 || self.dim() == 4) && self.size(-1) && self.size(-2) && self.size(-3),
                argument("self"), ": expected 4 dimensions, or 3 without a batch, with pixels, got shape ",
                shape_text(self));
  return read_blocks(self.size(-2), self.size(-1), kernel_size, dilation, padding, stride, "self");
}

void infer_im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                  IntArrayRef stride, Output out) {
  const Blocks b = read_image(self, kernel_size, dilation, padding, stride);
  int64_t rows = 0, columns = 0;
  const bool fits = !__builtin_mul_overflow(self.size(-3), b.kernel[0] * b.kernel[1], &rows) &&
                    !__builtin_mul_overflow(b.places[0], b.places[1], &columns);
  LAMELLA_CHECK(fits, argument("kernel_size"), ": ", shape_text(kernel_size), " and padding ", shape_text(padding),
                " give more than 2^63 - 1 rows or columns");
  DimVector sizes{rows, columns};
  if (self.dim() == 4) sizes.insert(0, self.size(0));
  check_bytes(sizes, self.dtype());
  out.set(sizes, self.dtype());
}

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  const Blocks b = read_image(self, kernel_size, dilation, padding, stride);
  const Tensor seen = windows(padded(self, 2, b.padding, b.padding, 0), 2, b.kernel, b.stride, b.dilation, b.places);
  DimVector sizes{self.size(-3) * b.kernel[0] * b.kernel[1], b.places[0] * b.places[1]}, order{0, 3, 4, 1, 2};
  if (self.dim() == 4) {
    sizes.insert(0, self.size(0));
    order = DimVector{0, 1, 4, 5, 2, 3};
  }
  return seen.permute(order).reshape(sizes);
}

Blocks read_columns(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                    IntArrayRef padding, IntArrayRef stride, int64_t (&size)[2]) {
  read_spatial("output_size", output_size, 2, 1, size);
  const Blocks b = read_blocks(size[0], size[1], kernel_size, dilation, padding, stride, "output_size");
  const int64_t taps = b.kernel[0] * b.kernel[1];
  int64_t places = 0;
  LAMELLA_CHECK(!__builtin_mul_overflow(b.places[0], b.places[1], &places), argument("output_size"), ": ",
                shape_text(output_size), " has more than 2^63 - 1 windows");
  LAMELLA_CHECK(self.dim() == 2 || self.dim() == 3, argument("self"),
                ": expected 3 dimensions, or 2 without a batch, got shape ", shape_text(self));
  LAMELLA_CHECK(self.size(-2) && self.size(-2) % taps == 0, argument("self"), ": expected channels * ", taps,
                " (the elements of a window) rows, got shape ", shape_text(self));
  LAMELLA_CHECK(self.size(-1) == places, argument("self"), ": expected ", places, " columns, ", b.places[0], " times ",
                b.places[1], " windows over ", shape_text(output_size), ", got shape ", shape_text(self));
  return b;
}

DimVector image_sizes(const Tensor& self, const Blocks& b, const int64_t (&size)[2]) {
  DimVector sizes{self.size(-2) / (b.kernel[0] * b.kernel[1]), size[0], size[1]};
  if (self.dim() == 3) sizes.insert(0, self.size(0));
  return sizes;
}

void infer_col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                  IntArrayRef padding, IntArrayRef stride, Output out) {
  int64_t size[2];
  const Blocks b = read_columns(self, output_size, kernel_size, dilation, padding, stride, size);
  out.set(image_sizes(self, b, size), self.dtype());
  check_bytes(out.sizes(), out.dtype());
}

// Adds each tap of all windows to the padded image at the place where im2col reads it.
Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  int64_t size[2];
  const Blocks b = read_columns(self, output_size, kernel_size, dilation, padding, stride, size);
  const DimVector sizes = image_sizes(self, b, size);
  const int64_t n = self.dim() == 3 ? self.size(0) : 1, channels = sizes[sizes.size() - 3];
  const Tensor columns = self.reshape({n, channels, b.kernel[0], b.kernel[1], b.places[0], b.places[1]});
  const Tensor sum =
      lamella::zeros({n, channels, size[0] + 2 * b.padding[0], size[1] + 2 * b.padding[1]}, self.options());
  auto along = [&](const Tensor& t, int i, int64_t tap) {
    const int64_t begin = tap * b.dilation[i];
    return lamella::slice(t, 2 + i, begin, begin + (b.places[i] - 1) * b.stride[i] + 1, b.stride[i]);
  };
  for (int64_t k = 0; k < b.kernel[0]; k++)
    for (int64_t l = 0; l < b.kernel[1]; l++) along(along(sum, 0, k), 1, l).add_(columns.select(2, k).select(2, l));
  const Tensor rows = lamella::slice(sum, 2, b.padding[0], b.padding[0] + size[0], 1);
  return lamella::slice(rows, 3, b.padding[1], b.padding[1] + size[1], 1).reshape(sizes).contiguous();
}

}  // namespace

LAMELLA_FAMILY(folding, .category = "indexing", .forms = function | hidden) {
  return {
      {.schema = "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
       .dims = "n c~ h~ w~ -> n p l | c~ h~ w~ -> p l",
       .infer = shape<infer_im2col>,
       .composite = composite<im2col>,
       .doc = R"(The windows of images (n, c, height, width), or without n, as columns: (n, c * elements of a window,
windows).

>>> lamella.ops.aten.im2col(lamella.arange(4.).view(1, 2, 2), (1, 2), 1, 0, 1)
tensor([[0., 2.],
        [1., 3.]])
)"},
      {.schema = "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
                 "int[2] stride) -> Tensor",
       .dims = "n p~ l~ -> n c h w | p~ l~ -> c h w",
       .infer = shape<infer_col2im>,
       .composite = composite<col2im>,
       .doc = R"(What im2col does, backwards: columns are added up to images, where windows overlap.

>>> lamella.ops.aten.col2im(lamella.ones(2, 2), (1, 3), (1, 2), 1, 0, 1)
tensor([[[1., 2., 1.]]])
)"},
  };
}

}  // namespace lamella::operators
