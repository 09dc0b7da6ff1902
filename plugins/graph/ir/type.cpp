// The text of types, their comparison and their order.
#include "ir/type.h"

#include <algorithm>
#include <array>

namespace lamella::graph {
namespace {

struct Word {
  std::string_view word, dtype;
};
constexpr Word words[] = {
    {"Float", "float32"},
    {"Double", "float64"},
    {"Half", "float16"},
    {"BFloat16", "bfloat16"},
    {"Byte", "uint8"},
    {"Char", "int8"},
    {"Short", "int16"},
    {"Int", "int32"},
    {"Long", "int64"},
    {"Bool", "bool"},
    {"ComplexFloat", "complex64"},
    {"ComplexDouble", "complex128"},
    {"ComplexHalf", "complex32"},
    {"UInt16", "uint16"},
    {"UInt32", "uint32"},
    {"UInt64", "uint64"},
    {"Float8_e4m3fn", "float8_e4m3fn"},
    {"Float8_e5m2", "float8_e5m2"},
};
constexpr std::string_view simple[] = {
    "Tensor", "int",    "float",      "complex", "bool",         "str",       "NoneType",
    "Scalar", "Device", "ScalarType", "Layout",  "MemoryFormat", "Generator", "Any",
};

std::string text_of(const Dim& d) {
  if (d.is_known()) return std::to_string(d.number);
  std::string out = d.factor == 1 ? "" : std::to_string(d.factor) + "*";
  out += d.symbol;
  if (d.number) out += (d.number > 0 ? "+" : "") + std::to_string(d.number);
  return out;
}
std::string joined(const std::vector<Dim>& dims) {
  std::string out;
  for (const Dim& d : dims) out += (out.empty() ? "" : ", ") + text_of(d);
  return out;
}

std::string text_of(const TensorFacts& t) {
  const bool plain = t.dtype.empty() && !t.sizes && !t.strides && t.device.empty() && !t.requires_grad;
  if (plain) return "Tensor";
  std::string out = t.dtype.empty() ? "Tensor" : std::string(word_of_dtype(t.dtype));
  if (out.empty()) out = "Tensor";
  std::vector<std::string> parts;
  if (t.sizes && !t.sizes->empty()) parts.push_back(joined(*t.sizes));
  if (!t.sizes) parts.push_back("...");  // of an unknown number of dimensions
  if (word_of_dtype(t.dtype).empty() && !t.dtype.empty()) parts.push_back("dtype=" + t.dtype);
  if (t.strides) parts.push_back("strides=[" + joined(*t.strides) + "]");
  if (t.requires_grad) parts.push_back(std::string("requires_grad=") + (*t.requires_grad ? "1" : "0"));
  if (!t.device.empty()) parts.push_back("device=" + t.device);
  if (!t.sizes && parts.size() == 1) return out;
  out += "(";
  for (size_t i = 0; i < parts.size(); i++) out += (i ? ", " : "") + parts[i];
  return out + ")";
}

}  // namespace

std::string_view word_of_dtype(std::string_view dtype) {
  for (const Word& w : words)
    if (w.dtype == dtype) return w.word;
  return {};
}
std::string_view dtype_of_word(std::string_view word) {
  for (const Word& w : words)
    if (w.word == word) return w.dtype;
  return {};
}

std::optional<Kind> kind_of_word(std::string_view word) {
  for (size_t k = 0; k < std::size(simple); k++)
    if (simple[k] == word && static_cast<Kind>(k) != Kind::tensor) return static_cast<Kind>(k);
  if (word == "None") return Kind::none;  // these four are torch's
  if (word == "number") return Kind::number;
  if (word == "Dynamic") return Kind::tensor;
  if (word == "__torch__.torch.classes.Generator") return Kind::generator;
  return word == "Function" ? std::optional(Kind::function) : std::nullopt;
}

const TypePtr& Type::of(Kind kind) {
  static const auto all = [] {
    std::array<TypePtr, static_cast<size_t>(Kind::object) + 1> made;
    for (size_t k = 0; k < made.size(); k++) made[k] = std::make_shared<const Type>(static_cast<Kind>(k));
    return made;
  }();
  return all[static_cast<size_t>(kind)];
}

std::string Type::text() const {
  switch (kind) {
    case Kind::tensor:
      return text_of(tensor);
    case Kind::list:
      return inner[0]->text() + "[]";
    case Kind::optional:
      return inner[0]->text() + "?";
    case Kind::future:
      return "Future(" + inner[0]->text() + ")";
    case Kind::dict:
      return "Dict(" + inner[0]->text() + ", " + inner[1]->text() + ")";
    case Kind::tuple: {
      const bool is_plain = fields.empty() && (name.empty() || !inner.empty());
      std::string out = is_plain ? "(" : "NamedTuple" + (name.empty() ? "" : "[" + name + "]") + "(";
      for (size_t i = 0; i < inner.size(); i++) {
        if (i) out += ", ";
        if (!fields.empty()) out += fields[i] + " : ";
        out += inner[i]->text();
      }
      return out + ")";
    }
    case Kind::function:
      return "Function";
    case Kind::object:
      return name;
    default:
      return std::string(simple[static_cast<size_t>(kind)]);
  }
}

bool operator==(const Type& a, const Type& b) {
  return a.kind == b.kind && a.tensor == b.tensor && a.name == b.name && a.fields == b.fields &&
         std::equal(a.inner.begin(), a.inner.end(), b.inner.begin(), b.inner.end(),
                    [](const TypePtr& x, const TypePtr& y) { return same(x, y); });
}

bool is_subtype(const Type& from, const Type& to) {
  if (to.kind == Kind::any || from == to) return true;
  if (to.kind == Kind::optional)
    return from.kind == Kind::none || is_subtype(from.kind == Kind::optional ? *from.inner[0] : from, *to.inner[0]);
  if (to.kind == Kind::number)
    return from.kind == Kind::integer || from.kind == Kind::floating || from.kind == Kind::complex ||
           from.kind == Kind::boolean;
  if (from.kind != to.kind) return false;
  switch (to.kind) {
    case Kind::tensor: {
      const TensorFacts &f = from.tensor, &t = to.tensor;
      const auto fits = [](const auto& known, const auto& wanted) { return !wanted || known == wanted; };
      return (t.dtype.empty() || t.dtype == f.dtype) && (t.device.empty() || t.device == f.device) &&
             fits(f.strides, t.strides) && fits(f.requires_grad, t.requires_grad) &&
             (!t.sizes ||
              (f.sizes && std::equal(f.sizes->begin(), f.sizes->end(), t.sizes->begin(), t.sizes->end(),
                                     [](const Dim& x, const Dim& y) { return y.symbol == "*" || x == y; })));
    }
    case Kind::tuple:
    case Kind::future:
      return (to.kind == Kind::future || to.name.empty() || to.name == from.name) &&
             std::equal(from.inner.begin(), from.inner.end(), to.inner.begin(), to.inner.end(),
                        [](const TypePtr& x, const TypePtr& y) { return is_subtype(*x, *y); });
    case Kind::list:  // elements are written, so that their types have to be the same but for the facts of tensors
    case Kind::dict:
      return std::equal(from.inner.begin(), from.inner.end(), to.inner.begin(), to.inner.end(),
                        [](const TypePtr& x, const TypePtr& y) {
                          return same(x, y) || (x->kind == Kind::tensor && y->kind == Kind::tensor);
                        });
    default:
      return false;
  }
}

bool admits(const Type& from, const Type& to) {
  if (from.kind == Kind::tensor && to.kind == Kind::tensor) return true;
  if (to.kind == Kind::optional && from.kind != Kind::none)
    return admits(from.kind == Kind::optional ? *from.inner[0] : from, *to.inner[0]);
  const bool has_parts =
      to.kind == Kind::tuple || to.kind == Kind::future || to.kind == Kind::list || to.kind == Kind::dict;
  if (!has_parts || from.kind != to.kind) return is_subtype(from, to);
  if (to.kind == Kind::tuple && !to.name.empty() && to.name != from.name) return false;
  const bool written = to.kind == Kind::list || to.kind == Kind::dict;  // elements of just this type may be added
  return std::equal(from.inner.begin(), from.inner.end(), to.inner.begin(), to.inner.end(),
                    [&](const TypePtr& f, const TypePtr& t) { return admits(*f, *t) && (!written || admits(*t, *f)); });
}

}  // namespace lamella::graph
