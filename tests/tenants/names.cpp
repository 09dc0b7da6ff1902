// The slot that keeps the names of a tensor's dimensions, and the attribute `names` that reads and sets them. names.py
// registers the layer of the slot before it loads this library.
#include <lamella/library.h>

#include <set>
#include <string>

namespace {

using lamella::api;

int32_t slot = -1;

void destroy(void* state) {
  api().value_release(static_cast<lamella_value*>(state));
  delete static_cast<lamella_value*>(state);
}

lamella_status keep(const lamella_value& names, void** out) {
  auto* held = new lamella_value{};
  if (const lamella_status st = api().value_retain(&names, held)) return delete held, st;
  *out = held;
  return LAMELLA_OK;
}

// Makes a state of a list with a text or none for each dimension; a null state if all are none.
lamella_status make(lamella_tensor* of, const lamella_value* given, void** out) {
  const auto refuse = [](const std::string& why) {
    return api().raise(LAMELLA_VALUE_ERROR, ("names: " + why).c_str());
  };
  return lamella::guarded([&]() -> lamella_status {
    if (given->tag == LAMELLA_NONE) return LAMELLA_OK;
    const bool absent = given->tag == LAMELLA_TENSOR_LIST;  // the binding's list of None alone
    const bool empty = given->tag == LAMELLA_INT_LIST && !given->length;
    bool right = absent || empty || given->tag == LAMELLA_VALUE_LIST;
    for (uint32_t i = 0; right && i < given->length; i++)
      right = absent ? !given->as.tensors[i] : given->as.values[i].tag == LAMELLA_STRING || !given->as.values[i].tag;
    if (!right) return refuse("expected a list of str and None, or None");
    if (static_cast<int32_t>(given->length) != of->dl.ndim)
      return refuse("got " + std::to_string(given->length) + " for a tensor of " + std::to_string(of->dl.ndim) +
                    " dimensions; give a str or None for each");
    std::set<std::string> seen;
    for (uint32_t i = 0; !absent && i < given->length; i++)
      if (const lamella_value& name = given->as.values[i]; name.tag && !seen.insert(name.as.string).second)
        return refuse("two dimensions have the name '" + std::string(name.as.string) + "'; give each its own");
    return seen.empty() ? LAMELLA_OK : keep(*given, out);
  });
}

// A view has no names until the layer's rule sets them, since it may have other dimensions; nor has a tensor that gets
// other sizes in place, whose state is none until then.
lamella_status carry(void* state, lamella_tensor*, lamella_tensor*, int32_t how, void** out) {
  if (how == LAMELLA_CARRY_RESIZE) return keep(lamella_value{}, out);
  const bool same_dimensions = how == LAMELLA_CARRY_DETACH || how == LAMELLA_CARRY_COPY ||
                               how == LAMELLA_CARRY_DEVICE || how == LAMELLA_CARRY_GRADIENT;
  return same_dimensions ? keep(*static_cast<const lamella_value*>(state), out) : LAMELLA_OK;
}

lamella_status save(void* state, lamella_tensor*, lamella_value* out) {
  return api().value_retain(static_cast<const lamella_value*>(state), out);
}

lamella_status get_names(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  const void* state = api().slot_get(self, slot);
  return state ? save(const_cast<void*>(state), self, out) : LAMELLA_OK;
}

lamella_status set_names(lamella_frame*, void*, lamella_tensor* self, const lamella_value* value) {
  void* state = nullptr;
  const lamella_status st = make(self, value, &state);
  return st ? st : api().slot_set(self, slot, state);
}

}  // namespace

LAMELLA_LIBRARY(tenant_names, m) {
  const int32_t layer = api().find_layer("tenant_names");
  m.tensor_slot({sizeof(lamella_slot_type), layer, "tenant_names", destroy, nullptr, nullptr, carry, save, make},
                &slot);
  m.attribute("names", get_names, set_names);
}
