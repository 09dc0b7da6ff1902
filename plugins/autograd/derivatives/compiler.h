// Compiler: parses the formulas of an operator's derivatives into the steps that evaluate() runs. See formula.h.
#pragma once

#include "derivatives/formula.h"
#include "derivatives/nearest.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace lamella::autograd {
namespace {

// Results: the values of a call that returns several tensors.
enum class Kind { Tensor, Tensors, Number, List, Other, Results };

struct Expression {
  Kind kind;
  Operand operand;
  int count = 1;  // the number of values, for Kind::Results
};

// The meaning of a name in a formula.
struct Name {
  Kind kind;
  Operand operand;  // set for `grad`, `grads` and `mask`
  int argument = -1, result = -1;
};

struct Bad {
  std::string why;
};

class Compiler {
 public:
  Compiler(Rule& rule, const char* text) : r_(rule), p_(text), text_(text) { declare(); }

  // Compiles all formulas. Every tensor argument is an input of the rule, unless the text declares it as `none` (or
  // drop_inputs() removes it); "none" as the whole text makes a rule without inputs. No text: no formulas.
  void run() {
    if (text_ && std::string(text_) == "none") return;
    if (writes_list_) throw Bad{"the operator writes a list in place, which autograd does not support"};
    if (text_ && r_.list_return == several)
      throw Bad{"the operator returns several lists; a formula can read the gradients of one"};
    for (size_t i = 0; i < arguments_.size(); i++) add_input(static_cast<int>(i));
    if (!text_) return;
    while (skip(), *p_) {
      std::vector<std::string> targets;
      do targets.push_back(word());
      while (take(','));
      expect(':');
      formula(targets);
      if (!take(';')) break;
    }
    skip();
    if (*p_) throw Bad{std::string("unexpected '") + *p_ + "'"};
    drop_inputs();
  }

 private:
  // ---- the names of a formula

  static const lamella_argument& described(const lamella_argument* a) {
    if (!a) throw Bad{api().error_message()};
    return *a;
  }

  void declare() {
    r_.num_args = api().operator_num_args(r_.op);
    r_.num_returns = api().operator_num_returns(r_.op);
    for (int i = 0; i < r_.num_args; i++) {
      const lamella_argument& a = described(api().operator_argument(r_.op, i));
      arguments_.push_back(&a);
      const bool list = a.flags & LAMELLA_ARGUMENT_LIST;
      Kind kind = Kind::Other;
      if (a.kind == LAMELLA_KIND_TENSOR) kind = list ? Kind::Tensors : Kind::Tensor;
      if (!list && (a.kind == LAMELLA_KIND_SCALAR || a.kind == LAMELLA_KIND_INT || a.kind == LAMELLA_KIND_FLOAT))
        kind = Kind::Number;
      if (list && a.kind == LAMELLA_KIND_INT) kind = Kind::List;
      names_[a.name] = {kind, {}, i, -1};
    }
    for (int i = 0; i < r_.num_returns; i++) {
      const lamella_argument& a = described(api().operator_return(r_.op, i));
      const bool list = a.flags & LAMELLA_ARGUMENT_LIST;
      if (i == 0 && a.alias_of >= 0 && (arguments_[a.alias_of]->flags & LAMELLA_ARGUMENT_WRITTEN)) {
        writes_list_ = list;
        if (!list) r_.written = a.alias_of;
      }
      if (list) r_.list_return = r_.list_return == -1 ? i : several;
      const Name n{list ? Kind::Tensors : Kind::Tensor, {}, -1, i};
      if (*a.name) names_.try_emplace(a.name, n);
      names_.try_emplace("result" + std::to_string(i), n);
      if (i == 0) names_.try_emplace("result", n);
      if (list) continue;
      const bool last = r_.list_return >= 0;
      const Operand at{last ? Operand::LastGrad : Operand::Grad, static_cast<uint8_t>(last ? r_.num_returns - i : i)};
      names_.try_emplace("grad" + std::to_string(i), Name{Kind::Tensor, at, -1, -1});
      if (i == 0) names_.try_emplace("grad", Name{Kind::Tensor, at, -1, -1});
    }
    names_.try_emplace("grads", Name{Kind::Tensors, {Operand::Grads, 0}, -1, -1});
    names_.try_emplace("mask", Name{Kind::Other, {Operand::Mask, 0}, -1, -1});
  }

  void add_input(int i) {
    const lamella_argument& a = *arguments_[i];
    if (a.kind != LAMELLA_KIND_TENSOR) return;
    r_.inputs.push_back({static_cast<uint8_t>(i), (a.flags & LAMELLA_ARGUMENT_LIST) != 0, -1});
  }

  int input_of(const std::string& name) {
    for (size_t i = 0; i < r_.inputs.size(); i++)
      if (name == arguments_[r_.inputs[i].arg]->name) return static_cast<int>(i);
    throw Bad{"'" + name + "' is no tensor argument of the operator" + nearest_name(name)};
  }

  std::string nearest_name(const std::string& name) const {
    Nearest nearest(name);
    for (const auto& [known, _] : names_) nearest.offer(known, known);
    return nearest.text();
  }

  // Removes the inputs that the text declares as `none`, and the lists of tensors without a formula, which are indices.
  void drop_inputs() {
    for (size_t i = 0; i < r_.inputs.size(); i++) {
      const Rule::Input& input = r_.inputs[i];
      if (input.formula != declared_none && !(input.list && input.formula < 0)) continue;
      for (Formula& f : r_.formulas)
        for (uint8_t& t : f.targets)
          if (t > i) t--;
      r_.inputs.erase(r_.inputs.begin() + static_cast<long>(i--));
    }
    for (size_t i = 0; i < r_.inputs.size(); i++) {
      if (r_.inputs[i].list && r_.list >= 0) throw Bad{"several lists have formulas; only one may have one"};
      if (r_.inputs[i].list) r_.list = static_cast<int>(i);
    }
  }

  // ---- the text

  void skip() {
    while (std::isspace(static_cast<unsigned char>(*p_))) p_++;
  }
  bool take(char c) {
    skip();
    if (*p_ != c) return false;
    p_++;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw Bad{std::string("expected '") + c + "' before \"" + std::string(p_).substr(0, 20) + "\""};
  }
  static bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
  std::string word() {
    skip();
    if (!starts_word(*p_)) throw Bad{"expected a name before \"" + std::string(p_).substr(0, 20) + "\""};
    std::string s;
    while (starts_word(*p_) || std::isdigit(static_cast<unsigned char>(*p_)) || (p_[0] == ':' && p_[1] == ':')) {
      if (*p_ == ':') s += *p_++;
      s += *p_++;
    }
    return s;
  }

  void formula(const std::vector<std::string>& targets) {
    Formula f;
    std::vector<int> at;
    for (const std::string& t : targets) at.push_back(input_of(t));
    skip();
    if (std::strncmp(p_, "none", 4) == 0 && !starts_word(p_[4])) {
      p_ += 4;
      for (int i : at) r_.inputs[i].formula = declared_none;
      return;
    }
    for (int i : at) {
      if (r_.inputs[i].formula != -1) throw Bad{"'" + targets[0] + "' has two formulas"};
      f.targets.push_back(static_cast<uint8_t>(i));
      r_.inputs[i].formula = static_cast<int8_t>(r_.formulas.size());
    }
    f_ = &f;
    ints_ = 0;
    const Expression e = sum();
    const bool fits = at.size() == 1 ? e.kind == (r_.inputs[at[0]].list ? Kind::Tensors : Kind::Tensor)
                                     : e.kind == Kind::Results && e.count == static_cast<int>(at.size());
    if (!fits) throw Bad{"the formula for '" + targets[0] + "' must give one tensor for each of its targets"};
    use(e.operand);
    f.result = e.operand;
    r_.formulas.push_back(std::move(f));
  }

  Expression sum() {
    Expression left = product();
    for (;;) {
      skip();
      if (*p_ != '+' && *p_ != '-') return left;
      const char c = *p_++;
      left = arithmetic(c, left, product());
    }
  }
  Expression product() {
    Expression left = unary();
    for (;;) {
      skip();
      if (*p_ != '*' && *p_ != '/') return left;
      const char c = *p_++;
      left = arithmetic(c, left, unary());
    }
  }
  Expression unary() {
    if (!take('-')) return primary();
    const Expression e = unary();
    if (e.kind == Kind::Number) return step(Step::Neg, {e}, Kind::Number);
    return call("neg", {e}, {});
  }

  Expression arithmetic(char c, Expression a, Expression b) {
    const bool ta = a.kind == Kind::Tensor, tb = b.kind == Kind::Tensor;
    if (a.kind == Kind::Number && b.kind == Kind::Number)
      return step(c == '+' ? Step::Add : c == '-' ? Step::Sub : c == '*' ? Step::Mul : Step::Div, {a, b}, Kind::Number);
    if (!(ta || a.kind == Kind::Number) || !(tb || b.kind == Kind::Number))
      throw Bad{std::string("'") + c + "' takes tensors and numbers only"};
    if (!ta && (c == '+' || c == '*')) std::swap(a, b);
    if (c == '*' && a.kind == Kind::Tensor && b.kind == Kind::Number) {
      Expression e = call("mul", {a, b}, {});
      f_->steps.back().what = Step::Scale;
      return e;
    }
    if (!ta && c == '-') return call("rsub", {b, a}, {});
    return call(c == '+' ? "add" : c == '-' ? "sub" : c == '*' ? "mul" : "div", {a, b}, {});
  }

  Expression primary() {
    skip();
    if (take('(')) {
      Expression e = sum();
      expect(')');
      return e;
    }
    if (take('[')) return list();
    if (std::isdigit(static_cast<unsigned char>(*p_)) || *p_ == '.') return number();
    const std::string name = word();
    if (name == "true" || name == "false") return constant(value(name == "true"), Kind::Other);
    if (name == "none") return constant(none(), Kind::Other);
    const auto known = names_.find(name);
    if (known != names_.end() && *p_ != '(') {
      if (*p_ != '.') return named(known->second);
      p_++;
      return attribute(known->second, word());
    }
    if (*p_ != '(' && *p_ != '.')
      throw Bad{"'" + name + "' is no argument, result or gradient of the operator" + nearest_name(name)};
    std::string overload;
    bool explicitly = false;
    if (*p_ == '.') {
      p_++;
      overload = word();
      explicitly = true;
    }
    expect('(');
    std::vector<Expression> args;
    std::vector<std::pair<std::string, Expression>> keywords;
    if (!take(')')) {
      do {
        skip();
        const char* here = p_;
        if (starts_word(*p_)) {
          const std::string key = word();
          skip();
          if (*p_ == '=') {
            p_++;
            keywords.emplace_back(key, sum());
            continue;
          }
          p_ = here;
        }
        args.push_back(sum());
      } while (take(','));
      expect(')');
    }
    Expression e = name == "conj" && args.size() == 1 ? conj(args[0])
                                                      : call(name + (explicitly ? "." + overload : ""), args, keywords);
    if (e.kind != Kind::Results || *p_ != '[') return e;
    p_++;
    const int i = std::atoi(p_);
    while (std::isdigit(static_cast<unsigned char>(*p_))) p_++;
    expect(']');
    if (i >= e.count) throw Bad{name + " has no result " + std::to_string(i)};
    return {Kind::Tensor, {Operand::Temporary, static_cast<uint8_t>(e.operand.index + i)}};
  }

  Expression conj(const Expression& e) {
    if (e.kind != Kind::Tensor && e.kind != Kind::Number) throw Bad{"conj() takes a tensor or a number"};
    return step(Step::Conj, {e}, e.kind);
  }

  Expression list() {
    std::vector<Expression> items;
    if (!take(']')) {
      do items.push_back(sum());
      while (take(','));
      expect(']');
    }
    take_ints(items.size());
    return step(Step::List, items, Kind::List);
  }

  Expression number() {
    char* end;
    const char* start = p_;
    const double d = std::strtod(p_, &end);
    p_ = end;
    if (*p_ == 'j') {
      p_++;
      numbers_().push_back({0, d});
      lamella_value v{LAMELLA_COMPLEX, 0, {0}};
      v.as.doubles = numbers_().back().data();
      return constant(v, Kind::Number);
    }
    const bool whole = std::string(start, static_cast<size_t>(end - start)).find_first_of(".e") == std::string::npos;
    return constant(whole ? value(static_cast<int64_t>(d)) : value(d), Kind::Number);
  }
  static std::deque<std::array<double, 2>>& numbers_() {  // never freed, since rules refer to the numbers
    static auto* all = new std::deque<std::array<double, 2>>;
    return *all;
  }

  // Counts n more integers of lists in the formula, and refuses more than most_ints.
  void take_ints(size_t n) {
    if ((ints_ += n) > most_ints) throw Bad{"its lists have more than " + std::to_string(most_ints) + " integers"};
  }

  Expression constant(lamella_value v, Kind kind) {
    if (r_.constants.size() == most_constants)
      throw Bad{"it has more than " + std::to_string(most_constants) + " constants"};
    r_.constants.push_back(v);
    return {kind, {Operand::Constant, static_cast<uint8_t>(r_.constants.size() - 1)}};
  }

  Expression saved(Save s, Kind kind) {
    size_t i = 0;
    while (i < r_.saves.size() && !(r_.saves[i] == s)) i++;
    if (i == r_.saves.size()) r_.saves.push_back(s);
    if (i >= most_saves) throw Bad{"it saves more than " + std::to_string(most_saves) + " values"};
    f_->saves |= uint64_t{1} << i;
    return {kind, {Operand::Saved, static_cast<uint8_t>(i)}};
  }

  Expression named(const Name& n) {
    if (n.argument >= 0) return saved({Save::Argument, static_cast<uint8_t>(n.argument)}, n.kind);
    if (n.result >= 0) return saved({Save::Result, static_cast<uint8_t>(n.result)}, n.kind);
    return {n.kind, n.operand};
  }

  // Notes that the formula uses a gradient. A gradient that backward does not have is replaced by zeros, or passed as
  // none if `optional`, which says that the parameter may be none.
  void use(Operand o, bool optional = false) {
    uint64_t& wanted = optional ? f_->optional_grads : f_->grads;
    if (o.from == Operand::Grad) wanted |= uint64_t{1} << o.index;
    if (o.from == Operand::LastGrad) wanted |= uint64_t{1} << (r_.num_returns - o.index);
    if (o.from == Operand::Grads) wanted |= all_grads;
  }

  Expression attribute(const Name& n, const std::string& what) {
    const bool argument = n.argument >= 0;
    const auto index = static_cast<uint8_t>(argument ? n.argument : n.result);
    if (!argument && n.result < 0) throw Bad{"a gradient's ." + what + " is not known beforehand"};
    if ((n.kind == Kind::Tensors) != (what == "shapes"))
      throw Bad{(n.kind == Kind::Tensors ? "a list has no ." : "a tensor has no .") + what};
    if (what == "shape") return element(saved({argument ? Save::ArgumentShape : Save::ResultShape, index}, Kind::List));
    if (argument && what == "strides") return saved({Save::ArgumentStrides, index}, Kind::List);
    if (argument && what == "storage_offset") return saved({Save::ArgumentOffset, index}, Kind::Number);
    if (argument && what == "shapes") return saved({Save::ArgumentShapes, index}, Kind::List);
    if (argument && what == "numel") return saved({Save::ArgumentNumel, index}, Kind::Number);
    if (argument && what == "dtype") return saved({Save::ArgumentDtype, index}, Kind::Other);
    throw Bad{"'" + what + "' is no attribute that a formula can read"};
  }

  // Parses an index after a shape, as in `shape[0]`; without one, returns the list.
  Expression element(const Expression& list) {
    if (!take('[')) return list;
    const Expression i = sum();
    expect(']');
    if (i.kind != Kind::Number) throw Bad{"expected a number after '['"};
    return step(Step::Element, {list, i}, Kind::Number);
  }

  uint8_t temporary(int n = 1) {
    if (f_->temporaries + n > most_temporaries)
      throw Bad{"it has more than " + std::to_string(most_temporaries) + " intermediate values"};
    f_->temporaries = static_cast<uint8_t>(f_->temporaries + n);
    return static_cast<uint8_t>(f_->temporaries - n);
  }

  Expression step(Step::What what, const std::vector<Expression>& operands, Kind kind) {
    Step s;
    s.what = what;
    s.to = temporary();
    for (const Expression& e : operands) {
      use(e.operand);
      s.operands.push_back(e.operand);
    }
    f_->steps.push_back(std::move(s));
    return {kind, {Operand::Temporary, f_->steps.back().to}};
  }

  static bool fits(const lamella_argument& a, Kind k) {
    const bool list = a.flags & LAMELLA_ARGUMENT_LIST;
    if (a.kind == LAMELLA_KIND_TENSOR) return k == Kind::Other || k == (list ? Kind::Tensors : Kind::Tensor);
    if (k == Kind::Tensor || k == Kind::Tensors) return false;
    if (k == Kind::List) return list && a.kind == LAMELLA_KIND_INT;
    if (k == Kind::Number)
      return !list ? a.kind <= LAMELLA_KIND_COMPLEX && a.kind != LAMELLA_KIND_BOOL : a.kind == LAMELLA_KIND_INT;
    return true;
  }

  // Returns the first overload that takes these arguments.
  const lamella_operator* resolve(const std::string& name, const std::vector<Expression>& args,
                                  const std::vector<std::pair<std::string, Expression>>& keywords) {
    const size_t dot = name.find('.');
    const std::string base = name.substr(0, dot);
    std::string there;  // the schemas of that name
    for (const char* ns : {"", "autograd::", "aten::"}) {
      if ((*ns != 0) == (base.find("::") != std::string::npos)) continue;
      const lamella_operator* all[32];
      const int n = std::min(32, api().find_overloads((ns + base).c_str(), all, 32));
      for (int i = 0; i < n; i++) {
        if (dot != std::string::npos && name.substr(dot + 1) != api().operator_overload(all[i])) continue;
        if (api().operator_form(all[i]) == LAMELLA_OUT_FORM) continue;
        there += (there.empty() ? "" : "; ") + std::string(api().operator_schema(all[i]));
        const int takes = api().operator_num_args(all[i]);
        bool good = static_cast<int>(args.size()) <= takes;
        for (int k = 0; k < takes && good; k++) {
          const lamella_argument& a = described(api().operator_argument(all[i], k));
          const Expression* e = k < static_cast<int>(args.size()) ? &args[k] : nullptr;
          for (const auto& [key, x] : keywords)
            if (key == a.name) e = &x;
          good = e ? fits(a, e->kind) : (a.flags & LAMELLA_ARGUMENT_HAS_DEFAULT) != 0;
        }
        if (good) return all[i];
      }
    }
    if (!there.empty()) throw Bad{"operator '" + name + "' does not take these arguments: " + there};
    const std::string_view own = api().operator_name(r_.op);
    throw Bad{"there is no operator '" + name + "'" + nearest_operator(base, own.substr(0, own.find("::")))};
  }

  Expression call(const std::string& name, const std::vector<Expression>& args,
                  const std::vector<std::pair<std::string, Expression>>& keywords) {
    Step s;
    s.what = Step::Call;
    s.op = resolve(name, args, keywords);
    if (api().operator_num_args(s.op) > most_operands)
      throw Bad{name + " takes more than " + std::to_string(most_operands) + " arguments"};
    for (int k = 0, n = api().operator_num_args(s.op); k < n; k++) {
      const lamella_argument& a = described(api().operator_argument(s.op, k));
      const Expression* e = k < static_cast<int>(args.size()) ? &args[k] : nullptr;
      for (const auto& [key, x] : keywords)
        if (key == a.name) e = &x;
      s.operands.push_back(e ? e->operand : constant(a.value, Kind::Other).operand);
      const bool grads = s.operands.back().from == Operand::Grads;
      use(s.operands.back(), a.flags & (grads ? LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS : LAMELLA_ARGUMENT_OPTIONAL));
      if (e && e->kind == Kind::Number && (a.flags & LAMELLA_ARGUMENT_LIST)) take_ints(1);
      s.kinds.push_back(static_cast<uint8_t>(a.kind + (a.flags & LAMELLA_ARGUMENT_LIST ? list_of : 0)));
    }
    const int returns = api().operator_num_returns(s.op);
    const lamella_argument& a = described(api().operator_return(s.op, 0));
    s.to = temporary(returns);
    s.returns = static_cast<uint8_t>(returns);
    f_->steps.push_back(s);
    const Operand at{Operand::Temporary, s.to};
    if (returns > 1) return {Kind::Results, at, returns};
    return {a.flags & LAMELLA_ARGUMENT_LIST ? Kind::Tensors : Kind::Tensor, at};
  }

  static constexpr int8_t declared_none = -2;
  static constexpr int several = -2;

  Rule& r_;
  const char* p_;
  const char* text_;
  Formula* f_ = nullptr;
  size_t ints_ = 0;
  bool writes_list_ = false;
  std::vector<const lamella_argument*> arguments_;
  std::map<std::string, Name> names_;
};

}  // namespace
}  // namespace lamella::autograd
