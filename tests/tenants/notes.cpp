// A slot with a value of any type, which files and pickles take along; Tensor's attribute NAME reads and sets it. With
// LOSES it is saved with a defect: integers in a list become floats.
#include <lamella/extension.h>

#include <memory>
#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

namespace {

using namespace lamella;

int32_t slot = -1;

struct Note {
  lamella_value value{};
  ~Note() { api().value_release(&value); }
};

lamella_status keep(const lamella_value* value, void** out) {
  return guarded([&]() -> lamella_status {
    auto note = std::make_unique<Note>();
    check(api().value_retain(value, &note->value));
    *out = note.release();
    return LAMELLA_OK;
  });
}

void destroy(void* state) { delete static_cast<Note*>(state); }

lamella_status carry(void* state, lamella_tensor*, lamella_tensor*, int32_t how, void** out) {
  return how <= LAMELLA_CARRY_DEVICE ? keep(&static_cast<Note*>(state)->value, out) : LAMELLA_OK;
}

lamella_status save(void* state, lamella_tensor*, lamella_value* out) {
  lamella_value value = static_cast<Note*>(state)->value;
#ifdef LOSES
  std::vector<lamella_value> parts;
  if (value.tag == LAMELLA_VALUE_LIST) {
    parts.assign(value.as.values, value.as.values + value.length);
    for (lamella_value& part : parts)
      if (part.tag == LAMELLA_INT) part.tag = LAMELLA_FLOAT, part.as.d = static_cast<double>(part.as.i);
    value.as.values = parts.data();
  }
#endif
  return api().value_retain(&value, out);
}

lamella_status load(lamella_tensor*, const lamella_value* saved, void** out) { return keep(saved, out); }

lamella_status get(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  *out = {};
  const auto* note = static_cast<const Note*>(api().slot_get(self, slot));
  return note ? api().value_retain(&note->value, out) : LAMELLA_OK;
}

lamella_status set(lamella_frame*, void*, lamella_tensor* self, const lamella_value* value) {
  void* state = nullptr;
  if (lamella_status st = keep(value, &state)) return st;
  return api().slot_set(self, slot, state);
}

}  // namespace

LAMELLA_LIBRARY(NAME, m) {
  lamella_slot_type type = {sizeof type};
  type.name = TEXT(NAME);
  type.destroy = destroy;
  type.carry = carry;
  type.save = save;
  type.load = load;
  m.tensor_slot(type, &slot).attribute(TEXT(NAME), get, set);
}
