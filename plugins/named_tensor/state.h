// The plugin's state: a slot of tensors has their names, and a slot of threads has the way in which names are matched.
#pragma once

#include "names.h"

namespace lamella::named {

inline constexpr char layer_name[] = "named_tensor";

// Matching says how an operator that broadcasts compares the names of its tensors. The thread's slot holds one of these
// numbers.
enum class Matching : intptr_t {
  positional = 0,  // dimensions are aligned at the last one, and a name beside none gives the name
  checked = 1,     // the same, but a tensor without names beside one with names is an error
  by_name = 2      // dimensions of one name are one dimension; one that a tensor lacks is broadcast
};

// Set once, at registration.
inline int32_t slot = -1, matching_slot = -1;
inline uint64_t layer_bit = 0;

// The state of a tensor that got other sizes in place: its key is on, and its names are all None.
inline const Names nameless;

// Returns whether kept names are those of a tensor: it may have got other dimensions while the layer was off.
inline bool fit(const Names* names, const lamella_tensor* t) {
  return names && names != &nameless && names->size() == static_cast<size_t>(t->dl.ndim);
}

// Returns a tensor's kept names; null if it has none.
inline const Names* names_of(const lamella_tensor* t) {
  if (!(t->keys & layer_bit)) return nullptr;
  const auto* names = static_cast<const Names*>(api().slot_get(t, slot));
  return fit(names, t) ? names : nullptr;
}

// Returns a tensor's names as a list, with null for each dimension if it has none.
inline List list_of(const lamella_tensor* t) {
  const Names* names = names_of(t);
  return names ? List(*names) : List(t->dl.ndim);
}

inline void set_names(lamella_tensor* t, const Names* names) {
  check(api().slot_set(t, slot, const_cast<Names*>(names)));
}

inline Matching matching() {
  return static_cast<Matching>(reinterpret_cast<intptr_t>(api().thread_slot_get(matching_slot)));
}

// Registers the slots, the attribute `names`, the keywords of factories and the search for a dimension by its name.
void register_state(Library& m);

}  // namespace lamella::named
