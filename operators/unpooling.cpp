// Unpooling: puts the elements that a max pool kept back where they were, with zeros elsewhere.
#include "operators/pooling.h"

namespace lamella::operators {
namespace {

Tensor unpooled(const Tensor& self, const Tensor& indices, IntArrayRef output_size, int spatial) {
  int64_t places[3], plane = 1, lead = 1;
  check_spatial(self, spatial);
  LAMELLA_CHECK(static_cast<int>(output_size.size()) == spatial, argument("output_size"), ": takes ", spatial,
                " numbers, got ", shape_text(output_size));
  read_spatial("output_size", output_size, spatial, 0, places);
  LAMELLA_CHECK(indices.dtype() == kLong, argument("indices"), ": expected dtype int64, got ", indices.dtype());
  LAMELLA_CHECK(indices.sizes() == self.sizes(), argument("indices"), ": expected shape ", shape_text(self),
                ", got shape ", shape_text(indices));
  for (int i = 0; i < spatial; i++) plane *= places[i];
  for (int64_t d = 0; d < self.dim() - spatial; d++) lead *= self.size(d);
  const DimVector flat{lead, lead ? self.numel() / lead : 0};
  const Tensor none = lamella::zeros({lead, plane}, self.options());
  const DimVector sizes = pooled_sizes(self, spatial, places);
  try {
    return none.scatter(1, indices.reshape(flat), self.reshape(flat)).reshape(sizes);
  } catch (const Error& e) {
    LAMELLA_CHECK(e.kind() != LAMELLA_INDEX_ERROR, argument("indices"), ": found an invalid max index, outside of the ",
                  plane, " places of output_size ", shape_text(output_size), ": ", e.what());
    throw;
  }
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return unpooled(self, indices, output_size, 2);
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding) {
  int64_t numbers[3];
  read_spatial("stride", stride, 3, 1, numbers);
  read_spatial("padding", padding, 3, 0, numbers);
  return unpooled(self, indices, output_size, 3);
}

}  // namespace

LAMELLA_FAMILY(unpooling, .category = "pooling", .forms = function | hidden) {
  return {
      {.schema = "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
       .dims = "n c h~ w~, n c h~ w~ -> n c h~ w~ | c h~ w~, c h~ w~ -> c h~ w~",
       .composite = composite<max_unpool2d>,
       .doc = R"(Planes of zeros, and each element of `self` where `indices`, those of max_pool2d_with_indices, say.

Raises:
    RuntimeError: an index lies outside of the plane

>>> lamella.ops.aten.max_unpool2d(lamella.tensor([[[5.]]]), lamella.tensor([[[2]]]), (2, 2))
tensor([[[0., 0.],
         [5., 0.]]])
)"},
      {.schema =
           "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
       .dims = "n c d~ h~ w~, n c d~ h~ w~ -> n c d~ h~ w~ | c d~ h~ w~, c d~ h~ w~ -> c d~ h~ w~",
       .composite = composite<max_unpool3d>,
       .doc = R"(Volumes of zeros, and each element of `self` where `indices`, those of max_pool3d_with_indices, say.
`stride` and `padding` are checked and change nothing.

>>> lamella.ops.aten.max_unpool3d(lamella.tensor([[[[5.]]]]), lamella.tensor([[[[2]]]]), (1, 2, 2), 1, 0)
tensor([[[[0., 0.],
          [5., 0.]]]])
)"},
  };
}

}  // namespace lamella::operators
