// Suggestions for names in a formula that mean nothing: the operator, or the word, that is spelled most alike.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derivatives/formula.h"

namespace lamella::autograd {

// Returns how many letters must be put in, taken out or replaced to turn one word into the other.
inline size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); j++)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row[b.size()];
}

// Collects names, and keeps the one that is nearest to a word and near enough to be meant.
class Nearest {
 public:
  explicit Nearest(std::string_view word) : word_(word), least_(std::max<size_t>(word.size() / 4, 1) + 1) {}
  void offer(std::string_view spelled, const std::string& name) {
    const size_t far = distance(word_, spelled);
    if (far >= least_) return;
    least_ = far;
    name_ = name;
  }
  // Returns the end of a message; "" if no name is near.
  std::string text() const { return name_.empty() ? "" : "; did you mean '" + name_ + "'?"; }

 private:
  std::string_view word_;
  size_t least_;
  std::string name_;
};

// Suggests an operator for a name. A name without a namespace means an operator of autograd's or of the catalogue: one
// of any other namespace that is spelled like it is suggested with its namespace, first one of `own`, the namespace of
// the operator whose formula it is.
inline std::string nearest_operator(const std::string& name, std::string_view own) {
  const bool qualified = name.find("::") != std::string::npos;
  std::vector<const lamella_operator*> all(static_cast<size_t>(api().operators(nullptr, 0)));
  all.resize(std::min(all.size(), static_cast<size_t>(api().operators(all.data(), static_cast<int32_t>(all.size())))));
  std::vector<std::string> names;
  for (const lamella_operator* op : all) names.emplace_back(api().operator_name(op));
  std::stable_partition(names.begin(), names.end(), [&](const std::string& n) {
    return n.size() > own.size() && n.compare(0, own.size(), own) == 0 && n[own.size()] == ':';
  });
  Nearest nearest(name);
  for (const std::string& n : names) nearest.offer(qualified ? n : n.substr(n.find("::") + 2), n);
  return nearest.text();
}

}  // namespace lamella::autograd
