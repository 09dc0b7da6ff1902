// Reads Python arguments into values: each overload has one signature, compiled from its schema.
#pragma once

#include <memory>
#include <vector>

#include "frontend/binding/conversion.h"
#include "frontend/binding/named_dims.h"

namespace lamella::binding {

struct Param {
  PyObject* name;   // interned
  PyObject* other;  // interned: an alias of the name, such as "axis"; or null
  dispatcher::Type type;
  bool keyword_only, has_default;
  Value value;  // the default
  // A list of tensors that positional arguments may give one by one, as in einsum(equation, a, b).
  bool spelled_out = false;
  bool dim = false;  // It counts dimensions, which a call may name: frontend/binding/named_dims.h.
};

// The kinds of complaint, from the least to the most specific.
enum class Complaint { missing, too_many, unknown_keyword, wrong_type, twice, unknown_name };
// The reason why no overload fits: the complaint of the overload that accepted the most arguments.
struct Mismatch {
  bool explain = false;  // whether to make `text`; not in the first pass over the overloads, where one may still fit
  bool by_name = false;  // whether names of dimensions are accepted; overloads that take strs are tried before that
  bool names = false;    // whether an argument was refused that names dimensions
  int progress = -1;     // the number of arguments that were accepted
  Complaint complaint = Complaint::missing;
  std::string text;
};

// An argument that names dimensions by strs and ints: one, or several, which lie in a tuple or among the arguments.
struct NamedDims {
  int param;
  PyObject* const* names;
  Py_ssize_t count;
  bool one;  // a str alone, which stands for a list as one int does

  Py_ssize_t numbers(const dispatcher::Type& t) const { return one && t.list_size > 1 ? t.list_size : count; }
};

// Storage for the short lists of one call, on its caller's stack.
class PlainLists {
 public:
  PlainLists() = default;
  PlainLists(const PlainLists&) = delete;
  ~PlainLists() { clear(); }
  void clear() {
    while (num_tensors_) Py_DECREF(held_[--num_tensors_]);
    num_ints_ = 0;
  }
  // Returns false if an item is of another type or does not fit 64 bits, or if there is no room.
  bool add_ints(PyObject* const* items, Py_ssize_t n, Value* v);
  bool add_repeated(PyObject* item, int times, core::Value* v);  // makes a list of fixed size from one int
  bool add_tensors(PyObject* const* items, Py_ssize_t n, Value* v);
  // Keeps an object alive until the next call of clear(). The caller has checked full().
  void hold(PyObject* owned) {
    tensors_[num_tensors_] = nullptr;  // each object that is held has a place among the tensors
    held_[num_tensors_++] = owned;
  }
  bool full() const { return num_tensors_ == room; }
  bool has_room(Py_ssize_t ints) const { return ints <= room - num_ints_; }
  // Finds dimensions of `self` by name, for which there is room. Returns false with an exception.
  bool add_dims(core::Tensor* self, const NamedDims& given, const dispatcher::Type& t, Value* v, const Where& where);

 private:
  static constexpr int room = 16;
  int num_ints_ = 0, num_tensors_ = 0;
  int64_t ints_[room];
  lamella_tensor* tensors_[room];
  PyObject* held_[room];  // keeps tensors and tuples of names alive, since the Python list may change during the call
};

// One overload with the Python names of its parameters.
struct Signature {
  const dispatcher::Operator* op = nullptr;   // the functional operator, or one that is not derived from another
  const dispatcher::Operator* out = nullptr;  // the operator that an argument out= selects
  std::vector<Param> params;                  // all parameters but the outputs
  int num_positional = 0;
  int first_list = -1;  // the index of the int list that positional integers may spell out, as in zeros(2, 3); or -1
  bool plain_names = false;  // parse_plain() takes names of dimensions, since no overload takes another str there

  // Reads the arguments of most calls: tensors, plain numbers, dtypes, short lists and names of dimensions, by position
  // or keyword, the rest by default. Returns false for any other call, which parse() handles; with an exception if a
  // dimension has a wrong name, which is possible only if `plain_names` is set.
  bool parse_plain(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PlainLists& lists) const {
    lists.clear();
    return read_plain<false>(args, n, kwnames, values, lists, 0, 0);
  }

  // Fills values[0..nargs), and sets *out_arg to the argument out= if there is one. Returns false with a Python
  // exception, or else with the reason in *why if `why->explain` is set.
  bool parse(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PyObject** out_arg, Arena& arena,
             Mismatch* why) const;

 private:
  bool parse_positional(PyObject* const* args, Py_ssize_t n, Value* values, Arena& arena, Mismatch* why, int* next,
                        uint64_t* named) const;
  bool accept_name(int i, PyObject* o, Value* values, Mismatch* why, uint64_t* named) const;
  Where where(const Param& p) const;
  bool resolve_names(uint64_t named, Value* values, Arena& arena) const;
  // Goes on with parse_plain() at args[used], for the parameter `at`. `by_name`: whether arguments may name dimensions.
  // A call gets there at its first name, so that calls without names do not pay for them.
  template <bool by_name>
  bool read_plain(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PlainLists& lists,
                  Py_ssize_t at, Py_ssize_t used) const;
  Py_ssize_t plain_names_at(int i, PyObject* const* args, Py_ssize_t n, PlainLists& lists, NamedDims* given) const;
  core::Tensor* first_tensor(const Value* values) const;
  PyObject* find_keyword(int i, PyObject* const* values, PyObject* kwnames) const;
  bool fail(Mismatch* why, int progress, Complaint complaint, const std::string& text) const;
  bool wrong(Mismatch* why, int progress, int i, PyObject* got) const;
  bool named(Mismatch* why, int progress, Complaint complaint, const char* text, PyObject* name) const;
};

// Compiles the signature from the operator's schema; returns false with an exception.
bool make_signature(const dispatcher::Operator* op, Signature* s);

// Returns whether an overload has dimensions, and a str in the place of none of them may mean something else in another
// overload, by position or by keyword.
bool may_name_dims(const Signature& s, const std::vector<std::unique_ptr<Signature>>& overloads);

}  // namespace lamella::binding
