// Signatures by name: of builtins, and of the operators of the registry, which are read once each.
#include <algorithm>
#include <mutex>

#include "run/forks.h"
#include "signatures/builtins.h"
#include "signatures/signature.h"

namespace lamella::graph {
namespace {

Kind kind_of(uint32_t kind) {
  switch (kind) {
    case LAMELLA_KIND_TENSOR:
      return Kind::tensor;
    case LAMELLA_KIND_SCALAR:
      return Kind::number;
    case LAMELLA_KIND_INT:
      return Kind::integer;
    case LAMELLA_KIND_FLOAT:
      return Kind::floating;
    case LAMELLA_KIND_BOOL:
      return Kind::boolean;
    case LAMELLA_KIND_COMPLEX:
      return Kind::complex;
    case LAMELLA_KIND_STRING:
      return Kind::string;
    case LAMELLA_KIND_DTYPE:
      return Kind::dtype;
    case LAMELLA_KIND_LAYOUT:
      return Kind::layout;
    case LAMELLA_KIND_DEVICE:
      return Kind::device;
    case LAMELLA_KIND_MEMORY_FORMAT:
      return Kind::memory_format;
    case LAMELLA_KIND_GENERATOR:
      return Kind::generator;
    default:
      return Kind::any;
  }
}

TypePtr type_of(const lamella_argument& a) {
  TypePtr t =
      a.kind == LAMELLA_KIND_DICT ? Type::dict(Type::of(Kind::string), Type::of(Kind::any)) : Type::of(kind_of(a.kind));
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS) t = Type::optional(std::move(t));
  if (a.flags & LAMELLA_ARGUMENT_LIST) t = Type::list(std::move(t));
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL) t = Type::optional(std::move(t));
  return t;
}

Literal literal_of(const lamella_value& v) {
  const auto list = [&](auto element) {
    Literal::List l;
    for (uint32_t i = 0; i < v.length; i++) l.push_back(element(i));
    return Literal{std::move(l)};
  };
  switch (v.tag) {
    case LAMELLA_BOOLEAN:
      return {v.as.i != 0};
    case LAMELLA_INT:
      return {v.as.i};
    case LAMELLA_FLOAT:
      return {v.as.d};
    case LAMELLA_COMPLEX:
      return {std::complex<double>(v.as.doubles[0], v.as.doubles[1])};
    case LAMELLA_STRING:
      return {std::string(v.as.string, v.length)};
    case LAMELLA_DTYPE:
      return {Literal::Word{Kind::dtype, api().dtype_info(static_cast<int32_t>(v.as.i))->name}};
    case LAMELLA_MEMORY_FORMAT:
      return {Literal::Word{Kind::memory_format, std::string(word_of_memory_format(v.as.i))}};
    case LAMELLA_LAYOUT:
      return {Literal::Word{Kind::layout, "strided"}};
    case LAMELLA_INT_LIST:
      return list([&](uint32_t i) { return Literal{v.as.ints[i]}; });
    case LAMELLA_FLOAT_LIST:
      return list([&](uint32_t i) { return Literal{v.as.doubles[i]}; });
    case LAMELLA_BOOL_LIST:
      return list([&](uint32_t i) { return Literal{v.as.bools[i] != 0}; });
    case LAMELLA_VALUE_LIST:
      return list([&](uint32_t i) { return literal_of(v.as.values[i]); });
    default:
      return {Literal::None()};
  }
}

Signature read(const lamella_operator* op) {
  Signature s;
  s.name = api().operator_name(op);
  s.overload = api().operator_overload(op);
  s.op = op;
  s.has_state = (api().operator_effects(op) & LAMELLA_EFFECT_STATE) != 0;
  const int32_t n = api().operator_num_args(op);
  if (n < 0) throw Error::pending(api().error_kind());
  for (int32_t i = 0; i < n; i++) {
    const lamella_argument& a = *api().operator_argument(op, i);
    Signature::Argument own;
    own.name = a.name;
    own.type = type_of(a);
    own.keyword_only = (a.flags & LAMELLA_ARGUMENT_KEYWORD_ONLY) != 0;
    own.has_default = (a.flags & LAMELLA_ARGUMENT_HAS_DEFAULT) != 0;
    own.written = (a.flags & LAMELLA_ARGUMENT_WRITTEN) != 0;
    if (own.written) own.alias = "a" + std::to_string(i);
    if (own.has_default) own.default_value = literal_of(a.value);
    s.arguments.push_back(std::move(own));
    s.kinds.push_back(a.kind);
    s.flags.push_back(a.flags);
  }
  for (int32_t i = 0; i < api().operator_num_returns(op); i++) {
    const lamella_argument& r = *api().operator_return(op, i);
    Signature::Result own{type_of(r), {}};
    if (r.alias_of >= 0) {
      own.alias = "a" + std::to_string(r.alias_of);
      s.arguments[static_cast<size_t>(r.alias_of)].alias = own.alias;
    }
    s.results.push_back(std::move(own));
  }
  return s;
}

bool fits(const Signature& s, const Node& n) {
  if (n.inputs.size() > s.arguments.size() && !s.variadic) return false;
  if (n.outputs.size() != s.results.size()) return false;
  TypeVariables variables;
  for (size_t i = 0; i < s.arguments.size(); i++) {
    if (i >= n.inputs.size()) {
      if (!s.arguments[i].has_default) return false;
    } else if (!fits_argument(*n.inputs[i], *s.arguments[i].type, &variables)) {
      return false;
    }
  }
  return true;
}

ForkMutex signatures_lock;

}  // namespace

const Signature* signature_of_operator(const lamella_operator* op) {
  static auto& known = *new std::unordered_map<const lamella_operator*, std::unique_ptr<const Signature>>();
  {
    const std::lock_guard<std::mutex> guard(signatures_lock);
    if (const auto found = known.find(op); found != known.end()) return found->second.get();
  }
  auto made = std::make_unique<const Signature>(read(op));
  const std::lock_guard<std::mutex> guard(signatures_lock);
  return known.try_emplace(op, std::move(made)).first->second.get();
}

std::vector<const Signature*> signatures_of(const std::string& name) {
  std::vector<const Signature*> all = builtins_of(name);
  const lamella_operator* ops[64];
  const int32_t n = std::min(api().find_overloads(name.c_str(), ops, 64), 64);
  for (int32_t i = 0; i < n; i++) all.push_back(signature_of_operator(ops[i]));
  return all;
}

const Signature* signature_of(const Node& n) {
  const lamella_operator* ops[64];
  const std::vector<const Signature*> builtins = builtins_of(n.op);
  const auto num_builtins = static_cast<int32_t>(builtins.size());
  const int32_t count = num_builtins + std::min(api().find_overloads(n.op.c_str(), ops, 64), 64);
  const Signature* named = nullptr;
  for (int32_t i = 0; i < count; i++) {
    const Signature* s = i < num_builtins ? builtins[static_cast<size_t>(i)]
                         : !n.overload.empty() && n.overload != api().operator_overload(ops[i - num_builtins])
                             ? nullptr
                             : signature_of_operator(ops[i - num_builtins]);
    if (!s || (!n.overload.empty() && s->overload != n.overload)) continue;
    if (fits(*s, n)) return s;
    if (!named && (!n.overload.empty() || count == 1)) named = s;
  }
  return named;
}

}  // namespace lamella::graph
