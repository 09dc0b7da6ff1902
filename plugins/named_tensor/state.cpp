#include "state.h"

#include <cstring>

namespace lamella::named {
namespace {

// ---- the slot: a state is a pointer to a kept list, which is never freed ------------------------------------------------

lamella_status carry(void* state, lamella_tensor*, lamella_tensor* to, int32_t how, void** out) {
  switch (how) {
    case LAMELLA_CARRY_DETACH:
    case LAMELLA_CARRY_COPY:
    case LAMELLA_CARRY_DEVICE:
    case LAMELLA_CARRY_GRADIENT:
      if (fit(static_cast<Names*>(state), to)) *out = state;
      break;
    case LAMELLA_CARRY_RESIZE:
      *out = const_cast<Names*>(&nameless);
      break;
    default:  // a view may have other dimensions: the layer's rule names them
      break;
  }
  return LAMELLA_OK;
}

// Makes an owned list of strings and None.
lamella_status give(const List& list, lamella_value* out) {
  std::vector<lamella_value> values;
  for (Name name : list) values.push_back(name ? value(*name) : none());
  lamella_value v{LAMELLA_VALUE_LIST, static_cast<uint32_t>(values.size()), {0}};
  v.as.values = values.data();
  return api().value_retain(&v, out);
}

lamella_status save(void* state, lamella_tensor* of, lamella_value* out) {
  if (!fit(static_cast<Names*>(state), of)) return LAMELLA_OK;
  return guarded([&] { return give(List(*static_cast<Names*>(state)), out); });
}

lamella_status load(lamella_tensor* to, const lamella_value* saved, void** out) {
  return guarded([&]() -> lamella_status {
    if (saved->tag) *out = const_cast<Names*>(kept(parsed(*saved, to->dl.ndim)));
    return LAMELLA_OK;
  });
}

// ---- Tensor.names, and the keyword names= of factories ---------------------------------------------------------------

void assign(lamella_tensor* t, const lamella_value& names) {
  set_names(t, names.tag ? kept(parsed(names, t->dl.ndim)) : nullptr);
}

lamella_status get_names(lamella_frame*, void*, lamella_tensor* self, lamella_value* out) {
  return guarded([&] { return give(list_of(self), out); });
}

lamella_status assign_names(lamella_frame*, void*, lamella_tensor* self, const lamella_value* names) {
  return guarded([&]() -> lamella_status {
    assign(self, *names);
    return LAMELLA_OK;
  });
}

lamella_status apply_names(const lamella_operator*, void*, lamella_tensor** made, const lamella_value* names) {
  return guarded([&]() -> lamella_status {
    assign(*made, *names);
    return LAMELLA_OK;
  });
}

// ---- sizes by keyword: randn(batch=2, height=3) ----------------------------------------------------------------------

bool takes_sizes(const lamella_operator* op) {
  for (int32_t i = 0; i < api().operator_num_args(op); i++) {
    const lamella_argument* a = api().operator_argument(op, i);
    if (a->kind == LAMELLA_KIND_INT && a->flags & LAMELLA_ARGUMENT_LIST && !std::strcmp(a->name, "size")) return true;
  }
  return false;
}

// Puts `size` and `names` in the place of keywords, of which each is a dimension and its size. Leaves them as they are if
// no value is an int, or if the operator takes no sizes, so that the call's error names the keywords.
lamella_status expand_sizes(const lamella_operator* op, void*, const lamella_value* given, lamella_value* out) {
  return guarded([&]() -> lamella_status {
    std::vector<int64_t> sizes;
    std::vector<lamella_value> names;
    const char* other = nullptr;
    for (uint32_t i = 0; i < given->length; i++) {
      const lamella_value &name = given->as.values[2 * i], &size = given->as.values[2 * i + 1];
      names.push_back(name);
      if (size.tag == LAMELLA_INT)
        sizes.push_back(size.as.i);
      else
        other = name.as.string;
    }
    if (sizes.empty() || !takes_sizes(op)) return api().value_retain(given, out);
    LAMELLA_CHECK_TYPE(!other, title(op), ": argument '", other,
                       "' is a dimension beside others, and its size is no int");
    lamella_value named{LAMELLA_VALUE_LIST, static_cast<uint32_t>(names.size()), {0}};
    named.as.values = names.data();
    const lamella_value pairs[] = {value("size"), value(sizes), value("names"), named};
    lamella_value expanded{LAMELLA_DICT, 2, {0}};
    expanded.as.values = pairs;
    return api().value_retain(&expanded, out);
  });
}

// ---- a dimension by its name -----------------------------------------------------------------------------------------

lamella_status find_dim(void*, lamella_tensor* self, const char* name, int64_t* dim) {
  return guarded([&]() -> lamella_status {
    const Names* names = names_of(self);
    if (!names) return LAMELLA_DECLINED;
    for (size_t i = 0; i < names->size(); i++)
      if ((*names)[i] && !std::strcmp((*names)[i]->c_str(), name)) {
        *dim = static_cast<int64_t>(i);
        return LAMELLA_OK;
      }
    const List list(*names);
    LAMELLA_CHECK(false, "there is no dimension '", name, "'; the names are ", text(list), suggestion(name, list));
    return LAMELLA_OK;
  });
}

// ---- how names meet --------------------------------------------------------------------------------------------------

lamella_status copy_matching(void* state, void** out) {
  *out = state;
  return LAMELLA_OK;
}

}  // namespace

void register_state(Library& m) {
  lamella_slot_type names{};
  names.size = sizeof names;
  names.layer = api().find_layer(layer_name);
  names.name = layer_name;
  names.destroy = [](void*) {};
  names.carry = carry;
  names.save = save;
  names.load = load;
  m.tensor_slot(names, &slot);
  m.attribute("names", get_names, assign_names);
  m.keyword("names", apply_names, layer_name);
  m.keywords("sizes by name", expand_sizes);
  m.dim_resolver(find_dim);
  lamella_thread_slot_type way{};
  way.size = sizeof way;
  way.name = "named_tensor.matching";
  way.copy = copy_matching;
  if (!m.status()) check(api().thread_slot(m.handle(), &way, &matching_slot));
}

}  // namespace lamella::named
