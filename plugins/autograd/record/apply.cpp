// Backward of a FormulaNode: it computes gradients from its saved values by its rule's formulas.
#include "record/record.h"

namespace lamella::autograd {
namespace {

// Owns the values that a node unpacked; the destructor releases the first n.
struct Values {
  lamella_value v[most_saves];  // the first n are owned
  int n;
  explicit Values(int count) : n(count) {
    for (int i = 0; i < n; i++) v[i] = none();
  }
  ~Values() {
    for (int i = 0; i < n; i++)
      if (v[i].tag != LAMELLA_NONE) api().value_release(&v[i]);
  }
};

// Unpacks any saved values, also those that hooks packed, and results, which get their history again if the run creates
// a graph.
__attribute__((noinline)) lamella_status unpack_any(FormulaNode* n, const Run& run, Values& out) {
  SavedValue own[most_saves];
  {
    Guard guard(n);
    if (n->released) return used_twice(n);
    if (!run.retain_graph) n->released = true;
    for (int i = 0; i < n->num_saved; i++) {
      if (!run.retain_graph)
        own[i] = n->saved()[i].take();
      else if (lamella_status st = n->saved()[i].copy(&own[i]))
        return st;
    }
  }
  lamella_status st = LAMELLA_OK;
  for (int i = 0; i < n->num_saved; i++) {
    if (!st) st = own[i].unpack(n, run.create_graph, &out.v[i]);
    own[i].drop();
  }
  return st;
}

// Unpacks the saved values that the formulas compute with; moves them out of the node unless the graph is retained.
lamella_status unpack_all(FormulaNode* n, const Run& run, Values& out) {
  if (!n->rule->saves_tensors) {  // numbers stay in the node, so that it can run again
    for (int i = 0; i < n->num_saved; i++) out.v[i] = n->saved()[i].value;
    out.n = 0;
    return LAMELLA_OK;
  }
  {
    Guard guard(n);  // another run may be at this node
    if (__builtin_expect(n->released, 0)) return used_twice(n);
    bool plain = true;
    for (int i = 0; i < n->num_saved; i++) {
      const SavedValue& s = n->saved()[i];
      if (lamella_status st = s.check(n)) return st;
      plain &= !s.packed && !(run.create_graph && s.result >= 0);
    }
    if (__builtin_expect(plain, 1)) {
      if (!run.retain_graph) n->released = n->num_saved > 0;
      for (int i = 0; i < n->num_saved; i++) {
        SavedValue& s = n->saved()[i];
        if (!run.retain_graph)
          out.v[i] = std::exchange(s.value, none());
        else if (lamella_status st = api().value_retain(&s.value, &out.v[i]))
          return st;
      }
      return LAMELLA_OK;
    }
  }
  return unpack_any(n, run, out);
}

// Returns the first edge of an input. A tensor has one edge, a list one for each of its tensors.
int first_edge(const Rule& r, const Node* n, int input) {
  if (__builtin_expect(r.list < 0 || input <= r.list, 1)) return input;
  return input + n->num_edges - static_cast<int>(r.inputs.size());
}

lamella_status no_formula(const Rule& r, const Rule::Input& input) {
  return fail(LAMELLA_NOT_IMPLEMENTED, operator_text(r.op) + ": the derivative with respect to argument '" +
                                           api().operator_argument(r.op, input.arg)->name + "' is not implemented");
}

// Returns the bits of Formula::grads that stand for this result of the node.
uint64_t bits_of(const FormulaNode* n, int result) {
  const Rule& r = *n->rule;
  return all_grads | uint64_t{1} << (r.list_return < 0 ? result : r.return_of(result, n->num_results));
}

// `any` is true if a gradient that the formula uses has arrived, or if it uses none. `all` is true if all gradients
// have arrived that the formula does not take as none.
struct Arrival {
  bool any, all = true;
  Arrival(const Formula& f, const FormulaNode* n, lamella_tensor* const* grads) {
    const uint64_t used = f.grads | f.optional_grads;
    any = used == 0;
    for (int i = 0; i < n->num_results; i++) {
      const uint64_t bits = bits_of(n, i);
      any |= grads[i] && (used & bits);
      all &= grads[i] || !(f.grads & bits);
    }
  }
};

// Replaces missing gradients by zeros, when another result of the call has a gradient. Consecutive missing
// gradients of one shape, dtype and device share one tensor of zeros.
struct Completed {
  std::vector<lamella_tensor*> grads;
  std::vector<Tensor> made;

  lamella_status fill(const Formula& f, const FormulaNode* n, const Run& run, lamella_tensor* const* came) {
    grads.assign(came, came + n->num_results);
    for (int i = 0; i < n->num_results; i++) {
      const Result& r = n->results[i];
      if (grads[i] || !(f.grads & bits_of(n, i))) continue;
      if (!r.described()) {
        if (!(f.grads & all_grads)) continue;
        return fail(LAMELLA_RUNTIME_ERROR, n->rule->name + ": its result " + std::to_string(i) +
                                               " has no gradient; its formula may give `grads` to a Tensor?[] only");
      }
      const lamella_tensor* last = made.empty() ? nullptr : made.back().get();
      if (!last || !r.has_shape_of(last) || r.dtype != last->dtype || r.device.backend != last->backend ||
          r.device.index != last->dl.device.device_id) {
        lamella_tensor* zeros = nullptr;
        if (lamella_status st = run.ops.zeros(r, &zeros)) return st;
        made.push_back(Tensor::steal(zeros));
      }
      grads[i] = made.back().get();
    }
    return LAMELLA_OK;
  }
};

int edges_of(const FormulaNode* n, int target) {
  return target == n->rule->list ? n->num_edges - static_cast<int>(n->rule->inputs.size()) + 1 : 1;
}

// Moves the list of gradients that a formula computed to the edges of the input that is a list. Takes the list over.
__attribute__((noinline)) lamella_status hand_out_list(const FormulaNode* n, const Run& run, int target,
                                                       lamella_value& given, lamella_tensor** outs) {
  const int at = first_edge(*n->rule, n, target), count = edges_of(n, target);
  lamella_status st = LAMELLA_OK;
  if (given.tag == LAMELLA_TENSOR_LIST && given.length != static_cast<uint32_t>(count))
    st = fail(LAMELLA_RUNTIME_ERROR, n->rule->name + ": its formula gave " + std::to_string(given.length) +
                                         " gradients for " + std::to_string(count) + " tensors of argument '" +
                                         api().operator_argument(n->rule->op, n->rule->inputs[target].arg)->name +
                                         "'; it must give one for each");
  for (int i = 0; i < count && !st && given.tag == LAMELLA_TENSOR_LIST; i++)
    if (run.needs(n, at + i) && given.as.tensors[i]) api().retain(outs[at + i] = given.as.tensors[i]);
  api().value_release(&given);
  return st;
}

// Moves the gradients that a formula computed to the edges of its targets.
lamella_status hand_out(const Formula& f, const FormulaNode* n, const Run& run, const uint8_t* mask,
                        lamella_value* results, lamella_tensor** outs) {
  lamella_status st = LAMELLA_OK;
  for (size_t k = 0; k < f.targets.size(); k++) {
    if (__builtin_expect(results[k].tag == LAMELLA_TENSOR && mask[k], 1))
      outs[first_edge(*n->rule, n, f.targets[k])] = results[k].as.tensor;
    else if (lamella_status failed = hand_out_list(n, run, f.targets[k], results[k], outs))
      st = failed;
  }
  return st;
}

lamella_status compute(const Formula& f, const FormulaNode* n, Run& run, const lamella_value* saved,
                       lamella_tensor* const* grads, const uint8_t* mask, lamella_tensor** outs) {
  lamella_value results[most_targets];
  if (lamella_status st = evaluate(*n->rule, f, saved, grads, n->num_results, mask, results)) return st;
  return hand_out(f, n, run, mask, results, outs);
}

__attribute__((noinline)) lamella_status complete(const Formula& f, const FormulaNode* n, Run& run,
                                                  const lamella_value* saved, lamella_tensor* const* grads,
                                                  const uint8_t* mask, lamella_tensor** outs) {
  Completed all;
  if (lamella_status st = all.fill(f, n, run, grads)) return st;
  return compute(f, n, run, saved, all.grads.data(), mask, outs);
}

lamella_status apply_formula(const Formula& f, FormulaNode* n, Run& run, const lamella_value* saved,
                             lamella_tensor** grads, lamella_tensor** outs) {
  const int num_targets = static_cast<int>(f.targets.size());
  uint8_t mask[most_targets];
  bool any = false;
  for (int k = 0; k < num_targets; k++) {
    const int target = f.targets[k], at = first_edge(*n->rule, n, target);
    mask[k] = 0;
    for (int i = 0, count = edges_of(n, target); i < count; i++) mask[k] |= run.needs(n, at + i);
    any |= mask[k];
  }
  if (!any) return LAMELLA_OK;
  const Arrival came(f, n, grads);
  if (!came.any) return LAMELLA_OK;
  return __builtin_expect(came.all, 1) ? compute(f, n, run, saved, grads, mask, outs)
                                       : complete(f, n, run, saved, grads, mask, outs);
}

lamella_status apply(Node* node, Run& run, lamella_tensor** grads, lamella_tensor** outs) {
  auto* n = static_cast<FormulaNode*>(node);
  Values saved(n->num_saved);
  if (lamella_status st = unpack_all(n, run, saved)) return st;
  for (size_t i = 0; i < n->rule->inputs.size(); i++)
    if (n->rule->inputs[i].formula < 0 && run.needs(n, first_edge(*n->rule, n, static_cast<int>(i))))
      return no_formula(*n->rule, n->rule->inputs[i]);
  for (const Formula& f : n->rule->formulas)
    if (lamella_status st = apply_formula(f, n, run, saved.v, grads, outs)) return st;
  return LAMELLA_OK;
}

void release_saved(Node* node) {
  auto* n = static_cast<FormulaNode*>(node);
  if (!n->rule->saves_tensors) return;
  for (int i = 0; i < n->num_saved; i++) {
    SavedValue own;
    {
      Guard guard(n);
      n->released = true;
      own = n->saved()[i].take();
    }
    own.drop();
  }
}

void destroy(Node* node) {
  auto* n = static_cast<FormulaNode*>(node);
  for (int i = 0; i < n->num_saved; i++) n->saved()[i].drop();
}

}  // namespace

const NodeKind formula_kind = {apply, release_saved, destroy,
                               [](const Node* n) { return static_cast<const FormulaNode*>(n)->rule->name; }, nullptr};

bool is_view_operator(const Node* n) {
  if (n->kind != &formula_kind) return false;
  const lamella_argument* a = api().operator_return(static_cast<const FormulaNode*>(n)->rule->op, 0);
  return a->alias_of >= 0 && !(a->flags & LAMELLA_ARGUMENT_WRITTEN);
}

}  // namespace lamella::autograd
