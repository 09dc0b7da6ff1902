// The verbs of rules. Each gets a call and returns the names of its results.
#include <map>

#include "rule.h"

namespace lamella::named {
namespace {

// ---- several tensors, dimensions aligned at the last ------------------------------------------------------------------

// Returns the n-th tensor among the inputs.
const lamella_tensor* tensor(const Call& c, int n) {
  const lamella_tensor* found = nullptr;
  c.tensors([&](const lamella_tensor* t, size_t) {
    if (!n--) found = t;
  });
  LAMELLA_CHECK(found, title(c.rule.op), ": a tensor is missing among the arguments");
  return found;
}

List broadcast(const Call& c) { return c.broadcast(); }

List without(const List& names, std::vector<int> dims) {
  List left;
  for (int i = 0; i < names.size(); i++)
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) left.push_back(names[i]);
  return left;
}

List reduced(const Call& c, const List& names) {
  if (c.rule.keepdim >= 0 && c.args[c.rule.keepdim].as.i) return names;
  std::vector<int> gone;
  bool given = false;
  for (uint8_t a : c.rule.dims) {
    const lamella_value& v = c.args[a];
    given |= v.tag == LAMELLA_INT || (v.tag == LAMELLA_INT_LIST && v.length);
    for (int d : c.dims(v, names.size())) gone.push_back(d);
  }
  return given ? without(names, gone) : List();
}
List reduce(const Call& c) { return reduced(c, c.broadcast()); }

List reduce_last(const Call& c) {
  List names = c.broadcast();
  const bool keeps = c.rule.keepdim >= 0 && c.args[c.rule.keepdim].as.i;
  if (names.size() && !keeps) names.erase(names.size() - 1);
  return names;
}

// A vector of quantiles, the second tensor, gives a new first dimension.
List quantile(const Call& c) {
  List names = reduced(c, c.names());
  if (tensor(c, 1)->dl.ndim) names.insert(0, list_of(tensor(c, 1))[0]);
  return names;
}

bool is_reduced(const Call& c) {
  if (c.rule.named.size() == 2 && c.given(1).tag == LAMELLA_BOOLEAN)
    return c.given(1).as.i;  // the old argument `reduce`
  const lamella_value& v = c.given(0);
  return v.tag == LAMELLA_STRING ? std::string_view(v.as.string, v.length) != "none" : v.as.i != 0;
}

// A loss: one number, unless an argument says otherwise.
List loss(const Call& c) {
  const List names = c.broadcast();
  return is_reduced(c) ? List() : names;
}

// A loss over classes, which are dimension 1, or 0 of a vector. The target, the second tensor, has the other dimensions,
// or all of them.
List class_loss(const Call& c) {
  const auto without_classes = [](List names) {
    if (names.size()) names.erase(names.size() > 1 ? 1 : 0);
    return names;
  };
  const int n = c.names().size();
  List left = without_classes(c.names());
  int place = 0;
  c.tensors([&](const lamella_tensor* t, size_t) {
    List others = list_of(t);
    if (place++ == 0 || (t->dl.ndim != n && place > 2)) return;  // the input; weights of classes
    if (t->dl.ndim == n) others = without_classes(others);
    for (int i = 0; i < left.size() && i < others.size(); i++) left[i] = c.unify(left[i], others[i]);
  });
  return is_reduced(c) ? List() : left;
}

// ---- one tensor -------------------------------------------------------------------------------------------------------

List none(const Call&) { return {}; }
List unchanged(const Call&) { return {}; }
List self(const Call& c) { return c.names(); }

List first_two(const Call& c) {
  List names = c.names();
  const List others = list_of(tensor(c, 1));
  while (names.size() < others.size()) names.insert(0, nullptr);
  for (int d = 1; d <= others.size(); d++) {
    Name& at = names[names.size() - d];
    at = c.unify(at, others[others.size() - d]);
  }
  return names;
}

List same(const Call& c) {
  if (!c.rule.named.empty() && c.given(0).tag != LAMELLA_INT) return List(1);  // without a dimension all become one
  List names = c.names();
  c.tensors([&](const lamella_tensor* t, size_t) {
    const Names* others = names_of(t);
    for (int d = 0; others && t->dl.ndim == names.size() && d < names.size(); d++)
      names[d] = c.unify(names[d], (*others)[d]);
  });
  return names;
}

List like(const Call& c) {
  const lamella_value& v = c.given(0);
  return v.tag == LAMELLA_TENSOR ? list_of(v.as.tensor) : List();
}

List reverse(const Call& c) {
  List names = c.names();
  std::reverse(names.begin(), names.end());
  return names;
}

List permute(const Call& c) {
  const List names = c.names();
  List moved;
  for (int d : c.dims(0, names.size())) moved.push_back(names[d]);
  return moved;
}

List swap(const Call& c) {
  List names = c.names();
  const int a = c.dim(0, names.size()), b = c.dim(1, names.size());
  if (a >= 0 && b >= 0) std::swap(names[a], names[b]);
  return names;
}

List move(const Call& c) {
  const List names = c.names();
  const std::vector<int> from = c.dims(0, names.size()), to = c.dims(1, names.size());
  const List rest = without(names, from);
  const auto repeats = [](std::vector<int> dims) {
    std::sort(dims.begin(), dims.end());
    return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
  };
  if (from.size() != to.size() || repeats(from) || repeats(to)) return {};  // an error of the operator
  List moved(names.size());
  for (int i = 0, next = 0; i < moved.size(); i++) {
    const size_t k = std::find(to.begin(), to.end(), i) - to.begin();
    moved[i] = k < to.size() ? names[from[k]] : rest[next++];
  }
  return moved;
}

List insert(const Call& c) {
  List names = c.broadcast();  // also of the tensors that stack takes
  const int d = c.dim(0, names.size() + 1);
  if (d >= 0) names.insert(d, nullptr);
  return names;
}

List remove(const Call& c) {
  const List names = c.names();
  return without(names, c.dims(0, names.size()));
}

List squeeze(const Call& c) {
  const lamella_tensor* t = c.self();
  const List names = c.names();
  std::vector<int> gone;
  for (int d = 0; d < names.size(); d++)
    if (t->dl.shape[d] == 1) gone.push_back(d);
  if (!c.rule.named.empty()) {
    const std::vector<int> given = c.dims(0, names.size());
    std::erase_if(gone, [&](int d) { return std::find(given.begin(), given.end(), d) == given.end(); });
  }
  return without(names, gone);
}

List merge(const Call& c) {
  const List names = c.names();
  const int from = c.dim(0, names.size()), to = c.dim(1, names.size());
  if (!names.size()) return List(1);
  if (from < 0 || to < from || from == to) return names;
  List merged;
  for (int i = 0; i < names.size(); i++)
    if (i <= from || i > to) merged.push_back(i == from ? nullptr : names[i]);
  return merged;
}

List split(const Call& c) {
  const List names = c.names();
  const int d = c.dim(0, names.size());
  if (d < 0) return {};
  List parts;
  for (int i = 0; i < names.size(); i++) {
    if (i != d) parts.push_back(names[i]);
    for (uint32_t k = 0; i == d && k < c.given(1).length; k++)
      parts.push_back(c.given(1).length == 1 ? names[i] : nullptr);
  }
  return parts;
}

// The result has as many dimensions as the argument has numbers, or as the tensor if those are more; the tensor's
// are the last of them.
List right(const Call& c) {
  const List names = c.names();
  if (c.given(0).length > LAMELLA_MAX_DIMS) return {};  // an error of the operator
  List after(std::max(names.size(), static_cast<int>(c.given(0).length)));
  std::copy(names.begin(), names.end(), after.end() - names.size());
  return after;
}

List along(const Call& c) { return c.given(0).tag == LAMELLA_INT ? c.names() : List(1); }

List window(const Call& c) {
  List names = c.names();
  names.push_back(nullptr);
  return names;
}

List diagonal(const Call& c) {
  const List names = c.names();
  List left = without(names, {c.dim(0, names.size()), c.dim(1, names.size())});
  left.push_back(nullptr);
  return left;
}

List embed(const Call& c) {
  List names = c.names();
  const int n = names.size() + 1;
  const int a = c.dim(0, n), b = c.dim(1, n);
  if (a < 0 || b < 0 || a == b || !names.size()) return {};
  names.erase(names.size() - 1);
  names.insert(std::min(a, b), nullptr);
  names.insert(std::max(a, b), nullptr);
  return names;
}

List rotate(const Call& c) {
  List names = c.names();
  const std::vector<int> dims = c.dims(1, names.size());
  if (c.given(0).as.i % 2 && dims.size() == 2) std::swap(names[dims[0]], names[dims[1]]);
  return names;
}

// A view with other sizes. Dimensions are compared from the first on: those that keep their size keep their name, and
// those that are merged or split have none.
List sizes(const Call& c) {
  const lamella_tensor* t = c.self();
  const List names = c.names();
  const lamella_value& v = c.given(0);
  std::vector<int64_t> to;
  if (v.tag == LAMELLA_TENSOR) to.assign(v.as.tensor->dl.shape, v.as.tensor->dl.shape + v.as.tensor->dl.ndim);
  if (v.tag == LAMELLA_INT_LIST) to.assign(v.as.ints, v.as.ints + v.length);
  if (to.size() > LAMELLA_MAX_DIMS) return {};  // an error of the operator, as are products that overflow
  int64_t known = 1;
  for (int64_t s : to)
    if (s >= 0 && __builtin_mul_overflow(known, s, &known)) return {};
  for (int64_t& s : to)
    if (s < 0) s = known ? t->numel / known : 0;
  List after(static_cast<int>(to.size()));
  size_t j = 0;
  for (int i = 0; i < names.size() && j < to.size();) {
    if (t->dl.shape[i] == to[j]) {
      after[static_cast<int>(j++)] = names[i++];
      continue;
    }
    if (t->dl.shape[i] == 1 || to[j] == 1) {  // a dimension of size 1 comes or goes
      if (t->dl.shape[i] == 1)
        i++;
      else
        j++;
      continue;
    }
    int64_t before = t->dl.shape[i++], later = to[j++];  // a group that is merged or split
    while (before != later && (before < later ? i < names.size() : j < to.size()))
      (before < later ? before *= t->dl.shape[i++] : later *= to[j++]);
  }
  return after;
}

// ---- indices ----------------------------------------------------------------------------------------------------------

// Advanced indexing by a list of tensors and none. The dimensions that the indices give stand where the first index is
// if the indexed dimensions are neighbours, else in front. A vector of indices, or a mask, of one dimension keeps its name.
List index(const Call& c) {
  const List names = c.names();
  const lamella_value& v = c.given(0);
  List made;  // those that the indices give
  int first = -1, last = -1, indexed = 0, count = 0, at = 0, most = 0;
  std::vector<int> gone;
  for (uint32_t k = 0; k < v.length; k++) {
    const lamella_tensor* i = v.tag == LAMELLA_TENSOR_LIST ? v.as.tensors[k] : nullptr;
    if (!i) {
      at++;
      continue;
    }
    const bool mask = i->dtype == LAMELLA_BOOL;
    const int takes = mask ? i->dl.ndim : 1;
    if (first < 0) first = at;
    const List own = list_of(i);
    for (int d = 0; d < takes; d++, at++) {
      if (mask && at < names.size()) c.unify(names[at], own[d]);
      gone.push_back(at);
    }
    last = at;
    indexed += takes;
    count++;
    most = std::max(most, mask ? 1 : i->dl.ndim);
  }
  if (first < 0) return names;
  made = List(most);
  for (uint32_t k = 0; k < v.length; k++)
    if (const lamella_tensor* i = v.as.tensors[k]; i && i->dtype != LAMELLA_BOOL) {
      const List own = list_of(i);
      for (int d = 0; d < own.size(); d++) {
        Name& to = made[most - own.size() + d];
        to = c.unify(to, own[d]);
      }
    }
  if (count == 1 && most == 1 && indexed == 1 && first < names.size() && !made[0]) made[0] = names[first];
  const bool neighbours = last - first == indexed;
  List after = without(names, gone);
  const int place = neighbours ? std::min(first, after.size()) : 0;
  for (int d = 0; d < made.size(); d++) after.insert(place + d, made[d]);
  return after;
}

// Writes of one tensor into another: the names of the target, with which those of the source must agree.

List target(const Call& c, const List& place, const lamella_value& source) {
  const List names = source.tag == LAMELLA_TENSOR ? list_of(source.as.tensor) : List();
  for (int d = 1; d <= std::min(place.size(), names.size()); d++)
    c.unify(place[place.size() - d], names[names.size() - d]);
  return c.names();
}
List write(const Call& c) { return target(c, c.names(), c.given(0)); }
List put(const Call& c) { return target(c, index(c), c.given(1)); }
List hole(const Call& c) {
  const List names = c.names();
  return target(c, without(names, c.dims(1, names.size())), c.given(0));
}

// ---- products ---------------------------------------------------------------------------------------------------------

List second(const Call& c) { return list_of(tensor(c, 1)); }

// The dimensions of two tensors without those that are summed over, which must agree.
List contract(const Call& c, const std::vector<int>& mine, const std::vector<int>& theirs) {
  const List a = c.names(), b = second(c);
  for (size_t i = 0; i < mine.size() && i < theirs.size(); i++) c.unify(a[mine[i]], b[theirs[i]]);
  List left = without(a, mine);
  for (Name name : without(b, theirs)) left.push_back(name);
  return left;
}

List tensordot(const Call& c) {
  const int n = c.names().size(), m = second(c).size();
  if (c.rule.named.size() == 2) return contract(c, c.dims(c.given(0), n), c.dims(c.given(1), m));
  std::vector<int> mine, theirs;
  for (int64_t i = 0, count = c.given(0).as.i; i < count && count <= std::min(n, m); i++) {
    mine.push_back(n - static_cast<int>(count - i));
    theirs.push_back(static_cast<int>(i));
  }
  return contract(c, mine, theirs);
}

List inner(const Call& c) {
  const int n = c.names().size(), m = second(c).size();
  if (!n || !m) return c.broadcast();
  return contract(c, {n - 1}, {m - 1});
}

// The letters of an equation stand for dimensions, "..." for further ones, aligned at the last.
List einsum(const Call& c) {
  std::string equation(c.given(0).as.string, c.given(0).length);
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::vector<std::string> operands = detail::split_dims(equation.substr(0, arrow), ",");
  std::map<char, Name> known;
  std::map<char, int> seen;
  List run;
  size_t k = 0;
  bool fits = true;
  c.tensors([&](const lamella_tensor* t, size_t) {
    const std::string letters = k < operands.size() ? operands[k++] : "";
    const List names = list_of(t);
    const size_t dots = letters.find("...");
    const int more = dots == std::string::npos ? 0 : names.size() - static_cast<int>(letters.size()) + 3;
    fits &= more >= 0 && names.size() == static_cast<int>(letters.size()) - (dots == std::string::npos ? 0 : 3) + more;
    if (!fits) return;
    int at = 0;
    for (size_t i = 0; i < letters.size(); i++) {
      if (i == dots) {
        while (run.size() < more) run.insert(0, nullptr);
        for (int d = 0; d < more; d++) {
          Name& to = run[run.size() - more + d];
          to = c.unify(to, names[at++]);
        }
        i += 2;
        continue;
      }
      const bool again = letters.find(letters[i]) < i;  // a diagonal: the name of its first dimension counts
      if (!again) known[letters[i]] = c.unify(known[letters[i]], names[at]);
      at++;
      seen[letters[i]]++;
    }
  });
  List after;
  if (!fits) return after;
  if (arrow == std::string::npos) {  // the letters that stand there once, in the order of the alphabet
    after = run;
    for (const auto& [letter, count] : seen)
      if (count == 1) after.push_back(known[letter]);
    return after;
  }
  for (size_t i = arrow + 2; i < equation.size(); i++) {
    if (equation[i] == '.') {
      for (Name name : run) after.push_back(name);
      i += 2;
    } else {
      after.push_back(known[equation[i]]);
    }
  }
  return after;
}

// The results have a dimension for each vector; with the indexing "xy" the first two change places.
List grid(const Call& c) {
  List names;
  c.tensors([&](const lamella_tensor* t, size_t) { names.push_back(t->dl.ndim ? list_of(t)[0] : nullptr); });
  const bool xy = !c.rule.named.empty() && std::string_view(c.given(0).as.string, c.given(0).length) == "xy";
  if (xy && names.size() > 1) std::swap(names[0], names[1]);
  return names;
}

List new_last(const Call& c) {
  List names = c.names();
  if (names.size()) names[names.size() - 1] = nullptr;
  return names;
}

constexpr bool pure = true, reads_more = false;
const VerbRow verb_rows[] = {
    {"broadcast", broadcast, 0, 0, pure},  // the names of all tensors, aligned at the last dimension
    {"keep", broadcast, 0, 0, pure},       // the same, without regard to Matching
    {"reduce", reduce, 0, 0, pure},        // the same, but for the dimensions that arguments name
    {"reduce_last", reduce_last, 0, 0, pure},
    {"quantile", quantile, 0, 0, reads_more},      // as reduce, with a new first dimension for several quantiles
    {"loss", loss, 1, 2, reads_more},              // as broadcast, or no dimension, as the argument `reduction` says
    {"class_loss", class_loss, 1, 2, reads_more},  // the same without the dimension of the classes
    {"none", none, 0, 0, pure},                    // no names: the dimensions of the result are others
    {"unchanged", unchanged, 0, 0, reads_more},    // nothing is named anew
    {"self", self, 0, 0, pure},                    // the first tensor's
    // those of all tensors that have as many dimensions as the first one; one dimension if an argument is no int
    {"same", same, 0, 1, pure},
    {"first_two", first_two, 0, 0, pure},  // as broadcast, of the first two tensors alone
    {"like", like, 1, 1, reads_more},      // those of the tensor in an argument
    {"reverse", reverse, 0, 0, pure},
    {"permute", permute, 1, 1, pure},
    {"swap", swap, 2, 2, pure},
    {"move", move, 2, 2, pure},
    {"insert", insert, 1, 1, pure},  // a new dimension without a name
    {"remove", remove, 1, 1, pure},
    {"squeeze", squeeze, 0, 1, reads_more},  // without those of size 1, or those of them that the argument names
    {"merge", merge, 2, 2, pure},        // dimensions from the first to the second argument become one without a name
    {"split", split, 2, 2, reads_more},  // a dimension becomes several of given sizes
    {"right", right, 1, 1, reads_more},  // new dimensions in front, up to the number of sizes
    {"sizes", sizes, 1, 1, reads_more},  // other sizes over the same elements
    {"along", along, 1, 1, pure},        // the first tensor's, or one without a name if the argument names no dimension
    {"window", window, 0, 0, pure},      // a new last dimension
    {"diagonal", diagonal, 2, 2, pure},  // two dimensions become a last one without a name
    {"embed", embed, 2, 2, pure},        // the last dimension becomes two without names
    {"rotate", rotate, 2, 2, pure},      // by the number of quarter turns, in the plane of two dimensions
    {"index", index, 1, 1, reads_more},  // indices in the list of an argument
    {"write", write, 1, 1, reads_more},  // the first tensor's, which agree with those of the argument
    {"put", put, 2, 2, reads_more},      // the same, where the indices of the first argument are written
    {"hole", hole, 2, 2, reads_more},    // the same, where a dimension is selected
    {"tensordot", tensordot, 1, 2, pure},
    {"inner", inner, 0, 0, pure},
    {"einsum", einsum, 1, 1, reads_more},
    {"grid", grid, 0, 1, reads_more},
    {"new_last", new_last, 0, 0, pure},  // the last dimension is another one, without a name
};

}  // namespace

const VerbRow* find_verb(const std::string& name) {
  for (const VerbRow& row : verb_rows)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace lamella::named
