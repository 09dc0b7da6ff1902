// The values of a store, and its operations without waiting: what the kinds of stores have in common.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "store/store.h"

namespace lamella::distributed {

class Values {
 public:
  void set(const std::string& key, std::string_view value) { values_[key] = value; }
  void append(const std::string& key, std::string_view value) { values_[key] += value; }
  const std::string* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Returns the number that the key would hold after an addition.
  int64_t sum(const std::string& key, int64_t amount) const {
    const std::string* value = find(key);
    int64_t result = 0;
    if (__builtin_add_overflow(value ? number_in(key, *value) : 0, amount, &result))
      throw Error(LAMELLA_OVERFLOW, "store: add: the sum at key '" + key + "' is beyond 64 bits");
    return result;
  }
  // Returns whether compare_set would set the key.
  bool fits(const std::string& key, std::string_view expected) const {
    const std::string* value = find(key);
    return value ? *value == expected : expected.empty();
  }
  std::string value_or(const std::string& key, std::string_view other) const {
    const std::string* value = find(key);
    return value ? *value : std::string(other);
  }
  bool erase(const std::string& key) { return values_.erase(key) > 0; }
  size_t size() const { return values_.size(); }
  Keys absent(const Keys& keys) const {
    Keys all;
    for (const std::string& k : keys)
      if (!find(k)) all.push_back(k);
    return all;
  }

 private:
  std::unordered_map<std::string, std::string> values_;
};

}  // namespace lamella::distributed
