// Prints graphs, programs and literals: Note [Grammar] in text/parser.cpp.
#include "text/text.h"

#include <charconv>
#include <cmath>

namespace lamella::graph {

namespace {

std::string text_of(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;
  std::string out(digits, end);
  return out.find_first_of(".e") == std::string::npos ? out + "." : out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 32 || byte == 127) {
      constexpr char hex[] = "0123456789abcdef";
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

struct Printer {
  std::string out;

  void indent(int depth) { out.append(static_cast<size_t>(2 * depth), ' '); }
  void values(const std::vector<Value*>& list) {
    out += "(";
    for (size_t i = 0; i < list.size(); i++) out += (i ? ", %" : "%") + list[i]->name;
    out += ")";
  }
  void parameters(const std::vector<std::unique_ptr<Value>>& list) {
    for (size_t i = 0; i < list.size(); i++) out += (i ? ", %" : "%") + list[i]->name + " : " + list[i]->type->text();
  }
  void node(const Node& n, int depth) {
    indent(depth);
    parameters(n.outputs);
    out += n.outputs.empty() ? "" : " = ";
    out += n.op + (n.overload.empty() ? "" : "." + n.overload);
    if (!n.attributes.empty()) {
      out += "[";
      for (size_t i = 0; i < n.attributes.size(); i++)
        out += (i ? ", " : "") + n.attributes[i].name + "=" + n.attributes[i].value.text();
      out += "]";
    }
    values(n.inputs);
    if (n.source.file) {
      const bool has_column = n.source.column || n.source.file->find(':') != std::string::npos;  // "a:7" may be a file
      out += "  # " + *n.source.file + ":" + std::to_string(n.source.line);
      if (has_column) out += ":" + std::to_string(n.source.column);
    }
    out += "\n";
    for (size_t i = 0; i < n.blocks.size(); i++) {
      indent(depth + 1);
      out += "block" + std::to_string(i) + "(";
      parameters(n.blocks[i]->parameters());
      out += ") {\n";
      nodes(*n.blocks[i], depth + 2);
      indent(depth + 2);
      out += "-> ";
      values(n.blocks[i]->results());
      out += "\n";
      indent(depth + 1);
      out += "}\n";
    }
  }
  void nodes(const Block& b, int depth) {
    for (Node* n = b.first(); n != b.end(); n = n->behind) node(*n, depth);
  }
  void graph(const Graph& g) {
    out += "graph(";
    parameters(g.top().parameters());
    out += ") {\n";
    nodes(g.top(), 1);
    out += "  return ";
    values(g.top().results());
    out += "\n}\n";
  }
};

}  // namespace

std::string Literal::text() const {
  struct Text {
    std::string operator()(const None&) const { return "None"; }
    std::string operator()(bool x) const { return x ? "True" : "False"; }
    std::string operator()(int64_t x) const { return std::to_string(x); }
    std::string operator()(double x) const { return text_of(x); }
    std::string operator()(const std::complex<double>& x) const {
      return "complex(" + text_of(x.real()) + ", " + text_of(x.imag()) + ")";
    }
    std::string operator()(const std::string& x) const { return quoted(x); }
    std::string operator()(const Word& x) const { return Type::of(x.kind)->text() + "(" + quoted(x.text) + ")"; }
    std::string operator()(const Tensor& x) const { return "<data/" + std::to_string(x.number) + ">"; }
    std::string operator()(const List& list) const {
      std::string out = "[";
      for (size_t i = 0; i < list.size(); i++) out += (i ? ", " : "") + list[i].text();
      return out + "]";
    }
  };
  return std::visit(Text(), value);
}

std::string Graph::text() const {
  Printer p;
  p.graph(*this);
  return std::move(p.out);
}

std::string Program::text() const {
  Printer p;
  for (const auto& [name, c] : classes) {
    p.out += "class " + name + " {\n";
    for (const auto& [attribute, type] : c->attributes) p.out += "  " + attribute + " : " + type->text() + "\n";
    p.out += "}\n";
  }
  for (const auto& [name, g] : graphs) {
    if (!name.empty()) p.out += "with " + name + " = ";
    p.graph(*g);
  }
  return std::move(p.out);
}

}  // namespace lamella::graph
