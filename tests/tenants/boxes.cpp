// A box is an opaque tensor that stands for each example of a batch: its slot has the batch, with the examples along
// dimension 0, and the level of the vmap that made it. vmap.py registers the layer and computes with the batches.
#include <lamella/extension.h>

namespace {

using namespace lamella;

struct Box {
  Tensor batch;
  int64_t level;
};

int32_t slot = -1;

Box* box_in(const lamella_tensor* t) { return static_cast<Box*>(api().slot_get(t, slot)); }

void destroy(void* state) { delete static_cast<Box*>(state); }

// The layer sets the batch of a view, since it knows the operator; until then the view has the batch of its base.
lamella_status carry(void* state, lamella_tensor*, lamella_tensor*, int32_t how, void** out) {
  return guarded([&]() -> lamella_status {
    if (how == LAMELLA_CARRY_VIEW || how == LAMELLA_CARRY_DETACH || how == LAMELLA_CARRY_RESIZE)
      *out = new Box(*static_cast<Box*>(state));
    return LAMELLA_OK;
  });
}

Tensor make(IntArrayRef size, IntArrayRef stride, ScalarType dtype, Device device, int64_t level) {
  lamella_tensor* made = nullptr;
  check(api().tensor_opaque(static_cast<int32_t>(size.size()), size.data(), stride.data(), static_cast<uint8_t>(dtype),
                            device.get(), &made));
  Tensor owned = Tensor::steal(made);
  check(api().slot_set(made, slot, new Box{Tensor(), level}));
  return owned;
}

lamella_status get_level(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  *out = {};
  if (const Box* box = box_in(self)) out->tag = LAMELLA_INT, out->as.i = box->level;
  return LAMELLA_OK;
}

lamella_status get_batch(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  *out = {};
  const Box* box = box_in(self);
  if (!box || !box->batch.defined()) return LAMELLA_OK;
  out->tag = LAMELLA_TENSOR;
  out->as.tensor = Tensor(box->batch).release();
  return LAMELLA_OK;
}

lamella_status set_batch(lamella_frame*, void*, lamella_tensor* self, const lamella_value* value) {
  return guarded([&]() -> lamella_status {
    Box* box = box_in(self);
    LAMELLA_CHECK_TYPE(box && value->tag == LAMELLA_TENSOR, "box_batch: the batch of a box is a tensor");
    box->batch = Tensor::borrow(value->as.tensor);
    return LAMELLA_OK;
  });
}

}  // namespace

LAMELLA_LIBRARY(tenants_boxes, m) {
  lamella_slot_type type = {sizeof type};
  type.layer = api().find_layer("tenants_vmap");
  type.name = "tenants_box";
  type.destroy = destroy;
  type.carry = carry;
  m.tensor_slot(type, &slot);
  m.attribute("box_level", get_level).attribute("box_batch", get_batch, set_batch);
  m.def("make(int[] size, int[] stride, ScalarType dtype, Device device, int level) -> Tensor", make);
}
