#include "record/record.h"

#include <cstring>
#include <new>

#include "graph/event.h"

namespace lamella::autograd {
namespace {

// The node of a call whose operator has no derivative.
struct UnknownNode : Node {
  const lamella_operator* op;
};
lamella_status apply_unknown(Node* n, Run&, lamella_tensor**, lamella_tensor**) {
  return fail(LAMELLA_NOT_IMPLEMENTED,
              operator_text(static_cast<UnknownNode*>(n)->op) +
                  ": there is no derivative of it; register one with lamella.library.register_autograd(), or as a rule "
                  "of the layer \"autograd\"");
}
const NodeKind unknown_kind = {apply_unknown, [](Node*) {}, [](Node*) {},
                               [](const Node* n) { return node_name(static_cast<const UnknownNode*>(n)->op); },
                               nullptr};

// ---- recording -----------------------------------------------------------------------------------------------------

// The edges of the call that is being recorded; the destructor releases them unless a node has taken them.
class Edges {
 public:
  Edges() = default;
  Edges(const Edges&) = delete;
  ~Edges() {
    for (int i = 0; i < count_; i++)
      if (data_[i].node) release(data_[i].node);
  }
  lamella_status add(lamella_tensor* t) {
    if (__builtin_expect(count_ >= few, 0)) grow();
    Edge& e = data_[count_++] = {};
    if (!t || !is_differentiable(t)) return LAMELLA_OK;
    lamella_status st = gradient_edge(t, &e);
    any_ |= e.node != nullptr;
    return st;
  }
  int count() const { return count_; }
  bool any() const { return any_; }
  bool needed(int i) const { return data_[i].node != nullptr; }
  void give(Node* n) {
    for (int i = 0; i < count_; i++) {
      n->edges[i] = std::exchange(data_[i], {});
      if (n->edges[i].node && holds_host(n->edges[i].node)) hold_host(n);
    }
  }

 private:
  __attribute__((noinline)) void grow() {
    if (large_.empty()) large_.assign(small_, small_ + count_);
    large_.push_back({});
    data_ = large_.data();
  }

  static constexpr int few = 8;
  Edge small_[few];
  std::vector<Edge> large_;
  Edge* data_ = small_;
  int count_ = 0;
  bool any_ = false;
};

lamella_status refuse_out(const lamella_operator* op) {
  return fail(
      LAMELLA_RUNTIME_ERROR,
      operator_text(op) +
          ": functions with out=... arguments don't support automatic differentiation, but one of the arguments "
          "requires grad; call it without out=, or under no_grad()");
}

// Calls visit(argument number, tensor) for every tensor of a call, those in lists included.
template <class Visit>
void each_tensor(const lamella_operator* op, const lamella_value* args, Visit visit) {
  for (int i = 0, n = api().operator_num_args(op); i < n; i++) {
    if (args[i].tag == LAMELLA_TENSOR && args[i].as.tensor) visit(i, args[i].as.tensor);
    for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++)
      if (args[i].as.tensors[k]) visit(i, args[i].as.tensors[k]);
  }
}

lamella_status requires_grad_now(lamella_tensor* t, bool* any) {
  Variable* v = nullptr;
  lamella_status st = refreshed(t, &v);
  *any |= !st && v && v->requires_grad;
  return st;
}

lamella_status requires_any(const lamella_operator* op, const lamella_value* args, bool* any) {
  lamella_status st = LAMELLA_OK;
  each_tensor(op, args, [&](int, lamella_tensor* t) {
    if (!st) st = requires_grad_now(t, any);
  });
  return st;
}

lamella_status record_out(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  bool any = false;
  if (lamella_status st = requires_any(frame->op, args, &any)) return st;
  return any ? refuse_out(frame->op) : api().redispatch(frame, args, frame->num_args, rets, frame->num_rets);
}

void remember_trace(Node* n) {
  if (char* text = anomaly_trace()) {
    extra_of(n).trace = text;
    std::free(text);
  }
}

// Returns which values a call must save, as bits: those that the formulas of the needed gradients name.
uint64_t saves_of(const Rule& r, const Edges& edges) {
  uint64_t saves = 0;
  const int list_length = edges.count() - static_cast<int>(r.inputs.size()) + 1;
  int at = 0;
  for (size_t i = 0; i < r.inputs.size(); i++) {
    const int n = r.inputs[i].list ? list_length : 1;
    bool needed = false;
    for (int k = 0; k < n; k++) needed |= edges.needed(at + k);
    at += n;
    if (needed && r.inputs[i].formula >= 0) saves |= r.formulas[r.inputs[i].formula].saves;
  }
  return saves;
}

lamella_value shape_value(const lamella_tensor* t, const int64_t* list) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(t->dl.ndim), {0}};
  v.as.ints = list;
  return v;
}

// Saves the shapes of a list: for each tensor the number of dimensions, then its sizes.
lamella_status keep_shapes(const lamella_value& list, SavedValue& to) {
  std::vector<int64_t> all;
  for (uint32_t i = 0; list.tag == LAMELLA_TENSOR_LIST && i < list.length; i++) {
    const lamella_tensor* t = list.as.tensors[i];
    all.push_back(t->dl.ndim);
    all.insert(all.end(), t->dl.shape, t->dl.shape + t->dl.ndim);
  }
  return to.keep(value(all));
}

// Calls visit(number, tensor) for every result that is a tensor; each tensor of a list is one result. Returns the
// number of all results.
template <class Visit>
__attribute__((always_inline)) inline int each_result(const lamella_value* rets, int num_returns, Visit visit) {
  int at = 0;
  for (int i = 0; i < num_returns; i++) {
    if (__builtin_expect(rets[i].tag == LAMELLA_TENSOR, 1))
      visit(at++, rets[i].as.tensor);
    else if (rets[i].tag != LAMELLA_TENSOR_LIST)
      at++;
    else
      for (uint32_t k = 0; k < rets[i].length; k++, at++)
        if (rets[i].as.tensors[k]) visit(at, rets[i].as.tensors[k]);
  }
  return at;
}

// Returns the number of the first result of return value i; with i = the number of return values, the number of all
// results.
int first_result(const lamella_value* rets, int i) {
  return each_result(rets, i, [](int, const lamella_tensor*) {});
}

lamella_status save(const Save& what, SavedValue& to, const lamella_value* args, const lamella_value* rets,
                    bool counts) {
  const bool result = what.what == Save::Result || what.what == Save::ResultShape;
  const lamella_value& v = result ? rets[what.index] : args[what.index];
  lamella_tensor* t = v.tag == LAMELLA_TENSOR ? v.as.tensor : nullptr;
  switch (what.what) {
    case Save::Argument:
      return v.tag == LAMELLA_TENSOR ? to.keep(t, -1, false) : to.keep(v);
    case Save::Result:
      return to.keep(v, first_result(rets, what.index), counts);
    case Save::ArgumentShape:
    case Save::ResultShape:
      return t ? to.keep(shape_value(t, t->dl.shape)) : to.keep(none());
    case Save::ArgumentStrides:
      return t ? to.keep(shape_value(t, t->dl.strides)) : to.keep(none());
    case Save::ArgumentShapes:
      return keep_shapes(v, to);
    case Save::ArgumentNumel:
      return t ? to.keep(value(t->numel)) : to.keep(none());
    case Save::ArgumentOffset:
      return t ? to.keep(value(t->storage_offset)) : to.keep(none());
    default:
      return t ? to.keep(lamella_value{LAMELLA_DTYPE, 0, {t->dtype}}) : to.keep(none());
  }
}

bool is_argument(const lamella_operator* op, const lamella_value* args, const lamella_tensor* t) {
  bool is = false;
  each_tensor(op, args, [&](int, const lamella_tensor* a) { is |= a == t; });
  return is;
}

// Copies, before a call in place, the tensors that the formulas need and the call overwrites: the written argument
// itself and arguments that share its memory. A copy has the history of its original, for derivatives of higher order.
class Overwritten {
 public:
  lamella_status prepare(const Rule& r, uint64_t saves, int written, const lamella_value*& args) {
    const lamella_storage* memory = args[written].as.tensor->storage;
    const auto lost = [memory](const lamella_value& v) {
      return v.tag == LAMELLA_TENSOR && v.as.tensor && v.as.tensor->storage == memory;
    };
    bool any = false;
    for (size_t i = 0; i < r.saves.size(); i++)
      any |= (saves >> i & 1) && r.saves[i].what == Save::Argument && lost(args[r.saves[i].index]);
    if (!any) return LAMELLA_OK;
    GradMode off(false);
    copied_.assign(args, args + r.num_args);
    for (lamella_value& v : copied_)
      if (lost(v))
        if (lamella_status st = copy(v)) return st;
    args = copied_.data();
    return LAMELLA_OK;
  }

 private:
  lamella_status copy(lamella_value& v) {
    lamella_tensor *of = v.as.tensor, *made = nullptr;
    if (lamella_status st = operators().clone(of, &made)) return st;
    copies_.push_back(Tensor::steal(made));
    Edge history{};
    if (is_differentiable(of))
      if (lamella_status st = gradient_edge(of, &history)) return st;
    if (history.node) give_history(made, history.node, history.output);
    v = value(made);
    return LAMELLA_OK;
  }

  std::vector<lamella_value> copied_;
  std::vector<Tensor> copies_;
};

// Owns a node until it is complete; the destructor releases it.
class NodeOwner {
 public:
  explicit NodeOwner(Node* n) : n_(n) {}
  NodeOwner(const NodeOwner&) = delete;
  ~NodeOwner() {
    if (n_) release(n_);
  }
  Node* take() { return std::exchange(n_, nullptr); }

 private:
  Node* n_;
};

lamella_status no_memory(const lamella_frame* frame) {
  return fail(LAMELLA_OUT_OF_MEMORY, operator_text(frame->op) + ": not enough memory to record the call");
}

Node* function_node(const Rule& r, const lamella_value* args, const lamella_value* rets, int edges,
                    lamella_status* st) {
  Node* n = new_function_node(r, edges, first_result(rets, r.num_returns));
  NodeOwner owner(n);
  const lamella_derivative& d = *r.functions;
  *st = d.setup ? d.setup(d.context, reinterpret_cast<lamella_node*>(n), args, rets) : LAMELLA_OK;
  return owner.take();
}

Node* formula_node(const Rule& r, uint64_t saves, const lamella_value* args, const lamella_value* rets, int edges,
                   bool counts, lamella_status* st) {
  const int num_saved = static_cast<int>(r.saves.size());
  const int results = r.list_return < 0 ? r.num_returns : first_result(rets, r.num_returns);
  auto* n = new_node<FormulaNode>(&formula_kind, edges, results, sizeof(SavedValue) * num_saved);
  n->rule = &r;
  n->num_saved = static_cast<uint8_t>(num_saved);
  for (int i = 0; i < num_saved; i++) new (n->saved() + i) SavedValue;
  NodeOwner owner(n);
  *st = LAMELLA_OK;
  for (int i = 0; i < num_saved; i++) {
    if ((saves >> i & 1) && !*st) *st = save(r.saves[i], n->saved()[i], args, rets, counts);
  }
  return owner.take();
}

// Returns the differentiable tensors that an operator writes, those in lists included.
std::vector<lamella_tensor*> written_tensors(const lamella_operator* op, const lamella_value* args) {
  std::vector<lamella_tensor*> all;
  each_tensor(op, args, [&](int i, lamella_tensor* t) {
    if (is_differentiable(t) && (api().operator_argument(op, i)->flags & LAMELLA_ARGUMENT_WRITTEN)) all.push_back(t);
  });
  return all;
}

// Predicts the version of the tensor that a call writes: the dispatcher increases it after the call, unless calls
// inside it have done so.
class Counting {
 public:
  explicit Counting(lamella_tensor* written) : t_(written), before_(t_ ? api().tensor_version(t_) : 0) {}
  bool pending() const { return t_ && api().tensor_version(t_) == before_; }
  uint64_t afterwards() const { return api().tensor_version(t_) + pending(); }

 private:
  lamella_tensor* t_;
  uint64_t before_;
};

// Gives the results of a call their history, as the node's results from `first` on. Results that are arguments have
// theirs already.
void attach(Node* n, const lamella_operator* op, const lamella_value* args, const lamella_value* rets, int num_returns,
            int first = 0) {
  each_result(rets, num_returns, [&](int i, lamella_tensor* t) {
    if (!is_differentiable(t) || (variable(t) && is_argument(op, args, t))) return;
    retain(n);
    set_history(t, n, static_cast<uint32_t>(first + i));
  });
}

bool any_differentiable(const lamella_value* rets, int n) {
  bool any = false;
  each_result(rets, n, [&](int, const lamella_tensor* t) { any |= is_differentiable(t); });
  return any;
}

}  // namespace

lamella_status record(lamella_frame* frame, const lamella_value* args, lamella_value* rets) try {
  auto& derivative = *static_cast<Derivative*>(frame->context);
  const Rule* compiled = derivative.rule.load(std::memory_order_acquire);
  const Rule& r = compiled ? *compiled : compile(derivative);
  int written = r.written;
  if (__builtin_expect(frame->op != r.op, 0)) {
    if (api().operator_form(frame->op) == LAMELLA_OUT_FORM) return record_out(frame, args, rets);
    written = 0;  // the in-place form, which writes its first argument
  }
  if (__builtin_expect(r.broken, 0)) return fail(r.broken, r.error);
  if (__builtin_expect(written >= 0, 0))
    if (lamella_status st = adopt(args[written].as.tensor)) return st;
  Edges edges;
  for (const Rule::Input& input : r.inputs) {
    const lamella_value& v = args[input.arg];
    if (!input.list) {
      if (lamella_status st = edges.add(v.tag == LAMELLA_TENSOR ? v.as.tensor : nullptr)) return st;
    } else {
      for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++)
        if (lamella_status st = edges.add(v.as.tensors[k])) return st;
    }
  }
  int self_edge = -1;
  for (size_t i = 0; i < r.inputs.size() && written >= 0; i++)
    if (r.inputs[i].arg == written) self_edge = static_cast<int>(i);
  // A call that overwrites a tensor without using its old values removes the tensor's history.
  bool cut = false;
  if (__builtin_expect(written >= 0 && self_edge < 0, 0))
    if (lamella_status st = requires_grad_now(args[written].as.tensor, &cut)) return st;
  if (!edges.any() && !cut) return api().redispatch(frame, args, frame->num_args, rets, frame->num_rets);
  if (__builtin_expect(r.written_for, 0))
    if (lamella_status st = api().check_defaults(frame->op, args, r.written_for, "the derivative")) return st;
  const lamella_value* keep = args;
  Overwritten overwritten;
  uint64_t saves = r.functions ? 0 : saves_of(r, edges);
  if (__builtin_expect(written >= 0, 0)) {
    if (lamella_status st = check_writable(api().operator_name(frame->op), args[written].as.tensor)) return st;
    if (lamella_status st = overwritten.prepare(r, saves, written, keep)) return st;
  }
  const Counting counting(written >= 0 ? args[written].as.tensor : nullptr);
  if (lamella_status st = api().redispatch(frame, args, frame->num_args, rets, frame->num_rets)) return st;
  if (!any_differentiable(rets, r.num_returns)) return LAMELLA_OK;
  Results results(rets, r.num_returns);
  lamella_status st;
  Node* n = r.functions ? function_node(r, keep, rets, edges.count(), &st)
                        : formula_node(r, saves, keep, rets, edges.count(), counting.pending(), &st);
  const NodeOwner owner(n);
  if (__builtin_expect(anomaly_trace != nullptr, 0)) remember_trace(n);
  report_recorded(n, frame->op);
  edges.give(n);
  if (!st && __builtin_expect(written >= 0, 0)) {
    retain(n);
    st = set_written(args[written].as.tensor, n, 0, self_edge, counting.afterwards());
  } else if (!st) {
    attach(n, frame->op, args, rets, r.num_returns);
  }
  if (__builtin_expect(st == LAMELLA_OK, 1)) results.keep();
  return st;
} catch (const std::bad_alloc&) {
  return no_memory(frame);
}

lamella_status record_unknown(lamella_frame* frame, const lamella_value* args, lamella_value* rets) try {
  const lamella_operator* op = frame->op;
  if (api().operator_form(op) == LAMELLA_OUT_FORM) return record_out(frame, args, rets);
  const std::vector<lamella_tensor*> written = written_tensors(op, args);
  const int num_returns = api().operator_num_returns(op);
  for (lamella_tensor* t : written)
    if (lamella_status st = adopt(t)) return st;
  bool any = false;
  if (lamella_status st = requires_any(op, args, &any)) return st;
  if (!any) return api().redispatch(frame, args, frame->num_args, rets, frame->num_rets);
  for (lamella_tensor* t : written)
    if (lamella_status st = check_writable(api().operator_name(op), t)) return st;
  const std::vector<Counting> counting(written.begin(), written.end());
  if (lamella_status st = api().redispatch(frame, args, frame->num_args, rets, frame->num_rets)) return st;
  Results results(rets, num_returns);
  Edges edges;  // edges to overwritten tensors, too: only a request for their gradient is an error
  lamella_status st = LAMELLA_OK;
  each_tensor(op, args, [&](int, lamella_tensor* t) {
    if (!st) st = edges.add(t);
  });
  const int num_written = static_cast<int>(written.size());
  auto* n =
      new_node<UnknownNode>(&unknown_kind, edges.count(), std::max(num_written + first_result(rets, num_returns), 1));
  const NodeOwner owner(n);
  n->op = op;
  if (__builtin_expect(anomaly_trace != nullptr, 0)) remember_trace(n);
  report_recorded(n, frame->op);
  edges.give(n);
  for (int k = 0; k < num_written && !st; k++) {
    retain(n);
    st = set_written(written[k], n, static_cast<uint32_t>(k), -1, counting[k].afterwards());
  }
  if (!st) attach(n, op, args, rets, num_returns, num_written);
  if (!st) results.keep();
  return st;
} catch (const std::bad_alloc&) {
  return no_memory(frame);
}

}  // namespace lamella::autograd
