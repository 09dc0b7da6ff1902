// A slot of tensors whose state is any value, for tests of what files and pickles hold. The attribute `kept_tags` shows
// the state's types: "list(int, tensor)".
#include <lamella/library.h>

#include <string>

namespace {

using lamella::api;

int32_t slot = -1;

void destroy(void* state) {
  auto* held = static_cast<lamella_value*>(state);
  api().value_release(held);
  delete held;
}

lamella_status keep(const lamella_value* value, void** out) {
  auto* held = new lamella_value{};
  const lamella_status st = api().value_retain(value, held);
  if (st)
    delete held;
  else
    *out = held;
  return st;
}

// A gradient is refused if the state is the text "refused".
lamella_status carry(void* state, lamella_tensor*, lamella_tensor*, int32_t how, void** out) {
  const auto* held = static_cast<const lamella_value*>(state);
  if (how == LAMELLA_CARRY_GRADIENT && held->tag == LAMELLA_STRING && std::string("refused") == held->as.string)
    return api().raise(LAMELLA_VALUE_ERROR, "kept: the gradient is refused");
  return keep(held, out);
}

lamella_status save(void* state, lamella_tensor*, lamella_value* out) {
  return api().value_retain(static_cast<const lamella_value*>(state), out);
}

lamella_status load(lamella_tensor*, const lamella_value* saved, void** out) { return keep(saved, out); }

std::string tags(const lamella_value& v) {
  static const char* const names[] = {"none",   "bool",      "int",      "float",      "complex",
                                      "string", "dtype",     "device",   "layout",     "memory_format",
                                      "tensor", "bool_list", "int_list", "float_list", "tensor_list"};
  if (v.tag != LAMELLA_VALUE_LIST && v.tag != LAMELLA_DICT)
    return v.tag < 15 ? names[v.tag] : v.tag == LAMELLA_UINT ? "uint" : "?";
  std::string all;
  for (uint32_t i = 0, n = v.tag == LAMELLA_DICT ? 2 * v.length : v.length; i < n; i++)
    all += (i ? ", " : "") + tags(v.as.values[i]);
  return (v.tag == LAMELLA_DICT ? "dict(" : "list(") + all + ")";
}

lamella_status get_tags(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  const auto* held = static_cast<const lamella_value*>(api().slot_get(self, slot));
  const std::string text = held ? tags(*held) : "";
  lamella_value borrowed = {LAMELLA_STRING, static_cast<uint32_t>(text.size()), {0}};
  borrowed.as.string = text.c_str();
  return api().value_retain(&borrowed, out);
}

}  // namespace

LAMELLA_LIBRARY(kept, m) {
  lamella_slot_type type = {sizeof type};
  type.name = "kept";
  type.destroy = destroy;
  type.carry = carry;
  type.save = save;
  type.load = load;
  m.tensor_slot(type, &slot).attribute("kept_tags", get_tags);
}
