// Lists. They are shared by all that hold them, and written in place.
#include <algorithm>

#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

using Values = std::vector<lamella_value>;

Values& items_of(const lamella_value& v) { return list_argument(v).items; }

void append_copies(Items* to, const Values& from) {
  to->values.reserve(to->values.size() + from.size());
  for (const lamella_value& v : from) to->add_copy(v);
}
// Puts owned items in the place of some of a list, which are released.
void replace(Values& list, size_t at, size_t count, Items* by) {
  const auto first = list.begin() + static_cast<ptrdiff_t>(at);
  const size_t common = std::min(count, by->values.size());
  if (by->values.size() > count) {
    list.insert(first + static_cast<ptrdiff_t>(count), by->values.begin() + static_cast<ptrdiff_t>(count),
                by->values.end());
    by->values.resize(count);
    std::swap_ranges(by->values.begin(), by->values.end(), list.begin() + static_cast<ptrdiff_t>(at));
    return;
  }
  std::swap_ranges(by->values.begin(), by->values.end(), first);
  by->values.insert(by->values.end(), first + static_cast<ptrdiff_t>(common), first + static_cast<ptrdiff_t>(count));
  list.erase(first + static_cast<ptrdiff_t>(common), first + static_cast<ptrdiff_t>(count));
}

lamella_value copied(const Values& items) {
  Items out;
  append_copies(&out, items);
  return out.list();
}

lamella_value get_element(const lamella_value* a) {
  const Values& items = items_of(a[0]);
  return copy_of(items[place_of(int_of(a[1]), items.size(), "list index out of range")]);
}
lamella_value set_item(const lamella_value* a) {
  Values& items = items_of(a[0]);
  lamella_value& item = items[place_of(int_of(a[1]), items.size(), "list assignment index out of range")];
  lamella_value old = std::exchange(item, copy_of(a[2]));
  release(old);
  return copy_of(a[0]);
}
lamella_value delete_element(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const size_t at = place_of(int_of(a[1]), items.size(), "list assignment index out of range");
  lamella_value old = items[at];
  items.erase(items.begin() + static_cast<ptrdiff_t>(at));
  release(old);
  return none();
}

lamella_value get_slice(const lamella_value* a) {
  const Values& items = items_of(a[0]);
  const Slice s = slice_of(a[1], a[2], int_of(a[3]), items.size());
  Items out;
  out.values.reserve(s.count);
  for (size_t i = 0; i < s.count; i++) out.add_copy(items[s.place(i)]);
  return out.list();
}
lamella_value set_slice(const lamella_value* a) {
  Values& items = items_of(a[0]);
  Items by;
  append_copies(&by, items_of(a[4]));
  const int64_t step = int_of(a[3]);
  const Slice s = slice_of(a[1], a[2], step, items.size());
  if (step == 1) {
    replace(items, static_cast<size_t>(s.start), s.count, &by);
  } else {
    LAMELLA_CHECK_VALUE(by.values.size() == s.count, "attempt to assign sequence of size ", by.values.size(),
                        " to extended slice of size ", s.count);
    for (size_t i = 0; i < s.count; i++) std::swap(items[s.place(i)], by.values[i]);
  }
  return copy_of(a[0]);
}
lamella_value delete_slice(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const Slice s = slice_of(a[1], a[2], int_of(a[3]), items.size());
  Items old;
  old.values.reserve(s.count);
  std::vector<bool> goes(items.size());
  for (size_t i = 0; i < s.count; i++) {
    goes[s.place(i)] = true;
    old.values.push_back(items[s.place(i)]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < items.size(); i++)
    if (!goes[i]) items[kept++] = items[i];
  items.resize(kept);
  return none();
}

lamella_value joined(const lamella_value* a) {
  Items out;
  append_copies(&out, items_of(a[0]));
  append_copies(&out, items_of(a[1]));
  return out.list();
}
void extend_by(Values& items, const Values& more) {
  Items by;
  append_copies(&by, more);  // first, since the two may be one list
  items.insert(items.end(), by.values.begin(), by.values.end());
  by.values.clear();
}
lamella_value extend_in_place(const lamella_value* a) {
  extend_by(items_of(a[0]), items_of(a[1]));
  return copy_of(a[0]);
}
lamella_value extend(const lamella_value* a) {
  extend_by(items_of(a[0]), items_of(a[1]));
  return none();
}

size_t repeated_size(size_t size, int64_t times) {
  size_t n;
  if (times <= 0) return 0;
  if (__builtin_mul_overflow(size, static_cast<size_t>(times), &n) || n > Values().max_size())
    raise(LAMELLA_OUT_OF_MEMORY, detail::text("a list of ", size, " items cannot be repeated ", times, " times"));
  return n;
}
lamella_value repeated(const lamella_value& list, const lamella_value& times) {
  const Values& items = items_of(list);
  const size_t n = repeated_size(items.size(), int_of(times));
  Items out;
  out.values.reserve(n);
  for (size_t i = 0; i < n; i++) out.add_copy(items[i % items.size()]);
  return out.list();
}
lamella_value repeat_in_place(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const size_t before = items.size(), n = repeated_size(before, int_of(a[1]));
  if (n == 0) {
    Items old;
    std::swap(old.values, items);
    return copy_of(a[0]);
  }
  items.reserve(n);
  for (size_t i = before; i < n; i++) items.push_back(copy_of(items[i - before]));
  return copy_of(a[0]);
}

lamella_value append(const lamella_value* a) {
  Values& items = items_of(a[0]);
  lamella_value item = copy_of(a[1]);
  try {
    items.push_back(item);
  } catch (...) {
    release(item);
    throw;
  }
  return copy_of(a[0]);
}
lamella_value insert(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const auto n = static_cast<int64_t>(items.size());
  int64_t at = int_of(a[1]);
  if (at < 0) at = std::max<int64_t>(at + n, 0);
  Items by;
  by.add_copy(a[2]);
  replace(items, static_cast<size_t>(std::min(at, n)), 0, &by);
  return none();
}
lamella_value pop_element(const lamella_value* a) {
  Values& items = items_of(a[0]);
  LAMELLA_CHECK_INDEX(!items.empty(), "pop from empty list");
  const size_t at = place_of(int_of(a[1]), items.size(), "pop index out of range");
  const lamella_value item = items[at];
  items.erase(items.begin() + static_cast<ptrdiff_t>(at));
  return item;
}

auto found(Values& items, const lamella_value& wanted) {
  return std::find_if(items.begin(), items.end(), [&](const lamella_value& v) { return equal(v, wanted); });
}
lamella_value remove(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const auto at = found(items, a[1]);
  LAMELLA_CHECK_VALUE(at != items.end(), "list.remove(x): x not in list");
  lamella_value old = *at;
  items.erase(at);
  release(old);
  return none();
}
lamella_value index(const lamella_value* a) {
  Values& items = items_of(a[0]);
  const auto at = found(items, a[1]);
  if (at == items.end()) raise(LAMELLA_VALUE_ERROR, repr_of(a[1]) + " is not in list");
  return made(static_cast<int64_t>(at - items.begin()));
}
lamella_value count(const lamella_value* a) {
  const Values& items = items_of(a[0]);
  return made(static_cast<int64_t>(
      std::count_if(items.begin(), items.end(), [&](const lamella_value& v) { return equal(v, a[1]); })));
}

// Sorts copies of the values, without references of their own, so that an error on the way leaves the list as it was.
void sort(Values& items, bool reverse) {
  Values sorted = items;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const lamella_value& x, const lamella_value& y) { return reverse ? less(y, x) : less(x, y); });
  items = std::move(sorted);
}
lamella_value sort_in_place(const lamella_value* a) {
  sort(items_of(a[0]), bool_of(a[1]));
  return none();
}
lamella_value sorted(const lamella_value* a) {
  OwnedValue out = adopt(copied(items_of(a[0])));
  sort(list_of(out.get()).items, bool_of(a[1]));
  return out.release();
}
lamella_value reversed(const lamella_value* a) {
  OwnedValue out = adopt(copied(items_of(a[0])));
  Values& items = list_of(out.get()).items;
  std::reverse(items.begin(), items.end());
  return out.release();
}

constexpr Builtin lists_rows[] = {
    {"aten::len.t(t[] a) -> int",
     [](const lamella_value* a) { return made(static_cast<int64_t>(items_of(a[0]).size())); }},
    {"aten::list.t(t[] l) -> t[]", [](const lamella_value* a) { return copied(items_of(a[0])); }},
    {"aten::copy.t(t[] self) -> t[]", [](const lamella_value* a) { return copied(items_of(a[0])); }},
    {"aten::__getitem__.t(t[](a) list, int idx) -> t", get_element},
    {"aten::_set_item.t(t[](a!) l, int idx, t el) -> t[](a!)", set_item},
    {"aten::Delete.t(t[](a!) self, int idx) -> ()", delete_element},
    {"aten::__contains__.t(t[] l, t item) -> bool",
     [](const lamella_value* a) { return made(found(items_of(a[0]), a[1]) != items_of(a[0]).end()); }},
    {"aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", get_slice},
    {"aten::_set_slice.t(t[](a!) l, int? start, int? end, int step, t[] el) -> t[](a!)", set_slice},
    {"aten::Delete.slice(t[](a!) self, int? start, int? end, int step) -> ()", delete_slice},
    {"aten::add.t(t[] a, t[] b) -> t[]", joined},
    {"aten::add_.t(t[](a!) self, t[] b) -> t[](a!)", extend_in_place},
    {"aten::mul.left_t(t[] l, int n) -> t[]", [](const lamella_value* a) { return repeated(a[0], a[1]); }},
    {"aten::mul.right_t(int n, t[] l) -> t[]", [](const lamella_value* a) { return repeated(a[1], a[0]); }},
    {"aten::mul_.t(t[](a!) l, int n) -> t[](a!)", repeat_in_place},
    {"aten::append.t(t[](a!) self, t el) -> t[](a!)", append},
    {"aten::extend.t(t[](a!) self, t[] other) -> ()", extend},
    {"aten::insert.t(t[](a!) self, int idx, t el) -> ()", insert},
    {"aten::pop.t(t[](a!) self, int idx=-1) -> t", pop_element},
    {"aten::remove.t(t[](a!) self, t el) -> ()", remove},
    {"aten::index.t(t[] self, t el) -> int", index},
    {"aten::count.t(t[] self, t el) -> int", count},
    {"aten::clear.t(t[](a!) self) -> ()",
     [](const lamella_value* a) {
       Items old;
       std::swap(old.values, items_of(a[0]));
       return none();
     }},
    {"aten::reverse.t(t[](a!) self) -> ()",
     [](const lamella_value* a) {
       std::reverse(items_of(a[0]).begin(), items_of(a[0]).end());
       return none();
     }},
    {"aten::sort.t(t[](a!) self, *, bool reverse=False) -> ()", sort_in_place},
    {"aten::sorted.t(t[] input, *, bool reverse=False) -> t[]", sorted},
    {"aten::reversed.t(t[] input) -> t[]", reversed},
};

}  // namespace

BuiltinTable list_builtins() { return table_of(lists_rows); }

}  // namespace lamella::graph
