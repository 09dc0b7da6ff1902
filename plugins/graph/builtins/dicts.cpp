// Dictionaries, in the order of insertion.
#include "builtins/arguments.h"
#include "builtins/tables.h"
#include "run/host.h"

namespace lamella::graph {
namespace {

// Sets an entry to copies of a key and a value.
void set(Dict& d, const lamella_value& key, const lamella_value& value) {
  OwnedValue own_key(key), own_value(value);
  d.set(own_key.release(), own_value.release());
}
void update(Dict& d, Dict& by) {
  if (&d == &by) return;
  for (const Dict::Entry& e : by.entries()) set(d, e.key, e.value);
}

lamella_value copied(const lamella_value* a) {
  OwnedValue out = adopt(value_of(new Dict));
  update(dict_of(out.get()), dict_argument(a[0]));
  return out.release();
}
lamella_value of_pairs(const lamella_value* a) {
  OwnedValue out = adopt(value_of(new Dict));
  size_t i = 0;
  for (const lamella_value& pair : list_argument(a[0]).items) {
    if (!is_object(pair, tuple_type)) raise_kind("a list of tuples", pair);
    const std::vector<lamella_value>& parts = tuple_of(pair).items;
    LAMELLA_CHECK_VALUE(parts.size() == 2, "dictionary update sequence element #", i, " has length ", parts.size(),
                        "; 2 is required");
    set(dict_of(out.get()), parts[0], parts[1]);
    i++;
  }
  return out.release();
}

lamella_value get_item(const lamella_value* a) {
  const lamella_value* found = dict_argument(a[0]).find(a[1]);
  if (!found) raise_key(a[1]);
  return copy_of(*found);
}
lamella_value get(const lamella_value* a) {
  const lamella_value* found = dict_argument(a[0]).find(a[1]);
  return found ? copy_of(*found) : none();
}
lamella_value get_or(const lamella_value* a) {
  const lamella_value* found = dict_argument(a[0]).find(a[1]);
  return copy_of(found ? *found : a[2]);
}
lamella_value set_default(const lamella_value* a) {
  Dict& d = dict_argument(a[0]);
  if (const lamella_value* found = d.find(a[1])) return copy_of(*found);
  set(d, a[1], a[2]);
  return copy_of(a[2]);
}

lamella_value pop(const lamella_value* a) {
  lamella_value out = get_item(a);
  dict_argument(a[0]).erase(a[1]);
  return out;
}
lamella_value pop_or(const lamella_value* a) {
  lamella_value out = get_or(a);
  dict_argument(a[0]).erase(a[1]);
  return out;
}
lamella_value pop_last(const lamella_value* a) {
  Dict& d = dict_argument(a[0]);
  if (d.size() == 0) raise_named("KeyError", LAMELLA_INDEX_ERROR, "popitem(): dictionary is empty");
  const Dict::Entry& last = d.entries().back();
  Items pair;
  pair.add_copy(last.key);
  pair.add_copy(last.value);
  d.erase(pair.values[0]);
  return pair.tuple();
}
lamella_value delete_item(const lamella_value* a) {
  if (!dict_argument(a[0]).erase(a[1])) raise_key(a[1]);
  return none();
}

template <class Copy>
lamella_value each(const lamella_value* a, Copy copy) {
  Items out;
  for (const Dict::Entry& e : dict_argument(a[0]).entries()) copy(&out, e);
  return out.list();
}

constexpr Builtin dicts_rows[] = {
    {"aten::len.Dict(Dict(t, u) self) -> int",
     [](const lamella_value* a) { return made(static_cast<int64_t>(dict_argument(a[0]).size())); }},
    {"aten::dict.Dict(Dict(t, u) self) -> Dict(t, u)", copied},
    {"aten::dict.list((t, u)[] inputs) -> Dict(t, u)", of_pairs},
    {"aten::copy.Dict(Dict(t, u) self) -> Dict(t, u)", copied},
    {"aten::__getitem__.Dict(Dict(t, u)(a) self, t key) -> u", get_item},
    {"aten::_set_item.Dict(Dict(t, u)(a!) l, t idx, u v) -> ()",
     [](const lamella_value* a) {
       set(dict_argument(a[0]), a[1], a[2]);
       return none();
     }},
    {"aten::Delete.Dict(Dict(t, u)(a!) self, t key) -> ()", delete_item},
    {"aten::__contains__.Dict(Dict(t, u) dict, t key) -> bool",
     [](const lamella_value* a) { return made(dict_argument(a[0]).find(a[1]) != nullptr); }},
    {"aten::get.Dict(Dict(t, u) self, t key) -> u?", get},
    {"aten::get.Dict_default(Dict(t, u) self, t key, u default_value) -> u", get_or},
    {"aten::setdefault.Dict(Dict(t, u)(a!) self, t key, u default_value) -> u", set_default},
    {"aten::pop.Dict(Dict(t, u)(a!) self, t key) -> u", pop},
    {"aten::pop.Dict_default(Dict(t, u)(a!) self, t key, u default_value) -> u", pop_or},
    {"aten::popitem.Dict(Dict(t, u)(a!) self) -> (t, u)", pop_last},
    {"aten::clear.Dict(Dict(t, u)(a!) self) -> ()",
     [](const lamella_value* a) {
       dict_argument(a[0]).clear();
       return none();
     }},
    {"aten::update.Dict(Dict(t, u)(a!) self, Dict(t, u) to_add) -> ()",
     [](const lamella_value* a) {
       update(dict_argument(a[0]), dict_argument(a[1]));
       return none();
     }},
    {"aten::keys.Dict(Dict(t, u) self) -> t[]",
     [](const lamella_value* a) { return each(a, [](Items* out, const Dict::Entry& e) { out->add_copy(e.key); }); }},
    {"aten::values.Dict(Dict(t, u) self) -> u[]",
     [](const lamella_value* a) { return each(a, [](Items* out, const Dict::Entry& e) { out->add_copy(e.value); }); }},
    {"aten::items.Dict(Dict(t, u) self) -> (t, u)[]",
     [](const lamella_value* a) {
       return each(a, [](Items* out, const Dict::Entry& e) {
         Items pair;
         pair.add_copy(e.key);
         pair.add_copy(e.value);
         out->add(pair.tuple());
       });
     }},
};

}  // namespace

BuiltinTable dict_builtins() { return table_of(dicts_rows); }

}  // namespace lamella::graph
