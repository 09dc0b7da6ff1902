// Note [Grammar]  Graphs are printed so, and read in this form and in torch's, whose blocks end by their indentation:
//
//   program = {class} [graph] {"with" name "=" graph}
//   class   = "class" name "{" {name ":" type} "}"
//   graph   = "graph" "(" [param {"," param}] ")" ("{" | ":") {node} "return" values [";"] ["}"]
//   param   = "%" name [":" type]
//   node    = [[param {"," param}] "="] op ["[" name "=" literal {"," …} "]"] "(" [arg {"," arg}] ")" {block} ["#" place]
//   block   = "block" number "(" [param {"," param}] ")" ("{" | ":") {node} "->" values ["}"]
//   values  = "(" ["%" name {"," …}] ")"
//   op      = namespace "::" name ["." overload]
//   arg     = "%" name | [name "="] literal
//   type    = ("Tensor" | word ["(" {dim | key "=" …} ")"] | "int" | … | "Dict" "(" type "," type ")" |
//              "Future" "(" type ")" | "(" types ")" | class) {"[]" | "?"}
//   dim     = number ["!"] | "*" | symbol | number "*" symbol ["+" number]
//
// Whitespace has no meaning. A literal argument becomes a prim::Constant before its node.
#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "signatures/signature.h"
#include "text/literals.h"

namespace lamella::graph {
namespace {

class Parser : public LiteralParser {
 public:
  using LiteralParser::LiteralParser;

  Program program() {
    Program p;
    skip_comments();
    while (take_name("class")) add_class(&p);
    if (is("graph")) p.graphs[{}] = graph();
    while (take_name("with")) {
      const std::string name = qualified();
      expect("=");
      if (p.graphs.count(name)) fail("a second graph with the name '" + name + "'");
      p.graphs[name] = graph();
    }
    if (kind_ != Token::end) fail(p.graphs.empty() ? "expected 'graph'" : "expected 'with' or the end of the text");
    return p;
  }

 private:
  void skip_comments() {
    while (kind_ == Token::comment) advance();
  }
  void add_class(Program* p) {
    Class c;
    std::unordered_set<std::string> names;
    c.name = qualified();
    expect("{");
    while (!take("}")) {
      std::string attribute = part();  // submodules of a list have numbers as names
      if (!names.insert(attribute).second) fail("a second attribute '" + attribute + "' of class " + c.name);
      expect(":");
      c.attributes.emplace_back(std::move(attribute), type());
      take(",");
    }
    skip_comments();
    if (p->classes.count(c.name)) fail("a second class with the name '" + c.name + "'");
    std::string name = c.name;
    p->classes[std::move(name)] = std::make_shared<const Class>(std::move(c));
  }

  std::string value_name() {
    if (kind_ != Token::value || token_.size() < 2) fail("expected a value, %name");
    std::string out(token_.substr(1));
    advance();
    return out;
  }
  Value* value() {
    if (kind_ != Token::value) fail("expected a value, %name");
    const auto found = scope_.find(std::string(token_.substr(1)));
    if (found == scope_.end()) fail("the value is not defined before it is used");
    advance();
    return found->second;
  }
  std::vector<Value*> values() {
    std::vector<Value*> out;
    expect("(");
    list(")", [&] { out.push_back(value()); });
    return out;
  }
  void define(const std::string& name, Value* v) {
    if (!scope_.emplace(name, v).second) fail("%" + name + " is defined already");
    defined_.push_back(name);
  }
  struct Param {
    std::string name;
    TypePtr type;
  };
  Param param() {
    Param p{value_name(), Type::of(Kind::tensor)};
    if (take(":")) p.type = type();
    return p;
  }
  void parameters(Block& b) {
    expect("(");
    bool first = true;
    while (!take(")")) {
      if (!first && !(kind_ == Token::value)) expect(",");  // some texts break lines without a comma
      first = false;
      const Param p = param();
      define(p.name, b.add_parameter(p.type, p.name));
    }
  }

  Source place(std::string_view comment) {
    comment.remove_prefix(std::min(comment.find_first_not_of("# "), comment.size()));
    Source s;
    const size_t second = comment.rfind(':');
    if (second == std::string_view::npos || second == 0) return s;
    const size_t first = comment.rfind(':', second - 1);
    const auto read = [&](std::string_view digits, int32_t* to) {
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *to);
      return error == std::errc() && stop == digits.data() + digits.size();
    };
    int32_t last = 0;
    if (!read(comment.substr(second + 1), &last)) return s;
    std::string_view file = comment.substr(0, second);
    if (int32_t line = 0;
        first != std::string_view::npos && read(comment.substr(first + 1, second - first - 1), &line)) {
      s.line = line, s.column = last;
      file = comment.substr(0, first);
    } else {
      s.line = last;
    }
    if (file.empty()) return {};
    auto& shared = files_[std::string(file)];
    if (!shared) shared = std::make_shared<const std::string>(file);
    s.file = shared;
    return s;
  }

  // Makes a literal of the type that a constant's output has: torch writes bools as 0 and 1, devices as texts.
  static void convert(Literal* x, const Type& type) {
    if (const auto* i = std::get_if<int64_t>(&x->value)) {
      const int64_t n = *i;
      if (type.kind == Kind::boolean) x->value = n != 0;
      if (type.kind == Kind::floating) x->value = static_cast<double>(n);
    }
    const auto* text = std::get_if<std::string>(&x->value);
    for (const Kind k : word_kinds)
      if (text && type.kind == k) {
        x->value = Literal::Word{k, std::string(*text)};
        return;
      }
  }

  void node(Block& b) {
    std::vector<Param> outputs;
    if (kind_ == Token::value) {
      do outputs.push_back(param());
      while (take(","));
      expect("=");
    } else {
      take("=");  // torch writes it before an operator without outputs, too
    }
    if (kind_ != Token::name) fail("expected an operator, namespace::name");
    std::string op = name();
    if (!is("::")) fail("expected '::' and the operator's name after '" + op + "'");
    while (take("::")) op += "::" + part();
    std::string overload;
    if (is(".") && peek_is_name()) {
      advance();
      overload = part();
    }
    Node* n = b.append(std::move(op), std::move(overload));
    if (take("[")) {
      list("]", [&] {
        std::string key = name();
        expect("=");
        if (n->attribute(key)) fail("a second attribute '" + key + "'");
        Literal x = key == "types" ? types() : literal();
        if (kind_ == Token::number)
          fail("expected ',' or ']'; a tensor that is printed as numbers has no exact values");
        n->attributes.push_back({std::move(key), std::move(x)});
      });
    }
    arguments(b, n);
    while (kind_ != Token::comment && take(",")) skip_scope();
    if (kind_ == Token::comment) {
      n->source = place(token_);
      advance();
    }
    skip_comments();
    while (kind_ == Token::name && token_.substr(0, 5) == "block" && token_.size() > 5) block(n);
    for (const Param& p : outputs) {
      if (scope_.count(p.name)) fail("%" + p.name + " is defined already");
      define(p.name, n->add_output(p.type, p.name));
    }
    if (n->is("prim::Constant") && n->outputs.size() == 1)
      for (Attribute& a : n->attributes)
        if (a.name == "value") convert(&a.value, *n->outputs[0]->type);
  }
  // Reads the types of a test: texts, or types without quotes, as torch prints them.
  Literal types() {
    Literal::List all;
    expect("[");
    list("]", [&] { all.push_back(kind_ == Token::text ? literal() : Literal{type()->text()}); });
    return {std::move(all)};
  }
  void skip_scope() {  // torch's ", scope: a/b/c"
    if (!take_name("scope")) fail("expected the end of the node");
    const int line = line_;
    while (kind_ != Token::end && kind_ != Token::comment && line_ == line) advance();
  }
  void arguments(Block& b, Node* n) {
    std::vector<std::pair<size_t, std::string>> names;
    expect("(");
    list(")", [&] {
      if (kind_ == Token::value) return n->add_input(value());
      if (kind_ == Token::name && peek_after_blanks('=')) {
        names.emplace_back(n->inputs.size(), name());
        expect("=");
      }
      Literal x = literal();
      Node* constant = b.insert(n, "prim::Constant");
      const TypePtr t = x.type();
      if (t->kind != Kind::none) constant->attributes.push_back({"value", std::move(x)});
      n->add_input(constant->add_output(t));
    });
    if (names.empty()) return;
    const Signature* s = signature_of(*n);
    if (!s) return;  // verify() refuses the node
    for (const auto& [i, name] : names)
      if (i >= s->arguments.size() || s->arguments[i].name != name)
        fail("'" + name + "' stands in the place of argument " +
             (i < s->arguments.size() ? "'" + s->arguments[i].name + "'" : std::to_string(i)) + " of " + n->op);
  }
  void block(Node* owner) {
    const Deeper deeper(*this);
    name();
    Block& b = owner->add_block();
    const size_t outside = defined_.size();
    parameters(b);
    const bool braces = take("{");
    if (!braces) expect(":");
    body(b);
    expect("->");
    for (Value* v : values()) b.add_result(v);
    if (braces) expect("}");
    leave(outside);
  }
  void leave(size_t outside) {
    for (; defined_.size() > outside; defined_.pop_back()) scope_.erase(defined_.back());
  }
  void body(Block& b) {
    while (true) {
      if (kind_ == Token::comment) {
        advance();
        continue;
      }
      if (is("return") || is("->") || kind_ == Token::end) return;
      node(b);
    }
  }
  std::unique_ptr<Graph> graph() {
    skip_comments();
    if (!take_name("graph")) fail("expected 'graph'");
    auto g = std::make_unique<Graph>();
    scope_.clear();
    defined_.clear();
    parameters(g->top());
    const bool braces = take("{");
    if (!braces) expect(":");
    body(g->top());
    if (!take_name("return")) fail("expected 'return'");
    for (Value* v : values()) g->top().add_result(v);
    take(";");
    skip_comments();
    if (braces) expect("}");
    skip_comments();
    return g;
  }

  std::unordered_map<std::string, Value*> scope_;
  std::vector<std::string> defined_;
  std::map<std::string, std::shared_ptr<const std::string>> files_;
};

}  // namespace

Program parse_program(std::string_view text) { return Parser(text).program(); }

std::unique_ptr<Graph> parse_graph(std::string_view text) {
  Program p = parse_program(text);
  if (!p.main()) throw SyntaxError(1, 1, "the text has no graph without a name");
  for (const auto& [name, graph] : p.graphs)
    if (!name.empty()) throw SyntaxError(1, 1, "the text has other graphs: '" + name + "'; read it as a program");
  return std::move(p.graphs.begin()->second);
}

TypePtr parse_type(std::string_view text) { return LiteralParser(text).whole_type(); }

}  // namespace lamella::graph
