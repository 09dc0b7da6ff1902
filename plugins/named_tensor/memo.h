// Remembers the names that rules gave, so that a call which looks like an earlier one compares and builds no lists.
#pragma once

#include "rule.h"

namespace lamella::named {

// A MemoKey holds everything that decides the names of the results, if the rule reads no sizes: the rule, the names and the
// numbers of dimensions of at most two tensors, and the ints and bools that the rule reads.
struct MemoKey {
  const Rule* rule = nullptr;
  const Names* names[2] = {};
  uint64_t code = 0;  // a byte for each number of dimensions and each int, eight at most

  bool operator==(const MemoKey&) const = default;
};

// Fills the key of a call. Returns false if the rule reads more than a key holds.
bool fill_key(const Rule& r, const lamella_value* args, MemoKey* key);

struct Memo {
  MemoKey key;
  const Names* result = nullptr;  // of all results
};

// Returns this thread's place for a key. It may hold another key.
Memo& memo(const MemoKey& key);

}  // namespace lamella::named
