// From Python arguments to values: one compiled signature per overload, driven by its schema.
#pragma once

#include <vector>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

struct Param {
  PyObject* name;   // interned
  PyObject* other;  // another name of it, interned, or null
  dispatcher::Type type;
  bool keyword_only, has_default;
  Value value;               // the default
  bool spelled_out = false;  // a list of tensors that the remaining positional arguments may be
};

// Why no overload fits: the complaint of the overload that got furthest.
enum class Complaint { missing, too_many, unknown_keyword, wrong_type };
struct Mismatch {
  bool explain = false;  // most calls look at an overload or two that do not fit: no text is made for those
  int progress = -1;     // arguments that did fit
  Complaint complaint = Complaint::missing;
  std::string text;
};

// The lists of one call, short ones, on its caller's stack.
class PlainLists {
 public:
  PlainLists() = default;
  PlainLists(const PlainLists&) = delete;
  ~PlainLists() { clear(); }
  void clear() {
    while (num_tensors_) Py_DECREF(held_[--num_tensors_]);
    num_ints_ = 0;
  }
  // False: something else is among the items, or there is no room.
  bool add_ints(PyObject* const* items, Py_ssize_t n, Value* v);
  bool add_repeated(PyObject* item, int times, core::Value* v);  // one int for a list of fixed size
  bool add_tensors(PyObject* const* items, Py_ssize_t n, Value* v);

 private:
  static constexpr int room = 16;
  int num_ints_ = 0, num_tensors_ = 0;
  int64_t ints_[room];
  lamella_tensor* tensors_[room];
  PyObject* held_[room];  // a list may change while the call runs
};

// One overload as Python sees it.
struct Signature {
  const dispatcher::Operator* op = nullptr;   // functional, or a form of its own
  const dispatcher::Operator* out = nullptr;  // for out=
  std::vector<Param> params;                  // without outputs
  int num_positional = 0;
  int first_list = -1;  // an int list that positional integers may spell out, as in zeros(2, 3)

  bool parse_plain(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PlainLists& lists) const;

  // Fills values[0..nargs).
  bool parse(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PyObject** out_arg, Arena& arena,
             Mismatch* why) const;

 private:
  bool parse_positional(PyObject* const* args, Py_ssize_t n, Value* values, Arena& arena, Mismatch* why,
                        int* next) const;
  PyObject* find_keyword(int i, PyObject* const* values, PyObject* kwnames) const;
  bool fail(Mismatch* why, int progress, Complaint complaint, const std::string& text) const;
  bool wrong(Mismatch* why, int progress, int i, PyObject* got) const;
  bool named(Mismatch* why, int progress, Complaint complaint, const char* text, PyObject* name) const;
};

// Builds it from the operator's schema; null with an exception.
bool make_signature(const dispatcher::Operator* op, Signature* s);

}  // namespace lamella::binding
