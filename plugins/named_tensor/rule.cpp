#include "rule.h"

#include <cstring>
#include <map>

namespace lamella::named {
namespace {

bool is_tensor(const lamella_argument* a) { return a->kind == LAMELLA_KIND_TENSOR; }

void read_arguments(Rule& r) {
  for (int32_t i = 0; i < api().operator_num_args(r.op); i++) {
    const lamella_argument* a = api().operator_argument(r.op, i);
    const auto number = static_cast<uint8_t>(i);
    if (is_tensor(a) && !(a->flags & LAMELLA_ARGUMENT_OUT)) {
      r.inputs.push_back(number);
      (a->flags & LAMELLA_ARGUMENT_WRITTEN ? r.written : r.only_read).push_back(number);
    }
    if (is_tensor(a) && a->flags & (LAMELLA_ARGUMENT_OUT | LAMELLA_ARGUMENT_WRITTEN)) r.targets.push_back(number);
    if (a->flags & LAMELLA_ARGUMENT_DIM) r.dims.push_back(number);
    if (!std::strcmp(a->name, "keepdim")) r.keepdim = i;
  }
  for (int32_t i = 0; i < api().operator_num_returns(r.op); i++)
    if (is_tensor(api().operator_return(r.op, i))) r.results.push_back(static_cast<uint8_t>(i));
  if (!r.results.empty()) r.written.clear();
}

Pattern numbered(const DimsPattern& p) {
  std::vector<std::string> words;
  const auto number = [&](const DimsToken& t) {
    if (t.ellipsis) return Pattern::Token{Pattern::run, t.bound};
    const size_t n = std::find(words.begin(), words.end(), t.word) - words.begin();
    if (n == words.size()) words.push_back(t.word);
    return Pattern::Token{static_cast<uint8_t>(n), t.bound};
  };
  const auto side = [&](const std::vector<DimsOfTensor>& groups) {
    std::vector<std::vector<Pattern::Token>> numbers;
    for (const DimsOfTensor& group : groups) {
      numbers.emplace_back();
      for (const DimsToken& t : group) numbers.back().push_back(number(t));
    }
    return numbers;
  };
  Pattern q;
  q.inputs = side(p.args);
  q.results = side(p.results);
  q.words = static_cast<int>(words.size());
  LAMELLA_CHECK_VALUE(q.words <= LAMELLA_MAX_DIMS, "a pattern has at most ", LAMELLA_MAX_DIMS, " words");
  return q;
}

[[noreturn]] void wrong(const Rule& r, const std::string& why) {
  throw Error(LAMELLA_VALUE_ERROR, "the rule for names of " + title(r.op) + ", '" + r.text + "': " + why);
}

// Reads "swap(dim0, dim1)" or "reverse".
void read_verb(Rule& r, const std::string& text) {
  const size_t open = text.find('(');
  const std::string name = text.substr(0, open);
  const VerbRow* row = find_verb(name);
  if (!row) wrong(r, "there is no verb '" + name + "'");
  r.verb = row->verb;
  if (open != std::string::npos) {
    if (text.back() != ')') wrong(r, "')' is missing at its end");
    for (std::string one : detail::split_dims(text.substr(open + 1, text.size() - open - 2), ",")) {
      one.erase(0, one.find_first_not_of(' '));
      one.erase(one.find_last_not_of(' ') + 1);
      int32_t i = 0;
      while (i < api().operator_num_args(r.op) && one != api().operator_argument(r.op, i)->name) i++;
      if (i == api().operator_num_args(r.op)) wrong(r, "the operator has no argument '" + one + "'");
      r.named.push_back(static_cast<uint8_t>(i));
    }
  }
  if (r.named.size() < row->least || r.named.size() > row->most) wrong(r, "the verb takes another number of arguments");
  r.unchanged = name == "unchanged";
  r.broadcasts = name == "broadcast" && !r.each;
  r.pure = row->pure && !r.each;
  r.read = r.named;
  const auto read_once = [&](uint8_t i) {
    if (std::find(r.read.begin(), r.read.end(), i) == r.read.end()) r.read.push_back(i);
  };
  for (uint8_t i : r.dims) read_once(i);
  if (r.keepdim >= 0) read_once(static_cast<uint8_t>(r.keepdim));
}

void read_text(Rule& r) {
  std::string text = r.text;
  if ((r.each = text.rfind("each ", 0) == 0)) text.erase(0, 5);
  if (text.find("->") == std::string::npos) return read_verb(r, text);
  const Dims d = parse_dims(text);
  if (!d.error.empty()) wrong(r, d.error);
  for (const DimsPattern& p : d.patterns) {
    if (p.args.size() != r.inputs.size() || p.results.size() != r.results.size())
      wrong(r, "a pattern has another number of tensors than the operator");
    r.patterns.push_back(numbered(p));
  }
  r.pure = !r.each && r.results.size() == 1;
}

}  // namespace

const Rule* read_rule(const lamella_operator* op, const char* text) {
  auto r = std::make_unique<Rule>();
  r->op = op;
  read_arguments(*r);
  const lamella_operator* functional = api().operator_functional(op);
  if (!text) text = catalogue_text(api().operator_name(op), api().operator_overload(op));
  if (!text && functional) text = catalogue_text(api().operator_name(functional), api().operator_overload(functional));
  if (r->inputs.empty()) text = "unchanged";
  if (text && !*text) r->error = title(op) + ": its rule for names is an empty text";
  if (!text) text = api().operator_dims(op);
  if (!*text && functional) text = api().operator_dims(functional);
  if (!*text) {
    if (r->error.empty() && (!r->results.empty() || !r->written.empty()))
      r->error =
          title(op) +
          ": it has no rule for names, and a tensor among its arguments has names. Define it with a text "
          "`dims`, state a rule by named.register_rule() or for the layer 'named_tensor', or pass x.rename(None)";
    text = "unchanged";  // without a result that is a tensor
  }
  r->text = text;
  try {
    read_text(*r);
  } catch (const Error& e) {
    r->error = e.what();
  }
  return r.release();  // it lives as long as the process
}

const Rule* kept_rule(const lamella_operator* op, const char* text) {
  static auto* rules = new std::map<std::pair<const lamella_operator*, std::string>, const Rule*>;
  // The schema is in the key, since an operator may be defined anew.
  const std::string key =
      std::string(api().operator_schema(op)) + "\n" + api().operator_dims(op) + "\n" + (text ? text : "");
  const Rule*& rule = (*rules)[{op, key}];
  if (!rule) rule = read_rule(op, text);
  return rule;
}

const Rule& for_form(const Rule& rule, const lamella_operator* form) {
  std::atomic<const Rule*>& place = rule.forms[api().operator_form(form)];
  const Rule* found = place.load(std::memory_order_acquire);
  if (!found) {
    const Rule* made = read_rule(form, rule.text.c_str());
    if (place.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
    delete made;  // another thread was faster
  }
  return *found;
}

// ---- a call -----------------------------------------------------------------------------------------------------------

const lamella_tensor* Call::self() const {
  const lamella_tensor* first = nullptr;
  tensors([&](const lamella_tensor* t, size_t) {
    if (!first) first = t;
  });
  LAMELLA_CHECK(first, title(rule.op), ": there is no tensor among the arguments");
  return first;
}

std::vector<int> Call::dims(const lamella_value& v, int n) const {
  std::vector<int> found;
  const auto add = [&](int64_t d) {
    if (d >= -n && d < n) found.push_back(static_cast<int>(d < 0 ? d + n : d));
  };
  if (v.tag == LAMELLA_INT) add(v.as.i);
  if (v.tag == LAMELLA_INT_LIST)
    for (uint32_t i = 0; i < v.length; i++) add(v.as.ints[i]);
  return found;
}

int Call::dim(size_t i, int n) const {
  const std::vector<int> found = dims(i, n);
  return found.size() == 1 ? found[0] : -1;
}

void Call::disagree(Name a, Name b) const {
  throw Error(LAMELLA_RUNTIME_ERROR,
              title(rule.op) + ": a dimension with the name '" + *a + "' meets one with the name '" + *b +
                  "': " + described() + ". rename() changes names, rename(None) drops them; align_to() " +
                  (rule.broadcasts && matching() != Matching::by_name ? "or named.matching('by_name') " : "") +
                  "brings dimensions into one order");
}

List Call::broadcast() const {
  int most = 0;
  tensors([&](const lamella_tensor* t, size_t) { most = std::max(most, t->dl.ndim); });
  List found(most);
  tensors([&](const lamella_tensor* t, size_t) {
    if (const Names* names = names_of(t))
      for (size_t i = 0, shift = most - names->size(); i < names->size(); i++) {
        Name& at = found[static_cast<int>(i + shift)];
        at = unify(at, (*names)[i]);
      }
  });
  check_distinct(found);
  return found;
}

std::string Call::described() const {
  std::string all;
  tensors([&](const lamella_tensor* t, size_t i) {
    all += (all.empty() ? "'" : ", '") + std::string(api().operator_argument(rule.op, rule.inputs[i])->name) +
           "' has " + text(list_of(t));
  });
  return all;
}

void Call::check_distinct(const List& list) const {
  for (int i = 0; i < list.size(); i++)
    for (int j = 0; j < i; j++)
      LAMELLA_CHECK(!list[i] || list[i] != list[j], title(rule.op), ": dimensions ", j, " and ", i,
                    " of the result would both have the name '", *list[i], "': ", described(),
                    ". rename() gives one of them another name");
}

}  // namespace lamella::named
