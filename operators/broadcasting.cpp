// Lists of views in one shape: tensors that broadcast with each other, and grids of coordinates.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  DimVector shape;
  for (size_t i = 0; i < tensors.size(); i++)
    LAMELLA_CHECK(broadcast(&shape, tensors[i].sizes()), argument("tensors"), ": shape ", shape_text(tensors[i]),
                  " at position ", i, " does not broadcast with those before, ", shape_text(shape));
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& t : tensors) all.push_back(t.expand(shape));
  return all;
}

std::vector<Tensor> meshgrid_by(TensorList tensors, bool columns_first) {
  const size_t n = tensors.size();
  DimVector shape;
  for (size_t i = 0; i < n; i++) {
    LAMELLA_CHECK(tensors[i].dim() <= 1, argument("tensors"), ": expected vectors, got shape ", shape_text(tensors[i]),
                  " at position ", i);
    shape.push_back(tensors[i].numel());
  }
  const bool swapped = columns_first && n > 1;
  if (swapped) std::swap(shape[0], shape[1]);
  std::vector<Tensor> all;
  all.reserve(n);
  for (size_t i = 0; i < n; i++) {
    const size_t d = swapped && i < 2 ? 1 - i : i;
    DimVector ones(n, 1);
    ones[d] = shape[d];
    all.push_back(tensors[i].view(ones).expand(shape));
  }
  return all;
}

std::vector<Tensor> meshgrid(TensorList tensors) { return meshgrid_by(tensors, false); }

std::vector<Tensor> meshgrid_indexing(TensorList tensors, std::string_view indexing) {
  LAMELLA_CHECK(indexing == "ij" || indexing == "xy", argument("indexing"), ": expected 'ij' or 'xy', got '", indexing,
                "'");
  return meshgrid_by(tensors, indexing == "xy");
}

}  // namespace

LAMELLA_FAMILY(broadcasting, .category = "view", .forms = function) {
  return {
      {.schema = "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
       .dims = "broadcast",
       .composite = composite<broadcast_tensors>,
       .doc = R"(The tensors expanded to their common shape.

>>> [x.shape for x in lamella.broadcast_tensors(lamella.ones(2, 1), lamella.ones(3))]
[lamella.Size([2, 3]), lamella.Size([2, 3])]
)"},
      {.schema = "meshgrid(Tensor[] tensors) -> Tensor[]",
       .composite = composite<meshgrid>,
       .doc = R"(Vectors as coordinates of a grid: one tensor for each, expanded to the grid's shape; with
indexing='xy' the first two dimensions change places.

>>> lamella.meshgrid(lamella.tensor([1, 2]), lamella.tensor([3]))[0]
tensor([[1],
        [2]])
)"},
      {.schema = "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
       .composite = composite<meshgrid_indexing>},
  };
}

}  // namespace lamella::operators
