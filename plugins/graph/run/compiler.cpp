// Graphs become instructions.
#include "run/emitter.h"
#include "run/inline_ops.h"
#include "run/shared_state.h"
#include "text/text.h"

namespace lamella::graph {
namespace {

class Compiler : private Emitter {
 public:
  Compiler(const Program& program, const Graph& g, const Executable& exe, const Constants& constants, Code& code)
      : Emitter(g, constants, code), program_(program), graph_(g), exe_(exe) {}

  void run() {
    place_constants(graph_.top());
    registers_ = Registers(static_cast<uint32_t>(code_.constants.size()));
    for (const auto& p : graph_.top().parameters()) {
      code_.parameters.push_back({p->name, p->type});
      where_[p.get()] = registers_.take();
    }
    for (const Value* v : graph_.top().results()) code_.results.push_back(v->type);
    body(graph_.top());
    const auto [begin, n] = operands(graph_.top().results(), *graph_.top().end());
    emit(*graph_.top().end(), {Op::give_back, n, begin});
    code_.registers = registers_.count();
  }

 private:
  void body(const Block& b) {
    release_all(*b.begin_node(), live_.at_begin(b));
    for (const Node* n = b.first(); n != b.end(); n = n->behind) {
      if (live_.list_of_call(*n)) continue;
      node(*n);
      std::vector<const Value*> left;
      for (const Value* v : live_.behind(*n))
        if (!dropped_.count(v)) left.push_back(v);
      release_all(*n, left);
    }
  }

  void node(const Node& n) {
    if (n.is("prim::Constant")) {
      const auto pattern = patterns_.find(&n);
      if (pattern != patterns_.end()) emit(n, {Op::fresh, 0, define(*n.outputs[0]), pattern->second});
      return;
    }
    if (n.is("prim::If")) return branch(n);
    if (n.is("prim::Loop")) return loop(n);
    if (n.op.rfind("prim::", 0) == 0 && primitive(n)) return;
    if (n.is("aten::wait")) {
      unary(n, Op::wait);
      const Value& v = *n.outputs[0];
      if (!v.uses.empty()) emit(n, {Op::cast, 0, where(v), where(v) | last, add_types({v.type})});
      return;
    }
    const Signature* s = found(n);
    if (!s) refuse(n, "there is no such operator" + (n.overload.empty() ? "" : " with overload '" + n.overload + "'"));
    if (const auto op = inline_op(*s); op && has_own_types(n, *s)) return arithmetic(n, *op);
    call(n, *s);
  }

  // Returns whether the inputs have the very types of the signature: an int may stand for a float elsewhere.
  static bool has_own_types(const Node& n, const Signature& s) {
    for (size_t i = 0; i < n.inputs.size(); i++)
      if (n.inputs[i]->type->kind != s.arguments[i].type->kind) return false;
    return n.inputs.size() == s.arguments.size();
  }

  // ---- control flow ----

  void branch(const Node& n) {
    const Value& condition = *n.inputs[0];
    const size_t test = emit(n, {Op::jump_if_false, 0, where(condition)});
    std::vector<uint32_t> to;
    for (const auto& v : n.outputs) to.push_back(define(*v));
    const Registers at_begin = registers_;
    body(*n.blocks[0]);
    move_results(*n.blocks[0], 0, to);
    const size_t out = emit(*n.blocks[0]->end(), {Op::jump});
    code_.instructions[test].c = here();
    const uint32_t most = registers_.count();
    registers_ = at_begin;  // the same values are alive behind either branch
    body(*n.blocks[1]);
    move_results(*n.blocks[1], 0, to);
    registers_.grow_to(most);
    code_.instructions[out].c = here();
    if (here() == out + 1) {  // the second branch is empty
      code_.instructions.pop_back();
      code_.places.pop_back();
      code_.instructions[test].c = here();
    }
  }

  static const Literal* constant_of(const Value& v) {
    return v.definition->is("prim::Constant") ? v.definition->attribute("value") : nullptr;
  }
  static bool is_true(const Value& v) {
    const Literal* x = constant_of(v);
    return x && std::holds_alternative<bool>(x->value) && std::get<bool>(x->value);
  }

  void loop(const Node& n) {
    const Block& b = *n.blocks[0];
    const size_t carried = n.outputs.size();
    std::vector<std::pair<uint32_t, uint32_t>> initial;
    std::vector<uint32_t> to;
    for (size_t i = 0; i < carried; i++) to.push_back(registers_.take());
    for (size_t i = 0; i < carried; i++) {
      const auto rest = n.inputs.begin() + static_cast<std::ptrdiff_t>(i) + 3;
      const bool again = std::find(rest, n.inputs.end(), n.inputs[i + 2]) != n.inputs.end();
      initial.emplace_back(to[i], operand(*n.inputs[i + 2], n, !again));
      where_[b.parameters()[i + 1].get()] = to[i];
      pinned_.insert(b.parameters()[i + 1].get());  // the register is written again at the end of each trip
    }
    move_all(n, initial);
    free_dead();
    const uint32_t trip = registers_.take();
    where_[b.parameters()[0].get()] = trip;
    const uint32_t trips = where(*n.inputs[0]);
    const size_t begin = emit(n, {Op::loop_begin, 0, trip, trips});
    size_t test = SIZE_MAX;
    if (!is_true(*n.inputs[1])) test = emit(n, {Op::jump_if_false, 0, where(*n.inputs[1])});
    const uint32_t top = here();
    pinned_.insert(b.parameters()[0].get());
    body(b);
    const Value& condition = *b.results()[0];
    const bool always = is_true(condition);
    uint32_t go_on = 0;
    if (!always) {  // the condition is read behind the moves, which may write its register
      go_on = registers_.take();
      emit(*b.end(), {Op::move, 0, go_on, where(condition)});
    }
    move_results(b, 1, to);
    size_t out = SIZE_MAX;
    if (!always) {
      out = emit(*b.end(), {Op::jump_if_false, 0, go_on});
      registers_.give_back(go_on);
    }
    emit(n, {Op::loop_next, 0, trip, trips, top});
    for (const size_t i : {begin, test, out})
      if (i != SIZE_MAX) code_.instructions[i].c = here();
    registers_.give_back(trip);
    for (size_t i = 0; i < carried; i++) where_[n.outputs[i].get()] = to[i];
  }

  // ---- primitives ----

  void unary(const Node& n, Op op, uint32_t c = 0, uint16_t count = 0) {
    const uint32_t from = operand(*n.inputs[0], n, true);
    free_dead_after([&] { emit(n, {op, count, result(n, 0), from, c}); });
  }
  template <class F>
  void free_dead_after(F f) {
    const std::vector<const Value*> dead = std::move(dying_);
    dying_.clear();
    f();
    for (const Value* v : dead) die(*v);
  }
  uint32_t result(const Node& n, size_t i) { return define(*n.outputs[i]); }

  void several(const Node& n, Op op) {  // a value of all inputs
    const auto [begin, count] = operands(n.inputs, n);
    free_dead_after([&, begin = begin, count = count] { emit(n, {op, count, result(n, 0), begin}); });
  }
  void unpack(const Node& n, Op op) {
    const uint32_t from = operand(*n.inputs[0], n, true);
    free_dead_after([&] {
      const auto begin = static_cast<uint32_t>(code_.operands.size());
      for (size_t i = 0; i < n.outputs.size(); i++) code_.operands.push_back(result(n, i));
      emit(n, {op, count_of(n, n.outputs.size()), begin, from});
    });
  }
  static std::string name_of(const Node& n) {
    const Literal* name = n.attribute("name");
    const auto* text = name ? std::get_if<std::string>(&name->value) : nullptr;
    if (!text) refuse(n, "needs an attribute 'name'");
    return *text;
  }
  const Class& class_of(const Node& n, const Value& v) const {
    const auto found = program_.classes.find(v.type->name);
    if (v.type->kind != Kind::object || found == program_.classes.end())
      refuse(n, "%" + v.name + " is a " + v.type->text() + ", which is no class of the program");
    return *found->second;
  }
  uint32_t attribute_of(const Node& n, const Value& v) const {
    const std::string name = name_of(n);
    const Class& c = class_of(n, v);
    const int64_t i = c.find(name);
    if (i < 0) refuse(n, "class " + c.name + " has no attribute '" + name + "'");
    return static_cast<uint32_t>(i);
  }
  uint16_t class_number(const Node& n, const Value& v) const {
    const Class& c = class_of(n, v);
    for (size_t i = 0; i < exe_.classes.size() && i <= UINT16_MAX; i++)
      if (exe_.classes[i].get() == &c) return static_cast<uint16_t>(i);
    refuse(n, "the program has more than 65536 classes");
  }
  uint32_t function_number(const Node& n, const std::string& name) const {
    const auto found = exe_.by_name.find(name);
    if (found == exe_.by_name.end()) refuse(n, "there is no function '" + name + "' in the program");
    return found->second;
  }

  uint32_t add_types(std::vector<TypePtr> types) {
    code_.sites.emplace_back();
    code_.sites.back().types = std::move(types);
    return static_cast<uint32_t>(code_.sites.size() - 1);
  }

  // Emits a primitive; returns false for one that is none.
  bool primitive(const Node& n) {
    const std::string_view name = std::string_view(n.op).substr(6);
    if (name == "ListConstruct") return several(n, Op::list), true;
    if (name == "TupleConstruct") return several(n, Op::tuple), true;
    if (name == "DictConstruct") return several(n, Op::dict), true;
    if (name == "ListUnpack") return unpack(n, Op::list_unpack), true;
    if (name == "TupleUnpack") return unpack(n, Op::tuple_unpack), true;
    if (name == "TupleIndex") {
      const Literal* i = n.attribute("index");
      if (!i || !std::holds_alternative<int64_t>(i->value)) refuse(n, "needs an attribute 'index'");
      return unary(n, Op::tuple_index, static_cast<uint32_t>(std::get<int64_t>(i->value))), true;
    }
    if (name == "unchecked_cast") return unary(n, Op::cast, add_types({n.outputs[0]->type})), true;
    if (name == "GetAttr")
      return unary(n, Op::get_attribute, attribute_of(n, *n.inputs[0]), class_number(n, *n.inputs[0])), true;
    if (name == "SetAttr") {
      const uint32_t to = operand(*n.inputs[0], n, n.inputs[0] != n.inputs[1]), from = operand(*n.inputs[1], n, true);
      emit(n, {Op::set_attribute, class_number(n, *n.inputs[0]), to, from, attribute_of(n, *n.inputs[0])});
      return free_dead(), true;
    }
    if (name == "CreateObject") {
      const uint32_t number = class_number(n, *n.outputs[0]);
      return emit(n, {Op::create, 0, result(n, 0), 0, number}), true;
    }
    if (name == "Uninitialized") {
      return emit(n, {Op::clear, 0, result(n, 0)}), true;
    }
    if (name == "Print") {
      const auto [begin, count] = operands(n.inputs, n);
      emit(n, {Op::print, count, begin});
      return free_dead(), true;
    }
    if (name == "isinstance") {
      const Literal* types = n.attribute("types");
      const auto* list = types ? std::get_if<Literal::List>(&types->value) : nullptr;
      if (!list) refuse(n, "needs an attribute 'types'");
      std::vector<TypePtr> all;
      for (const Literal& t : *list)
        if (const auto* text = std::get_if<std::string>(&t.value)) all.push_back(parse_type(*text));
      return unary(n, Op::is_instance, add_types(std::move(all))), true;
    }
    if (name == "RaiseException" || name == "CallFunction" || name == "CallMethod" || name == "PythonCall" ||
        name == "fork")
      return call_function(n, name), true;
    return false;
  }

  void call_function(const Node& n, std::string_view kind) {
    const auto site = static_cast<uint32_t>(code_.sites.size());
    code_.sites.emplace_back();
    Site s;
    Instruction i{Op::function, 0, site};
    if (kind == "RaiseException") {
      i.op = Op::raise;
      const Literal* error = n.attribute("kind");
      s.name = error && std::holds_alternative<std::string>(error->value) ? std::get<std::string>(error->value) : "";
    } else {
      s.name = name_of(n);
    }
    if (kind == "CallFunction" || kind == "fork") i.c = function_number(n, s.name);
    if (kind == "fork") i.op = Op::fork;
    if (kind == "CallMethod") {
      if (n.inputs.empty()) refuse(n, "needs an instance");
      const std::string full = n.inputs[0]->type->name + "." + s.name;
      if (exe_.by_name.count(full))
        i.c = exe_.by_name.at(full);
      else
        i.op = Op::method;  // of an interface: the instance's class decides
    }
    if (kind == "PythonCall") {
      i.op = Op::host_call;
      const auto found = std::find(exe_.host_names.begin(), exe_.host_names.end(), s.name);
      i.c = static_cast<uint32_t>(found - exe_.host_names.begin());
    }
    if (n.outputs.size() > LAMELLA_MAX_RETURNS || (i.op == Op::host_call && n.inputs.size() > LAMELLA_MAX_ARGUMENTS))
      refuse(n, "has too many arguments or results");
    arguments(n, nullptr, &s);
    if (i.op == Op::host_call || i.op == Op::method)
      for (const auto& v : n.outputs) s.types.push_back(v->type);
    finish(n, i, std::move(s));
  }

  // ---- calls ----

  void arithmetic(const Node& n, Op op) {
    const uint32_t b = where(*n.inputs[0]), c = n.inputs.size() > 1 ? where(*n.inputs[1]) : 0;
    for (size_t i = 0; i < n.inputs.size(); i++) {
      const bool again = i == 0 && n.inputs.size() > 1 && n.inputs[0] == n.inputs[1];
      if (!again) operand(*n.inputs[i], n, true);
    }
    const std::vector<const Value*> dead = std::move(dying_);
    dying_.clear();
    for (const Value* v : dead) die(*v);  // numbers: the result may lie where an argument was
    emit(n, {op, 0, result(n, 0), b, c});
  }

  void arguments(const Node& n, const Signature* s, Site* site) {
    std::vector<const Value*> rest;  // the values in the order of the operands, to find each one's last mention
    for (const Value* v : n.inputs) {
      if (live_.list_of_call(*v->definition) == &n)
        for (const Value* e : v->definition->inputs) rest.push_back(e);
      else
        rest.push_back(v);
    }
    size_t at = 0;
    const auto next = [&](const Value& v) {
      const bool again = std::find(rest.begin() + static_cast<std::ptrdiff_t>(++at), rest.end(), &v) != rest.end();
      return operand(v, n, !again);
    };
    for (size_t i = 0; i < n.inputs.size(); i++) {
      const Value& v = *n.inputs[i];
      SiteArgument a;
      const bool of_registry = s && s->op;
      const uint32_t kind = of_registry ? s->kinds[i] : uint32_t{LAMELLA_KIND_ANY};
      a.kind = kind;
      a.is_list = of_registry && (s->flags[i] & LAMELLA_ARGUMENT_LIST);
      if (live_.list_of_call(*v.definition) == &n) {
        a.is_elements = true;
        a.operand = static_cast<uint32_t>(code_.operands.size());
        a.elements = static_cast<uint32_t>(v.definition->inputs.size());
        std::vector<uint32_t> own;
        for (const Value* e : v.definition->inputs) own.push_back(next(*e));
        code_.operands.insert(code_.operands.end(), own.begin(), own.end());
      } else {
        a.operand = next(v);
      }
      site->arguments.push_back(a);
    }
  }

  void call(const Node& n, const Signature& s) {
    const auto index = static_cast<uint32_t>(code_.sites.size());
    code_.sites.emplace_back();
    Site site;
    site.name = s.name;
    site.op = s.op;
    site.function = s.function;
    if (n.outputs.size() > LAMELLA_MAX_RETURNS || n.inputs.size() > LAMELLA_MAX_ARGUMENTS)
      refuse(n, "has too many arguments or results");
    arguments(n, &s, &site);
    if (s.variadic) {  // the values behind the arguments become one list
      const uint32_t list = registers_.take();
      const auto begin = static_cast<uint32_t>(code_.operands.size());
      const size_t fixed = std::min(s.arguments.size(), site.arguments.size());
      for (size_t i = fixed; i < site.arguments.size(); i++) code_.operands.push_back(site.arguments[i].operand);
      emit(n, {Op::list, count_of(n, site.arguments.size() - fixed), list, begin});
      site.arguments.resize(fixed);
      site.arguments.emplace_back().operand = list | last;
      registers_.give_back(list);
    }
    for (size_t i = n.inputs.size(); !s.op && !s.variadic && i < s.arguments.size();
         i++) {  // the defaults of a builtin
      SiteArgument a;
      a.operand = defaults_.at(&s.arguments[i]);
      site.arguments.push_back(a);
    }
    finish(n, {s.op ? Op::call : Op::builtin, 0, index}, std::move(site));
    check_results(n, s);
  }
  // Where a signature leaves the type of a result open, as `tolist` does, the machine checks the value.
  void check_results(const Node& n, const Signature& s) {
    TypeVariables variables;
    for (size_t i = 0; i < n.inputs.size() && i < s.arguments.size(); i++)
      fits_argument(*n.inputs[i], *s.arguments[i].type, &variables);
    for (size_t i = 0; i < n.outputs.size(); i++) {
      const Value& v = *n.outputs[i];
      if (v.uses.empty() || admits(*with_variables(s.results[i].type, variables), *v.type)) continue;
      emit(n, {Op::cast, 0, where(v), where(v) | last, add_types({v.type})});
    }
  }
  void finish(const Node& n, Instruction i, Site site) {
    free_dead_after([&] {
      for (size_t k = 0; k < n.outputs.size(); k++) {
        const Value& v = *n.outputs[k];
        if (v.uses.empty()) {
          dropped_.insert(&v);
          site.results.push_back(nowhere);
        } else {
          site.results.push_back(result(n, k));
        }
      }
      const uint32_t index = i.a;
      code_.sites[index] = std::move(site);
      emit(n, i);
    });
  }

  const Program& program_;
  const Graph& graph_;
  const Executable& exe_;
};

// Collects the names of the host's functions that a block calls.
void collect_host_functions(const Block& b, std::vector<std::string>* names) {
  for (const Node* n = b.first(); n != b.end(); n = n->behind) {
    for (const auto& inner : n->blocks) collect_host_functions(*inner, names);
    const Literal* name = n->is("prim::PythonCall") ? n->attribute("name") : nullptr;
    const auto* text = name ? std::get_if<std::string>(&name->value) : nullptr;
    if (text && std::find(names->begin(), names->end(), *text) == names->end()) names->push_back(*text);
  }
}

}  // namespace

Code::~Code() {
  for (lamella_value& v : constants) release(v);
}

Executable::~Executable() {
  for (HostFunction* f : host)
    if (f) api().release(f);
}

const Code* Executable::find(const std::string& name) const {
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : functions[at->second].get();
}

std::shared_ptr<Executable> compile(const Program& program, const std::vector<lamella_value>& tensors) {
  auto exe = std::make_shared<Executable>();
  exe->uses_shared = uses_shared(program);
  for (const auto& [name, c] : program.classes) exe->classes.push_back(c);
  for (const auto& [name, graph] : program.graphs) {
    exe->by_name[name] = static_cast<uint32_t>(exe->functions.size());
    exe->functions.push_back(std::make_unique<Code>());
    exe->functions.back()->name = name;
    collect_host_functions(graph->top(), &exe->host_names);
  }
  const Constants constants(tensors);
  for (const auto& [name, graph] : program.graphs)
    Compiler(program, *graph, *exe, constants, *exe->functions[exe->by_name[name]]).run();
  return exe;
}

}  // namespace lamella::graph
