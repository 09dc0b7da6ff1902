#include "names.h"

#include <atomic>
#include <functional>
#include <numeric>

namespace lamella::named {
namespace {

// Kept is a hash table of values that live as long as the process. It has no locks: find_or_add links a new value in front of
// a bucket's chain, and no value is changed or removed later, so that a reader needs one acquiring load.
template <class Value, size_t buckets>
class Kept {
 public:
  // Returns the value that is equal to `key`; makes it from the key if there is none.
  template <class Key>
  const Value* find_or_add(const Key& key, size_t hash) {
    std::atomic<Node*>& head = heads_[hash % buckets];
    Node* first = head.load(std::memory_order_acquire);
    if (const Value* there = find(first, nullptr, key)) return there;
    auto* made = new Node{Value(key.begin(), key.end()), first};
    while (!head.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (const Value* there = find(made->next, first, key)) {  // another thread was faster
        delete made;
        return there;
      }
      first = made->next;
    }
    return &made->value;
  }

 private:
  struct Node {
    Value value;
    Node* next;
  };
  template <class Key>
  static const Value* find(const Node* from, const Node* until, const Key& key) {
    for (; from != until; from = from->next)
      if (std::equal(from->value.begin(), from->value.end(), key.begin(), key.end())) return &from->value;
    return nullptr;
  }
  std::atomic<Node*> heads_[buckets] = {};
};

Kept<std::string, 512> kept_texts;
Kept<Names, 2048> kept_lists;

bool is_identifier(std::string_view s) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_' || c >= 0x80; };
  return !s.empty() && letter(static_cast<unsigned char>(s[0])) && std::all_of(s.begin(), s.end(), [&](char c) {
    return letter(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c));
  });
}

// The number of letters to insert, drop or replace.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); i++) {
    size_t corner = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = corner + (a[i] != b[j]);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, corner + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

Name kept(std::string_view text) { return kept_texts.find_or_add(text, std::hash<std::string_view>()(text)); }

const Names* kept(const List& list) {
  size_t hash = static_cast<size_t>(list.size());
  bool named = false;
  for (Name name : list) {
    hash = (hash ^ reinterpret_cast<size_t>(name) >> 4) * 0x9E3779B97F4A7C15u;
    named |= name != nullptr;
  }
  return named ? kept_lists.find_or_add(list, hash >> 40) : nullptr;
}

void check_distinct(const std::string& who, const List& list) {
  for (int i = 0; i < list.size(); i++)
    for (int j = 0; j < i; j++)
      LAMELLA_CHECK(!list[i] || list[i] != list[j], who, ": dimensions ", j, " and ", i, " would both have the name '",
                    *list[i], "'; the names are ", text(list), ". rename() gives one of them another name");
}

std::string text(const List& list) {
  std::string s = "[";
  for (Name name : list) s += (s.size() > 1 ? ", " : "") + (name ? "'" + *name + "'" : std::string("None"));
  return s + "]";
}

List parsed(const lamella_value& given, int ndim) {
  // The binding makes a list of None alone a list of tensors, and an empty one a list of ints.
  const bool absent = given.tag == LAMELLA_TENSOR_LIST &&
                      std::all_of(given.as.tensors, given.as.tensors + given.length, [](auto* t) { return !t; });
  const bool empty = given.tag == LAMELLA_INT_LIST && !given.length;
  LAMELLA_CHECK_TYPE(absent || empty || given.tag == LAMELLA_VALUE_LIST || given.tag == LAMELLA_INT_LIST ||
                         given.tag == LAMELLA_TENSOR_LIST,
                     "names: expected a list with a str or None for each of the ", ndim, " dimensions, or None");
  LAMELLA_CHECK(static_cast<int>(given.length) == ndim, "names: got ", given.length, " names for a tensor of ", ndim,
                " dimensions; give a str or None for each");
  List list(ndim);
  for (int i = 0; i < ndim && !absent; i++) {
    const bool str = given.tag == LAMELLA_VALUE_LIST && given.as.values[i].tag == LAMELLA_STRING;
    LAMELLA_CHECK_TYPE(str || (given.tag == LAMELLA_VALUE_LIST && !given.as.values[i].tag),
                       "names: the name of dimension ", i, " is neither a str nor None");
    if (!str) continue;
    const std::string_view name(given.as.values[i].as.string, given.as.values[i].length);
    LAMELLA_CHECK(is_identifier(name), "names: the name of dimension ", i, " is '", name,
                  "', which is no identifier; take letters, digits and underscores, and no digit in front");
    list[i] = kept(name);
  }
  check_distinct("names", list);
  return list;
}

std::string suggestion(std::string_view text, const List& list) {
  Name nearest = nullptr;
  size_t least = text.size() / 2;
  for (Name name : list)
    if (name && distance(text, *name) <= least) {
      nearest = name;
      least = distance(text, *name) - (distance(text, *name) > 0);
    }
  return nearest ? ", did you mean '" + *nearest + "'?" : "";
}

}  // namespace lamella::named
