// Applying: how a node of the usual kind computes its gradients, from what it saved, by its rule's formulas.
#include "record.h"

namespace lattis::autograd {
namespace {

// Values that are released at the end.
struct Values {
  lattis_value v[most_saves];  // the first n of them
  int n;
  explicit Values(int count) : n(count) {
    for (int i = 0; i < n; i++) v[i] = none();
  }
  ~Values() {
    for (int i = 0; i < n; i++)
      if (v[i].tag != LATTIS_NONE) api().value_release(&v[i]);
  }
};

// The general way: what hooks have packed, and results that get their history again.
__attribute__((noinline)) lattis_status unpack_any(FormulaNode* n, const Run& run, Values& out) {
  SavedValue own[most_saves];
  {
    Guard guard(n);
    if (n->released) return used_twice(n);
    if (!run.retain_graph) n->released = true;
    for (int i = 0; i < n->num_saved; i++) {
      if (!run.retain_graph)
        own[i] = n->saved()[i].take();
      else if (lattis_status st = n->saved()[i].copy(&own[i]))
        return st;
    }
  }
  lattis_status st = LATTIS_OK;
  for (int i = 0; i < n->num_saved; i++) {
    if (!st) st = own[i].unpack(n, run.create_graph, &out.v[i]);
    own[i].drop();
  }
  return st;
}

// What the formulas compute with: moved out of the node unless the graph is retained.
lattis_status unpack_all(FormulaNode* n, const Run& run, Values& out) {
  if (!n->rule->saves_tensors) {  // numbers stay with the node, for another backward
    for (int i = 0; i < n->num_saved; i++) out.v[i] = n->saved()[i].value;
    out.n = 0;
    return LATTIS_OK;
  }
  {
    Guard guard(n);  // another run may be here, too
    if (__builtin_expect(n->released, 0)) return used_twice(n);
    bool plain = true;
    for (int i = 0; i < n->num_saved; i++) {
      const SavedValue& s = n->saved()[i];
      if (lattis_status st = s.check(n)) return st;
      plain &= !s.packed && !(run.create_graph && s.result >= 0);
    }
    if (__builtin_expect(plain, 1)) {
      if (!run.retain_graph) n->released = n->num_saved > 0;
      for (int i = 0; i < n->num_saved; i++) {
        SavedValue& s = n->saved()[i];
        if (!run.retain_graph)
          out.v[i] = std::exchange(s.value, none());
        else if (lattis_status st = api().value_retain(&s.value, &out.v[i]))
          return st;
      }
      return LATTIS_OK;
    }
  }
  return unpack_any(n, run, out);
}

// The first edge of an input: all have one, but a list has as many as it is long.
int first_edge(const Rule& r, const Node* n, int input) {
  const int list_length = n->num_edges - static_cast<int>(r.inputs.size()) + 1;
  return r.list >= 0 && input > r.list ? input - 1 + list_length : input;
}

lattis_status no_formula(const Rule& r, const Rule::Input& input) {
  return fail(LATTIS_NOT_IMPLEMENTED, operator_text(r.op) + ": the derivative with respect to argument '" +
                                          api().operator_argument(r.op, input.arg)->name + "' is not implemented");
}

// Gradients that did not come are zero where others of the same call did.
struct Completed {
  lattis_tensor* grads[LATTIS_MAX_RETURNS];
  uint32_t made = 0;
  lattis_status fill(const Formula& f, const FormulaNode* n, const Run& run, lattis_tensor* const* came) {
    for (int i = 0; i < n->num_results; i++) {
      grads[i] = came[i];
      if (came[i] || !(f.grads >> i & 1) || !n->results[i].described()) continue;
      if (lattis_status st = run.ops.zeros(n->results[i], &grads[i])) return st;
      made |= 1u << i;
    }
    return LATTIS_OK;
  }
  ~Completed() {
    for (; made; made &= made - 1) api().release(grads[__builtin_ctz(made)]);
  }
};

// The gradients that a formula gave go to the edges of its targets.
void hand_out(const Formula& f, const FormulaNode* n, const Run& run, const uint8_t* mask, lattis_value* results,
              lattis_tensor** outs) {
  for (size_t k = 0; k < f.targets.size(); k++) {
    const int at = first_edge(*n->rule, n, f.targets[k]);
    if (results[k].tag == LATTIS_TENSOR && mask[k]) {
      outs[at] = results[k].as.tensor;
      continue;
    }
    if (results[k].tag == LATTIS_TENSOR_LIST)
      for (uint32_t i = 0; i < results[k].length; i++)
        if (run.needs(n, at + static_cast<int>(i)) && results[k].as.tensors[i])
          api().retain(outs[at + i] = results[k].as.tensors[i]);
    api().value_release(&results[k]);
  }
}

constexpr int most_targets = 16;

lattis_status apply_formula(const Formula& f, FormulaNode* n, Run& run, const lattis_value* saved,
                            lattis_tensor** grads, lattis_tensor** outs) {
  const Rule& r = *n->rule;
  const int num_targets = static_cast<int>(f.targets.size());
  uint8_t mask[most_targets];
  bool any = false;
  for (int k = 0; k < num_targets; k++) {
    const int target = f.targets[k], at = first_edge(r, n, target);
    const int count = target == r.list ? n->num_edges - static_cast<int>(r.inputs.size()) + 1 : 1;
    mask[k] = 0;
    for (int i = 0; i < count; i++) mask[k] |= run.needs(n, at + i);
    any |= mask[k];
  }
  const uint64_t used = f.grads | f.optional_grads;
  bool came = used == 0;
  for (int i = 0; i < n->num_results; i++) came |= (used >> i & 1) && grads[i];
  if (!any || !came) return LATTIS_OK;
  Completed all;
  if (lattis_status st = all.fill(f, n, run, grads)) return st;
  lattis_value results[most_targets];
  if (lattis_status st = evaluate(r, f, saved, all.grads, mask, results)) return st;
  hand_out(f, n, run, mask, results, outs);
  return LATTIS_OK;
}

lattis_status apply(Node* node, Run& run, lattis_tensor** grads, lattis_tensor** outs) {
  auto* n = static_cast<FormulaNode*>(node);
  Values saved(n->num_saved);
  if (lattis_status st = unpack_all(n, run, saved)) return st;
  for (size_t i = 0; i < n->rule->inputs.size(); i++)
    if (n->rule->inputs[i].formula < 0 && run.needs(n, first_edge(*n->rule, n, static_cast<int>(i))))
      return no_formula(*n->rule, n->rule->inputs[i]);
  for (const Formula& f : n->rule->formulas)
    if (lattis_status st = apply_formula(f, n, run, saved.v, grads, outs)) return st;
  return LATTIS_OK;
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
  const lattis_argument* a = api().operator_return(static_cast<const FormulaNode*>(n)->rule->op, 0);
  return a->alias_of >= 0 && !(a->flags & LATTIS_ARGUMENT_WRITTEN);
}

}  // namespace lattis::autograd
