// The checks of a graph.
#include "ir/verify.h"

#include "ir/types_of_nodes.h"

namespace lamella::graph {
namespace {

// A set that only grows, in one array: programs are verified often, and sets of nodes take most of that time. An empty
// text or a null is none of its elements.
template <class T>
class GrowingSet {
 public:
  // Returns whether the element is new.
  bool insert(const T& x) {
    if (2 * ++count_ > places_.size()) grow();
    return put(x) || (count_--, false);
  }
  bool has(const T& x) const {
    for (size_t i = hash(x);; i++) {
      const T& at = places_[i & (places_.size() - 1)];
      if (at == T()) return false;
      if (at == x) return true;
    }
  }

 private:
  static size_t hash(const T& x) { return std::hash<T>()(x) * size_t{0x9e3779b97f4a7c15} >> 20; }
  bool put(const T& x) {
    for (size_t i = hash(x);; i++) {
      T& at = places_[i & (places_.size() - 1)];
      if (at == x) return false;
      if (at == T()) return at = x, true;
    }
  }
  void grow() {
    const std::vector<T> old = std::exchange(places_, std::vector<T>(2 * places_.size()));
    for (const T& x : old)
      if (x != T()) put(x);
  }
  std::vector<T> places_ = std::vector<T>(256);  // their number is a power of two, so that `& (size - 1)` wraps around
  size_t count_ = 0;
};

class Verifier {
 public:
  // program: null for the structure alone.
  explicit Verifier(const Program* program) : program_(program) {}

  void block(const Block& b, const Node* owner) {
    std::vector<const Value*> own;
    const auto see = [&](const std::vector<std::unique_ptr<Value>>& values, const Node* n) {
      for (size_t i = 0; i < values.size(); i++) {
        const Value* v = values[i].get();
        if (!v->type) fail(*n, "%" + v->name + " has no type");
        if (v->definition != n || v->output != i) fail(*n, "%" + v->name + " names another definition");
        if (!names_.insert(v->name)) fail(*n, "%" + v->name + " is the name of another value, too");
        seen_.insert(v);
        own.push_back(v);
        check_uses(*v, *n);
      }
    };
    if (b.owner() != owner) fail(*b.end(), "a block names another owner");
    see(b.parameters(), b.begin_node());
    for (const Node* n = b.first(); n != b.end(); n = n->behind) {
      if (n->block != &b || n->behind->before != n) fail(*n, "the node is not linked to its block");
      check_inputs(*n);
      if (!n->blocks.empty() && ++depth_ > most_depth)
        fail(*n, "blocks lie more than " + std::to_string(most_depth) + " deep within each other");
      for (const auto& inner : n->blocks) block(*inner, n);
      if (!n->blocks.empty()) depth_--;
      see(n->outputs, n);
      check(*n);
    }
    check_inputs(*b.end());
    if (!owner) return;
    for (const Value* v : own) left_.insert(v);
  }

 private:
  [[noreturn]] static void fail(const Node& n, const std::string& why) {
    std::string where;
    if (n.source.file) where = *n.source.file + ":" + std::to_string(n.source.line) + ": ";
    std::string outputs;
    for (const auto& v : n.outputs) outputs += (outputs.empty() ? "%" : ", %") + v->name;
    throw Malformed(where + (outputs.empty() ? "" : outputs + " = ") + n.op + ": " + why);
  }

  void check_inputs(const Node& n) {
    for (size_t i = 0; i < n.inputs.size(); i++) {
      const Value* v = n.inputs[i];
      if (!v) fail(n, "input " + std::to_string(i) + " is missing");
      if (!seen_.has(v) || left_.has(v)) fail(n, "%" + v->name + " is used where it is not defined");
      if (!used_.has(&n.inputs[i])) fail(n, "%" + v->name + " does not list this use");
    }
  }
  void check_uses(const Value& v, const Node& n) {
    for (const Use& u : v.uses) {
      if (u.input >= u.user->inputs.size() || u.user->inputs[u.input] != &v)
        fail(n, "%" + v.name + " lists a use that is none");
      used_.insert(&u.user->inputs[u.input]);
    }
  }

  static void expect(const Node& n, const Value& v, const Type& type, const std::string& what) {
    if (!admits(*v.type, type))
      fail(n, what + ", %" + v.name + ", is a " + v.type->text() + "; it has to be a " + type.text());
  }
  static void expect_counts(const Node& n, size_t inputs, size_t outputs, size_t blocks) {
    if (n.inputs.size() != inputs || n.outputs.size() != outputs || n.blocks.size() != blocks)
      fail(n, "has " + std::to_string(n.inputs.size()) + " inputs, " + std::to_string(n.outputs.size()) +
                  " outputs and " + std::to_string(n.blocks.size()) + " blocks; expected " + std::to_string(inputs) +
                  ", " + std::to_string(outputs) + " and " + std::to_string(blocks));
  }

  void check(const Node& n) const {
    if (n.is("prim::If")) return check_if(n);
    if (n.is("prim::Loop")) return check_loop(n);
    if (n.is("prim::Constant")) return check_constant(n);
    if (!n.blocks.empty()) fail(n, "has blocks, as only prim::If and prim::Loop have");
    if (!program_) return;
    try {
      if (!check_primitive(n, *program_)) check_operator(n);
    } catch (const Mismatch& m) {
      fail(n, m.what());
    }
  }
  static void check_if(const Node& n) {
    expect_counts(n, 1, n.outputs.size(), 2);
    expect(n, *n.inputs[0], *Type::of(Kind::boolean), "the condition");
    for (const auto& b : n.blocks) {
      if (!b->parameters().empty()) fail(n, "a branch has no parameters");
      if (b->results().size() != n.outputs.size())
        fail(n, "a branch gives " + std::to_string(b->results().size()) + " values for " +
                    std::to_string(n.outputs.size()) + " outputs");
      for (size_t i = 0; i < n.outputs.size(); i++)
        expect(n, *b->results()[i], *n.outputs[i]->type, "the result of a branch");
    }
  }
  static void check_loop(const Node& n) {
    const size_t carried = n.outputs.size();
    expect_counts(n, carried + 2, carried, 1);
    expect(n, *n.inputs[0], *Type::of(Kind::integer), "the number of trips");
    expect(n, *n.inputs[1], *Type::of(Kind::boolean), "the condition");
    const Block& body = *n.blocks[0];
    if (body.parameters().size() != carried + 1 || body.results().size() != carried + 1)
      fail(n, "the body has " + std::to_string(body.parameters().size()) + " parameters and " +
                  std::to_string(body.results().size()) + " results for " + std::to_string(carried) +
                  " carried values; it takes the trip's number and them, and gives the condition and them");
    expect(n, *body.parameters()[0], *Type::of(Kind::integer), "the trip's number");
    expect(n, *body.results()[0], *Type::of(Kind::boolean), "the condition of the next trip");
    for (size_t i = 0; i < carried; i++) {
      const Type& type = *body.parameters()[i + 1]->type;
      expect(n, *n.inputs[i + 2], type, "a carried value");
      expect(n, *body.results()[i + 1], type, "a carried value of the body");
      expect(n, *body.parameters()[i + 1], *n.outputs[i]->type, "a carried value");
    }
  }
  static void check_constant(const Node& n) {
    expect_counts(n, 0, 1, 0);
    const Literal* value = n.attribute("value");
    const Type& type = *n.outputs[0]->type;
    const bool may_lack =
        type.kind == Kind::none || type.kind == Kind::optional || (type.kind == Kind::function && n.attribute("name"));
    if (!value ? !may_lack : !value->is_of(type))
      fail(n, "the value " + (value ? value->text() : "None") + " is no " + type.text());
  }
  const Program* const program_;
  int depth_ = 0;                         // of the blocks that are checked
  GrowingSet<const Value*> seen_, left_;  // left: of blocks that have ended
  GrowingSet<Value* const*> used_;        // the inputs that values list as their uses
  GrowingSet<std::string_view> names_;
};

}  // namespace

void verify_structure(const Graph& g) { Verifier(nullptr).block(g.top(), nullptr); }

void verify(const Program& program) {
  for (const auto& [name, graph] : program.graphs) Verifier(&program).block(graph->top(), nullptr);
}

}  // namespace lamella::graph
