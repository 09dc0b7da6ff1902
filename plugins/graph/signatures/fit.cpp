// Compares the types of values with those of arguments.
#include <algorithm>

#include "signatures/signature.h"

namespace lamella::graph {
namespace {

bool is_variable(const Type& t) { return t.kind == Kind::object && t.name.size() == 1; }

}  // namespace

bool fits_argument(const Type& from, const Type& to, TypeVariables* variables) {
  if (is_variable(to)) {
    TypePtr& bound = (*variables)[to.name];
    if (!bound) {
      bound = std::make_shared<const Type>(from);
      return true;
    }
    return admits(from, *bound);
  }
  if (to.kind == Kind::optional) {
    if (from.kind == Kind::none) return true;
    return fits_argument(from.kind == Kind::optional ? *from.inner[0] : from, *to.inner[0], variables);
  }
  const bool has_parts =
      to.kind == Kind::list || to.kind == Kind::dict || to.kind == Kind::future || to.kind == Kind::tuple;
  if (has_parts && from.kind == to.kind) {
    return std::equal(from.inner.begin(), from.inner.end(), to.inner.begin(), to.inner.end(),
                      [&](const TypePtr& f, const TypePtr& t) { return fits_argument(*f, *t, variables); });
  }
  return admits(from, to) || (from.kind == Kind::integer && to.kind == Kind::floating);
}

bool fits_argument(const Value& v, const Type& to, TypeVariables* variables) {
  const Type& list = to.kind == Kind::optional ? *to.inner[0] : to;
  const Literal* x = v.definition->is("prim::Constant") ? v.definition->attribute("value") : nullptr;
  const auto* items = x ? std::get_if<Literal::List>(&x->value) : nullptr;
  if (items && items->empty() && list.kind == Kind::list && v.type->kind == Kind::list) return true;
  return fits_argument(*v.type, to, variables);
}

TypePtr with_variables(const TypePtr& type, const TypeVariables& variables) {
  if (is_variable(*type)) {
    const auto at = variables.find(type->name);
    return at == variables.end() ? Type::of(Kind::any) : at->second;
  }
  if (type->inner.empty()) return type;
  std::vector<TypePtr> inner;
  for (const TypePtr& t : type->inner) inner.push_back(with_variables(t, variables));
  return std::make_shared<const Type>(type->kind, std::move(inner), type->name, type->fields);
}

}  // namespace lamella::graph
