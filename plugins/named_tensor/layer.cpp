#include "layer.h"

#include <deque>
#include <optional>

#include "memo.h"

namespace lamella::named {
namespace {

// ---- patterns ---------------------------------------------------------------------------------------------------------

bool is_run(const Pattern::Token& token) { return token.word == Pattern::run; }

// Returns whether an argument is a list whose group is `...~` alone, which no result has: the weights of a recurrent
// network, whose names need not agree.
bool are_weights(const Pattern& p, size_t i, const lamella_value& argument) {
  const std::vector<Pattern::Token>& group = p.inputs[i];
  if (argument.tag != LAMELLA_TENSOR_LIST || group.size() != 1 || !is_run(group[0]) || !group[0].bound) return false;
  return std::none_of(p.results.begin(), p.results.end(),
                      [](const auto& result) { return std::any_of(result.begin(), result.end(), is_run); });
}

// Returns the names of the results by the first pattern that fits the tensors; none if no pattern does. `by_sizes`
// becomes true if a pattern fits the numbers of dimensions, and not the sizes.
std::vector<const Names*> by_pattern(const Call& c, bool* by_sizes) {
  for (const Pattern& p : c.rule.patterns) {
    List known(p.words), run;
    std::vector<int64_t> sizes(p.words, -1);
    bool fits = true, dims_fit = true;
    c.tensors([&](const lamella_tensor* t, size_t i) {
      const std::vector<Pattern::Token>& tokens = p.inputs[i];
      int fixed = 0;
      for (const Pattern::Token& token : tokens) fixed += token.word != Pattern::run;
      const int more = t->dl.ndim - fixed;
      if (more < 0 || (more && fixed == static_cast<int>(tokens.size()))) fits = dims_fit = false;
      int d = 0;
      for (const Pattern::Token& token : tokens) {
        if (!fits || token.word == Pattern::run) {
          d += more;
          continue;
        }
        int64_t& size = sizes[token.word];
        const int64_t own = t->dl.shape[d++];
        if (token.bound) continue;
        fits &= size < 0 || size == own || size == 1 || own == 1;
        size = std::max(size, own);
      }
    });
    *by_sizes |= dims_fit && !fits;
    if (!fits) continue;
    c.tensors([&](const lamella_tensor* t, size_t i) {
      const Names* names = names_of(t);
      if (are_weights(p, i, c.args[c.rule.inputs[i]])) return;
      int fixed = 0, d = 0;
      for (const Pattern::Token& token : p.inputs[i]) fixed += token.word != Pattern::run;
      const int more = t->dl.ndim - fixed;
      for (const Pattern::Token& token : p.inputs[i])
        if (token.word != Pattern::run) {
          if (names) known[token.word] = c.unify(known[token.word], (*names)[d]);
          d++;
        } else {
          while (run.size() < more) run.insert(0, nullptr);
          for (int k = 0; k < more; k++, d++)
            if (names) run[run.size() - more + k] = c.unify(run[run.size() - more + k], (*names)[d]);
        }
    });
    std::vector<const Names*> after;
    for (const std::vector<Pattern::Token>& tokens : p.results) {
      List names;
      for (const Pattern::Token& token : tokens)
        if (token.word != Pattern::run)
          names.push_back(known[token.word]);
        else
          for (Name name : run) names.push_back(name);
      c.check_distinct(names);
      after.push_back(kept(names));
    }
    return after;
  }
  return std::vector<const Names*>(c.rule.results.size());
}

// ---- the names of results ---------------------------------------------------------------------------------------------

// The names of a call's results: one for each result, or for each element of each with "each".
struct Results {
  const Names* all = nullptr;                     // by a verb
  std::vector<std::vector<const Names*>> single;  // by patterns, and for each element
  bool by_sizes = false;                          // they depend on sizes

  const Names* of(size_t result, size_t element) const {
    if (single.empty()) return all;
    const std::vector<const Names*>& row = single[std::min(element, single.size() - 1)];
    return row.size() > result ? row[result] : row.empty() ? nullptr : row[0];
  }
};

const Names* by_verb(const Call& c) {
  const List names = c.rule.verb(c);
  c.check_distinct(names);
  return kept(names);
}

size_t elements(const Rule& r, const lamella_value* args) {
  size_t n = 0;
  for (uint8_t i : r.inputs)
    if (args[i].tag == LAMELLA_TENSOR_LIST) n = std::max<size_t>(n, args[i].length);
  return n;
}

Results find_names(const Rule& r, const lamella_value* args) {
  Results found;
  for (size_t k = 0, n = r.each ? elements(r, args) : 0; k < n; k++) {
    const Call c{r, args, static_cast<int>(k)};
    if (r.verb)
      found.single.push_back({by_verb(c)});
    else
      found.single.push_back(by_pattern(c, &found.by_sizes));
  }
  if (r.each) return found;
  if (r.verb)
    found.all = by_verb({r, args});
  else
    found.single.push_back(by_pattern({r, args}, &found.by_sizes));
  return found;
}

bool is_among(const std::vector<uint8_t>& arguments, const lamella_value* args, const lamella_tensor* t) {
  for (uint8_t i : arguments) {
    if (args[i].tag == LAMELLA_TENSOR && args[i].as.tensor == t) return true;
    for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++)
      if (args[i].as.tensors[k] == t) return true;
  }
  return false;
}

// Gives a result its names, unless it is an argument that the operator only reads and has returned.
void give(const Rule& r, const lamella_value* args, lamella_tensor* t, const Names* names) {
  if (!t || (names ? names_of(t) == names : !(t->keys & layer_bit))) return;
  if (is_among(r.only_read, args, t) && !is_among(r.targets, args, t)) return;
  if (names && static_cast<int>(names->size()) != t->dl.ndim)
    throw Error(LAMELLA_RUNTIME_ERROR, title(r.op) + ": its rule for names, '" + r.text + "', gives " +
                                           text(List(*names)) + " to a result of " + std::to_string(t->dl.ndim) +
                                           " dimensions");
  set_names(t, names);
}

// Gives the tensors of a value their names: names(place in the list).
template <class Find>
void give_value(const Rule& r, const lamella_value* args, const lamella_value& v, Find names) {
  if (v.tag == LAMELLA_TENSOR) give(r, args, v.as.tensor, names(0));
  for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++) give(r, args, v.as.tensors[k], names(k));
}

// ---- Matching ---------------------------------------------------------------------------------------------------------

// Returns how many of a call's tensors have dimensions.
int have_dimensions(const Call& c) {
  int n = 0;
  c.tensors([&](const lamella_tensor* t, size_t) { n += t->dl.ndim > 0; });
  return n;
}

// Returns whether the tensors have names, as many dimensions, and each name at one place, and every place has a name in
// one of them: then dimensions that are matched by name stand as they are, and one without a name meets that at its place.
bool stand_alike(const Call& c) {
  List all;
  bool alike = true, first = true;
  c.tensors([&](const lamella_tensor* t, size_t) {
    if (!t->dl.ndim) return;
    const List own = list_of(t);
    if (std::exchange(first, false)) all = List(own.size());
    alike &= names_of(t) && own.size() == all.size();
    for (int d = 0; alike && d < own.size(); d++) {
      if (!own[d]) continue;
      alike = all[d] ? all[d] == own[d] : std::find(all.begin(), all.end(), own[d]) == all.end();
      all[d] = own[d];
    }
  });
  return alike && std::find(all.begin(), all.end(), nullptr) == all.end();
}

void check_no_unnamed(const Call& c) {
  c.tensors([&](const lamella_tensor* t, size_t) {
    LAMELLA_CHECK(!t->dl.ndim || names_of(t), title(c.rule.op),
                  ": a tensor without names meets one with names: ", c.described(),
                  ". named.matching('positional') allows it; refine_names() gives names");
  });
}

// Arguments whose tensors have the same dimensions in the same order. The tensors are views of the given ones.
class Aligned {
 public:
  explicit Aligned(const Call& c) {
    c.tensors([&](const lamella_tensor* t, size_t) {
      for (Name name : list_of(t)) {
        LAMELLA_CHECK(name, title(c.rule.op), ": dimensions are matched by name, and one has none: ", c.described(),
                      ". refine_names() gives it one");
        if (std::find(all_.begin(), all_.end(), name) == all_.end()) all_.push_back(name);
      }
    });
    args_.assign(c.args, c.args + api().operator_num_args(c.rule.op));
    for (uint8_t i : c.rule.inputs) {
      lamella_value& v = args_[i];
      const bool written = api().operator_argument(c.rule.op, i)->flags & LAMELLA_ARGUMENT_WRITTEN;
      if (v.tag == LAMELLA_TENSOR) v.as.tensor = aligned(c, v.as.tensor, written);
      if (v.tag != LAMELLA_TENSOR_LIST) continue;
      std::vector<lamella_tensor*>& list = lists_.emplace_back(v.as.tensors, v.as.tensors + v.length);
      for (lamella_tensor*& t : list) t = t ? aligned(c, t, written) : t;
      v.as.tensors = list.data();
    }
  }
  const lamella_value* args() const { return args_.data(); }

 private:
  lamella_tensor* aligned(const Call& c, lamella_tensor* t, bool written) {
    const List own = list_of(t);
    const bool same = std::equal(own.begin(), own.end(), all_.begin(), all_.end());
    if (same || !own.size()) return t;
    LAMELLA_CHECK(!written, title(c.rule.op), ": the result would have the dimensions ", text(all_),
                  ", and is written to a tensor with ", text(own));
    const ExcludeGuard guard(layer_bit);
    DimVector order;
    std::vector<int> missing;
    for (int i = 0; i < all_.size(); i++) {
      const Name* at = std::find(own.begin(), own.end(), all_[i]);
      if (at == own.end())
        missing.push_back(i);
      else
        order.push_back(at - own.begin());
    }
    Tensor view = Tensor::borrow(t).permute(order);
    for (int i : missing) view = view.unsqueeze(i);
    set_names(view.get(), kept(all_));
    return owned_.emplace_back(std::move(view)).get();
  }
  List all_;
  std::vector<lamella_value> args_;
  std::deque<std::vector<lamella_tensor*>> lists_;
  std::deque<Tensor> owned_;
};

// ---- the kernel -------------------------------------------------------------------------------------------------------

lamella_status go_on(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api().redispatch(f, args, f->num_args, rets, f->num_rets);
}

// Goes on, and gives the results their names: names(number of the result, place in its list).
template <class Find>
lamella_status go_on_with(lamella_frame* f, const Rule& r, const lamella_value* args, lamella_value* rets, Find names) {
  if (lamella_status failed = go_on(f, args, rets)) return failed;
  const lamella_status st = guarded([&]() -> lamella_status {
    for (size_t i = 0; i < r.results.size(); i++)
      give_value(r, args, rets[r.results[i]], [&](size_t k) { return names(i, k); });
    for (uint8_t i : r.written) give_value(r, args, args[i], [&](size_t k) { return names(0, k); });
    return LAMELLA_OK;
  });
  if (st)
    for (int i = 0; i < f->num_rets; i++) api().value_release(&rets[i]);
  return st;
}

// Returns the kept names that all tensors of a call have; null if they have none, or different ones.
const Names* common_names(const Rule& r, const lamella_value* args) {
  const Names* common = nullptr;
  for (uint8_t i : r.inputs) {
    if (args[i].tag == LAMELLA_NONE) continue;
    const Names* names = args[i].tag == LAMELLA_TENSOR ? names_of(args[i].as.tensor) : nullptr;
    if (!names || (common && names != common)) return nullptr;
    common = names;
  }
  return common;
}

// Goes on with a call whose tensors have the same names, which broadcasting gives to the one result. A result with the
// layer's key is an argument, which may have other names if it is that of an out= form.
lamella_status go_on_with_common(lamella_frame* f, const Rule& r, const lamella_value* args, lamella_value* rets,
                                 const Names* names) {
  if (lamella_status failed = go_on(f, args, rets)) return failed;
  lamella_value& v = rets[r.results[0]];
  if (v.tag != LAMELLA_TENSOR || names_of(v.as.tensor) == names) return LAMELLA_OK;
  if (!(v.as.tensor->keys & layer_bit) && names->size() == static_cast<size_t>(v.as.tensor->dl.ndim))
    return api().slot_set(v.as.tensor, slot, const_cast<Names*>(names));
  const lamella_status st = guarded([&]() -> lamella_status {
    give(r, args, v.as.tensor, names);
    return LAMELLA_OK;
  });
  if (st) api().value_release(&v);
  return st;
}

// Returns whether broadcasting gives names to the result that all tensors have: always, but in the way by_name a
// dimension without a name is an error.
bool may_be_common(const Names& names) {
  return std::find(names.begin(), names.end(), nullptr) == names.end() || matching() == Matching::positional;
}

// Finds the names by the rule. Remembers them for the key, which is null if there is none.
lamella_status follow_rule(lamella_frame* f, const Rule& r, const lamella_value* args, lamella_value* rets,
                           const MemoKey* key) {
  return guarded([&]() -> lamella_status {
    if (!r.error.empty()) throw Error(LAMELLA_RUNTIME_ERROR, r.error);
    std::optional<Aligned> aligned;
    if (const Matching way = matching();
        r.broadcasts && way != Matching::positional && have_dimensions({r, args}) > 1) {
      if (way == Matching::checked) check_no_unnamed({r, args});
      if (way == Matching::by_name && !stand_alike({r, args})) args = aligned.emplace(Call{r, args}).args();
    }
    const Results names = find_names(r, args);
    if (key && !names.by_sizes) memo(*key) = {*key, names.of(0, 0)};
    return go_on_with(f, r, args, rets, [&](size_t result, size_t place) { return names.of(result, place); });
  });
}

// Serves every operator. The context is its rule.
lamella_status follow(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const Rule& given = *static_cast<const Rule*>(f->context);
  const Rule& r = given.op == f->op || !given.error.empty() ? given : for_form(given, f->op);
  if (r.unchanged && r.error.empty()) return go_on(f, args, rets);
  if (r.broadcasts && r.results.size() == 1 && r.error.empty())
    if (const Names* names = common_names(r, args); names && may_be_common(*names))
      return go_on_with_common(f, r, args, rets, names);
  MemoKey key;
  const bool usual = r.pure && r.error.empty() && (!r.broadcasts || matching() == Matching::positional);
  if (!usual || !fill_key(r, args, &key)) return follow_rule(f, r, args, rets, nullptr);
  const Memo& known = memo(key);
  if (!(known.key == key)) return follow_rule(f, r, args, rets, &key);
  const Names* names = known.result;  // the call may put another one in the memo's place
  return go_on_with(f, r, args, rets, [names](size_t, size_t) { return names; });
}

void* prepare(void*, const lamella_operator* op, const void* payload) {
  try {
    return const_cast<Rule*>(kept_rule(op, static_cast<const char*>(payload)));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

void register_layer(Library& m) {
  lamella_layer l{};
  l.size = sizeof l;
  l.name = layer_name;
  l.at = "names";
  l.flags = LAMELLA_LAYER_NOT_IN_BACKWARD | LAMELLA_LAYER_PREPARES_ALL;
  l.fallback = follow;
  l.rule = follow;
  l.prepare = prepare;
  int32_t bit = -1;
  m.layer(l, &bit);
  if (bit >= 0) layer_bit = uint64_t{1} << bit;
}

}  // namespace lamella::named
