// The registers and the instructions of one function while it is compiled. The compiler is derived from it.
#pragma once

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/verify.h"
#include "run/code.h"
#include "run/constants.h"
#include "run/liveness.h"

namespace lamella::graph {

[[noreturn]] inline void refuse(const Node& n, const std::string& why) {
  const std::string where = n.source.file ? *n.source.file + ":" + std::to_string(n.source.line) + ": " : "";
  throw Malformed(where + n.op + ": " + why);
}

// The registers of one function: Note [Registers].
class Registers {
 public:
  explicit Registers(uint32_t first = 0) : count_(first) {}
  uint32_t take() {
    if (free_.empty()) return count_++;
    const uint32_t r = *free_.begin();
    free_.erase(free_.begin());
    return r;
  }
  void give_back(uint32_t r) { free_.insert(r); }
  uint32_t count() const { return count_; }
  // Adds free registers until there are `count`.
  void grow_to(uint32_t count) {
    while (count_ < count) free_.insert(count_++);
  }

 private:
  uint32_t count_;
  std::set<uint32_t> free_;
};

class Emitter {
 protected:
  Emitter(const Graph& g, const Constants& constants, Code& code) : constants_(constants), code_(code), live_(g) {}

  // ---- registers and operands ----

  // Gives constants the registers before all others, also the defaults that builtins get. A list that operators of the
  // registry alone use is a flat one.
  void place_constants(const Block& b) {
    for (const Node* n = b.first(); n != b.end(); n = n->behind) {
      for (const auto& inner : n->blocks) place_constants(*inner);
      if (n->is("prim::Constant")) {
        const Value& v = *n->outputs[0];
        const bool is_list = holds_list(n->attribute("value"));
        const bool flat = is_list && v.type->kind == Kind::list && !v.uses.empty() && used_flat(v);
        const uint32_t r = add_constant(constants_.value(*n, flat));
        if (is_list && !flat) {
          patterns_[n] = r;
          continue;
        }
        where_[&v] = r;
        is_constant_.insert(&v);
      } else {
        const Signature* s = found(*n);
        for (size_t i = n->inputs.size(); s && !s->op && i < s->arguments.size(); i++) {
          uint32_t& r = defaults_.try_emplace(&s->arguments[i], nowhere).first->second;
          const Signature::Argument& a = s->arguments[i];
          if (r == nowhere) r = add_constant(constants_.value(a.default_value, *a.type, false));
        }
      }
    }
  }
  // A list may be written where it is used. So each run of its node makes a new one, after the constant.
  static bool holds_list(const Literal* x) { return x && std::holds_alternative<Literal::List>(x->value); }
  uint32_t add_constant(lamella_value owned) {
    code_.constants.push_back(owned);
    return static_cast<uint32_t>(code_.constants.size() - 1);
  }
  bool used_flat(const Value& v) {
    return std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& u) {
      if (u.user->op.rfind("prim::", 0) == 0) return false;
      const Signature* s = found(*u.user);
      return s && s->op && u.input < s->arguments.size() && same(list_in(*s->arguments[u.input].type), v.type);
    });
  }
  static TypePtr list_in(const Type& t) {  // a list, or the list in an optional
    return t.kind == Kind::optional ? t.inner[0] : std::make_shared<const Type>(t);
  }
  const Signature* found(const Node& n) {
    const auto [at, fresh] = signatures_.try_emplace(&n, nullptr);
    if (fresh) at->second = signature_of(n);
    return at->second;
  }
  uint32_t define(const Value& v) {
    const uint32_t r = registers_.take();
    where_[&v] = r;
    return r;
  }
  uint32_t where(const Value& v) const { return where_.at(&v); }
  bool is_constant(const Value& v) const { return is_constant_.count(&v); }
  void die(const Value& v) {
    if (!is_constant(v) && !pinned_.count(&v)) registers_.give_back(where(v));
  }
  // Returns the operand of an input, with the bit `last` if the value dies at the node and holds memory.
  uint32_t operand(const Value& v, const Node& n, bool is_last_mention) {
    const bool dies = is_last_mention && !is_constant(v) && live_.dies_at(v, n);
    if (dies) dying_.push_back(&v);
    return where(v) | (dies && holds_memory(*v.type) ? last : 0);
  }
  // Puts operands into the pool; returns where they begin and how many there are.
  std::pair<uint32_t, uint16_t> operands(const std::vector<Value*>& values, const Node& n, size_t from = 0) {
    const auto begin = static_cast<uint32_t>(code_.operands.size());
    for (size_t i = from; i < values.size(); i++) {
      const bool again =
          std::find(values.begin() + static_cast<std::ptrdiff_t>(i) + 1, values.end(), values[i]) != values.end();
      code_.operands.push_back(operand(*values[i], n, !again));
    }
    return {begin, count_of(n, values.size() - from)};
  }
  void free_dead() {
    for (const Value* v : dying_) die(*v);
    dying_.clear();
  }

  // ---- instructions ----

  size_t emit(const Node& n, Instruction i) {
    code_.instructions.push_back(i);
    code_.places.push_back(n.source);
    return code_.instructions.size() - 1;
  }
  uint32_t here() const { return static_cast<uint32_t>(code_.instructions.size()); }

  static uint16_t count_of(const Node& n, size_t count) {
    if (count > UINT16_MAX) refuse(n, "has more than 65535 values");
    return static_cast<uint16_t>(count);
  }

  void release_all(const Node& n, const std::vector<const Value*>& values) {
    const auto begin = static_cast<uint32_t>(code_.operands.size());
    for (const Value* v : values) {
      if (is_constant(*v) || !where_.count(v)) continue;
      if (holds_memory(*v->type)) code_.operands.push_back(where(*v));
      die(*v);
    }
    const uint16_t count = count_of(n, code_.operands.size() - begin);
    if (count) emit(n, {Op::release, count, begin});
  }

  // Moves values into registers, as if all at once.
  void move_all(const Node& n, const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
    std::vector<std::pair<uint32_t, uint32_t>> real;
    std::set<uint32_t> staying;  // registers whose values stay where they are, and may be copied to others
    for (const auto& p : pairs)
      if (p.first == register_of(p.second)) staying.insert(p.first);
    for (auto p : pairs) {
      if (p.first == register_of(p.second)) continue;
      if (staying.count(register_of(p.second))) p.second = register_of(p.second);
      real.push_back(p);
    }
    if (real.empty()) return;
    if (real.size() == 1) {
      emit(n, {Op::move, 0, real[0].first, real[0].second});
      return;
    }
    const auto begin = static_cast<uint32_t>(code_.operands.size());
    for (const auto& [to, from] : real) code_.operands.insert(code_.operands.end(), {to, from});
    emit(n, {Op::moves, count_of(n, real.size()), begin});
  }
  // Moves the results of a block, from number `from` on, into registers.
  void move_results(const Block& b, size_t from, const std::vector<uint32_t>& to) {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    const std::vector<Value*>& all = b.results();
    for (size_t i = from; i < all.size(); i++) {
      const bool again = std::find(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(), all[i]) != all.end();
      pairs.emplace_back(to[i - from], operand(*all[i], *b.end(), !again));
    }
    move_all(*b.end(), pairs);
    free_dead();
  }

  const Constants& constants_;
  Code& code_;
  Liveness live_;
  Registers registers_;
  std::unordered_map<const Value*, uint32_t> where_;
  std::unordered_map<const Node*, const Signature*> signatures_;
  std::unordered_map<const Signature::Argument*, uint32_t> defaults_;
  std::unordered_map<const Node*, uint32_t> patterns_;  // of constants that are lists, the constant's register
  std::unordered_set<const Value*> is_constant_, dropped_, pinned_;
  std::vector<const Value*> dying_;
};

}  // namespace lamella::graph
