// A slot of tensors whose state is any value, for tests of what files and pickles hold. The attribute `kept_tags` shows
// the state's types: "list(int, tensor)".
#include <lamella/extension.h>

namespace {

using lamella::OwnedValue;
using lamella::Tensor;

struct Kept {
  OwnedValue value;

  // A gradient is refused if the state is the text "refused".
  std::optional<Kept> carry(const Tensor&, const Tensor&, int32_t how) const {
    const lamella_value& v = value.get();
    LAMELLA_CHECK_VALUE(
        how != LAMELLA_CARRY_GRADIENT || v.tag != LAMELLA_STRING || v.as.string != std::string("refused"),
        "kept: the gradient is refused");
    return *this;
  }
  // Fails if the state is the text "unsaved"; for "broken" it returns a text that is not UTF-8.
  OwnedValue save(const Tensor&) const {
    const lamella_value& v = value.get();
    const std::string text = v.tag == LAMELLA_STRING ? v.as.string : "";
    LAMELLA_CHECK_VALUE(text != "unsaved", "kept: I do not save today");
    return text == "broken" ? OwnedValue(lamella::value("\xff")) : value;
  }
  static std::optional<Kept> load(const Tensor&, const lamella_value& saved) { return Kept{OwnedValue(saved)}; }
};

lamella::Slot<Kept> slot;

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

std::string get_tags(const Tensor& self) { return slot.get(self) ? tags(slot.get(self)->value.get()) : ""; }

}  // namespace

LAMELLA_LIBRARY(kept, m) { m.tensor_slot("kept", slot).attribute("kept_tags", get_tags); }
