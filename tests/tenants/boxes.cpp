// A box is an opaque tensor that stands for each example of a batch: its slot has the batch, with the examples along
// dimension 0, and the level of the vmap that made it. vmap.py registers the layer and computes with the batches.
#include <lamella/extension.h>

namespace {

using namespace lamella;

struct Box {
  int64_t level;
  Tensor batch;

  // The layer sets the batch of a view, since it knows the operator; until then the view has the batch of its base.
  std::optional<Box> carry(const Tensor&, const Tensor&, int32_t how) const {
    const bool same = how == LAMELLA_CARRY_VIEW || how == LAMELLA_CARRY_DETACH || how == LAMELLA_CARRY_RESIZE;
    return same ? std::optional(*this) : std::nullopt;
  }
};

Slot<Box> boxes;

Tensor make(IntArrayRef size, IntArrayRef stride, ScalarType dtype, const Device& device, int64_t level) {
  Tensor box = opaque(size, TensorOptions(dtype).device(device), stride);
  boxes.set(box, Box{level, Tensor()});
  return box;
}

void set_batch(const Tensor& self, const Tensor& batch) {
  LAMELLA_CHECK_TYPE(boxes.get(self), "box_batch: only a box has a batch");
  boxes.get(self)->batch = batch;
}

}  // namespace

LAMELLA_LIBRARY(tenants_boxes, m) {
  m.tensor_slot("tenants_box", boxes, "tenants_vmap");
  m.attribute("box_level", boxes.member(&Box::level)).attribute("box_batch", boxes.member(&Box::batch), set_batch);
  m.def("make(int[] size, int[] stride, ScalarType dtype, Device device, int level) -> Tensor", make);
}
