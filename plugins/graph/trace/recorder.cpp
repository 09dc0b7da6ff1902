// The nodes, constants and attributes of a recording.
#include "trace/recorder.h"

#include <bit>

namespace lamella::graph {
namespace {

void destroy_recorder(lamella_object* o) { delete reinterpret_cast<Recorder*>(o); }

// Returns the literal of a value that is written in a graph, and its type; nullopt for another value.
std::optional<std::pair<Literal, TypePtr>> literal_of(const lamella_value& v) {
  const auto made = [](Literal x, TypePtr t) { return std::optional(std::pair(std::move(x), std::move(t))); };
  static const TypePtr ints = Type::list(Type::of(Kind::integer)), floats = Type::list(Type::of(Kind::floating)),
                       bools = Type::list(Type::of(Kind::boolean));
  const auto list = [&](const TypePtr& type, auto item) {
    Literal::List l;
    l.reserve(v.length);
    for (uint32_t i = 0; i < v.length; i++) l.push_back(item(i));
    return made({std::move(l)}, type);
  };
  switch (v.tag) {
    case LAMELLA_NONE:
      return made({Literal::None()}, Type::of(Kind::none));
    case LAMELLA_BOOLEAN:
      return made({v.as.i != 0}, Type::of(Kind::boolean));
    case LAMELLA_INT:
      return made({v.as.i}, Type::of(Kind::integer));
    case LAMELLA_FLOAT:
      return made({v.as.d}, Type::of(Kind::floating));
    case LAMELLA_COMPLEX:
      return made({std::complex<double>(v.as.doubles[0], v.as.doubles[1])}, Type::of(Kind::complex));
    case LAMELLA_STRING:
      return made({std::string(text_of(v))}, Type::of(Kind::string));
    case LAMELLA_DTYPE:
      return made({Literal::Word{Kind::dtype, api().dtype_info(static_cast<int32_t>(v.as.i))->name}},
                  Type::of(Kind::dtype));
    case LAMELLA_DEVICE: {
      std::string name = api().backend_name(v.as.device.backend);
      if (v.as.device.index) name += ":" + std::to_string(v.as.device.index);
      return made({Literal::Word{Kind::device, std::move(name)}}, Type::of(Kind::device));
    }
    case LAMELLA_LAYOUT:
      return made({Literal::Word{Kind::layout, "strided"}}, Type::of(Kind::layout));
    case LAMELLA_MEMORY_FORMAT:
      return made({Literal::Word{Kind::memory_format, std::string(word_of_memory_format(v.as.i))}},
                  Type::of(Kind::memory_format));
    case LAMELLA_INT_LIST:
      return list(ints, [&](uint32_t i) { return Literal{v.as.ints[i]}; });
    case LAMELLA_FLOAT_LIST:
      return list(floats, [&](uint32_t i) { return Literal{v.as.doubles[i]}; });
    case LAMELLA_BOOL_LIST:
      return list(bools, [&](uint32_t i) { return Literal{v.as.bools[i] != 0}; });
    case LAMELLA_VALUE_LIST: {
      Literal::List l;
      TypePtr element = Type::of(Kind::any);
      for (uint32_t i = 0; i < v.length; i++) {
        auto item = literal_of(v.as.values[i]);
        if (!item) return std::nullopt;
        if (element->kind == Kind::any || element->kind == Kind::none) element = item->second;
        l.push_back(std::move(item->first));
      }
      return made({std::move(l)}, Type::list(std::move(element)));
    }
    default:
      return std::nullopt;
  }
}

// Returns a number, or a short list of ints, in a form that is compared at once.
std::optional<Recorder::Plain> plain_of(const lamella_value& v) {
  Recorder::Plain p{v.tag, 0, {}};
  switch (v.tag) {
    case LAMELLA_NONE:
      return p;
    case LAMELLA_BOOLEAN:
    case LAMELLA_INT:
      p.bits[0] = v.as.i;
      return p;
    case LAMELLA_FLOAT:
      p.bits[0] = std::bit_cast<int64_t>(v.as.d);
      return p;
    case LAMELLA_INT_LIST:
      if (v.length > p.bits.size()) return std::nullopt;
      p.length = v.length;
      std::copy_n(v.as.ints, v.length, p.bits.begin());
      return p;
    default:
      return std::nullopt;
  }
}

bool same_geometry(const lamella_tensor& a, const lamella_tensor& b) {
  return a.dtype == b.dtype && a.dl.ndim == b.dl.ndim && std::equal(a.dl.shape, a.dl.shape + a.dl.ndim, b.dl.shape) &&
         std::equal(a.dl.strides, a.dl.strides + a.dl.ndim, b.dl.strides);
}

size_t hash_of(const Literal& x) {
  struct Hash {
    size_t operator()(const Literal::None&) const { return 0; }
    size_t operator()(bool b) const { return b; }
    size_t operator()(int64_t i) const { return std::hash<int64_t>()(i); }
    size_t operator()(double d) const { return std::hash<uint64_t>()(std::bit_cast<uint64_t>(d)); }
    size_t operator()(const std::complex<double>& c) const { return (*this)(c.real()) * 31 + (*this)(c.imag()); }
    size_t operator()(const std::string& s) const { return std::hash<std::string>()(s); }
    size_t operator()(const Literal::Word& w) const { return (*this)(w.text); }
    size_t operator()(const Literal::Tensor& t) const { return (*this)(t.number); }
    size_t operator()(const Literal::List& l) const {
      size_t all = l.size();
      for (const Literal& e : l) all = all * 31 + hash_of(e);
      return all;
    }
  };
  return std::visit(Hash(), x.value) * 31 + x.value.index();
}

}  // namespace

const lamella_object_type recorder_type = {sizeof recorder_type, 0, "graph.Recorder", destroy_recorder};
Slot<StandIn> stand_ins;
int32_t trace_bit = -1;

StandIn::StandIn(Tensor real, Recorder* recorder, Value* value)
    : real(std::move(real)), recorder(recorder), value(value) {
  api().retain(recorder);
}
StandIn::StandIn(const StandIn& o) : StandIn(o.real, o.recorder, o.value) {}
StandIn::~StandIn() {
  if (recorder) api().release(recorder);
}

TypePtr type_of_tensor(const lamella_tensor& t) {
  TensorFacts facts;
  facts.dtype = api().dtype_info(t.dtype)->name;
  facts.sizes.emplace();
  for (int32_t d = 0; d < t.dl.ndim; d++) facts.sizes->push_back({t.dl.shape[d], 0, {}});
  return std::make_shared<const Type>(std::move(facts));
}

Recorder::Recorder(lamella_object* program, const std::string& name, bool strict, bool by_shape,
                   lamella_graph_place place, void* context)
    : program_(program),
      name_(name),
      graph_(*program_of(program).program.find(name)),
      num_parameters_(graph_.top().parameters().size()),
      strict_(strict),
      by_shape_(by_shape),
      place_(place),
      context_(context) {
  api().retain(program_);
}
Recorder::~Recorder() { api().release(program_); }

Recorder* Recorder::by_other_shape() const {
  auto p = std::make_unique<ProgramObject>();
  p->program.classes = program_of(program_).program.classes;
  auto& g = p->program.graphs[name_] = std::make_unique<Graph>(false);
  for (size_t i = 0; i < num_parameters_; i++) {
    const Value& v = *graph_.top().parameters()[i];
    g->top().add_parameter(v.type, v.name);
  }
  p->watch();
  auto* made = new Recorder(&p->object, name_, true, true, nullptr, nullptr);
  made->attributes_ = attributes_;
  made->compared_ = true;
  api().release(&p.release()->object);  // the recorder keeps it
  return made;
}

lamella_tensor* Recorder::shape_of(lamella_tensor* t) {
  if (!t || t->backend == 0) return t;  // the backend of number 0 is meta
  const std::lock_guard<std::mutex> guard(attributes_->lock);
  std::pair<Tensor, Tensor>& known = attributes_->shapes[t];
  // An operator may have given one of them another shape.
  if (!known.second.defined() || !same_geometry(*t, *known.second.get())) {
    lamella_tensor* made = nullptr;
    check(api().tensor_empty(t->dl.ndim, t->dl.shape, t->dl.strides, t->dtype, {0, 0}, &made));
    known = {Tensor::borrow(t), Tensor::steal(made)};
  }
  return known.second.get();
}

namespace {
thread_local Recorder* recording = nullptr;  // retained
}

Recorder* Recorder::of_thread() { return recording; }

Recorder::InOuter::InOuter() : inner_(recording) {
  if (inner_) recording = inner_->outer_;
}
Recorder::InOuter::~InOuter() { recording = inner_; }

void Recorder::start() {
  LAMELLA_CHECK(!started_, "trace: the recorder is on already");
  started_ = true;
  const uint64_t bit = uint64_t{1} << trace_bit;
  outer_ = std::exchange(recording, this);
  was_on_ = (api().thread()->include & bit) != 0;
  api().retain(this);
  api().thread()->include |= bit;
}

void Recorder::stop() {
  LAMELLA_CHECK(started_ && recording == this, "trace: the recorder is not the one that this thread started last");
  started_ = false;
  recording = outer_;
  if (!was_on_) api().thread()->include &= ~(uint64_t{1} << trace_bit);
  api().release(this);
}

Source Recorder::where() const {
  Source s;
  const char* file = nullptr;
  if (place_) file = place_(context_, &s.line);
  if (!file) return {};
  const std::lock_guard<std::mutex> guard(files_lock_);
  auto& shared = files_[file];
  if (!shared) shared = std::make_shared<const std::string>(file);
  s.file = shared;
  return s;
}
std::string Recorder::where_text() const {
  const Source s = where();
  return s.file ? " at " + *s.file + ":" + std::to_string(s.line) : "";
}

void Recorder::check_open(const std::string& op) const {
  LAMELLA_CHECK(!ended_, op, ": this tensor stands for a value of a trace that has ended; it has no values of its own");
}

void Recorder::leave(const std::string& op) {
  const std::string place = where_text();  // takes the host's lock, so that it comes before the recorder's
  const std::lock_guard<std::mutex> guard(lock_);
  const std::string what = op == "_materialize" ? "the elements of a tensor are read" : "the value of a tensor is read";
  LAMELLA_CHECK(!by_shape_, "trace: ", what, " (", op, ")", place, ", which is not known by shapes alone");
  LAMELLA_CHECK(
      !strict_, "trace: ", what, " (", op, ")", place,
      ": the graph has operators alone, and would keep what follows from this value as a constant. Script the "
      "function, or trace it with strict=False");
  warnings_.push_back("trace: " + what + " (" + op + ")" + place +
                      ": the graph keeps what follows from it as it is for these inputs, and may be wrong for others");
}

Node* Recorder::append(std::string op, std::string overload) {
  if (graph_.changes) ++*graph_.changes;
  Node* n = graph_.top().append(std::move(op), std::move(overload));
  n->source = now_;
  return n;
}

Value* Recorder::constant(Literal x, TypePtr type) {
  const size_t hash = hash_of(x);
  const bool is_none = std::holds_alternative<Literal::None>(x.value);
  for (auto [at, end] = literals_.equal_range(hash); at != end; ++at) {
    const Literal* known = at->second->definition->attribute("value");
    if ((known ? *known == x : is_none) && same(at->second->type, type)) return at->second;
  }
  Node* n = append("prim::Constant");
  if (!is_none) n->set_attribute("value", std::move(x));
  return literals_.emplace(hash, n->add_output(std::move(type)))->second;
}

Value* Recorder::list_of(const std::vector<Value*>& items, TypePtr element) {
  Node* n = append("prim::ListConstruct");
  for (Value* v : items) n->add_input(v);
  return n->add_output(Type::list(std::move(element)));
}

Tensor Recorder::stand_in(const Tensor& real, Value* v) {
  Tensor t = lamella::opaque(real.sizes(), real.options(), real.strides());
  stand_ins.set(t, StandIn(real, this, v));
  return t;
}

void Recorder::add_attribute(const Tensor& t, const Value& self, const std::vector<std::string>& path) {
  const std::lock_guard<std::mutex> guard(lock_);
  LAMELLA_CHECK_VALUE(self.output < num_parameters_ && self.definition == graph_.top().begin_node(), "%", self.name,
                      " is no parameter that the graph had before the recording");
  const auto& classes = program_of(program_).program.classes;
  int64_t of = -1 - static_cast<int64_t>(self.output);
  TypePtr type = self.type;
  for (const std::string& name : path) {
    const auto next = static_cast<int64_t>(attributes_->parts.size());
    const auto [at, fresh] = attributes_->numbers.try_emplace({of, name}, next);
    if (fresh) {
      const auto found = type ? classes.find(type->name) : classes.end();
      const int64_t i = found == classes.end() ? -1 : found->second->find(name);
      TypePtr own = i < 0 ? nullptr : found->second->attributes[static_cast<size_t>(i)].second;
      const std::string way = of < 0 ? name : attributes_->parts[static_cast<size_t>(of)].way + "." + name;
      attributes_->parts.push_back({of, name, way, std::move(own)});
    }
    of = at->second;
    type = attributes_->parts[static_cast<size_t>(of)].type;
  }
  attributes_->tensors.try_emplace(t.get(), t, of);
}

// Returns the value of a part of the way to an attribute; it is read once. In a graph that is only compared it is a
// parameter with the way as its name: Note [Sizes] of trace/sizes.h.
Value* Recorder::attribute(int64_t number) {
  if (number < 0) return graph_.top().parameters()[static_cast<size_t>(-1 - number)].get();
  const auto at = static_cast<size_t>(number);
  parts_.resize(attributes_->parts.size());
  if (parts_[at]) return parts_[at];
  const Attributes::Part& part = attributes_->parts[at];
  if (compared_ && part.type) {
    parts_[at] = graph_.top().add_parameter(part.type);
    parts_[at]->name = part.way;
    return parts_[at];
  }
  Value* self = attribute(part.of);
  LAMELLA_CHECK(part.type, "trace: class ", self->type->text(), " has no attribute '", part.name, "'");
  Node* n = append("prim::GetAttr");
  n->set_attribute("name", {part.name});
  n->add_input(self);
  return parts_[at] = n->add_output(part.type, part.name);
}

Value* Recorder::value_for(const lamella_value& v) {
  const std::lock_guard<std::mutex> guard(lock_);
  return find(v);
}

Value* Recorder::find(const lamella_value& v) {
  if (v.tag == LAMELLA_TENSOR) {
    lamella_tensor* t = v.as.tensor;
    const StandIn* s = stand_ins.get(t);
    for (; s && s->recorder != this; s = stand_ins.get(t)) t = s->real.get();  // of the trace around this one
    if (s) return s->value;
    if (const auto a = attributes_->tensors.find(t); a != attributes_->tensors.end())
      return attribute(a->second.second);
    Value*& known = constants_[t];
    if (known) return known;
    ProgramObject& p = program_of(program_);
    const auto number = static_cast<int64_t>(p.constants.size());
    p.constants.push_back(copy_of(value(t)));  // which also keeps its address from another tensor
    Node* n = append("prim::Constant");
    n->set_attribute("value", {Literal::Tensor{number}});
    return known = n->add_output(type_of_tensor(*t));
  }
  if (v.tag == LAMELLA_TENSOR_LIST) {
    std::vector<Value*> items;
    bool absent = false;
    for (uint32_t i = 0; i < v.length; i++) {
      absent = absent || !v.as.tensors[i];
      lamella_value item = none();
      if (v.as.tensors[i]) item = value(v.as.tensors[i]);
      items.push_back(find(item));
    }
    return list_of(items, absent ? Type::optional(Type::of(Kind::tensor)) : Type::of(Kind::tensor));
  }
  auto literal = literal_of(v);
  LAMELLA_CHECK_TYPE(literal, "trace: an argument is a ",
                     v.tag == LAMELLA_OBJECT ? v.as.object->type->name
                     : v.tag == LAMELLA_UINT ? "whole number above 63 bits"
                                             : "dictionary",
                     now_.file ? " at " + *now_.file + ":" + std::to_string(now_.line) : "",
                     ", which a graph cannot hold");
  return constant(std::move(literal->first), std::move(literal->second));
}

TypePtr Recorder::type_of_result(const lamella_tensor& t) const {
  return compared_ ? Type::of(Kind::tensor) : type_of_tensor(t);
}

// Returns the tensor that the program gets for a result: the argument that was written, or a stand-in.
lamella_tensor* Recorder::answer(const lamella_value* given, const lamella_value* real, size_t n, lamella_tensor* owned,
                                 Value* v) {
  for (size_t i = 0; i < n; i++) {
    if (real[i].tag != LAMELLA_TENSOR || real[i].as.tensor != owned) continue;
    if (StandIn* s = stand_ins.get(given[i].as.tensor)) {
      lamella_tensor* const self = given[i].as.tensor;
      s->value = v;
      const bool same_shape = self->dl.ndim == owned->dl.ndim && self->dtype == owned->dtype &&
                              std::equal(self->dl.shape, self->dl.shape + self->dl.ndim, owned->dl.shape);
      if (!same_shape) {  // an operator such as unsqueeze_ has given the real tensor another shape
        const Tensor other = stand_in(Tensor::borrow(owned), v);
        check(api().tensor_assign(self, other.get()));
      }
      api().retain(self);
      api().release(owned);
      return self;
    }
    api().retain(given[i].as.tensor);  // an attribute or a constant, which the operator wrote
    api().release(owned);
    return given[i].as.tensor;
  }
  return stand_in(Tensor::steal(owned), v).release();
}

void Recorder::record(const Signature& s, const lamella_value* given, const lamella_value* real, lamella_value* rets) {
  const Source place = where();  // takes the host's lock, so that it comes before the recorder's
  const std::lock_guard<std::mutex> guard(lock_);
  now_ = place;
  size_t n = s.arguments.size();
  std::vector<Last>& last = last_[&s];
  last.resize(n);
  // Returns what is known of the argument, if the last call of the operator had the same number there.
  const auto known = [&](size_t i) -> Last* {
    const std::optional<Plain> plain = plain_of(given[i]);
    if (!plain) return nullptr;
    if (last[i].plain != plain) last[i] = {plain, {}, nullptr};
    return &last[i];
  };
  // Arguments at the end that have their defaults are left out, but for what a keyword behind them needs.
  const auto is_default = [&](size_t i) {
    if (!s.arguments[i].has_default || given[i].tag == LAMELLA_TENSOR) return false;
    Last* l = known(i);
    if (l && l->is_default) return *l->is_default;
    const auto x = literal_of(given[i]);
    const bool same = x && x->first == s.arguments[i].default_value;
    if (l) l->is_default = same;
    return same;
  };
  while (n && is_default(n - 1)) n--;
  std::vector<Value*> inputs;
  inputs.reserve(n);
  for (size_t i = 0; i < n; i++) {
    Last* l = known(i);
    Value* v = l && l->value ? l->value : find(given[i]);
    if (v->type->kind == Kind::list && v->type->inner[0]->kind == Kind::any)
      v = constant({Literal::List()}, s.arguments[i].type);
    if (l) l->value = v;
    inputs.push_back(v);
  }
  Node* node = append(s.name, s.overload);
  for (size_t i = 0; i < n; i++) inputs[i]->uses.push_back({node, i});
  node->inputs = std::move(inputs);
  std::vector<std::pair<size_t, Value*>> lists;
  for (size_t i = 0; i < s.results.size(); i++) {
    if (rets[i].tag == LAMELLA_TENSOR) {
      Value* v = node->add_output(type_of_result(*rets[i].as.tensor));
      rets[i].as.tensor = answer(given, real, s.arguments.size(), rets[i].as.tensor, v);
    } else {
      Value* v = node->add_output(s.results[i].type);
      if (rets[i].tag == LAMELLA_TENSOR_LIST) lists.emplace_back(i, v);
    }
  }
  for (const auto& [i, list] : lists) {
    Node* unpack = append("prim::ListUnpack");
    unpack->add_input(list);
    auto* tensors = const_cast<lamella_tensor**>(rets[i].as.tensors);
    for (uint32_t k = 0; k < rets[i].length; k++)
      if (tensors[k])
        tensors[k] =
            answer(given, real, s.arguments.size(), tensors[k], unpack->add_output(type_of_result(*tensors[k])));
  }
}

}  // namespace lamella::graph
