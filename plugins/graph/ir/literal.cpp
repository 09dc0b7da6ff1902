// The types of literals.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/graph.h"

namespace lamella::graph {

TypePtr Literal::type() const {
  struct Of {
    TypePtr operator()(const None&) const { return Type::of(Kind::none); }
    TypePtr operator()(bool) const { return Type::of(Kind::boolean); }
    TypePtr operator()(int64_t) const { return Type::of(Kind::integer); }
    TypePtr operator()(double) const { return Type::of(Kind::floating); }
    TypePtr operator()(const std::complex<double>&) const { return Type::of(Kind::complex); }
    TypePtr operator()(const std::string&) const { return Type::of(Kind::string); }
    TypePtr operator()(const Word& w) const { return Type::of(w.kind); }
    TypePtr operator()(const Tensor&) const { return Type::of(Kind::tensor); }
    TypePtr operator()(const List& l) const { return Type::list(l.empty() ? Type::of(Kind::any) : l[0].type()); }
  };
  return std::visit(Of(), value);
}

bool Literal::operator==(const Literal& other) const {
  const auto same_bits = [](double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
  };
  if (const auto* a = std::get_if<double>(&value), *b = std::get_if<double>(&other.value); a && b)
    return same_bits(*a, *b);
  using Complex = std::complex<double>;
  if (const auto* a = std::get_if<Complex>(&value), *b = std::get_if<Complex>(&other.value); a && b)
    return same_bits(a->real(), b->real()) && same_bits(a->imag(), b->imag());
  return value == other.value;
}

bool Literal::is_of(const Type& t) const {
  if (t.kind == Kind::any) return true;
  if (t.kind == Kind::optional) return std::holds_alternative<None>(value) || is_of(*t.inner[0]);
  struct Of {
    const Type& t;
    bool is(std::initializer_list<Kind> kinds) const {
      return std::find(kinds.begin(), kinds.end(), t.kind) != kinds.end();
    }
    bool operator()(const None&) const { return is({Kind::none}); }
    bool operator()(bool) const { return is({Kind::boolean, Kind::number}); }
    bool operator()(int64_t) const {
      return is({Kind::integer, Kind::number, Kind::tensor});
    }  // a tensor of no dimension
    bool operator()(double) const { return is({Kind::floating, Kind::number, Kind::tensor}); }
    bool operator()(const std::complex<double>&) const { return is({Kind::complex, Kind::number}); }
    bool operator()(const std::string&) const { return is({Kind::string}); }
    bool operator()(const Word& w) const { return is({w.kind}); }
    bool operator()(const Tensor&) const { return is({Kind::tensor}); }
    bool operator()(const List& l) const {
      if (t.kind == Kind::tuple)
        return std::equal(l.begin(), l.end(), t.inner.begin(), t.inner.end(),
                          [](const Literal& x, const TypePtr& p) { return x.is_of(*p); });
      return is({Kind::list}) &&
             std::all_of(l.begin(), l.end(), [&](const Literal& x) { return x.is_of(*t.inner[0]); });
    }
  };
  return std::visit(Of{t}, value);
}

}  // namespace lamella::graph
