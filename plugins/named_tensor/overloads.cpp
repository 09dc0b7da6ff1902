#include "overloads.h"

#include <cstring>

#include "rule.h"

namespace lamella::named {
namespace {

// Gives a new tensor names. `who` begins the error about names that stand twice.
Tensor with_names(const char* who, Tensor t, const List& names) {
  check_distinct(who, names);
  set_names(t.get(), kept(names));
  return t;
}

Name new_name(const char* who, std::string_view name) {
  lamella_value one = value(name), list{LAMELLA_VALUE_LIST, 1, {0}};
  list.as.values = &one;
  try {
    return parsed(list, 1)[0];
  } catch (const Error&) {
    throw Error(LAMELLA_RUNTIME_ERROR, std::string(who) + ": '" + std::string(name) + "' is no identifier");
  }
}

int64_t counted(const char* who, int64_t dim, int64_t n) {
  LAMELLA_CHECK_INDEX(dim >= -n && dim < n, who, ": dimension ", dim, " is out of range for ", n, " dimensions");
  return dim < 0 ? dim + n : dim;
}

// The functions below call operators that the layer sees, and name what the layer's rules have left without a name.

Tensor merged(const Tensor& self, int64_t start, int64_t end, std::string_view out_dim) {
  const Name name = new_name("flatten", out_dim);
  start = counted("flatten", start, std::max(self.dim(), int64_t{1}));
  Tensor made = lamella::flatten(self, start, end);
  if (made.get() == self.get()) made = lamella::view_as(self, self);  // flatten returns a vector as it is
  List names = list_of(made.get());
  names[static_cast<int>(start)] = name;
  return with_names("flatten", std::move(made), names);
}

// flatten(['h', 'w'], 'features'): the dimensions must be neighbours, in this order.
Tensor merged_by_name(const Tensor& self, const std::vector<std::string>& dims, std::string_view out_dim) {
  const List names = list_of(self.get());
  LAMELLA_CHECK_VALUE(!dims.empty(), "flatten: argument 'dims' names no dimension");
  int start = -1;
  for (size_t i = 0; i < dims.size(); i++) {
    int at = 0;
    while (at < names.size() && !(names[at] && *names[at] == dims[i])) at++;
    LAMELLA_CHECK(at < names.size(), "flatten: there is no dimension '", dims[i], "'; the names are ", text(names),
                  suggestion(dims[i], names));
    if (!i) start = at;
    LAMELLA_CHECK(at == start + static_cast<int>(i), "flatten: the dimensions '", dims[i ? i - 1 : 0], "' and '",
                  dims[i], "' are no neighbours in ", text(names), "; align_to() changes the order");
  }
  return merged(self, start, start + static_cast<int64_t>(dims.size()) - 1, out_dim);
}

Tensor split_to(const Tensor& self, int64_t dim, IntArrayRef sizes, const std::vector<std::string>& into) {
  LAMELLA_CHECK_VALUE(sizes.size() == into.size(), "unflatten: got ", sizes.size(), " sizes and ", into.size(),
                      " names");
  dim = counted("unflatten", dim, self.dim());
  List parts;
  for (const std::string& name : into) parts.push_back(new_name("unflatten", name));
  Tensor made = lamella::unflatten(self, dim, sizes);
  List names = list_of(made.get());
  std::copy(parts.begin(), parts.end(), names.begin() + dim);
  return with_names("unflatten", std::move(made), names);
}

// unflatten('features', (('h', 2), ('w', 3)))
Tensor split_to_pairs(const Tensor& self, int64_t dim, const Dict& namedshape) {
  std::vector<int64_t> sizes;
  std::vector<std::string> into;
  for (size_t i = 0; i < namedshape.size(); i++) {
    into.emplace_back(namedshape.key(i));
    sizes.push_back(namedshape.value(i).as.i);
  }
  return split_to(self, dim, sizes, into);
}

Tensor inserted(const Tensor& self, int64_t dim, std::string_view name) {
  const Name given = new_name("unsqueeze", name);
  dim = counted("unsqueeze", dim, self.dim() + 1);
  Tensor made = lamella::unsqueeze(self, dim);
  List names = list_of(made.get());
  names[static_cast<int>(dim)] = given;
  return with_names("unsqueeze", std::move(made), names);
}

Tensor stacked(TensorList tensors, int64_t dim, std::string_view name) {
  const Name given = new_name("stack", name);
  Tensor made = lamella::stack(tensors, dim);
  List names = list_of(made.get());
  names[static_cast<int>(dim < 0 ? dim + names.size() : dim)] = given;
  return with_names("stack", std::move(made), names);
}

// ---- the plugin's own operators ---------------------------------------------------------------------------------------

const char* const ways[] = {"positional", "checked", "by_name"};  // the order is that of Matching

std::string get_matching() { return ways[static_cast<size_t>(matching())]; }

void set_matching(std::string_view way) {
  for (intptr_t i = 0; i < 3; i++)
    if (way == ways[i]) return check(api().thread_slot_set(matching_slot, reinterpret_cast<void*>(i)));
  LAMELLA_CHECK_VALUE(false, "matching: expected 'positional', 'checked' or 'by_name', got '", way, "'");
}

lamella_library* own_library = nullptr;

const lamella_operator* find(const std::string& name) {
  const size_t dot = name.find('.');
  return api().find_operator(name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.c_str() + dot + 1);
}

// Registers a rule. The operator may come later; if it is there, the text is read at once.
int64_t add_rule(std::string_view op, std::string_view text) {
  const std::string name(op);
  auto kept_text = std::make_unique<std::string>(text);
  if (const lamella_operator* found = find(name)) {
    const std::unique_ptr<const Rule> rule(read_rule(found, kept_text->c_str()));
    LAMELLA_CHECK_VALUE(rule->error.empty(), rule->error);
  }
  lamella_rule r{};
  r.size = sizeof r;
  r.op = name.c_str();
  r.layer = layer_name;
  r.payload = const_cast<char*>(kept_text.release()->c_str());  // never freed: a call may still read it
  lamella_handle h = 0;
  check(api().rule(own_library, &r, &h));
  return static_cast<int64_t>(h);
}

void withdraw_rule(int64_t handle) { check(api().withdraw(static_cast<lamella_handle>(handle))); }

// Returns the text of the rule that an operator follows: one that was registered, else that of the catalogue or its
// `dims`; none if calls with named tensors are errors.
std::optional<std::string> find_rule(std::string_view op) {
  const lamella_operator* found = find(std::string(op));
  LAMELLA_CHECK(found, "find_rule: there is no operator '", op, "'; the name is namespace::operator.overload");
  const lamella_operator* functional = api().operator_functional(found);
  void* given = api().find_rule(found, layer_name);
  if (!given && functional) given = api().find_rule(functional, layer_name);
  const std::unique_ptr<const Rule> rule(read_rule(found, static_cast<const char*>(given)));
  return rule->error.empty() ? std::optional(rule->text) : std::nullopt;
}

// Runs the composite of an operator, whose calls come to the layer in their turn.
lamella_status by_composite(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api().decompose(f, args, f->num_args, rets, f->num_rets);
}

template <class F>
void add(Library& m, const char* schema, F composite, uint32_t forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_METHOD) {
  const std::string name(schema, std::strchr(schema, '('));
  m.define(schema, "view", nullptr, nullptr, forms);
  m.impl(name.c_str(), "composite", composite);
  m.impl(name.c_str(), layer_name, by_composite);
}

}  // namespace

void register_overloads(Library& m) {
  add(m, "flatten.named(Tensor(a) self, int start_dim, int end_dim, str out_dim) -> Tensor(a)", merged);
  add(m, "flatten.names(Tensor(a) self, str[] dims, str out_dim) -> Tensor(a)", merged_by_name);
  add(m, "unflatten.named(Tensor(a) self, int dim, int[] sizes, str[] names) -> Tensor(a)", split_to);
  add(m, "unflatten.pairs(Tensor(a) self, int dim, Dict(str, int) namedshape) -> Tensor(a)", split_to_pairs);
  add(m, "stack.named(Tensor[] tensors, int dim=0, *, str name) -> Tensor", stacked, LAMELLA_FORM_FUNCTION);
  add(m, "unsqueeze.named(Tensor(a) self, int dim, str name) -> Tensor(a)", inserted);
}

void register_switches(Library& m) {
  own_library = m.handle();
  m.def("matching() -> str", get_matching);
  m.def("set_matching(str way) -> ()", set_matching);
  m.def("add_rule(str op, str rule) -> int", add_rule);
  m.def("find_rule(str op) -> str?", find_rule);
  m.def("withdraw_rule(int handle) -> ()", withdraw_rule);
}

}  // namespace lamella::named
