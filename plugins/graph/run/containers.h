// Lists, tuples, dictionaries and instances of classes as values of a running graph: counted objects (LAMELLA_OBJECT),
// shared by all that hold them, as in Python. Only what a running graph computes has these; arguments of registered
// operators are flat values of the C ABI.
//
// Note [Owned]  An `Owned` value is released by whoever has it last; functions that return a lamella_value return an
//   owned one. The items of a container are owned by it.
#pragma once

#include <lamella/values.h>

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lamella::graph {

struct Class;

extern const lamella_object_type list_type, tuple_type, dict_type, instance_type;

// Destroys an object of these types or a future. No depth of nesting exhausts the stack.
void destroy(lamella_object* o);

struct List {
  lamella_object object{1, &list_type};
  std::vector<lamella_value> items;
};

struct Tuple {
  lamella_object object{1, &tuple_type};
  std::vector<lamella_value> items;
};

// A dictionary in the order of insertion. A key is an int, a float, a bool, a complex, a str or an instance of a class
// or a tensor, which are compared by identity.
class Dict {
 public:
  struct Entry {
    lamella_value key, value;
  };
  using Entries = std::list<Entry>;

  lamella_object object{1, &dict_type};
  const Entries& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  // Returns the value of a key, borrowed, or null.
  lamella_value* find(const lamella_value& key);
  void set(lamella_value key, lamella_value value);  // takes both over; an existing key keeps its place
  bool erase(const lamella_value& key);              // returns whether the key was there
  void clear();
  ~Dict() { clear(); }

 private:
  struct Hash {
    size_t operator()(const lamella_value* key) const;
  };
  struct Same {
    bool operator()(const lamella_value* a, const lamella_value* b) const;
  };
  Entries entries_;
  std::unordered_map<const lamella_value*, Entries::iterator, Hash, Same> index_;
};

// An instance of a class, which shares the type. A program may read an attribute while another thread assigns it, so
// that running programs read and write attributes by `get` and `exchange`.
struct Instance {
  lamella_object object{1, &instance_type};
  std::shared_ptr<const Class> type;
  std::vector<lamella_value> attributes;

  lamella_value get(size_t i);                            // owned
  lamella_value exchange(size_t i, lamella_value owned);  // returns the value before, owned

 private:
  class Busy;
  // Not 0 while a thread copies or replaces an attribute: the number of forks that the thread's process comes from,
  // so that the child of a fork does not wait for a thread that it has not.
  std::atomic<uint32_t> busy_{0};
};

// One more in the child of each fork.
extern std::atomic<uint32_t> process_number;

// ---- values ----

inline bool is_object(const lamella_value& v, const lamella_object_type& type) {
  return v.tag == LAMELLA_OBJECT && v.as.object->type == &type;
}
inline lamella_value value_of(lamella_object* owned) {
  lamella_value v{LAMELLA_OBJECT, 0, {0}};
  v.as.object = owned;
  return v;
}
inline lamella_value value_of(List* l) { return value_of(&l->object); }
inline lamella_value value_of(Tuple* t) { return value_of(&t->object); }
inline lamella_value value_of(Dict* d) { return value_of(&d->object); }
inline lamella_value value_of(Instance* i) { return value_of(&i->object); }
inline List& list_of(const lamella_value& v) { return *reinterpret_cast<List*>(v.as.object); }
inline Tuple& tuple_of(const lamella_value& v) { return *reinterpret_cast<Tuple*>(v.as.object); }
inline Dict& dict_of(const lamella_value& v) { return *reinterpret_cast<Dict*>(v.as.object); }
inline Instance& instance_of(const lamella_value& v) { return *reinterpret_cast<Instance*>(v.as.object); }

// Returns another owned reference to a value.
inline lamella_value copy_of(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
    case LAMELLA_BOOLEAN:
    case LAMELLA_INT:
    case LAMELLA_FLOAT:
    case LAMELLA_DTYPE:
    case LAMELLA_DEVICE:
    case LAMELLA_LAYOUT:
    case LAMELLA_MEMORY_FORMAT:
      return v;
    default: {
      lamella_value out;
      check(api().value_retain(&v, &out));
      return out;
    }
  }
}
inline void release(lamella_value& v) {
  if (v.tag == LAMELLA_NONE) return;
  api().value_release(&v);
}

// New owned values.
lamella_value new_string(std::string_view text);
lamella_value new_complex(double re, double im);
lamella_value new_list(std::vector<lamella_value> items);   // takes the items over
lamella_value new_tuple(std::vector<lamella_value> items);  // takes the items over
inline std::string_view text_of(const lamella_value& v) { return {v.as.string, v.length}; }

// Compares as Python's `==`: numbers of all kinds by value, containers by their parts, tensors and instances by
// identity.
bool equal(const lamella_value& a, const lamella_value& b);

// Returns a value as Python's repr() and str() print it; a tensor by the function `tensor_text` of run/host.h.
std::string repr_of(const lamella_value& v);
std::string str_of(const lamella_value& v);

// Returns a flat list of the C ABI (LAMELLA_INT_LIST and so on) as a List, and any other value as it is. Takes the value
// over.
lamella_value unflattened(lamella_value owned);

}  // namespace lamella::graph
