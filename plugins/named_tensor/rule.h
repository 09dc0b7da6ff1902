// Rules: how the names of an operator's results follow from those of its arguments. A rule is a short text. rules.cpp
// has those of the catalogue; other operators need none if their definition has a text `dims`, or bring one along.
//
// Note [Rules of names]  A rule is one of
//     a text of Note [Dimensions] in <lamella/c_api.h>: broadcast, keep, reduce or patterns, as "... k, k -> ..."
//     a verb, perhaps with the names of arguments in parentheses: "swap(dim0, dim1)". verbs.cpp lists the verbs
//     "each" and one of these, for lists of tensors: it holds for the elements at each place of the lists
//   The first tensor among the arguments is the one whose names a verb changes. Each result gets the same names, unless
//   a pattern says otherwise.
#pragma once

#include <lamella/dims.h>

#include <atomic>

#include "state.h"

namespace lamella::named {

struct Call;

// Returns the names of the results.
using Verb = List (*)(const Call&);

// A pattern whose words are numbers.
struct Pattern {
  static constexpr uint8_t run = 255;  // `...`
  struct Token {
    uint8_t word;
    bool bound;
  };
  std::vector<std::vector<Token>> inputs, results;
  int words = 0;
};

// A rule, read for one operator. It lives as long as the process.
struct Rule {
  const lamella_operator* op;
  std::string text;
  std::string error;              // why calls with named tensors are errors; empty if they are none
  Verb verb = nullptr;            // null: `patterns` hold
  std::vector<Pattern> patterns;  // the first that fits the tensors holds
  bool each = false;
  bool unchanged = false;          // the names of the tensors stay as they are, or the slot has carried them
  bool broadcasts = false;         // the verb is broadcast, so that Matching counts
  std::vector<uint8_t> inputs;     // the arguments that are tensors or lists of tensors, but outputs of an out= form
  std::vector<uint8_t> only_read;  // those that are not written
  std::vector<uint8_t> targets;    // those that are written, outputs of an out= form among them
  std::vector<uint8_t> results;    // the results that are tensors or lists of tensors
  std::vector<uint8_t> written;    // the arguments that get the names if the operator has no result
  std::vector<uint8_t> named;      // the arguments between the verb's parentheses
  std::vector<uint8_t> dims;       // the arguments with LAMELLA_ARGUMENT_DIM
  std::vector<uint8_t> read;       // the arguments that the rule reads, beside tensors
  mutable std::atomic<const Rule*> forms[3] = {};  // the rules of in-place and out= forms that have none of their own
  bool pure = false;  // the names follow from names, numbers of dimensions and `read` alone: see memo.h
  int keepdim = -1;   // the argument `keepdim`
};

// Returns the rule that is kept for an operator and a text (nullable), as `read_rule` reads it. Only under the
// registry's lock.
const Rule* kept_rule(const lamella_operator* op, const char* text);

// Returns the same rule for a form of the rule's operator.
const Rule& for_form(const Rule& rule, const lamella_operator* form);

// Returns the rule of an operator: from a text that came with it (nullable), the catalogue's table, or its `dims`. If
// there is none, or if the text is wrong, `error` says so.
const Rule* read_rule(const lamella_operator* op, const char* text);

// Returns the text that the catalogue's table has for an operator; null if it has none.
const char* catalogue_text(const std::string& name, const std::string& overload);

// A verb: its name, its function, how many arguments it takes at least and at most, and whether its answer follows from
// names, numbers of dimensions, and ints and bools among the arguments alone.
struct VerbRow {
  const char* name;
  Verb verb;
  size_t least, most;
  bool pure;
};
// Returns the verb of a name; null if there is none.
const VerbRow* find_verb(const std::string& name);

// ---- a call -----------------------------------------------------------------------------------------------------------

// A call whose names are looked for. In the rule of "each" kind, `element` is the place in the lists.
struct Call {
  const Rule& rule;
  const lamella_value* args;
  int element = -1;

  // Calls f(tensor, number of the input) for each tensor among the inputs.
  template <class F>
  void tensors(F&& f) const {
    for (size_t i = 0; i < rule.inputs.size(); i++) {
      const lamella_value& v = args[rule.inputs[i]];
      if (v.tag == LAMELLA_TENSOR) f(v.as.tensor, i);
      if (v.tag != LAMELLA_TENSOR_LIST) continue;
      for (uint32_t k = 0; k < v.length; k++)
        if (v.as.tensors[k] && (element < 0 || static_cast<uint32_t>(element) == k)) f(v.as.tensors[k], i);
    }
  }
  const lamella_tensor* self() const;             // the first tensor among the inputs; throws if there is none
  List names() const { return list_of(self()); }  // its names

  // Returns the value of the i-th argument between the verb's parentheses.
  const lamella_value& given(size_t i) const { return args[rule.named[i]]; }
  // Returns dimensions that an argument names, counted from 0; an argument without a value names none. Those that a
  // tensor of n dimensions does not have are left out, since the operator's own check reports them.
  std::vector<int> dims(const lamella_value& v, int n) const;
  std::vector<int> dims(size_t i, int n) const { return dims(given(i), n); }
  // Returns the only dimension that an argument names; -1 if the tensor does not have it.
  int dim(size_t i, int n) const;

  // Returns the name of a dimension that has the names a and b in two tensors.
  Name unify(Name a, Name b) const {
    if (a && b && a != b) disagree(a, b);
    return a ? a : b;
  }
  [[noreturn]] void disagree(Name a, Name b) const;
  // Returns the names of all tensors, aligned at the last dimension.
  List broadcast() const;
  // Returns "'self' has ['n', 'c'], 'other' has ['h']": the names of all tensors.
  std::string described() const;
  void check_distinct(const List& list) const;
};

}  // namespace lamella::named
