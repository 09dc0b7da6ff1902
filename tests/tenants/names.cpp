// The slot that keeps the names of a tensor's dimensions, and the attribute `names` that reads and sets them. names.py
// registers the layer of the slot before it loads this library.
#include <lamella/extension.h>

#include <set>

namespace {

using lamella::OwnedValue;
using lamella::Tensor;

struct Names {
  OwnedValue list;  // a text or none for each dimension, or none

  // A view has no names until the layer's rule sets them, since it may have other dimensions; nor has a tensor that
  // gets other sizes in place, whose state is none until then.
  std::optional<Names> carry(const Tensor&, const Tensor&, int32_t how) const {
    if (how == LAMELLA_CARRY_RESIZE) return Names{};
    const bool same_dimensions = how == LAMELLA_CARRY_DETACH || how == LAMELLA_CARRY_COPY ||
                                 how == LAMELLA_CARRY_DEVICE || how == LAMELLA_CARRY_GRADIENT;
    return same_dimensions ? std::optional(*this) : std::nullopt;
  }
  const OwnedValue& save(const Tensor&) const { return list; }

  // Makes a state of a list with a text or none for each dimension; no state if all are none.
  static std::optional<Names> load(const Tensor& of, const lamella_value& given) {
    if (given.tag == LAMELLA_NONE) return std::nullopt;
    const bool absent = given.tag == LAMELLA_TENSOR_LIST;  // the binding's list of None alone
    const bool empty = given.tag == LAMELLA_INT_LIST && !given.length;
    bool right = absent || empty || given.tag == LAMELLA_VALUE_LIST;
    for (uint32_t i = 0; right && i < given.length; i++)
      right = absent ? !given.as.tensors[i] : given.as.values[i].tag == LAMELLA_STRING || !given.as.values[i].tag;
    LAMELLA_CHECK_VALUE(right, "names: expected a list of str and None, or None");
    LAMELLA_CHECK_VALUE(given.length == of.dim(), "names: got ", given.length, " for a tensor of ", of.dim(),
                        " dimensions; give a str or None for each");
    std::set<std::string> seen;
    for (uint32_t i = 0; !absent && i < given.length; i++)
      if (const lamella_value& name = given.as.values[i]; name.tag)
        LAMELLA_CHECK_VALUE(seen.insert(name.as.string).second, "names: two dimensions have the name '", name.as.string,
                            "'; give each its own");
    return seen.empty() ? std::nullopt : std::optional(Names{OwnedValue(given)});
  }
};

lamella::Slot<Names> slot;

void set_names(const Tensor& self, const lamella_value& given) { slot.set(self, Names::load(self, given)); }

}  // namespace

LAMELLA_LIBRARY(tenant_names, m) {
  m.tensor_slot("tenant_names", slot, "tenant_names").attribute("names", slot.member(&Names::list), set_names);
}
